// SPDX-License-Identifier: Apache-2.0
// user_kernel.h: kernels of the user: what user_kernel.c and user_elementwise.c share.
#ifndef INGOT_TENSOR_USER_KERNEL_H
#define INGOT_TENSOR_USER_KERNEL_H
#include "ingot/tensor_kernel.h"
#include "tensor/tensor_int.h"

struct IgUserKernel {
    atomic_uint refs;
    IgDevice *device; // retained
    char *name;
    MTLComputePipelineState *pipeline; // NULL: element-wise, made for the types of a call
    struct IgUserElementwise *elementwise;
    uint32_t writes; // buffers, a bit each; of those for ig_kernel_dispatch
    IgKernelBackward *backward;
    void *context;
    void (*release)(void *context);
};

IgUserKernel *ig_user_kernel_alloc(IgDevice *device, const char *name, MTLError **error);
// user_elementwise.c. The inputs are checked: there, and on one device.
IgTensor *ig_user_elementwise(IgUserKernel *kernel, const IgKernelCall *call, MTLError **error);
void ig_user_elementwise_free(struct IgUserElementwise *elementwise);
// Threads of one dimension for n elements.
void ig_user_grid(const IgUserKernel *kernel, int64_t n, MTLSize *threads, MTLSize *group);
#endif
