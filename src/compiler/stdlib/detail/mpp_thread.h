// SPDX-License-Identifier: Apache-2.0
// mpp_thread.h: matmul2d by one thread. Every thread of a SIMD-group does a product of its own,
// often a row of its own times weights that all share: the loads of those are then uniform, and
// eight sums at a time are eight vectors of multiply-adds with a broadcast weight.
#pragma once

namespace mpp {
namespace tensor_ops {
namespace __ops {
constexpr constant int BLOCK = 8;

template <uint Code, class P> METAL_FUNC auto element(P p, long i) {
    if constexpr (is_nibble(Code)) {
        uint n = p[i >> 1] >> (i & 1) * 4 & 15; // p is a pointer to bytes
        return Code == UINT4 ? int(n) : int(n << 28) >> 28;
    } else {
        return p[i];
    }
}

// N neighbours from i on, converted together: one instruction, where a conversion of each would
// cost as much as the products.
template <class T, int N> struct neighbours {
    typedef T type __attribute__((ext_vector_type(N)));
};
template <class T, int N> struct __attribute__((packed)) anywhere { // aligned as T at best
    typename neighbours<T, N>::type v;
};
template <class E, class T>
using placed_t = typename metal::__tensor_detail::placed<E, const T>::type;
template <class S, int N, class E> METAL_FUNC auto load_block(E *p, long i) {
    using from = anywhere<metal::__bare<E>, N>;
    return __builtin_convertvector(((placed_t<E, from> *)(p + i))->v,
                                   typename neighbours<S, N>::type);
}

// Sums of N neighbours from column j on, rows of a and columns of b known to exist. Together: those
// of b lie side by side.
template <int N, bool Together, uint A, uint B, uint C, bool Accumulates, class MA, class MB, class MC>
METAL_FUNC void thread_block(const thread MA &a, const thread MB &b, const thread MC &c, int i, int j,
                             int k) {
    using sum_t = metal::conditional_t<C == INT32, int, float>;
    using value_t = metal::__bare<decltype(*c.data)>;
    sum_t sum[N];
    long at = i * c.row_stride + j * c.col_stride;
#pragma unroll
    for (int n = 0; n < N; n++) sum[n] = Accumulates ? sum_t(c.data[at + n * c.col_stride]) : sum_t(0);
    long from = i * a.row_stride, with = j * b.col_stride;
    for (int l = 0; l < k; l++) {
        sum_t x = sum_t(element<A>(a.data, from)), y[N];
        if constexpr (Together) {
            auto w = load_block<sum_t, N>(b.data, with);
#pragma unroll
            for (int n = 0; n < N; n++) y[n] = w[n];
        } else {
#pragma unroll
            for (int n = 0; n < N; n++) y[n] = sum_t(element<B>(b.data, with + n * b.col_stride));
        }
#pragma unroll
        for (int n = 0; n < N; n++) {
            if constexpr (C == INT32)
                sum[n] += x * y[n];
            else
                sum[n] = __builtin_fmaf(x, y[n], sum[n]);
        }
        from += a.col_stride;
        with += b.row_stride;
    }
#pragma unroll
    for (int n = 0; n < N; n++) c.data[at + n * c.col_stride] = value_t(sum[n]);
}

template <int M, int N, uint A, uint B, uint C, bool Accumulates, class MA, class MB, class MC>
METAL_FUNC void thread_matmul(const thread MA &a, const thread MB &b, const thread MC &c, int k) {
    k = k < a.cols ? k : a.cols; // beyond, one of the factors is 0
    k = k < b.rows ? k : b.rows;
    int rows = M < c.rows ? M : c.rows, cols = N < c.cols ? N : c.cols;
    int there = cols < b.cols ? cols : b.cols;
    for (int i = 0; i < rows; i++) {
        int last = i < a.rows ? k : 0, j = 0;
        // float needs no conversion: it is broadcast straight from memory
        if constexpr (B != FLOAT && !is_nibble(B))
            if (b.col_stride == 1)
                for (; j + BLOCK <= there; j += BLOCK)
                    thread_block<BLOCK, true, A, B, C, Accumulates>(a, b, c, i, j, last);
        for (; j + BLOCK <= there; j += BLOCK)
            thread_block<BLOCK, false, A, B, C, Accumulates>(a, b, c, i, j, last);
        for (; j < there; j++) thread_block<1, false, A, B, C, Accumulates>(a, b, c, i, j, last);
        for (; j < cols; j++) thread_block<1, false, A, B, C, Accumulates>(a, b, c, i, j, 0);
    }
}
} // namespace __ops
} // namespace tensor_ops
} // namespace mpp
