// SPDX-License-Identifier: Apache-2.0
// test_prebuilt.c: a program whose kernels were compiled elsewhere.
//     test_prebuilt make FOLDER   with a compiler: FOLDER/prebuilt.metallib ->
//     FOLDER/prebuilt.archive
//     test_prebuilt               in INGOT_PREBUILT's folder, without one: pipelines from library
//     and archive
//                                 give the right results, and what would need a compiler says so
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>
#include <ingot/metal.h>

enum { N = 1024, GROUP = 64, SIDE = 16 };

typedef struct Fixture {
    MTLDevice *device;
    MTLCommandQueue *queue;
    MTLLibrary *library;
    MTLBinaryArchive *archive; // NULL while it is being made
} Fixture;

static void fail_with(const MTLError *error, const char *what) {
    fprintf(stderr, "%s: %s\n", what, error ? mtl_error_localized_description(error) : "no error");
    exit(1);
}

static char *in_folder(const char *folder, const char *name) {
    size_t n = strlen(folder) + strlen(name) + 2;
    char *path = malloc(n);
    if (!path) exit(1);
    snprintf(path, n, "%s/%s", folder, name);
    return path;
}

static Fixture open_library(const char *folder) {
    MTLError *error = NULL;
    Fixture f = {.device = mtl_create_system_default_device()};
    char *path = in_folder(folder, "prebuilt.metallib");
    f.queue = mtl_device_new_command_queue(f.device);
    f.library = mtl_device_new_library_with_url(f.device, path, &error);
    if (!f.library) fail_with(error, path);
    free(path);
    return f;
}

static void close_library(Fixture *f) {
    mtl_release(f->archive), mtl_release(f->library), mtl_release(f->queue);
    mtl_release(f->device);
}

static MTLFunction *scale_function(const Fixture *f) {
    const float factor = 3;
    MTLFunctionConstantValues *values = mtl_function_constant_values_new();
    mtl_function_constant_values_set_constant_value(values, &factor, MTLDataTypeFloat, 0);
    MTLError *error = NULL;
    MTLFunction *function =
        mtl_library_new_function_with_constant_values(f->library, "scale", values, &error);
    if (!function) fail_with(error, "scale");
    mtl_release(values);
    return function;
}

static MTLRenderPipelineDescriptor draw_pipeline(MTLFunction *vertex, MTLFunction *fragment) {
    return (MTLRenderPipelineDescriptor){.vertex_function = vertex,
                                         .fragment_function = fragment,
                                         .color_attachments[0].pixel_format =
                                             MTLPixelFormatRGBA8Unorm};
}

// ---- with a compiler ----

static int make(const char *folder) {
    MTLError *error = NULL;
    Fixture f = open_library(folder);
    f.archive = mtl_device_new_binary_archive(f.device, NULL, &error);
    MTLFunction *functions[] = {scale_function(&f), mtl_library_new_function(f.library, "sums")};
    bool ok = f.archive != NULL;
    for (size_t i = 0; i < 2; i++) {
        MTLComputePipelineDescriptor d = {.compute_function = functions[i]};
        ok = ok && mtl_binary_archive_add_compute_pipeline_functions(f.archive, &d, &error);
        mtl_release(functions[i]);
    }
    MTLFunction *vertex = mtl_library_new_function(f.library, "corners");
    MTLFunction *fragment = mtl_library_new_function(f.library, "halves");
    MTLRenderPipelineDescriptor draw = draw_pipeline(vertex, fragment);
    char *path = in_folder(folder, "prebuilt.archive");
    ok = ok && mtl_binary_archive_add_render_pipeline_functions(f.archive, &draw, &error) &&
         mtl_binary_archive_serialize_to_url(f.archive, path, &error);
    if (!ok) fail_with(error, path);
    free(path);
    mtl_release(vertex), mtl_release(fragment);
    close_library(&f);
    return 0;
}

