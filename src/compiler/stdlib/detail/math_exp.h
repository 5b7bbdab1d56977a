// SPDX-License-Identifier: Apache-2.0
// math_exp.h: exponentials, logarithms, powers and hyperbolic functions (rules: math_core.h).
//
// Method: the argument is split into n * log(2) + r, the polynomial in r is minimax for the single
// precision coefficients used (computed with Sollya's fpminimax), and 2^n goes in through the
// exponent. Denormal arguments and results are exact in the same sense as normal ones.
#ifndef INGOT_MATH_EXP_H
#define INGOT_MATH_EXP_H

#include "math_core.h"

// x = n * step + r with |r| <= step / 2: r in .a, n in .i. The step is -(hi + lo), with hi so short that
// the first product is exact.
__IG_FN __ig_float_int __ig_exp_split(float x, float per_step, float hi, float lo) {
    __IG_STRICT
    float t = __ig_fma(x, per_step, __IG_MAGIC);
    __ig_float_int s;
    s.i = (int)(__ig_as_uint(t) - __IG_MAGIC_BITS);
    t = t - __IG_MAGIC;
    s.a = __ig_fma(t, hi, x);
    s.a = __ig_fma(t, lo, s.a);
    return s;
}
// In steps of ln 2, which has 24 bits here: r needs no more.
__IG_FN __ig_float_int __ig_exp_split_e(float x) {
    return __ig_exp_split(x, 1.44269504f, -0x1.62e430p-1f, 0x1.05c610p-29f);
}

// e^x * 2^adjust for x in [-104, 90]. relative error of the polynomial 2^-28.2 on |r| <= ln2 / 2.
__IG_FN float __ig_exp_kernel(float x, int adjust) {
    __IG_STRICT
    __ig_float_int split = __ig_exp_split_e(x);
    float r = split.a;
    int n = split.i + adjust;
    float p = __ig_poly7(r, 1.38232415e-3f, 8.36882740e-3f, 4.16682400e-2f, 0.166665196f, 0.499999940f, 1.0f, 1.0f);
    return __ig_scale(p, n);
}

__IG_FN float __ig_exp(float x) {
    x = x < -104.0f ? -104.0f : x; // NaN passes both
    x = x > 89.0f ? 89.0f : x;
    return __ig_exp_kernel(x, 0);
}

// One term less: 2^-23.4.
__IG_FN float __ig_exp_fast(float x) {
    __IG_STRICT
    x = x < -104.0f ? -104.0f : x;
    x = x > 89.0f ? 89.0f : x;
    __ig_float_int split = __ig_exp_split_e(x);
    float r = split.a;
    int n = split.i;
    float p = __ig_poly6(r, 8.28986429e-3f, 4.18985635e-2f, 0.166676477f, 0.499991447f, 0.999999702f, 1.0f);
    return __ig_scale(p, n);
}

// 2^r on |r| <= 0.5, relative error 2^-28.
__IG_FN float __ig_exp2_poly(float r) {
    __IG_STRICT
    float p = __ig_poly6(r, 1.52449953e-4f, 1.33916840e-3f, 9.61882621e-3f, 5.55035807e-2f, 0.240226448f, 0.693147182f);
    return __ig_fma(p, r, 1.0f);
}

// x = n + r, exact: r in .a, n in .i.
__IG_FN __ig_float_int __ig_exp2_split(float x) {
    __IG_STRICT
    x = x < -151.0f ? -151.0f : x;
    x = x > 129.0f ? 129.0f : x;
    float t = x + __IG_MAGIC;
    __ig_float_int s;
    s.i = (int)(__ig_as_uint(t) - __IG_MAGIC_BITS);
    s.a = x - (t - __IG_MAGIC);
    return s;
}

__IG_FN float __ig_exp2(float x) {
    __ig_float_int s = __ig_exp2_split(x);
    return __ig_scale(__ig_exp2_poly(s.a), s.i);
}

__IG_FN float __ig_exp2_fast(float x) {
    __IG_STRICT
    __ig_float_int s = __ig_exp2_split(x);
    float r = s.a;
    // 2^-23.3
    float p = __ig_poly6(r, 1.32751057e-3f, 9.67176538e-3f, 5.55069931e-2f, 0.240222380f, 0.693147004f, 1.0f);
    return __ig_scale(p, s.i);
}

