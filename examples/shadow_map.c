// SPDX-License-Identifier: Apache-2.0
// shadow_map.c: two passes: first the depth of the scene as the light sees it, with a vertex
// function alone, then the scene itself, where each pixel asks the depth texture, with a comparing
// sampler, whether something stands between it and the light. 4 samples a pixel. A PNG file.
//
//     shadow_map [FILE.png]
#include "scene.h"

enum { WIDTH = 720, HEIGHT = 480, SHADOW = 1024, BODIES = 12 };

static const char source[] =
    "#include <metal_stdlib>\n"
    "using namespace metal;\n"
    "struct Scene { float4x4 camera, light; float4 sun, eye; };\n"
    "struct Body { float4 place_size; float4 color; };\n"
    "struct In { float3 place [[attribute(0)]]; float3 normal [[attribute(1)]]; };\n"
    "static float3 in_world(float3 p, constant Body &b) { return p * b.place_size.w + "
    "b.place_size.xyz; }\n"
    "vertex float4 light_vertex(In in [[stage_in]], constant Scene &s [[buffer(1)]], constant Body "
    "&b [[buffer(2)]]) {\n"
    "    return s.light * float4(in_world(in.place, b), 1);\n"
    "}\n"
    "struct Out { float4 place [[position]]; float3 world, normal; };\n"
    "vertex Out body_vertex(In in [[stage_in]], constant Scene &s [[buffer(1)]], constant Body &b "
    "[[buffer(2)]]) {\n"
    "    float3 p = in_world(in.place, b);\n"
    "    return {s.camera * float4(p, 1), p, in.normal};\n"
    "}\n"
    "fragment float4 body(Out in [[stage_in]], constant Scene &s [[buffer(1)]], constant Body &b "
    "[[buffer(2)]],\n"
    "                     depth2d<float> shadow [[texture(0)]]) {\n"
    "    constexpr sampler compare(filter::linear, compare_func::less_equal, "
    "address::clamp_to_edge);\n"
    "    float3 n = normalize(in.normal), l = s.sun.xyz, v = normalize(s.eye.xyz - in.world);\n"
    "    float4 at = s.light * float4(in.world + n * 0.02f, 1); // a step away from the surface "
    "itself\n"
    "    float2 uv = at.xy * float2(0.5f, -0.5f) + 0.5f;\n"
    "    float lit = 0;\n"
    "    for (int y = -2; y <= 2; y++)     // 25 comparisons, each of four texels: soft edges\n"
    "        for (int x = -2; x <= 2; x++)\n"
    "            lit += shadow.sample_compare(compare, uv + float2(x, y) * (1.2f / 1024), at.z);\n"
    "    lit = any(abs(at.xy) > 0.98f) || at.z > 1 ? 1 : lit / 25; // what the light does not see "
    "is lit\n"
    "    lit *= saturate(dot(n, l) * 4);\n"
    "    float3 base = b.color.rgb;\n"
    "    if (b.color.a > 0) { // the floor is tiled; fwidth keeps far tiles from flickering\n"
    "        float2 t = in.world.xz * 0.5f, f = abs(fract(t) - 0.5f), w = fwidth(t);\n"
    "        float line = max(smoothstep(0.5f - 0.02f - w.x, 0.5f, f.x), smoothstep(0.5f - 0.02f - "
    "w.y, 0.5f, f.y));\n"
    "        base *= 1 - 0.35f * line * exp(-length(in.world) * 0.12f);\n"
    "    }\n"
    "    float3 sky = mix(float3(0.16f, 0.13f, 0.11f), float3(0.22f, 0.28f, 0.42f), n.y * 0.5f + "
    "0.5f);\n"
    "    float shine = b.color.a > 0 ? 0 : pow(saturate(dot(n, normalize(l + v))), 60.0f);\n"
    "    float3 c = base * (sky + lit * 1.25f * saturate(dot(n, l)) * float3(1, 0.93f, 0.8f)) + "
    "lit * shine * 0.8f;\n"
    "    float fog = 1 - exp(-max(length(s.eye.xyz - in.world) - 9, 0.0f) * 0.06f);\n"
    "    return float4(mix(c, float3(0.55f, 0.62f, 0.75f), fog), 1);\n"
    "}\n";

typedef struct Scene {
    Matrix camera, light;
    float sun[4], eye[4];
} Scene;
typedef struct Body {
    float x, y, z, size, color[4]; // alpha 1: the floor
} Body;

