// SPDX-License-Identifier: Apache-2.0
// dispatch.c: threadgroups to threads. A dispatch of a few microseconds runs on the calling thread;
// a larger one becomes a job. Each thread owns a range of threadgroups, the same one each time
// (cache affinity), and takes chunks from it, large at first and smaller towards the end (guided
// scheduling). Then it steals from the other threads' ranges (work stealing), so that no thread
// waits long for the last one.
//
// The cost of a threadgroup is learnt from earlier runs of the same code; unknown code is measured
// with its first threadgroup.
#include <stdlib.h>
#include <string.h>
#include "abi/imageblock.h"
#include "devices/cpu/engine.h"
#include "devices/cpu/tensor/ops.h"
#include "devices/cpu/texture/ops.h"
#include "devices/cpu/watch.h"
#include "os/clock.h"
#include "os/futex.h"
#include "os/pool.h"

#define ALONE_NS 10000u      // below this, waking others costs more than they bring
#define CHUNK_NS 4000u       // a chunk should last at least this long,
#define MAX_CHUNK_NS 250000u // and not longer than this: where the work lies is not known
#define HELPER_NS 8000u      // a helper should find at least this much to do
#define SHORT_NS 1000u       // below this, reading the clock is a part of what it shows
#define UNTIMED_NS 2000u     // below this, so many runs of known code are not timed before
#define UNTIMED 7u           // one is: to look waits for all that the kernel has under way
#define ONE_PIECE_NS 4000u   // known code that is expected to be done by then runs in one piece
#define HASTY_NS 30000000u   // those who must not be kept long help with jobs shorter than this
#define MAX_PARTS 32u
#define MAX_RANGES 64u // bits of a word; with more threads some begin in the same range

typedef struct Part {
    CpuContextLaunch launch; // first
    CpuCode *code;
    DevCode *_Atomic const *optimised; // NULL: none will come
    const DevDispatch *dispatch;       // with that: who would want it
    uint64_t first;                    // its place in the job's numbering of threadgroups
    uint64_t n_groups;
    DevImageblock imageblock;
    size_t args_at; // with one: behind threadgroup memory, where a thread's own arguments are
} Part;

// A part of the job where one thread begins, the same each time: what it touched in the job before
// is still in the caches of its core. Who has nothing left takes from others.
typedef struct Range {
    _Alignas(64) _Atomic uint64_t next;
    uint64_t end;
} Range;

typedef struct Share {
    OsJob job; // first: the pool hands this back
    DevRun *run;
    Part parts[MAX_PARTS];
    size_t n_parts;
    size_t threadgroup_bytes, frame_bytes;
    uint64_t total, min_chunk, max_chunk;
    Range *ranges;
    unsigned n_ranges;
    bool waits; // its owner takes no part, and sleeps until a helper has finished
    // There is new code, and what its first threadgroup cost says little of the others: chunks
    // grow with what is done, and change with what is learnt.
    bool fresh;
    bool
        ordered; // threadgroups run one by one: they are watched, or in an order that was asked for
    char apart[64];        // what all write from what all read
    _Atomic uint64_t done; // threadgroups, if fresh
    _Atomic uint64_t open; // a bit for each range of which something is left
    atomic_bool begun;     // one by one: who does it is known
    atomic_uint finished;  // helpers that found nothing more to take
} Share;

// The receiver is ordinary code with locks: no jumping out of it. It may even run kernels on this
// thread, which then is in the state of one that runs none.
static void leave_kernel(CpuThread *outer) {
    CpuThread *t = cpu_thread_current();
    t->escape.inside = 0;
    if (cpu_debugged) cpu_debug_leave(); // it may wait for kernels of other threads
    *outer = *t;
    t->stack = NULL;
    t->threadgroup_memory = t->frames = NULL;
    t->threadgroup_capacity = t->frames_capacity = 0;
}

