// SPDX-License-Identifier: Apache-2.0
// math_trig.h: trigonometric functions and their inverses (rules: math_core.h).
//
// The precise functions reduce by multiples of pi/2 in three parts (Cody and Waite) up to 2^17 and
// with the binary digits of 2/pi beyond (Payne and Hanek, the one rare branch). The fast ones count
// in turns: x / 2pi as a sum of two floats loses its whole part, which keeps the error below
// |x| * 2^-46 without a branch. Polynomials are minimax for their single precision coefficients.
#ifndef INGOT_MATH_TRIG_H
#define INGOT_MATH_TRIG_H

#include "math_core.h"

#define __IG_PIO2_HI 0x1.921fb6p+0f
#define __IG_PIO2_LO -0x1.777a5cp-25f
#define __IG_PI_HI 0x1.921fb6p+1f
#define __IG_PI_LO -0x1.777a5cp-24f

// Chooses word i of a window of five in the digits of 2/pi; selects, because a lookup would be a
// gather.
__IG_FN unsigned __ig_word(int i, unsigned w0, unsigned w1, unsigned w2, unsigned w3, unsigned w4) {
    unsigned r = i == 0 ? w0 : w1;
    r = i == 2 ? w2 : r;
    r = i == 3 ? w3 : r;
    return i == 4 ? w4 : r;
}

// x in [1, inf) modulo pi/2: remainder in [-pi/4, pi/4] and the quadrant. The 24 bits of x times
// the 96 bits of 2/pi that start two bits above the binary point of the product.
__IG_FN __ig_float_int __ig_reduce_huge(float x) {
    __IG_STRICT
    unsigned u = __ig_as_uint(x);
    int e = (int)(u >> 23) - 128;
    unsigned m = (u << 8) | __IG_SIGN; // x = m / 2^30 * 2^e
    int i = e >> 5, s = e & 31;
    const unsigned w0 = 0xa2f9836eu, w1 = 0x4e441529u, w2 = 0xfc2757d1u, w3 = 0xf534ddc0u;
    const unsigned w4 = 0xdb629599u, w5 = 0x3c439041u, w6 = 0xfe5163abu;
    unsigned a = __ig_word(i, 0u, w0, w1, w2, w3);
    unsigned b = __ig_word(i, w0, w1, w2, w3, w4);
    unsigned c = __ig_word(i, w1, w2, w3, w4, w5);
    unsigned d = __ig_word(i, w2, w3, w4, w5, w6);
    a = (a << s) | ((b >> 1) >> (31 - s));
    b = (b << s) | ((c >> 1) >> (31 - s));
    c = (c << s) | ((d >> 1) >> (31 - s));
    __ig_u64 p = (__ig_u64)m * c >> 32;
    p += (__ig_u64)m * b;
    p += (__ig_u64)(m * a) << 32; // two bits of quadrant, 62 of fraction
    const __ig_u64 one = (__ig_u64)1 << 62;
    int q = (int)(p >> 62);
    p &= one - 1;
    int negative = (p >> 61) != 0;
    p = negative ? one - p : p;
    q = (q + negative) & 3;
    // Three exact pieces, all positive, so that small remainders keep their relative precision.
    float top = (float)(int)(p >> 40) * 0x1p-22f;
    float rest = (float)(int)((p >> 16) & 0xffffffu) * 0x1p-46f;
    rest = rest + (float)(int)(p & 0xffffu) * 0x1p-62f;
    float h = top + rest, l = rest - (h - top);
    float r = __ig_fma(h, __IG_PIO2_HI, __ig_fma(l, __IG_PIO2_HI, h * __IG_PIO2_LO));
    __ig_float_int out;
    r = __ig_xorsign(r, (unsigned)negative << 31);
    out.a = u < 0x7f800000u ? r : __IG_NAN;
    out.i = q;
    return out;
}

// |x| modulo pi/2. Up to 2^17 the first product is subtracted exactly (24 + 17 bits).
__IG_FN __ig_float_int __ig_reduce(float ax) {
    __IG_STRICT
    float t = __ig_fma(ax, 0x1.45f306p-1f, __IG_MAGIC);
    __ig_float_int r;
    r.i = (int)__ig_as_uint(t);
    float k = t - __IG_MAGIC;
    r.a = __ig_fma(k, -0x1.921fb6p+0f, ax);
    r.a = __ig_fma(k, 0x1.777a5cp-25f, r.a);
    r.a = __ig_fma(k, 0x1.ee59dap-50f, r.a);
    if (ax >= 0x1p17f) {
        r = __ig_reduce_huge(ax);
    }
    return r;
}

