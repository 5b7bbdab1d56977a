// SPDX-License-Identifier: Apache-2.0
// test_memory.c: the two sides of memory: which counts, what is copied when, and that nothing the
// program or a kernel wrote is lost.
#include "rig.h"
#include <fcntl.h>
#include <pthread.h>
#include <unistd.h>
#include "devices/cuda/cuda_int.h"

enum { N = 1024 };

static void facts_are_the_gpus(void **state) {
    (void)state;
    DevFacts f;
    void *d = rig_open(&f);
    assert_int_equal(cuda_device.count(), 2);
    assert_string_equal(f.name, "Fake GPU 0");
    assert_string_equal(f.target, "sm_90a");
    assert_false(f.unified_memory);
    assert_int_equal(f.max_threads, 1024);
    assert_int_equal(f.n_workers, 132);
    assert_int_equal(f.features & DEV_RENDER, 0);
    assert_int_equal(fake_calls(FAKE_CONTEXT), 0); // asking costs no context
    cuda_device.close(d);
}

static void private_memory_is_zeroed(void **state) {
    (void)state;
    void *d = rig_open(NULL);
    DevMemory m = rig_memory(d, N * 4, DEV_PRIVATE);
    int32_t back[N];
    assert_null(m.host);
    assert_true(cuda_device.copy(NULL, back, m.address, sizeof back));
    for (int i = 0; i < N; i++) assert_int_equal(back[i], 0);
    for (int i = 0; i < N; i++) back[i] = i;
    assert_true(cuda_device.copy(NULL, m.address, back, sizeof back));
    assert_true(cuda_device.fill(NULL, m.address + 8, 0xff, 8));
    memset(back, 0, sizeof back);
    assert_true(cuda_device.copy(NULL, back, m.address, sizeof back));
    assert_int_equal(back[1], 1);
    assert_int_equal(back[2], -1);
    assert_int_equal(back[4], 4);
    cuda_device.memory_free(d, &m);
    cuda_device.close(d);
    assert_int_equal(fake_live(), 0);
}

// A buffer whose contents nobody asked for is never copied.
static void what_is_not_shown_stays_on_the_device(void **state) {
    (void)state;
    void *d = rig_open(NULL);
    DevCode *code = rig_code(d, "add_one");
    DevMemory m = rig_memory(d, N * 4, DEV_SHARED);
    uint64_t up = fake_calls(FAKE_COPY_UP), down = fake_calls(FAKE_COPY_DOWN);
    for (int i = 0; i < 3; i++) assert_int_equal(rig_add_one(d, code, &m, N), DEV_FAULT_NONE);
    assert_int_equal(fake_calls(FAKE_COPY_UP), up);
    assert_int_equal(fake_calls(FAKE_COPY_DOWN), down);
    cuda_device.memory_show(d, &m); // now somebody does
    assert_int_equal(fake_calls(FAKE_COPY_DOWN), down + 1);
    const int32_t *x = (const int32_t *)(const void *)m.host;
    for (int i = 0; i < N; i++) assert_int_equal(x[i], 3);
    cuda_device.memory_free(d, &m);
    cuda_device.code_free(code);
    cuda_device.close(d);
    assert_int_equal(fake_live(), 0);
}

static void shown(size_t n) { // ints
    void *d = rig_open(NULL);
    DevCode *code = rig_code(d, "add_one");
    DevMemory m = rig_memory(d, n * 4, DEV_SHARED);
    cuda_device.memory_show(d, &m);
    int32_t *x = (int32_t *)(void *)m.host;
    for (size_t i = 0; i < n; i++) x[i] = (int32_t)i;
    for (int round = 1; round <= 3; round++) {
        x[0] += 100; // without a word
        assert_int_equal(rig_add_one(d, code, &m, n), DEV_FAULT_NONE);
        assert_int_equal(x[0], 101 * round);
        for (size_t i = 1; i < n; i++) assert_int_equal(x[i], (int32_t)i + round);
    }
    cuda_device.memory_free(d, &m);
    cuda_device.code_free(code);
    cuda_device.close(d);
    assert_int_equal(fake_live(), 0);
}

static void what_is_shown_goes_to_and_fro(void **state) {
    (void)state;
    shown(N);
    shown(1 << 20);                                        // not of the slabs
    fake_fail(FAKE_REGISTER, 0, CUDA_ERROR_OUT_OF_MEMORY); // it cannot be pinned
    shown(1 << 20);
}

