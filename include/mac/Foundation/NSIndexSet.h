// SPDX-License-Identifier: Apache-2.0
// Foundation/NSIndexSet.h: sets of indices.
#ifndef INGOT_MAC_FOUNDATION_NSINDEXSET_H
#define INGOT_MAC_FOUNDATION_NSINDEXSET_H
#include <Foundation/NSObject.h>
#include <Foundation/NSRange.h>
#ifdef __OBJC__
@interface NSIndexSet : NSObject <NSCopying, NSMutableCopying>
@property(readonly) NSUInteger count;
@property(readonly) NSUInteger firstIndex;
@property(readonly) NSUInteger lastIndex;
+ (instancetype)indexSet;
+ (instancetype)indexSetWithIndex:(NSUInteger)index;
+ (instancetype)indexSetWithIndexesInRange:(NSRange)range;
- (instancetype)initWithIndex:(NSUInteger)index;
- (instancetype)initWithIndexesInRange:(NSRange)range;
- (instancetype)initWithIndexSet:(NSIndexSet *)set;
- (BOOL)containsIndex:(NSUInteger)index;
- (BOOL)isEqualToIndexSet:(NSIndexSet *)other;
- (NSUInteger)indexGreaterThanIndex:(NSUInteger)index;
- (void)enumerateIndexesUsingBlock:(void(NS_NOESCAPE ^)(NSUInteger index, BOOL *stop))block;
@end
@interface NSMutableIndexSet : NSIndexSet
- (void)addIndex:(NSUInteger)index;
- (void)addIndexesInRange:(NSRange)range;
- (void)removeIndex:(NSUInteger)index;
- (void)removeAllIndexes;
@end
#endif
#endif
