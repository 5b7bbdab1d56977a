// SPDX-License-Identifier: Apache-2.0
// gather_scatter.c: those that the CPU has no instruction for become calls of one function.
//   purpose   LLVM writes such a scatter (halves and bytes; without AVX-512 all) as a test, a
//             branch and a store for each lane. A product of matrices of halves has four hundred:
//             ten thousand blocks, a megabyte of code, and five times the time to compile it.
//             A gather of halves is an extracted pointer, a load and an insertion for each lane.
//   requires  the last optimisation has run; preserves everything else
// Kernels with a few of them keep the lanes in line, where they are to be fast: a call saves what
// is in the vector registers. Gathers are shared in code that is to be short alone.
#include "compiler/codegen/lower/lower.h"
#include <stdio.h>
#include <string.h>

enum { A_FEW = 24, MAX_LANES = 64 };

static bool is_gather(LLVMValueRef i) { return msl_starts(msl_callee(i), "llvm.masked.gather."); }

// Of a scatter (values, pointers, mask) or gather (pointers, mask, what the other lanes get).
static LLVMValueRef pointers_of(LLVMValueRef i) { return LLVMGetOperand(i, is_gather(i) ? 0 : 1); }
static LLVMValueRef mask_of(LLVMValueRef i) { return LLVMGetOperand(i, is_gather(i) ? 1 : 2); }
static LLVMValueRef values_of(LLVMValueRef i) { return LLVMGetOperand(i, is_gather(i) ? 2 : 0); }

static bool is_slow(const Cg *cg, LLVMValueRef i, bool gathers) {
    bool gather = is_gather(i);
    if (gather ? !gathers : !msl_starts(msl_callee(i), "llvm.masked.scatter.")) return false;
    LLVMTypeRef type = LLVMTypeOf(values_of(i)), element = LLVMGetElementType(type);
    bool narrow = LLVMABISizeOfType(cg->cx.layout, element) < 4;
    unsigned n = LLVMGetVectorSize(type);
    return (narrow || (!gather && !cg->cx.avx512)) && n > 1 && n <= MAX_LANES &&
           !LLVMIsConstant(mask_of(i));
}

// f(values, pointers, bits of the mask): a loop over the bits; of a gather, the values with those
// of the lanes that are on. The vectors lie in memory, where a lane is found by its number. (A
// vector of bits as a parameter would be put together one by one.)
static LLVMValueRef build_routine(Cg *cg, LLVMTypeRef function, const char *name, bool gather) {
    MslContext *cx = &cg->cx;
    LLVMBuilderRef b = cx->builder;
    LLVMTypeRef types[3];
    LLVMGetParamTypes(function, types);
    LLVMTypeRef element = LLVMGetElementType(types[0]);
    unsigned n = LLVMGetVectorSize(types[0]);
    LLVMTypeRef bits = msl_int(cx, n);
    LLVMValueRef f = LLVMAddFunction(cx->module, name, function), at[2];
    LLVMSetLinkage(f, LLVMInternalLinkage);
    msl_add_attribute(cx, f, LLVMAttributeFunctionIndex, "noinline", 0);
    LLVMBasicBlockRef entry = LLVMAppendBasicBlockInContext(cx->llvm, f, "entry"),
                      lane = LLVMAppendBasicBlockInContext(cx->llvm, f, "lane"),
                      end = LLVMAppendBasicBlockInContext(cx->llvm, f, "end");

    LLVMPositionBuilderAtEnd(b, entry);
    for (unsigned k = 0; k < 2; k++) {
        at[k] = LLVMBuildAlloca(b, types[k], "");
        LLVMBuildStore(b, LLVMGetParam(f, k), at[k]);
    }
    LLVMValueRef zero = LLVMConstNull(bits);
    LLVMValueRef all = LLVMGetParam(f, 2);
    LLVMBuildCondBr(b, LLVMBuildICmp(b, LLVMIntEQ, all, zero, ""), end, lane);

    LLVMPositionBuilderAtEnd(b, lane);
    LLVMValueRef left = LLVMBuildPhi(b, bits, "left");
    unsigned cttz = LLVMLookupIntrinsicID("llvm.cttz", 9);
    LLVMValueRef args[] = {left, msl_const(cx, 1, 1)};
    LLVMValueRef number =
        LLVMBuildCall2(b, LLVMIntrinsicGetType(cx->llvm, cttz, &bits, 1),
                       LLVMGetIntrinsicDeclaration(cx->module, cttz, &bits, 1), args, 2, "");
    number = n == 64 ? number : LLVMBuildZExt(b, number, msl_int(cx, 64), "");
    LLVMValueRef from = LLVMBuildGEP2(b, element, at[0], &number, 1, "");
    LLVMValueRef to = LLVMBuildGEP2(b, msl_ptr(cx), at[1], &number, 1, "");
    LLVMValueRef place = LLVMBuildLoad2(b, msl_ptr(cx), to, "");
    LLVMValueRef v = LLVMBuildLoad2(b, element, gather ? place : from, "");
    LLVMSetAlignment(v, gather ? 1 : LLVMGetAlignment(v));
    LLVMValueRef store = LLVMBuildStore(b, v, gather ? from : place);
    LLVMSetAlignment(store, gather ? LLVMGetAlignment(store) : 1);
    LLVMValueRef rest =
        LLVMBuildAnd(b, left, LLVMBuildSub(b, left, LLVMConstInt(bits, 1, 0), ""), "rest");
    LLVMBuildCondBr(b, LLVMBuildICmp(b, LLVMIntEQ, rest, zero, ""), end, lane);
    LLVMAddIncoming(left, (LLVMValueRef[]){all, rest}, (LLVMBasicBlockRef[]){entry, lane}, 2);

    LLVMPositionBuilderAtEnd(b, end);
    if (gather)
        LLVMBuildRet(b, LLVMBuildLoad2(b, types[0], at[0], ""));
    else
        LLVMBuildRetVoid(b);
    return f;
}

