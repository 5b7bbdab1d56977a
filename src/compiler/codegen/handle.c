// SPDX-License-Identifier: Apache-2.0
// handle.c: u64 __ingot_handle_word(u64 handle, u32 word): what a tensor handle of the host stands
// for (an AbiTensor, abi/cpu_tensor.h), read as late as the vectoriser begins. Until then a call
// without side effects: the optimiser keeps one of each, outside of loops, and checks of memory
// accesses (validate.c) see a pointer of unknown origin, which they look up.
#include "compiler/codegen/codegen.h"
#include "abi/cpu_tensor.h"

// Words of a tensor that is not there: zeros.
static LLVMValueRef no_tensor(Cg *cg, LLVMTypeRef i64) {
    LLVMTypeRef words = LLVMArrayType2(i64, sizeof(AbiTensor) / 8);
    LLVMValueRef none = LLVMAddGlobal(cg->cx.module, words, "no_tensor");
    LLVMSetInitializer(none, LLVMConstNull(words));
    LLVMSetGlobalConstant(none, 1);
    LLVMSetLinkage(none, LLVMInternalLinkage);
    return none;
}

// May be moved out of a loop that does not run: a handle that is null reads zeros, one that was a
// tensor's is memory still.
void msl_describe_handles(Cg *cg) {
    LLVMValueRef f = LLVMGetNamedFunction(cg->cx.module, "__ingot_handle_word");
    if (!f) return;
    unsigned convergent = LLVMGetEnumAttributeKindForName("convergent", 10);
    LLVMRemoveEnumAttributeAtIndex(f, LLVMAttributeFunctionIndex, convergent);
    for (LLVMUseRef use = LLVMGetFirstUse(f); use; use = LLVMGetNextUse(use))
        if (LLVMIsACallInst(LLVMGetUser(use)))
            LLVMRemoveCallSiteEnumAttribute(LLVMGetUser(use), LLVMAttributeFunctionIndex,
                                            convergent);
    msl_add_attribute(&cg->cx, f, LLVMAttributeFunctionIndex, "speculatable", 0);
}

void msl_lower_handle_words(Cg *cg) {
    MslContext *cx = &cg->cx;
    LLVMValueRef f = LLVMGetNamedFunction(cx->module, "__ingot_handle_word"), none = NULL;
    LLVMTypeRef i64 = msl_int(cx, 64);
    unsigned invariant = LLVMGetMDKindIDInContext(cx->llvm, "invariant.load", 14);
    LLVMValueRef empty = LLVMMetadataAsValue(cx->llvm, LLVMMDNodeInContext2(cx->llvm, NULL, 0));
    for (LLVMUseRef use; f && (use = LLVMGetFirstUse(f));) {
        LLVMValueRef call = LLVMGetUser(use), handle = LLVMGetOperand(call, 0),
                     word = LLVMGetOperand(call, 1);
        if (!none) none = no_tensor(cg, i64);
        LLVMPositionBuilderBefore(cx->builder, call);
        LLVMValueRef is_none =
            LLVMBuildICmp(cx->builder, LLVMIntEQ, handle, LLVMConstNull(i64), "");
        LLVMValueRef p = LLVMBuildIntToPtr(cx->builder, handle, msl_ptr(cx), "");
        p = LLVMBuildSelect(cx->builder, is_none, none, p, "");
        word = LLVMBuildZExt(cx->builder, word, i64, "");
        p = LLVMBuildInBoundsGEP2(cx->builder, i64, p, &word, 1, "");
        LLVMValueRef value = LLVMBuildLoad2(cx->builder, i64, p, "");
        LLVMSetMetadata(value, invariant, empty);
        LLVMReplaceAllUsesWith(call, value);
        LLVMInstructionEraseFromParent(call);
    }
}
