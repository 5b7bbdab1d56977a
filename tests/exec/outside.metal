// SPDX-License-Identifier: Apache-2.0
// Threads that are off must not read: arrays lie against pages nobody may touch.
#include <metal_stdlib>
using namespace metal;

// The index of threads that are off wraps, or lies before or past the array.
// run: wrapping grid=64,4 group=16,4
// arg 0 = iota(59, u32)
// arg 1 = np.zeros(256, u32)
// expect 1 = np.where(gx >= 5, (gx - 5) + np.where(gx < 59, (58 - np.minimum(gx, 58)) * 1000, 0) + gy, 7)
kernel void wrapping(device const uint *a [[buffer(0)]], device uint *out [[buffer(1)]],
                     uint2 i [[thread_position_in_grid]]) {
    uint r = 7;
    if (i.x >= 5) {
        r = a[i.x - 5u] + a[i.y];
        if (i.x < 59) r += a[58u - i.x] * 1000;
    }
    out[i.y * 64 + i.x] = r;
}

// Bytes and half words are gathered as words.
// run: narrow grid=99 group=32
// arg 0 = iota(33, u8)
// arg 1 = np.zeros(99, u8)
// arg 2 = iota(11, u16)
// expect 1 = np.where(gx % 3 == 0, gx // 3 + np.where(gx % 9 == 0, gx // 9, 0), 99)
kernel void narrow(device const uchar *a [[buffer(0)]], device uchar *out [[buffer(1)]],
                   device const ushort *h [[buffer(2)]], uint i [[thread_position_in_grid]]) {
    uchar r = 99;
    if (i % 3 == 0) {
        r = a[i / 3];
        if (i % 9 == 0) r += h[i / 9];
    }
    out[i] = r;
}

struct Record {
    packed_float3 p;
    float w;
};
// run: records grid=37 group=8
// arg 0 = iota(37 * 4, f32)
// arg 1 = np.zeros(37 * 3, f32)
// expect 1 = (np.repeat(gx, 3) * 4 + np.tile([0, 1, 2], 37)) * (np.repeat(gx, 3) % 5 != 2)
kernel void records(device const Record *a [[buffer(0)]], device packed_float3 *out [[buffer(1)]],
                    uint i [[thread_position_in_grid]]) {
    if (i % 5 != 2) out[i] = a[i].p;
}

// One load for each row of a SIMD-group, some rows off.
// run: rows grid=20,10 group=16,4
// arg 0 = iota(9, u32)
// arg 1 = np.zeros(200, u32)
// arg 2 = u32(9)
// expect 1 = np.where(gy < 9, gy, 5)
kernel void rows(device const uint *a [[buffer(0)]], device uint *out [[buffer(1)]], constant uint &n [[buffer(2)]],
                 uint2 i [[thread_position_in_grid]], uint2 s [[threads_per_grid]]) {
    uint r = 5;
    if (i.y < n) r = a[i.y];
    out[i.y * s.x + i.x] = r;
}
