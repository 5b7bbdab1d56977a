// SPDX-License-Identifier: Apache-2.0
// ops.h: the table of tensor operations for this machine.
#ifndef INGOT_CPU_TENSOR_OPS_H
#define INGOT_CPU_TENSOR_OPS_H
#include <stdbool.h>
#include "abi/cpu_tensor.h"

const CpuTensorOps *cpu_tensor_ops(void);

// Instruction sets by what they add. cpu_tensor_ops takes the last one the machine has.
typedef enum CpuTensorIsa {
    CPU_TENSOR_GENERAL, // general.c only
    CPU_TENSOR_SSE2,
    CPU_TENSOR_AVX2,   // with FMA and F16C
    CPU_TENSOR_AVX512, // F, BW, VL, DQ
    CPU_TENSOR_VNNI,   // and dot products of bytes,
    CPU_TENSOR_BF16,   // and of bfloats,
    CPU_TENSOR_AMX,    // and tiles of both
    CPU_TENSOR_N_ISAS
} CpuTensorIsa;
// For tests and measurements: takes a lower one. False if this machine does not have it. Not while
// kernels run.
bool cpu_tensor_use(CpuTensorIsa isa);

// general.c: every type and every stride, slowly. What the fast code is measured against.
void cpu_matmul_general(const CpuMatmul *op);
void cpu_convolution_general(const CpuConvolution *op);
#endif