// On [-pi/4, pi/4]: 2^-27.9 and 2^-33.
__IG_FN float __ig_sin_poly(float r, float z) {
    __IG_STRICT
    float p = __ig_poly3(z, -1.95180575e-4f, 8.33218824e-3f, -0.166666552f);
    return __ig_fma(r * z, p, r);
}
__IG_FN float __ig_cos_poly(float z) {
    __IG_STRICT
    float p = __ig_poly4(z, 2.44323310e-5f, -1.38873095e-3f, 4.16666456e-2f, -0.5f);
    return __ig_fma(p, z, 1.0f);
}

__IG_FN __ig_pair __ig_sincos(float x) {
    __IG_STRICT
    __ig_float_int q = __ig_reduce(__ig_fabs(x));
    float z = q.a * q.a;
    float s = __ig_sin_poly(q.a, z), c = __ig_cos_poly(z);
    int swap = (q.i & 1) != 0;
    __ig_pair r;
    r.a = __ig_xorsign(swap ? c : s, ((unsigned)q.i << 30) ^ __ig_as_uint(x));
    r.b = __ig_xorsign(swap ? s : c, (unsigned)(q.i + 1) << 30);
    return r;
}
__IG_FN float __ig_sin(float x) { return __ig_sincos(x).a; }
__IG_FN float __ig_cos(float x) { return __ig_sincos(x).b; }

// On [-pi/4, pi/4]: 2^-29.5.
__IG_FN float __ig_tan_poly(float r) {
    __IG_STRICT
    float z = r * r;
    float p = __ig_poly7(z, 4.38073138e-3f, 8.32680598e-5f, 1.08380504e-2f, 2.12826841e-2f, 5.40594533e-2f, 0.133326724f, 0.333333492f);
    return __ig_fma(r * z, p, r);
}

__IG_FN float __ig_tan(float x) {
    __IG_STRICT
    __ig_float_int q = __ig_reduce(__ig_fabs(x));
    float t = __ig_tan_poly(q.a);
    float turned = -1.0f / t;
    t = ((q.i & 1) != 0) ? turned : t;
    return __ig_xorsign(t, __ig_as_uint(x));
}

// x in turns modulo 1: .a in [-0.5, 0.5], exact but for .b, the part below it. Where |x| is so
// large that .b exceeds half a turn, it is reduced as well, to keep results bounded.
__IG_FN __ig_pair __ig_turns(float x) {
    __IG_STRICT
    float u = x * 0x1.45f306p-3f;
    float l = __ig_fma(x, 0x1.45f306p-3f, -u);
    l = __ig_fma(x, 0x1.b9391p-28f, l);
    __ig_pair r;
    r.a = u - __ig_rint(u);
    r.b = l - __ig_rint(l);
    return r;
}

// sin(2 pi g) for g in [-0.25, 0.25]: 2^-25.1.
__IG_FN float __ig_turn_poly(float g) {
    __IG_STRICT
    float z = g * g;
    float p = __ig_poly5(z, 40.0022774f, -76.6175613f, 81.6043320f, -41.3417168f, 6.28318548f);
    return p * g;
}

// Folding: sin(2 pi t) = sin(2 pi (0.5 - t)), cos(2 pi t) = sin(2 pi (0.25 - |t|)); the
// subtractions are exact where the result is near a zero.
__IG_FN float __ig_fold_sin(__ig_pair t) {
    __IG_STRICT
    unsigned sign = __ig_as_uint(t.a);
    float a = __ig_fabs(t.a), l = __ig_xorsign(t.b, sign);
    float direct = a + l, mirrored = (0.5f - a) - l;
    float g = direct < mirrored ? direct : mirrored;
    g = g < -0.25f ? -0.25f : g;
    return __ig_xorsign(g, sign);
}
__IG_FN float __ig_fold_cos(__ig_pair t) {
    __IG_STRICT
    float g = (0.25f - __ig_fabs(t.a)) - __ig_xorsign(t.b, __ig_as_uint(t.a));
    return g > 0.25f ? 0.25f : g;
}

