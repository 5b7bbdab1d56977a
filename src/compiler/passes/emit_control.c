// SPDX-License-Identifier: Apache-2.0
// emit_control.c: blocks, branches, masks and phis of the vector function.
// Requires: classes. The CFG stays; a divergent branch becomes "is any lane left for the taken
// side", a divergent loop runs while any lane goes on. Masks:
//   after a divergent branch   taken side: mask and condition; join: the mask of the branch
//   header of a divergent loop phi of the preheader's mask and the lanes that go on
//   after a loop               the preheader's mask: every lane that entered has left
// Values that leave a divergent loop are kept for each lane when it leaves (LiveOut); phis at
// divergent joins blend along the chain of dominators; header phis need no blend.
#include "compiler/passes/passes_int.h"

enum { FLAT_INSTRUCTIONS = 12 };

static bool harmless(Value i) {
    switch (LLVMGetInstructionOpcode(i)) {
    case LLVMLoad:
    case LLVMStore:
    case LLVMUDiv:
    case LLVMSDiv:
    case LLVMURem:
    case LLVMSRem:
    case LLVMAlloca:
    case LLVMPHI:
    case LLVMAtomicRMW:
    case LLVMAtomicCmpXchg:
    case LLVMFence:
    case LLVMFDiv:
    case LLVMFRem: return false;
    case LLVMCall: {
        const char *n = callee_of(i);
        return msl_is_dropped(n) || (msl_is_elementwise(n) && !starts_with(n, "llvm.sqrt"));
    }
    default: return true;
    }
}

// A divergent branch around a few harmless instructions is no branch at all.
void msl_find_flat(Vec *x) {
    for (int b = 0; b < x->n_blocks; b++) {
        Blk *k = &x->blocks[b];
        if (k->n_succ != 2 || !k->divergent || k->latch >= 0) continue;
        const Blk *t = &x->blocks[msl_taken_side(x, b)];
        int n = 0;
        bool ok = t->n_succ == 1 && t->succ[0] == k->ipdom && t->n_pred == 1;
        for (Value i = LLVMGetFirstInstruction(t->old); ok && LLVMGetNextInstruction(i);
             i = LLVMGetNextInstruction(i))
            ok = harmless(i) && ++n <= FLAT_INSTRUCTIONS;
        k->flat = ok;
    }
}

static Value block_mask(Vec *x, int b, unsigned p) {
    const Blk *k = &x->blocks[b], *d = &x->blocks[k->idom];
    if (b == 0 && x->whole) return msl_full_mask(x);
    if (b == 0) return msl_part(x, LLVMGetLastParam(x->f), p * x->width, x->width);
    if (k->header >= 0 && x->loops[k->header].divergent)
        return LLVMBuildPhi(x->b, x->mask_type, "live");
    if (k->exit >= 0 && k->idom == x->loops[k->exit].latch)
        return x->blocks[x->loops[k->exit].preheader].mask[p];
    if (d->n_succ == 2 && d->divergent && d->latch < 0 && msl_taken_side(x, k->idom) == b)
        return d->taken[p];
    return d->mask[p];
}

static void keep_live_outs(Vec *x, const Loop *l, Value leave) { // of this part
    for (int i = l->first_out; i < l->first_out + l->n_out; i++) {
        LiveOut *out = &x->outs[i];
        for (int c = 0; c < out->n; c++) {
            int at = (int)x->part * out->n + c;
            Value v = msl_vector(x, LLVMGetIncomingValue(out->phi, 0), c);
            out->next[at] = LLVMBuildSelect(x->b, leave, v, out->acc[at], "");
        }
    }
}

// At the exit. A phi here too: all that is used behind a loop, masks as well, passes through its
// exit, where split.c lets the other copy of the loop in.
static void take_live_outs(Vec *x, const Loop *l) {
    for (int i = l->first_out; i < l->first_out + l->n_out; i++) {
        const LiveOut *out = &x->outs[i];
        Val *o = msl_val(x, out->phi);
        for (int c = 0; c < out->n * (int)x->parts; c++) {
            o->all[c] = LLVMBuildPhi(x->b, LLVMTypeOf(out->next[c]), "");
            LLVMAddIncoming(o->all[c], &out->next[c], &x->blocks[l->latch].last, 1);
        }
    }
}

