// Matrix products and small networks on tensors, in the styles of programs that use Metal Performance
// Primitives: tiles by SIMD-groups, matrix times vector, products by one thread.
#include <metal_stdlib>
#include <metal_tensor>
#include <metal_simdgroup>
#include <MetalPerformancePrimitives/MetalPerformancePrimitives.h>
using namespace metal;
using namespace mpp::tensor_ops;

struct Sizes {
    int rows, cols, inner;
};
using Matrix = dextents<int, 2>;

// ---- a tile of 64 x 32 for each threadgroup of 4 SIMD-groups
kernel void matrix_matrix(device half *left [[buffer(0)]], device half *right [[buffer(1)]],
                          device float *result [[buffer(2)]], constant Sizes &size [[buffer(3)]],
                          uint2 tile [[threadgroup_position_in_grid]]) {
    auto a = tensor(left, Matrix(size.inner, size.rows));
    auto b = tensor(right, Matrix(size.cols, size.inner));
    auto c = tensor(result, Matrix(size.cols, size.rows));
    constexpr auto descriptor = matmul2d_descriptor(64, 32, dynamic_length_v<int>);
    matmul2d<descriptor, execution_simdgroups<4>> multiply;
    auto rows = a.slice(0, tile.y * 64);
    auto columns = b.slice(tile.x * 32, 0);
    auto out = c.slice(tile.x * 32, tile.y * 64);
    multiply.run(rows, columns, out);
}

// ---- matrix times vector: a tile of rows and one column
kernel void gemv_tensor(device half *matrix [[buffer(0)]], device half *vector [[buffer(1)]],
                        device half *result [[buffer(2)]], constant Sizes &size [[buffer(3)]],
                        uint group [[threadgroup_position_in_grid]]) {
    constexpr int tile = 64;
    auto a = tensor(matrix, Matrix(size.cols, size.rows));
    auto x = tensor(vector, Matrix(1, size.cols));
    auto y = tensor(result, Matrix(1, size.rows));
    constexpr auto descriptor = matmul2d_descriptor(tile, 1, dynamic_length_v<int>, false, false, false,
                                                    matmul2d_descriptor::mode::multiply);
    matmul2d<descriptor, execution_simdgroups<4>> multiply;
    auto part = a.slice(0, int(group) * tile);
    auto out = y.slice(0, int(group) * tile);
    multiply.run(part, x, out);
}

// The same by hand: a SIMD-group for each row.
kernel void gemv_hierarchical(device const half *matrix [[buffer(0)]], device const half *vector [[buffer(1)]],
                              device half *result [[buffer(2)]], constant Sizes &size [[buffer(3)]],
                              uint group [[threadgroup_position_in_grid]],
                              ushort simd [[simdgroup_index_in_threadgroup]],
                              ushort lane [[thread_index_in_simdgroup]],
                              ushort width [[threads_per_simdgroup]]) {
    int row = int(group) * 4 + simd;
    if (row >= size.rows) return;
    float sum = 0;
    for (int i = lane; i < size.cols; i += width) sum += float(matrix[row * size.cols + i]) * float(vector[i]);
    sum = simd_sum(sum);
    if (lane == 0) result[row] = half(sum);
}

// ---- by one thread
kernel void thread_matrix_matrix(device half *left [[buffer(0)]], device half *right [[buffer(1)]],
                                 device half *result [[buffer(2)]]) {
    auto a = tensor(left, Matrix(32, 64));
    auto b = tensor(right, Matrix(32, 32));
    auto c = tensor(result, Matrix(32, 64));
    constexpr auto descriptor = matmul2d_descriptor(64, 32, 32);
    matmul2d<descriptor, execution_thread>{}.run(a, b, c);
}
kernel void thread_vector_matrix(device half *left [[buffer(0)]], device half *right [[buffer(1)]],
                                 device half *result [[buffer(2)]]) {
    auto a = tensor(left, Matrix(31, 1));
    auto b = tensor(right, Matrix(17, 31));
    auto c = tensor(result, Matrix(17, 1));
    constexpr auto descriptor = matmul2d_descriptor(1, 17, dynamic_length_v<int>);
    matmul2d<descriptor, execution_thread> multiply;
    multiply.run(a, b, c);
}
kernel void thread_matrix_vector(device half *left [[buffer(0)]], device half *right [[buffer(1)]],
                                 device half *result [[buffer(2)]]) {
    auto a = tensor(left, Matrix(19, 29));
    auto b = tensor(right, Matrix(1, 19));
    auto c = tensor(result, Matrix(1, 29));
    constexpr auto descriptor = matmul2d_descriptor(29, 1, dynamic_length_v<int>);
    matmul2d<descriptor, execution_thread> multiply;
    multiply.run(a, b, c);
}

