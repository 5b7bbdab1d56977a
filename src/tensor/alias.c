// SPDX-License-Identifier: Apache-2.0
// alias.c: tensors that share memory, and in-place operations on them.
//
// Data is immutable once computed. Tensors that alias one memory, as their user sees it (a tensor,
// its views, the result of ig_detach), form a ring and all have the same data. An in-place
// operation makes new data, a copy with some elements replaced (copy-on-write, region.c), and gives
// it to the whole ring: so every alias sees the change, while expressions recorded before keep what
// they read. The version of a memory is its data: a tensor saved for a gradient is stale if its
// data is no longer that of its ring.
//
// Views remember the tensor that they are of, `base`, and are its family: when one of them is
// changed while gradients are on, the history of all of them goes through the changed memory.
#include "tensor/alias.h"
#include <stdlib.h>
#include <string.h>
#include "tensor/elementwise.h"
#include "tensor/region.h"

// Guards before, after and aliased of all tensors. Taken last.
static pthread_mutex_t rings = PTHREAD_MUTEX_INITIALIZER;

// ---- Rings ----

void ig_alias_join(IgTensor *t, IgTensor *of) {
    pthread_mutex_lock(&rings);
    if (!of->aliased) of->before = of->after = of;
    t->before = of;
    t->after = of->after;
    of->after->before = t;
    of->after = t;
    t->aliased = of->aliased = true;
    pthread_mutex_unlock(&rings);
    t->quiet = of->quiet;
}

void ig_alias_leave(IgTensor *t) {
    if (!t->aliased) return;
    pthread_mutex_lock(&rings);
    t->before->after = t->after;
    t->after->before = t->before;
    t->before = t->after = NULL;
    t->aliased = false;
    pthread_mutex_unlock(&rings);
}

unsigned ig_alias_count(const IgTensor *t) {
    unsigned n = 1;
    if (!t->aliased) return n;
    pthread_mutex_lock(&rings);
    for (const IgTensor *k = t->after; k != t; k = k->after) n++;
    pthread_mutex_unlock(&rings);
    return n;
}

static bool same_layout(const IgTensor *a, const IgTensor *b) {
    if (!ig_shape_equal(&a->view.shape, &b->view.shape)) return false;
    if (a->loose || b->loose) return a->loose && b->loose;
    return a->view.offset == b->view.offset &&
           !memcmp(a->view.strides, b->view.strides,
                   (size_t)a->view.shape.rank * sizeof *a->view.strides);
}

// Whether nobody in the ring shows more or less than t, nor in another order.
static bool shown_alike(const IgTensor *t) {
    bool alike = true;
    if (!t->aliased) return true;
    pthread_mutex_lock(&rings);
    for (const IgTensor *k = t->after; alike && k != t; k = k->after) alike = same_layout(t, k);
    pthread_mutex_unlock(&rings);
    return alike;
}

IgData *ig_tensor_swap(IgTensor *t, IgData *data, const IgTensor *as) {
    IgData *old = t->view.data;
    IgTensor *k = t;
    unsigned n = 0;
    pthread_mutex_lock(&rings);
    do {
        k->view.data = data;
        if (as) {
            memcpy(k->view.strides, as->view.strides, sizeof k->view.strides);
            k->view.offset = as->view.offset;
            k->loose = as->loose;
        }
        n++;
        k = k->aliased ? k->after : t;
    } while (k != t);
    pthread_mutex_unlock(&rings);
    // One reference was handed over and one goes back to the caller.
    atomic_fetch_add_explicit(&data->refs, n - 1, memory_order_relaxed);
    atomic_fetch_sub_explicit(&old->refs, n - 1, memory_order_acq_rel);
    if (!t->quiet) old->overtaken = true;
    data->version = old->version + !t->quiet;
    return old;
}

// ---- Layouts ----

