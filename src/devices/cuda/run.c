// SPDX-License-Identifier: Apache-2.0
// run.c: runs. Each has a stream while it is under way, and its commands are only queued there: the
// host waits at the end, and where somebody must look at results.
#include "devices/cuda/cuda_int.h"
#include "base/array.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <time.h>
#include "abi/cuda_kernel.h"
#include "os/clock.h"
#include "os/zeros.h"

static bool failed(const DevRun *run) { return atomic_load(&run->fault) != DEV_FAULT_NONE; }

// ---- Faults ----

// Names of all kernels it may have been, as one: the driver does not say which.
// Kernels of a run that follows are among them: it may have begun before anybody looked.
static const char *suspects(const CudaFlow *flow) {
    static _Thread_local char names[512]; // the run's thread makes the message
    const char *kernels[2 * sizeof flow->kernels / sizeof *flow->kernels];
    unsigned n_kernels = 0;
    for (const CudaFlow *f = flow; f; f = f == flow ? flow->follows : NULL)
        for (unsigned i = 0; i < f->n_kernels; i++) {
            unsigned k = 0;
            while (k < n_kernels && kernels[k] != f->kernels[i]) k++;
            if (k == n_kernels) kernels[n_kernels++] = f->kernels[i];
        }
    size_t n = 0;
    for (unsigned i = 0; i < n_kernels && n < sizeof names; i++) {
        const char *between = i == 0 ? "" : i + 1 < n_kernels ? "', '" : "' or '";
        n += (size_t)snprintf(names + n, sizeof names - n, "%s%s", between, kernels[i]);
    }
    return n_kernels ? names : NULL;
}

static DevFault fault_of(CUresult result) {
    switch (result) {
    case CUDA_ERROR_ILLEGAL_ADDRESS:
    case CUDA_ERROR_MISALIGNED_ADDRESS:
    case CUDA_ERROR_INVALID_ADDRESS_SPACE: return DEV_FAULT_MEMORY;
    case CUDA_ERROR_LAUNCH_TIMEOUT: return DEV_FAULT_TIMEOUT;
    case CUDA_ERROR_HARDWARE_STACK_ERROR: return DEV_FAULT_STACK;
    case CUDA_ERROR_ILLEGAL_INSTRUCTION:
    case CUDA_ERROR_INVALID_PC:
    case CUDA_ERROR_LAUNCH_FAILED: return DEV_FAULT_ILLEGAL;
    case CUDA_ERROR_OUT_OF_MEMORY:
    case CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES: return DEV_FAULT_NO_MEMORY;
    default: return DEV_FAULT_LOST;
    }
}

static void fail(CudaFlow *flow, DevFault fault) {
    DevRun *run = flow->run;
    if (failed(run)) return;
    const char *names = suspects(flow);
    if (names) atomic_store(&run->kernel, names);
    dev_run_fail(run, fault, 0);
}

bool cuda_check(CudaFlow *flow, CUresult result) {
    if (!result) return true;
    bool before = atomic_load(&flow->device->is_lost); // and that was another run's fault
    if (cuda_is_fatal(result)) cuda_lose(flow->device, result);
    fail(flow, before ? DEV_FAULT_LOST : fault_of(result));
    return false;
}

// Short waits spin, as the driver's own do: a wake-up costs more than a small command buffer.
// Longer ones sleep for a part of what they have waited already.
#define SPIN_NS 1000000u
#define MAX_PAUSE_NS 200000u

// Time that a run has left; a GPU does not tell how long its threadgroups take, so the limit for
// one of them holds for what is waited for.
static uint64_t deadline(const CudaFlow *flow, uint64_t now) {
    if (flow->limits.run_ms) return flow->start_ns + (uint64_t)flow->limits.run_ms * 1000000u;
    return flow->limits.step_ms ? now + (uint64_t)flow->limits.step_ms * 1000000u : UINT64_MAX;
}

// Linux makes sleeps 50 us longer than asked for, unless the thread says otherwise.
static void sleep_ns(uint64_t ns) {
    int slack = prctl(PR_GET_TIMERSLACK, 0, 0, 0, 0);
    prctl(PR_SET_TIMERSLACK, 1000, 0, 0, 0);
    nanosleep(&(struct timespec){.tv_nsec = (long)ns}, NULL);
    if (slack > 0) prctl(PR_SET_TIMERSLACK, (unsigned long)slack, 0, 0, 0);
}

static void pause_since(uint64_t start, uint64_t now) {
    uint64_t pause = (now - start) / 32;
    if (now - start > SPIN_NS) sleep_ns(pause < MAX_PAUSE_NS ? pause : MAX_PAUSE_NS);
}

