// SPDX-License-Identifier: Apache-2.0
// view_pool.c: the array of slots (see view_pool.h). It is reserved once, at its full length,
// because its address stands in the table kernels use; memory comes with the first use of a page
// and goes back with the slots on it. Slots given back are kept as ranges, in order, neighbours
// joined.
#include "cpu/texture/view_pool.h"
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include "cpu/texture/ops.h"

typedef struct Range { // free slots
    struct Range *next;
    size_t first, n;
} Range;

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER; // of the one CPU device
static AbiTexture *_Atomic slots;                        // [ABI_VIEW_POOL_SLOTS], never goes
static Range *ranges;                                    // under lock

static bool reserve(void) { // lock held
    if (atomic_load(&slots)) return true;
    Range *all = malloc(sizeof *all);
    void *memory = mmap(NULL, (size_t)ABI_VIEW_POOL_SLOTS * sizeof *slots, PROT_READ | PROT_WRITE,
                        MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (!all || memory == MAP_FAILED) {
        if (memory != MAP_FAILED) munmap(memory, (size_t)ABI_VIEW_POOL_SLOTS * sizeof *slots);
        free(all);
        return false;
    }
    *all = (Range){.n = ABI_VIEW_POOL_SLOTS};
    ranges = all;
    atomic_store(&slots, memory);
    cpu_texture_ops_set_pool(memory);
    return true;
}

void cpu_view_pool_use(AbiTexture *memory) {
    atomic_store(&slots, memory);
    cpu_texture_ops_set_pool(memory);
}

uint64_t cpu_view_pool_take(size_t n) {
    uint64_t id = 0;
    pthread_mutex_lock(&lock);
    if (n > 0 && reserve()) {
        Range **at = &ranges;
        while (*at && (*at)->n < n) at = &(*at)->next;
        Range *r = *at;
        if (r) {
            id = ABI_TEXTURE_POOLED | r->first;
            r->first += n;
            r->n -= n;
            if (r->n == 0) {
                *at = r->next;
                free(r);
            }
        }
    }
    pthread_mutex_unlock(&lock);
    return id;
}

void cpu_view_pool_give(uint64_t id, size_t n) {
    if (!id || n == 0) return;
    size_t first = (size_t)(id & (ABI_VIEW_POOL_SLOTS - 1));
    memset(cpu_view_pool_slot(id), 0, n * sizeof *slots); // a stale id finds an empty texture
    pthread_mutex_lock(&lock);
    Range *before = NULL, **at = &ranges;
    while (*at && (*at)->first < first) before = *at, at = &(*at)->next;
    Range *after = *at;
    bool joins_before = before && before->first + before->n == first;
    bool joins_after = after && first + n == after->first;
    if (joins_before) {
        before->n += n;
        if (joins_after) {
            before->n += after->n;
            before->next = after->next;
            free(after);
        }
    } else if (joins_after) {
        after->first = first;
        after->n += n;
    } else {
        Range *r = malloc(sizeof *r);
        if (r) { // else the slots are lost until the process ends; nothing else is
            *r = (Range){.next = after, .first = first, .n = n};
            *at = r;
        }
    }
    pthread_mutex_unlock(&lock);
}

AbiTexture *cpu_view_pool_slot(uint64_t id) {
    return atomic_load_explicit(&slots, memory_order_acquire) + (id & (ABI_VIEW_POOL_SLOTS - 1));
}

const AbiTexture *cpu_texture_of(uint64_t handle) {
    uint64_t number = handle & (ABI_VIEW_POOL_SLOTS - 1);
    if (handle - number != ABI_TEXTURE_POOLED) return abi_handle_record(handle);
    AbiTexture *all = atomic_load_explicit(&slots, memory_order_acquire);
    return all && all[number].format ? &all[number] : NULL;
}
