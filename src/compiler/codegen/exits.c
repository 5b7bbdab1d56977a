// SPDX-License-Identifier: Apache-2.0
// exits.c: SIMD-group functions on a path that leaves a loop stay in the loop.
//   purpose   `for (;;) { if (c) { s = simd_sum(x); break; } ... }` sums over the lanes that leave
//             in the same turn, as on a GPU. For LLVM, and so for the vectoriser, the sum is code
//             behind the loop, which all lanes run together when the last one has left
//   idea      such a path gets a way back into the loop that is never taken, so that it is part of
//             the loop for whoever looks at the graph. The front end puts one before each `break`
//             and `return` in question: if (__ingot_leave_break()) continue; (bridge.cpp). Here,
//             where all functions are at hand, it is either taken out again, because no SIMD-group
//             function is on the path, or asks __ingot_never(), which is false, but only emission
//             knows
//   flags     `while (!done) { if (c) { s = simd_sum(x); done = true; } }`: where LLVM sees
//             through the flag, the sum is behind the loop again. So a condition that leaves, and
//             that hangs on what some turns write where such a function is, is xor'ed with
//             __ingot_never()
//   requires  msl_load: nothing is inlined or optimised, a function's own loops are all it has
#include "compiler/codegen/codegen.h"
#include <stdlib.h>
#include <string.h>

#define NEVER "__ingot_never"
#define TOGETHER "ingot-together" // on functions: calls SIMD-group functions, maybe through others

typedef struct Node {
    LLVMBasicBlockRef block;
    LLVMValueRef leaves;           // the front end's question, before the terminator that uses it
    unsigned *to, *from;           // edges
    unsigned n_to, n_from, number; // the last: post-order
    int header;                    // of the innermost loop around it, or -1
    bool together, reached, on_path, is_header;
    bool in, back, seen; // of the loop that is looked at
} Node;

typedef struct Flow {
    Cg *cg;
    LLVMValueRef f;
    bool pointers; // calls through them may lead to SIMD-group functions
    Node *nodes;
    unsigned n, *edges, *order, n_order, *work;
    const Node **sorted;
} Flow;

// ---- which functions matter ----

static bool has_mark(LLVMValueRef f) {
    return LLVMGetStringAttributeAtIndex(f, LLVMAttributeFunctionIndex, TOGETHER,
                                         sizeof TOGETHER - 1) != NULL;
}

// Marks the functions that call f, and those that call them.
static bool mark_callers(Cg *cg, LLVMValueRef f) {
    bool any = false;
    for (LLVMUseRef u = LLVMGetFirstUse(f); u; u = LLVMGetNextUse(u)) {
        LLVMValueRef user = LLVMGetUser(u);
        if (!LLVMIsACallInst(user)) continue;
        LLVMValueRef caller = LLVMGetBasicBlockParent(LLVMGetInstructionParent(user));
        any = true;
        if (has_mark(caller)) continue;
        msl_add_text_attribute(&cg->cx, caller, TOGETHER, "");
        mark_callers(cg, caller);
    }
    return any;
}

static bool is_together(const Flow *g, LLVMValueRef call) {
    LLVMValueRef f = LLVMGetCalledValue(call);
    if (!LLVMIsAFunction(f)) return g->pointers;
    const char *name = msl_callee(call);
    return msl_starts(name, "__ingot_simd_") || msl_starts(name, "__ingot_quad_") || has_mark(f);
}

static bool is_question(LLVMValueRef i) { return msl_starts(msl_callee(i), "__ingot_leave_"); }

// ---- the graph of a function ----

static int by_block(const void *a, const void *b) {
    const char *x = (const char *)(*(const Node *const *)a)->block,
               *y = (const char *)(*(const Node *const *)b)->block;
    return x < y ? -1 : x > y;
}

static unsigned index_of(const Flow *g, LLVMBasicBlockRef b) {
    Node key = {.block = b};
    const Node *at = &key, *const *found = bsearch(&at, g->sorted, g->n, sizeof at, by_block);
    return (unsigned)(*found - g->nodes);
}

