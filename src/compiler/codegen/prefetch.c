// SPDX-License-Identifier: Apache-2.0
// prefetch.c: what the next round of a loop will read is asked for in this one.
//   purpose   a kernel that works tile by tile reads device memory, waits at a barrier, computes,
//             waits again. Its lanes read many rows at once, more than a processor follows by
//             itself, and nothing that it could do meanwhile is left before the barrier. Each load
//             of such a loop asks for the line that it will want in the next round; a round is long
//             enough for that to arrive from any cache
//   requires  one version of a step with everything inlined, its barriers still in it
//   preserves everything: an address may be wrong, since asking never faults
// The distance is found by going through the address's arithmetic: what is the same in all rounds
// adds nothing, what the loop counts adds its step.
#include "compiler/codegen/wrap.h"
#include "compiler/passes/map.h"
#include <string.h>

enum {
    LINE = 64,
    MIN_LOADS = 4,    // a processor follows a few rows by itself,
    MAX_LOADS = 256,  // and too many would be in the way
    MAX_BLOCKS = 400, // compile time
    DEPTH = 16,
    BUDGET = 400, // values looked at for one address
    L2 = 2,       // LLVM's locality: rows of a power of two bytes share few places of the first
};

typedef struct Round {
    Cg *cg;
    Arena arena;
    Map ix; // of a block
    LLVMBasicBlockRef *blocks, header;
    int n, *work;
    bool *in;       // whether a block is of the loop
    bool elsewhere; // what is looked at need not be known where the load is
    int budget;
} Round;

// ---- Loops ----

static void *alloc(Round *r, size_t n, size_t size) {
    return msl_arena_alloc(&r->cg->cx, &r->arena, (n + 1) * size);
}

// Marks what leads to block b and is not marked yet, in work from `n` on; returns how many wait.
static int mark_before(Round *r, int b, int n) {
    LLVMValueRef as_value = LLVMBasicBlockAsValue(r->blocks[b]);
    for (LLVMUseRef u = LLVMGetFirstUse(as_value); u; u = LLVMGetNextUse(u)) {
        LLVMValueRef end = LLVMGetUser(u);
        if (!LLVMIsATerminatorInst(end)) continue;
        int from = msl_map_get(&r->ix, LLVMGetInstructionParent(end));
        if (r->in[from]) continue;
        r->in[from] = true;
        r->work[n++] = from;
    }
    return n;
}

// Marks the blocks from which `latch` is reached without passing the header, and returns how many
// there are; 0: the header does not stand before all of them.
static int mark_loop(Round *r, int header, LLVMBasicBlockRef latch) {
    int n = 0, size = 1, from = msl_map_get(&r->ix, latch);
    memset(r->in, 0, (size_t)r->n);
    r->in[header] = true;
    if (!r->in[from]) r->in[from] = true, r->work[n++] = from;
    for (; n; size++) {
        int b = r->work[--n];
        if (b == 0) return 0; // the entry
        n = mark_before(r, b, n);
    }
    r->header = r->blocks[header];
    return size;
}

// Marks the smallest loop around a block; false: there is none.
static bool mark_smallest(Round *r, int block) {
    int best = 0, header = 0;
    LLVMBasicBlockRef latch = NULL;
    for (int h = 1; h < r->n; h++) {
        LLVMValueRef phi = LLVMGetFirstInstruction(r->blocks[h]);
        for (unsigned k = 0; LLVMIsAPHINode(phi) && k < LLVMCountIncoming(phi); k++) {
            LLVMBasicBlockRef from = LLVMGetIncomingBlock(phi, k);
            int size = mark_loop(r, h, from);
            if (!size || !r->in[block] || (best && size >= best)) continue;
            best = size, header = h, latch = from;
        }
    }
    return best && mark_loop(r, header, latch);
}

static bool is_inside(const Round *r, LLVMValueRef v) {
    return LLVMIsAInstruction(v) && r->in[msl_map_get(&r->ix, LLVMGetInstructionParent(v))];
}

// ---- How far an address moves in a round ----

static LLVMValueRef distance(Round *r, LLVMValueRef v, int depth);

static LLVMValueRef none(const Round *r) { return msl_const(&r->cg->cx, 64, 0); }
static bool is_none(LLVMValueRef d) { return LLVMIsConstant(d) && LLVMIsNull(d); }

