// Things that are right elsewhere.
#include <metal_stdlib>
using namespace metal;
float helper(uint i) {
    threadgroup float t[32]; // expect-error: declared in kernel, fragment, object and mesh functions only
    return t[i];
}
template <typename T> T other(uint i) {
    threadgroup T t[32]; // expect-error: declared in kernel, fragment, object and mesh functions only
    return t[i];
}
kernel void calls(device float *a) { a[0] = helper(1) + other<float>(2); }
kernel void widths(device float *a, uint2 g [[thread_position_in_grid]], uint3 n [[threads_per_grid]]) { a[g.x] = n.z; } // expect-error: 'threads_per_grid' is declared with 3 components, 'thread_position_in_grid' with 2
kernel void scalars(device float *a, uint g [[thread_position_in_grid]], uint3 n [[threads_per_grid]]) { a[g] = n.z; }
template <typename T> kernel void typed(device T *a, uint i [[thread_index_in_threadgroup]]) {
    threadgroup T t[32];
    t[i] = a[i];
    a[i] = t[31 - i];
}
template [[host_name("typed_float")]] kernel void typed<float>(device float *, uint);