static void enter_kernel(const CpuThread *outer, DevRun *run) {
    CpuThread *t = cpu_thread_current();
    if (cpu_debugged) cpu_debug_enter();
    cpu_thread_free_memory(t);
    t->stack = outer->stack;
    t->guard_bytes = outer->guard_bytes;
    t->threadgroup_memory = outer->threadgroup_memory;
    t->threadgroup_capacity = outer->threadgroup_capacity;
    t->frames = outer->frames;
    t->frames_capacity = outer->frames_capacity;
    t->escape = outer->escape;
    memcpy(&t->jump, &outer->jump, sizeof t->jump);
    atomic_store(&t->step_ms, atomic_load(&outer->step_ms));
    atomic_store(&t->calls, atomic_load(&outer->calls));
    atomic_store(&t->run, run);
    if (cpu_thread_stops(t, run)) {
        t->signal = 0;
        cpu_stack_escape();
    }
    t->escape.inside = 1;
}

static void report_from_kernel(const CpuLaunch *launch, const AbiReport *report) {
    DevRun *run = launch->log_context;
    if (!run->report) return;
    CpuThread outer;
    leave_kernel(&outer);
    // Every launch is the first member of one with a context.
    run->report(run->report_context, ((const CpuContextLaunch *)(const void *)launch)->context,
                report);
    enter_kernel(&outer, run);
}

// Texts are constants of the program, or they are not read: a kernel may give any address.
static void log_from_kernel(const CpuLaunch *launch, uint32_t type, const char *where,
                            const char *format, const uint64_t *args, uint32_t n_args) {
    enum { MAX_RECORDS = 128, IS_TEXT = 5 }; // stdlib/detail/logging.h
    static const char none[] = "(no constant of the program)";
    const void *caller = __builtin_return_address(0);
    DevRun *run = launch->log_context;
    uint64_t records[2 * MAX_RECORDS];
    if (!run->log) return;
    if (n_args > MAX_RECORDS) n_args = MAX_RECORDS;
    memcpy(records, args, n_args * 2 * sizeof *args); // a fault is still the kernel's
    CpuThread outer;
    leave_kernel(&outer);
    if (!cpu_code_has_text(caller, format)) format = none;
    // Two of them, one behind the other.
    if (!cpu_code_has_text(caller, where) || !cpu_code_has_text(caller, where + strlen(where) + 1))
        where = NULL;
    for (uint32_t i = 0; i < n_args; i++) {
        const char *text = (const char *)(uintptr_t)records[2 * i + 1];
        if ((records[2 * i] & 255) == IS_TEXT && text && !cpu_code_has_text(caller, text))
            records[2 * i + 1] = (uint64_t)(uintptr_t)none;
    }
    run->log(run->log_context, type, where, format, records, n_args);
    enter_kernel(&outer, run);
}

void cpu_launch_init(CpuContextLaunch *launch, DevRun *run, void *context) {
    *launch = (CpuContextLaunch){.launch = {.log = log_from_kernel,
                                            .log_context = run,
                                            .textures = cpu_texture_ops(),
                                            .tensors = cpu_tensor_ops(),
                                            .rays = cpu_ray_ops(),
                                            .report = report_from_kernel,
                                            .count = cpu_profile_count},
                                 .context = context};
}

static void learn(CpuCode *code, uint64_t ns, uint64_t n_groups) {
    uint64_t sample = ns * 16 / n_groups;
    sample = sample < 1 ? 1 : sample > UINT32_MAX ? UINT32_MAX : sample;
    unsigned old = atomic_load_explicit(&code->ns_per_group_x16, memory_order_relaxed);
    uint64_t mixed = old ? ((uint64_t)old * 3 + sample) / 4 : sample;
    atomic_store_explicit(&code->ns_per_group_x16, (unsigned)(mixed ? mixed : 1),
                          memory_order_relaxed);
    atomic_fetch_add_explicit(&code->head.spent_ns, ns, memory_order_relaxed);
}

// What a thread has to tell of the chunks that it ran: all who help write it to the same place.
typedef struct Tally {
    CpuCode *code;
    uint64_t ns, n_groups;
    uint64_t untimed_ns; // of those that were not timed
} Tally;

