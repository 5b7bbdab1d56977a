// SPDX-License-Identifier: Apache-2.0
// validate_check.c: one access behind a branch:
//   if (offset < limit) access; else report          a load that is left out gives zero
// Used where each access is checked alone: in reference code, in the slow path of a region
// (validate.c), for variables of a thread, and where the address is the same for all threads (the
// branch then is one the whole SIMD-group takes).
#include "compiler/codegen/stage_int.h"
#include "compiler/codegen/validate_int.h"
#include <llvm-c/DebugInfo.h>
#include <stddef.h>
#include <string.h>

// Calls a function of codegen/support/validate.c, or one the vectoriser knows.
Value msl_call(Validation *v, const char *name, Type result, Value *args, unsigned n) {
    enum { MAX_ARGS = 12 };
    MslContext *cx = &v->cg->cx;
    Type types[MAX_ARGS];
    for (unsigned i = 0; i < n; i++) types[i] = LLVMTypeOf(args[i]);
    Type type = LLVMFunctionType(result, types, n, 0);
    Value f = LLVMGetNamedFunction(cx->module, name);
    if (!f) f = LLVMAddFunction(cx->module, name, type);
    return LLVMBuildCall2(cx->builder, type, f, args, n, "");
}

Value msl_launch(Validation *v, const Where *where) {
    if (where && where->launch) return where->launch;
    return msl_call(v, "__ingot_launch", msl_ptr(&v->cg->cx), NULL, 0);
}

// Vertex and instance, or the pixel.
static Value stage_position(Validation *v, unsigned d) {
    Cg *cg = v->cg;
    MslContext *cx = &cg->cx;
    LLVMBuilderRef b = cx->builder;
    Type i32 = msl_int(cx, 32);
    if (d == 2) return msl_const(cx, 32, 0);
    if (cg->fn->stage == RF_VERTEX && d == 1)
        return msl_stage_load(cg, i32, msl_stage_step(cg), offsetof(CpuVertexStep, instance));
    if (cg->fn->stage == RF_VERTEX) {
        Value rows =
            msl_stage_load(cg, msl_ptr(cx), msl_stage_step(cg), offsetof(CpuVertexStep, vertices));
        return LLVMBuildLoad2(b, i32, msl_stage_row(cg, rows, 0), "");
    }
    // Lane l: quad l / 4 stands at (l / 4 % 4 * 2, l / 16 * 2), and in it the lane at (l % 2, l / 2
    // % 2).
    Value lane = LLVMBuildTrunc(b, msl_stage_lane(cg), i32, ""), one = msl_const(cx, 32, 1);
    Value quad = LLVMBuildLShr(b, lane, msl_const(cx, 32, d ? 4 : 2), "");
    if (!d) quad = LLVMBuildAnd(b, quad, msl_const(cx, 32, 3), "");
    Value in = LLVMBuildAnd(b, d ? LLVMBuildLShr(b, lane, one, "") : lane, one, "");
    Value at = LLVMBuildAdd(b, LLVMBuildShl(b, quad, one, ""), in, "");
    return LLVMBuildAdd(
        b, at,
        msl_stage_load(cg, i32, msl_stage_step(cg),
                       d ? offsetof(CpuFragmentStep, y) : offsetof(CpuFragmentStep, x)),
        "");
}

static Value thread_position(Validation *v, const Where *where, unsigned d) {
    MslContext *cx = &v->cg->cx;
    if (msl_is_graphics(v->cg)) return stage_position(v, d);
    if (where->launch) return where->thread[d];
    Value args[2] = {msl_const(cx, 32, RF_THREAD_POSITION_IN_GRID), msl_const(cx, 32, d)};
    return msl_call(v, "__ingot_position", msl_int(cx, 32), args, 2);
}

// offset + bytes <= length, as one comparison: offset < limit.
Value msl_limit(Validation *v, Value length, uint64_t bytes) {
    MslContext *cx = &v->cg->cx;
    Value less = msl_const(cx, 64, bytes - 1);
    if (LLVMIsAConstantInt(length)) {
        uint64_t n = LLVMConstIntGetZExtValue(length);
        return msl_const(cx, 64, n < bytes ? 0 : n - bytes + 1);
    }
    Value zero = msl_const(cx, 64, 0);
    return LLVMBuildSelect(cx->builder, LLVMBuildICmp(cx->builder, LLVMIntUGT, length, less, ""),
                           LLVMBuildSub(cx->builder, length, less, ""), zero, "");
}

