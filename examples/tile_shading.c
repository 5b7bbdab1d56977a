// SPDX-License-Identifier: Apache-2.0
// tile_shading.c: solid and glass balls in one pass with one colour attachment. Everything between
// lives in an explicit imageblock: solid bodies leave colour, normal and distance there; a tile
// function lights them; glass bodies, drawn in any order, keep the four nearest layers of a pixel
// sorted; a last draw puts them over each other, and a second tile function finishes the colours in
// place. A PNG file.
//
//     tile_shading [FILE.png]
#include "scene.h"

enum { WIDTH = 720, HEIGHT = 480, LIGHTS = 24, SOLID = 49, GLASS = 40 };

// In two parts: compilers need not take longer ones.
static const char first_part[] =
    "#include <metal_stdlib>\n"
    "using namespace metal;\n"
    "struct Scene { float4x4 camera; float4 eye, right, up, forward; uint n_lights; };\n"
    "struct Light { float4 place, color; };\n"
    "struct In { float3 place [[attribute(0)]]; float3 normal [[attribute(1)]]; };\n"
    "struct Out { float4 place [[position]]; float3 world, normal; float3 color [[flat]]; };\n"
    "struct Pixel {\n"
    "    half4 base; // a: distance; 0: nothing there\n"
    "    rgb10a2<half4> normal;\n"
    "    rgba8unorm<half4> glass [[raster_order_group(0)]] [4];\n"
    "    half depths [[raster_order_group(0)]] [4];\n"
    "};\n"
    "struct Store { Pixel pixel [[imageblock_data]]; };\n"
    "static float noise(uint n) { n = (n ^ 61) * 9u; n ^= n >> 4; n *= 0x27d4eb2du; return "
    "float((n ^ (n >> 15)) & 0xffff) / 65535.0f; }\n"
    "vertex Out bodies(In in [[stage_in]], uint n [[instance_id]], constant Scene &s "
    "[[buffer(1)]], constant uint &kind [[buffer(2)]]) {\n"
    "    float3 p = in.place, c = float3(0.75f);\n"
    "    if (kind == 0) {\n"
    "        p *= 30;\n"
    "    } else if (kind == 1) {\n"
    "        float size = 0.38f + 0.15f * noise(n * 7 + 1);\n"
    "        p = p * size + float3(float(n % 7) * 1.5f - 4.5f, size, float(n / 7) * 1.5f - 4.5f);\n"
    "        c = 0.62f + 0.3f * cos(6.28f * (noise(n + 5) + float3(0.0f, 0.33f, 0.67f)));\n"
    "    } else { // glass, in no order\n"
    "        float size = 0.5f + 0.6f * noise(n * 3 + 2);\n"
    "        p = p * size + float3(9 * noise(n * 5 + 3) - 4.5f, 1.3f + 1.5f * noise(n + 40), 9 * "
    "noise(n * 9 + 7) - 4.5f);\n"
    "        c = 0.55f + 0.45f * cos(6.28f * (noise(n + 77) + float3(0.1f, 0.43f, 0.77f)));\n"
    "    }\n"
    "    return {s.camera * float4(p, 1), p, in.normal, c};\n"
    "}\n"
    "// 1: the imageblock is empty at first.\n"
    "kernel void start(imageblock<Pixel, imageblock_layout_explicit> block, ushort2 at "
    "[[thread_position_in_threadgroup]]) {\n"
    "    threadgroup_imageblock Pixel *p = block.data(at);\n"
    "    p->base = half4(0);\n"
    "    for (ushort i = 0; i < 4; i++) { p->glass[i] = half4(0); p->depths[i] = half(INFINITY); "
    "}\n"
    "}\n"
    "// 2: solid bodies.\n"
    "fragment Store solid(Out in [[stage_in]], Pixel old [[imageblock_data]], constant Scene &s "
    "[[buffer(1)]]) {\n"
    "    Store o = {old};\n"
    "    o.pixel.base = half4(half3(in.color), half(length(in.world - s.eye.xyz)));\n"
    "    o.pixel.normal = half4(half3(normalize(in.normal)) * 0.5h + 0.5h, 1);\n"
    "    return o;\n"
    "}\n"
    "// 3: light for them.\n"
    "kernel void light(imageblock<Pixel, imageblock_layout_explicit> block, ushort2 at "
    "[[thread_position_in_threadgroup]],\n"
    "                  uint2 place [[thread_position_in_grid]], constant Scene &s [[buffer(1)]], "
    "constant Light *all [[buffer(2)]],\n"
    "                  constant float2 &size [[buffer(3)]]) {\n"
    "    threadgroup_imageblock Pixel *p = block.data(at);\n"
    "    float2 ndc = (float2(place) + 0.5f) / size * float2(2, -2) + float2(-1, 1);\n"
    "    float3 ray = normalize(s.forward.xyz + ndc.x * s.right.xyz + ndc.y * s.up.xyz);\n"
    "    float distance = p->base.a;\n"
    "    float3 sky = mix(float3(0.16f, 0.13f, 0.2f), float3(0.02f, 0.03f, 0.07f), saturate(ray.y "
    "* 3 + 0.6f)), got = sky;\n"
    "    if (distance > 0) {\n"
    "        float3 base = float3(p->base.rgb), n = normalize(float3(half4(p->normal).xyz) * 2 - "
    "1), at = s.eye.xyz + ray * distance;\n"
    "        got = base * (0.07f + 0.06f * n.y);\n"
    "        for (uint i = 0; i < s.n_lights; i++) {\n"
    "            float3 to = all[i].place.xyz - at;\n"
    "            float d2 = dot(to, to), falls = saturate(1 - d2 / 12);\n"
    "            float3 l = to * rsqrt(d2);\n"
    "            float shine = pow(saturate(dot(n, normalize(l - ray))), 50.0f);\n"
    "            got += all[i].color.rgb * falls * falls / (0.4f + d2) * (base * saturate(dot(n, "
    "l)) + shine * 0.5f);\n"
    "        }\n"
    "        got = mix(got, sky, 1 - exp(-max(distance - 9, 0.0f) * 0.08f));\n"
    "    }\n"
    "    p->base = half4(half3(got), 1);\n"
    "}\n";
