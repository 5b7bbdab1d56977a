// SPDX-License-Identifier: Apache-2.0
// tensor.c: MTLTensor: making one with memory of its own or over a buffer, its properties and its
// end. What kernels see is the AbiTensor inside. Descriptors are checked in tensor_check.c, slices
// copied in tensor_copy.c.
#include "runtime/memory/tensor.h"
#include <stdio.h>
#include <string.h>
#include <unistd.h>
#include "runtime/memory/own_memory.h"
#include "runtime/object/device.h"
#include "runtime/object/error.h"
#include "runtime/object/validation.h"

#define SLACK 64u // bytes behind the last element: wide loads of matrix code stay inside

static void tensor_destroy(void *self) {
    MTLTensor *tensor = self;
    rt_span_remove(&tensor->record_span);
    rt_span_remove(&tensor->data_span);
    const MTLDevice *device = tensor->resource.device;
    dev_handle_free(device->table, device->context, &tensor->handle);
    rt_free_own_memory(&tensor->resource);
    MTLBuffer *buffer = tensor->buffer;
    rt_resource_clear(&tensor->resource);
    // A stale handle finds an empty tensor, mostly.
    memset(&tensor->record, 0, sizeof tensor->record);
    rt_free(tensor);
    mtl_release(buffer);
}

RT_CLASS rt_tensor_class = {.name = "MTLTensor",
                            .destroy = tensor_destroy,
                            .label_at = offsetof(MTLTensor, resource.label)};

// ---- Extents and descriptors ----

MTLTensorExtents mtl_tensor_extents_make(size_t rank, const ptrdiff_t *values) {
    MTLTensorExtents extents = {0};
    if (rank > MTL_TENSOR_MAX_RANK || (rank > 0 && !values)) {
        extents.rank = SIZE_MAX;
        return extents;
    }
    extents.rank = rank;
    for (size_t i = 0; i < rank; i++) extents.extents[i] = values[i];
    return extents;
}

ptrdiff_t mtl_tensor_extents_extent_at_dimension_index(const MTLTensorExtents *extents,
                                                       size_t index) {
    if (!extents || extents->rank > MTL_TENSOR_MAX_RANK || index >= extents->rank) return -1;
    return extents->extents[index];
}

MTLTensorExtents mtl_tensor_extents_packed_strides(const MTLTensorExtents *dimensions) {
    MTLTensorExtents strides = {.rank = dimensions ? dimensions->rank : 0};
    size_t stride = 1; // wraps around; what is that large is refused wherever it is used
    for (size_t i = 0; strides.rank <= MTL_TENSOR_MAX_RANK && i < strides.rank; i++) {
        strides.extents[i] = (ptrdiff_t)stride;
        stride *= (size_t)dimensions->extents[i];
    }
    return strides;
}

MTLTensorDescriptor mtl_tensor_descriptor_make_default(void) {
    return (MTLTensorDescriptor){.dimensions = {1, {1}},
                                 .data_type = MTLTensorDataTypeFloat32,
                                 .usage = MTLTensorUsageCompute | MTLTensorUsageRender};
}

// ---- Making ----

static MTLTensor *tensor_new(MTLDevice *device, const MTLTensorDescriptor *d,
                             MTLResourceOptions options, const RtTensorShape *shape) {
    MTLTensor *tensor = rt_new(&rt_tensor_class, sizeof *tensor);
    if (!tensor) return NULL;
    rt_resource_init(&tensor->resource, device, options, 0);
    rt_device_reaches(device, shape->n_bytes);
    tensor->record = shape->record;
    tensor->usage = d->usage ? d->usage : MTLTensorUsageCompute | MTLTensorUsageRender;
    return tensor;
}

// The tensor is complete: what kernels get for it. False: no memory.
static bool make_handle(MTLTensor *tensor) {
    MTLDevice *device = tensor->resource.device;
    DevHandle *h = &tensor->handle;
    if (!dev_tensor_make(device->table, device->context, &tensor->record, h)) return false;
    rt_span_add_handle(&tensor->record_span, device, &tensor->resource, ABI_LIVE_TENSOR, h);
    return true;
}

static bool own_memory(MTLTensor *tensor, size_t n_elements_bytes) {
    size_t page = (size_t)sysconf(_SC_PAGESIZE);
    size_t n_bytes = (n_elements_bytes + SLACK + page - 1) & ~(page - 1);
    if (!rt_own_memory(&tensor->resource, n_bytes)) return false;
    tensor->resource.allocated_bytes = n_bytes;
    atomic_fetch_add(&tensor->resource.device->allocated_bytes, n_bytes);
    tensor->record.data = (unsigned char *)tensor->resource.own.address;
    rt_span_add(&tensor->data_span, &tensor->resource, tensor->record.data, n_elements_bytes);
    return true;
}

static MTLTensor *refuse(MTLError **error, const char *why) {
    rt_error_set(error, rt_error_new(MTLTensorDomain, MTLTensorErrorInvalidDescriptor,
                                     "The tensor cannot be made: %s.", why));
    return NULL;
}