// The number that all lanes of v have, as i64; NULL: it cannot be told, or not where the load is.
static LLVMValueRef scalar_of(const Round *r, LLVMValueRef v, bool before_loop) {
    if ((before_loop || r->elsewhere) && is_inside(r, v)) return NULL;
    if (LLVMGetTypeKind(LLVMTypeOf(v)) == LLVMVectorTypeKind) {
        if (LLVMIsConstant(v))
            v = LLVMGetAggregateElement(v, 0);
        else if (LLVMIsAShuffleVectorInst(v) && LLVMIsAInsertElementInst(LLVMGetOperand(v, 0)) &&
                 LLVMGetMaskValue(v, 0) == 0)
            v = LLVMGetOperand(LLVMGetOperand(v, 0), 1);
        else
            return NULL;
    }
    if (!v || LLVMGetTypeKind(LLVMTypeOf(v)) != LLVMIntegerTypeKind || LLVMIsUndef(v)) return NULL;
    return LLVMBuildIntCast2(r->cg->cx.builder, v, msl_int(&r->cg->cx, 64), 1, "");
}

// The one of several that is not none: a hint may follow either way.
static LLVMValueRef either(Round *r, LLVMValueRef *of, unsigned n, int depth) {
    LLVMValueRef d = NULL;
    for (unsigned k = 0; k < n && (!d || is_none(d)); k++) {
        LLVMValueRef e = distance(r, of[k], depth);
        if (e) d = e;
    }
    return d;
}

// By how much v, which goes into the next round, is more than the phi was; NULL: not known.
static LLVMValueRef step_of(const Round *r, LLVMValueRef phi, LLVMValueRef v) {
    MslContext *cx = &r->cg->cx;
    for (int d = 0; d < 4; d++) { // the step may be taken in some rounds only
        if (LLVMIsASelectInst(v))
            v = LLVMGetOperand(v, LLVMGetOperand(v, 1) == phi ? 2 : 1);
        else if (LLVMIsAFreezeInst(v))
            v = LLVMGetOperand(v, 0);
        else
            break;
    }
    if (LLVMIsAGetElementPtrInst(v) && LLVMGetOperand(v, 0) == phi && LLVMGetNumOperands(v) == 2) {
        LLVMValueRef by = scalar_of(r, LLVMGetOperand(v, 1), true);
        uint64_t size = LLVMABISizeOfType(cx->layout, LLVMGetGEPSourceElementType(v));
        return by ? LLVMBuildMul(cx->builder, by, msl_const(cx, 64, size), "") : NULL;
    }
    if (!LLVMIsABinaryOperator(v) || LLVMGetInstructionOpcode(v) != LLVMAdd) return NULL;
    for (unsigned k = 0; k < 2; k++)
        if (LLVMGetOperand(v, k) == phi) return scalar_of(r, LLVMGetOperand(v, 1 - k), true);
    return NULL;
}

static LLVMValueRef of_phi(Round *r, LLVMValueRef phi, int depth) {
    enum { WAYS = 8 };
    LLVMValueRef in[WAYS], d = NULL;
    unsigned n = 0, all = LLVMCountIncoming(phi);
    const bool own = LLVMGetInstructionParent(phi) == r->header;
    for (unsigned k = 0; k < all && n < WAYS; k++)
        if (!own || r->in[msl_map_get(&r->ix, LLVMGetIncomingBlock(phi, k))])
            in[n++] = LLVMGetIncomingValue(phi, k);
    for (unsigned k = 0; own && k < n && !d; k++) d = step_of(r, phi, in[k]);
    if (own) return d;
    const bool before = r->elsewhere; // of an inner loop, or where ways meet
    r->elsewhere = true;
    d = either(r, in, n, depth);
    r->elsewhere = before;
    return d;
}

static LLVMValueRef of_gep(Round *r, LLVMValueRef p, int depth) {
    MslContext *cx = &r->cg->cx;
    LLVMValueRef d = distance(r, LLVMGetOperand(p, 0), depth);
    LLVMTypeRef t = LLVMGetGEPSourceElementType(p);
    for (int k = 1; d && k < LLVMGetNumOperands(p); k++) {
        LLVMValueRef i = LLVMGetOperand(p, (unsigned)k);
        if (k > 1 && LLVMGetTypeKind(t) == LLVMStructTypeKind) {
            t = LLVMStructGetTypeAtIndex(t, (unsigned)LLVMConstIntGetZExtValue(i));
            continue;
        }
        if (k > 1) t = LLVMGetElementType(t);
        LLVMValueRef e = distance(r, i, depth);
        if (!e) return NULL;
        LLVMValueRef size = msl_const(cx, 64, LLVMABISizeOfType(cx->layout, t));
        if (!is_none(e))
            d = LLVMBuildAdd(cx->builder, d, LLVMBuildMul(cx->builder, e, size, ""), "");
    }
    return d;
}

