// SPDX-License-Identifier: Apache-2.0
// test_runs.c: commands in streams, sequences that become graphs, and cubins that are kept.
#include "rig.h"
#include <pthread.h>
#include <sys/wait.h>
#include <unistd.h>
#include "abi/pixel_format.h"
#include "os/zeros.h"

enum { COMMANDS = 20 };

// A command buffer of COMMANDS dispatches, the last on `last` ints.
static void step(void *d, DevCode *code, const DevMemory *m, uint64_t last) {
    DevRun run;
    rig_begin(&run, d, (DevLimits){0});
    cuda_device.use(&run, m, true);
    for (int i = 0; i < COMMANDS - 1; i++)
        assert_true(rig_dispatch(&run, code, "add_one", m->address, 4));
    assert_true(rig_dispatch(&run, code, "add_one", m->address, last));
    cuda_device.run_end(&run);
    assert_int_equal(atomic_load(&run.fault), DEV_FAULT_NONE);
}

static int32_t first_of(const DevMemory *m) {
    int32_t x = -1;
    assert_true(cuda_device.copy(NULL, &x, m->address, sizeof x));
    return x;
}

static void what_comes_again_is_a_graph(void **state) {
    (void)state;
    void *d = rig_open(NULL);
    DevCode *code = rig_code(d, "add_one");
    DevMemory m = rig_memory(d, 4096, DEV_PRIVATE);
    uint64_t made = fake_calls(FAKE_INSTANTIATE), launched = fake_calls(FAKE_GRAPH_LAUNCH);
    step(d, code, &m, 4);
    assert_int_equal(fake_calls(FAKE_INSTANTIATE), made);
    step(d, code, &m, 4);
    assert_int_equal(fake_calls(FAKE_INSTANTIATE), made + 1);
    assert_int_equal(fake_calls(FAKE_GRAPH_LAUNCH), launched);
    uint64_t launches = fake_calls(FAKE_LAUNCH);
    for (int i = 0; i < 3; i++) step(d, code, &m, 4);
    assert_int_equal(fake_calls(FAKE_LAUNCH), launches);
    assert_int_equal(fake_calls(FAKE_GRAPH_LAUNCH), launched + 3);
    assert_int_equal(first_of(&m), 5 * COMMANDS);
    // One that begins like it and ends otherwise is run as it is.
    step(d, code, &m, 2);
    assert_int_equal(fake_calls(FAKE_LAUNCH), launches + COMMANDS);
    assert_int_equal(first_of(&m), 6 * COMMANDS);
    // One that stops before the end, too.
    DevRun run;
    rig_begin(&run, d, (DevLimits){0});
    for (int i = 0; i < 3; i++) assert_true(rig_dispatch(&run, code, "add_one", m.address, 4));
    cuda_device.run_end(&run);
    assert_int_equal(first_of(&m), 6 * COMMANDS + 3);
    // The code goes, and the graph with it.
    cuda_device.code_free(code);
    code = rig_code(d, "add_one");
    launched = fake_calls(FAKE_GRAPH_LAUNCH);
    step(d, code, &m, 4);
    assert_int_equal(fake_calls(FAKE_GRAPH_LAUNCH), launched);
    cuda_device.memory_free(d, &m);
    cuda_device.code_free(code);
    cuda_device.close(d);
}

