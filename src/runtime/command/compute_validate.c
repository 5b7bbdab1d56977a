// SPDX-License-Identifier: Apache-2.0
// compute_validate.c: one line per rule of compute encoding (ids in validation.def).
#include "runtime/command/compute_validate.h"
#include <stdio.h>
#include "runtime/command/argument_residency_int.h"
#include "runtime/command/compute_imageblock.h"
#include "runtime/memory/spans.h"
#include "runtime/memory/tensor.h"
#include "runtime/object/validation.h"
#include "runtime/program/link.h"

bool rt_valid_encoder(const MTLComputeCommandEncoder *e, const char *call) {
    return rt_encoder_valid(e, &rt_compute_encoder_class, call);
}

bool rt_valid_threadgroup_length(MTLComputeCommandEncoder *e, const char *call, size_t length,
                                 size_t index) {
    if (index >= RT_MAX_BUFFERS) {
        rt_misuse_encoding(e->encoder.buffer, RT_RULE_threadgroup_memory_index, call, "index %zu",
                           index);
        return false;
    }
    if (length % 16 != 0 &&
        !rt_misuse_encoding(e->encoder.buffer, RT_RULE_threadgroup_memory_multiple, call,
                            "length %zu", length))
        return false;
    if (length > e->encoder.buffer->device->facts.max_threadgroup_bytes) {
        rt_misuse_encoding(e->encoder.buffer, RT_RULE_threadgroup_memory_limit, call, "length %zu",
                           length);
        return false;
    }
    return true;
}

bool rt_valid_group_size(MTLComputeCommandEncoder *e, const char *call, MTLSize size) {
    const MTLComputePipelineState *p = e->pipeline;
    if (!p) {
        rt_misuse_encoding(e->encoder.buffer, RT_RULE_dispatch_without_pipeline, call, NULL);
        return false;
    }
    RtRule rule = rt_group_misfit(p, size);
    if (rule == RT_N_RULES) return true;
    const uint32_t *required = p->stage->required;
    char more[256] = "";
    if (rule == RT_RULE_dispatch_threadgroup_limit)
        snprintf(more, sizeof more, ", '%s' allows %zu", p->stage->entry->name, p->max_threads);
    else if (rule == RT_RULE_dispatch_required_threadgroup)
        snprintf(more, sizeof more, ", '%s' requires %u x %u x %u", p->stage->entry->name,
                 required[0], required[1], required[2]);
    bool tolerated = rt_misuse_encoding(e->encoder.buffer, rule, call, "%zu x %zu x %zu%s",
                                        size.width, size.height, size.depth, more);
    return tolerated && rule == RT_RULE_dispatch_width_multiple;
}

bool rt_valid_grid(MTLComputeCommandEncoder *e, const char *call, MTLSize n, MTLSize size,
                   bool in_threads, RtGrid *grid) {
    RtGridFit fit = rt_grid_set(grid, n, size, in_threads);
    if (fit == RT_GRID_FITS) return true;
    rt_misuse_encoding(e->encoder.buffer,
                       fit == RT_GRID_EMPTY ? RT_RULE_dispatch_empty_grid
                                            : RT_RULE_dispatch_grid_limit,
                       call, "%zu x %zu x %zu", n.width, n.height, n.depth);
    return false;
}

static bool valid_buffer_arg(MTLComputeCommandEncoder *e, const char *call, const RfArg *arg,
                             uint32_t k) {
    const MTLComputePipelineState *p = e->pipeline;
    const char *kernel = p->stage->entry->name;
    size_t index = (size_t)arg->index + k;
    const RtSlot *slot = index < RT_MAX_BUFFERS ? &e->bound.slots[index] : NULL;
    if (!slot || !slot->address || slot->table || slot->acceleration)
        return rt_misuse_encoding(e->encoder.buffer, RT_RULE_dispatch_missing_buffer, call,
                                  "'%s' needs a buffer at index %zu for '%s'", kernel, index,
                                  arg->name);
    const RfLibrary *lib = rt_stage_library(p->stage);
    if (arg->type >= lib->n_types) return true;
    const RfType *type = &lib->types[arg->type];
    if (!p->device->debug_layer) return true;
    const char *label = slot->buffer ? rt_label(&slot->buffer->resource.label) : "";
    if (slot->n_bytes < type->size)
        return rt_misuse_encoding(e->encoder.buffer, RT_RULE_dispatch_buffer_too_small, call,
                                  "'%s' of '%s' at index %zu is %u bytes, %zu are there%s%s%s",
                                  arg->name, kernel, index, type->size, slot->n_bytes,
                                  *label ? " in '" : "", label, *label ? "'" : "");
    return type->align <= 1 || (uintptr_t)slot->address % type->align == 0 ||
           rt_misuse_encoding(e->encoder.buffer, RT_RULE_dispatch_offset_alignment, call,
                              "'%s' of '%s' at index %zu needs %u%s%s%s", arg->name, kernel, index,
                              type->align, *label ? ": '" : "", label, *label ? "'" : "");
}

