// The values of constructs that the front end rewrites (tests/msl/accept has more of them).
#include <metal_stdlib>
using namespace metal;
template <typename T> T hard_sigmoid(T x) { return fmax(0, fmin(1, x / 6 + 0.5)); }

// run: literals grid=64 group=32
// arg 0 = iota(64) * f32(0.25) - 8
// arg 1 = np.zeros(64, f32)
// close 1 = np.clip(a0 / f32(6) + f32(0.5), 0, 1)
kernel void literals(device const float *a [[buffer(0)]], device float *b [[buffer(1)]], uint i [[thread_position_in_grid]]) {
    b[i] = hard_sigmoid<float>(a[i]);
}

template <typename T, uint V> T first(vec<T, V> v) { return v[0] * V; }
template <typename T, size_t C, size_t R> T corner(matrix<T, C, R> m) { return m[C - 1][R - 1]; }
// run: pieces grid=40 group=16
// arg 0 = iota(40)
// arg 1 = np.zeros(40 * 4, f32)
// expect 1 = np.stack([a0, a0 + 1, a0 * 0, a0 * 0 + 3], 1) + np.stack([a0 * 3, a0 * 0, a0, a0 * 0 + 2], 1)
kernel void pieces(device const float *a [[buffer(0)]], device float4 *b [[buffer(1)]], uint i [[thread_position_in_grid]]) {
    float4 part = {a[i], a[i] + 1};
    float4 all = {part.xy, 0, 3};
    float3 cut = float3(all);
    float2x3 m(float3(1), float3(2, 2, 2));
    b[i] = float4(cut, all.w) + float4(first(float3(a[i])), 0, a[i], corner(m));
}

struct Row {
    float e[4];
    thread float &operator[](size_t i) thread { return e[i]; }
    const thread float &operator[](size_t i) const thread { return e[i]; }
    device float &operator[](size_t i) device { return e[i]; }
    const device float &operator[](size_t i) const device { return e[i]; }
    object_data float &operator[](size_t i) object_data { return e[i]; }
    float last() const thread { return e[3]; }
    float last() const device { return e[3]; }
};
Row make(float x) { return Row{{x, x + 1, x + 2, x + 3}}; }
static void advance(const device float *&p, int n) { p += n; }
static float both(const device float *(&p)[2]) { return p[0][0] + p[1][0]; }
struct Walk {
    int at;
    void next(int left) {
        at += left;
        if (left > 0) next(left - 1);
    }
};
int factorial(int n) { return n < 2 ? 1 : n * factorial(n - 1); }
// run: objects grid=70 group=32
// arg 0 = iota(80)
// arg 1 = np.zeros(70, f32)
// expect 1 = a0[:70] + 2 + a0[:70] + 3 + (a0[:70] + 5) + a0[:70] + (iota(70) % 7) * (iota(70) % 7 + 1) / 2 + np.array([1, 1, 2, 6, 24, 120, 720] * 10, f32)
kernel void objects(device const float *a [[buffer(0)]], device float *b [[buffer(1)]], uint i [[thread_position_in_grid]]) {
    const device float *p = a + i;
    advance(p, 5);
    const device float *two[2] = {p, a + i};
    Walk walk = {0};
    walk.next(i % 7);
    b[i] = make(a[i])[2u] + make(a[i]).last() + both(two) + walk.at + factorial(i % 7);
}

// run: bfloats grid=32 group=32
// arg 0 = iota(32)
// arg 1 = np.zeros(32, f32)
// expect 1 = np.full(32, 496, f32) + a0[np.arange(32) ^ 1]
namespace metal {
METAL_FUNC bfloat sum_of(bfloat v) { return bfloat(__metal_simd_sum(float(v))); }
METAL_FUNC bfloat other(bfloat v, ushort m) { return bfloat(__metal_simd_shuffle_xor(float(v), m)); }
}
kernel void bfloats(device const float *a [[buffer(0)]], device float *b [[buffer(1)]], uint i [[thread_position_in_grid]]) {
    b[i] = float(sum_of(bfloat(a[i]))) + float(other(bfloat(a[i]), 1));
}

struct Place { packed_float4 v; packed_float3 p; };
template <typename T>
void choose(device Place *s, device const T *a, constant float4 &c, uint i) {
    float4 v = i > 3 ? a[i] : float4(i, 1, (i > 1 ? a[0] : T(2)).x, 0);
    s[i].p = i > 7 ? float3{1, 2, 3} : v.xyz;
    s[i].v = i == 9 ? float4(7) : i > 10 ? a[i > 12 ? 3 : 4] : i == 10 ? c : float4(v.w);
}
// A vector in memory or one just made, in a template.
// run: chosen grid=16 group=16
// arg 0 = np.zeros(16 * 7, f32)
// arg 1 = iota(64)
// arg 2 = np.array([9, 8, 7, 6], f32)
// expect 0 = np.array([k for i in range(16) for v in [[float(4 * i + j) for j in range(4)] if i > 3 else [i, 1, 0 if i > 1 else 2, 0]] for k in ([7] * 4 if i == 9 else [(12 if i > 12 else 16) + j for j in range(4)] if i > 10 else [9, 8, 7, 6] if i == 10 else [v[3]] * 4) + ([1, 2, 3] if i > 7 else v[:3])], f32)
kernel void chosen(device float *out [[buffer(0)]], device const float4 *a [[buffer(1)]], constant float4 &c [[buffer(2)]],
                   uint i [[thread_position_in_grid]]) {
    choose<float4>((device Place *)out, a, c, i);
}

// Matrices in braces, a pair for each column.
constant float3x3 braced_factors = {{1, 1, 1}, {0, -0.5/0.25, 1.5}, {1.25, -0.25/0.5, 0}};
constant float2x2 braced_list[2] = {{{1, 2}, {3, 4}}, {float2(5, 6), {7, 8}}};
struct Braced {
    float2 a;
    float2x3 m;
    half2x2 h;
};
// run: matrices_in_braces grid=1 group=1
// arg 0 = np.zeros(8, f32)
// expect 0 = [-2.0, 1.5, 8.0, 6.0, 5.0, 4.0, 1.0, -0.5]
kernel void matrices_in_braces(device float *out [[buffer(0)]]) {
    Braced b = {{1, 2}, {{1, 2, 3}, {4, 5, 6}}, {{1, 2}, {3, 4}}};
    float3x3 unit{{1, 0, 0}, {0, 1, 0}, {0, 0, 1}};
    out[0] = braced_factors[1][1], out[1] = braced_factors[1][2], out[7] = braced_factors[2][1];
    out[2] = braced_list[1][1][1], out[3] = b.m[1][2], out[4] = b.m[1].y, out[5] = b.h[1][1];
    out[6] = (unit * float3(0, 1, 0)).y;
}
