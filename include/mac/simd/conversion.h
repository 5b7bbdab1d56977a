// SPDX-License-Identifier: Apache-2.0
// simd/conversion.h: vectors of one kind of number from another: simd_float(v), cut off towards
// zero or wrapped; and simd_uchar_sat(v), which stays inside the range.
#ifndef INGOT_MAC_SIMD_CONVERSION_H
#define INGOT_MAC_SIMD_CONVERSION_H
#include "vector_make.h"

// clang-format off
#define __SIMD_CONVERT_ONE(to, from, n) \
    static inline SIMD_CFUNC simd_##to##n simd_##to(simd_##from##n x) { \
        return __builtin_convertvector(x, simd_##to##n); }
#define __SIMD_CONVERT_SMALL(to, from) \
    static inline SIMD_CFUNC simd_##to##1 simd_##to(simd_##from##1 x) { return (simd_##to##1)x; } \
    __SIMD_CONVERT_ONE(to, from, 2) __SIMD_CONVERT_ONE(to, from, 3) \
    __SIMD_CONVERT_ONE(to, from, 4) __SIMD_CONVERT_ONE(to, from, 8)
#define __SIMD_CONVERT_8(to) \
    __SIMD_CONVERT_SMALL(to, char) __SIMD_CONVERT_SMALL(to, uchar) __SIMD_CONVERT_SMALL(to, short) \
    __SIMD_CONVERT_SMALL(to, ushort) __SIMD_CONVERT_SMALL(to, half) __SIMD_CONVERT_SMALL(to, int) \
    __SIMD_CONVERT_SMALL(to, uint) __SIMD_CONVERT_SMALL(to, float) __SIMD_CONVERT_SMALL(to, long) \
    __SIMD_CONVERT_SMALL(to, ulong) __SIMD_CONVERT_SMALL(to, double)
#define __SIMD_CONVERT_16(to) \
    __SIMD_CONVERT_8(to) \
    __SIMD_CONVERT_ONE(to, char, 16) __SIMD_CONVERT_ONE(to, uchar, 16) \
    __SIMD_CONVERT_ONE(to, short, 16) __SIMD_CONVERT_ONE(to, ushort, 16) \
    __SIMD_CONVERT_ONE(to, half, 16) __SIMD_CONVERT_ONE(to, int, 16) \
    __SIMD_CONVERT_ONE(to, uint, 16) __SIMD_CONVERT_ONE(to, float, 16)
// clang-format on
__SIMD_CONVERT_16(char)
__SIMD_CONVERT_16(uchar)
__SIMD_CONVERT_16(short)
__SIMD_CONVERT_16(ushort)
__SIMD_CONVERT_16(half)
__SIMD_CONVERT_16(int)
__SIMD_CONVERT_16(uint)
__SIMD_CONVERT_16(float)
__SIMD_CONVERT_8(long)
__SIMD_CONVERT_8(ulong)
__SIMD_CONVERT_8(double)
#undef __SIMD_CONVERT_16
#undef __SIMD_CONVERT_8
#undef __SIMD_CONVERT_SMALL
#undef __SIMD_CONVERT_ONE

// `wide` holds every value of the source: an integer of 128 bits, or the source's own float type,
// in which a limit that is no float is rounded away from zero, so that a value below it still fits.
#define __SIMD_SAT_ONE(to, from, n, wide, low, high)                                               \
    static inline SIMD_CFUNC simd_##to##n simd_##to##_sat(simd_##from##n x) {                      \
        simd_##to##n out;                                                                          \
        for (int i = 0; i < n; i++)                                                                \
            out[i] = (wide)x[i] >= (wide)(high) ? (simd_##to##1)(high)                             \
                     : (wide)x[i] > (wide)(low) ? (simd_##to##1)x[i]                               \
                     : x[i] == x[i]             ? (simd_##to##1)(low)                              \
                                                : (simd_##to##1)0;                                 \
        return out;                                                                                \
    }
#define __SIMD_SAT_FROM(to, from, wide, low, high)                                                 \
    __SIMD_SAT_ONE(to, from, 2, wide, low, high)                                                   \
    __SIMD_SAT_ONE(to, from, 3, wide, low, high)                                                   \
    __SIMD_SAT_ONE(to, from, 4, wide, low, high) __SIMD_SAT_ONE(to, from, 8, wide, low, high)
#define __SIMD_SAT(to, low, high)                                                                  \
    __SIMD_SAT_FROM(to, char, __int128, low, high)                                                 \
    __SIMD_SAT_FROM(to, uchar, __int128, low, high)                                                \
    __SIMD_SAT_FROM(to, short, __int128, low, high)                                                \
    __SIMD_SAT_FROM(to, ushort, __int128, low, high)                                               \
    __SIMD_SAT_FROM(to, int, __int128, low, high)                                                  \
    __SIMD_SAT_FROM(to, uint, __int128, low, high)                                                 \
    __SIMD_SAT_FROM(to, long, __int128, low, high)                                                 \
    __SIMD_SAT_FROM(to, ulong, __int128, low, high)                                                \
    __SIMD_SAT_FROM(to, half, float, low, high)                                                    \
    __SIMD_SAT_FROM(to, float, float, low, high)                                                   \
    __SIMD_SAT_FROM(to, double, double, low, high)
__SIMD_SAT(char, INT8_MIN, INT8_MAX)
__SIMD_SAT(uchar, 0, UINT8_MAX)
__SIMD_SAT(short, INT16_MIN, INT16_MAX)
__SIMD_SAT(ushort, 0, UINT16_MAX)
__SIMD_SAT(int, INT32_MIN, INT32_MAX)
__SIMD_SAT(uint, 0, UINT32_MAX)
__SIMD_SAT(long, INT64_MIN, INT64_MAX)
__SIMD_SAT(ulong, 0, UINT64_MAX)
#undef __SIMD_SAT
#undef __SIMD_SAT_FROM
#undef __SIMD_SAT_ONE

#define vector_char simd_char
#define vector_uchar simd_uchar
#define vector_short simd_short
#define vector_ushort simd_ushort
#define vector_half simd_half
#define vector_int simd_int
#define vector_uint simd_uint
#define vector_float simd_float
#define vector_long simd_long
#define vector_ulong simd_ulong
#define vector_double simd_double
#define vector_char_sat simd_char_sat
#define vector_uchar_sat simd_uchar_sat
#define vector_short_sat simd_short_sat
#define vector_ushort_sat simd_ushort_sat
#define vector_int_sat simd_int_sat
#define vector_uint_sat simd_uint_sat
#define vector_long_sat simd_long_sat
#define vector_ulong_sat simd_ulong_sat
#endif
