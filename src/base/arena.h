// SPDX-License-Identifier: Apache-2.0
// arena.h: memory that is freed all at once (a decoded message, the facts of one compilation).
#ifndef INGOT_BASE_ARENA_H
#define INGOT_BASE_ARENA_H
#include <stdbool.h>
#include <stddef.h>

typedef struct BaseArenaChunk BaseArenaChunk;
typedef struct BaseArena {
    BaseArenaChunk *chunks;
    size_t left; // bytes free in the newest chunk
    bool failed; // an allocation gave NULL
} BaseArena;     // {0} is empty

// Zeroed, 16-byte aligned; NULL (and failed) without memory or if n * size overflows.
void *base_arena_alloc(BaseArena *a, size_t n, size_t size);
char *base_arena_str(BaseArena *a, const void *s, size_t n); // a zero is added
void base_arena_free(BaseArena *a);
#endif
