// SPDX-License-Identifier: Apache-2.0
// indirect_rendering.c: the device decides what it draws. A kernel looks at each of 2500 bodies,
// leaves out those the camera does not see, chooses a fine or a coarse mesh by distance, and
// encodes a draw into an indirect command buffer; the pass executes the buffer.
//
//     indirect_rendering [FILE.png]
#include "scene.h"

enum { WIDTH = 768, HEIGHT = 512, SIDE = 50, BODIES = SIDE * SIDE };

static const char source[] =
    "#include <metal_stdlib>\n"
    "#include <metal_command_buffer>\n"
    "using namespace metal;\n"
    "struct Body { packed_float3 place; float size; packed_float3 color; float turned; };\n"
    "struct Camera { float4x4 project; packed_float3 eye; float reach; };\n"
    "struct Part { uint first, count; };\n" // of the indices
    "struct Commands { command_buffer draws; render_pipeline_state pipeline; };\n"
    "kernel void choose(device Commands &c [[buffer(0)]], device const Body *bodies "
    "[[buffer(1)]],\n"
    "                   constant Camera &camera [[buffer(2)]], constant Part *parts "
    "[[buffer(3)]],\n"
    "                   device const packed_float3 *vertices [[buffer(4)]],\n"
    "                   device const uint *indices [[buffer(5)]],\n"
    "                   device atomic_uint *counts [[buffer(6)]],\n"
    "                   uint i [[thread_position_in_grid]]) {\n"
    "    render_command draw(c.draws, i);\n"
    "    draw.reset();\n"
    "    float4 p = camera.project * float4(bodies[i].place, 1);\n"
    "    float around = bodies[i].size * 2.4;\n"
    "    if (p.w < 0 || abs(p.x) > p.w + around || abs(p.y) > p.w + around || p.w > camera.reach)\n"
    "        return;\n"
    "    uint level = p.w < 14 ? 0 : p.w < 30 ? 1 : 2;\n"
    "    atomic_fetch_add_explicit(&counts[level], 1u, memory_order_relaxed);\n"
    "    draw.set_render_pipeline_state(c.pipeline);\n"
    "    draw.set_vertex_buffer(vertices, 0);\n"
    "    draw.set_vertex_buffer(bodies, 1);\n"
    "    draw.set_vertex_buffer(&camera, 2);\n"
    "    draw.set_fragment_buffer(&camera, 0);\n"
    "    draw.draw_indexed_primitives(primitive_type::triangle, parts[level].count,\n"
    "                                 indices + parts[level].first, 1, 0, i);\n"
    "}\n"
    "struct Out { float4 at [[position]]; float3 place, normal, color; };\n"
    "vertex Out body(uint v [[vertex_id]], uint i [[instance_id]],\n"
    "                device const packed_float3 *vertices [[buffer(0)]],\n"
    "                device const Body *bodies [[buffer(1)]],\n"
    "                constant Camera &camera [[buffer(2)]]) {\n"
    "    Body b = bodies[i];\n"
    "    float s = sin(b.turned), c = cos(b.turned);\n"
    "    float3x3 turn = float3x3(float3(1, 0, 0), float3(0, c, s), float3(0, -s, c));\n"
    "    float3 p = float3(b.place) + turn * float3(vertices[2 * v]) * b.size;\n"
    "    return {camera.project * float4(p, 1), p, turn * float3(vertices[2 * v + 1]), b.color}; "
    "}\n"
    "fragment float4 lit(Out in [[stage_in]], constant Camera &camera [[buffer(0)]]) {\n"
    "    float3 n = normalize(in.normal), to_eye = float3(camera.eye) - in.place;\n"
    "    float3 sun = normalize(float3(0.5, 0.9, 0.3)), half_way = normalize(sun + "
    "normalize(to_eye));\n"
    "    float light = 0.25 + 0.75 * saturate(dot(n, sun));\n"
    "    float shine = pow(saturate(dot(n, half_way)), 40.0) * 0.5;\n"
    "    float fog = saturate(length(to_eye) / camera.reach);\n"
    "    return float4(mix(in.color * light + shine, float3(0.62, 0.72, 0.85), fog * fog), 1); }\n";

