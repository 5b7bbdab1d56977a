// SPDX-License-Identifier: Apache-2.0
// simd/common.h: lane by lane, as the functions of the same names in shaders, and sums over all
// lanes.
#ifndef INGOT_MAC_SIMD_COMMON_H
#define INGOT_MAC_SIMD_COMMON_H
#include "conversion.h"
#include "logic.h"

// Numbers of any kind. Of a NaN and a number, the number is the smaller and the larger.
#define __SIMD_COMMON(name, scalar, n, mask, lane)                                                 \
    static inline SIMD_CFUNC simd_##name simd_min(simd_##name x, simd_##name y) {                  \
        return __builtin_elementwise_min(x, y);                                                    \
    }                                                                                              \
    static inline SIMD_CFUNC simd_##name simd_max(simd_##name x, simd_##name y) {                  \
        return __builtin_elementwise_max(x, y);                                                    \
    }                                                                                              \
    static inline SIMD_CFUNC simd_##name simd_clamp(simd_##name x, simd_##name low,                \
                                                    simd_##name high) {                            \
        return simd_min(simd_max(x, low), high);                                                   \
    }                                                                                              \
    static inline SIMD_CFUNC simd_##scalar##1 simd_reduce_min(simd_##name x) {                     \
        return __builtin_reduce_min(x);                                                            \
    }                                                                                              \
    static inline SIMD_CFUNC simd_##scalar##1 simd_reduce_max(simd_##name x) {                     \
        return __builtin_reduce_max(x);                                                            \
    }                                                                                              \
    static inline SIMD_CFUNC simd_bool simd_equal(simd_##name x, simd_##name y) {                  \
        return simd_all((simd_##mask)(x == y));                                                    \
    }                                                                                              \
    static inline SIMD_CFUNC simd_##scalar##1 simd_reduce_add(simd_##name x) {                     \
        simd_##scalar##1 sum = x[0];                                                               \
        for (int i = 1; i < n; i++) sum += x[i];                                                   \
        return sum;                                                                                \
    }
__SIMD_ALL_VECTORS(__SIMD_COMMON)
#undef __SIMD_COMMON

#define __SIMD_COMMON(name, scalar, n, mask, lane)                                                 \
    static inline SIMD_CFUNC simd_##name simd_abs(simd_##name x) {                                 \
        return __builtin_elementwise_abs(x);                                                       \
    }
__SIMD_SIGNED_VECTORS(__SIMD_COMMON)
__SIMD_FLOAT_VECTORS(__SIMD_COMMON)
#undef __SIMD_COMMON
#define __SIMD_COMMON(name, scalar, n, mask, lane)                                                 \
    static inline SIMD_CFUNC simd_##name simd_abs(simd_##name x) { return x; }
__SIMD_UNSIGNED_VECTORS(__SIMD_COMMON)
#undef __SIMD_COMMON

// Floats: V is a vector or one number, M the type of its comparisons.
#define __SIMD_FLOATS(V)                                                                           \
    static inline SIMD_CFUNC V simd_mix(V x, V y, V t) { return x + t * (y - x); }                 \
    static inline SIMD_CFUNC V simd_lerp(V x, V y, V t) { return simd_mix(x, y, t); }              \
    static inline SIMD_CFUNC V simd_precise_recip(V x) { return 1 / x; }                           \
    static inline SIMD_CFUNC V simd_fast_recip(V x) { return 1 / x; }                              \
    static inline SIMD_CFUNC V simd_recip(V x) { return 1 / x; }                                   \
    static inline SIMD_CFUNC V simd_precise_rsqrt(V x) {                                           \
        return 1 / __builtin_elementwise_sqrt(x);                                                  \
    }                                                                                              \
    static inline SIMD_CFUNC V simd_fast_rsqrt(V x) { return simd_precise_rsqrt(x); }              \
    static inline SIMD_CFUNC V simd_rsqrt(V x) { return simd_precise_rsqrt(x); }                   \
    static inline SIMD_CFUNC V simd_muladd(V x, V y, V z) { return x * y + z; }
