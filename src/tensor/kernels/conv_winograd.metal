// SPDX-License-Identifier: Apache-2.0
// conv_winograd.metal: convolutions of 3 x 3 taps and stride 1 by Winograd's F(2 x 2, 3 x 3):
// sixteen products of matrices for four results instead of thirty-six (conv_winograd.c).
//
// The picture lies as four, by the parity of row and column, so that what neighbours among the
// squares of 2 x 2 results need lies in line. Panels of sums and differences of the picture are made
// beside the tile, four at a time, and multiplied.
//
// Macros: TILE=64 STEPS=32
// Macros: TILE=32 STEPS=16
#include <metal_stdlib>
#include <metal_tensor>
#include <MetalPerformancePrimitives/MetalPerformancePrimitives.h>
using namespace metal;
using namespace mpp::tensor_ops;

// w (9, groups, O, C) becomes u (16, groups, M, K), of the way back with taps in reverse order.
// p: groups * O * C, O, C, whether it is the way back
kernel void transformed(constant int *p [[buffer(0)]], device const float *w [[buffer(1)]],
                        device float *u [[buffer(2)]], uint at [[thread_position_in_grid]]) {
    const int n = p[0], i = int(at);
    int from = i;
    if (p[3]) {
        const int O = p[1], C = p[2], rest = i / O;
        from = (rest / C * O + i % O) * C + rest % C;
    }
    float g[9], half_way[12];
    for (int t = 0; t < 9; t++) g[t] = w[(p[3] ? 8 - t : t) * n + from];
    for (int s = 0; s < 3; s++) { // columns
        const float sum = g[s] + g[6 + s];
        half_way[s] = g[s];
        half_way[3 + s] = 0.5f * (sum + g[3 + s]);
        half_way[6 + s] = 0.5f * (sum - g[3 + s]);
        half_way[9 + s] = -g[6 + s];
    }
    for (int r = 0; r < 4; r++) {
        const float a = half_way[3 * r], b = half_way[3 * r + 1], c = half_way[3 * r + 2];
        u[(4 * r) * n + i] = a;
        u[(4 * r + 1) * n + i] = 0.5f * (a + c + b);
        u[(4 * r + 2) * n + i] = 0.5f * (a + c - b);
        u[(4 * r + 3) * n + i] = -c; // what is made of it is taken away
    }
}

// Of the four elements in a row (or column) of a patch, number i of the sums is that of FIRST[i] and
// SIGN[i] times SECOND[i].
constant int FIRST[4] = {0, 1, 2, 1}, SECOND[4] = {2, 2, 1, 3};
constant float SIGN[4] = {-1, 1, -1, -1};

// Two results each of n squares in a row, at most sixteen; of sixteen where they may be read.
inline float two_of(threadgroup const float *at, int n, bool whole, int lane) {
    float even = 0, odd = 0;
    if (whole || lane < 2 * n) {
        even = at[lane / 2];
        odd = at[TILE * TILE + lane / 2];
    }
    return lane % 2 ? odd : even;
}

