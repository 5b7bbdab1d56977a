// SPDX-License-Identifier: Apache-2.0
// run.c: what all isolated devices do alike: code in the child, the beginning of a run, memory of
// the program's own.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "devices/isolate/isolate_int.h"
#include "os/clock.h"

#define GRACE_NS 1000000000u // for the child's own watchdog
#define CODE_NS 30000000000u

// ---- Questions to the child ----

// A driver may compile for minutes: whether the child lives is seen by other means.
static void begin_asking(IsoDevice *d, IsoHost *h) {
    pthread_mutex_lock(&d->code_lock);
    h->deadline_ns = iso_has_own(d) ? 0 : os_now_ns() + CODE_NS;
}

bool iso_ask(IsoDevice *d, IsoKind kind, void *what) {
    IsoHost *h = &d->channels[ISO_CHANNELS];
    begin_asking(d, h);
    bool ok = iso_prepare(d, h) && iso_submit(d, h, kind, what, NULL) && iso_drain(d, h);
    pthread_mutex_unlock(&d->code_lock);
    return ok;
}

static bool ask_with(IsoDevice *d, IsoKind kind, SchemaOf *of, void *what, const DevCache *cache) {
    IsoHost *h = &d->channels[ISO_CHANNELS];
    if (atomic_load(&d->is_lost)) return false;
    begin_asking(d, h);
    h->cache = cache;
    h->n_questions = 0;
    void *shared = iso_prepare(d, h) ? iso_keep(d, h, what, of()->n_bytes) : NULL;
    bool ok = shared && iso_submit(d, h, kind, shared, NULL) && iso_drain(d, h) &&
              iso_take(of, what, shared);
    h->cache = NULL;
    pthread_mutex_unlock(&d->code_lock);
    return ok;
}

bool iso_ask_with(IsoDevice *d, IsoKind kind, SchemaOf *of, void *what) {
    return ask_with(d, kind, of, what, NULL);
}

// ---- Code ----

// What a device asks of a function, where the child sees it: numbers, and those of its arguments.
static RfFunction *put_function(char *at, const RfFunction *from) {
    RfFunction *f = (RfFunction *)(void *)at;
    RfArg *args = (RfArg *)(void *)(at + sizeof *f);
    char *none = (char *)(args + from->n_args); // ""
    *f = *from;
    f->name = f->symbol = f->signature = none;
    f->inputs = f->outputs = NULL;
    f->constants = NULL;
    f->n_inputs = f->n_outputs = f->n_constants = 0;
    f->args = args;
    for (uint32_t i = 0; i < from->n_args; i++) {
        args[i] = from->args[i];
        args[i].name = args[i].condition = args[i].symbol = args[i].given.constant = none;
    }
    return f;
}

static bool load(IsoDevice *d, const DevCodeSource *source, IsoLoad *load) {
    const RfFunction *f = iso_has_own(d) ? source->function : NULL;
    size_t code_bytes = (source->n_bytes + 63) & ~(size_t)63;
    size_t n_bytes = code_bytes + (f ? sizeof *f + f->n_args * sizeof *f->args + 1 : 0);
    char *bytes = iso_range_take(&d->range, n_bytes);
    snprintf(load->why, sizeof load->why, "no memory for it");
    if (!bytes) return false;
    memcpy(bytes, source->bytes, source->n_bytes);
    load->bytes = bytes;
    load->n_bytes = source->n_bytes;
    load->function = f ? put_function(bytes + code_bytes, f) : NULL;
    load->has_cache = iso_has_own(d) && source->cache;
    bool ok = ask_with(d, ISO_LOAD, schema_IsoLoad, load, load->has_cache ? source->cache : NULL);
    iso_range_give(&d->range, bytes, n_bytes);
    // What a device of its own says of code is held against what the compiler says.
    if (ok && load->code && f && load->n_slots != f->n_slots) {
        snprintf(load->why, sizeof load->why, "its arguments are not those of the library");
        return false;
    }
    return ok && load->code;
}

