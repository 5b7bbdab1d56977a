// SPDX-License-Identifier: Apache-2.0
// validate.c: shader validation. Every access to memory of known extent is checked; a bad one is
// reported and left out.
//   requires  cg->thread inlined, optimised and surveyed; threadgroup memory as __ingot_place calls
//   gives     the same function with checks; __ingot_place lowered
//
// A branch around each access would cost the vectoriser its straight code and each lane a compare
// of 64 bits. So the accesses of a block whose addresses are known at its start are checked
// together, and the block exists twice:
//   if (__ingot_inside(all of them))  the block as it was
//   else                              a call of a function that does the same for one thread, each
//                                     access behind a branch (validate_check.c)
// __ingot_inside is one answer for all threads of a vector step. For an address that is linear in
// the lane it looks at the first and the last lane only (passes/emit_check.c): two scalar compares
// for up to 256 threads. 5x5 blur: 1.4x the time of code without checks, 2026-11.
//
// Not checked together: addresses that are the same for all threads (their loads must stay uniform
// values: a branch the whole step takes), variables of the thread, copies.
#include "compiler/codegen/validate_int.h"
#include "compiler/codegen/gpu.h"
#include <llvm-c/DebugInfo.h>
#include <stdlib.h>
#include <string.h>

void *msl_validate_alloc(Validation *v, size_t n, size_t size) {
    void *p = base_arena_alloc(&v->arena, n ? n : 1, size);
    if (!p) msl_fail(&v->cg->cx, "out of memory");
    return p;
}

void *msl_validate_grow(Validation *v, void *list, size_t n, size_t *max) {
    if (n < *max) return list;
    void *more = msl_validate_alloc(v, *max = 2 * *max + 64, sizeof(void *));
    if (n) memcpy(more, list, n * sizeof(void *));
    return more;
}

void msl_validation_free(Cg *cg) {
    if (cg->validation) base_arena_free(&cg->validation->arena);
    free(cg->validation);
    cg->validation = NULL;
}

// ---- the accesses ----

static bool is_copy(Value i) {
    const char *name = msl_callee(i);
    return msl_starts(name, "llvm.memcpy") || msl_starts(name, "llvm.memmove") ||
           msl_starts(name, "llvm.memset");
}

// Kind, pointer and size of an access; false if i is none.
static bool describe(Validation *v, Value i, Access *a) {
    LLVMTargetDataRef layout = v->cg->cx.layout;
    *a = (Access){.i = i};
    switch (LLVMGetInstructionOpcode(i)) {
    case LLVMLoad:
        a->kind = ABI_BAD_LOAD;
        a->bytes = LLVMStoreSizeOfType(layout, LLVMTypeOf(i));
        return true;
    case LLVMStore:
        a->kind = ABI_BAD_STORE;
        a->operand = 1;
        a->bytes = LLVMStoreSizeOfType(layout, LLVMTypeOf(LLVMGetOperand(i, 0)));
        if (LLVMTypeOf(LLVMGetOperand(i, 0)) == msl_null_call_type(&v->cg->cx))
            a->kind = ABI_BAD_CALL;
        return true;
    case LLVMAtomicRMW:
    case LLVMAtomicCmpXchg:
        a->kind = ABI_BAD_ATOMIC;
        a->bytes = LLVMStoreSizeOfType(layout, LLVMTypeOf(LLVMGetOperand(i, 1)));
        return true;
    case LLVMCall: a->kind = ABI_BAD_STORE; return is_copy(i);
    default: return false;
    }
}

// Only arithmetic on floats of the same block sees it: it may become a value per lane.
static bool stays_in_block(Value i) {
    Type t = LLVMTypeOf(i);
    LLVMTypeKind k = LLVMGetTypeKind(t);
    if (k == LLVMVectorTypeKind) k = LLVMGetTypeKind(LLVMGetElementType(t));
    if (k != LLVMFloatTypeKind && k != LLVMHalfTypeKind && k != LLVMBFloatTypeKind) return false;
    for (LLVMUseRef u = LLVMGetFirstUse(i); u; u = LLVMGetNextUse(u)) {
        Value user = LLVMGetUser(u);
        if (LLVMGetInstructionParent(user) != LLVMGetInstructionParent(i) || LLVMIsAPHINode(user))
            return false;
    }
    return true;
}