#define __SIMD_COMMON(name, scalar, n, mask, lane)                                                 \
    __SIMD_FLOATS(simd_##name)                                                                     \
    static inline SIMD_CFUNC simd_##name simd_sign(simd_##name x) {                                \
        const simd_##name one = 1;                                                                 \
        return simd_select(simd_select((simd_##name)0, one, (simd_##mask)(x > 0)), -one,           \
                           (simd_##mask)(x < 0));                                                  \
    }                                                                                              \
    static inline SIMD_CFUNC simd_##name simd_step(simd_##name edge, simd_##name x) {              \
        return simd_select((simd_##name)1, (simd_##name)0, (simd_##mask)(x < edge));               \
    }                                                                                              \
    static inline SIMD_CFUNC simd_##name simd_fract(simd_##name x) {                               \
        /* of a tiny negative number the difference rounds to 1, which is no fraction */           \
        const simd_##name below = (simd_##name)(simd_##scalar##1)__SIMD_BELOW_1_##scalar;          \
        return simd_min(x - __builtin_elementwise_floor(x), below);                                \
    }                                                                                              \
    static inline SIMD_CFUNC simd_##name simd_smoothstep(simd_##name edge0, simd_##name edge1,     \
                                                         simd_##name x) {                          \
        const simd_##name t =                                                                      \
            simd_clamp((x - edge0) / (edge1 - edge0), (simd_##name)0, (simd_##name)1);             \
        return t * t * (3 - 2 * t);                                                                \
    }                                                                                              \
    static inline SIMD_CFUNC simd_##name simd_mix(simd_##name x, simd_##name y,                    \
                                                  simd_##scalar##1 t) {                            \
        return simd_mix(x, y, (simd_##name)t);                                                     \
    }
#define __SIMD_BELOW_1_half 0x1.ffcp-1
#define __SIMD_BELOW_1_float 0x1.fffffep-1
#define __SIMD_BELOW_1_double 0x1.fffffffffffffp-1
__SIMD_FLOAT_VECTORS(__SIMD_COMMON)
#undef __SIMD_COMMON

#define __SIMD_COMMON(scalar, mask)                                                                \
    __SIMD_FLOATS(simd_##scalar##1)                                                                \
    static inline SIMD_CFUNC simd_##scalar##1 simd_sign(simd_##scalar##1 x) {                      \
        return (simd_##scalar##1)((x > 0) - (x < 0));                                              \
    }                                                                                              \
    static inline SIMD_CFUNC simd_##scalar##1 simd_step(simd_##scalar##1 edge,                     \
                                                        simd_##scalar##1 x) {                      \
        return x < edge ? (simd_##scalar##1)0 : (simd_##scalar##1)1;                               \
    }                                                                                              \
    static inline SIMD_CFUNC simd_##scalar##1 simd_fract(simd_##scalar##1 x) {                     \
        const simd_##scalar##1 part = x - __builtin_elementwise_floor(x);                          \
        return part < (simd_##scalar##1)1 ? part : (simd_##scalar##1)__SIMD_BELOW_1_##scalar;      \
    }                                                                                              \
    static inline SIMD_CFUNC simd_##scalar##1 simd_smoothstep(                                     \
        simd_##scalar##1 edge0, simd_##scalar##1 edge1, simd_##scalar##1 x) {                      \
        simd_##scalar##1 t = (x - edge0) / (edge1 - edge0);                                        \
        t = t < 0 ? (simd_##scalar##1)0 : t > 1 ? (simd_##scalar##1)1 : t;                         \
        return t * t * (3 - 2 * t);                                                                \
    }
__SIMD_FLOAT_SCALARS(__SIMD_COMMON)
#undef __SIMD_COMMON
#undef __SIMD_FLOATS

#define __SIMD_COMMON(scalar, mask)                                                                \
    static inline SIMD_CFUNC simd_##scalar##1 simd_min(simd_##scalar##1 x, simd_##scalar##1 y) {   \
        return __builtin_elementwise_min(x, y);                                                    \
    }                                                                                              \
    static inline SIMD_CFUNC simd_##scalar##1 simd_max(simd_##scalar##1 x, simd_##scalar##1 y) {   \
        return __builtin_elementwise_max(x, y);                                                    \
    }                                                                                              \
    static inline SIMD_CFUNC simd_##scalar##1 simd_clamp(simd_##scalar##1 x, simd_##scalar##1 low, \
                                                         simd_##scalar##1 high) {                  \
        return simd_min(simd_max(x, low), high);                                                   \
    }
__SIMD_ALL_SCALARS(__SIMD_COMMON)
#undef __SIMD_COMMON
#define __SIMD_COMMON(scalar, mask)                                                                \
    static inline SIMD_CFUNC simd_##scalar##1 simd_abs(simd_##scalar##1 x) {                       \
        return x < 0 ? (simd_##scalar##1) - x : x;                                                 \
    }
__SIMD_COMMON(char, )
__SIMD_COMMON(short, )
__SIMD_COMMON(int, )
__SIMD_COMMON(long, )
#undef __SIMD_COMMON
#define __SIMD_COMMON(scalar, mask)                                                                \
    static inline SIMD_CFUNC simd_##scalar##1 simd_abs(simd_##scalar##1 x) {                       \
        return __builtin_elementwise_abs(x);                                                       \
    }
__SIMD_FLOAT_SCALARS(__SIMD_COMMON)
#undef __SIMD_COMMON

#define vector_abs simd_abs
#define vector_min simd_min
#define vector_max simd_max
#define vector_clamp simd_clamp
#define vector_sign simd_sign
#define vector_mix simd_mix
#define vector_lerp simd_lerp
#define vector_recip simd_recip
#define vector_precise_recip simd_precise_recip
#define vector_fast_recip simd_fast_recip
#define vector_rsqrt simd_rsqrt
#define vector_precise_rsqrt simd_precise_rsqrt
#define vector_fast_rsqrt simd_fast_rsqrt
#define vector_fract simd_fract
#define vector_step simd_step
#define vector_smoothstep simd_smoothstep
#define vector_reduce_add simd_reduce_add
#define vector_reduce_min simd_reduce_min
#define vector_reduce_max simd_reduce_max

#ifdef __cplusplus
namespace simd {
template <typename V> SIMD_CPPFUNC V abs(V x) { return ::simd_abs(x); }
template <typename V> SIMD_CPPFUNC V sign(V x) { return ::simd_sign(x); }
template <typename V> SIMD_CPPFUNC V fract(V x) { return ::simd_fract(x); }
template <typename V> SIMD_CPPFUNC V recip(V x) { return ::simd_recip(x); }
template <typename V> SIMD_CPPFUNC V rsqrt(V x) { return ::simd_rsqrt(x); }
template <typename V> SIMD_CPPFUNC V step(V edge, V x) { return ::simd_step(edge, x); }
template <typename V> SIMD_CPPFUNC V smoothstep(V a, V b, V x) {
    return ::simd_smoothstep(a, b, x);
}
template <typename V> SIMD_CPPFUNC V mix(V x, V y, V t) { return ::simd_mix(x, y, t); }
template <typename V> SIMD_CPPFUNC V lerp(V x, V y, V t) { return ::simd_mix(x, y, t); }
template <typename V> SIMD_CPPFUNC V min(V x, V y) { return ::simd_min(x, y); }
template <typename V> SIMD_CPPFUNC V max(V x, V y) { return ::simd_max(x, y); }
template <typename V> SIMD_CPPFUNC V clamp(V x, V low, V high) {
    return ::simd_clamp(x, low, high);
}
template <typename V> SIMD_CPPFUNC bool equal(V x, V y) { return ::simd_equal(x, y); }
template <typename V> SIMD_CPPFUNC get_scalar_t<V> reduce_add(V x) { return ::simd_reduce_add(x); }
template <typename V> SIMD_CPPFUNC get_scalar_t<V> reduce_min(V x) { return ::simd_reduce_min(x); }
template <typename V> SIMD_CPPFUNC get_scalar_t<V> reduce_max(V x) { return ::simd_reduce_max(x); }
} // namespace simd
#endif
#endif
