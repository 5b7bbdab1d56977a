// SPDX-License-Identifier: Apache-2.0
// argument_table.c: MTL4ArgumentTable: addresses and resource ids by index. Their way into the
// bindings of a dispatch or draw is argument_fill.c.
#include "runtime/command/argument_table.h"
#include "runtime/object/validation.h"

static void table_destroy(void *self) {
    MTL4ArgumentTable *table = self;
    rt_label_free(&table->label);
    mtl_release(table->device);
    rt_free(table);
}

RT_CLASS rt_argument_table_class = {.name = "MTL4ArgumentTable",
                                    .destroy = table_destroy,
                                    .label_at = offsetof(MTL4ArgumentTable, label)};

// ---- Making ----

MTL4ArgumentTable *mtl_device_new_argument_table(MTLDevice *device,
                                                 const MTL4ArgumentTableDescriptor *descriptor,
                                                 MTLError **error) {
    if (error) *error = NULL;
    if (!device || !descriptor) {
        rt_misuse(device, device ? RT_RULE_null_argument : RT_RULE_null_object, __func__,
                  device ? "descriptor" : NULL);
        return NULL;
    }
    const MTL4ArgumentTableDescriptor *d = descriptor;
    if (d->max_buffer_bind_count > RT_MAX_BUFFERS || d->max_texture_bind_count > RT_MAX_TEXTURES ||
        d->max_sampler_state_bind_count > RT_MAX_SAMPLERS) {
        rt_error_set(error,
                     rt_error_new(MTLDeviceErrorDomain, MTLDeviceErrorInvalidInput,
                                  "%s: an argument table has at most %u buffers, %u textures and "
                                  "%u samplers; %zu, %zu and %zu were asked for.",
                                  __func__, RT_MAX_BUFFERS, RT_MAX_TEXTURES, RT_MAX_SAMPLERS,
                                  d->max_buffer_bind_count, d->max_texture_bind_count,
                                  d->max_sampler_state_bind_count));
        return NULL;
    }
    size_t n = d->max_buffer_bind_count, n_ids = d->max_texture_bind_count;
    MTL4ArgumentTable *table = rt_new(
        &rt_argument_table_class, sizeof *table + n * sizeof *table->buffers +
                                      (n_ids + d->max_sampler_state_bind_count) * sizeof(uint64_t));
    if (!table) {
        rt_error_set(error, NULL);
        return NULL;
    }
    table->device = mtl_retain(device);
    rt_label_set(&table->label, d->label);
    table->n_buffers = (uint32_t)n;
    table->n_textures = (uint32_t)n_ids;
    table->n_samplers = (uint32_t)d->max_sampler_state_bind_count;
    table->strides = d->support_attribute_strides;
    table->buffers = (RtBinding *)(table + 1);
    table->textures = (uint64_t *)(table->buffers + n);
    table->samplers = table->textures + n_ids;
    return table;
}

// ---- Setting ----

static bool valid(const MTL4ArgumentTable *table, size_t index, char kind, const char *call) {
    if (!rt_is(table, &rt_argument_table_class)) {
        rt_misuse(NULL, table ? RT_RULE_wrong_class : RT_RULE_null_object, call, "%s",
                  mtl_class_name(table));
        return false;
    }
    uint32_t n = kind == 'b'   ? table->n_buffers
                 : kind == 't' ? table->n_textures
                               : table->n_samplers;
    if (index < n) return true;
    rt_misuse(table->device, RT_RULE_metal4_table_index, call, "table '%s': %s index %zu of %u",
              rt_label(&table->label),
              kind == 'b'   ? "buffer"
              : kind == 't' ? "texture"
                            : "sampler",
              index, n);
    return false;
}

static void set_buffer(MTL4ArgumentTable *table, size_t index, RtBinding binding) {
    table->buffers[index] = binding;
    table->version++;
}

void mtl4_argument_table_set_address(MTL4ArgumentTable *table, MTLGPUAddress gpu_address,
                                     size_t index) {
    if (valid(table, index, 'b', __func__))
        set_buffer(table, index, (RtBinding){.value = gpu_address});
}

void mtl4_argument_table_set_address_with_attribute_stride(MTL4ArgumentTable *table,
                                                           MTLGPUAddress gpu_address, size_t stride,
                                                           size_t index) {
    if (!valid(table, index, 'b', __func__)) return;
    if (!table->strides)
        rt_misuse(table->device, RT_RULE_metal4_attribute_stride, __func__,
                  "table '%s', index %zu, stride %zu", rt_label(&table->label), index, stride);
    else // kernels have no attributes: the stride is for vertex functions
        set_buffer(table, index,
                   (RtBinding){.value = gpu_address, .has_stride = true, .stride = stride});
}

void mtl4_argument_table_set_resource(MTL4ArgumentTable *table, MTLResourceID resource_id,
                                      size_t buffer_index) {
    if (valid(table, buffer_index, 'b', __func__))
        set_buffer(table, buffer_index,
                   (RtBinding){.value = resource_id.impl, .resource = resource_id.impl != 0});
}

void mtl4_argument_table_set_texture(MTL4ArgumentTable *table, MTLResourceID resource_id,
                                     size_t index) {
    if (!valid(table, index, 't', __func__)) return;
    table->textures[index] = resource_id.impl;
    table->version++;
}

void mtl4_argument_table_set_sampler_state(MTL4ArgumentTable *table, MTLResourceID resource_id,
                                           size_t index) {
    if (!valid(table, index, 's', __func__)) return;
    table->samplers[index] = resource_id.impl;
    table->version++;
}

#include "accessors/command/argument_table.inc" // plain accessors, from the table