static bool valid_table_arg(MTLComputeCommandEncoder *e, const char *call, const RfArg *arg,
                            uint32_t k) {
    size_t index = (size_t)arg->index + k;
    const MTLVisibleFunctionTable *table =
        index < RT_MAX_BUFFERS ? e->bound.slots[index].table : NULL;
    const char *kernel = e->pipeline->stage->entry->name;
    const RfLibrary *lib = rt_stage_library(e->pipeline->stage);
    if (!table || !rt_table_fits(lib, arg, table)) {
        rt_misuse_encoding(e->encoder.buffer, RT_RULE_dispatch_missing_function_table, call,
                           "'%s' needs %s function table at index %zu for '%s'", kernel,
                           lib->types[arg->type].data_type == MTLDataTypeIntersectionFunctionTable
                               ? "an intersection"
                               : "a visible",
                           index, arg->name);
        return false;
    }
    if (table->stage != e->pipeline->stage) {
        rt_misuse_encoding(e->encoder.buffer, RT_RULE_function_table_foreign, call,
                           "'%s' at index %zu of '%s'", rt_label(&table->resource.label), index,
                           kernel);
        return false;
    }
    return true;
}

typedef struct FoundTensor {
    const void *handle;
    bool live;
    uint32_t type, rank;
    char label[64];
} FoundTensor;

static void look_at_tensor(const RtSpan *span, void *context) {
    FoundTensor *found = context;
    const MTLTensor *tensor = (const MTLTensor *)span->resource;
    if (!rt_is(tensor, &rt_tensor_class) || (uintptr_t)found->handle != tensor->handle.value)
        return;
    found->live = true;
    found->type = tensor->record.type;
    found->rank = tensor->record.rank;
    snprintf(found->label, sizeof found->label, "%s", rt_label(&tensor->resource.label));
}

// The debug layer: is there a tensor behind the handle, of the kernel's type and rank?
static bool is_tensor_of_kind(MTLComputeCommandEncoder *e, const char *call, const RfArg *arg,
                              size_t index, const void *handle) {
    const RfLibrary *lib = rt_stage_library(e->pipeline->stage);
    const RfType *t = &lib->types[arg->type];
    uint32_t type = t->element < lib->n_types ? lib->types[t->element].data_type : 0;
    const char *kernel = e->pipeline->stage->entry->name;
    FoundTensor found = {.handle = handle};
    rt_span_find(e->encoder.buffer->device, handle, look_at_tensor, &found);
    if (!found.live)
        rt_misuse_encoding(e->encoder.buffer, RT_RULE_dispatch_missing_tensor, call,
                           "what is bound at buffer index %zu for '%s' of '%s' is no tensor, or "
                           "was released",
                           index, arg->name, kernel);
    else if (found.type != type || found.rank != t->rank)
        rt_misuse_encoding(e->encoder.buffer, RT_RULE_dispatch_tensor_kind, call,
                           "'%s' of '%s' is of type %s and rank %u, tensor '%s' at buffer index "
                           "%zu of type %s and rank %u",
                           arg->name, kernel, rt_tensor_type_name(type), t->rank, found.label,
                           index, rt_tensor_type_name(found.type), found.rank);
    else
        return true;
    return false;
}

