// SPDX-License-Identifier: Apache-2.0
// simd_neon.h: the vectors of simd.h with NEON, which every AArch64 processor has: four lanes,
// fused multiply-add and conversions of halves as AVX2 has them, so that results are the same bits.
// Included by simd.h.
#ifndef INGOT_CPU_ISA_SIMD_NEON_H
#define INGOT_CPU_ISA_SIMD_NEON_H
#include <arm_neon.h>

INLINE vf v_max(vf a, vf b) { return v_select(a > b, a, b); }
INLINE vf v_min(vf a, vf b) { return v_select(a < b, a, b); }
INLINE vi v_max_int(vi a, vi b) { return (vi)vmaxq_s32((int32x4_t)a, (int32x4_t)b); }
INLINE vi v_min_int(vi a, vi b) { return (vi)vminq_s32((int32x4_t)a, (int32x4_t)b); }
INLINE vf v_floor(vf a) { return (vf)vrndmq_f32((float32x4_t)a); }
INLINE vf v_fma(vf a, vf b, vf c) {
    return (vf)vfmaq_f32((float32x4_t)c, (float32x4_t)a, (float32x4_t)b);
}
INLINE bool v_any(vi mask) { return vmaxvq_u32((uint32x4_t)mask) != 0; }
INLINE bool v_all(vi mask) { return vminvq_u32((uint32x4_t)mask) == UINT32_MAX; }
INLINE uint32_t v_bits(vi mask) {
    vi bit = {1, 2, 4, 8};
    return vaddvq_u32((uint32x4_t)((mask < 0) & bit));
}
INLINE vf v_half_to_float(vi h) { return (vf)vcvt_f32_f16((float16x4_t)vmovn_u32((uint32x4_t)h)); }
INLINE vi v_float_to_half(vf f) { return (vi)vmovl_u16((uint16x4_t)vcvt_f16_f32((float32x4_t)f)); }
INLINE vi v_load_words(const void *p) {
    uint16x4_t words;
    memcpy(&words, p, sizeof words);
    return (vi)vmovl_u16(words);
}
INLINE void v_load_pairs(const void *p, vi *even, vi *odd) {
    int32x4x2_t pairs = vld2q_s32(p);
    *even = (vi)pairs.val[0];
    *odd = (vi)pairs.val[1];
}
INLINE void v_store_pairs(void *p, vi even, vi odd) {
    vst2q_s32(p, (int32x4x2_t){{(int32x4_t)even, (int32x4_t)odd}});
}
INLINE vi v_quad_both_x(vi m) { return m & (vi)vrev64q_s32((int32x4_t)m); }
INLINE vi v_quad_both_y(vi m) { return m & (vi)vextq_s32((int32x4_t)m, (int32x4_t)m, 2); }

// ---- Words ----

INLINE vw w_zero(void) { return vdupq_n_s32(0); }
INLINE vw w_load(const void *p) { return (vw)v_load_int(p); }
INLINE void w_store(void *p, vw v) { v_store_int(p, (vi)v); }
INLINE vw w_all(const void *p) { // one word to every lane
    int32_t word;
    memcpy(&word, p, 4);
    return vdupq_n_s32(word);
}
INLINE vw w_add_float(vw a, vw b) { return (vw)((vf)a + (vf)b); }
INLINE vw w_add_int(vw a, vw b) { return vaddq_s32(a, b); }
INLINE vw w_mul_int(vw a, vw b) { return vmulq_s32(a, b); }
INLINE vw w_mul_shorts(vw a, vw b) {
    int16x8_t x = (int16x8_t)a, y = (int16x8_t)b;
    return vpaddq_s32(vmull_s16(vget_low_s16(x), vget_low_s16(y)), vmull_high_s16(x, y));
}
INLINE vw w_fma(vw sum, vw x, vw y) { return (vw)v_fma((vf)x, (vf)y, (vf)sum); }
INLINE vw w_shift_left(vw v, int n) { return vshlq_s32(v, vdupq_n_s32(n)); }
INLINE void w_transpose(vw v[4]) {
    int64x2_t low = (int64x2_t)vzip1q_s32(v[0], v[1]), high = (int64x2_t)vzip2q_s32(v[0], v[1]);
    int64x2_t next_low = (int64x2_t)vzip1q_s32(v[2], v[3]),
              next_high = (int64x2_t)vzip2q_s32(v[2], v[3]);
    v[0] = (vw)vzip1q_s64(low, next_low);
    v[1] = (vw)vzip2q_s64(low, next_low);
    v[2] = (vw)vzip1q_s64(high, next_high);
    v[3] = (vw)vzip2q_s64(high, next_high);
}
#endif
