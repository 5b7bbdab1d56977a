// SPDX-License-Identifier: Apache-2.0
// test_cpu.c: the CPU device below the API: loading code objects, spreading threadgroups, leaving
// kernels that fault or never end.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <dirent.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>
#include "devices/cpu/cpu.h"
#include "order.h"
#include "os/pool.h"

static const char *object_path, *other_abi_path, *empty_path;

static unsigned char *read_bytes(const char *path, size_t *n) {
    FILE *file = fopen(path, "rb");
    assert_non_null(file);
    assert_int_equal(fseek(file, 0, SEEK_END), 0);
    *n = (size_t)ftell(file);
    rewind(file);
    unsigned char *bytes = malloc(*n);
    assert_non_null(bytes);
    assert_int_equal(fread(bytes, 1, *n, file), *n);
    fclose(file);
    return bytes;
}

static DevCode *load(const char *path, char *why, size_t why_bytes) {
    size_t n;
    unsigned char *bytes = read_bytes(path, &n);
    DevCode *code = cpu_code_load(bytes, n, why, why_bytes);
    free(bytes);
    return code;
}

static DevCode *load_good(void) {
    char why[256] = "";
    DevCode *code = load(object_path, why, sizeof why);
    if (!code) fail_msg("%s", why);
    return code;
}

typedef struct Launch {
    Order order;
    unsigned *counts;
    size_t n_groups;
    void *args[2];
    DevDispatch dispatch;
} Launch;

static void set_up_launch(Launch *l, DevCode *code, uint32_t x, uint32_t y, uint32_t z) {
    memset(l, 0, sizeof *l);
    l->order.at = UINT64_MAX;
    l->n_groups = (size_t)x * y * z;
    l->counts = calloc(l->n_groups, sizeof *l->counts);
    assert_non_null(l->counts);
    l->args[0] = &l->order;
    l->args[1] = l->counts;
    l->dispatch = (DevDispatch){.code = code,
                                .args = l->args,
                                .groups_per_grid = {x, y, z},
                                .threads_per_grid = {x * 64, y, z},
                                .group_size = {64, 1, 1},
                                .threadgroup_bytes = 1024};
}

static void assert_each_once(const Launch *l) {
    for (size_t i = 0; i < l->n_groups; i++)
        if (l->counts[i] != 1)
            fail_msg("threadgroup %zu of %zu ran %u times", i, l->n_groups, l->counts[i]);
    assert_int_equal(l->order.collisions, 0);
}

// ---- Code objects ----

static void loads_and_tells(void **state) {
    (void)state;
    DevCode *code = load_good();
    assert_int_equal(code->threadgroup_bytes, 256);
    cpu_code_free(code);
    cpu_code_free(NULL);
}

static void refuses_what_is_not_code(void **state) {
    (void)state;
    char why[256] = "";
    assert_null(load(other_abi_path, why, sizeof why));
    assert_non_null(strstr(why, "interface"));
    assert_null(load(empty_path, why, sizeof why));
    assert_non_null(strstr(why, CPU_KERNEL_INFO_SYMBOL));
    assert_null(cpu_code_load("garbage", 7, why, sizeof why));
    assert_null(cpu_code_load("", 0, why, sizeof why));
    size_t n;
    unsigned char *bytes = read_bytes(object_path, &n);
    assert_null(cpu_code_load(bytes, 100, why, sizeof why)); // truncated
    free(bytes);
}

static int open_files(void) {
    int n = 0;
    DIR *folder = opendir("/proc/self/fd");
    while (readdir(folder)) n++;
    closedir(folder);
    return n;
}

// Objects loaded at the same time are distinct, and no file stays open.
static void many_objects_are_distinct(void **state) {
    (void)state;
    enum { N = 300 };
    static DevCode *codes[N];
    int before = open_files();
    for (int i = 0; i < N; i++) codes[i] = load_good();
    assert_int_equal(open_files(), before);
    for (int i = 0; i < N; i++)
        for (int k = i + 1; k < i + 3 && k < N; k++) assert_ptr_not_equal(codes[i], codes[k]);
    for (int i = 0; i < N; i++) cpu_code_free(codes[i]);
    assert_int_equal(open_files(), before);
}

