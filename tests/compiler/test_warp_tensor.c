// SPDX-License-Identifier: Apache-2.0
// Operations on tensors of the GPU's device library on the host: products and convolutions of all
// types, by several SIMD-groups, from global and shared memory and from cooperative tensors of each
// layout, with edges and odd strides, against plain loops in double precision.
#define INGOT_WARP "warp.h"
#include "../../src/compiler/codegen/nvptx/library/position.c"
#include "../../src/compiler/codegen/nvptx/library/matmul.c"
#include "../../src/compiler/codegen/nvptx/library/convolution.c"
#include "../unit.h"
#include <math.h>
#include <stdio.h>

static CudaGrid grid;
u32 ingot_grid(u32 word) { return ((const u32 *)&grid)[word]; }
_Bool ingot_in_line(void) { return 1; }
u32 ingot_constant(u32 parameter) { return parameter + 100; }
_Bool ingot_in_bands(void) { return 0; }

enum {
    F32 = ABI_TENSOR_FLOAT32,
    F16 = ABI_TENSOR_FLOAT16,
    BF16 = ABI_TENSOR_BFLOAT16,
    I32 = ABI_TENSOR_INT32,
    I8 = ABI_TENSOR_INT8,
    U8 = ABI_TENSOR_UINT8,
    I4 = ABI_TENSOR_INT4,
    U4 = ABI_TENSOR_UINT4
};
enum {
    MEMORY = 0,
    IN_ORDER = 1,
    TILES = TENSOR_TILES,
    FRAGMENTS = TENSOR_FRAGMENTS,
    PERMUTED = 1009
};

static u32 seed;
static u32 next(void) { return (seed = seed * 1664525 + 1013904223) >> 8; }

static double get(const void *p, u32 type, i64 i) { // by itself, not by the library's functions
    switch (type) {
    case F32: return ((const f32 *)p)[i];
    case I32: return ((const i32 *)p)[i];
    case F16: return half_of(((const u16 *)p)[i]);
    case BF16: return float_of((u32)((const u16 *)p)[i] << 16);
    case I8: return ((const int8_t *)p)[i];
    case U8: return ((const u8 *)p)[i];
    case I4: return (int8_t)(((const u8 *)p)[i / 2] >> i % 2 * 4 << 4) >> 4;
    default: return ((const u8 *)p)[i / 2] >> i % 2 * 4 & 15;
    }
}
static void set(void *p, u32 type, i64 i, f32 x) { // numbers of few bits
    u8 *nibbles = p;
    switch (type) {
    case F32: ((f32 *)p)[i] = x; break;
    case I32: ((i32 *)p)[i] = (i32)x; break;
    case F16: ((u16 *)p)[i] = (u16)to_half(x); break;
    case BF16: ((u16 *)p)[i] = (u16)(bits_of(x) >> 16); break;
    case I8: ((int8_t *)p)[i] = (int8_t)x; break;
    case U8: ((u8 *)p)[i] = (u8)x; break;
    default:
        nibbles[i / 2] =
            (u8)((nibbles[i / 2] & 15 << (i + 1) % 2 * 4) | ((i32)x & 15) << i % 2 * 4);
    }
}
static f32 number(u32 type) {
    i32 x = (i32)(next() % 201) - 100;
    switch (type) {
    case F32: return (f32)x / 7;
    case F16: return (f32)(x ? x : 1) / 64;
    case BF16: return (f32)(x ? x : 1) / 32;
    case I4: return (f32)(x % 8);
    case U4: return (f32)(x & 15);
    case U8: return (f32)(x & 127);
    default: return (f32)x;
    }
}

// ---- a matrix: in memory, or spread over the threads ----

enum { MAX_ELEMENTS = 128 * 160 };
typedef struct Matrix {
    u32 type, layout, capacity;
    i32 rows, cols; // in memory: that exist
    i64 row, col;
    _Alignas(16) u8 bytes[MAX_ELEMENTS * 4];
    _Alignas(16) u8 held[THREADS][1024];
    u8 *data;
} Matrix;
static Matrix A, B, C;

static struct {
    i32 m, n, k, share;
    u32 groups, stages, flags;
    _Bool near;
} now;