static Mode choose_mode(Validation *v, Access *a) {
    Value p = LLVMGetOperand(a->i, (unsigned)a->operand);
    Root *r = a->roots[0];
    for (int k = 0; k < a->n_roots; k++)
        if (a->roots[k]->trusted) return MODE_NONE;
    if (!a->bytes) return MODE_BRANCH;
    a->fixed = a->n_roots == 1 && msl_constant_offset(v, p, r, &a->offset) && a->offset >= 0;
    if (a->fixed) {
        uint64_t end = (uint64_t)a->offset + a->bytes, length = 0;
        if (r->space == ABI_SPACE_BUFFER && end <= r->safe && a->kind == ABI_BAD_LOAD)
            return MODE_SHORT;
        msl_root_values(v, r);
        if (LLVMIsAConstantInt(r->length)) length = LLVMConstIntGetZExtValue(r->length);
        if (end <= length) return MODE_NONE;
    }
    if (v->cg->request->width == 1) return MODE_BRANCH; // the reference trusts nothing
    msl_root_values(v, r);
    if (msl_stays_inside(v, a)) return MODE_NONE;
    // Pixels that only help have addresses of their own kind: no check for all of them together.
    if (a->n_roots > 1 || r->space == ABI_SPACE_THREAD || msl_is_graphics(v->cg))
        return MODE_BRANCH;
    if (a->kind == ABI_BAD_LOAD && !msl_varies(v, p) && !stays_in_block(a->i)) return MODE_BRANCH;
    return MODE_REGION;
}

// The address may be out of bounds: nothing may be concluded from it.
static void strip_flags(Value p) {
    for (; LLVMIsAGetElementPtrInst(p); p = LLVMGetOperand(p, 0)) LLVMGEPSetNoWrapFlags(p, 0);
}

static void note_access(Validation *v, Value i) {
    Access found;
    if (!describe(v, i, &found)) return;
    v->accesses = msl_validate_grow(v, v->accesses, v->n_accesses, &v->max_accesses);
    Access *a = msl_validate_alloc(v, 1, sizeof *a);
    *a = found;
    Value p = LLVMGetOperand(i, (unsigned)a->operand);
    a->n_roots = msl_find_roots(v, p, a->roots);
    bool copies = is_copy(i) && !msl_starts(msl_callee(i), "llvm.memset");
    if (copies) a->n_from = msl_find_roots(v, LLVMGetOperand(i, 1), a->from);
    a->mode = choose_mode(v, a);
    if (copies && a->mode == MODE_NONE && !a->from[0]->trusted) a->mode = MODE_BRANCH;
    strip_flags(p);
    if (copies) strip_flags(LLVMGetOperand(i, 1));
    for (int r = 0; a->mode != MODE_NONE && r < a->n_roots; r++) msl_root_values(v, a->roots[r]);
    // Past the end of one may be the first byte of another.
    if (a->mode == MODE_BRANCH && a->n_roots > 1 && a->bytes) {
        a->chosen = msl_validate_alloc(v, 1, sizeof *a->chosen);
        *a->chosen = *a->roots[0];
        a->chosen->value = p;
        msl_choose_bounds(v, a->chosen);
    }
    for (int r = 0; a->mode != MODE_NONE && r < a->n_from; r++) msl_root_values(v, a->from[r]);
    LLVMMetadataRef number =
        LLVMValueAsMetadata(msl_const(&v->cg->cx, 32, (uint64_t)v->n_accesses));
    LLVMSetMetadata(
        i, v->access_kind,
        LLVMMetadataAsValue(v->cg->cx.llvm, LLVMMDNodeInContext2(v->cg->cx.llvm, &number, 1)));
    v->accesses[v->n_accesses++] = a;
}