__IG_FN float __ig_exp10(float x) {
    __IG_STRICT
    x = x < -45.5f ? -45.5f : x;
    x = x > 39.0f ? 39.0f : x;
    __ig_float_int split = __ig_exp_split(x, 3.32192809f, -0x1.344136p-2f, 0x1.ec10c0p-27f);
    float r = split.a;
    float p = __ig_poly7(r, 0.205368638f, 0.541837573f, 1.17132342f, 2.03465581f, 2.65094852f, 2.30258512f, 1.0f);
    return __ig_scale(p, split.i);
}

// x > 0 as 2^e * (1 + f) with 1 + f in [2/3, 4/3); f is exact.
__IG_FN __ig_pair __ig_log_split(float x) {
    __IG_STRICT
    int denormal = x < 0x1p-126f;
    float up = x * 0x1p23f;
    unsigned u = __ig_as_uint(denormal ? up : x);
    int d = (int)(u - 0x3f2aaaabu) >> 23;
    __ig_pair r;
    r.a = __ig_as_float(u - ((unsigned)d << 23)) - 1.0f;
    r.b = (float)(denormal ? d - 23 : d);
    return r;
}

// The answer at the edges: -inf at 0, NaN below, x itself at infinity and NaN.
__IG_FN float __ig_log_edges(float x, float r) {
    float edge = x == 0.0f ? -__IG_INF : (x < 0.0f ? __IG_NAN : x);
    return ((x > 0.0f) & (x < __IG_INF)) ? r : edge;
}

// ln(2^e (1 + f)), relative error of the polynomial 2^-27.7.
__IG_FN float __ig_log_kernel(float f, float e) {
    __IG_STRICT
    float p = __ig_poly9(f, -0.128935441f, 0.139877006f, -0.121838920f, 0.140051827f, -0.166805089f, 0.200104505f, -0.249997973f, 0.333332151f, -0.5f);
    p = __ig_fma(f * f, p, f);
    p = __ig_fma(e, -0x1.05c610p-29f, p);
    return __ig_fma(e, 0x1.62e430p-1f, p);
}

__IG_FN float __ig_log(float x) {
    __ig_pair s = __ig_log_split(x);
    return __ig_log_edges(x, __ig_log_kernel(s.a, s.b));
}

// 2^-25.2 and no second term of ln 2.
__IG_FN float __ig_log_fast(float x) {
    __IG_STRICT
    __ig_pair s = __ig_log_split(x);
    float f = s.a;
    float p = __ig_poly8(f, 0.140197620f, -0.153843343f, 0.139972955f, -0.164169297f, 0.200110659f, -0.250077516f, 0.333332002f, -0.499999374f);
    p = __ig_fma(f * f, p, f);
    return __ig_log_edges(x, __ig_fma(s.b, 0x1.62e430p-1f, p));
}

// e + log2(1 + f): the linear term with log2(e) in two parts.
__IG_FN float __ig_log2(float x) {
    __IG_STRICT
    __ig_pair s = __ig_log_split(x);
    float f = s.a;
    // 2^-27.5
    float p = __ig_poly9(f, -0.184329838f, 0.202090085f, -0.176210091f, 0.201984689f, -0.240611494f, 0.288694680f, -0.360672027f, 0.480896533f, -0.721347511f);
    float q = __ig_fma(f * f, p, f * 0x1.4ae0c0p-26f);
    float h = f * 0x1.715476p+0f;
    q = q + __ig_fma(f, 0x1.715476p+0f, -h);
    float sum = s.b + h; // |e| >= 1 > |h| or e = 0: the rest below is exact
    q = q + (h - (sum - s.b));
    return __ig_log_edges(x, sum + q);
}

__IG_FN float __ig_log2_fast(float x) {
    __IG_STRICT
    __ig_pair s = __ig_log_split(x);
    float f = s.a;
    // 2^-24.7
    float p = __ig_poly9(f, 0.198076114f, -0.222171322f, 0.202972487f, -0.236798093f, 0.288614094f, -0.360788763f, 0.480898947f, -0.721346557f, 1.44269502f);
    return __ig_log_edges(x, __ig_fma(p, f, s.b));
}

