// SPDX-License-Identifier: Apache-2.0
// simd/matrix_types.h: matrices of columns: simd_float4x3 has four columns of three; its older name
// is matrix_float4x3, and simd::float4x3 in C++ is the same with constructors and operators
// (matrix.h has the latter).
#ifndef INGOT_MAC_SIMD_MATRIX_TYPES_H
#define INGOT_MAC_SIMD_MATRIX_TYPES_H
#include "vector_types.h"

// M(kind of number, columns, rows)
#define __SIMD_SQUARE_MATRICES(M, t) M(t, 2, 2) M(t, 3, 3) M(t, 4, 4)
#define __SIMD_MATRICES(M, t)                                                                      \
    __SIMD_SQUARE_MATRICES(M, t) M(t, 2, 3) M(t, 2, 4) M(t, 3, 2) M(t, 3, 4) M(t, 4, 2) M(t, 4, 3)
#define __SIMD_ALL_MATRICES(M)                                                                     \
    __SIMD_MATRICES(M, half) __SIMD_MATRICES(M, float) __SIMD_MATRICES(M, double)

#define __SIMD_DECLARE(t, c, r)                                                                    \
    typedef struct {                                                                               \
        simd_##t##r columns[c];                                                                    \
    } simd_##t##c##x##r;                                                                           \
    typedef simd_##t##c##x##r matrix_##t##c##x##r;
__SIMD_ALL_MATRICES(__SIMD_DECLARE)
#undef __SIMD_DECLARE

#ifdef __cplusplus
namespace simd {
#define __SIMD_DECLARE(t, c, r)                                                                    \
    struct t##c##x##r : ::simd_##t##c##x##r {                                                      \
        t##c##x##r() {                                                                             \
            for (int i = 0; i < c; i++) columns[i] = 0;                                            \
        }                                                                                          \
        explicit t##c##x##r(t##1 diagonal) : t##c##x##r() {                                        \
            for (int i = 0; i < (c < r ? c : r); i++) columns[i][i] = diagonal;                    \
        }                                                                                          \
        __SIMD_COLUMNS_##c(t, c, r) t##c##x##r(::simd_##t##c##x##r m) : ::simd_##t##c##x##r(m) {}  \
        t##r &operator[](size_t i) { return columns[i]; }                                          \
        const t##r &operator[](size_t i) const { return columns[i]; }                              \
    };
#define __SIMD_COLUMNS_2(t, c, r)                                                                  \
    t##c##x##r(t##r c0, t##r c1) { columns[0] = c0, columns[1] = c1; }
#define __SIMD_COLUMNS_3(t, c, r)                                                                  \
    t##c##x##r(t##r c0, t##r c1, t##r c2) { columns[0] = c0, columns[1] = c1, columns[2] = c2; }
#define __SIMD_COLUMNS_4(t, c, r)                                                                  \
    t##c##x##r(t##r c0, t##r c1, t##r c2, t##r c3) {                                               \
        columns[0] = c0, columns[1] = c1, columns[2] = c2, columns[3] = c3;                        \
    }
__SIMD_ALL_MATRICES(__SIMD_DECLARE)
#undef __SIMD_DECLARE
#undef __SIMD_COLUMNS_2
#undef __SIMD_COLUMNS_3
#undef __SIMD_COLUMNS_4
} // namespace simd
#endif
#endif
