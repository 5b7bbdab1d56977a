// SPDX-License-Identifier: Apache-2.0
// profile_report.c: samples as tables: by kernel, draw, function and line; on the terminal and as
// JSON.
#include "apps/tools/profile.h"
#include "base/array.h"
#include "base/files.h"
#include "base/json.h"
#include "apps/tools/tools.h"
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char *base_name(const char *path) {
    const char *slash = strrchr(path, '/');
    return slash ? slash + 1 : path;
}

// ---- Rows ----

static char *name_of(const ProfileStack *s, ProfileBy by, const ProfileFrame *f) {
    switch (by) {
    case BY_KERNEL: return text_format("%s", s->kernel);
    case BY_DRAW:
        return s->draw ? text_format("draw %" PRIu32 ": %s", s->draw, s->kernel)
                       : text_format("dispatch: %s", s->kernel);
    case BY_FUNCTION: return text_format("%s", f->function);
    case BY_LINE:
        return *f->file ? text_format("%s:%" PRIu32, f->file, f->line)
                        : text_format("%s", f->function);
    }
    return NULL;
}

static ProfileRow *row_of(ProfileRow **rows, size_t *n, char *name, const ProfileFrame *frame) {
    if (!name) exit(complain(EXIT_INPUT, "profile", "out of memory"));
    for (size_t i = 0; i < *n; i++)
        if (!strcmp((*rows)[i].name, name)) {
            free(name);
            return &(*rows)[i];
        }
    must_have(array_more(rows, *n));
    ProfileRow *row = &(*rows)[(*n)++];
    *row = (ProfileRow){.name = name, .frame = frame};
    return row;
}

static int most_first(const void *a, const void *b) {
    const ProfileRow *x = a, *y = b;
    if (x->self != y->self) return x->self < y->self ? 1 : -1;
    if (x->all != y->all) return x->all < y->all ? 1 : -1;
    return strcmp(x->name, y->name);
}

ProfileRow *profile_rows(const Profile *p, ProfileBy by, size_t *n) {
    ProfileRow *rows = NULL;
    *n = 0;
    for (size_t i = 0; i < p->n_stacks; i++) {
        const ProfileStack *s = &p->stacks[i];
        bool frames = by == BY_FUNCTION || by == BY_LINE;
        for (size_t k = 0; k < (frames ? s->n_frames : 1); k++) {
            const ProfileFrame *f = &s->frames[k];
            ProfileRow *r = row_of(&rows, n, name_of(s, by, f), f);
            r->all += s->count;
            if (!frames || k + 1 == s->n_frames) r->self += s->count;
        }
    }
    if (rows) qsort(rows, *n, sizeof *rows, most_first);
    return rows;
}

void profile_rows_free(ProfileRow *rows, size_t n) {
    for (size_t i = 0; i < n; i++) free(rows[i].name);
    free(rows);
}

static double percent(const Profile *p, uint64_t n) {
    return p->total ? 100.0 * (double)n / (double)p->total : 0;
}

static void print_rows(const Profile *p, ProfileBy by, const char *title, size_t top) {
    size_t n;
    ProfileRow *rows = profile_rows(p, by, &n);
    printf("\n%s\n", title);
    for (size_t i = 0; i < n && i < top && rows[i].all; i++) {
        const ProfileRow *r = &rows[i];
        char text[100] = "";
        if (by == BY_LINE) profile_line_text(r->frame->file, r->frame->line, text, sizeof text);
        printf("  %5.1f %%", percent(p, r->self));
        if (by == BY_FUNCTION) printf("  %5.1f %%", percent(p, r->all));
        printf("  %s%s%s\n", by == BY_LINE ? base_name(r->name) : r->name, *text ? "  " : "", text);
        if (by == BY_LINE) profile_print_remarks(p, r->frame->file, r->frame->line);
    }
    profile_rows_free(rows, n);
}

static uint64_t in_library(const Profile *p) {
    uint64_t n = 0;
    for (size_t i = 0; i < p->n_stacks; i++)
        if (p->stacks[i].library) n += p->stacks[i].count;
    return n;
}

static bool has_draws(const Profile *p) {
    for (size_t i = 0; i < p->n_stacks; i++)
        if (p->stacks[i].draw) return true;
    return false;
}

void profile_print(const Profile *p, size_t top) {
    printf("%" PRIu64 " samples in Metal functions", p->total);
    printf(", %" PRIu64 " of them in textures, tensors and rays that they use", in_library(p));
    printf("; %" PRIu64 " beside them (rasteriser, dispatch)\n", p->other);
    if (p->lost) printf("%" PRIu64 " samples found no room and are not counted\n", p->lost);
    print_rows(p, BY_KERNEL, "functions of pipelines", top);
    if (has_draws(p)) print_rows(p, BY_DRAW, "draws, by their number in a pass", top);
    print_rows(p, BY_FUNCTION, "functions: alone, and with what they call", top);
    print_rows(p, BY_LINE, "lines", top);
}

// ---- JSON ----

static void json_rows(const Profile *p, ProfileBy by, const char *name, Text *t) {
    size_t n;
    ProfileRow *rows = profile_rows(p, by, &n);
    text_printf(t, ",\n\"%s\":[", name);
    for (size_t i = 0; i < n; i++) {
        text_add(t, i ? ",\n{" : "\n{");
        if (by == BY_LINE) {
            char text[200];
            profile_line_text(rows[i].frame->file, rows[i].frame->line, text, sizeof text);
            text_add(t, "\"file\":");
            json_string(t, rows[i].frame->file);
            text_printf(t, ",\"line\":%" PRIu32 ",\"text\":", rows[i].frame->line);
            json_string(t, text);
        } else {
            text_add(t, "\"name\":");
            json_string(t, rows[i].name);
        }
        text_printf(t, ",\"self\":%" PRIu64 ",\"all\":%" PRIu64 "}", rows[i].self, rows[i].all);
    }
    text_add(t, "]");
    profile_rows_free(rows, n);
}

void profile_json(const Profile *p, Text *t) {
    text_printf(t,
                "{\"version\":1,\"interval_us\":%u,\"samples\":%" PRIu64 ",\"library\":%" PRIu64
                ",\"other\":%" PRIu64 ",\"lost\":%" PRIu64,
                p->interval_us, p->total, in_library(p), p->other, p->lost);
    json_rows(p, BY_KERNEL, "kernels", t);
    json_rows(p, BY_DRAW, "draws", t);
    json_rows(p, BY_FUNCTION, "functions", t);
    json_rows(p, BY_LINE, "lines", t);
    profile_json_counts(p, t);
    text_add(t, ",\n\"stacks\":[");
    for (size_t i = 0; i < p->n_stacks; i++) {
        const ProfileStack *s = &p->stacks[i];
        text_printf(t, "%s{\"count\":%" PRIu64 ",\"draw\":%" PRIu32 ",\"library\":%s,\"frames\":[",
                    i ? ",\n" : "\n", s->count, s->draw, s->library ? "true" : "false");
        for (size_t k = 0; k < s->n_frames; k++) {
            text_add(t, k ? ",{\"function\":" : "{\"function\":");
            json_string(t, s->frames[k].function);
            text_printf(t, ",\"line\":%" PRIu32 "}", s->frames[k].line);
        }
        text_add(t, "]}");
    }
    text_add(t, "]}\n");
}
