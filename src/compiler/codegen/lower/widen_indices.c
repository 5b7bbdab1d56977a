// SPDX-License-Identifier: Apache-2.0
// widen_indices.c: `a[row * n + k]` with a uint index is one address and a counter.
//   purpose   the sum of uints may wrap, so LLVM keeps one for each index and extends it in every
//             round: of 27 instructions around 8 fused multiply-adds 8 did that. But two rounds on
//             both sides of a wrap would lie 2^32 elements apart in one buffer, and code is made
//             for buffers up to a length (MslContext.reach) that rules this out: behind the first
//             round nothing wraps.
//   requires  the last optimisation has run; no checks of accesses, which want the index as it is
// Only loops of one block: the access is made in every round.
#include "compiler/codegen/lower/lower.h"

static bool is_sum(LLVMValueRef v) {
    return msl_as(v, LLVMAdd) || (msl_as(v, LLVMOr) && LLVMGetIsDisjoint(v));
}

typedef struct Index { // rest * rest_scale + counter * scale + offset, in words
    LLVMBasicBlockRef loop;
    LLVMValueRef rest, counter;
    uint64_t rest_scale, scale, offset;
    unsigned back; // the way around the loop, among the counter's
} Index;

static bool get_const(LLVMValueRef v, uint64_t *k) {
    if (LLVMIsAConstantInt(v)) *k = LLVMConstIntGetZExtValue(v);
    return LLVMIsAConstantInt(v);
}

// A number of 64 bits that starts anywhere and goes up by little.
static bool is_counter(Index *x, LLVMValueRef phi) {
    enum { MOST = 1 << 16 };
    uint64_t by = 0;
    if (!LLVMIsAPHINode(phi) || LLVMGetInstructionParent(phi) != x->loop ||
        LLVMGetIntTypeWidth(LLVMTypeOf(phi)) != 64 || LLVMCountIncoming(phi) != 2)
        return false;
    x->back = LLVMGetIncomingBlock(phi, 0) == x->loop ? 0 : 1;
    if (LLVMGetIncomingBlock(phi, x->back) != x->loop) return false;
    LLVMValueRef next = msl_as(LLVMGetIncomingValue(phi, x->back), LLVMAdd);
    if (!next || LLVMGetOperand(next, 0) != phi || !get_const(LLVMGetOperand(next, 1), &by))
        return false;
    x->counter = phi;
    return by <= MOST;
}

static bool is_outside(LLVMValueRef v, LLVMBasicBlockRef loop) {
    return !LLVMIsAInstruction(v) || LLVMGetInstructionParent(v) != loop;
}

// The low word of a counter, or of what comes a constant behind it.
static bool take_counter(Index *x, LLVMValueRef v, uint64_t scale) {
    uint64_t k = 0;
    if (x->counter || !msl_as(v, LLVMTrunc)) return false;
    LLVMValueRef w = LLVMGetOperand(v, 0);
    if (is_sum(w) && get_const(LLVMGetOperand(w, 1), &k)) w = LLVMGetOperand(w, 0);
    x->scale = scale;
    x->offset += k * scale;
    return is_counter(x, w);
}

// Takes what v times `scale` adds to the index.
static bool take_term(Index *x, LLVMValueRef v, uint64_t scale) {
    enum { MOST_SHIFT = 14 };
    uint64_t k = 0;
    if (scale > 1u << MOST_SHIFT) return false;
    if (get_const(v, &k)) {
        x->offset += k * scale;
        return true;
    }
    if (is_outside(v, x->loop)) {
        if (x->rest) return false;
        x->rest = v;
        x->rest_scale = scale;
        return true;
    }
    if (is_sum(v))
        return take_term(x, LLVMGetOperand(v, 0), scale) &&
               take_term(x, LLVMGetOperand(v, 1), scale);
    if (msl_as(v, LLVMShl) && get_const(LLVMGetOperand(v, 1), &k) && k <= MOST_SHIFT)
        return take_term(x, LLVMGetOperand(v, 0), scale << k);
    if (msl_as(v, LLVMMul) && get_const(LLVMGetOperand(v, 1), &k) && k <= 1u << MOST_SHIFT)
        return take_term(x, LLVMGetOperand(v, 0), scale * k);
    return take_counter(x, v, scale);
}

