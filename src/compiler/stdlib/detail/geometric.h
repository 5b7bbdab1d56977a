// SPDX-License-Identifier: Apache-2.0
// geometric.h: <metal_geometric>, on half and float vectors. Sums run from x to w, component by
// component, which the compiler may contract to fused multiply-adds.
#pragma once

namespace metal {
template <class V> METAL_FUNC constexpr auto __hsum(V p) {
    constexpr int n = __builtin_vectorelements(V);
    auto s = p[0] + p[1];
    if constexpr (n > 2) s += p[2];
    if constexpr (n > 3) s += p[3];
    return s;
}
template <class T> METAL_FUNC constexpr T __root(T x) { return (T)__builtin_elementwise_sqrt(x); }
template <class V> METAL_FUNC constexpr auto __do_dot(V x, V y) { return __hsum(x * y); }
template <class V> METAL_FUNC constexpr V __do_reflect(V i, V n) {
    return i - n * (V)((decltype(__do_dot(n, i)))2 * __do_dot(n, i));
}
template <class V> METAL_FUNC constexpr V __do_faceforward(V n, V i, V nref) {
    return __do_dot(nref, i) < 0 ? n : -n;
}

template <class A, class B>
    requires(__is_float<__element_t<__joint<A, B>>>)
METAL_FUNC constexpr auto dot(A x, B y) {
    using V = __joint<A, B>;
    return (__element_t<V>)__do_dot(__arg<V>(x), __arg<V>(y));
}
#define __MSL_1(F, ...) \
    template <class A> \
        requires(__is_vec<A> && OK<__element_t<A>>) \
    METAL_FUNC auto F(A x) { \
        using V = typename __first_vec<A>::type; \
        using T = __element_t<V>; \
        auto n = x.__get(); \
        __VA_ARGS__ \
    }
#define __MSL_2(F, ...) \
    template <class A, class B> \
        requires(OK<__element_t<__joint<A, B>>>) \
    METAL_FUNC auto F(A x, B y) { \
        using V = __joint<A, B>; \
        using T = __element_t<V>; \
        auto d = __arg<V>(x) - __arg<V>(y); \
        __VA_ARGS__ \
    }
#define __MSL_LENGTHS \
    __MSL_1(length_squared, return (T)__do_dot(n, n);) \
    __MSL_1(length, return __root((T)__do_dot(n, n));) \
    __MSL_1(normalize, return V(n * (typename V::__native)((T)1 / __root((T)__do_dot(n, n))), __raw{});) \
    __MSL_2(distance_squared, return (T)__do_dot(d, d);) \
    __MSL_2(distance, return __root((T)__do_dot(d, d));)
#define OK __is_float
__MSL_LENGTHS
#undef OK
#define OK __is_single
namespace fast {
__MSL_LENGTHS
}
namespace precise {
__MSL_LENGTHS
}
#undef OK
#undef __MSL_LENGTHS
#undef __MSL_1
#undef __MSL_2
// scalars, as vectors of one component
#define __MSL_S(T) \
    METAL_FUNC T length(T x) { return x < 0 ? -x : x; } \
    METAL_FUNC T distance(T x, T y) { return length(T(x - y)); }
__MSL_FLOATS(__MSL_S)
#undef __MSL_S

template <class A, class B>
    requires(__is_float<__element_t<__joint<A, B>>> && __count_of<__joint<A, B>> == 3)
METAL_FUNC constexpr auto cross(A x, B y) {
    using V = __joint<A, B>;
    auto p = __arg<V>(x), q = __arg<V>(y);
    auto p1 = __builtin_shufflevector(p, p, 1, 2, 0), p2 = __builtin_shufflevector(p, p, 2, 0, 1);
    auto q1 = __builtin_shufflevector(q, q, 1, 2, 0), q2 = __builtin_shufflevector(q, q, 2, 0, 1);
    return V(p1 * q2 - p2 * q1, __raw{});
}
__MSL_VECTOR2(reflect, __is_float)
template <class A, class B, class C>
    requires(__is_float<__element_t<__joint<A, B, C>>>)
METAL_FUNC constexpr __joint<A, B, C> faceforward(A n, B i, C nref) {
    using V = __joint<A, B, C>;
    return V(__do_faceforward(__arg<V>(n), __arg<V>(i), __arg<V>(nref)), __raw{});
}
template <class A, class B>
    requires(__is_float<__element_t<__joint<A, B>>>)
METAL_FUNC auto refract(A i, B n, __element_t<__joint<A, B>> eta) {
    using V = __joint<A, B>;
    using T = __element_t<V>;
    auto p = __arg<V>(i), q = __arg<V>(n);
    T c = __do_dot(q, p);
    T k = (T)1 - eta * eta * ((T)1 - c * c);
    T scale = eta * c + __root(k < 0 ? (T)0 : k);
    typename V::__native r = p * (typename V::__native)eta - q * (typename V::__native)scale;
    return V(k < 0 ? (typename V::__native)0 : r, __raw{});
}
} // namespace metal
