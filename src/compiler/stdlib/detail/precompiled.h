// SPDX-License-Identifier: Apache-2.0
// precompiled.h: what the image of precompiled headers holds: the prelude, and the everyday types
// and functions instantiated. Clang would otherwise read every swizzle to define them anew in
// each source (9 ms of CPU time against 4 with one float4), and make each function again.
#pragma once
#pragma clang system_header
#include "prelude.h"
namespace metal {
template <class T> inline void __warm() {
    T a;
    T b = a;
    b = a;
}
template <class T> inline void __warm3() {
    __warm<vec<T, 2>>();
    __warm<vec<T, 3>>();
    __warm<vec<T, 4>>();
}
// Arithmetic of vectors V of T.
template <class T, class V> inline V __warm_arithmetic(V a, V b, T s) {
    V c = V(s);
    c += a, c -= b, c *= a, c *= s, c /= s;
    c = a + b - a * b / c + (-a);
    c = c * s + s * c - c / s;
    return c + s - (s - c) / (s + c);
}
template <class V, class T> inline V __warm_maths(V a, V b, T s) {
    V c = mix(a, b, s) + clamp(a, T(0), T(1)) + max(a, b) + min(a, b) + saturate(a) + abs(a);
    c += max(a, T(0)) + mix(a, b, c) + floor(a) + fract(a) + pow(a, b);
    c += normalize(a) * (dot(a, b) + length(a) + distance(a, b));
    return c;
}
template <class T> inline T __warm_scalars(T a, T b) {
    T c = mix(a, b, a) + clamp(a, T(0), T(1)) + max(a, b) + min(a, b) + saturate(a) + abs(a);
    c += floor(a) + fract(a) + pow(a, b) + sqrt(a) + sin(a) + cos(a) + exp(a) + step(a, b);
    c += log(a) + exp2(a) + log2(a) + tan(a) + atan2(a, b) + rsqrt(a) + sign(a) + fmod(a, b);
    return c + smoothstep(a, b, c) + select(a, b, a < b);
}
template <class T> inline vec<T, 4> __warm_vectors(T s, vec<T, 2> a, vec<T, 3> b, vec<T, 4> c) {
    a = __warm_arithmetic<T>(a, a, s), b = __warm_arithmetic<T>(b, b, s);
    c = __warm_arithmetic<T>(c, c, s);
    a = vec<T, 2>(s, s) + c.xy + b.xy;
    b = vec<T, 3>(s, s, s) + vec<T, 3>(a, s) + c.xyz;
    return vec<T, 4>(s, s, s, s) + vec<T, 4>(b, s) + vec<T, 4>(a, s, s) + vec<T, 4>(a, a);
}
inline float4 __warm_floats(float s, float2 a, float3 b, float4 c, float4x4 m, float3x3 n) {
    a = __warm_maths(a, a, s), b = __warm_maths(b, b, s), c = __warm_maths(c, c, s);
    b += cross(b, b) + reflect(b, b) + n * b, s = __warm_scalars(s, s);
    m = m * m, m[0] = c, c += m[3], a = floor(a) * fract(a) + float2(uint2(a)) + sin(a);
    return m * c + float4(half4(c)) + float4(float3(half3(b)), s) + smoothstep(c, c, c);
}
template <class X> inline float4 __warm_texture(X x, sampler s, float2 at) {
    return float4(x.sample(s, at)) + float(x.get_width() + x.get_height());
}
inline float4 __warm_textures(texture2d<float> a, texture2d<half> b, depth2d<float> c,
                              texturecube<float> d, sampler s, float2 at) {
    return __warm_texture(a, s, at) + __warm_texture(b, s, at) + c.sample(s, at) +
           c.sample_compare(s, at, at.x) + d.sample(s, float3(at, 0.0f)) + a.read(uint2(at));
}
inline void __warm_all() {
    __warm3<float>();
    __warm3<half>();
    __warm3<int>();
    __warm3<uint>();
    __warm3<bool>();
    __warm<vec<ushort, 2>>();
    __warm<vec<ushort, 3>>();
    __warm<vec<uchar, 4>>();
    __warm<float3x3>();
    __warm<float4x4>();
    __warm_vectors<float>(0, 0, 0, 0);
    __warm_vectors<half>(0, 0, 0, 0);
    __warm_arithmetic<uint>(uint2(0), uint2(0), 1u);
    __warm_arithmetic<int>(int2(0), int2(0), 1);
}
}
