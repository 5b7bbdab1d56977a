// SPDX-License-Identifier: Apache-2.0
// expand_masks.c: masks on CPUs that have no registers for them.
//   purpose   LLVM takes the bits of a mask apart one by one, and writes a masked gather as a test,
//             a branch and a load for each lane. Here the bits are compared with those of each lane
//             in vectors, and lanes that are off read a word of the code object: 32 loads in one
//             block. Less than half of the time to compile, and nothing to predict wrongly.
//   requires  the last optimisation has run; preserves everything else
#include "compiler/codegen/lower/lower.h"
#include <stdio.h>
#include <string.h>

// Tuned for, by LLVM's names: others have gathers that are slower than the loads, or none.
static bool has_gathers(const MslContext *cx) {
    static const char *const names[] = {"skylake",    "alderlake", "raptorlake",
                                        "meteorlake", "arrowlake", "lunarlake"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (msl_starts(cx->cpu, names[i])) return cx->avx2;
    return cx->avx512 || cx->sve_bits;
}

static bool is_slow_gather(const Cg *cg, LLVMValueRef i, bool gathers) {
    if (!msl_starts(msl_callee(i), "llvm.masked.gather.")) return false;
    LLVMTypeRef element = LLVMGetElementType(LLVMTypeOf(i));
    bool word = LLVMABISizeOfType(cg->cx.layout, element) >= 4;
    return !(word && gathers) && !LLVMIsConstant(LLVMGetOperand(i, 1));
}

bool msl_is_short(const Cg *cg, LLVMValueRef f) {
    static const char edges[] = MSL_EDGES;
    return cg->request->tier == TIER_BASELINE ||
           LLVMGetStringAttributeAtIndex(f, LLVMAttributeFunctionIndex, edges, sizeof edges - 1);
}

// In code that is to be short a gather is a tenth of the loads, on any machine that has one.
static bool takes_gathers(Cg *cg, LLVMValueRef f) {
    MslContext *cx = &cg->cx;
    if (has_gathers(cx)) return true;
    if (!cx->avx2 || !msl_is_short(cg, f)) return false;
    char features[4096];
    snprintf(features, sizeof features, "%s,+fast-gather", cx->features ? cx->features : "");
    msl_add_text_attribute(cx, f, "target-features", features);
    return true;
}

// What lanes that are off read: as long as the longest element.
static LLVMValueRef nothing(Cg *cg) {
    static const char name[] = "ingot.nothing";
    LLVMValueRef g = LLVMGetNamedGlobal(cg->cx.module, name);
    if (g) return g;
    LLVMTypeRef type = LLVMArrayType2(msl_int(&cg->cx, 64), 2);
    g = LLVMAddGlobal(cg->cx.module, type, name);
    LLVMSetInitializer(g, LLVMConstNull(type));
    LLVMSetLinkage(g, LLVMInternalLinkage);
    LLVMSetGlobalConstant(g, 1);
    LLVMSetAlignment(g, 16);
    return g;
}

static LLVMValueRef splat(MslContext *cx, LLVMValueRef v, unsigned n) {
    LLVMTypeRef type = LLVMVectorType(LLVMTypeOf(v), n);
    LLVMValueRef one =
        LLVMBuildInsertElement(cx->builder, LLVMGetPoison(type), v, msl_const(cx, 32, 0), "");
    return LLVMBuildShuffleVector(cx->builder, one, LLVMGetPoison(type),
                                  LLVMConstNull(LLVMVectorType(msl_int(cx, 32), n)), "");
}

static void open_gather(Cg *cg, LLVMValueRef gather) {
    MslContext *cx = &cg->cx;
    LLVMBuilderRef b = cx->builder;
    LLVMValueRef pointers = LLVMGetOperand(gather, 0), mask = LLVMGetOperand(gather, 1),
                 others = LLVMGetOperand(gather, 2);
    unsigned n = LLVMGetVectorSize(LLVMTypeOf(pointers));
    LLVMPositionBuilderBefore(b, gather);
    LLVMValueRef elsewhere = splat(cx, nothing(cg), n);
    LLVMSetOperand(gather, 0, LLVMBuildSelect(b, mask, pointers, elsewhere, ""));
    LLVMSetOperand(gather, 1, LLVMConstAllOnes(LLVMTypeOf(mask)));
    if (LLVMIsUndef(others)) return; // or poison
    LLVMSetOperand(gather, 2, LLVMGetPoison(LLVMTypeOf(gather)));
    LLVMPositionBuilderBefore(b, LLVMGetNextInstruction(gather));
    LLVMValueRef chosen = LLVMBuildSelect(b, mask, gather, others, "");
    LLVMReplaceAllUsesWith(gather, chosen);
    LLVMSetOperand(chosen, 1, gather);
}

bool msl_is_mask(LLVMTypeRef t) {
    return LLVMGetTypeKind(t) == LLVMVectorTypeKind &&
           LLVMGetTypeKind(LLVMGetElementType(t)) == LLVMIntegerTypeKind &&
           LLVMGetIntTypeWidth(LLVMGetElementType(t)) == 1;
}

// Bits to a mask of as many lanes.
static bool is_spread(LLVMValueRef i) {
    LLVMTypeRef to = LLVMTypeOf(i);
    return LLVMGetInstructionOpcode(i) == LLVMBitCast && msl_is_mask(to) &&
           LLVMGetTypeKind(LLVMTypeOf(LLVMGetOperand(i, 0))) == LLVMIntegerTypeKind &&
           LLVMGetVectorSize(to) <= 32;
}

// A mask from memory (frames of coroutines hold them): bits, as above.
static bool is_mask_load(LLVMValueRef i) {
    LLVMTypeRef type = LLVMTypeOf(i);
    return LLVMIsALoadInst(i) && msl_is_mask(type) && LLVMGetVectorSize(type) % 8 == 0 &&
           LLVMGetVectorSize(type) <= 32;
}

static LLVMValueRef load_bits(Cg *cg, LLVMValueRef load) {
    MslContext *cx = &cg->cx;
    LLVMTypeRef type = LLVMTypeOf(load), bits = msl_int(cx, LLVMGetVectorSize(type));
    LLVMPositionBuilderBefore(cx->builder, load);
    LLVMValueRef v = LLVMBuildLoad2(cx->builder, bits, LLVMGetOperand(load, 0), "");
    LLVMSetAlignment(v, LLVMGetAlignment(load));
    LLVMSetVolatile(v, LLVMGetVolatile(load));
    LLVMValueRef mask = LLVMBuildBitCast(cx->builder, v, type, "");
    LLVMReplaceAllUsesWith(load, mask);
    LLVMInstructionEraseFromParent(load);
    return mask;
}

static void spread(Cg *cg, LLVMValueRef i) {
    MslContext *cx = &cg->cx;
    unsigned n = LLVMGetVectorSize(LLVMTypeOf(i));
    LLVMTypeRef word = msl_int(cx, 32);
    LLVMValueRef powers[32];
    for (unsigned k = 0; k < n; k++) powers[k] = msl_const(cx, 32, UINT64_C(1) << k);
    LLVMPositionBuilderBefore(cx->builder, i);
    LLVMValueRef bits = LLVMGetOperand(i, 0);
    if (n < 32) bits = LLVMBuildZExt(cx->builder, bits, word, "");
    LLVMValueRef v = LLVMBuildAnd(cx->builder, splat(cx, bits, n), LLVMConstVector(powers, n), "");
    v = LLVMBuildICmp(cx->builder, LLVMIntNE, v, LLVMConstNull(LLVMTypeOf(v)), "");
    LLVMReplaceAllUsesWith(i, v);
    LLVMInstructionEraseFromParent(i);
}

// A mask to as many bits: NEON has no instruction for it, and LLVM takes more than 16 lanes one by
// one.
enum { MAX_JOINED = 16 };
static bool is_join(LLVMValueRef i) {
    if (LLVMGetInstructionOpcode(i) != LLVMBitCast) return false;
    LLVMTypeRef from = LLVMTypeOf(LLVMGetOperand(i, 0));
    return LLVMGetTypeKind(LLVMTypeOf(i)) == LLVMIntegerTypeKind && msl_is_mask(from) &&
           LLVMGetVectorSize(from) > MAX_JOINED && LLVMGetVectorSize(from) % MAX_JOINED == 0;
}

static LLVMValueRef reduce(Cg *cg, const char *how, LLVMValueRef mask) {
    LLVMTypeRef type = LLVMTypeOf(mask);
    unsigned id = LLVMLookupIntrinsicID(how, strlen(how));
    LLVMValueRef f = LLVMGetIntrinsicDeclaration(cg->cx.module, id, &type, 1);
    return LLVMBuildCall2(cg->cx.builder, LLVMGlobalGetValueType(f), f, &mask, 1, "");
}

// Whether a bit is set, or all are, is a reduction. True: that is all anybody asks.
static bool join_questions(Cg *cg, LLVMValueRef join) {
    LLVMValueRef mask = LLVMGetOperand(join, 0), any = NULL, all = NULL;
    bool no_others = true;
    for (LLVMUseRef u = LLVMGetFirstUse(join), next; u; u = next) {
        next = LLVMGetNextUse(u);
        LLVMValueRef c = LLVMGetUser(u), with = LLVMIsAICmpInst(c) ? LLVMGetOperand(c, 1) : NULL;
        bool zero = with && LLVMIsConstant(with) && LLVMIsNull(with),
             ones = with && with == LLVMConstAllOnes(LLVMTypeOf(with));
        LLVMIntPredicate p = with ? LLVMGetICmpPredicate(c) : LLVMIntUGT;
        if ((!zero && !ones) || (p != LLVMIntEQ && p != LLVMIntNE)) {
            no_others = false;
            continue;
        }
        LLVMValueRef *answer = zero ? &any : &all;
        if (!*answer)
            *answer = reduce(cg, zero ? "llvm.vector.reduce.or" : "llvm.vector.reduce.and", mask);
        bool negated = zero == (p == LLVMIntEQ);
        LLVMReplaceAllUsesWith(c, negated ? LLVMBuildNot(cg->cx.builder, *answer, "") : *answer);
        LLVMSetOperand(c, 0, LLVMConstNull(LLVMTypeOf(with))); // dead
    }
    return no_others;
}

static void join_bits(Cg *cg, LLVMValueRef join) {
    MslContext *cx = &cg->cx;
    LLVMValueRef mask = LLVMGetOperand(join, 0), bits = NULL;
    LLVMTypeRef type = LLVMTypeOf(join);
    LLVMPositionBuilderBefore(cx->builder, join);
    if (!join_questions(cg, join)) {
        for (unsigned at = 0; at < LLVMGetVectorSize(LLVMTypeOf(mask)); at += MAX_JOINED) {
            LLVMValueRef ix[MAX_JOINED];
            for (unsigned k = 0; k < MAX_JOINED; k++) ix[k] = msl_const(cx, 32, at + k);
            LLVMValueRef part = LLVMBuildShuffleVector(cx->builder, mask, mask,
                                                       LLVMConstVector(ix, MAX_JOINED), "");
            part = LLVMBuildBitCast(cx->builder, part, msl_int(cx, MAX_JOINED), "");
            part = LLVMBuildZExt(cx->builder, part, type, "");
            part = LLVMBuildShl(cx->builder, part, LLVMConstInt(type, at, 0), "");
            bits = bits ? LLVMBuildOr(cx->builder, bits, part, "") : part;
        }
        LLVMReplaceAllUsesWith(join, bits);
    }
    LLVMInstructionEraseFromParent(join);
}

void msl_expand_masks(Cg *cg) {
    for (LLVMValueRef f = LLVMGetFirstFunction(cg->cx.module); f; f = LLVMGetNextFunction(f)) {
        bool gathers = takes_gathers(cg, f);
        for (LLVMBasicBlockRef b = LLVMGetFirstBasicBlock(f); b; b = LLVMGetNextBasicBlock(b))
            for (LLVMValueRef i = LLVMGetFirstInstruction(b), next; i; i = next) {
                next = LLVMGetNextInstruction(i);
                if (is_slow_gather(cg, i, gathers)) open_gather(cg, i);
                if (!cg->cx.avx512 && is_mask_load(i)) i = load_bits(cg, i);
                if (!cg->cx.avx512 && is_spread(i))
                    spread(cg, i);
                else if (cg->cx.aarch64 && is_join(i))
                    join_bits(cg, i);
            }
    }
}
