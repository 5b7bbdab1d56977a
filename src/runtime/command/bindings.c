// SPDX-License-Identifier: Apache-2.0
// bindings.c: what the set_... calls of encoders do: the object is checked, the command buffer
// notes or holds it, the slot takes it.
#include "runtime/command/bindings.h"
#include <string.h>
#include "abi/data_types.h"
#include "runtime/program/link.h"

void rt_bindings_clear(RtBindings *b) {
    memset(b->slots, 0, sizeof b->slots);
    memset(&b->textures, 0, sizeof b->textures);
    memset(b->samplers, 0, sizeof b->samplers);
}

static bool valid_index(const RtSite *site, size_t index, size_t end, RtRule rule) {
    if (index < end) return true;
    rt_misuse_at(site, rule, "index %zu", index);
    return false;
}

bool rt_bind_range(const RtSite *site, const void *array, MTLRange range, size_t max, RtRule rule) {
    if (!array && range.length > 0)
        rt_misuse_at(site, RT_RULE_null_argument, "the array");
    else if (range.length > max || range.location > max - range.length)
        rt_misuse_at(site, rule, "%zu from %zu on", range.length, range.location);
    else
        return true;
    return false;
}

bool rt_valid_place(const RtSite *site, const MTLBuffer *buffer, const char *argument,
                    size_t offset) {
    if (!buffer)
        rt_misuse_at(site, RT_RULE_null_argument, "%s", argument);
    else if (!rt_is(buffer, &rt_buffer_class))
        rt_misuse_at(site, RT_RULE_wrong_class, "%s: a %s", argument, mtl_class_name(buffer));
    else if (offset >= buffer->length)
        rt_misuse_at(site, RT_RULE_buffer_offset, "%s: offset %zu, length %zu of buffer '%s'",
                     argument, offset, buffer->length, rt_label(&buffer->resource.label));
    else
        return true;
    return false;
}

// Without the debug layer an offset past the end binds what lies there: nothing.
static bool lies_behind(const RtSite *site, const MTLBuffer *buffer, size_t offset) {
    return rt_is(buffer, &rt_buffer_class) && offset >= buffer->length &&
           rt_tolerates(site->device, RT_RULE_buffer_offset);
}

void rt_bind_buffer(RtBindings *b, const RtSite *site, MTLBuffer *buffer, size_t offset,
                    size_t index) {
    if (!valid_index(site, index, RT_MAX_BUFFERS, RT_RULE_buffer_index)) return;
    if (!buffer)
        b->slots[index] = (RtSlot){0};
    else if (lies_behind(site, buffer, offset)) {
        if (rt_cb_use(site->commands, &buffer->resource, false))
            b->slots[index] = (RtSlot){.buffer = buffer};
    } else if (rt_valid_place(site, buffer, "buffer", offset) &&
               rt_cb_use(site->commands, &buffer->resource, false))
        b->slots[index] = (RtSlot){.buffer = buffer,
                                   .address = buffer->memory + offset,
                                   .n_bytes = buffer->length - offset};
}

MTLBuffer *rt_bound_buffer(const RtBindings *b, const RtSite *site, size_t index) {
    if (!valid_index(site, index, RT_MAX_BUFFERS, RT_RULE_buffer_index)) return NULL;
    if (!b->slots[index].buffer)
        rt_misuse_at(site, RT_RULE_buffer_offset_unbound, "index %zu", index);
    return b->slots[index].buffer;
}

void rt_bind_bytes(RtBindings *b, const RtSite *site, const void *bytes, size_t length,
                   size_t index) {
    if (!valid_index(site, index, RT_MAX_BUFFERS, RT_RULE_buffer_index)) return;
    if (!bytes) {
        rt_misuse_at(site, RT_RULE_null_argument, "bytes");
        return;
    }
    if ((length == 0 || length > RT_MAX_BYTES) &&
        !rt_misuse_at(site, RT_RULE_bytes_length, "length %zu", length))
        return;
    // 64 bytes aligned and rounded: a kernel that reads a float3 out of 12 bytes reads zeros
    // behind.
    char *copy = rt_cb_alloc_shown(site->commands, length ? (length + 63) & ~(size_t)63 : 64);
    if (!copy) {
        rt_cb_no_memory(site->commands);
        return;
    }
    memcpy(copy, bytes, length);
    b->slots[index] = (RtSlot){.address = copy, .n_bytes = length};
}

