// SPDX-License-Identifier: Apache-2.0
// simd.h: vectors of V_WIDTH lanes of 32 bits for the vector code, in the widest form the
// compiler's flags allow: AVX-512, AVX2 with FMA and F16C, or plain x86-64 (SSE2); on AArch64 NEON
// (simd_neon.h). Arithmetic is the compilers' vector extension; here stands what it has no words
// for.
//
// vf, vi and vu (v_...) are vectors of floats and integers. vw (w_...) is a vector of words of the
// matrix code: what one lane multiplies in one step, a float, an int32, two bfloats or int16 or
// four int8.
#ifndef INGOT_CPU_ISA_SIMD_H
#define INGOT_CPU_ISA_SIMD_H
#if defined(__aarch64__)
#include <arm_neon.h>
#else
#include <immintrin.h>
#endif
#include <stdbool.h>
#include <stdint.h>
#include <string.h>
#include "base/numbers.h"

#if defined(__AVX512F__) && defined(__AVX512BW__) && defined(__AVX512VL__) && defined(__AVX512DQ__)
#define V_WIDTH 16
#define V_HAS_MASKS 1
typedef __m512i vw;
#elif defined(__AVX2__) && defined(__FMA__) && defined(__F16C__)
#define V_WIDTH 8
#define V_HAS_MASKS 0
typedef __m256i vw;
#else
#define V_WIDTH 4
#define V_HAS_MASKS 0
#if defined(__aarch64__)
typedef int32x4_t vw;
#else
typedef __m128i vw;
#endif
#endif

typedef float vf __attribute__((vector_size(4 * V_WIDTH)));
typedef int32_t vi __attribute__((vector_size(4 * V_WIDTH)));
typedef uint32_t vu __attribute__((vector_size(4 * V_WIDTH)));

#define INLINE static inline __attribute__((always_inline))

INLINE vf v_load(const void *p) {
    vf v;
    memcpy(&v, p, sizeof v);
    return v;
}

INLINE vi v_load_int(const void *p) {
    vi v;
    memcpy(&v, p, sizeof v);
    return v;
}

INLINE void v_store(void *p, vf v) { memcpy(p, &v, sizeof v); }
INLINE void v_store_int(void *p, vi v) { memcpy(p, &v, sizeof v); }
INLINE vf v_set(float x) { return x - (vf){0}; }
INLINE vi v_set_int(int32_t x) { return x - (vi){0}; }
INLINE vf v_to_float(vi v) { return __builtin_convertvector(v, vf); }
INLINE vi v_to_int(vf v) { return __builtin_convertvector(v, vi); } // truncates; in range

INLINE vi v_lanes(void) { // 0, 1, 2, ...
    static const int32_t lanes[16] = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15};
    return v_load_int(lanes);
}

INLINE vf v_select(vi mask, vf a, vf b) { return (vf)((mask & (vi)a) | (~mask & (vi)b)); }
INLINE vi v_select_int(vi mask, vi a, vi b) { return (mask & a) | (~mask & b); }

#if V_WIDTH > 4
// A word each from four places.
INLINE int32_t v_word_at(const void *base, uint32_t at) {
    int32_t word;
    memcpy(&word, (const char *)base + at, sizeof word);
    return word;
}
INLINE __m128i v_four_at(const void *base, const uint32_t *at) {
    return _mm_setr_epi32(v_word_at(base, at[0]), v_word_at(base, at[1]), v_word_at(base, at[2]),
                          v_word_at(base, at[3]));
}
INLINE __m256i v_join_two(const __m128i *v) {
    return _mm256_inserti128_si256(_mm256_castsi128_si256(v[0]), v[1], 1);
}
// Two words each from two places.
INLINE __m128 v_two_pairs(const void *base, uint32_t a, uint32_t b) {
    __m128d low = _mm_load_sd((const double *)(const void *)((const char *)base + a));
    return _mm_castpd_ps(_mm_loadh_pd(low, (const double *)(const void *)((const char *)base + b)));
}
INLINE __m256 v_four_pairs(const void *base, const uint32_t *low, const uint32_t *high) {
    return _mm256_insertf128_ps(_mm256_castps128_ps256(v_two_pairs(base, low[0], low[1])),
                                v_two_pairs(base, high[0], high[1]), 1);
}
#endif

#if V_WIDTH == 16

