// SPDX-License-Identifier: Apache-2.0
// device.c: the isolated device: the CPU device in a process of its own. A kernel that breaks
// everything breaks that process; the application hears that the device is gone, and goes on.
//
// Promised: code of kernels reads and writes the memory of this device (its buffers, textures,
// constants) and no other memory of the application; it opens no file and no socket and starts
// nothing. Within the device's memory nothing is promised without shader validation.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "cpu/cpu.h"
#include "isolate/isolate_int.h"
#include "os/clock.h"

#define GRACE_NS 1000000000u // for the child's own watchdog
#define CODE_NS 30000000000u

extern const DevTable cpu_device;

// ---- Life ----

static void *open_isolated(unsigned index, DevFacts *facts, char *why, size_t why_bytes) {
    if (!cpu_device.open(index, facts, why, why_bytes)) return NULL;
    IsoDevice *d = iso_start(why, why_bytes);
    if (!d) return NULL;
    facts->is_host = false;
    facts->is_apart = true;
    char name[sizeof facts->name];
    snprintf(name, sizeof name, "%.115s, isolated", facts->name);
    memcpy(facts->name, name, sizeof name);
    return d;
}

static void close_isolated(void *context) { iso_stop(context); }

static bool is_lost(void *context) { return !iso_is_alive(context); }

// ---- Memory ----

// Of all devices: copies outside of runs name none.
static pthread_mutex_t wrapped_lock = PTHREAD_MUTEX_INITIALIZER;
static IsoWrapped *wrapped;

static bool make_memory(void *context, size_t n_bytes, DevStorage storage, DevMemory *memory) {
    IsoDevice *d = context;
    (void)storage;
    char *at = iso_range_take(&d->range, n_bytes);
    if (at) *memory = (DevMemory){.address = at, .host = at, .n_bytes = n_bytes};
    return at != NULL;
}

static bool wrap_memory(void *context, DevMemory *memory) {
    IsoDevice *d = context;
    IsoWrapped *w = calloc(1, sizeof *w);
    char *shadow = w ? iso_range_take(&d->range, memory->n_bytes) : NULL;
    if (!shadow) {
        free(w);
        return false;
    }
    *w = (IsoWrapped){.shadow = shadow, .host = memory->host, .n_bytes = memory->n_bytes};
    pthread_mutex_lock(&wrapped_lock);
    w->next = wrapped;
    wrapped = w;
    pthread_mutex_unlock(&wrapped_lock);
    memory->address = shadow;
    memory->part = w;
    return true;
}

static void free_memory(void *context, DevMemory *memory) {
    IsoDevice *d = context;
    IsoWrapped *w = memory->part;
    if (w) {
        pthread_mutex_lock(&wrapped_lock);
        IsoWrapped **at = &wrapped;
        while (*at != w) at = &(*at)->next;
        *at = w->next;
        pthread_mutex_unlock(&wrapped_lock);
        free(w);
    }
    iso_range_give(&d->range, memory->address, memory->n_bytes);
}

// Outside of runs the program's memory is what counts, not the copy for the child.
static char *outside(const void *address) {
    char *at = (char *)(uintptr_t)address;
    pthread_mutex_lock(&wrapped_lock);
    for (const IsoWrapped *w = wrapped; w; w = w->next)
        if (at >= w->shadow && (size_t)(at - w->shadow) < w->n_bytes) {
            at = w->host + (at - w->shadow);
            break;
        }
    pthread_mutex_unlock(&wrapped_lock);
    return at;
}

// ---- Code ----

bool iso_ask(IsoDevice *d, IsoKind kind, void *what) {
    IsoHost *h = &d->channels[ISO_CHANNELS];
    pthread_mutex_lock(&d->code_lock);
    h->deadline_ns = os_now_ns() + CODE_NS;
    bool ok = iso_prepare(d, h) && iso_submit(d, h, kind, what, NULL) && iso_drain(d, h);
    pthread_mutex_unlock(&d->code_lock);
    return ok;
}

