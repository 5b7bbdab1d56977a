// SPDX-License-Identifier: Apache-2.0
// watchdog.c: time limits. A run that exceeds one is marked, and the threads inside its kernels are
// signalled (repeatedly, since a signal may arrive outside kernel code) until they have left.
//
// A run with a deadline has a timer of its own. Only workers run its kernels: they never exit, so
// signalling them is safe.
//
// Calls of kernel code that take too long are found by looking: a thread counts its calls, and a
// timer that ticks while there is something to watch compares the count with what it saw before.
// So a call pays an addition, and a command buffer two. What counts is the time the processor gave
// the thread: a busy machine, a debugger or a laptop that sleeps makes no kernel too slow. The
// thread itself marks the run, which may be gone when the watchdog would.
#include <time.h>
#include "devices/cpu/engine.h"
#include "os/clock.h"
#include "os/timer.h"

#define KICK_INTERVAL_NS 1000000u
#define MAX_TICK_NS 1000000000u
#define TICKS 8u // of a limit

// ---- Deadlines ----

static uint64_t too_late(OsTimer *timer) {
    DevRun *run = ((CpuRunPart *)(void *)timer)->run;
    dev_run_fail(run, DEV_FAULT_TIMEOUT, 0);
    for (CpuThread *t = atomic_load(&cpu_workers); t; t = t->next_worker)
        if (atomic_load(&t->run) == run) cpu_thread_kick(t);
    return os_now_ns() + KICK_INTERVAL_NS;
}

// ---- Calls ----

static atomic_uint n_watched; // runs with a limit of steps
static atomic_bool awake;     // the timer is started
static atomic_uint least_ms;  // the smallest limit there was; 0: none yet
static OsTimer ticking;       // of whoever set awake
static pthread_once_t once = PTHREAD_ONCE_INIT;

static uint64_t spent_ns(const CpuThread *t) {
    clockid_t clock;
    struct timespec time;
    if (pthread_getcpuclockid(t->id, &clock) != 0 || clock_gettime(clock, &time) != 0) return 0;
    return (uint64_t)time.tv_sec * 1000000000u + (uint64_t)time.tv_nsec;
}

static uint64_t next_tick(void) {
    uint64_t interval = (uint64_t)atomic_load(&least_ms) * 1000000u / TICKS;
    interval = interval > MAX_TICK_NS ? MAX_TICK_NS : interval;
    return os_now_ns() + (interval < KICK_INTERVAL_NS ? KICK_INTERVAL_NS : interval);
}

// True: its call is over the limit.
static bool is_late(CpuThread *t) {
    unsigned calls = atomic_load_explicit(&t->calls, memory_order_relaxed);
    uint64_t limit_ns =
        (uint64_t)atomic_load_explicit(&t->step_ms, memory_order_relaxed) * 1000000u;
    if (!atomic_load(&t->run) || limit_ns == 0) return false;
    if (calls != t->seen_calls) {
        t->seen_calls = calls;
        t->seen_ns = spent_ns(t);
        return false;
    }
    if (spent_ns(t) < t->seen_ns + limit_ns) return false;
    atomic_store(&t->late, calls);
    return true;
}

static uint64_t tick(OsTimer *timer) {
    (void)timer;
    if (atomic_load(&n_watched) == 0) {
        atomic_store(&awake, false);
        // A run that begins now counts itself first, then looks whether we are awake.
        if (atomic_load(&n_watched) == 0 || atomic_exchange(&awake, true)) return 0;
    }
    bool kicked = false;
    pthread_mutex_lock(&cpu_threads_lock); // nobody exits meanwhile
    for (CpuThread *t = cpu_threads; t; t = t->next) {
        if (!is_late(t)) continue;
        cpu_thread_kick(t);
        kicked = true;
    }
    pthread_mutex_unlock(&cpu_threads_lock);
    return kicked ? os_now_ns() + KICK_INTERVAL_NS : next_tick();
}

static void after_fork(void) { // the child has neither the timer nor the runs
    atomic_store(&n_watched, 0);
    atomic_store(&awake, false);
}

static void prepare(void) { pthread_atfork(NULL, NULL, after_fork); }

static void watch(uint32_t step_ms) {
    pthread_once(&once, prepare);
    unsigned least = atomic_load_explicit(&least_ms, memory_order_relaxed);
    while ((least == 0 || step_ms < least) &&
           !atomic_compare_exchange_weak(&least_ms, &least, step_ms)) {
    }
    atomic_fetch_add(&n_watched, 1);
    if (atomic_load(&awake) || atomic_exchange(&awake, true)) return;
    ticking = (OsTimer){.fire = tick};
    // Without a thread for it nobody watches: no reason not to run.
    if (!os_timer_start(&ticking, next_tick())) atomic_store(&awake, false);
}

// ---- Runs ----

bool cpu_run_begin(DevRun *run, DevLimits limits) {
    CpuRunPart *part = cpu_run_part(run);
    part->run = run;
    part->has_deadline = part->handled = part->dispatched = false;
    part->step_ms = limits.step_ms;
    if (limits.run_ms) {
        part->deadline = (OsTimer){.fire = too_late};
        part->has_deadline =
            os_timer_start(&part->deadline, os_now_ns() + (uint64_t)limits.run_ms * 1000000u);
        if (!part->has_deadline) return false;
    }
    if (limits.step_ms) watch(limits.step_ms);
    return true;
}

void cpu_run_end(DevRun *run) {
    if (cpu_profiled) cpu_profile_run_ended();
    const CpuRunPart *part = cpu_run_part(run);
    if (part->has_deadline) os_timer_cancel(&cpu_run_part(run)->deadline);
    if (part->step_ms) atomic_fetch_sub(&n_watched, 1);
}
