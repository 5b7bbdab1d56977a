// SPDX-License-Identifier: Apache-2.0
// cmd_diff.c: `ingot diff A B`: the first command of two captures whose results differ. Recorded
// hashes say which run it is; both are then replayed up to there, command by command.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "apps/tools/replay_int.h"
#include "base/array.h"

typedef struct Job {
    const char *files[2], *device;
} Job;

static const Option rows[] = {
    {"--device", "NAME", "replay on this device, as in INGOT_DEVICES", OPT_TEXT,
     OPT_AT(Job, device)},
};
static const CommandLine line = {
    .program = "ingot diff",
    .usage = "[--device NAME] A.ingottrace B.ingottrace",
    .about =
        "Finds the first command whose results differ in two captures, and prints the resource, "
        "the\n"
        "first differing element and both values. Exit status: 0 no difference, 1 a difference or\n"
        "an error.",
    OPT_ROWS(rows),
    .words = {offsetof(Job, files), offsetof(Job, files) + sizeof(char *)},
    .n_words = 2,
    .column = 20,
};

// ---- What commands leave behind ----

typedef struct Left { // one memory after one command
    uint64_t command, memory, hash;
} Left;
typedef struct Trail {
    CapReplay *replay;
    Left *left;
    size_t n, capacity;
    uint64_t from; // command
    bool failed;
} Trail;

// Memory has a number by the order it came in: ids are the same in two runs of a program.
static bool follow(void *context, const CapEvent *event, uint64_t ns) {
    Trail *t = context;
    CapMemory m;
    (void)ns;
    if (event->command < t->from) return true;
    for (size_t i = 0; cap_replay_written(t->replay, i, &m); i++) {
        if (m.storage == DEV_ARGUMENTS) continue;
        char *bytes = malloc(m.n_bytes);
        t->failed = !bytes || !array_reserve(&t->left, &t->capacity, t->n + 1) ||
                    !cap_replay_read(t->replay, m.address, bytes, m.n_bytes);
        if (!t->failed) t->left[t->n++] = (Left){event->command, i, cap_hash(bytes, m.n_bytes)};
        free(bytes);
        if (t->failed) return false;
    }
    return true;
}

// ---- Which run ----

// Events that are results or commands, one after the other.
typedef struct Walk {
    const Capture *capture;
    size_t run, at;
    CapRun events;
    bool open;
} Walk;

static const CapEvent *next_event(Walk *w, char why[CAP_WHY], bool *failed) {
    for (;;) {
        if (!w->open) {
            if (w->run >= cap_n_runs(w->capture)) return NULL;
            if (!cap_read_run(w->capture, w->run++, &w->events, why)) {
                *failed = true;
                return NULL;
            }
            w->open = true;
            w->at = 0;
        }
        while (w->at < w->events.n_events) {
            const CapEvent *e = &w->events.events[w->at++];
            if (cap_is_command(e->kind) || e->kind == CAP_RESULT || e->kind == CAP_CONTENTS)
                return e;
        }
        cap_run_free(&w->events);
        w->open = false;
    }
}

static bool same(const CapEvent *a, const CapEvent *b) {
    if (a->kind != b->kind) return false;
    if (a->kind == CAP_CONTENTS)
        return a->contents.offset == b->contents.offset &&
               a->contents.n_bytes == b->contents.n_bytes &&
               a->contents.zeros == b->contents.zeros &&
               (a->contents.zeros ||
                !memcmp(a->contents.hash, b->contents.hash, sizeof a->contents.hash));
    return a->kind != CAP_RESULT ||
           (a->result.n == b->result.n &&
            (!a->result.n ||
             !memcmp(a->result.blocks, b->result.blocks, a->result.n * sizeof *a->result.blocks)));
}

