// SPDX-License-Identifier: Apache-2.0
// profile_counts.c: what counted code did, line by line (abi/cpu_count.h), and why lines are slow:
// the tables of code objects beside a profile's samples, and how they are shown.
#include "abi/cpu_count.h"
#include "base/array.h"
#include "base/files.h"
#include "base/json.h"
#include "apps/tools/profile.h"
#include "apps/tools/tools.h"
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { LANES = 32 };

static char *must_copy(const char *text) {
    char *copy = must_alloc(strlen(text) + 1, 1);
    return strcpy(copy, text);
}

static char *read_table(const char *folder, const char *kind, const char *code) {
    size_t n;
    char *path = text_format("%s/%s-%s.txt", folder, kind, code),
         *text = path ? (char *)file_read(path, &n) : NULL;
    free(path);
    return text;
}

// The next field of a row, which ends with a tab, or at its end.
static char *field(char **row) {
    char *at = *row, *end = at ? at + strcspn(at, "\t") : NULL;
    *row = end && *end ? end + 1 : NULL;
    if (end) *end = 0;
    return at ? at : "";
}

// ---- Counts ----

typedef struct Row { // of the table
    uint32_t site, line;
    CpuCounted does;
    const char *file;
} Row;

static Row read_row(char *text) {
    Row r = {.site = (uint32_t)strtoul(field(&text), NULL, 10)};
    r.line = (uint32_t)strtoul(field(&text), NULL, 10);
#define COUNTED(name) r.does.name = (uint32_t)strtoul(field(&text), NULL, 10);
    CPU_COUNTED(COUNTED)
#undef COUNTED
    r.file = field(&text);
    return r;
}

void profile_counts_add(ProfileCounts *sum, const ProfileCounts *c) {
    sum->threads += c->threads;
    sum->room += c->room, sum->active += c->active;
    sum->scalar += c->scalar;
    sum->gathers += c->gathers, sum->serial += c->serial, sum->texels += c->texels;
    sum->read += c->read, sum->written += c->written;
}

static ProfileCounts counts_of(const CpuCounted *c, const struct ProfileRan *r) {
    return (ProfileCounts){.threads = c->entries * r->lanes,
                           .room = LANES * c->vector * r->steps,
                           .active = c->vector * r->lanes,
                           .scalar = c->scalar * r->steps,
                           .gathers = c->gathers * r->lanes,
                           .serial = c->serial * r->lanes,
                           .texels = c->texels * r->lanes,
                           .read = c->read * r->lanes + c->read_once * r->steps,
                           .written = c->written * r->lanes + c->written_once * r->steps};
}

// Lines of one command lie together, behind `from`.
static ProfileLine *line_of(Profile *p, size_t from, const Row *row, const struct ProfileRan *r,
                            const char *kernel) {
    for (size_t i = p->n_lines; i-- > from;) {
        ProfileLine *l = &p->lines[i];
        if (l->line == row->line && l->draw == r->draw && l->command == r->command &&
            !strcmp(l->file, row->file))
            return l;
    }
    must_have(array_more(&p->lines, p->n_lines));
    p->lines[p->n_lines] = (ProfileLine){.kernel = kernel,
                                         .file = must_copy(row->file),
                                         .line = row->line,
                                         .draw = r->draw,
                                         .command = r->command};
    return &p->lines[p->n_lines++];
}

void profile_add_counts(Profile *p, const char *folder, const struct ProfileCode *code,
                        const struct ProfileRan *ran, size_t n_ran) {
    char *text = read_table(folder, "lines", code->name);
    Row *rows = NULL;
    size_t n = 0, from = p->n_lines;
    int64_t command = -1;
    for (char *at = text, *end; at && *at; at = end) {
        end = at + strcspn(at, "\n");
        if (*end) *end++ = 0;
        must_have(array_more(&rows, n));
        rows[n++] = read_row(at);
    }
    for (size_t i = 0; i < n_ran; i++) {
        if (strcmp(ran[i].code, code->name)) continue;
        if (ran[i].command != command) from = p->n_lines;
        command = ran[i].command;
        for (size_t k = 0; k < n; k++) {
            if (rows[k].site != ran[i].site) continue;
            ProfileCounts c = counts_of(&rows[k].does, &ran[i]);
            profile_counts_add(&line_of(p, from, &rows[k], &ran[i], code->kernel)->counts, &c);
        }
    }
    free(rows);
    free(text);
}