static void bind_table(RtBindings *b, const RtSite *site, MTLVisibleFunctionTable *table,
                       const RtClass *class, size_t index) {
    if (!valid_index(site, index, RT_MAX_BUFFERS, RT_RULE_buffer_index)) return;
    if (!table)
        b->slots[index] = (RtSlot){0};
    else if (!rt_is(table, class))
        rt_misuse_at(site, RT_RULE_wrong_class, "a %s", mtl_class_name(table));
    else if (rt_cb_use(site->commands, &table->resource, false))
        b->slots[index] = (RtSlot){.table = table,
                                   .address = (char *)table->table,
                                   .n_bytes = table->resource.allocated_bytes};
}

void rt_bind_function_table(RtBindings *b, const RtSite *site, MTLVisibleFunctionTable *table,
                            size_t index) {
    bind_table(b, site, table, &rt_function_table_class, index);
}

void rt_bind_intersection_table(RtBindings *b, const RtSite *site,
                                MTLIntersectionFunctionTable *table, size_t index) {
    bind_table(b, site, (MTLVisibleFunctionTable *)table, &rt_intersection_table_class, index);
    // What its functions read is used by whoever uses the table.
    for (size_t i = 0; rt_is(table, &rt_intersection_table_class) && i < ABI_TABLE_BUFFERS; i++)
        if (table->bound[i] && !rt_cb_use(site->commands, table->bound[i], false)) return;
}

bool rt_table_fits(const RfLibrary *lib, const RfArg *arg, const MTLVisibleFunctionTable *table) {
    bool rays =
        arg->type < lib->n_types && lib->types[arg->type].data_type == DT_INTERSECTION_TABLE;
    return rt_is(table, rays ? &rt_intersection_table_class : &rt_function_table_class);
}

void rt_bind_texture(RtBindings *b, const RtSite *site, MTLTexture *texture, size_t index) {
    if (!valid_index(site, index, RT_MAX_TEXTURES, RT_RULE_texture_index)) return;
    if (!texture || (rt_is_texture(site, texture, "texture") &&
                     rt_cb_use(site->commands, &texture->resource, false)))
        rt_texture_set(b, index, texture, 0);
}

void rt_bind_sampler(RtBindings *b, const RtSite *site, MTLSamplerState *sampler,
                     const float *clamps, size_t index) {
    if (!valid_index(site, index, RT_MAX_SAMPLERS, RT_RULE_sampler_index)) return;
    if (!sampler) {
        b->samplers[index] = 0;
        return;
    }
    if (!rt_is(sampler, &rt_sampler_class)) {
        rt_misuse_at(site, RT_RULE_wrong_class, "a %s, not a MTLSamplerState",
                     mtl_class_name(sampler));
        return;
    }
    if (clamps && (!(clamps[0] >= 0) || !(clamps[1] >= clamps[0])) &&
        !rt_misuse_at(site, RT_RULE_sampler_value, "LOD clamps %g and %g, sampler '%s'",
                      (double)clamps[0], (double)clamps[1], rt_label(&sampler->label)))
        return;
    if (!clamps) {
        if (rt_cb_retain(site->commands, sampler)) b->samplers[index] = sampler->handle.value;
        return;
    }
    MTLSamplerState *own = rt_sampler_clamped(sampler, clamps);
    if (!own)
        rt_cb_no_memory(site->commands);
    else if (rt_cb_hold(site->commands, own))
        b->samplers[index] = own->handle.value;
    mtl_release(own);
}
