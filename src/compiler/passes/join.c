// SPDX-License-Identifier: Apache-2.0
// join.c: what is done alike to all elements of a vector from memory, joined to one operation.
// Purpose: eight half weights that all threads share are converted by one instruction; half4 and
//   float4 of each thread are converted and multiplied as they lie in memory (emit_packed.c). The
//   scalarizer had made an operation for each element of them.
// Requires: after the scalarizer. Preserves: everything. Only what comes from memory is joined, and
//   of whole numbers only short ones: the scalarizer is there for positions, sizes and indices,
//   whose elements the analysis must see one by one.
#include "compiler/passes/passes_int.h"

enum { MOST = 16, OPERANDS = 3 }; // elements of a vector; operands of an operation

static bool is_float(Type t) {
    LLVMTypeKind k = LLVMGetTypeKind(t);
    return k == LLVMHalfTypeKind || k == LLVMBFloatTypeKind || k == LLVMFloatTypeKind;
}

static bool is_short(Type t) { return is_integer(t) && int_bits(t) <= 16 && int_bits(t) >= 8; }

static bool can_join(Value i) {
    if (!LLVMIsAInstruction(i) || is_vector(LLVMTypeOf(i))) return false;
    switch (LLVMGetInstructionOpcode(i)) {
    case LLVMFAdd:
    case LLVMFSub:
    case LLVMFMul:
    case LLVMFNeg:
    case LLVMFPExt:
    case LLVMFPTrunc:
    case LLVMSIToFP:
    case LLVMUIToFP: return is_float(LLVMTypeOf(i));
    case LLVMAnd:
    case LLVMLShr:
    case LLVMAShr:
    case LLVMZExt:
    case LLVMSExt: return is_short(LLVMTypeOf(operand(i, 0)));
    case LLVMCall: return starts_with(callee_of(i), "llvm.fmuladd.f");
    default: return false;
    }
}

static int n_operands(Value i) {
    return LLVMIsACallInst(i) ? (int)LLVMGetNumArgOperands(i) : LLVMGetNumOperands(i);
}

// The vector of which v is the element `at`; NULL: it is none such.
static Value vector_of(Value v, int64_t at, Type *t) {
    int64_t k;
    if (!LLVMIsAExtractElementInst(v) || !get_const(operand(v, 1), &k) || k != at) return NULL;
    *t = LLVMTypeOf(operand(v, 0));
    return operand(v, 0);
}

// Whether `i` does to elements `at` what `first` does to elements 0.
static bool is_sibling(Value first, Value i, int64_t at, unsigned size) {
    if (LLVMGetInstructionOpcode(first) != LLVMGetInstructionOpcode(i) ||
        LLVMTypeOf(first) != LLVMTypeOf(i) ||
        LLVMGetInstructionParent(first) != LLVMGetInstructionParent(i))
        return false;
    if (LLVMIsACallInst(i) && LLVMGetCalledValue(i) != LLVMGetCalledValue(first)) return false;
    if (LLVMCanValueUseFastMathFlags(i) && LLVMGetFastMathFlags(i) != LLVMGetFastMathFlags(first))
        return false;
    for (int k = 0; k < n_operands(i); k++) {
        Type t = NULL;
        Value a = operand(first, k), b = operand(i, k), whole = vector_of(a, 0, &t);
        if (whole && LLVMGetVectorSize(t) == size) {
            if (vector_of(b, at, &t) != whole) return false;
        } else if (LLVMIsAConstant(a)) {
            if (!LLVMIsAConstant(b)) return false;
        } else if (a != b || !is_float(LLVMTypeOf(a))) {
            return false;
        }
    }
    return true;
}

static bool comes_first(Value a, Value b) { // in their block
    for (; a; a = LLVMGetNextInstruction(a))
        if (a == b) return true;
    return false;
}

// Operand k of all siblings as one vector.
static Value joined_operand(Vec *x, const Value *all, int k, unsigned size) {
    Type t = NULL;
    Value a = operand(all[0], k), whole = vector_of(a, 0, &t);
    if (whole && LLVMGetVectorSize(t) == size) return whole;
    t = LLVMVectorType(LLVMTypeOf(a), size);
    if (LLVMIsAConstant(a)) {
        Value e[MOST];
        for (unsigned s = 0; s < size; s++) e[s] = operand(all[s], k);
        return LLVMConstVector(e, size);
    }
    Value one = LLVMBuildInsertElement(x->b, LLVMGetPoison(t), a, const_int(x->i64, 0), "");
    return LLVMBuildShuffleVector(x->b, one, LLVMGetPoison(t),
                                  LLVMConstNull(LLVMVectorType(x->i32, size)), "");
}

