// SPDX-License-Identifier: Apache-2.0
// pool.c: the worker threads. They take two kinds of work: jobs, dispatches that a thread has begun
// and several may share (first, because a thread waits for them), and tasks, command queues with
// something to run.
//
// The design minimises latency, with two cores and with a hundred. An idle worker spins briefly
// before it sleeps, and a producer makes a system call only if too few spin. All spinning workers
// poll for jobs; only one of them, the watcher, polls for tasks: a task needs one worker, and often
// none, as the thread that waits for its result takes it back. Places in jobs and tasks are claimed
// in an atomic counter before the lock is taken, so that no more threads contend for the lock than
// there is work. A worker that takes something wakes others if more is left than spinning ones will
// find.
//
// `signal` counts the wake-ups; a worker sleeps (futex) on the value it saw before it last looked
// for work, so that no wake-up is lost. For a task nobody is woken while a worker spins: after
// spinning it looks for tasks once more before it sleeps.
//
// Each worker has a number, by which those that share a job know where to begin; a job with fewer
// places than workers prefers small numbers. So the same core mostly works on the same part of the
// data (cache affinity).
//
// A thread that waits for a task which a worker has begun takes a place in the task's jobs, since
// it is on a core already. A worker woken instead would mostly be scheduled behind one of the two
// that compute, and a core would idle as soon as the waiting thread sleeps.
#include <limits.h>
#include <pthread.h>
#include <sched.h>
#include <stdint.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>
#include "os/pool.h"
#include "os/clock.h"
#include "os/futex.h"

#define SPIN_NS 50000u
#define COURTESY 8 // pauses, some 100 ns: in that time who waits for a task has taken it back
#define MAX_SPARES 64u
#define NAP_NS 50000u // at first; each that follows is twice as long, up to
#define MAX_NAP_NS 100000u

// What one kind of thread writes and another polls has a cache line of its own.
static struct {
    pthread_mutex_t lock;
    OsJob *jobs;                     // under lock
    OsTask *first_task, **last_task; // under lock
    pthread_mutex_t start_lock;
    atomic_bool started;
    atomic_uint n_threads; // workers wanted; the caller of a dispatch counts as one of them
    atomic_uint n_spares;  // workers beyond those, see os_pool_enter_user_code
    atomic_uint n_placed;  // workers of both kinds that have a number
    atomic_uint blocked;   // workers inside the application's code
    // What is to be had less what is claimed; below 0 where claims met work that was taken back.
    _Alignas(64) atomic_int n_tasks;
    atomic_uint submitted; // tasks that ever came
    _Alignas(64) atomic_int n_places;
    _Alignas(64) _Atomic uint64_t board; // a job and its places: see "The board"
    OsTask *_Atomic board_task;          // whose it is, when it was last looked at
    _Alignas(64) atomic_uint signal;
    atomic_bool watched;     // there is a watcher
    atomic_int caller_cpu;   // where the last call came from,
    atomic_uintptr_t caller; // and of which thread
    _Alignas(64) atomic_int spinners;
    atomic_uint sleepers;
} pool = {.lock = PTHREAD_ADAPTIVE_MUTEX_INITIALIZER_NP, // held for some ns: who meets it spins
          .start_lock = PTHREAD_MUTEX_INITIALIZER,
          .last_task = &pool.first_task};

static _Thread_local bool is_worker, is_watcher;
static _Thread_local unsigned place;
static _Thread_local OsTask *jobs_of; // what the jobs that the thread opens belong to

// ---- Work ----

// Sleepers are woken for what those that spin leave; those who wake call for more (call_more), so
// that nobody makes a long row of system calls.
#define WAKE_AT_MOST 3

static void call(int wanted) {
    atomic_store_explicit(&pool.caller, (uintptr_t)&jobs_of, memory_order_relaxed);
    atomic_store_explicit(&pool.caller_cpu, sched_getcpu(), memory_order_relaxed);
    atomic_fetch_add(&pool.signal, 1);
    int n = wanted - atomic_load(&pool.spinners);
    if (n > 0 && atomic_load(&pool.sleepers) > 0)
        os_futex_wake(&pool.signal, n < WAKE_AT_MOST ? n : WAKE_AT_MOST);
}

// ---- The board ----

// The job that is mostly the only one lies in one word: its address, and above it the places that
// are left. Who takes one away while there were some has joined; below 0 they are of those who came
// too late. The owner takes the word away and sees how many joined. For jobs that do without
// helpers: one that waits for another task may join by mistake, and leaves a place that nobody has.