static const char second_part[] =
    "// 4: glass, sorted as it comes.\n"
    "fragment Store glass(Out in [[stage_in]], Pixel old [[imageblock_data]], constant Scene &s "
    "[[buffer(1)]]) {\n"
    "    float3 v = normalize(s.eye.xyz - in.world), n = normalize(in.normal);\n"
    "    float facing = abs(dot(n, v)), rim = pow(1 - facing, 3.0f), shine = "
    "pow(saturate(dot(reflect(-v, n), normalize(float3(0.5f, 0.9f, 0.3f)))), 60.0f);\n"
    "    half4 c = half4(half3(in.color * (0.35f + 0.5f * rim) + shine + rim * 0.25f), "
    "half(saturate(0.2f + 0.6f * rim + shine)));\n"
    "    half d = half(length(in.world - s.eye.xyz));\n"
    "    Store o = {old};\n"
    "    for (short i = 0; i < 4; i++) {\n"
    "        bool nearer = d <= o.pixel.depths[i];\n"
    "        half4 other = o.pixel.glass[i];\n"
    "        half behind = o.pixel.depths[i];\n"
    "        o.pixel.glass[i] = nearer ? c : other;\n"
    "        o.pixel.depths[i] = nearer ? d : behind;\n"
    "        c = nearer ? other : c;\n"
    "        d = nearer ? behind : d;\n"
    "    }\n"
    "    return o;\n"
    "}\n"
    "// 5: one over the other.\n"
    "vertex float4 whole(uint i [[vertex_id]]) { return float4(float2((i << 1) & 2, i & 2) * 2 - "
    "1, 0, 1); }\n"
    "fragment half4 over(Pixel p [[imageblock_data]]) {\n"
    "    half3 c = p.base.rgb;\n"
    "    for (short i = 3; i >= 0; i--) { half4 l = p.glass[i]; c = mix(c, l.rgb, l.a); }\n"
    "    return half4(c, 1);\n"
    "}\n"
    "// 6: colours, in place.\n"
    "struct Color { half4 c [[color(0)]]; };\n"
    "kernel void finish(imageblock<Color> block, ushort2 at [[thread_position_in_threadgroup]], "
    "uint2 place [[thread_position_in_grid]],\n"
    "                   constant float2 &size [[buffer(3)]]) {\n"
    "    Color p = block.read(at);\n"
    "    float2 off = float2(place) / size - 0.5f;\n"
    "    p.c.rgb = p.c.rgb * half(1.15f - 0.9f * dot(off, off));\n"
    "    block.write(p, at);\n"
    "}\n";

