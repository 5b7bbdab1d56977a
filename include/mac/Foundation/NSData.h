// SPDX-License-Identifier: Apache-2.0
// Foundation/NSData.h: bytes.
#ifndef INGOT_MAC_FOUNDATION_NSDATA_H
#define INGOT_MAC_FOUNDATION_NSDATA_H
#include <Foundation/NSObject.h>
#include <Foundation/NSRange.h>
#ifdef __OBJC__
@class NSError, NSURL;
typedef NS_OPTIONS(NSUInteger, NSDataReadingOptions) {
    NSDataReadingMappedIfSafe = 1,
    NSDataReadingUncached = 2,
    NSDataReadingMappedAlways = 8
};
typedef NS_OPTIONS(NSUInteger, NSDataWritingOptions) { NSDataWritingAtomic = 1 };
@interface NSData : NSObject <NSCopying, NSMutableCopying, NSSecureCoding>
@property(readonly) NSUInteger length;
@property(readonly) const void *bytes NS_RETURNS_INNER_POINTER;
+ (instancetype)data;
+ (instancetype)dataWithBytes:(const void *)bytes length:(NSUInteger)n;
+ (instancetype)dataWithBytesNoCopy:(void *)bytes length:(NSUInteger)n;
+ (instancetype)dataWithBytesNoCopy:(void *)bytes length:(NSUInteger)n freeWhenDone:(BOOL)owned;
+ (instancetype)dataWithData:(NSData *)data;
+ (instancetype)dataWithContentsOfFile:(NSString *)path;
+ (instancetype)dataWithContentsOfFile:(NSString *)path
                               options:(NSDataReadingOptions)options
                                 error:(NSError **)error;
+ (instancetype)dataWithContentsOfURL:(NSURL *)url;
+ (instancetype)dataWithContentsOfURL:(NSURL *)url
                              options:(NSDataReadingOptions)options
                                error:(NSError **)error;
- (instancetype)initWithBytes:(const void *)bytes length:(NSUInteger)n;
- (instancetype)initWithBytesNoCopy:(void *)bytes length:(NSUInteger)n;
- (instancetype)initWithBytesNoCopy:(void *)bytes length:(NSUInteger)n freeWhenDone:(BOOL)owned;
- (instancetype)initWithBytesNoCopy:(void *)bytes
                             length:(NSUInteger)n
                        deallocator:(void (^)(void *bytes, NSUInteger n))deallocator;
- (instancetype)initWithData:(NSData *)data;
- (instancetype)initWithContentsOfFile:(NSString *)path;
- (instancetype)initWithContentsOfFile:(NSString *)path
                               options:(NSDataReadingOptions)options
                                 error:(NSError **)error;
- (instancetype)initWithContentsOfURL:(NSURL *)url;
- (instancetype)initWithContentsOfURL:(NSURL *)url
                              options:(NSDataReadingOptions)options
                                error:(NSError **)error;
- (void)getBytes:(void *)buffer length:(NSUInteger)n;
- (void)getBytes:(void *)buffer range:(NSRange)range;
- (BOOL)isEqualToData:(NSData *)other;
- (NSData *)subdataWithRange:(NSRange)range;
- (BOOL)writeToFile:(NSString *)path atomically:(BOOL)atomically;
- (BOOL)writeToFile:(NSString *)path options:(NSDataWritingOptions)options error:(NSError **)error;
- (BOOL)writeToURL:(NSURL *)url atomically:(BOOL)atomically;
@end
typedef NS_OPTIONS(NSUInteger, NSDataBase64EncodingOptions) {
    NSDataBase64Encoding64CharacterLineLength = 1,
    NSDataBase64Encoding76CharacterLineLength = 2,
    NSDataBase64EncodingEndLineWithCarriageReturn = 16,
    NSDataBase64EncodingEndLineWithLineFeed = 32,
};
typedef NS_OPTIONS(NSUInteger, NSDataBase64DecodingOptions) {
    NSDataBase64DecodingIgnoreUnknownCharacters = 1,
};
@interface NSData (Base64)
- (NSString *)base64EncodedStringWithOptions:(NSDataBase64EncodingOptions)options;
- (NSData *)base64EncodedDataWithOptions:(NSDataBase64EncodingOptions)options;
- (instancetype)initWithBase64EncodedString:(NSString *)text // nil: it is none
                                    options:(NSDataBase64DecodingOptions)options;
- (instancetype)initWithBase64EncodedData:(NSData *)data
                                  options:(NSDataBase64DecodingOptions)options;
@end
@interface NSMutableData : NSData
@property(readwrite) NSUInteger length;
@property(readonly) void *mutableBytes NS_RETURNS_INNER_POINTER;
+ (instancetype)dataWithCapacity:(NSUInteger)capacity;
+ (instancetype)dataWithLength:(NSUInteger)n;
- (instancetype)initWithCapacity:(NSUInteger)capacity;
- (instancetype)initWithLength:(NSUInteger)n;
- (void)appendBytes:(const void *)bytes length:(NSUInteger)n;
- (void)appendData:(NSData *)data;
- (void)increaseLengthBy:(NSUInteger)n;
- (void)replaceBytesInRange:(NSRange)range withBytes:(const void *)bytes;
- (void)setData:(NSData *)data;
@end
#endif
#endif