// The program writes one part of a buffer while a command buffer changes another.
static void both_sides_may_write(void **state) {
    (void)state;
    void *d = rig_open(NULL);
    DevCode *code = rig_code(d, "add_one");
    DevMemory m = rig_memory(d, N * 4, DEV_SHARED);
    cuda_device.memory_show(d, &m);
    int32_t *x = (int32_t *)(void *)m.host;
    DevRun run;
    rig_begin(&run, d, (DevLimits){0});
    cuda_device.use(&run, &m, true);
    assert_true(rig_dispatch(&run, code, "add_one", m.address, N / 2));
    for (int i = N / 2; i < N; i++) x[i] = i;
    assert_true(cuda_device.finish(&run));
    for (int i = 0; i < N; i++) assert_int_equal(x[i], i < N / 2 ? 1 : i);
    // Once more in the same run: what went back before is not written again.
    x[0] = 77; // of the program, after the first half was done
    assert_true(rig_dispatch(&run, code, "add_one", m.address + 4, 1));
    cuda_device.run_end(&run);
    assert_int_equal(x[0], 77);
    assert_int_equal(x[1], 2);
    cuda_device.memory_free(d, &m);
    cuda_device.code_free(code);
    cuda_device.close(d);
}

// The bytes that a command buffer finds which only reads.
static const void *as_seen(void *d, const DevMemory *m, const DevMemory *seen) {
    static char bytes[4 << 20];
    DevRun run;
    rig_begin(&run, d, (DevLimits){0});
    cuda_device.use(&run, m, false);
    assert_true(cuda_device.copy(&run, seen->address, m->address, sizeof bytes));
    cuda_device.run_end(&run);
    assert_true(cuda_device.copy(NULL, bytes, seen->address, sizeof bytes));
    return bytes;
}

// Where the system tells which pages were written, only those are brought over.
static void what_was_not_written_is_not_copied(void **state) {
    (void)state;
    enum { BYTES = 4 << 20 };
    char *probe = aligned_alloc(4096, 4096);
    bool known = cuda_watch(probe, 4096);
    if (known) cuda_unwatch(probe, 4096);
    free(probe);
    if (!known) {
        print_message("this system does not tell what was written\n");
        skip();
    }
    void *d = rig_open(NULL);
    DevMemory m = rig_memory(d, BYTES, DEV_SHARED), seen = rig_memory(d, BYTES, DEV_PRIVATE);
    cuda_device.memory_show(d, &m);
    int32_t *x = (int32_t *)(void *)m.host;
    uint64_t before = fake_bytes(FAKE_COPY_UP);
    for (int i = 0; i < 3; i++) assert_memory_equal(as_seen(d, &m, &seen), x, BYTES);
    assert_int_equal(fake_bytes(FAKE_COPY_UP), before); // nobody wrote
    x[5000] = 40;                                       // the program: a page
    int file = open("/dev/urandom", O_RDONLY);          // and the system for it: two
    assert_int_equal(read(file, m.host + 100000, 5000), 5000);
    close(file);
    for (int i = 0; i < 2; i++) assert_memory_equal(as_seen(d, &m, &seen), x, BYTES);
    assert_int_equal(fake_bytes(FAKE_COPY_UP) - before, 3 * 4096);
    for (int i = 0; i < BYTES / 4; i++) x[i] = i; // all of it: from then on it is not watched
    for (int i = 0; i < 2; i++) assert_memory_equal(as_seen(d, &m, &seen), x, BYTES);
    assert_int_equal(fake_bytes(FAKE_COPY_UP) - before, 3 * 4096 + 2 * BYTES);
    cuda_device.memory_free(d, &m);
    cuda_device.memory_free(d, &seen);
    cuda_device.close(d);
}

// Commands of indirect command buffers name memory that nobody announced.
static void what_was_not_announced_is_found(void **state) {
    (void)state;
    void *d = rig_open(NULL);
    DevCode *code = rig_code(d, "add_one");
    DevMemory a = rig_memory(d, 4096, DEV_SHARED), b = rig_memory(d, 4096, DEV_SHARED);
    cuda_device.memory_show(d, &a);
    cuda_device.memory_show(d, &b);
    int32_t *x = (int32_t *)(void *)a.host, *y = (int32_t *)(void *)b.host;
    x[0] = 10, y[0] = 20, y[1] = 5;
    DevRun run;
    rig_begin(&run, d, (DevLimits){0});
    cuda_device.use(&run, &a, true);
    assert_true(rig_dispatch(&run, code, "add_one", a.address, 1));
    assert_true(rig_dispatch(&run, code, "add_one", b.address, 1));
    assert_true(rig_dispatch(&run, code, "add_one", b.address, 1));
    cuda_device.run_end(&run);
    assert_int_equal(x[0], 11);
    assert_int_equal(y[0], 22);
    assert_int_equal(y[1], 5);
    assert_int_equal(rig_add_one(d, code, &b, 2), DEV_FAULT_NONE); // nobody holds it
    assert_int_equal(y[1], 6);
    cuda_device.memory_free(d, &a);
    cuda_device.memory_free(d, &b);
    cuda_device.code_free(code);
    cuda_device.close(d);
}

