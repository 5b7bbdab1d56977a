// SPDX-License-Identifier: Apache-2.0
// hash_table.h: a hash table of records that begin with a HashNode. Chained, grows by itself; what
// equality means is the user's: he walks the chain.
//
//     for (HashNode *n = hash_chain(&table, hash); n; n = n->next)
//         if (n->hash == hash && !strcmp(((Entry *)n)->name, name)) ...
#ifndef INGOT_BASE_HASH_TABLE_H
#define INGOT_BASE_HASH_TABLE_H
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct HashNode {
    struct HashNode *next;
    uint64_t hash;
} HashNode;

typedef struct HashTable { // {0} is empty
    HashNode **buckets;
    size_t n_buckets, n; // a power of two; records
} HashTable;

uint64_t hash_bytes(const void *data, size_t n); // FNV-1a, its upper half folded into the lower
uint64_t hash_text(const char *text);
// The records whose hash may be this one.
HashNode *hash_chain(const HashTable *table, uint64_t hash);
// Adds a record, whose hash is set. False: no memory, it is not added.
bool hash_add(HashTable *table, HashNode *node);
void hash_remove(HashTable *table, HashNode *node); // it is in the table
// Calls free_node for every record, which may free it; the table is empty then.
void hash_clear(HashTable *table, void (*free_node)(HashNode *node));
#endif
