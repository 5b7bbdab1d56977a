// SPDX-License-Identifier: Apache-2.0
// channel.c: commands to the child, and what comes back. Commands do not wait for each other's end:
// a run of a hundred dispatches wakes the child once. The host waits for all of them when it must
// see results, and looks now and then whether there is still somebody to wait for.
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include "base/array.h"
#include "devices/isolate/isolate_int.h"
#include "os/clock.h"
#include "os/futex.h"

#define SPIN_NS 3000u // longer costs more where processors are few: they spin in the child's place
#define ALONE_NS 2000u
#define LOOK_NS 10000000u      // how often a sleeper looks whether the child lives
#define SILENCE_NS 5000000000u // a child whose heart stands still for so long is dead
#define MAX_SPENT_NS 3600000000000u
#define MAX_STORED ((uint64_t)1 << 28) // bytes of code that a cache is given
#define MAX_QUESTIONS 64u              // of one command

IsoHost *iso_acquire(IsoDevice *d) {
    IsoHost *found = NULL;
    pthread_mutex_lock(&d->lock);
    while (!found) {
        for (size_t i = 0; i < ISO_CHANNELS && !found; i++)
            if (!d->channels[i].busy) found = &d->channels[i];
        if (!found) pthread_cond_wait(&d->freed, &d->lock);
    }
    found->busy = true;
    pthread_mutex_unlock(&d->lock);
    return found;
}

void iso_release(IsoDevice *d, IsoHost *h) {
    h->run = NULL;
    pthread_mutex_lock(&d->lock);
    h->busy = false;
    pthread_cond_signal(&d->freed);
    pthread_mutex_unlock(&d->lock);
}

// ---- Commands ----

void *iso_room(IsoDevice *d, IsoHost *h, size_t n_bytes) {
    size_t n = (n_bytes + 63) & ~(size_t)63;
    if (n <= ISO_ROOM - h->used) {
        void *at = h->room + h->used;
        h->used += n;
        return at;
    }
    IsoBlock *block = malloc(sizeof *block);
    void *at = block ? iso_range_take(&d->range, n) : NULL;
    if (!at) {
        free(block);
        h->no_memory = true;
        return NULL;
    }
    *block = (IsoBlock){h->blocks, at, n};
    h->blocks = block;
    return at;
}

void *iso_keep(IsoDevice *d, IsoHost *h, const void *bytes, size_t n_bytes) {
    void *to = bytes ? iso_room(d, h, n_bytes ? n_bytes : 1) : NULL;
    if (to) memcpy(to, bytes, n_bytes);
    return to;
}

bool iso_prepare(IsoDevice *d, IsoHost *h) {
    h->no_memory = false;
    if (h->n_flight < ISO_COMMANDS && h->used < ISO_ROOM / 2) return true;
    return iso_drain(d, h);
}

bool iso_submit(IsoDevice *d, IsoHost *h, IsoKind kind, void *what, DevCode *code) {
    if (h->no_memory) {
        if (h->run) dev_run_fail(h->run, DEV_FAULT_NO_MEMORY, 0);
        return false;
    }
    (void)d;
    IsoChannel *c = h->shared;
    unsigned place = h->submitted % ISO_COMMANDS;
    h->flight[place].kernel =
        h->run ? atomic_load_explicit(&h->run->kernel, memory_order_relaxed) : NULL;
    h->flight[place].code = code;
    atomic_store_explicit(&c->spent_ns[place], 0, memory_order_relaxed);
    c->commands[place] = (IsoCommand){kind, what};
    h->n_flight++;
    h->has_work |= kind != ISO_BEGIN && kind != ISO_END;
    atomic_store(&c->submitted, ++h->submitted);
    if (kind != ISO_BEGIN && atomic_load(&c->child_sleeps)) os_futex_wake_shared(&c->submitted);
    return true;
}

// ---- Notes ----

static void *context_of(const IsoHost *h, uint64_t number) {
    return number && number <= h->n_contexts ? h->contexts[number - 1] : NULL;
}

void *iso_context(IsoHost *h, void *context) {
    if (!context) return NULL;
    if (h->n_contexts && h->contexts[h->n_contexts - 1] == context)
        return (void *)(uintptr_t)h->n_contexts;
    if (!array_reserve(&h->contexts, &h->contexts_capacity, h->n_contexts + 1)) {
        h->no_memory = true;
        return NULL;
    }
    h->contexts[h->n_contexts++] = context;
    return (void *)(uintptr_t)h->n_contexts;
}

