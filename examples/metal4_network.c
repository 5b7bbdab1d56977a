// SPDX-License-Identifier: Apache-2.0
// metal4_network.c: a network as one command. Writes a small package (docs/guide/networks.md has
// the format) that computes exclusive-or, opens it as a library and runs it between the other work
// of a queue.
#include <sys/stat.h>
#include <unistd.h>
#include "util.h"

static const char network[] =
    "{\"inputs\": [{\"name\": \"x\", \"dimensions\": [2, 4]}],\n"
    " \"constants\": [{\"name\": \"w1\", \"dimensions\": [2, 2], \"data\": [[1, 1], [1, 1]]},\n"
    "                 {\"name\": \"b1\", \"data\": [0, -1]},\n"
    "                 {\"name\": \"w2\", \"dimensions\": [1, 2], \"data\": [[1], [-2]]}],\n"
    " \"operations\": [\n"
    "   {\"op\": \"matmul\", \"inputs\": [\"x\", \"w1\"], \"output\": \"h\"},\n"
    "   {\"op\": \"add\", \"inputs\": [\"h\", \"b1\"], \"output\": \"h1\"},\n"
    "   {\"op\": \"relu\", \"inputs\": [\"h1\"], \"output\": \"h2\"},\n"
    "   {\"op\": \"matmul\", \"inputs\": [\"h2\", \"w2\"], \"output\": \"y\"}],\n"
    " \"outputs\": [{\"name\": \"y\"}]}\n";

static MTLTensor *tensor(MTLDevice *device, MTLResidencySet *set, ptrdiff_t columns,
                         ptrdiff_t rows) {
    MTLError *error = NULL;
    MTLTensorDescriptor d = mtl_tensor_descriptor_make_default();
    d.dimensions = (MTLTensorExtents){2, {columns, rows}};
    d.usage = MTLTensorUsageCompute | MTLTensorUsageMachineLearning;
    MTLTensor *t = mtl_device_new_tensor(device, &d, &error);
    require(t, error, "tensor");
    mtl_residency_set_add_allocation(set, (MTLAllocation *)t);
    return t;
}

int main(void) {
    char folder[] = "/tmp/xor-XXXXXX", file[64];
    require(mkdtemp(folder), NULL, "folder");
    snprintf(file, sizeof file, "%s/network.json", folder);
    FILE *f = fopen(file, "w");
    require(f, NULL, file);
    fputs(network, f);
    fclose(f);

    MTLError *error = NULL;
    MTLDevice *device = default_device();
    MTLLibrary *library = mtl_device_new_library_with_url(device, folder, &error);
    require(library, error, "network");
    unlink(file), rmdir(folder);
    MTL4Compiler *compiler = mtl_device_new_compiler(device, NULL, &error);
    MTL4LibraryFunctionDescriptor function = {.name = "main", .library = library};
    MTL4MachineLearningPipelineState *state = mtl4_compiler_new_machine_learning_pipeline_state(
        compiler,
        &(MTL4MachineLearningPipelineDescriptor){.machine_learning_function_descriptor =
                                                     &function.base},
        &error);
    require(state, error, "pipeline");

    MTLResidencySet *set = mtl_device_new_residency_set(device, NULL, NULL);
    MTLTensor *x = tensor(device, set, 2, 4), *y = tensor(device, set, 1, 4);
    const float cases[4][2] = {{0, 0}, {0, 1}, {1, 0}, {1, 1}};
    const MTLTensorExtents origin = {2, {0, 0}}, size = {2, {2, 4}}, strides = {2, {1, 2}};
    mtl_tensor_replace_slice(x, &origin, &size, cases, &strides);
    MTLHeap *heap = mtl_device_new_heap(
        device, &(MTLHeapDescriptor){
                    .type = MTLHeapTypePlacement,
                    .size = mtl4_machine_learning_pipeline_state_intermediates_heap_size(state)});
    require(heap, NULL, "heap");
    mtl_residency_set_add_allocation(set, (MTLAllocation *)heap);
    mtl_residency_set_commit(set);

    MTL4CommandQueue *queue = mtl_device_new_mtl4_command_queue(device);
    mtl4_command_queue_add_residency_set(queue, set);
    MTL4ArgumentTable *table = mtl_device_new_argument_table(
        device, &(MTL4ArgumentTableDescriptor){.max_buffer_bind_count = 2}, &error);
    mtl4_argument_table_set_resource(table, mtl_tensor_gpu_resource_id(x), 0);
    mtl4_argument_table_set_resource(table, mtl_tensor_gpu_resource_id(y), 1);
    MTL4CommandAllocator *allocator = mtl_device_new_command_allocator(device);
    MTL4CommandBuffer *commands = mtl_device_new_command_buffer(device);
    mtl4_command_buffer_begin_command_buffer(commands, allocator);
    MTL4MachineLearningCommandEncoder *e =
        mtl4_command_buffer_machine_learning_command_encoder(commands);
    mtl4_machine_learning_command_encoder_set_pipeline_state(e, state);
    mtl4_machine_learning_command_encoder_set_argument_table(e, table);
    mtl4_machine_learning_command_encoder_dispatch_network(e, heap);
    mtl4_machine_learning_command_encoder_end_encoding(e);
    mtl4_command_buffer_end_command_buffer(commands);
    mtl4_command_queue_commit(queue, &commands, 1);
    MTLSharedEvent *done = mtl_device_new_shared_event(device);
    mtl4_command_queue_signal_event(queue, (MTLEvent *)done, 1);
    mtl_shared_event_wait_until_signaled_value(done, 1, UINT64_MAX);

    float results[4] = {-1, -1, -1, -1};
    mtl_tensor_get_bytes(y, results, &(MTLTensorExtents){2, {1, 1}}, &origin,
                         &(MTLTensorExtents){2, {1, 4}});
    for (int i = 0; i < 4; i++)
        printf("%g xor %g = %g\n", (double)cases[i][0], (double)cases[i][1], (double)results[i]);
    bool right = results[0] == 0 && results[1] == 1 && results[2] == 1 && results[3] == 0;

    mtl_release(done), mtl_release(commands), mtl_release(allocator), mtl_release(table);
    mtl_release(queue), mtl_release(heap), mtl_release(set), mtl_release(x), mtl_release(y);
    mtl_release(state), mtl_release(compiler), mtl_release(library), mtl_release(device);
    return right ? 0 : 1;
}
