// SPDX-License-Identifier: Apache-2.0
// render_indirect_int.h: records of draws in indirect command buffers.
#ifndef INGOT_RUNTIME_RENDER_INDIRECT_H
#define INGOT_RUNTIME_RENDER_INDIRECT_H
#include "devices/table/pass.h"
#include "runtime/command/execute.h"
#include "runtime/program/indirect.h"
#include "runtime/program/render_pipeline.h"

// The record of a command, or NULL after a message.
AbiIndirectCommand *rt_indirect_render_record(const MTLIndirectRenderCommand *command,
                                              const char *call);
// Whether numbers of a draw of the kind are possible, and the buffer has such commands. Says so if
// not.
bool rt_indirect_valid_draw(MTLIndirectRenderCommand *command, MTLIndirectCommandType kind,
                            MTLPrimitiveType type, size_t start, size_t n, size_t n_instances,
                            size_t base_instance, const char *call);

// render_indirect_geometry.c: draws of patches and meshes when they run, from a record in which
// nothing is trusted. NULL, or what is wrong with it. Patches: *to is what the pipeline fixes.
const char *rt_indirect_take_patches(RtExecution *x, const AbiIndirectHead *head,
                                     const AbiIndirectCommand *record, DevPatches *to, DevDraw *d);
const char *rt_indirect_take_grid(const AbiIndirectCommand *record, const MTLRenderPipelineState *p,
                                  DevDraw *d);
// Puts the state that the command has of its own in the place of what it would inherit. NULL, or
// what is wrong with it.
const char *rt_indirect_take_state(const MTLIndirectCommandBuffer *icb,
                                   const AbiIndirectCommand *record, const DevPass *pass,
                                   DevState *to);
#endif
