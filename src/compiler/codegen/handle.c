// SPDX-License-Identifier: Apache-2.0
// handle.c: u64 __ingot_handle_word(u64 handle, u32 word): what a tensor handle of the host stands
// for (an AbiTensor, abi/cpu_tensor.h), read as late as the vectoriser begins. Until then a call
// without side effects: the optimiser keeps one of each, outside of loops, and checks of memory
// accesses (validate.c) see a pointer of unknown origin, which they look up.
#include "compiler/codegen/codegen.h"
#include "abi/cpu_tensor.h"

LLVMValueRef msl_zeros(Cg *cg, LLVMTypeRef word, unsigned n, const char *name) {
    LLVMTypeRef words = LLVMArrayType2(word, n);
    LLVMValueRef zeros = LLVMAddGlobal(cg->cx.module, words, name);
    LLVMSetInitializer(zeros, LLVMConstNull(words));
    LLVMSetGlobalConstant(zeros, 1);
    LLVMSetLinkage(zeros, LLVMInternalLinkage);
    return zeros;
}

LLVMValueRef msl_pointer_or(Cg *cg, LLVMValueRef handle, LLVMValueRef none) {
    LLVMBuilderRef b = cg->cx.builder;
    LLVMValueRef is_none =
        LLVMBuildICmp(b, LLVMIntEQ, handle, LLVMConstNull(LLVMTypeOf(handle)), "");
    LLVMValueRef address = LLVMBuildAnd(b, handle, msl_const(&cg->cx, 64, ABI_HANDLE_ADDRESS), "");
    LLVMValueRef p = LLVMBuildIntToPtr(b, address, msl_ptr(&cg->cx), "");
    return LLVMBuildSelect(b, is_none, none, p, "");
}

void msl_set_invariant(Cg *cg, LLVMValueRef load) {
    LLVMContextRef llvm = cg->cx.llvm;
    LLVMSetMetadata(load, LLVMGetMDKindIDInContext(llvm, "invariant.load", 14),
                    LLVMMetadataAsValue(llvm, LLVMMDNodeInContext2(llvm, NULL, 0)));
}

void msl_replace_by_word(Cg *cg, LLVMValueRef call, LLVMTypeRef type, uint64_t n_words,
                         LLVMValueRef p) {
    LLVMBuilderRef b = cg->cx.builder;
    LLVMValueRef word = LLVMBuildZExt(b, LLVMGetOperand(call, 1), msl_int(&cg->cx, 64), "");
    LLVMValueRef last = msl_const(&cg->cx, 64, n_words - 1),
                 inside = LLVMBuildICmp(b, LLVMIntULE, word, last, "");
    word = LLVMBuildSelect(b, inside, word, last, ""); // a library may say anything
    p = LLVMBuildInBoundsGEP2(b, type, p, &word, 1, "");
    LLVMValueRef value = LLVMBuildLoad2(b, type, p, "");
    msl_set_invariant(cg, value);
    LLVMReplaceAllUsesWith(call, value);
    LLVMInstructionEraseFromParent(call);
}

void msl_allow_motion(LLVMValueRef f) {
    unsigned convergent = LLVMGetEnumAttributeKindForName("convergent", 10);
    LLVMRemoveEnumAttributeAtIndex(f, LLVMAttributeFunctionIndex, convergent);
    for (LLVMUseRef use = LLVMGetFirstUse(f); use; use = LLVMGetNextUse(use))
        if (LLVMIsACallInst(LLVMGetUser(use)))
            LLVMRemoveCallSiteEnumAttribute(LLVMGetUser(use), LLVMAttributeFunctionIndex,
                                            convergent);
}

// May be moved out of a loop that does not run: a handle that is null reads zeros, one that was a
// tensor's is memory still.
void msl_describe_handles(Cg *cg) {
    LLVMValueRef f = LLVMGetNamedFunction(cg->cx.module, "__ingot_handle_word");
    if (!f) return;
    msl_allow_motion(f);
    msl_add_attribute(&cg->cx, f, LLVMAttributeFunctionIndex, "speculatable", 0);
}

void msl_lower_handle_words(Cg *cg) {
    enum { N_WORDS = sizeof(AbiTensor) / 8 };
    MslContext *cx = &cg->cx;
    LLVMValueRef f = LLVMGetNamedFunction(cx->module, "__ingot_handle_word"), none = NULL;
    LLVMTypeRef i64 = msl_int(cx, 64);
    for (LLVMUseRef use; f && (use = LLVMGetFirstUse(f));) {
        LLVMValueRef call = LLVMGetUser(use);
        if (!none) none = msl_zeros(cg, i64, N_WORDS, "no_tensor");
        LLVMPositionBuilderBefore(cx->builder, call);
        msl_replace_by_word(cg, call, i64, N_WORDS,
                            msl_pointer_or(cg, LLVMGetOperand(call, 0), none));
    }
}
