// SPDX-License-Identifier: Apache-2.0
// spans.h: the live buffers of a device, as ranges of addresses, and what its handles stand for.
// Kernels that are checked (shader_validation.h) look up pointers and handles they read from
// memory.
#ifndef INGOT_RUNTIME_SPANS_H
#define INGOT_RUNTIME_SPANS_H
#include "abi/kernel.h"
#include "runtime/object/device.h"

typedef struct RtSpan { // in the buffer; all under the lock of the device's spans
    struct RtSpan *next, **before;
    const char *start;
    size_t n_bytes;
    AbiLiveKind kind;                   // of a handle: its value is the start
    MTLDevice *device;                  // NULL: it is not in the list
    const struct MTLResource *resource; // whose it is; NULL: it is no resource's
} RtSpan;

void rt_span_add(RtSpan *span, const struct MTLResource *resource, const void *start,
                 size_t n_bytes);
// A handle and the bytes of the record behind it, which kernels do not see as memory.
void rt_span_add_handle(RtSpan *span, MTLDevice *device, const struct MTLResource *resource,
                        AbiLiveKind kind, const DevHandle *handle);
void rt_span_remove(RtSpan *span); // no-op if it was never added
// Calls visit, under the lock, with a resource's span that holds the address of the device; false:
// there is none.
bool rt_span_find(MTLDevice *device, const void *address,
                  void (*visit)(const RtSpan *span, void *context), void *context);
// All of them; overlapping memory (aliases in heaps) as one. NULL if there is no memory, else to be
// freed with rt_free.
AbiLive *rt_live_copy(MTLDevice *device);
#endif
