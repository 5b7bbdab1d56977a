// SPDX-License-Identifier: Apache-2.0
// NSDictionary.m: dictionaries. Keys are copied.
#include "mac/foundation/foundation_int.h"
#include "mac/foundation/collection_int.h"

@implementation NSDictionary {
    HashTable _table;
}
static HashTable *table(NSDictionary *self) { return &self->_table; }
static void set_or_refuse(NSDictionary *self, SEL name, id value, id key) {
    nil_check(self, name, value);
    nil_check(self, name, key);
    hash_put(table(self), [key copyWithZone:NULL], [value retain]);
}
+ (instancetype)dictionary {
    return AUTORELEASED([[self alloc] init]);
}
+ (instancetype)dictionaryWithObject:(id)object forKey:(id)key {
    return AUTORELEASED([[self alloc] initWithObjects:&object forKeys:&key count:1]);
}
+ (instancetype)dictionaryWithObjects:(const id[])objects
                              forKeys:(const id[])keys
                                count:(NSUInteger)n {
    return AUTORELEASED([[self alloc] initWithObjects:objects forKeys:keys count:n]);
}
+ (instancetype)dictionaryWithObjects:(NSArray *)objects forKeys:(NSArray *)keys {
    return AUTORELEASED([[self alloc] initWithObjects:objects forKeys:keys]);
}
+ (instancetype)dictionaryWithObjectsAndKeys:(id)first, ... {
    COLLECT(first, list, n);
    NSDictionary *made = [[self alloc] init];
    for (NSUInteger i = 0; i + 1 < n; i += 2) set_or_refuse(made, _cmd, list[i], list[i + 1]);
    free(list);
    return AUTORELEASED(made);
}
+ (instancetype)dictionaryWithDictionary:(NSDictionary *)other {
    return AUTORELEASED([[self alloc] initWithDictionary:other]);
}
- (instancetype)initWithObjects:(const id[])objects forKeys:(const id[])keys count:(NSUInteger)n {
    for (NSUInteger i = 0; i < n; i++) set_or_refuse(self, _cmd, objects[i], keys[i]);
    return self;
}
- (instancetype)initWithObjects:(NSArray *)objects forKeys:(NSArray *)keys {
    if (objects.count != keys.count)
        [NSException
             raise:NSInvalidArgumentException
            format:
                @"*** -[NSDictionary %s]: count of objects (%lu) differs from count of keys (%lu)",
                sel_getName(_cmd), objects.count, keys.count];
    for (NSUInteger i = 0; i < keys.count; i++) set_or_refuse(self, _cmd, objects[i], keys[i]);
    return self;
}
- (instancetype)initWithObjectsAndKeys:(id)first, ... {
    COLLECT(first, list, n);
    for (NSUInteger i = 0; i + 1 < n; i += 2) set_or_refuse(self, _cmd, list[i], list[i + 1]);
    free(list);
    return self;
}
- (instancetype)initWithDictionary:(NSDictionary *)other {
    for (id key in other) set_or_refuse(self, _cmd, [other objectForKey:key], key);
    return self;
}
CODES_NOTHING
HOLDS_TABLE(_table)
COPIES_AS(NSDictionary, NSMutableDictionary, initWithDictionary, self)
- (id)objectForKey:(id)key {
    HashEntry *e = hash_find(&_table, key);
    return e ? e->value : nil;
}
- (id)objectForKeyedSubscript:(id)key {
    return [self objectForKey:key];
}
- (id)valueForKey:(NSString *)key {
    return [self objectForKey:key];
}
- (NSArray *)allKeys {
    return hash_list(&_table, false);
}
- (NSArray *)allValues {
    return hash_list(&_table, true);
}
- (NSArray *)allKeysForObject:(id)object {
    NSMutableArray *keys = [NSMutableArray array];
    HASH_EACH(e, &_table) if ([e->value isEqual:object])[keys addObject:e->key];
    return keys;
}
- (NSEnumerator *)keyEnumerator {
    return list_enumerator(self.allKeys, false);
}
- (NSEnumerator *)objectEnumerator {
    return list_enumerator(self.allValues, false);
}
- (BOOL)isEqual:(id)other {
    return self == other ||
           ([other isKindOfClass:[NSDictionary class]] && [self isEqualToDictionary:other]);
}
- (BOOL)isEqualToDictionary:(NSDictionary *)other {
    if (self.count != other.count) return NO;
    HASH_EACH(e, &_table) if (![e->value isEqual:[other objectForKey:e->key]]) return NO;
    return YES;
}
- (void)enumerateKeysAndObjectsUsingBlock:(void (^)(id key, id object, BOOL *stop))block {
    BOOL stop = NO;
    for (id key in self) {
        block(key, [self objectForKey:key], &stop);
        if (stop) break;
    }
}
- (NSArray *)keysSortedByValueUsingComparator:(NSComparator)compare {
    return [self.allKeys sortedArrayUsingComparator:^(id a, id b) {
      return compare([self objectForKey:a], [self objectForKey:b]);
    }];
}
- (NSString *)description {
    NSMutableString *text = [NSMutableString stringWithString:@"{\n"];
    HASH_EACH(e,
              &_table)[text appendFormat:@"    %@ = %@;\n", described(e->key), described(e->value)];
    [text appendString:@"}"];
    return text;
}
@end

// What the compiler takes for @[] and @{}.
OBJC_EXPORT NSArray *__NSArray0__;
OBJC_EXPORT NSDictionary *__NSDictionary0__;
NSArray *__NSArray0__;
NSDictionary *__NSDictionary0__;
__attribute__((constructor(102))) static void empty_ones(void) {
    __NSArray0__ = [NSArray new], __NSDictionary0__ = [NSDictionary new];
}

@implementation NSMutableDictionary
IGNORES_CAPACITY(dictionaryWithCapacity, dictionary)
- (void)setObject:(id)object forKey:(id)key {
    set_or_refuse(self, _cmd, object, key);
}
- (void)setObject:(id)object forKeyedSubscript:(id)key {
    if (object)
        set_or_refuse(self, _cmd, object, key);
    else
        [self removeObjectForKey:key];
}
- (void)setValue:(id)value forKey:(NSString *)key {
    [self setObject:value forKeyedSubscript:key];
}
- (void)removeObjectForKey:(id)key {
    nil_check(self, _cmd, key);
    hash_remove(table(self), key);
}
- (void)addEntriesFromDictionary:(NSDictionary *)other {
    for (id key in other.allKeys) set_or_refuse(self, _cmd, [other objectForKey:key], key);
}
- (void)removeAllObjects {
    hash_clear(table(self));
}
- (void)removeObjectsForKeys:(NSArray *)keys {
    for (id key in keys) hash_remove(table(self), key);
}
- (void)setDictionary:(NSDictionary *)other {
    if (other == self) return;
    [self removeAllObjects];
    [self addEntriesFromDictionary:other];
}
@end
