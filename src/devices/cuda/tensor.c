// SPDX-License-Identifier: Apache-2.0
// tensor.c: records of tensors (texture.c has what they lie in).
#include "devices/cuda/cuda_int.h"

bool cuda_tensor_make(void *context, const AbiTensor *record, DevHandle *handle) {
    CudaDevice *d = context;
    if (!cuda_enter(d)) return false;
    bool ok = cuda_record_make(d, 1, record, sizeof *record, 0, handle);
    cuda_leave(d);
    return ok;
}
