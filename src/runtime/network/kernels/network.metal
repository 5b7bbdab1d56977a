// SPDX-License-Identifier: Apache-2.0
// network.metal: the kernels of networks (steps.c). A kernel takes one struct with pointers,
// sizes and strides (steps.c has the same structs). TYPE is the element type of the network;
// all arithmetic is float.
//
// Macros: TYPE=half,float,bfloat
#include <metal_stdlib>
#include <metal_tensor>
#include <MetalPerformancePrimitives/MetalPerformancePrimitives.h>
using namespace metal;
#include "activations.h"
using namespace mpp::tensor_ops;
typedef TYPE T;

struct Each {
    device T *out;
    const device T *a;
    const device T *b;
    long out_strides[8], a_strides[8], b_strides[8];
    uint size[8], a_size[8];
    uint rank, a_rank, kind, reserved;
};

static float apply(uint kind, float a, float b) {
    switch (kind) {
    case 1: return max(a, 0.0f);
    case 2: return ig_sigmoid(a);
    case 3: return tanh(a);
    case 4: return sin(a);
    case 5: return cos(a);
    case 6: return exp(a);
    case 7: return log(a);
    case 8: return sqrt(a);
    case 9: return -a;
    case 10: return abs(a);
    case 11: return ig_gelu(a);
    case 12: return ig_silu(a);
    case 20: return a + b;
    case 21: return a - b;
    case 22: return a * b;
    case 23: return a / b;
    case 24: return min(a, b);
    case 25: return max(a, b);
    case 26: return pow(a, b);
    default: return a;
    }
}

kernel void flat(constant Each &op [[buffer(0)]], uint i [[thread_position_in_grid]]) {
    float b = op.b_strides[0] ? float(op.b[i]) : float(op.b[0]);
    op.out[i] = T(apply(op.kind, float(op.a[i]), b));
}

kernel void each(constant Each &op [[buffer(0)]], uint i [[thread_position_in_grid]]) {
    long at = 0, ia = 0, ib = 0;
    uint rest = i;
    for (uint d = 0; d < op.rank; d++) {
        uint k = rest % op.size[d];
        rest /= op.size[d];
        at += k * op.out_strides[d], ia += k * op.a_strides[d], ib += k * op.b_strides[d];
    }
    op.out[at] = T(apply(op.kind, float(op.a[ia]), float(op.b[ib])));
}

kernel void reshape(constant Each &op [[buffer(0)]], uint i [[thread_position_in_grid]]) {
    long at = 0, ia = 0;
    uint rest = i;
    for (uint d = 0; d < op.rank; d++) {
        at += rest % op.size[d] * op.out_strides[d];
        rest /= op.size[d];
    }
    rest = i;
    for (uint d = 0; d < op.a_rank; d++) {
        ia += rest % op.a_size[d] * op.a_strides[d];
        rest /= op.a_size[d];
    }
    op.out[at] = op.a[ia];
}

struct Rows {
    device T *out;
    const device T *a;
    long out_strides[8], a_strides[8];
    long out_step, a_step;
    uint size[8];
    uint rank, length, kind, reserved;
};

kernel void rows(constant Rows &op [[buffer(0)]], uint i [[thread_position_in_grid]]) {
    device T *out = op.out;
    const device T *a = op.a;
    uint rest = i;
    for (uint d = 0; d < op.rank; d++) {
        uint k = rest % op.size[d];
        rest /= op.size[d];
        out += k * op.out_strides[d], a += k * op.a_strides[d];
    }
    float largest = float(a[0]), sum = 0;
    for (uint k = 1; k < op.length; k++) largest = max(largest, float(a[k * op.a_step]));
    if (op.kind == 3) {
        out[0] = T(largest);
        return;
    }
    for (uint k = 0; k < op.length; k++) {
        float x = float(a[k * op.a_step]);
        sum += op.kind == 0 ? exp(x - largest) : x;
    }
    if (op.kind != 0) {
        out[0] = T(op.kind == 2 ? sum / op.length : sum);
        return;
    }
    for (uint k = 0; k < op.length; k++)
        out[k * op.out_step] = T(exp(float(a[k * op.a_step]) - largest) / sum);
}

