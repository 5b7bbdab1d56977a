// SPDX-License-Identifier: Apache-2.0
// simd/geometry.h: lengths, angles and directions of vectors of floats.
#ifndef INGOT_MAC_SIMD_GEOMETRY_H
#define INGOT_MAC_SIMD_GEOMETRY_H
#include "common.h"

#define __SIMD_GEOMETRY static inline SIMD_CFUNC
#define __SIMD_FUNCTIONS(name, scalar, n, mask, lane)                                              \
    __SIMD_GEOMETRY simd_##scalar##1 simd_dot(simd_##name x, simd_##name y) {                      \
        return simd_reduce_add(x * y);                                                             \
    }                                                                                              \
    __SIMD_GEOMETRY simd_##scalar##1 simd_length_squared(simd_##name x) { return simd_dot(x, x); } \
    __SIMD_GEOMETRY simd_##scalar##1 simd_length(simd_##name x) {                                  \
        return __builtin_elementwise_sqrt(simd_dot(x, x));                                         \
    }                                                                                              \
    __SIMD_GEOMETRY simd_##scalar##1 simd_precise_length(simd_##name x) { return simd_length(x); } \
    __SIMD_GEOMETRY simd_##scalar##1 simd_fast_length(simd_##name x) { return simd_length(x); }    \
    __SIMD_GEOMETRY simd_##scalar##1 simd_norm_one(simd_##name x) {                                \
        return simd_reduce_add(simd_abs(x));                                                       \
    }                                                                                              \
    __SIMD_GEOMETRY simd_##scalar##1 simd_norm_inf(simd_##name x) {                                \
        return simd_reduce_max(simd_abs(x));                                                       \
    }                                                                                              \
    __SIMD_GEOMETRY simd_##scalar##1 simd_distance_squared(simd_##name x, simd_##name y) {         \
        return simd_length_squared(x - y);                                                         \
    }                                                                                              \
    __SIMD_GEOMETRY simd_##scalar##1 simd_distance(simd_##name x, simd_##name y) {                 \
        return simd_length(x - y);                                                                 \
    }                                                                                              \
    __SIMD_GEOMETRY simd_##scalar##1 simd_precise_distance(simd_##name x, simd_##name y) {         \
        return simd_length(x - y);                                                                 \
    }                                                                                              \
    __SIMD_GEOMETRY simd_##scalar##1 simd_fast_distance(simd_##name x, simd_##name y) {            \
        return simd_length(x - y);                                                                 \
    }                                                                                              \
    __SIMD_GEOMETRY simd_##name simd_normalize(simd_##name x) {                                    \
        return x * simd_precise_rsqrt(simd_length_squared(x));                                     \
    }                                                                                              \
    __SIMD_GEOMETRY simd_##name simd_precise_normalize(simd_##name x) {                            \
        return simd_normalize(x);                                                                  \
    }                                                                                              \
    __SIMD_GEOMETRY simd_##name simd_fast_normalize(simd_##name x) { return simd_normalize(x); }   \
    __SIMD_GEOMETRY simd_##name simd_project(simd_##name x, simd_##name y) {                       \
        return simd_dot(x, y) / simd_dot(y, y) * y;                                                \
    }                                                                                              \
    __SIMD_GEOMETRY simd_##name simd_precise_project(simd_##name x, simd_##name y) {               \
        return simd_project(x, y);                                                                 \
    }                                                                                              \
    __SIMD_GEOMETRY simd_##name simd_fast_project(simd_##name x, simd_##name y) {                  \
        return simd_project(x, y);                                                                 \
    }                                                                                              \
    __SIMD_GEOMETRY simd_##name simd_reflect(simd_##name x, simd_##name normal) {                  \
        return x - 2 * simd_dot(x, normal) * normal;                                               \
    }                                                                                              \
    __SIMD_GEOMETRY simd_##name simd_refract(simd_##name x, simd_##name normal,                    \
                                             simd_##scalar##1 eta) {                               \
        const simd_##scalar##1 dn = simd_dot(x, normal), k = 1 - eta * eta * (1 - dn * dn);        \
        return k >= 0 ? eta * x - (eta * dn + __builtin_elementwise_sqrt(k)) * normal              \
                      : (simd_##name)0;                                                            \
    }
