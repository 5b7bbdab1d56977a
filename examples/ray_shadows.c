// SPDX-License-Identifier: Apache-2.0
// ray_shadows.c: a render pass whose fragment function traces: triangles are drawn as always, and
// each pixel sends rays to places on a round lamp. Those that something stops make the soft edge of
// a shadow. The acceleration structure is built of the vertices that are drawn.
#include "png.h"
#include "rays.h"

enum { SIZE = 320 };

static const char *const source =
    "#include <metal_stdlib>\n"
    "#include <metal_raytracing>\n"
    "using namespace metal;\n"
    "using namespace metal::raytracing;\n"
    "struct Surface { packed_float3 normal, colour; };\n"
    "struct Out { float4 place [[position]]; float3 world; uint surface [[flat]]; };\n"
    "vertex Out stand(uint i [[vertex_id]], const device packed_float3 *at [[buffer(0)]]) {\n"
    "    float3 p = at[i], v = p - float3(0, 2.6f, 5.5f);\n"
    "    v = float3(v.x, v.y * 0.94f - v.z * 0.34f, v.z * 0.94f + v.y * 0.34f);\n" // look down
    "    return {float4(v.x * 1.9f, v.y * 1.9f, (-v.z - 0.1f) * 1.01f, -v.z), p, i / 3};\n"
    "}\n"
    "fragment float4 lit(Out in [[stage_in]], primitive_acceleration_structure scene "
    "[[buffer(0)]],\n"
    "                    const device Surface *surfaces [[buffer(1)]]) {\n"
    "    const float3 lamp = float3(2.5f, 4, 1.5f);\n"
    "    float3 n = normalize(float3(surfaces[in.surface].normal));\n"
    "    float3 across = normalize(cross(lamp, float3(0, 1, 0))), up = normalize(cross(across, "
    "lamp));\n"
    "    intersector<> any;\n"
    "    any.accept_any_intersection(true);\n"
    "    float free = 0, turn = fract(dot(floor(in.place.xy), float2(0.7548777f, 0.5698403f)));\n"
    "    for (int s = 0; s < 16; s++) {\n" // a spiral over the lamp, turned in each pixel
    "        float r = 0.5f * sqrt((s + 0.5f) / 16), phi = 2.399963f * s + 6.2831853f * turn;\n"
    "        float3 to = lamp + across * (r * cos(phi)) + up * (r * sin(phi)) - in.world;\n"
    "        ray shadow(in.world + n * 1e-3f, to, 0, 1);\n"
    "        free += any.intersect(shadow, scene).type == intersection_type::none;\n"
    "    }\n"
    "    float light = 0.2f + free / 16 * max(0.0f, dot(n, normalize(lamp - in.world)));\n"
    "    return float4(pow(float3(surfaces[in.surface].colour) * light, 1 / 2.2f), 1);\n"
    "}\n";

static void add_cube(Mesh *m, float x, float z, float side, float height, const float *colour) {
    const float a[3] = {side, 0, 0}, b[3] = {0, height, 0}, c[3] = {0, 0, side}, low[3] = {x, 0, z},
                top[3] = {x, height, z}, front[3] = {x, 0, z + side}, right[3] = {x + side, 0, z};
    add_square(m, low, b, a, colour);
    add_square(m, low, c, b, colour);
    add_square(m, front, a, b, colour);
    add_square(m, right, b, c, colour);
    add_square(m, top, c, a, colour);
}

static MTLRenderPipelineState *pipeline_of(MTLDevice *device, MTLLibrary *library) {
    MTLError *error = NULL;
    MTLRenderPipelineDescriptor d = {.vertex_function = mtl_library_new_function(library, "stand"),
                                     .fragment_function = mtl_library_new_function(library, "lit"),
                                     .depth_attachment_pixel_format = MTLPixelFormatDepth32Float};
    d.color_attachments[0].pixel_format = MTLPixelFormatRGBA8Unorm;
    MTLRenderPipelineState *state = mtl_device_new_render_pipeline_state(device, &d, &error);
    require(state, error, "render pipeline");
    mtl_release(d.vertex_function), mtl_release(d.fragment_function);
    return state;
}

static MTLTexture *target_of(MTLDevice *device, MTLPixelFormat format) {
    MTLTextureDescriptor d = mtl_texture_descriptor_2d(format, SIZE, SIZE, false);
    d.usage = MTLTextureUsageRenderTarget;
    MTLTexture *texture = mtl_device_new_texture(device, &d);
    require(texture, NULL, "texture");
    return texture;
}

