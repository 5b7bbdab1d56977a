// SPDX-License-Identifier: Apache-2.0
// conv_winograd.metal: Winograd convolution F(4 x 4, 3 x 3) and F(2 x 2, 3 x 3) (conv_winograd.c): a square of
// results is computed from the transformed input and filter. With stride 1, 36 GEMMs for 4 x 4 results
// instead of 144, or 16 for 2 x 2 instead of 36; with stride 2, 25 for 2 x 2.
//
// With stride 1, 4 x 4: six columns are a polynomial, known by its values at 0, 5/8, -5/8, 3/2, -3/2
// and infinity. Points are fractions of powers of two, so that all factors of the picture and of the
// sums are exact, and lie so that no factor is large or small: the error is a third of that with 1, -1,
// 2, -2.
//
// With stride 2 even columns meet taps 0 and 2, odd ones tap 1: two results are a convolution of two
// taps, which takes three products, and two products for themselves. All of them go to three sums:
//   first: w0 (d0 - d2) + w1 d1    both: (w0 + w2) d2    second: w2 (d4 - d2) + w1 d3
// and results are first + both, both + second. Products of a sum lie one after the other, so that a sum
// is one product of matrices. The same down the columns.
//
// A threadgroup is one SIMD-group. It takes up to TILE squares at a time, of all images in a row, makes
// what is multiplied of them in memory of its own, which stays in the second cache, and multiplies.
//
// Macros: STRIDE=1 RESULTS=2,4
// Macros: STRIDE=2 RESULTS=2
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
inline void transform_input(thread const float *d, thread float *out) {
    out[0] = d[0] - d[2], out[1] = d[1], out[2] = d[2], out[3] = d[4] - d[2], out[4] = d[3];
}
inline void transform_filter(thread const float *w, thread float *out) {
    out[0] = w[0], out[1] = w[1], out[2] = w[0] + w[2], out[3] = w[2], out[4] = w[1];
}
inline void transform_output(thread const float *s, thread float *out) {
    out[0] = s[0] + s[1], out[1] = s[1] + s[2];
}
#else
constexpr int parts_of(int) { return 1; }
constexpr int parts_before(int sum) { return sum; }
constexpr int sum_of(int part) { return part; }
#if RESULTS == 2
enum { STEP = 2, SIDE = 4, PARTS = 4, SUMS = 4 };
inline void transform_input(thread const float *d, thread float *out) {
    out[0] = d[0] - d[2], out[1] = d[1] + d[2], out[2] = d[2] - d[1], out[3] = d[3] - d[1];
}
inline void transform_filter(thread const float *w, thread float *out) {
    out[0] = w[0], out[1] = 0.5f * (w[0] + w[2] + w[1]), out[2] = 0.5f * (w[0] + w[2] - w[1]);
    out[3] = w[2];
}
inline void transform_output(thread const float *s, thread float *out) {
    out[0] = s[0] + s[1] + s[2], out[1] = s[1] - s[2] + s[3];
}
#else
enum { STEP = 4, SIDE = 6, PARTS = 6, SUMS = 6 };
constexpr constant float A = 0.625f, AA = A * A, B = 1.5f, BB = B * B;
inline void transform_input(thread const float *d, thread float *out) {
    const float even_a = fma(-BB, d[2], d[4]), odd_a = A * fma(-BB, d[1], d[3]);
    const float even_b = fma(-AA, d[2], d[4]), odd_b = B * fma(-AA, d[1], d[3]);
    out[0] = fma(AA * BB, d[0], fma(-(AA + BB), d[2], d[4]));
    out[1] = even_a + odd_a, out[2] = even_a - odd_a;
    out[3] = even_b + odd_b, out[4] = even_b - odd_b;
    out[5] = fma(AA * BB, d[1], fma(-(AA + BB), d[3], d[5]));
}
inline void transform_filter(thread const float *w, thread float *out) {
    const float a = 1 / (2 * AA * (AA - BB)), b = 1 / (2 * BB * (BB - AA));
    const float even_a = a * fma(AA, w[2], w[0]), odd_a = a * A * w[1];
    const float even_b = b * fma(BB, w[2], w[0]), odd_b = b * B * w[1];
    out[0] = w[0] / (AA * BB), out[5] = w[2];
    out[1] = even_a + odd_a, out[2] = even_a - odd_a;
    out[3] = even_b + odd_b, out[4] = even_b - odd_b;
}
inline void transform_output(thread const float *s, thread float *out) {
    const float even_a = s[1] + s[2], odd_a = s[1] - s[2];
    const float even_b = s[3] + s[4], odd_b = s[3] - s[4];
    out[0] = s[0] + even_a + even_b;
    out[1] = fma(A, odd_a, B * odd_b);
    out[2] = fma(AA, even_a, BB * even_b);
    out[3] = fma(AA * A, odd_a, fma(BB * B, odd_b, s[5]));
}
#endif
#endif

