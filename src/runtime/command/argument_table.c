// SPDX-License-Identifier: Apache-2.0
// argument_table.c: MTL4ArgumentTable: addresses and resource ids by index, and their way into a
// dispatch.
#include "runtime/memory/spans.h"
#include "runtime/memory/tensor.h"
#include "runtime/command/argument_table.h"
#include "runtime/object/validation.h"
#include "runtime/program/link.h"

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

MTLDevice *mtl4_argument_table_device(const MTL4ArgumentTable *table) {
    return table ? table->device : NULL;
}

const char *mtl4_argument_table_label(const MTL4ArgumentTable *table) {
    return table ? rt_label(&table->label) : "";
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

// ---- Into a dispatch ----

#define UNKNOWN_BYTES (SIZE_MAX >> 1) // that nobody looked up

typedef struct Span {
    MTLResource *resource; // not retained: the program keeps it while it encodes
    size_t n_bytes;        // from the address on
    const char *address;
} Span;

static void visit(const RtSpan *span, void *context) {
    Span *s = context;
    s->resource = (MTLResource *)span->resource;
    s->n_bytes = span->n_bytes - (size_t)(s->address - span->start);
}

// Whether code may read the whole type at the address though nobody knows how long the memory is: a
// page is there or is not.
static bool in_one_page(uint64_t address, size_t n_bytes) {
    return address >> 12 == (address + (n_bytes ? n_bytes - 1 : 0)) >> 12;
}

static bool bind_address(MTLComputeCommandEncoder *e, const RfArg *arg, RtSlot *slot,
                         uint64_t value) {
    const MTLComputePipelineState *p = e->pipeline;
    const RfLibrary *lib = rt_pipeline_library(p);
    size_t whole = arg->type < lib->n_types ? lib->types[arg->type].size : 0;
    *slot = (RtSlot){.address = (char *)(uintptr_t)value, .n_bytes = UNKNOWN_BYTES};
    if (!value) return true;
    // Where memory ends costs a search: only where somebody needs to know.
    bool search = p->device->debug_layer || p->validate || rt_is_tracing() ||
                  (arg->space == RF_CONSTANT && !in_one_page(value, whole));
    Span span = {.address = slot->address};
    if (!search || !rt_span_find(slot->address, visit, &span)) return true;
    slot->n_bytes = span.n_bytes;
    if (!rt_is(span.resource, &rt_buffer_class)) return true;
    slot->buffer = (MTLBuffer *)(void *)span.resource;
    // What a checked kernel does wrong is told with the buffer's label, later.
    if (p->validate && !rt_cb_hold(e->encoder.buffer, span.resource)) return false;
    return rt_cb_use(e->encoder.buffer, span.resource, false);
}

static bool bind_resource(MTLComputeCommandEncoder *e, const RfArg *arg, RtSlot *slot,
                          uint64_t value, const char *call) {
    MTLCommandBuffer *commands = e->encoder.buffer;
    Span span = {.address = (const char *)(uintptr_t)value};
    *slot = (RtSlot){.address = (char *)(uintptr_t)value, .n_bytes = SIZE_MAX};
    // Function tables are found again by their memory; of tensors only the debug layer wants to
    // know.
    bool is_table = arg->kind == RF_ARG_FUNCTION_TABLE;
    if (!is_table && !commands->notes_resources) return true;
    rt_span_find(span.address, visit, &span);
    if (!rt_is(span.resource, is_table ? &rt_function_table_class : &rt_tensor_class)) {
        rt_misuse_encoding(commands, RT_RULE_metal4_resource_id, call,
                           "0x%llx in table '%s' for '%s' is no %s", (unsigned long long)value,
                           rt_label(&e->table->label), arg->name,
                           is_table ? "visible function table" : "tensor");
        return false;
    }
    if (is_table) {
        slot->table = (MTLVisibleFunctionTable *)(void *)span.resource;
        slot->n_bytes = span.n_bytes;
    }
    return rt_cb_use(commands, span.resource, false);
}

// What does not fit its argument stays empty: it is then reported as missing, if it is needed.
static bool bind_buffer(MTLComputeCommandEncoder *e, const RfArg *arg, size_t index,
                        const char *call) {
    const MTL4ArgumentTable *table = e->table;
    RtSlot *slot = &e->slots[index];
    *slot = (RtSlot){0};
    if (!table || index >= table->n_buffers) return true;
    const RtBinding *b = &table->buffers[index];
    if (b->resource != (arg->kind != RF_ARG_BUFFER)) return true;
    return b->resource ? bind_resource(e, arg, slot, b->value, call)
                       : bind_address(e, arg, slot, b->value);
}

bool rt_table_bind(MTLComputeCommandEncoder *e, const char *call) {
    const MTLComputePipelineState *p = e->pipeline;
    const RfFunction *f = rt_pipeline_function(p);
    for (uint32_t i = 0; i < f->n_args; i++) {
        const RfArg *arg = &f->args[i];
        if (p->arg_use[i] == RT_ARG_OFF ||
            (arg->kind != RF_ARG_BUFFER && arg->kind != RF_ARG_FUNCTION_TABLE &&
             arg->kind != RF_ARG_TENSOR))
            continue;
        for (uint32_t k = 0; k < arg->count; k++)
            if ((size_t)arg->index + k < RT_MAX_BUFFERS &&
                !bind_buffer(e, arg, arg->index + k, call))
                return false;
    }
    return true;
}

void rt_table_bind_all(MTLComputeCommandEncoder *e) {
    const MTL4ArgumentTable *table = e->table;
    for (size_t i = 0; i < RT_MAX_BUFFERS; i++) {
        e->slots[i] = (RtSlot){0};
        const RtBinding *b = table && i < table->n_buffers ? &table->buffers[i] : NULL;
        if (!b || b->resource || !b->value) continue;
        Span span = {.address = (const char *)(uintptr_t)b->value};
        if (!rt_span_find(span.address, visit, &span) || !rt_is(span.resource, &rt_buffer_class))
            continue;
        e->slots[i] = (RtSlot){.buffer = (MTLBuffer *)(void *)span.resource,
                               .address = (char *)(uintptr_t)b->value,
                               .n_bytes = span.n_bytes};
    }
}

// ---- Into a draw (render_arguments.c) ----

uint64_t rt_table_texture(const MTL4ArgumentTable *table, size_t index) {
    return table && index < table->n_textures ? table->textures[index] : 0;
}

uint64_t rt_table_sampler(const MTL4ArgumentTable *table, size_t index) {
    return table && index < table->n_samplers ? table->samplers[index] : 0;
}
