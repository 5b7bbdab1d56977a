// What entry points, their arguments and attributes cannot be.
#include <metal_stdlib>
using namespace metal;
// ====
kernel float k(device float *a) { return a[0]; } // expect-error: must have void return type
// ====
kernel int k() { return 1; } // expect-error: must have void return type
// ====
kernel device float *k(device float *a) { return a; } // expect-error: must have void return type
// ====
struct S { kernel void k(device float *a) {} }; // expect-error: cannot be a member
// ====
struct S { static kernel void k(device float *a) {} }; // expect-error: cannot be a member
// ====
kernel void k(device int *a) {}
kernel void k(device float *a) {} // expect-error: already an entry point called 'k'
// ====
kernel void k(device int *a) {}
vertex float4 k(device float *a) { return 0; } // expect-error: already an entry point called 'k'
// ====
kernel void a(device int *x) {}
[[host_name("a")]] kernel void b(device int *x) {} // expect-error: already an entry point called 'a'
// ====
kernel void main(device int *x) {} // expect-error: 'main'
// ====
int main(int x) { return x; } // expect-error: 'main'
// ====
kernel void inner(device int *a) { a[0] = 1; } // expect-error: entry point 'inner' cannot be called
kernel void outer(device int *a) { inner(a); }
// ====
vertex float4 v() { return 0; } // expect-error: entry point 'v' cannot be called
kernel void outer(device float4 *a) { a[0] = v(); }
// ====
kernel vertex float4 v() { return 0; } // expect-error: more than one kind
// ====
kernel fragment float4 v() { return 0; } // expect-error: more than one kind
// ====
kernel void k(device float *a, ...) { a[0] = 1; } // expect-error: variadic
// ====
float f(int n, ...) { return n; } // expect-error: variadic
kernel void k(device float *a) { a[0] = f(1, 2); }
// ====
kernel void k(float x) {} // expect-error: invalid type
// ====
kernel void k(int x) {} // expect-error: invalid type
// ====
kernel void k(uint x) {} // expect-error: invalid type
// ====
kernel void k(bool x) {} // expect-error: invalid type
// ====
kernel void k(half x) {} // expect-error: invalid type
// ====
kernel void k(float4 x) {} // expect-error: invalid type
// ====
kernel void k(float4x4 x) {} // expect-error: invalid type
// ====
kernel void k(packed_float3 x) {} // expect-error: invalid type
// ====
kernel void k(uchar x) {} // expect-error: invalid type
// ====
struct S { float a; int b; };
kernel void k(S s) {} // expect-error: invalid type 'S'
// ====
kernel void k(atomic_uint x) {} // expect-error: invalid type
// ====
kernel void k(float *x [[buffer(0)]]) {} // expect-error: must have explicit address space qualifier
// ====
kernel void k(float &x [[buffer(0)]]) {} // expect-error: must have explicit address space qualifier
// ====
kernel void k(thread float *x [[buffer(0)]]) {} // expect-error: thread address space
// ====
kernel void k(thread float &x [[buffer(0)]]) {} // expect-error: thread address space
// ====
kernel void k(float x[4]) {} // expect-error: cannot be in the thread address space
// ====
kernel void k(device float x) {} // expect-error: address space
// ====
kernel void k(constant int x [[buffer(0)]]) {} // expect-error: address space
// ====
vertex float4 v(float4 p) { return p; } // expect-error: invalid type 'float4'
// ====
fragment float4 f(float4 c) { return c; } // expect-error: invalid type 'float4'
// ====
vertex float4 v(threadgroup float *t [[threadgroup(0)]]) { return t[0]; } // expect-error: cannot be in the threadgroup address space
// ====
kernel void k(command_buffer c) {} // expect-error: invalid type 'command_buffer'
// ====
kernel void k(array<float, 4> a) {} // expect-error: invalid type
// ====
kernel void k(array<texture2d<float>, 129> a) {} // expect-error: resource location
// ====
kernel void k(device void *p [[buffer(0)]]) { *p = 1; } // expect-error: void
// ====
kernel void k(device float *a [[buffer(31)]]) {} // expect-error: 'buffer' attribute parameter is out of bounds: must be between 0 and 30
// ====
kernel void k(device float *a [[buffer(-1)]]) {} // expect-error: 'buffer' attribute parameter is out of bounds
// ====
kernel void k(device float *a [[buffer]]) {} // expect-error: 'buffer' attribute takes one argument
// ====
kernel void k(device float *a [[buffer(0, 1)]]) {} // expect-error: 'buffer' attribute takes one argument
// ====
kernel void k(device float *a [[buffer("zero")]]) {} // expect-error: 'buffer' attribute
// ====
kernel void k(device float *a [[buffer(2)]], device float *b [[buffer(2)]]) {} // expect-error: cannot reserve 'buffer' resource location at index 2
// ====
kernel void k(texture2d<float> a [[texture(128)]]) {} // expect-error: 'texture' attribute parameter is out of bounds: must be between 0 and 127
// ====
kernel void k(texture2d<float> a [[texture(-1)]]) {} // expect-error: 'texture' attribute parameter is out of bounds
// ====
kernel void k(texture2d<float> a [[texture]]) {} // expect-error: 'texture' attribute takes one argument
// ====
kernel void k(texture2d<float> a [[texture(0, 1)]]) {} // expect-error: 'texture' attribute takes one argument
// ====
kernel void k(texture2d<float> a [[texture("zero")]]) {} // expect-error: 'texture' attribute
// ====
kernel void k(texture2d<float> a [[texture(2)]], texture2d<float> b [[texture(2)]]) {} // expect-error: cannot reserve 'texture' resource location at index 2
// ====
kernel void k(sampler a [[sampler(16)]]) {} // expect-error: 'sampler' attribute parameter is out of bounds: must be between 0 and 15
// ====
kernel void k(sampler a [[sampler(-1)]]) {} // expect-error: 'sampler' attribute parameter is out of bounds
// ====
kernel void k(sampler a [[sampler]]) {} // expect-error: 'sampler' attribute takes one argument
// ====
kernel void k(sampler a [[sampler(0, 1)]]) {} // expect-error: 'sampler' attribute takes one argument
// ====
kernel void k(sampler a [[sampler("zero")]]) {} // expect-error: 'sampler' attribute
// ====
kernel void k(sampler a [[sampler(2)]], sampler b [[sampler(2)]]) {} // expect-error: cannot reserve 'sampler' resource location at index 2
// ====
kernel void k(threadgroup float *a [[threadgroup(31)]]) {} // expect-error: 'threadgroup' attribute parameter is out of bounds: must be between 0 and 30
// ====
kernel void k(threadgroup float *a [[threadgroup(-1)]]) {} // expect-error: 'threadgroup' attribute parameter is out of bounds
// ====
kernel void k(threadgroup float *a [[threadgroup]]) {} // expect-error: 'threadgroup' attribute takes one argument
// ====
kernel void k(threadgroup float *a [[threadgroup(0, 1)]]) {} // expect-error: 'threadgroup' attribute takes one argument
// ====
kernel void k(threadgroup float *a [[threadgroup("zero")]]) {} // expect-error: 'threadgroup' attribute
// ====
kernel void k(threadgroup float *a [[threadgroup(2)]], threadgroup float *b [[threadgroup(2)]]) {} // expect-error: cannot reserve 'threadgroup' resource location at index 2
// ====
kernel void k(device float *a [[buffer(n)]]) {} // expect-error: undeclared identifier 'n'
// ====
constant float n [[function_constant(0)]];
kernel void k(device float *a [[buffer(n)]]) {} // expect-error: must be between 0 and 30
// ====
kernel void k(device float *a[4] [[buffer(28)]]) {} // expect-error: out of bounds
// ====
kernel void k(array<texture2d<float>, 8> a [[texture(124)]]) {} // expect-error: out of bounds
// ====
kernel void k(array<texture2d<float>, 4> a [[texture(0)]], texture2d<float> b [[texture(3)]]) {} // expect-error: cannot reserve 'texture' resource location
// ====
vertex float4 v(constant float *a [[buffer(1)]], constant float *b [[buffer(1)]]) { return 0; } // expect-error: cannot reserve 'buffer' resource location at index 1
// ====
fragment float4 f(texture2d<float> a [[texture(1)]], texture2d<half> b [[texture(1)]]) { return 0; } // expect-error: cannot reserve 'texture' resource location at index 1
// ====
kernel void k(device float *a [[texture(0)]]) {} // expect-error: 'texture' attribute only applies to textures
// ====
kernel void k(device float *a [[sampler(0)]]) {} // expect-error: 'sampler' attribute only applies to samplers
// ====
kernel void k(device float *a [[threadgroup(0)]]) {} // expect-error: 'threadgroup' attribute cannot be applied
// ====
kernel void k(constant float *a [[threadgroup(0)]]) {} // expect-error: 'threadgroup' attribute cannot be applied
// ====
kernel void k(threadgroup float *a [[buffer(0)]]) {} // expect-error: 'buffer' attribute cannot be applied
// ====
kernel void k(texture2d<float> t [[buffer(0)]]) {} // expect-error: 'buffer' attribute cannot be applied
// ====
kernel void k(texture2d<float> t [[sampler(0)]]) {} // expect-error: 'sampler' attribute
// ====
kernel void k(sampler s [[texture(0)]]) {} // expect-error: 'texture' attribute
// ====
kernel void k(sampler s [[buffer(0)]]) {} // expect-error: 'buffer' attribute cannot be applied
// ====
kernel void k(uint i [[buffer(0)]]) {} // expect-error: invalid type 'uint'
// ====
kernel void k(device float *a [[buffer(0)]] [[buffer(1)]]) {} // expect-error: more than one
// ====
kernel void k(uint i [[thread_position_in_grid, thread_index_in_threadgroup]]) {} // expect-error: more than one
// ====
kernel void k(device float *a [[color(0)]]) {} // expect-error: 'color' attribute cannot be applied
// ====
kernel void k(device float *a [[position]]) {} // expect-error: 'position' attribute cannot be applied
// ====
kernel void k(device float *a [[id(0)]]) {} // expect-error: 'id' attribute cannot be applied
// ====
kernel void k(device float *a [[user(x), attribute(0)]]) {} // expect-error: attribute
// ====
[[max_total_threads_per_threadgroup(0)]] kernel void k() {} // expect-error: must be between 1 and 1024
// ====
[[max_total_threads_per_threadgroup(1025)]] kernel void k() {} // expect-error: must be between 1 and 1024
// ====
[[max_total_threads_per_threadgroup]] kernel void k() {} // expect-error: max_total_threads_per_threadgroup
// ====
[[max_total_threads_per_threadgroup("x")]] kernel void k() {} // expect-error: max_total_threads_per_threadgroup
// ====
[[required_threads_per_threadgroup(64, 64)]] kernel void k() {} // expect-error: product between 1 and 1024
// ====
[[required_threads_per_threadgroup()]] kernel void k() {} // expect-error: required_threads_per_threadgroup
// ====
[[max_total_threads_per_threadgroup(64)]] vertex float4 v() { return 0; } // expect-error: 'max_total_threads_per_threadgroup' attribute only applies to
// ====
[[required_threads_per_threadgroup(64)]] fragment float4 f() { return 0; } // expect-error: 'required_threads_per_threadgroup' attribute only applies to
// ====
[[early_fragment_tests]] kernel void k() {} // expect-error: 'early_fragment_tests' attribute only applies to fragment functions
// ====
[[early_fragment_tests]] vertex float4 v() { return 0; } // expect-error: 'early_fragment_tests' attribute only applies to fragment functions
// ====
[[patch(quad, 4)]] kernel void k() {} // expect-error: 'patch' attribute
// ====
[[patch(quad, 4)]] fragment float4 f() { return 0; } // expect-error: 'patch' attribute
// ====
[[patch(hexagon, 4)]] vertex float4 v() { return 0; } // expect-error: 'patch' attribute takes triangle or quad
// ====
[[patch(quad, 33)]] vertex float4 v() { return 0; } // expect-error: must be between 0 and 32
// ====
[[patch(quad, -1)]] vertex float4 v() { return 0; } // expect-error: must be between 0 and 32
// ====
[[host_name(3)]] kernel void k() {} // expect-error: 'host_name' attribute
// ====
[[host_name("")]] kernel void k() {} // expect-error: 'host_name' attribute
// ====
[[visible]] kernel void k() {} // expect-error: more than one kind
// ====
[[stitchable]] fragment float4 f() { return 0; } // expect-error: more than one kind