static void tell(Tally *tally) {
    if (tally->n_groups) learn(tally->code, tally->ns, tally->n_groups);
    if (tally->untimed_ns)
        atomic_fetch_add_explicit(&tally->code->head.spent_ns, tally->untimed_ns,
                                  memory_order_relaxed);
    *tally = (Tally){.code = tally->code};
}

// What a range of known code should take if it is short and need not be timed; 0: look at the
// clock.
static uint64_t untimed_ns(CpuThread *t, const CpuCode *code, uint64_t n_groups) {
    uint64_t each = atomic_load_explicit(&code->ns_per_group_x16, memory_order_relaxed);
    if (each == 0 || n_groups > 16 * UNTIMED_NS / each || t->n_untimed++ == UNTIMED) {
        t->n_untimed = 0;
        return 0;
    }
    return each * n_groups / 16 + 1;
}

static size_t frame_bytes(const CpuCode *code, const uint32_t group_size[3]) {
    size_t threads = (size_t)group_size[0] * group_size[1] * group_size[2];
    return (threads + ABI_SIMD_WIDTH - 1) / ABI_SIMD_WIDTH * code->info.frame_stride;
}

// The code for the next threadgroups: optimised as soon as that is there, if this thread has room.
static CpuCode *code_now(const Share *share, CpuThread *t, const Part *part) {
    DevCode *head =
        part->optimised ? atomic_load_explicit(part->optimised, memory_order_acquire) : NULL;
    if (!head) return part->code;
    CpuCode *code = cpu_code(head);
    size_t frames = frame_bytes(code, part->launch.launch.group_size);
    bool fits = code->info.stack_bytes <= part->code->info.stack_bytes &&
                code->head.threadgroup_bytes == part->code->head.threadgroup_bytes &&
                cpu_thread_reserve(t, share->threadgroup_bytes,
                                   frames > share->frame_bytes ? frames : share->frame_bytes);
    return fits ? code : part->code;
}

static uint64_t estimate_ns(const Share *share) {
    uint64_t ns = 0;
    for (size_t i = 0; i < share->n_parts; i++) {
        const Part *part = &share->parts[i];
        uint64_t each = atomic_load_explicit(&part->code->ns_per_group_x16, memory_order_relaxed);
        ns += (part->n_groups > UINT32_MAX ? UINT32_MAX : part->n_groups) * each / 16;
    }
    return ns;
}

// The launch as this thread runs it: an imageblock lies in its own memory.
static const CpuLaunch *launch_of(const CpuThread *t, const Part *part, CpuContextLaunch *own) {
    const DevImageblock *block = &part->imageblock;
    if (!block->pixel_bytes) return &part->launch.launch;
    char *memory = t->threadgroup_memory;
    void **args = (void **)(void *)(memory + part->args_at);
    const AbiImageblockHead head = {.width = (uint16_t)block->width,
                                    .height = (uint16_t)block->height,
                                    .samples = 1,
                                    .stride = block->pixel_bytes};
    memcpy(memory + block->at, &head, sizeof head);
    memcpy(args, part->launch.launch.args, part->code->info.n_slots * sizeof *args);
    args[block->slot] = memory + block->at;
    *own = part->launch;
    own->launch.args = args;
    return &own->launch;
}

// Threadgroups of a part that nobody has taken, where `done` was the last.
static uint64_t left_of(const Share *share, const Part *part, uint64_t done) {
    uint64_t end = part->first + part->n_groups, left = 0;
    if (share->n_ranges == 0) return end - done;
    for (unsigned i = 0; i < share->n_ranges; i++) {
        const Range *range = &share->ranges[i];
        uint64_t from = atomic_load_explicit(&range->next, memory_order_relaxed);
        uint64_t to = range->end < end ? range->end : end;
        if (from < part->first) from = part->first;
        if (from < to) left += to - from;
    }
    return left;
}

