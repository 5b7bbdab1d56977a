// SPDX-License-Identifier: Apache-2.0
// bench_validation.c: what shader validation costs: the cases of cases.h, and bilinear sampling of
// RGBA8 with the texture from an argument, an argument buffer, and an array of many
// (validation.metal).
// usage: bench_validation kernels.metal validation.metal [substring]; a tab-separated line a case:
// name, ms without, ms with, ratio. Times are processor time of one thread; the two pipelines run
// in turns, and the ratio is the median over the turns.
#include <ingot/metal.h>
#include <ingot/metal_texture.h>
#include "cases.h"

enum { SIDE = 1024, N_TEXTURES = 64 };

static const struct Sampling {
    const char *name, *kernel;
} samplings[] = {
    {"sampling, bound by the encoder", "sample_bound"},
    {"sampling, argument buffer", "sample_argument"},
    {"sampling, same texture 8 times", "sample_loop"},
    {"sampling, one of 64 per threadgroup", "sample_group"},
    {"sampling, one of 64 per thread", "sample_thread"},
};
enum { N_SAMPLINGS = sizeof samplings / sizeof *samplings };

typedef struct Bench {
    MTLDevice *device;
    MTLCommandQueue *queue;
    MTLTexture *textures[N_TEXTURES];
    MTLBuffer *buffers[3]; // arguments 0, 1, 2; NULL: none
} Bench;

static void require(const void *object, const MTLError *error, const char *what) {
    if (object) return;
    fprintf(stderr, "bench_validation: %s: %s\n", what,
            error ? mtl_error_localized_description(error) : "failed");
    exit(1);
}

static double processor_ms(void) {
    struct timespec t;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return (double)t.tv_sec * 1e3 + (double)t.tv_nsec * 1e-6;
}

static double run_once(const Bench *x, MTLComputePipelineState *pipeline, const Case *k) {
    MTLCommandBuffer *commands = mtl_command_queue_command_buffer(x->queue);
    MTLComputeCommandEncoder *encoder = mtl_command_buffer_compute_command_encoder(commands);
    mtl_compute_command_encoder_set_compute_pipeline_state(encoder, pipeline);
    size_t arg = 0;
    for (int m = 0; m < 3; m++)
        if (x->buffers[m]) mtl_compute_command_encoder_set_buffer(encoder, x->buffers[m], 0, arg++);
    if (k->n_ints)
        mtl_compute_command_encoder_set_bytes(encoder, k->ints, sizeof(int32_t) * (size_t)k->n_ints,
                                              arg);
    if (x->textures[0]) mtl_compute_command_encoder_set_texture(encoder, x->textures[0], 0);
    mtl_compute_command_encoder_dispatch_threads(encoder, mtl_size_make(k->grid[0], k->grid[1], 1),
                                                 mtl_size_make(k->group[0], k->group[1], 1));
    mtl_compute_command_encoder_end_encoding(encoder);
    double t0 = processor_ms();
    mtl_command_buffer_commit(commands);
    mtl_command_buffer_wait_until_completed(commands);
    double ms = processor_ms() - t0;
    if (mtl_command_buffer_status(commands) != MTLCommandBufferStatusCompleted)
        require(NULL, mtl_command_buffer_error(commands), k->name);
    mtl_release(commands);
    return ms;
}

static void compare(const Bench *x, MTLLibrary *library, const Case *k) {
    enum { MAX_TURNS = 64 };
    MTLFunction *function = mtl_library_new_function(library, k->kernel);
    require(function, NULL, k->kernel);
    MTLComputePipelineState *pipelines[2];
    for (int on = 0; on < 2; on++) {
        MTLComputePipelineDescriptor d = {.compute_function = function,
                                          .shader_validation = on ? MTLShaderValidationEnabled
                                                                  : MTLShaderValidationDisabled};
        MTLError *error = NULL;
        pipelines[on] =
            mtl_device_new_compute_pipeline_state_with_descriptor(x->device, &d, 0, NULL, &error);
        require(pipelines[on], error, k->kernel);
    }
    double times[2][MAX_TURNS], ratios[MAX_TURNS];
    int turns = k->repeats < MAX_TURNS ? k->repeats : MAX_TURNS;
    for (int r = -2; r < turns; r++) {
        double ms[2];
        for (int i = 0; i < 2; i++) ms[(i + r) & 1] = run_once(x, pipelines[(i + r) & 1], k);
        if (r < 0) continue; // the code is made
        times[0][r] = ms[0], times[1][r] = ms[1], ratios[r] = ms[1] / ms[0];
    }
    printf("%s\t%.4f\t%.4f\t%.2f\n", k->name, median(times[0], turns), median(times[1], turns),
           median(ratios, turns));
    fflush(stdout);
    mtl_release(pipelines[0]), mtl_release(pipelines[1]), mtl_release(function);
}

