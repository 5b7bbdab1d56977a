// SPDX-License-Identifier: Apache-2.0
// profile_data.c: the files that libingot leaves for `ingot profile` (devices/cpu/profile.c says
// what is in them) -> stacks. The compiler knows which lines the places are of: `mslc lines`.
#include "apps/tools/profile.h"
#include "base/array.h"
#include "base/environment.h"
#include "base/files.h"
#include "apps/tools/tools.h"
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

typedef struct Found { // in the files, before it is sorted
    struct ProfileRan *ran;
    size_t n_ran;
    int64_t command; // that what follows is of
} Found;

static char *must_copy(const char *text) {
    char *copy = must_alloc(strlen(text) + 1, 1);
    return strcpy(copy, text);
}

static void add_code(Profile *p, const char *code, const char *kernel) {
    for (size_t i = 0; i < p->n_codes; i++)
        if (!strcmp(p->codes[i].name, code)) return;
    must_have(array_more(&p->codes, p->n_codes));
    struct ProfileCode *c = &p->codes[p->n_codes++];
    snprintf(c->name, sizeof c->name, "%s", code);
    c->kernel = must_copy(kernel);
}

static void read_line(Profile *p, Found *f, const char *line) {
    char code[24], kernel[128] = "";
    unsigned library;
    uint64_t number;
    ProfileStack s = {.command = f->command};
    struct ProfileRan r = {.command = f->command};
    if (sscanf(line, "code %23s %127s", code, kernel) >= 1) {
        add_code(p, code, kernel);
    } else if (sscanf(line, "at %23s %" SCNx64 " %u %" SCNu32 " %" SCNu64, s.code, &s.offset,
                      &library, &s.draw, &s.count) == 5) {
        s.library = library != 0;
        p->total += s.count;
        must_have(array_more(&p->stacks, p->n_stacks));
        p->stacks[p->n_stacks++] = s;
    } else if (sscanf(line, "ran %23s %" SCNu64 " %" SCNu32 " %" SCNu64 " %" SCNu64, r.code,
                      &r.site, &r.draw, &r.steps, &r.lanes) == 5) {
        must_have(array_more(&f->ran, f->n_ran));
        f->ran[f->n_ran++] = r;
    } else if (sscanf(line, "command %" SCNd64, &f->command) == 1) {
        return;
    } else if (sscanf(line, "other %" SCNu64, &number) == 1) {
        p->other += number;
    } else if (sscanf(line, "lost %" SCNu64, &number) == 1) {
        p->lost += number;
    } else if (sscanf(line, "interval_us %" SCNu64, &number) == 1) {
        p->interval_us = (unsigned)number;
    }
}

static void read_samples(Profile *p, Found *f, const char *folder) {
    DIR *dir = opendir(folder);
    for (struct dirent *e; dir && (e = readdir(dir));) {
        if (strncmp(e->d_name, "samples-", 8)) continue;
        char *path = path_join(folder, e->d_name);
        size_t n;
        char *text = path ? (char *)file_read(path, &n) : NULL;
        f->command = -1;
        for (char *line = text, *end; line && *line; line = end) {
            end = line + strcspn(line, "\n");
            if (*end) *end++ = 0;
            read_line(p, f, line);
        }
        p->n_processes += text != NULL;
        free(text);
        free(path);
    }
    if (dir) closedir(dir);
}

static int by_place(const void *a, const void *b) {
    const ProfileStack *x = a, *y = b;
    int order = strcmp(x->code, y->code);
    if (order) return order;
    if (x->offset != y->offset) return x->offset < y->offset ? -1 : 1;
    if (x->library != y->library) return x->library - y->library;
    if (x->command != y->command) return x->command < y->command ? -1 : 1;
    return x->draw < y->draw ? -1 : x->draw > y->draw;
}

// The same place, of several threads or turns, once.
static void merge_places(Profile *p) {
    size_t n = 0;
    if (p->n_stacks) qsort(p->stacks, p->n_stacks, sizeof *p->stacks, by_place);
    for (size_t i = 0; i < p->n_stacks; i++) {
        if (n && !by_place(&p->stacks[n - 1], &p->stacks[i]))
            p->stacks[n - 1].count += p->stacks[i].count;
        else
            p->stacks[n++] = p->stacks[i];
    }
    p->n_stacks = n;
}

