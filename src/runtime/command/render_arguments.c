// SPDX-License-Identifier: Apache-2.0
// render_arguments.c: what the functions of a draw read, checked against the bindings and copied
// into the command stream: an address and a length per slot, the buffers of vertex attributes
// behind those of the function itself.
#include "runtime/command/render.h"
#include "runtime/command/checked.h"
#include "runtime/program/link.h"
#include "runtime/command/argument_residency_int.h"
#include "os/zeros.h"

typedef struct Take { // one stage being copied
    RtTake to;
    MTLRenderCommandEncoder *e;
    DevCode *code; // of its function
    uint64_t *lengths;
    uint32_t n_args;
    RtValidated *validated;   // of a function that is checked; else NULL
    size_t threadgroup_bytes; // objects, meshes: with those of arguments; tiles: the function's own
    bool in_tile;             // threadgroup memory is the tile's
} Take;

static bool no_memory(const Take *t) {
    rt_cb_no_memory(t->to.site->commands);
    return false;
}

// Is what is bound there right for the argument?
static bool valid_buffer(const Take *t, const RfArg *arg, size_t index, const RtSlot *slot) {
    if (!slot || !slot->address)
        return rt_misuse_at(t->to.site, RT_RULE_draw_missing_buffer,
                            "'%s' needs a buffer at index %zu for '%s'", t->to.stage->entry->name,
                            index, arg->name);
    if (arg->type >= rt_stage_library(t->to.stage)->n_types) return true;
    const RfType *type = &rt_stage_library(t->to.stage)->types[arg->type];
    if (!t->to.site->device->debug_layer) return true;
    const char *label = slot->buffer ? rt_label(&slot->buffer->resource.label) : "";
    if (slot->n_bytes < type->size)
        return rt_misuse_at(t->to.site, RT_RULE_dispatch_buffer_too_small,
                            "'%s' of '%s' at index %zu is %u bytes, %zu are there in '%s'",
                            arg->name, t->to.stage->entry->name, index, type->size, slot->n_bytes,
                            label);
    return type->align <= 1 || (uintptr_t)slot->address % type->align == 0 ||
           rt_misuse_at(t->to.site, RT_RULE_dispatch_offset_alignment,
                        "'%s' of '%s' at index %zu needs %u: '%s'", arg->name,
                        t->to.stage->entry->name, index, type->align, label);
}

static bool take_buffer(Take *t, const RfArg *arg, bool required) {
    for (uint32_t k = 0; k < arg->count && arg->slot + k < t->to.stage->entry->n_slots; k++) {
        size_t index = (size_t)arg->index + k;
        const RtSlot *slot = index < RT_MAX_BUFFERS ? &t->to.from->slots[index] : NULL;
        if (required && !valid_buffer(t, arg, index, slot)) return false;
        if (!slot || !slot->address) {
            if (required) t->to.args[arg->slot + k] = os_zeros();
            continue;
        }
        t->lengths[arg->slot + k] = slot->n_bytes;
        if (t->validated && !t->to.site->commands->unretained)
            t->validated->buffers[arg->slot + k] = slot->buffer;
        if (!rt_take_slot(&t->to, arg, k, slot)) return false;
        bool is_short = t->to.shorts && t->to.shorts->slot == arg->slot + k;
        if (is_short && !t->validated)
            t->lengths[arg->slot + k] = rt_argument_bytes(t->to.stage, arg);
    }
    return true;
}

// Offsets of threadgroup memory: the function's own comes first.
static bool take_threadgroup(Take *t, const RfArg *arg, bool required) {
    uint32_t n = arg->index < RT_MAX_BUFFERS ? t->to.from->threadgroup_bytes[arg->index] : 0;
    if (n == 0 && required) {
        if (!rt_misuse_at(t->to.site, RT_RULE_dispatch_missing_threadgroup_memory,
                          "'%s' needs a length at index %u for '%s'", t->to.stage->entry->name,
                          arg->index, arg->name))
            return false;
        // Without a length a Mac's function finds whatever memory there is: what is left of it.
        // Tiles have as much as the pass says.
        if (t->in_tile || t->threadgroup_bytes > RT_MAX_THREADGROUP_MEMORY) return false;
        n = (uint32_t)(RT_MAX_THREADGROUP_MEMORY - t->threadgroup_bytes);
    }
    t->to.args[arg->slot] = (void *)(uintptr_t)t->threadgroup_bytes;
    t->lengths[arg->slot] = n;
    if (t->in_tile) {
        size_t offset = n ? t->e->threadgroup_offsets[arg->index] : 0;
        t->to.args[arg->slot] = (void *)(uintptr_t)(t->threadgroup_bytes + offset);
        return true;
    }
    t->threadgroup_bytes += n;
    if (t->threadgroup_bytes <= RT_MAX_THREADGROUP_MEMORY) return true;
    rt_misuse_at(t->to.site, RT_RULE_threadgroup_memory_limit, "'%s' needs %zu bytes",
                 t->to.stage->entry->name, t->threadgroup_bytes);
    return false;
}

