// SPDX-License-Identifier: Apache-2.0
// render_ways.h: a scene of test_render_ways.c: random attachments, pipelines, states, buffers, and
// the draws with everything that holds for each.
#ifndef INGOT_TESTS_RENDER_WAYS_H
#define INGOT_TESTS_RENDER_WAYS_H
#include <math.h>
#include "render_test.h"

enum { N_VERTICES = 256, N_INSTANCES = 64, N_INDICES = 512, MAX_DRAWS = 40, N_UNIFORMS = 8 };
enum { N_PIPELINES = 4, N_DEPTH = 4, MAX_BYTES = 1 << 20 };

static const char source[] = HEAD
    "struct Vertex { float4 p; float4 color; };\n"
    "struct Uniform { float4 tint; float4 place; };\n"
    "struct V { float4 p [[position]]; float4 color; float2 uv [[centroid_perspective]];\n"
    "  float3 plain [[center_no_perspective]]; uint id [[flat]]; float size [[point_size]]; };\n"
    "struct C { float4 p [[position]]; float4 color; float2 uv; float3 plain; uint id [[flat]];\n"
    "  float size [[point_size]]; float clip [[clip_distance]] [2];\n"
    "  uint view [[viewport_array_index]]; };\n"
    "static V place(float4 p, float4 color, float4 at, constant Uniform &u, uint i, uint k) {\n"
    "  V o; o.p = p; o.p.xy = p.xy * u.place.z + (at.xy + u.place.xy) * p.w; o.color = color;\n"
    "  o.uv = p.xy * at.z; o.plain = color.yzw; o.id = i * 31 + k * 1009;\n"
    "  o.size = 1 + color.x * 20; return o; }\n"
    "vertex V pulled(uint i [[vertex_id]], uint k [[instance_id]],\n"
    "  constant Vertex *v [[buffer(0)]], constant Uniform &u [[buffer(1)]],\n"
    "  constant float4 *at [[buffer(2)]]) {\n"
    "  return place(v[i & 255].p, v[i & 255].color, at[k & 63], u, i, k); }\n"
    "struct In { float4 p [[attribute(0)]]; float4 color [[attribute(1)]];\n"
    "  float4 at [[attribute(2)]]; };\n"
    "vertex V fetched(In in [[stage_in]], uint i [[vertex_id]], uint k [[instance_id]],\n"
    "  constant Uniform &u [[buffer(1)]]) { return place(in.p, in.color, in.at, u, i, k); }\n"
    "vertex C clipped(uint i [[vertex_id]], uint k [[instance_id]],\n"
    "  constant Vertex *v [[buffer(0)]], constant Uniform &u [[buffer(1)]],\n"
    "  constant float4 *at [[buffer(2)]]) {\n"
    "  V a = place(v[i & 255].p, v[i & 255].color, at[k & 63], u, i, k);\n"
    "  C o; o.p = a.p; o.color = a.color; o.uv = a.uv; o.plain = a.plain; o.id = a.id;\n"
    "  o.size = a.size; o.clip[0] = a.p.x + 0.7; o.clip[1] = a.color.y - 0.1; o.view = k & 1;\n"
    "  return o; }\n"
    "struct F { float4 p [[position]]; float4 color; uint id [[flat]]; };\n"
    "struct O { float4 c [[color(0)]]; uint n [[color(1)]]; };\n"
    "fragment O plain(F in [[stage_in]], constant Uniform &u [[buffer(0)]]) {\n"
    "  return {in.color * u.tint, in.id}; }\n"
    "fragment O discards(F in [[stage_in]], constant Uniform &u [[buffer(0)]]) {\n"
    "  if (fract(in.color.x * 7) < 0.3) discard_fragment();\n"
    "  return {float4(fwidth(in.color.yz), u.tint.zw), in.id}; }\n"
    "struct D { O o; float depth [[depth(any)]]; };\n"
    "fragment D deep(F in [[stage_in]], constant Uniform &u [[buffer(0)]]) {\n"
    "  return {{in.color * u.tint, in.id}, in.color.z}; }\n"
    "struct L { float4 c [[color(0)]]; float depth [[depth(less)]]; };\n"
    "fragment L nearer(F in [[stage_in]], constant Uniform &u [[buffer(0)]]) {\n"
    "  return {in.color * u.tint, in.p.z * in.color.z}; }\n"
    "struct T { float4 p [[position]]; float2 uv; float4 color; };\n"
    "fragment float4 sampled(T in [[stage_in]], texture2d<float> t [[texture(0)]],\n"
    "  sampler s [[sampler(0)]]) { return t.sample(s, in.uv) * in.color; }\n"
    "fragment O fetches(F in [[stage_in]], float4 c [[color(0)]], constant Uniform &u "
    "[[buffer(0)]]) "
    "{\n"
    "  return {mix(c, in.color, u.tint.x) * 0.9 + 0.05, in.id}; }\n"
    "fragment float4 each_sample(F in [[stage_in]], uint s [[sample_id]]) {\n"
    "  return in.color * (1 - 0.2 * float(s)); }\n"
    "struct S { float4 c [[color(0)]]; uint s [[stencil]]; };\n"
    "fragment S stencils(F in [[stage_in]]) { return {in.color, uint(in.color.x * 255)}; }\n"
    "struct M { float4 c [[color(0)]]; uint m [[sample_mask]]; };\n"
    "fragment M masks(F in [[stage_in]]) { return {in.color, uint(in.color.y * 16)}; }\n"
    "struct B { float3 plain [[center_no_perspective]]; };\n"
    "fragment float4 inputs(B in [[stage_in]], float3 b [[barycentric_coord]],\n"
    "  bool front [[front_facing]], uint id [[primitive_id]], float2 at [[point_coord]]) {\n"
    "  return float4(b.xy + in.plain.xy * 0.1, front ? 0.9 : 0.2, float(id & 15) / 15); }\n"
    "fragment O counts(F in [[stage_in]], device atomic_uint *n [[buffer(1)]]) {\n"
    "  atomic_fetch_add_explicit(n + (in.id & 7), 1u, memory_order_relaxed);\n"
    "  return {in.color, in.id}; }\n"
    "[[early_fragment_tests]] fragment O early(F in [[stage_in]],\n"
    "  device atomic_uint *n [[buffer(1)]]) {\n"
    "  atomic_fetch_add_explicit(n + 8 + (in.id & 7), 1u, memory_order_relaxed);\n"
    "  if (in.color.w < 0.3) discard_fragment();\n"
    "  return {in.color.wzyx, in.id}; }\n";

