// SPDX-License-Identifier: Apache-2.0
// metal4_render.c: Metal 4 draws. Three threads record one render pass: each has a command buffer,
// an allocator and tables of its own; the first suspends the pass, the second goes on with it, the
// third ends it. Pipelines come from a compiler: one that leaves its blending open is specialised
// for solid bodies and for glass.
//
//     metal4_render [FILE.png]
#include <pthread.h>
#include "scene.h"

enum { WIDTH = 640, HEIGHT = 480, PARTS = 3, BODIES = 21 };

static const char source[] =
    "#include <metal_stdlib>\n"
    "using namespace metal;\n"
    "struct Body { packed_float3 place; float size; packed_float4 color; };\n"
    "struct In { float3 p [[attribute(0)]]; float3 n [[attribute(1)]]; };\n"
    "struct Out { float4 at [[position]]; float3 place, normal; float4 color [[flat]]; };\n"
    "vertex Out body(In in [[stage_in]], uint i [[instance_id]],\n"
    "                constant Body *bodies [[buffer(1)]],\n"
    "                constant float4x4 &project [[buffer(2)]]) {\n"
    "    float3 p = float3(bodies[i].place) + in.p * bodies[i].size;\n"
    "    return {project * float4(p, 1), p, in.n, float4(bodies[i].color)}; }\n"
    "fragment float4 lit(Out in [[stage_in]]) {\n"
    "    float3 n = normalize(in.normal), v = normalize(float3(0, 2.5, 9) - in.place);\n"
    "    float3 sun = normalize(float3(-0.5, 0.8, 0.6));\n"
    "    float light = 0.3 + 0.7 * saturate(dot(n, sun));\n"
    "    float shine = pow(saturate(dot(n, normalize(sun + v))), 60.0);\n"
    "    float rim = pow(1 - abs(dot(n, v)), 3.0) * (1 - in.color.a);\n"
    "    return float4(in.color.rgb * light + shine + rim, saturate(in.color.a + shine + rim)); "
    "}\n";

typedef struct Body {
    float place[3], size, color[4];
} Body;

typedef struct Scene { // what all threads draw with
    MTLRenderPipelineState *solid, *glass;
    MTLDepthStencilState *nearer, *behind; // glass is tested, but hides nothing
    MTLGPUAddress vertices, bodies, project, indices;
    size_t n_indices, indices_bytes;
    MTL4RenderPassDescriptor pass;
} Scene;

typedef struct Part {
    const Scene *scene;
    MTL4CommandAllocator *allocator;
    MTL4CommandBuffer *commands;
    MTL4ArgumentTable *table;
    int i;
} Part;

static void *record(void *context) {
    const Part *p = context;
    const Scene *s = p->scene;
    MTL4RenderEncoderOptions options = (p->i > 0 ? MTL4RenderEncoderOptionResuming : 0u) |
                                       (p->i < PARTS - 1 ? MTL4RenderEncoderOptionSuspending : 0u);
    mtl4_command_buffer_begin_command_buffer(p->commands, p->allocator);
    MTL4RenderCommandEncoder *e =
        mtl4_command_buffer_render_command_encoder_with_options(p->commands, &s->pass, options);
    require(e, NULL, "encoder");
    bool glass = p->i == PARTS - 1; // the last thread draws what one looks through
    mtl4_render_command_encoder_set_render_pipeline_state(e, glass ? s->glass : s->solid);
    mtl4_render_command_encoder_set_depth_stencil_state(e, glass ? s->behind : s->nearer);
    mtl4_render_command_encoder_set_argument_table(e, p->table,
                                                   MTLRenderStageVertex | MTLRenderStageFragment);
    mtl4_argument_table_set_address(p->table, s->vertices, 0);
    mtl4_argument_table_set_address(p->table, s->bodies, 1);
    mtl4_argument_table_set_address(p->table, s->project, 2);
    const size_t n = BODIES / PARTS;
    mtl4_render_command_encoder_draw_indexed_primitives_instanced(
        e, MTLPrimitiveTypeTriangle, s->n_indices, MTLIndexTypeUInt32, s->indices, s->indices_bytes,
        n, 0, n * (size_t)p->i);
    mtl4_render_command_encoder_end_encoding(e);
    mtl4_command_buffer_end_command_buffer(p->commands);
    return NULL;
}