// Says that optimised code would pay, if it has not come and much is left to do. A part of it must
// have been done: one threadgroup whose thread had to wait for a processor says nothing.
static void want_optimised(const Share *share, const Part *part, uint64_t done) {
    const DevDispatch *d = part->dispatch;
    if (!part->optimised || !d->want_optimised) return;
    uint64_t each = atomic_load_explicit(&part->code->ns_per_group_x16, memory_order_relaxed),
             left = left_of(share, part, done);
    uint64_t ns = (left > UINT32_MAX ? UINT32_MAX : left) * each / 16 / os_pool_threads();
    uint64_t spent = atomic_load_explicit(&part->code->head.spent_ns, memory_order_relaxed);
    if (ns > d->want_ns && spent > d->want_ns / 8 &&
        !atomic_load_explicit(part->optimised, memory_order_relaxed))
        d->want_optimised(d->want_context, d->group_size);
}

// Threadgroups first .. end-1 of the job, which may belong to several parts.
static bool run_range(Share *share, CpuThread *t, Tally *tally, uint64_t first, uint64_t end) {
    for (size_t i = 0; i < share->n_parts && first < end; i++) {
        Part *part = &share->parts[i];
        if (first >= part->first + part->n_groups) continue;
        uint64_t stop = part->first + part->n_groups < end ? part->first + part->n_groups : end;
        CpuContextLaunch own;
        CpuCode *code = code_now(share, t, part);
        const CpuLaunch *launch = launch_of(t, part, &own);
        uint64_t likely_ns = untimed_ns(t, code, stop - first),
                 begin_ns = likely_ns ? 0 : os_now_ns();
        if (!cpu_thread_run(t, share->run, code, launch, first - part->first, stop - part->first))
            return false;
        if (tally->code != code) tell(tally);
        tally->code = code;
        tally->untimed_ns += likely_ns;
        tally->ns += likely_ns ? 0 : os_now_ns() - begin_ns;
        tally->n_groups += likely_ns ? 0 : stop - first;
        if (share->fresh || part->optimised) { // what it says is wanted now
            tell(tally);
            if (!likely_ns) want_optimised(share, part, stop);
        }
        if (share->fresh)
            atomic_fetch_add_explicit(&share->done, stop - first, memory_order_relaxed);
        first = stop;
    }
    return true;
}

static uint64_t known_to_be_short(const Share *share, uint64_t n) {
    uint64_t each = estimate_ns(share) / share->total;
    uint64_t done = atomic_load_explicit(&share->done, memory_order_relaxed);
    n = n > done ? done : n;
    n = each && n > MAX_CHUNK_NS / each ? MAX_CHUNK_NS / each : n;
    return n ? n : 1;
}

// An eighth of what is left of the range at most: a few threadgroups may be most of the work, or
// the thread's processor slow, and all others wait for the last chunk.
static bool take_from(Share *share, unsigned ix, uint64_t *first, uint64_t *end) {
    Range *range = &share->ranges[ix];
    uint64_t at = atomic_load_explicit(&range->next, memory_order_relaxed), n;
    do {
        if (at >= range->end) return false;
        n = (range->end - at) / 8;
        n = n > share->max_chunk ? share->max_chunk : n;
        n = n < share->min_chunk ? share->min_chunk : n;
        if (share->fresh) n = known_to_be_short(share, n);
        n = n > range->end - at ? range->end - at : n;
    } while (!atomic_compare_exchange_weak_explicit(&range->next, &at, at + n, memory_order_relaxed,
                                                    memory_order_relaxed));
    if (at + n == range->end)
        atomic_fetch_and_explicit(&share->open, ~((uint64_t)1 << ix), memory_order_relaxed);
    *first = at;
    *end = at + n;
    return true;
}

// `ix`: the range where the thread is.
static bool take_chunk(Share *share, unsigned *ix, uint64_t *first, uint64_t *end) {
    if (take_from(share, *ix, first, end)) return true;
    uint64_t open = atomic_load_explicit(&share->open, memory_order_relaxed);
    while (open) {
        uint64_t behind = open & ~(uint64_t)1 << *ix; // those behind it come first
        unsigned other = (unsigned)__builtin_ctzll(behind ? behind : open);
        if (take_from(share, other, first, end)) {
            *ix = other;
            return true;
        }
        open &= ~((uint64_t)1 << other);
    }
    return false;
}

