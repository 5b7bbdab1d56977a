// SPDX-License-Identifier: Apache-2.0
// wrap.c: vectorised versions of the thread function -> what the loop over threadgroups runs.
//   purpose   define what codegen/support/group.c and steps.c leave open: ingot_full and ingot_some
//             (or, for kernels with barriers, the coroutines ingot_full_start and ingot_some_start)
//             and what they are told (compiler/group_loop.h)
//   requires  cg->thread optimised and surveyed; plan.c has decided which versions there are
// Slots are read from the launch in each version; the loads are marked invariant, so that LLVM
// hoists them out of the group loop although the kernel's own stores might alias them as far as it
// knows.
#include "compiler/codegen/plan.h"
#include "compiler/codegen/wrap.h"
#include "abi/cpu_kernel.h"
#include "compiler/group_loop.h"
#include <stdlib.h>
#include <string.h>

_Static_assert(offsetof(CpuLaunch, args) == 0, "slots are read from the launch's first word");

void msl_load_slots(Cg *cg, LLVMValueRef launch, LLVMValueRef *out) {
    MslContext *cx = &cg->cx;
    unsigned invariant = LLVMGetMDKindIDInContext(cx->llvm, "invariant.load", 14);
    LLVMValueRef empty = LLVMMetadataAsValue(cx->llvm, LLVMMDNodeInContext2(cx->llvm, NULL, 0));
    if (!cg->fn->n_slots) return;
    LLVMValueRef args = LLVMBuildLoad2(cx->builder, msl_ptr(cx), launch, "args");
    LLVMSetMetadata(args, invariant, empty);
    for (unsigned i = 0; i < cg->fn->n_slots; i++) {
        LLVMValueRef at = msl_const(cx, 64, i);
        out[i] =
            LLVMBuildLoad2(cx->builder, msl_ptr(cx),
                           LLVMBuildInBoundsGEP2(cx->builder, msl_ptr(cx), args, &at, 1, ""), "");
        LLVMSetMetadata(out[i], invariant, empty);
    }
}

// If the kind of loop asks for it.
static void set_constant(Cg *cg, const char *name, LLVMValueRef value) {
    LLVMValueRef g = LLVMGetNamedGlobal(cg->cx.module, name);
    if (!g) return;
    LLVMSetInitializer(g, value);
    LLVMSetGlobalConstant(g, 1);
    LLVMSetLinkage(g, LLVMInternalLinkage);
}

void msl_copy_slot_attributes(Cg *cg, LLVMValueRef to) {
    static const char *const names[] = {"noalias", "readonly", "dereferenceable", "align"};
    for (unsigned p = 1; p <= cg->fn->n_slots + 1; p++)
        for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
            unsigned kind = LLVMGetEnumAttributeKindForName(names[i], strlen(names[i]));
            LLVMAttributeRef a = LLVMGetEnumAttributeAtIndex(cg->thread, p, kind);
            if (a) LLVMAddAttributeAtIndex(to, p, a);
        }
}

LLVMValueRef msl_define(Cg *cg, const char *name, const char *file, LLVMValueRef *args) {
    MslContext *cx = &cg->cx;
    LLVMValueRef f = LLVMGetNamedFunction(cx->module, name);
    if (!f) msl_fail(cx, "internal error: %s has no '%s'", file, name);
    LLVMSetLinkage(f, LLVMInternalLinkage);
    LLVMPositionBuilderAtEnd(cx->builder, LLVMAppendBasicBlockInContext(cx->llvm, f, "entry"));
    msl_load_slots(cg, LLVMGetParam(f, 0), args);
    return f;
}

