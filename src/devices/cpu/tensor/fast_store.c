// SPDX-License-Identifier: Apache-2.0
// fast_store.c: sums in scratch become elements of the result: rounded once to its type, transposed
// in squares if that is how it lies.
#include "devices/cpu/tensor/fast_store.h"
#include "devices/cpu/tensor/element.h"
#include "devices/cpu/tensor/fast_pack.h"
#include "devices/cpu/isa/simd.h"

static void store_element(const CpuResult *to, int64_t at, uint32_t sum) {
    if (!to->is_float) {
        if (to->add) sum += (uint32_t)cpu_element_int(to->data, to->type, at);
        cpu_element_set_int(to->data, to->type, at, (int32_t)sum);
        return;
    }
    float f;
    memcpy(&f, &sum, 4);
    if (to->add) f = cpu_element_float(to->data, to->type, at) + f;
    cpu_element_set_float(to->data, to->type, at, f);
}

static void store_elements(const CpuResult *to, int64_t at, int64_t stride, int n,
                           const uint32_t *sums) {
    for (int i = 0; i < n; i++) store_element(to, at + i * stride, sums[i]);
}

// Whether sums have the form of elements.
static bool is_words(const CpuResult *to) {
    return to->is_float ? to->type == ABI_TENSOR_FLOAT32
                        : to->type == ABI_TENSOR_INT32 || to->type == ABI_TENSOR_UINT32;
}

#if V_WIDTH == 16

static __m256i bfloats(vw v) { // nearest even; a NaN stays one
    vw odd = _mm512_and_si512(_mm512_srli_epi32(v, 16), _mm512_set1_epi32(1));
    vw rounded = _mm512_add_epi32(v, _mm512_add_epi32(odd, _mm512_set1_epi32(0x7fff)));
    __mmask16 nan =
        _mm512_cmp_ps_mask(_mm512_castsi512_ps(v), _mm512_castsi512_ps(v), _CMP_UNORD_Q);
    rounded = _mm512_mask_or_epi32(rounded, nan, v, _mm512_set1_epi32(0x400000));
    return _mm512_cvtepi32_epi16(_mm512_srli_epi32(rounded, 16));
}

// n <= V_WIDTH elements side by side. False if the type has no vector form here.
static bool store_piece(const CpuResult *to, int64_t at, int n, vw v) {
    uint32_t mask = (1u << n) - 1;
    if (is_words(to)) {
        unsigned char *p = to->data + at * 4;
        if (to->add)
            v = to->is_float ? w_add_float(w_load_some(p, mask), v)
                             : w_add_int(w_load_some(p, mask), v);
        w_store_some(p, mask, v);
        return true;
    }
    if (!to->is_float || (to->type != ABI_TENSOR_FLOAT16 && to->type != ABI_TENSOR_BFLOAT16))
        return false;
    unsigned char *p = to->data + at * 2;
    bool half = to->type == ABI_TENSOR_FLOAT16;
    if (to->add) v = w_add_float(half ? w_load_halfs(p, mask) : w_load_bfloats(p, mask), v);
    __m256i out =
        half ? _mm512_cvtps_ph(_mm512_castsi512_ps(v), _MM_FROUND_TO_NEAREST_INT) : bfloats(v);
    if (n == V_WIDTH) // a masked store of words takes twenty cycles on some processors
        _mm256_storeu_si256((__m256i *)(void *)p, out);
    else
        _mm256_mask_storeu_epi16(p, (__mmask16)mask, out);
    return true;
}

#else

#if V_WIDTH == 8
static vi bfloats(vw v) { // nearest even; a NaN stays one
    vu u = (vu)v, high = u >> 16, near = (u + (high & 1) + 0x7fff) >> 16;
    return v_select_int((vf)v != (vf)v, (vi)(high | 0x40), (vi)near);
}
#endif

static bool store_piece(const CpuResult *to, int64_t at, int n, vw v) {
    if (n < V_WIDTH) return false;
    if (is_words(to)) {
        unsigned char *p = to->data + at * 4;
        if (to->add) v = to->is_float ? w_add_float(w_load(p), v) : w_add_int(w_load(p), v);
        w_store(p, v);
        return true;
    }
#if V_WIDTH == 8
    if (to->is_float && to->type == ABI_TENSOR_FLOAT16) {
        __m128i *p = (__m128i *)(void *)(to->data + at * 2);
        if (to->add) v = w_add_float(w_load_halfs(p, 0), v);
        _mm_storeu_si128(p, _mm256_cvtps_ph(_mm256_castsi256_ps(v), _MM_FROUND_TO_NEAREST_INT));
        return true;
    }
    if (to->is_float && to->type == ABI_TENSOR_BFLOAT16) {
        unsigned char *p = to->data + at * 2;
        if (to->add) v = w_add_float(w_load_bfloats(p, 0), v);
        v_store_words(p, bfloats(v));
        return true;
    }
#endif
    return false;
}

#endif

static void store_vector(const CpuResult *to, int64_t at, int n, vw v) {
    if (store_piece(to, at, n, v)) return;
    uint32_t sums[V_WIDTH];
    w_store(sums, v);
    store_elements(to, at, 1, n, sums);
}

static void store_square(const CpuResult *to, int64_t at, int n_rows, int n_lanes,
                         const uint32_t *sums, int width) {
    vw v[V_WIDTH];
    for (int i = 0; i < V_WIDTH; i++) v[i] = i < n_rows ? w_load(sums + i * width) : w_zero();
    w_transpose(v);
    if (is_words(to) && !to->add && n_rows == V_WIDTH && n_lanes == V_WIDTH) {
        for (int i = 0; i < V_WIDTH; i++) w_store(to->data + (at + i * to->lane) * 4, v[i]);
        return;
    }
    for (int i = 0; i < n_lanes; i++) store_vector(to, at + i * to->lane, n_rows, v[i]);
}

void ISA(cpu_store)(const CpuResult *to, int64_t row, int n_rows, int64_t lane, int n_lanes,
                    const uint32_t *sums, int width) {
    bool nibbles = cpu_element_bytes(to->type) == 0;
    if (to->lane != 1 && to->row == 1 && !nibbles) {
        for (int i = 0; i < n_rows; i += V_WIDTH)
            for (int j = 0; j < n_lanes; j += V_WIDTH)
                store_square(to, row + i + (lane + j) * to->lane,
                             n_rows - i < V_WIDTH ? n_rows - i : V_WIDTH,
                             n_lanes - j < V_WIDTH ? n_lanes - j : V_WIDTH, sums + i * width + j,
                             width);
        return;
    }
    for (int i = 0; i < n_rows; i++, sums += width) {
        int64_t at = (row + i) * to->row + lane * to->lane;
        if (to->lane != 1 || nibbles) {
            store_elements(to, at, to->lane, n_lanes, sums);
            continue;
        }
        for (int j = 0; j < n_lanes; j += V_WIDTH)
            store_vector(to, at + j, n_lanes - j < V_WIDTH ? n_lanes - j : V_WIDTH,
                         w_load(sums + j));
    }
}