struct Matmul {
    device T *c;
    device T *a;
    device T *b;
    long c_strides[8], a_strides[8], b_strides[8]; // from dimension 2 on
    int c_row, a_row, b_row, m, n, k;
    uint size[8];
    uint rank, reserved;
};

template <bool A, bool B> static void multiply(constant Matmul &op, uint3 g) {
    device T *c = op.c, *a = op.a, *b = op.b;
    uint rest = g.z;
    for (uint d = 0; d < op.rank; d++) {
        uint i = rest % op.size[d];
        rest /= op.size[d];
        c += i * op.c_strides[d], a += i * op.a_strides[d], b += i * op.b_strides[d];
    }
    auto x =
        tensor(a, dextents<int, 2>(A ? op.m : op.k, A ? op.k : op.m), array<int, 2>{1, op.a_row});
    auto y =
        tensor(b, dextents<int, 2>(B ? op.k : op.n, B ? op.n : op.k), array<int, 2>{1, op.b_row});
    auto z = tensor(c, dextents<int, 2>(op.n, op.m), array<int, 2>{1, op.c_row});
    constexpr auto d = matmul2d_descriptor(64, 64, dynamic_length_v<int>, A, B, false,
                                           matmul2d_descriptor::mode::multiply);
    matmul2d<d, execution_simdgroups<4>> product;
    auto x_tile = x.slice(A ? g.y * 64 : 0, A ? 0 : g.y * 64);
    auto y_tile = y.slice(B ? 0 : g.x * 64, B ? g.x * 64 : 0);
    auto z_tile = z.slice(g.x * 64, g.y * 64);
    product.run(x_tile, y_tile, z_tile);
}

kernel void matmul(constant Matmul &op [[buffer(0)]], uint3 g [[threadgroup_position_in_grid]]) {
    multiply<false, false>(op, g);
}
kernel void matmul_a(constant Matmul &op [[buffer(0)]], uint3 g [[threadgroup_position_in_grid]]) {
    multiply<true, false>(op, g);
}
kernel void matmul_b(constant Matmul &op [[buffer(0)]], uint3 g [[threadgroup_position_in_grid]]) {
    multiply<false, true>(op, g);
}
kernel void matmul_ab(constant Matmul &op [[buffer(0)]], uint3 g [[threadgroup_position_in_grid]]) {
    multiply<true, true>(op, g);
}

struct Conv {
    device T *out;
    const device T *a;
    const device T *w;
    long out_strides[4], a_strides[4], w_strides[4];
    uint size[4]; // of the result
    int channels, width, height, kernel_width, kernel_height;
    int strides[2], dilations[2], padding[2];
    uint reserved;
};

kernel void conv(constant Conv &op [[buffer(0)]], uint i [[thread_position_in_grid]]) {
    uint o = i % op.size[0], rest = i / op.size[0];
    int x = int(rest % op.size[1]);
    rest /= op.size[1];
    int y = int(rest % op.size[2]);
    uint n = rest / op.size[2];
    float sum = 0;
    for (int v = 0; v < op.kernel_height; v++) {
        int row = y * op.strides[1] + v * op.dilations[1] - op.padding[1];
        if (row < 0 || row >= op.height) continue;
        for (int u = 0; u < op.kernel_width; u++) {
            int column = x * op.strides[0] + u * op.dilations[0] - op.padding[0];
            if (column < 0 || column >= op.width) continue;
            const device T *a =
                op.a + column * op.a_strides[1] + row * op.a_strides[2] + n * op.a_strides[3];
            const device T *w = op.w + o + u * op.w_strides[2] + v * op.w_strides[3];
            for (int c = 0; c < op.channels; c++)
                sum += float(a[c]) * float(w[c * op.w_strides[1]]);
        }
    }
    op.out[o + x * op.out_strides[1] + y * op.out_strides[2] + n * op.out_strides[3]] = T(sum);
}
