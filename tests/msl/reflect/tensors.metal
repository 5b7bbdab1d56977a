// What reflection says of tensors.
#include <metal_stdlib>
#include <metal_tensor>
using namespace metal;
struct Layers {
    tensor<device half, dextents<int, 2>> w[2];
    tensor<device const int4b_format, dextents<uint, 2>> q;
    uint n;
};
kernel void k(tensor<device float, dextents<int, 2>> a, constant Layers &l [[buffer(3)]],
              tensor<constant bfloat, dextents<short, 1>> b [[buffer(1)]],
              array<tensor<device const half, extents<int, 4, dynamic_extent>>, 2> c) {}
// reflect: kernel k
// reflect:   a tensor<device float, dextents<int, 2>> device read_write index 0 count 1 slot 0 type 140 size 8 align 8
// reflect:   l Layers constant read index 3 count 1 slot 1 type 1 size 32 align 8
// reflect:   b tensor<constant bfloat, dextents<short, 1>> constant read index 1 count 1 slot 2 type 140 size 8 align 8
// reflect:   c tensor<device const half, extents<int, 4, dynamic_extent>> device read index 4 count 2 slot 3 type 140 size 8 align 8
// reflect: struct Layers size 32 align 8
// reflect:   +0 metal::tensor<device half, metal::extents<int, dynamic_extent, dynamic_extent>, metal::tensor_handle>[2] w type 2 elements 2 stride 8
// reflect:   +16 tensor<device const int4b_format, dextents<uint, 2>> q type 140
// reflect:   +24 uint n type 33