// ---- Remarks ----

void profile_add_remarks(Profile *p, const char *folder, const struct ProfileCode *code) {
    char *text = read_table(folder, "remarks", code->name);
    for (char *at = text, *end; at && *at; at = end) {
        end = at + strcspn(at, "\n");
        if (*end) *end++ = 0;
        const char *file = field(&at);
        uint32_t line = (uint32_t)strtoul(field(&at), NULL, 10);
        field(&at); // the column
        const char *kind = field(&at), *said = field(&at);
        bool known = false; // of the same function for another size of threadgroups
        for (size_t i = 0; i < p->n_remarks && !known; i++) {
            const ProfileRemark *r = &p->remarks[i];
            known = r->line == line && !strcmp(r->text, said) && !strcmp(r->file, file);
        }
        if (known || !line) continue;
        must_have(array_more(&p->remarks, p->n_remarks));
        p->remarks[p->n_remarks++] =
            (ProfileRemark){must_copy(file), must_copy(kind), must_copy(said), line};
    }
    free(text);
}

static const char *base_name(const char *path) {
    const char *slash = strrchr(path, '/');
    return slash ? slash + 1 : path;
}

void profile_print_remarks(const Profile *p, const char *file, uint32_t line) {
    for (size_t i = 0; line && i < p->n_remarks; i++) {
        const ProfileRemark *r = &p->remarks[i];
        if (r->line == line && !strcmp(base_name(r->file), base_name(file)))
            printf("           %s: %s\n", r->kind, r->text);
    }
}

void profile_line_text(const char *file, uint32_t line, char *to, size_t room) {
    size_t n;
    char *text = *file ? (char *)file_read(file, &n) : NULL, *at = text;
    to[0] = 0;
    for (uint32_t k = 1; at && k < line; k++) {
        at = strchr(at, '\n');
        if (at) at++;
    }
    if (at) {
        at += strspn(at, " \t");
        snprintf(to, room, "%.*s", (int)strcspn(at, "\r\n"), at);
    }
    free(text);
}

// ---- Tables ----

static uint64_t work_of(const ProfileCounts *c) { return c->room / LANES + c->scalar; }

static int by_name(const void *a, const void *b) {
    const ProfileLine *x = *(ProfileLine *const *)a, *y = *(ProfileLine *const *)b;
    int order = strcmp(x->kernel, y->kernel);
    if (!order) order = strcmp(x->file, y->file);
    return order ? order : x->line < y->line ? -1 : x->line > y->line;
}

static int most_first(const void *a, const void *b) {
    uint64_t x = work_of(&((const ProfileLine *)a)->counts),
             y = work_of(&((const ProfileLine *)b)->counts);
    return x < y ? 1 : x > y ? -1 : 0;
}

// Lines of all commands together, or (by_kernel) kernels; most work first. Names are borrowed.
static ProfileLine *sum_lines(const Profile *p, bool by_kernel, size_t *n) {
    const ProfileLine **sorted = must_alloc(p->n_lines + 1, sizeof *sorted);
    ProfileLine *sums = must_alloc(p->n_lines + 1, sizeof *sums);
    for (size_t i = 0; i < p->n_lines; i++) sorted[i] = &p->lines[i];
    if (p->n_lines) qsort(sorted, p->n_lines, sizeof *sorted, by_name);
    *n = 0;
    for (size_t i = 0; i < p->n_lines; i++) {
        const ProfileLine *l = sorted[i];
        bool same =
            *n && !strcmp(sums[*n - 1].kernel, l->kernel) &&
            (by_kernel || (sums[*n - 1].line == l->line && !strcmp(sums[*n - 1].file, l->file)));
        if (!same) {
            sums[*n] = *l;
            sums[(*n)++].counts = (ProfileCounts){0};
        }
        profile_counts_add(&sums[*n - 1].counts, &l->counts);
    }
    qsort(sums, *n, sizeof *sums, most_first);
    free(sorted);
    return sums;
}

