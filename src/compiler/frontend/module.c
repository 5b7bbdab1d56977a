// SPDX-License-Identifier: Apache-2.0
// module.c: the last step of the front end, on the module Clang made, through LLVM-C. Checks that
// need the call graph (recursion, calls of entry points, functions without a body), finds the
// function constants and bindings each entry point can reach, removes what only served reflection,
// writes bitcode. Requires: reflection is complete. Breaks: calling conventions become C's.
// Linking objects (merge.c) ends with the same checks, without a source to point to.
#include "compiler/frontend/frontend_int.h"
#include "compiler/frontend/call_graph.h"
#include <llvm-c/BitWriter.h>
#include <llvm-c/Comdat.h>
#include <llvm-c/Core.h>
#include <llvm-c/Error.h>
#include <llvm-c/Transforms/PassBuilder.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void mark_nodes(Graph *g, LLVMModuleRef m, const RfLibrary *lib) {
    for (uint32_t i = 0; i < lib->n_constants; i++) {
        LLVMValueRef v = LLVMGetNamedGlobal(m, lib->constants[i].symbol);
        if (v) g->nodes[graph_node(g, v)].constant = i;
    }
    for (uint32_t i = 0; i < lib->n_bindings; i++) {
        LLVMValueRef v = LLVMGetNamedGlobal(m, lib->bindings[i].symbol);
        if (v) g->nodes[graph_node(g, v)].binding = i;
    }
    for (uint32_t i = 0; i < lib->n_functions; i++) {
        LLVMValueRef v = LLVMGetNamedFunction(m, lib->functions[i].symbol);
        if (!v) continue;
        Node *n = &g->nodes[graph_node(g, v)];
        n->entry = i;
        n->callable =
            lib->functions[i].stage == RF_VISIBLE || lib->functions[i].stage == RF_STITCHABLE;
    }
}

// Where complaints go: to the source being compiled, or as lines into a log.
typedef struct Report {
    BridgeJob *job; // NULL: there is no source
    Text *log;
} Report;

static void complain(const Report *to, LLVMValueRef f, const char *format) {
    size_t n;
    char *name = NULL, text[512];
    const char *symbol = LLVMGetValueName2(f, &n);
    uint32_t at = to->job ? bridge_function_location(to->job, symbol, &name) : 0;
    if (!to->job) name = msl_demangle(symbol);
    snprintf(text, sizeof text, format, name ? name : symbol);
    free(name);
    if (to->job)
        bridge_report(to->job, 3, at, text);
    else
        text_printf(to->log, "error: %s\n", text);
}

// Depth first over calls, with a stack of our own. A function met again on its own path recurses.
static bool check_calls(Graph *g, const Report *to_whom) {
    bool ok = true;
    uint32_t *path = malloc((g->n_nodes + 1) * sizeof *path),
             *next = calloc(g->n_nodes + 1, sizeof *next);
    if (!path || !next) {
        free(path);
        free(next);
        return false;
    }
    for (uint32_t root = 0; root < g->n_nodes; root++) {
        uint32_t depth = 0;
        if (g->nodes[root].colour || !LLVMIsAFunction(g->nodes[root].value)) continue;
        path[depth++] = root, g->nodes[root].colour = 1;
        while (depth) {
            Node *n = &g->nodes[path[depth - 1]];
            if (next[path[depth - 1]] == n->n_edges) {
                n->colour = 2;
                depth--;
                continue;
            }
            Node *to = &g->nodes[g->edges[n->first_edge + next[path[depth - 1]]++]];
            if (!LLVMIsAFunction(to->value)) continue;
            if (to->entry != NONE && !to->callable) {
                complain(to_whom, to->value,
                         "entry point '%s' cannot be called or referenced by another function");
                ok = false;
            } else if (to->colour == 1) {
                complain(to_whom, to->value,
                         "recursive call of function '%s' is not supported in Metal");
                ok = false;
            }
            if (to->colour == 0) {
                to->colour = 1;
                path[depth++] = (uint32_t)(to - g->nodes);
            }
        }
    }
    free(path);
    free(next);
    return ok;
}

