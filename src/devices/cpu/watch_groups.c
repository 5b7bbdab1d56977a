// SPDX-License-Identifier: Apache-2.0
// watch_groups.c: the race detector of a dispatch from begin to end, and its findings.
#include <stdlib.h>
#include <string.h>
#include "devices/cpu/watch_int.h"
#include "base/array.h"

#define KEEP_BYTES ((size_t)256 << 20) // of shadow, for the next dispatch
#define LAST_EPOCH 0xf0000000u

static pthread_mutex_t idle_lock = PTHREAD_MUTEX_INITIALIZER;
static CpuWatcher *idle; // one that nobody uses; under the lock

CpuWatcher *cpu_watch_open(void) {
    pthread_mutex_lock(&idle_lock);
    CpuWatcher *w = idle;
    idle = NULL;
    pthread_mutex_unlock(&idle_lock);
    return w ? w : calloc(1, sizeof *w);
}

static void destroy(CpuWatcher *w) {
    if (!w) return;
    cpu_shadow_free(w);
    cpu_lines_free(w);
    free(w->reads);
    free(w->groups);
    free(w);
}

void cpu_watch_close(CpuWatcher *w, bool broken) {
    if (!broken) {
        if (w->n_chunk_bytes > KEEP_BYTES) cpu_shadow_clear(w);
        pthread_mutex_lock(&idle_lock);
        CpuWatcher *old = idle;
        idle = w;
        pthread_mutex_unlock(&idle_lock);
        w = old;
    }
    destroy(w);
}

// ---- Begin ----

static bool writes(const CpuSite *s) {
    return s->kind == CPU_SITE_WRITE || s->kind == CPU_SITE_ATOMIC;
}

// Reads are told of where they may meet a write: of the same slot, of another one with the same
// memory, or of anything that a pointer reaches.
static void choose_reads(CpuWatcher *w) {
    const CpuLaunch *l = w->launch;
    uint32_t n = w->sites[0].id;
    bool pointers = false, any = false;
    memset(w->reads, 0, w->n_slots + 1);
    for (uint32_t i = 1; i < n; i++) {
        const CpuSite *s = &w->sites[i];
        if (!writes(s) || s->space == ABI_SPACE_THREADGROUP) continue;
        any = true;
        if (s->space == ABI_SPACE_BUFFER && s->slot < w->n_slots)
            w->reads[s->slot] = 2;
        else
            pointers = true;
    }
    for (uint32_t i = 0; i < w->n_slots; i++) {
        uint64_t start = (uint64_t)(uintptr_t)l->args[i], end = start + l->lengths[i];
        for (uint32_t k = 0; k < w->n_slots && !w->reads[i]; k++) {
            uint64_t other = (uint64_t)(uintptr_t)l->args[k];
            if (w->reads[k] == 2 && start < other + l->lengths[k] && other < end) w->reads[i] = 1;
        }
    }
    w->reads[w->n_slots] = any;
    if (pointers) memset(w->reads, 1, w->n_slots + 1);
}

bool cpu_watch_begin(CpuWatcher *w, const CpuCode *code, CpuLaunch *launch, const char *memory,
                     size_t n_bytes) {
    w->watch = (CpuWatch){.lanes = cpu_observe_lanes,
                          .line = cpu_observe_line,
                          .one = cpu_observe_one,
                          .group = cpu_observe_group,
                          .rows = cpu_observe_rows,
                          .barrier = cpu_observe_barrier};
    w->launch = launch;
    w->sites = code->sites;
    w->n_slots = code->info.n_slots;
    w->memory = memory;
    w->n_memory = n_bytes;
    if (!cpu_lines_reserve(w)) return false;
    if (!w->reads || w->max_slots < w->n_slots) {
        uint8_t *reads = realloc(w->reads, w->n_slots + 1);
        if (!reads) return false;
        w->reads = reads;
        w->max_slots = w->n_slots;
    }
    choose_reads(w);
    w->watch.reads = w->reads;
    launch->watch = &w->watch;
    if (w->top > LAST_EPOCH) cpu_shadow_clear(w);
    w->dispatch_base = w->top + 1;
    w->n_groups = w->n_found = 0;
    w->fenced = false;
    return true;
}

bool cpu_watch_group(CpuWatcher *w, uint64_t number) {
    const CpuLaunch *l = w->launch;
    if (!array_reserve(&w->groups, &w->max_groups, w->n_groups + 1)) return false;
    const uint32_t *n = l->groups_per_grid;
    w->group_base = ++w->top;
    w->groups[w->n_groups++] = (WatchedGroup){.base = w->group_base, .number = number};
    w->group[0] = (uint32_t)(number % n[0]);
    w->group[1] = (uint32_t)(number / n[0] % n[1]);
    w->group[2] = (uint32_t)(number / n[0] / n[1]);
    for (int d = 0; d < 3; d++) {
        uint32_t left = l->threads_per_grid[d] - w->group[d] * l->group_size[d];
        w->size[d] = left < l->group_size[d] ? left : l->group_size[d];
    }
    w->n_threads = w->size[0] * w->size[1] * w->size[2];
    for (int s = 0; s < MAX_GROUPS_OF_SIMD; s++)
        for (int m = 0; m < N_MEMORIES; m++) w->epoch[s][m] = w->group_base, w->sub[s][m] = 0;
    memset(w->passed, 0, sizeof w->passed);
    memset(w->arrived, 0, sizeof w->arrived);
    w->round = w->n_arrived = w->barrier = 0;
    w->mixed = w->exact = false;
    w->n_logged = w->n_lists = 0;
    w->log_epoch = w->group_base;
    return true;
}