static void take_all(Share *share, CpuThread *t) {
    unsigned ix = os_pool_place() % share->n_ranges;
    Tally tally = {0};
    uint64_t first, end;
    while (atomic_load_explicit(&share->run->fault, memory_order_relaxed) == DEV_FAULT_NONE &&
           take_chunk(share, &ix, &first, &end))
        if (!run_range(share, t, &tally, first, end)) break;
    tell(&tally);
}

// ---- One by one ----

// A number below n for each number below n, none twice: a network of Feistel's on the least even
// number of bits, again while the result is too large.
static uint64_t permuted(uint64_t i, uint64_t n, uint64_t seed) {
    enum { ROUNDS = 6 };
    unsigned half = 1;
    while (half < 32 && n > (uint64_t)1 << 2 * half) half++;
    uint64_t mask = ((uint64_t)1 << half) - 1;
    do {
        uint64_t left = i >> half, right = i & mask;
        for (unsigned k = 0; k < ROUNDS; k++) {
            uint64_t z = (right + 1) * 0x9e3779b97f4a7c15u + seed + k * 0xbf58476d1ce4e5b9u;
            z = (z ^ (z >> 29)) * 0x94d049bb133111ebu;
            uint64_t next = left ^ ((z ^ (z >> 32)) & mask);
            left = right;
            right = next;
        }
        i = left << half | right;
    } while (i >= n);
    return i;
}

// For one thread.
static bool run_now(Share *share, CpuThread *t, uint64_t first, uint64_t end) {
    Tally tally = {0};
    bool ok = run_range(share, t, &tally, first, end);
    tell(&tally);
    return ok;
}

static bool run_part(Share *share, CpuThread *t, Part *part) {
    CpuWatcher *w = part->code->sites ? cpu_watch_open() : NULL;
    uint64_t seed = part->launch.launch.schedule;
    bool ok = !part->code->sites ||
              (w && cpu_watch_begin(w, part->code, &part->launch.launch, t->threadgroup_memory,
                                    share->threadgroup_bytes));
    if (!ok) dev_run_fail(share->run, DEV_FAULT_NO_MEMORY, 0);
    for (uint64_t i = 0; ok && i < part->n_groups; i++) {
        uint64_t at = seed ? permuted(i, part->n_groups, seed) : i;
        if (w && !cpu_watch_group(w, at)) {
            dev_run_fail(share->run, DEV_FAULT_NO_MEMORY, 0);
            ok = false;
            break;
        }
        ok = run_now(share, t, part->first + at, part->first + at + 1);
        if (w && ok) cpu_watch_group_end(w);
    }
    if (w && part->launch.launch.watch) cpu_watch_end(w, share->run, part->launch.context);
    if (w) cpu_watch_close(w, !ok);
    return ok;
}

static void run_ordered(Share *share, CpuThread *t) {
    for (size_t i = 0; i < share->n_parts; i++)
        if (!run_part(share, t, &share->parts[i])) return;
}

static void help(OsJob *job) {
    Share *share = (Share *)job;
    CpuThread *t = cpu_thread_self();
    if (!t || !cpu_thread_reserve(t, share->threadgroup_bytes, share->frame_bytes))
        dev_run_fail(share->run, DEV_FAULT_NO_MEMORY, 0);
    else if (!share->ordered)
        take_all(share, t);
    else if (!atomic_exchange(&share->begun, true))
        run_ordered(share, t);
    if (share->waits && atomic_fetch_add(&share->finished, 1) == 0)
        os_futex_wake(&share->finished, 1);
}

static void cut(Share *share, Range *ranges, unsigned n, uint64_t begin) {
    uint64_t each = (share->total - begin) / n, more = (share->total - begin) % n, open = 0;
    for (unsigned i = 0; i < n; i++) {
        atomic_init(&ranges[i].next, begin);
        begin += each + (i < more);
        ranges[i].end = begin;
        if (each || i < more) open |= (uint64_t)1 << i;
    }
    atomic_init(&share->open, open);
    share->ranges = ranges;
    share->n_ranges = n;
}

