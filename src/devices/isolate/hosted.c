// SPDX-License-Identifier: Apache-2.0
// hosted.c: devices with memory of their own, in a process of their own: the table of such a device
// on the host's side, and what it says is done by that device's own table in the child. A kernel
// that breaks the device, or never ends, costs the child; after some faults a GPU's driver serves a
// process no longer, and another process is the only way to a new device.
//
// The device's side of memory is the child's alone (claim.c); what the host sees lies in the store,
// at one address for both. What the child cannot see is copied to where it can.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "devices/isolate/isolate_int.h"

extern const DevTable cuda_device;

enum { N_SIZES = 8, LEAST_BYTES = 4096 }; // of constants that are kept: 4 KiB ... 512 KiB
_Static_assert(N_SIZES <= sizeof((IsoDevice *)0)->spare / sizeof(void *), "a list each");

// Memory as both know it.
typedef struct IsoOwned {
    struct IsoOwned *next; // of spare ones, or of those that are wrapped; under the device's lock
    DevMemory theirs;
    IsoWrapped wrapped; // host NULL: not the program's own
    int size;           // of constants: which list; -1: none
    atomic_bool shown;
} IsoOwned;

// ---- Life ----

static void *open_hosted(const DevTable *table, unsigned index, DevFacts *facts, char *why,
                         size_t why_bytes) {
    IsoDevice *d = iso_start(table->name, index, true, why, why_bytes);
    if (!d) return NULL;
    if (!iso_take(schema_DevFacts, facts, &d->head->facts)) {
        snprintf(why, why_bytes, "its process says what cannot be");
        iso_stop(d);
        return NULL;
    }
    facts->unified_memory = facts->is_host = false;
    facts->is_apart = true;
    char name[sizeof facts->name];
    snprintf(name, sizeof name, "%.115s, isolated", facts->name);
    memcpy(facts->name, name, sizeof name);
    return d;
}

static void *open_cuda(unsigned index, DevFacts *facts, char *why, size_t why_bytes) {
    return open_hosted(&cuda_device, index, facts, why, why_bytes);
}

static unsigned count_cuda(void) { return cuda_device.count(); }

static void close_hosted(void *context) {
    IsoDevice *d = context;
    for (IsoName *n = d->names, *next; n; n = next) {
        next = n->next;
        free(n);
    }
    for (int i = 0; i < N_SIZES; i++)
        for (IsoOwned *o = d->spare[i], *next; o; o = next) {
            next = o->next;
            free(o);
        }
    for (size_t i = 0; d->shown_views && i < ABI_VIEW_POOL_SLOTS; i++) free(d->shown_views[i]);
    free(d->shown_views);
    iso_stop(d);
}

static bool is_lost(void *context) { return !iso_is_alive(context); }

// ---- Memory ----

// How much it is, the host knows itself: the child's word is taken for the places alone.
static bool ask_memory(IsoDevice *d, IsoMemory *m) {
    const size_t n_bytes = m->what == ISO_MAKE ? m->n_bytes : m->memory.n_bytes;
    bool ok = iso_ask_with(d, ISO_MEMORY, schema_IsoMemory, m);
    m->memory.n_bytes = n_bytes;
    return ok;
}

// Of memory at addresses that the program uses otherwise: it stays until there is other.
static bool make_claimed(IsoDevice *d, IsoMemory *m) {
    enum { TRIES = 16 };
    const IsoMemory wanted = *m;
    DevMemory useless[TRIES];
    unsigned n = 0;
    bool ok = false;
    for (; !ok && n < TRIES; n += !ok) {
        *m = wanted;
        if (!ask_memory(d, m) || !m->ok) break;
        const char *at = m->memory.address;
        // Addresses of the program's would be written to in the child's place.
        ok = at == m->memory.host ? iso_range_holds(&d->store, at, m->memory.n_bytes)
                                  : iso_claim((uintptr_t)at, m->memory.n_bytes);
        if (!ok) useless[n] = m->memory;
    }
    while (n-- > 0) ask_memory(d, &(IsoMemory){.what = ISO_FREE, .memory = useless[n]});
    return ok;
}