Access *msl_access_of(const Validation *v, Value i) {
    Value node = LLVMIsAInstruction(i) ? LLVMGetMetadata(i, v->access_kind) : NULL, number;
    if (!node) return NULL;
    LLVMGetMDNodeOperands(node, &number);
    return v->accesses[LLVMConstIntGetZExtValue(number)];
}

static void note_accesses(Validation *v) {
    size_t n = 0, max = 0;
    Value *all = NULL; // noting inserts instructions
    for (Block b = LLVMGetFirstBasicBlock(v->cg->thread); b; b = LLVMGetNextBasicBlock(b))
        for (Value i = LLVMGetFirstInstruction(b), next; i; i = next) {
            next = LLVMGetNextInstruction(i);
            if (msl_starts(msl_callee(i), "llvm.assume")) { // may rest on what is to be checked
                LLVMInstructionEraseFromParent(i);
                continue;
            }
            all = msl_validate_grow(v, all, n, &max);
            all[n++] = i;
        }
    for (size_t k = 0; k < n; k++) {
        if (msl_is_unknown_access(all[k]))
            msl_fail(&v->cg->cx, "'%s' calls '%s', which shader validation does not know",
                     v->cg->fn->name, msl_callee(all[k]));
        note_access(v, all[k]);
        if (msl_is_tensor_call(all[k])) msl_note_tensor(v, all[k]);
    }
}

// MODE_SHORT: once for each block and argument.
static void check_shorts(Validation *v) {
    for (size_t k = 0; k < v->n_accesses; k++) {
        const Access *a = v->accesses[k], *last = a;
        if (a->mode != MODE_SHORT) continue;
        Block b = LLVMGetInstructionParent(a->i);
        bool first = true;
        for (size_t o = 0; o < v->n_accesses; o++) {
            const Access *c = v->accesses[o];
            if (c->mode != MODE_SHORT || c->roots[0] != a->roots[0]) continue;
            // A block split by an earlier one: what follows was looked at with it.
            if (LLVMGetInstructionParent(c->i) != b) continue;
            if (o < k) first = false;
            if ((uint64_t)c->offset + c->bytes > (uint64_t)last->offset + last->bytes) last = c;
        }
        if (first) msl_check_short(v, a, last);
    }
}

// ---- regions ----

// Instructions of one block, in order, that follow the first access: those that depend on it or
// touch memory. The others were moved before it.
typedef struct Region {
    Value *members;
    size_t n, max;
    Value node;
} Region;

static bool is_pure_call(Value i) {
    const char *name = msl_callee(i);
    if (msl_starts(name, "__ingot_position") || msl_starts(name, "__ingot_launch") ||
        msl_starts(name, "__ingot_place") || msl_starts(name, "__ingot_texture_info") ||
        msl_starts(name, "__ingot_handle_word") || msl_is_lookup(name))
        return true;
    if (!msl_starts(name, "llvm.")) return false;
    static const char *const not[] = {"llvm.mem",  "llvm.lifetime", "llvm.assume",
                                      "llvm.trap", "llvm.masked",   "llvm.debugtrap"};
    for (size_t k = 0; k < sizeof not / sizeof *not; k++)
        if (msl_starts(name, not[k])) return false;
    return true;
}

static bool is_pure(const Validation *v, Value i) {
    switch (LLVMGetInstructionOpcode(i)) {
    case LLVMLoad: {
        const Access *a =
            msl_access_of(v, i); // none: the launch and what is behind it never change
        return !a || a->mode == MODE_SHORT || (a->mode == MODE_NONE && a->roots[0]->trusted);
    }
    case LLVMStore:
    case LLVMFence:
    case LLVMAtomicRMW:
    case LLVMAtomicCmpXchg:
    case LLVMAlloca:
    case LLVMPHI: return false;
    case LLVMCall: return is_pure_call(i);
    default: return !LLVMIsATerminatorInst(i);
    }
}