// A NaN in a becomes b.
INLINE vf v_max(vf a, vf b) { return (vf)_mm512_max_ps((__m512)a, (__m512)b); }
INLINE vf v_min(vf a, vf b) { return (vf)_mm512_min_ps((__m512)a, (__m512)b); }
INLINE vi v_max_int(vi a, vi b) { return (vi)_mm512_max_epi32((__m512i)a, (__m512i)b); }
INLINE vi v_min_int(vi a, vi b) { return (vi)_mm512_min_epi32((__m512i)a, (__m512i)b); }
INLINE vf v_floor(vf a) {
    return (vf)_mm512_roundscale_ps((__m512)a, _MM_FROUND_TO_NEG_INF | _MM_FROUND_NO_EXC);
}
INLINE vi v_round_int(vf a) { return (vi)_mm512_cvtps_epi32((__m512)a); } // out of range: INT32_MIN
INLINE vf v_fma(vf a, vf b, vf c) { return (vf)_mm512_fmadd_ps((__m512)a, (__m512)b, (__m512)c); }
INLINE bool v_any(vi mask) { return _mm512_test_epi32_mask((__m512i)mask, (__m512i)mask) != 0; }
INLINE bool v_all(vi mask) {
    return _mm512_test_epi32_mask((__m512i)mask, (__m512i)mask) == 0xffff;
}
INLINE uint32_t v_bits(vi mask) { return (uint32_t)_mm512_movepi32_mask((__m512i)mask); }
INLINE vi v_mask(const uint32_t *bits, uint32_t lane) {
    return (vi)_mm512_movm_epi32((__mmask16)(bits[lane / 32] >> lane % 32));
}
// Gathers go into zeros: into "anything" they would wait for what the register held before. The
// compiler must not see that all lanes are wanted, or it drops the zeros.
INLINE __mmask16 v_wanted(void) {
    __mmask16 all = 0xffff;
    __asm__("" : "+Yk"(all));
    return all;
}
INLINE vi v_gather(const void *base, vi offsets) {
    __m256i low = _mm512_castsi512_si256((__m512i)offsets), zero = _mm256_setzero_si256();
    __m256i high = _mm512_extracti64x4_epi64((__m512i)offsets, 1);
    __mmask8 all = (__mmask8)v_wanted(); // two halves: faster than one of 16 where we measured
    low = _mm256_mmask_i32gather_epi32(zero, all, low, base, 1);
    high = _mm256_mmask_i32gather_epi32(zero, all, high, base, 1);
    return (vi)_mm512_inserti64x4(_mm512_castsi256_si512(low), high, 1);
}
// Two words at each offset.
INLINE void v_gather_pairs(const void *base, vi offsets, vi *first, vi *second) {
    static const int32_t evens[16] = {0, 2, 4, 6, 8, 10, 12, 14, 16, 18, 20, 22, 24, 26, 28, 30};
    __m256i low = _mm512_castsi512_si256((__m512i)offsets);
    __m256i high = _mm512_extracti64x4_epi64((__m512i)offsets, 1);
    __m512i zero = _mm512_setzero_si512();
    __mmask8 all = (__mmask8)v_wanted();
    __m512i a = _mm512_mask_i32gather_epi64(zero, all, low, base, 1);
    __m512i b = _mm512_mask_i32gather_epi64(zero, all, high, base, 1);
    __m512i index = _mm512_loadu_si512(evens);
    *first = (vi)_mm512_permutex2var_epi32(a, index, b);
    *second = (vi)_mm512_permutex2var_epi32(a, _mm512_or_si512(index, _mm512_set1_epi32(1)), b);
}
// Words of 16 bits: difference; product of fractions of 15 bits, rounded; the even ones, twice
// each.
INLINE vi v_sub_16(vi a, vi b) { return (vi)_mm512_sub_epi16((__m512i)a, (__m512i)b); }
INLINE vi v_scale_16(vi a, vi b) { return (vi)_mm512_mulhrs_epi16((__m512i)a, (__m512i)b); }
INLINE vi v_twice_16(vi a) {
    return (vi)_mm512_shuffle_epi8(
        (__m512i)a,
        _mm512_broadcast_i32x4(_mm_setr_epi8(0, 1, 0, 1, 4, 5, 4, 5, 8, 9, 8, 9, 12, 13, 12, 13)));
}
INLINE vf v_half_to_float(vi h) { return (vf)_mm512_cvtph_ps(_mm512_cvtepi32_epi16((__m512i)h)); }
INLINE vi v_float_to_half(vf f) {
    return (vi)_mm512_cvtepu16_epi32(_mm512_cvtps_ph((__m512)f, _MM_FROUND_TO_NEAREST_INT));
}
INLINE vi v_load_bytes(const void *p) {
    return (vi)_mm512_cvtepu8_epi32(_mm_loadu_si128((const __m128i *)p));
}
INLINE vi v_load_words(const void *p) {
    return (vi)_mm512_cvtepu16_epi32(_mm256_loadu_si256((const __m256i *)p));
}
// Words a, b, a, b, ...: even and odd ones.
INLINE void v_load_pairs(const void *p, vi *even, vi *odd) {
    static const int32_t evens[16] = {0, 2, 4, 6, 8, 10, 12, 14, 16, 18, 20, 22, 24, 26, 28, 30};
    __m512i a = _mm512_loadu_si512(p), b = _mm512_loadu_si512((const char *)p + 64);
    __m512i index = _mm512_loadu_si512(evens);
    *even = (vi)_mm512_permutex2var_epi32(a, index, b);
    *odd = (vi)_mm512_permutex2var_epi32(a, _mm512_or_si512(index, _mm512_set1_epi32(1)), b);
}
// Byte k of each word.
INLINE vi v_byte(vi words, int k) {
    if (k == 0 || k == 3) return k ? (vi)((vu)words >> 24) : words & 0xff;
    __m128i from = _mm_add_epi32(_mm_setr_epi32(0, 4, 8, 12), _mm_set1_epi32((int)0x80808000 + k));
    return (vi)_mm512_shuffle_epi8((__m512i)words, _mm512_broadcast_i32x4(from));
}
// Numbers from 0 to 255, rounded, become the bytes of words.
INLINE vi v_pack_bytes(const vf v[4]) {
    __m512i part[4];
    for (int k = 0; k < 4; k++) part[k] = _mm512_cvtps_epi32((__m512)v[k]);
    __m512i bytes = _mm512_packus_epi16(_mm512_packus_epi32(part[0], part[1]),
                                        _mm512_packus_epi32(part[2], part[3]));
    return (vi)_mm512_shuffle_epi8(bytes,
                                   _mm512_broadcast_i32x4(_mm_setr_epi8(0, 4, 8, 12, 1, 5, 9, 13, 2,
                                                                        6, 10, 14, 3, 7, 11, 15)));
}
INLINE vi v_join(const __m128i *v) {
    return (vi)_mm512_inserti64x4(_mm512_castsi256_si512(v_join_two(v)), v_join_two(v + 2), 1);
}
// As v_gather_pairs, by loads of one pair each, which AMD's processors are faster with.
INLINE void v_load_pairs_at(const void *base, const uint32_t *at, vi *first, vi *second) {
    __m512 a = _mm512_insertf32x8(_mm512_castps256_ps512(v_four_pairs(base, at, at + 4)),
                                  v_four_pairs(base, at + 8, at + 12), 1);
    __m512 b = _mm512_insertf32x8(_mm512_castps256_ps512(v_four_pairs(base, at + 2, at + 6)),
                                  v_four_pairs(base, at + 10, at + 14), 1);
    *first = (vi)_mm512_shuffle_ps(a, b, 0x88);
    *second = (vi)_mm512_shuffle_ps(a, b, 0xdd);
}
INLINE void v_store_pairs(void *p, vi even, vi odd) {
    static const int32_t woven[16] = {0, 16, 1, 17, 2, 18, 3, 19, 4, 20, 5, 21, 6, 22, 7, 23};
    __m512i low = _mm512_loadu_si512(woven), high = _mm512_add_epi32(low, _mm512_set1_epi32(8));
    _mm512_storeu_si512(p, _mm512_permutex2var_epi32((__m512i)even, low, (__m512i)odd));
    _mm512_storeu_si512((char *)p + 64,
                        _mm512_permutex2var_epi32((__m512i)even, high, (__m512i)odd));
}
INLINE void v_store_bytes(void *p, vi v) {
    _mm_storeu_si128((__m128i *)p, _mm512_cvtepi32_epi8((__m512i)v));
}
INLINE void v_store_words(void *p, vi v) {
    _mm256_storeu_si256((__m256i *)p, _mm512_cvtepi32_epi16((__m512i)v));
}

