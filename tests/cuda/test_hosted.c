// SPDX-License-Identifier: Apache-2.0
// test_hosted.c: the CUDA device in a process of its own, on the fake driver there: the same calls
// as in-process, contents of both sides, and kernels that cost only that process.
#define cuda_device hosted_cuda_device
#include "rig.h"
#undef cuda_device
#include <dirent.h>
#include <unistd.h>

#define TABLE hosted_cuda_device

static unsigned n_files(void) { // open descriptors
    unsigned n = 0;
    DIR *d = opendir("/proc/self/fd");
    while (readdir(d)) n++;
    closedir(d);
    return n;
}

static unsigned n_children(void) {
    unsigned n = 0;
    int pid;
    char path[64];
    snprintf(path, sizeof path, "/proc/self/task/%d/children", (int)getpid());
    FILE *f = fopen(path, "r");
    while (f && fscanf(f, "%d", &pid) == 1) n++;
    if (f) fclose(f);
    return n;
}

static void it_computes(void **state) {
    (void)state;
    DevFacts facts;
    void *d = rig_open(&facts);
    assert_string_equal(facts.name, "Fake GPU 0, isolated");
    assert_string_equal(facts.target, "sm_90a");
    assert_true(facts.is_apart);
    assert_false(facts.unified_memory);
    DevCode *code = rig_code(d, "add_one");
    DevMemory shared = rig_memory(d, 4096, DEV_SHARED), private = rig_memory(d, 4096, DEV_PRIVATE),
              large = rig_memory(d, (size_t)8 << 20, DEV_SHARED);
    assert_null(private.host);
    TABLE.memory_show(d, &shared);
    int32_t *x = (int32_t *)(void *)shared.host;
    for (int i = 0; i < 1024; i++) x[i] = i;
    for (int round = 0; round < 3; round++)
        assert_int_equal(rig_add_one(d, code, &shared, 1024), DEV_FAULT_NONE);
    for (int i = 0; i < 1024; i++) assert_int_equal(x[i], i + 3);
    // From the program's memory to the device's and back, in a run and outside.
    int32_t in[1024], out[1024] = {0};
    for (int i = 0; i < 1024; i++) in[i] = 7 * i;
    assert_true(TABLE.copy(DEV_OUTSIDE(d), private.address, in, sizeof in));
    assert_int_equal(rig_add_one(d, code, &private, 1024), DEV_FAULT_NONE);
    DevRun run;
    rig_begin(&run, d, (DevLimits){0});
    assert_true(TABLE.fill(&run, private.address, 0, 4));
    assert_true(TABLE.copy(&run, private.address + 4, &in[10], 4));
    assert_true(TABLE.copy(&run, out, private.address, sizeof out));
    assert_true(TABLE.finish(&run));
    TABLE.run_end(&run);
    assert_int_equal(atomic_load(&run.fault), DEV_FAULT_NONE);
    assert_int_equal(out[0], 0);
    assert_int_equal(out[1], 70);
    for (int i = 2; i < 1024; i++) assert_int_equal(out[i], 7 * i + 1);
    memset(out, 0, sizeof out);
    assert_true(TABLE.copy(DEV_OUTSIDE(d), out, private.address, sizeof out));
    assert_int_equal(out[1023], 7 * 1023 + 1);
    // A buffer of many pages, shown after it was written there.
    assert_int_equal(rig_add_one(d, code, &large, 2 << 20), DEV_FAULT_NONE);
    TABLE.memory_show(d, &large);
    int32_t *y = (int32_t *)(void *)large.host;
    for (int i = 0; i < 2 << 20; i++)
        if (y[i] != 1) fail_msg("y[%d] is %d", i, y[i]);
    TABLE.memory_free(d, &large);
    TABLE.memory_free(d, &shared);
    TABLE.memory_free(d, &private);
    TABLE.code_free(code);
    TABLE.close(d);
}

