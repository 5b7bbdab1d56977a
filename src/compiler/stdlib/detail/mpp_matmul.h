// SPDX-License-Identifier: Apache-2.0
// mpp_matmul.h: mpp::tensor_ops::matmul2d: C = A * B or C += A * B, by one thread or SIMD-groups.
// Dimension 0 of a tensor is its columns: A has extents (K, M), B (N, K), C (N, M).
//
// By SIMD-groups: each computes the rows of the result that are its own, with one call of the
// compiler's function for all its threads; nothing goes between SIMD-groups. By one thread: loops
// (mpp_thread.h), which the vectoriser turns into vectors over the threads.
#pragma once

// compiler/tensor_call.h has the order of the arguments.
template <class Left, class Right, class Result>
__attribute__((convergent, nothrow)) void
__ingot_tensor_matmul(Left a, long a_row, long a_col, int a_rows, int a_cols, Right b, long b_row,
                      long b_col, int b_rows, int b_cols, Result c, long c_row, long c_col,
                      int c_rows, int c_cols, int first_row, int n_rows, int n, int k, uint types,
                      uint flags, uint layout_a, uint layout_b, uint layout_c, int m, int groups);

namespace mpp {
namespace tensor_ops {
struct matmul2d_descriptor {
    enum class mode { multiply, multiply_accumulate };
    int m, n, k;
    bool transpose_left, transpose_right;
    bool relaxed_precision;
    mode matmul_mode;

