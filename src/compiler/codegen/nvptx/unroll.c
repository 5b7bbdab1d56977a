// SPDX-License-Identifier: Apache-2.0
// unroll.c: loops that walk over a thread's own array are to be unrolled.
//   purpose   what a GPU's thread indexes by a number that is no constant lies in memory, far away;
//             the elements of cooperative tensors, and arrays of sums, are to be registers
//   idea      an index hangs on the number that a loop counts: a phi, one of whose values is made
//   of
//             it. That value comes from the end of the loop, which gets the mark; LLVM unrolls
//             those whose length is a constant
#include "compiler/codegen/codegen.h"
#include <llvm-c/DebugInfo.h>

enum { MAX_ARRAY = 2048, DEPTH = 8 }; // bytes; operations between a loop's number and an index

static void mark(Cg *cg, LLVMValueRef branch) {
    LLVMContextRef llvm = cg->cx.llvm;
    static const char full[] = "llvm.loop.unroll.full";
    LLVMMetadataRef text = LLVMMDStringInContext2(llvm, full, sizeof full - 1);
    LLVMMetadataRef self = LLVMTemporaryMDNode(llvm, NULL, 0);
    LLVMMetadataRef parts[] = {self, LLVMMDNodeInContext2(llvm, &text, 1)};
    LLVMMetadataRef node = LLVMMDNodeInContext2(llvm, parts, 2);
    LLVMMetadataReplaceAllUsesWith(self, node);
    LLVMSetMetadata(branch, LLVMGetMDKindIDInContext(llvm, "llvm.loop", 9),
                    LLVMMetadataAsValue(llvm, node));
}

static bool is_step(LLVMValueRef v, LLVMValueRef phi) {
    if (v == phi) return true;
    return (LLVMIsABinaryOperator(v) || LLVMIsACastInst(v)) && is_step(LLVMGetOperand(v, 0), phi);
}

static void mark_loops_of(Cg *cg, LLVMValueRef index, int depth) {
    if (!LLVMIsAInstruction(index) || depth == 0) return;
    if (LLVMIsAPHINode(index)) {
        for (unsigned k = 0; k < LLVMCountIncoming(index); k++)
            if (LLVMGetIncomingValue(index, k) != index &&
                is_step(LLVMGetIncomingValue(index, k), index))
                mark(cg, LLVMGetBasicBlockTerminator(LLVMGetIncomingBlock(index, k)));
    } else if (LLVMIsABinaryOperator(index) || LLVMIsACastInst(index)) {
        for (int k = 0; k < LLVMGetNumOperands(index); k++)
            mark_loops_of(cg, LLVMGetOperand(index, (unsigned)k), depth - 1);
    }
}

void msl_unroll_arrays(Cg *cg, LLVMValueRef f) {
    for (LLVMBasicBlockRef b = LLVMGetFirstBasicBlock(f); b; b = LLVMGetNextBasicBlock(b))
        for (LLVMValueRef i = LLVMGetFirstInstruction(b); i; i = LLVMGetNextInstruction(i)) {
            if (!LLVMIsAGetElementPtrInst(i)) continue;
            LLVMValueRef base = LLVMGetOperand(i, 0);
            while (LLVMIsAGetElementPtrInst(base) || LLVMIsAAddrSpaceCastInst(base))
                base = LLVMGetOperand(base, 0);
            if (!LLVMIsAAllocaInst(base) ||
                LLVMABISizeOfType(cg->cx.layout, LLVMGetAllocatedType(base)) > MAX_ARRAY)
                continue;
            for (int k = 1; k < LLVMGetNumOperands(i); k++)
                mark_loops_of(cg, LLVMGetOperand(i, (unsigned)k), DEPTH);
        }
}