static void scan_block(const Flow *g, Node *b) {
    for (LLVMValueRef i = LLVMGetFirstInstruction(b->block); i; i = LLVMGetNextInstruction(i)) {
        if (!LLVMIsACallInst(i)) continue;
        if (is_question(i))
            b->leaves = i;
        else if (is_together(g, i))
            b->together = true;
    }
}

static bool build_graph(Flow *g) {
    g->n = LLVMCountBasicBlocks(g->f);
    g->nodes = calloc(g->n, sizeof *g->nodes);
    g->sorted = calloc(g->n, sizeof *g->sorted);
    g->order = calloc(g->n, sizeof *g->order);
    g->work = calloc(g->n + 1, sizeof *g->work);
    if (!g->nodes || !g->sorted || !g->order || !g->work) return false;
    unsigned k = 0, n_edges = 0;
    for (LLVMBasicBlockRef b = LLVMGetFirstBasicBlock(g->f); b; b = LLVMGetNextBasicBlock(b), k++) {
        g->nodes[k] = (Node){.block = b, .header = -1};
        g->sorted[k] = &g->nodes[k];
        g->nodes[k].n_to = LLVMGetNumSuccessors(LLVMGetBasicBlockTerminator(b));
        n_edges += g->nodes[k].n_to;
        scan_block(g, &g->nodes[k]);
    }
    qsort(g->sorted, g->n, sizeof *g->sorted, by_block);
    unsigned *next = g->edges = calloc(2 * (size_t)n_edges + 1, sizeof *g->edges);
    if (!g->edges) return false;
    for (k = 0; k < g->n; k++) {
        Node *b = &g->nodes[k];
        LLVMValueRef end = LLVMGetBasicBlockTerminator(b->block);
        b->to = next, next += b->n_to;
        for (unsigned s = 0; s < b->n_to; s++) {
            b->to[s] = index_of(g, LLVMGetSuccessor(end, s));
            g->nodes[b->to[s]].n_from++;
        }
    }
    for (k = 0; k < g->n; k++) {
        g->nodes[k].from = next, next += g->nodes[k].n_from;
        g->nodes[k].n_from = 0;
    }
    for (k = 0; k < g->n; k++)
        for (unsigned s = 0; s < g->nodes[k].n_to; s++) {
            Node *to = &g->nodes[g->nodes[k].to[s]];
            to->from[to->n_from++] = k;
        }
    return true;
}

static void free_graph(Flow *g) {
    free(g->nodes);
    free(g->sorted);
    free(g->order);
    free(g->work);
    free(g->edges);
}

// Depth first: an edge to a block on the path there makes that block the header of a loop.
// order: post-order.
static void visit(Flow *g, unsigned at) {
    Node *b = &g->nodes[at];
    b->reached = b->on_path = true;
    for (unsigned s = 0; s < b->n_to; s++) {
        Node *to = &g->nodes[b->to[s]];
        if (to->on_path)
            to->is_header = true;
        else if (!to->reached)
            visit(g, b->to[s]);
    }
    b->on_path = false;
    b->number = g->n_order;
    g->order[g->n_order++] = at;
}

// Sets `in` for the loop of header h: what comes to h again without passing it.
static void find_loop(Flow *g, unsigned h) {
    unsigned n = 0;
    for (unsigned i = 0; i < g->n; i++) g->nodes[i].in = false;
    g->nodes[h].in = true;
    g->work[n++] = h;
    while (n) {
        unsigned at = g->work[--n];
        for (unsigned p = 0; p < g->nodes[at].n_from; p++) {
            Node *from = &g->nodes[g->nodes[at].from[p]];
            bool entry = at == h && from->number > g->nodes[h].number;
            if (entry || from->in || !from->reached) continue;
            from->in = true;
            g->work[n++] = g->nodes[at].from[p];
        }
    }
}

// ---- paths that leave ----

// Sets `back` for the blocks of the loop that come to its header in another way than past a
// question of it; whether the header is one of them.
static bool find_back(Flow *g, unsigned h) {
    unsigned n = 0;
    for (unsigned i = 0; i < g->n; i++) g->nodes[i].back = false;
    g->work[n++] = h;
    while (n) {
        const Node *b = &g->nodes[g->work[--n]];
        for (unsigned p = 0; p < b->n_from; p++) {
            Node *from = &g->nodes[b->from[p]];
            if (!from->in || from->back || (from->leaves && from->header == (int)h)) continue;
            from->back = true;
            g->work[n++] = b->from[p];
        }
    }
    return g->nodes[h].back;
}

