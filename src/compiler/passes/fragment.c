// SPDX-License-Identifier: Apache-2.0
// fragment.c: 8x8 matrices of a SIMD-group are taken from its lanes and kept as rows.
// Purpose: a thread holds two elements of a matrix; a machine wants rows of it in registers. What
//   the SIMD-group as a whole holds is one value for all its lanes: here each matrix becomes a
//   uniform <64 x T>, its rows one after the other, from load over products and loops to store.
//   Lanes are made of it only where the program looks at its own elements (thread_elements()), and
//   rows of lanes only where it wrote them.
// Requires: prepared and analysed: pairs are two scalars (scalarizer), phis know their loops.
// Preserves: values, and the order of memory accesses. A phi where lanes come by different ways
//   stays one of pairs: no value of all lanes exists there.
#include "compiler/passes/passes_int.h"
#include <stdio.h>

enum { N = MATRIX_ELEMENTS };

typedef struct Pair {
    Value e[2];
} Pair;

// A pair of phis, and the phi of rows in its place.
typedef struct Joined {
    Pair old;
    Value rows;
    struct Joined *next;
} Joined;

// Rows made of a pair that some other code computed, for the block that asked.
typedef struct Made {
    Pair of;
    Block in;
    Value rows;
    struct Made *next;
} Made;

typedef struct Fragments {
    Vec *x;
    Map at; // of a call in `calls`, by the call
    Value *calls, *rows;
    int n, room;
    Joined *joined;
    Made *made;
} Fragments;

static Type rows_type(Type element) { return LLVMVectorType(element, N); }

static const char *suffix(Type element) {
    LLVMTypeKind k = LLVMGetTypeKind(element);
    return k == LLVMHalfTypeKind ? "f16" : k == LLVMBFloatTypeKind ? "bf16" : "f32";
}

// A call of a function without effects but those of its name.
static Value call(Vec *x, const char *name, Type element, Type result, Value *args, unsigned n,
                  bool pure) {
    char full[64];
    Type types[4];
    for (unsigned k = 0; k < n; k++) types[k] = LLVMTypeOf(args[k]);
    snprintf(full, sizeof full, "%s%s", name, suffix(element));
    Type t = LLVMFunctionType(result, types, n, 0);
    Value f = LLVMGetNamedFunction(x->module, full);
    if (!f) {
        f = LLVMAddFunction(x->module, full, t);
        const char *kinds[] = {"nounwind", "willreturn", "memory"};
        for (int k = 0; k < (pure ? 3 : 1); k++) {
            unsigned kind = LLVMGetEnumAttributeKindForName(kinds[k], strlen(kinds[k]));
            LLVMAddAttributeAtIndex(f, LLVMAttributeFunctionIndex,
                                    LLVMCreateEnumAttribute(x->llvm, kind, 0));
        }
    }
    return LLVMBuildCall2(x->b, t, f, args, n, "");
}

// ---- where a pair comes from ----

static bool element_of(Value v, int k, Value *e) {
    int64_t at;
    for (; LLVMIsAInsertElementInst(v); v = operand(v, 0)) {
        if (!get_const(operand(v, 2), &at)) return false;
        if (at == k) {
            *e = operand(v, 1);
            return true;
        }
    }
    if (LLVMIsAConstant(v)) *e = LLVMGetAggregateElement(v, (unsigned)k);
    return LLVMIsAConstant(v) && *e;
}

// The call of ours that both elements are taken from, in order.
static Value call_behind(Fragments *g, Pair p) {
    int64_t at;
    for (int k = 0; k < 2; k++)
        if (!LLVMIsAExtractElementInst(p.e[k]) || operand(p.e[k], 0) != operand(p.e[0], 0) ||
            !get_const(operand(p.e[k], 1), &at) || at != k)
            return NULL;
    Value c = operand(p.e[0], 0);
    return msl_map_get(&g->at, c) < 0 ? NULL : c;
}

static bool is_constant(Value v) {
    return LLVMIsAConstantFP(v) || LLVMIsUndef(v) || LLVMIsPoison(v);
}

// Do all lanes that are here come the same way, so that one value stands for all?
static bool one_way(Vec *x, Value phi) {
    const Blk *k = &x->blocks[msl_block_ix(x, LLVMGetInstructionParent(phi))];
    if (k->exit >= 0 && x->loops[k->exit].divergent) return false;
    if (k->header >= 0) return true;
    for (int p = 1; p < k->n_pred; p++)
        if (x->blocks[k->pred[p]].mask_id != x->blocks[k->pred[0]].mask_id) return false;
    return true;
}

