// Metal Performance Primitives in the forms that programs use.
#include <metal_stdlib>
#include <metal_tensor>
#include <MetalPerformancePrimitives/MetalPerformancePrimitives.h>
using namespace metal;
using namespace mpp::tensor_ops;
namespace to = mpp::tensor_ops;

// Arguments that are tensors, tiles of a threadgroup, edges clipped by the extents.
kernel void simple(tensor<device half, dextents<int32_t, 2>> A, tensor<device half, dextents<int32_t, 2>> B,
                   tensor<device float, dextents<int32_t, 2>> C, uint2 tgid [[threadgroup_position_in_grid]]) {
    constexpr auto descriptor = matmul2d_descriptor(64, 32, static_cast<int>(dynamic_extent), false, false, false);
    matmul2d<descriptor, execution_simdgroups<4>> op;
    static_assert(decltype(op)::descriptor.m == 64);
    auto mA = A.slice(0, tgid.y * 64);
    auto mB = B.slice(tgid.x * 32, 0);
    auto mC = C.slice(tgid.x * 32, tgid.y * 64);
    op.run(mA, mB, mC);
}

// k = 0 stands for the tensors' own, too; static slices inside.
kernel void inner(device half *a, device half *b, device half *c, uint2 tgid [[threadgroup_position_in_grid]]) {
    auto A = tensor<device half, dextents<int32_t, 2>, tensor_inline>(a, dextents<int32_t, 2>(128, 128));
    auto B = tensor<device half, dextents<int32_t, 2>, tensor_inline>(b, dextents<int32_t, 2>(128, 128));
    auto C = tensor<device half, dextents<int32_t, 2>, tensor_inline>(c, dextents<int32_t, 2>(128, 128));
    constexpr auto descriptor = matmul2d_descriptor(64, 32, 0, false, false, false);
    matmul2d<descriptor, execution_simdgroups<4>> op;
    auto tA = A.slice<dynamic_extent, 64>(0, tgid.y * 64);
    auto tB = B.slice<32, dynamic_extent>(tgid.x * 32, 0);
    auto tC = C.slice<32, 64>(tgid.x * 32, tgid.y * 64);
    op.run(tA, tB, tC);
    matmul2d<matmul2d_descriptor(64, 32, 16, false, false, true, matmul2d_descriptor::mode::multiply_accumulate),
             execution_simdgroups<4>>{}
        .run(tA, tB, tC);
}

// Post-processing in registers, with a bias of the same layout.
template <typename T, int BM, int BN, bool TransposeB>
METAL_FUNC void biased(tensor<device T, dextents<int, 2>> A, tensor<device T, dextents<int, 2>> B,
                       tensor<device float, dextents<int, 2>> C, tensor<device float, dextents<int, 2>> bias) {
    constexpr auto desc = to::matmul2d_descriptor(BM, BN, to::dynamic_length_v<int>, false, TransposeB);
    to::matmul2d<desc, metal::execution_simdgroups<2>> op;
    auto cT = op.template get_destination_cooperative_tensor<decltype(A), decltype(B), float>();
#pragma unroll full
    for (uint16_t i = 0; i < cT.get_capacity(); ++i)
        if (cT.is_valid_element(i)) cT[i] = 0;
    op.run(A, B, cT);
    auto bT = op.template get_destination_cooperative_tensor<decltype(A), decltype(B), float>();
    bT.load(bias);
    for (uint16_t i = 0; i < cT.get_capacity(); ++i) {
        if (!cT.get_mask(i)) continue;
        cT[i] += bT[i];
        const auto ids = cT.get_multidimensional_index(i);
        cT.set(i, cT.get(i) + float(ids[0]) * ids[1]);
    }
    cT.store(C);
}
kernel void bias_half(tensor<device half, dextents<int, 2>> A, tensor<device half, dextents<int, 2>> B,
                      tensor<device float, dextents<int, 2>> C, tensor<device float, dextents<int, 2>> bias) {
    biased<half, 32, 32, true>(A, B, C, bias);
}

// Fragments in registers of one SIMD-group, as array frameworks have them.
template <typename AType, typename BType, typename CType, bool TB>
METAL_FUNC void mma(thread vec<CType, 4> (&c)[4], const thread vec<AType, 4> (&a)[2], const thread vec<BType, 4> (&b)[4]) {
    constexpr auto desc = mpp::tensor_ops::matmul2d_descriptor(
        16, 32, 16, false, TB, true, mpp::tensor_ops::matmul2d_descriptor::mode::multiply_accumulate);
    mpp::tensor_ops::matmul2d<desc, metal::execution_simdgroup> op;
    auto ct_a = op.template get_left_input_cooperative_tensor<AType, BType, CType>();
    auto ct_b = op.template get_right_input_cooperative_tensor<AType, BType, CType>();
    auto ct_c = op.template get_destination_cooperative_tensor<decltype(ct_a), decltype(ct_b), CType>();
    static_assert(decltype(ct_a)::get_capacity() == 8);
    for (short i = 0; i < 8; ++i) ct_a[i] = a[i / 4][i % 4];
    for (short i = 0; i < 16; ++i) ct_b[i] = b[i / 4][i % 4], ct_c[i] = c[i / 4][i % 4];
    op.run(ct_a, ct_b, ct_c);
    for (short i = 0; i < 16; ++i) c[i / 4][i % 4] = ct_c[i];
}
kernel void fragments(device half *x, device float *y, uint lane [[thread_index_in_simdgroup]]) {
    vec<half, 4> a[2], b[4];
    vec<float, 4> c[4] = {};
    for (int i = 0; i < 2; i++) a[i] = ((device half4 *)x)[lane * 2 + i];
    for (int i = 0; i < 4; i++) b[i] = ((device half4 *)x)[lane * 4 + i];
    mma<half, half, float, false>(c, a, b);
    mma<half, half, float, true>(c, a, b);
    for (int i = 0; i < 4; i++) ((device float4 *)y)[lane * 4 + i] = c[i];
}

