// SPDX-License-Identifier: Apache-2.0
// test_render_mixed.c: random draws of triangles, patches and meshes, one among the others, blended
// over each other with depth: each in a pass of its own, all in one pass, and in parts that several
// encoders record. The attachments must be the same, bit by bit.
#include "render_test.h"

enum { N_KINDS = 6, N_DRAWS = 24, N_FACTORS = 64, MAX_SIZE = 150 };

static const char source[] = HEAD
    "struct U { float4 place; float4 tint; uint n; uint seed; };\n"
    "struct V { float4 p [[position]]; float4 color; uint id [[flat]]; };\n"
    "static float hash(uint x) { x *= 0x9e3779b1u; x ^= x >> 15; x *= 0x85ebca77u; x ^= x >> 13;\n"
    "  return float(x >> 8) / 16777216; }\n"
    "static V make(float2 at, uint id, constant U &u) {\n"
    "  uint k = id * 7 + u.seed;\n"
    "  float w = 0.6 + hash(k + 1);\n"
    "  return {float4((at * u.place.zw + u.place.xy) * w, hash(k) * w, w),\n"
    "          u.tint * float4(hash(k + 2), hash(k + 3), hash(k + 4), 0.7), id}; }\n"
    "vertex V plain(uint i [[vertex_id]], uint k [[instance_id]], constant U &u [[buffer(1)]]) {\n"
    "  uint n = i + k * 3 + u.seed;\n"
    "  return make(float2(hash(n * 2), hash(n * 2 + 1)) * 2 - 1, i, u); }\n"
    "struct C { float2 at [[attribute(0)]]; };\n"
    "[[patch(quad, 4)]] vertex V quads(patch_control_point<C> c [[stage_in]],\n"
    "    float2 at [[position_in_patch]], uint id [[patch_id]], constant U &u [[buffer(1)]]) {\n"
    "  float2 p = mix(mix(c[0].at, c[1].at, at.x), mix(c[3].at, c[2].at, at.x), at.y);\n"
    "  return make(p + 0.1 * sin(9 * p.yx), id, u); }\n"
    "[[patch(triangle, 3)]] vertex V triangles(patch_control_point<C> c [[stage_in]],\n"
    "    float3 at [[position_in_patch]], uint id [[patch_id]], constant U &u [[buffer(1)]]) {\n"
    "  float2 p = c[0].at * at.x + c[1].at * at.y + c[2].at * at.z;\n"
    "  return make(p, id + uint(at.x * 5), u); }\n"
    "using M = mesh<V, void, 32, 32, topology::triangle>;\n"
    "static void fill(M m, uint g, uint t, constant U &u) {\n"
    "  uint n = 3 + (g * 5 + u.seed) % 29;\n"
    "  if (t < n) m.set_vertex(t, make(float2(hash(t + g * 40), hash(t * 3 + g)) * 2 - 1, t + g, "
    "u));\n"
    "  for (uint k = 0; t < n && k < 3; k++) m.set_index(3 * t + k, (t + k) % n);\n"
    "  if (t == 0) m.set_primitive_count(n - 2); }\n"
    "[[mesh]] void alone(M m, constant U &u [[buffer(1)]], uint g "
    "[[threadgroup_position_in_grid]],\n"
    "    uint t [[thread_index_in_threadgroup]]) { fill(m, g, t, u); }\n"
    "struct Payload { uint first, odd; };\n"
    "[[object]] void object(object_data Payload &p [[payload]], mesh_grid_properties grid,\n"
    "    constant U &u [[buffer(1)]], uint g [[threadgroup_position_in_grid]],\n"
    "    uint t [[thread_index_in_threadgroup]]) {\n"
    "  if (t) return;\n"
    "  p = {g * 100, g & 1}; grid.set_threadgroups_per_grid(uint3((g + u.seed) % 4, 1, 1)); }\n"
    "[[mesh]] void child(M m, object_data const Payload &p [[payload]], constant U &u "
    "[[buffer(1)]],\n"
    "    uint g [[threadgroup_position_in_grid]], uint t [[thread_index_in_threadgroup]]) {\n"
    "  fill(m, p.first + g + p.odd, t, u); }\n"
    "fragment float4 shade(V in [[stage_in]]) {\n"
    "  if (in.color.x < 0.1) discard_fragment();\n"
    "  return float4(in.color.rgb * (0.5 + 0.5 * float(in.id & 3)), in.color.a); }\n";

