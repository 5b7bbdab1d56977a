// SPDX-License-Identifier: Apache-2.0
// tensor.h: <metal_tensor>: tensor<Element, Extents, Descriptor, Tags...>, a view of memory with
// sizes and strides. The element type carries the address space. Three kinds:
//
//   tensor_handle                 made by the host: 64 bits, the address of a CpuTensor
//                                 (cpu/tensor_abi.h), as an argument or a member of a struct
//   tensor_handle, tensor_offset  a slice of such a one
//   tensor_inline                 made in the kernel from a pointer, sizes and strides
//
// What a handle stands for is read with __ingot_handle_word, which the compiler makes a plain load
// that stays uniform; slices are arithmetic on a few scalars. The first stride of a handle is 1, as
// the host's tensors have it: t[i, j] for neighbouring i is one vector load.
#pragma once
#if __METAL_VERSION__ >= 400
#include "tensor_extents.h"

// Words of 64 bits of a CpuTensor: 0 data, 2 .. extents, 18 .. strides; 0 of a null handle.
extern "C" __attribute__((const, nothrow, noconvergent)) ulong __ingot_handle_word(ulong handle,
                                                                                uint word);

namespace metal {
// Elements of four bits, two in a byte, the even one in the low half: of tensors only.
struct int4b_format {};
struct uint4b_format {};

struct tensor_handle {};
struct tensor_inline {};
struct tensor_offset {};

template <class ElementType, class Extents, class Descriptor = tensor_handle, class... Tags>
struct tensor;

namespace __tensor_detail {
template <class T>
constexpr constant bool is_small = __is_same(T, int4b_format) || __is_same(T, uint4b_format);
template <class T>
constexpr constant bool is_element = is_small<T> || __is_same(T, half) || __is_same(T, bfloat) ||
                                     (is_arithmetic_v<T> && !__is_same(T, bool));

// The number of an element type in CpuTensorType.
template <class T> METAL_FUNC constexpr uint number_of() {
    if constexpr (__is_same(T, float)) return 3;
    else if constexpr (__is_same(T, half)) return 16;
    else if constexpr (__is_same(T, bfloat)) return 121;
    else if constexpr (__is_same(T, int4b_format)) return 143;
    else if constexpr (__is_same(T, uint4b_format)) return 144;
    else if constexpr (sizeof(T) == 1) return is_signed_v<T> ? 45 : 49;
    else if constexpr (sizeof(T) == 2) return is_signed_v<T> ? 37 : 41;
    else if constexpr (sizeof(T) == 4) return is_signed_v<T> ? 29 : 33;
    else return is_signed_v<T> ? 81 : 85;
}

// A pointer to elements: to bytes, where they are smaller.
template <class E>
using pointer = conditional_t<is_small<__bare<E>>, typename placed<E, uchar>::type, E> *;
template <class E> METAL_FUNC pointer<E> advance(pointer<E> p, long n) {
    if constexpr (is_small<__bare<E>>) return p + (n >> 1);
    else return p + n;
}

// An element of four bits. Stores are of the whole byte: its other half belongs to the same thread.
template <class E> struct small_reference {
    pointer<E> __byte;
    uint __shift;
    METAL_FUNC operator int8_t() const {
        uint n = *__byte >> __shift & 15;
        return int8_t(__is_same(__bare<E>, int4b_format) ? int(n << 28) >> 28 : int(n));
    }
    METAL_FUNC const thread small_reference &operator=(int x) const
        requires(!is_const_v<bare<E>>)
    {
        *__byte = uchar((*__byte & ~(15u << __shift)) | (uint(x) & 15) << __shift);
        return (const thread small_reference &)*this;
    }
};
template <class E> METAL_FUNC decltype(auto) element(pointer<E> p, long n) {
    if constexpr (is_small<__bare<E>>)
        return small_reference<E>{p + (n >> 1), uint(n & 1) * 4};
    else return (p[n]);
}

// ---- what the kinds are made of: data(), extent(r), stride(r)
template <class E, class X, class D, class... Tags> struct storage;

template <class E, class X> struct storage<E, X, tensor_handle> {
    ulong __handle;
    METAL_FUNC pointer<E> __data() const { return (pointer<E>)__ingot_handle_word(__handle, 0); }
    METAL_FUNC typename X::index_type __extent(size_t r) const {
        return X::static_extent(r) != dynamic_extent
                   ? typename X::index_type(X::static_extent(r))
                   : typename X::index_type(__ingot_handle_word(__handle, uint(2 + r)));
    }
    METAL_FUNC long __stride(size_t r) const {
        return r == 0 ? 1 : (long)__ingot_handle_word(__handle, uint(18 + r));
    }
};

template <class E, class X> struct storage<E, X, tensor_handle, tensor_offset> {
    ulong __handle;
    long __first; // elements before this slice
    X __sizes;
    METAL_FUNC pointer<E> __data() const {
        return advance<E>((pointer<E>)__ingot_handle_word(__handle, 0), __first);
    }
    METAL_FUNC typename X::index_type __extent(size_t r) const { return __sizes.extent(r); }
    METAL_FUNC long __stride(size_t r) const {
        return r == 0 ? 1 : (long)__ingot_handle_word(__handle, uint(18 + r));
    }
};

template <class E, class X> struct storage<E, X, tensor_inline> {
    pointer<E> __pointer;
    X __sizes;
    long __strides[X::rank() ? X::rank() : 1];
    METAL_FUNC pointer<E> __data() const { return __pointer; }
    METAL_FUNC typename X::index_type __extent(size_t r) const { return __sizes.extent(r); }
    METAL_FUNC long __stride(size_t r) const { return __strides[r]; }
};

// The type of slices of a tensor, with extents Y.
template <class E, class Y, class D> struct sliced { using type = tensor<E, Y, D>; };
template <class E, class Y> struct sliced<E, Y, tensor_handle> {
    using type = tensor<E, Y, tensor_handle, tensor_offset>;
};
template <class... Tags> constexpr constant bool are_tags = sizeof...(Tags) == 0;
template <> constexpr constant bool are_tags<tensor_offset> = true;
template <class D, class E>
constexpr constant bool has_space =
    in_device<E> || in_constant<E> ||
    (__is_same(D, tensor_inline) && (in_threadgroup<E> || in_thread<E>));
} // namespace __tensor_detail

template <class ElementType, class Extents, class Descriptor, class... Tags>
struct tensor : __tensor_detail::storage<ElementType, Extents, Descriptor, Tags...> {
    static_assert(__is_same(Descriptor, tensor_handle) || __is_same(Descriptor, tensor_inline),
                  "tensor: the descriptor is tensor_handle or tensor_inline");
    static_assert(__tensor_detail::are_tags<Tags...> &&
                      (sizeof...(Tags) == 0 || __is_same(Descriptor, tensor_handle)),
                  "tensor: the only tag is tensor_offset, of a tensor_handle");
    static_assert(__tensor_detail::is_extents<Extents>, "tensor: extents<...> or dextents<...>");
    static_assert(__tensor_detail::is_element<__bare<ElementType>>,
                  "tensor: elements are half, bfloat, float, integers, int4b_format or "
                  "uint4b_format");
    static_assert(__tensor_detail::has_space<Descriptor, ElementType>,
                  "tensor: elements of a tensor_handle are in device or constant memory, of a "
                  "tensor_inline also in threadgroup or thread memory: as in tensor<device half, ...>");

