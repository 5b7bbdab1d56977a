// SPDX-License-Identifier: Apache-2.0
// NSSet.m: sets.
#include "foundation/foundation_int.h"
#include "foundation/collection_int.h"

@implementation NSSet {
    HashTable _table;
}
static HashTable *table(NSSet *self) { return &self->_table; }
static void put(NSSet *self, SEL name, id object) {
    nil_check(self, name, object);
    if (!hash_find(table(self), object)) hash_put(table(self), [object retain], nil);
}
+ (BOOL)supportsSecureCoding {
    return YES;
}
+ (instancetype)set {
    return AUTORELEASED([[self alloc] init]);
}
+ (instancetype)setWithObject:(id)object {
    return AUTORELEASED([[self alloc] initWithObjects:&object count:1]);
}
+ (instancetype)setWithObjects:(const id[])objects count:(NSUInteger)n {
    return AUTORELEASED([[self alloc] initWithObjects:objects count:n]);
}
+ (instancetype)setWithObjects:(id)first, ... {
    COLLECT(first, list, n);
    NSSet *made = [[self alloc] initWithObjects:list count:n];
    free(list);
    return AUTORELEASED(made);
}
+ (instancetype)setWithArray:(NSArray *)array {
    return AUTORELEASED([[self alloc] initWithArray:array]);
}
+ (instancetype)setWithSet:(NSSet *)set {
    return AUTORELEASED([[self alloc] initWithSet:set]);
}
- (instancetype)initWithObjects:(const id[])objects count:(NSUInteger)n {
    for (NSUInteger i = 0; i < n; i++) put(self, _cmd, objects[i]);
    return self;
}
- (instancetype)initWithArray:(NSArray *)array {
    for (id item in array) put(self, _cmd, item);
    return self;
}
- (instancetype)initWithSet:(NSSet *)set {
    for (id item in set) put(self, _cmd, item);
    return self;
}
- (instancetype)initWithCoder:(NSCoder *)coder {
    (void)coder;
    [self doesNotRecognizeSelector:_cmd];
    return nil;
}
- (void)encodeWithCoder:(NSCoder *)coder {
    (void)coder;
    [self doesNotRecognizeSelector:_cmd];
}
- (void)dealloc {
    hash_clear(&_table);
    [super dealloc];
}
- (id)copyWithZone:(NSZone *)zone {
    (void)zone;
    return [self isKindOfClass:[NSMutableSet class]] ? [[NSSet alloc] initWithSet:self]
                                                     : [self retain];
}
- (id)mutableCopyWithZone:(NSZone *)zone {
    (void)zone;
    return [[NSMutableSet alloc] initWithSet:self];
}
- (NSUInteger)count {
    return _table.count;
}
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
- (NSUInteger)hash {
    return self.count;
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
- (NSUInteger)countByEnumeratingWithState:(NSFastEnumerationState *)state
                                  objects:(id __unsafe_unretained[])buffer
                                    count:(NSUInteger)n {
    return hash_enumerate(&_table, state, buffer, n);
}
@end

@implementation NSMutableSet
+ (instancetype)setWithCapacity:(NSUInteger)capacity {
    (void)capacity;
    return [self set];
}
- (instancetype)initWithCapacity:(NSUInteger)capacity {
    (void)capacity;
    return [self init];
}
- (void)addObject:(id)object {
    put(self, _cmd, object);
}
- (void)removeObject:(id)object {
    hash_remove(table(self), object);
}
- (void)addObjectsFromArray:(NSArray *)array {
    for (id item in array) put(self, _cmd, item);
}
- (void)removeAllObjects {
    hash_clear(table(self));
}
- (void)unionSet:(NSSet *)other {
    for (id item in other) put(self, _cmd, item);
}
- (void)minusSet:(NSSet *)other {
    for (id item in other.allObjects) hash_remove(table(self), item);
}
- (void)intersectSet:(NSSet *)other {
    for (id item in self.allObjects)
        if (![other containsObject:item]) hash_remove(table(self), item);
}
@end
