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

// Indices before and behind a private array: what is written there is lost, what is beside it stays.
// Threads past the end of a row begin far below zero.
// run: private_ends grid=64 group=32 outside
// arg 0 = iota(64, f32)
// arg 1 = np.zeros(64, f32)
// arg 2 = np.array([27], i32)
// expect 1 = (lambda left: np.where(left >= 8, 8 * gx, np.where(left > 0, left * gx + (8 - left) * 1000, 8000)) + 3)(27 - 8 * (gx % 32))
// run: private_ends grid=64 group=16 outside
// arg 0 = iota(64, f32)
// arg 1 = np.zeros(64, f32)
// arg 2 = np.array([27], i32)
// expect 1 = (lambda left: np.where(left >= 8, 8 * gx, np.where(left > 0, left * gx + (8 - left) * 1000, 8000)) + 3)(27 - 8 * (gx % 16))
kernel void private_ends(device const float *in [[buffer(0)]], device float *out [[buffer(1)]], constant int &size [[buffer(2)]],
                         uint i [[thread_position_in_grid]], uint l [[thread_position_in_threadgroup]]) {
    float before[8] = {1}, t[8], after[8] = {2};
    int n = size - 8 * int(l);
    for (int k = 0; k < 8; k++) t[k] = in[i];
    if (n < 8)
        for (int k = n; k < 8; k++) t[k] = 1000;
    for (int k = n; k < n + 3; k++) // written nowhere but where it is
        if (k < 0 || k > 7) t[k] += 5;
    float sum = 0;
    for (int k = 0; k < 8; k++) sum += t[k] + before[(k + n) & 7] + after[(k + l) & 7];
    out[i] = sum;
}

// The same at one index for all threads.
// run: private_uniform_ends grid=40 group=8 outside
// arg 0 = np.array([-3, 9, 2, -100, 5, 1000000, 8, -1], i32)
// arg 1 = np.zeros(40, u32)
// expect 1 = gx * 8 + 20
kernel void private_uniform_ends(constant int *at [[buffer(0)]], device uint *out [[buffer(1)]], uint i [[thread_position_in_grid]]) {
    uint t[8];
    for (int k = 0; k < 8; k++) t[k] = i;
    for (int k = 0; k < 8; k++) t[at[k]] += 10;
    uint sum = 0;
    for (int k = 0; k < 8; k++) sum += t[k];
    out[i] = sum;
}
