// SPDX-License-Identifier: Apache-2.0
// demote_phis.c: what a loop with barriers carries has one place in memory.
//   purpose   a sum that goes around a loop with two barriers is two values for coro-split, the one
//             that comes in and the one that goes out, each saved in its place of the frame: the
//             part of the loop that does not use it (loading the next tile) copies it from one to
//             the other. Here it is a variable: read where it is used, written where it is made.
//   requires  barriers are calls still (barrier.c makes coroutines of them); cleaned up
//   breaks    nothing may promote variables to values before coro-split
// Only vectors, and only those that are made outside of inner loops: they would be written there in
// every round.
#include "compiler/codegen/codegen.h"
#include <stdlib.h>

enum { LEAST_BYTES = 32, ALIGN = 64, MOST_USES = 256 };

typedef struct Slots {
    Cg *cg;
    LLVMValueRef f;
    LLVMBasicBlockRef *blocks, *work;
    bool *in; // marked
    unsigned n;
} Slots;

static unsigned number_of(const Slots *s, LLVMBasicBlockRef b) {
    unsigned k = 0;
    while (s->blocks[k] != b) k++;
    return k;
}

// Marks what can be reached from behind `from` without passing `gate`.
static void mark_reached(Slots *s, LLVMBasicBlockRef from, LLVMBasicBlockRef gate) {
    unsigned n = 0;
    for (unsigned k = 0; k < s->n; k++) s->in[k] = false;
    s->work[n++] = from;
    while (n) {
        LLVMValueRef end = LLVMGetBasicBlockTerminator(s->work[--n]);
        for (unsigned k = 0; k < LLVMGetNumSuccessors(end); k++) {
            LLVMBasicBlockRef to = LLVMGetSuccessor(end, k);
            unsigned at = number_of(s, to);
            if (to == gate || s->in[at]) continue;
            s->in[at] = true;
            s->work[n++] = to;
        }
    }
}

static bool is_marked(const Slots *s, LLVMBasicBlockRef b) { return s->in[number_of(s, b)]; }

static bool comes_before(LLVMValueRef a, LLVMValueRef b) { // in one block
    for (; a; a = LLVMGetNextInstruction(a))
        if (a == b) return true;
    return false;
}

// Whether there is a barrier from `i` on, up to `end`, NULL: the end of the block.
static bool waits_between(LLVMValueRef i, LLVMValueRef end) {
    for (; i && i != end; i = LLVMGetNextInstruction(i))
        if (msl_starts(msl_callee(i), "__ingot_threadgroup_barrier")) return true;
    return false;
}

static bool has_barrier(LLVMBasicBlockRef b) {
    return waits_between(LLVMGetFirstInstruction(b), NULL);
}

// Whether the loop that leads from `header` to `latch` meets a barrier.
static bool loop_waits(Slots *s, LLVMBasicBlockRef header, LLVMBasicBlockRef latch) {
    bool waits = has_barrier(header);
    mark_reached(s, header, header);
    for (unsigned k = 0; k < s->n && !waits; k++) {
        if (!s->in[k] || !has_barrier(s->blocks[k])) continue;
        LLVMBasicBlockRef b = s->blocks[k];
        if (b == latch) return true;
        mark_reached(s, b, header);
        if (is_marked(s, latch)) return true;
        mark_reached(s, header, header);
    }
    return waits;
}

// Where a use reads its operand: the instruction itself, or the end of the way into a phi.
static LLVMValueRef place_of(LLVMValueRef user, unsigned operand) {
    if (!LLVMIsAPHINode(user)) return user;
    return LLVMGetBasicBlockTerminator(LLVMGetIncomingBlock(user, operand));
}

// Whether every use of the phi reads it before `next`, which comes after it, is written.
static bool is_read_before(const Slots *s, LLVMValueRef phi, LLVMValueRef next) {
    LLVMBasicBlockRef made = LLVMGetInstructionParent(next);
    for (LLVMUseRef u = LLVMGetFirstUse(phi); u; u = LLVMGetNextUse(u)) {
        LLVMValueRef user = LLVMGetUser(u);
        for (unsigned k = 0; k < (unsigned)LLVMGetNumOperands(user); k++) {
            if (LLVMGetOperand(user, k) != phi) continue;
            LLVMValueRef at = place_of(user, k);
            LLVMBasicBlockRef b = LLVMGetInstructionParent(at);
            if (is_marked(s, b) || (b == made && !comes_before(at, next))) return false;
        }
    }
    return true;
}

