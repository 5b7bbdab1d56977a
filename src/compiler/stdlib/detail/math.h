// SPDX-License-Identifier: Apache-2.0
// math.h: the functions of <metal_math> for programs: overloads on exactly the types of the MSL
// specification, over the scalar kernels of math_core.h, math_exp.h and math_trig.h.
//
// Every function exists for float, half and their vectors in namespace metal, where the math mode
// (__INGOT_FAST_MATH, given by the front end) chooses the variant for float, and for float in
// metal::fast and metal::precise. Functions of half compute in float. They are overloads, not
// templates, so that mixed arguments resolve as in Metal: pow(x, 2) is pow(float, float) for a
// float x, max(x, 1) is ambiguous. A bfloat argument converts to float, as Metal documents. Integer
// overloads of abs, min, max, ... stand in integer.h, the constants in limits.h.
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

// clang-format off
// ---- shapes of overloads. The scalar one calls CALL on floats; the vectors take references and
// read the native vector, because a copy of a small vec would go by way of an integer. __IG_1 to
// __IG_3: CALL takes scalars, the vectors go by component.
#define __IG_1(NAME, T, CALL) \
    METAL_FUNC constexpr T NAME(T x) { return (T)CALL((float)x); } \
    METAL_FUNC constexpr vec<T, 2> NAME(const vec<T, 2> &x) { \
        auto a = x.__get(); \
        return vec<T, 2>(NAME((T)a[0]), NAME((T)a[1])); \
    } \
    METAL_FUNC constexpr vec<T, 3> NAME(const vec<T, 3> &x) { \
        auto a = x.__get(); \
        return vec<T, 3>(NAME((T)a[0]), NAME((T)a[1]), NAME((T)a[2])); \
    } \
    METAL_FUNC constexpr vec<T, 4> NAME(const vec<T, 4> &x) { \
        auto a = x.__get(); \
        return vec<T, 4>(NAME((T)a[0]), NAME((T)a[1]), NAME((T)a[2]), NAME((T)a[3])); \
    }
#define __IG_2(NAME, T, CALL) \
    METAL_FUNC constexpr T NAME(T x, T y) { return (T)CALL((float)x, (float)y); } \
    METAL_FUNC constexpr vec<T, 2> NAME(const vec<T, 2> &x, const vec<T, 2> &y) { \
        auto a = x.__get(), b = y.__get(); \
        return vec<T, 2>(NAME((T)a[0], (T)b[0]), NAME((T)a[1], (T)b[1])); \
    } \
    METAL_FUNC constexpr vec<T, 3> NAME(const vec<T, 3> &x, const vec<T, 3> &y) { \
        auto a = x.__get(), b = y.__get(); \
        return vec<T, 3>(NAME((T)a[0], (T)b[0]), NAME((T)a[1], (T)b[1]), NAME((T)a[2], (T)b[2])); \
    } \
    METAL_FUNC constexpr vec<T, 4> NAME(const vec<T, 4> &x, const vec<T, 4> &y) { \
        auto a = x.__get(), b = y.__get(); \
        return vec<T, 4>(NAME((T)a[0], (T)b[0]), NAME((T)a[1], (T)b[1]), NAME((T)a[2], (T)b[2]), \
                         NAME((T)a[3], (T)b[3])); \
    }
#define __IG_3(NAME, T, CALL) \
    METAL_FUNC constexpr T NAME(T x, T y, T z) { return (T)CALL((float)x, (float)y, (float)z); } \
    METAL_FUNC constexpr vec<T, 2> NAME(const vec<T, 2> &x, const vec<T, 2> &y, \
                                        const vec<T, 2> &z) { \
        auto a = x.__get(), b = y.__get(), c = z.__get(); \
        return vec<T, 2>(NAME((T)a[0], (T)b[0], (T)c[0]), NAME((T)a[1], (T)b[1], (T)c[1])); \
    } \
    METAL_FUNC constexpr vec<T, 3> NAME(const vec<T, 3> &x, const vec<T, 3> &y, \
                                        const vec<T, 3> &z) { \
        auto a = x.__get(), b = y.__get(), c = z.__get(); \
        return vec<T, 3>(NAME((T)a[0], (T)b[0], (T)c[0]), NAME((T)a[1], (T)b[1], (T)c[1]), \
                         NAME((T)a[2], (T)b[2], (T)c[2])); \
    } \
    METAL_FUNC constexpr vec<T, 4> NAME(const vec<T, 4> &x, const vec<T, 4> &y, \
                                        const vec<T, 4> &z) { \
        auto a = x.__get(), b = y.__get(), c = z.__get(); \
        return vec<T, 4>(NAME((T)a[0], (T)b[0], (T)c[0]), NAME((T)a[1], (T)b[1], (T)c[1]), \
                         NAME((T)a[2], (T)b[2], (T)c[2]), NAME((T)a[3], (T)b[3], (T)c[3])); \
    }
