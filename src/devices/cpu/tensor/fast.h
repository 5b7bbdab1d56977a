// SPDX-License-Identifier: Apache-2.0
// fast.h: the vector code of matrix operations among its own files. It is built once for each
// instruction set, with CPU_BUILD_ISA naming it; ops.c chooses at run time.
//
// Everything is one loop: a small block of results stays in registers while a "thin" operand gives
// one word to all lanes and a "wide" one a vector of words, step after step. What a word is, the
// kind says. Operands that are already laid out so are read where they lie; others are packed into
// scratch on the stack, which also converts their type. The thin operand may have any strides; the
// wide one has its lanes side by side. Either matrix can be either operand (c^T = b^T a^T), which
// saves the transposition of the larger one.
#ifndef INGOT_CPU_TENSOR_FAST_H
#define INGOT_CPU_TENSOR_FAST_H
#include <stdbool.h>
#include "devices/cpu/isa/isa.h"
#include "devices/cpu/tensor/ops.h"

typedef enum CpuKind {
    CPU_KIND_FLOAT,        // words are floats
    CPU_KIND_FLOAT_HALF,   // the wide operand lies in memory as halfs,
    CPU_KIND_FLOAT_BFLOAT, // as bfloats
    CPU_KIND_INT,          // words are int32
    CPU_KIND_SHORT,        // two int16 each
    CPU_KIND_BFLOAT,       // two bfloats each
    CPU_KIND_BYTE,         // four: thin ones unsigned, wide ones signed
    CPU_N_KINDS
} CpuKind;

// One block of results. Steps and rows of operands in bytes.
typedef struct CpuTile {
    const unsigned char *thin;
    int64_t thin_row, thin_step;
    const unsigned char *wide;
    int64_t wide_step;
    unsigned char *out; // words
    int64_t out_row;
    int64_t n_steps;
    uint32_t mask; // lanes of the last vector; all where partial vectors cannot be had
    bool add;      // to what stands in out
} CpuTile;

#define CPU_TILE_VECTORS 4
#define CPU_TILE_ROWS 12
typedef void CpuTileFunction(const CpuTile *tile);
typedef struct CpuTiles {
    CpuTileFunction *run[CPU_TILE_VECTORS][CPU_TILE_ROWS]; // [vectors - 1][rows - 1]
} CpuTiles;

// fast_tiles.c
extern const CpuTiles ISA(cpu_tiles_float), ISA(cpu_tiles_float_half), ISA(cpu_tiles_float_bfloat),
    ISA(cpu_tiles_int), ISA(cpu_tiles_short);
// fast_dots.c: for AVX-512 with its extensions
extern const CpuTiles cpu_tiles_bfloat, cpu_tiles_byte;

// fast_matmul.c
void ISA(cpu_matmul)(const CpuMatmul *op);
void cpu_matmul_vnni(const CpuMatmul *op);
void cpu_matmul_bf16(const CpuMatmul *op);
void cpu_matmul_amx(const CpuMatmul *op);

// fast_convolution.c: with the matmul that its products go to
void ISA(cpu_convolution)(const CpuConvolution *op, void (*matmul)(const CpuMatmul *op));
#endif