static Value build_sum(Validation *v, Value a, Value b) {
    return LLVMBuildAdd(v->cg->cx.builder, a, b, "");
}

// The bytes a GEP adds, without wrap flags: the address may well be out of bounds.
static Value gep_bytes(Validation *v, Value g) {
    MslContext *cx = &v->cg->cx;
    Value sum = msl_const(cx, 64, 0);
    Type t = LLVMGetGEPSourceElementType(g);
    for (int k = 1; k < LLVMGetNumOperands(g); k++) {
        Value ix = LLVMGetOperand(g, (unsigned)k);
        if (k > 1 && LLVMGetTypeKind(t) == LLVMStructTypeKind) {
            unsigned field = (unsigned)LLVMConstIntGetZExtValue(ix);
            sum = build_sum(v, sum, msl_const(cx, 64, LLVMOffsetOfElement(cx->layout, t, field)));
            t = LLVMStructGetTypeAtIndex(t, field);
            continue;
        }
        if (k > 1) t = LLVMGetElementType(t);
        Value size = msl_const(cx, 64, LLVMABISizeOfType(cx->layout, t));
        ix = LLVMBuildIntCast2(cx->builder, ix, msl_int(cx, 64), 1, "");
        sum = build_sum(v, sum, LLVMBuildMul(cx->builder, ix, size, ""));
    }
    return sum;
}

// From a variable of the thread by its indices: taking its address would cost the vectoriser the
// layout by element (passes/private.c).
Value msl_byte_offset(Validation *v, Value p, const Root *root) {
    MslContext *cx = &v->cg->cx;
    Value at = p;
    while (LLVMIsAGetElementPtrInst(at)) at = LLVMGetOperand(at, 0);
    if (at == root->start) {
        Value sum = msl_const(cx, 64, 0);
        for (at = p; at != root->start; at = LLVMGetOperand(at, 0))
            sum = build_sum(v, sum, gep_bytes(v, at));
        return sum;
    }
    return LLVMBuildSub(cx->builder, LLVMBuildPtrToInt(cx->builder, p, msl_int(cx, 64), ""),
                        LLVMBuildPtrToInt(cx->builder, root->start, msl_int(cx, 64), ""), "");
}

// ---- reports ----

static LLVMMetadataRef file_of(LLVMMetadataRef location) {
    return LLVMDIScopeGetFile(LLVMDILocationGetScope(location));
}

void msl_source_place(Validation *v, Value i, unsigned *line, unsigned *column) {
    (void)v;
    *line = *column = 0;
    LLVMMetadataRef inner = LLVMIsAInstruction(i) ? LLVMInstructionGetDebugLoc(i) : NULL, at = NULL;
    for (LLVMMetadataRef outer = inner; outer; outer = LLVMDILocationGetInlinedAt(outer))
        at = outer; // in the kernel
    LLVMMetadataRef file = at ? file_of(at) : NULL;
    while (inner && file_of(inner) != file) inner = LLVMDILocationGetInlinedAt(inner);
    if (inner) at = inner; // or in a function it calls
    if (at) *line = LLVMDILocationGetLine(at), *column = LLVMDILocationGetColumn(at);
}

// What a report says about a pointer: its offset, or without a root the address.
static Value reported_offset(Validation *v, Value p, const Root *root) {
    if (root->space != ABI_SPACE_POINTER) return msl_byte_offset(v, p, root);
    return LLVMBuildPtrToInt(v->cg->cx.builder, p, msl_int(&v->cg->cx, 64), "");
}

