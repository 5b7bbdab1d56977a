// SPDX-License-Identifier: Apache-2.0
// cross_entropy.c: softmax and cross-entropy of logits and class indices in one kernel. A SIMD-
// group computes a row; its loss is log(sum(exp(x))) - x[class]. The log-sum-exp is kept for the
// gradient, exp(x - it) minus 1 at the class: one pass over the logits, in one kernel again.
//
// The first kernel has two results, so it is encoded eagerly, not on demand.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "ingot/tensor_nn.h"
#include "tensor/tensor_int.h"
#include "ig_texts.h"

// Up to here one threadgroup makes the mean or sum too.
enum { ONE_KERNEL_LOGITS = 65536, THREADS = 256 };
// On a GPU: a thread for each row up to here, in a threadgroup of so many.
enum { SHORT_ROW = 64, MOST_THREADS = 1024 };

typedef struct Kinds {
    IgType logits, classes;
} Kinds;

static IgKernel *kernel_for(IgDevice *device, const char *function, Kinds kinds, MTLError **error) {
    static const char *const index[IG_N_TYPES] = {
        [IgInt8] = "INDEX=char",  [IgInt32] = "INDEX=int",   [IgInt64] = "INDEX=long",
        [IgBool] = "INDEX=uchar", [IgUInt8] = "INDEX=uchar", [IgInt16] = "INDEX=short"};
    return ig_kernel_of(device,
                        &(IgKernelFile){ig_text_cross_entropy_metal, function,
                                        ig_type_metal(kinds.logits), index[kinds.classes]},
                        error);
}

// ---- What it is given ----

static bool classes_in_range(IgTensor *classes, int64_t n, MTLError **error) {
    void *data;
    if (!ig_map(classes, &data, error)) return false;
    IgType type = ig_type(classes);
    for (int64_t i = 0; i < ig_numel(classes); i++) {
        int64_t k = type == IgInt64   ? ((const int64_t *)data)[i]
                    : type == IgInt32 ? ((const int32_t *)data)[i]
                    : type == IgInt16 ? ((const int16_t *)data)[i]
                    : type == IgInt8  ? ((const int8_t *)data)[i]
                                      : ((const uint8_t *)data)[i];
        if (k < 0 || k >= n)
            return ig_fail(error, IgErrorIndex,
                           "ig_cross_entropy_loss: class %lld at position %lld, there are %lld",
                           (long long)k, (long long)i, (long long)n);
    }
    return true;
}

static bool check(const IgTensor *logits, const IgTensor *classes, MTLError **error) {
    if (!ig_same_device("ig_cross_entropy_loss", logits, classes, error)) return false;
    if (!ig_is_float(ig_type(logits)) || ig_is_float(ig_type(classes)))
        return ig_fail(error, IgErrorType,
                       "ig_cross_entropy_loss: logits of %s and class numbers of %s",
                       ig_type_name(ig_type(logits)), ig_type_name(ig_type(classes)));
    IgShape rows = logits->view.shape;
    if (rows.rank > 0 && --rows.rank >= 0 && ig_shape_equal(&rows, &classes->view.shape))
        return true;
    return ig_fail(error, IgErrorShape,
                   "ig_cross_entropy_loss: logits of shape %s, classes of shape %s",
                   ig_shape_text(ig_rank(logits), ig_shape(logits)),
                   ig_shape_text(ig_rank(classes), ig_shape(classes)));
}

// ---- The kernel ----

typedef struct Results {
    IgData *loss, *totals;
} Results;

static int32_t bits_of(float number) {
    int32_t word;
    memcpy(&word, &number, sizeof word);
    return word;
}

