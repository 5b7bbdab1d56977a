// SPDX-License-Identifier: Apache-2.0
// bfloat_rounding.c: vectors of floats are rounded to bfloats by whole numbers.
//   purpose   without AVX512-BF16 LLVM calls a function for each lane (__truncsfbf2), and keeps
//             the others in memory meanwhile: training in bfloat took twice the time of float
//   requires  the last optimisation has run; preserves everything else
// The bits are those of codegen/support/support.c: nearest even, NaNs stay NaNs and become quiet.
#include "compiler/codegen/lower/lower.h"

static bool is_vector_of(LLVMTypeRef type, LLVMTypeKind kind) {
    return LLVMGetTypeKind(type) == LLVMVectorTypeKind &&
           LLVMGetTypeKind(LLVMGetElementType(type)) == kind;
}

static LLVMValueRef rounded(Cg *cg, LLVMValueRef f, LLVMTypeRef to) {
    LLVMBuilderRef b = cg->cx.builder;
    unsigned n = LLVMGetVectorSize(to);
    LLVMTypeRef words = LLVMVectorType(msl_int(&cg->cx, 32), n);
    LLVMValueRef sixteen = msl_constant_splat(words, 16), u = LLVMBuildBitCast(b, f, words, ""),
                 high = LLVMBuildLShr(b, u, sixteen, ""),
                 odd = LLVMBuildAnd(b, high, msl_constant_splat(words, 1), ""),
                 more = LLVMBuildAdd(b, odd, msl_constant_splat(words, 0x7fff), ""),
                 near = LLVMBuildLShr(b, LLVMBuildAdd(b, u, more, ""), sixteen, ""),
                 nan = LLVMBuildFCmp(b, LLVMRealUNO, f, f, ""),
                 quiet = LLVMBuildOr(b, high, msl_constant_splat(words, 0x40), ""),
                 all = LLVMBuildSelect(b, nan, quiet, near, "");
    LLVMTypeRef shorts = LLVMVectorType(msl_int(&cg->cx, 16), n);
    return LLVMBuildBitCast(b, LLVMBuildTrunc(b, all, shorts, ""), to, "");
}

// The instruction as floats, rounded; NULL: another one.
static LLVMValueRef in_floats(Cg *cg, LLVMValueRef i) {
    LLVMBuilderRef b = cg->cx.builder;
    LLVMTypeRef to = LLVMTypeOf(i);
    if (!is_vector_of(to, LLVMBFloatTypeKind) || LLVMGetVectorSize(to) > 64) return NULL;
    LLVMOpcode op = LLVMGetInstructionOpcode(i);
    LLVMValueRef x = LLVMGetNumOperands(i) ? LLVMGetOperand(i, 0) : NULL;
    if (op == LLVMFPTrunc) {
        if (!is_vector_of(LLVMTypeOf(x), LLVMFloatTypeKind)) return NULL;
        LLVMPositionBuilderBefore(b, i);
        return rounded(cg, x, to);
    }
    if (op != LLVMFAdd && op != LLVMFSub && op != LLVMFMul && op != LLVMFDiv) return NULL;
    LLVMPositionBuilderBefore(b, i);
    LLVMTypeRef floats = LLVMVectorType(LLVMFloatTypeInContext(cg->cx.llvm), LLVMGetVectorSize(to));
    x = LLVMBuildFPExt(b, x, floats, "");
    LLVMValueRef y = LLVMBuildFPExt(b, LLVMGetOperand(i, 1), floats, "");
    return rounded(cg, LLVMBuildBinOp(b, op, x, y, ""), to);
}

// A vector of bfloats that another block uses would go there as floats, and be rounded by calls:
// it goes as whole numbers.
static void pass_as_words(Cg *cg, LLVMValueRef i) {
    LLVMBuilderRef b = cg->cx.builder;
    LLVMTypeRef type = LLVMTypeOf(i);
    LLVMBasicBlockRef home = LLVMGetInstructionParent(i);
    LLVMValueRef words = NULL;
    if (!is_vector_of(type, LLVMBFloatTypeKind) || LLVMIsAPHINode(i)) return;
    for (LLVMUseRef use = LLVMGetFirstUse(i), next; use; use = next) {
        LLVMValueRef user = LLVMGetUser(use);
        next = LLVMGetNextUse(use);
        if (LLVMGetInstructionParent(user) == home || LLVMIsAPHINode(user)) continue;
        if (!words) {
            LLVMPositionBuilderBefore(b, LLVMGetNextInstruction(i));
            words = LLVMBuildBitCast(
                b, i, LLVMVectorType(msl_int(&cg->cx, 16), LLVMGetVectorSize(type)), "");
        }
        LLVMPositionBuilderBefore(b, user);
        LLVMValueRef back = LLVMBuildBitCast(b, words, type, "");
        for (int k = 0; k < LLVMGetNumOperands(user); k++)
            if (LLVMGetOperand(user, (unsigned)k) == i) LLVMSetOperand(user, (unsigned)k, back);
        next = LLVMGetFirstUse(i); // a user may have it twice
    }
}

void msl_lower_bfloat_rounding(Cg *cg) {
    if (cg->cx.aarch64 || cg->cx.bf16) return;
    for (LLVMValueRef f = LLVMGetFirstFunction(cg->cx.module); f; f = LLVMGetNextFunction(f))
        for (LLVMBasicBlockRef b = LLVMGetFirstBasicBlock(f); b; b = LLVMGetNextBasicBlock(b))
            for (LLVMValueRef i = LLVMGetFirstInstruction(b), next; i; i = next) {
                next = LLVMGetNextInstruction(i);
                LLVMValueRef same = in_floats(cg, i);
                if (!same) continue;
                LLVMReplaceAllUsesWith(i, same);
                LLVMInstructionEraseFromParent(i);
            }
    for (LLVMValueRef f = LLVMGetFirstFunction(cg->cx.module); f; f = LLVMGetNextFunction(f))
        for (LLVMBasicBlockRef b = LLVMGetFirstBasicBlock(f); b; b = LLVMGetNextBasicBlock(b))
            for (LLVMValueRef i = LLVMGetFirstInstruction(b); i; i = LLVMGetNextInstruction(i))
                pass_as_words(cg, i);
}
