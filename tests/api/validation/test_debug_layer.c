// SPDX-License-Identifier: Apache-2.0
// test_debug_layer.c: with MTL_DEBUG_LAYER=1 (set by the suite) further rules are checked, and
// without a callback messages are printed.
#include "library_test.h"
#include <unistd.h>

static const char source[] =
    HEAD "struct Params { float4 a; uint b; };\n"
         "kernel void f(device float *x [[buffer(0)]], constant Params &p [[buffer(1)]]) {"
         " x[0] = p.a.x + p.b; }\n"
         "kernel void g(device float4 *x [[buffer(0)]]) { x[0] = 1; }\n";

static int set_up(void **state) { return open_library(state, source); }

// Runs `name` with x at `offset` and `n_bytes` of parameters; gives the rule that was broken, or
// "".
static const char *rule_of(const char *name, size_t offset, size_t n_bytes) {
    static char rule[64];
    static const char params[64];
    MTLComputePipelineState *p = pipeline_of(library, name);
    MTLBuffer *x = mtl_device_new_buffer(device, 256, 0);
    MTLCommandBuffer *commands = mtl_command_queue_command_buffer(queue);
    MTLComputeCommandEncoder *e = mtl_command_buffer_compute_command_encoder(commands);
    mtl_compute_command_encoder_set_compute_pipeline_state(e, p);
    mtl_compute_command_encoder_set_buffer(e, x, offset, 0);
    mtl_compute_command_encoder_set_bytes(e, params, n_bytes, 1);
    mtl_compute_command_encoder_dispatch_threads(e, mtl_size_make(1, 1, 1), mtl_size_make(1, 1, 1));
    mtl_compute_command_encoder_end_encoding(e);
    commit_and_wait(commands);
    snprintf(rule, sizeof rule, "%s", mtl_error_rule(mtl_command_buffer_error(commands)));
    mtl_release(commands);
    mtl_release(x);
    mtl_release(p);
    return rule;
}

// Only managed resources are synchronized; without the layer it does no harm.
static void synchronized_storage(void **state) {
    (void)state;
    const MTLResourceOptions options[] = {MTLResourceStorageModeManaged,
                                          MTLResourceStorageModeShared};
    for (int i = 0; i < 2; i++) {
        MTLBuffer *x = mtl_device_new_buffer(device, 256, options[i]);
        MTLTextureDescriptor d = mtl_texture_descriptor_make_default();
        d.resource_options = options[i];
        MTLTexture *t = mtl_device_new_texture(device, &d);
        for (int k = 0; k < 2; k++) {
            MTLCommandBuffer *commands = mtl_command_queue_command_buffer(queue);
            MTLBlitCommandEncoder *blit = mtl_command_buffer_blit_command_encoder(commands);
            if (k)
                mtl_blit_command_encoder_synchronize_resource(blit, (MTLResource *)x);
            else
                mtl_blit_command_encoder_synchronize_texture(blit, t, 0, 0);
            mtl_blit_command_encoder_end_encoding(blit);
            commit_and_wait(commands);
            assert_string_equal(mtl_error_rule(mtl_command_buffer_error(commands)),
                                i ? "blit_synchronize_storage" : "");
            mtl_release(commands);
        }
        mtl_release(t);
        mtl_release(x);
    }
}

// Rows of texels lie at most 32767 texels apart.
static void bytes_per_row(void **state) {
    (void)state;
    MTLTextureDescriptor d = mtl_texture_descriptor_2d(MTLPixelFormatR8Unorm, 2, 2, false);
    MTLTexture *t = mtl_device_new_texture(device, &d);
    static char bytes[40000];
    clear_messages();
    mtl_texture_replace_region(t, mtl_region_make_2d(0, 0, 2, 2), 0, bytes, 32767);
    assert_int_equal(n_messages, 0);
    mtl_texture_replace_region(t, mtl_region_make_2d(0, 0, 2, 2), 0, bytes, 32768);
    assert_string_equal(last_rule, "texture_bytes_per_row");
    mtl_release(t);
}

