// SPDX-License-Identifier: Apache-2.0
// replay_draw.c: dispatches, passes and draws of a capture as a device takes them: numbers become
// objects, old addresses those of now. A device may assume valid input, so what would not be is
// said here.
#include <string.h>
#include "abi/texture_layout.h"
#include "devices/capture/replay_int.h"

static void *keep(CapReplay *r, const void *from, size_t n_bytes) {
    void *to = base_arena_alloc(&r->scratch, 1, n_bytes ? n_bytes : 1);
    if (to && n_bytes) memcpy(to, from, n_bytes);
    return to;
}

static uint64_t number(const void *pointer) { return (uintptr_t)pointer; }

// ---- Arguments ----

// static_bytes: of the code that ran then. Threadgroup memory of now begins elsewhere, if the code
// has another amount of its own.
static bool arguments(CapReplay *r, const Program *p, void *const *from, uint32_t n, int64_t shift,
                      void *const **to, char why[CAP_WHY]) {
    void **args = keep(r, from, n * sizeof *args);
    if (!args) return replay_say(why, "out of memory");
    for (uint32_t i = 0; i < n; i++) {
        uint64_t value = (uintptr_t)from[i];
        if (!replay_argument(r, &value))
            return replay_say(why, "'%s' has an argument (slot %u) that is not in the capture",
                              p->was.name, i);
        args[i] = (void *)(uintptr_t)value;
    }
    for (uint32_t i = 0; shift && i < p->function->n_args; i++) {
        const RfArg *a = &p->function->args[i];
        if (a->kind == RF_ARG_THREADGROUP && a->slot < n)
            args[a->slot] = (char *)args[a->slot] + shift;
    }
    *to = args;
    return true;
}

static int64_t shift_of(const DevCode *code, uint32_t was) {
    return (int64_t)((code->threadgroup_bytes + 127u) & ~127u) - (int64_t)((was + 127u) & ~127u);
}

static bool wrong_count(const Program *p, char why[CAP_WHY]) {
    return replay_say(why, "the function '%s' has other arguments than it had", p->was.name);
}

bool replay_prepare_dispatch(CapReplay *r, const CapDispatch *from, DevDispatch *to,
                             char why[CAP_WHY]) {
    Program *p = replay_program(r, number(from->dev.code), true, why);
    if (!p) return false;
    *to = from->dev;
    to->code = p->code;
    if (p->code->stage || p->code->n_slots != from->n_args) return wrong_count(p, why);
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
    return arguments(r, p, from->dev.args, from->n_args, shift, &to->args, why);
}

// ---- Passes ----

static bool target(CapReplay *r, DevTarget *t, const DevPass *pass, char why[CAP_WHY]) {
    if (!t->texture) return true;
    const AbiTexture *texture = replay_texture(r, t->texture);
    t->texture = texture;
    uint32_t layers = pass->n_layers ? pass->n_layers : 1;
    if (!texture || t->level >= texture->n_levels)
        return replay_say(why, "a render pass has an attachment that is not in the capture");
    const AbiTextureLevel *l = &texture->levels[t->level];
    uint32_t n = texture->type == ABI_TEXTURE_3D ? l->depth : abi_texture_n_slices(texture);
    if (l->width < pass->width || l->height < pass->height || t->slice >= n ||
        layers > n - t->slice)
        return replay_say(why, "damaged: an attachment is smaller than its render pass");
    return true;
}

static bool has_samples(const DevTarget *t, const DevPass *pass) {
    uint32_t n = pass->n_samples ? pass->n_samples : 1;
    return !t->texture || t->texture->n_samples == n;
}

bool replay_prepare_pass(CapReplay *r, DevPass *p, char why[CAP_WHY]) {
    DevTarget *targets[2 * ABI_MAX_COLORS + 4];
    size_t n = 0;
    for (size_t i = 0; i < ABI_MAX_COLORS; i++)
        targets[n++] = &p->colors[i].view, targets[n++] = &p->colors[i].resolve;
    targets[n++] = &p->depth.view, targets[n++] = &p->depth.resolve;
    targets[n++] = &p->stencil.view, targets[n++] = &p->stencil.resolve;
    uint32_t samples = p->n_samples ? p->n_samples : 1;
    if (!p->width || !p->height || (samples & (samples - 1)))
        return replay_say(why, "damaged: the size of a render pass");
    for (size_t i = 0; i < n; i++) {
        if (!target(r, targets[i], p, why)) return false;
        if (i % 2 == 0 && !has_samples(targets[i], p))
            return replay_say(why, "damaged: samples of an attachment");
    }
    return true;
}

// ---- Draws ----

static bool same_info(const AbiStageInfo *a, const AbiStageInfo *b) {
    return a && b && memcmp(a, b, sizeof *a) == 0;
}

static bool stage_differs(const Program *p, char why[CAP_WHY]) {
    return replay_say(why,
                      "the function '%s' is another than it was: the capture was made with "
                      "another version of Ingot",
                      p->was.name);
}

static bool vertex(CapReplay *r, const CapDraw *draw, DevDraw *to, char why[CAP_WHY]) {
    if (!draw->dev.vertex) return true;
    DevVertexStage *v = keep(r, draw->dev.vertex, sizeof *v);
    if (!v) return replay_say(why, "out of memory");
    to->vertex = v;
    if (!v->info) return replay_say(why, "damaged: a vertex function");
    if (!v->code) return to->mesh || replay_say(why, "damaged: a draw without a vertex function");
    Program *p = replay_program(r, number(v->code), true, why);
    if (!p) return false;
    if (!same_info(p->code->stage, v->info)) return stage_differs(p, why);
    if (p->function->n_slots + v->info->n_vertex_buffers != draw->vertex.n_args ||
        !v->arguments.lengths)
        return wrong_count(p, why);
    v->code = p->code;
    v->info = p->code->stage;
    v->arguments.stack_bytes = p->code->stack_bytes;
    return arguments(r, p, v->arguments.args, draw->vertex.n_args, 0, &v->arguments.args, why);
}

