// SPDX-License-Identifier: Apache-2.0
// raster_functions_msl.c: the functions of bench_raster from MSL, through the compiler in process.
// BENCH_STDLIB and BENCH_PCH are set by the build.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "bench_kernels.h"
#include "compiler/compiler.h"
#include "raster_functions.h"

static MslLibrary lib;

static const RfFunction *load(const char *name, const MslVertexDescriptor *descriptor,
                              DevCode **code) {
    MslKernelRequest request = {.bitcode = lib.bitcode,
                                .bitcode_bytes = lib.bitcode_bytes,
                                .reflection = lib.reflection,
                                .function = name,
                                .vertex = descriptor,
                                .math_mode = MSL_MATH_FAST};
    MslKernel kernel;
    char why[256] = "";
    if (msl_backend(&request, &kernel))
        *code = cpu_code_load(kernel.code, kernel.code_bytes, why, sizeof why);
    if (!*code) {
        fprintf(stderr, "%s: %s%s\n", name, kernel.ok ? "" : kernel.error, why);
        exit(1);
    }
    msl_kernel_free(&kernel);
    return rf_find_function(lib.reflection, name);
}

bool functions_get(const FunctionInputs *in, Functions *f) {
    bool lit = !strcmp(in->kind, "lit"),
         textured = !strcmp(in->kind, "trilinear") || !strcmp(in->kind, "nearest");
    bool quad = textured || !strcmp(in->kind, "quad");
    memset(f, 0, sizeof *f);
    if (!lib.reflection) {
        MslSource text = {.name = "bench",
                          .text = bench_kernel_raster_metal,
                          .n_bytes = strlen(bench_kernel_raster_metal),
                          .math_mode = MSL_MATH_FAST,
                          .stdlib_dir = BENCH_STDLIB,
                          .pch_dir = BENCH_PCH};
        if (!msl_frontend(&text, &lib)) {
            fprintf(stderr, "%s\n", lib.log);
            exit(1);
        }
    }
    enum { FLOAT2 = 29, FLOAT3 = 30, PER_VERTEX = 1 }; // MTLVertexFormat, MTLVertexStepFunction
    MslVertexDescriptor descriptor = {
        .attributes = {{lit ? FLOAT3 : FLOAT2, 0, 0}, {lit ? FLOAT3 : FLOAT2, lit ? 12 : 8, 0}},
        .layouts = {{lit ? 24 : 16, PER_VERTEX, 1}}};
    char name[32];
    snprintf(name, sizeof name, "%s_v", quad ? "quad" : in->kind);
    const RfFunction *v = load(name, lit || quad ? &descriptor : NULL, &f->codes[0]);
    snprintf(name, sizeof name, "%s_f", in->kind);
    const RfFunction *p = load(name, NULL, &f->codes[1]);
    for (uint32_t i = 0; i < ABI_MAX_VARYINGS; i++) f->rows[i] = UINT16_MAX;
    for (uint32_t i = 0; i < p->n_inputs; i++)
        for (uint32_t o = 0; o < v->n_outputs; o++)
            if (p->inputs[i].role == RF_VALUE && v->outputs[o].role == RF_VALUE &&
                !strcmp(p->inputs[i].name, v->outputs[o].name))
                for (uint32_t k = 0; k < p->inputs[i].n; k++)
                    f->rows[p->inputs[i].row + k] =
                        (uint16_t)(ABI_VERTEX_FIRST + v->outputs[o].row + k);
    if (lit) {
        f->vertex_args[0] = f->fragment_args[0] = (void *)in->uniforms;
        f->vertex_lengths[0] = f->fragment_lengths[0] = sizeof *in->uniforms;
    }
    if (textured) f->fragment_args[0] = (void *)in->texture;
    f->vertex_args[v->n_slots] = (void *)in->vertices;
    f->vertex_lengths[v->n_slots] = in->vertices_bytes;
    f->vertex =
        (DevVertexStage){.code = f->codes[0],
                         .info = f->codes[0]->stage,
                         .arguments = {.args = f->vertex_args, .lengths = f->vertex_lengths}};
    f->fragment =
        (DevFragmentStage){.code = f->codes[1],
                           .info = f->codes[1]->stage,
                           .arguments = {.args = f->fragment_args, .lengths = f->fragment_lengths},
                           .rows = f->rows};
    return true;
}

void functions_free(Functions *f) {
    cpu_code_free(f->codes[0]);
    cpu_code_free(f->codes[1]);
}
