// SPDX-License-Identifier: Apache-2.0
// serve.c: commands of a channel, done by the device that the process is for. Counters are kept
// here as well as in the channel: what a kernel writes over those there is put right by the next
// command, or is nonsense that ends the process.
#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "devices/cpu/texture/view_pool.h"
#include "devices/isolate/child.h"
#include "os/clock.h"
#include "os/futex.h"

#define SPIN_NS 2000u
#define SLEEP_NS 500000000u // at most: a kernel may have written over the mark that says so

typedef struct Server {
    IsoChannel *channel;
    unsigned done;
    bool running; // between begin and end
    pthread_mutex_t notes_lock;
    unsigned notes; // written; under the lock
    DevRun run;
} Server;

static void tell(Server *s) {
    atomic_fetch_add(&s->channel->event, 1);
    if (atomic_load(&s->channel->host_sleeps)) os_futex_wake_shared(&s->channel->event);
}

// ---- Notes ----

// A place for the next one, once the host has read one of before; notes_lock is held.
static IsoNote *next_note(Server *s) {
    IsoChannel *c = s->channel;
    for (;;) {
        unsigned read = atomic_load(&c->notes_read);
        if (s->notes - read < ISO_NOTES) return &c->notes[s->notes % ISO_NOTES];
        atomic_fetch_add(&c->event, 1);
        os_futex_wake_shared(&c->event);
        os_futex_wait_shared(&c->notes_read, read, &(struct timespec){0, 10000000});
    }
}

static void note_written(Server *s) {
    atomic_store(&s->channel->notes_written, ++s->notes);
    tell(s);
}

// Puts a string behind the others; where it begins. What does not fit is cut.
static uint64_t put(IsoNote *note, size_t *at, const char *text) {
    size_t start = *at, n = strnlen(text, sizeof note->text);
    if (start >= sizeof note->text - 1) return sizeof note->text - 1; // the zero at the end
    if (n > sizeof note->text - 2 - start) n = sizeof note->text - 2 - start;
    memcpy(note->text + start, text, n);
    note->text[start + n] = '\0';
    *at = start + n + 1;
    return start;
}

static void log_note(void *context, uint32_t type, const char *subsystem_category,
                     const char *format, const uint64_t *args, uint32_t n_args) {
    Server *s = context;
    const char *subsystem = subsystem_category ? subsystem_category : "";
    const char *category = subsystem_category ? subsystem + strlen(subsystem) + 1 : "";
    pthread_mutex_lock(&s->notes_lock);
    IsoNote *note = next_note(s);
    size_t at = 0;
    memset(note->text, 0, sizeof note->text);
    note->is_report = 0;
    note->command = s->done;
    note->context = 0;
    note->type = type;
    note->n_args = n_args < ISO_NOTE_ARGS ? n_args : ISO_NOTE_ARGS;
    put(note, &at, format ? format : "");
    put(note, &at, subsystem);
    put(note, &at, category);
    for (uint32_t i = 0; i < note->n_args; i++) {
        uint64_t tag = args[2 * i], value = args[2 * i + 1];
        if ((tag & 255) == ISO_TAG_STRING && value)
            value = put(note, &at, (const char *)(uintptr_t)value);
        note->args[2 * i] = tag;
        note->args[2 * i + 1] = value;
    }
    note_written(s);
    pthread_mutex_unlock(&s->notes_lock);
}

static void report_note(void *context, void *dispatch, const AbiReport *report) {
    Server *s = context;
    pthread_mutex_lock(&s->notes_lock);
    IsoNote *note = next_note(s);
    note->is_report = 1;
    note->command = s->done;
    note->context = (uint64_t)(uintptr_t)dispatch;
    note->report = *report;
    note_written(s);
    pthread_mutex_unlock(&s->notes_lock);
}

// ---- Commands ----

static void begin(Server *s, const IsoBegin *what) {
    IsoChannel *c = s->channel;
    atomic_store(&c->fault, DEV_FAULT_NONE);
    c->kernel[0] = '\0';
    s->run = (DevRun){.context = iso_served.context,
                      .log = log_note,
                      .log_context = s,
                      .report = report_note,
                      .report_context = s};
    s->running = iso_served.table->run_begin(&s->run, what->limits);
    if (!s->running) dev_run_fail(&s->run, DEV_FAULT_NO_MEMORY, 0);
}

static void dispatch(Server *s, const IsoDispatch *what) {
    DevCode *code = what->n ? what->dispatches[0].code : NULL;
    uint64_t before = code ? atomic_load(&code->spent_ns) : 0;
    atomic_store(&s->run.kernel, what->kernel);
    iso_served.table->dispatch(&s->run, what->dispatches, (size_t)what->n);
    if (code)
        atomic_store(&s->channel->spent_ns[s->done % ISO_COMMANDS],
                     atomic_load(&code->spent_ns) - before);
}