static const char *const vertices[] = {"pulled", "fetched", "clipped"};
static const char *const fragments[] = {"plain",   "discards", "deep",        "nearer",
                                        "sampled", "fetches",  "each_sample", "stencils",
                                        "masks",   "inputs",   "counts",      "early"};

// ---- Random numbers ----

static uint64_t seed;

static uint32_t any(uint32_t n) {
    seed ^= seed << 13, seed ^= seed >> 7, seed ^= seed << 17;
    return (uint32_t)(seed >> 20) % n;
}

static float between(float low, float high) { return low + (high - low) * any(4097) / 4096; }
static bool often(void) { return any(4) != 0; }

// ---- A scene ----

typedef struct Draw { // everything that holds for it
    uint32_t pipeline, depth, uniform, front, back, n_views;
    MTLViewport views[2];
    MTLScissorRect scissors[2];
    MTLCullMode cull;
    MTLWinding winding;
    MTLDepthClipMode clip;
    MTLTriangleFillMode fill;
    MTLVisibilityResultMode visibility;
    uint32_t visibility_at;
    float bias[3], blend[4];
    MTLPrimitiveType type;
    bool indexed, wide;
    uint32_t start, count, n_instances, base_instance, first_index;
    int32_t base_vertex;
} Draw;

typedef struct Scene {
    size_t width, height, samples, n_bytes[2];
    MTLPixelFormat formats[2];
    bool has_depth, has_stencil, samples_texture;
    MTLTexture *color[2], *resolved[2], *depth, *stencil, *flat_depth, *flat_stencil, *picture;
    MTLSamplerState *sampler;
    MTLRenderPipelineState *pipelines[N_PIPELINES];
    MTLDepthStencilState *states[N_DEPTH];
    MTLBuffer *vertices, *uniforms, *instances, *narrow, *wide, *visible, *counts, *arguments;
    Draw draws[MAX_DRAWS];
    uint32_t n_draws;
} Scene;

