// SPDX-License-Identifier: Apache-2.0
// barrier.c: a SIMD-group that waits at a barrier is a suspended coroutine.
//   purpose   f(..., frame) with calls of __ingot_threadgroup_barrier -> an LLVM coroutine whose
//             frame is the memory given; codegen/support/group.c starts one for each SIMD-group and
//             resumes them in turn
//   requires  the vectorised version f calls is inlined into it; barriers in uniform control flow
//   breaks    nothing may run instcombine between the freezes inserted here and coro-split
// Values live across a suspension are frozen just before it, for two reasons that cost time
// otherwise: coro-split recomputes arithmetic after a suspension from operands it then has to save
// (32 products instead of one sum), and it saves a value where it is defined, be that in an inner
// loop.
#include "compiler/codegen/wrap.h"
#include "compiler/passes/map.h"
#include <stdlib.h>
#include <string.h>

enum { FRAME_ALIGN = 128, LARGE = 1000, LARGE_BASELINE = 100 }; // LARGE: instructions

static LLVMValueRef call_intrinsic(Cg *cg, const char *name, LLVMTypeRef *overload,
                                   size_t n_overload, LLVMValueRef *args, unsigned n) {
    unsigned id = LLVMLookupIntrinsicID(name, strlen(name));
    LLVMValueRef f = LLVMGetIntrinsicDeclaration(cg->cx.module, id, overload, n_overload);
    return LLVMBuildCall2(cg->cx.builder,
                          LLVMIntrinsicGetType(cg->cx.llvm, id, overload, n_overload), f, args, n,
                          "");
}

typedef struct Coroutine {
    LLVMValueRef f, handle;
    LLVMBasicBlockRef cleanup, leave; // destruction; every way out
    LLVMValueRef *suspends;           // calls of llvm.coro.suspend
    LLVMBasicBlockRef *resumes;       // where each goes on
    unsigned n;
} Coroutine;

static LLVMValueRef build_suspend(Cg *cg, Coroutine *co, LLVMBasicBlockRef go_on, bool final) {
    MslContext *cx = &cg->cx;
    LLVMValueRef none = LLVMConstNull(LLVMTokenTypeInContext(cx->llvm));
    LLVMValueRef args[2] = {none, msl_const(cx, 1, final)};
    LLVMValueRef which = call_intrinsic(cg, "llvm.coro.suspend", NULL, 0, args, 2);
    LLVMValueRef choice = LLVMBuildSwitch(cx->builder, which, co->leave, 2);
    LLVMAddCase(choice, msl_const(cx, 8, 0), go_on);
    LLVMAddCase(choice, msl_const(cx, 8, 1), co->cleanup);
    return which;
}

// The frame's size, as coro-split will compute it, is stored to a global to be read back from
// there.
static void begin(Cg *cg, Coroutine *co) {
    MslContext *cx = &cg->cx;
    LLVMValueRef at = LLVMGetFirstInstruction(LLVMGetEntryBasicBlock(co->f));
    while (LLVMIsAAllocaInst(at)) at = LLVMGetNextInstruction(at);
    LLVMPositionBuilderBefore(cx->builder, at);
    LLVMValueRef null = LLVMConstNull(msl_ptr(cx));
    LLVMValueRef id =
        call_intrinsic(cg, "llvm.coro.id", NULL, 0,
                       (LLVMValueRef[]){msl_const(cx, 32, FRAME_ALIGN), null, null, null}, 4);
    LLVMTypeRef i64 = msl_int(cx, 64);
    LLVMBuildStore(cx->builder, call_intrinsic(cg, "llvm.coro.size", &i64, 1, NULL, 0),
                   cg->loop.frame_bytes);
    LLVMValueRef frame = LLVMGetParam(co->f, LLVMCountParams(co->f) - 1);
    co->handle = call_intrinsic(cg, "llvm.coro.begin", NULL, 0, (LLVMValueRef[]){id, frame}, 2);
}

// What runs before the first barrier exists twice after the split if a loop leads back to it: in
// the start and in the resumed part. A large coroutine stops right at its start instead: one more
// resume, half the code.
static void suspend_at_once(Cg *cg, Coroutine *co) {
    LLVMValueRef barrier = LLVMGetNamedFunction(cg->cx.module, "__ingot_threadgroup_barrier");
    LLVMValueRef flags = msl_const(&cg->cx, 32, 0);
    LLVMPositionBuilderBefore(cg->cx.builder, LLVMGetNextInstruction(co->handle));
    LLVMBuildCall2(cg->cx.builder, LLVMGlobalGetValueType(barrier), barrier, &flags, 1, "");
}

