// SPDX-License-Identifier: Apache-2.0
// simdgroup_matrix.h: <metal_simdgroup_matrix>: 8x8 matrices spread over the 32 threads of a
// SIMD-group, two neighbouring elements of a row in each. Thread t holds row (t/4 & 4) + (t/2 & 3),
// columns (t/4 & 2) * 2 + (t & 1) * 2 and the next: the layout of Apple's GPUs, which programs rely
// on through thread_elements(). Products are computed in float.
#pragma once

namespace metal {
template <class T, int Cols, int Rows> struct simdgroup_matrix {
    static_assert(__floating<T>, "a SIMD-group matrix has half, bfloat or float elements");
    static_assert(Cols == 8 && Rows == 8, "a SIMD-group matrix is 8x8");
    using storage_type = vec<T, 2>; // what one thread holds
    storage_type __elements;

    simdgroup_matrix() = default;
    METAL_FUNC explicit simdgroup_matrix(T diagonal) {
        uint t = __ingot_position(__MSL_THREAD_INDEX_IN_SIMDGROUP, 0);
        uint row = __row(t), column = __column(t);
        __elements = vec<T, 2>(row == column ? diagonal : T(0),
                               row == column + 1 ? diagonal : T(0));
    }
    METAL_FUNC thread vec<T, 2> &thread_elements() { return (thread vec<T, 2> &)__elements; }
    METAL_FUNC const thread vec<T, 2> &thread_elements() const {
        return (const thread vec<T, 2> &)__elements;
    }
    static METAL_FUNC uint __row(uint t) { return (t / 4 & 4) + (t / 2 & 3); }
    static METAL_FUNC uint __column(uint t) { return (t / 4 & 2) * 2 + (t & 1) * 2; }
};
typedef simdgroup_matrix<half, 8, 8> simdgroup_half8x8;
typedef simdgroup_matrix<bfloat, 8, 8> simdgroup_bfloat8x8;
typedef simdgroup_matrix<float, 8, 8> simdgroup_float8x8;

template <class T, int Cols, int Rows = Cols>
METAL_FUNC simdgroup_matrix<T, Cols, Rows> make_filled_simdgroup_matrix(T value) {
    simdgroup_matrix<T, Cols, Rows> m;
    m.__elements = vec<T, 2>(value);
    return m;
}
template <class T, int Cols, int Rows = Cols>
METAL_FUNC simdgroup_matrix<T, Cols, Rows> make_diagonal_simdgroup_matrix(T value) {
    return simdgroup_matrix<T, Cols, Rows>(value);
}

METAL_FUNC __ingot_f32x2 __load_pair(const void *p, ulong n, bool t, float) {
    return __ingot_simdgroup_load_f32(p, n, t);
}
METAL_FUNC __ingot_f16x2 __load_pair(const void *p, ulong n, bool t, half) {
    return __ingot_simdgroup_load_f16(p, n, t);
}
METAL_FUNC __ingot_bf16x2 __load_pair(const void *p, ulong n, bool t, bfloat) {
    return __ingot_simdgroup_load_bf16(p, n, t);
}
METAL_FUNC void __store_pair(__ingot_f32x2 v, void *p, ulong n, bool t) {
    __ingot_simdgroup_store_f32(v, p, n, t);
}
METAL_FUNC void __store_pair(__ingot_f16x2 v, void *p, ulong n, bool t) {
    __ingot_simdgroup_store_f16(v, p, n, t);
}
METAL_FUNC void __store_pair(__ingot_bf16x2 v, void *p, ulong n, bool t) {
    __ingot_simdgroup_store_bf16(v, p, n, t);
}

// matrix_origin is (column, row) in memory; transposed, memory holds columns where rows are meant.
#define __MSL_SPACE(AS) \
    template <class T, int Cols, int Rows> \
    __MSL_GROUP void simdgroup_load(thread simdgroup_matrix<T, Cols, Rows> &d, const AS T *src, \
                                    ulong elements_per_row = Cols, \
                                    ulong2 matrix_origin = ulong2(0), \
                                    bool transpose_matrix = false) { \
        src += matrix_origin.y * elements_per_row + matrix_origin.x; \
        d.__elements = \
            vec<T, 2>(__load_pair(src, elements_per_row, transpose_matrix, T()), __raw{}); \
    } \
    template <class T, int Cols, int Rows> \
    __MSL_GROUP void simdgroup_store(simdgroup_matrix<T, Cols, Rows> a, AS T *dst, \
                                     ulong elements_per_row = Cols, \
                                     ulong2 matrix_origin = ulong2(0), \
                                     bool transpose_matrix = false) { \
        dst += matrix_origin.y * elements_per_row + matrix_origin.x; \
        __store_pair(a.__elements.__get(), dst, elements_per_row, transpose_matrix); \
    }
__MSL_SPACE(device)
__MSL_SPACE(threadgroup)
#undef __MSL_SPACE

template <class T> METAL_FUNC __ingot_f32x2 __mma_operand(const simdgroup_matrix<T, 8, 8> &m) {
    return __convert<float, T>(m.__elements.__get());
}
template <class D, class A, class B, class C>
__MSL_GROUP void simdgroup_multiply_accumulate(thread simdgroup_matrix<D, 8, 8> &d,
                                               simdgroup_matrix<A, 8, 8> a,
                                               simdgroup_matrix<B, 8, 8> b,
                                               simdgroup_matrix<C, 8, 8> c) {
    __ingot_f32x2 r =
        __ingot_simdgroup_mma_f32(__mma_operand(a), __mma_operand(b), __mma_operand(c));
    d.__elements = vec<D, 2>(__convert<D, float>(r), __raw{});
}
template <class D, class A, class B>
__MSL_GROUP void simdgroup_multiply(thread simdgroup_matrix<D, 8, 8> &d,
                                    simdgroup_matrix<A, 8, 8> a, simdgroup_matrix<B, 8, 8> b) {
    simdgroup_multiply_accumulate(d, a, b, make_filled_simdgroup_matrix<float, 8>(0.0f));
}
template <class T, class U>
__MSL_GROUP simdgroup_matrix<T, 8, 8> operator*(simdgroup_matrix<T, 8, 8> a,
                                                simdgroup_matrix<U, 8, 8> b) {
    simdgroup_matrix<T, 8, 8> d;
    simdgroup_multiply(d, a, b);
    return d;
}
} // namespace metal
