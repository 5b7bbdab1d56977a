// SPDX-License-Identifier: Apache-2.0
// imageblock.h: <metal_imageblocks>: what a tile function sees of its tile and a kernel has of its
// own, and the types that are stored as pixels are. An imageblock is the address of memory of the
// device: an AbiImageblockHead (abi/imageblock.h), then the pixels, rows of one sample after the
// other. Pixels that are not there are written nowhere and read as the nearest that is.
#pragma once

namespace metal {
struct imageblock_layout_implicit {};
struct imageblock_layout_explicit {};
struct __imageblock_layout_of_type {}; // as the members of T say
enum class imageblock_data_rate { color, pixel, sample };

// One member of all pixels of a region, for write() of textures.
template <class E, class L> struct imageblock_slice {
    template <class T> METAL_FUNC vec<T, 4> __texel(uint x, uint y) const {
        return __slice_texel<T>(*(device const E *)(__at + ((size_t)y * __row + x) * __stride));
    }
    device const uchar *__at; // of the pixel at the region's corner
    uint __row, __stride;
    ushort2 __size;
};

template <class T, class L = __imageblock_layout_of_type> struct imageblock {
    METAL_FUNC ushort get_width() const { return ((device ushort *)__at)[0]; }
    METAL_FUNC ushort get_height() const { return ((device ushort *)__at)[1]; }
    METAL_FUNC ushort get_num_samples() const { return ((device ushort *)__at)[2]; }
    // Different colours of a pixel: one, or one for each sample.
    METAL_FUNC ushort get_num_colors(ushort2 coord) const {
        ushort n = get_num_samples();
        device const uchar *first = (device const uchar *)__pixel(coord, 0);
        for (ushort i = 1; i < n; i++) {
            device const uchar *other = (device const uchar *)__pixel(coord, i);
            for (uint k = 0; k < sizeof(T); k++)
                if (first[k] != other[k]) return n;
        }
        return 1;
    }
    METAL_FUNC ushort get_color_coverage_mask(ushort2 coord, ushort color_index) const {
        ushort n = get_num_colors(coord);
        if (color_index >= n) return 0;
        return n == 1 ? (ushort)((1 << get_num_samples()) - 1) : (ushort)(1 << color_index);
    }
    METAL_FUNC T read(ushort2 coord) const { return *__pixel(coord, 0); }
    METAL_FUNC T read(ushort2 coord, ushort index, imageblock_data_rate rate) const {
        return *__pixel(coord, __sample(index, rate));
    }
    METAL_FUNC void write(T data, ushort2 coord) const { write(data, coord, (ushort)0xffff); }
    METAL_FUNC void write(T data, ushort2 coord, ushort sample_mask) const {
        if (coord.x >= get_width() || coord.y >= get_height()) return;
        ushort n = get_num_samples();
        for (ushort i = 0; i < n; i++)
            if (sample_mask >> i & 1) *__pixel(coord, i) = data;
    }
    METAL_FUNC void write(T data, ushort2 coord, ushort index, imageblock_data_rate rate) const {
        ushort mask = rate == imageblock_data_rate::sample ? (ushort)(1 << (index & 15))
                      : rate == imageblock_data_rate::color
                          ? get_color_coverage_mask(coord, index)
                          : (ushort)0xffff;
        write(data, coord, mask);
    }
    METAL_FUNC device T *data(ushort2 coord) const { return __pixel(coord, 0); }
    METAL_FUNC device T *data(ushort2 coord, ushort index, imageblock_data_rate rate) const {
        return __pixel(coord, __sample(index, rate));
    }

    // element: a member of any pixel. Without a size: all that lies right of and below the origin.
    template <class E> METAL_FUNC imageblock_slice<E, imageblock_layout_explicit>
    slice(const device E &element) const {
        return slice(element, ushort2(0), ushort2(0xffff));
    }
    template <class E> METAL_FUNC imageblock_slice<E, imageblock_layout_explicit>
    slice(const device E &element, ushort2 size) const {
        return slice(element, ushort2(0), size);
    }
    template <class E> METAL_FUNC imageblock_slice<E, imageblock_layout_explicit>
    slice(const device E &element, ushort2 origin, ushort2 size) const {
        uint stride = ((device uint *)__at)[2];
        uint member = (uint)((device const uchar *)&element - (__at + __head)) % stride;
        return __slice<imageblock_slice<E, imageblock_layout_explicit>>(member, origin, size);
    }
    // Of an implicit layout: color(index).
    template <class E> METAL_FUNC imageblock_slice<E, imageblock_layout_implicit>
    slice(uint index) const {
        return slice<E>(index, ushort2(0xffff));
    }
    template <class E> METAL_FUNC imageblock_slice<E, imageblock_layout_implicit>
    slice(uint index, ushort2 size) const {
        return __slice<imageblock_slice<E, imageblock_layout_implicit>>(
            __at[12 + (index & 7)], ushort2(0), size);
    }

    static constexpr constant uint __head = 32;
    template <class S> METAL_FUNC S __slice(uint member, ushort2 origin, ushort2 size) const {
        ushort w = get_width(), h = get_height();
        ushort2 from = min(origin, ushort2(w, h));
        S s;
        s.__row = w;
        s.__stride = ((device uint *)__at)[2];
        s.__at = __at + __head + (size_t)((uint)from.y * w + from.x) * s.__stride + member;
        s.__size = min(size, ushort2(w - from.x, h - from.y));
        return s;
    }
    METAL_FUNC ushort __sample(ushort index, imageblock_data_rate rate) const {
        return rate == imageblock_data_rate::pixel ? (ushort)0 : index;
    }
    METAL_FUNC device T *__pixel(ushort2 coord, ushort sample) const {
        uint w = get_width(), h = get_height(), n = get_num_samples();
        uint x = coord.x < w ? coord.x : w - 1, y = coord.y < h ? coord.y : h - 1;
        uint s = sample < n ? sample : n - 1;
        uint stride = ((device uint *)__at)[2];
        return (device T *)(__at + __head + (size_t)((s * h + y) * w + x) * stride);
    }
    device uchar *__at;
};

// ---- Pixel data types: stored in few bits, read and written as T

// Unsigned floats without sign: m bits of mantissa, five of exponent, the upper part of a half.
METAL_FUNC uint __to_small_float(float x, uint m) {
    if (!(x > 0)) return x != x ? 31u << m | 1u << (m - 1) : 0;
    uint bits = as_type<ushort>((half)min(x, 65504.0f)), drop = 10 - m;
    if (x > 3.0e38f) return 31u << m;
    bits = (bits + (1u << (drop - 1)) - 1 + (bits >> drop & 1)) >> drop;
    return min(bits, (31u << m) - 1);
}
METAL_FUNC float __from_small_float(uint bits, uint m) {
    return (float)as_type<half>((ushort)(bits << (10 - m)));
}
METAL_FUNC uint __pack_rg11b10f(float3 v) {
    return __to_small_float(v.x, 6) | __to_small_float(v.y, 6) << 11 |
           __to_small_float(v.z, 5) << 22;
}
METAL_FUNC float3 __unpack_rg11b10f(uint b) {
    return float3(__from_small_float(b & 2047, 6), __from_small_float(b >> 11 & 2047, 6),
                  __from_small_float(b >> 22, 5));
}
METAL_FUNC uint __pack_rgb9e5(float3 v) {
    float r = v.x > 0 ? min(v.x, 65408.0f) : 0, g = v.y > 0 ? min(v.y, 65408.0f) : 0;
    float b = v.z > 0 ? min(v.z, 65408.0f) : 0, most = max(r, max(g, b));
    int e = max((int)(as_type<uint>(most) >> 23) - 127 + 1 + 15, 0);
    float scale = as_type<float>((uint)(127 + 24 - e) << 23); // 2^(9 + 15 - e)
    if ((int)floor(most * scale + 0.5f) == 512) {
        e++;
        scale *= 0.5f;
    }
    return (uint)floor(r * scale + 0.5f) | (uint)floor(g * scale + 0.5f) << 9 |
           (uint)floor(b * scale + 0.5f) << 18 | (uint)e << 27;
}
METAL_FUNC float3 __unpack_rgb9e5(uint x) {
    float scale = as_type<float>((uint)(127 - 24 + (x >> 27)) << 23);
    return float3(uint3(x, x >> 9, x >> 18) & 511) * scale;
}

// PACK and UNPACK: between V, a vector of floats or a float, and what is stored.
#define __MSL_PIXEL(NAME, STORED, V, PACK, UNPACK) \
    template <class T> struct NAME { \
        typedef T __value; \
        NAME() = default; \
        METAL_FUNC NAME(T t) { \
            V v = (V)t; \
            __bits = (STORED)(PACK); \
        } \
        METAL_FUNC operator T() const { \
            STORED b = __bits; \
            return (T)(UNPACK); \
        } \
        STORED __bits; \
    };
#define __MSL_SIGNED8(b) ((float)(char)(b))
#define __MSL_SIGNED16(b) ((float)(short)(b))
__MSL_PIXEL(r8unorm, uchar, float, __to_unorm(v, 255.0f), (float)b / 255.0f)
__MSL_PIXEL(r8snorm, uchar, float, (int)__to_snorm(v, 127.0f),
            max(__MSL_SIGNED8(b) / 127.0f, -1.0f))
__MSL_PIXEL(r16unorm, ushort, float, __to_unorm(v, 65535.0f), (float)b / 65535.0f)
__MSL_PIXEL(r16snorm, ushort, float, (int)__to_snorm(v, 32767.0f),
            max(__MSL_SIGNED16(b) / 32767.0f, -1.0f))
__MSL_PIXEL(rg8unorm, ushort, float2, pack_float_to_unorm4x8(float4(v, 0, 0)),
            unpack_unorm4x8_to_float(b).xy)
__MSL_PIXEL(rg8snorm, ushort, float2, pack_float_to_snorm4x8(float4(v, 0, 0)),
            unpack_snorm4x8_to_float(b).xy)
__MSL_PIXEL(rg16unorm, uint, float2, pack_float_to_unorm2x16(v), unpack_unorm2x16_to_float(b))
__MSL_PIXEL(rg16snorm, uint, float2, pack_float_to_snorm2x16(v), unpack_snorm2x16_to_float(b))
__MSL_PIXEL(rgba8unorm, uint, float4, pack_float_to_unorm4x8(v), unpack_unorm4x8_to_float(b))
__MSL_PIXEL(srgba8unorm, uint, float4, pack_float_to_srgb_unorm4x8(v),
            unpack_unorm4x8_srgb_to_float(b))
__MSL_PIXEL(rgba8snorm, uint, float4, pack_float_to_snorm4x8(v), unpack_snorm4x8_to_float(b))
__MSL_PIXEL(rgba16unorm, ulong, float4,
            (ulong)pack_float_to_unorm2x16(v.xy) | (ulong)pack_float_to_unorm2x16(v.zw) << 32,
            float4(unpack_unorm2x16_to_float((uint)b), unpack_unorm2x16_to_float((uint)(b >> 32))))
__MSL_PIXEL(rgba16snorm, ulong, float4,
            (ulong)pack_float_to_snorm2x16(v.xy) | (ulong)pack_float_to_snorm2x16(v.zw) << 32,
            float4(unpack_snorm2x16_to_float((uint)b), unpack_snorm2x16_to_float((uint)(b >> 32))))
__MSL_PIXEL(rgb10a2, uint, float4, pack_float_to_unorm10a2(v), unpack_unorm10a2_to_float(b))
__MSL_PIXEL(rg11b10f, uint, float3, __pack_rg11b10f(v), __unpack_rg11b10f(b))
__MSL_PIXEL(rgb9e5, uint, float3, __pack_rgb9e5(v), __unpack_rgb9e5(b))
#undef __MSL_PIXEL
#undef __MSL_SIGNED8
#undef __MSL_SIGNED16
} // namespace metal
