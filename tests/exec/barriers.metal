// Threadgroup barriers: in straight code, in uniform loops, after divergent regions.
#include <metal_stdlib>
using namespace metal;

// run: reverse grid=512 group=128
// arg 0 = iota(512, u32)
// expect 0 = (iota(512, u32) // 128) * 128 + 127 - iota(512, u32) % 128
// run: reverse grid=300 group=128
// arg 0 = iota(300, u32)
// expect 0 = tx * 128 + sx - 1 - lx
kernel void reverse(device uint *a [[buffer(0)]], uint i [[thread_position_in_grid]], uint l [[thread_position_in_threadgroup]],
                    uint n [[threads_per_threadgroup]]) {
    threadgroup uint t[128];
    t[l] = a[i];
    threadgroup_barrier(mem_flags::mem_threadgroup);
    a[i] = t[n - 1 - l];
}

// run: tree_sum grid=4096 group=256
// arg 0 = ints(4096, 0, 1000).astype(u32)
// arg 1 = np.zeros(16, u32)
// expect 1 = a0.reshape(16, 256).sum(1)
kernel void tree_sum(device const uint *a [[buffer(0)]], device uint *out [[buffer(1)]], uint i [[thread_position_in_grid]],
                     uint l [[thread_index_in_threadgroup]], uint g [[threadgroup_position_in_grid]]) {
    threadgroup uint t[256];
    t[l] = a[i];
    threadgroup_barrier(mem_flags::mem_threadgroup);
    for (uint s = 128; s > 0; s >>= 1) {
        if (l < s) t[l] += t[l + s];
        threadgroup_barrier(mem_flags::mem_threadgroup);
    }
    if (l == 0) out[g] = t[0];
}

// run: scan_hillis_steele grid=1024 group=1024
// arg 0 = ints(1024, -50, 50).astype(i32)
// expect 0 = np.cumsum(a0)
// run: scan_hillis_steele grid=2000 group=100
// arg 0 = ints(2000, -50, 50).astype(i32)
// expect 0 = np.cumsum(a0.reshape(20, 100), axis=1)
kernel void scan_hillis_steele(device int *a [[buffer(0)]], uint i [[thread_position_in_grid]], uint l [[thread_index_in_threadgroup]],
                               uint n [[threads_per_threadgroup]]) {
    threadgroup int t[2][1024];
    uint from = 0;
    t[0][l] = a[i];
    for (uint d = 1; d < n; d *= 2) {
        threadgroup_barrier(mem_flags::mem_threadgroup);
        t[1 - from][l] = l >= d ? t[from][l] + t[from][l - d] : t[from][l];
        from = 1 - from;
    }
    a[i] = t[from][l];
}

// run: after_divergence grid=256 group=64
// arg 0 = np.zeros(256, u32)
// expect 0 = ((li * 7 + 1) % 64 % 5) * 10 + (li * 7 + 1) % 64
kernel void after_divergence(device uint *a [[buffer(0)]], uint i [[thread_position_in_grid]], uint l [[thread_index_in_threadgroup]]) {
    threadgroup uint t[64];
    uint v = 0;
    for (uint k = 0; k < l % 5; k++) v += 10; // lanes leave at different times
    if (l % 3 == 0) v += l;
    else v += l;
    t[l] = v;
    threadgroup_barrier(mem_flags::mem_threadgroup);
    a[i] = t[(l * 7 + 1) % 64];
}

// run: live_values_across grid=192 group=96
// arg 0 = rand(192)
// arg 1 = np.zeros(192, f32)
// close 1 = np.array([sum(a0[(i // 96) * 96 + (i % 96 + k * 5) % 96] * (k + 1) for k in range(20)) + a0[i] for i in range(192)])
kernel void live_values_across(device const float *a [[buffer(0)]], device float *out [[buffer(1)]], uint i [[thread_position_in_grid]],
                               uint l [[thread_index_in_threadgroup]]) {
    threadgroup float t[96];
    float mine = a[i], sum = mine;
    for (uint k = 0; k < 20; k++) {
        t[(l + 96 - (k * 5) % 96) % 96] = mine * float(k + 1);
        threadgroup_barrier(mem_flags::mem_threadgroup);
        sum += t[l];
        threadgroup_barrier(mem_flags::mem_threadgroup);
    }
    out[i] = sum;
}

