// SPDX-License-Identifier: Apache-2.0
// mpp_types.h: what operations on tensors share: element types as numbers, which of them go
// together, tensors and cooperative tensors as matrices.
#pragma once

namespace mpp {
namespace tensor_ops {
// A size that is taken from the tensors when the operation runs.
template <class T> constexpr constant T dynamic_length_v = T(metal::dynamic_extent);

namespace __ops {
// AbiTensorType of src/abi/cpu_tensor.h.
enum : uint {
    code_float = 3,
    code_half = 16,
    code_bfloat = 121,
    code_int8 = 45,
    code_uint8 = 49,
    code_int32 = 29,
    code_int4 = 143,
    code_uint4 = 144
};
// Of an element; 0: not an element of tensor operations.
template <class T> constexpr constant uint type_code = 0;
template <> constexpr constant uint type_code<float> = code_float;
template <> constexpr constant uint type_code<half> = code_half;
template <> constexpr constant uint type_code<bfloat> = code_bfloat;
template <> constexpr constant uint type_code<int8_t> = code_int8;
template <> constexpr constant uint type_code<char> = code_int8;
template <> constexpr constant uint type_code<uint8_t> = code_uint8;
template <> constexpr constant uint type_code<int32_t> = code_int32;
template <> constexpr constant uint type_code<metal::int4b_format> = code_int4;
template <> constexpr constant uint type_code<metal::uint4b_format> = code_uint4;

constexpr bool is_float(uint t) { return t == code_float || t == code_half || t == code_bfloat; }
constexpr bool is_byte(uint t) { return t == code_int8 || t == code_uint8; }
constexpr bool is_small(uint t) { return t == code_half || t == code_bfloat; }
constexpr bool is_nibble(uint t) { return t == code_int4 || t == code_uint4; }
// Apple's table of left, right and destination.
constexpr bool go_together(uint l, uint r, uint d) {
    if (d == code_int32)
        return (l == code_int8 && (r == code_int8 || r == code_int4)) ||
               (l == code_uint8 && (r == code_uint8 || r == code_uint4));
    if (d != code_float && !is_small(d)) return false;
    if (is_nibble(r)) return is_small(l) && (d == code_float || d == l);
    if (d == code_float)
        return (is_float(l) && (is_float(r) || is_byte(r))) || (is_byte(l) && is_float(r));
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
template <class T> METAL_FUNC uint layout_code() {
    if constexpr (is_coop<T>)
        return operand_t<T>::layout::layout();
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