static double percent(uint64_t part, uint64_t whole) {
    return whole ? 100.0 * (double)part / (double)whole : 0;
}

static void print_counts(const ProfileCounts *c) {
    if (c->room)
        printf("  lanes %5.1f %%", percent(c->active, c->room));
    else
        printf("  %13s", "one for all");
}

void profile_print_counts(const Profile *p, size_t top) {
    size_t n_kernels, n_lines;
    ProfileLine *kernels = sum_lines(p, true, &n_kernels), *lines = sum_lines(p, false, &n_lines);
    uint64_t all = 0;
    for (size_t i = 0; i < n_kernels; i++) all += work_of(&kernels[i].counts);
    printf("\nfunctions: instructions, lanes that were active in those for each thread\n");
    for (size_t i = 0; i < n_kernels && i < top; i++) {
        const ProfileCounts *c = &kernels[i].counts;
        printf("  %5.1f %%", percent(work_of(c), all));
        print_counts(c);
        printf("  %s: %" PRIu64 " threads; of the instructions %.1f %% are for each thread, the "
               "others once for 32\n",
               kernels[i].kernel, c->threads, percent(c->room / LANES, work_of(c)));
        printf("           moved %.2f MB from buffers, %.2f MB to them; one by one: %" PRIu64
               " accesses, %" PRIu64 " operations; %" PRIu64 " texture calls\n",
               (double)c->read / 1e6, (double)c->written / 1e6, c->gathers, c->serial, c->texels);
    }
    printf("\nlines\n");
    for (size_t i = 0; i < n_lines && i < top; i++) {
        const ProfileLine *l = &lines[i];
        char text[100];
        profile_line_text(l->file, l->line, text, sizeof text);
        printf("  %5.1f %%", percent(work_of(&l->counts), all));
        print_counts(&l->counts);
        if (l->line)
            printf("  %s:%" PRIu32 "  %s\n", base_name(l->file), l->line, text);
        else
            printf("  %s\n", l->kernel);
        profile_print_remarks(p, l->file, l->line);
    }
    free(kernels);
    free(lines);
}

void profile_counts_json(const ProfileCounts *c, Text *t) {
    text_printf(t,
                "\"threads\":%" PRIu64 ",\"room\":%" PRIu64 ",\"active\":%" PRIu64
                ",\"scalar\":%" PRIu64 ",\"gathers\":%" PRIu64 ",\"serial\":%" PRIu64
                ",\"texels\":%" PRIu64 ",\"read\":%" PRIu64 ",\"written\":%" PRIu64,
                c->threads, c->room, c->active, c->scalar, c->gathers, c->serial, c->texels,
                c->read, c->written);
}

void profile_json_counts(const Profile *p, Text *t) {
    size_t n;
    ProfileLine *lines = sum_lines(p, false, &n);
    text_add(t, ",\n\"counts\":[");
    for (size_t i = 0; i < n; i++) {
        text_printf(t, "%s{\"kernel\":", i ? ",\n" : "\n");
        json_string(t, lines[i].kernel);
        text_add(t, ",\"file\":");
        json_string(t, lines[i].file);
        text_printf(t, ",\"line\":%" PRIu32 ",", lines[i].line);
        profile_counts_json(&lines[i].counts, t);
        text_add(t, "}");
    }
    free(lines);
    text_add(t, "],\n\"remarks\":[");
    for (size_t i = 0; i < p->n_remarks; i++) {
        const ProfileRemark *r = &p->remarks[i];
        text_printf(t, "%s{\"file\":", i ? ",\n" : "\n");
        json_string(t, r->file);
        text_printf(t, ",\"line\":%" PRIu32 ",\"kind\":", r->line);
        json_string(t, r->kind);
        text_add(t, ",\"text\":");
        json_string(t, r->text);
        text_add(t, "}");
    }
    text_add(t, "]");
}
