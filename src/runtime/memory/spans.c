// SPDX-License-Identifier: Apache-2.0
// spans.c: see spans.h. A list, because buffers come and go far more often than somebody asks; who
// asks pays for the sorting.
#include "runtime/memory/spans.h"
#include <stdlib.h>
#include "runtime/memory/resource.h"

static void add_span(RtSpan *span) {
    RtSpanList *list = &span->device->spans;
    pthread_mutex_lock(&list->lock);
    span->next = list->first;
    span->before = &list->first;
    if (list->first) list->first->before = &span->next;
    list->first = span;
    list->n++;
    pthread_mutex_unlock(&list->lock);
}

void rt_span_add(RtSpan *span, const struct MTLResource *resource, const void *start,
                 size_t n_bytes) {
    *span = (RtSpan){
        .start = start, .n_bytes = n_bytes, .device = resource->device, .resource = resource};
    add_span(span);
}

void rt_span_add_handle(RtSpan *span, MTLDevice *device, const struct MTLResource *resource,
                        AbiLiveKind kind, const DevHandle *handle) {
    *span = (RtSpan){.start = (const char *)(uintptr_t)handle->value,
                     .n_bytes = handle->n_bytes ? handle->n_bytes : 1,
                     .kind = kind,
                     .device = device,
                     .resource = resource};
    add_span(span);
}

void rt_span_remove(RtSpan *span) {
    if (!span->device) return;
    RtSpanList *list = &span->device->spans;
    pthread_mutex_lock(&list->lock);
    *span->before = span->next;
    if (span->next) span->next->before = span->before;
    span->device = NULL;
    list->n--;
    pthread_mutex_unlock(&list->lock);
}

bool rt_span_find(MTLDevice *device, const void *address,
                  void (*visit)(const RtSpan *span, void *context), void *context) {
    const char *at = address;
    pthread_mutex_lock(&device->spans.lock);
    const RtSpan *s = device->spans.first;
    while (s && !(s->resource && at >= s->start && (size_t)(at - s->start) < s->n_bytes))
        s = s->next;
    if (s) visit(s, context);
    pthread_mutex_unlock(&device->spans.lock);
    return s != NULL;
}

static int by_start(const void *a, const void *b) {
    const AbiSpan *x = a, *y = b;
    return x->start < y->start ? -1 : x->start > y->start;
}

static void add_handle(AbiLiveHandle *handles, uint64_t mask, const RtSpan *s) {
    uint64_t value = (uint64_t)(uintptr_t)s->start, at = abi_live_place(value) & mask;
    while (handles[at].value) at = (at + 1) & mask;
    handles[at] = (AbiLiveHandle){value, s->kind};
}

// Sorts n spans and joins those that overlap. How many are left.
static size_t join(AbiSpan *all, size_t n) {
    size_t left = 0;
    qsort(all, n, sizeof *all, by_start);
    for (size_t i = 0; i < n; i++) {
        AbiSpan *last = left ? &all[left - 1] : NULL;
        if (!last || all[i].start >= last->end)
            all[left++] = all[i];
        else if (all[i].end > last->end)
            last->end = all[i].end;
    }
    return left;
}

AbiLive *rt_live_copy(MTLDevice *device) {
    pthread_mutex_lock(&device->spans.lock);
    size_t n_handles = 0, k = 0, size = 2;
    for (const RtSpan *s = device->spans.first; s; s = s->next) n_handles += s->kind != 0;
    while (size < 2 * n_handles + 1) size *= 2;
    size_t n_spans = device->spans.n - n_handles;
    AbiLive *live =
        rt_alloc(sizeof *live + size * sizeof *live->handles + n_spans * sizeof *live->spans);
    AbiLiveHandle *handles = live ? (AbiLiveHandle *)(live + 1) : NULL;
    AbiSpan *spans = live ? (AbiSpan *)(handles + size) : NULL;
    for (const RtSpan *s = device->spans.first; live && s; s = s->next)
        if (s->kind)
            add_handle(handles, size - 1, s);
        else
            spans[k++] = (AbiSpan){(uint64_t)s->start, (uint64_t)s->start + s->n_bytes};
    pthread_mutex_unlock(&device->spans.lock);
    if (live) *live = (AbiLive){spans, join(spans, k), handles, size - 1};
    return live;
}