// The pipeline for both kinds, and its two specialisations.
static void make_pipelines(MTLDevice *device, Scene *s) {
    MTLError *error = NULL;
    MTL4Compiler *compiler = mtl_device_new_compiler(device, NULL, &error);
    require(compiler, error, "compiler");
    MTLLibrary *library =
        mtl4_compiler_new_library(compiler, &(MTL4LibraryDescriptor){.source = source}, &error);
    require(library, error, "library");
    MTL4LibraryFunctionDescriptor vertex = {.name = "body", .library = library},
                                  fragment = {.name = "lit", .library = library};
    MTL4RenderPipelineDescriptor d = {
        .label = "bodies",
        .vertex_function_descriptor = &vertex.base,
        .fragment_function_descriptor = &fragment.base,
        .vertex_descriptor =
            &(MTLVertexDescriptor){.attributes[0] = {.format = MTLVertexFormatFloat3},
                                   .attributes[1] = {.format = MTLVertexFormatFloat3, .offset = 12},
                                   .layouts[0] = {.stride = 24}},
        .color_attachments[0] = {.pixel_format = MTLPixelFormatRGBA8Unorm_sRGB,
                                 .blending_state = MTL4BlendStateUnspecialized,
                                 .source_rgb_blend_factor = MTLBlendFactorSourceAlpha,
                                 .source_alpha_blend_factor = MTLBlendFactorOne,
                                 .destination_rgb_blend_factor = MTLBlendFactorOneMinusSourceAlpha,
                                 .destination_alpha_blend_factor = MTLBlendFactorOne}};
    MTLRenderPipelineState *open =
        mtl4_compiler_new_render_pipeline_state(compiler, &d, NULL, &error);
    require(open, error, "pipeline");
    MTL4RenderPipelineDescriptor kind = {.label = "solid"};
    kind.color_attachments[0].blending_state = MTL4BlendStateDisabled;
    s->solid =
        mtl4_compiler_new_render_pipeline_state_by_specialization(compiler, &kind, open, &error);
    require(s->solid, error, "solid");
    kind.label = "glass";
    kind.color_attachments[0].blending_state = MTL4BlendStateEnabled;
    s->glass =
        mtl4_compiler_new_render_pipeline_state_by_specialization(compiler, &kind, open, &error);
    require(s->glass, error, "glass");
    MTLDepthStencilDescriptor dd = mtl_depth_stencil_descriptor_make();
    dd.depth_compare_function = MTLCompareFunctionLess;
    s->behind = mtl_device_new_depth_stencil_state(device, &dd);
    dd.depth_write_enabled = true;
    s->nearer = mtl_device_new_depth_stencil_state(device, &dd);
    mtl_release(open), mtl_release(library), mtl_release(compiler);
}

static void place_bodies(Body *bodies) {
    for (int i = 0; i < BODIES; i++) {
        int part = i / (BODIES / PARTS), k = i % (BODIES / PARTS);
        float a = turn * ((float)k / (BODIES / PARTS) + 0.07f * (float)part);
        float r = part == 2 ? 1.9f : 3.3f - 1.2f * (float)part;
        float hue = turn * (float)k / (BODIES / PARTS);
        bodies[i] =
            (Body){{r * cosf(a), part == 2 ? 0.9f : 0.35f * (float)part - 0.2f, r * sinf(a)},
                   part == 2 ? 0.75f : 0.5f,
                   {0.5f + 0.4f * cosf(hue), 0.5f + 0.4f * cosf(hue - 2.1f),
                    0.5f + 0.4f * cosf(hue + 2.1f), part == 2 ? 0.25f : 1}};
    }
}

static MTLBuffer *resident(MTLDevice *device, MTLResidencySet *set, const void *data, size_t n) {
    MTLBuffer *buffer = mtl_device_new_buffer_with_bytes(device, data, n, 0);
    require(buffer, NULL, "buffer");
    mtl_residency_set_add_allocation(set, (MTLAllocation *)buffer);
    return buffer;
}

