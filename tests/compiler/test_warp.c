// SPDX-License-Identifier: Apache-2.0
// The GPU's device library (codegen/nvptx/library) on the host: every function of SIMD-groups and
// quads against what it means, with all lanes, with the first ones alone, and with lanes that
// diverge, each side by itself; positions in whole and in cut threadgroups; matrices.
#define INGOT_WARP "warp.h"
#include "../../src/compiler/codegen/nvptx/library/matrix.c"
#include "../../src/compiler/codegen/nvptx/library/position.c"
#include "../../src/compiler/codegen/nvptx/library/simd.c"
#include "../unit.h"
#include <math.h>
#include <stdio.h>

static CudaGrid grid;
static _Bool line, bands;
u32 ingot_grid(u32 word) { return ((const u32 *)&grid)[word]; }
_Bool ingot_in_line(void) { return line; }
u32 ingot_constant(u32 parameter) { return parameter + 100; }
_Bool ingot_in_bands(void) { return bands; }

// ---- functions of SIMD-groups ----

static struct {
    u32 mask[32]; // of each lane
    u64 x[32], fill[32], out[32];
    u32 n, m;
} in;

static u64 to_bits_f32(f32 x) { return bits_of(x); }
static f32 from_bits_f32(u64 x) { return float_of((u32)x); }
#define BITS(t)                                                                                    \
    static u64 to_bits_##t(t x) { return (u64)x; }                                                 \
    static t from_bits_##t(u64 x) { return (t)x; }
BITS(i32)
BITS(u32)
BITS(i64)
BITS(u64)

#define X(t) from_bits_##t(in.x[l])
#define FUNCTION1(name, t)                                                                         \
    static void call_##name(void) {                                                                \
        u32 l = lane();                                                                            \
        in.out[l] = to_bits_##t(ingot_masked_##name(in.mask[l], X(t)));                            \
    }
#define FUNCTION2(name, t)                                                                         \
    static void call_##name(void) {                                                                \
        u32 l = lane();                                                                            \
        in.out[l] = to_bits_##t(ingot_masked_##name(in.mask[l], X(t), in.n));                      \
    }
#define FUNCTION4(name, t)                                                                         \
    static void call_##name(void) {                                                                \
        u32 l = lane();                                                                            \
        t fill = from_bits_##t(in.fill[l]);                                                        \
        in.out[l] = to_bits_##t(ingot_masked_##name(in.mask[l], X(t), fill, in.n, in.m));          \
    }

typedef enum What {
    SUM,
    PRODUCT,
    MIN,
    MAX,
    AND,
    OR,
    XOR,
    SCAN_SUM,
    SCAN_SUM_EX,
    SCAN_PRODUCT,
    SCAN_PRODUCT_EX,
    BROADCAST,
    SHUFFLE,
    SHUFFLE_XOR,
    UP,
    DOWN,
    ROTATE_UP,
    ROTATE_DOWN,
    FILL_UP,
    FILL_DOWN,
    FIRST
} What;
typedef enum Type { T_i32, T_u32, T_i64, T_u64, T_f32 } Type;