static bool in_region(const Validation *v, const Region *r, Value value) {
    return r->n && LLVMIsAInstruction(value) && LLVMGetMetadata(value, v->region_kind) == r->node;
}

static bool depends(const Validation *v, const Region *r, Value i) {
    int n = LLVMIsACallInst(i) ? (int)LLVMGetNumArgOperands(i) : LLVMGetNumOperands(i);
    for (int o = 0; o < n; o++)
        if (in_region(v, r, LLVMGetOperand(i, (unsigned)o))) return true;
    return false;
}

static void add_member(Validation *v, Region *r, Value i) {
    if (!r->n) {
        LLVMMetadataRef number =
            LLVMValueAsMetadata(msl_const(&v->cg->cx, 32, (uint64_t)v->n_regions++));
        r->node =
            LLVMMetadataAsValue(v->cg->cx.llvm, LLVMMDNodeInContext2(v->cg->cx.llvm, &number, 1));
    }
    r->members = msl_validate_grow(v, r->members, r->n, &r->max);
    r->members[r->n++] = i;
    LLVMSetMetadata(i, v->region_kind, r->node);
}

// ---- the slow path: the region for one thread, as a function ----

typedef struct Slow {
    Value *old, *fresh; // values of the thread function, and what stands for them
    size_t n, max_old, max_fresh;
    Value *in; // values that are parameters
    size_t n_in, max_in;
    Value *out; // members that are used behind the region
    size_t n_out, max_out;
    Value f;
} Slow;

static Value mapped(const Slow *s, Value value) {
    for (size_t k = s->n; k-- > 0;)
        if (s->old[k] == value) return s->fresh[k];
    return NULL;
}

static void map(Validation *v, Slow *s, Value old, Value fresh) {
    s->old = msl_validate_grow(v, s->old, s->n, &s->max_old);
    s->fresh = msl_validate_grow(v, s->fresh, s->n, &s->max_fresh);
    s->old[s->n] = old;
    s->fresh[s->n++] = fresh;
}

// Addresses are computed again inside: the vectoriser may take them for linear over lanes between
// which an index wraps; for one thread they are exact.
static bool computed_again(Value value) {
    if (!LLVMIsAInstruction(value)) return false;
    switch (LLVMGetInstructionOpcode(value)) {
    case LLVMGetElementPtr: return true;
    case LLVMSExt:
    case LLVMZExt:
    case LLVMAdd:
    case LLVMSub:
    case LLVMMul:
    case LLVMShl:
        return LLVMGetTypeKind(LLVMTypeOf(value)) == LLVMIntegerTypeKind &&
               LLVMGetIntTypeWidth(LLVMTypeOf(value)) == 64;
    default: return false;
    }
}

// What the function needs to know of `value`; first without a function, to count parameters.
static void need(Validation *v, Slow *s, Value value) {
    if ((LLVMIsAConstant(value) && !LLVMIsAArgument(value)) || LLVMIsAMDNode(value) ||
        LLVMIsAInlineAsm(value) || mapped(s, value))
        return;
    if (computed_again(value)) {
        for (int o = 0; o < LLVMGetNumOperands(value); o++)
            need(v, s, LLVMGetOperand(value, (unsigned)o));
        if (!s->f) {
            map(v, s, value, value);
            return;
        }
        Value copy = LLVMInstructionClone(value);
        for (int o = 0; o < LLVMGetNumOperands(value); o++) {
            Value with = mapped(s, LLVMGetOperand(value, (unsigned)o));
            if (with) LLVMSetOperand(copy, (unsigned)o, with);
        }
        msl_insert(&v->cg->cx, copy);
        map(v, s, value, copy);
        return;
    }
    if (!s->f) {
        s->in = msl_validate_grow(v, s->in, s->n_in, &s->max_in);
        s->in[s->n_in++] = value;
        map(v, s, value, value);
    }
}

