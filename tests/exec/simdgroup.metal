// SIMD-group and quad-group functions, with all threads, in partial SIMD-groups and under divergence.
#include <metal_stdlib>
using namespace metal;

// run: sums grid=256 group=128
// arg 0 = ints(256, -100, 100).astype(i32)
// arg 1 = np.zeros(256, i32)
// expect 1 = np.repeat(a0.reshape(8, 32).sum(1), 32)
// run: sums grid=100 group=64
// arg 0 = ints(100, -100, 100).astype(i32)
// arg 1 = np.zeros(100, i32)
// expect 1 = np.concatenate([np.full(b - a, a0[a:b].sum()) for a, b in ((0, 32), (32, 64), (64, 96), (96, 100))])
kernel void sums(device const int *a [[buffer(0)]], device int *out [[buffer(1)]], uint i [[thread_position_in_grid]]) {
    out[i] = simd_sum(a[i]);
}

// run: divergent grid=128 group=64
// arg 0 = iota(128, u32)
// arg 1 = np.zeros(128, u32)
// expect 1 = [sum(v for v in range(i // 32 * 32, i // 32 * 32 + 32) if v % 3 == i % 3) for i in range(128)]
kernel void divergent(device const uint *a [[buffer(0)]], device uint *out [[buffer(1)]], uint i [[thread_position_in_grid]]) {
    uint v = a[i], r;
    if (v % 3 == 0) r = simd_sum(v);
    else if (v % 3 == 1) r = simd_sum(v);
    else r = simd_sum(v);
    out[i] = r;
}

// Lane l leaves the loop after l iterations: in iteration k the lanes above k take part.
// run: in_divergent_loop grid=64 group=32
// arg 0 = np.zeros(64, u32)
// expect 0 = [sum(32 - k - 1 for k in range(i % 32)) for i in range(64)]
kernel void in_divergent_loop(device uint *out [[buffer(0)]], uint i [[thread_position_in_grid]], uint lane [[thread_index_in_simdgroup]]) {
    uint s = 0;
    for (uint k = 0; k < lane; k++) s += simd_sum(1u);
    out[i] = s;
}

// run: votes grid=96 group=96
// arg 0 = np.zeros((96, 5), u32)
// expect 0 = [[0x49249249 if s == 0 else 0x92492492 if s == 1 else 0x24924924, 1, 0, int(l == 0), 4294967295] for s in range(3) for l in range(32)]
kernel void votes(device uint *out [[buffer(0)]], uint i [[thread_position_in_grid]]) {
    device uint *o = out + 5 * i;
    o[0] = uint(uint64_t(simd_ballot(i % 3 == 0)));
    o[1] = simd_any(i % 3 == 0);
    o[2] = simd_all(i % 3 == 0);
    o[3] = simd_is_first();
    o[4] = uint(uint64_t(simd_active_threads_mask()));
}

// run: shuffles grid=64 group=64
// arg 0 = ints(64, 0, 1 << 30).astype(u32)
// arg 1 = np.zeros((64, 8), u32)
// expect 1 = (lambda b, l: np.stack([a0[b + 5], a0[b + (l ^ 9)], a0[np.where(l < 3, b + l, b + l - 3)], a0[np.where(l > 27, b + l, b + np.minimum(l + 4, 31))], a0[b + (l + 32 - 7) % 32], a0[b + (l + 7) % 32], a0[b], a0[b + (l * 11 + 3) % 32]], 1))(gx // 32 * 32, gx % 32)
kernel void shuffles(device const uint *a [[buffer(0)]], device uint *out [[buffer(1)]], uint i [[thread_position_in_grid]]) {
    device uint *o = out + 8 * i;
    uint v = a[i];
    o[0] = simd_broadcast(v, 5);
    o[1] = simd_shuffle_xor(v, 9);
    o[2] = simd_shuffle_up(v, 3);
    o[3] = simd_shuffle_down(v, 4);
    o[4] = simd_shuffle_rotate_up(v, 7);
    o[5] = simd_shuffle_rotate_down(v, 7);
    o[6] = simd_broadcast_first(v);
    o[7] = simd_shuffle(v, ushort((i * 11 + 3) % 32));
}

// run: scans grid=64 group=64
// arg 0 = ints(64, 0, 100).astype(u32)
// arg 1 = np.zeros((64, 2), u32)
// expect 1 = (lambda r: np.stack([np.cumsum(r, 1), np.cumsum(r, 1) - r], 2))(a0.reshape(2, 32))
kernel void scans(device const uint *a [[buffer(0)]], device uint *out [[buffer(1)]], uint i [[thread_position_in_grid]]) {
    out[2 * i] = simd_prefix_inclusive_sum(a[i]);
    out[2 * i + 1] = simd_prefix_exclusive_sum(a[i]);
}

