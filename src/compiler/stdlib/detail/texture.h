// SPDX-License-Identifier: Apache-2.0
// texture.h: <metal_texture>. A texture object is one 64-bit handle. Its member functions put
// coordinates and options into rows of 32-bit words, as src/abi/cpu_texture.h numbers them, and end
// in one of the compiler's own functions below: the vectoriser makes one call per step of each,
// with only the rows that the operation (a template argument, so always a constant) needs.
// The classes come from texture_class.h; multisample textures and texture buffers stand here.
#pragma once

typedef uint __ingot_u32x4 __attribute__((ext_vector_type(4)));
#define __MSL_ROWS \
    uint, uint, uint, uint, uint, uint, uint, uint, uint, uint, uint, uint, uint, uint, uint, uint
// (texture, sampler, rows): implicit level of detail, so lanes work together; all else; reads of
// textures that the kernel cannot write, and that it can.
template <uint Op>
__attribute__((convergent, nothrow)) __ingot_u32x4 __ingot_texture_sample(ulong, ulong, __MSL_ROWS);
#define __MSL_B(NAME) \
    template <uint Op> \
    __attribute__((noconvergent, nothrow)) __ingot_u32x4 NAME(ulong, ulong, __MSL_ROWS);
__MSL_B(__ingot_texture_sample_at) __MSL_B(__ingot_texture_read) __MSL_B(__ingot_texture_load)
__MSL_B(__ingot_texture_atomic)
#undef __MSL_B
template <uint Op>
__attribute__((noconvergent, nothrow)) void __ingot_texture_write(ulong, ulong, __MSL_ROWS);
#undef __MSL_ROWS
// Word n of the texture's description; 0 for no texture.
extern "C" __attribute__((const, nothrow, noconvergent)) uint __ingot_texture_info(ulong, uint);