// Whether a SIMD-group function is on the way to `at` that only lanes about to leave go.
static bool is_on_way_to(Flow *g, unsigned h, unsigned at) {
    unsigned n = 0;
    for (unsigned i = 0; i < g->n; i++) g->nodes[i].seen = false;
    g->nodes[at].seen = true;
    g->work[n++] = at;
    while (n) {
        unsigned k = g->work[--n];
        const Node *b = &g->nodes[k];
        if (b->together && !b->back) return true;
        for (unsigned p = 0; p < b->n_from && k != h; p++) {
            Node *from = &g->nodes[b->from[p]];
            if (!from->in || from->seen || from->back) continue;
            from->seen = true;
            g->work[n++] = b->from[p];
        }
    }
    return false;
}

static LLVMValueRef never(Cg *cg) {
    MslContext *cx = &cg->cx;
    LLVMTypeRef type = LLVMFunctionType(msl_int(cx, 1), NULL, 0, 0);
    LLVMValueRef f = LLVMGetNamedFunction(cx->module, NEVER);
    if (!f) {
        // Memory that nobody else sees: no call may be moved or taken for another.
        enum { INACCESSIBLE_READ_WRITE = 3 << 2 };
        f = LLVMAddFunction(cx->module, NEVER, type);
        static const char *const attributes[] = {"nounwind", "convergent", "willreturn",
                                                 "nocallback", "nomerge"};
        for (size_t i = 0; i < sizeof attributes / sizeof *attributes; i++)
            msl_add_attribute(cx, f, LLVMAttributeFunctionIndex, attributes[i], 0);
        msl_add_attribute(cx, f, LLVMAttributeFunctionIndex, "memory", INACCESSIBLE_READ_WRITE);
    }
    LLVMSetCurrentDebugLocation2(cx->builder, NULL); // that of a line of another function
    return LLVMBuildCall2(cx->builder, type, f, NULL, 0, "");
}

// The expression of a `return` is evaluated behind the question: its blocks get a way back too.
static bool hold_result(Flow *g, const Node *b) {
    bool any = false;
    for (unsigned i = 0; i < g->n; i++) g->nodes[i].seen = false;
    for (unsigned k = g->n_order; k-- > 0;) { // what only this block leads to
        Node *x = &g->nodes[g->order[k]];
        bool first = g->order[k] == b->to[1];
        x->seen = x->n_from > 0 && !(x == b);
        for (unsigned p = 0; p < x->n_from; p++)
            x->seen &= g->nodes[x->from[p]].seen || (first && &g->nodes[x->from[p]] == b);
        if (!x->seen || !x->together) continue;
        LLVMBasicBlockRef back = g->nodes[b->to[0]].block,
                          rest = bridge_split_before(LLVMGetBasicBlockTerminator(x->block));
        LLVMPositionBuilderAtEnd(g->cg->cx.builder, x->block);
        LLVMBuildCondBr(g->cg->cx.builder, never(g->cg), back, rest);
        x->block = rest; // a later question's way
        any = true;
    }
    return any;
}

// ---- loops that are left by what a flag says ----

enum { MAX_DECIDING = 128 };

typedef struct Write {
    LLVMValueRef root, value; // of a call: the call
    unsigned at;
} Write;

typedef struct Flags {
    Flow *g;
    unsigned header, n_writes, n_deciding;
    Write *writes;                       // in the loop
    LLVMValueRef deciding[MAX_DECIDING]; // what a condition hangs on: values and variables
    bool too_many;
    unsigned *sometimes, n_sometimes; // blocks with SIMD-group functions that not every turn runs
} Flags;

// The variable behind an address; of *p that is p.
static LLVMValueRef root_of(LLVMValueRef address) {
    while (LLVMIsAGetElementPtrInst(address) || LLVMIsACastInst(address) ||
           LLVMIsALoadInst(address))
        address = LLVMGetOperand(address, 0);
    return address;
}

