// SPDX-License-Identifier: Apache-2.0
// view_html.c: a capture as one HTML file: the page, its scripts and styles, and the answers that
// the page asks for when one looks at each command, up to a limit. Nothing is loaded from anywhere.
#include "base/files.h"
#include "base/array.h"
#include "base/hash_table.h"
#include "base/sha256.h"
#include "apps/tools/view_int.h"
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct Page {
    View *v;
    Text out, names;                       // names: {"path": blob, ...}
    unsigned char (*hashes)[SHA256_BYTES]; // of the blobs
    size_t n_blobs;
    uint64_t n_bytes, most_bytes;
    uint64_t left_out; // answers, or commands of long passes
} Page;

static void base64(Text *t, const unsigned char *p, size_t n) {
    static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    char quad[4];
    for (size_t i = 0; i < n; i += 3) {
        uint32_t v = (uint32_t)p[i] << 16 | (i + 1 < n ? (uint32_t)p[i + 1] << 8 : 0) |
                     (i + 2 < n ? p[i + 2] : 0);
        for (int k = 0; k < 4; k++) quad[k] = digits[v >> (18 - 6 * k) & 63];
        if (i + 1 >= n) quad[2] = '=';
        if (i + 2 >= n) quad[3] = '=';
        text_add_bytes(t, quad, 4);
    }
}

// The number of a blob with these bytes; equal ones are there once.
static size_t blob(Page *p, const char *data, size_t n) {
    unsigned char hash[SHA256_BYTES];
    sha256(data, n, hash);
    for (size_t i = 0; i < p->n_blobs; i++)
        if (!memcmp(p->hashes[i], hash, sizeof hash)) return i;
    must_have(array_more(&p->hashes, p->n_blobs));
    memcpy(p->hashes[p->n_blobs], hash, sizeof hash);
    text_printf(&p->out, "<script type=\"text/plain\" id=\"blob%zu\">", p->n_blobs);
    base64(&p->out, (const unsigned char *)data, n);
    text_add(&p->out, "</script>\n");
    p->n_bytes += n;
    return p->n_blobs++;
}

// Asks as the page would, and keeps the answer. What does not fit, or cannot be said, is left out:
// the page says so.
static void keep(Page *p, const char *path, const char *query) {
    char name[256];
    WebReply reply = {0};
    snprintf(name, sizeof name, "%s%s%s", path, *query ? "?" : "", query);
    if (p->names.data && strstr(p->names.data, name) &&
        strstr(p->names.data, name)[strlen(name)] == '"')
        return;
    if (p->n_bytes > p->most_bytes) {
        p->left_out++;
        return;
    }
    view_answer(p->v, path, query, &reply);
    if (!reply.status)
        text_printf(&p->names, "%s\"%s\":%zu", p->names.n_bytes ? "," : "", name,
                    blob(p, reply.body.data, reply.body.n_bytes));
    text_free(&reply.body);
}

// ---- What the page asks for at each command ----

static void keep_memory(Page *p, uint64_t command, uint64_t address) {
    char query[128];
    const CapObject *objects;
    uint64_t n = VIEW_OTHER_BYTES;
    if (!address) return;
    for (size_t i = cap_replay_objects(p->v->replay, &objects); i--;) {
        const CapResource *r = &objects[i].resource;
        uint64_t at = address - r->address;
        if (r->kind != CAP_BUFFER || at >= r->n_bytes) continue;
        n = r->n_bytes - at < VIEW_FIRST_BYTES ? r->n_bytes - at : VIEW_FIRST_BYTES;
        break;
    }
    snprintf(query, sizeof query, "%" PRIu64 ",0x%" PRIx64 ",%" PRIu64, command, address, n);
    keep(p, "bytes", query);
}

static void keep_texture(Page *p, uint64_t command, uint64_t handle) {
    const CapObject *objects;
    char query[128];
    size_t n = cap_replay_objects(p->v->replay, &objects);
    for (size_t i = 0; handle && i < n; i++) {
        if (!objects[i].texture || objects[i].resource.handle != handle) continue;
        snprintf(query, sizeof query, "%" PRIu64 ",%zu,0,0", command, i);
        keep(p, "texture", query);
    }
}

static void keep_arguments(Page *p, uint64_t command, const DevCode *code, void *const *args,
                           uint32_t n_args, uint32_t n_more) {
    const RfLibrary *library;
    const RfFunction *f =
        code ? cap_replay_function(p->v->replay, (uintptr_t)code, &library) : NULL;
    for (uint32_t i = 0; f && i < f->n_args; i++) {
        const RfArg *a = &f->args[i];
        for (uint32_t k = 0; k < (a->count ? a->count : 1) && a->slot + k < n_args; k++) {
            uint64_t value = (uintptr_t)args[a->slot + k];
            if (a->kind == RF_ARG_BUFFER) keep_memory(p, command, value);
            if (a->kind == RF_ARG_TEXTURE) keep_texture(p, command, value);
        }
    }
    for (uint32_t i = 0; f && i < n_more && f->n_slots + i < n_args; i++) // vertex buffers
        keep_memory(p, command, (uintptr_t)args[f->n_slots + i]);
}

typedef struct Handles { // of textures, by their numbers
    struct {
        uint64_t id, handle;
    } *items;
    size_t n;
} Handles;

