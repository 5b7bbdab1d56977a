// Tensors as arguments, where they cannot be.
#include <metal_stdlib>
#include <metal_tensor>
using namespace metal;
kernel void inlined(tensor<device half, dextents<int, 2>, tensor_inline> t [[buffer(0)]]) {} // expect-error: invalid type
kernel void attribute(tensor<device half, dextents<int, 2>> t [[texture(0)]]) {} // expect-error: 'texture' attribute only applies to textures
kernel void twice(tensor<device half, dextents<int, 2>> t [[buffer(1)]], device float *p [[buffer(1)]]) {} // expect-error: cannot reserve 'buffer' resource location
kernel void high(tensor<device half, dextents<int, 2>> t [[buffer(31)]]) {} // expect-error: 'buffer' attribute parameter is out of bounds
kernel void many(array<tensor<device half, dextents<int, 2>>, 3> t [[buffer(29)]]) {} // expect-error: 'buffer' attribute parameter is out of bounds
