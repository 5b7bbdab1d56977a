// SPDX-License-Identifier: Apache-2.0
// verify_int.h: between the files that check the bitcode of libraries.
#ifndef INGOT_CODEGEN_VERIFY_INT_H
#define INGOT_CODEGEN_VERIFY_INT_H
#include "compiler/codegen/codegen.h"
#include "compiler/passes/map.h"

enum {
    MSL_MAX_KINDS = 512,      // of attributes and notes that LLVM knows
    MSL_MAX_ALIGNMENT = 4096, // a page: nothing in Metal is aligned to more
};

typedef struct Verify {
    Cg *cg;
    Arena arena;
    Map seen; // types and constants that are fine
    bool notes[MSL_MAX_KINDS], attributes[MSL_MAX_KINDS];
    unsigned align_kind;
} Verify;

// Ends the compilation. `name`: of what, or NULL.
_Noreturn void msl_refuse(Verify *v, const char *what, const char *name);

// The attributes of a function or a call, which LLVM-C asks for in two ways.
typedef unsigned MslAttributeCount(LLVMValueRef at, LLVMAttributeIndex index);
typedef void MslAttributes(LLVMValueRef at, LLVMAttributeIndex index, LLVMAttributeRef *out);
void msl_verify_attributes(Verify *v, LLVMValueRef at, unsigned n_params, MslAttributeCount *count,
                           MslAttributes *get);

// verify_code.c
void msl_verify_type(Verify *v, LLVMTypeRef type);
void msl_verify_constant(Verify *v, LLVMValueRef constant, int depth);
void msl_verify_instruction(Verify *v, LLVMValueRef i);
#endif