static bool make_owned(IsoDevice *d, size_t n_bytes, DevStorage storage, int size,
                       DevMemory *memory) {
    IsoOwned *o = calloc(1, sizeof *o);
    IsoMemory m = {.what = ISO_MAKE, .n_bytes = n_bytes, .storage = storage};
    if (!o || !make_claimed(d, &m)) {
        free(o);
        return false;
    }
    if (storage != DEV_PRIVATE && !iso_range_holds(&d->store, m.memory.host, n_bytes)) {
        iso_lose(d); // it says what cannot be
        free(o);
        return false;
    }
    o->theirs = m.memory;
    o->size = size;
    *memory = m.memory;
    memory->part = o;
    if (storage == DEV_PRIVATE) memory->host = NULL;
    return true;
}

// Constants of command buffers come and go: the child is asked once for each.
static bool make_arguments(IsoDevice *d, size_t n_bytes, DevMemory *memory) {
    int size = 0;
    while (size < N_SIZES && (size_t)LEAST_BYTES << size < n_bytes) size++;
    if (size == N_SIZES) return make_owned(d, n_bytes, DEV_ARGUMENTS, -1, memory);
    pthread_mutex_lock(&d->lock);
    IsoOwned *o = d->spare[size];
    if (o) d->spare[size] = o->next;
    pthread_mutex_unlock(&d->lock);
    if (!o) return make_owned(d, (size_t)LEAST_BYTES << size, DEV_ARGUMENTS, size, memory);
    *memory = o->theirs;
    memory->part = o;
    memset(memory->host, 0, n_bytes);
    return true;
}

static bool make_memory(void *context, size_t n_bytes, DevStorage storage, DevMemory *memory) {
    if (storage == DEV_ARGUMENTS) return make_arguments(context, n_bytes, memory);
    return make_owned(context, n_bytes, storage, -1, memory);
}

static bool wrap_memory(void *context, DevMemory *memory) {
    IsoDevice *d = context;
    IsoOwned *o = calloc(1, sizeof *o);
    char *shadow = o ? iso_range_take(&d->range, memory->n_bytes) : NULL;
    IsoMemory m = {.what = ISO_WRAP, .memory = {.host = shadow, .n_bytes = memory->n_bytes}};
    if (!shadow || !ask_memory(d, &m) || !m.ok) goto fail;
    o->theirs = m.memory;
    if (!iso_claim((uintptr_t)m.memory.address, m.memory.n_bytes)) {
        ask_memory(d, &(IsoMemory){.what = ISO_FREE, .memory = m.memory});
        goto fail;
    }
    o->wrapped = (IsoWrapped){.shadow = shadow, .host = memory->host, .n_bytes = memory->n_bytes};
    o->size = -1;
    atomic_init(&o->shown, true);
    memory->address = m.memory.address;
    memory->part = o;
    pthread_mutex_lock(&d->lock);
    o->next = d->wrapped;
    d->wrapped = o;
    pthread_mutex_unlock(&d->lock);
    return true;
fail:
    if (shadow) iso_range_give(&d->range, shadow, memory->n_bytes);
    free(o);
    return false;
}

static void free_memory(void *context, DevMemory *memory) {
    IsoDevice *d = context;
    IsoOwned *o = memory->part;
    if (o->size >= 0) {
        pthread_mutex_lock(&d->lock);
        o->next = d->spare[o->size];
        d->spare[o->size] = o;
        pthread_mutex_unlock(&d->lock);
        return;
    }
    ask_memory(d, &(IsoMemory){.what = ISO_FREE, .memory = o->theirs});
    if (o->wrapped.host) {
        pthread_mutex_lock(&d->lock);
        IsoOwned **at = &d->wrapped;
        while (*at != o) at = &(*at)->next;
        *at = o->next;
        pthread_mutex_unlock(&d->lock);
        iso_range_give(&d->range, o->wrapped.shadow, o->wrapped.n_bytes);
    }
    free(o);
}

static DevMemory as_theirs(const DevMemory *memory) {
    DevMemory m = *memory;
    const IsoOwned *o = memory->part;
    m.part = o->theirs.part;
    if (o->wrapped.host) m.host = o->wrapped.shadow + (memory->host - o->wrapped.host);
    return m;
}