static MTLLibrary *library;
static const struct {
    MTLPixelFormat format;
    size_t n_bytes;
} colors[] = {{MTLPixelFormatRGBA8Unorm, 4},  {MTLPixelFormatBGRA8Unorm_sRGB, 4},
              {MTLPixelFormatRGBA16Float, 8}, {MTLPixelFormatRGB10A2Unorm, 4},
              {MTLPixelFormatR8Unorm, 1},     {MTLPixelFormatRG11B10Float, 4},
              {MTLPixelFormatRGBA8Snorm, 4},  {MTLPixelFormatRG16Unorm, 4},
              {MTLPixelFormatBGRA8Unorm, 4},  {MTLPixelFormatRG8Unorm, 2},
              {MTLPixelFormatRGBA16Unorm, 8}, {MTLPixelFormatR16Float, 2}};

static MTLRenderPipelineState *random_pipeline(Scene *s) {
    static const MTLVertexDescriptor layout = {
        .attributes[0] = {.format = MTLVertexFormatFloat4},
        .attributes[1] = {.format = MTLVertexFormatFloat4, .offset = 16},
        .attributes[2] = {.format = MTLVertexFormatFloat4, .buffer_index = 2},
        .layouts[0] = {.stride = 32},
        .layouts[2] = {.stride = 16, .step_function = MTLVertexStepFunctionPerInstance}};
    const char *vertex = vertices[any(3)], *fragment = fragments[any(12)];
    if (!strcmp(vertex, "clipped") && (!strcmp(fragment, "inputs") || !strcmp(fragment, "sampled")))
        fragment = "plain";
    if (!strcmp(fragment, "stencils") && !s->has_stencil) fragment = "plain";
    if ((!strcmp(fragment, "deep") || !strcmp(fragment, "nearer")) && !s->has_depth)
        fragment = "discards";
    bool textured = !strcmp(fragment, "sampled"); // not for indirect command buffers
    s->samples_texture |= textured;
    MTLRenderPipelineDescriptor d = {
        .label = fragment,
        .vertex_function = mtl_library_new_function(library, vertex),
        .fragment_function = mtl_library_new_function(library, fragment),
        .vertex_descriptor = strcmp(vertex, "fetched") ? NULL : &layout,
        .raster_sample_count = s->samples,
        .alpha_to_coverage_enabled = any(6) == 0,
        .alpha_to_one_enabled = any(8) == 0,
        .support_indirect_command_buffers = !textured,
        .input_primitive_topology = MTLPrimitiveTopologyClassUnspecified,
        .depth_attachment_pixel_format = s->has_depth ? MTLPixelFormatDepth32Float : 0,
        .stencil_attachment_pixel_format = s->has_stencil ? MTLPixelFormatStencil8 : 0};
    for (int i = 0; i < 2; i++) d.color_attachments[i].pixel_format = s->formats[i];
    d.color_attachments[0].blending_enabled = any(2);
    d.color_attachments[0].source_rgb_blend_factor = any(15);
    d.color_attachments[0].destination_rgb_blend_factor = any(15);
    d.color_attachments[0].source_alpha_blend_factor = any(15);
    d.color_attachments[0].destination_alpha_blend_factor = any(15);
    d.color_attachments[0].rgb_blend_operation = any(5);
    d.color_attachments[0].alpha_blend_operation = any(5);
    d.color_attachments[0].write_mask = any(3) ? 15 : any(16);
    if (d.color_attachments[0].write_mask == 0) d.color_attachments[0].write_nothing = true;
    MTLError *error = NULL;
    MTLRenderPipelineState *state = mtl_device_new_render_pipeline_state(device, &d, &error);
    if (!state) fail_msg("%s %s: %s", vertex, fragment, mtl_error_localized_description(error));
    mtl_release(d.vertex_function), mtl_release(d.fragment_function);
    return state;
}

static MTLDepthStencilState *random_depth(const Scene *s) {
    MTLStencilDescriptor faces[2];
    for (int i = 0; i < 2; i++)
        faces[i] = (MTLStencilDescriptor){
            any(8), any(8), any(8), any(8), any(3) ? 0xff : any(256), any(3) ? 0xff : any(256)};
    return mtl_device_new_depth_stencil_state(
        device, &(MTLDepthStencilDescriptor){
                    .depth_compare_function = !s->has_depth ? 7
                                              : any(2)      ? any(8)
                                                            : 3,
                    .depth_write_enabled = s->has_depth && any(2),
                    .front_face_stencil = s->has_stencil && any(2) ? &faces[0] : NULL,
                    .back_face_stencil = s->has_stencil && any(2) ? &faces[1] : NULL});
}