// run: tiled_matmul grid=64,48 group=16,16
// arg 0 = rand(48 * 64, 1)
// arg 1 = rand(64 * 64, 2)
// arg 2 = np.zeros(48 * 64, f32)
// arg 3 = u32(64)
// close 2 = a0.reshape(48, 64) @ a1.reshape(64, 64)
// run: tiled_matmul_8 grid=40,24 group=8,8
// arg 0 = rand(24 * 40, 1)
// arg 1 = rand(40 * 40, 2)
// arg 2 = np.zeros(24 * 40, f32)
// arg 3 = u32(40)
// close 2 = a0.reshape(24, 40) @ a1.reshape(40, 40)
template <uint T>
kernel void tiled(device const float *a [[buffer(0)]], device const float *b [[buffer(1)]], device float *c [[buffer(2)]],
                  constant uint &n [[buffer(3)]], uint2 g [[thread_position_in_grid]], uint2 l [[thread_position_in_threadgroup]]) {
    threadgroup float ta[T][T], tb[T][T];
    float sum = 0;
    for (uint k = 0; k < n; k += T) {
        ta[l.y][l.x] = a[g.y * n + k + l.x];
        tb[l.y][l.x] = b[(k + l.y) * n + g.x];
        threadgroup_barrier(mem_flags::mem_threadgroup);
        for (uint j = 0; j < T; j++) sum += ta[l.y][j] * tb[j][l.x];
        threadgroup_barrier(mem_flags::mem_threadgroup);
    }
    c[g.y * n + g.x] = sum;
}
template [[host_name("tiled_matmul")]] kernel void tiled<16>(device const float *, device const float *, device float *, constant uint &, uint2, uint2);
template [[host_name("tiled_matmul_8")]] kernel void tiled<8>(device const float *, device const float *, device float *, constant uint &, uint2, uint2);

// Undefined in Metal, but must end: some threads return before the barrier.
// run: return_before_barrier grid=256 group=128
// arg 0 = np.zeros(256, u32)
// expect 0 = np.where(li % 128 < 96, 1, 0)
kernel void return_before_barrier(device uint *a [[buffer(0)]], uint i [[thread_position_in_grid]], uint l [[thread_index_in_threadgroup]]) {
    if (l >= 96) return; // a whole SIMD-group
    threadgroup_barrier(mem_flags::mem_threadgroup);
    a[i] = 1;
}

// run: dynamic_memory grid=128 group=64
// arg 0 = iota(128, u32)
// threadgroup 0 = 256
// threadgroup 1 = 128
// expect 0 = (tx * 64 + 63 - lx) * 2 + 5
kernel void dynamic_memory(device uint *a [[buffer(0)]], threadgroup uint *t [[threadgroup(0)]], threadgroup ushort *s [[threadgroup(1)]],
                           uint i [[thread_position_in_grid]], uint l [[thread_index_in_threadgroup]]) {
    t[l] = a[i];
    s[l] = 5;
    threadgroup_barrier(mem_flags::mem_threadgroup);
    a[i] = t[63 - l] * 2 + s[63 - l];
}

// The last step of the threadgroup has four threads: another version of the code, which with checks is so much longer that
// it was cut at another place. All must wait at the same barriers. Four runs: each kind of checked code has its turn.
// run: versions_of_a_step_wait_together grid=100 group=100
// arg 0 = iota(1600, u32)
// arg 1 = np.zeros(1600, u32)
// expect 1 = (a0.reshape(-1, 16) + (99 - li)[:, None]).T
// run: versions_of_a_step_wait_together grid=200 group=100
// arg 0 = iota(3200, u32)
// arg 1 = np.zeros(3200, u32)
// expect 1 = (a0.reshape(-1, 16) + (99 - li)[:, None]).T
// run: versions_of_a_step_wait_together grid=300 group=100
// arg 0 = iota(4800, u32)
// arg 1 = np.zeros(4800, u32)
// expect 1 = (a0.reshape(-1, 16) + (99 - li)[:, None]).T
// run: versions_of_a_step_wait_together grid=400 group=100
// arg 0 = iota(6400, u32)
// arg 1 = np.zeros(6400, u32)
// expect 1 = (a0.reshape(-1, 16) + (99 - li)[:, None]).T
kernel void versions_of_a_step_wait_together(device const uint *a [[buffer(0)]], device uint *out [[buffer(1)]],
                                             uint i [[thread_position_in_grid]], uint grid [[threads_per_grid]],
                                             uint l [[thread_index_in_threadgroup]], uint n [[threads_per_threadgroup]]) {
    threadgroup uint t[128];
    t[l] = l;
    threadgroup_barrier(mem_flags::mem_threadgroup);
    uint v = t[n - 1 - l];
    threadgroup_barrier(mem_flags::mem_threadgroup);
    t[l] = 1000 + l;
    threadgroup_barrier(mem_flags::mem_threadgroup);
#pragma unroll
    for (uint k = 0; k < 16; k++) out[k * grid + i] = v + a[16 * i + k];
}

