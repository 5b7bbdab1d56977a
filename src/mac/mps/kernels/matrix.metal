// SPDX-License-Identifier: Apache-2.0
// matrix.metal: products of Metal Performance Shaders: C = alpha op(A) op(B) + beta C for stacks
// of matrices, and of a matrix and a vector. A product is a tile a threadgroup, summed in float.
//
// Macros: ELEMENT=half RESULT=half,float A_T=true B_T=false
// Macros: ELEMENT=float,bfloat RESULT=float A_T=false B_T=true
#include <metal_stdlib>
#include <metal_tensor>
#include <MetalPerformancePrimitives/MetalPerformancePrimitives.h>
using namespace metal;
using namespace mpp::tensor_ops;

// Strides count elements. Also in MPSMatrix.m.
struct Product {
    int m, n, k;
    int a_row, b_row, c_row;           // from a row to the next
    long a_matrix, b_matrix, c_matrix; // from a matrix of a stack to the next
    float alpha, beta;
};
constant constexpr int TILE_M = 64, TILE_N = 64;

kernel void product(constant Product &p [[buffer(0)]], device ELEMENT *a [[buffer(1)]],
                    device ELEMENT *b [[buffer(2)]], device RESULT *c [[buffer(3)]],
                    uint3 group [[threadgroup_position_in_grid]]) {
    typedef tensor<device ELEMENT, dextents<int, 2>, tensor_inline> Matrix;
    const int row0 = int(group.y) * TILE_M, column0 = int(group.x) * TILE_N;
    Matrix all_a(a + p.a_matrix * group.z,
                 A_T ? dextents<int, 2>(p.m, p.k) : dextents<int, 2>(p.k, p.m),
                 array<int, 2>{1, p.a_row});
    Matrix all_b(b + p.b_matrix * group.z,
                 B_T ? dextents<int, 2>(p.k, p.n) : dextents<int, 2>(p.n, p.k),
                 array<int, 2>{1, p.b_row});
    auto tile_a = all_a.slice(A_T ? row0 : 0, A_T ? 0 : row0);
    auto tile_b = all_b.slice(B_T ? 0 : column0, B_T ? column0 : 0);
    constexpr auto what = matmul2d_descriptor(TILE_M, TILE_N, dynamic_length_v<int>, A_T, B_T);
    matmul2d<what, execution_simdgroup> op;
    auto tile = op.get_destination_cooperative_tensor<decltype(tile_a), decltype(tile_b), float>();
    op.run(tile_a, tile_b, tile);
    device RESULT *to = c + p.c_matrix * group.z;
    for (ushort e = 0; e < tile.get_capacity(); e++) {
        if (!tile.is_valid_element(e)) continue;
        const auto place = tile.get_multidimensional_index(e);
        const int row = row0 + int(place[1]), column = column0 + int(place[0]);
        if (row >= p.m || column >= p.n) continue;
        device RESULT &at = to[long(row) * p.c_row + column];
        // What is there is not read where it does not count: it may be no number.
        const float before = p.beta != 0 ? p.beta * float(at) : 0;
        at = RESULT(p.alpha * tile[e] + before);
    }
}

// A SIMD-group an element of the result; a vector is a matrix of one column (n = 1) whose rows
// are b_row and c_row apart. A_T: the matrix is read by columns.
kernel void vector_product(constant Product &p [[buffer(0)]], device const ELEMENT *a [[buffer(1)]],
                           device const ELEMENT *b [[buffer(2)]], device RESULT *c [[buffer(3)]],
                           uint3 group [[threadgroup_position_in_grid]],
                           uint lane [[thread_index_in_simdgroup]]) {
    const int row = int(group.x);
    device const ELEMENT *from = a + p.a_matrix * group.z, *x = b + p.b_matrix * group.z;
    float sum = 0;
    for (int i = int(lane); i < p.k; i += 32) {
        const long at = A_T ? long(i) * p.a_row + row : long(row) * p.a_row + i;
        sum += float(from[at]) * float(x[long(i) * p.b_row]);
    }
    sum = simd_sum(sum);
    if (lane) return;
    device RESULT &at = c[p.c_matrix * group.z + long(row) * p.c_row];
    const float before = p.beta != 0 ? p.beta * float(at) : 0;
    at = RESULT(p.alpha * sum + before);
}
