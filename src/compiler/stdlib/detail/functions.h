// SPDX-License-Identifier: Apache-2.0
// functions.h: how a built-in function is declared for scalars and for vectors.
//
// A function F has one generic body, `template <class V> constexpr V __do_F(V, ...)`, that works on
// a scalar and on a native vector alike. From it
//   __MSL_SCALAR<n>(T, F)    makes the overload for one scalar type (use with the lists in core.h),
//   __MSL_VECTOR<n>(F, OK)   makes the one for all vectors whose element type satisfies OK<T>.
// A vector argument is a vec or a packed_vec; the others may be scalars, which fill all components.
// __MSL_BFLOAT<n> adds bfloat scalars as a template, so that a program's own overload comes first.
#pragma once

namespace metal {
// The vec<T, N> that arguments A... share; no member `type` if they do not go together.
template <class... A> struct __first_vec {};
template <class A, class... R> struct __first_vec<A, R...> : __first_vec<R...> {};
template <class T, int N, class... R>
struct __first_vec<vec<T, N>, R...> { using type = vec<T, N>; };
template <class T, int N, class... R>
struct __first_vec<packed_vec<T, N>, R...> { using type = vec<T, N>; };
template <class V, class A> inline constexpr constant bool __joins = false;
template <class V, class A>
    requires(__is_vec<A>)
inline constexpr constant bool __joins<V, A> = __is_same(typename __first_vec<A>::type, V);
template <class V, class A>
    requires(__is_arith<A>)
inline constexpr constant bool __joins<V, A> = true;
template <class... A>
    requires((__joins<typename __first_vec<A...>::type, A> && ...))
using __joint = typename __first_vec<A...>::type;
template <class V> using __element_t = typename __shape<V>::element;
template <class T> inline constexpr constant bool __is_float = __floating<T>;
template <class T>
inline constexpr constant bool __is_int32 = __is_same(T, int) || __is_same(T, uint);
template <class T> inline constexpr constant bool __is_any = true;

// An argument as the native vector of V.
template <class V, class A> METAL_FUNC constexpr typename V::__native __arg(A a) {
    if constexpr (__is_vec<A>) return a.__get();
    else return __splat<__element_t<V>, __count_of<V>>((__element_t<V>)a);
}
// Lane by lane: yes where c, else no. `?:` on native vectors is no constant expression.
template <class C, class V, size_t... I>
METAL_FUNC constexpr V __pick_each(C c, V yes, V no, index_sequence<I...>) {
    return V{(c[I] ? yes[I] : no[I])...};
}
template <class C, class V> METAL_FUNC constexpr V __pick(C c, V yes, V no) {
    if constexpr (__is_same(C, bool)) return c ? yes : no;
    else {
        if consteval {
            return __pick_each(c, yes, no, make_index_sequence<__builtin_vectorelements(V)>{});
        } else { return c ? yes : no; }
    }
}
} // namespace metal

#define __MSL_SCALAR1(T, F) METAL_FUNC constexpr T F(T x) { return __do_##F(x); }
#define __MSL_SCALAR2(T, F) METAL_FUNC constexpr T F(T x, T y) { return __do_##F(x, y); }
#define __MSL_SCALAR3(T, F) METAL_FUNC constexpr T F(T x, T y, T z) { return __do_##F(x, y, z); }
#define __MSL_VECTOR1(F, OK) \
    template <class A> \
        requires(__is_vec<A> && OK<__element_t<A>>) \
    METAL_FUNC constexpr auto F(A a) { \
        using V = vec<__element_t<A>, __count_of<A>>; \
        return V(__do_##F(a.__get()), __raw{}); \
    }
#define __MSL_VECTOR2(F, OK) \
    template <class A, class B> \
        requires(OK<__element_t<__joint<A, B>>>) \
    METAL_FUNC constexpr __joint<A, B> F(A a, B b) { \
        using V = __joint<A, B>; \
        return V(__do_##F(__arg<V>(a), __arg<V>(b)), __raw{}); \
    }
#define __MSL_VECTOR3(F, OK) \
    template <class A, class B, class C> \
        requires(OK<__element_t<__joint<A, B, C>>>) \
    METAL_FUNC constexpr __joint<A, B, C> F(A a, B b, C c) { \
        using V = __joint<A, B, C>; \
        return V(__do_##F(__arg<V>(a), __arg<V>(b), __arg<V>(c)), __raw{}); \
    }
#define __MSL_BFLOAT1(F) \
    template <class T> \
        requires(__is_same(T, bfloat)) \
    METAL_FUNC constexpr T F(T x) { return (T)__do_##F((float)x); }
#define __MSL_BFLOAT2(F) \
    template <class T> \
        requires(__is_same(T, bfloat)) \
    METAL_FUNC constexpr T F(T x, T y) { return (T)__do_##F((float)x, (float)y); }
#define __MSL_BFLOAT3(F) \
    template <class T> \
        requires(__is_same(T, bfloat)) \
    METAL_FUNC constexpr T F(T x, T y, T z) { return (T)__do_##F((float)x, (float)y, (float)z); }