static void need_all(Validation *v, Slow *s, const Region *r) {
    for (size_t k = 0; k < r->n; k++) {
        Value i = r->members[k];
        const Access *a = msl_access_of(v, i);
        int n = LLVMIsACallInst(i) ? (int)LLVMGetNumArgOperands(i) : LLVMGetNumOperands(i);
        for (int o = 0; o < n; o++) need(v, s, LLVMGetOperand(i, (unsigned)o));
        if (a && a->mode == MODE_REGION) {
            need(v, s, a->roots[0]->start);
            need(v, s, a->roots[0]->length);
        }
        if (!s->f) {
            map(v, s, i, i);
            continue;
        }
        Value copy = LLVMInstructionClone(i);
        for (int o = 0; o < n; o++) {
            Value with = mapped(s, LLVMGetOperand(i, (unsigned)o));
            if (with) LLVMSetOperand(copy, (unsigned)o, with);
        }
        msl_insert(&v->cg->cx, copy);
        map(v, s, i, copy);
    }
}

static bool used_behind(const Validation *v, const Region *r, Value i) {
    for (LLVMUseRef u = LLVMGetFirstUse(i); u; u = LLVMGetNextUse(u))
        if (!in_region(v, r, LLVMGetUser(u))) return true;
    return false;
}

static void check_members(Validation *v, Slow *s, const Region *r, const Where *where) {
    for (size_t k = 0; k < r->n; k++) {
        const Access *a = msl_access_of(v, r->members[k]);
        if (!a || a->mode != MODE_REGION) continue;
        Root here = *a->roots[0], *roots[1] = {&here};
        Value start = mapped(s, here.start), length = mapped(s, here.length);
        if (start) here.start = start;
        if (length) here.length = length;
        msl_check_branch(v, mapped(s, r->members[k]), a, roots, where);
    }
}

static void build_slow(Validation *v, Slow *s, const Region *r) {
    enum { OWN = 4 }; // launch and position
    MslContext *cx = &v->cg->cx;
    LLVMBuilderRef b = cx->builder;
    for (size_t k = 0; k < r->n; k++) {
        if (!used_behind(v, r, r->members[k])) continue;
        s->out = msl_validate_grow(v, s->out, s->n_out, &s->max_out);
        s->out[s->n_out++] = r->members[k];
    }
    need_all(v, s, r);
    Type *types = msl_validate_alloc(v, s->n_in + OWN, sizeof *types),
         *results = msl_validate_alloc(v, s->n_out, sizeof *results);
    types[0] = msl_ptr(cx);
    for (int d = 0; d < 3; d++) types[1 + d] = msl_int(cx, 32);
    for (size_t k = 0; k < s->n_in; k++) types[OWN + k] = LLVMTypeOf(s->in[k]);
    for (size_t k = 0; k < s->n_out; k++) results[k] = LLVMTypeOf(s->out[k]);
    Type result = LLVMVoidTypeInContext(cx->llvm);
    if (s->n_out) result = LLVMStructTypeInContext(cx->llvm, results, (unsigned)s->n_out, 0);
    s->f = LLVMAddFunction(cx->module, "ingot_slow",
                           LLVMFunctionType(result, types, (unsigned)s->n_in + OWN, 0));
    LLVMSetLinkage(s->f, LLVMInternalLinkage);
    static const char *const attributes[] = {"noinline", "cold", "nounwind"};
    for (int k = 0; k < 3; k++)
        msl_add_attribute(cx, s->f, LLVMAttributeFunctionIndex, attributes[k], 0);
    s->n = 0;
    Where where = {.launch = LLVMGetParam(s->f, 0)};
    for (unsigned d = 0; d < 3; d++) where.thread[d] = LLVMGetParam(s->f, 1 + d);
    for (size_t k = 0; k < s->n_in; k++) map(v, s, s->in[k], LLVMGetParam(s->f, (unsigned)k + OWN));
    LLVMPositionBuilderAtEnd(b, LLVMAppendBasicBlockInContext(cx->llvm, s->f, "entry"));
    need_all(v, s, r);
    if (s->n_out) {
        Value all = LLVMGetPoison(result);
        for (size_t k = 0; k < s->n_out; k++)
            all = LLVMBuildInsertValue(b, all, mapped(s, s->out[k]), (unsigned)k, "");
        LLVMBuildRet(b, all);
    } else {
        LLVMBuildRetVoid(b);
    }
    check_members(v, s, r, &where);
}

