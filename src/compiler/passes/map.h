// SPDX-License-Identifier: Apache-2.0
// map.h: memory that one step of a compilation frees at once, and a map from pointers to ints.
#ifndef INGOT_PASSES_MAP_H
#define INGOT_PASSES_MAP_H
#include "base/arena.h"
#include "compiler/passes/passes.h"

typedef BaseArena Arena;
void *msl_arena_alloc(MslContext *cx, Arena *a, size_t bytes); // zeroed; msl_fail if memory is out
typedef struct Map {
    const void **keys;
    int *values;
    unsigned n, capacity;
} Map;
int msl_map_get(const Map *m, const void *key); // -1 if absent
void msl_map_put(MslContext *cx, Arena *a, Map *m, const void *key, int value);
#endif