static const Body bodies[BODIES] = {
    {0, 0, 0, 30, {0.75f, 0.72f, 0.68f, 1}},
    {0, 1.0f, 0, 1, {0.85f, 0.28f, 0.14f, 0}},
    {-2.3f, 0.7f, 0.9f, 0.7f, {0.12f, 0.42f, 0.75f, 0}},
    {2.2f, 0.45f, 1.3f, 0.45f, {0.9f, 0.68f, 0.16f, 0}},
    {-0.9f, 0.3f, 2.1f, 0.3f, {0.22f, 0.6f, 0.32f, 0}},
    {1.1f, 0.25f, 2.2f, 0.25f, {0.8f, 0.3f, 0.5f, 0}},
    {2.8f, 0.32f, -1.6f, 0.85f, {0.5f, 0.36f, 0.75f, 0}}, // torus
    {-1.6f, 0.2f, -1.9f, 0.5f, {0.95f, 0.9f, 0.84f, 0}},  // torus
    {-3.6f, 0.8f, -1.4f, 0.8f, {0.3f, 0.32f, 0.36f, 0}},  // box
    {0.6f, 0.5f, -2.9f, 0.5f, {0.78f, 0.78f, 0.8f, 0}},   // box
    {-4.4f, 0.35f, 1.4f, 0.35f, {0.93f, 0.45f, 0.2f, 0}}, // box
    {4.2f, 0.55f, -0.2f, 0.55f, {0.2f, 0.5f, 0.5f, 0}},   // box
};
static int shape_of(int body) { return body == 0 ? 0 : body < 6 ? 1 : body < 8 ? 2 : 3; }

static void draw_bodies(MTLRenderCommandEncoder *encoder, const Scene *scene, MTLBuffer *vertices,
                        MTLBuffer *indices, const Range *shapes) {
    mtl_render_command_encoder_set_vertex_buffer(encoder, vertices, 0, 0);
    mtl_render_command_encoder_set_vertex_bytes(encoder, scene, sizeof *scene, 1);
    mtl_render_command_encoder_set_fragment_bytes(encoder, scene, sizeof *scene, 1);
    for (int i = 0; i < BODIES; i++) {
        Range r = shapes[shape_of(i)];
        mtl_render_command_encoder_set_vertex_bytes(encoder, &bodies[i], sizeof(Body), 2);
        mtl_render_command_encoder_set_fragment_bytes(encoder, &bodies[i], sizeof(Body), 2);
        mtl_render_command_encoder_draw_indexed_primitives(
            encoder, MTLPrimitiveTypeTriangle, r.count, MTLIndexTypeUInt32, indices, 4 * r.first);
    }
}

