// SPDX-License-Identifier: Apache-2.0
// cpu_texture.h: the texture functions that kernels compiled for the CPU call: the vectoriser
// writes one call per SIMD-group step, src/devices/cpu/texture has the functions. Change anything:
// raise ABI_VERSION.
#ifndef INGOT_ABI_CPU_TEXTURE_H
#define INGOT_ABI_CPU_TEXTURE_H
#include <stdint.h>
#include "abi/texture.h"

// `op` of a call: a constant of the call site.
enum {
    CPU_TEX_TYPE_MASK =
        15, // MTLTextureType the MSL type stands for (depth types: the same numbers)
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
    CPU_TEX_QUERY_LOD =
        1 << 16, // results: component 0 the clamped level of detail, 1 the unclamped
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
    CPU_TEX_VALUE = 8, // write: .. +3. atomic: operands of up to two words; expected at +2
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
    CpuTexelFn *write;      // out is not used
    CpuTexelFn *atomic;     // out: the old value in components 0 and 1 (64-bit: rg32uint)
    const AbiTexture *pool; // [ABI_VIEW_POOL_SLOTS]; NULL while there is no pool
} CpuTextureOps;
#endif