static void build_exits(Cg *cg, Coroutine *co) {
    MslContext *cx = &cg->cx;
    co->cleanup = LLVMAppendBasicBlockInContext(cx->llvm, co->f, "cleanup");
    co->leave = LLVMAppendBasicBlockInContext(cx->llvm, co->f, "leave");
    LLVMPositionBuilderAtEnd(cx->builder, co->cleanup);
    LLVMBuildBr(cx->builder, co->leave);
    LLVMPositionBuilderAtEnd(cx->builder, co->leave);
    LLVMValueRef none = LLVMConstNull(LLVMTokenTypeInContext(cx->llvm));
    call_intrinsic(cg, "llvm.coro.end", NULL, 0,
                   (LLVMValueRef[]){co->handle, msl_const(cx, 1, 0), none}, 3);
    LLVMBuildRetVoid(cx->builder);
}

static bool is_barrier(LLVMValueRef i) {
    return msl_starts(msl_callee(i), "__ingot_threadgroup_barrier");
}

static void add_suspends(Cg *cg, Coroutine *co) {
    MslContext *cx = &cg->cx;
    LLVMBasicBlockRef final = LLVMAppendBasicBlockInContext(cx->llvm, co->f, "final");
    LLVMBasicBlockRef never = LLVMAppendBasicBlockInContext(cx->llvm, co->f, "never");
    for (LLVMBasicBlockRef b = LLVMGetFirstBasicBlock(co->f); b; b = LLVMGetNextBasicBlock(b)) {
        if (b == co->leave || b == final || b == never) continue;
        for (LLVMValueRef i = LLVMGetFirstInstruction(b); i; i = LLVMGetNextInstruction(i)) {
            if (!is_barrier(i)) continue;
            LLVMBasicBlockRef rest = bridge_split_before(LLVMGetNextInstruction(i));
            LLVMPositionBuilderAtEnd(cx->builder, b);
            co->resumes[co->n] = rest;
            co->suspends[co->n++] = build_suspend(cg, co, rest, false);
            LLVMInstructionEraseFromParent(i);
            break; // what followed is the next block now
        }
        LLVMValueRef end = LLVMGetBasicBlockTerminator(b);
        if (!LLVMIsAReturnInst(end)) continue;
        LLVMInstructionEraseFromParent(end);
        LLVMPositionBuilderAtEnd(cx->builder, b);
        LLVMBuildBr(cx->builder, final);
    }
    LLVMPositionBuilderAtEnd(cx->builder, final);
    build_suspend(cg, co, never, true);
    LLVMPositionBuilderAtEnd(cx->builder, never);
    LLVMBuildUnreachable(cx->builder);
}

// ---- freezing ----

typedef struct BlockSet {
    LLVMBasicBlockRef *blocks;
    bool *in; // marked
    unsigned n;
} BlockSet;

static int find_block(const BlockSet *set, LLVMBasicBlockRef b) {
    for (unsigned i = 0; i < set->n; i++)
        if (set->blocks[i] == b) return (int)i;
    return -1;
}

// Marks the blocks that cannot be reached without passing `gate`: those it dominates.
static void mark_dominated(BlockSet *set, LLVMBasicBlockRef gate, unsigned *work) {
    unsigned n = 0;
    for (unsigned i = 0; i < set->n; i++) set->in[i] = true;
    if (set->blocks[0] == gate) return;
    set->in[0] = false, work[n++] = 0;
    while (n) {
        LLVMValueRef end = LLVMGetBasicBlockTerminator(set->blocks[work[--n]]);
        for (unsigned s = 0; s < LLVMGetNumSuccessors(end); s++) {
            int to = find_block(set, LLVMGetSuccessor(end, s));
            if (set->blocks[to] == gate || !set->in[to]) continue;
            set->in[to] = false, work[n++] = (unsigned)to;
        }
    }
}

// Is this use of a value after the suspension? A phi uses its operand at the end of the edge's
// block.
static bool uses_after(const BlockSet *set, LLVMValueRef user, LLVMValueRef v) {
    if (!LLVMIsAPHINode(user)) return set->in[find_block(set, LLVMGetInstructionParent(user))];
    for (unsigned i = 0; i < LLVMCountIncoming(user); i++)
        if (LLVMGetIncomingValue(user, i) == v &&
            !set->in[find_block(set, LLVMGetIncomingBlock(user, i))])
            return false;
    return true;
}

