// SPDX-License-Identifier: Apache-2.0
// stage_int.h: between stage.c (inputs and outputs of vertex and fragment functions), stage_fetch.c
// (vertex attributes) and stage_wrap.c (the finished function).
#ifndef INGOT_CODEGEN_STAGE_INT_H
#define INGOT_CODEGEN_STAGE_INT_H
#include "abi/cpu_stage.h"
#include "compiler/codegen/codegen.h"

// One component of a value: what the program's type is made of.
typedef struct StageScalar {
    LLVMTypeRef type; // in memory
    unsigned bits;
    bool is_float, is_signed;
} StageScalar;
StageScalar msl_stage_scalar(Cg *cg, uint32_t data_type); // of a scalar or vector

LLVMTypeRef msl_float(const MslContext *cx);
LLVMValueRef msl_stage_step(Cg *cg); // the step: last parameter of the thread function
LLVMValueRef msl_stage_lane(Cg *cg); // i64
// A load that nothing written by the function changes; align in bytes.
LLVMValueRef msl_stage_load(Cg *cg, LLVMTypeRef type, LLVMValueRef base, uint64_t offset);
LLVMValueRef msl_stage_offset(Cg *cg, LLVMValueRef base, uint64_t offset);
LLVMValueRef msl_stage_launch(Cg *cg);
// A row's element of this lane: address.
LLVMValueRef msl_stage_row(Cg *cg, LLVMValueRef rows, unsigned row);

// Whether a fragment input is a value of primitives, the same at all corners.
static inline bool msl_is_of_primitive(const Cg *cg, uint32_t row) {
    return cg->request->vertex && row < 128 && cg->request->vertex->flat[row / 32] >> row % 32 & 1;
}

// stage_fetch.c: components of the attribute, as the program's type has them, in out[v->n]; point:
// which control point, if it is one's.
void msl_fetch_attribute(Cg *cg, const RfValue *v, uint32_t point, LLVMValueRef *out);
#endif