// Weights in structures of tensors; one thread a network.
struct Layers {
    tensor<device half, dextents<int, 2>> weights[16];
    tensor<device half, dextents<int, 1>> biases[16];
};
template <int N> METAL_FUNC void layer(thread half *in, thread half *out, constant Layers &net, uint l) {
    auto x = tensor(in, dextents<int, 2>(N, 1));
    auto y = tensor(out, dextents<int, 2>(N, 1));
    auto w = net.weights[l];
    constexpr auto d = matmul2d_descriptor(1, N, dynamic_length_v<int>, false, false, false,
                                           matmul2d_descriptor::mode::multiply);
    matmul2d<d, execution_thread>{}.run(x, w, y);
    for (int i = 0; i < N; i++) out[i] = sin(out[i] + net.biases[l][i]);
}
kernel void network(constant Layers &net [[buffer(0)]], constant uint &count [[buffer(1)]],
                    device half *result [[buffer(2)]], uint id [[thread_position_in_grid]]) {
    half a[64] = {}, b[64];
    a[0] = id;
    for (uint l = 0; l < count; l += 2) {
        layer<64>(a, b, net, l);
        layer<64>(b, a, net, l + 1);
    }
    result[id] = a[0];
}

// Small networks also run for each pixel.
struct Varyings {
    float4 position [[position]];
    float2 uv;
};
fragment float4 shade(Varyings in [[stage_in]], constant Layers &net [[buffer(0)]]) {
    half a[16] = {}, b[16];
    a[0] = in.uv.x, a[1] = in.uv.y;
    layer<16>(a, b, net, 0);
    return float4(b[0], b[1], b[2], 1);
}

// Every type of the table's small ends.
kernel void formats(tensor<device half, dextents<int, 2>> H, tensor<device bfloat, dextents<int, 2>> F,
                    tensor<device int8_t, dextents<int, 2>> I, tensor<device uint8_t, dextents<int, 2>> U,
                    tensor<device int4b_format, dextents<int, 2>> I4, tensor<device uint4b_format, dextents<int, 2>> U4,
                    tensor<device int32_t, dextents<int, 2>> R, tensor<device float, dextents<int, 2>> S) {
    constexpr auto d = matmul2d_descriptor(16, 16, 32);
    matmul2d<d, execution_simdgroup> op;
    op.run(I, I, R);
    op.run(U, U, R);
    op.run(I, I4, R);
    op.run(U, U4, R);
    op.run(H, I4, S);
    op.run(H, U4, H);
    op.run(F, I4, F);
    op.run(F, U4, S);
    op.run(F, H, H);
    matmul2d<d, execution_thread> one;
    one.run(H, I4, S);
}

// Weights in constant memory.
kernel void from_constant(tensor<constant half, dextents<int, 2>> W, device half *x, device half *y) {
    auto X = tensor(x, dextents<int, 2>(16, 1));
    auto Y = tensor(y, dextents<int, 2>(16, 1));
    matmul2d<matmul2d_descriptor(1, 16), execution_simdgroup> op;
    op.run(X, W, Y);
}

// Constant elements, other index types, objects that are const, statements in loops.
kernel void variants(device const half *a, constant half *b, device float *c, constant uint &n,
                     threadgroup bfloat *t [[threadgroup(0)]], uint s [[simdgroup_index_in_threadgroup]]) {
    const auto A = tensor(a, dextents<uint, 2>(n, 16u));
    auto B = tensor(b, extents<int, 32, dynamic_extent>(n));
    tensor<device float, extents<int, 32, 16>, tensor_inline> C(c, extents<int, 32, 16>());
    const matmul2d<matmul2d_descriptor(16, 32), execution_simdgroup> op;
    for (uint i = s; i < n; i += 4) op.run(A, B, C);
    auto T = tensor(t, dextents<short, 2>(16, 16), array<short, 2>{1, 20});
    auto U = T.slice<16, 8>(0, 8);
    matmul2d<matmul2d_descriptor(16, 8, 16, false, true), execution_simdgroup> other;
    auto d = other.get_destination_cooperative_tensor<decltype(T), decltype(U), bfloat, short>();
    other.run(T, U, d);
    for (auto it = d.begin(); it < d.end(); it += 2) *it = it[1];
    using Left = decltype(other)::cooperative_tensor_left_input_t<char, char, int>;
    using Rows = decltype(other)::cooperative_tensor_row_reduction_destination_t<decltype(T), decltype(U), bfloat>;
    static_assert(Left::get_rank() == 2 && Rows::get_rank() == 1);
    static_assert(is_execution_simdgroup_v<decltype(op)::scope> && is_cooperative_tensor_v<Left>);
    if (d.is_valid_element(0)) c[0] = d[0] + d.get_multidimensional_index(d.begin())[1];
}

constant constexpr auto window =
    convolution2d_descriptor(int4(16, 8, 8, 1), int4(8, 10, 10, 1), int2(3, 3));
kernel void filtered(tensor<device half, dextents<int, 4>> x, tensor<device half, dextents<int, 4>> w,
                     tensor<device half, dextents<int, 4>> y) {
    convolution2d<window, execution_simdgroups<4>> op;
    op.set_offsets(int2(-1, -1));
    auto t = op.get_destination_cooperative_tensor<decltype(x), decltype(w), float>();
    op.run(x, w, t);
    t.store(y);
}
