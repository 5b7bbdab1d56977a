// SPDX-License-Identifier: Apache-2.0
// simdgroup.h: <metal_simdgroup> and <metal_quadgroup>. The compiler's builtins take i32, u32, i64,
// u64 and f32; narrower types are widened, vectors go component by component, and shuffles move the
// bits of whatever they are given.
#pragma once

namespace metal {
#define __MSL_GROUP METAL_FUNC __attribute__((convergent))
template <class T>
inline constexpr constant bool __lane_scalar = __is_number<T> && sizeof(T) <= 8;
template <class T>
inline constexpr constant bool __lane_value = __lane_scalar<__element_t<T>> &&
    (!__is_vec<T> || __is_same(T, vec<__element_t<T>, __count_of<T>>));
template <class T>
inline constexpr constant bool __lane_int = __lane_value<T> && __is_integral(__element_t<T>);
// Names that Apple's headers have for themselves and programs use: how many components a type has
// (0: it is no vector), and whether SIMD-group functions took it in Metal 2.
template <class T> struct vec_elements {
    static constexpr constant uint value = __is_vec<T> ? (uint)__count_of<T> : 0u;
};
template <class T> struct __is_valid_simdgroup_type {
    static constexpr constant bool value = __lane_value<T> && sizeof(__element_t<T>) <= 4 &&
        !__is_same(__element_t<T>, bfloat) && !__is_same(__element_t<T>, bool);
};
// The builtins' type for arithmetic on T, and for moving T.
template <class T>
using __wide = conditional_t<
    __floating<T>, float,
    conditional_t<sizeof(T) == 8, T, conditional_t<__is_signed(T), int, uint>>>;
template <class T>
using __carrier =
    conditional_t<__is_same(T, float), float, conditional_t<sizeof(T) == 8, long, int>>;
template <class T> METAL_FUNC __carrier<T> __carry(T x) {
    if constexpr (__is_same(T, float)) return x;
    else if constexpr (__floating<T>) return __builtin_bit_cast(ushort, x);
    else return (__carrier<T>)x;
}
template <class T> METAL_FUNC T __uncarry(__carrier<T> x) {
    if constexpr (__is_same(T, float)) return x;
    else if constexpr (__floating<T>) return __builtin_bit_cast(T, (ushort)x);
    else return (T)x;
}

// ---- reductions and scans
#define __MSL_B5(F) \
    __MSL_GROUP int __##F(int x) { return __ingot_##F##_i32(x); } \
    __MSL_GROUP uint __##F(uint x) { return __ingot_##F##_u32(x); } \
    __MSL_GROUP long __##F(long x) { return __ingot_##F##_i64(x); } \
    __MSL_GROUP ulong __##F(ulong x) { return __ingot_##F##_u64(x); }
#define __MSL_BF(F) __MSL_GROUP float __##F(float x) { return __ingot_##F##_f32(x); }
#define __MSL_F(F, OK) \
    template <class T> \
        requires(OK<T>) \
    __MSL_GROUP T F(T data) { \
        using E = __element_t<T>; \
        if constexpr (__is_vec<T>) { \
            T r; \
            for (int i = 0; i < __count_of<T>; i++) r[i] = (E)__##F((__wide<E>)data[i]); \
            return r; \
        } else return (E)__##F((__wide<E>)data); \
    }
#define __MSL_ARITH(F) __MSL_B5(F) __MSL_BF(F) __MSL_F(F, __lane_value)
#define __MSL_BITS(F) __MSL_B5(F) __MSL_F(F, __lane_int)
__MSL_ARITH(simd_sum) __MSL_ARITH(simd_product) __MSL_ARITH(simd_min) __MSL_ARITH(simd_max)
__MSL_ARITH(simd_prefix_inclusive_sum) __MSL_ARITH(simd_prefix_exclusive_sum)
__MSL_ARITH(simd_prefix_inclusive_product) __MSL_ARITH(simd_prefix_exclusive_product)
__MSL_ARITH(quad_sum) __MSL_ARITH(quad_product) __MSL_ARITH(quad_min) __MSL_ARITH(quad_max)
__MSL_BITS(simd_and) __MSL_BITS(simd_or) __MSL_BITS(simd_xor)
__MSL_BITS(quad_and) __MSL_BITS(quad_or) __MSL_BITS(quad_xor)
#undef __MSL_ARITH
#undef __MSL_BITS
#undef __MSL_F
#undef __MSL_BF
#undef __MSL_B5

// ---- moving values between threads
#define __MSL_EACH_COMPONENT(F, ...) \
    using E = __element_t<T>; \
    if constexpr (__is_vec<T>) { \
        T r; \
        for (int i = 0; i < __count_of<T>; i++) r[i] = F<E>(data[i] __VA_OPT__(, ) __VA_ARGS__); \
        return r; \
    } else return F<E>(data __VA_OPT__(, ) __VA_ARGS__);
// (data, lane or delta or mask)
#define __MSL_F(F, ARG) \
    __MSL_GROUP int __##F(int x, uint n) { return __ingot_##F##_i32(x, n); } \
    __MSL_GROUP long __##F(long x, uint n) { return __ingot_##F##_i64(x, n); } \
    __MSL_GROUP float __##F(float x, uint n) { return __ingot_##F##_f32(x, n); } \
    template <class E> __MSL_GROUP E __one_##F(E x, uint n) { \
        return __uncarry<E>(__##F(__carry(x), n)); \
    } \
    template <class T> \
        requires(__lane_value<T>) \
    __MSL_GROUP T F(T data, ushort ARG) { __MSL_EACH_COMPONENT(__one_##F, ARG) }
__MSL_F(simd_broadcast, broadcast_lane_id) __MSL_F(simd_shuffle, simd_lane_id)
__MSL_F(simd_shuffle_up, delta) __MSL_F(simd_shuffle_down, delta) __MSL_F(simd_shuffle_xor, mask)
__MSL_F(simd_shuffle_rotate_up, delta) __MSL_F(simd_shuffle_rotate_down, delta)
__MSL_F(quad_broadcast, broadcast_lane_id) __MSL_F(quad_shuffle, quad_lane_id)
__MSL_F(quad_shuffle_up, delta) __MSL_F(quad_shuffle_down, delta) __MSL_F(quad_shuffle_xor, mask)
__MSL_F(quad_shuffle_rotate_up, delta) __MSL_F(quad_shuffle_rotate_down, delta)
#undef __MSL_F
#define __MSL_F(F) \
    __MSL_GROUP int __##F(int x) { return __ingot_##F##_i32(x); } \
    __MSL_GROUP long __##F(long x) { return __ingot_##F##_i64(x); } \
    __MSL_GROUP float __##F(float x) { return __ingot_##F##_f32(x); } \
    template <class E> __MSL_GROUP E __one_##F(E x) { return __uncarry<E>(__##F(__carry(x))); } \
    template <class T> \
        requires(__lane_value<T>) \
    __MSL_GROUP T F(T data) { __MSL_EACH_COMPONENT(__one_##F) }
__MSL_F(simd_broadcast_first) __MSL_F(quad_broadcast_first)
#undef __MSL_F
// (data, filling data, delta, modulo): modulo splits the group into rows; one row by default
#define __MSL_F(F, SIZE) \
    __MSL_GROUP int __##F(int x, int y, uint n, uint m) { return __ingot_##F##_i32(x, y, n, m); } \
    __MSL_GROUP long __##F(long x, long y, uint n, uint m) { \
        return __ingot_##F##_i64(x, y, n, m); \
    } \
    __MSL_GROUP float __##F(float x, float y, uint n, uint m) { \
        return __ingot_##F##_f32(x, y, n, m); \
    } \
    template <class T> \
        requires(__lane_value<T>) \
    __MSL_GROUP T F(T data, type_identity_t<T> filling_data, ushort delta, ushort modulo) { \
        using E = __element_t<T>; \
        if constexpr (__is_vec<T>) { \
            T r; \
            for (int i = 0; i < __count_of<T>; i++) \
                r[i] = __uncarry<E>(__##F(__carry<E>(data[i]), __carry<E>(filling_data[i]), delta, \
                                          modulo)); \
            return r; \
        } else return __uncarry<E>(__##F(__carry(data), __carry(filling_data), delta, modulo)); \
    } \
    template <class T> \
        requires(__lane_value<T>) \
    __MSL_GROUP T F(T data, type_identity_t<T> filling_data, ushort delta) { \
        return F(data, filling_data, delta, SIZE); \
    }
__MSL_F(simd_shuffle_and_fill_up, 32) __MSL_F(simd_shuffle_and_fill_down, 32)
__MSL_F(quad_shuffle_and_fill_up, 4) __MSL_F(quad_shuffle_and_fill_down, 4)
#undef __MSL_F
#undef __MSL_EACH_COMPONENT

// ---- votes
// all: every thread of the group, not only of the active ones
#define __MSL_VOTE(NAME, BITS, ALL) \
    class NAME { \
    public: \
        typedef BITS vote_t; \
        METAL_FUNC explicit constexpr NAME(vote_t v = 0) : bits(v) {} \
        METAL_FUNC explicit constexpr operator vote_t() const { return bits; } \
        METAL_FUNC constexpr bool all() const { return (bits & ALL) == ALL; } \
        METAL_FUNC constexpr bool any() const { return bits != 0; } \
    private: \
        vote_t bits; \
    };
__MSL_VOTE(simd_vote, ulong, 0xffffffffu)
__MSL_VOTE(quad_vote, uint, 15u)
#undef __MSL_VOTE
__MSL_GROUP bool simd_all(bool expr) { return __ingot_simd_all(expr); }
__MSL_GROUP bool simd_any(bool expr) { return __ingot_simd_any(expr); }
__MSL_GROUP simd_vote simd_ballot(bool expr) { return simd_vote(__ingot_simd_ballot(expr)); }
__MSL_GROUP simd_vote simd_active_threads_mask() { return simd_vote(__ingot_simd_active_mask()); }
__MSL_GROUP bool simd_is_first() { return __ingot_simd_is_first(); }
__MSL_GROUP bool quad_all(bool expr) { return __ingot_quad_all(expr); }
__MSL_GROUP bool quad_any(bool expr) { return __ingot_quad_any(expr); }
__MSL_GROUP quad_vote quad_ballot(bool expr) { return quad_vote(__ingot_quad_ballot(expr)); }
__MSL_GROUP quad_vote quad_active_threads_mask() { return quad_vote(__ingot_quad_active_mask()); }
__MSL_GROUP bool quad_is_first() { return __ingot_quad_is_first(); }

// Scans over a quad-group: four broadcasts, those of inactive threads left out.
#define __MSL_F(F, START, OP, LIMIT) \
    template <class T> \
        requires(__lane_value<T>) \
    __MSL_GROUP T F(T data) { \
        uint active = __ingot_quad_active_mask(); \
        int lane = (int)__ingot_position(__MSL_THREAD_INDEX_IN_QUADGROUP, 0); \
        T r = T(START); \
        for (int i = 0; i < 4; i++) { \
            T other = quad_broadcast(data, (ushort)i); \
            r = (active >> i & 1u) != 0 && i LIMIT lane ? T(r OP other) : r; \
        } \
        return r; \
    }
__MSL_F(quad_prefix_inclusive_sum, 0, +, <=)
__MSL_F(quad_prefix_exclusive_sum, 0, +, <)
__MSL_F(quad_prefix_inclusive_product, 1, *, <=)
__MSL_F(quad_prefix_exclusive_product, 1, *, <)
#undef __MSL_F
} // namespace metal
