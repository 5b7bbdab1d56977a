// SPDX-License-Identifier: Apache-2.0
// conv_winograd_rows.metal: Winograd convolution F(4, taps) along rows, for few channels and
// stride 2 (conv_winograd_rows.c): 13 products for four results in a row of seven taps instead of 28.
//
// The even taps of a row meet the even columns of the picture, the odd ones the odd columns, each a
// convolution with stride 1. A convolution of T taps that has four results is a product of polynomials,
// known by its values at T + 3 points; the values of even and odd columns, of all channels and of all
// rows of the kernel are added up point by point before results are made of them.
//
// Macros: EVEN=4 ODD=3
// Macros: EVEN=3 ODD=2
#include <metal_stdlib>
#include <metal_tensor>
#include <MetalPerformancePrimitives/MetalPerformancePrimitives.h>
using namespace metal;
using namespace mpp::tensor_ops;

// The first point is infinity. T taps take the first T + 3.
constexpr constant float POINTS[7] = {0, 0, 1, -1, 2, -2, 0.5f};
enum { POINTS_EVEN = EVEN + 3, POINTS_ODD = ODD + 3, TILE_M = 64, TILE_N = 32,
       TILE = TILE_M * TILE_N };

// Of d[0] .. d[T + 2] and w[0] .. w[T - 1] results k = 0 .. 3, sums of w[j] d[k + j], are
// sum over p of result(p, k) (sum over j of of_weights(p, j) w[j]) (sum over j of of_picture(p, j) d[j]).
template <int T> struct Matrices {
    float of_picture[T + 3][T + 3], of_weights[T + 3][T];
};
template <int T> constexpr Matrices<T> matrices() {
    Matrices<T> m = {};
    for (int p = 0; p < T + 3; p++) {
        // The polynomial that is 0 at all other points, and its value at this one.
        float at_point = 1;
        m.of_picture[p][0] = 1;
        for (int other = 1, degree = 0; other < T + 3; other++) {
            if (other == p) continue;
            for (int j = ++degree; j > 0; j--)
                m.of_picture[p][j] = m.of_picture[p][j - 1] - POINTS[other] * m.of_picture[p][j];
            m.of_picture[p][0] *= -POINTS[other];
            if (p) at_point *= POINTS[p] - POINTS[other];
        }
        float power = 1;
        for (int j = 0; j < T; j++, power *= POINTS[p])
            m.of_weights[p][j] = p ? power / at_point : j == T - 1;
    }
    return m;
}
constexpr constant Matrices<EVEN> of_even = matrices<EVEN>();
constexpr constant Matrices<ODD> of_odd = matrices<ODD>();

// Parts (even and odd, or even alone) of a point, and of the points before.
constexpr int parts(int p) { return p < POINTS_ODD ? 2 : 1; }
constexpr int parts_before(int p) { return p < POINTS_ODD ? 2 * p : POINTS_ODD + p; }

// w (groups, M, C, KH, EVEN + ODD) becomes u: for each point (groups, M, KH, parts, C).
// p: groups * M, KH, C
kernel void points(constant int *p [[buffer(0)]], device const float *w [[buffer(1)]],
                   device float *u [[buffer(2)]], uint at [[thread_position_in_grid]]) {
    const int KH = p[1], C = p[2], c = int(at) % C, rest = int(at) / C;
    const int r = rest % KH, m = rest / KH;
    device const float *from = w + ((m * C + c) * KH + r) * (EVEN + ODD);
    for (int i = 0; i < POINTS_EVEN; i++) {
        float even = 0, odd = 0;
        for (int j = 0; j < EVEN; j++) even = fma(of_even.of_weights[i][j], from[2 * j], even);
        device float *to = u + parts_before(i) * p[0] * KH * C + (m * KH + r) * parts(i) * C + c;
        to[0] = even;
        if (i >= POINTS_ODD) continue;
        for (int j = 0; j < ODD; j++) odd = fma(of_odd.of_weights[i][j], from[2 * j + 1], odd);
        to[C] = odd;
    }
}

struct Two {
    float even, odd;
};
struct Four {
    float at[4];
};
enum { HELD = 3584, SLACK = 256 };