static Value build(Vec *x, Value like, Value *args, unsigned size) {
    Type t = LLVMVectorType(LLVMTypeOf(like), size);
    LLVMOpcode op = LLVMGetInstructionOpcode(like);
    Value r;
    if (op == LLVMCall)
        r = msl_intrinsic(x, "llvm.fmuladd", &t, 1, args, 3);
    else if (op == LLVMFNeg)
        r = LLVMBuildFNeg(x->b, args[0], "");
    else if (n_operands(like) == 1)
        r = LLVMBuildCast(x->b, op, args[0], t, "");
    else
        r = LLVMBuildBinOp(x->b, op, args[0], args[1], "");
    msl_copy_flags(like, r);
    return r;
}

// The operation on element `at` of v that is a sibling of `first`.
static Value find_sibling(Value v, Value first, int64_t at, unsigned size) {
    Type t;
    for (LLVMUseRef u = LLVMGetFirstUse(v); u; u = LLVMGetNextUse(u)) {
        Value e = LLVMGetUser(u);
        if (vector_of(e, at, &t) != v) continue;
        for (LLVMUseRef w = LLVMGetFirstUse(e); w; w = LLVMGetNextUse(w))
            if (can_join(LLVMGetUser(w)) && is_sibling(first, LLVMGetUser(w), at, size))
                return LLVMGetUser(w);
    }
    return NULL;
}

// Joins `first` and its siblings; NULL: they are not all there.
static Value join(Vec *x, Value v, Value first) {
    unsigned size = LLVMGetVectorSize(LLVMTypeOf(v));
    Value all[MOST], args[OPERANDS], earliest = first;
    all[0] = first;
    for (unsigned k = 1; k < size; k++) {
        all[k] = find_sibling(v, first, k, size);
        if (!all[k]) return NULL;
        if (comes_first(all[k], earliest)) earliest = all[k];
    }
    LLVMPositionBuilderBefore(x->b, earliest);
    for (int k = 0; k < n_operands(first); k++) args[k] = joined_operand(x, all, k, size);
    Value r = build(x, first, args, size);
    for (unsigned k = 0; k < size; k++)
        LLVMReplaceAllUsesWith(all[k], LLVMBuildExtractElement(x->b, r, const_int(x->i64, k), ""));
    for (unsigned k = 0; k < size; k++) LLVMInstructionEraseFromParent(all[k]);
    return r;
}

// Joins one operation on the elements of v; NULL: there is none.
static Value join_one(Vec *x, Value v) {
    Type t;
    for (LLVMUseRef u = LLVMGetFirstUse(v); u; u = LLVMGetNextUse(u)) {
        Value e = LLVMGetUser(u);
        if (vector_of(e, 0, &t) != v) continue;
        for (LLVMUseRef w = LLVMGetFirstUse(e); w; w = LLVMGetNextUse(w)) {
            Value first = LLVMGetUser(w);
            Value r = can_join(first) ? join(x, v, first) : NULL;
            if (r) return r;
        }
    }
    return NULL;
}

// Joins what is done to the elements of v, and to those of the results.
static void join_all(Vec *x, Value v) {
    unsigned size = LLVMGetVectorSize(LLVMTypeOf(v));
    if (size > MOST || size == 3 || size < 2) return;
    for (Value r; (r = join_one(x, v));) join_all(x, r);
}

// A stored vector that was put together from all elements of another is that.
static void store_whole(Value store) {
    Value v = operand(store, 0), whole = NULL;
    Type t = LLVMTypeOf(v), of;
    if (!is_vector(t)) return;
    for (int64_t k = (int64_t)LLVMGetVectorSize(t) - 1; k >= 0; k--) {
        int64_t at;
        if (!LLVMIsAInsertElementInst(v) || !get_const(operand(v, 2), &at) || at != k) return;
        Value from = vector_of(operand(v, 1), k, &of);
        if (!from || of != t || (whole && whole != from)) return;
        whole = from;
        v = operand(v, 0);
    }
    LLVMSetOperand(store, 0, whole);
}

void msl_join_elements(Vec *x) {
    for (Block b = LLVMGetFirstBasicBlock(x->thread); b; b = LLVMGetNextBasicBlock(b))
        for (Value i = LLVMGetFirstInstruction(b); i; i = LLVMGetNextInstruction(i))
            if (LLVMIsALoadInst(i) && is_vector(LLVMTypeOf(i))) join_all(x, i);
    for (Block b = LLVMGetFirstBasicBlock(x->thread); b; b = LLVMGetNextBasicBlock(b))
        for (Value i = LLVMGetFirstInstruction(b); i; i = LLVMGetNextInstruction(i))
            if (LLVMIsAStoreInst(i)) store_whole(i);
}
