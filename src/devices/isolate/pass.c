// SPDX-License-Identifier: Apache-2.0
// pass.c: a render pass for the child: all that it points to, copied to where the child sees it.
// Draws share most of it: what the draw before had is not copied again.
#include <string.h>
#include "devices/isolate/isolate_int.h"

typedef struct Copier {
    IsoDevice *d;
    IsoHost *h;
    // What was copied last, and where to.
    struct {
        const void *from;
        void *to;
    } texture, label, vertex, fragment, state, patches, mesh, tile;
} Copier;

static void *keep(Copier *c, const void *bytes, size_t n_bytes) {
    return iso_keep(c->d, c->h, bytes, n_bytes);
}

static DevCode *code_of(const DevCode *code) { return (DevCode *)(uintptr_t)iso_theirs(code); }

// ---- Attachments ----

static void copy_target(Copier *c, DevTarget *target) {
    if (!target->texture) return;
    if (c->texture.from != target->texture) {
        AbiTexture *to = keep(c, target->texture, sizeof *to);
        if (to && !(to->format = iso_format(c->d, target->texture->format))) c->h->no_memory = true;
        c->texture.from = target->texture;
        c->texture.to = to;
    }
    target->texture = c->texture.to;
}

static const DevRates *copy_rates(Copier *c, const DevRates *from) {
    DevRates *to = keep(c, from, sizeof *to);
    DevRateLayer *layers = to ? keep(c, from->layers, from->n_layers * sizeof *layers) : NULL;
    if (to) to->layers = layers;
    for (uint32_t i = 0; layers && i < from->n_layers; i++) {
        const DevRateLayer *l = &from->layers[i];
        layers[i].columns = keep(c, l->columns, (l->n_columns + 1) * 2 * sizeof(float));
        layers[i].rows = keep(c, l->rows, (l->n_rows + 1) * 2 * sizeof(float));
    }
    return to;
}

static DevPass *copy_pass(Copier *c, const DevPass *from) {
    DevPass *to = keep(c, from, sizeof *to);
    if (!to) return NULL;
    for (size_t i = 0; i < ABI_MAX_COLORS; i++) {
        copy_target(c, &to->colors[i].view);
        copy_target(c, &to->colors[i].resolve);
    }
    copy_target(c, &to->depth.view);
    copy_target(c, &to->depth.resolve);
    copy_target(c, &to->stencil.view);
    copy_target(c, &to->stencil.resolve);
    to->rates = copy_rates(c, from->rates);
    return to;
}

// ---- Functions ----

static void copy_arguments(Copier *c, DevArguments *a, size_t n) {
    a->args = keep(c, a->args, n * sizeof *a->args);
    a->lengths = keep(c, a->lengths, n * sizeof *a->lengths);
    a->live = iso_live(c->d, c->h, a->live);
    a->context = iso_context(c->h, a->context);
}

static const DevVertexStage *copy_vertex(Copier *c, const DevVertexStage *from) {
    if (!from || c->vertex.from == from) return from ? c->vertex.to : NULL;
    DevVertexStage *to = keep(c, from, sizeof *to);
    c->vertex.from = from;
    c->vertex.to = to;
    if (!to) return NULL;
    size_t n_buffers = from->info ? from->info->n_vertex_buffers : 0;
    if (from->code) copy_arguments(c, &to->arguments, from->code->n_slots); // with the buffers
    to->strides = keep(c, from->strides, n_buffers * sizeof *from->strides);
    to->info = keep(c, from->info, sizeof *from->info);
    to->code = code_of(from->code);
    return to;
}

static const DevFragmentStage *copy_fragment(Copier *c, const DevFragmentStage *from) {
    if (!from || c->fragment.from == from) return from ? c->fragment.to : NULL;
    DevFragmentStage *to = keep(c, from, sizeof *to);
    c->fragment.from = from;
    c->fragment.to = to;
    if (!to || !from->code) return to;
    copy_arguments(c, &to->arguments, from->code->n_slots);
    to->rows = keep(c, from->rows, from->info->n_inputs * sizeof *from->rows);
    to->info = keep(c, from->info, sizeof *from->info);
    to->code = code_of(from->code);
    return to;
}

static void copy_function(Copier *c, DevMeshFunction *f) {
    if (!f->code) return;
    copy_arguments(c, &f->arguments, f->n_slots);
    f->code = code_of(f->code);
}

static const DevMeshStage *copy_mesh(Copier *c, const DevMeshStage *from) {
    if (!from || c->mesh.from == from) return from ? c->mesh.to : NULL;
    DevMeshStage *to = keep(c, from, sizeof *to);
    c->mesh.from = from;
    c->mesh.to = to;
    if (!to) return NULL;
    copy_function(c, &to->object);
    copy_function(c, &to->mesh);
    to->values = keep(c, from->values, from->n_values * sizeof *from->values);
    return to;
}

static const DevTileStage *copy_tile(Copier *c, const DevTileStage *from) {
    if (!from || c->tile.from == from) return from ? c->tile.to : NULL;
    DevTileStage *to = keep(c, from, sizeof *to);
    c->tile.from = from;
    c->tile.to = to;
    if (!to) return NULL;
    copy_function(c, &to->function);
    to->values = keep(c, from->values, from->n_values * sizeof *from->values);
    return to;
}

// ---- Draws ----

static void copy_draw(Copier *c, const DevDraw *from, DevDraw *to) {
    if (c->label.from != from->label) {
        c->label.from = from->label;
        c->label.to = keep(c, from->label, from->label ? strlen(from->label) + 1 : 0);
    }
    if (c->state.from != from->state) {
        c->state.from = from->state;
        c->state.to = keep(c, from->state, sizeof *from->state);
    }
    if (c->patches.from != from->patches) {
        c->patches.from = from->patches;
        c->patches.to = keep(c, from->patches, sizeof *from->patches);
    }
    to->label = c->label.to;
    to->state = c->state.to;
    to->patches = c->patches.to;
    to->vertex = copy_vertex(c, from->vertex);
    to->fragment = copy_fragment(c, from->fragment);
    to->mesh = copy_mesh(c, from->mesh);
    to->tile = copy_tile(c, from->tile);
}

bool iso_render(DevRun *run, const DevPass *pass, const DevDraw *draws, size_t n_draws) {
    Copier c = {.d = run->context, .h = iso_host(run)};
    if (atomic_load(&run->fault) != DEV_FAULT_NONE || !iso_prepare(c.d, c.h)) return false;
    IsoRender *what = iso_room(c.d, c.h, sizeof *what);
    DevPass *to = copy_pass(&c, pass);
    DevDraw *list = draws ? keep(&c, draws, n_draws * sizeof *list) : NULL;
    for (size_t i = 0; list && i < n_draws; i++) copy_draw(&c, &draws[i], &list[i]);
    if (what) *what = (IsoRender){to, list, n_draws};
    return iso_submit(c.d, c.h, ISO_RENDER, what, NULL);
}
