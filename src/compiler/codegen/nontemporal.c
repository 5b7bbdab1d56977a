// SPDX-License-Identifier: Apache-2.0
// nontemporal.c: results too large for the caches are stored past them.
//   purpose   a full vector store of a streaming kernel becomes: if (the grid is large and the
//             address starts a cache line) store non-temporally, else store as before. A plain
//             store first reads the line it replaces; vector add of 16M floats: 1.5x (2 threads,
//             2026-11)
//   requires  the vectorised version inlined into `f` (masks folded), whose last parameter says
//             whether the grid is large; codegen/support/group.c computes it and ends with a fence
// A kernel streams if no thread comes back: no loops, barriers or atomics, and no buffer that is
// stored to is loaded from.
#include "compiler/codegen/wrap.h"

enum { LINE = 64, MAX_STORES = 4, MAX_INSTRUCTIONS = 100 }; // more arithmetic hides the stores

// The parameter a pointer is computed from, or -1.
static int slot_of(LLVMValueRef thread, LLVMValueRef p, unsigned n_slots) {
    while (LLVMIsAGetElementPtrInst(p)) p = LLVMGetOperand(p, 0);
    for (unsigned i = 0; i < n_slots; i++)
        if (LLVMGetParam(thread, i) == p) return (int)i;
    return -1;
}

// Is it at the same place for all threads?
static bool is_fixed(LLVMValueRef p) {
    while (LLVMIsAGetElementPtrInst(p)) {
        for (int i = 1; i < LLVMGetNumOperands(p); i++)
            if (!LLVMIsAConstant(LLVMGetOperand(p, (unsigned)i))) return false;
        p = LLVMGetOperand(p, 0);
    }
    return true;
}

// Bytes that a thread loads and stores, if the thread function streams; else 0.
uint32_t msl_nontemporal_bytes(Cg *cg) {
    uint64_t stored = 0, loaded = 0, bytes = 0;
    unsigned n_stores = 0, n = 0;
    if (cg->uses.barrier || cg->uses.simd || cg->uses.log || cg->fn->n_slots > 64 ||
        !(cg->cx.avx512 || cg->cx.avx2))
        return 0;
    for (LLVMBasicBlockRef b = LLVMGetFirstBasicBlock(cg->thread); b; b = LLVMGetNextBasicBlock(b))
        for (LLVMValueRef i = LLVMGetFirstInstruction(b); i; i = LLVMGetNextInstruction(i)) {
            if (++n > MAX_INSTRUCTIONS) return 0;
            bool store = LLVMIsAStoreInst(i) != NULL, load = LLVMIsALoadInst(i) != NULL;
            if (LLVMIsAPHINode(i) && msl_is_header(b)) return 0;
            unsigned op;
            if (LLVMIsAAtomicRMWInst(i) || LLVMIsAAtomicCmpXchgInst(i) || LLVMIsAAllocaInst(i) ||
                msl_texture_call(i, &op)) // rows of a texture function are stores, and read at once
                return 0;
            if (!store && !load) continue;
            int slot = slot_of(cg->thread, LLVMGetOperand(i, store ? 1 : 0), cg->fn->n_slots);
            if (slot < 0 || LLVMGetVolatile(i) || LLVMGetOrdering(i) != LLVMAtomicOrderingNotAtomic)
                return 0;
            LLVMValueRef value = store ? LLVMGetOperand(i, 0) : i;
            if (store || !is_fixed(LLVMGetOperand(i, 0)))
                bytes += LLVMABISizeOfType(cg->cx.layout, LLVMTypeOf(value));
            if (load) loaded |= 1ull << slot;
            if (!store) continue;
            stored |= 1ull << slot;
            if (++n_stores > MAX_STORES) return 0;
        }
    return !stored || stored & loaded ? 0 : (uint32_t)bytes;
}

static void choose_at_run_time(Cg *cg, LLVMValueRef store, LLVMValueRef large) {
    MslContext *cx = &cg->cx;
    LLVMBuilderRef b = cx->builder;
    LLVMValueRef value = LLVMGetOperand(store, 0), p = LLVMGetOperand(store, 1);
    LLVMBasicBlockRef before = LLVMGetInstructionParent(store),
                      rest = bridge_split_before(LLVMGetNextInstruction(store));
    LLVMValueRef f = LLVMGetBasicBlockParent(before);
    LLVMBasicBlockRef past = LLVMAppendBasicBlockInContext(cx->llvm, f, "past"),
                      plain = LLVMAppendBasicBlockInContext(cx->llvm, f, "plain");
    LLVMInstructionRemoveFromParent(store);
    LLVMPositionBuilderAtEnd(b, before);
    LLVMValueRef low = LLVMBuildAnd(b, LLVMBuildPtrToInt(b, p, msl_int(cx, 64), ""),
                                    msl_const(cx, 64, LINE - 1), "");
    LLVMValueRef aligned = LLVMBuildICmp(b, LLVMIntEQ, low, msl_const(cx, 64, 0), "");
    LLVMValueRef yes =
        LLVMBuildAnd(b, aligned, LLVMBuildICmp(b, LLVMIntNE, large, msl_const(cx, 32, 0), ""), "");
    LLVMBuildCondBr(b, yes, past, plain);
    LLVMPositionBuilderAtEnd(b, past);
    LLVMValueRef fresh = LLVMBuildStore(b, value, p);
    LLVMSetAlignment(fresh, LINE);
    LLVMMetadataRef one = LLVMValueAsMetadata(msl_const(cx, 32, 1));
    LLVMSetMetadata(fresh, LLVMGetMDKindIDInContext(cx->llvm, "nontemporal", 11),
                    LLVMMetadataAsValue(cx->llvm, LLVMMDNodeInContext2(cx->llvm, &one, 1)));
    LLVMBuildBr(b, rest);
    LLVMPositionBuilderAtEnd(b, plain);
    LLVMInsertIntoBuilder(b, store);
    LLVMBuildBr(b, rest);
}

void msl_store_nontemporal(Cg *cg, LLVMValueRef f) {
    LLVMValueRef stores[8 * MAX_STORES], large = LLVMGetParam(f, LLVMCountParams(f) - 1);
    unsigned n = 0;
    for (LLVMBasicBlockRef b = LLVMGetFirstBasicBlock(f); b; b = LLVMGetNextBasicBlock(b))
        for (LLVMValueRef i = LLVMGetFirstInstruction(b); i; i = LLVMGetNextInstruction(i)) {
            if (!LLVMIsAStoreInst(i)) continue;
            LLVMTypeRef type = LLVMTypeOf(LLVMGetOperand(i, 0));
            if (LLVMGetTypeKind(type) != LLVMVectorTypeKind ||
                LLVMABISizeOfType(cg->cx.layout, type) % LINE)
                continue;
            if (n < sizeof stores / sizeof *stores) stores[n++] = i;
        }
    for (unsigned k = 0; k < n; k++) choose_at_run_time(cg, stores[k], large);
}
