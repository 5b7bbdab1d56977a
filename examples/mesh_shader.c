// SPDX-License-Identifier: Apache-2.0
// mesh_shader.c: balls without a vertex buffer. A threadgroup of the object function stands for a
// ball: it decides whether the ball can be seen, and how finely it is cut, by its distance; its
// threads agree on that in the payload. Each threadgroup of the mesh function makes one piece of
// the surface, 8 x 8 squares, in a colour of its own, which is a value of the primitives.
//
//     mesh_shader [FILE.png]
#include "scene.h"

enum { WIDTH = 960, HEIGHT = 540, SIDE = 7, BALLS = SIDE * SIDE };

static const char source[] =
    "#include <metal_stdlib>\n"
    "using namespace metal;\n"
    "struct View { float4x4 camera; float4 eye; uint side; };\n"
    "struct Ball { float4 place; uint2 pieces; float hue[64]; };\n"
    "[[object, max_total_threads_per_threadgroup(64), max_total_threadgroups_per_mesh_grid(64)]]\n"
    "void balls(object_data Ball &ball [[payload]], mesh_grid_properties grid,\n"
    "           constant View &view [[buffer(0)]], device atomic_uint *seen [[buffer(1)]],\n"
    "           uint i [[threadgroup_position_in_grid]], uint t [[thread_index_in_threadgroup]]) "
    "{\n"
    "    float2 p = (float2(i % view.side, i / view.side) - float(view.side - 1) / 2) * 1.9;\n"
    "    float4 place = float4(p.x, sin(p.x * 1.3) * cos(p.y * 0.9) * 0.7, p.y, 0.85);\n"
    "    float4 clip = view.camera * float4(place.xyz, 1);\n"
    "    bool visible = all(abs(clip.xy) < clip.w + 2 * place.w) && clip.w > 0;\n"
    "    uint level = clamp(uint(34 / distance(place.xyz, view.eye.xyz)), 1u, 5u);\n"
    "    ball.hue[t] = fract(float(t) * 0.381966 + float(i) * 0.13);\n"
    "    if (t != 0) return;\n"
    "    ball.place = place;\n"
    "    ball.pieces = uint2(2 * level, level);\n"
    "    grid.set_threadgroups_per_grid(uint3(visible ? ball.pieces : 0, 1));\n"
    "    if (visible) atomic_fetch_add_explicit(seen, 2 * level * level, memory_order_relaxed);\n"
    "}\n"
    "struct Vertex { float4 place [[position]]; float3 normal, at; };\n"
    "struct Face { float3 color; };\n"
    "using Piece = mesh<Vertex, Face, 81, 128, topology::triangle>;\n"
    "[[mesh, max_total_threads_per_threadgroup(128)]]\n"
    "void piece(Piece out, object_data const Ball &ball [[payload]],\n"
    "           constant View &view [[buffer(0)]], uint t [[thread_index_in_threadgroup]],\n"
    "           uint3 g [[threadgroup_position_in_grid]], uint3 n [[threadgroups_per_grid]]) {\n"
    "    if (t < 81) {\n"
    "        float2 uv = (float2(g.xy) + float2(t % 9, t / 9) / 8) / float2(n.xy);\n"
    "        float a = uv.x * 2 * M_PI_F, b = uv.y * M_PI_F;\n"
    "        float3 normal = float3(cos(a) * sin(b), cos(b), sin(a) * sin(b));\n"
    "        float3 at = ball.place.xyz + normal * ball.place.w;\n"
    "        out.set_vertex(t, {view.camera * float4(at, 1), normal, at});\n"
    "    }\n"
    "    uint square = t / 2, first = square / 8 * 9 + square % 8;\n"
    "    uint3 corners = t & 1 ? uint3(1, 9, 10) : uint3(0, 9, 1);\n"
    "    for (uint k = 0; k < 3; k++) out.set_index(3 * t + k, first + corners[k]);\n"
    "    float3 hue = cos((ball.hue[(g.y * n.x + g.x) % 64] + float3(0, 0.33, 0.67)) * 6.2832);\n"
    "    out.set_primitive(t, {hue * 0.3 + 0.55});\n"
    "    if (t == 0) out.set_primitive_count(128);\n"
    "}\n"
    "struct In { Vertex v; Face f; };\n"
    "fragment float4 lit(In in [[stage_in]], constant View &view [[buffer(0)]]) {\n"
    "    float3 n = normalize(in.v.normal), l = normalize(float3(0.5, 1, 0.7));\n"
    "    float3 h = normalize(l + normalize(view.eye.xyz - in.v.at));\n"
    "    float light = 0.12 + 0.88 * saturate(dot(n, l));\n"
    "    return float4(in.f.color * in.f.color * light + 0.35 * pow(saturate(dot(n, h)), 40), 1);\n"
    "}\n";

typedef struct View {
    Matrix camera;
    float eye[4];
    uint32_t side, unused[3];
} View;

