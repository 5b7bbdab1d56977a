// SPDX-License-Identifier: Apache-2.0
// sprites.c: soap bubbles: one quad drawn as many times as there are bubbles, each with its own
// place, size and hue from a buffer that steps once per instance; premultiplied alpha is blended
// over what is behind. A PNG file.
//
//     sprites [FILE.png]
#include "scene.h"

enum { WIDTH = 720, HEIGHT = 480, BUBBLES = 90 };

static const char source[] =
    "#include <metal_stdlib>\n"
    "using namespace metal;\n"
    "struct Sky { float4 place [[position]]; float2 uv; };\n"
    "vertex Sky sky_vertex(uint i [[vertex_id]]) {\n"
    "    float2 uv = float2((i << 1) & 2, i & 2);\n"
    "    return {float4(uv * 2 - 1, 0, 1), uv};\n"
    "}\n"
    "fragment float4 sky(Sky in [[stage_in]]) {\n"
    "    float3 c = mix(float3(0.95f, 0.55f, 0.38f), float3(0.10f, 0.16f, 0.42f), "
    "smoothstep(-0.1f, 0.9f, in.uv.y));\n"
    "    float hills = 0.16f + 0.05f * sin(in.uv.x * 9) + 0.03f * sin(in.uv.x * 23 + 1);\n"
    "    c = mix(float3(0.05f, 0.05f, 0.12f), c, smoothstep(-0.004f, 0.004f, in.uv.y - hills));\n"
    "    return float4(c, 1);\n"
    "}\n"
    "struct Bubble { float3 at_size [[attribute(0)]]; float4 hue_phase [[attribute(1)]]; };\n"
    "struct Sprite { float4 place [[position]]; float2 p; float4 hue [[flat]]; };\n"
    "vertex Sprite bubble_vertex(Bubble b [[stage_in]], uint i [[vertex_id]], constant float "
    "&aspect [[buffer(1)]]) {\n"
    "    float2 p = float2(i & 1, i >> 1) * 2 - 1;\n"
    "    float2 at = b.at_size.xy + p * b.at_size.z * float2(1 / aspect, 1);\n"
    "    return {float4(at, 0, 1), p, b.hue_phase};\n"
    "}\n"
    "fragment float4 bubble(Sprite in [[stage_in]]) {\n"
    "    float r = length(in.p), edge = fwidth(r);\n"
    "    float inside = 1 - smoothstep(1 - 1.5f * edge, 1.0f, r);\n"
    "    float rim = pow(saturate(r), 6.0f);                         // the film is seen at a "
    "slant\n"
    "    float film = in.hue.w + 5 * r * r + 0.8f * in.p.y;          // its thickness\n"
    "    float3 colors = 0.5f + 0.5f * cos(film + float3(0, 2.1f, 4.2f));\n"
    "    float3 c = mix(in.hue.rgb, colors, 0.6f) * (0.10f + 0.9f * rim);\n"
    "    float window = smoothstep(0.30f, 0.05f, length((in.p - float2(-0.42f, 0.48f)) * float2(1, "
    "1.3f)));\n"
    "    float glow = smoothstep(0.22f, 0.0f, length(in.p - float2(0.45f, -0.5f)));\n"
    "    float light = 0.9f * window + 0.35f * glow;\n"
    "    float alpha = 0.06f + 0.55f * rim;\n"
    "    return float4(c * (alpha + 0.25f) + light, saturate(alpha + light)) * inside; // "
    "premultiplied\n"
    "}\n";

typedef struct Bubble {
    float x, y, size;
    float hue[4]; // of the film, and where its colours begin
} Bubble;

static int larger_first(const void *a, const void *b) { // those far away are small: drawn first
    float x = ((const Bubble *)a)->size, y = ((const Bubble *)b)->size;
    return (x > y) - (x < y);
}