// The values at all points of eight columns each: `step` from a part to the next, `line` from one line
// of them, `odd_part` from even to odd ones.
inline void store_points(thread const float *even, thread const float *odd, device float *to, int step,
                         int line, int odd_part) {
    for (int i = 0; i < POINTS_EVEN; i++) {
        device float *at = to + parts_before(i) * step + parts(i) * line;
        float sum = 0;
        for (int j = 0; j < POINTS_EVEN; j++)
            if (of_even.of_picture[i][j] != 0) sum = fma(of_even.of_picture[i][j], even[j], sum);
        at[0] = sum;
        if (i >= POINTS_ODD) continue;
        sum = 0;
        for (int j = 0; j < POINTS_ODD; j++)
            if (of_odd.of_picture[i][j] != 0) sum = fma(of_odd.of_picture[i][j], odd[j], sum);
        at[odd_part] = sum;
    }
}

// x (images, C, rows, columns) becomes v: per image for each point (tall, parts, C, wide), each number
// of which is for four results. A threadgroup is one SIMD-group.
// p: rows, columns, C, tall, wide, padding y and x, lines of a threadgroup
kernel void lines(constant int *p [[buffer(0)]], device const float *x [[buffer(1)]],
                  device float *v [[buffer(2)]], uint2 group [[threadgroup_position_in_grid]],
                  uint self [[thread_index_in_simdgroup]]) {
    threadgroup float held[HELD + 2 * SLACK], halves[2][HELD / 2 + SLACK];
    const int rows = p[0], columns = p[1], C = p[2], tall = p[3], wide = p[4], lane = int(self);
    const int first = int(group.x) * p[7], end = min(first + p[7], tall), image = int(group.y);
    for (int i = 0; i < HELD + 2 * SLACK; i += 32) held[i + lane] = 0;
    simdgroup_barrier(mem_flags::mem_threadgroup);
    for (int line = first; line < end; line++)
        for (int c = 0; c < C; c++) {
            device float *to = v + image * parts_before(POINTS_EVEN) * tall * C * wide + c * wide;
            const int row = line - p[5];
            const bool outside = row < 0 || row >= rows;
            device const float *from = x + ((image * C + c) * rows + row) * columns;
            if (!outside)
                for (int i = 0; i < columns; i += 32) {
                    float a = 0; // what is behind the line is border
                    if (i + lane < columns) a = from[i + lane];
                    held[SLACK + i + lane] = a;
                    simdgroup_barrier(mem_flags::mem_threadgroup);
                }
            simdgroup_barrier(mem_flags::mem_threadgroup);
            for (int i = 0; i < 4 * wide + 4; i += 32) {
                const Two two =
                    *(threadgroup const Two *)(held + SLACK - p[6] + 2 * (i + lane));
                halves[0][i + lane] = outside ? 0.0f : two.even;
                halves[1][i + lane] = outside ? 0.0f : two.odd;
            }
            simdgroup_barrier(mem_flags::mem_threadgroup);
            for (int q = 0; q < wide; q += 32) {
                float even[8], odd[8];
                for (int h = 0; h < 8; h += 4) {
                    const Four a = *(threadgroup const Four *)(halves[0] + 4 * (q + lane) + h);
                    const Four b = *(threadgroup const Four *)(halves[1] + 4 * (q + lane) + h);
                    for (int j = 0; j < 4; j++) even[h + j] = a.at[j], odd[h + j] = b.at[j];
                }
                store_points(even, odd, to + q + lane, tall * C * wide, line * C * wide, C * wide);
            }
            simdgroup_barrier(mem_flags::mem_threadgroup);
        }
}