bool ig_settle(IgTensor *t, MTLError **error) {
    if (!t->loose) return true;
    ig_no_grad_begin();
    IgTensor *packed = ig_elementwise(IG_OP_cast, &t, NULL, ig_type(t), error);
    ig_no_grad_end();
    if (!packed) return false;
    IgDevice *device = ig_device(t);
    bool quiet = t->quiet;
    t->quiet = true; // nothing changes
    ig_lock(device);
    IgData *old = ig_tensor_swap(t, ig_data_retain(packed->view.data), packed);
    ig_unlock(device);
    t->quiet = quiet;
    ig_data_release(old);
    ig_drop(packed);
    return true;
}

void ig_loosen(IgTensor *t) {
    const IgView *v = &t->view;
    bool loose = ig_shape_numel(&v->shape) != v->data->n;
    for (int i = 0; i < v->shape.rank; i++)
        loose = loose || (v->shape.n[i] > 1 && v->strides[i] == 0);
    t->loose = loose;
}

static bool is_expanded(const IgTensor *t) {
    for (int i = 0; i < t->view.shape.rank; i++)
        if (t->view.shape.n[i] > 1 && t->view.strides[i] == 0) return true;
    return false;
}

// ---- History ----

static IgTensor *root_of(IgTensor *t) { return t->base ? t->base : t; }

// Nothing that was there before is left.
static bool rule_replaced(IgGradNode *node, IgTensor *g, IgTensor **out, MTLError **error) {
    (void)g;
    const IgGradNode *old = node->inputs[0];
    out[0] = ig_zeros(old->device, old->type, old->shape.rank, old->shape.n, error);
    return out[0] != NULL;
}

// A tensor and its views, each retained.
typedef struct Family {
    IgTensor **members;
    size_t n;
} Family;

static void family_drop(Family *f) {
    for (size_t i = 0; i < f->n; i++) ig_release(f->members[i]);
    free(f->members);
}

static bool family_of(IgTensor *t, Family *f, MTLError **error) {
    IgTensor *root = root_of(t);
    size_t most = ig_alias_count(t);
    f->n = 0;
    if (!(f->members = calloc(most, sizeof *f->members))) return ig_fail_no_memory(error);
    pthread_mutex_lock(&rings);
    IgTensor *k = t;
    do {
        // One that is being released has no references left, and waits for the lock.
        unsigned refs = atomic_load_explicit(&k->refs, memory_order_relaxed);
        bool mine = f->n < most && (k == root || k->base == root);
        while (mine && refs && !atomic_compare_exchange_weak(&k->refs, &refs, refs + 1)) continue;
        if (mine && refs) f->members[f->n++] = k;
        k = k->aliased ? k->after : t;
    } while (k != t);
    pthread_mutex_unlock(&rings);
    return true;
}

static void set_node(IgTensor *t, IgTensor *from) {
    IgGradNode *old = t->node;
    t->node = from ? ig_node_retain(from->node) : NULL;
    ig_node_release(old);
}

// All elements of the memory that t shows, in a line, with the history of its family.
static IgTensor *in_line(IgTensor *t, bool history, MTLError **error) {
    IgTensor *root = root_of(t);
    const int64_t n = t->view.data->n;
    const IgShape line = {.rank = 1, .n = {n}};
    if (history && root->node && ig_whole(&root->view))
        return ig_reshape(ig_snapshot(root, root->node, error), 1, &n, error);
    IgTensor *flat = ig_tensor_new(t->view.data, &line, NULL, 0, error);
    if (!flat || !history || !root->node) return flat;
    return ig_region_write(flat, &root->view, ig_snapshot(root, root->node, error), error);
}

// ---- Changes ----

static bool may_change(IgTensor *t, MTLError **error) {
    static const char how[] = "is changed in place; do it within no_grad, or on a copy";
    const IgTensor *root = root_of(t);
    if (!ig_grad_enabled()) return true;
    if (t->node && !t->node->rule)
        return ig_fail(error, IgErrorGradient, "a leaf that requires a gradient %s", how);
    if (root->node && !root->node->rule)
        return ig_fail(error, IgErrorGradient, "a view of a leaf that requires a gradient %s", how);
    if (t->base && t->untracked && root->node)
        return ig_fail(error, IgErrorGradient,
                       "a view that was made within no_grad, of a tensor that requires a gradient, "
                       "%s",
                       how);
    return true;
}