// Gives a function that group.c declares its body: a call of `simd` with the slots of the launch.
//   (launch, memory, gx, gy, gz, sx, sy, sz, first[, mask][, frame or large])
static LLVMValueRef define_version(Cg *cg, const char *name, LLVMValueRef simd, bool has_mask) {
    MslContext *cx = &cg->cx;
    LLVMValueRef args[300], f = msl_define(cg, name, "steps.c", args);
    unsigned n = cg->fn->n_slots;
    args[n++] = LLVMGetParam(f, 1);
    args[n++] = LLVMGetParam(f, 0);
    for (unsigned i = 2; i < 9; i++) args[n++] = LLVMGetParam(f, i);
    LLVMTypeRef lanes = LLVMTypeOf(LLVMGetParam(simd, n));
    if (has_mask) {
        LLVMValueRef bits =
            LLVMBuildIntCast2(cx->builder, LLVMGetParam(f, 9), msl_int(cx, cx->width), 0, "");
        args[n++] = LLVMBuildBitCast(cx->builder, bits, lanes, "");
    } else {
        args[n++] = LLVMConstAllOnes(lanes);
    }
    LLVMBuildCall2(cx->builder, LLVMGlobalGetValueType(simd), simd, args, n, "");
    LLVMBuildRetVoid(cx->builder);
    return f;
}

static void erase_barriers(Cg *cg, LLVMValueRef f) {
    for (LLVMBasicBlockRef b = LLVMGetFirstBasicBlock(f); b; b = LLVMGetNextBasicBlock(b))
        for (LLVMValueRef i = LLVMGetFirstInstruction(b), next; i; i = next) {
            next = LLVMGetNextInstruction(i);
            if (!msl_starts(msl_callee(i), "__ingot_threadgroup_barrier")) continue;
            // The compiler must still not move memory accesses across it.
            LLVMPositionBuilderBefore(cg->cx.builder, i);
            LLVMBuildFence(cg->cx.builder, LLVMAtomicOrderingSequentiallyConsistent, 1, "");
            LLVMInstructionEraseFromParent(i);
        }
}

// __ingot_log(...) becomes ingot_log(launch, ...) of group.c. The vectoriser does not know it, so
// it makes one call for each active thread, and keeps the arguments' memory in one piece per
// thread.
void msl_redirect_logs(Cg *cg) {
    MslContext *cx = &cg->cx;
    enum { MAX_ARGS = 6 };
    LLVMValueRef log = LLVMGetNamedFunction(cx->module, "__ingot_log"), to = NULL, launch = NULL;
    for (LLVMUseRef use; log && (use = LLVMGetFirstUse(log));) {
        LLVMValueRef call = LLVMGetUser(use), args[MAX_ARGS];
        LLVMTypeRef types[MAX_ARGS], launch_type = LLVMFunctionType(msl_ptr(cx), NULL, 0, 0);
        unsigned n = LLVMGetNumArgOperands(call);
        if (n + 1 > MAX_ARGS) msl_fail(cx, "internal error: __ingot_log with %u arguments", n);
        LLVMPositionBuilderBefore(cx->builder, call);
        if (!launch) launch = LLVMGetNamedFunction(cx->module, "__ingot_launch");
        if (!launch) launch = LLVMAddFunction(cx->module, "__ingot_launch", launch_type);
        args[0] = LLVMBuildCall2(cx->builder, launch_type, launch, NULL, 0, "");
        for (unsigned i = 0; i < n; i++) args[i + 1] = LLVMGetOperand(call, i);
        for (unsigned i = 0; i <= n; i++) types[i] = LLVMTypeOf(args[i]);
        LLVMTypeRef type = LLVMFunctionType(LLVMVoidTypeInContext(cx->llvm), types, n + 1, 0);
        if (!to) to = LLVMAddFunction(cx->module, "ingot_log", type);
        LLVMBuildCall2(cx->builder, type, to, args, n + 1, "");
        LLVMInstructionEraseFromParent(call);
    }
}

typedef struct Versions {
    LLVMValueRef full, some; // full: NULL if there is none
} Versions;

// Blocks stand in the order of the source: an edge from a block to itself or backwards is a loop's.
bool msl_is_header(LLVMBasicBlockRef b) {
    LLVMValueRef phi = LLVMGetFirstInstruction(b);
    for (LLVMBasicBlockRef at = b; at && LLVMIsAPHINode(phi); at = LLVMGetNextBasicBlock(at))
        for (unsigned i = 0; i < LLVMCountIncoming(phi); i++)
            if (LLVMGetIncomingBlock(phi, i) == at) return true;
    return false;
}

