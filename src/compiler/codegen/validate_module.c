// SPDX-License-Identifier: Apache-2.0
// validate_module.c: what device/validate.c asks the module for: how many arguments there are, and
// where constants of the program lie that pointers which are read from memory may point to.
//   requires  device/validate.c linked into the module
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
