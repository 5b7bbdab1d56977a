// SPDX-License-Identifier: Apache-2.0
// merge.c: loads of neighbours become one of a vector.
//   purpose   a thread that reads four numbers in a row from a place of its own (quantised blocks,
//             `for (i = 0; i < 8; i++) y[i] = p[i]`) would cost a gather for each: a record
//             (emit_record.c) is one access
//   requires  classes: neighbours that all lanes share, or that lie beside those of the next lane,
//             are better left alone
// Loads of one block with nothing between them that may write; as many as fill one access. Bytes
// and halfwords that are more than four are loaded as words and shifted out of them: to extend an
// element to a word then costs no shuffle.
#include "compiler/passes/passes_int.h"

enum { MAX_LOADS = 64, MAX_RUN = 16, WORD = 4, SAME_DEPTH = 8 };

typedef struct Piece {
    Value load, base;
    Type type;
    int64_t offset;
} Piece;

// The pointer without constant offsets.
Value msl_base_of(const Vec *x, Value p, int64_t *offset) {
    *offset = 0;
    while (LLVMIsAGetElementPtrInst(p)) {
        Type t = LLVMGetGEPSourceElementType(p);
        int64_t k;
        if (LLVMGetNumOperands(p) != 2 || !get_const(operand(p, 1), &k)) return p;
        *offset += k * (int64_t)LLVMABISizeOfType(x->dl, t);
        p = operand(p, 0);
    }
    return p;
}

static bool is_same(Value a, Value b, int depth) {
    if (a == b) return true;
    if (!depth || !LLVMIsAInstruction(a) || !LLVMIsAInstruction(b) ||
        LLVMGetInstructionOpcode(a) != LLVMGetInstructionOpcode(b) ||
        LLVMTypeOf(a) != LLVMTypeOf(b) || LLVMGetNumOperands(a) != LLVMGetNumOperands(b))
        return false;
    bool gep = LLVMIsAGetElementPtrInst(a);
    if (!gep && !LLVMIsABinaryOperator(a) && !LLVMIsACastInst(a)) return false;
    if (gep && LLVMGetGEPSourceElementType(a) != LLVMGetGEPSourceElementType(b)) return false;
    for (int k = 0; k < LLVMGetNumOperands(a); k++)
        if (!is_same(operand(a, k), operand(b, k), depth - 1)) return false;
    return true;
}

bool msl_is_computed_alike(Value a, Value b) { return is_same(a, b, SAME_DEPTH); }

static bool is_plain(Vec *x, Value i) {
    Type t = LLVMTypeOf(i);
    LLVMTypeKind k = LLVMGetTypeKind(t);
    bool number = k == LLVMIntegerTypeKind || k == LLVMFloatTypeKind || k == LLVMHalfTypeKind ||
                  k == LLVMBFloatTypeKind;
    return number && LLVMABISizeOfType(x->dl, t) <= 4 && LLVMSizeOfTypeInBits(x->dl, t) >= 8 &&
           !LLVMGetVolatile(i) && LLVMGetOrdering(i) == LLVMAtomicOrderingNotAtomic &&
           !msl_is_soa(x, operand(i, 0));
}

// Whether n loads from p on are worth one access.
static bool is_worth(Vec *x, Value p, int n, int64_t bytes) {
    Class c = msl_class(x, p);
    if (c.kind == VARYING || c.kind == SHAPED) return true;
    if (c.kind != LINEAR || c.segmented) return false;
    int64_t most = n > MAX_RECORD ? n : MAX_RECORD;
    return c.stride == n * bytes || c.stride > most * bytes || c.stride < -bytes;
}

bool msl_may_write(Value i) {
    if (LLVMIsAStoreInst(i) || LLVMIsAAtomicRMWInst(i) || LLVMIsAAtomicCmpXchgInst(i) ||
        LLVMIsAFenceInst(i))
        return true;
    return LLVMIsACallInst(i) && !msl_is_elementwise(callee_of(i)) &&
           !msl_is_dropped(callee_of(i)) && msl_builtin_of(i).op != OP_POSITION;
}

// Element k of what was loaded.
static Value element_of(Vec *x, Value v, Type t, int k) {
    if (LLVMGetElementType(LLVMTypeOf(v)) == t)
        return LLVMBuildExtractElement(x->b, v, const_int(x->i64, k), "");
    int bytes = (int)LLVMABISizeOfType(x->dl, t), at = k * bytes;
    Value word = LLVMBuildExtractElement(x->b, v, const_int(x->i64, at / WORD), "");
    if (at % WORD) word = LLVMBuildLShr(x->b, word, const_int(x->i32, at % WORD * 8), "");
    Type bits = LLVMIntTypeInContext(x->llvm, (unsigned)bytes * 8);
    return LLVMBuildBitCast(x->b, LLVMBuildTrunc(x->b, word, bits, ""), t, "");
}

