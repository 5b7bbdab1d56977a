// SPDX-License-Identifier: Apache-2.0
// pool.c: the threads that run works: as many as there are processors. Works may wait for each
// other, so when all threads are taken and none takes a new work for a while, one more is started,
// up to a limit.
#include "mac/dispatch/dispatch_int.h"
#include <sched.h>
#include <time.h>

enum { LEAST_THREADS = 4, MOST_THREADS = 128, IDLE_SECONDS = 10, STUCK_NS = 5000000 };

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER; // for what follows
static pthread_cond_t more = PTHREAD_COND_INITIALIZER;
static WorkList ready;
static size_t n_threads, n_idle, n_ready;
static size_t n_taken; // works, ever
static bool watched;   // somebody looks whether the pool is stuck

size_t pool_processors(void) {
    cpu_set_t set;
    return sched_getaffinity(0, sizeof set, &set) ? 1 : (size_t)CPU_COUNT(&set);
}

static void *thread(void *unused) {
    (void)unused;
    pthread_mutex_lock(&lock);
    for (;;) {
        Work *work = list_take(&ready);
        if (work) {
            n_ready--, n_taken++;
            pthread_mutex_unlock(&lock);
            work_run(work);
            pthread_mutex_lock(&lock);
            continue;
        }
        struct timespec limit;
        clock_gettime(CLOCK_REALTIME, &limit);
        limit.tv_sec += IDLE_SECONDS;
        n_idle++;
        int late = pthread_cond_timedwait(&more, &lock, &limit);
        n_idle--;
        if (late && !ready.first) break;
    }
    n_threads--;
    pthread_mutex_unlock(&lock);
    return NULL;
}

static bool start_thread(void *(*function)(void *)) {
    pthread_attr_t attributes;
    pthread_t made;
    pthread_attr_init(&attributes);
    pthread_attr_setdetachstate(&attributes, PTHREAD_CREATE_DETACHED);
    bool started = !pthread_create(&made, &attributes, function, NULL);
    pthread_attr_destroy(&attributes);
    return started;
}

// Stays as long as works are ready that nobody has time for.
static void *watch(void *unused) {
    (void)unused;
    pthread_mutex_lock(&lock);
    while (ready.first && n_threads < MOST_THREADS) {
        size_t before = n_taken;
        pthread_mutex_unlock(&lock);
        nanosleep(&(struct timespec){.tv_nsec = STUCK_NS}, NULL);
        pthread_mutex_lock(&lock);
        if (ready.first && n_taken == before && start_thread(thread)) n_threads++;
    }
    watched = false;
    pthread_mutex_unlock(&lock);
    return NULL;
}

void pool_submit(Work *work) {
    size_t enough = pool_processors();
    if (enough < LEAST_THREADS) enough = LEAST_THREADS;
    pthread_mutex_lock(&lock);
    list_add(&ready, work);
    n_ready++;
    if (n_idle >= n_ready)
        pthread_cond_signal(&more);
    else if (n_threads < enough) {
        if (start_thread(thread))
            n_threads++;
        else if (!n_threads)
            dispatch_fatal("no thread could be started");
    } else if (!watched)
        watched = start_thread(watch);
    pthread_mutex_unlock(&lock);
}
