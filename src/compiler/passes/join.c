// SPDX-License-Identifier: Apache-2.0
// join.c: what is done alike to all elements of a vector from memory, joined to one operation.
// Purpose: eight half weights that all threads share are converted by one instruction; half4 and
//   float4 of each thread are converted and multiplied as they lie in memory (emit_packed.c). The
//   scalarizer had made an operation for each element of them.
//   Sums that a loop carries for them (`float4 s; s += a * v[i]`) are joined along, with the phi.
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

// A sum that a loop carries: two ways lead here, and one of them brings the result of an operation.
static bool is_carried(Value v) {
    if (!LLVMIsAPHINode(v) || !is_float(LLVMTypeOf(v)) || LLVMCountIncoming(v) != 2) return false;
    for (unsigned k = 0; k < 2; k++) {
        Value in = LLVMGetIncomingValue(v, k);
        if (can_join(in) || LLVMIsAExtractElementInst(in)) return true;
    }
    return false;
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
        } else if (is_carried(a) && is_carried(b) && a != b) {
            if (LLVMGetInstructionParent(a) != LLVMGetInstructionParent(b)) return false;
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

// ---- phis ----

static Value incoming_from(Value phi, Block b) {
    for (unsigned k = 0; k < LLVMCountIncoming(phi); k++)
        if (LLVMGetIncomingBlock(phi, k) == b) return LLVMGetIncomingValue(phi, k);
    return NULL;
}

// What the phis, one for each element, get from block b: the vector it is, or NULL.
static Value whole_from(const Value *phis, unsigned size, Block b) {
    Value whole = NULL, e[MOST];
    Type t = NULL;
    bool constant = true;
    for (unsigned s = 0; s < size; s++) {
        e[s] = incoming_from(phis[s], b);
        if (!e[s]) return NULL;
        constant &= LLVMIsAConstant(e[s]) != NULL;
    }
    if (constant) return LLVMConstVector(e, size);
    for (unsigned s = 0; s < size; s++) {
        Value from = vector_of(e[s], s, &t);
        if (!from || LLVMGetVectorSize(t) != size || (whole && whole != from)) return NULL;
        whole = from;
    }
    return whole;
}

static bool are_distinct(const Value *v, unsigned n) {
    for (unsigned k = 0; k < n; k++)
        for (unsigned j = 0; j < k; j++)
            if (v[j] == v[k]) return false;
    return true;
}

// One phi for those of the elements, which it takes the place of.
static Value join_phis(Vec *x, const Value *phis, unsigned size) {
    Type t = LLVMVectorType(LLVMTypeOf(phis[0]), size);
    LLVMPositionBuilderBefore(x->b, phis[0]);
    Value all = LLVMBuildPhi(x->b, t, "");
    for (unsigned k = 0; k < LLVMCountIncoming(phis[0]); k++) {
        Block from = LLVMGetIncomingBlock(phis[0], k);
        Value v = whole_from(phis, size, from);
        LLVMPositionBuilderBefore(x->b, LLVMGetBasicBlockTerminator(from));
        for (unsigned s = v ? size : 0; s < size; s++)
            v = LLVMBuildInsertElement(x->b, v ? v : LLVMGetPoison(t), incoming_from(phis[s], from),
                                       const_int(x->i64, s), "");
        LLVMAddIncoming(all, &v, &from, 1);
    }
    Value at = phis[0];
    while (LLVMIsAPHINode(at)) at = LLVMGetNextInstruction(at);
    LLVMPositionBuilderBefore(x->b, at);
    for (unsigned s = 0; s < size; s++) {
        LLVMReplaceAllUsesWith(phis[s],
                               LLVMBuildExtractElement(x->b, all, const_int(x->i64, s), ""));
        LLVMInstructionEraseFromParent(phis[s]);
    }
    return all;
}

// Phis of one block that each take their element of v; NULL: there are none, or other ways lead
// there that bring no vectors.
static Value join_phis_of(Vec *x, Value v) {
    unsigned size = LLVMGetVectorSize(LLVMTypeOf(v));
    Type t;
    for (LLVMUseRef u = LLVMGetFirstUse(v); u; u = LLVMGetNextUse(u)) {
        if (vector_of(LLVMGetUser(u), 0, &t) != v) continue;
        for (LLVMUseRef w = LLVMGetFirstUse(LLVMGetUser(u)); w; w = LLVMGetNextUse(w)) {
            Value phis[MOST] = {LLVMGetUser(w)};
            if (!LLVMIsAPHINode(phis[0]) || !is_float(LLVMTypeOf(phis[0]))) continue;
            Block in = LLVMGetInstructionParent(phis[0]);
            unsigned n = 1;
            for (Value q = LLVMGetFirstInstruction(in); q && LLVMIsAPHINode(q) && n < size;) {
                bool takes = false;
                for (unsigned k = 0; k < LLVMCountIncoming(q); k++)
                    takes |= vector_of(LLVMGetIncomingValue(q, k), n, &t) == v;
                if (takes) phis[n++] = q;
                q = takes ? LLVMGetFirstInstruction(in) : LLVMGetNextInstruction(q);
            }
            bool good = n == size && are_distinct(phis, size);
            for (unsigned k = 0; good && k < LLVMCountIncoming(phis[0]); k++)
                good = whole_from(phis, size, LLVMGetIncomingBlock(phis[0], k)) != NULL;
            if (good) return join_phis(x, phis, size);
        }
    }
    return NULL;
}

// ---- operations ----

static void join_all(Vec *x, Value v);

// Where the siblings' operands are phis, one for each element, these are joined first.
static bool join_carried(Vec *x, const Value *all, unsigned size, Value *phi) {
    *phi = NULL;
    for (int k = 0; k < n_operands(all[0]); k++) {
        Value phis[MOST];
        for (unsigned s = 0; s < size; s++) phis[s] = operand(all[s], k);
        if (!is_carried(phis[0]) || phis[0] == phis[1]) continue;
        for (unsigned s = 0; s < size; s++)
            if (!is_carried(phis[s])) return false;
        if (*phi || !are_distinct(phis, size)) return false;
        *phi = join_phis(x, phis, size);
    }
    return true;
}

// Joins `first` and its siblings; NULL: they are not all there.
static Value join(Vec *x, Value v, Value first) {
    unsigned size = LLVMGetVectorSize(LLVMTypeOf(v));
    Value all[MOST], args[OPERANDS], earliest = first, phi;
    all[0] = first;
    for (unsigned k = 1; k < size; k++) {
        all[k] = find_sibling(v, first, k, size);
        if (!all[k]) return NULL;
        if (comes_first(all[k], earliest)) earliest = all[k];
    }
    if (!join_carried(x, all, size, &phi)) return NULL;
    LLVMPositionBuilderBefore(x->b, earliest);
    for (int k = 0; k < n_operands(first); k++) args[k] = joined_operand(x, all, k, size);
    Value r = build(x, first, args, size);
    for (unsigned k = 0; k < size; k++)
        LLVMReplaceAllUsesWith(all[k], LLVMBuildExtractElement(x->b, r, const_int(x->i64, k), ""));
    for (unsigned k = 0; k < size; k++) LLVMInstructionEraseFromParent(all[k]);
    if (phi) join_all(x, phi);
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
    if (LLVMIsALoadInst(v)) return;
    for (Value r; (r = join_phis_of(x, v));) join_all(x, r);
}

// The vector from all elements of which v was put together; NULL: there is none.
static Value whole_of(Value v) {
    Value whole = NULL;
    Type t = LLVMTypeOf(v), of;
    for (int64_t k = (int64_t)LLVMGetVectorSize(t) - 1; k >= 0; k--) {
        int64_t at;
        if (!LLVMIsAInsertElementInst(v) || !get_const(operand(v, 2), &at) || at != k) return NULL;
        Value from = vector_of(operand(v, 1), k, &of);
        if (!from || of != t || (whole && whole != from)) return NULL;
        whole = from;
        v = operand(v, 0);
    }
    return whole;
}

// A vector that is stored or carried on and was put together from all elements of another is that.
static void take_whole(Value i) {
    int n = LLVMIsAStoreInst(i) ? 1 : LLVMIsAPHINode(i) ? LLVMGetNumOperands(i) : 0;
    for (int k = 0; k < n; k++) {
        Value whole = is_vector(LLVMTypeOf(operand(i, k))) ? whole_of(operand(i, k)) : NULL;
        if (whole) LLVMSetOperand(i, (unsigned)k, whole);
    }
}

void msl_join_elements(Vec *x) {
    for (Block b = LLVMGetFirstBasicBlock(x->thread); b; b = LLVMGetNextBasicBlock(b))
        for (Value i = LLVMGetFirstInstruction(b); i; i = LLVMGetNextInstruction(i))
            if (LLVMIsALoadInst(i) && is_vector(LLVMTypeOf(i))) join_all(x, i);
    for (Block b = LLVMGetFirstBasicBlock(x->thread); b; b = LLVMGetNextBasicBlock(b))
        for (Value i = LLVMGetFirstInstruction(b); i; i = LLVMGetNextInstruction(i)) take_whole(i);
}