// __IG_N1 to __IG_N3: CALL takes floats and native vectors of them alike.
#define __IG_N1(NAME, T, CALL) \
    METAL_FUNC constexpr T NAME(T x) { return (T)CALL((float)x); } \
    METAL_FUNC constexpr vec<T, 2> NAME(const vec<T, 2> &x) { \
        auto a = x.__get(); \
        if consteval { \
            return vec<T, 2>(NAME((T)a[0]), NAME((T)a[1])); \
        } else { \
            auto r = CALL(__convert_n<float, T, 2>(a)); \
            return vec<T, 2>(__convert_n<T, float, 2>(r), __raw{}); \
        } \
    } \
    METAL_FUNC constexpr vec<T, 3> NAME(const vec<T, 3> &x) { \
        auto a = x.__get(); \
        if consteval { \
            return vec<T, 3>(NAME((T)a[0]), NAME((T)a[1]), NAME((T)a[2])); \
        } else { \
            auto r = CALL(__convert_n<float, T, 3>(a)); \
            return vec<T, 3>(__convert_n<T, float, 3>(r), __raw{}); \
        } \
    } \
    METAL_FUNC constexpr vec<T, 4> NAME(const vec<T, 4> &x) { \
        auto a = x.__get(); \
        if consteval { \
            return vec<T, 4>(NAME((T)a[0]), NAME((T)a[1]), NAME((T)a[2]), NAME((T)a[3])); \
        } else { \
            auto r = CALL(__convert_n<float, T, 4>(a)); \
            return vec<T, 4>(__convert_n<T, float, 4>(r), __raw{}); \
        } \
    }
#define __IG_N2(NAME, T, CALL) \
    METAL_FUNC constexpr T NAME(T x, T y) { return (T)CALL((float)x, (float)y); } \
    METAL_FUNC constexpr vec<T, 2> NAME(const vec<T, 2> &x, const vec<T, 2> &y) { \
        auto a = x.__get(), b = y.__get(); \
        if consteval { \
            return vec<T, 2>(NAME((T)a[0], (T)b[0]), NAME((T)a[1], (T)b[1])); \
        } else { \
            auto r = CALL(__convert_n<float, T, 2>(a), \
                          __convert_n<float, T, 2>(b)); \
            return vec<T, 2>(__convert_n<T, float, 2>(r), __raw{}); \
        } \
    } \
    METAL_FUNC constexpr vec<T, 3> NAME(const vec<T, 3> &x, const vec<T, 3> &y) { \
        auto a = x.__get(), b = y.__get(); \
        if consteval { \
            return vec<T, 3>(NAME((T)a[0], (T)b[0]), NAME((T)a[1], (T)b[1]), \
                             NAME((T)a[2], (T)b[2])); \
        } else { \
            auto r = CALL(__convert_n<float, T, 3>(a), \
                          __convert_n<float, T, 3>(b)); \
            return vec<T, 3>(__convert_n<T, float, 3>(r), __raw{}); \
        } \
    } \
    METAL_FUNC constexpr vec<T, 4> NAME(const vec<T, 4> &x, const vec<T, 4> &y) { \
        auto a = x.__get(), b = y.__get(); \
        if consteval { \
            return vec<T, 4>(NAME((T)a[0], (T)b[0]), NAME((T)a[1], (T)b[1]), \
                             NAME((T)a[2], (T)b[2]), NAME((T)a[3], (T)b[3])); \
        } else { \
            auto r = CALL(__convert_n<float, T, 4>(a), \
                          __convert_n<float, T, 4>(b)); \
            return vec<T, 4>(__convert_n<T, float, 4>(r), __raw{}); \
        } \
    }
