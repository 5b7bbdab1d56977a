// SPDX-License-Identifier: Apache-2.0
// transform.h: what is done to a result on its way out.
#pragma once
#include "../traits.h"

namespace forge {
namespace tile {

template <typename Out, typename In>
struct Identity {
  static FORGE_FUNC Out apply(In x) { return static_cast<Out>(x); }
  static FORGE_FUNC Out apply(In x, Out) { return static_cast<Out>(x); }
};

template <typename Out, typename In>
struct AddScaled {
  const float alpha;
  const float beta;
  FORGE_FUNC AddScaled(const float a, const float b) : alpha(a), beta(b) {}
  FORGE_FUNC Out apply(In x) const { return static_cast<Out>(x); }
  FORGE_FUNC Out apply(In x, Out c) const { return static_cast<Out>(x * alpha + beta * c); }
};

// compile-time integers that add and multiply, as tile shapes do
template <typename T, T V>
struct fixed {
  static constexpr constant T value = V;
  using value_type = T;
  constexpr operator T() const { return V; }
};
template <int V> using Int = fixed<int, V>;
template <typename T, T A, typename U, U B>
constexpr auto operator+(fixed<T, A>, fixed<U, B>) { return fixed<decltype(A + B), A + B>{}; }
template <typename T, T A, typename U, U B>
constexpr auto operator*(fixed<T, A>, fixed<U, B>) { return fixed<decltype(A * B), A * B>{}; }

template <typename T>
constexpr auto sum_of(T x) { return x; }
template <typename T, typename... Rest>
constexpr auto sum_of(T x, Rest... rest) { return x + sum_of(rest...); }

static_assert(decltype(Int<2>{} * Int<3>{} + Int<4>{})::value == 10, "");
static_assert(sum_of(Int<1>{}, Int<2>{}, Int<3>{}) == 6, "");

} // namespace tile
} // namespace forge
