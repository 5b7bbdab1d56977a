// SPDX-License-Identifier: Apache-2.0
// simd/vector_make.h: vectors from numbers and other vectors: simd_make_float4(v.xyz, 1). A longer
// vector is cut off, a shorter one is filled with zeros (simd_make_float4_undef: with anything).
#ifndef INGOT_MAC_SIMD_VECTOR_MAKE_H
#define INGOT_MAC_SIMD_VECTOR_MAKE_H
#include "vector_types.h"

#define __SIMD_MAKE static inline SIMD_CFUNC

// From parts; what is common to all kinds of number.
#define __SIMD_FROM_PARTS(t)                                                                       \
    __SIMD_MAKE simd_##t##2 simd_make_##t##2(simd_##t##1 x, simd_##t##1 y) {                       \
        return (simd_##t##2){x, y};                                                                \
    }                                                                                              \
    __SIMD_MAKE simd_##t##3 simd_make_##t##3(simd_##t##1 x, simd_##t##1 y, simd_##t##1 z) {        \
        return (simd_##t##3){x, y, z};                                                             \
    }                                                                                              \
    __SIMD_MAKE simd_##t##3 simd_make_##t##3(simd_##t##1 x, simd_##t##2 yz) {                      \
        return (simd_##t##3){x, yz.x, yz.y};                                                       \
    }                                                                                              \
    __SIMD_MAKE simd_##t##3 simd_make_##t##3(simd_##t##2 xy, simd_##t##1 z) {                      \
        return (simd_##t##3){xy.x, xy.y, z};                                                       \
    }                                                                                              \
    __SIMD_MAKE simd_##t##4 simd_make_##t##4(simd_##t##1 x, simd_##t##1 y, simd_##t##1 z,          \
                                             simd_##t##1 w) {                                      \
        return (simd_##t##4){x, y, z, w};                                                          \
    }                                                                                              \
    __SIMD_MAKE simd_##t##4 simd_make_##t##4(simd_##t##1 x, simd_##t##1 y, simd_##t##2 zw) {       \
        return (simd_##t##4){x, y, zw.x, zw.y};                                                    \
    }                                                                                              \
    __SIMD_MAKE simd_##t##4 simd_make_##t##4(simd_##t##1 x, simd_##t##2 yz, simd_##t##1 w) {       \
        return (simd_##t##4){x, yz.x, yz.y, w};                                                    \
    }                                                                                              \
    __SIMD_MAKE simd_##t##4 simd_make_##t##4(simd_##t##2 xy, simd_##t##1 z, simd_##t##1 w) {       \
        return (simd_##t##4){xy.x, xy.y, z, w};                                                    \
    }                                                                                              \
    __SIMD_MAKE simd_##t##4 simd_make_##t##4(simd_##t##1 x, simd_##t##3 yzw) {                     \
        return (simd_##t##4){x, yzw.x, yzw.y, yzw.z};                                              \
    }                                                                                              \
    __SIMD_MAKE simd_##t##4 simd_make_##t##4(simd_##t##2 xy, simd_##t##2 zw) {                     \
        return (simd_##t##4){xy.x, xy.y, zw.x, zw.y};                                              \
    }                                                                                              \
    __SIMD_MAKE simd_##t##4 simd_make_##t##4(simd_##t##3 xyz, simd_##t##1 w) {                     \
        return (simd_##t##4){xyz.x, xyz.y, xyz.z, w};                                              \
    }                                                                                              \
    __SIMD_MAKE simd_##t##8 simd_make_##t##8(simd_##t##4 lo, simd_##t##4 hi) {                     \
        return __builtin_shufflevector(lo, hi, 0, 1, 2, 3, 4, 5, 6, 7);                            \
    }

// From one vector of another length, or the same: what both have is kept.
#define __SIMD_FROM_ONE(t, n, m)                                                                   \
    __SIMD_MAKE simd_##t##n simd_make_##t##n(simd_##t##m other) {                                  \
        simd_##t##n made = 0;                                                                      \
        for (int i = 0; i < (n < m ? n : m); i++) made[i] = other[i];                              \
        return made;                                                                               \
    }                                                                                              \
    __SIMD_MAKE simd_##t##n simd_make_##t##n##_undef(simd_##t##m other) {                          \
        return simd_make_##t##n(other);                                                            \
    }
#define __SIMD_FROM_NUMBER(t, n)                                                                   \
    __SIMD_MAKE simd_##t##n simd_make_##t##n(simd_##t##1 x) {                                      \
        simd_##t##n made = 0;                                                                      \
        made[0] = x;                                                                               \
        return made;                                                                               \
    }                                                                                              \
    __SIMD_MAKE simd_##t##n simd_make_##t##n##_undef(simd_##t##1 x) { return simd_make_##t##n(x); }
