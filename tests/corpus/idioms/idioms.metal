// SPDX-License-Identifier: Apache-2.0
// idioms.metal: turns of phrase of the language that programs use and compilers trip over, one kernel each.
#include <metal_stdlib>
#include <metal_compute>
#import "ShaderTypes.h"
using namespace metal;

// ---- headers shared with the application
kernel void shared_types(constant Uniforms & u [[ buffer(BufferIndexUniforms) ]],
                         device Body *bodies [[ buffer(BufferIndexBodies) ]],
                         device float4 *result [[ buffer(BufferIndexResult) ]],
                         uint id [[ thread_position_in_grid ]])
{
    simd_float4 p = u.projection * bodies[id].position;
    p.xyz += u.centre * u.time;
    p.xy *= u.scale;
    bodies[id].kind += int(u.size.x) * BufferIndexResult;
    bodies[id].spin = bodies[id].spin.yx * 2.0h;
    result[id] = p;
}

// ---- arithmetic with no trap and defined shifts
kernel void divisions(device const int *a, device const int *b, device int *out, constant int &d, uint i [[thread_position_in_grid]]) {
    int q = a[i] / b[i], r = a[i] % b[i];
    uint uq = uint(a[i]) / uint(b[i]);
    short sq = short(a[i]) / short(b[i]);
    long lq = long(a[i]) * 3 / long(b[i]);
    ulong ulr = ulong(uint(a[i])) % ulong(uint(b[i]));
    int by = a[i] / d + a[i] % d;           // the same divisor in all threads
    long lby = (long(a[i]) << 20) / long(d);
    bool ok = b[i] != 0 && d != 0 && !(a[i] == INT_MIN && (b[i] == -1 || d == -1));
    out[i] = ok ? q + r + int(uq) + sq + int(lq) + int(ulr) + by + int(lby) : 12345;
}

kernel void uniform_division(device int *out, constant int &n, constant long &m, uint i [[thread_position_in_grid]]) {
    int x = 100 / n;   // n may be 0: any value, no trap
    long y = 7 % m;
    out[i] = (x == 77 && y == 77) ? 1 : int(i);
}

kernel void shifts(device const uint *a, device const uint *s, device ulong *out, uint i [[thread_position_in_grid]]) {
    uint l = a[i] << s[i];
    uint r = a[i] >> s[i];
    int ar = int(a[i]) >> s[i];
    ulong l64 = ulong(a[i]) << s[i];
    long r64 = (long(a[i]) << 32) >> s[i];
    uint4 v = uint4(a[i]) << uint4(s[i], s[i] + 1, 3, 31);
    out[6 * i] = l; out[6 * i + 1] = r; out[6 * i + 2] = ulong(uint(ar)); out[6 * i + 3] = l64;
    out[6 * i + 4] = ulong(r64); out[6 * i + 5] = v.x ^ v.y ^ v.z ^ v.w;
}

kernel void conversions(device const float *a, device long *out, uint i [[thread_position_in_grid]]) {
    float x = a[i];
    out[8 * i + 0] = int(x);
    out[8 * i + 1] = uint(abs(x));
    out[8 * i + 2] = long(x);
    out[8 * i + 3] = long(ulong(abs(x)));
    out[8 * i + 4] = char(clamp(x, -128.0f, 127.0f));
    out[8 * i + 5] = as_type<int>(float(long(x)) + float(ulong(abs(x))));
    out[8 * i + 6] = as_type<ushort>(half(x));
    out[8 * i + 7] = as_type<ushort>(bfloat(x));
}

kernel void half_rounding(device const half *a, device const half *b, device half *out, uint i [[thread_position_in_grid]]) {
    half s = a[i] + b[i];
    half p = a[i] * b[i];
    half q = a[i] / b[i];
    out[4 * i] = s; out[4 * i + 1] = p; out[4 * i + 2] = q; out[4 * i + 3] = sqrt(abs(a[i]));
}

kernel void bfloat_rounding(device const bfloat *a, device const bfloat *b, device bfloat *out, uint i [[thread_position_in_grid]]) {
    out[3 * i] = a[i] + b[i];
    out[3 * i + 1] = a[i] * b[i];
    out[3 * i + 2] = a[i] / b[i];
}

// ---- private memory
kernel void private_large(device const uint *in, device uint *out, constant uint &rounds, uint i [[thread_position_in_grid]]) {
    uint heap[600];
    for (uint k = 0; k < 600; ++k) heap[k] = in[i] * (k + 1);
    uint at = in[i] % 600;
    for (uint r = 0; r < rounds; ++r) {
        heap[at] ^= heap[(at * 7 + r) % 600] + r;
        at = heap[at] % 600;
    }
    out[i] = heap[at] + at;
}

kernel void pointer_choice(device const int *in, device int *out, uint i [[thread_position_in_grid]]) {
    int a[8], b[8];
    for (int k = 0; k < 8; ++k) { a[k] = in[i] + k; b[k] = in[i] * k; }
    thread int *p = in[i] & 1 ? a : b;
    thread int *q = in[i] & 2 ? &p[3] : &a[1];
    *q += 100;
    swap(p[0], p[7]);
    int s = 0;
    for (int k = 0; k < 8; ++k) s = s * 3 + a[k] - b[k] + p[k];
    out[i] = s;
}