static MTLRenderPipelineState *make_mesh_pipeline(MTLDevice *device, MTLLibrary *library,
                                                  MTLPixelFormat format) {
    MTLError *error = NULL;
    MTLMeshRenderPipelineDescriptor d = {
        .object_function = mtl_library_new_function(library, "balls"),
        .mesh_function = mtl_library_new_function(library, "piece"),
        .fragment_function = mtl_library_new_function(library, "lit"),
        .raster_sample_count = 4,
        .color_attachments[0].pixel_format = format,
        .depth_attachment_pixel_format = MTLPixelFormatDepth32Float};
    MTLRenderPipelineState *pipeline =
        mtl_device_new_render_pipeline_state_with_mesh_descriptor(device, &d, &error);
    require(pipeline, error, "pipeline");
    mtl_release(d.object_function), mtl_release(d.mesh_function), mtl_release(d.fragment_function);
    return pipeline;
}

int main(int argc, char **argv) {
    MTLDevice *device = default_device();
    MTLCommandQueue *queue = mtl_device_new_command_queue(device);
    MTLLibrary *library = library_of(device, source);
    const MTLPixelFormat format = MTLPixelFormatRGBA8Unorm_sRGB;
    MTLRenderPipelineState *pipeline = make_mesh_pipeline(device, library, format);
    MTLTexture *picture = make_target(device, format, WIDTH, HEIGHT, 1, MTLStorageModeShared);
    MTLTexture *samples = make_target(device, format, WIDTH, HEIGHT, 4, MTLStorageModeMemoryless);
    MTLTexture *depth =
        make_target(device, MTLPixelFormatDepth32Float, WIDTH, HEIGHT, 4, MTLStorageModeMemoryless);
    MTLDepthStencilState *nearer = mtl_device_new_depth_stencil_state(
        device, &(MTLDepthStencilDescriptor){.depth_compare_function = MTLCompareFunctionLess,
                                             .depth_write_enabled = true});
    MTLBuffer *seen = mtl_device_new_buffer(device, 4, MTLResourceStorageModeShared);
    require(nearer && seen ? device : NULL, NULL, "objects");
    Vec3 eye = {2.5f, 4.2f, 9.5f};
    View view = {.camera = matrix_mul(matrix_perspective(2.1f, (float)WIDTH / HEIGHT, 0.1f, 40),
                                      matrix_look(eye, (Vec3){0, 0, 0.6f})),
                 .eye = {eye.x, eye.y, eye.z, 1},
                 .side = SIDE};
    MTLRenderPassDescriptor pass = mtl_render_pass_descriptor_make();
    pass.color_attachments[0].texture = samples;
    pass.color_attachments[0].resolve_texture = picture;
    pass.color_attachments[0].store_action = MTLStoreActionMultisampleResolve;
    pass.color_attachments[0].load_action = MTLLoadActionClear;
    pass.color_attachments[0].clear_color = mtl_clear_color_make(0.015, 0.02, 0.03, 1);
    pass.depth_attachment.texture = depth;
    MTLCommandBuffer *commands = mtl_command_queue_command_buffer(queue);
    MTLRenderCommandEncoder *encoder = mtl_command_buffer_render_command_encoder(commands, &pass);
    require(encoder, NULL, "encoder");
    mtl_render_command_encoder_set_render_pipeline_state(encoder, pipeline);
    mtl_render_command_encoder_set_depth_stencil_state(encoder, nearer);
    mtl_render_command_encoder_set_cull_mode(encoder, MTLCullModeBack);
    mtl_render_command_encoder_set_object_bytes(encoder, &view, sizeof view, 0);
    mtl_render_command_encoder_set_object_buffer(encoder, seen, 0, 1);
    mtl_render_command_encoder_set_mesh_bytes(encoder, &view, sizeof view, 0);
    mtl_render_command_encoder_set_fragment_bytes(encoder, &view, sizeof view, 0);
    mtl_render_command_encoder_draw_mesh_threadgroups(
        encoder, mtl_size_make(BALLS, 1, 1), mtl_size_make(64, 1, 1), mtl_size_make(128, 1, 1));
    mtl_render_command_encoder_end_encoding(encoder);
    finish(commands);

    unsigned char *pixels = read_pixels(picture, WIDTH, HEIGHT);
    size_t lit = 0;
    for (size_t i = 0; i < WIDTH * HEIGHT; i++) lit += pixels[4 * i] + pixels[4 * i + 1] > 140;
    uint32_t pieces = *(const uint32_t *)mtl_buffer_contents(seen);
    printf("%u pieces of %d balls, on %zu pixels\n", pieces, BALLS, lit);
    if (argc > 1) write_png(argv[1], pixels, WIDTH, HEIGHT);
    free(pixels);
    mtl_release(picture), mtl_release(samples), mtl_release(depth), mtl_release(seen);
    mtl_release(nearer), mtl_release(pipeline), mtl_release(library), mtl_release(queue);
    mtl_release(device);
    return lit < WIDTH * HEIGHT / 5 || pieces < BALLS;
}
