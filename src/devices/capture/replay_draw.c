// SPDX-License-Identifier: Apache-2.0
// replay_draw.c: dispatches, passes and draws of a capture as a device takes them: numbers become
// objects, old addresses those of now. A device may assume valid input, so what would not be is
// said here.
#include "abi/texture_layout.h"
#include "devices/capture/replay_int.h"
#include "devices/table/records.h"

// ---- Objects ----

typedef struct Resolving {
    CapReplay *r;
    const Program *program; // whose arguments follow
    char *why;
} Resolving;

static void *take(void *context, size_t n_bytes) {
    void *to = base_arena_alloc(&((Resolving *)context)->r->scratch, 1, n_bytes);
    if (!to) replay_say(((Resolving *)context)->why, "out of memory");
    return to;
}

static bool resolve_args(const Resolving *x, void **args, uint64_t n) {
    for (uint64_t i = 0; x->program && i < n; i++) {
        uint64_t value = (uintptr_t)args[i];
        if (!replay_argument(x->r, &value))
            return replay_say(x->why, "'%s' has an argument (slot %u) that is not in the capture",
                              x->program->was.name, (unsigned)i);
        args[i] = (void *)(uintptr_t)value;
    }
    return true;
}

static bool resolve(void *context, const SchemaField *field, const void *from, void *to,
                    uint64_t n) {
    Resolving *x = context;
    if (field->kind == SCHEMA_ARGUMENTS) return resolve_args(x, to, n);
    const void *old = schema_pointer(from), *now = NULL;
    if (!old || field->local) return true;
    if (field->kind == SCHEMA_CODE) {
        x->program = replay_program(x->r, (uintptr_t)old, true, x->why);
        now = x->program ? x->program->code : NULL;
    } else if (field->kind == SCHEMA_TEXTURE) {
        now = replay_texture(x->r, old);
        if (!now) replay_say(x->why, "a render pass has an attachment that is not in the capture");
    } else {
        now = (const void *)(uintptr_t)replay_address(x->r, (uintptr_t)old, n ? n : 1);
        if (!now) replay_say(x->why, "a draw reads memory that is not in the capture");
    }
    schema_point(to, now);
    return now != NULL;
}

static bool prepare(CapReplay *r, SchemaOf *of, void *to, const void *from, char why[CAP_WHY]) {
    Resolving x = {.r = r, .why = why};
    return schema_copy(of, to, from, &(SchemaCopy){.context = &x, .take = take, .visit = resolve});
}

// The function that a number in an event stands for; its code is there.
static const Program *program_of(CapReplay *r, const DevCode *number, char why[CAP_WHY]) {
    return replay_program(r, (uintptr_t)number, true, why);
}

// ---- Threadgroup memory ----

// Threadgroup memory of now begins elsewhere, if the code has another amount of its own than then.
static int64_t shift_of(const DevCode *code, uint32_t was) {
    return (int64_t)((code->threadgroup_bytes + 127u) & ~127u) - (int64_t)((was + 127u) & ~127u);
}

static void shift_args(const Program *p, void *const *args, uint32_t n, int64_t shift) {
    for (uint32_t i = 0; shift && i < p->function->n_args; i++) {
        const RfArg *a = &p->function->args[i];
        void **slot = (void **)(uintptr_t)&args[a->slot];
        if (a->kind == RF_ARG_THREADGROUP && a->slot < n) *slot = (char *)*slot + shift;
    }
}

static bool wrong_count(const Program *p, char why[CAP_WHY]) {
    return replay_say(why, "the function '%s' has other arguments than it had", p->was.name);
}

// ---- Dispatches ----