kernel void byte_view(device const uint *in, device uint *out, uint i [[thread_position_in_grid]]) {
    union { uint words[4]; uchar bytes[16]; ushort2 pairs[4]; half h[8]; } u;
    for (int k = 0; k < 4; ++k) u.words[k] = in[i] + k;
    uchar t = u.bytes[in[i] % 16];
    u.bytes[in[i] % 16] = u.bytes[15 - in[i] % 16];
    u.bytes[15 - in[i] % 16] = t;
    u.pairs[in[i] % 4].x += 5;
    out[i] = u.words[0] ^ u.words[1] * 3 ^ u.words[2] * 5 ^ u.words[3] * 7;
}

struct Node { int value; short next; bool last; };
kernel void list_in_registers(device const int *in, device int *out, uint i [[thread_position_in_grid]]) {
    Node list[6];
    for (short k = 0; k < 6; ++k) list[k] = { in[i] * (k + 1), short((k * 5 + 2) % 6), false };
    list[in[i] % 6].last = true;
    int s = 0, at = 0, guard = 0;
    do {
        s = s * 31 + list[at].value;
        if (list[at].last || ++guard > 20) break;
        at = list[at].next;
    } while (true);
    out[i] = s;
}

// ---- memory narrower than a word, scattered over all threads
kernel void scatter_bytes(device const uint *perm, device uchar *out, device ushort *out2, device bool *flags, uint i [[thread_position_in_grid]]) {
    out[perm[i]] = uchar(i);
    out2[perm[i]] = ushort(i * 3);
    flags[perm[i]] = (i % 3) == 0;
}

kernel void negative_indices(device const float *a, device float *out, constant int &middle, uint i [[thread_position_in_grid]]) {
    device const float *p = a + middle;
    int k = -int(i * i % 57);
    device const uchar *bytes = (device const uchar *)(p + 1) - 4 * int(i % 13);
    out[i] = p[k] + p[-k] + *(device const float *)(bytes);
}

kernel void strided_records(device const uchar *raw, device int *out, constant ulong &stride, uint i [[thread_position_in_grid]]) {
    device const packed_short4 *rec = (device const packed_short4 *)(raw + i * stride + 2);
    short4 v = *rec;
    device const packed_int3 *w = (device const packed_int3 *)(raw + i * stride + 12);
    out[i] = v.x + v.y * 2 + v.z * 3 + v.w * 4 + (*w)[i % 3] + dot(float3(int3(*w)), float3(1, 0, 0)) * 0;
}

// ---- SIMD-groups: shared memory without a threadgroup barrier, every shuffle, divergence
kernel void simd_exchange(device const float *in, device float *out, uint i [[thread_position_in_grid]],
                          uint lane [[thread_index_in_simdgroup]], uint sg [[simdgroup_index_in_threadgroup]]) {
    threadgroup float box[4][32];
    box[sg][lane] = in[i];
    simdgroup_barrier(mem_flags::mem_threadgroup);
    float left = box[sg][(lane + 31) % 32];
    simdgroup_barrier(mem_flags::mem_threadgroup);
    box[sg][lane] = left * 2;
    simdgroup_barrier(mem_flags::mem_threadgroup);
    out[i] = box[sg][31 - lane] + left;
}

kernel void shuffles(device const int *in, device int *out, uint i [[thread_position_in_grid]], ushort lane [[thread_index_in_simdgroup]]) {
    int v = in[i];
    short2 s2 = short2(v, v + 1);
    half4 h4 = half4(v & 63, 1, 2, 3);
    ulong w = ulong(uint(v)) << 20 | lane;
    device int *o = out + 16 * i;
    o[0] = simd_shuffle(v, ushort((lane * 7 + 3) % 32));
    o[1] = simd_shuffle_xor(v, 5);
    int down = simd_shuffle_down(v, 1), up = simd_shuffle_up(v, 3);
    o[2] = lane < 31 ? down : 0;
    o[3] = lane >= 3 ? up : 0;
    o[4] = simd_shuffle_rotate_down(v, 9);
    o[5] = simd_shuffle_rotate_up(v, 4);
    o[6] = simd_broadcast(v, 17);
    o[7] = simd_shuffle(s2, ushort(31 - lane)).y;
    o[8] = int(simd_shuffle_xor(h4, 16).x);
    o[9] = int(simd_shuffle_and_fill_down(v, -7, ushort(6)));
    o[10] = simd_shuffle_and_fill_up(v, in[i] * 2, ushort(4));
    o[11] = quad_shuffle_xor(v, 1) + quad_sum(v) + quad_broadcast(v, 2);
    o[12] = int(as_type<uint2>(simd_max(v) + long(simd_shuffle(as_type<uint2>(w), ushort(5)).x)).x);
    o[13] = simd_xor(v) ^ simd_and(v | 3) ^ simd_or(v & 12);
    o[14] = simd_prefix_exclusive_product(v % 3 + 2);
    o[15] = int(popcount((ulong)simd_ballot(v > 50))) + simd_all(v < 1000) + 2 * simd_any(v == -1);
}

