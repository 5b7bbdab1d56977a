// SPDX-License-Identifier: Apache-2.0
// autograd.c: automatic differentiation: the gradient graph and backpropagation through it.
//
// Each result that has an input with a node gets a node (ig_node_new in the operation), which maps
// the gradient of the result to those of the inputs. A backward pass visits the nodes once, in
// reverse topological order, and uses ordinary operations: gradients are lazy, fused and, with
// create_graph, recorded themselves.
//
// One backward pass at a time: it holds the gradients lock, which guards what changes in nodes. It
// only records work, so no thread waits for kernels there.
#include <stdlib.h>
#include <string.h>
#include "tensor/alias.h"
#include "base/array.h"

static pthread_mutex_t gradients = PTHREAD_MUTEX_INITIALIZER;
static uint64_t n_passes;
static _Thread_local int off; // how many no_grad are open

void ig_no_grad_begin(void) { off++; }
void ig_no_grad_end(void) {
    if (off > 0) off--;
}
bool ig_grad_enabled(void) { return off == 0; }

bool ig_grad_enabled_for(int n, IgTensor *const *inputs) {
    for (int i = 0; off == 0 && i < n; i++)
        if (inputs[i] && inputs[i]->node) return true;
    return false;
}

// ---- Nodes ----

static IgGradNode *node_alloc(const char *name, IgDevice *device, int n_inputs, MTLError **error) {
    IgGradNode *node = calloc(1, sizeof *node + (size_t)n_inputs * sizeof *node->inputs);
    if (!node) {
        ig_fail_no_memory(error);
        return NULL;
    }
    atomic_init(&node->refs, 1);
    node->name = name;
    node->device = device;
    node->n_inputs = n_inputs;
    node->inputs = (IgGradNode **)(node + 1);
    return node;
}

IgGradNode *ig_node_retain(IgGradNode *node) {
    if (node) atomic_fetch_add_explicit(&node->refs, 1, memory_order_relaxed);
    return node;
}

IgGradNode *ig_node_new(const char *name, IgGradRule *rule, int n, IgTensor *const *inputs,
                        MTLError **error) {
    IgGradNode *node = node_alloc(name, ig_device(inputs[0]), n, error);
    if (!node) return NULL;
    node->rule = rule;
    for (int i = 0; i < n; i++) node->inputs[i] = ig_node_retain(inputs[i]->node);
    return node;
}

static void let_go(IgGradNode *node) {
    for (int i = 0; i <= IG_MAX_SAVED; i++) {
        ig_release(node->saved[i]);
        node->saved[i] = NULL;
    }
    for (int i = 0; i < node->n_inputs; i++) {
        ig_node_release(node->inputs[i]);
        node->inputs[i] = NULL;
    }
    if (node->drop)
        node->drop(node->extra);
    else
        free(node->extra);
    node->extra = NULL;
    node->drop = NULL;
}

// Graphs are as deep as loops are long: nodes that end while one is being freed wait in a list.
void ig_node_release(IgGradNode *node) {
    static _Thread_local IgGradNode *waiting;
    static _Thread_local bool busy;
    if (!node || atomic_fetch_sub_explicit(&node->refs, 1, memory_order_acq_rel) != 1) return;
    node->next = waiting;
    waiting = node;
    if (busy) return;
    busy = true;
    while ((node = waiting)) {
        waiting = node->next;
        let_go(node);
        ig_release(node->grad);
        free(node);
    }
    busy = false;
}

// A tensor that belongs to nobody's scope and keeps its value when the original is written.
static IgTensor *own_view(IgTensor *t, IgGradNode *node, MTLError **error) {
    return ig_keep(ig_snapshot(t, node, error));
}

static _Thread_local const IgData *changing; // by the operation in place that is under way

void ig_in_place_begin(const IgTensor *t) { changing = t ? t->view.data : NULL; }
void ig_in_place_end(void) { changing = NULL; }

