// SPDX-License-Identifier: Apache-2.0
// render_indirect_int.h: records of draws in indirect command buffers.
#ifndef INGOT_RUNTIME_RENDER_INDIRECT_H
#define INGOT_RUNTIME_RENDER_INDIRECT_H
#include "device/pass.h"
#include "runtime/program/indirect.h"

// The record of a command, or NULL after a message.
AbiIndirectCommand *rt_indirect_render_record(const MTLIndirectRenderCommand *command,
                                              const char *call);
// Puts the state that the command has of its own in the place of what it would inherit. NULL, or
// what is wrong with it.
const char *rt_indirect_take_state(const MTLIndirectCommandBuffer *icb,
                                   const AbiIndirectCommand *record, const DevPass *pass,
                                   DevState *to);
#endif
