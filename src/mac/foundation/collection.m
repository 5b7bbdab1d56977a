// SPDX-License-Identifier: Apache-2.0
// collection.m: the hash table of dictionaries and sets; enumerators.
#include "mac/foundation/foundation_int.h"
#include "mac/foundation/collection_int.h"

static NSUInteger spread(NSUInteger h) { return (h ^ h >> 32) * 0x9E3779B97F4A7C15u >> 20; }

static void rebuild(HashTable *t, NSUInteger room) { // removed entries go
    HashEntry *entries = malloc(room * sizeof *entries);
    NSUInteger used = 0;
    HASH_EACH(e, t) entries[used++] = *e;
    free(t->entries), free(t->index);
    t->entries = entries, t->used = used, t->room = room, t->index_room = room * 2;
    t->index = calloc(t->index_room, sizeof *t->index);
    if (!entries || !t->index) abort();
    for (NSUInteger i = 0; i < used; i++) {
        NSUInteger at = spread(entries[i].hash) & (t->index_room - 1);
        while (t->index[at]) at = (at + 1) & (t->index_room - 1);
        t->index[at] = (uint32_t)i + 1;
    }
}

HashEntry *hash_find(const HashTable *t, id key) {
    if (!t->count || !key) return NULL;
    NSUInteger hash = [key hash], at = spread(hash) & (t->index_room - 1);
    for (; t->index[at]; at = (at + 1) & (t->index_room - 1)) {
        HashEntry *e = &t->entries[t->index[at] - 1];
        if (e->key && e->hash == hash && (e->key == key || [e->key isEqual:key])) return e;
    }
    return NULL;
}

void hash_put(HashTable *t, id key, id value) {
    HashEntry *e = hash_find(t, key);
    if (e) {
        id old = e->value;
        e->value = value;
        [old release];
        [key release];
        return;
    }
    if (t->used == t->room) {
        NSUInteger room = 8;
        while (room < t->count * 2) room *= 2;
        rebuild(t, room);
    }
    NSUInteger hash = [key hash], at = spread(hash) & (t->index_room - 1);
    while (t->index[at]) at = (at + 1) & (t->index_room - 1);
    t->entries[t->used++] = (HashEntry){key, value, hash};
    t->index[at] = (uint32_t)t->used;
    t->count++, t->changes++;
}

void hash_remove(HashTable *t, id key) {
    HashEntry *e = hash_find(t, key);
    if (!e) return;
    id old_key = e->key, old_value = e->value;
    e->key = nil, e->value = nil; // the index still leads here: searches pass over it
    t->count--, t->changes++;
    [old_key release];
    [old_value release];
}

void hash_clear(HashTable *t) {
    HashTable old = *t;
    *t = (HashTable){.changes = old.changes + 1};
    HASH_EACH(e, &old) {
        [e->key release];
        [e->value release];
    }
    free(old.entries), free(old.index);
}

NSUInteger hash_enumerate(HashTable *t, NSFastEnumerationState *state, id *buffer, NSUInteger n) {
    NSUInteger given = 0;
    state->itemsPtr = buffer, state->mutationsPtr = &t->changes;
    while (state->state < t->used && given < n) {
        id key = t->entries[state->state++].key;
        if (key) buffer[given++] = key;
    }
    return given;
}

NSArray *hash_list(const HashTable *t, bool values) {
    NSMutableArray *list = [NSMutableArray arrayWithCapacity:t->count];
    HASH_EACH(e, t)[list addObject:values ? e->value : e->key];
    return list;
}

NSString *described(id object) {
    NSString *text = [object description];
    if ([object isKindOfClass:[NSString class]]) {
        bool plain = text.length > 0;
        for (NSUInteger i = 0; i < text.length; i++) {
            unichar c = [text characterAtIndex:i];
            plain &= c < 0x80 &&
                     (isalnum(c) || c == '_' || c == '.' || c == '/' || c == '$' || c == ':');
        }
        return plain ? text
                     : [NSString
                           stringWithFormat:@"\"%@\"",
                                            [text stringByReplacingOccurrencesOfString:@"\""
                                                                            withString:@"\\\""]];
    }
    return [text stringByReplacingOccurrencesOfString:@"\n" withString:@"\n    "];
}

@interface NSListEnumerator : NSEnumerator {
  @public
    NSArray *list;
    NSUInteger next;
    bool reverse;
}
@end
@implementation NSListEnumerator
- (void)dealloc {
    [list release];
    [super dealloc];
}
- (id)nextObject {
    if (next >= list.count) return nil;
    NSUInteger at = next++;
    return [list objectAtIndex:reverse ? list.count - 1 - at : at];
}
@end
NSEnumerator *list_enumerator(NSArray *list, bool reverse) {
    NSListEnumerator *e = [NSListEnumerator new];
    e->list = [list retain], e->reverse = reverse;
    return AUTORELEASED(e);
}

@implementation NSEnumerator
- (id)nextObject {
    return nil;
}
- (NSArray *)allObjects {
    NSMutableArray *all = [NSMutableArray array];
    for (id item; (item = [self nextObject]);) [all addObject:item];
    return all;
}
- (NSUInteger)countByEnumeratingWithState:(NSFastEnumerationState *)state
                                  objects:(id __unsafe_unretained[])buffer
                                    count:(NSUInteger)n {
    NSUInteger given = 0;
    state->itemsPtr = buffer, state->mutationsPtr = &state->extra[0], state->state = 1;
    for (id item; given < n && (item = [self nextObject]);) buffer[given++] = item;
    return given;
}
@end
