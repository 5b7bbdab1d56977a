// SPDX-License-Identifier: Apache-2.0
// The compiler client against a compiler that misbehaves on demand (fake_compiler.c): whatever
// happens to the process is an error or a retry, the next compilation works, and nothing is left
// behind.
#include "testing.h"
#include "base/files.h"
#include "base/text.h"
#include "runtime/program/compiler_client.h"
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <sys/wait.h>

static char *folder, counter[4096];

static bool alive(pid_t pid) {
    char path[64], line[512] = "";
    snprintf(path, sizeof path, "/proc/%d/stat", (int)pid);
    FILE *f = fopen(path, "r");
    if (!f) return false;
    char *got = fgets(line, sizeof line, f);
    fclose(f);
    char *state = got ? strrchr(line, ')') : NULL;
    return state && state[2] != 'Z';
}

// Kills all compilers and waits until they are dead (a zombie until the client looks).
static void kill_compilers(void) {
    int pids[8];
    size_t n = rt_compiler_processes(pids, 8);
    for (size_t i = 0; i < n; i++) kill(pids[i], SIGKILL);
    for (size_t i = 0; i < n; i++)
        while (alive(pids[i])) usleep(1000);
}

static int set_up(void **state) {
    (void)state;
    folder = testing_folder();
    setenv("INGOT_CACHE_DIR", folder, 1);
    setenv("INGOT_COMPILE_TIMEOUT_MS", "20000", 1);
    snprintf(counter, sizeof counter, "%s/counter", folder);
    setenv("INGOT_FAKE_COUNT", counter, 1); // read by compilers started from now on
    kill_compilers();                       // those of the test before have another counter
    return 0;
}
static int tear_down(void **state) {
    (void)state;
    testing_remove_folder(folder);
    return 0;
}

static int n_compilations(void) {
    struct stat st;
    return stat(counter, &st) ? 0 : (int)st.st_size;
}

static Metallib *library(const char *text, RtCompileError *error) {
    return rt_compile_library(
        &(MslSource){.name = "test.metal", .text = text, .n_bytes = strlen(text)}, error);
}

static void expect_works(const char *text) {
    RtCompileError e = {0};
    Metallib *m = library(text, &e);
    if (!m) print_error("%s\n", e.log);
    assert_non_null(m);
    assert_int_equal(e.status, RT_COMPILE_OK);
    assert_int_equal(m->bitcode_bytes, strlen(text));
    assert_memory_equal(m->bitcode, text, strlen(text));
    metallib_release(m);
}

static void expect_status(const char *text, RtCompileStatus status, const char *in_log) {
    RtCompileError e = {0};
    assert_null(library(text, &e));
    assert_int_equal(e.status, status);
    assert_non_null(e.log);
    if (!strstr(e.log, in_log)) fail_msg("'%s' is not in: %s", in_log, e.log);
    rt_compile_error_clear(&e);
}

static int open_files(void) { return testing_count("/proc/self", "fd"); }

static void second_time_from_cache(void **state) {
    (void)state;
    expect_works("ok, cached");
    expect_works("ok, cached");
    assert_int_equal(n_compilations(), 1);
    assert_int_equal(testing_count(folder, "libraries"), 1);
    setenv("INGOT_CACHE_DIR", "off", 1);
    expect_works("ok, cached");
    assert_int_equal(n_compilations(), 2);
}

static void error_has_diagnostics(void **state) {
    (void)state;
    RtCompileError e = {0};
    for (int i = 0; i < 2; i++) { // not cached
        assert_null(library("error", &e));
        assert_int_equal(e.status, RT_COMPILE_FAILED);
        assert_string_equal(e.log, "test.metal:1:2: error: you said so\n error\n ^\n");
        assert_int_equal(e.n_diagnostics, 1);
        assert_string_equal(e.diagnostics[0].file, "test.metal");
        assert_string_equal(e.diagnostics[0].message, "you said so");
        assert_int_equal(e.diagnostics[0].line, 1);
        rt_compile_error_clear(&e);
    }
    assert_int_equal(n_compilations(), 2);
    assert_null(library("error", NULL));
}