// run: quads grid=64 group=32
// arg 0 = ints(64, 0, 1000).astype(i32)
// arg 1 = np.zeros((64, 4), i32)
// expect 1 = (lambda q: np.stack([np.repeat(q.sum(1), 4), np.repeat(q.max(1), 4), q[:, [1, 0, 3, 2]].ravel(), np.repeat(q[:, 2], 4)], 1))(a0.reshape(16, 4))
kernel void quads(device const int *a [[buffer(0)]], device int *out [[buffer(1)]], uint i [[thread_position_in_grid]]) {
    device int *o = out + 4 * i;
    o[0] = quad_sum(a[i]), o[1] = quad_max(a[i]), o[2] = quad_shuffle_xor(a[i], 1), o[3] = quad_broadcast(a[i], 2);
}

// run: mma grid=32 group=32
// arg 0 = rand(64, 1)
// arg 1 = rand(64, 2)
// arg 2 = rand(64, 3)
// arg 3 = np.zeros(64, f32)
// close 3 = a0.reshape(8, 8) @ a1.reshape(8, 8) + a2.reshape(8, 8)
kernel void mma(device const float *a [[buffer(0)]], device const float *b [[buffer(1)]], device const float *c [[buffer(2)]],
                   device float *d [[buffer(3)]]) {
    simdgroup_float8x8 ma, mb, mc, md;
    simdgroup_load(ma, a);
    simdgroup_load(mb, b);
    simdgroup_load(mc, c);
    simdgroup_multiply_accumulate(md, ma, mb, mc);
    simdgroup_store(md, d);
}

// Beside matrices each lane keeps what it left a loop with.
// run: loop_beside_mma grid=32 group=32
// arg 0 = rand(64, 1)
// arg 1 = np.zeros(64, f32)
// arg 2 = np.zeros(32, u32)
// close 1 = a0.reshape(8, 8) @ a0.reshape(8, 8)
// expect 2 = [next(v for k in range(9) for v in [3 ** k + l * (3 ** k // 2)] if k and v >= 100) for l in range(32)]
kernel void loop_beside_mma(device const float *a [[buffer(0)]], device float *b [[buffer(1)]], device uint *out [[buffer(2)]],
                            uint i [[thread_position_in_grid]]) {
    simdgroup_float8x8 m, square;
    simdgroup_load(m, a);
    simdgroup_multiply(square, m, m);
    simdgroup_store(square, b);
    uint v = 1;
    do v = v * 3 + i;
    while (v < 100);
    out[i] = v;
}

// Two levels: SIMD-groups reduce, the first one finishes after a barrier.
// run: two_level_sum grid=3000 group=1000
// arg 0 = ints(3000, 0, 100).astype(u32)
// arg 1 = np.zeros(3, u32)
// expect 1 = a0.reshape(3, 1000).sum(1)
kernel void two_level_sum(device const uint *a [[buffer(0)]], device uint *out [[buffer(1)]], uint i [[thread_position_in_grid]],
                          uint g [[threadgroup_position_in_grid]], uint lane [[thread_index_in_simdgroup]],
                          uint simd [[simdgroup_index_in_threadgroup]], uint n [[simdgroups_per_threadgroup]]) {
    threadgroup uint part[32];
    uint s = simd_sum(a[i]);
    if (lane == 0) part[simd] = s;
    threadgroup_barrier(mem_flags::mem_threadgroup);
    if (simd == 0) {
        s = simd_sum(lane < n ? part[lane] : 0);
        if (lane == 0) out[g] = s;
    }
}