    constexpr matmul2d_descriptor(int __m, int __n,
                                  int __k = static_cast<int>(metal::dynamic_extent),
                                  bool __transpose_left = false, bool __transpose_right = false,
                                  bool __relaxed_precision = false,
                                  mode __matmul_mode = mode::multiply)
        : m(__m), n(__n), k(__k), transpose_left(__transpose_left),
          transpose_right(__transpose_right), relaxed_precision(__relaxed_precision),
          matmul_mode(__matmul_mode) {}
};

template <matmul2d_descriptor Descriptor, class Scope, class... Args> class matmul2d {
    using __scope = metal::__execution::scope<Scope>;
    static_assert(__scope::threads || __scope::simdgroups,
                  "the scope of matmul2d is execution_thread, execution_simdgroup or "
                  "execution_simdgroups<N>");
    static_assert(__scope::size != metal::__execution::dynamic_size,
                  "the scope of matmul2d must have a size that is known at compile time");
    static_assert(__scope::threads || __scope::size <= 32,
                  "a threadgroup has at most 32 SIMD-groups");
    static_assert(Descriptor.m > 0 && Descriptor.n > 0,
                  "m and n of matmul2d_descriptor must be known at compile time");
    static constexpr constant bool __dynamic_k = Descriptor.k <= 0;
    static constexpr constant int __groups = __scope::threads ? 0 : int(__scope::size);
    static constexpr constant bool __accumulates =
        Descriptor.matmul_mode == matmul2d_descriptor::mode::multiply_accumulate;

    // Registers of one SIMD-group, in fragments where they fit.
    static constexpr constant bool __fits = __groups == 1 && !metal::__coop::random &&
                                            Descriptor.m % 16 == 0 && Descriptor.n % 16 == 0 &&
                                            !__dynamic_k && Descriptor.k % 16 == 0;
    template <class Element, class CoordType, int Rows, int Cols>
    using __registers_t =
        metal::cooperative_tensor<Element, metal::extents<CoordType, Cols, Rows>,
                                  typename metal::__coop::registers<Rows, Cols, __groups,
                                                                    __fits>::type>;
    template <class Element, class CoordType, int Rows, int Cols>
    using __matrix_t =
        metal::cooperative_tensor<Element, metal::extents<CoordType, Cols, Rows>,
                                  metal::__coop::matrix<Rows, Cols, __groups>>;
    template <class Element, class CoordType, int Size, bool ByRow>
    using __vector_t = metal::cooperative_tensor<Element, metal::extents<CoordType, Size>,
                                                 metal::__coop::vector<Size, ByRow>>;

public:
    static constexpr constant matmul2d_descriptor descriptor = Descriptor;
    using scope = Scope;
    matmul2d() = default;

    template <class LeftOperandType, class RightOperandType, class DestinationOperandType,
              class = metal::enable_if_t<__ops::is_operand<LeftOperandType> &&
                                         __ops::is_operand<RightOperandType> &&
                                         __ops::is_operand<DestinationOperandType>>>
    __MSL_GROUP void run(thread LeftOperandType &left, thread RightOperandType &right,
                         thread DestinationOperandType &destination) const {
        static_assert(__ops::go_together(__ops::code_of<LeftOperandType>,
                                         __ops::code_of<RightOperandType>,
                                         __ops::code_of<DestinationOperandType>),
                      "matmul2d does not support this combination of element types");
        static_assert(!(__ops::is_coop<LeftOperandType> || __ops::is_coop<RightOperandType>) ||
                          __groups <= 1,
                      "cooperative tensors are inputs of matmul2d only by one SIMD-group");
        auto a = __ops::matrix_of(left, Descriptor.transpose_left);
        auto b = __ops::matrix_of(right, Descriptor.transpose_right);
        auto c = __ops::matrix_of(destination, false);
        int k = __dynamic_k ? a.cols : Descriptor.k;
        if constexpr (__groups == 0) {
            using product =
                __ops::product<__ops::code_of<LeftOperandType>, __ops::code_of<RightOperandType>,
                               __ops::code_of<DestinationOperandType>, __accumulates>;
            __ops::thread_matmul<product, Descriptor.m, Descriptor.n>(a, b, c, k);
        } else {
            __check_places<LeftOperandType>();
            __check_places<RightOperandType>();
            __check_places<DestinationOperandType>();
            constexpr int share = (Descriptor.m + __groups - 1) / __groups;
            int first = __groups > 1 ? int(metal::__coop::simdgroup()) * share : 0;
            int n_rows = Descriptor.m - first < share ? Descriptor.m - first : share;
            if constexpr (!__ops::is_coop<DestinationOperandType>) c.data += first * c.row_stride;
            __ingot_tensor_matmul(
                a.data, a.row_stride, a.col_stride, a.rows, a.cols, b.data, b.row_stride,
                b.col_stride, b.rows, b.cols, c.data, c.row_stride, c.col_stride, c.rows, c.cols,
                first, n_rows, Descriptor.n, k,
                __ops::code_of<LeftOperandType> | __ops::code_of<RightOperandType> << 8 |
                    __ops::code_of<DestinationOperandType> << 16,
                uint(__accumulates) | uint(Descriptor.relaxed_precision) << 1,
                __ops::layout_code<LeftOperandType>(), __ops::layout_code<RightOperandType>(),
                __ops::layout_code<DestinationOperandType>(), Descriptor.m, __groups);
        }
    }

    template <class LeftOperandType, class RightOperandType, class ElementType,
              class CoordType = int, class... CoopArgs>
    using cooperative_tensor_destination_t = metal::conditional_t<
        __groups == 1 && (__ops::is_coop<LeftOperandType> || __ops::is_coop<RightOperandType>),
        __registers_t<ElementType, CoordType, Descriptor.m, Descriptor.n>,
        __matrix_t<ElementType, CoordType, Descriptor.m, Descriptor.n>>;
    template <class LeftOperandType, class RightOperandType, class ElementType,
              class CoordType = int,
              class = metal::enable_if_t<__ops::is_operand<LeftOperandType> &&
                                         __ops::is_operand<RightOperandType> &&
                                         metal::is_integral_v<CoordType>>,
              class... CoopArgs>
    METAL_FUNC cooperative_tensor_destination_t<LeftOperandType, RightOperandType, ElementType,
                                                CoordType>
    get_destination_cooperative_tensor() const {
        static_assert(__ops::go_together(__ops::code_of<LeftOperandType>,
                                         __ops::code_of<RightOperandType>,
                                         __ops::type_code<metal::__bare<ElementType>>),
                      "matmul2d does not support this combination of element types");
        auto t = __fresh<cooperative_tensor_destination_t<LeftOperandType, RightOperandType,
                                                          ElementType, CoordType>>();
        // Programs add up from the first run() on without setting anything: they start at 0.
        if constexpr (__accumulates) t.fill(0);
        return t;
    }

#define __MSL_INPUT(SIDE, ROWS, COLS, TRANSPOSED, ELEMENT) \
    template <class LeftElementType, class RightElementType, class ElementType, \
              class CoordType = int, class... CoopArgs> \
    using cooperative_tensor_##SIDE##_input_t = \
        __registers_t<ELEMENT, CoordType, Descriptor.TRANSPOSED ? (COLS) : (ROWS), \
                      Descriptor.TRANSPOSED ? (ROWS) : (COLS)>; \
    template <class LeftElementType, class RightElementType, class ElementType, \
              class CoordType = int, \
              class = metal::enable_if_t<__ops::type_code<LeftElementType> && \
                                         __ops::type_code<RightElementType> && \
                                         __ops::type_code<ElementType> && \
                                         metal::is_integral_v<CoordType>>, \
              class... CoopArgs> \
    METAL_FUNC cooperative_tensor_##SIDE##_input_t<LeftElementType, RightElementType, ElementType, \
                                                   CoordType> \
    get_##SIDE##_input_cooperative_tensor() const { \
        __check_input<LeftElementType, RightElementType, ElementType>(); \
        return __fresh<cooperative_tensor_##SIDE##_input_t<LeftElementType, RightElementType, \
                                                           ElementType, CoordType>>(); \
    } \
    template <class LeftElementType, class RightElementType, class ElementType, \
              class CoordType = int, class Element, class Extents, class Layout> \
    METAL_FUNC auto get_##SIDE##_input_cooperative_tensor( \
        const thread metal::cooperative_tensor<Element, Extents, Layout> &source) const { \
        __check_input<LeftElementType, RightElementType, ElementType>(); \
        using type = cooperative_tensor_##SIDE##_input_t<LeftElementType, RightElementType, \
                                                         ElementType, CoordType>; \
        return __converted<type>(source); \
    } \
    template <class LeftElementType, class RightElementType, class ElementType, class Element, \
              class Extents, class Layout> \
    METAL_FUNC bool is_compatible_as_##SIDE##_input( \
        const thread metal::cooperative_tensor<Element, Extents, Layout> &) const { \
        using type = cooperative_tensor_##SIDE##_input_t<LeftElementType, RightElementType, \
                                                         ElementType>; \
        return metal::__coop::are_alike<Layout, typename type::layout>(); \
    }
    __MSL_INPUT(left, Descriptor.m, Descriptor.k, transpose_left, LeftElementType)
    __MSL_INPUT(right, Descriptor.k, Descriptor.n, transpose_right, RightElementType)
