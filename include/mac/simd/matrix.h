// SPDX-License-Identifier: Apache-2.0
// simd/matrix.h: what is done with matrices: simd_mul, simd_transpose, simd_inverse...; operators
// in C++.
#ifndef INGOT_MAC_SIMD_MATRIX_H
#define INGOT_MAC_SIMD_MATRIX_H
#include "geometry.h"
#include "matrix_types.h"

#define __SIMD_M static inline SIMD_CFUNC

// From columns, rows, and a diagonal. t: float; c columns, r rows.
#define __SIMD_COLUMNS_2(t, r)                                                                     \
    __SIMD_M simd_##t##2x##r simd_matrix(simd_##t##r a, simd_##t##r b) {                           \
        return (simd_##t##2x##r){{a, b}};                                                          \
    }
#define __SIMD_COLUMNS_3(t, r)                                                                     \
    __SIMD_M simd_##t##3x##r simd_matrix(simd_##t##r a, simd_##t##r b, simd_##t##r c) {            \
        return (simd_##t##3x##r){{a, b, c}};                                                       \
    }
#define __SIMD_COLUMNS_4(t, r)                                                                     \
    __SIMD_M simd_##t##4x##r simd_matrix(simd_##t##r a, simd_##t##r b, simd_##t##r c,              \
                                         simd_##t##r d) {                                          \
        return (simd_##t##4x##r){{a, b, c, d}};                                                    \
    }
#define __SIMD_ROWS_2(t, c)                                                                        \
    __SIMD_M simd_##t##c##x2 simd_matrix_from_rows(simd_##t##c a, simd_##t##c b) {                 \
        simd_##t##c##x2 m;                                                                         \
        for (int i = 0; i < c; i++) m.columns[i] = (simd_##t##2){a[i], b[i]};                      \
        return m;                                                                                  \
    }
#define __SIMD_ROWS_3(t, c)                                                                        \
    __SIMD_M simd_##t##c##x3 simd_matrix_from_rows(simd_##t##c a, simd_##t##c b, simd_##t##c d) {  \
        simd_##t##c##x3 m;                                                                         \
        for (int i = 0; i < c; i++) m.columns[i] = (simd_##t##3){a[i], b[i], d[i]};                \
        return m;                                                                                  \
    }
#define __SIMD_ROWS_4(t, c)                                                                        \
    __SIMD_M simd_##t##c##x4 simd_matrix_from_rows(simd_##t##c a, simd_##t##c b, simd_##t##c d,    \
                                                   simd_##t##c e) {                                \
        simd_##t##c##x4 m;                                                                         \
        for (int i = 0; i < c; i++) m.columns[i] = (simd_##t##4){a[i], b[i], d[i], e[i]};          \
        return m;                                                                                  \
    }