// Only argument tables bind tensors: what a buffer of this index holds is no handle.
static bool valid_tensor_arg(MTLComputeCommandEncoder *e, const char *call, const RfArg *arg,
                             uint32_t k) {
    size_t index = (size_t)arg->index + k;
    const RtSlot *slot = index < RT_MAX_BUFFERS ? &e->bound.slots[index] : NULL;
    if (slot && slot->address && !slot->buffer && !slot->table && slot->n_bytes == SIZE_MAX)
        return !e->pipeline->device->debug_layer ||
               is_tensor_of_kind(e, call, arg, index, slot->address);
    rt_misuse_encoding(e->encoder.buffer, RT_RULE_dispatch_missing_tensor, call,
                       "'%s' needs a tensor at buffer index %zu for '%s'",
                       e->pipeline->stage->entry->name, index, arg->name);
    return false;
}

bool rt_valid_bindings(MTLComputeCommandEncoder *e, const char *call, const uint32_t group[3]) {
    const MTLComputePipelineState *p = e->pipeline;
    if (p->device->debug_layer) rt_warn_residency(e, call);
    const RfFunction *f = p->stage->entry;
    size_t total = p->static_bytes;
    for (uint32_t i = 0; i < f->n_args; i++) {
        const RfArg *arg = &f->args[i];
        if (p->stage->arg_use[i] == RT_ARG_OFF) continue;
        if (arg->kind == RF_ARG_BUFFER && p->stage->arg_use[i] == RT_ARG_REQUIRED) {
            for (uint32_t k = 0; k < arg->count; k++)
                if (!valid_buffer_arg(e, call, arg, k)) return false;
        } else if (arg->kind == RF_ARG_FUNCTION_TABLE && p->stage->arg_use[i] == RT_ARG_REQUIRED) {
            for (uint32_t k = 0; k < arg->count; k++)
                if (!valid_table_arg(e, call, arg, k)) return false;
        } else if (arg->kind == RF_ARG_TENSOR && p->stage->arg_use[i] == RT_ARG_REQUIRED) {
            for (uint32_t k = 0; k < arg->count; k++)
                if (!valid_tensor_arg(e, call, arg, k)) return false;
        } else if (arg->kind == RF_ARG_THREADGROUP) {
            uint32_t n = arg->index < RT_MAX_BUFFERS ? e->bound.threadgroup_bytes[arg->index] : 0;
            if (n == 0 && p->stage->arg_use[i] == RT_ARG_REQUIRED && p->device->debug_layer) {
                rt_misuse_encoding(e->encoder.buffer, RT_RULE_dispatch_missing_threadgroup_memory,
                                   call, "'%s' needs a length at index %u for '%s'", f->name,
                                   arg->index, arg->name);
                return false;
            }
            total += n;
        }
    }
    if (total > p->device->facts.max_threadgroup_bytes) {
        rt_misuse_encoding(e->encoder.buffer, RT_RULE_threadgroup_memory_limit, call,
                           "'%s' has %zu bytes of its own, %zu with its arguments", f->name,
                           p->static_bytes, total);
        return false;
    }
    if (p->imageblock_bytes && !rt_imageblock_fits(p, e->imageblock, group, total)) {
        rt_misuse_encoding(e->encoder.buffer, RT_RULE_imageblock_size, call,
                           "%zu bytes for each of %u x %u pixels of '%s', %zu of threadgroup "
                           "memory",
                           p->imageblock_bytes, e->imageblock[0] ? e->imageblock[0] : group[0],
                           e->imageblock[1] ? e->imageblock[1] : group[1], f->name, total);
        return false;
    }
    return true;
}

bool rt_valid_indirect(MTLComputeCommandEncoder *e, const char *call, const MTLBuffer *buffer,
                       size_t offset) {
    const RtSite site = {e->encoder.buffer->device, e->encoder.buffer, call};
    if (!rt_valid_place(&site, buffer, "indirect_buffer", offset)) return false;
    if (offset % 4 != 0 ||
        buffer->length - offset < sizeof(MTLDispatchThreadgroupsIndirectArguments)) {
        rt_misuse_encoding(e->encoder.buffer, RT_RULE_indirect_offset, call,
                           "offset %zu, length %zu", offset, buffer->length);
        return false;
    }
    return true;
}
