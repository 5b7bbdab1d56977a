// SPDX-License-Identifier: Apache-2.0
#include "stage_test.h"
#include "devices/cpu/texture/ops.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char *stdlib_dir, *pch_dir;

void stage_folders(int argc, char **argv) {
    if (argc < 3) {
        fprintf(stderr, "usage: %s STDLIB PCH_DIR\n", argv[0]);
        exit(2);
    }
    stdlib_dir = argv[1], pch_dir = argv[2];
}

static uint32_t asked_width(void) {
    const char *width = getenv("INGOT_WIDTH");
    return width ? (uint32_t)strtoul(width, NULL, 10) : 0;
}

bool is_reference(void) { return asked_width() == 1; }

static void compile(const char *text, const char *function, const MslVertexDescriptor *descriptor,
                    MslLibrary *lib, MslKernel *out) {
    MslSource source = {.name = "program_source",
                        .text = text,
                        .n_bytes = strlen(text),
                        .math_mode = MSL_MATH_SAFE,
                        .stdlib_dir = stdlib_dir,
                        .pch_dir = pch_dir};
    if (!msl_frontend(&source, lib)) fail_msg("%s", lib->log);
    MslKernelRequest request = {.bitcode = lib->bitcode,
                                .bitcode_bytes = lib->bitcode_bytes,
                                .reflection = lib->reflection,
                                .function = function,
                                .vertex = descriptor,
                                .math_mode = MSL_MATH_SAFE,
                                .cpu = getenv("INGOT_TEST_CPU"),
                                .width = asked_width(),
                                .dump_after = getenv("INGOT_TEST_DUMP")};
    msl_backend(&request, out);
    if (*out->log) fputs(out->log, stderr);
}

Stage *stage_open(const char *source, const char *function, const MslVertexDescriptor *descriptor) {
    Stage *s = calloc(1, sizeof *s);
    MslKernel kernel;
    char why[256] = "";
    assert_non_null(s);
    compile(source, function, descriptor, &s->lib, &kernel);
    if (!kernel.ok) fail_msg("'%s': %s", function, kernel.error);
    s->code = cpu_code_load(kernel.code, kernel.code_bytes, why, sizeof why);
    if (!s->code) fail_msg("'%s': %s", function, why);
    msl_kernel_free(&kernel);
    s->fn = rf_find_function(s->lib.reflection, function);
    s->info = s->code->stage;
    assert_non_null(s->info);
    s->launch = (CpuLaunch){.args = s->args, .lengths = s->lengths, .textures = cpu_texture_ops()};
    return s;
}

void stage_close(Stage *s) {
    cpu_code_free(s->code);
    msl_library_free(&s->lib);
    free(s);
}

void stage_expect_error(const char *source, const char *function,
                        const MslVertexDescriptor *descriptor, const char *why) {
    MslLibrary lib;
    MslKernel kernel;
    compile(source, function, descriptor, &lib, &kernel);
    if (kernel.ok) fail_msg("'%s' compiled, but should fail with '%s'", function, why);
    if (!strstr(kernel.error, why))
        fail_msg("'%s' fails with '%s', should say '%s'", function, kernel.error, why);
    msl_kernel_free(&kernel);
    msl_library_free(&lib);
}

static const RfValue *find(const RfValue *values, uint32_t n, const char *name) {
    for (uint32_t i = 0; i < n; i++)
        if (strcmp(values[i].name, name) == 0) return &values[i];
    fail_msg("no value '%s'", name);
    return NULL;
}
const RfValue *stage_output(const Stage *s, const char *name) {
    return find(s->fn->outputs, s->fn->n_outputs, name);
}
const RfValue *stage_input(const Stage *s, const char *name) {
    return find(s->fn->inputs, s->fn->n_inputs, name);
}

void fragment_begin(FragmentRun *r, int x, int y, uint32_t covered) {
    memset(r, 0, sizeof *r);
    r->step = (CpuFragmentStep){.x = x,
                                .y = y,
                                .covered = covered,
                                .front = 1,
                                .sample = {.5f, .5f},
                                .from = {0, 0},
                                .w = {1, 0, 0},
                                .planes = r->planes,
                                .centroid = r->centroid,
                                .point_coord = r->point_coord,
                                .coverage = r->coverage,
                                .color_in = r->color_in,
                                .colors = r->colors,
                                .depth = r->depth,
                                .stencil = r->stencil,
                                .sample_mask = r->mask};
}
