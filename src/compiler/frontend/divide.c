// SPDX-License-Identifier: Apache-2.0
// divide.c: division as Metal defines it. Of integers: dividing by zero, and the least number by
// -1, gives some value and no exception (MSL specification, section 3.1); in LLVM both are
// undefined, and an optimiser that has seen x / d takes d != 0 for granted, so that
// select(x / d, 0, d == 0) loses its test. Each such division gets a divisor that cannot be one of
// these. Of halves and bfloats: fast mode lets a float be multiplied by a rounded reciprocal, but
// the quotient of halves is correctly rounded in every mode, and that of bfloats within 0.6 ulp
// (tables 8.3 to 8.5). In: the module as Clang wrote it, before any optimisation. Out: the same
// with such divisions.
#include "compiler/frontend/frontend_int.h"
#include <llvm-c/Core.h>

static LLVMValueRef constant_of(LLVMTypeRef t, unsigned long long value) {
    if (LLVMGetTypeKind(t) != LLVMVectorTypeKind) return LLVMConstInt(t, value, true);
    LLVMValueRef lanes[16];
    unsigned n = LLVMGetVectorSize(t);
    if (n > 16) return NULL;
    for (unsigned i = 0; i < n; i++) lanes[i] = LLVMConstInt(LLVMGetElementType(t), value, true);
    return LLVMConstVector(lanes, n);
}

// Neither zero nor, where it matters, -1.
static bool harmless(LLVMValueRef divisor, bool is_signed) {
    LLVMTypeRef t = LLVMTypeOf(divisor);
    unsigned n = LLVMGetTypeKind(t) == LLVMVectorTypeKind ? LLVMGetVectorSize(t) : 0;
    if (!LLVMIsConstant(divisor)) return false;
    for (unsigned i = 0; i < (n ? n : 1); i++) {
        LLVMValueRef c = n ? LLVMGetAggregateElement(divisor, i) : divisor;
        if (!c || !LLVMIsAConstantInt(c) || LLVMIsNull(c)) return false;
        if (is_signed && LLVMConstIntGetSExtValue(c) == -1) return false;
    }
    return true;
}

static void guard(LLVMBuilderRef b, LLVMValueRef division, bool is_signed) {
    LLVMValueRef n = LLVMGetOperand(division, 0), d = LLVMGetOperand(division, 1);
    LLVMTypeRef t = LLVMTypeOf(d);
    LLVMTypeRef e = LLVMGetTypeKind(t) == LLVMVectorTypeKind ? LLVMGetElementType(t) : t;
    LLVMValueRef zero = LLVMConstNull(t), one = constant_of(t, 1), minus = constant_of(t, ~0ull);
    unsigned bits = LLVMGetIntTypeWidth(e);
    LLVMValueRef least = bits <= 64 ? constant_of(t, ~0ull << (bits - 1)) : NULL;
    if (!one || !minus || !least || harmless(d, is_signed)) return;
    LLVMPositionBuilderBefore(b, division);
    LLVMValueRef bad = LLVMBuildICmp(b, LLVMIntEQ, d, zero, "");
    if (is_signed) {
        LLVMValueRef over = LLVMBuildAnd(b, LLVMBuildICmp(b, LLVMIntEQ, n, least, ""),
                                         LLVMBuildICmp(b, LLVMIntEQ, d, minus, ""), "");
        bad = LLVMBuildOr(b, bad, over, "");
    }
    LLVMSetOperand(division, 1, LLVMBuildSelect(b, bad, one, d, ""));
}

// LLVM's C interface adds flags but takes none away: another division in its place.
static void round_correctly(LLVMBuilderRef b, LLVMValueRef division) {
    LLVMTypeRef t = LLVMTypeOf(division);
    LLVMTypeKind kind = LLVMGetTypeKind(t);
    LLVMFastMathFlags flags = LLVMGetFastMathFlags(division);
    if (kind == LLVMVectorTypeKind) kind = LLVMGetTypeKind(LLVMGetElementType(t));
    if (!(flags & LLVMFastMathAllowReciprocal) ||
        (kind != LLVMHalfTypeKind && kind != LLVMBFloatTypeKind))
        return;
    LLVMPositionBuilderBefore(b, division);
    LLVMValueRef exact =
        LLVMBuildFDiv(b, LLVMGetOperand(division, 0), LLVMGetOperand(division, 1), "");
    if (LLVMIsAInstruction(exact))
        LLVMSetFastMathFlags(exact, flags & ~(LLVMFastMathFlags)LLVMFastMathAllowReciprocal);
    LLVMReplaceAllUsesWith(division, exact);
    LLVMInstructionEraseFromParent(division);
}

void module_guard_divisions(struct LLVMOpaqueModule *m) {
    LLVMBuilderRef b = LLVMCreateBuilderInContext(LLVMGetModuleContext(m));
    for (LLVMValueRef f = LLVMGetFirstFunction(m); f; f = LLVMGetNextFunction(f))
        for (LLVMBasicBlockRef bb = LLVMGetFirstBasicBlock(f); bb; bb = LLVMGetNextBasicBlock(bb))
            for (LLVMValueRef x = LLVMGetFirstInstruction(bb), next; x; x = next) {
                LLVMOpcode op = LLVMGetInstructionOpcode(x);
                next = LLVMGetNextInstruction(x);
                if (op == LLVMSDiv || op == LLVMSRem || op == LLVMUDiv || op == LLVMURem)
                    guard(b, x, op == LLVMSDiv || op == LLVMSRem);
                if (op == LLVMFDiv) round_correctly(b, x);
            }
    LLVMDisposeBuilder(b);
}
