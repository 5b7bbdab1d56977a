// SPDX-License-Identifier: Apache-2.0
// support.c: what the code generator calls on CPUs without an instruction for it (half before F16C,
// bfloat before AVX512-BF16, fused multiply-add before FMA, rounding before SSE4.1). An object that
// is linked to code in which one of these names is missing. Round to nearest even; NaNs stay NaNs
// (quiet).
#include <stdint.h>

// String functions are the compiler's own: there need be no C library for the architecture.
#define memcpy __builtin_memcpy

#define EXPORT __attribute__((visibility("hidden")))

typedef union Word {
    float f;
    uint32_t u;
} Word;
static inline uint32_t bits_of(float f) { return ((Word){.f = f}).u; }
static inline float from_bits(uint32_t u) { return ((Word){.u = u}).f; }

static inline float half_to_float(uint16_t h) {
    uint32_t sign = (uint32_t)(h & 0x8000) << 16, e = h >> 10 & 31, m = h & 1023;
    if (e == 31) return from_bits(sign | 0x7f800000 | m << 13 | (m ? 0x400000 : 0));
    if (e) return from_bits(sign | (e + 112) << 23 | m << 13);
    float f = (float)(int)m * 0x1p-24f;
    return sign ? -f : f;
}

static inline uint16_t float_to_half(float f) {
    uint32_t u = bits_of(f), sign = u >> 16 & 0x8000, a = u & 0x7fffffff;
    if (a > 0x7f800000) return (uint16_t)(sign | 0x7e00 | (a >> 13 & 0x3ff));
    if (a >= 0x477ff000) return (uint16_t)(sign | 0x7c00);
    if (a < 0x38800000) { // a denormal half: let float addition round it at the right bit
        float r = from_bits(a) + 0.5f;
        return (uint16_t)(sign | (bits_of(r) - 0x3f000000));
    }
    uint32_t odd = a >> 13 & 1;
    return (uint16_t)(sign | (a - 0x38000000 + 0xfff + odd) >> 13);
}

static inline uint16_t float_to_bfloat(float f) {
    uint32_t u = bits_of(f);
    if ((u & 0x7fffffff) > 0x7f800000) return (uint16_t)(u >> 16 | 0x40);
    return (uint16_t)((u + 0x7fff + (u >> 16 & 1)) >> 16);
}

// A double rounds to float first: to odd, so that the second rounding is right.
static inline float double_to_float_odd(double d) {
    float f = (float)d;
    if ((double)f == d || f != f) return f;
    uint32_t u = bits_of(f);
    if (u & 1) return f;
    double magnitude = d < 0 ? -d : d, rounded = f < 0 ? -(double)f : (double)f;
    return from_bits(magnitude > rounded ? u | 1 : u - 1);
}

// The ABI passes half and bfloat in the low bits of a vector register.
EXPORT float __extendhfsf2(_Float16 h) {
    uint16_t u;
    memcpy(&u, &h, 2);
    return half_to_float(u);
}
#define NARROW(type, from_float, from_double, bits)                                                \
    EXPORT type from_float(float f) {                                                              \
        uint16_t u = bits(f);                                                                      \
        type n;                                                                                    \
        memcpy(&n, &u, 2);                                                                         \
        return n;                                                                                  \
    }                                                                                              \
    EXPORT type from_double(double d) { return from_float(double_to_float_odd(d)); }
NARROW(_Float16, __truncsfhf2, __truncdfhf2, float_to_half)
NARROW(__bf16, __truncsfbf2, __truncdfbf2, float_to_bfloat)

// The product of two floats is exact in double; the sum is rounded to odd there, then to float.
EXPORT float fmaf(float a, float b, float c) {
    double p = (double)a * b, s = p + c;
    if (s - s != 0) return (float)s; // infinite or NaN
    double back = s - p, error = (p - (s - back)) + (c - back);
    int64_t u;
    memcpy(&u, &s, 8);
    if (error != 0 && !(u & 1)) {
        u += (error > 0) == (s > 0) ? 1 : -1;
        memcpy(&s, &u, 8);
    }
    return (float)s;
}

// Rounding to whole numbers, before SSE4.1.
EXPORT float truncf(float x) {
    uint32_t u = bits_of(x);
    int e = (int)(u >> 23 & 255) - 127;
    if (e >= 23) return x; // whole, infinite or NaN
    return from_bits(u & (e < 0 ? 0x80000000u : ~(0x7fffffu >> e)));
}
EXPORT float floorf(float x) {
    float t = truncf(x);
    return t > x ? t - 1 : t;
}
EXPORT float ceilf(float x) {
    float t = truncf(x);
    return t < x ? t + 1 : t;
}
EXPORT float roundevenf(float x) {
    uint32_t u = bits_of(x), a = u & 0x7fffffffu;
    if (a >= 0x4b000000u) return x; // 2^23
    float r = (from_bits(a) + 0x1p23f) - 0x1p23f;
    return from_bits(bits_of(r) | (u & 0x80000000u));
}