// Within each quad of lanes: lane 1 - lane 0 and lane 3 - lane 2; lane 2 - lane 0 and lane 3 -
// lane 1.
INLINE vf v_quad_dx(vf v) {
    return (vf)_mm512_sub_ps(_mm512_permute_ps((__m512)v, 0xf5),
                             _mm512_permute_ps((__m512)v, 0xa0));
}
INLINE vf v_quad_dy(vf v) {
    return (vf)_mm512_sub_ps(_mm512_permute_ps((__m512)v, 0xee),
                             _mm512_permute_ps((__m512)v, 0x44));
}
INLINE vi v_quad_both_x(vi m) {
    return m & (vi)_mm512_shuffle_epi32((__m512i)m, (_MM_PERM_ENUM)0xb1);
}
INLINE vi v_quad_both_y(vi m) {
    return m & (vi)_mm512_shuffle_epi32((__m512i)m, (_MM_PERM_ENUM)0x4e);
}

#elif V_WIDTH == 8

INLINE vf v_max(vf a, vf b) { return (vf)_mm256_max_ps((__m256)a, (__m256)b); }
INLINE vf v_min(vf a, vf b) { return (vf)_mm256_min_ps((__m256)a, (__m256)b); }
INLINE vi v_max_int(vi a, vi b) { return (vi)_mm256_max_epi32((__m256i)a, (__m256i)b); }
INLINE vi v_min_int(vi a, vi b) { return (vi)_mm256_min_epi32((__m256i)a, (__m256i)b); }
INLINE vf v_floor(vf a) { return (vf)_mm256_floor_ps((__m256)a); }
INLINE vi v_round_int(vf a) { return (vi)_mm256_cvtps_epi32((__m256)a); }
INLINE vf v_fma(vf a, vf b, vf c) { return (vf)_mm256_fmadd_ps((__m256)a, (__m256)b, (__m256)c); }
INLINE bool v_any(vi mask) { return _mm256_movemask_ps((__m256)mask) != 0; }
INLINE bool v_all(vi mask) { return _mm256_movemask_ps((__m256)mask) == 0xff; }
INLINE uint32_t v_bits(vi mask) { return (uint32_t)_mm256_movemask_ps((__m256)mask); }
INLINE vi v_mask(const uint32_t *bits, uint32_t lane) {
    vi bit = {1, 2, 4, 8, 16, 32, 64, 128};
    return (v_set_int((int32_t)(bits[lane / 32] >> lane % 32 & 0xff)) & bit) != 0;
}
INLINE __m256i v_wanted(void) { // see above
    __m256i all = _mm256_set1_epi32(-1);
    __asm__("" : "+x"(all));
    return all;
}
INLINE vi v_gather(const void *base, vi offsets) {
    return (vi)_mm256_mask_i32gather_epi32(_mm256_setzero_si256(), base, (__m256i)offsets,
                                           v_wanted(), 1);
}
INLINE void v_gather_pairs(const void *base, vi offsets, vi *first, vi *second) {
    __m128i low = _mm256_castsi256_si128((__m256i)offsets);
    __m128i high = _mm256_extracti128_si256((__m256i)offsets, 1);
    __m256i zero = _mm256_setzero_si256(), all = v_wanted();
    __m256 a = _mm256_castsi256_ps(_mm256_mask_i32gather_epi64(zero, base, low, all, 1));
    __m256 b = _mm256_castsi256_ps(_mm256_mask_i32gather_epi64(zero, base, high, all, 1));
    __m256 outer = _mm256_permute2f128_ps(a, b, 0x20), inner = _mm256_permute2f128_ps(a, b, 0x31);
    *first = (vi)_mm256_shuffle_ps(outer, inner, 0x88);
    *second = (vi)_mm256_shuffle_ps(outer, inner, 0xdd);
}
INLINE vi v_sub_16(vi a, vi b) { return (vi)_mm256_sub_epi16((__m256i)a, (__m256i)b); }
INLINE vi v_scale_16(vi a, vi b) { return (vi)_mm256_mulhrs_epi16((__m256i)a, (__m256i)b); }
INLINE vi v_twice_16(vi a) {
    return (vi)_mm256_shuffle_epi8(
        (__m256i)a, _mm256_broadcastsi128_si256(
                        _mm_setr_epi8(0, 1, 0, 1, 4, 5, 4, 5, 8, 9, 8, 9, 12, 13, 12, 13)));
}
INLINE vf v_half_to_float(vi h) {
    __m128i low = _mm256_castsi256_si128((__m256i)h);
    __m128i high = _mm256_extracti128_si256((__m256i)h, 1);
    return (vf)_mm256_cvtph_ps(_mm_packus_epi32(low, high));
}
INLINE vi v_float_to_half(vf f) {
    return (vi)_mm256_cvtepu16_epi32(_mm256_cvtps_ph((__m256)f, _MM_FROUND_TO_NEAREST_INT));
}
INLINE vi v_load_bytes(const void *p) {
    return (vi)_mm256_cvtepu8_epi32(_mm_loadl_epi64((const __m128i *)p));
}
INLINE vi v_load_words(const void *p) {
    return (vi)_mm256_cvtepu16_epi32(_mm_loadu_si128((const __m128i *)p));
}
INLINE void v_load_pairs(const void *p, vi *even, vi *odd) {
    __m256 a = _mm256_loadu_ps(p), b = _mm256_loadu_ps((const float *)p + 8);
    __m256 low = _mm256_permute2f128_ps(a, b, 0x20), high = _mm256_permute2f128_ps(a, b, 0x31);
    *even = (vi)_mm256_shuffle_ps(low, high, 0x88);
    *odd = (vi)_mm256_shuffle_ps(low, high, 0xdd);
}
INLINE vi v_byte(vi words, int k) { // see above
    if (k == 0 || k == 3) return k ? (vi)((vu)words >> 24) : words & 0xff;
    __m128i from = _mm_add_epi32(_mm_setr_epi32(0, 4, 8, 12), _mm_set1_epi32((int)0x80808000 + k));
    return (vi)_mm256_shuffle_epi8((__m256i)words, _mm256_broadcastsi128_si256(from));
}
INLINE vi v_pack_bytes(const vf v[4]) {
    __m256i part[4];
    for (int k = 0; k < 4; k++) part[k] = _mm256_cvtps_epi32((__m256)v[k]);
    __m256i bytes = _mm256_packus_epi16(_mm256_packus_epi32(part[0], part[1]),
                                        _mm256_packus_epi32(part[2], part[3]));
    return (vi)_mm256_shuffle_epi8(
        bytes, _mm256_broadcastsi128_si256(
                   _mm_setr_epi8(0, 4, 8, 12, 1, 5, 9, 13, 2, 6, 10, 14, 3, 7, 11, 15)));
}
INLINE vi v_join(const __m128i *v) { return (vi)v_join_two(v); }
INLINE void v_load_pairs_at(const void *base, const uint32_t *at, vi *first, vi *second) {
    __m256 a = v_four_pairs(base, at, at + 4), b = v_four_pairs(base, at + 2, at + 6);
    *first = (vi)_mm256_shuffle_ps(a, b, 0x88);
    *second = (vi)_mm256_shuffle_ps(a, b, 0xdd);
}
INLINE void v_store_pairs(void *p, vi even, vi odd) {
    __m256i a = _mm256_unpacklo_epi32((__m256i)even, (__m256i)odd);
    __m256i b = _mm256_unpackhi_epi32((__m256i)even, (__m256i)odd);
    _mm256_storeu_si256((__m256i *)p, _mm256_permute2x128_si256(a, b, 0x20));
    _mm256_storeu_si256((__m256i *)p + 1, _mm256_permute2x128_si256(a, b, 0x31));
}
INLINE __m128i v_narrow(vi v) { // to 16 bits
    return _mm_packus_epi32(_mm256_castsi256_si128((__m256i)v),
                            _mm256_extracti128_si256((__m256i)v, 1));
}
INLINE void v_store_bytes(void *p, vi v) {
    __m128i words = v_narrow(v);
    _mm_storel_epi64((__m128i *)p, _mm_packus_epi16(words, words));
}
INLINE void v_store_words(void *p, vi v) { _mm_storeu_si128((__m128i *)p, v_narrow(v)); }

