// SPDX-License-Identifier: Apache-2.0
// buffer.c: MTLBuffer. On a device with memory of the host contents() is what kernels see: a
// mapping, zeroed by the system, page-aligned, with large pages where it is large; or a slot of a
// slab where it is small.
#include "runtime/memory/buffer.h"
#include <string.h>
#include <unistd.h>
#include "ingot/foreign.h"
#include "runtime/object/device.h"
#include "runtime/memory/own_memory.h"
#include "runtime/memory/sparse.h"
#include "runtime/object/validation.h"

static size_t page_bytes(void) { return (size_t)sysconf(_SC_PAGESIZE); }

static size_t round_up(size_t n, size_t to) { return (n + to - 1) & ~(to - 1); }

static void buffer_destroy(void *self) {
    MTLBuffer *buffer = self;
    rt_span_remove(&buffer->span);
    rt_sparse_buffer_free(buffer);
    rt_free_own_memory(&buffer->resource); // the device lets go of the program's memory first
    if (buffer->deallocator)
        buffer->deallocator(buffer->contents, buffer->length, buffer->deallocator_context);
    rt_resource_clear(&buffer->resource);
    rt_free(buffer);
}

RT_CLASS rt_buffer_class = {.name = "MTLBuffer",
                            .destroy = buffer_destroy,
                            .label_at = offsetof(MTLBuffer, resource.label)};

bool rt_valid_buffer_options(MTLDevice *device, const char *call, size_t length,
                             MTLResourceOptions options) {
    if (!device) {
        rt_misuse(NULL, RT_RULE_null_object, call, NULL);
        return false;
    }
    if (length == 0 || length > device->facts.max_buffer_bytes) {
        rt_misuse(device, RT_RULE_buffer_length, call, "length %zu", length);
        return false;
    }
    if (!rt_valid_options(device, call, options)) return false;
    if ((options >> 4 & 15) > MTLStorageModePrivate) {
        rt_misuse(device, RT_RULE_buffer_memoryless, call, NULL);
        return false;
    }
    return true;
}

static MTLBuffer *buffer_new(MTLDevice *device, size_t length, MTLResourceOptions options,
                             size_t allocated_bytes) {
    MTLBuffer *buffer = rt_new(&rt_buffer_class, sizeof *buffer);
    if (!buffer) return NULL;
    rt_resource_init(&buffer->resource, device, options, allocated_bytes);
    rt_device_reaches(device, length);
    buffer->length = length;
    return buffer;
}

MTLBuffer *rt_buffer_new_over(MTLDevice *device, size_t length, MTLResourceOptions options,
                              const DevMemory *memory, size_t offset) {
    MTLBuffer *buffer = buffer_new(device, length, options, 0);
    if (!buffer) return NULL;
    buffer->memory = memory->address + offset;
    buffer->contents = memory->host ? memory->host + offset : NULL;
    rt_span_add(&buffer->span, &buffer->resource, buffer->memory, length);
    return buffer;
}

static bool take_memory(MTLBuffer *buffer, size_t length, bool small, bool zeroed) {
    DevMemory *own = &buffer->resource.own;
    if (small ? !rt_own_slot(&buffer->resource, length, zeroed)
              : !rt_own_memory(&buffer->resource, buffer->resource.allocated_bytes))
        return false;
    buffer->memory = own->address;
    buffer->contents = own->host;
    return true;
}

static MTLBuffer *new_with_memory(MTLDevice *device, size_t length, MTLResourceOptions options,
                                  bool zeroed) {
    size_t slot = rt_slot_bytes(device, length);
    MTLBuffer *buffer =
        buffer_new(device, length, options, slot ? slot : round_up(length, page_bytes()));
    if (!buffer) return NULL;
    if (!take_memory(buffer, length, slot > 0, zeroed)) {
        mtl_release(buffer);
        return NULL;
    }
    rt_span_add(&buffer->span, &buffer->resource, buffer->memory, length);
    return buffer;
}

MTLBuffer *mtl_device_new_buffer(MTLDevice *device, size_t length, MTLResourceOptions options) {
    if (!rt_valid_buffer_options(device, __func__, length, options)) return NULL;
    return new_with_memory(device, length, options, true);
}

MTLBuffer *mtl_device_new_buffer_with_bytes(MTLDevice *device, const void *bytes, size_t length,
                                            MTLResourceOptions options) {
    if (!rt_valid_buffer_options(device, __func__, length, options)) return NULL;
    if (!bytes) {
        rt_misuse(device, RT_RULE_null_argument, __func__, "bytes");
        return NULL;
    }
    MTLBuffer *buffer = new_with_memory(device, length, options, false);
    if (buffer && buffer->contents && !device->table->memory_show)
        memcpy(buffer->contents, bytes, length);
    else if (buffer && !dev_copy(device->table, DEV_OUTSIDE(device->context), buffer->memory, bytes,
                                 length)) {
        mtl_release(buffer);
        return NULL;
    }
    return buffer;
}

MTLBuffer *mtl_device_new_buffer_with_bytes_no_copy(MTLDevice *device, void *bytes, size_t length,
                                                    MTLResourceOptions options,
                                                    MTLBufferDeallocator deallocator,
                                                    void *context) {
    if (!rt_valid_buffer_options(device, __func__, length, options)) return NULL;
    if (!bytes) {
        rt_misuse(device, RT_RULE_null_argument, __func__, "bytes");
        return NULL;
    }
    if (((size_t)bytes % page_bytes() != 0 || length % page_bytes() != 0) &&
        !rt_tolerates(device, RT_RULE_buffer_no_copy_alignment)) {
        rt_misuse(device, RT_RULE_buffer_no_copy_alignment, __func__, "address %p, length %zu",
                  bytes, length);
        return NULL;
    }
    if ((options >> 4 & 15) == MTLStorageModePrivate) {
        rt_misuse(device, RT_RULE_buffer_no_copy_private, __func__, NULL);
        return NULL;
    }
    return rt_buffer_new_around(device, bytes, length, options, deallocator, context);
}

