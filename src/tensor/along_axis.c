// SPDX-License-Identifier: Apache-2.0
// along_axis.c: take_along_axis, y[r][i] = x[r][index[r][i]], and put (scatter-add),
// x[r][index[r][i]] += y[r][i], each the gradient of the other. The indices come from a kernel (a
// sort, a maximum), so they are not checked. Where windows overlap, put finds for each element the
// windows that took it: sums in a fixed order, without atomics.
#include "tensor/along_axis.h"
#include "ig_texts.h"
#include <stdlib.h>
static IgTensor *record(const char *call, bool put, IgTensor *x, IgTensor *index, int64_t n,
                        const IgPoolWindow *window, MTLError **error);

// numbers: n of x; extra: the window.
static bool rule(IgGradNode *node, IgTensor *g, IgTensor **out, MTLError **error) {
    out[0] =
        record(node->name, !node->op, g, ig_saved(node, 1), node->numbers[0], node->extra, error);
    return out[0] != NULL;
}

// Whether two windows may take the same.
static bool overlap(const IgPoolWindow *v) {
    bool any = false;
    for (int a = 0; a < 2; a++) any |= v->stride[a] <= (v->kernel[a] - 1) * v->dilation[a];
    return any;
}

static IgTensor *compute(const char *call, bool put, IgTensor *x, IgTensor *index, int64_t n,
                         const IgPoolWindow *v, MTLError **error) {
    int64_t rows = ig_dim(x, 0), k = ig_dim(index, 1);
    bool shared = put && v->pooled && overlap(v);
    IgWork w = {.kernel = {.text = ig_text_along_axis_metal,
                           .function = shared ? "put_windows"
                                       : put  ? "put"
                                              : "take",
                           .element = ig_type_metal(ig_type(x))},
                .words = {(int32_t)n, (int32_t)k},
                .clear = put && !shared && (v->pooled || k < n)};
    if (shared) {
        const int64_t *all[] = {v->in, v->out, v->kernel, v->stride, v->padding, v->dilation};
        for (int i = 0; i < 12; i++) w.words[i] = (int32_t)all[i / 2][i % 2];
        ig_work_threads(&w, n, rows);
    } else {
        ig_work_threads(&w, k, rows);
    }
    IgShape shape = {2, {rows, put ? n : k}};
    IgTensor *packed = ig_contiguous(x, error);
    IgTensor *y = ig_work(call, &w, 2, (IgTensor *[]){packed, index}, &shape, ig_type(x), error);
    ig_drop(packed);
    return y;
}

static IgTensor *record(const char *call, bool put, IgTensor *x, IgTensor *index, int64_t n,
                        const IgPoolWindow *window, MTLError **error) {
    if (!x || !index) return NULL;
    IgTensor *result = compute(call, put, x, index, n, window, error);
    if (!result || !ig_is_float(ig_type(x)) || !ig_grad_enabled_for(1, &x)) return result;
    IgGradNode *node = ig_node_new(call, rule, 1, &x, error);
    IgPoolWindow *copy = node ? malloc(sizeof *copy) : NULL;
    if (node) node->extra = copy;
    if (node && !copy) ig_fail_no_memory(error);
    if (!copy || !ig_node_save(node, 1, index, error)) {
        ig_node_release(node);
        node = NULL;
    } else {
        *copy = *window;
        node->op = put;
        node->numbers[0] = n;
    }
    return ig_node_attach(result, node, false, error);
}

IgTensor *ig_take_along(const char *call, IgTensor *x, IgTensor *index, const IgPoolWindow *window,
                        MTLError **error) {
    return record(call, false, x, index, ig_dim(x, 1), window, error);
}