static void deliver_log(const DevRun *run, IsoNote *note) {
    size_t at = strlen(note->text) + 1; // behind the format
    const char *subsystem = at < sizeof note->text ? note->text + at : NULL;
    // Two strings must be there, subsystem and category.
    const char *end = note->text + sizeof note->text;
    size_t n = subsystem ? strlen(subsystem) + 1 : 0;
    if (subsystem && subsystem + n >= end) subsystem = NULL;
    for (uint32_t i = 0; i < note->n_args; i++) {
        uint64_t *value = &note->args[2 * i + 1];
        if ((note->args[2 * i] & 255) != ISO_TAG_STRING || !*value) continue;
        *value = *value < sizeof note->text ? (uint64_t)(uintptr_t)(note->text + *value)
                                            : (uint64_t)(uintptr_t)"";
    }
    if (run->log)
        run->log(run->log_context, note->type, subsystem, note->text, note->args, note->n_args);
}

static void deliver_report(const IsoHost *h, const IsoNote *note) {
    const DevRun *run = h->run;
    void *context = context_of(h, note->context);
    if (context && run->report) run->report(run->report_context, context, &note->report);
}

// What commands of the run under way say, each copied once; of others nothing is taken.
static void deliver(IsoHost *h) {
    IsoChannel *c = h->shared;
    unsigned written = atomic_load_explicit(&c->notes_written, memory_order_acquire);
    h->broken |= written - h->notes > ISO_NOTES;
    if (written == h->notes || h->broken) return;
    IsoNote *note = malloc(sizeof *note);
    for (; h->notes != written; h->notes++) {
        if (!note || !h->run) continue;
        if (!iso_take(schema_IsoNote, note, &c->notes[h->notes % ISO_NOTES]) ||
            note->command - h->first >= h->submitted - h->first)
            continue;
        if (note->is_report)
            deliver_report(h, note);
        else
            deliver_log(h->run, note);
    }
    free(note);
    atomic_store(&c->notes_read, written);
    os_futex_wake_shared(&c->notes_read);
}

// ---- Questions ----

// Keeps what lies in the store, as it is now.
static void store_code(const IsoDevice *d, const DevCache *cache, const unsigned char key[32],
                       const void *bytes, uint64_t n_bytes) {
    if (n_bytes > MAX_STORED || !iso_range_holds(&d->store, bytes, n_bytes)) return;
    void *copy = malloc(n_bytes ? (size_t)n_bytes : 1);
    if (copy) {
        iso_fetch(copy, bytes, (size_t)n_bytes);
        cache->store(key, copy, (size_t)n_bytes);
    }
    free(copy);
}

// What the child wants to know of the cache, and gives to it.
static void answer(IsoDevice *d, IsoHost *h) {
    IsoQuestion *q = &h->shared->question;
    unsigned what = atomic_load(&q->state);
    if (!h->cache || (what != ISO_FIND && what != ISO_STORE)) return;
    h->broken |= ++h->n_questions > MAX_QUESTIONS;
    if (h->broken) return;
    struct {
        unsigned char key[sizeof q->key];
        const void *bytes;
        uint64_t n_bytes;
    } asked;
    iso_fetch(asked.key, q->key, sizeof asked.key);
    iso_fetch(&asked.bytes, &q->bytes, sizeof asked.bytes);
    iso_fetch(&asked.n_bytes, &q->n_bytes, sizeof asked.n_bytes);
    if (what == ISO_STORE) store_code(d, h->cache, asked.key, asked.bytes, asked.n_bytes);
    if (what == ISO_FIND) {
        size_t n_bytes = 0;
        void *found = h->cache->find(asked.key, &n_bytes);
        q->bytes = iso_keep(d, h, found, n_bytes);
        q->n_bytes = n_bytes;
        free(found);
    }
    atomic_store(&q->state, ISO_ANSWERED);
    os_futex_wake_shared(&q->state);
}

// ---- Waiting ----

static bool drained(const IsoHost *h) {
    return atomic_load_explicit(&h->shared->done, memory_order_acquire) == h->submitted;
}

