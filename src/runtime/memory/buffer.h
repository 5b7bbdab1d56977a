// SPDX-License-Identifier: Apache-2.0
// buffer.h: MTLBuffer.
#ifndef INGOT_RUNTIME_BUFFER_H
#define INGOT_RUNTIME_BUFFER_H
#include "runtime/memory/resource.h"
#include "runtime/memory/spans.h"

struct MTLBuffer {
    MTLResource resource;
    char *memory;   // where the device's code finds it: not for the host to look at
    char *contents; // where the host finds it; NULL: nowhere
    size_t length;
    MTLBufferDeallocator deallocator;
    void *deallocator_context;
    RtSpan span;                   // where it lies, for kernels that are checked
    struct RtSparseBuffer *sparse; // memory/sparse.h; NULL: it is not
};

extern RtClass rt_buffer_class;
// Can there be such a buffer? Says so if not. Any device, also NULL.
bool rt_valid_buffer_options(MTLDevice *device, const char *call, size_t length,
                             MTLResourceOptions options);
// A buffer over memory of the program's, whatever its address is; the deallocator is called at its
// end. NULL: no memory, and the deallocator is not called.
MTLBuffer *rt_buffer_new_around(MTLDevice *device, void *bytes, size_t length,
                                MTLResourceOptions options, MTLBufferDeallocator deallocator,
                                void *context);
// For heaps: a buffer over memory of theirs. NULL: no memory.
MTLBuffer *rt_buffer_new_over(MTLDevice *device, size_t length, MTLResourceOptions options,
                              const DevMemory *memory, size_t offset);
#endif