#define __IG_N3(NAME, T, CALL) \
    METAL_FUNC constexpr T NAME(T x, T y, T z) { return (T)CALL((float)x, (float)y, (float)z); } \
    METAL_FUNC constexpr vec<T, 2> NAME(const vec<T, 2> &x, const vec<T, 2> &y, \
                                        const vec<T, 2> &z) { \
        auto a = x.__get(), b = y.__get(), c = z.__get(); \
        if consteval { \
            return vec<T, 2>(NAME((T)a[0], (T)b[0], (T)c[0]), NAME((T)a[1], (T)b[1], (T)c[1])); \
        } else { \
            auto r = CALL(__convert_n<float, T, 2>(a), \
                          __convert_n<float, T, 2>(b), \
                          __convert_n<float, T, 2>(c)); \
            return vec<T, 2>(__convert_n<T, float, 2>(r), __raw{}); \
        } \
    } \
    METAL_FUNC constexpr vec<T, 3> NAME(const vec<T, 3> &x, const vec<T, 3> &y, \
                                        const vec<T, 3> &z) { \
        auto a = x.__get(), b = y.__get(), c = z.__get(); \
        if consteval { \
            return vec<T, 3>(NAME((T)a[0], (T)b[0], (T)c[0]), NAME((T)a[1], (T)b[1], (T)c[1]), \
                             NAME((T)a[2], (T)b[2], (T)c[2])); \
        } else { \
            auto r = CALL(__convert_n<float, T, 3>(a), \
                          __convert_n<float, T, 3>(b), \
                          __convert_n<float, T, 3>(c)); \
            return vec<T, 3>(__convert_n<T, float, 3>(r), __raw{}); \
        } \
    } \
    METAL_FUNC constexpr vec<T, 4> NAME(const vec<T, 4> &x, const vec<T, 4> &y, \
                                        const vec<T, 4> &z) { \
        auto a = x.__get(), b = y.__get(), c = z.__get(); \
        if consteval { \
            return vec<T, 4>(NAME((T)a[0], (T)b[0], (T)c[0]), NAME((T)a[1], (T)b[1], (T)c[1]), \
                             NAME((T)a[2], (T)b[2], (T)c[2]), NAME((T)a[3], (T)b[3], (T)c[3])); \
        } else { \
            auto r = CALL(__convert_n<float, T, 4>(a), \
                          __convert_n<float, T, 4>(b), \
                          __convert_n<float, T, 4>(c)); \
            return vec<T, 4>(__convert_n<T, float, 4>(r), __raw{}); \
        } \
    }
