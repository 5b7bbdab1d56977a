// SPDX-License-Identifier: Apache-2.0
// dependencies.c: from a sequence of commands to the edges that are needed (hazards: read after
// write, write after read, write after write), transitively reduced: of those a command waits for,
// the ones that complete before another one of them anyway are left out. In a training step,
// gradients of weights run concurrently with those of activations.
#include "devices/cuda/dependencies.h"
#include "base/array.h"
#include <stdlib.h>
#include <string.h>

#define NOBODY UINT32_MAX

typedef struct CudaPlace {
    uint64_t memory; // 0: free
    uint32_t writer; // the last one, or NOBODY
    uint32_t reader; // the last of a list, from 1 on; 0: none since then
} CudaPlace;
typedef struct CudaReader {
    uint32_t command, next;
} CudaReader;

bool cuda_dependencies_begin(CudaDependencies *o, size_t most) {
    size_t words = (most + 63) / 64;
    *o = (CudaDependencies){.most = most, .barrier = NOBODY};
    o->before = calloc(most * words + 1, sizeof *o->before);
    o->wanted = malloc((most + 1) * sizeof *o->wanted);
    o->last = calloc(most + 1, 1);
    return o->before && o->wanted && o->last;
}

void cuda_dependencies_end(CudaDependencies *o) {
    free(o->edges);
    free(o->places);
    free(o->readers);
    free(o->before);
    free(o->wanted);
    free(o->last);
    *o = (CudaDependencies){0};
}

// ---- What was touched ----

static size_t place_of(const CudaDependencies *o, uint64_t memory) { // its own, or a free one
    size_t mask = o->places_capacity - 1, i = (memory * 0x9E3779B97F4A7C15u >> 32) & mask;
    while (o->places[i].memory && o->places[i].memory != memory) i = (i + 1) & mask;
    return i;
}

static bool grow_places(CudaDependencies *o) {
    if (2 * (o->n_places + 1) <= o->places_capacity) return true;
    CudaPlace *old = o->places;
    size_t n = o->places_capacity;
    o->places_capacity = n ? 2 * n : 256;
    o->places = calloc(o->places_capacity, sizeof *o->places);
    for (size_t i = 0; o->places && i < n; i++)
        if (old[i].memory) o->places[place_of(o, old[i].memory)] = old[i];
    free(old);
    return o->places != NULL;
}

static CudaPlace *find_place(CudaDependencies *o, uint64_t memory) {
    if (!grow_places(o)) return NULL;
    CudaPlace *p = &o->places[place_of(o, memory)];
    if (!p->memory) {
        *p = (CudaPlace){.memory = memory, .writer = NOBODY};
        o->n_places++;
    }
    return p;
}

static bool note_reader(CudaDependencies *o, CudaPlace *p, uint32_t command) {
    if (p->reader && o->readers[p->reader - 1].command == command) return true;
    if (!array_reserve(&o->readers, &o->readers_capacity, o->n_readers + 1)) return false;
    o->readers[o->n_readers++] = (CudaReader){command, p->reader};
    p->reader = (uint32_t)o->n_readers;
    return true;
}

// ---- Who waits for whom ----

static uint64_t *before(const CudaDependencies *o, uint32_t command) {
    return o->before + command * ((o->most + 63) / 64);
}

static bool is_before(const CudaDependencies *o, uint32_t a, uint32_t b) {
    return before(o, b)[a / 64] >> a % 64 & 1;
}

static void want(CudaDependencies *o, uint32_t command, uint32_t other) {
    if (other == NOBODY || other == command || is_before(o, other, command)) return;
    for (size_t i = 0; i < o->n_wanted; i++)
        if (o->wanted[i] == other) return;
    o->wanted[o->n_wanted++] = other;
}

static bool add_edge(CudaDependencies *o, uint32_t from, uint32_t to) {
    if (!array_reserve(&o->edges, &o->edges_capacity, o->n_edges + 1)) return false;
    o->edges[o->n_edges++] = (CudaEdge){from, to};
    return true;
}

static int latest_first(const void *a, const void *b) {
    uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
    return (x < y) - (x > y);
}

// A later one may have waited for an earlier one itself.
static bool take_wanted(CudaDependencies *o, uint32_t command) {
    if (o->n_wanted > 1) qsort(o->wanted, o->n_wanted, sizeof *o->wanted, latest_first);
    uint64_t *mine = before(o, command);
    for (size_t i = 0; i < o->n_wanted; i++) {
        uint32_t other = o->wanted[i];
        if (is_before(o, other, command)) continue;
        if (!add_edge(o, other, command)) return false;
        const uint64_t *its = before(o, other);
        for (size_t w = 0; w < (o->most + 63) / 64; w++) mine[w] |= its[w];
        mine[other / 64] |= (uint64_t)1 << other % 64;
        o->last[other] = 0;
    }
    return true;
}

static void forget_places(CudaDependencies *o) {
    if (o->places) memset(o->places, 0, o->places_capacity * sizeof *o->places);
    o->n_places = o->n_readers = 0;
}

void cuda_dependencies_add(CudaDependencies *o, const CudaTouch *touches, int n) {
    uint32_t command = (uint32_t)o->n_commands;
    if (o->failed || o->n_commands == o->most) {
        o->failed = true;
        return;
    }
    o->n_commands++;
    o->n_wanted = 0;
    o->last[command] = 1;
    if (n < 0) {
        for (uint32_t i = 0; i < command; i++)
            if (o->last[i]) want(o, command, i);
        forget_places(o);
    }
    want(o, command, o->barrier);
    for (int i = 0; i < n && !o->failed; i++) {
        CudaPlace *p = find_place(o, touches[i].memory);
        if (!p) {
            o->failed = true;
            return;
        }
        want(o, command, p->writer);
        for (uint32_t r = touches[i].writes ? p->reader : 0; r; r = o->readers[r - 1].next)
            want(o, command, o->readers[r - 1].command);
        if (touches[i].writes) {
            p->writer = command;
            p->reader = 0;
        } else if (p->writer != command && !note_reader(o, p, command)) {
            o->failed = true;
        }
    }
    if (n < 0) o->barrier = command;
    if (!take_wanted(o, command)) o->failed = true;
}

uint64_t cuda_dependencies_hash(const CudaDependencies *o) { // FNV-1a
    uint64_t h = 0xcbf29ce484222325u;
    for (size_t i = 0; i < o->n_edges; i++) {
        h = (h ^ ((uint64_t)o->edges[i].from << 32 | o->edges[i].to)) * 0x100000001b3u;
        h ^= h >> 29;
    }
    return h;
}
