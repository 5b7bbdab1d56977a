// SPDX-License-Identifier: Apache-2.0
// texture_class.h: one class of textures that can be sampled. Included by texture.h once for each,
// with the macros described there; __MSL_DEPTH and __MSL_ARRAY are set for depth textures and
// arrays. What the access of a texture forbids is an error where it is called.
#ifdef __MSL_DEPTH
#define __MSL_TV T
#define __MSL_CONVERT __tex_first<T>
#define __MSL_ALLOWED __is_same(T, float)
#else
#define __MSL_TV __tex4<T>
#define __MSL_CONVERT __tex_result<T>
#define __MSL_ALLOWED (__is_component<T> || __is_same(T, ulong))
#endif
// POINT: the coordinates of sample; AT and ARGS: those of read and write, a texel
#if __MSL_DIMS == 1
#define __MSL_POINT1 float coord
#define __MSL_AT1(I) I coord
#define __MSL_ARGS1 coord
#elif __MSL_DIMS == 2
#define __MSL_POINT1 float2 coord
#define __MSL_AT1(I) vec<I, 2> coord
#define __MSL_ARGS1 coord
#elif __MSL_DIMS == 3
#define __MSL_POINT1 float3 coord
#define __MSL_AT1(I) vec<I, 3> coord
#define __MSL_ARGS1 coord
#else
#define __MSL_POINT1 float3 coord
#define __MSL_AT1(I) vec<I, 2> coord, I face
#define __MSL_ARGS1 coord, face
#endif
#ifdef __MSL_ARRAY
#define __MSL_POINT __MSL_POINT1, uint array
#define __MSL_POINT0 __tex_at(coord, array)
#define __MSL_AT(I) __MSL_AT1(I), I array
#define __MSL_ARGS __MSL_ARGS1, array
#else
#define __MSL_POINT __MSL_POINT1
#define __MSL_POINT0 __tex_at(coord)
#define __MSL_AT(I) __MSL_AT1(I)
#define __MSL_ARGS __MSL_ARGS1
#endif
#if __MSL_DIMS == 1 && defined __MSL_ARRAY
#define __MSL_TEXEL0 __tex_at((uint)coord, array)
#elif __MSL_DIMS == 1
#define __MSL_TEXEL0 __tex_at((uint)coord)
#elif __MSL_DIMS == 4 && defined __MSL_ARRAY
#define __MSL_TEXEL0 __tex_at(coord, face + 6u * array)
#else
#define __MSL_TEXEL0 __tex_at(__MSL_ARGS)
#endif
#define __MSL_STRING2(X) #X
#define __MSL_STRING(X) __MSL_STRING2(X)