static bool are_phis(Vec *x, Pair p) {
    return LLVMIsAPHINode(p.e[0]) && LLVMIsAPHINode(p.e[1]) && p.e[0] != p.e[1] &&
           LLVMGetInstructionParent(p.e[0]) == LLVMGetInstructionParent(p.e[1]) &&
           one_way(x, p.e[0]);
}

static Value incoming_from(Value phi, Block b) {
    for (unsigned k = 0; k < LLVMCountIncoming(phi); k++)
        if (LLVMGetIncomingBlock(phi, k) == b) return LLVMGetIncomingValue(phi, k);
    return NULL;
}

// ---- rows of a pair, before the instruction `at` ----

static Value rows_of(Fragments *g, Pair p, Value at);

static Value rows_of_constants(Pair p) {
    Value e[N];
    for (int k = 0; k < N; k++) e[k] = p.e[k % 2];
    return LLVMConstVector(e, N);
}

static Value rows_of_phis(Fragments *g, Pair p) {
    Vec *x = g->x;
    for (Joined *j = g->joined; j; j = j->next)
        if (j->old.e[0] == p.e[0] && j->old.e[1] == p.e[1]) return j->rows;
    Joined *j = vec_alloc(x, 1, sizeof *j);
    LLVMPositionBuilderBefore(x->b, p.e[0]);
    *j = (Joined){p, LLVMBuildPhi(x->b, rows_type(LLVMTypeOf(p.e[0])), ""), g->joined};
    g->joined = j;
    return j->rows;
}

static bool is_cast(Value v) { return LLVMIsAFPExtInst(v) || LLVMIsAFPTruncInst(v); }

static Value after_phis(Value phi) {
    Value i = LLVMGetFirstInstruction(LLVMGetInstructionParent(phi));
    while (LLVMIsAPHINode(i)) i = LLVMGetNextInstruction(i);
    return i;
}

// As early as in the block of `at` what is made of v may stand: products that share a matrix are
// computed together if all they need is there (emit_fragment.c).
static void position_behind(Vec *x, Value v, Value at) {
    if (LLVMIsAInstruction(v) && LLVMGetInstructionParent(v) == LLVMGetInstructionParent(at))
        at = LLVMIsAPHINode(v) ? after_phis(v) : LLVMGetNextInstruction(v);
    LLVMPositionBuilderBefore(x->b, at);
}

static Value rows_of(Fragments *g, Pair p, Value at) {
    Vec *x = g->x;
    Value c = call_behind(g, p);
    Type t = LLVMTypeOf(p.e[0]);
    if (c) return g->rows[msl_map_get(&g->at, c)];
    if (is_constant(p.e[0]) && is_constant(p.e[1])) return rows_of_constants(p);
    if (are_phis(x, p)) return rows_of_phis(g, p);
    Block in = LLVMGetInstructionParent(at);
    for (Made *m = g->made; m; m = m->next)
        if (m->of.e[0] == p.e[0] && m->of.e[1] == p.e[1] && m->in == in) return m->rows;
    Value r;
    if (is_cast(p.e[0]) && is_cast(p.e[1]) &&
        LLVMTypeOf(operand(p.e[0], 0)) == LLVMTypeOf(operand(p.e[1], 0))) {
        Value from = rows_of(g, (Pair){{operand(p.e[0], 0), operand(p.e[1], 0)}}, at);
        position_behind(x, from, at);
        r = LLVMBuildCast(x->b, LLVMGetInstructionOpcode(p.e[0]), from, rows_type(t), "");
    } else {
        LLVMPositionBuilderBefore(x->b, at);
        r = call(x, "__ingot_fragment_rows_", t, rows_type(t), p.e, 2, true);
    }
    Made *m = vec_alloc(x, 1, sizeof *m);
    *m = (Made){p, in, r, g->made};
    g->made = m;
    return r;
}

// Of a <2 x T>, an operand of `at`.
static Value rows_of_operand(Fragments *g, Value v, Value at) {
    Pair p;
    Vec *x = g->x;
    if (msl_map_get(&g->at, v) >= 0) return g->rows[msl_map_get(&g->at, v)];
    for (int k = 0; k < 2; k++)
        if (!element_of(v, k, &p.e[k])) {
            LLVMPositionBuilderBefore(x->b, at);
            p.e[k] = LLVMBuildExtractElement(x->b, v, const_int(x->i64, k), "");
        }
    return rows_of(g, p, at);
}

