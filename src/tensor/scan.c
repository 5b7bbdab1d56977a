// SPDX-License-Identifier: Apache-2.0
// scan.c: running sums along an axis. A thread walks over one line; what is added is kept in float
// or 64 bits and rounded for each element. The gradient is the running sum from the other end.
#include <stdlib.h>
#include "tensor/tensor_int.h"

static const char kernels[] =
    "#include <metal_stdlib>\n"
    "using namespace metal;\n"
    // p: length, inner, from the end
    "#define SCAN(N, T, A) \\\n"
    "    kernel void scan##N(constant int *p [[buffer(0)]], device const T *x [[buffer(1)]], \\\n"
    "                        device T *y [[buffer(2)]], uint line [[thread_position_in_grid]]) { "
    "\\\n"
    "        int n = p[0], inner = p[1]; \\\n"
    "        int first = int(line) / inner * n * inner + int(line) % inner; \\\n"
    "        A sum = 0; \\\n"
    "        for (int i = 0; i < n; i++) { \\\n"
    "            int at = first + (p[2] ? n - 1 - i : i) * inner; \\\n"
    "            sum += A(x[at]); \\\n"
    "            y[at] = T(sum); \\\n"
    "        } \\\n"
    "    }\n"
    "SCAN(0, half, float)\nSCAN(1, float, float)\nSCAN(2, bfloat, float)\nSCAN(5, long, long)\n";

typedef struct Scan {
    int axis;
    bool back;
} Scan;

static void drop(IgExpr *expr) { free(expr->extra); }

static bool run(IgDevice *device, IgData *data, MTLError **error) {
    const IgExpr *expr = data->expr;
    const Scan *s = expr->extra;
    const IgView *x = &expr->inputs[0];
    char name[] = "scan0";
    name[4] = (char)('0' + (int)data->type);
    if (!ig_data_make(x->data, error) || !ig_data_allocate(data, error)) return false;
    if (data->n == 0) return true;
    IgKernel *kernel = ig_kernel_of(device, kernels, name, error);
    if (!kernel) return false;
    int64_t n = expr->shape.n[s->axis], inner = 1;
    for (int i = s->axis + 1; i < expr->shape.rank; i++) inner *= expr->shape.n[i];
    int32_t words[3] = {(int32_t)n, (int32_t)inner, s->back};
    IgBinding bindings[2] = {{x->data->memory, (size_t)x->offset * ig_type_size(x->data->type)},
                             {data->memory, 0}};
    size_t lines = (size_t)(data->n / n);
    return ig_encode(device, kernel, words, sizeof words, bindings, 2, mtl_size_make(lines, 1, 1),
                     mtl_size_make(lines < 256 ? lines : 256, 1, 1), false, error);
}

static IgTensor *scan(IgTensor *x, int axis, bool back, MTLError **error);

static bool rule(IgGradNode *node, IgTensor *g, IgTensor **out, MTLError **error) {
    out[0] = scan(g, (int)node->numbers[0], !node->numbers[1], error);
    return out[0] != NULL;
}

// x is floating or int64.
static IgTensor *scan(IgTensor *x, int axis, bool back, MTLError **error) {
    IgTensor *packed = ig_contiguous(x, error);
    Scan *s = packed ? malloc(sizeof *s) : NULL;
    IgExpr *expr = s ? ig_expr_new(1, &packed->view, &packed->view.shape, error) : NULL;
    if (!expr) {
        if (packed && !s) ig_fail_no_memory(error);
        free(s);
        ig_drop(packed);
        return NULL;
    }
    *s = (Scan){axis, back};
    expr->run = run;
    expr->extra = s;
    expr->drop = drop;
    IgTensor *result = ig_tensor_of_expr(ig_device(x), ig_type(x), expr, error);
    ig_drop(packed);
    if (!result || !ig_is_float(ig_type(x)) || !ig_grad_enabled_for(1, &x)) return result;
    IgGradNode *node = ig_node_new("ig_cumsum", rule, 1, &x, error);
    if (node) {
        node->numbers[0] = axis;
        node->numbers[1] = back;
    }
    return ig_node_attach(result, node, false, error);
}

IgTensor *ig_cumsum(IgTensor *x, int axis, MTLError **error) {
    if (!x || !ig_axis("ig_cumsum", ig_rank(x), axis, 0, &axis, error)) return NULL;
    IgTensor *wide = ig_is_float(ig_type(x)) ? ig_retain(x) : ig_cast(x, IgInt64, error);
    if (!wide) return NULL;
    IgTensor *result = scan(wide, axis, false, error);
    if (wide == x)
        ig_release(x);
    else
        ig_drop(wide);
    return result;
}