int main(int argc, char **argv) {
    MTLDevice *device = default_device();
    MTLCommandQueue *queue = mtl_device_new_command_queue(device);
    MTLLibrary *library = library_of(device, source);
    const MTLPixelFormat color = MTLPixelFormatRGBA8Unorm_sRGB, depth = MTLPixelFormatDepth32Float;
    MTLVertexDescriptor layout = {.attributes[0] = {.format = MTLVertexFormatFloat3},
                                  .attributes[1] = {.format = MTLVertexFormatFloat3, .offset = 12},
                                  .layouts[0].stride = 24};
    MTLRenderPipelineState *from_light =
        make_pipeline(device, library, "light_vertex", NULL,
                      (MTLRenderPipelineDescriptor){.vertex_descriptor = &layout,
                                                    .depth_attachment_pixel_format = depth});
    MTLRenderPipelineState *from_eye =
        make_pipeline(device, library, "body_vertex", "body",
                      (MTLRenderPipelineDescriptor){.vertex_descriptor = &layout,
                                                    .raster_sample_count = 4,
                                                    .color_attachments[0].pixel_format = color,
                                                    .depth_attachment_pixel_format = depth});
    MTLDepthStencilState *nearer = mtl_device_new_depth_stencil_state(
        device, &(MTLDepthStencilDescriptor){.depth_compare_function = MTLCompareFunctionLess,
                                             .depth_write_enabled = true});
    Mesh mesh = {0};
    Range shapes[] = {
        mesh_surface(&mesh, 1, 1, floor_point), mesh_surface(&mesh, 64, 32, sphere_point),
        mesh_surface(&mesh, 64, 32, torus_point), mesh_surface(&mesh, 96, 64, box_point)};
    MTLBuffer *vertices = buffer_of(device, mesh.vertices, mesh.n_vertices * sizeof *mesh.vertices),
              *indices = buffer_of(device, mesh.indices, mesh.n_indices * 4);
    require(nearer, NULL, "depth state");
    Vec3 eye = {3.2f, 3.6f, 7.4f}, sun = vec3_unit((Vec3){-0.55f, 0.8f, 0.38f});
    Scene scene = {.sun = {sun.x, sun.y, sun.z, 0}, .eye = {eye.x, eye.y, eye.z, 1}};
    scene.camera = matrix_mul(matrix_perspective(2.1f, (float)WIDTH / HEIGHT, 0.5f, 60),
                              matrix_look(eye, (Vec3){-0.1f, 0.35f, 0}));
    scene.light =
        matrix_mul(matrix_orthographic(6, 1, 24),
                   matrix_look((Vec3){sun.x * 12, sun.y * 12, sun.z * 12}, (Vec3){0, 0, 0}));

    MTLTexture *shadow = make_target(device, depth, SHADOW, SHADOW, 1, MTLStorageModePrivate);
    MTLTexture *picture = make_target(device, color, WIDTH, HEIGHT, 1, MTLStorageModeShared);
    MTLTexture *samples = make_target(device, color, WIDTH, HEIGHT, 4, MTLStorageModeMemoryless);
    MTLTexture *depths = make_target(device, depth, WIDTH, HEIGHT, 4, MTLStorageModeMemoryless);
    MTLCommandBuffer *commands = mtl_command_queue_command_buffer(queue);

    MTLRenderPassDescriptor pass = mtl_render_pass_descriptor_make();
    pass.depth_attachment.texture = shadow;
    pass.depth_attachment.store_action = MTLStoreActionStore;
    MTLRenderCommandEncoder *encoder = mtl_command_buffer_render_command_encoder(commands, &pass);
    require(encoder, NULL, "encoder");
    mtl_render_command_encoder_set_label(encoder, "depth from the light");
    mtl_render_command_encoder_set_render_pipeline_state(encoder, from_light);
    mtl_render_command_encoder_set_depth_stencil_state(encoder, nearer);
    mtl_render_command_encoder_set_depth_bias(encoder, 2, 3, 0.01f); // no shadow of itself
    draw_bodies(encoder, &scene, vertices, indices, shapes);
    mtl_render_command_encoder_end_encoding(encoder);

    pass = mtl_render_pass_descriptor_make();
    pass.color_attachments[0].texture = samples;
    pass.color_attachments[0].resolve_texture = picture;
    pass.color_attachments[0].load_action = MTLLoadActionClear;
    pass.color_attachments[0].store_action = MTLStoreActionMultisampleResolve;
    pass.color_attachments[0].clear_color = mtl_clear_color_make(0.55, 0.62, 0.75, 1);
    pass.depth_attachment.texture = depths;
    encoder = mtl_command_buffer_render_command_encoder(commands, &pass);
    require(encoder, NULL, "encoder");
    mtl_render_command_encoder_set_label(encoder, "the scene");
    mtl_render_command_encoder_set_render_pipeline_state(encoder, from_eye);
    mtl_render_command_encoder_set_depth_stencil_state(encoder, nearer);
    mtl_render_command_encoder_set_fragment_texture(encoder, shadow, 0);
    draw_bodies(encoder, &scene, vertices, indices, shapes);
    mtl_render_command_encoder_end_encoding(encoder);
    finish(commands);

    unsigned char *pixels = read_pixels(picture, WIDTH, HEIGHT);
    size_t light = 0, dark = 0; // of the lower half: floor in the sun, floor in shadow
    for (size_t i = WIDTH * HEIGHT / 2; i < WIDTH * HEIGHT; i++) {
        int sum = pixels[4 * i] + pixels[4 * i + 1] + pixels[4 * i + 2];
        light += sum > 560, dark += sum < 390;
    }
    printf("in the sun: %zu pixels, in shadow: %zu\n", light, dark);
    if (argc > 1) write_png(argv[1], pixels, WIDTH, HEIGHT);
    free(pixels), free(mesh.vertices), free(mesh.indices);
    mtl_release(shadow), mtl_release(picture), mtl_release(samples), mtl_release(depths);
    mtl_release(vertices), mtl_release(indices), mtl_release(nearer);
    mtl_release(from_light), mtl_release(from_eye);
    mtl_release(library), mtl_release(queue), mtl_release(device);
    return light < 40000 || dark < 10000;
}