static MTLTexture *random_picture(MTLSamplerState **sampler) {
    MTLTextureDescriptor d =
        mtl_texture_descriptor_2d(any(2) ? MTLPixelFormatRGBA8Unorm : MTLPixelFormatBGRA8Unorm_sRGB,
                                  1 + any(64), 1 + any(64), any(2));
    MTLTexture *t = mtl_device_new_texture(device, &d);
    uint32_t texels[64 * 64];
    for (size_t l = 0; l < mtl_texture_mipmap_level_count(t); l++) {
        size_t w = d.width >> l ? d.width >> l : 1, h = d.height >> l ? d.height >> l : 1;
        for (size_t i = 0; i < w * h; i++) texels[i] = any(UINT32_MAX);
        mtl_texture_replace_region(t, mtl_region_make_2d(0, 0, w, h), l, texels, w * 4);
    }
    MTLSamplerDescriptor s = {.support_argument_buffers = true};
    s.min_filter = s.mag_filter = any(2), s.mip_filter = any(3);
    s.s_address_mode = any(5), s.t_address_mode = any(5);
    s.max_anisotropy = any(4) ? 1 : 1 + any(8);
    *sampler = mtl_device_new_sampler_state(device, &s);
    return t;
}

static void random_state(const Scene *s, Draw *d) {
    d->pipeline = any(N_PIPELINES), d->depth = any(N_DEPTH + 1), d->uniform = any(N_UNIFORMS);
    d->front = any(256), d->back = any(256), d->n_views = 1 + any(2);
    for (uint32_t i = 0; i < 2; i++) {
        float w = (float)s->width, h = (float)s->height;
        bool whole = often();
        d->views[i] = (MTLViewport){whole ? 0 : between(-w, w),    whole ? 0 : between(-h, h),
                                    whole ? w : between(0, 2 * w), whole ? h : between(0, 2 * h),
                                    any(3) ? 0 : between(0, 1),    any(3) ? 1 : between(0, 1)};
        uint32_t x = any((uint32_t)s->width), y = any((uint32_t)s->height);
        d->scissors[i] = (MTLScissorRect){0, 0, s->width, s->height};
        if (!often())
            d->scissors[i] = (MTLScissorRect){x, y, 1 + any((uint32_t)s->width - x),
                                              1 + any((uint32_t)s->height - y)};
    }
    d->cull = any(3), d->winding = any(2), d->clip = any(2);
    d->fill = any(6) == 0;
    d->visibility = s->visible ? any(3) : 0, d->visibility_at = any(4) * 8;
    if (d->visibility == MTLVisibilityResultModeBoolean) d->visibility_at += 32;
    for (int i = 0; i < 3; i++) d->bias[i] = any(3) ? 0 : between(-0.5, 0.5);
    for (int i = 0; i < 4; i++) d->blend[i] = between(0, 1);
}

static void random_draws(Scene *s) {
    s->n_draws = 1 + any(MAX_DRAWS);
    for (uint32_t i = 0; i < s->n_draws; i++) {
        Draw *d = &s->draws[i];
        if (i > 0) *d = s->draws[i - 1];
        if (i == 0 || any(4) == 0) random_state(s, d);
        if (any(6) == 0) d->uniform = any(N_UNIFORMS);
        d->type = any(8) ? 3 + any(2) : any(5);
        d->indexed = any(2), d->wide = any(2);
        d->start = any(200), d->count = any(10) ? 3 + any(9) : 1 + any(55);
        d->n_instances = any(3) ? 1 : 1 + any(20);
        d->base_instance = any(2) ? 0 : any(40);
        d->first_index = any(200) * 2;
        d->base_vertex = any(2) ? 0 : (int32_t)any(100) - 20;
        if (d->indexed && d->base_vertex < 0) d->base_vertex = -d->base_vertex;
    }
}

static MTLBuffer *random_vertices(void) {
    float v[N_VERTICES][8];
    for (int i = 0; i < N_VERTICES; i++) {
        float w = any(3) ? 1 : between(-0.3f, 2);
        float reach = any(5) ? 0.5f : any(20) ? 1.5f : 400;
        for (int k = 0; k < 2; k++) v[i][k] = between(-reach, reach) * w;
        v[i][2] = between(any(10) ? 0 : -1, any(10) ? 1 : 2) * w, v[i][3] = w;
        for (int k = 4; k < 8; k++) v[i][k] = between(0, 1);
        if (any(200) == 0) v[i][any(4)] = any(2) ? (float)NAN : (float)INFINITY;
    }
    return mtl_device_new_buffer_with_bytes(device, v, sizeof v, 0);
}

