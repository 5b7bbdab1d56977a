// SPDX-License-Identifier: Apache-2.0
// shares.c: see shares.h. A part answers through a pipe, and the answer only counts if it is
// complete: one that was killed, ran out of memory or met an error gives none, and the library is
// compiled again in one process, which says what is wrong in the order of the source. Warnings come
// in the order of the parts, each once.
#include "compiler/frontend/shares.h"
#include "abi/modules.h"
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

enum { KERNELS_OF_A_SHARE = 16, CODE = 0x65646f63, REPAIRS = 0x78696673 }; // how an answer ends

// The memory that one process may still have is divided among all.
static void limit_memory(uint32_t n_parts) {
    struct rlimit r;
    unsigned long long pages = 0;
    FILE *f = fopen("/proc/self/statm", "r");
    bool known = f && fscanf(f, "%llu", &pages) == 1;
    if (f) fclose(f);
    if (!known || getrlimit(RLIMIT_AS, &r) || r.rlim_cur == RLIM_INFINITY) return;
    rlim_t used = pages * (rlim_t)sysconf(_SC_PAGESIZE);
    if (used >= r.rlim_cur) return;
    r.rlim_cur = r.rlim_max = used + (r.rlim_cur - used) / (n_parts + 1);
    setrlimit(RLIMIT_AS, &r);
}

// In a part: ends it when the first process closes its end of the pipe, or is gone. Confined, the
// first could not send a signal.
static void *end_with_the_first(void *shares) {
    const Shares *s = shares;
    char byte;
    while (read(s->alive[0], &byte, 1) < 0 && errno == EINTR) {
    }
    _exit(1);
}

static bool begin_part(Shares *s, uint32_t n_parts, uint32_t number, int answer) {
    pthread_attr_t attributes;
    pthread_t thread;
    close(s->alive[1]);
    s->n = n_parts, s->number = number;
    s->part[number].fd = answer;
    if (pthread_attr_init(&attributes)) return false;
    pthread_attr_setstacksize(&attributes, 65536);
    pthread_attr_setdetachstate(&attributes, PTHREAD_CREATE_DETACHED);
    int failed = pthread_create(&thread, &attributes, end_with_the_first, s);
    pthread_attr_destroy(&attributes);
    limit_memory(n_parts);
    return !failed;
}

bool shares_begin(Shares *s, size_t n, const Diagnoser *g, const Repairs *repairs) {
    size_t parts = n / KERNELS_OF_A_SHARE;
    if (parts < 2 || pipe2(s->alive, O_CLOEXEC)) return false;
    if (parts > MAX_SHARES) parts = MAX_SHARES;
    for (uint32_t i = 1; i <= parts; i++) {
        int ends[2];
        bool piped = !pipe2(ends, O_CLOEXEC);
        pid_t pid = piped ? fork() : -1;
        if (pid == 0) {
            s->first_diagnostic = g->n, s->first_repair = repairs->n;
            if (!begin_part(s, (uint32_t)parts, i, ends[1])) _exit(1);
            return true;
        }
        if (piped) close(ends[1]);
        if (pid < 0) {
            if (piped) close(ends[0]);
            shares_free(s);
            return false;
        }
        s->n = i;
        s->part[i].pid = pid, s->part[i].fd = ends[0];
    }
    return true;
}

BridgeShare shares_of(const Shares *s, size_t n) {
    if (!s->n) return (BridgeShare){0, n, false};
    if (!s->number) return (BridgeShare){0, 0, false};
    return (BridgeShare){n * (s->number - 1) / s->n, n * s->number / s->n, true};
}

bool shares_note(Shares *s, uint32_t function, bool made) {
    if (function >= s->capacity_made) {
        uint32_t capacity = function * 2 + 64;
        bool *grown = realloc(s->made, capacity * sizeof *grown);
        if (!grown) return false;
        s->made = grown, s->capacity_made = capacity;
    }
    s->made[function] = made;
    s->n_made = function + 1;
    return true;
}

// ---- a part ----

_Noreturn void shares_give_up(void) { _exit(1); }

static void put_diagnostics(WireOut *w, const Diagnoser *g, size_t from) {
    wire_u32(w, (uint32_t)(g->n - from));
    for (size_t i = from; i < g->n; i++) {
        const MslDiagnostic *d = &g->list[i];
        size_t begin = i ? g->ends[i - 1] : 0;
        wire_u32(w, (uint32_t)d->severity);
        wire_str(w, d->file);
        wire_u32(w, d->line);
        wire_u32(w, d->column);
        wire_str(w, d->message);
        wire_bytes(w, g->log.data + begin, g->ends[i] - begin);
    }
}