// False: the child is gone, or had to be ended; *fault is then what to call it.
static bool wait(IsoDevice *d, IsoHost *h, DevFault *fault) {
    IsoChannel *c = h->shared;
    uint64_t start = os_now_ns(), now = start, beat_ns = start;
    unsigned beats = atomic_load(&d->head->beats);
    // A run that has only begun has woken nobody yet.
    if (atomic_load(&c->child_sleeps)) os_futex_wake_shared(&c->submitted);
    while (!drained(h) && now - start < SPIN_NS) {
        for (int i = 0; i < 16 && !drained(h); i++) os_relax();
        now = os_now_ns();
    }
    while (!drained(h)) {
        unsigned seen = atomic_load(&c->event);
        deliver(h);
        answer(d, h);
        atomic_store(&c->host_sleeps, 1);
        if (!drained(h) && !atomic_load(&d->is_lost))
            os_futex_wait_shared(&c->event, seen, &(struct timespec){0, LOOK_NS});
        atomic_store(&c->host_sleeps, 0);
        if (drained(h)) break;
        *fault = DEV_FAULT_LOST;
        if (!iso_is_alive(d)) return false;
        now = os_now_ns();
        unsigned beats_now = atomic_load(&d->head->beats);
        if (beats_now != beats) beats = beats_now, beat_ns = now;
        bool late = h->deadline_ns && now > h->deadline_ns;
        // A kernel that writes everywhere meets the counters too.
        h->broken |= h->submitted - atomic_load(&c->done) > h->n_flight && !drained(h);
        if (!late && !h->broken && now - beat_ns < SILENCE_NS) continue;
        if (late) *fault = DEV_FAULT_TIMEOUT; // its own watchdog did not end it
        iso_lose(d);
        return false;
    }
    deliver(h);
    if (h->broken) iso_lose(d);
    return !h->broken;
}

// The first fault of the run, which a command in flight must have. False: none can be like that.
static bool take_fault(const IsoDevice *d, IsoHost *h) {
    IsoChannel *c = h->shared;
    unsigned fault = atomic_load(&c->fault);
    if (!fault || !h->run || atomic_load(&h->run->fault) != DEV_FAULT_NONE) return true;
    uint32_t number;
    uint64_t address;
    iso_fetch(&number, &c->faulting, sizeof number);
    iso_fetch(&address, &c->address, sizeof address);
    if (fault > DEV_FAULT_SIZE || h->submitted - 1 - number >= h->n_flight) return false;
    static _Thread_local char names[sizeof c->kernel]; // the run's thread makes the message
    if (iso_has_own(d)) iso_fetch(names, c->kernel, sizeof names - 1);
    bool named = iso_has_own(d) && *names; // where no code of strangers wrote it
    atomic_store(&h->run->kernel, named ? names : h->flight[number % ISO_COMMANDS].kernel);
    dev_run_fail(h->run, (DevFault)fault, address);
    return true;
}

static void take_times(IsoHost *h) {
    for (unsigned i = 0; i < h->n_flight; i++) {
        unsigned place = (h->submitted - 1 - i) % ISO_COMMANDS;
        uint64_t ns = atomic_load_explicit(&h->shared->spent_ns[place], memory_order_relaxed);
        if (h->flight[place].code && ns < MAX_SPENT_NS)
            atomic_fetch_add_explicit(&h->flight[place].code->spent_ns, ns, memory_order_relaxed);
    }
}

bool iso_drain(IsoDevice *d, IsoHost *h) {
    DevFault fault = DEV_FAULT_LOST;
    bool alive = !atomic_load(&d->is_lost) && wait(d, h, &fault);
    if (alive && !take_fault(d, h)) {
        iso_lose(d);
        alive = false;
    }
    if (alive) {
        take_times(h);
        if (atomic_load(&d->head->is_lost)) iso_lose(d); // and with it what runs without an end
    } else if (h->run) {
        dev_run_fail(h->run, fault, 0);
    }
    h->n_flight = 0;
    h->has_work = false;
    h->used = 0;
    h->live_from = NULL;
    for (IsoBlock *b = h->blocks, *next; b; b = next) {
        next = b->next;
        iso_range_give(&d->range, b->at, b->n_bytes);
        free(b);
    }
    h->blocks = NULL;
    return alive && (!h->run || atomic_load(&h->run->fault) == DEV_FAULT_NONE);
}
