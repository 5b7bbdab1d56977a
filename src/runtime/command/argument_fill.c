// SPDX-License-Identifier: Apache-2.0
// argument_fill.c: from an argument table of Metal 4 to the bindings of a dispatch or draw. Tables
// hold only addresses and ids: the resources behind them are looked up only where needed, which is
// rare without the debug layer.
#include "runtime/command/argument_table.h"
#include "runtime/memory/spans.h"
#include "runtime/memory/acceleration.h"
#include "runtime/memory/tensor.h"
#include "runtime/program/link.h"

#define UNKNOWN_BYTES (SIZE_MAX >> 1) // that nobody looked up

typedef struct Found {
    const char *address;
    MTLResource *resource; // not retained: the program keeps it while it encodes
    size_t n_bytes;        // from the address on
} Found;

static void visit(const RtSpan *span, void *context) {
    Found *f = context;
    f->resource = (MTLResource *)(uintptr_t)span->resource;
    f->n_bytes = span->n_bytes - (size_t)(f->address - span->start);
}

static bool find_buffer_at(MTLDevice *device, uint64_t address, Found *found) {
    *found = (Found){.address = (const char *)(uintptr_t)address};
    return rt_span_find(device, found->address, visit, found);
}

// Whether code may read the whole type at the address though nobody knows how long the memory is: a
// page is there or is not.
static bool in_one_page(uint64_t address, size_t n_bytes) {
    return address >> 12 == (address + (n_bytes ? n_bytes - 1 : 0)) >> 12;
}

// ---- Buffers ----

// Somebody wants to know what is behind every address.
static bool looks_up_all(const RtFill *fill) {
    return fill->how || fill->site->device->debug_layer || rt_is_tracing();
}

// arg: NULL for vertex attributes.
static bool fill_address(const RtFill *fill, const RfArg *arg, RtSlot *slot, uint64_t value,
                         bool search) {
    MTLCommandBuffer *commands = fill->site->commands;
    *slot = (RtSlot){.address = (char *)(uintptr_t)value,
                     .n_bytes = fill->how & RT_FILL_BOUNDED ? 0 : UNKNOWN_BYTES};
    if (!value) return true;
    size_t whole = arg ? rt_argument_bytes(fill->stage, arg) : 0;
    search = search || (arg && arg->space == RF_CONSTANT && !in_one_page(value, whole));
    Found found;
    if (!search || !find_buffer_at(commands->device, value, &found)) return true;
    slot->n_bytes = found.n_bytes;
    if (rt_is(found.resource, &rt_buffer_class)) {
        slot->buffer = (MTLBuffer *)(void *)found.resource;
        if (fill->how & RT_FILL_CHECKED && !rt_cb_hold(commands, found.resource)) return false;
    }
    return rt_cb_use(commands, found.resource, false);
}

static bool fill_resource(const RtFill *fill, const RfArg *arg, RtSlot *slot, uint64_t value) {
    MTLCommandBuffer *commands = fill->site->commands;
    *slot = (RtSlot){.address = (char *)(uintptr_t)value, .n_bytes = SIZE_MAX};
    // Function tables are found again by their memory; of tensors only the debug layer wants to
    // know.
    bool is_table = arg->kind == RF_ARG_FUNCTION_TABLE, rays = arg->kind == RF_ARG_ACCELERATION;
    if (!is_table && !commands->notes_resources) return true;
    Found found;
    find_buffer_at(commands->device, value, &found);
    bool fits =
        is_table ? found.resource &&
                       rt_table_fits(rt_stage_library(fill->stage), arg,
                                     (const MTLVisibleFunctionTable *)(const void *)found.resource)
                 : rt_is(found.resource, rays ? &rt_acceleration_class : &rt_tensor_class);
    if (!fits) {
        rt_misuse_at(fill->site, RT_RULE_metal4_resource_id,
                     "0x%llx in table '%s' for '%s' is no %s", (unsigned long long)value,
                     rt_label(&fill->table->label), arg->name,
                     is_table ? "function table of its kind"
                     : rays   ? "acceleration structure"
                              : "tensor");
        return false;
    }
    if (is_table) {
        slot->table = (MTLVisibleFunctionTable *)(void *)found.resource;
        slot->n_bytes = found.n_bytes;
    }
    return rt_cb_use(commands, found.resource, false);
}

