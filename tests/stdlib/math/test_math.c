// SPDX-License-Identifier: Apache-2.0
// test_math: the kernels of the maths library against the C library in double precision.
// Functions of one argument: edge values and every 16381st float against the bounds of
// math_functions.def (math_sweep does the same over all floats). Functions of two: all pairs of
// edge values, and pseudo-random pairs. Exact functions must agree to the bit.
#include <limits.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <cmocka.h>

#include "math_functions.h"

static const uint32_t edges[] = {
    0x00000000, 0x80000000, 0x00000001, 0x80000001, 0x007fffff, 0x00800000, 0x80800000, 0x33000000,
    0x33800000, 0x3e99999a, 0x3effffff, 0x3f000000, 0xbf000000, 0x3f000001, 0x3f3504f3, 0x3f490fdb,
    0x3f7fffff, 0x3f800000, 0xbf800000, 0x3f800001, 0x3fc00000, 0xbfc00000, 0x3fc90fdb, 0x40000000,
    0xc0000000, 0x40200000, 0xc0200000, 0x40400000, 0xc0400000, 0x40490fdb, 0xc0490fdb, 0x40c90fdb,
    0x42b17217, 0x42b17218, 0xc2aeac50, 0xc2cff1b5, 0x43000000, 0xc3150000, 0x47c35000, 0x48000000,
    0x4a7fffff, 0x4a800001, 0x4affffff, 0x4b000000, 0x4b000001, 0x4b800000, 0x4b800001, 0xcb800001,
    0x501502f9, 0x5f000000, 0x7149f2ca, 0x7e800000, 0x7f7fffff, 0xff7fffff, 0x7f800000, 0xff800000,
    0x7fc00000, 0x7f800001, 0xffc00000, 0x3dcccccd, 0x2f800000, 0xb0000000, 0x0da24260, 0x8da24260,
};
enum { N_EDGES = sizeof edges / sizeof *edges };

// Numerical Recipes' quick generator: the tests need spread, not quality.
static uint32_t random_state;
static uint32_t random_bits(void) {
    uint32_t r = 0;
    for (int i = 0; i < 2; i++) {
        random_state = random_state * 1664525u + 1013904223u;
        r = r << 16 | random_state >> 16;
    }
    return r;
}
// Between 2^-span and 2^span, either sign.
static float random_float(int span) {
    float m = 1 + (float)(random_bits() >> 9) * 0x1p-23f;
    int e = (int)(random_bits() % (unsigned)(2 * span)) - span;
    return ldexpf(random_bits() & 1 ? -m : m, e);
}

static int same(float a, float b) { return bits_of(a) == bits_of(b) || (isnan(a) && isnan(b)); }
#define expect_same(got, want, x, y)                                                               \
    do {                                                                                           \
        float got_ = (got), want_ = (want);                                                        \
        if (!same(got_, want_)) {                                                                  \
            fail_msg("%s at (%a, %a): %a, expected %a", #got, (double)(x), (double)(y),            \
                     (double)got_, (double)want_);                                                 \
        }                                                                                          \
    } while (0)

static void check_one(const function *f, float x) {
    double want = f->reference((double)x);
    double error = ulp_error(f->precise(x), want);
    if (!(error <= f->ulp_precise)) {
        fail_msg("precise::%s(%a) = %a, expected %a: %g ulp, at most %g allowed", f->name,
                 (double)x, (double)f->precise(x), want, error, f->ulp_precise);
    }
    float ax = fabsf(x), fast = f->fast(x);
    if (!(ax >= f->lo_fast && ax <= f->hi_fast) || fabs((double)fast - want) <= f->abs_fast) {
        return;
    }
    error = ulp_error(fast, want);
    if (!(error <= f->ulp_fast)) {
        fail_msg("fast::%s(%a) = %a, expected %a: %g ulp, at most %g allowed", f->name, (double)x,
                 (double)fast, want, error, f->ulp_fast);
    }
}

static void test_one_argument(void **state) {
    (void)state;
    for (size_t i = 0; i < sizeof functions / sizeof *functions; i++) {
        for (size_t e = 0; e < N_EDGES; e++) {
            check_one(&functions[i], float_of(edges[e]));
        }
        for (uint64_t u = 0; u <= UINT32_MAX; u += 16381) {
            check_one(&functions[i], float_of((uint32_t)u));
        }
    }
}

// Correctly rounded: all significands at both parities of the exponent, the rest is scaling.
static void test_rsqrt_correctly_rounded(void **state) {
    (void)state;
    for (uint32_t u = 0x3f800000; u < 0x40800000; u++) {
        float x = float_of(u), r = __ig_rsqrt(x);
        long double want = 1 / sqrtl((long double)x);
        if (fabsl((long double)r - want) > 0.5L * (long double)ulp_of((double)want)) {
            fail_msg("rsqrt(%a) = %a is not the nearest float", (double)x, (double)r);
        }
    }
}