static void freeze_value(Cg *cg, const BlockSet *set, LLVMValueRef v, LLVMValueRef suspend) {
    LLVMValueRef users[512], frozen = NULL;
    unsigned n = 0;
    for (LLVMUseRef u = LLVMGetFirstUse(v); u; u = LLVMGetNextUse(u)) {
        LLVMValueRef user = LLVMGetUser(u);
        if (n == sizeof users / sizeof *users) return; // correct without, only slower
        if (uses_after(set, user, v)) users[n++] = user;
    }
    for (unsigned k = 0; k < n; k++) {
        if (!frozen) {
            LLVMPositionBuilderBefore(cg->cx.builder, suspend);
            frozen = LLVMBuildFreeze(cg->cx.builder, v, "");
        }
        for (unsigned o = 0; o < (unsigned)LLVMGetNumOperands(users[k]); o++)
            if (LLVMGetOperand(users[k], o) == v) LLVMSetOperand(users[k], o, frozen);
    }
}

// Results, not addresses: a vector of pointers is cheaper to compute again than to save.
static bool worth_freezing(LLVMValueRef v) {
    LLVMTypeRef t = LLVMTypeOf(v);
    return LLVMGetTypeKind(t) == LLVMVectorTypeKind && !LLVMIsAFreezeInst(v) &&
           LLVMGetTypeKind(LLVMGetElementType(t)) != LLVMPointerTypeKind;
}

static bool freeze_across(Cg *cg, Coroutine *co) {
    BlockSet set = {.n = LLVMCountBasicBlocks(co->f)};
    set.blocks = calloc(set.n, sizeof *set.blocks);
    set.in = calloc(set.n, 1);
    unsigned *work = calloc(set.n, sizeof *work), k = 0;
    bool ok = set.blocks && set.in && work;
    for (LLVMBasicBlockRef b = LLVMGetFirstBasicBlock(co->f); ok && b; b = LLVMGetNextBasicBlock(b))
        set.blocks[k++] = b;
    for (unsigned s = 0; ok && s < co->n; s++) {
        mark_dominated(&set, co->resumes[s], work);
        for (unsigned b = 0; b < set.n; b++) {
            if (set.in[b]) continue;
            for (LLVMValueRef i = LLVMGetFirstInstruction(set.blocks[b]), next; i; i = next) {
                next = LLVMGetNextInstruction(i);
                if (worth_freezing(i)) freeze_value(cg, &set, i, co->suspends[s]);
            }
        }
    }
    free(set.blocks);
    free(set.in);
    free(work);
    return ok;
}

// Cleaned up here: after the split LLVM sees each part of the kernel only on its own.
static unsigned clean_up(Cg *cg, LLVMValueRef f) {
    msl_run_passes(&cg->cx, f,
                   "sroa,early-cse<memssa>," INSTCOMBINE
                   ",simplifycfg,loop-mssa(licm),gvn," INSTCOMBINE ",simplifycfg,adce");
    unsigned size = 0;
    for (LLVMBasicBlockRef b = LLVMGetFirstBasicBlock(f); b; b = LLVMGetNextBasicBlock(b))
        for (LLVMValueRef i = LLVMGetFirstInstruction(b); i; i = LLVMGetNextInstruction(i)) size++;
    return size;
}

static void make_coroutine(Cg *cg, LLVMValueRef f, bool at_once) {
    MslContext *cx = &cg->cx;
    unsigned n = 2;
    if (cg->request->tier == TIER_OPTIMISED) msl_demote_phis(cg, f);
    for (LLVMBasicBlockRef b = LLVMGetFirstBasicBlock(f); b; b = LLVMGetNextBasicBlock(b))
        for (LLVMValueRef i = LLVMGetFirstInstruction(b); i; i = LLVMGetNextInstruction(i))
            n += is_barrier(i);
    Coroutine co = {.f = f};
    co.suspends = calloc(n, sizeof *co.suspends);
    co.resumes = calloc(n, sizeof *co.resumes);
    bool ok = co.suspends && co.resumes;
    if (ok) {
        begin(cg, &co);
        if (at_once) suspend_at_once(cg, &co);
        build_exits(cg, &co);
        add_suspends(cg, &co);
        ok = freeze_across(cg, &co);
    }
    free(co.suspends);
    free(co.resumes);
    if (!ok) msl_fail(cx, "out of memory");
    msl_add_attribute(cx, f, LLVMAttributeFunctionIndex, "presplitcoroutine", 0);
}

void msl_make_coroutines(Cg *cg, LLVMValueRef *versions, unsigned n) {
    MslContext *cx = &cg->cx;
    cg->loop.frame_bytes = LLVMAddGlobal(cx->module, msl_int(cx, 64), "ingot_frame_bytes");
    LLVMSetInitializer(cg->loop.frame_bytes, msl_const(cx, 64, 0));
    LLVMSetLinkage(cg->loop.frame_bytes, LLVMInternalLinkage);
    // One threadgroup may have steps of both versions, and they are resumed in turn: where one
    // stops, so must the other.
    unsigned most = cg->request->tier == TIER_BASELINE ? LARGE_BASELINE : LARGE;
    bool large = false;
    for (unsigned k = 0; k < n; k++) large |= clean_up(cg, versions[k]) > most;
    for (unsigned k = 0; k < n; k++) make_coroutine(cg, versions[k], large);
}

