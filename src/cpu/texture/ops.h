// SPDX-License-Identifier: Apache-2.0
// ops.h: the texture functions that compiled kernels call (abi/cpu_texture.h), in code for this
// processor.
#ifndef INGOT_CPU_TEXTURE_OPS_H
#define INGOT_CPU_TEXTURE_OPS_H
#include "abi/cpu_texture.h"

const CpuTextureOps *cpu_texture_ops(void);
void cpu_texture_ops_set_pool(const AbiTexture *pool); // pool.c, once
#endif