// ---- Dispatch ----

static void every_threadgroup_runs_once(void **state) {
    (void)state;
    static const struct {
        uint32_t x, y, z;
        unsigned work;
    } cases[] = {{1, 1, 1, 0},    {2, 1, 1, 0},     {3, 1, 1, 100000}, {7, 5, 3, 2000},
                 {1000, 1, 1, 1}, {64, 64, 1, 100}, {100000, 1, 1, 0}, {1, 1, 17, 50000}};
    DevCode *code = load_good();
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        Launch l;
        set_up_launch(&l, code, cases[i].x, cases[i].y, cases[i].z);
        l.order.work = cases[i].work;
        DevRun run = {0};
        assert_true(cpu_run_begin(&run, (DevLimits){0}));
        assert_true(cpu_dispatch(&run, &l.dispatch, 1));
        cpu_run_end(&run);
        assert_each_once(&l);
        free(l.counts);
    }
    cpu_code_free(code);
}

// Code that is there before the dispatch begins runs all of it; what was given first, nothing.
static void goes_on_with_optimised_code(void **state) {
    (void)state;
    DevCode *slow = load_good(), *fast = load_good();
    DevCode *_Atomic optimised = NULL;
    for (int there = 0; there < 2; there++) {
        Launch l;
        DevRun run = {0};
        set_up_launch(&l, slow, 500, 2, 1);
        l.dispatch.optimised = &optimised;
        if (there) atomic_store(&optimised, fast);
        uint64_t before = atomic_load(&slow->spent_ns);
        assert_true(cpu_run_begin(&run, (DevLimits){0}));
        assert_true(cpu_dispatch(&run, &l.dispatch, 1));
        cpu_run_end(&run);
        assert_each_once(&l);
        assert_int_equal(atomic_load(&slow->spent_ns) > before, !there);
        assert_int_equal(atomic_load(&fast->spent_ns) > 0, there);
        free(l.counts);
    }
    cpu_code_free(slow);
    cpu_code_free(fast);
}

typedef struct Wish {
    atomic_int n;
    DevCode *fast, *_Atomic optimised;
} Wish;

static void want_optimised(void *context, const uint32_t shape[3]) {
    (void)shape;
    Wish *wish = context;
    atomic_fetch_add(&wish->n, 1);
    atomic_store(&wish->optimised, wish->fast);
}

// A dispatch that will take longer than the limit says so, and what is left runs in what it gets.
static void asks_for_optimised_code(void **state) {
    (void)state;
    static const uint64_t limits[] = {0, UINT64_MAX};
    for (int i = 0; i < 2; i++) {
        Launch l;
        DevRun run = {0};
        DevCode *slow = load_good();
        Wish wish = {.fast = load_good()};
        set_up_launch(&l, slow, 64, 1, 1);
        l.order.work = 20000;
        l.dispatch.optimised = &wish.optimised;
        l.dispatch.want_optimised = want_optimised;
        l.dispatch.want_context = &wish;
        l.dispatch.want_ns = limits[i];
        assert_true(cpu_run_begin(&run, (DevLimits){0}));
        assert_true(cpu_dispatch(&run, &l.dispatch, 1));
        cpu_run_end(&run);
        assert_each_once(&l);
        assert_int_equal(atomic_load(&wish.n) > 0, limits[i] == 0);
        assert_int_equal(atomic_load(&wish.fast->spent_ns) > 0, limits[i] == 0);
        free(l.counts);
        cpu_code_free(slow);
        cpu_code_free(wish.fast);
    }
}

static void several_dispatches_at_once(void **state) {
    (void)state;
    enum { N = 40 }; // more than one batch
    DevCode *code = load_good();
    static Launch l[N];
    DevDispatch dispatches[N];
    for (unsigned i = 0; i < N; i++) {
        set_up_launch(&l[i], code, 1 + i * 3, 1, 1);
        l[i].order.work = 300 * (i % 5);
        dispatches[i] = l[i].dispatch;
    }
    DevRun run = {0};
    assert_true(cpu_run_begin(&run, (DevLimits){0}));
    assert_true(cpu_dispatch(&run, dispatches, N));
    cpu_run_end(&run);
    for (int i = 0; i < N; i++) {
        assert_each_once(&l[i]);
        free(l[i].counts);
    }
    cpu_code_free(code);
}