// ---- the pass ----

static Type element_type(Value pair) { return LLVMGetElementType(LLVMTypeOf(pair)); }

static void add_call(Fragments *g, Value c) {
    msl_map_put(g->x->cx, &g->x->arena, &g->at, c, g->n);
    g->calls[g->n++] = c;
}

// C compilers for x86 pass a pair as one number of 64 bits.
static Value as_pairs(Vec *x, Value c) {
    if (is_vector(LLVMTypeOf(c))) return c;
    Type pair = LLVMVectorType(x->f32, 2), types[] = {pair, pair, pair};
    Value args[3];
    LLVMPositionBuilderBefore(x->b, c);
    for (int a = 0; a < 3; a++) args[a] = LLVMBuildBitCast(x->b, operand(c, a), pair, "");
    Value r = LLVMBuildCall2(x->b, LLVMFunctionType(pair, types, 3, 0), LLVMGetCalledValue(c), args,
                             3, "");
    LLVMReplaceAllUsesWith(c, LLVMBuildBitCast(x->b, r, LLVMTypeOf(c), ""));
    LLVMInstructionEraseFromParent(c);
    return r;
}

static void find_calls(Fragments *g) {
    Vec *x = g->x;
    for (int round = 0; round < 2; round++) {
        for (Block b = LLVMGetFirstBasicBlock(x->thread); b; b = LLVMGetNextBasicBlock(b))
            for (Value i = LLVMGetFirstInstruction(b); i; i = LLVMGetNextInstruction(i)) {
                Op op = LLVMIsACallInst(i) ? msl_builtin_of(i).op : OP_NONE;
                if (op != OP_MMA && op != OP_MATRIX_LOAD && op != OP_MATRIX_STORE) continue;
                if (op == OP_MMA) i = as_pairs(x, i);
                if (round)
                    add_call(g, i);
                else
                    g->room++;
            }
        if (!round) {
            g->calls = vec_alloc(x, (size_t)g->room, sizeof *g->calls);
            g->rows = vec_alloc(x, (size_t)g->room, sizeof *g->rows);
        }
    }
}

// What stands for each call, its matrices still to be named.
static void place(Fragments *g, int k) {
    Vec *x = g->x;
    Value c = g->calls[k], args[4];
    LLVMPositionBuilderBefore(x->b, c);
    switch (msl_builtin_of(c).op) {
    case OP_MMA:
        for (int a = 0; a < 3; a++) args[a] = LLVMGetPoison(rows_type(x->f32));
        g->rows[k] = call(x, "__ingot_fragment_mma_", x->f32, rows_type(x->f32), args, 3, true);
        break;
    case OP_MATRIX_LOAD:
        for (int a = 0; a < 3; a++) args[a] = operand(c, a);
        g->rows[k] = call(x, "__ingot_fragment_load_", element_type(c), rows_type(element_type(c)),
                          args, 3, false);
        break;
    default:
        args[0] = LLVMGetPoison(rows_type(element_type(operand(c, 0))));
        for (int a = 1; a < 4; a++) args[a] = operand(c, a);
        g->rows[k] = call(x, "__ingot_fragment_store_", element_type(operand(c, 0)), x->none, args,
                          4, false);
    }
}

static void name_operands(Fragments *g, int k) {
    Op op = msl_builtin_of(g->calls[k]).op;
    int n = op == OP_MMA ? 3 : op == OP_MATRIX_STORE ? 1 : 0;
    for (int a = 0; a < n; a++)
        LLVMSetOperand(g->rows[k], (unsigned)a,
                       rows_of_operand(g, operand(g->calls[k], a), g->rows[k]));
}

static void fill_phis(Fragments *g) {
    for (Joined *done = NULL; done != g->joined;) {
        Joined *first = g->joined; // those found meanwhile are in front of it
        for (Joined *j = first; j != done; j = j->next)
            for (unsigned k = 0; k < LLVMCountIncoming(j->old.e[0]); k++) {
                Block from = LLVMGetIncomingBlock(j->old.e[0], k);
                Pair p = {{LLVMGetIncomingValue(j->old.e[0], k), incoming_from(j->old.e[1], from)}};
                Value r = rows_of(g, p, LLVMGetBasicBlockTerminator(from));
                LLVMAddIncoming(j->rows, &r, &from, 1);
            }
        done = first;
    }
}