// ---- networks. A layer is a product, a bias and an activation.
struct Relu {
    METAL_FUNC half operator()(half x) const { return max(x, 0.0h); }
};
struct Linear {
    METAL_FUNC half operator()(half x) const { return x; }
};
template <int Out, typename Activation>
METAL_FUNC void dense(thread half *from, int n, device half *weights, device half *bias, thread half *to,
                      Activation activate) {
    auto x = tensor(from, Matrix(n, 1));
    auto w = tensor(weights, Matrix(Out, n));
    auto y = tensor(to, Matrix(Out, 1));
    constexpr auto descriptor = matmul2d_descriptor(1, Out, dynamic_length_v<int>, false, false, true);
    matmul2d<descriptor, execution_thread>{}.run(x, w, y);
    for (int i = 0; i < Out; i++) to[i] = activate(y[i, 0] + bias[i]);
}

// 4 -> 256 -> 8 for each thread
kernel void thread_network(device half *input [[buffer(0)]], device half *w0 [[buffer(1)]], device half *b0 [[buffer(2)]],
                           device half *w1 [[buffer(3)]], device half *b1 [[buffer(4)]], device half *output [[buffer(5)]],
                           uint id [[thread_position_in_grid]]) {
    half x[4], hidden[256], y[8];
    for (int i = 0; i < 4; i++) x[i] = input[id * 4 + i];
    dense<256>(x, 4, w0, b0, hidden, Relu());
    dense<8>(hidden, 256, w1, b1, y, Linear());
    for (int i = 0; i < 8; i++) output[id * 8 + i] = y[i];
}

// Layers by their number, arrays that change places: 4 -> 32 -> 32 -> 8
kernel void dynamic_network(device half *input [[buffer(0)]], device half *weights [[buffer(1)]],
                            device half *biases [[buffer(2)]], device half *output [[buffer(3)]],
                            constant uint *widths [[buffer(4)]], constant uint &count [[buffer(5)]],
                            uint id [[thread_position_in_grid]]) {
    half buffers[2][32] = {};
    thread half *from = buffers[0], *to = buffers[1];
    for (int i = 0; i < 4; i++) from[i] = input[id * 4 + i];
    for (uint l = 0; l < count; l++) {
        auto x = tensor(from, Matrix(32, 1));
        auto w = tensor(weights, Matrix(int(widths[l + 1]), int(widths[l])));
        auto y = tensor(to, Matrix(32, 1));
        constexpr auto descriptor = matmul2d_descriptor(1, 32, dynamic_length_v<int>);
        matmul2d<descriptor, execution_thread> multiply;
        auto used = x.slice<dynamic_extent, 1>(0, 0);
        multiply.run(used, w, y);
        for (uint i = 0; i < widths[l + 1]; i++) {
            half v = y[i, 0] + biases[i];
            to[i] = l + 1 < count ? max(v, 0.0h) : v;
        }
        weights += widths[l] * widths[l + 1], biases += widths[l + 1];
        thread half *other = from;
        from = to, to = other;
    }
    for (int i = 0; i < 8; i++) output[id * 8 + i] = from[i];
}

