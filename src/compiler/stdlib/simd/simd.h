// SPDX-License-Identifier: Apache-2.0
// <simd/simd.h> as shaders see it: the names that headers shared between host and shader use for
// Metal's own vector and matrix types.
#pragma once
#ifndef __MSL_PRELUDE
#include "../detail/prelude.h"
#endif

#define __MSL_V(T, N) \
    typedef T##N vector_##T##N; \
    typedef T##N simd_##T##N;
#define __MSL_T(T) __MSL_V(T, 2) __MSL_V(T, 3) __MSL_V(T, 4)
__MSL_T(char) __MSL_T(uchar) __MSL_T(short) __MSL_T(ushort) __MSL_T(int) __MSL_T(uint) __MSL_T(long)
__MSL_T(ulong) __MSL_T(half) __MSL_T(float)
#undef __MSL_T
#undef __MSL_V
#define __MSL_V(T, N) typedef packed_##T##N simd_packed_##T##N;
#define __MSL_T(T) __MSL_V(T, 2) __MSL_V(T, 4)
__MSL_T(char) __MSL_T(uchar) __MSL_T(short) __MSL_T(ushort) __MSL_T(int) __MSL_T(uint) __MSL_T(long)
__MSL_T(ulong) __MSL_T(half) __MSL_T(float)
#undef __MSL_T
#undef __MSL_V
#define __MSL_M(T, C, R) \
    typedef metal::T##C##x##R matrix_##T##C##x##R; \
    typedef metal::T##C##x##R simd_##T##C##x##R;
#define __MSL_T(T) \
    __MSL_M(T, 2, 2) __MSL_M(T, 2, 3) __MSL_M(T, 2, 4) __MSL_M(T, 3, 2) __MSL_M(T, 3, 3) \
    __MSL_M(T, 3, 4) __MSL_M(T, 4, 2) __MSL_M(T, 4, 3) __MSL_M(T, 4, 4)
__MSL_T(half) __MSL_T(float)
#undef __MSL_T
#undef __MSL_M
typedef char simd_char1;
typedef uchar simd_uchar1;
typedef short simd_short1;
typedef ushort simd_ushort1;
typedef int simd_int1;
typedef uint simd_uint1;
typedef long simd_long1;
typedef ulong simd_ulong1;
typedef half simd_half1;
typedef float simd_float1;
namespace simd {
using namespace metal;
}
