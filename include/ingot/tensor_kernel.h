// SPDX-License-Identifier: Apache-2.0
// tensor_kernel.h: operations of one's own on tensors (tensor.h), from source in the Metal Shading
// Language.
//
//     static const char source[] =
//         "#include <metal_stdlib>\n"
//         "kernel void scaled_relu(device const half *input [[buffer(0)]],\n"
//         "                        device half *output [[buffer(1)]],\n"
//         "                        constant float &scale [[buffer(2)]],\n"
//         "                        uint id [[thread_position_in_grid]]) {\n"
//         "    output[id] = half(scale * max(float(input[id]), 0.0f));\n"
//         "}\n";
//     IgUserKernel *kernel = ig_kernel_new(device, source, "scaled_relu", &error);
//     IgTensor *y = ig_kernel_call(kernel, &(IgKernelCall){.n_inputs = 1, .inputs = &x,
//         .type = IgFloat16, .rank = 2, .shape = ig_shape(x),
//         .n_scalars = 1, .scalars = &(IgKernelScalar){.type = IgFloat32, .value = 2}}, &error);
//
// Buffers are numbered: the inputs from 0 on, the output behind them, the scalars behind that.
// Inputs arrive contiguous. The types in the source are compared with those of the tensors.
#ifndef INGOT_TENSOR_KERNEL_H
#define INGOT_TENSOR_KERNEL_H
#include "ingot/tensor.h"

#ifdef __cplusplus
extern "C" {
#endif

#define IG_KERNEL_INPUTS 16
#define IG_KERNEL_SCALARS 12

typedef struct IgUserKernel IgUserKernel;
typedef struct IgKernelScalar {
    IgType type; // what the kernel sees: `constant float &` for IgFloat32
    double value;
} IgKernelScalar;

// What a gradient is asked for. Inputs are those of the call; `output` its result; `grad` the
// gradient of that.
typedef struct IgKernelGradient {
    int n_inputs;
    IgTensor *const *inputs;
    IgTensor *output, *grad;
    int n_scalars;
    const IgKernelScalar *scalars;
} IgKernelGradient;
// Puts the gradient of each input into grads[i], or leaves NULL there if nothing flows. What it
// makes with tensor operations or kernels is released for it. False: failed, with *error.
typedef bool IgKernelBackward(void *context, const IgKernelGradient *what, IgTensor **grads,
                              MTLError **error);

// Compiles the function `name` of the source. IgErrorCompilation has the compiler's text.
MTL_API IgUserKernel *ig_kernel_new(IgDevice *device, const char *source, const char *name,
                                    MTLError **error);
// One expression per element, with broadcasting: names of the inputs and scalars separated by
// commas, e.g. "x,b", "s" and "max(x * s + b, 0.0f)". Inside it they are float (int or long where
// the tensor is of integers); the result is rounded to the type of the call.
MTL_API IgUserKernel *ig_kernel_new_elementwise(IgDevice *device, const char *inputs,
                                                const char *scalars, const char *expression,
                                                MTLError **error);
MTL_API IgUserKernel *ig_kernel_retain(IgUserKernel *kernel);
MTL_API void ig_kernel_release(IgUserKernel *kernel);
// How gradients pass through it; without one the result of a call has no gradient. release, which
// may be NULL, is called with the context when the kernel goes.
MTL_API void ig_kernel_set_backward(IgUserKernel *kernel, IgKernelBackward *backward, void *context,
                                    void (*release)(void *context));

typedef struct IgKernelCall {
    int n_inputs;
    IgTensor *const *inputs;
    IgType type; // of the output, as its shape. An element-wise kernel finds its shape by itself
    int rank;
    const int64_t *shape;
    int n_scalars;
    const IgKernelScalar *scalars;
    MTLSize threads;     // 0: one for each element of the output, in one dimension
    MTLSize threadgroup; // 0: what suits the pipeline
} IgKernelCall;
// A new tensor. The kernel is encoded at once and runs like everything else, in order.
MTL_API IgTensor *ig_kernel_call(IgUserKernel *kernel, const IgKernelCall *call, MTLError **error);

// ---- In place ----

// A kernel for ig_kernel_dispatch: a function of a library of the caller's own, with its constants
// set. threadgroup: the one shape it will run with, for which code is made at once; {0}: any.
MTL_API IgUserKernel *ig_kernel_new_with_function(IgDevice *device, MTLFunction *function,
                                                  MTLSize threadgroup, MTLError **error);

typedef struct IgKernelArgument {
    IgTensor *tensor; // contiguous; NULL: nothing at this index
    size_t offset;    // in bytes, from its first element
} IgKernelArgument;
typedef struct IgKernelDispatch {
    int n_arguments; // at buffers 0, 1, ...
    const IgKernelArgument *arguments;
    MTLSize threadgroups, threadgroup;
    size_t threadgroup_bytes; // of what the kernel has as [[threadgroup(0)]]; 0: nothing
} IgKernelDispatch;
// Runs the kernel on the tensors' own memory, in order with everything else; it may write where its
// source says `device` without const. Tensors do not change under those who look at them: a tensor
// that is written must be the only one that shows its values, without gradients, and nothing that
// is not made yet may need them (ig_eval makes it).
MTL_API bool ig_kernel_dispatch(IgUserKernel *kernel, const IgKernelDispatch *dispatch,
                                MTLError **error);

#ifdef __cplusplus
}
#endif
#endif