// The version for some threads. Threadgroups that the grid cuts off lie at its edge, where clamps
// do something: a fast copy for where they do not would be in vain. What the version for all
// threads falls back on at the edge may be the same code: once, with a mask.
static LLVMValueRef vectorise_some(Cg *cg, const MslPlan *plan, LLVMValueRef slow) {
    MslContext *cx = &cg->cx;
    if (!slow || !plan->shares_slow) return msl_vectorise(cx, cg->thread, &plan->some, NULL);
    msl_keep_apart(cx, slow);
    msl_add_text_attribute(cx, slow, MSL_EDGES, "");
    return slow;
}

static void vectorise_versions(Cg *cg, const MslPlan *plan, Versions *v) {
    MslContext *cx = &cg->cx;
    LLVMValueRef slow = NULL;
    *v = (Versions){0};
    if (plan->has_full) v->full = msl_vectorise(cx, cg->thread, &plan->full, &slow);
    v->some = vectorise_some(cg, plan, slow);
    if (v->full) msl_copy_slot_attributes(cg, v->full);
    msl_copy_slot_attributes(cg, v->some);
    LLVMDeleteFunction(cg->thread);
    cg->thread = NULL;
    msl_dump(cx, "vectorise");
    msl_verify_ours(cx, "vectorise");
}

// What the loop over threadgroups asks of the code. It is compiled, and this tells it all.
static void tell_loop(Cg *cg, const MslPlan *plan) {
    MslContext *cx = &cg->cx;
    const LoopPlan loop = {
        .shape = {cx->shape[0], cx->shape[1], cx->shape[2]},
        .loose = plan->loose,
        .rows = plan->rows,
        .shuffles = (cg->request->watch & MSL_WATCH_ORDER) != 0,
        .width = cx->width,
        .full_width = plan->full_width,
        .has_full = plan->has_full,
        .suspends = plan->suspends,
        .full_suspends = plan->full_suspends,
        .stream_bytes = plan->stream_bytes,
        .stride = cg->loop.frame_stride,
    };
    cg->loop.waits = loop.suspends || loop.shuffles;
    LLVMValueRef bytes = LLVMConstStringInContext2(cx->llvm, (const char *)&loop, sizeof loop, 1);
    LLVMValueRef g = LLVMAddGlobal(cx->module, LLVMTypeOf(bytes), LOOP_SYMBOL);
    LLVMSetInitializer(g, bytes);
    LLVMSetGlobalConstant(g, 1);
    LLVMSetAlignment(g, 8);
    LLVMSetVisibility(g, LLVMHiddenVisibility);
}

// A function that the loop over threadgroups calls: (launch, memory, gx, gy, gz, sx, sy, sz, first
// [, mask][, frame]).
static void declare_step(Cg *cg, const char *name, bool has_mask, bool has_frame) {
    MslContext *cx = &cg->cx;
    LLVMTypeRef types[11] = {msl_ptr(cx), msl_ptr(cx)};
    unsigned n = 2, n_numbers = has_mask ? 8 : 7;
    for (unsigned i = 0; i < n_numbers; i++) types[n++] = msl_int(cx, 32);
    if (has_frame) types[n++] = msl_ptr(cx);
    if (LLVMGetNamedFunction(cx->module, name)) return;
    LLVMAddFunction(cx->module, name,
                    LLVMFunctionType(LLVMVoidTypeInContext(cx->llvm), types, n, 0));
}

// The loop over the steps of the version for all threads, if they run one after the other.
static void link_steps(Cg *cg, const MslPlan *plan) {
    MslContext *cx = &cg->cx;
    LLVMValueRef shape[3];
    msl_link_device_code(cg, plan->rows ? MSL_DEVICE_ROWS : MSL_DEVICE_STEPS);
    for (int d = 0; d < 3; d++) shape[d] = msl_const(cx, 32, cx->shape[d]);
    set_constant(cg, "ingot_shape", LLVMConstArray2(msl_int(cx, 32), shape, 3));
    set_constant(cg, "ingot_full_width", msl_const(cx, 32, plan->full_width));
    set_constant(cg, "ingot_full_rows", msl_const(cx, 32, plan->full_rows));
}

