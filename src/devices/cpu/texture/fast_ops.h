// SPDX-License-Identifier: Apache-2.0
// fast_ops.h: vector code of textures as ops.c calls it. A call (32 lanes or so) is either taken
// whole by the vector code (fast_*.c, built per instruction set) or lane by lane by the general
// code (texel/sampling.h), which handles everything.
#ifndef INGOT_CPU_TEXTURE_FAST_OPS_H
#define INGOT_CPU_TEXTURE_FAST_OPS_H
#include "texel/sampling.h"

// Every call that samples (ops.c).
void cpu_sample_any(uint64_t texture, uint64_t sampler, uint32_t op, uint32_t n_lanes,
                    const uint32_t *mask, const uint32_t *rows, uint32_t *out);

// Vector code. false: not a case for it, nothing was done.
typedef struct CpuFastOps {
    CpuSampleFn *call; // what kernels call; goes on with cpu_sample_any where it is no common case
    bool (*sample)(const TexelSampleCall *call);
    // 2D textures of bytes, asked first; the sampler is a handle.
    bool (*bytes)(const AbiTexture *t, uint64_t sampler, uint32_t op, uint32_t n_lanes,
                  const uint32_t *mask, const uint32_t *rows, uint32_t *out);
    bool (*read)(const AbiTexture *t, uint32_t op, uint32_t n_lanes, const uint32_t *mask,
                 const uint32_t *rows, uint32_t *out);
    bool (*write)(const AbiTexture *t, uint32_t op, uint32_t n_lanes, const uint32_t *mask,
                  const uint32_t *rows);
} CpuFastOps;
extern const CpuFastOps cpu_fast_base, cpu_fast_avx2, cpu_fast_avx512;
#endif