static uint64_t handle_of(const Handles *h, const AbiTexture *number) {
    for (size_t i = h->n; i--;)
        if (h->items[i].id == (uintptr_t)number) return h->items[i].handle;
    return 0;
}

static void keep_targets(Page *p, const Handles *h, uint64_t command, const DevPass *pass) {
    for (int i = 0; i < (int)ABI_MAX_COLORS; i++) {
        keep_texture(p, command, handle_of(h, pass->colors[i].view.texture));
        keep_texture(p, command, handle_of(h, pass->colors[i].resolve.texture));
    }
    keep_texture(p, command, handle_of(h, pass->depth.view.texture));
}

static void keep_command(Page *p, const Handles *h, const CapEvent *e, const DevPass *pass) {
    char why[CAP_WHY];
    if (!view_go(p->v, e->command, why)) return;
    if (e->kind == CAP_DISPATCH)
        keep_arguments(p, e->command, e->dispatch.code, e->dispatch.args, e->dispatch.n_args, 0);
    if (e->kind == CAP_RENDER) keep_targets(p, h, e->command, &e->render.dev);
    if (e->kind == CAP_COPY) keep_memory(p, e->command, e->copy.to);
    if (e->kind == CAP_FILL) keep_memory(p, e->command, e->fill.to);
    if (e->kind != CAP_DRAW) return;
    const DevDraw *d = &e->draw;
    if (pass) keep_targets(p, h, e->command, pass);
    keep_memory(p, e->command, (uintptr_t)d->indices);
    if (d->vertex)
        keep_arguments(p, e->command, d->vertex->code, d->vertex->arguments.args,
                       d->vertex->arguments.n_args,
                       d->vertex->info ? d->vertex->info->n_vertex_buffers : 0);
    if (d->fragment)
        keep_arguments(p, e->command, d->fragment->code, d->fragment->arguments.args,
                       d->fragment->arguments.n_args, 0);
    if (d->mesh)
        keep_arguments(p, e->command, d->mesh->mesh.code, d->mesh->mesh.arguments.args,
                       d->mesh->mesh.arguments.n_args, 0);
}

// What is there after a draw takes a replay of its own: of a long pass some draws are kept, from
// the first to the last.
static bool is_kept(const CapEvent *e, const CapEvent *pass) {
    enum { MOST = 32 };
    if (e->kind != CAP_DRAW || !pass || pass->render.n_draws <= MOST) return true;
    uint64_t i = e->command - pass->command, n = pass->render.n_draws;
    return i == 1 || i * MOST / n != (i - 1) * MOST / n;
}

static bool keep_run(Page *p, Handles *h, size_t index, char why[CAP_WHY]) {
    CapRun run;
    const CapEvent *pass = NULL;
    if (!cap_read_run(p->v->capture, index, &run, why)) return false;
    for (size_t i = 0; i < run.n_events; i++) {
        const CapEvent *e = &run.events[i];
        if (e->kind == CAP_RENDER) pass = e;
        if (e->kind == CAP_TEXTURE) {
            if (!array_more(&h->items, h->n)) break;
            h->items[h->n].id = e->texture.id;
            h->items[h->n++].handle = e->texture.handle;
        }
        if (!cap_is_command(e->kind)) continue;
        if (is_kept(e, pass))
            keep_command(p, h, e, pass ? &pass->render.dev : NULL);
        else
            p->left_out++;
    }
    cap_run_free(&run);
    return true;
}

// ---- The file ----

int view_html(View *v, const char *path, uint64_t most_bytes) {
    Page p = {.v = v, .most_bytes = most_bytes};
    Handles handles = {0};
    char why[CAP_WHY];
    v->most_texels = VIEW_FILE_TEXELS;
    web_page_begin(&web_view, true, &p.out);
    keep(&p, "index", "");
    if (!p.n_blobs) return complain(EXIT_INPUT, "view", "%s: it cannot be replayed", v->path);
    keep(&p, "times", "");
    keep(&p, "lines", "");
    bool ok = true;
    for (size_t i = 0; ok && i < cap_n_runs(v->capture); i++) ok = keep_run(&p, &handles, i, why);
    if (!ok) return complain(EXIT_INPUT, "view", "%s: %s", v->path, why);
    text_printf(&p.out, "<script type=\"application/json\" id=\"answers\">{%s}</script>\n",
                p.names.data ? p.names.data : "");
    web_page_scripts(&web_view, &p.out);
    text_add(&p.out, "</html>\n");
    int status = EXIT_FINE;
    if (p.out.failed || p.names.failed)
        status = complain(EXIT_INPUT, "view", "out of memory");
    else if (!file_write_atomic(path, p.out.data, p.out.n_bytes, true))
        status = complain(EXIT_INPUT, "view", "cannot write '%s': %s", path, strerror(errno));
    else
        printf("%s: %llu commands, %.1f MB%s\n", path,
               (unsigned long long)cap_n_commands(v->capture), (double)p.out.n_bytes / 1e6,
               p.left_out ? ", without contents of some commands (more than --most MB, or than 32 "
                            "draws of a pass)"
                          : "");
    text_free(&p.out);
    text_free(&p.names);
    free(p.hashes);
    free(handles.items);
    return status;
}
