// SPDX-License-Identifier: Apache-2.0
// wrap.h: from the thread function to what runs a threadgroup: between wrap.c, barrier.c, lanes.c,
// stage_wrap.c and what they call.
#ifndef INGOT_CODEGEN_WRAP_H
#define INGOT_CODEGEN_WRAP_H
#include "compiler/codegen/codegen.h"

// wrap.c, barrier.c, lanes.c: from the thread function to ingot_kernel
void msl_wrap(Cg *cg);
void msl_load_slots(Cg *cg, LLVMValueRef launch, LLVMValueRef *out);
// A function that device code (`file`) declares, as one of this module, with the builder at its
// beginning; args gets the slots of the launch, which is its first parameter.
LLVMValueRef msl_define(Cg *cg, const char *name, const char *file, LLVMValueRef *args);
void msl_copy_slot_attributes(Cg *cg, LLVMValueRef to);
void msl_redirect_logs(Cg *cg); // to ingot_log of the device code
// The versions of a step, whose barriers are places to wait at; they stay in step with each other.
void msl_make_coroutines(Cg *cg, LLVMValueRef *versions, unsigned n);
void msl_split_coroutines(Cg *cg);
bool msl_is_header(LLVMBasicBlockRef b); // of a loop; blocks in source order
uint32_t msl_nontemporal_bytes(Cg *cg);
void msl_store_nontemporal(Cg *cg, LLVMValueRef f);
void msl_prefetch(Cg *cg, LLVMValueRef f); // what loops with barriers will read
void msl_wrap_lanes(Cg *cg);
void msl_finish_info(Cg *cg); // ingot_kernel_info
#endif