// A function that another library may define carries this attribute: an object is linked when its
// source is no longer there to say so.
#define EXTERN_ATTRIBUTE "ingot-extern"

static bool is_extern(LLVMValueRef f, BridgeJob *job, const char *symbol) {
    if (LLVMGetStringAttributeAtIndex(f, LLVMAttributeFunctionIndex, EXTERN_ATTRIBUTE,
                                      sizeof EXTERN_ATTRIBUTE - 1))
        return true;
    if (!job || !bridge_function_is_extern(job, symbol)) return false;
    LLVMContextRef context = LLVMGetModuleContext(LLVMGetGlobalParent(f));
    LLVMAddAttributeAtIndex(
        f, LLVMAttributeFunctionIndex,
        LLVMCreateStringAttribute(context, EXTERN_ATTRIBUTE, sizeof EXTERN_ATTRIBUTE - 1, "", 0));
    return true;
}

// Whether the declaration is one of the user's source. Without the source its mangled name says so.
static bool of_user(BridgeJob *job, const char *symbol) {
    if (strstr(symbol, "__ingot_")) return false;
    if (!job) return strncmp(symbol, "_Z", 2) == 0;
    uint32_t at = bridge_function_location(job, symbol, NULL);
    return at && !bridge_in_system(job, at);
}

// A user's function that is called but has no body: Metal reports it when linking. One declared
// `extern`, and any in a library that is linked with dynamic libraries, may come from there: the
// back end reports it if it does not.
static bool check_defined(Graph *g, const Report *to, bool allow_undefined) {
    bool ok = true;
    for (uint32_t i = 0; i < g->n_nodes; i++) {
        LLVMValueRef v = g->nodes[i].value;
        size_t n;
        if (!LLVMIsAFunction(v) || !LLVMIsDeclaration(v) || LLVMGetIntrinsicID(v) ||
            !LLVMGetFirstUse(v))
            continue;
        const char *symbol = LLVMGetValueName2(v, &n);
        if (!of_user(to->job, symbol) || is_extern(v, to->job, symbol) || allow_undefined) continue;
        complain(to, v, "undefined symbol: function '%s' is used but not defined");
        ok = false;
    }
    return ok;
}

static int by_number(const void *a, const void *b) {
    uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
    return (x > y) - (x < y);
}

typedef struct Search { // from one entry point
    Graph *g;
    LLVMModuleRef m;
    const Report *to;
    const RfLibrary *lib;
    RfFunction *f;
    uint32_t stamp, depth, *stack;
    bool *reached; // of the library's bindings
} Search;

// What a condition of an argument or value asks is reachable too. A constant that nothing else
// reads is not in a module that was linked of several.
static void push_condition(Search *s, const char *condition) {
    if (!condition) return;
    LLVMValueRef c = *condition ? LLVMGetNamedGlobal(s->m, condition) : NULL;
    for (uint32_t i = 0; *condition && !c && i < s->lib->n_constants; i++) {
        if (strcmp(s->lib->constants[i].symbol, condition) != 0) continue;
        RfFunction *f = s->f;
        for (uint32_t k = 0; k < f->n_constants; k++)
            if (f->constants[k] == i) return;
        f->constants[f->n_constants++] = i;
    }
    if (!c || s->g->nodes[graph_node(s->g, c)].stamp == s->stamp) return;
    s->g->nodes[graph_node(s->g, c)].stamp = s->stamp;
    s->stack[s->depth++] = graph_node(s->g, c);
}

// The variables at program scope that were reached are arguments, in the order of the source.
static bool add_bindings(Search *s, LLVMValueRef entry) {
    for (uint32_t i = 0; i < s->lib->n_bindings; i++) {
        const RfArg *binding = &s->lib->bindings[i], *other = bindings_clash(s->f, binding);
        char text[512];
        if (!s->reached[i]) continue;
        if (!other) {
            if (!rf_bind(s->f, binding)) return false;
            continue;
        }
        snprintf(text, sizeof text,
                 "cannot reserve '%s' resource location at index %u for '%s', which '%%s' reaches: "
                 "'%s' has it",
                 reflect_attribute_of(binding->kind), binding->index, binding->name, other->name);
        complain(s->to, entry, text);
        return false;
    }
    return true;
}

