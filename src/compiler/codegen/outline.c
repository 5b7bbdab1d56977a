// SPDX-License-Identifier: Apache-2.0
// outline.c: many or large functions behind one pointer stay functions.
//   purpose   a call through a pointer may go to any function of its type. A few small ones are
//             copied to the call (link_calls.c); of many, each is vectorised once, with a mask of
//             its own, and called for the lanes that chose it
//   idea      a thread function has uniform parameters only. So arguments and result go through
//             memory, the frame: for each scalar one row with a place for every lane. The callee
//             is a thread function ingot.callee.<n>.<id>(frame, uniform arguments...) that reads
//             its arguments from the rows of its lane; the vectoriser makes consecutive loads of
//             it. The call is __ingot_dispatch_<n>(id, frame, uniform arguments...), which
//             passes/emit_call.c makes once for each number that active lanes have. Behind it is a
//             function with a switch over the vectorised callees, built here
//   leaves out functions with barriers, threadgroup memory of their own, textures, rays, logs, or
//             further calls through pointers; vertex and fragment functions; checked and reference
//             code: there all are copied
#include "compiler/codegen/codegen.h"
#include "abi/reflect.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// Measured 2026-11 with AVX-512, tables of functions of 20 lines, all lanes with different ones. A
// call costs some 50 ns more than a copy, and arguments lose that they are linear; copies cost
// twice the code and, from some 2,000 instructions on, more than half a second. 64 functions: 0.65
// s instead of 1.3 s and 94 KB instead of 176 KB; with four sines in each 1.8 s instead of 4.4 s.
enum { MANY = 9, MANY_LENGTH = 2000, LARGE = 20000, MAX_PARAMS = 64, LANES = 32 };

typedef struct Callee {
    LLVMValueRef thread;
    uint64_t id, key;
} Callee;

struct CgDispatch {
    LLVMValueRef f; // what the thread function calls
    Callee *callees;
    size_t n;
    bool uniform[MAX_PARAMS]; // parameters that all lanes have the same of
};

void msl_dispatches_free(Cg *cg) {
    for (size_t i = 0; i < cg->n_dispatches; i++) free(cg->dispatches[i].callees);
    free(cg->dispatches);
    cg->dispatches = NULL;
    cg->n_dispatches = 0;
}

// ---- what can be called ----

static bool is_scalar(LLVMTypeRef t) {
    switch (LLVMGetTypeKind(t)) {
    case LLVMIntegerTypeKind: {
        unsigned bits = LLVMGetIntTypeWidth(t);
        return bits == 1 || bits == 8 || bits == 16 || bits == 32 || bits == 64;
    }
    case LLVMHalfTypeKind:
    case LLVMBFloatTypeKind:
    case LLVMFloatTypeKind:
    case LLVMPointerTypeKind: return true;
    default: return false;
    }
}

static bool has_rows(LLVMTypeRef t) {
    return is_scalar(LLVMGetTypeKind(t) == LLVMVectorTypeKind ? LLVMGetElementType(t) : t);
}

// A variable at program scope that is bound to a resource: the thread function has its slot.
static bool reads_binding(LLVMValueRef i) {
    for (int k = 0; k < LLVMGetNumOperands(i); k++) {
        LLVMValueRef v = LLVMGetOperand(i, (unsigned)k);
        while (LLVMIsAConstantExpr(v) && LLVMGetNumOperands(v)) v = LLVMGetOperand(v, 0);
        if (LLVMIsAGlobalVariable(v) && LLVMIsDeclaration(v)) return true;
    }
    return false;
}

static bool allowed(LLVMValueRef i) {
    if (reads_binding(i)) return false;
    if (!LLVMIsACallInst(i)) return true;
    const char *name = msl_callee(i);
    return msl_starts(name, "llvm.") || msl_starts(name, "__ingot_position") ||
           msl_starts(name, "__ingot_simd_") || msl_starts(name, "__ingot_quad_") ||
           msl_starts(name, "__ingot_never");
}

