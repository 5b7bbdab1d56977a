// SPDX-License-Identifier: Apache-2.0
// schedule.c: the order of long straight vector code, where values wait for their next use.
//   purpose   rows of threads side by side share what they load: in a 5x5 blur the row that is the
//             second for one is the first for the next. In the order of the source, which LLVM's
//             schedulers keep, all such values wait in registers, that is on the stack (AVX2: 55
//             stores and 96 loads of spilt vectors among 200 fused multiply-adds; 18 and 40
//             here). So what uses a value follows as soon as it can.
//   requires  the last optimisation has run; preserves everything: a piece ends where something
//             may be written
// Only pieces that need more registers than there are change, and only if they need fewer then.
#include "compiler/codegen/lower/lower.h"
#include "compiler/passes/map.h"

enum { LEAST_PIECE = 64, MAX_PIECE = 4000, MAX_READY = 64 };

typedef struct Node {
    LLVMValueRef i;
    int *use, n_uses; // numbers of its operands in the piece
    int all;          // its uses, in the piece and outside
    int left;         // those to come
    int depth;        // operations one behind the other up to it
    int registers;    // that it is held in; 0: none that count
    bool work;        // a vector made of others: these are put in order
    bool done;
} Node;

typedef struct Piece {
    Cg *cg;
    Arena arena;
    Node *nodes;
    int n, *order, n_order;
} Piece;

// One number in all lanes: made again from memory at little cost.
static bool is_splat(LLVMValueRef i) {
    if (LLVMIsAInsertElementInst(i)) return true;
    if (!LLVMIsAShuffleVectorInst(i)) return false;
    for (unsigned k = 0; k < LLVMGetNumMaskElements(i); k++)
        if (LLVMGetMaskValue(i, k)) return false;
    return true;
}

static bool is_load(LLVMValueRef i) {
    return LLVMIsALoadInst(i) || msl_starts(msl_callee(i), "llvm.masked.load");
}

static bool only_reads(LLVMValueRef i) {
    static const char *const calls[] = {
        "llvm.fma",    "llvm.masked.load", "llvm.smin", "llvm.smax", "llvm.umin",   "llvm.umax",
        "llvm.minnum", "llvm.maxnum",      "llvm.fabs", "llvm.sqrt", "llvm.fmuladd"};
    if (LLVMIsALoadInst(i))
        return !LLVMGetVolatile(i) && LLVMGetOrdering(i) == LLVMAtomicOrderingNotAtomic;
    for (size_t k = 0; k < sizeof calls / sizeof *calls; k++)
        if (msl_starts(msl_callee(i), calls[k])) return true;
    return LLVMIsABinaryOperator(i) || LLVMIsAUnaryOperator(i) || LLVMIsACastInst(i) ||
           LLVMIsAGetElementPtrInst(i) || LLVMIsASelectInst(i) || LLVMIsACmpInst(i) ||
           LLVMIsAShuffleVectorInst(i) || LLVMIsAInsertElementInst(i) ||
           LLVMIsAExtractElementInst(i);
}

static void read_node(Piece *p, Node *k, Map *numbers) {
    MslContext *cx = &p->cg->cx;
    LLVMTypeRef t = LLVMTypeOf(k->i);
    unsigned long long size = cx->avx512 ? 64 : 32;
    if (LLVMGetTypeKind(t) == LLVMVectorTypeKind && !is_splat(k->i)) {
        k->registers = (int)((LLVMABISizeOfType(cx->layout, t) + size - 1) / size);
        k->work = !is_load(k->i);
    }
    for (LLVMUseRef u = LLVMGetFirstUse(k->i); u; u = LLVMGetNextUse(u)) k->left = ++k->all;
    int n = LLVMGetNumOperands(k->i);
    k->use = msl_arena_alloc(cx, &p->arena, (size_t)(n + 1) * sizeof *k->use);
    for (int o = 0; o < n; o++) {
        int d = msl_map_get(numbers, LLVMGetOperand(k->i, (unsigned)o));
        if (d < 0) continue;
        k->use[k->n_uses++] = d;
        int depth = p->nodes[d].depth + k->work;
        if (depth > k->depth) k->depth = depth;
    }
}