// The function constants and bindings reachable from one entry point (and from the conditions of
// its arguments).
static bool find_reached(Search *s) {
    Graph *g = s->g;
    RfFunction *f = s->f;
    uint32_t *const stack = s->stack;
    LLVMValueRef v = LLVMGetNamedFunction(s->m, f->symbol);
    f->constants = calloc(s->lib->n_constants + 1, sizeof *f->constants);
    memset(s->reached, 0, s->lib->n_bindings);
    if (!v || !f->constants) return f->constants != NULL;
    stack[s->depth++] = graph_node(g, v);
    g->nodes[stack[0]].stamp = s->stamp;
    for (uint32_t i = 0; i < f->n_args; i++) {
        push_condition(s, f->args[i].condition);
        push_condition(s, f->args[i].given.constant);
    }
    for (uint32_t i = 0; i < f->n_inputs + f->n_outputs; i++) {
        const RfValue *x = i < f->n_inputs ? &f->inputs[i] : &f->outputs[i - f->n_inputs];
        push_condition(s, x->condition);
        push_condition(s, x->given.constant);
    }
    while (s->depth) {
        Node *n = &g->nodes[stack[--s->depth]];
        if (n->constant != NONE) f->constants[f->n_constants++] = n->constant;
        if (n->binding != NONE) {
            s->reached[n->binding] = true;
            push_condition(s, s->lib->bindings[n->binding].condition);
        }
        uint32_t init = n->initialiser;
        for (uint32_t k = 0; k < n->n_edges + (init != NONE); k++) {
            uint32_t to = k < n->n_edges ? g->edges[n->first_edge + k] : init;
            if (g->nodes[to].stamp != s->stamp) {
                g->nodes[to].stamp = s->stamp;
                stack[s->depth++] = to;
            }
        }
    }
    qsort(f->constants, f->n_constants, sizeof *f->constants, by_number);
    return add_bindings(s, v);
}

// Whether the address of a function constant goes to is_function_constant_defined().
static bool asked_for(LLVMValueRef v) {
    for (LLVMUseRef u = LLVMGetFirstUse(v); u; u = LLVMGetNextUse(u)) {
        LLVMValueRef user = LLVMGetUser(u);
        size_t n;
        if (LLVMIsAConstantExpr(user) && asked_for(user)) return true; // a cast
        if (LLVMIsACallInst(user) &&
            strstr(LLVMGetValueName2(LLVMGetCalledValue(user), &n), "is_function_constant_defined"))
            return true;
    }
    return false;
}

static bool reach(Graph *g, LLVMModuleRef m, const Report *to, RfLibrary *lib) {
    bool ok = true;
    for (uint32_t i = 0; i < lib->n_constants; i++) {
        LLVMValueRef v = LLVMGetNamedGlobal(m, lib->constants[i].symbol);
        lib->constants[i].optional = v && asked_for(v);
    }
    uint32_t *stack = malloc((g->n_nodes + 1) * sizeof *stack);
    bool *reached = calloc(lib->n_bindings + 1, sizeof *reached);
    const bool any = lib->n_constants || lib->n_bindings;
    for (uint32_t i = 0; stack && reached && ok && any && i < lib->n_functions; i++)
        ok = find_reached(&(Search){g, m, to, lib, &lib->functions[i], i + 1, 0, stack, reached});
    free(stack);
    free(reached);
    return ok && stack && reached;
}

// ---- what an entry point reaches ----

// The built-in at program scope that a function of the headers stands for, or -1: of
// __builtin_at<T, BUILTIN> (token_globals.c) the last argument.
static int builtin_of(const char *symbol) {
    const char *at = strstr(symbol, "__builtin_atI"), *last = NULL;
    while (at && (at = strstr(at, "Lj"))) last = at += 2;
    return last ? (int)strtol(last, NULL, 10) : -1;
}

