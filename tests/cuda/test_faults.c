// SPDX-License-Identifier: Apache-2.0
// test_faults.c: kernels that break the context or never end: the run says which, the process and
// what the host has stay, and a new device works.
#include "rig.h"

static void works(void *d) {
    DevCode *code = rig_code(d, "add_one");
    DevMemory m = rig_memory(d, 4096, DEV_SHARED);
    cuda_device.memory_show(d, &m);
    assert_int_equal(rig_add_one(d, code, &m, 4), DEV_FAULT_NONE);
    assert_int_equal(((int32_t *)(void *)m.host)[3], 1);
    cuda_device.memory_free(d, &m);
    cuda_device.code_free(code);
}

static void a_bad_access_ends_the_run(void **state) {
    (void)state;
    void *d = rig_open(NULL);
    DevCode *good = rig_code(d, "add_one"), *bad = rig_code(d, "bad");
    DevMemory m = rig_memory(d, 4096, DEV_SHARED);
    cuda_device.memory_show(d, &m);
    memset(m.host, 3, 4096);
    fake_break("bad", CUDA_ERROR_ILLEGAL_ADDRESS);
    DevRun run;
    rig_begin(&run, d, (DevLimits){0});
    cuda_device.use(&run, &m, true);
    assert_true(rig_dispatch(&run, good, "blur", m.address, 4));
    assert_true(rig_dispatch(&run, bad, "sharpen", m.address, 4));
    assert_false(cuda_device.finish(&run));
    cuda_device.run_end(&run);
    assert_int_equal(atomic_load(&run.fault), DEV_FAULT_MEMORY);
    assert_string_equal(run.faulting, "blur' or 'sharpen");
    assert_true(cuda_device.is_lost(d));
    assert_int_equal(m.host[100], 3); // the host's side stays
    // All that comes fails, and nothing crashes.
    DevMemory more;
    char why[256];
    assert_false(cuda_device.memory_make(d, 4096, DEV_PRIVATE, &more));
    assert_null(rig_code_with(d, "// fake: add_one\n", NULL, why));
    assert_non_null(strstr(why, "the device is lost"));
    assert_int_equal(rig_add_one(d, good, &m, 4), DEV_FAULT_LOST);
    assert_false(cuda_device.copy(NULL, m.address, why, 0) &&
                 cuda_device.memory_make(d, 1, DEV_SHARED, &more));
    // The driver serves the process no longer: a new device says so.
    DevFacts facts;
    assert_null(cuda_device.open(1, &facts, why, sizeof why));
    assert_non_null(strstr(why, "serves this process no longer"));
    cuda_device.memory_free(d, &m);
    cuda_device.code_free(good);
    cuda_device.code_free(bad);
    cuda_device.close(d);
}

static void an_endless_kernel_ends_the_run(void **state) {
    (void)state;
    void *d = rig_open(NULL);
    DevCode *code = rig_code(d, "endless");
    DevMemory m = rig_memory(d, 4096, DEV_SHARED);
    fake_hang("endless");
    DevRun run;
    rig_begin(&run, d, (DevLimits){.run_ms = 30});
    cuda_device.use(&run, &m, true);
    assert_true(rig_dispatch(&run, code, "endless", m.address, 4));
    cuda_device.run_end(&run);
    assert_int_equal(atomic_load(&run.fault), DEV_FAULT_TIMEOUT);
    assert_string_equal(run.faulting, "endless");
    assert_true(cuda_device.is_lost(d));
    fake_hang("");
    void *fresh = rig_open(NULL);
    works(fresh);
    cuda_device.memory_free(d, &m);
    cuda_device.code_free(code);
    cuda_device.close(d);
    cuda_device.close(fresh);
}

// No memory for a launch is no reason to give the device up.
static void some_faults_are_not_for_good(void **state) {
    (void)state;
    void *d = rig_open(NULL);
    DevCode *code = rig_code(d, "add_one");
    DevMemory m = rig_memory(d, 4096, DEV_PRIVATE);
    fake_fail(FAKE_LAUNCH, 0, CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES);
    assert_int_equal(rig_add_one(d, code, &m, 4), DEV_FAULT_NO_MEMORY);
    assert_false(cuda_device.is_lost(d));
    assert_int_equal(rig_add_one(d, code, &m, 4), DEV_FAULT_NONE);
    cuda_device.memory_free(d, &m);
    cuda_device.code_free(code);
    works(d);
    cuda_device.close(d);
}

static void a_group_that_does_not_fit(void **state) {
    (void)state;
    void *d = rig_open(NULL);
    DevCode *code = rig_code(d, "add_one");
    void *args[2] = {NULL, (void *)1};
    DevDispatch dispatch = {.code = code,
                            .args = args,
                            .threads_per_grid = {1, 1, 128},
                            .groups_per_grid = {1, 1, 1},
                            .group_size = {1, 1, 128}};
    DevRun run;
    rig_begin(&run, d, (DevLimits){0});
    assert_false(cuda_device.dispatch(&run, &dispatch, 1)); // a block has 64 in z
    cuda_device.run_end(&run);
    assert_int_equal(atomic_load(&run.fault), DEV_FAULT_SIZE);
    cuda_device.code_free(code);
    cuda_device.close(d);
}

static void a_context_that_does_not_come(void **state) {
    (void)state;
    void *d = rig_open(NULL);
    DevMemory m;
    DevRun run = {.context = d};
    // Without memory for it now there may be later.
    fake_fail(FAKE_CONTEXT, 0, CUDA_ERROR_OUT_OF_MEMORY);
    assert_false(cuda_device.memory_make(d, 4096, DEV_SHARED, &m));
    assert_false(cuda_device.is_lost(d));
    fake_fail(FAKE_CONTEXT, 0, CUDA_ERROR_OUT_OF_MEMORY);
    assert_false(cuda_device.run_begin(&run, (DevLimits){0}));
    works(d);
    cuda_device.close(d);
    // Any other reason is one for good.
    d = rig_open(NULL);
    fake_fail(FAKE_CONTEXT, 0, CUDA_ERROR_NO_DEVICE);
    assert_false(cuda_device.memory_make(d, 4096, DEV_SHARED, &m));
    assert_true(cuda_device.is_lost(d));
    cuda_device.close(d);
    d = rig_open(NULL);
    works(d);
    cuda_device.close(d);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(some_faults_are_not_for_good),
        cmocka_unit_test(a_group_that_does_not_fit),
        cmocka_unit_test(an_endless_kernel_ends_the_run),
        cmocka_unit_test(a_context_that_does_not_come),
        cmocka_unit_test(a_bad_access_ends_the_run), // the last: nothing works after it
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
