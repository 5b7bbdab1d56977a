// SPDX-License-Identifier: Apache-2.0
// simd.h: vectors of V_WIDTH 32-bit words for the matrix code, in the widest form the compiler's
// flags allow: AVX-512, AVX2 with FMA and F16C, or plain x86-64 (SSE2). A word is what one lane
// multiplies in one step: a float, an int32, two bfloats or int16 or four int8.
#ifndef INGOT_CPU_TENSOR_SIMD_H
#define INGOT_CPU_TENSOR_SIMD_H
#include <immintrin.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#define INLINE static inline __attribute__((always_inline))

#if defined(__AVX512F__) && defined(__AVX512BW__) && defined(__AVX512VL__) && defined(__AVX512DQ__)

#define V_WIDTH 16
#define V_HAS_MASKS 1
typedef __m512i V;
INLINE V v_zero(void) { return _mm512_setzero_si512(); }
INLINE V v_load(const void *p) { return _mm512_loadu_si512(p); }
INLINE V v_load_some(const void *p, uint32_t mask) {
    return _mm512_maskz_loadu_epi32((__mmask16)mask, p);
}
INLINE V v_load_halfs(const void *p, uint32_t mask) {
    return _mm512_castps_si512(_mm512_cvtph_ps(_mm256_maskz_loadu_epi16((__mmask16)mask, p)));
}
INLINE V v_load_bfloats(const void *p, uint32_t mask) {
    return _mm512_slli_epi32(_mm512_cvtepu16_epi32(_mm256_maskz_loadu_epi16((__mmask16)mask, p)),
                             16);
}
INLINE void v_store(void *p, V v) { _mm512_storeu_si512(p, v); }
INLINE void v_store_some(void *p, uint32_t mask, V v) {
    _mm512_mask_storeu_epi32(p, (__mmask16)mask, v);
}
INLINE V v_all(const void *p) { // one word to every lane
    float f;
    memcpy(&f, p, 4);
    return _mm512_castps_si512(_mm512_set1_ps(f));
}
INLINE V v_fma(V sum, V x, V y) {
    return _mm512_castps_si512(
        _mm512_fmadd_ps(_mm512_castsi512_ps(x), _mm512_castsi512_ps(y), _mm512_castsi512_ps(sum)));
}
INLINE V v_add_float(V a, V b) {
    return _mm512_castps_si512(_mm512_add_ps(_mm512_castsi512_ps(a), _mm512_castsi512_ps(b)));
}
INLINE V v_add_int(V a, V b) { return _mm512_add_epi32(a, b); }
INLINE V v_and(V a, V b) { return _mm512_and_si512(a, b); }
INLINE V v_xor(V a, V b) { return _mm512_xor_si512(a, b); }
INLINE V v_mul_int(V a, V b) { return _mm512_mullo_epi32(a, b); }
INLINE V v_mul_shorts(V a, V b) { return _mm512_madd_epi16(a, b); }
INLINE V v_half_to_float(const void *p) {
    return _mm512_castps_si512(_mm512_cvtph_ps(_mm256_loadu_si256((const __m256i *)p)));
}
INLINE V v_word_from_u16(const void *p) {
    return _mm512_cvtepu16_epi32(_mm256_loadu_si256((const __m256i *)p));
}
INLINE V v_shift_left(V v, int n) { return _mm512_slli_epi32(v, (unsigned)n); }