// Commands that are new each time go in trains, in their order, and copies between them too.
static void new_commands_go_together(void **state) {
    (void)state;
    enum { N = 301, ROUNDS = 6 };
    void *d = rig_open(NULL);
    DevCode *codes[2] = {rig_code(d, "add_one"), rig_code(d, "add_from")};
    DevMemory m = rig_memory(d, 4096, DEV_PRIVATE), other = rig_memory(d, 4096, DEV_PRIVATE);
    int32_t x = 0, y = 0, saved = 0, seen[3];
    uint64_t calls = 0, trains = 0;
    for (int round = 0; round < ROUNDS; round++) {
        calls = fake_calls(FAKE_LAUNCH), trains = fake_calls(FAKE_GRAPH_LAUNCH);
        DevRun run;
        rig_begin(&run, d, (DevLimits){0});
        for (int i = 0; i < N; i++) {
            if (i == 150 + round) { // y so far, to the third int
                assert_true(
                    cuda_device.copy(&run, other.address + 8, other.address, sizeof(int32_t)));
                saved = y;
            } else if ((i * 7 + round) % 3) {
                assert_true(rig_dispatch(&run, codes[0], "add_one", m.address, 1));
                x++;
            } else {
                assert_true(
                    rig_dispatch(&run, codes[1], "add_from", m.address, (uintptr_t)other.address));
                y += x;
            }
        }
        cuda_device.run_end(&run);
        assert_int_equal(atomic_load(&run.fault), DEV_FAULT_NONE);
        assert_int_equal(first_of(&m), x);
        assert_true(cuda_device.copy(NULL, seen, other.address, sizeof seen));
        assert_int_equal(seen[0], y);
        assert_int_equal(seen[2], saved);
        if (round == 3) { // what its nodes had is gone
            cuda_device.code_free(codes[1]);
            codes[1] = rig_code(d, "add_from");
        }
    }
    assert_true(fake_calls(FAKE_GRAPH_LAUNCH) - trains >= (N - 20) / 32);
    assert_true(fake_calls(FAKE_LAUNCH) - calls < 40);            // and not N
    fake_fail(FAKE_SET_PARAMETERS, 40, CUDA_ERROR_INVALID_VALUE); // then they go one by one
    for (int round = 0; round < 2; round++) {
        DevRun run;
        rig_begin(&run, d, (DevLimits){0});
        for (int i = 0; i < N; i++) {
            assert_true(rig_dispatch(&run, codes[(i + round) & 1], "add_one", m.address,
                                     (i + round) & 1 ? (uintptr_t)other.address : 1));
            if ((i + round) & 1)
                y += x;
            else
                x++;
        }
        cuda_device.run_end(&run);
        assert_int_equal(first_of(&m), x);
        assert_int_equal(first_of(&other), y);
    }
    for (int i = 0; i < 2; i++) cuda_device.code_free(codes[i]);
    cuda_device.memory_free(d, &m);
    cuda_device.memory_free(d, &other);
    cuda_device.close(d);
}

// Constants of commands are parameters, and others each time; the graph stays the same.
static void constants_of_a_graph(void **state) {
    (void)state;
    void *d = rig_open(NULL);
    DevCode *code = rig_code(d, "add_constant");
    DevMemory m = rig_memory(d, 4096, DEV_PRIVATE), far = rig_memory(d, 4096, DEV_PRIVATE),
              k = rig_memory(d, 4096, DEV_ARGUMENTS);
    int32_t *words = (int32_t *)(void *)k.host, sum = 0, seven = 7;
    assert_true(cuda_device.copy(NULL, far.address, &seven, sizeof seven));
    uint64_t launched = fake_calls(FAKE_GRAPH_LAUNCH), told = fake_calls(FAKE_SET_PARAMETERS);
    for (int round = 0; round < 6; round++) {
        DevRun run;
        rig_begin(&run, d, (DevLimits){0});
        for (int i = 0; i < 10; i++) {
            words[i] = i == 3 ? round : i == 8 ? round / 5 : i; // one changes, another at last
            sum += words[i];
            assert_true(rig_dispatch(&run, code, "add_constant", m.address, (uintptr_t)&words[i]));
        }
        assert_true(rig_dispatch(&run, code, "add_constant", m.address, (uintptr_t)far.address));
        sum += 7;
        cuda_device.run_end(&run);
        assert_int_equal(first_of(&m), sum);
    }
    assert_int_equal(fake_calls(FAKE_GRAPH_LAUNCH), launched + 4);
    assert_int_equal(fake_calls(FAKE_SET_PARAMETERS), told + 5);
    cuda_device.memory_free(d, &m);
    cuda_device.memory_free(d, &far);
    cuda_device.memory_free(d, &k);
    cuda_device.code_free(code);
    cuda_device.close(d);
}