INLINE vf v_quad_dx(vf v) {
    return (vf)_mm256_sub_ps(_mm256_permute_ps((__m256)v, 0xf5),
                             _mm256_permute_ps((__m256)v, 0xa0));
}
INLINE vf v_quad_dy(vf v) {
    return (vf)_mm256_sub_ps(_mm256_permute_ps((__m256)v, 0xee),
                             _mm256_permute_ps((__m256)v, 0x44));
}
INLINE vi v_quad_both_x(vi m) { return m & (vi)_mm256_shuffle_epi32((__m256i)m, 0xb1); }
INLINE vi v_quad_both_y(vi m) { return m & (vi)_mm256_shuffle_epi32((__m256i)m, 0x4e); }

#else

#if defined(__aarch64__)
#include "devices/cpu/isa/simd_neon.h"
#else
INLINE vf v_max(vf a, vf b) { return (vf)_mm_max_ps((__m128)a, (__m128)b); }
INLINE vf v_min(vf a, vf b) { return (vf)_mm_min_ps((__m128)a, (__m128)b); }
INLINE vi v_max_int(vi a, vi b) { return v_select_int(a > b, a, b); }
INLINE vi v_min_int(vi a, vi b) { return v_select_int(a < b, a, b); }
INLINE vf v_floor(vf a) { // beyond 2^23 every float is whole; NaN stays NaN
    vf magnitude = (vf)((vi)a & 0x7fffffff), whole = v_to_float((vi)_mm_cvttps_epi32((__m128)a));
    vf low = whole - (vf)((vi)(whole > a) & (vi)v_set(1));
    return v_select(magnitude < v_set(8388608.0f), low, a);
}
INLINE vf v_fma(vf a, vf b, vf c) { return a * b + c; }
INLINE bool v_any(vi mask) { return _mm_movemask_ps((__m128)mask) != 0; }
INLINE bool v_all(vi mask) { return _mm_movemask_ps((__m128)mask) == 15; }
INLINE uint32_t v_bits(vi mask) { return (uint32_t)_mm_movemask_ps((__m128)mask); }
// Exact for every half: exponents move by a multiplication, which also takes subnormals; infinities
// and NaNs get the largest exponent.
INLINE vf v_half_to_float(vi h) {
    vi magnitude = h & 0x7fff;
    vf scaled = (vf)(magnitude << 13) * 0x1p112f;
    return (vf)((vi)scaled | ((magnitude > 0x7bff) & 0x7f800000) | (vi)((vu)(h & 0x8000) << 16));
}
INLINE vi v_float_to_half(vf f) {
    vi v;
    for (int i = 0; i < V_WIDTH; i++) v[i] = half_from_float(f[i]);
    return v;
}
INLINE vi v_load_words(const void *p) {
    return (vi)_mm_unpacklo_epi16(_mm_loadl_epi64((const __m128i *)p), _mm_setzero_si128());
}
INLINE void v_load_pairs(const void *p, vi *even, vi *odd) {
    __m128 a = _mm_loadu_ps(p), b = _mm_loadu_ps((const float *)p + 4);
    *even = (vi)_mm_shuffle_ps(a, b, 0x88);
    *odd = (vi)_mm_shuffle_ps(a, b, 0xdd);
}
INLINE void v_store_pairs(void *p, vi even, vi odd) {
    _mm_storeu_si128((__m128i *)p, _mm_unpacklo_epi32((__m128i)even, (__m128i)odd));
    _mm_storeu_si128((__m128i *)p + 1, _mm_unpackhi_epi32((__m128i)even, (__m128i)odd));
}
INLINE vi v_quad_both_x(vi m) { return m & (vi)_mm_shuffle_epi32((__m128i)m, 0xb1); }
INLINE vi v_quad_both_y(vi m) { return m & (vi)_mm_shuffle_epi32((__m128i)m, 0x4e); }
#endif

