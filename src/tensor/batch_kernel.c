// SPDX-License-Identifier: Apache-2.0
// batch_kernel.c: batch normalisation of float32 as one kernel for the forward and one for the
// backward pass. Each has two results: the large one, and a few values per channel that it needs
// itself and others may request. Whichever is requested first computes both, unless only the values
// per channel are wanted.
#include "tensor/normalize.h"
#include "ig_texts.h"
#include <stdlib.h>
#include <string.h>

enum { WEIGHT = 1, BIAS = 2, MAKE = 4, RESULT = 8 }; // as in batch_norm.metal
enum { N_INPUTS = 3, LEAST_LENGTH = 32, LEAST_CHANNELS = 16 };

typedef struct Both {
    const char *function;
    int32_t words[5]; // N, C, length, what, epsilon
} Both;

static bool encode(IgDevice *device, const IgExpr *expr, IgData *few, IgData *result,
                   MTLError **error) {
    Both b = *(const Both *)expr->extra;
    IgBinding bindings[N_INPUTS + 2];
    for (int i = 0; i < N_INPUTS; i++) {
        const IgView *in = &expr->inputs[i];
        bindings[i] =
            (IgBinding){in->data->memory, (size_t)in->offset * ig_type_size(in->data->type)};
    }
    bindings[N_INPUTS] = (IgBinding){few->memory, 0};
    bindings[N_INPUTS + 1] = (IgBinding){result ? result->memory : few->memory, 0};
    b.words[3] |= result ? RESULT : 0;
    IgKernel *kernel = ig_kernel_of(
        device, &(IgKernelFile){ig_text_batch_norm_metal, b.function, NULL, NULL}, error);
    ig_more_work(device, (int64_t)b.words[0] * b.words[1] * b.words[2] * 8);
    return kernel &&
           ig_encode(device, kernel, b.words, sizeof b.words, bindings, N_INPUTS + 2,
                     mtl_size_make((size_t)b.words[1], 1, 1), mtl_size_make(32, 1, 1), true, error);
}

static bool make_inputs(const IgExpr *expr, int n, MTLError **error) {
    for (int i = 0; i < n; i++)
        if (!ig_data_make(expr->inputs[i].data, error)) return false;
    return true;
}

static bool run_few(IgDevice *device, IgData *data, MTLError **error) {
    IgExpr *expr = data->expr;
    if (!make_inputs(expr, N_INPUTS, error) || !ig_data_allocate(data, error)) return false;
    ((Both *)expr->extra)->words[3] |= MAKE;
    return encode(device, expr, data, NULL, error);
}

// The last input is the few numbers, which this makes if nobody has.
static bool run_result(IgDevice *device, IgData *data, MTLError **error) {
    IgExpr *expr = data->expr;
    if (!make_inputs(expr, N_INPUTS, error)) return false;
    IgData *few = expr->inputs[N_INPUTS].data;
    const bool first = !few->memory;
    if (first && !ig_data_allocate(few, error)) return false;
    if (first) ((Both *)expr->extra)->words[3] |= MAKE;
    bool ok = ig_data_allocate(data, error) && encode(device, expr, few, data, error);
    if (first) ig_data_settle(few, ok);
    return ok;
}

static IgTensor *new_tensor(const Both *both, IgRunFn *run, int n, const IgView *inputs,
                            const IgShape *shape, IgDevice *device, MTLError **error) {
    IgExpr *expr = ig_expr_with(run, both, sizeof *both, n, inputs, shape, error);
    return expr ? ig_tensor_of_expr(device, IgFloat32, expr, error) : NULL;
}

// The result, of the shape of x; *few gets rows of C numbers. Inside a scope.
static IgTensor *make_both(const Both *both, IgTensor *const inputs[N_INPUTS], const IgTensor *x,
                           int n_rows, IgTensor **few, MTLError **error) {
    IgView views[N_INPUTS + 1];
    for (int i = 0; i < N_INPUTS; i++) {
        IgTensor *in = inputs[i] ? ig_contiguous(inputs[i], error) : NULL;
        if (!in) return NULL;
        views[i] = in->view;
    }
    const IgShape rows = {.rank = 2, .n = {n_rows, both->words[1]}};
    *few = new_tensor(both, run_few, N_INPUTS, views, &rows, ig_device(x), error);
    if (!*few) return NULL;
    views[N_INPUTS] = (*few)->view;
    return new_tensor(both, run_result, N_INPUTS + 1, views, &x->view.shape, ig_device(x), error);
}

static Both of_shape(const char *function, const IgTensor *x, int what, double epsilon) {
    const float single = (float)epsilon;
    const int64_t n = ig_dim(x, 0), channels = ig_dim(x, 1);
    Both both = {function, {(int32_t)n, (int32_t)channels, 0, what}};
    both.words[2] = (int32_t)(ig_numel(x) / (n * channels));
    memcpy(&both.words[4], &single, sizeof single);
    return both;
}

