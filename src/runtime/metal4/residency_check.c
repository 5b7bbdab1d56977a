// SPDX-License-Identifier: Apache-2.0
// residency_check.c: the resources that the commands of a Metal 4 command buffer use, for the debug
// layer: at commit, when the residency sets are known, each resource must be in one of them.
#include <string.h>
#include "runtime/memory/heap.h"
#include "runtime/metal4/recording_int.h"
#include "runtime/object/validation.h"

static RtRecording *of(MTLCommandBuffer *buffer) { return (RtRecording *)(void *)buffer; }

static const char render_by[] = "a render pass";

// The kernel whose dispatch is being encoded; NULL: it is a copy.
static const char *kernel_of(const MTLCommandBuffer *buffer) {
    if (rt_is(buffer->open_encoder, &rt_mtl4_render_encoder_class)) return render_by;
    if (!rt_is(buffer->open_encoder, &rt_mtl4_compute_encoder_class)) return NULL;
    const MTLComputeCommandEncoder *e = (MTLComputeCommandEncoder *)(void *)buffer->open_encoder;
    return e->dispatching ? e->pipeline->stage->entry->name : NULL;
}

// Notes the resource; what was bound counts more than what was pointed to.
static bool note(MTLCommandBuffer *buffer, MTLResource *resource, const char *kernel,
                 const char *through) {
    RtRecording *r = of(buffer);
    for (size_t i = 0; i < r->n_reached; i++) {
        if (r->reached[i].resource != resource) continue;
        if (!through) r->reached[i].through = NULL;
        return true;
    }
    if (!rt_grow(&r->reached, &r->reached_capacity, r->n_reached + 1, sizeof *r->reached)) {
        rt_cb_no_memory(buffer);
        return false;
    }
    r->reached[r->n_reached++] = (RtReached){mtl_retain(resource), kernel ? kernel : "", through};
    return true;
}

static bool use(MTLCommandBuffer *buffer, MTLResource *resource) {
    const char *kernel = kernel_of(buffer);
    // Kernels that touch memory that is gone fault; a copy is the host's own and must not.
    // So are the attachments, indices and numbers of draws.
    if ((!kernel || kernel == render_by) && !rt_cb_hold(buffer, resource)) return false;
    bool held_by_sets = rt_is_resource(resource) || rt_is(resource, &rt_heap_class);
    if (!buffer->notes_resources || !held_by_sets) return true; // fences and the like
    return note(buffer, resource, kernel, NULL);
}

static bool use_through(MTLCommandBuffer *buffer, MTLResource *resource, const char *argument) {
    if (!buffer->notes_resources || !rt_is_resource(resource)) return true;
    return note(buffer, resource, kernel_of(buffer), argument);
}

static bool resident(const RtRecording *r, const MTLCommandQueue *queue,
                     const MTLResource *resource) {
    for (size_t i = 0; i < r->n_sets; i++)
        if (rt_residency_contains(r->sets[i], resource)) return true;
    bool found = false;
    pthread_mutex_t *lock = &((MTLCommandQueue *)queue)->lock;
    pthread_mutex_lock(lock);
    for (size_t i = 0; !found && i < queue->residency.n; i++)
        found = rt_residency_contains(queue->residency.sets[i], resource);
    pthread_mutex_unlock(lock);
    return found;
}

void rt_check_reached(RtRecording *r, const MTLCommandQueue *queue) {
    for (size_t i = 0; i < r->n_reached; i++) {
        const MTLResource *resource = r->reached[i].resource;
        if (resident(r, queue, resource)) continue;
        const char *by = r->reached[i].by, *through = r->reached[i].through;
        if (through) { // a guess: the buffer may hold something else when the commands run
            rt_misuse_in(&r->commands, RT_RULE_argument_not_resident, "mtl4_command_queue_commit",
                         "'%s' of '%s' points to %s '%s', which is in no residency set", through,
                         by, mtl_class_name(resource), rt_label(&resource->label));
            continue;
        }
        rt_misuse_encoding(&r->commands, RT_RULE_metal4_not_resident, "mtl4_command_queue_commit",
                           "%s '%s' (%zu bytes), used by %s%s%s, is in no residency set of the "
                           "command buffer or of queue '%s'",
                           mtl_class_name(resource), rt_label(&resource->label),
                           mtl_resource_allocated_size(resource),
                           *by ? by == render_by ? "" : "kernel '" : "a copy or a network", by,
                           *by && by != render_by ? "'" : "", rt_label(&queue->label));
    }
    rt_forget_reached(r);
}

void rt_forget_reached(RtRecording *r) {
    for (size_t i = 0; i < r->n_reached; i++) mtl_release(r->reached[i].resource);
    r->n_reached = 0;
}

const RtRecorder rt_metal4_recorder = {
    .alloc = rt_allocator_alloc, .use = use, .use_through = use_through};
