// SPDX-License-Identifier: Apache-2.0
// Foundation/NSCache.h: a dictionary that may forget; ours keeps what its limits allow.
#ifndef INGOT_MAC_FOUNDATION_NSCACHE_H
#define INGOT_MAC_FOUNDATION_NSCACHE_H
#include <Foundation/NSObject.h>
#ifdef __OBJC__
@class NSString;
@interface NSCache<KeyType, ObjectType> : NSObject
@property(copy) NSString *name;
@property NSUInteger countLimit;     // 0: none
@property NSUInteger totalCostLimit; // 0: none
- (ObjectType)objectForKey:(KeyType)key;
- (void)setObject:(ObjectType)object forKey:(KeyType)key;
- (void)setObject:(ObjectType)object forKey:(KeyType)key cost:(NSUInteger)cost;
- (void)removeObjectForKey:(KeyType)key;
- (void)removeAllObjects;
@end
#endif
#endif