static LLVMValueRef of_binary(Round *r, LLVMValueRef v, int depth) {
    LLVMBuilderRef b = r->cg->cx.builder;
    LLVMValueRef x = distance(r, LLVMGetOperand(v, 0), depth),
                 y = distance(r, LLVMGetOperand(v, 1), depth);
    if (!x || !y) return NULL;
    if (is_none(x) && is_none(y)) return x;
    LLVMOpcode op = LLVMGetInstructionOpcode(v);
    if (op == LLVMAdd || op == LLVMOr) return LLVMBuildAdd(b, x, y, "");
    if (op == LLVMSub) return LLVMBuildSub(b, x, y, "");
    const bool right = is_none(x); // what moves
    if ((op != LLVMMul && op != LLVMShl) || (!right && !is_none(y)) || (right && op == LLVMShl))
        return NULL;
    LLVMValueRef k = scalar_of(r, LLVMGetOperand(v, right ? 0 : 1), false);
    if (!k) return NULL;
    return op == LLVMMul ? LLVMBuildMul(b, right ? y : x, k, "") : LLVMBuildShl(b, x, k, "");
}

static LLVMValueRef of_call(Round *r, LLVMValueRef v, int depth) {
    const char *name = msl_callee(v);
    LLVMValueRef of[2] = {LLVMGetOperand(v, 0), LLVMGetOperand(v, 1)};
    if (msl_starts(name, "llvm.umin") || msl_starts(name, "llvm.smin") ||
        msl_starts(name, "llvm.umax") || msl_starts(name, "llvm.smax"))
        return either(r, of, 2, depth);
    return msl_starts(name, "llvm.cttz") ? none(r) : NULL; // of a mask: as in this round
}

// By how much v is more in the next round, as i64, for each of its lanes; NULL: not known.
static LLVMValueRef distance(Round *r, LLVMValueRef v, int depth) {
    if (!is_inside(r, v)) return none(r);
    if (!depth || !r->budget--) return NULL;
    depth--;
    if (LLVMIsAPHINode(v)) return of_phi(r, v, depth);
    if (LLVMIsAGetElementPtrInst(v)) return of_gep(r, v, depth);
    if (LLVMIsABinaryOperator(v)) return of_binary(r, v, depth);
    if (LLVMIsACallInst(v)) return of_call(r, v, depth);
    if (LLVMIsACmpInst(v)) return none(r);
    if (LLVMIsALoadInst(v)) { // of a size that the kernel was given, again in each round
        LLVMValueRef d = distance(r, LLVMGetOperand(v, 0), depth);
        return d && is_none(d) ? d : NULL;
    }
    if (LLVMIsACastInst(v) || LLVMIsAFreezeInst(v) || LLVMIsAExtractElementInst(v) ||
        LLVMIsAShuffleVectorInst(v))
        return distance(r, LLVMGetOperand(v, 0), depth);
    if (LLVMIsAInsertElementInst(v)) return distance(r, LLVMGetOperand(v, 1), depth);
    if (!LLVMIsASelectInst(v)) return NULL;
    LLVMValueRef ways[] = {LLVMGetOperand(v, 1), LLVMGetOperand(v, 2)};
    return either(r, ways, 2, depth);
}

// ---- Asking ----

typedef struct Asked {
    LLVMValueRef load, base, by;
    int64_t offset, bytes;
    int lane;
} Asked;

static void ask(const Round *r, const Asked *a) {
    MslContext *cx = &r->cg->cx;
    LLVMTypeRef p = msl_ptr(cx), i8 = msl_int(cx, 8);
    const unsigned id = LLVMLookupIntrinsicID("llvm.prefetch", 13);
    LLVMValueRef f = LLVMGetIntrinsicDeclaration(cx->module, id, &p, 1), by = a->by;
    LLVMPositionBuilderBefore(cx->builder, LLVMGetNextInstruction(a->load));
    LLVMValueRef from = LLVMBuildGEP2(cx->builder, i8, LLVMGetOperand(a->load, 0), &by, 1, "");
    for (int64_t at = 0; at < a->bytes; at += LINE) {
        LLVMValueRef o = msl_const(cx, 64, (uint64_t)at);
        LLVMValueRef args[] = {LLVMBuildGEP2(cx->builder, i8, from, &o, 1, ""),
                               msl_const(cx, 32, 0), msl_const(cx, 32, L2), msl_const(cx, 32, 1)};
        LLVMBuildCall2(cx->builder, LLVMGlobalGetValueType(f), f, args, 4, "");
    }
}

