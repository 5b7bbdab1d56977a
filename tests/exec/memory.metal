// Private arrays, threadgroup atomics and records, with and without barriers between.
#include <metal_stdlib>
using namespace metal;

// run: private_array grid=200 group=64
// arg 0 = ints(200 * 8, 0, 100).astype(u32)
// arg 1 = np.zeros(200 * 8, u32)
// expect 1 = np.sort(a0.reshape(200, 8), axis=1)
kernel void private_array(device const uint *in [[buffer(0)]], device uint *out [[buffer(1)]], uint i [[thread_position_in_grid]]) {
    uint v[8];
    for (uint k = 0; k < 8; k++) v[k] = in[8 * i + k];
    for (uint k = 1; k < 8; k++) { // insertion sort: indices differ from thread to thread
        uint x = v[k], j = k;
        for (; j > 0 && v[j - 1] > x; j--) v[j] = v[j - 1];
        v[j] = x;
    }
    for (uint k = 0; k < 8; k++) out[8 * i + k] = v[k];
}

// run: private_array_across_barrier grid=192 group=96
// arg 0 = ints(192, 0, 1000).astype(u32)
// arg 1 = np.zeros(192, u32)
// expect 1 = (lambda r: np.stack([sum(np.roll(r, -k, 1)[:, :] * ((np.arange(96) + k) % 5 + 1) * 0 + np.roll(r, -k, 1) * (k + 1) for k in range(5))], 0).ravel())(a0.reshape(2, 96).astype(int))
kernel void private_array_across_barrier(device const uint *in [[buffer(0)]], device uint *out [[buffer(1)]],
                                         uint i [[thread_position_in_grid]], uint l [[thread_index_in_threadgroup]]) {
    threadgroup uint t[96];
    uint kept[5];
    t[l] = in[i];
    threadgroup_barrier(mem_flags::mem_threadgroup);
    for (uint k = 0; k < 5; k++) {
        kept[(k + l) % 5] = t[(l + k) % 96] * (k + 1);
        threadgroup_barrier(mem_flags::mem_threadgroup);
    }
    uint sum = 0;
    for (uint k = 0; k < 5; k++) sum += kept[k];
    out[i] = sum;
}

// run: histogram grid=5000 group=250
// arg 0 = ints(5000, 0, 16).astype(u32)
// arg 1 = np.zeros(16, u32)
// expect 1 = np.bincount(a0, minlength=16)
// run: histogram grid=5000 group=256
// arg 0 = ints(5000, 0, 16).astype(u32)
// arg 1 = np.zeros(16, u32)
// expect 1 = np.bincount(a0, minlength=16)
kernel void histogram(device const uint *in [[buffer(0)]], device atomic_uint *out [[buffer(1)]], uint i [[thread_position_in_grid]],
                      uint l [[thread_index_in_threadgroup]]) {
    threadgroup atomic_uint bins[16];
    if (l < 16) atomic_store_explicit(&bins[l], 0, memory_order_relaxed);
    threadgroup_barrier(mem_flags::mem_threadgroup);
    atomic_fetch_add_explicit(&bins[in[i]], 1, memory_order_relaxed);
    threadgroup_barrier(mem_flags::mem_threadgroup);
    if (l < 16) atomic_fetch_add_explicit(&out[l], atomic_load_explicit(&bins[l], memory_order_relaxed), memory_order_relaxed);
}

struct Particle {
    packed_float3 position;
    float charge;
    packed_float3 velocity;
    float mass;
};
// run: records grid=100 group=32
// arg 0 = rand(800)
// close 0 = (lambda p: np.concatenate([p[:, 0:3] + p[:, 4:7] * 0.5, p[:, 3:4], p[:, 4:7] * 0.9, p[:, 7:8] + 1], 1))(a0.reshape(100, 8))
kernel void records(device Particle *p [[buffer(0)]], uint i [[thread_position_in_grid]]) {
    p[i].position = packed_float3(float3(p[i].position) + float3(p[i].velocity) * 0.5f);
    p[i].velocity = packed_float3(float3(p[i].velocity) * 0.9f);
    p[i].mass += 1;
}

