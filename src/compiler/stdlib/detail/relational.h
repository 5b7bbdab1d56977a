// SPDX-License-Identifier: Apache-2.0
// relational.h: <metal_relational>. The tests on floating-point classes look at the bits, so that
// they keep their meaning when the compiler may assume that no NaN or infinity occurs (fast maths).
#pragma once

namespace metal {
// The bits as unsigned, and the layout of the format.
template <class T> struct __format;
template <> struct __format<float> {
    using u = uint;
    static constexpr constant uint infinity = 0x7f800000u, least_normal = 0x00800000u;
};
template <> struct __format<half> {
    using u = ushort;
    static constexpr constant ushort infinity = 0x7c00, least_normal = 0x0400;
};
template <> struct __format<bfloat> {
    using u = ushort;
    static constexpr constant ushort infinity = 0x7f80, least_normal = 0x0080;
};
template <class V> struct __fbits {
    using f = __format<V>;
    using u = typename f::u;
    using element = u;
    using truth = bool;
};
template <class T, int N> struct __fbits<T __attribute__((ext_vector_type(N)))> {
    using f = __format<T>;
    using element = typename f::u;
    using u = __nv<element, N>;
    using truth = vec<bool, N>;
};
template <class V> METAL_FUNC constexpr auto __magnitude(V x) {
    using B = __fbits<V>;
    using E = typename B::element;
    return (typename B::u)(__builtin_bit_cast(typename B::u, x) &
                           (typename B::u)(E)((E) ~(E)0 >> 1));
}
template <class V, class C> METAL_FUNC constexpr auto __verdict(C c) {
    if constexpr (__is_same(C, bool)) return c;
    else return __truth<__builtin_vectorelements(V)>(c);
}
template <class V> METAL_FUNC constexpr auto __do_isnan(V x) {
    using B = __fbits<V>;
    return __verdict<V>(__magnitude(x) > (typename B::u)B::f::infinity);
}
template <class V> METAL_FUNC constexpr auto __do_isinf(V x) {
    using B = __fbits<V>;
    return __verdict<V>(__magnitude(x) == (typename B::u)B::f::infinity);
}
template <class V> METAL_FUNC constexpr auto __do_isfinite(V x) {
    using B = __fbits<V>;
    return __verdict<V>(__magnitude(x) < (typename B::u)B::f::infinity);
}
template <class V> METAL_FUNC constexpr auto __do_isnormal(V x) {
    using B = __fbits<V>;
    using U = typename B::u;
    return __verdict<V>((U)(__magnitude(x) - (U)B::f::least_normal) <
                        (U)(typename B::element)(B::f::infinity - B::f::least_normal));
}
template <class V> METAL_FUNC constexpr auto __do_signbit(V x) {
    using B = __fbits<V>;
    using E = typename B::element;
    auto bits = __builtin_bit_cast(typename B::u, x);
    return __verdict<V>(bits > (typename B::u)(E)((E) ~(E)0 >> 1));
}
#define __MSL_S(T, F) METAL_FUNC constexpr bool F(T x) { return __do_##F(x); }
#define __MSL_F(F) \
    __MSL_FLOATS(__MSL_S, F) \
    template <class A> \
        requires((__is_vec<A> && __is_float<__element_t<A>>) || __is_same(A, bfloat)) \
    METAL_FUNC constexpr auto F(A x) { \
        if constexpr (__is_vec<A>) return __do_##F(x.__get()); \
        else return __do_##F(x); \
    }
__MSL_F(isnan)
__MSL_F(isinf)
__MSL_F(isfinite)
__MSL_F(isnormal)
__MSL_F(signbit)
#undef __MSL_F
#undef __MSL_S
#define __MSL_S(T) \
    METAL_FUNC constexpr bool isordered(T x, T y) { return !isnan(x) && !isnan(y); } \
    METAL_FUNC constexpr bool isunordered(T x, T y) { return isnan(x) || isnan(y); }
__MSL_FLOATS(__MSL_S)
#undef __MSL_S
template <class T>
    requires(__is_same(T, bfloat))
METAL_FUNC constexpr bool isordered(T x, T y) { return !isnan(x) && !isnan(y); }
template <class T>
    requires(__is_same(T, bfloat))
METAL_FUNC constexpr bool isunordered(T x, T y) { return isnan(x) || isnan(y); }
template <class A, class B>
    requires(__is_float<__element_t<__joint<A, B>>>)
METAL_FUNC constexpr auto isordered(A x, B y) {
    using V = __joint<A, B>;
    return !isnan(V(x)) && !isnan(V(y));
}
template <class A, class B>
    requires(__is_float<__element_t<__joint<A, B>>>)
METAL_FUNC constexpr auto isunordered(A x, B y) {
    using V = __joint<A, B>;
    return isnan(V(x)) || isnan(V(y));
}

METAL_FUNC constexpr bool all(bool x) { return x; }
METAL_FUNC constexpr bool any(bool x) { return x; }
METAL_FUNC constexpr bool all(bool2 v) { return v.x & v.y; }
METAL_FUNC constexpr bool any(bool2 v) { return v.x | v.y; }
METAL_FUNC constexpr bool all(bool3 v) { return v.x & v.y & v.z; }
METAL_FUNC constexpr bool any(bool3 v) { return v.x | v.y | v.z; }
METAL_FUNC constexpr bool all(bool4 v) { return v.x & v.y & v.z & v.w; }
METAL_FUNC constexpr bool any(bool4 v) { return v.x | v.y | v.z | v.w; }
// not(x) is the operator !, under its other C++ name

// ---- select: b where c, else a
#define __MSL_S(T) METAL_FUNC constexpr T select(T a, T b, bool c) { return c ? b : a; }
__MSL_INTS(__MSL_S) __MSL_FLOATS(__MSL_S) __MSL_S(bool)
#undef __MSL_S
template <class T>
    requires(__is_same(T, bfloat))
METAL_FUNC constexpr T select(T a, T b, bool c) { return c ? b : a; }
template <class T> struct __mask_element;
template <class T>
    requires(sizeof(T) == 1)
struct __mask_element<T> { using type = char; };
template <class T>
    requires(sizeof(T) == 2)
struct __mask_element<T> { using type = short; };
template <class T>
    requires(sizeof(T) == 4)
struct __mask_element<T> { using type = int; };
template <class T>
    requires(sizeof(T) == 8)
struct __mask_element<T> { using type = long; };
template <class V, int N>
METAL_FUNC constexpr V __select_n(V a, V b, const vec<bool, N> &c) {
    using M = __nv<typename __mask_element<__element_t<V>>::type, N>;
    M m = __builtin_convertvector(c.__get(), M) != (M)0;
    return V(__pick(m, b.__get(), a.__get()), __raw{});
}
template <class A, class B>
METAL_FUNC constexpr __joint<A, B> select(A a, B b, vec<bool, __count_of<__joint<A, B>>> c) {
    using V = __joint<A, B>;
    return __select_n<V>(V(a), V(b), c);
}
} // namespace metal
