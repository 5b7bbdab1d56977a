// Names of the library without its headers: known, but in namespace metal.
// ====
kernel void k(device float *x) { x[0] = sin(x[0]); } // expect-error: use of undeclared identifier 'sin'
// ====
kernel void k(texture2d<float> t) {} // expect-error: texture2d
// ====
kernel void k(device atomic_int *x) {} // expect-error: unknown type name 'atomic_int'
// ====
kernel void k(constant float4x4 &m) {} // expect-error: unknown type name 'float4x4'
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
