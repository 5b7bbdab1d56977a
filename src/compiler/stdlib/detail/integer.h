// SPDX-License-Identifier: Apache-2.0
// integer.h: <metal_integer>: functions on integers, scalar and vector. All are defined for every
// value: counts and offsets that the specification leaves undefined are taken modulo the width.
#pragma once

namespace metal {
template <class V> struct __bits_in { static constexpr constant int value = 8 * sizeof(V); };
template <class V>
    requires(__builtin_vectorelements(V) > 0)
struct __bits_in<V> {
    static constexpr constant int value = 8 * sizeof(decltype(V{}[0]));
};
template <class V> inline constexpr constant int __width = __bits_in<V>::value;

// The types with the same number of elements: signed, unsigned, and of twice the width.
template <class V> struct __kin {
    using s = __make_signed(V);
    using u = __make_unsigned(V);
    static constexpr constant bool is_signed = __is_signed(V);
};
template <class T, int N> struct __kin<T __attribute__((ext_vector_type(N)))> {
    using s = __nv<__make_signed(T), N>;
    using u = __nv<__make_unsigned(T), N>;
    static constexpr constant bool is_signed = __is_signed(T);
};
template <class T> struct __twice;
template <> struct __twice<char> { using type = short; };
template <> struct __twice<signed char> { using type = short; };
template <> struct __twice<uchar> { using type = ushort; };
template <> struct __twice<short> { using type = int; };
template <> struct __twice<ushort> { using type = uint; };
template <> struct __twice<int> { using type = long; };
template <> struct __twice<uint> { using type = ulong; };
template <class T, int N> struct __twice<T __attribute__((ext_vector_type(N)))> {
    using type = __nv<typename __twice<T>::type, N>;
};
// Integer scalars convert by value, native vectors of one size by their bits.
template <class W, class V> METAL_FUNC constexpr W __resize(V x) {
    if constexpr (__is_integral(V)) return (W)x;
    else return __builtin_convertvector(x, W);
}
template <class V> METAL_FUNC constexpr auto __unsigned(V x) {
    return __resize<typename __kin<V>::u>(x);
}

template <class V> METAL_FUNC constexpr V __do_abs(V x) {
    if constexpr (__kin<V>::is_signed) return __builtin_elementwise_abs(x);
    else return x;
}
template <class V> METAL_FUNC constexpr V __do_max(V x, V y) {
    return __builtin_elementwise_max(x, y);
}
template <class V> METAL_FUNC constexpr V __do_min(V x, V y) {
    return __builtin_elementwise_min(x, y);
}
template <class V> METAL_FUNC constexpr V __do_addsat(V x, V y) {
    return __builtin_elementwise_add_sat(x, y);
}
template <class V> METAL_FUNC constexpr V __do_subsat(V x, V y) {
    return __builtin_elementwise_sub_sat(x, y);
}
template <class V> METAL_FUNC constexpr V __do_popcount(V x) {
    return __builtin_elementwise_popcount(x);
}
template <class V> METAL_FUNC constexpr V __do_reverse_bits(V x) {
    return __builtin_elementwise_bitreverse(x);
}
template <class V> METAL_FUNC constexpr V __do_clz(V x) {
    using U = typename __kin<V>::u;
    return __resize<V>(__builtin_elementwise_clzg(__resize<U>(x), (U)(__width<V>)));
}
template <class V> METAL_FUNC constexpr V __do_ctz(V x) {
    using U = typename __kin<V>::u;
    return __resize<V>(__builtin_elementwise_ctzg(__resize<U>(x), (U)(__width<V>)));
}
template <class V> METAL_FUNC constexpr V __do_max3(V x, V y, V z) {
    return __do_max(x, __do_max(y, z));
}
template <class V> METAL_FUNC constexpr V __do_min3(V x, V y, V z) {
    return __do_min(x, __do_min(y, z));
}
template <class V> METAL_FUNC constexpr V __do_median3(V x, V y, V z) {
    return __do_max(__do_min(x, y), __do_min(__do_max(x, y), z));
}
template <class V> METAL_FUNC constexpr V __do_iclamp(V x, V lo, V hi) {
    return __do_min(__do_max(x, lo), hi);
}
// |x - y| fits the unsigned type
template <class V> METAL_FUNC constexpr auto __do_absdiff(V x, V y) {
    return __unsigned(__do_max(x, y)) - __unsigned(__do_min(x, y));
}
// halving adds: the common bits plus half of the differing ones
template <class V> METAL_FUNC constexpr V __do_hadd(V x, V y) {
    return (V)((x & y) + (V)((V)(x ^ y) >> (V)1));
}
template <class V> METAL_FUNC constexpr V __do_rhadd(V x, V y) {
    return (V)((x | y) - (V)((V)(x ^ y) >> (V)1));
}
template <class V> METAL_FUNC constexpr V __do_rotate(V x, V n) {
    auto u = __unsigned(x);
    auto k = __unsigned(n);
    return __resize<V>(__builtin_elementwise_fshl(u, u, k));
}
template <class V> METAL_FUNC constexpr V __do_mul24(V x, V y) {
    return __resize<V>(__unsigned(x) * __unsigned(y));
}
template <class V> METAL_FUNC constexpr V __do_mad24(V x, V y, V z) {
    return __resize<V>(__unsigned(x) * __unsigned(y) + __unsigned(z));
}
template <class V> METAL_FUNC constexpr V __do_mulhi(V x, V y) {
    if constexpr (__width<V> < 64) {
        using W = typename __twice<V>::type;
        return __resize<V>((W)((W)(__resize<W>(x) * __resize<W>(y)) >> (W)(__width<V>)));
    } else {
        // four products of 32-bit halves; signed operands are corrected afterwards
        using U = typename __kin<V>::u;
        U a = __resize<U>(x), b = __resize<U>(y), low = (U)0xffffffffu;
        U a0 = a & low, a1 = a >> (U)32, b0 = b & low, b1 = b >> (U)32;
        U t = a1 * b0 + ((a0 * b0) >> (U)32);
        U h = a1 * b1 + (t >> (U)32) + ((a0 * b1 + (t & low)) >> (U)32);
        if constexpr (__kin<V>::is_signed)
            h -= (__resize<U>(x >> (V)63) & b) + (__resize<U>(y >> (V)63) & a);
        return __resize<V>(h);
    }
}
template <class V> METAL_FUNC constexpr V __do_madhi(V x, V y, V z) {
    return __resize<V>(__unsigned(__do_mulhi(x, y)) + __unsigned(z));
}
template <class V> METAL_FUNC constexpr V __do_madsat(V x, V y, V z) {
    using U = typename __kin<V>::u;
    constexpr bool is_signed = __kin<V>::is_signed;
    const V most = is_signed ? __resize<V>((U)(~(U)0) >> (U)1) : __resize<V>(~(U)0);
    const V least = ~most; // of the signed range
    if constexpr (__width<V> < 64) {
        // the exact sum fits twice the width
        using W = typename __twice<V>::type;
        W r = __resize<W>(x) * __resize<W>(y) + __resize<W>(z);
        W hi = __resize<W>(most), lo = is_signed ? __resize<W>(least) : (W)0;
        return __resize<V>(__do_min(__do_max(r, lo), hi));
    } else {
        // the 128-bit sum as two words
        U l = __resize<U>(x) * __resize<U>(y);
        V h = __do_mulhi(x, y);
        U s = l + __resize<U>(z);
        V carry = __pick(s < l, (V)1, (V)0);
        if constexpr (is_signed) {
            h = __resize<V>(__resize<U>(h) + __resize<U>(z >> (V)63) + __resize<U>(carry));
            V r = __resize<V>(s);
            return __pick(h == (r >> (V)63), r, __pick(h < (V)0, least, most));
        } else {
            h += carry;
            return __pick(h == (V)0, s, most);
        }
    }
}

#define __MSL_F(F, N) __MSL_INTS(__MSL_SCALAR##N, F) __MSL_VECTOR##N(F, __is_integer)
__MSL_F(abs, 1)
__MSL_F(popcount, 1)
__MSL_F(reverse_bits, 1)
__MSL_F(clz, 1)
__MSL_F(ctz, 1)
__MSL_F(max, 2)
__MSL_F(min, 2)
__MSL_F(addsat, 2)
__MSL_F(subsat, 2)
__MSL_F(hadd, 2)
__MSL_F(rhadd, 2)
__MSL_F(mulhi, 2)
__MSL_F(rotate, 2)
__MSL_F(max3, 3)
__MSL_F(min3, 3)
__MSL_F(median3, 3)
__MSL_F(madhi, 3)
__MSL_F(madsat, 3)
#undef __MSL_F
__MSL_SCALAR2(int, mul24) __MSL_SCALAR2(uint, mul24) __MSL_VECTOR2(mul24, __is_int32)
__MSL_SCALAR3(int, mad24) __MSL_SCALAR3(uint, mad24) __MSL_VECTOR3(mad24, __is_int32)

#define __MSL_F(T) \
    METAL_FUNC constexpr T clamp(T x, T minval, T maxval) { \
        return __do_iclamp(x, minval, maxval); \
    } \
    METAL_FUNC constexpr make_unsigned_t<T> absdiff(T x, T y) { return __do_absdiff(x, y); }
__MSL_INTS(__MSL_F)
#undef __MSL_F
template <class A, class B, class C>
    requires(__is_integer<__element_t<__joint<A, B, C>>>)
METAL_FUNC constexpr __joint<A, B, C> clamp(A x, B minval, C maxval) {
    using V = __joint<A, B, C>;
    return V(__do_iclamp(__arg<V>(x), __arg<V>(minval), __arg<V>(maxval)), __raw{});
}
template <class A, class B>
    requires(__is_integer<__element_t<__joint<A, B>>>)
METAL_FUNC constexpr auto absdiff(A x, B y) {
    using V = __joint<A, B>;
    using U = typename make_unsigned<V>::type;
    return U(__do_absdiff(__arg<V>(x), __arg<V>(y)), __raw{});
}

// ---- bit fields: offset and bits are scalars for vectors too
template <class V> METAL_FUNC constexpr V __do_extract_bits(V x, uint offset, uint bits) {
    constexpr uint w = __width<V>;
    using U = typename __kin<V>::u;
    // to the top, then down with the sign; two steps so that no count reaches the width
    uint up = w - (offset & (w - 1)) - bits;
    V top = __resize<V>(__resize<U>(x) << (U)(up & (w - 1)));
    V r = top >> (V)((w - bits) & (w - 1));
    return bits == 0 ? (V)0 : r;
}
template <class V>
METAL_FUNC constexpr V __do_insert_bits(V base, V insert, uint offset, uint bits) {
    constexpr uint w = __width<V>;
    using U = typename __kin<V>::u;
    U ones = bits >= w ? ~(U)0 : ((U)1 << (U)(bits & (w - 1))) - (U)1;
    U mask = ones << (U)(offset & (w - 1));
    U in = __resize<U>(insert) << (U)(offset & (w - 1));
    return __resize<V>((__resize<U>(base) & ~mask) | (in & mask));
}
#define __MSL_F(T) \
    METAL_FUNC constexpr T extract_bits(T x, uint offset, uint bits) { \
        return __do_extract_bits(x, offset, bits); \
    } \
    METAL_FUNC constexpr T insert_bits(T base, T insert, uint offset, uint bits) { \
        return __do_insert_bits(base, insert, offset, bits); \
    }
__MSL_INTS(__MSL_F)
#undef __MSL_F
template <class A>
    requires(__is_vec<A> && __is_integer<__element_t<A>>)
METAL_FUNC constexpr auto extract_bits(A x, uint offset, uint bits) {
    using V = typename __first_vec<A>::type;
    return V(__do_extract_bits(x.__get(), offset, bits), __raw{});
}
template <class A, class B>
    requires(__is_integer<__element_t<__joint<A, B>>>)
METAL_FUNC constexpr __joint<A, B> insert_bits(A base, B insert, uint offset, uint bits) {
    using V = __joint<A, B>;
    return V(__do_insert_bits(__arg<V>(base), __arg<V>(insert), offset, bits), __raw{});
}
} // namespace metal
