// SPDX-License-Identifier: Apache-2.0
// texture.c: functions of textures: the CPU device's own code (src/devices/cpu/texture, src/texel),
// for one thread a call. Records of textures and samplers are made anew in memory that the GPU sees
// (src/devices/cuda/texture.c); an implicit level of detail is asked for with the coordinates of
// the quad.
#include "compiler/codegen/nvptx/library/instructions.h"
#include "abi/sparse.h"
#include "texel/sampling.h"

#define CALLED __attribute__((noinline))

static void zero(uint32_t *out) { out[0] = out[1] = out[2] = out[3] = 0; }
static const AbiTexture *texture_of(uint64_t handle) {
    return abi_handle_record(handle & ~ABI_TEXTURE_RESIDENCY);
}
static void answer(uint32_t op, bool there, uint32_t *out) {
    TexelValue texel;
    texel_residency_answer(op, there, &texel);
    for (int i = 0; i < 4; i++) out[i] = texel.u[i];
}

// An implicit level of detail has the differences between the threads of the quad in the rows of
// gradients (textures.c); a bias is one of the sampler's then.
CALLED void ingot_texture_sample(uint64_t texture, uint64_t sampler, uint32_t op,
                                 const uint32_t *rows, uint32_t *out) {
    const AbiTexture *t = texture_of(texture);
    const uint32_t one = 1, mode = op & CPU_TEX_LOD_MASK;
    zero(out);
    if (!t || texel_type_is_multisample(t->type) || t->type == ABI_TEXTURE_BUFFER) return;
    bool residency = (texture & ABI_TEXTURE_RESIDENCY) != 0;
    if (residency && !t->sparse) {
        answer(op, true, out);
        return;
    }
    TexelSampleCall call = {.t = t,
                            .op = op,
                            .n_lanes = 1,
                            .mask = &one,
                            .rows = rows,
                            .out = out,
                            .residency = residency};
    TexelBlockCache blocks;
    texel_sampler_unpack(sampler, &call.s);
    if (mode == CPU_TEX_LOD_IMPLICIT || mode == CPU_TEX_LOD_BIAS)
        call.op = (op & ~(uint32_t)CPU_TEX_LOD_MASK) | CPU_TEX_LOD_GRADIENT;
    if (mode == CPU_TEX_LOD_BIAS) call.s.lod_bias += float_of(rows[CPU_TEX_LEVEL]);
    if (abi_format_is_blocked(t->format)) {
        for (int i = 0; i < 4; i++) blocks.block[i] = 0;
        call.blocks = &blocks;
    }
    texel_sample_general(&call);
}

static bool is_mapped(const AbiTexture *t, const uint32_t *rows, uint32_t level) {
    bool flat = t->type == ABI_TEXTURE_1D || t->type == ABI_TEXTURE_1D_ARRAY,
         deep = t->type == ABI_TEXTURE_3D,
         sliced = !deep && t->type != ABI_TEXTURE_1D && t->type != ABI_TEXTURE_2D;
    return level < t->n_levels &&
           abi_sparse_texel(t, level, sliced ? rows[CPU_TEX_SLICE] : 0, rows[CPU_TEX_X],
                            flat ? 0 : rows[CPU_TEX_Y], deep ? rows[CPU_TEX_Z] : 0);
}

CALLED void ingot_texture_read(uint64_t texture, uint32_t op, const uint32_t *rows, uint32_t *out) {
    const AbiTexture *t = texture_of(texture);
    const uint32_t one = 1;
    zero(out);
    if (!t) return;
    if (texture & ABI_TEXTURE_RESIDENCY)
        answer(op, !t->sparse || is_mapped(t, rows, rows[CPU_TEX_LEVEL]), out);
    else
        texel_read_general(t, op, 1, &one, rows, out);
}
CALLED void ingot_texture_write(uint64_t texture, uint32_t op, const uint32_t *rows) {
    const AbiTexture *t = texture_of(texture);
    const uint32_t one = 1;
    if (t && (!t->sparse || is_mapped(t, rows, rows[CPU_TEX_LEVEL])))
        texel_write_general(t, op, 1, &one, rows);
}
CALLED void ingot_texture_atomic(uint64_t texture, uint32_t op, const uint32_t *rows,
                                 uint32_t *out) {
    const AbiTexture *t = texture_of(texture);
    const uint32_t one = 1;
    zero(out);
    if (t && (!t->sparse || is_mapped(t, rows, 0))) texel_atomic_general(t, op, 1, &one, rows, out);
}