// A load's address, or the lane of a vector that has it, as a base and a constant.
static Asked place_of(const Round *r, LLVMValueRef load) {
    Asked a = {.load = load, .base = LLVMGetOperand(load, 0), .lane = -1};
    a.bytes = (int64_t)LLVMABISizeOfType(r->cg->cx.layout, LLVMTypeOf(load));
    for (LLVMValueRef k; LLVMGetNumOperands(a.base) == 2; a.base = LLVMGetOperand(a.base, 0)) {
        if (!LLVMIsConstant(k = LLVMGetOperand(a.base, 1))) break;
        if (LLVMIsAExtractElementInst(a.base)) {
            a.lane = (int)LLVMConstIntGetZExtValue(k);
            continue;
        }
        if (LLVMGetTypeKind(LLVMTypeOf(k)) == LLVMVectorTypeKind)
            k = LLVMGetAggregateElement(k, a.lane < 0 ? 0 : (unsigned)a.lane);
        if (!LLVMIsAGetElementPtrInst(a.base) || !k || !LLVMIsAConstantInt(k)) break;
        LLVMTypeRef t = LLVMGetGEPSourceElementType(a.base);
        a.offset += LLVMConstIntGetSExtValue(k) * (int64_t)LLVMABISizeOfType(r->cg->cx.layout, t);
    }
    return a;
}

// Whether another load of the loop asks for the same line.
static bool is_asked(const Asked *all, int n, const Asked *a) {
    for (int k = 0; k < n; k++)
        if (all[k].base == a->base && all[k].lane == a->lane && all[k].offset <= a->offset &&
            a->offset < all[k].offset + (all[k].bytes > LINE ? all[k].bytes : LINE))
            return true;
    return false;
}

static bool is_plain_load(LLVMValueRef i) {
    if (!LLVMIsALoadInst(i)) return msl_starts(msl_callee(i), "llvm.masked.load.");
    return !LLVMGetVolatile(i) && LLVMGetOrdering(i) == LLVMAtomicOrderingNotAtomic;
}

static void prefetch_next_round(Round *r) {
    Asked *all = alloc(r, MAX_LOADS, sizeof *all);
    int n = 0;
    for (int b = 0; b < r->n; b++)
        for (LLVMValueRef i = r->in[b] ? LLVMGetFirstInstruction(r->blocks[b]) : NULL; i;
             i = LLVMGetNextInstruction(i)) {
            if (!is_plain_load(i)) continue;
            Asked a = place_of(r, i);
            if (is_asked(all, n, &a)) continue;
            LLVMPositionBuilderBefore(r->cg->cx.builder, i);
            r->budget = BUDGET;
            a.by = distance(r, LLVMGetOperand(i, 0), DEPTH);
            if (!a.by || is_none(a.by)) continue;
            if (n == MAX_LOADS) return;
            all[n++] = a;
        }
    for (int k = 0; n >= MIN_LOADS && k < n; k++) ask(r, &all[k]);
}

static bool has_barrier(LLVMBasicBlockRef b) {
    for (LLVMValueRef i = LLVMGetFirstInstruction(b); i; i = LLVMGetNextInstruction(i))
        if (msl_starts(msl_callee(i), "__ingot_threadgroup_barrier")) return true;
    return false;
}

void msl_prefetch(Cg *cg, LLVMValueRef f) {
    Round r = {.cg = cg, .n = (int)LLVMCountBasicBlocks(f)};
    if (r.n > MAX_BLOCKS) return;
    r.blocks = alloc(&r, (size_t)r.n, sizeof *r.blocks);
    r.work = alloc(&r, (size_t)r.n, sizeof *r.work);
    r.in = alloc(&r, (size_t)r.n, sizeof *r.in);
    bool *waits = alloc(&r, (size_t)r.n, sizeof *waits);
    int n = 0;
    for (LLVMBasicBlockRef b = LLVMGetFirstBasicBlock(f); b; b = LLVMGetNextBasicBlock(b)) {
        waits[n] = has_barrier(b);
        msl_map_put(&cg->cx, &r.arena, &r.ix, b, n);
        r.blocks[n++] = b;
    }
    for (int k = 0; k < n; k++) {
        if (!waits[k] || !mark_smallest(&r, k)) continue;
        prefetch_next_round(&r);
        for (int b = 0; b < n; b++) waits[b] &= !r.in[b];
    }
    base_arena_free(&r.arena);
}
