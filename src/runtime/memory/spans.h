// SPDX-License-Identifier: Apache-2.0
// spans.h: the live buffers of the device, as ranges of addresses. Kernels that are checked
// (shader_validation.h) look up pointers they read from memory.
#ifndef INGOT_RUNTIME_SPANS_H
#define INGOT_RUNTIME_SPANS_H
#include <stdbool.h>
#include <stddef.h>
#include "abi/kernel.h"

typedef struct RtSpan {            // in the buffer; all under the lock of spans.c
    struct RtSpan *next, **before; // before: NULL if it is not in the list
    const char *start;
    size_t n_bytes;
    const struct MTLResource *resource; // whose memory it is
} RtSpan;

void rt_span_add(RtSpan *span, const struct MTLResource *resource, const void *start,
                 size_t n_bytes);
void rt_span_remove(RtSpan *span); // no-op if it was never added
// Calls visit, under the lock, with a span that holds the address; false: there is none.
bool rt_span_find(const void *address, void (*visit)(const RtSpan *span, void *context),
                  void *context);
// All of them, sorted, overlapping ones (aliases in heaps) as one. NULL if there is no memory, else
// to be freed with rt_free; *n: how many.
AbiSpan *rt_spans_copy(size_t *n);
#endif