#define PLACE ((uint64_t)1 << 48)
#define MAX_PLACES 16383u
#define ON_BOARD (1u << 30) // OsJob.active, before the owner knows how many joined

static OsJob *job_on(uint64_t board) { return (OsJob *)(uintptr_t)(board & (PLACE - 1)); }

static int places_on(uint64_t board) {
    int n = (int16_t)(board >> 48);
    return job_on(board) && n > 0 ? n : 0;
}

static bool put_on_board(OsJob *job) {
    uint64_t board = atomic_load(&pool.board), address = (uintptr_t)job;
    if (job_on(board) || address >= PLACE || job->max_helpers > MAX_PLACES) return false;
    job->on_board = true;
    atomic_store(&job->active, ON_BOARD);
    if (atomic_compare_exchange_strong(&pool.board, &board, address + job->max_helpers * PLACE)) {
        atomic_store_explicit(&pool.board_task, job->task, memory_order_relaxed);
        return true;
    }
    job->on_board = false;
    atomic_store(&job->active, 0);
    return false;
}

static void take_off_board(OsJob *job) {
    unsigned joined = job->max_helpers - (unsigned)places_on(atomic_exchange(&pool.board, 0));
    atomic_fetch_sub(&job->active, ON_BOARD - joined);
}

static OsJob *join_board(void) {
    if (places_on(atomic_load_explicit(&pool.board, memory_order_relaxed)) == 0) return NULL;
    uint64_t board = atomic_fetch_sub(&pool.board, PLACE);
    return places_on(board) > 0 ? job_on(board) : NULL;
}

// ---- The list ----

static int places(void) {
    int n = atomic_load(&pool.n_places);
    return (n > 0 ? n : 0) + places_on(atomic_load(&pool.board));
}

static void call_more(void) {
    int tasks = atomic_load(&pool.n_tasks);
    int wanted = (tasks > 0 ? tasks : 0) + places();
    if (wanted > atomic_load(&pool.spinners)) call(wanted);
}

static void count_open(const OsJob *job, unsigned change) {
    if (job->task) atomic_fetch_add(&job->task->n_open[OS_PATIENT], change);
    if (job->task && job->is_short) atomic_fetch_add(&job->task->n_open[OS_HASTY], change);
}

static unsigned waiters_for(const OsJob *job) {
    if (!job->task) return 0;
    return atomic_load(&job->task->waiters[OS_PATIENT]) +
           (job->is_short ? atomic_load(&job->task->waiters[OS_HASTY]) : 0);
}

static void list_job(OsJob *job) {
    pthread_mutex_lock(&pool.lock);
    job->next = pool.jobs;
    pool.jobs = job;
    atomic_fetch_add(&pool.n_places, (int)job->max_helpers);
    pthread_mutex_unlock(&pool.lock);
}

static void unlist_job(OsJob *job) {
    pthread_mutex_lock(&pool.lock);
    OsJob **at = &pool.jobs;
    while (*at != job) at = &(*at)->next;
    *at = job->next;
    atomic_fetch_sub(&pool.n_places, (int)(job->max_helpers - job->helpers));
    pthread_mutex_unlock(&pool.lock);
}

void os_pool_open_job(OsJob *job) {
    job->helpers = 0;
    job->task = job->for_waiters ? jobs_of : NULL;
    if (!job->takes_part || !put_on_board(job)) list_job(job);
    count_open(job, 1);
    // Who is not counted any more looks for jobs once again.
    call((int)job->max_helpers - (int)waiters_for(job));
}

void os_pool_close_job(OsJob *job) {
    count_open(job, -1u);
    if (job->on_board)
        take_off_board(job);
    else
        unlist_job(job);
    unsigned active;
    for (int spins = 0; (active = atomic_load(&job->active)) != 0; spins++) {
        if (spins < 4000)
            os_relax();
        else
            os_futex_wait(&job->active, active);
    }
}

void os_pool_submit(OsTask *task) {
    os_pool_start();
    pthread_mutex_lock(&pool.lock);
    task->next = NULL;
    task->queued = true;
    *pool.last_task = task;
    pool.last_task = &task->next;
    atomic_fetch_add(&pool.n_tasks, 1);
    pthread_mutex_unlock(&pool.lock);
    atomic_fetch_add_explicit(&pool.submitted, 1, memory_order_relaxed);
    // One that spins becomes the watcher, and looks again before it sleeps.
    if (!atomic_load(&pool.watched) && atomic_load(&pool.spinners) == 0) call(1);
}