static void crash_is_an_error(void **state) {
    (void)state;
    expect_works("ok, warm up");
    int before = open_files();
    for (int i = 0; i < 3; i++) {
        expect_status("crash", RT_COMPILE_CRASHED, "signal 11");
        expect_status("crash", RT_COMPILE_CRASHED, "about to crash");
        char text[32];
        snprintf(text, sizeof text, "ok, after crash %d", i);
        expect_works(text);
    }
    assert_int_equal(open_files(), before);
    expect_status("exit", RT_COMPILE_CRASHED, "status 3");
    RtCompilerCounters n = rt_compiler_counters();
    assert_true(n.processes_started >= n.processes_lost);
}

static void crash_once_is_retried(void **state) {
    (void)state;
    char text[4200];
    snprintf(text, sizeof text, "once:%s/mark", folder);
    expect_works(text);
    assert_int_equal(n_compilations(), 2);
}

static void hang_is_ended(void **state) {
    (void)state;
    setenv("INGOT_COMPILE_TIMEOUT_MS", "300", 1);
    expect_status("hang", RT_COMPILE_TIMEOUT, "300 ms");
    setenv("INGOT_COMPILE_TIMEOUT_MS", "20000", 1);
    assert_int_equal(n_compilations(), 1); // no second try
    expect_works("ok, after a hang");
}

static void *kill_soon(void *unused) {
    (void)unused;
    usleep(100000);
    kill_compilers();
    return NULL;
}

static void killed_while_compiling(void **state) {
    (void)state;
    pthread_t t;
    expect_works("ok, a compiler is running");
    pthread_create(&t, NULL, kill_soon, NULL);
    expect_works("slow, and killed");
    pthread_join(t, NULL);
    assert_int_equal(n_compilations(), 3);
    kill_compilers(); // and while idle
    expect_works("ok, after a kill");
}

static void no_compiler(void **state) {
    (void)state;
    char *mslc = strdup(getenv("INGOT_MSLC"));
    kill_compilers();
    setenv("INGOT_MSLC", "/nowhere/mslc", 1);
    expect_status("ok, nobody there", RT_COMPILE_NO_COMPILER, "/nowhere/mslc");
    setenv("INGOT_MSLC", "/bin/false", 1);
    expect_status("ok, nobody there", RT_COMPILE_NO_COMPILER, "does not start");
    setenv("INGOT_MSLC", mslc, 1);
    expect_works("ok, there again");
    free(mslc);
}

static void kernels(void **state) {
    (void)state;
    Metallib *m = library("ok, kernels", NULL);
    assert_non_null(m);
    RtCompileError e = {0};
    RtKernelQuery q = {
        .libraries = &m, .code = {.function = "first", .shape = {16, 2, 1}}, .cached_only = true};
    assert_null(rt_compile_kernel(&q, &e));
    assert_int_equal(e.status, RT_COMPILE_NOT_FOUND);
    rt_compile_error_clear(&e);
    q.cached_only = false;
    static const char code[] = "ok, kernels|first|16,2,1|0|";
    for (int i = 0; i < 3; i++) {
        // The second time a compiler that has never seen the library, the third time the cache.
        if (i == 1) kill_compilers(), setenv("INGOT_CACHE_DIR", "off", 1);
        if (i == 2) setenv("INGOT_CACHE_DIR", folder, 1);
        Blob *b = rt_compile_kernel(&q, &e);
        assert_non_null(b);
        assert_int_equal(b->n_bytes, strlen(code));
        assert_memory_equal(b->data, code, b->n_bytes);
        blob_release(b);
    }
    assert_int_equal(n_compilations(), 3);
    assert_int_equal(testing_count(folder, "kernels"), 1);
    q.code.function = "second";
    assert_null(rt_compile_kernel(&q, &e));
    assert_int_equal(e.status, RT_COMPILE_FAILED);
    assert_string_equal(e.log, "this kernel is beyond the fake compiler");
    rt_compile_error_clear(&e);
    q.code.function = "third";
    assert_null(rt_compile_kernel(&q, &e));
    assert_int_equal(e.status, RT_COMPILE_NOT_FOUND);
    rt_compile_error_clear(&e);
    metallib_release(m);
    m = library("ok, bad code", NULL);
    q.code.function = "first";
    assert_null(rt_compile_kernel(&q, &e));
    assert_int_equal(e.status, RT_COMPILE_CRASHED);
    rt_compile_error_clear(&e);
    metallib_release(m);
}

