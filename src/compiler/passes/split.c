// SPDX-License-Identifier: Apache-2.0
// split.c: where lanes may be missing but seldom are, code for all of them.
//   purpose   `for (i = lane; i < n; i += 32)`, `if (i < n) ...`: the mask is full in all but the
//             last round or threadgroup, yet every access asks it. AVX2 has no masked access of
//             bytes and halfwords at all, and a plain load folds into what uses it.
//   requires  the vector function just emitted: blocks, loops and their masks
//   leaves    beside a loop or a conditional part with masked accesses a copy with full masks,
//             entered when they are. A loop whose lanes leave one by one goes over to the masked
//             copy with the first that does, with its values as they stand.
// Only innermost regions are doubled, small ones, and none twice.
#include "compiler/passes/passes_int.h"

enum { MAX_SPLIT = 1200 }; // instructions of a region

typedef struct Region {
    Vec *x;
    Block *old, *copy, end; // end: where it leaves to, not part of it
    int n, capacity;
    Map block_ix, value_ix;
    Value *to; // copies of values
    int n_values, n_to;
    bool ok, masked;
} Region;

static void add_value(Region *r, Value from, Value to) {
    msl_map_put(r->x->cx, &r->x->arena, &r->value_ix, from, r->n_to);
    r->to[r->n_to++] = to;
}

static Value copy_of(const Region *r, Value v) {
    int k = msl_map_get(&r->value_ix, v);
    return k < 0 ? v : r->to[k];
}

static bool inside(const Region *r, Block b) { return msl_map_get(&r->block_ix, b) >= 0; }

static void look_at_block(Region *r, Block b) {
    for (Value i = LLVMGetFirstInstruction(b); i; i = LLVMGetNextInstruction(i)) {
        const char *name = callee_of(i);
        r->n_values++;
        if (starts_with(name, "llvm.masked.") || msl_map_get(&r->x->full_tests, i) > 0)
            r->masked = true;
        if (starts_with(name, "__ingot_threadgroup_barrier")) r->ok = false;
    }
}

// The blocks that can be reached from b without passing `end`.
static void collect(Region *r, Block b) {
    if (b == r->end || inside(r, b) || !r->ok) return;
    if (r->n == r->capacity) {
        r->ok = false;
        return;
    }
    msl_map_put(r->x->cx, &r->x->arena, &r->block_ix, b, r->n);
    r->old[r->n++] = b;
    look_at_block(r, b);
    Value t = LLVMGetBasicBlockTerminator(b);
    unsigned n = LLVMGetNumSuccessors(t);
    if (!n || !LLVMIsABranchInst(t)) r->ok = false;
    for (unsigned s = 0; r->ok && s < n; s++) collect(r, LLVMGetSuccessor(t, s));
}

// The region from `entry` to `end`, if it is worth a copy.
static bool find_region(Vec *x, Region *r, Block entry, Block end) {
    enum { MAX_BLOCKS = 200 };
    *r = (Region){.x = x, .end = end, .capacity = MAX_BLOCKS, .ok = true};
    r->old = vec_alloc(x, MAX_BLOCKS, sizeof *r->old);
    r->copy = vec_alloc(x, MAX_BLOCKS, sizeof *r->copy);
    collect(r, entry);
    return r->ok && r->masked && r->n_values <= MAX_SPLIT;
}

static Block copy_of_block(const Region *r, Block b) {
    int k = msl_map_get(&r->block_ix, b);
    return k < 0 ? b : r->copy[k];
}

static Value copy_instruction(Region *r, Value i) {
    LLVMBuilderRef b = r->x->b;
    if (LLVMIsAPHINode(i)) {
        Value phi = LLVMBuildPhi(b, LLVMTypeOf(i), "");
        msl_copy_flags(i, phi);
        return phi;
    }
    Value c = LLVMInstructionClone(i);
    LLVMInsertIntoBuilder(b, c);
    return c;
}

static void connect(Region *r, Value i, Value c) {
    if (LLVMIsAPHINode(i)) {
        for (unsigned k = 0; k < LLVMCountIncoming(i); k++) {
            Value v = copy_of(r, LLVMGetIncomingValue(i, k));
            Block from = copy_of_block(r, LLVMGetIncomingBlock(i, k));
            LLVMAddIncoming(c, &v, &from, 1);
        }
        return;
    }
    for (int k = 0; k < LLVMGetNumOperands(i); k++) {
        Value v = operand(i, k);
        if (!LLVMValueIsBasicBlock(v)) LLVMSetOperand(c, (unsigned)k, copy_of(r, v));
    }
    for (unsigned s = 0; LLVMIsABranchInst(i) && s < LLVMGetNumSuccessors(i); s++)
        LLVMSetSuccessor(c, s, copy_of_block(r, LLVMGetSuccessor(i, s)));
}

