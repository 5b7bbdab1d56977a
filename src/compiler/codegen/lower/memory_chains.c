// SPDX-License-Identifier: Apache-2.0
// memory_chains.c: keeps code generation linear on very long blocks.
//   purpose   LLVM 22's X86 combiner looks, for every load, at all loads that hang on the same
//             memory chain: seconds for a block with a few hundred gathers. A fence for the
//             compiler (no instruction) starts a new chain, and bounds the scheduler's memory
//             dependences too.
//   requires  the last optimisation has run; preserves everything else
// Only blocks far beyond usual size are touched: the fences also keep loads from moving.
#include "compiler/codegen/lower/lower.h"

enum { LONG_BLOCK = 400, CHAIN = 32 }; // machine loads and stores

// Machine accesses an instruction becomes, roughly.
static unsigned accesses(const Cg *cg, LLVMValueRef i) {
    const char *name = msl_callee(i);
    if (msl_starts(name, "llvm.masked.gather") || msl_starts(name, "llvm.masked.scatter")) return 8;
    if (msl_starts(name, "llvm.masked.")) return 2;
    if (!LLVMIsALoadInst(i) && !LLVMIsAStoreInst(i)) return 0;
    LLVMTypeRef type = LLVMTypeOf(LLVMIsAStoreInst(i) ? LLVMGetOperand(i, 0) : i);
    return (unsigned)(LLVMABISizeOfType(cg->cx.layout, type) + 63) / 64;
}

void msl_break_memory_chains(Cg *cg) {
    MslContext *cx = &cg->cx;
    for (LLVMValueRef f = LLVMGetFirstFunction(cx->module); f; f = LLVMGetNextFunction(f))
        for (LLVMBasicBlockRef b = LLVMGetFirstBasicBlock(f); b; b = LLVMGetNextBasicBlock(b)) {
            unsigned total = 0, since = 0;
            for (LLVMValueRef i = LLVMGetFirstInstruction(b); i; i = LLVMGetNextInstruction(i))
                total += accesses(cg, i);
            if (total < LONG_BLOCK) continue;
            for (LLVMValueRef i = LLVMGetFirstInstruction(b), next; i; i = next) {
                next = LLVMGetNextInstruction(i);
                since += accesses(cg, i);
                if (since < CHAIN || !next || LLVMIsAPHINode(i)) continue;
                LLVMPositionBuilderBefore(cx->builder, next);
                LLVMBuildFence(cx->builder, LLVMAtomicOrderingSequentiallyConsistent, 1, "");
                since = 0;
            }
        }
}
