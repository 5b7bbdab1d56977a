// SPDX-License-Identifier: Apache-2.0
// render_indirect_execute.c: executing the draws of an indirect command buffer. They may have been
// written by a kernel, so nothing in them is trusted: each becomes a draw of its pass only after
// the checks that encoding a draw makes. That happens when the pass begins.
#include <string.h>
#include "runtime/command/indirect_take_int.h"
#include "runtime/command/render.h"
#include "runtime/command/render_indirect_int.h"
#include "runtime/command/checked.h"
#include "runtime/object/validation.h"
#include "os/zeros.h"

typedef struct RtDrawCommands {
    RtCommands commands; // all here is held by the command buffer
    const DevPass *pass;
    MTLRenderPipelineState *pipeline; // inherited; NULL: none
    DevState state;                   // but for what pipelines fix
    float factor_scale;
    uint8_t amplification; // as encoded; commands take what their pipelines allow
    DevView views[DEV_MAX_VIEWS];
    RtIndirectBuffer inherited[RT_N_STAGES][RT_MAX_BUFFERS];
    uint32_t mesh_memory[RT_MAX_BUFFERS]; // threadgroup memory of mesh functions
} RtDrawCommands;

typedef struct Command { // one being turned into a draw
    RtDrawList *list;
    const RtDrawCommands *c;
    AbiIndirectCommand *record;
    MTLRenderPipelineState *p;
    RtStageIndex stage; // whose arguments are being taken
    const char *wrong;
} Command;

// Zeroed memory that lives as long as the list; NULL: no memory.
static void *scratch(RtDrawList *list, size_t n_bytes, MTLRenderPipelineState *pipeline) {
    RtDrawScratch *s = rt_alloc_aligned(sizeof *s + n_bytes, 64);
    if (!s) {
        mtl_release(pipeline);
        return NULL;
    }
    memset(s->data, 0, n_bytes);
    s->pipeline = pipeline;
    s->next = list->scratch;
    list->scratch = s;
    return s->data;
}

// ---- Arguments ----

static RtIndirectBuffer buffer_at(const void *command, size_t index) {
    const Command *k = command;
    const MTLIndirectCommandBuffer *icb = k->c->commands.icb;
    const AbiIndirectHead *head = &icb->head;
    if (icb->inherit_buffers)
        return index < RT_MAX_BUFFERS ? k->c->inherited[k->stage][index] : (RtIndirectBuffer){0};
    const struct {
        uint32_t n, first;
    } stages[RT_N_STAGES] = {
        [RT_VERTEX] = {head->n_vertex, 0},
        [RT_FRAGMENT] = {head->n_fragment, head->n_vertex},
        [RT_OBJECT] = {head->n_object, abi_indirect_objects(head)},
        [RT_MESH] = {head->n_mesh, abi_indirect_objects(head) + head->n_object}};
    if (index >= stages[k->stage].n) return (RtIndirectBuffer){0};
    void *address = (void *)(uintptr_t)k->record->addresses[stages[k->stage].first + index];
    uint32_t stride =
        k->stage == RT_VERTEX ? abi_indirect_lengths(k->record, head->n_buffers)[index] : 0;
    return (RtIndirectBuffer){address, address ? rt_bytes_behind(k->list->x, address) : 0,
                              stride ? stride - 1 : SIZE_MAX};
}

// Threadgroup memory of object and mesh functions.
static uint32_t memory_at(const void *command, size_t index) {
    const Command *k = command;
    const AbiIndirectHead *head = &k->c->commands.icb->head;
    if (k->stage == RT_MESH && index < RT_MAX_BUFFERS) return k->c->mesh_memory[index];
    if (k->stage == RT_OBJECT && index < head->n_object_memory)
        return abi_indirect_lengths(k->record, head->n_buffers)[head->n_vertex + index];
    return 0;
}

// For copies of constants that are too short.
static void *alloc_constant(const void *command, size_t n_bytes) {
    const Command *k = command;
    RtExecution *x = k->list->x;
    return x->buffer->device->table->memory_make ? rt_cb_alloc_shown(x->buffer, n_bytes)
                                                 : scratch(k->list, n_bytes, NULL);
}

