// Vectors that a program makes itself convert to each other, as Metal's own do.
#include <metal_stdlib>
using namespace metal;
typedef half half_v8 __attribute__((ext_vector_type(8)));
typedef float float_v8 __attribute__((ext_vector_type(8)));
typedef int int_v8 __attribute__((ext_vector_type(8)));
typedef short short_v8 __attribute__((ext_vector_type(8)));

// run: widened grid=50 group=32
// arg 0 = (iota(400, f32) / 4).astype(f16)
// arg 1 = np.zeros(400, f32)
// expect 1 = a0.astype(f32)
kernel void widened(device const half_v8 *a [[buffer(0)]], device float_v8 *o [[buffer(1)]], uint i [[thread_position_in_grid]]) {
    o[i] = float_v8(a[i]);
}
// run: narrowed grid=50 group=32
// arg 0 = iota(400, f32) / 4
// arg 1 = np.zeros(400, i16)
// expect 1 = a0.astype(i16) + a0.astype(f16).astype(i16)
kernel void narrowed(device const float_v8 *a [[buffer(0)]], device short_v8 *o [[buffer(1)]], uint i [[thread_position_in_grid]]) {
    o[i] = (short_v8)a[i] + (short_v8)half_v8(a[i]);
}
// run: of_one_size grid=50 group=32
// arg 0 = iota(400, f32) / 4
// arg 1 = np.zeros(400, i32)
// arg 2 = iota(400, i32)
// arg 3 = np.zeros(400, f32)
// expect 1 = a0.astype(i32)
// expect 3 = a2.astype(f32)
kernel void of_one_size(device const float_v8 *a [[buffer(0)]], device int_v8 *o [[buffer(1)]], device const int_v8 *b [[buffer(2)]],
                        device float_v8 *p [[buffer(3)]], uint i [[thread_position_in_grid]]) {
    o[i] = int_v8(a[i]);
    p[i] = (float_v8)b[i];
}