// A copy to the host in the middle: two sequences, in order.
static void the_host_looks_in_between(void **state) {
    (void)state;
    void *d = rig_open(NULL);
    DevCode *code = rig_code(d, "add_one");
    DevMemory m = rig_memory(d, 4096, DEV_PRIVATE);
    for (int round = 0; round < 4; round++) {
        int32_t seen = -1;
        DevRun run;
        rig_begin(&run, d, (DevLimits){0});
        for (int i = 0; i < 10; i++) rig_dispatch(&run, code, "add_one", m.address, 1);
        assert_true(cuda_device.copy(&run, &seen, m.address, sizeof seen));
        assert_true(cuda_device.finish(&run));
        assert_int_equal(seen, 20 * round + 10);
        for (int i = 0; i < 10; i++) rig_dispatch(&run, code, "add_one", m.address, 1);
        cuda_device.run_end(&run);
        assert_int_equal(first_of(&m), 20 * round + 20);
    }
    cuda_device.memory_free(d, &m);
    cuda_device.code_free(code);
    cuda_device.close(d);
}

static void copies_and_fills_are_ordered(void **state) {
    (void)state;
    void *d = rig_open(NULL);
    DevCode *code = rig_code(d, "add_one");
    DevMemory a = rig_memory(d, 4096, DEV_PRIVATE), b = rig_memory(d, 4096, DEV_SHARED);
    cuda_device.memory_show(d, &b);
    for (int round = 0; round < 4; round++) { // as commands, then as a graph
        DevRun run;
        rig_begin(&run, d, (DevLimits){0});
        cuda_device.use(&run, &b, true);
        for (int i = 0; i < 8; i++) {
            assert_true(cuda_device.fill(&run, a.address, (uint8_t)i, 64));
            rig_dispatch(&run, code, "add_one", a.address, 16);
            assert_true(cuda_device.copy(&run, b.address + 64 * i, a.address, 64));
        }
        cuda_device.run_end(&run);
        for (int i = 0; i < 8; i++)
            assert_int_equal(((int32_t *)(void *)b.host)[16 * i], 0x01010101 * i + 1);
        memset(b.host, 0, 4096);
    }
    cuda_device.memory_free(d, &a);
    cuda_device.memory_free(d, &b);
    cuda_device.code_free(code);
    cuda_device.close(d);
}

static void rows_are_moved(void **state) {
    (void)state;
    void *d = rig_open(NULL);
    DevMemory m = rig_memory(d, 4096, DEV_PRIVATE);
    char from[64], back[16];
    for (int i = 0; i < 64; i++) from[i] = (char)i;
    DevMove up = {.from = {.at = from, .row = 16, .plane = 64},
                  .to = {.at = m.address, .row = 32, .plane = 256},
                  .row = 4,
                  .n_rows = 4,
                  .n_planes = 1};
    assert_true(cuda_device.move(NULL, &up));
    DevMove down = {
        .from = up.to, .to = {.at = back, .row = 4}, .row = 4, .n_rows = 4, .n_planes = 1};
    assert_true(cuda_device.move(NULL, &down));
    for (int i = 0; i < 16; i++) assert_int_equal(back[i], i / 4 * 16 + i % 4);
    cuda_device.memory_free(d, &m);
    cuda_device.close(d);
}