__SIMD_FLOAT_VECTORS(__SIMD_FUNCTIONS)
#undef __SIMD_FUNCTIONS

#define __SIMD_FUNCTIONS(t, mask)                                                                  \
    __SIMD_GEOMETRY simd_##t##3 simd_cross(simd_##t##2 x, simd_##t##2 y) {                         \
        return (simd_##t##3){0, 0, x.x * y.y - x.y * y.x};                                         \
    }                                                                                              \
    __SIMD_GEOMETRY simd_##t##3 simd_cross(simd_##t##3 x, simd_##t##3 y) {                         \
        return (x.zxy * y - x * y.zxy).zxy;                                                        \
    }
__SIMD_FLOAT_SCALARS(__SIMD_FUNCTIONS)
#undef __SIMD_FUNCTIONS
#undef __SIMD_GEOMETRY

#define vector_dot simd_dot
#define vector_length simd_length
#define vector_precise_length simd_precise_length
#define vector_fast_length simd_fast_length
#define vector_length_squared simd_length_squared
#define vector_norm_one simd_norm_one
#define vector_norm_inf simd_norm_inf
#define vector_distance simd_distance
#define vector_precise_distance simd_precise_distance
#define vector_fast_distance simd_fast_distance
#define vector_distance_squared simd_distance_squared
#define vector_normalize simd_normalize
#define vector_precise_normalize simd_precise_normalize
#define vector_fast_normalize simd_fast_normalize
#define vector_project simd_project
#define vector_precise_project simd_precise_project
#define vector_fast_project simd_fast_project
#define vector_cross simd_cross
#define vector_reflect simd_reflect
#define vector_refract simd_refract

#ifdef __cplusplus
namespace simd {
template <typename V> SIMD_CPPFUNC get_scalar_t<V> dot(V x, V y) { return ::simd_dot(x, y); }
template <typename V> SIMD_CPPFUNC get_scalar_t<V> length(V x) { return ::simd_length(x); }
template <typename V> SIMD_CPPFUNC get_scalar_t<V> length_squared(V x) {
    return ::simd_length_squared(x);
}
template <typename V> SIMD_CPPFUNC get_scalar_t<V> norm_one(V x) { return ::simd_norm_one(x); }
template <typename V> SIMD_CPPFUNC get_scalar_t<V> norm_inf(V x) { return ::simd_norm_inf(x); }
template <typename V> SIMD_CPPFUNC get_scalar_t<V> distance(V x, V y) {
    return ::simd_distance(x, y);
}
template <typename V> SIMD_CPPFUNC get_scalar_t<V> distance_squared(V x, V y) {
    return ::simd_distance_squared(x, y);
}
template <typename V> SIMD_CPPFUNC V normalize(V x) { return ::simd_normalize(x); }
template <typename V> SIMD_CPPFUNC V project(V x, V y) { return ::simd_project(x, y); }
template <typename V> SIMD_CPPFUNC V reflect(V x, V normal) { return ::simd_reflect(x, normal); }
template <typename V> SIMD_CPPFUNC V refract(V x, V normal, get_scalar_t<V> eta) {
    return ::simd_refract(x, normal, eta);
}
template <typename V> SIMD_CPPFUNC auto cross(V x, V y) -> decltype(::simd_cross(x, y)) {
    return ::simd_cross(x, y);
}
namespace fast {
template <typename V> SIMD_CPPFUNC get_scalar_t<V> length(V x) { return ::simd_length(x); }
template <typename V> SIMD_CPPFUNC get_scalar_t<V> distance(V x, V y) {
    return ::simd_distance(x, y);
}
template <typename V> SIMD_CPPFUNC V normalize(V x) { return ::simd_normalize(x); }
} // namespace fast
namespace precise {
using ::simd::fast::distance;
using ::simd::fast::length;
using ::simd::fast::normalize;
} // namespace precise
} // namespace simd
#endif
#endif
