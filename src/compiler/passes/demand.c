// SPDX-License-Identifier: Apache-2.0
// demand.c: a cost model: register pressure and code size of one vector of a thread function.
//   purpose   codegen/plan.c chooses the number of threads of a step by it, before any emission
//   idea      loop-carried vectors are the loop's divergent phis; the number of instructions is
//             estimated from what each scalar instruction becomes
#include "compiler/passes/passes_int.h"

// What only runs when validation has found something.
static bool is_slow_path(Block b) {
    for (Value i = LLVMGetFirstInstruction(b); i; i = LLVMGetNextInstruction(i))
        if (starts_with(callee_of(i), "ingot_slow") || starts_with(callee_of(i), "ingot_report"))
            return true;
    return false;
}

static unsigned registers_of(const Vec *x, Type vector) {
    return (unsigned)((LLVMABISizeOfType(x->dl, vector) + 63) / 64);
}

// Of the leaves of a value that differs by lane.
static unsigned carried_by(Vec *x, Value phi, int n, MslDemand *d) {
    unsigned registers = 0;
    for (int leaf = 0; leaf < n; leaf++) {
        Type t = msl_leaf_type(LLVMTypeOf(phi), leaf);
        if (t == x->i1) d->divergent = true;
        registers += registers_of(x, msl_vector_type(x, t));
    }
    return registers;
}

// What loop l carries from one iteration to the next.
static unsigned carried(Vec *x, const Loop *l, MslDemand *d) {
    unsigned registers = 0;
    for (Value i = LLVMGetFirstInstruction(x->blocks[l->header].old); LLVMIsAPHINode(i);
         i = LLVMGetNextInstruction(i)) {
        const Val *o = msl_val(x, i);
        if (o->c.kind != VARYING) continue;
        if (msl_is_packed_phi(x, i, l->header))
            registers += registers_of(
                x, LLVMVectorType(LLVMGetElementType(LLVMTypeOf(i)), (unsigned)o->n * x->width));
        else
            registers += carried_by(x, i, o->n, d);
    }
    if (!l->divergent) return registers;
    d->divergent = true;
    registers += registers_of(x, x->mask_type);
    for (int k = l->first_out; k < l->first_out + l->n_out; k++)
        registers += carried_by(x, x->outs[k].phi, x->outs[k].n, d);
    return registers;
}

static bool is_texture_call(Value i) {
    Op op = LLVMIsACallInst(i) ? msl_builtin_of(i).op : OP_NONE;
    return (op >= OP_TEX_SAMPLE && op <= OP_RAY_MATRIX) || op == OP_OBSERVE;
}

// Whether the part of the code that a divergent branch leads to reads or writes what differs by
// lane: split.c makes a copy of it for full masks then. (Of textures there is nothing to gain.)
static bool is_split(Vec *x, int branch) {
    int side = msl_taken_side(x, branch);
    bool accesses = false;
    for (int b = side; b < x->n_blocks; b++) {
        if (!msl_dominates(x, side, b)) continue;
        for (Value i = LLVMGetFirstInstruction(x->blocks[b].old); i; i = LLVMGetNextInstruction(i))
            if (is_texture_call(i))
                return false;
            else if (LLVMIsALoadInst(i) || LLVMIsAStoreInst(i))
                accesses |= !msl_uniform(x, operand(i, LLVMIsAStoreInst(i) != NULL));
    }
    return accesses;
}

// What the two copies of such a part hand on to where they meet.
static unsigned joined(Vec *x, int branch, MslDemand *d) {
    const Blk *k = &x->blocks[branch];
    unsigned registers = 0;
    if (k->n_succ != 2 || !k->divergent || k->flat || k->latch >= 0 || !x->asked.split) return 0;
    Value i = LLVMGetFirstInstruction(x->blocks[k->ipdom].old);
    if (!LLVMIsAPHINode(i) || !is_split(x, branch)) return 0;
    for (; LLVMIsAPHINode(i); i = LLVMGetNextInstruction(i)) {
        const Val *o = msl_val(x, i);
        if (o->c.kind == VARYING) registers += carried_by(x, i, o->n, d);
    }
    return registers;
}

