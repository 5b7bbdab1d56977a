// SPDX-License-Identifier: Apache-2.0
// The pool with more workers than cores: nothing that is brought may be left lying, whether workers
// spin, sleep or fall asleep at that moment, and what is taken back runs nowhere.
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <string.h>
#include "testing.h"
#include "os/clock.h"
#include "os/pool.h"

enum { BRINGERS = 4, ROUNDS = 250, THREADS = 12 };
#define PATIENCE_NS 20000000000u

typedef struct Counted {
    OsTask task; // first
    atomic_uint ran;
} Counted;

static void count(OsTask *task) { atomic_fetch_add(&((Counted *)(void *)task)->ran, 1); }

static bool arrives(atomic_uint *word, unsigned value) {
    uint64_t until = os_now_ns() + PATIENCE_NS;
    while (atomic_load(word) < value) {
        if (os_now_ns() > until) return false;
        sched_yield();
    }
    return true;
}

// Between 0 and 130 us: shorter and longer than workers spin.
static void pause_a_while(unsigned *random) {
    *random = *random * 1664525u + 1013904223u;
    uint64_t until = os_now_ns() + (*random >> 28) * 8700u;
    if (*random >> 31)
        usleep((*random >> 24) % 130);
    else
        while (os_now_ns() < until) sched_yield();
}

static atomic_uint n_left; // bringers whose work was left lying

static void *bring_tasks(void *seed) {
    unsigned random = (unsigned)(uintptr_t)seed, expected = 0;
    Counted c = {.task.run = count};
    for (int i = 0; i < ROUNDS; i++) {
        os_pool_submit(&c.task);
        bool back = random >> 30 == 0 && os_pool_cancel(&c.task);
        expected += !back;
        if (!arrives(&c.ran, expected)) {
            atomic_fetch_add(&n_left, 1);
            os_pool_cancel(&c.task);
            return NULL;
        }
        pause_a_while(&random);
        if (atomic_load(&c.ran) != expected) atomic_fetch_add(&n_left, 1);
    }
    return NULL;
}

typedef struct Shared {
    OsJob job; // first
    atomic_uint came;
} Shared;

static void come(OsJob *job) { atomic_fetch_add(&((Shared *)(void *)job)->came, 1); }

// Waits for one helper, or for as many as there are places; the owner does nothing itself.
static void *bring_jobs(void *seed) {
    unsigned random = (unsigned)(uintptr_t)seed;
    for (int i = 0; i < ROUNDS; i++) {
        Shared s = {.job = {.help = come, .max_helpers = 1 + random % 7}};
        os_pool_open_job(&s.job);
        if (!arrives(&s.came, random >> 31 ? s.job.max_helpers : 1)) atomic_fetch_add(&n_left, 1);
        os_pool_close_job(&s.job);
        if (atomic_load(&n_left)) return NULL;
        pause_a_while(&random);
    }
    return NULL;
}

// ---- Threads that wait for a task ----

typedef struct Waited {
    OsTask task; // first
    unsigned n_helpers;
    bool is_short;
    atomic_uint done, left;
} Waited;

// The task's job has places for some helpers and does nothing until all have come, the one that
// waits for the task among them or not.
static void share_a_job(OsTask *task) {
    Waited *w = (Waited *)(void *)task;
    Shared s = {.job = {.help = come,
                        .max_helpers = w->n_helpers,
                        .for_waiters = true,
                        .is_short = w->is_short}};
    os_pool_open_job(&s.job);
    if (!arrives(&s.came, w->n_helpers)) atomic_fetch_add(&w->left, 1);
    os_pool_close_job(&s.job);
    atomic_store(&w->done, 1);
}

static void *wait_and_help(void *seed) {
    unsigned random = (unsigned)(uintptr_t)seed;
    for (int i = 0; i < ROUNDS && !atomic_load(&n_left); i++) {
        Waited w = {.task.run = share_a_job, .n_helpers = 1 + random % 3, .is_short = random >> 31};
        OsPatience patience = random >> 30 & 1 ? OS_HASTY : OS_PATIENT;
        os_pool_submit(&w.task);
        pause_a_while(&random);
        os_pool_begin_wait(&w.task, patience);
        for (int k = 0; k < 2000 && !atomic_load(&w.done); k++)
            os_pool_help(&w.task, patience, &w.done);
        os_pool_end_wait(&w.task, patience);
        while (os_pool_help(&w.task, patience, &w.done)) continue;
        if (!arrives(&w.done, 1) || atomic_load(&w.left)) atomic_fetch_add(&n_left, 1);
        while (os_pool_cancel(&w.task)) continue;
    }
    return NULL;
}

