// SPDX-License-Identifier: Apache-2.0
// Foundation/NSString.h: strings.
#ifndef INGOT_MAC_FOUNDATION_NSSTRING_H
#define INGOT_MAC_FOUNDATION_NSSTRING_H
#include <Foundation/NSObject.h>
#include <Foundation/NSRange.h>
typedef unsigned short unichar;
#ifdef __OBJC__
@class NSData, NSArray<ObjectType>, NSDictionary<KeyType, ObjectType>, NSError, NSURL,
    NSCharacterSet;
typedef NSUInteger NSStringEncoding;
enum {
    NSASCIIStringEncoding = 1,
    NSUTF8StringEncoding = 4,
    NSISOLatin1StringEncoding = 5,
    NSNonLossyASCIIStringEncoding = 7,
    NSUnicodeStringEncoding = 10,
    NSUTF16StringEncoding = 10,
    NSMacOSRomanStringEncoding = 30,
    NSUTF16BigEndianStringEncoding = 0x90000100,
    NSUTF16LittleEndianStringEncoding = 0x94000100,
    NSUTF32StringEncoding = 0x8c000100,
    NSUTF32LittleEndianStringEncoding = 0x9c000100
};
typedef NS_OPTIONS(NSUInteger, NSStringCompareOptions) {
    NSCaseInsensitiveSearch = 1,
    NSLiteralSearch = 2,
    NSBackwardsSearch = 4,
    NSAnchoredSearch = 8,
    NSNumericSearch = 64
};
@interface NSString : NSObject <NSCopying, NSMutableCopying, NSSecureCoding>
@property(readonly) NSUInteger length;
- (unichar)characterAtIndex:(NSUInteger)index;
@end
@interface NSString (NSStringExtensionMethods)
@property(readonly) const char *UTF8String NS_RETURNS_INNER_POINTER;
@property(readonly) double doubleValue;
@property(readonly) float floatValue;
@property(readonly) int intValue;
@property(readonly) NSInteger integerValue;
@property(readonly) long long longLongValue;
@property(readonly) BOOL boolValue;
@property(readonly, copy) NSString *uppercaseString;
@property(readonly, copy) NSString *lowercaseString;
@property(readonly, copy) NSString *capitalizedString;
@property(readonly) NSStringEncoding fastestEncoding;
@property(readonly) NSStringEncoding smallestEncoding;
+ (instancetype)string;
+ (instancetype)stringWithString:(NSString *)string;
+ (instancetype)stringWithCharacters:(const unichar *)characters length:(NSUInteger)length;
+ (instancetype)stringWithUTF8String:(const char *)text;
+ (instancetype)stringWithCString:(const char *)text encoding:(NSStringEncoding)encoding;
+ (instancetype)stringWithFormat:(NSString *)format, ... NS_FORMAT_FUNCTION(1, 2);
+ (instancetype)localizedStringWithFormat:(NSString *)format, ... NS_FORMAT_FUNCTION(1, 2);
+ (instancetype)stringWithContentsOfFile:(NSString *)path
                                encoding:(NSStringEncoding)encoding
                                   error:(NSError **)error;
+ (instancetype)stringWithContentsOfURL:(NSURL *)url
                               encoding:(NSStringEncoding)encoding
                                  error:(NSError **)error;
- (instancetype)init;
- (instancetype)initWithString:(NSString *)string;
- (instancetype)initWithCharacters:(const unichar *)characters length:(NSUInteger)length;
- (instancetype)initWithUTF8String:(const char *)text;
- (instancetype)initWithCString:(const char *)text encoding:(NSStringEncoding)encoding;
- (instancetype)initWithBytes:(const void *)bytes
                       length:(NSUInteger)n
                     encoding:(NSStringEncoding)encoding;
- (instancetype)initWithBytesNoCopy:(void *)bytes
                             length:(NSUInteger)n
                           encoding:(NSStringEncoding)encoding
                       freeWhenDone:(BOOL)owned;
- (instancetype)initWithData:(NSData *)data encoding:(NSStringEncoding)encoding;
- (instancetype)initWithFormat:(NSString *)format, ... NS_FORMAT_FUNCTION(1, 2);
- (instancetype)initWithFormat:(NSString *)format arguments:(va_list)arguments;
- (instancetype)initWithContentsOfFile:(NSString *)path
                              encoding:(NSStringEncoding)encoding
                                 error:(NSError **)error;
- (instancetype)initWithContentsOfURL:(NSURL *)url
                             encoding:(NSStringEncoding)encoding
                                error:(NSError **)error;