// T f(T x, thread R &out): the vectors call the scalar one on locals
#define __IG_OUT(NAME, T, R) \
    METAL_FUNC constexpr vec<T, 2> NAME(const vec<T, 2> &v, thread vec<R, 2> &out) { \
        auto a = v.__get(); \
        R x, y; \
        vec<T, 2> r(NAME((T)a[0], x), NAME((T)a[1], y)); \
        out = vec<R, 2>(x, y); \
        return r; \
    } \
    METAL_FUNC constexpr vec<T, 3> NAME(const vec<T, 3> &v, thread vec<R, 3> &out) { \
        auto a = v.__get(); \
        R x, y, z; \
        vec<T, 3> r(NAME((T)a[0], x), NAME((T)a[1], y), NAME((T)a[2], z)); \
        out = vec<R, 3>(x, y, z); \
        return r; \
    } \
    METAL_FUNC constexpr vec<T, 4> NAME(const vec<T, 4> &v, thread vec<R, 4> &out) { \
        auto a = v.__get(); \
        R x, y, z, w; \
        vec<T, 4> r(NAME((T)a[0], x), NAME((T)a[1], y), NAME((T)a[2], z), NAME((T)a[3], w)); \
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
    METAL_FUNC constexpr vec<T, 2> ldexp(const vec<T, 2> &x, const vec<int, 2> &k) { \
        auto a = x.__get(); \
        auto b = k.__get(); \
        return vec<T, 2>(ldexp((T)a[0], b[0]), ldexp((T)a[1], b[1])); \
    } \
    METAL_FUNC constexpr vec<T, 3> ldexp(const vec<T, 3> &x, const vec<int, 3> &k) { \
        auto a = x.__get(); \
        auto b = k.__get(); \
        return vec<T, 3>(ldexp((T)a[0], b[0]), ldexp((T)a[1], b[1]), ldexp((T)a[2], b[2])); \
    } \
    METAL_FUNC constexpr vec<T, 4> ldexp(const vec<T, 4> &x, const vec<int, 4> &k) { \
        auto a = x.__get(); \
        auto b = k.__get(); \
        return vec<T, 4>(ldexp((T)a[0], b[0]), ldexp((T)a[1], b[1]), ldexp((T)a[2], b[2]), \
                         ldexp((T)a[3], b[3])); \
    }
#define __IG_ILOGB(T) \
    METAL_FUNC constexpr int ilogb(T x) { return __ig_ilogb((float)x); } \
    METAL_FUNC constexpr vec<int, 2> ilogb(const vec<T, 2> &x) { \
        auto a = x.__get(); \
        return vec<int, 2>(ilogb((T)a[0]), ilogb((T)a[1])); \
    } \
    METAL_FUNC constexpr vec<int, 3> ilogb(const vec<T, 3> &x) { \
        auto a = x.__get(); \
        return vec<int, 3>(ilogb((T)a[0]), ilogb((T)a[1]), ilogb((T)a[2])); \
    } \
    METAL_FUNC constexpr vec<int, 4> ilogb(const vec<T, 4> &x) { \
        auto a = x.__get(); \
        return vec<int, 4>(ilogb((T)a[0]), ilogb((T)a[1]), ilogb((T)a[2]), ilogb((T)a[3])); \
    }

// bfloat arguments go to the float overload, which is otherwise ambiguous with the others.
// Templates, because programs bring their own bfloat overloads, which come first.
#define __IG_BFLOAT(NAME) \
    template <class T, class... R> \
        requires(__is_same(T, bfloat) && (__is_same(R, bfloat) && ...)) \
    METAL_FUNC constexpr float NAME(T x, R... r) { \
        return NAME((float)x, (float)r...); \
    }

// A function of SHAPE in the three places; HALF is the kernel that serves half.
#define __IG_DEFINE(SHAPE, NAME, PRECISE, FAST, HALF) \
    SHAPE(NAME, float, __IG_PICK(PRECISE, FAST)) \
    SHAPE(NAME, half, HALF) \
    __IG_BFLOAT(NAME) \
    namespace fast { \
    SHAPE(NAME, float, FAST) \
    } \
    namespace precise { \
    SHAPE(NAME, float, PRECISE) \
    }

// Operations on floats and native vectors of floats.
template <class V> METAL_FUNC constexpr V __ig_n_abs(V x) { return __builtin_elementwise_abs(x); }
template <class V> METAL_FUNC constexpr V __ig_n_ceil(V x) { return __ig_ceil(x); }
template <class V> METAL_FUNC constexpr V __ig_n_floor(V x) { return __ig_floor(x); }
template <class V> METAL_FUNC constexpr V __ig_n_rint(V x) { return __ig_rint(x); }
template <class V> METAL_FUNC constexpr V __ig_n_sqrt(V x) { return __ig_sqrt(x); }
template <class V> METAL_FUNC constexpr V __ig_n_trunc(V x) { return __ig_trunc(x); }
template <class V> METAL_FUNC constexpr V __ig_n_fma(V x, V y, V z) { return __ig_fma(x, y, z); }
template <class V> METAL_FUNC constexpr V __ig_n_divide(V x, V y) { return x / y; }
template <class V> METAL_FUNC constexpr V __ig_n_divide_precise(V x, V y) {
    __IG_STRICT
    return x / y;
}
template <class V> METAL_FUNC constexpr V __ig_n_max(V x, V y) {
    if constexpr (__is_same(V, float)) return __ig_fmax(x, y);
    else return __builtin_elementwise_maxnum(x, y);
}
template <class V> METAL_FUNC constexpr V __ig_n_min(V x, V y) {
    if constexpr (__is_same(V, float)) return __ig_fmin(x, y);
    else return __builtin_elementwise_minnum(x, y);
}
template <class V> METAL_FUNC constexpr V __ig_n_max_fast(V x, V y) { return x > y ? x : y; }
template <class V> METAL_FUNC constexpr V __ig_n_min_fast(V x, V y) { return x < y ? x : y; }
template <class V> METAL_FUNC constexpr V __ig_n_max_compare(V x, V y) {
    V larger = x > y ? x : y;
    return y == y ? larger : x;
}
template <class V> METAL_FUNC constexpr V __ig_n_min_compare(V x, V y) {
    V smaller = x < y ? x : y;
    return y == y ? smaller : x;
}
#define __IG_OF_THREE(SUFFIX) \
    template <class V> METAL_FUNC constexpr V __ig_n_max3##SUFFIX(V x, V y, V z) { \
        return __ig_n_max##SUFFIX(__ig_n_max##SUFFIX(x, y), z); \
    } \
    template <class V> METAL_FUNC constexpr V __ig_n_min3##SUFFIX(V x, V y, V z) { \
        return __ig_n_min##SUFFIX(__ig_n_min##SUFFIX(x, y), z); \
    } \
    template <class V> METAL_FUNC constexpr V __ig_n_median3##SUFFIX(V x, V y, V z) { \
        V low = __ig_n_min##SUFFIX(x, y), high = __ig_n_max##SUFFIX(x, y); \
        return __ig_n_max##SUFFIX(low, __ig_n_min##SUFFIX(high, z)); \
    }