// The whole ring shows all of `value`.
static bool replace(IgTensor *t, IgTensor *value, bool history, MTLError **error) {
    IgDevice *device = ig_device(t);
    IgTensor *root = root_of(t);
    Family family = {NULL, 0};
    if (!value->loose && !ig_whole(&value->view))
        value = ig_elementwise(IG_OP_cast, &value, NULL, ig_type(value), error);
    if (value && history && !value->node)
        value = ig_node_attach(ig_snapshot(value, NULL, error),
                               ig_node_new("ig_in_place", rule_replaced, 1, &root, error), false,
                               error);
    if (!value || (history && !family_of(t, &family, error))) return false;
    ig_lock(device);
    IgData *old = ig_tensor_swap(t, ig_data_retain(value->view.data), value);
    ig_unlock(device);
    for (size_t i = 0; i < family.n; i++) set_node(family.members[i], value);
    family_drop(&family);
    ig_data_release(old);
    return true;
}

// The elements of the memory that t shows become others; everybody keeps his view of it.
static bool write(IgTensor *t, IgTensor *value, bool history, MTLError **error) {
    if (is_expanded(t))
        return ig_fail(error, IgErrorArgument,
                       "several elements of a tensor of shape %s are one in memory, and cannot be "
                       "changed in place: clone it first",
                       ig_shape_text(ig_rank(t), ig_shape(t)));
    IgDevice *device = ig_device(t);
    IgTensor *flat = in_line(t, history, error), *views[1] = {NULL};
    IgTensor *next = ig_region_write(flat, &t->view, value, error);
    Family family = {NULL, 0};
    if (!next || (history && !family_of(t, &family, error))) return false;
    IgTensor **made = family.n ? calloc(family.n, sizeof *made) : views;
    bool ok = made || ig_fail_no_memory(error);
    for (size_t i = 0; ok && i < family.n; i++)
        ok = (made[i] = ig_region_view(next, &family.members[i]->view, error)) != NULL;
    // Nobody else may know the old data when the new one is made: it can take its memory then.
    if (ok) {
        ig_lock(device);
        IgData *old = ig_tensor_swap(t, ig_data_retain(next->view.data), NULL);
        ig_unlock(device);
        ig_data_release(old);
    }
    for (size_t i = 0; ok && i < family.n; i++) set_node(family.members[i], made[i]);
    if (made != views) free(made);
    family_drop(&family);
    return ok;
}

static bool change(const char *call, IgTensor *t, IgTensor *value, bool history, MTLError **error) {
    if (!ig_same_device(call, t, value, error)) return false;
    if (!ig_shape_equal(&t->view.shape, &value->view.shape))
        return ig_fail(error, IgErrorShape, "%s: values of shape %s for shape %s", call,
                       ig_shape_text(ig_rank(value), ig_shape(value)),
                       ig_shape_text(ig_rank(t), ig_shape(t)));
    if (t == value || (value->view.data == t->view.data && same_layout(t, value))) return true;
    IgScope *scope = ig_scope_begin();
    if (!scope) return ig_fail_no_memory(error);
    const bool silent = !history;
    if (silent) ig_no_grad_begin();
    if (ig_type(value) != ig_type(t)) value = ig_cast(value, ig_type(t), error);
    history = history && value && ig_is_float(ig_type(t)) && ig_grad_enabled() &&
              (value->node || root_of(t)->node);
    bool ok = value && (shown_alike(t) ? replace(t, value, history, error)
                                       : write(t, value, history, error));
    if (silent) ig_no_grad_end();
    ig_scope_end(scope);
    return ok;
}

bool ig_give(IgTensor *t, IgTensor *value, MTLError **error) {
    return t && value && change("ig_assign", t, value, false, error);
}

bool ig_assign(IgTensor *t, IgTensor *value, MTLError **error) {
    if (!t || !value || !ig_same_device("ig_assign", t, value, error)) return false;
    if (ig_type(value) != ig_type(t)) return ig_give(t, value, error);
    IgTensor *own = ig_clone(value, error);
    bool ok = ig_give(t, own, error);
    ig_drop(own);
    return ok;
}

