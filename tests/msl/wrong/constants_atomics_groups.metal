// Function constants, atomics, SIMD-groups and threadgroup memory.
#include <metal_stdlib>
using namespace metal;
// ====
constant int a [[function_constant(0)]];
constant int b [[function_constant(0)]]; // expect-error: function constant index 0 is already used by 'a'
// ====
constant int a [[function_constant(-1)]]; // expect-error: must be between 0 and 65535
// ====
constant int a [[function_constant(65536)]]; // expect-error: must be between 0 and 65535
// ====
constant int a [[function_constant]]; // expect-error: function_constant
// ====
constant float4x4 a [[function_constant(0)]]; // expect-error: is not valid for attribute 'function_constant'
// ====
struct S { int x; };
constant S a [[function_constant(0)]]; // expect-error: is not valid for attribute 'function_constant'
// ====
constant int a[2] [[function_constant(0)]]; // expect-error: is not valid for attribute 'function_constant'
// ====
constant int a [[function_constant(0)]] = 3; // expect-error: it cannot be initialised
// ====
int a [[function_constant(0)]]; // expect-error: program scope variable must reside in constant address space
// ====
device int a [[function_constant(0)]]; // expect-error: program scope variable must reside in constant address space
// ====
kernel void k(device int *o) { constant int a [[function_constant(0)]]; o[0] = a; } // expect-error: cannot be declared in constant address space
// ====
constant int n [[function_constant(0)]];
kernel void k(device int *o) { int x[n]; o[0] = x[0]; } // expect-error: array size is not a constant expression
// ====
constant int n [[function_constant(0)]];
static_assert(n > 0, "n"); // expect-error: not an integral constant expression
// ====
constant int n [[function_constant(0)]];
template <int N> int f() { return N; }
kernel void k(device int *o) { o[0] = f<n>(); } // expect-error: no matching function
// ====
constant int n [[function_constant(0)]];
kernel void k(device int *o) { n = 3; } // expect-error: assign
// ====
kernel void k(device int *o [[function_constant(nothing)]]) {} // expect-error: use of undeclared function constant 'nothing'
// ====
constant int n [[function_constant(0)]];
kernel void k(device int *o [[buffer(0), function_constant(n)]]) {} // expect-error: bool
// ====
constant atomic_int a [[function_constant(0)]]; // expect-error: function_constant
// ====
constant texture2d<float> a [[function_constant(0)]]; // expect-error: is not valid for attribute 'function_constant'
// ====
kernel void k(device atomic_uint *u, device atomic_int *i, device atomic_float *f, device atomic_ulong *w, threadgroup atomic_uint *t, device uint *p, const device atomic_uint *c) { atomic_uint x = u[0]; } // expect-error: deleted
// ====
kernel void k(device atomic_uint *u, device atomic_int *i, device atomic_float *f, device atomic_ulong *w, threadgroup atomic_uint *t, device uint *p, const device atomic_uint *c) { u[0] = 1; } // expect-error: no viable
// ====
kernel void k(device atomic_uint *u, device atomic_int *i, device atomic_float *f, device atomic_ulong *w, threadgroup atomic_uint *t, device uint *p, const device atomic_uint *c) { u[0] = u[1]; } // expect-error: deleted
// ====
kernel void k(device atomic_uint *u, device atomic_int *i, device atomic_float *f, device atomic_ulong *w, threadgroup atomic_uint *t, device uint *p, const device atomic_uint *c) { u[0] += 1; } // expect-error: no viable overloaded '+='
// ====
kernel void k(device atomic_uint *u, device atomic_int *i, device atomic_float *f, device atomic_ulong *w, threadgroup atomic_uint *t, device uint *p, const device atomic_uint *c) { u[0]++; } // expect-error: cannot increment
// ====
kernel void k(device atomic_uint *u, device atomic_int *i, device atomic_float *f, device atomic_ulong *w, threadgroup atomic_uint *t, device uint *p, const device atomic_uint *c) { p[0] = u[0] + 1; } // expect-error: deleted
// ====
kernel void k(device atomic_uint *u, device atomic_int *i, device atomic_float *f, device atomic_ulong *w, threadgroup atomic_uint *t, device uint *p, const device atomic_uint *c) { p[0] = u[0]; } // expect-error: assigning
// ====
kernel void k(device atomic_uint *u, device atomic_int *i, device atomic_float *f, device atomic_ulong *w, threadgroup atomic_uint *t, device uint *p, const device atomic_uint *c) { atomic_fetch_add_explicit(p, 1u, memory_order_relaxed); } // expect-error: no matching function
// ====
kernel void k(device atomic_uint *u, device atomic_int *i, device atomic_float *f, device atomic_ulong *w, threadgroup atomic_uint *t, device uint *p, const device atomic_uint *c) { atomic_fetch_add_explicit(u, 1u); } // expect-error: no matching function
// ====
kernel void k(device atomic_uint *u, device atomic_int *i, device atomic_float *f, device atomic_ulong *w, threadgroup atomic_uint *t, device uint *p, const device atomic_uint *c) { atomic_fetch_add(u, 1u); } // expect-error: atomic_fetch_add
// ====
kernel void k(device atomic_uint *u, device atomic_int *i, device atomic_float *f, device atomic_ulong *w, threadgroup atomic_uint *t, device uint *p, const device atomic_uint *c) { atomic_fetch_add_explicit(u[0], 1u, memory_order_relaxed); } // expect-error: no matching function
// ====
kernel void k(device atomic_uint *u, device atomic_int *i, device atomic_float *f, device atomic_ulong *w, threadgroup atomic_uint *t, device uint *p, const device atomic_uint *c) { atomic_fetch_add_explicit(w, 1ul, memory_order_relaxed); } // expect-error: no matching function
// ====
kernel void k(device atomic_uint *u, device atomic_int *i, device atomic_float *f, device atomic_ulong *w, threadgroup atomic_uint *t, device uint *p, const device atomic_uint *c) { atomic_fetch_and_explicit(f, 1.0f, memory_order_relaxed); } // expect-error: no matching function
// ====
kernel void k(device atomic_uint *u, device atomic_int *i, device atomic_float *f, device atomic_ulong *w, threadgroup atomic_uint *t, device uint *p, const device atomic_uint *c) { atomic_fetch_add_explicit(u, 1u, 0); } // expect-error: no matching function
// ====
kernel void k(device atomic_uint *u, device atomic_int *i, device atomic_float *f, device atomic_ulong *w, threadgroup atomic_uint *t, device uint *p, const device atomic_uint *c) { atomic_fetch_mul_explicit(u, 1u, memory_order_relaxed); } // expect-error: atomic_fetch_mul_explicit
// ====
kernel void k(device atomic_uint *u, device atomic_int *i, device atomic_float *f, device atomic_ulong *w, threadgroup atomic_uint *t, device uint *p, const device atomic_uint *c) { atomic_store_explicit(c, 1u, memory_order_relaxed); } // expect-error: no matching function
// ====
kernel void k(device atomic_uint *u, device atomic_int *i, device atomic_float *f, device atomic_ulong *w, threadgroup atomic_uint *t, device uint *p, const device atomic_uint *c) { uint e = 0; atomic_compare_exchange_weak_explicit(u, e, 1u, memory_order_relaxed, memory_order_relaxed); } // expect-error: no matching function
// ====
kernel void k(device atomic_uint *u, device atomic_int *i, device atomic_float *f, device atomic_ulong *w, threadgroup atomic_uint *t, device uint *p, const device atomic_uint *c) { atomic_compare_exchange_weak_explicit(u, p, 1u, memory_order_relaxed, memory_order_relaxed); } // expect-error: no matching function
// ====
kernel void k(device atomic_uint *u, device atomic_int *i, device atomic_float *f, device atomic_ulong *w, threadgroup atomic_uint *t, device uint *p, const device atomic_uint *c) { uint e = 0; atomic_compare_exchange_strong_explicit(u, &e, 1u, memory_order_relaxed, memory_order_relaxed); } // expect-error: atomic_compare_exchange_strong_explicit
// ====
kernel void k(device atomic_uint *u, device atomic_int *i, device atomic_float *f, device atomic_ulong *w, threadgroup atomic_uint *t, device uint *p, const device atomic_uint *c) { atomic<half> x; } // expect-error: atomic<T>
// ====
kernel void k(device atomic_uint *u, device atomic_int *i, device atomic_float *f, device atomic_ulong *w, threadgroup atomic_uint *t, device uint *p, const device atomic_uint *c) { atomic<short> x; } // expect-error: atomic<T>
// ====
kernel void k(device atomic_uint *u, device atomic_int *i, device atomic_float *f, device atomic_ulong *w, threadgroup atomic_uint *t, device uint *p, const device atomic_uint *c) { atomic<float4> x; } // expect-error: atomic<T>
// ====
kernel void k(device atomic_uint *u, device atomic_int *i, device atomic_float *f, device atomic_ulong *w, threadgroup atomic_uint *t, device uint *p, const device atomic_uint *c) { atomic_uint x; atomic_fetch_add_explicit(&x, 1u, memory_order_relaxed); } // expect-error: no matching function
// ====
kernel void k(device atomic_uint *u, device atomic_int *i, device atomic_float *f, device atomic_ulong *w, threadgroup atomic_uint *t, device uint *p, const device atomic_uint *c) { atomic_fetch_add_explicit(u, 1u, memory_order_consume); } // expect-error: memory_order_consume
// ====
kernel void k(device atomic_uint *u, device atomic_int *i, device atomic_float *f, device atomic_ulong *w, threadgroup atomic_uint *t, device uint *p, const device atomic_uint *c) { threadgroup atomic_float *x = nullptr; atomic_fetch_add_explicit(x, 1.0f, memory_order_relaxed); } // expect-error: no matching function
// ====
kernel void k(constant atomic_uint *u) { atomic_store_explicit(u, 1u, memory_order_relaxed); } // expect-error: no matching function
// ====
kernel void k(device float *a) { threadgroup_barrier(2); } // expect-error: no matching function
// ====
kernel void k(device float *a) { threadgroup_barrier(); } // expect-error: no matching function
// ====
kernel void k(device float *a) { threadgroup_barrier(mem_flags::mem_nothing); } // expect-error: no member named 'mem_nothing'
// ====
kernel void k(device float *a) { simdgroup_barrier(); } // expect-error: no matching function
// ====
kernel void k(device float *a) { a[0] = simd_sum(true); } // expect-error: no matching function
// ====
kernel void k(device float *a) { a[0] = simd_and(a[0]); } // expect-error: no matching function
// ====
kernel void k(device float *a) { a[0] = simd_shuffle(a[0]); } // expect-error: no matching function
// ====
kernel void k(device float *a) { a[0] = simd_shuffle(a[0], 1.5f, 2); } // expect-error: no matching function
// ====
kernel void k(device float *a) { a[0] = simd_ballot(true); } // expect-error: assigning
// ====
kernel void k(device float *a) { a[0] = quad_broadcast(a[0]); } // expect-error: no matching function
// ====
kernel void k(device float *a) { a[0] = simd_prefix_exclusive_and(1); } // expect-error: simd_prefix_exclusive_and
// ====
kernel void k(device float *a) { a[0] = simd_median(a[0]); } // expect-error: simd_median
// ====
kernel void k(device float *a) { a[0] = simd_all(a[0], 1); } // expect-error: no matching function
// ====
kernel void k(device float *a) { simdgroup_matrix<float, 4, 4> x; } // expect-error: 8x8
// ====
kernel void k(device float *a) { simdgroup_half8x8 x; simdgroup_load(x, a, 8); } // expect-error: no matching function
// ====
kernel void k(device float *a) { simdgroup_matrix<int, 8, 8> x; } // expect-error: a SIMD-group matrix has half, bfloat or float elements
// ====
kernel void k(device float *a) { simdgroup_float8x8 x, y; x = x + y; } // expect-error: invalid operands
// ====
kernel void k(device float *a) { simdgroup_float8x8 x(1); a[0] = x[0]; } // expect-error: subscript
