// SPDX-License-Identifier: Apache-2.0
// spans.c: see spans.h. A list, because buffers come and go far more often than somebody asks; who
// asks pays for the sorting.
#include "runtime/memory/spans.h"
#include <stdlib.h>
#include "runtime/object/object.h"

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static RtSpan *first;
static size_t n_live;

void rt_span_add(RtSpan *span, const struct MTLResource *resource, const void *start,
                 size_t n_bytes) {
    span->resource = resource;
    span->start = start;
    span->n_bytes = n_bytes;
    pthread_mutex_lock(&lock);
    span->next = first;
    span->before = &first;
    if (first) first->before = &span->next;
    first = span;
    n_live++;
    pthread_mutex_unlock(&lock);
}

void rt_span_remove(RtSpan *span) {
    pthread_mutex_lock(&lock);
    if (span->before) {
        *span->before = span->next;
        if (span->next) span->next->before = span->before;
        span->before = NULL;
        n_live--;
    }
    pthread_mutex_unlock(&lock);
}

bool rt_span_find(const void *address, void (*visit)(const RtSpan *span, void *context),
                  void *context) {
    const char *at = address;
    pthread_mutex_lock(&lock);
    const RtSpan *s = first;
    while (s && !(at >= s->start && (size_t)(at - s->start) < s->n_bytes)) s = s->next;
    if (s) visit(s, context);
    pthread_mutex_unlock(&lock);
    return s != NULL;
}

static int by_start(const void *a, const void *b) {
    const AbiSpan *x = a, *y = b;
    return x->start < y->start ? -1 : x->start > y->start;
}

AbiSpan *rt_spans_copy(size_t *n) {
    pthread_mutex_lock(&lock);
    AbiSpan *all = rt_alloc((n_live + 1) * sizeof *all);
    size_t k = 0;
    for (const RtSpan *s = first; all && s; s = s->next, k++)
        all[k] = (AbiSpan){(uint64_t)s->start, (uint64_t)s->start + s->n_bytes};
    pthread_mutex_unlock(&lock);
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
