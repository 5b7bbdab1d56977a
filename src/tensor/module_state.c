// SPDX-License-Identifier: Apache-2.0
// module_state.c: modules and optimisers as dictionaries of named tensors, and in files. Loading
// looks at everything first and changes the tensors only when all of it fits.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "base/text.h"
#include "tensor/alias.h"
#include "tensor/elementwise.h"
#include "tensor/module.h"

// ---- Modules to dictionaries ----

typedef struct Save {
    IgDict *dict;
    MTLError **error;
} Save;

static bool save_one(void *context, const char *name, IgModulePart *part) {
    Save *s = context;
    ig_no_grad_begin();
    IgTensor *t = ig_clone(part->tensor, s->error);
    ig_no_grad_end();
    bool ok = t && ig_dict_set(s->dict, name, t, s->error);
    ig_drop(t);
    return ok;
}

IgDict *ig_module_state_dict(const IgModule *m, MTLError **error) {
    if (!m) return NULL;
    Save s = {ig_dict_new(), error};
    if (!s.dict) ig_fail_no_memory(error);
    if (s.dict && ig_module_walk(m, save_one, &s)) return s.dict;
    if (s.dict && error && !*error)
        ig_fail(error, IgErrorArgument, "module %s: more than %d modules inside each other",
                m->kind, IG_MODULE_DEPTH);
    ig_dict_release(s.dict);
    return NULL;
}

// ---- And back ----

typedef struct Load {
    const IgDict *dict;
    bool strict;
    IgTensor **values; // by number of the tensor; NULL: not in the dictionary
    int n, n_used;
    MTLError **error;
} Load;

// All of its data, in the type of the parameter.
static IgTensor *whole(IgTensor *from, IgType type, MTLError **error) {
    IgTensor *plain = ig_clone(from, error);
    IgTensor *t = plain ? ig_cast(plain, type, error) : NULL;
    if (t && !ig_whole(&t->view)) t = ig_elementwise(IG_OP_cast, &t, NULL, type, error);
    return t && ig_eval(t, error) ? t : NULL;
}

// Inside a scope without gradients.
static bool prepare(void *context, const char *name, IgModulePart *part) {
    Load *l = context;
    IgTensor *from = ig_dict_get(l->dict, name), *to = part->tensor;
    int at = l->n++;
    if (!from) {
        if (l->strict)
            return ig_fail(l->error, IgErrorArgument, "ig_module_load_state_dict: there is no '%s'",
                           name);
        return true;
    }
    l->n_used++;
    if (!ig_same_device("ig_module_load_state_dict", from, to, l->error)) return false;
    if (!ig_shape_equal(&from->view.shape, &to->view.shape))
        return ig_fail(l->error, IgErrorShape,
                       "ig_module_load_state_dict: '%s' has shape %s, the module expects %s", name,
                       ig_shape_text(ig_rank(from), ig_shape(from)),
                       ig_shape_text(ig_rank(to), ig_shape(to)));
    l->values[at] = whole(from, ig_type(to), l->error);
    return l->values[at] != NULL;
}

static bool put_in_dict(void *context, const char *name, IgModulePart *part) {
    (void)name;
    Load *l = context;
    IgTensor *v = l->values[l->n++];
    return !v || ig_give(part->tensor, v, l->error);
}

static bool count(void *context, const char *name, IgModulePart *part) {
    (void)name, (void)part;
    ++*(int *)context;
    return true;
}

// A name of the dictionary that the module has not.
static const char *surplus(const IgModule *m, const IgDict *dict) {
    for (int i = 0; i < ig_dict_count(dict); i++)
        if (!ig_module_tensor(m, ig_dict_name(dict, i))) return ig_dict_name(dict, i);
    return NULL;
}

bool ig_module_load_state_dict(IgModule *m, const IgDict *dict, bool strict, MTLError **error) {
    if (!m || !dict) return false;
    int n = 0;
    ig_module_walk(m, count, &n);
    Load l = {.dict = dict, .strict = strict, .error = error};
    l.values = calloc((size_t)n + 1, sizeof *l.values);
    IgScope *scope = l.values ? ig_scope_begin() : NULL;
    if (!scope) {
        free(l.values);
        return ig_fail_no_memory(error);
    }
    ig_no_grad_begin();
    bool ok = ig_module_walk(m, prepare, &l);
    if (ok && strict && l.n_used < ig_dict_count(dict))
        ok = ig_fail(error, IgErrorArgument, "ig_module_load_state_dict: the module has no '%s'",
                     surplus(m, dict));
    l.n = 0;
    if (ok) ig_module_walk(m, put_in_dict, &l);
    ig_no_grad_end();
    ig_scope_end(scope);
    free(l.values);
    return ok;
}

