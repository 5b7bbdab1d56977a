// SPDX-License-Identifier: Apache-2.0
// lane_masks.c: which threads take part in a SIMD-group function, as numbers in the scalar code.
//   purpose   a GPU's lanes run by themselves: those that run together at a moment need not be
//             those that the program brings there. Its instructions take the mask of the lanes that
//             are to meet, and wait for them. Here the masks are computed, as emit_control.c does
//             for vectors:
//               taken side of a divergent branch   ballot of the condition, in the branch's mask
//               header of a divergent loop         phi of the preheader's mask and the lanes that
//                                                  go on, a ballot at the latch
//               after a loop                       the preheader's mask
//               else                               that of the dominator
//   requires  as msl_vectorise. What is uniform needs no ballot: only blocks that such a function
//             stands in, or hangs on, get one
//   breaks    the function is structured (prepare.c), as it is for the vectoriser
#include "compiler/passes/passes_int.h"
#include <stdio.h>

bool msl_is_masked_call(LLVMValueRef call) {
    if (!LLVMIsACallInst(call)) return false;
    Op op = msl_builtin_of(call).op;
    return op == OP_SIMD_BARRIER || (op >= OP_SUM && op <= OP_MATRIX_STORE);
}

static Value call_mask_function(MslContext *cx, const char *name, Type result, Value *args,
                                unsigned n) {
    Type in[2];
    for (unsigned i = 0; i < n; i++) in[i] = LLVMTypeOf(args[i]);
    Type t = LLVMFunctionType(result, in, n, 0);
    Value f = LLVMGetNamedFunction(cx->module, name);
    if (!f) f = LLVMAddFunction(cx->module, name, t);
    return LLVMBuildCall2(cx->builder, t, f, args, n, "");
}

static Value all_lanes(MslContext *cx, Value thread) {
    LLVMPositionBuilderBefore(cx->builder, LLVMGetFirstInstruction(LLVMGetEntryBasicBlock(thread)));
    return call_mask_function(cx, "ingot_all_lanes", LLVMInt32TypeInContext(cx->llvm), NULL, 0);
}

static void rewrite(MslContext *cx, Value call, Value mask) {
    enum { MAX_ARGS = 6 };
    char name[96];
    Type types[MAX_ARGS + 1];
    Value args[MAX_ARGS + 1] = {mask};
    unsigned n = LLVMGetNumArgOperands(call);
    if (n > MAX_ARGS) msl_fail(cx, "internal error: '%s' with %u arguments", callee_of(call), n);
    snprintf(name, sizeof name, "ingot_masked_%s", callee_of(call) + strlen("__ingot_"));
    for (unsigned i = 0; i < n; i++) args[i + 1] = operand(call, (int)i);
    for (unsigned i = 0; i <= n; i++) types[i] = LLVMTypeOf(args[i]);
    Type t = LLVMFunctionType(LLVMTypeOf(call), types, n + 1, 0);
    Value f = LLVMGetNamedFunction(cx->module, name);
    if (!f) f = LLVMAddFunction(cx->module, name, t);
    LLVMPositionBuilderBefore(cx->builder, call);
    Value masked = LLVMBuildCall2(cx->builder, t, f, args, n + 1, "");
    if (LLVMGetFirstUse(call)) LLVMReplaceAllUsesWith(call, masked);
    LLVMInstructionEraseFromParent(call);
}

void msl_mask_all(MslContext *cx, LLVMValueRef thread) {
    Value mask = NULL;
    for (Block b = LLVMGetFirstBasicBlock(thread); b; b = LLVMGetNextBasicBlock(b))
        for (Value i = LLVMGetFirstInstruction(b), next; i; i = next) {
            next = LLVMGetNextInstruction(i);
            if (!msl_is_masked_call(i)) continue;
            if (!mask) mask = all_lanes(cx, thread);
            rewrite(cx, i, mask);
        }
}

// Of the lanes in the mask of block b, those that its branch takes to block `to`.
static Value ballot(Vec *x, int b, int to, Value mask) {
    const Blk *k = &x->blocks[b];
    Value end = LLVMGetBasicBlockTerminator(k->old), c = LLVMGetCondition(end);
    LLVMPositionBuilderBefore(x->b, end);
    if (k->succ[0] != to) c = LLVMBuildNot(x->b, c, "");
    return call_mask_function(x->cx, "ingot_ballot", x->i32, (Value[]){mask, c}, 2);
}

static Value mask_of(Vec *x, int b);

static Value header_mask(Vec *x, int b) {
    Blk *k = &x->blocks[b];
    const Loop *l = &x->loops[k->header];
    LLVMPositionBuilderBefore(x->b, LLVMGetFirstInstruction(k->old));
    Value live = k->mask[0] = LLVMBuildPhi(x->b, x->i32, "live");
    Value again = ballot(x, l->latch, b, mask_of(x, l->latch));
    LLVMAddIncoming(live, (Value[]){mask_of(x, l->preheader), again},
                    (Block[]){x->blocks[l->preheader].old, x->blocks[l->latch].old}, 2);
    return live;
}

static Value mask_of(Vec *x, int b) {
    Blk *k = &x->blocks[b], *d = &x->blocks[k->idom];
    if (k->mask[0]) return k->mask[0];
    if (b == 0)
        k->mask[0] = all_lanes(x->cx, x->thread);
    else if (k->header >= 0 && x->loops[k->header].divergent)
        k->mask[0] = header_mask(x, b);
    else if (k->exit >= 0 && k->idom == x->loops[k->exit].latch)
        k->mask[0] = mask_of(x, x->loops[k->exit].preheader);
    else if (d->n_succ == 2 && d->divergent && d->latch < 0 && msl_taken_side(x, k->idom) == b)
        k->mask[0] = ballot(x, k->idom, b, mask_of(x, k->idom));
    else
        k->mask[0] = mask_of(x, k->idom);
    return k->mask[0];
}

// NULL: every such call is in the mask that the function begins with.
static Value mask_calls(Vec *x, void *context) {
    (void)context;
    bool diverges = false;
    msl_prepare(x);
    msl_plan_positions(x);
    msl_analyse(x);
    for (int b = 0; b < x->n_blocks; b++)
        for (Value i = LLVMGetFirstInstruction(x->blocks[b].old); i; i = LLVMGetNextInstruction(i))
            diverges |= x->blocks[b].mask_id != 0 && msl_is_masked_call(i);
    if (!diverges) return NULL;
    for (int b = 0; b < x->n_blocks; b++)
        for (Value i = LLVMGetFirstInstruction(x->blocks[b].old), next; i; i = next) {
            next = LLVMGetNextInstruction(i);
            if (msl_is_masked_call(i)) rewrite(x->cx, i, mask_of(x, b));
        }
    return x->thread;
}

bool msl_mask_lanes(MslContext *cx, LLVMValueRef thread) {
    MslVersion one = {.width = cx->width, .parts = 1};
    return msl_with_vec(cx, thread, &one, mask_calls, NULL) != NULL;
}
