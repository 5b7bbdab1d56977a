// SPDX-License-Identifier: Apache-2.0
// test_order.c: which commands wait for which: against every pair of a sequence, and in graphs, of
// which the driver that is none runs what may be run in the most unexpected order.
#include "rig.h"
#include "devices/cuda/dependencies.h"

// ---- The order alone ----

enum { MAX = 40, PLACES = 6, ROUNDS = 400 };

typedef struct Step {
    CudaTouch touches[4];
    int n;
} Step;

static unsigned next_random(unsigned *seed) { return (*seed = *seed * 1103515245u + 12345u) >> 16; }

static bool conflict(const Step *a, const Step *b) {
    if (a->n < 0 || b->n < 0) return true;
    for (int i = 0; i < a->n; i++)
        for (int k = 0; k < b->n; k++)
            if (a->touches[i].memory == b->touches[k].memory &&
                (a->touches[i].writes || b->touches[k].writes))
                return true;
    return false;
}

// reach[a][b]: b waits for a, over any number of others; without the edge `left_out`.
static void close(const CudaDependencies *o, size_t left_out, bool reach[MAX][MAX]) {
    memset(reach, 0, MAX * sizeof *reach);
    for (size_t e = 0; e < o->n_edges; e++)
        if (e != left_out) reach[o->edges[e].from][o->edges[e].to] = true;
    for (size_t k = 0; k < o->n_commands; k++)
        for (size_t a = 0; a < o->n_commands; a++)
            for (size_t b = 0; reach[a][k] && b < o->n_commands; b++) reach[a][b] |= reach[k][b];
}

static void as_every_pair_says(void **state) {
    (void)state;
    unsigned seed = 5;
    for (int round = 0; round < ROUNDS; round++) {
        Step steps[MAX];
        size_t n = 1 + next_random(&seed) % MAX;
        CudaDependencies o;
        assert_true(cuda_dependencies_begin(&o, n));
        for (size_t i = 0; i < n; i++) {
            Step *s = &steps[i];
            s->n = next_random(&seed) % 16 ? (int)(next_random(&seed) % 5) : -1;
            for (int k = 0; k < s->n; k++)
                s->touches[k] = (CudaTouch){1 + next_random(&seed) % PLACES * 4096,
                                            next_random(&seed) % 3 == 0};
            cuda_dependencies_add(&o, s->touches, s->n);
        }
        assert_false(o.failed);
        bool waits[MAX][MAX], must[MAX][MAX] = {{0}};
        close(&o, SIZE_MAX, waits);
        for (size_t b = 0; b < n; b++)
            for (size_t a = 0; a < b; a++) must[a][b] = conflict(&steps[a], &steps[b]);
        for (size_t k = 0; k < n; k++)
            for (size_t a = 0; a < n; a++)
                for (size_t b = 0; must[a][k] && b < n; b++) must[a][b] |= must[k][b];
        for (size_t a = 0; a < n; a++)
            for (size_t b = 0; b < n; b++)
                if (waits[a][b] != must[a][b])
                    fail_msg("round %d: %zu waits for %zu: %d, and should: %d", round, b, a,
                             waits[a][b], must[a][b]);
        for (size_t e = 0; e < o.n_edges; e++) { // none is said twice
            close(&o, e, waits);
            if (waits[o.edges[e].from][o.edges[e].to])
                fail_msg("round %d: %u -> %u is known anyway", round, o.edges[e].from,
                         o.edges[e].to);
        }
        cuda_dependencies_end(&o);
    }
}

// ---- Graphs ----

// to += from, for ints at two addresses; what the code says of itself.
static DevCode *adder(void *device, bool known) {
    static RfArg args[2] = {{.kind = RF_ARG_BUFFER, .count = 1, .slot = 0},
                            {.kind = RF_ARG_BUFFER, .count = 1, .slot = 1}};
    static RfFunction function = {.n_slots = 2, .args = args, .n_args = 2};
    char bytes[sizeof(CudaKernelInfo) + 64], why[256] = "";
    CudaKernelInfo info = {.magic = CUDA_KERNEL_MAGIC,
                           .abi = ABI_VERSION,
                           .n_slots = 2,
                           .flags = known ? CUDA_KERNEL_KNOWN : 0,
                           .slots_read = 3,
                           .slots_written = 2};
    memcpy(bytes, &info, sizeof info);
    int n = snprintf(bytes + sizeof info, 64, "// fake: add_from\n");
    DevCodeSource source = {
        .bytes = bytes, .n_bytes = sizeof info + (size_t)n + 1, .function = &function};
    DevCode *code = cuda_device.code_load(device, &source, why, sizeof why);
    if (!code) fail_msg("no code: %s", why);
    return code;
}

