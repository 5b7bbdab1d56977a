// SPDX-License-Identifier: Apache-2.0
// allocator.c: MTL4CommandAllocator. Commands are bumped off blocks of memory that stay until the
// allocator is reset; a reset makes them spare, for the next commands.
#include "runtime/metal4/allocator_int.h"
#include "runtime/metal4/recording_int.h"
#include "runtime/object/validation.h"

#define BLOCK_BYTES 32768u

static void allocator_destroy(void *self) {
    MTL4CommandAllocator *allocator = self;
    for (RtRecording *r = allocator->first, *next; r; r = next) {
        next = r->next;
        mtl_release(r);
    }
    rt_arena_free(allocator->device, &allocator->arena);
    rt_arena_free(allocator->device, &allocator->shown);
    pthread_mutex_destroy(&allocator->lock);
    rt_label_free(&allocator->label);
    mtl_release(allocator->device);
    rt_free(allocator);
}

RT_CLASS rt_allocator_class = {.name = "MTL4CommandAllocator",
                               .destroy = allocator_destroy,
                               .label_at = offsetof(MTL4CommandAllocator, label)};

// ---- Memory ----

void *rt_allocator_alloc(MTL4CommandAllocator *allocator, size_t n_bytes, bool is_shown) {
    return rt_arena_alloc(allocator->device, is_shown ? &allocator->shown : &allocator->arena,
                          n_bytes, BLOCK_BYTES, &allocator->n_bytes);
}

// ---- Public ----

MTL4CommandAllocator *mtl_device_new_command_allocator_with_descriptor(
    MTLDevice *device, const MTL4CommandAllocatorDescriptor *descriptor, MTLError **error) {
    if (error) *error = NULL;
    if (!device) {
        rt_misuse(NULL, RT_RULE_null_object, __func__, NULL);
        return NULL;
    }
    MTL4CommandAllocator *allocator = rt_new(&rt_allocator_class, sizeof *allocator);
    if (!allocator) {
        rt_error_set(error, NULL);
        return NULL;
    }
    allocator->device = mtl_retain(device);
    allocator->shown.is_shown = true;
    pthread_mutex_init(&allocator->lock, NULL);
    if (descriptor) rt_label_set(&allocator->label, descriptor->label);
    return allocator;
}

MTL4CommandAllocator *mtl_device_new_command_allocator(MTLDevice *device) {
    return mtl_device_new_command_allocator_with_descriptor(device, NULL, NULL);
}

// The recording that forbids a reset, or NULL. Lock held.
static RtRecording *busy(const MTL4CommandAllocator *allocator) {
    if (allocator->open) return allocator->open;
    RtRecording *r = allocator->first;
    while (r && atomic_load(&r->state) != RT_RECORDING_COMMITTED) r = r->next;
    return r;
}

void mtl4_command_allocator_reset(MTL4CommandAllocator *allocator) {
    if (!rt_is(allocator, &rt_allocator_class)) {
        rt_misuse(NULL, allocator ? RT_RULE_wrong_class : RT_RULE_null_object, __func__, "%s",
                  mtl_class_name(allocator));
        return;
    }
    pthread_mutex_lock(&allocator->lock);
    RtRecording *in_use = mtl_retain(busy(allocator)), *all = NULL;
    bool open = in_use && in_use == allocator->open;
    if (!in_use) {
        all = allocator->first;
        allocator->first = NULL;
        // Those that were ended and not committed have lost their commands.
        for (RtRecording *r = all; r; r = r->next)
            if (atomic_load(&r->state) == RT_RECORDING_ENDED)
                atomic_store(&r->state, RT_RECORDING_DROPPED);
        rt_arena_reset(&allocator->arena);
        rt_arena_reset(&allocator->shown);
    }
    pthread_mutex_unlock(&allocator->lock);
    if (in_use)
        rt_misuse(allocator->device, RT_RULE_metal4_allocator_reset, __func__,
                  "allocator '%s', command buffer '%s' is being %s", rt_label(&allocator->label),
                  rt_label(&in_use->commands.label), open ? "encoded" : "executed");
    mtl_release(in_use);
    for (RtRecording *r = all, *next; r; r = next) {
        next = r->next;
        mtl_release(r);
    }
}

#include "accessors/metal4/allocator.inc" // plain accessors, from the table
