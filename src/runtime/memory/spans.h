// SPDX-License-Identifier: Apache-2.0
// spans.h: the live buffers of a device, as ranges of addresses. Kernels that are checked
// (shader_validation.h) look up pointers they read from memory.
#ifndef INGOT_RUNTIME_SPANS_H
#define INGOT_RUNTIME_SPANS_H
#include "abi/kernel.h"
#include "runtime/object/device.h"

typedef struct RtSpan { // in the buffer; all under the lock of the device's spans
    struct RtSpan *next, **before;
    const char *start;
    size_t n_bytes;
    const struct MTLResource *resource; // whose memory it is; NULL: it is not in the list
} RtSpan;

void rt_span_add(RtSpan *span, const struct MTLResource *resource, const void *start,
                 size_t n_bytes);
void rt_span_remove(RtSpan *span); // no-op if it was never added
// Calls visit, under the lock, with a span that holds the address of the device; false: there is
// none.
bool rt_span_find(MTLDevice *device, const void *address,
                  void (*visit)(const RtSpan *span, void *context), void *context);
// All of them, sorted, overlapping ones (aliases in heaps) as one. NULL if there is no memory, else
// to be freed with rt_free; *n: how many.
AbiSpan *rt_spans_copy(MTLDevice *device, size_t *n);
#endif
