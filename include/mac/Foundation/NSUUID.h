// SPDX-License-Identifier: Apache-2.0
// Foundation/NSUUID.h: identifiers of 128 bits.
#ifndef INGOT_MAC_FOUNDATION_NSUUID_H
#define INGOT_MAC_FOUNDATION_NSUUID_H
#include <Foundation/NSObject.h>
#ifdef __OBJC__
@class NSString;
typedef unsigned char uuid_t[16];
@interface NSUUID : NSObject <NSCopying>
+ (instancetype)UUID;                                // a random one
- (instancetype)initWithUUIDString:(NSString *)text; // nil: it is none
- (instancetype)initWithUUIDBytes:(const uuid_t)bytes;
- (void)getUUIDBytes:(uuid_t)bytes;
@property(readonly, copy) NSString *UUIDString;
@end
#endif
#endif