static void replace(Cg *cg, LLVMValueRef i) {
    MslContext *cx = &cg->cx;
    bool gather = is_gather(i);
    LLVMValueRef args[3] = {values_of(i), pointers_of(i), mask_of(i)};
    LLVMTypeRef types[3], values = LLVMTypeOf(args[0]);
    LLVMPositionBuilderBefore(cx->builder, i);
    if (LLVMIsPoison(args[0])) args[0] = LLVMConstNull(values);
    args[2] = LLVMBuildBitCast(cx->builder, args[2], msl_int(cx, LLVMGetVectorSize(values)), "");
    for (unsigned k = 0; k < 3; k++) types[k] = LLVMTypeOf(args[k]);
    char name[96]; // one for each type of the intrinsic
    snprintf(name, sizeof name, "ingot.%s", msl_callee(i) + strlen("llvm.masked."));
    LLVMTypeRef function =
        LLVMFunctionType(gather ? values : LLVMVoidTypeInContext(cx->llvm), types, 3, 0);
    LLVMValueRef f = LLVMGetNamedFunction(cx->module, name);
    if (!f) f = build_routine(cg, function, name, gather);
    LLVMPositionBuilderBefore(cx->builder, i);
    LLVMValueRef call = LLVMBuildCall2(cx->builder, function, f, args, 3, "");
    if (gather) LLVMReplaceAllUsesWith(i, call);
    LLVMInstructionEraseFromParent(i);
}

// Calls `each` for all of a function; returns how many there are.
static unsigned visit(Cg *cg, LLVMValueRef f, bool gathers, void (*each)(Cg *, LLVMValueRef)) {
    unsigned n = 0;
    for (LLVMBasicBlockRef b = LLVMGetFirstBasicBlock(f); b; b = LLVMGetNextBasicBlock(b))
        for (LLVMValueRef i = LLVMGetFirstInstruction(b), next; i; i = next) {
            next = LLVMGetNextInstruction(i);
            if (!is_slow(cg, i, gathers)) continue;
            n++;
            if (each) each(cg, i);
        }
    return n;
}

void msl_lower_gather_scatter(Cg *cg) {
    unsigned all = 0, shared = 0;
    LLVMValueRef first = LLVMGetFirstFunction(cg->cx.module), f;
    for (f = first; f; f = LLVMGetNextFunction(f)) all += visit(cg, f, false, NULL);
    for (f = first; f; f = LLVMGetNextFunction(f)) {
        bool terse = msl_is_short(cg, f);
        if (all > A_FEW || terse) shared += visit(cg, f, terse, replace);
    }
    if (shared) msl_set_target_attributes(cg);
}
