// SPDX-License-Identifier: Apache-2.0
// tensor.c: tensors as objects: lifetime, scopes, what they are, and the way of their values from
// and to the host.
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include "tensor/alias.h"
#include "base/array.h"
#include "tensor/fuse.h"
#include "tensor/free_list.h"
#include "tensor/tensor_int.h"

// ---- Scopes: a stack per thread ----

struct IgScope {
    IgScope *outer;
    IgTensor **tensors;
    size_t n, capacity;
};
// The first ones of a thread need no memory: functions that open a scope on their way do not fail.
enum { SPARE_SCOPES = 32 };
static _Thread_local IgScope spare[SPARE_SCOPES];
static _Thread_local int n_open;
static _Thread_local IgScope *innermost;

IgScope *ig_scope_begin(void) {
    IgScope *scope = n_open < SPARE_SCOPES ? &spare[n_open] : calloc(1, sizeof *scope);
    if (!scope) return NULL;
    *scope = (IgScope){.outer = innermost};
    n_open++;
    return innermost = scope;
}

void ig_scope_end(IgScope *scope) {
    if (!scope || scope != innermost) return; // ends in the wrong order: nothing is freed twice
    IgTensor **tensors = scope->tensors;
    innermost = scope->outer;
    n_open--;
    for (size_t i = scope->n; i-- > 0;) {
        if (!tensors[i]) continue;
        tensors[i]->scope = NULL;
        ig_release(tensors[i]);
    }
    free(tensors);
    if (n_open >= SPARE_SCOPES) free(scope);
}

// n_open stays: scopes that are begun meanwhile lie behind those that were left.
IgScope *ig_scope_leave(void) {
    IgScope *scope = innermost;
    innermost = NULL;
    return scope;
}

void ig_scope_enter(IgScope *left) { innermost = left; }

static bool enter_scope(IgTensor *tensor) {
    IgScope *scope = innermost;
    if (!scope) return true;
    if (!array_reserve(&scope->tensors, &scope->capacity, scope->n + 1)) return false;
    scope->tensors[scope->n++] = tensor;
    tensor->scope = scope;
    return true;
}

IgTensor *ig_keep(IgTensor *tensor) {
    IgScope *scope = tensor ? tensor->scope : NULL;
    if (!scope) return tensor;
    for (size_t i = scope->n; i-- > 0;)
        if (scope->tensors[i] == tensor) {
            scope->tensors[i] = NULL;
            break;
        }
    tensor->scope = NULL;
    return tensor;
}

IgTensor *ig_scope_return(IgScope *scope, IgTensor *result) {
    ig_keep(result);
    ig_scope_end(scope);
    if (!result || enter_scope(result)) return result;
    ig_release(result);
    return NULL;
}

bool ig_scope_return_many(IgScope *scope, bool ok, int n, IgTensor **out, MTLError **error) {
    bool whole = ok;
    for (int i = 0; ok && i < n; i++)
        if (out[i]) ig_keep(out[i]);
    ig_scope_end(scope);
    for (int i = 0; i < n; i++) {
        bool there = out[i] != NULL;
        out[i] = ok ? ig_scope_return(NULL, out[i]) : NULL;
        whole = whole && (out[i] || !there);
    }
    if (whole || !ok) return whole;
    for (int i = 0; i < n; i++) {
        ig_drop(out[i]);
        out[i] = NULL;
    }
    return ig_fail_no_memory(error);
}

// ---- Lifetime ----
// Released tensors wait in a line before their memory serves again, with no data: who reads one of
// the last QUARANTINE that a thread released gets an error, and who reads an older one the values
// of another tensor; the memory itself stays a tensor's.
//
// Each thread has a line of its own, which needs no lock. What is too long for it (a thread that
// only releases), and what is left when it ends, goes to the common line, where threads that only
// make tensors take it from.

#define QUARANTINE 1024u
typedef struct Line {
    IgTensor *first, *last;
    size_t length;
    bool told; // the key knows the thread
} Line;
static pthread_mutex_t common_lock = PTHREAD_MUTEX_INITIALIZER;
static Line common;             // under common_lock
static _Atomic size_t n_common; // its length
static _Thread_local Line own;
static pthread_key_t line_key;
static pthread_once_t line_once = PTHREAD_ONCE_INIT;
static bool has_line_key;

static void put_last(Line *line, IgTensor *t) {
    t->next = NULL;
    if (line->length++)
        line->last->next = t;
    else
        line->first = t;
    line->last = t;
}

static IgTensor *take_first(Line *line) {
    IgTensor *t = line->first;
    line->first = t->next;
    line->length--;
    // The next one was last touched a thousand tensors ago: until it is wanted it can be here.
    const char *next = (const char *)line->first;
    for (size_t at = 0; next && at < sizeof *t; at += 64) __builtin_prefetch(next + at, 1);
    return t;
}