// Tells the child to load or to unload, and waits for it.
static bool ask_for_code(IsoDevice *d, IsoKind kind, IsoLoad *load) {
    IsoHost *h = &d->channels[ISO_CHANNELS];
    pthread_mutex_lock(&d->code_lock);
    h->deadline_ns = os_now_ns() + CODE_NS;
    IsoLoad *shared = iso_prepare(d, h) ? iso_keep(d, h, load, sizeof *load) : NULL;
    bool ok = shared && iso_submit(d, h, kind, shared, NULL) && iso_drain(d, h);
    if (ok) memcpy(load, shared, sizeof *load);
    load->why[sizeof load->why - 1] = '\0';
    pthread_mutex_unlock(&d->code_lock);
    return ok;
}

static DevCode *load_code(void *context, const DevCodeSource *source, char *why, size_t why_bytes) {
    IsoDevice *d = context;
    IsoCode *code = calloc(1, sizeof *code);
    // What it says of itself is read here: an answer of the child's would be its own to choose.
    DevCode *own = code ? cpu_code_load(source->bytes, source->n_bytes, why, why_bytes) : NULL;
    char *bytes = own ? iso_range_take(&d->range, source->n_bytes) : NULL;
    IsoLoad load = {.bytes = bytes, .n_bytes = source->n_bytes};
    if (own) snprintf(load.why, sizeof load.why, "no memory for it");
    if (bytes) memcpy(bytes, source->bytes, source->n_bytes);
    bool asked = bytes && ask_for_code(d, ISO_LOAD, &load);
    if (bytes) iso_range_give(&d->range, bytes, source->n_bytes);
    if (!asked || !load.code) {
        if (own)
            snprintf(why, why_bytes, "%s",
                     atomic_load(&d->is_lost) ? "the device is gone" : load.why);
        cpu_code_free(own);
        free(code);
        return NULL;
    }
    *code = (IsoCode){.device = d, .own = own, .code = load.code};
    code->head.n_slots = own->n_slots;
    code->head.threadgroup_bytes = own->threadgroup_bytes;
    code->head.stack_bytes = own->stack_bytes;
    code->head.stage = own->stage;
    return &code->head;
}

static void free_code(DevCode *head) {
    IsoCode *code = (IsoCode *)head;
    if (!code) return;
    if (!atomic_load(&code->device->is_lost))
        ask_for_code(code->device, ISO_UNLOAD, &(IsoLoad){.code = code->code});
    cpu_code_free(code->own);
    free(code);
}

// ---- Runs ----

static bool failed(const DevRun *run) { return atomic_load(&run->fault) != DEV_FAULT_NONE; }

static bool begin(DevRun *run, DevLimits limits) {
    IsoDevice *d = run->context;
    IsoHost *h = iso_acquire(d);
    memcpy(run->part, &h, sizeof h);
    h->run = run;
    h->n_contexts = 0;
    h->written = NULL;
    h->live_from = NULL;
    h->deadline_ns =
        limits.run_ms ? os_now_ns() + (uint64_t)limits.run_ms * 1000000u + GRACE_NS : 0;
    if (atomic_load(&d->is_lost)) {
        dev_run_fail(run, DEV_FAULT_LOST, 0);
        return true;
    }
    if (!iso_prepare(d, h)) return true; // the run says why
    return iso_submit(d, h, ISO_BEGIN, iso_keep(d, h, &(IsoBegin){limits}, sizeof(IsoBegin)), NULL);
}

static bool finish(DevRun *run) {
    IsoHost *h = iso_host(run);
    return h->has_work ? iso_drain(run->context, h) : !failed(run);
}

static void end(DevRun *run) {
    IsoDevice *d = run->context;
    IsoHost *h = iso_host(run);
    finish(run);
    for (IsoWrapped *w = h->written; w; w = w->next_written) {
        memcpy(w->host, w->shadow, w->n_bytes);
        w->written = false;
    }
    h->no_memory = false;
    if (!atomic_load(&d->is_lost)) iso_submit(d, h, ISO_END, NULL, NULL);
    iso_release(d, h);
}

