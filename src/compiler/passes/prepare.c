// SPDX-License-Identifier: Apache-2.0
// prepare.c: brings a thread function into the structured form the other passes need.
// Requires: calls inlined, default<O2>-cleaned without vectorisers. Preserves: what a thread
// computes. Gives: scalar arithmetic only, br and ret, one return, reducible loops that leave at
// their latch, branches with a join (structurizecfg), LCSSA, address arithmetic beside its access.
//
// The order and its reasons (LLVM 22.1):
//   sroa ... simplifycfg    canonical input, whatever ran before
//   scalarizer              gid + uint2(1, 0) must not hide that its x is linear and its y uniform;
//                           components of a varying vector are separate machine vectors anyway
//   (join.c)                but what is done alike to vectors from memory is better left whole
//   lower-switch            structurizecfg knows br only; its older name "lowerswitch" is gone
//   break-crit-edges, fix-irreducible, loop-simplify
//                           only on irreducible functions: without the first, fix-irreducible
//                           miscompiles critical edges (endless loop); on others it costs speed
//   mergereturn, unify-loop-exits, structurizecfg
//                           every divergent branch gets a join, every loop one exit at its latch
//   loop-simplify, lcssa    a value live out of a loop passes through a phi of the exit
#include "compiler/passes/passes_int.h"

// A trap or unreachable end of a thread is an ordinary return: one exit for mergereturn.
static void unreachable_to_return(Vec *x) {
    for (Block b = LLVMGetFirstBasicBlock(x->thread); b; b = LLVMGetNextBasicBlock(b)) {
        Value t = LLVMGetBasicBlockTerminator(b);
        if (LLVMGetInstructionOpcode(t) != LLVMUnreachable) continue;
        LLVMInstructionEraseFromParent(t);
        LLVMPositionBuilderAtEnd(x->b, b);
        LLVMBuildRetVoid(x->b);
    }
}

// i1 __ingot_never(): false, but only emission knows.
static Value never(Vec *x) {
    Type t = LLVMFunctionType(x->i1, NULL, 0, 0);
    Value f = LLVMGetNamedFunction(x->module, "__ingot_never");
    if (!f) f = LLVMAddFunction(x->module, "__ingot_never", t);
    return LLVMBuildCall2(x->b, t, f, NULL, 0, "");
}

// Marks in `reach` the blocks from which a return can be reached; false if some cannot.
static bool find_exits(Vec *x, bool *reach) {
    int *stack = vec_alloc(x, (size_t)x->n_blocks, sizeof *stack), n = 0, marked = 0;
    for (int i = 0; i < x->n_blocks; i++)
        if (!x->blocks[i].n_succ) {
            reach[i] = true;
            stack[n++] = i;
        }
    while (n) {
        const Blk *b = &x->blocks[stack[--n]];
        marked++;
        for (int p = 0; p < b->n_pred; p++) {
            if (reach[b->pred[p]]) continue;
            reach[b->pred[p]] = true;
            stack[n++] = b->pred[p];
        }
    }
    return marked == x->n_blocks;
}

// A loop without an exit gets one that is never taken: post-dominators need it.
static void give_endless_loops_an_exit(Vec *x) {
    for (;;) {
        msl_cfg_build(x, x->thread);
        bool *reach = vec_alloc(x, (size_t)x->n_blocks, sizeof *reach), done = false;
        if (find_exits(x, reach)) return;
        for (int i = 0; i < x->n_blocks && !done; i++) {
            Blk *b = &x->blocks[i];
            bool back = false;
            for (int s = 0; s < b->n_succ; s++) back |= b->succ[s] <= i;
            if (reach[i] || !back) continue;
            Block out = LLVMAppendBasicBlockInContext(x->llvm, x->thread, "never");
            LLVMPositionBuilderAtEnd(x->b, out);
            LLVMBuildRetVoid(x->b);
            Value t = LLVMGetBasicBlockTerminator(b->old);
            Block to[2] = {LLVMGetSuccessor(t, 0), b->n_succ > 1 ? LLVMGetSuccessor(t, 1) : NULL};
            Value condition = b->n_succ > 1 ? LLVMGetCondition(t) : NULL;
            LLVMInstructionEraseFromParent(t);
            LLVMPositionBuilderAtEnd(x->b, b->old);
            if (!condition) {
                LLVMBuildCondBr(x->b, never(x), out, to[0]);
            } else { // a switch keeps the phis of both targets right
                Value which = LLVMBuildZExt(x->b, condition, x->i32, "");
                which = LLVMBuildSelect(x->b, never(x), const_int(x->i32, 2), which, "");
                Value s = LLVMBuildSwitch(x->b, which, to[1], 2);
                LLVMAddCase(s, const_int(x->i32, 1), to[0]);
                LLVMAddCase(s, const_int(x->i32, 2), out);
                msl_run_passes(x->cx, x->thread, "lower-switch");
            }
            done = true;
        }
        if (!done) msl_fail(x->cx, "internal error: control flow without an end");
    }
}