// The specification bounds the fast variants in absolute terms far from zero, but they must stay
// bounded for every argument.
static void test_fast_sin_cos_bounded(void **state) {
    (void)state;
    for (uint64_t u = 0; u < 0x7f800000; u += 65521) {
        float x = float_of((uint32_t)u);
        assert_true(fabsf(__ig_sin_fast(x)) <= 1.000001f);
        assert_true(fabsf(__ig_cos_fast(x)) <= 1.000001f);
        double off = fmax(fabs((double)__ig_sin_fast(x) - sin((double)x)),
                          fabs((double)__ig_cos_fast(x) - cos((double)x)));
        assert_true(x > 1e6f || off < 0x1p-13);
    }
}

static int signalling(float x) { return isnan(x) && (bits_of(x) & 0x00400000) == 0; }

static double ref_pow(double x, double y) { return pow(x, y); }

static void check_two(float x, float y) {
    double want = ref_pow((double)x, (double)y);
    double error = ulp_error(__ig_pow(x, y), want);
    if (!(error <= 8)) { // the specification allows 16
        fail_msg("pow(%a, %a) = %a, expected %a: %g ulp", (double)x, (double)y,
                 (double)__ig_pow(x, y), want, error);
    }
    if (x >= 0 && !signbit(x)) {
        expect_same(__ig_powr(x, y), __ig_pow(x, y), x, y);
    } else if (x != 0) {
        assert_true(isnan(__ig_powr(x, y)));
    }
    want = atan2((double)y, (double)x);
    error = ulp_error(__ig_atan2(y, x), want);
    if (!(error <= 3)) {
        fail_msg("atan2(%a, %a) = %a, expected %a: %g ulp", (double)y, (double)x,
                 (double)__ig_atan2(y, x), want, error);
    }
    error = ulp_error(__ig_atan2_fast(y, x), want);
    if (!isnan(x) && !isnan(y) && !(error <= 5)) {
        fail_msg("fast::atan2(%a, %a) = %a, expected %a: %g ulp", (double)y, (double)x,
                 (double)__ig_atan2_fast(y, x), want, error);
    }
    expect_same(__ig_fmod(x, y), fmodf(x, y), x, y);
    if (isfinite(x) && y != 0 && fabs((double)x / (double)y) < 0x1p22) {
        expect_same(__ig_fmod_fast(x, y), fmodf(x, y), x, y);
    }
    expect_same(__ig_fdim(x, y), isnan(x) || isnan(y) ? NAN : fdimf(x, y), x, y);
    expect_same(__ig_copysign(x, y), copysignf(x, y), x, y);
    expect_same(__ig_nextafter(x, y), nextafterf(x, y), x, y);
    // Of two zeros either may come back; a signalling NaN may become a quiet one.
    if (x != y && !signalling(x) && !signalling(y)) {
        expect_same(__ig_fmax(x, y), isnan(x) ? y : isnan(y) ? x : x > y ? x : y, x, y);
        expect_same(__ig_fmin(x, y), isnan(x) ? y : isnan(y) ? x : x < y ? x : y, x, y);
    }
}

static void test_two_arguments(void **state) {
    (void)state;
    for (size_t i = 0; i < N_EDGES; i++) {
        for (size_t j = 0; j < N_EDGES; j++) {
            check_two(float_of(edges[i]), float_of(edges[j]));
        }
    }
    random_state = 1;
    for (int i = 0; i < 500000; i++) {
        check_two(random_float(4), random_float(8)); // powers in range
        check_two(random_float(120), random_float(3));
        check_two(random_float(120), random_float(120));
        check_two(float_of(random_bits()), float_of(random_bits()));
    }
}

static void check_exact(float x) {
    int want_e, k;
    float want = frexpf(x, &want_e);
    __ig_float_int got = __ig_frexp(x);
    expect_same(got.a, want, x, 0);
    assert_int_equal(got.i, isfinite(x) && x != 0 ? want_e : 0);
    int logb_want = isnan(x) || x == 0 ? INT_MIN : isinf(x) ? INT_MAX : ilogbf(x);
    assert_int_equal(__ig_ilogb(x), logb_want);
    float whole;
    want = modff(x, &whole);
    __ig_pair parts = __ig_modf(x);
    expect_same(parts.a, want, x, 0);
    expect_same(parts.b, whole, x, 0);
    expect_same(__ig_fabs(x), fabsf(x), x, 0);
    expect_same(__ig_floor(x), floorf(x), x, 0);
    expect_same(__ig_ceil(x), ceilf(x), x, 0);
    expect_same(__ig_trunc(x), truncf(x), x, 0);
    expect_same(__ig_rint(x), rintf(x), x, 0);
    expect_same(__ig_sqrt(x), (float)sqrt((double)x), x, 0);
    for (k = -310; k <= 310; k += 5) {
        expect_same(__ig_ldexp(x, k), ldexpf(x, k), x, k);
    }
    expect_same(__ig_ldexp(x, INT_MIN), ldexpf(x, -1000), x, INT_MIN);
    expect_same(__ig_ldexp(x, INT_MAX), ldexpf(x, 1000), x, INT_MAX);
}

