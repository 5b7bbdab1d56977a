// SPDX-License-Identifier: Apache-2.0
// tensor_copy.c: slices of tensors to and from memory of the application. A slice is runs of
// elements along dimension 0; runs that are contiguous on both sides are copied as bytes, and
// dimensions that continue each other without a gap on both sides become one run.
#include <stdint.h>
#include <string.h>
#include "runtime/memory/tensor.h"
#include "runtime/object/validation.h"

typedef struct Copy {
    unsigned bits;
    size_t rank;
    int64_t size[MTL_TENSOR_MAX_RANK];
    int64_t in_tensor[MTL_TENSOR_MAX_RANK], in_bytes[MTL_TENSOR_MAX_RANK]; // strides
    const DevTable *table;
    void *context;        // of the device
    char *tensor, *bytes; // of the first element
} Copy;

// ---- Rules ----

static bool inside(const MTLTensor *tensor, const MTLTensorExtents *origin,
                   const MTLTensorExtents *size, unsigned bits, const char *call) {
    const AbiTensor *record = &tensor->record;
    const char *label = rt_label(&tensor->resource.label);
    if (origin->rank != record->rank || size->rank != record->rank) {
        rt_misuse(tensor->resource.device, RT_RULE_tensor_slice, call,
                  "tensor '%s': origin of rank %zd, dimensions of rank %zd, tensor of rank %u",
                  label, (ptrdiff_t)origin->rank, (ptrdiff_t)size->rank, record->rank);
        return false;
    }
    for (uint32_t i = 0; i < record->rank; i++) {
        ptrdiff_t first = origin->extents[i], n = size->extents[i];
        if (first < 0 || n < 1 || first > record->extents[i] || n > record->extents[i] - first) {
            rt_misuse(tensor->resource.device, RT_RULE_tensor_slice, call,
                      "tensor '%s', dimension %u: %td elements from %td on, of %lld", label, i, n,
                      first, (long long)record->extents[i]);
            return false;
        }
    }
    if (bits < 8 && (origin->extents[0] % 2 != 0 || size->extents[0] % 2 != 0)) {
        rt_misuse(tensor->resource.device, RT_RULE_tensor_slice_bytes, call,
                  "tensor '%s': %td elements from %td on", label, size->extents[0],
                  origin->extents[0]);
        return false;
    }
    return true;
}

static bool valid_strides(const MTLTensor *tensor, const MTLTensorExtents *strides,
                          const MTLTensorExtents *size, unsigned bits, const char *call) {
    size_t bad = SIZE_MAX;
    ptrdiff_t least = 1, reach = 0, last = 0;
    for (size_t i = 0; strides->rank == tensor->record.rank && bad == SIZE_MAX && i < strides->rank;
         i++) {
        ptrdiff_t stride = strides->extents[i];
        if (stride < least || (bits < 8 && (i ? stride % 2 != 0 : stride != 1)) ||
            __builtin_mul_overflow(stride, size->extents[i], &least) ||
            __builtin_mul_overflow(stride, size->extents[i] - 1, &reach) ||
            __builtin_add_overflow(last, reach, &last) || last > PTRDIFF_MAX / 32)
            bad = i;
    }
    if (strides->rank == tensor->record.rank && bad == SIZE_MAX) return true;
    rt_misuse(tensor->resource.device, RT_RULE_tensor_slice_strides, call,
              "tensor '%s': strides[%td] is %td, rank %zd of %u", rt_label(&tensor->resource.label),
              (ptrdiff_t)bad, bad < strides->rank ? strides->extents[bad] : 0,
              (ptrdiff_t)strides->rank, tensor->record.rank);
    return false;
}

static bool valid(const MTLTensor *tensor, const void *bytes, const MTLTensorExtents *strides,
                  const MTLTensorExtents *origin, const MTLTensorExtents *size, const char *call) {
    if (!rt_is(tensor, &rt_tensor_class)) {
        rt_misuse(NULL, tensor ? RT_RULE_wrong_class : RT_RULE_null_object, call, "%s",
                  mtl_class_name(tensor));
        return false;
    }
    MTLDevice *device = tensor->resource.device;
    if (!bytes || !strides || !origin || !size) {
        rt_misuse(device, RT_RULE_null_argument, call, "%s",
                  !bytes     ? "bytes"
                  : !strides ? "strides"
                  : !origin  ? "slice_origin"
                             : "slice_dimensions");
        return false;
    }
    if (rt_storage_mode(&tensor->resource) == MTLStorageModePrivate) {
        rt_misuse(device, RT_RULE_tensor_private, call, "tensor '%s'",
                  rt_label(&tensor->resource.label));
        return false;
    }
    unsigned bits = rt_tensor_element_bits(tensor->record.type);
    return inside(tensor, origin, size, bits, call) &&
           valid_strides(tensor, strides, size, bits, call);
}

// ---- Copying ----