// ---- Optimisers ----
// Metadata: optimizer.kind, optimizer.steps, optimizer.group.<i>: the numbers of its options.

static const char *const kinds[] = {"SGD", "Adam", "AdamW", "RMSprop"};

static bool save_options(const IgOptimizer *o, IgDict *dict, MTLError **error) {
    char key[48], text[256];
    snprintf(text, sizeof text, "%lld", (long long)ig_optimizer_steps(o));
    bool ok = ig_dict_set_metadata(dict, "optimizer.kind", kinds[ig_optimizer_kind(o)], error) &&
              ig_dict_set_metadata(dict, "optimizer.steps", text, error);
    for (int i = 0; ok && i < ig_optimizer_group_count(o); i++) {
        IgOptimizerOptions v;
        ok = ig_optimizer_options(o, i, &v, error);
        snprintf(key, sizeof key, "optimizer.group.%d", i);
        snprintf(text, sizeof text, "%.17g %.17g %.17g %.17g %d %.17g %.17g %.17g %.17g", v.rate,
                 v.weight_decay, v.momentum, v.dampening, v.nesterov, v.beta1, v.beta2, v.alpha,
                 v.epsilon);
        ok = ok && ig_dict_set_metadata(dict, key, text, error);
    }
    return ok;
}

static bool save_state(const IgOptimizer *o, const char *prefix, IgDict *dict, MTLError **error) {
    bool ok = save_options(o, dict, error);
    for (int i = 0; ok && i < ig_optimizer_state_count(o); i++) {
        char name[32], full[64];
        IgTensor *t = ig_optimizer_state(o, i, error);
        ok = t && ig_optimizer_state_name(o, i, name);
        snprintf(full, sizeof full, "%s%s", prefix, ok ? name : "");
        ok = ok && ig_dict_set(dict, full, t, error);
        ig_drop(t);
    }
    return ok;
}

IgDict *ig_optimizer_state_dict(const IgOptimizer *o, MTLError **error) {
    if (!o) return NULL;
    IgDict *dict = ig_dict_new();
    if (!dict) ig_fail_no_memory(error);
    if (dict && save_state(o, "", dict, error)) return dict;
    ig_dict_release(dict);
    return NULL;
}

static bool read_options(const IgDict *dict, int group, IgOptimizerOptions *v, MTLError **error) {
    char key[48];
    int nesterov, n_read = 0;
    snprintf(key, sizeof key, "optimizer.group.%d", group);
    const char *text = ig_dict_metadata(dict, key);
    if (text &&
        sscanf(text, "%lf %lf %lf %lf %d %lf %lf %lf %lf%n", &v->rate, &v->weight_decay,
               &v->momentum, &v->dampening, &nesterov, &v->beta1, &v->beta2, &v->alpha, &v->epsilon,
               &n_read) == 9 &&
        !text[n_read]) {
        v->nesterov = nesterov != 0;
        return true;
    }
    return ig_fail(error, IgErrorArgument,
                   "ig_optimizer_load_state_dict: the dictionary has no options of group %d",
                   group);
}

// Everything but the tensors. The options are set here: undone by the caller's copies.
static bool check_head(const IgOptimizer *o, const IgDict *dict, int64_t *steps, MTLError **error) {
    const char *kind = ig_dict_metadata(dict, "optimizer.kind");
    const char *text = ig_dict_metadata(dict, "optimizer.steps");
    char *end = NULL, key[48];
    if (!kind || strcmp(kind, kinds[ig_optimizer_kind(o)]))
        return ig_fail(error, IgErrorArgument,
                       "ig_optimizer_load_state_dict: the state of %s for %s",
                       kind ? kind : "nothing", kinds[ig_optimizer_kind(o)]);
    *steps = text ? strtoll(text, &end, 10) : -1;
    if (*steps < 0 || end == text || *end)
        return ig_fail(error, IgErrorArgument, "ig_optimizer_load_state_dict: no number of steps");
    snprintf(key, sizeof key, "optimizer.group.%d", ig_optimizer_group_count(o));
    if (ig_dict_metadata(dict, key))
        return ig_fail(error, IgErrorArgument,
                       "ig_optimizer_load_state_dict: more groups than the %d there are",
                       ig_optimizer_group_count(o));
    return true;
}