INLINE vi v_mask(const uint32_t *bits, uint32_t lane) {
    vi bit = {1, 2, 4, 8};
    return (v_set_int((int32_t)(bits[lane / 32] >> lane % 32 & 15)) & bit) != 0;
}
INLINE vi v_byte(vi words, int k) {
    vi v = (vi)((vu)words >> 8 * k);
    return k == 3 ? v : v & 0xff;
}
INLINE vi v_pack_bytes(const vf v[4]) {
    // A float of 1.5 * 2^23 has the unit place last; the sum of the upper parts is taken away.
    vu word = (vu)v_set_int((int32_t)(0u - 0x4b400000u - (0x4b400000u << 8)));
    for (int k = 0; k < 4; k++) word += (vu)(v[k] + 12582912.0f) << 8 * k;
    return (vi)word;
}
INLINE vi v_gather(const void *base, vi offsets) {
    vi v;
    for (int i = 0; i < V_WIDTH; i++) {
        int32_t word;
        memcpy(&word, (const char *)base + (uint32_t)offsets[i], 4);
        v[i] = word;
    }
    return v;
}
INLINE vi v_load_bytes(const void *p) {
    const uint8_t *b = p;
    return (vi){b[0], b[1], b[2], b[3]};
}
INLINE void v_store_bytes(void *p, vi v) {
    for (int i = 0; i < V_WIDTH; i++) ((uint8_t *)p)[i] = (uint8_t)v[i];
}
INLINE void v_store_words(void *p, vi v) {
    for (int i = 0; i < V_WIDTH; i++) {
        uint16_t word = (uint16_t)v[i];
        memcpy((char *)p + 2 * i, &word, 2);
    }
}
INLINE vf v_quad_dx(vf v) { return (vf){v[1] - v[0], v[1] - v[0], v[3] - v[2], v[3] - v[2]}; }
INLINE vf v_quad_dy(vf v) { return (vf){v[2] - v[0], v[3] - v[1], v[2] - v[0], v[3] - v[1]}; }