static void a_grid_goes_in_pieces(void **state) {
    (void)state;
    void *d = rig_open(NULL);
    DevCode *code = rig_code(d, "add_one");
    DevMemory m = rig_memory(d, 4096, DEV_PRIVATE);
    void *args[2] = {m.address, (void *)1};
    DevDispatch dispatch = {.code = code,
                            .args = args,
                            .threads_per_grid = {1, 200000, 1},
                            .groups_per_grid = {1, 200000, 1},
                            .group_size = {1, 1, 1}};
    DevRun run;
    rig_begin(&run, d, (DevLimits){0});
    uint64_t n = fake_calls(FAKE_LAUNCH);
    assert_true(cuda_device.dispatch(&run, &dispatch, 1));
    assert_int_equal(fake_calls(FAKE_LAUNCH), n + 4);
    // Arguments that nobody bound: zeros of the device's.
    args[0] = os_zeros();
    dispatch.groups_per_grid[1] = 1;
    assert_true(cuda_device.dispatch(&run, &dispatch, 1));
    cuda_device.run_end(&run);
    assert_int_equal(atomic_load(&run.fault), DEV_FAULT_NONE);
    cuda_device.memory_free(d, &m);
    cuda_device.code_free(code);
    cuda_device.close(d);
}

// Constants are in the host's memory: a run copies them once, before its commands, which are the
// same whatever piece of that memory has them.
static void constants_are_brought_once(void **state) {
    (void)state;
    void *d = rig_open(NULL);
    DevCode *code = rig_code(d, "add_from");
    DevMemory m = rig_memory(d, 4096, DEV_PRIVATE), pieces[2];
    for (int i = 0; i < 2; i++) pieces[i] = rig_memory(d, 8192, DEV_ARGUMENTS);
    int32_t sum = 0;
    for (int round = 0; round < 6; round++) {
        uint64_t copies = fake_calls(FAKE_COPY_UP), graphs = fake_calls(FAKE_GRAPH_LAUNCH);
        const DevMemory args = pieces[round % 2];
        int32_t *value = (int32_t *)(void *)(args.host + 4096);
        *value = 3 + (round < 4 ? round : 3); // from then on the same: no copy is needed
        DevRun run;
        rig_begin(&run, d, (DevLimits){0});
        for (int i = 0; i < COMMANDS; i++)
            assert_true(
                rig_dispatch(&run, code, "add_from", args.address + 4096, (uintptr_t)m.address));
        cuda_device.run_end(&run);
        assert_int_equal(atomic_load(&run.fault), DEV_FAULT_NONE);
        sum += COMMANDS * *value;
        assert_int_equal(first_of(&m), sum);
        assert_int_equal(fake_calls(FAKE_GRAPH_LAUNCH), graphs + (round > 1));
        assert_int_equal(fake_calls(FAKE_COPY_UP), copies + (round < 4));
    }
    for (int i = 0; i < 2; i++) cuda_device.memory_free(d, &pieces[i]);
    cuda_device.memory_free(d, &m);
    cuda_device.code_free(code);
    cuda_device.close(d);
}

// ---- Cubins ----

static unsigned char kept_key[32];
static char kept[200];
static size_t n_kept;

static void *find(const unsigned char key[32], size_t *n_bytes) {
    if (!n_kept || memcmp(key, kept_key, 32)) return NULL;
    void *copy = malloc(n_kept);
    memcpy(copy, kept, *n_bytes = n_kept);
    return copy;
}

static void store(const unsigned char key[32], const void *bytes, size_t n_bytes) {
    memcpy(kept_key, key, 32);
    memcpy(kept, bytes, n_kept = n_bytes);
}

static void cubins_are_kept(void **state) {
    (void)state;
    static const DevCache cache = {.find = find, .store = store};
    char why[256];
    void *d = rig_open(NULL);
    uint64_t n = fake_calls(FAKE_LINK);
    for (int i = 0; i < 3; i++) {
        DevCode *code = rig_code_with(d, "// fake: add_one\n", &cache, why);
        assert_non_null(code);
        cuda_device.code_free(code);
        assert_int_equal(fake_calls(FAKE_LINK), n + 1);
    }
    assert_memory_equal(kept, "CUBIN", 5);
    DevCode *code = rig_code_with(d, "// fake: add_one \n", &cache, why); // other PTX
    assert_int_equal(fake_calls(FAKE_LINK), n + 2);
    cuda_device.code_free(code);
    memcpy(kept, "XXXXX", 5); // another driver's: made again
    code = rig_code_with(d, "// fake: add_one \n", &cache, why);
    assert_non_null(code);
    assert_int_equal(fake_calls(FAKE_LINK), n + 3);
    assert_memory_equal(kept, "CUBIN", 5);
    cuda_device.code_free(code);
    cuda_device.close(d);
}

