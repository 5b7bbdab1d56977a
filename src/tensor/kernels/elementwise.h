// SPDX-License-Identifier: Apache-2.0
// elementwise.h: what element-wise kernels are written with (elementwise.def); the text of a fused
// kernel begins with it (fuse_source.c).
#include <metal_stdlib>
using namespace metal;

#pragma METAL fp math_mode(safe)
#pragma METAL fp contract(off)
#include "activations.h"
// Neighbours in memory that are read or written at once.
template <class T, int N> struct alignas(sizeof(T) * N) ig_pack {
    T at[N];
};

template <class T> T ig_abs(T x) { return x < T(0) ? -x : x; }
inline float ig_abs(float x) { return fabs(x); }
template <class T> T ig_sign(T x) { return T(x > T(0)) - T(x < T(0)); }
inline float ig_sign(float x) { return isnan(x) ? x : float(x > 0) - float(x < 0); }
template <class T> T ig_floor(T x) { return x; }
inline float ig_floor(float x) { return floor(x); }
template <class T> T ig_ceil(T x) { return x; }
inline float ig_ceil(float x) { return ceil(x); }
template <class T> T ig_round(T x) { return x; }
inline float ig_round(float x) { return rint(x); }
template <class T> T ig_trunc(T x) { return x; }
inline float ig_trunc(float x) { return trunc(x); }
// As NumPy and PyTorch: what is not a number stays so.
template <class T> T ig_max(T x, T y) { return x > y || x != x ? x : y; }
template <class T> T ig_min(T x, T y) { return x < y || x != x ? x : y; }
inline float ig_pow(float x, float y) { return pow(x, y); }
template <class T> T ig_remainder(T x, T y) {
    if (y == T(0)) return T(0);
    T r = x % y;
    return r != T(0) && (r < T(0)) != (y < T(0)) ? r + y : r;
}

inline float ig_remainder(float x, float y) {
    float r = fmod(x, y);
    return r != 0 && (r < 0) != (y < 0) ? r + y : r;
}

template <class T> T ig_floor_divide(T x, T y) {
    return y == T(0) ? T(0) : (x - ig_remainder(x, y)) / y;
}

inline float ig_floor_divide(float x, float y) {
    if (y == 0) return x / y;
    if (isinf(y) && isfinite(x)) return x != 0 && (x < 0) != (y < 0) ? -1.0f : 0.0f;
    return rint((x - ig_remainder(x, y)) / y); // infinite x: not a number, as in Python
}

// As NumPy: places beyond the type, and negative ones, leave nothing but the sign.
template <class T> T ig_left_shift(T x, T y) {
    return y < T(0) || y >= T(8 * sizeof(T)) ? T(0) : x << y;
}

template <class T> T ig_right_shift(T x, T y) {
    return x >> (y < T(0) || y >= T(8 * sizeof(T)) ? T(8 * sizeof(T) - 1) : y);
}

inline float ig_expm1(float x) {
    float t = tanh(0.5f * x);
    return fabs(x) < 0.5f ? 2.0f * t / (1.0f - t) : exp(x) - 1.0f;
}

inline float ig_log1p(float x) {
    float u = 1.0f + x;
    return u == 1.0f || x == INFINITY ? x : log(u) * (x / (u - 1.0f));
}

// Below 1 an odd polynomial, above the logarithm of 1 - erf as one (both fitted at Chebyshev's
// points; 2e-7 off at most).
inline float ig_erf(float x) {
    float a = fabs(x), z = x * x;
    float p = -0.00056541059f;
    p = p * z + 0.0049232775f;
    p = p * z - 0.026716385f;
    p = p * z + 0.11280365f;
    p = p * z - 0.37612349f;
    p = p * z + 1.1283791f;
    float q = 1.6140616e-6f;
    q = q * a - 4.5590623e-5f;
    q = q * a + 0.00059276953f;
    q = q * a - 0.0047402224f;
    q = q * a + 0.026364718f;
    q = q * a - 0.10997824f;
    q = q * a - 0.63193709f;
    q = q * a - 1.1301666f;
    q = q * a + 0.00030321296f;
    float tail = a < 4.0f ? 1.0f - exp(q) : 1.0f;
    return a <= 1.0f ? x * p : isnan(x) ? x : copysign(tail, x);
}

// Outside of an integer type's range the nearest value, nothing for what is not a number.
template <class T> T ig_to_integer(float x, float low, float high, T least, T most) {
    return isnan(x) ? T(0) : x <= low ? least : x >= high ? most : T(x);
}

template <class T, class C> T ig_to(C x) { return T(x); }
template <> char ig_to<char, float>(float x) {
    return ig_to_integer<char>(x, -128.0f, 127.0f, char(-128), char(127));
}
template <> uchar ig_to<uchar, float>(float x) {
    return ig_to_integer<uchar>(x, 0.0f, 255.0f, uchar(0), uchar(255));
}
template <> short ig_to<short, float>(float x) {
    return ig_to_integer<short>(x, -32768.0f, 32767.0f, short(-32768), short(32767));
}
template <> int ig_to<int, float>(float x) {
    return ig_to_integer<int>(x, -2147483648.0f, 2147483648.0f, INT_MIN, INT_MAX);
}
template <> long ig_to<long, float>(float x) {
    return ig_to_integer<long>(x, -9223372036854775808.0f, 9223372036854775808.0f, LONG_MIN,
                               LONG_MAX);
}
