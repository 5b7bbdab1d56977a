// SPDX-License-Identifier: Apache-2.0
// calls.c: the built-ins of a thread function as functions of nvptx/device.
//   purpose   positions, barriers, and SIMD-group functions with the masks of the lanes that take
//             part; what no GPU does yet is refused by its name
//   requires  msl_survey
#include "compiler/codegen/gpu.h"
#include <stdio.h>
#include <string.h>

// What stands in the mangled or plain name of a built-in that is missing, in the program's words.
static const char *missing(const char *name) {
    static const struct {
        const char *part, *what;
    } table[] = {{"__ingot_rays_", "ray tracing"},
                 {"__ingot_discard_fragment", "fragment functions"}};
    for (size_t i = 0; i < sizeof table / sizeof *table; i++)
        if (strstr(name, table[i].part)) return table[i].what;
    return NULL;
}

void msl_replace_call(Cg *cg, LLVMValueRef call, const char *name, LLVMValueRef *args, unsigned n) {
    enum { MAX_ARGS = 64 };
    LLVMModuleRef m = cg->cx.module;
    LLVMTypeRef types[MAX_ARGS];
    if (n > MAX_ARGS) msl_fail(&cg->cx, "internal error: %s with %u arguments", name, n);
    for (unsigned i = 0; i < n; i++) types[i] = LLVMTypeOf(args[i]);
    LLVMTypeRef type = LLVMFunctionType(LLVMTypeOf(call), types, n, 0);
    LLVMValueRef f = LLVMGetNamedFunction(m, name);
    if (!f) f = LLVMAddFunction(m, name, type);
    LLVMPositionBuilderBefore(cg->cx.builder, call);
    LLVMValueRef result = LLVMBuildCall2(cg->cx.builder, type, f, args, n, "");
    if (LLVMGetFirstUse(call)) LLVMReplaceAllUsesWith(call, result);
    LLVMInstructionEraseFromParent(call);
}

static void replace(Cg *cg, LLVMValueRef call, const char *name) {
    LLVMValueRef args[4];
    unsigned n = LLVMGetNumArgOperands(call);
    for (unsigned i = 0; i < n && i < 4; i++) args[i] = LLVMGetOperand(call, i);
    msl_replace_call(cg, call, name, args, n);
}

static bool was_half(LLVMValueRef v) {
    LLVMTypeRef t = LLVMIsAFPExtInst(v) ? LLVMTypeOf(LLVMGetOperand(v, 0)) : NULL;
    return t && LLVMGetTypeKind(t) == LLVMVectorTypeKind &&
           LLVMGetTypeKind(LLVMGetElementType(t)) == LLVMHalfTypeKind;
}

// Products whose operands were halves before they were widened are exact as such.
static void choose_product(Cg *cg, LLVMValueRef call) {
    LLVMValueRef args[3] = {LLVMGetOperand(call, 1), LLVMGetOperand(call, 2),
                            LLVMGetOperand(call, 3)};
    if (!was_half(args[0]) || !was_half(args[1])) return;
    LLVMTypeRef t = LLVMTypeOf(call), in[3] = {t, t, t}, type = LLVMFunctionType(t, in, 3, 0);
    LLVMValueRef f = LLVMGetNamedFunction(cg->cx.module, "ingot_mma_halves");
    if (!f) f = LLVMAddFunction(cg->cx.module, "ingot_mma_halves", type);
    LLVMPositionBuilderBefore(cg->cx.builder, call);
    LLVMReplaceAllUsesWith(call, LLVMBuildCall2(cg->cx.builder, type, f, args, 3, ""));
    LLVMInstructionEraseFromParent(call);
}

// Whether the answer hangs on the order of threads in SIMD-groups.
static bool is_of_lane(LLVMValueRef call) {
    LLVMValueRef which = LLVMGetOperand(call, 0);
    switch (LLVMIsAConstantInt(which) ? LLVMConstIntGetZExtValue(which) : RF_N_BUILTINS) {
    case RF_THREAD_INDEX_IN_SIMDGROUP:
    case RF_SIMDGROUP_INDEX_IN_THREADGROUP:
    case RF_THREAD_INDEX_IN_QUADGROUP:
    case RF_QUADGROUP_INDEX_IN_THREADGROUP:
    case RF_N_BUILTINS: return true;
    default: return false;
    }
}