#undef __MSL_INPUT

#define __MSL_REDUCTION(WHAT, SIZE, BY_ROW) \
    template <class LeftOperandType, class RightOperandType, class ElementType, \
              class CoordType = int, class... CoopArgs> \
    using cooperative_tensor_##WHAT##_reduction_destination_t = \
        __vector_t<ElementType, CoordType, Descriptor.SIZE, BY_ROW>; \
    template <class LeftOperandType, class RightOperandType, class ElementType, \
              class CoordType = int, class = metal::enable_if_t<metal::is_integral_v<CoordType>>, \
              class... CoopArgs> \
    METAL_FUNC cooperative_tensor_##WHAT##_reduction_destination_t< \
        LeftOperandType, RightOperandType, ElementType, CoordType> \
    get_##WHAT##_reduction_destination_cooperative_tensor() const { \
        static_assert(__groups == 1, \
                      "reductions of cooperative tensors need the scope execution_simdgroup"); \
        return __fresh<cooperative_tensor_##WHAT##_reduction_destination_t< \
            LeftOperandType, RightOperandType, ElementType, CoordType>>(); \
    }
    __MSL_REDUCTION(row, m, true)
    __MSL_REDUCTION(column, n, false)
#undef __MSL_REDUCTION

private:
    // An input with the elements of another cooperative tensor, which keeps the way they are
    // spread: run() takes any. Of a matrix of other sizes nothing comes over.
    template <class Type, class Source> METAL_FUNC static auto __converted(const thread Source &s) {
        using from = typename Source::layout;
        if constexpr (metal::__coop::are_alike<from, typename Type::layout>()) {
            metal::cooperative_tensor<typename Type::element_type, typename Type::extents_type,
                                      from>
                t;
            for (uint i = 0; i < from::capacity; i++)
                t.__elements[i] = typename Type::value_type(s.__elements[i]);
            return t;
        } else {
            return __fresh<Type>();
        }
    }
    template <class T> METAL_FUNC static T __fresh() { // elements are not set
        T t;
        return t;
    }
    template <class Left, class Right, class To>
    METAL_FUNC static constexpr void __check_input() {
        static_assert(__groups <= 1,
                      "cooperative tensors are inputs of matmul2d only by one SIMD-group");
        static_assert(!__dynamic_k,
                      "cooperative tensors as inputs need a k that is known at compile time");
        constexpr uint l = __ops::type_code<Left>, r = __ops::type_code<Right>,
                       d = __ops::type_code<To>;
        static_assert(__ops::go_together(l, r, d),
                      "matmul2d does not support this combination of element types");
        static_assert(!__ops::is_nibble(l) && !__ops::is_nibble(r),
                      "cooperative tensors have elements of whole bytes");
    }
    // What a SIMD-group computes together lies where all its threads see it.
    template <class T> METAL_FUNC static constexpr void __check_places() {
        if constexpr (!__ops::is_coop<T>)
            static_assert(!__ops::in_thread_memory<T>,
                          "tensors in thread memory need the scope execution_thread");
    }
};
} // namespace tensor_ops
} // namespace mpp
