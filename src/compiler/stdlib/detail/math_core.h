// SPDX-License-Identifier: Apache-2.0
// math_core.h: the ground of the maths library: bit access, rounding, minimum and maximum, and the
// functions that are exact (frexp, ldexp, fmod, nextafter, ...).
//
// The math_*.h files below detail/ hold scalar functions on float in the common subset of C17 and
// MSL. The compiler inlines them into kernels and vectorises the result over the threads of a
// SIMD-group; tests/stdlib/math compiles the same text as C and compares it with a reference over
// every float. Hence the rules they follow:
//  - no branches but rare ones (huge arguments), no tables, no calls of libm, 32-bit integers where
//    the hot path is; both sides of a `?:` are computed values, and conditions are joined with &
//    and |, so that they become selects;
//  - signs are set with integer operations and NaNs come from arithmetic, so that relaxed flags on
//    floating-point operations (nsz, arcp, contract) cannot change an edge case;
//  - __IG_STRICT opens every function whose arithmetic relies on the order of operations.
#ifndef INGOT_MATH_CORE_H
#define INGOT_MATH_CORE_H

#ifdef __METAL_VERSION__
#define __IG_FN static constexpr inline __attribute__((always_inline))
#else
#define __IG_FN static inline __attribute__((unused))
#endif

#ifdef __clang__
#define __IG_STRICT _Pragma("clang fp contract(off) reassociate(off) reciprocal(off)")
#else
#define __IG_STRICT // built with -ffp-contract=off
#endif

#ifdef __METAL_VERSION__
#define __ig_as_float(u) __builtin_bit_cast(float, (unsigned)(u))
#define __ig_as_uint(f) __builtin_bit_cast(unsigned, (float)(f))
#define __ig_as_int(f) __builtin_bit_cast(int, (float)(f))
#define __ig_fma(a, b, c) __builtin_elementwise_fma(a, b, c)
#define __ig_sqrt(x) __builtin_elementwise_sqrt(x)
#define __ig_floor(x) __builtin_elementwise_floor(x)
#define __ig_ceil(x) __builtin_elementwise_ceil(x)
#define __ig_trunc(x) __builtin_elementwise_trunc(x)
#define __ig_rint(x) __builtin_elementwise_roundeven(x)
#else
typedef union {
    unsigned u;
    float f;
} __ig_bits;
__IG_FN float __ig_as_float(unsigned u) { return ((__ig_bits){.u = u}).f; }
__IG_FN unsigned __ig_as_uint(float f) { return ((__ig_bits){.f = f}).u; }
__IG_FN int __ig_as_int(float f) { return (int)__ig_as_uint(f); }
#define __ig_fma(a, b, c) __builtin_fmaf(a, b, c)
#define __ig_sqrt(x) __builtin_sqrtf(x)
#define __ig_floor(x) __builtin_floorf(x)
#define __ig_ceil(x) __builtin_ceilf(x)
#define __ig_trunc(x) __builtin_truncf(x)
#define __ig_rint(x) __builtin_rintf(x)
#endif

// a x^(n-1) + b x^(n-2) + ... by Horner's rule, of n coefficients. x is a variable: each step reads it.
#define __ig_poly2(x, a, b) __ig_fma(a, x, b)
#define __ig_poly3(x, a, b, ...) __ig_poly2(x, __ig_fma(a, x, b), __VA_ARGS__)
#define __ig_poly4(x, a, b, ...) __ig_poly3(x, __ig_fma(a, x, b), __VA_ARGS__)
#define __ig_poly5(x, a, b, ...) __ig_poly4(x, __ig_fma(a, x, b), __VA_ARGS__)
#define __ig_poly6(x, a, b, ...) __ig_poly5(x, __ig_fma(a, x, b), __VA_ARGS__)
#define __ig_poly7(x, a, b, ...) __ig_poly6(x, __ig_fma(a, x, b), __VA_ARGS__)
#define __ig_poly8(x, a, b, ...) __ig_poly7(x, __ig_fma(a, x, b), __VA_ARGS__)
#define __ig_poly9(x, a, b, ...) __ig_poly8(x, __ig_fma(a, x, b), __VA_ARGS__)

#define __IG_SIGN 0x80000000u
#define __IG_INF __ig_as_float(0x7f800000u)
#define __IG_NAN __ig_as_float(0x7fc00000u)
// 1.5 * 2^23: adding it rounds to an integer that then stands in the low bits. Used instead of a
// conversion because converting a NaN or a huge float to int is undefined.
#define __IG_MAGIC 12582912.0f
#define __IG_MAGIC_BITS 0x4b400000u

typedef unsigned long __ig_u64; // in this dialect long long has 128 bits

// Two results in one; pointers would need an address space.
typedef struct {
    float a, b;
} __ig_pair;
typedef struct {
    float a;
    int i;
} __ig_float_int;