// Products that share the left matrix are computed two at a time, an odd one by itself; sums of two
// are carried side by side (passes/emit_fragment.c).
// run: tile_of_matrices grid=32 group=32
// arg 0 = iota(16 * 32) % f32(5)
// arg 1 = iota(32 * 24) % f32(7)
// arg 2 = np.zeros(16 * 24, f32)
// arg 3 = i32(32)
// expect 2 = a0.reshape(16, 32) @ a1.reshape(32, 24)
// run: tile_of_matrices grid=32 group=32
// arg 0 = iota(16 * 32) % f32(5)
// arg 1 = iota(32 * 24) % f32(7)
// arg 2 = np.ones(16 * 24, f32)
// arg 3 = i32(0)
// expect 2 = np.zeros(16 * 24, f32)
kernel void tile_of_matrices(device const float *a [[buffer(0)]], device const float *b [[buffer(1)]], device float *c [[buffer(2)]],
                             constant int &n [[buffer(3)]]) {
    simdgroup_float8x8 sum[2][3], l[2], r[3];
    for (int i = 0; i < 2; i++)
        for (int j = 0; j < 3; j++) sum[i][j] = make_filled_simdgroup_matrix<float, 8, 8>(0);
    for (int k = 0; k < n; k += 8) {
        for (int i = 0; i < 2; i++) simdgroup_load(l[i], a + 8 * i * 32 + k, 32);
        for (int j = 0; j < 3; j++) simdgroup_load(r[j], b + k * 24 + 8 * j, 24);
        for (int i = 0; i < 2; i++)
            for (int j = 0; j < 3; j++) simdgroup_multiply_accumulate(sum[i][j], l[i], r[j], sum[i][j]);
    }
    for (int i = 0; i < 2; i++)
        for (int j = 0; j < 3; j++) simdgroup_store(sum[i][j], c + 8 * i * 24 + 8 * j, 24);
}

// Halves from threadgroup memory between barriers, as libraries multiply: the last matrix is
// converted right before the first product that asks for it.
// run: tile_of_halves grid=128 group=128
// arg 0 = (iota(6 * 512) % f32(5)).astype(np.float16)
// arg 1 = np.zeros((4, 4, 8, 8), f32)
// threadgroup 0 = 1024
// expect 1 = (lambda t: np.array([[sum(t[k, 2 * (g & 1) + i // 2] @ t[k, 4 + i % 2] for k in range(6)) for i in range(4)] for g in range(4)]))(a0.astype(f32).reshape(6, 8, 8, 8))
kernel void tile_of_halves(device const half *a [[buffer(0)]], device float *out [[buffer(1)]],
                           threadgroup half *tile [[threadgroup(0)]],
                           uint t [[thread_index_in_threadgroup]],
                           ushort g [[simdgroup_index_in_threadgroup]]) {
    simdgroup_float8x8 sum[4];
    for (int i = 0; i < 4; i++) sum[i] = make_filled_simdgroup_matrix<float, 8>(0.0f);
    for (int k = 0; k < 6; k++) {
        threadgroup_barrier(mem_flags::mem_threadgroup);
        for (int i = 0; i < 4; i++) tile[t * 4 + i] = a[k * 512 + t * 4 + i];
        threadgroup_barrier(mem_flags::mem_threadgroup);
        simdgroup_half8x8 l[2], r[2];
        for (int i = 0; i < 2; i++) {
            simdgroup_load(l[i], tile + 64 * i + 128 * (g & 1), 8);
            simdgroup_load(r[i], tile + 256 + 64 * i, 8);
        }
        for (int i = 0; i < 4; i++) simdgroup_multiply_accumulate(sum[i], l[i / 2], r[i % 2], sum[i]);
    }
    for (int i = 0; i < 4; i++) simdgroup_store(sum[i], out + 64 * i + 256 * g, 8);
}

// The left matrix is what was there when it was loaded; sums are looked at and changed in between.
// run: matrices_in_order grid=32 group=32
// arg 0 = iota(64) % f32(3)
// arg 1 = iota(128) % f32(4)
// arg 2 = np.zeros(128, f32)
// expect 0 = np.zeros(64, f32)
// expect 2 = (iota(64) % f32(3)).reshape(8, 8) @ a1.reshape(2, 8, 8) + np.array([1, 0], f32).reshape(2, 1, 1)
kernel void matrices_in_order(device float *a [[buffer(0)]], device const float *b [[buffer(1)]], device float *c [[buffer(2)]]) {
    simdgroup_float8x8 l, r[2], sum[2];
    for (int j = 0; j < 2; j++) {
        sum[j] = make_filled_simdgroup_matrix<float, 8, 8>(0);
        simdgroup_load(r[j], b + 64 * j, 8);
    }
    for (int k = 0; k < 3; k++) {
        simdgroup_load(l, a, 8);
        simdgroup_store(make_filled_simdgroup_matrix<float, 8, 8>(0), a, 8);
        simdgroup_barrier(mem_flags::mem_device);
        for (int j = 0; j < 2; j++) simdgroup_multiply_accumulate(sum[j], l, r[j], sum[j]);
        if (k == 1) sum[0].thread_elements()[0] += 1, sum[0].thread_elements()[1] += 1;
    }
    for (int j = 0; j < 2; j++) simdgroup_store(sum[j], c + 64 * j, 8);
}