// The oldest of a thread's line, until it has `keep`.
static void to_common(Line *line, size_t keep) {
    pthread_mutex_lock(&common_lock);
    while (line->length > keep) put_last(&common, take_first(line));
    atomic_store_explicit(&n_common, common.length, memory_order_relaxed);
    pthread_mutex_unlock(&common_lock);
}

static void thread_ends(void *line) {
    to_common(line, 0);
    ((Line *)line)->told = false; // it may release more before it is gone
}
static void make_line_key(void) { has_line_key = pthread_key_create(&line_key, thread_ends) == 0; }

static IgTensor *tensor_alloc(void) {
    Line *line = &own;
    IgTensor *t = NULL;
    if (line->length > QUARANTINE) {
        t = take_first(line);
    } else if (atomic_load_explicit(&n_common, memory_order_relaxed) > QUARANTINE) {
        pthread_mutex_lock(&common_lock);
        if (common.length > QUARANTINE) t = take_first(&common);
        atomic_store_explicit(&n_common, common.length, memory_order_relaxed);
        pthread_mutex_unlock(&common_lock);
    }
    if (!t) return calloc(1, sizeof *t);
    t->scope = NULL;
    t->node = NULL;
    t->next = NULL;
    t->base = NULL;
    t->aliased = t->loose = t->quiet = t->untracked = t->unchecked = false;
    return t;
}

static void tensor_free(IgTensor *t) {
    Line *line = &own;
    t->view.data = NULL;
    t->node = NULL;
    if (!line->told) {
        pthread_once(&line_once, make_line_key);
        line->told = has_line_key && pthread_setspecific(line_key, line) == 0;
    }
    put_last(line, t);
    if (line->length > 2 * QUARANTINE || !line->told) to_common(line, line->told ? QUARANTINE : 0);
}

bool ig_alive(const char *call, const IgTensor *t, MTLError **error) {
    if (t->view.data) return true;
    return ig_fail(error, IgErrorArgument, "%s: the tensor has been released", call);
}

IgTensor *ig_tensor_new(IgData *data, const IgShape *shape, const int64_t *strides, int64_t offset,
                        MTLError **error) {
    if (!data) { // a view of a tensor that is gone
        ig_fail(error, IgErrorArgument, "the tensor has been released");
        return NULL;
    }
    IgTensor *t = tensor_alloc();
    if (!t) {
        ig_fail_no_memory(error);
        return NULL;
    }
    atomic_store_explicit(&t->refs, 1, memory_order_relaxed);
    t->view.data = ig_data_retain(data);
    t->view.shape = *shape;
    t->view.offset = offset;
    if (strides)
        memcpy(t->view.strides, strides, (size_t)shape->rank * sizeof *strides);
    else
        ig_packed_strides(shape, t->view.strides);
    if (enter_scope(t)) return t;
    ig_release(t);
    ig_fail_no_memory(error);
    return NULL;
}

IgTensor *ig_retain(IgTensor *tensor) {
    if (tensor) atomic_fetch_add_explicit(&tensor->refs, 1, memory_order_relaxed);
    return tensor;
}

void ig_release(IgTensor *tensor) {
    // Released once too often: it is in the line already.
    if (!tensor || atomic_load_explicit(&tensor->refs, memory_order_relaxed) == 0) return;
    if (atomic_fetch_sub_explicit(&tensor->refs, 1, memory_order_acq_rel) != 1) return;
    ig_alias_leave(tensor);
    IgData *data = tensor->view.data;
    IgGradNode *node = tensor->node;
    IgTensor *base = tensor->base;
    tensor_free(tensor);
    ig_node_release(node);
    ig_data_release(data);
    ig_release(base);
}

void ig_drop(IgTensor *tensor) {
    if (tensor && !tensor->scope) ig_release(tensor);
}

// Making a value calls itself for its inputs: what is recorded is never deeper than this.
#define MAX_DEPTH 96

// And an element-wise one never joins more than a kernel takes.
static bool limit_depth(IgDevice *device, IgExpr *expr, MTLError **error) {
    ig_lock(device);
    bool ok = expr->op < 0 || ig_fuse_record(expr, error);
    for (int i = 0; i < expr->n_inputs; i++) {
        IgData *data = expr->inputs[i].data;
        if (data->memory) continue;
        if (data->expr->depth >= MAX_DEPTH)
            ok = ok && ig_data_make(data, error);
        else if (data->expr->depth >= expr->depth)
            expr->depth = data->expr->depth + 1;
    }
    ig_unlock(device);
    return ok;
}

