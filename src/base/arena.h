// SPDX-License-Identifier: Apache-2.0
// arena.h: memory that is freed all at once (a decoded message, the facts of one compilation).
#ifndef INGOT_BASE_ARENA_H
#define INGOT_BASE_ARENA_H
#include <stdbool.h>
#include <stddef.h>

typedef struct ArenaChunk ArenaChunk;
typedef struct Arena {
    ArenaChunk *chunks;
    size_t left; // bytes free in the newest chunk
    bool failed; // an allocation gave NULL
} Arena; // {0} is empty

// Zeroed, 16-byte aligned; NULL (and failed) without memory or if n * size overflows.
void *arena_alloc(Arena *a, size_t n, size_t size);
char *arena_str(Arena *a, const void *s, size_t n); // a zero is added
void arena_free(Arena *a);
#endif
