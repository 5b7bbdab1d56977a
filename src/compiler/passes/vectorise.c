// SPDX-License-Identifier: Apache-2.0
// vectorise.c: the pipeline of the SPMD vectoriser, one function. A SIMD-group is a machine vector:
// the scalar thread function becomes f.simd, which runs `width` threads at once under an execution
// mask (whole-function vectorisation).
#include "compiler/passes/passes_int.h"
#include <llvm-c/Analysis.h>
#include <setjmp.h>
#include <stdio.h>
#include <stdlib.h>

enum { MAX_VERSIONED = 6000 }; // instructions of a function that may be emitted twice
// Few pieces of rows touch a bound (of an image of 1,024 pixels 1 in 16, of 32 threads each). Where
// a step has many of them, code for all at a time takes long to compile (5x5 blur by eight rows,
// AVX-512: 112 ms instead of 82).
enum { MANY_ROWS = 8, SLOW_ROWS = 2 };

static void open_types(Vec *x) {
    LLVMContextRef c = x->llvm;
    x->i1 = LLVMInt1TypeInContext(c);
    x->i8 = LLVMInt8TypeInContext(c);
    x->i16 = LLVMInt16TypeInContext(c);
    x->i32 = LLVMInt32TypeInContext(c);
    x->i64 = LLVMInt64TypeInContext(c);
    x->f32 = LLVMFloatTypeInContext(c);
    x->f64 = LLVMDoubleTypeInContext(c);
    x->ptr = LLVMPointerTypeInContext(c, 0);
    x->none = LLVMVoidTypeInContext(c);
    x->mask_type = LLVMVectorType(x->i1, x->width); // of one part
    x->bits_type = LLVMIntTypeInContext(c, x->width);
}

static void add_val(Vec *x, Value v, int n) {
    Val *k = &x->vals[x->n_vals];
    *k = (Val){.old = v, .n = n};
    k->base = vec_alloc(x, x->n_segments, sizeof *k->base);
    k->v = k->all = vec_alloc(x, (size_t)n * x->parts, sizeof *k->v);
    msl_map_put(x->cx, &x->arena, &x->val_ix, v, x->n_vals++);
}

static int count_instructions(Vec *x) {
    int n = 0;
    for (Block b = LLVMGetFirstBasicBlock(x->thread); b; b = LLVMGetNextBasicBlock(b))
        for (Value i = LLVMGetFirstInstruction(b); i; i = LLVMGetNextInstruction(i)) n++;
    return n;
}

void msl_analyse(Vec *x) {
    x->val_ix = x->late = x->sunk = x->soa = x->out_ix = x->entry_ok = x->full_tests = (Map){0};
    x->n_vals = 0;
    x->spilt = NULL;
    msl_cfg_analyse(x, x->thread);
    msl_find_sunk(x);
    msl_analyse_private(x);
    unsigned n_params = LLVMCountParams(x->thread);
    x->vals = vec_alloc(x, (size_t)count_instructions(x) + n_params, sizeof *x->vals);
    for (unsigned p = 0; p < n_params; p++) {
        Value v = LLVMGetParam(x->thread, p);
        add_val(x, v, msl_leaves(LLVMTypeOf(v)));
        x->vals[p].c = msl_linear(0, true, true);
    }
    for (int b = 0; b < x->n_blocks; b++)
        for (Value i = LLVMGetFirstInstruction(x->blocks[b].old); i;
             i = LLVMGetNextInstruction(i)) {
            int n = msl_leaves(LLVMTypeOf(i));
            if (n) add_val(x, i, n);
        }
    msl_analyse_divergence(x);
    msl_find_flat(x);
    msl_find_late(x);
}