static uint64_t seed;

static uint32_t any(uint32_t n) {
    seed ^= seed << 13, seed ^= seed >> 7, seed ^= seed << 17;
    return (uint32_t)(seed >> 20) % n;
}

static float between(float low, float high) { return low + (high - low) * (float)any(4097) / 4096; }

typedef struct Uniform {
    float place[4], tint[4];
    uint32_t n, seed, pad[2];
} Uniform;

typedef struct Draw {
    uint32_t kind, n, n_instances, first;
    MTLCullMode cull;
    MTLTriangleFillMode fill;
    Uniform u;
} Draw;

static MTLLibrary *library;
static MTLRenderPipelineState *pipelines[2][N_KINDS]; // without and with four samples
static MTLDepthStencilState *less;
static MTLBuffer *points, *factors;
static Draw draws[N_DRAWS];
static uint32_t n_draws;
static MTLTexture *color, *depth, *flat, *flat_depth;

static void set_color(MTLRenderPipelineColorAttachmentDescriptor *c) {
    c->pixel_format = MTLPixelFormatRGBA8Unorm;
    c->blending_enabled = true;
    c->source_rgb_blend_factor = c->source_alpha_blend_factor = MTLBlendFactorSourceAlpha;
    c->destination_rgb_blend_factor = MTLBlendFactorOneMinusSourceAlpha;
    c->destination_alpha_blend_factor = MTLBlendFactorOneMinusSourceAlpha;
}

static MTLFunction *function(const char *name) {
    MTLFunction *f = mtl_library_new_function(library, name);
    if (!f) fail_msg("no %s", name);
    return f;
}

static MTLRenderPipelineState *new_pipeline(uint32_t kind, size_t samples) {
    static const MTLVertexDescriptor layout = {
        .attributes[0] = {.format = MTLVertexFormatFloat2},
        .layouts[0] = {.stride = 8, .step_function = MTLVertexStepFunctionPerPatchControlPoint}};
    MTLError *error = NULL;
    MTLRenderPipelineState *state;
    if (kind < 4) {
        MTLRenderPipelineDescriptor d = {
            .vertex_function = function(kind == 0   ? "plain"
                                        : kind == 2 ? "triangles"
                                                    : "quads"),
            .fragment_function = function("shade"),
            .vertex_descriptor = kind ? &layout : NULL,
            .raster_sample_count = samples,
            .max_tessellation_factor = 16,
            .tessellation_partition_mode = kind == 1   ? MTLTessellationPartitionModeInteger
                                           : kind == 2 ? MTLTessellationPartitionModeFractionalOdd
                                                       : MTLTessellationPartitionModeFractionalEven,
            .tessellation_factor_step_function = MTLTessellationFactorStepFunctionPerPatch,
            .depth_attachment_pixel_format = MTLPixelFormatDepth32Float};
        set_color(&d.color_attachments[0]);
        state = mtl_device_new_render_pipeline_state(device, &d, &error);
        mtl_release(d.vertex_function), mtl_release(d.fragment_function);
    } else {
        MTLMeshRenderPipelineDescriptor d = {
            .object_function = kind == 5 ? function("object") : NULL,
            .mesh_function = function(kind == 5 ? "child" : "alone"),
            .fragment_function = function("shade"),
            .raster_sample_count = samples,
            .max_total_threadgroups_per_mesh_grid = 4,
            .depth_attachment_pixel_format = MTLPixelFormatDepth32Float};
        set_color(&d.color_attachments[0]);
        state = mtl_device_new_render_pipeline_state_with_mesh_descriptor(device, &d, &error);
        mtl_release(d.object_function), mtl_release(d.mesh_function);
        mtl_release(d.fragment_function);
    }
    if (!state) fail_msg("%u: %s", kind, mtl_error_localized_description(error));
    return state;
}

static int open_mixed(void **state) {
    if (open_render(state)) return -1;
    library = compile(source);
    for (uint32_t k = 0; k < N_KINDS; k++)
        for (size_t i = 0; i < 2; i++) pipelines[i][k] = new_pipeline(k, i ? 4 : 1);
    less = mtl_device_new_depth_stencil_state(
        device, &(MTLDepthStencilDescriptor){.depth_compare_function = MTLCompareFunctionLessEqual,
                                             .depth_write_enabled = true});
    return 0;
}