static void bring(void *(*first)(void *), void *(*second)(void *)) {
    pthread_t threads[BRINGERS];
    for (uintptr_t i = 0; i < BRINGERS; i++)
        assert_int_equal(
            pthread_create(&threads[i], NULL, i % 2 ? first : second, (void *)(i * 7919 + 1)), 0);
    for (int i = 0; i < BRINGERS; i++) pthread_join(threads[i], NULL);
    assert_int_equal(atomic_load(&n_left), 0);
}

TEST(no_task_is_left) { bring(bring_tasks, bring_tasks); }
TEST(no_place_is_left) { bring(bring_jobs, bring_jobs); }
TEST(no_place_is_left_to_those_who_wait) { bring(wait_and_help, wait_and_help); }
TEST(nor_beside_others) { bring(wait_and_help, bring_jobs); }

// ---- Jobs whose owner takes part ----

typedef struct Pieces {
    OsJob job; // first
    atomic_uint next, done, inside;
    unsigned n;
} Pieces;

static void take_pieces(OsJob *job) {
    Pieces *p = (Pieces *)(void *)job;
    atomic_fetch_add(&p->inside, 1);
    while (atomic_fetch_add(&p->next, 1) < p->n) atomic_fetch_add(&p->done, 1);
    atomic_fetch_sub(&p->inside, 1);
}

// Whether helpers come or not, all is done when the job is closed, and nobody is inside.
static void *take_part(void *seed) {
    unsigned random = (unsigned)(uintptr_t)seed;
    OsTask task = {.run = count};
    atomic_uint no = 0;
    for (int i = 0; i < 4 * ROUNDS && !atomic_load(&n_left); i++) {
        random = random * 1664525u + 1013904223u;
        Pieces p = {.job = {.help = take_pieces,
                            .max_helpers = 1 + (random >> 24) % 12,
                            .for_waiters = random >> 31,
                            .takes_part = true},
                    .n = (random >> 16) % 3000};
        OsTask *before = os_pool_run_for(&task);
        os_pool_open_job(&p.job);
        os_pool_run_for(before);
        if (random >> 30 == 3) os_pool_help(&task, OS_PATIENT, &no);
        take_pieces(&p.job);
        os_pool_close_job(&p.job);
        if (atomic_load(&p.done) != p.n || atomic_load(&p.inside) || atomic_load(&p.job.active))
            atomic_fetch_add(&n_left, 1);
        memset(&p, 0x5a, sizeof p); // nobody has it any more
        if (random >> 29 == 1) pause_a_while(&random);
    }
    if (atomic_load(&task.n_open[OS_PATIENT])) atomic_fetch_add(&n_left, 1);
    return NULL;
}

TEST(who_takes_part_is_done_when_all_is) { bring(take_part, take_part); }
TEST(nor_is_a_place_left_beside_it) { bring(take_part, bring_jobs); }
TEST(nor_is_a_task) { bring(take_part, bring_tasks); }
TEST(nor_one_that_is_waited_for) { bring(take_part, wait_and_help); }

// ---- Where threads begin ----

static atomic_uint at_place[THREADS];

static void stay(OsJob *job) {
    Shared *s = (Shared *)(void *)job;
    static _Thread_local unsigned before = THREADS;
    unsigned place = os_pool_place();
    if (place >= THREADS || (before < THREADS && before != place)) atomic_fetch_add(&n_left, 1);
    before = place;
    if (place < THREADS) atomic_fetch_add(&at_place[place], 1);
    come(job);
    arrives(&s->came, THREADS); // so that each has one place
}

TEST(each_worker_begins_where_no_other_does) {
    enum { TIMES = 20 };
    assert_int_equal(os_pool_place(), 0);
    for (int i = 0; i < TIMES; i++) {
        Shared s = {.job = {.help = stay, .max_helpers = THREADS}};
        os_pool_open_job(&s.job);
        if (!arrives(&s.came, THREADS)) atomic_fetch_add(&n_left, 1);
        os_pool_close_job(&s.job);
    }
    assert_int_equal(atomic_load(&n_left), 0);
    for (int i = 0; i < THREADS; i++) assert_int_equal(atomic_load(&at_place[i]), TIMES);
}

