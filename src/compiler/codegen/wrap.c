// SPDX-License-Identifier: Apache-2.0
// wrap.c: vectorised versions of the thread function -> ingot_kernel (device/group.c).
//   purpose   define what group.c leaves open: ingot_full and ingot_some (or, for kernels with
//             barriers, the coroutines ingot_full_start and ingot_some_start) and its constants
//   requires  cg->thread optimised and surveyed
// Slots are read from the launch in each version; the loads are marked invariant, so that LLVM hoists
// them out of the group loop although the kernel's own stores might alias them as far as it knows.
#include "compiler/codegen/codegen.h"
#include "cpu/kernel_abi.h"
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
        out[i] = LLVMBuildLoad2(cx->builder, msl_ptr(cx), LLVMBuildInBoundsGEP2(cx->builder, msl_ptr(cx), args, &at, 1, ""), "");
        LLVMSetMetadata(out[i], invariant, empty);
    }
}

static void set_constant(Cg *cg, const char *name, LLVMValueRef value) {
    LLVMValueRef g = LLVMGetNamedGlobal(cg->cx.module, name);
    if (!g) msl_fail(&cg->cx, "internal error: group.c has no '%s'", name);
    LLVMSetInitializer(g, value);
    LLVMSetGlobalConstant(g, 1);
    LLVMSetLinkage(g, LLVMInternalLinkage);
}

static void copy_slot_attributes(Cg *cg, LLVMValueRef to) {
    static const char *const names[] = {"noalias", "readonly", "dereferenceable", "align"};
    for (unsigned p = 1; p <= cg->fn->n_slots + 1; p++)
        for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
            unsigned kind = LLVMGetEnumAttributeKindForName(names[i], strlen(names[i]));
            LLVMAttributeRef a = LLVMGetEnumAttributeAtIndex(cg->thread, p, kind);
            if (a) LLVMAddAttributeAtIndex(to, p, a);
        }
}

// Gives a function that group.c declares its body: a call of `simd` with the slots of the launch.
//   (launch, memory, gx, gy, gz, sx, sy, sz, first[, mask][, frame])
static LLVMValueRef define_version(Cg *cg, const char *name, LLVMValueRef simd, bool has_mask) {
    MslContext *cx = &cg->cx;
    LLVMValueRef f = LLVMGetNamedFunction(cx->module, name), args[300];
    if (!f) msl_fail(cx, "internal error: group.c has no '%s'", name);
    LLVMSetLinkage(f, LLVMInternalLinkage);
    LLVMPositionBuilderAtEnd(cx->builder, LLVMAppendBasicBlockInContext(cx->llvm, f, "entry"));
    unsigned n = cg->fn->n_slots;
    msl_load_slots(cg, LLVMGetParam(f, 0), args);
    args[n++] = LLVMGetParam(f, 1);
    args[n++] = LLVMGetParam(f, 0);
    for (unsigned i = 2; i < 9; i++) args[n++] = LLVMGetParam(f, i);
    LLVMTypeRef lanes = LLVMVectorType(msl_int(cx, 1), cx->width);
    if (has_mask) {
        LLVMValueRef bits = LLVMBuildIntCast2(cx->builder, LLVMGetParam(f, 9), msl_int(cx, cx->width), 0, "");
        args[n++] = LLVMBuildBitCast(cx->builder, bits, lanes, "");
    } else {
        args[n++] = LLVMConstAllOnes(lanes);
    }
    msl_add_attribute(cx, simd, LLVMAttributeFunctionIndex, "alwaysinline", 0);
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

// __ingot_log(...) becomes ingot_log(launch, ...) of group.c. The vectoriser does not know it, so it
// makes one call for each active thread, and keeps the arguments' memory in one piece per thread.
static void redirect_logs(Cg *cg) {
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

void msl_wrap(Cg *cg) {
    MslContext *cx = &cg->cx;
    redirect_logs(cg);
    uint32_t n_threads = cx->shape[0] * cx->shape[1] * cx->shape[2];
    // One SIMD-group per threadgroup: nobody to wait for.
    bool suspends = cg->uses.barrier && (n_threads == 0 || n_threads > cx->width);
    bool has_full = n_threads >= cx->width;
    LLVMValueRef full = has_full ? msl_vectorise(cx, cg->thread, true) : NULL;
    LLVMValueRef some = msl_vectorise(cx, cg->thread, false);
    if (full) copy_slot_attributes(cg, full);
    copy_slot_attributes(cg, some);
    LLVMDeleteFunction(cg->thread);
    cg->thread = NULL;
    msl_dump(cx, "vectorise");
    msl_verify(cx, "vectorise");
    if (cg->uses.barrier && !suspends) {
        if (full) erase_barriers(cg, full);
        erase_barriers(cg, some);
    }
    msl_link_device_code(cg, msl_device_group, (size_t)(msl_device_group_end - msl_device_group));
    LLVMValueRef shape[3];
    for (int d = 0; d < 3; d++) shape[d] = msl_const(cx, 32, cx->shape[d]);
    set_constant(cg, "ingot_shape", LLVMConstArray2(msl_int(cx, 32), shape, 3));
    set_constant(cg, "ingot_width", msl_const(cx, 32, cx->width));
    set_constant(cg, "ingot_has_full", msl_const(cx, 32, has_full));
    set_constant(cg, "ingot_suspends", msl_const(cx, 32, suspends));
    if (!suspends) {
        set_constant(cg, "ingot_stride", msl_const(cx, 64, 0));
        if (full) define_version(cg, "ingot_full", full, false);
        define_version(cg, "ingot_some", some, true);
        return;
    }
    // Both exist before anything is inlined: LLVM deletes an internal function nobody calls.
    if (full) full = define_version(cg, "ingot_full_start", full, false);
    some = define_version(cg, "ingot_some_start", some, true);
    msl_run_passes(cx, NULL, "always-inline");
    if (full) msl_make_coroutine(cg, full);
    msl_make_coroutine(cg, some);
    msl_split_coroutines(cg);
    set_constant(cg, "ingot_stride", msl_const(cx, 64, cg->frame_stride));
}

void msl_finish_info(Cg *cg) {
    MslContext *cx = &cg->cx;
    bool lanes = cx->width == 1;
    uint32_t flags = (cg->uses.barrier ? CPU_KERNEL_BARRIER : 0) | (cg->uses.simd ? CPU_KERNEL_SIMD : 0) |
                     (lanes ? CPU_KERNEL_LANES : 0) | (cg->uses.log ? CPU_KERNEL_LOG : 0);
    CpuKernelInfo info = {.abi = CPU_KERNEL_ABI, .flags = flags, .width = cx->width, .n_slots = cg->fn->n_slots,
                          .shape = {cx->shape[0], cx->shape[1], cx->shape[2]}, .threadgroup_bytes = cg->threadgroup_bytes,
                          .frame_stride = cg->frame_stride, .stack_bytes = cg->private_bytes * (lanes ? 1 : cx->width)};
    LLVMValueRef bytes = LLVMConstStringInContext2(cx->llvm, (const char *)&info, sizeof info, 1);
    LLVMValueRef g = LLVMAddGlobal(cx->module, LLVMTypeOf(bytes), CPU_KERNEL_INFO_SYMBOL);
    LLVMSetInitializer(g, bytes);
    LLVMSetGlobalConstant(g, 1);
    LLVMSetAlignment(g, 8);
}