__IG_FN float __ig_sin_half(float x) {
    float s = __ig_turn_poly(__ig_fold_sin(__ig_turns(__ig_fabs(x))));
    return __ig_xorsign(s, __ig_as_uint(x));
}
__IG_FN float __ig_cos_half(float x) {
    return __ig_turn_poly(__ig_fold_cos(__ig_turns(__ig_fabs(x))));
}
// Of floats; code for GPUs has instructions instead (codegen/nvptx/sine.c).
__IG_FN float __ig_sin_fast(float x) { return __ig_sin_half(x); }
__IG_FN float __ig_cos_fast(float x) { return __ig_cos_half(x); }
__IG_FN __ig_pair __ig_sincos_fast(float x) {
    __ig_pair t = __ig_turns(__ig_fabs(x)), r;
    r.a = __ig_xorsign(__ig_turn_poly(__ig_fold_sin(t)), __ig_as_uint(x));
    r.b = __ig_turn_poly(__ig_fold_cos(t));
    return r;
}
// tan in quarters of a turn: the odd ones are -1 / tan.
__IG_FN float __ig_tan_fast(float x) {
    __IG_STRICT
    __ig_pair u = __ig_turns(__ig_fabs(x));
    float n = __ig_fma(u.a, 4.0f, __IG_MAGIC);
    float g = __ig_fma(n - __IG_MAGIC, -0.25f, u.a) + u.b;
    float t = __ig_tan_poly(g * 6.28318531f);
    float turned = -1.0f / t;
    t = (__ig_as_uint(n) & 1u) != 0 ? turned : t;
    return __ig_xorsign(t, __ig_as_uint(x));
}

// |x| modulo 1/2, exact for every float; the quadrant in the low bits.
__IG_FN __ig_float_int __ig_reduce_pi(float ax) {
    __IG_STRICT
    float a = __ig_fma(-2.0f, __ig_rint(ax * 0.5f), ax); // in [-1, 1]; NaN for an infinity
    float t = __ig_fma(a, 2.0f, __IG_MAGIC);
    __ig_float_int r;
    r.i = (int)__ig_as_uint(t);
    r.a = __ig_fma(t - __IG_MAGIC, -0.5f, a);
    return r;
}

// On [-0.25, 0.25], the linear term with pi in two parts: 2^-27.9 and 2^-30.8.
__IG_FN float __ig_sinpi_poly(float r, float z) {
    __IG_STRICT
    float p = __ig_poly3(z, -0.589305997f, 2.54979610f, -5.16770887f);
    return __ig_fma(r, __IG_PI_HI, __ig_fma(r * z, p, r * __IG_PI_LO));
}
__IG_FN float __ig_cospi_poly(float z) {
    __IG_STRICT
    float p = __ig_poly4(z, 0.229751974f, -1.33483624f, 4.05869865f, -4.93480206f);
    return __ig_fma(p, z, 1.0f);
}

// sin(pi |x|), or with `ahead` 1 a quarter of a turn further: cos. `sign` flips it. Zeros: sinpi(n) has
// the sign of n, cospi(n + 0.5) is +0.
__IG_FN float __ig_sinpi_ahead(float x, int ahead, unsigned sign) {
    __IG_STRICT
    __ig_float_int q = __ig_reduce_pi(__ig_fabs(x));
    float z = q.a * q.a;
    float s = __ig_sinpi_poly(q.a, z), c = __ig_cospi_poly(z);
    float v = ((q.i + ahead) & 1) != 0 ? c : s;
    unsigned flip = v == 0.0f ? __ig_as_uint(v) : (unsigned)(q.i + ahead) << 30;
    return __ig_xorsign(v, flip ^ sign);
}
__IG_FN float __ig_sinpi(float x) { return __ig_sinpi_ahead(x, 0, __ig_as_uint(x)); }
__IG_FN float __ig_cospi(float x) { return __ig_sinpi_ahead(x, 1, 0u); }
// Poles: tanpi(n + 0.5) is +inf for even n >= 0, -inf for odd n; odd in x.
__IG_FN float __ig_tanpi(float x) {
    __IG_STRICT
    __ig_float_int q = __ig_reduce_pi(__ig_fabs(x));
    float y = q.a * __IG_PI_HI;
    float t = __ig_tan_poly(__ig_fma(q.a, __IG_PI_LO, y));
    t = q.a == 0.0f ? __ig_as_float((unsigned)q.i << 30 & __IG_SIGN) : t;
    float turned = q.a == 0.0f ? 1.0f / t : -1.0f / t;
    t = ((q.i & 1) != 0) ? turned : t;
    return __ig_xorsign(t, __ig_as_uint(x));
}

// asin(s) for s = sqrt(z) in [0, 0.5]: 2^-27.6.
__IG_FN float __ig_asin_poly(float s, float z) {
    __IG_STRICT
    float p = __ig_poly5(z, 4.21570130e-2f, 2.41855029e-2f, 4.54690196e-2f, 7.49531016e-2f, 0.166667521f);
    return __ig_fma(s * z, p, s);
}

