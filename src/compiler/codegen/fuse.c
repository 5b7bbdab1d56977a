// SPDX-License-Identifier: Apache-2.0
// fuse.c: a * b + c of halves and bfloats rounds once where the program allows contraction.
//   purpose   fast mathematics fuses products into sums. For floats the machine's code generator
//             does it; of 16-bit numbers it knows only conversions around each operation, which
//             round the product as well. A Mac's GPU has the fused instruction for them too, and
//             programs compare such sums with ones computed in float.
//   requires  the thread function is optimised: what folds has been folded
//   preserves operations without the flag "contract"; other uses of the product, which still see
//             it rounded. In float the product of two 16-bit numbers is exact, so multiply and add
//             give what a fused instruction gives, also on machines that have none.
#include "compiler/codegen/codegen.h"

bool msl_is_short_float(LLVMTypeRef t) {
    if (LLVMGetTypeKind(t) == LLVMVectorTypeKind) t = LLVMGetElementType(t);
    LLVMTypeKind k = LLVMGetTypeKind(t);
    return k == LLVMHalfTypeKind || k == LLVMBFloatTypeKind;
}

static bool may_contract(LLVMValueRef i) {
    return LLVMGetFastMathFlags(i) & LLVMFastMathAllowContract;
}

static bool is_product(LLVMValueRef v) {
    return LLVMIsAInstruction(v) && LLVMGetInstructionOpcode(v) == LLVMFMul && may_contract(v);
}

static LLVMTypeRef wide_type(const Cg *cg, LLVMTypeRef t) {
    LLVMTypeRef f = LLVMFloatTypeInContext(cg->cx.llvm);
    return LLVMGetTypeKind(t) == LLVMVectorTypeKind ? LLVMVectorType(f, LLVMGetVectorSize(t)) : f;
}

static void fuse_sum(const Cg *cg, LLVMBuilderRef b, LLVMValueRef sum) {
    LLVMValueRef terms[2] = {LLVMGetOperand(sum, 0), LLVMGetOperand(sum, 1)};
    LLVMTypeRef t = LLVMTypeOf(sum), wide = wide_type(cg, t);
    bool left = is_product(terms[0]);
    if (!left && !is_product(terms[1])) return;
    LLVMPositionBuilderBefore(b, sum);
    LLVMValueRef product = terms[left ? 0 : 1];
    LLVMValueRef x = LLVMBuildFPExt(b, LLVMGetOperand(product, 0), wide, "");
    LLVMValueRef y = LLVMBuildFPExt(b, LLVMGetOperand(product, 1), wide, "");
    LLVMValueRef xy = LLVMBuildFMul(b, x, y, "");
    LLVMValueRef other = LLVMBuildFPExt(b, terms[left ? 1 : 0], wide, "");
    LLVMValueRef r =
        LLVMBuildBinOp(b, LLVMGetInstructionOpcode(sum), left ? xy : other, left ? other : xy, "");
    if (LLVMIsAInstruction(xy)) LLVMSetFastMathFlags(xy, LLVMFastMathAllowContract);
    if (LLVMIsAInstruction(r)) LLVMSetFastMathFlags(r, LLVMFastMathAllowContract);
    LLVMReplaceAllUsesWith(sum, LLVMBuildFPTrunc(b, r, t, ""));
    LLVMInstructionEraseFromParent(sum);
    if (!LLVMGetFirstUse(product)) LLVMInstructionEraseFromParent(product);
}

void msl_fuse_short_floats(Cg *cg) {
    LLVMBuilderRef b = LLVMCreateBuilderInContext(cg->cx.llvm);
    for (LLVMValueRef f = LLVMGetFirstFunction(cg->cx.module); f; f = LLVMGetNextFunction(f))
        for (LLVMBasicBlockRef bb = LLVMGetFirstBasicBlock(f); bb; bb = LLVMGetNextBasicBlock(bb))
            for (LLVMValueRef i = LLVMGetFirstInstruction(bb), next; i; i = next) {
                next = LLVMGetNextInstruction(i);
                LLVMOpcode op = LLVMGetInstructionOpcode(i);
                if ((op == LLVMFAdd || op == LLVMFSub) && msl_is_short_float(LLVMTypeOf(i)) &&
                    may_contract(i))
                    fuse_sum(cg, b, i);
            }
    LLVMDisposeBuilder(b);
}
