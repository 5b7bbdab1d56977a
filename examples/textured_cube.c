// SPDX-License-Identifier: Apache-2.0
// textured_cube.c: six instances of a quad are the faces of a cube; a checkered texture with
// mipmaps, a depth test, a light. Two cubes that run through each other; a PPM file.
//
//     textured_cube [FILE]
#include <math.h>
#include "util.h"

enum { WIDTH = 640, HEIGHT = 480, TEXTURE = 64 };

static const char source[] =
    "#include <metal_stdlib>\n"
    "using namespace metal;\n"
    "struct Cube { float4x4 model, camera; float4 tint; };\n"
    "struct Out { float4 place [[position]]; float3 normal; float2 uv; };\n"
    "vertex Out face(uint i [[vertex_id]], uint n [[instance_id]],\n"
    "                constant Cube &cube [[buffer(0)]]) {\n"
    "    float2 uv = float2(i & 1, i >> 1);\n"
    "    float s = n & 1 ? -1 : 1; // two faces for each axis\n"
    "    float3 p = float3((uv.x * 2 - 1) * s, uv.y * 2 - 1, s), normal = float3(0, 0, s);\n"
    "    if (n / 2 == 1) { p = p.zxy; normal = normal.zxy; }\n"
    "    if (n / 2 == 2) { p = p.yzx; normal = normal.yzx; }\n"
    "    return {cube.camera * cube.model * float4(p, 1), (cube.model * float4(normal, 0)).xyz, "
    "uv};\n"
    "}\n"
    "fragment float4 lit(Out in [[stage_in]], constant Cube &cube [[buffer(0)]],\n"
    "                    texture2d<float> board [[texture(0)]], sampler s [[sampler(0)]]) {\n"
    "    float light = 0.25 + 0.75 * saturate(dot(normalize(in.normal), normalize(float3(1, 2, "
    "3))));\n"
    "    return float4(board.sample(s, in.uv * 2).rgb * cube.tint.rgb * light, 1);\n"
    "}\n";

typedef struct Matrix {
    float at[4][4]; // columns, as in Metal
} Matrix;

static Matrix rotation(float around_x, float around_y, float x, float scale) {
    float a = cosf(around_x), b = sinf(around_x), c = cosf(around_y), d = sinf(around_y);
    return (Matrix){{{c * scale, b * d * scale, -a * d * scale, 0},
                     {0, a * scale, b * scale, 0},
                     {d * scale, -b * c * scale, a * c * scale, 0},
                     {x, 0, 0, 1}}};
}

// Looks along -z from z = 5; depth 0 to 1.
static Matrix camera(void) {
    float near = 1, far = 20, f = 2, k = far / (near - far);
    return (Matrix){
        {{f * HEIGHT / WIDTH, 0, 0, 0}, {0, f, 0, 0}, {0, 0, k, -1}, {0, 0, near * k - 5 * k, 5}}};
}

static MTLTexture *make_board(MTLDevice *device, MTLCommandQueue *queue) {
    MTLTextureDescriptor d =
        mtl_texture_descriptor_2d(MTLPixelFormatRGBA8Unorm, TEXTURE, TEXTURE, true);
    d.usage = MTLTextureUsageShaderRead;
    MTLTexture *board = mtl_device_new_texture(device, &d);
    require(board, NULL, "texture");
    static uint32_t texels[TEXTURE * TEXTURE];
    for (int i = 0; i < TEXTURE * TEXTURE; i++)
        texels[i] = (i / 8 + i / (8 * TEXTURE)) % 2 ? 0xffffffff : 0xff606060;
    mtl_texture_replace_region(board, mtl_region_make_2d(0, 0, TEXTURE, TEXTURE), 0, texels,
                               4 * TEXTURE);
    MTLCommandBuffer *commands = mtl_command_queue_command_buffer(queue);
    MTLBlitCommandEncoder *blit = mtl_command_buffer_blit_command_encoder(commands);
    mtl_blit_command_encoder_generate_mipmaps(blit, board);
    mtl_blit_command_encoder_end_encoding(blit);
    mtl_command_buffer_commit(commands);
    mtl_release(commands);
    return board;
}

static MTLRenderPipelineState *make_pipeline(MTLDevice *device) {
    MTLError *error = NULL;
    MTLLibrary *library = library_of(device, source);
    MTLRenderPipelineDescriptor d = {.vertex_function = mtl_library_new_function(library, "face"),
                                     .fragment_function = mtl_library_new_function(library, "lit"),
                                     .color_attachments[0].pixel_format =
                                         MTLPixelFormatRGBA8Unorm_sRGB,
                                     .depth_attachment_pixel_format = MTLPixelFormatDepth32Float};
    MTLRenderPipelineState *pipeline = mtl_device_new_render_pipeline_state(device, &d, &error);
    require(pipeline, error, "pipeline");
    mtl_release(d.vertex_function), mtl_release(d.fragment_function), mtl_release(library);
    return pipeline;
}