// False: k->wrong says why, or there is no memory. used: bytes of threadgroup memory; NULL: the
// stage has none.
static bool set_stage(Command *k, RtStageIndex index, const DevCode *code, size_t n_more,
                      DevArguments *out, size_t *used) {
    const RtStage *stage = k->p->stages[index];
    size_t n = stage->entry->n_slots + n_more + 1;
    void **args = scratch(k->list, n * (sizeof *args + sizeof(uint64_t)), NULL);
    if (!args) return false;
    const size_t most = RT_MAX_THREADGROUP_MEMORY, before = used ? *used : 0;
    RtIndirectTake t = {.x = k->list->x,
                        .stage = stage,
                        .args = args,
                        .lengths = (uint64_t *)(void *)(args + n),
                        .threadgroup_bytes = before,
                        .memory_align = 1,
                        .memory_left = before < most ? most - before : 0,
                        .missing_buffer = RT_RULE_draw_missing_buffer,
                        .command = k,
                        .buffer = buffer_at,
                        .memory = used ? memory_at : NULL,
                        .alloc = alloc_constant};
    k->stage = index;
    k->wrong = rt_indirect_take(&t);
    if (k->wrong) return false;
    if (used) *used = t.threadgroup_bytes;
    RtValidated *what = NULL;
    if (stage->validate) {
        if (!(what = scratch(k->list, sizeof *what, NULL))) return false;
        *what = (RtValidated){
            .function = stage->function, .encoder = k->list->x->encoder, .lengths = t.lengths};
    }
    *out = (DevArguments){.args = args,
                          .lengths = t.lengths,
                          .n_args = (uint32_t)n - 1,
                          .static_bytes = code->threadgroup_bytes,
                          .context = what,
                          .stack_bytes = code->stack_bytes};
    return !what || rt_validate_stage(k->list->x, out);
}

// The buffers that attributes come from, behind the function's own slots.
static bool set_vertex_buffers(Command *k, DevVertexStage *to) {
    const uint32_t n = to->info->n_vertex_buffers;
    const RtStage *stage = k->p->stages[RT_VERTEX];
    const size_t first = stage->entry->n_slots;
    void **args = (void **)(uintptr_t)to->arguments.args;
    uint64_t *lengths = (uint64_t *)(uintptr_t)to->arguments.lengths, *strides = NULL;
    if (stage->dynamic_strides && !(strides = scratch(k->list, (n + 1) * sizeof *strides, NULL)))
        return false;
    for (uint32_t i = 0; i < n; i++) {
        size_t index = to->info->vertex_buffers[i];
        RtIndirectBuffer b = buffer_at(k, index);
        bool dynamic = index < 32 && stage->dynamic_strides >> index & 1;
        if (!b.address || (dynamic && b.stride > UINT32_MAX)) {
            if (!rt_tolerates(k->c->commands.icb->resource.device,
                              RT_RULE_draw_missing_vertex_buffer)) {
                k->wrong = b.address ? "lacks the stride of a vertex buffer"
                                     : "lacks a buffer of vertex attributes";
                return false;
            }
            args[first + i] = os_zeros(); // and no length: attributes are 0
            continue;
        }
        args[first + i] = b.address;
        lengths[first + i] = b.n_bytes;
        if (strides) strides[i] = dynamic ? b.stride : 0;
    }
    to->strides = strides;
    return true;
}

// ---- The draw ----

// The pipeline of the command, held by the list; NULL: k->wrong says why.
static MTLRenderPipelineState *pipeline_of(Command *k, char *text, size_t n_text) {
    if (k->c->commands.icb->inherit_pipeline) return k->c->pipeline;
    uint64_t handle = k->record->pipeline;
    MTLRenderPipelineState *p =
        rt_render_pipeline_from_handle(k->c->commands.icb->resource.device, handle);
    k->wrong = rt_commands_misfit(handle, p, p && p->indirect);
    if (!k->wrong && rt_render_misfit(p, k->c->pass, &k->c->state, text, n_text) != RT_N_RULES)
        k->wrong = "has a pipeline that does not fit the pass";
    if (k->wrong) {
        mtl_release(p);
        return NULL;
    }
    return scratch(k->list, 1, p) ? p : NULL;
}