// x and k are contiguous; whole: with the sum, times scale.
static bool encode(IgTensor *x, IgTensor *k, bool whole, float scale, const Results *r,
                   MTLError **error) {
    IgDevice *device = ig_device(x);
    Kinds kinds = {ig_type(x), ig_type(k)};
    int64_t n = ig_dim(x, -1), rows = ig_numel(k);
    int32_t words[3] = {(int32_t)n, (int32_t)rows, bits_of(scale)};
    ig_lock(device);
    bool ok = ig_data_make(x->view.data, error) && ig_data_make(k->view.data, error) &&
              ig_data_allocate(r->loss, error) && ig_data_allocate(r->totals, error);
    bool lines = whole && device->gpu && n <= SHORT_ROW;
    const char *name = lines ? "lines" : whole ? "whole" : "rows";
    IgKernel *kernel = ok ? kernel_for(device, name, kinds, error) : NULL;
    if (kernel) {
        IgBinding bindings[4] = {
            {x->view.data->memory, (size_t)x->view.offset * ig_type_size(kinds.logits)},
            {k->view.data->memory, (size_t)k->view.offset * ig_type_size(kinds.classes)},
            {r->loss->memory, 0},
            {r->totals->memory, 0}};
        size_t threads = whole ? THREADS : (size_t)rows * 32, most = lines ? MOST_THREADS : THREADS;
        if (lines) threads = rows < MOST_THREADS ? ((size_t)rows + 31) / 32 * 32 : MOST_THREADS;
        ok = ig_encode(device, kernel, words, sizeof words, bindings, 4,
                       mtl_size_make(threads, 1, 1),
                       mtl_size_make(threads < most ? threads : most, 1, 1), false, error);
    }
    ig_unlock(device);
    return ok && kernel;
}

// ---- Gradient ----

// For derivatives of the gradient the saved logarithms would have to be functions and not numbers:
// there it is a composition.
static IgTensor *composed_slope(IgGradNode *node, IgTensor *g, MTLError **error) {
    IgTensor *x = ig_saved(node, 0), *k = ig_unsqueeze(ig_saved(node, 1), -1, error);
    IgTensor *p = ig_softmax(ig_cast(x, IgFloat32, error), -1, error);
    IgTensor *numbers = ig_arange(node->device, IgInt32, 0, 1, ig_dim(x, -1), error);
    IgTensor *is = ig_cast(ig_eq(numbers, k, error), IgFloat32, error);
    IgTensor *d = ig_mul_scalar(ig_sub(p, is, error), node->values[0], error);
    return ig_mul(d, ig_rank(g) ? ig_unsqueeze(g, -1, error) : g, error);
}

static bool run_slope(IgDevice *device, IgData *data, MTLError **error) {
    const IgExpr *expr = data->expr;
    const IgView *in = expr->inputs;
    Kinds kinds = {in[0].data->type, in[1].data->type};
    for (int i = 0; i < 4; i++)
        if (!ig_data_make(in[i].data, error)) return false;
    if (!ig_data_allocate(data, error)) return false;
    IgKernel *kernel = kernel_for(device, "slope", kinds, error);
    if (!kernel) return false;
    IgBinding bindings[5];
    for (int i = 0; i < 4; i++)
        bindings[i] =
            (IgBinding){in[i].data->memory, (size_t)in[i].offset * ig_type_size(in[i].data->type)};
    bindings[4] = (IgBinding){data->memory, 0};
    int64_t n = expr->shape.n[expr->shape.rank - 1], rows = data->n / n;
    int32_t words[3] = {(int32_t)n, in[3].shape.rank > 0, bits_of((float)expr->values[0])};
    size_t x = n < THREADS ? (size_t)n : THREADS, y = THREADS / x;
    return ig_encode(device, kernel, words, sizeof words, bindings, 5,
                     mtl_size_make((size_t)n, (size_t)rows, 1),
                     mtl_size_make(x, (size_t)rows < y ? (size_t)rows : y, 1), false, error);
}

