// SPDX-License-Identifier: Apache-2.0
// stitch.c: stitched functions: the graphs of a MTLStitchedLibraryDescriptor become lists of nodes
// in the order they run (arguments and control dependencies first), which the compiler turns into a
// library of visible functions.
#include <stdlib.h>
#include <string.h>
#include "runtime/program/archive.h"
#include "runtime/object/async.h"
#include "runtime/program/link.h"
#include "runtime/object/validation.h"

enum { MAX_NODES = 4096 };

typedef struct Order { // one graph
    const MTLStitchedLibraryDescriptor *descriptor;
    const MTLFunctionStitchingGraph *graph;
    const MTLFunctionStitchingNode **seen; // [n_seen], each once
    int *number;                           // of a seen node in `nodes`; -1: on the way
    size_t n_seen, seen_capacity, numbers_capacity;
    MslStitchNode *nodes;
    size_t n_nodes, nodes_capacity;
    MTLError *error;
    bool no_memory;
} Order;

static void order_free(Order *o) {
    for (size_t i = 0; i < o->n_nodes; i++) rt_free((void *)o->nodes[i].arguments);
    rt_free(o->nodes);
    rt_free(o->seen);
    rt_free(o->number);
}

static int fail(Order *o, const char *format, const char *what) {
    if (!o->error)
        o->error = rt_error_new(MTLLibraryErrorDomain, MTLLibraryErrorCompileFailure, format,
                                o->graph->function_name, what);
    if (!o->error) o->no_memory = true;
    return -1;
}

static int no_memory(Order *o) {
    o->no_memory = true;
    return -1;
}

// 1 + the place of a function in the descriptor; 0: it is not there.
static uint32_t find_function(const MTLStitchedLibraryDescriptor *d, const char *name) {
    for (size_t i = 0; i < d->function_count; i++)
        if (strcmp(mtl_function_name(d->functions[i]), name) == 0) return (uint32_t)i + 1;
    return 0;
}

static int visit(Order *o, const MTLFunctionStitchingNode *node, unsigned depth);

// Takes `arguments` over.
static int add_node(Order *o, size_t seen, MslStitchNode node) {
    if (o->n_nodes == MAX_NODES) {
        rt_free((void *)node.arguments);
        return fail(o, "The graph of '%s' has too many nodes%s.", "");
    }
    if (!rt_grow(&o->nodes, &o->nodes_capacity, o->n_nodes + 1, sizeof *o->nodes)) {
        rt_free((void *)node.arguments);
        return no_memory(o);
    }
    o->nodes[o->n_nodes] = node;
    return o->number[seen] = (int)o->n_nodes++;
}

static int visit_function(Order *o, const MTLFunctionStitchingNode *node, size_t seen,
                          unsigned depth) {
    uint32_t function = find_function(o->descriptor, node->name);
    if (!function)
        return fail(o, "The graph of '%s' calls '%s', which is not among the functions.",
                    node->name);
    for (size_t i = 0; i < node->control_dependency_count; i++) {
        const MTLFunctionStitchingNode *before =
            node->control_dependencies ? node->control_dependencies[i] : NULL;
        if (!before || !before->name)
            return fail(o, "The graph of '%s': a control dependency of '%s' is no function node.",
                        node->name);
        if (visit(o, before, depth + 1) < 0) return -1;
    }
    uint32_t *arguments = rt_alloc(node->argument_count * sizeof *arguments);
    if (!arguments) return no_memory(o);
    for (size_t i = 0; i < node->argument_count; i++) {
        const MTLFunctionStitchingNode *from = node->arguments ? node->arguments[i] : NULL;
        int number = from ? visit(o, from, depth + 1)
                          : fail(o, "The graph of '%s': an argument of '%s' is NULL.", node->name);
        if (number < 0) {
            rt_free(arguments);
            return -1;
        }
        arguments[i] = (uint32_t)number;
    }
    return add_node(o, seen,
                    (MslStitchNode){.function = function,
                                    .arguments = arguments,
                                    .n_arguments = node->argument_count});
}

// Everything a node needs, then the node. Its number, or -1.
static int visit(Order *o, const MTLFunctionStitchingNode *node, unsigned depth) {
    for (size_t i = 0; i < o->n_seen; i++) {
        if (o->seen[i] != node) continue;
        if (o->number[i] >= 0) return o->number[i];
        return fail(o, "The graph of '%s' has a cycle through '%s'.", node->name ? node->name : "");
    }
    if (depth > MAX_NODES) return fail(o, "The graph of '%s' is too deep%s.", "");
    size_t i = o->n_seen;
    if (!rt_grow(&o->seen, &o->seen_capacity, i + 1, sizeof *o->seen) ||
        !rt_grow(&o->number, &o->numbers_capacity, i + 1, sizeof *o->number))
        return no_memory(o);
    o->seen[i] = node, o->number[i] = -1;
    o->n_seen++;
    if (node->name) return visit_function(o, node, i, depth);
    if (node->argument_index >= MAX_NODES)
        return fail(o, "The graph of '%s' has an input with too high an index%s.", "");
    return add_node(o, i, (MslStitchNode){.argument = (uint32_t)node->argument_index});
}

