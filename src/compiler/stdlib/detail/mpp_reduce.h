// SPDX-License-Identifier: Apache-2.0
// mpp_reduce.h: reductions of a cooperative tensor along its rows or columns, within a SIMD-group.
#pragma once

namespace mpp {
namespace tensor_ops {
enum class reduction_operation { sum, max, min };

template <class ElementType> struct reduction_operation_identity {
    static constexpr constant ElementType sum_identity = ElementType(0);
    static constexpr constant ElementType max_identity =
        metal::numeric_limits<ElementType>::lowest();
    static constexpr constant ElementType min_identity = metal::numeric_limits<ElementType>::max();
};

namespace __ops {
template <class T> METAL_FUNC T combine(reduction_operation op, T a, T b) {
    if (op == reduction_operation::sum) return a + b;
    return op == reduction_operation::max ? metal::max(a, b) : metal::min(a, b);
}
template <class T> __MSL_GROUP T combine_threads(reduction_operation op, T x) {
    if (op == reduction_operation::sum) return metal::simd_sum(x);
    return op == reduction_operation::max ? metal::simd_max(x) : metal::simd_min(x);
}
// What takes no part in the sum over the threads.
template <class T> METAL_FUNC T neutral(reduction_operation op) {
    using limits = reduction_operation_identity<T>;
    if (op == reduction_operation::sum) return limits::sum_identity;
    if constexpr (metal::numeric_limits<T>::has_infinity)
        return op == reduction_operation::max ? -metal::numeric_limits<T>::infinity()
                                              : metal::numeric_limits<T>::infinity();
    else
        return op == reduction_operation::max ? limits::max_identity : limits::min_identity;
}
template <bool ByRow, class Source, class Result, class Element>
__MSL_GROUP void reduce(thread Source &source, thread Result &destination, Element identity,
                        reduction_operation op) {
    using from = typename Source::layout;
    using to = typename Result::layout;
    static_assert(from::rank == 2 && from::groups == 1,
                  "reductions of cooperative tensors need the scope execution_simdgroup");
    static_assert(to::rank == 1 && to::by_row == ByRow &&
                      to::capacity == (ByRow ? from::rows : from::cols),
                  "this cooperative tensor is not the destination of such a reduction");
    // bfloat has no SIMD-group functions of its own; its sums are float
    using sum_t = metal::conditional_t<__is_same(Element, bfloat), float, Element>;
    for (int r = 0; r < to::capacity; r++) {
        sum_t sum = neutral<sum_t>(op);
        uint first = 0, last = from::capacity;
        if (ByRow && from::factor == 1 && !from::tiled()) { // elements that may lie in this row
            first = uint(r * from::cols) / 32;
            last = (uint(r * from::cols) + from::cols + 31) / 32;
        }
        for (uint i = first; i < last; i++)
            if (from::valid(i) && from::along(i, ByRow) == r)
                sum = combine<sum_t>(op, sum, source.__elements[i]);
        destination.__elements[r] =
            Element(combine<sum_t>(op, sum_t(identity), combine_threads<sum_t>(op, sum)));
    }
}
} // namespace __ops

#define __MSL_REDUCE(NAME, BY_ROW) \
    template <class ElementType, class SrcExtents, class DstExtents, class SrcLayout, \
              class DstLayout> \
    __MSL_GROUP void NAME( \
        thread metal::cooperative_tensor<ElementType, SrcExtents, SrcLayout> &source, \
        thread metal::cooperative_tensor<ElementType, DstExtents, DstLayout> &destination, \
        reduction_operation op = reduction_operation::sum, \
        ElementType identity = reduction_operation_identity<ElementType>::sum_identity) { \
        __ops::reduce<BY_ROW>(source, destination, identity, op); \
    }
__MSL_REDUCE(reduce_rows, true)
__MSL_REDUCE(reduce_columns, false)
#undef __MSL_REDUCE

// Does destination.map_iterator() find an element for each of the source's?
template <class SrcElementType, class DstElementType, class SrcExtents, class DstExtents,
          class SrcLayout, class DstLayout>
METAL_FUNC bool is_iterator_compatible(
    const thread metal::cooperative_tensor<SrcElementType, SrcExtents, SrcLayout> &,
    const thread metal::cooperative_tensor<DstElementType, DstExtents, DstLayout> &) {
    if constexpr (SrcLayout::rank == 2 && DstLayout::rank == 1)
        return SrcLayout::groups == 1 &&
               DstLayout::capacity == (DstLayout::by_row ? SrcLayout::rows : SrcLayout::cols);
    else
        return __is_same(SrcLayout, DstLayout);
}
} // namespace tensor_ops
} // namespace mpp