__IG_FN float __ig_log10(float x) {
    __IG_STRICT
    __ig_pair s = __ig_log_split(x);
    float f = s.a;
    // 2^-27.7
    float p = __ig_poly9(f, -5.62047400e-2f, 6.08123876e-2f, -5.28495125e-2f, 6.08086884e-2f, -7.24496245e-2f, 8.69053826e-2f, -0.108572416f, 0.144764289f, -0.217147246f);
    float q = __ig_fma(f * f, p, f * -0x1.5b235ep-27f);
    q = __ig_fma(s.b, -0x1.ec10c0p-27f, q);
    float h = __ig_fma(f, 0x1.bcb7b2p-2f, q);
    return __ig_log_edges(x, __ig_fma(s.b, 0x1.344136p-2f, h));
}
__IG_FN float __ig_log10_fast(float x) { return __ig_log2_fast(x) * 0.301029996f; }

// y * log2(x) for x > 0 as a sum of two floats, relative error about 2^-30: log2(x) is the series
// of 2 atanh(s) / ln 2 in s = (m - 1) / (m + 1), whose quotient and first term are kept in two
// parts.
__IG_FN __ig_pair __ig_ylog2x(float x, float y) {
    __IG_STRICT
    int denormal = x < 0x1p-126f;
    float up = x * 0x1p23f;
    unsigned u = __ig_as_uint(denormal ? up : x);
    int k = (int)(u - 0x3f3504f3u) >> 23; // m in [sqrt(1/2), sqrt(2))
    float m = __ig_as_float(u - ((unsigned)k << 23));
    float e = (float)(denormal ? k - 23 : k);
    float f = m - 1.0f, d = m + 1.0f;
    float dl = m - (d - 1.0f);
    float inv = 1.0f / d;
    float s = f * inv;
    float sl = __ig_fma(-s, dl, __ig_fma(-s, d, f)) * inv;
    float z = s * s;
    // 2^-36
    float p = __ig_poly4(z, 0.336940229f, 0.411906183f, 0.577079058f, 0.961796701f);
    float h = s * 0x1.715476p+1f;
    float l = __ig_fma(s, 0x1.715476p+1f, -h);
    l = l + __ig_fma(sl, 0x1.715476p+1f, s * 0x1.4ae0c0p-25f);
    l = __ig_fma(s * z, p, l);
    float sum = e + h;
    l = l + (h - (sum - e));
    float hi = sum + l;
    float lo = l - (hi - sum);
    __ig_pair r;
    r.a = y * hi;
    r.b = __ig_fma(y, lo, __ig_fma(y, hi, -r.a));
    return r;
}

// |x|^y without the edges of C's pow.
__IG_FN float __ig_pow_magnitude(float ax, float y) {
    __IG_STRICT
    __ig_pair t = __ig_ylog2x(ax, y);
    float h = t.a < -200.0f ? -200.0f : t.a;
    h = h > 200.0f ? 200.0f : h;
    float l = h == t.a ? t.b : 0.0f;
    float big = h + __IG_MAGIC;
    int n = (int)(__ig_as_uint(big) - __IG_MAGIC_BITS);
    float r = (h - (big - __IG_MAGIC)) + l;
    return __ig_scale(__ig_exp2_poly(r), n);
}

// With C's edges: pow(1, y) = pow(x, 0) = 1, odd powers of negative numbers, zeros and infinities.
__IG_FN float __ig_pow(float x, float y) {
    float ax = __ig_fabs(x);
    int whole = __ig_trunc(y) == y;
    int odd = whole & (__ig_trunc(0.5f * y) != 0.5f * y);
    float r = __ig_pow_magnitude(ax, y);
    float extreme = (ax == 0.0f) == (y < 0.0f) ? __IG_INF : 0.0f;
    r = ((ax == 0.0f) | (ax == __IG_INF)) ? extreme : r;
    r = ax == 1.0f ? 1.0f : r;
    int negative = (x < 0.0f) & (ax < __IG_INF);
    r = (negative & (whole == 0)) ? __IG_NAN : r; // an infinite y is whole and even
    r = __ig_xorsign(r, odd ? __ig_as_uint(x) : 0u);
    r = (__ig_isnan(x) | __ig_isnan(y)) ? __IG_NAN : r;
    return ((x == 1.0f) | (y == 0.0f)) ? 1.0f : r;
}

__IG_FN float __ig_powr(float x, float y) {
    float r = __ig_pow_magnitude(x, y);
    float extreme = (x == 0.0f) == (y < 0.0f) ? __IG_INF : 0.0f;
    r = ((x == 0.0f) | (x == __IG_INF)) ? extreme : r;
    r = ((x < 0.0f) | __ig_isnan(x) | __ig_isnan(y)) ? __IG_NAN : r;
    return ((x == 1.0f) | ((y == 0.0f) & (x >= 0.0f))) ? 1.0f : r;
}