DevCode *iso_load_code(IsoDevice *d, const DevCodeSource *source, DevCode *own, char *why,
                       size_t why_bytes) {
    IsoCode *code = calloc(1, sizeof *code);
    IsoLoad answer = {0};
    if (!code || !load(d, source, &answer)) {
        snprintf(why, why_bytes, "%s",
                 !code                      ? "no memory for it"
                 : atomic_load(&d->is_lost) ? "the device is gone"
                                            : answer.why);
        free(code);
        return NULL;
    }
    *code = (IsoCode){.device = d, .own = own, .code = answer.code};
    code->head.n_slots = own ? own->n_slots : answer.n_slots;
    code->head.threadgroup_bytes = own ? own->threadgroup_bytes : answer.threadgroup_bytes;
    code->head.stack_bytes = own ? own->stack_bytes : answer.stack_bytes;
    code->head.stage = own ? own->stage : NULL;
    return &code->head;
}

void iso_free_code(DevCode *head) {
    IsoCode *code = (IsoCode *)head;
    iso_ask_with(code->device, ISO_UNLOAD, schema_IsoLoad, &(IsoLoad){.code = code->code});
    free(code);
}

// ---- Memory of the program's own ----

void iso_wrapped_use(IsoHost *h, IsoWrapped *w, bool writes) {
    if (!w->written) memcpy(w->shadow, w->host, w->n_bytes);
    if (!writes || w->written) return;
    w->written = true;
    w->next_written = h->written;
    h->written = w;
}

void iso_wrapped_end(IsoHost *h) {
    for (IsoWrapped *w = h->written; w; w = w->next_written) {
        memcpy(w->host, w->shadow, w->n_bytes);
        w->written = false;
    }
    h->written = NULL;
}

// ---- Runs ----

bool iso_run_begin(DevRun *run, DevLimits limits) {
    IsoDevice *d = run->context;
    IsoHost *h = iso_acquire(d);
    memcpy(run->part, &h, sizeof h);
    h->run = run;
    h->first = h->submitted;
    h->n_contexts = 0;
    h->written = NULL;
    h->live_from = NULL;
    h->name_from = NULL;
    h->deadline_ns =
        limits.run_ms ? os_now_ns() + (uint64_t)limits.run_ms * 1000000u + GRACE_NS : 0;
    if (atomic_load(&d->is_lost)) {
        dev_run_fail(run, DEV_FAULT_LOST, 0);
        return true;
    }
    if (!iso_prepare(d, h)) return true; // the run says why
    return iso_submit(d, h, ISO_BEGIN, iso_keep(d, h, &(IsoBegin){limits}, sizeof(IsoBegin)), NULL);
}

// Of memory only what the child has: addresses of the host's would be others there. The same for
// all commands of a run, until the room is used anew.
const AbiLive *iso_live(IsoDevice *d, IsoHost *h, const AbiLive *live) {
    if (!live || h->live_from == live) return live ? h->live : NULL;
    AbiLive *to = iso_keep(d, h, live, sizeof *to);
    AbiSpan *spans = iso_room(d, h, (live->n_spans + 1) * sizeof *spans);
    AbiLiveHandle *handles = iso_keep(d, h, live->handles, (live->mask + 1) * sizeof *handles);
    if (!to || !spans || !handles) return NULL;
    to->spans = spans;
    to->n_spans = 0;
    to->handles = handles;
    for (size_t i = 0; i < live->n_spans; i++)
        if (iso_has_own(d) ||
            iso_range_has(&d->range, (const void *)(uintptr_t)live->spans[i].start))
            spans[to->n_spans++] = live->spans[i];
    h->live_from = live;
    return h->live = to;
}

// A kernel's name where the child sees it, for as long as the device lives: a GPU says late what
// went wrong.
const char *iso_kernel_name(IsoDevice *d, IsoHost *h) {
    const char *from = atomic_load_explicit(&h->run->kernel, memory_order_relaxed);
    if (!from || !iso_has_own(d)) return NULL;
    if (h->name_from == from) return h->name;
    pthread_mutex_lock(&d->lock);
    IsoName *n = d->names;
    while (n && strcmp(n->text, from) != 0) n = n->next;
    if (!n && (n = malloc(sizeof *n))) {
        char *text = iso_range_take(&d->range, strlen(from) + 1);
        if (text) strcpy(text, from);
        *n = (IsoName){d->names, text ? text : ""};
        d->names = n;
    }
    pthread_mutex_unlock(&d->lock);
    h->name_from = from;
    return h->name = n ? n->text : NULL;
}