// Declares a function with the contract of passes.h and makes it the one being built.
static Value begin_function(Vec *x, const char *suffix) {
    unsigned n = 0, n_params = LLVMCountParams(x->thread);
    Type *types = vec_alloc(x, n_params + 9, sizeof *types);
    for (; n < n_params; n++) types[n] = LLVMTypeOf(LLVMGetParam(x->thread, n));
    types[n++] = x->ptr;
    for (int k = 0; k < 7; k++) types[n++] = x->i32;
    types[n++] = LLVMVectorType(x->i1, x->lanes);
    size_t length;
    const char *stem = LLVMGetValueName2(x->thread, &length);
    char *name = vec_alloc(x, length + 32, 1);
    snprintf(name, length + 32, "%s%s", stem, suffix);
    Value f = LLVMAddFunction(x->module, name, LLVMFunctionType(x->none, types, n, 0));
    LLVMSetLinkage(f, LLVMInternalLinkage);
    unsigned n_attributes = LLVMGetAttributeCountAtIndex(x->thread, LLVMAttributeFunctionIndex);
    LLVMAttributeRef *attributes = vec_alloc(x, n_attributes, sizeof *attributes);
    LLVMGetAttributesAtIndex(x->thread, LLVMAttributeFunctionIndex, attributes);
    for (unsigned k = 0; k < n_attributes; k++) // target-cpu, target-features, ...
        if (LLVMIsStringAttribute(attributes[k]))
            LLVMAddAttributeAtIndex(f, LLVMAttributeFunctionIndex, attributes[k]);
    const char *own[] = {"alwaysinline", "nounwind"};
    for (int k = 0; k < 2; k++) {
        unsigned kind = LLVMGetEnumAttributeKindForName(own[k], strlen(own[k]));
        LLVMAddAttributeAtIndex(f, LLVMAttributeFunctionIndex,
                                LLVMCreateEnumAttribute(x->llvm, kind, 0));
    }
    x->f = f;
    memset(x->slots, 0, sizeof x->slots);
    x->part_runs = NULL;
    x->striped = (Map){0};
    x->lead = false;
    x->started = false;
    for (unsigned p = 0; p < n_params; p++) x->vals[p].base[0] = LLVMGetParam(f, p);
    x->launch = LLVMGetParam(f, n_params);
    for (unsigned d = 0; d < 3; d++) {
        x->group[d] = LLVMGetParam(f, n_params + 1 + d);
        x->size[d] = LLVMGetParam(f, n_params + 4 + d);
    }
    x->first = LLVMGetParam(f, n_params + 7);
    return f;
}

static Value emit(Vec *x, const char *suffix, bool whole) {
    x->whole = whole;
    Value f = begin_function(x, suffix);
    msl_emit_body(x);
    msl_finish_fragments(x);
    if (x->asked.split) msl_split(x);
    return f;
}

static void call_with_own_arguments(Vec *x, Value callee) {
    unsigned n = LLVMCountParams(x->f);
    Value *args = vec_alloc(x, n, sizeof *args);
    LLVMGetParams(x->f, args);
    LLVMBuildCall2(x->b, LLVMGlobalGetValueType(callee), callee, args, n, "");
    LLVMBuildRetVoid(x->b);
}

// The body without the assumption that no index meets a clamp, for so many vectors of the step.
static Value emit_slow(Vec *x, unsigned parts) {
    unsigned all = x->parts;
    x->parts = parts;
    x->lanes = x->width * parts;
    if (parts != all) {
        msl_plan_positions(x);
        msl_analyse(x);
    }
    // That of one vector serves some threads as well (codegen/wrap.c).
    Value slow = emit(x, ".simd.slow", x->asked.whole && parts > 1);
    x->parts = all;
    x->lanes = x->width * all;
    if (parts != all) msl_plan_positions(x); // who comes next analyses
    return slow;
}

void msl_keep_apart(MslContext *cx, LLVMValueRef f) {
    static const char *const added[] = {"noinline", "nounwind"};
    LLVMRemoveEnumAttributeAtIndex(f, LLVMAttributeFunctionIndex,
                                   LLVMGetEnumAttributeKindForName("alwaysinline", 12));
    for (int k = 0; k < 2; k++) {
        unsigned kind = LLVMGetEnumAttributeKindForName(added[k], 8);
        LLVMAddAttributeAtIndex(f, LLVMAttributeFunctionIndex,
                                LLVMCreateEnumAttribute(cx->llvm, kind, 0));
    }
}

// Calls the slow body for each few rows of the step, all of whose threads run.
static void call_slow(Vec *x, Value slow, unsigned rows) {
    unsigned n = LLVMCountParams(x->f);
    Value *args = vec_alloc(x, n, sizeof *args);
    LLVMGetParams(x->f, args);
    args[n - 1] = LLVMConstAllOnes(LLVMVectorType(x->i1, x->width * rows));
    for (unsigned at = 0; at < x->parts; at += rows) {
        args[n - 2] = LLVMBuildAdd(x->b, x->first, const_int(x->i32, at * x->apart), "");
        LLVMBuildCall2(x->b, LLVMGlobalGetValueType(slow), slow, args, n, "");
    }
    LLVMBuildRetVoid(x->b);
    msl_keep_apart(x->cx, slow);
}