typedef struct Body {
    float place[3], size, color[3], turned;
} Body;
typedef struct View { // Camera of the functions
    Matrix project;
    float eye[3], reach;
    float padding[12];
} View;

static MTLBuffer *plant(MTLDevice *device) {
    static Body bodies[BODIES];
    unsigned seed = 7;
    for (int i = 0; i < BODIES; i++) {
        float x = (float)(i % SIDE) - SIDE / 2.0f, z = (float)(i / SIDE) - SIDE / 2.0f;
        float wave = sinf(x * 0.35f) + cosf(z * 0.3f);
        bodies[i] = (Body){{x * 1.6f, wave * 0.9f, z * 1.6f},
                           0.42f + 0.1f * random_float(&seed),
                           {0.55f + 0.4f * sinf(x * 0.2f), 0.45f + 0.3f * cosf(z * 0.17f),
                            0.5f + 0.45f * sinf(z * 0.23f + 2)},
                           turn * random_float(&seed)};
    }
    return buffer_of(device, bodies, sizeof bodies);
}

static View look(void) {
    Vec3 eye = {-9, 9.5f, 24};
    Matrix project = matrix_mul(matrix_perspective(1.6f, (float)WIDTH / HEIGHT, 0.5f, 80),
                                matrix_look(eye, (Vec3){2, -3, 4}));
    return (View){.project = project, .eye = {eye.x, eye.y, eye.z}, .reach = 60};
}

// The kernel's part: which bodies, as which meshes.
static void encode(MTLCommandBuffer *commands, MTLComputePipelineState *kernel,
                   MTLBuffer *const buffers[7], MTLIndirectCommandBuffer *icb) {
    MTLComputeCommandEncoder *e = mtl_command_buffer_compute_command_encoder(commands);
    mtl_compute_command_encoder_set_compute_pipeline_state(e, kernel);
    for (size_t i = 0; i < 7; i++) mtl_compute_command_encoder_set_buffer(e, buffers[i], 0, i);
    mtl_compute_command_encoder_use_resource(e, (MTLResource *)icb, MTLResourceUsageWrite);
    mtl_compute_command_encoder_dispatch_threads(e, mtl_size_make(BODIES, 1, 1),
                                                 mtl_size_make(64, 1, 1));
    mtl_compute_command_encoder_end_encoding(e);
}

