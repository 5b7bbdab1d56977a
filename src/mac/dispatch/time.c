// SPDX-License-Identifier: Apache-2.0
// time.c: times, waiting until one, works that begin at one, and things done once.
//
// A dispatch_time_t is nanoseconds of the monotonic clock; a time of the wall clock is its
// negative.
#include "mac/dispatch/dispatch_int.h"
#include <errno.h>
#include <stdlib.h>
#include <time.h>

static uint64_t now(clockid_t clock) {
    struct timespec t;
    clock_gettime(clock, &t);
    return (uint64_t)t.tv_sec * NSEC_PER_SEC + (uint64_t)t.tv_nsec;
}
static uint64_t added(uint64_t at, int64_t delta) { // within the clock's range
    if (delta < 0) return at > (uint64_t)-delta ? at + (uint64_t)delta : 1;
    return at + (uint64_t)delta > (uint64_t)INT64_MAX ? (uint64_t)INT64_MAX : at + (uint64_t)delta;
}
static bool is_wall(dispatch_time_t when) { return (int64_t)when < 0; }

dispatch_time_t dispatch_time(dispatch_time_t when, int64_t delta) {
    if (when == DISPATCH_TIME_FOREVER) return when;
    if (when == DISPATCH_WALLTIME_NOW) return dispatch_walltime(NULL, delta);
    if (is_wall(when)) return (uint64_t)-(int64_t)added((uint64_t)-(int64_t)when, delta);
    uint64_t at = added(when ? when : now(CLOCK_MONOTONIC), delta);
    return at == (uint64_t)INT64_MAX ? DISPATCH_TIME_FOREVER : at;
}
dispatch_time_t dispatch_walltime(const struct timespec *when, int64_t delta) {
    uint64_t at = when ? (uint64_t)when->tv_sec * NSEC_PER_SEC + (uint64_t)when->tv_nsec
                       : now(CLOCK_REALTIME);
    at = added(at, delta);
    return at == (uint64_t)INT64_MAX ? DISPATCH_TIME_FOREVER : (uint64_t)-(int64_t)at;
}

static uint64_t clock_time(dispatch_time_t when, clockid_t *clock) {
    *clock = is_wall(when) && when != DISPATCH_WALLTIME_NOW ? CLOCK_REALTIME : CLOCK_MONOTONIC;
    if (when == DISPATCH_TIME_NOW || when == DISPATCH_WALLTIME_NOW) return now(CLOCK_MONOTONIC);
    return is_wall(when) ? (uint64_t)-(int64_t)when : when;
}
bool time_limit(dispatch_time_t when, clockid_t *clock, struct timespec *limit) {
    if (when == DISPATCH_TIME_FOREVER) return false;
    uint64_t at = clock_time(when, clock);
    *limit = (struct timespec){.tv_sec = (time_t)(at / NSEC_PER_SEC),
                               .tv_nsec = (long)(at % NSEC_PER_SEC)};
    return true;
}
int wait_until(pthread_cond_t *changed, pthread_mutex_t *lock, dispatch_time_t when) {
    clockid_t clock;
    struct timespec limit;
    if (!time_limit(when, &clock, &limit)) return pthread_cond_wait(changed, lock);
    return pthread_cond_clockwait(changed, lock, clock, &limit);
}

// ---- Works that begin later: one thread waits for the next of them ----

typedef struct Later {
    struct Later *next;
    uint64_t at; // of the monotonic clock
    Work *work;
} Later;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;
static Later *laters; // by time
static bool started;

static void *wait_for_laters(void *unused) {
    (void)unused;
    pthread_mutex_lock(&lock);
    for (;;) {
        Later *first = laters;
        if (!first || first->at > now(CLOCK_MONOTONIC)) {
            wait_until(&changed, &lock, first ? first->at : DISPATCH_TIME_FOREVER);
            continue;
        }
        laters = first->next;
        pthread_mutex_unlock(&lock);
        queue_push(first->work->queue, first->work);
        free(first);
        pthread_mutex_lock(&lock);
    }
    return NULL;
}

void dispatch_after_f(dispatch_time_t when, Queue *q, void *context, dispatch_function_t function) {
    Work *work = work_new(q, function, context, false);
    clockid_t clock;
    uint64_t at = when == DISPATCH_TIME_FOREVER ? INT64_MAX : clock_time(when, &clock);
    if (when != DISPATCH_TIME_FOREVER && clock == CLOCK_REALTIME) // as far away as it is now
        at = added(now(CLOCK_MONOTONIC), (int64_t)(at - now(CLOCK_REALTIME)));
    if (at <= now(CLOCK_MONOTONIC)) {
        queue_push(q, work);
        return;
    }
    Later *later = dispatch_alloc(sizeof *later);
    pthread_mutex_lock(&lock);
    Later **place = &laters;
    while (*place && (*place)->at <= at) place = &(*place)->next;
    *later = (Later){*place, at, work};
    *place = later;
    pthread_t thread;
    if (!started && pthread_create(&thread, NULL, wait_for_laters, NULL))
        dispatch_fatal("no thread for dispatch_after");
    if (!started) pthread_detach(thread);
    started = true;
    pthread_cond_signal(&changed);
    pthread_mutex_unlock(&lock);
}
OBJC_EXPORT void dispatch_after(dispatch_time_t when, Queue *q, void *block);
void dispatch_after(dispatch_time_t when, Queue *q, void *block) {
    dispatch_after_f(when, q, block_kept(block), block_call_and_release);
}

// ---- Once ----

enum { ONCE_NEW = 0, ONCE_RUNNING = 1, ONCE_DONE = -1 };
static pthread_mutex_t once_lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t once_changed = PTHREAD_COND_INITIALIZER;

void dispatch_once_f(dispatch_once_t *once, void *context, dispatch_function_t function) {
    if (__atomic_load_n(once, __ATOMIC_ACQUIRE) == ONCE_DONE) return;
    pthread_mutex_lock(&once_lock);
    while (*once == ONCE_RUNNING) pthread_cond_wait(&once_changed, &once_lock);
    bool mine = *once == ONCE_NEW;
    if (mine) __atomic_store_n(once, ONCE_RUNNING, __ATOMIC_RELAXED);
    pthread_mutex_unlock(&once_lock);
    if (!mine) return;
    function(context);
    pthread_mutex_lock(&once_lock);
    __atomic_store_n(once, ONCE_DONE, __ATOMIC_RELEASE);
    pthread_cond_broadcast(&once_changed);
    pthread_mutex_unlock(&once_lock);
}
OBJC_EXPORT void dispatch_once(dispatch_once_t *once, void *block);
void dispatch_once(dispatch_once_t *once, void *block) { dispatch_once_f(once, block, block_call); }