// In the copy `from` is `to`, also if the region makes it.
static void assume(Region *r, Value from, Value to) {
    int k = msl_map_get(&r->value_ix, from);
    if (k < 0)
        add_value(r, from, to);
    else
        r->to[k] = to;
}

// Copies the region; `masks` are full in the copy, and no lane has left the loop l, if any, so that
// nothing is kept for those that have.
static void copy_region(Region *r, const Value *masks, unsigned n_masks, const Loop *l) {
    Vec *x = r->x;
    r->to = vec_alloc(x, (size_t)r->n_values + MAX_PARTS, sizeof *r->to);
    for (int k = 0; k < r->n; k++) {
        r->copy[k] = msl_new_block(x, "whole");
        LLVMPositionBuilderAtEnd(x->b, r->copy[k]);
        for (Value i = LLVMGetFirstInstruction(r->old[k]); i; i = LLVMGetNextInstruction(i))
            add_value(r, i, copy_instruction(r, i));
    }
    for (unsigned p = 0; p < n_masks; p++) assume(r, masks[p], msl_full_mask(x));
    for (const PartRun *part = x->part_runs; n_masks == x->parts && part; part = part->following)
        if (inside(r, part->on)) assume(r, part->mask, msl_full_mask(x));
    for (int k = l ? l->first_out : 0; l && k < l->first_out + l->n_out; k++)
        for (int c = 0; c < x->outs[k].n * (int)x->parts; c++) {
            Value acc = x->outs[k].acc[c];
            assume(r, acc, LLVMGetPoison(LLVMTypeOf(acc)));
        }
    for (int k = 0; k < r->n; k++) {
        Value c = LLVMGetFirstInstruction(r->copy[k]);
        for (Value i = LLVMGetFirstInstruction(r->old[k]); i; i = LLVMGetNextInstruction(i)) {
            connect(r, i, c);
            c = LLVMGetNextInstruction(c);
        }
    }
    for (int k = 0; k < r->n; k++) // what is full is done over there
        for (Value i = LLVMGetFirstInstruction(r->old[k]); i; i = LLVMGetNextInstruction(i))
            if (msl_map_get(&x->full_tests, i) > 0) LLVMReplaceAllUsesWith(i, LLVMConstNull(x->i1));
}

// Whether all lanes go on behind the latch, when all came.
static Value all_go_on(Region *r, const Loop *l, const Value *left) {
    Vec *x = r->x;
    const Blk *latch = &x->blocks[l->latch];
    LineTest t;
    if (!msl_line_test(x, LLVMGetCondition(LLVMGetBasicBlockTerminator(latch->old)),
                       latch->succ[0] == l->header, &t))
        return msl_is_full(x, left, x->parts);
    return msl_ask_line(x, &t, copy_of(r, msl_scalar(x, t.line)),
                        copy_of(r, msl_scalar(x, t.bound)), t.rising ? x->lanes - 1 : 0);
}

// Ends a block with a branch on full masks; `all`: whether they are, or NULL.
static void branch_on_full(Vec *x, Block b, const Value *masks, Value all, Block full,
                           Block otherwise) {
    LLVMPositionBuilderAtEnd(x->b, b);
    LLVMBuildCondBr(x->b, all ? all : msl_is_full(x, masks, x->parts), full, otherwise);
}

// The phis of `b` get what they have from `old` from `from` as well, as the copy has it.
static void add_edge(Region *r, Block b, Block old, Block from) {
    for (Value i = LLVMGetFirstInstruction(b); i && LLVMIsAPHINode(i);
         i = LLVMGetNextInstruction(i))
        for (unsigned k = 0; k < LLVMCountIncoming(i); k++)
            if (LLVMGetIncomingBlock(i, k) == old) {
                Value v = copy_of(r, LLVMGetIncomingValue(i, k));
                LLVMAddIncoming(i, &v, &from, 1);
                break;
            }
}