bool cuda_wait(CudaFlow *flow) {
    const CudaDriver *driver = flow->device->driver;
    uint64_t start = os_now_ns(), until = deadline(flow, start);
    for (;;) {
        CUresult result = driver->cuStreamQuery(flow->stream);
        if (result != CUDA_ERROR_NOT_READY) return cuda_check(flow, result);
        uint64_t now = os_now_ns();
        if (now > until || atomic_load(&flow->device->is_lost)) {
            // Nothing stops a kernel: its context is left to it, and a new one is made.
            bool own = !atomic_load(&flow->device->is_lost);
            cuda_lose(flow->device, CUDA_ERROR_LAUNCH_TIMEOUT);
            fail(flow, own ? DEV_FAULT_TIMEOUT : DEV_FAULT_LOST);
            return false;
        }
        pause_since(start, now);
    }
}

// ---- Begin and end ----

static CudaFlow *new_flow(CudaDevice *d) {
    CudaFlow *flow = calloc(1, sizeof *flow);
    if (!flow) return NULL;
    flow->device = d;
    CUresult result = d->driver->cuStreamCreate(&flow->stream, CU_STREAM_NON_BLOCKING);
    if (cuda_is_fatal(result)) cuda_lose(d, result);
    if (!result) return flow;
    free(flow);
    return NULL;
}

bool cuda_run_begin(DevRun *run, DevLimits limits) {
    CudaDevice *d = run->context;
    if (!cuda_enter(d)) { // if it is lost it was begun nevertheless: run_end finds no flow
        if (!atomic_load(&d->is_lost)) return false;
        dev_run_fail(run, DEV_FAULT_LOST, 0);
        return true;
    }
    pthread_mutex_lock(&d->lock);
    CudaFlow *flow = d->flows;
    if (flow) d->flows = flow->next;
    pthread_mutex_unlock(&d->lock);
    if (!flow) flow = new_flow(d);
    if (!flow) {
        cuda_leave(d);
        return false;
    }
    flow->run = run;
    flow->limits = limits;
    flow->start_ns = run->begun_ns ? run->begun_ns : os_now_ns();
    flow->n_uses = 0;
    flow->settled = flow->busy = flow->seen_done = false;
    flow->follows = NULL;
    flow->n_kernels = 0;
    flow->n_copied = flow->n_brought = 0;
    memset(flow->known, 0, sizeof flow->known);
    memset(flow->brought, 0, sizeof flow->brought);
    memcpy(run->part, &flow, sizeof flow);
    return true;
}

static void unsettle(CudaFlow *flow) {
    CudaDevice *d = flow->device;
    if (!flow->settled || !flow->n_uses) return;
    pthread_mutex_lock(&d->lock);
    for (size_t i = 0; i < flow->n_uses; i++) {
        const CudaUse *u = &flow->uses[i];
        u->memory->n_users--;
        u->memory->n_writers -= u->writes;
        // What it changed did not go back: all of it comes again.
        if (failed(flow->run) && u->brought && u->writes) u->memory->watched = false;
    }
    pthread_cond_broadcast(&d->changed);
    pthread_mutex_unlock(&d->lock);
}

void cuda_run_end(DevRun *run) {
    CudaFlow *flow = cuda_flow(run);
    if (!flow) return;
    CudaDevice *d = flow->device;
    cuda_finish(run);
    if (flow->pieces && !atomic_load(&d->is_lost)) cuda_read_notes(flow);
    unsettle(flow);
    cuda_remember(flow);
    flow->run = NULL;
    cuda_leave(d);
    if (atomic_load(&d->is_lost)) return; // its stream is of no use any more
    pthread_mutex_lock(&d->lock);
    flow->next = d->flows;
    d->flows = flow;
    pthread_mutex_unlock(&d->lock);
}

bool cuda_finish(DevRun *run) {
    CudaFlow *flow = cuda_flow(run);
    if (!flow || failed(run)) return false;
    if (!flow->busy) return true;
    CUresult result = cuda_flush(flow);
    bool seen = flow->seen_done && !flow->wrote_zeros;
    for (size_t i = 0; i < flow->n_uses && !result; i++) {
        const CudaUse *u = &flow->uses[i];
        const CudaMemory *m = u->memory;
        if (!u->brought || !u->writes) continue;
        seen = false;
        size_t n_bytes = u->to - u->from;
        result = m->twin ? cuda_merge(m, u->from, n_bytes, flow->stream)
                         : flow->device->driver->cuMemcpyAsync((uintptr_t)m->host + u->from,
                                                               m->device + u->from, n_bytes,
                                                               flow->stream);
    }
    if (!result && flow->wrote_zeros)
        result = flow->device->driver->cuMemsetD8Async(flow->device->zeros, 0, CUDA_ZEROS_BYTES,
                                                       flow->stream);
    flow->wrote_zeros = false;
    if (!cuda_check(flow, result) || (!seen && !cuda_wait(flow))) return false;
    if (flow->pieces) cuda_read_notes(flow);
    flow->busy = false;
    flow->n_kernels = 0;
    cuda_remember(flow);
    return true;
}

