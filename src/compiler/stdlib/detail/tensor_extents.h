// SPDX-License-Identifier: Apache-2.0
// tensor_extents.h: extents<Index, E...> and dextents<Index, Rank>: the sizes of a tensor, each of
// them part of the type or known when the kernel runs; and how a type keeps its address space.
//
// Here and in tensor.h members are indexed by constants only, with packs of indices instead of
// loops: so that even the least optimiser keeps tensors in registers, and the compiler knows which
// memory a pointer in one is of.
#pragma once

namespace metal {
constexpr constant size_t dynamic_extent = ~size_t(0);

template <class IndexType, size_t... Extents> struct extents {
    static_assert(is_integral_v<IndexType> && !__is_same(IndexType, bool),
                  "extents: the index type is an integer");
    static_assert(sizeof...(Extents) <= 16, "extents: a tensor has up to 16 dimensions");
    using index_type = IndexType;
    using size_type = make_unsigned_t<IndexType>;
    using rank_type = size_t;

    // All of them, also those of the type: after inlining these are constants.
    IndexType __sizes[sizeof...(Extents) ? sizeof...(Extents) : 1];

    METAL_FUNC static constexpr rank_type rank() { return sizeof...(Extents); }
    METAL_FUNC static constexpr rank_type rank_dynamic() {
        return ((Extents == dynamic_extent ? 1 : 0) + ... + rank_type(0));
    }
    METAL_FUNC static constexpr size_t static_extent(rank_type r) {
        size_t at = 0, result = dynamic_extent;
        ((result = at++ == r ? Extents : result), ...);
        return result;
    }
    METAL_FUNC constexpr index_type extent(rank_type r) const {
        return pick(r, make_index_sequence<sizeof...(Extents)>());
    }

    METAL_FUNC constexpr extents()
        : __sizes{IndexType(Extents == dynamic_extent ? 0 : Extents)...} {}
    // The dynamic ones in order, or all.
    template <class... Others>
        requires((is_convertible_v<Others, IndexType> && ...) && sizeof...(Others) > 0 &&
                 (sizeof...(Others) == rank_dynamic() || sizeof...(Others) == rank()))
    METAL_FUNC constexpr extents(Others... others) : extents() {
        set(array<IndexType, sizeof...(Others)>{IndexType(others)...},
            make_index_sequence<sizeof...(Extents)>());
    }
    template <class Other, size_t Count>
        requires(is_convertible_v<Other, IndexType> && (Count == rank_dynamic() || Count == rank()))
    METAL_FUNC constexpr extents(const array<Other, Count> &others) : extents() {
        set(others, make_index_sequence<sizeof...(Extents)>());
    }
    template <class Other, size_t... OtherExtents>
        requires(sizeof...(OtherExtents) == rank() &&
                 ((Extents == dynamic_extent || OtherExtents == dynamic_extent ||
                   Extents == OtherExtents) &&
                  ...))
    METAL_FUNC constexpr extents(const extents<Other, OtherExtents...> &others) : extents() {
        convert(others, make_index_sequence<sizeof...(Extents)>());
    }

    template <class Other, size_t... OtherExtents>
    METAL_FUNC friend constexpr bool operator==(const extents &a,
                                                const extents<Other, OtherExtents...> &b) {
        bool same = rank() == b.rank();
        for (size_t i = 0; same && i < rank(); i++) same = a.extent(i) == b.extent(i);
        return same;
    }

private:
    // How many before the one at d are dynamic.
    METAL_FUNC static constexpr size_t before(size_t d) {
        size_t at = 0, n = 0;
        ((n += at++ < d && Extents == dynamic_extent), ...);
        return n;
    }
    template <class Other, size_t Count, size_t... Descr>
    METAL_FUNC constexpr void set(const array<Other, Count> &given, index_sequence<Descr...>) {
        ((Extents == dynamic_extent
              ? void(__sizes[Descr] = IndexType(given.__elements[Count == rank() ? Descr : before(Descr)]))
              : void()),
         ...);
    }
    template <class Other, size_t... Descr>
    METAL_FUNC constexpr void convert(const Other &others, index_sequence<Descr...>) {
        ((Extents == dynamic_extent ? void(__sizes[Descr] = IndexType(others.__sizes[Descr])) : void()),
         ...);
    }
    template <size_t... Descr>
    METAL_FUNC constexpr IndexType pick(size_t r, index_sequence<Descr...>) const {
        IndexType n = 0;
        ((n = r == Descr ? __sizes[Descr] : n), ...);
        return n;
    }
};

namespace __tensor_detail {
template <size_t> constexpr constant size_t any = dynamic_extent;
template <class Index, class Space> struct dynamic;
template <class Index, size_t... Count> struct dynamic<Index, index_sequence<Count...>> {
    using type = extents<Index, any<Count>...>;
};
template <class T> constexpr constant bool is_extents = false;
template <class Index, size_t... Element> constexpr constant bool is_extents<extents<Index, Element...>> = true;

// The address space of an element type, and another type in the same one.
template <class Element> using bare = remove_addrspace_t<Element>; // may be const
template <class Element> constexpr constant bool in_device = __is_same(Element, device bare<Element>);
template <class Element> constexpr constant bool in_constant = __is_same(Element, constant bare<Element>);
template <class Element> constexpr constant bool in_threadgroup = __is_same(Element, threadgroup bare<Element>);
template <class Element> constexpr constant bool in_thread = __is_same(Element, thread bare<Element>);
template <class Element, class T> struct placed { using type = T; };
#define __MSL_PLACED(Space) \
    template <class Element, class T> \
        requires(__is_same(Element, Space bare<Element>)) \
    struct placed<Element, T> { \
        using type = Space conditional_t<is_const_v<bare<Element>>, const T, T>; \
    };
__MSL_PLACED(device)
__MSL_PLACED(constant)
__MSL_PLACED(threadgroup)
__MSL_PLACED(thread)
#undef __MSL_PLACED
} // namespace __tensor_detail

template <class IndexType, size_t Rank>
using dextents = typename __tensor_detail::dynamic<IndexType, make_index_sequence<Rank>>::type;
} // namespace metal
