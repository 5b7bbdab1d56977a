// Barriers under uniform control flow; what is undefined in Metal must still end.
#include <metal_stdlib>
using namespace metal;

// run: uniform_if grid=256 group=64
// arg 0 = iota(256, u32)
// expect 0 = np.where(tx % 2 == 0, tx * 64 + 63 - lx, gx)
kernel void uniform_if(device uint *a [[buffer(0)]], uint i [[thread_position_in_grid]], uint l [[thread_index_in_threadgroup]],
                       uint g [[threadgroup_position_in_grid]]) {
    threadgroup uint t[64];
    if (g % 2 == 0) {
        t[l] = a[i];
        threadgroup_barrier(mem_flags::mem_threadgroup);
        a[i] = t[63 - l];
    }
}

// run: loop_with_uniform_break grid=128 group=128
// arg 0 = iota(128, u32)
// arg 1 = u32(37)
// expect 0 = (iota(128, u32) + 38) % 128
kernel void loop_with_uniform_break(device uint *a [[buffer(0)]], constant uint &limit [[buffer(1)]], uint l [[thread_index_in_threadgroup]]) {
    threadgroup uint t[128];
    uint v = a[l];
    for (uint k = 0;; k++) { // rotates by one each time
        t[l] = v;
        threadgroup_barrier(mem_flags::mem_threadgroup);
        v = t[(l + 1) % 128];
        if (k == limit) break;
        threadgroup_barrier(mem_flags::mem_threadgroup);
    }
    a[l] = v;
}

// run: nested_uniform_loops grid=96 group=96
// arg 0 = np.ones(96, u32)
// expect 0 = np.full(96, 1 + 3 * 4 * 96)
kernel void nested_uniform_loops(device uint *a [[buffer(0)]], uint l [[thread_index_in_threadgroup]]) {
    threadgroup atomic_uint sum;
    if (l == 0) atomic_store_explicit(&sum, 0, memory_order_relaxed);
    threadgroup_barrier(mem_flags::mem_threadgroup);
    for (uint i = 0; i < 3; i++) {
        for (uint j = 0; j < 4; j++) {
            atomic_fetch_add_explicit(&sum, 1, memory_order_relaxed);
            threadgroup_barrier(mem_flags::mem_threadgroup);
        }
        threadgroup_barrier(mem_flags::mem_threadgroup);
    }
    a[l] += atomic_load_explicit(&sum, memory_order_relaxed);
}

// Undefined in Metal: a barrier that only some threads of a SIMD-group reach. It must end, and the
// threads must do their own work.
// run: barrier_in_divergent_branch grid=128 group=64
// arg 0 = np.zeros(128, u32)
// expect 0 = np.where(gx % 3 == 0, 2, 1)
kernel void barrier_in_divergent_branch(device uint *a [[buffer(0)]], uint i [[thread_position_in_grid]]) {
    if (i % 3 == 0) {
        a[i] = 1;
        threadgroup_barrier(mem_flags::mem_device);
        a[i] = 2;
    } else a[i] = 1;
}

// run: simdgroup_barrier_only grid=128 group=64
// arg 0 = iota(128, u32)
// expect 0 = gx // 32 * 32 + 31 - gx % 32
kernel void simdgroup_barrier_only(device uint *a [[buffer(0)]], uint i [[thread_position_in_grid]], uint l [[thread_index_in_threadgroup]]) {
    threadgroup uint t[64];
    t[l] = a[i];
    simdgroup_barrier(mem_flags::mem_threadgroup);
    a[i] = t[l / 32 * 32 + 31 - l % 32];
}

constant bool reverse [[function_constant(0)]];
constant uint factor [[function_constant(1)]];
constant uint twice = factor * 2;
constant uint size = is_function_constant_defined(factor) ? twice : 100u;
// run: constants grid=64 group=32 constant=0=true constant=1=21
// arg 0 = np.zeros(64, u32)
// expect 0 = (63 - gx) + 42
// run: constants grid=64 group=32 constant=reverse=false
// arg 0 = np.zeros(64, u32)
// expect 0 = gx + 100
kernel void constants(device uint *a [[buffer(0)]], uint i [[thread_position_in_grid]]) {
    a[reverse ? 63 - i : i] = i + size;
}

// A conversion that only a phi uses, behind three nested joins: structurizecfg gave the value of
// another path. In a loop that is the same for all lanes, and in one that is not.
// run: first_greatest grid=1 group=1
// arg 0 = i32(7)
// arg 1 = np.array([1, 2, 3, 9, 5, 9, 7], f32)
// arg 2 = np.zeros(1, i64)
// expect 2 = [3]
// run: first_greatest grid=40 group=32
// arg 0 = i32(90)
// arg 1 = rand(40 * 90, 5)
// arg 2 = np.zeros(40, i64)
// expect 2 = [int(np.argmax(a1[90 * v:90 * v + 90])) for v in range(40)]
kernel void first_greatest(constant int &n [[buffer(0)]], device const float *in [[buffer(1)]],
                           device long *out [[buffer(2)]], uint i [[thread_position_in_grid]]) {
    float best = 0;
    int where = 0;
    bool none = true;
    for (int k = 0; k < n; k++) {
        float v = in[i * n + k];
        bool nan = v != v, was = best != best;
        bool take = none || (nan && !was) || (nan == was && (v > best || (!(best > v) && k < where)));
        best = take ? v : best;
        where = take ? k : where;
        none = false;
    }
    out[i] = long(where);
}

