// SPDX-License-Identifier: Apache-2.0
// api_test.h: what the tests of the public API share: a device, kernels from source, and the
// messages that the device sent.
#ifndef INGOT_TESTS_API_TEST_H
#define INGOT_TESTS_API_TEST_H
#include "../unit.h"
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <ingot/metal.h>

static MTLDevice *device;
static char last_rule[64], last_call[96], last_text[512];
static atomic_int n_messages; // raised when the texts are there

// The null device computes nothing: a test that looks at results, or at what the CPU device alone
// does, is left out there.
static inline bool computes(void) {
    return strcmp(mtl_device_name(device), "Ingot null device") != 0;
}

// ---- What a device lacks ----
// A GPU does not draw: it says so by name, and a test that meets such a refusal is left out, with
// the device's own words. The CPU and the null device have all, or are looked at for the message.

static bool needs_drawing, needs_rays; // of the whole program; set before main
static pthread_t test_thread;          // that runs the tests

static inline bool may_lack(void) {
    return !mtl_device_supports_family(device, MTLGPUFamilyCommon1) && computes();
}

static inline void leave_out(const char *why) {
    print_message("[ LEFT OUT ] %s\n", why);
    skip();
}

// An error of a device that cannot do it.
static inline void leave_out_if_lacking(const MTLError *error) {
    const char *said = mtl_error_localized_description(error);
    bool lacks = strcmp(mtl_error_domain(error), MTLDeviceErrorDomain) == 0 &&
                 mtl_error_code(error) == MTLDeviceErrorNotSupported;
    if (may_lack() && (lacks || strstr(said, "code for GPUs"))) leave_out(said);
}

// Without drawing, or rays, nothing of such a program can run: ctest knows the number.
static inline void leave_out_program(void) {
    const char *what = needs_drawing && may_lack()                             ? "render passes"
                       : needs_rays && !mtl_device_supports_raytracing(device) ? "ray tracing"
                                                                               : NULL;
    if (!what || !may_lack()) return;
    print_message("[ LEFT OUT ] all: '%s' has no %s\n", mtl_device_name(device), what);
    exit(77);
}

static inline void note_message(const MTLDeviceMessage *message, void *context) {
    (void)context;
    if (!strcmp(message->rule, "device_feature") && may_lack() &&
        pthread_equal(pthread_self(), test_thread))
        leave_out(message->text); // no lock is held here
    snprintf(last_rule, sizeof last_rule, "%s", message->rule);
    snprintf(last_call, sizeof last_call, "%s", message->call);
    snprintf(last_text, sizeof last_text, "%s", message->text);
    atomic_fetch_add(&n_messages, 1);
}

static inline void clear_messages(void) {
    n_messages = 0;
    last_rule[0] = last_call[0] = last_text[0] = '\0';
}

static inline int open_device(void **state) {
    (void)state;
    device = mtl_create_system_default_device();
    if (!device) return -1;
    test_thread = pthread_self();
    leave_out_program();
    mtl_device_set_log_callback(device, note_message, NULL);
    return 0;
}

static inline int close_device(void **state) {
    (void)state;
    mtl_device_set_log_callback(device, NULL, NULL);
    mtl_release(device);
    return 0;
}

// A kernel's fault costs a GPU: the device, asked for again, is a new one. Whatever else a test has
// of the old one is its own to make again.
static inline void ask_again(void) {
    mtl_device_set_log_callback(device, NULL, NULL);
    mtl_release(device);
    device = mtl_create_system_default_device();
    assert_non_null(device);
    mtl_device_set_log_callback(device, note_message, NULL);
}

// Part of a test, with the reason; the rest of it goes on.
static inline void leave_out_part(const char *what, const char *why) {
    print_message("[ LEFT OUT ] %s: %s\n", what, why);
}

// For tests that write where only the device's code has something: an address of its memory.
#define NEEDS_HOST_MEMORY()                                                                        \
    if (!mtl_device_has_unified_memory(device))                                                    \
    leave_out("the host does not see the device's memory at its addresses")
// For tests that break a device, or that write while a kernel waits for it: a GPU is lost then, and
// sees what the host wrote before a command buffer.
#define NEEDS_FAULTS()                                                                             \
    if (!mtl_device_has_unified_memory(device))                                                    \
    leave_out("a kernel's fault costs such a device, and it does not see the host write")
// For tests about memory that a buffer does not have, behind its end or after its own: the CPU
// device sees to it that nothing is there, a GPU gives it to other buffers.
#define NEEDS_EMPTY_MEMORY()                                                                       \
    if (!mtl_device_has_unified_memory(device))                                                    \
    leave_out("what is behind a buffer, or comes after it, is other memory on such a device")
#define NEEDS_RESULTS()                                                                            \
    if (!computes()) skip()

static inline MTLLibrary *compile(const char *source) {
    MTLError *error = NULL;
    MTLLibrary *library = mtl_device_new_library_with_source(device, source, NULL, &error);
    if (!library) leave_out_if_lacking(error);
    if (!library) fail_msg("%s", mtl_error_localized_description(error));
    mtl_release(error);
    return library;
}

