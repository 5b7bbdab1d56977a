// SPDX-License-Identifier: Apache-2.0
// Vectors in every form the specification allows: constructors, swizzles, operators, conversions; all
// of it in constant expressions too.
#include <metal_stdlib>
using namespace metal;

// ---- constructors
constexpr constant float2 two = float2(1, 2);
constexpr constant float3 three = float3(two, 3.0f);
static_assert(all(float4(1.0f) == float4(1, 1, 1, 1)));
static_assert(all(float4(two, two) == float4(1, 2, 1, 2)));
static_assert(all(float4(two, 3, 4) == float4(1, 2, 3, 4)));
static_assert(all(float4(0, 0, two) == float4(0, 0, 1, 2)));
static_assert(all(float4(0, two, 9) == float4(0, 1, 2, 9)));
static_assert(all(float4(three, 4) == float4(1, 2, 3, 4)));
static_assert(all(float4(4, three) == float4(4, 1, 2, 3)));
static_assert(all(float3(1, two) == float3(1, 1, 2)));
static_assert(all(float4(float4(5)) == 5));
static_assert(all(vec<int, 3>(1, 2, 3) == int3(1, 2, 3)));
static_assert(all(int4(float4(1.9f, -1.9f, 0, 3)) == int4(1, -1, 0, 3)));
static_assert(all(bool3(int3(0, 5, -1)) == bool3(false, true, true)));
static_assert(all(float2(bool2(true, false)) == float2(1, 0)));
static_assert(all(half4(float4(0.1f)) == half4(0.1h)));
static_assert(float(bfloat3(1.5f).z) == 1.5f);
static_assert(all(float3(packed_float3(1, 2, 3)) == float3(1, 2, 3)));
static_assert(all(packed_int4(int2(1, 2), 3, 4) + 1 == int4(2, 3, 4, 5)));
constexpr float3 listed() { return {1, 2, 3}; }
static_assert(all(listed() == three));
static_assert(all(float4{} == 0));
constexpr constant float4 table[] = {float4(1), {1, 2, 3, 4}, float4(two, two) * 2.0f};
static_assert(table[2].y == 4 && table[1][2] == 3);
constexpr constant packed_float3 packed_table[2] = {packed_float3(1), {4, 5, 6}};
static_assert(packed_table[1].z == 6);

// ---- swizzles
static_assert(all(float4(1, 2, 3, 4).wzyx == float4(4, 3, 2, 1)));
static_assert(all(float4(1, 2, 3, 4).bgr == float3(3, 2, 1)));
static_assert(all(two.xyxy == float4(1, 2, 1, 2)));
constexpr float4 written() {
    float4 v = float4(1, 2, 3, 4);
    v.xw = float2(5, 6);
    v.wx = float2(7, 8);
    v.xyz = float3(3, 5, 9);
    v.rg += 1.0f;
    v.z++;
    v[3] = 2;
    return v;
}
static_assert(all(written() == float4(4, 6, 10, 2)));
constexpr packed_half3 written_packed() {
    packed_half3 v = half3(1, 2, 3);
    v.xz = v.zx;
    v[1] *= 2;
    v += half3(1);
    return v;
}
static_assert(all(written_packed() == packed_half3(4, 5, 2)));

// ---- operators
static_assert(all((int3(7, -7, 8) / 2 == int3(3, -3, 4)) && (int3(7, 8, 9) % int3(4) == int3(3, 0, 1))));
static_assert(all((uint2(1, 2) << uint2(33, 1)) == uint2(2, 4)) && all((char2(-128) >> 7) == char2(-1)));
static_assert(all((uint4(6) & 3u) == 2u) && all((~int2(0)) == -1) && all((int2(5) ^ 1) == 4));
static_assert(all(!(float2(1, 2) < float2(2, 1)) == bool2(false, true)));
static_assert(any(bool2(false, true) && true) && !all(bool2(true, false) || bool2(false)));
static_assert(all(-half2(1) == half2(-1)) && all(+int2(3) == 3));
static_assert(all(1 - float2(1, 2) == float2(0, -1)) && all(2 * int2(1, 2) == int2(2, 4)));
static_assert(all(half2(1) * 2.0f == half2(2))); // a wider scalar takes the type of the vector
constexpr int4 compound() {
    int4 v = 1;
    v += 2; v *= int4(2); v -= 1; v <<= 2; v |= 1; v &= 0xff; v ^= 2; v %= 19; v >>= 1u; ++v; v--;
    return v;
}
static_assert(compound().x == ((((((1 + 2) * 2 - 1) << 2 | 1) & 0xff) ^ 2) % 19) >> 1);
static_assert(is_same_v<decltype(float3(1) < float3(2)), bool3> && is_same_v<decltype(two.xx), float2>);
static_assert(is_same_v<decltype(packed_float3(1) + packed_float3(1)), float3>);

// ---- the same bits
static_assert(as_type<uint>(1.0f) == 0x3f800000 && all(as_type<int4>(float4(1)) == 0x3f800000));
static_assert(as_type<ushort>(1.0h) == 0x3c00 && as_type<int>(short2(1, 2)) == 0x20001);
static_assert(all(as_type<uchar4>(0x04030201) == uchar4(1, 2, 3, 4)));
static_assert(all(as_type<uint3>(float3(1, 2, 0)) == uint3(0x3f800000, 0x40000000, 0)));
static_assert(as_type<ulong>(uint2(1, 2)) == 0x200000001ul);

// ---- what a template makes of them
template <class T> void edit(thread T &v) {
    v.x += 1;
    v.xy = v.yx;
    v.yx *= 2;
    v[0] = v[1];
}
template <class T, int N> T total(vec<T, N> v) {
    T s = 0;
    for (int i = 0; i < N; i++) s += v[i];
    return s;
}
kernel void all_spaces(device float4 *d, constant float4 &c, threadgroup float4 *t, device packed_float3 *p,
                       device const volatile float4 *v, uint i [[thread_position_in_grid]]) {
    float4 x = d[i] + c * t[i] - d[i].rgba;
    edit(x);
    d[i].xy = x.zw;
    d[i].w += total(x) + total(half3(1));
    t[i] *= x;
    p[i] = d[i].xyz;
    p[i].yz = x.xy;
    d[i].xyz = p[i] * 2 + p[i + 1];
    d[i].xyz += length(p[i]) + max(p[i], 0.0f) + float3(p[i]);
    float4 copy = v[i];
    volatile float4 w = copy;
    copy = w;
    const float4 k = copy;
    d[i] = k[i & 3] + k.yxwz;
}