__IG_FN float __ig_pow_fast(float x, float y) {
    float r = __ig_exp2_fast(y * __ig_log2_fast(x));
    return y == 0.0f ? 1.0f : r;
}

// (e^x - 1) * 2^adjust for x in [0, 89.5], precise also near 0: 2^n times the polynomial without
// its constant term, plus 2^n - 1.
__IG_FN float __ig_expm1_kernel(float x, int adjust) {
    __IG_STRICT
    __ig_float_int split = __ig_exp_split_e(x);
    float r = split.a;
    int n = split.i + adjust;
    float p = __ig_poly5(r, 1.38642872e-3f, 8.36655591e-3f, 4.16675061e-2f, 0.166665435f, 0.499999970f);
    p = __ig_fma(r * r, p, r);
    float s = __ig_exp2i(n);
    return __ig_fma(s, p, s - __ig_exp2i(adjust));
}

// With t = e^|x| - 1: sinh = (t + t / (t + 1)) / 2. A quarter of t, because t itself may overflow
// where sinh does not.
__IG_FN float __ig_sinh(float x) {
    __IG_STRICT
    float ax = __ig_fabs(x);
    float t = __ig_expm1_kernel(ax > 89.5f ? 89.5f : ax, -2);
    float r = t + t / __ig_fma(4.0f, t, 1.0f);
    return __ig_as_float(__ig_as_uint(r + r) | (__ig_as_uint(x) & __IG_SIGN));
}

__IG_FN float __ig_cosh(float x) {
    __IG_STRICT
    float ax = __ig_fabs(x);
    float e = __ig_exp_kernel(ax > 90.0f ? 90.0f : ax, -1);
    return e + 0.25f / e;
}

// With t = e^|2x| - 1: tanh = t / (t + 2); 1 from 10 on.
__IG_FN float __ig_tanh(float x) {
    __IG_STRICT
    float ax = __ig_fabs(x);
    float t = __ig_expm1_kernel(ax > 10.0f ? 20.0f : ax + ax, 0);
    float r = t / (t + 2.0f);
    return __ig_as_float(__ig_as_uint(r) | (__ig_as_uint(x) & __IG_SIGN));
}

// ln(1 + u) for u in [0, 2^126]: u is scaled as 1 + u would be, so that its low bits count.
__IG_FN float __ig_log1p_kernel(float u) {
    __IG_STRICT
    int e = (int)(__ig_as_uint(1.0f + u) - 0x3f2aaaabu) >> 23;
    float s = __ig_as_float(0x3f800000u - ((unsigned)e << 23));
    return __ig_log_kernel(__ig_fma(u, s, s - 1.0f), (float)e);
}

// Beyond 2^30 both inverse functions are ln(2 x) = ln(x / 4) + ln 8.
__IG_FN float __ig_asinh(float x) {
    __IG_STRICT
    float a = __ig_fabs(x), z = a * a;
    int huge = a >= 0x1p30f;
    float u = a + z / (1.0f + __ig_sqrt(z + 1.0f));
    float r = __ig_log1p_kernel(huge ? a * 0.25f : u);
    r = r + (huge ? 2.07944154f : 0.0f);
    r = a < __IG_INF ? r : a;
    return __ig_as_float(__ig_as_uint(r) | (__ig_as_uint(x) & __IG_SIGN));
}

__IG_FN float __ig_acosh(float x) {
    __IG_STRICT
    float t = x - 1.0f;
    int huge = x >= 0x1p30f;
    float u = t + __ig_sqrt(__ig_fma(t, t, t + t));
    float r = __ig_log1p_kernel(huge ? x * 0.25f : u);
    r = r + (huge ? 2.07944154f : 0.0f);
    r = x < __IG_INF ? r : x;
    return x < 1.0f ? __IG_NAN : r;
}

__IG_FN float __ig_atanh(float x) {
    __IG_STRICT
    float a = __ig_fabs(x);
    float r = 0.5f * __ig_log1p_kernel((a + a) / (1.0f - a));
    r = a < 1.0f ? r : (a == 1.0f ? __IG_INF : __IG_NAN);
    return __ig_as_float(__ig_as_uint(r) | (__ig_as_uint(x) & __IG_SIGN));
}

#endif