IgExpr *ig_expr_new(int n_inputs, const IgView *inputs, const IgShape *shape, MTLError **error) {
    for (int i = 0; i < n_inputs; i++)
        if (!inputs[i].data) {
            ig_fail(error, IgErrorArgument, "the tensor has been released");
            return NULL;
        }
    IgExpr *expr = ig_free_list_pop(IG_FREE_LIST_EXPR, sizeof *expr);
    if (!expr) {
        ig_fail_no_memory(error);
        return NULL;
    }
    // All but the inputs, of which only those that are there are read.
    expr->op = -1;
    expr->run = NULL;
    expr->shape = *shape;
    expr->n_inputs = n_inputs;
    expr->values[0] = expr->values[1] = 0;
    expr->compute = (IgType)0;
    expr->n_ops = expr->depth = 0;
    expr->next = NULL;
    expr->dispatches = false;
    expr->extra = NULL;
    expr->drop = NULL;
    for (int i = 0; i < n_inputs; i++) {
        expr->inputs[i] = inputs[i];
        ig_data_retain(inputs[i].data);
    }
    return expr;
}

static void free_extra(IgExpr *expr) { free(expr->extra); }

IgExpr *ig_expr_with(IgRunFn *run, const void *extra, size_t n_bytes, int n_inputs,
                     const IgView *inputs, const IgShape *shape, MTLError **error) {
    void *copy = malloc(n_bytes);
    IgExpr *expr = copy ? ig_expr_new(n_inputs, inputs, shape, error) : NULL;
    if (!expr) {
        if (!copy) ig_fail_no_memory(error);
        free(copy);
        return NULL;
    }
    expr->run = run;
    expr->extra = memcpy(copy, extra, n_bytes);
    expr->drop = free_extra;
    return expr;
}

IgTensor *ig_tensor_of_expr(IgDevice *device, IgType type, IgExpr *expr, MTLError **error) {
    if (!expr) return NULL;
    if (!limit_depth(device, expr, error)) {
        ig_expr_free(expr);
        return NULL;
    }
    IgData *data = ig_data_new(device, type, ig_shape_numel(&expr->shape));
    if (!data) {
        ig_expr_free(expr);
        ig_fail_no_memory(error);
        return NULL;
    }
    data->expr = expr;
    IgTensor *t = ig_tensor_new(data, &expr->shape, NULL, 0, error);
    ig_data_release(data);
    return t;
}

// ---- What a tensor is ----

IgDevice *ig_device(const IgTensor *t) { return t && t->view.data ? t->view.data->device : NULL; }
IgType ig_type(const IgTensor *t) { return t && t->view.data ? t->view.data->type : IgFloat16; }
int ig_rank(const IgTensor *t) { return t ? t->view.shape.rank : 0; }
const int64_t *ig_shape(const IgTensor *t) { return t ? t->view.shape.n : NULL; }
const int64_t *ig_strides(const IgTensor *t) { return t ? t->view.strides : NULL; }
int64_t ig_numel(const IgTensor *t) { return t ? ig_shape_numel(&t->view.shape) : 0; }

int64_t ig_dim(const IgTensor *t, int axis) {
    int i;
    return t && ig_axis("ig_dim", t->view.shape.rank, axis, 0, &i, NULL) ? t->view.shape.n[i] : 0;
}

bool ig_view_contiguous(const IgView *view) {
    int64_t packed[IG_MAX_RANK];
    ig_packed_strides(&view->shape, packed);
    for (int i = 0; i < view->shape.rank; i++)
        if (view->shape.n[i] > 1 && view->strides[i] != packed[i]) return false;
    return true;
}

bool ig_is_contiguous(const IgTensor *t) { return t && (t->loose || ig_view_contiguous(&t->view)); }

bool ig_whole(const IgView *view) {
    return view->offset == 0 && ig_shape_numel(&view->shape) == view->data->n &&
           ig_view_contiguous(view);
}

bool ig_same_device(const char *call, const IgTensor *a, const IgTensor *b, MTLError **error) {
    if (!ig_alive(call, a, error) || !ig_alive(call, b, error)) return false;
    if (a->view.data->device == b->view.data->device) return true;
    return ig_fail(error, IgErrorDevice, "%s: the tensors are on different devices", call);
}

// ---- Host access ----

// Small work is not committed: whoever waits for it runs it, see device.c.
bool ig_eval(IgTensor *t, MTLError **error) {
    if (!t || !ig_alive("ig_eval", t, error)) return false;
    IgDevice *device = t->view.data->device;
    ig_lock(device);
    bool ok = ig_data_make(t->view.data, error);
    ig_unlock(device);
    return ok;
}

// Recording may go on elsewhere: what it has the lock for is not waited for.
bool ig_eval_quickly(IgTensor *t) {
    IgData *data = t ? t->view.data : NULL;
    if (!data || pthread_mutex_trylock(&data->device->lock)) return false;
    IgDevice *device = data->device;
    device->known_only = true;
    bool made = data->memory || (!device->first && ig_data_make(data, NULL));
    device->known_only = false;
    ig_unlock(device);
    return made;
}

