// SPDX-License-Identifier: Apache-2.0
// byte_conversions.c: bytes and halfwords of a word become floats without being gathered into
// vectors of bytes.
//   purpose   quantised weights: float(char(w >> 8)). LLVM selects block by block: where the byte
//             is cut out in one block and converted in another (there is a branch for full masks
//             between them) it packs the bytes of all lanes together, and spreads them again.
//             Shifts in the words say the same: (w << 16) >> 24.
//   requires  the last optimisation has run; preserves everything else
// Numbers of 16 bits and less are exact in a float, by whatever way they come there.
#include "compiler/codegen/lower/lower.h"

// `v` as words, shifted right by a constant, as far as it is: the word and the distance.
static LLVMValueRef unshifted(LLVMValueRef v, unsigned *shift) {
    *shift = 0;
    if (!LLVMIsAInstruction(v) || LLVMGetInstructionOpcode(v) != LLVMLShr) return v;
    LLVMValueRef by = LLVMGetOperand(v, 1);
    LLVMValueRef one = LLVMIsConstant(by) ? LLVMGetAggregateElement(by, 0) : NULL;
    if (!one || !LLVMIsAConstantInt(one)) return v;
    for (unsigned k = 1; k < LLVMGetVectorSize(LLVMTypeOf(v)); k++)
        if (LLVMGetAggregateElement(by, k) != one) return v;
    *shift = (unsigned)LLVMConstIntGetZExtValue(one);
    return LLVMGetOperand(v, 0);
}

// The words that a vector of bytes or halfwords was cut out of; NULL: it was not.
static LLVMValueRef words_of(const Cg *cg, LLVMValueRef v) {
    if (!LLVMIsAInstruction(v) || LLVMGetInstructionOpcode(v) != LLVMTrunc) return NULL;
    LLVMTypeRef to = LLVMTypeOf(v), from = LLVMTypeOf(LLVMGetOperand(v, 0));
    if (LLVMGetTypeKind(to) != LLVMVectorTypeKind || LLVMGetVectorSize(to) > 64) return NULL;
    unsigned bits = LLVMGetIntTypeWidth(LLVMGetElementType(to));
    bool word = LLVMGetElementType(from) == LLVMInt32TypeInContext(cg->cx.llvm);
    return word && (bits == 8 || bits == 16) ? LLVMGetOperand(v, 0) : NULL;
}

static void convert_words(Cg *cg, LLVMValueRef i, LLVMValueRef word) {
    LLVMBuilderRef b = cg->cx.builder;
    LLVMTypeRef type = LLVMTypeOf(word);
    unsigned bits = LLVMGetIntTypeWidth(LLVMGetElementType(LLVMTypeOf(LLVMGetOperand(i, 0))));
    unsigned shift, up;
    word = unshifted(word, &shift);
    if (shift > 32 - bits) return; // zeros from above: not a byte of the word
    up = 32 - bits - shift;
    LLVMPositionBuilderBefore(b, i);
    if (up) word = LLVMBuildShl(b, word, msl_constant_splat(type, up), "");
    word = LLVMGetInstructionOpcode(i) == LLVMSIToFP
               ? LLVMBuildAShr(b, word, msl_constant_splat(type, 32 - bits), "")
               : LLVMBuildLShr(b, word, msl_constant_splat(type, 32 - bits), "");
    LLVMReplaceAllUsesWith(i, LLVMBuildSIToFP(b, word, LLVMTypeOf(i), ""));
    LLVMInstructionEraseFromParent(i);
}

void msl_lower_byte_conversions(Cg *cg) {
    LLVMTypeRef single = LLVMFloatTypeInContext(cg->cx.llvm);
    for (LLVMValueRef f = LLVMGetFirstFunction(cg->cx.module); f; f = LLVMGetNextFunction(f))
        for (LLVMBasicBlockRef b = LLVMGetFirstBasicBlock(f); b; b = LLVMGetNextBasicBlock(b))
            for (LLVMValueRef i = LLVMGetFirstInstruction(b), next; i; i = next) {
                next = LLVMGetNextInstruction(i);
                LLVMOpcode op = LLVMGetInstructionOpcode(i);
                if (op != LLVMSIToFP && op != LLVMUIToFP) continue;
                LLVMTypeRef type = LLVMTypeOf(i);
                if (LLVMGetTypeKind(type) != LLVMVectorTypeKind ||
                    LLVMGetElementType(type) != single)
                    continue;
                LLVMValueRef word = words_of(cg, LLVMGetOperand(i, 0));
                if (word) convert_words(cg, i, word);
            }
}
