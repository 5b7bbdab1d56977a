// SPDX-License-Identifier: Apache-2.0
// common.h: <metal_common>: clamp, mix, saturate, sign, smoothstep, step on half and float. The
// fast:: and precise:: forms of clamp and saturate are one here: both follow IEEE 754 on NaN (a NaN
// gives the bound), which is what the specification asks of precise and allows of fast.
#pragma once

namespace metal {
// x unless it is a NaN or beyond y: one instruction, where llvm.maxnum of a half is a library call.
template <class V> METAL_FUNC constexpr V __fmax2(V x, V y) { return __pick(x > y, x, y); }
template <class V> METAL_FUNC constexpr V __fmin2(V x, V y) { return __pick(x < y, x, y); }
template <class V> METAL_FUNC constexpr V __do_clamp(V x, V lo, V hi) {
    return __fmin2(__fmax2(x, lo), hi);
}
template <class V> METAL_FUNC constexpr V __do_saturate(V x) { return __do_clamp(x, (V)0, (V)1); }
template <class V> METAL_FUNC constexpr V __do_mix(V x, V y, V a) { return x + (y - x) * a; }
template <class V> METAL_FUNC constexpr V __do_step(V edge, V x) {
    return __pick(x < edge, (V)0, (V)1);
}
template <class V> METAL_FUNC constexpr V __do_smoothstep(V edge0, V edge1, V x) {
    V t = __do_saturate((x - edge0) / (edge1 - edge0));
    return t * t * ((V)3 - (V)2 * t);
}
// x itself at the zeros, for its sign; 0 for a NaN
template <class V> METAL_FUNC constexpr V __do_sign(V x) {
    V other = __pick(x < (V)0, (V)-1, __pick(x == (V)0, x, (V)0));
    return __pick(x > (V)0, (V)1, other);
}
#define __MSL_F(F, N) \
    __MSL_FLOATS(__MSL_SCALAR##N, F) __MSL_VECTOR##N(F, __is_float) __MSL_BFLOAT##N(F)
__MSL_F(saturate, 1)
__MSL_F(sign, 1)
__MSL_F(step, 2)
__MSL_F(clamp, 3)
__MSL_F(mix, 3)
__MSL_F(smoothstep, 3)
#undef __MSL_F
// float only, as all names in these namespaces
template <class T> inline constexpr constant bool __is_single = __is_same(T, float);
#define __MSL_F(NAMESPACE) \
    namespace NAMESPACE { \
    __MSL_SCALAR1(float, saturate) __MSL_VECTOR1(saturate, __is_single) \
    __MSL_SCALAR3(float, clamp) __MSL_VECTOR3(clamp, __is_single) \
    }
__MSL_F(fast)
__MSL_F(precise)
#undef __MSL_F
} // namespace metal
