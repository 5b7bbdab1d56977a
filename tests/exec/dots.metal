// Sums of dot products that loops carry, as codegen/dots.c finds them or does not. All numbers are
// whole and small: any order gives the same. tests/compiler/test_sums.c has the order.
#include <metal_stdlib>
using namespace metal;

// run: rows grid=320 group=64
// arg 0 = ints(10 * 300, -9, 9, 1).astype(np.float16)
// arg 1 = ints(300, -9, 9, 2).astype(f32)
// arg 2 = np.zeros(10, f32)
// arg 3 = u32(75)
// expect 2 = a0.astype(f32).reshape(10, 300) @ a1
kernel void rows(device const half4 *a [[buffer(0)]], device const float4 *x [[buffer(1)]],
                 device float *y [[buffer(2)]], constant uint &n [[buffer(3)]],
                 uint i [[thread_position_in_grid]], ushort lane [[thread_index_in_simdgroup]]) {
    device const half4 *r = a + i / 32 * n;
    float s = 0;
    for (uint k = lane; k < n; k += 32) s += dot(float4(r[k]), x[k]);
    s = simd_sum(s);
    if (lane == 0) y[i / 32] = s;
}

// Two in a round, from a number that is not zero, and used in both of two ways behind the loop.
// run: pairs grid=70 group=32
// arg 0 = ints(2 * 70 * 8, -9, 9, 3).astype(f32)
// arg 1 = iota(70)
// arg 2 = np.zeros(70, f32)
// arg 3 = u32(4)
// expect 2 = np.where(gx % 3 == 0, 2, 1) * (a1 + (a0.reshape(8, 70, 2)[0::2] * a0.reshape(8, 70, 2)[1::2]).sum((0, 2)) + (a0.reshape(8, 70, 2) ** 2).sum((0, 2)) - (a0.reshape(8, 70, 2)[0::2] ** 2).sum((0, 2)))
kernel void pairs(device const float2 *a [[buffer(0)]], device const float *b [[buffer(1)]],
                  device float *y [[buffer(2)]], constant uint &n [[buffer(3)]],
                  uint i [[thread_position_in_grid]]) {
    float s = b[i];
    for (uint k = 0; k < n; k++) {
        const float2 p = a[2 * k * 70 + i], q = a[(2 * k + 1) * 70 + i];
        s += dot(p, q) + dot(q, q);
    }
    y[i] = i % 3 == 0 ? s + s : s;
}

// Rounds that differ between threads; a sum in a sum; a number that the loop looks at.
// run: ragged grid=100 group=50
// arg 0 = np.ones(4 * 160, f32) * 2
// arg 1 = np.zeros(100, f32)
// expect 1 = 16 * (gx % 7 + 1) + 16 * (gx % 5) * 3 + 16 * np.minimum(gx % 9, 4)
kernel void ragged(device const float4 *a [[buffer(0)]], device float *y [[buffer(1)]],
                   uint i [[thread_position_in_grid]]) {
    float s = 0, all = 0, most = 0;
    uint k = 0;
    do s += dot(a[i + k], a[i + k + 1]);
    while (++k < i % 7 + 1);
    for (uint j = 0; j < i % 5; j++) {
        float part = 0;
        for (uint m = 0; m < 3; m++) part += dot(a[i + m], a[i + j + m]);
        all += part;
    }
    for (uint j = 0; j < i % 9; j++) {
        if (most >= 64) break;
        most += dot(a[i + j], a[i]);
    }
    y[i] = s + all + most;
}