// The first run that is not the same in both; false: all are. *run is its number.
static bool first_run(const Capture *a, const Capture *b, size_t *run, char why[CAP_WHY],
                      bool *failed) {
    Walk x = {.capture = a}, y = {.capture = b};
    bool found = false;
    for (;;) {
        const CapEvent *e = next_event(&x, why, failed), *f = next_event(&y, why, failed);
        if (*failed || (!e && !f)) break;
        found = !e || !f || !same(e, f) || x.run != y.run;
        if (found) break;
    }
    *run = x.run && x.run <= y.run ? x.run - 1 : y.run ? y.run - 1 : 0;
    if (x.open) cap_run_free(&x.events);
    if (y.open) cap_run_free(&y.events);
    return found;
}

// ---- The command ----

static bool replay_trail(const Job *job, const Capture *capture, int i, uint64_t from,
                         uint64_t until, Trail *trail) {
    char why[CAP_WHY];
    MTLDevice *device;
    *trail = (Trail){.from = from};
    trail->replay = open_replay(job->device, capture, "diff", &device);
    if (!trail->replay) return false;
    const CapWatch watch = {.after = follow, .context = trail};
    bool ok = cap_replay_run(trail->replay, until, &watch, why) && !trail->failed;
    if (!ok)
        complain(EXIT_INPUT, "diff", "%s: %s", job->files[i],
                 trail->failed ? "out of memory" : why);
    cap_replay_free(trail->replay);
    mtl_release(device);
    return ok;
}

// Bytes of the memory number `memory` after a command, and which object they are of.
static unsigned char *bytes_after(const Job *job, const Capture *capture, int i, const Left *left,
                                  size_t *n_bytes, char *object, size_t object_bytes,
                                  uint64_t offset) {
    char why[CAP_WHY] = "";
    MTLDevice *device;
    CapReplay *r = open_replay(job->device, capture, "diff", &device);
    CapMemory m = {0};
    unsigned char *bytes = NULL;
    if (r && cap_replay_run(r, left->command, NULL, why) &&
        cap_replay_written(r, left->memory, &m) && (bytes = malloc(m.n_bytes)))
        *n_bytes = cap_replay_read(r, m.address, bytes, m.n_bytes) ? m.n_bytes : 0;
    else if (r)
        complain(EXIT_INPUT, "diff", "%s: %s", job->files[i], *why ? why : "out of memory");
    const CapObject *objects;
    size_t n = r ? cap_replay_objects(r, &objects) : 0;
    snprintf(object, object_bytes, "memory %llu", (unsigned long long)m.id);
    for (size_t k = 0; k < n; k++) {
        const CapResource *res = &objects[k].resource;
        uint64_t at =
            objects[k].texture ? (uintptr_t)objects[k].texture->levels[0].data : res->address;
        bool inside = at >= m.address && at < m.address + m.n_bytes && at - m.address <= offset &&
                      res->kind != CAP_HEAP;
        if (inside) object_describe(&objects[k], k, object, object_bytes);
    }
    cap_replay_free(r);
    if (r) mtl_release(device);
    return bytes;
}

static void print_value(const char *file, const unsigned char *bytes, size_t at, size_t n) {
    uint32_t word = 0;
    float number;
    memcpy(&word, bytes + at, n - at < 4 ? n - at : 4);
    memcpy(&number, &word, sizeof number);
    show_line("  %s: 0x%08x, as float %.9g", file, word, (double)number);
}

static int explain(const Job *job, Capture *const captures[2], const Left *left,
                   const CommandNames *names) {
    unsigned char *bytes[2] = {NULL, NULL};
    size_t n[2] = {0, 0}, at = 0;
    char object[256];
    for (int i = 0; i < 2; i++)
        bytes[i] = bytes_after(job, captures[i], i, left, &n[i], object, sizeof object, 0);
    size_t both = n[0] < n[1] ? n[0] : n[1];
    while (bytes[0] && bytes[1] && at < both && bytes[0][at] == bytes[1][at]) at++;
    at &= ~(size_t)3;
    int status = EXIT_INPUT;
    if (bytes[0] && bytes[1]) {
        free(bytes[0]);
        bytes[0] = bytes_after(job, captures[0], 0, left, &n[0], object, sizeof object, at);
        show_line("command %llu (%s): results differ", (unsigned long long)left->command,
                  command_name(names, left->command));
        show_line("  %s, element %zu (byte %zu):", object, at / 4, at);
        for (int i = 0; i < 2 && at < both; i++) print_value(job->files[i], bytes[i], at, n[i]);
        if (at >= both) printf("  they have %zu and %zu bytes\n", n[0], n[1]);
    }
    free(bytes[0]), free(bytes[1]);
    return status;
}

