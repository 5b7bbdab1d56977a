// SPDX-License-Identifier: Apache-2.0
// pool.c: the buffer pool: buffers of freed tensors are reused for the next allocation of about
// their size. Each size class is a LIFO list, since the most recently used memory is most likely
// still in a cache. On a GPU it matters more that training steps get the same memory again, so that
// their commands are identical (CUDA graphs): there it is a FIFO. (With LIFO, parameters change
// places and repeat only after hundreds of steps.)
#include <stdlib.h>
#include <string.h>
#include "ingot/foreign.h"
#include "tensor/tensor_int.h"

enum {
    FIRST_POWER = 8,
    LAST_POWER = 31,
    STEPS = 4,
    N_CLASSES = (LAST_POWER - FIRST_POWER) * STEPS
};

struct IgPool { // all under device->lock
    IgDevice *device;
    IgBuffer *classes[N_CLASSES];
    size_t n_waiting[N_CLASSES];
    size_t capacity;
    bool chosen;                // the capacity is the user's, and exact
    uint64_t n_made;            // buffers
    MTLResourceOptions options; // of new buffers
    uint64_t limit;
    IgPoolStatistics statistics;
};

static size_t class_bytes(int c) {
    return ((size_t)STEPS + (size_t)c % STEPS + 1) << (FIRST_POWER - 2 + c / STEPS);
}

static int class_of(size_t n_bytes) {
    int c = 0;
    if (n_bytes > class_bytes(N_CLASSES - 1)) return -1;
    for (int step = 64; step; step /= 2)
        if (c + step < N_CLASSES && class_bytes(c + step - 1) < n_bytes) c += step;
    return c;
}

// A training loop has many tensors of a size (what layers give and gradients need, biases, states),
// and memory fresh from the system costs a fault for every page: by default a class keeps SMALL
// bytes if that is more than its number of buffers.
#define SMALL (64u << 20)
static size_t keep_of(const IgPool *pool, int c) {
    size_t small = pool->chosen ? 0 : SMALL / class_bytes(c);
    return small > pool->capacity ? small : pool->capacity;
}

bool ig_pool_init(IgDevice *device) {
    IgPool *pool = device->pool = calloc(1, sizeof *pool);
    if (!pool) return false;
    pool->device = device;
    pool->capacity = IG_POOL_CAPACITY;
    // The order of the queue is order enough: no hazards need tracking.
    pool->options = MTLResourceHazardTrackingModeUntracked;
    if (!device->unified) pool->options |= MTLResourceStorageModeManaged;
    return true;
}

static void destroy(IgPool *pool, IgBuffer *buffer) {
    pool->statistics.eviction_count++;
    ig_let_go(pool->device, buffer);
}

static void evict(IgPool *pool, int c, size_t keep) {
    while (pool->n_waiting[c] > keep) { // the end of the list is the oldest
        IgBuffer **at = &pool->classes[c];
        while ((*at)->next) at = &(*at)->next;
        pool->n_waiting[c]--;
        pool->statistics.total_pooled--;
        pool->statistics.total_memory -= (*at)->capacity;
        destroy(pool, *at);
        *at = NULL;
    }
}

void ig_pool_destroy(IgDevice *device) {
    if (!device->pool) return;
    for (int i = 0; i < IG_N_CONSTANTS; i++)
        if (device->constants[i].buffer) ig_pool_give(device, device->constants[i].buffer);
    for (int c = 0; c < N_CLASSES; c++) evict(device->pool, c, 0);
    free(device->pool);
}

static IgBuffer *take_waiting(IgPool *pool, int c, bool for_host) {
    for (IgBuffer **at = &pool->classes[c], *b; (b = *at); at = &b->next) {
        if (for_host && b->last_use > pool->device->completed) continue;
        *at = b->next;
        pool->n_waiting[c]--;
        pool->statistics.total_pooled--;
        pool->statistics.total_memory -= b->capacity;
        pool->statistics.reuse_count++;
        return b;
    }
    return NULL;
}

// Over the limit, what waits goes first.
static bool make_room(IgPool *pool, size_t n_bytes, MTLError **error) {
    IgPoolStatistics *s = &pool->statistics;
    if (pool->limit == 0 || s->live_memory + s->total_memory + n_bytes <= pool->limit) return true;
    for (int c = N_CLASSES - 1; c >= 0; c--)
        while (pool->n_waiting[c] > 0 && s->live_memory + s->total_memory + n_bytes > pool->limit)
            evict(pool, c, pool->n_waiting[c] - 1);
    if (s->live_memory + n_bytes <= pool->limit) return true;
    return ig_fail(error, IgErrorMemory,
                   "%zu bytes more would pass the pool's limit of %llu bytes; %llu are in use",
                   n_bytes, (unsigned long long)pool->limit, (unsigned long long)s->live_memory);
}

