// SPDX-License-Identifier: Apache-2.0
// fast_load.h: up to V_WIDTH elements of any type, side by side in memory, as a vector of floats or
// of integer words; zeros beyond them. Nothing beyond them is read.
#ifndef INGOT_CPU_TENSOR_FAST_LOAD_H
#define INGOT_CPU_TENSOR_FAST_LOAD_H
#include "devices/cpu/tensor/element.h"
#include "devices/cpu/isa/simd.h"

#if V_WIDTH == 16

INLINE uint32_t first_lanes(int n) { return n >= 16 ? 0xffff : (1u << n) - 1; }
INLINE vw load_u8(const void *p, int n) {
    return _mm512_cvtepu8_epi32(_mm_maskz_loadu_epi8((__mmask16)first_lanes(n), p));
}
INLINE vw load_i8(const void *p, int n) {
    return _mm512_cvtepi8_epi32(_mm_maskz_loadu_epi8((__mmask16)first_lanes(n), p));
}
INLINE vw load_u16(const void *p, int n) {
    return _mm512_cvtepu16_epi32(_mm256_maskz_loadu_epi16((__mmask16)first_lanes(n), p));
}
INLINE vw load_i16(const void *p, int n) {
    return _mm512_cvtepi16_epi32(_mm256_maskz_loadu_epi16((__mmask16)first_lanes(n), p));
}
INLINE vw load_32(const void *p, int n) { return w_load_some(p, first_lanes(n)); }
INLINE vw load_half(const void *p, int n) { return w_load_halfs(p, first_lanes(n)); }

#else

// A copy with zeros behind it, where there are fewer elements than lanes.
INLINE const void *padded(const void *p, int n, int n_bytes, unsigned char room[V_WIDTH * 4]) {
    if (n >= V_WIDTH) return p;
    memset(room, 0, V_WIDTH * 4);
    memcpy(room, p, (size_t)(n * n_bytes));
    return room;
}
INLINE vw load_32(const void *p, int n) {
    unsigned char room[V_WIDTH * 4];
    return w_load(padded(p, n, 4, room));
}
INLINE vw load_u16(const void *p, int n) {
    unsigned char room[V_WIDTH * 4];
    return w_load_u16(padded(p, n, 2, room));
}
INLINE vw load_half(const void *p, int n) {
    unsigned char room[V_WIDTH * 4];
    return w_half_to_float(padded(p, n, 2, room));
}
#if V_WIDTH == 8
INLINE vw load_i16(const void *p, int n) {
    unsigned char room[V_WIDTH * 4];
    return _mm256_cvtepi16_epi32(_mm_loadu_si128(padded(p, n, 2, room)));
}
INLINE vw load_u8(const void *p, int n) {
    unsigned char room[V_WIDTH * 4];
    return _mm256_cvtepu8_epi32(_mm_loadl_epi64(padded(p, n, 1, room)));
}
INLINE vw load_i8(const void *p, int n) {
    unsigned char room[V_WIDTH * 4];
    return _mm256_cvtepi8_epi32(_mm_loadl_epi64(padded(p, n, 1, room)));
}
#else
INLINE vw load_i16(const void *p, int n) {
    return (vw)((vi)w_shift_left(load_u16(p, n), 16) >> 16);
}
INLINE vw load_u8(const void *p, int n) {
    unsigned char room[V_WIDTH * 4];
    return (vw)v_load_bytes(padded(p, n, 1, room));
}
INLINE vw load_i8(const void *p, int n) { return (vw)((vi)w_shift_left(load_u8(p, n), 24) >> 24); }
#endif

#endif

// `type` is a constant where this is used, of at least 8 bits.
INLINE vw load_floats(const unsigned char *p, uint32_t type, int n) {
    switch (type) {
    case ABI_TENSOR_FLOAT32: return load_32(p, n);
    case ABI_TENSOR_FLOAT16: return load_half(p, n);
    case ABI_TENSOR_BFLOAT16: return w_shift_left(load_u16(p, n), 16);
    case ABI_TENSOR_INT8: return w_to_float(load_i8(p, n));
    case ABI_TENSOR_UINT8: return w_to_float(load_u8(p, n));
    case ABI_TENSOR_INT16: return w_to_float(load_i16(p, n));
    case ABI_TENSOR_UINT16: return w_to_float(load_u16(p, n));
    case ABI_TENSOR_INT32: return w_to_float(load_32(p, n));
    default: {
        float f[V_WIDTH] = {0};
        for (int i = 0; i < n && i < V_WIDTH; i++) f[i] = cpu_element_float(p, type, i);
        return w_load(f);
    }
    }
}

INLINE vw load_ints(const unsigned char *p, uint32_t type, int n) {
    switch (type) {
    case ABI_TENSOR_INT8: return load_i8(p, n);
    case ABI_TENSOR_UINT8: return load_u8(p, n);
    case ABI_TENSOR_INT16: return load_i16(p, n);
    case ABI_TENSOR_UINT16: return load_u16(p, n);
    case ABI_TENSOR_INT32:
    case ABI_TENSOR_UINT32: return load_32(p, n);
    default: {
        uint32_t u[V_WIDTH] = {0};
        for (int i = 0; i < n && i < V_WIDTH; i++) u[i] = (uint32_t)cpu_element_int(p, type, i);
        return w_load(u);
    }
    }
}
#endif