// Functions of the group loop: what it calls, and the loop over steps that is part of the code.
// All exist before anything is inlined: LLVM deletes an internal function nobody calls.
static void define_versions(Cg *cg, const MslPlan *plan, Versions *v) {
    if (v->full && plan->full_suspends) declare_step(cg, LOOP_FULL_START_SYMBOL, false, true);
    if (v->full && !plan->full_suspends) link_steps(cg, plan);
    const char *some = plan->suspends ? LOOP_SOME_START_SYMBOL : LOOP_SOME_SYMBOL;
    declare_step(cg, some, true, plan->suspends);
    if (v->full)
        v->full = define_version(
            cg, plan->full_suspends ? LOOP_FULL_START_SYMBOL : LOOP_FULL_SYMBOL, v->full, false);
    v->some = define_version(cg, some, v->some, true);
    if (v->full) msl_add_text_attribute(&cg->cx, v->some, MSL_EDGES, "");
    LLVMValueRef called[] = {v->some, plan->full_suspends ? v->full : NULL};
    for (size_t i = 0; i < sizeof called / sizeof *called; i++) {
        if (!called[i]) continue;
        LLVMSetLinkage(called[i], LLVMExternalLinkage);
        LLVMSetVisibility(called[i], LLVMHiddenVisibility);
    }
}

void msl_wrap(Cg *cg) {
    MslContext *cx = &cg->cx;
    const CgUses *uses = &cg->uses;
    Versions v;
    msl_redirect_logs(cg);
    msl_vectorise_callees(cg);
    cx->local = true;
    const MslPlan plan = msl_make_plan(cg);
    cg->loop.linked = true;
    cg->loop.filter = plan.full_rows == MSL_FILTER_ROWS;
    vectorise_versions(cg, &plan, &v);
    define_versions(cg, &plan, &v);
    if (uses->barrier || plan.stream_bytes) msl_run_passes(cx, NULL, "always-inline");
    if (plan.stream_bytes && v.full) {
        // Masked stores become plain ones.
        msl_run_passes(cx, v.full, "sroa,early-cse," INSTCOMBINE ",simplifycfg");
        msl_store_nontemporal(cg, v.full);
    }
    if (uses->barrier && v.full && cg->request->tier == TIER_OPTIMISED && !cg->request->validate)
        msl_prefetch(cg, v.full);
    if (uses->barrier && v.full && !plan.full_suspends) erase_barriers(cg, v.full);
    if (uses->barrier && !plan.suspends) erase_barriers(cg, v.some);
    if (plan.suspends) {
        LLVMValueRef versions[2] = {v.some, v.full};
        msl_make_coroutines(cg, versions, plan.full_suspends ? 2 : 1);
        msl_split_coroutines(cg);
    }
    tell_loop(cg, &plan);
}

void msl_finish_info(Cg *cg) {
    MslContext *cx = &cg->cx;
    bool lanes = cx->width == 1, graphics = msl_is_graphics(cg);
    uint32_t flags = (cg->uses.barrier ? CPU_KERNEL_BARRIER : 0) |
                     (cg->uses.simd ? CPU_KERNEL_SIMD : 0) | (lanes ? CPU_KERNEL_LANES : 0) |
                     (cg->uses.log ? CPU_KERNEL_LOG : 0) |
                     (cg->request->validate ? CPU_KERNEL_VALIDATE : 0) |
                     (LLVMGetNamedGlobal(cx->module, CPU_SITES_SYMBOL) ? CPU_KERNEL_WATCHED : 0);
    CpuKernelInfo info = {.abi = ABI_VERSION,
                          .flags = flags,
                          .width = cx->width,
                          .n_slots = cg->fn->n_slots + cg->stage.n_vertex_buffers,
                          .shape = {cx->shape[0], cx->shape[1], cx->shape[2]},
                          .threadgroup_bytes = cg->threadgroup_bytes,
                          .frame_stride =
                              lanes ? cg->loop.frame_stride
                                    : cg->loop.frame_stride * (ABI_SIMD_WIDTH / cx->width),
                          .stack_bytes = cg->private_bytes * (lanes ? 1 : cx->width)};
    LLVMValueRef bytes = LLVMConstStringInContext2(cx->llvm, (const char *)&info, sizeof info, 1);
    LLVMValueRef g = LLVMAddGlobal(cx->module, LLVMTypeOf(bytes), CPU_KERNEL_INFO_SYMBOL);
    LLVMSetInitializer(g, bytes);
    LLVMSetGlobalConstant(g, 1);
    LLVMSetAlignment(g, 8);
    if (graphics) msl_finish_stage_info(cg);
}
