// SPDX-License-Identifier: Apache-2.0
// conv_squares.metal: convolutions of 3 x 3 taps by Winograd's ways for squares of 2 x 2 results
// (conv_squares.c), with stride 1 sixteen products of matrices for four results and with stride 2
// twenty-five, instead of thirty-six.
//
// With stride 2 even columns meet taps 0 and 2, odd ones tap 1: two results are a convolution of two
// taps, which takes three products, and two products for themselves. All of them go to three sums:
//   first: w0 (d0 - d2) + w1 d1    both: (w0 + w2) d2    second: w2 (d4 - d2) + w1 d3
// and results are first + both, both + second. Products of a sum lie one after the other, so that a sum
// is one product of matrices. The same down the columns.
//
// A threadgroup is one SIMD-group. It takes TILE squares at a time, of all images in a row, makes what
// is multiplied of them in memory of its own, which stays in the second cache, and multiplies.
//
// Macros: STRIDE=1,2 TILE=64
// Macros: STRIDE=1,2 TILE=32
#include <metal_stdlib>
#include <metal_tensor>
#include <MetalPerformancePrimitives/MetalPerformancePrimitives.h>
using namespace metal;
using namespace mpp::tensor_ops;

// Along one axis: columns from a square to the next, columns that it needs, parts that are made of them
// and sums that they go to; which parts are whose.
#if STRIDE == 2
enum { STEP = 4, SIDE = 5, PARTS = 5, SUMS = 3 };
constexpr int parts_of(int sum) { return sum == 1 ? 1 : 2; }
constexpr int parts_before(int sum) { return sum < 2 ? 2 * sum : 3; }
constexpr int sum_of(int part) { return part < 2 ? 0 : part < 3 ? 1 : 2; }
inline void parts_of_picture(thread const float *d, thread float *out) {
    out[0] = d[0] - d[2], out[1] = d[1], out[2] = d[2], out[3] = d[4] - d[2], out[4] = d[3];
}
inline void parts_of_weights(thread const float *w, thread float *out) {
    out[0] = w[0], out[1] = w[1], out[2] = w[0] + w[2], out[3] = w[2], out[4] = w[1];
}
inline void results_of(thread const float *s, thread float *out) {
    out[0] = s[0] + s[1], out[1] = s[1] + s[2];
}
#else
enum { STEP = 2, SIDE = 4, PARTS = 4, SUMS = 4 };
constexpr int parts_of(int) { return 1; }
constexpr int parts_before(int sum) { return sum; }
constexpr int sum_of(int part) { return part; }
inline void parts_of_picture(thread const float *d, thread float *out) {
    out[0] = d[0] - d[2], out[1] = d[1] + d[2], out[2] = d[2] - d[1], out[3] = d[3] - d[1];
}
inline void parts_of_weights(thread const float *w, thread float *out) {
    out[0] = w[0], out[1] = 0.5f * (w[0] + w[2] + w[1]), out[2] = 0.5f * (w[0] + w[2] - w[1]);
    out[3] = w[2];
}
inline void results_of(thread const float *s, thread float *out) {
    out[0] = s[0] + s[1] + s[2], out[1] = s[1] - s[2] + s[3];
}
#endif

// Parts before those of sum (a, b), rows and columns; where among its own part (y, x) comes.
constexpr int first_of(int a, int b) { return parts_before(a) * PARTS + parts_of(a) * parts_before(b); }
constexpr int place_of(int y, int x) {
    const int a = sum_of(y), b = sum_of(x);
    return first_of(a, b) + (y - parts_before(a)) * parts_of(b) + x - parts_before(b);
}

struct Nine {
    float at[9];
};