// ---- both paths ----

// If access a is inside, so is b: the same place (x[i] = x[i] + ...), or before it in the same
// memory.
static bool is_covered(const Access *a, const Access *b) {
    if (a->roots[0] != b->roots[0]) return false;
    if (LLVMGetOperand(a->i, (unsigned)a->operand) == LLVMGetOperand(b->i, (unsigned)b->operand))
        return a->bytes >= b->bytes;
    return a->fixed && b->fixed && (uint64_t)a->offset + a->bytes >= (uint64_t)b->offset + b->bytes;
}

// i1 __ingot_inside(pointer, start, limit, ...): true if all are inside for all threads of a step;
// at the end of the builder's block.
static Value build_guard(Validation *v, const Region *r) {
    MslContext *cx = &v->cg->cx;
    Value *args = msl_validate_alloc(v, 3 * r->n, sizeof *args);
    const Access **guarded = msl_validate_alloc(v, r->n, sizeof *guarded);
    unsigned n = 0;
    for (size_t k = 0; k < r->n; k++) {
        const Access *a = msl_access_of(v, r->members[k]);
        if (!a || a->mode != MODE_REGION) continue;
        Value p = LLVMGetOperand(a->i, (unsigned)a->operand);
        unsigned same = 0, like = n;
        while (same < n && !is_covered(guarded[same], a)) {
            if (guarded[same]->roots[0] == a->roots[0] && guarded[same]->bytes == a->bytes)
                like = same;
            same++;
        }
        if (same < n) continue;
        // Constant offsets that end before this one are covered by it.
        for (same = 0; same < n && !is_covered(a, guarded[same]);) same++;
        args[3 * same] = p;
        args[3 * same + 1] = a->roots[0]->start;
        args[3 * same + 2] =
            like < n ? args[3 * like + 2] : msl_limit(v, a->roots[0]->length, a->bytes);
        guarded[same] = a;
        n += same == n;
    }
    Type type = LLVMFunctionType(msl_int(cx, 1), NULL, 0, 1);
    Value f = LLVMGetNamedFunction(cx->module, "__ingot_inside");
    if (!f) {
        f = LLVMAddFunction(cx->module, "__ingot_inside", type);
        static const char *const pure[] = {"nounwind", "willreturn", "nofree", "nosync"};
        for (size_t i = 0; i < sizeof pure / sizeof *pure; i++)
            msl_add_attribute(cx, f, LLVMAttributeFunctionIndex, pure[i], 0);
        msl_add_attribute(cx, f, LLVMAttributeFunctionIndex, "memory", 0); // memory(none)
    }
    return LLVMBuildCall2(cx->builder, type, f, args, 3 * n, "");
}

static Value call_slow(Validation *v, const Slow *s) {
    MslContext *cx = &v->cg->cx;
    unsigned n = 0;
    Value *args = msl_validate_alloc(v, s->n_in + 4, sizeof *args);
    args[n++] = msl_launch(v, NULL);
    for (unsigned d = 0; d < 3; d++) {
        Value in[2] = {msl_const(cx, 32, RF_THREAD_POSITION_IN_GRID), msl_const(cx, 32, d)};
        args[n++] = msl_call(v, "__ingot_position", msl_int(cx, 32), in, 2);
    }
    for (size_t k = 0; k < s->n_in; k++) args[n++] = s->in[k];
    return LLVMBuildCall2(cx->builder, LLVMGlobalGetValueType(s->f), s->f, args, n, "");
}

