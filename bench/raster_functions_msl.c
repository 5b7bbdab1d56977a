// SPDX-License-Identifier: Apache-2.0
// raster_functions_msl.c: the functions of bench_raster from MSL, through the compiler in process.
// BENCH_STDLIB and BENCH_PCH are set by the build.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "compiler/compiler.h"
#include "raster_functions.h"

static const char source[] =
    "#include <metal_stdlib>\nusing namespace metal;\n"
    "struct U { float4x4 m; float4 light; };\n"
    "struct Lit { float3 p [[attribute(0)]]; float3 n [[attribute(1)]]; };\n"
    "struct LitOut { float4 p [[position]]; float3 n; };\n"
    "vertex LitOut lit_v(Lit in [[stage_in]], constant U &u [[buffer(1)]]) {\n"
    "  return {u.m * float4(in.p, 1), in.n}; }\n"
    "fragment float4 lit_f(LitOut in [[stage_in]], constant U &u [[buffer(1)]]) {\n"
    "  float d = max(dot(normalize(in.n), u.light.xyz), 0.0f);\n"
    "  return float4(float3(0.9, 0.7, 0.4) * (0.1f + 0.9f * d), 1); }\n"
    "struct Tri { float4 p [[position]]; float3 c; };\n"
    "vertex Tri triangle_v(uint i [[vertex_id]]) {\n"
    "  float2 p[3] = {{0, 0.8}, {0.8, -0.8}, {-0.8, -0.8}};\n"
    "  return {float4(p[i], 0.5, 1), float3(i == 0, i == 1, i == 2)}; }\n"
    "fragment float4 triangle_f(Tri in [[stage_in]]) { return float4(in.c, 1); }\n"
    "struct Quad { float2 p [[attribute(0)]]; float2 uv [[attribute(1)]]; };\n"
    "struct QuadOut { float4 p [[position]]; float2 uv; };\n"
    "vertex QuadOut quad_v(Quad in [[stage_in]]) { return {float4(in.p, 0.5, 1), in.uv}; }\n"
    "fragment float4 quad_f(QuadOut in [[stage_in]]) { return float4(in.uv, 0.25, 0.4); }\n"
    "fragment float4 trilinear_f(QuadOut in [[stage_in]], texture2d<float> t [[texture(0)]]) {\n"
    "  constexpr sampler s(filter::linear, mip_filter::linear, address::repeat);\n"
    "  return t.sample(s, in.uv); }\n"
    "fragment float4 nearest_f(QuadOut in [[stage_in]], texture2d<float> t [[texture(0)]]) {\n"
    "  constexpr sampler s(filter::nearest, address::repeat);\n"
    "  return t.sample(s, in.uv); }\n"
    "vertex QuadOut sprite_v(uint i [[vertex_id]], uint n [[instance_id]]) {\n"
    "  float2 uv = float2(i == 1 || i == 2 || i == 4, i == 2 || i == 4 || i == 5);\n"
    "  float2 at = float2(n * 7919u % 1920u, n * 104729u % 1080u);\n"
    "  return {float4((at + uv * 6) / float2(960, -540) + float2(-1, 1), 0.5, 1), uv}; }\n"
    "fragment float4 sprite_f(QuadOut in [[stage_in]]) { return float4(in.uv, 0.25, 0.4); }\n"
    "vertex QuadOut fixed_v(uint i [[vertex_id]]) {\n"
    "  float2 uv = float2((i << 1) & 2, i & 2); return {float4(uv * 2 - 1, 0.5, 1), uv}; }\n"
    "fragment float4 fixed_f(QuadOut in [[stage_in]]) {\n"
    "  float2 c = float2(in.uv.x * 3.0f - 2.1f, in.uv.y * 2.4f - 1.2f); float zx = 0, zy = 0;\n"
    "  for (int i = 0; i < 64; i++) { float nx = zx * zx - zy * zy + c.x;\n"
    "    zy = clamp(2.0f * zx * zy + c.y, -2.0f, 2.0f); zx = clamp(nx, -2.0f, 2.0f); }\n"
    "  return float4(abs(zx) * 0.5f, abs(zy) * 0.5f, zx * zx * 0.25f, 1); }\n";

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
                          .text = source,
                          .n_bytes = strlen(source),
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