// The buffer over memory that its resource has by now, and that others made.
static MTLBuffer *with_memory(MTLBuffer *buffer, void *contents, size_t length,
                              MTLBufferDeallocator deallocator, void *context) {
    buffer->memory = buffer->resource.own.address;
    buffer->contents = contents;
    buffer->deallocator = deallocator;
    buffer->deallocator_context = context;
    rt_span_add(&buffer->span, &buffer->resource, buffer->memory, length);
    return buffer;
}

MTLBuffer *rt_buffer_new_around(MTLDevice *device, void *bytes, size_t length,
                                MTLResourceOptions options, MTLBufferDeallocator deallocator,
                                void *context) {
    MTLBuffer *buffer = buffer_new(device, length, options, length);
    if (!buffer) return NULL;
    if (!rt_wrap_memory(&buffer->resource, bytes, length)) {
        mtl_release(buffer);
        return NULL;
    }
    return with_memory(buffer, bytes, length, deallocator, context);
}

MTLBuffer *mtl_device_new_buffer_with_device_memory(MTLDevice *device, uint64_t address,
                                                    size_t length, MTLBufferDeallocator deallocator,
                                                    void *context) {
    const MTLResourceOptions options = MTLResourceStorageModeManaged;
    if (!rt_valid_buffer_options(device, __func__, length, options)) return NULL;
    if (!address) {
        rt_misuse(device, RT_RULE_null_argument, __func__, "address");
        return NULL;
    }
    MTLBuffer *buffer = buffer_new(device, length, options, length);
    if (!buffer) return NULL;
    if (!rt_adopt_memory(&buffer->resource, address, length)) {
        mtl_release(buffer);
        return NULL;
    }
    return with_memory(buffer, buffer->resource.own.host, length, deallocator, context);
}

bool mtl_device_wait_for_others(MTLDevice *device) {
    if (!device) {
        rt_misuse(NULL, RT_RULE_null_object, __func__, NULL);
        return false;
    }
    return !device->table->wait_for_others || device->table->wait_for_others(device->context);
}

// ---- Properties ----

void *mtl_buffer_contents(const MTLBuffer *buffer) {
    if (!buffer) return NULL;
    // On a Mac with one memory for all, private memory is the CPU's too;
    // the debug layer alone minds.
    if (mtl_buffer_storage_mode(buffer) == MTLStorageModePrivate &&
        !rt_tolerates(buffer->resource.device, RT_RULE_buffer_contents_private)) {
        rt_misuse(buffer->resource.device, RT_RULE_buffer_contents_private, __func__, NULL);
        return NULL;
    }
    if (!buffer->contents) return NULL;
    rt_show_memory(&buffer->resource);
    return buffer->contents;
}

void mtl_buffer_did_modify_range(MTLBuffer *buffer, MTLRange range) {
    if (!buffer) {
        rt_misuse(NULL, RT_RULE_null_object, __func__, NULL);
    } else if (mtl_buffer_storage_mode(buffer) != MTLStorageModeManaged) {
        rt_misuse(buffer->resource.device, RT_RULE_buffer_modified_storage, __func__, NULL);
    } else if (range.location > buffer->length || range.length > buffer->length - range.location) {
        rt_misuse(buffer->resource.device, RT_RULE_buffer_modified_range, __func__,
                  "location %zu, length %zu of %zu", range.location, range.length, buffer->length);
    } else if (buffer->resource.device->table->memory_modified) {
        const MTLDevice *device = buffer->resource.device;
        DevMemory memory;
        if (rt_memory_behind(&buffer->resource, &memory))
            device->table->memory_modified(device->context, &memory, range.location, range.length);
    }
}

// Markers are for a debugger that shows them; there is none, the rule is still checked.
void mtl_buffer_add_debug_marker(MTLBuffer *buffer, const char *marker, MTLRange range) {
    if (!buffer)
        rt_misuse(NULL, RT_RULE_null_object, __func__, NULL);
    else if (!marker)
        rt_misuse(buffer->resource.device, RT_RULE_null_argument, __func__, "marker");
    else if (range.location > buffer->length || range.length > buffer->length - range.location)
        rt_misuse(buffer->resource.device, RT_RULE_buffer_modified_range, __func__,
                  "location %zu, length %zu of %zu", range.location, range.length, buffer->length);
}

void mtl_buffer_remove_all_debug_markers(MTLBuffer *buffer) { (void)buffer; }

MTLBuffer *mtl_buffer_new_remote_buffer_view_for_device(MTLBuffer *buffer, MTLDevice *device) {
    if (!buffer)
        rt_misuse(NULL, RT_RULE_null_object, __func__, NULL);
    else
        rt_misuse(buffer->resource.device, device ? RT_RULE_buffer_remote : RT_RULE_null_argument,
                  __func__, "%s", device ? rt_label(&buffer->resource.label) : "device");
    return NULL;
}

MTLBuffer *mtl_buffer_remote_storage_buffer(const MTLBuffer *buffer) {
    (void)buffer;
    return NULL;
}

MTLPurgeableState mtl_buffer_set_purgeable_state(MTLBuffer *buffer, MTLPurgeableState state) {
    return mtl_resource_set_purgeable_state((MTLResource *)buffer, state);
}

#include "accessors/memory/buffer.inc" // plain accessors, from the table