typedef struct Parts { // of a draw
    DevVertexStage vertex;
    DevFragmentStage fragment;
    DevPatches patches;
    DevMeshStage mesh;
    DevState state;
} Parts;

// Which pipelines the commands of a kind are for.
static bool fits_kind(const MTLRenderPipelineState *p, uint32_t kind) {
    if (p->tile) return false;
    if (p->mesh) return kind >= ABI_INDIRECT_MESH_THREADGROUPS;
    if (p->patches.type)
        return kind == ABI_INDIRECT_PATCHES || kind == ABI_INDIRECT_PATCHES_INDEXED;
    return kind <= ABI_INDIRECT_DRAW_INDEXED;
}

static bool set_numbers(Command *k, DevDraw *d) {
    const AbiIndirectCommand *r = k->record;
    if (!rt_render_type_fits(k->p, r->grid[0])) {
        k->wrong = "has a primitive type its pipeline is not made for";
        return false;
    }
    d->n_vertices = r->grid[1];
    d->first_vertex = r->grid[2];
    d->n_instances = r->group[0];
    d->base_instance = r->group[1];
    if (r->kind != ABI_INDIRECT_DRAW_INDEXED) return true;
    uint64_t at = r->addresses[abi_indirect_indices(&k->c->commands.icb->head)];
    if ((r->group[2] != 2 && r->group[2] != 4) || at % r->group[2] != 0) {
        k->wrong = "has indices of no such size, or at no multiple of it";
        return false;
    }
    d->indices = (const void *)(uintptr_t)at;
    d->indices_bytes = rt_bytes_behind(k->list->x, d->indices); // beyond them, indices are 0
    d->index_bytes = (uint8_t)r->group[2];
    if (!d->indices) k->wrong = "has no indices";
    return !k->wrong;
}

static bool set_vertices(Command *k, Parts *parts, DevDraw *d) {
    if (k->p->patches.type) {
        parts->patches = k->p->patches;
        if (k->p->factor_scale) parts->patches.scale = k->c->factor_scale;
        k->wrong = rt_indirect_take_patches(k->list->x, &k->c->commands.icb->head, k->record,
                                            &parts->patches, d);
        if (k->wrong) return false;
    } else if (!set_numbers(k, d)) {
        return false;
    }
    DevCode *code = rt_stage_draw(k->p->stages[RT_VERTEX]);
    parts->vertex.code = code;
    parts->vertex.info = code->stage;
    return set_stage(k, RT_VERTEX, code, code->stage->n_vertex_buffers, &parts->vertex.arguments,
                     NULL) &&
           set_vertex_buffers(k, &parts->vertex);
}

static bool set_mesh_function(Command *k, RtStageIndex i, DevMeshFunction *to) {
    to->code = rt_stage_draw(k->p->stages[i]);
    to->threadgroup_bytes = to->code->threadgroup_bytes;
    return set_stage(k, i, to->code, 0, &to->arguments, &to->threadgroup_bytes);
}

static bool set_meshes(Command *k, Parts *parts, DevDraw *d) {
    const MTLRenderPipelineState *p = k->p;
    DevMeshStage *m = &parts->mesh;
    *m = p->mesh->stage;
    k->wrong = rt_indirect_take_grid(k->record, p, d);
    if (k->wrong) return false;
    parts->vertex.info = &p->mesh->info;
    d->mesh = m;
    return (!p->stages[RT_OBJECT] || set_mesh_function(k, RT_OBJECT, &m->object)) &&
           set_mesh_function(k, RT_MESH, &m->mesh);
}

