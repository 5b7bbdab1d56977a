// SPDX-License-Identifier: Apache-2.0
// module.c: modules as objects: what belongs to one, the tree of modules, and its parameters by
// number and name. Layers are in layers.c, saving and loading in module_state.c.
#include "tensor/module.h"
#include "base/array.h"
#include <stdlib.h>
#include <string.h>

// ---- Lifetime ----

IgModule *ig_module_new(const char *kind, IgModuleForward *forward, void *context,
                        void (*release)(void *context), MTLError **error) {
    IgModule *m = forward ? calloc(1, sizeof *m) : NULL;
    if (!forward)
        ig_fail(error, IgErrorArgument, "ig_module_new: no function");
    else if (!m || !(m->kind = strdup(kind ? kind : "module")))
        ig_fail_no_memory(error);
    if (!m || !m->kind) {
        free(m);
        if (release) release(context);
        return NULL;
    }
    atomic_init(&m->refs, 1);
    atomic_init(&m->training, true);
    m->forward = forward;
    m->context = context;
    m->release = release;
    return m;
}

IgModule *ig_module_retain(IgModule *m) {
    if (m) atomic_fetch_add_explicit(&m->refs, 1, memory_order_relaxed);
    return m;
}

void ig_module_release(IgModule *m) {
    if (!m || atomic_fetch_sub_explicit(&m->refs, 1, memory_order_acq_rel) != 1) return;
    for (int i = 0; i < m->n_parts; i++) {
        ig_release(m->parts[i].tensor);
        ig_module_release(m->parts[i].module);
        free(m->parts[i].name);
    }
    free(m->parts);
    if (m->release) m->release(m->context);
    free(m->kind);
    free(m);
}

const char *ig_module_kind(const IgModule *m) { return m ? m->kind : ""; }

// ---- What belongs to it ----

static bool good_name(const IgModule *m, const char *name, MTLError **error) {
    if (!name || !*name || strchr(name, '.') || strlen(name) > IG_MODULE_NAME)
        return ig_fail(error, IgErrorArgument,
                       "module %s: '%s' is no name: empty, too long, or "
                       "with a dot",
                       m->kind, name ? name : "");
    for (int i = 0; i < m->n_parts; i++)
        if (!strcmp(m->parts[i].name, name))
            return ig_fail(error, IgErrorArgument, "module %s has a '%s' already", m->kind, name);
    return true;
}

// Takes the references of what it is given over only if it succeeds.
static bool add_part(IgModule *m, IgModulePart part, const char *name, MTLError **error) {
    if (!good_name(m, name, error)) return false;
    part.name = array_more(&m->parts, (size_t)m->n_parts) ? strdup(name) : NULL;
    if (!part.name) return ig_fail_no_memory(error);
    m->parts[m->n_parts++] = part;
    return true;
}

static bool add_tensor(IgModule *m, IgPart part, const char *name, IgTensor *t, MTLError **error) {
    if (!m || !t) return false;
    if (!ig_is_leaf(t))
        return ig_fail(error, IgErrorGradient, "module %s: '%s' is a result; ig_detach first",
                       m->kind, name ? name : "");
    if (part == IG_PARAMETER && !ig_set_requires_grad(t, true, error)) return false;
    if (!add_part(m, (IgModulePart){.part = part, .tensor = t}, name, error)) return false;
    ig_retain(t);
    return true;
}

bool ig_module_add_parameter(IgModule *m, const char *name, IgTensor *t, MTLError **error) {
    return add_tensor(m, IG_PARAMETER, name, t, error);
}

bool ig_module_add_buffer(IgModule *m, const char *name, IgTensor *t, MTLError **error) {
    return add_tensor(m, IG_BUFFER, name, t, error);
}

static bool contains(const IgModule *m, const IgModule *what) {
    if (m == what) return true;
    for (int i = 0; i < m->n_parts; i++)
        if (m->parts[i].module && contains(m->parts[i].module, what)) return true;
    return false;
}

static int depth(const IgModule *m) {
    int most = 0;
    for (int i = 0; i < m->n_parts; i++) {
        int d = m->parts[i].module ? depth(m->parts[i].module) : 0;
        if (d > most) most = d;
    }
    return most + 1;
}

bool ig_module_add_module(IgModule *m, const char *name, IgModule *inner, MTLError **error) {
    if (!inner || !m) {
        ig_module_release(inner);
        return false;
    }
    bool ok = (!contains(inner, m) && !contains(m, inner)) ||
              ig_fail(error, IgErrorArgument, "module %s: '%s' would be in it twice, or hold it",
                      m->kind, name ? name : "");
    if (ok && depth(inner) >= IG_MODULE_DEPTH)
        ok = ig_fail(error, IgErrorArgument, "module %s: more than %d modules inside each other",
                     m->kind, IG_MODULE_DEPTH);
    ok = ok && add_part(m, (IgModulePart){.part = IG_CHILD, .module = inner}, name, error);
    if (!ok) ig_module_release(inner);
    return ok;
}

static const IgModulePart *child(const IgModule *m, int i) {
    for (int k = 0; m && i >= 0 && k < m->n_parts; k++)
        if (m->parts[k].part == IG_CHILD && i-- == 0) return &m->parts[k];
    return NULL;
}

int ig_module_child_count(const IgModule *m) {
    int n = 0;
    for (int i = 0; m && i < m->n_parts; i++) n += m->parts[i].part == IG_CHILD;
    return n;
}

IgModule *ig_module_child(const IgModule *m, int i) {
    const IgModulePart *part = child(m, i);
    return part ? part->module : NULL;
}

const char *ig_module_child_name(const IgModule *m, int i) {
    const IgModulePart *part = child(m, i);
    return part ? part->name : NULL;
}