static Value lane(Vec *x, Value rows, int k) {
    Type t = LLVMGetElementType(LLVMTypeOf(rows));
    Value args[] = {rows, const_int(x->i32, k)};
    return call(x, "__ingot_fragment_lane_", t, t, args, 2, true);
}

// Lanes where something still asks for them; what nobody asks for goes in the clean-up.
static void give_lanes(Fragments *g) {
    Vec *x = g->x;
    for (Joined *j = g->joined; j; j = j->next) {
        LLVMPositionBuilderBefore(x->b, after_phis(j->rows));
        for (int k = 0; k < 2; k++) LLVMReplaceAllUsesWith(j->old.e[k], lane(x, j->rows, k));
    }
    for (Joined *j = g->joined; j; j = j->next)
        for (int k = 0; k < 2; k++)
            if (LLVMGetInstructionParent(j->old.e[k])) LLVMInstructionEraseFromParent(j->old.e[k]);
    for (int k = 0; k < g->n; k++) {
        if (LLVMGetTypeKind(LLVMTypeOf(g->rows[k])) != LLVMVoidTypeKind) {
            LLVMPositionBuilderBefore(x->b, g->calls[k]);
            Value pair = LLVMGetPoison(LLVMTypeOf(g->calls[k]));
            for (int e = 0; e < 2; e++)
                pair = LLVMBuildInsertElement(x->b, pair, lane(x, g->rows[k], e),
                                              const_int(x->i64, e), "");
            LLVMReplaceAllUsesWith(g->calls[k], pair);
        }
        LLVMInstructionEraseFromParent(g->calls[k]);
    }
}

static bool uses(Value i, Value v) {
    for (int k = 0; k < LLVMGetNumOperands(i); k++)
        if (operand(i, k) == v) return true;
    return false;
}

// May what a load reads be another after it? Products and other loads of matrices write nothing.
static bool may_write(Value i) {
    if (LLVMIsALoadInst(i)) return LLVMGetVolatile(i) || LLVMGetOrdering(i);
    if (!LLVMIsACallInst(i))
        return LLVMIsAStoreInst(i) || LLVMIsAAtomicRMWInst(i) || LLVMIsAAtomicCmpXchgInst(i) ||
               LLVMIsAFenceInst(i) || LLVMIsAInvokeInst(i);
    Op op = msl_builtin_of(i).op;
    return op != OP_FRAGMENT_MMA && op != OP_FRAGMENT_LOAD && op != OP_FRAGMENT_LANE &&
           op != OP_FRAGMENT_ROWS;
}

// The load of a left operand moves down to its first product: the products of the one before hide
// the time it takes. A right one stays: two products are computed together only if both are there.
static void sink_load(Vec *x, Value load) {
    Value to = NULL;
    for (Value i = LLVMGetNextInstruction(load); i; i = LLVMGetNextInstruction(i)) {
        const bool used = uses(i, load);
        if (!used && !may_write(i) && !LLVMIsATerminatorInst(i)) continue;
        if (used && LLVMIsACallInst(i) && msl_builtin_of(i).op == OP_FRAGMENT_MMA &&
            operand(i, 0) == load && operand(i, 1) != load && operand(i, 2) != load)
            to = i;
        break;
    }
    if (!to) return;
    LLVMInstructionRemoveFromParent(load);
    LLVMPositionBuilderBefore(x->b, to);
    LLVMInsertIntoBuilder(x->b, load);
}

void msl_gather_fragments(Vec *x) {
    Fragments g = {.x = x};
    find_calls(&g);
    for (int k = 0; k < g.n; k++) place(&g, k);
    for (int k = 0; k < g.n; k++) name_operands(&g, k);
    fill_phis(&g);
    give_lanes(&g);
    msl_run_passes(x->cx, x->thread, "instsimplify,dce,lcssa"); // the first drops phis of exits
    for (Block b = LLVMGetFirstBasicBlock(x->thread); b; b = LLVMGetNextBasicBlock(b))
        for (Value i = LLVMGetLastInstruction(b), before; i; i = before) {
            before = LLVMGetPreviousInstruction(i);
            if (LLVMIsACallInst(i) && msl_builtin_of(i).op == OP_FRAGMENT_LOAD) sink_load(x, i);
        }
}
