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

// Clamped indices that go with the counters of loops: from the first round to the last none may be clamped, or all are looked at.
// run: counted grid=320 group=64
// arg 0 = ints(320, -99, 99).astype(i32)
// arg 1 = np.zeros(320, i32)
// arg 2 = np.array([3, 320], i32)
// expect 1 = (lambda a, x, r, n: 0 * x + sum((k + 50) * a[np.clip(x + k, 0, n - 1)] for k in range(-r, r + 1)) + sum((k + 3) * a[np.maximum(x - k, 0)] for k in range(r)) + sum((k + 7) * a[np.minimum(x + k, n - 1)] for k in range(max(r, 0))) + sum((k + 11) * a[np.clip(x + k, 0, n - 1)] for k in range(-r, r, 3)) + sum((k + 13) * a[np.clip(x + k, 5, n - 1)] for k in range(-r, r + 1)))(a0.astype(i64), gx.astype(i64), a2[0], a2[1])
// run: counted grid=320 group=64
// arg 0 = ints(320, -99, 99).astype(i32)
// arg 1 = np.zeros(320, i32)
// arg 2 = np.array([0, 320], i32)
// expect 1 = (lambda a, x, r, n: 0 * x + sum((k + 50) * a[np.clip(x + k, 0, n - 1)] for k in range(-r, r + 1)) + sum((k + 3) * a[np.maximum(x - k, 0)] for k in range(r)) + sum((k + 7) * a[np.minimum(x + k, n - 1)] for k in range(max(r, 0))) + sum((k + 11) * a[np.clip(x + k, 0, n - 1)] for k in range(-r, r, 3)) + sum((k + 13) * a[np.clip(x + k, 5, n - 1)] for k in range(-r, r + 1)))(a0.astype(i64), gx.astype(i64), a2[0], a2[1])
// run: counted grid=128 group=64
// arg 0 = ints(128, -99, 99).astype(i32)
// arg 1 = np.zeros(128, i32)
// arg 2 = np.array([-4, 128], i32)
// expect 1 = (lambda a, x, r, n: 0 * x + sum((k + 50) * a[np.clip(x + k, 0, n - 1)] for k in range(-r, r + 1)) + sum((k + 3) * a[np.maximum(x - k, 0)] for k in range(r)) + sum((k + 7) * a[np.minimum(x + k, n - 1)] for k in range(max(r, 0))) + sum((k + 11) * a[np.clip(x + k, 0, n - 1)] for k in range(-r, r, 3)) + sum((k + 13) * a[np.clip(x + k, 5, n - 1)] for k in range(-r, r + 1)))(a0.astype(i64), gx.astype(i64), a2[0], a2[1])
// run: counted grid=320 group=32
// arg 0 = ints(320, -99, 99).astype(i32)
// arg 1 = np.zeros(320, i32)
// arg 2 = np.array([40, 320], i32)
// expect 1 = (lambda a, x, r, n: 0 * x + sum((k + 50) * a[np.clip(x + k, 0, n - 1)] for k in range(-r, r + 1)) + sum((k + 3) * a[np.maximum(x - k, 0)] for k in range(r)) + sum((k + 7) * a[np.minimum(x + k, n - 1)] for k in range(max(r, 0))) + sum((k + 11) * a[np.clip(x + k, 0, n - 1)] for k in range(-r, r, 3)) + sum((k + 13) * a[np.clip(x + k, 5, n - 1)] for k in range(-r, r + 1)))(a0.astype(i64), gx.astype(i64), a2[0], a2[1])
// run: counted grid=320 group=16
// arg 0 = ints(320, -99, 99).astype(i32)
// arg 1 = np.zeros(320, i32)
// arg 2 = np.array([3, 320], i32)
// expect 1 = (lambda a, x, r, n: 0 * x + sum((k + 50) * a[np.clip(x + k, 0, n - 1)] for k in range(-r, r + 1)) + sum((k + 3) * a[np.maximum(x - k, 0)] for k in range(r)) + sum((k + 7) * a[np.minimum(x + k, n - 1)] for k in range(max(r, 0))) + sum((k + 11) * a[np.clip(x + k, 0, n - 1)] for k in range(-r, r, 3)) + sum((k + 13) * a[np.clip(x + k, 5, n - 1)] for k in range(-r, r + 1)))(a0.astype(i64), gx.astype(i64), a2[0], a2[1])
// run: counted grid=1024 group=256
// arg 0 = ints(1024, -99, 99).astype(i32)
// arg 1 = np.zeros(1024, i32)
// arg 2 = np.array([9, 1024], i32)
// expect 1 = (lambda a, x, r, n: 0 * x + sum((k + 50) * a[np.clip(x + k, 0, n - 1)] for k in range(-r, r + 1)) + sum((k + 3) * a[np.maximum(x - k, 0)] for k in range(r)) + sum((k + 7) * a[np.minimum(x + k, n - 1)] for k in range(max(r, 0))) + sum((k + 11) * a[np.clip(x + k, 0, n - 1)] for k in range(-r, r, 3)) + sum((k + 13) * a[np.clip(x + k, 5, n - 1)] for k in range(-r, r + 1)))(a0.astype(i64), gx.astype(i64), a2[0], a2[1])
kernel void counted(device const int *in [[buffer(0)]], device int *out [[buffer(1)]], constant int2 &how [[buffer(2)]],
                    uint i [[thread_position_in_grid]]) {
    int r = how.x, n = how.y, x = i, sum = 0;
    for (int k = -r; k <= r; k++) sum += (k + 50) * in[clamp(x + k, 0, n - 1)];
    for (int k = 0; k < r; k++) sum += (k + 3) * in[max(x - k, 0)];
    for (uint k = 0; k != uint(max(r, 0)); k++) sum += int(k + 7) * in[min(i + k, uint(n) - 1)];
    for (int k = -r; k < r; k += 3) sum += (k + 11) * in[clamp(x + k, 0, n - 1)];
    for (long k = -r; k <= long(r); k++) sum += (int(k) + 13) * in[clamp(int(x + k), 5, n - 1)];
    out[i] = sum;
}

// A counter that is left early: its last number lies where i + k has wrapped, and is never reached.
// run: counted_far grid=128 group=64
// arg 0 = ints(256, -99, 99).astype(i32)
// arg 1 = np.zeros(128, i32)
// arg 2 = np.array([0xfffffff0, 255, 6], u32)
// expect 1 = sum(a0[np.minimum(gx + k, 255)] for k in range(6))
kernel void counted_far(device const int *in [[buffer(0)]], device int *out [[buffer(1)]], constant uint3 &how [[buffer(2)]],
                        uint i [[thread_position_in_grid]]) {
    int sum = 0;
    for (uint k = 0; k != how.x; k++) {
        if (k == how.z) break;
        sum += in[min(i + k, how.y)];
    }
    out[i] = sum;
}