// What every matrix can.
#define __SIMD_ANY_SHAPE(t, c, r)                                                                  \
    __SIMD_COLUMNS_##c(t, r) __SIMD_ROWS_##r(t, c) __SIMD_M simd_##t##c##x##r simd_mul(            \
        simd_##t##1 a, simd_##t##c##x##r x) {                                                      \
        for (int i = 0; i < c; i++) x.columns[i] *= a;                                             \
        return x;                                                                                  \
    }                                                                                              \
    __SIMD_M simd_##t##c##x##r simd_linear_combination(simd_##t##1 a, simd_##t##c##x##r x,         \
                                                       simd_##t##1 b, simd_##t##c##x##r y) {       \
        for (int i = 0; i < c; i++) x.columns[i] = a * x.columns[i] + b * y.columns[i];            \
        return x;                                                                                  \
    }                                                                                              \
    __SIMD_M simd_##t##c##x##r simd_add(simd_##t##c##x##r x, simd_##t##c##x##r y) {                \
        for (int i = 0; i < c; i++) x.columns[i] += y.columns[i];                                  \
        return x;                                                                                  \
    }                                                                                              \
    __SIMD_M simd_##t##c##x##r simd_sub(simd_##t##c##x##r x, simd_##t##c##x##r y) {                \
        for (int i = 0; i < c; i++) x.columns[i] -= y.columns[i];                                  \
        return x;                                                                                  \
    }                                                                                              \
    __SIMD_M simd_##t##r##x##c simd_transpose(simd_##t##c##x##r x) {                               \
        simd_##t##r##x##c m;                                                                       \
        for (int i = 0; i < r; i++)                                                                \
            for (int j = 0; j < c; j++) m.columns[i][j] = x.columns[j][i];                         \
        return m;                                                                                  \
    }                                                                                              \
    __SIMD_M simd_bool simd_equal(simd_##t##c##x##r x, simd_##t##c##x##r y) {                      \
        for (int i = 0; i < c; i++)                                                                \
            if (!simd_equal(x.columns[i], y.columns[i])) return 0;                                 \
        return 1;                                                                                  \
    }                                                                                              \
    __SIMD_M simd_bool simd_almost_equal_elements(simd_##t##c##x##r x, simd_##t##c##x##r y,        \
                                                  simd_##t##1 tolerance) {                         \
        for (int i = 0; i < c; i++)                                                                \
            if (!(simd_norm_inf(x.columns[i] - y.columns[i]) <= tolerance)) return 0;              \
        return 1;                                                                                  \
    }                                                                                              \
    __SIMD_M simd_bool simd_almost_equal_elements_relative(                                        \
        simd_##t##c##x##r x, simd_##t##c##x##r y, simd_##t##1 tolerance) {                         \
        for (int i = 0; i < c; i++)                                                                \
            for (int j = 0; j < r; j++)                                                            \
                if (!(simd_abs(x.columns[i][j] - y.columns[i][j]) <=                               \
                      tolerance * simd_abs(x.columns[i][j])))                                      \
                    return 0;                                                                      \
        return 1;                                                                                  \
    }                                                                                              \
    __SIMD_M simd_##t##r simd_mul(simd_##t##c##x##r x, simd_##t##c y) {                            \
        simd_##t##r sum = x.columns[0] * y[0];                                                     \
        for (int i = 1; i < c; i++) sum += x.columns[i] * y[i];                                    \
        return sum;                                                                                \
    }                                                                                              \
    __SIMD_M simd_##t##c simd_mul(simd_##t##r x, simd_##t##c##x##r y) {                            \
        simd_##t##c out;                                                                           \
        for (int i = 0; i < c; i++) out[i] = simd_dot(x, y.columns[i]);                            \
        return out;                                                                                \
    }
__SIMD_ALL_MATRICES(__SIMD_ANY_SHAPE)
#undef __SIMD_ANY_SHAPE

// Products: n columns of k numbers are multiplied by a matrix with k columns of r numbers.
#define __SIMD_PRODUCT(t, k, r, n)                                                                 \
    __SIMD_M simd_##t##n##x##r simd_mul(simd_##t##k##x##r x, simd_##t##n##x##k y) {                \
        simd_##t##n##x##r m;                                                                       \
        for (int i = 0; i < n; i++) m.columns[i] = simd_mul(x, y.columns[i]);                      \
        return m;                                                                                  \
    }
#define __SIMD_PRODUCTS(t, k, r)                                                                   \
    __SIMD_PRODUCT(t, k, r, 2) __SIMD_PRODUCT(t, k, r, 3) __SIMD_PRODUCT(t, k, r, 4)
__SIMD_ALL_MATRICES(__SIMD_PRODUCTS)
#undef __SIMD_PRODUCTS
#undef __SIMD_PRODUCT

// Square ones. The inverse is the adjugate over the determinant; a singular matrix gives infinities
// and NaNs.
#define __SIMD_SQUARE(t, n, same)                                                                  \
    __SIMD_M simd_##t##n##x##n simd_diagonal_matrix(simd_##t##n d) {                               \
        simd_##t##n##x##n m;                                                                       \
        for (int i = 0; i < n; i++) m.columns[i] = 0, m.columns[i][i] = d[i];                      \
        return m;                                                                                  \
    }                                                                                              \
    __SIMD_M simd_##t##1 simd_trace(simd_##t##n##x##n x) {                                         \
        simd_##t##1 sum = 0;                                                                       \
        for (int i = 0; i < n; i++) sum += x.columns[i][i];                                        \
        return sum;                                                                                \
    }
