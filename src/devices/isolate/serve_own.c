// SPDX-License-Identifier: Apache-2.0
// serve_own.c: what only devices with memory of their own are told: memory, handles, views, and the
// parts of a run that mean nothing to a device on the host's memory.
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include "devices/isolate/child.h"
#include "devices/isolate/range.h"
#include "os/futex.h"

// ---- Memory and handles ----

static void memory(IsoMemory *m) {
    const DevTable *t = iso_served.table;
    switch (m->what) {
    case ISO_MAKE:
        m->ok = t->memory_make(iso_served.context, m->n_bytes, (DevStorage)m->storage, &m->memory);
        break;
    case ISO_WRAP: m->ok = t->memory_wrap && t->memory_wrap(iso_served.context, &m->memory); break;
    case ISO_FREE: t->memory_free(iso_served.context, &m->memory); break;
    case ISO_SHOW:
        if (t->memory_show) t->memory_show(iso_served.context, &m->memory);
        break;
    case ISO_MODIFIED:
        if (t->memory_modified)
            t->memory_modified(iso_served.context, &m->memory, m->from, m->n_bytes);
        break;
    }
}

static void handle(IsoHandle *h) {
    const DevTable *t = iso_served.table;
    switch (h->what) {
    case ISO_TEXTURE:
        h->ok = t->texture_make(iso_served.context, &h->record.texture, &h->handle);
        break;
    case ISO_SAMPLER:
        h->ok = t->sampler_make(iso_served.context, &h->record.sampler, &h->handle);
        break;
    case ISO_TENSOR:
        h->ok = t->tensor_make(iso_served.context, &h->record.tensor, &h->handle);
        break;
    case ISO_HANDLE_FREE: t->handle_free(iso_served.context, &h->handle); break;
    }
}

static void views(IsoViews *v) {
    const DevTable *t = iso_served.table;
    switch (v->what) {
    case ISO_VIEWS_TAKE: v->id = t->views_take ? t->views_take(iso_served.context, v->n) : 0; break;
    case ISO_VIEWS_GIVE: t->views_give(iso_served.context, v->id, v->n); break;
    case ISO_VIEW_SET: v->ok = t->view_set(iso_served.context, v->id, &v->record); break;
    }
}

void iso_serve_own(IsoKind kind, void *what, DevRun *run, bool failed) {
    const DevTable *t = iso_served.table;
    IsoUse *use = what;
    switch (kind) {
    case ISO_FINISH: dev_finish(t, run); break;
    case ISO_USE:
        if (t->use && !failed) t->use(run, &use->memory, use->writes);
        break;
    case ISO_SYNCHRONIZE:
        if (t->synchronize && !failed) t->synchronize(run, &use->memory);
        break;
    case ISO_MOVE: {
        IsoMove *m = what;
        m->ok = !failed && dev_move(t, run, &m->move);
        break;
    }
    case ISO_MEMORY: memory(what); break;
    case ISO_HANDLE: handle(what); break;
    case ISO_VIEWS: views(what); break;
    default: break;
    }
}

// ---- The host's cache ----

static IsoChannel *asking; // the one for code

static void ask(IsoQuestion *q, unsigned what) {
    atomic_store(&q->state, what);
    atomic_fetch_add(&asking->event, 1);
    os_futex_wake_shared(&asking->event);
    while (atomic_load(&q->state) != ISO_ANSWERED)
        os_futex_wait_shared(&q->state, what, &(struct timespec){0, 10000000});
    atomic_store(&q->state, ISO_NO_QUESTION);
}

static void *find_code(const unsigned char key[32], size_t *n_bytes) {
    IsoQuestion *q = &asking->question;
    memcpy(q->key, key, sizeof q->key);
    ask(q, ISO_FIND);
    void *copy = q->bytes ? malloc(q->n_bytes) : NULL;
    if (copy) memcpy(copy, q->bytes, *n_bytes = q->n_bytes);
    return copy;
}

static void keep(const unsigned char key[32], const void *bytes, size_t n_bytes) {
    IsoQuestion *q = &asking->question;
    void *shared = dev_pages->take(n_bytes);
    if (!shared) return;
    memcpy(shared, bytes, n_bytes);
    memcpy(q->key, key, sizeof q->key);
    q->bytes = shared;
    q->n_bytes = n_bytes;
    ask(q, ISO_STORE);
    dev_pages->give(shared, n_bytes);
}

const DevCache *iso_cache(IsoChannel *channel) {
    static const DevCache cache = {.find = find_code, .store = keep, .only_while_loading = true};
    asking = channel;
    return &cache;
}