    using element_type = ElementType;
    using value_type = __bare<ElementType>;
    using extents_type = Extents;
    using index_type = typename Extents::index_type;
    using size_type = typename Extents::size_type;
    using rank_type = typename Extents::rank_type;
    using descriptor_type = Descriptor;
    using data_handle_type = __tensor_detail::pointer<ElementType>;
    using strides_type = array<index_type, Extents::rank()>;
    static constexpr constant uint __number = __tensor_detail::number_of<value_type>();

    tensor() = default;

    // ---- tensor_inline: over a pointer, packed or with strides in elements
    METAL_FUNC tensor(data_handle_type p, const extents_type &e)
        requires(__is_same(Descriptor, tensor_inline))
    {
        this->__pointer = p;
        this->__sizes = e;
        long stride = 1;
        for (size_t i = 0; i < get_rank(); i++) {
            this->__strides[i] = stride;
            stride *= (long)e.extent(i);
        }
    }
    template <class Other>
        requires(__is_same(Descriptor, tensor_inline) && is_convertible_v<Other, index_type>)
    METAL_FUNC tensor(data_handle_type p, const extents_type &e,
                      const array<Other, Extents::rank()> &strides) {
        this->__pointer = p;
        this->__sizes = e;
        for (size_t i = 0; i < get_rank(); i++) this->__strides[i] = (long)strides[i];
    }
    // The same elements with extents that are less of the type, or as const.
    template <class OtherElement, class OtherExtents>
        requires(__is_same(Descriptor, tensor_inline) &&
                 !(__is_same(OtherElement, ElementType) && __is_same(OtherExtents, Extents)) &&
                 (__is_same(OtherElement, ElementType) ||
                  __is_same(const OtherElement, ElementType)) &&
                 __is_constructible(Extents, OtherExtents))
    METAL_FUNC tensor(const tensor<OtherElement, OtherExtents, tensor_inline> &other) {
        this->__pointer = other.__pointer;
        this->__sizes = Extents(other.__sizes);
        for (size_t i = 0; i < get_rank(); i++) this->__strides[i] = other.__strides[i];
    }

