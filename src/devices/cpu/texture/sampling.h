// SPDX-License-Identifier: Apache-2.0
// sampling.h: what the files of this folder share, and the rasteriser. A call (32 lanes or so) is
// either taken whole by the vector code (fast_*.c, built per instruction set) or lane by lane by
// the general code, which handles everything.
#ifndef INGOT_CPU_TEXTURE_SAMPLING_H
#define INGOT_CPU_TEXTURE_SAMPLING_H
#include "abi/cpu_texture.h"
#include "abi/texture_layout.h"
#include "texel/format.h"

enum { // MTLSamplerAddressMode
    CPU_CLAMP_TO_EDGE = 0,
    CPU_MIRROR_CLAMP_TO_EDGE,
    CPU_REPEAT,
    CPU_MIRROR_REPEAT,
    CPU_CLAMP_TO_ZERO,
    CPU_CLAMP_TO_BORDER,
};

// A texel's components: floats, or integers where the format is one.
typedef union CpuTexel {
    float f[4];
    uint32_t u[4];
} CpuTexel;

// Decoded blocks of compressed textures, shared between the texels of one call. Neighbouring blocks
// have different places, so that a footprint over four blocks does not fight over one.
typedef struct CpuBlockCache {
    const unsigned char *block[4];
    float rgba[4][12 * 12 * 4];
} CpuBlockCache;

// Texel x, y of layer z, plane `sample`, not swizzled. In range: the caller's duty. blocks may be
// NULL if the format is not blocked.
void cpu_texel_fetch(const AbiTexture *t, uint32_t level, uint32_t x, uint32_t y, uint32_t z,
                     uint32_t sample, CpuBlockCache *blocks, CpuTexel *texel);
void cpu_texel_swizzle(const AbiTexture *t, CpuTexel *texel);
uint32_t cpu_texel_outside_alpha(const AbiTexture *t); // its bits

// Everything a sampling call is about, unpacked.
typedef struct CpuSampleCall {
    const AbiTexture *t;
    AbiSampler s;
    uint32_t op, n_lanes;
    const uint32_t *mask, *rows;
    uint32_t *out;
    CpuBlockCache *blocks;
    bool residency; // of a sparse texture: are the texels there? (general code)
} CpuSampleCall;

void cpu_sampler_unpack(uint64_t handle, AbiSampler *s);

static inline bool cpu_lane_active(const uint32_t *mask, uint32_t lane) {
    return mask[lane / 32] >> lane % 32 & 1;
}

// Dimensions of the coordinates of a texture type; a cube's direction has 3, its faces 2.
static inline unsigned cpu_type_dimensions(unsigned type) {
    switch (type) {
    case ABI_TEXTURE_1D:
    case ABI_TEXTURE_1D_ARRAY:
    case ABI_TEXTURE_BUFFER: return 1;
    case ABI_TEXTURE_3D: return 3;
    default: return 2;
    }
}

static inline bool cpu_type_is_cube(unsigned type) {
    return type == ABI_TEXTURE_CUBE || type == ABI_TEXTURE_CUBE_ARRAY;
}

static inline bool cpu_type_is_array(unsigned type) {
    return type == ABI_TEXTURE_1D_ARRAY || type == ABI_TEXTURE_2D_ARRAY ||
           type == ABI_TEXTURE_CUBE_ARRAY || type == ABI_TEXTURE_2D_MS_ARRAY;
}

static inline bool cpu_type_is_multisample(unsigned type) {
    return type == ABI_TEXTURE_2D_MS || type == ABI_TEXTURE_2D_MS_ARRAY;
}

// lod.c: which level or levels a lane looks at. Derivatives are of the coordinates as given.
typedef struct CpuLod {
    float unclamped, clamped;
    bool minify;
    unsigned n_taps; // along the longer axis of the footprint; 1: isotropic
    float axis[3];   // of the whole footprint, in coordinates as given
} CpuLod;
void cpu_lod(const CpuSampleCall *call, uint32_t lane, CpuLod *lod);

// Where a cube direction meets which face: s and t in 0 .. 1 (NaN and zero directions: 0).
typedef struct CpuCubePoint {
    unsigned face;
    float s, t;
    float sc, tc, ma; // before the division; ma > 0
} CpuCubePoint;
void cpu_cube_project(const float direction[3], CpuCubePoint *p);
// The derivative of s and t there.
void cpu_cube_derivative(const CpuCubePoint *p, const float direction[3], float st[2]);

// What a texel in the border is.
void cpu_sample_border(const CpuSampleCall *call, CpuTexel *texel);

// The answer to a question for residency, in the type of the components that are asked for.
static inline void cpu_residency_answer(uint32_t op, bool there, CpuTexel *answer) {
    uint32_t one = (op & CPU_TEX_DATA_MASK) == CPU_TEX_FLOAT ? 0x3f800000 : 1; // 1.0f
    for (int i = 0; i < 4; i++) answer->u[i] = there ? one : 0;
}

// General code, lane by lane.
void cpu_sample_general(const CpuSampleCall *call);
void cpu_read_general(const AbiTexture *t, uint32_t op, uint32_t n_lanes, const uint32_t *mask,
                      const uint32_t *rows, uint32_t *out);
void cpu_write_general(const AbiTexture *t, uint32_t op, uint32_t n_lanes, const uint32_t *mask,
                       const uint32_t *rows);

void cpu_atomic_general(const AbiTexture *t, uint32_t op, uint32_t n_lanes, const uint32_t *mask,
                        const uint32_t *rows, uint32_t *out);

// Every call that samples (ops.c).
void cpu_sample_any(uint64_t texture, uint64_t sampler, uint32_t op, uint32_t n_lanes,
                    const uint32_t *mask, const uint32_t *rows, uint32_t *out);

// Vector code. false: not a case for it, nothing was done.
typedef struct CpuFastOps {
    CpuSampleFn *call; // what kernels call; goes on with cpu_sample_any where it is no common case
    bool (*sample)(const CpuSampleCall *call);
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
