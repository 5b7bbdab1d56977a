// SPDX-License-Identifier: Apache-2.0
// math.h: the functions of <metal_math> for programs: overloads on exactly the types of the MSL
// specification, over the scalar kernels of math_core.h, math_exp.h and math_trig.h.
//
// Every function exists for float, half and their vectors in namespace metal, where the math mode
// (__INGOT_FAST_MATH, given by the front end) chooses the variant for float, and for float in
// metal::fast and metal::precise. Functions of half compute in float. They are overloads, not
// templates, so that mixed arguments resolve as in Metal: pow(x, 2) is pow(float, float) for a float
// x, max(x, 1) is ambiguous. A bfloat argument converts to float, as Metal documents.
// Integer overloads of abs, min, max, ... stand in integer.h, the constants in limits.h.
#ifndef INGOT_MATH_H
#define INGOT_MATH_H
#include "math_core.h"
#include "math_exp.h"
#include "math_trig.h"

#ifndef __INGOT_FAST_MATH
#define __INGOT_FAST_MATH 1
#endif
#if __INGOT_FAST_MATH
#define __IG_PICK(PRECISE, FAST) FAST
#else
#define __IG_PICK(PRECISE, FAST) PRECISE
#endif

// ---- shapes of overloads: the scalar one calls CALL on floats, the vectors go by component
#define __IG_1(NAME, T, CALL) \
    METAL_FUNC constexpr T NAME(T x) { return (T)CALL((float)x); } \
    METAL_FUNC constexpr vec<T, 2> NAME(vec<T, 2> x) { return vec<T, 2>(NAME(x.x), NAME(x.y)); } \
    METAL_FUNC constexpr vec<T, 3> NAME(vec<T, 3> x) { \
        return vec<T, 3>(NAME(x.x), NAME(x.y), NAME(x.z)); \
    } \
    METAL_FUNC constexpr vec<T, 4> NAME(vec<T, 4> x) { \
        return vec<T, 4>(NAME(x.x), NAME(x.y), NAME(x.z), NAME(x.w)); \
    }
#define __IG_2(NAME, T, CALL) \
    METAL_FUNC constexpr T NAME(T x, T y) { return (T)CALL((float)x, (float)y); } \
    METAL_FUNC constexpr vec<T, 2> NAME(vec<T, 2> x, vec<T, 2> y) { \
        return vec<T, 2>(NAME(x.x, y.x), NAME(x.y, y.y)); \
    } \
    METAL_FUNC constexpr vec<T, 3> NAME(vec<T, 3> x, vec<T, 3> y) { \
        return vec<T, 3>(NAME(x.x, y.x), NAME(x.y, y.y), NAME(x.z, y.z)); \
    } \
    METAL_FUNC constexpr vec<T, 4> NAME(vec<T, 4> x, vec<T, 4> y) { \
        return vec<T, 4>(NAME(x.x, y.x), NAME(x.y, y.y), NAME(x.z, y.z), NAME(x.w, y.w)); \
    }
#define __IG_3(NAME, T, CALL) \
    METAL_FUNC constexpr T NAME(T x, T y, T z) { return (T)CALL((float)x, (float)y, (float)z); } \
    METAL_FUNC constexpr vec<T, 2> NAME(vec<T, 2> x, vec<T, 2> y, vec<T, 2> z) { \
        return vec<T, 2>(NAME(x.x, y.x, z.x), NAME(x.y, y.y, z.y)); \
    } \
    METAL_FUNC constexpr vec<T, 3> NAME(vec<T, 3> x, vec<T, 3> y, vec<T, 3> z) { \
        return vec<T, 3>(NAME(x.x, y.x, z.x), NAME(x.y, y.y, z.y), NAME(x.z, y.z, z.z)); \
    } \
    METAL_FUNC constexpr vec<T, 4> NAME(vec<T, 4> x, vec<T, 4> y, vec<T, 4> z) { \
        return vec<T, 4>(NAME(x.x, y.x, z.x), NAME(x.y, y.y, z.y), NAME(x.z, y.z, z.z), \
                         NAME(x.w, y.w, z.w)); \
    }
