// SPDX-License-Identifier: Apache-2.0
// bindings.c: variables at program scope that are bound to resources.
//   purpose   such a variable is external and without a value (frontend/bindings.c); the entry
//             point has its resource in slots. Its reads become reads of memory of the thread that
//             the slots were stored to, which SROA makes free
//   requires  everything inlined into the thread function: no other function names the variable
//   breaks    nothing
#include "compiler/codegen/codegen.h"
#include <string.h>

// The constant expression e, as instructions before `user`, with `memory` for the variable in it.
static LLVMValueRef expand(Cg *cg, LLVMValueRef e, LLVMValueRef variable, LLVMValueRef memory) {
    LLVMValueRef operands[8];
    if (e == variable) return memory;
    unsigned n = (unsigned)LLVMGetNumOperands(e);
    if (!LLVMIsAConstantExpr(e) || LLVMGetConstOpcode(e) != LLVMGetElementPtr || n > 8) {
        size_t length;
        msl_fail(&cg->cx, "internal error: '%s' is used in an unknown way",
                 LLVMGetValueName2(variable, &length));
    }
    for (unsigned i = 0; i < n; i++) operands[i] = LLVMGetOperand(e, i);
    return LLVMBuildInBoundsGEP2(cg->cx.builder, LLVMGetGEPSourceElementType(e),
                                 expand(cg, operands[0], variable, memory), operands + 1, n - 1,
                                 "");
}

// Uses of v, the variable or an expression of it, by the instructions of the thread function.
static void replace_uses(Cg *cg, LLVMValueRef v, LLVMValueRef variable, LLVMValueRef memory) {
    for (LLVMUseRef use = LLVMGetFirstUse(v), next; use; use = next) {
        LLVMValueRef user = LLVMGetUser(use);
        next = LLVMGetNextUse(use);
        if (!LLVMIsAInstruction(user)) {
            if (LLVMIsAConstantExpr(user)) replace_uses(cg, user, variable, memory);
            continue;
        }
        for (unsigned i = 0; i < (unsigned)LLVMGetNumOperands(user); i++) {
            if (LLVMGetOperand(user, i) != v) continue;
            LLVMValueRef before = LLVMIsAPHINode(user)
                                      ? LLVMGetBasicBlockTerminator(LLVMGetIncomingBlock(user, i))
                                      : user;
            LLVMPositionBuilderBefore(cg->cx.builder, before);
            LLVMSetOperand(user, i, expand(cg, v, variable, memory));
        }
        next = LLVMGetFirstUse(v); // the user may have been on the list more than once
    }
}

void msl_resolve_bindings(Cg *cg) {
    LLVMBasicBlockRef entry = LLVMGetEntryBasicBlock(cg->thread);
    for (uint32_t a = 0; a < cg->fn->n_args; a++) {
        const RfArg *arg = &cg->fn->args[a];
        if (arg->param != RF_PROGRAM_SCOPE) continue;
        LLVMValueRef variable = LLVMGetNamedGlobal(cg->cx.module, arg->symbol);
        if (!variable || !LLVMGetFirstUse(variable)) continue;
        LLVMPositionBuilderBefore(cg->cx.builder, LLVMGetFirstInstruction(entry));
        LLVMTypeRef type = LLVMGlobalGetValueType(variable);
        replace_uses(cg, variable, variable, msl_build_binding(cg, arg, type));
    }
}