    // ---- sizes and strides
    METAL_FUNC static constexpr rank_type get_rank() { return Extents::rank(); }
    METAL_FUNC static constexpr rank_type rank() { return Extents::rank(); }
    METAL_FUNC static constexpr rank_type rank_dynamic() { return Extents::rank_dynamic(); }
    METAL_FUNC static constexpr size_t get_static_extent(rank_type r) {
        return Extents::static_extent(r);
    }
    METAL_FUNC static constexpr size_t static_extent(rank_type r) {
        return Extents::static_extent(r);
    }
    METAL_FUNC index_type get_extent(rank_type r) const { return this->__extent(r); }
    METAL_FUNC index_type get_stride(rank_type r) const { return index_type(this->__stride(r)); }
    METAL_FUNC extents_type extents() const {
        return __all(make_index_sequence<Extents::rank()>());
    }
    // Element (0, 0, ...); of elements below a byte, the byte it is in.
    METAL_FUNC data_handle_type data_handle() const { return this->__data(); }

    // ---- elements
    template <class... Index>
        requires(sizeof...(Index) == Extents::rank() && (is_convertible_v<Index, index_type> && ...))
    METAL_FUNC decltype(auto) operator[](Index... index) const {
        long at = 0;
        size_t r = 0;
        ((at += (long)index_type(index) * this->__stride(r++)), ...);
        return __tensor_detail::element<ElementType>(this->__data(), at);
    }
    template <class Index>
        requires(is_convertible_v<Index, index_type> && Extents::rank() != 0)
    METAL_FUNC decltype(auto) operator[](const array<Index, Extents::rank()> &index) const {
        long at = 0;
        for (size_t r = 0; r < get_rank(); r++) at += (long)index_type(index[r]) * this->__stride(r);
        return __tensor_detail::element<ElementType>(this->__data(), at);
    }
    template <class Index, int N>
        requires(is_convertible_v<Index, index_type> && N == Extents::rank())
    METAL_FUNC decltype(auto) operator[](vec<Index, N> index) const {
        long at = 0;
        for (int r = 0; r < N; r++) at += (long)index_type(index[r]) * this->__stride(r);
        return __tensor_detail::element<ElementType>(this->__data(), at);
    }

