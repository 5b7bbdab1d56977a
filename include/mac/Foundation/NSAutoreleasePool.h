// SPDX-License-Identifier: Apache-2.0
// Foundation/NSAutoreleasePool.h: pools by hand.
#ifndef INGOT_MAC_FOUNDATION_NSAUTORELEASEPOOL_H
#define INGOT_MAC_FOUNDATION_NSAUTORELEASEPOOL_H
#include <Foundation/NSObject.h>
#ifdef __OBJC__
OBJC_ARC_UNAVAILABLE
@interface NSAutoreleasePool : NSObject
+ (void)addObject:(id)object;
+ (void)showPools;
- (void)addObject:(id)object;
- (void)drain;
@end
#endif
#endif