static void report(Validation *v, Value i, AbiBadAccess kind, Value bytes, Value offset,
                   const Root *root, const Where *where) {
    MslContext *cx = &v->cg->cx;
    Value args[12] = {msl_launch(v, where),
                      msl_const(cx, 32, kind),
                      msl_const(cx, 32, root->space),
                      msl_const(cx, 32, root->slot),
                      LLVMBuildIntCast2(cx->builder, bytes, msl_int(cx, 32), 0, ""),
                      offset,
                      root->length};
    for (unsigned d = 0; d < 3; d++) args[7 + d] = thread_position(v, where, d);
    unsigned line, column;
    msl_source_place(v, i, &line, &column);
    args[10] = msl_const(cx, 32, line);
    args[11] = msl_const(cx, 32, column);
    msl_call(v, "ingot_report", LLVMVoidTypeInContext(cx->llvm), args, 12);
}

static Block new_block(Validation *v, Block after, const char *name) {
    Value f = LLVMGetBasicBlockParent(after);
    Block b = LLVMAppendBasicBlockInContext(v->cg->cx.llvm, f, name);
    LLVMMoveBasicBlockAfter(b, after);
    return b;
}

// ---- one access ----

// A call that reaches memory in a way nobody checks: no source makes one, but a library may hold
// it.
bool msl_is_unknown_access(Value i) {
    static const char *const known[] = {
        "llvm.memcpy",  "llvm.memmove",   "llvm.memset",   "llvm.lifetime",
        "llvm.assume",  "llvm.invariant", "llvm.dbg",      "llvm.ptrmask",
        "llvm.launder", "llvm.strip",     "llvm.prefetch", "llvm.experimental.noalias"};
    const char *name = msl_callee(i);
    if (!LLVMIsACallInst(i)) return LLVMIsAVAArgInst(i) || LLVMIsAInvokeInst(i);
    if (!msl_starts(name, "llvm.")) return !*name;
    if (msl_starts(name, "llvm.stackrestore")) // around calls that were inlined
        return !msl_starts(msl_callee(LLVMGetOperand(i, 0)), "llvm.stacksave");
    for (size_t k = 0; k < sizeof known / sizeof *known; k++)
        if (msl_starts(name, known[k])) return false;
    for (unsigned k = 0; k < LLVMGetNumArgOperands(i); k++) {
        Type t = LLVMTypeOf(LLVMGetOperand(i, k));
        if (LLVMGetTypeKind(t) == LLVMVectorTypeKind) t = LLVMGetElementType(t);
        if (LLVMGetTypeKind(t) == LLVMPointerTypeKind) return true;
    }
    return false;
}

static Value any_root(Validation *v, Value p, uint64_t bytes, Root *const *roots, int n) {
    LLVMBuilderRef b = v->cg->cx.builder;
    Value ok = NULL;
    for (int r = 0; r < n; r++) {
        Value limit = msl_limit(v, roots[r]->length, bytes);
        Value c = LLVMBuildICmp(b, LLVMIntULT, msl_byte_offset(v, p, roots[r]), limit, "");
        ok = ok ? LLVMBuildOr(b, ok, c, "") : c;
    }
    return ok;
}

// What stands for a load that was left out. A compare-exchange succeeds, or loops around it would
// not end.
static Value nothing(Validation *v, Value i) {
    Type t = LLVMTypeOf(i);
    if (!LLVMIsAAtomicCmpXchgInst(i)) return LLVMConstNull(t);
    Value members[2] = {LLVMConstNull(LLVMStructGetTypeAtIndex(t, 0)), msl_const(&v->cg->cx, 1, 1)};
    return LLVMConstStructInContext(v->cg->cx.llvm, members, 2, 0);
}