- (const char *)cStringUsingEncoding:(NSStringEncoding)encoding NS_RETURNS_INNER_POINTER;
- (BOOL)getCString:(char *)buffer maxLength:(NSUInteger)room encoding:(NSStringEncoding)encoding;
- (void)getCharacters:(unichar *)buffer range:(NSRange)range;
- (NSUInteger)lengthOfBytesUsingEncoding:(NSStringEncoding)encoding;
- (NSUInteger)maximumLengthOfBytesUsingEncoding:(NSStringEncoding)encoding;
- (BOOL)canBeConvertedToEncoding:(NSStringEncoding)encoding;
- (NSData *)dataUsingEncoding:(NSStringEncoding)encoding;
- (NSData *)dataUsingEncoding:(NSStringEncoding)encoding allowLossyConversion:(BOOL)lossy;
- (BOOL)isEqualToString:(NSString *)other;
- (NSComparisonResult)compare:(NSString *)other;
- (NSComparisonResult)compare:(NSString *)other options:(NSStringCompareOptions)options;
- (NSComparisonResult)caseInsensitiveCompare:(NSString *)other;
- (NSComparisonResult)localizedCompare:(NSString *)other;
- (NSComparisonResult)localizedStandardCompare:(NSString *)other;
- (BOOL)hasPrefix:(NSString *)text;
- (BOOL)hasSuffix:(NSString *)text;
- (BOOL)containsString:(NSString *)text;
- (BOOL)localizedCaseInsensitiveContainsString:(NSString *)text;
- (NSRange)rangeOfString:(NSString *)text;
- (NSRange)rangeOfString:(NSString *)text options:(NSStringCompareOptions)options;
- (NSRange)rangeOfString:(NSString *)text
                 options:(NSStringCompareOptions)options
                   range:(NSRange)range;
- (NSRange)rangeOfCharacterFromSet:(NSCharacterSet *)set;
- (NSString *)substringFromIndex:(NSUInteger)index;
- (NSString *)substringToIndex:(NSUInteger)index;
- (NSString *)substringWithRange:(NSRange)range;
- (NSString *)stringByAppendingString:(NSString *)text;
- (NSString *)stringByAppendingFormat:(NSString *)format, ... NS_FORMAT_FUNCTION(1, 2);
- (NSString *)stringByReplacingOccurrencesOfString:(NSString *)text
                                        withString:(NSString *)replacement;
- (NSString *)stringByReplacingCharactersInRange:(NSRange)range withString:(NSString *)replacement;
- (NSString *)stringByTrimmingCharactersInSet:(NSCharacterSet *)set;
- (NSString *)stringByPaddingToLength:(NSUInteger)length
                           withString:(NSString *)text
                      startingAtIndex:(NSUInteger)index;
- (NSArray<NSString *> *)componentsSeparatedByString:(NSString *)text;
- (NSArray<NSString *> *)componentsSeparatedByCharactersInSet:(NSCharacterSet *)set;
- (void)enumerateLinesUsingBlock:(void(NS_NOESCAPE ^)(NSString *line, BOOL *stop))block;
- (BOOL)writeToFile:(NSString *)path
         atomically:(BOOL)atomically
           encoding:(NSStringEncoding)encoding
              error:(NSError **)error;
- (BOOL)writeToURL:(NSURL *)url
        atomically:(BOOL)atomically
          encoding:(NSStringEncoding)encoding
             error:(NSError **)error;
@end
@interface NSString (NSStringPathExtensions)
+ (NSString *)pathWithComponents:(NSArray<NSString *> *)components;
@property(readonly, copy) NSArray<NSString *> *pathComponents;
@property(readonly, getter=isAbsolutePath) BOOL absolutePath;
@property(readonly, copy) NSString *lastPathComponent;
@property(readonly, copy) NSString *pathExtension;
@property(readonly, copy) NSString *stringByDeletingLastPathComponent;
@property(readonly, copy) NSString *stringByDeletingPathExtension;
@property(readonly, copy) NSString *stringByExpandingTildeInPath;
@property(readonly, copy) NSString *stringByStandardizingPath;
@property(readonly, copy) NSString *stringByResolvingSymlinksInPath;
@property(readonly) const char *fileSystemRepresentation NS_RETURNS_INNER_POINTER;
- (NSString *)stringByAppendingPathComponent:(NSString *)component;
- (NSString *)stringByAppendingPathExtension:(NSString *)extension;
@end
@interface NSMutableString : NSString
+ (instancetype)stringWithCapacity:(NSUInteger)capacity;
- (instancetype)initWithCapacity:(NSUInteger)capacity;
- (void)replaceCharactersInRange:(NSRange)range withString:(NSString *)text;
- (void)insertString:(NSString *)text atIndex:(NSUInteger)index;
- (void)deleteCharactersInRange:(NSRange)range;
- (void)appendString:(NSString *)text;
- (void)appendFormat:(NSString *)format, ... NS_FORMAT_FUNCTION(1, 2);
- (void)setString:(NSString *)text;
- (NSUInteger)replaceOccurrencesOfString:(NSString *)text
                              withString:(NSString *)replacement
                                 options:(NSStringCompareOptions)options
                                   range:(NSRange)range;
@end
@interface NSConstantString : NSString
@end
#endif
#endif
