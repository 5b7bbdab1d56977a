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
    MTLRenderCommandEncoder *e;
    const RtSite *site;
    const RtStage *stage;
    DevCode *code; // of its function
    const RfFunction *f;
    const RfLibrary *lib;
    const RtBindings *bound;
    void **args;
    uint64_t *lengths;
    RtShort *shorts;
    RtValidated *validated;   // of a function that is checked; else NULL
    size_t threadgroup_bytes; // objects, meshes: with those of arguments; tiles: the function's own
    bool in_tile;             // threadgroup memory is the tile's
} Take;

static bool no_memory(const Take *t) {
    rt_cb_no_memory(t->site->commands);
    return false;
}

// Is what is bound there right for the argument?
static bool valid_buffer(const Take *t, const RfArg *arg, size_t index, const RtSlot *slot) {
    if (!slot || !slot->address)
        return rt_misuse_at(t->site, RT_RULE_draw_missing_buffer,
                            "'%s' needs a buffer at index %zu for '%s'", t->f->name, index,
                            arg->name);
    if (arg->type >= t->lib->n_types) return true;
    const RfType *type = &t->lib->types[arg->type];
    if (!t->site->device->debug_layer) return true;
    const char *label = slot->buffer ? rt_label(&slot->buffer->resource.label) : "";
    if (slot->n_bytes < type->size)
        return rt_misuse_at(t->site, RT_RULE_dispatch_buffer_too_small,
                            "'%s' of '%s' at index %zu is %u bytes, %zu are there in '%s'",
                            arg->name, t->f->name, index, type->size, slot->n_bytes, label);
    return type->align <= 1 || (uintptr_t)slot->address % type->align == 0 ||
           rt_misuse_at(t->site, RT_RULE_dispatch_offset_alignment,
                        "'%s' of '%s' at index %zu needs %u: '%s'", arg->name, t->f->name, index,
                        type->align, label);
}

static bool take_buffer(Take *t, const RfArg *arg, bool required) {
    for (uint32_t k = 0; k < arg->count && arg->slot + k < t->f->n_slots; k++) {
        size_t index = (size_t)arg->index + k;
        const RtSlot *slot = index < RT_MAX_BUFFERS ? &t->bound->slots[index] : NULL;
        if (required && !valid_buffer(t, arg, index, slot)) return false;
        if (!slot || !slot->address) {
            if (required) t->args[arg->slot + k] = os_zeros();
            continue;
        }
        t->args[arg->slot + k] = slot->address;
        t->lengths[arg->slot + k] = slot->n_bytes;
        if (t->validated && !t->site->commands->unretained)
            t->validated->buffers[arg->slot + k] = slot->buffer;
        if (slot->buffer && arg->access != RF_READ_ONLY &&
            !rt_cb_use(t->site->commands, &slot->buffer->resource, true))
            return false;
        size_t whole = arg->type < t->lib->n_types ? t->lib->types[arg->type].size : 0;
        if (arg->space != RF_CONSTANT || slot->n_bytes >= whole) continue;
        RtShort *s = rt_cb_alloc(t->site->commands, sizeof *s);
        if (s) s->copy = rt_cb_alloc_shown(t->site->commands, (whole + 63) & ~(size_t)63);
        if (!s || !s->copy) return no_memory(t);
        s->next = t->shorts;
        s->slot = arg->slot + k;
        s->n_bytes = slot->n_bytes;
        s->from = slot->address;
        t->shorts = s;
        t->args[s->slot] = s->copy;
        if (!t->validated) t->lengths[s->slot] = whole;
    }
    return true;
}

static bool take_handles(Take *t, const RfArg *arg, bool required) {
    const RtTake take = {.from = t->bound,
                         .site = t->site,
                         .lib = t->lib,
                         .f = t->f,
                         .no_texture = RT_RULE_draw_missing_texture,
                         .no_sampler = RT_RULE_draw_missing_sampler,
                         .args = t->args};
    return arg->kind == RF_ARG_TEXTURE        ? rt_take_textures(&take, arg, required)
           : arg->kind == RF_ARG_ACCELERATION ? rt_take_accelerations(&take, arg, required)
                                              : rt_take_samplers(&take, arg, required);
}