// Rows of texels between the program and the device; elements one by one; Z order.
static void texels_are_moved(void **state) {
    (void)state;
    void *d = rig_open(NULL);
    DevMemory m = rig_memory(d, 65536, DEV_PRIVATE);
    unsigned char in[64 * 8], out[64 * 8];
    for (unsigned i = 0; i < sizeof in; i++) in[i] = (unsigned char)(i * 13 + i / 64);
    // 5 rows of 24 bytes, from a pitch of 64 to one of 256, and back to one of 32.
    DevMove move = {.from = {.at = (char *)in, .row = 64, .plane = sizeof in},
                    .to = {.at = m.address, .row = 256, .plane = 4096},
                    .row = 24,
                    .n_rows = 5,
                    .n_planes = 1};
    assert_true(TABLE.move(DEV_OUTSIDE(d), &move));
    memset(out, 0xee, sizeof out);
    DevMove back = {.from = move.to,
                    .to = {.at = (char *)out, .row = 32, .plane = sizeof out},
                    .row = 24,
                    .n_rows = 5,
                    .n_planes = 1};
    DevRun run;
    rig_begin(&run, d, (DevLimits){0});
    assert_true(TABLE.move(&run, &back));
    TABLE.run_end(&run);
    for (int y = 0; y < 5; y++) {
        assert_memory_equal(out + 32 * y, in + 64 * y, 24);
        assert_int_equal(out[32 * y + 24], 0xee); // between the rows is the program's
    }
    // Elements of 3 bytes that stand 4 apart there, with a zero behind each.
    DevMove spread = {.from = {.at = (char *)in, .row = 64, .plane = 64, .step = 3},
                      .to = {.at = m.address, .row = 256, .plane = 256, .step = 4},
                      .element = 3,
                      .fill = 1,
                      .n_elements = 6,
                      .n_rows = 1,
                      .n_planes = 1};
    assert_true(TABLE.move(DEV_OUTSIDE(d), &spread));
    assert_true(TABLE.copy(DEV_OUTSIDE(d), out, m.address, 24));
    for (int i = 0; i < 24; i++) assert_int_equal(out[i], i % 4 == 3 ? 0 : in[i / 4 * 3 + i % 4]);
    TABLE.memory_free(d, &m);
    TABLE.close(d);
}

// Memory of the program's own is copied in before a run, and out behind it.
static void memory_of_the_program(void **state) {
    (void)state;
    void *d = rig_open(NULL);
    DevCode *code = rig_code(d, "add_one");
    int32_t x[16] = {5, 6, 7};
    DevMemory m = {.address = (char *)x, .host = (char *)x, .n_bytes = sizeof x};
    assert_true(TABLE.memory_wrap(d, &m));
    assert_int_equal(rig_add_one(d, code, &m, 2), DEV_FAULT_NONE);
    assert_int_equal(x[0], 6);
    assert_int_equal(x[1], 7);
    assert_int_equal(x[2], 7);
    x[0] = 40;
    int32_t seen = 0;
    assert_true(TABLE.copy(DEV_OUTSIDE(d), &seen, m.address, 4)); // what the program has now
    assert_int_equal(seen, 40);
    assert_int_equal(rig_add_one(d, code, &m, 1), DEV_FAULT_NONE);
    assert_int_equal(x[0], 41);
    TABLE.memory_free(d, &m);
    TABLE.code_free(code);
    TABLE.close(d);
}

// What the driver compiled is kept by the host, and found again by the next process.
static unsigned n_found, n_stored;
static char stored[256];
static size_t stored_bytes;
static void *find(const unsigned char key[32], size_t *n_bytes) {
    (void)key;
    n_found++;
    if (!stored_bytes) return NULL;
    return memcpy(malloc(stored_bytes), stored, *n_bytes = stored_bytes);
}
static void store(const unsigned char key[32], const void *bytes, size_t n_bytes) {
    (void)key;
    assert_in_range(n_bytes, 1, sizeof stored);
    memcpy(stored, bytes, stored_bytes = n_bytes);
    n_stored++;
}

static void cubins_are_kept(void **state) {
    (void)state;
    const DevCache cache = {.find = find, .store = store};
    for (unsigned i = 0; i < 2; i++) {
        char why[256] = "";
        void *d = rig_open(NULL);
        DevCode *code = rig_code_with(d, "// fake: add_one\n", &cache, why);
        assert_non_null(code);
        assert_int_equal(code->n_slots, 2);
        assert_null(rig_code_with(d, "no PTX", NULL, why));
        assert_non_null(strstr(why, "not PTX"));
        TABLE.code_free(code);
        TABLE.close(d);
    }
    assert_int_equal(n_found, 2);
    assert_int_equal(n_stored, 1);
    assert_string_equal(stored, "CUBIN add_one");
}

static DevFault run_it(void *d, DevCode *code, const char *name, DevMemory *m, unsigned ms,
                       char said[64]) {
    DevRun run;
    rig_begin(&run, d, (DevLimits){.run_ms = ms});
    TABLE.use(&run, m, true);
    rig_dispatch(&run, code, name, m->address, 4);
    TABLE.run_end(&run);
    snprintf(said, 64, "%s", run.faulting ? run.faulting : "");
    return (DevFault)atomic_load(&run.fault);
}