bool os_pool_cancel(OsTask *task) {
    pthread_mutex_lock(&pool.lock);
    bool found = task->queued;
    if (found) {
        OsTask **at = &pool.first_task;
        while (*at != task) at = &(*at)->next;
        *at = task->next;
        if (pool.last_task == &task->next) pool.last_task = at;
        task->queued = false;
        atomic_fetch_sub(&pool.n_tasks, 1);
    }
    pthread_mutex_unlock(&pool.lock);
    return found;
}

static bool claim(atomic_int *counter) {
    int n = atomic_load(counter);
    do {
        if (n <= 0) return false;
    } while (!atomic_compare_exchange_weak(counter, &n, n - 1));
    return true;
}

// Claimed work may have been taken back before the lock was had: then the claim is given back.

static bool suits(const OsJob *job, const OsTask *task, OsPatience patience) {
    return !task || (job->task == task && (job->is_short || patience == OS_PATIENT));
}

// `task`: one that waits for it looks for a job, until `done`.
static OsJob *join_job(const OsTask *task, OsPatience patience, const atomic_uint *done) {
    if (!claim(&pool.n_places)) return NULL;
    pthread_mutex_lock(&pool.lock);
    OsJob *job = pool.jobs;
    while (job && (job->helpers == job->max_helpers || !suits(job, task, patience)))
        job = job->next;
    // A job that is not of what is waited for was opened after that was done.
    if (job && done && atomic_load(done)) job = NULL;
    if (job) {
        job->helpers++;
        atomic_fetch_add(&job->active, 1);
    } else {
        atomic_fetch_add(&pool.n_places, 1);
    }
    pthread_mutex_unlock(&pool.lock);
    return job;
}

static OsTask *take_task(void) {
    if (!claim(&pool.n_tasks)) return NULL;
    pthread_mutex_lock(&pool.lock);
    OsTask *task = pool.first_task;
    if (task) {
        pool.first_task = task->next;
        if (!pool.first_task) pool.last_task = &pool.first_task;
        task->queued = false;
    } else {
        atomic_fetch_add(&pool.n_tasks, 1);
    }
    pthread_mutex_unlock(&pool.lock);
    return task;
}

static void watch_no_more(void) {
    if (!is_watcher) return;
    is_watcher = false;
    atomic_store(&pool.watched, false);
}

// The owner may leave, and the job with it, as soon as it sees 0: the wake names an address only.
static void leave(OsJob *job) {
    if (atomic_fetch_sub(&job->active, 1) == 1) os_futex_wake(&job->active, 1);
}

static void help(OsJob *job) {
    job->help(job);
    leave(job);
}

static bool do_something(void) {
    OsJob *job = join_board();
    if (!job) job = join_job(NULL, OS_PATIENT, NULL);
    OsTask *task = job ? NULL : take_task();
    if (!job && !task) return false;
    watch_no_more();
    call_more();
    if (task) {
        jobs_of = task;
        task->run(task);
        jobs_of = NULL;
    } else {
        help(job);
    }
    return true;
}

// ---- Those that wait ----

OsTask *os_pool_run_for(OsTask *task) {
    OsTask *before = jobs_of;
    jobs_of = task;
    return before;
}

static bool hears_signals(void) {
    static _Thread_local enum { UNKNOWN, DEAF, HEARS } known;
    if (known == UNKNOWN) {
        sigset_t mask;
        known = pthread_sigmask(SIG_SETMASK, NULL, &mask) == 0 ? HEARS : DEAF;
        const int ours[] = OS_WORKER_SIGNALS;
        for (size_t i = 0; i < sizeof ours / sizeof *ours; i++)
            if (known == HEARS && sigismember(&mask, ours[i])) known = DEAF;
    }
    return known == HEARS;
}

void os_pool_begin_wait(OsTask *task, OsPatience patience) {
    if (hears_signals()) atomic_fetch_add(&task->waiters[patience], 1);
}

void os_pool_end_wait(OsTask *task, OsPatience patience) {
    // It may sleep now: whoever is on its processor is not in its way.
    if (atomic_load_explicit(&pool.caller, memory_order_relaxed) == (uintptr_t)&jobs_of)
        atomic_store_explicit(&pool.caller_cpu, -1, memory_order_relaxed);
    if (hears_signals()) atomic_fetch_sub(&task->waiters[patience], 1);
}

