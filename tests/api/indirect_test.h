// SPDX-License-Identifier: Apache-2.0
// indirect_test.h: indirect command buffers for tests.
#ifndef INGOT_TESTS_INDIRECT_TEST_H
#define INGOT_TESTS_INDIRECT_TEST_H
#include "api_test.h"

static inline MTLIndirectCommandBuffer *indirect_of(const MTLIndirectCommandBufferDescriptor *d,
                                                    size_t n, const char *label) {
    MTLIndirectCommandBuffer *icb = mtl_device_new_indirect_command_buffer(device, d, n, 0);
    assert_non_null(icb);
    mtl_indirect_command_buffer_set_label(icb, label);
    return icb;
}

// Dispatches that take buffers and pipeline from the encoder.
static inline MTLIndirectCommandBuffer *inheriting_dispatches(size_t n) {
    const MTLIndirectCommandBufferDescriptor d = {
        .command_types = MTLIndirectCommandTypeConcurrentDispatchThreads,
        .inherit_buffers = true,
        .inherit_pipeline_state = true};
    return indirect_of(&d, n, "inheriting");
}

// A kernel for indirect command buffers.
static inline MTLComputePipelineState *indirect_pipeline_of(MTLLibrary *from, const char *name) {
    MTLError *error = NULL;
    MTLFunction *function = mtl_library_new_function(from, name);
    MTLComputePipelineState *p = mtl_device_new_compute_pipeline_state_with_descriptor(
        device,
        &(MTLComputePipelineDescriptor){.compute_function = function,
                                        .support_indirect_command_buffers = true},
        0, NULL, &error);
    if (!p) leave_out_if_lacking(error);
    if (!p) fail_msg("%s: %s", name, mtl_error_localized_description(error));
    mtl_release(function);
    return p;
}
#endif
