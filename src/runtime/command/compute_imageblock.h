// SPDX-License-Identifier: Apache-2.0
// compute_imageblock.h: imageblocks of kernels, for dispatches and commands of indirect command
// buffers. `asked`: width and height; 0: as many as the threadgroup has threads that way.
#ifndef INGOT_RUNTIME_COMPUTE_IMAGEBLOCK_H
#define INGOT_RUNTIME_COMPUTE_IMAGEBLOCK_H
#include "abi/imageblock.h"
#include "devices/table/run.h"
#include "runtime/command/compute.h"
#include "runtime/program/pipeline.h"

// The body of set_imageblock_width, for an encoder that is valid.
void rt_compute_set_imageblock(MTLComputeCommandEncoder *e, size_t width, size_t height,
                               const char *call);
// Whether the imageblock and threadgroup_bytes fit the memory of a threadgroup.
bool rt_imageblock_fits(const MTLComputePipelineState *p, const uint32_t asked[2],
                        const uint32_t group[3], size_t threadgroup_bytes);
// For a pipeline that has one: behind the threadgroup memory of the dispatch, whose group_size is
// set. Returns its bytes.
uint64_t rt_imageblock_place(const MTLComputePipelineState *p, const uint32_t asked[2],
                             DevDispatch *d);
#endif