// run: two_tiles_of_one_name grid=64 group=64
// arg 0 = iota(64, u32)
// expect 0 = (63 - iota(64, u32)) + (63 - iota(64, u32)) * 3
kernel void two_tiles_of_one_name(device uint *a [[buffer(0)]], uint i [[thread_position_in_grid]]) {
    uint v = a[i], x;
    {
        threadgroup uint t[64];
        t[i] = v;
        threadgroup_barrier(mem_flags::mem_threadgroup);
        x = t[63 - i];
    }
    {
        threadgroup uint t[64];
        t[i] = v * 3;
        threadgroup_barrier(mem_flags::mem_threadgroup);
        a[i] = x + t[63 - i];
    }
}

// run: half_and_bfloat grid=100 group=32
// arg 0 = rand(100).astype(f16)
// arg 1 = np.zeros(100, f32)
// close 1 = (a0 * f16(2) + f16(1)).astype(f32) + 0.5
kernel void half_and_bfloat(device const half *in [[buffer(0)]], device float *out [[buffer(1)]], uint i [[thread_position_in_grid]]) {
    half h = in[i] * 2.0h + 1.0h;
    bfloat b = bfloat(0.5f);
    out[i] = float(h) + float(b);
}

// run: nothing grid=100 group=64
// run: only_a_buffer grid=100 group=64
// arg 0 = np.zeros(1, u32)
// expect 0 = [5]
kernel void nothing() {}
kernel void only_a_buffer(device uint *a [[buffer(0)]]) { a[0] = 5; }

// An array that is cleared from some index on, read four elements at a time at one index for all.
// run: private_rest grid=64 group=32
// arg 0 = iota(512, f32)
// arg 1 = np.zeros(64, f32)
// arg 2 = ints(64, 0, 9).astype(i32)
// arg 3 = i32(2)
// expect 1 = np.where(np.arange(8) < a2[:, None], a0.reshape(64, 8) * (np.arange(8) % 4 + 1), 0).sum(1)
kernel void private_rest(device const float *in [[buffer(0)]], device float *out [[buffer(1)]],
                         device const int *n [[buffer(2)]], constant int &quads [[buffer(3)]],
                         uint i [[thread_position_in_grid]]) {
    float t[8];
    int some = n[i];
    for (int k = 0; k < some; k++) t[k] = in[8 * i + k];
    for (int k = some; k < 8; k++) t[k] = 0;
    float sum = 0;
    for (int q = 0; q < quads; q++)
        sum += t[4 * q] + 2 * t[4 * q + 1] + 3 * t[4 * q + 2] + 4 * t[4 * q + 3];
    out[i] = sum;
}

// Scatters that no CPU has an instruction for, many and some lanes of each: halves and bytes (and, without AVX-512,
// words). Where two lanes meet the numbers are the same; the rest of the memory stays.
// run: many_narrow_scatters grid=150 group=50
// arg 0 = ints(150, 0, 40).astype(u32)
// arg 1 = np.full(150 * 40, 7, f16)
// arg 2 = np.full(150 * 40, 9, np.int8)
// arg 3 = np.full(150 * 40, 11, u32)
// expect 1 = np.where(np.arange(40) < a0[::-1, None], a0[::-1, None] + np.arange(40) / 4, 7).astype(f16)
// expect 2 = np.where(np.arange(40) >= a0[::-1, None], a0[::-1, None] - np.arange(40), 9).astype(np.int8)
// expect 3 = np.where(np.arange(40) % 2 == a0[::-1, None] % 2, a0[::-1, None] * np.arange(40), 11)
kernel void many_narrow_scatters(device const uint *in [[buffer(0)]], device half *h [[buffer(1)]],
                                 device char *c [[buffer(2)]], device uint *u [[buffer(3)]],
                                 uint i [[thread_position_in_grid]], uint n [[threads_per_grid]]) {
    uint row = n - 1 - i, x = in[i];
#pragma unroll
    for (uint k = 0; k < 40; k++) {
        if (k < x) h[row * 40 + k] = half(x) + half(k) / 4;
        else c[row * 40 + k] = char(x - k);
        if (k % 2 == x % 2) u[row * 40 + k] = x * k;
    }
}

