// SPDX-License-Identifier: Apache-2.0
// test_as_a_mac.c: what a Mac objects to in its debug layer only. The suite runs this twice:
// without MTL_DEBUG_LAYER the calls do what the hardware would and stay inside their resources,
// with it each is refused by its rule.
#include "library_test.h"
#include <sys/mman.h>

static const char source[] =
    HEAD "kernel void mark(device uint *x [[buffer(0)]], uint i [[thread_position_in_grid]]) {"
         " x[i] = 7; }\n"
         "kernel void shared(device uint *x [[buffer(0)]], threadgroup uint *t [[threadgroup(0)]],"
         " uint i [[thread_index_in_threadgroup]]) {"
         " if (x[8] == 0) { t[i] = i + 1; threadgroup_barrier(mem_flags::mem_threadgroup);"
         " x[i] = t[i ^ 1]; } else { x[i] = 9; } }\n"
         "kernel void some(device uint *x [[buffer(0)]], constant uint4 &k [[buffer(1)]],"
         " device uint *y [[buffer(2)]], uint i [[thread_position_in_grid]]) {"
         " x[i] = k.y + 5; if (x[i] == 6) y[i] = 1; }\n"
         "kernel void past(device uint *x [[buffer(0)]], device uint *y [[buffer(1)]],"
         " uint i [[thread_position_in_grid]]) { y[i] = x[8192 + i]; }\n"
         "vertex float4 whole(uint i [[vertex_id]]) {"
         " return float4(i == 1 ? 3 : -1, i == 2 ? 3 : -1, 0, 1); }\n"
         "fragment float4 white() { return float4(1); }\n";

static bool layer; // the debug layer is on

static int set_up(void **state) {
    const char *on = getenv("MTL_DEBUG_LAYER");
    layer = on && *on == '1';
    return open_library(state, source);
}

// With the layer the command buffer fails by the rule; without, it completes.
static void ends(MTLCommandBuffer *commands, const char *rule) {
    commit_and_wait(commands);
    assert_string_equal(mtl_error_rule(mtl_command_buffer_error(commands)), layer ? rule : "");
    mtl_release(commands);
}

static MTLBuffer *words(size_t n) { return mtl_device_new_buffer(device, n * 4, 0); }

// Where there is one memory for all, the CPU reads what a kernel wrote to a private buffer.
static void contents_of_a_private_buffer(void **state) {
    (void)state;
    NEEDS_RESULTS();
    MTLComputePipelineState *p = pipeline_of(library, "mark");
    MTLBuffer *x = mtl_device_new_buffer(device, 64, MTLResourceStorageModePrivate);
    MTLCommandBuffer *commands = mtl_command_queue_command_buffer(queue);
    MTLComputeCommandEncoder *e = mtl_command_buffer_compute_command_encoder(commands);
    mtl_compute_command_encoder_set_compute_pipeline_state(e, p);
    mtl_compute_command_encoder_set_buffer(e, x, 0, 0);
    mtl_compute_command_encoder_dispatch_threads(e, mtl_size_make(4, 1, 1), mtl_size_make(4, 1, 1));
    mtl_compute_command_encoder_end_encoding(e);
    commit_and_wait(commands);
    clear_messages();
    const uint32_t *words_of_x = mtl_buffer_contents(x);
    if (layer)
        assert_null(words_of_x);
    else if (mtl_device_has_unified_memory(device))
        assert_int_equal(words_of_x[3], 7);
    assert_string_equal(last_rule, layer ? "buffer_contents_private" : "");
    mtl_release(commands);
    mtl_release(x);
    mtl_release(p);
}

