// Grids that threadgroups do not divide: nothing outside may be touched, everything inside must be.
#include <metal_stdlib>
using namespace metal;

// run: add grid=1000 group=256
// arg 0 = iota(1000)
// arg 1 = rand(1000)
// arg 2 = np.zeros(1000, f32)
// expect 2 = a0 + a1
// run: add grid=31 group=32
// arg 0 = iota(31)
// arg 1 = rand(31)
// arg 2 = np.zeros(31, f32)
// expect 2 = a0 + a1
// run: add grid=1 group=1024
// arg 0 = iota(1)
// arg 1 = rand(1)
// arg 2 = np.zeros(1, f32)
// expect 2 = a0 + a1
// run: add grid=33 group=1
// arg 0 = iota(33)
// arg 1 = rand(33)
// arg 2 = np.zeros(33, f32)
// expect 2 = a0 + a1
// run: add grid=997 group=7
// arg 0 = iota(997)
// arg 1 = rand(997)
// arg 2 = np.zeros(997, f32)
// expect 2 = a0 + a1
kernel void add(device const float *a [[buffer(0)]], device const float *b [[buffer(1)]], device float *c [[buffer(2)]],
                uint i [[thread_position_in_grid]]) {
    c[i] = a[i] + b[i];
}

// run: transpose grid=37,23 group=16,16
// arg 0 = iota(37 * 23)
// arg 1 = np.zeros(37 * 23, f32)
// arg 2 = np.array([37, 23], u32)
// expect 1 = a0.reshape(23, 37).T
// run: transpose grid=37,23 group=8,8
// arg 0 = iota(37 * 23)
// arg 1 = np.zeros(37 * 23, f32)
// arg 2 = np.array([37, 23], u32)
// expect 1 = a0.reshape(23, 37).T
// run: transpose grid=64,64 group=16,16
// arg 0 = iota(64 * 64)
// arg 1 = np.zeros(64 * 64, f32)
// arg 2 = np.array([64, 64], u32)
// expect 1 = a0.reshape(64, 64).T
// run: transpose grid=100,50 group=64,4
// arg 0 = iota(5000)
// arg 1 = np.zeros(5000, f32)
// arg 2 = np.array([100, 50], u32)
// expect 1 = a0.reshape(50, 100).T
kernel void transpose(device const float *a [[buffer(0)]], device float *b [[buffer(1)]], constant uint2 &size [[buffer(2)]],
                      uint2 g [[thread_position_in_grid]]) {
    b[g.x * size.y + g.y] = a[g.y * size.x + g.x];
}

// run: blur grid=50,40 group=16,16
// arg 0 = rand(2000)
// arg 1 = np.zeros(2000, f32)
// arg 2 = np.array([50, 40], i32)
// close 1 = (lambda p: sum(p[2 + dy:42 + dy, 2 + dx:52 + dx] for dy in range(-2, 3) for dx in range(-2, 3)) / 25)(np.pad(a0.reshape(40, 50), 2, mode='edge'))
// run: blur grid=96,32 group=32,8
// arg 0 = rand(96 * 32)
// arg 1 = np.zeros(96 * 32, f32)
// arg 2 = np.array([96, 32], i32)
// close 1 = (lambda p: sum(p[2 + dy:34 + dy, 2 + dx:98 + dx] for dy in range(-2, 3) for dx in range(-2, 3)) / 25)(np.pad(a0.reshape(32, 96), 2, mode='edge'))
// run: blur grid=200,44 group=64,16
// arg 0 = rand(200 * 44)
// arg 1 = np.zeros(200 * 44, f32)
// arg 2 = np.array([200, 44], i32)
// close 1 = (lambda p: sum(p[2 + dy:46 + dy, 2 + dx:202 + dx] for dy in range(-2, 3) for dx in range(-2, 3)) / 25)(np.pad(a0.reshape(44, 200), 2, mode='edge'))
kernel void blur(device const float *in [[buffer(0)]], device float *out [[buffer(1)]], constant int2 &size [[buffer(2)]],
                 uint2 g [[thread_position_in_grid]]) {
    float sum = 0;
    for (int dy = -2; dy <= 2; dy++)
        for (int dx = -2; dx <= 2; dx++) {
            int x = clamp(int(g.x) + dx, 0, size.x - 1), y = clamp(int(g.y) + dy, 0, size.y - 1);
            sum += in[y * size.x + x];
        }
    out[g.y * size.x + g.x] = sum / 25.0f;
}