static void show(void *context, const DevMemory *memory) {
    IsoOwned *o = memory->part;
    if (!o || atomic_load(&o->shown)) return;
    ask_memory(context, &(IsoMemory){.what = ISO_SHOW, .memory = as_theirs(memory)});
    atomic_store(&o->shown, true);
}

static void modified(void *context, const DevMemory *memory, size_t from, size_t n_bytes) {
    if (!memory->part) return;
    IsoMemory m = {
        .what = ISO_MODIFIED, .memory = as_theirs(memory), .from = from, .n_bytes = n_bytes};
    ask_memory(context, &m);
}

// ---- Handles ----

static bool make_handle(IsoDevice *d, IsoHandle *h, DevHandle *handle) {
    bool ok = iso_ask_with(d, ISO_HANDLE, schema_IsoHandle, h) && h->ok;
    if (ok) *handle = h->handle;
    return ok;
}

static bool make_texture(void *context, const AbiTexture *record, DevHandle *handle) {
    IsoHandle h = {.what = ISO_TEXTURE, .record.texture = *record};
    h.record.texture.format = iso_format(context, record->format);
    h.record.texture.sparse = NULL;
    return h.record.texture.format && make_handle(context, &h, handle);
}

static bool make_sampler(void *context, const AbiSampler *record, DevHandle *handle) {
    return make_handle(context, &(IsoHandle){.what = ISO_SAMPLER, .record.sampler = *record},
                       handle);
}

static bool make_tensor(void *context, const AbiTensor *record, DevHandle *handle) {
    return make_handle(context, &(IsoHandle){.what = ISO_TENSOR, .record.tensor = *record}, handle);
}

static void free_handle(void *context, DevHandle *handle) {
    IsoHandle h = {.what = ISO_HANDLE_FREE, .handle = *handle};
    iso_ask_with(context, ISO_HANDLE, schema_IsoHandle, &h);
}

// ---- Pools of views ----

static uint64_t take_views(void *context, size_t n) {
    IsoDevice *d = context;
    IsoViews v = {.what = ISO_VIEWS_TAKE, .n = n};
    pthread_mutex_lock(&d->lock);
    if (!d->shown_views) d->shown_views = calloc(ABI_VIEW_POOL_SLOTS, sizeof *d->shown_views);
    bool ok = d->shown_views != NULL;
    pthread_mutex_unlock(&d->lock);
    ok = ok && iso_ask_with(d, ISO_VIEWS, schema_IsoViews, &v);
    uint64_t first = v.id & (ABI_VIEW_POOL_SLOTS - 1);
    return ok && v.id - first == ABI_TEXTURE_POOLED && n <= ABI_VIEW_POOL_SLOTS - first ? v.id : 0;
}

static void give_views(void *context, uint64_t first, size_t n) {
    IsoDevice *d = context;
    pthread_mutex_lock(&d->lock);
    for (size_t i = 0; i < n; i++) {
        AbiTexture **at = &d->shown_views[(first + i) & (ABI_VIEW_POOL_SLOTS - 1)];
        free(*at);
        *at = NULL;
    }
    pthread_mutex_unlock(&d->lock);
    IsoViews v = {.what = ISO_VIEWS_GIVE, .id = first, .n = n};
    iso_ask_with(d, ISO_VIEWS, schema_IsoViews, &v);
}

static bool set_view(void *context, uint64_t id, const AbiTexture *record) {
    IsoDevice *d = context;
    IsoViews v = {.what = ISO_VIEW_SET, .id = id, .record = *record};
    v.record.format = iso_format(d, record->format);
    v.record.sparse = NULL;
    pthread_mutex_lock(&d->lock);
    AbiTexture **at = &d->shown_views[id & (ABI_VIEW_POOL_SLOTS - 1)];
    if (!*at) *at = calloc(1, sizeof **at);
    AbiTexture *shown = *at;
    pthread_mutex_unlock(&d->lock);
    bool ok = shown && (v.record.format || !record->format) &&
              iso_ask_with(d, ISO_VIEWS, schema_IsoViews, &v) && v.ok;
    if (ok) *shown = *record;
    return ok;
}

