// SPDX-License-Identifier: Apache-2.0
// data.c: the values behind tensors: memory, or the expression that computes it (lazy evaluation).
#include <stdlib.h>
#include "tensor/fuse.h"
#include "tensor/free_list.h"
#include "tensor/tensor_int.h"

IgData *ig_data_new(IgDevice *device, IgType type, int64_t n) {
    IgData *data = ig_free_list_pop(IG_FREE_LIST_DATA, sizeof *data);
    if (!data) return NULL;
    *data = (IgData){.device = device, .type = type, .n = n};
    atomic_init(&data->refs, 1);
    atomic_fetch_add_explicit(&device->refs, 1, memory_order_relaxed);
    return data;
}

void ig_lock(IgDevice *device) { pthread_mutex_lock(&device->lock); }

// What was put off while the lock was held: freeing an expression takes the lock again for its
// inputs.
void ig_unlock(IgDevice *device) {
    IgExpr *list = device->deferred;
    device->deferred = NULL;
    pthread_mutex_unlock(&device->lock);
    for (IgExpr *next; list; list = next) {
        next = list->next;
        ig_expr_free(list);
    }
}

void ig_defer(IgDevice *device, IgExpr *expr) {
    expr->next = device->deferred;
    device->deferred = expr;
}

void ig_expr_free(IgExpr *expr) {
    if (!expr) return;
    if (expr->drop) expr->drop(expr);
    for (int i = 0; i < expr->n_inputs; i++) ig_data_release(expr->inputs[i].data);
    ig_free_list_push(IG_FREE_LIST_EXPR, expr);
}

void ig_data_release(IgData *data) {
    if (!data || atomic_fetch_sub_explicit(&data->refs, 1, memory_order_acq_rel) != 1) return;
    IgDevice *device = data->device;
    if (data->memory) {
        ig_lock(device);
        ig_pool_give(device, data->memory);
        ig_unlock(device);
    }
    ig_expr_free(data->expr);
    ig_free_list_push(IG_FREE_LIST_DATA, data);
    ig_device_release(device);
}

bool ig_data_allocate(IgData *data, MTLError **error) {
    if (data->replaces) {
        data->memory = data->replaces->memory;
        data->replaces->memory = NULL;
        data->written = data->device->recording;
        return true;
    }
    size_t n_bytes = (size_t)data->n * ig_type_size(data->type);
    data->memory = ig_pool_take(data->device, n_bytes ? n_bytes : 1, false, error);
    if (!data->memory) return false;
    data->written = data->device->recording;
    return true;
}

// A matter of microseconds, if its kernel is there? Nothing has been noted of what it would join.
static bool is_quick(const IgExpr *expr) {
    bool quick = expr->op >= 0 || expr->dispatches;
    for (int i = 0; i < expr->n_inputs; i++) quick = quick && expr->inputs[i].data->memory;
    return quick;
}

bool ig_data_make(IgData *data, MTLError **error) {
    if (data->memory) return true;
    if (data->device->known_only && !is_quick(data->expr)) return false;
    if (data->expr->op >= 0) return ig_fuse(data, error);
    IgExpr *expr = data->expr;
    if (!expr->run(data->device, data, error)) {
        if (data->memory) ig_pool_give(data->device, data->memory);
        data->memory = NULL;
        return false;
    }
    // One of several dispatches may have been the last of its command buffer: the others are in the
    // next one, which is the one to wait for.
    if (data->device->encoded > data->written) data->written = data->device->encoded;
    ig_defer(data->device, expr);
    data->expr = NULL;
    return true;
}