// With the lock held: the values are in memory.
static bool complete(IgTensor *t, MTLError **error) {
    return ig_data_make(t->view.data, error) &&
           ig_pool_show(t->view.data->device, t->view.data->memory, t->view.data->written, error);
}

bool ig_map(IgTensor *t, void **out, MTLError **error) {
    if (!t || !out || !ig_alive("ig_map", t, error)) return false;
    IgDevice *device = t->view.data->device;
    ig_lock(device);
    bool ok = complete(t, error);
    if (ok)
        *out = (char *)mtl_buffer_contents(t->view.data->memory->buffer) +
               t->view.offset * (int64_t)ig_type_size(t->view.data->type);
    ig_unlock(device);
    return ok;
}

bool ig_buffer(IgTensor *t, MTLBuffer **buffer, size_t *offset, MTLError **error) {
    if (!t || !buffer || !ig_eval(t, error)) return false;
    IgDevice *device = t->view.data->device;
    ig_lock(device);
    bool ok = ig_pool_own(device, t->view.data, error) && ig_commit(device, error);
    ig_unlock(device);
    if (!ok) return false;
    *buffer = t->view.data->memory->buffer;
    if (offset) *offset = (size_t)t->view.offset * ig_type_size(t->view.data->type);
    return true;
}

static bool exact_size(const char *call, const IgTensor *t, size_t n_bytes, MTLError **error) {
    size_t all = (size_t)ig_numel(t) * ig_type_size(t->view.data->type);
    if (n_bytes == all) return true;
    return ig_fail(error, IgErrorArgument, "%s: %zu bytes for shape %s of %s, which has %zu", call,
                   n_bytes, ig_shape_text(t->view.shape.rank, t->view.shape.n),
                   ig_type_name(t->view.data->type), all);
}

// Rows of the innermost axis are copied one after the other, as strides say.
static void copy_out(const IgTensor *t, const char *from, char *to) {
    int64_t index[IG_MAX_RANK] = {0}, size = (int64_t)ig_type_size(t->view.data->type);
    int rank = t->view.shape.rank;
    int64_t inner = rank ? t->view.shape.n[rank - 1] : 1,
            stride = rank ? t->view.strides[rank - 1] : 1;
    for (int64_t left = ig_numel(t); left > 0; left -= inner) {
        int64_t at = 0;
        for (int i = 0; i < rank - 1; i++) at += index[i] * t->view.strides[i];
        if (stride == 1)
            memcpy(to, from + at * size, (size_t)(inner * size));
        else
            for (int64_t i = 0; i < inner; i++)
                memcpy(to + i * size, from + (at + i * stride) * size, (size_t)size);
        to += inner * size;
        for (int i = rank - 2; i >= 0 && ++index[i] == t->view.shape.n[i]; i--) index[i] = 0;
    }
}

bool ig_read(IgTensor *t, void *out, size_t n_bytes, MTLError **error) {
    if (!t || !ig_alive("ig_read", t, error)) return false;
    if (!out && n_bytes) return ig_fail(error, IgErrorArgument, "ig_read: nowhere to write to");
    void *data;
    if (!exact_size("ig_read", t, n_bytes, error) || !ig_map(t, &data, error)) return false;
    copy_out(t, data, out);
    return true;
}

bool ig_item(IgTensor *t, double *out, MTLError **error) {
    if (!t || !out || !ig_alive("ig_item", t, error)) return false;
    if (ig_numel(t) != 1)
        return ig_fail(error, IgErrorShape, "ig_item: shape %s has not one element",
                       ig_shape_text(t->view.shape.rank, t->view.shape.n));
    void *data;
    if (!ig_map(t, &data, error)) return false;
    *out = ig_element_get(t->view.data->type, data, 0);
    return true;
}

bool ig_check_finite(IgTensor *t, MTLError **error) {
    void *data;
    if (!t || !ig_map(t, &data, error)) return false;
    if (!ig_is_float(t->view.data->type)) return true;
    int64_t index[IG_MAX_RANK] = {0};
    for (int64_t k = ig_numel(t); k > 0; k--) {
        int64_t at = 0;
        for (int i = 0; i < t->view.shape.rank; i++) at += index[i] * t->view.strides[i];
        double v = ig_element_get(t->view.data->type, data, at);
        if (!isfinite(v))
            return ig_fail(error, IgErrorNotFinite, "element %s of a tensor of shape %s is %g",
                           ig_shape_text(t->view.shape.rank, index),
                           ig_shape_text(t->view.shape.rank, t->view.shape.n), v);
        for (int i = t->view.shape.rank - 1; i >= 0 && ++index[i] == t->view.shape.n[i]; i--)
            index[i] = 0;
    }
    return true;
}
