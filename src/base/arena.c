// SPDX-License-Identifier: Apache-2.0
// arena.c: a list of chunks, each filled from its end towards its start (see arena.h).
#include "base/arena.h"
#include <stdlib.h>
#include <string.h>

struct BaseArenaChunk {
    BaseArenaChunk *next;
    _Alignas(16) unsigned char data[];
};

void *base_arena_alloc(BaseArena *a, size_t n, size_t size) {
    size_t bytes;
    if (__builtin_mul_overflow(n, size, &bytes) || bytes > (size_t)1 << 48) {
        a->failed = true;
        return NULL;
    }
    bytes = (bytes + 15) & ~(size_t)15;
    if (!bytes) bytes = 16;
    if (bytes > a->left || !a->chunks) {
        size_t capacity = bytes > 16384 ? bytes : 16384;
        BaseArenaChunk *chunk = malloc(sizeof *chunk + capacity);
        if (!chunk) {
            a->failed = true;
            return NULL;
        }
        chunk->next = a->chunks;
        a->chunks = chunk;
        a->left = capacity;
    }
    a->left -= bytes;
    return memset(a->chunks->data + a->left, 0, bytes);
}

char *base_arena_str(BaseArena *a, const void *s, size_t n) {
    char *copy = base_arena_alloc(a, n + 1, 1);
    if (copy && n) memcpy(copy, s, n);
    return copy;
}

void base_arena_free(BaseArena *a) {
    for (BaseArenaChunk *c = a->chunks, *next; c; c = next) {
        next = c->next;
        free(c);
    }
    *a = (BaseArena){0};
}