// A structure of bytes stands for several numbers, at any address.
// run: copied_bytes grid=100 group=32
// arg 0 = ints(100 * 27 + 3, 0, 256).astype(u8)
// arg 1 = np.zeros(100 * 27 + 3, u8)
// expect 1 = np.concatenate([np.zeros(1, u8), np.concatenate([(a0[2 + 27 * i:29 + 27 * i] if i % 3 else np.zeros(27, u8)) for i in range(100)]), np.zeros(2, u8)])
struct Odd { uchar v[27]; };
kernel void copied_bytes(device const uchar *a [[buffer(0)]], device uchar *b [[buffer(1)]], uint i [[thread_position_in_grid]]) {
    if (i % 3) ((device Odd *)(b + 1))[i] = ((device const Odd *)(a + 2))[i];
}

// run: thin_bfloats grid=70 group=32
// arg 0 = (np.arange(280, dtype=f32).view(u32) >> 16).astype(u16)
// arg 1 = np.zeros(70, f32)
// arg 2 = i32(65)
// expect 1 = np.where(iota(70) < 65, (a0.astype(u32) << 16).view(f32)[1::4] + (a0.astype(u32) << 16).view(f32)[2::4], 0)
kernel void thin_bfloats(device const bfloat *a [[buffer(0)]], device float *b [[buffer(1)]], constant int &n [[buffer(2)]],
                         uint i [[thread_position_in_grid]]) {
    if (int(i) < n) b[i] = float(a[4 * i + 1]) + float(a[4 * i + 2]);
}

// Pointers into threadgroup memory and into variables, that stand in an array: checks find them.
// run: kept_pointers grid=64 group=64
// arg 0 = np.zeros(64, f32)
// arg 1 = i32(4)
// expect 0 = sum((2 if k & 1 else 1) * (k + (lx + k) % 32) for k in range(4)) + lx + 3
kernel void kept_pointers(device float *out [[buffer(0)]], constant int &n [[buffer(1)]], uint l [[thread_index_in_threadgroup]]) {
    threadgroup float a[64], b[64];
    float c[8];
    threadgroup float *p[4];
    thread float *q[4];
    a[l] = l, b[l] = 2 * l;
    for (int k = 0; k < 8; k++) c[k] = l + k;
    for (int k = 0; k < n; k++) p[k] = k & 1 ? b + k : a + k, q[k] = c + k;
    threadgroup_barrier(mem_flags::mem_threadgroup);
    float s = 0;
    for (int k = 0; k < n; k++) s += p[k][(l + k) % 32];
    out[l] = s + q[n - 3][n - 2];
}

// More sums than registers: a step of few threads.
// run: four_by_four grid=32,8 group=32,4
// arg 0 = ints(32 * 128, -9, 9).astype(f32)
// arg 1 = ints(128 * 128, -9, 9).astype(f32)
// arg 2 = np.zeros(32 * 128, f32)
// expect 2 = a0.reshape(32, 128) @ a1.reshape(128, 128)
// run: four_by_four grid=32,8 group=4,4
// arg 0 = ints(32 * 128, -9, 9).astype(f32)
// arg 1 = ints(128 * 128, -9, 9).astype(f32)
// arg 2 = np.zeros(32 * 128, f32)
// expect 2 = a0.reshape(32, 128) @ a1.reshape(128, 128)
kernel void four_by_four(device const float *a [[buffer(0)]], device const float4 *b [[buffer(1)]], device float4 *c [[buffer(2)]],
                         uint2 p [[thread_position_in_grid]]) {
    float4 s[4] = {0, 0, 0, 0};
    for (int k = 0; k < 128; k++)
        for (int i = 0; i < 4; i++) s[i] += a[(4 * p.y + i) * 128 + k] * b[k * 32 + p.x];
    for (int i = 0; i < 4; i++) c[(4 * p.y + i) * 32 + p.x] = s[i];
}