// An opaque call: one call per lane, with its results collected in a loop.
static bool is_called_by_lane(Value i) {
    const char *name = callee_of(i);
    if (!LLVMIsACallInst(i) || msl_is_dropped(name) || msl_builtin_of(i).op != OP_NONE)
        return false;
    if (!starts_with(name, "llvm.")) return !starts_with(name, "ingot_live");
    return !msl_is_elementwise(name) && !starts_with(name, "llvm.vector.reduce");
}

// A loop over lanes, or over what lanes have in common: it carries the results.
static bool is_done_in_rounds(Vec *x, Value i) {
    if (LLVMIsAAtomicRMWInst(i)) return !msl_uniform(x, operand(i, 0));
    return is_called_by_lane(i) || (is_texture_call(i) && !msl_uniform(x, operand(i, 0)));
}

// Instructions that an access becomes, and what it means for steps of several vectors.
static unsigned cost_of_access(Vec *x, Value i, bool some, MslDemand *d) {
    enum { IN_LINE = 6, SCATTERED = 14, BY_LANE = 55 }; // for each element
    bool store = LLVMIsAStoreInst(i) != NULL;
    Class c = msl_class(x, operand(i, store));
    unsigned n = (unsigned)msl_leaves(LLVMTypeOf(store ? operand(i, 0) : i));
    if (c.kind == LINEAR && !c.stride && !c.segmented) return 1;
    d->loads += !store;
    if (msl_copies_by_lane(x, i, some)) {
        d->refuses = true;
        return BY_LANE * n;
    }
    return (c.kind == LINEAR ? IN_LINE : SCATTERED) * n;
}

// Instructions that a scalar one becomes. The numbers are rounded from a fit to what emission made
// of 500 kernels, of which half had 0.9 to 1.7 times as many as the fit says.
static unsigned cost_of(Vec *x, Value i, const Blk *k, bool some, MslDemand *d) {
    enum { BRANCH = 14 }; // masks, and the question whether a lane is left
    const Val *o = msl_val(x, i);
    LLVMOpcode op = LLVMGetInstructionOpcode(i);
    if (op == LLVMLoad || op == LLVMStore) return cost_of_access(x, i, some, d);
    if (op == LLVMBr) return k->divergent ? BRANCH : 1;
    if (o && o->c.kind != VARYING) return msl_n_bases(x, o->c);
    return (o ? (unsigned)o->n : 1) * (op == LLVMCall ? 2 : 1);
}

// `some`: the function is for some lanes.
static void count(Vec *x, MslDemand *d, bool some) {
    d->loads = 0; // of the last copy, the fast one
    for (int b = 0; b < x->n_blocks; b++) {
        const Blk *k = &x->blocks[b];
        if (is_slow_path(k->old)) continue;
        for (Value i = LLVMGetFirstInstruction(k->old); i; i = LLVMGetNextInstruction(i)) {
            const Val *o = msl_val(x, i);
            d->instructions += cost_of(x, i, k, some || k->mask_id != 0, d);
            d->refuses |= msl_is_locked(x, i) || LLVMIsAAllocaInst(i);
            d->calls |= is_texture_call(i);
            if (!is_done_in_rounds(x, i) || (o && o->c.kind != VARYING)) continue;
            unsigned registers = o ? carried_by(x, i, o->n, d) : 0;
            if (registers > d->registers) d->registers = registers;
            d->calls = true;
        }
    }
}

static void measure(Vec *x, MslDemand *d, bool some) {
    msl_find_live_outs(x);
    for (int l = 0; l < x->n_loops; l++) {
        unsigned registers = carried(x, &x->loops[l], d);
        if (registers > d->registers) d->registers = registers;
    }
    for (int b = 0; b < x->n_blocks; b++) {
        unsigned registers = joined(x, b, d);
        if (registers > d->registers) d->registers = registers;
    }
    count(x, d, some);
}

static Value measure_copies(Vec *x, void *context) {
    MslDemand *d = context;
    msl_prepare_once(x);
    msl_plan_positions(x);
    msl_analyse(x);
    d->clamps = msl_wants_copies(x);
    measure(x, d, d->clamps || !x->asked.whole);
    if (d->clamps) {
        x->assume = true;
        msl_analyse(x);
        measure(x, d, !x->asked.whole);
    }
    msl_remark_all(x);
    return NULL;
}

MslDemand msl_measure_demand(MslContext *cx, LLVMValueRef thread, const MslVersion *version) {
    MslDemand d = {0};
    msl_with_vec(cx, thread, version, measure_copies, &d);
    return d;
}