#endif

// ---- Words ----

INLINE vw w_load_u16(const void *p) { return (vw)v_load_words(p); }
INLINE vw w_to_float(vw v) { return (vw)v_to_float((vi)v); }

#if !defined(__aarch64__) // simd_neon.h has the others
// Intrinsics of this width, and words as floats.
#if V_WIDTH == 16
#define W(op) _mm512_##op
#define W_FLOATS(v) _mm512_castsi512_ps(v)
#define W_WORDS(v) _mm512_castps_si512(v)
#elif V_WIDTH == 8
#define W(op) _mm256_##op
#define W_FLOATS(v) _mm256_castsi256_ps(v)
#define W_WORDS(v) _mm256_castps_si256(v)
#else
#define W(op) _mm_##op
#define W_FLOATS(v) _mm_castsi128_ps(v)
#define W_WORDS(v) _mm_castps_si128(v)
#endif

INLINE vw w_all(const void *p) { // one word to every lane
    float f;
    memcpy(&f, p, 4);
    return W_WORDS(W(set1_ps)(f));
}
INLINE vw w_add_float(vw a, vw b) { return W_WORDS(W(add_ps)(W_FLOATS(a), W_FLOATS(b))); }
INLINE vw w_add_int(vw a, vw b) { return W(add_epi32)(a, b); }
INLINE vw w_mul_shorts(vw a, vw b) { return W(madd_epi16)(a, b); }
#if V_WIDTH > 4
INLINE vw w_fma(vw sum, vw x, vw y) {
    return W_WORDS(W(fmadd_ps)(W_FLOATS(x), W_FLOATS(y), W_FLOATS(sum)));
}
INLINE vw w_mul_int(vw a, vw b) { return W(mullo_epi32)(a, b); }
#else
INLINE vw w_fma(vw sum, vw x, vw y) {
    return w_add_float(sum, W_WORDS(W(mul_ps)(W_FLOATS(x), W_FLOATS(y))));
}
INLINE vw w_mul_int(vw a, vw b) {
    vw even = _mm_mul_epu32(a, b),
       odd = _mm_mul_epu32(_mm_srli_epi64(a, 32), _mm_srli_epi64(b, 32));
    return _mm_unpacklo_epi32(_mm_shuffle_epi32(even, 8), _mm_shuffle_epi32(odd, 8));
}
#endif

