// SPDX-License-Identifier: Apache-2.0
// geometric.h: <metal_geometric>, on half and float vectors. Everything is computed in float (the
// square of a half overflows early); sums run from x to w, component by component, and the compiler
// may contract them to fused multiply-adds.
#pragma once

namespace metal {
// The components of an argument as float.
template <class V, class A> METAL_FUNC constexpr auto __wide_arg(A a) {
    return __convert<float, __element_t<V>>(__arg<V>(a));
}
template <class V> METAL_FUNC constexpr auto __hsum(V p) {
    constexpr int n = __builtin_vectorelements(V);
    auto s = p[0] + p[1];
    if constexpr (n > 2) s += p[2];
    if constexpr (n > 3) s += p[3];
    return s;
}
template <class V> METAL_FUNC constexpr auto __do_dot(V x, V y) { return __hsum(x * y); }
METAL_FUNC float __root(float x) { return __builtin_elementwise_sqrt(x); }
// Back to the element type of V.
template <class V, class N> METAL_FUNC constexpr V __narrow(N n) {
    return V(__convert<__element_t<V>, float>(n), __raw{});
}

template <class A, class B>
    requires(__is_float<__element_t<__joint<A, B>>>)
METAL_FUNC constexpr auto dot(A x, B y) {
    using V = __joint<A, B>;
    return (__element_t<V>)__do_dot(__wide_arg<V>(x), __wide_arg<V>(y));
}
#define __MSL_1(F, OK, ...) \
    template <class A> \
        requires(__is_vec<A> && OK<__element_t<A>>) \
    METAL_FUNC auto F(A x) { \
        using V = typename __first_vec<A>::type; \
        using T = __element_t<V>; \
        auto n = __wide_arg<V>(x); \
        float s = __do_dot(n, n); \
        __VA_ARGS__ \
    }
#define __MSL_2(F, OK, ...) \
    template <class A, class B> \
        requires(OK<__element_t<__joint<A, B>>>) \
    METAL_FUNC auto F(A x, B y) { \
        using V = __joint<A, B>; \
        using T = __element_t<V>; \
        auto n = __wide_arg<V>(x) - __wide_arg<V>(y); \
        float s = __do_dot(n, n); \
        __VA_ARGS__ \
    }
#define __MSL_LENGTHS(OK) \
    __MSL_1(length_squared, OK, return (T)s;) \
    __MSL_1(length, OK, return (T)__root(s);) \
    __MSL_1(normalize, OK, return __narrow<V>(n * (decltype(n))(1.0f / __root(s)));) \
    __MSL_2(distance_squared, OK, return (T)s;) \
    __MSL_2(distance, OK, return (T)__root(s);)
__MSL_LENGTHS(__is_float)
namespace fast {
__MSL_LENGTHS(__is_single)
}
namespace precise {
__MSL_LENGTHS(__is_single)
}
#undef __MSL_LENGTHS
#undef __MSL_1
#undef __MSL_2

template <class A, class B>
    requires(__is_float<__element_t<__joint<A, B>>> && __count_of<__joint<A, B>> == 3)
METAL_FUNC constexpr auto cross(A x, B y) {
    using V = __joint<A, B>;
    auto p = __arg<V>(x), q = __arg<V>(y);
    auto p1 = __builtin_shufflevector(p, p, 1, 2, 0), p2 = __builtin_shufflevector(p, p, 2, 0, 1);
    auto q1 = __builtin_shufflevector(q, q, 1, 2, 0), q2 = __builtin_shufflevector(q, q, 2, 0, 1);
    return V(p1 * q2 - p2 * q1, __raw{});
}
template <class A, class B>
    requires(__is_float<__element_t<__joint<A, B>>>)
METAL_FUNC constexpr auto reflect(A i, B n) {
    using V = __joint<A, B>;
    auto p = __wide_arg<V>(i), q = __wide_arg<V>(n);
    return __narrow<V>(p - q * (decltype(q))(2.0f * __do_dot(q, p)));
}
template <class A, class B, class C>
    requires(__is_float<__element_t<__joint<A, B, C>>>)
METAL_FUNC constexpr __joint<A, B, C> faceforward(A n, B i, C nref) {
    using V = __joint<A, B, C>;
    auto q = __arg<V>(n);
    return V(__do_dot(__wide_arg<V>(nref), __wide_arg<V>(i)) < 0 ? q : -q, __raw{});
}
template <class A, class B>
    requires(__is_float<__element_t<__joint<A, B>>>)
METAL_FUNC auto refract(A i, B n, __element_t<__joint<A, B>> ratio) {
    using V = __joint<A, B>;
    auto p = __wide_arg<V>(i), q = __wide_arg<V>(n);
    using N = decltype(p);
    // k = 1 - eta^2 (1 - c^2), and eta c + sqrt(k) without the difference of two large numbers that
    // it is where vectors are long and face each other.
    float eta = ratio, along = eta * __do_dot(q, p);
    float rest = (1.0f - eta) * (1.0f + eta), k = rest + along * along;
    float root = __root(k < 0 ? 0.0f : k);
    N r = p * (N)eta - q * (N)(along < 0 ? rest / (root - along) : along + root);
    return __narrow<V>(k < 0 ? (N)0 : r);
}
} // namespace metal
