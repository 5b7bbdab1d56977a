// SPDX-License-Identifier: Apache-2.0
// texture.h: textures and samplers as compiled kernels and the runtime see them. The Metal headers
// know the layouts (stdlib/metal_texture: handles, packed samplers, size queries).
//
// A texture in MSL is one 64-bit handle: the address of an AbiTexture (abi/handle.h), which is also
// the texture's gpu_resource_id. A sampler is one 64-bit handle: the address of an AbiSampler (bit
// 0 clear), or, for a constexpr sampler, everything it says packed into the handle itself (bit 0
// set). Handle 0 is no texture: reads and samples give zero, writes are dropped. Sampler handle 0:
// all defaults.
// Views in a pool have ids that count up by one: such a handle is ABI_TEXTURE_POOLED and the number
// of an element of the device's pool.
#ifndef INGOT_ABI_TEXTURE_H
#define INGOT_ABI_TEXTURE_H
#include <stddef.h>
#include <stdint.h>
#include "abi/handle.h"

#define ABI_TEXTURE_POOLED ((uint64_t)1 << 62)
// A handle with this bit asks whether the texels have memory (sparse_color::resident).
#define ABI_TEXTURE_RESIDENCY ((uint64_t)1 << 61)
#define ABI_VIEW_POOL_SLOTS ((uint64_t)1 << 20) // a power of two
#define ABI_MAX_LEVELS 15u                      // 16384 texels

typedef struct AbiTextureLevel {
    unsigned char *data;           // first texel (or block) of slice 0
    uint64_t row_bytes;            // between rows of texels, or of blocks
    uint64_t layer_bytes;          // between array slices, cube faces or planes of a 3D texture
    uint32_t width, height, depth; // texels
    uint32_t reserved;
} AbiTextureLevel;

struct AbiPixelFormat; // pixel_format.h
struct AbiSparse;      // sparse.h

// A texture or a view of one. Immutable once made; alive while its MTLTexture is.
typedef struct AbiTexture {
    // What MSL's size queries read; the Metal headers know these six and their offsets.
    uint32_t width, height, depth; // of level 0 of the view; 1 where the type has no such dimension
    uint32_t array_length;         // of a cube array: cubes
    uint32_t n_levels, n_samples;
    uint16_t pixel_format; // MTLPixelFormat of the view
    uint8_t type;          // MTLTextureType of the view
    uint8_t swizzled;      // 0: swizzle is the identity
    uint8_t swizzle[4];    // MTLTextureSwizzle for r, g, b, a
    const struct AbiPixelFormat *format;
    uint64_t sample_bytes; // between the sample planes of a multisample texture
    AbiTextureLevel levels[ABI_MAX_LEVELS];
    // Not NULL: a sparse texture, or a view of one that begins at this level and slice of it.
    const struct AbiSparse *sparse;
    uint32_t sparse_level, sparse_slice;
} AbiTexture;
_Static_assert(offsetof(AbiTexture, array_length) == 12 && offsetof(AbiTexture, n_levels) == 16 &&
                   offsetof(AbiTexture, n_samples) == 20,
               "stdlib/detail/texture.h knows this layout");

enum { // MTLCompareFunction
    ABI_COMPARE_NEVER = 0,
    ABI_COMPARE_LESS,
    ABI_COMPARE_EQUAL,
    ABI_COMPARE_LESS_EQUAL,
    ABI_COMPARE_GREATER,
    ABI_COMPARE_NOT_EQUAL,
    ABI_COMPARE_GREATER_EQUAL,
    ABI_COMPARE_ALWAYS,
};

// Values are Apple's: MTLSamplerMinMagFilter, MTLSamplerMipFilter, MTLSamplerAddressMode,
// MTLCompareFunction, MTLSamplerBorderColor.
typedef struct AbiSampler {
    uint8_t min_filter, mag_filter, mip_filter;
    uint8_t address[3]; // s, t, r
    uint8_t compare, border;
    uint8_t unnormalized; // 1: coordinates in texels
    uint8_t lod_average;
    uint8_t max_anisotropy; // 1 .. 16
    uint8_t reduction;      // MTLSamplerReductionMode: 0 weighted average, 1 minimum, 2 maximum
    float lod_min, lod_max, lod_bias;
} AbiSampler;

// A packed sampler, from bit 0 up:
//   1 tag (1) | 1 min | 1 mag | 2 mip | 3 s | 3 t | 3 r | 4 compare | 2 border | 1 unnormalized
//   | 5 max_anisotropy (0 means 1) | 2 reduction | 1 biased | 3 reserved (0)
//   | 16 lod_min | 16 lod_max (IEEE half; max +inf)
// If biased, the last 32 bits are instead, in units of 1/64:
//   10 lod_min | 10 lod_max | 1 no maximum | 11 bias (two's complement)
enum {
    ABI_SAMPLER_MIN = 1,
    ABI_SAMPLER_MAG = 2,
    ABI_SAMPLER_MIP = 3,
    ABI_SAMPLER_S = 5,
    ABI_SAMPLER_T = 8,
    ABI_SAMPLER_R = 11,
    ABI_SAMPLER_COMPARE = 14,
    ABI_SAMPLER_BORDER = 18,
    ABI_SAMPLER_UNNORMALIZED = 20,
    ABI_SAMPLER_ANISOTROPY = 21,
    ABI_SAMPLER_REDUCTION = 26,
    ABI_SAMPLER_BIASED = 28,
    ABI_SAMPLER_LOD_MIN = 32,
    ABI_SAMPLER_LOD_MAX = 48,
};
#endif
