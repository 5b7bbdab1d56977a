// SPDX-License-Identifier: Apache-2.0
// call_graph.c: the graph of references between the functions and global variables of a module. It
// is read from the lists of uses: a module has far fewer of them than operands. LLVM's own
// functions are left out: nothing asks for those.
#include "compiler/frontend/call_graph.h"
#include "base/array.h"
#include <stdlib.h>
#include <string.h>

typedef struct Edge {
    uint32_t from, to;
} Edge;

typedef struct Edges {
    Edge *at;
    size_t n, capacity;
    bool failed;
} Edges;

static uint64_t hash_of(LLVMValueRef v) {
    return (uint64_t)(uintptr_t)v * 0x9e3779b97f4a7c15u >> 33;
}

uint32_t graph_node(const Graph *g, LLVMValueRef v) {
    for (const HashNode *n = hash_chain(&g->table, hash_of(v)); n; n = n->next)
        if (((const Node *)n)->value == v) return (uint32_t)((const Node *)n - g->nodes);
    return NONE;
}

static bool add_node(Graph *g, LLVMValueRef v) {
    Node *n = &g->nodes[g->n_nodes++];
    *n = (Node){.base.hash = hash_of(v),
                .value = v,
                .initialiser = NONE,
                .constant = NONE,
                .binding = NONE,
                .entry = NONE};
    return hash_add(&g->table, &n->base);
}

static void add_edge(Edges *e, uint32_t from, uint32_t to) {
    if (from == NONE) return;
    if (!array_reserve(&e->at, &e->capacity, e->n + 1)) {
        e->failed = true;
        return;
    }
    e->at[e->n++] = (Edge){from, to};
}

// Who refers to the value: functions by their instructions, variables by what they begin with,
// either also through constant expressions.
static void add_users(const Graph *g, Edges *e, LLVMValueRef v, uint32_t to, int depth) {
    for (LLVMUseRef u = LLVMGetFirstUse(v); u; u = LLVMGetNextUse(u)) {
        LLVMValueRef user = LLVMGetUser(u);
        if (LLVMIsAInstruction(user))
            add_edge(e, graph_node(g, LLVMGetBasicBlockParent(LLVMGetInstructionParent(user))), to);
        else if (LLVMIsAGlobalVariable(user))
            add_edge(e, graph_node(g, user), to);
        else if (LLVMIsAConstant(user) && !LLVMIsAFunction(user) && depth < 16)
            add_users(g, e, user, to, depth + 1);
    }
}

// The address that an instruction of a start-up function sets, or NULL: the target of its store,
// what it declares invariant, or the first argument of a constructor or copy.
static LLVMValueRef target_of(LLVMValueRef user) {
    if (LLVMIsAStoreInst(user)) return LLVMGetOperand(user, 1);
    if (!LLVMIsACallInst(user) || LLVMGetNumArgOperands(user) == 0) return NULL;
    return LLVMGetOperand(
        user,
        LLVMGetNumArgOperands(user) == 2 && LLVMGetIntrinsicID(LLVMGetCalledValue(user)) ? 1 : 0);
}

// Globals set by a start-up function (constants derived from function constants) lead to it.
// Start-up functions that only read the global are those of constants derived from it.
static uint32_t initialiser_of(const Graph *g, LLVMValueRef global) {
    for (LLVMUseRef u = LLVMGetFirstUse(global); u; u = LLVMGetNextUse(u)) {
        LLVMValueRef user = LLVMGetUser(u);
        size_t n;
        if (!LLVMIsAInstruction(user) || target_of(user) != global) continue;
        LLVMValueRef f = LLVMGetBasicBlockParent(LLVMGetInstructionParent(user));
        if (strncmp(LLVMGetValueName2(f, &n), "__cxx_global_var_init", 21) == 0)
            return graph_node(g, f);
    }
    return NONE;
}

// Puts the edges together by where they begin, each once.
static bool sort_edges(Graph *g, const Edges *e) {
    g->edges = malloc((e->n + 1) * sizeof *g->edges);
    if (!g->edges) return false;
    uint32_t at = 0;
    for (size_t i = 0; i < e->n; i++) g->nodes[e->at[i].from].n_edges++;
    for (uint32_t i = 0; i < g->n_nodes; i++) {
        g->nodes[i].first_edge = at;
        at += g->nodes[i].n_edges;
        g->nodes[i].n_edges = 0;
    }
    for (size_t i = 0; i < e->n; i++) {
        Node *n = &g->nodes[e->at[i].from];
        uint32_t *end = g->edges + n->first_edge + n->n_edges;
        if (n->n_edges && end[-1] == e->at[i].to) continue; // all that lead to one come in a row
        *end = e->at[i].to;
        n->n_edges++;
    }
    return true;
}

bool graph_build(Graph *g, LLVMModuleRef m) {
    Edges edges = {0};
    uint32_t n = 0;
    bool ok = true;
    for (LLVMValueRef f = LLVMGetFirstFunction(m); f; f = LLVMGetNextFunction(f)) n++;
    for (LLVMValueRef v = LLVMGetFirstGlobal(m); v; v = LLVMGetNextGlobal(v)) n++;
    g->nodes = calloc(n ? n : 1, sizeof *g->nodes);
    if (!g->nodes) return false;
    for (LLVMValueRef f = LLVMGetFirstFunction(m); f; f = LLVMGetNextFunction(f))
        ok &= add_node(g, f);
    for (LLVMValueRef v = LLVMGetFirstGlobal(m); v; v = LLVMGetNextGlobal(v)) ok &= add_node(g, v);
    for (uint32_t i = 0; ok && i < g->n_nodes; i++) {
        LLVMValueRef v = g->nodes[i].value;
        bool function = LLVMIsAFunction(v);
        if (function && LLVMGetIntrinsicID(v)) continue;
        add_users(g, &edges, v, i, 0);
        if (!function) g->nodes[i].initialiser = initialiser_of(g, v);
    }
    ok = ok && !edges.failed && sort_edges(g, &edges);
    free(edges.at);
    return ok;
}

void graph_free(Graph *g) {
    free(g->nodes);
    free(g->edges);
    free(g->table.buckets); // its records are the nodes
    *g = (Graph){0};
}
