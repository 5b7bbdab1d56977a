// SPDX-License-Identifier: Apache-2.0
// graphics.h: <metal_graphics>: derivatives, from the neighbours in the quad. Threads 0 and 1 of a
// quad are neighbours in x, 2 and 3 are the row below; in a kernel a quad is four consecutive
// threads of a SIMD-group.
#pragma once

namespace metal {
template <class T>
inline constexpr constant bool __derivable =
    __lane_value<T> && (__is_same(__element_t<T>, float) || __is_same(__element_t<T>, half));
#define __MSL_D(NAME, BIT) \
    template <class T> \
        requires(__derivable<T>) \
    __MSL_GROUP T NAME(T p) { \
        T other = quad_shuffle_xor(p, BIT); \
        return (__ingot_position(__MSL_THREAD_INDEX_IN_QUADGROUP, 0) & BIT) != 0 ? p - other \
                                                                                 : other - p; \
    }
__MSL_D(dfdx, 1)
__MSL_D(dfdy, 2)
#undef __MSL_D
template <class T>
    requires(__derivable<T>)
__MSL_GROUP T fwidth(T p) {
    return fabs(dfdx(p)) + fabs(dfdy(p));
}
// Fragment functions only: a pixel that leaves no trace.
extern "C" __MSL_BUILTIN void __ingot_discard_fragment();
METAL_FUNC __MSL_BUILTIN void discard_fragment() { __ingot_discard_fragment(); }
// Whether the thread only runs for the derivatives of its neighbours.
extern "C" __MSL_BUILTIN bool __ingot_is_helper();
METAL_FUNC __MSL_BUILTIN bool simd_is_helper_thread() { return __ingot_is_helper(); }
METAL_FUNC __MSL_BUILTIN bool quad_is_helper_thread() { return __ingot_is_helper(); }
// Samples of a pixel, and where each lies in it, 0 to 1.
extern "C" __attribute__((const, nothrow)) uint __ingot_num_samples();
extern "C" __attribute__((const, nothrow)) float __ingot_sample_position(uint index, uint dim);
METAL_FUNC uint get_num_samples() { return __ingot_num_samples(); }
METAL_FUNC float2 get_sample_position(uint index) {
    return float2(__ingot_sample_position(index, 0), __ingot_sample_position(index, 1));
}

// Inputs of fragment functions that the function interpolates itself: the planes of the components,
// that of 1 / w, the pixel's upper left corner and its centroid, as codegen/stage.c lays them out.
enum class interpolation { perspective, no_perspective };
template <class T> inline constexpr constant uint __interpolant_size = 1;
template <class E, int N> inline constexpr constant uint __interpolant_size<vec<E, N>> = N;
template <class T, interpolation P> struct interpolant {
    METAL_FUNC T interpolate_at_center() const { return __at(0.5f, 0.5f); }
    METAL_FUNC T interpolate_at_centroid() const { return __at(__centroid[0], __centroid[1]); }
    // From the upper left corner of the pixel, 0 to 1.
    METAL_FUNC T interpolate_at_offset(float2 offset) const { return __at(offset.x, offset.y); }
    METAL_FUNC T interpolate_at_sample(uint sample) const {
        return __at(__ingot_sample_position(sample, 0), __ingot_sample_position(sample, 1));
    }
    METAL_FUNC float __value(uint first, float x, float y) const {
        return __builtin_fmaf(__planes[first + 1], x,
                              __builtin_fmaf(__planes[first + 2], y, __planes[first]));
    }
    METAL_FUNC T __at(float x, float y) const {
        x += __corner[0];
        y += __corner[1];
        float w = P == interpolation::perspective ? 1.0f / __value(3 * __n, x, y) : 1.0f;
        if constexpr (__n == 1) {
            return T(__value(0, x, y) * w);
        } else {
            T result;
            for (uint k = 0; k < __n; k++) result[k] = __value(3 * k, x, y) * w;
            return result;
        }
    }
    static constexpr constant uint __n = __interpolant_size<T>;
    float __planes[3 * __n + 3]; // at, dx, dy
    float __corner[2], __centroid[2];
};
} // namespace metal