static bool make_draw(Command *k, DevDraw *d) {
    Parts *parts = scratch(k->list, sizeof *parts, NULL);
    if (!parts) return false;
    if (!fits_kind(k->p, k->record->kind)) {
        k->wrong = "has a pipeline that is not for draws of its kind";
        return false;
    }
    if (!(k->p->mesh ? set_meshes(k, parts, d) : set_vertices(k, parts, d))) return false;
    if (k->p->stages[RT_FRAGMENT]) {
        DevCode *code = rt_stage_draw(k->p->stages[RT_FRAGMENT]);
        parts->fragment = (DevFragmentStage){.code = code, .info = code->stage, .rows = k->p->rows};
        if (!set_stage(k, RT_FRAGMENT, code, 0, &parts->fragment.arguments, NULL)) return false;
    }
    uint8_t primitive = k->p->mesh           ? k->p->mesh->stage.topology
                        : k->p->patches.type ? MTLPrimitiveTypeTriangle
                                             : (uint8_t)k->record->grid[0];
    parts->state = k->c->state;
    k->wrong = rt_indirect_take_state(k->c->commands.icb, k->record, k->c->pass, &parts->state);
    if (k->wrong) return false;
    rt_render_add_pipeline(&parts->state, k->p, k->c->pass, primitive);
    d->label = rt_render_pipeline_name(k->p);
    d->vertex = &parts->vertex;
    d->fragment = &parts->fragment;
    d->state = &parts->state;
    return true;
}

typedef struct Adding {
    RtDrawList *list;
    const RtDraw *draw;
} Adding;

static bool add_command(void *context, size_t index, AbiIndirectCommand *record) {
    const Adding *adding = context;
    RtDrawList *list = adding->list;
    const RtDraw *draw = adding->draw;
    const RtDrawCommands *c = draw->commands;
    size_t n_bytes = c->commands.icb->head.stride;
    char text[256];
    if (record->kind == ABI_INDIRECT_NOTHING) return true;
    // What is checked is what runs, whoever writes there meanwhile.
    Command k = {.list = list, .c = c, .record = scratch(list, n_bytes, NULL)};
    DevDraw *d = rt_draw_list_next(list);
    if (!k.record || !d) return rt_commands_fail(list->x, &c->commands, index, "found no memory");
    memcpy(k.record, record, n_bytes);
    static const MTLIndirectCommandType kinds[] = {
        [ABI_INDIRECT_DRAW] = MTLIndirectCommandTypeDraw,
        [ABI_INDIRECT_DRAW_INDEXED] = MTLIndirectCommandTypeDrawIndexed,
        [ABI_INDIRECT_PATCHES] = MTLIndirectCommandTypeDrawPatches,
        [ABI_INDIRECT_PATCHES_INDEXED] = MTLIndirectCommandTypeDrawIndexedPatches,
        [ABI_INDIRECT_MESH_THREADGROUPS] = MTLIndirectCommandTypeDrawMeshThreadgroups,
        [ABI_INDIRECT_MESH_THREADS] = MTLIndirectCommandTypeDrawMeshThreads};
    uint32_t kind = k.record->kind;
    if (kind > ABI_INDIRECT_MESH_THREADS || !kinds[kind])
        return rt_commands_fail(list->x, &c->commands, index, "is not a command");
    if (!(c->commands.icb->types & kinds[kind]))
        return rt_commands_fail(list->x, &c->commands, index,
                                "is not of the buffer's command_types");
    bool barrier = draw->dev.barrier || k.record->barrier != 0;
    *d = (DevDraw){.visibility = draw->dev.visibility, .counts_any = draw->dev.counts_any};
    k.p = pipeline_of(&k, text, sizeof text);
    if (!k.p || !make_draw(&k, d))
        return rt_commands_fail(list->x, &c->commands, index,
                                k.wrong ? k.wrong : "found no memory");
    d->amplification = rt_render_views(c->amplification, k.p);
    memcpy(d->views, c->views, sizeof d->views);
    list->barrier = list->barrier || barrier;
    if (!d->n_vertices || !d->n_instances) return true;
    d->barrier = list->barrier;
    list->barrier = false;
    list->n++;
    return true;
}

