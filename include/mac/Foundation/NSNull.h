// SPDX-License-Identifier: Apache-2.0
// Foundation/NSNull.h: the object that stands for none.
#ifndef INGOT_MAC_FOUNDATION_NSNULL_H
#define INGOT_MAC_FOUNDATION_NSNULL_H
#include <Foundation/NSObject.h>
#ifdef __OBJC__
@interface NSNull : NSObject <NSCopying>
+ (NSNull *)null;
@end
#endif
#endif