// Sums of a tile, TILE for each of four columns: rows row0 .. of the weights of a group by what `picture`
// has of each point: `step` from a part to the next, beginning at line `line` of them, `pitch` between
// rows. K1: rows of a part.
inline void multiply(device float *u, int G, int g, int M, int row0, int K1, device float *picture,
                     int step, int line, int pitch, int lanes, threadgroup float *sums) {
    typedef tensor<device float, dextents<int, 2>, tensor_inline> Matrix;
    typedef tensor<threadgroup float, dextents<int, 2>, tensor_inline> Sums;
    constexpr auto what = matmul2d_descriptor(TILE_M, TILE_N, dynamic_length_v<int>);
    matmul2d<what, execution_simdgroup> op;
#define POINT(I)                                                                                   \
    auto p##I = op.get_destination_cooperative_tensor<Matrix, Matrix, float>();                    \
    if (I < POINTS_EVEN) {                                                                         \
        const int K = parts(I) * K1;                                                               \
        Matrix all(u + (parts_before(I) * G + parts(I) * g) * M * K1, dextents<int, 2>(K, M),      \
                   array<int, 2>{1, K});                                                           \
        auto left = all.slice(0, row0);                                                            \
        Matrix right(picture + parts_before(I) * step + parts(I) * line,                           \
                     dextents<int, 2>(lanes, K), array<int, 2>{1, pitch});                         \
        op.run(left, right, p##I);                                                                 \
    }
    POINT(0)
    POINT(1)
    POINT(2)
    POINT(3)
    POINT(4)
    POINT(5)
    POINT(6)
    // Result k of a point is the power k of it; of infinity, the last alone.
    for (ushort e = 0; e < p0.get_capacity(); e++) {
        const float one = p2[e] + p3[e], minus_one = p2[e] - p3[e];
        const float two = p4[e] + p5[e], minus_two = p4[e] - p5[e];
        const float part = POINTS_EVEN > 6 ? p6[e] : 0.0f;
        p3[e] = p0[e] + minus_one + 8 * minus_two + 0.125f * part;
        p0[e] = p1[e] + one + two + part;
        p1[e] = minus_one + 2 * minus_two + 0.5f * part;
        p2[e] = one + 4 * two + 0.25f * part;
    }
#define KEEP(I)                                                                                    \
    Sums all##I(sums + I * TILE, dextents<int, 2>(TILE_N, TILE_M), array<int, 2>{1, TILE_N});      \
    p##I.store(all##I);
    KEEP(0)
    KEEP(1)
    KEEP(2)
    KEEP(3)
    simdgroup_barrier(mem_flags::mem_threadgroup);
}

// Results of one row of the weights, 32 threads with four each.
inline float4 four_of(threadgroup const float *sums, int lane) {
    return {sums[lane], sums[TILE + lane], sums[2 * TILE + lane], sums[3 * TILE + lane]};
}

// Rows of results: all points of a row of v by the weights. A threadgroup is one SIMD-group.
// p: M, C, groups, tall and wide of v, KH, rows and columns of the result, stride y, its rows of a
// threadgroup, whether there is a bias
kernel void rows(constant int *p [[buffer(0)]], device float *v [[buffer(1)]],
                 device float *u [[buffer(2)]], device const float *bias [[buffer(3)]],
                 device float *result [[buffer(4)]], uint3 group [[threadgroup_position_in_grid]],
                 uint self [[thread_index_in_simdgroup]]) {
    threadgroup float sums[4 * TILE];
    const int M = p[0], C = p[1], G = p[2], tall = p[3], wide = p[4], KH = p[5], columns = p[7];
    const int chunks = (p[6] + p[9] - 1) / p[9], ng = int(group.z) / chunks, g = ng % G;
    const int first = int(group.z) % chunks * p[9], end = min(first + p[9], p[6]);
    const int row0 = int(group.y) * TILE_M, n_rows = min(TILE_M, M - row0), lane = int(self);
    const int q0 = int(group.x) * TILE_N, lanes = min(TILE_N, ((columns + 3) / 4 - q0 + 15) / 16 * 16);
    device float *picture = v + ng * parts_before(POINTS_EVEN) * tall * C * wide + q0;
    for (int y = first; y < end; y++) {
        multiply(u, G, g, M, row0, KH * C, picture, tall * C * wide, y * p[8] * C * wide, wide, lanes,
                 sums);
        // A line is stored with what is behind it where this threadgroup writes that again
        // (conv_layout.metal): there are at least 64 columns.
        const int n = columns - 4 * q0;
        const bool whole =
            columns % 4 == 0 && (n >= 4 * TILE_N || (wide == TILE_N && y + 1 < end));
        device float *to = result + ((ng * M + row0) * p[6] + y) * columns + 4 * q0;
        for (int m = 0; m < n_rows; m++, to += p[6] * columns) {
            const float more = p[10] ? bias[g * M + row0 + m] : 0.0f;
            threadgroup const float *at = sums + m * TILE_N;
            if (whole) {
                ((device float4 *)to)[lane] = four_of(at, lane) + more;
            } else {
                for (int i = lane; i < n && i < 4 * TILE_N; i += 32)
                    to[i] = at[i % 4 * TILE + i / 4] + more;
            }
        }
        simdgroup_barrier(mem_flags::mem_threadgroup | mem_flags::mem_device);
    }
}

// Short rows, with stride 2 down the columns as well: a tile is several rows of results side by side. For
// a row of the kernel they need every second line, so lines of either kind lie one after the other, even
// and odd columns apart (`near`), and again four columns further on (`far`), where a row does not go on
// with the next one. A threadgroup is one SIMD-group and makes a tile in memory of its own.
// p: M, C, groups, rows and columns of the source, KH, rows and columns of the result, padding y and x,
// whether there is a bias, numbers of a row of a tile, each of four results, and of scratch, tiles of all
// images
enum { NEAR = 512, WHOLE = 3072 };
kernel void short_rows(constant int *p [[buffer(0)]], device const float *x [[buffer(1)]],
                       device float *u [[buffer(2)]], device const float *bias [[buffer(3)]],
                       device float *result [[buffer(4)]], device float *scratch [[buffer(5)]],
                       uint group [[threadgroup_position_in_grid]],
                       uint groups [[threadgroups_per_grid]],
                       uint self [[thread_index_in_simdgroup]]) {
    threadgroup float sums[4 * TILE];
    const int M = p[0], C = p[1], G = p[2], KH = p[5], columns = p[7], wide = p[11], lane = int(self);
    const int n = TILE_N / wide, n_lines = 2 * (n - 1) + KH, pitch = 8 * wide + 32;
    device float *lines = scratch + size_t(group) * size_t(p[12]);
    device float *whole_lines = lines + 8 * NEAR, *v = whole_lines + WHOLE;
    const int n_tiles = (p[6] + n - 1) / n;
    for (int tile = int(group); tile < p[13]; tile += int(groups)) {
        const int image = tile / n_tiles, y0 = tile % n_tiles * n, g = image % G;
        for (int c = 0; c < C; c++) {
            for (int l = 0; l < n_lines; l++) { // with their border
                const int y = 2 * y0 + l - p[8];
                const bool inside = y >= 0 && y < p[3];
                device const float *from = x + ((image * C + c) * p[3] + y) * p[4];
                for (int h = 0; h < pitch; h += 32) {
                    const int column = h + lane - p[9];
                    float a = 0;
                    if (inside && uint(column) < uint(p[4])) a = from[column];
                    whole_lines[l * pitch + h + lane] = a;
                }
            }
            simdgroup_barrier(mem_flags::mem_device);
            for (int l = 0; l < n_lines; l++) {
                device float *to = lines + l % 2 * 4 * NEAR + l / 2 * 4 * wide + lane;
                for (int h = 0; h < 4 * wide; h += 32)
                    for (int far = 0; far < 2; far++) {
                        const Two two = *(device const Two *)(whole_lines + l * pitch + 2 * (h + lane) +
                                                              8 * far);
                        to[2 * far * NEAR + h] = two.even, to[(2 * far + 1) * NEAR + h] = two.odd;
                    }
            }
            simdgroup_barrier(mem_flags::mem_device);
            for (int r = 0; r < KH; r++) {
                device const float *from = lines + r % 2 * 4 * NEAR + r / 2 * 4 * wide + 4 * lane;
                float even[8], odd[8];
                for (int h = 0; h < 8; h += 4) {
                    const Four a = *(device const Four *)(from + h / 2 * NEAR);
                    const Four b = *(device const Four *)(from + h / 2 * NEAR + NEAR);
                    for (int j = 0; j < 4; j++) even[h + j] = a.at[j], odd[h + j] = b.at[j];
                }
                store_points(even, odd, v + c * TILE_N + lane, KH * C * TILE_N, r * C * TILE_N,
                             C * TILE_N);
            }
            simdgroup_barrier(mem_flags::mem_device);
        }
        const bool whole = columns == 4 * wide && y0 + n <= p[6];
        for (int row0 = 0; row0 < M; row0 += TILE_M) {
            multiply(u, G, g, M, row0, KH * C, v, KH * C * TILE_N, 0, TILE_N, TILE_N, sums);
            for (int m = 0; m < min(TILE_M, M - row0); m++) {
                const float more = p[10] ? bias[g * M + row0 + m] : 0.0f;
                threadgroup const float *at = sums + m * TILE_N;
                device float *to = result + ((image * M + row0 + m) * p[6] + y0) * columns;
                if (whole) {
                    ((device float4 *)to)[lane] = four_of(at, lane) + more;
                } else {
                    for (int i = lane; i < 4 * TILE_N; i += 32) {
                        const int down = i / (4 * wide), column = i % (4 * wide);
                        if (column < columns && y0 + down < p[6])
                            to[down * columns + column] = at[i % 4 * TILE + i / 4] + more;
                    }
                }
            }
            simdgroup_barrier(mem_flags::mem_threadgroup | mem_flags::mem_device);
        }
    }
}