// Rounded by whole numbers where no instruction does it: ties, what is next to them, infinities,
// NaNs (of any bits: GPUs have one of their own).
// run: to_bfloats grid=80 group=32
// arg 0 = np.tile(np.array([0, 0x80000000, 0x3f808000, 0x3f818000, 0x3f807fff, 0x3f808001, 0xbf818000, 0x7f7fffff, 0x7f7f7fff, 0x7f800000, 0xff800000, 0x7f800001, 0xffc00001, 0x00ff8000, 0x3fffffff, 0x41234567], u32), 5).view(f32)
// arg 1 = np.zeros(80, u16)
// expect 1 = np.where(np.isnan(a0), 0x7fc0, (a0.view(u32) + 0x7fff + (a0.view(u32) >> 16 & 1)) >> 16).astype(u16)
kernel void to_bfloats(device const float *in [[buffer(0)]], device ushort *out [[buffer(1)]], uint i [[thread_position_in_grid]]) {
    ushort bits = as_type<ushort>(bfloat(in[i]));
    out[i] = (bits & 0x7fff) > 0x7f80 ? 0x7fc0 : bits;
}

// run: products_of_bfloats grid=96 group=32
// arg 0 = ints(96, -127, 127).astype(f32)
// arg 1 = np.zeros(96, f32)
// expect 1 = ((a0 * f32(3)).view(u32) + 0x7fff + ((a0 * f32(3)).view(u32) >> 16 & 1) & 0xffff0000).astype(u32).view(f32)
kernel void products_of_bfloats(device const float *in [[buffer(0)]], device float *out [[buffer(1)]],
                                uint i [[thread_position_in_grid]]) {
    out[i] = float(bfloat(in[i]) * bfloat(3));
}

// An index that wraps on its way to the first round of a loop, and not behind it (codegen/lower/widen_indices.c).
// run: wrapped grid=64 group=32
// arg 0 = iota(120)
// arg 1 = np.zeros(64, f32)
// arg 2 = np.array([2**32 - 5, 25], u32)
// expect 1 = (190 + 400 * gx + 2 * 2470) * f32(1)
kernel void wrapped(device const float *a [[buffer(0)]], device float *y [[buffer(1)]], constant uint *n [[buffer(2)]],
                    uint i [[thread_position_in_grid]]) {
    float s = 0;
    for (uint k = 5; k < n[1]; k++) s += a[k + n[0]] + 20 * i / 1.0f + 2 * (a[k] - 5) * (a[k + n[0]]);
    y[i] = s;
}