static int close_mixed(void **state) {
    for (uint32_t k = 0; k < N_KINDS; k++)
        for (size_t i = 0; i < 2; i++) mtl_release(pipelines[i][k]);
    mtl_release(less), mtl_release(library);
    return close_render(state);
}

// ---- Random draws ----

static void random_draws(void) {
    n_draws = 2 + any(N_DRAWS - 1);
    for (uint32_t i = 0; i < n_draws; i++) {
        Draw *d = &draws[i];
        if (i > 0 && any(3)) { // the same again, or nearly
            *d = draws[i - 1];
            if (any(2)) d->n = 1 + any(12);
            continue;
        }
        *d = (Draw){.kind = any(N_KINDS), .n = 1 + any(12), .n_instances = any(3) ? 1 : 1 + any(5)};
        d->first = any(40), d->cull = any(3), d->fill = any(6) == 0;
        for (int k = 0; k < 2; k++) d->u.place[k] = between(-0.7f, 0.7f);
        for (int k = 2; k < 4; k++) d->u.place[k] = between(0.05f, 1.2f);
        for (int k = 0; k < 4; k++) d->u.tint[k] = between(0.3f, 1);
        d->u.seed = any(1000);
    }
    float at[N_FACTORS * 4][2];
    uint16_t f[N_FACTORS * 8];
    for (int i = 0; i < N_FACTORS * 4; i++)
        for (int k = 0; k < 2; k++) at[i][k] = between(-1, 1);
    for (int i = 0; i < N_FACTORS * 8; i++)
        f[i] = half_of(any(30) == 0 ? between(-1, 0) : between(0.3f, any(3) ? 4 : 18));
    points = mtl_device_new_buffer_with_bytes(device, at, sizeof at, 0);
    factors = mtl_device_new_buffer_with_bytes(device, f, sizeof f, 0);
}

static void encode(MTLRenderCommandEncoder *e, size_t samples, uint32_t first, uint32_t end) {
    mtl_render_command_encoder_set_depth_stencil_state(e, less);
    mtl_render_command_encoder_set_tessellation_factor_buffer(e, factors, 0, 0);
    for (uint32_t i = first; i < end; i++) {
        const Draw *d = &draws[i];
        if (i == first || memcmp(&d->u, &d[-1].u, sizeof d->u) || d->kind != d[-1].kind) {
            mtl_render_command_encoder_set_render_pipeline_state(e,
                                                                 pipelines[samples > 1][d->kind]);
            mtl_render_command_encoder_set_cull_mode(e, d->cull);
            mtl_render_command_encoder_set_triangle_fill_mode(e, d->fill);
            mtl_render_command_encoder_set_vertex_buffer(e, points, 0, 0);
            mtl_render_command_encoder_set_vertex_bytes(e, &d->u, sizeof d->u, 1);
            mtl_render_command_encoder_set_mesh_bytes(e, &d->u, sizeof d->u, 1);
            mtl_render_command_encoder_set_object_bytes(e, &d->u, sizeof d->u, 1);
        }
        if (d->kind == 0)
            mtl_render_command_encoder_draw_primitives_instanced(
                e, MTLPrimitiveTypeTriangle, d->first, 3 * d->n, d->n_instances, 0);
        else if (d->kind < 4)
            mtl_render_command_encoder_draw_patches(e, d->kind == 2 ? 3 : 4, d->first, d->n, NULL,
                                                    0, d->n_instances, 0);
        else
            mtl_render_command_encoder_draw_mesh_threadgroups(
                e, mtl_size_make(d->n, 1, 1), mtl_size_make(32, 1, 1), mtl_size_make(32, 1, 1));
    }
}

static MTLRenderPassDescriptor mixed_pass(MTLLoadAction load) {
    MTLRenderPassDescriptor d = pass_of(color);
    d.color_attachments[0].load_action = d.depth_attachment.load_action = load;
    d.depth_attachment.texture = depth;
    d.depth_attachment.store_action = MTLStoreActionStore;
    return d;
}