bool ig_unchanged(const char *name, const IgTensor *saved, MTLError **error) {
    if (!saved || saved->unchecked || !saved->view.data->overtaken) return true;
    return ig_fail(error, IgErrorGradient,
                   "a tensor of shape %s that the gradient of %s needs has been changed in place "
                   "since (it was at version %llu): change a copy, or change it after backward",
                   ig_shape_text(ig_rank(saved), ig_shape(saved)), name,
                   (unsigned long long)saved->view.data->version);
}

static IgTensor *save(IgTensor *t, IgGradNode *node, MTLError **error) {
    IgTensor *own = own_view(t, node, error);
    if (!own) return NULL;
    IgDevice *device = ig_device(t);
    own->unchecked = own->view.data == changing;
    ig_lock(device);
    own->view.data->wanted = true;
    ig_unlock(device);
    return own;
}

bool ig_node_save(IgGradNode *node, int i, IgTensor *input, MTLError **error) {
    node->saved[i] = save(input, input->node, error);
    return node->saved[i] != NULL;
}

IgTensor *ig_node_attach(IgTensor *result, IgGradNode *node, bool save_result, MTLError **error) {
    if (result && node && save_result && !(node->saved[IG_MAX_SAVED] = save(result, NULL, error))) {
        ig_node_release(node);
        node = NULL;
    }
    if (!result || !node) {
        ig_node_release(node);
        ig_drop(result);
        return NULL;
    }
    node->shape = result->view.shape;
    node->type = ig_type(result);
    ig_node_release(result->node);
    result->node = node;
    return result;
}

IgTensor *ig_saved(IgGradNode *node, int i) { return node->saved[i]; }

IgTensor *ig_saved_result(IgGradNode *node, MTLError **error) {
    IgTensor *saved = node->saved[IG_MAX_SAVED];
    if (!ig_grad_enabled()) return saved;
    return ig_snapshot(saved, node, error);
}

bool ig_rule_same(IgGradNode *node, IgTensor *g, IgTensor **out, MTLError **error) {
    (void)node, (void)error;
    out[0] = g;
    return true;
}

bool ig_rule_reshape(IgGradNode *node, IgTensor *g, IgTensor **out, MTLError **error) {
    out[0] = ig_reshape(g, node->inputs[0]->shape.rank, node->inputs[0]->shape.n, error);
    return out[0] != NULL;
}

// ---- Leaves ----

bool ig_requires_grad(const IgTensor *t) { return t && t->node; }
bool ig_is_leaf(const IgTensor *t) { return t && !(t->node && t->node->rule); }

bool ig_set_requires_grad(IgTensor *t, bool requires_grad, MTLError **error) {
    if (!t) return false;
    if (!ig_is_leaf(t))
        return ig_fail(error, IgErrorGradient,
                       "ig_set_requires_grad: the tensor is a result of %s; ig_detach first",
                       t->node->name);
    if (!requires_grad) {
        ig_node_release(t->node);
        t->node = NULL;
        return true;
    }
    if (t->node) return true;
    if (!ig_is_float(ig_type(t)))
        return ig_fail(error, IgErrorType, "ig_set_requires_grad: %s has no gradients",
                       ig_type_name(ig_type(t)));
    IgGradNode *node = node_alloc("leaf", ig_device(t), 0, error);
    if (!node) return false;
    node->shape = t->view.shape;
    node->type = ig_type(t);
    t->node = node;
    return true;
}

bool ig_has_grad(const IgTensor *t) {
    if (!t || !t->node) return false;
    pthread_mutex_lock(&gradients);
    bool has = t->node->grad != NULL;
    pthread_mutex_unlock(&gradients);
    return has;
}

IgTensor *ig_grad(const IgTensor *t, MTLError **error) {
    if (!t) return NULL;
    pthread_mutex_lock(&gradients);
    IgTensor *g = t->node ? ig_retain(t->node->grad) : NULL;
    pthread_mutex_unlock(&gradients);
    if (!g) {
        ig_fail(error, IgErrorGradient,
                "ig_grad: no gradient available for a tensor of shape %s: %s",
                ig_shape_text(ig_rank(t), ig_shape(t)),
                !t->node        ? "it does not require one"
                : t->node->rule ? "only leaves keep theirs"
                                : "ig_backward has not reached it");
        return NULL;
    }
    IgTensor *result = ig_snapshot(g, g->node, error);
    if (result) {
        ig_alias_join(result, g);
        result->base = ig_retain(g->base ? g->base : g);
    }
    ig_release(g);
    return result;
}