// ---- Gradients ----

// A parameter (C) beside x.
static IgTensor *beside(IgTensor *parameter, const IgTensor *x, MTLError **error) {
    int64_t n[IG_MAX_RANK] = {ig_numel(parameter)};
    for (int i = 1; i < ig_rank(x) - 1; i++) n[i] = 1;
    return ig_reshape(parameter, ig_rank(x) - 1, n, error);
}

// The same in parts that have gradients themselves.
static bool in_parts(IgGradNode *node, IgTensor *g, IgTensor **out, MTLError **error) {
    IgTensor *x = ig_saved(node, 0), *weight = ig_saved(node, 1);
    int axes[IG_MAX_RANK] = {0}, n = 1;
    for (int i = 2; i < ig_rank(x); i++) axes[n++] = i;
    IgTensor *d = ig_sub(x, ig_mean_axes(x, n, axes, true, error), error);
    IgTensor *variance = ig_mean_axes(ig_square(d, error), n, axes, true, error);
    IgTensor *scale = ig_rsqrt(ig_add_scalar(variance, node->values[0], error), error);
    IgTensor *y = ig_mul(d, scale, error), *inner = g;
    out[1] = weight ? ig_sum_axes(ig_mul(g, y, error), n, axes, false, error) : NULL;
    out[2] = node->numbers[0] & BIAS ? ig_sum_axes(g, n, axes, false, error) : NULL;
    if (weight) inner = ig_mul(g, beside(weight, x, error), error);
    IgTensor *along = ig_mul(y, ig_mean_axes(ig_mul(inner, y, error), n, axes, true, error), error);
    IgTensor *rest = ig_sub(inner, ig_mean_axes(inner, n, axes, true, error), error);
    out[0] = ig_mul(ig_sub(rest, along, error), scale, error);
    return out[0] != NULL;
}

// numbers: what there is; values: epsilon; saved: x, weight, what was made for each channel.
static bool rule(IgGradNode *node, IgTensor *g, IgTensor **out, MTLError **error) {
    if (ig_grad_enabled()) return in_parts(node, g, out, error);
    IgTensor *x = ig_saved(node, 0), *sums;
    const Both both = of_shape("back", x, (int)node->numbers[0], node->values[0]);
    out[0] = make_both(&both, (IgTensor *[]){g, x, ig_saved(node, 2)}, x, 2, &sums, error);
    if (!out[0]) return false;
    if (node->numbers[0] & WEIGHT) out[1] = ig_select(sums, 0, 1, error);
    if (node->numbers[0] & BIAS) out[2] = ig_select(sums, 0, 0, error);
    return true;
}

// ---- The call ----

bool ig_batch_is_kernel(const IgTensor *x) {
    const int64_t n = ig_dim(x, 0), channels = ig_dim(x, 1);
    return ig_type(x) == IgFloat32 && !ig_device(x)->gpu && ig_numel(x) > 0 &&
           channels >= LEAST_CHANNELS && ig_numel(x) / (n * channels) >= LEAST_LENGTH;
}

IgTensor *ig_batch_kernel(const char *call, IgTensor *x, IgTensor *weight, IgTensor *bias,
                          double epsilon, IgTensor **mean, IgTensor **variance, MTLError **error) {
    const int what = (weight ? WEIGHT : 0) | (bias ? BIAS : 0);
    const Both both = of_shape("forth", x, what, epsilon);
    IgTensor *few, *all[3] = {x, weight ? weight : x, bias ? bias : x};
    ig_no_grad_begin();
    IgTensor *inputs[3] = {x, x, x}; // something to bind
    if (weight) inputs[1] = ig_cast(weight, IgFloat32, error);
    if (bias) inputs[2] = ig_cast(bias, IgFloat32, error);
    IgTensor *y = make_both(&both, inputs, x, 4, &few, error);
    *mean = y ? ig_select(few, 0, 0, error) : NULL;
    *variance = y ? ig_select(few, 0, 1, error) : NULL;
    ig_no_grad_end();
    if (!*mean || !*variance || !ig_grad_enabled_for(3, all)) return *variance && *mean ? y : NULL;
    IgGradNode *node = ig_node_new(call, rule, 3, all, error);
    if (node && (!ig_node_save(node, 0, x, error) || !ig_node_save(node, 2, few, error) ||
                 (weight && !ig_node_save(node, 1, weight, error)))) {
        ig_node_release(node);
        node = NULL;
    }
    if (node) {
        node->numbers[0] = what;
        node->values[0] = epsilon;
    }
    return ig_node_attach(y, node, false, error);
}