static IgTensor *state_in(const IgOptimizer *o, const IgDict *dict, const char *prefix, int i,
                          MTLError **error) {
    char name[32] = "", full[64];
    ig_optimizer_state_name(o, i, name);
    snprintf(full, sizeof full, "%s%s", prefix, name);
    IgTensor *t = ig_dict_get(dict, full), *own = ig_optimizer_state(o, i, error);
    bool fits =
        t && own && ig_shape_equal(&t->view.shape, &own->view.shape) && ig_type(t) == IgFloat32;
    if (!t)
        ig_fail(error, IgErrorArgument, "ig_optimizer_load_state_dict: there is no '%s'", full);
    else if (own && !fits)
        ig_fail(error, IgErrorShape,
                "ig_optimizer_load_state_dict: '%s' is %s of shape %s, float32 of %s is wanted",
                full, ig_type_name(ig_type(t)), ig_shape_text(ig_rank(t), ig_shape(t)),
                ig_shape_text(ig_rank(own), ig_shape(own)));
    ig_drop(own);
    return fits ? t : NULL;
}

static bool load_state(IgOptimizer *o, const IgDict *dict, const char *prefix, MTLError **error) {
    int64_t steps = 0;
    int n_groups = ig_optimizer_group_count(o), n = ig_optimizer_state_count(o), set = 0;
    if (!check_head(o, dict, &steps, error)) return false;
    for (int i = 0; i < n; i++)
        if (!state_in(o, dict, prefix, i, error)) return false;
    IgOptimizerOptions *old = calloc((size_t)n_groups + 1, sizeof *old), next = {0};
    if (!old) return ig_fail_no_memory(error);
    bool ok = true;
    for (; ok && set < n_groups; set++)
        ok = ig_optimizer_options(o, set, &old[set], error) &&
             read_options(dict, set, &next, error) &&
             ig_optimizer_set_options(o, set, &next, error);
    for (int i = 0; ok && i < n; i++)
        ok = ig_optimizer_set_state(o, i, state_in(o, dict, prefix, i, error), error);
    for (int i = 0; !ok && i < set; i++) ig_optimizer_set_options(o, i, &old[i], NULL);
    if (ok) ig_optimizer_set_steps(o, steps);
    free(old);
    return ok;
}

bool ig_optimizer_load_state_dict(IgOptimizer *o, const IgDict *dict, MTLError **error) {
    return o && dict && load_state(o, dict, "", error);
}

// ---- Files ----

static const char prefix_of_optimizer[] = "optimizer.";

bool ig_module_save(const IgModule *m, const IgOptimizer *o, const char *path, MTLError **error) {
    IgDict *dict = ig_module_state_dict(m, error);
    bool ok = dict && (!o || save_state(o, prefix_of_optimizer, dict, error)) &&
              ig_save_safetensors(path, dict, error);
    ig_dict_release(dict);
    return ok;
}

// The entries that belong to the module.
static IgDict *without_optimizer(const IgDict *all, MTLError **error) {
    IgDict *dict = ig_dict_new();
    bool ok = dict || ig_fail_no_memory(error);
    for (int i = 0; ok && i < ig_dict_count(all); i++) {
        const char *name = ig_dict_name(all, i);
        if (strncmp(name, prefix_of_optimizer, sizeof prefix_of_optimizer - 1))
            ok = ig_dict_set(dict, name, ig_dict_tensor(all, i), error);
    }
    if (ok) return dict;
    ig_dict_release(dict);
    return NULL;
}

bool ig_module_load(IgModule *m, IgOptimizer *o, const char *path, MTLError **error) {
    IgTensor *any = m ? ig_module_parameter(m, 0) : NULL;
    if (!m) return false;
    IgDevice *device = any ? ig_device(any) : ig_device_default(error);
    IgDict *all = device ? ig_load_safetensors(device, path, error) : NULL;
    IgDict *own = all ? without_optimizer(all, error) : NULL;
    IgDict *before = own ? ig_module_state_dict(m, error) : NULL;
    bool ok = before && ig_module_load_state_dict(m, own, true, error);
    if (ok && o && !load_state(o, all, prefix_of_optimizer, error)) {
        ok = false;
        ig_module_load_state_dict(m, before, true, NULL); // as it was
    }
    ig_dict_release(before);
    ig_dict_release(own);
    ig_dict_release(all);
    return ok;
}