static uint8_t stages_of(const char *symbol) {
    enum { NOT_VERTEX = 1 << RF_KERNEL | 1 << RF_FRAGMENT | 1 << RF_OBJECT | 1 << RF_MESH };
    static const struct {
        const char *symbol;
        uint8_t only_in;
    } table[] = {
        {"__ingot_discard_fragment", 1 << RF_FRAGMENT},
        {"_ZN5metal4dfdxI", NOT_VERTEX},
        {"_ZN5metal4dfdyI", NOT_VERTEX},
        {"_ZN5metal6fwidthI", NOT_VERTEX},
        {"__ingot_threadgroup_barrier", NOT_VERTEX},
    };
    for (size_t i = 0; i < sizeof table / sizeof *table; i++)
        if (strncmp(symbol, table[i].symbol, strlen(table[i].symbol)) == 0) return table[i].only_in;
    uint8_t stages = 0;
    const int builtin = builtin_of(symbol);
    for (uint8_t stage = 0; builtin >= 0 && stage <= RF_MESH; stage++)
        if (reflect_builtin_in(builtin, stage)) stages |= (uint8_t)(1 << stage);
    return stages;
}

// Marks what the check below looks for; false: there is nothing of it in the module.
static bool mark_limited(Graph *g) {
    bool any = false;
    for (uint32_t i = 0; i < g->n_nodes; i++) {
        Node *n = &g->nodes[i];
        size_t length;
        if (!LLVMIsAFunction(n->value)) continue;
        n->only_in = stages_of(LLVMGetValueName2(n->value, &length));
        any |= n->only_in;
    }
    return any;
}

static const char *plain_name(const char *symbol) {
    const int builtin = builtin_of(symbol);
    return builtin >= 0                ? rf_builtin_name((unsigned)builtin)
           : strstr(symbol, "discard") ? "discard_fragment"
           : strstr(symbol, "barrier") ? "threadgroup_barrier"
           : strstr(symbol, "dfdx")    ? "dfdx"
           : strstr(symbol, "dfdy")    ? "dfdy"
                                       : "fwidth";
}

// Functions of another stage. (More threadgroup memory than there is: the pipeline says it.)
static bool check_entry(Graph *g, LLVMModuleRef m, const Report *to, const RfFunction *f,
                        uint32_t stamp, uint32_t *stack) {
    LLVMValueRef v = LLVMGetNamedFunction(m, f->symbol);
    bool ok = true;
    uint32_t depth = 0;
    char text[256];
    if (!v || f->stage > RF_MESH) return true;
    stack[depth++] = graph_node(g, v);
    g->nodes[stack[0]].stamp = stamp;
    while (depth) {
        const Node *n = &g->nodes[stack[--depth]];
        size_t length;
        if (n->only_in && !(n->only_in >> f->stage & 1)) {
            const char *symbol = LLVMGetValueName2(n->value, &length);
            snprintf(text, sizeof text,
                     builtin_of(symbol) < 0
                         ? "'%s' cannot be called by '%%s', a function of another stage"
                         : "'%s' at program scope cannot be read by '%%s': a %s function has none",
                     plain_name(symbol), reflect_stage_word(f->stage));
            complain(to, v, text);
            ok = false;
            continue;
        }
        for (uint32_t k = 0; k < n->n_edges; k++) {
            uint32_t next = g->edges[n->first_edge + k];
            if (g->nodes[next].stamp == stamp) continue;
            g->nodes[next].stamp = stamp;
            stack[depth++] = next;
        }
    }
    return ok;
}

static bool check_entries(Graph *g, LLVMModuleRef m, const Report *to, const RfLibrary *lib) {
    bool ok = true;
    if (!mark_limited(g)) return true;
    uint32_t *stack = malloc((g->n_nodes + 1) * sizeof *stack);
    for (uint32_t i = 0; stack && i < lib->n_functions; i++)
        ok &= check_entry(g, m, to, &lib->functions[i], lib->n_functions + i + 1, stack);
    free(stack);
    return ok && stack;
}

