// SPDX-License-Identifier: Apache-2.0
// ops.h: functors of the element-wise kernels.
#pragma once
#include "traits.h"

namespace forge {
namespace ops {

struct Abs {
  template <typename T> T operator()(T x) const { return metal::abs(x); }
  template <> uchar operator()(uchar x) const { return x; }
  template <> uint operator()(uint x) const { return x; }
  template <> bool operator()(bool x) const { return x; }
  template <> bfloat operator()(bfloat x) const { return x < bfloat(0) ? -x : x; }
  template <> cplx operator()(cplx x) const { return cplx(metal::precise::sqrt(x.re * x.re + x.im * x.im), 0); }
};

struct Negate { template <typename T> T operator()(T x) const { return T(-x); } };

struct Sign {
  template <typename T> T operator()(T x) const { return (x > T(0)) - (x < T(0)); }
  template <> uint operator()(uint x) const { return x != 0; }
  template <> cplx operator()(cplx x) const {
    if (x == cplx(0)) return x;
    return x / Abs()(x);
  }
};

struct Square { template <typename T> T operator()(T x) const { return x * x; } };

struct Sqrt {
  template <typename T> T operator()(T x) const { return metal::precise::sqrt(x); }
  template <> bfloat operator()(bfloat x) const { return bfloat(metal::precise::sqrt(float(x))); }
};

struct Exp {
  template <typename T> T operator()(T x) const { return metal::precise::exp(x); }
  template <> cplx operator()(cplx x) const {
    const float m = metal::precise::exp(x.re);
    return {m * metal::precise::cos(x.im), m * metal::precise::sin(x.im)};
  }
};

struct Sigmoid {
  template <typename T> T operator()(T x) const {
    const auto y = 1 / (1 + metal::exp(metal::abs(x)));
    return (x < 0) ? y : 1 - y;
  }
};

struct Floor { template <typename T> T operator()(T x) const { return metal::floor(x); }
  template <> int operator()(int x) const { return x; } };

struct BitNot { template <typename T> T operator()(T x) const { return ~x; } };
struct LogicalNot { template <typename T> bool operator()(T x) const { return !x; } };

// ---- two operands
struct Add { template <typename T> T operator()(T a, T b) const { return a + b; } };
struct Multiply { template <typename T> T operator()(T a, T b) const { return a * b; } };
struct Divide { template <typename T> T operator()(T a, T b) const { return a / b; } };
struct Greater { template <typename T> bool operator()(T a, T b) const { return a > b; } };
struct Equal { template <typename T> bool operator()(T a, T b) const { return a == b; } };

// NaN wins
struct Maximum {
  template <typename T> metal::enable_if_t<metal::is_integral_v<T>, T> operator()(T a, T b) const { return metal::max(a, b); }
  template <typename T> metal::enable_if_t<!metal::is_integral_v<T>, T> operator()(T a, T b) const {
    if (metal::isnan(a)) return a;
    return a > b ? a : b;
  }
  template <> cplx operator()(cplx a, cplx b) const { return a > b ? a : b; }
};

// the sign of the divisor, as in Python
struct Remainder {
  template <typename T>
  metal::enable_if_t<metal::is_integral_v<T> && !metal::is_signed_v<T>, T> operator()(T a, T b) const { return a % b; }
  template <typename T>
  metal::enable_if_t<metal::is_integral_v<T> && metal::is_signed_v<T>, T> operator()(T a, T b) const {
    T r = a % b;
    if (r != 0 && ((r < 0) != (b < 0))) r += b;
    return r;
  }
  template <typename T>
  metal::enable_if_t<!metal::is_integral_v<T>, T> operator()(T a, T b) const {
    T r = metal::fmod(a, b);
    if (r != 0 && ((r < 0) != (b < 0))) r += b;
    return r;
  }
};

struct Power {
  template <typename T>
  metal::enable_if_t<!metal::is_integral_v<T>, T> operator()(T a, T b) const { return metal::pow(a, b); }
  template <typename T>
  metal::enable_if_t<metal::is_integral_v<T>, T> operator()(T base, T e) const {
    T r = 1;
    while (e) {
      if (e & 1) r *= base;
      e >>= 1;
      base *= base;
    }
    return r;
  }
};

struct LeftShift { template <typename T> T operator()(T a, T b) const { return a << b; } };

struct LogAddExp {
  template <typename T> T operator()(T a, T b) const {
    if (metal::isnan(a) || metal::isnan(b)) return metal::numeric_limits<T>::quiet_NaN();
    constexpr T inf = metal::numeric_limits<T>::infinity();
    T hi = metal::max(a, b);
    T lo = metal::min(a, b);
    return (lo == -inf || hi == inf) ? hi : T(float(hi) + metal::log(1.0f + metal::exp(float(lo - hi))));
  }
};

// both at once
struct DivMod {
  template <typename T> metal::array<T, 2> operator()(T a, T b) const {
    return {Divide()(a, b), Remainder()(a, b)};
  }
};

struct Where { template <typename T> T operator()(bool c, T a, T b) const { return c ? a : b; } };

} // namespace ops
} // namespace forge
