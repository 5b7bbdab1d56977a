// SPDX-License-Identifier: Apache-2.0
// fast_store.h: sums in scratch become elements of the result, of any type and strides.
#ifndef INGOT_CPU_TENSOR_FAST_STORE_H
#define INGOT_CPU_TENSOR_FAST_STORE_H
#include "devices/cpu/tensor/fast.h"

typedef struct CpuResult {
    unsigned char *data;
    uint32_t type;
    int64_t row, lane; // strides in elements
    bool is_float;     // the sums are; else int32
    bool add;          // to what stands there
} CpuResult;

// n_rows x n_lanes sums, `width` words to a row with whole vectors, to row and lane on.
void ISA(cpu_store)(const CpuResult *to, int64_t row, int n_rows, int64_t lane, int n_lanes,
                    const uint32_t *sums, int width);
#endif
