// SPDX-License-Identifier: Apache-2.0
// table.c: a table from addresses to addresses.
#include "mac/objc/objc_int.h"
#include <stdlib.h>

static size_t table_find(const Table *t, const void *key) {
    size_t at = address_hash(key) & (t->room - 1);
    while (t->keys[at] && t->keys[at] != key) at = (at + 1) & (t->room - 1);
    return at;
}

void *table_get(const Table *t, const void *key) {
    return t->n ? t->values[table_find(t, key)] : NULL;
}

static void table_grow(Table *t) {
    Table bigger = {.room = t->room ? t->room * 2 : 16, .n = t->n};
    bigger.keys = objc_zeroed(bigger.room * sizeof *bigger.keys);
    bigger.values = objc_zeroed(bigger.room * sizeof *bigger.values);
    for (size_t i = 0; i < t->room; i++) {
        if (!t->keys[i]) continue;
        size_t at = table_find(&bigger, t->keys[i]);
        bigger.keys[at] = t->keys[i], bigger.values[at] = t->values[i];
    }
    free(t->keys), free(t->values);
    *t = bigger;
}

void table_set(Table *t, const void *key, void *value) {
    if ((t->n + 1) * 2 > t->room) table_grow(t);
    size_t at = table_find(t, key);
    if (!t->keys[at]) t->keys[at] = key, t->n++;
    t->values[at] = value;
}

void *table_remove(Table *t, const void *key) {
    if (!t->n) return NULL;
    size_t at = table_find(t, key), mask = t->room - 1;
    if (!t->keys[at]) return NULL;
    void *value = t->values[at];
    // Those that stand behind it because its place was taken move up.
    for (size_t next = (at + 1) & mask; t->keys[next]; next = (next + 1) & mask) {
        size_t home = address_hash(t->keys[next]) & mask;
        if (((next - home) & mask) < ((next - at) & mask)) continue;
        t->keys[at] = t->keys[next], t->values[at] = t->values[next];
        at = next;
    }
    t->keys[at] = NULL, t->values[at] = NULL, t->n--;
    return value;
}