bool rt_draw_list_add_commands(RtDrawList *list, const RtDraw *draw) {
    if (!rt_find_spans(list->x)) return false;
    list->barrier = list->barrier || draw->dev.barrier;
    return rt_commands_visit(list->x, &draw->commands->commands, add_command,
                             &(Adding){list, draw});
}

// ---- Encoding ----

// What the commands inherit. Which buffers their functions write is not known: all of them.
static bool inherit(MTLRenderCommandEncoder *e, RtDrawCommands *c, const RtSite *site) {
    const MTLIndirectCommandBuffer *icb = c->commands.icb;
    char text[256];
    c->pass = &e->pass->dev;
    if (icb->inherit_pipeline) {
        c->pipeline = e->pipeline;
        bool usable = c->pipeline && c->pipeline->indirect && !c->pipeline->tile;
        RtRule rule = !c->pipeline ? RT_RULE_draw_without_pipeline
                      : !usable
                          ? RT_RULE_indirect_pipeline
                          : rt_render_misfit(c->pipeline, c->pass, &e->state, text, sizeof text);
        if (rule != RT_N_RULES) {
            rt_misuse_at(site, rule, "the commands of '%s' inherit it%s%s",
                         rt_label(&icb->resource.label), usable ? ": " : "", usable ? text : "");
            return false;
        }
    }
    if (!rt_render_take_fixed(e, site, false, &c->state)) return false;
    c->factor_scale = e->factor_scale + 1;
    c->amplification = e->amplification;
    memcpy(c->views, e->views, sizeof c->views);
    memcpy(c->mesh_memory, e->stages[RT_MESH].threadgroup_bytes, sizeof c->mesh_memory);
    if (!icb->inherit_buffers) return true;
    if (!rt_render_fill_all(e)) return false;
    e->arguments = NULL; // slots of tables were filled beyond what the next draw needs
    for (int s = 0; s < RT_N_STAGES; s++)
        for (size_t i = 0; i < RT_MAX_BUFFERS; i++) {
            const RtSlot *slot = &e->stages[s].slots[i];
            c->inherited[s][i] = (RtIndirectBuffer){slot->address, slot->n_bytes,
                                                    s == RT_VERTEX ? e->strides[i] : SIZE_MAX};
            if (slot->buffer && !rt_cb_use(site->commands, &slot->buffer->resource, true))
                return false;
        }
    return true;
}

void rt_render_execute_commands(MTLRenderCommandEncoder *e, MTLIndirectCommandBuffer *buffer,
                                MTLRange range, const void *range_at, const char *call) {
    RtSite site;
    RtCommands commands;
    if (!rt_render_valid(e, call, &site) ||
        !rt_commands_set(&commands, &site, buffer, range, range_at))
        return;
    RtDraw *d = rt_cb_alloc(site.commands, sizeof *d);
    RtDrawCommands *c = rt_cb_alloc(site.commands, sizeof *c);
    if (!d || !c) {
        rt_cb_no_memory(site.commands);
        return;
    }
    c->commands = commands;
    if (!inherit(e, c, &site)) return;
    d->commands = c;
    d->dev.barrier = e->barrier;
    d->dev.visibility = e->visibility;
    d->dev.counts_any = e->counts_any;
    e->barrier = false;
    *e->pass->last_draw = d;
    e->pass->last_draw = &d->next;
    e->pass->n_draws++;
}

void mtl_render_command_encoder_execute_commands_in_buffer_indirect(
    MTLRenderCommandEncoder *encoder, MTLIndirectCommandBuffer *buffer,
    MTLBuffer *indirect_range_buffer, size_t offset) {
    RtSite site;
    if (!rt_render_valid(encoder, __func__, &site)) return;
    const char *at = rt_commands_range_at(&site, indirect_range_buffer, offset);
    if (at) rt_render_execute_commands(encoder, buffer, mtl_range_make(0, 0), at, __func__);
}