#define __SIMD_FROM_8(t, n)                                                                        \
    __SIMD_FROM_NUMBER(t, n)                                                                       \
    __SIMD_FROM_ONE(t, n, 2)                                                                       \
    __SIMD_FROM_ONE(t, n, 3) __SIMD_FROM_ONE(t, n, 4) __SIMD_FROM_ONE(t, n, 8)
#define __SIMD_FROM_16(t, n) __SIMD_FROM_8(t, n) __SIMD_FROM_ONE(t, n, 16)
#define __SIMD_FROM_32(t, n) __SIMD_FROM_16(t, n) __SIMD_FROM_ONE(t, n, 32)

#define __SIMD_MAKE_8(t)                                                                           \
    __SIMD_FROM_PARTS(t)                                                                           \
    __SIMD_FROM_8(t, 2) __SIMD_FROM_8(t, 3) __SIMD_FROM_8(t, 4) __SIMD_FROM_8(t, 8)
// clang-format off
#define __SIMD_MAKE_16(t) \
    __SIMD_FROM_PARTS(t) \
    __SIMD_FROM_16(t, 2) __SIMD_FROM_16(t, 3) __SIMD_FROM_16(t, 4) __SIMD_FROM_16(t, 8) \
    __SIMD_FROM_16(t, 16) \
    __SIMD_MAKE simd_##t##16 simd_make_##t##16(simd_##t##8 lo, simd_##t##8 hi) { \
        return __builtin_shufflevector(lo, hi, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, \
                                       15); }
// clang-format on
#define __SIMD_MAKE_32(t)                                                                          \
    __SIMD_FROM_PARTS(t)                                                                           \
    __SIMD_FROM_32(t, 2)                                                                           \
    __SIMD_FROM_32(t, 3)                                                                           \
    __SIMD_FROM_32(t, 4) __SIMD_FROM_32(t, 8) __SIMD_FROM_32(t, 16) __SIMD_FROM_32(t, 32)

__SIMD_MAKE_32(char)
__SIMD_MAKE_32(uchar)
__SIMD_MAKE_32(short)
__SIMD_MAKE_32(ushort)
__SIMD_MAKE_32(half)
__SIMD_MAKE_16(int)
__SIMD_MAKE_16(uint)
__SIMD_MAKE_16(float)
__SIMD_MAKE_8(long)
__SIMD_MAKE_8(ulong)
__SIMD_MAKE_8(double)

// The older spelling: vector4(1.0f, 2.0f, 3.0f, 4.0f) has the type of its first argument.
#define __SIMD_OLD_MAKE(t, mask)                                                                   \
    __SIMD_MAKE simd_##t##2 vector2(simd_##t##1 x, simd_##t##1 y) {                                \
        return simd_make_##t##2(x, y);                                                             \
    }                                                                                              \
    __SIMD_MAKE simd_##t##3 vector3(simd_##t##1 x, simd_##t##1 y, simd_##t##1 z) {                 \
        return simd_make_##t##3(x, y, z);                                                          \
    }                                                                                              \
    __SIMD_MAKE simd_##t##3 vector3(simd_##t##2 xy, simd_##t##1 z) {                               \
        return simd_make_##t##3(xy, z);                                                            \
    }                                                                                              \
    __SIMD_MAKE simd_##t##4 vector4(simd_##t##1 x, simd_##t##1 y, simd_##t##1 z, simd_##t##1 w) {  \
        return simd_make_##t##4(x, y, z, w);                                                       \
    }                                                                                              \
    __SIMD_MAKE simd_##t##4 vector4(simd_##t##2 xy, simd_##t##2 zw) {                              \
        return simd_make_##t##4(xy, zw);                                                           \
    }                                                                                              \
    __SIMD_MAKE simd_##t##4 vector4(simd_##t##3 xyz, simd_##t##1 w) {                              \
        return simd_make_##t##4(xyz, w);                                                           \
    }                                                                                              \
    __SIMD_MAKE simd_##t##8 vector8(simd_##t##4 lo, simd_##t##4 hi) {                              \
        return simd_make_##t##8(lo, hi);                                                           \
    }
__SIMD_ALL_SCALARS(__SIMD_OLD_MAKE)
#undef __SIMD_OLD_MAKE
#undef __SIMD_MAKE_8
#undef __SIMD_MAKE_16
#undef __SIMD_MAKE_32
#undef __SIMD_FROM_PARTS
#undef __SIMD_FROM_ONE
#undef __SIMD_FROM_NUMBER
#undef __SIMD_FROM_8
#undef __SIMD_FROM_16
#undef __SIMD_FROM_32
#undef __SIMD_MAKE
#endif