static void draw(MTLDevice *device, MTLResidencySet *set, const Scene *scene) {
    MTL4CommandQueue *queue = mtl_device_new_mtl4_command_queue(device);
    mtl4_command_queue_add_residency_set(queue, set);
    Part parts[PARTS];
    MTL4CommandBuffer *buffers[PARTS];
    pthread_t threads[PARTS];
    MTLError *error = NULL;
    for (int i = 0; i < PARTS; i++) {
        parts[i] = (Part){scene, mtl_device_new_command_allocator(device),
                          mtl_device_new_command_buffer(device), NULL, i};
        parts[i].table = mtl_device_new_argument_table(
            device, &(MTL4ArgumentTableDescriptor){.max_buffer_bind_count = 3}, &error);
        require(parts[i].table, error, "argument table");
        buffers[i] = parts[i].commands;
        if (pthread_create(&threads[i], NULL, record, &parts[i]) != 0)
            require(NULL, NULL, "thread");
    }
    for (int i = 0; i < PARTS; i++) pthread_join(threads[i], NULL);
    MTLSharedEvent *done = mtl_device_new_shared_event(device);
    mtl4_command_queue_commit(queue, buffers, PARTS);
    mtl4_command_queue_signal_event(queue, (MTLEvent *)done, 1);
    mtl_shared_event_wait_until_signaled_value(done, 1, UINT64_MAX);
    for (int i = 0; i < PARTS; i++)
        mtl_release(parts[i].table), mtl_release(parts[i].commands),
            mtl_release(parts[i].allocator);
    mtl_release(done), mtl_release(queue);
}

int main(int argc, char **argv) {
    MTLDevice *device = default_device();
    Scene scene = {0};
    make_pipelines(device, &scene);
    MTLError *error = NULL;
    MTLResidencySet *set = mtl_device_new_residency_set(device, NULL, &error);
    require(set, error, "residency set");
    Mesh mesh = {0};
    mesh_surface(&mesh, 64, 32, sphere_point);
    Body bodies[BODIES];
    place_bodies(bodies);
    Matrix project = matrix_mul(matrix_perspective(2.7f, (float)WIDTH / HEIGHT, 1, 40),
                                matrix_look((Vec3){0, 4.6f, 8.2f}, (Vec3){0, 0, 0.3f}));
    MTLBuffer *buffers[4] = {resident(device, set, mesh.vertices, mesh.n_vertices * 24),
                             resident(device, set, mesh.indices, mesh.n_indices * 4),
                             resident(device, set, bodies, sizeof bodies),
                             resident(device, set, &project, sizeof project)};
    MTLTexture *picture =
        make_target(device, MTLPixelFormatRGBA8Unorm_sRGB, WIDTH, HEIGHT, 1, MTLStorageModeShared);
    MTLTexture *depth =
        make_target(device, MTLPixelFormatDepth32Float, WIDTH, HEIGHT, 1, MTLStorageModeMemoryless);
    mtl_residency_set_add_allocation(set, (MTLAllocation *)picture);
    mtl_residency_set_add_allocation(set, (MTLAllocation *)depth);
    mtl_residency_set_commit(set);
    scene.vertices = mtl_buffer_gpu_address(buffers[0]);
    scene.indices = mtl_buffer_gpu_address(buffers[1]);
    scene.bodies = mtl_buffer_gpu_address(buffers[2]);
    scene.project = mtl_buffer_gpu_address(buffers[3]);
    scene.n_indices = mesh.n_indices, scene.indices_bytes = mesh.n_indices * 4;
    scene.pass = mtl4_render_pass_descriptor_make();
    scene.pass.color_attachments[0].texture = picture;
    scene.pass.color_attachments[0].load_action = MTLLoadActionClear;
    scene.pass.color_attachments[0].clear_color = mtl_clear_color_make(0.02, 0.025, 0.04, 1);
    scene.pass.depth_attachment.texture = depth; // memoryless: it lives as long as the pass

    draw(device, set, &scene);
    unsigned char *pixels = read_pixels(picture, WIDTH, HEIGHT);
    size_t lit = 0;
    for (size_t i = 0; i < WIDTH * HEIGHT; i++)
        lit += pixels[4 * i] + pixels[4 * i + 1] + pixels[4 * i + 2] > 150;
    printf("%d threads recorded one pass: %zu pixels of %d bodies\n", PARTS, lit, BODIES);
    if (argc > 1) write_png(argv[1], pixels, WIDTH, HEIGHT);
    free(pixels), free(mesh.vertices), free(mesh.indices);
    for (int i = 0; i < 4; i++) mtl_release(buffers[i]);
    mtl_release(scene.solid), mtl_release(scene.glass), mtl_release(scene.nearer);
    mtl_release(scene.behind), mtl_release(picture), mtl_release(depth), mtl_release(set);
    mtl_release(device);
    return lit < 30000 || lit > 200000;
}