// Squares of 4 by 4 words, in rows of V_WIDTH, become columns.
INLINE void w_transpose_squares(vw v[V_WIDTH]) {
    vw t[V_WIDTH];
    for (int i = 0; i < V_WIDTH; i += 2) {
        t[i] = W(unpacklo_epi32)(v[i], v[i + 1]);
        t[i + 1] = W(unpackhi_epi32)(v[i], v[i + 1]);
    }
    for (int i = 0; i < V_WIDTH; i += 4) {
        v[i] = W(unpacklo_epi64)(t[i], t[i + 2]);
        v[i + 1] = W(unpackhi_epi64)(t[i], t[i + 2]);
        v[i + 2] = W(unpacklo_epi64)(t[i + 1], t[i + 3]);
        v[i + 3] = W(unpackhi_epi64)(t[i + 1], t[i + 3]);
    }
}

#if V_WIDTH == 16

INLINE vw w_zero(void) { return _mm512_setzero_si512(); }
INLINE vw w_load(const void *p) { return _mm512_loadu_si512(p); }
INLINE vw w_load_some(const void *p, uint32_t mask) {
    return _mm512_maskz_loadu_epi32((__mmask16)mask, p);
}
INLINE vw w_load_halfs(const void *p, uint32_t mask) {
    return _mm512_castps_si512(_mm512_cvtph_ps(_mm256_maskz_loadu_epi16((__mmask16)mask, p)));
}
INLINE vw w_load_bfloats(const void *p, uint32_t mask) {
    return _mm512_slli_epi32(_mm512_cvtepu16_epi32(_mm256_maskz_loadu_epi16((__mmask16)mask, p)),
                             16);
}
INLINE void w_store(void *p, vw v) { _mm512_storeu_si512(p, v); }
INLINE void w_store_some(void *p, uint32_t mask, vw v) {
    _mm512_mask_storeu_epi32(p, (__mmask16)mask, v);
}
INLINE vw w_half_to_float(const void *p) {
    return _mm512_castps_si512(_mm512_cvtph_ps(_mm256_loadu_si256((const __m256i *)p)));
}
INLINE vw w_shift_left(vw v, int n) { return _mm512_slli_epi32(v, (unsigned)n); }