bool replay_prepare_dispatch(CapReplay *r, const DevDispatch *from, DevDispatch *to,
                             char why[CAP_WHY]) {
    const Program *p = program_of(r, from->code, why);
    if (!p) return false;
    if (p->code->stage || p->code->n_slots != from->n_args) return wrong_count(p, why);
    if (!prepare(r, schema_DevDispatch, to, from, why)) return false;
    int64_t shift = shift_of(p->code, from->static_bytes);
    to->threadgroup_bytes = (uint32_t)((int64_t)to->threadgroup_bytes + shift);
    for (int i = 0; i < 3; i++) {
        uint64_t size = to->group_size[i], groups = to->groups_per_grid[i];
        uint64_t threads = to->threads_per_grid[i];
        if (!threads || threads > groups * size || threads <= (groups - 1) * size)
            return replay_say(why, "damaged: the grid of '%s'", p->was.name);
    }
    if (to->threadgroup_bytes > 1 << 20 || to->threadgroup_bytes < p->code->threadgroup_bytes)
        return replay_say(why, "damaged: the threadgroup memory of '%s'", p->was.name);
    if (to->imageblock.pixel_bytes) {
        uint64_t n =
            (uint64_t)to->imageblock.width * to->imageblock.height * to->imageblock.pixel_bytes;
        to->imageblock.at = (uint32_t)((int64_t)to->imageblock.at + shift);
        if (to->imageblock.slot >= from->n_args || to->imageblock.at + n > to->threadgroup_bytes)
            return replay_say(why, "damaged: the imageblock of '%s'", p->was.name);
    }
    shift_args(p, to->args, to->n_args, shift);
    return true;
}

// ---- Passes ----

static bool check_target(const DevTarget *t, const DevPass *pass, char why[CAP_WHY]) {
    const AbiTexture *texture = t->texture;
    if (!texture) return true;
    uint32_t layers = pass->n_layers ? pass->n_layers : 1;
    if (t->level >= texture->n_levels)
        return replay_say(why, "a render pass has an attachment that is not in the capture");
    const AbiTextureLevel *l = &texture->levels[t->level];
    uint32_t n = texture->type == ABI_TEXTURE_3D ? l->depth : abi_texture_n_slices(texture);
    if (l->width < pass->width || l->height < pass->height || t->slice >= n ||
        layers > n - t->slice)
        return replay_say(why, "damaged: an attachment is smaller than its render pass");
    return true;
}

static bool check_attachment(const DevTarget *view, const DevTarget *resolved, const DevPass *pass,
                             char why[CAP_WHY]) {
    uint32_t samples = pass->n_samples ? pass->n_samples : 1;
    if (!check_target(view, pass, why) || !check_target(resolved, pass, why)) return false;
    return !view->texture || view->texture->n_samples == samples ||
           replay_say(why, "damaged: samples of an attachment");
}

bool replay_prepare_pass(CapReplay *r, const DevPass *from, DevPass *p, char why[CAP_WHY]) {
    if (!from->width || !from->height || (from->n_samples & (from->n_samples - 1)))
        return replay_say(why, "damaged: the size of a render pass");
    if (!prepare(r, schema_DevPass, p, from, why)) return false;
    for (size_t i = 0; i < ABI_MAX_COLORS; i++)
        if (!check_attachment(&p->colors[i].view, &p->colors[i].resolve, p, why)) return false;
    return check_attachment(&p->depth.view, &p->depth.resolve, p, why) &&
           check_attachment(&p->stencil.view, &p->stencil.resolve, p, why);
}

// ---- Draws ----

// Each of these looks at a stage with its objects (`to`) and as it is in the event.

static bool same_info(const AbiStageInfo *a, const AbiStageInfo *b) {
    return a && b && memcmp(a, b, sizeof *a) == 0;
}

static bool stage_differs(const Program *p, char why[CAP_WHY]) {
    return replay_say(why,
                      "the function '%s' is another than it was: the capture was made with "
                      "another version of Ingot",
                      p->was.name);
}

static bool vertex(CapReplay *r, const DevVertexStage *from, DevVertexStage *v, bool is_mesh,
                   char why[CAP_WHY]) {
    if (!v->info) return replay_say(why, "damaged: a vertex function");
    if (!v->code) return is_mesh || replay_say(why, "damaged: a draw without a vertex function");
    const Program *p = program_of(r, from->code, why);
    if (!same_info(p->code->stage, v->info)) return stage_differs(p, why);
    if (p->function->n_slots + v->info->n_vertex_buffers != v->arguments.n_args ||
        !v->arguments.lengths)
        return wrong_count(p, why);
    v->info = p->code->stage;
    v->arguments.stack_bytes = p->code->stack_bytes;
    return true;
}