static void sizes_and_alignments(void **state) {
    (void)state;
    assert_string_equal(rule_of("f", 0, 32), "");
    assert_string_equal(rule_of("f", 0, 31), "dispatch_buffer_too_small");
    assert_string_equal(rule_of("f", 254, 32), "dispatch_buffer_too_small");
    assert_string_equal(rule_of("f", 2, 32), "dispatch_offset_alignment");
    assert_string_equal(rule_of("f", 4, 32), "");
    assert_string_equal(rule_of("g", 4, 32), "dispatch_offset_alignment");
    assert_string_equal(rule_of("g", 16, 32), "");
}

static void messages_are_printed(void **state) {
    (void)state;
    int ends[2], kept = dup(2);
    assert_int_equal(pipe(ends), 0);
    fflush(stderr);
    dup2(ends[1], 2);
    mtl_device_set_log_callback(device, NULL, NULL);
    assert_null(mtl_device_new_buffer(device, 0, 0));
    mtl_device_set_log_callback(device, note_message, NULL);
    fflush(stderr);
    dup2(kept, 2);
    close(ends[1]);
    close(kept);
    char text[512] = "";
    assert_true(read(ends[0], text, sizeof text - 1) > 0);
    close(ends[0]);
    assert_non_null(strstr(text, "mtl_device_new_buffer"));
    assert_non_null(strstr(text, "[buffer_length]"));
}

// Messages name what is concerned by its label.
static void labels(void **state) {
    (void)state;
    MTLComputePipelineState *p = pipeline_of(library, "f");
    MTLBuffer *x = mtl_device_new_buffer(device, 40, 0);
    mtl_buffer_set_label(x, "Values");
    MTLCommandBuffer *commands = mtl_command_queue_command_buffer(queue);
    mtl_command_buffer_set_label(commands, "Frame");
    clear_messages();
    MTLComputeCommandEncoder *e = mtl_command_buffer_compute_command_encoder(commands);
    mtl_compute_command_encoder_set_label(e, "Pass");
    mtl_compute_command_encoder_set_compute_pipeline_state(e, p);
    mtl_compute_command_encoder_pop_debug_group(e);
    assert_string_equal(last_rule, "debug_group_underflow");
    assert_non_null(strstr(last_text, "in encoder 'Pass' of command buffer 'Frame'"));
    mtl_compute_command_encoder_set_buffer(e, x, 40, 0);
    assert_string_equal(last_rule, "buffer_offset");
    assert_non_null(strstr(last_text, "'Values'"));
    mtl_compute_command_encoder_set_buffer(e, x, 0, 0);
    mtl_compute_command_encoder_set_buffer(e, x, 16, 1);
    mtl_compute_command_encoder_dispatch_threads(e, mtl_size_make(1, 1, 1), mtl_size_make(1, 1, 1));
    assert_string_equal(last_rule, "dispatch_buffer_too_small");
    assert_non_null(strstr(last_text, "'p' of 'f' at index 1"));
    assert_non_null(strstr(last_text, "'Values'"));
    assert_non_null(strstr(last_text, "in encoder 'Pass' of command buffer 'Frame'"));
    mtl_compute_command_encoder_end_encoding(e);
    commit_and_wait(commands);
    assert_non_null(
        strstr(mtl_error_localized_description(mtl_command_buffer_error(commands)), "'Frame'"));
    mtl_release(commands);
    // Waiting for what was not committed, and an encoder that never ends.
    commands = mtl_command_queue_command_buffer(queue);
    mtl_command_buffer_set_label(commands, "Never");
    mtl_command_buffer_wait_until_completed(commands);
    assert_string_equal(last_rule, "command_buffer_not_committed");
    assert_non_null(strstr(last_text, "in command buffer 'Never'"));
    e = mtl_command_buffer_compute_command_encoder(commands);
    mtl_compute_command_encoder_set_label(e, "Open");
    mtl_release(commands);
    assert_string_equal(last_rule, "encoder_not_ended");
    assert_non_null(strstr(last_text, "in encoder 'Open' of command buffer 'Never'"));
    mtl_release(x);
    mtl_release(p);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(sizes_and_alignments),
        cmocka_unit_test(synchronized_storage),
        cmocka_unit_test(bytes_per_row),
        cmocka_unit_test(messages_are_printed),
        cmocka_unit_test(labels),
    };
    return cmocka_run_group_tests(tests, set_up, close_library);
}