static void put_functions(WireOut *w, const Shares *s, const RfLibrary *lib) {
    for (uint32_t i = 0; i < lib->n_constants; i++) wire_u8(w, lib->constants[i].optional);
    for (uint32_t i = 0; i < lib->n_functions; i++) {
        const RfFunction *f = &lib->functions[i];
        bool made = i < s->n_made && s->made[i];
        wire_u8(w, made);
        if (!made) continue;
        wire_u32(w, f->n_constants);
        for (uint32_t k = 0; k < f->n_constants; k++) wire_u32(w, f->constants[k]);
        for (uint32_t k = 0; k < lib->n_bindings; k++)
            wire_u8(w, bindings_reached(f, &lib->bindings[k]));
    }
}

_Noreturn static void answer(const Shares *s, WireOut *w, uint32_t kind) {
    wire_u32(w, kind);
    if (w->failed) shares_give_up();
    for (size_t at = 0; at < w->n_bytes;) {
        ssize_t n = write(s->part[s->number].fd, w->data + at, w->n_bytes - at);
        if (n < 0 && errno == EINTR) continue;
        if (n <= 0) shares_give_up();
        at += (size_t)n;
    }
    _exit(0); // what there is to free goes with the process
}

_Noreturn void shares_answer_repairs(const Shares *s, const Repairs *repairs) {
    WireOut w = {0};
    wire_bytes(&w, repairs->at + s->first_repair,
               (repairs->n - s->first_repair) * sizeof *repairs->at);
    answer(s, &w, REPAIRS);
}

_Noreturn void shares_answer(const Shares *s, const RfLibrary *lib, const Diagnoser *g,
                             const unsigned char *bitcode, size_t n_bytes) {
    WireOut w = {0};
    put_diagnostics(&w, g, s->first_diagnostic);
    put_functions(&w, s, lib);
    wire_bytes(&w, bitcode, n_bytes);
    answer(s, &w, CODE);
}

// ---- the first process ----

typedef struct Answer {
    Text bytes;
    bool ended;
    uint32_t kind; // 0: it is not complete
    AbiModule module;
} Answer;

// Where the warnings of a part begin: of several parts that make the same function of a template
// one says it. Notes tell which function it is.
static bool is_known(const Diagnoser *g, size_t n, const MslDiagnostic *d,
                     const MslDiagnostic *note) {
    for (size_t i = 0; i < n; i++) {
        const MslDiagnostic *x = &g->list[i];
        const MslDiagnostic *its = i + 1 < n && g->list[i + 1].severity == 1 ? x + 1 : NULL;
        if (x->severity == d->severity && x->line == d->line && x->column == d->column &&
            strcmp(x->message, d->message) == 0 && strcmp(x->file, d->file) == 0 && !its == !note &&
            (!note || strcmp(its->message, note->message) == 0))
            return true;
    }
    return false;
}

static void free_list(MslDiagnostic *list, uint32_t n) {
    for (uint32_t i = 0; i < n; i++) free((char *)list[i].file), free((char *)list[i].message);
    free(list);
}

static void take_diagnostics(WireIn *r, Diagnoser *g) {
    uint32_t n = wire_get_u32(r);
    if (n > (size_t)(r->end - r->at) / 16) r->failed = true;
    if (r->failed || !n) return;
    MslDiagnostic *list = calloc(n, sizeof *list);
    const char **shown = calloc(n, sizeof *shown);
    size_t *lengths = calloc(n, sizeof *lengths), before = g->n;
    r->failed = !list || !shown || !lengths;
    for (uint32_t i = 0; i < n && !r->failed; i++) {
        int severity = (int)wire_get_u32(r);
        char *file = wire_get_str(r);
        uint32_t line = wire_get_u32(r), column = wire_get_u32(r);
        list[i] = (MslDiagnostic){severity, file, line, column, wire_get_str(r)};
        shown[i] = wire_get_bytes(r, &lengths[i]);
        r->failed |= !list[i].file || !list[i].message;
    }
    bool drop = false;
    for (uint32_t i = 0; i < n && !r->failed; i++) {
        const MslDiagnostic *note = i + 1 < n && list[i + 1].severity == 1 ? &list[i + 1] : NULL;
        if (list[i].severity != 1) drop = is_known(g, before, &list[i], note);
        if (!drop) diagnose_take(g, &list[i], shown[i], lengths[i]);
    }
    if (list) free_list(list, n);
    free(shown), free(lengths);
}

static void take_functions(WireIn *r, RfLibrary *lib, uint32_t *owners, uint32_t number) {
    for (uint32_t i = 0; i < lib->n_constants; i++)
        lib->constants[i].optional |= wire_get_u8(r) != 0;
    for (uint32_t i = 0; i < lib->n_functions && !r->failed; i++) {
        RfFunction *f = &lib->functions[i];
        if (!wire_get_u8(r)) continue;
        owners[i] = number;
        uint32_t n = wire_get_u32(r);
        free(f->constants);
        f->n_constants = 0;
        f->constants = n <= lib->n_constants ? calloc(n + 1, sizeof *f->constants) : NULL;
        r->failed |= !f->constants;
        for (uint32_t k = 0; k < n && !r->failed; k++)
            f->constants[f->n_constants++] = wire_get_u32(r);
        bindings_drop(f);
        for (uint32_t k = 0; k < lib->n_bindings && !r->failed; k++)
            if (wire_get_u8(r)) r->failed |= !rf_bind(f, &lib->bindings[k]);
    }
}