// p: M, K, groups, positions of a plane, its width, rows and columns of squares, of the result,
// whether there is a bias. A threadgroup is one SIMD-group.
kernel void winograd(constant int *p [[buffer(0)]], device const float *source [[buffer(1)]],
                     device float *weights [[buffer(2)]], device const float *bias [[buffer(3)]],
                     device float *result [[buffer(4)]],
                     uint3 group [[threadgroup_position_in_grid]],
                     uint self [[thread_index_in_simdgroup]]) {
    threadgroup float panel[2 * TILE * TILE];
    const int M = p[0], K = p[1], G = p[2], plane = p[3], width = p[4], tall = p[5], wide = p[6];
    const int rows = p[7], columns = p[8], L = (tall - 1) * width + wide;
    const int ng = int(group.z), g = ng % G, lane = int(self);
    const int row0 = int(group.y) * TILE, column0 = int(group.x) * TILE;
    device const float *pictures = source + ng * 4 * K * plane + column0 + lane;
    typedef tensor<device float, dextents<int, 2>, tensor_inline> Matrix;
    typedef tensor<threadgroup float, dextents<int, 2>, tensor_inline> Panel;
    constexpr auto what = matmul2d_descriptor(TILE, TILE, dynamic_length_v<int>, false, false, false,
                                              matmul2d_descriptor::mode::multiply_accumulate);
    matmul2d<what, execution_simdgroup> op;
    const int lanes = min(TILE, (L - column0 + 15) / 16 * 16); // whole vectors
    // Of products 0 to 3 in a row or column the first result is 0 + 1 + 2, the second 1 - 2 + 3 (3 has
    // its sign in the weights): 0 and 3 are added where the result is, 1 and 2 beside it and then to
    // both. So it is done down the columns, for the middle ones to sums of their own, then along rows.
#define TILE_OF(NAME)                                                                              \
    auto NAME = op.get_destination_cooperative_tensor<Matrix, Panel, float>();                     \
    for (ushort e = 0; e < NAME.get_capacity(); e++) NAME[e] = 0
    TILE_OF(y00);
    TILE_OF(y01);
    TILE_OF(y10);
    TILE_OF(y11);
    TILE_OF(first0);
    TILE_OF(first1);
    TILE_OF(second0);
    TILE_OF(second1);
    for (int b = 0; b < 4; b++) {
        TILE_OF(one);
        TILE_OF(two);
        // Columns of a patch: two elements each of its four rows, which lie in planes by parity.
#define PLACE(Y, X) (((Y) & 1) * 2 + ((X) & 1)) * K * plane + ((Y) >> 1) * width + ((X) >> 1)
        const int at0 = PLACE(0, FIRST[b]), at1 = PLACE(1, FIRST[b]);
        const int step = PLACE(0, SECOND[b]) - at0;
        const float sign = SIGN[b];
        for (int k0 = 0; k0 < K; k0 += STEPS) {
            const int n = min(STEPS, K - k0);
            for (int k = 0; k < n; k++) {
                device const float *x = pictures + (k0 + k) * plane;
                threadgroup float *to = panel + k * TILE + lane;
#define FOUR(X, TO)                                                                                \
    const float r0 = X[at0] + sign * X[at0 + step], r1 = X[at1] + sign * X[at1 + step];            \
    const float r2 = X[at0 + width] + sign * X[at0 + width + step];                                \
    const float r3 = X[at1 + width] + sign * X[at1 + width + step];                                \
    TO[0] = r0 - r2, TO[STEPS * TILE] = r1 + r2;                                                   \
    TO[2 * STEPS * TILE] = r2 - r1, TO[3 * STEPS * TILE] = r1 - r3;
                // Behind the last position lies what nobody stores (conv_kernels.c: SPARE).
                for (int h = 0; h < TILE; h += 32) {
                    FOUR((x + h), (to + h))
                }
            }
            simdgroup_barrier(mem_flags::mem_threadgroup);
#define RUN(A, SUMS)                                                                               \
    {                                                                                              \
        Matrix all(weights + ((A * 4 + b) * G + g) * M * K, dextents<int, 2>(K, M),                \
                   array<int, 2>{1, K});                                                           \
        auto left = all.slice(k0, row0);                                                           \
        Panel right(panel + A * STEPS * TILE, dextents<int, 2>(lanes, n), array<int, 2>{1, TILE}); \
        op.run(left, right, SUMS);                                                                 \
    }
            RUN(1, one)
            RUN(2, two)
            if (b == 0) {
                RUN(0, y00)
                RUN(3, y10)
            } else if (b == 1) {
                RUN(0, first0)
                RUN(3, first1)
            } else if (b == 2) {
                RUN(0, second0)
                RUN(3, second1)
            } else {
                RUN(0, y01)
                RUN(3, y11)
            }
            simdgroup_barrier(mem_flags::mem_threadgroup);
        }
#define TO_BOTH(PLUS, MINUS, FIRST_OF, SECOND_OF)                                                  \
    for (ushort e = 0; e < one.get_capacity(); e++) {                                              \
        const float v = FIRST_OF[e], w = SECOND_OF[e];                                             \
        PLUS[e] += v + w;                                                                          \
        MINUS[e] += v - w;                                                                         \
    }
        if (b == 0) {
            TO_BOTH(y00, y10, one, two)
        } else if (b == 1) {
            TO_BOTH(first0, first1, one, two)
        } else if (b == 2) {
            TO_BOTH(second0, second1, one, two)
        } else {
            TO_BOTH(y01, y11, one, two)
        }
    }
    for (ushort e = 0; e < y00.get_capacity(); e++) {
        const float v = first0[e], w = second0[e];
        y00[e] += v + w;
        y01[e] += v - w;
    }
    for (ushort e = 0; e < y10.get_capacity(); e++) {
        const float v = first1[e], w = second1[e];
        y10[e] += v + w;
        y11[e] += v - w;
    }
    // Two results of a row side by side: through threadgroup memory, so that whole lines are stored.
    const int n_rows = min(TILE, M - row0), stop = min(column0 + TILE, L);
    for (int down = 0; down < 2; down++) {
        Panel first(panel, dextents<int, 2>(TILE, TILE), array<int, 2>{1, TILE});
        Panel second(panel + TILE * TILE, dextents<int, 2>(TILE, TILE), array<int, 2>{1, TILE});
        if (down) {
            y10.store(first);
            y11.store(second);
        } else {
            y00.store(first);
            y01.store(second);
        }
        simdgroup_barrier(mem_flags::mem_threadgroup);
        for (int y = column0 / width; y * width < stop && 2 * y + down < rows; y++) {
            const int begin = max(column0, y * width), end = min(stop, y * width + wide);
            const int n = min(columns, 2 * (end - y * width)); // an odd one has half a square
            for (int m = 0; m < n_rows; m++) {
                const float more = p[9] ? bias[g * M + row0 + m] : 0.0f;
                device float *to = result + ((ng * M + row0 + m) * rows + 2 * y + down) * columns;
                threadgroup const float *line = panel + m * TILE - column0;
                // The last sixteen squares overlap with those before: whole vectors where there are
                // enough.
                for (int i = begin; i < end; i += 16) {
                    const int from = i + 16 <= end || end - begin < 16 ? i : end - 16;
                    const int x = 2 * (from - y * width);
                    const bool whole = m + 1 < TILE || from + 16 <= column0 + TILE;
                    const float v = (whole ? two_of(line + from, 16, true, lane)
                                           : two_of(line + from, end - from, false, lane)) +
                                    more;
                    if (x + 32 <= n)
                        to[x + lane] = v;
                    else if (x + lane < n)
                        to[x + lane] = v;
                }
            }
        }
        simdgroup_barrier(mem_flags::mem_threadgroup);
    }
}
