// SPDX-License-Identifier: Apache-2.0
// view_pool.c: the array of slots (see view_pool.h). It is reserved once, at its full length,
// because its address stands in the table kernels use; memory comes with the first use of a page
// and goes back with the slots on it.
#include "devices/cpu/texture/view_pool.h"
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <string.h>
#include <sys/mman.h>
#include "base/ranges.h"
#include "devices/cpu/texture/ops.h"

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER; // of the one CPU device
static AbiTexture *_Atomic slots;                        // [ABI_VIEW_POOL_SLOTS], never goes
static Ranges ids;                                       // that are free; under lock

static bool reserve(void) { // lock held
    if (atomic_load(&slots)) return true;
    void *memory = mmap(NULL, (size_t)ABI_VIEW_POOL_SLOTS * sizeof *slots, PROT_READ | PROT_WRITE,
                        MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (memory == MAP_FAILED) return false;
    if (!ranges_begin(&ids, ABI_VIEW_POOL_SLOTS)) {
        munmap(memory, (size_t)ABI_VIEW_POOL_SLOTS * sizeof *slots);
        return false;
    }
    atomic_store(&slots, memory);
    cpu_texture_ops_set_pool(memory);
    return true;
}

void cpu_view_pool_use(AbiTexture *memory) {
    atomic_store(&slots, memory);
    cpu_texture_ops_set_pool(memory);
}

uint64_t cpu_view_pool_take(size_t n) {
    size_t first = 0;
    pthread_mutex_lock(&lock);
    bool ok = n > 0 && reserve() && ranges_take(&ids, n, &first);
    pthread_mutex_unlock(&lock);
    return ok ? ABI_TEXTURE_POOLED | first : 0;
}

void cpu_view_pool_give(uint64_t id, size_t n) {
    if (!id || n == 0) return;
    memset(cpu_view_pool_slot(id), 0, n * sizeof *slots); // a stale id finds an empty texture
    pthread_mutex_lock(&lock);
    ranges_give(&ids, (size_t)(id & (ABI_VIEW_POOL_SLOTS - 1)), n);
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