static void dispatch_of_nothing(void **state) {
    (void)state;
    NEEDS_RESULTS();
    static const struct {
        MTLSize grid, group;
        const char *rule;
    } cases[] = {
        {{0, 1, 1}, {4, 1, 1}, "dispatch_empty_grid"},
        {{4, 0, 1}, {4, 1, 1}, "dispatch_empty_grid"},
        {{4, 1, 0}, {4, 1, 1}, "dispatch_empty_grid"},
        {{4, 1, 1}, {0, 1, 1}, "dispatch_empty_threadgroup"},
        {{4, 1, 1}, {4, 1, 0}, "dispatch_empty_threadgroup"},
    };
    MTLComputePipelineState *p = pipeline_of(library, "mark");
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        for (int in_groups = 0; in_groups < 2; in_groups++) {
            MTLBuffer *x = words(16);
            MTLCommandBuffer *commands = mtl_command_queue_command_buffer(queue);
            MTLComputeCommandEncoder *e = mtl_command_buffer_compute_command_encoder(commands);
            mtl_compute_command_encoder_set_compute_pipeline_state(e, p);
            mtl_compute_command_encoder_set_buffer(e, x, 0, 0);
            if (in_groups)
                mtl_compute_command_encoder_dispatch_threadgroups(e, cases[i].grid, cases[i].group);
            else
                mtl_compute_command_encoder_dispatch_threads(e, cases[i].grid, cases[i].group);
            // what follows runs
            mtl_compute_command_encoder_set_buffer_offset(e, 32, 0);
            mtl_compute_command_encoder_dispatch_threads(e, mtl_size_make(2, 1, 1),
                                                         mtl_size_make(2, 1, 1));
            mtl_compute_command_encoder_end_encoding(e);
            ends(mtl_retain(commands), cases[i].rule);
            const uint32_t *v = mtl_buffer_contents(x);
            assert_int_equal(v[0], 0);
            assert_int_equal(v[8], layer ? 0 : 7);
            mtl_release(commands), mtl_release(x);
        }
    mtl_release(p);
}

// A kernel may declare more than it reads: `constant` reads zeros, elsewhere the kernel faults, or,
// on a GPU, what it stores is dropped.
static void arguments_that_are_not_bound(void **state) {
    (void)state;
    NEEDS_RESULTS();
    MTLComputePipelineState *p = pipeline_of(library, "some");
    static const uint32_t one[4] = {0, 1, 0, 0};
    for (int reads = 0; reads < 2; reads++) {
        MTLBuffer *x = words(16);
        MTLCommandBuffer *commands = mtl_command_queue_command_buffer(queue);
        MTLComputeCommandEncoder *e = mtl_command_buffer_compute_command_encoder(commands);
        mtl_compute_command_encoder_set_compute_pipeline_state(e, p);
        mtl_compute_command_encoder_set_buffer(e, x, 0, 0);
        if (reads) mtl_compute_command_encoder_set_bytes(e, one, sizeof one, 1);
        mtl_compute_command_encoder_dispatch_threads(e, mtl_size_make(16, 1, 1),
                                                     mtl_size_make(16, 1, 1));
        mtl_compute_command_encoder_end_encoding(e);
        commit_and_wait(commands);
        const MTLError *error = mtl_command_buffer_error(commands);
        assert_string_equal(mtl_error_rule(error), layer ? "dispatch_missing_buffer" : "");
        if (!layer) {
            bool faults = reads && mtl_device_has_unified_memory(device);
            assert_int_equal(mtl_error_code(error), faults ? MTLCommandBufferErrorPageFault : 0);
            const uint32_t *v = mtl_buffer_contents(x);
            for (int i = 0; i < 16; i++) assert_int_equal(v[i], 5 + reads);
        }
        mtl_release(commands), mtl_release(x);
    }
    mtl_release(p);
}

