// SPDX-License-Identifier: Apache-2.0
// sine.c: fast::sin and fast::cos are an instruction of GPUs.
//   purpose   the headers' polynomials (math_trig.h) take three times as long
//   idea      whole turns come off first: within one the instruction is right to 2^-20, where Metal
//             asks for 2^-13. Halves, which are right to an ulp however small, keep the polynomials
#include "compiler/codegen/codegen.h"
#include <string.h>

static LLVMValueRef call(Cg *cg, const char *name, LLVMValueRef *args, unsigned n) {
    MslContext *cx = &cg->cx;
    unsigned id = LLVMLookupIntrinsicID(name, strlen(name));
    bool overloaded = LLVMIntrinsicIsOverloaded(id);
    LLVMTypeRef f32 = LLVMFloatTypeInContext(cx->llvm);
    LLVMValueRef f = LLVMGetIntrinsicDeclaration(cx->module, id, &f32, overloaded ? 1 : 0);
    return LLVMBuildCall2(cx->builder, LLVMGlobalGetValueType(f), f, args, n, "");
}

static LLVMValueRef multiply_add(Cg *cg, LLVMValueRef a, double b, LLVMValueRef c) {
    LLVMValueRef args[] = {a, LLVMConstReal(LLVMTypeOf(a), b), c};
    return call(cg, "llvm.fma", args, 3);
}

// x less the nearest whole number of turns, which adding 1.5 * 2^23 rounds to. 2 pi in two parts.
static LLVMValueRef within_a_turn(Cg *cg, LLVMValueRef x) {
    LLVMValueRef magic = LLVMConstReal(LLVMTypeOf(x), 0x1.8p23);
    LLVMValueRef turns =
        LLVMBuildFSub(cg->cx.builder, multiply_add(cg, x, 0x1.45f306p-3, magic), magic, "");
    return multiply_add(cg, turns, 0x1.777a5cp-23, multiply_add(cg, turns, -0x1.921fb6p+2, x));
}

static void redefine(Cg *cg, LLVMValueRef f, const char *instruction) {
    MslContext *cx = &cg->cx;
    LLVMValueRef own =
        LLVMAddFunction(cx->module, instruction + strlen("llvm.nvvm."), LLVMGlobalGetValueType(f));
    LLVMSetLinkage(own, LLVMInternalLinkage);
    msl_add_attribute(cx, own, LLVMAttributeFunctionIndex, "alwaysinline", 0);
    LLVMPositionBuilderAtEnd(cx->builder, LLVMAppendBasicBlockInContext(cx->llvm, own, ""));
    LLVMValueRef x = within_a_turn(cg, LLVMGetParam(own, 0));
    LLVMBuildRet(cx->builder, call(cg, instruction, &x, 1));
    LLVMReplaceAllUsesWith(f, own);
}

void msl_use_gpu_sines(Cg *cg) {
    for (LLVMValueRef f = LLVMGetFirstFunction(cg->cx.module), next; f; f = next) {
        size_t n;
        const char *name = LLVMGetValueName2(f, &n);
        next = LLVMGetNextFunction(f);
        if (LLVMIsDeclaration(f) || LLVMCountParams(f) != 1) continue;
        if (strstr(name, "__ig_sin_fast")) redefine(cg, f, "llvm.nvvm.sin.approx.f");
        if (strstr(name, "__ig_cos_fast")) redefine(cg, f, "llvm.nvvm.cos.approx.f");
    }
}
