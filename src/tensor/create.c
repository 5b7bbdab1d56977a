// SPDX-License-Identifier: Apache-2.0
// create.c: tensors from nothing: from the host's memory, constants, ranges.
#include <string.h>
#include "tensor/alias.h"

static bool ready(const char *call, const IgDevice *device, IgType type, MTLError **error) {
    if (!device) return ig_fail(error, IgErrorDevice, "%s: no device", call);
    if (!ig_is_type(type)) return ig_fail(error, IgErrorType, "%s: no such type: %d", call, type);
    return true;
}

// New data whose memory the host may write.
static IgData *host_data(IgDevice *device, IgType type, int64_t n, MTLError **error) {
    IgData *data = ig_data_new(device, type, n);
    if (!data) {
        ig_fail_no_memory(error);
        return NULL;
    }
    size_t n_bytes = (size_t)n * ig_type_size(type);
    ig_lock(device);
    data->memory = ig_pool_take(device, n_bytes ? n_bytes : 1, true, error);
    ig_unlock(device);
    if (data->memory) return data;
    ig_data_release(data);
    return NULL;
}

// The first values of data that nobody else knows of yet.
static void fill_data(IgData *data, const void *bytes, size_t n_bytes) {
    if (n_bytes) memcpy(mtl_buffer_contents(data->memory->buffer), bytes, n_bytes);
    ig_pool_wrote(data->device, data->memory, n_bytes);
}

IgTensor *ig_from_data(IgDevice *device, IgType type, int rank, const int64_t *n, const void *bytes,
                       MTLError **error) {
    IgShape shape;
    if (!ready("ig_from_data", device, type, error) ||
        !ig_shape_check("ig_from_data", rank, n, &shape, error))
        return NULL;
    int64_t count = ig_shape_numel(&shape);
    if (count && !bytes) {
        ig_fail(error, IgErrorArgument, "ig_from_data: no data");
        return NULL;
    }
    IgData *data = host_data(device, type, count, error);
    if (!data) return NULL;
    fill_data(data, bytes, (size_t)count * ig_type_size(type));
    IgTensor *t = ig_tensor_new(data, &shape, NULL, 0, error);
    ig_data_release(data);
    return t;
}

bool ig_write(IgTensor *t, const void *bytes, size_t n_bytes, MTLError **error) {
    if (!t || !ig_alive("ig_write", t, error)) return false;
    size_t all = (size_t)ig_numel(t) * ig_type_size(t->view.data->type);
    if (n_bytes != all || (all && !bytes))
        return ig_fail(error, IgErrorArgument,
                       "ig_write: %zu bytes for shape %s of %s, which has %zu", n_bytes,
                       ig_shape_text(t->view.shape.rank, t->view.shape.n),
                       ig_type_name(t->view.data->type), all);
    IgDevice *device = t->view.data->device;
    IgData *data = host_data(device, t->view.data->type, ig_numel(t), error);
    if (!data) return false;
    fill_data(data, bytes, all);
    IgTensor *value = ig_tensor_new(data, &t->view.shape, NULL, 0, error);
    bool ok = ig_give(t, value, error);
    ig_drop(value);
    ig_data_release(data);
    return ok;
}

// Data of one element. Where it would have to be copied to the device, memory that has it already.
static IgData *constant(IgDevice *device, IgType type, double value, MTLError **error) {
    char element[8] = {0};
    ig_element_set(type, element, 0, value);
    IgData *data = NULL;
    for (int i = 0; i < IG_N_CONSTANTS && !device->unified && !data; i++) {
        ig_lock(device);
        IgConstant *c = &device->constants[i];
        bool found = c->buffer && c->type == type && !memcmp(c->element, element, sizeof element);
        if (found) c->buffer->n_shares++;
        IgBuffer *buffer = c->buffer;
        ig_unlock(device);
        if (!found) continue;
        data = ig_data_new(device, type, 1);
        if (data) {
            data->memory = buffer;
            return data;
        }
        ig_lock(device);
        ig_pool_give(device, buffer);
        ig_unlock(device);
        ig_fail_no_memory(error);
        return NULL;
    }
    data = host_data(device, type, 1, error);
    if (!data) return NULL;
    fill_data(data, element, ig_type_size(type));
    if (device->unified) return data;
    ig_lock(device);
    IgConstant *c = &device->constants[device->n_constants++ % IG_N_CONSTANTS];
    IgBuffer *old = c->buffer;
    *c = (IgConstant){type, {0}, data->memory};
    memcpy(c->element, element, sizeof element);
    data->memory->n_shares++;
    if (old) ig_pool_give(device, old);
    ig_unlock(device);
    return data;
}

IgTensor *ig_scalar(IgDevice *device, IgType type, double value, MTLError **error) {
    if (!ready("ig_scalar", device, type, error)) return NULL;
    return ig_full(device, type, 0, NULL, value, error);
}

IgTensor *ig_full(IgDevice *device, IgType type, int rank, const int64_t *n, double value,
                  MTLError **error) {
    IgShape shape;
    if (!ready("ig_full", device, type, error) ||
        !ig_shape_check("ig_full", rank, n, &shape, error))
        return NULL;
    IgData *data = constant(device, type, value, error);
    if (!data) return NULL;
    // One element that every index shows: nothing to write until somebody wants a copy.
    static const int64_t nowhere[IG_MAX_RANK];
    IgTensor *t = ig_tensor_new(data, &shape, nowhere, 0, error);
    if (t) t->loose = ig_shape_numel(&shape) != 1;
    ig_data_release(data);
    return t;
}

IgTensor *ig_zeros(IgDevice *device, IgType type, int rank, const int64_t *n, MTLError **error) {
    return ig_full(device, type, rank, n, 0, error);
}

IgTensor *ig_ones(IgDevice *device, IgType type, int rank, const int64_t *n, MTLError **error) {
    return ig_full(device, type, rank, n, 1, error);
}

IgTensor *ig_arange(IgDevice *device, IgType type, double start, double step, int64_t n,
                    MTLError **error) {
    IgShape shape;
    if (!ready("ig_arange", device, type, error) ||
        !ig_shape_check("ig_arange", 1, &n, &shape, error))
        return NULL;
    IgData *data = host_data(device, type, n, error);
    if (!data) return NULL;
    void *to = mtl_buffer_contents(data->memory->buffer);
    for (int64_t i = 0; i < n; i++) ig_element_set(type, to, i, start + (double)i * step);
    ig_pool_wrote(device, data->memory, (size_t)n * ig_type_size(type));
    IgTensor *t = ig_tensor_new(data, &shape, NULL, 0, error);
    ig_data_release(data);
    return t;
}