static MTLTexture *make_target(MTLDevice *device, MTLPixelFormat format, MTLStorageMode storage) {
    MTLTextureDescriptor d = mtl_texture_descriptor_2d(format, WIDTH, HEIGHT, false);
    d.usage = MTLTextureUsageRenderTarget;
    d.storage_mode = storage;
    MTLTexture *texture = mtl_device_new_texture(device, &d);
    require(texture, NULL, "target");
    return texture;
}

static void draw_cube(MTLRenderCommandEncoder *encoder, Matrix model, const float *tint) {
    struct {
        Matrix model, camera;
        float tint[4];
    } cube = {model, camera(), {tint[0], tint[1], tint[2], 1}};
    mtl_render_command_encoder_set_vertex_bytes(encoder, &cube, sizeof cube, 0);
    mtl_render_command_encoder_set_fragment_bytes(encoder, &cube, sizeof cube, 0);
    mtl_render_command_encoder_draw_primitives_instanced(encoder, MTLPrimitiveTypeTriangleStrip, 0,
                                                         4, 6, 0);
}

int main(int argc, char **argv) {
    MTLDevice *device = default_device();
    MTLCommandQueue *queue = mtl_device_new_command_queue(device);
    MTLRenderPipelineState *pipeline = make_pipeline(device);
    MTLTexture *board = make_board(device, queue);
    MTLTexture *picture = make_target(device, MTLPixelFormatRGBA8Unorm_sRGB, MTLStorageModeShared);
    MTLTexture *depth = make_target(device, MTLPixelFormatDepth32Float, MTLStorageModeMemoryless);
    MTLSamplerState *sampler = mtl_device_new_sampler_state(
        device, &(MTLSamplerDescriptor){.min_filter = MTLSamplerMinMagFilterLinear,
                                        .mag_filter = MTLSamplerMinMagFilterLinear,
                                        .mip_filter = MTLSamplerMipFilterLinear,
                                        .s_address_mode = MTLSamplerAddressModeRepeat,
                                        .t_address_mode = MTLSamplerAddressModeRepeat});
    require(sampler, NULL, "sampler");
    MTLDepthStencilState *nearer = mtl_device_new_depth_stencil_state(
        device, &(MTLDepthStencilDescriptor){.depth_compare_function = MTLCompareFunctionLess,
                                             .depth_write_enabled = true});
    require(nearer, NULL, "depth state");

    MTLRenderPassDescriptor pass = mtl_render_pass_descriptor_make();
    pass.color_attachments[0].texture = picture;
    pass.color_attachments[0].load_action = MTLLoadActionClear;
    pass.color_attachments[0].clear_color = mtl_clear_color_make(0.02, 0.03, 0.05, 1);
    pass.depth_attachment.texture = depth; // cleared to 1, not stored
    MTLCommandBuffer *commands = mtl_command_queue_command_buffer(queue);
    MTLRenderCommandEncoder *encoder = mtl_command_buffer_render_command_encoder(commands, &pass);
    require(encoder, NULL, "encoder");
    mtl_render_command_encoder_set_render_pipeline_state(encoder, pipeline);
    mtl_render_command_encoder_set_depth_stencil_state(encoder, nearer);
    mtl_render_command_encoder_set_cull_mode(encoder, MTLCullModeBack);
    mtl_render_command_encoder_set_front_facing_winding(encoder, MTLWindingCounterClockwise);
    mtl_render_command_encoder_set_fragment_texture(encoder, board, 0);
    mtl_render_command_encoder_set_fragment_sampler_state(encoder, sampler, 0);
    draw_cube(encoder, rotation(0.5f, 0.6f, -0.4f, 0.9f), (const float[]){1, 0.55f, 0.2f});
    draw_cube(encoder, rotation(0.3f, -0.7f, 0.9f, 0.6f), (const float[]){0.25f, 0.6f, 1});
    mtl_render_command_encoder_end_encoding(encoder);
    complete(commands);

    unsigned char *pixels = malloc(4 * WIDTH * HEIGHT);
    require(pixels, NULL, "memory");
    mtl_texture_get_bytes(picture, pixels, 4 * WIDTH, mtl_region_make_2d(0, 0, WIDTH, HEIGHT), 0);
    size_t orange = 0, blue = 0;
    for (size_t i = 0; i < WIDTH * HEIGHT; i++) {
        orange += pixels[4 * i] > pixels[4 * i + 2] + 20;
        blue += pixels[4 * i + 2] > pixels[4 * i] + 30;
    }
    printf("orange: %zu pixels, blue: %zu pixels\n", orange, blue);
    if (argc > 1) write_ppm(argv[1], pixels, WIDTH, HEIGHT);
    free(pixels);
    mtl_release(commands), mtl_release(nearer), mtl_release(sampler), mtl_release(depth);
    mtl_release(picture), mtl_release(board), mtl_release(pipeline), mtl_release(queue);
    mtl_release(device);
    return orange < 20000 || blue < 10000;
}