// Clamped indices of which nothing is known before: a line with ends, from one side, from both, signed and unsigned.
// run: clamped grid=50,9 group=16,16
// arg 0 = ints(9 * 50, -99, 99).astype(i32)
// arg 1 = np.zeros(9 * 50, i32)
// arg 2 = np.array([50, 3, 45, 4], i32)
// expect 1 = (lambda a, x, y: sum((d + 7) * a[y, np.clip(x + d, 3, 45)] for d in range(-4, 5)) + 1000 * a[y, np.minimum(x + 3, 45)] + 3000 * a[y, np.maximum(x - 5, 3)] + 7000 * a[y, np.where(x < 2, 45, np.minimum(x - 2, 45))])(a0.reshape(9, 50), gx, gy)
// run: clamped grid=7,5 group=32,8
// arg 0 = ints(5 * 7, -99, 99).astype(i32)
// arg 1 = np.zeros(5 * 7, i32)
// arg 2 = np.array([7, 0, 6, 9], i32)
// expect 1 = (lambda a, x, y: sum((d + 7) * a[y, np.clip(x + d, 0, 6)] for d in range(-9, 10)) + 1000 * a[y, np.minimum(x + 3, 6)] + 3000 * a[y, np.maximum(x - 5, 0)] + 7000 * a[y, np.where(x < 2, 6, np.minimum(x - 2, 6))])(a0.reshape(5, 7), gx, gy)
// run: clamped grid=96,8 group=32,8
// arg 0 = ints(8 * 96, -99, 99).astype(i32)
// arg 1 = np.zeros(8 * 96, i32)
// arg 2 = np.array([96, 1, 95, 2], i32)
// expect 1 = (lambda a, x, y: sum((d + 7) * a[y, np.clip(x + d, 1, 95)] for d in range(-2, 3)) + 1000 * a[y, np.minimum(x + 3, 95)] + 3000 * a[y, np.maximum(x - 5, 1)] + 7000 * a[y, np.where(x < 2, 95, np.minimum(x - 2, 95))])(a0.reshape(8, 96), gx, gy)
kernel void clamped(device const int *in [[buffer(0)]], device int *out [[buffer(1)]], constant int4 &how [[buffer(2)]],
                    uint2 g [[thread_position_in_grid]]) {
    int w = how.x, sum = 0, row = int(g.y) * w, x = g.x;
    for (int d = -how.w; d <= how.w; d++) sum += (d + 7) * in[row + clamp(x + d, how.y, how.z)];
    sum += 1000 * in[row + min(x + 3, how.z)] + 3000 * in[row + max(x - 5, how.y)];
    sum += 7000 * in[uint(row) + min(g.x - 2, uint(how.z))];
    out[row + x] = sum;
}

