// What Metal Performance Primitives do not have.
#include <metal_stdlib>
#include <metal_tensor>
#include <MetalPerformancePrimitives/MetalPerformancePrimitives.h>
using namespace metal;
using namespace mpp::tensor_ops;

typedef dextents<int, 2> X;
constant constexpr auto D = matmul2d_descriptor(16, 16, 16);

kernel void integers(tensor<device int, X> A, tensor<device int, X> B, tensor<device int, X> C) {
    matmul2d<D, execution_simdgroup> op;
    op.run(A, B, C); // expect-error: matmul2d does not support this combination of element types
}
kernel void narrow(tensor<device float, X> A, tensor<device float, X> B, tensor<device half, X> C) {
    matmul2d<D, execution_simdgroup> op;
    op.run(A, B, C); // expect-error: matmul2d does not support this combination of element types
}
kernel void private_memory(device half *x, tensor<device half, X> B, tensor<device half, X> C) {
    half a[256];
    auto A = tensor(a, X(16, 16));
    matmul2d<D, execution_simdgroup> op;
    op.run(A, B, C); // expect-error: tensors in thread memory need the scope execution_thread
}
kernel void inputs_of_many(tensor<device half, X> B) {
    matmul2d<D, execution_simdgroups<2>> op;
    op.get_left_input_cooperative_tensor<half, half, float>(); // expect-error: cooperative tensors are inputs of matmul2d only by one SIMD-group
}
kernel void rows_of_many(tensor<device half, X> A, tensor<device half, X> B) {
    matmul2d<D, execution_simdgroups<2>> op;
    op.get_row_reduction_destination_cooperative_tensor<decltype(A), decltype(B), float>(); // expect-error: reductions of cooperative tensors need the scope execution_simdgroup
}
kernel void element_types(tensor<device half, X> A) {
    matmul2d<D, execution_simdgroup> op;
    auto c = op.get_destination_cooperative_tensor<half, half, float>(); // expect-error: no matching member function
}
kernel void three_dimensions(tensor<device half, dextents<int, 3>> A, tensor<device half, X> B, tensor<device half, X> C) {
    matmul2d<D, execution_simdgroup> op;
    op.run(A, B, C); // expect-error: operations on matrices need tensors of rank 2
}
kernel void temporary(tensor<device half, X> A, tensor<device half, X> B, tensor<device half, X> C) {
    matmul2d<D, execution_simdgroup> op;
    op.run(A.slice(0, 0), B, C); // expect-error: no matching member function
}
kernel void scope(tensor<device half, X> A, tensor<device half, X> B, tensor<device half, X> C) {
    matmul2d<D, int> op; // expect-error: the scope of matmul2d is execution_thread
    op.run(A, B, C);
}