// Registers that the vectors of the piece need in the order given.
static int pressure(Piece *p, const int *order) {
    int live = 0, most = 0;
    int *left = msl_arena_alloc(&p->cg->cx, &p->arena, (size_t)p->n * sizeof *left);
    for (int k = 0; k < p->n; k++) left[k] = p->nodes[k].all;
    for (int at = 0; at < p->n; at++) {
        int k = order ? order[at] : at;
        live += p->nodes[k].registers;
        if (live > most) most = live;
        for (int u = 0; u < p->nodes[k].n_uses; u++) {
            int d = p->nodes[k].use[u];
            if (!--left[d]) live -= p->nodes[d].registers;
        }
    }
    return most;
}

static void place(Piece *p, int k) {
    Node *node = &p->nodes[k];
    if (node->done) return;
    node->done = true;
    for (int u = 0; u < node->n_uses; u++) place(p, node->use[u]);
    for (int u = 0; u < node->n_uses; u++) p->nodes[node->use[u]].left--;
    p->order[p->n_order++] = k;
}

static bool is_ready(const Piece *p, const Node *k) {
    for (int u = 0; u < k->n_uses; u++)
        if (p->nodes[k->use[u]].work && !p->nodes[k->use[u]].done) return false;
    return true;
}

// By how many registers more are in use behind it.
static int cost(const Piece *p, const Node *k) {
    int sum = k->registers;
    for (int u = 0; u < k->n_uses; u++) {
        const Node *d = &p->nodes[k->use[u]];
        int here = 0, before = 0;
        for (int v = 0; v < k->n_uses; v++) {
            here += k->use[v] == k->use[u];
            before += v < u && k->use[v] == k->use[u];
        }
        if (before) continue;
        if (d->done && d->left == here) sum -= d->registers;
        if (!d->done && d->left > here) sum += d->registers;
    }
    return sum;
}

static void put_in_order(Piece *p) {
    p->order = msl_arena_alloc(&p->cg->cx, &p->arena, (size_t)p->n * sizeof *p->order);
    for (int first = 0;;) { // all work before it is done
        int best = -1, best_cost = 0, ready = 0;
        while (first < p->n && (!p->nodes[first].work || p->nodes[first].done)) first++;
        for (int k = first; k < p->n && ready < MAX_READY; k++) {
            const Node *node = &p->nodes[k];
            if (!node->work || node->done || !is_ready(p, node)) continue;
            ready++;
            int c = cost(p, node);
            if (best >= 0 &&
                (c > best_cost || (c == best_cost && node->depth >= p->nodes[best].depth)))
                continue;
            best = k;
            best_cost = c;
        }
        if (best < 0) break;
        place(p, best);
    }
    for (int k = 0; k < p->n; k++) place(p, k);
}

// `n` instructions from `first` on.
static void order_piece(Cg *cg, LLVMValueRef first, int n) {
    MslContext *cx = &cg->cx;
    Piece p = {.cg = cg, .n = n};
    Map numbers = {0};
    int room = cx->avx512 ? 32 : 16;
    p.nodes = msl_arena_alloc(cx, &p.arena, (size_t)n * sizeof *p.nodes);
    for (int k = 0; k < n; k++, first = LLVMGetNextInstruction(first)) {
        p.nodes[k].i = first;
        read_node(&p, &p.nodes[k], &numbers);
        msl_map_put(cx, &p.arena, &numbers, first, k);
    }
    int before = pressure(&p, NULL);
    if (before > room) put_in_order(&p);
    if (before > room && pressure(&p, p.order) < before) {
        LLVMPositionBuilderBefore(cx->builder, first); // what ends the piece
        LLVMSetCurrentDebugLocation2(cx->builder, NULL);
        for (int k = 0; k < n; k++) LLVMInstructionRemoveFromParent(p.nodes[p.order[k]].i);
        for (int k = 0; k < n; k++) LLVMInsertIntoBuilder(cx->builder, p.nodes[p.order[k]].i);
    }
    base_arena_free(&p.arena);
}

void msl_schedule(Cg *cg) {
    if (cg->request->tier == TIER_BASELINE || !(cg->cx.avx512 || cg->cx.avx2)) return;
    for (LLVMValueRef f = LLVMGetFirstFunction(cg->cx.module); f; f = LLVMGetNextFunction(f))
        for (LLVMBasicBlockRef b = LLVMGetFirstBasicBlock(f); b; b = LLVMGetNextBasicBlock(b)) {
            LLVMValueRef first = NULL;
            int n = 0;
            for (LLVMValueRef i = LLVMGetFirstInstruction(b); i; i = LLVMGetNextInstruction(i)) {
                if (only_reads(i)) {
                    if (!n++) first = i;
                    continue;
                }
                if (n >= LEAST_PIECE && n <= MAX_PIECE) order_piece(cg, first, n);
                n = 0;
            }
        }
}
