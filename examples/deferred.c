// SPDX-License-Identifier: Apache-2.0
// deferred.c: one pass with four colour attachments. First every body writes its colour, normal and
// distance; then a draw over the whole picture reads them back from the attachments ([[color(n)]])
// and adds up many small lights. A second pass shows the three below the result. A PNG file.
//
//     deferred [FILE.png]
#include "scene.h"

enum { WIDTH = 720, HEIGHT = 420, STRIP = WIDTH / 3 * HEIGHT / WIDTH, LIGHTS = 48, ROW = 11 };

static const char source[] =
    "#include <metal_stdlib>\n"
    "using namespace metal;\n"
    "struct Scene { float4x4 camera; float4 eye, right, up, forward; uint n_lights; };\n"
    "struct Light { float4 place, color; };\n"
    "struct In { float3 place [[attribute(0)]]; float3 normal [[attribute(1)]]; };\n"
    "struct Out { float4 place [[position]]; float3 world, normal; float3 color [[flat]]; };\n"
    "static float noise(uint n) { n = (n ^ 61) * 9u; n ^= n >> 4; n *= 0x27d4eb2du; return "
    "float((n ^ (n >> 15)) & 0xffff) / 65535.0f; }\n"
    "vertex Out body_vertex(In in [[stage_in]], uint n [[instance_id]], constant Scene &s "
    "[[buffer(1)]], constant uint &row [[buffer(2)]]) {\n"
    "    float3 p = in.place, c = float3(0.8f);\n"
    "    if (row == 0) {\n"
    "        p *= 40;\n"
    "    } else { // a field of bodies\n"
    "        float2 at = float2(n % row, n / row) - float2(row / 2);\n"
    "        float size = 0.32f + 0.16f * noise(n * 7 + 1);\n"
    "        p = p * size + float3(at.x * 1.25f + 0.5f * (noise(n) - 0.5f), size, at.y * 1.25f + "
    "0.5f * (noise(n + 99) - 0.5f));\n"
    "        c = 0.68f + 0.27f * cos(6.28f * (noise(n + 5) + float3(0.0f, 0.33f, 0.67f)));\n"
    "    }\n"
    "    return {s.camera * float4(p, 1), p, in.normal, c};\n"
    "}\n"
    "// 0 is the picture, which only the lights write.\n"
    "struct Buffers { float4 color [[color(1)]]; half4 normal [[color(2)]]; float distance "
    "[[color(3)]]; };\n"
    "fragment Buffers body(Out in [[stage_in]], constant Scene &s [[buffer(1)]]) {\n"
    "    return {float4(in.color, 1), half4(half3(normalize(in.normal)), 1), length(in.world - "
    "s.eye.xyz)};\n"
    "}\n"
    "struct Whole { float4 place [[position]]; float2 ndc; };\n"
    "vertex Whole whole_vertex(uint i [[vertex_id]]) {\n"
    "    float2 p = float2((i << 1) & 2, i & 2) * 2 - 1;\n"
    "    return {float4(p, 0, 1), p};\n"
    "}\n"
    "fragment float4 lights(Whole in [[stage_in]], float4 base [[color(1)]], half4 normal "
    "[[color(2)]], float distance [[color(3)]],\n"
    "                       constant Scene &s [[buffer(1)]], constant Light *all [[buffer(2)]]) {\n"
    "    float3 ray = normalize(s.forward.xyz + in.ndc.x * s.right.xyz + in.ndc.y * s.up.xyz);\n"
    "    float3 sum = float3(0.010f, 0.013f, 0.024f);\n"
    "    if (distance > 0) {\n"
    "        float3 p = s.eye.xyz + ray * distance, n = float3(normal.xyz);\n"
    "        float3 got = base.rgb * 0.03f;\n"
    "        for (uint i = 0; i < s.n_lights; i++) {\n"
    "            float3 to = all[i].place.xyz - p;\n"
    "            float d2 = dot(to, to), falls = saturate(1 - d2 / 5.5f);\n"
    "            float3 l = to * rsqrt(d2);\n"
    "            float shine = pow(saturate(dot(n, normalize(l - ray))), 40.0f);\n"
    "            got += all[i].color.rgb * falls * falls / (0.25f + d2) * (base.rgb * "
    "saturate(dot(n, l)) + shine * 0.6f);\n"
    "        }\n"
    "        sum = mix(got, sum, 1 - exp(-max(distance - 6, 0.0f) * 0.09f));\n"
    "    }\n"
    "    for (uint i = 0; i < s.n_lights; i++) { // the lights themselves, where nothing hides "
    "them\n"
    "        float3 to = all[i].place.xyz - s.eye.xyz;\n"
    "        float along = dot(to, ray), off = length(to - ray * along);\n"
    "        if (along < distance || distance == 0) sum += all[i].color.rgb * 0.0016f / (0.0006f + "
    "off * off) * 0.05f;\n"
    "    }\n"
    "    return float4(sum / (1 + 0.25f * sum), 1);\n"
    "}\n"
    "fragment float4 shown(Whole in [[stage_in]], texture2d<float> t [[texture(0)]], constant uint "
    "&which [[buffer(0)]]) {\n"
    "    constexpr sampler s(filter::nearest);\n"
    "    float4 c = t.sample(s, in.ndc * float2(0.5f, -0.5f) + 0.5f);\n"
    "    if (which == 2) c = float4(saturate(c.xyz * 0.5f + 0.5f) * c.w, 1);\n"
    "    if (which == 3) c = float4(float3(c.x > 0 ? exp(-c.x * 0.16f) : 0), 1);\n"
    "    return c;\n"
    "}\n";

