// SPDX-License-Identifier: Apache-2.0
// compute_imageblock.c: imageblocks of kernels: how large they are, and their place behind the
// threadgroup memory of a dispatch. One that was given no size has a pixel for each thread of a row
// and column of the threadgroup.
#include "runtime/command/compute_imageblock.h"
#include "runtime/command/compute_validate.h"
#include "runtime/object/validation.h"

void rt_compute_set_imageblock(MTLComputeCommandEncoder *e, size_t width, size_t height,
                               const char *call) {
    if (!rt_valid_imageblock(width, height)) {
        rt_misuse_encoding(e->encoder.buffer, RT_RULE_imageblock_size, call, "%zu x %zu", width,
                           height);
        return;
    }
    e->imageblock[0] = (uint32_t)width;
    e->imageblock[1] = (uint32_t)height;
}

void mtl_compute_command_encoder_set_imageblock_width(MTLComputeCommandEncoder *encoder,
                                                      size_t width, size_t height) {
    if (rt_valid_encoder(encoder, __func__))
        rt_compute_set_imageblock(encoder, width, height, __func__);
}

bool rt_imageblock_fits(const MTLComputePipelineState *p, const uint32_t asked[2],
                        const uint32_t group[3], size_t threadgroup_bytes) {
    size_t width = asked[0] ? asked[0] : group[0], height = asked[1] ? asked[1] : group[1];
    return p->imageblock_bytes * width * height + threadgroup_bytes <= RT_MAX_TILE_MEMORY;
}

uint64_t rt_imageblock_place(const MTLComputePipelineState *p, const uint32_t asked[2],
                             DevDispatch *d) {
    uint32_t width = asked[0] ? asked[0] : d->group_size[0];
    uint32_t height = asked[1] ? asked[1] : d->group_size[1];
    uint64_t n_bytes = sizeof(AbiImageblockHead) + p->imageblock_bytes * width * height;
    d->imageblock = (DevImageblock){.slot = p->imageblock_slot,
                                    .at = d->threadgroup_bytes,
                                    .width = width,
                                    .height = height,
                                    .pixel_bytes = (uint32_t)p->imageblock_bytes};
    d->threadgroup_bytes += (uint32_t)((n_bytes + 127) & ~127ull);
    return n_bytes;
}
