// SPDX-License-Identifier: Apache-2.0
// intersection.c: intersection functions behind one type.
//   purpose   void f(ptr candidate, ptr payload, i64 payload_bytes, ptr table): what the program's
//             function asks for is loaded from the candidate (abi/candidate.h) and the table, its
//             answer is stored there. So all of them are cases of one switch (link_calls.c).
//   requires  the library's module, before it joins the kernel's
// A function that looks at other primitives, or whose payload is larger than the one there is,
// answers nothing: the primitive is not accepted.
#include "compiler/codegen/stage_int.h"
#include "abi/candidate.h"
#include "abi/data_types.h"
#include "abi/function_table.h"
#include <stddef.h>

enum { MAX_PARAMS = 128 };
enum { CANDIDATE, PAYLOAD, PAYLOAD_BYTES, TABLE, N_PARAMS }; // of the function around it

typedef struct Wrapper {
    Cg *cg;
    const RfFunction *fn;
    LLVMValueRef f, self;
    LLVMValueRef buffers; // their addresses in the table
    unsigned hidden;      // parameters before the source's
} Wrapper;

static LLVMValueRef word_at(const Wrapper *w, uint64_t word) {
    return msl_stage_offset(w->cg, LLVMGetParam(w->self, CANDIDATE), word * 4);
}

static LLVMValueRef memory_of(const Wrapper *w, LLVMTypeRef type) {
    LLVMBuilderRef build = w->cg->cx.builder;
    LLVMBasicBlockRef here = LLVMGetInsertBlock(build), start = LLVMGetEntryBasicBlock(w->self);
    LLVMValueRef first = LLVMGetFirstInstruction(start);
    LLVMPositionBuilder(build, start, first); // with the rest of the frame
    LLVMValueRef memory = LLVMBuildAlloca(build, type, "");
    LLVMPositionBuilderAtEnd(build, here);
    LLVMSetAlignment(memory, 16);
    LLVMBuildStore(w->cg->cx.builder, LLVMConstNull(type), memory);
    return memory;
}

static void store_at(const Wrapper *w, LLVMValueRef memory, uint64_t offset, LLVMValueRef value) {
    LLVMSetAlignment(
        LLVMBuildStore(w->cg->cx.builder, value, msl_stage_offset(w->cg, memory, offset)), 1);
}

// Words of the candidate as components of the program's type.
static void store_words(const Wrapper *w, const RfValue *v, LLVMValueRef memory) {
    MslContext *cx = &w->cg->cx;
    StageScalar s = msl_stage_scalar(w->cg, v->data_type);
    for (uint32_t k = 0; k < v->n; k++) {
        LLVMTypeRef type = s.is_float ? s.type : msl_int(cx, 32);
        LLVMValueRef x = LLVMBuildLoad2(cx->builder, type, word_at(w, v->row + k), "");
        LLVMSetAlignment(x, 4);
        if (!s.is_float && s.bits < 32) x = LLVMBuildTrunc(cx->builder, x, s.type, "");
        store_at(w, memory, v->offset + k * s.bits / 8, x);
    }
}

static void store_value(const Wrapper *w, const RfValue *v, LLVMValueRef memory) {
    MslContext *cx = &w->cg->cx;
    if (v->role == RF_CANDIDATE) {
        store_words(w, v, memory);
    } else if (v->role == RF_RAY_PAYLOAD) {
        store_at(w, memory, 0, LLVMGetParam(w->self, PAYLOAD));
    } else if (v->role == RF_CANDIDATE_ADDRESS) {
        LLVMValueRef p = LLVMBuildLoad2(cx->builder, msl_ptr(cx), word_at(w, v->row), "");
        LLVMSetAlignment(p, 8);
        store_at(w, memory, 0, p);
    } else { // array_ref<uint>
        LLVMValueRef n =
            LLVMBuildLoad2(cx->builder, msl_int(cx, 32), word_at(w, ABI_CAND_LEVELS), "");
        store_at(w, memory, 0, word_at(w, v->row));
        store_at(w, memory, 8, LLVMBuildZExt(cx->builder, n, msl_int(cx, 64), ""));
    }
}

static void store_buffer(const Wrapper *w, const RfArg *arg, LLVMValueRef memory) {
    MslContext *cx = &w->cg->cx;
    for (uint32_t k = 0; k < arg->count && arg->index + k < ABI_TABLE_BUFFERS; k++) {
        LLVMValueRef at = msl_stage_offset(w->cg, w->buffers, (arg->index + k) * 8ull);
        LLVMValueRef p = LLVMBuildLoad2(cx->builder, msl_ptr(cx), at, "");
        LLVMSetAlignment(p, 8);
        store_at(w, memory, arg->offset + k * 8ull, p);
    }
}

static LLVMValueRef build_argument(const Wrapper *w, unsigned param) {
    MslContext *cx = &w->cg->cx;
    LLVMTypeRef want = LLVMTypeOf(LLVMGetParam(w->f, param + w->hidden));
    LLVMTypeRef byval = msl_memory_type(w->f, param + w->hidden, "byval"),
                type = byval ? byval : want;
    bool small = LLVMGetTypeKind(want) == LLVMIntegerTypeKind && LLVMGetIntTypeWidth(want) < 8;
    if (small) type = msl_int(cx, 8); // bool
    LLVMValueRef memory = memory_of(w, type);
    for (uint32_t i = 0; i < w->fn->n_inputs; i++)
        if (w->fn->inputs[i].param == param) store_value(w, &w->fn->inputs[i], memory);
    for (uint32_t i = 0; i < w->fn->n_args; i++)
        if (w->fn->args[i].param == param) store_buffer(w, &w->fn->args[i], memory);
    if (byval) return memory;
    LLVMValueRef value = LLVMBuildLoad2(cx->builder, type, memory, "");
    return small ? LLVMBuildTrunc(cx->builder, value, want, "") : value;
}