static atomic_uint helped, released;
static _Thread_local bool is_main;
static void come_and_tell(OsJob *job) { // workers stay, and leave places
    if (is_main) atomic_fetch_add(&helped, 1);
    if (!is_main) arrives(&released, 1);
    come(job);
}

// A job of this thread's own, as one that works a queue off has it.
static unsigned help_with(OsTask *task, bool for_waiters, bool is_short, OsPatience patience,
                          const atomic_uint *done) {
    atomic_store(&helped, 0);
    atomic_store(&released, 0);
    Shared s = {.job = {.help = come_and_tell,
                        .max_helpers = 64, // more than there are workers
                        .for_waiters = for_waiters,
                        .is_short = is_short}};
    OsTask *before = os_pool_run_for(task);
    os_pool_open_job(&s.job);
    os_pool_run_for(before);
    bool yes = os_pool_help(task, patience, done);
    assert_int_equal(yes, atomic_load(&helped) == 1);
    atomic_store(&released, 1);
    os_pool_close_job(&s.job);
    assert_true(!os_pool_help(task, patience, done)); // it is closed
    return yes;
}

TEST(who_waits_helps_with_what_it_may) {
    OsTask task = {.run = count}, other = {.run = count};
    atomic_uint no = 0, yes = 1;
    is_main = true;
    os_pool_start();
    assert_int_equal(help_with(&task, true, true, OS_PATIENT, &no), 1);
    assert_int_equal(help_with(&task, true, false, OS_PATIENT, &no), 1);
    assert_int_equal(help_with(&task, true, true, OS_HASTY, &no), 1);
    assert_int_equal(help_with(&task, true, false, OS_HASTY, &no), 0);   // it may take long
    assert_int_equal(help_with(&task, false, true, OS_PATIENT, &no), 0); // workers only
    assert_int_equal(help_with(&task, true, true, OS_PATIENT, &yes), 0); // no longer waited for
    Shared s = {.job = {.help = come_and_tell, .max_helpers = 64, .for_waiters = true}};
    os_pool_run_for(&other);
    os_pool_open_job(&s.job);
    os_pool_run_for(NULL);
    assert_true(!os_pool_help(&task, OS_PATIENT, &no)); // another task's
    os_pool_close_job(&s.job);
}

static void *help_deaf(void *task) {
    sigset_t all;
    sigfillset(&all);
    pthread_sigmask(SIG_BLOCK, &all, NULL);
    atomic_uint no = 0;
    Shared s = {.job = {.help = come, .max_helpers = 64, .for_waiters = true}};
    os_pool_run_for(task);
    os_pool_open_job(&s.job);
    os_pool_run_for(NULL);
    os_pool_begin_wait(task, OS_PATIENT);
    bool reckoned = atomic_load(&((OsTask *)task)->waiters[OS_PATIENT]) != 0;
    bool yes = os_pool_help(task, OS_PATIENT, &no);
    os_pool_end_wait(task, OS_PATIENT);
    os_pool_close_job(&s.job);
    return (void *)(uintptr_t)(reckoned || yes);
}

TEST(who_hears_no_signals_does_not_help) {
    OsTask task = {.run = count};
    pthread_t thread;
    void *helps = NULL;
    assert_int_equal(pthread_create(&thread, NULL, help_deaf, &task), 0);
    pthread_join(thread, &helps);
    assert_true(helps == NULL);
}

TEST(neither_beside_the_other) { bring(bring_tasks, bring_jobs); }

static void add(void *context, size_t i) { atomic_fetch_add((atomic_size_t *)context, i); }

TEST(pieces_run_once) {
    for (size_t n = 0; n < 300; n++) {
        atomic_size_t sum = 0;
        os_parallel(n, add, &sum);
        assert_int_equal(atomic_load(&sum), n ? n * (n - 1) / 2 : 0);
    }
}

int main(void) {
    setenv("INGOT_THREADS", "12", 1); // THREADS
    return unit_run(NULL, NULL);
}