int main(int argc, char **argv) {
    MTLDevice *device = default_device();
    MTLCommandQueue *queue = mtl_device_new_command_queue(device);
    MTLLibrary *library = library_of(device, source);
    MTLError *error = NULL;
    MTLFunction *choose = mtl_library_new_function(library, "choose");
    MTLComputePipelineState *kernel = mtl_device_new_compute_pipeline_state(device, choose, &error);
    require(kernel, error, "kernel");
    MTLRenderPipelineState *pipeline =
        make_pipeline(device, library, "body", "lit",
                      (MTLRenderPipelineDescriptor){
                          .support_indirect_command_buffers = true,
                          .depth_attachment_pixel_format = MTLPixelFormatDepth32Float,
                          .color_attachments[0].pixel_format = MTLPixelFormatRGBA8Unorm_sRGB});
    Mesh mesh = {0};
    const Range levels[3] = {mesh_surface(&mesh, 48, 24, torus_point),
                             mesh_surface(&mesh, 20, 10, torus_point),
                             mesh_surface(&mesh, 9, 5, torus_point)};
    uint32_t parts[6];
    for (int i = 0; i < 3; i++)
        parts[2 * i] = (uint32_t)levels[i].first, parts[2 * i + 1] = (uint32_t)levels[i].count;
    View camera = look();

    MTLIndirectCommandBuffer *icb = mtl_device_new_indirect_command_buffer(
        device,
        &(MTLIndirectCommandBufferDescriptor){.command_types = MTLIndirectCommandTypeDrawIndexed,
                                              .max_vertex_buffer_bind_count = 3,
                                              .max_fragment_buffer_bind_count = 1},
        BODIES, MTLResourceStorageModeShared);
    require(icb, NULL, "indirect command buffer");
    const uint64_t handles[2] = {mtl_indirect_command_buffer_gpu_resource_id(icb).impl,
                                 mtl_render_pipeline_state_gpu_resource_id(pipeline).impl};
    MTLBuffer *buffers[7] = {buffer_of(device, handles, sizeof handles),
                             plant(device),
                             buffer_of(device, &camera, sizeof camera),
                             buffer_of(device, parts, sizeof parts),
                             buffer_of(device, mesh.vertices, mesh.n_vertices * 24),
                             buffer_of(device, mesh.indices, mesh.n_indices * 4),
                             buffer_of(device, (uint32_t[3]){0}, 12)};

    MTLTexture *picture =
        make_target(device, MTLPixelFormatRGBA8Unorm_sRGB, WIDTH, HEIGHT, 1, MTLStorageModeShared);
    MTLTexture *depth =
        make_target(device, MTLPixelFormatDepth32Float, WIDTH, HEIGHT, 1, MTLStorageModeMemoryless);
    MTLDepthStencilDescriptor dd = mtl_depth_stencil_descriptor_make();
    dd.depth_compare_function = MTLCompareFunctionLess;
    dd.depth_write_enabled = true;
    MTLDepthStencilState *nearer = mtl_device_new_depth_stencil_state(device, &dd);
    MTLRenderPassDescriptor pass = mtl_render_pass_descriptor_make();
    pass.color_attachments[0].texture = picture;
    pass.color_attachments[0].load_action = MTLLoadActionClear;
    pass.color_attachments[0].clear_color = mtl_clear_color_make(0.62, 0.72, 0.85, 1);
    pass.depth_attachment.texture = depth;

    MTLCommandBuffer *commands = mtl_command_queue_command_buffer(queue);
    encode(commands, kernel, buffers, icb);
    MTLRenderCommandEncoder *e = mtl_command_buffer_render_command_encoder(commands, &pass);
    require(e, NULL, "encoder");
    mtl_render_command_encoder_set_depth_stencil_state(e, nearer);
    for (int i = 1; i < 6; i++)
        mtl_render_command_encoder_use_resource(e, (MTLResource *)buffers[i], MTLResourceUsageRead,
                                                MTLRenderStageVertex | MTLRenderStageFragment);
    mtl_render_command_encoder_execute_commands_in_buffer(e, icb, mtl_range_make(0, BODIES));
    mtl_render_command_encoder_end_encoding(e);
    finish(commands);

    uint32_t n[3];
    memcpy(n, mtl_buffer_contents(buffers[6]), sizeof n);
    uint32_t drawn = n[0] + n[1] + n[2];
    printf("%d bodies, %u drawn: %u fine, %u middling, %u coarse\n", BODIES, drawn, n[0], n[1],
           n[2]);
    unsigned char *pixels = read_pixels(picture, WIDTH, HEIGHT);
    if (argc > 1) write_png(argv[1], pixels, WIDTH, HEIGHT);
    free(pixels), free(mesh.vertices), free(mesh.indices);
    for (int i = 0; i < 7; i++) mtl_release(buffers[i]);
    mtl_release(nearer), mtl_release(depth), mtl_release(picture), mtl_release(icb);
    mtl_release(pipeline), mtl_release(kernel), mtl_release(choose), mtl_release(library);
    mtl_release(queue), mtl_release(device);
    return !(n[0] && n[1] && n[2] && drawn < BODIES);
}
