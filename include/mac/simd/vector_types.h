// SPDX-License-Identifier: Apache-2.0
// simd/vector_types.h: vectors of 2 to 64 numbers: simd_float4, its older name vector_float4, and
// simd::float4 in C++. A vector of three is as large as one of four; packed ones are aligned as
// their numbers are.
#ifndef INGOT_MAC_SIMD_VECTOR_TYPES_H
#define INGOT_MAC_SIMD_VECTOR_TYPES_H
#include "base.h"

typedef signed char simd_char1;
typedef unsigned char simd_uchar1;
typedef short simd_short1;
typedef unsigned short simd_ushort1;
typedef _Float16 simd_half1;
typedef int simd_int1;
typedef unsigned int simd_uint1;
typedef float simd_float1;
typedef long simd_long1; // 64 bits
typedef unsigned long simd_ulong1;
typedef double simd_double1;
typedef simd_char1 simd_packed_char1;

#define __SIMD_DECLARE(name, scalar, n, mask, lane)                                                \
    typedef __attribute__((__ext_vector_type__(n))) simd_##scalar##1 simd_##name;                  \
    typedef simd_##name vector_##name;
__SIMD_ALL_VECTORS(__SIMD_DECLARE)
#undef __SIMD_DECLARE

#define __SIMD_DECLARE(name, mask) typedef simd_##name##1 vector_##name##1;
__SIMD_ALL_SCALARS(__SIMD_DECLARE)
#undef __SIMD_DECLARE

#define __SIMD_DECLARE(name, scalar, n, mask, lane)                                                \
    typedef __attribute__((                                                                        \
        __ext_vector_type__(n),                                                                    \
        __aligned__(__alignof__(simd_##scalar##1)))) simd_##scalar##1 simd_packed_##name;          \
    typedef simd_packed_##name packed_##name;
#define __SIMD_PACKED(M, name)                                                                     \
    M(name##2, name, 2, , ) M(name##4, name, 4, , ) M(name##8, name, 8, , )
__SIMD_PACKED(__SIMD_DECLARE, char)
__SIMD_PACKED(__SIMD_DECLARE, uchar)
__SIMD_PACKED(__SIMD_DECLARE, short)
__SIMD_PACKED(__SIMD_DECLARE, ushort)
__SIMD_PACKED(__SIMD_DECLARE, half)
__SIMD_PACKED(__SIMD_DECLARE, int)
__SIMD_PACKED(__SIMD_DECLARE, uint)
__SIMD_PACKED(__SIMD_DECLARE, float)
__SIMD_PACKED(__SIMD_DECLARE, long)
__SIMD_PACKED(__SIMD_DECLARE, ulong)
__SIMD_PACKED(__SIMD_DECLARE, double)
#undef __SIMD_PACKED
#undef __SIMD_DECLARE

typedef int32_t simd_bool;

#ifdef __cplusplus
namespace simd {
#define __SIMD_DECLARE(name, scalar, n, mask, lane) typedef ::simd_##name name;
__SIMD_ALL_VECTORS(__SIMD_DECLARE)
#undef __SIMD_DECLARE
#define __SIMD_DECLARE(name, mask) typedef ::simd_##name##1 name##1;
__SIMD_ALL_SCALARS(__SIMD_DECLARE)
#undef __SIMD_DECLARE

// The vector of n numbers of a kind, what it consists of, and the integers of its comparisons.
template <typename T, size_t n> struct Vector {};
template <typename T> struct traits {};
template <typename T, size_t n> using Vector_t = typename Vector<T, n>::type;
template <typename V> using get_scalar_t = typename traits<V>::scalar_t;
template <typename V> using get_mask_t = typename traits<V>::mask_t;
#define __SIMD_DECLARE(name, scalar, n, mask, lane)                                                \
    template <> struct Vector<scalar##1, n> {                                                      \
        typedef ::simd_##name type;                                                                \
    };                                                                                             \
    template <> struct traits<::simd_##name> {                                                     \
        typedef scalar##1 scalar_t;                                                                \
        typedef ::simd_##mask mask_t;                                                              \
        static const size_t count = n;                                                             \
    };
__SIMD_ALL_VECTORS(__SIMD_DECLARE)
#undef __SIMD_DECLARE
#define __SIMD_DECLARE(name, mask)                                                                 \
    template <> struct Vector<name##1, 1> {                                                        \
        typedef name##1 type;                                                                      \
    };                                                                                             \
    template <> struct traits<name##1> {                                                           \
        typedef name##1 scalar_t;                                                                  \
        typedef ::simd_##mask##1 mask_t;                                                           \
        static const size_t count = 1;                                                             \
    };
__SIMD_ALL_SCALARS(__SIMD_DECLARE)
#undef __SIMD_DECLARE
} // namespace simd
#endif
#endif
