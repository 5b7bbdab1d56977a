// SPDX-License-Identifier: Apache-2.0
// merge.c: loads of neighbours become one of a vector.
//   purpose   a thread that reads four numbers in a row from a place of its own (quantised blocks,
//             `for (i = 0; i < 8; i++) y[i] = p[i]`) would cost a gather for each: a record
//             (emit_record.c) is one access
//   requires  classes: neighbours that all lanes share, or that lie beside those of the next lane,
//             are better left alone
// Loads of one block with nothing between them that may write; two or four of them.
#include "compiler/passes/passes_int.h"

enum { MAX_LOADS = 64 };

typedef struct Piece {
    Value load, base;
    Type type;
    int64_t offset;
} Piece;

// The pointer without constant offsets.
static Value base_of(Vec *x, Value p, int64_t *offset) {
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
    if (c.kind == VARYING) return true;
    if (c.kind != LINEAR || c.segmented) return false;
    return c.stride == n * bytes || c.stride > MAX_RECORD * bytes || c.stride < -bytes;
}

static bool may_write(Value i) {
    if (LLVMIsAStoreInst(i) || LLVMIsAAtomicRMWInst(i) || LLVMIsAAtomicCmpXchgInst(i) ||
        LLVMIsAFenceInst(i))
        return true;
    return LLVMIsACallInst(i) && !msl_is_elementwise(callee_of(i)) &&
           !msl_is_dropped(callee_of(i)) && msl_builtin_of(i).op != OP_POSITION;
}

static bool merge_run(Vec *x, Piece **run, int n) {
    Type t = LLVMVectorType(run[0]->type, (unsigned)n);
    Value first = NULL;
    for (Value i = LLVMGetFirstInstruction(LLVMGetInstructionParent(run[0]->load)); !first;
         i = LLVMGetNextInstruction(i))
        for (int k = 0; k < n; k++)
            if (run[k]->load == i) first = i;
    LLVMPositionBuilderBefore(x->b, first);
    Value o = const_int(x->i64, run[0]->offset);
    Value p = run[0]->offset ? LLVMBuildGEP2(x->b, x->i8, run[0]->base, &o, 1, "") : run[0]->base;
    Value v = LLVMBuildLoad2(x->b, t, p, "");
    LLVMSetAlignment(v, LLVMGetAlignment(run[0]->load));
    for (int k = 0; k < n; k++)
        LLVMReplaceAllUsesWith(run[k]->load,
                               LLVMBuildExtractElement(x->b, v, const_int(x->i64, k), ""));
    for (int k = 0; k < n; k++) {
        LLVMInstructionEraseFromParent(run[k]->load);
        run[k]->load = NULL;
    }
    return true;
}

static Piece *find(Piece *all, int n, const Piece *like, int64_t offset) {
    for (int k = 0; k < n; k++)
        if (all[k].load && all[k].base == like->base && all[k].type == like->type &&
            all[k].offset == offset)
            return &all[k];
    return NULL;
}

// Merges what it can of loads with nothing between them.
static bool merge(Vec *x, Piece *all, int n) {
    bool some = false;
    for (int size = MAX_RECORD; size > 1; size /= 2)
        for (int k = 0; k < n; k++) {
            if (!all[k].load) continue;
            int64_t bytes = (int64_t)LLVMABISizeOfType(x->dl, all[k].type);
            Piece *run[MAX_RECORD];
            int have = 0;
            if (find(all, n, &all[k], all[k].offset - bytes)) continue; // the run begins before it
            while (have < size && (run[have] = find(all, n, &all[k], all[k].offset + have * bytes)))
                have++;
            bool fits = msl_record_size(x, size, (int)bytes, LLVMGetAlignment(all[k].load), false);
            if (have == size && fits && is_worth(x, operand(all[k].load, 0), size, bytes)) {
                some |= merge_run(x, run, size);
                k = -1; // what follows the run begins another
            }
        }
    return some;
}

bool msl_merge_loads(Vec *x) {
    Piece all[MAX_LOADS];
    bool some = false;
    for (Block b = LLVMGetFirstBasicBlock(x->thread); b; b = LLVMGetNextBasicBlock(b)) {
        int n = 0;
        for (Value i = LLVMGetFirstInstruction(b), next; i; i = next) {
            next = LLVMGetNextInstruction(i);
            if (LLVMIsALoadInst(i) && n < MAX_LOADS && is_plain(x, i)) {
                all[n] = (Piece){.load = i, .type = LLVMTypeOf(i)};
                all[n].base = base_of(x, operand(i, 0), &all[n].offset);
                n++;
            }
            if (may_write(i) || !next || n == MAX_LOADS) {
                some |= n > 1 && merge(x, all, n);
                n = 0;
            }
        }
    }
    return some;
}