static const AbiTexture *view_at(void *context, uint64_t id) {
    IsoDevice *d = context;
    uint64_t number = id & (ABI_VIEW_POOL_SLOTS - 1);
    pthread_mutex_lock(&d->lock);
    const AbiTexture *view =
        id - number == ABI_TEXTURE_POOLED && d->shown_views ? d->shown_views[number] : NULL;
    pthread_mutex_unlock(&d->lock);
    return view && view->format ? view : NULL;
}

// ---- Code ----

static DevCode *load_code(void *context, const DevCodeSource *source, char *why, size_t why_bytes) {
    return iso_load_code(context, source, NULL, why, why_bytes);
}

// ---- Runs ----

static bool failed(const DevRun *run) { return atomic_load(&run->fault) != DEV_FAULT_NONE; }

static bool finish(DevRun *run) {
    IsoDevice *d = run->context;
    IsoHost *h = iso_host(run);
    if (failed(run)) return false;
    if (!h->has_work) return true;
    return iso_submit(d, h, ISO_FINISH, NULL, NULL) && iso_drain(d, h);
}

static void end(DevRun *run) {
    IsoDevice *d = run->context;
    IsoHost *h = iso_host(run);
    h->no_memory = false;
    iso_prepare(d, h);
    if (!atomic_load(&d->is_lost)) {
        iso_submit(d, h, ISO_END, NULL, NULL);
        iso_drain(d, h);
    }
    iso_wrapped_end(h);
    iso_release(d, h);
}

static bool tell(DevRun *run, IsoKind kind, const void *what, size_t n_bytes) {
    IsoDevice *d = run->context;
    IsoHost *h = iso_host(run);
    if (failed(run) || !iso_prepare(d, h)) return false;
    return iso_submit(d, h, kind, iso_keep(d, h, what, n_bytes), NULL);
}

static void use(DevRun *run, const DevMemory *memory, bool writes) {
    IsoOwned *o = memory->part;
    if (!o) return;
    if (o->wrapped.host) iso_wrapped_use(iso_host(run), &o->wrapped, writes);
    tell(run, ISO_USE, &(IsoUse){as_theirs(memory), writes}, sizeof(IsoUse));
}

static bool synchronize(DevRun *run, const DevMemory *memory) {
    return !memory->part ||
           tell(run, ISO_SYNCHRONIZE, &(IsoUse){as_theirs(memory), false}, sizeof(IsoUse));
}

// ---- Copies ----

static bool sees(const IsoDevice *d, const void *address) {
    return iso_is_claimed((uintptr_t)address) || iso_range_has(&d->store, address) ||
           iso_range_has(&d->range, address);
}

// Outside of runs the program's own memory is what counts, not the copy for the child.
static char *outside(IsoDevice *d, const void *address) {
    char *at = (char *)(uintptr_t)address;
    pthread_mutex_lock(&d->lock);
    for (const IsoOwned *o = d->wrapped; o; o = o->next)
        if (at >= o->theirs.address && (size_t)(at - o->theirs.address) < o->theirs.n_bytes) {
            at = o->wrapped.host + (at - o->theirs.address);
            break;
        }
    pthread_mutex_unlock(&d->lock);
    return at;
}

// A command that the child must have done when this returns: in order with those of a run, or, of
// none, by itself. `what` is as the child left it.
static bool done(DevRun *run, IsoKind kind, SchemaOf *of, void *what, const uint8_t *ok) {
    if (dev_is_outside(run)) return iso_ask_with(run->context, kind, of, what) && *ok;
    return tell(run, kind, what, of()->n_bytes) && finish(run);
}

