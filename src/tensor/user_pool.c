// SPDX-License-Identifier: Apache-2.0
// user_pool.c: buffer pools for the program: the pool of a device without tensors, and a list of
// the buffers in use. A buffer that commands were encoded with returns when those commands have
// completed.
#include <stdlib.h>
#include <string.h>
#include "tensor/tensor_int.h"

IgPool *ig_pool_new(MTLDevice *metal, MTLError **error) {
    IgDevice *device = ig_device_new(metal, error);
    if (!device) return NULL;
    device->is_pool = true;
    ig_pool_lends(device->pool);
    return device->pool;
}

IgPool *ig_pool_with_capacity(MTLDevice *metal, size_t capacity, MTLError **error) {
    IgPool *pool = ig_pool_new(metal, error);
    ig_pool_set_capacity(pool, capacity);
    return pool;
}

void ig_pool_release(IgPool *pool) {
    IgDevice *device = pool ? ig_pool_device(pool) : NULL;
    if (!device || !device->is_pool) return;
    ig_lock(device);
    IgBuffer *lent = device->lent;
    device->lent = NULL;
    ig_unlock(device);
    for (IgBuffer *next; lent; lent = next) {
        next = lent->next;
        mtl_release(lent->buffer);
        free(lent);
    }
    ig_device_release(device);
}

MTLBuffer *ig_pool_allocate(IgPool *pool, size_t n_bytes, MTLError **error) {
    IgDevice *device = pool ? ig_pool_device(pool) : NULL;
    if (!device || !device->is_pool || n_bytes == 0) {
        ig_fail(error, IgErrorArgument, "ig_pool_allocate: %s",
                !device            ? "no pool"
                : !device->is_pool ? "the pool of a device is for its tensors"
                                   : "a buffer of 0 bytes");
        return NULL;
    }
    ig_lock(device);
    IgBuffer *b = ig_pool_take(device, n_bytes, true, error);
    if (b) {
        b->next = device->lent;
        device->lent = b;
    }
    MTLBuffer *buffer = b ? b->buffer : NULL;
    ig_unlock(device);
    return buffer;
}

MTLBuffer *ig_pool_allocate_zeros(IgPool *pool, size_t n_bytes, MTLError **error) {
    MTLBuffer *buffer = ig_pool_allocate(pool, n_bytes, error);
    if (buffer) memset(mtl_buffer_contents(buffer), 0, mtl_buffer_length(buffer));
    return buffer;
}

// ---- Back ----

typedef struct Return {
    IgDevice *device; // retained
    IgBuffer *buffer;
} Return;

// False: the class was full, and one of its buffers is gone.
static bool give(IgDevice *device, IgBuffer *b) {
    uint64_t before = ig_pool_statistics(device->pool).eviction_count;
    ig_lock(device);
    ig_pool_give(device, b);
    ig_unlock(device);
    return ig_pool_statistics(device->pool).eviction_count == before;
}

static void come_back(MTLCommandBuffer *commands, void *context) {
    (void)commands;
    Return *r = context;
    give(r->device, r->buffer);
    ig_device_release(r->device);
    free(r);
}

bool ig_pool_recycle(IgPool *pool, MTLBuffer *buffer, MTLCommandBuffer *after) {
    IgDevice *device = pool ? ig_pool_device(pool) : NULL;
    if (!device || !buffer) return false;
    Return *r = after ? malloc(sizeof *r) : NULL;
    if (after && !r) return false; // it stays out: nothing is given to another too early
    ig_lock(device);
    IgBuffer **at = &device->lent, *b;
    while ((b = *at) && b->buffer != buffer) at = &b->next;
    if (b) *at = b->next;
    ig_unlock(device);
    if (!b || !after) {
        free(r);
        return b && give(device, b);
    }
    *r = (Return){device, b};
    atomic_fetch_add(&device->refs, 1);
    mtl_command_buffer_add_completed_handler(after, come_back, r);
    return true;
}