// ---- address arithmetic ----
// Extensions of 32-bit indices are cloned next to their access. There they run under the mask of
// the access, and the first active lane can stand for all (msl_extend_linear): uint indices such as
// a[i - 5u] carry no wrap flags, yet two active lanes on both sides of a wrap would lie 2^32
// elements apart in one buffer. Code is made for buffers up to a length (MslContext.reach) that
// excludes this; where buffers are longer, it excludes it for large elements only.

// The one operand of an address computation through which an extension may reach it; -1: none.
static int through_to(Value v, int depth) {
    if (!depth || !LLVMIsAInstruction(v) || !is_integer(LLVMTypeOf(v)) ||
        int_bits(LLVMTypeOf(v)) != 64)
        return -1;
    int64_t k;
    switch (LLVMGetInstructionOpcode(v)) {
    case LLVMMul:
    case LLVMShl: return get_const(operand(v, 1), &k) && k != 0 ? 0 : -1;
    case LLVMOr:
        if (!LLVMGetIsDisjoint(v)) return -1; // fall through
    case LLVMAdd:
    case LLVMSub: {
        bool ext[2];
        for (int o = 0; o < 2; o++)
            ext[o] = LLVMIsASExtInst(operand(v, o)) || LLVMIsAZExtInst(operand(v, o)) ||
                     through_to(operand(v, o), depth - 1) >= 0;
        return ext[0] == ext[1] ? -1 : ext[0] ? 0 : 1;
    }
    default: return -1;
    }
}

static int through(Value v) { return through_to(v, 4); }

static bool is_extension(Value v) {
    return (LLVMIsASExtInst(v) || LLVMIsAZExtInst(v)) && is_integer(LLVMTypeOf(v)) &&
           int_bits(LLVMTypeOf(operand(v, 0))) == 32;
}

static bool leads_to_extension(Value v) {
    for (int depth = 0; depth < 8; depth++) {
        if (is_extension(v)) return true;
        int o = through(v);
        if (o < 0) return false;
        v = operand(v, o);
    }
    return false;
}

static Value sink_index(Vec *x, Value v, Value at) {
    if (!leads_to_extension(v)) return v;
    Value c = LLVMInstructionClone(v);
    if (!is_extension(v)) {
        int o = through(v);
        LLVMSetOperand(c, (unsigned)o, sink_index(x, operand(v, o), at));
    }
    LLVMPositionBuilderBefore(x->b, at);
    LLVMInsertIntoBuilder(x->b, c);
    return c;
}

static Value sink_pointer(Vec *x, Value p, Value at) {
    if (!LLVMIsAGetElementPtrInst(p)) return p;
    Value g = LLVMInstructionClone(p);
    for (int o = 0; o < LLVMGetNumOperands(p); o++)
        LLVMSetOperand(g, (unsigned)o,
                       o ? sink_index(x, operand(p, o), at) : sink_pointer(x, operand(p, o), at));
    LLVMPositionBuilderBefore(x->b, at);
    LLVMInsertIntoBuilder(x->b, g);
    return g;
}

// The operand after `last` (at first -1) that is an address accessed, or checked; -1: no more.
static int pointer_operand(Value i, int last) {
    switch (LLVMGetInstructionOpcode(i)) {
    case LLVMLoad:
    case LLVMAtomicRMW:
    case LLVMAtomicCmpXchg: return last < 0 ? 0 : -1;
    case LLVMStore: return last < 0 ? 1 : -1;
    case LLVMCall: // __ingot_inside(pointer, start, limit, ...)
        if (msl_builtin_of(i).op != OP_INSIDE) return -1;
        last = last < 0 ? 0 : last + 3;
        return last < (int)LLVMGetNumArgOperands(i) ? last : -1;
    default: return -1;
    }
}

static void sink_addresses(Vec *x) {
    for (Block b = LLVMGetFirstBasicBlock(x->thread); b; b = LLVMGetNextBasicBlock(b))
        for (Value i = LLVMGetFirstInstruction(b); i; i = LLVMGetNextInstruction(i)) {
            for (int o = -1; (o = pointer_operand(i, o)) >= 0;)
                LLVMSetOperand(i, (unsigned)o, sink_pointer(x, operand(i, o), i));
        }
}

static bool used_once_in(Value v, Block b) {
    LLVMUseRef u = LLVMGetFirstUse(v);
    return u && !LLVMGetNextUse(u) && LLVMGetInstructionParent(v) == b;
}

// The whole number of bits that the factor of an address computation shifts its operand by.
static int bits_of_factor(Value v) {
    int64_t k;
    LLVMOpcode op = LLVMGetInstructionOpcode(v);
    if ((op != LLVMMul && op != LLVMShl) || !get_const(operand(v, 1), &k)) return 0;
    return op == LLVMShl ? (int)k : 63 - __builtin_clzll((uint64_t)(k < 0 ? -k : k));
}

