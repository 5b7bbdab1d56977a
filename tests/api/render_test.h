// SPDX-License-Identifier: Apache-2.0
// render_test.h: what the tests of render encoders share: functions, pipelines, targets.
#ifndef INGOT_TESTS_RENDER_TEST_H
#define INGOT_TESTS_RENDER_TEST_H
#include "api_test.h"

__attribute__((constructor)) static void program_draws(void) { needs_drawing = true; }

static const char render_source[] =
    HEAD "vertex float4 positions(uint i [[vertex_id]], constant float4 *at [[buffer(0)]]) {\n"
         "  return at[i]; }\n"
         "fragment float4 tint(constant float4 &color [[buffer(0)]]) { return color; }\n"
         "struct Two { float4 c [[color(0)]]; uint n [[color(1)]]; };\n"
         "fragment Two two(constant float4 &color [[buffer(0)]], float4 p [[position]]) {\n"
         "  return {color, 1000 + uint(p.x)}; }\n"
         "fragment void count(device atomic_uint *n [[buffer(3)]]) {\n"
         "  atomic_fetch_add_explicit(n, 1u, memory_order_relaxed); }\n"
         "struct Far { device float *p; };\n"
         "fragment float4 wild(constant Far &far [[buffer(3)]]) { return *far.p; }\n"
         "struct In { float2 p [[attribute(0)]]; float dx [[attribute(1)]];\n"
         "  float4 color [[attribute(2)]]; };\n"
         "struct Flat { float4 p [[position]]; float4 color [[flat]]; };\n"
         "vertex Flat instances(In in [[stage_in]]) {\n"
         "  return {float4(in.p.x + in.dx, in.p.y, 0, 1), in.color}; }\n"
         "fragment float4 flat(Flat in [[stage_in]]) { return in.color; }\n"
         "struct Place { float4 p [[position]]; float2 uv; };\n"
         "vertex Place full(uint i [[vertex_id]]) {\n"
         "  float2 uv = float2(i & 1, i >> 1);\n"
         "  return {float4(uv.x * 2 - 1, 1 - uv.y * 2, 0, 1), uv}; }\n"
         "fragment float4 show(Place in [[stage_in]], texture2d<float> t [[texture(0)]],\n"
         "  sampler s [[sampler(0)]]) { return t.sample(s, in.uv); }\n"
         "struct Layer { float4 p [[position]]; uint layer [[render_target_array_index]];\n"
         "  float4 color [[flat]]; };\n"
         "vertex Layer layers(uint i [[vertex_id]], uint n [[instance_id]]) {\n"
         "  return {float4((i & 1) * 4.0 - 1, (i >> 1) * 4.0 - 1, 0, 1), n,\n"
         "          n ? float4(0, 1, 0, 1) : float4(1, 0, 0, 1)}; }\n"
         "fragment float4 total(device atomic_uint *n [[buffer(3)]]) {\n"
         "  return atomic_load_explicit(n, memory_order_relaxed) == 128 ? float4(0, 1, 0, 1)\n"
         "                                                              : float4(1, 0, 0, 1); }\n";

static MTLCommandQueue *queue;
static MTLLibrary *render_library;
static const float RED[4] = {1, 0, 0, 1}, GREEN[4] = {0, 1, 0, 1}, BLUE[4] = {0, 0, 1, 1};

static inline int open_render(void **state) {
    if (open_device(state)) return -1;
    queue = mtl_device_new_command_queue(device);
    render_library = compile(render_source);
    return 0;
}

static inline int close_render(void **state) {
    mtl_release(render_library), mtl_release(queue);
    return close_device(state);
}

typedef struct Options {
    MTLPixelFormat depth, stencil;
    size_t samples;
    bool blend, vertices, dynamic, second, no_color;
    MTLColorWriteMask write_mask;
    MTLPrimitiveTopologyClass topology;
} Options;