namespace metal {
enum class access { sample = 0, read = 1, write = 2, read_write = 3 };

// To whom writes show: here to all threads, so that the third argument of a texture only has to be
// accepted. Types, not values: generated code matches templates whose third parameter is a type.
struct memory_coherence {
    using memory_coherence_threadgroup = void;
    struct memory_coherence_device;
};
using memory_coherence_threadgroup = void;
using memory_coherence_device = memory_coherence::memory_coherence_device;

// What functions of sparse textures give: a value, and whether all texels of it were in memory.
template <class T> struct sparse_color {
    METAL_FUNC constexpr sparse_color(T value, bool resident)
        : __value(value), __resident(resident) {}
    METAL_FUNC constexpr bool resident() const { return __resident; }
    METAL_FUNC constexpr T value() const { return __value; }

private:
    T __value;
    bool __resident;
};

enum { // AbiTexture, texture operations, rows: src/abi/cpu_texture.h
    __TEX_WIDTH = 0, __TEX_HEIGHT, __TEX_DEPTH, __TEX_LAYERS, __TEX_LEVELS, __TEX_SAMPLES,
    __TEX_BIAS = 1 << 8, __TEX_LEVEL = 2 << 8, __TEX_GRADIENT = 3 << 8, __TEX_MIN_LOD = 1 << 10,
    __TEX_OFFSET = 1 << 11, __TEX_COMPARE = 1 << 12, __TEX_GATHER = 1 << 13,
    __TEX_QUERY_LOD = 1 << 16
};
constexpr constant ulong __TEX_RESIDENCY = 1ul << 61; // ABI_TEXTURE_RESIDENCY
struct __tex_rows {
    uint v[16];
};
#define __MSL_ROWS(r) \
    r.v[0], r.v[1], r.v[2], r.v[3], r.v[4], r.v[5], r.v[6], r.v[7], r.v[8], r.v[9], r.v[10], \
        r.v[11], r.v[12], r.v[13], r.v[14], r.v[15]
METAL_FUNC uint __tex_word(float x) { return __builtin_bit_cast(uint, x); }
METAL_FUNC uint __tex_word(uint x) { return x; }
METAL_FUNC uint __tex_word(ushort x) { return x; }
METAL_FUNC uint __tex_word(int x) { return (uint)x; }

// What a question for residency answers: 1 in all components, or 0.
template <class T> METAL_FUNC bool __tex_there(T answer) { return answer != T(0); }
template <class T, int N> METAL_FUNC bool __tex_there(vec<T, N> answer) {
    return answer.x != T(0);
}

// Coordinates: where in the texture, which slice.
template <class E> METAL_FUNC __tex_rows __tex_at(E x, uint slice = 0) {
    return {{__tex_word(x), 0, 0, slice}};
}
template <class E> METAL_FUNC __tex_rows __tex_at(vec<E, 2> p, uint slice = 0) {
    return {{__tex_word(p.x), __tex_word(p.y), 0, slice}};
}
template <class E> METAL_FUNC __tex_rows __tex_at(vec<E, 3> p, uint slice = 0) {
    return {{__tex_word(p.x), __tex_word(p.y), __tex_word(p.z), slice}};
}
METAL_FUNC __tex_rows __tex_level(__tex_rows r, uint level) {
    r.v[5] = level;
    return r;
}
METAL_FUNC __tex_rows __tex_reference(__tex_rows r, float reference) {
    r.v[4] = __tex_word(reference);
    return r;
}
METAL_FUNC __tex_rows __tex_offset(__tex_rows r, int2 o) {
    r.v[13] = (uint)o.x, r.v[14] = (uint)o.y;
    return r;
}
METAL_FUNC __tex_rows __tex_offset(__tex_rows r, int3 o) {
    r.v[13] = (uint)o.x, r.v[14] = (uint)o.y, r.v[15] = (uint)o.z;
    return r;
}
METAL_FUNC __tex_rows __tex_values(__tex_rows r, uint at, __ingot_u32x4 v) {
    r.v[at] = v[0], r.v[at + 1] = v[1], r.v[at + 2] = v[2], r.v[at + 3] = v[3];
    return r;
}

// Options. For Dims of 2, 3 and 4 (a cube) the gradient of the same name.
template <class L, int Dims>
inline constexpr constant bool __lod_option =
    __is_same(L, bias) || __is_same(L, level) || __is_same(L, min_lod_clamp) ||
    (__is_same(L, gradient2d) && Dims == 2) || (__is_same(L, gradient3d) && Dims == 3) ||
    (__is_same(L, gradientcube) && Dims == 4);
template <class L, int Dims>
inline constexpr constant bool __lod_and_clamp = // those that go with a min_lod_clamp
    __lod_option<L, Dims> && !__is_same(L, level) && !__is_same(L, min_lod_clamp);
template <class L>
inline constexpr constant uint __lod_op = __is_same(L, bias)            ? __TEX_BIAS
                                          : __is_same(L, level)         ? __TEX_LEVEL
                                          : __is_same(L, min_lod_clamp) ? __TEX_MIN_LOD
                                                                        : __TEX_GRADIENT;
METAL_FUNC __tex_rows __tex_lod(__tex_rows r, bias l) {
    r.v[5] = __tex_word(l.__value);
    return r;
}
METAL_FUNC __tex_rows __tex_lod(__tex_rows r, level l) {
    r.v[5] = __tex_word(l.__value);
    return r;
}
METAL_FUNC __tex_rows __tex_lod(__tex_rows r, min_lod_clamp l) {
    r.v[12] = __tex_word(l.__value);
    return r;
}
METAL_FUNC __tex_rows __tex_lod(__tex_rows r, gradient2d g) {
    r.v[6] = __tex_word(g.dPdx.x), r.v[7] = __tex_word(g.dPdx.y);
    r.v[9] = __tex_word(g.dPdy.x), r.v[10] = __tex_word(g.dPdy.y);
    return r;
}
template <class G>
    requires(__is_same(G, gradient3d) || __is_same(G, gradientcube))
METAL_FUNC __tex_rows __tex_lod(__tex_rows r, G g) {
    for (int i = 0; i < 3; i++)
        r.v[6 + i] = __tex_word(g.dPdx[i]), r.v[9 + i] = __tex_word(g.dPdy[i]);
    return r;
}

// Components: float, int and uint cross the border; half, short and ushort are converted here, a
// ulong is two words.
template <class T>
inline constexpr constant bool __is_component =
    __is_same(T, float) || __is_same(T, half) || __is_same(T, int) || __is_same(T, uint) ||
    __is_same(T, short) || __is_same(T, ushort);
template <class T>
inline constexpr constant uint __tex_data = __floating<T>      ? 0 << 4
                                            : __is_signed(T)   ? 1 << 4
                                                               : 2 << 4;
template <class T> METAL_FUNC vec<T, 4> __tex_result(__ingot_u32x4 n) {
    if constexpr (__is_same(T, ulong)) return vec<T, 4>(n[0] | (ulong)n[1] << 32, 0, 0, 0);
    else if constexpr (__is_same(T, float))
        return vec<T, 4>(__builtin_bit_cast(__nv<float, 4>, n), __raw{});
    else if constexpr (__is_same(T, half))
        return vec<T, 4>(__convert<half, float>(__builtin_bit_cast(__nv<float, 4>, n)), __raw{});
    else return vec<T, 4>(__builtin_convertvector(n, __nv<T, 4>), __raw{});
}
template <class T> METAL_FUNC T __tex_first(__ingot_u32x4 n) { return __tex_result<T>(n).x; }
template <class T> METAL_FUNC __ingot_u32x4 __tex_value(vec<T, 4> v) {
    if constexpr (__is_same(T, ulong)) return {(uint)v.x, (uint)(v.x >> 32), 0, 0};
    else if constexpr (__is_same(T, float)) return __builtin_bit_cast(__ingot_u32x4, v.__get());
    else if constexpr (__is_same(T, half))
        return __builtin_bit_cast(__ingot_u32x4, __convert<float, half>(v.__get()));
    else return __builtin_convertvector(v.__get(), __ingot_u32x4);
}

template <class T> using __tex4 = vec<T, 4>;

// Sampling takes the whole quad where the level of detail comes from its derivatives.
template <uint Op> __attribute__((convergent)) METAL_FUNC __ingot_u32x4
__tex_sample(ulong t, sampler s, __tex_rows r) {
    if constexpr ((Op >> 8 & 3) >= 2 || (Op & __TEX_GATHER) != 0)
        return __ingot_texture_sample_at<Op>(t, s.__handle, __MSL_ROWS(r));
    else return __ingot_texture_sample<Op>(t, s.__handle, __MSL_ROWS(r));
}
template <uint Op> METAL_FUNC __ingot_u32x4
__tex_gather(ulong t, sampler s, __tex_rows r, component c) {
    switch (c) { // one of four: the component is a constant in all but odd programs
    case component::x: return __tex_sample<Op | __TEX_GATHER>(t, s, r);
    case component::y: return __tex_sample<Op | __TEX_GATHER | 1 << 14>(t, s, r);
    case component::z: return __tex_sample<Op | __TEX_GATHER | 2 << 14>(t, s, r);
    default: return __tex_sample<Op | __TEX_GATHER | 3 << 14>(t, s, r);
    }
}
template <uint Op, access A> METAL_FUNC __ingot_u32x4 __tex_read(ulong t, __tex_rows r) {
    if constexpr (A == access::read_write) return __ingot_texture_load<Op>(t, 0, __MSL_ROWS(r));
    else return __ingot_texture_read<Op>(t, 0, __MSL_ROWS(r));
}
template <uint Op, class T> METAL_FUNC void __tex_write(ulong t, __tex_rows r, vec<T, 4> v) {
    r = __tex_values(r, 8, __tex_value<T>(v));
    __ingot_texture_write<Op>(t, 0, __MSL_ROWS(r));
}
METAL_FUNC uint __tex_size(ulong t, uint which, uint lod) {
    uint n = __ingot_texture_info(t, which), m = n >> (lod & 31);
    return m != 0 || n == 0 ? m : 1;
}

// What each access allows, said at the call.
#define __MSL_MAY_READ \
    static_assert(A != access::write, "a texture with access::write cannot be read");
#define __MSL_MAY_WRITE \
    static_assert(A == access::write || A == access::read_write, \
                  "writing a texture needs access::write or access::read_write");
#define __MSL_MAY_SAMPLE \
    static_assert(A == access::sample, "sampling a texture needs access::sample");
#define __MSL_MAY_FENCE \
    static_assert(A == access::read_write, "fence() needs access::read_write");
#define __MSL_MAY_ATOMIC \
    static_assert(A == access::read_write && \
                      (__is_same(T, int) || __is_same(T, uint) || __is_same(T, ulong)), \
                  "texture atomics need int, uint or ulong components and access::read_write");

// read and write at uint and at ushort coordinates. AT: parameters, ROWS: what they make, LOD: the
// parameter of the level and LEVEL its value (multisample textures and buffers have none).
#define __MSL_READ(I, RESULT, CONVERT) \
    METAL_FUNC RESULT read(__MSL_AT(I)__MSL_LOD(I)) const { \
        __MSL_MAY_READ \
        return CONVERT(__tex_read<__op, A>(__handle, __MSL_TEXEL)); \
    }
#define __MSL_WRITE(I) \
    METAL_FUNC void write(vec<T, 4> color, __MSL_AT(I)__MSL_LOD(I)) const { \
        __MSL_MAY_WRITE \
        __tex_write<__op, T>(__handle, __MSL_TEXEL, color); \
    }

// A slice of an imageblock, texel by texel: one thread writes it.
template <class E, class L> struct imageblock_slice; // imageblock.h
METAL_FUNC uint __slice_at(uint corner, uint x, uint) { return corner + x; }
METAL_FUNC uint __slice_rows(uint, uint) { return 1; }
template <class I> METAL_FUNC vec<I, 2> __slice_at(vec<I, 2> corner, uint x, uint y) {
    return corner + vec<I, 2>((I)x, (I)y);
}
template <class I> METAL_FUNC vec<I, 3> __slice_at(vec<I, 3> corner, uint x, uint y) {
    return corner + vec<I, 3>((I)x, (I)y, (I)0);
}
template <class C> METAL_FUNC uint __slice_rows(C, uint n) { return n; }
template <class T, class S>
    requires(__is_component<S>)
METAL_FUNC vec<T, 4> __slice_texel(S s) {
    return vec<T, 4>((T)s, T(0), T(0), T(0));
}
template <class T, class S> METAL_FUNC vec<T, 4> __slice_texel(vec<S, 2> s) {
    return vec<T, 4>((T)s.x, (T)s.y, T(0), T(0));
}
template <class T, class S> METAL_FUNC vec<T, 4> __slice_texel(vec<S, 3> s) {
    return vec<T, 4>((T)s.x, (T)s.y, (T)s.z, T(0));
}
template <class T, class S> METAL_FUNC vec<T, 4> __slice_texel(vec<S, 4> s) {
    return vec<T, 4>((T)s.x, (T)s.y, (T)s.z, (T)s.w);
}
template <class T, class P, class V = typename P::__value> METAL_FUNC vec<T, 4> __slice_texel(P p) {
    return __slice_texel<T>((V)p);
}
#define __MSL_WRITE_SLICE(I) \
    template <class E, class L> \
    METAL_FUNC void write(imageblock_slice<E, L> slice, __MSL_AT(I)__MSL_LOD(I)) const { \
        __MSL_MAY_WRITE \
        auto corner = coord; \
        for (uint y = 0; y < __slice_rows(corner, slice.__size.y); y++) \
            for (uint x = 0; x < slice.__size.x; x++) { \
                coord = __slice_at(corner, x, y); \
                __tex_write<__op, T>(__handle, __MSL_TEXEL, slice.template __texel<T>(x, y)); \
            } \
    }

// Atomics on the first component. Min and max of ulong give nothing back.
template <uint Op, class T> METAL_FUNC vec<T, 4> __tex_atomic(ulong t, __tex_rows r, vec<T, 4> v) {
    __ingot_u32x4 words = __tex_value<T>(v);
    r.v[8] = words[0], r.v[9] = words[1];
    return __tex_result<T>(__ingot_texture_atomic<Op>(t, 0, __MSL_ROWS(r)));
}
#define __MSL_FETCH(I, NAME, OP) \
    METAL_FUNC vec<T, 4> NAME(__MSL_AT(I), vec<T, 4> operand) const { \
        __MSL_MAY_ATOMIC \
        return __tex_atomic<__op | OP << 20, T>(__handle, __MSL_TEXEL0, operand); \
    }
#define __MSL_ATOMICS(I) \
    METAL_FUNC vec<T, 4> atomic_load(__MSL_AT(I)) const { \
        __MSL_MAY_ATOMIC \
        return __tex_atomic<__op, T>(__handle, __MSL_TEXEL0, vec<T, 4>(T(0))); \
    } \
    METAL_FUNC void atomic_store(vec<T, 4> color, __MSL_AT(I)) const { \
        __MSL_MAY_ATOMIC \
        __tex_atomic<__op | 1 << 20, T>(__handle, __MSL_TEXEL0, color); \
    } \
    __MSL_FETCH(I, atomic_exchange, 2) \
    METAL_FUNC bool atomic_compare_exchange_weak(__MSL_AT(I), thread vec<T, 4> *expected, \
                                                 vec<T, 4> desired) const { \
        __MSL_MAY_ATOMIC \
        __tex_rows r = __MSL_TEXEL0; \
        __ingot_u32x4 to = __tex_value<T>(desired), from = __tex_value<T>(*expected); \
        r.v[8] = to[0], r.v[9] = to[1], r.v[10] = from[0], r.v[11] = from[1]; \
        T old = __tex_result<T>( \
            __ingot_texture_atomic<__op | 3 << 20>(__handle, 0, __MSL_ROWS(r))).x; \
        bool same = old == expected->x; \
        expected->x = old; \
        return same; \
    } \
    __MSL_FETCH(I, atomic_fetch_add, 4) __MSL_FETCH(I, atomic_fetch_sub, 5) \
    __MSL_FETCH(I, atomic_fetch_and, 6) __MSL_FETCH(I, atomic_fetch_or, 7) \
    __MSL_FETCH(I, atomic_fetch_xor, 8) __MSL_FETCH(I, atomic_fetch_min, 9) \
    __MSL_FETCH(I, atomic_fetch_max, 10) \
    METAL_FUNC void atomic_min(__MSL_AT(I), vec<T, 4> operand) const { \
        (void)atomic_fetch_min(__MSL_ARGS, operand); \
    } \
    METAL_FUNC void atomic_max(__MSL_AT(I), vec<T, 4> operand) const { \
        (void)atomic_fetch_max(__MSL_ARGS, operand); \
    }
#define __MSL_GET(NAME, WHICH) \
    METAL_FUNC uint NAME() const { return __ingot_texture_info(__handle, WHICH); }
#define __MSL_GET_AT(NAME, WHICH) \
    METAL_FUNC uint NAME(uint lod = 0) const { return __tex_size(__handle, WHICH, lod); }

// ---- sampled textures: TYPE is the MTLTextureType; DIMS as in __lod_option, 1 for no options, 4
// for cubes
#define __MSL_LOD(I) , I lod = 0
#define __MSL_TEXEL __tex_level(__MSL_TEXEL0, lod)

#define __MSL_NAME texture1d
#define __MSL_TYPE 0
#define __MSL_DIMS 1
#include "texture_class.h"
#define __MSL_NAME texture1d_array
#define __MSL_TYPE 1
#define __MSL_DIMS 1
#define __MSL_ARRAY 1
#include "texture_class.h"
#define __MSL_NAME texture2d
#define __MSL_TYPE 2
#define __MSL_DIMS 2
#include "texture_class.h"
#define __MSL_NAME texture2d_array
#define __MSL_TYPE 3
#define __MSL_DIMS 2
#define __MSL_ARRAY 1
#include "texture_class.h"
#define __MSL_NAME texture3d
#define __MSL_TYPE 7
#define __MSL_DIMS 3
#include "texture_class.h"
#define __MSL_NAME texturecube
#define __MSL_TYPE 5
#define __MSL_DIMS 4
#include "texture_class.h"
#define __MSL_NAME texturecube_array
#define __MSL_TYPE 6
#define __MSL_DIMS 4
#define __MSL_ARRAY 1
#include "texture_class.h"
#define __MSL_NAME depth2d
#define __MSL_TYPE 2
#define __MSL_DIMS 2
#define __MSL_DEPTH 1
#include "texture_class.h"
#define __MSL_NAME depth2d_array
#define __MSL_TYPE 3
#define __MSL_DIMS 2
#define __MSL_DEPTH 1
#define __MSL_ARRAY 1
#include "texture_class.h"
#define __MSL_NAME depthcube
#define __MSL_TYPE 5
#define __MSL_DIMS 4
#define __MSL_DEPTH 1
#include "texture_class.h"
#define __MSL_NAME depthcube_array
#define __MSL_TYPE 6
#define __MSL_DIMS 4
#define __MSL_DEPTH 1
#define __MSL_ARRAY 1
#include "texture_class.h"
#undef __MSL_LOD
#undef __MSL_TEXEL

// ---- multisample textures: only read, sample by sample
#define __MSL_LOD(I) , I sample
#define __MSL_TEXEL __tex_one_sample(__MSL_TEXEL0, sample)
METAL_FUNC __tex_rows __tex_one_sample(__tex_rows r, uint sample) {
    r.v[6] = sample;
    return r;
}
#define __MSL_MULTISAMPLE(NAME, TYPE, FLAGS, OK, RESULT, CONVERT, ...) \
    template <class T, access A = access::read, class = void> struct NAME { \
        static_assert(OK, #NAME ": the type of a component cannot be this one"); \
        static_assert(A == access::read, #NAME ": the access of a multisample texture is read"); \
        static constexpr constant uint __op = TYPE | FLAGS | __tex_data<T>; \
        ulong __handle; \
        __MSL_READ(uint, RESULT, CONVERT) \
        __MSL_READ(ushort, RESULT, CONVERT) \
        __MSL_GET(get_width, __TEX_WIDTH) \
        __MSL_GET(get_height, __TEX_HEIGHT) \
        __MSL_GET(get_num_samples, __TEX_SAMPLES) \
        __VA_ARGS__ \
    };
#define __MSL_AT(I) vec<I, 2> coord
#define __MSL_TEXEL0 __tex_at(coord)
__MSL_MULTISAMPLE(texture2d_ms, 4, 0, __is_component<T>, __tex4<T>, __tex_result<T>)
__MSL_MULTISAMPLE(depth2d_ms, 4, 64, __is_same(T, float), T, __tex_first<T>)
#undef __MSL_AT
#undef __MSL_TEXEL0
#define __MSL_AT(I) vec<I, 2> coord, I array
#define __MSL_TEXEL0 __tex_at(coord, array)
__MSL_MULTISAMPLE(texture2d_ms_array, 8, 0, __is_component<T>, __tex4<T>,
                  __tex_result<T>, __MSL_GET(get_array_size, __TEX_LAYERS))
__MSL_MULTISAMPLE(depth2d_ms_array, 8, 64, __is_same(T, float), T, __tex_first<T>,
                  __MSL_GET(get_array_size, __TEX_LAYERS))
#undef __MSL_AT
#undef __MSL_TEXEL0
#undef __MSL_MULTISAMPLE
#undef __MSL_LOD
#undef __MSL_TEXEL

// ---- texture buffers
#define __MSL_LOD(I)
#define __MSL_AT(I) I coord
#define __MSL_ARGS coord
#define __MSL_TEXEL0 __tex_at((uint)coord)
#define __MSL_TEXEL __MSL_TEXEL0
template <class T, access A = access::read, class = void> struct texture_buffer {
    static_assert(__is_component<T> || __is_same(T, ulong),
                  "texture_buffer: components are float, half, int, uint, short or ushort");
    static_assert(A != access::sample, "a texture_buffer cannot be sampled");
    static constexpr constant uint __op = 9 | __tex_data<T>;
    ulong __handle;
    __MSL_READ(uint, __tex4<T>, __tex_result<T>)
    __MSL_WRITE(uint)
    __MSL_ATOMICS(uint)
    METAL_FUNC void fence() const { __MSL_MAY_FENCE }
    __MSL_GET(get_width, __TEX_WIDTH)
};
#undef __MSL_LOD
#undef __MSL_AT
#undef __MSL_ARGS
#undef __MSL_TEXEL0
#undef __MSL_TEXEL

#undef __MSL_ROWS
#undef __MSL_MAY_READ
#undef __MSL_MAY_WRITE
#undef __MSL_MAY_SAMPLE
#undef __MSL_MAY_ATOMIC
#undef __MSL_MAY_FENCE
#undef __MSL_READ
#undef __MSL_WRITE
#undef __MSL_WRITE_SLICE
#undef __MSL_FETCH
#undef __MSL_ATOMICS
#undef __MSL_GET
#undef __MSL_GET_AT

template <class X>
    requires requires(X t) { t.__handle; X::__op; }
METAL_FUNC bool is_null_texture(X t) {
    return t.__handle == 0;
}
} // namespace metal