// Offsets of threadgroup memory: the function's own comes first.
static bool take_threadgroup(Take *t, const RfArg *arg, bool required) {
    uint32_t n = arg->index < RT_MAX_BUFFERS ? t->bound->threadgroup_bytes[arg->index] : 0;
    if (n == 0 && required) {
        if (!rt_misuse_at(t->site, RT_RULE_dispatch_missing_threadgroup_memory,
                          "'%s' needs a length at index %u for '%s'", t->f->name, arg->index,
                          arg->name))
            return false;
        // Without a length a Mac's function finds whatever memory there is: what is left of it.
        // Tiles have as much as the pass says.
        if (t->in_tile || t->threadgroup_bytes > RT_MAX_THREADGROUP_MEMORY) return false;
        n = (uint32_t)(RT_MAX_THREADGROUP_MEMORY - t->threadgroup_bytes);
    }
    t->args[arg->slot] = (void *)(uintptr_t)t->threadgroup_bytes;
    t->lengths[arg->slot] = n;
    if (t->in_tile) {
        size_t offset = n ? t->e->threadgroup_offsets[arg->index] : 0;
        t->args[arg->slot] = (void *)(uintptr_t)(t->threadgroup_bytes + offset);
        return true;
    }
    t->threadgroup_bytes += n;
    if (t->threadgroup_bytes <= RT_MAX_THREADGROUP_MEMORY) return true;
    rt_misuse_at(t->site, RT_RULE_threadgroup_memory_limit, "'%s' needs %zu bytes", t->f->name,
                 t->threadgroup_bytes);
    return false;
}

// A table or tensor: the address of what describes it.
static bool take_resource(Take *t, const RfArg *arg, bool required) {
    bool is_table = arg->kind == RF_ARG_FUNCTION_TABLE;
    for (uint32_t k = 0; k < arg->count && arg->slot + k < t->f->n_slots; k++) {
        size_t index = (size_t)arg->index + k;
        const RtSlot *slot = index < RT_MAX_BUFFERS ? &t->bound->slots[index] : NULL;
        bool there = slot && slot->address && !slot->buffer && is_table == (slot->table != NULL) &&
                     (!is_table || rt_table_fits(t->lib, arg, slot->table));
        if (!there && required) {
            rt_misuse_at(t->site,
                         is_table ? RT_RULE_draw_missing_function_table : RT_RULE_draw_argument,
                         "'%s' needs a %s at index %zu for '%s'", t->f->name,
                         is_table ? "function table" : "tensor", index, arg->name);
            return false;
        }
        if (!there) continue;
        if (is_table && slot->table->stage->linkage != t->stage->linkage) {
            rt_misuse_at(t->site, RT_RULE_function_table_foreign, "'%s' at index %zu of '%s'",
                         rt_label(&slot->table->resource.label), index, t->f->name);
            return false;
        }
        t->args[arg->slot + k] = slot->address;
        t->lengths[arg->slot + k] = slot->n_bytes;
    }
    return true;
}

// What reports of the function will say. False: no memory.
static bool validate_stage(Take *t) {
    if (!t->stage->validate) return true;
    RtValidated *v =
        rt_cb_alloc(t->site->commands, sizeof *v + (t->f->n_slots + 1) * sizeof *v->buffers);
    if (!v) return false;
    v->function = t->stage->function;
    v->encoder = &t->e->encoder;
    v->buffers = (MTLBuffer **)(void *)(v + 1);
    v->lengths = t->lengths;
    t->validated = v;
    return true;
}

static bool take_stage(Take *t, size_t n_more) {
    size_t n = t->f->n_slots + n_more + 1;
    t->args = rt_cb_alloc(t->site->commands, n * sizeof *t->args);
    t->lengths = rt_cb_alloc(t->site->commands, n * sizeof *t->lengths);
    if (!t->args || !t->lengths || !validate_stage(t)) return no_memory(t);
    for (uint32_t i = 0; i < t->f->n_args; i++) {
        const RfArg *arg = &t->f->args[i];
        if (t->stage->arg_use[i] == RT_ARG_OFF || arg->slot >= t->f->n_slots) continue;
        bool required = t->stage->arg_use[i] == RT_ARG_REQUIRED;
        bool ok = true;
        if (arg->kind == RF_ARG_BUFFER)
            ok = take_buffer(t, arg, required);
        else if (arg->kind == RF_ARG_TEXTURE || arg->kind == RF_ARG_SAMPLER ||
                 arg->kind == RF_ARG_ACCELERATION)
            ok = take_handles(t, arg, required);
        else if (arg->kind == RF_ARG_FUNCTION_TABLE || arg->kind == RF_ARG_TENSOR)
            ok = take_resource(t, arg, required);
        else if (arg->kind == RF_ARG_THREADGROUP)
            ok = take_threadgroup(t, arg, required);
        else if (required && arg->kind < RF_ARG_PAYLOAD) {
            rt_misuse_at(t->site, RT_RULE_draw_argument, "'%s' of '%s'", arg->name, t->f->name);
            ok = false;
        }
        if (!ok) return false;
    }
    if (t->site->device->debug_layer)
        rt_check_residency(&(RtResidencyCheck){.commands = t->site->commands,
                                               .call = t->site->call,
                                               .f = t->f,
                                               .lib = t->lib,
                                               .arg_use = t->stage->arg_use,
                                               .slots = t->bound->slots});
    return true;
}

