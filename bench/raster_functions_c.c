// SPDX-License-Identifier: Apache-2.0
// raster_functions_c.c: vertex and fragment functions of bench_raster in C: loops over lanes that
// the compiler makes vectors of, one copy per machine.
#include <math.h>
#include <string.h>
#include "devices/cpu/engine.h"
#include "raster_functions.h"

#define WIDE __attribute__((target_clones("avx512f", "avx2", "default")))

// Three components position, three normal; 24 bytes.
WIDE static void lit_vertex(const CpuLaunch *launch, const CpuVertexStep *step) {
    const float *in = launch->args[0];
    const Uniforms *u = launch->args[1];
    float *out = (float *)(void *)step->out;
    float p[6][32];
    for (int l = 0; l < 32; l++)
        for (int c = 0; c < 6; c++) p[c][l] = in[(size_t)step->vertices[l] * 6 + (size_t)c];
    for (int r = 0; r < 4; r++)
        for (int l = 0; l < 32; l++)
            out[32 * r + l] = u->matrix[r] * p[0][l] + u->matrix[4 + r] * p[1][l] +
                              u->matrix[8 + r] * p[2][l] + u->matrix[12 + r];
    for (int r = 0; r < 3; r++)
        for (int l = 0; l < 32; l++) out[32 * (ABI_VERTEX_FIRST + r) + l] = p[3 + r][l];
}

typedef struct Lanes {
    float x[32], y[32];
} Lanes;
static Lanes lanes;

WIDE static void lit_fragment(const CpuLaunch *launch, CpuFragmentStep *step) {
    const Uniforms u = *(const Uniforms *)launch->args[0];
    const CpuPlane p0 = step->planes[0], p1 = step->planes[1], p2 = step->planes[2], pw = step->w;
    float *restrict out = (float *)(void *)step->colors, fx = step->from[0], fy = step->from[1];
    for (int l = 0; l < 32; l++) {
        float x = lanes.x[l] + fx, y = lanes.y[l] + fy;
        float w = 1.0f / (pw.at + pw.dx * x + pw.dy * y);
        float nx = (p0.at + p0.dx * x + p0.dy * y) * w;
        float ny = (p1.at + p1.dx * x + p1.dy * y) * w;
        float nz = (p2.at + p2.dx * x + p2.dy * y) * w;
        float scale = 1.0f / sqrtf(nx * nx + ny * ny + nz * nz);
        float d = (nx * u.light[0] + ny * u.light[1] + nz * u.light[2]) * scale;
        d = d > 0 ? d : 0;
        float lit = 0.1f + 0.9f * d;
        out[l] = 0.9f * lit;
        out[32 + l] = 0.7f * lit;
        out[64 + l] = 0.4f * lit;
        out[96 + l] = 1;
    }
}

// Position only, two components and two of texture coordinates.
WIDE static void quad_vertex(const CpuLaunch *launch, const CpuVertexStep *step) {
    const float *in = launch->args[0];
    float *out = (float *)(void *)step->out;
    for (int l = 0; l < 32; l++) {
        const float *v = in + (size_t)step->vertices[l] * 4;
        out[l] = v[0];
        out[32 + l] = v[1];
        out[64 + l] = 0.5f;
        out[96 + l] = 1;
        out[32 * ABI_VERTEX_FIRST + l] = v[2];
        out[32 * (ABI_VERTEX_FIRST + 1) + l] = v[3];
    }
}

WIDE static void blend_fragment(const CpuLaunch *launch, CpuFragmentStep *step) {
    (void)launch;
    const CpuPlane p0 = step->planes[0], p1 = step->planes[1];
    float *restrict out = (float *)(void *)step->colors, fx = step->from[0], fy = step->from[1];
    for (int l = 0; l < 32; l++) {
        float x = lanes.x[l] + fx, y = lanes.y[l] + fy;
        out[l] = p0.at + p0.dx * x + p0.dy * y;
        out[32 + l] = p1.at + p1.dx * x + p1.dy * y;
        out[64 + l] = 0.25f;
        out[96 + l] = 0.4f;
    }
}

static void triangle_vertex(const CpuLaunch *launch, const CpuVertexStep *step) {
    static const float at[3][2] = {{0, 0.8f}, {0.8f, -0.8f}, {-0.8f, -0.8f}};
    (void)launch;
    float *out = (float *)(void *)step->out;
    for (uint32_t l = 0; l < step->n; l++) {
        uint32_t v = step->vertices[l] % 3;
        out[l] = at[v][0];
        out[32 + l] = at[v][1];
        out[64 + l] = 0.5f;
        out[96 + l] = 1;
        for (uint32_t c = 0; c < 3; c++) out[32 * (ABI_VERTEX_FIRST + c) + l] = v == c;
    }
}

WIDE static void triangle_fragment(const CpuLaunch *launch, CpuFragmentStep *step) {
    (void)launch;
    const CpuPlane *p = step->planes;
    float *out = (float *)(void *)step->colors, fx = step->from[0], fy = step->from[1];
    for (int c = 0; c < 3; c++)
        for (int l = 0; l < 32; l++)
            out[32 * c + l] = p[c].at + p[c].dx * (lanes.x[l] + fx) + p[c].dy * (lanes.y[l] + fy);
    for (int l = 0; l < 32; l++) out[96 + l] = 1;
}

bool functions_get(const FunctionInputs *in, Functions *f) {
    static AbiStageInfo vertex_info = {.flags = ABI_STAGE_POSITION}, fragment_info = {.colors = 1};
    bool lit = !strcmp(in->kind, "lit"), quad = !strcmp(in->kind, "quad");
    if (!lit && !quad && strcmp(in->kind, "triangle")) return false;
    for (int l = 0; l < 32; l++) {
        lanes.x[l] = (float)(l / 4 % 4 * 2 + l % 2) + 0.5f;
        lanes.y[l] = (float)(l / 16 * 2 + l / 2 % 2) + 0.5f;
    }
    uint32_t n = quad ? 2 : 3;
    vertex_info.n_outputs = fragment_info.n_inputs = n;
    memset(f, 0, sizeof *f);
    for (uint32_t i = 0; i < n; i++) f->rows[i] = (uint16_t)(ABI_VERTEX_FIRST + i);
    f->vertex_args[0] = (void *)in->vertices;
    f->vertex_args[1] = f->fragment_args[0] = (void *)in->uniforms;
    f->vertex_lengths[0] = in->vertices_bytes;
    f->vertex_lengths[1] = sizeof *in->uniforms;
    static const CpuCode vertex[] = {
        {.vertex = lit_vertex}, {.vertex = quad_vertex}, {.vertex = triangle_vertex}};
    static const CpuCode fragment[] = {
        {.fragment = lit_fragment}, {.fragment = blend_fragment}, {.fragment = triangle_fragment}};
    const int which = lit ? 0 : quad ? 1 : 2;
    f->vertex =
        (DevVertexStage){.code = &vertex[which].head,
                         .info = &vertex_info,
                         .arguments = {.args = f->vertex_args, .lengths = f->vertex_lengths}};
    f->fragment = (DevFragmentStage){.code = &fragment[which].head,
                                     .info = &fragment_info,
                                     .arguments = {.args = f->fragment_args},
                                     .rows = f->rows};
    return true;
}

void functions_free(Functions *f) { (void)f; }