bool ig_is_grad(const IgTensor *t, const IgTensor *g) {
    if (!t || !g || !t->node) return false;
    pthread_mutex_lock(&gradients);
    const IgTensor *own = t->node->grad;
    bool same = own && (g == own || g->base == own || (own->base && own->base == g));
    pthread_mutex_unlock(&gradients);
    return same;
}

static bool fits(const char *call, const IgGradNode *node, const IgTensor *g, MTLError **error) {
    if (!ig_shape_equal(&g->view.shape, &node->shape))
        return ig_fail(error, IgErrorShape, "%s: a gradient of shape %s for a tensor of shape %s",
                       call, ig_shape_text(ig_rank(g), ig_shape(g)),
                       ig_shape_text(node->shape.rank, node->shape.n));
    if (ig_type(g) != node->type)
        return ig_fail(error, IgErrorType, "%s: a gradient of %s for a tensor of %s", call,
                       ig_type_name(ig_type(g)), ig_type_name(node->type));
    if (ig_device(g) != node->device)
        return ig_fail(error, IgErrorDevice, "%s: the tensors are on different devices", call);
    return true;
}

bool ig_set_grad(IgTensor *t, IgTensor *g, MTLError **error) {
    if (!t) return false;
    if (!t->node || t->node->rule)
        return ig_fail(error, IgErrorGradient, "ig_set_grad: the tensor is no leaf");
    if (g && !fits("ig_set_grad", t->node, g, error)) return false;
    IgTensor *own = g ? ig_keep(ig_detach(g, error)) : NULL;
    if (g && !own) return false;
    if (own) own->base = ig_retain(g->base ? g->base : g);
    pthread_mutex_lock(&gradients);
    IgTensor *old = t->node->grad;
    t->node->grad = own;
    pthread_mutex_unlock(&gradients);
    ig_release(old);
    return true;
}

void ig_zero_grad(IgTensor *t) {
    if (ig_requires_grad(t) && ig_is_leaf(t)) ig_set_grad(t, NULL, NULL);
}

// ---- The backward pass ----

typedef struct Pass {
    const char *call;
    bool retain, create;
    uint64_t mark;
    IgGradNode **order; // every node after those it was made from
    size_t n, capacity;
} Pass;

static bool push(IgGradNode ***list, size_t *n, size_t *capacity, IgGradNode *node,
                 MTLError **error) {
    if (!array_reserve(list, capacity, *n + 1)) return ig_fail_no_memory(error);
    (*list)[(*n)++] = node;
    return true;
}

// Depth first without recursion: a node stays on the stack until its inputs are in order.
static bool put_in_order(Pass *p, IgGradNode *root, MTLError **error) {
    IgGradNode **stack = NULL;
    size_t n = 0, capacity = 0;
    bool ok = root->mark == p->mark || push(&stack, &n, &capacity, root, error);
    while (ok && n > 0) {
        IgGradNode *node = stack[n - 1];
        if (node->mark == p->mark) { // its inputs are done, or it came twice
            n--;
            if (node->next != node) continue;
            node->next = NULL;
            ok = push(&p->order, &p->n, &p->capacity, node, error);
            continue;
        }
        node->mark = p->mark;
        node->next = node; // to be put in order when it comes up again
        if (node->spent)
            ok = ig_fail(error, IgErrorGradient,
                         "%s: the graph is gone: an earlier backward has freed it (retain_graph "
                         "keeps it)",
                         p->call);
        for (int i = 0; ok && i < node->n_inputs; i++)
            if (node->inputs[i] && node->inputs[i]->mark != p->mark)
                ok = push(&stack, &n, &capacity, node->inputs[i], error);
    }
    if (!ok)
        for (size_t i = 0; i < n; i++) stack[i]->next = NULL;
    free(stack);
    return ok;
}

