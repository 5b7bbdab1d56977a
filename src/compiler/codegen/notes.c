// SPDX-License-Identifier: Apache-2.0
// notes.c: operations of the program whose result the language leaves open: division of integers
// by zero, shifts by too many bits, and if asked for NaNs that are made of numbers.
//   requires  functions as the front end wrote them, before anything is inlined or folded: an
//             optimiser takes what is undefined for what suits it
//   gives     void __ingot_note(i32 AbiBadAccess, i1 bad) beside each, which validate.c makes a
//             branch and a report of
// Looked at is what the program says, not how our headers compute: in them only the operators of
// vectors count, and a function of mathematics is one operation.
#include "compiler/codegen/codegen.h"
#include "abi/kernel.h"
#include <llvm-c/DebugInfo.h>
#include <string.h>

typedef LLVMValueRef Value;
typedef LLVMTypeRef Type;

// "_ZNU9CLgenericK5metal3vec...": what follows the name space; NULL: not a function of ours.
static const char *behind_metal(const char *name) {
    if (!msl_starts(name, "_ZN")) return NULL;
    name += 3;
    while (msl_starts(name, "U9CLgeneric") || msl_starts(name, "U8CL")) name += 11;
    if (*name == 'K') name++;
    return msl_starts(name, "5metal") ? name + 6 : NULL;
}

static bool is_ours(const char *name) {
    return behind_metal(name) || strstr(name, "__ig_") || strstr(name, "__msl_") ||
           strstr(name, "__ingot_");
}

// An operator of vectors: of the class, or a friend of it.
static bool is_vector_operator(const char *name) {
    static const char *const operators[] = {"dv", "dV", "rm", "rM", "ls", "lS", "rs",
                                            "rS", "pl", "pL", "mi", "mI", "ml", "mL"};
    const char *at = behind_metal(name);
    if (!at || !msl_starts(at, "3vecI") || !(at = strstr(at, "EE"))) return false;
    at += 2;
    if (*at == 'F') at++;
    for (size_t k = 0; k < sizeof operators / sizeof *operators; k++)
        if (msl_starts(at, operators[k])) return true;
    return false;
}

// ---- notes ----

static Value any_of(Cg *cg, Value bits) {
    LLVMBuilderRef b = cg->cx.builder;
    Type t = LLVMTypeOf(bits);
    if (LLVMGetTypeKind(t) != LLVMVectorTypeKind) return bits;
    Value any = NULL;
    for (unsigned k = 0; k < LLVMGetVectorSize(t); k++) {
        Value bit = LLVMBuildExtractElement(b, bits, msl_const(&cg->cx, 32, k), "");
        any = any ? LLVMBuildOr(b, any, bit, "") : bit;
    }
    return any;
}

// Before the builder's place, with its line.
static void note(Cg *cg, AbiBadAccess what, Value bad) {
    MslContext *cx = &cg->cx;
    Type types[2] = {msl_int(cx, 32), msl_int(cx, 1)};
    Type type = LLVMFunctionType(LLVMVoidTypeInContext(cx->llvm), types, 2, 0);
    Value f = LLVMGetNamedFunction(cx->module, MSL_NOTE), args[2];
    if (!f) {
        f = LLVMAddFunction(cx->module, MSL_NOTE, type);
        msl_add_attribute(cx, f, LLVMAttributeFunctionIndex, "nounwind", 0);
        msl_add_attribute(cx, f, LLVMAttributeFunctionIndex, "willreturn", 0);
        enum { INACCESSIBLE = 3 << 2 }; // memory that nobody else sees: loads and stores may pass
        msl_add_attribute(cx, f, LLVMAttributeFunctionIndex, "memory", INACCESSIBLE);
    }
    args[0] = msl_const(cx, 32, what);
    args[1] = LLVMBuildFreeze(cx->builder, any_of(cg, bad), "");
    if (LLVMIsAConstantInt(args[1]) && !LLVMConstIntGetZExtValue(args[1])) return;
    LLVMBuildCall2(cx->builder, type, f, args, 2, "");
}

static Value same_everywhere(Type t, uint64_t n) {
    if (LLVMGetTypeKind(t) != LLVMVectorTypeKind) return LLVMConstInt(t, n, 0);
    enum { MAX = 64 };
    Value e[MAX];
    unsigned lanes = LLVMGetVectorSize(t);
    for (unsigned k = 0; k < lanes && k < MAX; k++)
        e[k] = LLVMConstInt(LLVMGetElementType(t), n, 0);
    return LLVMConstVector(e, lanes);
}

static unsigned bits_of(Type t) {
    if (LLVMGetTypeKind(t) == LLVMVectorTypeKind) t = LLVMGetElementType(t);
    return LLVMGetIntTypeWidth(t);
}

// The front end has put a test before each division that can go wrong (frontend/divide.c):
// x / (test ? 1 : y).
static void note_division(Cg *cg, Value i) {
    Value y = LLVMGetOperand(i, 1);
    if (!LLVMIsASelectInst(y) || !LLVMIsConstant(LLVMGetOperand(y, 1))) return;
    LLVMPositionBuilderBefore(cg->cx.builder, i);
    note(cg, ABI_DIVISION, LLVMGetOperand(y, 0));
}

