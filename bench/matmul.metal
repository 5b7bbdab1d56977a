// SPDX-License-Identifier: Apache-2.0
// matmul.metal: matmul2d for bench_matmul: 64 x 64 of the result per threadgroup of four SIMD-groups, the
// whole of K in one call.
#include <metal_stdlib>
#include <metal_tensor>
#include <MetalPerformancePrimitives/MetalPerformancePrimitives.h>
using namespace metal;
using namespace mpp::tensor_ops;
template <typename T, typename R, bool TA, bool TB>
kernel void product(device T *a [[buffer(0)]], device T *b [[buffer(1)]],
                    device R *c [[buffer(2)]], constant int &n [[buffer(3)]],
                    uint2 group [[threadgroup_position_in_grid]]) {
    auto A = tensor<device T, dextents<int, 2>, tensor_inline>(a, dextents<int, 2>(n, n));
    auto B = tensor<device T, dextents<int, 2>, tensor_inline>(b, dextents<int, 2>(n, n));
    auto C = tensor<device R, dextents<int, 2>, tensor_inline>(c, dextents<int, 2>(n, n));
    constexpr auto desc = matmul2d_descriptor(64, 64, dynamic_length_v<int>, TA, TB);
    auto tA = TA ? A.slice(group.y * 64, 0) : A.slice(0, group.y * 64);
    auto tB = TB ? B.slice(0, group.x * 64) : B.slice(group.x * 64, 0);
    auto tC = C.slice(group.x * 64, group.y * 64);
    matmul2d<desc, execution_simdgroups<4>>().run(tA, tB, tC);
}
#define MAKE(name, T, R, TA, TB) \
    template [[host_name(name)]] kernel void product<T, R, TA, TB>( \
        device T *, device T *, device R *, constant int &, uint2);
MAKE("f32", float, float, false, false)
MAKE("f32_tn", float, float, true, false)
MAKE("f32_nt", float, float, false, true)
MAKE("f16", half, float, false, false)
MAKE("f16_nt", half, float, false, true)
MAKE("bf16", bfloat, float, false, false)
MAKE("bf16_nt", bfloat, float, false, true)
MAKE("i8", char, int, false, false)