// Parts before those of sum (a, b), rows and columns; where among its own part (y, x) comes.
constexpr int first_of(int a, int b) { return parts_before(a) * PARTS + parts_of(a) * parts_before(b); }
constexpr int place_of(int y, int x) {
    const int a = sum_of(y), b = sum_of(x);
    return first_of(a, b) + (y - parts_before(a)) * parts_of(b) + x - parts_before(b);
}

enum { APART = 32 }; // between sums, so that they do not share sets of a cache

struct Nine {
    float at[9];
};

// w (groups, O, C, 3, 3) becomes u: for each sum (groups, M, its parts, K).
// n: groups * O * C
inline void make_filter(Nine nine, device float *u, int n, int K, int row, int k) {
    float rows[3][PARTS];
    for (int r = 0; r < 3; r++) {
        const float three[3] = {nine.at[3 * r], nine.at[3 * r + 1], nine.at[3 * r + 2]};
        transform_filter(three, rows[r]);
    }
#pragma unroll
    for (int x = 0; x < PARTS; x++) {
        const float three[3] = {rows[0][x], rows[1][x], rows[2][x]};
        float out[PARTS];
        transform_filter(three, out);
#pragma unroll
        for (int y = 0; y < PARTS; y++) {
            const int a = sum_of(y), b = sum_of(x), n_parts = parts_of(a) * parts_of(b);
            const int first = first_of(a, b);
            u[first * n + (a * SUMS + b) * APART + (row * n_parts + place_of(y, x) - first) * K + k] =
                out[y];
        }
    }
}

// p: groups * O * C, M, K
kernel void filter(constant int *p [[buffer(0)]], device const Nine *w [[buffer(1)]],
                    device float *u [[buffer(2)]], uint2 at [[thread_position_in_grid]]) {
    const int K = p[2], k = int(at.x), row = int(at.y);
    make_filter(w[row * K + k], u, p[0], K, row, k);
}

// Of the backward pass: M is of C, K of O, and taps are in reverse.
kernel void filter_back(constant int *p [[buffer(0)]], device const Nine *w [[buffer(1)]],
                         device float *u [[buffer(2)]], uint2 at [[thread_position_in_grid]]) {
    const int M = p[1], K = p[2], k = int(at.x), row = int(at.y);
    const Nine nine = w[(row / M * K + k) * M + row % M];
    Nine turned;
    for (int i = 0; i < 9; i++) turned.at[i] = nine.at[8 - i];
    make_filter(turned, u, p[0], K, row, k);
}

struct Some {
    float at[STEP];
};
enum { TILE = 64, ROWS = 64, HELD = STEP * TILE + 64, LINE = RESULTS * TILE };

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

// What n squares need of a channel: STEP columns of each in `near`, one row of squares after the other,
// with more behind them than they have. The last of a row finds what follows it in `far`; unless the
// picture ends there, then it is zero (FAR is false).
template <bool FAR>
inline void collect(constant int *p, device const float *x, threadgroup float *near,
                    threadgroup float *far, int g, int k, Place at, int n, int lane) {
    const int rows = p[4], columns = p[5], tall = p[6], wide = p[7];
    for (int i = 0; i < n;) {
        const int some = min(n - i, wide - at.x), plane = (at.image * p[2] + g) * p[1] + k;
        const int first = STEP * at.x - p[11] + lane;
#pragma unroll
        for (int r = 0; r < SIDE; r++) {
            const int y = STEP * at.y + r - p[10], line = (plane * rows + y) * columns;
            const bool inside = y >= 0 && y < rows;
            for (int h = 0; h < STEP * (FAR ? some : some + 1); h += 32) {
                const int a = first + h, b = a + STEP, to = r * HELD + STEP * i + h + lane;
                float here = 0, there = 0;
                if (inside) {
                    if (uint(a) < uint(columns)) here = x[line + a];
                    if (FAR && uint(b) < uint(columns)) there = x[line + b];
                }
                near[to] = here;
                if (FAR) far[to] = there;
            }
        }
        i += some;
        at = after(at, some, tall, wide);
        simdgroup_barrier(mem_flags::mem_threadgroup);
    }
}

