// SPDX-License-Identifier: Apache-2.0
// mpp_reduce.h: reductions of a cooperative tensor along its rows or columns, within a SIMD-group.
#pragma once

namespace mpp {
namespace tensor_ops {
enum class reduction_operation { sum, max, min };

template <class ElementType> struct reduction_operation_identity {
    static constexpr constant ElementType sum_identity = ElementType(0);
    static constexpr constant ElementType max_identity = metal::numeric_limits<ElementType>::lowest();
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
template <bool ByRow, class E, class SX, class DX, class SL, class DL>
__MSL_GROUP void reduce(thread metal::cooperative_tensor<E, SX, SL> &source,
                        thread metal::cooperative_tensor<E, DX, DL> &destination, E identity,
                        reduction_operation op) {
    static_assert(SL::rank == 2 && SL::groups == 1,
                  "reductions of cooperative tensors need the scope execution_simdgroup");
    static_assert(DL::rank == 1 && DL::by_row == ByRow &&
                      DL::capacity == (ByRow ? SL::rows : SL::cols),
                  "this cooperative tensor is not the destination of such a reduction");
    // bfloat has no SIMD-group functions of its own everywhere; its sums are float
    using sum_t = metal::conditional_t<__is_same(E, bfloat), float, E>;
    for (int r = 0; r < DL::capacity; r++) {
        sum_t sum = neutral<sum_t>(op);
        uint first = 0, last = SL::capacity;
        if constexpr (ByRow && SL::factor == 1) { // elements that may lie in this row
            first = uint(r * SL::cols) / 32;
            last = (uint(r * SL::cols) + SL::cols + 31) / 32;
        }
        for (uint i = first; i < last; i++)
            if (SL::valid(i) && SL::along(i, ByRow) == r)
                sum = combine<sum_t>(op, sum, source.__elements[i]);
        destination.__elements[r] =
            E(combine<sum_t>(op, sum_t(identity), combine_threads<sum_t>(op, sum)));
    }
}
} // namespace __ops

template <class ElementType, class SrcExtents, class DstExtents, class SrcLayout, class DstLayout>
__MSL_GROUP void
reduce_rows(thread metal::cooperative_tensor<ElementType, SrcExtents, SrcLayout> &source,
            thread metal::cooperative_tensor<ElementType, DstExtents, DstLayout> &destination,
            reduction_operation op = reduction_operation::sum,
            ElementType identity = reduction_operation_identity<ElementType>::sum_identity) {
    __ops::reduce<true>(source, destination, identity, op);
}
template <class ElementType, class SrcExtents, class DstExtents, class SrcLayout, class DstLayout>
__MSL_GROUP void
reduce_columns(thread metal::cooperative_tensor<ElementType, SrcExtents, SrcLayout> &source,
               thread metal::cooperative_tensor<ElementType, DstExtents, DstLayout> &destination,
               reduction_operation op = reduction_operation::sum,
               ElementType identity = reduction_operation_identity<ElementType>::sum_identity) {
    __ops::reduce<false>(source, destination, identity, op);
}

// Does destination.map_iterator() find an element for each of the source's?
template <class SE, class DE, class SX, class DX, class SL, class DL>
METAL_FUNC bool is_iterator_compatible(const thread metal::cooperative_tensor<SE, SX, SL> &,
                                       const thread metal::cooperative_tensor<DE, DX, DL> &) {
    if constexpr (SL::rank == 2 && DL::rank == 1)
        return SL::groups == 1 && DL::capacity == (DL::by_row ? SL::rows : SL::cols);
    else
        return __is_same(SL, DL);
}
} // namespace tensor_ops
} // namespace mpp