// clang-format off
#define EACH_REDUCTION(D, kind, t)                                                                 \
    D(1, kind##_sum_##t, t, SUM) D(1, kind##_product_##t, t, PRODUCT)                              \
    D(1, kind##_min_##t, t, MIN) D(1, kind##_max_##t, t, MAX)
#define EACH_OF_BITS(D, kind, t)                                                                   \
    D(1, kind##_and_##t, t, AND) D(1, kind##_or_##t, t, OR) D(1, kind##_xor_##t, t, XOR)
#define EACH_SCAN(D, t)                                                                            \
    D(1, simd_prefix_inclusive_sum_##t, t, SCAN_SUM)                                               \
    D(1, simd_prefix_exclusive_sum_##t, t, SCAN_SUM_EX)                                            \
    D(1, simd_prefix_inclusive_product_##t, t, SCAN_PRODUCT)                                       \
    D(1, simd_prefix_exclusive_product_##t, t, SCAN_PRODUCT_EX)
#define EACH_SHUFFLE(D, kind, t)                                                                   \
    D(2, kind##_broadcast_##t, t, BROADCAST) D(2, kind##_shuffle_##t, t, SHUFFLE)                  \
    D(2, kind##_shuffle_xor_##t, t, SHUFFLE_XOR) D(2, kind##_shuffle_up_##t, t, UP)                \
    D(2, kind##_shuffle_down_##t, t, DOWN) D(2, kind##_shuffle_rotate_up_##t, t, ROTATE_UP)        \
    D(2, kind##_shuffle_rotate_down_##t, t, ROTATE_DOWN)                                           \
    D(4, kind##_shuffle_and_fill_up_##t, t, FILL_UP)                                               \
    D(4, kind##_shuffle_and_fill_down_##t, t, FILL_DOWN)                                           \
    D(1, kind##_broadcast_first_##t, t, FIRST)
#define EACH(D)                                                                                    \
    EACH_REDUCTION(D, simd, i32) EACH_REDUCTION(D, simd, u32) EACH_REDUCTION(D, simd, i64)         \
    EACH_REDUCTION(D, simd, u64) EACH_REDUCTION(D, simd, f32) EACH_REDUCTION(D, quad, i32)         \
    EACH_REDUCTION(D, quad, u32) EACH_REDUCTION(D, quad, i64) EACH_REDUCTION(D, quad, u64)         \
    EACH_REDUCTION(D, quad, f32) EACH_OF_BITS(D, simd, i32) EACH_OF_BITS(D, simd, u32)             \
    EACH_OF_BITS(D, simd, i64) EACH_OF_BITS(D, simd, u64) EACH_OF_BITS(D, quad, i32)               \
    EACH_OF_BITS(D, quad, u32) EACH_OF_BITS(D, quad, i64) EACH_OF_BITS(D, quad, u64)               \
    EACH_SCAN(D, i32) EACH_SCAN(D, u32) EACH_SCAN(D, i64) EACH_SCAN(D, u64) EACH_SCAN(D, f32)      \
    EACH_SHUFFLE(D, simd, i32) EACH_SHUFFLE(D, simd, i64) EACH_SHUFFLE(D, simd, f32)               \
    EACH_SHUFFLE(D, quad, i32) EACH_SHUFFLE(D, quad, i64) EACH_SHUFFLE(D, quad, f32)
// clang-format on
#define DEFINE(n, name, t, what) FUNCTION##n(name, t)
EACH(DEFINE)
static const struct {
    const char *name;
    void (*call)(void);
    Type type;
    What what;
} functions[] = {
#define ROW(n, name, t, what) {#name, call_##name, T_##t, what},
    EACH(ROW)};

static double number(Type t, u64 x) {
    return t == T_f32   ? (double)from_bits_f32(x)
           : t == T_i32 ? (double)(i32)x
           : t == T_u32 ? (double)(u32)x
           : t == T_i64 ? (double)(i64)x
                        : (double)x;
}
static u64 combine(What what, Type t, u64 a, u64 b) {
    _Bool less = number(t, b) < number(t, a);
    f32 x = from_bits_f32(a), y = from_bits_f32(b);
    switch (what) {
    case SUM: return t == T_f32 ? to_bits_f32(x + y) : a + b;
    case PRODUCT: return t == T_f32 ? to_bits_f32(x * y) : a * b;
    case MIN: return less ? b : a;
    case MAX: return less ? a : b;
    case AND: return a & b;
    case OR: return a | b;
    default: return a ^ b;
    }
}

// What lane l, of a group of `size` with this mask, gets.
static u64 wanted(What what, Type t, u32 l, u32 size, u32 mask) {
    u32 first = l & ~(size - 1), i = l - first, from = 0;
    u32 m = in.m == 0 || in.m > size || (in.m & (in.m - 1)) ? size : in.m;
    _Bool fill = 0, some = 0;
    u64 r = 0;
    if (what <= XOR) {
        for (u32 k = first; k < first + size; k++)
            if (mask >> k & 1) r = some ? combine(what, t, r, in.x[k]) : in.x[k], some = 1;
        return r;
    }
    if (what <= SCAN_PRODUCT_EX) {
        What op = what <= SCAN_SUM_EX ? SUM : PRODUCT;
        r = op == SUM ? 0 : t == T_f32 ? to_bits_f32(1) : 1;
        for (u32 k = 0; k < l + (what == SCAN_SUM || what == SCAN_PRODUCT); k++)
            if (mask >> k & 1) r = combine(op, t, r, in.x[k]);
        return r;
    }
    switch (what) {
    case SHUFFLE_XOR: from = (i ^ in.n) % size; break;
    case UP: from = i >= in.n ? i - in.n : i; break;
    case DOWN: from = in.n < size - i ? i + in.n : i; break;
    case ROTATE_UP: from = (i - in.n) % size; break;
    case ROTATE_DOWN: from = (i + in.n) % size; break;
    case FILL_UP: fill = i % m < in.n, from = i / m * m + (i % m + m - in.n) % m; break;
    case FILL_DOWN: fill = i % m + in.n >= m, from = i / m * m + (i % m + in.n) % m; break;
    case FIRST:
        while (!(mask >> (first + from) & 1)) from++;
        break;
    default: from = in.n % size;
    }
    return mask >> (first + from) & 1 ? (fill ? in.fill : in.x)[first + from] : 0;
}

static u64 whole(Type t, u64 x) { // without the bits that the type does not have
    return t == T_i32 || t == T_u32 || t == T_f32 ? (u32)x : x;
}
static _Bool is_right(Type t, What what, u64 got, u64 want) {
    if (t != T_f32 || what > SCAN_PRODUCT_EX) return whole(t, got) == whole(t, want);
    double a = number(t, got), b = number(t, want);
    return fabs(a - b) <= 1e-5 * fabs(b) + 1e-6;
}

static void fill_in(Type t, u32 seed) {
    u32 s = seed * 2654435761u + 1;
    for (u32 l = 0; l < 32; l++) {
        s = s * 1664525u + 1013904223u;
        u64 bits = (u64)s << 32 | (s * 40503u);
        in.x[l] = t == T_f32 ? to_bits_f32((f32)(s >> 16) / 65536 + 0.5f) : bits;
        in.fill[l] = t == T_f32 ? to_bits_f32((f32)(s >> 20)) : ~bits;
        in.out[l] = 0;
    }
    if (t == T_i32) // as the library sees them: extended with their sign
        for (u32 l = 0; l < 32; l++) in.x[l] = (u64)(i32)in.x[l];
}

// The lanes of `one` are on one side of a branch, those of `other` on the other.
static void check_all(u32 one, u32 other) {
    for (size_t f = 0; f < sizeof functions / sizeof *functions; f++) {
        u32 size = strncmp(functions[f].name, "quad", 4) ? 32 : 4;
        Type t = functions[f].type;
        fill_in(t, (u32)f);
        in.n = (u32)f % 5 + (size == 32 ? (u32)f % 3 * 7 : 0) % size;
        in.m = (u32[]){0, 2, 4, 8, 16, 3}[f % 6];
        if (functions[f].what >= FILL_UP && in.n >= 2)
            in.n %= in.m > 1 && in.m <= size ? in.m : size;
        for (u32 l = 0; l < 32; l++) in.mask[l] = one >> l & 1 ? one : other;
        assert_true(run_warp(one | other, functions[f].call));
        for (u32 l = 0; l < 32; l++) {
            if (!((one | other) >> l & 1)) continue;
            u64 want = wanted(functions[f].what, t, l, size, in.mask[l]);
            if (is_right(t, functions[f].what, in.out[l], want)) continue;
            printf("%s, lane %u, mask %08x, n %u, m %u: %llx, not %llx\n", functions[f].name, l,
                   in.mask[l], in.n, in.m, (unsigned long long)in.out[l], (unsigned long long)want);
            assert_true(0);
        }
    }
}

TEST(all_lanes) { check_all(ALL_LANES, 0); }
TEST(first_lanes) { check_all(0x1fff, 0); }
TEST(one_lane) { check_all(1u << 9, 0); }
TEST(divergent_lanes) {
    check_all(0x92492492, 0x6db6db6d & 0x00ffffff);
    check_all(0xf0f0f0f0, 0x0f0f0f0f);
}

static u64 votes[32][9];
static void vote(void) {
    u32 l = lane(), m = in.mask[l];
    _Bool x = in.x[l] & 1;
    u64 *v = votes[l];
    v[0] = ingot_masked_simd_ballot(m, x), v[1] = ingot_masked_quad_ballot(m, x);
    v[2] = ingot_masked_simd_all(m, x), v[3] = ingot_masked_simd_any(m, x);
    v[4] = ingot_masked_quad_all(m, x), v[5] = ingot_masked_quad_any(m, x);
    v[6] = ingot_masked_simd_is_first(m), v[7] = ingot_masked_quad_is_first(m);
    v[8] = ingot_masked_simd_active_mask(m) << 8 | ingot_masked_quad_active_mask(m);
    ingot_masked_simdgroup_barrier(m, 0);
}
TEST(votes_of_lanes) {
    static const u32 sides[][2] = {{ALL_LANES, 0}, {0x0000beef, 0xffff0000}, {1, 0xff00}};
    static const u32 patterns[] = {0, ALL_LANES, 0x12345678, 0x0000beef};
    for (size_t i = 0; i < 12; i++) {
        const u32 *side = sides[i / 4], yes = patterns[i % 4];
        for (u32 l = 0; l < 32; l++) {
            in.x[l] = yes >> l & 1;
            in.mask[l] = side[0] >> l & 1 ? side[0] : side[1];
        }
        assert_true(run_warp(side[0] | side[1], vote));
        for (u32 l = 0; l < 32; l++) {
            if (!((side[0] | side[1]) >> l & 1)) continue;
            u32 m = in.mask[l], q = l & ~3u, on = m >> q & 15, four = yes >> q & on;
            assert_true(votes[l][0] == (yes & m) && votes[l][1] == four);
            assert_true(votes[l][2] == ((yes & m) == m) && votes[l][3] == ((yes & m) != 0));
            assert_true(votes[l][4] == (four == on) && votes[l][5] == (four != 0));
            assert_true(votes[l][6] == ((m & ((1u << l) - 1)) == 0));
            assert_true(votes[l][7] == ((on & ((1u << (l - q)) - 1)) == 0));
            assert_true(votes[l][8] == ((u64)m << 8 | on));
        }
    }
}

// ---- positions ----

static u32 places[32][RF_N_BUILTINS][3], all[32];
static _Bool left[32];
static void place(void) {
    u32 l = lane();
    left[l] = ingot_outside();
    if (left[l]) return;
    all[l] = ingot_all_lanes();
    for (u32 b = 0; b < RF_N_BUILTINS; b++)
        for (u32 d = 0; d < 3; d++) places[l][b][d] = ingot_position(b, d);
}
TEST(positions_in_line) {
    // 21 x 10 threads in groups of 8 x 4: the last ones are 5 x 2.
    grid = (CudaGrid){.threads = {21, 10, 1},
                      .groups = {3, 3, 1},
                      .first = {0, 1, 0},
                      .size = {8, 4, 1},
                      .origin = {7, 8, 9},
                      .region = {1, 2, 3}};
    line = 1;
    memcpy(warp.block, (u32[3]){2, 1, 0}, sizeof warp.block);
    assert_true(run_warp(ALL_LANES, place));
    for (u32 l = 0; l < 32; l++) {
        assert_true(left[l] == (l >= 10));
        if (left[l]) continue;
        u32(*p)[3] = places[l], x = l % 5, y = l / 5;
        assert_true(all[l] == 0x3ff);
        assert_true(p[RF_THREAD_POSITION_IN_THREADGROUP][0] == x &&
                    p[RF_THREAD_POSITION_IN_THREADGROUP][1] == y);
        assert_true(p[RF_THREAD_POSITION_IN_GRID][0] == 16 + x &&
                    p[RF_THREAD_POSITION_IN_GRID][1] == 8 + y);
        assert_true(p[RF_THREAD_INDEX_IN_THREADGROUP][0] == l &&
                    p[RF_THREAD_INDEX_IN_SIMDGROUP][0] == l);
        assert_true(p[RF_THREADGROUP_POSITION_IN_GRID][0] == 2 &&
                    p[RF_THREADGROUP_POSITION_IN_GRID][1] == 2);
        assert_true(p[RF_THREADS_PER_THREADGROUP][0] == 5 && p[RF_THREADS_PER_THREADGROUP][1] == 2);
        assert_true(p[RF_DISPATCH_THREADS_PER_THREADGROUP][0] == 8 &&
                    p[RF_THREADS_PER_GRID][1] == 10);
        assert_true(p[RF_THREADGROUPS_PER_GRID][1] == 3 && p[RF_GRID_ORIGIN][2] == 9);
        assert_true(p[RF_GRID_SIZE][1] == 2 && p[RF_SIMDGROUPS_PER_THREADGROUP][0] == 1);
        assert_true(p[RF_QUADGROUPS_PER_THREADGROUP][0] == 3 &&
                    p[RF_QUADGROUP_INDEX_IN_THREADGROUP][0] == l / 4);
        assert_true(p[RF_DISPATCH_QUADGROUPS_PER_THREADGROUP][0] == 8 &&
                    p[RF_THREAD_EXECUTION_WIDTH][0] == 32);
    }
}
TEST(positions_in_a_block) { // of 32 x 1 threads of a group of 48 x 2, the second row
    grid = (CudaGrid){.threads = {40, 2, 1}, .groups = {1, 1, 1}, .size = {48, 2, 1}};
    line = 0;
    memset(warp.block, 0, sizeof warp.block);
    warp.thread[0] = 16, warp.thread[1] = 1;
    assert_true(run_warp(ALL_LANES, place));
    for (u32 l = 0; l < 32; l++) {
        assert_true(left[l] == (16 + l >= 40));
        if (left[l]) continue;
        assert_true(places[l][RF_THREAD_POSITION_IN_GRID][0] == 16 + l &&
                    places[l][RF_THREAD_POSITION_IN_GRID][1] == 1);
        assert_true(places[l][RF_THREAD_INDEX_IN_THREADGROUP][0] == 40 + 16 + l);
    }
    memset(warp.thread, 0, sizeof warp.thread);
}
// ---- pools of texture views ----

TEST(views) {
    static u64 table[8] = {0, 0x1000, 0, 0x2000};
    const u64 texture = 0x0005302000400ull, first = ABI_TEXTURE_POOLED;
    grid = (CudaGrid){0};
    assert_true(ingot_live_view(texture) == texture && ingot_live_view(0) == 0);
    assert_true(ingot_live_view(first + 1) == 0); // there is no pool
    memcpy(grid.views, &(const u64 *){table}, sizeof grid.views);
    assert_true(ingot_live_view(first + 1) == 0x1000 && ingot_live_view(first + 3) == 0x2000);
    assert_true(ingot_live_view(first) == 0 && ingot_live_view(first + 2) == 0);
    assert_true(ingot_live_view(texture | ABI_TEXTURE_RESIDENCY) ==
                (texture | ABI_TEXTURE_RESIDENCY));
    assert_true(ingot_live_view((first + 3) | ABI_TEXTURE_RESIDENCY) ==
                (0x2000 | ABI_TEXTURE_RESIDENCY));
    assert_true(ingot_live_view(first | ABI_TEXTURE_RESIDENCY) == 0);
}
TEST(positions_in_bands) { // every threadgroup once, and those of a band before the next
    enum { W = 25, H = 37 };
    static u32 seen[H][W];
    memset(seen, 0, sizeof seen);
    bands = 1;
    for (u32 y = 0; y < H; y++)
        for (u32 x = 0; x < W; x++) {
            grid = (CudaGrid){.first = {0, 100, 0}}; // a piece of a larger grid
            warp.blocks[0] = W, warp.blocks[1] = H;
            memcpy(warp.block, (u32[3]){x, y, 0}, sizeof warp.block);
            u32 column = group_at(0), row = group_at(1) - 100;
            assert_true(column < W && row < H && row / 16 == (y * W + x) / (16 * W));
            seen[row][column]++;
        }
    for (u32 y = 0; y < H; y++)
        for (u32 x = 0; x < W; x++) assert_true(seen[y][x] == 1);
    warp.blocks[0] = 0x7fffffff, warp.block[0] = 0x7ffffffe; // too many for that: as they are
    assert_true(group_at(0) == 0x7ffffffe && group_at(1) == 100 + H - 1);
    memset(warp.block, 0, sizeof warp.block);
    bands = 0;
}

// ---- matrices ----

static f32 A[8][8], B[8][8], C[8][8], D[8][8];
static _Bool halves;
static void multiply_in_metal(void) {
    u32 t = lane(), r = (t / 4 & 4) + (t / 2 & 3), c = (t / 4 & 2) * 2 + (t & 1) * 2;
    f32x2 a = {A[r][c], A[r][c + 1]}, b = {B[r][c], B[r][c + 1]}, s = {C[r][c], C[r][c + 1]};
    f32x2 d =
        halves ? ingot_mma_halves(a, b, s) : ingot_masked_simdgroup_mma_f32(ALL_LANES, a, b, s);
    D[r][c] = d[0], D[r][c + 1] = d[1];
}
static void check_product(f32 scale, double tolerance) {
    for (int i = 0; i < 64; i++) {
        A[i / 8][i % 8] = (f32)(i * 37 % 101 - 50) / scale;
        B[i / 8][i % 8] = (f32)(i * 53 % 97 - 48) / scale;
        C[i / 8][i % 8] = (f32)(i % 11);
    }
    assert_true(run_warp(ALL_LANES, multiply_in_metal));
    for (int r = 0; r < 8; r++)
        for (int c = 0; c < 8; c++) {
            double sum = C[r][c];
            for (int k = 0; k < 8; k++) sum += (double)A[r][k] * B[k][c];
            assert_true(fabs(sum - D[r][c]) <= tolerance);
        }
}
TEST(matrices_of_floats) { check_product(33, 2e-5); }
TEST(matrices_of_halves) {
    halves = 1;
    check_product(64, 1e-5);
}

int main(void) { return unit_run(NULL, NULL); }