static void load(Server *s, IsoLoad *what) {
    const DevCodeSource source = {.bytes = what->bytes,
                                  .n_bytes = (size_t)what->n_bytes,
                                  .function = what->function,
                                  .cache = what->has_cache ? iso_cache(s->channel) : NULL};
    const DevCode *code =
        iso_served.table->code_load(iso_served.context, &source, what->why, sizeof what->why);
    what->code = (uint64_t)(uintptr_t)code;
    if (!code) return;
    what->n_slots = code->n_slots;
    what->threadgroup_bytes = code->threadgroup_bytes;
    what->stack_bytes = code->stack_bytes;
}

static void copy(DevRun *now, IsoCopy *what) {
    what->ok = dev_copy(iso_served.table, now, what->to, what->from, (size_t)what->n_bytes);
}

static void fill(DevRun *now, IsoFill *what) {
    what->ok = dev_fill(iso_served.table, now, what->to, what->value, (size_t)what->n_bytes);
}

static void render(Server *s, const IsoRender *what) {
    iso_served.table->render(&s->run, what->pass, what->draws, (size_t)what->n_draws);
}

// The first fault of a run, for the host.
static void note_fault(const Server *s, unsigned fault, bool is_first) {
    IsoChannel *c = s->channel;
    if (is_first && fault != DEV_FAULT_NONE) {
        c->address = s->run.address;
        c->faulting = s->done;
        snprintf(c->kernel, sizeof c->kernel, "%s", s->run.faulting ? s->run.faulting : "");
    }
    atomic_store(&c->fault, fault);
}

static void run(Server *s, const IsoCommand *command) {
    bool failed = atomic_load(&s->run.fault) != DEV_FAULT_NONE, running = s->running;
    DevRun *now = running ? &s->run : DEV_OUTSIDE(iso_served.context);
    switch ((IsoKind)command->kind) {
    case ISO_BEGIN: begin(s, command->what); break;
    case ISO_END:
        if (s->running) iso_served.table->run_end(&s->run);
        s->running = false;
        break;
    case ISO_DISPATCH:
        if (!failed) dispatch(s, command->what);
        break;
    case ISO_RENDER:
        if (!failed) render(s, command->what);
        break;
    case ISO_COPY:
        if (!failed) copy(now, command->what);
        break;
    case ISO_FILL:
        if (!failed) fill(now, command->what);
        break;
    case ISO_LOAD: load(s, command->what); break;
    case ISO_UNLOAD:
        iso_served.table->code_free((DevCode *)(uintptr_t)((IsoLoad *)command->what)->code);
        break;
    case ISO_POOL: cpu_view_pool_use(command->what); break;
    case ISO_FINISH:
    case ISO_USE:
    case ISO_SYNCHRONIZE:
    case ISO_MOVE:
    case ISO_MEMORY:
    case ISO_HANDLE:
    case ISO_VIEWS: iso_serve_own((IsoKind)command->kind, command->what, now, failed); break;
    case ISO_N_KINDS:
    default: _exit(5); // no command of the host's
    }
    if (running || s->running) note_fault(s, (unsigned)atomic_load(&s->run.fault), !failed);
    if (iso_served.table->is_lost && iso_served.table->is_lost(iso_served.context))
        atomic_store(&iso_served.head->is_lost, 1);
}

// How many there are to do; sleeps until there is one.
static unsigned wait(Server *s) {
    IsoChannel *c = s->channel;
    uint64_t until = os_now_ns() + SPIN_NS;
    for (;;) {
        unsigned submitted = atomic_load(&c->submitted), n = submitted - s->done;
        if (n > ISO_COMMANDS) _exit(6); // somebody wrote over the counter
        if (n) return n;
        if (os_now_ns() < until) {
            for (int i = 0; i < 16; i++) os_relax();
            continue;
        }
        atomic_store(&c->child_sleeps, 1);
        if (atomic_load(&c->submitted) == submitted)
            os_futex_wait_shared(&c->submitted, submitted, &(struct timespec){0, SLEEP_NS});
        atomic_store(&c->child_sleeps, 0);
    }
}

void *iso_serve(void *channel) {
    Server *s = calloc(1, sizeof *s);
    if (!s) _exit(7);
    s->channel = channel;
    pthread_mutex_init(&s->notes_lock, NULL);
    for (;;) {
        for (unsigned n = wait(s); n > 0; n--) {
            run(s, &s->channel->commands[s->done % ISO_COMMANDS]);
            atomic_store(&s->channel->done, ++s->done);
        }
        tell(s);
    }
    return NULL;
}
