// SPDX-License-Identifier: Apache-2.0
// compute_stage_in.c: what a compute encoder says of stage inputs: their region, and the strides of
// buffers whose layout leaves them open.
#include <string.h>
#include "runtime/command/compute_validate.h"
#include "runtime/object/validation.h"

// ---- The region ----

static RtRegion *new_region(MTLComputeCommandEncoder *e) {
    RtRegion *region = rt_cb_alloc(e->encoder.buffer, sizeof *region);
    if (!region) rt_cb_no_memory(e->encoder.buffer);
    return region;
}

void mtl_compute_command_encoder_set_stage_in_region(MTLComputeCommandEncoder *encoder,
                                                     MTLRegion region) {
    if (!rt_valid_encoder(encoder, __func__)) return;
    const size_t n[6] = {region.origin.x,   region.origin.y,    region.origin.z,
                         region.size.width, region.size.height, region.size.depth};
    for (int i = 0; i < 6; i++)
        if (n[i] > UINT32_MAX) {
            rt_misuse_encoding(encoder->encoder.buffer, RT_RULE_dispatch_grid_limit, __func__,
                               "%zu", n[i]);
            return;
        }
    RtRegion *r = new_region(encoder);
    if (!r) return;
    for (int i = 0; i < 3; i++) {
        r->origin[i] = (uint32_t)n[i];
        r->size[i] = (uint32_t)n[3 + i];
    }
    encoder->region = r;
}

void mtl_compute_command_encoder_set_stage_in_region_with_indirect_buffer(
    MTLComputeCommandEncoder *encoder, MTLBuffer *buffer, size_t offset) {
    if (!rt_valid_encoder(encoder, __func__)) return;
    MTLCommandBuffer *commands = encoder->encoder.buffer;
    const RtSite site = {commands->device, commands, __func__};
    if (!rt_valid_place(&site, buffer, "buffer", offset)) return;
    if (offset % 4 != 0 || buffer->length - offset < sizeof(MTLStageInRegionIndirectArguments)) {
        rt_misuse_encoding(commands, RT_RULE_indirect_offset, __func__, "offset %zu of %zu bytes",
                           offset, buffer->length);
        return;
    }
    RtRegion *r = new_region(encoder);
    if (!r || !rt_cb_use(commands, &buffer->resource, false)) return;
    r->indirect = buffer->memory + offset;
    encoder->region = r;
}

// ---- Strides ----

// A layout whose stride is open reads the one given last.
static void set_stride(MTLComputeCommandEncoder *e, size_t stride, size_t index) {
    if (index < RT_MAX_BUFFERS) e->strides[index] = stride;
}

void mtl_compute_command_encoder_set_buffer_with_attribute_stride(MTLComputeCommandEncoder *encoder,
                                                                  MTLBuffer *buffer, size_t offset,
                                                                  size_t stride, size_t index) {
    if (!rt_valid_encoder(encoder, __func__)) return;
    mtl_compute_command_encoder_set_buffer(encoder, buffer, offset, index);
    set_stride(encoder, stride, index);
}

void mtl_compute_command_encoder_set_buffers_with_attribute_strides(
    MTLComputeCommandEncoder *encoder, MTLBuffer *const *buffers, const size_t *offsets,
    const size_t *strides, MTLRange range) {
    if (!rt_valid_encoder(encoder, __func__)) return;
    mtl_compute_command_encoder_set_buffers(encoder, buffers, offsets, range);
    for (size_t i = 0; strides && i < range.length && i < RT_MAX_BUFFERS; i++)
        set_stride(encoder, strides[i], range.location + i);
}

void mtl_compute_command_encoder_set_buffer_offset_with_attribute_stride(
    MTLComputeCommandEncoder *encoder, size_t offset, size_t stride, size_t index) {
    if (!rt_valid_encoder(encoder, __func__)) return;
    mtl_compute_command_encoder_set_buffer_offset(encoder, offset, index);
    set_stride(encoder, stride, index);
}

void mtl_compute_command_encoder_set_bytes_with_attribute_stride(MTLComputeCommandEncoder *encoder,
                                                                 const void *bytes, size_t length,
                                                                 size_t stride, size_t index) {
    if (!rt_valid_encoder(encoder, __func__)) return;
    mtl_compute_command_encoder_set_bytes(encoder, bytes, length, index);
    set_stride(encoder, stride, index);
}