// ---- Who and where ----

WatchedGroup *cpu_watch_group_at(const CpuWatcher *w, uint32_t epoch) {
    size_t low = 0, high = w->n_groups;
    while (low < high) { // the first that begins behind it
        size_t middle = low + (high - low) / 2;
        if (w->groups[middle].base <= epoch)
            low = middle + 1;
        else
            high = middle;
    }
    return low ? &w->groups[low - 1] : NULL;
}

void cpu_watch_thread(const CpuWatcher *w, uint32_t epoch, uint32_t thread, uint32_t out[3]) {
    const CpuLaunch *l = w->launch;
    const WatchedGroup *g = cpu_watch_group_at(w, epoch);
    const uint32_t *n = l->groups_per_grid;
    uint64_t number = g ? g->number : 0;
    uint32_t group[3] = {(uint32_t)(number % n[0]), (uint32_t)(number / n[0] % n[1]),
                         (uint32_t)(number / n[0] / n[1])};
    for (int d = 0; d < 3; d++) {
        uint32_t left = l->threads_per_grid[d] - group[d] * l->group_size[d],
                 size = left < l->group_size[d] ? left : l->group_size[d];
        out[d] = group[d] * l->group_size[d] + (size ? thread % size : 0);
        thread = size ? thread / size : 0;
    }
}

// Of a pointer that was read from memory: a slot whose buffer it lies in, or the address.
static void find_slot(const CpuWatcher *w, uint64_t address, AbiReport *r) {
    const CpuLaunch *l = w->launch;
    r->space = ABI_SPACE_POINTER;
    r->slot = UINT32_MAX;
    r->offset = (int64_t)address;
    for (uint32_t i = 0; i < w->n_slots; i++) {
        uint64_t start = (uint64_t)(uintptr_t)l->args[i];
        if (address < start || address - start >= l->lengths[i]) continue;
        r->space = ABI_SPACE_BUFFER;
        r->slot = i;
        r->offset = (int64_t)(address - start);
        return;
    }
}

void cpu_watch_address(const CpuWatcher *w, const CpuSite *site, uint64_t address, AbiReport *r) {
    const CpuLaunch *l = w->launch;
    uint64_t start = 0;
    r->offset = 0;
    if (site->kind >= CPU_SITE_TEXEL_READ) return;
    switch (site->space) {
    case ABI_SPACE_BUFFER: start = (uint64_t)(uintptr_t)l->args[site->slot]; break;
    case ABI_SPACE_THREADGROUP:
        start = (uint64_t)(uintptr_t)w->memory +
                (site->slot == UINT32_MAX ? site->at : (uint64_t)(uintptr_t)l->args[site->slot]);
        break;
    default: find_slot(w, address, r); return;
    }
    r->offset = (int64_t)(address - start);
}

// ---- Reports ----

AbiReport *cpu_watch_find(CpuWatcher *w, AbiBadAccess what, const CpuSite *site,
                          const CpuSite *other) {
    uint32_t ids[2] = {site->id, other ? other->id : 0};
    for (size_t i = 0; i < w->n_found; i++) {
        Found *f = &w->found[i];
        if (f->report.access != what || f->sites[0] != ids[0] || f->sites[1] != ids[1]) continue;
        f->report.count++;
        return NULL;
    }
    if (w->n_found == MAX_FOUND) return NULL;
    Found *f = &w->found[w->n_found++];
    *f = (Found){.report = {.access = what,
                            .space = site->space,
                            .slot = site->slot,
                            .n_bytes = site->n_bytes,
                            .line = site->line,
                            .column = site->column,
                            .count = 1},
                 .sites = {ids[0], ids[1]}};
    memcpy(f->report.name, site->name, sizeof site->name);
    if (!other) return &f->report;
    f->report.other.n_bytes = other->n_bytes;
    f->report.other.line = other->line;
    f->report.other.column = other->column;
    return &f->report;
}

// What somebody else wrote too late is a race, and is reported as one.
static bool is_told_otherwise(const CpuWatcher *w, const Found *f) {
    for (size_t i = 0; f->report.access == ABI_UNWRITTEN && i < w->n_found; i++)
        if (w->found[i].report.access == ABI_RACE &&
            (w->found[i].sites[0] == f->sites[0] || w->found[i].sites[1] == f->sites[0]))
            return true;
    return false;
}

void cpu_watch_end(CpuWatcher *w, DevRun *run, void *context) {
    for (size_t i = 0; i < w->n_found && run->report; i++)
        if (!is_told_otherwise(w, &w->found[i]))
            run->report(run->report_context, context, &w->found[i].report);
    if (w->full && run->report) {
        AbiReport r = {.access = ABI_UNWATCHED, .slot = UINT32_MAX};
        run->report(run->report_context, context, &r);
    }
    w->launch = NULL;
}