__IG_FN float __ig_fabs(float x) { return __ig_as_float(__ig_as_uint(x) & 0x7fffffffu); }

__IG_FN int __ig_isnan(float x) { return (__ig_as_uint(x) & 0x7fffffffu) > 0x7f800000u; }

__IG_FN float __ig_copysign(float x, float y) {
    return __ig_as_float((__ig_as_uint(x) & 0x7fffffffu) | (__ig_as_uint(y) & __IG_SIGN));
}

// Flips the sign of x where `sign` has its top bit set.
__IG_FN float __ig_xorsign(float x, unsigned sign) {
    return __ig_as_float(__ig_as_uint(x) ^ (sign & __IG_SIGN));
}

// Half away from zero. 0x1.fffffep-2 is the largest float below a half: adding a half itself would
// round 0.49999997 up.
__IG_FN float __ig_round(float x) {
    __IG_STRICT
    return __ig_trunc(x + __ig_copysign(0x1.fffffep-2f, x));
}

// The larger/smaller argument; the other one where one is NaN. The compiler's own operation is used
// because it needs one instruction where an argument is known not to be NaN: max(x, 0.0f).
__IG_FN float __ig_fmax(float x, float y) { return __builtin_fmaxf(x, y); }
__IG_FN float __ig_fmin(float x, float y) { return __builtin_fminf(x, y); }
__IG_FN float __ig_fdim(float x, float y) {
    __IG_STRICT
    float d = x - y;
    return x <= y ? 0.0f : d;
}

// In [0, 1): x - floor(x) rounds up to 1 for small negative x. NaN stays NaN.
__IG_FN float __ig_fract(float x) {
    __IG_STRICT
    float f = x - __ig_floor(x);
    return f > 0x1.fffffep-1f ? 0x1.fffffep-1f : f;
}

// 2^n for n in [-126, 127].
__IG_FN float __ig_exp2i(int n) { return __ig_as_float((unsigned)(n + 127) << 23); }

// x * 2^n, rounded once, for |n| <= 252 and x in [0.25, 4): the first product is exact. The biases of
// both exponents go into one sum, which folds into the one that made n.
__IG_FN float __ig_scale(float x, int n) {
    __IG_STRICT
    unsigned both = (unsigned)n + 254u, first = both >> 1;
    return (x * __ig_as_float(first << 23)) * __ig_as_float((both - first) << 23);
}

// x * 2^k for any k and x, correctly rounded. Three factors reach from the largest float below the
// smallest one. A factor that leaves a remainder is 2^-102 at least: what it makes denormal ends
// below half the smallest denormal, so that no result is rounded twice.
__IG_FN float __ig_ldexp(float x, int k) {
    __IG_STRICT
    int a = k < -126 ? -102 : (k > 127 ? 127 : k);
    k = k < -400 ? -400 : (k > 400 ? 400 : k);
    k -= a;
    int b = k < -126 ? -102 : (k > 127 ? 127 : k);
    k -= b;
    int c = k < -126 ? -126 : (k > 127 ? 127 : k);
    return x * __ig_exp2i(a) * __ig_exp2i(b) * __ig_exp2i(c);
}

// x = m * 2^e with |m| in [0.5, 1); zero, infinities and NaN give themselves and 0.
__IG_FN __ig_float_int __ig_frexp(float x) {
    unsigned u = __ig_as_uint(x);
    int denormal = (u & 0x7f800000u) == 0;
    unsigned v = denormal ? __ig_as_uint(x * 0x1p24f) : u;
    unsigned field = (v >> 23) & 0xffu;
    int special = (field == 0) | (field == 0xffu);
    int e = (int)field - 126 - (denormal ? 24 : 0);
    __ig_float_int r;
    r.a = special ? x : __ig_as_float((v & 0x807fffffu) | 0x3f000000u);
    r.i = special ? 0 : e;
    return r;
}

// floor(log2|x|); INT_MIN for zero and NaN, INT_MAX for infinities.
__IG_FN int __ig_ilogb(float x) {
    unsigned u = __ig_as_uint(x) & 0x7fffffffu;
    int denormal = u < 0x00800000u;
    unsigned v = denormal ? __ig_as_uint(__ig_as_float(u) * 0x1p24f) : u;
    int e = (int)(v >> 23) - 127 - (denormal ? 24 : 0);
    e = u == 0x7f800000u ? 2147483647 : e;
    return ((u == 0) | (u > 0x7f800000u)) ? -2147483647 - 1 : e;
}

