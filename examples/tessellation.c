// SPDX-License-Identifier: Apache-2.0
// tessellation.c: a landscape of 12 x 12 patches. A kernel gives every edge a factor by its
// distance from the eye, the same on both sides of an edge, so that no gaps open; the tessellator
// cuts the patches; the vertex function lifts the points to the height of the land. Drawn twice:
// filled, and as lines over the right half, where one sees the triangles become larger with the
// distance.
//
//     tessellation [FILE.png]
#include "scene.h"

enum { WIDTH = 960, HEIGHT = 540, SIDE = 12, PATCHES = SIDE * SIDE };

static const char source[] =
    "#include <metal_stdlib>\n"
    "using namespace metal;\n"
    "struct View { float4x4 camera; float4 eye; uint side; float shade; };\n"
    "float noise(float2 p) {\n"
    "    float2 i = floor(p), f = fract(p), s = f * f * f * (f * (f * 6 - 15) + 10);\n"
    "    float4 n = float4(0, 1, 57, 58) + i.x + i.y * 57;\n"
    "    n = fract(sin(n * 12.9898) * 43758.547);\n"
    "    return mix(mix(n.x, n.y, s.x), mix(n.z, n.w, s.x), s.y);\n"
    "}\n"
    "float height(float2 p) {\n"
    "    float h = 0, a = 0.55;\n"
    "    for (int i = 0; i < 5; i++, a *= 0.45, p = p * 2.1 + 7.3) h += a * noise(p);\n"
    "    return max(h * h * 2.6, 0.42);\n" // the lake
    "}\n"
    "float2 corner(uint patch, uint side, float2 uv) {\n"
    "    return (float2(patch % side, patch / side) + uv) / float(side) * 8 - 4;\n"
    "}\n"
    "kernel void factors(device MTLQuadTessellationFactorsHalf *out [[buffer(0)]],\n"
    "                    constant View &view [[buffer(1)]], uint i [[thread_position_in_grid]]) {\n"
    "    const float2 middle[4] = {{0, 0.5}, {0.5, 0}, {1, 0.5}, {0.5, 1}};\n"
    "    float most[2] = {0, 0};\n"
    "    for (int k = 0; k < 4; k++) {\n"
    "        float2 p = corner(i, view.side, middle[k]);\n"
    "        float f = clamp(70 / distance(float3(p.x, 0.6, p.y), view.eye.xyz), 2.0f, 64.0f);\n"
    "        out[i].edgeTessellationFactor[k] = f;\n"
    "        most[1 - k % 2] = max(most[1 - k % 2], float(half(f)));\n"
    "    }\n"
    "    out[i].insideTessellationFactor[0] = most[0];\n"
    "    out[i].insideTessellationFactor[1] = most[1];\n"
    "}\n"
    "struct Out { float4 place [[position]]; float3 at; };\n"
    "[[patch(quad, 4)]]\n"
    "vertex Out land(float2 uv [[position_in_patch]], uint patch [[patch_id]],\n"
    "                constant View &view [[buffer(0)]]) {\n"
    "    float2 p = corner(patch, view.side, uv);\n"
    "    float3 at = float3(p.x, height(p), p.y);\n"
    "    return {view.camera * float4(at, 1), at};\n"
    "}\n"
    "fragment float4 lit(Out in [[stage_in]], constant View &view [[buffer(0)]]) {\n"
    "    float2 p = in.at.xz;\n"
    "    const float e = 0.01;\n"
    "    float3 n = normalize(float3(height(p - float2(e, 0)) - height(p + float2(e, 0)), 2 * e,\n"
    "                                height(p - float2(0, e)) - height(p + float2(0, e))));\n"
    "    float h = in.at.y;\n"
    "    float3 ground = mix(float3(0.13, 0.3, 0.09), float3(0.35, 0.31, 0.27),\n"
    "                        smoothstep(0.55, 0.8, h));\n"
    "    ground = mix(ground, float3(0.9), smoothstep(0.85, 1.05, h) * smoothstep(0.5, 0.8, "
    "n.y));\n"
    "    if (h < 0.4205) ground = float3(0.04, 0.13, 0.22);\n"
    "    float light = 0.2 + saturate(dot(n, normalize(float3(-0.6, 0.7, 0.3))));\n"
    "    float far = saturate(distance(in.at, view.eye.xyz) / 11);\n"
    "    return float4(mix(ground * light, float3(0.55, 0.68, 0.85), far * far) * view.shade, 1);\n"
    "}\n";

typedef struct View {
    Matrix camera;
    float eye[4];
    uint32_t side;
    float shade;
    uint32_t unused[2];
} View;