// ---- without one ----

static Fixture fixture;

static int open_all(void **state) {
    (void)state;
    const char *folder = getenv("INGOT_PREBUILT");
    if (!folder) {
        fprintf(stderr, "INGOT_PREBUILT does not name the folder of metallib and archive\n");
        return -1;
    }
    MTLError *error = NULL;
    fixture = open_library(folder);
    char *path = in_folder(folder, "prebuilt.archive");
    fixture.archive = mtl_device_new_binary_archive(
        fixture.device, &(MTLBinaryArchiveDescriptor){.url = path}, &error);
    if (!fixture.archive) fail_with(error, path);
    free(path);
    return 0;
}

static int close_all(void **state) {
    (void)state;
    close_library(&fixture);
    return 0;
}

static MTLComputePipelineState *pipeline(MTLFunction *function) {
    MTLError *error = NULL;
    MTLComputePipelineState *made = mtl_device_new_compute_pipeline_state_with_descriptor(
        fixture.device,
        &(MTLComputePipelineDescriptor){.compute_function = function,
                                        .binary_archives = &fixture.archive,
                                        .binary_archive_count = 1},
        MTLPipelineOptionFailOnBinaryArchiveMiss, NULL, &error);
    if (!made) fail_with(error, "pipeline");
    mtl_release(function);
    return made;
}

static void run(MTLComputePipelineState *state, MTLBuffer *a, MTLBuffer *b) {
    MTLCommandBuffer *commands = mtl_command_queue_command_buffer(fixture.queue);
    MTLComputeCommandEncoder *encoder = mtl_command_buffer_compute_command_encoder(commands);
    mtl_compute_command_encoder_set_compute_pipeline_state(encoder, state);
    mtl_compute_command_encoder_set_buffer(encoder, a, 0, 0);
    if (b) mtl_compute_command_encoder_set_buffer(encoder, b, 0, 1);
    mtl_compute_command_encoder_dispatch_threads(encoder, mtl_size_make(N, 1, 1),
                                                 mtl_size_make(GROUP, 1, 1));
    mtl_compute_command_encoder_end_encoding(encoder);
    mtl_command_buffer_commit(commands);
    mtl_command_buffer_wait_until_completed(commands);
    assert_int_equal(mtl_command_buffer_status(commands), MTLCommandBufferStatusCompleted);
    mtl_release(state);
}

static void kernel_with_constant(void **state) {
    (void)state;
    MTLBuffer *x = mtl_device_new_buffer(fixture.device, N * sizeof(float), 0);
    float *v = mtl_buffer_contents(x);
    for (int i = 0; i < N; i++) v[i] = (float)i;
    run(pipeline(scale_function(&fixture)), x, NULL);
    for (int i = 0; i < N; i++) assert_true(v[i] == 3 * (float)i + 1);
    mtl_release(x);
}

static void kernel_with_barriers(void **state) {
    (void)state;
    MTLBuffer *x = mtl_device_new_buffer(fixture.device, N * sizeof(uint32_t), 0);
    MTLBuffer *totals = mtl_device_new_buffer(fixture.device, N / GROUP * sizeof(uint32_t), 0);
    uint32_t *v = mtl_buffer_contents(x);
    const uint32_t *sum = mtl_buffer_contents(totals);
    for (uint32_t i = 0; i < N; i++) v[i] = i * i;
    run(pipeline(mtl_library_new_function(fixture.library, "sums")), x, totals);
    for (uint32_t g = 0; g < N / GROUP; g++) {
        uint32_t want = 0;
        for (uint32_t i = g * GROUP; i < (g + 1) * GROUP; i++) want += i * i;
        assert_int_equal(sum[g], want);
    }
    mtl_release(x), mtl_release(totals);
}

