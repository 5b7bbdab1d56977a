// SPDX-License-Identifier: Apache-2.0
// kernel.h: what a test kernel in C sees. It is compiled twice: to native code that runs one thread
// at a time (the reference; harness.c answers the calls) and to IR that the vectoriser turns into
// SIMD-groups.
#ifndef FUZZ_KERNEL_H
#define FUZZ_KERNEL_H
#define KARGS const float *a, const float *b, float *c, int *p, int *q, int n, int w, int h
typedef struct Args {
    const float *a, *b;
    float *c;
    int *p, *q;
    int n, w, h;
} Args;
typedef float f2 __attribute__((ext_vector_type(2)));
typedef float f3 __attribute__((ext_vector_type(3)));
typedef float f4 __attribute__((ext_vector_type(4)));
typedef unsigned char u4 __attribute__((ext_vector_type(4)));
typedef int i4 __attribute__((ext_vector_type(4)));
#define PURE __attribute__((const, nothrow))
// nomerge: or the optimiser would move SIMD-group functions across branches
#define TOGETHER __attribute__((convergent, nomerge, nothrow))
int __ingot_position(int builtin, int dim) PURE;
#define GID(d) __ingot_position(0, d)
#define TID(d) __ingot_position(1, d)
// Number of the first thread of a grid row: y and z are numbered through (grids of at most 6,144
// threads).
#define ROW(y) ((GID(2) * __ingot_position(6, 1) + (y)) * __ingot_position(6, 0))
#define ATOMIC(op, at, v) __atomic_fetch_##op(&q[at], (int)(v), __ATOMIC_RELAXED)
#define INDEX() __ingot_position(2, 0)
#define LANE() __ingot_position(10, 0)
#define SIMDGROUP() __ingot_position(11, 0)
#define QUAD_LANE() __ingot_position(16, 0)
// clang-format off: lists of macros
#define EACH_INT(X, name) \
    X(name, i32, int) X(name, u32, unsigned) X(name, i64, long) X(name, u64, unsigned long)
#define EACH_TYPE(X, name) EACH_INT(X, name) X(name, f32, float)
#define EACH_MOVE(X, name) X(name, i32, int) X(name, i64, long) X(name, f32, float)
#define DECLARE1(name, s, T) T __ingot_##name##_##s(T) TOGETHER;
#define DECLARE2(name, s, T) T __ingot_##name##_##s(T, unsigned) TOGETHER;
#define DECLARE4(name, s, T) T __ingot_##name##_##s(T, T, unsigned, unsigned) TOGETHER;
#define EACH_REDUCE(F) \
    F(simd_sum) F(simd_product) F(simd_min) F(simd_max) \
    F(quad_sum) F(quad_product) F(quad_min) F(quad_max)
#define EACH_LOGIC(F) F(simd_and) F(simd_or) F(simd_xor) F(quad_and) F(quad_or) F(quad_xor)
#define EACH_SCAN(F) \
    F(simd_prefix_inclusive_sum) F(simd_prefix_exclusive_sum) \
    F(simd_prefix_inclusive_product) F(simd_prefix_exclusive_product)
#define EACH_SHUFFLE(F) \
    F(simd_broadcast) F(simd_shuffle) F(simd_shuffle_up) F(simd_shuffle_down) F(simd_shuffle_xor) \
    F(simd_shuffle_rotate_up) F(simd_shuffle_rotate_down) \
    F(quad_broadcast) F(quad_shuffle) F(quad_shuffle_up) F(quad_shuffle_down) F(quad_shuffle_xor) \
    F(quad_shuffle_rotate_up) F(quad_shuffle_rotate_down)
#define EACH_FIRST(F) F(simd_broadcast_first) F(quad_broadcast_first)
#define EACH_FILL(F) \
    F(simd_shuffle_and_fill_up) F(simd_shuffle_and_fill_down) \
    F(quad_shuffle_and_fill_up) F(quad_shuffle_and_fill_down)
#define D1(n) EACH_TYPE(DECLARE1, n)
#define DL(n) EACH_INT(DECLARE1, n)
#define D2(n) EACH_MOVE(DECLARE2, n)
#define DF(n) EACH_MOVE(DECLARE1, n)
#define D4(n) EACH_MOVE(DECLARE4, n)
EACH_REDUCE(D1)
EACH_LOGIC(DL)
EACH_SCAN(D1)
EACH_SHUFFLE(D2)
EACH_FIRST(DF)
EACH_FILL(D4)
// clang-format on
unsigned long __ingot_simd_ballot(_Bool) TOGETHER;
unsigned __ingot_quad_ballot(_Bool) TOGETHER;
_Bool __ingot_simd_all(_Bool) TOGETHER, __ingot_simd_any(_Bool) TOGETHER,
    __ingot_quad_all(_Bool) TOGETHER, __ingot_quad_any(_Bool) TOGETHER;
_Bool __ingot_simd_is_first(void) TOGETHER, __ingot_quad_is_first(void) TOGETHER;
unsigned long __ingot_simd_active_mask(void) TOGETHER;
unsigned __ingot_quad_active_mask(void) TOGETHER;
f2 __ingot_simdgroup_mma_f32(f2, f2, f2) TOGETHER;
// Position of a lane in the program, for the reference: lanes at the least position run together.
#ifdef REFERENCE
void ref_at(int depth, int n), ref_iter(int depth);
#define AT(d, n) ref_at(d, n)
#define ITER(d) ref_iter(d)
#else
#define AT(d, n) ((void)0)
#define ITER(d) ((void)0)
#endif
#endif