static bool order_graph(Order *o, MslStitchGraph *out) {
    const MTLFunctionStitchingGraph *g = o->graph;
    for (size_t i = 0; i < g->node_count; i++) {
        const MTLFunctionStitchingNode *node = g->nodes ? g->nodes[i] : NULL;
        if (!node) return fail(o, "The graph of '%s' has a node that is NULL%s.", "") >= 0;
        if (visit(o, node, 0) < 0) return false;
    }
    int output = g->output_node ? visit(o, g->output_node, 0) : -1;
    if (g->output_node && output < 0) return false;
    if (g->output_node && !g->output_node->name)
        return fail(o, "The graph of '%s': the output node is an input%s.", "") >= 0;
    *out = (MslStitchGraph){g->function_name, o->nodes, o->n_nodes, (uint32_t)(output + 1)};
    return true;
}

// ---- The request ----

typedef struct Request { // outlives the descriptor it was made from
    MTLDevice *device;
    MslStitchRequest msl;
    Metallib **libraries;
    MslLinkedFunction *functions;
    MTLFunction **retained; // as many as msl.functions: libraries and constants are theirs
    MslStitchGraph *graphs; // names are the request's own
    Archive **archives;     // retained
    RtArchives search;
    Order *orders;
    MTLNewLibraryCompletionHandler handler; // in the background
    void *context;
} Request;

static void request_free(Request *q) {
    for (size_t i = 0; i < q->msl.n_functions; i++) {
        rt_free((void *)q->functions[i].constants);
        mtl_release(q->retained[i]);
    }
    for (size_t i = 0; i < q->msl.n_graphs; i++) {
        order_free(&q->orders[i]);
        rt_free((void *)q->graphs[i].name);
    }
    for (size_t i = 0; i < q->search.n; i++) archive_release(q->archives[i]);
    rt_free(q->archives);
    mtl_release(q->device);
    rt_free(q->retained);
    rt_free(q->libraries);
    rt_free(q->functions);
    rt_free(q->graphs);
    rt_free(q->orders);
}

static bool add_function(Request *q, MTLFunction *f) {
    Metallib *lib = f->library->lib;
    size_t n = 0;
    while (n < q->msl.n_parts && q->libraries[n] != lib) n++;
    if (n == q->msl.n_parts) q->libraries[q->msl.n_parts++] = lib;
    MslLinkedFunction *l = &q->functions[q->msl.n_functions];
    *l = (MslLinkedFunction){.library = (uint32_t)n + 1, .function = f->function->name};
    l->constants = rt_function_constants(f, &l->n_constants);
    if (!l->constants) return false;
    q->retained[q->msl.n_functions++] = mtl_retain(f);
    return true;
}

static bool add_archives(Request *q, const MTLStitchedLibraryDescriptor *d) {
    size_t n = d->binary_archives ? d->binary_archive_count : 0;
    q->archives = rt_alloc(n * sizeof *q->archives);
    for (size_t i = 0; q->archives && i < n; i++)
        if (rt_is(d->binary_archives[i], &rt_archive_class))
            q->archives[q->search.n++] = archive_retain(d->binary_archives[i]->content);
    q->search.archives = q->archives;
    q->search.only = d->options & MTLStitchedLibraryOptionFailOnBinaryArchiveMiss;
    return q->archives != NULL;
}

static bool request_make(Request *q, MTLDevice *device, const MTLStitchedLibraryDescriptor *d,
                         MTLError **error) {
    *q = (Request){.device = mtl_retain(device),
                   .libraries = rt_alloc(d->function_count * sizeof *q->libraries),
                   .functions = rt_alloc(d->function_count * sizeof *q->functions),
                   .retained = rt_alloc(d->function_count * sizeof *q->retained),
                   .graphs = rt_alloc(d->function_graph_count * sizeof *q->graphs),
                   .orders = rt_alloc(d->function_graph_count * sizeof *q->orders)};
    bool ok =
        q->libraries && q->functions && q->retained && q->graphs && q->orders && add_archives(q, d);
    for (size_t i = 0; ok && i < d->function_count; i++) ok = add_function(q, d->functions[i]);
    if (!ok) rt_error_set(error, NULL);
    for (size_t i = 0; ok && i < d->function_graph_count; i++) {
        q->orders[i] = (Order){.descriptor = d, .graph = &d->function_graphs[i]};
        q->msl.n_graphs = i + 1;
        ok = order_graph(&q->orders[i], &q->graphs[i]);
        q->graphs[i].name = ok ? rt_strdup(d->function_graphs[i].function_name) : NULL;
        if (ok && q->graphs[i].name) continue;
        rt_error_set(error, q->orders[i].no_memory ? NULL : q->orders[i].error);
        ok = false;
    }
    q->msl.functions = q->functions;
    q->msl.graphs = q->graphs;
    return ok;
}