// The extension behind one index of an address, and the bits between a step of it and the address.
static void find_sunk_index(Vec *x, Value v, Block b, uint64_t element_bytes) {
    int bits = element_bytes ? 63 - __builtin_clzll(element_bytes) : 0;
    while (LLVMIsAInstruction(v) && !is_extension(v) && used_once_in(v, b) && through(v) >= 0) {
        bits += bits_of_factor(v);
        v = operand(v, through(v));
    }
    if (LLVMIsAInstruction(v) && is_extension(v) && used_once_in(v, b) &&
        bits + 32 >= (int)x->cx->reach)
        msl_map_put(x->cx, &x->arena, &x->sunk, v, bits);
}

static void find_sunk_of(Vec *x, Value p, Block b) {
    for (; LLVMIsAGetElementPtrInst(p) && used_once_in(p, b); p = operand(p, 0)) {
        Type t = LLVMGetGEPSourceElementType(p);
        for (int k = 1; k < LLVMGetNumOperands(p); k++) {
            Value v = operand(p, k);
            if (k > 1 && LLVMGetTypeKind(t) == LLVMStructTypeKind) {
                t = LLVMStructGetTypeAtIndex(t, (unsigned)LLVMConstIntGetZExtValue(v));
                continue;
            }
            if (k > 1) t = LLVMGetElementType(t);
            find_sunk_index(x, v, b, LLVMABISizeOfType(x->dl, t));
        }
    }
}

// Recognises what sink_addresses made; passes ran in between.
void msl_find_sunk(Vec *x) {
    for (Block b = LLVMGetFirstBasicBlock(x->thread); b; b = LLVMGetNextBasicBlock(b))
        for (Value i = LLVMGetFirstInstruction(b); i; i = LLVMGetNextInstruction(i))
            for (int o = -1; (o = pointer_operand(i, o)) >= 0;) find_sunk_of(x, operand(i, o), b);
}

// ---- a fault of structurizecfg ----
// LLVM 22.1 moves a conversion that costs nothing out of a block when only a phi of its successor
// uses it, and then repairs one phi where several lead there: the others keep poison, and a thread
// gets the value of another path. Nothing is left to move if we do it first.

static bool may_cost_nothing(Value v) {
    return LLVMIsACastInst(v) || LLVMIsAGetElementPtrInst(v) || LLVMIsAFreezeInst(v) ||
           LLVMIsAExtractValueInst(v) || LLVMIsAInsertValueInst(v) ||
           LLVMIsAExtractElementInst(v) || LLVMIsAInsertElementInst(v);
}

static bool needs_block(Value v, Block b) {
    for (int o = 0; o < LLVMGetNumOperands(v); o++)
        if (LLVMIsAInstruction(operand(v, o)) && LLVMGetInstructionParent(operand(v, o)) == b)
            return true;
    return false;
}

static bool hoist_from(Vec *x, const Blk *b) {
    if (b->n_succ != 1 || b->idom < 0) return false;
    bool moved = false;
    Block to = x->blocks[b->idom].old;
    for (Value phi = LLVMGetFirstInstruction(x->blocks[b->succ[0]].old); phi && LLVMIsAPHINode(phi);
         phi = LLVMGetNextInstruction(phi))
        for (unsigned k = 0; k < LLVMCountIncoming(phi); k++) {
            Value v = LLVMGetIncomingValue(phi, k);
            if (LLVMGetIncomingBlock(phi, k) != b->old || !LLVMIsAInstruction(v) ||
                LLVMGetInstructionParent(v) != b->old || !may_cost_nothing(v) ||
                needs_block(v, b->old))
                continue;
            LLVMInstructionRemoveFromParent(v);
            LLVMPositionBuilderBefore(x->b, LLVMGetBasicBlockTerminator(to));
            LLVMInsertIntoBuilder(x->b, v);
            moved = true;
        }
    return moved;
}

static void hoist_conversions(Vec *x) {
    msl_cfg_build(x, x->thread);
    for (bool again = true; again;) {
        again = false;
        for (int i = 0; i < x->n_blocks; i++) again |= hoist_from(x, &x->blocks[i]);
    }
}

void msl_prepare(Vec *x) {
    msl_prepare_memory(x);
    unreachable_to_return(x);
    msl_run_passes(x->cx, x->thread, "sroa,early-cse,scalarizer,dce,simplifycfg,lower-switch");
    msl_unify_private(x);
    msl_join_elements(x);
    give_endless_loops_an_exit(x);
    msl_cfg_build(x, x->thread);
    if (!msl_cfg_reducible(x))
        msl_run_passes(x->cx, x->thread, "break-crit-edges,fix-irreducible,loop-simplify");
    msl_run_passes(x->cx, x->thread, "mergereturn,unify-loop-exits");
    hoist_conversions(x);
    msl_run_passes(x->cx, x->thread, "structurizecfg");
    sink_addresses(x);
    msl_run_passes(x->cx, x->thread, "dce,loop-simplify,lcssa");
}
