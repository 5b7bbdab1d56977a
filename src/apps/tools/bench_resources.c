// SPDX-License-Identifier: Apache-2.0
// bench_resources.c: the part of `ingot bench` about memory and textures: allocations, a blit
// beside memcpy, sampling, mipmaps.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "apps/tools/tools.h"
#include "tools_texts.h"

// Buffers made and released one after the other; per second.
static double allocation_rate(MTLDevice *device, size_t n_bytes, int n) {
    double t = seconds_now();
    for (int i = 0; i < n; i++) {
        MTLBuffer *b = mtl_device_new_buffer(device, n_bytes, 0);
        if (!b) return -1;
        mtl_release(b);
    }
    return n / (seconds_now() - t);
}

static void allocations(MTLDevice *device) {
    double small[7], large[7];
    for (int i = 0; i < 7; i++) {
        small[i] = allocation_rate(device, 1024, 50000);
        large[i] = allocation_rate(device, 1 << 20, 5000);
    }
    puts("allocation, one thread");
    bench_line("buffers of 1 KB", median(small, 7) * 1e-3, "thousand/s");
    bench_line("buffers of 1 MB", median(large, 7) * 1e-3, "thousand/s");
}

// Runs and says how long, commit to completed; -1: it failed.
static double commit(MTLCommandBuffer *commands) {
    double t = seconds_now();
    mtl_command_buffer_commit(commands);
    mtl_command_buffer_wait_until_completed(commands);
    t = seconds_now() - t;
    bool ok = mtl_command_buffer_status(commands) == MTLCommandBufferStatusCompleted;
    mtl_release(commands);
    return ok ? t : -1;
}

// In turns with memcpy between the same two buffers: what else the machine does meets both.
static void blits(MTLDevice *device, MTLCommandQueue *queue) {
    enum { REPEAT = 41 };
    const size_t n = (size_t)16 << 20;
    MTLBuffer *a = mtl_device_new_buffer(device, n, 0), *b = mtl_device_new_buffer(device, n, 0);
    double blit_s[REPEAT], copy_s[REPEAT], fill_s[REPEAT];
    puts("blits");
    if (a && b) {
        memset(mtl_buffer_contents(a), 1, n);
        for (int i = -2; i < REPEAT; i++) {
            MTLCommandBuffer *c = mtl_command_queue_command_buffer(queue);
            MTLBlitCommandEncoder *e = mtl_command_buffer_blit_command_encoder(c);
            mtl_blit_command_encoder_copy_from_buffer(e, a, 0, b, 0, n);
            mtl_blit_command_encoder_end_encoding(e);
            double t = commit(c);
            if (i >= 0) blit_s[i] = t;
            t = seconds_now();
            memcpy(mtl_buffer_contents(b), mtl_buffer_contents(a), n);
            if (i >= 0) copy_s[i] = seconds_now() - t;
            c = mtl_command_queue_command_buffer(queue);
            e = mtl_command_buffer_blit_command_encoder(c);
            mtl_blit_command_encoder_fill_buffer(e, b, mtl_range_make(0, n), 7);
            mtl_blit_command_encoder_end_encoding(e);
            t = commit(c);
            if (i >= 0) fill_s[i] = t;
        }
        double blit = median(blit_s, REPEAT), copy = median(copy_s, REPEAT);
        bench_line("copy of 16 MB", blit < 0 ? -1 : (double)n * 1e-9 / blit, "GB/s");
        bench_line("the same with memcpy", (double)n * 1e-9 / copy, "GB/s");
        bench_line("ratio", blit < 0 ? -1 : copy / blit, "x");
        bench_line("fill of 16 MB", (double)n * 1e-9 / median(fill_s, REPEAT), "GB/s");
    }
    mtl_release(a);
    mtl_release(b);
}

static MTLTexture *texture(MTLDevice *device, size_t width, size_t height, bool mipmapped,
                           MTLTextureUsage usage) {
    MTLTextureDescriptor d =
        mtl_texture_descriptor_2d(MTLPixelFormatRGBA8Unorm, width, height, mipmapped);
    d.usage = usage;
    return mtl_device_new_texture(device, &d);
}

