// SPDX-License-Identifier: Apache-2.0
// matmul2d.c: a matrix product with Metal Performance Primitives through Metal 4. Three tensors are
// bound by their ids; a threadgroup of four SIMD-groups computes a tile of 128 x 64 and applies a
// bias and a ReLU to the sums while they are in registers. Edges take care of themselves: the sizes
// are no multiples of the tile.
#include <ingot/metal4.h>
#include <ingot/metal4_compiler.h>
#include <math.h>
#include "util.h"

static const char *source =
    "#include <metal_stdlib>\n"
    "#include <metal_tensor>\n"
    "#include <MetalPerformancePrimitives/MetalPerformancePrimitives.h>\n"
    "using namespace metal;\n"
    "using namespace mpp::tensor_ops;\n"
    "typedef dextents<int, 2> Matrix; // columns, rows\n"
    "kernel void layer(tensor<device float, Matrix> a [[buffer(0)]],\n"
    "                  tensor<device float, Matrix> b [[buffer(1)]],\n"
    "                  tensor<device float, Matrix> c [[buffer(2)]],\n"
    "                  uint2 group [[threadgroup_position_in_grid]]) {\n"
    "    constexpr auto descriptor = matmul2d_descriptor(128, 64, dynamic_length_v<int>);\n"
    "    matmul2d<descriptor, execution_simdgroups<4>> multiply;\n"
    "    auto rows = a.slice(0, group.y * 128);\n"
    "    auto columns = b.slice(group.x * 64, 0);\n"
    "    auto out = c.slice(group.x * 64, group.y * 128);\n"
    "    auto sum = multiply.get_destination_cooperative_tensor<decltype(rows),\n"
    "                                                           decltype(columns), float>();\n"
    "    multiply.run(rows, columns, sum);\n"
    "    for (ushort i = 0; i < sum.get_capacity(); i++) {\n"
    "        if (!sum.is_valid_element(i)) continue;\n"
    "        auto at = sum.get_multidimensional_index(i);\n"
    "        sum[i] = max(sum[i] + 0.001f * at[0], 0.0f); // a bias for each column\n"
    "    }\n"
    "    sum.store(out);\n"
    "}\n";

enum { m = 1000, n = 700, k = 900, runs = 5 };

static MTLTensor *new_matrix(MTLBuffer *memory, ptrdiff_t rows, ptrdiff_t columns) {
    MTLError *error = NULL;
    MTLTensorDescriptor d = mtl_tensor_descriptor_make_default();
    d.dimensions = (MTLTensorExtents){2, {columns, rows}};
    d.strides = (MTLTensorExtents){2, {1, columns}};
    MTLTensor *tensor = mtl_buffer_new_tensor(memory, &d, 0, &error);
    require(tensor, error, "tensor");
    return tensor;
}

static float expected(const float *a, const float *b, int row, int column) {
    double sum = 0.001 * (column % 64); // coordinates are those of the tile
    for (int i = 0; i < k; i++) sum += (double)a[row * k + i] * (double)b[i * n + column];
    return (float)fmax(sum, 0);
}

int main(void) {
    MTLError *error = NULL;
    MTLDevice *device = default_device();
    MTL4Compiler *compiler = mtl_device_new_compiler(device, NULL, &error);
    require(compiler, error, "compiler");
    MTLLibrary *library =
        mtl4_compiler_new_library(compiler, &(MTL4LibraryDescriptor){.source = source}, &error);
    require(library, error, "library");
    MTL4LibraryFunctionDescriptor function = {.name = "layer", .library = library};
    MTLComputePipelineState *pipeline = mtl4_compiler_new_compute_pipeline_state(
        compiler, &(MTL4ComputePipelineDescriptor){.compute_function_descriptor = &function.base},
        NULL, &error);
    require(pipeline, error, "pipeline");

    // Matrices in buffers, row after row.
    const ptrdiff_t shape[3][2] = {{m, k}, {k, n}, {m, n}};
    MTLBuffer *memory[3];
    MTLTensor *tensor[3];
    MTLResidencySet *set = mtl_device_new_residency_set(device, NULL, &error);
    MTL4ArgumentTable *table = mtl_device_new_argument_table(
        device, &(MTL4ArgumentTableDescriptor){.max_buffer_bind_count = 3}, &error);
    require(table, error, "argument table");
    unsigned seed = 1;
    for (size_t i = 0; i < 3; i++) {
        size_t count = (size_t)(shape[i][0] * shape[i][1]);
        memory[i] = mtl_device_new_buffer(device, count * sizeof(float), 0);
        require(memory[i], NULL, "buffer");
        for (size_t x = 0; x < count; x++)
            ((float *)mtl_buffer_contents(memory[i]))[x] = random_float(&seed);
        tensor[i] = new_matrix(memory[i], shape[i][0], shape[i][1]);
        mtl_residency_set_add_allocation(set, (MTLAllocation *)memory[i]);
        mtl_residency_set_add_allocation(set, (MTLAllocation *)tensor[i]);
        mtl4_argument_table_set_resource(table, mtl_tensor_gpu_resource_id(tensor[i]), i);
    }
    mtl_residency_set_commit(set);
    MTL4CommandQueue *queue = mtl_device_new_mtl4_command_queue(device);
    mtl4_command_queue_add_residency_set(queue, set);

    MTL4CommandAllocator *allocator = mtl_device_new_command_allocator(device);
    MTL4CommandBuffer *commands = mtl_device_new_command_buffer(device);
    MTLSharedEvent *event = mtl_device_new_shared_event(device);
    double ms[runs];
    for (uint64_t r = 0; r < runs; r++) {
        double start = now_ms();
        mtl4_command_buffer_begin_command_buffer(commands, allocator);
        MTL4ComputeCommandEncoder *encoder = mtl4_command_buffer_compute_command_encoder(commands);
        mtl4_compute_command_encoder_set_argument_table(encoder, table);
        mtl4_compute_command_encoder_set_compute_pipeline_state(encoder, pipeline);
        mtl4_compute_command_encoder_dispatch_threadgroups(
            encoder, mtl_size_make((n + 63) / 64, (m + 127) / 128, 1), mtl_size_make(128, 1, 1));
        mtl4_compute_command_encoder_end_encoding(encoder);
        mtl4_command_buffer_end_command_buffer(commands);
        mtl4_command_queue_commit(queue, &commands, 1);
        mtl4_command_queue_signal_event(queue, (MTLEvent *)event, r + 1);
        mtl_shared_event_wait_until_signaled_value(event, r + 1, UINT64_MAX);
        mtl4_command_allocator_reset(allocator);
        ms[r] = now_ms() - start;
    }

    const float *a = mtl_buffer_contents(memory[0]), *b = mtl_buffer_contents(memory[1]),
                *c = mtl_buffer_contents(memory[2]);
    float worst = 0;
    for (int row = 0; row < m; row += 37)
        for (int column = 0; column < n; column += 23)
            worst = fmaxf(worst, fabsf(c[row * n + column] - expected(a, b, row, column)));
    double t = median(ms, runs);
    printf("%d x %d x %d in %.2f ms, %.1f GFLOP/s; largest error %g\n", m, n, k, t,
           2e-6 * m * n * k / t, (double)worst);

    mtl_release(event), mtl_release(commands), mtl_release(allocator), mtl_release(queue);
    for (int i = 0; i < 3; i++) mtl_release(tensor[i]), mtl_release(memory[i]);
    mtl_release(table), mtl_release(set), mtl_release(pipeline), mtl_release(library);
    mtl_release(compiler), mtl_release(device);
    return worst < 1e-3f ? 0 : 1;
}
