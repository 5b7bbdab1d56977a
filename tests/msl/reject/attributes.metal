// Entry points that Metal refuses.
#include <metal_stdlib>
using namespace metal;
kernel float returns(device float *a) { return a[0]; } // expect-error: must have void return type
kernel void high(device float *a [[buffer(31)]]) {} // expect-error: 'buffer' attribute parameter is out of bounds: must be between 0 and 30
kernel void twice(device float *a [[buffer(2)]], device float *b [[buffer(2)]]) {} // expect-error: cannot reserve 'buffer' resource location at index 2
kernel void wrong(float gid [[thread_position_in_grid]]) {} // expect-error: type 'float' is not valid for attribute 'thread_position_in_grid'
kernel void vector(uint2 lane [[thread_index_in_simdgroup]]) {} // expect-error: type 'uint2' is not valid for attribute 'thread_index_in_simdgroup'
kernel void sign(int gid [[thread_position_in_grid]]) {} // expect-error: type 'int' is not valid
kernel void value(float x) {} // expect-error: invalid type 'float' for parameter 'x'
kernel void space(float *x [[buffer(0)]]) {} // expect-error: must have explicit address space qualifier
kernel void thread_space(thread float *x [[buffer(0)]]) {} // expect-error: thread address space
kernel void mixed(threadgroup float *x [[buffer(0)]]) {} // expect-error: 'buffer' attribute cannot be applied
kernel void threads() __attribute__((cold)) {}
[[max_total_threads_per_threadgroup(2000)]] kernel void many() {} // expect-error: must be between 1 and 1024
kernel void twins(device int *a) {}
kernel void twins(device float *a) {} // expect-error: already an entry point called 'twins'
constant int a [[function_constant(0)]];
constant int b [[function_constant(0)]]; // expect-error: function constant index 0 is already used by 'a'