// The parts of 32 squares of a channel: `step` apart in v. goes_on: no bits for the last of a row.
template <bool FAR>
inline void make_parts(threadgroup const float *near, threadgroup const float *far, uint goes_on,
                       device float *v, int step, int lane) {
    float half_way[SIDE][PARTS];
#pragma unroll
    for (int r = 0; r < SIDE; r++) {
        float d[SIDE];
        const Some a = *(threadgroup const Some *)(near + r * HELD + STEP * lane);
        const Some b = *(threadgroup const Some *)(FAR ? far + r * HELD + STEP * lane
                                                       : near + r * HELD + STEP * (lane + 1));
        for (int k = 0; k < STEP; k++) d[k] = a.at[k];
        for (int k = STEP; k < SIDE; k++)
            d[k] = FAR ? b.at[k - STEP] : as_type<float>(as_type<uint>(b.at[k - STEP]) & goes_on);
        transform_input(d, half_way[r]);
    }
#pragma unroll
    for (int x = 0; x < PARTS; x++) {
        float d[SIDE], out[PARTS];
        for (int r = 0; r < SIDE; r++) d[r] = half_way[r][x];
        transform_input(d, out);
#pragma unroll
        for (int y = 0; y < PARTS; y++)
            v[place_of(y, x) * step + (sum_of(y) * SUMS + sum_of(x)) * APART + lane] = out[y];
    }
}

// The parts of n squares, in lines of `pitch`.
template <bool FAR>
inline void make_tile(constant int *p, device const float *x, threadgroup float *near,
                      threadgroup float *far, device float *v, int g, Place begin, int n, int pitch,
                      int lane) {
    const int K = p[1], wide = p[7];
    uint goes_on[TILE / 32];
    for (int h = 0; h < TILE; h += 32)
        goes_on[h / 32] = (begin.x + h + lane) % wide == wide - 1 ? 0 : ~0u;
    for (int k = 0; k < K; k++) {
        collect<FAR>(p, x, near, far, g, k, begin, n, lane);
#pragma unroll
        for (int h = 0; h < TILE; h += 32)
            if (h < pitch)
                make_parts<FAR>(near + STEP * h, far + STEP * h, goes_on[h / 32], v + k * pitch + h,
                                K * pitch, lane);
        simdgroup_barrier(mem_flags::mem_threadgroup | mem_flags::mem_device);
    }
}

typedef vec<float, RESULTS> Few; // stored at once: one by one they would be stores with masks
#if RESULTS == 4
inline Few few(thread const float *a) { return {a[0], a[1], a[2], a[3]}; }
#else
inline Few few(thread const float *a) { return {a[0], a[1]}; }
#endif

// Results of some squares as lines, of sums `step` apart.
inline void make_results(device const float *sums, int step, threadgroup float *lines, float more,
                         int lanes, int lane) {
    for (int h = 0; h < lanes; h += 32) {
        float half_way[RESULTS][SUMS];
#pragma unroll
        for (int b = 0; b < SUMS; b++) {
            float s[SUMS], out[RESULTS];
            for (int a = 0; a < SUMS; a++)
                s[a] = sums[(a * SUMS + b) * step + h + lane];
            transform_output(s, out);
            for (int i = 0; i < RESULTS; i++) half_way[i][b] = out[i];
        }
        for (int down = 0; down < RESULTS; down++) {
            float out[RESULTS];
            transform_output(half_way[down], out);
            ((threadgroup Few *)(lines + down * LINE))[h + lane] = few(out) + more;
        }
    }
}

// Stores of some threads alone are slow with AVX2: the last eight elements overlap with those before.
// Barriers keep the compiler from making one store of several.
#define STORE(WHICH, AT)                                                                           \
    if (WHICH) to[AT + lane] = from[AT + lane];                                                    \
    simdgroup_barrier(mem_flags::mem_device)
