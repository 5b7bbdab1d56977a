// Tensors.
#include <metal_stdlib>
#include <metal_tensor>
using namespace metal;
// ====
kernel void k(tensor<device half, dextents<int, 2>> t, tensor<device const half, dextents<int, 2>> c) { t[0] = 1; } // expect-error: no viable overloaded operator[]
// ====
kernel void k(tensor<device half, dextents<int, 2>> t, tensor<device const half, dextents<int, 2>> c) { t[0, 1, 2] = 1; } // expect-error: no viable overloaded operator[]
// ====
kernel void k(tensor<device half, dextents<int, 2>> t, tensor<device const half, dextents<int, 2>> c) { c[0, 0] = 1; } // expect-error: const value
// ====
kernel void k(tensor<device half, dextents<int, 2>> t, tensor<device const half, dextents<int, 2>> c) { t.slice(1); } // expect-error: no matching member function
// ====
kernel void k(tensor<device half, dextents<int, 2>> t, tensor<device const half, dextents<int, 2>> c) { t.static_slice<4, 4>(0, 0); } // expect-error: no member named 'static_slice'
// ====
kernel void k(tensor<device half, dextents<int, 2>> t, tensor<device const half, dextents<int, 2>> c) { t.get_extent(); } // expect-error: too few arguments
// ====
kernel void k(tensor<device half, dextents<int, 2>> t, tensor<device const half, dextents<int, 2>> c) { t = c; } // expect-error: no viable
// ====
kernel void k(tensor<device half, dextents<int, 2>> t, tensor<device const half, dextents<int, 2>> c) { t.nothing(); } // expect-error: no member named 'nothing'
// ====
void f(tensor<threadgroup half, dextents<int, 2>> t) { t[0, 0] = 1; } // expect-error: in device or constant memory
// ====
void f(tensor<device float4, dextents<int, 2>> t) { (void)sizeof(t); } // expect-error: elements are half, bfloat, float, integers
// ====
void f(tensor<device half, dextents<int, 2>, tensor_offset> t) { (void)sizeof(t); } // expect-error: the descriptor is tensor_handle or tensor_inline
// ====
void f(device half *p) { tensor<device half, dextents<int, 2>> t(p, dextents<int, 2>(1, 2)); } // expect-error: no matching constructor
// ====
using E = dextents<int, 17>;
static_assert(E::rank() == 17); // expect-error: up to 16 dimensions
// ====
kernel void k(tensor<device half, dextents<int, 2>, tensor_inline> t [[buffer(0)]]) {} // expect-error: invalid type
// ====
kernel void k(tensor<device half, dextents<int, 2>> t [[texture(0)]]) {} // expect-error: 'texture' attribute only applies to textures
// ====
kernel void k(tensor<device half, dextents<int, 2>> t [[buffer(31)]]) {} // expect-error: out of bounds
// ====
kernel void k(tensor<device half, dextents<int, 2>> t [[buffer(1)]], device float *p [[buffer(1)]]) {} // expect-error: cannot reserve 'buffer' resource location