// A kernel that reads textures, in three texts; `cut`: so many bytes of them are missing.
static DevCode *textured_code(void *d, const DevCache *cache, size_t cut, char why[256]) {
    static const char kernel[] = "// fake: add_one\n", blocks[] = "// part: blocks\n",
                      none[] = "// part: none\n";
    static RfArg args[1] = {{.kind = RF_ARG_BUFFER, .count = 1, .slot = 0}};
    static RfFunction function = {.n_slots = 2, .args = args, .n_args = 1};
    char bytes[sizeof(CudaKernelInfo) + sizeof kernel + sizeof blocks + sizeof none];
    CudaKernelInfo info = {.magic = CUDA_KERNEL_MAGIC,
                           .abi = ABI_VERSION,
                           .n_slots = 2,
                           .blocks_bytes = sizeof blocks,
                           .no_blocks_bytes = sizeof none};
    memcpy(bytes, &info, sizeof info);
    memcpy(bytes + sizeof info, kernel, sizeof kernel);
    memcpy(bytes + sizeof info + sizeof kernel, blocks, sizeof blocks);
    memcpy(bytes + sizeof info + sizeof kernel + sizeof blocks, none, sizeof none);
    DevCodeSource source = {
        .bytes = bytes, .n_bytes = sizeof bytes - cut, .function = &function, .cache = cache};
    return cuda_device.code_load(d, &source, why, 256);
}

// What decodes compressed blocks is linked when the device has a texture of them, not before.
static void blocks_are_linked_when_there_are_some(void **state) {
    (void)state;
    static const AbiPixelFormat plain = {.name = "R8"}, bc = {.name = "BC", .coding = 1};
    const DevCache cache = {.find = find, .store = store};
    const AbiTexture flat = {.width = 4, .format = &plain}, packed = {.width = 4, .format = &bc};
    char why[256] = "";
    void *d = rig_open(NULL);
    DevMemory m = rig_memory(d, 4096, DEV_PRIVATE);
    DevHandle one, two;
    n_kept = 0;
    DevCode *code = textured_code(d, &cache, 0, why);
    if (!code) fail_msg("%s", why);
    assert_string_equal(kept, "CUBIN add_one none");
    assert_true(cuda_device.texture_make(d, &flat, &one));
    uint64_t linked = fake_calls(FAKE_LINK);
    for (int i = 0; i < 3; i++) step(d, code, &m, 4);
    assert_int_equal(fake_calls(FAKE_LINK), linked);
    assert_true(cuda_device.texture_make(d, &packed, &two));
    for (int i = 0; i < 3; i++) step(d, code, &m, 4); // the first of them links it
    assert_int_equal(fake_calls(FAKE_LINK), linked + 2);
    assert_string_equal(kept, "CUBIN add_one blocks");
    assert_int_equal(first_of(&m), 6 * COMMANDS);
    // The next has it from the start, of the cache.
    DevCode *next = textured_code(d, &cache, 0, why);
    step(d, next, &m, 4);
    assert_int_equal(fake_calls(FAKE_LINK), linked + 2);
    cuda_device.code_free(code);
    cuda_device.code_free(next);
    cuda_device.handle_free(d, &one);
    cuda_device.handle_free(d, &two);
    // A cache that answers only while code is loaded is not asked again.
    const DevCache brief = {.find = find, .store = store, .only_while_loading = true};
    for (size_t cut = 1; cut < 40; cut++) {
        assert_null(textured_code(d, &brief, cut, why));
        assert_string_equal(why, "it is not whole");
    }
    cuda_device.memory_free(d, &m);
    cuda_device.close(d);
    d = rig_open(NULL);
    m = rig_memory(d, 4096, DEV_PRIVATE);
    code = textured_code(d, &brief, 0, why);
    assert_string_equal(kept, "CUBIN add_one none");
    assert_true(cuda_device.texture_make(d, &packed, &two));
    step(d, code, &m, 4);
    assert_string_equal(kept, "CUBIN add_one none");
    cuda_device.code_free(code);
    cuda_device.handle_free(d, &two);
    cuda_device.memory_free(d, &m);
    cuda_device.close(d);
    // What cannot be made is the run's fault; the next tries again.
    d = rig_open(NULL);
    m = rig_memory(d, 4096, DEV_PRIVATE);
    code = textured_code(d, NULL, 0, why);
    assert_true(cuda_device.texture_make(d, &packed, &two));
    fake_fail(FAKE_LINK, 1, CUDA_ERROR_OUT_OF_MEMORY);
    assert_int_equal(rig_add_one(d, code, &m, 4), DEV_FAULT_NO_MEMORY);
    assert_int_equal(rig_add_one(d, code, &m, 4), DEV_FAULT_NONE);
    assert_int_equal(first_of(&m), 1);
    cuda_device.code_free(code);
    cuda_device.handle_free(d, &two);
    cuda_device.memory_free(d, &m);
    cuda_device.close(d);
}