// (the third parameter: generated code matches templates of three)
template <class T, access A = access::sample, class = void> struct __MSL_NAME {
    static_assert(__MSL_ALLOWED, __MSL_STRING(__MSL_NAME)
                  ": a component of a texture is float, half, int, uint, short or ushort, of a "
                  "depth texture float");
#ifdef __MSL_DEPTH
    static_assert(A == access::sample || A == access::read,
                  "the access of a depth texture is sample or read");
    static constexpr constant uint __op = __MSL_TYPE | 1 << 6;
#else
    static constexpr constant uint __op = __MSL_TYPE | __tex_data<T>;
#endif
    ulong __handle;

    // ---- sample
#define __MSL_SAMPLE(NAME, OP, BASE, TV, CONVERT, ...) \
    __attribute__((convergent)) METAL_FUNC TV NAME(sampler s, __VA_ARGS__) const { \
        __MSL_MAY_SAMPLE \
        return CONVERT(__tex_sample<__op | OP>(__handle, s, BASE)); \
    }
#if __MSL_DIMS == 1
    __MSL_SAMPLE(sample, 0, __MSL_POINT0, __MSL_TV, __MSL_CONVERT, __MSL_POINT)
#elif __MSL_DIMS == 4
#define __MSL_OFFSET0(R) R
#define __MSL_OFFSET_PARAM
#define __MSL_OFFSET_OP 0
#elif __MSL_DIMS == 3
#define __MSL_OFFSET0(R) __tex_offset(R, offset)
#define __MSL_OFFSET_PARAM , int3 offset = int3(0)
#define __MSL_OFFSET_OP __TEX_OFFSET
#else
#define __MSL_OFFSET0(R) __tex_offset(R, offset)
#define __MSL_OFFSET_PARAM , int2 offset = int2(0)
#define __MSL_OFFSET_OP __TEX_OFFSET
#endif
#if __MSL_DIMS > 1
    // with no options, with one, and with a bias or gradient and a clamp
#define __MSL_SAMPLES(NAME, OP, BASE, TV, CONVERT, ...) \
    __MSL_SAMPLE(NAME, OP | __MSL_OFFSET_OP, __MSL_OFFSET0(BASE), TV, CONVERT, \
                 __VA_ARGS__ __MSL_OFFSET_PARAM) \
    template <class L> \
        requires(__lod_option<L, __MSL_DIMS>) \
    __MSL_SAMPLE(NAME, OP | __MSL_OFFSET_OP | __lod_op<L>, \
                 __tex_lod(__MSL_OFFSET0(BASE), options), TV, CONVERT, \
                 __VA_ARGS__, L options __MSL_OFFSET_PARAM) \
    template <class L> \
        requires(__lod_and_clamp<L, __MSL_DIMS>) \
    __MSL_SAMPLE(NAME, OP | __MSL_OFFSET_OP | __lod_op<L> | __TEX_MIN_LOD, \
                 __tex_lod(__tex_lod(__MSL_OFFSET0(BASE), options), clamp), TV, CONVERT, \
                 __VA_ARGS__, L options, min_lod_clamp clamp __MSL_OFFSET_PARAM)
    __MSL_SAMPLES(sample, 0, __MSL_POINT0, __MSL_TV, __MSL_CONVERT, __MSL_POINT)

    // ---- gather and comparisons
#ifdef __MSL_DEPTH
    __MSL_SAMPLES(sample_compare, __TEX_COMPARE, __tex_reference(__MSL_POINT0, compare_value), T,
                  __tex_first<T>, __MSL_POINT, float compare_value)
    METAL_FUNC __tex4<T> gather(sampler s, __MSL_POINT __MSL_OFFSET_PARAM) const {
        __MSL_MAY_SAMPLE
        return __tex_result<T>(__tex_sample<__op | __TEX_GATHER | __MSL_OFFSET_OP>(
            __handle, s, __MSL_OFFSET0(__MSL_POINT0)));
    }
    METAL_FUNC __tex4<T> gather_compare(sampler s, __MSL_POINT,
                                        float compare_value __MSL_OFFSET_PARAM) const {
        __MSL_MAY_SAMPLE
        return __tex_result<T>(
            __tex_sample<__op | __TEX_GATHER | __TEX_COMPARE | __MSL_OFFSET_OP>(
                __handle, s, __tex_reference(__MSL_OFFSET0(__MSL_POINT0), compare_value)));
    }
#elif __MSL_DIMS != 3
    METAL_FUNC __tex4<T> gather(sampler s, __MSL_POINT __MSL_OFFSET_PARAM,
                                component c = component::x) const {
        __MSL_MAY_SAMPLE
        return __tex_result<T>(__tex_gather<__op | __MSL_OFFSET_OP>(
            __handle, s, __MSL_OFFSET0(__MSL_POINT0), c));
    }
#endif
#define __MSL_LOD_QUERY(NAME, WHICH) \
    __attribute__((convergent)) METAL_FUNC float NAME(sampler s, __MSL_WHERE) const { \
        __MSL_MAY_SAMPLE \
        uint n = __tex_sample<__op | __TEX_QUERY_LOD>(__handle, s, __tex_at(coord))[WHICH]; \
        return __builtin_bit_cast(float, n); \
    }
#if __MSL_DIMS == 2
#define __MSL_WHERE float2 coord
#else
#define __MSL_WHERE float3 coord
#endif
    __MSL_LOD_QUERY(calculate_clamped_lod, 0)
    __MSL_LOD_QUERY(calculate_unclamped_lod, 1)
#undef __MSL_LOD_QUERY
#undef __MSL_WHERE
#undef __MSL_SAMPLES
#undef __MSL_OFFSET0
#undef __MSL_OFFSET_PARAM
#undef __MSL_OFFSET_OP
#endif
#undef __MSL_SAMPLE

    // ---- read and write (a scalar ushort becomes a uint by itself, a vector does not)
    __MSL_READ(uint, __MSL_TV, __MSL_CONVERT)
#if __MSL_DIMS > 1
    __MSL_READ(ushort, __MSL_TV, __MSL_CONVERT)
#endif
#ifndef __MSL_DEPTH
    __MSL_WRITE(uint)
    __MSL_WRITE_SLICE(uint)
#if __MSL_DIMS > 1
    __MSL_WRITE(ushort)
    __MSL_WRITE_SLICE(ushort)
#endif
    // What a thread wrote, it reads: the compiler keeps the order of both.
    METAL_FUNC void fence() const { __MSL_MAY_FENCE }
#endif
#ifndef __MSL_DEPTH
    __MSL_ATOMICS(uint)
#if __MSL_DIMS > 1
    __MSL_ATOMICS(ushort)
#endif
#endif

#if __MSL_DIMS > 1
    // ---- of sparse textures: the same with whether the texels are there, which is a second question
#define __MSL_SPARSE(NAME) \
    template <class... X> \
    __attribute__((convergent)) METAL_FUNC auto sparse_##NAME(X... x) const \
        ->sparse_color<decltype(this->NAME(x...))> { \
        auto asks = *this; \
        asks.__handle |= __TEX_RESIDENCY; \
        return sparse_color<decltype(this->NAME(x...))>(this->NAME(x...), \
                                                        __tex_there(asks.NAME(x...))); \
    }
    __MSL_SPARSE(sample)
    __MSL_SPARSE(read)
#if __MSL_DIMS != 3
    __MSL_SPARSE(gather)
#endif
#ifdef __MSL_DEPTH
    __MSL_SPARSE(sample_compare)
    __MSL_SPARSE(gather_compare)
#endif
#undef __MSL_SPARSE
#endif

    // ---- sizes
#if __MSL_DIMS == 1
    METAL_FUNC uint get_width(uint = 0) const {
        return __ingot_texture_info(__handle, __TEX_WIDTH);
    }
#else
    __MSL_GET_AT(get_width, __TEX_WIDTH)
    __MSL_GET_AT(get_height, __TEX_HEIGHT)
#endif
#if __MSL_DIMS == 3
    __MSL_GET_AT(get_depth, __TEX_DEPTH)
#endif
#ifdef __MSL_ARRAY
    __MSL_GET(get_array_size, __TEX_LAYERS)
#endif
    __MSL_GET(get_num_mip_levels, __TEX_LEVELS)
};
#undef __MSL_TV
#undef __MSL_CONVERT
#undef __MSL_ALLOWED
#undef __MSL_STRING
#undef __MSL_STRING2
#undef __MSL_NAME
#undef __MSL_TYPE
#undef __MSL_DIMS
#undef __MSL_DEPTH
#undef __MSL_ARRAY
#undef __MSL_POINT1
#undef __MSL_AT1
#undef __MSL_ARGS1
#undef __MSL_POINT
#undef __MSL_POINT0
#undef __MSL_AT
#undef __MSL_ARGS
#undef __MSL_TEXEL0
