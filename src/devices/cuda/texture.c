// SPDX-License-Identifier: Apache-2.0
// texture.c: records of textures, samplers and tensors where kernels find them: in the device's
// memory. Kernels read them with every texel, so pinned memory would not do. A handle is the
// address of a record (abi/handle.h); addresses in it are the device's already, but for what
// describes the pixel format, which comes along.
#include "devices/cuda/cuda_int.h"
#include "base/array.h"
#include <stdlib.h>
#include "abi/pixel_format.h"

enum { SLAB_BYTES = 65536 };

typedef struct TextureRecord {
    AbiTexture texture;
    AbiPixelFormat format;
} TextureRecord;

// A place of a size class: 0 textures, 1 the rest. Under the device's lock.
static const size_t class_bytes[CUDA_RECORD_CLASSES] = {1024, 512};
_Static_assert(sizeof(TextureRecord) <= 1024 && sizeof(AbiTensor) <= 512 &&
                   sizeof(AbiSampler) <= 512,
               "they fit");

// Room for the free places of one more slab.
static bool grow(CudaRecords *r, size_t more) {
    return array_reserve(&r->free, &r->capacity, r->n_free + more);
}

CUdeviceptr cuda_record_take(CudaDevice *d, unsigned class) {
    CudaRecords *r = &d->records[class];
    size_t n = SLAB_BYTES / class_bytes[class];
    CUdeviceptr place = 0;
    pthread_mutex_lock(&d->lock);
    // Everything that was ever taken may come back: there must be room for it.
    if (r->n_free == 0 && grow(r, r->n_places + n)) {
        CUdeviceptr slab = cuda_alloc(d, SLAB_BYTES, false);
        for (size_t i = 0; slab && i < n; i++)
            r->free[r->n_free++] = slab + (n - 1 - i) * class_bytes[class];
        r->n_places += slab ? n : 0;
    }
    if (r->n_free) place = r->free[--r->n_free];
    pthread_mutex_unlock(&d->lock);
    return place;
}

void cuda_record_give(CudaDevice *d, unsigned class, CUdeviceptr place) {
    pthread_mutex_lock(&d->lock);
    d->records[class].free[d->records[class].n_free++] = place;
    pthread_mutex_unlock(&d->lock);
}

bool cuda_record_put(CudaDevice *d, CUdeviceptr to, const void *record, size_t n_bytes) {
    pthread_mutex_lock(&d->service_lock);
    CUresult result =
        d->driver->cuMemcpyAsync(to, (CUdeviceptr)(uintptr_t)record, n_bytes, d->service);
    if (!result) result = d->driver->cuStreamSynchronize(d->service);
    pthread_mutex_unlock(&d->service_lock);
    if (cuda_is_fatal(result)) cuda_lose(d, result);
    return !result;
}

// `class` is kept in the handle's part, as a number above 0.
bool cuda_record_make(CudaDevice *d, unsigned class, const void *record, size_t n_bytes,
                      CUdeviceptr place, DevHandle *handle) {
    if (!place) place = cuda_record_take(d, class);
    if (!place) return false;
    if (!cuda_record_put(d, place, record, n_bytes)) {
        cuda_record_give(d, class, place);
        return false;
    }
    uint64_t number = atomic_fetch_add(&d->n_records, 1);
    *handle = (DevHandle){.value = abi_handle_of((const void *)(uintptr_t)place, number),
                          .n_bytes = (uint32_t)n_bytes,
                          .part = (void *)(uintptr_t)(class + 1)};
    return true;
}

static TextureRecord texture_at(CudaDevice *d, const AbiTexture *record, CUdeviceptr place) {
    TextureRecord here = {.texture = *record};
    if (record->format) here.format = *record->format;
    if (record->format && abi_format_is_blocked(record->format)) atomic_store(&d->has_blocks, true);
    here.format.name = NULL;
    here.texture.format =
        (const AbiPixelFormat *)(uintptr_t)(place + offsetof(TextureRecord, format));
    here.texture.sparse = NULL; // all texels have memory here
    return here;
}

bool cuda_texture_put(CudaDevice *d, const AbiTexture *record, CUdeviceptr place) {
    const TextureRecord here = texture_at(d, record, place);
    return cuda_record_put(d, place, &here, sizeof here);
}

bool cuda_texture_make(void *context, const AbiTexture *record, DevHandle *handle) {
    CudaDevice *d = context;
    if (!cuda_enter(d)) return false;
    CUdeviceptr place = cuda_record_take(d, 0);
    const TextureRecord here = texture_at(d, record, place);
    bool ok = place && cuda_record_make(d, 0, &here, sizeof here, place, handle);
    cuda_leave(d);
    return ok;
}

bool cuda_sampler_make(void *context, const AbiSampler *record, DevHandle *handle) {
    CudaDevice *d = context;
    if (!cuda_enter(d)) return false;
    bool ok = cuda_record_make(d, 1, record, sizeof *record, 0, handle);
    cuda_leave(d);
    return ok;
}

void cuda_handle_free(void *context, DevHandle *handle) {
    if (!handle->part) return;
    cuda_record_give(context, (unsigned)(uintptr_t)handle->part - 1,
                     handle->value & ABI_HANDLE_ADDRESS);
    *handle = (DevHandle){0};
}

void cuda_records_free(CudaDevice *d) {
    for (unsigned i = 0; i < CUDA_RECORD_CLASSES; i++) free(d->records[i].free);
}