static MTLTexture *attachment(const Scene *s, MTLPixelFormat format, bool flat) {
    return target(format, s->width, s->height, flat ? 1 : s->samples);
}

static void open_scene(Scene *s) {
    *s = (Scene){.width = 1 + any(any(4) ? 40 : 200), .height = 1 + any(any(4) ? 40 : 200)};
    s->samples = any(3) ? 1 : 2u << any(2);
    s->has_depth = often(), s->has_stencil = any(2);
    uint32_t c = any(sizeof colors / sizeof *colors);
    s->formats[0] = colors[c].format, s->n_bytes[0] = colors[c].n_bytes;
    if (any(2) && s->samples == 1) s->formats[1] = MTLPixelFormatR32Uint, s->n_bytes[1] = 4;
    for (int i = 0; i < 2; i++)
        if (s->formats[i]) {
            s->color[i] = attachment(s, s->formats[i], false);
            if (s->samples > 1) s->resolved[i] = attachment(s, s->formats[i], true);
        }
    if (s->has_depth) {
        s->depth = attachment(s, MTLPixelFormatDepth32Float, false);
        if (s->samples > 1) s->flat_depth = attachment(s, MTLPixelFormatDepth32Float, true);
    }
    if (s->has_stencil) {
        s->stencil = attachment(s, MTLPixelFormatStencil8, false);
        if (s->samples > 1) s->flat_stencil = attachment(s, MTLPixelFormatStencil8, true);
    }
    s->visible = mtl_device_new_buffer(device, 64, 0);
    s->counts = mtl_device_new_buffer(device, 64, 0);
    for (int i = 0; i < N_PIPELINES; i++) s->pipelines[i] = random_pipeline(s);
    for (int i = 0; i < N_DEPTH; i++) s->states[i] = random_depth(s);
    s->picture = random_picture(&s->sampler);
    s->vertices = random_vertices();
    float uniforms[N_UNIFORMS][64], at[N_INSTANCES][4];
    uint16_t narrow[N_INDICES];
    uint32_t wide[N_INDICES];
    memset(uniforms, 0, sizeof uniforms);
    for (int i = 0; i < N_UNIFORMS; i++) {
        for (int k = 0; k < 4; k++) uniforms[i][k] = between(0, 1);
        for (int k = 4; k < 6; k++) uniforms[i][k] = any(2) ? 0 : between(-0.5f, 0.5f);
        uniforms[i][6] = any(2) ? 1 : between(0.02f, 1);
    }
    for (int i = 0; i < N_INSTANCES; i++)
        for (int k = 0; k < 4; k++) at[i][k] = between(-0.8f, 0.8f);
    for (int i = 0; i < N_INDICES; i++) {
        bool restart = any(12) == 0;
        narrow[i] = restart ? UINT16_MAX : (uint16_t)any(150);
        wide[i] = restart ? UINT32_MAX : any(150);
    }
    s->uniforms = mtl_device_new_buffer_with_bytes(device, uniforms, sizeof uniforms, 0);
    s->instances = mtl_device_new_buffer_with_bytes(device, at, sizeof at, 0);
    s->narrow = mtl_device_new_buffer_with_bytes(device, narrow, sizeof narrow, 0);
    s->wide = mtl_device_new_buffer_with_bytes(device, wide, sizeof wide, 0);
    s->arguments = mtl_device_new_buffer(device, MAX_DRAWS * 32, 0);
    random_draws(s);
}

static void close_scene(Scene *s) {
    for (int i = 0; i < 2; i++) mtl_release(s->color[i]), mtl_release(s->resolved[i]);
    mtl_release(s->depth), mtl_release(s->stencil), mtl_release(s->picture);
    mtl_release(s->flat_depth), mtl_release(s->flat_stencil), mtl_release(s->sampler);
    for (int i = 0; i < N_PIPELINES; i++) mtl_release(s->pipelines[i]);
    for (int i = 0; i < N_DEPTH; i++) mtl_release(s->states[i]);
    mtl_release(s->vertices), mtl_release(s->uniforms), mtl_release(s->instances);
    mtl_release(s->narrow), mtl_release(s->wide), mtl_release(s->visible);
    mtl_release(s->counts), mtl_release(s->arguments);
}
#endif
