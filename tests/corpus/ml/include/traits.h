// SPDX-License-Identifier: Apache-2.0
// traits.h: extreme values, accumulator types, strided walks.
#pragma once
#include "config.h"
#include "cplx.h"

namespace forge {

// ---- Range<T>: neutral elements of min and max; infinities where the type has them
template <typename T>
struct Range {
  static const constant T top = metal::numeric_limits<T>::max();
  static const constant T bottom = metal::numeric_limits<T>::min();
};

#define RANGE_REAL(T)                                                        \
  template <>                                                                \
  struct Range<T> {                                                          \
    FORGE_CONST T top = metal::numeric_limits<T>::infinity();                \
    FORGE_CONST T bottom = -metal::numeric_limits<T>::infinity();            \
  };
RANGE_REAL(float)
RANGE_REAL(half)
RANGE_REAL(bfloat)
#undef RANGE_REAL

template <>
struct Range<bool> {
  FORGE_CONST bool top = true;
  FORGE_CONST bool bottom = false;
};

template <>
struct Range<cplx> {
  FORGE_CONST cplx top = cplx(metal::numeric_limits<float>::infinity(), 0.0f);
  FORGE_CONST cplx bottom = cplx(-metal::numeric_limits<float>::infinity(), 0.0f);
};

// ---- Wide<T>: what sums are kept in
template <typename T, typename = void>
struct Wide {
  using type = T;
};
template <typename T>
struct Wide<T, metal::enable_if_t<metal::is_floating_point_v<T>>> {
  using type = float;
};
template <typename T>
struct Wide<T, metal::enable_if_t<metal::is_integral_v<T> && (sizeof(T) < 4)>> {
  using type = metal::conditional_t<metal::is_signed_v<T>, int, uint>;
};
template <typename T>
using wide_t = typename Wide<T>::type;

static_assert(metal::is_same_v<wide_t<half>, float>, "");
static_assert(metal::is_same_v<wide_t<char>, int>, "");
static_assert(metal::is_same_v<wide_t<uchar>, uint>, "");
static_assert(metal::is_same_v<wide_t<long>, long>, "");

// ---- offsets of strided arrays
template <typename Ix = long>
FORGE_FUNC Ix place(Ix linear, const constant int* shape, const constant long* strides, int n_dims) {
  Ix at = 0;
  FORGE_KEEP_LOOP
  for (int d = n_dims; d-- > 0;) {
    const Ix q = linear / shape[d];
    at += (linear - q * shape[d]) * Ix(strides[d]);
    linear = q;
  }
  return at;
}

template <typename Ix = uint>
FORGE_FUNC metal::vec<Ix, 2> place2(uint3 p, const constant int* shape, const constant long* sa, const constant long* sb, int n_dims) {
  metal::vec<Ix, 2> at = 0;
  uint rest = p.z;
  for (int d = n_dims - 1; d >= 0; --d) {
    uint i;
    switch (n_dims - 1 - d) {
      case 0: i = p.x; break;
      case 1: i = p.y; break;
      default: i = rest % shape[d]; rest /= shape[d];
    }
    at += metal::vec<Ix, 2>(i * Ix(sa[d]), i * Ix(sb[d]));
  }
  return at;
}

// an odometer: recursion over the dimensions at compile time
template <int N, typename Ix = long>
struct Odometer {
  Ix offset = 0;
  int digit = 0;
  Odometer<N - 1, Ix> rest;
  FORGE_FUNC void step(const constant int* shape, const constant long* strides) {
    digit += 1;
    offset += Ix(strides[N - 1]);
    if (digit == shape[N - 1]) {
      digit = 0;
      rest.step(shape, strides);
      offset = rest.offset;
    }
  }
};
template <typename Ix>
struct Odometer<1, Ix> {
  Ix offset = 0;
  int digit = 0;
  FORGE_FUNC void step(const constant int* shape, const constant long* strides) {
    digit += 1;
    offset += Ix(strides[0]);
    (void)shape;
  }
};

template <typename A, typename B>
constexpr FORGE_FUNC A ceil_div(A a, B b) { return (a + b - 1) / b; }

// ---- SIMD shuffles of every type, by words
template <typename T>
FORGE_FUNC T lane_down(T x, ushort d) {
  if constexpr (sizeof(T) == 8) {
    return as_type<T>(metal::simd_shuffle_down(as_type<uint2>(x), d));
  } else {
    return metal::simd_shuffle_down(x, d);
  }
}
template <>
FORGE_FUNC bool lane_down<bool>(bool x, ushort d) { return metal::simd_shuffle_down(uint(x), d) != 0; }
template <>
FORGE_FUNC cplx lane_down<cplx>(cplx x, ushort d) {
  return cplx(metal::simd_shuffle_down(x.re, d), metal::simd_shuffle_down(x.im, d));
}

} // namespace forge