static MTLError *wrong(const char *format, size_t i, const char *what) {
    return rt_error_new(MTLLibraryErrorDomain, MTLLibraryErrorCompileFailure, format, i, what);
}

static MTLError *check(const MTLStitchedLibraryDescriptor *d) {
    if (!d->function_graphs || !d->function_graph_count)
        return wrong("There are %zu graphs%s: at least one is needed.", 0, "");
    for (size_t i = 0; i < d->function_count; i++) {
        if (!d->functions || !rt_is(d->functions[i], &rt_function_class))
            return wrong("functions[%zu] is not a MTLFunction%s.", i, "");
        if (d->functions[i]->function->stage != RF_STITCHABLE)
            return wrong("functions[%zu], '%s', is not [[stitchable]].", i,
                         mtl_function_name(d->functions[i]));
        if (find_function(d, mtl_function_name(d->functions[i])) != i + 1)
            return wrong("functions[%zu]: there are two called '%s'.", i,
                         mtl_function_name(d->functions[i]));
    }
    for (size_t i = 0; i < d->function_graph_count; i++) {
        const char *name = d->function_graphs[i].function_name;
        if (!name || !*name) return wrong("function_graphs[%zu] has no function_name%s.", i, "");
        for (size_t k = 0; k < i; k++)
            if (strcmp(d->function_graphs[k].function_name, name) == 0)
                return wrong("function_graphs[%zu]: there is another called '%s'.", i, name);
        if (!d->function_graphs[i].output_node && !d->function_graphs[i].node_count)
            return wrong("function_graphs[%zu], '%s', has no nodes.", i, name);
    }
    return NULL;
}

static MTLLibrary *compile(const Request *q, MTLError **error) {
    RtCompileError answer = {0};
    Metallib *lib = rt_compile_stitched(&q->msl, q->libraries, &q->search, &answer);
    MTLLibrary *library = rt_library_compiled(q->device, lib, &answer, error);
    rt_compile_error_clear(&answer);
    return library;
}

MTLLibrary *mtl_device_new_library_with_stitched_descriptor(
    MTLDevice *device, const MTLStitchedLibraryDescriptor *descriptor, MTLError **error) {
    return rt_library_stitched(device, descriptor, NULL, error);
}

MTLLibrary *rt_library_stitched(MTLDevice *device, const MTLStitchedLibraryDescriptor *descriptor,
                                Archive *record, MTLError **error) {
    static const char call[] = "mtl_device_new_library_with_stitched_descriptor";
    if (!rt_given_or_error(device, descriptor, "descriptor", call, MTLLibraryErrorDomain,
                           MTLLibraryErrorInternal, error))
        return NULL;
    MTLError *problem = check(descriptor);
    if (problem) {
        rt_error_set(error, problem);
        return NULL;
    }
    Request q;
    MTLLibrary *library = NULL;
    if (request_make(&q, device, descriptor, error)) {
        q.search.record = record;
        library = compile(&q, error);
    }
    request_free(&q);
    return library;
}

// ---- In the background ----

static void run_async(void *context) {
    Request *q = context;
    MTLError *error = NULL;
    MTLLibrary *library = compile(q, &error);
    q->handler(library, error, q->context);
    mtl_release(library);
    mtl_release(error);
    request_free(q);
    rt_free(q);
}

void mtl_device_new_library_with_stitched_descriptor_async(
    MTLDevice *device, const MTLStitchedLibraryDescriptor *descriptor,
    MTLNewLibraryCompletionHandler handler, void *context) {
    if (!device || !descriptor || !handler) {
        rt_misuse(device, device ? RT_RULE_null_argument : RT_RULE_null_object, __func__, NULL);
        return;
    }
    Request *q = rt_alloc(sizeof *q);
    MTLError *error = check(descriptor);
    if (q && !error && request_make(q, device, descriptor, &error)) {
        q->handler = handler;
        q->context = context;
        if (rt_async(run_async, q)) return;
    }
    handler(NULL, error ? error : rt_error_no_memory(), context);
    mtl_release(error);
    if (q) request_free(q);
    rt_free(q);
}