// Broadcasting undone or done: g has the node's shape and type afterwards.
static IgTensor *bring_to(IgTensor *g, const IgGradNode *node, MTLError **error) {
    const IgShape *to = &node->shape;
    int added = ig_rank(g) - to->rank, axes[IG_MAX_RANK], n = 0;
    for (int i = 0; i < ig_rank(g); i++) {
        int64_t have = ig_shape(g)[i], want = i < added ? 1 : to->n[i - added];
        if (i < added || (want == 1 && have != 1)) axes[n++] = i;
    }
    if (n) g = ig_sum_axes(g, n, axes, true, error);
    if (g && added > 0) g = ig_reshape(g, to->rank, g->view.shape.n + added, error);
    if (g && ig_type(g) != node->type) g = ig_cast(g, node->type, error);
    if (g && !ig_shape_equal(&g->view.shape, to)) g = ig_expand(g, to->rank, to->n, error);
    return g;
}

// Inside a scope.
static bool add_pending(IgGradNode *node, IgTensor *g, MTLError **error) {
    IgTensor *sum = node->pending ? ig_add(node->pending, g, error) : g;
    IgTensor *own = sum ? own_view(sum, sum->node, error) : NULL;
    if (!own) return false;
    ig_release(node->pending);
    node->pending = own;
    return true;
}

static bool run_node(IgGradNode *node, MTLError **error) {
    IgScope *scope = ig_scope_begin();
    IgTensor *few[4] = {NULL}, **out = few;
    bool ok = scope != NULL;
    if (node->n_inputs > 4) ok = (out = calloc((size_t)node->n_inputs, sizeof *out)) && ok;
    if (!ok) ig_fail_no_memory(error);
    for (int i = 0; ok && i <= IG_MAX_SAVED; i++)
        ok = ig_unchanged(node->name, node->saved[i], error);
    ok = ok && node->rule(node, node->pending, out, error);
    for (int i = 0; ok && i < node->n_inputs; i++) {
        if (!node->inputs[i] || !out[i]) continue;
        IgTensor *g = bring_to(out[i], node->inputs[i], error);
        ok = g && add_pending(node->inputs[i], g, error);
    }
    if (out != few) free(out);
    ig_scope_end(scope);
    return ok;
}

static bool start(Pass *p, IgTensor *output, IgTensor *seed, MTLError **error) {
    IgGradNode *node = output->node;
    IgScope *scope = ig_scope_begin();
    // The history of a seed goes into gradients only where they are to have one: a tensor as its
    // own seed would hold itself.
    IgTensor *g = seed && !p->create ? ig_detach(seed, error) : seed;
    if (!seed) g = ig_ones(node->device, node->type, node->shape.rank, node->shape.n, error);
    bool ok = scope && g && put_in_order(p, node, error) && add_pending(node, g, error);
    ig_scope_end(scope);
    return ok;
}

static bool may_start(const char *call, const IgTensor *output, const IgTensor *seed,
                      MTLError **error) {
    if (!output) return false;
    if (!output->node)
        return ig_fail(error, IgErrorGradient,
                       "%s: a tensor of shape %s does not require a gradient, nor does anything it "
                       "was made from",
                       call, ig_shape_text(ig_rank(output), ig_shape(output)));
    if (seed) return fits(call, output->node, seed, error);
    if (ig_numel(output) == 1) return true;
    return ig_fail(error, IgErrorGradient,
                   "%s: shape %s is not a scalar: give the gradient to start from", call,
                   ig_shape_text(ig_rank(output), ig_shape(output)));
}

// With gradients in `pending` of all nodes that were reached; p->order is to be freed.
static bool run_backward(Pass *p, int n, IgTensor *const *outputs, IgTensor *const *seeds,
                         MTLError **error) {
    p->mark = ++n_passes;
    bool ok = true;
    for (int i = 0; ok && i < n; i++) ok = start(p, outputs[i], seeds ? seeds[i] : NULL, error);
    for (size_t i = p->n; ok && i-- > 0;)
        if (p->order[i]->rule && p->order[i]->pending) ok = run_node(p->order[i], error);
    return ok;
}

