// SPDX-License-Identifier: Apache-2.0
// mpp_thread.h: matmul2d by one thread. Every thread of a SIMD-group does a product of its own,
// often a row of its own times weights that all share: the loads of those are then uniform, and
// eight sums at a time are eight vectors of multiply-adds with a broadcast weight.
#pragma once

namespace mpp {
namespace tensor_ops {
namespace __ops {
constexpr constant int block_size = 8;

template <uint Code, class Pointer> METAL_FUNC auto element(Pointer p, long i) {
    if constexpr (is_nibble(Code)) {
        uint n = p[i >> 1] >> (i & 1) * 4 & 15; // p is a pointer to bytes
        return Code == code_uint4 ? int(n) : int(n << 28) >> 28;
    } else {
        return p[i];
    }
}

// Count neighbours from i on, converted together: one instruction, where a conversion of each would
// cost as much as the products.
template <class T, int Count> struct neighbours {
    typedef T type __attribute__((ext_vector_type(Count)));
};
template <class T, int Count> struct __attribute__((packed)) anywhere { // aligned as T at best
    typename neighbours<T, Count>::type v;
};
template <class Element, class T>
using placed_t = typename metal::__tensor_detail::placed<Element, const T>::type;
template <class Sum, int Count, class Element> METAL_FUNC auto load_block(Element *p, long i) {
    using from = anywhere<metal::__bare<Element>, Count>;
    return __builtin_convertvector(((placed_t<Element, from> *)(p + i))->v,
                                   typename neighbours<Sum, Count>::type);
}

// What is multiplied: type codes of the three matrices, and whether sums start from the result's.
template <uint LeftCode, uint RightCode, uint ResultCode, bool Accumulates> struct product {
    static constexpr constant uint left = LeftCode, right = RightCode;
    static constexpr constant bool whole = ResultCode == code_int32, accumulates = Accumulates;
};

// Sums of Count neighbours from column j on, rows of a and columns of b known to exist. Together:
// those of b lie side by side.
template <class Product, int Count, bool Together, class Left, class Right, class Result>
METAL_FUNC void thread_block(const thread Left &a, const thread Right &b, const thread Result &c,
                             int i, int j, int k) {
    using sum_t = metal::conditional_t<Product::whole, int, float>;
    using value_t = metal::__bare<decltype(*c.data)>;
    sum_t sum[Count];
    long at = i * c.row_stride + j * c.col_stride;
#pragma unroll
    for (int n = 0; n < Count; n++)
        sum[n] = Product::accumulates ? sum_t(c.data[at + n * c.col_stride]) : sum_t(0);
    long from = i * a.row_stride, with = j * b.col_stride;
    for (int l = 0; l < k; l++) {
        sum_t x = sum_t(element<Product::left>(a.data, from)), y[Count];
        if constexpr (Together) {
            auto w = load_block<sum_t, Count>(b.data, with);
#pragma unroll
            for (int n = 0; n < Count; n++) y[n] = w[n];
        } else {
#pragma unroll
            for (int n = 0; n < Count; n++)
                y[n] = sum_t(element<Product::right>(b.data, with + n * b.col_stride));
        }
#pragma unroll
        for (int n = 0; n < Count; n++) {
            if constexpr (Product::whole)
                sum[n] += x * y[n];
            else
                sum[n] = __builtin_fmaf(x, y[n], sum[n]);
        }
        from += a.col_stride;
        with += b.row_stride;
    }
#pragma unroll
    for (int n = 0; n < Count; n++) c.data[at + n * c.col_stride] = value_t(sum[n]);
}

template <class Product, int Rows, int Cols, class Left, class Right, class Result>
METAL_FUNC void thread_matmul(const thread Left &a, const thread Right &b, const thread Result &c,
                              int k) {
    k = k < a.cols ? k : a.cols; // beyond, one of the factors is 0
    k = k < b.rows ? k : b.rows;
    int rows = Rows < c.rows ? Rows : c.rows, cols = Cols < c.cols ? Cols : c.cols;
    int there = cols < b.cols ? cols : b.cols;
// Unrolled, the sums of all blocks would fight for registers, and compiling takes four times as
// long.
#pragma clang loop unroll(disable)
    for (int i = 0; i < rows; i++) {
        int last = i < a.rows ? k : 0, j = 0;
        // float needs no conversion: it is broadcast straight from memory
        if constexpr (Product::right != code_float && !is_nibble(Product::right))
            if (b.col_stride == 1)
#pragma clang loop unroll(disable)
                for (; j + block_size <= there; j += block_size)
                    thread_block<Product, block_size, true>(a, b, c, i, j, last);
#pragma clang loop unroll(disable)
        for (; j + block_size <= there; j += block_size)
            thread_block<Product, block_size, false>(a, b, c, i, j, last);
#pragma clang loop unroll(disable)
        for (; j < there; j++) thread_block<Product, 1, false>(a, b, c, i, j, last);
#pragma clang loop unroll(disable)
        for (; j < cols; j++) thread_block<Product, 1, false>(a, b, c, i, j, 0);
    }
}
} // namespace __ops
} // namespace tensor_ops
} // namespace mpp
