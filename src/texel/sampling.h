// SPDX-License-Identifier: Apache-2.0
// sampling.h: textures looked up lane by lane, every type, format, filter and address mode: plain
// C that the CPU device runs where its vector code does not fit, and that is compiled for GPUs too
// (codegen/nvptx/library/texture.c).
#ifndef INGOT_TEXEL_SAMPLING_H
#define INGOT_TEXEL_SAMPLING_H
#include "abi/cpu_texture.h"
#include "abi/texture_layout.h"
#include "texel/format.h"

enum { // MTLSamplerAddressMode
    TEXEL_CLAMP_TO_EDGE = 0,
    TEXEL_MIRROR_CLAMP_TO_EDGE,
    TEXEL_REPEAT,
    TEXEL_MIRROR_REPEAT,
    TEXEL_CLAMP_TO_ZERO,
    TEXEL_CLAMP_TO_BORDER,
};

// A texel's components: floats, or integers where the format is one.
typedef union TexelValue {
    float f[4];
    uint32_t u[4];
} TexelValue;

// Decoded blocks of compressed textures, shared between the texels of one call. Neighbouring blocks
// have different places, so that a footprint over four blocks does not fight over one.
typedef struct TexelBlockCache {
    const unsigned char *block[4];
    float rgba[4][12 * 12 * 4];
} TexelBlockCache;

// Texel x, y of layer z, plane `sample`, not swizzled. In range: the caller's duty. blocks may be
// NULL if the format is not blocked.
void texel_fetch(const AbiTexture *t, uint32_t level, uint32_t x, uint32_t y, uint32_t z,
                 uint32_t sample, TexelBlockCache *blocks, TexelValue *texel);
void texel_swizzle(const AbiTexture *t, TexelValue *texel);
uint32_t texel_outside_alpha(const AbiTexture *t); // its bits

// Everything a sampling call is about, unpacked.
typedef struct TexelSampleCall {
    const AbiTexture *t;
    AbiSampler s;
    uint32_t op, n_lanes;
    const uint32_t *mask, *rows;
    uint32_t *out;
    TexelBlockCache *blocks;
    bool residency; // of a sparse texture: are the texels there? (general code)
} TexelSampleCall;

void texel_sampler_unpack(uint64_t handle, AbiSampler *s);

static inline bool texel_lane_active(const uint32_t *mask, uint32_t lane) {
    return mask[lane / 32] >> lane % 32 & 1;
}

// Dimensions of the coordinates of a texture type; a cube's direction has 3, its faces 2.
static inline unsigned texel_type_dimensions(unsigned type) {
    switch (type) {
    case ABI_TEXTURE_1D:
    case ABI_TEXTURE_1D_ARRAY:
    case ABI_TEXTURE_BUFFER: return 1;
    case ABI_TEXTURE_3D: return 3;
    default: return 2;
    }
}

static inline bool texel_type_is_cube(unsigned type) {
    return type == ABI_TEXTURE_CUBE || type == ABI_TEXTURE_CUBE_ARRAY;
}

static inline bool texel_type_is_array(unsigned type) {
    return type == ABI_TEXTURE_1D_ARRAY || type == ABI_TEXTURE_2D_ARRAY ||
           type == ABI_TEXTURE_CUBE_ARRAY || type == ABI_TEXTURE_2D_MS_ARRAY;
}

static inline bool texel_type_is_multisample(unsigned type) {
    return type == ABI_TEXTURE_2D_MS || type == ABI_TEXTURE_2D_MS_ARRAY;
}

// lod.c: which level or levels a lane looks at. Derivatives are of the coordinates as given.
typedef struct TexelLod {
    float unclamped, clamped;
    bool minify;
    unsigned n_taps; // along the longer axis of the footprint; 1: isotropic
    float axis[3];   // of the whole footprint, in coordinates as given
} TexelLod;
void texel_lod(const TexelSampleCall *call, uint32_t lane, TexelLod *lod);

// Where a cube direction meets which face: s and t in 0 .. 1 (NaN and zero directions: 0).
typedef struct TexelCubePoint {
    unsigned face;
    float s, t;
    float sc, tc, ma; // before the division; ma > 0
} TexelCubePoint;
void texel_cube_project(const float direction[3], TexelCubePoint *p);
// The derivative of s and t there.
void texel_cube_derivative(const TexelCubePoint *p, const float direction[3], float st[2]);

// What a texel in the border is.
void texel_sample_border(const TexelSampleCall *call, TexelValue *texel);

// The answer to a question for residency, in the type of the components that are asked for.
static inline void texel_residency_answer(uint32_t op, bool there, TexelValue *answer) {
    uint32_t one = (op & CPU_TEX_DATA_MASK) == CPU_TEX_FLOAT ? 0x3f800000 : 1; // 1.0f
    for (int i = 0; i < 4; i++) answer->u[i] = there ? one : 0;
}

// General code, lane by lane.
void texel_sample_general(const TexelSampleCall *call);
void texel_read_general(const AbiTexture *t, uint32_t op, uint32_t n_lanes, const uint32_t *mask,
                        const uint32_t *rows, uint32_t *out);
void texel_write_general(const AbiTexture *t, uint32_t op, uint32_t n_lanes, const uint32_t *mask,
                         const uint32_t *rows);

void texel_atomic_general(const AbiTexture *t, uint32_t op, uint32_t n_lanes, const uint32_t *mask,
                          const uint32_t *rows, uint32_t *out);
#endif