// Whether f can be called; adds its instructions to *length.
static bool can_call(LLVMValueRef f, size_t *length) {
    for (LLVMBasicBlockRef b = LLVMGetFirstBasicBlock(f); b; b = LLVMGetNextBasicBlock(b))
        for (LLVMValueRef i = LLVMGetFirstInstruction(b); i; i = LLVMGetNextInstruction(i)) {
            if (!allowed(i)) return false;
            ++*length;
        }
    return true;
}

static bool worth_it(Cg *cg, LLVMTypeRef type, const MslCandidate *fits, size_t n) {
    LLVMTypeRef result = LLVMGetReturnType(type), params[MAX_PARAMS];
    unsigned n_params = LLVMCountParamTypes(type);
    size_t length = 0;
    if (cg->request->validate || cg->request->width == 1 || cg->fn->stage != RF_KERNEL || n < 2 ||
        n_params > MAX_PARAMS)
        return false;
    if (LLVMGetTypeKind(result) != LLVMVoidTypeKind && !has_rows(result)) return false;
    LLVMGetParamTypes(type, params);
    for (unsigned p = 0; p < n_params; p++)
        if (!has_rows(params[p])) return false;
    for (size_t i = 0; i < n; i++)
        if (!can_call(fits[i].f, &length)) return false;
    return length >= (n < MANY ? LARGE : MANY_LENGTH);
}

// ---- the frame ----

typedef struct Rows {
    Cg *cg;
    LLVMValueRef frame, lane;
    unsigned bytes; // of one lane, up to here
} Rows;

static LLVMTypeRef stored_type(Cg *cg, LLVMTypeRef t) {
    return t == msl_int(&cg->cx, 1) ? msl_int(&cg->cx, 8) : t;
}

// The place of this lane in the next row.
static LLVMValueRef next_row(Rows *r, LLVMTypeRef t) {
    MslContext *cx = &r->cg->cx;
    unsigned size = (unsigned)LLVMABISizeOfType(cx->layout, t);
    r->bytes = (r->bytes + size - 1) / size * size;
    LLVMValueRef at = msl_const(cx, 64, (uint64_t)r->bytes * LANES);
    r->bytes += size;
    if (!r->frame) return NULL; // only counting
    at = LLVMBuildInBoundsGEP2(cx->builder, msl_int(cx, 8), r->frame, &at, 1, "");
    return LLVMBuildInBoundsGEP2(cx->builder, t, at, &r->lane, 1, "");
}

// v NULL: reads a value of type t. Else writes v.
static LLVMValueRef access_rows(Rows *r, LLVMTypeRef t, LLVMValueRef v) {
    LLVMBuilderRef b = r->cg->cx.builder;
    bool vector = LLVMGetTypeKind(t) == LLVMVectorTypeKind;
    LLVMTypeRef scalar = vector ? LLVMGetElementType(t) : t, stored = stored_type(r->cg, scalar);
    LLVMValueRef all = vector ? LLVMGetPoison(t) : NULL;
    for (unsigned k = 0; k < (vector ? LLVMGetVectorSize(t) : 1); k++) {
        LLVMValueRef at = next_row(r, stored), number = msl_const(&r->cg->cx, 32, k), one;
        if (!at) continue;
        if (v) {
            one = vector ? LLVMBuildExtractElement(b, v, number, "") : v;
            LLVMBuildStore(b, stored == scalar ? one : LLVMBuildZExt(b, one, stored, ""), at);
            continue;
        }
        one = LLVMBuildLoad2(b, stored, at, "");
        if (stored != scalar) one = LLVMBuildTrunc(b, one, scalar, "");
        all = vector ? LLVMBuildInsertElement(b, all, one, number, "") : one;
    }
    return all;
}

static LLVMValueRef build_lane(Cg *cg) {
    LLVMValueRef lane = msl_call_position(cg, RF_THREAD_INDEX_IN_SIMDGROUP, 0);
    return LLVMBuildZExt(cg->cx.builder, lane, msl_int(&cg->cx, 64), "");
}

