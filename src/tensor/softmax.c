// SPDX-License-Identifier: Apache-2.0
// softmax.c: softmax and log-softmax. Along the last axis one kernel, a SIMD-group per row, which
// stays in a cache, or on a GPU in registers; along other axes a composition: the maximum, the sum
// of exponentials relative to it (fused), and the result. The gradients need only the result.
#include "tensor/work.h"
#include "ig_texts.h"

// On a CPU registers hold rows of some multiples of 32: the macros for rows of n elements, or NULL.
static const char *short_rows(const IgDevice *device, int64_t n, bool logarithm) {
    static const char *const all[2][4] = {{"TIMES=1 LOGARITHM=0", "TIMES=2 LOGARITHM=0",
                                           "TIMES=3 LOGARITHM=0", "TIMES=4 LOGARITHM=0"},
                                          {"TIMES=1 LOGARITHM=1", "TIMES=2 LOGARITHM=1",
                                           "TIMES=3 LOGARITHM=1", "TIMES=4 LOGARITHM=1"}};
    return !device->gpu && n % 32 == 0 && n <= 128 ? all[logarithm][n / 32 - 1] : NULL;
}

static bool run_softmax(IgDevice *device, IgData *data, MTLError **error) {
    IgExpr *expr = data->expr;
    const IgView *x = &expr->inputs[0];
    if (!ig_data_make(x->data, error) || !ig_data_allocate(data, error)) return false;
    int64_t n = expr->shape.n[expr->shape.rank - 1];
    const char *held = ig_rows_held(device, x, n),
               *times = short_rows(device, n, expr->values[0] != 0);
    IgKernelFile file = {ig_text_softmax_metal,
                         held    ? "softmax_held"
                         : times ? "softmax_short"
                                 : "softmax",
                         ig_type_metal(data->type), held ? held : times};
    IgKernel *kernel = ig_kernel_of(device, &file, error);
    if (!kernel) return false;
    int32_t words[2] = {(int32_t)(times ? data->n / n : n), expr->values[0] != 0};
    IgBinding bindings[2] = {{x->data->memory, (size_t)x->offset * ig_type_size(x->data->type)},
                             {data->memory, 0}};
    size_t threads = held    ? ig_rows_held_threads(n, data->n / n)
                     : times ? (size_t)(data->n / n + 1) / 2 * 32
                             : (size_t)(data->n / n) * 32;
    return ig_encode(device, kernel, words, sizeof words, bindings, 2, mtl_size_make(threads, 1, 1),
                     mtl_size_make(threads < 256 ? threads : 256, 1, 1), false, error);
}

// Rows of a floating type, one after the other.
static IgTensor *of_rows(IgTensor *x, bool logarithm, MTLError **error) {
    IgTensor *packed = ig_contiguous(x, error);
    IgExpr *expr = packed ? ig_expr_new(1, &packed->view, &packed->view.shape, error) : NULL;
    if (expr) {
        expr->run = run_softmax;
        expr->dispatches = true;
        expr->values[0] = logarithm;
    }
    IgTensor *result = ig_tensor_of_expr(ig_device(x), ig_type(x), expr, error);
    ig_drop(packed);
    return result;
}

// s (g - sum(g s))
static bool rule_softmax(IgGradNode *node, IgTensor *g, IgTensor **out, MTLError **error) {
    IgTensor *s = ig_saved_result(node, error);
    IgTensor *sum = ig_sum(ig_mul(g, s, error), (int)node->numbers[0], true, error);
    out[0] = ig_mul(s, ig_sub(g, sum, error), error);
    return out[0] != NULL;
}

// g - exp(r) sum(g)
static bool rule_log_softmax(IgGradNode *node, IgTensor *g, IgTensor **out, MTLError **error) {
    IgTensor *s = ig_exp(ig_saved_result(node, error), error);
    IgTensor *sum = ig_sum(g, (int)node->numbers[0], true, error);
    out[0] = ig_sub(g, ig_mul(s, sum, error), error);
    return out[0] != NULL;
}

static IgTensor *compute(IgTensor *x, int axis, bool logarithm, MTLError **error) {
    IgScope *scope = ig_scope_begin();
    IgType type = ig_is_float(ig_type(x)) ? ig_type(x) : IgFloat32;
    ig_no_grad_begin();
    IgTensor *single = ig_cast(x, IgFloat32, error);
    IgTensor *shifted = ig_sub(single, ig_max(single, axis, true, error), error);
    IgTensor *power = ig_exp(shifted, error);
    IgTensor *sum = ig_sum(power, axis, true, error);
    IgTensor *result =
        logarithm ? ig_sub(shifted, ig_log(sum, error), error) : ig_div(power, sum, error);
    result = result ? ig_cast(result, type, error) : NULL;
    ig_no_grad_end();
    return ig_scope_return(scope, result);
}

static IgTensor *record(const char *call, IgTensor *x, int axis, bool logarithm, MTLError **error) {
    if (!x) return NULL;
    if (ig_rank(x) == 0) {
        ig_fail(error, IgErrorShape, "%s: a scalar has no axis", call);
        return NULL;
    }
    if (!ig_axis(call, ig_rank(x), axis, 0, &axis, error)) return NULL;
    if (ig_numel(x) == 0) return ig_cast(x, ig_type(x), error);
    bool rows = axis == ig_rank(x) - 1 && ig_is_float(ig_type(x));
    IgTensor *result = rows ? of_rows(x, logarithm, error) : compute(x, axis, logarithm, error);
    if (!result || !ig_grad_enabled_for(1, &x)) return result;
    IgGradNode *node = ig_node_new(call, logarithm ? rule_log_softmax : rule_softmax, 1, &x, error);
    if (node) node->numbers[0] = axis;
    return ig_node_attach(result, node, true, error);
}

IgTensor *ig_softmax(IgTensor *x, int axis, MTLError **error) {
    return record("ig_softmax", x, axis, false, error);
}

IgTensor *ig_log_softmax(IgTensor *x, int axis, MTLError **error) {
    return record("ig_log_softmax", x, axis, true, error);
}
