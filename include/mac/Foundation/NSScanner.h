// SPDX-License-Identifier: Apache-2.0
// Foundation/NSScanner.h: reading a string from front to end.
#ifndef INGOT_MAC_FOUNDATION_NSSCANNER_H
#define INGOT_MAC_FOUNDATION_NSSCANNER_H
#include <Foundation/NSObject.h>
#ifdef __OBJC__
@class NSString, NSCharacterSet;
@interface NSScanner : NSObject
@property(readonly, copy) NSString *string;
@property NSUInteger scanLocation;
@property(copy) NSCharacterSet *charactersToBeSkipped;
@property BOOL caseSensitive;
@property(readonly, getter=isAtEnd) BOOL atEnd;
+ (instancetype)scannerWithString:(NSString *)string;
- (instancetype)initWithString:(NSString *)string;
- (BOOL)scanInt:(int *)value;
- (BOOL)scanInteger:(NSInteger *)value;
- (BOOL)scanLongLong:(long long *)value;
- (BOOL)scanHexInt:(unsigned *)value;
- (BOOL)scanHexLongLong:(unsigned long long *)value;
- (BOOL)scanFloat:(float *)value;
- (BOOL)scanDouble:(double *)value;
- (BOOL)scanString:(NSString *)text intoString:(NSString **)value;
- (BOOL)scanUpToString:(NSString *)text intoString:(NSString **)value;
- (BOOL)scanCharactersFromSet:(NSCharacterSet *)set intoString:(NSString **)value;
- (BOOL)scanUpToCharactersFromSet:(NSCharacterSet *)set intoString:(NSString **)value;
@end
#endif
#endif
