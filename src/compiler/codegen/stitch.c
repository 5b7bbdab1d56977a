// SPDX-License-Identifier: Apache-2.0
// stitch.c: graphs of calls -> a library of visible functions (MTLFunctionStitchingGraph).
//   purpose   one function per graph: its nodes are calls in the order given, its parameters the
//             input nodes, its result the value of the output node
//   idea      the functions named are linked into an empty module as a pipeline's would be, with
//             their constants; what is built calls them and is kept as bitcode. Values travel as
//             Clang passes them: directly, or as memory behind a hidden pointer (byval, sret).
//   leaves out  types beyond what LLVM sees: pointers are all alike
#include "compiler/codegen/codegen.h"
#include <llvm-c/BitWriter.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_INPUTS = 64, MAX_NODES = 4096 };

typedef struct Value {
    LLVMValueRef value; // of a `memory`: its address
    LLVMTypeRef type;   // of the value, or of what lies in the memory; NULL: nothing
    bool memory;
} Value;

typedef struct Stitch {
    Cg *cg;
    const MslStitchRequest *request;
    const MslStitchGraph *graph;
    LLVMValueRef f; // being built
    Value inputs[MAX_INPUTS];
    unsigned n_inputs;
    Value *values; // of the nodes
} Stitch;

static unsigned kind_of(const char *name) {
    return LLVMGetEnumAttributeKindForName(name, strlen(name));
}

static LLVMTypeRef hidden_type(LLVMValueRef f, unsigned param, const char *attribute) {
    LLVMAttributeRef a = LLVMGetEnumAttributeAtIndex(f, param + 1, kind_of(attribute));
    return a ? LLVMGetTypeAttributeValue(a) : NULL;
}

static LLVMAttributeRef type_attribute(Stitch *s, const char *name, LLVMTypeRef type) {
    return LLVMCreateTypeAttribute(s->cg->cx.llvm, kind_of(name), type);
}

static LLVMValueRef callee(Stitch *s, uint32_t function) {
    char name[40];
    snprintf(name, sizeof name, MSL_LINKED "%u", function - 1);
    LLVMValueRef f = LLVMGetNamedFunction(s->cg->cx.module, name);
    if (!f) msl_fail(&s->cg->cx, "internal error: '%s' is missing", name);
    return f;
}

static const char *name_of(const Stitch *s, uint32_t function) {
    return s->request->functions[function - 1].function;
}

// 1 if the first parameter is where the result goes.
static unsigned has_result_memory(LLVMValueRef f) {
    return LLVMCountParams(f) && hidden_type(f, 0, "sret") ? 1 : 0;
}

// What a parameter of a function wants.
static Value wanted(LLVMValueRef f, unsigned param) {
    LLVMTypeRef memory = hidden_type(f, param, "byval");
    return memory ? (Value){NULL, memory, true}
                  : (Value){NULL, LLVMTypeOf(LLVMGetParam(f, param)), false};
}

static bool same(const Stitch *s, Value a, Value b) {
    if (a.memory != b.memory || !a.type || !b.type) return false;
    if (!a.memory) return a.type == b.type;
    LLVMTargetDataRef layout = s->cg->cx.layout;
    return a.type == b.type ||
           LLVMABISizeOfType(layout, a.type) == LLVMABISizeOfType(layout, b.type);
}

// The types of the inputs follow from the functions they go to.
static void find_inputs(Stitch *s) {
    MslContext *cx = &s->cg->cx;
    const MslStitchGraph *g = s->graph;
    for (size_t i = 0; i < g->n_nodes; i++) {
        const MslStitchNode *n = &g->nodes[i];
        if (!n->function) {
            if (n->argument >= MAX_INPUTS)
                msl_fail(cx, "'%s': argument %u: a stitched function has at most %d", g->name,
                         n->argument, MAX_INPUTS);
            if (n->argument >= s->n_inputs) s->n_inputs = n->argument + 1;
            continue;
        }
        LLVMValueRef f = callee(s, n->function);
        unsigned first = has_result_memory(f);
        if (n->n_arguments != LLVMCountParams(f) - first)
            msl_fail(cx, "'%s': a node gives %zu arguments to '%s', which takes %u", g->name,
                     n->n_arguments, name_of(s, n->function), LLVMCountParams(f) - first);
        for (unsigned k = 0; k < n->n_arguments; k++) {
            const MslStitchNode *from = &g->nodes[n->arguments[k]];
            if (from->function || from->argument >= MAX_INPUTS) continue;
            Value *input = &s->inputs[from->argument], want = wanted(f, first + k);
            if (input->type && !same(s, *input, want))
                msl_fail(cx, "'%s': argument %u goes to parameters of different types", g->name,
                         from->argument);
            *input = want;
        }
    }
    for (unsigned i = 0; i < s->n_inputs; i++)
        if (!s->inputs[i].type)
            msl_fail(cx, "'%s': argument %u is not used, so it has no type", g->name, i);
}