    // ---- slices: from an origin on, with the rest of the extents or with given ones
    template <size_t... Sizes, class... Index>
        requires(sizeof...(Sizes) == Extents::rank() && sizeof...(Index) == Extents::rank() &&
                 (is_convertible_v<Index, index_type> && ...) && sizeof...(Index) != 0)
    METAL_FUNC auto slice(Index... origin) const {
        using result_extents = metal::extents<index_type, Sizes...>;
        const index_type from[] = {index_type(origin)...};
        result_extents sizes;
        size_t r = 0;
        ((__cut<Sizes>(sizes.__sizes[r], from[r], r), r++), ...);
        long first = 0;
        for (size_t i = 0; i < get_rank(); i++) first += (long)from[i] * this->__stride(i);
        typename __tensor_detail::sliced<ElementType, result_extents, Descriptor>::type result;
        result.__sizes = sizes;
        if constexpr (__is_same(Descriptor, tensor_inline)) {
            result.__pointer = __tensor_detail::advance<ElementType>(this->__pointer, first);
            for (size_t i = 0; i < get_rank(); i++) result.__strides[i] = this->__strides[i];
        } else {
            result.__handle = this->__handle;
            if constexpr (sizeof...(Tags) != 0) first += this->__first;
            result.__first = first;
        }
        return result;
    }
    template <class... Index>
        requires(sizeof...(Index) == Extents::rank() &&
                 (is_convertible_v<Index, index_type> && ...) && sizeof...(Index) != 0)
    METAL_FUNC auto slice(Index... origin) const {
        return __rest(make_index_sequence<Extents::rank()>(), origin...);
    }

private:
    template <size_t... N>
    METAL_FUNC extents_type __all(index_sequence<N...>) const {
        extents_type e;
        ((e.__sizes[N] = this->__extent(N)), ...);
        return e;
    }
    template <size_t Size>
    METAL_FUNC void __cut(thread index_type &size, index_type from, size_t r) const {
        if constexpr (Size == dynamic_extent) {
            index_type whole = this->__extent(r);
            size = whole > from ? index_type(whole - from) : index_type(0);
        }
    }
    template <size_t... N, class... Index>
    METAL_FUNC auto __rest(index_sequence<N...>, Index... origin) const {
        return slice<(N, dynamic_extent)...>(origin...);
    }
};

template <class E, class I, size_t... X>
tensor(E *, extents<I, X...>) -> tensor<E, extents<I, X...>, tensor_inline>;
template <class E, class I, size_t... X, class O>
tensor(E *, extents<I, X...>, array<O, sizeof...(X)>)
    -> tensor<E, extents<I, X...>, tensor_inline>;

// ---- which kind
namespace __tensor_detail {
template <class T> constexpr constant bool handle = false;
template <class T> constexpr constant bool inlined = false;
template <class T> constexpr constant bool offset = false;
template <class E, class X, class... Tags>
constexpr constant bool handle<tensor<E, X, tensor_handle, Tags...>> = true;
template <class E, class X> constexpr constant bool inlined<tensor<E, X, tensor_inline>> = true;
template <class E, class X, class D>
constexpr constant bool offset<tensor<E, X, D, tensor_offset>> = true;
} // namespace __tensor_detail
#define __MSL_T(NAME, VALUE) \
    template <class T> constexpr constant bool NAME##_v = (VALUE); \
    template <class T> struct NAME : bool_constant<(VALUE)> {};
__MSL_T(is_tensor_handle, __tensor_detail::handle<__bare<T>>)
__MSL_T(is_tensor_inline, __tensor_detail::inlined<__bare<T>>)
__MSL_T(has_tensor_offset, __tensor_detail::offset<__bare<T>>)
__MSL_T(is_tensor, __tensor_detail::handle<__bare<T>> || __tensor_detail::inlined<__bare<T>>)
#undef __MSL_T
} // namespace metal
#endif
