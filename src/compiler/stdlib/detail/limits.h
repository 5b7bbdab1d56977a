// SPDX-License-Identifier: Apache-2.0
// limits.h: <metal_limits>: numeric_limits, the limit macros and the mathematical constants.
#pragma once

#define CHAR_BIT 8
#define CHAR_MAX SCHAR_MAX
#define CHAR_MIN SCHAR_MIN
#define SCHAR_MAX 127
#define SCHAR_MIN (-128)
#define UCHAR_MAX 255
#define SHRT_MAX 32767
#define SHRT_MIN (-32768)
#define USHRT_MAX 65535
#define INT_MAX 2147483647
#define INT_MIN (-2147483647 - 1)
#define UINT_MAX 0xffffffffu
#define LONG_MAX 9223372036854775807L
#define LONG_MIN (-9223372036854775807L - 1L)
#define ULONG_MAX 0xffffffffffffffffUL
#define INT8_MAX 127
#define INT8_MIN (-128)
#define UINT8_MAX 255
#define INT16_MAX 32767
#define INT16_MIN (-32768)
#define UINT16_MAX 65535
#define INT32_MAX 2147483647
#define INT32_MIN (-2147483647 - 1)
#define UINT32_MAX 0xffffffffu
#define INT64_MAX 9223372036854775807L
#define INT64_MIN (-9223372036854775807L - 1L)
#define UINT64_MAX 0xffffffffffffffffUL
#define SIZE_MAX 0xffffffffffffffffUL

#define FLT_DIG 6
#define FLT_MANT_DIG 24
#define FLT_MAX_10_EXP 38
#define FLT_MAX_EXP 128
#define FLT_MIN_10_EXP (-37)
#define FLT_MIN_EXP (-125)
#define FLT_RADIX 2
#define FLT_MAX 0x1.fffffep127f
#define FLT_MIN 0x1p-126f
#define FLT_EPSILON 0x1p-23f
#define FLT_DECIMAL_DIG 9
#define FP_ILOGB0 (-2147483647 - 1)
#define FP_ILOGBNAN 2147483647
#define HALF_DIG 3
#define HALF_MANT_DIG 11
#define HALF_MAX_10_EXP 4
#define HALF_MAX_EXP 16
#define HALF_MIN_10_EXP (-4)
#define HALF_MIN_EXP (-13)
#define HALF_RADIX 2
#define HALF_MAX 0x1.ffcp15h
#define HALF_MIN 0x1p-14h
#define HALF_EPSILON 0x1p-10h
#define HALF_DECIMAL_DIG 5
#define BFLT_DIG 2
#define BFLT_MANT_DIG 8
#define BFLT_MAX_10_EXP 38
#define BFLT_MAX_EXP 128
#define BFLT_MIN_10_EXP (-37)
#define BFLT_MIN_EXP (-125)
#define BFLT_RADIX 2
#define BFLT_MAX ((bfloat)0x1.fep127f)
#define BFLT_MIN ((bfloat)0x1p-126f)
#define BFLT_EPSILON ((bfloat)0x1p-7f)
#define BFLT_DECIMAL_DIG 4
#define MAXFLOAT FLT_MAX
#define MAXHALF HALF_MAX
#define MAXBFLOAT BFLT_MAX
#define HUGE_VALF __builtin_inff()
#define HUGE_VALH ((half)__builtin_inff())
#define HUGE_VALBF ((bfloat)__builtin_inff())
#define INFINITY __builtin_inff()
#define NAN __builtin_nanf("")

#define M_E_F 2.71828182845904523536f
#define M_LOG2E_F 1.44269504088896340736f
#define M_LOG10E_F 0.43429448190325182765f
#define M_LN2_F 0.69314718055994530942f
#define M_LN10_F 2.30258509299404568402f
#define M_PI_F 3.14159265358979323846f
#define M_PI_2_F 1.57079632679489661923f
#define M_PI_4_F 0.78539816339744830962f
#define M_1_PI_F 0.31830988618379067154f
#define M_2_PI_F 0.63661977236758134308f
#define M_2_SQRTPI_F 1.12837916709551257390f
#define M_SQRT2_F 1.41421356237309504880f
#define M_SQRT1_2_F 0.70710678118654752440f
#define M_E_H ((half)M_E_F)
#define M_LOG2E_H ((half)M_LOG2E_F)
#define M_LOG10E_H ((half)M_LOG10E_F)
#define M_LN2_H ((half)M_LN2_F)
#define M_LN10_H ((half)M_LN10_F)
#define M_PI_H ((half)M_PI_F)
#define M_PI_2_H ((half)M_PI_2_F)
#define M_PI_4_H ((half)M_PI_4_F)
#define M_1_PI_H ((half)M_1_PI_F)
#define M_2_PI_H ((half)M_2_PI_F)
#define M_2_SQRTPI_H ((half)M_2_SQRTPI_F)
#define M_SQRT2_H ((half)M_SQRT2_F)
#define M_SQRT1_2_H ((half)M_SQRT1_2_F)
#define M_E_BF ((bfloat)M_E_F)
#define M_LOG2E_BF ((bfloat)M_LOG2E_F)
#define M_LOG10E_BF ((bfloat)M_LOG10E_F)
#define M_LN2_BF ((bfloat)M_LN2_F)
#define M_LN10_BF ((bfloat)M_LN10_F)
#define M_PI_BF ((bfloat)M_PI_F)
#define M_PI_2_BF ((bfloat)M_PI_2_F)
#define M_PI_4_BF ((bfloat)M_PI_4_F)
#define M_1_PI_BF ((bfloat)M_1_PI_F)
#define M_2_PI_BF ((bfloat)M_2_PI_F)
#define M_2_SQRTPI_BF ((bfloat)M_2_SQRTPI_F)
#define M_SQRT2_BF ((bfloat)M_SQRT2_F)
#define M_SQRT1_2_BF ((bfloat)M_SQRT1_2_F)