// ---- Memory that is used ----

void cuda_use(DevRun *run, const DevMemory *memory, bool writes) {
    CudaFlow *flow = cuda_flow(run);
    CudaMemory *m = memory->part;
    if (!flow || !m || m->storage == DEV_PRIVATE) return;
    if (!array_reserve(&flow->uses, &flow->uses_capacity, flow->n_uses + 1)) {
        dev_run_fail(run, DEV_FAULT_NO_MEMORY, 0);
        return;
    }
    size_t from = (uintptr_t)memory->address - m->device;
    flow->uses[flow->n_uses++] =
        (CudaUse){.memory = m, .from = from, .to = from + memory->n_bytes, .writes = writes};
}

static int by_memory(const void *a, const void *b) {
    uintptr_t x = (uintptr_t)((const CudaUse *)a)->memory,
              y = (uintptr_t)((const CudaUse *)b)->memory;
    return (x > y) - (x < y);
}

// One use for each memory, from its first byte to its last, in whole words.
static void put_together(CudaFlow *flow) {
    size_t n = 0;
    if (flow->n_uses > 1) qsort(flow->uses, flow->n_uses, sizeof *flow->uses, by_memory);
    for (size_t i = 0; i < flow->n_uses; i++) {
        CudaUse u = flow->uses[i];
        CudaUse *last = n ? &flow->uses[n - 1] : NULL;
        if (!last || last->memory != u.memory) {
            flow->uses[n++] = u;
            continue;
        }
        last->from = last->from < u.from ? last->from : u.from;
        last->to = last->to > u.to ? last->to : u.to;
        last->writes |= u.writes;
    }
    flow->n_uses = n;
    for (size_t i = 0; i < n; i++) {
        CudaUse *u = &flow->uses[i];
        u->from &= ~(size_t)3;
        u->to = (u->to + 3) & ~(size_t)3;
        if (u->to > u->memory->n_bytes) u->to = u->memory->n_bytes;
    }
}

// Where the host's side counts, one run at a time changes it.
static bool must_wait(const CudaFlow *flow) { // lock held
    for (size_t i = 0; i < flow->n_uses; i++) {
        const CudaMemory *m = flow->uses[i].memory;
        if (m->storage == DEV_SHARED && atomic_load(&m->shown) &&
            (m->n_writers || (flow->uses[i].writes && m->n_users)))
            return true;
    }
    return false;
}

static void count_uses(CudaFlow *flow, size_t first) { // lock held
    for (size_t i = first; i < flow->n_uses; i++) {
        CudaUse *u = &flow->uses[i];
        u->memory->n_users++;
        u->memory->n_writers += u->writes;
        if (u->writes) atomic_store(&u->memory->touched, true);
        u->brought = u->memory->storage == DEV_SHARED && atomic_load(&u->memory->shown);
        u->alone = u->memory->n_users == 1;
    }
}

static void take_part(CudaFlow *flow, size_t first) {
    CudaDevice *d = flow->device;
    pthread_mutex_lock(&d->lock);
    // Who has some already must not wait for more: another may wait for him.
    while (first == 0 && must_wait(flow) && !atomic_load(&d->is_lost))
        pthread_cond_wait(&d->changed, &d->lock);
    count_uses(flow, first);
    pthread_mutex_unlock(&d->lock);
}

// Twins double what memory costs: very large memory has none, and the bytes of a run that changes
// it go back as they are.
#define MAX_TWIN_BYTES ((size_t)4 << 30)

typedef struct Written {
    const CudaFlow *flow;
    const CudaMemory *memory;
    size_t n_bytes;
    CUresult result;
} Written;

static bool bring_pages(void *context, char *at, size_t n_bytes) {
    Written *w = context;
    w->n_bytes += n_bytes;
    w->result =
        w->flow->device->driver->cuMemcpyAsync(w->memory->device + (size_t)(at - w->memory->host),
                                               (uintptr_t)at, n_bytes, w->flow->stream);
    return !w->result;
}

// Only what the program wrote. A page that is written costs it a fault: memory of which much is
// written each time is watched no longer.
static CUresult bring_written(CudaFlow *flow, const CudaUse *u) {
    CudaMemory *m = u->memory;
    size_t n_bytes = u->to - u->from;
    Written w = {.flow = flow, .memory = m};
    bool known = cuda_watched(m->host + u->from, n_bytes, bring_pages, &w);
    if (known && w.n_bytes <= n_bytes / 8) return w.result;
    cuda_unwatch(m->host, m->n_bytes);
    m->watched = false;
    if (known || w.result) return w.result;
    return flow->device->driver->cuMemcpyAsync(m->device + u->from, (uintptr_t)m->host + u->from,
                                               n_bytes, flow->stream);
}