// T f(T x, thread R &out): the vectors call the scalar one on locals
#define __IG_OUT(NAME, T, R) \
    METAL_FUNC constexpr vec<T, 2> NAME(vec<T, 2> v, thread vec<R, 2> &out) { \
        R x, y; \
        vec<T, 2> r(NAME(v.x, x), NAME(v.y, y)); \
        out = vec<R, 2>(x, y); \
        return r; \
    } \
    METAL_FUNC constexpr vec<T, 3> NAME(vec<T, 3> v, thread vec<R, 3> &out) { \
        R x, y, z; \
        vec<T, 3> r(NAME(v.x, x), NAME(v.y, y), NAME(v.z, z)); \
        out = vec<R, 3>(x, y, z); \
        return r; \
    } \
    METAL_FUNC constexpr vec<T, 4> NAME(vec<T, 4> v, thread vec<R, 4> &out) { \
        R x, y, z, w; \
        vec<T, 4> r(NAME(v.x, x), NAME(v.y, y), NAME(v.z, z), NAME(v.w, w)); \
        out = vec<R, 4>(x, y, z, w); \
        return r; \
    }
#define __IG_SINCOS(T, CALL) \
    METAL_FUNC constexpr T sincos(T x, thread T &cosval) { \
        __ig_pair r = CALL((float)x); \
        cosval = (T)r.b; \
        return (T)r.a; \
    } \
    __IG_OUT(sincos, T, T)
#define __IG_MODF(T) \
    METAL_FUNC constexpr T modf(T x, thread T &intval) { \
        __ig_pair r = __ig_modf((float)x); \
        intval = (T)r.b; \
        return (T)r.a; \
    } \
    __IG_OUT(modf, T, T)
#define __IG_FREXP(T) \
    METAL_FUNC constexpr T frexp(T x, thread int &exponent) { \
        __ig_float_int r = __ig_frexp((float)x); \
        exponent = r.i; \
        return (T)r.a; \
    } \
    __IG_OUT(frexp, T, int)
#define __IG_LDEXP(T) \
    METAL_FUNC constexpr T ldexp(T x, int k) { return (T)__ig_ldexp((float)x, k); } \
    METAL_FUNC constexpr vec<T, 2> ldexp(vec<T, 2> x, vec<int, 2> k) { \
        return vec<T, 2>(ldexp(x.x, k.x), ldexp(x.y, k.y)); \
    } \
    METAL_FUNC constexpr vec<T, 3> ldexp(vec<T, 3> x, vec<int, 3> k) { \
        return vec<T, 3>(ldexp(x.x, k.x), ldexp(x.y, k.y), ldexp(x.z, k.z)); \
    } \
    METAL_FUNC constexpr vec<T, 4> ldexp(vec<T, 4> x, vec<int, 4> k) { \
        return vec<T, 4>(ldexp(x.x, k.x), ldexp(x.y, k.y), ldexp(x.z, k.z), ldexp(x.w, k.w)); \
    }
#define __IG_ILOGB(T) \
    METAL_FUNC constexpr int ilogb(T x) { return __ig_ilogb((float)x); } \
    METAL_FUNC constexpr vec<int, 2> ilogb(vec<T, 2> x) { return vec<int, 2>(ilogb(x.x), ilogb(x.y)); } \
    METAL_FUNC constexpr vec<int, 3> ilogb(vec<T, 3> x) { \
        return vec<int, 3>(ilogb(x.x), ilogb(x.y), ilogb(x.z)); \
    } \
    METAL_FUNC constexpr vec<int, 4> ilogb(vec<T, 4> x) { \
        return vec<int, 4>(ilogb(x.x), ilogb(x.y), ilogb(x.z), ilogb(x.w)); \
    }

// bfloat arguments go to the float overload, which is otherwise ambiguous with the others. Templates,
// because programs bring their own bfloat overloads, which come first.
#define __IG_BFLOAT___IG_1(NAME) \
    template <class T> \
        requires(__is_same(T, bfloat)) \
    METAL_FUNC constexpr float NAME(T x) { return NAME((float)x); }
#define __IG_BFLOAT___IG_2(NAME) \
    template <class T> \
        requires(__is_same(T, bfloat)) \
    METAL_FUNC constexpr float NAME(T x, T y) { return NAME((float)x, (float)y); }
#define __IG_BFLOAT___IG_3(NAME) \
    template <class T> \
        requires(__is_same(T, bfloat)) \
    METAL_FUNC constexpr float NAME(T x, T y, T z) { return NAME((float)x, (float)y, (float)z); }

// A function of SHAPE in the three places; HALF is the kernel that serves half.
#define __IG_DEFINE(SHAPE, NAME, PRECISE, FAST, HALF) \
    SHAPE(NAME, float, __IG_PICK(PRECISE, FAST)) \
    SHAPE(NAME, half, HALF) \
    __IG_BFLOAT_##SHAPE(NAME) \
    namespace fast { \
    SHAPE(NAME, float, FAST) \
    } \
    namespace precise { \
    SHAPE(NAME, float, PRECISE) \
    }

