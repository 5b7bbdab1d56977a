// SPDX-License-Identifier: Apache-2.0
// simd/math.h: the functions of <math.h> lane by lane: sin(v) in C, through <tgmath.h>, and
// simd::sin(v) in C++.
#ifndef INGOT_MAC_SIMD_MATH_H
#define INGOT_MAC_SIMD_MATH_H
#include "vector_types.h"
#ifdef __cplusplus
#include <cmath>
#else
#include <tgmath.h>
#endif

// M(name in C, how it is done for a lane): what Clang has for vectors is done for the whole vector
// clang-format off
#define __SIMD_MATH_WHOLE(M) \
    M(acos) M(asin) M(atan) M(cos) M(cosh) M(exp) M(exp2) M(log) M(log2) M(log10) M(sin) M(sinh) \
    M(sqrt) M(tan) M(tanh) M(ceil) M(floor) M(rint) M(round) M(trunc) M(nearbyint)
#define __SIMD_MATH_LANES(M) \
    M(acosh) M(asinh) M(atanh) M(expm1) M(log1p) M(cbrt) M(erf) M(erfc) M(tgamma) M(lgamma)
#define __SIMD_MATH_PAIRS(M) M(atan2) M(fdim) M(fmod) M(hypot) M(nextafter) M(pow) M(remainder)
// clang-format on

#ifdef __cplusplus
#define __SIMD_MATH_NAME(f) __simd_##f
#else
#define __SIMD_MATH_NAME(f) __tg_##f // what the macros of <tgmath.h> call
#endif
#define __SIMD_MATH static inline SIMD_CFUNC

