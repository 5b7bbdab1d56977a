// SPDX-License-Identifier: Apache-2.0
// collection_int.h: what arrays, dictionaries and sets share: a table of objects by isEqual: and
// hash that keeps the order of insertion, and enumerators.
#ifndef INGOT_FOUNDATION_COLLECTION_INT_H
#define INGOT_FOUNDATION_COLLECTION_INT_H
#import <Foundation/Foundation.h>

#pragma GCC visibility push(hidden)
typedef struct HashEntry {
    id key, value; // key nil: was removed
    NSUInteger hash;
} HashEntry;
typedef struct HashTable {
    HashEntry *entries;
    NSUInteger used, room; // entries, with removed ones
    NSUInteger count;
    uint32_t *index; // open addressing: entry + 1; 0: free
    NSUInteger index_room;
    unsigned long changes;
} HashTable;

HashEntry *hash_find(const HashTable *table, id key); // NULL: none
// Takes over one reference of key and value (nil for sets); an old value is released, the old key
// stays.
void hash_put(HashTable *table, id key, id value);
void hash_remove(HashTable *table, id key);
void hash_clear(HashTable *table);
NSUInteger hash_enumerate(HashTable *table, NSFastEnumerationState *state, id *buffer,
                          NSUInteger n);
NSArray *hash_list(const HashTable *table, bool values);
#define HASH_EACH(entry, table)                                                                    \
    for (HashEntry *entry = (table)->entries; entry < (table)->entries + (table)->used; entry++)   \
        if (entry->key)

// Class methods of what is made of a list of objects: empty, of one, of n, of those before nil. The
// class has initWithObjects:count:.
#define MADE_OF_OBJECTS(empty, with_object, with_objects)                                          \
    +(instancetype)empty {                                                                         \
        return AUTORELEASED([[self alloc] init]);                                                  \
    }                                                                                              \
    +(instancetype)with_object : (id)object {                                                      \
        return AUTORELEASED([[self alloc] initWithObjects:&object count:1]);                       \
    }                                                                                              \
    +(instancetype)with_objects : (const id[])objects count : (NSUInteger)n {                      \
        return AUTORELEASED([[self alloc] initWithObjects:objects count:n]);                       \
    }                                                                                              \
    +(instancetype)with_objects : (id)first, ... {                                                 \
        COLLECT(first, list, n);                                                                   \
        id made = [[self alloc] initWithObjects:list count:n];                                     \
        free(list);                                                                                \
        return AUTORELEASED(made);                                                                 \
    }

// Methods of what holds its objects in a table. The number of them is hash enough for a collection.
#define HOLDS_TABLE(table)                                                                         \
    -(void)dealloc {                                                                               \
        hash_clear(&table);                                                                        \
        [super dealloc];                                                                           \
    }                                                                                              \
    -(NSUInteger)count {                                                                           \
        return table.count;                                                                        \
    }                                                                                              \
    -(NSUInteger)hash {                                                                            \
        return self.count;                                                                         \
    }                                                                                              \
    -(NSUInteger)countByEnumeratingWithState : (NSFastEnumerationState *)state objects             \
        : (id __unsafe_unretained[])buffer count : (NSUInteger)n {                                 \
        return hash_enumerate(&table, state, buffer, n);                                           \
    }

// A table grows as it must, whatever was announced.
#define IGNORES_CAPACITY(with_capacity, empty)                                                     \
    +(instancetype)with_capacity : (NSUInteger)capacity {                                          \
        (void)capacity;                                                                            \
        return [self empty];                                                                       \
    }                                                                                              \
    -(instancetype)initWithCapacity : (NSUInteger)capacity {                                       \
        (void)capacity;                                                                            \
        return [self init];                                                                        \
    }

NSEnumerator *list_enumerator(NSArray *list, bool reverse);
NSString *described(id object); // as a part of a collection's description
#pragma GCC visibility pop
#endif