static bool split_loop(Vec *x, const Loop *l) {
    Blk *head = &x->blocks[l->header], *latch = &x->blocks[l->latch];
    Block pre = x->blocks[l->preheader].last, end = x->blocks[l->exit].first;
    Region r;
    if (x->blocks[l->exit].n_pred != 1 || !find_region(x, &r, head->first, end)) return false;
    if (LLVMGetNumSuccessors(LLVMGetBasicBlockTerminator(pre)) != 1) return false;
    const Value *entering = l->divergent ? x->blocks[l->preheader].mask : head->mask;
    copy_region(&r, head->mask, x->parts, l);
    Block copy = copy_of_block(&r, head->first), from = copy_of_block(&r, latch->last);
    LLVMInstructionEraseFromParent(LLVMGetBasicBlockTerminator(pre));
    branch_on_full(x, pre, entering, NULL, copy, head->first);
    if (l->divergent) {
        Value t = LLVMGetBasicBlockTerminator(from), any = LLVMGetCondition(t), left[MAX_PARTS];
        for (unsigned p = 0; p < x->parts; p++) left[p] = copy_of(&r, latch->again[p]);
        Block last = from;
        from = msl_new_block(x, "rest");
        LLVMInstructionEraseFromParent(t);
        LLVMPositionBuilderAtEnd(x->b, last);
        LLVMBuildCondBr(x->b, all_go_on(&r, l, left), copy, from);
        LLVMPositionBuilderAtEnd(x->b, from);
        LLVMBuildCondBr(x->b, any, head->first, end);
        add_edge(&r, head->first, latch->last, from);
    }
    add_edge(&r, end, latch->last, from);
    return true;
}

// The side of a divergent branch.
static bool split_side(Vec *x, int b) {
    Blk *k = &x->blocks[b];
    Block to = x->blocks[msl_taken_side(x, b)].first, end = x->blocks[k->ipdom].first;
    Region r;
    if (x->blocks[k->ipdom].header >= 0 || !find_region(x, &r, to, end)) return false;
    copy_region(&r, k->taken, x->parts, NULL);
    Value t = LLVMGetBasicBlockTerminator(k->last);
    Block ask = msl_new_block(x, "ask");
    for (unsigned s = 0; s < 2; s++)
        if (LLVMGetSuccessor(t, s) == to) LLVMSetSuccessor(t, s, ask);
    branch_on_full(x, ask, k->taken, k->all, copy_of_block(&r, to), to);
    for (int i = 0; i < r.n; i++) add_edge(&r, end, r.old[i], r.copy[i]);
    return true;
}

// One part of a conditional side. Where a step is a threadgroup (tree reductions), whole
// SIMD-groups are on or off, seldom all of them.
static void split_part(Vec *x, const PartRun *part) {
    Region r;
    Value t = LLVMGetBasicBlockTerminator(part->before);
    if (!find_region(x, &r, part->on, part->next)) return;
    copy_region(&r, &part->mask, 1, NULL);
    Block ask = msl_new_block(x, "ask");
    for (unsigned s = 0; s < 2; s++)
        if (LLVMGetSuccessor(t, s) == part->on) LLVMSetSuccessor(t, s, ask);
    LLVMPositionBuilderAtEnd(x->b, ask);
    LLVMBuildCondBr(x->b, part->every, copy_of_block(&r, part->on), part->on);
    for (int i = 0; i < r.n; i++) add_edge(&r, part->next, r.old[i], r.copy[i]);
}

static bool contains_loop(const Vec *x, int b, int end) {
    for (int k = 0; k < x->n_blocks; k++)
        if (x->blocks[k].header >= 0 && msl_dominates(x, b, k) && !msl_dominates(x, end, k))
            return true;
    return false;
}

// A loop with a divergent one in it leaves the work to that.
static bool is_outer(const Vec *x, int l) {
    for (int k = l + 1; k < x->n_loops; k++)
        if (x->loops[k].divergent && msl_in_loop(x, l, x->loops[k].header)) return true;
    return false;
}

void msl_split(Vec *x) {
    bool *done = vec_alloc(x, (size_t)x->n_loops + 1, sizeof *done);
    for (int l = 0; l < x->n_loops; l++) { // outer ones first
        const Loop *loop = &x->loops[l];
        bool partial = loop->divergent || x->blocks[loop->header].mask_id != 0;
        done[l] = loop->parent >= 0 && done[loop->parent];
        if (!done[l] && partial && !is_outer(x, l)) done[l] = split_loop(x, loop);
    }
    for (int b = 0; b < x->n_blocks; b++) {
        const Blk *k = &x->blocks[b];
        if (k->n_succ != 2 || !k->divergent || k->latch >= 0 || k->flat) continue;
        if (k->loop >= 0 && done[k->loop]) continue;
        int side = msl_taken_side(x, b);
        if (!contains_loop(x, side, k->ipdom)) split_side(x, b);
    }
    for (const PartRun *part = x->part_runs; part; part = part->following) split_part(x, part);
}