static void replace_behind(const Validation *v, const Region *r, Value old, Value with) {
    for (LLVMUseRef u = LLVMGetFirstUse(old); u;) {
        Value user = LLVMGetUser(u);
        if (user == with || in_region(v, r, user)) {
            u = LLVMGetNextUse(u);
            continue;
        }
        for (int o = 0; o < LLVMGetNumOperands(user); o++)
            if (LLVMGetOperand(user, (unsigned)o) == old) LLVMSetOperand(user, (unsigned)o, with);
        u = LLVMGetFirstUse(old); // the list has changed
    }
}

// `stop` is the first instruction behind the region.
static void end_region(Validation *v, Region *r, Value stop) {
    MslContext *cx = &v->cg->cx;
    LLVMBuilderRef b = cx->builder;
    if (!r->n) return;
    Block before = LLVMGetInstructionParent(r->members[0]),
          fast = bridge_split_before(r->members[0]), join = bridge_split_before(stop);
    Slow s = {0};
    build_slow(v, &s, r);
    Block slow = LLVMAppendBasicBlockInContext(cx->llvm, v->cg->thread, "slow");
    LLVMMoveBasicBlockAfter(slow, fast);
    LLVMPositionBuilderAtEnd(b, before);
    LLVMBuildCondBr(b, build_guard(v, r), fast, slow);
    LLVMPositionBuilderAtEnd(b, fast);
    LLVMBuildBr(b, join);
    LLVMPositionBuilderAtEnd(b, slow);
    Value results = call_slow(v, &s), *result = msl_validate_alloc(v, s.n_out, sizeof *result);
    for (size_t k = 0; k < s.n_out; k++)
        result[k] = LLVMBuildExtractValue(b, results, (unsigned)k, "");
    LLVMBuildBr(b, join);
    LLVMPositionBuilder(b, join, LLVMGetFirstInstruction(join));
    for (size_t k = 0; k < s.n_out; k++) {
        Value phi = LLVMBuildPhi(b, LLVMTypeOf(s.out[k]), "");
        LLVMAddIncoming(phi, (Value[]){s.out[k], result[k]}, (Block[]){fast, slow}, 2);
        replace_behind(v, r, s.out[k], phi);
    }
    for (size_t k = 0; k < r->n; k++) LLVMSetMetadata(r->members[k], v->region_kind, NULL);
    *r = (Region){0};
}

static void move_before(Validation *v, Value i, Value place) {
    LLVMInstructionRemoveFromParent(i);
    LLVMPositionBuilderBefore(v->cg->cx.builder, place);
    msl_insert(&v->cg->cx, i);
}

// An access that needs no check: threadgroup variables and constants at fixed places.
static bool is_harmless(const Access *a) {
    return a && a->bytes && a->mode == MODE_NONE && !a->roots[0]->trusted &&
           a->roots[0]->space != ABI_SPACE_THREAD;
}

// May `i` join the region? Otherwise it ends before i.
static bool joins(const Validation *v, const Region *r, Value i) {
    const Access *a = msl_access_of(v, i);
    // What is looked up stays outside: other regions ask for it.
    if (msl_is_lookup(msl_callee(i)) && depends(v, r, i)) return false;
    if (is_pure(v, i) || is_harmless(a)) return true;
    if (!a || a->mode != MODE_REGION) return false;
    return !in_region(v, r, LLVMGetOperand(i, (unsigned)a->operand)) &&
           !in_region(v, r, a->roots[0]->start) && !in_region(v, r, a->roots[0]->length);
}

static void check_block(Validation *v, Block b) {
    static const Where here = {0};
    Region r = {0};
    Value i = LLVMGetFirstInstruction(b);
    while (LLVMIsAPHINode(i)) i = LLVMGetNextInstruction(i);
    while (!LLVMIsATerminatorInst(i)) {
        Value next = LLVMGetNextInstruction(i);
        Access *a = msl_access_of(v, i);
        if (r.n && !joins(v, &r, i)) end_region(v, &r, i);
        if (is_pure(v, i)) {
            if (r.n && depends(v, &r, i))
                add_member(v, &r, i);
            else if (r.n)
                move_before(v, i, r.members[0]);
        } else if ((a && a->mode == MODE_REGION) || (r.n && is_harmless(a))) {
            add_member(v, &r, i);
        } else if (a && a->mode == MODE_BRANCH) {
            if (a->bytes)
                msl_check_branch(v, i, a, a->roots, &here);
            else
                msl_check_copy(v, a);
        } else if (strstr(msl_callee(i), "__ingot_texture_") ||
                   strstr(msl_callee(i), "__ingot_rays_")) {
            msl_check_handle(v, i);
        } else if (msl_is_tensor_call(i)) {
            msl_check_tensor(v, i);
        }
        i = next;
    }
    end_region(v, &r, i);
}

