// SPDX-License-Identifier: Apache-2.0
// async.c: a list of jobs and up to two threads that work it off. The threads come with the jobs
// and leave a moment after the last, so that an idle process has none.
#include "runtime/object/async.h"
#include <pthread.h>
#include <time.h>
#include "runtime/object/object.h"
#include "os/thread.h"

#define MAX_THREADS 2u
#define LINGER_SECONDS 2

typedef struct Job {
    void (*run)(void *);
    void *context;
    struct Job *next;
} Job;

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER; // the two threads serve all devices
static pthread_cond_t arrived = PTHREAD_COND_INITIALIZER;
static Job *first, **last = &first; // under lock
static unsigned n_threads, n_idle;  // under lock

static void *serve(void *unused) {
    (void)unused;
    pthread_mutex_lock(&lock);
    for (;;) {
        if (!first) {
            struct timespec until;
            clock_gettime(CLOCK_REALTIME, &until);
            until.tv_sec += LINGER_SECONDS;
            n_idle++;
            int late = 0;
            while (!first && late == 0) late = pthread_cond_timedwait(&arrived, &lock, &until);
            n_idle--;
            if (!first) break;
        }
        Job *job = first;
        first = job->next;
        if (!first) last = &first;
        pthread_mutex_unlock(&lock);
        job->run(job->context);
        rt_free(job);
        pthread_mutex_lock(&lock);
    }
    n_threads--;
    pthread_mutex_unlock(&lock);
    return NULL;
}

// With lock held.
static bool start_thread(void) {
    pthread_t id;
    bool ok = os_thread_start(&id, serve, NULL);
    if (ok) {
        pthread_detach(id);
        n_threads++;
    }
    return ok;
}

static void forget_threads(void) { // the child of a fork has none
    pthread_mutex_init(&lock, NULL);
    pthread_cond_init(&arrived, NULL);
    n_threads = n_idle = 0;
    first = NULL;
    last = &first;
}

static void set_up(void) { pthread_atfork(NULL, NULL, forget_threads); }

bool rt_async(void (*run)(void *context), void *context) {
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, set_up);
    Job *job = rt_alloc(sizeof *job);
    if (!job) return false;
    *job = (Job){.run = run, .context = context};
    pthread_mutex_lock(&lock);
    bool ok = n_idle > 0 || (n_threads < MAX_THREADS && start_thread()) || n_threads > 0;
    if (ok) {
        *last = job;
        last = &job->next;
        pthread_cond_signal(&arrived);
    }
    pthread_mutex_unlock(&lock);
    if (!ok) rt_free(job);
    return ok;
}

void rt_async_wait(unsigned milliseconds) {
    for (unsigned i = 0; i < milliseconds; i++) {
        pthread_mutex_lock(&lock);
        bool done = !first && n_threads == n_idle;
        pthread_mutex_unlock(&lock);
        if (done) return;
        nanosleep(&(struct timespec){.tv_nsec = 1000000}, NULL);
    }
}