// Counts at indices of all kinds, from negative ones on, by all lanes and by some, in rounds of a loop with barriers. What the
// threads share is saved at a barrier and stays; what the rounds change does not.
// run: counts grid=192 group=96
// arg 0 = ints(1000, -128, 128).astype(np.int8)
// arg 1 = np.zeros(5 * 256, i32)
// arg 2 = np.array([1000, 3], i32)
// expect 1 = (lambda c: np.concatenate([3 * c, 3 * np.bincount(np.abs(a0.astype(int)), minlength=256), np.bincount(a0.astype(int) // 2 + 128, minlength=256), 3 * np.bincount((np.arange(1000) % 192), minlength=256), np.where(np.arange(256) < 3, 192, 0)]))(np.bincount(a0.astype(int) + 128, minlength=256))
// run: counts grid=64 group=64
// arg 0 = ints(37, -128, 128).astype(np.int8)
// arg 1 = np.zeros(5 * 256, i32)
// arg 2 = np.array([37, 2], i32)
// expect 1 = (lambda c: np.concatenate([2 * c, 2 * np.bincount(np.abs(a0.astype(int)), minlength=256), np.bincount(a0.astype(int) // 2 + 128, minlength=256), 2 * np.bincount((np.arange(37) % 64), minlength=256), np.where(np.arange(256) < 2, 64, 0)]))(np.bincount(a0.astype(int) + 128, minlength=256))
kernel void counts(device const char *x [[buffer(0)]], device atomic_int *out [[buffer(1)]], constant int2 &n [[buffer(2)]],
                   uint i [[thread_position_in_grid]], uint t [[thread_position_in_threadgroup]],
                   uint threads [[threads_per_grid]], uint group [[threads_per_threadgroup]]) {
    threadgroup atomic_int mine[512];
    for (uint k = t; k < 512; k += group) atomic_store_explicit(&mine[k], 0, memory_order_relaxed);
    for (int round = 0; round < n.y; round++) {
        threadgroup_barrier(mem_flags::mem_threadgroup);
        for (uint k = i; k < uint(n.x); k += threads) {
            atomic_fetch_add_explicit(mine + 128 + x[k], 1, memory_order_relaxed);
            atomic_fetch_add_explicit(&mine[256 + uchar(abs(int(x[k])))], 1, memory_order_relaxed);
            if (round == 1) atomic_fetch_add_explicit(&out[640 + (x[k] >> 1)], 1, memory_order_relaxed);
            atomic_fetch_add_explicit(&out[768 + i], 1, memory_order_relaxed);
        }
        threadgroup_barrier(mem_flags::mem_threadgroup);
        atomic_fetch_add_explicit(&out[1024 + round], 1, memory_order_relaxed);
    }
    threadgroup_barrier(mem_flags::mem_threadgroup);
    for (uint k = t; k < 512; k += group)
        atomic_fetch_add_explicit(&out[k], atomic_load_explicit(&mine[k], memory_order_relaxed), memory_order_relaxed);
}

// Records that fill the space between threads: four of 8 bytes, read in any order.
// run: stripes grid=200 group=64
// arg 0 = ints(3200, -99, 99).astype(f16)
// arg 1 = np.zeros(200, f32)
// expect 1 = (a0.reshape(200, 16).astype(f32) * np.arange(1, 17)).sum(1)
// run: stripes grid=45 group=16,2
// arg 0 = ints(720, -99, 99).astype(f16)
// arg 1 = np.zeros(45, f32)
// expect 1 = (a0.reshape(45, 16).astype(f32) * np.arange(1, 17)).sum(1)
kernel void stripes(device const half4 *in [[buffer(0)]], device float *out [[buffer(1)]], uint i [[thread_position_in_grid]]) {
    device const half4 *p = in + i * 4;
    float4 last = float4(p[3]), first = float4(p[0]), third = float4(p[2]), second = float4(p[1]);
    out[i] = dot(first, float4(1, 2, 3, 4)) + dot(second, float4(5, 6, 7, 8)) + dot(third, float4(9, 10, 11, 12)) +
             dot(last, float4(13, 14, 15, 16));
}

// Of 16 bytes, in a loop that threads leave at different times; the next round begins behind the last thread's.
// run: stripes_in_loop grid=70 group=64
// arg 0 = ints(70 * 16 * 5, -99, 99).astype(f32)
// arg 1 = np.zeros(70, f32)
// expect 1 = (a0.reshape(5, 70, 16) * np.arange(1, 17) * (np.arange(5)[:, None, None] < np.arange(70)[None, :, None] % 6)).sum((0, 2))
kernel void stripes_in_loop(device const float4 *in [[buffer(0)]], device float *out [[buffer(1)]], uint i [[thread_position_in_grid]],
                            uint n [[threads_per_grid]]) {
    float4 sum = 0;
    for (uint k = 0; k < i % 6; k++) {
        device const float4 *p = in + (k * n + i) * 4;
        for (int j = 0; j < 4; j++) sum += p[j] * (4 * j + float4(1, 2, 3, 4));
    }
    out[i] = sum.x + sum.y + sum.z + sum.w;
}

