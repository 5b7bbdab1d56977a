// SPDX-License-Identifier: Apache-2.0
// msaa.c: the same star with one sample a pixel (left) and with four that are resolved (right),
// both enlarged so that the edges are seen. A PNG file.
//
//     msaa [FILE.png]
#include "scene.h"

enum { SMALL = 96, ZOOM = 4, SIDE = SMALL * ZOOM, GAP = 8, WIDTH = 2 * SIDE + GAP, RAYS = 18 };

static const char source[] =
    "#include <metal_stdlib>\n"
    "using namespace metal;\n"
    "struct Ray { float4 place [[position]]; float3 color; };\n"
    "// Thin triangles around the centre.\n"
    "vertex Ray ray_vertex(uint i [[vertex_id]], uint n [[instance_id]], constant uint &rays "
    "[[buffer(0)]]) {\n"
    "    float a = (float(n) + 0.13f) / float(rays) * 2 * M_PI_F, wide = 0.5f * M_PI_F / "
    "float(rays);\n"
    "    float2 p = i == 0 ? float2(0) : float2(cos(a + (i == 1 ? -wide : wide)), sin(a + (i == 1 "
    "? -wide : wide))) * 0.94f;\n"
    "    float3 c = 0.55f + 0.45f * cos(a + float3(0, 2.1f, 4.2f));\n"
    "    return {float4(p, 0, 1), i == 0 ? float3(1) : c};\n"
    "}\n"
    "fragment float4 ray(Ray in [[stage_in]]) { return float4(in.color, 1); }\n"
    "struct Shown { float4 place [[position]]; float2 uv; };\n"
    "vertex Shown enlarge_vertex(uint i [[vertex_id]]) {\n"
    "    float2 uv = float2(i & 1, i >> 1);\n"
    "    return {float4(uv * 2 - 1, 0, 1), float2(uv.x, 1 - uv.y)};\n"
    "}\n"
    "fragment float4 enlarge(Shown in [[stage_in]], texture2d<float> small [[texture(0)]]) {\n"
    "    constexpr sampler nearest(filter::nearest);\n"
    "    return small.sample(nearest, in.uv);\n"
    "}\n";

// The star with that many samples; the picture has one in any case.
static MTLTexture *draw_star(MTLDevice *device, MTLLibrary *library, MTLCommandBuffer *commands,
                             size_t samples) {
    const MTLPixelFormat format = MTLPixelFormatRGBA8Unorm_sRGB;
    MTLTexture *star = make_target(device, format, SMALL, SMALL, 1, MTLStorageModeShared);
    MTLTexture *each =
        samples > 1 ? make_target(device, format, SMALL, SMALL, samples, MTLStorageModeMemoryless)
                    : NULL;
    MTLRenderPipelineState *pipeline =
        make_pipeline(device, library, "ray_vertex", "ray",
                      (MTLRenderPipelineDescriptor){.raster_sample_count = samples,
                                                    .color_attachments[0].pixel_format = format});
    MTLRenderPassDescriptor pass = mtl_render_pass_descriptor_make();
    MTLRenderPassColorAttachmentDescriptor *color = &pass.color_attachments[0];
    color->texture = each ? each : star;
    color->load_action = MTLLoadActionClear;
    color->clear_color = mtl_clear_color_make(0.015, 0.02, 0.04, 1);
    if (each) { // the samples live in tile memory only
        color->store_action = MTLStoreActionMultisampleResolve;
        color->resolve_texture = star;
    }
    MTLRenderCommandEncoder *encoder = mtl_command_buffer_render_command_encoder(commands, &pass);
    require(encoder, NULL, "encoder");
    mtl_render_command_encoder_set_render_pipeline_state(encoder, pipeline);
    mtl_render_command_encoder_set_vertex_bytes(encoder, &(uint32_t){RAYS}, 4, 0);
    mtl_render_command_encoder_draw_primitives_instanced(encoder, MTLPrimitiveTypeTriangle, 0, 3,
                                                         RAYS, 0);
    mtl_render_command_encoder_end_encoding(encoder);
    mtl_release(pipeline), mtl_release(each);
    return star;
}

// How many colours a picture has: smooth edges have many.
static size_t count_colors(MTLTexture *texture) {
    unsigned char *pixels = read_pixels(texture, SMALL, SMALL), *seen = calloc(1 << 24, 1);
    require(seen, NULL, "memory");
    size_t n = 0;
    for (size_t i = 0; i < SMALL * SMALL; i++) {
        const unsigned char *p = pixels + 4 * i;
        size_t c = (size_t)p[0] << 16 | (size_t)p[1] << 8 | p[2];
        n += !seen[c];
        seen[c] = 1;
    }
    free(pixels), free(seen);
    return n;
}

int main(int argc, char **argv) {
    MTLDevice *device = default_device();
    MTLCommandQueue *queue = mtl_device_new_command_queue(device);
    MTLLibrary *library = library_of(device, source);
    MTLCommandBuffer *commands = mtl_command_queue_command_buffer(queue);
    MTLTexture *stars[2] = {draw_star(device, library, commands, 1),
                            draw_star(device, library, commands, 4)};

    const MTLPixelFormat format = MTLPixelFormatRGBA8Unorm_sRGB;
    MTLTexture *picture = make_target(device, format, WIDTH, SIDE, 1, MTLStorageModeShared);
    MTLRenderPipelineState *enlarge =
        make_pipeline(device, library, "enlarge_vertex", "enlarge",
                      (MTLRenderPipelineDescriptor){.color_attachments[0].pixel_format = format});
    MTLRenderPassDescriptor pass = mtl_render_pass_descriptor_make();
    pass.color_attachments[0].texture = picture;
    pass.color_attachments[0].load_action = MTLLoadActionClear;
    pass.color_attachments[0].clear_color = mtl_clear_color_make(1, 1, 1, 1);
    MTLRenderCommandEncoder *encoder = mtl_command_buffer_render_command_encoder(commands, &pass);
    require(encoder, NULL, "encoder");
    mtl_render_command_encoder_set_render_pipeline_state(encoder, enlarge);
    for (int i = 0; i < 2; i++) {
        mtl_render_command_encoder_set_viewport(
            encoder, (MTLViewport){i * (SIDE + GAP), 0, SIDE, SIDE, 0, 1});
        mtl_render_command_encoder_set_fragment_texture(encoder, stars[i], 0);
        mtl_render_command_encoder_draw_primitives(encoder, MTLPrimitiveTypeTriangleStrip, 0, 4);
    }
    mtl_render_command_encoder_end_encoding(encoder);
    finish(commands);

    size_t hard = count_colors(stars[0]), smooth = count_colors(stars[1]);
    printf("colours: %zu with one sample, %zu with four\n", hard, smooth);
    if (argc > 1) {
        unsigned char *pixels = read_pixels(picture, WIDTH, SIDE);
        write_png(argv[1], pixels, WIDTH, SIDE);
        free(pixels);
    }
    mtl_release(picture), mtl_release(enlarge), mtl_release(stars[0]), mtl_release(stars[1]);
    mtl_release(library), mtl_release(queue), mtl_release(device);
    return smooth <= hard;
}