static void only_the_part_that_is_used_is_copied(void **state) {
    (void)state;
    void *d = rig_open(NULL);
    DevCode *code = rig_code(d, "add_one");
    DevMemory heap = rig_memory(d, 1 << 20, DEV_SHARED);
    cuda_device.memory_show(d, &heap);
    DevMemory part = heap;
    part.address += 4096;
    part.host += 4096;
    part.n_bytes = 64;
    uint64_t before = fake_bytes(FAKE_COPY_UP);
    assert_int_equal(rig_add_one(d, code, &part, 16), DEV_FAULT_NONE);
    assert_in_range(fake_bytes(FAKE_COPY_UP) - before, 0, 64); // nothing, if it is watched
    assert_int_equal(((int32_t *)(void *)part.host)[15], 1);
    assert_int_equal(((int32_t *)(void *)part.host)[16], 0);
    cuda_device.memory_free(d, &heap);
    cuda_device.code_free(code);
    cuda_device.close(d);
}

static void managed_memory_is_copied_when_told(void **state) {
    (void)state;
    void *d = rig_open(NULL);
    DevCode *code = rig_code(d, "add_one");
    DevMemory m = rig_memory(d, N * 4, DEV_MANAGED);
    cuda_device.memory_show(d, &m);
    int32_t *x = (int32_t *)(void *)m.host;
    x[0] = 10, x[1] = 20;
    cuda_device.memory_modified(d, &m, 4, 4); // of the second only
    assert_int_equal(rig_add_one(d, code, &m, 2), DEV_FAULT_NONE);
    assert_int_equal(x[0], 10);
    assert_int_equal(x[1], 20);
    DevRun run;
    rig_begin(&run, d, (DevLimits){0});
    cuda_device.use(&run, &m, false);
    assert_true(cuda_device.synchronize(&run, &m));
    cuda_device.run_end(&run);
    assert_int_equal(x[0], 1);
    assert_int_equal(x[1], 21);
    cuda_device.memory_free(d, &m);
    cuda_device.code_free(code);
    cuda_device.close(d);
}

static void the_programs_memory_is_wrapped(void **state) {
    (void)state;
    void *d = rig_open(NULL);
    DevCode *code = rig_code(d, "add_one");
    int32_t *x = aligned_alloc(4096, 8192);
    memset(x, 0, 8192);
    DevMemory m = {.host = (char *)x, .n_bytes = 8192};
    assert_true(cuda_device.memory_wrap(d, &m));
    assert_ptr_equal(m.host, x);
    assert_ptr_not_equal(m.address, x);
    x[5] = 5;
    assert_int_equal(rig_add_one(d, code, &m, 2048), DEV_FAULT_NONE);
    assert_int_equal(x[5], 6);
    assert_int_equal(x[2047], 1);
    cuda_device.memory_free(d, &m);
    free(x);
    cuda_device.code_free(code);
    cuda_device.close(d);
    assert_int_equal(fake_live(), 0);
}

// Constants of command buffers: one address for both sides, and used again.
// Memory that another library made is used where it is, may be there twice, and stays.
static void memory_of_others_is_adopted(void **state) {
    (void)state;
    void *d = rig_open(NULL);
    DevCode *code = rig_code(d, "add_one");
    DevMemory others = rig_memory(d, N * 4, DEV_PRIVATE);
    int32_t back[N];
    for (int i = 0; i < N; i++) back[i] = i;
    assert_true(cuda_device.copy(NULL, others.address, back, sizeof back));
    uint64_t live = fake_live(), n_free = fake_calls(FAKE_FREE), up = fake_calls(FAKE_COPY_UP);
    DevMemory whole = {.address = others.address, .n_bytes = N * 4},
              part = {.address = others.address + 256, .n_bytes = 64};
    assert_true(cuda_device.memory_adopt(d, &whole));
    assert_true(cuda_device.memory_adopt(d, &part));
    assert_int_equal(fake_live(), live);
    assert_ptr_equal(cuda_memory_at(part.address), part.part);
    // What begins before the part and ends behind it is found behind it, too.
    const CudaMemory *around = cuda_memory_at(others.address + 1024);
    assert_non_null(around);
    assert_int_equal(around->device, (uintptr_t)others.address);
    assert_int_equal(rig_add_one(d, code, &whole, N), DEV_FAULT_NONE);
    assert_int_equal(rig_add_one(d, code, &part, 16), DEV_FAULT_NONE);
    assert_int_equal(fake_calls(FAKE_COPY_UP), up);
    DevRun run;
    rig_begin(&run, d, (DevLimits){0});
    cuda_device.use(&run, &whole, false);
    assert_true(cuda_device.synchronize(&run, &whole));
    cuda_device.run_end(&run);
    const int32_t *seen = (const int32_t *)(const void *)whole.host;
    for (int i = 0; i < N; i++) assert_int_equal(seen[i], i + 1 + (i >= 64 && i < 80));
    uint64_t waits = fake_calls(FAKE_OTHERS);
    assert_true(cuda_device.wait_for_others(d));
    assert_int_equal(fake_calls(FAKE_OTHERS), waits + 1);
    fake_fail(FAKE_OTHERS, 0, CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED);
    assert_false(cuda_device.wait_for_others(d)); // and nothing is lost
    assert_false(cuda_device.is_lost(d));
    cuda_device.memory_free(d, &whole);
    cuda_device.memory_free(d, &part);
    assert_int_equal(fake_calls(FAKE_FREE), n_free);
    assert_ptr_equal(cuda_memory_at(others.address + 256), others.part);
    cuda_device.memory_free(d, &others);
    assert_null(cuda_memory_at(others.address));
    cuda_device.code_free(code);
    cuda_device.close(d);
}

