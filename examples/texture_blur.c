// SPDX-License-Identifier: Apache-2.0
// texture_blur.c: an image in a texture, blurred by a kernel that reads it through a sampler and
// writes another texture; checked against a plain loop. The sampler does the edges, and the filter
// does half of the work: one bilinear sample between two texels is their weighted mean, so that
// nine samples make a 5x5 binomial blur.
#include "util.h"
#include <math.h>

static const char *source =
    "#include <metal_stdlib>\n"
    "using namespace metal;\n"
    "kernel void blur(texture2d<float> in [[texture(0)]],\n"
    "                 texture2d<float, access::write> out [[texture(1)]],\n"
    "                 sampler s [[sampler(0)]], uint2 p [[thread_position_in_grid]]) {\n"
    "    const float2 texel = 1.0f / float2(in.get_width(), in.get_height());\n"
    "    const float2 centre = (float2(p) + 0.5f) * texel;\n"
    "    // 1 4 6 4 1: the middle one, and the outer two at 1.2 texels from it\n"
    "    const float offsets[3] = {-1.2f, 0, 1.2f}, weights[3] = {5, 6, 5};\n"
    "    float4 sum = 0;\n"
    "    for (int y = 0; y < 3; y++)\n"
    "        for (int x = 0; x < 3; x++)\n"
    "            sum += weights[y] * weights[x] *\n"
    "                   in.sample(s, centre + float2(offsets[x], offsets[y]) * texel);\n"
    "    out.write(sum / 256, p);\n"
    "}\n";

enum { WIDTH = 1000, HEIGHT = 750 };

static int clamp_int(int v, int low, int high) { return v < low ? low : v > high ? high : v; }

// The largest difference between the blurred image and the loop that defines it, in 255ths.
static double check(const unsigned char *in, const unsigned char *out) {
    static const int weights[5] = {1, 4, 6, 4, 1};
    double worst = 0;
    for (int y = 0; y < HEIGHT; y++)
        for (int x = 0; x < WIDTH; x++)
            for (int c = 0; c < 4; c++) {
                int sum = 0;
                for (int j = -2; j <= 2; j++)
                    for (int i = -2; i <= 2; i++)
                        sum += weights[j + 2] * weights[i + 2] *
                               in[4 * (clamp_int(y + j, 0, HEIGHT - 1) * WIDTH +
                                       clamp_int(x + i, 0, WIDTH - 1)) +
                                  c];
                worst = fmax(worst, fabs(sum / 256.0 - out[4 * (y * WIDTH + x) + c]));
            }
    return worst;
}

int main(void) {
    MTLDevice *device = default_device();
    MTLLibrary *library = library_of(device, source);
    MTLComputePipelineState *pipeline = compute_pipeline(device, library, "blur");

    // An image: rings, with a corner that would show a wrong edge.
    unsigned char *pixels = malloc(4 * WIDTH * HEIGHT), *result = malloc(4 * WIDTH * HEIGHT);
    if (!pixels || !result) return 1;
    for (int y = 0; y < HEIGHT; y++)
        for (int x = 0; x < WIDTH; x++) {
            unsigned char *p = pixels + 4 * (y * WIDTH + x);
            double r = hypot(x - WIDTH / 2, y - HEIGHT / 2);
            p[0] = (unsigned char)(127.5 + 127.5 * sin(r * r / 300));
            p[1] = (unsigned char)(x * 255 / WIDTH);
            p[2] = (unsigned char)(y % 2 ? 255 : 0);
            p[3] = 255;
        }

    MTLTextureDescriptor d =
        mtl_texture_descriptor_2d(MTLPixelFormatRGBA8Unorm, WIDTH, HEIGHT, false);
    MTLTexture *in = mtl_device_new_texture(device, &d);
    d.usage = MTLTextureUsageShaderWrite;
    MTLTexture *out = mtl_device_new_texture(device, &d);
    MTLSamplerState *sampler = mtl_device_new_sampler_state(
        device, &(MTLSamplerDescriptor){.min_filter = MTLSamplerMinMagFilterLinear,
                                        .mag_filter = MTLSamplerMinMagFilterLinear});
    require(in, NULL, "texture");
    require(out, NULL, "texture");
    require(sampler, NULL, "sampler");
    const MTLRegion all = mtl_region_make_2d(0, 0, WIDTH, HEIGHT);
    mtl_texture_replace_region(in, all, 0, pixels, 4 * WIDTH);

    MTLCommandQueue *queue = mtl_device_new_command_queue(device);
    MTLCommandBuffer *commands = mtl_command_queue_command_buffer(queue);
    MTLComputeCommandEncoder *encoder = mtl_command_buffer_compute_command_encoder(commands);
    mtl_compute_command_encoder_set_compute_pipeline_state(encoder, pipeline);
    mtl_compute_command_encoder_set_texture(encoder, in, 0);
    mtl_compute_command_encoder_set_texture(encoder, out, 1);
    mtl_compute_command_encoder_set_sampler_state(encoder, sampler, 0);
    mtl_compute_command_encoder_dispatch_threads(encoder, mtl_size_make(WIDTH, HEIGHT, 1),
                                                 mtl_size_make(16, 16, 1));
    mtl_compute_command_encoder_end_encoding(encoder);
    complete(commands);

    mtl_texture_get_bytes(out, result, 4 * WIDTH, all, 0);
    double worst = check(pixels, result);
    printf("blurred %d x %d texels in %.2f ms, largest difference %.3f of 255\n", WIDTH, HEIGHT,
           1e3 * (mtl_command_buffer_gpu_end_time(commands) -
                  mtl_command_buffer_gpu_start_time(commands)),
           worst);
    free(pixels), free(result);
    mtl_release(commands), mtl_release(queue), mtl_release(sampler), mtl_release(in);
    mtl_release(out), mtl_release(pipeline), mtl_release(library);
    mtl_release(device);
    return worst > 0.51; // half a step of rounding
}