void msl_prepare_once(Vec *x) {
    static const char prepared[] = "ingot-prepared";
    if (LLVMGetStringAttributeAtIndex(x->thread, LLVMAttributeFunctionIndex, prepared,
                                      sizeof prepared - 1))
        return;
    msl_prepare(x);
    if (msl_uses_matrices(x->thread)) {
        msl_plan_positions(x);
        msl_analyse(x); // which phis join lanes that came one way
        msl_gather_fragments(x);
    }
    if (x->asked.split && msl_may_merge_loads(x)) {
        msl_plan_positions(x);
        msl_analyse(x);
        if (msl_merge_loads(x)) msl_join_elements(x);
    }
    LLVMAddAttributeAtIndex(
        x->thread, LLVMAttributeFunctionIndex,
        LLVMCreateStringAttribute(x->llvm, prepared, sizeof prepared - 1, "", 0));
}

bool msl_wants_copies(Vec *x) {
    x->assume = true;
    bool wants = !x->asked.one_copy && count_instructions(x) <= MAX_VERSIONED && msl_has_clamps(x);
    x->assume = false;
    x->entry_ok = (Map){0};
    return wants;
}

// The context is where to put the slow copy.
static Value vectorise(Vec *x, void *context) {
    Value *kept = context;
    *kept = NULL;
    msl_prepare_once(x);
    msl_plan_positions(x);
    msl_analyse(x);
    if (!msl_wants_copies(x)) {
        msl_remark_all(x);
        return emit(x, ".simd", x->asked.whole);
    }
    unsigned slow_parts = x->apart && x->parts >= MANY_ROWS ? SLOW_ROWS : x->parts;
    Value slow = *kept = emit_slow(x, slow_parts);
    x->assume = true;
    msl_analyse(x);
    msl_remark_all(x);
    Value fast = emit(x, ".simd.fast", x->asked.whole);
    Value f = begin_function(x, ".simd");
    Block entry = msl_new_block(x, ""), yes = msl_new_block(x, "fast"),
          no = msl_new_block(x, "slow");
    LLVMPositionBuilderAtEnd(x->b, entry);
    LLVMBuildCondBr(x->b, msl_build_guard(x), yes, no);
    LLVMPositionBuilderAtEnd(x->b, yes);
    call_with_own_arguments(x, fast);
    LLVMPositionBuilderAtEnd(x->b, no);
    if (slow_parts == x->parts)
        call_with_own_arguments(x, slow);
    else
        call_slow(x, slow, slow_parts);
    return f;
}

LLVMValueRef msl_vectorise(MslContext *cx, LLVMValueRef thread, const MslVersion *asked,
                           LLVMValueRef *slow) {
    unsigned width = asked->width, parts = asked->parts;
    LLVMValueRef unwanted;
    if (width != 4 && width != 8 && width != 16 && width != 32)
        msl_fail(cx, "internal error: %u lanes", width);
    if (!parts || parts > MAX_PARTS || (parts & (parts - 1)))
        msl_fail(cx, "internal error: %u vectors", parts);
    if (width * parts != 32 && msl_uses_simd(thread))
        msl_fail(cx, "internal error: SIMD-group functions need 32 lanes");
    LLVMValueRef f = msl_with_vec(cx, thread, asked, vectorise, slow ? slow : &unwanted);
#ifndef NDEBUG
    if (LLVMVerifyFunction(f, LLVMReturnStatusAction))
        msl_fail(cx, "internal error: the vector function is malformed");
#endif
    return f;
}

Value msl_with_vec(MslContext *cx, Value thread, const MslVersion *asked,
                   Value (*run)(Vec *x, void *context), void *context) {
    Vec *x = calloc(1, sizeof *x);
    if (!x) msl_fail(cx, "out of memory");
    *x = (Vec){.cx = cx,
               .llvm = cx->llvm,
               .module = cx->module,
               .b = cx->builder,
               .dl = cx->layout,
               .asked = *asked,
               .width = asked->width,
               .parts = asked->parts,
               .lanes = asked->width * asked->parts,
               .apart = asked->apart,
               .thread = thread,
               .full = asked->full_shape};
    memcpy(x->shape, asked->shape, sizeof x->shape);
    open_types(x);
    jmp_buf outer; // an error passes through here to free the arena
    memcpy(&outer, &cx->fail, sizeof outer);
    if (setjmp(cx->fail)) {
        base_arena_free(&x->arena);
        free(x);
        memcpy(&cx->fail, &outer, sizeof outer);
        longjmp(cx->fail, 1);
    }
    Value result = run(x, context);
    memcpy(&cx->fail, &outer, sizeof outer);
    base_arena_free(&x->arena);
    free(x);
    return result;
}