// Above 0.5: asin(x) = pi/2 - 2 asin(sqrt((1 - x) / 2)); the root is NaN beyond 1.
// asin of the smaller of both: .a, and whether |x| is above: .i.
__IG_FN __ig_float_int __ig_asin_split(float x) {
    __IG_STRICT
    float ax = __ig_fabs(x);
    float zb = __ig_fma(-0.5f, ax, 0.5f);
    float root = __ig_sqrt(zb);
    __ig_float_int s;
    s.i = ax > 0.5f;
    s.a = __ig_asin_poly(s.i ? root : ax, s.i ? zb : ax * ax);
    return s;
}
__IG_FN float __ig_asin(float x) {
    __IG_STRICT
    __ig_float_int s = __ig_asin_split(x);
    float b = __ig_fma(-2.0f, s.a, __IG_PIO2_HI) + __IG_PIO2_LO;
    return __ig_as_float(__ig_as_uint(s.i ? b : s.a) | (__ig_as_uint(x) & __IG_SIGN));
}
__IG_FN float __ig_acos(float x) {
    __IG_STRICT
    __ig_float_int s = __ig_asin_split(x);
    float left = __ig_fma(-2.0f, s.a, __IG_PI_HI) + __IG_PI_LO;
    float far = x < 0.0f ? left : s.a + s.a;
    float near = __IG_PIO2_HI - (__ig_xorsign(s.a, __ig_as_uint(x)) - __IG_PIO2_LO);
    return s.i ? far : near;
}

// On [0, 1]: 2^-25.8 and, for the fast variant, 2^-23.1.
__IG_FN float __ig_atan_poly(float t) {
    __IG_STRICT
    float z = t * t;
    float p = __ig_poly8(z, 2.92020338e-3f, -1.63660031e-2f, 4.32087593e-2f, -7.55195171e-2f, 0.106658801f, -0.142110229f, 0.199937686f, -0.333331525f);
    return __ig_fma(t * z, p, t);
}
__IG_FN float __ig_atan_poly_fast(float t) {
    __IG_STRICT
    float z = t * t;
    float p = __ig_poly7(z, -4.82305884e-3f, 2.47360021e-2f, -6.02059700e-2f, 9.96868163e-2f, -0.140414074f, 0.199742287f, -0.333323926f);
    return __ig_fma(t * z, p, t);
}

__IG_FN float __ig_atan(float x) {
    __IG_STRICT
    float ax = __ig_fabs(x);
    float inverse = 1.0f / ax;
    float r = __ig_atan_poly(ax > 1.0f ? inverse : ax);
    float rest = (__IG_PIO2_HI - r) + __IG_PIO2_LO;
    r = ax > 1.0f ? rest : r;
    return __ig_as_float(__ig_as_uint(r) | (__ig_as_uint(x) & __IG_SIGN));
}
__IG_FN float __ig_atan_fast(float x) {
    __IG_STRICT
    float ax = __ig_fabs(x);
    float inverse = 1.0f / ax;
    float r = __ig_atan_poly_fast(ax > 1.0f ? inverse : ax);
    float rest = __IG_PIO2_HI - r;
    r = ax > 1.0f ? rest : r;
    return __ig_as_float(__ig_as_uint(r) | (__ig_as_uint(x) & __IG_SIGN));
}

// The quotient of the smaller by the larger magnitude lies in [0, 1]; 0 / 0 counts as 0 and inf /
// inf as 1, which gives the angles of C's atan2.
__IG_FN float __ig_atan2_ratio(float ay, float ax) {
    __IG_STRICT
    float small = ay > ax ? ax : ay, large = ay > ax ? ay : ax;
    float t = small / large;
    t = large == 0.0f ? 0.0f : t;
    return small == __IG_INF ? 1.0f : t;
}
__IG_FN float __ig_atan2(float y, float x) {
    __IG_STRICT
    float ay = __ig_fabs(y), ax = __ig_fabs(x);
    float r = __ig_atan_poly(__ig_atan2_ratio(ay, ax));
    float up = (__IG_PIO2_HI - r) + __IG_PIO2_LO;
    r = ay > ax ? up : r;
    float left = (__IG_PI_HI - r) + __IG_PI_LO;
    r = __ig_as_uint(x) >= __IG_SIGN ? left : r;
    r = (__ig_isnan(x) | __ig_isnan(y)) ? __IG_NAN : r;
    return __ig_as_float(__ig_as_uint(r) | (__ig_as_uint(y) & __IG_SIGN));
}
__IG_FN float __ig_atan2_fast(float y, float x) {
    __IG_STRICT
    float ay = __ig_fabs(y), ax = __ig_fabs(x);
    float r = __ig_atan_poly_fast(__ig_atan2_ratio(ay, ax));
    float up = __IG_PIO2_HI - r;
    r = ay > ax ? up : r;
    float left = __IG_PI_HI - r;
    r = __ig_as_uint(x) >= __IG_SIGN ? left : r;
    return __ig_as_float(__ig_as_uint(r) | (__ig_as_uint(y) & __IG_SIGN));
}

#endif
