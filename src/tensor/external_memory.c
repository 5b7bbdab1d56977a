// SPDX-License-Identifier: Apache-2.0
// external_memory.c: tensors over external memory, and whether values are available: for bindings
// to other languages; C programs rarely need it.
#include <stdlib.h>
#include "tensor/tensor_int.h"

// The elements from the first to the last that a view shows lie within n; no index overflows.
static bool inside(const IgShape *shape, const int64_t *strides, uint64_t first, uint64_t n) {
    uint64_t last = first;
    for (int i = 0; i < shape->rank; i++) {
        if (shape->n[i] == 0) return true;
        uint64_t reach;
        if (strides[i] < 0 ||
            __builtin_mul_overflow((uint64_t)shape->n[i] - 1, (uint64_t)strides[i], &reach) ||
            __builtin_add_overflow(last, reach, &last))
            return false;
    }
    return last < n;
}

IgTensor *ig_from_buffer(IgDevice *device, IgType type, int rank, const int64_t *n,
                         const int64_t *strides, MTLBuffer *buffer, size_t offset,
                         MTLError **error) {
    IgShape shape;
    int64_t packed[IG_MAX_RANK];
    if (!device || !buffer) {
        ig_fail(error, device ? IgErrorArgument : IgErrorDevice, "ig_from_buffer: no %s",
                device ? "buffer" : "device");
        return NULL;
    }
    if (!ig_is_type(type)) {
        ig_fail(error, IgErrorType, "ig_from_buffer: no such type: %d", type);
        return NULL;
    }
    if (!ig_shape_check("ig_from_buffer", rank, n, &shape, error)) return NULL;
    if (mtl_buffer_device(buffer) != device->metal) {
        ig_fail(error, IgErrorDevice, "ig_from_buffer: the buffer is of another device");
        return NULL;
    }
    size_t size = ig_type_size(type), length = mtl_buffer_length(buffer);
    if (!strides) {
        ig_packed_strides(&shape, packed);
        strides = packed;
    }
    MTLStorageMode mode = mtl_buffer_storage_mode(buffer);
    if (mode == MTLStorageModePrivate || offset % size ||
        !inside(&shape, strides, offset / size, length / size)) {
        ig_fail(error, IgErrorArgument,
                "ig_from_buffer: shape %s of %s at byte %zu does not lie in a shared or managed "
                "buffer of %zu bytes",
                ig_shape_text(shape.rank, shape.n), ig_type_name(type), offset, length);
        return NULL;
    }
    IgTensor *t = NULL;
    IgData *data = ig_data_new(device, type, (int64_t)(length / size));
    IgBuffer *memory = calloc(1, sizeof *memory);
    if (!data || !memory) {
        free(memory);
        ig_fail_no_memory(error);
        goto end;
    }
    *memory = (IgBuffer){.buffer = mtl_retain(buffer),
                         .capacity = length,
                         .foreign = true,
                         .lent = !device->unified && mode == MTLStorageModeManaged};
    data->memory = memory;
    t = ig_tensor_new(data, &shape, strides, (int64_t)(offset / size), error);
end:
    ig_data_release(data);
    return t;
}

bool ig_lend(IgTensor *t, uint64_t *address, MTLError **error) {
    if (!t || !address || !ig_alive("ig_lend", t, error)) return false;
    IgData *data = t->view.data;
    IgDevice *device = data->device;
    ig_lock(device);
    bool ok = ig_data_make(data, error) && ig_pool_own(device, data, error);
    IgBuffer *b = ok ? data->memory : NULL;
    if (ok && !device->unified && mtl_buffer_storage_mode(b->buffer) != MTLStorageModeManaged)
        ok = ig_fail(error, IgErrorDevice,
                     "ig_lend: the tensor lies in memory of the host's, not of the device's");
    ok = ok && ig_wait(device, b->last_use > data->written ? b->last_use : data->written, error);
    if (ok) {
        b->lent = true;
        *address =
            mtl_buffer_gpu_address(b->buffer) + (uint64_t)t->view.offset * ig_type_size(data->type);
    }
    ig_unlock(device);
    return ok;
}

bool ig_ready(IgTensor *t) {
    if (!t) return true;
    IgDevice *device = t->view.data->device;
    // Whoever holds the lock may be waiting: the answer must not.
    if (pthread_mutex_trylock(&device->lock)) return false;
    ig_poll(device);
    bool ready = t->view.data->memory && !ig_under_way(device, t->view.data->written);
    ig_unlock(device);
    return ready;
}
