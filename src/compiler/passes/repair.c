// SPDX-License-Identifier: Apache-2.0
// repair.c: masked stores of one lane become scalar stores.
// Purpose: LLVM 22.1 (x86, AVX-512) writes too much for a masked store of truncated values whose
// constant mask has one lane: trunc <8 x i32> to <8 x i16> under <1,0,0,0,0,0,0,0> is stored by
// vmovss, four bytes instead of two. Such masks appear when `if (t == 0)` is folded. Requires: the
// last optimisation ran.
#include "compiler/passes/passes_int.h"

// The only lane of a constant mask; -1 if it is not constant or has another number of them.
static int only_lane(Value mask) {
    int lane = -1;
    if (!LLVMIsConstant(mask)) return -1;
    for (unsigned k = 0; k < LLVMGetVectorSize(LLVMTypeOf(mask)); k++) {
        Value e = LLVMGetAggregateElement(mask, k);
        if (!e || !LLVMIsAConstantInt(e)) return -1;
        if (!LLVMConstIntGetZExtValue(e)) continue;
        if (lane >= 0) return -1;
        lane = (int)k;
    }
    return lane;
}

static void repair(MslContext *cx, Value call) {
    int lane = only_lane(operand(call, 2));
    if (lane < 0) return;
    LLVMBuilderRef b = cx->builder;
    Value v = operand(call, 0),
          at = LLVMConstInt(LLVMInt64TypeInContext(cx->llvm), (unsigned)lane, 0);
    Type element = LLVMGetElementType(LLVMTypeOf(v));
    unsigned kind = LLVMGetEnumAttributeKindForName("align", 5);
    LLVMAttributeRef align = LLVMGetCallSiteEnumAttribute(call, 2, kind);
    unsigned size = (unsigned)LLVMABISizeOfType(cx->layout, element);
    unsigned n = align ? (unsigned)LLVMGetEnumAttributeValue(align) : 1;
    LLVMPositionBuilderBefore(b, call);
    Value p = LLVMBuildGEP2(b, element, operand(call, 1), &at, 1, "");
    Value s = LLVMBuildStore(b, LLVMBuildExtractElement(b, v, at, ""), p);
    LLVMSetAlignment(s, n < size ? n : size);
    LLVMInstructionEraseFromParent(call);
}

void msl_repair_masked_stores(MslContext *cx) {
    for (Value f = LLVMGetFirstFunction(cx->module); f; f = LLVMGetNextFunction(f))
        for (Block b = LLVMGetFirstBasicBlock(f); b; b = LLVMGetNextBasicBlock(b))
            for (Value i = LLVMGetFirstInstruction(b), next; i; i = next) {
                next = LLVMGetNextInstruction(i);
                if (starts_with(callee_of(i), "llvm.masked.store.")) repair(cx, i);
            }
}
