// SPDX-License-Identifier: Apache-2.0
// internal.h: names below Apple's headers that public kernel libraries call, to give bfloat the
// functions it lacks: __metal_<function>(arguments..., fast or precise), the thread's place in its
// SIMD-group, and two traits under private names.
#pragma once

#define __METAL_MAYBE_FAST_MATH__ __INGOT_FAST_MATH
#undef __METAL_FAST_MATH__
#define __METAL_FAST_MATH__ 1
#define __METAL_PRECISE_MATH__ 0

// the last argument selects fast or precise where float has both
#define __MSL_F1(F) \
    template <class T> METAL_FUNC T __metal_##F(T x, bool fast = __METAL_MAYBE_FAST_MATH__) { \
        if constexpr (__is_same(metal::__el<T>, float)) \
            return fast ? metal::fast::F(x) : metal::precise::F(x); \
        else return metal::F(x); \
    }
__MSL_F1(acos) __MSL_F1(acosh) __MSL_F1(asin) __MSL_F1(asinh) __MSL_F1(atan) __MSL_F1(atanh)
__MSL_F1(ceil) __MSL_F1(cos) __MSL_F1(cosh) __MSL_F1(cospi) __MSL_F1(exp) __MSL_F1(exp10)
__MSL_F1(exp2) __MSL_F1(fabs) __MSL_F1(floor) __MSL_F1(fract) __MSL_F1(log) __MSL_F1(log10)
__MSL_F1(log2) __MSL_F1(rint) __MSL_F1(round) __MSL_F1(rsqrt) __MSL_F1(sin) __MSL_F1(sinh)
__MSL_F1(sinpi) __MSL_F1(sqrt) __MSL_F1(tan) __MSL_F1(tanh) __MSL_F1(tanpi) __MSL_F1(trunc)
#undef __MSL_F1
#define __MSL_F2(F) \
    template <class T> METAL_FUNC T __metal_##F(T x, T y, bool fast = __METAL_MAYBE_FAST_MATH__) { \
        if constexpr (__is_same(metal::__el<T>, float)) \
            return fast ? metal::fast::F(x, y) : metal::precise::F(x, y); \
        else return metal::F(x, y); \
    }
__MSL_F2(atan2) __MSL_F2(divide) __MSL_F2(fdim) __MSL_F2(fmax) __MSL_F2(fmin) __MSL_F2(fmod)
__MSL_F2(pow) __MSL_F2(powr)
#undef __MSL_F2
#define __MSL_F3(F) \
    template <class T> \
    METAL_FUNC T __metal_##F(T x, T y, T z, bool fast = __METAL_MAYBE_FAST_MATH__) { \
        if constexpr (__is_same(metal::__el<T>, float)) \
            return fast ? metal::fast::F(x, y, z) : metal::precise::F(x, y, z); \
        else return metal::F(x, y, z); \
    }
__MSL_F3(fmax3) __MSL_F3(fmin3) __MSL_F3(fmedian3)
#undef __MSL_F3
template <class T> METAL_FUNC T __metal_fma(T x, T y, T z) { return metal::fma(x, y, z); }
template <class T> METAL_FUNC T __metal_nextafter(T x, T y) { return metal::nextafter(x, y); }
template <class T> METAL_FUNC T __metal_copysign(T x, T y) { return metal::copysign(x, y); }
template <class T> METAL_FUNC T __metal_ldexp(T x, int k, bool = true) {
    return metal::ldexp(x, k);
}
template <class T> METAL_FUNC T __metal_frexp(T x, thread int *e, bool = true) {
    return metal::frexp(x, *e);
}

#define __MSL_G(F) \
    template <class T> __attribute__((convergent)) METAL_FUNC T __metal_##F(T x) { \
        return metal::F(x); \
    }
__MSL_G(simd_sum) __MSL_G(simd_product) __MSL_G(simd_min) __MSL_G(simd_max)
__MSL_G(simd_prefix_inclusive_sum)
__MSL_G(simd_prefix_exclusive_sum) __MSL_G(simd_prefix_inclusive_product)
__MSL_G(simd_prefix_exclusive_product) __MSL_G(simd_broadcast_first)
#undef __MSL_G
// Libraries call the bitwise ones with floats, too, though nobody asks for the value: of its bits.
#define __MSL_G(F) \
    template <class T> __attribute__((convergent)) METAL_FUNC T __metal_##F(T x) { \
        if constexpr (__is_same(T, float)) \
            return __builtin_bit_cast(float, metal::F(__builtin_bit_cast(uint, x))); \
        else return metal::F(x); \
    }
__MSL_G(simd_and) __MSL_G(simd_or) __MSL_G(simd_xor)
#undef __MSL_G
#define __MSL_G(F) \
    template <class T> __attribute__((convergent)) METAL_FUNC T __metal_##F(T x, ushort n) { \
        return metal::F(x, n); \
    }
__MSL_G(simd_broadcast) __MSL_G(simd_shuffle) __MSL_G(simd_shuffle_up) __MSL_G(simd_shuffle_down)
__MSL_G(simd_shuffle_xor) __MSL_G(simd_shuffle_rotate_up) __MSL_G(simd_shuffle_rotate_down)
#undef __MSL_G
#define __MSL_G(F) \
    template <class T> \
    __attribute__((convergent)) METAL_FUNC T __metal_##F(T x, T fill, ushort n, ushort m) { \
        return metal::F(x, fill, n, m); \
    }
__MSL_G(simd_shuffle_and_fill_up) __MSL_G(simd_shuffle_and_fill_down)
#undef __MSL_G

METAL_FUNC ushort __metal_get_thread_index_in_simdgroup(ushort = 0) {
    return (ushort)__ingot_position(__MSL_THREAD_INDEX_IN_SIMDGROUP, 0);
}
METAL_FUNC ushort __metal_get_simdgroup_size(ushort = 0) { return 32; }

namespace metal {
template <class... B> using _disjunction = disjunction<B...>;
template <class... B> using _conjunction = conjunction<B...>;
template <class B> using _negation = negation<B>;
} // namespace metal