int main(int argc, char **argv) {
    static Mesh scene;
    static unsigned char pixels[SIZE * SIZE * 4];
    MTLDevice *device = default_device();
    if (!mtl_device_supports_raytracing(device)) {
        printf("this device has no ray tracing\n");
        return 0;
    }
    add_square(&scene, (const float[]){-6, 0, -6}, (const float[]){0, 0, 12},
               (const float[]){12, 0, 0}, (const float[]){0.75f, 0.75f, 0.7f});
    add_cube(&scene, -1.6f, -0.8f, 0.8f, 1.6f, (const float[]){0.8f, 0.35f, 0.2f});
    add_cube(&scene, -0.2f, 0.2f, 0.6f, 0.6f, (const float[]){0.25f, 0.5f, 0.8f});
    add_cube(&scene, 0.9f, -1.4f, 0.7f, 1.1f, (const float[]){0.4f, 0.7f, 0.35f});
    MTLCommandQueue *queue = mtl_device_new_command_queue(device);
    MTLLibrary *library = library_of(device, source);
    MTLRenderPipelineState *state = pipeline_of(device, library);
    MTLDepthStencilState *depth = mtl_device_new_depth_stencil_state(
        device, &(MTLDepthStencilDescriptor){.depth_compare_function = MTLCompareFunctionLess,
                                             .depth_write_enabled = true});
    MTLBuffer *corners =
                  mtl_device_new_buffer_with_bytes(device, scene.corners, sizeof scene.corners, 0),
              *surfaces = mtl_device_new_buffer_with_bytes(device, scene.surfaces,
                                                           sizeof scene.surfaces, 0);
    const MTLAccelerationStructureGeometryDescriptor triangles = {
        .vertex_buffer = corners, .triangle_count = 2 * (size_t)scene.n};
    MTLAccelerationStructure *structure =
        build(device, queue,
              &(MTLAccelerationStructureDescriptor){.geometry_descriptors = &triangles,
                                                    .geometry_descriptor_count = 1});
    MTLTexture *color = target_of(device, MTLPixelFormatRGBA8Unorm),
               *depths = target_of(device, MTLPixelFormatDepth32Float);
    MTLRenderPassDescriptor pass = mtl_render_pass_descriptor_make();
    pass.color_attachments[0].texture = color;
    pass.color_attachments[0].load_action = MTLLoadActionClear;
    pass.color_attachments[0].clear_color = (MTLClearColor){0.6, 0.7, 0.85, 1};
    pass.depth_attachment.texture = depths;
    pass.depth_attachment.load_action = MTLLoadActionClear;
    pass.depth_attachment.clear_depth = 1;
    MTLCommandBuffer *commands = mtl_command_queue_command_buffer(queue);
    MTLRenderCommandEncoder *encoder = mtl_command_buffer_render_command_encoder(commands, &pass);
    mtl_render_command_encoder_set_render_pipeline_state(encoder, state);
    mtl_render_command_encoder_set_depth_stencil_state(encoder, depth);
    mtl_render_command_encoder_set_vertex_buffer(encoder, corners, 0, 0);
    mtl_render_command_encoder_set_fragment_acceleration_structure(encoder, structure, 0);
    mtl_render_command_encoder_set_fragment_buffer(encoder, surfaces, 0, 1);
    mtl_render_command_encoder_draw_primitives(encoder, MTLPrimitiveTypeTriangle, 0,
                                               6 * (size_t)scene.n);
    mtl_render_command_encoder_end_encoding(encoder);
    double ms = complete(commands);

    mtl_texture_get_bytes(color, pixels, SIZE * 4, mtl_region_make_2d(0, 0, SIZE, SIZE), 0);
    size_t dark = 0, bright = 0;
    for (size_t i = 0; i < SIZE * SIZE; i++)
        dark += pixels[i * 4] < 110, bright += pixels[i * 4] > 190;
    printf("%d x %d pixels, 16 shadow rays each, %.0f ms; %zu in the dark, %zu lit\n", SIZE, SIZE,
           ms, dark, bright);
    if (argc > 1) write_png(argv[1], pixels, SIZE, SIZE);
    mtl_release(commands), mtl_release(depths), mtl_release(color), mtl_release(structure);
    mtl_release(surfaces), mtl_release(corners), mtl_release(depth), mtl_release(state);
    mtl_release(library), mtl_release(queue), mtl_release(device);
    return dark < 1000 || bright < 10000;
}