// Lets the threadgroup that loops go on when all others have run, or after a long while.
static void *wait_for_others(void *argument) {
    Launch *l = argument;
    size_t n_ran = 0;
    for (int i = 0; i < 20000 && n_ran + 1 < l->n_groups; i++) {
        nanosleep(&(struct timespec){.tv_nsec = 1000000}, NULL);
        n_ran = 0;
        for (size_t k = 0; k < l->n_groups; k++)
            n_ran += k != l->order.at && atomic_load((atomic_uint *)&l->counts[k]);
    }
    l->order.go_on = 1;
    return n_ran + 1 == l->n_groups ? NULL : l;
}

// A thread is kept by a threadgroup, wherever that lies: what it would have run next, others do.
static void others_take_what_a_thread_leaves(void **state) {
    (void)state;
    enum { N = 24 };
    if (os_pool_threads() < 2) skip();
    DevCode *code = load_good();
    static const uint64_t places[] = {UINT64_MAX, 0, 1, N / 2 - 1, N / 2, N - 1};
    for (size_t i = 0; i < sizeof places / sizeof *places; i++) {
        Launch l;
        set_up_launch(&l, code, N, 1, 1);
        l.order.what = LOOP_FOR_EVER;
        l.order.at = places[i];
        l.order.work = i == 0 ? 4000000 : 0; // it is known to be long: taken one by one
        pthread_t thread;
        void *failed = NULL;
        if (i > 0) assert_int_equal(pthread_create(&thread, NULL, wait_for_others, &l), 0);
        DevRun run = {0};
        assert_true(cpu_run_begin(&run, (DevLimits){0}));
        assert_true(cpu_dispatch(&run, &l.dispatch, 1));
        cpu_run_end(&run);
        if (i > 0) pthread_join(thread, &failed);
        if (failed) fail_msg("threadgroup %d kept others waiting", (int)places[i]);
        assert_each_once(&l);
        free(l.counts);
    }
    cpu_code_free(code);
}

static void *dispatch_in_thread(void *code) {
    for (int i = 0; i < 50; i++) {
        Launch l;
        set_up_launch(&l, code, 100, 1, 1);
        l.order.work = 500;
        DevRun run = {0};
        cpu_run_begin(&run, (DevLimits){0});
        bool ok = cpu_dispatch(&run, &l.dispatch, 1);
        cpu_run_end(&run);
        for (size_t k = 0; k < l.n_groups; k++) ok = ok && l.counts[k] == 1;
        free(l.counts);
        if (!ok) return code;
    }
    return NULL;
}

static void dispatches_from_many_threads(void **state) {
    (void)state;
    DevCode *code = load_good();
    pthread_t threads[8];
    for (int i = 0; i < 8; i++)
        assert_int_equal(pthread_create(&threads[i], NULL, dispatch_in_thread, code), 0);
    for (int i = 0; i < 8; i++) {
        void *failed;
        pthread_join(threads[i], &failed);
        assert_null(failed);
    }
    cpu_code_free(code);
}

// ---- Faults ----

static const DevLimits NO_LIMIT;

static DevFault run_order(DevCode *code, int what, uint64_t at, uint32_t n_groups, void *address,
                          DevLimits limits) {
    Launch l;
    set_up_launch(&l, code, n_groups, 1, 1);
    l.order.what = what;
    l.order.at = at;
    l.order.address = address;
    DevRun run = {.kernel = "test"};
    assert_true(cpu_run_begin(&run, limits));
    bool ok = cpu_dispatch(&run, &l.dispatch, 1);
    cpu_run_end(&run);
    DevFault fault = (DevFault)atomic_load(&run.fault);
    assert_int_equal(ok, fault == DEV_FAULT_NONE);
    if (fault != DEV_FAULT_NONE) assert_string_equal(run.faulting, "test");
    if (fault == DEV_FAULT_MEMORY && address) assert_int_equal(run.address, (uintptr_t)address);
    if (ok) assert_each_once(&l);
    free(l.counts);
    return fault;
}