void msl_check_branch(Validation *v, Value i, const Access *a, Root *const *roots,
                      const Where *where) {
    MslContext *cx = &v->cg->cx;
    LLVMBuilderRef b = cx->builder;
    Block before = LLVMGetInstructionParent(i);
    Block end = bridge_split_before(LLVMGetNextInstruction(i));
    Value p = LLVMGetOperand(i, (unsigned)a->operand), bytes = msl_const(cx, 64, a->bytes);
    Block bad = new_block(v, before, "bad"), good = new_block(v, before, "good");
    LLVMInstructionRemoveFromParent(i);
    LLVMPositionBuilderAtEnd(b, before);
    Value ok = a->chosen ? any_root(v, p, a->bytes, &a->chosen, 1)
                         : any_root(v, p, a->bytes, roots, a->n_roots);
    bool unknown = false;
    for (int r = 0; r < a->n_roots; r++) unknown |= roots[r]->space == ABI_SPACE_POINTER;
    if (unknown) { // perhaps its root is, say, one past the end of the resource
        Block ask = new_block(v, before, "ask");
        LLVMBuildCondBr(b, ok, good, ask);
        LLVMPositionBuilderAtEnd(b, ask);
        Value args[3] = {msl_launch(v, where), p, bytes};
        Value known = msl_call(v, "ingot_known", msl_int(cx, 32), args, 3);
        ok = LLVMBuildICmp(b, LLVMIntNE, known, msl_const(cx, 32, 0), "");
    }
    LLVMBuildCondBr(b, ok, good, bad);
    LLVMPositionBuilderAtEnd(b, good);
    msl_insert(cx, i);
    LLVMBuildBr(b, end);
    LLVMPositionBuilderAtEnd(b, bad);
    report(v, i, a->kind, bytes, reported_offset(v, p, roots[0]), roots[0], where);
    LLVMBuildBr(b, end);
    if (LLVMGetTypeKind(LLVMTypeOf(i)) == LLVMVoidTypeKind) return;
    LLVMPositionBuilder(b, end, LLVMGetFirstInstruction(end));
    Value phi = LLVMBuildPhi(b, LLVMTypeOf(i), "");
    LLVMReplaceAllUsesWith(i, phi);
    LLVMAddIncoming(phi, (Value[]){i, nothing(v, i)}, (Block[]){good, bad}, 2);
}

// ---- memcpy, memmove, memset ----

Value msl_whole_inside(Validation *v, Value p, Value n, Root *const *roots, int n_roots) {
    LLVMBuilderRef b = v->cg->cx.builder;
    Value ok = LLVMBuildICmp(b, LLVMIntEQ, n, LLVMConstNull(LLVMTypeOf(n)), "");
    for (int r = 0; r < n_roots; r++) {
        if (roots[r]->trusted) return msl_const(&v->cg->cx, 1, 1);
        Value offset = msl_byte_offset(v, p, roots[r]), length = roots[r]->length;
        Value starts = LLVMBuildICmp(b, LLVMIntULE, offset, length, "");
        Value ends = LLVMBuildICmp(b, LLVMIntULE, n, LLVMBuildSub(b, length, offset, ""), "");
        ok = LLVMBuildOr(b, ok, LLVMBuildAnd(b, starts, ends, ""), "");
    }
    return ok;
}

// At the end of the builder's block, which has no end yet; the builder goes on behind it.
void msl_report_unless(Validation *v, Value ok, Value i, AbiBadAccess kind, Value n, Value p,
                       const Root *root) {
    static const Where here = {0};
    LLVMBuilderRef b = v->cg->cx.builder;
    Block at = LLVMGetInsertBlock(b), bad = new_block(v, at, "bad"),
          rest = new_block(v, bad, "rest");
    LLVMBuildCondBr(b, ok, rest, bad);
    LLVMPositionBuilderAtEnd(b, bad);
    report(v, i, kind, n, reported_offset(v, p, root), root, &here);
    LLVMBuildBr(b, rest);
    LLVMPositionBuilderAtEnd(b, rest);
}