// Way 0: each alone; 1: together; 2: three encoders of a whole, the last one first.
static size_t draw_way(int way, size_t samples, unsigned char *out) {
    MTLCommandBuffer *commands = mtl_command_queue_command_buffer(queue);
    MTLRenderPassDescriptor d = mixed_pass(MTLLoadActionClear);
    for (uint32_t i = 0; way == 0 && i < n_draws; i++) {
        d = mixed_pass(i ? MTLLoadActionLoad : MTLLoadActionClear);
        MTLRenderCommandEncoder *e = mtl_command_buffer_render_command_encoder(commands, &d);
        encode(e, samples, i, i + 1);
        mtl_render_command_encoder_end_encoding(e);
    }
    if (way == 1) {
        MTLRenderCommandEncoder *e = mtl_command_buffer_render_command_encoder(commands, &d);
        encode(e, samples, 0, n_draws);
        mtl_render_command_encoder_end_encoding(e);
    }
    if (way == 2) {
        MTLParallelRenderCommandEncoder *whole =
            mtl_command_buffer_parallel_render_command_encoder(commands, &d);
        MTLRenderCommandEncoder *parts[3];
        for (int i = 0; i < 3; i++)
            parts[i] = mtl_parallel_render_command_encoder_render_command_encoder(whole);
        for (uint32_t i = 3; i-- > 0;) {
            encode(parts[i], samples, i * n_draws / 3, (i + 1) * n_draws / 3);
            mtl_render_command_encoder_end_encoding(parts[i]);
        }
        mtl_parallel_render_command_encoder_end_encoding(whole);
    }
    if (samples > 1) {
        d = mixed_pass(MTLLoadActionLoad);
        d.color_attachments[0].resolve_texture = flat,
        d.depth_attachment.resolve_texture = flat_depth;
        d.color_attachments[0].store_action = MTLStoreActionMultisampleResolve;
        d.depth_attachment.store_action = MTLStoreActionMultisampleResolve;
        mtl_render_command_encoder_end_encoding(
            mtl_command_buffer_render_command_encoder(commands, &d));
    }
    finish(commands);
    size_t w = mtl_texture_width(color), h = mtl_texture_height(color), n = w * h * 4;
    MTLRegion all = mtl_region_make_2d(0, 0, w, h);
    mtl_texture_get_bytes(samples > 1 ? flat : color, out, w * 4, all, 0);
    mtl_texture_get_bytes(samples > 1 ? flat_depth : depth, out + n, w * 4, all, 0);
    return 2 * n;
}

static void mixed(void **state) {
    (void)state;
    static unsigned char expected[MAX_SIZE * MAX_SIZE * 8], got[MAX_SIZE * MAX_SIZE * 8];
    const char *first = getenv("INGOT_TEST_SEED"), *n = getenv("INGOT_TEST_ROUNDS");
    uint64_t from = first ? strtoull(first, NULL, 10) : 1, rounds = n ? strtoull(n, NULL, 10) : 40;
    size_t n_drawn = 0;
    for (uint64_t i = from; i < from + rounds; i++) {
        seed = i * 0x9e3779b97f4a7c15u;
        any(1), any(1);
        size_t w = 1 + any(MAX_SIZE), h = 1 + any(MAX_SIZE), samples = any(3) ? 1 : 4;
        color = target(MTLPixelFormatRGBA8Unorm, w, h, samples);
        depth = target(MTLPixelFormatDepth32Float, w, h, samples);
        flat = target(MTLPixelFormatRGBA8Unorm, w, h, 1);
        flat_depth = target(MTLPixelFormatDepth32Float, w, h, 1);
        random_draws();
        size_t bytes = draw_way(0, samples, expected);
        for (size_t k = 0; k < bytes / 2; k++) n_drawn += expected[k] != 0 && expected[k] != 255;
        for (int way = 1; way < 3; way++) {
            draw_way(way, samples, got);
            for (size_t k = 0; k < bytes; k++)
                if (got[k] != expected[k])
                    fail_msg(
                        "scene %llu, way %d: byte %zu of %zu: %02x, alone %02x (%zu x %zu, %zu "
                        "samples, %u draws)",
                        (unsigned long long)i, way, k, bytes, got[k], expected[k], w, h, samples,
                        n_draws);
        }
        mtl_release(color), mtl_release(depth), mtl_release(flat), mtl_release(flat_depth);
        mtl_release(points), mtl_release(factors);
    }
    assert_true(n_drawn > 100 * rounds);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(mixed)};
    return cmocka_run_group_tests(tests, open_mixed, close_mixed);
}