bool msl_line_test(Vec *x, Value c, bool if_true, LineTest *t) {
    if (!LLVMIsAICmpInst(c)) return false;
    LLVMIntPredicate p = LLVMGetICmpPredicate(c);
    if (!if_true) p = opposite(p);
    if (p == LLVMIntEQ || p == LLVMIntNE) return false;
    bool less = p == LLVMIntULT || p == LLVMIntULE || p == LLVMIntSLT || p == LLVMIntSLE;
    Class a = msl_class(x, operand(c, 0));
    *t = (LineTest){operand(c, 0), operand(c, 1), p, a.stride, (a.stride > 0) == less};
    return a.kind == LINEAR && a.stride && !a.segmented && (p >= LLVMIntSGT ? a.nsw : a.nuw) &&
           msl_uniform(x, t->bound);
}

Value msl_ask_line(Vec *x, const LineTest *t, Value first, Value bound, unsigned lane) {
    Value ahead = const_int(LLVMTypeOf(first), t->stride * (int64_t)lane);
    return LLVMBuildICmp(x->b, t->predicate, LLVMBuildAdd(x->b, first, ahead, ""), bound, "");
}

static bool condition_test(Vec *x, const Blk *k, int to, LineTest *t) {
    return msl_line_test(x, LLVMGetCondition(LLVMGetBasicBlockTerminator(k->old)), k->succ[0] == to,
                         t);
}

// Where a line of numbers is compared with one number and all lanes are there, one lane answers
// for a part, without a mask. Whether any lane is on the taken side; NULL: it is not so.
static Value ask_lines(Vec *x, Blk *k, int to) {
    LineTest t;
    bool whole = x->whole;
    for (unsigned p = 0; p < x->parts; p++) {
        k->any[p] = NULL;
        whole &= k->mask[p] == msl_full_mask(x);
    }
    k->all = NULL;
    if (!whole || !condition_test(x, k, to, &t)) return NULL;
    Value first = msl_scalar(x, t.line), bound = msl_scalar(x, t.bound);
    unsigned last = x->lanes - 1;
    for (unsigned p = 0; x->parts > 1 && p < x->parts; p++) {
        unsigned low = p * x->width, high = low + x->width - 1;
        k->any[p] = msl_ask_line(x, &t, first, bound, t.rising ? low : high);
        k->every[p] = msl_ask_line(x, &t, first, bound, t.rising ? high : low);
    }
    k->all = msl_ask_line(x, &t, first, bound, t.rising ? last : 0);
    return msl_ask_line(x, &t, first, bound, t.rising ? 0 : last);
}

// Blocks in which lane 0 is active, whenever they run: conditions that hold from the first lane on
// keep it.
static void find_leads(Vec *x) {
    for (int b = 0; b < x->n_blocks; b++) {
        Blk *k = &x->blocks[b], *d = &x->blocks[k->idom];
        LineTest t;
        k->lead = b ? d->lead : x->whole;
        if (!b) continue;
        if (k->header >= 0 && x->loops[k->header].divergent) {
            const Blk *latch = &x->blocks[x->loops[k->header].latch];
            k->lead = x->blocks[x->loops[k->header].preheader].lead &&
                      latch->mask_id == k->mask_id && condition_test(x, latch, b, &t) && t.rising;
        } else if (k->exit >= 0 && k->idom == x->loops[k->exit].latch) {
            k->lead = x->blocks[x->loops[k->exit].preheader].lead;
        } else if (d->n_succ == 2 && d->divergent && d->latch < 0 &&
                   msl_taken_side(x, k->idom) == b) {
            k->lead = d->lead && condition_test(x, d, b, &t) && t.rising;
        }
    }
}

