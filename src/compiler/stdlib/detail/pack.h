// SPDX-License-Identifier: Apache-2.0
// pack.h: <metal_pack>: vectors of floats to normalised integers and back. The first component lies
// in the lowest bits. Packing clamps (a NaN gives zero) and rounds to nearest even.
#pragma once

namespace metal {
// x in [0, 1] or [-1, 1] to integers scaled by `most`
template <class V> METAL_FUNC constexpr V __to_unorm(V x, float most) {
    return __builtin_elementwise_roundeven(__do_clamp(x, (V)0, (V)1) * (V)most);
}
template <class V> METAL_FUNC constexpr V __to_snorm(V x, float most) {
    V y = __pick(x == x, __do_clamp(x, (V)-1, (V)1), (V)0);
    return __builtin_elementwise_roundeven(y * (V)most);
}
METAL_FUNC uint pack_float_to_unorm4x8(float4 x) {
    uint4 i = uint4(float4(__to_unorm(x.__get(), 255), __raw{}));
    return i.x | i.y << 8 | i.z << 16 | i.w << 24;
}
METAL_FUNC uint pack_float_to_snorm4x8(float4 x) {
    uint4 i = uint4(int4(float4(__to_snorm(x.__get(), 127), __raw{}))) & 255;
    return i.x | i.y << 8 | i.z << 16 | i.w << 24;
}
METAL_FUNC uint pack_float_to_unorm2x16(float2 x) {
    uint2 i = uint2(float2(__to_unorm(x.__get(), 65535), __raw{}));
    return i.x | i.y << 16;
}
METAL_FUNC uint pack_float_to_snorm2x16(float2 x) {
    uint2 i = uint2(int2(float2(__to_snorm(x.__get(), 32767), __raw{}))) & 65535;
    return i.x | i.y << 16;
}
METAL_FUNC uint pack_float_to_unorm10a2(float4 x) {
    uint3 i = uint3(float3(__to_unorm(x.xyz.__get(), 1023), __raw{}));
    return i.x | i.y << 10 | i.z << 20 | (uint)__to_unorm(x.w, 3) << 30;
}
METAL_FUNC ushort pack_float_to_unorm565(float3 x) {
    return (ushort)((uint)__to_unorm(x.x, 31) | (uint)__to_unorm(x.y, 63) << 5 |
                    (uint)__to_unorm(x.z, 31) << 11);
}
METAL_FUNC float4 unpack_unorm4x8_to_float(uint x) {
    return float4(uint4(x, x >> 8, x >> 16, x >> 24) & 255) / 255.0f;
}
METAL_FUNC float4 unpack_snorm4x8_to_float(uint x) {
    int4 i = int4(uint4(x << 24, x << 16, x << 8, x)) >> 24;
    return float4(__fmax2((float4(i) / 127.0f).__get(), (__nv<float, 4>)-1.0f), __raw{});
}
METAL_FUNC float2 unpack_unorm2x16_to_float(uint x) {
    return float2(uint2(x, x >> 16) & 65535) / 65535.0f;
}
METAL_FUNC float2 unpack_snorm2x16_to_float(uint x) {
    int2 i = int2(uint2(x << 16, x)) >> 16;
    return float2(__fmax2((float2(i) / 32767.0f).__get(), (__nv<float, 2>)-1.0f), __raw{});
}
METAL_FUNC float4 unpack_unorm10a2_to_float(uint x) {
    return float4(float3(uint3(x, x >> 10, x >> 20) & 1023) / 1023.0f, float(x >> 30) / 3.0f);
}
METAL_FUNC float3 unpack_unorm565_to_float(ushort x) {
    return float3(float(x & 31) / 31.0f, float(x >> 5 & 63) / 63.0f, float(x >> 11) / 31.0f);
}

// ---- sRGB: the first three components are encoded, alpha is linear
METAL_FUNC float __srgb_encode(float x) {
    float c = __do_saturate(x);
    return c <= 0.0031308f ? 12.92f * c : 1.055f * precise::powr(c, 1.0f / 2.4f) - 0.055f;
}
METAL_FUNC float __srgb_decode(float c) {
    return c <= 0.04045f ? c / 12.92f : precise::powr((c + 0.055f) / 1.055f, 2.4f);
}
METAL_FUNC uint pack_float_to_srgb_unorm4x8(float4 x) {
    return pack_float_to_unorm4x8(
        float4(__srgb_encode(x.x), __srgb_encode(x.y), __srgb_encode(x.z), x.w));
}
METAL_FUNC float4 unpack_unorm4x8_srgb_to_float(uint x) {
    float4 c = unpack_unorm4x8_to_float(x);
    return float4(__srgb_decode(c.x), __srgb_decode(c.y), __srgb_decode(c.z), c.w);
}

// ---- the same on half
#define __MSL_HALF(TO, FROM, N, BITS) \
    METAL_FUNC BITS pack_half_to_##TO(half##N x) { return pack_float_to_##TO(float##N(x)); } \
    METAL_FUNC half##N unpack_##FROM##_to_half(BITS x) { \
        return half##N(unpack_##FROM##_to_float(x)); \
    }
__MSL_HALF(unorm4x8, unorm4x8, 4, uint)
__MSL_HALF(snorm4x8, snorm4x8, 4, uint)
__MSL_HALF(srgb_unorm4x8, unorm4x8_srgb, 4, uint)
__MSL_HALF(unorm2x16, unorm2x16, 2, uint)
__MSL_HALF(snorm2x16, snorm2x16, 2, uint)
__MSL_HALF(unorm10a2, unorm10a2, 4, uint)
__MSL_HALF(unorm565, unorm565, 3, ushort)
#undef __MSL_HALF
} // namespace metal
