// SPDX-License-Identifier: Apache-2.0
// test_render_ways.c: random draws with random states, each in a pass of its own, and the same
// draws in one pass, through every encoder: batched, by several threads, with arguments in memory,
// instance by instance, from an indirect command buffer, in Metal 4 and in its suspended passes.
// All attachments and results must be the same, bit by bit.
#include "metal4.h"
#include "render_ways.h"

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