int main(int argc, char **argv) {
    MTLDevice *device = default_device();
    MTLCommandQueue *queue = mtl_device_new_command_queue(device);
    MTLLibrary *library = library_of(device, source);
    const MTLPixelFormat format = MTLPixelFormatRGBA8Unorm_sRGB;
    MTLRenderPipelineState *pipeline = make_pipeline(
        device, library, "land", "lit",
        (MTLRenderPipelineDescriptor){
            .color_attachments[0].pixel_format = format,
            .depth_attachment_pixel_format = MTLPixelFormatDepth32Float,
            .raster_sample_count = 4,
            .max_tessellation_factor = 64,
            .tessellation_partition_mode = MTLTessellationPartitionModeFractionalEven,
            .tessellation_factor_step_function = MTLTessellationFactorStepFunctionPerPatch});
    MTLError *error = NULL;
    MTLFunction *kernel = mtl_library_new_function(library, "factors");
    MTLComputePipelineState *factors =
        mtl_device_new_compute_pipeline_state(device, kernel, &error);
    require(factors, error, "kernel");
    MTLBuffer *buffer = mtl_device_new_buffer(
        device, PATCHES * sizeof(MTLQuadTessellationFactorsHalf), MTLResourceStorageModeShared);
    MTLTexture *picture = make_target(device, format, WIDTH, HEIGHT, 1, MTLStorageModeShared);
    MTLTexture *samples = make_target(device, format, WIDTH, HEIGHT, 4, MTLStorageModeMemoryless);
    MTLTexture *depth =
        make_target(device, MTLPixelFormatDepth32Float, WIDTH, HEIGHT, 4, MTLStorageModeMemoryless);
    MTLDepthStencilState *nearer = mtl_device_new_depth_stencil_state(
        device, &(MTLDepthStencilDescriptor){.depth_compare_function = MTLCompareFunctionLessEqual,
                                             .depth_write_enabled = true});
    require(buffer && nearer ? device : NULL, NULL, "objects");

    Vec3 eye = {0.3f, 1.9f, 4.6f};
    View view = {.camera = matrix_mul(matrix_perspective(1.6f, (float)WIDTH / HEIGHT, 0.1f, 30),
                                      matrix_look(eye, (Vec3){0, 0.35f, 0})),
                 .eye = {eye.x, eye.y, eye.z, 1},
                 .side = SIDE,
                 .shade = 1};
    MTLCommandBuffer *commands = mtl_command_queue_command_buffer(queue);
    MTLComputeCommandEncoder *compute = mtl_command_buffer_compute_command_encoder(commands);
    mtl_compute_command_encoder_set_compute_pipeline_state(compute, factors);
    mtl_compute_command_encoder_set_buffer(compute, buffer, 0, 0);
    mtl_compute_command_encoder_set_bytes(compute, &view, sizeof view, 1);
    mtl_compute_command_encoder_dispatch_threads(compute, mtl_size_make(PATCHES, 1, 1),
                                                 mtl_size_make(48, 1, 1));
    mtl_compute_command_encoder_end_encoding(compute);

    MTLRenderPassDescriptor pass = mtl_render_pass_descriptor_make();
    pass.color_attachments[0].texture = samples;
    pass.color_attachments[0].resolve_texture = picture;
    pass.color_attachments[0].store_action = MTLStoreActionMultisampleResolve;
    pass.color_attachments[0].load_action = MTLLoadActionClear;
    pass.color_attachments[0].clear_color = mtl_clear_color_make(0.55, 0.68, 0.85, 1);
    pass.depth_attachment.texture = depth;
    MTLRenderCommandEncoder *encoder = mtl_command_buffer_render_command_encoder(commands, &pass);
    require(encoder, NULL, "encoder");
    mtl_render_command_encoder_set_render_pipeline_state(encoder, pipeline);
    mtl_render_command_encoder_set_depth_stencil_state(encoder, nearer);
    mtl_render_command_encoder_set_tessellation_factor_buffer(encoder, buffer, 0, 0);
    mtl_render_command_encoder_set_vertex_bytes(encoder, &view, sizeof view, 0);
    mtl_render_command_encoder_set_fragment_bytes(encoder, &view, sizeof view, 0);
    mtl_render_command_encoder_draw_patches(encoder, 4, 0, PATCHES, NULL, 0, 1, 0);
    view.shade = 0.25f; // the triangles as dark lines, on the right, a little nearer
    mtl_render_command_encoder_set_fragment_bytes(encoder, &view, sizeof view, 0);
    mtl_render_command_encoder_set_triangle_fill_mode(encoder, MTLTriangleFillModeLines);
    mtl_render_command_encoder_set_depth_bias(encoder, -8, -1, 0);
    mtl_render_command_encoder_set_scissor_rect(encoder,
                                                (MTLScissorRect){WIDTH / 2, 0, WIDTH / 2, HEIGHT});
    mtl_render_command_encoder_draw_patches(encoder, 4, 0, PATCHES, NULL, 0, 1, 0);
    mtl_render_command_encoder_end_encoding(encoder);
    finish(commands);

    unsigned char *pixels = read_pixels(picture, WIDTH, HEIGHT);
    size_t land = 0;
    for (size_t i = 0; i < WIDTH * HEIGHT; i++) land += pixels[4 * i + 2] < 150;
    printf("%d patches, land on %zu pixels\n", PATCHES, land);
    if (argc > 1) write_png(argv[1], pixels, WIDTH, HEIGHT);
    free(pixels);
    mtl_release(picture), mtl_release(samples), mtl_release(depth), mtl_release(buffer);
    mtl_release(nearer), mtl_release(factors), mtl_release(kernel), mtl_release(pipeline);
    mtl_release(library), mtl_release(queue), mtl_release(device);
    return land < WIDTH * HEIGHT / 4;
}
