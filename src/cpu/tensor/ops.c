// SPDX-License-Identifier: Apache-2.0
// ops.c: which function serves which operation on this machine.
#include "cpu/tensor/ops.h"

const CpuTensorOps *cpu_tensor_ops(void) {
    static const CpuTensorOps general = {.matmul = cpu_matmul_general,
                                         .convolution = cpu_convolution_general};
    return &general;
}