static CUresult bring(CudaFlow *flow, const CudaUse *u) {
    CudaDevice *d = flow->device;
    CudaMemory *m = u->memory;
    size_t n_bytes = u->to - u->from;
    bool merges = u->writes && m->pinned && m->n_bytes <= MAX_TWIN_BYTES && cuda_merge_load(d);
    if (merges && !m->twin) { // alone: it writes
        m->twin = cuda_alloc(d, m->n_bytes, false);
        flow->seen_service = 0;
    }
    if (m->watched && u->alone) return bring_written(flow, u);
    return d->driver->cuMemcpyAsync(m->device + u->from, (uintptr_t)m->host + u->from, n_bytes,
                                    flow->stream);
}

static CUresult bring_twin(const CudaFlow *flow, const CudaUse *u) {
    const CudaMemory *m = u->memory;
    if (!u->writes || !m->twin) return CUDA_SUCCESS;
    return flow->device->driver->cuMemcpyAsync(m->twin + u->from, m->device + u->from,
                                               u->to - u->from, flow->stream);
}

// What was done outside of runs is done before the run's commands.
static CUresult wait_for_service(CudaFlow *flow) {
    CudaDevice *d = flow->device;
    uint64_t n = atomic_load(&d->n_service);
    if (flow->seen_service == n) return CUDA_SUCCESS;
    pthread_mutex_lock(&d->service_lock);
    CUresult result = d->driver->cuEventRecord(d->served, d->service);
    if (!result) result = d->driver->cuStreamWaitEvent(flow->stream, d->served, 0);
    pthread_mutex_unlock(&d->service_lock);
    if (!result) flow->seen_service = n;
    return result;
}

// The uses from `first` on. What was begun outside of runs comes first: memory is zeroed there, and
// twins are made.
static bool settle_from(CudaFlow *flow, size_t first) {
    take_part(flow, first);
    flow->settled = true;
    CUresult result = wait_for_service(flow);
    for (size_t i = first; i < flow->n_uses && !result; i++)
        if (flow->uses[i].brought) {
            result = bring(flow, &flow->uses[i]);
            flow->busy = true;
        }
    if (!result) result = wait_for_service(flow);
    for (size_t i = first; i < flow->n_uses && !result; i++)
        if (flow->uses[i].brought) result = bring_twin(flow, &flow->uses[i]);
    return cuda_check(flow, result);
}

bool cuda_settle(CudaFlow *flow) {
    if (failed(flow->run)) return false;
    if (flow->settled) return true;
    put_together(flow);
    return settle_from(flow, 0);
}

// ---- Runs that follow each other ----

bool cuda_start(DevRun *run) {
    CudaFlow *flow = cuda_flow(run);
    return flow && !failed(run) && cuda_check(flow, cuda_flush(flow));
}

bool cuda_is_done(DevRun *run) {
    CudaFlow *flow = cuda_flow(run);
    if (!flow || failed(run) || !flow->busy) return true;
    CUresult result = flow->device->driver->cuStreamQuery(flow->stream);
    flow->seen_done = !result;
    if (result == CUDA_ERROR_NOT_READY) pause_since(flow->start_ns, os_now_ns());
    return result != CUDA_ERROR_NOT_READY;
}

// Memory whose side at the host counts is brought before a run and taken back behind it: such runs
// wait.
static bool take_part_at_once(CudaFlow *flow) {
    CudaDevice *d = flow->device;
    bool free = true;
    put_together(flow);
    pthread_mutex_lock(&d->lock);
    for (size_t i = 0; i < flow->n_uses && free; i++) {
        const CudaMemory *m = flow->uses[i].memory;
        free = m->storage != DEV_SHARED || !atomic_load(&m->shown);
    }
    if (free) count_uses(flow, 0);
    pthread_mutex_unlock(&d->lock);
    flow->settled = free;
    return free;
}

// The run takes the stream over, and with it the place of its constants: commands that come again
// are the same then. The one before has a stream that is done when that one has come so far.
static void take_over(CudaFlow *flow, CudaFlow *first) {
    CUstream stream = first->stream;
    CudaCopies *copies = first->copies;
    uint64_t seen = first->seen_service;
    first->stream = flow->stream, flow->stream = stream;
    first->copies = flow->copies, flow->copies = copies;
    first->seen_service = flow->seen_service, flow->seen_service = seen;
    first->follows = flow;
}