// Lengths round up to 16; a length of 0 is no error while the kernel does not look.
static void lengths_of_threadgroup_memory(void **state) {
    (void)state;
    NEEDS_RESULTS();
    MTLComputePipelineState *p = pipeline_of(library, "shared");
    for (int unused = 0; unused < 2; unused++) {
        MTLBuffer *x = words(16);
        uint32_t *v = mtl_buffer_contents(x);
        v[8] = (uint32_t)unused;
        MTLCommandBuffer *commands = mtl_command_queue_command_buffer(queue);
        MTLComputeCommandEncoder *e = mtl_command_buffer_compute_command_encoder(commands);
        mtl_compute_command_encoder_set_compute_pipeline_state(e, p);
        mtl_compute_command_encoder_set_buffer(e, x, 0, 0);
        mtl_compute_command_encoder_set_threadgroup_memory_length(e, unused ? 0 : 20, 0);
        mtl_compute_command_encoder_dispatch_threads(e, mtl_size_make(8, 1, 1),
                                                     mtl_size_make(8, 1, 1));
        mtl_compute_command_encoder_end_encoding(e);
        ends(commands,
             unused ? "dispatch_missing_threadgroup_memory" : "threadgroup_memory_multiple");
        for (uint32_t i = 0; i < 8 && !layer; i++) assert_int_equal(v[i], unused ? 9 : (i ^ 1) + 1);
        mtl_release(x);
    }
    mtl_release(p);
}

