// SPDX-License-Identifier: Apache-2.0
// stage_in.h: kernels with [[stage_in]]. Their attributes lie in buffers that the pipeline's
// descriptor names; compiler and runtime take these for further arguments of the kernel, behind its
// own, so that binding, checking and running them is as with any other:
//   a buffer for each layout that is read, RF_ARG_BUFFER, then that of the indices, if there is one
//   a stride for each layout whose stride comes with the buffer, RF_ARG_STRIDE
#ifndef INGOT_ABI_STAGE_IN_H
#define INGOT_ABI_STAGE_IN_H
#include "abi/requests.h"

// f with those arguments. One allocation, for free(); what is not new belongs to f. d holds only
// attributes that the kernel reads. NULL: no memory.
RfFunction *abi_stage_in_function(const RfFunction *f, const MslVertexDescriptor *d);
// The slot of such an argument; UINT32_MAX: there is none.
uint32_t abi_stage_in_slot(const RfFunction *f, RfArgKind kind, uint32_t buffer);
// Of the arguments that abi_stage_in_function adds: they are no parameters.
#define ABI_STAGE_IN_PARAM UINT32_MAX
#endif