static i64 place(const Matrix *x, i32 r, i32 c) { return r * x->row + c * x->col; }

// Spread over a SIMD-group, the position of element e of lane l, as the headers say it.
static u32 position_of(const Matrix *x, u32 columns, u32 e, u32 l) {
    if (tensor_kind(x->layout) != TENSOR_TILES) return tensor_position(x->layout, e * 32 + l);
    return (e / 4 / (columns / 8) * 16 + (e / 2 & 1) * 8 + l / 4) * columns +
           e / 4 % (columns / 8) * 8 + l % 4 * 2 + (e & 1);
}
static void lay_out(Matrix *x, u32 type, u32 kind, i32 rows, i32 cols, _Bool transposed, i32 gap,
                    u32 groups) {
    *x = (Matrix){.type = type, .rows = rows, .cols = cols, .data = x->bytes};
    i32 line = (transposed ? rows : cols) + gap;
    x->row = transposed ? 1 : line, x->col = transposed ? line : 1;
    for (i32 r = 0; r < rows; r++)
        for (i32 c = 0; c < cols; c++) set(x->bytes, type, place(x, r, c), number(type));
    if (kind == MEMORY) return;
    i32 share = (rows + (i32)groups - 1) / (i32)groups;
    x->capacity = (u32)(share * cols + 31) / 32;
    if (kind == FRAGMENTS) kind += (u32)(transposed ? cols : rows) / 16;
    x->layout = x->capacity | kind << 16;
    u32 columns = (u32)(transposed ? rows : cols);
    for (u32 t = 0; t < groups * 32; t++)
        for (u32 e = 0; e < x->capacity; e++) {
            u32 at = position_of(x, columns, e, t % 32), first = t / 32 * (u32)share * columns;
            if (at >= (u32)share * columns || at + first >= (u32)(rows * cols)) continue;
            set(x->held[t], type, e, (f32)get(x->bytes, type, at + first));
        }
}
static void take_back(Matrix *x, u32 groups) { // from the threads
    i32 share = (x->rows + (i32)groups - 1) / (i32)groups;
    for (u32 t = 0; x->layout && t < groups * 32; t++)
        for (u32 e = 0; e < x->capacity; e++) {
            u32 columns = (u32)x->cols, at = position_of(x, columns, e, t % 32),
                first = t / 32 * (u32)share * columns;
            if (at >= (u32)share * columns || at + first >= (u32)(x->rows * x->cols)) continue;
            u32 bytes = x->type == F32 || x->type == I32 ? 4 : 2;
            memcpy(x->bytes + (at + first) * bytes, x->held[t] + e * bytes, bytes);
        }
}
static void *operand(Matrix *x) { return x->layout ? x->held[warp.self] : x->data; }

static void multiply_here(void) {
    i32 first = (i32)(warp.self / 32) * now.share, left = now.m - first;
    u8 *c = operand(&C);
    u32 bytes = C.type == F32 || C.type == I32 ? 4 : 2;
    if (!C.layout) c += first * C.row * bytes;
    ingot_tensor_matmul(operand(&A), A.row, A.col, A.rows, A.cols, operand(&B), B.row, B.col,
                        B.rows, B.cols, c, C.row, C.col, C.rows, C.cols, first,
                        left < now.share ? left : now.share, now.n, now.k,
                        A.type | B.type << 8 | C.type << 16, now.flags, A.layout, B.layout,
                        C.layout, now.m, now.groups, now.stages, 0);
}