MTLTensor *mtl_device_new_tensor(MTLDevice *device, const MTLTensorDescriptor *descriptor,
                                 MTLError **error) {
    if (error) *error = NULL;
    if (!rt_given(device, descriptor, "descriptor", __func__)) return NULL;
    MTLError *lacks = rt_device_lacks(device, DEV_TENSORS);
    if (lacks) {
        rt_error_set(error, lacks);
        return NULL;
    }
    RtTensorShape shape;
    char why[RT_TENSOR_WHY];
    if (!rt_tensor_shape(device, descriptor, false, &shape, why)) return refuse(error, why);
    MTLTensor *tensor = tensor_new(device, descriptor, rt_tensor_options(descriptor), &shape);
    if (!tensor || !own_memory(tensor, shape.n_bytes) || !make_handle(tensor)) {
        mtl_release(tensor);
        rt_error_set(error, NULL);
        return NULL;
    }
    return tensor;
}

MTLSizeAndAlign mtl_device_tensor_size_and_align(MTLDevice *device,
                                                 const MTLTensorDescriptor *descriptor) {
    RtTensorShape shape;
    char why[RT_TENSOR_WHY];
    if (!device || !descriptor)
        rt_misuse(device, device ? RT_RULE_null_argument : RT_RULE_null_object, __func__,
                  "descriptor");
    else if (!rt_tensor_shape(device, descriptor, true, &shape, why))
        rt_misuse(device, RT_RULE_tensor_descriptor, __func__, "%s", why);
    else
        return (MTLSizeAndAlign){shape.n_bytes, shape.alignment};
    return (MTLSizeAndAlign){0, 0};
}

// Does a tensor of that shape lie inside the buffer, in its storage?
static bool fits(const MTLBuffer *buffer, const MTLTensorDescriptor *d, const RtTensorShape *shape,
                 size_t offset, char *why) {
    const char *label = rt_label(&buffer->resource.label);
    MTLStorageMode storage = (MTLStorageMode)(rt_tensor_options(d) >> 4 & 15);
    if (storage != mtl_buffer_storage_mode(buffer)) {
        snprintf(why, RT_TENSOR_WHY, "storage_mode %d is not that of buffer '%.60s', %d",
                 (int)storage, label, (int)mtl_buffer_storage_mode(buffer));
    } else if (offset % shape->alignment != 0) {
        snprintf(why, RT_TENSOR_WHY, "offset %zu is no multiple of %zu, as %s tensors need", offset,
                 shape->alignment, rt_tensor_type_name(shape->record.type));
    } else if (offset != 0 && d->usage & MTLTensorUsageMachineLearning) {
        snprintf(why, RT_TENSOR_WHY, "offset is 0 with usage machine learning, not %zu", offset);
    } else if (offset > buffer->length || shape->n_bytes > buffer->length - offset) {
        snprintf(why, RT_TENSOR_WHY, "%zu bytes from offset %zu on exceed buffer '%.60s' of %zu",
                 shape->n_bytes, offset, label, buffer->length);
    } else {
        return true;
    }
    return false;
}

MTLTensor *mtl_buffer_new_tensor(MTLBuffer *buffer, const MTLTensorDescriptor *descriptor,
                                 size_t offset, MTLError **error) {
    if (error) *error = NULL;
    if (!rt_is(buffer, &rt_buffer_class) || !descriptor) {
        rt_misuse(NULL,
                  !buffer       ? RT_RULE_null_object
                  : !descriptor ? RT_RULE_null_argument
                                : RT_RULE_wrong_class,
                  __func__, "%s", buffer && descriptor ? mtl_class_name(buffer) : "descriptor");
        return NULL;
    }
    MTLError *lacks = rt_device_lacks(buffer->resource.device, DEV_TENSORS);
    if (lacks) {
        rt_error_set(error, lacks);
        return NULL;
    }
    RtTensorShape shape;
    char why[RT_TENSOR_WHY];
    if (!rt_tensor_shape(buffer->resource.device, descriptor, true, &shape, why) ||
        !fits(buffer, descriptor, &shape, offset, why))
        return refuse(error, why);
    shape.record.data = (unsigned char *)buffer->memory + offset;
    MTLTensor *tensor =
        tensor_new(buffer->resource.device, descriptor, buffer->resource.options, &shape);
    if (!tensor || !make_handle(tensor)) {
        mtl_release(tensor);
        rt_error_set(error, NULL);
        return NULL;
    }
    tensor->buffer = mtl_retain(buffer);
    tensor->buffer_offset = offset;
    tensor->resource.tracked = &buffer->resource;
    return tensor;
}

// ---- Properties ----

static MTLTensorExtents extents_of(const MTLTensor *tensor, const int64_t *values) {
    MTLTensorExtents extents = {.rank = tensor->record.rank};
    for (size_t i = 0; i < extents.rank; i++) extents.extents[i] = (ptrdiff_t)values[i];
    return extents;
}

MTLTensorExtents mtl_tensor_strides(const MTLTensor *tensor) {
    if (!tensor || !tensor->buffer) return (MTLTensorExtents){0};
    return extents_of(tensor, tensor->record.strides);
}

MTLPurgeableState mtl_tensor_set_purgeable_state(MTLTensor *tensor, MTLPurgeableState state) {
    return mtl_resource_set_purgeable_state((MTLResource *)tensor, state);
}

#include "accessors/memory/tensor.inc" // plain accessors, from the table