// Twice in a row: a kernel that breaks the context, one that never ends. Each costs its process;
// what the host sees of memory stays, and the next device works.
static void a_kernel_costs_its_process(void **state) {
    (void)state;
    static const struct {
        const char *setting, *kernel;
        unsigned ms;
        DevFault fault;
    } ways[] = {{"FAKE_CUDA_BREAK", "bad", 0, DEV_FAULT_MEMORY},
                {"FAKE_CUDA_HANG", "endless", 50, DEV_FAULT_TIMEOUT},
                {"FAKE_CUDA_BREAK", "bad", 0, DEV_FAULT_MEMORY}};
    unsigned files = n_files();
    for (size_t i = 0; i < sizeof ways / sizeof *ways; i++) {
        char said[64], why[256] = "";
        setenv(ways[i].setting, ways[i].kernel, 1);
        void *d = rig_open(NULL);
        unsetenv(ways[i].setting);
        DevCode *good = rig_code(d, "add_one"), *bad = rig_code(d, ways[i].kernel);
        DevMemory m = rig_memory(d, 4096, DEV_SHARED), p = rig_memory(d, 4096, DEV_PRIVATE);
        TABLE.memory_show(d, &m);
        int32_t *x = (int32_t *)(void *)m.host;
        x[0] = 10;
        assert_int_equal(rig_add_one(d, good, &m, 1), DEV_FAULT_NONE);
        assert_int_equal(x[0], 11);
        x[1] = 20;
        assert_int_equal(n_children(), 1);
        assert_int_equal(run_it(d, bad, ways[i].kernel, &m, ways[i].ms, said), ways[i].fault);
        assert_string_equal(said, ways[i].kernel);
        assert_true(TABLE.is_lost(d));
        assert_int_equal(n_children(), 0); // it was ended, and with it what ran there
        assert_int_equal(x[0], 11);
        assert_int_equal(x[1], 20);
        // All that comes fails, and nothing crashes.
        DevMemory more;
        int32_t word = 0;
        assert_int_equal(rig_add_one(d, good, &m, 1), DEV_FAULT_LOST);
        assert_false(TABLE.memory_make(d, 4096, DEV_SHARED, &more));
        assert_false(TABLE.copy(DEV_OUTSIDE(d), &word, p.address, 4));
        assert_null(rig_code_with(d, "// fake: add_one\n", NULL, why));
        assert_string_equal(why, "the device is gone");
        // The next one, while the last one's memory is still there.
        void *next = rig_open(NULL);
        DevCode *code = rig_code(next, "add_one");
        DevMemory n = rig_memory(next, 4096, DEV_SHARED);
        TABLE.memory_show(next, &n);
        assert_int_equal(rig_add_one(next, code, &n, 4), DEV_FAULT_NONE);
        assert_int_equal(((int32_t *)(void *)n.host)[3], 1);
        TABLE.memory_free(next, &n);
        TABLE.code_free(code);
        TABLE.close(next);
        TABLE.memory_free(d, &m);
        TABLE.memory_free(d, &p);
        TABLE.code_free(good);
        TABLE.code_free(bad);
        TABLE.close(d);
    }
    assert_int_equal(n_files(), files);
    assert_int_equal(n_children(), 0);
}

// Constants of command buffers are where both see them, zeroed, and come back.
static void constants(void **state) {
    (void)state;
    void *d = rig_open(NULL);
    DevMemory first = rig_memory(d, 5000, DEV_ARGUMENTS), second;
    assert_ptr_equal(first.address, first.host);
    memset(first.host, 1, 5000);
    char *at = first.host;
    TABLE.memory_free(d, &first);
    second = rig_memory(d, 6000, DEV_ARGUMENTS);
    assert_ptr_equal(second.host, at);
    for (int i = 0; i < 6000; i++) assert_int_equal(second.host[i], 0);
    DevMemory large = rig_memory(d, (size_t)1 << 20, DEV_ARGUMENTS);
    assert_ptr_equal(large.address, large.host);
    TABLE.memory_free(d, &large);
    TABLE.memory_free(d, &second);
    TABLE.close(d);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(it_computes),     cmocka_unit_test(texels_are_moved),
        cmocka_unit_test(constants),       cmocka_unit_test(memory_of_the_program),
        cmocka_unit_test(cubins_are_kept), cmocka_unit_test(a_kernel_costs_its_process),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
