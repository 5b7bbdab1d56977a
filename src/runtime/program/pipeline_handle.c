// SPDX-License-Identifier: Apache-2.0
// pipeline_handle.c: pipelines as kernels name them. A handle is a place in a table and a serial
// number, so that a kernel may write anything where a handle belongs.
#include "runtime/program/indirect.h"
#include "runtime/program/render_pipeline.h"

// place + 1 in the low half, serial in the high half. Neither is 0 in a handle.
typedef struct Place {
    RtObject *pipeline; // of either class, not retained; NULL: free
    uint32_t serial;
    uint32_t next_free; // place + 1; 0: none
} Place;

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER; // of all below
static Place *places;
static size_t n_places, capacity, n_used;
static uint32_t first_free, last_serial;

static uint64_t add_place(RtObject *state) {
    uint32_t at = first_free;
    if (at) {
        first_free = places[at - 1].next_free;
    } else {
        if (n_places >= UINT32_MAX - 1 ||
            !rt_grow(&places, &capacity, n_places + 1, sizeof *places))
            return 0;
        at = (uint32_t)++n_places;
    }
    last_serial += last_serial == UINT32_MAX ? 2 : 1;
    places[at - 1] = (Place){.pipeline = state, .serial = last_serial};
    n_used++;
    return (uint64_t)last_serial << 32 | at;
}

// The handle in *at, which is filled at first need.
static uint64_t handle_of(RtObject *state, _Atomic uint64_t *at) {
    uint64_t handle = atomic_load_explicit(at, memory_order_acquire);
    if (handle) return handle;
    pthread_mutex_lock(&lock);
    handle = atomic_load(at);
    if (!handle) {
        handle = add_place(state);
        atomic_store_explicit(at, handle, memory_order_release);
    }
    pthread_mutex_unlock(&lock);
    return handle;
}

MTLResourceID mtl_compute_pipeline_state_gpu_resource_id(const MTLComputePipelineState *state) {
    MTLComputePipelineState *s = (MTLComputePipelineState *)state; // lazily filled
    if (!rt_is(state, &rt_pipeline_class)) return (MTLResourceID){0};
    return (MTLResourceID){handle_of(&s->object, &s->handle)};
}

MTLResourceID mtl_render_pipeline_state_gpu_resource_id(const MTLRenderPipelineState *state) {
    MTLRenderPipelineState *s = (MTLRenderPipelineState *)state;
    if (!rt_is(state, &rt_render_pipeline_class)) return (MTLResourceID){0};
    return (MTLResourceID){handle_of(&s->object, &s->handle)};
}

static void *from_handle(uint64_t handle, const RtClass *cls) {
    uint32_t at = (uint32_t)handle;
    RtObject *state = NULL;
    pthread_mutex_lock(&lock);
    if (at > 0 && at <= n_places && places[at - 1].serial == handle >> 32)
        state = places[at - 1].pipeline;
    if (!rt_is(state, cls) || !rt_retain_if_alive(state)) state = NULL;
    pthread_mutex_unlock(&lock);
    return state;
}

MTLComputePipelineState *rt_pipeline_from_handle(uint64_t handle) {
    return from_handle(handle, &rt_pipeline_class);
}

MTLRenderPipelineState *rt_render_pipeline_from_handle(uint64_t handle) {
    return from_handle(handle, &rt_render_pipeline_class);
}

void rt_pipeline_forget_handle(uint64_t handle) {
    if (!handle) return;
    uint32_t at = (uint32_t)handle;
    pthread_mutex_lock(&lock);
    places[at - 1] = (Place){.next_free = first_free};
    first_free = at;
    if (--n_used == 0) { // nothing is kept for nobody
        rt_free(places);
        places = NULL;
        n_places = capacity = 0;
        first_free = 0;
    }
    pthread_mutex_unlock(&lock);
}