// All or nothing: what would be read or written partly out of bounds is left out as a whole; what
// cannot be read arrives as zeros.
void msl_check_copy(Validation *v, const Access *a) {
    MslContext *cx = &v->cg->cx;
    LLVMBuilderRef b = cx->builder;
    Value i = a->i;
    Block before = LLVMGetInstructionParent(i);
    Block end = bridge_split_before(LLVMGetNextInstruction(i));
    Value to = LLVMGetOperand(i, 0), from = LLVMGetOperand(i, 1);
    LLVMInstructionRemoveFromParent(i);
    LLVMPositionBuilderAtEnd(b, before);
    Value n = LLVMBuildIntCast2(b, LLVMGetOperand(i, 2), msl_int(cx, 64), 0, "");
    Value write = msl_whole_inside(v, to, n, a->roots, a->n_roots);
    Value read = a->n_from ? msl_whole_inside(v, from, n, a->from, a->n_from) : msl_const(cx, 1, 1);
    if (a->n_from && !a->from[0]->trusted)
        msl_report_unless(v, read, i, ABI_BAD_LOAD, n, from, a->from[0]);
    if (!a->roots[0]->trusted) msl_report_unless(v, write, i, ABI_BAD_STORE, n, to, a->roots[0]);
    Block at = LLVMGetInsertBlock(b), inside = new_block(v, at, "inside");
    LLVMBuildCondBr(b, write, inside, end);
    LLVMPositionBuilderAtEnd(b, inside);
    if (!a->n_from) {
        msl_insert(cx, i);
        LLVMBuildBr(b, end);
        return;
    }
    Block copy = new_block(v, inside, "copy"), zero = new_block(v, copy, "zero");
    LLVMBuildCondBr(b, read, copy, zero);
    LLVMPositionBuilderAtEnd(b, copy);
    msl_insert(cx, i);
    LLVMBuildBr(b, end);
    LLVMPositionBuilderAtEnd(b, zero);
    LLVMBuildMemSet(b, to, msl_const(cx, 8, 0), n, 1);
    LLVMBuildBr(b, end);
}

// The runtime gives `constant` arguments at least the bytes of their type; nothing can go wrong,
// but a buffer that is shorter is still a mistake.
void msl_check_short(Validation *v, const Access *first, const Access *last) {
    static const Where here = {0};
    MslContext *cx = &v->cg->cx;
    LLVMBuilderRef b = cx->builder;
    Block before = LLVMGetInstructionParent(first->i), rest = bridge_split_before(first->i),
          bad = new_block(v, before, "bad");
    Value offset = msl_const(cx, 64, (uint64_t)last->offset),
          bytes = msl_const(cx, 64, last->bytes);
    LLVMPositionBuilderAtEnd(b, before);
    uint64_t reach = (uint64_t)last->offset + last->bytes, needed = last->roots[0]->needed;
    Value end = msl_const(cx, 64, reach < needed ? reach : needed);
    Value ok = LLVMBuildICmp(b, LLVMIntUGE, last->roots[0]->length, end, "");
    LLVMBuildCondBr(b, ok, rest, bad);
    LLVMPositionBuilderAtEnd(b, bad);
    report(v, last->i, last->kind, bytes, offset, last->roots[0], &here);
    LLVMBuildBr(b, rest);
}

// Nothing can go wrong with a texture that is none (reads give zero), but it is a mistake. A null
// acceleration structure is none: there is nothing that rays hit.
void msl_check_handle(Validation *v, Value i) {
    static const Where here = {0};
    MslContext *cx = &v->cg->cx;
    LLVMBuilderRef b = cx->builder;
    const char *name = msl_callee(i);
    bool rays = strstr(name, "__ingot_rays_") != NULL;
    AbiBadAccess kind = strstr(name, "texture_write")    ? ABI_BAD_STORE
                        : strstr(name, "texture_atomic") ? ABI_BAD_ATOMIC
                                                         : ABI_BAD_LOAD;
    Value handle = LLVMGetOperand(i, 0), given = msl_guarded_handle(handle),
          zero = msl_const(cx, 64, 0);
    if (rays && !given) return;
    Block before = LLVMGetInstructionParent(i), rest = bridge_split_before(i),
          bad = new_block(v, before, "bad");
    Root none = {.space = ABI_SPACE_HANDLE,
                 .slot = UINT32_MAX,
                 .length = msl_const(cx, 64, rays ? ABI_LIVE_ACCELERATION : ABI_LIVE_TEXTURE)};
    LLVMPositionBuilderAtEnd(b, before);
    Value null = LLVMBuildICmp(b, LLVMIntEQ, handle, zero, "");
    if (rays) null = LLVMBuildAnd(b, null, LLVMBuildICmp(b, LLVMIntNE, given, zero, ""), "");
    LLVMBuildCondBr(b, null, bad, rest);
    LLVMPositionBuilderAtEnd(b, bad);
    report(v, i, kind, zero, given ? given : zero, &none, &here);
    LLVMBuildBr(b, rest);
}