// Bytes of one lane: the result, then the arguments that differ between lanes.
static unsigned frame_bytes(Cg *cg, LLVMTypeRef type, const bool *uniform) {
    Rows r = {.cg = cg};
    LLVMTypeRef params[MAX_PARAMS];
    LLVMGetParamTypes(type, params);
    if (LLVMGetTypeKind(LLVMGetReturnType(type)) != LLVMVoidTypeKind)
        access_rows(&r, LLVMGetReturnType(type), NULL);
    for (unsigned p = 0; p < LLVMCountParamTypes(type); p++)
        if (!uniform[p]) access_rows(&r, params[p], NULL);
    return r.bytes;
}

// ptr __ingot_frame(i32 bytes of one lane)
static LLVMValueRef build_frame(Cg *cg, unsigned bytes) {
    MslContext *cx = &cg->cx;
    LLVMTypeRef in = msl_int(cx, 32), type = LLVMFunctionType(msl_ptr(cx), &in, 1, 0);
    LLVMValueRef f = LLVMGetNamedFunction(cx->module, "__ingot_frame"),
                 n = msl_const(cx, 32, bytes);
    if (!f) {
        f = LLVMAddFunction(cx->module, "__ingot_frame", type);
        msl_add_attribute(cx, f, LLVMAttributeFunctionIndex, "nounwind", 0);
        msl_add_attribute(cx, f, LLVMAttributeFunctionIndex, "memory", 0); // memory(none)
    }
    LLVMValueRef first = LLVMGetFirstInstruction(LLVMGetEntryBasicBlock(cg->thread));
    LLVMPositionBuilderBefore(cx->builder, first);
    return LLVMBuildCall2(cx->builder, type, f, &n, 1, "");
}

// ---- callees ----

static LLVMValueRef build_callee(Cg *cg, LLVMValueRef f, const char *name, const bool *uniform) {
    MslContext *cx = &cg->cx;
    LLVMTypeRef type = LLVMGlobalGetValueType(f), params[MAX_PARAMS], in[MAX_PARAMS + 1];
    LLVMTypeRef result = LLVMGetReturnType(type), nothing = LLVMVoidTypeInContext(cx->llvm);
    LLVMValueRef args[MAX_PARAMS];
    unsigned n = LLVMCountParamTypes(type), n_in = 0;
    LLVMGetParamTypes(type, params);
    in[n_in++] = msl_ptr(cx);
    for (unsigned p = 0; p < n; p++)
        if (uniform[p]) in[n_in++] = params[p];
    // Seen from outside, so that its parameters stay what they are.
    LLVMValueRef callee = LLVMAddFunction(cx->module, name, LLVMFunctionType(nothing, in, n_in, 0));
    LLVMPositionBuilderAtEnd(cx->builder, LLVMAppendBasicBlockInContext(cx->llvm, callee, "entry"));
    LLVMSetCurrentDebugLocation2(cx->builder, NULL);
    Rows r = {.cg = cg, .frame = LLVMGetParam(callee, 0), .lane = build_lane(cg)}, start = r;
    if (result != nothing) {
        Rows count = {.cg = cg};
        access_rows(&count, result, NULL);
        r.bytes = count.bytes;
    }
    n_in = 1;
    for (unsigned p = 0; p < n; p++)
        args[p] = uniform[p] ? LLVMGetParam(callee, n_in++) : access_rows(&r, params[p], NULL);
    LLVMValueRef call = LLVMBuildCall2(cx->builder, type, f, args, n, "");
    msl_copy_call_attributes(f, call);
    if (result != nothing) access_rows(&start, result, call);
    LLVMBuildRetVoid(cx->builder);
    return callee;
}

// Whether all lanes have the same value: a slot, and what is read there at constant places.
static bool is_uniform(Cg *cg, LLVMValueRef v, int depth) {
    if (LLVMIsConstant(v)) return true;
    if (LLVMIsAArgument(v)) return LLVMGetParamParent(v) == cg->thread;
    bool plain = LLVMIsALoadInst(v) || LLVMIsAGetElementPtrInst(v) || LLVMIsACastInst(v) ||
                 LLVMIsAExtractValueInst(v) || LLVMIsAExtractElementInst(v);
    if (!plain || !depth) return false;
    for (int k = 0; k < LLVMGetNumOperands(v); k++)
        if (!is_uniform(cg, LLVMGetOperand(v, (unsigned)k), depth - 1)) return false;
    return true;
}