// 16 rows of 16 words become columns.
INLINE void v_transpose(V v[16]) {
    V t[16];
    for (int i = 0; i < 16; i += 2) {
        t[i] = _mm512_unpacklo_epi32(v[i], v[i + 1]);
        t[i + 1] = _mm512_unpackhi_epi32(v[i], v[i + 1]);
    }
    for (int i = 0; i < 16; i += 4) {
        v[i] = _mm512_unpacklo_epi64(t[i], t[i + 2]);
        v[i + 1] = _mm512_unpackhi_epi64(t[i], t[i + 2]);
        v[i + 2] = _mm512_unpacklo_epi64(t[i + 1], t[i + 3]);
        v[i + 3] = _mm512_unpackhi_epi64(t[i + 1], t[i + 3]);
    }
    for (int i = 0; i < 16; i += 8)
        for (int j = 0; j < 4; j++) {
            t[i + j] = _mm512_shuffle_i32x4(v[i + j], v[i + 4 + j], 0x88);
            t[i + 4 + j] = _mm512_shuffle_i32x4(v[i + j], v[i + 4 + j], 0xdd);
        }
    for (int j = 0; j < 8; j++) {
        v[j] = _mm512_shuffle_i32x4(t[j], t[8 + j], 0x88);
        v[8 + j] = _mm512_shuffle_i32x4(t[j], t[8 + j], 0xdd);
    }
}

#elif defined(__AVX2__) && defined(__FMA__) && defined(__F16C__)

#define V_WIDTH 8
#define V_HAS_MASKS 0
typedef __m256i V;
INLINE V v_zero(void) { return _mm256_setzero_si256(); }
INLINE V v_load(const void *p) { return _mm256_loadu_si256((const __m256i *)p); }
INLINE V v_load_halfs(const void *p, uint32_t mask) {
    (void)mask;
    return _mm256_castps_si256(_mm256_cvtph_ps(_mm_loadu_si128((const __m128i *)p)));
}
INLINE V v_load_bfloats(const void *p, uint32_t mask) {
    (void)mask;
    return _mm256_slli_epi32(_mm256_cvtepu16_epi32(_mm_loadu_si128((const __m128i *)p)), 16);
}
INLINE void v_store(void *p, V v) { _mm256_storeu_si256((__m256i *)p, v); }
INLINE V v_all(const void *p) {
    float f;
    memcpy(&f, p, 4);
    return _mm256_castps_si256(_mm256_set1_ps(f));
}
INLINE V v_fma(V sum, V x, V y) {
    return _mm256_castps_si256(
        _mm256_fmadd_ps(_mm256_castsi256_ps(x), _mm256_castsi256_ps(y), _mm256_castsi256_ps(sum)));
}
INLINE V v_add_float(V a, V b) {
    return _mm256_castps_si256(_mm256_add_ps(_mm256_castsi256_ps(a), _mm256_castsi256_ps(b)));
}
INLINE V v_add_int(V a, V b) { return _mm256_add_epi32(a, b); }
INLINE V v_and(V a, V b) { return _mm256_and_si256(a, b); }
INLINE V v_xor(V a, V b) { return _mm256_xor_si256(a, b); }
INLINE V v_mul_int(V a, V b) { return _mm256_mullo_epi32(a, b); }
INLINE V v_mul_shorts(V a, V b) { return _mm256_madd_epi16(a, b); }
INLINE V v_half_to_float(const void *p) { return v_load_halfs(p, 0); }
INLINE V v_word_from_u16(const void *p) {
    return _mm256_cvtepu16_epi32(_mm_loadu_si128((const __m128i *)p));
}
INLINE V v_shift_left(V v, int n) { return _mm256_slli_epi32(v, n); }

INLINE void v_transpose(V v[8]) {
    V t[8];
    for (int i = 0; i < 8; i += 2) {
        t[i] = _mm256_unpacklo_epi32(v[i], v[i + 1]);
        t[i + 1] = _mm256_unpackhi_epi32(v[i], v[i + 1]);
    }
    for (int i = 0; i < 8; i += 4) {
        v[i] = _mm256_unpacklo_epi64(t[i], t[i + 2]);
        v[i + 1] = _mm256_unpackhi_epi64(t[i], t[i + 2]);
        v[i + 2] = _mm256_unpacklo_epi64(t[i + 1], t[i + 3]);
        v[i + 3] = _mm256_unpackhi_epi64(t[i + 1], t[i + 3]);
    }
    for (int j = 0; j < 4; j++) {
        V a = v[j], b = v[4 + j];
        v[j] = _mm256_permute2x128_si256(a, b, 0x20);
        v[4 + j] = _mm256_permute2x128_si256(a, b, 0x31);
    }
}