static void emit_terminator(Vec *x, int b) {
    msl_at_line_of(x, LLVMGetBasicBlockTerminator(x->blocks[b].old));
    Blk *bl = x->blocks, *k = &bl[b];
    Value t = LLVMGetBasicBlockTerminator(k->old);
    if (k->n_succ == 0) {
        LLVMBuildRetVoid(x->b);
        return;
    }
    if (k->n_succ == 1) {
        LLVMBuildBr(x->b, bl[k->succ[0]].first);
        return;
    }
    if (!k->divergent) {
        LLVMBuildCondBr(x->b, msl_scalar(x, LLVMGetCondition(t)), bl[k->succ[0]].first,
                        bl[k->succ[1]].first);
        return;
    }
    const Loop *l = k->latch >= 0 ? &x->loops[k->latch] : NULL;
    int to = l ? l->header : msl_taken_side(x, b), other = l ? l->exit : k->ipdom;
    Value any = NULL, line = l ? NULL : ask_lines(x, k, to);
    for (unsigned p = 0; p < x->parts; p++) {
        msl_set_part(x, p);
        Value c = msl_vector(x, LLVMGetCondition(t), 0), not_c = LLVMBuildNot(x->b, c, "");
        if (k->succ[0] != to) {
            Value swap = c;
            c = not_c;
            not_c = swap;
        }
        Value m = msl_mask_and(x, x->mask, c);
        if (l) {
            k->again[p] = m;
            keep_live_outs(x, l, msl_mask_and(x, x->mask, not_c));
        } else {
            k->taken[p] = m;
        }
        if (!line) any = any ? LLVMBuildOr(x->b, any, m, "") : m;
    }
    if (k->flat)
        LLVMBuildBr(x->b, bl[to].first);
    else
        LLVMBuildCondBr(x->b, line ? line : msl_any(x, any), bl[to].first, bl[other].first);
}

// Value of phi i on the edge from block p, blended with what lanes that came earlier brought: the
// predecessors of a join form a chain of dominators. g: segment of a linear phi; c: leaf otherwise.
static Value edge_value(Vec *x, Value i, Val *o, int b, int p, int c, unsigned g) {
    const Blk *bl = x->blocks, *k = &bl[b];
    int up = -1;
    for (int q = 0; q < k->n_pred; q++) {
        int y = k->pred[q];
        if (y != p && msl_dominates(x, y, p) && (up < 0 || msl_dominates(x, up, y))) up = y;
    }
    Value v = NULL;
    for (unsigned q = 0; q < LLVMCountIncoming(i); q++)
        if (LLVMGetIncomingBlock(i, q) == bl[p].old) v = LLVMGetIncomingValue(i, q);
    bool join = up >= 0 && k->header < 0 && bl[up].mask_id != bl[p].mask_id;
    if (join && LLVMIsUndef(v)) return edge_value(x, i, o, b, up, c, g);
    if (o->c.kind != VARYING) return msl_scalar_of(x, v, g);
    if (!join) return msl_vector(x, v, c);
    Value before = edge_value(x, i, o, b, up, c, g);
    return LLVMBuildSelect(x->b, bl[p].mask[x->part], msl_vector(x, v, c), before, "");
}

// ---- packed phis ----

// Whether the way from block p to b brings lanes beside others that came before.
static bool blends(Vec *x, int b, int p) {
    const Blk *bl = x->blocks, *k = &bl[b];
    for (int q = 0; q < k->n_pred && k->header < 0; q++)
        if (k->pred[q] != p && bl[k->pred[q]].mask_id != bl[p].mask_id) return true;
    return false;
}

// Vectors of the program that are packed on every way stay so (emit_packed.c): sums of a loop need
// no shuffles.
bool msl_is_packed_phi(Vec *x, Value i, int b) {
    enum { DEPTH = 5 };
    Val *o = LLVMIsAPHINode(i) ? msl_val(x, i) : NULL;
    if (!o || !is_vector(LLVMTypeOf(i)) || o->c.kind != VARYING || (o->n != 2 && o->n != 4) ||
        msl_map_get(&x->out_ix, i) >= 0 || !(x->cx->avx2 || x->cx->avx512))
        return false;
    for (int p = 0; p < x->blocks[b].n_pred; p++)
        if (blends(x, b, x->blocks[b].pred[p])) return false;
    return msl_may_pack(x, i, DEPTH);
}

static void begin_packed_phi(Vec *x, Value i) {
    Val *o = msl_val(x, i);
    Type t = LLVMVectorType(LLVMGetElementType(LLVMTypeOf(i)), (unsigned)o->n * x->width);
    o->packed = vec_alloc(x, x->parts, sizeof *o->packed);
    for (unsigned p = 0; p < x->parts; p++) o->packed[p] = LLVMBuildPhi(x->b, t, "packed");
}

