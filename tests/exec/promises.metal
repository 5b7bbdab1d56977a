// SPDX-License-Identifier: Apache-2.0
// What the vectoriser may assume about clamped and wrapping indices, and what not.
#include <metal_stdlib>
using namespace metal;

// The value chosen is not the one compared: that one is in range, this one crosses 2^31.
// run: select_other grid=64 group=64
// arg 0 = np.zeros(64, i64)
// arg 1 = u32(0x7ffffff0)
// arg 2 = u32(200)
// expect 0 = (gx.astype(i64) + 0x7ffffff0).astype(u32).astype(i32).astype(i64)
kernel void select_other(device long *out [[buffer(0)]], constant uint &base [[buffer(1)]],
                         constant uint &n [[buffer(2)]], uint i [[thread_position_in_grid]]) {
    uint v = i < n ? i + base : n;
    out[i] = long(int(v));
}

// In range as unsigned numbers, not as signed ones.
// run: unsigned_min grid=64 group=64
// arg 0 = np.zeros(64, i64)
// arg 1 = u32(0x7ffffff0)
// arg 2 = u32(0xfffffff0)
// expect 0 = (gx.astype(i64) + 0x7ffffff0).astype(u32).astype(i32).astype(i64)
kernel void unsigned_min(device long *out [[buffer(0)]], constant uint &base [[buffer(1)]],
                         constant uint &n [[buffer(2)]], uint i [[thread_position_in_grid]]) {
    out[i] = long(int(min(i + base, n)));
}

// A shift behind a test of its amount, and a clamp that depends on it.
// run: guarded_shift grid=64 group=64
// arg 0 = iota(64, u32) + 100
// arg 1 = u32(40)
// arg 2 = u32(63)
// arg 3 = np.zeros(64, u32)
// expect 3 = gx + 100
// run: guarded_shift grid=64 group=16
// arg 0 = iota(64, u32) + 100
// arg 1 = u32(2)
// arg 2 = u32(63)
// arg 3 = np.zeros(64, u32)
// expect 3 = 300 + np.minimum(gx + 4, 63) + gx + np.minimum(gx + 1, 63)
kernel void guarded_shift(device const uint *a [[buffer(0)]], constant uint &s [[buffer(1)]],
                          constant uint &n [[buffer(2)]], device uint *out [[buffer(3)]],
                          uint i [[thread_position_in_grid]]) {
    uint r = a[min(i, n)];
    if (s < 32) {
        r = a[min(i + (1u << s), n)];
        for (uint k = 0; k < s; k++) r += a[min(i + k, n)];
    }
    out[i] = r;
}

// LLVM infers that i - k does not wrap where i >= k, and then computes it for all threads: the first
// one of the SIMD-group wraps, its value is thrown away.
// run: speculated grid=64 group=64
// arg 0 = np.zeros(64, u64)
// arg 1 = iota(64, u32)
// arg 2 = u32(27)
// expect 0 = np.where(gx >= 27, (gx.astype(i64) - 27) * 5 + gx, 5) + np.where(gx & 1, gx * 3, gx + 7)
kernel void speculated(device ulong *out [[buffer(0)]], device const uint *a [[buffer(1)]],
                       constant uint &k [[buffer(2)]], uint i [[thread_position_in_threadgroup]]) {
    ulong r = 5;
    uint t;
    if (i & 1) t = a[i] * 3;
    else t = a[i] + 7;
    if (i >= k) r = ulong(i - k) * 5 + a[i];
    out[i] = r + t;
}