static OsJob *join_board_for(const OsTask *task, OsPatience patience, const atomic_uint *done) {
    if (atomic_load_explicit(&pool.board_task, memory_order_relaxed) != task) return NULL;
    OsJob *job = join_board();
    if (!job || (suits(job, task, patience) && !atomic_load(done))) return job;
    leave(job);
    return NULL;
}

bool os_pool_help(OsTask *task, OsPatience patience, const atomic_uint *done) {
    if (atomic_load(&task->n_open[patience]) == 0 || !hears_signals()) return false;
    OsJob *job = join_board_for(task, patience, done);
    if (!job) job = join_job(task, patience, done);
    if (!job) return false;
    call_more();
    OsTask *before = os_pool_run_for(NULL); // what the helper opens is not the task's
    help(job);
    os_pool_run_for(before);
    return true;
}

// ---- Workers ----

typedef struct Idle {
    uint64_t until_ns; // it spins; 0: it has just done something
    uint64_t nap_ns;   // the last of those that follow each other
} Idle;

// Are there others for the places that jobs have?
static bool is_behind(void) {
    int n = places();
    return n > 0 && (place == 0 || place > (unsigned)n);
}

// Is this thread on the processor of the one that called last?
static bool is_in_the_way(void) {
    return atomic_load_explicit(&pool.caller, memory_order_relaxed) != (uintptr_t)&jobs_of &&
           atomic_load_explicit(&pool.caller_cpu, memory_order_relaxed) == sched_getcpu();
}

// The system puts a thread that it wakes on the waker's processor if no other is free, and before
// the waker: to spin there holds up the one who would bring work. So it sleeps as long, counted as
// one that spins, since to wake it would not help either. When it wakes another may be free.
static void nap(uint64_t *ns) {
    *ns = *ns == 0 ? NAP_NS : *ns < MAX_NAP_NS ? 2 * *ns : MAX_NAP_NS;
    struct timespec time = {.tv_nsec = (long)*ns};
    nanosleep(&time, NULL);
}

// True: something may have come since `seen` and `submitted` were read.
static bool spin(unsigned seen, unsigned submitted, Idle *idle) {
    // The one at place 0 is too many where the application's thread takes part: with two processors
    // it would take its turn on one of them. The others stay awake while there are calls.
    bool stays = place > 0 || atomic_load_explicit(&pool.n_threads, memory_order_relaxed) == 1;
    if (idle->until_ns == 0 || stays) idle->until_ns = os_now_ns() + SPIN_NS;
    bool crowded = is_in_the_way();
    bool called = false;
    atomic_fetch_add(&pool.spinners, 1);
    if (crowded)
        nap(&idle->nap_ns);
    else
        idle->nap_ns = 0;
    do {
        for (int i = 0; i < 64 && !called; i++) {
            if (!is_watcher && !atomic_load_explicit(&pool.watched, memory_order_relaxed))
                is_watcher = !atomic_exchange(&pool.watched, true);
            called = atomic_load_explicit(&pool.signal, memory_order_relaxed) != seen ||
                     (is_watcher &&
                      atomic_load_explicit(&pool.submitted, memory_order_relaxed) != submitted);
            if (!called) os_relax();
        }
    } while (!called && !crowded && os_now_ns() < idle->until_ns);
    atomic_fetch_sub(&pool.spinners, 1);
    for (int i = 0; called && is_watcher && i < COURTESY; i++) {
        if (atomic_load_explicit(&pool.signal, memory_order_relaxed) != seen) break;
        os_relax();
    }
    for (int i = 0; called && i < COURTESY && is_behind(); i++) os_relax();
    return called;
}

// `spare`: 0 for a worker, 1 .. for those that stand in for workers that are elsewhere.
static void *work(void *spare) {
    is_worker = true;
    place = atomic_fetch_add(&pool.n_placed, 1);
    Idle idle = {0};
    for (;;) {
        unsigned seen = atomic_load(&pool.signal), submitted = atomic_load(&pool.submitted);
        unsigned blocked = atomic_load(&pool.blocked);
        if (blocked < (uintptr_t)spare) {
            watch_no_more();
            call_more(); // what came may have been left to this one
            os_futex_wait(&pool.blocked, blocked);
            continue;
        }
        if (do_something()) {
            idle.until_ns = 0;
            continue;
        }
        if (spin(seen, submitted, &idle)) continue;
        idle = (Idle){0};
        watch_no_more();
        if (atomic_load(&pool.n_tasks) > 0) continue;
        atomic_fetch_add(&pool.sleepers, 1);
        os_futex_wait(&pool.signal, seen);
        atomic_fetch_sub(&pool.sleepers, 1);
    }
    return NULL;
}

