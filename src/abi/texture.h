// SPDX-License-Identifier: Apache-2.0
// texture.h: textures and samplers as compiled kernels meet them. Three parties keep to it: the
// Metal headers (stdlib/metal_texture: handles, packed samplers, size queries), the vectoriser (one
// call per SIMD-group step) and the CPU device (src/cpu/texture: the functions called). Part of the
// kernel ABI: change anything, raise CPU_KERNEL_ABI.
//
// A texture in MSL is one 64-bit handle: the address of a CpuTexture, which is also the texture's
// gpu_resource_id. A sampler is one 64-bit handle: the address of a CpuSampler (bit 0 clear), or,
// for a constexpr sampler, everything it says packed into the handle itself (bit 0 set). Handle 0
// is no texture: reads and samples give zero, writes are dropped. Sampler handle 0: all defaults.
// Views in a pool have ids that count up by one: such a handle is CPU_TEXTURE_POOLED and the number
// of an element of CpuTextureOps.pool.
#ifndef INGOT_ABI_TEXTURE_H
#define INGOT_ABI_TEXTURE_H
#include <stddef.h>
#include <stdint.h>

#define CPU_TEXTURE_POOLED ((uint64_t)1 << 62)
#define CPU_VIEW_POOL_SLOTS ((uint64_t)1 << 20) // a power of two
#define CPU_MAX_LEVELS 15u // 16384 texels

typedef struct CpuTextureLevel {
    unsigned char *data;     // first texel (or block) of slice 0
    uint64_t row_bytes;      // between rows of texels, or of blocks
    uint64_t layer_bytes;    // between array slices, cube faces or planes of a 3D texture
    uint32_t width, height, depth; // texels
    uint32_t reserved;
} CpuTextureLevel;

struct CpuPixelFormat; // cpu/texture/format.h

// A texture or a view of one. Immutable once made; alive while its MTLTexture is.
typedef struct CpuTexture {
    // What MSL's size queries read; the Metal headers know these six and their offsets.
    uint32_t width, height, depth; // of level 0 of the view; 1 where the type has no such dimension
    uint32_t array_length;         // of a cube array: cubes
    uint32_t n_levels, n_samples;
    uint16_t pixel_format; // MTLPixelFormat of the view
    uint8_t type;          // MTLTextureType of the view
    uint8_t swizzled;      // 0: swizzle is the identity
    uint8_t swizzle[4];    // MTLTextureSwizzle for r, g, b, a
    const struct CpuPixelFormat *format;
    uint64_t sample_bytes; // between the sample planes of a multisample texture
    CpuTextureLevel levels[CPU_MAX_LEVELS];
} CpuTexture;
_Static_assert(offsetof(CpuTexture, array_length) == 12 && offsetof(CpuTexture, n_levels) == 16 &&
                   offsetof(CpuTexture, n_samples) == 20,
               "stdlib/detail/texture.h knows this layout");

// Values are Apple's: MTLSamplerMinMagFilter, MTLSamplerMipFilter, MTLSamplerAddressMode,
// MTLCompareFunction, MTLSamplerBorderColor.
typedef struct CpuSampler {
    uint8_t min_filter, mag_filter, mip_filter;
    uint8_t address[3]; // s, t, r
    uint8_t compare, border;
    uint8_t unnormalized; // 1: coordinates in texels
    uint8_t lod_average;
    uint8_t max_anisotropy; // 1 .. 16
    uint8_t reduction;      // MTLSamplerReductionMode: 0 weighted average, 1 minimum, 2 maximum
    float lod_min, lod_max, lod_bias;
} CpuSampler;

// A packed sampler, from bit 0 up:
//   1 tag (1) | 1 min | 1 mag | 2 mip | 3 s | 3 t | 3 r | 4 compare | 2 border | 1 unnormalized
//   | 5 max_anisotropy (0 means 1) | 2 reduction | 1 biased | 3 reserved (0)
//   | 16 lod_min | 16 lod_max (IEEE half; max +inf)
// If biased, the last 32 bits are instead, in units of 1/64:
//   10 lod_min | 10 lod_max | 1 no maximum | 11 bias (two's complement)
enum {
    CPU_SAMPLER_MIN = 1,
    CPU_SAMPLER_MAG = 2,
    CPU_SAMPLER_MIP = 3,
    CPU_SAMPLER_S = 5,
    CPU_SAMPLER_T = 8,
    CPU_SAMPLER_R = 11,
    CPU_SAMPLER_COMPARE = 14,
    CPU_SAMPLER_BORDER = 18,
    CPU_SAMPLER_UNNORMALIZED = 20,
    CPU_SAMPLER_ANISOTROPY = 21,
    CPU_SAMPLER_REDUCTION = 26,
    CPU_SAMPLER_BIASED = 28,
    CPU_SAMPLER_LOD_MIN = 32,
    CPU_SAMPLER_LOD_MAX = 48,
};