// ---- the pass ----

static void lower_places(Validation *v) {
    MslContext *cx = &v->cg->cx;
    Value f = LLVMGetNamedFunction(cx->module, "__ingot_place"),
          memory = LLVMGetParam(v->cg->thread, v->cg->fn->n_slots);
    // Until now nobody used the parameter, and that was inferred: with it loads would cross
    // barriers.
    LLVMRemoveEnumAttributeAtIndex(v->cg->thread, v->cg->fn->n_slots + 1,
                                   LLVMGetEnumAttributeKindForName("readnone", 8));
    for (LLVMUseRef use; f && (use = LLVMGetFirstUse(f));) {
        Value call = LLVMGetUser(use), at = LLVMGetOperand(call, 0);
        LLVMPositionBuilderBefore(cx->builder, call);
        LLVMReplaceAllUsesWith(
            call, LLVMBuildInBoundsGEP2(cx->builder, msl_int(cx, 8), memory, &at, 1, ""));
        LLVMInstructionEraseFromParent(call);
    }
}

static void open(Cg *cg) {
    MslContext *cx = &cg->cx;
    Validation *v = calloc(1, sizeof *v);
    if (!v) msl_fail(cx, "out of memory");
    cg->validation = v;
    v->cg = cg;
    v->access_kind = LLVMGetMDKindIDInContext(cx->llvm, "ingot.access", 12);
    v->varies_kind = LLVMGetMDKindIDInContext(cx->llvm, "ingot.varies", 12);
    v->region_kind = LLVMGetMDKindIDInContext(cx->llvm, "ingot.region", 12);
    v->empty = LLVMMetadataAsValue(cx->llvm, LLVMMDNodeInContext2(cx->llvm, NULL, 0));
}

void msl_validate(Cg *cg) {
    MslContext *cx = &cg->cx;
    if (!cg->request->validate) {
        if (!cg->request->debug) LLVMStripModuleDebugInfo(cx->module);
        return;
    }
    open(cg);
    Validation *v = cg->validation;
    // What was inferred of its memory accesses no longer holds.
    LLVMRemoveEnumAttributeAtIndex(cg->thread, LLVMAttributeFunctionIndex,
                                   LLVMGetEnumAttributeKindForName("memory", 6));
    msl_expand_notes(v);
    msl_expand_relative_loads(v);
    msl_guard_handles(v);
    msl_hoist_places(v);
    msl_mark_varying(v);
    note_accesses(v);
    check_shorts(v);
    size_t n = 0, max = 0;
    Block *blocks = NULL; // checking adds blocks, which need none
    for (Block b = LLVMGetFirstBasicBlock(cg->thread); b; b = LLVMGetNextBasicBlock(b)) {
        blocks = msl_validate_grow(v, blocks, n, &max);
        blocks[n++] = b;
    }
    for (size_t k = 0; k < n; k++) check_block(v, blocks[k]);
    msl_watch_accesses(v);
    lower_places(v);
    if (!cg->request->debug) LLVMStripModuleDebugInfo(cx->module);
    LLVMSetCurrentDebugLocation2(cx->builder, NULL); // the last instruction it stood at
    if (cx->nvptx)
        msl_link_gpu_code(cg, MSL_GPU_NOTES);
    else
        msl_link_device_code(cg, MSL_DEVICE_VALIDATE);
    msl_describe_module(v);
    msl_validation_free(cg);
    msl_verify(cx, "validate");
}