#define __SIMD_INVERSES(t, mask)                                                                   \
    __SIMD_SQUARE(t, 2, )                                                                          \
    __SIMD_SQUARE(t, 3, )                                                                          \
    __SIMD_SQUARE(t, 4, ) __SIMD_M simd_##t##1 simd_determinant(simd_##t##2x2 x) {                 \
        return x.columns[0].x * x.columns[1].y - x.columns[0].y * x.columns[1].x;                  \
    }                                                                                              \
    __SIMD_M simd_##t##1 simd_determinant(simd_##t##3x3 x) {                                       \
        return simd_dot(x.columns[0], simd_cross(x.columns[1], x.columns[2]));                     \
    }                                                                                              \
    __SIMD_M simd_##t##2x2 simd_inverse(simd_##t##2x2 x) {                                         \
        const simd_##t##1 d = 1 / simd_determinant(x);                                             \
        return simd_matrix(d * (simd_##t##2){x.columns[1].y, -x.columns[0].y},                     \
                           d * (simd_##t##2){-x.columns[1].x, x.columns[0].x});                    \
    }                                                                                              \
    __SIMD_M simd_##t##3x3 simd_inverse(simd_##t##3x3 x) {                                         \
        const simd_##t##1 d = 1 / simd_determinant(x);                                             \
        return simd_transpose(simd_matrix(d * simd_cross(x.columns[1], x.columns[2]),              \
                                          d * simd_cross(x.columns[2], x.columns[0]),              \
                                          d * simd_cross(x.columns[0], x.columns[1])));            \
    }                                                                                              \
    /* the cofactors of column i, by the minors of the other three columns */                      \
    __SIMD_M simd_##t##4 __simd_cofactors(simd_##t##4 a, simd_##t##4 b, simd_##t##4 c) {           \
        const simd_##t##3 p = {a.y, a.z, a.w}, q = {b.y, b.z, b.w}, r = {c.y, c.z, c.w};           \
        const simd_##t##3 p1 = {a.x, a.z, a.w}, q1 = {b.x, b.z, b.w}, r1 = {c.x, c.z, c.w};        \
        const simd_##t##3 p2 = {a.x, a.y, a.w}, q2 = {b.x, b.y, b.w}, r2 = {c.x, c.y, c.w};        \
        const simd_##t##3 p3 = {a.x, a.y, a.z}, q3 = {b.x, b.y, b.z}, r3 = {c.x, c.y, c.z};        \
        return (simd_##t##4){simd_dot(p, simd_cross(q, r)), -simd_dot(p1, simd_cross(q1, r1)),     \
                             simd_dot(p2, simd_cross(q2, r2)), -simd_dot(p3, simd_cross(q3, r3))}; \
    }                                                                                              \
    __SIMD_M simd_##t##1 simd_determinant(simd_##t##4x4 x) {                                       \
        return simd_dot(x.columns[0], __simd_cofactors(x.columns[1], x.columns[2], x.columns[3])); \
    }                                                                                              \
    __SIMD_M simd_##t##4x4 simd_inverse(simd_##t##4x4 x) {                                         \
        const simd_##t##4 a = x.columns[0], b = x.columns[1], c = x.columns[2], d = x.columns[3];  \
        const simd_##t##4 first = __simd_cofactors(b, c, d);                                       \
        const simd_##t##1 s = 1 / simd_dot(a, first);                                              \
        return simd_transpose(simd_matrix(s * first, -s * __simd_cofactors(a, c, d),               \
                                          s * __simd_cofactors(a, b, d),                           \
                                          -s * __simd_cofactors(a, b, c)));                        \
    }
__SIMD_FLOAT_SCALARS(__SIMD_INVERSES)
#undef __SIMD_INVERSES
#undef __SIMD_SQUARE

#define __SIMD_IDENTITIES(t, mask)                                                                 \
    static const simd_##t##2x2 matrix_identity_##t##2x2                                            \
        __attribute__((__unused__)) = {{{1, 0}, {0, 1}}};                                          \
    static const simd_##t##3x3 matrix_identity_##t##3x3                                            \
        __attribute__((__unused__)) = {{{1, 0, 0}, {0, 1, 0}, {0, 0, 1}}};                         \
    static const simd_##t##4x4 matrix_identity_##t##4x4                                            \
        __attribute__((__unused__)) = {{{1, 0, 0, 0}, {0, 1, 0, 0}, {0, 0, 1, 0}, {0, 0, 0, 1}}};
__SIMD_FLOAT_SCALARS(__SIMD_IDENTITIES)
#undef __SIMD_IDENTITIES
#undef __SIMD_COLUMNS_2
#undef __SIMD_COLUMNS_3
#undef __SIMD_COLUMNS_4
#undef __SIMD_ROWS_2
#undef __SIMD_ROWS_3
#undef __SIMD_ROWS_4
#undef __SIMD_M

#define matrix_from_diagonal simd_diagonal_matrix
#define matrix_from_columns simd_matrix
#define matrix_from_rows simd_matrix_from_rows
#define matrix_scale simd_mul
#define matrix_linear_combination simd_linear_combination
#define matrix_add simd_add
#define matrix_sub simd_sub
#define matrix_multiply simd_mul
#define matrix_transpose simd_transpose
#define matrix_determinant simd_determinant
#define matrix_invert simd_inverse
#define matrix_equal simd_equal
#define matrix_almost_equal_elements simd_almost_equal_elements
#define matrix_almost_equal_elements_relative simd_almost_equal_elements_relative

