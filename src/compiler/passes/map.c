// SPDX-License-Identifier: Apache-2.0
// map.c: the arena of one vectorisation, where a failure leaves by msl_fail, and a hash map from
// pointers to small integers: LLVM-C offers no user data on values and blocks.
#include "compiler/passes/passes_int.h"

void *msl_arena_alloc(MslContext *cx, Arena *a, size_t bytes) {
    void *p = base_arena_alloc(a, bytes, 1);
    if (!p) msl_fail(cx, "out of memory");
    return p;
}

static unsigned slot_of(const Map *m, const void *key) {
    unsigned i = (unsigned)(((uintptr_t)key * 0x9E3779B97F4A7C15ull) >> 32) & (m->capacity - 1);
    while (m->keys[i] && m->keys[i] != key) i = (i + 1) & (m->capacity - 1);
    return i;
}

int msl_map_get(const Map *m, const void *key) {
    if (!m->n) return -1;
    unsigned i = slot_of(m, key);
    return m->keys[i] ? m->values[i] : -1;
}

void msl_map_put(MslContext *cx, Arena *a, Map *m, const void *key, int value) {
    if (2 * (m->n + 1) > m->capacity) {
        Map big = {.capacity = m->capacity ? 2 * m->capacity : 64};
        big.keys = msl_arena_alloc(cx, a, big.capacity * sizeof *big.keys);
        big.values = msl_arena_alloc(cx, a, big.capacity * sizeof *big.values);
        for (unsigned i = 0; i < m->capacity; i++) {
            if (!m->keys[i]) continue;
            unsigned s = slot_of(&big, m->keys[i]);
            big.keys[s] = m->keys[i];
            big.values[s] = m->values[i];
        }
        big.n = m->n;
        *m = big;
    }
    unsigned s = slot_of(m, key);
    if (!m->keys[s]) m->n++;
    m->keys[s] = key;
    m->values[s] = value;
}
