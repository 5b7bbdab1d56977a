// SPDX-License-Identifier: Apache-2.0
// split_sums.c: sums of many registers go on register by register, in the order of memory.
//   purpose   `sum += a[i] * x[i]` of float4 is eight or sixteen registers. LLVM takes a wide load
//             apart in any order that suits its scheduler (the upper half backwards); a stream from
//             memory at such addresses misses the processor's prefetching: 15 instead of 27 GB/s a
//             thread (Zen 4).
//   requires  the last optimisation has run, schedule.c has; preserves everything else
#include "compiler/codegen/lower/lower.h"

enum { MOST_STEPS = 64, LEAST_PIECES = 4, MOST_PIECES = 32 };

typedef struct Cut {
    LLVMBuilderRef b;
    LLVMTypeRef bytes; // i8: addresses
    unsigned each;     // elements of a piece
} Cut;

// A load that may stand at `end`, behind it in its block, as nothing is written in between.
static bool may_move(LLVMValueRef load, LLVMValueRef end) {
    LLVMUseRef u = LLVMGetFirstUse(load);
    if (!LLVMIsALoadInst(load) || LLVMGetVolatile(load) ||
        LLVMGetOrdering(load) != LLVMAtomicOrderingNotAtomic || LLVMGetNextUse(u))
        return false;
    LLVMValueRef i = load;
    for (int k = 0; i && i != end && k < MOST_STEPS; k++, i = LLVMGetNextInstruction(i))
        if (LLVMIsAStoreInst(i) || LLVMIsAFenceInst(i) ||
            (LLVMIsACallInst(i) && !msl_starts(msl_callee(i), "llvm.fm")))
            return false;
    return i == end;
}

// What a factor is read from: the load, or the one that is converted; NULL: something else.
static LLVMValueRef load_of(LLVMValueRef v, LLVMValueRef sum) {
    if (LLVMIsAFPExtInst(v)) {
        if (LLVMGetNextUse(LLVMGetFirstUse(v))) return NULL;
        v = LLVMGetOperand(v, 0);
    }
    return LLVMIsALoadInst(v) && may_move(v, sum) ? v : NULL;
}

// Elements [from, from + each) of a factor.
static LLVMValueRef part_of_factor(const Cut *c, Cg *cg, LLVMValueRef v, LLVMValueRef load,
                                   unsigned from) {
    if (!load) return msl_elements(cg, v, from, c->each);
    LLVMTypeRef element = LLVMGetElementType(LLVMTypeOf(load));
    uint64_t offset = from * LLVMABISizeOfType(cg->cx.layout, element);
    LLVMValueRef at = msl_const(&cg->cx, 64, offset), address = LLVMGetOperand(load, 0);
    if (offset) address = LLVMBuildGEP2(c->b, c->bytes, address, &at, 1, "");
    LLVMValueRef r = LLVMBuildLoad2(c->b, LLVMVectorType(element, c->each), address, "");
    unsigned align = LLVMGetAlignment(load);
    while (offset % align) align /= 2;
    LLVMSetAlignment(r, align);
    return load == v ? r
                     : LLVMBuildFPExt(
                           c->b, r, LLVMVectorType(LLVMGetElementType(LLVMTypeOf(v)), c->each), "");
}

static LLVMValueRef concat(const Cut *c, LLVMValueRef *v, unsigned n) {
    LLVMTypeRef word = LLVMInt32TypeInContext(LLVMGetTypeContext(c->bytes));
    for (; n > 1; n /= 2)
        for (unsigned k = 0; k < n / 2; k++) {
            unsigned size = 2 * LLVMGetVectorSize(LLVMTypeOf(v[2 * k]));
            LLVMValueRef ix[16 * MOST_PIECES];
            for (unsigned e = 0; e < size; e++) ix[e] = LLVMConstInt(word, e, 0);
            v[k] =
                LLVMBuildShuffleVector(c->b, v[2 * k], v[2 * k + 1], LLVMConstVector(ix, size), "");
        }
    return v[0];
}

static void split_sum(Cg *cg, LLVMValueRef sum) {
    LLVMTypeRef t = LLVMTypeOf(sum);
    Cut c = {cg->cx.builder, LLVMInt8TypeInContext(cg->cx.llvm), cg->cx.avx512 ? 16 : 8};
    unsigned size = LLVMGetVectorSize(t), n = size / c.each;
    if (n < LEAST_PIECES || n > MOST_PIECES || n & (n - 1) || size % c.each) return;
    LLVMValueRef factor[2], load[2], pieces[MOST_PIECES], args[3];
    for (unsigned k = 0; k < 2; k++) load[k] = load_of(factor[k] = LLVMGetOperand(sum, k), sum);
    if (!load[0] && !load[1]) return;
    LLVMTypeRef piece = LLVMVectorType(LLVMGetElementType(t), c.each);
    unsigned id = LLVMGetIntrinsicID(LLVMGetCalledValue(sum));
    LLVMValueRef f = LLVMGetIntrinsicDeclaration(cg->cx.module, id, &piece, 1);
    LLVMTypeRef type = LLVMIntrinsicGetType(cg->cx.llvm, id, &piece, 1);
    LLVMPositionBuilderBefore(c.b, sum);
    for (unsigned k = 0; k < n; k++) {
        for (unsigned a = 0; a < 2; a++)
            args[a] = part_of_factor(&c, cg, factor[a], load[a], k * c.each);
        args[2] = msl_elements(cg, LLVMGetOperand(sum, 2), k * c.each, c.each);
        pieces[k] = LLVMBuildCall2(c.b, type, f, args, 3, "");
    }
    LLVMReplaceAllUsesWith(sum, concat(&c, pieces, n));
    LLVMInstructionEraseFromParent(sum);
    for (unsigned k = 0; k < 2; k++) {
        if (!load[k]) continue;
        if (factor[k] != load[k]) LLVMInstructionEraseFromParent(factor[k]);
        LLVMInstructionEraseFromParent(load[k]);
    }
}

void msl_split_sums(Cg *cg) {
    if (cg->request->tier == TIER_BASELINE || !(cg->cx.avx512 || cg->cx.avx2)) return;
    LLVMTypeRef single = LLVMFloatTypeInContext(cg->cx.llvm);
    for (LLVMValueRef f = LLVMGetFirstFunction(cg->cx.module); f; f = LLVMGetNextFunction(f))
        for (LLVMBasicBlockRef b = LLVMGetFirstBasicBlock(f); b; b = LLVMGetNextBasicBlock(b))
            for (LLVMValueRef i = LLVMGetFirstInstruction(b), next; i; i = next) {
                next = LLVMGetNextInstruction(i);
                LLVMTypeRef t = LLVMTypeOf(i);
                if (LLVMGetTypeKind(t) == LLVMVectorTypeKind && LLVMGetElementType(t) == single &&
                    msl_starts(msl_callee(i), "llvm.fmuladd"))
                    split_sum(cg, i);
            }
}