inline void store_line(threadgroup const float *from, device float *to, int n, int lane) {
    int i = 0;
    for (; i + 32 <= n; i += 32) {
        STORE(true, i);
    }
    if (n < 4) {
        STORE(lane < 8 && lane < n, 0);
        return;
    }
    if (n < 8) {
        STORE(lane < 4, 0);
        STORE(lane < 4, n - 4);
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

// Results of n squares from `begin` on, of rows row0 .. + n_rows - 1 of M: sums are (SUMS * SUMS, ROWS,
// pitch). `lines` has room for a row.
inline void store_results(constant int *p, device const float *sums, int pitch,
                          threadgroup float *lines, device const float *bias, device float *result,
                          int g, int row0, int n_rows, Place begin, int n, int lane) {
    const int M = p[0], tall = p[6], wide = p[7], rows = p[8], columns = p[9];
    for (int m = 0; m < n_rows; m++) {
        make_results(sums + m * pitch, ROWS * pitch + APART, lines,
                     p[12] ? bias[g * M + row0 + m] : 0.0f, pitch, lane);
        simdgroup_barrier(mem_flags::mem_threadgroup);
        Place at = begin;
        for (int i = 0; i < n;) {
            const int some = min(n - i, wide - at.x), column = RESULTS * at.x;
            const int length = min(RESULTS * some, columns - column), y = RESULTS * at.y;
            const int row = ((at.image * p[2] + g) * M + row0 + m) * rows + y;
            for (int down = 0; down < RESULTS && y + down < rows; down++)
                store_line(lines + down * LINE + RESULTS * i, result + (row + down) * columns + column,
                           length, lane);
            i += some;
            at = after(at, some, tall, wide);
        }
        simdgroup_barrier(mem_flags::mem_threadgroup | mem_flags::mem_device);
    }
}

// p: M, K, groups, images, rows and columns of the source, of squares, of the result, padding y and x,
// whether there is a bias, tiles, rows of M and floats of scratch for a threadgroup
kernel void winograd(constant int *p [[buffer(0)]], device const float *x [[buffer(1)]],
                    device float *u [[buffer(2)]], device const float *bias [[buffer(3)]],
                    device float *result [[buffer(4)]], device float *scratch [[buffer(5)]],
                    uint3 group [[threadgroup_position_in_grid]],
                    uint3 groups [[threadgroups_per_grid]],
                    uint self [[thread_index_in_simdgroup]]) {
    threadgroup float near[SIDE * HELD], far[SIDE * HELD], lines[RESULTS * LINE];
    const int M = p[0], K = p[1], G = p[2], tall = p[6], wide = p[7], lane = int(self);
    const int g = int(group.z), m0 = int(group.y) * p[14], m1 = min(M, m0 + p[14]);
    const int mine = int((group.z * groups.y + group.y) * groups.x + group.x);
    device float *v = scratch + size_t(mine) * size_t(p[15]);
    typedef tensor<device float, dextents<int, 2>, tensor_inline> Matrix;
    constexpr auto what = matmul2d_descriptor(ROWS, TILE, dynamic_length_v<int>);
    matmul2d<what, execution_simdgroup> op;
    const bool has_far = STEP * wide - p[11] < p[5]; // the picture goes on behind the last squares
    // Tiles are vectors of 16 squares, nearly as many in each.
    const int all_squares = p[3] * tall * wide, vectors = (all_squares + 15) / 16;
    const int some = vectors / p[13], more = vectors % p[13];
    for (int tile = int(group.x); tile < p[13]; tile += int(groups.x)) {
        const int first = (tile * some + min(tile, more)) * 16, lanes = (some + (tile < more)) * 16;
        const int n = min(lanes, all_squares - first), pitch = (lanes + 31) / 32 * 32;
        device float *sums = v + PARTS * PARTS * K * pitch + SUMS * SUMS * APART;
        const Place begin = place(first, tall, wide);
        if (n < pitch) { // parts are made of squares that are not there
            for (int i = 0; i < SIDE * HELD; i += 32) near[i + lane] = 0, far[i + lane] = 0;
            simdgroup_barrier(mem_flags::mem_threadgroup);
        }
        if (has_far)
            make_tile<true>(p, x, near, far, v, g, begin, n, pitch, lane);
        else
            make_tile<false>(p, x, near, far, v, g, begin, n, pitch, lane);
        for (int row0 = m0; row0 < m1; row0 += ROWS) {
            for (int a = 0; a < SUMS; a++)
                for (int b = 0; b < SUMS; b++) {
                    const int first_part = first_of(a, b), length = parts_of(a) * parts_of(b) * K;
                    Matrix all(u + first_part * G * M * K + (a * SUMS + b) * APART + g * M * length,
                               dextents<int, 2>(length, m1), array<int, 2>{1, length});
                    Matrix right(v + first_part * K * pitch + (a * SUMS + b) * APART,
                                 dextents<int, 2>(lanes, length), array<int, 2>{1, pitch});
                    Matrix sum(sums + (a * SUMS + b) * (ROWS * pitch + APART),
                               dextents<int, 2>(lanes, ROWS), array<int, 2>{1, pitch});
                    auto left = all.slice(0, row0);
                    op.run(left, right, sum);
                }
            simdgroup_barrier(mem_flags::mem_device);
            store_results(p, sums, pitch, lines, bias, result, g, row0, min(m1 - row0, int(ROWS)),
                          begin, n, lane);
        }
    }
}
