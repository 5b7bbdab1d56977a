// SPDX-License-Identifier: Apache-2.0
// cplx.h: complex numbers that live in any address space.
#pragma once
#include "config.h"

struct cplx;

template <typename T>
FORGE_CONST bool makes_cplx = !metal::is_same_v<T, cplx> && metal::is_convertible_v<T, float>;

struct cplx {
  float re, im;

  constexpr cplx() : re(0), im(0) {}
  constexpr cplx() threadgroup : re(0), im(0) {}
  constexpr cplx(float r, float i) : re(r), im(i) {}

  template <typename T, typename = metal::enable_if_t<makes_cplx<T>>>
  constexpr cplx(T x) thread : re(static_cast<float>(x)), im(0) {}
  template <typename T, typename = metal::enable_if_t<makes_cplx<T>>>
  constexpr cplx(T x) constant : re(static_cast<float>(x)), im(0) {}
  template <typename T, typename = metal::enable_if_t<makes_cplx<T>>>
  constexpr cplx(T x) threadgroup : re(static_cast<float>(x)), im(0) {}

// conversion takes the real part, from wherever the number is
#define CPLX_TO(space)                                                          \
  template <typename T, typename = metal::enable_if_t<makes_cplx<T>>>           \
  constexpr explicit operator T() const space {                                 \
    return static_cast<T>(re);                                                  \
  }
  CPLX_TO(thread)
  CPLX_TO(device)
  CPLX_TO(constant)
  CPLX_TO(threadgroup)
#undef CPLX_TO

  constexpr cplx conj() const { return {re, -im}; }
  friend constexpr cplx operator-(cplx a) { return {-a.re, -a.im}; }
  friend constexpr cplx operator+(cplx a, cplx b) { return {a.re + b.re, a.im + b.im}; }
  friend constexpr cplx operator-(cplx a, cplx b) { return {a.re - b.re, a.im - b.im}; }
  friend constexpr cplx operator*(cplx a, cplx b) {
    return {a.re * b.re - a.im * b.im, a.re * b.im + a.im * b.re};
  }
  friend constexpr cplx operator/(cplx a, cplx b) {
    const float n = 1.0f / (b.re * b.re + b.im * b.im);
    const cplx t = a * b.conj();
    return {t.re * n, t.im * n};
  }
  friend constexpr bool operator==(cplx a, cplx b) { return a.re == b.re && a.im == b.im; }
  friend constexpr bool operator!=(cplx a, cplx b) { return !(a == b); }
  friend constexpr bool operator<(cplx a, cplx b) { return a.re < b.re || (a.re == b.re && a.im < b.im); }
  friend constexpr bool operator>(cplx a, cplx b) { return b < a; }
};

#define CPLX_ACCUMULATE(space)                                                   \
  constexpr space cplx& operator+=(space cplx& a, cplx b) {                      \
    a.re += b.re;                                                                \
    a.im += b.im;                                                                \
    return a;                                                                    \
  }                                                                              \
  constexpr space cplx& operator*=(space cplx& a, cplx b) {                      \
    const float re = a.re * b.re - a.im * b.im;                                  \
    a.im = a.re * b.im + a.im * b.re;                                            \
    a.re = re;                                                                   \
    return a;                                                                    \
  }
CPLX_ACCUMULATE(thread)
CPLX_ACCUMULATE(device)
CPLX_ACCUMULATE(threadgroup)
#undef CPLX_ACCUMULATE

static_assert(sizeof(cplx) == 8, "two floats");
static_assert(!makes_cplx<cplx> && makes_cplx<half> && makes_cplx<long>, "trait");