// A table or tensor: the address of what describes it.
static bool take_resource(Take *t, const RfArg *arg, bool required) {
    bool is_table = arg->kind == RF_ARG_FUNCTION_TABLE;
    for (uint32_t k = 0; k < arg->count && arg->slot + k < t->to.stage->entry->n_slots; k++) {
        size_t index = (size_t)arg->index + k;
        const RtSlot *slot = index < RT_MAX_BUFFERS ? &t->to.from->slots[index] : NULL;
        bool there = slot && slot->address && !slot->buffer && is_table == (slot->table != NULL) &&
                     (!is_table || rt_table_fits(rt_stage_library(t->to.stage), arg, slot->table));
        if (!there && required) {
            rt_misuse_at(t->to.site,
                         is_table ? RT_RULE_draw_missing_function_table : RT_RULE_draw_argument,
                         "'%s' needs a %s at index %zu for '%s'", t->to.stage->entry->name,
                         is_table ? "function table" : "tensor", index, arg->name);
            return false;
        }
        if (!there) continue;
        if (is_table && slot->table->stage->linkage != t->to.stage->linkage) {
            rt_misuse_at(t->to.site, RT_RULE_function_table_foreign, "'%s' at index %zu of '%s'",
                         rt_label(&slot->table->resource.label), index, t->to.stage->entry->name);
            return false;
        }
        t->to.args[arg->slot + k] = slot->address;
        t->lengths[arg->slot + k] = slot->n_bytes;
    }
    return true;
}

// What reports of the function will say. False: no memory.
static bool validate_stage(Take *t) {
    if (!t->to.stage->validate) return true;
    RtValidated *v = rt_cb_alloc(
        t->to.site->commands, sizeof *v + (t->to.stage->entry->n_slots + 1) * sizeof *v->buffers);
    if (!v) return false;
    v->function = t->to.stage->function;
    v->encoder = &t->e->encoder;
    v->buffers = (MTLBuffer **)(void *)(v + 1);
    v->n_buffers = t->to.stage->entry->n_slots;
    v->lengths = t->lengths;
    t->validated = v;
    return true;
}

static bool take_stage(Take *t, size_t n_more) {
    size_t n = t->to.stage->entry->n_slots + n_more + 1;
    t->n_args = (uint32_t)n - 1;
    t->to.args = rt_cb_alloc(t->to.site->commands, n * sizeof *t->to.args);
    t->lengths = rt_cb_alloc(t->to.site->commands, n * sizeof *t->lengths);
    if (!t->to.args || !t->lengths || !validate_stage(t)) return no_memory(t);
    for (uint32_t i = 0; i < t->to.stage->entry->n_args; i++) {
        const RfArg *arg = &t->to.stage->entry->args[i];
        if (t->to.stage->arg_use[i] == RT_ARG_OFF || arg->slot >= t->to.stage->entry->n_slots)
            continue;
        bool required = t->to.stage->arg_use[i] == RT_ARG_REQUIRED;
        bool ok = true;
        if (arg->kind == RF_ARG_BUFFER)
            ok = take_buffer(t, arg, required);
        else if (rt_is_handle(arg))
            ok = rt_take_handles(&t->to, arg, required);
        else if (arg->kind == RF_ARG_FUNCTION_TABLE || arg->kind == RF_ARG_TENSOR)
            ok = take_resource(t, arg, required);
        else if (arg->kind == RF_ARG_THREADGROUP)
            ok = take_threadgroup(t, arg, required);
        else if (required && arg->kind < RF_ARG_PAYLOAD) {
            rt_misuse_at(t->to.site, RT_RULE_draw_argument, "'%s' of '%s'", arg->name,
                         t->to.stage->entry->name);
            ok = false;
        }
        if (!ok) return false;
    }
    if (t->to.site->device->debug_layer)
        rt_check_residency(&(RtResidencyCheck){.commands = t->to.site->commands,
                                               .call = t->to.site->call,
                                               .stage = t->to.stage,
                                               .slots = t->to.from->slots});
    return true;
}

