// SPDX-License-Identifier: Apache-2.0
// curves.h: <metal_curves>: points, first and second derivatives of curves by their control points,
// quadratic with three of them, cubic with four. Weights are polynomials in t: a row of
// coefficients for each control point.
#pragma once

namespace metal {
// a + b t + c t^2 + d t^3, its derivatives for n = 1, 2.
template <int N, class S> METAL_FUNC S __curve_weight(S t, float a, float b, float c, float d) {
    if constexpr (N == 0) return S(a) + t * (S(b) + t * (S(c) + t * S(d)));
    else if constexpr (N == 1) return S(b) + t * (S(2 * c) + t * S(3 * d));
    else return S(2 * c) + t * S(6 * d);
}
#define __MSL_W(...) __curve_weight<N>(t, __VA_ARGS__)
#define __MSL_QUADRATIC(NAME, W0, W1, W2) \
    template <int N, class S, class P> METAL_FUNC P __##NAME(S t, P p0, P p1, P p2) { \
        return p0 * __MSL_W W0 + p1 * __MSL_W W1 + p2 * __MSL_W W2; \
    } \
    __MSL_THREE(NAME, (S t, P p0, P p1, P p2), (t, p0, p1, p2))
#define __MSL_CUBIC(NAME, W0, W1, W2, W3) \
    template <int N, class S, class P> METAL_FUNC P __##NAME(S t, P p0, P p1, P p2, P p3) { \
        return p0 * __MSL_W W0 + p1 * __MSL_W W1 + p2 * __MSL_W W2 + p3 * __MSL_W W3; \
    } \
    __MSL_THREE(NAME, (S t, P p0, P p1, P p2, P p3), (t, p0, p1, p2, p3))
#define __MSL_THREE(NAME, PARAMETERS, ARGUMENTS) \
    template <class S, class P> METAL_FUNC P NAME PARAMETERS { return __##NAME<0> ARGUMENTS; } \
    template <class S, class P> METAL_FUNC P NAME##_derivative PARAMETERS { \
        return __##NAME<1> ARGUMENTS; \
    } \
    template <class S, class P> METAL_FUNC P NAME##_second_derivative PARAMETERS { \
        return __##NAME<2> ARGUMENTS; \
    }
__MSL_QUADRATIC(bezier, (1, -2, 1, 0), (0, 2, -2, 0), (0, 0, 1, 0))
__MSL_CUBIC(bezier, (1, -3, 3, -1), (0, 3, -6, 3), (0, 0, 3, -3), (0, 0, 0, 1))
__MSL_QUADRATIC(bspline, (0.5f, -1, 0.5f, 0), (0.5f, 1, -1, 0), (0, 0, 0.5f, 0))
__MSL_CUBIC(bspline, (1 / 6.0f, -0.5f, 0.5f, -1 / 6.0f), (2 / 3.0f, 0, -1, 0.5f),
            (1 / 6.0f, 0.5f, 0.5f, -0.5f), (0, 0, 0, 1 / 6.0f))
__MSL_CUBIC(catmull_rom, (0, -0.5f, 1, -0.5f), (1, 0, -2.5f, 1.5f), (0, 0.5f, 2, -1.5f),
            (0, 0, -0.5f, 0.5f))
// Ends, then tangents there.
__MSL_CUBIC(hermite, (1, 0, -3, 2), (0, 0, 3, -2), (0, 1, -2, 1), (0, 0, -1, 1))
#undef __MSL_QUADRATIC
#undef __MSL_CUBIC
#undef __MSL_THREE
#undef __MSL_W
} // namespace metal
