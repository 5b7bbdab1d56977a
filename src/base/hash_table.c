// SPDX-License-Identifier: Apache-2.0
// hash_table.c: see hash_table.h.
#include "base/hash_table.h"
#include <stdlib.h>
#include <string.h>

uint64_t hash_bytes(const void *data, size_t n) {
    const unsigned char *bytes = data;
    uint64_t h = 1469598103934665603u;
    for (size_t i = 0; i < n; i++) h = (h ^ bytes[i]) * 1099511628211u;
    return h ^ h >> 32;
}

uint64_t hash_text(const char *text) { return hash_bytes(text, strlen(text)); }

static HashNode **bucket_of(const HashTable *t, uint64_t hash) {
    return &t->buckets[hash & (t->n_buckets - 1)];
}

HashNode *hash_chain(const HashTable *table, uint64_t hash) {
    return table->n_buckets ? *bucket_of(table, hash) : NULL;
}

// Four times as many buckets; without memory a table that has some stays as it is: slower, not
// wrong.
static bool grow(HashTable *t) {
    HashTable larger = {.n_buckets = t->n_buckets ? t->n_buckets * 4 : 64, .n = t->n};
    larger.buckets = calloc(larger.n_buckets, sizeof *larger.buckets);
    if (!larger.buckets) return t->n_buckets > 0;
    for (size_t i = 0; i < t->n_buckets; i++)
        for (HashNode *n = t->buckets[i], *next; n; n = next) {
            HashNode **to = bucket_of(&larger, n->hash);
            next = n->next;
            n->next = *to;
            *to = n;
        }
    free(t->buckets);
    *t = larger;
    return true;
}

bool hash_add(HashTable *table, HashNode *node) {
    if (table->n >= table->n_buckets * 2 && !grow(table)) return false;
    HashNode **bucket = bucket_of(table, node->hash);
    node->next = *bucket;
    *bucket = node;
    table->n++;
    return true;
}

void hash_remove(HashTable *table, HashNode *node) {
    HashNode **at = bucket_of(table, node->hash);
    while (*at != node) at = &(*at)->next;
    *at = node->next;
    table->n--;
}

void hash_clear(HashTable *table, void (*free_node)(HashNode *node)) {
    for (size_t i = 0; i < table->n_buckets; i++)
        for (HashNode *n = table->buckets[i], *next; n; n = next) {
            next = n->next;
            free_node(n);
        }
    free(table->buckets);
    *table = (HashTable){0};
}
