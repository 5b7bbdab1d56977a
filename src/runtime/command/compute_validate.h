// SPDX-License-Identifier: Apache-2.0
// compute_validate.h: the rules of compute encoders. Each check reports and returns false, and the
// call does nothing.
#ifndef INGOT_RUNTIME_COMPUTE_VALIDATE_H
#define INGOT_RUNTIME_COMPUTE_VALIDATE_H
#include "runtime/command/compute.h"

bool rt_valid_encoder(const MTLComputeCommandEncoder *e, const char *call);
bool rt_valid_slot(MTLComputeCommandEncoder *e, const char *call, size_t index);
bool rt_valid_buffer(MTLComputeCommandEncoder *e, const char *call, const MTLBuffer *buffer,
                     size_t offset);
bool rt_valid_bytes(MTLComputeCommandEncoder *e, const char *call, const void *bytes,
                    size_t length);
bool rt_valid_threadgroup_length(MTLComputeCommandEncoder *e, const char *call, size_t length,
                                 size_t index);
bool rt_valid_group_size(MTLComputeCommandEncoder *e, const char *call, MTLSize size);
bool rt_valid_grid(MTLComputeCommandEncoder *e, const char *call, MTLSize grid, MTLSize unit);
bool rt_valid_table_arg(MTLComputeCommandEncoder *e, const char *call, const RfArg *arg,
                        uint32_t k); // compute_table.c
bool rt_valid_bindings(MTLComputeCommandEncoder *e, const char *call);
// compute_texture.c
// Is the texture right for the argument of a function (of any stage)?
bool rt_valid_texture_for(const RtSite *site, const RfLibrary *lib, const RfArg *arg,
                          const MTLTexture *texture, const char *function);
// The same for a resource id, of Metal 4; *texture: NULL if it is an entry of a view pool.
bool rt_valid_texture_id(const RtSite *site, const RfLibrary *lib, const RfArg *arg, uint64_t id,
                         const char *function, MTLTexture **texture);
bool rt_valid_texture_arg(MTLComputeCommandEncoder *e, const char *call, const RfArg *arg,
                          bool required);
bool rt_valid_sampler_arg(MTLComputeCommandEncoder *e, const char *call, const RfArg *arg,
                          bool required);
// Fills the slots of a texture or sampler argument. False: no memory, and the command buffer knows.
bool rt_snapshot_texture(MTLComputeCommandEncoder *e, const RfArg *arg, uint32_t n_slots,
                         void **args);
bool rt_valid_indirect(MTLComputeCommandEncoder *e, const char *call, const MTLBuffer *buffer,
                       size_t offset);
#endif
