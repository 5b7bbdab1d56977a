// SPDX-License-Identifier: Apache-2.0
// pipeline_handle.c: pipelines as kernels name them. A handle is a place in a table and a serial
// number, so that a kernel may write anything where a handle belongs.
#include "runtime/program/depth_stencil.h"
#include "runtime/program/indirect.h"
#include "runtime/program/render_pipeline.h"

// place + 1 in the low half, serial in the high half. Neither is 0 in a handle.
typedef struct RtHandlePlace { // under the lock of the device's table
    RtObject *pipeline;        // of either class, not retained; NULL: free
    uint32_t serial;
    uint32_t next_free; // place + 1; 0: none
} Place;

static uint64_t add_place(RtHandleTable *t, RtObject *state) {
    uint32_t at = t->first_free;
    if (at) {
        t->first_free = t->places[at - 1].next_free;
    } else {
        if (t->n >= UINT32_MAX - 1 || !rt_grow(&t->places, &t->capacity, t->n + 1, sizeof(Place)))
            return 0;
        at = (uint32_t)++t->n;
    }
    t->last_serial += t->last_serial == UINT32_MAX ? 2 : 1;
    t->places[at - 1] = (Place){.pipeline = state, .serial = t->last_serial};
    t->n_used++;
    return (uint64_t)t->last_serial << 32 | at;
}

// The handle in *at, which is filled at first need.
static uint64_t handle_of(MTLDevice *device, RtObject *state, _Atomic uint64_t *at) {
    RtHandleTable *t = &device->pipelines;
    uint64_t handle = atomic_load_explicit(at, memory_order_acquire);
    if (handle) return handle;
    pthread_mutex_lock(&t->lock);
    handle = atomic_load(at);
    if (!handle) {
        handle = add_place(t, state);
        atomic_store_explicit(at, handle, memory_order_release);
    }
    pthread_mutex_unlock(&t->lock);
    return handle;
}

MTLResourceID mtl_compute_pipeline_state_gpu_resource_id(const MTLComputePipelineState *state) {
    MTLComputePipelineState *s = (MTLComputePipelineState *)state; // lazily filled
    if (!rt_is(state, &rt_pipeline_class)) return (MTLResourceID){0};
    return (MTLResourceID){handle_of(s->device, &s->object, &s->handle)};
}

MTLResourceID mtl_render_pipeline_state_gpu_resource_id(const MTLRenderPipelineState *state) {
    MTLRenderPipelineState *s = (MTLRenderPipelineState *)state;
    if (!rt_is(state, &rt_render_pipeline_class)) return (MTLResourceID){0};
    return (MTLResourceID){handle_of(s->device, &s->object, &s->handle)};
}

MTLResourceID mtl_depth_stencil_state_gpu_resource_id(const MTLDepthStencilState *state) {
    MTLDepthStencilState *s = (MTLDepthStencilState *)state;
    if (!rt_is(state, &rt_depth_stencil_class)) return (MTLResourceID){0};
    return (MTLResourceID){handle_of(s->device, &s->object, &s->handle)};
}

static void *from_handle(MTLDevice *device, uint64_t handle, const RtClass *cls) {
    RtHandleTable *t = &device->pipelines;
    uint32_t at = (uint32_t)handle;
    RtObject *state = NULL;
    pthread_mutex_lock(&t->lock);
    if (at > 0 && at <= t->n && t->places[at - 1].serial == handle >> 32)
        state = t->places[at - 1].pipeline;
    if (!rt_is(state, cls) || !rt_retain_if_alive(state)) state = NULL;
    pthread_mutex_unlock(&t->lock);
    return state;
}

MTLComputePipelineState *rt_pipeline_from_handle(MTLDevice *device, uint64_t handle) {
    return from_handle(device, handle, &rt_pipeline_class);
}

MTLRenderPipelineState *rt_render_pipeline_from_handle(MTLDevice *device, uint64_t handle) {
    return from_handle(device, handle, &rt_render_pipeline_class);
}

MTLDepthStencilState *rt_depth_stencil_from_handle(MTLDevice *device, uint64_t handle) {
    return from_handle(device, handle, &rt_depth_stencil_class);
}

void rt_pipeline_forget_handle(MTLDevice *device, uint64_t handle) {
    if (!handle) return;
    RtHandleTable *t = &device->pipelines;
    uint32_t at = (uint32_t)handle;
    pthread_mutex_lock(&t->lock);
    t->places[at - 1] = (Place){.next_free = t->first_free};
    t->first_free = at;
    if (--t->n_used == 0) { // nothing is kept for nobody
        rt_free(t->places);
        t->places = NULL;
        t->n = t->capacity = 0;
        t->first_free = 0;
    }
    pthread_mutex_unlock(&t->lock);
}