static bool is_pointer(LLVMValueRef v) {
    return LLVMGetTypeKind(LLVMTypeOf(v)) == LLVMPointerTypeKind;
}

// Calls of functions that run SIMD-group functions under conditions of their own.
static bool decides_inside(const Flow *g, LLVMValueRef i) {
    if (!LLVMIsACallInst(i) || !is_together(g, i)) return false;
    LLVMValueRef f = LLVMGetCalledValue(i);
    return !LLVMIsAFunction(f) || LLVMCountBasicBlocks(f) > 1;
}

// Whether `to` is come to from `at` without passing the loop's header, or the header is in every
// turn (to = header) without passing `avoid`.
static bool comes_to(Flow *g, unsigned header, unsigned at, unsigned to, unsigned avoid) {
    unsigned n = 0;
    for (unsigned i = 0; i < g->n; i++) g->nodes[i].seen = false;
    g->work[n++] = at;
    while (n) {
        const Node *b = &g->nodes[g->work[--n]];
        for (unsigned s = 0; s < b->n_to; s++) {
            Node *next = &g->nodes[b->to[s]];
            if (b->to[s] == to) return true;
            if (!next->in || next->seen || b->to[s] == header || b->to[s] == avoid) continue;
            next->seen = true;
            g->work[n++] = b->to[s];
        }
    }
    return false;
}

static bool in_every_turn(const Flags *x, unsigned at) {
    return at == x->header || !comes_to(x->g, x->header, x->header, x->header, at);
}

static bool in_one_turn(const Flags *x, unsigned a, unsigned b) {
    return a == b || comes_to(x->g, x->header, a, b, a) || comes_to(x->g, x->header, b, a, b);
}

// Writes of the loop: with NULL their number.
static unsigned find_writes(Flags *x, Write *to) {
    unsigned n = 0;
    for (unsigned k = 0; k < x->g->n; k++) {
        if (!x->g->nodes[k].in) continue;
        for (LLVMValueRef i = LLVMGetFirstInstruction(x->g->nodes[k].block); i;
             i = LLVMGetNextInstruction(i)) {
            if (LLVMIsAStoreInst(i)) {
                if (to) to[n] = (Write){root_of(LLVMGetOperand(i, 1)), LLVMGetOperand(i, 0), k};
                n++;
            }
            for (unsigned o = 0, e = LLVMIsACallInst(i) ? LLVMGetNumArgOperands(i) : 0; o < e;
                 o++) {
                if (!is_pointer(LLVMGetOperand(i, o))) continue;
                if (to) to[n] = (Write){root_of(LLVMGetOperand(i, o)), i, k};
                n++;
            }
        }
    }
    return n;
}

static void add_deciding(Flags *x, LLVMValueRef v) {
    if (!LLVMIsAInstruction(v) && !LLVMIsAArgument(v)) return;
    for (unsigned i = 0; i < x->n_deciding; i++)
        if (x->deciding[i] == v) return;
    if (x->n_deciding == MAX_DECIDING)
        x->too_many = true;
    else
        x->deciding[x->n_deciding++] = v;
}

// All that the condition hangs on, through variables that the loop writes.
static void find_deciding(Flags *x, LLVMValueRef condition) {
    x->n_deciding = 0, x->too_many = false;
    add_deciding(x, condition);
    for (unsigned k = 0; k < x->n_deciding; k++) {
        LLVMValueRef v = x->deciding[k];
        if (LLVMIsAAllocaInst(v) || LLVMIsAArgument(v)) {
            for (unsigned w = 0; w < x->n_writes; w++)
                if (x->writes[w].root == v) add_deciding(x, x->writes[w].value);
        } else {
            for (int o = 0, n = LLVMGetNumOperands(v); o < n; o++) {
                LLVMValueRef operand = LLVMGetOperand(v, (unsigned)o);
                add_deciding(x, is_pointer(operand) ? root_of(operand) : operand);
            }
            // Of `go && k < n`: the branch at the first operand.
            for (unsigned o = 0, n = LLVMIsAPHINode(v) ? LLVMCountIncoming(v) : 0; o < n; o++) {
                LLVMValueRef end = LLVMGetBasicBlockTerminator(LLVMGetIncomingBlock(v, o));
                if (LLVMIsABranchInst(end) && LLVMIsConditional(end))
                    add_deciding(x, LLVMGetCondition(end));
            }
        }
    }
}

