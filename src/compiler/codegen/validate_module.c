// SPDX-License-Identifier: Apache-2.0
// validate_module.c: what codegen/support/validate.c asks the module for: how many arguments there
// are, and where constants of the program lie that pointers which are read from memory may point
// to.
//   requires  codegen/support/validate.c linked into the module
// And tables of pointers that LLVM made relative: what they are read with is a load like others.
#include "compiler/codegen/validate_int.h"

// Whether a constant of the program, or a table that LLVM made of a switch, holds the address.
static bool is_in_constant(Value value) {
    for (LLVMUseRef u = LLVMGetFirstUse(value); u; u = LLVMGetNextUse(u)) {
        Value user = LLVMGetUser(u);
        if (LLVMIsAConstantArray(user) || LLVMIsAConstantStruct(user) ||
            LLVMIsAGlobalVariable(user) || (LLVMIsAConstantExpr(user) && is_in_constant(user)))
            return true;
    }
    return false;
}

// llvm.load.relative(table, offset): table + *(i32 *)(table + offset). As a number: the sum is to
// another constant, and has to be found.
void msl_expand_relative_loads(Validation *v) {
    MslContext *cx = &v->cg->cx;
    LLVMBuilderRef b = cx->builder;
    Value *calls = NULL;
    size_t n = 0, max = 0;
    for (Block at = LLVMGetFirstBasicBlock(v->cg->thread); at; at = LLVMGetNextBasicBlock(at))
        for (Value i = LLVMGetFirstInstruction(at); i; i = LLVMGetNextInstruction(i)) {
            if (!msl_starts(msl_callee(i), "llvm.load.relative")) continue;
            calls = msl_validate_grow(v, calls, n, &max);
            calls[n++] = i;
        }
    for (size_t k = 0; k < n; k++) {
        Value table = LLVMGetOperand(calls[k], 0), offset = LLVMGetOperand(calls[k], 1);
        LLVMPositionBuilderBefore(b, calls[k]);
        Value p = LLVMBuildGEP2(b, msl_int(cx, 8), table, &offset, 1, ""),
              word = LLVMBuildLoad2(b, msl_int(cx, 32), p, "");
        LLVMSetAlignment(word, 4);
        word = LLVMBuildSExt(b, word, msl_int(cx, 64), "");
        Value sum = LLVMBuildAdd(b, LLVMBuildPtrToInt(b, table, msl_int(cx, 64), ""), word, "");
        LLVMReplaceAllUsesWith(calls[k], LLVMBuildIntToPtr(b, sum, msl_ptr(cx), ""));
        LLVMInstructionEraseFromParent(calls[k]);
    }
}

static void define(Cg *cg, const char *name, Value value) {
    MslContext *cx = &cg->cx;
    Value declared = LLVMGetNamedGlobal(cx->module, name);
    if (!declared) msl_fail(cx, "internal error: validate.c has no '%s'", name);
    Value defined = LLVMAddGlobal(cx->module, LLVMTypeOf(value), "");
    LLVMSetInitializer(defined, value);
    LLVMSetGlobalConstant(defined, 1);
    LLVMSetLinkage(defined, LLVMInternalLinkage);
    LLVMReplaceAllUsesWith(declared, defined);
    LLVMDeleteGlobal(declared);
}

void msl_describe_module(Validation *v) {
    Cg *cg = v->cg;
    MslContext *cx = &cg->cx;
    Type members[2] = {msl_ptr(cx), msl_int(cx, 64)};
    Type type = LLVMStructTypeInContext(cx->llvm, members, 2, 0);
    Value *spans = NULL;
    size_t n = 0, max = 0;
    for (Value g = LLVMGetFirstGlobal(cx->module); g; g = LLVMGetNextGlobal(g)) {
        if (!LLVMIsGlobalConstant(g) || !LLVMGetInitializer(g) || !is_in_constant(g)) continue;
        uint64_t bytes = LLVMABISizeOfType(cx->layout, LLVMGlobalGetValueType(g));
        Value span[2] = {g, msl_const(cx, 64, bytes)};
        spans = msl_validate_grow(v, spans, n, &max);
        spans[n++] = LLVMConstNamedStruct(type, span, 2);
    }
    define(cg, "ingot_n_slots", msl_const(cx, 32, cg->fn->n_slots));
    define(cg, "ingot_n_constants", msl_const(cx, 32, n));
    define(cg, "ingot_constants", LLVMConstArray2(type, spans, n));
}
