// SPDX-License-Identifier: Apache-2.0
// vec_class.h: the class vec<T, N>. Included by vec.h once for each N with
//   __MSL_N      2, 3 or 4
//   __MSL_XYZW   its components, __MSL_RGBA their other names
//   __MSL_ELS    the components of a native vector n as a list
//
// A union of the native vector, which all operations use, and of named fields, which are real
// objects. In constant expressions only one member of a union may be read: there the fields are the
// live one (`if consteval`), at run time the native vector. Swizzles are properties; operators are
// hidden friends, so that a scalar or packed operand converts as it does for a function call.
#define __MSL_RAW(...) vec(__VA_ARGS__, __raw{})
template <class T> struct vec<T, __MSL_N> {
    using __native = __nv<T, __MSL_N>;
    union {
        struct { T __MSL_XYZW; }; // first: what vec{} makes live
        __native __v;
        struct { T __MSL_RGBA; };
    };

    vec() = default;
    METAL_FUNC constexpr vec(__native n, __raw) {
        if consteval { __MSL_ASSIGN } else { __v = n; }
    }
    METAL_FUNC constexpr __native __get() const {
        if consteval { return __native{__MSL_XYZW}; } else { return __v; }
    }
    // The elements alone. A vector of three has less of them than its size; Clang copies all of an
    // object of a class, so bridge.cpp makes `a = b` of these a call of this.
    METAL_FUNC constexpr vec &__set(const vec &o) {
        const __native n = o.__get();
        if consteval { __MSL_ASSIGN } else { __v = n; }
        return *this;
    }
    // one scalar: every component
    METAL_FUNC constexpr vec(T s) : vec(__splat<T, __MSL_N>(s), __raw{}) {}
    METAL_FUNC constexpr vec(__MSL_T_PARAMS) : vec(__native{__MSL_T_NAMES}, __raw{}) {}
    // scalars and vectors of the same element type, N components in all
    template <class A, class B, class... R>
        requires(sizeof...(R) + 2 < __MSL_N && __fills<T, __MSL_N, A, B, R...>)
    METAL_FUNC constexpr vec(A a, B b, R... r)
        : vec(__gather<T>(make_index_sequence<__MSL_N>{}, a, b, r...), __raw{}) {}
    // fewer, also outside of braces, where bridge.cpp warns: the rest is 0
    template <class A, class B, class... R>
        requires(__fills_part<T, __MSL_N, A, B, R...>)
    __attribute__((annotate("msl.braces"))) METAL_FUNC constexpr vec(A a, B b, R... r)
        : vec(__gather<T>(make_index_sequence<__MSL_N>{}, a, b, r...), __raw{}) {}
    // the first components of a longer one, only on request
    template <int M>
        requires(M > __MSL_N && M <= 4)
    METAL_FUNC explicit constexpr vec(const vec<T, M> &o)
        : vec(__gather<T>(make_index_sequence<__MSL_N>{}, o), __raw{}) {}
    // from another element type, only on request
    template <class U>
        requires(!__is_same(U, T))
    METAL_FUNC explicit constexpr vec(const vec<U, __MSL_N> &o)
        : vec(__convert<T, U>(o.__get()), __raw{}) {}
    template <class U>
        requires(!__is_same(U, T))
    METAL_FUNC explicit constexpr vec(const packed_vec<U, __MSL_N> &o)
        : vec(__convert<T, U>(o.__get()), __raw{}) {}
    // volatile objects: templates, for a plain copy must stay trivial
    template <class U>
        requires(__is_same(U, vec))
    METAL_FUNC void operator=(U o) volatile { __v = o.__v; }
    template <class U>
        requires(__is_volatile(U) && __is_same(__bare<U>, vec))
    METAL_FUNC vec(U &o) : __v(o.__v) {}

    METAL_FUNC constexpr T &operator[](size_t i) {
        if consteval { __MSL_INDEX } else { return ((T *)this)[i]; }
    }
    METAL_FUNC constexpr const T &operator[](size_t i) const {
        if consteval { __MSL_INDEX } else { return ((const T *)this)[i]; }
    }
    METAL_FUNC volatile T &operator[](size_t i) volatile { return ((volatile T *)this)[i]; }

#include "swizzle_members.h"

#define __MSL_OP(OP, WHEN) \
    METAL_FUNC friend constexpr vec operator OP(const vec &p, const vec &q) \
        requires(WHEN) { return __MSL_RAW(p.__get() OP q.__get()); } \
    METAL_FUNC constexpr vec &operator OP##=(const vec &q) \
        requires(WHEN) { return __set(__MSL_RAW(__get() OP q.__get())); } \
    METAL_FUNC void operator OP##=(const vec &q) volatile \
        requires(WHEN) { __v = __v OP q.__get(); }
    __MSL_OP(+, __is_number<T>)
    __MSL_OP(-, __is_number<T>)
    __MSL_OP(*, __is_number<T>)
    __MSL_OP(/, __is_number<T>)
    __MSL_OP(%, __is_integer<T>)
    __MSL_OP(&, __is_integral(T))
    __MSL_OP(|, __is_integral(T))
    __MSL_OP(^, __is_integral(T))
#undef __MSL_OP
#define __MSL_OP(OP) \
    template <class U> \
        requires(__is_integral(T) && __floating<U>) \
    void operator OP(U) = delete(__MSL_MIXED);
    __MSL_OP(+=) __MSL_OP(-=) __MSL_OP(*=) __MSL_OP(/=)
#undef __MSL_OP
    // a member: a free operator*= would keep Clang from rewriting `v.xy *= e` inside templates
    template <class M>
        requires(__is_same(M, matrix<T, __MSL_N, __MSL_N>))
    METAL_FUNC constexpr vec &operator*=(M m) { return __set(*this * m); }
    // the shift count is a scalar or a vector of any integer type, taken modulo the width
#define __MSL_OP(OP) \
    template <class U> \
        requires(__shift_count<U, __MSL_N>) \
    METAL_FUNC friend constexpr vec operator OP(const vec &p, U q) \
        requires(__is_integer<T>) { return __MSL_RAW(p.__get() OP __count<T, __MSL_N>(q)); } \
    template <class U> \
        requires(__shift_count<U, __MSL_N>) \
    METAL_FUNC constexpr vec &operator OP##=(U q) \
        requires(__is_integer<T>) { return __set(__MSL_RAW(__get() OP __count<T, __MSL_N>(q))); }
    __MSL_OP(<<)
    __MSL_OP(>>)
#undef __MSL_OP
#define __MSL_OP(OP, WHEN) \
    METAL_FUNC friend constexpr vec<bool, __MSL_N> operator OP(const vec &p, const vec &q) \
        requires(WHEN) { return __truth<__MSL_N>(p.__get() OP q.__get()); }
    __MSL_OP(<, __is_number<T>)
    __MSL_OP(>, __is_number<T>)
    __MSL_OP(<=, __is_number<T>)
    __MSL_OP(>=, __is_number<T>)
    __MSL_OP(==, true)
    __MSL_OP(!=, true)
#undef __MSL_OP
    METAL_FUNC friend constexpr vec operator&&(const vec &p, const vec &q)
        requires(__is_same(T, bool)) { return __MSL_RAW(p.__get() & q.__get()); }
    METAL_FUNC friend constexpr vec operator||(const vec &p, const vec &q)
        requires(__is_same(T, bool)) { return __MSL_RAW(p.__get() | q.__get()); }
    METAL_FUNC constexpr vec operator!() const
        requires(__is_same(T, bool)) { return __MSL_RAW(__get() ^ (unsigned char)1); }
    METAL_FUNC constexpr vec operator~() const
        requires(__is_integer<T>) { return __MSL_RAW(~__get()); }
    METAL_FUNC constexpr vec operator+() const { return *this; }
    METAL_FUNC constexpr vec operator-() const
        requires(__is_number<T>) { return __MSL_RAW(-__get()); }
#define __MSL_OP(OP, BINARY) \
    METAL_FUNC constexpr vec &operator OP() \
        requires(__is_number<T>) { return __set(*this BINARY vec(T(1))); } \
    METAL_FUNC constexpr vec operator OP(int) \
        requires(__is_number<T>) { \
        vec old = *this; \
        __set(*this BINARY vec(T(1))); \
        return old; \
    }
    __MSL_OP(++, +)
    __MSL_OP(--, -)
#undef __MSL_OP
};
#undef __MSL_RAW
