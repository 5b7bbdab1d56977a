// SPDX-License-Identifier: Apache-2.0
// pass.c: dispatches and render passes for the child: all that they point to, copied to where the
// child sees it, with what the child calls its objects.
#include <string.h>
#include "devices/isolate/isolate_int.h"
#include "devices/table/records.h"

typedef struct Copier {
    IsoDevice *d;
    IsoHost *h;
    // What was copied last, and where to: attachments have one texture in several places.
    const AbiTexture *texture, *shown;
} Copier;

static void *take(void *context, size_t n_bytes) {
    const Copier *c = context;
    return iso_room(c->d, c->h, n_bytes);
}

static const AbiTexture *show_texture(Copier *c, const AbiTexture *texture) {
    if (!texture || texture == c->texture) return texture ? c->shown : NULL;
    AbiTexture *to = iso_keep(c->d, c->h, texture, sizeof *to);
    if (to && !(to->format = iso_format(c->d, texture->format))) c->h->no_memory = true;
    c->texture = texture;
    return c->shown = to;
}

// Without memory the command is not submitted (iso_room).
static bool show(void *context, const SchemaField *field, const void *from, void *to, uint64_t n) {
    Copier *c = context;
    (void)n;
    switch (field->kind) {
    case SCHEMA_CODE: schema_point(to, iso_theirs(schema_pointer(from))); break;
    case SCHEMA_TEXTURE: schema_point(to, show_texture(c, schema_pointer(from))); break;
    case SCHEMA_LIVE: schema_point(to, iso_live(c->d, c->h, schema_pointer(from))); break;
    case SCHEMA_CONTEXT: schema_point(to, iso_context(c->h, schema_pointer(from))); break;
    case SCHEMA_HOST: memset(to, 0, field->n_bytes); break;
    default: break; // memory is where it is
    }
    return true;
}

bool iso_dispatch(DevRun *run, const DevDispatch *dispatches, size_t n) {
    Copier c = {.d = run->context, .h = iso_host(run)};
    SchemaCopy copy = {.context = &c, .take = take, .visit = show};
    if (atomic_load(&run->fault) != DEV_FAULT_NONE || !iso_prepare(c.d, c.h)) return false;
    IsoDispatch *what = iso_room(c.d, c.h, sizeof *what);
    DevDispatch *to = iso_room(c.d, c.h, n * sizeof *to);
    DevCode *first = NULL;
    for (size_t i = 0; to && i < n; i++) {
        DevDispatch from = dispatches[i];
        DevCode *optimised = from.optimised ? atomic_load(from.optimised) : NULL;
        if (optimised && optimised->threadgroup_bytes == from.code->threadgroup_bytes)
            from.code = optimised;
        from.n_args = from.code->n_slots; // what the code reads, whatever is recorded
        schema_copy(schema_DevDispatch, &to[i], &from, &copy);
        first = first ? first : from.code;
    }
    if (what) *what = (IsoDispatch){n, to, iso_kernel_name(c.d, c.h)};
    return iso_submit(c.d, c.h, ISO_DISPATCH, what, first);
}

bool iso_render(DevRun *run, const DevPass *pass, const DevDraw *draws, size_t n_draws) {
    Copier c = {.d = run->context, .h = iso_host(run)};
    SchemaCopy copy = {.context = &c, .take = take, .visit = show};
    if (atomic_load(&run->fault) != DEV_FAULT_NONE || !iso_prepare(c.d, c.h)) return false;
    IsoRender *what = iso_room(c.d, c.h, sizeof *what);
    DevPass *to = iso_room(c.d, c.h, sizeof *to);
    DevDraw *list = iso_room(c.d, c.h, n_draws * sizeof *list + 1);
    if (to) schema_copy(schema_DevPass, to, pass, &copy);
    for (size_t i = 0; list && i < n_draws; i++)
        schema_copy(schema_DevDraw, &list[i], &draws[i], &copy);
    if (what) *what = (IsoRender){to, list, n_draws};
    return iso_submit(c.d, c.h, ISO_RENDER, what, NULL);
}
