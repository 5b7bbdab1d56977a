// SPDX-License-Identifier: Apache-2.0
// tensor_check.c: is a tensor descriptor one, and what layout does it stand for? The rules are
// those of Apple's MTLTensorDescriptor; the sentences name the field and the number that breaks
// them.
#include <stdint.h>
#include <stdio.h>
#include "runtime/memory/tensor.h"
#include "runtime/object/device.h"

#define SMALL_TYPE_DIMENSION 32  // elements: dimension 0 of types below a byte
#define SMALL_TYPE_ALIGNMENT 128 // bytes: their strides and offsets
#define LEARNING_ALIGNMENT 64    // bytes: strides[1] with usage machine learning
#define LIKED_ALIGNMENT 64u      // bytes: of tensors with memory of their own

static const struct {
    uint32_t type;
    unsigned bits;
    const char *name;
} types[] = {
    {MTLTensorDataTypeFloat32, 32, "float32"},   {MTLTensorDataTypeFloat16, 16, "float16"},
    {MTLTensorDataTypeBFloat16, 16, "bfloat16"}, {MTLTensorDataTypeInt8, 8, "int8"},
    {MTLTensorDataTypeUInt8, 8, "uint8"},        {MTLTensorDataTypeInt16, 16, "int16"},
    {MTLTensorDataTypeUInt16, 16, "uint16"},     {MTLTensorDataTypeInt32, 32, "int32"},
    {MTLTensorDataTypeUInt32, 32, "uint32"},     {MTLTensorDataTypeInt4, 4, "int4"},
    {MTLTensorDataTypeUInt4, 4, "uint4"},
};
_Static_assert((int)ABI_TENSOR_INT4 == (int)MTLTensorDataTypeInt4 &&
                   (int)ABI_TENSOR_UINT4 == (int)MTLTensorDataTypeUInt4 &&
                   (int)ABI_TENSOR_BFLOAT16 == (int)MTLTensorDataTypeBFloat16 &&
                   (int)ABI_TENSOR_FLOAT16 == (int)MTLTensorDataTypeFloat16 &&
                   ABI_TENSOR_MAX_RANK == MTL_TENSOR_MAX_RANK,
               "kernels know Apple's numbers");

unsigned rt_tensor_element_bits(uint32_t type) {
    for (size_t i = 0; i < sizeof types / sizeof *types; i++)
        if (types[i].type == type) return types[i].bits;
    return 0;
}

const char *rt_tensor_type_name(uint32_t type) {
    for (size_t i = 0; i < sizeof types / sizeof *types; i++)
        if (types[i].type == type) return types[i].name;
    return "?";
}

MTLResourceOptions rt_tensor_options(const MTLTensorDescriptor *d) {
    MTLResourceOptions options = d->resource_options;
    options |= (MTLResourceOptions)d->cpu_cache_mode;
    options |= (MTLResourceOptions)d->storage_mode << 4;
    options |= (MTLResourceOptions)d->hazard_tracking_mode << 8;
    return options;
}

static bool options_are_valid(const MTLTensorDescriptor *d, char *why) {
    if ((unsigned)d->cpu_cache_mode > 1 || (unsigned)d->storage_mode > 15 ||
        (unsigned)d->hazard_tracking_mode > 2) {
        snprintf(why, RT_TENSOR_WHY,
                 "cpu_cache_mode, storage_mode and hazard_tracking_mode are values of theirs, not "
                 "%u, %u and %u",
                 (unsigned)d->cpu_cache_mode, (unsigned)d->storage_mode,
                 (unsigned)d->hazard_tracking_mode);
        return false;
    }
    MTLResourceOptions options = rt_tensor_options(d);
    if ((options & 15) > MTLCPUCacheModeWriteCombined || (options >> 8 & 3) == 3 || options >> 10) {
        snprintf(why, RT_TENSOR_WHY, "the resource options 0x%x are not MTLResourceOptions",
                 (unsigned)options);
        return false;
    }
    if ((options >> 4 & 15) > MTLStorageModePrivate) {
        snprintf(why, RT_TENSOR_WHY, "storage_mode is shared, managed or private");
        return false;
    }
    return true;
}

static bool dimensions_are_valid(const MTLTensorDescriptor *d, RtTensorShape *s, unsigned bits,
                                 char *why) {
    const MTLTensorExtents *e = &d->dimensions;
    if (e->rank > MTL_TENSOR_MAX_RANK) {
        snprintf(why, RT_TENSOR_WHY, "dimensions: a tensor has a rank of up to %d",
                 MTL_TENSOR_MAX_RANK);
        return false;
    }
    for (size_t i = 0; i < ABI_TENSOR_MAX_RANK; i++) s->record.extents[i] = 1;
    for (size_t i = 0; i < e->rank; i++) {
        if (e->extents[i] < 1 || (uint64_t)e->extents[i] > INT32_MAX) {
            snprintf(why, RT_TENSOR_WHY, "dimensions[%zu] is %td; sizes are 1 to %d", i,
                     e->extents[i], INT32_MAX);
            return false;
        }
        s->record.extents[i] = e->extents[i];
    }
    s->record.rank = (uint32_t)e->rank;
    if (bits < 8 && (e->rank == 0 || e->extents[0] % SMALL_TYPE_DIMENSION != 0)) {
        snprintf(
            why, RT_TENSOR_WHY, "dimensions[0] of %s tensors is a multiple of %d elements, not %td",
            rt_tensor_type_name(s->record.type), SMALL_TYPE_DIMENSION, e->rank ? e->extents[0] : 0);
        return false;
    }
    return true;
}