static bool fragment(CapReplay *r, const CapDraw *draw, DevDraw *to, char why[CAP_WHY]) {
    if (!draw->dev.fragment) return true;
    DevFragmentStage *f = keep(r, draw->dev.fragment, sizeof *f);
    if (!f) return replay_say(why, "out of memory");
    to->fragment = f;
    if (!f->code) return true;
    Program *p = replay_program(r, number(f->code), true, why);
    if (!p) return false;
    if (!same_info(p->code->stage, f->info)) return stage_differs(p, why);
    if (p->code->n_slots != draw->fragment.n_args || (f->info->n_inputs && !f->rows))
        return wrong_count(p, why);
    for (uint32_t i = 0; i < f->info->n_inputs; i++) {
        uint32_t row = f->rows[i], n = ABI_VERTEX_FIRST;
        if (to->vertex && to->vertex->info) n += to->vertex->info->n_outputs;
        if (row != UINT16_MAX && row >= n && !draw->dev.mesh)
            return replay_say(why, "damaged: inputs of '%s'", p->was.name);
    }
    f->code = p->code;
    f->info = p->code->stage;
    f->arguments.stack_bytes = p->code->stack_bytes;
    return arguments(r, p, f->arguments.args, draw->fragment.n_args, 0, &f->arguments.args, why);
}

static bool function(CapReplay *r, DevMeshFunction *m, const CapFunction *was, char why[CAP_WHY]) {
    if (!m->code) return true;
    Program *p = replay_program(r, number(m->code), true, why);
    if (!p) return false;
    if (p->code->stage || p->code->n_slots != m->n_slots || was->n_args != m->n_slots)
        return wrong_count(p, why);
    if ((m->payload_slot != UINT32_MAX && m->payload_slot >= m->n_slots) ||
        (m->output_slot != UINT32_MAX && m->output_slot >= m->n_slots))
        return replay_say(why, "damaged: the function '%s'", p->was.name);
    int64_t shift = shift_of(p->code, was->static_bytes);
    m->code = p->code;
    m->threadgroup_bytes = (size_t)((int64_t)m->threadgroup_bytes + shift);
    m->arguments.stack_bytes = p->code->stack_bytes;
    return arguments(r, p, m->arguments.args, m->n_slots, shift, &m->arguments.args, why);
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

static bool mesh(CapReplay *r, const CapDraw *draw, DevDraw *to, char why[CAP_WHY]) {
    if (!draw->dev.mesh) return true;
    DevMeshStage *m = keep(r, draw->dev.mesh, sizeof *m);
    if (!m) return replay_say(why, "out of memory");
    to->mesh = m;
    if (!m->mesh.code || !values_fit(m)) return replay_say(why, "damaged: a mesh function");
    return function(r, &m->object, &draw->object, why) && function(r, &m->mesh, &draw->mesh, why);
}

static bool tile(CapReplay *r, const CapDraw *draw, DevDraw *to, char why[CAP_WHY]) {
    if (!draw->dev.tile) return true;
    DevTileStage *t = keep(r, draw->dev.tile, sizeof *t);
    if (!t) return replay_say(why, "out of memory");
    to->tile = t;
    if (!t->function.code) return replay_say(why, "damaged: a tile function");
    return function(r, &t->function, &draw->tile, why);
}

// An address of n_bytes, or NULL.
static bool address(CapReplay *r, const void *at, uint64_t n_bytes, char why[CAP_WHY]) {
    void *old;
    memcpy(&old, at, sizeof old);
    if (!old) return true;
    void *now = (void *)(uintptr_t)replay_address(r, (uintptr_t)old, n_bytes ? n_bytes : 1);
    memcpy((void *)(uintptr_t)at, &now, sizeof now);
    return now || replay_say(why, "a draw reads memory that is not in the capture");
}

static bool patches(CapReplay *r, DevDraw *to, char why[CAP_WHY]) {
    if (!to->patches) return true;
    DevPatches *p = keep(r, to->patches, sizeof *p);
    if (!p) return replay_say(why, "out of memory");
    to->patches = p;
    if (!p->type || !p->max_factor) return replay_say(why, "damaged: patches");
    return address(r, &p->factors, p->factors_bytes, why) &&
           address(r, &p->patch_indices, p->patch_indices_bytes, why) &&
           address(r, &p->control_indices, p->control_indices_bytes, why);
}

bool replay_prepare_draw(CapReplay *r, const CapDraw *draw, DevDraw *to, char why[CAP_WHY]) {
    *to = draw->dev;
    if (to->tile) { // no draw: there is nothing else of it
        if ((to->vertex && to->vertex->code) || (to->fragment && to->fragment->code) || to->mesh ||
            to->patches)
            return replay_say(why, "damaged: a tile function that draws");
        return tile(r, draw, to, why);
    }
    return mesh(r, draw, to, why) && vertex(r, draw, to, why) && fragment(r, draw, to, why) &&
           patches(r, to, why) && address(r, &to->indices, to->indices_bytes, why) &&
           address(r, &to->visibility, sizeof(uint64_t), why);
}