static void read_answer(int fd, Answer *a) {
    char block[1 << 16];
    ssize_t n = read(fd, block, sizeof block);
    if (n > 0) text_add_bytes(&a->bytes, block, (size_t)n);
    if (n > 0 || (n < 0 && errno == EINTR)) return;
    a->ended = true;
    if (n < 0 || a->bytes.failed || a->bytes.n_bytes < 4) return;
    const unsigned char *end = (const unsigned char *)a->bytes.data + a->bytes.n_bytes;
    WireIn last = {end - 4, end, false};
    a->kind = wire_get_u32(&last);
}

// Reads until all parts have answered, or one has no code: then the others work in vain.
static bool read_answers(const Shares *s, Answer *answers) {
    uint32_t left = s->n;
    while (left) {
        struct pollfd polled[MAX_SHARES];
        for (uint32_t i = 0; i < s->n; i++)
            polled[i] = (struct pollfd){answers[i + 1].ended ? -1 : s->part[i + 1].fd, POLLIN, 0};
        if (poll(polled, s->n, -1) < 0 && errno != EINTR) return false;
        for (uint32_t i = 0; i < s->n; i++) {
            Answer *a = &answers[i + 1];
            if (!polled[i].revents) continue;
            read_answer(s->part[i + 1].fd, a);
            left -= a->ended;
            if (a->ended && a->kind != CODE) return a->kind == REPAIRS;
        }
    }
    return true;
}

static void take_repairs(const Answer *a, Repairs *repairs) {
    const unsigned char *data = (const unsigned char *)a->bytes.data;
    WireIn r = {data, data + a->bytes.n_bytes, false};
    size_t n;
    const unsigned char *at = wire_get_bytes(&r, &n);
    for (; at && n >= sizeof(Repair); n -= sizeof(Repair), at += sizeof(Repair)) {
        Repair x;
        memcpy(&x, at, sizeof x);
        repairs_add(repairs, &x);
    }
}

static bool take_answer(Answer *a, uint32_t number, RfLibrary *lib, Diagnoser *g,
                        uint32_t *owners) {
    const unsigned char *data = (const unsigned char *)a->bytes.data;
    WireIn r = {data, data + a->bytes.n_bytes, false};
    take_diagnostics(&r, g);
    take_functions(&r, lib, owners, number);
    a->module.bitcode = wire_get_bytes(&r, &a->module.n_bytes);
    return !r.failed;
}

static bool pack(const AbiModule *modules, uint32_t n, const uint32_t *owners, uint32_t n_functions,
                 unsigned char **bitcode, size_t *n_bytes) {
    WireOut w = {0};
    abi_modules_encode(modules, n, owners, n_functions, &w);
    if (w.failed) {
        wire_free(&w);
        return false;
    }
    free(*bitcode);
    *bitcode = w.data, *n_bytes = w.n_bytes;
    return true;
}

bool shares_end(Shares *s, RfLibrary *lib, Diagnoser *g, Repairs *repairs, unsigned char **bitcode,
                size_t *n_bytes) {
    Answer answers[MAX_SHARES + 1] = {0};
    AbiModule modules[MAX_SHARES + 1] = {{*bitcode, *n_bytes}};
    uint32_t *owners = calloc(lib->n_functions + 1, sizeof *owners);
    bool ok = read_answers(s, answers) && owners;
    for (uint32_t i = 1; ok && i <= s->n; i++)
        if (answers[i].kind == REPAIRS) ok = false, take_repairs(&answers[i], repairs);
    for (uint32_t i = 1; ok && i <= s->n; i++) {
        ok = take_answer(&answers[i], i, lib, g, owners);
        modules[i] = answers[i].module;
    }
    ok = ok && pack(modules, s->n + 1, owners, lib->n_functions, bitcode, n_bytes);
    for (uint32_t i = 1; i <= s->n; i++) text_free(&answers[i].bytes);
    free(owners);
    return ok;
}

void shares_free(Shares *s) {
    if (s->alive[1] && !s->number) {
        close(s->alive[0]);
        close(s->alive[1]); // the parts end
    }
    for (uint32_t i = 1; i <= s->n && !s->number; i++) {
        if (s->part[i].pid) {
            while (waitpid(s->part[i].pid, NULL, 0) < 0 && errno == EINTR) {
            }
        }
        close(s->part[i].fd);
    }
    free(s->made);
    *s = (Shares){0};
}
