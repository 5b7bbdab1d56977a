// SPDX-License-Identifier: Apache-2.0
// math.h for the GPU's device code: what src/devices/cpu/texture and src/texel call of it, as
// instructions.
#ifndef INGOT_NVPTX_MATH_H
#define INGOT_NVPTX_MATH_H
#define INFINITY __builtin_inff()
#define floorf __builtin_floorf
#define floor __builtin_floor
#define ceilf __builtin_ceilf
#define ceil __builtin_ceil
#define fabsf __builtin_fabsf
#define sqrtf __builtin_sqrtf
#define sqrt __builtin_sqrt
static inline float log2f(float x) { return __nvvm_lg2_approx_f(x); } // to 2^-22
static inline long lrint(double x) { return (long)__builtin_rint(x); }
static inline double pow(double x, double y) { // of colours of 10 bits
    return __nvvm_ex2_approx_f((float)y * __nvvm_lg2_approx_f((float)x));
}
// x 2^n, where that is a normal number.
static inline double ldexp(double x, int n) {
    union {
        unsigned long bits;
        double power;
    } both = {(unsigned long)(1023 + n) << 52};
    return x * both.power;
}
static inline float ldexpf(float x, int n) { return (float)ldexp(x, n); }
#endif