static Blob *first_of(Metallib *const *library) {
    return rt_compile_kernel(&(RtKernelQuery){.libraries = library, .code = {.function = "first"}},
                             NULL);
}

static void *ask_in_background(void *request) {
    Blob *b = rt_compile_kernel(request, NULL);
    blob_release(b);
    return b;
}

// Work that nobody waits for leaves a compiler to those who wait, however much there is of it.
static void background_gives_way(void **state) {
    (void)state;
    Metallib *slow = library("ok, gated", NULL), *m = library("ok, at once", NULL);
    RtKernelQuery asked[3];
    pthread_t threads[3];
    for (unsigned i = 0; i < 3; i++) {
        asked[i] = (RtKernelQuery){.libraries = &slow,
                                   .code = {.function = "first", .shape = {i + 1, 1, 1}},
                                   .background = true};
        assert_int_equal(pthread_create(&threads[i], NULL, ask_in_background, &asked[i]), 0);
    }
    while (n_compilations() < 3) usleep(1000); // the libraries, and one of them
    usleep(50000);                             // had others a way to begin, they would
    assert_int_equal(n_compilations(), 3);
    Blob *b = first_of(&m);
    assert_non_null(b);
    blob_release(b);
    assert_int_equal(n_compilations(), 4);
    char *gate = text_format("%s.gate", counter);
    assert_true(file_write_atomic(gate, "", 0, false));
    free(gate);
    for (unsigned i = 0; i < 3; i++) {
        void *got;
        pthread_join(threads[i], &got);
        assert_non_null(got);
    }
    assert_int_equal(n_compilations(), 6);
    metallib_release(slow), metallib_release(m);
}

// A server that has dropped a library asks for it again: 40 libraries are more than it keeps.
static void dropped_library_is_sent_again(void **state) {
    (void)state;
    setenv("INGOT_COMPILE_PROCESSES", "1", 1);
    Metallib *first = library("ok, number 0", NULL);
    for (int i = 1; i < 40; i++) {
        char text[32];
        snprintf(text, sizeof text, "ok, number %d", i);
        metallib_release(library(text, NULL));
    }
    Blob *b = first_of(&first);
    assert_non_null(b);
    assert_memory_equal(b->data, "ok, number 0|", 13);
    blob_release(b);
    metallib_release(first);
    unsetenv("INGOT_COMPILE_PROCESSES");
}

static void *compile_slow(void *result) {
    *(Metallib **)result = library("slow, but once", NULL);
    return NULL;
}

static void many_threads_compile_once(void **state) {
    (void)state;
    enum { N = 16 };
    pthread_t t[N];
    Metallib *m[N];
    for (int i = 0; i < N; i++)
        assert_int_equal(pthread_create(&t[i], NULL, compile_slow, &m[i]), 0);
    for (int i = 0; i < N; i++) {
        pthread_join(t[i], NULL);
        assert_non_null(m[i]);
        assert_memory_equal(m[i]->hash, m[0]->hash, SHA256_BYTES);
    }
    for (int i = 0; i < N; i++) metallib_release(m[i]);
    assert_int_equal(n_compilations(), 1);
    assert_int_equal(testing_count(folder, "libraries"), 1);
}

static void *compile_own(void *p) {
    char text[64];
    for (int i = 0; i < 20; i++) {
        snprintf(text, sizeof text, "ok, thread %d text %d", (int)(intptr_t)p, i % 10);
        Metallib *m = library(text, NULL);
        if (!m || memcmp(m->bitcode, text, strlen(text))) return "wrong";
        Blob *b = first_of(&m);
        if (!b || memcmp(b->data, text, strlen(text))) return "wrong kernel";
        blob_release(b);
        metallib_release(m);
    }
    return NULL;
}