bool cuda_follow(DevRun *run, DevRun *before) {
    CudaFlow *flow = cuda_flow(run), *first = cuda_flow(before);
    if (!flow || !first || failed(run) || failed(before) || first->wrote_zeros || first->pieces ||
        !first->busy)
        return false;
    const CudaDriver *driver = flow->device->driver;
    if (!first->started && driver->cuEventCreate(&first->started, CU_EVENT_DISABLE_TIMING)) {
        first->started = NULL;
        return false;
    }
    if (!take_part_at_once(flow)) return false;
    CUresult result = driver->cuEventRecord(first->started, first->stream);
    if (!result) result = driver->cuStreamWaitEvent(flow->stream, first->started, 0);
    if (!result) take_over(flow, first);
    if (!result) result = wait_for_service(flow);
    return cuda_check(flow, result);
}

// Arguments that commands of an indirect command buffer name need not be announced.
static bool reach(CudaFlow *flow, const CudaCode *code, void *const *args) {
    for (uint32_t i = 0; i < code->head.n_slots; i++) {
        uint64_t address = (uintptr_t)args[i], *known = &flow->known[address >> 8 & 15];
        if (!address || *known == address || !(code->buffer_slots[i / 64] >> i % 64 & 1)) continue;
        *known = address;
        CudaMemory *m = cuda_memory_at(args[i]);
        if (!m || m->storage == DEV_PRIVATE || m->owner != flow->device) continue;
        size_t n = flow->n_uses, k = 0;
        while (k < n && flow->uses[k].memory != m) k++;
        if (k < n) continue;
        DevMemory all = {.address = (char *)(uintptr_t)m->device, .n_bytes = m->n_bytes, .part = m};
        cuda_use(flow->run, &all, true);
        if (failed(flow->run) || !settle_from(flow, n)) return false;
    }
    return true;
}

// ---- Dispatches ----

static void note_kernel(CudaFlow *flow, const char *name) {
    enum { MAX = sizeof flow->kernels / sizeof *flow->kernels };
    for (unsigned i = 0; i < flow->n_kernels; i++)
        if (flow->kernels[i] == name) return;
    if (flow->n_kernels < MAX) flow->kernels[flow->n_kernels++] = name ? name : "?";
}

// Arguments that are not bound are the host's zeros, where a GPU has nothing.
static bool replace_zeros(CudaFlow *flow, const CudaCode *code, uint64_t *slots) {
    CudaDevice *d = flow->device;
    for (uint32_t i = 0; i < code->head.n_slots; i++) {
        if (!(code->buffer_slots[i / 64] >> i % 64 & 1) ||
            !os_among_zeros((const void *)(uintptr_t)slots[i]))
            continue;
        pthread_mutex_lock(&d->lock);
        if (!d->zeros) d->zeros = cuda_alloc(d, CUDA_ZEROS_BYTES, true);
        pthread_mutex_unlock(&d->lock);
        if (!d->zeros) return false;
        slots[i] = d->zeros;
        flow->wrote_zeros = true;
        if (wait_for_service(flow)) return false;
    }
    return true;
}

// Constants lie in memory of the host's, which a GPU reads across the bus: a microsecond for every
// kernel, and again for every block. So what a run needs of it is copied to the device first, if it
// is not what the run before had (a copy before a graph costs ten microseconds of its time). The
// copies are not among the commands that may become a graph, but before them, and their places are
// the flow's, one after the other: so commands are the same when only the host's pieces are others.
static CudaCopies *new_copies(CudaDevice *d) {
    CudaCopies *copies = malloc(sizeof *copies);
    if (!copies) return NULL;
    copies->n_known = 0;
    copies->at = cuda_alloc(d, CUDA_CONSTANTS_BYTES, false);
    if (copies->at) return copies;
    free(copies);
    return NULL;
}

static CUdeviceptr place_for(CudaFlow *flow, const char *piece, size_t n_bytes) {
    enum { MAX = sizeof flow->brought / sizeof *flow->brought };
    for (unsigned k = 0; k < MAX; k++)
        if (flow->brought[k].piece == piece) return flow->brought[k].copy;
    if (!flow->copies) flow->copies = new_copies(flow->device);
    CudaCopies *copies = flow->copies;
    size_t at = flow->n_copied;
    if (!copies || n_bytes > CUDA_CONSTANTS_BYTES - at) return 0;
    CUdeviceptr copy = copies->at + at;
    if (wait_for_service(flow)) return 0;
    if (at + n_bytes > copies->n_known || memcmp(copies->known + at, piece, n_bytes) != 0) {
        copies->n_known = copies->n_known < at ? copies->n_known : at;
        if (flow->device->driver->cuMemcpyAsync(copy, (uintptr_t)piece, n_bytes, flow->stream))
            return 0;
        memcpy(copies->known + at, piece, n_bytes);
        copies->n_known = at + n_bytes;
        flow->busy = true;
    }
    flow->n_copied += n_bytes;
    flow->brought[flow->n_brought].piece = piece;
    flow->brought[flow->n_brought].copy = copy;
    flow->n_brought = (flow->n_brought + 1) % MAX;
    return copy;
}

