// SPDX-License-Identifier: Apache-2.0
// join.c: conversions of the elements of one small-float vector, joined to one of the vector.
// Purpose: eight half weights that all threads share are converted by one instruction; the
//   scalarizer had made eight of it, which cost as much as the products they are for.
// Requires: after the scalarizer. Preserves: everything. Of a varying vector nothing changes: each
//   of its elements is a machine vector of its own.
#include "compiler/passes/passes_int.h"

enum { LEAST = 4, MOST = 16 }; // elements of a vector worth it

static bool is_small_float(Type t) {
    LLVMTypeKind k = LLVMGetTypeKind(t);
    return k == LLVMHalfTypeKind || k == LLVMBFloatTypeKind;
}

// The conversion to float of the element that `extract` takes out, if it is nothing else's.
static Value conversion_of(Vec *x, Value extract) {
    LLVMUseRef use = LLVMGetFirstUse(extract);
    int64_t index;
    if (!LLVMIsAExtractElementInst(extract) || !use || LLVMGetNextUse(use) ||
        !get_const(operand(extract, 1), &index))
        return NULL;
    Value user = LLVMGetUser(use);
    return LLVMIsAFPExtInst(user) && LLVMTypeOf(user) == x->f32 ? user : NULL;
}

static void join(Vec *x, Value v) {
    Type t = LLVMTypeOf(v);
    Value parts[MOST], extracts[MOST];
    int n = 0;
    if (!is_vector(t) || !is_small_float(LLVMGetElementType(t)) || LLVMIsAPHINode(v)) return;
    unsigned size = LLVMGetVectorSize(t);
    for (LLVMUseRef use = LLVMGetFirstUse(v); use && n < MOST; use = LLVMGetNextUse(use)) {
        Value extract = LLVMGetUser(use), part = conversion_of(x, extract);
        if (part) extracts[n] = extract, parts[n++] = part;
    }
    if (n < LEAST || (unsigned)n < size / 2 || size > MOST) return;
    LLVMPositionBuilderBefore(x->b, LLVMGetNextInstruction(v));
    Value wide = LLVMBuildFPExt(x->b, v, LLVMVectorType(x->f32, size), "");
    msl_copy_flags(parts[0], wide);
    for (int k = 0; k < n; k++) {
        LLVMPositionBuilderBefore(x->b, parts[k]);
        Value one = LLVMBuildExtractElement(x->b, wide, operand(extracts[k], 1), "");
        LLVMReplaceAllUsesWith(parts[k], one);
        LLVMInstructionEraseFromParent(parts[k]);
        LLVMInstructionEraseFromParent(extracts[k]);
    }
}

void msl_join_conversions(Vec *x) {
    for (Block b = LLVMGetFirstBasicBlock(x->thread); b; b = LLVMGetNextBasicBlock(b))
        for (Value i = LLVMGetFirstInstruction(b); i; i = LLVMGetNextInstruction(i))
            if (LLVMIsALoadInst(i)) join(x, i);
}