#else

#define V_WIDTH 4
#define V_HAS_MASKS 0
typedef __m128i V;
INLINE V v_zero(void) { return _mm_setzero_si128(); }
INLINE V v_load(const void *p) { return _mm_loadu_si128((const __m128i *)p); }
INLINE V v_word_from_u16(const void *p) {
    return _mm_unpacklo_epi16(_mm_loadl_epi64((const __m128i *)p), _mm_setzero_si128());
}
INLINE V v_shift_left(V v, int n) { return _mm_slli_epi32(v, n); }
INLINE V v_load_bfloats(const void *p, uint32_t mask) {
    (void)mask;
    return v_shift_left(v_word_from_u16(p), 16);
}
// Exact for every half: exponents move by a multiplication, which also takes subnormals; infinities
// and NaNs get the largest exponent.
INLINE V v_half_to_float(const void *p) {
    V h = v_word_from_u16(p), magnitude = _mm_and_si128(h, _mm_set1_epi32(0x7fff));
    __m128 scaled =
        _mm_mul_ps(_mm_castsi128_ps(_mm_slli_epi32(magnitude, 13)), _mm_set1_ps(0x1p112f));
    V huge = _mm_and_si128(_mm_cmpgt_epi32(magnitude, _mm_set1_epi32(0x7bff)),
                           _mm_set1_epi32(0x7f800000));
    V sign = _mm_slli_epi32(_mm_and_si128(h, _mm_set1_epi32(0x8000)), 16);
    return _mm_or_si128(_mm_or_si128(_mm_castps_si128(scaled), huge), sign);
}
INLINE V v_load_halfs(const void *p, uint32_t mask) {
    (void)mask;
    return v_half_to_float(p);
}
INLINE void v_store(void *p, V v) { _mm_storeu_si128((__m128i *)p, v); }
INLINE V v_all(const void *p) {
    float f;
    memcpy(&f, p, 4);
    return _mm_castps_si128(_mm_set1_ps(f));
}
INLINE V v_add_float(V a, V b) {
    return _mm_castps_si128(_mm_add_ps(_mm_castsi128_ps(a), _mm_castsi128_ps(b)));
}
INLINE V v_fma(V sum, V x, V y) {
    return v_add_float(sum, _mm_castps_si128(_mm_mul_ps(_mm_castsi128_ps(x), _mm_castsi128_ps(y))));
}
INLINE V v_add_int(V a, V b) { return _mm_add_epi32(a, b); }
INLINE V v_and(V a, V b) { return _mm_and_si128(a, b); }
INLINE V v_xor(V a, V b) { return _mm_xor_si128(a, b); }
INLINE V v_mul_int(V a, V b) {
    V even = _mm_mul_epu32(a, b), odd = _mm_mul_epu32(_mm_srli_epi64(a, 32), _mm_srli_epi64(b, 32));
    return _mm_unpacklo_epi32(_mm_shuffle_epi32(even, 8), _mm_shuffle_epi32(odd, 8));
}
INLINE V v_mul_shorts(V a, V b) { return _mm_madd_epi16(a, b); }

INLINE void v_transpose(V v[4]) {
    V a = _mm_unpacklo_epi32(v[0], v[1]), b = _mm_unpackhi_epi32(v[0], v[1]),
      c = _mm_unpacklo_epi32(v[2], v[3]), d = _mm_unpackhi_epi32(v[2], v[3]);
    v[0] = _mm_unpacklo_epi64(a, c);
    v[1] = _mm_unpackhi_epi64(a, c);
    v[2] = _mm_unpacklo_epi64(b, d);
    v[3] = _mm_unpackhi_epi64(b, d);
}

#endif

#if !V_HAS_MASKS // never called: partial vectors go through padded scratch
INLINE V v_load_some(const void *p, uint32_t mask) {
    (void)mask;
    return v_load(p);
}
INLINE void v_store_some(void *p, uint32_t mask, V v) {
    (void)mask;
    v_store(p, v);
}
#endif
#endif