// A bit for each of the first 32 slots that was one.
static uint32_t bring_constants(CudaFlow *flow, const CudaCode *code, uint64_t *slots) {
    uint32_t copied = 0;
    for (uint32_t i = 0; i < code->head.n_slots; i++) {
        if (!(code->buffer_slots[i / 64] >> i % 64 & 1)) continue;
        size_t n_bytes;
        const char *piece = cuda_pinned_piece(flow->device, slots[i], &n_bytes);
        CUdeviceptr copy = piece ? place_for(flow, piece, n_bytes) : 0;
        if (!copy) continue;
        slots[i] = copy + (slots[i] - (uintptr_t)piece);
        if (i < 32) copied |= 1u << i;
    }
    return copied;
}

// The driver takes 2^31 - 1 blocks in x and 65,535 in y and z: larger grids go in pieces.
static CUresult launch_pieces(CudaFlow *flow, CudaLaunch *launch, char *parameters, size_t at,
                              CudaGrid *grid) {
    static const uint32_t most[3] = {0x7fffffff, 65535, 65535};
    const uint32_t *n = grid->groups;
    CUresult result = CUDA_SUCCESS;
    for (uint64_t z = 0; z < n[2] && !result; z += most[2])
        for (uint64_t y = 0; y < n[1] && !result; y += most[1])
            for (uint64_t x = 0; x < n[0] && !result; x += most[0]) {
                const uint64_t first[3] = {x, y, z};
                for (int i = 0; i < 3; i++) {
                    grid->first[i] = (uint32_t)first[i];
                    launch->grid[i] =
                        n[i] - grid->first[i] < most[i] ? n[i] - grid->first[i] : most[i];
                }
                memcpy(parameters + at, grid, sizeof *grid);
                result = cuda_launch(flow, launch, parameters);
            }
    return result;
}

// Constants that came with the command, as words behind those of the grid. Where they lie is then
// of no interest: commands are the same with others, elsewhere.
static void give_constants(const CudaDevice *d, const CudaCode *code, uint64_t *slots,
                           CudaGrid *grid, uint32_t *words) {
    uint32_t slot = UINT32_MAX;
    size_t n_bytes = 0;
    for (uint32_t i = 0; i < code->n_constants; i++) {
        size_t at = (code->constants[i] & 255) * sizeof *words;
        if (code->constants[i] >> 8 != slot) {
            slot = code->constants[i] >> 8;
            n_bytes = slot < code->head.n_slots ? cuda_pinned_from(d, slots[slot]) : 0;
            if (n_bytes >= CUDA_CONSTANT_BYTES) grid->given |= 1u << slot;
        }
        words[i] = 0;
        if (n_bytes >= CUDA_CONSTANT_BYTES)
            memcpy(&words[i], (const char *)(uintptr_t)slots[slot] + at, sizeof *words);
    }
    for (uint32_t all = grid->given & code->only_constants; all; all &= all - 1)
        slots[__builtin_ctz(all)] = 0;
}

