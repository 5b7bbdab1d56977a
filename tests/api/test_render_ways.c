// SPDX-License-Identifier: Apache-2.0
// test_render_ways.c: random draws with random states, each in a pass of its own, and the same
// draws in one pass, through every encoder: batched, by several threads, with arguments in memory,
// instance by instance, from an indirect command buffer, in Metal 4 and in its suspended passes.
// All attachments and results must be the same, bit by bit.
#include <math.h>
#include "metal4.h"
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

// ---- Encoding: either e or e4 ----

typedef struct Encoder {
    MTLRenderCommandEncoder *e;
    MTL4RenderCommandEncoder *e4;
    MTL4ArgumentTable *tables[2];
    bool indirect, one_by_one, everything;
} Encoder;

#define SET(name, ...)                                                                             \
    (to->e4 ? mtl4_render_command_encoder_##name(to->e4, __VA_ARGS__)                              \
            : mtl_render_command_encoder_##name(to->e, __VA_ARGS__))

static void bind(const Scene *s, const Encoder *to, const Draw *d, bool all) {
    size_t at = d->uniform * 256;
    if (to->e4) {
        for (int i = 0; all && i < 2; i++)
            mtl4_render_command_encoder_set_argument_table(
                to->e4, to->tables[i], i ? MTLRenderStageFragment : MTLRenderStageVertex);
        mtl4_argument_table_set_address(to->tables[0], mtl_buffer_gpu_address(s->vertices), 0);
        mtl4_argument_table_set_address(to->tables[0], mtl_buffer_gpu_address(s->uniforms) + at, 1);
        mtl4_argument_table_set_address(to->tables[0], mtl_buffer_gpu_address(s->instances), 2);
        mtl4_argument_table_set_address(to->tables[1], mtl_buffer_gpu_address(s->uniforms) + at, 0);
        mtl4_argument_table_set_address(to->tables[1], mtl_buffer_gpu_address(s->counts), 1);
        mtl4_argument_table_set_texture(to->tables[1], mtl_texture_gpu_resource_id(s->picture), 0);
        mtl4_argument_table_set_sampler_state(to->tables[1],
                                              mtl_sampler_state_gpu_resource_id(s->sampler), 0);
        return;
    }
    if (all) {
        mtl_render_command_encoder_set_vertex_buffer(to->e, s->vertices, 0, 0);
        mtl_render_command_encoder_set_vertex_buffer(to->e, s->instances, 0, 2);
        mtl_render_command_encoder_set_fragment_buffer(to->e, s->counts, 0, 1);
        mtl_render_command_encoder_set_fragment_texture(to->e, s->picture, 0);
        mtl_render_command_encoder_set_fragment_sampler_state(to->e, s->sampler, 0);
    }
    mtl_render_command_encoder_set_vertex_buffer(to->e, s->uniforms, at, 1);
    mtl_render_command_encoder_set_fragment_buffer(to->e, s->uniforms, at, 0);
}

// What differs from the draw before.
static void set_state(const Scene *s, const Encoder *to, const Draw *d, const Draw *b) {
    bool all = !b || to->everything;
    if (all || d->pipeline != b->pipeline)
        SET(set_render_pipeline_state, s->pipelines[d->pipeline]);
    if (all || d->depth != b->depth)
        SET(set_depth_stencil_state, d->depth < N_DEPTH ? s->states[d->depth] : NULL);
    if (all || d->front != b->front || d->back != b->back)
        SET(set_stencil_front_back_reference_values, d->front, d->back);
    if (all || d->n_views != b->n_views || memcmp(d->views, b->views, sizeof d->views))
        SET(set_viewports, d->views, d->n_views);
    if (all || d->n_views != b->n_views || memcmp(d->scissors, b->scissors, sizeof d->scissors))
        SET(set_scissor_rects, d->scissors, d->n_views);
    if (all || d->cull != b->cull) SET(set_cull_mode, d->cull);
    if (all || d->winding != b->winding) SET(set_front_facing_winding, d->winding);
    if (all || d->clip != b->clip) SET(set_depth_clip_mode, d->clip);
    if (all || d->fill != b->fill) SET(set_triangle_fill_mode, d->fill);
    if (all || d->visibility != b->visibility || d->visibility_at != b->visibility_at)
        SET(set_visibility_result_mode, d->visibility, d->visibility_at);
    if (all || memcmp(d->bias, b->bias, sizeof d->bias))
        SET(set_depth_bias, d->bias[0], d->bias[1], d->bias[2]);
    if (all || memcmp(d->blend, b->blend, sizeof d->blend))
        SET(set_blend_color, d->blend[0], d->blend[1], d->blend[2], d->blend[3]);
    if (all || d->uniform != b->uniform) bind(s, to, d, all);
}

static void draw_instances(const Scene *s, const Encoder *to, const Draw *d, uint32_t n,
                           uint32_t base) {
    MTLBuffer *indices = d->wide ? s->wide : s->narrow;
    size_t at = (size_t)d->first_index * (d->wide ? 4 : 2);
    if (!d->indexed)
        SET(draw_primitives_instanced, d->type, d->start, d->count, n, base);
    else if (to->e4)
        mtl4_render_command_encoder_draw_indexed_primitives_instanced(
            to->e4, d->type, d->count, d->wide, mtl_buffer_gpu_address(indices) + at,
            (size_t)N_INDICES * (d->wide ? 4 : 2) - at, n, d->base_vertex, base);
    else
        mtl_render_command_encoder_draw_indexed_primitives_instanced(
            to->e, d->type, d->count, d->wide, indices, at, n, d->base_vertex, base);
}

static void draw_indirect(const Scene *s, const Encoder *to, const Draw *d, size_t i) {
    uint32_t *a = (uint32_t *)mtl_buffer_contents(s->arguments) + 8 * i;
    MTLBuffer *indices = d->wide ? s->wide : s->narrow;
    MTLGPUAddress where = mtl_buffer_gpu_address(s->arguments) + 32 * i;
    if (d->indexed) {
        uint32_t values[] = {d->count, d->n_instances, d->first_index, (uint32_t)d->base_vertex,
                             d->base_instance};
        memcpy(a, values, sizeof values);
        if (to->e4)
            mtl4_render_command_encoder_draw_indexed_primitives_indirect(
                to->e4, d->type, d->wide, mtl_buffer_gpu_address(indices),
                (size_t)N_INDICES * (d->wide ? 4 : 2), where);
        else
            mtl_render_command_encoder_draw_indexed_primitives_indirect(
                to->e, d->type, d->wide, indices, 0, s->arguments, 32 * i);
        return;
    }
    uint32_t values[] = {d->count, d->n_instances, d->start, d->base_instance};
    memcpy(a, values, sizeof values);
    if (to->e4)
        mtl4_render_command_encoder_draw_primitives_indirect(to->e4, d->type, where);
    else
        mtl_render_command_encoder_draw_primitives_indirect(to->e, d->type, s->arguments, 32 * i);
}

static void encode(const Scene *s, const Encoder *to, uint32_t first, uint32_t end) {
    for (uint32_t i = first; i < end; i++) {
        const Draw *d = &s->draws[i];
        set_state(s, to, d, i > first ? d - 1 : NULL);
        if (to->indirect)
            draw_indirect(s, to, d, i);
        else if (to->one_by_one)
            for (uint32_t k = 0; k < d->n_instances; k++)
                draw_instances(s, to, d, 1, d->base_instance + k);
        else
            draw_instances(s, to, d, d->n_instances, d->base_instance);
    }
}

// ---- Passes ----

#define FILL_PASS(d, s, load)                                                                      \
    do {                                                                                           \
        for (int i_ = 0; i_ < 2; i_++) {                                                           \
            d.color_attachments[i_].texture = s->color[i_];                                        \
            d.color_attachments[i_].load_action = load;                                            \
            d.color_attachments[i_].clear_color = mtl_clear_color_make(0.3, 0.2, 0.1, 0.7);        \
        }                                                                                          \
        d.depth_attachment.texture = s->depth, d.depth_attachment.load_action = load;              \
        d.depth_attachment.clear_depth = 0.625;                                                    \
        d.depth_attachment.store_action = MTLStoreActionStore;                                     \
        d.stencil_attachment.texture = s->stencil, d.stencil_attachment.load_action = load;        \
        d.stencil_attachment.clear_stencil = 77;                                                   \
        d.stencil_attachment.store_action = MTLStoreActionStore;                                   \
        d.visibility_result_buffer = s->visible;                                                   \
        d.visibility_result_type = MTLVisibilityResultTypeAccumulate;                              \
    } while (0)

static MTLRenderPassDescriptor scene_pass(const Scene *s, MTLLoadAction load) {
    MTLRenderPassDescriptor d = mtl_render_pass_descriptor_make();
    FILL_PASS(d, s, load);
    return d;
}

// Samples become pixels.
static void resolve(const Scene *s, MTLCommandBuffer *commands) {
    MTLRenderPassDescriptor d = scene_pass(s, MTLLoadActionLoad);
    for (int i = 0; i < 2; i++)
        if (s->color[i]) {
            d.color_attachments[i].resolve_texture = s->resolved[i];
            d.color_attachments[i].store_action = MTLStoreActionMultisampleResolve;
        }
    if (s->depth) {
        d.depth_attachment.resolve_texture = s->flat_depth;
        d.depth_attachment.store_action = MTLStoreActionMultisampleResolve;
        d.depth_attachment.depth_resolve_filter = MTLMultisampleDepthResolveFilterMax;
    }
    if (s->stencil) {
        d.stencil_attachment.resolve_texture = s->flat_stencil;
        d.stencil_attachment.store_action = MTLStoreActionMultisampleResolve;
    }
    mtl_render_command_encoder_end_encoding(
        mtl_command_buffer_render_command_encoder(commands, &d));
}

static size_t put(MTLTexture *t, size_t n_bytes, unsigned char *out) {
    size_t w = mtl_texture_width(t), h = mtl_texture_height(t);
    mtl_texture_get_bytes(t, out, w * n_bytes, mtl_region_make_2d(0, 0, w, h), 0);
    return w * h * n_bytes;
}

// Everything a way has left.
static size_t collect(const Scene *s, unsigned char *out) {
    size_t n = 0;
    MTLCommandBuffer *commands = mtl_command_queue_command_buffer(queue);
    if (s->samples > 1) resolve(s, commands);
    finish(commands);
    for (int i = 0; i < 2; i++)
        if (s->color[i])
            n += put(s->samples > 1 ? s->resolved[i] : s->color[i], s->n_bytes[i], out + n);
    if (s->depth) n += put(s->samples > 1 ? s->flat_depth : s->depth, 4, out + n);
    if (s->stencil) n += put(s->samples > 1 ? s->flat_stencil : s->stencil, 1, out + n);
    memcpy(out + n, mtl_buffer_contents(s->counts), 64);
    memcpy(out + n + 64, mtl_buffer_contents(s->visible), 64);
    return n + 128;
}

// ---- The ways ----

static void start(const Scene *s) {
    memset(mtl_buffer_contents(s->counts), 0, 64);
    memset(mtl_buffer_contents(s->visible), 0, 64);
}

static void each_alone(const Scene *s) {
    MTLCommandBuffer *commands = mtl_command_queue_command_buffer(queue);
    for (uint32_t i = 0; i < s->n_draws; i++) {
        MTLRenderPassDescriptor d = scene_pass(s, i ? MTLLoadActionLoad : MTLLoadActionClear);
        Encoder to = {.e = mtl_command_buffer_render_command_encoder(commands, &d)};
        if (!to.e) fail_msg("%s", last_text);
        encode(s, &to, i, i + 1);
        mtl_render_command_encoder_end_encoding(to.e);
    }
    finish(commands);
}

static void classic(const Scene *s, Encoder to) {
    MTLCommandBuffer *commands = mtl_command_queue_command_buffer(queue);
    MTLRenderPassDescriptor d = scene_pass(s, MTLLoadActionClear);
    to.e = mtl_command_buffer_render_command_encoder(commands, &d);
    encode(s, &to, 0, s->n_draws);
    mtl_render_command_encoder_end_encoding(to.e);
    finish(commands);
}

static void together(const Scene *s) { classic(s, (Encoder){0}); }
static void everything_set(const Scene *s) { classic(s, (Encoder){.everything = true}); }
static void indirectly(const Scene *s) { classic(s, (Encoder){.indirect = true}); }
static void instance_by_instance(const Scene *s) { classic(s, (Encoder){.one_by_one = true}); }

static void in_parallel(const Scene *s) {
    MTLCommandBuffer *commands = mtl_command_queue_command_buffer(queue);
    MTLRenderPassDescriptor d = scene_pass(s, MTLLoadActionClear);
    MTLParallelRenderCommandEncoder *whole =
        mtl_command_buffer_parallel_render_command_encoder(commands, &d);
    Encoder parts[3];
    for (int i = 0; i < 3; i++)
        parts[i] =
            (Encoder){.e = mtl_parallel_render_command_encoder_render_command_encoder(whole)};
    for (uint32_t i = 3; i-- > 0;) {
        encode(s, &parts[i], i * s->n_draws / 3, (i + 1) * s->n_draws / 3);
        mtl_render_command_encoder_end_encoding(parts[i].e);
    }
    mtl_parallel_render_command_encoder_end_encoding(whole);
    finish(commands);
}

static void from_commands(const Scene *s) {
    if (s->samples_texture) {
        together(s);
        return;
    }
    MTLIndirectCommandBuffer *icb = mtl_device_new_indirect_command_buffer(
        device,
        &(MTLIndirectCommandBufferDescriptor){.command_types = MTLIndirectCommandTypeDraw |
                                                               MTLIndirectCommandTypeDrawIndexed,
                                              .inherit_buffers = true,
                                              .inherit_pipeline_state = true},
        s->n_draws, 0);
    if (!icb) fail_msg("%s", last_text);
    MTLCommandBuffer *commands = mtl_command_queue_command_buffer(queue);
    MTLRenderPassDescriptor pass = scene_pass(s, MTLLoadActionClear);
    Encoder to = {.e = mtl_command_buffer_render_command_encoder(commands, &pass)};
    mtl_render_command_encoder_use_resource(to.e, (MTLResource *)s->wide, MTLResourceUsageRead,
                                            MTLRenderStageVertex);
    mtl_render_command_encoder_use_resource(to.e, (MTLResource *)s->narrow, MTLResourceUsageRead,
                                            MTLRenderStageVertex);
    for (uint32_t i = 0; i < s->n_draws; i++) {
        const Draw *d = &s->draws[i];
        MTLIndirectRenderCommand *c =
            mtl_indirect_command_buffer_indirect_render_command_at_index(icb, i);
        if (d->indexed)
            mtl_indirect_render_command_draw_indexed_primitives(
                c, d->type, d->count, d->wide, d->wide ? s->wide : s->narrow,
                (size_t)d->first_index * (d->wide ? 4 : 2), d->n_instances, d->base_vertex,
                d->base_instance);
        else
            mtl_indirect_render_command_draw_primitives(c, d->type, d->start, d->count,
                                                        d->n_instances, d->base_instance);
        set_state(s, &to, d, i ? d - 1 : NULL);
        mtl_render_command_encoder_execute_commands_in_buffer(to.e, icb, mtl_range_make(i, 1));
    }
    mtl_render_command_encoder_end_encoding(to.e);
    finish(commands);
    mtl_release(icb);
}

// Metal 4, in n parts.
static void in_parts(const Scene *s, uint32_t n, bool indirect) {
    Bench b = open_bench();
    MTL4CommandBuffer *commands[4];
    MTL4CommandAllocator *allocators[4];
    void *const held[] = {s->color[0], s->color[1], s->depth,     s->stencil, s->picture,
                          s->vertices, s->uniforms, s->instances, s->narrow,  s->wide,
                          s->visible,  s->counts,   s->arguments};
    for (size_t i = 0; i < sizeof held / sizeof *held; i++)
        if (held[i]) mtl_residency_set_add_allocation(b.set, held[i]);
    mtl_residency_set_commit(b.set);
    Encoder to = {.indirect = indirect, .tables = {b.table}};
    to.tables[1] = mtl_device_new_argument_table(
        device,
        &(MTL4ArgumentTableDescriptor){.max_buffer_bind_count = 4,
                                       .max_texture_bind_count = 1,
                                       .max_sampler_state_bind_count = 1},
        NULL);
    for (uint32_t i = 0; i < n; i++) {
        commands[i] = mtl_device_new_command_buffer(device);
        allocators[i] = mtl_device_new_command_allocator(device);
        MTL4RenderPassDescriptor d = mtl4_render_pass_descriptor_make();
        FILL_PASS(d, s, MTLLoadActionClear);
        mtl4_command_buffer_begin_command_buffer(commands[i], allocators[i]);
        to.e4 = mtl4_command_buffer_render_command_encoder_with_options(
            commands[i], &d,
            (i < n - 1 ? MTL4RenderEncoderOptionSuspending : 0u) |
                (i ? MTL4RenderEncoderOptionResuming : 0u));
        if (!to.e4) fail_msg("%s", last_text);
        encode(s, &to, i * s->n_draws / n, (i + 1) * s->n_draws / n);
        mtl4_render_command_encoder_end_encoding(to.e4);
        mtl4_command_buffer_end_command_buffer(commands[i]);
    }
    MTLError *error = commit_buffers(b.queue, commands, n);
    if (error) fail_msg("%s", mtl_error_localized_description(error));
    for (uint32_t i = 0; i < n; i++) mtl_release(commands[i]), mtl_release(allocators[i]);
    mtl_release(to.tables[1]);
    close_bench(&b);
}

static void metal_4(const Scene *s) { in_parts(s, 1, false); }
static void metal_4_indirectly(const Scene *s) { in_parts(s, 1, true); }
static void metal_4_in_parts(const Scene *s) { in_parts(s, 3, false); }

static const struct {
    const char *name;
    void (*draw)(const Scene *s);
} ways[] = {{"together", together},
            {"everything set", everything_set},
            {"indirectly", indirectly},
            {"instance by instance", instance_by_instance},
            {"in parallel", in_parallel},
            {"from commands", from_commands},
            {"Metal 4", metal_4},
            {"Metal 4, indirectly", metal_4_indirectly},
            {"Metal 4, in parts", metal_4_in_parts}};

static void compare(Scene *s, uint64_t from) {
    static unsigned char expected[MAX_BYTES], got[MAX_BYTES];
    start(s);
    each_alone(s);
    size_t n = collect(s, expected);
    for (size_t i = 0; i < sizeof ways / sizeof *ways; i++) {
        clear_messages();
        start(s);
        ways[i].draw(s);
        if (n_messages) fail_msg("%s: %s", ways[i].name, last_text);
        collect(s, got);
        for (size_t k = 0; k < n; k++)
            if (got[k] != expected[k])
                fail_msg(
                    "scene %llu, %s: byte %zu of %zu: %02x, alone %02x (%zu x %zu, %zu samples, "
                    "formats %d %d, %u draws)",
                    (unsigned long long)from, ways[i].name, k, n, got[k], expected[k], s->width,
                    s->height, s->samples, (int)s->formats[0], (int)s->formats[1], s->n_draws);
    }
}

static void all_ways(void **state) {
    (void)state;
    const char *first = getenv("INGOT_TEST_SEED"), *n = getenv("INGOT_TEST_ROUNDS");
    uint64_t from = first ? strtoull(first, NULL, 10) : 1, rounds = n ? strtoull(n, NULL, 10) : 40;
    static Scene s;
    for (uint64_t i = from; i < from + rounds; i++) {
        seed = i * 0x9e3779b97f4a7c15u;
        any(1), any(1);
        open_scene(&s);
        compare(&s, i);
        close_scene(&s);
    }
}

static int open_ways(void **state) {
    if (open_render(state)) return -1;
    library = compile(source);
    return 0;
}

static int close_ways(void **state) {
    mtl_release(library);
    return close_render(state);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(all_ways)};
    return cmocka_run_group_tests(tests, open_ways, close_ways);
}
