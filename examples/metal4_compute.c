// SPDX-License-Identifier: Apache-2.0
// metal4_compute.c: a first program with Metal 4: a compiler, an argument table with plain
// addresses, a residency set, a barrier between two dispatches that need each other, and feedback
// for errors.
#include <ingot/metal4.h>
#include <ingot/metal4_compiler.h>
#include <semaphore.h>
#include "util.h"

static const char *source = "#include <metal_stdlib>\n"
                            "using namespace metal;\n"
                            "constant float scale [[function_constant(0)]];\n"
                            "kernel void square(device float *x [[buffer(0)]],\n"
                            "                   uint i [[thread_position_in_grid]]) {\n"
                            "    x[i] = scale * x[i] * x[i];\n"
                            "}\n"
                            "kernel void add(device const float *x [[buffer(0)]],\n"
                            "                device float *y [[buffer(1)]],\n"
                            "                uint i [[thread_position_in_grid]]) {\n"
                            "    y[i] += x[i];\n"
                            "}\n";

typedef struct Outcome {
    sem_t done;
    MTLError *error; // retained
    double ms;
} Outcome;

// On a thread of the library, when all command buffers of the commit are done.
static void committed(MTL4CommitFeedback *feedback, void *context) {
    Outcome *outcome = context;
    outcome->error = mtl_retain(mtl4_commit_feedback_error(feedback));
    outcome->ms = 1e3 * (mtl4_commit_feedback_gpu_end_time(feedback) -
                         mtl4_commit_feedback_gpu_start_time(feedback));
    sem_post(&outcome->done);
}

static MTLComputePipelineState *make(MTL4Compiler *compiler, const MTL4FunctionDescriptor *f) {
    MTLError *error = NULL;
    MTLComputePipelineState *state = mtl4_compiler_new_compute_pipeline_state(
        compiler, &(MTL4ComputePipelineDescriptor){.compute_function_descriptor = f}, NULL, &error);
    require(state, error, "pipeline");
    return state;
}

int main(void) {
    enum { n = 1 << 20 };
    MTLError *error = NULL;
    MTLDevice *device = default_device();
    if (!mtl_device_supports_family(device, MTLGPUFamilyMetal4)) return 1;

    // Pipelines, one of them with a function constant.
    MTL4Compiler *compiler = mtl_device_new_compiler(device, NULL, &error);
    require(compiler, error, "compiler");
    MTLLibrary *library =
        mtl4_compiler_new_library(compiler, &(MTL4LibraryDescriptor){.source = source}, &error);
    require(library, error, "library");
    MTLFunctionConstantValues *values = mtl_function_constant_values_new();
    mtl_function_constant_values_set_constant_value(values, &(float){0.5f}, MTLDataTypeFloat, 0);
    MTL4LibraryFunctionDescriptor square = {.name = "square", .library = library};
    MTLComputePipelineState *squares = make(
        compiler,
        &(MTL4SpecializedFunctionDescriptor){.base.kind = MTL4FunctionDescriptorKindSpecialized,
                                             .function_descriptor = &square.base,
                                             .constant_values = values}
             .base);
    MTLComputePipelineState *sums =
        make(compiler, &(MTL4LibraryFunctionDescriptor){.name = "add", .library = library}.base);

    // Memory, and a set that makes it resident for all work of the queue.
    MTLBuffer *x = mtl_device_new_buffer(device, n * sizeof(float), MTLResourceStorageModeShared);
    MTLBuffer *y = mtl_device_new_buffer(device, n * sizeof(float), MTLResourceStorageModeShared);
    require(x && y ? x : NULL, NULL, "buffers");
    for (int i = 0; i < n; i++) ((float *)mtl_buffer_contents(x))[i] = (float)(i % 100);
    MTLResidencySet *set = mtl_device_new_residency_set(device, NULL, &error);
    mtl_residency_set_add_allocation(set, (MTLAllocation *)x);
    mtl_residency_set_add_allocation(set, (MTLAllocation *)y);
    mtl_residency_set_commit(set);
    MTL4CommandQueue *queue = mtl_device_new_mtl4_command_queue(device);
    mtl4_command_queue_add_residency_set(queue, set);

    MTL4ArgumentTable *table = mtl_device_new_argument_table(
        device, &(MTL4ArgumentTableDescriptor){.max_buffer_bind_count = 2}, &error);
    require(table, error, "argument table");
    mtl4_argument_table_set_address(table, mtl_buffer_gpu_address(x), 0);
    mtl4_argument_table_set_address(table, mtl_buffer_gpu_address(y), 1);

    MTL4CommandAllocator *allocator = mtl_device_new_command_allocator(device);
    MTL4CommandBuffer *commands = mtl_device_new_command_buffer(device);
    mtl4_command_buffer_begin_command_buffer(commands, allocator);
    MTL4ComputeCommandEncoder *encoder = mtl4_command_buffer_compute_command_encoder(commands);
    mtl4_compute_command_encoder_set_argument_table(encoder, table);
    mtl4_compute_command_encoder_fill_buffer(encoder, y, mtl_range_make(0, n * sizeof(float)), 0);
    mtl4_compute_command_encoder_set_compute_pipeline_state(encoder, squares);
    mtl4_compute_command_encoder_dispatch_threads(encoder, mtl_size_make(n, 1, 1),
                                                  mtl_size_make(256, 1, 1));
    // The sums need both: without this they might run at the same time.
    mtl4_compute_command_encoder_barrier_after_encoder_stages(
        encoder, MTLStageDispatch | MTLStageBlit, MTLStageDispatch, MTL4VisibilityOptionDevice);
    mtl4_compute_command_encoder_set_compute_pipeline_state(encoder, sums);
    mtl4_compute_command_encoder_dispatch_threads(encoder, mtl_size_make(n, 1, 1),
                                                  mtl_size_make(256, 1, 1));
    mtl4_compute_command_encoder_end_encoding(encoder);
    mtl4_command_buffer_end_command_buffer(commands);

    Outcome outcome = {0};
    sem_init(&outcome.done, 0, 0);
    MTL4CommitOptions *options = mtl4_commit_options_new();
    mtl4_commit_options_add_feedback_handler(options, committed, &outcome);
    mtl4_command_queue_commit_with_options(queue, &commands, 1, options);
    sem_wait(&outcome.done);
    if (outcome.error) require(NULL, outcome.error, "commands");

    const float *result = mtl_buffer_contents(y);
    for (int i = 0; i < n; i++) {
        float want = 0.5f * (float)(i % 100) * (float)(i % 100);
        if (result[i] != want) {
            fprintf(stderr, "y[%d] is %g, not %g\n", i, (double)result[i], (double)want);
            return 1;
        }
    }
    printf("%d squares in %.3f ms; y[7] = %g\n", n, outcome.ms, (double)result[7]);

    mtl_release(options), mtl_release(commands), mtl_release(allocator), mtl_release(table);
    mtl_release(queue), mtl_release(set), mtl_release(y), mtl_release(x), mtl_release(sums);
    mtl_release(squares), mtl_release(values), mtl_release(library), mtl_release(compiler);
    mtl_release(device);
    return 0;
}
