// SPDX-License-Identifier: Apache-2.0
// packed_class.h: the class packed_vec<T, N>: N elements without padding, aligned as one element. A
// storage format: it converts to and from vec<T, N> by itself, and its operators give vectors.
// Included by vec.h once for each N, after vec_class.h and with its macros, which end here;
// __MSL_FROM initialises from s.
template <class T> struct packed_vec<T, __MSL_N> {
    static_assert(__is_number<T>, "packed vectors have integer or floating-point elements");
    union {
        struct { T __MSL_XYZW; };
        struct { T __MSL_RGBA; };
    };

    packed_vec() = default;
    METAL_FUNC constexpr packed_vec(__nv<T, __MSL_N> s, __raw) : __MSL_FROM {}
    METAL_FUNC constexpr packed_vec(const vec<T, __MSL_N> &s) : packed_vec(s.__get(), __raw{}) {}
    METAL_FUNC constexpr packed_vec(T s) : packed_vec(__splat<T, __MSL_N>(s), __raw{}) {}
    METAL_FUNC constexpr packed_vec(__MSL_T_PARAMS)
        : packed_vec(__nv<T, __MSL_N>{__MSL_T_NAMES}, __raw{}) {}
    template <class A, class B, class... R>
        requires(sizeof...(R) + 2 < __MSL_N && __fills<T, __MSL_N, A, B, R...>)
    METAL_FUNC constexpr packed_vec(A a, B b, R... r)
        : packed_vec(__gather<T>(make_index_sequence<__MSL_N>{}, a, b, r...), __raw{}) {}
    template <class U>
        requires(!__is_same(U, T))
    METAL_FUNC explicit constexpr packed_vec(const vec<U, __MSL_N> &s)
        : packed_vec(vec<T, __MSL_N>(s)) {}
    template <class U>
        requires(!__is_same(U, T))
    METAL_FUNC explicit constexpr packed_vec(const packed_vec<U, __MSL_N> &s)
        : packed_vec(vec<T, __MSL_N>(s)) {}

    METAL_FUNC constexpr __nv<T, __MSL_N> __get() const { return {__MSL_XYZW}; }
    METAL_FUNC constexpr operator vec<T, __MSL_N>() const {
        return vec<T, __MSL_N>(__get(), __raw{});
    }
    METAL_FUNC constexpr T &operator[](size_t i) {
        if consteval { __MSL_INDEX } else { return ((T *)this)[i]; }
    }
    METAL_FUNC constexpr const T &operator[](size_t i) const {
        if consteval { __MSL_INDEX } else { return ((const T *)this)[i]; }
    }

#include "swizzle_members.h"

#define __MSL_OP(OP) \
    template <class B> METAL_FUNC constexpr packed_vec &operator OP##=(B q) { \
        return *this = vec<T, __MSL_N>(*this) OP q; \
    }
    __MSL_OP(+) __MSL_OP(-) __MSL_OP(*) __MSL_OP(/) __MSL_OP(%) __MSL_OP(&) __MSL_OP(|) __MSL_OP(^)
    __MSL_OP(<<) __MSL_OP(>>)
#undef __MSL_OP
    METAL_FUNC constexpr vec<T, __MSL_N> operator-() const { return -vec<T, __MSL_N>(*this); }
    METAL_FUNC constexpr vec<T, __MSL_N> operator+() const { return *this; }
    METAL_FUNC constexpr vec<T, __MSL_N> operator~() const
        requires(__is_integer<T>) { return ~vec<T, __MSL_N>(*this); }
    METAL_FUNC constexpr packed_vec &operator++() { return *this = vec<T, __MSL_N>(*this) + T(1); }
    METAL_FUNC constexpr packed_vec &operator--() { return *this = vec<T, __MSL_N>(*this) - T(1); }
    METAL_FUNC constexpr packed_vec operator++(int) {
        packed_vec old = *this;
        ++*this;
        return old;
    }
    METAL_FUNC constexpr packed_vec operator--(int) {
        packed_vec old = *this;
        --*this;
        return old;
    }
};
#undef __MSL_N
#undef __MSL_XYZW
#undef __MSL_RGBA
#undef __MSL_ASSIGN
#undef __MSL_FROM
#undef __MSL_INDEX
#undef __MSL_T_PARAMS
#undef __MSL_T_NAMES
#undef __MSL_SWIZZLES
