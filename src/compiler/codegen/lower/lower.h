// SPDX-License-Identifier: Apache-2.0
// lower.h: between the late passes, which write what LLVM's code generator would do badly in words
// that it does well. All run when the last optimisation has, and none keeps another from running:
// lower.c has the table and the reasons of its order.
#ifndef INGOT_LOWER_H
#define INGOT_LOWER_H
#include "compiler/codegen/codegen.h"

void msl_lower_byte_conversions(Cg *cg);
void msl_lower_bfloat_rounding(Cg *cg);
void msl_promote_masks(Cg *cg);
void msl_lower_gather_scatter(Cg *cg);
void msl_expand_masks(Cg *cg);
void msl_lower_mask_phis(Cg *cg);
void msl_widen_indices(Cg *cg);
void msl_split_wide(Cg *cg);
void msl_schedule(Cg *cg);
void msl_split_sums(Cg *cg);
void msl_break_memory_chains(Cg *cg);
void msl_drop_alignment(Cg *cg);

// What several of them ask for.
bool msl_is_short(const Cg *cg, LLVMValueRef f); // short rather than fast: edges, baseline code
bool msl_is_mask(LLVMTypeRef t);                 // a vector of bits
// A constant vector of one whole number.
LLVMValueRef msl_constant_splat(LLVMTypeRef vector, unsigned value);
// Some elements of a vector (split_wide.c).
LLVMValueRef msl_elements(Cg *cg, LLVMValueRef v, unsigned from, unsigned n);
#endif