static void store_answers(const Wrapper *w, LLVMValueRef memory) {
    MslContext *cx = &w->cg->cx;
    for (uint32_t i = 0; i < w->fn->n_outputs; i++) {
        const RfValue *v = &w->fn->outputs[i];
        StageScalar s = msl_stage_scalar(w->cg, v->data_type);
        LLVMValueRef x =
            LLVMBuildLoad2(cx->builder, s.type, msl_stage_offset(w->cg, memory, v->offset), "");
        LLVMSetAlignment(x, 1);
        if (!s.is_float) x = LLVMBuildZExt(cx->builder, x, msl_int(cx, 32), "");
        LLVMSetAlignment(LLVMBuildStore(cx->builder, x, word_at(w, v->row)), 4);
    }
}

// Whether the candidate is for this function: i1.
static LLVMValueRef is_meant(const Wrapper *w, unsigned primitive) {
    LLVMBuilderRef b = w->cg->cx.builder;
    const MslContext *cx = &w->cg->cx;
    LLVMValueRef kind = LLVMBuildLoad2(b, msl_int(cx, 32), word_at(w, ABI_CAND_KIND), "");
    LLVMValueRef ok = LLVMBuildICmp(b, LLVMIntEQ, kind, msl_const(cx, 32, primitive), "");
    LLVMValueRef bytes = msl_const(cx, 64, w->fn->payload_bytes);
    LLVMValueRef room =
        LLVMBuildICmp(b, LLVMIntUGE, LLVMGetParam(w->self, PAYLOAD_BYTES), bytes, "");
    ok = LLVMBuildAnd(b, ok, room, "");
    if (!w->fn->n_args) return ok;
    LLVMValueRef there = LLVMBuildIsNotNull(b, LLVMGetParam(w->self, TABLE), "");
    return LLVMBuildAnd(b, ok, there, "");
}

static void find_buffers(Wrapper *w) {
    MslContext *cx = &w->cg->cx;
    LLVMValueRef table = LLVMGetParam(w->self, TABLE);
    if (!w->fn->n_args) return;
    LLVMValueRef at =
        LLVMBuildLoad2(cx->builder, msl_int(cx, 32),
                       msl_stage_offset(w->cg, table, offsetof(AbiFunctionTable, buffers)), "");
    at = LLVMBuildZExt(cx->builder, at, msl_int(cx, 64), "");
    w->buffers = LLVMBuildInBoundsGEP2(cx->builder, msl_int(cx, 8), table, &at, 1, "");
}

static void build_call(Wrapper *w) {
    MslContext *cx = &w->cg->cx;
    LLVMTypeRef type = LLVMGlobalGetValueType(w->f), returned = LLVMGetReturnType(type);
    LLVMTypeRef sret = LLVMCountParams(w->f) ? msl_memory_type(w->f, 0, "sret") : NULL;
    LLVMValueRef args[MAX_PARAMS], result;
    unsigned n = LLVMCountParams(w->f);
    w->hidden = sret ? 1 : 0;
    if (n > MAX_PARAMS) msl_fail(cx, "'%s' has too many parameters", w->fn->name);
    bool is_bool = !sret && LLVMGetTypeKind(returned) == LLVMIntegerTypeKind &&
                   LLVMGetIntTypeWidth(returned) < 8;
    result = memory_of(w, sret ? sret : is_bool ? msl_int(cx, 8) : returned);
    if (sret) args[0] = result;
    find_buffers(w);
    for (unsigned i = w->hidden; i < n; i++) args[i] = build_argument(w, i - w->hidden);
    LLVMValueRef call = LLVMBuildCall2(cx->builder, type, w->f, args, n, "");
    msl_copy_call_attributes(w->f, call);
    if (is_bool) call = LLVMBuildZExt(cx->builder, call, msl_int(cx, 8), "");
    if (!sret) LLVMBuildStore(cx->builder, call, result);
    store_answers(w, result);
}

LLVMValueRef msl_wrap_intersection(Cg *cg, LLVMModuleRef m, LLVMValueRef f, const RfFunction *fn) {
    MslContext *cx = &cg->cx;
    unsigned tags, primitive;
    if (!rf_intersection(fn, &tags, &primitive)) return NULL;
    LLVMTypeRef in[N_PARAMS] = {msl_ptr(cx), msl_ptr(cx), msl_int(cx, 64), msl_ptr(cx)};
    LLVMTypeRef type = LLVMFunctionType(LLVMVoidTypeInContext(cx->llvm), in, N_PARAMS, 0);
    Wrapper w = {.cg = cg, .fn = fn, .f = f, .self = LLVMAddFunction(m, "", type)};
    LLVMBasicBlockRef start = LLVMAppendBasicBlockInContext(cx->llvm, w.self, "entry"),
                      call = LLVMAppendBasicBlockInContext(cx->llvm, w.self, "call"),
                      end = LLVMAppendBasicBlockInContext(cx->llvm, w.self, "end");
    LLVMPositionBuilderAtEnd(cx->builder, start);
    LLVMBuildCondBr(cx->builder, is_meant(&w, primitive), call, end);
    LLVMPositionBuilderAtEnd(cx->builder, call);
    build_call(&w);
    LLVMBuildBr(cx->builder, end);
    LLVMPositionBuilderAtEnd(cx->builder, end);
    LLVMBuildRetVoid(cx->builder);
    return w.self;
}