static void declare(Stitch *s, Value result, size_t number) {
    MslContext *cx = &s->cg->cx;
    LLVMTypeRef types[MAX_INPUTS + 1], nothing = LLVMVoidTypeInContext(cx->llvm);
    unsigned first = result.memory, n = first + s->n_inputs;
    for (unsigned i = 0; i < n; i++)
        types[i] =
            i < first || s->inputs[i - first].memory ? msl_ptr(cx) : s->inputs[i - first].type;
    LLVMTypeRef returns = result.type && !result.memory ? result.type : nothing;
    char name[40];
    snprintf(name, sizeof name, "ingot.stitched.%zu", number);
    s->f = LLVMAddFunction(cx->module, name, LLVMFunctionType(returns, types, n, 0));
    if (first) LLVMAddAttributeAtIndex(s->f, 1, type_attribute(s, "sret", result.type));
    for (unsigned i = 0; i < s->n_inputs; i++) {
        s->inputs[i].value = LLVMGetParam(s->f, first + i);
        if (s->inputs[i].memory)
            LLVMAddAttributeAtIndex(s->f, first + i + 1,
                                    type_attribute(s, "byval", s->inputs[i].type));
    }
    LLVMPositionBuilderAtEnd(cx->builder, LLVMAppendBasicBlockInContext(cx->llvm, s->f, "entry"));
}

static Value build_call(Stitch *s, const MslStitchNode *n) {
    MslContext *cx = &s->cg->cx;
    LLVMValueRef f = callee(s, n->function), args[MAX_INPUTS + 1];
    unsigned first = has_result_memory(f), count = LLVMCountParams(f);
    Value result = {0};
    if (count > MAX_INPUTS) msl_fail(cx, "'%s' has too many parameters", name_of(s, n->function));
    if (first) {
        result = (Value){NULL, hidden_type(f, 0, "sret"), true};
        args[0] = result.value = LLVMBuildAlloca(cx->builder, result.type, "");
        LLVMSetAlignment(result.value, 16);
    }
    for (unsigned k = first; k < count; k++) {
        Value v = s->values[n->arguments[k - first]];
        if (!same(s, v, wanted(f, k)))
            msl_fail(cx, "'%s': argument %u of '%s' has another type", s->graph->name, k - first,
                     name_of(s, n->function));
        args[k] = v.value;
    }
    LLVMValueRef call = LLVMBuildCall2(cx->builder, LLVMGlobalGetValueType(f), f, args, count, "");
    for (unsigned k = 0; k < count; k++) { // the call repeats how memory is passed
        LLVMTypeRef by_value = hidden_type(f, k, "byval");
        if (k < first)
            LLVMAddCallSiteAttribute(call, k + 1, type_attribute(s, "sret", result.type));
        if (by_value) LLVMAddCallSiteAttribute(call, k + 1, type_attribute(s, "byval", by_value));
    }
    if (!first && LLVMGetTypeKind(LLVMTypeOf(call)) != LLVMVoidTypeKind)
        result = (Value){call, LLVMTypeOf(call), false};
    return result;
}

static Value result_of(Stitch *s) {
    const MslStitchGraph *g = s->graph;
    const MslStitchNode *n = g->output ? &g->nodes[g->output - 1] : NULL;
    if (!n) return (Value){0};
    if (!n->function) msl_fail(&s->cg->cx, "'%s': the output node is an input", g->name);
    LLVMValueRef f = callee(s, n->function);
    if (has_result_memory(f)) return (Value){NULL, hidden_type(f, 0, "sret"), true};
    LLVMTypeRef type = LLVMGetReturnType(LLVMGlobalGetValueType(f));
    if (LLVMGetTypeKind(type) == LLVMVoidTypeKind)
        msl_fail(&s->cg->cx, "'%s': the output node '%s' has no value", g->name,
                 name_of(s, n->function));
    return (Value){NULL, type, false};
}

static void build_graph(Stitch *s, size_t number) {
    MslContext *cx = &s->cg->cx;
    const MslStitchGraph *g = s->graph;
    memset(s->inputs, 0, sizeof s->inputs);
    s->n_inputs = 0;
    if (g->n_nodes > MAX_NODES) msl_fail(cx, "'%s' has too many nodes", g->name);
    find_inputs(s);
    Value result = result_of(s);
    declare(s, result, number);
    for (size_t i = 0; i < g->n_nodes; i++)
        s->values[i] =
            g->nodes[i].function ? build_call(s, &g->nodes[i]) : s->inputs[g->nodes[i].argument];
    if (!result.type) {
        LLVMBuildRetVoid(cx->builder);
    } else if (!result.memory) {
        LLVMBuildRet(cx->builder, s->values[g->output - 1].value);
    } else {
        LLVMValueRef n = msl_const(cx, 64, LLVMABISizeOfType(cx->layout, result.type));
        LLVMBuildMemCpy(cx->builder, LLVMGetParam(s->f, 0), 1, s->values[g->output - 1].value, 1,
                        n);
        LLVMBuildRetVoid(cx->builder);
    }
}

