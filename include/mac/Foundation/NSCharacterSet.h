// SPDX-License-Identifier: Apache-2.0
// Foundation/NSCharacterSet.h: sets of characters.
#ifndef INGOT_MAC_FOUNDATION_NSCHARACTERSET_H
#define INGOT_MAC_FOUNDATION_NSCHARACTERSET_H
#include <Foundation/NSObject.h>
#include <Foundation/NSRange.h>
#include <Foundation/NSString.h>
#ifdef __OBJC__
@interface NSCharacterSet : NSObject <NSCopying>
@property(class, readonly, copy) NSCharacterSet *whitespaceCharacterSet;
@property(class, readonly, copy) NSCharacterSet *whitespaceAndNewlineCharacterSet;
@property(class, readonly, copy) NSCharacterSet *newlineCharacterSet;
@property(class, readonly, copy) NSCharacterSet *decimalDigitCharacterSet;
@property(class, readonly, copy) NSCharacterSet *letterCharacterSet;
@property(class, readonly, copy) NSCharacterSet *alphanumericCharacterSet;
@property(class, readonly, copy) NSCharacterSet *punctuationCharacterSet;
@property(class, readonly, copy) NSCharacterSet *uppercaseLetterCharacterSet;
@property(class, readonly, copy) NSCharacterSet *lowercaseLetterCharacterSet;
@property(readonly, copy) NSCharacterSet *invertedSet;
+ (NSCharacterSet *)characterSetWithCharactersInString:(NSString *)characters;
+ (NSCharacterSet *)characterSetWithRange:(NSRange)range;
- (BOOL)characterIsMember:(unichar)character;
@end
#endif
#endif
