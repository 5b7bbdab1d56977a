// SPDX-License-Identifier: Apache-2.0
// Foundation/NSOrderedSet.h: sets whose objects have places.
#ifndef INGOT_MAC_FOUNDATION_NSORDEREDSET_H
#define INGOT_MAC_FOUNDATION_NSORDEREDSET_H
#include <Foundation/NSEnumerator.h>
#ifdef __OBJC__
@class NSSet<ObjectType>;
@interface NSOrderedSet<__covariant ObjectType>
    : NSObject <NSCopying, NSMutableCopying, NSFastEnumeration>
@property(readonly) NSUInteger count;
@property(readonly) ObjectType firstObject;
@property(readonly) ObjectType lastObject;
@property(readonly, copy) NSArray<ObjectType> *array;
@property(readonly, copy) NSSet<ObjectType> *set;
+ (instancetype)orderedSet;
+ (instancetype)orderedSetWithObject:(ObjectType)object;
+ (instancetype)orderedSetWithArray:(NSArray<ObjectType> *)array;
- (instancetype)initWithArray:(NSArray<ObjectType> *)array;
- (ObjectType)objectAtIndex:(NSUInteger)index;
- (ObjectType)objectAtIndexedSubscript:(NSUInteger)index;
- (NSUInteger)indexOfObject:(ObjectType)object;
- (BOOL)containsObject:(ObjectType)object;
- (NSEnumerator<ObjectType> *)objectEnumerator;
@end
@interface NSMutableOrderedSet<ObjectType> : NSOrderedSet <ObjectType>
- (void)addObject:(ObjectType)object;
- (void)insertObject:(ObjectType)object atIndex:(NSUInteger)index;
- (void)addObjectsFromArray:(NSArray<ObjectType> *)array;
- (void)removeObject:(ObjectType)object;
- (void)removeObjectAtIndex:(NSUInteger)index;
- (void)removeAllObjects;
@end
#endif
#endif
