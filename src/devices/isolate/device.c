// SPDX-License-Identifier: Apache-2.0
// device.c: the isolated CPU device: the CPU device in a process of its own. A kernel that breaks
// everything breaks that process; the application hears that the device is gone, and goes on.
//
// Promised: code of kernels reads and writes the memory of this device (its buffers, textures,
// constants) and no other memory of the application; it opens no file and no socket and starts
// nothing. Within the device's memory nothing is promised without shader validation.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "devices/cpu/cpu.h"
#include "devices/isolate/isolate_int.h"

extern const DevTable cpu_device;

// ---- Life ----

static void *open_isolated(unsigned index, DevFacts *facts, char *why, size_t why_bytes) {
    if (!cpu_device.open(index, facts, why, why_bytes)) return NULL;
    IsoDevice *d = iso_start("cpu", 0, false, why, why_bytes);
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

static DevCode *load_code(void *context, const DevCodeSource *source, char *why, size_t why_bytes) {
    // What it says of itself is read here: an answer of the child's would be its own to choose.
    DevCode *own = cpu_code_load(source->bytes, source->n_bytes, why, why_bytes);
    DevCode *code = own ? iso_load_code(context, source, own, why, why_bytes) : NULL;
    if (!code) cpu_code_free(own);
    return code;
}

static void free_code(DevCode *head) {
    if (!head) return;
    DevCode *own = ((IsoCode *)head)->own;
    iso_free_code(head);
    cpu_code_free(own);
}

// ---- Runs ----

static bool failed(const DevRun *run) { return atomic_load(&run->fault) != DEV_FAULT_NONE; }

static bool finish(DevRun *run) {
    IsoHost *h = iso_host(run);
    return h->has_work ? iso_drain(run->context, h) : !failed(run);
}

static void end(DevRun *run) {
    IsoDevice *d = run->context;
    IsoHost *h = iso_host(run);
    finish(run);
    iso_wrapped_end(h);
    h->no_memory = false;
    if (!atomic_load(&d->is_lost)) iso_submit(d, h, ISO_END, NULL, NULL);
    iso_release(d, h);
}

static void use(DevRun *run, const DevMemory *memory, bool writes) {
    if (memory->part) iso_wrapped_use(iso_host(run), memory->part, writes);
}

// ---- Copies: by the child, in order, where it sees both sides; else by the host, after all ----

static bool copy(DevRun *run, void *to, const void *from, size_t n_bytes) {
    if (dev_is_outside(run)) {
        memmove(outside(to), outside(from), n_bytes);
        return true;
    }
    IsoDevice *d = run->context;
    IsoHost *h = iso_host(run);
    if (failed(run)) return false;
    if (iso_range_has(&d->range, to) && iso_range_has(&d->range, from)) {
        if (!iso_prepare(d, h)) return false;
        IsoCopy c = {to, from, n_bytes, false};
        return iso_submit(d, h, ISO_COPY, iso_keep(d, h, &c, sizeof c), NULL);
    }
    if (!finish(run)) return false;
    memmove(to, from, n_bytes);
    return true;
}

static bool fill(DevRun *run, void *to, uint8_t value, size_t n_bytes) {
    if (dev_is_outside(run)) {
        memset(outside(to), value, n_bytes);
        return true;
    }
    IsoDevice *d = run->context;
    IsoHost *h = iso_host(run);
    if (failed(run) || !iso_prepare(d, h)) return false;
    IsoFill f = {to, n_bytes, value, false};
    return iso_submit(d, h, ISO_FILL, iso_keep(d, h, &f, sizeof f), NULL);
}

static bool move(DevRun *run, const DevMove *m) {
    if (!dev_is_outside(run) && (failed(run) || !finish(run))) return false;
    DevMove there = *m;
    if (dev_is_outside(run)) there.from.at = outside(m->from.at), there.to.at = outside(m->to.at);
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
    .run_begin = iso_run_begin,
    .run_end = end,
    .finish = finish,
    .use = use,
    .dispatch = iso_dispatch,
    .render = iso_render,
    .copy = copy,
    .fill = fill,
    .move = move,
};
