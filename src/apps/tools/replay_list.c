// SPDX-License-Identifier: Apache-2.0
// replay_list.c: the commands of a capture by name, from its events alone.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "apps/tools/replay_int.h"
#include "base/array.h"

struct CodeName {
    uint64_t id;
    char *name;
};

static const char *code_name(const CommandNames *names, const void *code) {
    for (size_t i = names->n_codes; i--;)
        if (names->codes[i].id == (uintptr_t)code) return names->codes[i].name;
    return "?";
}

static void describe_draw(const CommandNames *names, const DevDraw *d, char *text, size_t n) {
    if (d->tile)
        snprintf(text, n, "tile function %s", code_name(names, d->tile->function.code));
    else if (d->mesh)
        snprintf(text, n, "draw meshes %s %ux%ux%u", code_name(names, d->mesh->mesh.code),
                 d->grid.groups[0], d->grid.groups[1], d->grid.groups[2]);
    else
        snprintf(text, n, "draw %s%s%s %u %s%s x %u",
                 d->vertex ? code_name(names, d->vertex->code) : "?",
                 d->fragment && d->fragment->code ? ", " : "",
                 d->fragment && d->fragment->code ? code_name(names, d->fragment->code) : "",
                 d->n_vertices, d->patches ? "patches" : "vertices", d->indices ? ", indexed," : "",
                 d->n_instances);
}

static void describe_build(const CapEvent *e, char *text, size_t n) {
    const DevRayBuild *d = &e->build.dev;
    static const char *const shapes[] = {"triangles", "boxes", "curve segments"};
    uint64_t counts[3] = {0};
    int at = snprintf(text, n, "%s", cap_kind_name(e->kind));
    if (d->instanced)
        at += snprintf(text + at, n - (size_t)at, ": %u instances of %u", d->instances.n,
                       d->instances.n_structures);
    for (uint32_t i = 0; !d->instanced && i < d->n_geometries; i++)
        counts[d->geometries[i].shape] += d->geometries[i].n_primitives;
    const char *gap = ": ";
    for (int i = 0; i < 3; i++) {
        if (!counts[i]) continue;
        at += snprintf(text + at, n - (size_t)at, "%s%llu %s", gap, (unsigned long long)counts[i],
                       shapes[i]);
        gap = ", ";
    }
    if (d->n_keyframes > 1) snprintf(text + at, n - (size_t)at, ", %u keyframes", d->n_keyframes);
}

static void describe(const CommandNames *names, const CapEvent *e, const char *operation,
                     char *text, size_t n) {
    switch (e->kind) {
    case CAP_DISPATCH: {
        const DevDispatch *d = &e->dispatch;
        snprintf(text, n, "dispatch %s %ux%ux%u by %ux%ux%u", code_name(names, d->code),
                 d->threads_per_grid[0], d->threads_per_grid[1], d->threads_per_grid[2],
                 d->group_size[0], d->group_size[1], d->group_size[2]);
        break;
    }
    case CAP_RENDER:
        snprintf(text, n, "render pass %ux%u, %u draws", e->render.dev.width, e->render.dev.height,
                 e->render.n_draws);
        break;
    case CAP_DRAW: describe_draw(names, &e->draw, text, n); break;
    case CAP_COPY: snprintf(text, n, "copy %llu bytes", (unsigned long long)e->copy.n_bytes); break;
    case CAP_FILL: snprintf(text, n, "fill %llu bytes", (unsigned long long)e->fill.n_bytes); break;
    case CAP_MOVE: snprintf(text, n, "%s", *operation ? operation : "copy texels"); break;
    case CAP_HOST: snprintf(text, n, "%s", e->operation.title); break;
    case CAP_RAYS_BUILD:
    case CAP_RAYS_REFIT: describe_build(e, text, n); break;
    default: snprintf(text, n, "%s", cap_kind_name(e->kind));
    }
}

bool command_names_add(CommandNames *names, const Capture *capture, size_t index,
                       char why[CAP_WHY]) {
    CapRun run;
    if (!cap_read_run(capture, index, &run, why)) return false;
    const char *operation = "";
    for (size_t i = 0; i < run.n_events; i++) {
        const CapEvent *e = &run.events[i];
        if (e->kind == CAP_CODE) {
            must_have(array_more(&names->codes, names->n_codes));
            names->codes[names->n_codes++] = (struct CodeName){e->code.id, strdup(e->code.name)};
        }
        if (e->kind == CAP_OPERATION) operation = e->operation.name;
        if (!cap_is_command(e->kind)) continue;
        char text[256];
        describe(names, e, operation, text, sizeof text);
        must_have(array_more(&names->names, names->n));
        names->names[names->n++] = strdup(text);
    }
    cap_run_free(&run);
    return true;
}

const char *command_name(const CommandNames *names, uint64_t command) {
    return command < names->n && names->names[command] ? names->names[command] : "?";
}

void command_names_free(CommandNames *names) {
    for (size_t i = 0; i < names->n; i++) free(names->names[i]);
    for (size_t i = 0; i < names->n_codes; i++) free(names->codes[i].name);
    free(names->names);
    free(names->codes);
    *names = (CommandNames){0};
}

// ---- The list ----

static void print_event(const CommandNames *names, const CapEvent *e, unsigned *depth) {
    switch (e->kind) {
    case CAP_BEGIN:
        *depth = 1;
        show_line("command buffer %llu%s%s%s, queue %llu", (unsigned long long)e->begin.serial,
                  *e->begin.label ? " " : "", e->begin.label, e->begin.resumed ? " goes on" : "",
                  (unsigned long long)e->begin.queue);
        return;
    case CAP_ENCODER:
        show_line("%*s%s", (int)(2 * (*depth)++), "",
                  *e->encoder.label ? e->encoder.label : e->encoder.class_name);
        return;
    case CAP_PUSH: show_line("%*s[%s]", (int)(2 * (*depth)++), "", e->operation.title); return;
    case CAP_ENCODER_END:
    case CAP_POP: *depth -= *depth > 1; return;
    case CAP_SIGNPOST: show_line("%*s- %s", (int)(2 * *depth), "", e->operation.title); return;
    case CAP_UNKNOWN: show_line("%*s! %s", (int)(2 * *depth), "", e->operation.title); return;
    case CAP_STATUS:
        if (*e->status.error)
            show_line("command buffer %llu ended in an error: %s",
                      (unsigned long long)e->status.serial, e->status.error);
        return;
    default: break;
    }
    if (cap_is_command(e->kind))
        show_line("%*s%llu: %s", (int)(2 * (*depth + (e->kind == CAP_DRAW))), "",
                  (unsigned long long)e->command, command_name(names, e->command));
}

bool list_commands(const Capture *capture, char why[CAP_WHY]) {
    CommandNames names = {0};
    unsigned depth = 1;
    bool ok = true;
    for (size_t i = 0; ok && i < cap_n_runs(capture); i++) {
        CapRun run;
        ok = command_names_add(&names, capture, i, why) && cap_read_run(capture, i, &run, why);
        for (size_t k = 0; ok && k < run.n_events; k++) print_event(&names, &run.events[k], &depth);
        if (ok) cap_run_free(&run);
    }
    command_names_free(&names);
    return ok;
}
