// SPDX-License-Identifier: Apache-2.0
// contract.c: which products fuse into sums, and which divisions share a reciprocal.
//   purpose   fast mathematics allows both, and the machine's code generator would do them where
//             they happen to stand in one block and have one use. Then results hang on what was
//             unrolled, hoisted and inlined before: code of two degrees of optimisation, or for two
//             threadgroup shapes, would differ in the last bit. Here they hang on the source alone.
//   requires  all is inlined, variables are values; no loop has been changed yet; 16-bit floats
//             that the machine cannot fuse are done (fuse.c)
//   breaks    the flags: "contract" and "arcp" are gone, the code generator decides nothing
// Every allowed sum of an allowed product is "llvm.fmuladd", whatever other uses the product has:
// an instruction in place of an instruction. A machine without fused ones rounds twice, everywhere.
#include "compiler/codegen/codegen.h"

static LLVMTypeRef scalar_of(LLVMTypeRef t) {
    return LLVMGetTypeKind(t) == LLVMVectorTypeKind ? LLVMGetElementType(t) : t;
}

static bool is_float(LLVMValueRef v) {
    return LLVMGetTypeKind(scalar_of(LLVMTypeOf(v))) == LLVMFloatTypeKind;
}

static bool allows(LLVMValueRef v, LLVMFastMathFlags flag) {
    return LLVMCanValueUseFastMathFlags(v) && LLVMGetFastMathFlags(v) & flag;
}

// The product that v is, or that it is the negative of; NULL: neither.
static LLVMValueRef product_in(LLVMValueRef v, bool *negative) {
    *negative = msl_as(v, LLVMFNeg);
    if (*negative) v = LLVMGetOperand(v, 0);
    return msl_as(v, LLVMFMul) && allows(v, LLVMFastMathAllowContract) ? v : NULL;
}

static LLVMValueRef call_fmuladd(const Cg *cg, LLVMBuilderRef b, LLVMValueRef args[3]) {
    static const char name[] = "llvm.fmuladd";
    LLVMTypeRef t = LLVMTypeOf(args[0]);
    unsigned id = LLVMLookupIntrinsicID(name, sizeof name - 1);
    LLVMValueRef f = LLVMGetIntrinsicDeclaration(cg->cx.module, id, &t, 1);
    return LLVMBuildCall2(b, LLVMIntrinsicGetType(cg->cx.llvm, id, &t, 1), f, args, 3, "");
}

// x * y + z in place of a sum or difference with a product on either side.
static void fuse(const Cg *cg, LLVMBuilderRef b, LLVMValueRef sum) {
    bool minus = LLVMGetInstructionOpcode(sum) == LLVMFSub, negative;
    for (unsigned side = 0; side < 2; side++) {
        LLVMValueRef product = product_in(LLVMGetOperand(sum, side), &negative);
        if (!product) continue;
        LLVMValueRef args[3] = {LLVMGetOperand(product, 0), LLVMGetOperand(product, 1),
                                LLVMGetOperand(sum, 1 - side)};
        LLVMPositionBuilderBefore(b, sum);
        if (negative != (minus && side == 1)) args[0] = LLVMBuildFNeg(b, args[0], "");
        if (minus && side == 0) args[2] = LLVMBuildFNeg(b, args[2], "");
        LLVMValueRef fused = call_fmuladd(cg, b, args);
        LLVMSetFastMathFlags(fused, LLVMGetFastMathFlags(sum) &
                                        ~(LLVMFastMathFlags)LLVMFastMathAllowContract);
        LLVMReplaceAllUsesWith(sum, fused);
        LLVMInstructionEraseFromParent(sum);
        return;
    }
}

// The number by which every element is divided; NULL: several.
static LLVMValueRef divisor_of(LLVMValueRef division) {
    LLVMValueRef d = LLVMGetOperand(division, 1);
    if (LLVMGetTypeKind(LLVMTypeOf(d)) != LLVMVectorTypeKind) return d;
    if (!msl_as(d, LLVMShuffleVector)) return NULL;
    for (unsigned i = 0; i < LLVMGetNumMaskElements(d); i++)
        if (LLVMGetMaskValue(d, i) != 0) return NULL;
    LLVMValueRef first = LLVMGetOperand(d, 0);
    if (!msl_as(first, LLVMInsertElement)) return NULL;
    LLVMValueRef at = LLVMGetOperand(first, 2);
    return LLVMIsAConstantInt(at) && LLVMConstIntGetZExtValue(at) == 0 ? LLVMGetOperand(first, 1)
                                                                       : NULL;
}