static void use(DevRun *run, const DevMemory *memory, bool writes) {
    IsoHost *h = iso_host(run);
    IsoWrapped *w = memory->part;
    if (!w) return;
    if (!w->written) memcpy(w->shadow, w->host, w->n_bytes);
    if (!writes || w->written) return;
    w->written = true;
    w->next_written = h->written;
    h->written = w;
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
        if (iso_range_has(&d->range, (const void *)(uintptr_t)live->spans[i].start))
            spans[to->n_spans++] = live->spans[i];
    h->live_from = live;
    return h->live = to;
}

static bool dispatch(DevRun *run, const DevDispatch *dispatches, size_t n) {
    IsoDevice *d = run->context;
    IsoHost *h = iso_host(run);
    if (failed(run) || !iso_prepare(d, h)) return false;
    IsoDispatch *what = iso_room(d, h, sizeof *what);
    DevDispatch *to = iso_keep(d, h, dispatches, n * sizeof *to);
    DevCode *first = NULL;
    for (size_t i = 0; to && i < n; i++) {
        const DevDispatch *from = &dispatches[i];
        DevCode *better = from->better ? atomic_load(from->better) : NULL;
        DevCode *code = better ? better : from->code;
        DevDispatch *t = &to[i];
        first = first ? first : code;
        t->code = (DevCode *)(uintptr_t)iso_theirs(code);
        t->better = NULL;
        t->args = iso_keep(d, h, from->args, code->n_slots * sizeof *from->args);
        t->lengths = iso_keep(d, h, from->lengths, code->n_slots * sizeof *from->lengths);
        t->live = iso_live(d, h, from->live);
        t->context = iso_context(h, from->context);
    }
    if (what) *what = (IsoDispatch){n, to};
    return iso_submit(d, h, ISO_DISPATCH, what, first);
}

// ---- Copies: by the child, in order, where it sees both sides; else by the host, after all ----

static bool copy(DevRun *run, void *to, const void *from, size_t n_bytes) {
    IsoDevice *d = run ? run->context : NULL;
    if (!run) {
        memmove(outside(to), outside(from), n_bytes);
        return true;
    }
    IsoHost *h = iso_host(run);
    if (failed(run)) return false;
    if (iso_range_has(&d->range, to) && iso_range_has(&d->range, from)) {
        if (!iso_prepare(d, h)) return false;
        IsoCopy c = {to, from, n_bytes};
        return iso_submit(d, h, ISO_COPY, iso_keep(d, h, &c, sizeof c), NULL);
    }
    if (!finish(run)) return false;
    memmove(to, from, n_bytes);
    return true;
}

static bool fill(DevRun *run, void *to, uint8_t value, size_t n_bytes) {
    if (!run) {
        memset(outside(to), value, n_bytes);
        return true;
    }
    IsoDevice *d = run->context;
    IsoHost *h = iso_host(run);
    if (failed(run) || !iso_prepare(d, h)) return false;
    IsoFill f = {to, n_bytes, value};
    return iso_submit(d, h, ISO_FILL, iso_keep(d, h, &f, sizeof f), NULL);
}

static bool move(DevRun *run, const DevMove *m) {
    if (run && (failed(run) || !finish(run))) return false;
    DevMove there = *m;
    if (!run) there.from.at = outside(m->from.at), there.to.at = outside(m->to.at);
    dev_host_move(&there);
    return true;
}

const DevTable isolated_device = {
    .name = "isolated",
    .isolates = "cpu",
    .open = open_isolated,
    .close = close_isolated,
    .is_lost = is_lost,
    .memory_make = make_memory,
    .memory_free = free_memory,
    .memory_wrap = wrap_memory,
    .texture_make = iso_texture_make,
    .sampler_make = iso_sampler_make,
    .tensor_make = iso_tensor_make,
    .handle_free = iso_handle_free,
    .views_take = iso_views_take,
    .views_give = iso_views_give,
    .view_set = iso_view_set,
    .view_at = iso_view_at,
    .code_load = load_code,
    .code_free = free_code,
    .run_begin = begin,
    .run_end = end,
    .finish = finish,
    .use = use,
    .dispatch = dispatch,
    .render = iso_render,
    .copy = copy,
    .fill = fill,
    .move = move,
};