static double before[MAX_ELEMENTS];
static void check_product(const char *what, double tolerance) {
    now.share = (now.m + (i32)now.groups - 1) / (i32)now.groups;
    for (i32 r = 0; r < C.rows; r++)
        for (i32 c = 0; c < C.cols; c++)
            before[r * C.cols + c] = get(C.bytes, C.type, place(&C, r, c));
    if (now.near) { // both in shared memory
        memcpy(warp.shared, A.bytes, 65536), memcpy(warp.shared + 65536, B.bytes, 65536);
        A.data = warp.shared, B.data = warp.shared + 65536;
    }
    grid = (CudaGrid){.threads = {now.groups * 32, 1, 1},
                      .groups = {1, 1, 1},
                      .size = {now.groups * 32, 1, 1},
                      .whole = 1};
    assert_true(run_block(now.groups, ALL_LANES, multiply_here));
    take_back(&C, now.groups);
    for (i32 r = 0; r < C.rows; r++)
        for (i32 c = 0; c < C.cols; c++) {
            double sum = now.flags & CPU_MATMUL_ACCUMULATE ? before[r * C.cols + c] : 0, size = 1;
            for (i32 k = 0; k < now.k && k < A.cols && k < B.rows; k++) {
                if (r >= A.rows || c >= B.cols) continue;
                double p =
                    get(A.bytes, A.type, place(&A, r, k)) * get(B.bytes, B.type, place(&B, k, c));
                sum += p, size += fabs(p);
            }
            if (r >= now.m || c >= now.n) sum = before[r * C.cols + c];
            double is = get(C.bytes, C.type, place(&C, r, c));
            if (!(fabs(is - sum) <= tolerance * size)) {
                fprintf(stderr, "%s: (%d, %d) is %.9g, not %.9g\n", what, r, c, is, sum);
                fail();
            }
        }
}
static void make(u32 ta, u32 tb, u32 tc, i32 m, i32 n, i32 k, u32 groups) {
    now.m = m, now.n = n, now.k = k, now.groups = groups, now.stages = 0, now.flags = 0,
    now.near = 0;
    seed = (u32)(m * 31 + n * 7 + k);
    lay_out(&A, ta, MEMORY, m, k, 0, 0, 1);
    lay_out(&B, tb, MEMORY, k, n, 0, 0, 1);
    lay_out(&C, tc, MEMORY, m, n, 0, 0, groups);
}