bool ig_in_place(IgTensor *t, IgTensor *result, MTLError **error) {
    if (!t || !result || !ig_alive("ig_in_place", t, error) || !may_change(t, error)) return false;
    if (ig_is_float(ig_type(result)) && !ig_is_float(ig_type(t)))
        return ig_fail(error, IgErrorType, "a result of %s for a tensor of %s",
                       ig_type_name(ig_type(result)), ig_type_name(ig_type(t)));
    return change("ig_in_place", t, result, true, error);
}

// ---- Copies and other names ----

IgTensor *ig_snapshot(const IgTensor *t, IgGradNode *node, MTLError **error) {
    IgTensor *own =
        ig_tensor_new(t->view.data, &t->view.shape, t->view.strides, t->view.offset, error);
    if (!own) return NULL;
    own->loose = t->loose;
    own->node = ig_node_retain(node);
    return own;
}

// Memory that is there serves both, for as long as nobody writes there himself.
static IgData *share_memory(IgData *data) {
    IgData *copy = NULL;
    ig_lock(data->device);
    IgBuffer *b = data->memory;
    if (b && !b->foreign && !b->lent && (copy = ig_data_new(data->device, data->type, data->n))) {
        copy->memory = b;
        copy->written = data->written;
        copy->below = data->below;
        b->n_shares++;
    }
    ig_unlock(data->device);
    return copy;
}

IgTensor *ig_clone(IgTensor *t, MTLError **error) {
    if (!t || !ig_alive("ig_clone", t, error)) return NULL;
    IgData *data = ig_whole(&t->view) || t->loose ? share_memory(t->view.data) : NULL;
    if (!data) return ig_elementwise(IG_OP_cast, &t, NULL, ig_type(t), error);
    IgTensor *copy = ig_tensor_new(data, &t->view.shape, t->view.strides, t->view.offset, error);
    ig_data_release(data);
    if (copy) copy->loose = t->loose;
    if (!copy || !ig_grad_enabled_for(1, &t)) return copy;
    return ig_node_attach(copy, ig_node_new("ig_clone", ig_rule_same, 1, &t, error), false, error);
}

IgTensor *ig_detach(IgTensor *t, MTLError **error) {
    if (!t) return NULL;
    IgTensor *same =
        ig_tensor_new(t->view.data, &t->view.shape, t->view.strides, t->view.offset, error);
    if (!same) return NULL;
    same->loose = t->loose;
    ig_alias_join(same, t);
    return same;
}

IgTensor *ig_detach_quietly(IgTensor *t, MTLError **error) {
    IgTensor *same = ig_detach(t, error);
    if (same) same->quiet = true;
    return same;
}

bool ig_share(IgTensor *t, IgTensor *with, MTLError **error) {
    if (!t || !with || !ig_alive("ig_share", t, error) || !ig_alive("ig_share", with, error))
        return false;
    if (!ig_is_leaf(t))
        return ig_fail(error, IgErrorGradient, "ig_share: the tensor is a result of %s",
                       t->node->name);
    if (t->node && !ig_is_float(ig_type(with)))
        return ig_fail(error, IgErrorType, "ig_share: %s has no gradients",
                       ig_type_name(ig_type(with)));
    if (t == with) return true;
    IgDevice *device = ig_device(with);
    IgTensor *base = t->base;
    IgData *old = t->view.data;
    ig_alias_leave(t);
    ig_lock(device);
    t->view = with->view;
    ig_data_retain(t->view.data);
    ig_unlock(device);
    t->loose = with->loose;
    t->base = NULL;
    ig_alias_join(t, with);
    if (t->node) {
        t->node->shape = t->view.shape;
        t->node->type = ig_type(t);
        t->node->device = device;
    }
    ig_release(base);
    ig_data_release(old);
    return true;
}

bool ig_shares_memory(const IgTensor *a, const IgTensor *b) {
    return a && b && a->view.data && a->view.data == b->view.data;
}

uint64_t ig_version(const IgTensor *t) { return t && t->view.data ? t->view.data->version : 0; }