// The first of the places of a code object at an offset, or behind it.
static size_t place_at(const Profile *p, const char *code, uint64_t offset) {
    size_t low = 0, high = p->n_stacks;
    while (low < high) {
        size_t middle = (low + high) / 2;
        int order = strcmp(p->stacks[middle].code, code);
        if (order < 0 || (!order && p->stacks[middle].offset < offset))
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

// ---- Lines ----

static bool ask_compiler(char *code, const char *in, const char *out) {
    char *mslc = find_compiler(), *args[] = {"mslc", "lines", code, NULL};
    posix_spawn_file_actions_t files;
    posix_spawn_file_actions_init(&files);
    posix_spawn_file_actions_addopen(&files, 0, in, O_RDONLY, 0);
    posix_spawn_file_actions_addopen(&files, 1, out, O_WRONLY | O_CREAT | O_TRUNC, 0600);
    char **environment = environment_of_compiler();
    pid_t pid;
    int how = -1, e = mslc && environment
                          ? posix_spawnp(&pid, mslc, &files, NULL, args, environment)
                          : ENOMEM;
    posix_spawn_file_actions_destroy(&files);
    free(environment);
    free(mslc);
    while (!e && waitpid(pid, &how, 0) < 0 && errno == EINTR) {
    }
    return !e && how == 0;
}

// A frame of a place; the compiler gives the innermost first.
static void add_frame(Profile *p, const char *code, char *line) {
    char *function, *file, *number;
    uint64_t offset = strtoull(line, &function, 16);
    if (*function++ != '\t' || !(file = strchr(function, '\t'))) return;
    *file++ = 0;
    if (!(number = strchr(file, '\t'))) return;
    *number++ = 0;
    if (!strncmp(function, "ingot_", 6) || !strncmp(function, "thread.", 7))
        return; // the loop around
    uint32_t at = (uint32_t)strtoul(number, NULL, 10);
    for (size_t i = place_at(p, code, offset); i < p->n_stacks; i++) {
        ProfileStack *s = &p->stacks[i];
        if (s->offset != offset || strcmp(s->code, code)) return;
        if (s->n_frames && !strcmp(s->frames[0].function, function))
            continue; // parts of one function
        must_have(array_more(&s->frames, s->n_frames));
        memmove(s->frames + 1, s->frames, s->n_frames * sizeof *s->frames);
        s->frames[0] = (ProfileFrame){must_copy(function), must_copy(file), at};
        s->n_frames++;
    }
}

static bool by_offset(const ProfileStack *a, const ProfileStack *b) {
    return a->offset != b->offset || strcmp(a->code, b->code);
}

static void name_places(Profile *p, const char *folder, const char *code) {
    char *path = text_format("%s/code-%s.so", folder, code), *in = path_join(folder, "places"),
         *out = path_join(folder, "lines");
    Text t = {0};
    for (size_t i = place_at(p, code, 0); i < p->n_stacks && !strcmp(p->stacks[i].code, code); i++)
        if (i == 0 || by_offset(&p->stacks[i - 1], &p->stacks[i]))
            text_printf(&t, "%" PRIx64 "\n", p->stacks[i].offset);
    if (path && in && out && t.n_bytes && file_write_atomic(in, t.data, t.n_bytes, false) &&
        ask_compiler(path, in, out)) {
        size_t n;
        char *text = (char *)file_read(out, &n);
        for (char *line = text, *end; line && *line; line = end) {
            end = line + strcspn(line, "\n");
            if (*end) *end++ = 0;
            add_frame(p, code, line);
        }
        free(text);
    }
    text_free(&t);
    free(path), free(in), free(out);
}

bool profile_read(Profile *p, const char *folder) {
    Found found = {0};
    *p = (Profile){0};
    read_samples(p, &found, folder);
    merge_places(p);
    for (size_t i = 0; i < p->n_codes; i++) {
        name_places(p, folder, p->codes[i].name);
        profile_add_counts(p, folder, &p->codes[i], found.ran, found.n_ran);
        profile_add_remarks(p, folder, &p->codes[i]);
    }
    free(found.ran);
    for (size_t k = 0; k < p->n_stacks; k++) {
        ProfileStack *s = &p->stacks[k];
        s->kernel = "?";
        for (size_t i = 0; i < p->n_codes; i++)
            if (!strcmp(p->codes[i].name, s->code)) s->kernel = p->codes[i].kernel;
        if (s->n_frames) continue;
        s->frames = must_alloc(1, sizeof *s->frames);
        s->frames[s->n_frames++] = (ProfileFrame){must_copy(s->kernel), must_copy(""), 0};
    }
    return p->n_processes > 0;
}

void profile_free(Profile *p) {
    for (size_t i = 0; i < p->n_stacks; i++) {
        ProfileStack *s = &p->stacks[i];
        for (size_t k = 0; k < s->n_frames; k++)
            free(s->frames[k].function), free(s->frames[k].file);
        free(s->frames);
    }
    for (size_t i = 0; i < p->n_codes; i++) free(p->codes[i].kernel);
    for (size_t i = 0; i < p->n_lines; i++) free(p->lines[i].file);
    for (size_t i = 0; i < p->n_remarks; i++) {
        free(p->remarks[i].file);
        free(p->remarks[i].kind), free(p->remarks[i].text);
    }
    free(p->stacks), free(p->codes), free(p->lines), free(p->remarks);
    *p = (Profile){0};
}

void profile_remove_folder(const char *folder) {
    DIR *dir = opendir(folder);
    for (struct dirent *e; dir && (e = readdir(dir));)
        if (strcmp(e->d_name, ".") && strcmp(e->d_name, "..")) unlinkat(dirfd(dir), e->d_name, 0);
    if (dir) closedir(dir);
    rmdir(folder);
}