typedef struct Scene { // as in the shaders
    Camera camera;
    uint32_t n_lights, unused[3];
} Scene;

int main(int argc, char **argv) {
    MTLDevice *device = default_device();
    MTLCommandQueue *queue = mtl_device_new_command_queue(device);
    MTLLibrary *library = library_of(device, source);
    static const MTLPixelFormat formats[4] = {MTLPixelFormatRGBA8Unorm_sRGB,
                                              MTLPixelFormatRGBA8Unorm, MTLPixelFormatRGBA16Float,
                                              MTLPixelFormatR32Float};
    const MTLPixelFormat depth = MTLPixelFormatDepth32Float;
    MTLRenderPipelineDescriptor all = {.depth_attachment_pixel_format = depth};
    for (int i = 0; i < 4; i++) all.color_attachments[i].pixel_format = formats[i];
    MTLRenderPipelineDescriptor into_buffers = all, into_picture = all;
    MTLVertexDescriptor layout = {.attributes[0] = {.format = MTLVertexFormatFloat3},
                                  .attributes[1] = {.format = MTLVertexFormatFloat3, .offset = 12},
                                  .layouts[0].stride = 24};
    into_buffers.vertex_descriptor = &layout;
    into_buffers.color_attachments[0].write_nothing = true;
    for (int i = 1; i < 4; i++) into_picture.color_attachments[i].write_nothing = true;
    MTLRenderPipelineState *body =
        make_pipeline(device, library, "body_vertex", "body", into_buffers);
    MTLRenderPipelineState *light =
        make_pipeline(device, library, "whole_vertex", "lights", into_picture);
    MTLRenderPipelineState *shown = make_pipeline(
        device, library, "whole_vertex", "shown",
        (MTLRenderPipelineDescriptor){.color_attachments[0].pixel_format = formats[0]});
    MTLDepthStencilState *nearer = mtl_device_new_depth_stencil_state(
        device, &(MTLDepthStencilDescriptor){.depth_compare_function = MTLCompareFunctionLess,
                                             .depth_write_enabled = true});
    Mesh mesh = {0};
    Range ground = mesh_surface(&mesh, 1, 1, floor_point),
          ball = mesh_surface(&mesh, 48, 24, sphere_point);
    MTLBuffer *vertices = buffer_of(device, mesh.vertices, mesh.n_vertices * sizeof *mesh.vertices),
              *indices = buffer_of(device, mesh.indices, mesh.n_indices * 4);
    require(nearer, NULL, "depth state");
    Scene scene = {0};
    scene.camera =
        camera_at((Vec3){4.6f, 4.9f, 7.0f}, (Vec3){0.3f, -0.4f, 0.9f}, 1.9f, (float)WIDTH / HEIGHT);
    scene.n_lights = LIGHTS;
    static float lights[LIGHTS][8];
    place_lights(lights, LIGHTS, (Lights){5, 1.1f, 13, 0.75f, 0.5f, 0.1f});

    MTLRenderPassDescriptor pass = mtl_render_pass_descriptor_make();
    MTLTexture *targets[4];
    for (int i = 0; i < 4; i++) {
        targets[i] = make_target(device, formats[i], WIDTH, HEIGHT, 1, MTLStorageModePrivate);
        pass.color_attachments[i].texture = targets[i];
        pass.color_attachments[i].load_action = MTLLoadActionClear;
        pass.color_attachments[i].clear_color = mtl_clear_color_make(0, 0, 0, 0);
    }
    MTLTexture *depths = make_target(device, depth, WIDTH, HEIGHT, 1, MTLStorageModeMemoryless);
    pass.depth_attachment.texture = depths;
    MTLCommandBuffer *commands = mtl_command_queue_command_buffer(queue);
    MTLRenderCommandEncoder *encoder = mtl_command_buffer_render_command_encoder(commands, &pass);
    require(encoder, NULL, "encoder");
    mtl_render_command_encoder_set_render_pipeline_state(encoder, body);
    mtl_render_command_encoder_set_depth_stencil_state(encoder, nearer);
    mtl_render_command_encoder_set_vertex_buffer(encoder, vertices, 0, 0);
    mtl_render_command_encoder_set_vertex_bytes(encoder, &scene, sizeof scene, 1);
    mtl_render_command_encoder_set_fragment_bytes(encoder, &scene, sizeof scene, 1);
    for (uint32_t row = 0; row <= ROW; row += ROW) { // the ground, then the field
        Range r = row ? ball : ground;
        mtl_render_command_encoder_set_vertex_bytes(encoder, &row, sizeof row, 2);
        mtl_render_command_encoder_draw_indexed_primitives_instanced(
            encoder, MTLPrimitiveTypeTriangle, r.count, MTLIndexTypeUInt32, indices, 4 * r.first,
            row ? ROW * ROW : 1, 0, 0);
    }
    mtl_render_command_encoder_set_render_pipeline_state(encoder, light);
    mtl_render_command_encoder_set_depth_stencil_state(encoder, NULL);
    mtl_render_command_encoder_set_fragment_bytes(encoder, lights, sizeof lights, 2);
    mtl_render_command_encoder_draw_primitives(encoder, MTLPrimitiveTypeTriangle, 0, 3);
    mtl_render_command_encoder_end_encoding(encoder);

    // The result, and below it what it was made from.
    MTLTexture *picture =
        make_target(device, formats[0], WIDTH, HEIGHT + STRIP, 1, MTLStorageModeShared);
    pass = mtl_render_pass_descriptor_make();
    pass.color_attachments[0].texture = picture;
    encoder = mtl_command_buffer_render_command_encoder(commands, &pass);
    require(encoder, NULL, "encoder");
    mtl_render_command_encoder_set_render_pipeline_state(encoder, shown);
    for (uint32_t i = 0; i < 4; i++) {
        MTLViewport part = {0, 0, WIDTH, HEIGHT, 0, 1};
        if (i) part = (MTLViewport){(double)(i - 1) * WIDTH / 3, HEIGHT, WIDTH / 3, STRIP, 0, 1};
        MTLScissorRect inside = {(size_t)part.origin_x, (size_t)part.origin_y, (size_t)part.width,
                                 (size_t)part.height};
        mtl_render_command_encoder_set_viewport(encoder, part);
        mtl_render_command_encoder_set_scissor_rect(encoder, inside);
        mtl_render_command_encoder_set_fragment_texture(encoder, targets[i], 0);
        mtl_render_command_encoder_set_fragment_bytes(encoder, &i, sizeof i, 0);
        mtl_render_command_encoder_draw_primitives(encoder, MTLPrimitiveTypeTriangle, 0, 3);
    }
    mtl_render_command_encoder_end_encoding(encoder);
    finish(commands);

    unsigned char *pixels = read_pixels(picture, WIDTH, HEIGHT + STRIP);
    size_t lit = 0, facing_up = 0;
    for (size_t i = 0; i < WIDTH * HEIGHT; i++)
        lit += pixels[4 * i] + pixels[4 * i + 1] + pixels[4 * i + 2] > 180;
    for (size_t y = HEIGHT; y < HEIGHT + STRIP; y++)
        for (size_t x = WIDTH / 3; x < WIDTH / 3 * 2; x++) {
            const unsigned char *p = pixels + 4 * (y * WIDTH + x); // a normal of (0, 1, 0)
            facing_up += p[0] > 180 && p[0] < 195 && p[1] > 250 && p[2] > 180 && p[2] < 195;
        }
    printf("%d lights on %d bodies: %zu pixels lit, %zu of the ground's normals\n", LIGHTS,
           ROW * ROW, lit, facing_up);
    if (argc > 1) write_png(argv[1], pixels, WIDTH, HEIGHT + STRIP);
    free(pixels), free(mesh.vertices), free(mesh.indices);
    for (int i = 0; i < 4; i++) mtl_release(targets[i]);
    mtl_release(picture), mtl_release(depths), mtl_release(vertices), mtl_release(indices);
    mtl_release(nearer), mtl_release(body), mtl_release(light), mtl_release(shown);
    mtl_release(library), mtl_release(queue), mtl_release(device);
    return lit < 30000 || facing_up < 3000;
}