static struct CgDispatch *add_dispatch(Cg *cg, size_t n) {
    struct CgDispatch *more =
        realloc(cg->dispatches, (cg->n_dispatches + 1) * sizeof *cg->dispatches);
    if (!more) msl_fail(&cg->cx, "out of memory");
    cg->dispatches = more;
    struct CgDispatch *d = &more[cg->n_dispatches];
    *d = (struct CgDispatch){.callees = calloc(n, sizeof *d->callees)};
    if (!d->callees) msl_fail(&cg->cx, "out of memory");
    cg->n_dispatches++;
    return d;
}

// A dispatch with the same functions and uniform parameters, or NULL.
static LLVMValueRef find_dispatch(const Cg *cg, const MslCandidate *fits, size_t n,
                                  LLVMTypeRef type, const bool *uniform) {
    for (size_t i = 0; i < cg->n_dispatches; i++) {
        const struct CgDispatch *d = &cg->dispatches[i];
        bool same = d->n == n && LLVMGlobalGetValueType(d->f) == type &&
                    memcmp(d->uniform, uniform, sizeof d->uniform) == 0;
        for (size_t k = 0; k < n && same; k++) same = d->callees[k].id == fits[k].id;
        if (same) return d->f;
    }
    return NULL;
}

static LLVMValueRef make_dispatch(Cg *cg, LLVMTypeRef type, const MslCandidate *fits, size_t n,
                                  const bool *uniform) {
    MslContext *cx = &cg->cx;
    char name[64];
    size_t number = cg->n_dispatches;
    struct CgDispatch *d = add_dispatch(cg, n);
    snprintf(name, sizeof name, "__ingot_dispatch_%zu", number);
    d->f = LLVMAddFunction(cx->module, name, type);
    memcpy(d->uniform, uniform, sizeof d->uniform);
    static const char *const attributes[] = {"nounwind", "convergent", "nomerge"};
    for (size_t i = 0; i < sizeof attributes / sizeof *attributes; i++)
        msl_add_attribute(cx, d->f, LLVMAttributeFunctionIndex, attributes[i], 0);
    for (size_t i = 0; i < n; i++) {
        snprintf(name, sizeof name, "ingot.callee.%zu.%llu", number,
                 (unsigned long long)fits[i].id);
        d->callees[d->n++] =
            (Callee){build_callee(cg, fits[i].f, name, uniform), fits[i].id, fits[i].key};
    }
    return d->f;
}

bool msl_outline_call(Cg *cg, LLVMValueRef call, const MslCandidate *fits, size_t n) {
    MslContext *cx = &cg->cx;
    LLVMBuilderRef b = cx->builder;
    LLVMTypeRef type = LLVMGetCalledFunctionType(call), result = LLVMGetReturnType(type);
    LLVMTypeRef in[MAX_PARAMS + 2];
    LLVMValueRef args[MAX_PARAMS + 2];
    bool uniform[MAX_PARAMS] = {0}, value = LLVMGetTypeKind(result) != LLVMVoidTypeKind;
    if (cx->nvptx || !worth_it(cg, type, fits, n)) return false;
    unsigned n_params = LLVMCountParamTypes(type), n_in = 2;
    for (unsigned p = 0; p < n_params; p++) uniform[p] = is_uniform(cg, LLVMGetOperand(call, p), 6);
    args[1] = build_frame(cg, frame_bytes(cg, type, uniform));
    LLVMPositionBuilderBefore(b, call);
    args[0] = LLVMBuildPtrToInt(b, LLVMGetCalledValue(call), msl_int(cx, 32), "");
    Rows r = {.cg = cg, .frame = args[1], .lane = build_lane(cg)}, start = r;
    if (value) access_rows(&r, result, LLVMConstNull(result)); // what calling nothing gives
    for (unsigned p = 0; p < n_params; p++) {
        LLVMValueRef v = LLVMGetOperand(call, p);
        if (uniform[p])
            args[n_in++] = v;
        else
            access_rows(&r, LLVMTypeOf(v), v);
    }
    msl_build_nothing(cg, call, args[0]);
    for (unsigned k = 0; k < n_in; k++) in[k] = LLVMTypeOf(args[k]);
    LLVMTypeRef asked = LLVMFunctionType(LLVMVoidTypeInContext(cx->llvm), in, n_in, 0);
    LLVMValueRef f = find_dispatch(cg, fits, n, asked, uniform);
    if (!f) f = make_dispatch(cg, asked, fits, n, uniform);
    LLVMPositionBuilderBefore(b, call);
    LLVMBuildCall2(b, asked, f, args, n_in, "");
    if (value) LLVMReplaceAllUsesWith(call, access_rows(&start, result, NULL));
    LLVMInstructionEraseFromParent(call);
    return true;
}

