// SPDX-License-Identifier: Apache-2.0
// rays.h: commands on acceleration structures, for the encoders that have them: that of
// acceleration.c, and Metal 4's compute encoder. Everything is checked.
#ifndef INGOT_RUNTIME_RAYS_H
#define INGOT_RUNTIME_RAYS_H
#include "runtime/command/bindings.h"

// scratch: NULL: none was given.
void rt_rays_build(const RtSite *site, MTLAccelerationStructure *to,
                   const MTLAccelerationStructureDescriptor *descriptor, MTLBuffer *scratch,
                   size_t scratch_offset);
// destination NULL: source.
void rt_rays_refit(const RtSite *site, MTLAccelerationStructure *source,
                   const MTLAccelerationStructureDescriptor *descriptor,
                   MTLAccelerationStructure *destination, MTLBuffer *scratch, size_t scratch_offset,
                   MTLAccelerationStructureRefitOptions options);
void rt_rays_copy(const RtSite *site, MTLAccelerationStructure *from, MTLAccelerationStructure *to);
void rt_rays_write_size(const RtSite *site, MTLAccelerationStructure *structure, MTLBuffer *buffer,
                        size_t offset, MTLDataType type);
#endif