static Take snapshot_stage(MTLRenderCommandEncoder *e, const RtSite *site, RtStageIndex i) {
    RtStage *stage = e->pipeline->stages[i];
    return (Take){.to = {.stage = stage, .from = &e->stages[i], .site = site},
                  .e = e,
                  .code = rt_stage_draw(stage),
                  .in_tile = i == RT_FRAGMENT || i == RT_TILE};
}

static DevArguments arguments_of(const Take *t) {
    return (DevArguments){.args = t->to.args,
                          .lengths = t->lengths,
                          .n_args = t->n_args,
                          .static_bytes = t->code->threadgroup_bytes,
                          .context = t->validated,
                          .stack_bytes = t->code->stack_bytes};
}

// The buffers that attributes come from, behind the function's own slots.
static bool take_vertex_buffers(Take *t, const AbiStageInfo *info, uint64_t **strides) {
    if (t->to.stage->dynamic_strides) {
        *strides =
            rt_cb_alloc(t->to.site->commands, (info->n_vertex_buffers + 1) * sizeof **strides);
        if (!*strides) return no_memory(t);
    }
    for (uint32_t i = 0; i < info->n_vertex_buffers; i++) {
        size_t index = info->vertex_buffers[i];
        const RtSlot *slot = index < RT_MAX_BUFFERS ? &t->to.from->slots[index] : NULL;
        bool dynamic = index < 32 && t->to.stage->dynamic_strides >> index & 1;
        size_t stride = slot ? t->e->strides[index] : SIZE_MAX;
        if (!slot || !slot->address || (dynamic && stride > UINT32_MAX)) {
            if (!rt_misuse_at(t->to.site, RT_RULE_draw_missing_vertex_buffer,
                              "'%s' reads attributes from the buffer at index %zu%s",
                              t->to.stage->entry->name, index,
                              slot && slot->address ? ", which has no stride" : ""))
                return false;
            t->to.args[t->to.stage->entry->n_slots + i] =
                os_zeros(); // and no length: attributes are 0
            continue;
        }
        t->to.args[t->to.stage->entry->n_slots + i] = slot->address;
        t->lengths[t->to.stage->entry->n_slots + i] = slot->n_bytes;
        if (*strides) (*strides)[i] = dynamic ? stride : 0;
    }
    return true;
}

// An object or mesh function.
static bool take_mesh_function(MTLRenderCommandEncoder *e, const RtSite *site, RtStageIndex i,
                               RtDrawArguments *a, DevMeshFunction *to) {
    Take t = snapshot_stage(e, site, i);
    t.threadgroup_bytes = t.code->threadgroup_bytes;
    if (!take_stage(&t, 0)) return false;
    to->code = t.code;
    to->arguments = arguments_of(&t);
    to->threadgroup_bytes = t.threadgroup_bytes;
    a->shorts[i] = t.to.shorts;
    return true;
}

static bool take_meshes(MTLRenderCommandEncoder *e, const RtSite *site, RtDrawArguments *a) {
    const MTLRenderPipelineState *p = e->pipeline;
    a->mesh = p->mesh->stage;
    if (p->stages[RT_OBJECT] && !take_mesh_function(e, site, RT_OBJECT, a, &a->mesh.object))
        return false;
    a->vertex = (DevVertexStage){.info = &p->mesh->info};
    return take_mesh_function(e, site, RT_MESH, a, &a->mesh.mesh);
}

// An implicit imageblock has the colours of the attachments that the encoder maps to.
static bool map_values(const Take *t, DevTileStage *tile) {
    bool mapped = false;
    for (unsigned i = 0; i < ABI_MAX_COLORS; i++) mapped |= t->e->state.color_map[i] != 0;
    if (!mapped || tile->is_explicit) return true;
    DevMeshValue *values = rt_cb_alloc(t->to.site->commands, (tile->n_values + 1) * sizeof *values);
    if (!values) return false;
    for (uint32_t i = 0; i < tile->n_values; i++) {
        values[i] = tile->values[i];
        values[i].row = (uint16_t)dev_color_place(&t->e->state, tile->values[i].row);
    }
    tile->values = values;
    return true;
}

static bool take_tile(MTLRenderCommandEncoder *e, const RtSite *site, RtDrawArguments *a) {
    Take t = snapshot_stage(e, site, RT_TILE);
    t.threadgroup_bytes = (t.code->threadgroup_bytes + 127) / 128 * 128;
    if (!take_stage(&t, 0)) return false;
    a->tile = e->pipeline->tile->stage;
    if (!map_values(&t, &a->tile)) return no_memory(&t);
    a->tile.function.code = t.code;
    a->tile.function.arguments = arguments_of(&t);
    a->tile.function.threadgroup_bytes = t.threadgroup_bytes;
    a->shorts[RT_TILE] = t.to.shorts;
    return true;
}