// Stands in for the kernel that the steps before expect.
static void add_entry(Cg *cg) {
    MslContext *cx = &cg->cx;
    static const RfFunction none = {0};
    LLVMTypeRef type = LLVMFunctionType(LLVMVoidTypeInContext(cx->llvm), NULL, 0, 0);
    cg->fn = &none;
    cg->entry = LLVMAddFunction(cx->module, "ingot.no.kernel", type);
    LLVMPositionBuilderAtEnd(cx->builder,
                             LLVMAppendBasicBlockInContext(cx->llvm, cg->entry, "entry"));
    LLVMBuildRetVoid(cx->builder);
}

static void open_module(Cg *cg) {
    MslContext *cx = &cg->cx;
    msl_open_target(cg);
    cx->module = LLVMModuleCreateWithNameInContext("stitched", cx->llvm);
    LLVMSetModuleDataLayout(cx->module, cx->layout);
    char *triple = LLVMGetTargetMachineTriple(cx->machine);
    LLVMSetTarget(cx->module, triple);
    LLVMDisposeMessage(triple);
    add_entry(cg);
    msl_link_parts(cg);
    msl_specialise(cg);
}

// Only the new functions stay visible; the rest is inlined into them or gone.
static void close_module(Cg *cg, MslLibrary *out) {
    MslContext *cx = &cg->cx;
    LLVMDeleteFunction(cg->entry);
    for (LLVMValueRef f = LLVMGetFirstFunction(cx->module); f; f = LLVMGetNextFunction(f)) {
        size_t n;
        if (LLVMIsDeclaration(f) || msl_starts(LLVMGetValueName2(f, &n), "ingot.stitched."))
            continue;
        LLVMSetLinkage(f, LLVMInternalLinkage);
        LLVMRemoveEnumAttributeAtIndex(f, LLVMAttributeFunctionIndex, kind_of("noinline"));
        LLVMRemoveEnumAttributeAtIndex(f, LLVMAttributeFunctionIndex, kind_of("optnone"));
        msl_add_attribute(cx, f, LLVMAttributeFunctionIndex, "alwaysinline", 0);
    }
    msl_run_passes(cx, NULL,
                   "function(sroa,early-cse,simplifycfg),always-inline,"
                   "function(sroa,early-cse,simplifycfg),globaldce");
    msl_check_constants(cg);
    msl_verify(cx, "stitch");
    LLVMMemoryBufferRef buffer = LLVMWriteBitcodeToMemoryBuffer(cx->module);
    out->bitcode_bytes = LLVMGetBufferSize(buffer);
    out->bitcode = malloc(out->bitcode_bytes + 1);
    if (out->bitcode) memcpy(out->bitcode, LLVMGetBufferStart(buffer), out->bitcode_bytes);
    LLVMDisposeMemoryBuffer(buffer);
    if (!out->bitcode) msl_fail(cx, "out of memory");
}

static RfLibrary *describe(const MslStitchRequest *q) {
    RfLibrary *lib = calloc(1, sizeof *lib);
    if (lib) lib->functions = calloc(q->n_graphs, sizeof *lib->functions);
    if (!lib || !lib->functions) goto fail;
    for (size_t i = 0; i < q->n_graphs; i++) {
        RfFunction *f = &lib->functions[lib->n_functions++];
        char symbol[40];
        snprintf(symbol, sizeof symbol, "ingot.stitched.%zu", i);
        f->stage = RF_VISIBLE;
        f->name = strdup(q->graphs[i].name);
        f->symbol = strdup(symbol);
        f->signature = strdup(""); // any: linking compares what is left of the types
        if (!f->name || !f->symbol || !f->signature) goto fail;
    }
    return lib;
fail:
    rf_free(lib);
    return NULL;
}

bool msl_stitch(const MslStitchRequest *request, MslLibrary *out) {
    *out = (MslLibrary){0};
    static const RfLibrary empty = {0};
    MslKernelRequest kernel = {.reflection = &empty,
                               .function = "",
                               .parts = request->parts,
                               .n_parts = request->n_parts,
                               .linked = request->functions,
                               .n_linked = request->n_functions};
    char *log = NULL;
    Cg *cg = malloc(sizeof *cg);
    Stitch *s = calloc(1, sizeof *s);
    bool opened = cg && s && msl_context_open(cg, &kernel, &log);
    if (s) s->values = calloc(MAX_NODES, sizeof *s->values);
    if (opened && s->values && setjmp(cg->cx.fail) == 0) {
        s->cg = cg;
        s->request = request;
        open_module(cg);
        for (size_t i = 0; i < request->n_graphs; i++) {
            s->graph = &request->graphs[i];
            build_graph(s, i);
        }
        close_module(cg, out);
        out->reflection = describe(request);
        out->ok = out->reflection != NULL;
    }
    out->log = strdup(out->ok ? "" : opened && cg->cx.error[0] ? cg->cx.error : "out of memory");
    if (opened) msl_context_close(cg);
    if (s) free(s->values);
    free(s);
    free(cg);
    free(log);
    return out->ok;
}