static void arguments_have_one_address(void **state) {
    (void)state;
    void *d = rig_open(NULL);
    DevMemory a = rig_memory(d, 8192, DEV_ARGUMENTS);
    assert_ptr_equal(a.address, a.host);
    memset(a.host, 7, 8192);
    uint64_t n = fake_calls(FAKE_REGISTER);
    cuda_device.memory_free(d, &a);
    for (int i = 0; i < 100; i++) {
        a = rig_memory(d, 8192, DEV_ARGUMENTS);
        assert_int_equal(a.host[8191], 0);
        cuda_device.memory_free(d, &a);
    }
    assert_int_equal(fake_calls(FAKE_REGISTER), n);
    cuda_device.close(d);
}

static void memory_that_is_not_there(void **state) {
    (void)state;
    void *d = rig_open(NULL);
    DevMemory m;
    fake_fail(FAKE_ALLOC, 0, CUDA_ERROR_OUT_OF_MEMORY);
    assert_false(cuda_device.memory_make(d, 4096, DEV_PRIVATE, &m));
    fake_fail(FAKE_REGISTER, 0, CUDA_ERROR_OUT_OF_MEMORY);
    assert_false(cuda_device.memory_make(d, 100, DEV_ARGUMENTS, &m));
    assert_false(cuda_device.is_lost(d));
    m = rig_memory(d, (size_t)100 << 30, DEV_SHARED); // 64-bit sizes
    cuda_device.memory_free(d, &m);
    cuda_device.close(d);
    assert_int_equal(fake_live(), 0);
}

typedef struct Job {
    void *device;
    DevCode *code;
    DevMemory *memory;
} Job;

static void *many_runs(void *context) {
    Job *job = context;
    for (int i = 0; i < 200; i++)
        if (rig_add_one(job->device, job->code, job->memory, 4)) return job;
    return NULL;
}

// Runs of two queues on one shown buffer take turns: no count is lost.
static void runs_take_turns(void **state) {
    (void)state;
    void *d = rig_open(NULL);
    DevMemory m = rig_memory(d, 4096, DEV_SHARED);
    Job job = {d, rig_code(d, "add_one"), &m};
    cuda_device.memory_show(d, &m);
    pthread_t threads[4];
    void *result;
    for (int i = 0; i < 4; i++) pthread_create(&threads[i], NULL, many_runs, &job);
    for (int i = 0; i < 4; i++) {
        pthread_join(threads[i], &result);
        assert_null(result);
    }
    assert_int_equal(((int32_t *)(void *)m.host)[3], 800);
    cuda_device.memory_free(d, &m);
    cuda_device.code_free(job.code);
    cuda_device.close(d);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(facts_are_the_gpus),
        cmocka_unit_test(private_memory_is_zeroed),
        cmocka_unit_test(what_is_not_shown_stays_on_the_device),
        cmocka_unit_test(what_is_shown_goes_to_and_fro),
        cmocka_unit_test(both_sides_may_write),
        cmocka_unit_test(what_was_not_written_is_not_copied),
        cmocka_unit_test(what_was_not_announced_is_found),
        cmocka_unit_test(only_the_part_that_is_used_is_copied),
        cmocka_unit_test(managed_memory_is_copied_when_told),
        cmocka_unit_test(the_programs_memory_is_wrapped),
        cmocka_unit_test(memory_of_others_is_adopted),
        cmocka_unit_test(arguments_have_one_address),
        cmocka_unit_test(memory_that_is_not_there),
        cmocka_unit_test(runs_take_turns),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