static bool merge_run(Vec *x, Piece **run, int n) {
    Type t = run[0]->type, all = LLVMVectorType(t, (unsigned)n);
    if (n > MAX_RECORD)
        all = LLVMVectorType(x->i32, (unsigned)n * (unsigned)LLVMABISizeOfType(x->dl, t) / WORD);
    Piece *first = NULL;
    for (Value i = LLVMGetFirstInstruction(LLVMGetInstructionParent(run[0]->load)); !first;
         i = LLVMGetNextInstruction(i))
        for (int k = 0; k < n; k++)
            if (run[k]->load == i) first = run[k];
    LLVMPositionBuilderBefore(x->b, first->load);
    Value o = const_int(x->i64, run[0]->offset);
    Value p = run[0]->offset ? LLVMBuildGEP2(x->b, x->i8, first->base, &o, 1, "") : first->base;
    Value v = LLVMBuildLoad2(x->b, all, p, "");
    LLVMSetAlignment(v, LLVMGetAlignment(run[0]->load));
    for (int k = 0; k < n; k++) LLVMReplaceAllUsesWith(run[k]->load, element_of(x, v, t, k));
    for (int k = 0; k < n; k++) {
        LLVMInstructionEraseFromParent(run[k]->load);
        run[k]->load = NULL;
    }
    return true;
}

static Piece *find_at(Piece *all, int n, const Piece *like, int64_t offset) {
    for (int k = 0; k < n; k++)
        if (all[k].load && all[k].type == like->type && all[k].offset == offset &&
            msl_is_computed_alike(all[k].base, like->base))
            return &all[k];
    return NULL;
}

// Merges what it can of loads with nothing between them.
static bool merge(Vec *x, Piece *all, int n) {
    bool some = false;
    for (int size = MAX_RUN; size > 1; size /= 2)
        for (int k = 0; k < n; k++) {
            if (!all[k].load) continue;
            int64_t bytes = (int64_t)LLVMABISizeOfType(x->dl, all[k].type);
            Piece *run[MAX_RUN];
            int have = 0;
            if (find_at(all, n, &all[k], all[k].offset - bytes))
                continue; // the run begins before it
            while (have < size &&
                   (run[have] = find_at(all, n, &all[k], all[k].offset + have * bytes)))
                have++;
            int words = size * (int)bytes / WORD;
            bool fits = size > MAX_RECORD
                            ? bytes < WORD && (words == 2 || words == 4)
                            : msl_record_size(x, size, (int)bytes, LLVMGetAlignment(all[k].load),
                                              false) != 0;
            if (have == size && fits && is_worth(x, operand(all[k].load, 0), size, bytes)) {
                some |= merge_run(x, run, size);
                k = -1; // what follows the run begins another
            }
        }
    return some;
}

// Whether any two loads are neighbours: a look that needs no classes.
static bool has_neighbours(Vec *x, Piece *all, int n) {
    for (int k = 0; k < n; k++) {
        int64_t bytes = (int64_t)LLVMABISizeOfType(x->dl, all[k].type);
        if (find_at(all, n, &all[k], all[k].offset + bytes)) return true;
    }
    return false;
}

// Calls `each` for the loads of every block, as far as nothing between them may write; whether it
// ever said yes.
static bool for_loads(Vec *x, bool (*each)(Vec *, Piece *, int)) {
    Piece all[MAX_LOADS];
    bool some = false;
    for (Block b = LLVMGetFirstBasicBlock(x->thread); b; b = LLVMGetNextBasicBlock(b)) {
        int n = 0;
        for (Value i = LLVMGetFirstInstruction(b), next; i; i = next) {
            next = LLVMGetNextInstruction(i);
            if (LLVMIsALoadInst(i) && n < MAX_LOADS && is_plain(x, i)) {
                all[n] = (Piece){.load = i, .type = LLVMTypeOf(i)};
                all[n].base = msl_base_of(x, operand(i, 0), &all[n].offset);
                n++;
            }
            if (msl_may_write(i) || !next || n == MAX_LOADS) {
                some |= n > 1 && each(x, all, n);
                n = 0;
            }
        }
    }
    return some;
}

bool msl_may_merge_loads(Vec *x) { return for_loads(x, has_neighbours); }
bool msl_merge_loads(Vec *x) { return for_loads(x, merge); }
