// SPDX-License-Identifier: Apache-2.0
// dropout.c: dropout. The mask is a tensor of bool made on the device from the numbers of
// ig_uniform for the seed (Philox 4x32-10, a call makes four); applying it is element-wise, so it
// is fused with its neighbours, and the gradient uses the same mask.
#include <math.h>
#include <stdlib.h>
#include "tensor/elementwise.h"
#include "ig_texts.h"

typedef struct Mask {
    uint64_t seed;
    uint32_t limit;
} Mask;

static bool run_dropout(IgDevice *device, IgData *data, MTLError **error) {
    const Mask *m = data->expr->extra;
    int64_t n = data->n;
    IgKernel *kernel =
        ig_kernel_of(device, &(IgKernelFile){ig_text_dropout_metal, "keep", NULL, NULL}, error);
    if (!kernel) return false;
    // Memory of size classes is a multiple of 64 bytes.
    if (!ig_data_allocate(data, error)) return false;
    if (n == 0) return true;
    uint32_t words[4] = {(uint32_t)n, (uint32_t)m->seed, (uint32_t)(m->seed >> 32), m->limit};
    size_t threads = (size_t)(n + 3) / 4;
    IgBinding out = {data->memory, 0};
    return ig_encode(device, kernel, words, sizeof words, &out, 1, mtl_size_make(threads, 1, 1),
                     mtl_size_make(threads < 256 ? threads : 256, 1, 1), false, error);
}

static IgTensor *mask_of(IgDevice *device, const IgShape *shape, double p, uint64_t seed,
                         MTLError **error) {
    const Mask m = {seed, (uint32_t)ceil(p * 0x1p24)};
    IgExpr *expr = ig_expr_with(run_dropout, &m, sizeof m, 0, NULL, shape, error);
    return expr ? ig_tensor_of_expr(device, IgBool, expr, error) : NULL;
}

IgTensor *ig_dropout(IgTensor *x, double p, bool training, uint64_t seed, MTLError **error) {
    if (!x) return NULL;
    if (!(p >= 0 && p <= 1)) {
        ig_fail(error, IgErrorArgument, "ig_dropout: %g is no probability", p);
        return NULL;
    }
    if (!ig_is_float(ig_type(x))) {
        ig_fail(error, IgErrorType, "ig_dropout: a floating type is needed, not %s",
                ig_type_name(ig_type(x)));
        return NULL;
    }
    if (!training || p == 0) return ig_view("ig_dropout", x, &x->view, ig_rule_same, error);
    IgScope *scope = ig_scope_begin();
    IgTensor *keep = mask_of(ig_device(x), &x->view.shape, p, seed, error);
    IgTensor *more = ig_mul_scalar(x, p < 1 ? 1 / (1 - p) : 0, error);
    IgTensor *y = ig_elementwise(IG_OP_mask, (IgTensor *[]){keep, more}, NULL, IgBool, error);
    return ig_scope_return(scope, y);
}