// Two of 8 bytes, and a third that lies in the next thread's place.
// run: stripes_of_two grid=100 group=32
// arg 0 = ints(808, -99, 99).astype(f16)
// arg 1 = np.zeros(100, f32)
// expect 1 = (lambda m, b: (m[:, :4] * [1, 2, 3, 4]).sum(1) + (m[:, 4:] * [5, 6, 7, 8]).sum(1) + (b[:, :4] * [9, 10, 11, 12]).sum(1))(a0[:800].reshape(100, 8).astype(f32), a0[8:].reshape(100, 8).astype(f32))
kernel void stripes_of_two(device const half4 *in [[buffer(0)]], device float *out [[buffer(1)]], uint i [[thread_position_in_grid]]) {
    device const half4 *p = in + 2 * i;
    float4 next = float4(p[2]), a = float4(p[0]), b = float4(p[1]);
    out[i] = dot(a, float4(1, 2, 3, 4)) + dot(b, float4(5, 6, 7, 8)) + dot(next, float4(9, 10, 11, 12));
}

// A record that is read after it was written.
// run: stripes_written grid=96 group=32
// arg 0 = ints(96 * 16, 0, 99).astype(f16)
// arg 1 = np.zeros(96, f32)
// expect 1 = (lambda m: (m * np.arange(1, 17)).sum(1) + 9 + 10 + 11 + 12)(a0.reshape(96, 16).astype(f32))
kernel void stripes_written(device half4 *in [[buffer(0)]], device float *out [[buffer(1)]], uint i [[thread_position_in_grid]]) {
    device half4 *p = in + 4 * i;
    float4 first = float4(p[0]), second = float4(p[1]);
    p[2] += half4(1);
    float4 third = float4(p[2]), last = float4(p[3]);
    out[i] = dot(first, float4(1, 2, 3, 4)) + dot(second, float4(5, 6, 7, 8)) + dot(third, float4(9, 10, 11, 12)) +
             dot(last, float4(13, 14, 15, 16));
}

// Vectors of three, which lie as far apart as vectors of four.
// run: stripes_of_three grid=100 group=64
// arg 0 = ints(1600, -99, 99).astype(f32)
// arg 1 = np.zeros(100, f32)
// expect 1 = (a0.reshape(100, 4, 4)[:, :, :3] * np.arange(1, 13).reshape(4, 3)).sum((1, 2))
kernel void stripes_of_three(device const float3 *in [[buffer(0)]], device float *out [[buffer(1)]], uint i [[thread_position_in_grid]]) {
    device const float3 *p = in + 4 * i;
    out[i] = dot(p[0], float3(1, 2, 3)) + dot(p[1], float3(4, 5, 6)) + dot(p[2], float3(7, 8, 9)) + dot(p[3], float3(10, 11, 12));
}
// run: stripes_of_half3 grid=100 group=64
// arg 0 = ints(1600, -99, 99).astype(f16)
// arg 1 = np.zeros(100, f32)
// expect 1 = (a0.reshape(100, 4, 4)[:, :, :3].astype(f32) * np.arange(1, 13).reshape(4, 3)).sum((1, 2))
kernel void stripes_of_half3(device const half3 *in [[buffer(0)]], device float *out [[buffer(1)]], uint i [[thread_position_in_grid]]) {
    device const half3 *p = in + 4 * i;
    float3 s = float3(p[0]) * float3(1, 2, 3) + float3(p[1]) * float3(4, 5, 6) + float3(p[2]) * float3(7, 8, 9) +
               float3(p[3]) * float3(10, 11, 12);
    out[i] = s.x + s.y + s.z;
}