static double resample(MTLCommandQueue *queue, MTLComputePipelineState *p, MTLTexture *in,
                       MTLTexture *out, MTLSamplerState *s) {
    MTLCommandBuffer *c = mtl_command_queue_command_buffer(queue);
    MTLComputeCommandEncoder *e = mtl_command_buffer_compute_command_encoder(c);
    mtl_compute_command_encoder_set_compute_pipeline_state(e, p);
    mtl_compute_command_encoder_set_texture(e, in, 0);
    mtl_compute_command_encoder_set_texture(e, out, 1);
    mtl_compute_command_encoder_set_sampler_state(e, s, 0);
    mtl_compute_command_encoder_dispatch_threads(
        e, mtl_size_make(mtl_texture_width(out), mtl_texture_height(out), 1),
        mtl_size_make(16, 16, 1));
    mtl_compute_command_encoder_end_encoding(e);
    return commit(c);
}

static void textures(MTLDevice *device, MTLCommandQueue *queue) {
    enum { REPEAT = 41, SIZE = 1024, WIDTH = 1920, HEIGHT = 1080 };
    MTLError *error = NULL;
    MTLLibrary *library =
        mtl_device_new_library_with_source(device, tools_text_bench_resources_metal, NULL, &error);
    MTLFunction *f = library ? mtl_library_new_function(library, "resample") : NULL;
    MTLComputePipelineState *p =
        f ? mtl_device_new_compute_pipeline_state(device, f, &error) : NULL;
    MTLTexture *in = texture(device, SIZE, SIZE, true, MTLTextureUsageShaderRead);
    MTLTexture *out = texture(device, WIDTH, HEIGHT, false, MTLTextureUsageShaderWrite);
    MTLSamplerState *linear = mtl_device_new_sampler_state(
        device, &(MTLSamplerDescriptor){.min_filter = MTLSamplerMinMagFilterLinear,
                                        .mag_filter = MTLSamplerMinMagFilterLinear});
    uint32_t *pixels = malloc(SIZE * SIZE * sizeof *pixels);
    double sample_s[REPEAT], mipmap_s[9];
    puts("textures");
    if (!p)
        complain(EXIT_INPUT, "bench", "%s", error ? mtl_error_localized_description(error) : "?");
    if (p && in && out && linear && pixels) {
        for (uint32_t i = 0; i < SIZE * SIZE; i++) pixels[i] = i * 2654435761u;
        mtl_texture_replace_region(in, mtl_region_make_2d(0, 0, SIZE, SIZE), 0, pixels, SIZE * 4);
        for (int i = -3; i < REPEAT; i++) {
            double t = resample(queue, p, in, out, linear);
            if (i >= 0) sample_s[i] = t;
        }
        for (int i = 0; i < 9; i++) {
            MTLCommandBuffer *c = mtl_command_queue_command_buffer(queue);
            MTLBlitCommandEncoder *e = mtl_command_buffer_blit_command_encoder(c);
            mtl_blit_command_encoder_generate_mipmaps(e, in);
            mtl_blit_command_encoder_end_encoding(e);
            mipmap_s[i] = commit(c);
        }
        double t = median(sample_s, REPEAT), m = median(mipmap_s, 9);
        bench_line("bilinear, RGBA8, 1024^2 over 1080p", t < 0 ? -1 : WIDTH * HEIGHT * 1e-6 / t,
                   "Mtexel/s");
        bench_line("mipmaps of it", m < 0 ? -1 : m * 1e3, "ms");
    }
    free(pixels);
    mtl_release(linear), mtl_release(in), mtl_release(out), mtl_release(p), mtl_release(f);
    mtl_release(library), mtl_release(error);
}

void bench_resources(MTLDevice *device, MTLCommandQueue *queue) {
    allocations(device);
    blits(device, queue);
    textures(device, queue);
}
