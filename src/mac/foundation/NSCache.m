// SPDX-License-Identifier: Apache-2.0
// NSCache.m: a dictionary with limits: what was put in first leaves first.
#include "mac/foundation/foundation_int.h"

@implementation NSCache {
    NSMutableDictionary *_objects, *_costs;
    NSMutableArray *_order; // of the keys
    NSUInteger _total;
}
- (instancetype)init {
    if ((self = [super init])) {
        _objects = [NSMutableDictionary new], _costs = [NSMutableDictionary new];
        _order = [NSMutableArray new];
    }
    return self;
}
- (void)dealloc {
    [_objects release], [_costs release], [_order release], [_name release];
    [super dealloc];
}
- (id)objectForKey:(id)key {
    @synchronized(self) {
        return [[[_objects objectForKey:key] retain] autorelease];
    }
}
- (void)setObject:(id)object forKey:(id)key {
    [self setObject:object forKey:key cost:0];
}
- (void)setObject:(id)object forKey:(id)key cost:(NSUInteger)cost {
    @synchronized(self) {
        [self removeObjectForKey:key];
        [_objects setObject:object forKey:key];
        [_costs setObject:@(cost) forKey:key];
        [_order addObject:key];
        _total += cost;
        while (_order.count > 1 && ((_countLimit && _order.count > _countLimit) ||
                                    (_totalCostLimit && _total > _totalCostLimit)))
            [self removeObjectForKey:[[_order.firstObject retain] autorelease]];
    }
}
- (void)removeObjectForKey:(id)key {
    @synchronized(self) {
        NSNumber *cost = [_costs objectForKey:key];
        if (!cost) return;
        _total -= cost.unsignedIntegerValue;
        [_order removeObject:key];
        [_costs removeObjectForKey:key];
        [_objects removeObjectForKey:key];
    }
}
- (void)removeAllObjects {
    @synchronized(self) {
        [_objects removeAllObjects], [_costs removeAllObjects], [_order removeAllObjects];
        _total = 0;
    }
}
@end
