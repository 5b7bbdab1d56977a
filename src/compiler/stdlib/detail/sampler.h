// SPDX-License-Identifier: Apache-2.0
// sampler.h: samplers, and the arguments of texture functions that say how to sample. A sampler is
// one 64-bit handle: the address of a sampler state, or what a constexpr sampler says, packed into
// the handle itself (src/abi/cpu_texture.h). Enumerators carry Apple's values of the host's enums.
#pragma once

namespace metal {
enum class coord { normalized = 0, pixel = 1 };
#define __MSL_ADDRESS(NAME) \
    enum class NAME { \
        clamp_to_edge = 0, repeat = 2, mirrored_repeat = 3, clamp_to_zero = 4, clamp_to_border = 5 \
    };
__MSL_ADDRESS(address) __MSL_ADDRESS(s_address) __MSL_ADDRESS(t_address) __MSL_ADDRESS(r_address)
#undef __MSL_ADDRESS
enum class border_color { transparent_black = 0, opaque_black = 1, opaque_white = 2 };
enum class filter { nearest = 0, linear = 1 };
enum class min_filter { nearest = 0, linear = 1 };
enum class mag_filter { nearest = 0, linear = 1 };
enum class mip_filter { none = 0, nearest = 1, linear = 2 };
enum class compare_func {
    never = 0, less = 1, equal = 2, less_equal = 3, greater = 4, not_equal = 5, greater_equal = 6,
    always = 7
};
enum class component { x, y, z, w };
struct max_anisotropy {
    int __value;
    METAL_FUNC explicit constexpr max_anisotropy(int n) : __value(n) {}
};
struct lod_clamp {
    float __least, __most;
    METAL_FUNC explicit constexpr lod_clamp(float least, float most)
        : __least(least), __most(most) {}
};

// Added to the level of detail: of one call, or of a sampler.
struct bias {
    float __value;
    METAL_FUNC explicit constexpr bias(float x) : __value(x) {}
};

// What one argument of a constexpr sampler puts where: the bits it owns and their value.
struct __sampler_bits { ulong mask, value; };
METAL_FUNC constexpr __sampler_bits __sampler_field(ulong v, uint at, uint n) {
    return {((1ul << n) - 1) << at, v << at};
}
METAL_FUNC constexpr ulong __lod_bits(float lod) {
    return __builtin_bit_cast(ushort, (half)(lod > 65504.0f ? __builtin_inff() : lod));
}
#define __MSL_F(TYPE, AT, N) \
    METAL_FUNC constexpr __sampler_bits __sampler_arg(TYPE x) { \
        return __sampler_field((ulong)x, AT, N); \
    }
__MSL_F(min_filter, 1, 1) __MSL_F(mag_filter, 2, 1) __MSL_F(mip_filter, 3, 2)
__MSL_F(s_address, 5, 3) __MSL_F(t_address, 8, 3) __MSL_F(r_address, 11, 3)
__MSL_F(compare_func, 14, 4) __MSL_F(border_color, 18, 2) __MSL_F(coord, 20, 1)
#undef __MSL_F
METAL_FUNC constexpr __sampler_bits __sampler_arg(filter x) {
    return __sampler_field((ulong)x * 3, 1, 2);
}
METAL_FUNC constexpr __sampler_bits __sampler_arg(address x) {
    return __sampler_field((ulong)x * 0111, 5, 9);
}
METAL_FUNC constexpr __sampler_bits __sampler_arg(max_anisotropy x) {
    return __sampler_field((ulong)(x.__value < 1 ? 1 : x.__value > 16 ? 16 : x.__value), 21, 5);
}
METAL_FUNC constexpr __sampler_bits __sampler_arg(lod_clamp x) {
    return __sampler_field(__lod_bits(x.__least) | __lod_bits(x.__most) << 16, 32, 32);
}
METAL_FUNC constexpr __sampler_bits __sampler_arg(bias) { return {0, 0}; } // see __set_bias
template <class A>
inline constexpr constant bool __is_sampler_arg = requires(A a) { metal::__sampler_arg(a); };

struct sampler {
    ulong __handle;

    // Nearest texels, clamped to the edge, level 0, all levels allowed.
    METAL_FUNC constexpr sampler() : __handle(1 | 0x7c00ul << 48) {}
    template <class... A>
        requires(sizeof...(A) > 0 && (__is_sampler_arg<A> && ...))
    METAL_FUNC constexpr sampler(A... a) : sampler() {
        ((__handle = (__handle & ~__sampler_arg(a).mask) | __sampler_arg(a).value), ...);
        if constexpr ((__is_same(A, bias) || ...)) __set_bias(a...);
    }

private:
    // The other form of the upper half: clamps and bias in units of 1/64.
    template <class... A> METAL_FUNC constexpr void __set_bias(A... a) {
        lod_clamp clamp(0.0f, __builtin_inff());
        bias shift(0.0f);
        (__note(a, clamp, shift), ...);
        bool open = !(clamp.__most < 15.98f);
        ulong fields = __sixty_fourths(clamp.__least, 0, 1023) |
                       (open ? 1ul << 20 : __sixty_fourths(clamp.__most, 0, 1023) << 10) |
                       (__sixty_fourths(shift.__value, -1024, 1023) & 2047) << 21;
        __handle = (__handle & 0xfffffffful) | 1ul << 28 | fields << 32;
    }
    template <class T>
    static METAL_FUNC constexpr void __note(T a, thread lod_clamp &clamp, thread bias &shift) {
        if constexpr (__is_same(T, lod_clamp)) clamp = a;
        if constexpr (__is_same(T, bias)) shift = a;
    }
    static METAL_FUNC constexpr ulong __sixty_fourths(float x, long least, long most) {
        float n = x * 64.0f + (x < 0.0f ? -0.5f : 0.5f);
        long k = n < (float)least ? least : n > (float)most ? most : (long)n;
        return (ulong)k;
    }
};

// ---- level of detail
struct level {
    float __value;
    METAL_FUNC explicit constexpr level(float x) : __value(x) {}
};
struct min_lod_clamp {
    float __value;
    METAL_FUNC explicit constexpr min_lod_clamp(float x) : __value(x) {}
};
#define __MSL_G(NAME, T) \
    struct NAME { \
        T dPdx, dPdy; \
        METAL_FUNC explicit constexpr NAME(T x, T y) : dPdx(x), dPdy(y) {} \
    };
__MSL_G(gradient2d, float2) __MSL_G(gradient3d, float3) __MSL_G(gradientcube, float3)
#undef __MSL_G
} // namespace metal
