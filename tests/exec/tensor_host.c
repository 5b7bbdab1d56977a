// SPDX-License-Identifier: Apache-2.0
// tensor_host.c: the device's functions on tensors as a shared object, for kernels that run outside
// the runtime (test_exec.py, test_tensor.py).
#include "devices/cpu/tensor/ops.h"

#define HOST __attribute__((visibility("default")))
HOST const CpuTensorOps *host_tensor_ops(void);

const CpuTensorOps *host_tensor_ops(void) { return cpu_tensor_ops(); }