static bool dispatch_one(CudaFlow *flow, const DevDispatch *d) {
    DevCode *optimised = d->optimised ? atomic_load(d->optimised) : NULL;
    bool fits = optimised && optimised->threadgroup_bytes == d->code->threadgroup_bytes;
    CudaCode *code = (CudaCode *)(fits ? optimised : d->code);
    const CudaMade *made = cuda_code_made(code);
    if (!made) {
        fail(flow, atomic_load(&flow->device->is_lost) ? DEV_FAULT_LOST : DEV_FAULT_NO_MEMORY);
        return false;
    }
    struct {
        uint64_t slots[CUDA_MAX_SLOTS];
        CudaGrid grid;
        uint32_t constants[CUDA_MAX_CONSTANTS];
        uint64_t surroundings; // or, with fewer slots, before
    } room;
    uint32_t n_slots = code->head.n_slots;
    uint64_t threads = (uint64_t)d->group_size[0] * d->group_size[1] * d->group_size[2];
    bool line = code->flags & CUDA_KERNEL_LINE;
    CudaLaunch launch = {.function = made->function,
                         .code = code,
                         .block = {d->group_size[0], d->group_size[1], d->group_size[2]},
                         .shared_bytes = code->library_bytes + d->threadgroup_bytes,
                         .n_bytes = (uint32_t)(n_slots * sizeof *room.slots + sizeof room.grid),
                         .n_constants = code->n_constants};
    if (line) launch.block[0] = (uint32_t)threads, launch.block[1] = launch.block[2] = 1;
    note_kernel(flow, atomic_load_explicit(&flow->run->kernel, memory_order_relaxed));
    // A block has at most 64 threads in z, and a kernel with many registers fewer in all.
    if (launch.block[2] > 64 || threads > (uint64_t)made->max_threads ||
        launch.shared_bytes > flow->device->max_shared) {
        fail(flow,
             launch.shared_bytes > flow->device->max_shared ? DEV_FAULT_NO_MEMORY : DEV_FAULT_SIZE);
        return false;
    }
    if (!reach(flow, code, d->args)) return false;
    memcpy(room.slots, d->args, n_slots * sizeof *room.slots);
    CudaGrid grid = {.whole = 1};
    if (code->n_constants) {
        uint32_t words[CUDA_MAX_CONSTANTS];
        give_constants(flow->device, code, room.slots, &grid, words);
        memcpy((char *)&room + launch.n_bytes, words, code->n_constants * sizeof *words);
        launch.n_bytes += code->n_constants * (uint32_t)sizeof *words;
    }
    if (!replace_zeros(flow, code, room.slots)) {
        fail(flow, DEV_FAULT_NO_MEMORY);
        return false;
    }
    launch.copied = bring_constants(flow, code, room.slots);
    memcpy(grid.threads, d->threads_per_grid, sizeof grid.threads);
    memcpy(grid.groups, d->groups_per_grid, sizeof grid.groups);
    memcpy(grid.size, d->group_size, sizeof grid.size);
    memcpy(grid.origin, d->grid_origin, sizeof grid.origin);
    memcpy(grid.region, d->grid_size, sizeof grid.region);
    const CUdeviceptr views = cuda_views_table(flow->device);
    memcpy(grid.views, &views, sizeof grid.views);
    for (int i = 0; i < 3; i++)
        grid.whole &= (uint64_t)d->groups_per_grid[i] * d->group_size[i] == d->threads_per_grid[i];
    size_t at = n_slots * sizeof *room.slots;
    if (code->flags & CUDA_KERNEL_SURROUNDINGS) {
        uint64_t address = cuda_surroundings(flow, d, room.slots, n_slots);
        size_t behind = (launch.n_bytes + 7) & ~(size_t)7;
        if (!address) {
            fail(flow, DEV_FAULT_NO_MEMORY);
            return false;
        }
        memcpy((char *)&room + behind, &address, sizeof address);
        launch.n_bytes = (uint32_t)(behind + sizeof address);
    }
    return cuda_check(flow, launch_pieces(flow, &launch, (char *)&room, at, &grid));
}

bool cuda_dispatch(DevRun *run, const DevDispatch *dispatches, size_t n) {
    CudaFlow *flow = cuda_flow(run);
    if (!flow || !cuda_settle(flow)) return false;
    for (size_t i = 0; i < n; i++)
        if (!dispatch_one(flow, &dispatches[i])) return false;
    return true;
}

// ---- Copies ----

// A command where both sides are the device's: it may be part of a graph.
static bool copy_ordered(CudaFlow *flow, CUdeviceptr to, CUdeviceptr from, size_t n_bytes,
                         bool on_device) {
    if (on_device) return cuda_check(flow, cuda_enqueue_copy(flow, to, from, n_bytes));
    if (!cuda_check(flow, cuda_flush(flow))) return false;
    cuda_remember(flow);
    flow->busy = true;
    return cuda_check(flow, flow->device->driver->cuMemcpyAsync(to, from, n_bytes, flow->stream));
}

// What the host may read at once: the host's side counts, and the run does not change it.
static const char *unchanged(const CudaFlow *flow, const CudaMemory *m, const void *address) {
    for (size_t i = 0; i < flow->n_uses; i++)
        if (flow->uses[i].memory == m)
            return flow->uses[i].brought && !flow->uses[i].writes
                       ? m->host + ((uintptr_t)address - m->device)
                       : NULL;
    return NULL;
}

bool cuda_copy(DevRun *run, void *to, const void *from, size_t n_bytes) {
    if (dev_is_outside(run)) return cuda_copy_outside(to, from, n_bytes);
    CudaFlow *flow = cuda_flow(run);
    if (!flow || !cuda_settle(flow)) return false;
    if (!n_bytes) return true;
    const CudaMemory *a = cuda_memory_at(to), *b = cuda_memory_at(from);
    const char *host = !a && b ? unchanged(flow, b, from) : NULL;
    if (host) {
        memcpy(to, host, n_bytes);
        return true;
    }
    return copy_ordered(flow, (uintptr_t)to, (uintptr_t)from, n_bytes, a && b);
}