static Take take(MTLRenderCommandEncoder *e, const RtSite *site, RtStageIndex i) {
    RtStage *stage = e->pipeline->stages[i];
    return (Take){.e = e,
                  .site = site,
                  .stage = stage,
                  .code = rt_stage_draw(stage),
                  .f = stage->entry,
                  .lib = rt_stage_library(stage),
                  .bound = &e->stages[i],
                  .in_tile = i == RT_FRAGMENT || i == RT_TILE};
}

static DevArguments arguments_of(const Take *t) {
    return (DevArguments){.args = t->args,
                          .lengths = t->lengths,
                          .context = t->validated,
                          .stack_bytes = t->code->stack_bytes};
}

// The buffers that attributes come from, behind the function's own slots.
static bool take_vertex_buffers(Take *t, const AbiStageInfo *info, uint64_t **strides) {
    if (t->stage->dynamic_strides) {
        *strides = rt_cb_alloc(t->site->commands, (info->n_vertex_buffers + 1) * sizeof **strides);
        if (!*strides) return no_memory(t);
    }
    for (uint32_t i = 0; i < info->n_vertex_buffers; i++) {
        size_t index = info->vertex_buffers[i];
        const RtSlot *slot = index < RT_MAX_BUFFERS ? &t->bound->slots[index] : NULL;
        bool dynamic = index < 32 && t->stage->dynamic_strides >> index & 1;
        size_t stride = slot ? t->e->strides[index] : SIZE_MAX;
        if (!slot || !slot->address || (dynamic && stride > UINT32_MAX)) {
            if (!rt_misuse_at(t->site, RT_RULE_draw_missing_vertex_buffer,
                              "'%s' reads attributes from the buffer at index %zu%s", t->f->name,
                              index, slot && slot->address ? ", which has no stride" : ""))
                return false;
            t->args[t->f->n_slots + i] = os_zeros(); // and no length: attributes are 0
            continue;
        }
        t->args[t->f->n_slots + i] = slot->address;
        t->lengths[t->f->n_slots + i] = slot->n_bytes;
        if (*strides) (*strides)[i] = dynamic ? stride : 0;
    }
    return true;
}

// An object or mesh function.
static bool take_mesh_function(MTLRenderCommandEncoder *e, const RtSite *site, RtStageIndex i,
                               RtDrawArguments *a, DevMeshFunction *to) {
    Take t = take(e, site, i);
    t.threadgroup_bytes = t.code->threadgroup_bytes;
    if (!take_stage(&t, 0)) return false;
    to->code = t.code;
    to->arguments = arguments_of(&t);
    to->threadgroup_bytes = t.threadgroup_bytes;
    a->shorts[i] = t.shorts;
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
    DevMeshValue *values = rt_cb_alloc(t->site->commands, (tile->n_values + 1) * sizeof *values);
    if (!values) return false;
    for (uint32_t i = 0; i < tile->n_values; i++) {
        values[i] = tile->values[i];
        values[i].row = (uint16_t)dev_color_place(&t->e->state, tile->values[i].row);
    }
    tile->values = values;
    return true;
}

static bool take_tile(MTLRenderCommandEncoder *e, const RtSite *site, RtDrawArguments *a) {
    Take t = take(e, site, RT_TILE);
    t.threadgroup_bytes = (t.code->threadgroup_bytes + 127) / 128 * 128;
    if (!take_stage(&t, 0)) return false;
    a->tile = e->pipeline->tile->stage;
    if (!map_values(&t, &a->tile)) return no_memory(&t);
    a->tile.function.code = t.code;
    a->tile.function.arguments = arguments_of(&t);
    a->tile.function.threadgroup_bytes = t.threadgroup_bytes;
    a->shorts[RT_TILE] = t.shorts;
    return true;
}

static bool take_vertices(MTLRenderCommandEncoder *e, const RtSite *site, RtDrawArguments *a) {
    Take vertex = take(e, site, RT_VERTEX);
    const AbiStageInfo *info = vertex.code->stage;
    uint64_t *strides = NULL;
    if (!take_stage(&vertex, info->n_vertex_buffers) ||
        !take_vertex_buffers(&vertex, info, &strides))
        return false;
    a->vertex = (DevVertexStage){
        .code = vertex.code, .info = info, .arguments = arguments_of(&vertex), .strides = strides};
    a->shorts[RT_VERTEX] = vertex.shorts;
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
        Take fragment = take(e, site, RT_FRAGMENT);
        if (!take_stage(&fragment, 0)) return false;
        a->fragment = (DevFragmentStage){.code = fragment.code,
                                         .info = fragment.code->stage,
                                         .arguments = arguments_of(&fragment),
                                         .rows = p->rows};
        a->shorts[RT_FRAGMENT] = fragment.shorts;
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
