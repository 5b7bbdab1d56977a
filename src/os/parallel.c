// SPDX-License-Identifier: Apache-2.0
// parallel.c: work of the device's own (mipmaps) shared out like the threadgroups of a dispatch:
// the calling thread and idle workers take one piece after the other. For code that cannot fault.
#include "os/pool.h"

typedef struct Pieces {
    OsJob job; // first: what the pool sees
    atomic_size_t next;
    size_t n;
    void (*run)(void *context, size_t i);
    void *context;
} Pieces;

static void run_items(OsJob *job) {
    Pieces *p = (Pieces *)(void *)job;
    size_t i;
    while ((i = atomic_fetch_add_explicit(&p->next, 1, memory_order_relaxed)) < p->n)
        p->run(p->context, i);
}

void os_parallel(size_t n, void (*run)(void *context, size_t i), void *context) {
    unsigned threads = n > 1 && os_pool_start() ? os_pool_threads() : 1;
    if (threads < 2) {
        for (size_t i = 0; i < n; i++) run(context, i);
        return;
    }
    Pieces p = {.job = {.help = run_items, .max_helpers = threads - 1},
                .n = n,
                .run = run,
                .context = context};
    if (p.job.max_helpers > n - 1) p.job.max_helpers = (unsigned)(n - 1);
    os_pool_open_job(&p.job);
    run_items(&p.job);
    os_pool_close_job(&p.job);
}