static bool copy(DevRun *run, void *to, const void *from, size_t n_bytes) {
    if (!run || !n_bytes) return run != NULL;
    IsoDevice *d = run->context;
    bool is_outside = dev_is_outside(run);
    if (is_outside) to = outside(d, to), from = outside(d, from);
    bool sees_to = sees(d, to), sees_from = sees(d, from);
    IsoCopy c = {to, from, n_bytes, false};
    if (!sees_to && !sees_from) {
        memmove(to, from, n_bytes);
        return true;
    }
    if (sees_to && sees_from)
        return is_outside ? done(run, ISO_COPY, schema_IsoCopy, &c, &c.ok)
                          : tell(run, ISO_COPY, &c, sizeof c);
    void *stage = iso_range_take(&d->range, n_bytes);
    if (!stage && !is_outside) dev_run_fail(run, DEV_FAULT_NO_MEMORY, 0);
    if (!stage) return false;
    if (!sees_from) memcpy(stage, from, n_bytes);
    if (!sees_from)
        c.from = stage;
    else
        c.to = stage;
    bool ok = done(run, ISO_COPY, schema_IsoCopy, &c, &c.ok);
    if (ok && !sees_to) memcpy(to, stage, n_bytes);
    iso_range_give(&d->range, stage, n_bytes);
    return ok;
}

static bool fill(DevRun *run, void *to, uint8_t value, size_t n_bytes) {
    if (!run) return false;
    IsoFill f = {to, n_bytes, value, false};
    if (!dev_is_outside(run)) return tell(run, ISO_FILL, &f, sizeof f);
    char *at = outside(run->context, to);
    if (sees(run->context, at)) return done(run, ISO_FILL, schema_IsoFill, &f, &f.ok);
    memset(at, value, n_bytes);
    return true;
}

// Texels of the program's go to, or come from, rows without gaps that the child sees.
static bool move(DevRun *run, const DevMove *m) {
    if (!run) return false;
    IsoDevice *d = run->context;
    IsoMove there = {.move = *m};
    DevMove *t = &there.move;
    if (dev_is_outside(run)) {
        t->from.at = outside(d, m->from.at);
        t->to.at = outside(d, m->to.at);
    }
    t->from.texture = t->to.texture = NULL;
    bool sees_to = sees(d, t->to.at), sees_from = sees(d, t->from.at);
    if (!sees_to && !sees_from) {
        dev_host_move(t);
        return true;
    }
    size_t row = m->element ? m->element * m->n_elements : m->row;
    size_t n_bytes = row * m->n_rows * m->n_planes;
    if (!n_bytes) return true;
    if (sees_to && sees_from) return done(run, ISO_MOVE, schema_IsoMove, &there, &there.ok);
    DevSide stage = {.at = iso_range_take(&d->range, n_bytes),
                     .row = row,
                     .plane = row * m->n_rows,
                     .step = m->element};
    if (!stage.at && !dev_is_outside(run)) dev_run_fail(run, DEV_FAULT_NO_MEMORY, 0);
    if (!stage.at) return false;
    DevMove here = *t;
    if (sees_to) { // elements are spread where they are written
        here.to = t->from = stage;
        here.fill = 0;
        dev_host_move(&here);
    } else {
        here.from = t->to = stage;
        t->fill = 0;
    }
    bool ok = done(run, ISO_MOVE, schema_IsoMove, &there, &there.ok);
    if (ok && !sees_to) dev_host_move(&here);
    iso_range_give(&d->range, stage.at, n_bytes);
    return ok;
}

const DevTable hosted_cuda_device = {
    .name = "isolated-cuda",
    .isolates = "cuda",
    .count = count_cuda,
    .open = open_cuda,
    .close = close_hosted,
    .is_lost = is_lost,
    .memory_make = make_memory,
    .memory_free = free_memory,
    .memory_wrap = wrap_memory,
    .memory_show = show,
    .memory_modified = modified,
    .texture_make = make_texture,
    .sampler_make = make_sampler,
    .tensor_make = make_tensor,
    .handle_free = free_handle,
    .views_take = take_views,
    .views_give = give_views,
    .view_set = set_view,
    .view_at = view_at,
    .code_load = load_code,
    .code_free = iso_free_code,
    .run_begin = iso_run_begin,
    .run_end = end,
    .finish = finish,
    .use = use,
    .dispatch = iso_dispatch,
    .copy = copy,
    .fill = fill,
    .move = move,
    .synchronize = synchronize,
};
