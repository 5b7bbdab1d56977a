// SPDX-License-Identifier: Apache-2.0
// scan.c: inclusive prefix sums and products (scan) along an axis. A thread walks over one line, or
// a SIMD-group where elements are contiguous; the accumulator is float or 64 bits and rounded for
// each element. A few long lines are split into blocks: block totals first, then their prefix sums,
// then the elements. The split depends only on the shape. The gradient of a cumulative sum is the
// cumulative sum from the other end.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "tensor/elementwise.h"
#include "ig_texts.h"

enum { SUM, PRODUCT };
// Elements a block is worth: of a thread, of a SIMD-group.
enum { TARGET_BLOCKS = 256, MIN_BLOCK = 256, MIN_LINE = 16384 };
// On a GPU: of a thread, of a threadgroup.
enum { GPU_THREADS = 65536, GPU_GROUPS = 1024, GPU_MIN_BLOCK = 32, GPU_MIN_LINE = 4096 };
typedef struct Scan {
    int axis, kind;
    bool back;
} Scan;

enum { N_WORDS = 6 }; // of scan.metal
static bool dispatch(IgDevice *device, const char *function, IgType type, int kind,
                     const int32_t *words, const IgBinding *bindings, size_t n, size_t threads,
                     MTLError **error) {
    static const char *const macros[2][2] = {
        {"SUM=long OPERATION=+ START=0", "SUM=float OPERATION=+ START=0 SIMD=sum"},
        {"SUM=long OPERATION=* START=1", "SUM=float OPERATION=* START=1 SIMD=product"}};
    IgKernel *kernel =
        ig_kernel_of(device,
                     &(IgKernelFile){ig_text_scan_metal, function, ig_type_metal(type),
                                     macros[kind == PRODUCT][ig_is_float(type)]},
                     error);
    // line_walk, line_totals: a SIMD-group for each; group_*: a threadgroup
    bool group = *function == 'l' || *function == 'g';
    size_t each = *function == 'g' ? 256 : group ? 32 : threads < 64 ? threads : 64;
    return kernel &&
           ig_encode(device, kernel, words, N_WORDS * sizeof *words, bindings, n,
                     mtl_size_make(threads, 1, 1), mtl_size_make(each, 1, 1), group, error);
}

static bool run_scan(IgDevice *device, IgData *data, MTLError **error) {
    const IgExpr *expr = data->expr;
    const Scan *s = expr->extra;
    const IgView *x = &expr->inputs[0];
    if (!ig_data_make(x->data, error) || !ig_data_allocate(data, error)) return false;
    if (data->n == 0) return true;
    int64_t n = expr->shape.n[s->axis], inner = 1, lines = data->n / n;
    for (int i = s->axis + 1; i < expr->shape.rank; i++) inner *= expr->shape.n[i];
    bool gpu = device->gpu, line = inner == 1 && n >= 128 && (gpu || ig_is_float(data->type));
    int64_t least = gpu ? (line ? GPU_MIN_LINE : GPU_MIN_BLOCK) : line ? MIN_LINE : MIN_BLOCK;
    int64_t target = gpu ? (line ? GPU_GROUPS : GPU_THREADS) : TARGET_BLOCKS;
    int64_t blocks = (target + lines - 1) / lines, most = (n + least - 1) / least;
    blocks = blocks > most ? most : blocks;
    int64_t each = (n + blocks - 1) / blocks;
    int32_t words[N_WORDS] = {(int32_t)n,      (int32_t)inner, s->back,
                              (int32_t)blocks, (int32_t)each,  gpu ? (int32_t)lines : 0};
    const char *const names[2][3] = {
        {line ? "line_totals" : "totals", "begins", line ? "line_walk" : "walk"},
        {line ? "group_totals" : "totals", "group_begins", line ? "group_walk" : "walk"}};
    IgBinding in = {x->data->memory, (size_t)x->offset * ig_type_size(x->data->type)};
    IgBinding out = {data->memory, 0}, begin = out; // something to bind
    size_t threads = (size_t)(lines * blocks);
    bool ok = true;
    if (blocks > 1) {
        begin.buffer = ig_pool_take(device, threads * 8, false, error);
        if (!begin.buffer) return false;
        ok = dispatch(device, names[gpu][0], data->type, s->kind, words, (IgBinding[]){in, begin},
                      2, threads, error) &&
             dispatch(device, names[gpu][1], data->type, s->kind, words, &begin, 1, (size_t)lines,
                      error);
    }
    ok = ok && dispatch(device, names[gpu][2], data->type, s->kind, words,
                        (IgBinding[]){in, out, begin}, 3, threads, error);
    if (blocks > 1) ig_pool_give(device, begin.buffer); // what comes later may have it
    return ok;
}