IgBuffer *ig_pool_take(IgDevice *device, size_t n_bytes, bool for_host, MTLError **error) {
    IgPool *pool = device->pool;
    int c = class_of(n_bytes);
    size_t capacity = c < 0 ? (n_bytes + 65535) & ~(size_t)65535 : class_bytes(c);
    pool->statistics.allocation_count++;
    if (for_host) ig_poll(device);
    IgBuffer *b = c < 0 ? NULL : take_waiting(pool, c, for_host);
    if (!b) {
        if (!make_room(pool, capacity, error)) return NULL;
        b = calloc(1, sizeof *b);
        MTLBuffer *buffer =
            b ? mtl_device_new_buffer(device->metal, capacity, pool->options) : NULL;
        if (!buffer) {
            free(b);
            ig_fail(error, IgErrorMemory, "out of memory: no buffer of %zu bytes", capacity);
            return NULL;
        }
        *b = (IgBuffer){.buffer = buffer, .capacity = capacity, .number = pool->n_made++};
    }
    b->next = NULL;
    pool->statistics.live_memory += b->capacity;
    return b;
}

void ig_pool_give(IgDevice *device, IgBuffer *b) {
    IgPool *pool = device->pool;
    int c = class_of(b->capacity);
    if (b->n_shares) {
        b->n_shares--;
        return;
    }
    if (b->foreign) {
        ig_let_go(device, b);
        return;
    }
    pool->statistics.live_memory -= b->capacity;
    b->lent = false;
    size_t keep = c < 0 ? 0 : keep_of(pool, c);
    if (keep == 0) {
        destroy(pool, b);
        return;
    }
    if (pool->n_waiting[c] >= keep) evict(pool, c, keep - 1);
    IgBuffer **at = &pool->classes[c];
    while (device->gpu && *at && (*at)->number < b->number) at = &(*at)->next;
    b->next = *at;
    *at = b;
    pool->n_waiting[c]++;
    pool->statistics.total_pooled++;
    pool->statistics.total_memory += b->capacity;
}

bool ig_pool_own(IgDevice *device, IgData *data, MTLError **error) {
    IgBuffer *shared = data->memory;
    if (!shared->n_shares) return true;
    size_t n_bytes = (size_t)data->n * ig_type_size(data->type);
    if (!ig_pool_show(device, shared, data->written, error)) return false;
    IgBuffer *own = ig_pool_take(device, n_bytes, true, error);
    if (!own) return false;
    memcpy(mtl_buffer_contents(own->buffer), mtl_buffer_contents(shared->buffer), n_bytes);
    ig_pool_wrote(device, own, n_bytes);
    data->memory = own;
    data->written = 0;
    ig_pool_give(device, shared);
    return true;
}

bool ig_pool_show(IgDevice *device, IgBuffer *b, uint64_t written, MTLError **error) {
    const bool asks = !device->unified && (written > b->shown || b->lent) &&
                      mtl_buffer_storage_mode(b->buffer) == MTLStorageModeManaged;
    if (b->lent && !mtl_device_wait_for_others(device->metal))
        return ig_fail(error, IgErrorExecution, "work of others on the device was not finished");
    if (asks && !ig_synchronize(device, b, error)) return false;
    if (!ig_wait(device, asks ? b->last_use : written, error)) return false;
    if (asks) b->shown = b->last_use;
    return true;
}

void ig_pool_wrote(IgDevice *device, IgBuffer *b, size_t n_bytes) {
    if (!device->unified && n_bytes) mtl_buffer_did_modify_range(b->buffer, (MTLRange){0, n_bytes});
}

void ig_pool_lends(IgPool *pool) { pool->options = MTLResourceStorageModeShared; }
IgDevice *ig_pool_device(const IgPool *pool) { return pool->device; }

// ---- For the user ----

IgPoolStatistics ig_pool_statistics(IgPool *pool) {
    if (!pool) return (IgPoolStatistics){0};
    ig_lock(pool->device);
    IgPoolStatistics s = pool->statistics;
    for (int c = 0; c < N_CLASSES; c++) s.size_classes += pool->n_waiting[c] > 0;
    ig_unlock(pool->device);
    return s;
}

void ig_pool_set_capacity(IgPool *pool, size_t capacity) {
    if (!pool) return;
    ig_lock(pool->device);
    pool->capacity = capacity;
    pool->chosen = true;
    for (int c = 0; c < N_CLASSES; c++) evict(pool, c, capacity);
    ig_unlock(pool->device);
}

size_t ig_pool_capacity(IgPool *pool) {
    if (!pool) return 0;
    ig_lock(pool->device);
    size_t capacity = pool->capacity;
    ig_unlock(pool->device);
    return capacity;
}

void ig_pool_set_memory_limit(IgPool *pool, uint64_t bytes) {
    if (!pool) return;
    ig_lock(pool->device);
    pool->limit = bytes;
    ig_unlock(pool->device);
}

void ig_pool_shrink_to_fit(IgPool *pool, uint64_t bytes) {
    if (!pool) return;
    ig_lock(pool->device);
    for (int c = N_CLASSES - 1; c >= 0; c--)
        while (pool->n_waiting[c] > 0 && pool->statistics.total_memory > bytes)
            evict(pool, c, pool->n_waiting[c] - 1);
    ig_unlock(pool->device);
}

void ig_pool_clear(IgPool *pool) { ig_pool_shrink_to_fit(pool, 0); }

void ig_pool_clear_size(IgPool *pool, size_t bytes) {
    int c = class_of(bytes);
    if (!pool || c < 0) return;
    ig_lock(pool->device);
    evict(pool, c, 0);
    ig_unlock(pool->device);
}
