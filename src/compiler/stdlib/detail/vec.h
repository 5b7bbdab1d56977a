// SPDX-License-Identifier: Apache-2.0
// vec.h: vectors: the tools of the class templates, vec itself (vec_class.h), packed vectors
// (packed_class.h), the type names, and as_type. Metal's rules: a scalar becomes a vector by itself
// (every component), element types and sizes never change by themselves.
#pragma once
#include "swizzles.h"

namespace metal {
struct __raw {};
// bool vectors are kept as bytes of 0 and 1
template <class T> struct __stored { using type = T; };
template <> struct __stored<bool> { using type = unsigned char; };
template <class T, int N>
using __nv = typename __stored<T>::type __attribute__((ext_vector_type(N)));

template <class T>
inline constexpr constant bool __is_integer = __is_integral(T) && !__is_same(T, bool);
template <class T> inline constexpr constant bool __is_number = __is_integer<T> || __floating<T>;
template <class T> inline constexpr constant bool __is_arith = __is_integral(T) || __floating<T>;

// What an argument of a vector function is: its element type, its number of components.
template <class T> struct __shape {
    using element = T;
    static constexpr constant int count = 1;
    static constexpr constant bool vector = false;
};
template <class T, int N> struct __shape<vec<T, N>> {
    using element = T;
    static constexpr constant int count = N;
    static constexpr constant bool vector = true;
};
template <class T, int N> struct __shape<packed_vec<T, N>> : __shape<vec<T, N>> {};
template <class T> inline constexpr constant bool __is_vec = __shape<T>::vector;
template <class T> inline constexpr constant int __count_of = __shape<T>::count;

template <class T, int N> METAL_FUNC constexpr __nv<T, N> __splat(T s) {
    return (__nv<T, N>)(typename __stored<T>::type)s;
}
// One scalar to another; half <-> bfloat has no direct conversion in Clang.
template <class T, class U> METAL_FUNC constexpr T __scalar(U u) {
    if constexpr ((__is_same(U, half) && __is_same(T, bfloat)) ||
                  (__is_same(U, bfloat) && __is_same(T, half)))
        return (T)(float)u;
    else return (T)u;
}
// A native vector of element type U to one of T.
template <class T, class U, int N>
METAL_FUNC constexpr __nv<T, N> __convert_n(__nv<U, N> n) {
    if constexpr (__is_same(T, bool))
        return __builtin_convertvector(n != (__nv<U, N>)0, __nv<T, N>) & (unsigned char)1;
    else if constexpr ((__is_same(U, half) && __is_same(T, bfloat)) ||
                       (__is_same(U, bfloat) && __is_same(T, half)))
        return __builtin_convertvector(__builtin_convertvector(n, __nv<float, N>), __nv<T, N>);
    else return __builtin_convertvector(n, __nv<T, N>);
}
template <class T, class U, class V> METAL_FUNC constexpr auto __convert(V n) {
    return __convert_n<T, U, __builtin_vectorelements(V)>(n);
}
// A comparison's -1 and 0 to 1 and 0.
template <int N, class V> METAL_FUNC constexpr vec<bool, N> __truth(V n) {
    return vec<bool, N>(__builtin_convertvector(n, __nv<bool, N>) & (unsigned char)1, __raw{});
}

// ---- constructors from several pieces
template <class T, class A>
inline constexpr constant bool __piece =
    __is_vec<A> ? __is_same(typename __shape<A>::element, T) : __is_convertible(A, T);
template <class T, int N, class... A>
inline constexpr constant bool __fills = (__count_of<A> + ...) == N && (__piece<T, A> && ...);
template <class T, int N, class... A>
inline constexpr constant bool __fills_part = (__count_of<A> + ...) < N && (__piece<T, A> && ...);
template <class T, size_t I, class... R> METAL_FUNC constexpr T __component() { return T(0); }
template <class T, size_t I, class A, class... R>
METAL_FUNC constexpr T __component(A a, R... r) {
    if constexpr (I >= (size_t)__count_of<A>) return __component<T, I - __count_of<A>>(r...);
    else if constexpr (__is_vec<A>) return a.__get()[I];
    else return T(a);
}
template <class T, size_t... I, class... A>
METAL_FUNC constexpr __nv<T, sizeof...(I)> __gather(index_sequence<I...>, A... a) {
    return __nv<T, sizeof...(I)>{__component<T, I>(a...)...};
}

// ---- shift counts
template <class U, int N>
inline constexpr constant bool __shift_count =
    __is_integral(typename __shape<U>::element) && (__count_of<U> == 1 || __count_of<U> == N);
template <class T, int N, class U> METAL_FUNC constexpr __nv<T, N> __count(U u) {
    if constexpr (__is_vec<U>) return __convert<T, typename __shape<U>::element>(u.__get());
    else return __splat<T, N>((T)u);
}

#define __MSL_MIXED \
    "an integer vector and a floating-point scalar: convert one of them explicitly"
#define __MSL_N 2
#define __MSL_XYZW x, y
#define __MSL_RGBA r, g
#define __MSL_ASSIGN x = n[0]; y = n[1];
#define __MSL_FROM x(s[0]), y(s[1])
#define __MSL_INDEX return i == 0 ? x : y;
#define __MSL_T_PARAMS T p, T q
#define __MSL_T_NAMES p, q
#define __MSL_SWIZZLES __MSL_SWIZZLES_2
#include "vec_class.h"
#include "packed_class.h"
#define __MSL_N 3
#define __MSL_XYZW x, y, z
#define __MSL_RGBA r, g, b
#define __MSL_ASSIGN x = n[0]; y = n[1]; z = n[2];
#define __MSL_FROM x(s[0]), y(s[1]), z(s[2])
#define __MSL_INDEX return i == 0 ? x : i == 1 ? y : z;
#define __MSL_T_PARAMS T p, T q, T s
#define __MSL_T_NAMES p, q, s
#define __MSL_SWIZZLES __MSL_SWIZZLES_3
#include "vec_class.h"
#include "packed_class.h"
#define __MSL_N 4
#define __MSL_XYZW x, y, z, w
#define __MSL_RGBA r, g, b, a
#define __MSL_ASSIGN x = n[0]; y = n[1]; z = n[2]; w = n[3];
#define __MSL_FROM x(s[0]), y(s[1]), z(s[2]), w(s[3])
#define __MSL_INDEX return i == 0 ? x : i == 1 ? y : i == 2 ? z : w;
#define __MSL_T_PARAMS T p, T q, T s, T t
#define __MSL_T_NAMES p, q, s, t
#define __MSL_SWIZZLES __MSL_SWIZZLES_4
#include "vec_class.h"
#include "packed_class.h"

// Packed vectors among themselves and with scalars give vectors; with a vector on one side vec's
// own operators apply.
template <class A> inline constexpr constant bool __is_packed = false;
template <class T, int N> inline constexpr constant bool __is_packed<packed_vec<T, N>> = true;
template <class A, class B>
inline constexpr constant bool __packed_pair =
    (__is_packed<A> && (__is_same(A, B) || __is_arith<B>)) || (__is_arith<A> && __is_packed<B>);
template <class A, class B> struct __unpacked_pair : __unpacked_pair<B, A> {};
template <class T, int N, class B> struct __unpacked_pair<packed_vec<T, N>, B> {
    using value = vec<T, N>;
    using truth = vec<bool, N>;
};
template <class A, class B> METAL_FUNC constexpr auto __unpacked(const A &a) {
    if constexpr (__is_packed<A>) return typename __unpacked_pair<A, B>::value(a);
    else return a;
}
#define __MSL_OP(OP, RESULT) \
    template <class A, class B> \
        requires(__packed_pair<A, B>) \
    METAL_FUNC constexpr typename __unpacked_pair<A, B>::RESULT operator OP(A p, B q) { \
        return __unpacked<A, B>(p) OP __unpacked<B, A>(q); \
    }
__MSL_OP(+, value) __MSL_OP(-, value) __MSL_OP(*, value) __MSL_OP(/, value) __MSL_OP(%, value)
__MSL_OP(&, value) __MSL_OP(|, value) __MSL_OP(^, value) __MSL_OP(<<, value) __MSL_OP(>>, value)
__MSL_OP(<, truth) __MSL_OP(>, truth) __MSL_OP(<=, truth) __MSL_OP(>=, truth) __MSL_OP(==, truth)
__MSL_OP(!=, truth)
#undef __MSL_OP

// A floating-point scalar does not combine with an integer vector: Metal rejects it, and the
// conversion to the element type would drop the fraction silently.
template <class T, class U>
inline constexpr constant bool __drops_fraction = __is_integral(T) && __floating<U>;
#define __MSL_OP(OP) \
    template <class T, int N, class U> \
        requires(__drops_fraction<T, U>) \
    void operator OP(const vec<T, N> &, U) = delete(__MSL_MIXED); \
    template <class T, int N, class U> \
        requires(__drops_fraction<T, U>) \
    void operator OP(U, const vec<T, N> &) = delete(__MSL_MIXED);
__MSL_OP(+) __MSL_OP(-) __MSL_OP(*) __MSL_OP(/) __MSL_OP(<) __MSL_OP(>) __MSL_OP(<=) __MSL_OP(>=)
__MSL_OP(==) __MSL_OP(!=)
#undef __MSL_OP
#undef __MSL_MIXED
} // namespace metal

