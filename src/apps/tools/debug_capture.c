// SPDX-License-Identifier: Apache-2.0
// debug_capture.c: a command of a capture for `ingot debug`: which function of it is wanted, and
// its source as a file that gdb finds, whatever has become of the program's own.
#include "base/files.h"
#include "base/array.h"
#include "apps/tools/debug_int.h"
#include "apps/tools/replay_int.h"
#include <ctype.h>
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct Seen { // on the way to the command
    struct Named {    // functions
        uint64_t id;
        char *name;
        unsigned char library[SHA256_BYTES];
    } *codes;
    size_t n_codes;
    char *source, *text; // of the function that was found
} Seen;

static const char *kind_of(const CapEvent *e) { return cap_kind_name(e->kind); }

static bool wrong(const char *format, ...) __attribute__((format(printf, 1, 2)));
static bool wrong(const char *format, ...) {
    char text[CAP_WHY + 128];
    va_list args;
    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    complain(EXIT_INPUT, "debug", "%s", text);
    return false;
}

// ---- Names ----

// A new line begins another command, and the others end the quotes.
bool debug_is_plain(const char *text) {
    bool plain = *text != 0;
    for (; *text; text++)
        plain = plain && (unsigned char)*text >= ' ' && *text != 127 && !strchr("\"\\'", *text);
    return plain;
}

bool debug_is_identifier(const char *text) {
    for (;;) {
        if (!isalpha((unsigned char)*text) && *text != '_') return false;
        while (isalnum((unsigned char)*text) || *text == '_') text++;
        if (!*text) return true;
        if (strncmp(text, "::", 2)) return false;
        text += 2;
    }
}

// The names of the capture are a stranger's.
static bool names_are_plain(const char *function, const char *source) {
    if (!debug_is_identifier(function)) return wrong("gdb cannot handle this function name");
    return debug_is_plain(source) || wrong("gdb cannot handle this source name");
}

// ---- The function ----

static bool check_thread(const DebugStop *s, const uint32_t grid[3]) {
    const uint32_t *p = s->position;
    if (s->at != AT_THREAD || (p[0] < grid[0] && p[1] < grid[1] && p[2] < grid[2])) return true;
    return wrong("thread %u,%u,%u lies outside the grid of %u x %u x %u", p[0], p[1], p[2], grid[0],
                 grid[1], grid[2]);
}

static const DevCode *code_of_draw(const DebugStop *s, const DevDraw *d) {
    const DevCode *fragment = d->fragment ? d->fragment->code : NULL,
                  *vertex = d->vertex ? d->vertex->code : NULL;
    if (d->tile) return d->tile->function.code;
    if (s->at == AT_PIXEL) return fragment;
    if (d->mesh) return d->mesh->mesh.code;
    return s->at == AT_VERTEX || !fragment ? vertex : fragment;
}

// The number of the function; 0: said why.
static uint64_t choose(DebugStop *s, const CapEvent *e, const CapEvent *pass) {
    unsigned long long n = e->command;
    const DevCode *code = NULL;
    if (e->kind == CAP_DISPATCH) {
        code = e->dispatch.code;
        if (s->at > AT_THREAD)
            return wrong("command %llu is a dispatch: use --thread to select a thread", n), 0;
        if (!check_thread(s, e->dispatch.threads_per_grid)) return 0;
    } else if (e->kind == CAP_DRAW) {
        const uint32_t *p = s->position;
        code = code_of_draw(s, &e->draw);
        if (s->at == AT_THREAD && !e->draw.mesh && !e->draw.tile)
            return wrong("command %llu is a draw: use --pixel X,Y or --vertex N to select where to "
                         "stop",
                         n),
                   0;
        if (s->at == AT_PIXEL && pass &&
            (p[0] >= pass->render.dev.width || p[1] >= pass->render.dev.height))
            return wrong("pixel %u,%u lies outside the render pass of %u x %u", p[0], p[1],
                         pass->render.dev.width, pass->render.dev.height),
                   0;
        if (!code && s->at == AT_PIXEL) return wrong("command %llu has no fragment function", n), 0;
    }
    if (code) return (uintptr_t)code;
    return wrong("command %llu (%s) runs no function (`ingot replay %s --list`)", n, kind_of(e),
                 s->file),
           0;
}

// ---- The capture ----

static const struct Named *named(const Seen *seen, uint64_t id) {
    for (size_t i = seen->n_codes; i--;)
        if (seen->codes[i].id == id) return &seen->codes[i];
    return NULL;
}

