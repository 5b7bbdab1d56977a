// SPDX-License-Identifier: Apache-2.0
// wide_vec.h: <metal_extended_vector>: vec<T, 8> and vec<T, 16>: arithmetic, comparison, indexing
// and conversion; no component names, no swizzles.
#pragma once

namespace metal {
template <class T, int N> struct vec {
    static_assert(N == 8 || N == 16, "a vector has 2, 3 or 4 components");
    using __native = __nv<T, N>;
    __native __v;

    vec() = default;
    METAL_FUNC constexpr vec(__native n, __raw) : __v(n) {}
    METAL_FUNC constexpr vec(T s) : __v(__splat<T, N>(s)) {}
    template <class A, class B, class... R>
        requires(__fills<T, N, A, B, R...>)
    METAL_FUNC constexpr vec(A a, B b, R... r)
        : __v(__gather<T>(make_index_sequence<N>{}, a, b, r...)) {}
    template <class U>
        requires(!__is_same(U, T))
    METAL_FUNC explicit constexpr vec(const vec<U, N> &o) : __v(__convert<T, U>(o.__v)) {}
    METAL_FUNC constexpr __native __get() const { return __v; }
    METAL_FUNC T &operator[](size_t i) { return ((T *)this)[i]; }
    METAL_FUNC const T &operator[](size_t i) const { return ((const T *)this)[i]; }
#define __MSL_OP(OP, WHEN) \
    METAL_FUNC friend constexpr vec operator OP(const vec &p, const vec &q) \
        requires(WHEN) { return vec(p.__v OP q.__v, __raw{}); } \
    METAL_FUNC constexpr vec &operator OP##=(const vec &q) \
        requires(WHEN) { \
        __v = __v OP q.__v; \
        return *this; \
    }
    __MSL_OP(+, __is_number<T>) __MSL_OP(-, __is_number<T>) __MSL_OP(*, __is_number<T>)
    __MSL_OP(/, __is_number<T>) __MSL_OP(%, __is_integer<T>) __MSL_OP(&, __is_integral(T))
    __MSL_OP(|, __is_integral(T)) __MSL_OP(^, __is_integral(T)) __MSL_OP(<<, __is_integer<T>)
    __MSL_OP(>>, __is_integer<T>)
#undef __MSL_OP
#define __MSL_OP(OP) \
    METAL_FUNC friend constexpr vec<bool, N> operator OP(const vec &p, const vec &q) { \
        return __truth<N>(p.__v OP q.__v); \
    }
    __MSL_OP(<) __MSL_OP(>) __MSL_OP(<=) __MSL_OP(>=) __MSL_OP(==) __MSL_OP(!=)
#undef __MSL_OP
    METAL_FUNC constexpr vec operator-() const { return vec(-__v, __raw{}); }
};
} // namespace metal