// w (groups, O, C, 3, 3) becomes u: for each sum (groups, M, its parts, K). Of the way back, M is of C,
// K of O, and taps are in reverse.
// p: groups * O * C, M, K, whether it is the way back
kernel void weights(constant int *p [[buffer(0)]], device const Nine *w [[buffer(1)]],
                    device float *u [[buffer(2)]], uint2 at [[thread_position_in_grid]]) {
    const int n = p[0], M = p[1], K = p[2], k = int(at.x), row = int(at.y);
    const int from = p[3] ? (row / M * K + k) * M + row % M : row * K + k;
    const Nine nine = w[from];
    float rows[3][PARTS];
    for (int r = 0; r < 3; r++) {
        float three[3];
        for (int s = 0; s < 3; s++) three[s] = nine.at[p[3] ? 8 - 3 * r - s : 3 * r + s];
        parts_of_weights(three, rows[r]);
    }
#pragma unroll
    for (int x = 0; x < PARTS; x++) {
        const float three[3] = {rows[0][x], rows[1][x], rows[2][x]};
        float out[PARTS];
        parts_of_weights(three, out);
#pragma unroll
        for (int y = 0; y < PARTS; y++) {
            const int a = sum_of(y), b = sum_of(x), n_parts = parts_of(a) * parts_of(b);
            const int first = first_of(a, b);
            u[first * n + (row * n_parts + place_of(y, x) - first) * K + k] = out[y];
        }
    }
}

struct Some {
    float at[STEP];
};
enum { RAW = TILE + 32, LINE = 2 * TILE, ROWS = 64 };

// Where a square is.
struct Place {
    int image, y, x;
};
inline Place place(int square, int tall, int wide) {
    const int row = square / wide, image = row / tall;
    return {image, row - image * tall, square - row * wide};
}
inline Place after(Place at, int n, int tall, int wide) {
    at.x += n;
    if (at.x < wide) return at;
    at.x = 0;
    if (++at.y < tall) return at;
    at.y = 0;
    at.image++;
    return at;
}

// What a run of squares needs of a channel: each part of a patch a line of `raw`. LANES of them are
// written, more than there are squares: runs come one after the other. keep: which columns of a row of
// squares are inside of the picture, all bits or none; of short rows.
template <int LANES>
inline void collect(constant int *p, device const float *x, threadgroup float *raw,
                    threadgroup const uint *keep, int plane, Place at, int lane) {
    const int rows = p[4], columns = p[5], total = p[3] * p[2] * p[1] * rows * columns;
    const int first = STEP * at.x - p[11], column = first + STEP * lane;
    const bool inside = first >= 0 && first + STEP * (LANES - 1) + SIDE <= columns;
#pragma unroll
    for (int r = 0; r < SIDE; r++) {
        const int y = STEP * at.y + r - p[10], from = (plane * rows + y) * columns + first;
        float d[SIDE];
        for (int k = 0; k < SIDE; k++) d[k] = 0;
        if (y >= 0 && y < rows) {
            if (from >= 0 && from + STEP * LANES <= total) {
                Some some = {};
                if (lane < LANES) some = *(device const Some *)(x + from + STEP * lane);
                for (int k = 0; k < STEP; k++) d[k] = some.at[k];
            } else {
                for (int k = 0; k < STEP; k++)
                    if (uint(column + k) < uint(columns)) d[k] = x[from + STEP * lane + k];
            }
            for (int k = STEP; k < SIDE; k++) d[k] = simd_shuffle_down(d[k - STEP], 1);
            if (LANES < 32) {
                for (int k = 0; k < SIDE; k++)
                    d[k] = as_type<float>(as_type<uint>(d[k]) & keep[k * 64 + at.x + lane]);
            } else if (!inside) {
                for (int k = 0; k < SIDE; k++)
                    d[k] = uint(column + k) < uint(columns) ? d[k] : 0.0f;
            }
        }
        if (lane < LANES)
            for (int k = 0; k < SIDE; k++) raw[(r * SIDE + k) * RAW + lane] = d[k];
    }
}
template <int LANES>
inline void collect_all(constant int *p, device const float *x, threadgroup float *raw,
                        threadgroup const uint *keep, int g, int k, Place at, int n, int lane) {
    const int tall = p[6], wide = p[7];
    for (int i = 0; i < n;) {
        const int some = min(min(n - i, wide - at.x), LANES - 1);
        collect<LANES>(p, x, raw + i, keep, (at.image * p[2] + g) * p[1] + k, at, lane);
        i += some;
        at = after(at, some, tall, wide);
        simdgroup_barrier(mem_flags::mem_threadgroup);
    }
}

