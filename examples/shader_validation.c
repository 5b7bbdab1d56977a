// SPDX-License-Identifier: Apache-2.0
// shader_validation.c: a kernel that writes one element too many, found by shader validation. The
// access does nothing, the command buffer completes, and its logs say what happened.
#include <ingot/metal.h>
#include <stdio.h>

int main(void) {
    MTLDevice *device = mtl_create_system_default_device();
    MTLError *error = NULL;
    MTLLibrary *library = mtl_device_new_library_with_source(
        device,
        "#include <metal_stdlib>\n"
        "using namespace metal;\n"
        "kernel void shift(device float *x [[buffer(0)]], uint i [[thread_position_in_grid]]) {\n"
        "    x[i + 1] = float(i);\n"
        "}\n",
        NULL, &error);
    MTLFunction *function = mtl_library_new_function(library, "shift");
    MTLComputePipelineDescriptor descriptor = {.compute_function = function,
                                               .shader_validation = MTLShaderValidationEnabled};
    MTLComputePipelineState *pipeline = mtl_device_new_compute_pipeline_state_with_descriptor(
        device, &descriptor, MTLPipelineOptionNone, NULL, &error);
    if (!pipeline) {
        fprintf(stderr, "%s\n", mtl_error_localized_description(error));
        return 1;
    }
    MTLBuffer *values = mtl_device_new_buffer(device, 16 * sizeof(float), 0);
    mtl_buffer_set_label(values, "Values");
    MTLCommandQueue *queue = mtl_device_new_command_queue(device);
    MTLCommandBuffer *commands = mtl_command_queue_command_buffer(queue);
    MTLComputeCommandEncoder *encoder = mtl_command_buffer_compute_command_encoder(commands);
    mtl_compute_command_encoder_set_compute_pipeline_state(encoder, pipeline);
    mtl_compute_command_encoder_set_buffer(encoder, values, 0, 0);
    mtl_compute_command_encoder_dispatch_threads(encoder, mtl_size_make(16, 1, 1),
                                                 mtl_size_make(16, 1, 1));
    mtl_compute_command_encoder_end_encoding(encoder);
    mtl_command_buffer_commit(commands);
    mtl_command_buffer_wait_until_completed(commands);
    for (size_t i = 0; i < mtl_command_buffer_log_count(commands); i++)
        printf("%s\n", mtl_function_log_description(mtl_command_buffer_log(commands, i)));
    mtl_release(commands);
    mtl_release(queue);
    mtl_release(values);
    mtl_release(pipeline);
    mtl_release(function);
    mtl_release(library);
    mtl_release(device);
    return 0;
}