// Whether the condition may know that a lane was at a SIMD-group function that not all are at.
static bool knows(Flags *x, LLVMValueRef condition) {
    find_deciding(x, condition);
    if (x->too_many) return true;
    for (unsigned k = 0; k < x->n_deciding; k++)
        if (decides_inside(x->g, x->deciding[k])) return true;
    for (unsigned w = 0; w < x->n_writes; w++) {
        bool matters = false;
        for (unsigned k = 0; k < x->n_deciding; k++) matters |= x->deciding[k] == x->writes[w].root;
        if (!matters || in_every_turn(x, x->writes[w].at)) continue;
        for (unsigned b = 0; b < x->n_sometimes; b++)
            if (in_one_turn(x, x->sometimes[b], x->writes[w].at)) return true;
    }
    return false;
}

// One condition that decides both over a SIMD-group function and, later in the turn, to leave.
static bool is_behind(const Flags *x, unsigned at) {
    for (unsigned b = 0; b < x->n_sometimes; b++)
        if (x->sometimes[b] != at &&
            comes_to(x->g, x->header, x->sometimes[b], at, x->sometimes[b]))
            return true;
    return false;
}

// Fills in `sometimes`; false: the loop has nothing of the kind.
static bool has_sometimes(Flags *x) {
    bool inside = false;
    for (unsigned k = 0; k < x->g->n; k++) {
        const Node *b = &x->g->nodes[k];
        if (!b->in || !b->together) continue;
        for (LLVMValueRef i = LLVMGetFirstInstruction(b->block); i && !inside;
             i = LLVMGetNextInstruction(i))
            inside = decides_inside(x->g, i);
        if (!in_every_turn(x, k)) x->sometimes[x->n_sometimes++] = k;
    }
    return inside || x->n_sometimes;
}

// In the loop of header h; hold: of questions, that their path is part of the loop anyway.
static bool hide_flags(Flow *g, unsigned h, const bool *hold) {
    Flags x = {.g = g, .header = h, .sometimes = calloc(g->n, sizeof *x.sometimes)};
    if (!x.sometimes) return false;
    if (!has_sometimes(&x)) {
        free(x.sometimes);
        return true;
    }
    x.n_writes = find_writes(&x, NULL);
    x.writes = calloc(x.n_writes + 1, sizeof *x.writes);
    if (!x.writes) {
        free(x.sometimes);
        return false;
    }
    find_writes(&x, x.writes);
    for (unsigned i = 0; i < g->n; i++) {
        LLVMValueRef end = LLVMGetBasicBlockTerminator(g->nodes[i].block);
        if (!g->nodes[i].in || g->nodes[i].n_to != 2 || !LLVMIsABranchInst(end) ||
            g->nodes[i].leaves)
            continue;
        bool leaves = false, asks = false;
        for (unsigned s = 0; s < 2; s++) {
            const Node *to = &g->nodes[g->nodes[i].to[s]];
            leaves |= !to->in;
            asks |= to->leaves && to->header == (int)h && !hold[g->nodes[i].to[s]];
        }
        LLVMValueRef condition = LLVMGetCondition(end);
        if (!LLVMIsAInstruction(condition) || !(leaves || asks)) continue;
        if (!knows(&x, condition) && !(asks && is_behind(&x, i))) continue;
        LLVMPositionBuilderBefore(g->cg->cx.builder, end);
        LLVMSetCondition(end, LLVMBuildXor(g->cg->cx.builder, condition, never(g->cg), ""));
    }
    free(x.writes);
    free(x.sometimes);
    return true;
}

static void answer(Cg *cg, LLVMValueRef question, bool hold) {
    if (hold) {
        LLVMPositionBuilderBefore(cg->cx.builder, question);
        LLVMReplaceAllUsesWith(question, never(cg));
        LLVMInstructionEraseFromParent(question);
        return;
    }
    LLVMValueRef end = LLVMGetBasicBlockTerminator(LLVMGetInstructionParent(question));
    bool asked = LLVMGetNumSuccessors(end) == 2 && LLVMGetCondition(end) == question;
    if (asked) {
        LLVMPositionBuilderBefore(cg->cx.builder, end);
        LLVMSetCurrentDebugLocation2(cg->cx.builder, NULL);
        LLVMBuildBr(cg->cx.builder, LLVMGetSuccessor(end, 1));
        LLVMInstructionEraseFromParent(end);
    } else {
        LLVMReplaceAllUsesWith(question, LLVMConstNull(LLVMTypeOf(question)));
    }
    LLVMInstructionEraseFromParent(question);
}

