// SPDX-License-Identifier: Apache-2.0
// drop_alignment.c: accesses to memory of the program count on no alignment beyond 8 bytes.
//   purpose   a float4 lies at a multiple of 16 in MSL, but a Mac's GPU also reads one at an offset
//             that is none, and programs bind buffers there. x86 has instructions for both that are
//             equally fast on aligned memory; the aligned ones would fault.
//   requires  the last optimisation has run: what it learnt from alignments it has used
//   preserves accesses to variables of the code itself, and stores past the caches, which check
//             their address
#include "compiler/codegen/lower/lower.h"

enum { KNOWN = 8 };

static bool is_own(LLVMValueRef p) {
    while (LLVMIsAGetElementPtrInst(p)) p = LLVMGetOperand(p, 0);
    return LLVMIsAAllocaInst(p) || LLVMIsAGlobalVariable(p);
}

// Calls say it as an attribute of the pointer.
static void drop_of_call(const Cg *cg, LLVMValueRef call) {
    const unsigned align = LLVMGetEnumAttributeKindForName("align", 5);
    for (unsigned k = 0; k < LLVMGetNumArgOperands(call); k++) {
        LLVMAttributeRef a = LLVMGetCallSiteEnumAttribute(call, k + 1, align);
        if (!a || LLVMGetEnumAttributeValue(a) <= KNOWN || is_own(LLVMGetOperand(call, k)))
            continue;
        LLVMRemoveCallSiteEnumAttribute(call, k + 1, align);
        LLVMAddCallSiteAttribute(call, k + 1, LLVMCreateEnumAttribute(cg->cx.llvm, align, KNOWN));
    }
}

void msl_drop_alignment(Cg *cg) {
    MslContext *cx = &cg->cx;
    const unsigned past = LLVMGetMDKindIDInContext(cx->llvm, "nontemporal", 11);
    for (LLVMValueRef f = LLVMGetFirstFunction(cx->module); f; f = LLVMGetNextFunction(f))
        for (LLVMBasicBlockRef b = LLVMGetFirstBasicBlock(f); b; b = LLVMGetNextBasicBlock(b))
            for (LLVMValueRef i = LLVMGetFirstInstruction(b); i; i = LLVMGetNextInstruction(i)) {
                const char *name = msl_callee(i);
                bool store = LLVMIsAStoreInst(i) != NULL;
                if (msl_starts(name, "llvm.masked.") || msl_starts(name, "llvm.mem"))
                    drop_of_call(cg, i);
                else if ((store || LLVMIsALoadInst(i)) && LLVMGetAlignment(i) > KNOWN &&
                         !LLVMGetMetadata(i, past) && !is_own(LLVMGetOperand(i, store)))
                    LLVMSetAlignment(i, KNOWN);
            }
}