// 16 rows of 16 words become columns.
INLINE void w_transpose(vw v[16]) {
    vw t[16];
    w_transpose_squares(v);
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

#elif V_WIDTH == 8

INLINE vw w_zero(void) { return _mm256_setzero_si256(); }
INLINE vw w_load(const void *p) { return _mm256_loadu_si256((const __m256i *)p); }
INLINE vw w_load_halfs(const void *p, uint32_t mask) {
    (void)mask;
    return _mm256_castps_si256(_mm256_cvtph_ps(_mm_loadu_si128((const __m128i *)p)));
}
INLINE vw w_load_bfloats(const void *p, uint32_t mask) {
    (void)mask;
    return _mm256_slli_epi32(_mm256_cvtepu16_epi32(_mm_loadu_si128((const __m128i *)p)), 16);
}
INLINE void w_store(void *p, vw v) { _mm256_storeu_si256((__m256i *)p, v); }
INLINE vw w_half_to_float(const void *p) { return w_load_halfs(p, 0); }
INLINE vw w_shift_left(vw v, int n) { return _mm256_slli_epi32(v, n); }

INLINE void w_transpose(vw v[8]) {
    w_transpose_squares(v);
    for (int j = 0; j < 4; j++) {
        vw a = v[j], b = v[4 + j];
        v[j] = _mm256_permute2x128_si256(a, b, 0x20);
        v[4 + j] = _mm256_permute2x128_si256(a, b, 0x31);
    }
}

#else

INLINE vw w_zero(void) { return _mm_setzero_si128(); }
INLINE vw w_load(const void *p) { return _mm_loadu_si128((const __m128i *)p); }
INLINE vw w_shift_left(vw v, int n) { return _mm_slli_epi32(v, n); }
INLINE void w_store(void *p, vw v) { _mm_storeu_si128((__m128i *)p, v); }
INLINE void w_transpose(vw v[4]) { w_transpose_squares(v); }

#endif
#undef W
#undef W_FLOATS
#undef W_WORDS
#endif

#if V_WIDTH == 4
INLINE vw w_load_bfloats(const void *p, uint32_t mask) {
    (void)mask;
    return w_shift_left(w_load_u16(p), 16);
}
INLINE vw w_half_to_float(const void *p) { return (vw)v_half_to_float(v_load_words(p)); }
INLINE vw w_load_halfs(const void *p, uint32_t mask) {
    (void)mask;
    return w_half_to_float(p);
}
#endif

#if !V_HAS_MASKS // never called: partial vectors go through padded scratch
INLINE vw w_load_some(const void *p, uint32_t mask) {
    (void)mask;
    return w_load(p);
}
INLINE void w_store_some(void *p, uint32_t mask, vw v) {
    (void)mask;
    w_store(p, v);
}
#endif
#endif
