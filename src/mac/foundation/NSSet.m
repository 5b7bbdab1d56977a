// SPDX-License-Identifier: Apache-2.0
// NSSet.m: sets.
#include "mac/foundation/foundation_int.h"
#include "mac/foundation/collection_int.h"

@implementation NSSet {
    HashTable _table;
}
static HashTable *table(NSSet *self) { return &self->_table; }
static void add_or_refuse(NSSet *self, SEL name, id object) {
    nil_check(self, name, object);
    if (!hash_find(table(self), object)) hash_put(table(self), [object retain], nil);
}
MADE_OF_OBJECTS(set, setWithObject, setWithObjects)
+ (instancetype)setWithArray:(NSArray *)array {
    return AUTORELEASED([[self alloc] initWithArray:array]);
}
+ (instancetype)setWithSet:(NSSet *)set {
    return AUTORELEASED([[self alloc] initWithSet:set]);
}
- (instancetype)initWithObjects:(const id[])objects count:(NSUInteger)n {
    for (NSUInteger i = 0; i < n; i++) add_or_refuse(self, _cmd, objects[i]);
    return self;
}
- (instancetype)initWithArray:(NSArray *)array {
    for (id item in array) add_or_refuse(self, _cmd, item);
    return self;
}
- (instancetype)initWithSet:(NSSet *)set {
    for (id item in set) add_or_refuse(self, _cmd, item);
    return self;
}
CODES_NOTHING
HOLDS_TABLE(_table)
COPIES_AS(NSSet, NSMutableSet, initWithSet, self)
- (id)member:(id)object {
    HashEntry *e = hash_find(&_table, object);
    return e ? e->key : nil;
}
- (BOOL)containsObject:(id)object {
    return hash_find(&_table, object) != NULL;
}
- (id)anyObject {
    HASH_EACH(e, &_table) return e->key;
    return nil;
}
- (NSArray *)allObjects {
    return hash_list(&_table, false);
}
- (NSEnumerator *)objectEnumerator {
    return list_enumerator(self.allObjects, false);
}
- (BOOL)isEqual:(id)other {
    return self == other || ([other isKindOfClass:[NSSet class]] && [self isEqualToSet:other]);
}
- (BOOL)isEqualToSet:(NSSet *)other {
    return self.count == other.count && [self isSubsetOfSet:other];
}
- (BOOL)isSubsetOfSet:(NSSet *)other {
    HASH_EACH(e, &_table) if (![other containsObject:e->key]) return NO;
    return YES;
}
- (BOOL)intersectsSet:(NSSet *)other {
    HASH_EACH(e, &_table) if ([other containsObject:e->key]) return YES;
    return NO;
}
- (NSSet *)setByAddingObject:(id)object {
    NSMutableSet *made = [NSMutableSet setWithSet:self];
    [made addObject:object];
    return made;
}
- (void)enumerateObjectsUsingBlock:(void (^)(id object, BOOL *stop))block {
    BOOL stop = NO;
    for (id item in self) {
        block(item, &stop);
        if (stop) break;
    }
}
- (NSString *)description {
    NSMutableString *text = [NSMutableString stringWithString:@"{(\n"];
    NSUInteger i = 0;
    HASH_EACH(
        e,
        &_table)[text appendFormat:@"    %@%s\n", described(e->key), ++i < self.count ? "," : ""];
    [text appendString:@")}"];
    return text;
}
@end

@implementation NSMutableSet
IGNORES_CAPACITY(setWithCapacity, set)
- (void)addObject:(id)object {
    add_or_refuse(self, _cmd, object);
}
- (void)removeObject:(id)object {
    hash_remove(table(self), object);
}
- (void)addObjectsFromArray:(NSArray *)array {
    for (id item in array) add_or_refuse(self, _cmd, item);
}
- (void)removeAllObjects {
    hash_clear(table(self));
}
- (void)unionSet:(NSSet *)other {
    for (id item in other) add_or_refuse(self, _cmd, item);
}
- (void)minusSet:(NSSet *)other {
    for (id item in other.allObjects) hash_remove(table(self), item);
}
- (void)intersectSet:(NSSet *)other {
    for (id item in self.allObjects)
        if (![other containsObject:item]) hash_remove(table(self), item);
}
@end