static void erase_global(LLVMModuleRef m, const char *name) {
    LLVMValueRef v = LLVMGetNamedGlobal(m, name);
    if (v) LLVMDeleteGlobal(v);
}

// Annotations have served: as calls they would pin parameters in memory.
static void strip_annotations(LLVMModuleRef m) {
    for (LLVMValueRef f = LLVMGetFirstFunction(m), next; f; f = next) {
        size_t n;
        const char *name = LLVMGetValueName2(f, &n);
        next = LLVMGetNextFunction(f);
        bool var = strncmp(name, "llvm.var.annotation", 19) == 0;
        if (!var && strncmp(name, "llvm.ptr.annotation", 19) != 0 &&
            strncmp(name, "llvm.annotation", 15) != 0)
            continue;
        for (LLVMUseRef u = LLVMGetFirstUse(f); u; u = LLVMGetFirstUse(f)) {
            LLVMValueRef call = LLVMGetUser(u);
            if (!var) LLVMReplaceAllUsesWith(call, LLVMGetOperand(call, 0));
            LLVMInstructionEraseFromParent(call);
        }
        LLVMDeleteFunction(f);
    }
    erase_global(m, "llvm.global.annotations");
    erase_global(m, "llvm.used");
    erase_global(m, "llvm.compiler.used");
    for (LLVMValueRef v = LLVMGetFirstGlobal(m), next; v; v = next) {
        const char *section = LLVMGetSection(v);
        next = LLVMGetNextGlobal(v);
        if (section && strcmp(section, "llvm.metadata") == 0 && !LLVMGetFirstUse(v))
            LLVMDeleteGlobal(v);
    }
}

// Functions that Clang itself calls have the convention of its target.
static void set_conventions(LLVMModuleRef m, const RfLibrary *lib) {
    for (LLVMValueRef f = LLVMGetFirstFunction(m); f; f = LLVMGetNextFunction(f)) {
        if (LLVMGetFunctionCallConv(f) == LLVMCCallConv) continue;
        LLVMSetFunctionCallConv(f, LLVMCCallConv);
        for (LLVMUseRef u = LLVMGetFirstUse(f); u; u = LLVMGetNextUse(u))
            if (LLVMIsACallInst(LLVMGetUser(u)))
                LLVMSetInstructionCallConv(LLVMGetUser(u), LLVMCCallConv);
    }
    for (uint32_t i = 0; i < lib->n_functions; i++) {
        LLVMValueRef f = LLVMGetNamedFunction(m, lib->functions[i].symbol);
        if (f) LLVMSetLinkage(f, LLVMExternalLinkage);
    }
}

// A function whose last act is to call itself is a loop, as Metal's own compiler makes it: only
// recursion that is left then is refused. The graph is made again if there was one.
static bool make_loops(Graph *g, LLVMModuleRef m) {
    bool any = false;
    for (uint32_t i = 0; i < g->n_nodes; i++) {
        bool calls_itself = false;
        for (uint32_t k = 0; k < g->nodes[i].n_edges; k++)
            calls_itself |= g->edges[g->nodes[i].first_edge + k] == i;
        if (!calls_itself) continue;
        LLVMPassBuilderOptionsRef options = LLVMCreatePassBuilderOptions();
        LLVMErrorRef error = LLVMRunPassesOnFunction(
            g->nodes[i].value, "function(sroa,instcombine,simplifycfg,tailcallelim,simplifycfg)",
            NULL, options);
        LLVMDisposePassBuilderOptions(options);
        if (error) {
            LLVMConsumeError(error);
            return false;
        }
        any = true;
    }
    if (!any) return true;
    graph_free(g);
    return graph_build(g, m);
}