METAL_FUNC constexpr float __ig_divide(float x, float y) { return x / y; }
METAL_FUNC constexpr float __ig_divide_precise(float x, float y) {
    __IG_STRICT
    return x / y;
}
METAL_FUNC constexpr float __ig_fract_half(float x) { // in [0, 1) after rounding to half, too
    float f = __ig_fract(x);
    return f > 0x1.ffcp-1f ? 0x1.ffcp-1f : f;
}
// Works on the bits of a half, which a float cannot stand for.
METAL_FUNC constexpr half __ig_nextafter_half(half x, half y) {
    ushort u = __builtin_bit_cast(ushort, x);
    bool away = (x < y) == (u < 0x8000);
    ushort next = away ? u + 1 : u - 1;
    ushort least = (__builtin_bit_cast(ushort, y) & 0x8000) | 1;
    next = (u & 0x7fff) == 0 ? least : next;
    half r = x == y ? y : __builtin_bit_cast(half, next);
    return x != x || y != y ? __builtin_bit_cast(half, (ushort)0x7e00) : r;
}
METAL_FUNC constexpr float __ig_fma3(float x, float y, float z) { return __ig_fma(x, y, z); }
METAL_FUNC constexpr float __ig_fmax3(float x, float y, float z) { return __ig_fmax(__ig_fmax(x, y), z); }
METAL_FUNC constexpr float __ig_fmin3(float x, float y, float z) { return __ig_fmin(__ig_fmin(x, y), z); }
METAL_FUNC constexpr float __ig_fmax3_fast(float x, float y, float z) {
    return __ig_fmax_fast(__ig_fmax_fast(x, y), z);
}
METAL_FUNC constexpr float __ig_fmin3_fast(float x, float y, float z) {
    return __ig_fmin_fast(__ig_fmin_fast(x, y), z);
}

