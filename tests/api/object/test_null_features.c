// SPDX-License-Identifier: Apache-2.0
// test_null_features.c: a device that has kernels and copies only (INGOT_DEVICES=null): everything
// else is refused with the device's name, and supports... says so before.
#include "null_test.h"
#include "devices/table/device.h"

static void said(const char *what) {
    assert_string_equal(last_rule, "device_feature");
    assert_non_null(strstr(last_text, "Ingot null device"));
    assert_non_null(strstr(last_text, what));
    clear_messages();
}

static void said_in(MTLError *error, const char *what) {
    assert_non_null(error);
    assert_int_equal(mtl_error_code(error), MTLDeviceErrorNotSupported);
    assert_non_null(strstr(mtl_error_localized_description(error), "Ingot null device"));
    assert_non_null(strstr(mtl_error_localized_description(error), what));
    mtl_release(error);
}

static void questions_say_no(void **state) {
    (void)state;
    for (int family = 1000; family < 6000; family++)
        assert_false(mtl_device_supports_family(device, (MTLGPUFamily)family));
    assert_false(mtl_device_supports_texture_sample_count(device, 1));
    assert_false(mtl_device_supports_bc_texture_compression(device));
    assert_false(mtl_device_supports_32_bit_float_filtering(device));
    assert_false(mtl_device_supports_vertex_amplification_count(device, 1));
    assert_false(mtl_device_supports_pull_model_interpolation(device));
    assert_false(mtl_device_supports_function_pointers(device));
    assert_int_equal(mtl_device_read_write_texture_support(device), MTLReadWriteTextureTierNone);
}

static void resources_are_refused(void **state) {
    (void)state;
    MTLTextureDescriptor td = mtl_texture_descriptor_2d(MTLPixelFormatRGBA8Unorm, 4, 4, false);
    assert_null(mtl_device_new_texture(device, &td));
    said("textures");
    assert_null(mtl_device_new_sampler_state(device, &(MTLSamplerDescriptor){0}));
    said("textures");
    MTLBuffer *b = mtl_device_new_buffer(device, 4096, 0);
    assert_non_null(b);
    assert_null(mtl_buffer_new_texture(b, &td, 0, 16));
    said("textures");
    MTLError *error = NULL;
    MTLTensorDescriptor xd = mtl_tensor_descriptor_make_default();
    assert_null(mtl_device_new_tensor(device, &xd, &error));
    said_in(error, "tensors");
    assert_null(mtl_buffer_new_tensor(b, &xd, 0, &error));
    said_in(error, "tensors");
    const MTLResourceViewPoolDescriptor pd = {.resource_view_count = 4};
    assert_null(mtl_device_new_texture_view_pool(device, &pd, &error));
    said_in(error, "textures");
    const MTLIndirectCommandBufferDescriptor id = {.command_types =
                                                       MTLIndirectCommandTypeConcurrentDispatch};
    assert_null(mtl_device_new_indirect_command_buffer(device, &id, 4, 0));
    said("indirect command buffers");
    mtl_release(b);
}

static void drawing_is_refused(void **state) {
    (void)state;
    MTLLibrary *library = hand_made_library(device);
    MTLFunction *v = mtl_library_new_function(library, "corner");
    MTLError *error = NULL;
    MTLRenderPipelineDescriptor d = {.vertex_function = v};
    assert_null(mtl_device_new_render_pipeline_state(device, &d, &error));
    said_in(error, "render passes");
    MTLCommandQueue *queue = mtl_device_new_command_queue(device);
    MTLCommandBuffer *commands = mtl_command_queue_command_buffer(queue);
    MTLRenderPassDescriptor pass = mtl_render_pass_descriptor_make();
    assert_null(mtl_command_buffer_render_command_encoder(commands, &pass));
    said("render passes");
    mtl_command_buffer_commit(commands);
    mtl_command_buffer_wait_until_completed(commands);
    assert_int_equal(mtl_command_buffer_status(commands), MTLCommandBufferStatusError);
    mtl_release(commands);
    mtl_release(queue);
    mtl_release(v);
    mtl_release(library);
}

static void pipelines_lack_validation_and_tables(void **state) {
    (void)state;
    MTLLibrary *library = hand_made_library(device);
    MTLFunction *f = mtl_library_new_function(library, "nothing");
    MTLError *error = NULL;
    MTLComputePipelineDescriptor d = {.compute_function = f,
                                      .shader_validation = MTLShaderValidationEnabled};
    assert_null(mtl_device_new_compute_pipeline_state_with_descriptor(device, &d, 0, NULL, &error));
    said_in(error, "shader validation");
    MTLComputePipelineState *p = mtl_device_new_compute_pipeline_state(device, f, &error);
    assert_non_null(p);
    assert_null(mtl_compute_pipeline_state_new_visible_function_table(
        p, &(MTLVisibleFunctionTableDescriptor){.function_count = 1}));
    said("function pointers");
    mtl_release(p);
    mtl_release(f);
    mtl_release(library);
}

// A device that does not read the sizes of a dispatch: the host does, and says what does not fit.
static void sizes_are_read_by_the_host(void **state) {
    (void)state;
    MTLLibrary *library = hand_made_library(device);
    MTLFunction *f = mtl_library_new_function(library, "nothing");
    MTLComputePipelineState *p = mtl_device_new_compute_pipeline_state(device, f, NULL);
    MTLBuffer *b = mtl_device_new_buffer(device, 256, 0);
    MTLCommandQueue *queue = mtl_device_new_command_queue(device);
    const uint32_t sizes[2][3] = {{2, 1, 1}, {UINT32_MAX, 1, 1}};
    for (int i = 0; i < 2; i++) {
        MTLBuffer *size = mtl_device_new_buffer_with_bytes(device, sizes[i], sizeof sizes[i], 0);
        MTLCommandBuffer *commands = mtl_command_queue_command_buffer(queue);
        MTLComputeCommandEncoder *e = mtl_command_buffer_compute_command_encoder(commands);
        mtl_compute_command_encoder_set_compute_pipeline_state(e, p);
        mtl_compute_command_encoder_set_buffer(e, b, 0, 0);
        mtl_compute_command_encoder_dispatch_threadgroups_indirect(e, size, 0,
                                                                   mtl_size_make(32, 1, 1));
        mtl_compute_command_encoder_end_encoding(e);
        uint64_t copies = ingot_null_calls(INGOT_NULL_COPY);
        commit_and_wait(commands);
        assert_int_equal(ingot_null_calls(INGOT_NULL_COPY), copies + 1);
        assert_int_equal(mtl_command_buffer_status(commands),
                         i ? MTLCommandBufferStatusError : MTLCommandBufferStatusCompleted);
        mtl_release(commands);
        mtl_release(size);
    }
    assert_int_equal(ingot_null_calls(INGOT_NULL_INDIRECT), 0);
    mtl_release(queue);
    mtl_release(b);
    mtl_release(p);
    mtl_release(f);
    mtl_release(library);
}

int main(void) {
    ingot_null_lack(DEV_TEXTURES | DEV_RENDER | DEV_TENSORS | DEV_INDIRECT_COMMANDS |
                    DEV_FUNCTION_POINTERS | DEV_VALIDATION | DEV_VIEW_POOLS | DEV_INDIRECT_SIZES);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(questions_say_no),
        cmocka_unit_test(resources_are_refused),
        cmocka_unit_test(drawing_is_refused),
        cmocka_unit_test(pipelines_lack_validation_and_tables),
        cmocka_unit_test(sizes_are_read_by_the_host),
    };
    return cmocka_run_group_tests(tests, open_device, close_device);
}