static void note_code(Seen *seen, const CapCode *code) {
    if (!array_more(&seen->codes, seen->n_codes)) return;
    struct Named *n = &seen->codes[seen->n_codes];
    n->id = code->id;
    n->name = strdup(code->name);
    memcpy(n->library, code->library, sizeof n->library);
    seen->n_codes += n->name != NULL;
}

// Whether there is more to look at.
static bool find_command(DebugStop *s, Seen *seen, const CapRun *run, uint64_t *id, bool *ok) {
    const CapEvent *pass = NULL;
    for (size_t i = 0; i < run->n_events; i++) {
        const CapEvent *e = &run->events[i];
        if (e->kind == CAP_CODE) note_code(seen, &e->code);
        if (e->kind == CAP_RENDER) pass = e;
        if (!cap_is_command(e->kind)) continue;
        if (!s->has_command && (e->kind == CAP_DISPATCH || e->kind == CAP_DRAW))
            s->has_command = true, s->command = e->command;
        if (!s->has_command || e->command != s->command) continue;
        *id = choose(s, e, pass);
        *ok = *id != 0;
        return false;
    }
    return true;
}

// The text of the function's library, which may come anywhere before.
static void find_source(Seen *seen, const CapRun *run, const struct Named *function) {
    for (size_t i = 0; !seen->text && i < run->n_events; i++) {
        const CapSource *source = &run->events[i].source;
        if (run->events[i].kind != CAP_SOURCE ||
            memcmp(source->hash, function->library, sizeof source->hash))
            continue;
        seen->source = strdup(source->name);
        seen->text = strdup(source->text);
    }
}

static bool find_stop(DebugStop *s, const Capture *c, Seen *seen) {
    char why[CAP_WHY];
    uint64_t id = 0, n = cap_n_commands(c);
    bool ok = true, more = true;
    size_t runs = 0;
    if (s->has_command && s->command >= n)
        return wrong("%s has %llu commands: no command %llu", s->file, (unsigned long long)n,
                     (unsigned long long)s->command);
    for (; ok && more && runs < cap_n_runs(c); runs++) {
        CapRun run;
        if (!cap_read_run(c, runs, &run, why)) return wrong("%s: %s", s->file, why);
        more = find_command(s, seen, &run, &id, &ok);
        cap_run_free(&run);
    }
    const struct Named *function = id ? named(seen, id) : NULL;
    if (!ok) return false;
    if (!function) return wrong("%s has no command that runs a function", s->file);
    for (size_t i = 0; i < runs && !seen->text; i++) {
        CapRun run;
        if (!cap_read_run(c, i, &run, why)) return wrong("%s: %s", s->file, why);
        find_source(seen, &run, function);
        cap_run_free(&run);
    }
    if (!seen->text)
        return wrong("%s does not hold the source of '%s': it was in a .metallib", s->file,
                     function->name);
    s->function = strdup(function->name);
    return s->function != NULL && names_are_plain(s->function, seen->source);
}

// ---- The source ----

// In a folder of its text's: the last part of its name, which is what gdb looks for there.
static bool write_source(DebugStop *s, const Seen *seen) {
    unsigned char hash[SHA256_BYTES];
    char below[40] = "debug/source-";
    const char *slash = strrchr(seen->source, '/'), *name = slash ? slash + 1 : seen->source;
    size_t n = strlen(seen->text);
    sha256(seen->text, n, hash);
    for (int i = 0; i < 8; i++) sprintf(below + 13 + 2 * i, "%02x", hash[i]);
    char *cache = cache_dir();
    s->folder = cache ? path_join(cache, below) : NULL;
    char *path = s->folder ? path_join(s->folder, name) : NULL;
    s->source = strdup(seen->source);
    bool ok = path && s->source && make_dirs(s->folder, 0700) &&
              file_write_atomic(path, seen->text, n, false);
    if (!ok) wrong("cannot write the source of '%s': %s", s->function, strerror(errno));
    free(path);
    free(cache);
    return ok;
}

bool debug_find_stop(DebugStop *s) {
    char why[CAP_WHY];
    Seen seen = {0};
    Capture *c = cap_open(s->file, why);
    if (!c) return wrong("%s: %s", s->file, why);
    bool ok = find_stop(s, c, &seen) && write_source(s, &seen);
    for (size_t i = 0; i < seen.n_codes; i++) free(seen.codes[i].name);
    free(seen.codes);
    free(seen.source);
    free(seen.text);
    cap_close(c);
    return ok;
}

void debug_stop_free(DebugStop *s) {
    free(s->function);
    free(s->source);
    free(s->folder);
}
