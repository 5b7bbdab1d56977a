// SPDX-License-Identifier: Apache-2.0
// pipeline.h: MTLComputePipelineState: a pipeline of one stage, a kernel.
#ifndef INGOT_RUNTIME_PIPELINE_H
#define INGOT_RUNTIME_PIPELINE_H
#include "runtime/program/stage.h"

struct MTLComputePipelineState {
    RtObject object;
    MTLDevice *device; // retained
    RtLabel label;
    RtStage *stage; // the kernel
    size_t max_threads, static_bytes;
    size_t imageblock_bytes; // of a pixel; 0: the kernel has none
    uint32_t imageblock_slot;
    bool width_multiple;
    bool indirect;                                    // support_indirect_command_buffers
    _Atomic uint64_t handle;                          // pipeline_handle.c; 0: none yet
    MTLComputePipelineReflection *_Atomic reflection; // made at first need
};

extern RtClass rt_pipeline_class;

// Makes the pipeline and puts its code into the archive: the first and that for the shapes it was
// used with.
bool rt_pipeline_record(MTLDevice *device, const MTLComputePipelineDescriptor *d, Archive *record,
                        MTLError **error);
// A size of an imageblock that programs may ask for.
static inline bool rt_valid_imageblock(size_t width, size_t height) {
    return width && height && width <= UINT16_MAX && height <= UINT16_MAX;
}

static inline bool rt_wants_reflection(MTLPipelineOption options) {
    return options & (MTLPipelineOptionBindingInfo | MTLPipelineOptionBufferTypeInfo);
}
// A new pipeline whose reflection was asked for, or NULL and an error: that could not be made.
void *rt_with_reflection(void *state, const void *reflection, MTLError **error);
#endif
