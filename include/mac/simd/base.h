// SPDX-License-Identifier: Apache-2.0
// simd/base.h: how the functions of <simd/simd.h> are declared, and over which types they are
// repeated. C has no templates: a function that exists for many types is one macro here, and each
// list below calls it once a type.
#ifndef INGOT_MAC_SIMD_BASE_H
#define INGOT_MAC_SIMD_BASE_H
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define SIMD_COMPILER_HAS_REQUIRED_FEATURES 1
#define SIMD_LIBRARY_VERSION 6
#define SIMD_OVERLOAD __attribute__((__overloadable__))
#define SIMD_INLINE __attribute__((__always_inline__))
#define SIMD_CONST __attribute__((__const__))
#define SIMD_NODEBUG __attribute__((__nodebug__))
#define SIMD_NOINLINE __attribute__((__noinline__))
#define SIMD_CFUNC SIMD_OVERLOAD SIMD_INLINE SIMD_CONST SIMD_NODEBUG
#define SIMD_CPPFUNC SIMD_INLINE SIMD_CONST SIMD_NODEBUG

// M(name of the type, its scalar, length, name of the type of a comparison's result, its scalar)
#define __SIMD_VECTORS_8(M, name, scalar, mask, lane)                                              \
    M(name##2, scalar, 2, mask##2, lane)                                                           \
    M(name##3, scalar, 3, mask##3, lane)                                                           \
    M(name##4, scalar, 4, mask##4, lane)                                                           \
    M(name##8, scalar, 8, mask##8, lane)
#define __SIMD_VECTORS_16(M, name, scalar, mask, lane)                                             \
    __SIMD_VECTORS_8(M, name, scalar, mask, lane)                                                  \
    M(name##16, scalar, 16, mask##16, lane)
#define __SIMD_VECTORS_32(M, name, scalar, mask, lane)                                             \
    __SIMD_VECTORS_16(M, name, scalar, mask, lane)                                                 \
    M(name##32, scalar, 32, mask##32, lane)
#define __SIMD_VECTORS_64(M, name, scalar, mask, lane)                                             \
    __SIMD_VECTORS_32(M, name, scalar, mask, lane)                                                 \
    M(name##64, scalar, 64, mask##64, lane)

#define __SIMD_SIGNED_VECTORS(M)                                                                   \
    __SIMD_VECTORS_64(M, char, char, char, char)                                                   \
    __SIMD_VECTORS_32(M, short, short, short, short)                                               \
    __SIMD_VECTORS_16(M, int, int, int, int)                                                       \
    __SIMD_VECTORS_8(M, long, long, long, long)
#define __SIMD_UNSIGNED_VECTORS(M)                                                                 \
    __SIMD_VECTORS_64(M, uchar, uchar, char, char)                                                 \
    __SIMD_VECTORS_32(M, ushort, ushort, short, short)                                             \
    __SIMD_VECTORS_16(M, uint, uint, int, int)                                                     \
    __SIMD_VECTORS_8(M, ulong, ulong, long, long)
#define __SIMD_FLOAT_VECTORS(M)                                                                    \
    __SIMD_VECTORS_32(M, half, half, short, short)                                                 \
    __SIMD_VECTORS_16(M, float, float, int, int)                                                   \
    __SIMD_VECTORS_8(M, double, double, long, long)
#define __SIMD_INTEGER_VECTORS(M) __SIMD_SIGNED_VECTORS(M) __SIMD_UNSIGNED_VECTORS(M)
#define __SIMD_ALL_VECTORS(M) __SIMD_INTEGER_VECTORS(M) __SIMD_FLOAT_VECTORS(M)

// M(name, integer that a comparison gives)
#define __SIMD_FLOAT_SCALARS(M) M(half, short) M(float, int) M(double, long)
#define __SIMD_ALL_SCALARS(M)                                                                      \
    M(char, char)                                                                                  \
    M(uchar, char)                                                                                 \
    M(short, short)                                                                                \
    M(ushort, short) M(int, int) M(uint, int) M(long, long) M(ulong, long) __SIMD_FLOAT_SCALARS(M)
#endif