// The components, for those who want them.
static void unpack_phis(Vec *x, const Blk *k) {
    for (Value i = LLVMGetFirstInstruction(k->old); i && LLVMIsAPHINode(i);
         i = LLVMGetNextInstruction(i)) {
        Val *o = msl_val(x, i);
        for (unsigned p = 0; o && o->packed && p < x->parts; p++)
            msl_unpack(x, o->packed[p], o->n, o->all + (size_t)p * (size_t)o->n);
    }
}

static void finish_packed_phi(Vec *x, Value i, int b) {
    Val *o = msl_val(x, i);
    const Blk *k = &x->blocks[b];
    for (int p = 0; p < k->n_pred; p++) {
        Blk *q = &x->blocks[k->pred[p]];
        if (q->flat && q->ipdom == b) continue;
        LLVMPositionBuilderBefore(x->b, LLVMGetBasicBlockTerminator(q->last));
        for (unsigned part = 0; part < x->parts; part++) {
            Value v = NULL;
            for (unsigned e = 0; e < LLVMCountIncoming(i); e++)
                if (LLVMGetIncomingBlock(i, e) == q->old) v = LLVMGetIncomingValue(i, e);
            x->part = part;
            v = msl_pack(x, v);
            LLVMAddIncoming(o->packed[part], &v, &q->last, 1);
        }
    }
}

static void finish_phi(Vec *x, Value i, int b) {
    Val *o = msl_val(x, i);
    if (o->packed) {
        finish_packed_phi(x, i, b);
        return;
    }
    const Blk *k = &x->blocks[b];
    bool scalar = o->c.kind != VARYING;
    int n = scalar ? (int)msl_n_bases(x, o->c) : o->n * (int)x->parts;
    for (int p = 0; p < k->n_pred; p++) {
        Blk *q = &x->blocks[k->pred[p]];
        if (q->flat && q->ipdom == b) continue; // that edge is gone
        LLVMPositionBuilderBefore(x->b, LLVMGetBasicBlockTerminator(q->last));
        for (int c = 0; c < n; c++) {
            x->part = scalar ? 0 : (unsigned)(c / o->n);
            Value v =
                edge_value(x, i, o, b, k->pred[p], scalar ? 0 : c % o->n, scalar ? (unsigned)c : 0);
            LLVMAddIncoming(scalar ? o->base[c] : o->all[c], &v, &q->last, 1);
        }
    }
}

static void finish_phis(Vec *x) {
    for (int b = 0; b < x->n_blocks; b++) {
        Blk *k = &x->blocks[b];
        if (k->header >= 0 && x->loops[k->header].divergent) {
            const Loop *l = &x->loops[k->header];
            Blk *pre = &x->blocks[l->preheader], *latch = &x->blocks[l->latch];
            Block from[] = {pre->last, latch->last};
            for (unsigned p = 0; p < x->parts; p++)
                LLVMAddIncoming(k->mask[p], (Value[]){pre->mask[p], latch->again[p]}, from, 2);
            for (int i = l->first_out; i < l->first_out + l->n_out; i++)
                for (int c = 0; c < x->outs[i].n * (int)x->parts; c++) {
                    Value v[] = {LLVMGetPoison(LLVMTypeOf(x->outs[i].acc[c])), x->outs[i].next[c]};
                    LLVMAddIncoming(x->outs[i].acc[c], v, from, 2);
                }
        }
        for (Value i = LLVMGetFirstInstruction(k->old); i && LLVMIsAPHINode(i);
             i = LLVMGetNextInstruction(i))
            if (msl_map_get(&x->out_ix, i) < 0) finish_phi(x, i, b);
    }
}