#define __SIMD_WHOLE(f)                                                                            \
    __SIMD_MATH __SIMD_V __SIMD_MATH_NAME(f)(__SIMD_V x) { return __builtin_elementwise_##f(x); }
#define __SIMD_LANES(f)                                                                            \
    __SIMD_MATH __SIMD_V __SIMD_MATH_NAME(f)(__SIMD_V x) {                                         \
        for (int i = 0; i < __SIMD_N; i++) x[i] = __SIMD_LIBM(f)(x[i]);                            \
        return x;                                                                                  \
    }
#define __SIMD_PAIRS(f)                                                                            \
    __SIMD_MATH __SIMD_V __SIMD_MATH_NAME(f)(__SIMD_V x, __SIMD_V y) {                             \
        for (int i = 0; i < __SIMD_N; i++) x[i] = __SIMD_LIBM(f)(x[i], y[i]);                      \
        return x;                                                                                  \
    }
#ifdef __cplusplus
#define __SIMD_PROMOTE
#else
#define __SIMD_PROMOTE                                                                             \
    __SIMD_V SIMD_OVERLOAD __tg_promote(__SIMD_V); // never called: a type for <tgmath.h>
#endif

#define __SIMD_EACH_FUNCTION                                                                       \
    __SIMD_PROMOTE __SIMD_MATH_WHOLE(__SIMD_WHOLE) __SIMD_MATH_LANES(__SIMD_LANES)                 \
        __SIMD_MATH_PAIRS(__SIMD_PAIRS) __SIMD_MATH __SIMD_V __SIMD_MATH_NAME(fabs)(__SIMD_V x) {  \
        return __builtin_elementwise_abs(x);                                                       \
    }                                                                                              \
    __SIMD_MATH __SIMD_V __SIMD_MATH_NAME(fmin)(__SIMD_V x, __SIMD_V y) {                          \
        return __builtin_elementwise_min(x, y);                                                    \
    }                                                                                              \
    __SIMD_MATH __SIMD_V __SIMD_MATH_NAME(fmax)(__SIMD_V x, __SIMD_V y) {                          \
        return __builtin_elementwise_max(x, y);                                                    \
    }                                                                                              \
    __SIMD_MATH __SIMD_V __SIMD_MATH_NAME(copysign)(__SIMD_V x, __SIMD_V y) {                      \
        return __builtin_elementwise_copysign(x, y);                                               \
    }                                                                                              \
    __SIMD_MATH __SIMD_V __SIMD_MATH_NAME(fma)(__SIMD_V x, __SIMD_V y, __SIMD_V z) {               \
        return __builtin_elementwise_fma(x, y, z);                                                 \
    }

#define __SIMD_LIBM(name) __builtin_##name##f
#define __SIMD_V simd_float2
#define __SIMD_N 2
__SIMD_EACH_FUNCTION
#undef __SIMD_V
#undef __SIMD_N
#define __SIMD_V simd_float3
#define __SIMD_N 3
__SIMD_EACH_FUNCTION
#undef __SIMD_V
#undef __SIMD_N
#define __SIMD_V simd_float4
#define __SIMD_N 4
__SIMD_EACH_FUNCTION
#undef __SIMD_V
#undef __SIMD_N
#define __SIMD_V simd_float8
#define __SIMD_N 8
__SIMD_EACH_FUNCTION
#undef __SIMD_V
#undef __SIMD_N
#define __SIMD_V simd_float16
#define __SIMD_N 16
__SIMD_EACH_FUNCTION
#undef __SIMD_V
#undef __SIMD_N
#undef __SIMD_LIBM
#define __SIMD_LIBM(name) __builtin_##name
#define __SIMD_V simd_double2
#define __SIMD_N 2
__SIMD_EACH_FUNCTION
#undef __SIMD_V
#undef __SIMD_N
#define __SIMD_V simd_double3
#define __SIMD_N 3
__SIMD_EACH_FUNCTION
#undef __SIMD_V
#undef __SIMD_N
#define __SIMD_V simd_double4
#define __SIMD_N 4
__SIMD_EACH_FUNCTION
#undef __SIMD_V
#undef __SIMD_N
#define __SIMD_V simd_double8
#define __SIMD_N 8
__SIMD_EACH_FUNCTION
#undef __SIMD_V
#undef __SIMD_N
#undef __SIMD_LIBM
#undef __SIMD_PROMOTE
#undef __SIMD_EACH_FUNCTION
#undef __SIMD_WHOLE
#undef __SIMD_LANES
#undef __SIMD_PAIRS
#undef __SIMD_MATH

#ifdef __cplusplus
namespace simd {
#define __SIMD_ONE(f)                                                                              \
    template <typename V> SIMD_CPPFUNC auto f(V x) -> decltype(__simd_##f(x)) {                    \
        return __simd_##f(x);                                                                      \
    }                                                                                              \
    static inline SIMD_CPPFUNC float f(float x) { return ::std::f(x); }                            \
    static inline SIMD_CPPFUNC double f(double x) { return ::std::f(x); }
#define __SIMD_TWO(f)                                                                              \
    template <typename V> SIMD_CPPFUNC auto f(V x, V y) -> decltype(__simd_##f(x, y)) {            \
        return __simd_##f(x, y);                                                                   \
    }                                                                                              \
    static inline SIMD_CPPFUNC float f(float x, float y) { return ::std::f(x, y); }                \
    static inline SIMD_CPPFUNC double f(double x, double y) { return ::std::f(x, y); }
__SIMD_MATH_WHOLE(__SIMD_ONE)
__SIMD_MATH_LANES(__SIMD_ONE)
__SIMD_ONE(fabs)
__SIMD_MATH_PAIRS(__SIMD_TWO)
__SIMD_TWO(fmin)
__SIMD_TWO(fmax)
__SIMD_TWO(copysign)
template <typename V> SIMD_CPPFUNC auto fma(V x, V y, V z) -> decltype(__simd_fma(x, y, z)) {
    return __simd_fma(x, y, z);
}
#undef __SIMD_ONE
#undef __SIMD_TWO
} // namespace simd
#endif
#undef __SIMD_MATH_WHOLE
#undef __SIMD_MATH_LANES
#undef __SIMD_MATH_PAIRS
#undef __SIMD_MATH_NAME
#endif