static void finish(Pass *p, bool ok) {
    for (size_t i = 0; i < p->n; i++) {
        IgGradNode *node = p->order[i];
        ig_release(node->pending);
        node->pending = NULL;
    }
    // From the outputs on: a node may end with the last one made from it.
    for (size_t i = 0; ok && !p->retain && i < p->n; i++) ig_node_retain(p->order[i]);
    for (size_t i = p->n; ok && !p->retain && i-- > 0;) {
        IgGradNode *node = p->order[i];
        if (node->rule) {
            let_go(node);
            node->spent = true;
        }
        ig_node_release(node);
    }
    free(p->order);
}

// Sums first, so that a failure changes nothing.
static bool collect(Pass *p, MTLError **error) {
    IgScope *scope = ig_scope_begin();
    bool ok = scope != NULL;
    for (size_t i = 0; ok && i < p->n; i++) {
        IgGradNode *leaf = p->order[i];
        if (!leaf->rule && leaf->pending && leaf->grad) ok = add_pending(leaf, leaf->grad, error);
    }
    for (size_t i = 0; ok && i < p->n; i++) {
        IgGradNode *leaf = p->order[i];
        if (leaf->rule || !leaf->pending) continue;
        // Who has it sees it grow, unless it is part of a graph.
        if (leaf->grad && leaf->grad->aliased && !p->create) {
            ok = ig_give(leaf->grad, leaf->pending, error);
            continue;
        }
        ig_release(leaf->grad);
        leaf->grad = leaf->pending;
        leaf->pending = NULL;
        leaf->grad->quiet = true; // its data may be that of other gradients
        ig_loosen(leaf->grad);
    }
    ig_scope_end(scope);
    return ok;
}

static Pass pass_of(const char *call, const IgBackwardOptions *options) {
    return (Pass){.call = call,
                  .retain = options && (options->retain_graph || options->create_graph),
                  .create = options && options->create_graph};
}

bool ig_backward(IgTensor *tensor, IgTensor *seed, const IgBackwardOptions *options,
                 MTLError **error) {
    if (!may_start("ig_backward", tensor, seed, error)) return false;
    Pass p = pass_of("ig_backward", options);
    int was = off;
    off = p.create ? 0 : 1;
    pthread_mutex_lock(&gradients);
    bool ok = run_backward(&p, 1, &tensor, &seed, error) && collect(&p, error);
    finish(&p, ok);
    pthread_mutex_unlock(&gradients);
    off = was;
    return ok;
}

bool ig_grad_of(int n_outputs, IgTensor *const *outputs, IgTensor *const *seeds, int n_inputs,
                IgTensor *const *inputs, const IgBackwardOptions *options, IgTensor **grads,
                MTLError **error) {
    if (n_outputs < 1 || n_inputs < 1 || !outputs || !inputs || !grads)
        return ig_fail(error, IgErrorArgument, "ig_grad_of: no outputs, or no inputs");
    for (int i = 0; i < n_inputs; i++) {
        grads[i] = NULL;
        if (!inputs[i]) return false;
        if (!inputs[i]->node)
            return ig_fail(error, IgErrorGradient,
                           "ig_grad_of: input %d does not require a gradient", i);
    }
    for (int i = 0; i < n_outputs; i++)
        if (!may_start("ig_grad_of", outputs[i], seeds ? seeds[i] : NULL, error)) return false;
    Pass p = pass_of("ig_grad_of", options);
    int was = off;
    off = p.create ? 0 : 1;
    pthread_mutex_lock(&gradients);
    bool ok = run_backward(&p, n_outputs, outputs, seeds, error);
    for (int i = 0; ok && i < n_inputs; i++) {
        IgGradNode *node = inputs[i]->node;
        IgTensor *g = node->pending;
        grads[i] = g ? ig_snapshot(g, g->node, error)
                     : ig_zeros(node->device, node->type, node->shape.rank, node->shape.n, error);
        ok = grads[i] != NULL;
        if (ok && g) ig_loosen(grads[i]);
    }
    finish(&p, ok);
    pthread_mutex_unlock(&gradients);
    off = was;
    for (int i = 0; !ok && i < n_inputs; i++) {
        ig_drop(grads[i]);
        grads[i] = NULL;
    }
    return ok;
}