static void draw(void **state) {
    (void)state;
    MTLError *error = NULL;
    MTLFunction *vertex = mtl_library_new_function(fixture.library, "corners");
    MTLFunction *fragment = mtl_library_new_function(fixture.library, "halves");
    MTLRenderPipelineDescriptor d = draw_pipeline(vertex, fragment);
    d.binary_archives = &fixture.archive;
    d.binary_archive_count = 1;
    MTLRenderPipelineState *made = mtl_device_new_render_pipeline_state(fixture.device, &d, &error);
    if (!made) fail_with(error, "render pipeline");
    MTLTextureDescriptor td =
        mtl_texture_descriptor_2d(MTLPixelFormatRGBA8Unorm, SIDE, SIDE, false);
    td.usage = MTLTextureUsageRenderTarget;
    MTLTexture *picture = mtl_device_new_texture(fixture.device, &td);
    MTLRenderPassDescriptor pass = mtl_render_pass_descriptor_make();
    pass.color_attachments[0].texture = picture;
    pass.color_attachments[0].load_action = MTLLoadActionClear;
    pass.color_attachments[0].store_action = MTLStoreActionStore;
    MTLCommandBuffer *commands = mtl_command_queue_command_buffer(fixture.queue);
    MTLRenderCommandEncoder *encoder = mtl_command_buffer_render_command_encoder(commands, &pass);
    mtl_render_command_encoder_set_render_pipeline_state(encoder, made);
    mtl_render_command_encoder_draw_primitives(encoder, MTLPrimitiveTypeTriangle, 0, 3);
    mtl_render_command_encoder_end_encoding(encoder);
    mtl_command_buffer_commit(commands);
    mtl_command_buffer_wait_until_completed(commands);
    assert_int_equal(mtl_command_buffer_status(commands), MTLCommandBufferStatusCompleted);
    uint32_t texels[SIDE * SIDE];
    mtl_texture_get_bytes(picture, texels, SIDE * 4, mtl_region_make_2d(0, 0, SIDE, SIDE), 0);
    for (int i = 0; i < SIDE * SIDE; i++)
        assert_int_equal(texels[i], i % SIDE < SIDE / 2 ? 0xff0000ffu : 0xffff0000u);
    mtl_release(picture), mtl_release(made), mtl_release(vertex), mtl_release(fragment);
}

// What cannot be had without a compiler: the sentence says what is missing and what would do.
static void assert_says(MTLError *error, const char *what) {
    assert_non_null(error);
    const char *text = mtl_error_localized_description(error);
    if (!strstr(text, what)) fail_msg("\"%s\" does not say \"%s\"", text, what);
    mtl_release(error);
}

static void no_compiler_for_source(void **state) {
    (void)state;
    MTLError *error = NULL;
    assert_null(
        mtl_device_new_library_with_source(fixture.device, "kernel void k() {}\n", NULL, &error));
    assert_says(error, "cannot start the Metal compiler");
}

static void no_compiler_for_code(void **state) {
    (void)state;
    MTLError *error = NULL;
    const float factor = 4; // the archive has the kernel for 3
    MTLFunctionConstantValues *values = mtl_function_constant_values_new();
    mtl_function_constant_values_set_constant_value(values, &factor, MTLDataTypeFloat, 0);
    MTLFunction *function =
        mtl_library_new_function_with_constant_values(fixture.library, "scale", values, NULL);
    assert_non_null(function);
    assert_null(mtl_device_new_compute_pipeline_state(fixture.device, function, &error));
    assert_says(error, "only what is in a binary archive or in the cache can run");
    mtl_release(function), mtl_release(values);
}

int main(int argc, char **argv) {
    if (argc == 3 && !strcmp(argv[1], "make")) return make(argv[2]);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(kernel_with_constant),
        cmocka_unit_test(kernel_with_barriers),
        cmocka_unit_test(draw),
        cmocka_unit_test(no_compiler_for_source),
        cmocka_unit_test(no_compiler_for_code),
    };
    return cmocka_run_group_tests(tests, open_all, close_all);
}