static Copy plan(const MTLTensor *tensor, void *bytes, const MTLTensorExtents *strides,
                 const MTLTensorExtents *origin, const MTLTensorExtents *size) {
    Copy c = {.bits = rt_tensor_element_bits(tensor->record.type), .bytes = bytes};
    int64_t first = 0;
    for (uint32_t i = 0; i < tensor->record.rank; i++) {
        int64_t n = size->extents[i], t = tensor->record.strides[i], b = strides->extents[i];
        first += origin->extents[i] * t;
        if (n == 1 && i > 0) continue;
        size_t last = c.rank ? c.rank - 1 : 0;
        if (c.rank && t == c.in_tensor[last] * c.size[last] &&
            b == c.in_bytes[last] * c.size[last]) {
            c.size[last] *= n;
            continue;
        }
        c.size[c.rank] = n;
        c.in_tensor[c.rank] = t;
        c.in_bytes[c.rank++] = b;
    }
    if (c.rank == 0) c = (Copy){c.bits, 1, {1}, {1}, {1}, NULL, NULL, NULL, bytes};
    c.table = tensor->resource.device->table;
    c.context = tensor->resource.device->context;
    c.tensor = (char *)tensor->record.data + first * (int64_t)c.bits / 8;
    return c;
}

static void copy_bytes(const Copy *c, char *to, const char *from, size_t n) {
    if (c->table->copy)
        c->table->copy(DEV_OUTSIDE(c->context), to, from, n);
    else
        memcpy(to, from, n);
}

static void copy_run(const Copy *c, char *tensor, char *bytes, bool to_tensor) {
    size_t step = c->bits / 8; // 0: less than a byte, and contiguous then
    int64_t t = c->in_tensor[0], b = c->in_bytes[0];
    if (t == 1 && b == 1) {
        size_t n = (size_t)c->size[0] * c->bits / 8;
        copy_bytes(c, to_tensor ? tensor : bytes, to_tensor ? bytes : tensor, n);
        return;
    }
    for (int64_t i = 0; i < c->size[0]; i++) {
        char *in = tensor + i * t * (int64_t)step, *out = bytes + i * b * (int64_t)step;
        copy_bytes(c, to_tensor ? in : out, to_tensor ? out : in, step);
    }
}

static void copy(const Copy *c, bool to_tensor) {
    int64_t at[MTL_TENSOR_MAX_RANK] = {0};
    for (;;) {
        int64_t t = 0, b = 0;
        for (size_t i = 1; i < c->rank; i++) {
            t += at[i] * c->in_tensor[i];
            b += at[i] * c->in_bytes[i];
        }
        copy_run(c, c->tensor + t * (int64_t)c->bits / 8, c->bytes + b * (int64_t)c->bits / 8,
                 to_tensor);
        size_t d = 1;
        while (d < c->rank && ++at[d] == c->size[d]) at[d++] = 0;
        if (d >= c->rank) return;
    }
}

bool rt_tensor_valid_slice(const MTLTensor *tensor, const MTLTensorExtents *origin,
                           const MTLTensorExtents *size, const char *call) {
    return inside(tensor, origin, size, rt_tensor_element_bits(tensor->record.type), call);
}

void rt_tensor_copy_slice(const MTLTensor *to, const MTLTensorExtents *to_origin,
                          const MTLTensor *from, const MTLTensorExtents *from_origin,
                          const MTLTensorExtents *size) {
    MTLTensorExtents strides = {.rank = from->record.rank};
    int64_t first = 0;
    for (uint32_t i = 0; i < from->record.rank; i++) {
        strides.extents[i] = (ptrdiff_t)from->record.strides[i];
        first += from_origin->extents[i] * from->record.strides[i];
    }
    char *bytes =
        (char *)from->record.data + first * (int64_t)rt_tensor_element_bits(from->record.type) / 8;
    Copy c = plan(to, bytes, &strides, to_origin, size);
    copy(&c, true);
}

void mtl_tensor_replace_slice(MTLTensor *tensor, const MTLTensorExtents *slice_origin,
                              const MTLTensorExtents *slice_dimensions, const void *bytes,
                              const MTLTensorExtents *strides) {
    if (!valid(tensor, bytes, strides, slice_origin, slice_dimensions, __func__)) return;
    Copy c = plan(tensor, (void *)(uintptr_t)bytes, strides, slice_origin, slice_dimensions);
    copy(&c, true);
}

void mtl_tensor_get_bytes(const MTLTensor *tensor, void *bytes, const MTLTensorExtents *strides,
                          const MTLTensorExtents *slice_origin,
                          const MTLTensorExtents *slice_dimensions) {
    if (!valid(tensor, bytes, strides, slice_origin, slice_dimensions, __func__)) return;
    Copy c = plan(tensor, bytes, strides, slice_origin, slice_dimensions);
    copy(&c, false);
}
