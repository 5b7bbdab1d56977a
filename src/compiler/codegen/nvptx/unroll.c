// SPDX-License-Identifier: Apache-2.0
// unroll.c: loops that walk over a thread's own array are to be unrolled.
//   purpose   what a GPU's thread indexes by a number that is no constant lies in memory, far away;
//             the elements of cooperative tensors, and arrays of sums, are to be registers
//   idea      an index hangs on the number that a loop counts: a phi, one of whose values is made
//             of it, at the end of the loop. That end gets the mark by which LLVM unrolls, if the
//             loop counts to a constant and does not become too long by it, inner loops first.
//             Short loops of one block are taken four times: what they load is then asked for at
//             once
#include "compiler/codegen/gpu.h"
#include <llvm-c/DebugInfo.h>
#include <stdlib.h>

enum { MAX_ARRAY = 2048, DEPTH = 8 }; // bytes; operations between a loop's number and an index
enum { MAX_LENGTH = 24000, MAX_LOOPS = 256 }; // instructions of an unrolled loop

typedef struct Loop {
    size_t header, latch; // blocks, as they lie in the function
    uint64_t trips, length;
} Loop;
typedef struct Loops {
    LLVMBasicBlockRef *blocks;
    uint32_t *sizes;
    size_t n_blocks, n;
    Loop loops[MAX_LOOPS];
} Loops;

static void mark(Cg *cg, LLVMValueRef branch) {
    LLVMContextRef llvm = cg->cx.llvm;
    static const char full[] = "llvm.loop.unroll.full";
    LLVMMetadataRef text = LLVMMDStringInContext2(llvm, full, sizeof full - 1);
    LLVMMetadataRef self = LLVMTemporaryMDNode(llvm, NULL, 0);
    LLVMMetadataRef parts[] = {self, LLVMMDNodeInContext2(llvm, &text, 1)};
    LLVMMetadataRef node = LLVMMDNodeInContext2(llvm, parts, 2);
    LLVMMetadataReplaceAllUsesWith(self, node);
    LLVMSetMetadata(branch, LLVMGetMDKindIDInContext(llvm, "llvm.loop", 9),
                    LLVMMetadataAsValue(llvm, node));
}

// Steps of a loop whose phi begins at one constant and is compared with another; 0: not known.
static uint64_t trips_of(LLVMValueRef phi, LLVMValueRef next) {
    if (LLVMGetInstructionOpcode(next) != LLVMAdd || LLVMGetOperand(next, 0) != phi ||
        !LLVMIsAConstantInt(LLVMGetOperand(next, 1)) || LLVMCountIncoming(phi) != 2)
        return 0;
    LLVMValueRef start = LLVMGetIncomingValue(phi, LLVMGetIncomingValue(phi, 0) == next);
    int64_t step = LLVMConstIntGetSExtValue(LLVMGetOperand(next, 1));
    if (!LLVMIsAConstantInt(start) || step == 0) return 0;
    LLVMValueRef of[] = {phi, next};
    for (int k = 0; k < 2; k++)
        for (LLVMUseRef u = LLVMGetFirstUse(of[k]); u; u = LLVMGetNextUse(u)) {
            LLVMValueRef test = LLVMGetUser(u);
            if (!LLVMIsAICmpInst(test) || !LLVMIsAConstantInt(LLVMGetOperand(test, 1))) continue;
            int64_t way =
                LLVMConstIntGetSExtValue(LLVMGetOperand(test, 1)) - LLVMConstIntGetSExtValue(start);
            return (uint64_t)(way / step > 0 ? way / step + 1 : 1);
        }
    return 0;
}

static size_t number(const Loops *l, LLVMBasicBlockRef b) {
    size_t i = 0;
    while (i < l->n_blocks && l->blocks[i] != b) i++;
    return i;
}