static void test_exact(void **state) {
    (void)state;
    for (size_t i = 0; i < N_EDGES; i++) {
        check_exact(float_of(edges[i]));
    }
    random_state = 2;
    for (int i = 0; i < 20000; i++) {
        check_exact(float_of(random_bits()));
        check_exact((float)(int)(random_bits() % 4001 - 2000) * 0.25f);
        for (int k = -155; k < -120; k++) { // into the denormals
            float m = fabsf(random_float(1));
            expect_same(__ig_ldexp(m, k), ldexpf(m, k), m, k);
        }
    }
}

// Halves of every class, as floats.
static float random_half(void) {
    float x = random_float(15);
    return float_of(bits_of(x) & 0xffffe000u);
}

// The distance of halves around v, and v rounded to half, in double arithmetic.
static double half_ulp(double v) {
    int e;
    frexp(v, &e);
    return ldexp(1, (e < -13 ? -13 : e > 16 ? 16 : e) - 11);
}
static double round_to_half(double v) {
    if (!isfinite(v) || fabs(v) >= 65520) {
        return isnan(v) ? v : copysign(INFINITY, v);
    }
    double unit = half_ulp(v);
    return copysign(rint(fabs(v) / unit) * unit, v);
}

// Functions of half compute with the fast kernels; the specification allows one ulp of a half.
static void test_every_half(void **state) {
    (void)state;
    for (size_t i = 0; i < sizeof functions / sizeof *functions; i++) {
        const function *f = &functions[i];
        for (int u = 0; u < 0x10000; u++) {
            int e = u >> 10 & 31, m = u & 1023;
            double x = e == 31 ? (m ? NAN : INFINITY) : e ? ldexp(1024 + m, e - 25) : ldexp(m, -24);
            x = u & 0x8000 ? -x : x;
            double want = f->reference(x), got = round_to_half((double)f->fast((float)x));
            double error = fabs(got - want) / half_ulp(want);
            int right = isnan(want)  ? isnan(got)
                        : isinf(got) ? fabs(want) >= 65504 && !signbit(got) == !signbit(want)
                                     : error <= 1 && (got != 0 || !signbit(got) == !signbit(want));
            if (!right) {
                fail_msg("%s(half %a) = %a, expected %a: %g ulp", f->name, x, got, want, error);
            }
        }
    }
}

// Rounding the odd-rounded sum to half equals rounding the exact sum, which fits a long double's 64
// bits whenever the exponents of product and addend are close enough to matter.
static void test_fma_of_halves(void **state) {
    (void)state;
    random_state = 3;
    int close_calls = 0;
    for (int i = 0; i < 400000; i++) {
        float a = random_half(), b = random_half(), c = random_half();
        if (i % 2) { // an addend half an ulp below the product makes ties and near-ties
            float p = a * b;
            a = float_of(bits_of(a) & 0xffffe000u);
            c = ldexpf(random_bits() & 1 ? 1.0f : -1.0f,
                       ilogbf(p) - 11 - (int)(random_bits() % 12));
        }
        long double exact = (long double)a * (long double)b + (long double)c;
        if ((double)exact != exact || fabsl(exact) > 65000) {
            continue;
        }
        float odd = __ig_fma_odd(a, b, c);
        close_calls += round_to_half((double)(float)exact) != round_to_half((double)exact);
        if (round_to_half((double)odd) != round_to_half((double)exact)) {
            fail_msg("fma(%a, %a, %a) = %a, exactly %a", (double)a, (double)b, (double)c,
                     (double)odd, (double)exact);
        }
    }
    assert_true(close_calls > 0); // the plain sum rounds some of these twice
    assert_true(isnan(__ig_fma_odd(INFINITY, 0.0f, 1.0f)));
    assert_true(isinf(__ig_fma_odd(INFINITY, 1.0f, 1.0f)));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_one_argument),
        cmocka_unit_test(test_rsqrt_correctly_rounded),
        cmocka_unit_test(test_fast_sin_cos_bounded),
        cmocka_unit_test(test_two_arguments),
        cmocka_unit_test(test_exact),
        cmocka_unit_test(test_every_half),
        cmocka_unit_test(test_fma_of_halves),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
