// SPDX-License-Identifier: Apache-2.0
// mpp_types.h: what operations on tensors share: element types as numbers, which of them go
// together, tensors and cooperative tensors as matrices.
#pragma once

namespace mpp {
namespace tensor_ops {
// A size that is taken from the tensors when the operation runs.
template <class T> constexpr constant T dynamic_length_v = T(metal::dynamic_extent);

namespace __ops {
// CpuTensorType of src/cpu/tensor_abi.h; 0: not an element of tensor operations.
template <class T> constexpr constant uint type_code = 0;
template <> constexpr constant uint type_code<float> = 3;
template <> constexpr constant uint type_code<half> = 16;
template <> constexpr constant uint type_code<bfloat> = 121;
template <> constexpr constant uint type_code<int8_t> = 45;
template <> constexpr constant uint type_code<char> = 45;
template <> constexpr constant uint type_code<uint8_t> = 49;
template <> constexpr constant uint type_code<int32_t> = 29;
template <> constexpr constant uint type_code<metal::int4b_format> = 143;
template <> constexpr constant uint type_code<metal::uint4b_format> = 144;

enum : uint { FLOAT = 3, HALF = 16, BFLOAT = 121, INT8 = 45, UINT8 = 49, INT32 = 29, INT4 = 143, UINT4 = 144 };
constexpr bool is_float(uint t) { return t == FLOAT || t == HALF || t == BFLOAT; }
constexpr bool is_byte(uint t) { return t == INT8 || t == UINT8; }
constexpr bool is_small(uint t) { return t == HALF || t == BFLOAT; }
constexpr bool is_nibble(uint t) { return t == INT4 || t == UINT4; }
// Apple's table of left, right and destination.
constexpr bool go_together(uint l, uint r, uint d) {
    if (d == INT32)
        return (l == INT8 && (r == INT8 || r == INT4)) || (l == UINT8 && (r == UINT8 || r == UINT4));
    if (d != FLOAT && !is_small(d)) return false;
    if (is_nibble(r)) return is_small(l) && (d == FLOAT || d == l);
    if (d == FLOAT) return (is_float(l) || is_byte(l)) && (is_float(r) || is_byte(r)) && (is_float(l) || is_float(r));
    // half or bfloat: one operand has that type, the other one is small or a byte
    return (l == d && (is_small(r) || is_byte(r))) || (r == d && (is_small(l) || is_byte(l)));
}

// A matrix as the compiler's functions take it: rows x cols, transposition in the strides.
template <class Pointer> struct matrix {
    Pointer data;
    long row_stride, col_stride;
    int rows, cols;
};

// An operand without the space of the variable it is held in, which decltype counts to its type.
template <class T> using operand_t = metal::__bare<T>;
template <class T> constexpr constant bool is_coop = metal::is_cooperative_tensor_v<operand_t<T>>;
template <class T> constexpr constant bool is_operand =
    is_coop<T> || metal::is_tensor_v<operand_t<T>>;
template <class T> using value_of = metal::__bare<typename operand_t<T>::element_type>;
template <class T>
constexpr constant bool in_thread_memory =
    metal::__tensor_detail::in_thread<typename operand_t<T>::element_type>;
template <class T> constexpr constant uint code_of = type_code<value_of<T>>;

// The layout argument: 0 for memory.
template <class T> constexpr uint layout_code() {
    if constexpr (is_coop<T>)
        return operand_t<T>::layout::code;
    else
        return 0;
}

template <class T> METAL_FUNC auto matrix_of(thread T &t, bool transposed) {
    if constexpr (is_coop<T>) {
        using layout = typename operand_t<T>::layout;
        using pointer = thread value_of<T> *;
        matrix<pointer> m = {(pointer)t.__elements, layout::cols, 1, layout::rows, layout::cols};
        if (transposed) m = {m.data, 1, layout::cols, layout::cols, layout::rows};
        return m;
    } else {
        static_assert(operand_t<T>::rank() == 2, "operations on matrices need tensors of rank 2");
        auto data = t.data_handle();
        matrix<decltype(data)> m = {data, t.__stride(1), t.__stride(0),
                                    int(t.get_extent(1)), int(t.get_extent(0))};
        if (transposed) m = {data, m.col_stride, m.row_stride, m.cols, m.rows};
        return m;
    }
}
} // namespace __ops
} // namespace tensor_ops
} // namespace mpp