// `op` of a call: a constant of the call site.
enum {
    CPU_TEX_TYPE_MASK = 15, // MTLTextureType the MSL type stands for (depth types: the same numbers)
    CPU_TEX_FLOAT = 0 << 4, // what the components are: float (also half: the headers convert),
    CPU_TEX_INT = 1 << 4,   // int or short, or
    CPU_TEX_UINT = 2 << 4,  // uint or ushort
    CPU_TEX_DATA_MASK = 3 << 4,
    CPU_TEX_DEPTH = 1 << 6, // a depth type: only component 0 of the result is looked at
    // sample only
    CPU_TEX_LOD_IMPLICIT = 0 << 8, // from the quad's derivatives; lanes 4k .. 4k+3 are a quad
    CPU_TEX_LOD_BIAS = 1 << 8,     // the same plus row 5
    CPU_TEX_LOD_LEVEL = 2 << 8,    // row 5
    CPU_TEX_LOD_GRADIENT = 3 << 8, // rows 6 .. 11
    CPU_TEX_LOD_MASK = 3 << 8,
    CPU_TEX_MIN_LOD = 1 << 10, // row 12 clamps from below
    CPU_TEX_OFFSET = 1 << 11,  // rows 13 .. 15, in texels
    CPU_TEX_COMPARE = 1 << 12, // row 4; result in component 0 (gather: all four)
    CPU_TEX_GATHER = 1 << 13,  // result: the component below of four texels
    CPU_TEX_COMPONENT = 14,    // shift of 2 bits
    CPU_TEX_QUERY_LOD = 1 << 16, // results: component 0 the clamped level of detail, 1 the unclamped
    // atomic only: bits 20 .. 23
    CPU_TEX_ATOMIC = 20,
    CPU_TEX_LOAD = 0,
    CPU_TEX_STORE,
    CPU_TEX_EXCHANGE,
    CPU_TEX_COMPARE_EXCHANGE, // weak in MSL, strong here
    CPU_TEX_ADD,
    CPU_TEX_SUB,
    CPU_TEX_AND,
    CPU_TEX_OR,
    CPU_TEX_XOR,
    CPU_TEX_MIN,
    CPU_TEX_MAX,
};

// Rows of inputs, each n_lanes 32-bit values. Only the rows an op names, and its type needs, hold
// anything.
enum {
    CPU_TEX_X = 0, // sample: float coordinates. read, write, atomic: unsigned texels
    CPU_TEX_Y,
    CPU_TEX_Z,     // 3D, cube direction
    CPU_TEX_SLICE, // array index, unsigned. read and write of a cube: face + 6 * array index
    CPU_TEX_REFERENCE,
    CPU_TEX_LEVEL, // sample: float level or bias. read, write: unsigned level; atomic: 0
    CPU_TEX_DX,    // .. +2
    CPU_TEX_SAMPLE = CPU_TEX_DX, // read: index of the sample
    CPU_TEX_DY = 9,              // .. +2
    CPU_TEX_VALUE = 8,           // write: .. +3. atomic: operands of up to two words; expected at +2
    CPU_TEX_LOD_CLAMP = 12,
    CPU_TEX_OFFSETS = 13, // .. +2, signed
    CPU_TEX_ROWS = 16,
};

// n_lanes is 1 or a multiple of 4 up to 1024; mask: bit l of word l / 32 says that lane l takes
// part; rows: [CPU_TEX_ROWS][n_lanes]; out: [4][n_lanes], written for the lanes that take part (the
// others: anything). All lanes use the same texture and sampler. Texture and sampler are handles;
// alignment of rows and out: 64 bytes if n_lanes is a multiple of 16.
typedef void CpuSampleFn(uint64_t texture, uint64_t sampler, uint32_t op, uint32_t n_lanes,
                         const uint32_t *mask, const uint32_t *rows, uint32_t *out);
typedef void CpuTexelFn(uint64_t texture, uint32_t op, uint32_t n_lanes, const uint32_t *mask,
                        const uint32_t *rows, uint32_t *out);
typedef struct CpuTextureOps {
    CpuSampleFn *sample;
    CpuTexelFn *read;
    CpuTexelFn *write;  // out is not used
    CpuTexelFn *atomic; // out: the old value in components 0 and 1 (64-bit: rg32uint)
    const CpuTexture *pool; // [CPU_VIEW_POOL_SLOTS]; NULL while there is no pool
} CpuTextureOps;
#endif
