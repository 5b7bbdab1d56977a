// SPDX-License-Identifier: Apache-2.0
// window.c: a knot of light that turns, in a window if there is a display (X11), else off-screen.
// Draws until the window is closed or so many frames are done; the last one may become a PNG file.
//
//     window [FRAMES] [FILE.png]
#include "scene.h"

static const char source[] =
    "#include <metal_stdlib>\n"
    "using namespace metal;\n"
    "struct Frame { float2 size; float time; };\n"
    "struct Out { float4 place [[position]]; float2 p; };\n"
    "vertex Out whole(uint i [[vertex_id]], constant Frame &f [[buffer(0)]]) {\n"
    "    float2 p = float2((i << 1) & 2, i & 2) * 2 - 1;\n"
    "    return {float4(p, 0, 1), p * f.size / min(f.size.x, f.size.y)};\n"
    "}\n"
    "fragment float4 knot(Out in [[stage_in]], constant Frame &f [[buffer(0)]]) {\n"
    "    float3 sum = float3(0.01f, 0.012f, 0.03f);\n"
    "    for (int i = 0; i < 40; i++) {\n"
    "        float a = f.time + float(i) * 0.1571f, r = 0.48f + 0.22f * cos(3 * a - f.time);\n"
    "        float2 at = r * float2(cos(2 * a), sin(2 * a));\n"
    "        float3 c = 0.5f + 0.5f * cos(a + float3(0, 2.1f, 4.2f));\n"
    "        sum += c * 0.0011f / (0.0012f + distance_squared(in.p, at));\n"
    "    }\n"
    "    return float4(sum / (0.6f + sum), 1);\n"
    "}\n";

typedef struct Frame {
    float width, height, time, unused;
} Frame;

static void draw(CAMetalLayer *layer, MTLCommandQueue *queue, MTLRenderPipelineState *pipeline,
                 int number, const char *picture) {
    MTLDrawable *drawable = ca_metal_layer_next_drawable(layer); // waits for one that is free
    require(drawable, NULL, "drawable");
    MTLTexture *texture = ca_metal_drawable_texture(drawable);
    size_t width = mtl_texture_width(texture), height = mtl_texture_height(texture);
    MTLRenderPassDescriptor pass = mtl_render_pass_descriptor_make();
    pass.color_attachments[0].texture = texture;
    MTLCommandBuffer *commands = mtl_command_queue_command_buffer(queue);
    MTLRenderCommandEncoder *encoder = mtl_command_buffer_render_command_encoder(commands, &pass);
    require(encoder, NULL, "encoder");
    Frame frame = {(float)width, (float)height, (float)number * 0.02f, 0};
    mtl_render_command_encoder_set_render_pipeline_state(encoder, pipeline);
    mtl_render_command_encoder_set_vertex_bytes(encoder, &frame, sizeof frame, 0);
    mtl_render_command_encoder_set_fragment_bytes(encoder, &frame, sizeof frame, 0);
    mtl_render_command_encoder_draw_primitives(encoder, MTLPrimitiveTypeTriangle, 0, 3);
    mtl_render_command_encoder_end_encoding(encoder);
    mtl_command_buffer_present_drawable_after_minimum_duration(commands, drawable, 1.0 / 60);
    mtl_command_buffer_commit(commands);
    if (picture) {
        mtl_command_buffer_wait_until_completed(commands);
        require_completed(commands);
        unsigned char *pixels = read_pixels(texture, width, height);
        for (size_t i = 0; i < width * height; i++) { // blue comes first in a layer
            unsigned char blue = pixels[4 * i];
            pixels[4 * i] = pixels[4 * i + 2];
            pixels[4 * i + 2] = blue;
        }
        write_png(picture, pixels, (uint32_t)width, (uint32_t)height);
        free(pixels);
    }
    mtl_release(commands), mtl_release(drawable);
}

int main(int argc, char **argv) {
    int frames = argc > 1 ? atoi(argv[1]) : 30;
    MTLDevice *device = default_device();
    MTLCommandQueue *queue = mtl_device_new_command_queue(device);
    MTLLibrary *library = library_of(device, source);
    CAMetalLayer *layer = ca_metal_layer_new();
    ca_metal_layer_set_device(layer, device);
    ca_metal_layer_set_pixel_format(layer, MTLPixelFormatBGRA8Unorm_sRGB);
    ca_metal_layer_set_drawable_size(layer, (CGSize){480, 360});
    MTLRenderPipelineState *pipeline =
        make_pipeline(device, library, "whole", "knot",
                      (MTLRenderPipelineDescriptor){.color_attachments[0].pixel_format =
                                                        ca_metal_layer_pixel_format(layer)});
    MTLError *error = NULL;
    bool window = ca_metal_layer_open_window(layer, "A knot of light", &error);
    if (!window) printf("off-screen: %s\n", mtl_error_localized_description(error));
    int n = 0;
    double begin = now_ms();
    for (; n < frames && (!window || ca_metal_layer_poll_window(layer)); n++)
        draw(layer, queue, pipeline, n, n == frames - 1 && argc > 2 ? argv[2] : NULL);
    printf("%d frames in %.0f ms\n", n, now_ms() - begin);
    mtl_release(error), mtl_release(pipeline), mtl_release(layer), mtl_release(library);
    mtl_release(queue), mtl_release(device);
    return n == 0 && frames > 0;
}