#define __MSL_T(T, E) \
    typedef metal::vec<E, 2> T##2; \
    typedef metal::vec<E, 3> T##3; \
    typedef metal::vec<E, 4> T##4;
#define __MSL_P(T, E) \
    typedef metal::packed_vec<E, 2> packed_##T##2; \
    typedef metal::packed_vec<E, 3> packed_##T##3; \
    typedef metal::packed_vec<E, 4> packed_##T##4;
#define __MSL_ALL(M) \
    M(char, char) M(uchar, uchar) M(short, short) M(ushort, ushort) M(int, int) M(uint, uint) \
    M(long, long) M(ulong, ulong) M(half, half) M(bfloat, bfloat) M(float, float)
__MSL_T(bool, bool)
__MSL_ALL(__MSL_T)
__MSL_ALL(__MSL_P)
namespace metal {
#undef __MSL_T
#undef __MSL_P
#define __MSL_T(T, E) using ::T##2; using ::T##3; using ::T##4;
#define __MSL_P(T, E) using ::packed_##T##2; using ::packed_##T##3; using ::packed_##T##4;
__MSL_T(bool, bool)
__MSL_ALL(__MSL_T)
__MSL_ALL(__MSL_P)
#undef __MSL_T
#undef __MSL_P
#undef __MSL_ALL

// ---- as_type: the same bits. Scalars and vectors of one size, never bool; four components may
// lose the last.
template <class T>
inline constexpr constant bool __plain_bits =
    __is_number<typename __shape<T>::element> && sizeof(T) >= 1;
template <class To, class From> METAL_FUNC constexpr auto __bits_of(From f) {
    if constexpr (__is_vec<From>) return f.__get();
    else return f;
}
template <class To, class From>
    requires(__plain_bits<To> && __plain_bits<From> && sizeof(To) == sizeof(From))
METAL_FUNC constexpr To as_type(From f) {
    if constexpr (__is_same(To, From)) return f;
    else if constexpr (__is_packed<From>)
        return __builtin_bit_cast(To, f);
    else if constexpr (!__is_vec<To>) return __builtin_bit_cast(To, __bits_of<To>(f));
    else if constexpr (__is_packed<To>)
        return __builtin_bit_cast(To, f);
    else if constexpr (__count_of<To> == 3 || __count_of<From> == 3) {
        if constexpr (__count_of<To> == __count_of<From>)
            return To(__builtin_bit_cast(typename To::__native, f.__get()), __raw{});
        else return __builtin_bit_cast(To, f);
    } else return To(__builtin_bit_cast(typename To::__native, __bits_of<To>(f)), __raw{});
}
} // namespace metal
using metal::as_type;