static void memory_that_is_no_page(void **state) {
    (void)state;
    char *memory = mmap(NULL, 8192, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    static const struct {
        size_t offset, length;
    } cases[] = {{16, 4096}, {0, 100}, {48, 1}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        MTLBuffer *x = mtl_device_new_buffer_with_bytes_no_copy(device, memory + cases[i].offset,
                                                                cases[i].length, 0, NULL, NULL);
        assert_true((x == NULL) == layer);
        if (layer) {
            assert_string_equal(last_rule, "buffer_no_copy_alignment");
            continue;
        }
        assert_ptr_equal(mtl_buffer_contents(x), memory + cases[i].offset);
        assert_int_equal(mtl_buffer_length(x), cases[i].length);
        MTLCommandBuffer *commands = mtl_command_queue_command_buffer(queue);
        MTLBlitCommandEncoder *blit = mtl_command_buffer_blit_command_encoder(commands);
        mtl_blit_command_encoder_fill_buffer(blit, x, mtl_range_make(0, cases[i].length), 5);
        mtl_blit_command_encoder_end_encoding(blit);
        ends(commands, "");
        assert_int_equal(memory[cases[i].offset + cases[i].length - 1], 5);
        mtl_release(x);
    }
    munmap(memory, 8192);
}

// Ranges are cut to the buffers; copies within one keep what they read.
static void ranges_past_the_end(void **state) {
    (void)state;
    static const struct {
        bool fill;
        size_t from, to, n; // bytes of buffers of 64 and 128
        size_t done;        // of n, from `to` on
        const char *rule;
    } cases[] = {
        {false, 32, 0, 64, 32, "blit_copy_range"},
        {false, 0, 96, 64, 32, "blit_copy_range"},
        {false, 64, 0, 8, 0, "blit_copy_range"},
        {false, SIZE_MAX, 0, 8, 0, "blit_copy_range"},
        {false, 0, SIZE_MAX, 8, 0, "blit_copy_range"},
        {false, 0, 0, SIZE_MAX, 64, "blit_copy_range"},
        {true, 0, 100, 64, 28, "blit_copy_range"},
        {true, 0, 128, 1, 0, "blit_copy_range"},
        {true, 0, SIZE_MAX, 2, 0, "blit_copy_range"},
        {true, 0, 10, 0, 0, "blit_copy_range"},
        {true, 0, 0, SIZE_MAX, 128, "blit_copy_range"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        MTLBuffer *a = words(16), *b = words(32);
        memset(mtl_buffer_contents(a), 3, 64);
        MTLCommandBuffer *commands = mtl_command_queue_command_buffer(queue);
        MTLBlitCommandEncoder *blit = mtl_command_buffer_blit_command_encoder(commands);
        if (cases[i].fill)
            mtl_blit_command_encoder_fill_buffer(blit, b, mtl_range_make(cases[i].to, cases[i].n),
                                                 3);
        else
            mtl_blit_command_encoder_copy_from_buffer(blit, a, cases[i].from, b, cases[i].to,
                                                      cases[i].n);
        mtl_blit_command_encoder_end_encoding(blit);
        ends(commands, cases[i].rule);
        const uint8_t *v = mtl_buffer_contents(b);
        for (size_t k = 0; k < 128; k++)
            assert_int_equal(v[k],
                             !layer && k >= cases[i].to && k - cases[i].to < cases[i].done ? 3 : 0);
        mtl_release(a), mtl_release(b);
    }
}

static void copies_within_a_buffer(void **state) {
    (void)state;
    for (int up = 0; up < 2; up++) {
        MTLBuffer *b = words(32);
        uint8_t *v = mtl_buffer_contents(b);
        for (int i = 0; i < 128; i++) v[i] = (uint8_t)i;
        MTLCommandBuffer *commands = mtl_command_queue_command_buffer(queue);
        MTLBlitCommandEncoder *blit = mtl_command_buffer_blit_command_encoder(commands);
        mtl_blit_command_encoder_copy_from_buffer(blit, b, up ? 0 : 16, b, up ? 16 : 0, 64);
        mtl_blit_command_encoder_end_encoding(blit);
        ends(commands, "blit_copy_overlap");
        for (int i = 0; i < 64 && !layer; i++)
            assert_int_equal(v[(up ? 16 : 0) + i], (up ? 0 : 16) + i);
        mtl_release(b);
    }
}

// ---- Draws ----

enum { SIDE = 16 };

static MTLRenderCommandEncoder *begin_pass(MTLCommandBuffer *commands, MTLTexture *target) {
    MTLError *error = NULL;
    MTLRenderPipelineDescriptor d = {.vertex_function = mtl_library_new_function(library, "whole"),
                                     .fragment_function =
                                         mtl_library_new_function(library, "white"),
                                     .color_attachments[0].pixel_format = MTLPixelFormatRGBA8Unorm};
    MTLRenderPipelineState *p = mtl_device_new_render_pipeline_state(device, &d, &error);
    if (!p) leave_out_if_lacking(error);
    assert_non_null(p);
    MTLRenderPassDescriptor pass = mtl_render_pass_descriptor_make();
    pass.color_attachments[0].texture = target;
    pass.color_attachments[0].load_action = MTLLoadActionClear;
    MTLRenderCommandEncoder *e = mtl_command_buffer_render_command_encoder(commands, &pass);
    mtl_render_command_encoder_set_render_pipeline_state(e, p);
    mtl_release(p), mtl_release(d.vertex_function), mtl_release(d.fragment_function);
    return e;
}

static bool is_white(MTLTexture *t, size_t x, size_t y) {
    uint32_t pixel = 0;
    mtl_texture_get_bytes(t, &pixel, 4, mtl_region_make_2d(x, y, 1, 1), 0);
    return pixel == 0xffffffffu;
}

static MTLTexture *new_target(void) {
    MTLTextureDescriptor d = mtl_texture_descriptor_2d(MTLPixelFormatRGBA8Unorm, SIDE, SIDE, false);
    d.usage = MTLTextureUsageRenderTarget | MTLTextureUsageShaderRead;
    return mtl_device_new_texture(device, &d);
}

static void draws_of_nothing(void **state) {
    (void)state;
    NEEDS_RESULTS();
    for (int draws = 0; draws < 2; draws++) { // and one that draws, behind them
        MTLTexture *t = new_target();
        MTLCommandBuffer *commands = mtl_command_queue_command_buffer(queue);
        MTLRenderCommandEncoder *e = begin_pass(commands, t);
        mtl_render_command_encoder_draw_primitives(e, MTLPrimitiveTypeTriangle, 0, 0);
        mtl_render_command_encoder_draw_primitives_instanced(e, MTLPrimitiveTypeTriangle, 0, 3, 0,
                                                             0);
        if (draws) mtl_render_command_encoder_draw_primitives(e, MTLPrimitiveTypeTriangle, 0, 3);
        mtl_render_command_encoder_end_encoding(e);
        ends(commands, "draw_empty");
        if (!layer) assert_int_equal(is_white(t, 5, 5), draws);
        mtl_release(t);
    }
}

static void scissors_past_the_target(void **state) {
    (void)state;
    NEEDS_RESULTS();
    static const MTLScissorRect rects[] = {
        {8, 2, 100, 3}, {8, 2, SIZE_MAX, 3}, {SIDE, 0, 1, 1}, {SIZE_MAX, SIZE_MAX, 2, 2}};
    for (size_t i = 0; i < sizeof rects / sizeof *rects; i++) {
        MTLTexture *t = new_target();
        MTLCommandBuffer *commands = mtl_command_queue_command_buffer(queue);
        MTLRenderCommandEncoder *e = begin_pass(commands, t);
        mtl_render_command_encoder_set_scissor_rect(e, rects[i]);
        mtl_render_command_encoder_draw_primitives(e, MTLPrimitiveTypeTriangle, 0, 3);
        mtl_render_command_encoder_end_encoding(e);
        ends(commands, "render_scissor");
        for (size_t y = 0; !layer && y < SIDE; y++)
            for (size_t x = 0; x < SIDE; x++)
                assert_int_equal(is_white(t, x, y), i < 2 && x >= 8 && y >= 2 && y < 5);
        mtl_release(t);
    }
}

// Lanes past the end of a row read on: zeros, whatever other memory the process has.
static void reads_past_the_end(void **state) {
    (void)state;
    NEEDS_RESULTS();
    NEEDS_EMPTY_MEMORY();
    enum { N = 8192, PAST = 4096, N_BUFFERS = 4 };
    MTLComputePipelineState *p = pipeline_of(library, "past");
    MTLBuffer *from[N_BUFFERS], *to = words(PAST);
    for (int i = 0; i < N_BUFFERS; i++) {
        from[i] = words(N);
        memset(mtl_buffer_contents(from[i]), 0xff, N * 4);
    }
    for (int i = 0; i < N_BUFFERS; i++) {
        memset(mtl_buffer_contents(to), 0xff, PAST * 4);
        MTLCommandBuffer *commands = mtl_command_queue_command_buffer(queue);
        MTLComputeCommandEncoder *e = mtl_command_buffer_compute_command_encoder(commands);
        mtl_compute_command_encoder_set_compute_pipeline_state(e, p);
        mtl_compute_command_encoder_set_buffer(e, from[i], 0, 0);
        mtl_compute_command_encoder_set_buffer(e, to, 0, 1);
        mtl_compute_command_encoder_dispatch_threads(e, mtl_size_make(PAST, 1, 1),
                                                     mtl_size_make(64, 1, 1));
        mtl_compute_command_encoder_end_encoding(e);
        commit_and_wait(commands);
        assert_completed(commands);
        const uint32_t *v = mtl_buffer_contents(to);
        for (int j = 0; j < PAST; j++) assert_int_equal(v[j], 0);
        mtl_release(commands);
    }
    for (int i = 0; i < N_BUFFERS; i++) mtl_release(from[i]);
    mtl_release(to);
    mtl_release(p);
}

static void mipmaps_of_one_level(void **state) {
    (void)state;
    MTLTexture *t = new_target();
    MTLCommandBuffer *commands = mtl_command_queue_command_buffer(queue);
    MTLBlitCommandEncoder *e = mtl_command_buffer_blit_command_encoder(commands);
    mtl_blit_command_encoder_generate_mipmaps(e, t);
    mtl_blit_command_encoder_end_encoding(e);
    ends(commands, "blit_mipmap_levels");
    mtl_release(t);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(contents_of_a_private_buffer),
        cmocka_unit_test(dispatch_of_nothing),
        cmocka_unit_test(arguments_that_are_not_bound),
        cmocka_unit_test(lengths_of_threadgroup_memory),
        cmocka_unit_test(memory_that_is_no_page),
        cmocka_unit_test(ranges_past_the_end),
        cmocka_unit_test(copies_within_a_buffer),
        cmocka_unit_test(draws_of_nothing),
        cmocka_unit_test(scissors_past_the_target),
        cmocka_unit_test(mipmaps_of_one_level),
        cmocka_unit_test(reads_past_the_end),
    };
    return cmocka_run_group_tests(tests, set_up, close_library);
}