static void compare_kernels(Bench *x, MTLLibrary *library, const char *only) {
    for (int i = 0; i < n_cases; i++) {
        const Case *k = &cases[i];
        if (!strstr(k->name, only)) continue;
        size_t sizes[3] = {k->a, k->b, k->c};
        for (int m = 0; m < 3; m++) {
            if (!sizes[m]) continue;
            x->buffers[m] = mtl_device_new_buffer(x->device, sizes[m] * sizeof(float),
                                                  MTLResourceStorageModeShared);
            require(x->buffers[m], NULL, "buffer");
            fill_input(mtl_buffer_contents(x->buffers[m]), sizes[m], 1u + (uint32_t)m);
        }
        compare(x, library, k);
        for (int m = 0; m < 3; m++) mtl_release(x->buffers[m]), x->buffers[m] = NULL;
    }
}

static void compare_samplings(Bench *x, MTLLibrary *library, const char *only) {
    enum { TEXELS = 256 };
    static uint8_t texels[4 * TEXELS * TEXELS];
    x->buffers[0] =
        mtl_device_new_buffer(x->device, (size_t)16 * SIDE * SIDE, MTLResourceStorageModeShared);
    x->buffers[1] = mtl_device_new_buffer(x->device, N_TEXTURES * sizeof(MTLResourceID),
                                          MTLResourceStorageModeShared);
    require(x->buffers[0], NULL, "buffer"), require(x->buffers[1], NULL, "buffer");
    MTLResourceID *ids = mtl_buffer_contents(x->buffers[1]);
    for (uint32_t i = 0, seed = 1; i < N_TEXTURES; i++) {
        MTLTextureDescriptor d = {.texture_type = MTLTextureType2D,
                                  .pixel_format = MTLPixelFormatRGBA8Unorm,
                                  .width = TEXELS,
                                  .height = TEXELS,
                                  .depth = 1,
                                  .mipmap_level_count = 1,
                                  .sample_count = 1,
                                  .array_length = 1,
                                  .usage = MTLTextureUsageShaderRead};
        x->textures[i] = mtl_device_new_texture(x->device, &d);
        require(x->textures[i], NULL, "texture");
        for (size_t b = 0; b < sizeof texels; b++)
            texels[b] = (uint8_t)((seed = seed * 1664525u + 1013904223u) >> 24);
        mtl_texture_replace_region(x->textures[i], mtl_region_make_2d(0, 0, TEXELS, TEXELS), 0,
                                   texels, 4 * TEXELS);
        ids[i] = mtl_texture_gpu_resource_id(x->textures[i]);
    }
    for (int i = 0; i < N_SAMPLINGS; i++) {
        Case k = {.name = samplings[i].name,
                  .kernel = samplings[i].kernel,
                  .grid = {SIDE, SIDE},
                  .group = {32, 8},
                  .repeats = 31};
        if (strstr(k.name, only)) compare(x, library, &k);
    }
    for (int i = 0; i < N_TEXTURES; i++) mtl_release(x->textures[i]);
    mtl_release(x->buffers[0]), mtl_release(x->buffers[1]);
}

int main(int argc, char **argv) {
    if (argc < 3) {
        fprintf(stderr, "usage: bench_validation kernels.metal validation.metal [substring]\n");
        return 2;
    }
    setenv("INGOT_SYNC_SPECIALISE", "1", 0); // measure the code, not the wait for it
    setenv("INGOT_THREADS", "1", 0);
    Bench x = {.device = mtl_create_system_default_device()};
    require(x.device, NULL, "device");
    x.queue = mtl_device_new_command_queue(x.device);
    for (int i = 0; i < 2; i++) {
        MTLError *error = NULL;
        MTLLibrary *library = mtl_device_new_library_with_url(x.device, argv[1 + i], &error);
        require(library, error, argv[1 + i]);
        (i ? compare_samplings : compare_kernels)(&x, library, argc > 3 ? argv[3] : "");
        mtl_release(library);
    }
    mtl_release(x.queue), mtl_release(x.device);
    return 0;
}
