// Tensors that Metal refuses.
#include <metal_stdlib>
#include <metal_tensor>
using namespace metal;
void space(tensor<threadgroup half, dextents<int, 2>> t) { t[0, 0] = 1; } // expect-error: elements of a tensor_handle are in device or constant memory
void element(tensor<device float4, dextents<int, 2>> t) { (void)sizeof(t); } // expect-error: elements are half, bfloat, float, integers
void descriptor(tensor<device half, dextents<int, 2>, tensor_offset> t) { (void)sizeof(t); } // expect-error: the descriptor is tensor_handle or tensor_inline
void tag(tensor<device half, dextents<int, 2>, tensor_inline, tensor_offset> t) { (void)sizeof(t); } // expect-error: the only tag is tensor_offset
void rank(tensor<device half, dextents<int, 2>> t) {
    t[0] = 1; // expect-error: no viable overloaded operator[]
    t[0, 1, 2] = 1; // expect-error: no viable overloaded operator[]
}
void constants(tensor<device const half, dextents<int, 1>> t) { t[0] = 1; } // expect-error: const value
void slices(tensor<device half, dextents<int, 2>> t) {
    t.slice(1); // expect-error: no matching member function for call to 'slice'
    t.slice<64>(0); // expect-error: no matching member function for call to 'slice'
    t.static_slice<4, 4>(0, 0); // expect-error: no member named 'static_slice'
}
void construct(device half *p) {
    tensor<device half, dextents<int, 2>> t(p, dextents<int, 2>(1, 2)); // expect-error: no matching constructor
}
using many = extents<int, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1>;
static_assert(many::rank() == 17); // expect-error: up to 16 dimensions
void nibble(tensor<device uint4b_format, dextents<int, 2>> t) { (void)t[0, 0]; } // expect-error: cannot be accessed one by one