bool cuda_fill(DevRun *run, void *to, uint8_t value, size_t n_bytes) {
    if (dev_is_outside(run)) return cuda_fill_outside(to, value, n_bytes);
    CudaFlow *flow = cuda_flow(run);
    if (!flow || !cuda_settle(flow)) return false;
    return !n_bytes || cuda_check(flow, cuda_enqueue_fill(flow, (uintptr_t)to, value, n_bytes));
}

bool cuda_synchronize(DevRun *run, const DevMemory *memory) {
    CudaFlow *flow = cuda_flow(run);
    const CudaMemory *m = memory->part;
    if (!flow || !cuda_settle(flow)) return false;
    if (!m || m->storage != DEV_MANAGED) return true;
    size_t from = (uintptr_t)memory->address - m->device;
    return copy_ordered(flow, (uintptr_t)m->host + from, m->device + from, memory->n_bytes, false);
}

// ---- Rows and planes ----

static size_t span(const DevSide *s, const DevMove *m) { // bytes from the first to the last
    return (m->n_planes - 1) * s->plane + (m->n_rows - 1) * s->row + m->row;
}

// Elements one by one, and twiddled ones: on the host, on a copy of both sides.
static bool move_by_host(DevRun *run, const DevMove *move) {
    size_t n_from = 0, n_to = 0;
    DevMove m = *move;
    // With steps a row of elements may reach further than its bytes say.
    size_t wide = m.element ? m.n_elements : 0;
    n_from = span(&m.from, &m) + wide * m.from.step;
    n_to = span(&m.to, &m) + wide * m.to.step;
    if (m.from.twiddled) n_from = m.row * m.n_rows * m.n_planes + m.from.plane * m.n_planes;
    if (m.to.twiddled) n_to = m.row * m.n_rows * m.n_planes + m.to.plane * m.n_planes;
    const CudaMemory *a = cuda_memory_at(m.from.at), *b = cuda_memory_at(m.to.at);
    if (a)
        n_from = a->device + a->n_bytes - (uintptr_t)m.from.at < n_from
                     ? a->device + a->n_bytes - (uintptr_t)m.from.at
                     : n_from;
    if (b)
        n_to = b->device + b->n_bytes - (uintptr_t)m.to.at < n_to
                   ? b->device + b->n_bytes - (uintptr_t)m.to.at
                   : n_to;
    char *from = a ? malloc(n_from) : m.from.at, *to = b ? malloc(n_to) : m.to.at;
    bool ok = from && to;
    if (!ok && !dev_is_outside(run)) dev_run_fail(run, DEV_FAULT_NO_MEMORY, 0);
    if (ok && a) ok = cuda_copy(run, from, m.from.at, n_from);
    if (ok && b) ok = cuda_copy(run, to, m.to.at, n_to);
    if (ok && !dev_is_outside(run)) ok = cuda_finish(run);
    if (ok) {
        char *place = m.to.at;
        m.from.at = from;
        m.to.at = to;
        dev_host_move(&m);
        if (b) ok = cuda_copy(run, place, to, n_to) && (dev_is_outside(run) || cuda_finish(run));
    }
    if (a) free(from);
    if (b) free(to);
    return ok;
}

static bool move_rows(DevRun *run, const CudaRows *rows) {
    if (dev_is_outside(run)) return cuda_rows_outside(rows);
    CudaFlow *flow = cuda_flow(run);
    if (!flow || !cuda_settle(flow) || !cuda_check(flow, cuda_flush(flow))) return false;
    cuda_remember(flow);
    flow->busy = true;
    return cuda_check(flow, cuda_rows(flow->device->driver, rows, flow->stream));
}

bool cuda_move(DevRun *run, const DevMove *m) {
    if (!m->n_rows || !m->n_planes || (!m->row && !m->n_elements)) return true;
    if (m->element || m->from.twiddled || m->to.twiddled) return move_by_host(run, m);
    // Rows that follow each other are one copy. (A single row may have no pitch.)
    bool whole = m->n_rows == 1 || (m->from.row == m->row && m->to.row == m->row);
    for (size_t z = 0; z < m->n_planes; z++) {
        const CudaRows rows = {.to = m->to.at + z * m->to.plane,
                               .from = m->from.at + z * m->from.plane,
                               .to_pitch = m->to.row,
                               .from_pitch = m->from.row,
                               .n_bytes = m->row,
                               .n_rows = m->n_rows};
        if (!(whole ? cuda_copy(run, rows.to, rows.from, m->row * m->n_rows)
                    : move_rows(run, &rows)))
            return false;
    }
    // The host's rows may be gone when this returns.
    bool host = !cuda_memory_at(m->from.at);
    return dev_is_outside(run) || !host || cuda_finish(run);
}