// Lanes that are off beside memory that others write: their places lie before it, or behind.
// run: shifted grid=512 group=128
// arg 0 = ints(512, 0, 200).astype(u32)
// arg 1 = np.zeros(512, u32)
// expect 1 = (lambda a: np.concatenate([a[:, 5:14] * 3, a[:, :119] * 7], 1))(a0.reshape(4, 128)) * 3
// run: shifted grid=384 group=32
// arg 0 = ints(384, 0, 30).astype(u32)
// arg 1 = np.zeros(384, u32)
// expect 1 = (lambda a: np.concatenate([a[:, 5:14] * 3, a[:, :23] * 7], 1))(a0.reshape(12, 32)) * 3
// run: shifted grid=200 group=50
// arg 0 = ints(200, 0, 30).astype(u32)
// arg 1 = np.zeros(200, u32)
// expect 1 = (lambda a: np.concatenate([a[:, 5:14] * 3, a[:, :41] * 7], 1))(a0.reshape(4, 50)) * 3
kernel void shifted(device const uint *a [[buffer(0)]], device uint *out [[buffer(1)]], uint i [[thread_position_in_grid]],
                    uint l [[thread_position_in_threadgroup]], uint n [[threads_per_threadgroup]]) {
    threadgroup ushort h[128];
    threadgroup uint t[128];
    threadgroup uchar b[128];
    t[l] = h[l] = b[l] = 1;
    threadgroup_barrier(mem_flags::mem_threadgroup);
    if (l >= 5) {
        h[l - 5] = ushort(a[i] * 3);
        t[l - 5] = a[i] * 3;
        b[l - 5] = uchar(a[i] * 3);
    }
    threadgroup_barrier(mem_flags::mem_threadgroup);
    if (l + 9 < n) {
        h[l + 9] = ushort(a[i] * 7);
        t[l + 9] = a[i] * 7;
        b[l + 9] = uchar(a[i] * 7);
    }
    threadgroup_barrier(mem_flags::mem_threadgroup);
    out[i] = t[l] + h[l] + (uchar(t[l]) == b[l] ? t[l] : 12345);
}

// Whole SIMD-groups on or off, then a part of one; what they find is used behind.
// run: found_on_the_way grid=1024 group=256
// arg 0 = ints(1024, 0, 1000).astype(u32)
// arg 1 = np.zeros(1024, u32)
// expect 1 = np.array([[r[l::1 << l.bit_length()].sum() - r[l] for l in range(256)] for r in a0.reshape(4, 256)])
// run: found_on_the_way grid=256 group=64
// arg 0 = ints(256, 0, 1000).astype(u32)
// arg 1 = np.zeros(256, u32)
// expect 1 = np.array([[r[l::1 << l.bit_length()].sum() - r[l] for l in range(64)] for r in a0.reshape(4, 64)])
kernel void found_on_the_way(device const uint *a [[buffer(0)]], device uint *out [[buffer(1)]], uint i [[thread_position_in_grid]],
                             uint l [[thread_position_in_threadgroup]], uint n [[threads_per_threadgroup]]) {
    threadgroup uint t[256];
    uint found = 0;
    t[l] = a[i];
    threadgroup_barrier(mem_flags::mem_threadgroup);
    for (uint s = n / 2; s > 0; s /= 2) {
        if (l < s) {
            uint more = t[l + s];
            t[l] += more;
            found += more;
        }
        threadgroup_barrier(mem_flags::mem_threadgroup);
    }
    out[i] = found;
}
