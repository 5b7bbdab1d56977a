// SPDX-License-Identifier: Apache-2.0
// fence.c: MTLFence. Encoders of a queue run one after the other here, so what a fence still has to
// order is queues: hazard tracking of the fence itself does that, so that untracked resources need
// none.
#include "runtime/command/fence.h"
#include "runtime/command/command_buffer.h"
#include "runtime/command/compute.h"
#include "runtime/object/validation.h"

typedef struct RtFenceNote {
    struct RtFenceNote *next;
    const MTLFence *fence;
} RtFenceNote;

static void fence_destroy(void *self) {
    MTLFence *fence = self;
    rt_resource_clear(&fence->resource);
    rt_free(fence);
}

RT_CLASS rt_fence_class = {
    .name = "MTLFence", .destroy = fence_destroy, .label_at = offsetof(MTLFence, resource.label)};

MTLFence *mtl_device_new_fence(MTLDevice *device) {
    if (!device) {
        rt_misuse(NULL, RT_RULE_null_object, __func__, NULL);
        return NULL;
    }
    MTLFence *fence = rt_new(&rt_fence_class, sizeof *fence);
    if (fence) rt_resource_init(&fence->resource, device, MTLResourceHazardTrackingModeTracked, 0);
    return fence;
}

// ---- In encoders ----

static bool valid(void *encoder, const RtClass *cls, const MTLFence *fence, const char *call) {
    if (!rt_encoder_valid(encoder, cls, call)) return false;
    if (rt_is(fence, &rt_fence_class)) return true;
    MTLCommandEncoder *e = encoder;
    rt_misuse_encoding(e->buffer, fence ? RT_RULE_wrong_class : RT_RULE_null_argument, call,
                       "fence%s%s", fence ? ": a " : "", mtl_class_name(fence));
    return false;
}

static const RtFenceNote *updated(const MTLCommandEncoder *e, const MTLFence *fence) {
    const RtFenceNote *note = e->fences;
    while (note && note->fence != fence) note = note->next;
    return note;
}

void rt_encoder_update_fence(void *encoder, const RtClass *cls, MTLFence *fence, const char *call) {
    MTLCommandEncoder *e = encoder;
    if (!valid(encoder, cls, fence, call)) return;
    if (!rt_cb_use(e->buffer, &fence->resource, true) || updated(e, fence)) return;
    RtFenceNote *note = rt_cb_alloc(e->buffer, sizeof *note);
    if (!note) {
        rt_cb_no_memory(e->buffer);
        return;
    }
    *note = (RtFenceNote){.next = e->fences, .fence = fence};
    e->fences = note;
}

void rt_encoder_wait_for_fence(void *encoder, const RtClass *cls, MTLFence *fence,
                               const char *call) {
    MTLCommandEncoder *e = encoder;
    if (!valid(encoder, cls, fence, call)) return;
    if (updated(e, fence))
        rt_misuse_encoding(e->buffer, RT_RULE_fence_wait_after_update, call,
                           "fence '%s', encoder '%s'", rt_label(&fence->resource.label),
                           rt_label(&e->label));
    else
        rt_cb_use(e->buffer, &fence->resource, false);
}

#include "accessors/command/fence.inc" // plain accessors, from the table
