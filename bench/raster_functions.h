// SPDX-License-Identifier: Apache-2.0
// raster_functions.h: where bench_raster gets its vertex and fragment functions from: C
// (raster_functions_c.c) or MSL (raster_functions_msl.c).
#ifndef INGOT_BENCH_RASTER_FUNCTIONS_H
#define INGOT_BENCH_RASTER_FUNCTIONS_H
#include "devices/cpu/raster/raster.h"

typedef struct Uniforms {
    float matrix[16], light[4];
} Uniforms;

typedef struct FunctionInputs {
    // "triangle", "lit" (position and normal, 24 bytes), "quad" (position and coordinates, 16),
    // "fixed" (64 steps of a loop per pixel), "trilinear" and "nearest" (as quad)
    const char *kind;
    const void *vertices;
    uint64_t vertices_bytes;
    const Uniforms *uniforms;
    const AbiTexture *texture;
} FunctionInputs;

typedef struct Functions {
    DevVertexStage vertex;
    DevFragmentStage fragment;
    void *vertex_args[40], *fragment_args[40];
    uint64_t vertex_lengths[40], fragment_lengths[40];
    uint16_t rows[ABI_MAX_VARYINGS];
    DevCode *codes[2];
} Functions;

// False: there are none of that kind.
bool functions_get(const FunctionInputs *in, Functions *f);
void functions_free(Functions *f);
#endif
