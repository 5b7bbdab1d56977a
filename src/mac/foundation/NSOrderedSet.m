// SPDX-License-Identifier: Apache-2.0
// NSOrderedSet.m: sets whose objects have places: an array and a set of the same objects.
#include "mac/foundation/foundation_int.h"
#import <Foundation/NSOrderedSet.h>

@implementation NSOrderedSet {
  @protected
    NSMutableArray *_list;
    NSMutableSet *_set;
}
+ (instancetype)orderedSet {
    return AUTORELEASED([[self alloc] init]);
}
+ (instancetype)orderedSetWithObject:(id)object {
    return [self orderedSetWithArray:@[ object ]];
}
+ (instancetype)orderedSetWithArray:(NSArray *)array {
    return AUTORELEASED([[self alloc] initWithArray:array]);
}
static void insert_at(NSOrderedSet *self, id object, NSUInteger at) {
    if ([self->_set containsObject:object]) return;
    [self->_list insertObject:object atIndex:at];
    [self->_set addObject:object];
}
- (instancetype)init {
    return [self initWithArray:nil];
}
- (instancetype)initWithArray:(NSArray *)array {
    if (!(self = [super init])) return nil;
    _list = [NSMutableArray new], _set = [NSMutableSet new];
    for (id object in array) insert_at(self, object, _list.count);
    return self;
}
- (void)dealloc {
    [_list release], [_set release];
    [super dealloc];
}
COPIES_AS(NSOrderedSet, NSMutableOrderedSet, initWithArray, _list)
- (NSUInteger)count {
    return _list.count;
}
- (id)objectAtIndex:(NSUInteger)index {
    return [_list objectAtIndex:index];
}
- (id)objectAtIndexedSubscript:(NSUInteger)index {
    return [_list objectAtIndex:index];
}
- (NSUInteger)indexOfObject:(id)object {
    return [_set containsObject:object] ? [_list indexOfObject:object] : NSNotFound;
}
- (BOOL)containsObject:(id)object {
    return [_set containsObject:object];
}
- (id)firstObject {
    return _list.firstObject;
}
- (id)lastObject {
    return _list.lastObject;
}
- (NSArray *)array {
    return AUTORELEASED([_list copy]);
}
- (NSSet *)set {
    return AUTORELEASED([_set copy]);
}
- (NSEnumerator *)objectEnumerator {
    return _list.objectEnumerator;
}
- (BOOL)isEqual:(id)other {
    return self == other || ([other isKindOfClass:[NSOrderedSet class]] &&
                             [_list isEqual:((NSOrderedSet *)other)->_list]);
}
- (NSUInteger)hash {
    return _list.count;
}
- (NSString *)description {
    return _list.description;
}
- (NSUInteger)countByEnumeratingWithState:(NSFastEnumerationState *)state
                                  objects:(id __unsafe_unretained[])buffer
                                    count:(NSUInteger)n {
    return [_list countByEnumeratingWithState:state objects:buffer count:n];
}
@end
@implementation NSMutableOrderedSet
- (void)addObject:(id)object {
    nil_check(self, _cmd, object);
    insert_at(self, object, _list.count);
}
- (void)insertObject:(id)object atIndex:(NSUInteger)index {
    nil_check(self, _cmd, object);
    range_check(self, _cmd, index, _list.count + 1);
    insert_at(self, object, index);
}
- (void)addObjectsFromArray:(NSArray *)array {
    for (id object in array) insert_at(self, object, _list.count);
}
- (void)removeObject:(id)object {
    if (![_set containsObject:object]) return;
    [_list removeObjectAtIndex:[_list indexOfObject:object]];
    [_set removeObject:object];
}
- (void)removeObjectAtIndex:(NSUInteger)index {
    [self removeObject:[[[_list objectAtIndex:index] retain] autorelease]];
}
- (void)removeAllObjects {
    [_list removeAllObjects], [_set removeAllObjects];
}
@end
