// SPDX-License-Identifier: Apache-2.0
// Every function of <metal_math> with every argument type, checked by the type it returns; mixed
// arguments resolve as in Metal. Compiles without a diagnostic, or a static_assert says which failed.
#include <metal_stdlib>
using namespace metal;

template <class T> T value();
#define SAME(T, ...) static_assert(is_same_v<T, decltype(__VA_ARGS__)>, #__VA_ARGS__)
#define ONE_TYPE(T, F) SAME(T, F(value<T>()));
#define ONE_FLOAT(F) ONE_TYPE(float, F) ONE_TYPE(float2, F) ONE_TYPE(float3, F) ONE_TYPE(float4, F)
#define ONE_HALF(F) ONE_TYPE(half, F) ONE_TYPE(half2, F) ONE_TYPE(half3, F) ONE_TYPE(half4, F)
#define ONE(F) ONE_FLOAT(F) ONE_HALF(F) ONE_FLOAT(fast::F) ONE_FLOAT(precise::F)
#define TWO_TYPE(T, F) SAME(T, F(value<T>(), value<T>()));
#define TWO_FLOAT(F) TWO_TYPE(float, F) TWO_TYPE(float2, F) TWO_TYPE(float3, F) TWO_TYPE(float4, F)
#define TWO_HALF(F) TWO_TYPE(half, F) TWO_TYPE(half2, F) TWO_TYPE(half3, F) TWO_TYPE(half4, F)
#define TWO(F) TWO_FLOAT(F) TWO_HALF(F) TWO_FLOAT(fast::F) TWO_FLOAT(precise::F)
#define THREE_TYPE(T, F) SAME(T, F(value<T>(), value<T>(), value<T>()));
#define THREE_FLOAT(F) \
    THREE_TYPE(float, F) THREE_TYPE(float2, F) THREE_TYPE(float3, F) THREE_TYPE(float4, F)
#define THREE_HALF(F) \
    THREE_TYPE(half, F) THREE_TYPE(half2, F) THREE_TYPE(half3, F) THREE_TYPE(half4, F)
#define THREE(F) THREE_FLOAT(F) THREE_HALF(F) THREE_FLOAT(fast::F) THREE_FLOAT(precise::F)

ONE(acos) ONE(acosh) ONE(asin) ONE(asinh) ONE(atan) ONE(atanh) ONE(ceil) ONE(cos) ONE(cosh) ONE(cospi)
ONE(exp) ONE(exp10) ONE(exp2) ONE(abs) ONE(fabs) ONE(floor) ONE(fract) ONE(log) ONE(log10) ONE(log2)
ONE(rint) ONE(round) ONE(rsqrt) ONE(sin) ONE(sinh) ONE(sinpi) ONE(sqrt) ONE(tan) ONE(tanh) ONE(tanpi)
ONE(trunc)
TWO(atan2) TWO(copysign) TWO(divide) TWO(fdim) TWO(fmax) TWO(max) TWO(fmin) TWO(min) TWO(fmod)
TWO(nextafter) TWO(pow) TWO(powr)
THREE(fma) THREE(fmax3) THREE(max3) THREE(fmin3) THREE(min3) THREE(fmedian3) THREE(median3)

// A scalar stands for all components; integers and literals convert where one choice is best.
SAME(float3, pow(value<float3>(), 2.0f));
SAME(float3, pow(value<float3>(), 2));
SAME(float, pow(value<float>(), 2));
SAME(half, pow(value<half>(), value<half>()));
SAME(half3, max(value<half3>(), 0.0h));
SAME(float4, max(value<float4>(), 0.0));
SAME(float4, min(1.0, value<float4>()));
SAME(float3, fma(value<float3>(), 2.0, value<float3>()));
SAME(float3, sin(value<packed_float3>()));
SAME(half2, abs(value<packed_half2>()));
SAME(float2, floor(value<float4>().xy));
// bfloat counts as float.
SAME(float, sin(value<bfloat>()));
SAME(float, max(value<bfloat>(), value<bfloat>()));
SAME(float, fma(value<bfloat>(), value<bfloat>(), value<bfloat>()));
// Integers keep to their own functions.
SAME(int, abs(value<int>()));
SAME(uint, max(value<uint>(), 1u));
SAME(int3, min(value<int3>(), value<int3>()));
// fast:: and precise:: are for float; a half converts.
SAME(float, fast::sin(value<half>()));

kernel void outputs(device float4 *f, device half4 *h, device int4 *n) {
    int e1;
    int2 e2;
    int3 e3;
    int4 e4;
    float c1;
    float2 c2;
    float3 c3;
    float4 c4;
    half d1;
    half2 d2;
    half3 d3;
    half4 d4;
    f[0] = sincos(f[0].x, c1) + fast::sincos(f[1].x, c1) + precise::sincos(f[2].x, c1) + c1;
    f[0].xy += sincos(f[0].xy, c2) + modf(f[1].xy, c2) + frexp(f[2].xy, e2) + ldexp(f[3].xy, e2);
    f[0].xyz += sincos(f[0].xyz, c3) + modf(f[1].xyz, c3) + frexp(f[2].xyz, e3) + ldexp(f[3].xyz, e3);
    f[0] += sincos(f[0], c4) + modf(f[1], c4) + frexp(f[2], e4) + ldexp(f[3], e4);
    f[0].x += modf(f[1].x, c1) + frexp(f[2].x, e1) + ldexp(f[3].x, e1) + ldexp(f[3].x, 2);
    h[0] = sincos(h[0].x, d1) + modf(h[1].x, d1) + frexp(h[1].x, e1) + ldexp(h[2].x, e1);
    h[0].xy += sincos(h[0].xy, d2) + modf(h[1].xy, d2) + frexp(h[1].xy, e2) + ldexp(h[2].xy, e2);
    h[0].xyz += sincos(h[0].xyz, d3) + modf(h[1].xyz, d3) + frexp(h[1].xyz, e3) + ldexp(h[2].xyz, e3);
    h[0] += sincos(h[0], d4) + modf(h[1], d4) + frexp(h[1], e4) + ldexp(h[2], e4);
    n[0] = ilogb(f[0]) + e4 + ilogb(h[0]);
    n[0].x += ilogb(f[0].x) + ilogb(h[0].x);
    n[0].xy += ilogb(f[0].xy) + ilogb(h[0].xy);
    n[0].xyz += ilogb(f[0].xyz) + ilogb(h[0].xyz);
}

// A program's own overload on bfloat, made of the names that Apple's headers use, comes first.
namespace metal {
METAL_FUNC bfloat exp(bfloat x) {
    return static_cast<bfloat>(__metal_exp(static_cast<float>(x), __METAL_MAYBE_FAST_MATH__));
}
METAL_FUNC bfloat max(bfloat x, bfloat y) {
    return static_cast<bfloat>(
        __metal_fmax(static_cast<float>(x), static_cast<float>(y), __METAL_FAST_MATH__));
}
} // namespace metal
SAME(bfloat, exp(value<bfloat>()));
SAME(bfloat, max(value<bfloat>(), value<bfloat>()));
