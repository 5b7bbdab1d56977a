// SPDX-License-Identifier: Apache-2.0
// matrix.c: loads and stores of SIMD-group matrices as accesses of each thread.
//   purpose   the vectoriser takes such a call whole (passes/fragment.c). Reference code, which
//             runs one thread at a time, and checked code, which looks at every access, want what
//             a thread itself does: two elements of the row it holds.
//   requires  before the survey and before checks are added
#include "compiler/codegen/codegen.h"
#include "abi/reflect.h"

bool msl_is_matrix_call(const char *name) {
    return msl_starts(name, "__ingot_simdgroup_mma") ||
           msl_starts(name, "__ingot_simdgroup_load") ||
           msl_starts(name, "__ingot_simdgroup_store");
}

static LLVMValueRef number(const Cg *cg, uint64_t v) {
    return LLVMConstInt(LLVMInt64TypeInContext(cg->cx.llvm), v, 0);
}

// ((t >> down) & mask) << up
static LLVMValueRef bits(const Cg *cg, LLVMValueRef t, uint64_t down, uint64_t mask, uint64_t up) {
    LLVMBuilderRef b = cg->cx.builder;
    LLVMValueRef v = LLVMBuildLShr(b, t, number(cg, down), "");
    return LLVMBuildShl(b, LLVMBuildAnd(b, v, number(cg, mask), ""), number(cg, up), "");
}

static void expand(Cg *cg, LLVMValueRef call, bool store) {
    LLVMBuilderRef b = cg->cx.builder;
    LLVMPositionBuilderBefore(b, call);
    LLVMValueRef pair = store ? LLVMGetOperand(call, 0) : LLVMGetPoison(LLVMTypeOf(call));
    LLVMValueRef p = LLVMGetOperand(call, store), stride = LLVMGetOperand(call, store + 1u);
    LLVMValueRef turned = LLVMGetOperand(call, store + 2u),
                 t = msl_call_position(cg, RF_THREAD_INDEX_IN_SIMDGROUP, 0);
    t = LLVMBuildZExt(b, t, LLVMInt64TypeInContext(cg->cx.llvm), "");
    LLVMTypeRef element = LLVMGetElementType(LLVMTypeOf(pair));
    LLVMValueRef row = LLVMBuildOr(b, bits(cg, t, 4, 1, 2), bits(cg, t, 1, 3, 0), "");
    LLVMValueRef column = LLVMBuildOr(b, bits(cg, t, 3, 1, 2), bits(cg, t, 0, 1, 1), "");
    LLVMValueRef line = LLVMBuildSelect(b, turned, column, row, "");
    LLVMValueRef at = LLVMBuildAdd(b, LLVMBuildMul(b, line, stride, ""),
                                   LLVMBuildSelect(b, turned, row, column, ""), "");
    LLVMValueRef next = LLVMBuildSelect(b, turned, stride, number(cg, 1), "");
    for (unsigned e = 0; e < 2; e++) {
        LLVMValueRef where = LLVMBuildGEP2(b, element, p, &at, 1, ""), k = number(cg, e);
        if (store)
            LLVMBuildStore(b, LLVMBuildExtractElement(b, pair, k, ""), where);
        else
            pair = LLVMBuildInsertElement(b, pair, LLVMBuildLoad2(b, element, where, ""), k, "");
        at = LLVMBuildAdd(b, at, next, "");
    }
    if (!store) LLVMReplaceAllUsesWith(call, pair);
    LLVMInstructionEraseFromParent(call);
}

void msl_expand_matrices(Cg *cg) {
    for (LLVMValueRef f = LLVMGetFirstFunction(cg->cx.module); f; f = LLVMGetNextFunction(f))
        for (LLVMBasicBlockRef bb = LLVMGetFirstBasicBlock(f); bb; bb = LLVMGetNextBasicBlock(bb))
            for (LLVMValueRef i = LLVMGetFirstInstruction(bb), next; i; i = next) {
                next = LLVMGetNextInstruction(i);
                const char *name = msl_callee(i);
                bool store = msl_starts(name, "__ingot_simdgroup_store");
                if (store || msl_starts(name, "__ingot_simdgroup_load")) expand(cg, i, store);
            }
}