// The checks, the constants of each entry point, the bitcode.
static bool finish(LLVMModuleRef m, const Report *to, RfLibrary *lib, bool allow_undefined,
                   unsigned char **bitcode, size_t *n_bytes) {
    Graph g = {0};
    bool ok = false;
    if (!graph_build(&g, m) || (to->job && !make_loops(&g, m))) goto done;
    mark_nodes(&g, m, lib);
    bool called = check_calls(&g, to), defined = check_defined(&g, to, allow_undefined);
    if (!called || !defined || !reach(&g, m, to, lib) || !check_entries(&g, m, to, lib)) goto done;
    ok = !bitcode; // then the checks are all
    if (ok) goto done;
    LLVMMemoryBufferRef buffer = LLVMWriteBitcodeToMemoryBuffer(m);
    size_t n = LLVMGetBufferSize(buffer);
    *bitcode = malloc(n ? n : 1);
    if (*bitcode) {
        memcpy(*bitcode, LLVMGetBufferStart(buffer), n);
        *n_bytes = n;
        ok = true;
    }
    LLVMDisposeMemoryBuffer(buffer);
done:
    graph_free(&g);
    return ok;
}

void module_mute(LLVMModuleRef module) {
    LLVMValueRef log = LLVMGetNamedFunction(module, "__ingot_log");
    for (LLVMUseRef use = log ? LLVMGetFirstUse(log) : NULL, next; use; use = next) {
        next = LLVMGetNextUse(use);
        LLVMValueRef call = LLVMGetUser(use);
        if (LLVMIsACallInst(call)) LLVMInstructionEraseFromParent(call);
    }
}

// Leaves the entry points of a part and what they reach. The rest is in another part.
static bool keep_only(LLVMModuleRef m, const RfLibrary *lib, const bool *made) {
    for (LLVMValueRef f = LLVMGetFirstFunction(m); f; f = LLVMGetNextFunction(f))
        if (!LLVMIsDeclaration(f)) LLVMSetLinkage(f, LLVMInternalLinkage), LLVMSetComdat(f, NULL);
    for (LLVMValueRef v = LLVMGetFirstGlobal(m); v; v = LLVMGetNextGlobal(v))
        if (!LLVMIsDeclaration(v) && LLVMGetLinkage(v) != LLVMAppendingLinkage)
            LLVMSetLinkage(v, LLVMInternalLinkage), LLVMSetComdat(v, NULL);
    for (uint32_t i = 0; i < lib->n_functions; i++) {
        LLVMValueRef f = made[i] ? LLVMGetNamedFunction(m, lib->functions[i].symbol) : NULL;
        if (f) LLVMSetLinkage(f, LLVMExternalLinkage);
    }
    LLVMPassBuilderOptionsRef options = LLVMCreatePassBuilderOptions();
    LLVMErrorRef error = LLVMRunPasses(m, "globaldce", NULL, options);
    LLVMDisposePassBuilderOptions(options);
    if (error) LLVMConsumeError(error);
    return !error;
}

bool module_finish(struct LLVMOpaqueModule *m, BridgeJob *job, RfLibrary *lib, const bool *made,
                   bool allow_undefined, unsigned char **bitcode, size_t *n_bytes) {
    strip_annotations(m);
    set_conventions(m, lib);
    if (made && !keep_only(m, lib, made)) return false;
    bindings_unite(m, lib);
    module_guard_divisions(m);
    return finish(m, &(Report){.job = job}, lib, allow_undefined, bitcode, n_bytes);
}

bool module_finish_linked(struct LLVMOpaqueModule *m, Text *log, RfLibrary *lib,
                          bool allow_undefined, unsigned char **bitcode, size_t *n_bytes) {
    for (uint32_t i = 0; i < lib->n_functions; i++) { // found again: others' code is reached now
        free(lib->functions[i].constants);
        lib->functions[i].constants = NULL;
        lib->functions[i].n_constants = 0;
        bindings_drop(&lib->functions[i]);
    }
    bindings_unite(m, lib);
    return finish(m, &(Report){.log = log}, lib, allow_undefined, bitcode, n_bytes);
}