// The size coro-split wrote into each coroutine; the larger one decides. An even multiple of 128
// bytes would put the frames of a threadgroup into few sets of the cache: 10 ns a barrier instead
// of 1.5.
static void read_frame_size(Cg *cg) {
    uint64_t size = 0;
    for (LLVMUseRef u; (u = LLVMGetFirstUse(cg->loop.frame_bytes));) {
        LLVMValueRef store = LLVMGetUser(u), bytes = LLVMGetOperand(store, 0);
        if (!LLVMIsAStoreInst(store) || !LLVMIsAConstantInt(bytes))
            msl_fail(&cg->cx, "internal error: the size of a coroutine is not known");
        if (LLVMConstIntGetZExtValue(bytes) > size) size = LLVMConstIntGetZExtValue(bytes);
        LLVMInstructionEraseFromParent(store);
    }
    uint64_t units = (size + FRAME_ALIGN - 1) / FRAME_ALIGN;
    cg->loop.frame_stride = (units | 1) * FRAME_ALIGN;
}

// A member of a coroutine's frame, as a key of a map; NULL: p is the address of something else.
static const void *member_of(LLVMValueRef p) {
    if (!msl_as(p, LLVMGetElementPtr) || LLVMGetNumOperands(p) != 3) return NULL;
    LLVMTypeRef frame = LLVMGetGEPSourceElementType(p);
    LLVMValueRef k = LLVMGetOperand(p, 2);
    if (LLVMGetTypeKind(frame) != LLVMStructTypeKind || !LLVMIsAConstantInt(k)) return NULL;
    const char *name = LLVMGetStructName(frame);
    if (!name || !strstr(name, ".Frame")) return NULL;
    return (const void *)(((uintptr_t)frame << 12) + LLVMConstIntGetZExtValue(k));
}

static bool ends_with(LLVMValueRef v, const char *what) {
    size_t n, m = strlen(what);
    const char *name = LLVMGetValueName2(v, &n);
    return n >= m && !memcmp(name + n - m, what, m);
}

// What is saved before a part of the program and not again in it is the same all the time that part
// runs, whatever else it writes: nobody else knows these places. So loops need not read it in every
// round where they write to memory. Variables of the program have places in the frame as well; what
// coro-split saves it saves at an address that it names so.
static void settle_reloads(Cg *cg) {
    MslContext *cx = &cg->cx;
    enum { BEFORE = 1, IN_PART = 2 };
    unsigned kind = LLVMGetMDKindIDInContext(cx->llvm, "invariant.load", 14);
    LLVMValueRef yes = LLVMMetadataAsValue(cx->llvm, LLVMMDNodeInContext2(cx->llvm, NULL, 0));
    Map saved = {0};
    Arena arena = {0};
    for (int round = 0; round < 2; round++) // who saves, who reads
        for (LLVMValueRef f = LLVMGetFirstFunction(cx->module); f; f = LLVMGetNextFunction(f)) {
            bool part = ends_with(f, ".resume");
            if (part) // beside the code that saves, a promise about what it reads would be wrong
                msl_add_attribute(cx, f, LLVMAttributeFunctionIndex, "noinline", 0);
            for (LLVMBasicBlockRef b = LLVMGetFirstBasicBlock(f); b; b = LLVMGetNextBasicBlock(b))
                for (LLVMValueRef i = LLVMGetFirstInstruction(b); i;
                     i = LLVMGetNextInstruction(i)) {
                    bool store = LLVMIsAStoreInst(i);
                    if (!store && !LLVMIsALoadInst(i)) continue;
                    LLVMValueRef p = LLVMGetOperand(i, store);
                    const void *member = member_of(p);
                    if (!member) continue;
                    int known = msl_map_get(&saved, member);
                    size_t n;
                    if (!round && store && strstr(LLVMGetValueName2(p, &n), ".spill.addr"))
                        msl_map_put(cx, &arena, &saved, member,
                                    (known < 0 ? 0 : known) | (part ? IN_PART : BEFORE));
                    if (round && part && !store && known == BEFORE) LLVMSetMetadata(i, kind, yes);
                }
        }
    base_arena_free(&arena);
}

void msl_split_coroutines(Cg *cg) {
    msl_dump(&cg->cx, "coroutine");
    msl_verify_ours(&cg->cx, "coroutine");
    msl_run_passes(&cg->cx, NULL, "coro-early,cgscc(coro-split),coro-cleanup");
    read_frame_size(cg);
    settle_reloads(cg);
    msl_dump(&cg->cx, "coro-split");
}