__IG_OF_THREE()
__IG_OF_THREE(_compare)
__IG_OF_THREE(_fast)
#undef __IG_OF_THREE
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

namespace metal {
__IG_DEFINE(__IG_1, acos, __ig_acos, __ig_acos, __ig_acos)
__IG_DEFINE(__IG_1, acosh, __ig_acosh, __ig_acosh, __ig_acosh)
__IG_DEFINE(__IG_1, asin, __ig_asin, __ig_asin, __ig_asin)
__IG_DEFINE(__IG_1, asinh, __ig_asinh, __ig_asinh, __ig_asinh)
__IG_DEFINE(__IG_1, atan, __ig_atan, __ig_atan_fast, __ig_atan_fast)
__IG_DEFINE(__IG_1, atanh, __ig_atanh, __ig_atanh, __ig_atanh)
__IG_DEFINE(__IG_N1, ceil, __ig_n_ceil, __ig_n_ceil, __ig_n_ceil)
__IG_DEFINE(__IG_1, cos, __ig_cos, __ig_cos_fast, __ig_cos_half)
__IG_DEFINE(__IG_1, cosh, __ig_cosh, __ig_cosh, __ig_cosh)
__IG_DEFINE(__IG_1, cospi, __ig_cospi, __ig_cospi, __ig_cospi)
__IG_DEFINE(__IG_1, exp, __ig_exp, __ig_exp_fast, __ig_exp_fast)
__IG_DEFINE(__IG_1, exp10, __ig_exp10, __ig_exp10, __ig_exp10)
__IG_DEFINE(__IG_1, exp2, __ig_exp2, __ig_exp2_fast, __ig_exp2_fast)
__IG_DEFINE(__IG_N1, abs, __ig_n_abs, __ig_n_abs, __ig_n_abs)
__IG_DEFINE(__IG_N1, fabs, __ig_n_abs, __ig_n_abs, __ig_n_abs)
__IG_DEFINE(__IG_N1, floor, __ig_n_floor, __ig_n_floor, __ig_n_floor)
__IG_DEFINE(__IG_1, log, __ig_log, __ig_log_fast, __ig_log_fast)
__IG_DEFINE(__IG_1, log10, __ig_log10, __ig_log10_fast, __ig_log10_fast)
__IG_DEFINE(__IG_1, log2, __ig_log2, __ig_log2_fast, __ig_log2_fast)
__IG_DEFINE(__IG_N1, rint, __ig_n_rint, __ig_n_rint, __ig_n_rint)
__IG_DEFINE(__IG_1, round, __ig_round, __ig_round, __ig_round)
__IG_DEFINE(__IG_1, rsqrt, __ig_rsqrt, __ig_rsqrt_fast, __ig_rsqrt_fast)
__IG_DEFINE(__IG_1, sin, __ig_sin, __ig_sin_fast, __ig_sin_half)
__IG_DEFINE(__IG_1, sinh, __ig_sinh, __ig_sinh, __ig_sinh)
__IG_DEFINE(__IG_1, sinpi, __ig_sinpi, __ig_sinpi, __ig_sinpi)
__IG_DEFINE(__IG_N1, sqrt, __ig_n_sqrt, __ig_n_sqrt, __ig_n_sqrt)
__IG_DEFINE(__IG_1, tan, __ig_tan, __ig_tan_fast, __ig_tan_fast)
__IG_DEFINE(__IG_1, tanh, __ig_tanh, __ig_tanh, __ig_tanh)
__IG_DEFINE(__IG_1, tanpi, __ig_tanpi, __ig_tanpi, __ig_tanpi)
__IG_DEFINE(__IG_N1, trunc, __ig_n_trunc, __ig_n_trunc, __ig_n_trunc)

__IG_DEFINE(__IG_2, atan2, __ig_atan2, __ig_atan2_fast, __ig_atan2)
__IG_DEFINE(__IG_2, copysign, __ig_copysign, __ig_copysign, __ig_copysign)
__IG_DEFINE(__IG_N2, divide, __ig_n_divide_precise, __ig_n_divide, __ig_n_divide_precise)
__IG_DEFINE(__IG_2, fdim, __ig_fdim, __ig_fdim, __ig_fdim)
__IG_DEFINE(__IG_2, fmod, __ig_fmod, __ig_fmod_fast, __ig_fmod)
__IG_DEFINE(__IG_2, pow, __ig_pow, __ig_pow_fast, __ig_pow)
__IG_DEFINE(__IG_2, powr, __ig_powr, __ig_pow_fast, __ig_powr)
__IG_DEFINE(__IG_2, nextafter, __ig_nextafter, __ig_nextafter, __ig_nextafter_half)

// The plain names leave a NaN out in either mode; only fast:: may not. Halves are compared, because
// LLVM narrows a maximum of converted halves to one of halves, which x86 has no instruction for.
#define __IG_MINMAX(SHAPE, NAME, CALL) \
    SHAPE(NAME, float, CALL) \
    SHAPE(NAME, half, CALL##_compare) \
    __IG_BFLOAT(NAME) \
    namespace fast { \
    SHAPE(NAME, float, CALL##_fast) \
    } \
    namespace precise { \
    SHAPE(NAME, float, CALL) \
    }
__IG_MINMAX(__IG_N2, fmax, __ig_n_max)
__IG_MINMAX(__IG_N2, max, __ig_n_max)
__IG_MINMAX(__IG_N2, fmin, __ig_n_min)
__IG_MINMAX(__IG_N2, min, __ig_n_min)
__IG_MINMAX(__IG_N3, fmax3, __ig_n_max3)
__IG_MINMAX(__IG_N3, max3, __ig_n_max3)
__IG_MINMAX(__IG_N3, fmin3, __ig_n_min3)
__IG_MINMAX(__IG_N3, min3, __ig_n_min3)
__IG_MINMAX(__IG_N3, fmedian3, __ig_n_median3)
__IG_MINMAX(__IG_N3, median3, __ig_n_median3)

__IG_N3(fma, float, __ig_n_fma)
#if __INGOT_FAST_MATH
__IG_N3(fma, half, __ig_n_fma)
#else
__IG_3(fma, half, __ig_fma_odd)
#endif
__IG_BFLOAT(fma)
namespace fast {
__IG_N3(fma, float, __ig_n_fma)
}
namespace precise {
__IG_N3(fma, float, __ig_n_fma)
}
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
#undef __IG_N1
#undef __IG_N2
#undef __IG_N3
#undef __IG_BFLOAT
#undef __IG_OUT
#undef __IG_SINCOS
#undef __IG_MODF
#undef __IG_FREXP
#undef __IG_LDEXP
#undef __IG_ILOGB
#undef __IG_DEFINE
#undef __IG_MINMAX

#endif