namespace metal {
enum float_denorm_style { denorm_indeterminate = -1, denorm_absent = 0, denorm_present = 1 };
enum float_round_style {
    round_indeterminate = -1,
    round_toward_zero = 0,
    round_to_nearest = 1,
    round_toward_infinity = 2,
    round_toward_neg_infinity = 3
};

// Members that say nothing of a type: all false or zero.
template <class T> struct __limits {
#define __MSL_B(N) static constexpr constant bool N = false;
    __MSL_B(is_specialized) __MSL_B(is_signed) __MSL_B(is_integer) __MSL_B(is_exact)
    __MSL_B(has_infinity) __MSL_B(has_quiet_NaN) __MSL_B(has_signaling_NaN) __MSL_B(has_denorm_loss)
    __MSL_B(is_iec559) __MSL_B(is_bounded) __MSL_B(is_modulo) __MSL_B(traps)
    __MSL_B(tinyness_before)
#undef __MSL_B
#define __MSL_I(N) static constexpr constant int N = 0;
    __MSL_I(digits) __MSL_I(digits10) __MSL_I(max_digits10) __MSL_I(radix) __MSL_I(min_exponent)
    __MSL_I(min_exponent10) __MSL_I(max_exponent) __MSL_I(max_exponent10)
#undef __MSL_I
    static constexpr constant float_denorm_style has_denorm = denorm_absent;
    static constexpr constant float_round_style round_style = round_toward_zero;
#define __MSL_V(N) static METAL_FUNC constexpr T N() { return T(); }
    __MSL_V(min) __MSL_V(max) __MSL_V(lowest) __MSL_V(epsilon) __MSL_V(round_error)
    __MSL_V(infinity) __MSL_V(quiet_NaN) __MSL_V(signaling_NaN) __MSL_V(denorm_min)
#undef __MSL_V
};
// Behind numeric_limits in Apple's headers: programs specialise it for types of their own.
template <class T> struct _numeric_limits_impl : __limits<T> {};
template <class T> struct numeric_limits : _numeric_limits_impl<T> {};
template <class T> struct numeric_limits<const T> : numeric_limits<T> {};
template <class T> struct numeric_limits<volatile T> : numeric_limits<T> {};
template <class T> struct numeric_limits<const volatile T> : numeric_limits<T> {};

template <class T>
    requires(__is_integral(T) && !__is_const(T) && !__is_volatile(T))
struct _numeric_limits_impl<T> : __limits<T> {
    static constexpr constant bool is_specialized = true, is_signed = (T)-1 < (T)0,
                                   is_integer = true, is_exact = true, is_bounded = true,
                                   is_modulo = !is_signed;
    static constexpr constant int radix = 2;
    static constexpr constant int digits = __is_same(T, bool) ? 1 : 8 * sizeof(T) - is_signed;
    static constexpr constant int digits10 = digits * 30103 / 100000;
    static METAL_FUNC constexpr T max() {
        if constexpr (__is_same(T, bool)) return true;
        else if constexpr (!is_signed) return (T)~(T)0;
        else return (T)((((T)1 << (digits - 1)) - 1) * 2 + 1);
    }
    static METAL_FUNC constexpr T min() {
        if constexpr (!is_signed) return (T)0;
        else return (T)(-max() - 1);
    }
    static METAL_FUNC constexpr T lowest() { return min(); }
};
#define __MSL_L(T, P, DIG10, MAXDIG10) \
    template <> struct _numeric_limits_impl<T> : __limits<T> { \
        static constexpr constant bool is_specialized = true, is_signed = true, \
                                       has_infinity = true, has_quiet_NaN = true, \
                                       has_signaling_NaN = true, is_iec559 = true, is_bounded = true; \
        static constexpr constant int radix = 2, digits = P##_MANT_DIG, digits10 = DIG10, \
                                      max_digits10 = MAXDIG10, min_exponent = P##_MIN_EXP, \
                                      min_exponent10 = P##_MIN_10_EXP, max_exponent = P##_MAX_EXP, \
                                      max_exponent10 = P##_MAX_10_EXP; \
        static constexpr constant float_denorm_style has_denorm = denorm_present; \
        static constexpr constant float_round_style round_style = round_to_nearest; \
        static METAL_FUNC constexpr T min() { return P##_MIN; } \
        static METAL_FUNC constexpr T max() { return P##_MAX; } \
        static METAL_FUNC constexpr T lowest() { return -P##_MAX; } \
        static METAL_FUNC constexpr T epsilon() { return P##_EPSILON; } \
        static METAL_FUNC constexpr T round_error() { return (T)0.5f; } \
        static METAL_FUNC constexpr T infinity() { return (T)__builtin_inff(); } \
        static METAL_FUNC constexpr T quiet_NaN() { return (T)__builtin_nanf(""); } \
        static METAL_FUNC constexpr T signaling_NaN() { return (T)__builtin_nanf(""); } \
        static METAL_FUNC constexpr T denorm_min() { return (T)(P##_MIN * P##_EPSILON); } \
    };
__MSL_L(float, FLT, 6, 9)
__MSL_L(half, HALF, 3, 5)
__MSL_L(bfloat, BFLT, 2, 4)
#undef __MSL_L
} // namespace metal