static void threads_do_not_mix_answers(void **state) {
    (void)state;
    enum { N = 6 };
    pthread_t t[N];
    for (int i = 0; i < N; i++) pthread_create(&t[i], NULL, compile_own, (void *)(intptr_t)(i % 4));
    for (int i = 0; i < N; i++) {
        void *wrong;
        pthread_join(t[i], &wrong);
        if (wrong) fail_msg("%s", (char *)wrong);
    }
    assert_int_equal(testing_count(folder, "libraries"), 40);
    assert_int_equal(testing_count(folder, "kernels"), 40);
}

static void many_processes_compile_once(void **state) {
    (void)state;
    expect_works("ok, a parent with a compiler"); // which the children must not use
    enum { N = 4 };
    pid_t pid[N];
    for (int i = 0; i < N; i++) {
        pid[i] = fork();
        if (!pid[i]) {
            Metallib *m = library("slow, in processes", NULL);
            kill_compilers();
            _exit(m ? 0 : 1);
        }
    }
    for (int i = 0; i < N; i++) {
        int status;
        assert_int_equal(waitpid(pid[i], &status, 0), pid[i]);
        assert_int_equal(status, 0);
    }
    assert_int_equal(n_compilations(), 2);
    assert_int_equal(testing_count(folder, "libraries"), 2);
    expect_works("ok, the parent's compiler lives");
}

static void edited_include_recompiles(void **state) {
    (void)state;
    char path[4200], text[4300];
    snprintf(path, sizeof path, "%s/a.h", folder);
    snprintf(text, sizeof text, "include:%s", path);
    assert_true(file_write_atomic(path, "1", 1, false));
    expect_works(text);
    expect_works(text);
    assert_int_equal(n_compilations(), 1);
    assert_true(file_write_atomic(path, "2", 1, false));
    expect_works(text);
    expect_works(text);
    assert_int_equal(n_compilations(), 2);
}

// When the application dies, its compiler goes too, idle or in the middle of something.
static void compiler_dies_with_its_user(void **state) {
    (void)state;
    for (int i = 0; i < 2; i++) {
        int pipe_fd[2];
        assert_int_equal(pipe(pipe_fd), 0);
        pid_t pid = fork();
        if (!pid) {
            Metallib *m = library(i ? "ok, orphan" : "ok, orphan too", NULL);
            (void)m;
            int compiler = 0;
            rt_compiler_processes(&compiler, 1);
            if (write(pipe_fd[1], &compiler, sizeof compiler) < 0) _exit(1);
            if (i) library("hang", NULL);
            pause();
            _exit(0);
        }
        int compiler = 0;
        assert_int_equal(read(pipe_fd[0], &compiler, sizeof compiler), sizeof compiler);
        assert_true(compiler > 0);
        usleep(100000); // let it get to the hang
        assert_true(alive(compiler));
        kill(pid, SIGKILL);
        waitpid(pid, NULL, 0);
        for (int k = 0; k < 500 && alive(compiler); k++) usleep(10000);
        assert_false(alive(compiler));
        close(pipe_fd[0]);
        close(pipe_fd[1]);
    }
}

static void no_child_is_left_unreaped(void **state) {
    (void)state;
    expect_status("crash", RT_COMPILE_CRASHED, "signal");
    int status;
    pid_t pid = waitpid(-1, &status, WNOHANG);
    assert_true(pid == 0 || (pid < 0 && errno == ECHILD));
}

int main(void) {
#define T(f) cmocka_unit_test_setup_teardown(f, set_up, tear_down)
    const struct CMUnitTest tests[] = {
        T(second_time_from_cache),
        T(error_has_diagnostics),
        T(crash_is_an_error),
        T(crash_once_is_retried),
        T(hang_is_ended),
        T(killed_while_compiling),
        T(no_compiler),
        T(kernels),
        T(background_gives_way),
        T(dropped_library_is_sent_again),
        T(many_threads_compile_once),
        T(threads_do_not_mix_answers),
        T(many_processes_compile_once),
        T(edited_include_recompiles),
        T(compiler_dies_with_its_user),
        T(no_child_is_left_unreaped),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