static IgTensor *scan(int kind, IgTensor *x, int axis, bool back, MTLError **error);

// x without its first 0 along the axis: the gradient there is that of a product without it.
// Before it the quotient will do; behind it nothing changes the product.
static IgTensor *rule_product(IgGradNode *node, IgTensor *g, MTLError **error) {
    int axis = (int)node->numbers[0];
    IgTensor *x = ig_saved(node, 0), *is_zero = ig_eq_scalar(x, 0, error);
    IgTensor *zeros = ig_cumsum(is_zero, axis, error);
    IgTensor *before = ig_eq_scalar(zeros, 0, error);
    IgTensor *first = ig_logical_and(is_zero, ig_eq_scalar(zeros, 1, error), error);
    IgTensor *out = ig_saved_result(node, error);
    IgTensor *sums = out ? scan(SUM, ig_mul(g, out, error), axis, true, error) : NULL;
    IgTensor *usual = ig_div(sums, ig_masked_fill(x, is_zero, 1, error), error);
    IgTensor *without = ig_cumprod(ig_masked_fill(x, first, 1, error), axis, error);
    IgTensor *there = without ? scan(SUM, ig_mul(g, without, error), axis, true, error) : NULL;
    IgTensor *nothing = ig_zeros(node->device, node->type, 0, NULL, error);
    return ig_where(before, usual, ig_where(first, there, nothing, error), error);
}

static bool rule(IgGradNode *node, IgTensor *g, IgTensor **out, MTLError **error) {
    if (node->op == PRODUCT)
        out[0] = rule_product(node, g, error);
    else
        out[0] = scan(SUM, g, (int)node->numbers[0], !node->numbers[1], error);
    return out[0] != NULL;
}

static IgTensor *record(int kind, IgTensor *x, int axis, bool back, IgTensor *result,
                        MTLError **error) {
    if (!result || !ig_is_float(ig_type(x)) || !ig_grad_enabled_for(1, &x)) return result;
    IgGradNode *node = ig_node_new(kind == SUM ? "ig_cumsum" : "ig_cumprod", rule, 1, &x, error);
    if (node && kind == PRODUCT && !ig_node_save(node, 0, x, error)) {
        ig_node_release(node);
        node = NULL;
    }
    if (node) {
        node->op = kind;
        node->numbers[0] = axis;
        node->numbers[1] = back;
    }
    return ig_node_attach(result, node, kind == PRODUCT, error);
}

// x is floating or int64.
static IgTensor *scan(int kind, IgTensor *x, int axis, bool back, MTLError **error) {
    IgTensor *packed = ig_contiguous(x, error);
    if (!packed) return NULL;
    const Scan s = {axis, kind, back};
    IgExpr *expr =
        ig_expr_with(run_scan, &s, sizeof s, 1, &packed->view, &packed->view.shape, error);
    IgTensor *result = expr ? ig_tensor_of_expr(ig_device(x), ig_type(x), expr, error) : NULL;
    ig_drop(packed);
    return record(kind, x, axis, back, result, error);
}

static IgTensor *of_any(const char *call, int kind, IgTensor *x, int axis, MTLError **error) {
    if (!x) return NULL;
    if (ig_rank(x) == 0) {
        ig_fail(error, IgErrorShape, "%s: a scalar has no axis", call);
        return NULL;
    }
    if (!ig_axis(call, ig_rank(x), axis, 0, &axis, error)) return NULL;
    IgScope *scope = ig_scope_begin();
    IgTensor *wide = ig_cast(x, ig_is_float(ig_type(x)) ? ig_type(x) : IgInt64, error);
    return ig_scope_return(scope, wide ? scan(kind, wide, axis, false, error) : NULL);
}

IgTensor *ig_cumsum(IgTensor *x, int axis, MTLError **error) {
    return of_any("ig_cumsum", SUM, x, axis, error);
}

IgTensor *ig_cumprod(IgTensor *x, int axis, MTLError **error) {
    return of_any("ig_cumprod", PRODUCT, x, axis, error);
}