// strides[i] * bits is a multiple of `bytes` bytes?
static bool is_aligned(ptrdiff_t stride, unsigned bits, unsigned bytes) {
    return (uint64_t)stride % (bytes * 8u / bits) == 0;
}

static bool strides_are_valid(const MTLTensorDescriptor *d, RtTensorShape *s, unsigned bits,
                              char *why) {
    const MTLTensorExtents *e = &d->strides;
    if (e->rank != s->record.rank) {
        snprintf(why, RT_TENSOR_WHY, "strides%s have rank %zd, dimensions %u",
                 e->rank ? "" : ", which a tensor from a buffer needs,", (ptrdiff_t)e->rank,
                 s->record.rank);
        return false;
    }
    bool learns = d->usage & MTLTensorUsageMachineLearning;
    for (size_t i = 0; i < e->rank; i++) {
        ptrdiff_t stride = e->extents[i], packed = 0;
        const char *rule = NULL;
        if (i > 1 && learns &&
            __builtin_mul_overflow(e->extents[i - 1], (ptrdiff_t)s->record.extents[i - 1], &packed))
            packed = -1;
        if (i == 0 && stride != 1)
            rule = "the first is 1";
        else if (stride < 0)
            rule = "strides are not negative";
        else if (bits < 8 && i > 0 && !is_aligned(stride, bits, SMALL_TYPE_ALIGNMENT))
            rule = "those of int4 and uint4 tensors are multiples of 128 bytes";
        else if (learns && i == 1 && !is_aligned(stride, bits, LEARNING_ALIGNMENT))
            rule = "with usage machine learning, the second is a multiple of 64 bytes";
        else if (learns && i > 1 && stride != packed)
            rule = "with usage machine learning, it is the stride before times its dimension";
        if (rule) {
            snprintf(why, RT_TENSOR_WHY, "strides[%zu] is %td; %s", i, stride, rule);
            return false;
        }
        s->record.strides[i] = stride;
    }
    return true;
}

static bool pack(RtTensorShape *s) {
    int64_t stride = 1;
    for (uint32_t i = 0; i < s->record.rank; i++) {
        s->record.strides[i] = stride;
        if (__builtin_mul_overflow(stride, s->record.extents[i], &stride)) return false;
    }
    return true;
}

static bool count_bytes(RtTensorShape *s, unsigned bits, size_t most) {
    int64_t last = 0, reach = 0;
    for (uint32_t i = 0; i < s->record.rank; i++)
        if (__builtin_mul_overflow(s->record.extents[i] - 1, s->record.strides[i], &reach) ||
            __builtin_add_overflow(last, reach, &last))
            return false;
    if (last >= (int64_t)1 << 40) return false;
    s->n_bytes = ((size_t)(last + 1) * bits + 7) / 8;
    return s->n_bytes <= most;
}

bool rt_tensor_shape(const MTLDevice *device, const MTLTensorDescriptor *d, bool in_buffer,
                     RtTensorShape *s, char why[RT_TENSOR_WHY]) {
    *s = (RtTensorShape){.record.type = d->data_type ? (uint32_t)d->data_type
                                                     : (uint32_t)MTLTensorDataTypeFloat32};
    unsigned bits = rt_tensor_element_bits(s->record.type);
    if (!bits) {
        snprintf(why, RT_TENSOR_WHY, "data_type %u is no MTLTensorDataType that tensors have",
                 s->record.type);
        return false;
    }
    if (d->usage & ~(MTLTensorUsage)7) {
        snprintf(why, RT_TENSOR_WHY, "usage 0x%x has bits that are not in MTLTensorUsage",
                 (unsigned)d->usage);
        return false;
    }
    if (!options_are_valid(d, why) || !dimensions_are_valid(d, s, bits, why)) return false;
    if (!in_buffer && d->strides.rank != 0) {
        snprintf(why, RT_TENSOR_WHY, "strides are set for tensors from buffers only");
        return false;
    }
    if (in_buffer && !strides_are_valid(d, s, bits, why)) return false;
    if ((!in_buffer && !pack(s)) || !count_bytes(s, bits, mtl_device_max_buffer_length(device))) {
        snprintf(why, RT_TENSOR_WHY, "the tensor is larger than %zu bytes, the longest buffer",
                 mtl_device_max_buffer_length(device));
        return false;
    }
    s->alignment = bits < 8 ? SMALL_TYPE_ALIGNMENT : in_buffer ? bits / 8 : LIKED_ALIGNMENT;
    return true;
}