static bool may_share(LLVMValueRef i) {
    return msl_as(i, LLVMFDiv) && is_float(i) && allows(i, LLVMFastMathAllowReciprocal) &&
           LLVMGetFirstUse(i) && !LLVMIsConstant(LLVMGetOperand(i, 1)) &&
           !LLVMIsConstant(LLVMGetOperand(i, 0));
}

// Of a division and those behind it in the block by the same number: 1 / d, and products.
static void share_divisor(const Cg *cg, LLVMBuilderRef b, LLVMValueRef division) {
    LLVMValueRef d = divisor_of(division);
    unsigned n = 0;
    if (!d) return;
    for (LLVMValueRef i = division; i; i = LLVMGetNextInstruction(i))
        if (may_share(i) && divisor_of(i) == d)
            n += LLVMGetTypeKind(LLVMTypeOf(i)) == LLVMVectorTypeKind ? 2 : 1;
    if (n < 2) return;
    LLVMPositionBuilderBefore(b, division);
    LLVMValueRef one = LLVMConstReal(LLVMTypeOf(d), 1), inverse = LLVMBuildFDiv(b, one, d, "");
    for (LLVMValueRef i = division; i; i = LLVMGetNextInstruction(i)) {
        if (!may_share(i) || divisor_of(i) != d) continue;
        LLVMTypeRef t = LLVMTypeOf(i);
        LLVMValueRef factor = inverse;
        LLVMPositionBuilderBefore(b, i);
        if (LLVMGetTypeKind(t) == LLVMVectorTypeKind) {
            LLVMTypeRef mask = LLVMVectorType(msl_int(&cg->cx, 32), LLVMGetVectorSize(t));
            factor =
                LLVMBuildInsertElement(b, LLVMGetPoison(t), inverse, msl_const(&cg->cx, 32, 0), "");
            factor = LLVMBuildShuffleVector(b, factor, LLVMGetPoison(t), LLVMConstNull(mask), "");
        }
        LLVMValueRef product = LLVMBuildFMul(b, LLVMGetOperand(i, 0), factor, "");
        LLVMSetFastMathFlags(product, LLVMGetFastMathFlags(i));
        LLVMReplaceAllUsesWith(i, product); // what is left has no use: later passes drop it
    }
}

// LLVM-C only adds flags: the instruction is written anew. The flags mean something to sums,
// products and quotients alone.
static void strip(LLVMBuilderRef b, LLVMValueRef i) {
    enum { DECIDED = LLVMFastMathAllowContract | LLVMFastMathAllowReciprocal };
    LLVMOpcode op = LLVMGetInstructionOpcode(i);
    if (op != LLVMFAdd && op != LLVMFSub && op != LLVMFMul && op != LLVMFDiv) return;
    LLVMFastMathFlags flags = LLVMGetFastMathFlags(i);
    if (!(flags & DECIDED)) return;
    LLVMPositionBuilderBefore(b, i);
    LLVMValueRef plain = LLVMBuildBinOp(b, op, LLVMGetOperand(i, 0), LLVMGetOperand(i, 1), "");
    if (LLVMIsAInstruction(plain)) LLVMSetFastMathFlags(plain, flags & ~(LLVMFastMathFlags)DECIDED);
    LLVMReplaceAllUsesWith(i, plain);
    LLVMInstructionEraseFromParent(i);
}

static void contract_block(const Cg *cg, LLVMBuilderRef b, LLVMBasicBlockRef block) {
    LLVMValueRef i, next;
    for (i = LLVMGetFirstInstruction(block); i; i = LLVMGetNextInstruction(i))
        if (may_share(i)) share_divisor(cg, b, i);
    for (i = LLVMGetFirstInstruction(block); i; i = next) {
        next = LLVMGetNextInstruction(i);
        if ((msl_as(i, LLVMFAdd) || msl_as(i, LLVMFSub)) && msl_machine_fuses(cg, LLVMTypeOf(i)) &&
            allows(i, LLVMFastMathAllowContract))
            fuse(cg, b, i);
    }
}

void msl_contract(Cg *cg) {
    LLVMBuilderRef b = LLVMCreateBuilderInContext(cg->cx.llvm);
    LLVMModuleRef m = cg->cx.module;
    for (LLVMValueRef f = LLVMGetFirstFunction(m); f; f = LLVMGetNextFunction(f)) {
        LLVMBasicBlockRef block;
        for (block = LLVMGetFirstBasicBlock(f); block; block = LLVMGetNextBasicBlock(block))
            contract_block(cg, b, block);
        for (block = LLVMGetFirstBasicBlock(f); block; block = LLVMGetNextBasicBlock(block))
            for (LLVMValueRef i = LLVMGetFirstInstruction(block), next; i; i = next) {
                next = LLVMGetNextInstruction(i);
                strip(b, i);
            }
    }
    LLVMDisposeBuilder(b);
}
