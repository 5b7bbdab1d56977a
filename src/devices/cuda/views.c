// SPDX-License-Identifier: Apache-2.0
// views.c: pools of texture views. The number of a view is its place in one table of addresses in
// the device's memory, of which every launch says where it is (CudaGrid.views); what stands there
// is the address of a record like that of any texture (texture.c), or 0: nothing.
#include "devices/cuda/cuda_int.h"
#include <stdlib.h>
#include "base/ranges.h"

typedef struct CudaView {
    AbiTexture shown; // as the runtime knows it
    CUdeviceptr place;
    bool there;
} CudaView;

struct CudaViews { // its own lock: what the driver does takes longer than the device's may
    pthread_mutex_t lock;
    Ranges numbers;
    CUdeviceptr table;
    CudaView *views[ABI_VIEW_POOL_SLOTS]; // NULL: never set
};

static size_t number_of(uint64_t id) { return (size_t)(id & (ABI_VIEW_POOL_SLOTS - 1)); }

static CudaViews *create_views(CudaDevice *d) {
    CudaViews *v = calloc(1, sizeof *v);
    if (!v || !ranges_begin(&v->numbers, ABI_VIEW_POOL_SLOTS)) goto fail;
    v->table = cuda_alloc(d, ABI_VIEW_POOL_SLOTS * sizeof v->table, true);
    if (!v->table) goto fail;
    pthread_mutex_init(&v->lock, NULL);
    return v;
fail:
    if (v) ranges_end(&v->numbers);
    free(v);
    return NULL;
}

// Launches look at it without a lock.
static CudaViews *views_of(CudaDevice *d) {
    CudaViews *v = atomic_load(&d->views), *none = NULL;
    if (v || !(v = create_views(d))) return v;
    if (atomic_compare_exchange_strong(&d->views, &none, v)) return v;
    cuda_release(d, v->table); // another thread was first
    ranges_end(&v->numbers);
    pthread_mutex_destroy(&v->lock);
    free(v);
    return none;
}

CUdeviceptr cuda_views_table(const CudaDevice *d) {
    const CudaViews *v = atomic_load(&d->views);
    return v ? v->table : 0;
}

uint64_t cuda_views_take(void *context, size_t n) {
    CudaDevice *d = context;
    size_t first = 0;
    if (!n || !cuda_enter(d)) return 0;
    CudaViews *v = views_of(d);
    cuda_leave(d);
    if (!v) return 0;
    pthread_mutex_lock(&v->lock);
    bool ok = ranges_take(&v->numbers, n, &first);
    pthread_mutex_unlock(&v->lock);
    return ok ? ABI_TEXTURE_POOLED | first : 0;
}

// The entries of a range say that nothing is there. In the context, or it is lost.
static void empty(CudaDevice *d, CudaViews *v, size_t first, size_t n) {
    pthread_mutex_lock(&d->service_lock);
    CUresult result = d->driver->cuMemsetD8Async(v->table + first * sizeof v->table, 0,
                                                 n * sizeof v->table, d->service);
    if (!result) result = d->driver->cuStreamSynchronize(d->service);
    pthread_mutex_unlock(&d->service_lock);
    if (cuda_is_fatal(result)) cuda_lose(d, result);
}

void cuda_views_give(void *context, uint64_t id, size_t n) {
    CudaDevice *d = context;
    CudaViews *v = atomic_load(&d->views);
    size_t first = number_of(id);
    if (!id || !n || !v) return;
    if (cuda_enter(d)) {
        empty(d, v, first, n);
        cuda_leave(d);
    }
    pthread_mutex_lock(&v->lock);
    for (size_t i = first; i < first + n; i++) {
        if (v->views[i] && v->views[i]->place) cuda_record_give(d, 0, v->views[i]->place);
        free(v->views[i]);
        v->views[i] = NULL;
    }
    ranges_give(&v->numbers, first, n);
    pthread_mutex_unlock(&v->lock);
}

// Lock held. The record first: who finds its address finds all of it.
static bool set(CudaDevice *d, CudaViews *v, size_t number, const AbiTexture *record) {
    CudaView *view = v->views[number];
    if (!view && !(view = v->views[number] = calloc(1, sizeof *view))) return false;
    if (!record->format) {
        if (view->there) empty(d, v, number, 1);
        view->there = false;
        return true;
    }
    if (!view->place && !(view->place = cuda_record_take(d, 0))) return false;
    if (!cuda_texture_put(d, record, view->place)) return false;
    view->shown = *record;
    if (!view->there)
        view->there = cuda_record_put(d, v->table + number * sizeof v->table, &view->place,
                                      sizeof view->place);
    return view->there;
}

bool cuda_view_set(void *context, uint64_t id, const AbiTexture *record) {
    CudaDevice *d = context;
    CudaViews *v = atomic_load(&d->views);
    if (!v || !cuda_enter(d)) return false;
    pthread_mutex_lock(&v->lock);
    bool ok = set(d, v, number_of(id), record);
    pthread_mutex_unlock(&v->lock);
    cuda_leave(d);
    return ok;
}

const AbiTexture *cuda_view_at(void *context, uint64_t id) {
    CudaViews *v = atomic_load(&((CudaDevice *)context)->views);
    if (!v || (id & ~(ABI_VIEW_POOL_SLOTS - 1)) != ABI_TEXTURE_POOLED) return NULL;
    pthread_mutex_lock(&v->lock);
    const CudaView *view = v->views[number_of(id)];
    pthread_mutex_unlock(&v->lock);
    return view && view->there ? &view->shown : NULL;
}

void cuda_views_free(CudaDevice *d) {
    CudaViews *v = atomic_load(&d->views);
    if (!v) return;
    for (size_t i = 0; i < ABI_VIEW_POOL_SLOTS; i++) free(v->views[i]);
    ranges_end(&v->numbers);
    pthread_mutex_destroy(&v->lock);
    free(v);
}
