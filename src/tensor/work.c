// SPDX-License-Identifier: Apache-2.0
// work.c: an operation that is one dispatch: its expression, kernel and bindings.
#include "tensor/work.h"
#include "ig_texts.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

bool ig_work_clear(IgDevice *device, IgData *data, MTLError **error) {
    IgWork w = {.kernel = {ig_text_clear_metal, "clear", ig_type_metal(data->type), NULL}};
    IgKernel *kernel = ig_kernel_of(device, &w.kernel, error);
    ig_work_threads(&w, data->n, 1);
    IgBinding out = {data->memory, 0};
    return kernel && ig_encode(device, kernel, w.words, sizeof w.words, &out, 1, w.grid, w.group,
                               false, error);
}

static bool run_work(IgDevice *device, IgData *data, MTLError **error) {
    const IgExpr *expr = data->expr;
    IgWork *w = expr->extra;
    IgBinding bindings[IG_MAX_INPUTS + 2];
    int n = expr->n_inputs;
    for (int i = 0; i < n; i++) {
        const IgView *in = &expr->inputs[i];
        if (!ig_data_make(in->data, error)) return false;
        bindings[i] =
            (IgBinding){in->data->memory, (size_t)in->offset * ig_type_size(in->data->type)};
    }
    if (!ig_data_allocate(data, error)) return false;
    if (data->n == 0) return true;
    IgKernel *kernel = ig_kernel_of(device, &w->kernel, error);
    if (!kernel || (w->clear && !ig_work_clear(device, data, error))) return false;
    bindings[n] = (IgBinding){data->memory, 0};
    IgBuffer *scratch = w->scratch ? ig_pool_take(device, w->scratch, false, error) : NULL;
    if (w->scratch && !scratch) return false;
    if (scratch) bindings[++n] = (IgBinding){scratch, 0};
    ig_more_work(device, w->products);
    bool ok = ig_encode(device, kernel, w->words, sizeof w->words, bindings, (size_t)n + 1, w->grid,
                        w->group, w->groups, error);
    if (scratch) ig_pool_give(device, scratch); // what comes later may have it
    return ok;
}

IgTensor *ig_work(const char *call, const IgWork *work, int n, IgTensor *const *inputs,
                  const IgShape *shape, IgType type, MTLError **error) {
    IgView views[IG_MAX_INPUTS];
    IgShape checked;
    for (int i = 0; i < n; i++) {
        if (!inputs[i]) return NULL;
        views[i] = inputs[i]->view;
    }
    if (!ig_shape_check(call, shape->rank, shape->n, &checked, error)) return NULL;
    IgExpr *expr = ig_expr_with(run_work, work, sizeof *work, n, views, shape, error);
    if (expr) expr->dispatches = true;
    return expr ? ig_tensor_of_expr(ig_device(inputs[0]), type, expr, error) : NULL;
}

void ig_work_threads(IgWork *work, int64_t x, int64_t y) {
    size_t width = x < 256 ? (size_t)(x ? x : 1) : 256, most = 256 / width;
    work->grid = mtl_size_make((size_t)x, (size_t)y, 1);
    work->group = mtl_size_make(width, (size_t)y < most ? (size_t)(y ? y : 1) : most, 1);
    work->groups = false;
}

enum { HELD_BY_ONE = 1024, HELD_BY_EIGHT = 8192 };

const char *ig_rows_held(const IgDevice *device, const IgView *x, int64_t n) {
    static const char *const one[] = {"WIDE=1 HELD=1", "WIDE=1 HELD=2", "WIDE=1 HELD=4",
                                      "WIDE=1 HELD=8"};
    static const char *const eight[] = {"WIDE=8 HELD=1", "WIDE=8 HELD=2", "WIDE=8 HELD=4",
                                        "WIDE=8 HELD=8"};
    if (!device->gpu || n % 4 || x->offset % 4 || n > HELD_BY_EIGHT) return NULL;
    int64_t each = n <= HELD_BY_ONE ? HELD_BY_ONE / 8 : HELD_BY_EIGHT / 8;
    int k = n <= each ? 0 : n <= 2 * each ? 1 : n <= 4 * each ? 2 : 3;
    return (n <= HELD_BY_ONE ? one : eight)[k];
}

size_t ig_rows_held_threads(int64_t n, int64_t n_rows) {
    return (size_t)n_rows * (n > HELD_BY_ONE ? 256 : 32);
}