// i1 __ingot_inside(pointer, start, limit, ...): whether each pointer is less than its limit behind
// its start.
static void lower_inside(Cg *cg, LLVMValueRef call) {
    LLVMBuilderRef b = cg->cx.builder;
    LLVMTypeRef i64 = msl_int(&cg->cx, 64);
    LLVMValueRef all = LLVMConstInt(msl_int(&cg->cx, 1), 1, 0);
    LLVMPositionBuilderBefore(b, call);
    for (unsigned i = 0; i + 2 < LLVMGetNumArgOperands(call); i += 3) {
        LLVMValueRef at[2];
        for (unsigned k = 0; k < 2; k++) {
            at[k] = LLVMGetOperand(call, i + k);
            if (LLVMGetTypeKind(LLVMTypeOf(at[k])) == LLVMPointerTypeKind)
                at[k] = LLVMBuildPtrToInt(b, at[k], i64, "");
        }
        LLVMValueRef inside = LLVMBuildICmp(b, LLVMIntULT, LLVMBuildSub(b, at[0], at[1], ""),
                                            LLVMGetOperand(call, i + 2), "");
        all = LLVMBuildAnd(b, all, inside, "");
    }
    LLVMReplaceAllUsesWith(call, all);
    LLVMInstructionEraseFromParent(call);
}

static void lower_call(Cg *cg, LLVMValueRef call) {
    const char *name = msl_callee(call), *what = missing(name);
    if (what)
        msl_fail(&cg->cx, "'%s' uses %s, which code for GPUs (%s) does not have yet", cg->fn->name,
                 what, cg->request->target);
    if (!strcmp(name, "__ingot_position")) {
        cg->uses.lanes |= is_of_lane(call);
        replace(cg, call, "ingot_position");
        return;
    }
    if (msl_lower_gpu_tensor(cg, call) || msl_lower_gpu_texture(cg, call)) return;
    if (!strcmp(name, "__ingot_inside"))
        lower_inside(cg, call);
    else if (!strcmp(name, "__ingot_threadgroup_barrier"))
        replace(cg, call, "ingot_barrier");
    else if (!strcmp(name, "ingot_masked_simdgroup_mma_f32"))
        choose_product(cg, call);
}

static bool has_masked_calls_elsewhere(LLVMValueRef thread) {
    for (LLVMBasicBlockRef b = LLVMGetNextBasicBlock(LLVMGetEntryBasicBlock(thread)); b;
         b = LLVMGetNextBasicBlock(b))
        for (LLVMValueRef i = LLVMGetFirstInstruction(b); i; i = LLVMGetNextInstruction(i))
            if (msl_is_masked_call(i)) return true;
    return false;
}

// The analysis of divergence changes what it looks at, and structured code is not the fastest: a
// copy is looked at, and kept only if some lanes are elsewhere.
static void mask_calls(Cg *cg) {
    MslContext *cx = &cg->cx;
    if (!cg->uses.simd && !cg->uses.meet) return;
    if (has_masked_calls_elsewhere(cg->thread)) {
        LLVMModuleRef whole = cx->module, copy = LLVMCloneModule(whole);
        cx->module = copy;
        LLVMValueRef thread = LLVMGetNamedFunction(copy, "thread");
        cx->width = 32;
        cx->reach = cg->request->reach ? cg->request->reach : MSL_REACH;
        if (msl_mask_lanes(cx, thread)) {
            LLVMDisposeModule(whole);
            cg->thread = thread;
            return;
        }
        LLVMDisposeModule(copy);
        cx->module = whole;
    }
    msl_mask_all(cx, cg->thread);
}

void msl_lower_gpu_calls(Cg *cg) {
    msl_ask_quads(cg);
    cg->uses.lanes = cg->uses.simd || cg->uses.meet;
    mask_calls(cg);
    for (LLVMBasicBlockRef b = LLVMGetFirstBasicBlock(cg->thread); b; b = LLVMGetNextBasicBlock(b))
        for (LLVMValueRef i = LLVMGetFirstInstruction(b), next; i; i = next) {
            next = LLVMGetNextInstruction(i);
            if (LLVMIsACallInst(i)) lower_call(cg, i);
        }
}