static bool answer_all(Flow *g) {
    bool *hold = calloc(g->n, sizeof *hold);
    if (!hold) return false;
    visit(g, 0);
    for (unsigned k = g->n_order; k-- > 0;) { // outer loops first
        unsigned h = g->order[k];
        if (!g->nodes[h].is_header) continue;
        find_loop(g, h);
        for (unsigned i = 0; i < g->n; i++)
            if (g->nodes[i].in) g->nodes[i].header = (int)h;
    }
    for (unsigned k = g->n_order; k-- > 0;) {
        unsigned h = g->order[k];
        if (!g->nodes[h].is_header) continue;
        find_loop(g, h);
        if (!find_back(g, h)) continue; // it never comes back: no loop
        for (unsigned i = 0; i < g->n; i++) {
            const Node *b = &g->nodes[i];
            if (!b->leaves || b->header != (int)h) continue;
            hold[i] = is_on_way_to(g, h, i);
            if (strstr(msl_callee(b->leaves), "return")) hold[i] |= hold_result(g, b);
        }
        if (!hide_flags(g, h, hold)) {
            free(hold);
            return false;
        }
    }
    for (unsigned i = 0; i < g->n; i++)
        if (g->nodes[i].leaves) answer(g->cg, g->nodes[i].leaves, hold[i]);
    free(hold);
    return true;
}

// Marks all that may come to a SIMD-group function; false: nothing does.
static bool mark_all(Cg *cg, bool *pointers) {
    LLVMModuleRef m = cg->cx.module;
    bool any = false;
    *pointers = false;
    for (int round = 0; round < 2; round++) {
        for (LLVMValueRef f = LLVMGetFirstFunction(m); f; f = LLVMGetNextFunction(f)) {
            size_t n;
            const char *name = LLVMGetValueName2(f, &n);
            if (!LLVMIsDeclaration(f)) continue;
            if (round ? strstr(name, "__ingot_table_entryI") != NULL
                      : msl_starts(name, "__ingot_simd_") || msl_starts(name, "__ingot_quad_"))
                any |= mark_callers(cg, f);
        }
        for (LLVMValueRef f = LLVMGetFirstFunction(m); f && !round; f = LLVMGetNextFunction(f))
            *pointers |= msl_is_linked(f) && has_mark(f);
        if (!*pointers) break;
    }
    return any;
}

// A function that comes to SIMD-group functions, or has questions.
static void hold_in(Cg *cg, LLVMValueRef f, bool pointers) {
    Flow g = {.cg = cg, .f = f, .pointers = pointers};
    bool ok = build_graph(&g);
    if (ok) ok = answer_all(&g);
    free_graph(&g);
    if (!ok) msl_fail(&cg->cx, "out of memory");
}

void msl_hold_exits(Cg *cg) {
    static const char *const questions[] = {"__ingot_leave_break", "__ingot_leave_return"};
    bool pointers, together = mark_all(cg, &pointers);
    for (LLVMValueRef f = together ? LLVMGetFirstFunction(cg->cx.module) : NULL; f;
         f = LLVMGetNextFunction(f))
        if (has_mark(f) && LLVMCountBasicBlocks(f) > 1) hold_in(cg, f, pointers);
    for (int k = 0; k < 2; k++) {
        LLVMValueRef asked = LLVMGetNamedFunction(cg->cx.module, questions[k]);
        for (LLVMUseRef u; asked && (u = LLVMGetFirstUse(asked));) {
            LLVMValueRef call = LLVMGetUser(u);
            if (together && pointers)
                hold_in(cg, LLVMGetBasicBlockParent(LLVMGetInstructionParent(call)), pointers);
            else
                answer(cg, call, false);
        }
    }
}