// Fraction and whole part, both with the sign of x; the fraction of an infinity is zero.
__IG_FN __ig_pair __ig_modf(float x) {
    __IG_STRICT
    float whole = __ig_trunc(x);
    float rest = x - whole;
    rest = __ig_fabs(x) == __IG_INF ? 0.0f : rest;
    __ig_pair r;
    r.a = __ig_copysign(rest, x);
    r.b = whole;
    return r;
}

__IG_FN float __ig_nextafter(float x, float y) {
    unsigned u = __ig_as_uint(x);
    unsigned away = (x < y) == (u < __IG_SIGN); // the magnitude grows
    unsigned next = away ? u + 1 : u - 1;
    next = ((u & 0x7fffffffu) == 0) ? (__ig_as_uint(y) & __IG_SIGN) | 1u : next;
    float r = x == y ? y : __ig_as_float(next);
    return (__ig_isnan(x) | __ig_isnan(y)) ? __IG_NAN : r;
}

// One step of the remainder of nonnegative x by y, exact while x / y < 2^23: the rounded quotient
// is the whole quotient or one too many.
__IG_FN float __ig_rem_step(float x, float y) {
    __IG_STRICT
    float q = __ig_trunc(x / y);
    float r = __ig_fma(-q, y, x);
    float up = r + y;
    r = r < 0.0f ? up : r;
    return r;
}

// The exact remainder. A quotient beyond 2^22 is taken off 22 bits at a time (the rare branch): y
// is scaled by a power of two, which does not change remainders; 13 rounds cover the 277 bits
// between the largest and the smallest float.
__IG_FN float __ig_fmod(float x, float y) {
    __IG_STRICT
    float ax = __ig_fabs(x), ay = __ig_fabs(y);
    float r = ax;
    if ((ax > ay * 0x1p22f) & (ax < __IG_INF) & (ay > 0.0f)) {
        // Scaled up so that y is normal: then multiples of it by powers of two are exact.
        int down = ay < 0x1p-100f ? 24 : 0;
        float sy = ay * (down ? 0x1p24f : 1.0f);
        int ey = (int)(__ig_as_uint(sy) >> 23) - down;
        for (int i = 0; i < 13; i++) {
            int tiny = r < 0x1p-100f;
            int er = (int)(__ig_as_uint(tiny ? r * 0x1p24f : r) >> 23) - (tiny ? 24 : 0);
            int k = er - ey - 21;
            k = k < 0 ? 0 : k;
            // y * 2^k <= r, so no overflow
            float scaled = sy * __ig_exp2i(k >> 1) * __ig_exp2i(k - (k >> 1) - down);
            float next = __ig_rem_step(r, scaled);
            r = r >= scaled ? next : r;
        }
    } else {
        float next = __ig_rem_step(ax, ay);
        r = ax < ay ? ax : next; // also for an infinite y
    }
    r = ((ay == 0.0f) | (ax == __IG_INF) | __ig_isnan(y)) ? __IG_NAN : r;
    return __ig_as_float(__ig_as_uint(r) | (__ig_as_uint(x) & __IG_SIGN));
}
// For quotients below 2^23.
__IG_FN float __ig_fmod_fast(float x, float y) {
    __IG_STRICT
    float ax = __ig_fabs(x), ay = __ig_fabs(y);
    float next = __ig_rem_step(ax, ay);
    float r = ax < ay ? ax : next;
    return __ig_as_float(__ig_as_uint(r) | (__ig_as_uint(x) & __IG_SIGN));
}

// a * b + c for values that halves can hold, rounded to odd: rounding the result to half then gives
// the correctly rounded half. The product is exact; err is what the sum loses.
__IG_FN float __ig_fma_odd(float a, float b, float c) {
    __IG_STRICT
    float p = a * b, s = p + c;
    float part = s - p;
    float err = (p - (s - part)) + (c - part);
    unsigned u = __ig_as_uint(s);
    unsigned grow = (err > 0.0f) == (s > 0.0f);
    unsigned moved = grow ? u | 1u : u - (~u & 1u);
    return ((err > 0.0f) | (err < 0.0f)) ? __ig_as_float(moved) : s;
}

// Correctly rounded: the quotient is off by less than an ulp, and one step with the exact residual
// 1 - x r^2 settles it.
__IG_FN float __ig_rsqrt(float x) {
    __IG_STRICT
    float r = 1.0f / __ig_sqrt(x);
    float h = x * r;
    float l = __ig_fma(x, r, -h);
    float e = __ig_fma(-l, r, __ig_fma(-h, r, 1.0f));
    e = __ig_fma(0.75f * e, e, e); // 1 / sqrt(1 - e) = 1 + e / 2 + 3 e^2 / 8: one float needs it
    float better = __ig_fma(0.5f * r, e, r);
    return ((x > 0.0f) & (x < __IG_INF)) ? better : r;
}
__IG_FN float __ig_rsqrt_fast(float x) { return 1.0f / __ig_sqrt(x); }

#endif
