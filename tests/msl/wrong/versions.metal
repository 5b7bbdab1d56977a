// Features of a later version of the language than the source is compiled for, and the same in time.
#include <metal_stdlib>
using namespace metal;
// ==== 1.1
constant int n [[function_constant(0)]]; // expect-error: 'function_constant' attribute needs Metal 1.2: the source is compiled as Metal 1.1
// ==== 1.1
[[patch(quad, 4)]] vertex float4 v(float2 p [[position_in_patch]]) { return 0; } // expect-error: 'patch' attribute needs Metal 1.2
// expect-error@7: 'position_in_patch' attribute needs Metal 1.2
// ==== 1.1
kernel void k(device float *a, uint l [[thread_index_in_simdgroup]]) { a[l] = 1; } // expect-error: 'thread_index_in_simdgroup' attribute needs Metal 2.0
// ==== 1.1
struct A { device int *p [[id(0)]]; }; // expect-error: 'id' attribute needs Metal 2.0
kernel void k(constant A &a [[buffer(0)]]) { a.p[0] = 1; }
// ==== 1.1
kernel void k(device uint *a) { a[0] = extract_bits(a[1], 2, 3); } // expect-error: 'extract_bits' needs Metal 1.2
// ==== 1.1
float simd_sum(float x) { return x; }
kernel void k(device float *a) { a[0] = simd_sum(a[1]); }
// ==== 1.1
kernel void k(device float4 *a, texture2d<float> t, sampler s, uint i [[thread_position_in_grid]]) {
    threadgroup_barrier(mem_flags::mem_device);
    a[i] = t.sample(s, float2(0)) + normalize(a[i]) * clamp(a[i], 0.0, 1.0) + atan2(1.0f, a[i].x);
}
// ==== 2.0
kernel void k(device float *a) { a[0] = simd_sum(a[0]); } // expect-error: 'simd_sum' needs Metal 2.1: the source is compiled as Metal 2.0
// ==== 2.0
kernel void k(device float *a) { a[0] = metal::simd_prefix_exclusive_sum(a[0]); } // expect-error: 'simd_prefix_exclusive_sum' needs Metal 2.1
// ==== 2.0
kernel void k(device float *a) { a[0] = simd_all(a[0] > 0); } // expect-error: 'simd_all' needs Metal 2.1
// ==== 2.0
kernel void k(texture_buffer<float> t) {} // expect-error: 'texture_buffer' needs Metal 2.1
// ==== 2.0
struct O { uint s [[stencil]]; }; // expect-error: 'stencil' attribute needs Metal 2.1
fragment O f() { return {0}; }
// ==== 2.0
struct O { float4 p [[position, invariant]]; }; // expect-error: 'invariant' attribute needs Metal 2.1
vertex O v() { return {0}; }
// ==== 2.0
kernel void k(device float *a) { a[0] = max3(a[0], a[1], a[2]); } // expect-error: 'max3' needs Metal 2.1
// ==== 2.0
fragment float4 f(float3 b [[barycentric_coord]]) { return b.x; } // expect-error: 'barycentric_coord' attribute needs Metal 2.2
// ==== 2.0
[[host_name("x")]] kernel void k() {} // expect-error: 'host_name' attribute needs Metal 2.2
// ==== 2.0
fragment float4 f(texture2d<float> t, sampler s) { return t.sample(s, float2(0), min_lod_clamp(1)); } // expect-error: 'min_lod_clamp' needs Metal 2.2
// ==== 2.0
constant int n [[function_constant(0)]];
kernel void k(device float *a, uint l [[thread_index_in_simdgroup]]) { a[l] = simd_shuffle_down(a[l], 1) + quad_broadcast(a[l], 2) + n; }
// ==== 2.2
[[visible]] float f(float x) { return x; } // expect-error: 'visible' attribute needs Metal 2.3
// ==== 2.2
kernel void k(visible_function_table<float(float)> t) {} // expect-error: 'visible_function_table' needs Metal 2.3
// ==== 2.2
kernel void k(device float *a) { simdgroup_float8x8 m; simdgroup_load(m, a); } // expect-error: 'simdgroup_float8x8' needs Metal 2.3
// ==== 2.2
[[stitchable]] float f(float x) { return x; } // expect-error: 'stitchable' attribute needs Metal 2.4
// ==== 2.2
struct V { float4 p [[position]]; interpolant<float, interpolation::perspective> x; }; // expect-error: 'interpolant' needs Metal 2.3
fragment float4 f(V v [[stage_in]]) { return 0; }
// ==== 2.2
kernel void k(device atomic_ulong *a) {} // expect-error: 'atomic_ulong' needs Metal 2.4
// ==== 2.2
kernel void k(device float *a) { a[0] = simd_sum(a[0]) + simd_max(a[1]) + max3(a[0], a[1], a[2]); }
// ==== 2.4
struct V { float4 p [[position]]; };
[[mesh]] void m(mesh<V, void, 3, 1, topology::triangle> m) {} // expect-error: 'mesh' attribute needs Metal 3.0
// expect-error@66: 'topology' needs Metal 3.0
// ==== 2.4
kernel void k(device atomic_float *a) {} // expect-error: 'atomic_float' needs Metal 3.0
// ==== 2.4
kernel void k(device float *a, device bfloat *b) {} // expect-error: 'bfloat' needs Metal 3.1
// ==== 2.4
kernel void k(device float *a) { a[0] = 1.5bf; } // expect-error: a literal of type bfloat needs Metal 3.1
// ==== 2.4
struct bfloat { ushort bits; };
kernel void k(device bfloat *a) { a[0].bits = 1; }
// ==== 2.4
[[visible]] float f(float x) { return x; }
kernel void k(device float *a, visible_function_table<float(float)> t) { a[0] = simd_shuffle_and_fill_up(a[0], a[1], 1) + t[0](a[0]); }
// ==== 3.0
kernel void k(device bfloat4 *a) {} // expect-error: 'bfloat4' needs Metal 3.1
// ==== 3.0
kernel void k(texture2d<uint, access::read_write> t) { t.atomic_fetch_add(uint2(0), uint4(1)); } // expect-error: 'atomic_fetch_add' needs Metal 3.1
// ==== 3.0
kernel void k(device float *a) { auto f = [](float x) { return x; }; a[0] = f(1); } // expect-error: lambda expressions need Metal 3.2
// ==== 3.0
kernel void k() { atomic_thread_fence(mem_flags::mem_device, memory_order_seq_cst); } // expect-error: 'atomic_thread_fence' needs Metal 3.2
// expect-error@87: 'memory_order_seq_cst' needs Metal 3.2
// ==== 3.0
kernel void k() { os_log_default.log("x"); } // expect-error: 'os_log_default' needs Metal 3.2
// ==== 3.0
#if defined(__HAVE_BFLOAT__)
#error bfloat
#endif
struct V { float4 p [[position]]; };
[[mesh]] void m(mesh<V, void, 3, 1, topology::triangle> m) {}
kernel void k(device atomic_float *a) { atomic_fetch_add_explicit(a, 1.0f, memory_order_relaxed); }
// ==== 3.1
[[required_threads_per_threadgroup(32)]] kernel void k() {} // expect-error: 'required_threads_per_threadgroup' attribute needs Metal 4.0
// ==== 3.1
#include <metal_tensor>
kernel void k(tensor<device half, dextents<int, 2>> t) {} // expect-error: 'dextents' needs Metal 4.0
// ==== 3.1
kernel void k(device bfloat *b, texture2d<uint, access::read_write> t) { b[0] = 1.5bf; t.atomic_fetch_add(uint2(0), uint4(1)); }
// ==== 4.0
#include <metal_tensor>
[[required_threads_per_threadgroup(32)]] kernel void k(tensor<device half, dextents<int, 2>> t, device float *a) { a[0] = [](float x) { return x; }(t[0, 0]); }
// ====
#include <metal_tensor>
kernel void k(tensor<device half, dextents<int, 2>> t, device bfloat *a) { a[0] = 1.5bf; }
// ==== 3.0
uint2 gid [[thread_position_in_grid]]; // expect-error: 'thread_position_in_grid' at program scope needs Metal 3.1
kernel void k(device float *a) { a[gid.x] = 1; }
// ==== 3.1
uint2 gid [[thread_position_in_grid]];
kernel void k(device float *a) { a[gid.x] = 1; }
// ==== 3.1
device float *constant b [[buffer(0)]]; // expect-error: 'buffer' at program scope needs Metal 3.2
kernel void k() { b[0] = 1; }
// ==== 3.1
texture2d<float> constant t [[texture(0)]]; // expect-error: 'texture' at program scope needs Metal 3.2
// ==== 3.2
device float *constant b [[buffer(0)]];
texture2d<float> constant t [[texture(0)]];
kernel void k() { b[0] = t.read(uint2(0)).x; }