IgTensor *ig_module_own(const IgModule *m, const char *name) {
    for (int i = 0; m && i < m->n_parts; i++)
        if (m->parts[i].tensor && !strcmp(m->parts[i].name, name)) return m->parts[i].tensor;
    return NULL;
}

// ---- The tree ----

// Names stand in a buffer that holds the longest there can be: walking needs no memory.
static bool walk(const IgModule *m, char *name, size_t start, IgModuleVisit *visit, void *context,
                 int level) {
    bool ok = level <= IG_MODULE_DEPTH;
    for (int pass = 0; pass < 2; pass++) // its own first, as PyTorch does
        for (int i = 0; ok && i < m->n_parts; i++) {
            IgModulePart *part = &m->parts[i];
            if ((part->part == IG_CHILD) != (pass == 1)) continue;
            size_t n = strlen(part->name);
            memcpy(name + start, part->name, n + 1);
            if (pass) memcpy(name + start + n, ".", 2);
            ok = pass ? walk(part->module, name, start + n + 1, visit, context, level + 1)
                      : visit(context, name, part);
        }
    return ok;
}

bool ig_module_walk(const IgModule *m, IgModuleVisit *visit, void *context) {
    char name[IG_MODULE_DEPTH * (IG_MODULE_NAME + 1) + 1];
    return m && walk(m, name, 0, visit, context, 1);
}

typedef struct Search {
    int left; // parameters to pass by; -1: by name
    const char *name;
    IgTensor *found;
    char *copy;
    size_t n_copy, n_name;
} Search;

static bool count_one(void *context, const char *name, IgModulePart *part) {
    (void)name;
    *(int *)context += part->part == IG_PARAMETER;
    return true;
}

int ig_module_parameter_count(const IgModule *m) {
    int n = 0;
    ig_module_walk(m, count_one, &n);
    return n;
}

static bool find_part(void *context, const char *name, IgModulePart *part) {
    Search *s = context;
    if (s->name ? strcmp(s->name, name) != 0 : part->part != IG_PARAMETER || s->left-- > 0)
        return true;
    s->found = part->tensor;
    s->n_name = strlen(name);
    if (s->copy && s->n_copy) {
        size_t n = s->n_name < s->n_copy - 1 ? s->n_name : s->n_copy - 1;
        memcpy(s->copy, name, n);
        s->copy[n] = 0;
    }
    return false;
}

IgTensor *ig_module_parameter(const IgModule *m, int i) {
    Search s = {.left = i};
    if (i >= 0) ig_module_walk(m, find_part, &s);
    return s.found;
}

size_t ig_module_parameter_name(const IgModule *m, int i, char *name, size_t n_bytes) {
    Search s = {.left = i, .copy = name, .n_copy = n_bytes};
    if (name && n_bytes) *name = 0;
    if (i >= 0) ig_module_walk(m, find_part, &s);
    return s.n_name;
}

IgTensor *ig_module_tensor(const IgModule *m, const char *name) {
    Search s = {.name = name};
    if (name) ig_module_walk(m, find_part, &s);
    return s.found;
}

// ---- What it does ----

IgTensor *ig_module_forward(IgModule *m, IgTensor *x, MTLError **error) {
    if (!m || !x) return NULL;
    IgScope *scope = ig_scope_begin();
    if (!scope) {
        ig_fail_no_memory(error);
        return NULL;
    }
    IgTensor *y = m->forward(m->context, m, x, error);
    // What was not made here (x itself, a parameter) has an owner: a view of it has none.
    if (y && y->scope != scope) y = ig_cast(y, ig_type(y), error);
    return ig_scope_return(scope, y);
}

void ig_module_set_training(IgModule *m, bool training) {
    if (!m) return;
    atomic_store(&m->training, training);
    for (int i = 0; i < m->n_parts; i++) ig_module_set_training(m->parts[i].module, training);
}

bool ig_module_training(const IgModule *m) { return m && atomic_load(&m->training); }

static bool drop_grad(void *context, const char *name, IgModulePart *part) {
    (void)context, (void)name;
    if (part->part == IG_PARAMETER) ig_zero_grad(part->tensor);
    return true;
}

void ig_module_zero_grad(IgModule *m) { ig_module_walk(m, drop_grad, NULL); }

typedef struct Require {
    bool value;
    MTLError **error;
} Require;

static bool require(void *context, const char *name, IgModulePart *part) {
    (void)name;
    Require *r = context;
    return part->part != IG_PARAMETER || ig_set_requires_grad(part->tensor, r->value, r->error);
}

bool ig_module_set_requires_grad(IgModule *m, bool requires_grad, MTLError **error) {
    return ig_module_walk(m, require, &(Require){requires_grad, error});
}

typedef struct List {
    IgTensor **tensors;
    int n;
} List;

static bool collect(void *context, const char *name, IgModulePart *part) {
    (void)name;
    List *list = context;
    if (part->part == IG_PARAMETER && ig_requires_grad(part->tensor))
        list->tensors[list->n++] = part->tensor;
    return true;
}

IgOptimizer *ig_module_optimizer(const IgModule *m, IgOptimizerKind kind,
                                 const IgOptimizerOptions *options, MTLError **error) {
    if (!m) return NULL;
    List list = {calloc((size_t)ig_module_parameter_count(m) + 1, sizeof *list.tensors), 0};
    if (!list.tensors) {
        ig_fail_no_memory(error);
        return NULL;
    }
    IgOptimizer *o = NULL;
    if (ig_module_walk(m, collect, &list))
        o = ig_optimizer_new(kind, list.n, list.tensors, options, error);
    else
        ig_fail(error, IgErrorArgument, "module %s: more than %d modules inside each other",
                m->kind, IG_MODULE_DEPTH);
    free(list.tensors);
    return o;
}