TEST(products_of_all_types) {
    static const struct {
        u32 a, b, c;
        double tolerance;
    } types[] = {{F16, F16, F32, 1e-6}, {BF16, BF16, F32, 1e-6}, {F32, F32, F32, 1e-6},
                 {F16, F32, F32, 1e-6}, {F16, BF16, F32, 1e-6},  {I8, I8, I32, 0},
                 {U8, U8, I32, 0},      {I8, I4, I32, 0},        {U8, U4, I32, 0},
                 {F16, I8, F32, 1e-6},  {I8, F16, F32, 1e-6},    {BF16, U4, F32, 1e-6},
                 {F16, I4, F16, 2e-3},  {F16, F16, F16, 2e-3},   {BF16, BF16, BF16, 1e-2},
                 {F32, U8, F32, 1e-6}};
    for (size_t i = 0; i < sizeof types / sizeof *types; i++) {
        char what[64];
        snprintf(what, sizeof what, "types %u %u %u", types[i].a, types[i].b, types[i].c);
        make(types[i].a, types[i].b, types[i].c, 19, 21, 37, 1);
        check_product(what, types[i].tolerance);
        now.flags = CPU_MATMUL_ACCUMULATE;
        check_product(what, types[i].tolerance);
    }
}
TEST(products_with_edges_and_strides) {
    make(F16, F16, F32, 40, 24, 20, 2);
    lay_out(&A, F16, MEMORY, 33, 17, 1, 3, 1); // less than the tile, transposed
    lay_out(&B, F16, MEMORY, 20, 15, 1, 5, 1);
    lay_out(&C, F32, MEMORY, 35, 30, 0, 2, 2); // rows cut, columns beyond the tile stay
    check_product("edges", 1e-6);
    make(F16, F16, F32, 64, 128, 32, 1); // two panels
    check_product("panels", 1e-6);
}
TEST(products_from_cooperative_tensors) {
    static const u32 kinds[] = {IN_ORDER, FRAGMENTS, PERMUTED, TILES};
    for (u32 i = 0; i < 4; i++)
        for (u32 turned = 0; turned < 2; turned++) {
            char what[64];
            snprintf(what, sizeof what, "kind %u, transposed %u", kinds[i], turned);
            make(F16, F16, F32, 32, 16, 32, 1);
            lay_out(&A, F16, kinds[i], 32, 32, turned, 0, 1);
            lay_out(&B, F16, kinds[i], 32, 16, turned, 0, 1);
            check_product(what, 1e-6);
            make(F32, F32, F32, 16, 16, 16, 1);
            lay_out(&A, F32, kinds[i], 16, 16, 0, 0, 1);
            lay_out(&B, F32, kinds[i], 16, 16, turned, 0, 1);
            check_product(what, 1e-6);
        }
}
TEST(products_into_cooperative_tensors) {
    static const u32 kinds[] = {IN_ORDER, FRAGMENTS, PERMUTED, TILES};
    for (u32 i = 0; i < 4; i++)
        for (u32 adds = 0; adds < 2; adds++) {
            char what[64];
            snprintf(what, sizeof what, "into kind %u, adds %u", kinds[i], adds);
            make(F16, F16, F32, 32, 48, 16, 1);
            lay_out(&C, F32, kinds[i], 32, 48, 0, 0, 1);
            now.flags = adds;
            check_product(what, 1e-6);
        }
    make(I8, I8, I32, 20, 12, 40, 2); // odd sizes, two SIMD-groups
    lay_out(&C, I32, IN_ORDER, 20, 12, 0, 0, 2);
    check_product("odd sizes", 0);
    make(F32, F32, F16, 64, 16, 16, 4);
    lay_out(&C, F16, TILES, 64, 16, 0, 0, 4);
    check_product("tiles of halves", 2e-3);
}
TEST(products_from_shared_memory) {
    for (u32 way = 0; way < 4; way++) {
        make(F16, F16, F32, 32, 48, 64, 2);
        lay_out(&A, F16, MEMORY, 32, 64, way & 1, 8, 1);
        lay_out(&B, F16, MEMORY, 64, 48, way >> 1, 8, 1);
        now.near = 1;
        check_product("near", 1e-6);
    }
}
TEST(products_through_shared_memory) {
    static const u32 types[] = {F16, BF16, F32};
    for (u32 t = 0; t < 3; t++)
        for (u32 way = 0; way < 4; way++)
            for (u32 groups = 1; groups <= 4; groups *= 4) {
                char what[64];
                snprintf(what, sizeof what, "staged type %u, way %u, groups %u", types[t], way,
                         groups);
                make(types[t], types[t], F32, 64, 80, 104, groups);
                lay_out(&A, types[t], MEMORY, 56, 104, way & 1, 8, 1); // rows cut
                lay_out(&B, types[t], MEMORY, 104, 72, way >> 1, 8, 1);
                lay_out(&C, F32, way == 1 ? TILES : MEMORY, 64, 80, 0, 0, groups);
                now.stages = 2 + way % 3;
                memset(warp.shared, 0x7e, sizeof warp.shared); // not numbers
                check_product(what, 1e-6);
            }
}

// ---- convolutions ----

static struct {
    u32 types[3], layout, flags, groups;
    i32 source[4], weights[4], to[4], size[4], offset[2], step[2], dilation[2];
    i64 ss[4], ws[4], ts[4];
    _Alignas(16) u8 bytes[3][65536];
    u8 held[THREADS][1024];
} conv;