bool msl_next_callee(const Cg *cg, size_t *dispatch, size_t *callee, LLVMValueRef *f) {
    for (; *dispatch < cg->n_dispatches; ++*dispatch, *callee = 0)
        if (*callee < cg->dispatches[*dispatch].n)
            return *f = cg->dispatches[*dispatch].callees[(*callee)++].thread, true;
    return false;
}

// ---- vectorised ----

// (id, frame, uniform arguments..., launch, where the step is, mask): the callees have the same
// parameters but for the first.
static void build_switch(Cg *cg, struct CgDispatch *d) {
    MslContext *cx = &cg->cx;
    LLVMBuilderRef b = cx->builder;
    LLVMTypeRef types[MAX_PARAMS + 16], nothing = LLVMVoidTypeInContext(cx->llvm);
    LLVMValueRef args[MAX_PARAMS + 16], f = NULL, choice = NULL;
    LLVMBasicBlockRef out = NULL;
    unsigned n = 0;
    MslVersion any = {.width = cx->width,
                      .parts = 1,
                      .shape = {cx->shape[0], cx->shape[1], cx->shape[2]},
                      .terse = cg->request->tier == TIER_BASELINE,
                      .remarks = true};
    for (size_t i = 0; i < d->n; i++) {
        LLVMValueRef callee = msl_vectorise(cx, d->callees[i].thread, &any, NULL);
        LLVMDeleteFunction(d->callees[i].thread);
        msl_keep_apart(&cg->cx, callee);
        LLVMTypeRef type = LLVMGlobalGetValueType(callee);
        if (!f) {
            char name[64];
            size_t length;
            snprintf(name, sizeof name, "%s.simd", LLVMGetValueName2(d->f, &length));
            n = LLVMCountParamTypes(type);
            types[0] = msl_int(cx, 32);
            LLVMGetParamTypes(type, types + 1);
            f = LLVMAddFunction(cx->module, name, LLVMFunctionType(nothing, types, n + 1, 0));
            LLVMSetLinkage(f, LLVMInternalLinkage);
            msl_keep_apart(&cg->cx, f);
            LLVMBasicBlockRef entry = LLVMAppendBasicBlockInContext(cx->llvm, f, "entry");
            out = LLVMAppendBasicBlockInContext(cx->llvm, f, "out");
            LLVMPositionBuilderAtEnd(b, out);
            LLVMBuildRetVoid(b);
            LLVMPositionBuilderAtEnd(b, entry);
            choice = LLVMBuildSwitch(b, LLVMGetParam(f, 0), out, (unsigned)d->n);
            for (unsigned k = 0; k < n; k++) args[k] = LLVMGetParam(f, k + 1);
        }
        LLVMBasicBlockRef block = LLVMAppendBasicBlockInContext(cx->llvm, f, "");
        LLVMAddCase(choice, msl_const(cx, 32, d->callees[i].id), block);
        if (d->callees[i].key) LLVMAddCase(choice, msl_const(cx, 32, d->callees[i].key), block);
        LLVMPositionBuilderAtEnd(b, block);
        LLVMBuildCall2(b, type, callee, args, n, "");
        LLVMBuildBr(b, out);
    }
}

void msl_vectorise_callees(Cg *cg) {
    for (size_t i = 0; i < cg->n_dispatches; i++) build_switch(cg, &cg->dispatches[i]);
}