static void faults_end_the_run_only(void **state) {
    (void)state;
    DevCode *code = load_good();
    char *nowhere = mmap(NULL, 4096, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    for (int round = 0; round < 20; round++) {
        uint32_t n = round % 2 ? 1 : 500; // on this thread, and on all
        assert_int_equal(run_order(code, TOUCH_NOTHING, n - 1, n, nowhere, NO_LIMIT),
                         DEV_FAULT_MEMORY);
        assert_int_equal(run_order(code, TRAP, n / 2, n, NULL, NO_LIMIT), DEV_FAULT_ILLEGAL);
        assert_int_equal(run_order(code, BEHAVE, 0, n, NULL, NO_LIMIT), DEV_FAULT_NONE);
    }
    munmap(nowhere, 4096);
    cpu_code_free(code);
}

static void time_limits(void **state) {
    (void)state;
    DevCode *code = load_good();
    for (int round = 0; round < 3; round++) {
        assert_int_equal(run_order(code, LOOP_FOR_EVER, 3, 100, NULL, (DevLimits){.run_ms = 30}),
                         DEV_FAULT_TIMEOUT);
        assert_int_equal(run_order(code, LOOP_FOR_EVER, 0, 1, NULL, (DevLimits){.run_ms = 30}),
                         DEV_FAULT_TIMEOUT);
        assert_int_equal(run_order(code, BEHAVE, 0, 1000, NULL, (DevLimits){.run_ms = 30000}),
                         DEV_FAULT_NONE);
    }
    cpu_code_free(code);
}

static void calls_that_do_not_end(void **state) {
    (void)state;
    DevCode *code = load_good();
    DevLimits limits = {.step_ms = 30};
    for (int round = 0; round < 2; round++) {
        assert_int_equal(run_order(code, LOOP_FOR_EVER, 3, 100, NULL, limits), DEV_FAULT_TIMEOUT);
        assert_int_equal(run_order(code, LOOP_FOR_EVER, 0, 1, NULL, limits), DEV_FAULT_TIMEOUT);
        assert_int_equal(run_order(code, BEHAVE, 0, 1000, NULL, limits), DEV_FAULT_NONE);
    }
    cpu_code_free(code);
}

// Threads that come and go, and one that lets no signal through: workers do what it asks for.
static void *endless_in_thread(void *deaf) {
    if (deaf) {
        sigset_t all;
        sigfillset(&all);
        pthread_sigmask(SIG_SETMASK, &all, NULL);
    }
    calls_that_do_not_end(NULL);
    return NULL;
}

static void calls_that_do_not_end_on_other_threads(void **state) {
    (void)state;
    for (int deaf = 0; deaf < 2; deaf++) {
        pthread_t threads[2];
        for (int i = 0; i < 2; i++)
            assert_int_equal(
                pthread_create(&threads[i], NULL, endless_in_thread, deaf ? threads : NULL), 0);
        for (int i = 0; i < 2; i++) pthread_join(threads[i], NULL);
    }
    calls_that_do_not_end(NULL);
}

static uint64_t own_ns(void) {
    struct timespec now;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

// Threadgroups of 10 ms each, about, after a first one of nothing: the whole takes many times the
// limit.
static void long_dispatches_go_on(void **state) {
    (void)state;
    DevCode *code = load_good();
    Launch l;
    set_up_launch(&l, code, 1, 1, 1);
    l.order.work = 1 << 20;
    DevRun run = {0};
    uint64_t ns = own_ns();
    assert_true(cpu_run_begin(&run, NO_LIMIT) && cpu_dispatch(&run, &l.dispatch, 1));
    ns = own_ns() - ns;
    cpu_run_end(&run);
    unsigned work = (unsigned)((UINT64_C(10000000) << 20) / (ns ? ns : 1));
    free(l.counts);
    cpu_code_free(code);

    code = load_good(); // whose cost nobody knows
    set_up_launch(&l, code, 100, 1, 1);
    l.order.work = work;
    l.order.idle = 1;
    run = (DevRun){0};
    assert_true(cpu_run_begin(&run, (DevLimits){.step_ms = 100}));
    assert_true(cpu_dispatch(&run, &l.dispatch, 1));
    cpu_run_end(&run);
    assert_each_once(&l);
    free(l.counts);
    cpu_code_free(code);
}

static void *let_go_on(void *order) {
    usleep(200000);
    ((Order *)order)->go_on = 1;
    return NULL;
}

static void without_a_limit_nothing_is_stopped(void **state) {
    (void)state;
    DevCode *code = load_good();
    Launch l;
    set_up_launch(&l, code, 1, 1, 1);
    l.order.what = LOOP_FOR_EVER;
    l.order.at = 0;
    DevRun watched = {0}, run = {0};
    assert_true(cpu_run_begin(&watched, (DevLimits){.step_ms = 30})); // another's limit
    assert_true(cpu_run_begin(&run, NO_LIMIT));
    pthread_t thread;
    assert_int_equal(pthread_create(&thread, NULL, let_go_on, &l.order), 0);
    assert_true(cpu_dispatch(&run, &l.dispatch, 1));
    cpu_run_end(&run);
    cpu_run_end(&watched);
    pthread_join(thread, NULL);
    free(l.counts);
    cpu_code_free(code);
}

static void stack_overflow_on_a_worker(void **state) {
    (void)state;
    DevCode *code = load_good();
    assert_int_equal(run_order(code, OVERFLOW_STACK, 0, 1, NULL, (DevLimits){.run_ms = 30000}),
                     DEV_FAULT_STACK);
    assert_int_equal(run_order(code, BEHAVE, 0, 10, NULL, (DevLimits){.run_ms = 30000}),
                     DEV_FAULT_NONE);
    cpu_code_free(code);
}

// Whatever a kernel does to its stack and its registers, this thread gets out of it.
static void what_a_kernel_breaks_is_its_own(void **state) {
    (void)state;
    static const int memory[] = {WRITE_UP, JUMP_AWAY, LOSE_REGISTERS}, illegal[] = {BREAK, DIVIDE};
    DevCode *code = load_good();
    for (int round = 0; round < 4; round++) {
        DevLimits limits = {.run_ms = round / 2 ? 30000 : 0}; // on workers only, or here too
        uint32_t n = round % 2 ? 1 : 500;
        for (int i = 0; i < 3; i++)
            assert_int_equal(run_order(code, memory[i], n - 1, n, NULL, limits), DEV_FAULT_MEMORY);
        for (int i = 0; i < 2; i++)
            assert_int_equal(run_order(code, illegal[i], n - 1, n, NULL, limits),
                             DEV_FAULT_ILLEGAL);
        assert_int_equal(run_order(code, WRITE_DOWN, n / 2, n, NULL, limits), DEV_FAULT_STACK);
        assert_int_equal(run_order(code, OVERFLOW_STACK, n / 2, n, NULL, limits), DEV_FAULT_STACK);
        assert_int_equal(run_order(code, LOSE_STACK, 0, n, NULL, (DevLimits){.run_ms = 30}),
                         DEV_FAULT_TIMEOUT);
        assert_int_equal(run_order(code, LOSE_STACK, 0, n, NULL, (DevLimits){.step_ms = 30}),
                         DEV_FAULT_TIMEOUT);
        assert_int_equal(run_order(code, BEHAVE, 0, n, NULL, limits), DEV_FAULT_NONE);
    }
    cpu_code_free(code);
}

static sigjmp_buf outside;
static volatile sig_atomic_t caught;

static void on_own_fault(int number) {
    caught = number;
    siglongjmp(outside, 1);
}

// A handler of the application still gets the application's own faults, and we still get ours.
static void other_faults_go_to_their_handler(void **state) {
    (void)state;
    DevCode *code = load_good();
    volatile char *nowhere = mmap(NULL, 4096, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    signal(SIGSEGV, on_own_fault); // over ours: the next run puts ours over it again
    for (int round = 0; round < 10; round++) {
        assert_int_equal(run_order(code, TOUCH_NOTHING, 0, 1, (void *)nowhere, NO_LIMIT),
                         DEV_FAULT_MEMORY);
        caught = 0;
        if (sigsetjmp(outside, 1) == 0) *nowhere = 1;
        assert_int_equal(caught, SIGSEGV);
    }
    munmap((void *)nowhere, 4096);
    cpu_code_free(code);
}

static atomic_int logged;

static void count_log(void *context, uint32_t type, const char *where, const char *format,
                      const uint64_t *args, uint32_t n_args) {
    (void)args;
    if (type == 3 && n_args == 0 && strcmp(where, "sub") == 0 && strcmp(where + 4, "cat") == 0 &&
        strcmp(format, "hello") == 0)
        atomic_fetch_add((atomic_int *)context, 1);
}

static void logging_reaches_the_run(void **state) {
    (void)state;
    DevCode *code = load_good();
    Launch l;
    set_up_launch(&l, code, 10, 1, 1);
    l.order.what = LOG;
    l.order.at = 4;
    DevRun run = {.log = count_log, .log_context = &logged};
    assert_true(cpu_run_begin(&run, (DevLimits){0}));
    assert_true(cpu_dispatch(&run, &l.dispatch, 1));
    cpu_run_end(&run);
    assert_int_equal(logged, 1);
    free(l.counts);
    cpu_code_free(code);
}

// ---- Tasks ----

typedef struct Counted {
    OsTask task;
    atomic_int runs;
} Counted;

static void count_run(OsTask *task) { atomic_fetch_add(&((Counted *)task)->runs, 1); }

static void tasks_run_once_or_are_taken_back(void **state) {
    (void)state;
    for (int i = 0; i < 2000; i++) {
        Counted counted = {.task = {.run = count_run}};
        os_pool_submit(&counted.task);
        if (i % 3 == 0) sched_yield();
        if (os_pool_cancel(&counted.task)) {
            assert_int_equal(counted.runs, 0);
        } else {
            while (atomic_load(&counted.runs) == 0) sched_yield();
        }
        assert_false(os_pool_cancel(&counted.task));
    }
}

static void works_in_the_child_of_a_fork(void **state) {
    (void)state;
#if defined(__SANITIZE_THREAD__)
    skip(); // ThreadSanitizer does not allow threads after a fork
#endif
    if (getenv("INGOT_EMULATED")) skip(); // qemu 7.2 stops when the child starts a thread
    DevCode *code = load_good();
    pid_t child = fork();
    if (child == 0) {
        alarm(30);
        _exit(dispatch_in_thread(code) == NULL ? 0 : 1);
    }
    int status = -1;
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFEXITED(status));
    assert_int_equal(WEXITSTATUS(status), 0);
    cpu_code_free(code);
}

int main(int argc, char **argv) {
    if (argc < 4) {
        fprintf(stderr, "usage: test_cpu OBJECT OTHER_ABI EMPTY\n");
        return 2;
    }
    object_path = argv[1];
    other_abi_path = argv[2];
    empty_path = argv[3];
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(loads_and_tells),
        cmocka_unit_test(refuses_what_is_not_code),
        cmocka_unit_test(many_objects_are_distinct),
        cmocka_unit_test(every_threadgroup_runs_once),
        cmocka_unit_test(goes_on_with_optimised_code),
        cmocka_unit_test(asks_for_optimised_code),
        cmocka_unit_test(several_dispatches_at_once),
        cmocka_unit_test(others_take_what_a_thread_leaves),
        cmocka_unit_test(dispatches_from_many_threads),
        cmocka_unit_test(faults_end_the_run_only),
        cmocka_unit_test(time_limits),
        cmocka_unit_test(calls_that_do_not_end),
        cmocka_unit_test(calls_that_do_not_end_on_other_threads),
        cmocka_unit_test(long_dispatches_go_on),
        cmocka_unit_test(without_a_limit_nothing_is_stopped),
        cmocka_unit_test(stack_overflow_on_a_worker),
        cmocka_unit_test(what_a_kernel_breaks_is_its_own),
        cmocka_unit_test(other_faults_go_to_their_handler),
        cmocka_unit_test(logging_reaches_the_run),
        cmocka_unit_test(tasks_run_once_or_are_taken_back),
        cmocka_unit_test(works_in_the_child_of_a_fork),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