static bool fill_slot(const RtFill *fill, const RfArg *arg, size_t index, bool search) {
    if (index >= RT_MAX_BUFFERS) return true;
    RtSlot *slot = &fill->to->slots[index];
    const RtBinding *b = index < fill->table->n_buffers ? &fill->table->buffers[index] : NULL;
    if (!b || b->resource != (arg && arg->kind != RF_ARG_BUFFER)) {
        *slot = (RtSlot){0};
        return true;
    }
    return b->resource ? fill_resource(fill, arg, slot, b->value)
                       : fill_address(fill, arg, slot, b->value, search);
}

bool rt_table_fill_buffer(const RtFill *fill, size_t index) {
    return fill_slot(fill, NULL, index, true);
}

bool rt_table_fill_all(const MTL4ArgumentTable *table, RtBindings *to, MTLCommandBuffer *commands) {
    for (size_t i = 0; i < RT_MAX_BUFFERS; i++) {
        to->slots[i] = (RtSlot){0};
        const RtBinding *b = i < table->n_buffers ? &table->buffers[i] : NULL;
        Found found;
        if (!b || b->resource || !b->value || !find_buffer_at(commands->device, b->value, &found))
            continue;
        to->slots[i] = (RtSlot){.address = (char *)(uintptr_t)b->value, .n_bytes = found.n_bytes};
        if (rt_is(found.resource, &rt_buffer_class))
            to->slots[i].buffer = (MTLBuffer *)(void *)found.resource;
        if (!rt_cb_use(commands, found.resource, false)) return false;
    }
    return true;
}

// ---- Textures and samplers ----

static void visit_texture(const RtSpan *span, void *context) {
    RtTextureSlot *slot = context;
    MTLTexture *texture = (MTLTexture *)(uintptr_t)span->resource;
    if (rt_is(texture, &rt_texture_class) && texture->handle.value == slot->handle)
        slot->texture = texture;
}

// A kernel is left by a fault where an id is none: only the debug layer pays for finding its
// texture.
static bool fill_texture(const RtFill *fill, size_t index) {
    if (index >= RT_MAX_TEXTURES) return true;
    MTLDevice *device = fill->site->device;
    MTLCommandBuffer *commands = fill->site->commands;
    uint64_t id = index < fill->table->n_textures ? fill->table->textures[index] : 0;
    bool pooled = (id & ABI_TEXTURE_POOLED) != 0;
    if (pooled && !device->table->view_at(device->context, id)) id = 0;
    RtTextureSlot slot = {.handle = id};
    if (id && !pooled && commands->notes_resources)
        rt_span_find(device, (const void *)(uintptr_t)id, visit_texture, &slot);
    rt_texture_set(fill->to, index, slot.texture, id);
    return !slot.texture || rt_cb_use(commands, &slot.texture->resource, false);
}

static void fill_sampler(const RtFill *fill, size_t index) {
    if (index < RT_MAX_SAMPLERS)
        fill->to->samplers[index] =
            index < fill->table->n_samplers ? fill->table->samplers[index] : 0;
}

// What nearly every argument of a dispatch is: one address, taken as it is. False: it is not.
static inline bool fill_plain(const RtFill *fill, const RfArg *arg) {
    if (arg->kind != RF_ARG_BUFFER || arg->count != 1 || arg->index >= fill->table->n_buffers)
        return false;
    const RtBinding *b = &fill->table->buffers[arg->index];
    if (b->resource) return false;
    if (arg->space == RF_CONSTANT) {
        size_t whole = rt_argument_bytes(fill->stage, arg);
        if (!in_one_page(b->value, whole)) return false;
    }
    fill->to->slots[arg->index] =
        (RtSlot){.address = (char *)(uintptr_t)b->value, .n_bytes = UNKNOWN_BYTES};
    return true;
}

bool rt_table_fill(const RtFill *fill) {
    bool search = looks_up_all(fill);
    for (uint32_t i = 0; i < fill->stage->entry->n_args; i++) {
        const RfArg *arg = &fill->stage->entry->args[i];
        if (fill->stage->arg_use[i] == RT_ARG_OFF || (!search && fill_plain(fill, arg))) continue;
        for (uint32_t k = 0; k < arg->count; k++) {
            size_t index = (size_t)arg->index + k;
            bool ok = true;
            if (arg->kind == RF_ARG_BUFFER || arg->kind == RF_ARG_FUNCTION_TABLE ||
                arg->kind == RF_ARG_TENSOR || arg->kind == RF_ARG_ACCELERATION)
                ok = fill_slot(fill, arg, index, search);
            else if (arg->kind == RF_ARG_TEXTURE)
                ok = fill_texture(fill, index);
            else if (arg->kind == RF_ARG_SAMPLER)
                fill_sampler(fill, index);
            if (!ok) return false;
        }
    }
    return true;
}
