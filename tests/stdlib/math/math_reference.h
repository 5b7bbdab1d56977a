// SPDX-License-Identifier: Apache-2.0
// math_reference.h: what the maths library is compared with: the C library in double precision,
// correct to far more digits than a float has, and the error measure of the MSL specification.
#ifndef INGOT_MATH_REFERENCE_H
#define INGOT_MATH_REFERENCE_H

#include <math.h>
#include <stdint.h>
#include <string.h>

#include "compiler/stdlib/detail/math_core.h"
#include "compiler/stdlib/detail/math_exp.h"
#include "compiler/stdlib/detail/math_trig.h"

static inline float float_of(uint32_t u) {
    float f;
    memcpy(&f, &u, sizeof f);
    return f;
}
static inline uint32_t bits_of(float f) {
    uint32_t u;
    memcpy(&u, &f, sizeof u);
    return u;
}

// sin(pi x) and cos(pi x): x modulo 2 is exact, and the angle stays within pi/4.
static inline double ref_sinpi(double x) {
    if (!isfinite(x)) {
        return NAN;
    }
    double r = remainder(fabs(x), 2.0), n = rint(2 * r), a = (r - 0.5 * n) * 3.14159265358979323846;
    int q = (int)n & 3;
    double v = q & 1 ? cos(a) : sin(a);
    v = q & 2 && v != 0 ? -v : v;
    return copysign(1, x) * v;
}
static inline double ref_cospi(double x) {
    if (!isfinite(x)) {
        return NAN;
    }
    double r = remainder(fabs(x), 2.0), n = rint(2 * r), a = (r - 0.5 * n) * 3.14159265358979323846;
    int q = (int)n & 3;
    if (a == 0 && q & 1) {
        return 0; // +0 for every n + 0.5
    }
    double v = q & 1 ? sin(a) : cos(a);
    return q == 1 || q == 2 ? -v : v;
}
static inline double ref_tanpi(double x) { return ref_sinpi(x) / ref_cospi(x); }
static inline double ref_rsqrt(double x) { return 1 / sqrt(x); }
static inline double ref_fract(double x) {
    return fmin(x - floor(x), isnan(x) || isinf(x) ? NAN : 0x1.fffffep-1);
}

// The distance between the floats around v: 2^-23 of its power of two, at least 2^-149. By the bits
// of the double, because math_sweep does little else.
static inline double ulp_of(double v) {
    uint64_t u;
    memcpy(&u, &v, sizeof u);
    int e = (int)(u >> 52 & 0x7ff) - 1023;
    e = e < -126 ? -126 : e > 127 ? 127 : e;
    u = (uint64_t)(e - 23 + 1023) << 52;
    memcpy(&v, &u, sizeof v);
    return v;
}

// Error in ulp; NaN against NaN and equal infinities are right, any other mix of them wrong.
static inline double ulp_error(float got, double want) {
    if (isnan(want) || isnan(got)) {
        return isnan(want) && isnan(got) ? 0 : INFINITY;
    }
    if (isinf(got) && fabs(want) >= 0x1.ffffffp127) {
        return !signbit(got) == !signbit(want) ? 0 : INFINITY; // rounds to infinity
    }
    if (isinf(got)) {
        return INFINITY;
    }
    if (got == 0 && want == 0) {
        return !signbit(got) == !signbit(want) ? 0 : INFINITY;
    }
    return fabs((double)got - want) / ulp_of(want);
}

#endif
