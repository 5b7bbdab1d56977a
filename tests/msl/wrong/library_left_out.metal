// Names of the library without its headers.
// ====
kernel void k(device float *x, uint i [[thread_position_in_grid]]) { x[i] = 1; } // expect-error: unknown type name 'uint'
// ====
kernel void k(device float4 *x) { x[0] = 1; } // expect-error: unknown type name 'float4'
// ====
using namespace metal; // expect-error: expected namespace name
// ====
kernel void k(device float *x) { x[0] = metal::sin(x[0]); } // expect-error: use of undeclared identifier 'metal'
// ====
kernel void k(device float *x) { x[0] = sin(x[0]); } // expect-error: use of undeclared identifier 'sin'
// ====
kernel void k(texture2d<float> t) {} // expect-error: texture2d
// ====
kernel void k(device atomic_int *x) {} // expect-error: unknown type name 'atomic_int'
// ====
struct S { packed_float3 p; }; // expect-error: unknown type name 'packed_float3'
kernel void k(device S &s [[buffer(0)]]) { s.p = 1; }
// ====
kernel void k(device size_t *x) {} // expect-error: unknown type name 'size_t'
// ====
#define metal_stdlib
// #include <metal_stdlib>
kernel void k(sampler s) {} // expect-error: unknown type name 'sampler'
// ====
#include <metal_math>
kernel void k(device float *x, uint i [[thread_position_in_grid]]) { x[i] = metal::sin(x[i]); }
// ====
#include <simd/simd.h>
kernel void k(device simd_float4 *x, uint i [[thread_position_in_grid]]) { x[i] = 1; }
