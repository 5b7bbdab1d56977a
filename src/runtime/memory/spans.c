// SPDX-License-Identifier: Apache-2.0
// spans.c: see spans.h. A list, because buffers come and go far more often than somebody asks; who
// asks pays for the sorting.
#include "runtime/memory/spans.h"
#include <stdlib.h>
#include "runtime/memory/resource.h"

void rt_span_add(RtSpan *span, const struct MTLResource *resource, const void *start,
                 size_t n_bytes) {
    RtSpanList *list = &resource->device->spans;
    span->resource = resource;
    span->start = start;
    span->n_bytes = n_bytes;
    pthread_mutex_lock(&list->lock);
    span->next = list->first;
    span->before = &list->first;
    if (list->first) list->first->before = &span->next;
    list->first = span;
    list->n++;
    pthread_mutex_unlock(&list->lock);
}

void rt_span_remove(RtSpan *span) {
    if (!span->resource) return;
    RtSpanList *list = &span->resource->device->spans;
    pthread_mutex_lock(&list->lock);
    *span->before = span->next;
    if (span->next) span->next->before = span->before;
    span->resource = NULL;
    list->n--;
    pthread_mutex_unlock(&list->lock);
}

bool rt_span_find(MTLDevice *device, const void *address,
                  void (*visit)(const RtSpan *span, void *context), void *context) {
    const char *at = address;
    pthread_mutex_lock(&device->spans.lock);
    const RtSpan *s = device->spans.first;
    while (s && !(at >= s->start && (size_t)(at - s->start) < s->n_bytes)) s = s->next;
    if (s) visit(s, context);
    pthread_mutex_unlock(&device->spans.lock);
    return s != NULL;
}

static int by_start(const void *a, const void *b) {
    const AbiSpan *x = a, *y = b;
    return x->start < y->start ? -1 : x->start > y->start;
}

AbiSpan *rt_spans_copy(MTLDevice *device, size_t *n) {
    pthread_mutex_lock(&device->spans.lock);
    AbiSpan *all = rt_alloc((device->spans.n + 1) * sizeof *all);
    size_t k = 0;
    for (const RtSpan *s = device->spans.first; all && s; s = s->next, k++)
        all[k] = (AbiSpan){(uint64_t)s->start, (uint64_t)s->start + s->n_bytes};
    pthread_mutex_unlock(&device->spans.lock);
    *n = 0;
    if (!all) return NULL;
    qsort(all, k, sizeof *all, by_start);
    for (size_t i = 0; i < k; i++) {
        AbiSpan *last = *n ? &all[*n - 1] : NULL;
        if (!last || all[i].start >= last->end)
            all[(*n)++] = all[i];
        else if (all[i].end > last->end)
            last->end = all[i].end;
    }
    return all;
}
