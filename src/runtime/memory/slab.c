// SPDX-License-Identifier: Apache-2.0
// slab.c: slots for small buffers and textures. What is known about slots is kept apart from them:
// a kernel that writes past its buffer spoils a neighbour's data, as on a GPU, and not the process.
//
// Each size has a list of regions with free slots. Slots that were never used are zero as the
// system gave them; used ones are cleared when they are taken again. A region that falls empty goes
// back to the system unless it is the only one of its size with room.
#include "runtime/memory/slab_int.h"
#include <pthread.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include "os/pages.h"

enum {
    MIN_SHIFT = 8,
    N_SIZES = 7,
    REGION_BYTES = 256 << 10,
    MAX_SLOTS = REGION_BYTES >> MIN_SHIFT
};
_Static_assert(RT_SLAB_MAX_BYTES == 1u << (MIN_SHIFT + N_SIZES - 1), "the largest slot");

struct RtSlab {              // a region; under the lock of its size
    RtSlab *next, *previous; // in the list of those with room
    char *memory;
    unsigned size;                          // index into sizes
    unsigned n_slots, n_live, n_fresh_from; // slots from n_fresh_from on were never used
    unsigned n_free;
    uint16_t free[MAX_SLOTS]; // used before
};

#define UNTAKEN {.lock = PTHREAD_ADAPTIVE_MUTEX_INITIALIZER_NP}
// Of the process: slots are the host's memory, for all devices that take theirs from it.
static struct {
    pthread_mutex_t lock;
    RtSlab *with_room;
} sizes[N_SIZES] = {UNTAKEN, UNTAKEN, UNTAKEN, UNTAKEN, UNTAKEN, UNTAKEN, UNTAKEN};

static unsigned size_index(size_t n_bytes) {
    unsigned i = 0;
    while (((size_t)1 << (MIN_SHIFT + i)) < n_bytes) i++;
    return i;
}

size_t rt_slab_slot_bytes(size_t n_bytes) { return (size_t)1 << (MIN_SHIFT + size_index(n_bytes)); }

static void put_first(RtSlab *slab) {
    RtSlab **first = &sizes[slab->size].with_room;
    slab->previous = NULL;
    slab->next = *first;
    if (*first) (*first)->previous = slab;
    *first = slab;
}

static void take_out(RtSlab *slab) {
    if (slab->previous)
        slab->previous->next = slab->next;
    else
        sizes[slab->size].with_room = slab->next;
    if (slab->next) slab->next->previous = slab->previous;
}

static bool has_room(const RtSlab *slab) {
    return slab->n_free > 0 || slab->n_fresh_from < slab->n_slots;
}

static RtSlab *slab_new(unsigned size) {
    RtSlab *slab = calloc(1, sizeof *slab); // not of the hook, which may change while it lives
    if (!slab) return NULL;
    slab->memory = os_pages(REGION_BYTES);
    if (!slab->memory) {
        free(slab);
        return NULL;
    }
    slab->size = size;
    slab->n_slots = REGION_BYTES >> (MIN_SHIFT + size);
    put_first(slab);
    return slab;
}

char *rt_slab_take(size_t n_bytes, bool zeroed, RtSlab **out) {
    unsigned size = size_index(n_bytes), shift = MIN_SHIFT + size;
    pthread_mutex_lock(&sizes[size].lock);
    RtSlab *slab = sizes[size].with_room;
    if (!slab) slab = slab_new(size);
    char *slot = NULL;
    bool used = false;
    if (slab) {
        used = slab->n_free > 0;
        unsigned i = used ? slab->free[--slab->n_free] : slab->n_fresh_from++;
        slot = slab->memory + ((size_t)i << shift);
        slab->n_live++;
        if (!has_room(slab)) take_out(slab);
    }
    pthread_mutex_unlock(&sizes[size].lock);
    if (slot && used) {
        size_t from = zeroed ? 0 : n_bytes;
        memset(slot + from, 0, ((size_t)1 << shift) - from);
    }
    *out = slab;
    return slot;
}

void rt_slab_give(RtSlab *slab, char *slot) {
    unsigned size = slab->size;
    pthread_mutex_lock(&sizes[size].lock);
    if (!has_room(slab)) put_first(slab);
    slab->free[slab->n_free++] = (uint16_t)((size_t)(slot - slab->memory) >> (MIN_SHIFT + size));
    bool drop = --slab->n_live == 0 && (slab->next || slab->previous);
    if (drop) take_out(slab);
    pthread_mutex_unlock(&sizes[size].lock);
    if (!drop) return;
    os_pages_free(slab->memory, REGION_BYTES);
    free(slab);
}
