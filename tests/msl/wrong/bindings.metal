// Variables at program scope bound to resources or built-ins, where they are wrong.
#include <metal_stdlib>
using namespace metal;
// ====
device float *constant b [[buffer(31)]]; // expect-error: must be between 0 and 30
// ====
device float *constant b[2] [[buffer(30)]]; // expect-error: must be between 0 and 30
// ====
texture2d<float> constant t [[texture(128)]]; // expect-error: must be between 0 and 127
// ====
sampler constant s [[sampler(16)]]; // expect-error: must be between 0 and 15
// ====
device float *constant b [[buffer]]; // expect-error: 'buffer' attribute takes one argument
// ====
texture2d<float> constant t [[buffer(0)]]; // expect-error: 'buffer' attribute cannot be applied to a texture
// ====
device float *constant b [[texture(0)]]; // expect-error: 'texture' attribute only applies to textures
// ====
sampler constant s [[texture(0)]]; // expect-error: 'texture' attribute cannot be applied to a sampler
// ====
device float *constant b [[threadgroup(0)]]; // expect-error: 'threadgroup' attribute cannot be applied to a parameter in the device address space
// ====
threadgroup float *constant b [[buffer(0)]]; // expect-error: 'buffer' attribute cannot be applied to a parameter in the threadgroup address space
// ====
thread float *constant b [[buffer(0)]]; // expect-error: cannot be in the thread address space
// ====
constant float b [[buffer(0)]]; // expect-error: use a pointer or reference
// ====
device float *constant b [[buffer(0)]] = nullptr; // expect-error: cannot be initialised
// ====
device float *constant b [[buffer(0), buffer(1)]]; // expect-error: more than one attribute that says what it is
// ====
device float *constant b [[buffer(0), function_constant(nowhere)]]; // expect-error: use of undeclared function constant 'nowhere'
// ====
constant int n [[function_constant(0)]];
device float *constant b [[buffer(0), function_constant(n)]]; // expect-error: function constant 'n' must be a bool
// ==== the same place, another type
constant texture2d<float, access::write> a [[texture(1)]];
constant texture2d<float, access::write> b [[texture(1)]];
constant texture2d<float, access::read_write> c [[texture(1)]]; // expect-error: 'c' has another type than 'a', which is bound to the same place, 'texture(1)'
// ====
device float *constant a [[buffer(1)]];
device uint *constant b [[buffer(1)]]; // expect-error: 'b' has another type than 'a', which is bound to the same place, 'buffer(1)'
// ====
device float *constant a[3] [[buffer(1)]];
device float *constant b [[buffer(3)]]; // expect-error: 'b' has another type than 'a', which is bound to the same place, 'buffer(1)'
// ====
extern constant texture2d<float> t [[texture(0)]];
constant texture2d<float> t [[texture(1)]]; // expect-error: 't' was declared with another type or place: 't' at 'texture(0)'
kernel void k(device float *a [[buffer(0)]]) { a[0] = t.read(uint2(0)).x; }
// ==== a parameter has the place
device float *constant b [[buffer(0)]];
static void f() { b[0] = 1; }
kernel void k(device float *a [[buffer(0)]]) { f(); a[0] = 2; } // expect-error: cannot reserve 'buffer' resource location at index 0 for 'b', which 'k' reaches: 'a' has it
// ==== but not of one that does not reach it
device float *constant b [[buffer(0)]];
kernel void k(device float *a [[buffer(0)]]) { a[0] = 2; }
kernel void l(device float *a) { a[0] = b[0]; }
// ====
constant array<texture2d<float>, 4> t [[texture(2)]];
fragment float4 f(texture2d<float> a [[texture(5)]]) { return a.read(uint2(0)) + t[3].read(uint2(0)); } // expect-error: cannot reserve 'texture' resource location at index 2 for 't', which 'f' reaches: 'a' has it
// ==== it is a constant
device float *constant b [[buffer(0)]];
kernel void k(device float *a [[buffer(1)]]) { b = a; } // expect-error: cannot assign to variable 'b' with const-qualified type
// ==== without an attribute it is nothing
device float *constant b; // expect-error: variable in constant address space must be initialized
// ====
texture2d<float> t; // expect-error: program scope variable must reside in constant address space
// ==== a built-in that the stage does not have
uint2 gid [[thread_position_in_grid]];
static float f() { return gid.x; }
kernel void k(device float *a) { a[0] = f(); }
vertex float4 v() { return f(); } // expect-error: 'thread_position_in_grid' at program scope cannot be read by 'v': a vertex function has none
// ====
ushort lane [[thread_index_in_simdgroup]];
vertex float4 v() { return lane; } // expect-error: 'thread_index_in_simdgroup' at program scope cannot be read by 'v': a vertex function has none
fragment float4 f() { return lane; }
// ====
uint i [[thread_index_in_threadgroup]];
template <typename T> T twice() { return T(2 * i); }
fragment float4 f() { return twice<float>(); } // expect-error: 'thread_index_in_threadgroup' at program scope cannot be read by 'f': a fragment function has none
[[object]] void o(device float *a) { a[0] = twice<float>(); }
// ====
ushort2 gid [[thread_position_in_grid]];
vertex float4 v(uint gid [[vertex_id]]) { return gid; }
// ==== indices that function constants give are for parameters
constant int n [[function_constant(0)]];
device float *constant b [[buffer(n)]]; // expect-error: the index of 'b' at program scope is a number
// ====
constant int n [[function_constant(0)]];
constant int both = n * n;
kernel void k(device float *a [[buffer(both)]]) {} // expect-error: must be between 0 and 30