static void blow(Bubble *bubbles) {
    unsigned seed = 20;
    for (int i = 0; i < BUBBLES; i++) {
        float s = random_float(&seed) + 0.5f;
        Bubble b = {random_float(&seed) * 2.1f,
                    random_float(&seed) * 1.9f + 0.1f,
                    0.03f + 0.21f * s * s * s,
                    {0}};
        for (int k = 0; k < 4; k++) b.hue[k] = 0.6f + 0.7f * random_float(&seed);
        b.hue[3] *= turn;
        bubbles[i] = b;
    }
    qsort(bubbles, BUBBLES, sizeof *bubbles, larger_first);
}

int main(int argc, char **argv) {
    MTLDevice *device = default_device();
    MTLCommandQueue *queue = mtl_device_new_command_queue(device);
    MTLLibrary *library = library_of(device, source);
    const MTLPixelFormat format = MTLPixelFormatRGBA8Unorm_sRGB;
    MTLRenderPipelineState *sky =
        make_pipeline(device, library, "sky_vertex", "sky",
                      (MTLRenderPipelineDescriptor){.color_attachments[0].pixel_format = format});
    MTLRenderPipelineState *bubble = make_pipeline(
        device, library, "bubble_vertex", "bubble",
        (MTLRenderPipelineDescriptor){
            .vertex_descriptor =
                &(MTLVertexDescriptor){
                    .attributes[0] = {.format = MTLVertexFormatFloat3},
                    .attributes[1] = {.format = MTLVertexFormatFloat4,
                                      .offset = offsetof(Bubble, hue)},
                    .layouts[0] = {.stride = sizeof(Bubble),
                                   .step_function = MTLVertexStepFunctionPerInstance}},
            .color_attachments[0] = {
                .pixel_format = format,
                .blending_enabled = true,
                .source_rgb_blend_factor = MTLBlendFactorOne,
                .source_alpha_blend_factor = MTLBlendFactorOne,
                .destination_rgb_blend_factor = MTLBlendFactorOneMinusSourceAlpha,
                .destination_alpha_blend_factor = MTLBlendFactorOneMinusSourceAlpha}});
    static Bubble bubbles[BUBBLES];
    blow(bubbles);
    MTLBuffer *instances = mtl_device_new_buffer_with_bytes(device, bubbles, sizeof bubbles,
                                                            MTLResourceStorageModeShared);
    require(instances, NULL, "buffer");
    MTLTexture *picture = make_target(device, format, WIDTH, HEIGHT, 1, MTLStorageModeShared);

    MTLRenderPassDescriptor pass = mtl_render_pass_descriptor_make();
    pass.color_attachments[0].texture = picture;
    MTLCommandBuffer *commands = mtl_command_queue_command_buffer(queue);
    MTLRenderCommandEncoder *encoder = mtl_command_buffer_render_command_encoder(commands, &pass);
    require(encoder, NULL, "encoder");
    mtl_render_command_encoder_set_render_pipeline_state(encoder, sky);
    mtl_render_command_encoder_draw_primitives(encoder, MTLPrimitiveTypeTriangle, 0, 3);
    float aspect = (float)WIDTH / HEIGHT;
    mtl_render_command_encoder_set_render_pipeline_state(encoder, bubble);
    mtl_render_command_encoder_set_vertex_buffer(encoder, instances, 0, 0);
    mtl_render_command_encoder_set_vertex_bytes(encoder, &aspect, sizeof aspect, 1);
    mtl_render_command_encoder_draw_primitives_instanced(encoder, MTLPrimitiveTypeTriangleStrip, 0,
                                                         4, BUBBLES, 0);
    mtl_render_command_encoder_end_encoding(encoder);
    finish(commands);

    unsigned char *pixels = read_pixels(picture, WIDTH, HEIGHT);
    size_t bright = 0;
    for (size_t i = 0; i < WIDTH * HEIGHT; i++)
        bright += pixels[4 * i] > 215 && pixels[4 * i + 1] > 215 && pixels[4 * i + 2] > 215;
    printf("%d bubbles, light on %zu pixels\n", BUBBLES, bright);
    if (argc > 1) write_png(argv[1], pixels, WIDTH, HEIGHT);
    free(pixels);
    mtl_release(picture), mtl_release(instances), mtl_release(bubble), mtl_release(sky);
    mtl_release(library), mtl_release(queue), mtl_release(device);
    return bright < 500 || bright > 30000;
}
