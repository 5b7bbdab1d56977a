// SPDX-License-Identifier: Apache-2.0
// The pool with more workers than cores: nothing that is brought may be left lying, whether workers
// spin, sleep or fall asleep at that moment, and what is taken back runs nowhere.
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include "testing.h"
#include "os/clock.h"
#include "os/pool.h"

enum { BRINGERS = 4, ROUNDS = 250 };
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
    setenv("INGOT_THREADS", "12", 1);
    return unit_run(NULL, NULL);
}
