// SPDX-License-Identifier: Apache-2.0
// conv_winograd.metal: convolutions of 3 x 3 taps and stride 1 by Winograd's F(2 x 2, 3 x 3):
// sixteen products of matrices for four results instead of thirty-six (conv_winograd.c).
//
// The picture lies as four, by the parity of row and column, so that what neighbours among the
// squares of 2 x 2 results need lies in line. For each of the sixteen a panel of sums and
// differences of the picture is made beside the tile and multiplied; what the product adds to the
// four results of a square is added to four tiles.
//
// Macros: TILE=64 STEPS=64
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
        half_way[9 + s] = g[6 + s];
    }
    for (int r = 0; r < 4; r++) {
        const float a = half_way[3 * r], b = half_way[3 * r + 1], c = half_way[3 * r + 2];
        u[(4 * r) * n + i] = a;
        u[(4 * r + 1) * n + i] = 0.5f * (a + c + b);
        u[(4 * r + 2) * n + i] = 0.5f * (a + c - b);
        u[(4 * r + 3) * n + i] = c;
    }
}

// Of the four elements in a row (or column) of a patch, number i of the sums is that of FIRST[i] and
// SIGN[i] times SECOND[i].
constant int FIRST[4] = {0, 1, 2, 1}, SECOND[4] = {2, 2, 1, 3};
constant float SIGN[4] = {-1, 1, -1, -1};
// What sum i adds to the first and to the second result.
constant float TO[2][4] = {{1, 1, 1, 0}, {0, 1, -1, -1}};

// Two results each of n squares in a row, at most sixteen.
inline float two_of(threadgroup const float *at, int n, int lane) {
    float even = 0, odd = 0;
    if (lane < n) {
        even = at[lane];
        odd = at[TILE * TILE + lane];
    }
    const float first = simd_shuffle(even, ushort(lane / 2));
    const float second = simd_shuffle(odd, ushort(lane / 2));
    return lane % 2 ? second : first;
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
    auto tile = op.get_destination_cooperative_tensor<Matrix, Panel, float>();
    auto y00 = op.get_destination_cooperative_tensor<Matrix, Panel, float>();
    auto y01 = op.get_destination_cooperative_tensor<Matrix, Panel, float>();
    auto y10 = op.get_destination_cooperative_tensor<Matrix, Panel, float>();
    auto y11 = op.get_destination_cooperative_tensor<Matrix, Panel, float>();
    for (ushort e = 0; e < tile.get_capacity(); e++) y00[e] = y01[e] = y10[e] = y11[e] = 0;
    const bool whole = column0 + TILE <= L;
    for (int xi = 0; xi < 16; xi++) {
        const int a = xi / 4, b = xi % 4;
        // Where the four elements lie: rows and columns of one parity are a plane.
#define PLACE(Y, X) (((Y) & 1) * 2 + ((X) & 1)) * K * plane + ((Y) >> 1) * width + ((X) >> 1)
        const int at0 = PLACE(FIRST[a], FIRST[b]), at1 = PLACE(FIRST[a], SECOND[b]);
        const int at2 = PLACE(SECOND[a], FIRST[b]), at3 = PLACE(SECOND[a], SECOND[b]);
        const float down = SIGN[a], right = SIGN[b];
        for (ushort e = 0; e < tile.get_capacity(); e++) tile[e] = 0;
        for (int k0 = 0; k0 < K; k0 += STEPS) {
            const int n = min(STEPS, K - k0);
#define SUM(X) X[at0] + right * X[at1] + down * (X[at2] + right * X[at3])
            for (int k = 0; k < n; k++) {
                device const float *x = pictures + (k0 + k) * plane;
                if (whole) {
                    for (int h = 0; h < TILE; h += 32) panel[k * TILE + h + lane] = SUM((x + h));
                } else {
                    for (int h = 0; h < TILE; h += 32) {
                        float v = 0;
                        if (column0 + h + lane < L) v = SUM((x + h));
                        panel[k * TILE + h + lane] = v;
                    }
                }
            }
            simdgroup_barrier(mem_flags::mem_threadgroup);
            Matrix all(weights + (xi * G + g) * M * K, dextents<int, 2>(K, M),
                       array<int, 2>{1, K});
            auto left = all.slice(k0, row0);
            Panel columns_of(panel, dextents<int, 2>(TILE, n), array<int, 2>{1, TILE});
            op.run(left, columns_of, tile);
            simdgroup_barrier(mem_flags::mem_threadgroup);
        }
        const float up0 = TO[0][a], up1 = TO[1][a], left0 = TO[0][b], left1 = TO[1][b];
        if (up0 != 0 && left0 != 0)
            for (ushort e = 0; e < tile.get_capacity(); e++) y00[e] += up0 * left0 * tile[e];
        if (up0 != 0 && left1 != 0)
            for (ushort e = 0; e < tile.get_capacity(); e++) y01[e] += up0 * left1 * tile[e];
        if (up1 != 0 && left0 != 0)
            for (ushort e = 0; e < tile.get_capacity(); e++) y10[e] += up1 * left0 * tile[e];
        if (up1 != 0 && left1 != 0)
            for (ushort e = 0; e < tile.get_capacity(); e++) y11[e] += up1 * left1 * tile[e];
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
                    const float v = (from + 16 <= end ? two_of(line + from, 16, lane)
                                                      : two_of(line + from, end - from, lane)) +
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