kernel void simd_under_divergence(device const int *in, device int *out, uint i [[thread_position_in_grid]], uint lane [[thread_index_in_simdgroup]]) {
    int v = in[i], r = 0;
    if (v & 1) {
        r = simd_sum(v);
        if (v & 2) r += 1000 * simd_max(v); else r -= simd_min(v);
    } else {
        for (int k = 0; k < (v >> 1) % 4; ++k) r += simd_sum(1);
        r = r * 10 + int(simd_broadcast_first(lane));
    }
    switch (v % 5) {
        case 0: r ^= simd_or(1 << (lane & 7)); break;
        case 1: r += simd_is_first() ? 7 : 3; break;
        case 2: r += simd_prefix_inclusive_sum(2); break;
        default: if (simd_active_threads_mask().all()) r = -1;
    }
    out[i] = r;
}

// a work loop: lanes leave as they finish, votes decide
kernel void vote_loop(device const uint *in, device uint *out, uint i [[thread_position_in_grid]]) {
    uint v = in[i], steps = 0, together = 0;
    while (true) {
        if (v == 1) break;
        v = v & 1 ? 3 * v + 1 : v / 2;
        ++steps;
        if (simd_all(v > 4)) ++together;
        if (steps > 200) { steps = 9999; break; }
    }
    out[2 * i] = steps;
    out[2 * i + 1] = simd_max(together);
}

// ---- barriers in uniform loops with early leavers held to the end
kernel void barrier_wave(device const int *in, device int *out, constant uint &rounds, uint t [[thread_position_in_threadgroup]],
                         uint n [[threads_per_threadgroup]], uint i [[thread_position_in_grid]]) {
    threadgroup int a[256];
    int mine = in[i];
    for (uint r = 0; r < rounds; ++r) {
        a[t] = mine;
        threadgroup_barrier(mem_flags::mem_threadgroup);
        int left = a[(t + n - 1) % n];
        if (r % 3 == 1) {
            threadgroup_barrier(mem_flags::mem_threadgroup);
            a[t] = left + 1;
            threadgroup_barrier(mem_flags::mem_threadgroup);
            left = a[(t * 3 + r) % n];
        }
        threadgroup_barrier(mem_flags::mem_threadgroup);
        if (mine & 1) mine = mine / 2 + left;
        else for (int k = 0; k < (mine & 3); ++k) mine += left % 5;
        mine &= 0xffff;
    }
    out[i] = mine;
}

// ---- templates and modern C++
template <typename... Ts> struct Sum;
template <> struct Sum<> { static constexpr int of() { return 0; } };
template <typename T, typename... Rest> struct Sum<T, Rest...> { static constexpr int of() { return int(sizeof(T)) + Sum<Rest...>::of(); } };

template <typename F, typename... Args> auto call(F f, Args... args) -> decltype(f(args...)) { return f(args...); }
template <typename... Args> int fold(Args... args) { return (0 + ... + int(args)); }

struct Ray { float3 o; float3 d; float3 at(float t) const { return o + t * d; } };
struct Counter {
    thread int &n;
    Counter(thread int &x) : n(x) {}
    void operator()(int by) { n += by; }
};
enum class Mode : uchar { plain = 1, loud = 4 };
constexpr int fib(int n) { return n < 2 ? n : fib(n - 1) + fib(n - 2); }
template <int N> struct Table { int v[N]; constexpr Table() : v() { for (int i = 0; i < N; ++i) v[i] = fib(i); } };
constant constexpr Table<12> fibs = Table<12>();
constant float3 points[] = { float3(1, 2, 3), { 4, 5, 6 }, float3(7) };
constant char hello[] = "hello";
static constant struct { int a; float b[2]; } anonymous = { 3, { 0.5, 1.5 } };

struct Halves { int lo, hi; };
static Halves halves(int x) { return { x & 15, x >> 4 }; }

kernel void modern(device int *out, uint i [[thread_position_in_grid]]) {
    int total = 0;
    Counter count(total);
    auto lambda = [&total, i](int k) { total += k * int(i); return k + 1; };
    count(Sum<char, float3, half2>::of());
    count(call(lambda, 5));
    count(fold(1, 2.9f, short(3), true));
    array<int, 4> arr = { 1, 2, 3, 4 };
    for (auto x : arr) count(x);
    for (int k : { 10, 20, 30 }) count(k);
    if (int f = fibs.v[i % 12]; f > 3) count(f);
    Ray ray{ points[i % 3], float3(0, 1, 0) };
    count(int(ray.at(2.0).y));
    count(hello[i % 5]);
    auto m = i & 1 ? Mode::plain : Mode::loud;
    count(static_cast<int>(m));
    count(anonymous.a + int(anonymous.b[i & 1] * 2));
    constexpr int local_table[] = { 9, 8, 7 };
    count(local_table[i % 3]);
    const auto [lo, hi] = halves(int(i));
    count(lo * hi);
    out[i] = total;
}