// Phis of divergent loops' exits whose value comes from inside: one accumulator for each lane.
void msl_find_live_outs(Vec *x) {
    int n = 0;
    for (int l = 0; l < x->n_loops; l++)
        if (x->loops[l].divergent)
            for (Value i = LLVMGetFirstInstruction(x->blocks[x->loops[l].exit].old);
                 i && LLVMIsAPHINode(i); i = LLVMGetNextInstruction(i))
                n++;
    x->outs = vec_alloc(x, (size_t)n, sizeof *x->outs);
    x->n_outs = 0;
    for (int k = 0; k < x->n_loops; k++) {
        Loop *l = &x->loops[k];
        l->first_out = x->n_outs;
        l->n_out = 0;
        if (!l->divergent) continue;
        for (Value i = LLVMGetFirstInstruction(x->blocks[l->exit].old); i && LLVMIsAPHINode(i);
             i = LLVMGetNextInstruction(i)) {
            Value v = LLVMGetIncomingValue(i, 0);
            Val *o = msl_val(x, i);
            if (o->c.kind != VARYING || !LLVMIsAInstruction(v) ||
                !msl_in_loop(x, k, msl_block_ix(x, LLVMGetInstructionParent(v))))
                continue;
            LiveOut *out = &x->outs[x->n_outs];
            *out = (LiveOut){.phi = i, .n = o->n};
            out->acc = vec_alloc(x, (size_t)o->n * x->parts, sizeof *out->acc);
            out->next = vec_alloc(x, (size_t)o->n * x->parts, sizeof *out->next);
            msl_map_put(x->cx, &x->arena, &x->out_ix, i, x->n_outs++);
            l->n_out++;
        }
    }
}

// ---- part by part ----
// Under divergence most parts of a step may have no lane left. A block with real work is then
// emitted part by part, each behind a branch on its own mask, uniform instructions first.

static bool is_varying(Vec *x, Value i) {
    Val *o = msl_val(x, i);
    return o ? o->c.kind == VARYING : LLVMIsAStoreInst(i) || LLVMIsACallInst(i);
}

static bool part_by_part(Vec *x, int b) {
    const Blk *k = &x->blocks[b], *d = &x->blocks[k->idom];
    if (x->parts == 1 || k->mask_id == 0 || (d->flat && msl_taken_side(x, k->idom) == b))
        return false;
    bool work = false, written = false;
    int n = 0;
    for (Value i = LLVMGetFirstInstruction(k->old); i != LLVMGetBasicBlockTerminator(k->old);
         i = LLVMGetNextInstruction(i)) {
        LLVMOpcode op = LLVMGetInstructionOpcode(i);
        if (op == LLVMPHI || (op == LLVMCall && msl_is_dropped(callee_of(i)))) continue;
        bool varying = is_varying(x, i), memory = op == LLVMLoad || op == LLVMStore ||
                                                  op == LLVMAtomicRMW || op == LLVMAtomicCmpXchg;
        if (op == LLVMFence || op == LLVMAlloca ||
            (op == LLVMStore && msl_uniform(x, operand(i, 1))))
            return false;
        if (op == LLVMCall && msl_builtin_of(i).op != OP_NONE &&
            msl_builtin_of(i).op != OP_POSITION)
            return false;
        if (memory && !varying && written)
            return false; // a uniform load must stay behind the stores
        written |= varying && ((memory && op != LLVMLoad) || op == LLVMCall);
        work |= varying && (memory || !harmless(i));
        n += varying;
    }
    return work || n > FLAT_INSTRUCTIONS;
}

// A clamped index also where nothing but an address is made of it (emit_clamped.c).
static bool used_elsewhere(Value i) {
    if (is_min_max(i)) return true;
    Block b = LLVMGetInstructionParent(i);
    for (LLVMUseRef u = LLVMGetFirstUse(i); u; u = LLVMGetNextUse(u)) {
        Value user = LLVMGetUser(u);
        if (LLVMGetInstructionParent(user) != b || LLVMIsAPHINode(user) ||
            LLVMIsATerminatorInst(user))
            return true;
    }
    return false;
}

// The mask of a part anew, where it is used: its parts are seldom all needed. NULL: it is no line.
static Value fresh_mask(Vec *x, const Blk *d, int to, unsigned p) {
    LineTest t;
    if (!condition_test(x, d, to, &t)) return NULL;
    x->part = p;
    return LLVMBuildICmp(x->b, t.predicate, msl_vector(x, t.line, 0), msl_vector(x, t.bound, 0),
                         "");
}

static void remember_part(Vec *x, PartRun run) {
    PartRun *kept = vec_alloc(x, 1, sizeof *kept);
    *kept = run;
    kept->following = x->part_runs;
    x->part_runs = kept;
}

