// SPDX-License-Identifier: Apache-2.0
// compute_validate.h: the rules of compute encoders. Each check reports and returns false, and the
// call does nothing.
#ifndef INGOT_RUNTIME_COMPUTE_VALIDATE_H
#define INGOT_RUNTIME_COMPUTE_VALIDATE_H
#include "runtime/command/compute.h"

bool rt_valid_encoder(const MTLComputeCommandEncoder *e, const char *call);
bool rt_valid_threadgroup_length(MTLComputeCommandEncoder *e, const char *call, size_t length,
                                 size_t index);
bool rt_valid_group_size(MTLComputeCommandEncoder *e, const char *call, MTLSize size);
// A grid of n threads or threadgroups, with a threadgroup that is valid.
bool rt_valid_grid(MTLComputeCommandEncoder *e, const char *call, MTLSize n, MTLSize size,
                   bool in_threads, RtGrid *grid);
// But textures and samplers, which are looked at when they are taken (bindings.h).
// group: of the threadgroup; zeros: known when it runs.
bool rt_valid_bindings(MTLComputeCommandEncoder *e, const char *call, const uint32_t group[3]);
bool rt_valid_indirect(MTLComputeCommandEncoder *e, const char *call, const MTLBuffer *buffer,
                       size_t offset);
#endif
