// SPDX-License-Identifier: Apache-2.0
// timer.c: one thread that sleeps until the earliest of a few moments. Started with the first
// timer.
#include "os/timer.h"
#include <pthread.h>
#include <time.h>
#include "os/clock.h"
#include "os/thread.h"

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER; // one thread, of the process
static pthread_cond_t changed;
static OsTimer *timers; // under lock, in no order: they are few
static bool started;    // under lock

static void *serve(void *unused) {
    (void)unused;
    pthread_mutex_lock(&lock);
    for (;;) {
        uint64_t now = os_now_ns(), wake = UINT64_MAX;
        for (OsTimer **at = &timers; *at;) {
            OsTimer *timer = *at;
            if (timer->at_ns <= now) {
                OsTimer *next = timer->next;
                uint64_t again = timer->fire(timer);
                if (again == 0) {
                    *at = next;
                    continue;
                }
                timer->at_ns = again;
            }
            wake = timer->at_ns < wake ? timer->at_ns : wake;
            at = &timer->next;
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

static void after_fork(void) { // the child has neither the thread nor the work it was for
    pthread_mutex_init(&lock, NULL);
    timers = NULL;
    started = false;
}

// With lock held.
static bool start(void) {
    static bool fork_handler;
    if (started) return true;
    if (!fork_handler) fork_handler = pthread_atfork(NULL, NULL, after_fork) == 0;
    pthread_condattr_t attributes;
    pthread_condattr_init(&attributes);
    pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC);
    pthread_cond_init(&changed, &attributes);
    pthread_condattr_destroy(&attributes);
    pthread_t thread;
    started = os_thread_start(&thread, serve, NULL);
    if (started) pthread_detach(thread);
    return started;
}

bool os_timer_start(OsTimer *timer, uint64_t at_ns) {
    pthread_mutex_lock(&lock);
    bool ok = start();
    if (ok) {
        timer->at_ns = at_ns;
        timer->next = timers;
        timers = timer;
        pthread_cond_signal(&changed);
    }
    pthread_mutex_unlock(&lock);
    return ok;
}

void os_timer_cancel(OsTimer *timer) {
    pthread_mutex_lock(&lock);
    for (OsTimer **at = &timers; *at; at = &(*at)->next) {
        if (*at != timer) continue;
        *at = timer->next;
        break;
    }
    pthread_mutex_unlock(&lock);
}
