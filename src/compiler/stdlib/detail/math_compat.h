// SPDX-License-Identifier: Apache-2.0
// math_compat.h: the names under which Apple's headers reach their maths functions. Published kernel
// libraries call them to add overloads for types of their own: __metal_sin(x, __METAL_FAST_MATH__).
// The last argument chooses the variant; it is a constant, so nothing of the choice is left.
#ifndef INGOT_MATH_COMPAT_H
#define INGOT_MATH_COMPAT_H

#ifndef __METAL_FAST_MATH__
#define __METAL_FAST_MATH__ true
#endif
#ifndef __METAL_PRECISE_MATH__
#define __METAL_PRECISE_MATH__ false
#endif
#ifndef __METAL_MAYBE_FAST_MATH__
#define __METAL_MAYBE_FAST_MATH__ (__INGOT_FAST_MATH != 0)
#endif

#define __IG_COMPAT1(NAME) \
    METAL_FUNC float __metal_##NAME(float x, bool fast) { \
        return fast ? metal::fast::NAME(x) : metal::precise::NAME(x); \
    }
#define __IG_COMPAT2(NAME) \
    METAL_FUNC float __metal_##NAME(float x, float y, bool fast) { \
        return fast ? metal::fast::NAME(x, y) : metal::precise::NAME(x, y); \
    }
#define __IG_COMPAT3(NAME) \
    METAL_FUNC float __metal_##NAME(float x, float y, float z, bool fast) { \
        return fast ? metal::fast::NAME(x, y, z) : metal::precise::NAME(x, y, z); \
    }
__IG_COMPAT1(acos)
__IG_COMPAT1(acosh)
__IG_COMPAT1(asin)
__IG_COMPAT1(asinh)
__IG_COMPAT1(atan)
__IG_COMPAT1(atanh)
__IG_COMPAT1(ceil)
__IG_COMPAT1(cos)
__IG_COMPAT1(cosh)
__IG_COMPAT1(cospi)
__IG_COMPAT1(exp)
__IG_COMPAT1(exp10)
__IG_COMPAT1(exp2)
__IG_COMPAT1(fabs)
__IG_COMPAT1(floor)
__IG_COMPAT1(fract)
__IG_COMPAT1(log)
__IG_COMPAT1(log10)
__IG_COMPAT1(log2)
__IG_COMPAT1(rint)
__IG_COMPAT1(round)
__IG_COMPAT1(rsqrt)
__IG_COMPAT1(sin)
__IG_COMPAT1(sinh)
__IG_COMPAT1(sinpi)
__IG_COMPAT1(sqrt)
__IG_COMPAT1(tan)
__IG_COMPAT1(tanh)
__IG_COMPAT1(tanpi)
__IG_COMPAT1(trunc)
__IG_COMPAT2(atan2)
__IG_COMPAT2(divide)
__IG_COMPAT2(fmax)
__IG_COMPAT2(fmin)
__IG_COMPAT2(fmod)
__IG_COMPAT2(pow)
__IG_COMPAT2(powr)
__IG_COMPAT3(fmax3)
__IG_COMPAT3(fmedian3)
__IG_COMPAT3(fmin3)
#undef __IG_COMPAT1
#undef __IG_COMPAT2
#undef __IG_COMPAT3

METAL_FUNC float __metal_fma(float x, float y, float z) { return metal::fma(x, y, z); }
METAL_FUNC float __metal_nextafter(float x, float y) { return metal::nextafter(x, y); }
METAL_FUNC float __metal_ldexp(float x, int k, bool) { return metal::ldexp(x, k); }
METAL_FUNC float __metal_frexp(float x, thread int *exponent) {
    return metal::frexp(x, *exponent);
}
METAL_FUNC float __metal_modf(float x, thread float *intval, bool) {
    return metal::modf(x, *intval);
}
METAL_FUNC float __metal_sincos(float x, thread float *cosval, bool fast) {
    return fast ? metal::fast::sincos(x, *cosval) : metal::precise::sincos(x, *cosval);
}

#endif