// Vectors that a loop carries stay as they lie in memory (passes/join.c, emit_packed.c).
// run: carried grid=70 group=32
// arg 0 = iota(24)
// arg 1 = iota(12 * 70 * 4) % f32(7)
// arg 2 = np.zeros(2 * 70 * 4, f32)
// arg 3 = i32(12)
// expect 2 = np.stack([(a0[:12, None, None] * a1.reshape(12, 70, 4)).sum(0), 5 + (a0[12:, None, None] * a1.reshape(12, 70, 4)).sum(0)])
// run: carried grid=70 group=32
// arg 0 = iota(24)
// arg 1 = iota(12 * 70 * 4) % f32(7)
// arg 2 = np.zeros(2 * 70 * 4, f32)
// arg 3 = i32(0)
// expect 2 = np.repeat(np.array([0, 5], f32), 280)
kernel void carried(device const float *a [[buffer(0)]], device const float4 *v [[buffer(1)]], device float4 *y [[buffer(2)]],
                    constant int &n [[buffer(3)]], uint i [[thread_position_in_grid]]) {
    float4 s[2] = {0, 5};
    for (int k = 0; k < n; k++)
        for (int r = 0; r < 2; r++) s[r] += a[12 * r + k] * v[70 * k + i];
    for (int r = 0; r < 2; r++) y[70 * r + i] = s[r];
}

// One component is looked at in every turn, and the factor is each lane's own.
// run: carried_components grid=70 group=32
// arg 0 = iota(70) % f32(3)
// arg 1 = iota(6 * 70 * 2) % f32(5)
// arg 2 = np.zeros(70 * 2, f32)
// arg 3 = np.zeros(70, f32)
// expect 2 = (a0[None, :, None] * a1.reshape(6, 70, 2)).sum(0)
// expect 3 = np.cumsum(a0[None, :, None] * a1.reshape(6, 70, 2), 0)[:, :, 0].max(0)
kernel void carried_components(device const float *a [[buffer(0)]], device const float2 *v [[buffer(1)]],
                               device float2 *y [[buffer(2)]], device float *most [[buffer(3)]], uint i [[thread_position_in_grid]]) {
    float2 s = 0;
    float m = 0;
    for (int k = 0; k < 6; k++) {
        s += a[i] * v[70 * k + i];
        m = max(m, s.x);
    }
    y[i] = s;
    most[i] = m;
}

// Lanes leave after turns of their own, and some take another vector behind the loop.
// run: carried_apart grid=70 group=32
// arg 0 = iota(5)
// arg 1 = (iota(5 * 70 * 4) % f32(7)).astype(f16)
// arg 2 = np.zeros(70 * 4, f32)
// expect 2 = np.where((iota(70) % 3 == 0)[:, None], a1.reshape(5, 70, 4)[4].astype(f32), (a0[:, None, None] * a1.reshape(5, 70, 4).astype(f32) * (np.arange(5)[:, None, None] < (np.arange(70) % 5)[None, :, None])).sum(0))
kernel void carried_apart(device const float *a [[buffer(0)]], device const half4 *v [[buffer(1)]], device float4 *y [[buffer(2)]],
                          uint i [[thread_position_in_grid]]) {
    float4 s = 0;
    for (uint k = 0; k < i % 5; k++) s += a[k] * float4(v[70 * k + i]);
    if (i % 3 == 0) s = float4(v[280 + i]);
    y[i] = s;
}

// Two sums take the same vectors, one of them twice in a turn; a third is swapped with it.
// run: carried_two grid=64 group=32,2
// arg 0 = iota(8)
// arg 1 = iota(8 * 64 * 4) % f32(11)
// arg 2 = np.zeros(3 * 64 * 4, f32)
// expect 2 = np.stack([2 * a1.reshape(8, 64, 4).sum(0), (a0[:, None, None] * a1.reshape(8, 64, 4)).sum(0), a1.reshape(8, 64, 4)[::2].sum(0)])
kernel void carried_two(device const float *a [[buffer(0)]], device const float4 *v [[buffer(1)]], device float4 *y [[buffer(2)]],
                        uint i [[thread_position_in_grid]]) {
    float4 s = 0, t = 0, p = 0, q = 0;
    for (int k = 0; k < 8; k++) {
        const float4 w = v[64 * k + i];
        s += w;
        t += a[k] * w;
        s += w;
        p += w;
        const float4 swap = p;
        p = q;
        q = swap;
    }
    y[i] = s;
    y[64 + i] = t;
    y[128 + i] = p;
}