// Whether the loop reads or writes at index z, of elements so large that no buffer has 2^32 of
// them.
static bool is_accessed(const Cg *cg, LLVMValueRef z, LLVMBasicBlockRef loop) {
    for (LLVMUseRef u = LLVMGetFirstUse(z); u; u = LLVMGetNextUse(u)) {
        LLVMValueRef p = LLVMGetUser(u);
        if (!LLVMIsAGetElementPtrInst(p) || LLVMGetNumOperands(p) != 2 ||
            LLVMGetTypeKind(LLVMTypeOf(p)) != LLVMPointerTypeKind)
            continue;
        uint64_t bytes = LLVMABISizeOfType(cg->cx.layout, LLVMGetGEPSourceElementType(p));
        if (cg->cx.reach > 62 || bytes >> 1 << 32 >> cg->cx.reach == 0) continue;
        for (LLVMUseRef a = LLVMGetFirstUse(p); a; a = LLVMGetNextUse(a)) {
            LLVMValueRef i = LLVMGetUser(a);
            if (LLVMGetInstructionParent(i) == loop &&
                (LLVMIsALoadInst(i) || (LLVMIsAStoreInst(i) && LLVMGetOperand(i, 1) == p)))
                return true;
        }
    }
    return false;
}

// The first index as it is, the others from there on.
static void widen(Cg *cg, LLVMValueRef z) {
    LLVMBuilderRef b = cg->cx.builder;
    LLVMTypeRef wide = LLVMTypeOf(z), word = msl_int(&cg->cx, 32);
    Index x = {.loop = LLVMGetInstructionParent(z)};
    if (is_outside(LLVMGetOperand(z, 0), x.loop) || !is_accessed(cg, z, x.loop)) return;
    if (!take_term(&x, LLVMGetOperand(z, 0), 1) || !x.counter || !x.rest) return;
    LLVMValueRef start = LLVMGetIncomingValue(x.counter, 1 - x.back),
                 scale = msl_const(&cg->cx, 64, x.scale);
    LLVMBasicBlockRef before = LLVMGetIncomingBlock(x.counter, 1 - x.back);
    LLVMPositionBuilderBefore(b, LLVMGetBasicBlockTerminator(before));
    start = LLVMBuildMul(b, start, scale, "");
    LLVMValueRef first = LLVMBuildMul(b, x.rest, LLVMConstInt(word, x.rest_scale, 0), "");
    first = LLVMBuildAdd(b, first, LLVMBuildTrunc(b, start, word, ""), "");
    first = LLVMBuildAdd(b, first, LLVMConstInt(word, x.offset & UINT32_MAX, 0), "");
    first = LLVMBuildSub(b, LLVMBuildZExt(b, first, wide, ""), start, "");
    LLVMPositionBuilderBefore(b, z);
    LLVMValueRef by = x.scale == 1 ? x.counter : LLVMBuildMul(b, x.counter, scale, "");
    LLVMReplaceAllUsesWith(z, LLVMBuildAdd(b, first, by, ""));
    LLVMInstructionEraseFromParent(z);
}

void msl_widen_indices(Cg *cg) {
    if (cg->request->tier == TIER_BASELINE || cg->request->validate) return;
    for (LLVMValueRef f = LLVMGetFirstFunction(cg->cx.module); f; f = LLVMGetNextFunction(f))
        for (LLVMBasicBlockRef b = LLVMGetFirstBasicBlock(f); b; b = LLVMGetNextBasicBlock(b)) {
            if (!LLVMIsAPHINode(LLVMGetFirstInstruction(b))) continue;
            for (LLVMValueRef i = LLVMGetFirstInstruction(b), next; i; i = next) {
                next = LLVMGetNextInstruction(i);
                if (msl_as(i, LLVMZExt) && LLVMTypeOf(i) == msl_int(&cg->cx, 64) &&
                    LLVMTypeOf(LLVMGetOperand(i, 0)) == msl_int(&cg->cx, 32))
                    widen(cg, i);
            }
        }
}
