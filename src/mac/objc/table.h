// SPDX-License-Identifier: Apache-2.0
// table.h: a table from addresses to addresses. No lock of its own.
#ifndef INGOT_OBJC_TABLE_H
#define INGOT_OBJC_TABLE_H
#include <stddef.h>
#include <stdint.h>

typedef struct Table {
    const void **keys; // NULL: free; open addressing, removal closes the gap
    void **values;
    size_t n, room;
} Table;

static inline size_t address_hash(const void *p) {
    return (size_t)(((uintptr_t)p >> 4) * 0x9E3779B97F4A7C15u >> 24);
}
void *table_get(const Table *table, const void *key); // NULL: none
void table_set(Table *table, const void *key, void *value);
void *table_remove(Table *table, const void *key); // what was there
#endif