static void note_loop(Loops *l, LLVMValueRef phi, unsigned k) {
    size_t header = number(l, LLVMGetInstructionParent(phi)),
           latch = number(l, LLVMGetIncomingBlock(phi, k));
    uint64_t trips = trips_of(phi, LLVMGetIncomingValue(phi, k));
    if (!trips || latch < header || latch == l->n_blocks || l->n == MAX_LOOPS) return;
    for (size_t i = 0; i < l->n; i++)
        if (l->loops[i].latch == latch) return;
    l->loops[l->n++] = (Loop){header, latch, trips, 0};
}

static void note_loops_of(Loops *l, LLVMValueRef index, int depth) {
    if (!LLVMIsAInstruction(index) || depth == 0) return;
    if (LLVMIsAPHINode(index)) {
        for (unsigned k = 0; k < LLVMCountIncoming(index); k++)
            if (LLVMIsAInstruction(LLVMGetIncomingValue(index, k)) &&
                LLVMIsABinaryOperator(LLVMGetIncomingValue(index, k)))
                note_loop(l, index, k);
    } else if (LLVMIsABinaryOperator(index) || LLVMIsACastInst(index)) {
        for (int k = 0; k < LLVMGetNumOperands(index); k++)
            note_loops_of(l, LLVMGetOperand(index, (unsigned)k), depth - 1);
    }
}

static void note_loops(Cg *cg, LLVMValueRef i, Loops *l) {
    LLVMValueRef base = LLVMGetOperand(i, 0);
    while (LLVMIsAGetElementPtrInst(base) || LLVMIsAAddrSpaceCastInst(base))
        base = LLVMGetOperand(base, 0);
    if (!LLVMIsAAllocaInst(base) ||
        LLVMABISizeOfType(cg->cx.layout, LLVMGetAllocatedType(base)) > MAX_ARRAY)
        return;
    for (int k = 1; k < LLVMGetNumOperands(i); k++)
        note_loops_of(l, LLVMGetOperand(i, (unsigned)k), DEPTH);
}

static int shorter_first(const void *a, const void *b) {
    const Loop *x = a, *y = b;
    size_t m = x->latch - x->header, n = y->latch - y->header;
    return m < n ? -1 : m > n;
}

static void mark_short_ones(Cg *cg, Loops *l) {
    qsort(l->loops, l->n, sizeof *l->loops, shorter_first);
    for (size_t i = 0; i < l->n; i++) {
        Loop *x = &l->loops[i];
        uint64_t length = 0;
        for (size_t b = x->header; b <= x->latch; b++) length += l->sizes[b];
        for (size_t k = 0; k < i; k++) // inside, and longer by now
            if (l->loops[k].header >= x->header && l->loops[k].latch <= x->latch)
                length += l->loops[k].length;
        if (length * x->trips > MAX_LENGTH) continue;
        x->length = length * x->trips;
        mark(cg, LLVMGetBasicBlockTerminator(l->blocks[x->latch]));
    }
}

void msl_unroll_arrays(Cg *cg, LLVMValueRef f) {
    Loops *l = calloc(1, sizeof *l);
    size_t n = LLVMCountBasicBlocks(f), at = 0;
    if (l) l->blocks = malloc(n * sizeof *l->blocks);
    if (l) l->sizes = calloc(n, sizeof *l->sizes);
    bool ok = l && l->blocks && l->sizes;
    if (ok) {
        l->n_blocks = n;
        LLVMGetBasicBlocks(f, l->blocks);
        for (LLVMBasicBlockRef b = LLVMGetFirstBasicBlock(f); b; b = LLVMGetNextBasicBlock(b), at++)
            for (LLVMValueRef i = LLVMGetFirstInstruction(b); i; i = LLVMGetNextInstruction(i)) {
                l->sizes[at]++;
                if (LLVMIsAGetElementPtrInst(i)) note_loops(cg, i, l);
            }
        mark_short_ones(cg, l);
    }
    if (l) free(l->blocks);
    if (l) free(l->sizes);
    free(l);
    if (!ok) msl_fail(&cg->cx, "out of memory");
}
