// SPDX-License-Identifier: Apache-2.0
// memory.c: the rasteriser's memory. Scratch memory of threads and units is kept on free lists
// after a pass: faulting in fresh pages would cost more than the work on them. The amount kept is
// bounded.
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include "devices/cpu/raster/raster_int.h"

#define KEPT_UNIT_BYTES ((size_t)96 << 20)
#define KEPT_WORKER_BYTES ((size_t)64 << 20)
#define KEPT_PASS_BYTES ((size_t)64 << 20)

void *raster_grow_slow(void *memory, size_t *capacity, size_t need, size_t element) {
    size_t wanted = need + need / 2 + 64;
    if (wanted < need || wanted > SIZE_MAX / 2 / element) return NULL;
    size_t bytes = (wanted * element + 127) / 64 * 64;
    void *fresh = aligned_alloc(64, bytes);
    if (!fresh) return NULL;
    if (memory) memcpy(fresh, memory, *capacity * element);
    free(memory);
    *capacity = wanted;
    return fresh;
}

typedef struct PassMemory { // the lists of a Pass
    DrawInfo *infos;
    ViewportInfo *viewports;
    Span *spans;
    Unit **units;
    size_t infos_capacity, viewports_capacity, spans_capacity, units_capacity;
} PassMemory;

static struct {
    pthread_mutex_t lock; // of the one CPU device
    Worker *workers;
    Unit *units;
    size_t worker_bytes, unit_bytes;
    PassMemory pass; // of the last pass that gave it back
} kept = {.lock = PTHREAD_MUTEX_INITIALIZER};

// The child of a fork: another thread may have held the lock, so the lists cannot be trusted.
static void after_fork(void) {
    pthread_mutex_init(&kept.lock, NULL);
    kept.workers = NULL;
    kept.units = NULL;
    kept.worker_bytes = kept.unit_bytes = 0;
    kept.pass = (PassMemory){0};
}

static void watch_forks(void) { pthread_atfork(NULL, NULL, after_fork); }

static size_t worker_bytes(const Worker *w) {
    return sizeof *w + sizeof *w->state + w->rows_capacity * 4 + w->slots_capacity * (size_t)24 +
           w->faces_capacity * sizeof *w->faces + w->pairs_capacity * sizeof *w->pairs +
           w->tile.capacity;
}

static void worker_free(Worker *w) {
    raster_store_free(w);
    free(w->rows);
    free(w->fx);
    free(w->fy);
    free(w->z);
    free(w->rw);
    free(w->codes);
    free(w->ids);
    free(w->faces);
    free(w->pairs);
    free(w->tile.base);
    free(w->state);
    raster_geometry_free(w);
    free(w);
}

Worker *raster_worker_take(Pass *p) {
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, watch_forks);
    pthread_mutex_lock(&kept.lock);
    Worker *w = kept.workers;
    if (w) {
        kept.workers = w->next;
        kept.worker_bytes -= worker_bytes(w);
    }
    pthread_mutex_unlock(&kept.lock);
    if (!w) {
        w = calloc(1, sizeof *w);
        if (!w) return NULL;
        size_t bytes = (sizeof *w->state + 63) / 64 * 64;
        w->state = aligned_alloc(64, bytes);
        if (!w->state) {
            free(w);
            return NULL;
        }
        memset(w->state, 0, bytes);
    }
    w->pass = p;
    w->thread = cpu_thread_self();
    return w;
}

// Puts an item into a list of what is kept, or ends it where that has `most` bytes already.
#define KEEP(item, list, list_bytes, n_bytes, most, end)                                           \
    do {                                                                                           \
        pthread_mutex_lock(&kept.lock);                                                            \
        size_t bytes = n_bytes(item);                                                              \
        bool keep = kept.list_bytes + bytes <= (most);                                             \
        if (keep) {                                                                                \
            (item)->next = kept.list;                                                              \
            kept.list = (item);                                                                    \
            kept.list_bytes += bytes;                                                              \
        }                                                                                          \
        pthread_mutex_unlock(&kept.lock);                                                          \
        if (!keep) end(item);                                                                      \
    } while (0)

void raster_worker_give(Worker *w) {
    KEEP(w, workers, worker_bytes, worker_bytes, KEPT_WORKER_BYTES, worker_free);
}

static size_t unit_bytes(const Unit *u) {
    return sizeof *u + u->capacity + (u->starts_capacity + u->refs_capacity + u->big_capacity) * 4;
}

static void unit_free(Unit *u) {
    free(u->records);
    free(u->starts);
    free(u->refs);
    free(u->big);
    free(u);
}

Unit *raster_unit_take(void) {
    pthread_mutex_lock(&kept.lock);
    Unit *u = kept.units;
    if (u) {
        kept.units = u->next;
        kept.unit_bytes -= unit_bytes(u);
    }
    pthread_mutex_unlock(&kept.lock);
    return u ? u : calloc(1, sizeof *u);
}

void raster_unit_give(Unit *unit) {
    KEEP(unit, units, unit_bytes, unit_bytes, KEPT_UNIT_BYTES, unit_free);
}

static void pass_free(PassMemory *m) {
    free(m->infos);
    free(m->viewports);
    free(m->spans);
    free(m->units);
    *m = (PassMemory){0};
}

void raster_pass_take(Pass *p) {
    pthread_mutex_lock(&kept.lock);
    PassMemory m = kept.pass;
    kept.pass = (PassMemory){0};
    pthread_mutex_unlock(&kept.lock);
    p->infos = m.infos, p->infos_capacity = m.infos_capacity;
    p->viewports = m.viewports, p->viewports_capacity = m.viewports_capacity;
    p->spans = m.spans, p->spans_capacity = m.spans_capacity;
    p->units = m.units, p->units_capacity = m.units_capacity;
}

void raster_pass_give(Pass *p) {
    PassMemory m = {p->infos,          p->viewports,          p->spans,          p->units,
                    p->infos_capacity, p->viewports_capacity, p->spans_capacity, p->units_capacity};
    size_t bytes = m.infos_capacity * sizeof *m.infos + m.viewports_capacity * sizeof *m.viewports +
                   m.spans_capacity * sizeof *m.spans + m.units_capacity * sizeof *m.units;
    pthread_mutex_lock(&kept.lock);
    if (bytes <= KEPT_PASS_BYTES && !kept.pass.infos) {
        kept.pass = m;
        m = (PassMemory){0};
    }
    pthread_mutex_unlock(&kept.lock);
    pass_free(&m);
}