// The parts of 32 squares of a channel: `step` apart in v.
inline void make_parts(threadgroup const float *raw, device float *v, int step, int lane) {
    float half_way[SIDE][PARTS];
#pragma unroll
    for (int r = 0; r < SIDE; r++) {
        float d[SIDE];
        for (int k = 0; k < SIDE; k++) d[k] = raw[(r * SIDE + k) * RAW + lane];
        parts_of_picture(d, half_way[r]);
    }
#pragma unroll
    for (int x = 0; x < PARTS; x++) {
        float d[SIDE], out[PARTS];
        for (int r = 0; r < SIDE; r++) d[r] = half_way[r][x];
        parts_of_picture(d, out);
#pragma unroll
        for (int y = 0; y < PARTS; y++) v[place_of(y, x) * step + lane] = out[y];
    }
}

struct Two {
    float at[2];
};

// Results of TILE squares, as two lines.
inline void make_results(device const float *sums, device float *lines, float more, int lane) {
#pragma unroll
    for (int h = 0; h < TILE; h += 32) {
        float half_way[2][SUMS];
#pragma unroll
        for (int b = 0; b < SUMS; b++) {
            float s[SUMS], two[2];
            for (int a = 0; a < SUMS; a++) s[a] = sums[(a * SUMS + b) * ROWS * TILE + h + lane];
            results_of(s, two);
            half_way[0][b] = two[0], half_way[1][b] = two[1];
        }
        for (int down = 0; down < 2; down++) {
            Two two;
            results_of(half_way[down], two.at);
            two.at[0] += more, two.at[1] += more;
            *(device Two *)(lines + down * LINE + 2 * (h + lane)) = two;
        }
    }
}

// Stores of some threads alone are slow with AVX2: the last eight elements overlap with those before.
// Barriers keep the compiler from making one store of several.
#define STORE(WHICH, AT)                                                                           \
    if (WHICH) to[AT + lane] = from[AT + lane];                                                    \
    simdgroup_barrier(mem_flags::mem_device)
inline void store_line(device const float *from, device float *to, int n, int lane) {
    int i = 0;
    for (; i + 32 <= n; i += 32) {
        STORE(true, i);
    }
    if (n < 8) {
        STORE(lane < 8 && lane < n, 0);
        return;
    }
    if (n - i >= 16) {
        STORE(lane < 16, i);
        i += 16;
    }
    if (n - i >= 8) {
        STORE(lane < 8, i);
        i += 8;
    }
    if (i < n) {
        STORE(lane < 8, n - 8);
    }
}

// Results of n squares from `begin` on, of rows row0 .. + n_rows - 1 of M. `lines` has room for them.
inline void store_results(constant int *p, device const float *sums, device float *lines,
                          device const float *bias, device float *result, int g, int row0, int n_rows,
                          Place begin, int n, int lane) {
    const int M = p[0], tall = p[6], wide = p[7], rows = p[8], columns = p[9];
    for (int m = 0; m < n_rows; m++)
        make_results(sums + m * TILE, lines + m * 2 * LINE, p[12] ? bias[g * M + row0 + m] : 0.0f,
                     lane);
    simdgroup_barrier(mem_flags::mem_device);
    for (int m = 0; m < n_rows; m++) {
        device const float *from = lines + m * 2 * LINE;
        Place at = begin;
        for (int i = 0; i < n;) {
            const int some = min(n - i, wide - at.x), length = min(2 * some, columns - 2 * at.x);
            const int row = ((at.image * p[2] + g) * M + row0 + m) * rows + 2 * at.y;
            device float *to = result + row * columns + 2 * at.x;
            store_line(from + 2 * i, to, length, lane);
            if (2 * at.y + 1 < rows)
                store_line(from + LINE + 2 * i, to + columns, length, lane);
            i += some;
            at = after(at, some, tall, wide);
        }
    }
    simdgroup_barrier(mem_flags::mem_device);
}

