// SPDX-License-Identifier: Apache-2.0
// encoder.c: the life of a command encoder, whatever it encodes.
#include "runtime/command/encoder.h"
#include "runtime/command/command_buffer.h"
#include "runtime/object/validation.h"

// The command buffer that runs: a part of a parallel encoder records into another.
static MTLCommandBuffer *whole(const MTLCommandEncoder *e) {
    return e->buffer->whole ? e->buffer->whole : e->buffer;
}

void *rt_encoder_owner(const void *self) { return whole(self); }

void *rt_encoder_open(MTLCommandBuffer *buffer, const RtClass *cls, size_t n_bytes,
                      const char *call) {
    if (!buffer) {
        rt_misuse(NULL, RT_RULE_null_object, call, NULL);
        return NULL;
    }
    if (atomic_load(&buffer->status) >= MTLCommandBufferStatusCommitted) {
        rt_misuse(buffer->device, RT_RULE_command_buffer_committed, call, "%s",
                  rt_label(&buffer->label));
        return NULL;
    }
    if (buffer->open_encoder) {
        rt_misuse_encoding(buffer, RT_RULE_command_buffer_open_encoder, call, "%s",
                           rt_label(&buffer->open_encoder->label));
        return NULL;
    }
    MTLCommandEncoder *e = rt_cb_alloc_own(buffer, n_bytes);
    if (!e) {
        rt_cb_no_memory(buffer);
        return NULL;
    }
    e->object.cls = cls;
    e->buffer = buffer;
    *buffer->last_encoder = e;
    buffer->last_encoder = &e->next;
    buffer->open_encoder = e;
    return e;
}

bool rt_encoder_valid(const void *encoder, const RtClass *cls, const char *call) {
    const MTLCommandEncoder *e = encoder;
    if (!e) {
        rt_misuse(NULL, RT_RULE_null_object, call, NULL);
        return false;
    }
    if (e->object.cls != cls) {
        rt_misuse(NULL, RT_RULE_wrong_class, call, "a %s", mtl_class_name(encoder));
        return false;
    }
    if (!e->ended) return true;
    if (atomic_load(&e->buffer->status) < MTLCommandBufferStatusCommitted)
        rt_misuse_encoding(e->buffer, RT_RULE_encoder_ended, call, "%s", rt_label(&e->label));
    else // recorded for good: it cannot be made to fail any more
        rt_misuse(e->buffer->device, RT_RULE_encoder_ended, call, "%s", rt_label(&e->label));
    return false;
}

void rt_encoder_end(void *encoder, const RtClass *cls, const char *call) {
    MTLCommandEncoder *e = encoder;
    if (!rt_encoder_valid(e, cls, call)) return;
    if (e->at_end) rt_inspector.end_pass(e);
    rt_cb_append_marker(e->buffer, &rt_op_end_encoder);
    e->ended = true;
    e->buffer->open_encoder = NULL;
}

MTLDevice *rt_encoder_device(const void *encoder) {
    const MTLCommandEncoder *e = encoder;
    return e ? e->buffer->device : NULL;
}

MTLCommandBuffer *rt_encoder_command_buffer(const void *encoder) {
    const MTLCommandEncoder *e = encoder;
    return e ? whole(e) : NULL;
}

const char *rt_encoder_label(const void *encoder) {
    const MTLCommandEncoder *e = encoder;
    return e ? rt_label(&e->label) : "";
}

void rt_encoder_set_label(void *encoder, const char *label) {
    MTLCommandEncoder *e = encoder;
    if (e) rt_label_set(&e->label, label);
}

void rt_encoder_insert_debug_signpost(void *encoder, const RtClass *cls, const char *name,
                                      const char *call) {
    MTLCommandEncoder *e = encoder;
    if (!rt_encoder_valid(e, cls, call)) return;
    if (!name)
        rt_misuse_in(e->buffer, RT_RULE_null_argument, call, "name");
    else
        rt_inspector.signpost(e->buffer, false, name);
}

// Encoders run one after the other: what the barrier waits for is done when this one begins.
void rt_encoder_queue_barrier(void *encoder, const RtClass *cls, MTLStages after_queue_stages,
                              MTLStages before_stages, const char *call) {
    MTLCommandEncoder *e = encoder;
    if (rt_encoder_valid(e, cls, call) && (!after_queue_stages || !before_stages))
        rt_misuse_in(e->buffer, RT_RULE_barrier_stages, call, "0x%llx and 0x%llx",
                     (unsigned long long)after_queue_stages, (unsigned long long)before_stages);
}

void rt_encoder_push_debug_group(void *encoder, const RtClass *cls, const char *name,
                                 const char *call) {
    MTLCommandEncoder *e = encoder;
    if (!rt_encoder_valid(e, cls, call)) return;
    if (!name)
        rt_misuse_in(e->buffer, RT_RULE_null_argument, call, "name");
    else {
        e->debug_depth++;
        rt_inspector.push(e->buffer, false, name);
    }
}

void rt_encoder_pop_debug_group(void *encoder, const RtClass *cls, const char *call) {
    MTLCommandEncoder *e = encoder;
    if (!rt_encoder_valid(e, cls, call)) return;
    if (e->debug_depth == 0)
        rt_misuse_in(e->buffer, RT_RULE_debug_group_underflow, call, NULL);
    else {
        e->debug_depth--;
        rt_inspector.pop(e->buffer, false);
    }
}