enum { N = 4 };
typedef struct Sums {
    void *device;
    DevCode *code;
    DevMemory x[N], y[N];
} Sums;

static void add(DevRun *run, DevCode *code, const DevMemory *from, const DevMemory *to) {
    assert_true(rig_dispatch(run, code, "add_from", from->address, (uintptr_t)to->address));
}

// For each of N: y += x, x += y, y += x; nothing in common.
static void lines(Sums *s) {
    DevRun run;
    rig_begin(&run, s->device, (DevLimits){0});
    for (int step = 0; step < 3; step++)
        for (int i = 0; i < N; i++)
            add(&run, s->code, step == 1 ? &s->y[i] : &s->x[i], step == 1 ? &s->x[i] : &s->y[i]);
    cuda_device.run_end(&run);
    assert_int_equal(atomic_load(&run.fault), DEV_FAULT_NONE);
}

static Sums begin(bool known) {
    Sums s = {.device = rig_open(NULL)};
    s.code = adder(s.device, known);
    for (int i = 0; i < N; i++) {
        int32_t value = i + 1;
        s.x[i] = rig_memory(s.device, 4096, DEV_PRIVATE);
        s.y[i] = rig_memory(s.device, 4096, DEV_PRIVATE);
        assert_true(cuda_device.copy(NULL, s.x[i].address, &value, sizeof value));
    }
    return s;
}

static void check(const Sums *s, int rounds) {
    for (int i = 0; i < N; i++) {
        int32_t x = i + 1, y = 0, seen[2];
        for (int r = 0; r < rounds; r++) y += x, x += y, y += x;
        assert_true(cuda_device.copy(NULL, &seen[0], s->x[i].address, 4));
        assert_true(cuda_device.copy(NULL, &seen[1], s->y[i].address, 4));
        assert_int_equal(seen[0], x);
        assert_int_equal(seen[1], y);
    }
}

static void end(Sums *s) {
    for (int i = 0; i < N; i++) {
        cuda_device.memory_free(s->device, &s->x[i]);
        cuda_device.memory_free(s->device, &s->y[i]);
    }
    cuda_device.code_free(s->code);
    cuda_device.close(s->device);
}

static void side_by_side_in_a_graph(void **state) {
    (void)state;
    Sums s = begin(true);
    uint64_t graphs = fake_calls(FAKE_GRAPH_LAUNCH);
    for (int r = 0; r < 5; r++) lines(&s);
    assert_int_equal(fake_calls(FAKE_GRAPH_LAUNCH), graphs + 3);
    assert_int_equal(fake_edges(), 2 * N); // two for each line
    check(&s, 5);
    end(&s);
}

static void who_does_not_say_waits_for_all(void **state) {
    (void)state;
    Sums s = begin(false);
    for (int r = 0; r < 5; r++) lines(&s);
    assert_int_equal(fake_edges(), 3 * N - 1); // the chain
    check(&s, 5);
    end(&s);
}

// Memory that comes and goes elsewhere changes nothing; what lies in two memories may.
static void memory_comes_and_goes(void **state) {
    (void)state;
    Sums s = begin(true);
    uint64_t graphs = fake_calls(FAKE_GRAPH_LAUNCH), made = fake_calls(FAKE_INSTANTIATE);
    for (int r = 0; r < 3; r++) lines(&s);
    assert_int_equal(fake_calls(FAKE_GRAPH_LAUNCH), graphs + 1);
    DevMemory other = rig_memory(s.device, 4096, DEV_PRIVATE);
    lines(&s);
    cuda_device.memory_free(s.device, &other);
    lines(&s);
    assert_int_equal(fake_calls(FAKE_GRAPH_LAUNCH), graphs + 3);
    assert_int_equal(fake_calls(FAKE_INSTANTIATE), made + 1);
    DevMemory twice = {.address = s.x[0].address, .n_bytes = s.x[0].n_bytes};
    assert_true(cuda_device.memory_adopt(s.device, &twice));
    lines(&s); // as commands, and then a graph that is a chain
    assert_int_equal(fake_calls(FAKE_GRAPH_LAUNCH), graphs + 3);
    lines(&s);
    assert_int_equal(fake_calls(FAKE_INSTANTIATE), made + 2);
    assert_int_equal(fake_calls(FAKE_GRAPH_LAUNCH), graphs + 4);
    assert_int_equal(fake_edges(), 3 * N - 1);
    cuda_device.memory_free(s.device, &twice);
    check(&s, 7);
    end(&s);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(as_every_pair_says),
        cmocka_unit_test(side_by_side_in_a_graph),
        cmocka_unit_test(who_does_not_say_waits_for_all),
        cmocka_unit_test(memory_comes_and_goes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
