// SPDX-License-Identifier: Apache-2.0
// kernels.h: the table of compiled kernels of a device.
#ifndef INGOT_TENSOR_KERNELS_H
#define INGOT_TENSOR_KERNELS_H
#include "tensor/tensor_int.h"

bool ig_kernels_init(IgDevice *device);
void ig_kernels_destroy(IgDevice *device);
#endif