namespace metal {
__IG_DEFINE(__IG_1, acos, __ig_acos, __ig_acos, __ig_acos)
__IG_DEFINE(__IG_1, acosh, __ig_acosh, __ig_acosh, __ig_acosh)
__IG_DEFINE(__IG_1, asin, __ig_asin, __ig_asin, __ig_asin)
__IG_DEFINE(__IG_1, asinh, __ig_asinh, __ig_asinh, __ig_asinh)
__IG_DEFINE(__IG_1, atan, __ig_atan, __ig_atan_fast, __ig_atan_fast)
__IG_DEFINE(__IG_1, atanh, __ig_atanh, __ig_atanh, __ig_atanh)
__IG_DEFINE(__IG_1, ceil, __ig_ceil, __ig_ceil, __ig_ceil)
__IG_DEFINE(__IG_1, cos, __ig_cos, __ig_cos_fast, __ig_cos_fast)
__IG_DEFINE(__IG_1, cosh, __ig_cosh, __ig_cosh, __ig_cosh)
__IG_DEFINE(__IG_1, cospi, __ig_cospi, __ig_cospi, __ig_cospi)
__IG_DEFINE(__IG_1, exp, __ig_exp, __ig_exp_fast, __ig_exp_fast)
__IG_DEFINE(__IG_1, exp10, __ig_exp10, __ig_exp10, __ig_exp10)
__IG_DEFINE(__IG_1, exp2, __ig_exp2, __ig_exp2_fast, __ig_exp2_fast)
__IG_DEFINE(__IG_1, abs, __ig_fabs, __ig_fabs, __ig_fabs)
__IG_DEFINE(__IG_1, fabs, __ig_fabs, __ig_fabs, __ig_fabs)
__IG_DEFINE(__IG_1, floor, __ig_floor, __ig_floor, __ig_floor)
__IG_DEFINE(__IG_1, log, __ig_log, __ig_log_fast, __ig_log_fast)
__IG_DEFINE(__IG_1, log10, __ig_log10, __ig_log10_fast, __ig_log10_fast)
__IG_DEFINE(__IG_1, log2, __ig_log2, __ig_log2_fast, __ig_log2_fast)
__IG_DEFINE(__IG_1, rint, __ig_rint, __ig_rint, __ig_rint)
__IG_DEFINE(__IG_1, round, __ig_round, __ig_round, __ig_round)
__IG_DEFINE(__IG_1, rsqrt, __ig_rsqrt, __ig_rsqrt_fast, __ig_rsqrt_fast)
__IG_DEFINE(__IG_1, sin, __ig_sin, __ig_sin_fast, __ig_sin_fast)
__IG_DEFINE(__IG_1, sinh, __ig_sinh, __ig_sinh, __ig_sinh)
__IG_DEFINE(__IG_1, sinpi, __ig_sinpi, __ig_sinpi, __ig_sinpi)
__IG_DEFINE(__IG_1, sqrt, __ig_sqrt, __ig_sqrt, __ig_sqrt)
__IG_DEFINE(__IG_1, tan, __ig_tan, __ig_tan_fast, __ig_tan_fast)
__IG_DEFINE(__IG_1, tanh, __ig_tanh, __ig_tanh, __ig_tanh)
__IG_DEFINE(__IG_1, tanpi, __ig_tanpi, __ig_tanpi, __ig_tanpi)
__IG_DEFINE(__IG_1, trunc, __ig_trunc, __ig_trunc, __ig_trunc)

__IG_DEFINE(__IG_2, atan2, __ig_atan2, __ig_atan2_fast, __ig_atan2)
__IG_DEFINE(__IG_2, copysign, __ig_copysign, __ig_copysign, __ig_copysign)
__IG_DEFINE(__IG_2, divide, __ig_divide_precise, __ig_divide, __ig_divide_precise)
__IG_DEFINE(__IG_2, fdim, __ig_fdim, __ig_fdim, __ig_fdim)
__IG_DEFINE(__IG_2, fmod, __ig_fmod, __ig_fmod_fast, __ig_fmod)
__IG_DEFINE(__IG_2, pow, __ig_pow, __ig_pow_fast, __ig_pow)
__IG_DEFINE(__IG_2, powr, __ig_powr, __ig_pow_fast, __ig_powr)
__IG_DEFINE(__IG_2, nextafter, __ig_nextafter, __ig_nextafter, __ig_nextafter_half)

// The plain names leave a NaN out in either mode; only fast:: may not.
#define __IG_MINMAX(SHAPE, NAME, CALL) \
    SHAPE(NAME, float, CALL) \
    SHAPE(NAME, half, CALL) \
    __IG_BFLOAT_##SHAPE(NAME) \
    namespace fast { \
    SHAPE(NAME, float, CALL##_fast) \
    } \
    namespace precise { \
    SHAPE(NAME, float, CALL) \
    }
__IG_MINMAX(__IG_2, fmax, __ig_fmax)
__IG_MINMAX(__IG_2, max, __ig_fmax)
__IG_MINMAX(__IG_2, fmin, __ig_fmin)
__IG_MINMAX(__IG_2, min, __ig_fmin)
__IG_MINMAX(__IG_3, fmax3, __ig_fmax3)
__IG_MINMAX(__IG_3, max3, __ig_fmax3)
__IG_MINMAX(__IG_3, fmin3, __ig_fmin3)
__IG_MINMAX(__IG_3, min3, __ig_fmin3)
__IG_MINMAX(__IG_3, fmedian3, __ig_fmedian3)
__IG_MINMAX(__IG_3, median3, __ig_fmedian3)

__IG_DEFINE(__IG_3, fma, __ig_fma3, __ig_fma3, __IG_PICK(__ig_fma_odd, __ig_fma3))
__IG_DEFINE(__IG_1, fract, __ig_fract, __ig_fract, __ig_fract_half)

__IG_SINCOS(float, __IG_PICK(__ig_sincos, __ig_sincos_fast))
__IG_SINCOS(half, __ig_sincos_fast)
__IG_MODF(float)
__IG_MODF(half)
__IG_FREXP(float)
__IG_FREXP(half)
__IG_LDEXP(float)
__IG_LDEXP(half)
__IG_ILOGB(float)
__IG_ILOGB(half)
namespace fast {
__IG_SINCOS(float, __ig_sincos_fast)
__IG_MODF(float)
__IG_FREXP(float)
__IG_LDEXP(float)
__IG_ILOGB(float)
} // namespace fast
namespace precise {
__IG_SINCOS(float, __ig_sincos)
__IG_MODF(float)
__IG_FREXP(float)
__IG_LDEXP(float)
__IG_ILOGB(float)
} // namespace precise
} // namespace metal

#undef __IG_1
#undef __IG_2
#undef __IG_3
#undef __IG_BFLOAT___IG_1
#undef __IG_BFLOAT___IG_2
#undef __IG_BFLOAT___IG_3
#undef __IG_OUT
#undef __IG_SINCOS
#undef __IG_MODF
#undef __IG_FREXP
#undef __IG_LDEXP
#undef __IG_ILOGB
#undef __IG_DEFINE
#undef __IG_MINMAX

#include "math_compat.h"

#endif
