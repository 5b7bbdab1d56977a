// SPDX-License-Identifier: Apache-2.0
// element.h: one element of a tensor as a number and back, for every type. For general code.
#ifndef INGOT_CPU_TENSOR_ELEMENT_H
#define INGOT_CPU_TENSOR_ELEMENT_H
#include <stdbool.h>
#include <string.h>
#include "abi/cpu_tensor.h"
#include "base/numbers.h"

static inline bool cpu_element_is_float(uint32_t type) {
    return type == ABI_TENSOR_FLOAT32 || type == ABI_TENSOR_FLOAT16 || type == ABI_TENSOR_BFLOAT16;
}

static inline int64_t cpu_element_int(const void *data, uint32_t type, int64_t i) {
    switch (type) {
    case ABI_TENSOR_INT8: return ((const int8_t *)data)[i];
    case ABI_TENSOR_UINT8: return ((const uint8_t *)data)[i];
    case ABI_TENSOR_INT16: return ((const int16_t *)data)[i];
    case ABI_TENSOR_UINT16: return ((const uint16_t *)data)[i];
    case ABI_TENSOR_INT32: return ((const int32_t *)data)[i];
    case ABI_TENSOR_UINT32: return ((const uint32_t *)data)[i];
    case ABI_TENSOR_INT64: return ((const int64_t *)data)[i];
    case ABI_TENSOR_UINT64: return (int64_t)((const uint64_t *)data)[i];
    case ABI_TENSOR_INT4:
    case ABI_TENSOR_UINT4: {
        int v = ((const uint8_t *)data)[i >> 1] >> (i & 1) * 4 & 15;
        return type == ABI_TENSOR_INT4 && v > 7 ? v - 16 : v;
    }
    default: return 0;
    }
}

static inline float cpu_element_float(const void *data, uint32_t type, int64_t i) {
    switch (type) {
    case ABI_TENSOR_FLOAT32: return ((const float *)data)[i];
    case ABI_TENSOR_FLOAT16: return float_from_half(((const uint16_t *)data)[i]);
    case ABI_TENSOR_BFLOAT16: return float_from_bfloat(((const uint16_t *)data)[i]);
    default: return (float)cpu_element_int(data, type, i);
    }
}

static inline void cpu_element_set_int(void *data, uint32_t type, int64_t i, int64_t v) {
    switch (type) {
    case ABI_TENSOR_INT8:
    case ABI_TENSOR_UINT8: ((uint8_t *)data)[i] = (uint8_t)v; break;
    case ABI_TENSOR_INT16:
    case ABI_TENSOR_UINT16: ((uint16_t *)data)[i] = (uint16_t)v; break;
    case ABI_TENSOR_INT32:
    case ABI_TENSOR_UINT32: ((uint32_t *)data)[i] = (uint32_t)v; break;
    case ABI_TENSOR_INT64:
    case ABI_TENSOR_UINT64: ((uint64_t *)data)[i] = (uint64_t)v; break;
    case ABI_TENSOR_INT4:
    case ABI_TENSOR_UINT4: {
        uint8_t *byte = (uint8_t *)data + (i >> 1);
        int shift = (int)(i & 1) * 4;
        *byte = (uint8_t)((*byte & ~(15 << shift)) | ((int)v & 15) << shift);
        break;
    }
    default: break;
    }
}

static inline void cpu_element_set_float(void *data, uint32_t type, int64_t i, float v) {
    switch (type) {
    case ABI_TENSOR_FLOAT32: ((float *)data)[i] = v; break;
    case ABI_TENSOR_FLOAT16: ((uint16_t *)data)[i] = half_from_float(v); break;
    case ABI_TENSOR_BFLOAT16: ((uint16_t *)data)[i] = bfloat_from_float(v); break;
    default: cpu_element_set_int(data, type, i, (int64_t)v); break;
    }
}
#endif