// p: M, K, groups, images, rows and columns of the source, of squares, of the result, padding y and x,
// whether there is a bias, tiles, rows of M for a threadgroup
kernel void squares(constant int *p [[buffer(0)]], device const float *x [[buffer(1)]],
                    device float *u [[buffer(2)]], device const float *bias [[buffer(3)]],
                    device float *result [[buffer(4)]], device float *scratch [[buffer(5)]],
                    uint3 group [[threadgroup_position_in_grid]],
                    uint3 groups [[threadgroups_per_grid]],
                    uint self [[thread_index_in_simdgroup]]) {
    threadgroup float raw[SIDE * SIDE * RAW];
    threadgroup uint keep[SIDE * 64];
    const int M = p[0], K = p[1], G = p[2], tall = p[6], wide = p[7], lane = int(self);
    const int g = int(group.z), m0 = int(group.y) * p[14], m1 = min(M, m0 + p[14]);
    const int mine = int((group.z * groups.y + group.y) * groups.x + group.x);
    // Parts, sums and lines of results.
    const int each = PARTS * PARTS * K * TILE + (SUMS * SUMS * TILE + 2 * LINE) * ROWS;
    device float *v = scratch + size_t(mine) * size_t(each);
    device float *sums = v + PARTS * PARTS * K * TILE, *lines = sums + SUMS * SUMS * ROWS * TILE;
    typedef tensor<device float, dextents<int, 2>, tensor_inline> Matrix;
    constexpr auto what = matmul2d_descriptor(ROWS, TILE, dynamic_length_v<int>);
    matmul2d<what, execution_simdgroup> op;
    for (int k = 0; k < SIDE; k++)
        for (int i = lane; i < 64; i += 32)
            keep[k * 64 + i] = uint(STEP * i + k - p[11]) < uint(p[5]) ? ~0u : 0;
    simdgroup_barrier(mem_flags::mem_threadgroup);
    for (int tile = int(group.x); tile < p[13]; tile += int(groups.x)) {
        const int first = tile * TILE, n = min(TILE, p[3] * tall * wide - first);
        const int lanes = (n + 15) / 16 * 16; // whole vectors
        const Place begin = place(first, tall, wide);
        if (n < TILE) { // parts are made of squares that are not there
            for (int k = 0; k < SIDE * SIDE; k++)
                for (int h = 0; h < TILE; h += 32) raw[k * RAW + h + lane] = 0;
            simdgroup_barrier(mem_flags::mem_threadgroup);
        }
        for (int k = 0; k < K; k++) {
            if (wide < 8)
                collect_all<8>(p, x, raw, keep, g, k, begin, n, lane);
            else if (wide < 16)
                collect_all<16>(p, x, raw, keep, g, k, begin, n, lane);
            else
                collect_all<32>(p, x, raw, keep, g, k, begin, n, lane);
            for (int h = 0; h < TILE; h += 32)
                make_parts(raw + h, v + k * TILE + h, K * TILE, lane);
            simdgroup_barrier(mem_flags::mem_threadgroup | mem_flags::mem_device);
        }
        for (int row0 = m0; row0 < m1; row0 += ROWS) {
            for (int a = 0; a < SUMS; a++)
                for (int b = 0; b < SUMS; b++) {
                    const int first_part = first_of(a, b), length = parts_of(a) * parts_of(b) * K;
                    Matrix all(u + first_part * G * M * K + g * M * length,
                               dextents<int, 2>(length, m1), array<int, 2>{1, length});
                    Matrix right(v + first_part * K * TILE, dextents<int, 2>(lanes, length),
                                 array<int, 2>{1, TILE});
                    Matrix sum(sums + (a * SUMS + b) * ROWS * TILE, dextents<int, 2>(lanes, ROWS),
                               array<int, 2>{1, TILE});
                    auto left = all.slice(0, row0);
                    op.run(left, right, sum);
                }
            simdgroup_barrier(mem_flags::mem_device);
            store_results(p, sums, lines, bias, result, g, row0, min(m1 - row0, int(ROWS)), begin, n,
                          lane);
        }
    }
}
