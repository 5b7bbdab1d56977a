// SPDX-License-Identifier: Apache-2.0
// Foundation/NSJSONSerialization.h: JSON as objects of Foundation, and back.
#ifndef INGOT_MAC_FOUNDATION_NSJSONSERIALIZATION_H
#define INGOT_MAC_FOUNDATION_NSJSONSERIALIZATION_H
#include <Foundation/NSObject.h>
#ifdef __OBJC__
@class NSData, NSError;
typedef NS_OPTIONS(NSUInteger, NSJSONReadingOptions) {
    NSJSONReadingMutableContainers = 1,
    NSJSONReadingMutableLeaves = 2,
    NSJSONReadingFragmentsAllowed = 4,
    NSJSONReadingAllowFragments = 4,
};
typedef NS_OPTIONS(NSUInteger, NSJSONWritingOptions) {
    NSJSONWritingPrettyPrinted = 1,
    NSJSONWritingSortedKeys = 2,
    NSJSONWritingFragmentsAllowed = 4,
    NSJSONWritingWithoutEscapingSlashes = 8,
};
@interface NSJSONSerialization : NSObject
+ (BOOL)isValidJSONObject:(id)object;
// nil and an error in NSCocoaErrorDomain with the place. UTF-8 alone; at most 512 levels.
+ (id)JSONObjectWithData:(NSData *)data
                 options:(NSJSONReadingOptions)options
                   error:(NSError **)error;
// What is no JSON raises NSInvalidArgumentException.
+ (NSData *)dataWithJSONObject:(id)object
                       options:(NSJSONWritingOptions)options
                         error:(NSError **)error;
@end
#endif
#endif
