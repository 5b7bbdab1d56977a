// SPDX-License-Identifier: Apache-2.0
// matrix.h: <metal_matrix>: matrix<T, Cols, Rows>, stored as columns; transpose and determinant.
#pragma once

namespace metal {
template <class T, int Cols, int Rows> struct matrix {
    static_assert(__floating<T>, "a matrix has floating-point elements");
    static_assert(Cols >= 2 && Cols <= 4 && Rows >= 2 && Rows <= 4, "a matrix is 2x2 to 4x4");
    using __column = vec<T, Rows>;
    __column columns[Cols];

    matrix() = default;
    // the diagonal
    METAL_FUNC constexpr explicit matrix(T d) : columns{} {
        for (int i = 0; i < Cols && i < Rows; i++) columns[i][i] = d;
    }
    // columns, or all elements in column order
    template <class... A>
        requires(sizeof...(A) == Cols && (__is_convertible(A, vec<T, Rows>) && ...) &&
                 (__is_vec<A> && ...))
    METAL_FUNC constexpr matrix(A... c) : columns{__column(c)...} {}
    // columns in braces: float2x2 m = {{1, 2}, {3, 4}}
    struct __list {
        __column column;
        METAL_FUNC constexpr __list(const __column &c) : column(c) {}
        template <class... E>
            requires(sizeof...(E) == Rows && (__is_convertible(E, T) && ...))
        METAL_FUNC constexpr __list(E... e) : column(T(e)...) {}
    };
    METAL_FUNC constexpr matrix(const __list &a, const __list &b)
        requires(Cols == 2)
        : columns{a.column, b.column} {}
    METAL_FUNC constexpr matrix(const __list &a, const __list &b, const __list &c)
        requires(Cols == 3)
        : columns{a.column, b.column, c.column} {}
    METAL_FUNC constexpr matrix(const __list &a, const __list &b, const __list &c, const __list &d)
        requires(Cols == 4)
        : columns{a.column, b.column, c.column, d.column} {}
    template <class... A>
        requires(sizeof...(A) == Cols * Rows && (__is_convertible(A, T) && ...))
    METAL_FUNC constexpr matrix(A... e) : columns{} {
        const T all[] = {T(e)...};
        for (int c = 0; c < Cols; c++)
            for (int r = 0; r < Rows; r++) columns[c][r] = all[c * Rows + r];
    }
    template <class U>
        requires(!__is_same(U, T))
    METAL_FUNC constexpr explicit matrix(const matrix<U, Cols, Rows> &o) : columns{} {
        for (int c = 0; c < Cols; c++) columns[c] = __column(o.columns[c]);
    }

#define __MSL_A(AS, C) \
    METAL_FUNC constexpr C AS __column &operator[](size_t c) C AS & { return columns[c]; }
    __MSL_SPACES(__MSL_A)
#undef __MSL_A
    METAL_FUNC constexpr __column operator[](size_t c) const && { return columns[c]; }

#define __MSL_EACH_COLUMN(...) \
    matrix m{}; \
    for (int c = 0; c < Cols; c++) m.columns[c] = __VA_ARGS__; \
    return m;
    METAL_FUNC friend constexpr matrix operator+(const matrix &a, const matrix &b) {
        __MSL_EACH_COLUMN(a.columns[c] + b.columns[c])
    }
    METAL_FUNC friend constexpr matrix operator-(const matrix &a, const matrix &b) {
        __MSL_EACH_COLUMN(a.columns[c] - b.columns[c])
    }
    METAL_FUNC friend constexpr matrix operator*(const matrix &a, T s) {
        __MSL_EACH_COLUMN(a.columns[c] * s)
    }
    METAL_FUNC friend constexpr matrix operator*(T s, const matrix &a) {
        __MSL_EACH_COLUMN(s * a.columns[c])
    }
    METAL_FUNC friend constexpr matrix operator/(const matrix &a, T s) {
        __MSL_EACH_COLUMN(a.columns[c] / s)
    }
    METAL_FUNC constexpr matrix operator-() const { __MSL_EACH_COLUMN(-columns[c]) }
    METAL_FUNC constexpr matrix operator+() const { return *this; }
#undef __MSL_EACH_COLUMN
    METAL_FUNC friend constexpr vec<T, Rows> operator*(const matrix &a, const vec<T, Cols> &v) {
        vec<T, Rows> r = a.columns[0] * v[0];
        for (int c = 1; c < Cols; c++) r += a.columns[c] * v[c];
        return r;
    }
    METAL_FUNC friend constexpr vec<T, Cols> operator*(const vec<T, Rows> &v, const matrix &a) {
        vec<T, Cols> r(T(0));
        for (int c = 0; c < Cols; c++) r[c] = __do_dot(v.__get(), a.columns[c].__get());
        return r;
    }
    METAL_FUNC constexpr matrix &operator+=(const matrix &b) { return *this = *this + b; }
    METAL_FUNC constexpr matrix &operator-=(const matrix &b) { return *this = *this - b; }
    METAL_FUNC constexpr matrix &operator*=(T s) { return *this = *this * s; }
    METAL_FUNC constexpr matrix &operator/=(T s) { return *this = *this / s; }
    METAL_FUNC constexpr matrix &operator*=(const matrix<T, Cols, Cols> &b) {
        return *this = *this * b;
    }
};

// Templates, so that a program's own operators for its matrices come first.
template <class T, int Cols, int Rows>
METAL_FUNC constexpr bool operator==(const matrix<T, Cols, Rows> &a,
                                     const matrix<T, Cols, Rows> &b) {
    bool same = true;
    for (int c = 0; c < Cols; c++) same = same & all(a.columns[c] == b.columns[c]);
    return same;
}
template <class T, int Cols, int Rows>
METAL_FUNC constexpr bool operator!=(const matrix<T, Cols, Rows> &a,
                                     const matrix<T, Cols, Rows> &b) {
    return !(a == b);
}

// (Rows x K) * (K x Cols)
template <class T, int Cols, int Rows, int K>
METAL_FUNC constexpr matrix<T, Cols, Rows> operator*(const matrix<T, K, Rows> &a,
                                                     const matrix<T, Cols, K> &b) {
    matrix<T, Cols, Rows> m{};
    for (int c = 0; c < Cols; c++) m.columns[c] = a * b.columns[c];
    return m;
}

template <class T, int Cols, int Rows>
METAL_FUNC constexpr matrix<T, Rows, Cols> transpose(const matrix<T, Cols, Rows> &a) {
    matrix<T, Rows, Cols> m{};
    for (int c = 0; c < Cols; c++)
        for (int r = 0; r < Rows; r++) m.columns[r][c] = a.columns[c][r];
    return m;
}
template <class T> METAL_FUNC constexpr T determinant(const matrix<T, 2, 2> &m) {
    return m[0][0] * m[1][1] - m[1][0] * m[0][1];
}
template <class T> METAL_FUNC constexpr T determinant(const matrix<T, 3, 3> &m) {
    return __do_dot(m[0].__get(), cross(m[1], m[2]).__get());
}
template <class T> METAL_FUNC constexpr T determinant(const matrix<T, 4, 4> &m) {
    // 2x2 minors of the columns 0, 1 and of the columns 2, 3
    auto a = m[0].__get(), b = m[1].__get(), c = m[2].__get(), d = m[3].__get();
    T p01 = a[0] * b[1] - a[1] * b[0], q23 = c[2] * d[3] - c[3] * d[2];
    T p02 = a[0] * b[2] - a[2] * b[0], q13 = c[1] * d[3] - c[3] * d[1];
    T p03 = a[0] * b[3] - a[3] * b[0], q12 = c[1] * d[2] - c[2] * d[1];
    T p12 = a[1] * b[2] - a[2] * b[1], q03 = c[0] * d[3] - c[3] * d[0];
    T p13 = a[1] * b[3] - a[3] * b[1], q02 = c[0] * d[2] - c[2] * d[0];
    T p23 = a[2] * b[3] - a[3] * b[2], q01 = c[0] * d[1] - c[1] * d[0];
    return p01 * q23 - p02 * q13 + p03 * q12 + p12 * q03 - p13 * q02 + p23 * q01;
}
} // namespace metal

// Names of namespace metal alone, unlike those of vectors: programs have a float3x3 of their own.
#define __MSL_M(T, C, R) typedef matrix<T, C, R> T##C##x##R;
#define __MSL_SIZES(M, T) \
    M(T, 2, 2) M(T, 2, 3) M(T, 2, 4) M(T, 3, 2) M(T, 3, 3) M(T, 3, 4) M(T, 4, 2) M(T, 4, 3) \
    M(T, 4, 4)
namespace metal {
__MSL_SIZES(__MSL_M, half)
__MSL_SIZES(__MSL_M, bfloat)
__MSL_SIZES(__MSL_M, float)
}
#undef __MSL_M
#undef __MSL_SIZES