static bool fragment(CapReplay *r, const DevFragmentStage *from, DevFragmentStage *f,
                     const DevDraw *to, char why[CAP_WHY]) {
    if (!f->code) return true;
    const Program *p = program_of(r, from->code, why);
    if (!same_info(p->code->stage, f->info)) return stage_differs(p, why);
    if (p->code->n_slots != f->arguments.n_args || (f->info->n_inputs && !f->rows))
        return wrong_count(p, why);
    for (uint32_t i = 0; i < f->info->n_inputs; i++) {
        uint32_t row = f->rows[i], n = ABI_VERTEX_FIRST;
        if (to->vertex && to->vertex->info) n += to->vertex->info->n_outputs;
        if (row != UINT16_MAX && row >= n && !to->mesh)
            return replay_say(why, "damaged: inputs of '%s'", p->was.name);
    }
    f->info = p->code->stage;
    f->arguments.stack_bytes = p->code->stack_bytes;
    return true;
}

static bool function(CapReplay *r, const DevMeshFunction *from, DevMeshFunction *m,
                     char why[CAP_WHY]) {
    if (!m->code) return true;
    const Program *p = program_of(r, from->code, why);
    if (p->code->stage || p->code->n_slots != m->n_slots) return wrong_count(p, why);
    if ((m->payload_slot != UINT32_MAX && m->payload_slot >= m->n_slots) ||
        (m->output_slot != UINT32_MAX && m->output_slot >= m->n_slots))
        return replay_say(why, "damaged: the function '%s'", p->was.name);
    int64_t shift = shift_of(p->code, from->arguments.static_bytes);
    m->threadgroup_bytes = (size_t)((int64_t)m->threadgroup_bytes + shift);
    m->arguments.stack_bytes = p->code->stack_bytes;
    shift_args(p, m->arguments.args, m->n_slots, shift);
    return true;
}

static bool values_fit(const DevMeshStage *m) {
    uint64_t vertices = m->vertex_offset + (uint64_t)m->vertex_stride * m->n_vertices,
             primitives = m->primitive_offset + (uint64_t)m->primitive_stride * m->n_primitives;
    bool ok = vertices <= m->n_bytes && primitives <= m->n_bytes && m->n_bytes <= 1 << 20 &&
              m->index_offset <= m->n_bytes;
    for (uint32_t i = 0; ok && i < m->n_values; i++) {
        const DevMeshValue *v = &m->values[i];
        uint32_t stride = v->primitive ? m->primitive_stride : m->vertex_stride;
        ok = v->offset + 4u * v->n <= stride + 3u &&
             (v->row >= DEV_MESH_ROW_ID || v->row + v->n <= ABI_VERTEX_FIRST + ABI_MAX_VARYINGS);
    }
    return ok;
}

static bool mesh(CapReplay *r, const DevMeshStage *from, DevMeshStage *m, char why[CAP_WHY]) {
    if (!m->mesh.code || !values_fit(m)) return replay_say(why, "damaged: a mesh function");
    return function(r, &from->object, &m->object, why) && function(r, &from->mesh, &m->mesh, why);
}

static bool tile(CapReplay *r, const DevDraw *from, const DevDraw *to, char why[CAP_WHY]) {
    if ((to->vertex && to->vertex->code) || (to->fragment && to->fragment->code) || to->mesh ||
        to->patches)
        return replay_say(why, "damaged: a tile function that draws"); // there is nothing else
    DevTileStage *t = (DevTileStage *)(uintptr_t)to->tile;
    if (!t->function.code) return replay_say(why, "damaged: a tile function");
    return function(r, &from->tile->function, &t->function, why);
}

bool replay_prepare_draw(CapReplay *r, const DevDraw *from, DevDraw *to, char why[CAP_WHY]) {
    if (!prepare(r, schema_DevDraw, to, from, why)) return false;
    if (to->tile) return tile(r, from, to, why);
    if (to->patches && (!to->patches->type || !to->patches->max_factor))
        return replay_say(why, "damaged: patches");
    // What they lead to is ours: the scratch of the replay.
    return (!to->mesh || mesh(r, from->mesh, (DevMeshStage *)(uintptr_t)to->mesh, why)) &&
           vertex(r, from->vertex, (DevVertexStage *)(uintptr_t)to->vertex, to->mesh != NULL,
                  why) &&
           (!to->fragment ||
            fragment(r, from->fragment, (DevFragmentStage *)(uintptr_t)to->fragment, to, why));
}
