// SPDX-License-Identifier: Apache-2.0
// resource.c: records of textures, samplers and tensors where the child sees them. They are copies:
// the runtime goes by its own, whatever a kernel makes of these.
#include <stdlib.h>
#include <string.h>
#include "abi/pixel_format.h"
#include "devices/cpu/texture/view_pool.h"
#include "devices/isolate/isolate_int.h"

enum { RECORD = 1024, RECORDS = 64 }; // a record's place, and how many come at a time
_Static_assert(sizeof(AbiTexture) <= RECORD && sizeof(AbiTensor) <= RECORD, "any of them fits");

static IsoRecord *take_record(IsoDevice *d) {
    pthread_mutex_lock(&d->lock);
    if (!d->free_records) {
        char *fresh = iso_range_take(&d->range, (size_t)RECORD * RECORDS);
        IsoRecord *list = fresh ? calloc(RECORDS, sizeof *list) : NULL;
        for (size_t i = 0; list && i < RECORDS; i++)
            list[i] = (IsoRecord){i + 1 < RECORDS ? &list[i + 1] : NULL, fresh + i * RECORD};
        d->free_records = list;
    }
    IsoRecord *r = d->free_records;
    if (r) d->free_records = r->next;
    pthread_mutex_unlock(&d->lock);
    return r;
}

static bool make_record(IsoDevice *d, const void *bytes, size_t n_bytes, DevHandle *handle) {
    IsoRecord *r = take_record(d);
    if (!r) return false;
    memcpy(r->at, bytes, n_bytes);
    *handle = (DevHandle){.value = (uintptr_t)r->at, .n_bytes = (uint32_t)n_bytes, .part = r};
    return true;
}

// Formats are constants of a program: each process has them elsewhere.
const AbiPixelFormat *iso_format(IsoDevice *d, const AbiPixelFormat *format) {
    if (!format || format->value >= sizeof d->formats / sizeof *d->formats) return NULL;
    pthread_mutex_lock(&d->lock);
    AbiPixelFormat **at = &d->formats[format->value];
    if (!*at && (*at = iso_range_take(&d->range, sizeof **at))) {
        **at = *format;
        (*at)->name = (const char *)(*at + 1); // ""
    }
    pthread_mutex_unlock(&d->lock);
    return *at;
}

bool iso_texture_make(void *context, const AbiTexture *record, DevHandle *handle) {
    AbiTexture copy = *record;
    copy.format = iso_format(context, record->format);
    return copy.format && make_record(context, &copy, sizeof copy, handle);
}

bool iso_sampler_make(void *context, const AbiSampler *record, DevHandle *handle) {
    return make_record(context, record, sizeof *record, handle);
}

bool iso_tensor_make(void *context, const AbiTensor *record, DevHandle *handle) {
    return make_record(context, record, sizeof *record, handle);
}

void iso_handle_free(void *context, DevHandle *handle) {
    IsoDevice *d = context;
    IsoRecord *r = handle->part;
    if (!r) return;
    memset(r->at, 0, RECORD);
    pthread_mutex_lock(&d->lock);
    r->next = d->free_records;
    d->free_records = r;
    pthread_mutex_unlock(&d->lock);
}

// ---- Pools of views ----
// Ids and what is behind them are the host's own CPU device's; the child has a copy.

static AbiTexture *views_of(IsoDevice *d) {
    AbiTexture *views = atomic_load(&d->views);
    if (views) return views;
    const size_t n_bytes = ABI_VIEW_POOL_SLOTS * sizeof *views;
    views = iso_range_take(&d->range, n_bytes);
    if (views && !iso_ask(d, ISO_POOL, views)) {
        iso_range_give(&d->range, views, n_bytes);
        return NULL;
    }
    AbiTexture *none = NULL;
    if (views && !atomic_compare_exchange_strong(&d->views, &none, views)) {
        iso_ask(d, ISO_POOL, none); // another thread was first
        iso_range_give(&d->range, views, n_bytes);
        return none;
    }
    return views;
}

uint64_t iso_views_take(void *context, size_t n) {
    return views_of(context) ? cpu_view_pool_take(n) : 0;
}

void iso_views_give(void *context, uint64_t first, size_t n) {
    AbiTexture *views = views_of(context);
    if (views && first) memset(&views[first & (ABI_VIEW_POOL_SLOTS - 1)], 0, n * sizeof *views);
    cpu_view_pool_give(first, n);
}

bool iso_view_set(void *context, uint64_t id, const AbiTexture *record) {
    AbiTexture *views = views_of(context), copy = *record;
    *cpu_view_pool_slot(id) = *record;
    if (!views) return false;
    copy.format = iso_format(context, record->format);
    views[id & (ABI_VIEW_POOL_SLOTS - 1)] = copy;
    return true;
}

const AbiTexture *iso_view_at(void *context, uint64_t id) {
    (void)context;
    return (id & ~(ABI_VIEW_POOL_SLOTS - 1)) == ABI_TEXTURE_POOLED ? cpu_texture_of(id) : NULL;
}
