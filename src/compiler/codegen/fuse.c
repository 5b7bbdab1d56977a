// SPDX-License-Identifier: Apache-2.0
// fuse.c: a * b + c of halves and bfloats rounds once where the program allows contraction.
//   purpose   products are fused into sums: anywhere with fast mathematics, within an expression
//             ("llvm.fmuladd") with safe. For floats contract.c does it; of 16-bit numbers the
//             machine's code generator knows only conversions around each operation, which round
//             the product as well. A Mac's GPU has the fused instruction for them too, and programs
//             compare such sums with ones computed in float.
//   requires  all is inlined, variables are values; no loop has been changed yet (see contract.c)
//   preserves other operations, which no flag or pragma allows to contract; other uses of the
//             product, which still see it rounded; all of machines with a fused instruction for
//             the type (GPUs, AVX512-FP16, AArch64 with FEAT_FP16), where contract.c does it.
// In float the product of two 16-bit numbers is exact: multiply and add give what a fused
// instruction gives, but for sums whose float lies in the middle between two of them.
#include "compiler/codegen/codegen.h"

static LLVMTypeKind scalar_kind(LLVMTypeRef t) {
    if (LLVMGetTypeKind(t) == LLVMVectorTypeKind) t = LLVMGetElementType(t);
    return LLVMGetTypeKind(t);
}

bool msl_machine_fuses(const Cg *cg, LLVMTypeRef t) {
    LLVMTypeKind k = scalar_kind(t);
    return k == LLVMFloatTypeKind || (k == LLVMHalfTypeKind && (cg->cx.fp16 || cg->cx.nvptx)) ||
           (k == LLVMBFloatTypeKind && cg->cx.nvptx);
}

static bool is_fused_here(const Cg *cg, LLVMTypeRef t) {
    LLVMTypeKind k = scalar_kind(t);
    return (k == LLVMHalfTypeKind || k == LLVMBFloatTypeKind) && !msl_machine_fuses(cg, t);
}

static bool may_contract(LLVMValueRef i) {
    return LLVMGetFastMathFlags(i) & LLVMFastMathAllowContract;
}

static bool is_product(LLVMValueRef v) { return msl_as(v, LLVMFMul) && may_contract(v); }

static LLVMTypeRef wide_type(const Cg *cg, LLVMTypeRef t) {
    LLVMTypeRef f = LLVMFloatTypeInContext(cg->cx.llvm);
    return LLVMGetTypeKind(t) == LLVMVectorTypeKind ? LLVMVectorType(f, LLVMGetVectorSize(t)) : f;
}

static LLVMValueRef contractable(LLVMValueRef v) {
    if (LLVMIsAInstruction(v)) LLVMSetFastMathFlags(v, LLVMFastMathAllowContract);
    return v;
}

// x * y on the left of `op` and `term` on the right, or the other way round, in place of `i`.
static void replace(const Cg *cg, LLVMBuilderRef b, LLVMValueRef i, LLVMOpcode op,
                    const LLVMValueRef factor[2], LLVMValueRef term, bool product_first) {
    LLVMTypeRef t = LLVMTypeOf(i), wide = wide_type(cg, t);
    LLVMPositionBuilderBefore(b, i);
    LLVMValueRef x = LLVMBuildFPExt(b, factor[0], wide, "");
    LLVMValueRef y = LLVMBuildFPExt(b, factor[1], wide, "");
    LLVMValueRef z = LLVMBuildFPExt(b, term, wide, "");
    LLVMValueRef xy = contractable(LLVMBuildFMul(b, x, y, ""));
    LLVMValueRef r = LLVMBuildBinOp(b, op, product_first ? xy : z, product_first ? z : xy, "");
    LLVMReplaceAllUsesWith(i, LLVMBuildFPTrunc(b, contractable(r), t, ""));
    LLVMInstructionEraseFromParent(i);
}

static void fuse_sum(const Cg *cg, LLVMBuilderRef b, LLVMValueRef sum) {
    LLVMValueRef terms[2] = {LLVMGetOperand(sum, 0), LLVMGetOperand(sum, 1)};
    bool left = is_product(terms[0]);
    if (!left && !is_product(terms[1])) return;
    LLVMValueRef product = terms[left ? 0 : 1];
    LLVMValueRef factor[2] = {LLVMGetOperand(product, 0), LLVMGetOperand(product, 1)};
    replace(cg, b, sum, LLVMGetInstructionOpcode(sum), factor, terms[left ? 1 : 0], left);
    if (!LLVMGetFirstUse(product)) LLVMInstructionEraseFromParent(product);
}

static void fuse(const Cg *cg, LLVMBuilderRef b, LLVMValueRef i) {
    LLVMOpcode op = LLVMGetInstructionOpcode(i);
    if (!is_fused_here(cg, LLVMTypeOf(i))) return;
    if ((op == LLVMFAdd || op == LLVMFSub) && may_contract(i)) {
        fuse_sum(cg, b, i);
    } else if (msl_starts(msl_callee(i), "llvm.fmuladd.")) {
        LLVMValueRef factor[2] = {LLVMGetOperand(i, 0), LLVMGetOperand(i, 1)};
        replace(cg, b, i, LLVMFAdd, factor, LLVMGetOperand(i, 2), true);
    }
}

void msl_fuse_short_floats(Cg *cg) {
    LLVMBuilderRef b = LLVMCreateBuilderInContext(cg->cx.llvm);
    for (LLVMValueRef f = LLVMGetFirstFunction(cg->cx.module); f; f = LLVMGetNextFunction(f))
        for (LLVMBasicBlockRef bb = LLVMGetFirstBasicBlock(f); bb; bb = LLVMGetNextBasicBlock(bb))
            for (LLVMValueRef i = LLVMGetFirstInstruction(bb), next; i; i = next) {
                next = LLVMGetNextInstruction(i);
                fuse(cg, b, i);
            }
    LLVMDisposeBuilder(b);
}