static unsigned threads_wanted(void) {
    const char *text = getenv("INGOT_THREADS");
    long n = text ? strtol(text, NULL, 10) : 0;
    if (n < 1) {
        cpu_set_t set;
        n = sched_getaffinity(0, sizeof set, &set) == 0 ? CPU_COUNT(&set)
                                                        : sysconf(_SC_NPROCESSORS_ONLN);
    }
    return n < 1 ? 1 : n > 1024 ? 1024 : (unsigned)n;
}

static unsigned start_workers(unsigned n, uintptr_t spare) {
    pthread_attr_t attributes;
    pthread_attr_init(&attributes);
    pthread_attr_setstacksize(&attributes, OS_WORKER_STACK);
    pthread_attr_setdetachstate(&attributes, PTHREAD_CREATE_DETACHED);
    // The application's signals stay with its own threads.
    sigset_t mask, old;
    sigfillset(&mask);
    const int ours[] = OS_WORKER_SIGNALS;
    for (size_t i = 0; i < sizeof ours / sizeof *ours; i++) sigdelset(&mask, ours[i]);
    pthread_sigmask(SIG_SETMASK, &mask, &old);
    unsigned running = 0;
    for (unsigned i = 0; i < n; i++) {
        pthread_t id;
        if (pthread_create(&id, &attributes, work, (void *)spare) == 0) running++;
    }
    pthread_sigmask(SIG_SETMASK, &old, NULL);
    pthread_attr_destroy(&attributes);
    return running;
}

// The application's handlers may take long, or wait for work that needs a worker: when the last
// worker goes into one, a spare takes over until it is back.
bool os_pool_enter_user_code(void) {
    if (!is_worker) return false;
    unsigned blocked = atomic_fetch_add(&pool.blocked, 1) + 1;
    if (blocked < atomic_load(&pool.n_threads)) return true;
    pthread_mutex_lock(&pool.start_lock);
    unsigned spares = atomic_load(&pool.n_spares);
    if (spares < blocked && spares < MAX_SPARES)
        atomic_fetch_add(&pool.n_spares, start_workers(1, spares + 1));
    pthread_mutex_unlock(&pool.start_lock);
    os_futex_wake(&pool.blocked, INT_MAX);
    return true;
}

void os_pool_leave_user_code(bool entered) {
    if (entered) atomic_fetch_sub(&pool.blocked, 1);
}

// The child of a fork has none of the threads: forget them, the next use starts new ones.
static void after_fork(void) {
    pool.lock = (pthread_mutex_t)PTHREAD_ADAPTIVE_MUTEX_INITIALIZER_NP;
    pthread_mutex_init(&pool.start_lock, NULL);
    pool.jobs = NULL;
    pool.first_task = NULL;
    pool.last_task = &pool.first_task;
    atomic_store(&pool.n_tasks, 0);
    atomic_store(&pool.n_places, 0);
    atomic_store(&pool.board, 0);
    atomic_store(&pool.spinners, 0);
    atomic_store(&pool.sleepers, 0);
    atomic_store(&pool.watched, false);
    atomic_store(&pool.n_spares, 0);
    atomic_store(&pool.n_placed, 0);
    atomic_store(&pool.blocked, 0);
    atomic_store(&pool.started, false);
}

bool os_pool_start(void) {
    if (atomic_load_explicit(&pool.started, memory_order_acquire)) return true;
    pthread_mutex_lock(&pool.start_lock);
    bool ok = atomic_load(&pool.started);
    if (!ok) {
        static bool fork_handler; // under start_lock
        if (!fork_handler) fork_handler = pthread_atfork(NULL, NULL, after_fork) == 0;
        unsigned n = start_workers(threads_wanted(), 0);
        atomic_store(&pool.n_threads, n);
        ok = n > 0;
        atomic_store_explicit(&pool.started, ok, memory_order_release);
    }
    pthread_mutex_unlock(&pool.start_lock);
    return ok;
}

bool os_pool_is_worker(void) { return is_worker; }
unsigned os_pool_place(void) { return place; }

unsigned os_pool_threads(void) {
    os_pool_start();
    unsigned n = atomic_load(&pool.n_threads);
    return n ? n : 1;
}