// Uses of v become loads; those of `phi` stay, and those of a value that is just `made`.
static void read_from(Slots *s, LLVMValueRef v, LLVMValueRef slot, LLVMValueRef phi,
                      LLVMBasicBlockRef made) {
    LLVMBuilderRef b = s->cg->cx.builder;
    LLVMValueRef users[MOST_USES];
    unsigned n = 0;
    for (LLVMUseRef u = LLVMGetFirstUse(v); u; u = LLVMGetNextUse(u)) users[n++] = LLVMGetUser(u);
    for (unsigned i = 0; i < n; i++)
        for (unsigned k = 0; k < (unsigned)LLVMGetNumOperands(users[i]); k++) {
            if (LLVMGetOperand(users[i], k) != v || users[i] == phi) continue;
            LLVMValueRef at = place_of(users[i], k);
            if (LLVMGetInstructionParent(at) == made && !waits_between(v, at)) continue;
            LLVMPositionBuilderBefore(b, at);
            LLVMValueRef r = LLVMBuildLoad2(b, LLVMTypeOf(v), slot, "");
            LLVMSetAlignment(r, ALIGN);
            LLVMSetOperand(users[i], k, r);
        }
}

static void store_to(Slots *s, LLVMValueRef v, LLVMValueRef slot, LLVMValueRef before) {
    LLVMPositionBuilderBefore(s->cg->cx.builder, before);
    LLVMSetAlignment(LLVMBuildStore(s->cg->cx.builder, v, slot), ALIGN);
}

static unsigned count_uses(LLVMValueRef v) {
    unsigned n = 0;
    for (LLVMUseRef u = LLVMGetFirstUse(v); u; u = LLVMGetNextUse(u)) n++;
    return n;
}

static bool is_large(const Slots *s, LLVMTypeRef t) {
    return LLVMGetTypeKind(t) == LLVMVectorTypeKind &&
           LLVMGetTypeKind(LLVMGetElementType(t)) != LLVMPointerTypeKind &&
           LLVMSizeOfTypeInBits(s->cg->cx.layout, LLVMGetElementType(t)) >= 8 &&
           LLVMABISizeOfType(s->cg->cx.layout, t) >= LEAST_BYTES;
}

// Whether `header` is that of a loop, entered from `before`, in which latch and `made` are.
static bool is_around(Slots *s, LLVMBasicBlockRef header, LLVMBasicBlockRef before,
                      LLVMBasicBlockRef latch, LLVMBasicBlockRef made) {
    LLVMBasicBlockRef entry = LLVMGetEntryBasicBlock(s->f);
    mark_reached(s, entry, header);
    s->in[number_of(s, entry)] = true;
    return is_marked(s, before) && !is_marked(s, latch) && !is_marked(s, made);
}

static void keep(Slots *s, LLVMValueRef phi) {
    LLVMBasicBlockRef header = LLVMGetInstructionParent(phi);
    if (!is_large(s, LLVMTypeOf(phi)) || LLVMCountIncoming(phi) != 2) return;
    for (unsigned k = 0; k < 2; k++) {
        LLVMValueRef next = LLVMGetIncomingValue(phi, k), in = LLVMGetIncomingValue(phi, 1 - k);
        LLVMBasicBlockRef latch = LLVMGetIncomingBlock(phi, k),
                          before = LLVMGetIncomingBlock(phi, 1 - k);
        if (!LLVMIsAInstruction(next) || LLVMIsAPHINode(next)) continue;
        if (count_uses(phi) > MOST_USES || count_uses(next) > MOST_USES) continue;
        LLVMBasicBlockRef made = LLVMGetInstructionParent(next);
        if (!is_around(s, header, before, latch, made)) continue;
        mark_reached(s, made, header);
        if (is_marked(s, made) || !is_read_before(s, phi, next)) continue;
        if (!loop_waits(s, header, latch)) continue;
        LLVMPositionBuilderBefore(s->cg->cx.builder,
                                  LLVMGetFirstInstruction(LLVMGetEntryBasicBlock(s->f)));
        LLVMValueRef slot = LLVMBuildAlloca(s->cg->cx.builder, LLVMTypeOf(phi), "");
        LLVMSetAlignment(slot, ALIGN);
        read_from(s, next, slot, phi, made);
        store_to(s, next, slot, LLVMGetNextInstruction(next));
        store_to(s, in, slot, LLVMGetBasicBlockTerminator(before));
        read_from(s, phi, slot, NULL, NULL);
        LLVMInstructionEraseFromParent(phi);
        return;
    }
}

void msl_demote_phis(Cg *cg, LLVMValueRef f) {
    Slots s = {.cg = cg, .f = f, .n = LLVMCountBasicBlocks(f)};
    s.blocks = calloc(s.n, sizeof *s.blocks);
    s.work = calloc(s.n + 1, sizeof *s.work);
    s.in = calloc(s.n, sizeof *s.in);
    bool ok = s.blocks && s.work && s.in;
    unsigned k = 0;
    for (LLVMBasicBlockRef b = LLVMGetFirstBasicBlock(f); ok && b; b = LLVMGetNextBasicBlock(b))
        s.blocks[k++] = b;
    for (k = 0; ok && k < s.n; k++)
        for (LLVMValueRef i = LLVMGetFirstInstruction(s.blocks[k]), next; LLVMIsAPHINode(i);
             i = next) {
            next = LLVMGetNextInstruction(i);
            keep(&s, i);
        }
    free(s.blocks);
    free(s.work);
    free(s.in);
    if (!ok) msl_fail(&cg->cx, "out of memory");
}