// A bound that no thread comes near is not read: far behind it, before it, nothing is mapped. Sums of the index in which
// what threads share stands in either place.
// run: far_bounds grid=96,8 group=32,8
// arg 0 = ints(9 * 96, -99, 99).astype(i32)
// arg 1 = np.zeros(8 * 96, i32)
// arg 2 = np.array([96, 1, 1 << 29], i32)
// expect 1 = (lambda a, x, y: sum((d + 7) * (a[y * 96 + np.maximum(x + d, 1)] + 3 * a[y * 96 + np.maximum(x + d, 1) + 2]) for d in range(-2, 3)))(a0, gx, gy)
// run: far_bounds grid=96,8 group=32,8
// arg 0 = ints(9 * 96, -99, 99).astype(i32)
// arg 1 = np.zeros(8 * 96, i32)
// arg 2 = np.array([96, 0, 80], i32)
// expect 1 = (lambda a, x, y: sum((d + 7) * (a[y * 96 + np.clip(x + d, 0, 80)] + 3 * a[y * 96 + np.clip(x + d, 0, 80) + 2]) for d in range(-2, 3)))(a0, gx, gy)
// run: far_bounds grid=96,8 group=16,16
// arg 0 = ints(10 * 96, -99, 99).astype(i32)
// arg 1 = np.zeros(8 * 96, i32)
// arg 2 = np.array([96, -(1 << 29), 80], i32)
// expect 1 = (lambda a, x, y: sum((d + 7) * (a[y * 96 + np.minimum(x + d, 80)] + 3 * a[y * 96 + np.minimum(x + d, 80) + 2]) for d in range(-2, 3)))(np.concatenate([a0[2:], a0[:2]]), gx, gy)
kernel void far_bounds(device const int *in [[buffer(0)]], device int *out [[buffer(1)]], constant int *how [[buffer(2)]],
                       uint2 g [[thread_position_in_grid]]) {
    int w = how[0], sum = 0, x = g.x, y = g.y;
    if (how[1] < -2) in += 2;
    for (int d = -2; d <= 2; d++) {
        int c = clamp(x + d, how[1], how[2]);
        sum += (d + 7) * (in[y * w + c] + 3 * in[c + y * w + 2]);
    }
    out[y * w + x] = sum;
}

// run: guarded grid=1024 group=256
// arg 0 = np.zeros(1000, u32)
// arg 1 = u32(1000)
// expect 0 = iota(1000, u32) * 2
kernel void guarded(device uint *a [[buffer(0)]], constant uint &n [[buffer(1)]], uint i [[thread_position_in_grid]]) {
    if (i < n) a[i] = 2 * i;
}

// run: volume grid=9,10,11 group=4,4,4
// arg 0 = np.zeros(990, u32)
// expect 0 = gx + 100 * gy + 10000 * gz
// run: volume grid=9,10,11 group=7,3,2
// arg 0 = np.zeros(990, u32)
// expect 0 = gx + 100 * gy + 10000 * gz
// run: volume grid=70,9,5 group=32,4,2
// arg 0 = np.zeros(3150, u32)
// expect 0 = gx + 100 * gy + 10000 * gz
kernel void volume(device uint *a [[buffer(0)]], uint3 g [[thread_position_in_grid]], uint3 n [[threads_per_grid]]) {
    a[(g.z * n.y + g.y) * n.x + g.x] = g.x + 100 * g.y + 10000 * g.z;
}

// Pieces of rows above each other in a step: they share what they load of a column.
// run: rows_of_columns grid=96,8,4 group=32,4,2
// arg 0 = ints(7 * 100, -99, 99).astype(i32)
// arg 1 = np.zeros(n, i32)
// arg 2 = u32(7)
// expect 1 = sum(k * (gy + 2 * gz + 1) * a0[k * 100 + gx] for k in range(7)) * 10000 + lx + 32 * ly + 128 * lz
// run: rows_of_columns grid=70,13,3 group=64,8,1
// arg 0 = ints(7 * 100, -99, 99).astype(i32)
// arg 1 = np.zeros(n, i32)
// arg 2 = u32(7)
// expect 1 = sum(k * (gy + 2 * gz + 1) * a0[k * 100 + gx] for k in range(7)) * 10000 + lx + 32 * ly + 128 * lz
// run: rows_of_columns grid=64,2,9 group=32,1,4
// arg 0 = ints(7 * 100, -99, 99).astype(i32)
// arg 1 = np.zeros(n, i32)
// arg 2 = u32(7)
// expect 1 = sum(k * (gy + 2 * gz + 1) * a0[k * 100 + gx] for k in range(7)) * 10000 + lx + 32 * ly + 128 * lz
kernel void rows_of_columns(device const int *in [[buffer(0)]], device int *out [[buffer(1)]], constant uint &n [[buffer(2)]],
                            uint3 g [[thread_position_in_grid]], uint3 t [[thread_position_in_threadgroup]],
                            uint3 size [[threads_per_grid]]) {
    int sum = 0;
    for (uint k = 0; k < n; k++) sum += int(k * (g.y + 2 * g.z + 1)) * in[k * 100 + g.x];
    out[(g.z * size.y + g.y) * size.x + g.x] = sum * 10000 + t.x + 32 * t.y + 128 * t.z;
}

