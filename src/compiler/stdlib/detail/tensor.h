// SPDX-License-Identifier: Apache-2.0
// tensor.h: <metal_tensor>: tensor<Element, Extents, Descriptor, Tags...>, a view of memory with
// sizes and strides. The element type carries the address space. Three kinds:
//
//   tensor_handle                 made by the host: 64 bits, the address of an AbiTensor
//                                 (abi/cpu_tensor.h), as an argument or a member of a struct
//   tensor_handle, tensor_offset  a slice of such a one
//   tensor_inline                 made in the kernel from a pointer, sizes and strides
//
// What a handle stands for is read with __ingot_handle_word, which the compiler makes a plain load
// that stays uniform; slices are arithmetic on a few scalars. The first stride of a handle is 1, as
// the host's tensors have it: t[i, j] for neighbouring i is one vector load.
#pragma once
#if __METAL_VERSION__ >= 400
#include "packed_numeric.h"
#include "tensor_extents.h"

// Words of 64 bits of an AbiTensor: 0 data, 2 .. extents, 18 .. strides; 0 of a null handle.
extern "C" __attribute__((const, nothrow, noconvergent)) ulong __ingot_handle_word(ulong handle,
                                                                                uint word);

namespace metal {
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
                                     __is_same(T, float) ||
                                     (__is_integral(T) && !__is_same(T, bool));

// The number of an element type in AbiTensorType.
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
template <class Element>
using pointer = conditional_t<is_small<__bare<Element>>, typename placed<Element, uchar>::type, Element> *;
template <class Element> METAL_FUNC pointer<Element> advance(pointer<Element> p, long n) {
    if constexpr (is_small<__bare<Element>>) return p + (n >> 1);
    else return p + n;
}

template <class Element> METAL_FUNC Element &element(pointer<Element> p, long n) {
    static_assert(!is_small<__bare<Element>>,
                  "elements below a byte are for operations on tensors: they cannot be accessed "
                  "one by one");
    if constexpr (!is_small<__bare<Element>>) return p[n];
}

// ---- what the kinds are made of
template <class Element, class Extents, class Descr, class... Tags> struct storage {}; // of none: tensor says so

template <class Element, class Extents> struct storage<Element, Extents, tensor_handle> {
    using index = typename Extents::index_type;
    ulong __handle;
    METAL_FUNC pointer<Element> __data() const { return (pointer<Element>)__ingot_handle_word(__handle, 0); }
    template <size_t Dim> METAL_FUNC index __extent_at() const {
        if constexpr (Extents::static_extent(Dim) != dynamic_extent) return index(Extents::static_extent(Dim));
        else return index(__ingot_handle_word(__handle, 2 + Dim));
    }
    template <size_t Dim> METAL_FUNC long __stride_at() const {
        if constexpr (Dim == 0) return 1;
        else return (long)__ingot_handle_word(__handle, 18 + Dim);
    }
};

template <class Element, class Extents> struct storage<Element, Extents, tensor_handle, tensor_offset> {
    using index = typename Extents::index_type;
    ulong __handle;
    long __first; // elements before this slice
    Extents __sizes;
    METAL_FUNC pointer<Element> __data() const {
        return advance<Element>((pointer<Element>)__ingot_handle_word(__handle, 0), __first);
    }
    template <size_t Dim> METAL_FUNC index __extent_at() const { return __sizes.__sizes[Dim]; }
    template <size_t Dim> METAL_FUNC long __stride_at() const {
        if constexpr (Dim == 0) return 1;
        else return (long)__ingot_handle_word(__handle, 18 + Dim);
    }
};

template <class Element, class Extents> struct storage<Element, Extents, tensor_inline> {
    using index = typename Extents::index_type;
    pointer<Element> __pointer;
    Extents __sizes;
    long __strides[Extents::rank() ? Extents::rank() : 1];
    METAL_FUNC pointer<Element> __data() const { return __pointer; }
    template <size_t Dim> METAL_FUNC index __extent_at() const { return __sizes.__sizes[Dim]; }
    template <size_t Dim> METAL_FUNC long __stride_at() const { return __strides[Dim]; }
};

// The type of slices of a tensor, with extents Sliced.
template <class Element, class Sliced, class Descr> struct sliced { using type = tensor<Element, Sliced, Descr>; };
template <class Element, class Sliced> struct sliced<Element, Sliced, tensor_handle> {
    using type = tensor<Element, Sliced, tensor_handle, tensor_offset>;
};
template <class... Tags> constexpr constant bool are_tags = sizeof...(Tags) == 0;
template <> constexpr constant bool are_tags<tensor_offset> = true;
template <class Descr, class Element>
constexpr constant bool has_space =
    in_device<Element> || in_constant<Element> ||
    (__is_same(Descr, tensor_inline) && (in_threadgroup<Element> || in_thread<Element>));
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
                  "tensor_inline also in threadgroup or thread memory: as in tensor<device half, "
                  "...>");

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
        __pack(__dimensions());
    }
    template <class Other>
        requires(__is_same(Descriptor, tensor_inline) && is_convertible_v<Other, index_type>)
    METAL_FUNC tensor(data_handle_type p, const extents_type &e,
                      const array<Other, Extents::rank()> &strides) {
        this->__pointer = p;
        this->__sizes = e;
        __take(strides.__elements, __dimensions());
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
        __take(other.__strides, __dimensions());
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
    METAL_FUNC index_type get_extent(rank_type r) const { return __extent(r, __dimensions()); }
    METAL_FUNC index_type get_stride(rank_type r) const { return index_type(__stride(r)); }
    METAL_FUNC extents_type extents() const { return __all(__dimensions()); }
    METAL_FUNC long __stride(rank_type r) const { return __stride(r, __dimensions()); }
    // Element (0, 0, ...); of elements below a byte, the byte it is in.
    METAL_FUNC data_handle_type data_handle() const { return this->__data(); }

    // ---- elements
    template <class... Index>
        requires(sizeof...(Index) == Extents::rank() &&
                 (is_convertible_v<Index, index_type> && ...))
    METAL_FUNC ElementType &operator[](Index... index) const {
        return __tensor_detail::element<ElementType>(this->__data(),
                                                     __place(__dimensions(), index...));
    }
    template <class Index>
        requires(is_convertible_v<Index, index_type> && Extents::rank() != 0)
    METAL_FUNC ElementType &operator[](const array<Index, Extents::rank()> &index) const {
        return __tensor_detail::element<ElementType>(
            this->__data(), __place_each(index.__elements, __dimensions()));
    }
    template <class Index, int Count>
        requires(is_convertible_v<Index, index_type> && Count == Extents::rank())
    METAL_FUNC ElementType &operator[](vec<Index, Count> index) const {
        return __tensor_detail::element<ElementType>(this->__data(),
                                                     __place_each(index, __dimensions()));
    }

    // ---- slices: from an origin on, with the rest of the extents or with given ones
    template <size_t... Sizes, class... Index>
        requires(sizeof...(Sizes) == Extents::rank() && sizeof...(Index) == Extents::rank() &&
                 (is_convertible_v<Index, index_type> && ...) && sizeof...(Index) != 0)
    METAL_FUNC auto slice(Index... origin) const {
        using result_extents = metal::extents<index_type, Sizes...>;
        typename __tensor_detail::sliced<ElementType, result_extents, Descriptor>::type result;
        result.__sizes = __rest<Sizes...>(__dimensions(), origin...);
        long first = __place(__dimensions(), origin...);
        if constexpr (__is_same(Descriptor, tensor_inline)) {
            result.__pointer = __tensor_detail::advance<ElementType>(this->__pointer, first);
            result.__take(this->__strides, __dimensions());
        } else {
            if constexpr (sizeof...(Tags) != 0) first += this->__first;
            result.__handle = this->__handle;
            result.__first = first;
        }
        return result;
    }
    template <class... Index>
        requires(sizeof...(Index) == Extents::rank() &&
                 (is_convertible_v<Index, index_type> && ...) && sizeof...(Index) != 0)
    METAL_FUNC auto slice(Index... origin) const {
        return __slice_rest(__dimensions(), origin...);
    }

    // ---- the same for each dimension (all public: slices are of other types)
    using __dimensions = make_index_sequence<Extents::rank()>;
    template <size_t... Dim> METAL_FUNC void __pack(index_sequence<Dim...>) {
        long stride = 1;
        ((this->__strides[Dim] = stride, stride *= (long)this->__sizes.__sizes[Dim]), ...);
    }
    template <class Strides, size_t... Dim>
    METAL_FUNC void __take(const Strides &strides, index_sequence<Dim...>) {
        ((this->__strides[Dim] = (long)strides[Dim]), ...);
    }
    template <size_t... Dim>
    METAL_FUNC index_type __extent(size_t r, index_sequence<Dim...>) const {
        index_type n = 0;
        ((n = r == Dim ? this->template __extent_at<Dim>() : n), ...);
        return n;
    }
    template <size_t... Dim> METAL_FUNC long __stride(size_t r, index_sequence<Dim...>) const {
        long n = 0;
        ((n = r == Dim ? this->template __stride_at<Dim>() : n), ...);
        return n;
    }
    template <size_t... Dim> METAL_FUNC extents_type __all(index_sequence<Dim...>) const {
        extents_type e;
        ((e.__sizes[Dim] = this->template __extent_at<Dim>()), ...);
        return e;
    }
    template <size_t... Dim, class... Index>
    METAL_FUNC long __place(index_sequence<Dim...>, Index... index) const {
        return (((long)index_type(index) * this->template __stride_at<Dim>()) + ... + 0l);
    }
    template <class Index, size_t... Dim>
    METAL_FUNC long __place_each(const Index &index, index_sequence<Dim...>) const {
        return (((long)index_type(index[Dim]) * this->template __stride_at<Dim>()) + ... + 0l);
    }
    template <size_t Size, size_t Dim> METAL_FUNC index_type __cut(index_type from) const {
        if constexpr (Size != dynamic_extent) {
            return index_type(Size);
        } else {
            index_type whole = this->template __extent_at<Dim>();
            return whole > from ? index_type(whole - from) : index_type(0);
        }
    }
    template <size_t... Sizes, size_t... Dim, class... Index>
    METAL_FUNC metal::extents<index_type, Sizes...> __rest(index_sequence<Dim...>,
                                                           Index... origin) const {
        metal::extents<index_type, Sizes...> sizes;
        ((sizes.__sizes[Dim] = this->template __cut<Sizes, Dim>(index_type(origin))), ...);
        return sizes;
    }
    template <size_t... Dim, class... Index>
    METAL_FUNC auto __slice_rest(index_sequence<Dim...>, Index... origin) const {
        return slice<__tensor_detail::any<Dim>...>(origin...);
    }
};

template <class Element, class Index, size_t... Extents>
tensor(Element *, extents<Index, Extents...>) -> tensor<Element, extents<Index, Extents...>, tensor_inline>;
template <class Element, class Index, size_t... Extents, class Other>
tensor(Element *, extents<Index, Extents...>, array<Other, sizeof...(Extents)>)
    -> tensor<Element, extents<Index, Extents...>, tensor_inline>;

// A handle of nothing: in a struct that the host left at zero.
template <class Element, class Extents, class... Tags>
METAL_FUNC bool is_null_tensor(const tensor<Element, Extents, tensor_handle, Tags...> &t) {
    return t.__handle == 0;
}

// ---- which kind
namespace __tensor_detail {
template <class T> constexpr constant bool handle = false;
template <class T> constexpr constant bool inlined = false;
template <class T> constexpr constant bool offset = false;
template <class Element, class Extents, class... Tags>
constexpr constant bool handle<tensor<Element, Extents, tensor_handle, Tags...>> = true;
template <class Element, class Extents> constexpr constant bool inlined<tensor<Element, Extents, tensor_inline>> = true;
template <class Element, class Extents, class Descr>
constexpr constant bool offset<tensor<Element, Extents, Descr, tensor_offset>> = true;
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