static void emit_part_by_part(Vec *x, Blk *k) {
    Value end = LLVMGetBasicBlockTerminator(k->old), begin = LLVMGetFirstInstruction(k->old);
    for (Value i = begin; i != end; i = LLVMGetNextInstruction(i)) {
        bool phi = LLVMIsAPHINode(i);
        if (msl_map_get(&x->out_ix, i) < 0 && (phi || !is_varying(x, i)))
            msl_emit_instruction(x, i);
    }
    for (unsigned p = 0; p < x->parts; p++) {
        Block before = LLVMGetInsertBlock(x->b), on = msl_new_block(x, "part"),
              next = msl_new_block(x, "next");
        const Blk *d = &x->blocks[k->idom];
        Value any = k->mask[p] == d->taken[p] ? d->any[p] : NULL;
        LLVMBuildCondBr(x->b, any ? any : msl_any(x, k->mask[p]), on, next);
        LLVMPositionBuilderAtEnd(x->b, on);
        Value mask = k->mask[p], fresh = any ? fresh_mask(x, d, (int)(k - x->blocks), p) : NULL;
        if (fresh) k->mask[p] = fresh;
        if (fresh) remember_part(x, (PartRun){before, on, next, fresh, d->every[p], NULL});
        x->part_on = true;
        for (Value i = begin; i != end; i = LLVMGetNextInstruction(i))
            if (!LLVMIsAPHINode(i) && is_varying(x, i)) msl_emit_part(x, i, p);
        x->part_on = false;
        k->mask[p] = mask;
        Block last = LLVMGetInsertBlock(x->b);
        LLVMBuildBr(x->b, next);
        LLVMPositionBuilderAtEnd(x->b, next);
        for (Value i = begin; i != end; i = LLVMGetNextInstruction(i)) {
            Val *o = msl_val(x, i);
            if (o) o->packed = NULL; // made behind the branch
            if (!o || LLVMIsAPHINode(i) || !is_varying(x, i) || !used_elsewhere(i)) continue;
            for (int c = 0; c < o->n; c++) {
                Value *v = &o->all[(int)p * o->n + c],
                      join = LLVMBuildPhi(x->b, LLVMTypeOf(*v), "");
                LLVMAddIncoming(join, (Value[]){LLVMGetPoison(LLVMTypeOf(*v)), *v},
                                (Block[]){before, last}, 2);
                *v = join;
            }
        }
    }
}

void msl_emit_body(Vec *x) {
    msl_find_live_outs(x);
    find_leads(x);
    for (int b = 0; b < x->n_blocks; b++) x->blocks[b].first = msl_new_block(x, "");
    for (int b = 0; b < x->n_blocks; b++) {
        Blk *k = &x->blocks[b];
        LLVMPositionBuilderAtEnd(x->b, k->first);
        if (!b) msl_begin_helpers(x);
        for (unsigned p = 0; p < x->parts; p++) k->mask[p] = block_mask(x, b, p);
        x->masks = k->mask;
        x->lead = k->lead;
        x->started = k->mask_id == 0;
        const Loop *l = k->header >= 0 ? &x->loops[k->header] : NULL;
        for (int i = l ? l->first_out : 0; l && i < l->first_out + l->n_out; i++)
            for (int c = 0; c < x->outs[i].n * (int)x->parts; c++) {
                Type t = msl_leaf_type(LLVMTypeOf(x->outs[i].phi), c % x->outs[i].n);
                x->outs[i].acc[c] = LLVMBuildPhi(x->b, msl_vector_type(x, t), "out");
            }
        if (k->exit >= 0) take_live_outs(x, &x->loops[k->exit]);
        Value end = LLVMGetBasicBlockTerminator(k->old);
        bool by_part = part_by_part(x, b), phis = true;
        if (by_part) emit_part_by_part(x, k);
        for (Value i = LLVMGetFirstInstruction(k->old); !by_part; i = LLVMGetNextInstruction(i)) {
            if (phis && !LLVMIsAPHINode(i)) {
                unpack_phis(x, k);
                phis = false;
            }
            if (i == end) break;
            if (msl_is_packed_phi(x, i, b))
                begin_packed_phi(x, i);
            else if (msl_map_get(&x->out_ix, i) < 0 && !msl_is_late(x, i))
                msl_emit_instruction(x, i);
        }
        msl_emit_count(x, k);
        emit_terminator(x, b);
        k->last = LLVMGetInsertBlock(x->b);
    }
    finish_phis(x);
}
