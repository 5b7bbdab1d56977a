// SPDX-License-Identifier: Apache-2.0
// encoder.h: what all command encoders share: a place in their command buffer, a label, an end.
#ifndef INGOT_RUNTIME_ENCODER_H
#define INGOT_RUNTIME_ENCODER_H
#include "runtime/object/object.h"

struct MTLCommandEncoder { // first member of every encoder; in the arena of its command buffer
    RtObject object;
    MTLCommandBuffer *buffer;
    MTLCommandEncoder *next;
    RtLabel label;
    bool ended;
    bool concurrent; // its dispatches may run side by side up to the next barrier
    MTLCommandEncoderErrorState error_state;
    unsigned debug_depth;
    struct Sample *at_end;      // counter samples of the pass (counters.c)
    struct RtFenceNote *fences; // updated by this encoder (fence.c)
};

void *rt_encoder_owner(const void *self); // RtClass.owner of encoders
// A new open encoder of n_bytes, first member MTLCommandEncoder; NULL after a message if the
// command buffer is missing, committed or has one open.
void *rt_encoder_open(MTLCommandBuffer *buffer, const RtClass *cls, size_t n_bytes,
                      const char *call);
// Is it there, of this class and still open? Says so if not.
bool rt_encoder_valid(const void *encoder, const RtClass *cls, const char *call);
void rt_encoder_end(void *encoder, const RtClass *cls, const char *call);

// Bodies of the public functions of the same name, for each class.
MTLDevice *rt_encoder_device(const void *encoder);
MTLCommandBuffer *rt_encoder_command_buffer(const void *encoder);
const char *rt_encoder_label(const void *encoder);
void rt_encoder_set_label(void *encoder, const char *label);
void rt_encoder_insert_debug_signpost(void *encoder, const RtClass *cls, const char *name,
                                      const char *call);
void rt_encoder_queue_barrier(void *encoder, const RtClass *cls, MTLStages after_queue_stages,
                              MTLStages before_stages, const char *call);
void rt_encoder_push_debug_group(void *encoder, const RtClass *cls, const char *name,
                                 const char *call);
void rt_encoder_pop_debug_group(void *encoder, const RtClass *cls, const char *call);

// use_heap.c
// Bodies of use_resource and use_resources of encoders of a class.
void rt_encoder_use_resources(void *encoder, const RtClass *cls, MTLResource *const *resources,
                              size_t count, MTLResourceUsage usage, const char *call);
// Bodies of use_heap and use_heaps of encoders of a class.
void rt_encoder_use_heaps(void *encoder, const RtClass *cls, MTLHeap *const *heaps, size_t count,
                          const char *call);
#endif
