// SPDX-License-Identifier: Apache-2.0
// gaussian_blur.c: a 5x5 Gaussian blur of an image, edges clamped, beside the same loop in C on one
// core: the results must agree, the times tell the speed-up.
#include "util.h"
#include <math.h>

static const char *source =
    "#include <metal_stdlib>\n"
    "using namespace metal;\n"
    "kernel void blur(device const float *in [[buffer(0)]], device float *out [[buffer(1)]],\n"
    "                 constant float *weights [[buffer(2)]], constant int2 &size [[buffer(3)]],\n"
    "                 uint2 p [[thread_position_in_grid]]) {\n"
    "    float sum = 0;\n"
    "    for (int dy = -2; dy <= 2; dy++)\n"
    "        for (int dx = -2; dx <= 2; dx++) {\n"
    "            int x = clamp(int(p.x) + dx, 0, size.x - 1);\n"
    "            int y = clamp(int(p.y) + dy, 0, size.y - 1);\n"
    "            sum += weights[(dy + 2) * 5 + dx + 2] * in[y * size.x + x];\n"
    "        }\n"
    "    out[p.y * size.x + p.x] = sum;\n"
    "}\n";

static int clamp_int(int v, int low, int high) { return v < low ? low : v > high ? high : v; }

static void blur_reference(const float *in, float *out, const float *weights, int width,
                           int height) {
    for (int py = 0; py < height; py++)
        for (int px = 0; px < width; px++) {
            float sum = 0;
            for (int dy = -2; dy <= 2; dy++)
                for (int dx = -2; dx <= 2; dx++) {
                    int x = clamp_int(px + dx, 0, width - 1), y = clamp_int(py + dy, 0, height - 1);
                    sum += weights[(dy + 2) * 5 + dx + 2] * in[y * width + x];
                }
            out[py * width + px] = sum;
        }
}

enum { width = 1000, height = 750 }; // not a multiple of anything: the edges count

typedef struct Work {
    MTLCommandQueue *queue;
    MTLComputePipelineState *pipeline;
    MTLBuffer *in, *out;
    const float *weights;
} Work;

static double run_once(const void *context) {
    const Work *w = context;
    const int32_t size[2] = {width, height};
    MTLCommandBuffer *commands = mtl_command_queue_command_buffer(w->queue);
    MTLComputeCommandEncoder *encoder = mtl_command_buffer_compute_command_encoder(commands);
    mtl_compute_command_encoder_set_compute_pipeline_state(encoder, w->pipeline);
    mtl_compute_command_encoder_set_buffer(encoder, w->in, 0, 0);
    mtl_compute_command_encoder_set_buffer(encoder, w->out, 0, 1);
    mtl_compute_command_encoder_set_bytes(encoder, w->weights, 25 * sizeof(float), 2);
    mtl_compute_command_encoder_set_bytes(encoder, size, sizeof size, 3);
    mtl_compute_command_encoder_dispatch_threads(encoder, mtl_size_make(width, height, 1),
                                                 mtl_size_make(32, 8, 1));
    mtl_compute_command_encoder_end_encoding(encoder);
    double ms = complete(commands);
    mtl_release(commands);
    return ms;
}

int main(void) {
    float weights[25], total = 0;
    for (int k = 0; k < 25; k++) {
        int dx = k % 5 - 2, dy = k / 5 - 2;
        weights[k] = expf(-(float)(dx * dx + dy * dy) / 2.0f);
        total += weights[k];
    }
    for (int k = 0; k < 25; k++) weights[k] /= total;

    MTLDevice *device = default_device();
    MTLLibrary *library = library_of(device, source);
    MTLComputePipelineState *pipeline = compute_pipeline(device, library, "blur");
    MTLCommandQueue *queue = mtl_device_new_command_queue(device);
    MTLBuffer *in =
        mtl_device_new_buffer(device, sizeof(float) * width * height, MTLResourceStorageModeShared);
    MTLBuffer *out =
        mtl_device_new_buffer(device, sizeof(float) * width * height, MTLResourceStorageModeShared);
    float *expected = malloc(sizeof(float) * width * height);
    if (!in || !out || !expected) return 1;
    float *pixels = mtl_buffer_contents(in);
    unsigned seed = 1;
    for (int i = 0; i < width * height; i++) pixels[i] = random_float(&seed) + 0.5f;

    Timing t = time_runs(run_once, &(Work){queue, pipeline, in, out, weights});
    double reference_times[3];
    for (int r = 0; r < 3; r++) {
        double t0 = now_ms();
        blur_reference(pixels, expected, weights, width, height);
        reference_times[r] = now_ms() - t0;
    }

    const float *result = mtl_buffer_contents(out);
    float worst = 0;
    for (int i = 0; i < width * height; i++) worst = fmaxf(worst, fabsf(result[i] - expected[i]));
    double reference_ms = median(reference_times, 3);
    printf("blur 5x5 of %dx%d: first run %.2f ms; steady %.2f ms, %.1fx a C loop on one core "
           "(%.2f ms)\n",
           width, height, t.first_ms, t.steady_ms, reference_ms / t.steady_ms, reference_ms);
    printf("largest difference from the C loop: %.2g\n", worst);

    free(expected);
    mtl_release(in), mtl_release(out), mtl_release(queue);
    mtl_release(pipeline), mtl_release(library), mtl_release(device);
    return worst > 1e-5f;
}
