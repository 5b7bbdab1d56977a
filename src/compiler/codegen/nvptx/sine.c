// SPDX-License-Identifier: Apache-2.0
// sine.c: fast::sin, cos, exp and exp2 are an instruction of GPUs.
//   purpose   the headers' polynomials (math_trig.h, math_exp.h) take three times as long
//   idea      whole turns come off first: within one the instruction is right to 2^-20, where Metal
//             asks for 2^-13. Halves, which are right to an ulp however small, keep the sines'
//             polynomials. e^x is 2^t, t being x / ln 2 rounded; what the rounding cut off is a
//             factor of 1 + r
#include "compiler/codegen/gpu.h"
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

static LLVMValueRef sine(Cg *cg, LLVMValueRef x) {
    x = within_a_turn(cg, x);
    return call(cg, "llvm.nvvm.sin.approx.f", &x, 1);
}
static LLVMValueRef cosine(Cg *cg, LLVMValueRef x) {
    x = within_a_turn(cg, x);
    return call(cg, "llvm.nvvm.cos.approx.f", &x, 1);
}

static LLVMValueRef power_of_two(Cg *cg, LLVMValueRef x) {
    return call(cg, "llvm.nvvm.ex2.approx.ftz.f", &x, 1);
}
// Bounds keep infinities out of the rest; a NaN passes.
static LLVMValueRef power_of_e(Cg *cg, LLVMValueRef x) {
    LLVMBuilderRef builder = cg->cx.builder;
    LLVMTypeRef f32 = LLVMTypeOf(x);
    LLVMValueRef low[] = {x, LLVMConstReal(f32, -104)};
    LLVMValueRef high[] = {call(cg, "llvm.maximum", low, 2), LLVMConstReal(f32, 89)};
    x = call(cg, "llvm.minimum", high, 2);
    LLVMValueRef t = LLVMBuildFMul(builder, x, LLVMConstReal(f32, 0x1.715476p+0), "");
    LLVMValueRef rest = multiply_add(cg, x, 0x1.715476p+0, LLVMBuildFNeg(builder, t, ""));
    LLVMValueRef factor = multiply_add(cg, rest, 0x1.62e43p-1, LLVMConstReal(f32, 1));
    return LLVMBuildFMul(builder, power_of_two(cg, t), factor, "");
}

static void redefine(Cg *cg, LLVMValueRef f, LLVMValueRef (*code)(Cg *, LLVMValueRef)) {
    MslContext *cx = &cg->cx;
    LLVMValueRef own = LLVMAddFunction(cx->module, "approximate", LLVMGlobalGetValueType(f));
    LLVMSetLinkage(own, LLVMInternalLinkage);
    msl_add_attribute(cx, own, LLVMAttributeFunctionIndex, "alwaysinline", 0);
    LLVMPositionBuilderAtEnd(cx->builder, LLVMAppendBasicBlockInContext(cx->llvm, own, ""));
    LLVMBuildRet(cx->builder, code(cg, LLVMGetParam(own, 0)));
    LLVMReplaceAllUsesWith(f, own);
}

void msl_use_gpu_sines(Cg *cg) {
    for (LLVMValueRef f = LLVMGetFirstFunction(cg->cx.module), next; f; f = next) {
        size_t n;
        const char *name = LLVMGetValueName2(f, &n);
        next = LLVMGetNextFunction(f);
        if (LLVMIsDeclaration(f) || LLVMCountParams(f) != 1) continue;
        if (strstr(name, "__ig_sin_fast")) redefine(cg, f, sine);
        if (strstr(name, "__ig_cos_fast")) redefine(cg, f, cosine);
        if (strstr(name, "__ig_exp_fast")) redefine(cg, f, power_of_e);
        if (strstr(name, "__ig_exp2_fast")) redefine(cg, f, power_of_two);
    }
}