static bool read_names(const Capture *capture, size_t until, CommandNames *names,
                       char why[CAP_WHY]) {
    bool ok = true;
    for (size_t i = 0; ok && i < cap_n_runs(capture) && i <= until; i++)
        ok = command_names_add(names, capture, i, why);
    return ok;
}

// The first command whose name differs, of those that both have; UINT64_MAX: none.
static uint64_t first_other(const CommandNames names[2]) {
    size_t n = names[0].n < names[1].n ? names[0].n : names[1].n;
    for (size_t i = 0; i < n; i++)
        if (strcmp(names[0].names[i], names[1].names[i]) != 0) return i;
    return names[0].n == names[1].n ? UINT64_MAX : n;
}

static int compare_from(const Job *job, Capture *const captures[2], size_t run) {
    char why[CAP_WHY];
    CommandNames names[2] = {{0}, {0}};
    Trail trails[2] = {{0}, {0}};
    int status = EXIT_INPUT;
    for (int i = 0; i < 2; i++)
        if (!read_names(captures[i], run, &names[i], why)) {
            complain(EXIT_INPUT, "diff", "%s: %s", job->files[i], why);
            goto end;
        }
    uint64_t other = first_other(names), from = 0, until = UINT64_MAX;
    for (int i = 0; i < 2; i++) {
        if (run >= cap_n_runs(captures[i])) continue;
        uint64_t first = cap_first_command(captures[i], run);
        from = first > from ? first : from;
        if (names[i].n && names[i].n - 1 < until) until = names[i].n - 1;
    }
    if (other != UINT64_MAX && (other == 0 || other <= from)) until = 0;
    if (other != UINT64_MAX && other && until >= other) until = other - 1;
    if (until != UINT64_MAX && until >= from)
        for (int i = 0; i < 2; i++)
            if (!replay_trail(job, captures[i], i, from, until, &trails[i])) goto end;
    for (size_t i = 0; i < trails[0].n && i < trails[1].n; i++)
        if (trails[0].left[i].hash != trails[1].left[i].hash) {
            status = explain(job, captures, &trails[0].left[i], &names[0]);
            goto end;
        }
    if (other != UINT64_MAX) printf("command %llu is not the same:\n", (unsigned long long)other);
    for (int i = 0; other != UINT64_MAX && i < 2; i++)
        show_line("  %s: %s", job->files[i],
                  other < names[i].n ? command_name(&names[i], other) : "(no more)");
    if (other == UINT64_MAX)
        printf("what the host wrote before command %llu differs, results of commands do not\n",
               (unsigned long long)from);
end:
    for (int i = 0; i < 2; i++) {
        command_names_free(&names[i]);
        free(trails[i].left);
    }
    return status;
}

int cmd_diff(int argc, char **argv) {
    Job job = {0};
    int status = options_read(&line, &job, argc, argv);
    if (status != OPTIONS_GO_ON) return status;
    if (!job.files[1])
        return options_wrong(&line, "two captures are required (see `ingot diff --help`)");
    Capture *captures[2] = {NULL, NULL};
    char why[CAP_WHY];
    status = EXIT_FINE;
    for (int i = 0; !status && i < 2; i++)
        if (!(captures[i] = cap_open(job.files[i], why)))
            status = complain(EXIT_INPUT, "diff", "%s: %s", job.files[i], why);
    size_t run = 0;
    bool failed = false;
    if (!status) {
        bool differs = first_run(captures[0], captures[1], &run, why, &failed);
        if (failed)
            status = complain(EXIT_INPUT, "diff", "%s", why);
        else if (differs)
            status = compare_from(&job, captures, run);
        else
            printf("%llu commands, the same results\n",
                   (unsigned long long)cap_n_commands(captures[0]));
    }
    for (int i = 0; i < 2; i++) cap_close(captures[i]);
    return status;
}