// (softmax(x) - [k is the class]) * g, divided by the number of rows for a mean.
static bool rule(IgGradNode *node, IgTensor *g, IgTensor **out, MTLError **error) {
    if (ig_grad_enabled()) return (out[0] = composed_slope(node, g, error)) != NULL;
    IgTensor *x = ig_saved(node, 0), *packed = ig_contiguous(g, error);
    if (!packed) return false;
    IgView in[4] = {x->view, ig_saved(node, 1)->view, ig_saved(node, 2)->view, packed->view};
    IgExpr *expr = ig_expr_new(4, in, &x->view.shape, error);
    if (expr) {
        expr->run = run_slope;
        expr->values[0] = node->values[0];
    }
    out[0] = ig_tensor_of_expr(node->device, ig_type(x), expr, error);
    return out[0] != NULL;
}

static IgTensor *record(IgTensor *result, IgTensor *logits, IgTensor *x, IgTensor *k,
                        IgTensor *totals, double scale, MTLError **error) {
    if (!result || !ig_grad_enabled_for(1, &logits)) return result;
    IgGradNode *node = ig_node_new("ig_fused_softmax_cross_entropy", rule, 1, &logits, error);
    if (node) node->values[0] = scale;
    if (node && !(ig_node_save(node, 0, x, error) && ig_node_save(node, 1, k, error) &&
                  ig_node_save(node, 2, totals, error))) {
        ig_node_release(node);
        node = NULL;
    }
    return ig_node_attach(result, node, false, error);
}

// Inside a scope: with rows to sum left over, the losses of the rows.
static IgTensor *compute(IgTensor *logits, IgTensor *classes, bool whole, double scale,
                         MTLError **error) {
    IgTensor *x = ig_contiguous(logits, error), *k = ig_contiguous(classes, error);
    if (!x || !k || !classes_in_range(k, ig_dim(x, -1), error)) return NULL;
    IgDevice *device = ig_device(x);
    int64_t rows = ig_numel(k);
    Results r = {ig_data_new(device, ig_type(x), whole ? 1 : rows),
                 ig_data_new(device, IgFloat32, rows)};
    IgTensor *result = NULL;
    if (!r.loss || !r.totals) {
        ig_fail_no_memory(error);
    } else if (encode(x, k, whole, (float)scale, &r, error)) {
        IgShape scalar = {.rank = 0};
        result = ig_tensor_new(r.loss, whole ? &scalar : &k->view.shape, NULL, 0, error);
        IgTensor *totals = ig_tensor_new(r.totals, &k->view.shape, NULL, 0, error);
        result = totals ? record(result, logits, x, k, totals, whole ? scale : 1, error) : NULL;
    }
    ig_data_release(r.loss);
    ig_data_release(r.totals);
    return result;
}

IgTensor *ig_fused_softmax_cross_entropy(IgTensor *logits, IgTensor *classes, IgReduce reduce,
                                         MTLError **error) {
    if (!logits || !classes || !check(logits, classes, error)) return NULL;
    if ((unsigned)reduce > IgReduceNone) {
        ig_fail(error, IgErrorArgument, "ig_cross_entropy_loss: no such reduction: %d",
                (int)reduce);
        return NULL;
    }
    IgScope *scope = ig_scope_begin();
    if (!scope) {
        ig_fail_no_memory(error);
        return NULL;
    }
    int64_t rows = ig_numel(classes);
    IgTensor *result = NULL;
    if (rows == 0) { // nothing to run a kernel for
        IgTensor *none = ig_sum(logits, -1, false, error);
        result = reduce == IgReduceNone  ? none
                 : reduce == IgReduceSum ? ig_sum(none, IG_ALL, false, error)
                                         : ig_mean(none, IG_ALL, false, error);
    } else {
        bool whole = reduce != IgReduceNone && ig_numel(logits) <= ONE_KERNEL_LOGITS;
        result =
            compute(logits, classes, whole, reduce == IgReduceMean ? 1.0 / (double)rows : 1, error);
        if (!whole && reduce == IgReduceSum) result = ig_sum(result, IG_ALL, false, error);
        if (!whole && reduce == IgReduceMean) result = ig_mean(result, IG_ALL, false, error);
    }
    return ig_scope_return(scope, result);
}