static void code_that_is_none(void **state) {
    (void)state;
    char why[256] = "";
    void *d = rig_open(NULL);
    assert_null(rig_code_with(d, "nothing", NULL, why));
    assert_non_null(strstr(why, "line 1: this is not PTX"));
    assert_null(strchr(why, '\n'));
    RfFunction f = {0};
    DevCodeSource source = {.bytes = "short", .n_bytes = 5, .function = &f};
    assert_null(cuda_device.code_load(d, &source, why, sizeof why));
    assert_string_equal(why, "it is not whole");
    char other[200] = "another thing altogether";
    source = (DevCodeSource){.bytes = other, .n_bytes = sizeof other, .function = &f};
    assert_null(cuda_device.code_load(d, &source, why, sizeof why));
    assert_non_null(strstr(why, "another version"));
    assert_false(cuda_device.is_lost(d));
    cuda_device.close(d);
}

static void *load_slowly(void *device) {
    char why[256];
    rig_code_with(device, "// fake: add_one\n// slow\n", NULL, why);
    return NULL;
}

// A program ends while code is made for it in another thread: the driver's compiler is left first.
static void programs_end_while_code_is_made(void **state) {
    (void)state;
    fflush(NULL);
    pid_t child = fork();
    if (!child) {
        void *d = rig_open(NULL);
        pthread_t thread;
        rig_code(d, "add_one");
        uint64_t before = fake_calls(FAKE_SLOW);
        if (pthread_create(&thread, NULL, load_slowly, d)) _exit(1);
        while (fake_calls(FAKE_SLOW) == before) usleep(100);
        exit(0);
    }
    int status = -1;
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFEXITED(status));
    assert_int_equal(WEXITSTATUS(status), 0);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_comes_again_is_a_graph),
        cmocka_unit_test(new_commands_go_together),
        cmocka_unit_test(constants_of_a_graph),
        cmocka_unit_test(the_host_looks_in_between),
        cmocka_unit_test(copies_and_fills_are_ordered),
        cmocka_unit_test(rows_are_moved),
        cmocka_unit_test(a_grid_goes_in_pieces),
        cmocka_unit_test(constants_are_brought_once),
        cmocka_unit_test(cubins_are_kept),
        cmocka_unit_test(blocks_are_linked_when_there_are_some),
        cmocka_unit_test(code_that_is_none),
        cmocka_unit_test(programs_end_while_code_is_made),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