// With RGBA8Unorm as colour attachment 0.
static inline MTLRenderPipelineState *pipeline(const char *vertex, const char *fragment,
                                               Options o) {
    MTLVertexDescriptor vertices = {
        .attributes[0] = {.format = MTLVertexFormatFloat2},
        .attributes[1] = {.format = MTLVertexFormatFloat, .buffer_index = 1},
        .attributes[2] = {.format = MTLVertexFormatUChar4Normalized,
                          .offset = 4,
                          .buffer_index = 1},
        .layouts[0] = {.stride = 8},
        .layouts[1] = {.stride = 8, .step_function = MTLVertexStepFunctionPerInstance}};
    MTLError *error = NULL;
    if (o.dynamic) vertices.layouts[0].stride = MTLBufferLayoutStrideDynamic;
    MTLRenderPipelineDescriptor d = {
        .label = vertex,
        .vertex_function = mtl_library_new_function(render_library, vertex),
        .fragment_function = mtl_library_new_function(render_library, fragment),
        .vertex_descriptor = o.vertices ? &vertices : NULL,
        .raster_sample_count = o.samples,
        .depth_attachment_pixel_format = o.depth,
        .stencil_attachment_pixel_format = o.stencil,
        .input_primitive_topology = o.topology};
    if (!o.no_color) d.color_attachments[0].pixel_format = MTLPixelFormatRGBA8Unorm;
    d.color_attachments[0].write_mask = o.write_mask;
    if (o.blend) {
        d.color_attachments[0].blending_enabled = true;
        d.color_attachments[0].source_rgb_blend_factor = MTLBlendFactorSourceAlpha;
        d.color_attachments[0].source_alpha_blend_factor = MTLBlendFactorSourceAlpha;
        d.color_attachments[0].destination_rgb_blend_factor = MTLBlendFactorOneMinusSourceAlpha;
        d.color_attachments[0].destination_alpha_blend_factor = MTLBlendFactorOneMinusSourceAlpha;
    }
    if (o.second) d.color_attachments[1].pixel_format = MTLPixelFormatR32Uint;
    MTLRenderPipelineState *state = mtl_device_new_render_pipeline_state(device, &d, &error);
    if (!state) fail_msg("%s", mtl_error_localized_description(error));
    mtl_release(d.vertex_function), mtl_release(d.fragment_function);
    return state;
}

static inline MTLTexture *target(MTLPixelFormat format, size_t width, size_t height,
                                 size_t samples) {
    MTLTextureDescriptor d = mtl_texture_descriptor_2d(format, width, height, false);
    d.usage = MTLTextureUsageRenderTarget | MTLTextureUsageShaderRead;
    if (samples > 1) {
        d.texture_type = MTLTextureType2DMultisample;
        d.sample_count = samples;
        d.storage_mode = MTLStorageModePrivate;
    }
    MTLTexture *texture = mtl_device_new_texture(device, &d);
    if (!texture) fail_msg("%s", last_text);
    return texture;
}

// Cleared to opaque black, and stored.
static inline MTLRenderPassDescriptor pass_of(MTLTexture *texture) {
    MTLRenderPassDescriptor d = mtl_render_pass_descriptor_make();
    d.color_attachments[0].texture = texture;
    d.color_attachments[0].load_action = MTLLoadActionClear;
    return d;
}

static inline uint32_t pixel(MTLTexture *texture, size_t x, size_t y) {
    uint32_t value = 0;
    mtl_texture_get_bytes(texture, &value, 4 * mtl_texture_width(texture),
                          mtl_region_make_2d(x, y, 1, 1), 0);
    return value;
}

// Halves, rounded towards 0; what is less than the smallest normal one is 0.
static inline uint16_t half_of(float value) {
    uint32_t bits;
    memcpy(&bits, &value, 4);
    uint32_t size = bits & 0x7fffffff;
    return (uint16_t)(bits >> 16 & 0x8000) |
           (uint16_t)(size < 0x38800000 ? 0 : (size - 0x38000000) >> 13);
}

static inline float float_of_half(uint16_t half) {
    uint32_t size = half & 0x7fffu, bits = (half & 0x8000u) << 16;
    if (size) bits |= (size << 13) + 0x38000000;
    float value;
    memcpy(&value, &bits, 4);
    return value;
}

static inline void set_quad(MTLRenderCommandEncoder *e, const float (*at)[4], size_t n,
                            const float *color) {
    mtl_render_command_encoder_set_vertex_bytes(e, at, n * sizeof *at, 0);
    mtl_render_command_encoder_set_fragment_bytes(e, color, 16, 0);
}

static inline void finish(MTLCommandBuffer *commands) { run_to_end(commands); }
#endif
