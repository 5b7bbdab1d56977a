// SPDX-License-Identifier: Apache-2.0
// region.c: reading and replacing a strided region of a tensor's memory: an in-place operation on a
// view, as seen by the memory behind it. The old memory is reused if nothing else needs it: a loop
// over the rows of a tensor moves each element once.
#include "tensor/region.h"
#include "ig_texts.h"
#include <stdlib.h>
#include <string.h>
#include "tensor/alias.h"
#include "tensor/elementwise.h"

// ---- Work ----

static IgKernel *kernel_for(IgDevice *device, const char *function, IgType type, MTLError **error) {
    return ig_kernel_of(
        device, &(IgKernelFile){ig_text_region_metal, function, ig_type_bits(type), NULL}, error);
}

// Axes that lie in line are one. The innermost comes first; how many there are.
static int folded(const IgView *view, int32_t axes[2 * IG_MAX_RANK]) {
    int n = 0;
    for (int i = view->shape.rank - 1; i >= 0; i--) {
        int32_t length = (int32_t)view->shape.n[i], stride = (int32_t)view->strides[i];
        if (length == 1) continue;
        if (n && stride == axes[2 * n - 1] * axes[2 * n - 2]) {
            axes[2 * n - 2] *= length;
        } else {
            axes[2 * n] = length;
            axes[2 * n + 1] = stride;
            n++;
        }
    }
    return n;
}

static bool encode(IgDevice *device, const char *function, const int32_t *words, size_t n_words,
                   IgBinding x, IgBinding y, IgType type, int64_t n, MTLError **error) {
    IgKernel *kernel = kernel_for(device, function, type, error);
    if (!kernel) return false;
    if (n == 0) return true;
    size_t width = n < 256 ? (size_t)n : 256;
    return ig_encode(device, kernel, words, n_words * 4, (IgBinding[]){x, y}, 2,
                     mtl_size_make((size_t)n, 1, 1), mtl_size_make(width, 1, 1), false, error);
}

static bool encode_values(IgDevice *device, const IgView *to, const IgView *v, IgData *data,
                          MTLError **error) {
    int32_t words[2 + 2 * IG_MAX_RANK] = {v->data->n != 1 || ig_shape_numel(&to->shape) == 1};
    size_t size = ig_type_size(data->type);
    int n = words[1] = folded(to, words + 2);
    bool line = n == 0 || (n == 1 && words[3] == 1);
    IgBinding from = {v->data->memory, (size_t)v->offset * size};
    return encode(device, line ? "copy" : "place", words, line ? 1 : 2 + 2 * (size_t)n, from,
                  (IgBinding){data->memory, (size_t)to->offset * size}, data->type,
                  ig_shape_numel(&to->shape), error);
}

static bool run_write(IgDevice *device, IgData *data, MTLError **error) {
    const IgExpr *expr = data->expr;
    const IgView *to = expr->extra, *v = &expr->inputs[1];
    IgData *old = expr->inputs[0].data;
    if (!ig_data_make(old, error) || !ig_data_make(v->data, error)) return false;
    // Its values are wanted by this alone.
    bool takes = device->unified && old != v->data && !old->memory->foreign && !old->memory->lent &&
                 !old->memory->n_shares &&
                 atomic_load_explicit(&old->refs, memory_order_acquire) == 1;
    if (takes) data->replaces = old;
    bool ok = ig_data_allocate(data, error);
    data->replaces = NULL;
    if (ok && !takes)
        ok = encode(device, "copy", &(int32_t){1}, 1, (IgBinding){old->memory, 0},
                    (IgBinding){data->memory, 0}, data->type, data->n, error);
    ok = ok && encode_values(device, to, v, data, error);
    if (!ok && takes) {
        old->memory = data->memory;
        data->memory = NULL;
    }
    return ok;
}

// ---- Recording ----

static IgTensor *attach(IgTensor *t, const char *name, IgGradRule *rule, int n,
                        IgTensor *const *inputs, const IgView *view, MTLError **error) {
    if (!t || !ig_is_float(ig_type(t)) || !ig_grad_enabled_for(n, inputs)) return t;
    IgGradNode *node = ig_node_new(name, rule, n, inputs, error);
    IgView *copy = node ? malloc(sizeof *copy) : NULL;
    if (copy) {
        *copy = *view;
        copy->data = NULL;
        node->extra = copy;
    } else if (node) {
        ig_fail_no_memory(error);
        ig_node_release(node);
        node = NULL;
    }
    return ig_node_attach(t, node, false, error);
}

static IgTensor *row(IgTensor *x, MTLError **error) { // all of its data, in order
    return !x || (ig_whole(&x->view) && !x->loose)
               ? x
               : ig_elementwise(IG_OP_cast, &x, NULL, ig_type(x), error);
}

// Elements that several places showed get the sum of their gradients.
static bool rule_view(IgGradNode *node, IgTensor *g, IgTensor **out, MTLError **error) {
    IgView to = *(const IgView *)node->extra;
    const IgGradNode *x = node->inputs[0];
    int axes[IG_MAX_RANK], n = 0;
    for (int i = 0; i < to.shape.rank; i++)
        if (to.strides[i] == 0 && to.shape.n[i] != 1) {
            axes[n++] = i;
            to.shape.n[i] = 1;
        }
    if (n) g = ig_sum_axes(g, n, axes, true, error);
    IgTensor *zeros = ig_zeros(x->device, x->type, 1, x->shape.n, error);
    out[0] = ig_region_write(row(zeros, error), &to, g, error);
    return out[0] != NULL;
}

static bool rule_write(IgGradNode *node, IgTensor *g, IgTensor **out, MTLError **error) {
    const IgView *to = node->extra;
    g = row(g, error);
    if (node->inputs[0]) {
        IgTensor *none = ig_zeros(node->device, node->type, to->shape.rank, to->shape.n, error);
        if (!(out[0] = ig_region_write(g, to, none, error))) return false;
    }
    if (node->inputs[1]) out[1] = ig_region_view(g, to, error);
    return !node->inputs[1] || out[1];
}

IgTensor *ig_region_view(IgTensor *x, const IgView *view, MTLError **error) {
    if (!x) return NULL;
    IgTensor *t = ig_tensor_new(x->view.data, &view->shape, view->strides, view->offset, error);
    return attach(t, "ig_region_view", rule_view, 1, &x, view, error);
}

IgTensor *ig_region_write(IgTensor *x, const IgView *view, IgTensor *values, MTLError **error) {
    if (!x || !values) return NULL;
    IgTensor *inputs[2] = {x, values};
    IgTensor *packed = values->loose && values->view.data->n == 1 ? ig_retain(values)
                       : ig_view_contiguous(&values->view)
                           ? ig_retain(values)
                           : ig_elementwise(IG_OP_cast, &values, NULL, ig_type(values), error);
    if (!packed) return NULL;
    IgView views[2] = {x->view, packed->view}, to = *view;
    to.data = NULL;
    IgExpr *expr = ig_expr_with(run_write, &to, sizeof to, 2, views, &x->view.shape, error);
    if (expr) expr->dispatches = true;
    IgTensor *t = ig_tensor_of_expr(ig_device(x), ig_type(x), expr, error);
    if (packed == values)
        ig_release(packed);
    else
        ig_drop(packed);
    return attach(t, "ig_region_write", rule_write, 2, inputs, view, error);
}
