// SPDX-License-Identifier: Apache-2.0
// profile_data.c: the files that libingot leaves for `ingot profile` (cpu/profile.c says what is in
// them) -> stacks. The compiler knows which lines the places are of: `mslc lines`.
#include "tools/profile.h"
#include "base/files.h"
#include "tools/tools.h"
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>

extern char **environ;

typedef struct Names { // of code objects
    char (*codes)[24];
    char **kernels;
    size_t n;
} Names;

static char *must_copy(const char *text) {
    char *copy = must_alloc(strlen(text) + 1, 1);
    return strcpy(copy, text);
}

static void *must_grow(void *list, size_t n, size_t size) {
    if (n & (n - 1)) return list; // of 0, 1, 2, 4, ... there may be no more room
    void *more = realloc(list, (n ? 2 * n : 1) * size);
    if (more) return more;
    fputs("ingot: out of memory\n", stderr);
    exit(EXIT_INPUT);
}

static void add_name(Names *names, const char *code, const char *kernel) {
    for (size_t i = 0; i < names->n; i++)
        if (!strcmp(names->codes[i], code)) return;
    names->codes = must_grow(names->codes, names->n, sizeof *names->codes);
    names->kernels = must_grow(names->kernels, names->n, sizeof *names->kernels);
    snprintf(names->codes[names->n], sizeof names->codes[0], "%s", code);
    names->kernels[names->n++] = must_copy(kernel);
}

static void add_place(Profile *p, const ProfileStack *one) {
    for (size_t i = 0; i < p->n_stacks; i++) {
        ProfileStack *s = &p->stacks[i];
        if (s->offset != one->offset || s->library != one->library || s->draw != one->draw ||
            strcmp(s->code, one->code))
            continue;
        s->count += one->count;
        return;
    }
    p->stacks = must_grow(p->stacks, p->n_stacks, sizeof *p->stacks);
    p->stacks[p->n_stacks++] = *one;
}

static void read_line(Profile *p, Names *names, const char *line) {
    char code[24], kernel[128] = "";
    unsigned library;
    uint64_t number;
    ProfileStack s = {0};
    if (sscanf(line, "code %23s %127s", code, kernel) >= 1) {
        add_name(names, code, kernel);
    } else if (sscanf(line, "at %23s %" SCNx64 " %u %" SCNu32 " %" SCNu64, s.code, &s.offset,
                      &library, &s.draw, &s.count) == 5) {
        s.library = library != 0;
        p->total += s.count;
        add_place(p, &s);
    } else if (sscanf(line, "other %" SCNu64, &number) == 1) {
        p->other += number;
    } else if (sscanf(line, "lost %" SCNu64, &number) == 1) {
        p->lost += number;
    } else if (sscanf(line, "interval_us %" SCNu64, &number) == 1) {
        p->interval_us = (unsigned)number;
    }
}

static void read_samples(Profile *p, Names *names, const char *folder) {
    DIR *dir = opendir(folder);
    for (struct dirent *e; dir && (e = readdir(dir));) {
        if (strncmp(e->d_name, "samples-", 8)) continue;
        char *path = path_join(folder, e->d_name);
        size_t n;
        char *text = path ? (char *)file_read(path, &n) : NULL;
        for (char *line = text, *end; line && *line; line = end) {
            end = line + strcspn(line, "\n");
            if (*end) *end++ = 0;
            read_line(p, names, line);
        }
        p->n_processes += text != NULL;
        free(text);
        free(path);
    }
    if (dir) closedir(dir);
}

// ---- Lines ----

static bool ask_compiler(char *code, const char *in, const char *out) {
    char *mslc = find_compiler(), *args[] = {"mslc", "lines", code, NULL};
    posix_spawn_file_actions_t files;
    posix_spawn_file_actions_init(&files);
    posix_spawn_file_actions_addopen(&files, 0, in, O_RDONLY, 0);
    posix_spawn_file_actions_addopen(&files, 1, out, O_WRONLY | O_CREAT | O_TRUNC, 0600);
    pid_t pid;
    int how = -1, e = mslc ? posix_spawnp(&pid, mslc, &files, NULL, args, environ) : ENOMEM;
    posix_spawn_file_actions_destroy(&files);
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
    for (size_t i = 0; i < p->n_stacks; i++) {
        ProfileStack *s = &p->stacks[i];
        if (s->offset != offset || strcmp(s->code, code)) continue;
        if (s->n_frames && !strcmp(s->frames[0].function, function))
            continue; // parts of one function
        s->frames = must_grow(s->frames, s->n_frames, sizeof *s->frames);
        memmove(s->frames + 1, s->frames, s->n_frames * sizeof *s->frames);
        s->frames[0] = (ProfileFrame){must_copy(function), must_copy(file), at};
        s->n_frames++;
    }
}

static void name_places(Profile *p, const char *folder, const char *code) {
    char *path = text_format("%s/code-%s.so", folder, code), *in = path_join(folder, "places"),
         *out = path_join(folder, "lines");
    Text t = {0};
    for (size_t i = 0; i < p->n_stacks; i++)
        if (!strcmp(p->stacks[i].code, code)) text_printf(&t, "%" PRIx64 "\n", p->stacks[i].offset);
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
    Names names = {0};
    *p = (Profile){0};
    read_samples(p, &names, folder);
    for (size_t i = 0; i < names.n; i++) name_places(p, folder, names.codes[i]);
    for (size_t k = 0; k < p->n_stacks; k++) {
        ProfileStack *s = &p->stacks[k];
        for (size_t i = 0; i < names.n && !s->kernel; i++)
            if (!strcmp(names.codes[i], s->code)) s->kernel = must_copy(names.kernels[i]);
        if (!s->kernel) s->kernel = must_copy("?");
        if (s->n_frames) continue;
        s->frames = must_alloc(1, sizeof *s->frames);
        s->frames[s->n_frames++] = (ProfileFrame){must_copy(s->kernel), must_copy(""), 0};
    }
    for (size_t i = 0; i < names.n; i++) free(names.kernels[i]);
    free(names.kernels);
    free(names.codes);
    return p->n_processes > 0;
}

void profile_free(Profile *p) {
    for (size_t i = 0; i < p->n_stacks; i++) {
        ProfileStack *s = &p->stacks[i];
        for (size_t k = 0; k < s->n_frames; k++)
            free(s->frames[k].function), free(s->frames[k].file);
        free(s->frames);
        free(s->kernel);
    }
    free(p->stacks);
    *p = (Profile){0};
}
