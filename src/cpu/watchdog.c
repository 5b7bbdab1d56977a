// SPDX-License-Identifier: Apache-2.0
// watchdog.c: time limits. One thread, started with the first run that has a deadline, sleeps until
// the earliest one. When it passes, the run is marked and the workers inside its kernels are
// signalled (again and again, a signal may meet them outside kernel code) until the run ends.
//
// Only workers run kernels of a run with a deadline: they never exit, so signalling them is safe.
#include "cpu/cpu_int.h"
#include "cpu/futex.h"

#define KICK_INTERVAL_NS 1000000u

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t changed;
static CpuRun *watched; // under lock
static bool started;    // under lock

static void kick_workers(CpuRun *run) {
    for (CpuThread *t = atomic_load(&cpu_workers); t; t = t->next_worker)
        if (atomic_load(&t->run) == run) pthread_kill(t->id, cpu_signal_kick());
}

static void *watch(void *unused) {
    (void)unused;
    pthread_mutex_lock(&lock);
    for (;;) {
        uint64_t now = cpu_now_ns(), wake = UINT64_MAX;
        for (CpuRun *run = watched; run; run = run->next_watched) {
            uint64_t next = run->deadline_ns;
            if (next <= now) {
                cpu_run_fail(run, CPU_FAULT_TIMEOUT, 0);
                kick_workers(run);
                next = now + KICK_INTERVAL_NS;
            }
            wake = next < wake ? next : wake;
        }
        if (wake == UINT64_MAX) {
            pthread_cond_wait(&changed, &lock);
        } else {
            struct timespec until = {(time_t)(wake / 1000000000u), (long)(wake % 1000000000u)};
            pthread_cond_timedwait(&changed, &lock, &until);
        }
    }
    return NULL;
}

// With lock held.
static bool start(void) {
    if (started) return true;
    pthread_condattr_t attributes;
    pthread_condattr_init(&attributes);
    pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC);
    pthread_cond_init(&changed, &attributes);
    pthread_condattr_destroy(&attributes);
    pthread_t thread;
    sigset_t all, old;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &old); // the application's signals are not for this thread
    started = pthread_create(&thread, NULL, watch, NULL) == 0;
    pthread_sigmask(SIG_SETMASK, &old, NULL);
    if (started) pthread_detach(thread);
    return started;
}

bool cpu_run_begin(CpuRun *run, uint32_t timeout_ms) {
    run->deadline_ns = 0;
    cpu_signals_install(); // somebody may have put a handler over ours
    if (timeout_ms == 0) return true;
    pthread_mutex_lock(&lock);
    bool ok = start();
    if (ok) {
        run->deadline_ns = cpu_now_ns() + (uint64_t)timeout_ms * 1000000u;
        run->next_watched = watched;
        watched = run;
        pthread_cond_signal(&changed);
    }
    pthread_mutex_unlock(&lock);
    return ok;
}

void cpu_run_end(CpuRun *run) {
    if (run->deadline_ns == 0) return;
    pthread_mutex_lock(&lock);
    CpuRun **at = &watched;
    while (*at != run) at = &(*at)->next_watched;
    *at = run->next_watched;
    pthread_mutex_unlock(&lock);
}

void cpu_watchdog_after_fork(void) {
    pthread_mutex_init(&lock, NULL);
    watched = NULL;
    started = false;
}