typedef struct Scene { // as in the shaders
    Camera camera;
    uint32_t n_lights, unused[3];
} Scene;

static MTLRenderPipelineState *tile_pipeline(MTLDevice *device, MTLLibrary *library,
                                             const char *name, MTLPixelFormat format) {
    MTLError *error = NULL;
    MTLTileRenderPipelineDescriptor d = {.label = name,
                                         .tile_function = mtl_library_new_function(library, name),
                                         .threadgroup_size_matches_tile_size = true};
    d.color_attachments[0].pixel_format = format;
    MTLRenderPipelineState *p =
        mtl_device_new_render_pipeline_state_with_tile_descriptor(device, &d, &error);
    require(p, error, name);
    mtl_release(d.tile_function);
    return p;
}

static void dispatch(MTLRenderCommandEncoder *encoder, MTLRenderPipelineState *pipeline) {
    mtl_render_command_encoder_set_render_pipeline_state(encoder, pipeline);
    mtl_render_command_encoder_dispatch_threads_per_tile(
        encoder, mtl_size_make(mtl_render_command_encoder_tile_width(encoder),
                               mtl_render_command_encoder_tile_height(encoder), 1));
}

int main(int argc, char **argv) {
    MTLDevice *device = default_device();
    MTLCommandQueue *queue = mtl_device_new_command_queue(device);
    char source[sizeof first_part + sizeof second_part];
    snprintf(source, sizeof source, "%s%s", first_part, second_part);
    MTLLibrary *library = library_of(device, source);
    const MTLPixelFormat color = MTLPixelFormatRGBA8Unorm_sRGB, depth = MTLPixelFormatDepth32Float;
    MTLVertexDescriptor layout = {.attributes[0] = {.format = MTLVertexFormatFloat3},
                                  .attributes[1] = {.format = MTLVertexFormatFloat3, .offset = 12},
                                  .layouts[0].stride = 24};
    MTLRenderPipelineDescriptor all = {.depth_attachment_pixel_format = depth};
    all.color_attachments[0].pixel_format = color;
    MTLRenderPipelineState *over = make_pipeline(device, library, "whole", "over", all);
    all.vertex_descriptor = &layout;
    MTLRenderPipelineState *solid = make_pipeline(device, library, "bodies", "solid", all);
    MTLRenderPipelineState *glass = make_pipeline(device, library, "bodies", "glass", all);
    MTLRenderPipelineState *start = tile_pipeline(device, library, "start", color);
    MTLRenderPipelineState *light = tile_pipeline(device, library, "light", color);
    MTLRenderPipelineState *last = tile_pipeline(device, library, "finish", color);
    MTLDepthStencilState *nearer = mtl_device_new_depth_stencil_state(
        device, &(MTLDepthStencilDescriptor){.depth_compare_function = MTLCompareFunctionLess,
                                             .depth_write_enabled = true});
    MTLDepthStencilState *visible = mtl_device_new_depth_stencil_state(
        device, &(MTLDepthStencilDescriptor){.depth_compare_function = MTLCompareFunctionLess});
    Mesh mesh = {0};
    Range ground = mesh_surface(&mesh, 1, 1, floor_point),
          ball = mesh_surface(&mesh, 48, 24, sphere_point);
    MTLBuffer *vertices = mtl_device_new_buffer_with_bytes(device, mesh.vertices,
                                                           mesh.n_vertices * sizeof *mesh.vertices,
                                                           MTLResourceStorageModeShared);
    MTLBuffer *indices = mtl_device_new_buffer_with_bytes(device, mesh.indices, mesh.n_indices * 4,
                                                          MTLResourceStorageModeShared);
    require(vertices && indices && nearer && visible ? device : NULL, NULL, "buffers");
    Scene scene = {0};
    scene.camera =
        camera_at((Vec3){5.6f, 4.6f, 8.2f}, (Vec3){0, 0.5f, 0}, 2.0f, (float)WIDTH / HEIGHT);
    scene.n_lights = LIGHTS;
    static float lights[LIGHTS][8];
    place_lights(lights, LIGHTS, (Lights){11, 2.2f, 11, 1.4f, 1, 0.4f});
    const float size[2] = {WIDTH, HEIGHT};

    MTLTexture *picture = make_target(device, color, WIDTH, HEIGHT, 1, MTLStorageModeShared);
    MTLTexture *depths = make_target(device, depth, WIDTH, HEIGHT, 1, MTLStorageModeMemoryless);
    MTLRenderPassDescriptor pass = mtl_render_pass_descriptor_make();
    pass.color_attachments[0].texture = picture;
    pass.color_attachments[0].load_action = MTLLoadActionClear;
    pass.depth_attachment.texture = depths;
    pass.tile_width = pass.tile_height = 32;
    pass.imageblock_sample_length = mtl_render_pipeline_state_imageblock_sample_length(start);
    MTLCommandBuffer *commands = mtl_command_queue_command_buffer(queue);
    MTLRenderCommandEncoder *encoder = mtl_command_buffer_render_command_encoder(commands, &pass);
    require(encoder, NULL, "encoder");
    mtl_render_command_encoder_set_vertex_buffer(encoder, vertices, 0, 0);
    mtl_render_command_encoder_set_vertex_bytes(encoder, &scene, sizeof scene, 1);
    mtl_render_command_encoder_set_fragment_bytes(encoder, &scene, sizeof scene, 1);
    mtl_render_command_encoder_set_tile_bytes(encoder, &scene, sizeof scene, 1);
    mtl_render_command_encoder_set_tile_bytes(encoder, lights, sizeof lights, 2);
    mtl_render_command_encoder_set_tile_bytes(encoder, size, sizeof size, 3);
    dispatch(encoder, start);
    for (uint32_t kind = 0; kind < 3; kind++) { // the ground, solid balls, glass ones
        Range r = kind ? ball : ground;
        mtl_render_command_encoder_set_render_pipeline_state(encoder, kind < 2 ? solid : glass);
        mtl_render_command_encoder_set_depth_stencil_state(encoder, kind < 2 ? nearer : visible);
        mtl_render_command_encoder_set_vertex_bytes(encoder, &kind, sizeof kind, 2);
        mtl_render_command_encoder_draw_indexed_primitives_instanced(
            encoder, MTLPrimitiveTypeTriangle, r.count, MTLIndexTypeUInt32, indices, 4 * r.first,
            kind == 0   ? 1
            : kind == 1 ? SOLID
                        : GLASS,
            0, 0);
        if (kind == 1) dispatch(encoder, light);
    }
    mtl_render_command_encoder_set_render_pipeline_state(encoder, over);
    mtl_render_command_encoder_set_depth_stencil_state(encoder, NULL);
    mtl_render_command_encoder_draw_primitives(encoder, MTLPrimitiveTypeTriangle, 0, 3);
    dispatch(encoder, last);
    mtl_render_command_encoder_end_encoding(encoder);
    finish(commands);

    unsigned char *pixels = read_pixels(picture, WIDTH, HEIGHT);
    size_t bright = 0, dark = 0;
    for (size_t i = 0; i < WIDTH * HEIGHT; i++) {
        int sum = pixels[4 * i] + pixels[4 * i + 1] + pixels[4 * i + 2];
        bright += sum > 420;
        dark += sum < 60;
    }
    printf("%zu bright pixels, %zu dark ones\n", bright, dark);
    bool ok = bright > 5000 && dark < WIDTH * HEIGHT / 8;
    if (argc > 1) write_png(argv[1], pixels, WIDTH, HEIGHT);
    free(pixels), free(mesh.vertices), free(mesh.indices);
    void *objects[] = {picture, depths, vertices, indices, nearer,  visible, start, light,
                       last,    solid,  glass,    over,    library, queue,   device};
    for (size_t i = 0; i < sizeof objects / sizeof *objects; i++) mtl_release(objects[i]);
    return ok ? 0 : 1;
}