static void strides(i64 *s, const i32 *e, i32 gap) {
    s[0] = 1, s[1] = e[0] + gap, s[2] = s[1] * e[1], s[3] = s[2] * e[2];
}
static void convolve_here(void) {
    i32 positions = conv.size[1] * conv.size[2] * conv.size[3],
        share = (positions + (i32)conv.groups - 1) / (i32)conv.groups,
        first = (i32)(warp.self / 32) * share, left = positions - first;
    const i32 *e = conv.layout ? conv.size : conv.to;
#define FOUR(x) x[0], x[1], x[2], x[3]
    ingot_tensor_convolution(
        conv.bytes[0], FOUR(conv.source), FOUR(conv.ss), conv.bytes[1], FOUR(conv.weights),
        FOUR(conv.ws), conv.layout ? conv.held[warp.self] : conv.bytes[2], FOUR(e), FOUR(conv.ts),
        FOUR(conv.size), conv.offset[0], conv.offset[1], conv.step[0], conv.step[1],
        conv.dilation[0], conv.dilation[1], first, left < share ? left : share,
        conv.types[0] | conv.types[1] << 8 | conv.types[2] << 16, conv.flags, conv.layout);
}
static double convolved(i32 o, i32 x, i32 y, i32 image, double *size) {
    double sum = 0;
    *size = 1;
    for (i32 ky = 0; ky < conv.weights[3]; ky++)
        for (i32 kx = 0; kx < conv.weights[2]; kx++) {
            i32 sx = x * conv.step[0] + kx * conv.dilation[0] + conv.offset[0],
                sy = y * conv.step[1] + ky * conv.dilation[1] + conv.offset[1];
            if (sx < 0 || sx >= conv.source[1] || sy < 0 || sy >= conv.source[2]) continue;
            for (i32 c = 0; c < conv.source[0] && c < conv.weights[1]; c++) {
                double p =
                    get(conv.bytes[0], conv.types[0],
                        c * conv.ss[0] + sx * conv.ss[1] + sy * conv.ss[2] + image * conv.ss[3]) *
                    get(conv.bytes[1], conv.types[1],
                        o * conv.ws[0] + c * conv.ws[1] + kx * conv.ws[2] + ky * conv.ws[3]);
                sum += p, *size += fabs(p);
            }
        }
    return sum;
}
static void check_convolution(u32 ta, u32 tw, u32 tc, u32 kind, i32 channels, u32 groups,
                              double tolerance) {
    conv.types[0] = ta, conv.types[1] = tw, conv.types[2] = tc, conv.groups = groups,
    conv.flags = 0;
    memcpy(conv.source, (i32[]){5, 9, 7, 2}, 16),
        memcpy(conv.weights, (i32[]){channels, 5, 3, 2}, 16);
    memcpy(conv.size, (i32[]){channels, 4, 4, 2}, 16),
        memcpy(conv.to, (i32[]){channels, 4, 3, 2}, 16);
    memcpy(conv.offset, (i32[]){-1, -1}, 8), memcpy(conv.step, (i32[]){2, 1}, 8);
    memcpy(conv.dilation, (i32[]){1, 2}, 8);
    strides(conv.ss, conv.source, 1), strides(conv.ws, conv.weights, 0),
        strides(conv.ts, conv.to, 2);
    seed = 5;
    for (i64 i = 0; i < 6 * 9 * 7 * 2; i++) set(conv.bytes[0], ta, i, number(ta));
    for (i64 i = 0; i < channels * 5 * 6; i++) set(conv.bytes[1], tw, i, number(tw));
    u32 share = 32 / groups, capacity = (share * (u32)channels + 31) / 32;
    conv.layout = kind ? capacity | kind << 16 : 0;
    assert_true(run_block(groups, ALL_LANES, convolve_here));
    for (i32 p = 0; p < 32; p++)
        for (i32 o = 0; o < channels; o++) {
            i32 x = p % 4, y = p / 4 % 4, image = p / 16;
            u8 *at = conv.bytes[2];
            i64 i = o + x * conv.ts[1] + y * conv.ts[2] + image * conv.ts[3];
            if (kind) {
                Place q = place_of(conv.layout, (u32)p % share, (u32)o, (u32)channels);
                at = conv.held[(u32)p / share * 32 + q.lane], i = q.element;
            } else if (y >= 3) {
                continue;
            }
            double size, want = convolved(o, x, y, image, &size), is = get(at, tc, i);
            if (!(fabs(want - is) <= tolerance * size)) {
                fprintf(stderr, "convolution of %u at %d, channel %d: %.9g, not %.9g\n", ta, p, o,
                        is, want);
                fail();
            }
        }
}
TEST(convolutions) {
    check_convolution(F16, F16, F32, MEMORY, 20, 1, 1e-6);
    check_convolution(F32, F32, F32, MEMORY, 12, 2, 1e-6);
    check_convolution(I8, I8, I32, MEMORY, 8, 1, 0);
    check_convolution(F16, F16, F32, TILES, 24, 2, 1e-6);
    check_convolution(BF16, BF16, F32, IN_ORDER, 20, 1, 1e-6);
}

int main(void) { return unit_run(NULL, NULL); }