// The front end masks the count of a shift, as its dialect wants: what is masked is what counts.
static void note_shift(Cg *cg, Value i) {
    LLVMBuilderRef b = cg->cx.builder;
    Value n = LLVMGetOperand(i, 1);
    unsigned bits = bits_of(LLVMTypeOf(n));
    if (LLVMIsConstant(n)) return; // the front end has warned
    if (msl_as(n, LLVMAnd) && LLVMGetOperand(n, 1) == same_everywhere(LLVMTypeOf(n), bits - 1))
        n = LLVMGetOperand(n, 0);
    LLVMPositionBuilderBefore(b, i);
    note(cg, ABI_SHIFT, LLVMBuildICmp(b, LLVMIntUGE, n, same_everywhere(LLVMTypeOf(n), bits), ""));
}

// ---- NaNs ----

static bool is_float(Type t) {
    if (LLVMGetTypeKind(t) == LLVMVectorTypeKind) t = LLVMGetElementType(t);
    LLVMTypeKind k = LLVMGetTypeKind(t);
    return k == LLVMFloatTypeKind || k == LLVMHalfTypeKind || k == LLVMBFloatTypeKind;
}

// By its bits: fast mathematics takes comparisons for granted.
static Value is_nan(Cg *cg, Value v) {
    LLVMBuilderRef b = cg->cx.builder;
    Type t = LLVMTypeOf(v), e = t;
    bool vector = LLVMGetTypeKind(t) == LLVMVectorTypeKind;
    if (vector) e = LLVMGetElementType(t);
    LLVMTypeKind k = LLVMGetTypeKind(e);
    Type bits = msl_int(&cg->cx, k == LLVMFloatTypeKind ? 32 : 16);
    if (vector) bits = LLVMVectorType(bits, LLVMGetVectorSize(t));
    uint64_t all = k == LLVMFloatTypeKind ? 0x7fffffff : 0x7fff,
             infinity = k == LLVMFloatTypeKind  ? 0x7f800000
                        : k == LLVMHalfTypeKind ? 0x7c00
                                                : 0x7f80;
    Value n = LLVMBuildAnd(b, LLVMBuildBitCast(b, v, bits, ""), same_everywhere(bits, all), "");
    return any_of(cg, LLVMBuildICmp(b, LLVMIntUGT, n, same_everywhere(bits, infinity), ""));
}

// A NaN made of operands that are none. The promise that there is none goes.
static void note_nan(Cg *cg, Value i, Value *operands, unsigned n) {
    LLVMBuilderRef b = cg->cx.builder;
    enum { NO_NANS = 2, NO_INFINITIES = 4 };
    if (LLVMCanValueUseFastMathFlags(i)) {
        unsigned flags = (unsigned)LLVMGetFastMathFlags(i);
        LLVMSetFastMathFlags(i, flags & ~(unsigned)(NO_NANS | NO_INFINITIES));
    }
    LLVMPositionBuilderBefore(b, LLVMGetNextInstruction(i));
    LLVMMetadataRef line = LLVMInstructionGetDebugLoc(i);
    if (line) LLVMSetCurrentDebugLocation2(b, line);
    Value bad = is_nan(cg, i);
    for (unsigned k = 0; k < n; k++)
        bad = LLVMBuildAnd(b, bad, LLVMBuildNot(b, is_nan(cg, operands[k]), ""), "");
    note(cg, ABI_NAN, bad);
}

static void note_float(Cg *cg, Value i) {
    Value operands[4];
    unsigned n = 0;
    const char *name = msl_callee(i);
    bool call = LLVMIsACallInst(i),
         function = msl_starts(name, "llvm.sqrt") || (behind_metal(name) && !strstr(name, "__"));
    if (!is_float(LLVMTypeOf(i)) || (call ? !function : !LLVMIsABinaryOperator(i))) return;
    int all = call ? (int)LLVMGetNumArgOperands(i) : LLVMGetNumOperands(i);
    for (int k = 0; k < all && n < 4; k++)
        if (is_float(LLVMTypeOf(LLVMGetOperand(i, (unsigned)k))))
            operands[n++] = LLVMGetOperand(i, (unsigned)k);
    if (n) note_nan(cg, i, operands, n);
}

// ---- the pass ----

static void look_at(Cg *cg, Value i, bool all) {
    switch (LLVMGetInstructionOpcode(i)) {
    case LLVMSDiv:
    case LLVMSRem:
    case LLVMUDiv:
    case LLVMURem: note_division(cg, i); return;
    case LLVMShl:
    case LLVMLShr:
    case LLVMAShr: note_shift(cg, i); return;
    default:
        if (all) note_float(cg, i);
    }
}

void msl_note_arithmetic(Cg *cg) {
    bool nan = cg->request->watch & MSL_WATCH_NAN;
    for (Value f = LLVMGetFirstFunction(cg->cx.module); f; f = LLVMGetNextFunction(f)) {
        size_t n;
        const char *name = LLVMGetValueName2(f, &n);
        if (f == cg->thread || (is_ours(name) && !is_vector_operator(name))) continue;
        if (!LLVMIsDeclaration(f) && !is_ours(name) && msl_finds_uninitialised(cg))
            msl_mark_variables(cg, f);
        for (LLVMBasicBlockRef b = LLVMGetFirstBasicBlock(f); b; b = LLVMGetNextBasicBlock(b))
            for (Value i = LLVMGetFirstInstruction(b), next; i; i = next) {
                next = LLVMGetNextInstruction(i);
                look_at(cg, i, nan);
            }
    }
    LLVMSetCurrentDebugLocation2(cg->cx.builder, NULL);
}