static bool take_vertices(MTLRenderCommandEncoder *e, const RtSite *site, RtDrawArguments *a) {
    Take vertex = snapshot_stage(e, site, RT_VERTEX);
    const AbiStageInfo *info = vertex.code->stage;
    uint64_t *strides = NULL;
    if (!take_stage(&vertex, info->n_vertex_buffers) ||
        !take_vertex_buffers(&vertex, info, &strides))
        return false;
    a->vertex = (DevVertexStage){
        .code = vertex.code, .info = info, .arguments = arguments_of(&vertex), .strides = strides};
    a->shorts[RT_VERTEX] = vertex.to.shorts;
    return true;
}

bool rt_render_take_arguments(MTLRenderCommandEncoder *e, const RtSite *site) {
    const MTLRenderPipelineState *p = e->pipeline;
    RtDrawArguments *a = rt_cb_alloc(site->commands, sizeof *a);
    if (!a) {
        rt_cb_no_memory(site->commands);
        return false;
    }
    if (!(p->tile   ? take_tile(e, site, a)
          : p->mesh ? take_meshes(e, site, a)
                    : take_vertices(e, site, a)))
        return false;
    if (p->stages[RT_FRAGMENT]) {
        Take fragment = snapshot_stage(e, site, RT_FRAGMENT);
        if (!take_stage(&fragment, 0)) return false;
        a->fragment = (DevFragmentStage){.code = fragment.code,
                                         .info = fragment.code->stage,
                                         .arguments = arguments_of(&fragment),
                                         .rows = p->rows};
        a->shorts[RT_FRAGMENT] = fragment.to.shorts;
    }
    e->arguments = a;
    return true;
}

// ---- The debug layer ----

static uint32_t format_bytes(uint32_t format) {
    switch (format) {
#define V(name, value, components, bits, kind)                                                     \
    case value: return (bits) % 8 ? 4 : (components) * (bits) / 8; // bit fields have 32 in all
#include "abi/vertex_formats.def"
#undef V
    default: return 4;
    }
}

bool rt_render_valid_vertices(MTLRenderCommandEncoder *e, const RtSite *site, const DevDraw *draw) {
    const RtStage *stage = e->pipeline->stages[RT_VERTEX];
    const MslVertexDescriptor *d = stage ? stage->inputs : NULL;
    for (uint32_t i = 0; d && i < MSL_MAX_VERTEX; i++) {
        const MslVertexAttribute *a = &d->attributes[i];
        if (!a->format) continue;
        const MslVertexLayout *layout = &d->layouts[a->buffer];
        const RtSlot *slot = &e->stages[RT_VERTEX].slots[a->buffer];
        uint64_t last = 0, stride = layout->stride;
        if (stride == MSL_STRIDE_DYNAMIC) stride = e->strides[a->buffer];
        if (layout->step == MTLVertexStepFunctionPerInstance)
            last = draw->base_instance +
                   (draw->n_instances - 1) / (uint64_t)(layout->rate ? layout->rate : 1);
        else if (layout->step == MTLVertexStepFunctionPerPatch && draw->patches) {
            if (draw->patches->patch_indices) continue;
            last = (uint64_t)draw->first_vertex + draw->n_vertices - 1;
        } else if (layout->step == MTLVertexStepFunctionPerPatchControlPoint && draw->patches) {
            if (draw->patches->patch_indices || draw->patches->control_indices) continue;
            last = ((uint64_t)draw->first_vertex + draw->n_vertices) *
                       draw->patches->n_control_points -
                   1;
        } else if (layout->step == MTLVertexStepFunctionPerVertex) {
            if (draw->indices) continue; // they are not looked at before the draw runs
            last = (uint64_t)draw->first_vertex + draw->n_vertices - 1;
        }
        uint64_t needs = last * stride + a->offset + format_bytes(a->format);
        if (needs <= slot->n_bytes) continue;
        rt_misuse_at(site, RT_RULE_draw_vertex_buffer_too_short,
                     "attribute %u needs %llu bytes of buffer '%s' at index %u, %zu are there", i,
                     (unsigned long long)needs,
                     slot->buffer ? rt_label(&slot->buffer->resource.label) : "", a->buffer,
                     slot->n_bytes);
        return false;
    }
    return true;
}