#ifdef __cplusplus
namespace simd {
#define __SIMD_CPP static inline SIMD_CPPFUNC
#define __SIMD_OPERATORS(t, c, r)                                                                  \
    __SIMD_CPP t##c##x##r operator+(const t##c##x##r x, const t##c##x##r y) {                      \
        return ::simd_add(x, y);                                                                   \
    }                                                                                              \
    __SIMD_CPP t##c##x##r operator-(const t##c##x##r x, const t##c##x##r y) {                      \
        return ::simd_sub(x, y);                                                                   \
    }                                                                                              \
    __SIMD_CPP t##c##x##r operator-(const t##c##x##r x) { return ::simd_mul((t##1) - 1, x); }      \
    __SIMD_CPP t##c##x##r operator*(const t##1 a, const t##c##x##r x) { return ::simd_mul(a, x); } \
    __SIMD_CPP t##c##x##r operator*(const t##c##x##r x, const t##1 a) { return ::simd_mul(a, x); } \
    __SIMD_CPP t##r operator*(const t##c##x##r x, const t##c y) { return ::simd_mul(x, y); }       \
    __SIMD_CPP t##c operator*(const t##r x, const t##c##x##r y) { return ::simd_mul(x, y); }       \
    __SIMD_CPP bool operator==(const t##c##x##r &x, const t##c##x##r &y) {                         \
        return ::simd_equal(x, y);                                                                 \
    }                                                                                              \
    __SIMD_CPP bool operator!=(const t##c##x##r &x, const t##c##x##r &y) {                         \
        return !::simd_equal(x, y);                                                                \
    }                                                                                              \
    static inline SIMD_INLINE t##c##x##r &operator+=(t##c##x##r &x, const t##c##x##r y) {          \
        x = ::simd_add(x, y);                                                                      \
        return x;                                                                                  \
    }                                                                                              \
    static inline SIMD_INLINE t##c##x##r &operator-=(t##c##x##r &x, const t##c##x##r y) {          \
        x = ::simd_sub(x, y);                                                                      \
        return x;                                                                                  \
    }                                                                                              \
    static inline SIMD_INLINE t##c##x##r &operator*=(t##c##x##r &x, const t##1 a) {                \
        x = ::simd_mul(a, x);                                                                      \
        return x;                                                                                  \
    }                                                                                              \
    __SIMD_CPP t##r##x##c transpose(const t##c##x##r x) { return ::simd_transpose(x); }            \
    __SIMD_CPP bool equal(const t##c##x##r x, const t##c##x##r y) { return ::simd_equal(x, y); }   \
    __SIMD_CPP bool almost_equal_elements(const t##c##x##r x, const t##c##x##r y,                  \
                                          t##1 tolerance) {                                        \
        return ::simd_almost_equal_elements(x, y, tolerance);                                      \
    }                                                                                              \
    __SIMD_CPP bool almost_equal_elements_relative(const t##c##x##r x, const t##c##x##r y,         \
                                                   t##1 tolerance) {                               \
        return ::simd_almost_equal_elements_relative(x, y, tolerance);                             \
    }                                                                                              \
    __SIMD_TIMES(t, c, r, 2) __SIMD_TIMES(t, c, r, 3) __SIMD_TIMES(t, c, r, 4)
#define __SIMD_TIMES(t, c, r, n)                                                                   \
    __SIMD_CPP t##n##x##r operator*(const t##c##x##r x, const t##n##x##c y) {                      \
        return ::simd_mul(x, y);                                                                   \
    }
__SIMD_ALL_MATRICES(__SIMD_OPERATORS)
#define __SIMD_SQUARE(t, c, r)                                                                     \
    static inline SIMD_INLINE t##c##x##r &operator*=(t##c##x##r &x, const t##c##x##r y) {          \
        x = ::simd_mul(x, y);                                                                      \
        return x;                                                                                  \
    }                                                                                              \
    __SIMD_CPP t##c##x##r inverse(const t##c##x##r x) { return ::simd_inverse(x); }                \
    __SIMD_CPP t##1 determinant(const t##c##x##r x) { return ::simd_determinant(x); }              \
    __SIMD_CPP t##1 trace(const t##c##x##r x) { return ::simd_trace(x); }
__SIMD_SQUARE_MATRICES(__SIMD_SQUARE, half)
__SIMD_SQUARE_MATRICES(__SIMD_SQUARE, float)
__SIMD_SQUARE_MATRICES(__SIMD_SQUARE, double)
#undef __SIMD_SQUARE
#undef __SIMD_TIMES
#undef __SIMD_OPERATORS
#undef __SIMD_CPP
} // namespace simd
#endif
#endif