static void prepare(Share *share, DevRun *run, const DevDispatch *dispatches, size_t n) {
    share->run = run;
    share->n_parts = n;
    share->total = 0;
    share->n_ranges = 0;
    share->fresh = share->ordered = false;
    atomic_init(&share->done, 0);
    share->threadgroup_bytes = share->frame_bytes = 0;
    for (size_t i = 0; i < n; i++) {
        const DevDispatch *d = &dispatches[i];
        Part *part = &share->parts[i];
        part->code = cpu_code(d->code);
        part->optimised = d->optimised;
        part->dispatch = d;
        if (!atomic_load_explicit(&part->code->ns_per_group_x16, memory_order_relaxed))
            share->fresh = true;
        part->first = share->total;
        part->n_groups =
            (uint64_t)d->groups_per_grid[0] * d->groups_per_grid[1] * d->groups_per_grid[2];
        share->total += part->n_groups;
        cpu_launch_init(&part->launch, run, d->context);
        CpuLaunch *launch = &part->launch.launch;
        launch->args = d->args;
        launch->lengths = d->lengths;
        launch->live = d->live;
        launch->schedule = d->schedule;
        if (part->code->sites) part->optimised = NULL;
        share->ordered |= part->code->sites || d->schedule;
        memcpy(launch->threads_per_grid, d->threads_per_grid, sizeof d->threads_per_grid);
        memcpy(launch->groups_per_grid, d->groups_per_grid, sizeof d->groups_per_grid);
        memcpy(launch->group_size, d->group_size, sizeof d->group_size);
        memcpy(launch->grid_origin, d->grid_origin, sizeof d->grid_origin);
        memcpy(launch->grid_size, d->grid_size, sizeof d->grid_size);
        part->imageblock = d->imageblock;
        part->args_at = (d->threadgroup_bytes + 127u) & ~(size_t)127;
        size_t memory = d->imageblock.pixel_bytes
                            ? part->args_at + part->code->info.n_slots * sizeof(void *)
                            : d->threadgroup_bytes;
        if (share->threadgroup_bytes < memory) share->threadgroup_bytes = memory;
        size_t frames = frame_bytes(part->code, d->group_size);
        if (share->frame_bytes < frames) share->frame_bytes = frames;
    }
}

static bool fits_stack(const Share *share) {
    for (size_t i = 0; i < share->n_parts; i++)
        if (share->parts[i].code->info.stack_bytes > CPU_MAX_FRAME) return false;
    return true;
}

static bool is_calm(const Share *share) {
    for (size_t i = 0; i < share->n_parts; i++)
        if (atomic_load_explicit(&share->parts[i].code->n_calm, memory_order_relaxed) < CPU_CALM)
            return false;
    return true;
}

// Some may be lost between threads: they are counted to know that it were many.
static bool end_calmly(Share *share) {
    if (atomic_load(&share->run->fault) != DEV_FAULT_NONE) return false;
    for (size_t i = 0; i < share->n_parts; i++) {
        atomic_uint *n = &share->parts[i].code->n_calm;
        unsigned now = atomic_load_explicit(n, memory_order_relaxed);
        if (now < CPU_CALM) atomic_store_explicit(n, now + 1, memory_order_relaxed);
    }
    return true;
}