static inline MTLComputePipelineState *pipeline_of(MTLLibrary *library, const char *name) {
    MTLError *error = NULL;
    MTLFunction *function = mtl_library_new_function(library, name);
    if (!function) fail_msg("no function '%s'", name);
    MTLComputePipelineState *state =
        mtl_device_new_compute_pipeline_state(device, function, &error);
    if (!state) leave_out_if_lacking(error);
    if (!state) fail_msg("%s: %s", name, mtl_error_localized_description(error));
    mtl_release(function);
    return state;
}

static inline MTLComputePipelineState *pipeline_from(const char *source, const char *name) {
    MTLLibrary *library = compile(source);
    MTLComputePipelineState *state = pipeline_of(library, name);
    mtl_release(library);
    return state;
}

static inline void assert_completed(MTLCommandBuffer *commands) {
    if (mtl_command_buffer_status(commands) != MTLCommandBufferStatusCompleted)
        fail_msg("status %d: %s", (int)mtl_command_buffer_status(commands),
                 mtl_error_localized_description(mtl_command_buffer_error(commands)));
}

static inline void commit_and_wait(MTLCommandBuffer *commands) {
    mtl_command_buffer_commit(commands);
    mtl_command_buffer_wait_until_completed(commands);
}

// Commands that must complete; they end here.
static inline void run_to_end(MTLCommandBuffer *commands) {
    commit_and_wait(commands);
    assert_completed(commands);
    mtl_release(commands);
}

// An encoder of its own: n threads of a kernel on one buffer.
static inline void encode_threads(MTLCommandBuffer *commands, MTLComputePipelineState *pipeline,
                                  MTLBuffer *x, size_t n, size_t group) {
    MTLComputeCommandEncoder *e = mtl_command_buffer_compute_command_encoder(commands);
    mtl_compute_command_encoder_set_label(e, "first");
    mtl_compute_command_encoder_set_compute_pipeline_state(e, pipeline);
    mtl_compute_command_encoder_set_buffer(e, x, 0, 0);
    mtl_compute_command_encoder_dispatch_threads(e, mtl_size_make(n, 1, 1),
                                                 mtl_size_make(group, 1, 1));
    mtl_compute_command_encoder_end_encoding(e);
}

// Level 0 of a square texture of four bytes a texel into a buffer.
static inline void encode_copy(MTLCommandBuffer *commands, MTLTexture *t, size_t side,
                               MTLBuffer *to) {
    MTLBlitCommandEncoder *blit = mtl_command_buffer_blit_command_encoder(commands);
    mtl_blit_command_encoder_copy_from_texture_to_buffer(blit, t, 0, 0, mtl_origin_make(0, 0, 0),
                                                         mtl_size_make(side, side, 1), to, 0,
                                                         4 * side, 0, 0);
    mtl_blit_command_encoder_end_encoding(blit);
}

// A texture's descriptor by its extents; what else there is to say is the caller's.
static inline MTLTextureDescriptor texture_shape(MTLTextureType type, MTLPixelFormat format,
                                                 size_t w, size_t h, size_t depth, size_t length,
                                                 size_t levels) {
    MTLTextureDescriptor d = mtl_texture_descriptor_make_default();
    d.texture_type = type;
    d.pixel_format = format;
    d.width = w, d.height = h, d.depth = depth;
    d.array_length = length;
    d.mipmap_level_count = levels;
    return d;
}

// Kernels that several tests use.
#define HEAD "#include <metal_stdlib>\nusing namespace metal;\n"
#define ADD_ONE                                                                                    \
    HEAD "kernel void add_one(device uint *x [[buffer(0)]], uint i [[thread_position_in_grid]]) {" \
         " x[i] += 1; }\n"

// A rule was broken just now: said once. The commands, whose encoding has ended, fail with it.
static inline void assert_broke(const char *rule) {
    if (strcmp(last_rule, rule) != 0 || n_messages != 1)
        fail_msg("expected %s once, got '%s' %d times: %s", rule, last_rule, (int)n_messages,
                 last_text);
}

static inline void assert_fails_with(MTLCommandBuffer *commands, const char *rule) {
    commit_and_wait(commands);
    assert_int_equal(mtl_command_buffer_status(commands), MTLCommandBufferStatusError);
    assert_string_equal(mtl_error_rule(mtl_command_buffer_error(commands)), rule);
    mtl_release(commands);
}

// How a command buffer that was committed ended: 0, or the error's code.
static inline long outcome(MTLCommandBuffer *commands) {
    mtl_command_buffer_wait_until_completed(commands);
    long code = mtl_command_buffer_status(commands) == MTLCommandBufferStatusCompleted
                    ? 0
                    : mtl_error_code(mtl_command_buffer_error(commands));
    mtl_release(commands);
    return code;
}
#endif