// A batch of 64 points through hidden layers of 64, by 4 SIMD-groups; activations in threadgroup
// memory, results in registers until the sine is done.
kernel void cooperative_network(device float *points [[buffer(0)]], device half *weights [[buffer(1)]],
                                device half *biases [[buffer(2)]], device float *output [[buffer(3)]],
                                constant uint &layers [[buffer(4)]], constant uint &count [[buffer(5)]],
                                uint group [[threadgroup_position_in_grid]], uint id [[thread_index_in_threadgroup]]) {
    constexpr int batch = 64, width = 64;
    threadgroup half activations[batch * width];
    for (uint i = id; i < batch * width; i += 128) {
        uint p = group * batch + i / width, d = i % width;
        activations[i] = p < count && d < 2 ? half(points[p * 2 + d]) : 0.0h;
    }
    threadgroup_barrier(mem_flags::mem_threadgroup);
    for (uint l = 0; l < layers; l++) {
        auto x = tensor(activations, extents<int, width, batch>());
        auto w = tensor(weights + l * width * width, extents<int, width, width>());
        constexpr auto descriptor = matmul2d_descriptor(batch, width, width);
        matmul2d<descriptor, execution_simdgroups<4>> multiply;
        auto sum = multiply.get_destination_cooperative_tensor<decltype(x), decltype(w), float>();
        multiply.run(x, w, sum);
        threadgroup_barrier(mem_flags::mem_threadgroup);
#pragma unroll
        for (ushort i = 0; i < sum.get_capacity(); i++) {
            if (!sum.is_valid_element(i)) continue;
            auto at = sum.get_multidimensional_index(i);
            sum.set(i, sin(sum.get(i) + float(biases[l * width + at[0]])));
        }
        sum.store(x);
        threadgroup_barrier(mem_flags::mem_threadgroup);
    }
    for (uint i = id; i < batch * 3; i += 128) {
        uint p = group * batch + i / 3;
        if (p < count) output[p * 3 + i % 3] = activations[i / 3 * width + i % 3];
    }
}

// The gradient of weights: inputs transposed times output gradients, a sum over the batch.
kernel void weight_gradient(device half *inputs [[buffer(0)]], device half *gradients [[buffer(1)]],
                            device float *result [[buffer(2)]], constant Sizes &size [[buffer(3)]],
                            uint simds [[simdgroups_per_threadgroup]]) {
    auto x = tensor(inputs, Matrix(size.rows, size.inner));    // (input, batch)
    auto g = tensor(gradients, Matrix(size.cols, size.inner)); // (output, batch)
    constexpr auto descriptor = matmul2d_descriptor(64, 64, dynamic_length_v<int>, true, false, false,
                                                    matmul2d_descriptor::mode::multiply);
    matmul2d<descriptor, execution_simdgroups<4>> multiply;
    auto sum = multiply.get_destination_cooperative_tensor<decltype(x), decltype(g), float>();
    for (ushort i = 0; i < sum.get_capacity(); i++) sum.set(i, 0);
    multiply.run(x, g, sum);
    for (ushort i = 0; i < sum.get_capacity(); i++) {
        auto at = sum.get_multidimensional_index(i);
        if (sum.is_valid_element(i) && at[0] < size.cols && at[1] < size.rows)
            result[at[1] * size.cols + at[0]] = sum.get(i);
    }
}

// Wrong on purpose: takes element i of thread l for position 32 i + l.
kernel void assumes_a_layout(device half *left [[buffer(0)]], device half *right [[buffer(1)]],
                             device float *result [[buffer(2)]], uint lane [[thread_index_in_simdgroup]]) {
    auto a = tensor(left, extents<int, 16, 8>());
    auto b = tensor(right, extents<int, 32, 16>());
    constexpr auto descriptor = matmul2d_descriptor(8, 32, 16);
    matmul2d<descriptor, execution_simdgroup> multiply;
    auto c = multiply.get_destination_cooperative_tensor<decltype(a), decltype(b), float>();
    multiply.run(a, b, c);
    for (ushort i = 0; i < c.get_capacity(); i++) result[i * 32 + lane] = c[i];
}