// More than registers hold goes through the loop: steps of less than a SIMD-group, which know where in it they stand.
// run: many_sums grid=96,7 group=32,4
// arg 0 = np.zeros(672, i32)
// arg 1 = ints(6, 1, 99).astype(i32)
// expect 0 = sum((lambda s: [s := (s * 3) ^ (int(v) + k) for v in a1][-1])(lane * k + simd + 7 * (li % 4)) for k in range(16)) + li // 4
// run: many_sums grid=70,5 group=16,4
// arg 0 = np.zeros(350, i32)
// arg 1 = ints(6, 1, 99).astype(i32)
// expect 0 = sum((lambda s: [s := (s * 3) ^ (int(v) + k) for v in a1][-1])(lane * k + simd + 7 * (li % 4)) for k in range(16)) + li // 4
// run: many_sums grid=80,3 group=40,2
// arg 0 = np.zeros(240, i32)
// arg 1 = ints(6, 1, 99).astype(i32)
// expect 0 = sum((lambda s: [s := (s * 3) ^ (int(v) + k) for v in a1][-1])(lane * k + simd + 7 * (li % 4)) for k in range(16)) + li // 4
kernel void many_sums(device int *out [[buffer(0)]], device const int *in [[buffer(1)]], uint2 g [[thread_position_in_grid]],
                      uint2 n [[threads_per_grid]], uint lane [[thread_index_in_simdgroup]],
                      uint group [[simdgroup_index_in_threadgroup]], uint corner [[thread_index_in_quadgroup]],
                      uint quad [[quadgroup_index_in_threadgroup]]) {
    int s[16], all = quad;
    for (int k = 0; k < 16; k++) s[k] = lane * k + group + 7 * corner;
    for (int i = 0; i < 6; i++)
        for (int k = 0; k < 16; k++) s[k] = (s[k] * 3) ^ (in[i] + k);
    for (int k = 0; k < 16; k++) all += s[k];
    out[g.y * n.x + g.x] = all;
}

// An index that some threads clamp, for a load that some of these make.
// run: clamped_apart grid=1024 group=256
// arg 0 = ints(1100, 0, 99).astype(i32)
// arg 1 = np.zeros(1024, i32)
// arg 2 = np.array([3, 5, 1000], i32)
// expect 1 = (lambda v, at: np.where(v & 1, (at // (v | 1) + at % (v * v | 1) + a0[at * at % 64] + np.where(v & 2, 3 * a0[at], 0)) ^ v, 0))(a0[:1024], 7 + np.clip(gx.astype(i32) + 3, 5, 1000))
// run: clamped_apart grid=1024 group=8,8
// arg 0 = ints(1100, 0, 99).astype(i32)
// arg 1 = np.zeros(1024, i32)
// arg 2 = np.array([-3, 5, 1000], i32)
// expect 1 = (lambda v, at: np.where(v & 1, (at // (v | 1) + at % (v * v | 1) + a0[at * at % 64] + np.where(v & 2, 3 * a0[at], 0)) ^ v, 0))(a0[:1024], 7 + np.clip(gx.astype(i32) - 3, 5, 1000))
kernel void clamped_apart(device const int *in [[buffer(0)]], device int *out [[buffer(1)]], device const int *how [[buffer(2)]],
                          uint i [[thread_position_in_grid]]) {
    int x = i, sum = 0, v = in[i];
    if (v & 1) {
        int at = 7 + clamp(x + how[0], how[1], how[2]);
        sum = at / (v | 1) + at % (v * v | 1) + in[at * at % 64];
        if (v & 2) sum += 3 * in[at];
        sum ^= v;
    }
    out[i] = sum;
}
