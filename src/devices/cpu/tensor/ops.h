// SPDX-License-Identifier: Apache-2.0
// ops.h: the table of tensor operations for this machine.
#ifndef INGOT_CPU_TENSOR_OPS_H
#define INGOT_CPU_TENSOR_OPS_H
#include "abi/cpu_tensor.h"

// Of the instruction set in use (devices/cpu/isa/isa.h).
const CpuTensorOps *cpu_tensor_ops(void);

// reference.c: every type and every stride, slowly. What the fast code is measured against.
void cpu_matmul_general(const CpuMatmul *op);
void cpu_convolution_general(const CpuConvolution *op);
#endif