static void run_shared(Share *share, CpuThread *t, bool take_part, uint64_t begin) {
    unsigned threads = os_pool_threads();
    uint64_t left = share->total - begin, ns = estimate_ns(share);
    uint64_t each = ns / share->total;
    // With many cores, waking them all for a short job takes longer than the job.
    uint64_t helpers = take_part ? threads - 1 : threads,
             useful = each * (left > UINT32_MAX ? UINT32_MAX : left) / HELPER_NS + 1;
    if (each && useful < helpers) helpers = useful;
    if (helpers > left - take_part) helpers = left - take_part;
    // Who takes a chunk writes what all the others read: a short job has few, of those who come.
    uint64_t takers = helpers + take_part;
    share->min_chunk = each ? CHUNK_NS / each : left / (takers * 16);
    if (share->min_chunk > left / (takers * 4)) share->min_chunk = left / (takers * 4);
    if (each && share->min_chunk < SHORT_NS / each) share->min_chunk = SHORT_NS / each;
    if (share->min_chunk < 1) share->min_chunk = 1;
    share->max_chunk = each ? MAX_CHUNK_NS / each : left;
    Range ranges[MAX_RANGES];
    cut(share, ranges, takers < MAX_RANGES ? (unsigned)takers : MAX_RANGES, begin);
    atomic_init(&share->begun, false);
    atomic_init(&share->finished, 0);
    share->waits = !take_part;
    share->job = (OsJob){.help = help,
                         .for_waiters = !cpu_run_part(share->run)->has_deadline,
                         .is_short = !share->fresh && ns < HASTY_NS,
                         .takes_part = take_part,
                         .max_helpers = (unsigned)helpers};
    bool alone = take_part && helpers == 0;
    if (!alone) os_pool_open_job(&share->job);
    if (take_part) { // in chunks also if alone: optimised code may come between them
        take_all(share, t);
    } else {
        while (atomic_load(&share->finished) == 0) os_futex_wait(&share->finished, 0);
    }
    if (!alone) os_pool_close_job(&share->job);
}

static bool dispatch_parts(DevRun *run, const DevDispatch *dispatches, size_t n) {
    Share share;
    prepare(&share, run, dispatches, n);
    if (share.total == 0) return atomic_load(&run->fault) == DEV_FAULT_NONE;
    CpuThread *t = cpu_thread_self();
    if (!t || !cpu_thread_reserve(t, share.threadgroup_bytes, share.frame_bytes)) {
        dev_run_fail(run, DEV_FAULT_NO_MEMORY, 0);
        return false;
    }
    cpu_run_handle_signals(run, t, is_calm(&share));
    if (!fits_stack(&share)) {
        dev_run_fail(run, DEV_FAULT_STACK, 0);
        return false;
    }
    if (share.ordered && !cpu_run_needs_worker(run, t)) {
        run_ordered(&share, t);
        return end_calmly(&share);
    }
    if (cpu_run_needs_worker(run, t)) {
        run_shared(&share, t, false, 0);
        return end_calmly(&share);
    }
    if (cpu_debugged) return run_now(&share, t, 0, share.total); // in order
    uint64_t begin = 0;
    if (share.total > 1 && estimate_ns(&share) == 0) {
        if (!run_now(&share, t, 0, 1)) return false;
        begin = 1;
    }
    if (share.total - begin == 1 || estimate_ns(&share) < ALONE_NS) {
        // The estimate may be of other data: look at the clock now and then, and call for help
        // after all. The first of a run begins when that does. Of what should be over in a moment
        // a look is a part of the time; how long it took is seen when it is timed again.
        CpuRunPart *own = cpu_run_part(run);
        uint64_t start = own->dispatched || !run->begun_ns ? 0 : run->begun_ns;
        uint64_t n_pieces = !share.fresh && estimate_ns(&share) < ONE_PIECE_NS ? 1 : 4;
        if (!start && n_pieces > 1 && share.total - begin > 1) start = os_now_ns();
        uint64_t piece = (share.total - begin + n_pieces - 1) / n_pieces;
        do {
            uint64_t some = share.fresh ? known_to_be_short(&share, piece) : piece;
            uint64_t end = share.total - begin < some ? share.total : begin + some;
            if (!run_now(&share, t, begin, end)) return false;
            begin = end;
        } while (begin < share.total &&
                 (share.total - begin == 1 || os_now_ns() - start < 2 * ALONE_NS));
        own->dispatched = true;
    }
    if (begin < share.total) run_shared(&share, t, true, begin);
    return end_calmly(&share);
}

bool cpu_dispatch(DevRun *run, const DevDispatch *dispatches, size_t n) {
    for (size_t i = 0; i < n; i += MAX_PARTS)
        if (!dispatch_parts(run, dispatches + i, n - i < MAX_PARTS ? n - i : MAX_PARTS))
            return false;
    return true;
}
