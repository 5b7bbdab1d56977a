// SPDX-License-Identifier: Apache-2.0
// ops.h: the texture functions that compiled kernels call (abi/cpu_texture.h), in code for this
// processor.
#ifndef INGOT_CPU_TEXTURE_OPS_H
#define INGOT_CPU_TEXTURE_OPS_H
#include "abi/cpu_texture.h"

// Of the instruction set in use (devices/cpu/isa/isa.h). Calls of a table use the set at the last
// question here.
const CpuTextureOps *cpu_texture_ops(void);
void cpu_texture_ops_set_pool(const AbiTexture *pool); // view_pool.c, once
#endif
