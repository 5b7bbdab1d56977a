// SPDX-License-Identifier: Apache-2.0
// acceleration.c: acceleration structures in MTL4ComputeCommandEncoder: the commands of Metal 3's
// encoder (command/acceleration.c), with addresses for buffers.
#include "runtime/command/rays.h"
#include "runtime/memory/spans.h"
#include "runtime/metal4/recording_int.h"

// Is it open? Then *site is where messages go, and the encoder has such a command.
static bool valid(MTL4ComputeCommandEncoder *encoder, const char *call, RtSite *site) {
    if (!rt_encoder_valid(encoder, &rt_mtl4_compute_encoder_class, call)) return false;
    MTLCommandBuffer *commands = encoder->compute.encoder.buffer;
    *site = (RtSite){commands->device, commands, call};
    encoder->stages |= MTLStageAccelerationStructure;
    return true;
}

// The buffer at an address, and where in it; NULL for none. False after a message.
static bool find_buffer(const RtSite *site, MTL4BufferRange range, const char *what,
                        MTLBuffer **buffer, size_t *offset) {
    RtPlace place;
    *buffer = NULL, *offset = 0;
    if (!range.buffer_address) return true;
    if (!rt_place_find(site->commands, range.buffer_address, 0, &place)) {
        rt_misuse_at(site, RT_RULE_acceleration_range, "%s: 0x%llx is in no buffer", what,
                     (unsigned long long)range.buffer_address);
        return false;
    }
    *buffer = (MTLBuffer *)(void *)place.resource;
    *offset = (size_t)(place.address - (*buffer)->memory);
    return true;
}

void mtl4_compute_command_encoder_build_acceleration_structure(
    MTL4ComputeCommandEncoder *encoder, MTLAccelerationStructure *structure,
    const MTLAccelerationStructureDescriptor *descriptor, MTL4BufferRange scratch_buffer) {
    RtSite site;
    MTLBuffer *scratch;
    size_t offset;
    if (valid(encoder, __func__, &site) &&
        find_buffer(&site, scratch_buffer, "scratch_buffer", &scratch, &offset))
        rt_rays_build(&site, structure, descriptor, scratch, offset);
}

void mtl4_compute_command_encoder_refit_acceleration_structure(
    MTL4ComputeCommandEncoder *encoder, MTLAccelerationStructure *source,
    const MTLAccelerationStructureDescriptor *descriptor, MTLAccelerationStructure *destination,
    MTL4BufferRange scratch_buffer) {
    mtl4_compute_command_encoder_refit_acceleration_structure_with_options(
        encoder, source, descriptor, destination, scratch_buffer,
        MTLAccelerationStructureRefitOptionVertexData);
}

void mtl4_compute_command_encoder_refit_acceleration_structure_with_options(
    MTL4ComputeCommandEncoder *encoder, MTLAccelerationStructure *source,
    const MTLAccelerationStructureDescriptor *descriptor, MTLAccelerationStructure *destination,
    MTL4BufferRange scratch_buffer, MTLAccelerationStructureRefitOptions options) {
    RtSite site;
    MTLBuffer *scratch;
    size_t offset;
    if (valid(encoder, __func__, &site) &&
        find_buffer(&site, scratch_buffer, "scratch_buffer", &scratch, &offset))
        rt_rays_refit(&site, source, descriptor, destination, scratch, offset, options);
}

void mtl4_compute_command_encoder_copy_acceleration_structure(
    MTL4ComputeCommandEncoder *encoder, MTLAccelerationStructure *source,
    MTLAccelerationStructure *destination) {
    RtSite site;
    if (valid(encoder, __func__, &site)) rt_rays_copy(&site, source, destination);
}

void mtl4_compute_command_encoder_copy_and_compact_acceleration_structure(
    MTL4ComputeCommandEncoder *encoder, MTLAccelerationStructure *source,
    MTLAccelerationStructure *destination) {
    RtSite site;
    if (valid(encoder, __func__, &site)) rt_rays_copy(&site, source, destination);
}

void mtl4_compute_command_encoder_write_compacted_acceleration_structure_size(
    MTL4ComputeCommandEncoder *encoder, MTLAccelerationStructure *structure,
    MTL4BufferRange buffer) {
    RtSite site;
    MTLBuffer *to;
    size_t offset;
    if (valid(encoder, __func__, &site) && find_buffer(&site, buffer, "buffer", &to, &offset))
        rt_rays_write_size(&site, structure, to, offset, MTLDataTypeULong);
}
