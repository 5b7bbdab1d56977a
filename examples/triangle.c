// SPDX-License-Identifier: Apache-2.0
// triangle.c: the first picture: a triangle with a colour at each corner, drawn into a texture with
// four samples per pixel, resolved, and written as a PPM file.
//
//     triangle [FILE]
#include "util.h"

enum { WIDTH = 512, HEIGHT = 512 };

static const char source[] =
    "#include <metal_stdlib>\n"
    "using namespace metal;\n"
    "struct In { float2 place [[attribute(0)]]; float3 color [[attribute(1)]]; };\n"
    "struct Out { float4 place [[position]]; float3 color; };\n"
    "vertex Out corners(In in [[stage_in]]) { return {float4(in.place, 0, 1), in.color}; }\n"
    "fragment float4 colors(Out in [[stage_in]]) { return float4(in.color, 1); }\n";

static MTLRenderPipelineState *make_pipeline(MTLDevice *device) {
    MTLError *error = NULL;
    MTLLibrary *library = mtl_device_new_library_with_source(device, source, NULL, &error);
    require(library, error, "library");
    MTLFunction *vertex = mtl_library_new_function(library, "corners");
    MTLFunction *fragment = mtl_library_new_function(library, "colors");
    MTLRenderPipelineState *pipeline = mtl_device_new_render_pipeline_state(
        device,
        &(MTLRenderPipelineDescriptor){
            .vertex_function = vertex,
            .fragment_function = fragment,
            .raster_sample_count = 4,
            .vertex_descriptor =
                &(MTLVertexDescriptor){
                    .attributes[0] = {.format = MTLVertexFormatFloat2},
                    .attributes[1] = {.format = MTLVertexFormatFloat3, .offset = 8},
                    .layouts[0] = {.stride = 20}},
            .color_attachments[0].pixel_format = MTLPixelFormatRGBA8Unorm},
        &error);
    require(pipeline, error, "pipeline");
    mtl_release(fragment), mtl_release(vertex), mtl_release(library);
    return pipeline;
}

int main(int argc, char **argv) {
    MTLDevice *device = mtl_create_system_default_device();
    require(device, NULL, "device");
    MTLCommandQueue *queue = mtl_device_new_command_queue(device);
    MTLRenderPipelineState *pipeline = make_pipeline(device);
    const float corners[] = {0,     0.8f,  1, 0, 0, // x, y, colour
                             -0.8f, -0.8f, 0, 1, 0, //
                             0.8f,  -0.8f, 0, 0, 1};

    MTLTextureDescriptor d =
        mtl_texture_descriptor_2d(MTLPixelFormatRGBA8Unorm, WIDTH, HEIGHT, false);
    d.usage = MTLTextureUsageRenderTarget;
    MTLTexture *picture = mtl_device_new_texture(device, &d);
    d.texture_type = MTLTextureType2DMultisample;
    d.sample_count = 4;
    d.storage_mode = MTLStorageModeMemoryless; // the samples never leave the tiles
    MTLTexture *samples = mtl_device_new_texture(device, &d);
    require(picture, NULL, "texture");
    require(samples, NULL, "texture of samples");

    MTLRenderPassDescriptor pass = mtl_render_pass_descriptor_make();
    pass.color_attachments[0].texture = samples;
    pass.color_attachments[0].resolve_texture = picture;
    pass.color_attachments[0].load_action = MTLLoadActionClear;
    pass.color_attachments[0].store_action = MTLStoreActionMultisampleResolve;
    pass.color_attachments[0].clear_color = mtl_clear_color_make(0.1, 0.1, 0.12, 1);
    MTLCommandBuffer *commands = mtl_command_queue_command_buffer(queue);
    MTLRenderCommandEncoder *encoder = mtl_command_buffer_render_command_encoder(commands, &pass);
    require(encoder, NULL, "encoder");
    mtl_render_command_encoder_set_render_pipeline_state(encoder, pipeline);
    mtl_render_command_encoder_set_vertex_bytes(encoder, corners, sizeof corners, 0);
    mtl_render_command_encoder_draw_primitives(encoder, MTLPrimitiveTypeTriangle, 0, 3);
    mtl_render_command_encoder_end_encoding(encoder);
    mtl_command_buffer_commit(commands);
    mtl_command_buffer_wait_until_completed(commands);
    require_completed(commands);

    unsigned char *pixels = malloc(4 * WIDTH * HEIGHT);
    require(pixels, NULL, "memory");
    mtl_texture_get_bytes(picture, pixels, 4 * WIDTH, mtl_region_make_2d(0, 0, WIDTH, HEIGHT), 0);
    const unsigned char *middle = pixels + 4 * (HEIGHT / 2 * WIDTH + WIDTH / 2);
    size_t covered = 0;
    for (size_t i = 0; i < WIDTH * HEIGHT; i++)
        covered += pixels[4 * i] + pixels[4 * i + 1] + pixels[4 * i + 2] > 200;
    printf("middle: %d %d %d, covered: %.1f %%\n", middle[0], middle[1], middle[2],
           100.0 * (double)covered / (WIDTH * HEIGHT));
    if (argc > 1) write_ppm(argv[1], pixels, WIDTH, HEIGHT);
    // The corners sum to one colour everywhere; 1.6 x 1.6 / 2 of 2 x 2 is 32 %.
    int wrong = middle[0] + middle[1] + middle[2] < 253 || covered < WIDTH * HEIGHT * 31 / 100 ||
                covered > WIDTH * HEIGHT * 33 / 100;
    free(pixels);
    mtl_release(commands), mtl_release(samples), mtl_release(picture), mtl_release(pipeline);
    mtl_release(queue), mtl_release(device);
    return wrong;
}
