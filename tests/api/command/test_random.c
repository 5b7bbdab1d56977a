// SPDX-License-Identifier: Apache-2.0
// test_random.c: random programs, most of them wrong. Whatever the order and the values of calls,
// the process lives, waits return, every committed command buffer ends, and nothing is left behind.
// INGOT_SEED=n repeats one seed with more steps.
#include <unistd.h>
#include "api_test.h"

enum { SLOTS = 4, STEPS = 4000 };

static uint64_t seed;

static uint32_t random_below(uint32_t n) {
    seed = seed * 6364136223846793005u + 1442695040888963407u;
    return (uint32_t)(seed >> 33) % n;
}

// Small numbers mostly, now and then one that nobody expects.
static size_t random_size(void) {
    static const size_t odd[] = {
        0, 1024, 1025, 4096, 4097, 32768, 1000, 65536, SIZE_MAX, UINT32_MAX, (size_t)1 << 40, 31};
    return random_below(8) ? random_below(40) : odd[random_below(sizeof odd / sizeof *odd)];
}

static MTLSize random_grid(void) {
    return mtl_size_make(random_size(), random_below(4) ? 1 : random_size(),
                         random_below(4) ? 1 : random_size());
}

static MTLLibrary *library;
static MTLComputePipelineState *pipelines[3];
static MTLCommandQueue *queues[2];
static MTLBuffer *buffers[SLOTS];
static MTLCommandBuffer *commands[SLOTS];
static MTLComputeCommandEncoder *encoders[SLOTS]; // borrowed from commands, NULL with them
static bool committed[SLOTS];
static atomic_int handled;
static int expected_handled;

static void on_completed(MTLCommandBuffer *buffer, void *context) {
    (void)buffer;
    (void)context;
    atomic_fetch_add(&handled, 1);
}

static int set_up(void **state) {
    if (open_device(state) != 0) return -1;
    library = compile(
        HEAD
        "kernel void one(device atomic_uint *x [[buffer(0)]]) {"
        " atomic_fetch_add_explicit(x, 1, memory_order_relaxed); }\n"
        "kernel void two(device atomic_uint *x [[buffer(0)]], constant uint &k [[buffer(5)]]) {"
        " atomic_fetch_add_explicit(x, k & 3, memory_order_relaxed); }\n"
        "kernel void shared(device atomic_uint *x [[buffer(1)]],"
        " threadgroup uint *t [[threadgroup(0)]], uint i [[thread_index_in_threadgroup]]) {"
        " t[0] = i; threadgroup_barrier(mem_flags::mem_threadgroup);"
        " atomic_fetch_add_explicit(x, t[0] & 1, memory_order_relaxed); }\n");
    pipelines[0] = pipeline_of(library, "one");
    pipelines[1] = pipeline_of(library, "two");
    pipelines[2] = pipeline_of(library, "shared");
    return 0;
}

static int tear_down(void **state) {
    for (int i = 0; i < 3; i++) mtl_release(pipelines[i]);
    mtl_release(library);
    return close_device(state);
}

static void drop_commands(uint32_t i) {
    mtl_release(commands[i]);
    commands[i] = NULL;
    encoders[i] = NULL;
    committed[i] = false;
}

static void step_encoder(MTLComputeCommandEncoder *e) {
    static const char bytes[8192];
    MTLBuffer *buffer = buffers[random_below(SLOTS)];
    switch (random_below(16)) {
    case 0: mtl_compute_command_encoder_end_encoding(e); break;
    case 1:
    case 2:
        mtl_compute_command_encoder_set_compute_pipeline_state(
            e, random_below(20) ? pipelines[random_below(3)] : NULL);
        break;
    case 3:
    case 4:
    case 5:
        mtl_compute_command_encoder_set_buffer(
            e, buffer, random_below(3) ? random_below(20) * 4 : random_size(),
            random_below(10) ? random_below(6) : random_size());
        break;
    case 6:
        mtl_compute_command_encoder_set_bytes(e, bytes, random_below(3) ? 64 : random_size() % 9000,
                                              random_below(10) ? random_below(6) : random_size());
        break;
    case 7: mtl_compute_command_encoder_set_buffer_offset(e, random_size(), random_below(8)); break;
    case 8:
        mtl_compute_command_encoder_set_buffers(
            e, buffers, NULL, mtl_range_make(random_below(33), random_below(SLOTS)));
        break;
    case 9:
        mtl_compute_command_encoder_set_threadgroup_memory_length(
            e, random_below(3) ? 16 * random_below(100) : random_size(), random_below(40) ? 0 : 77);
        break;
    case 10: mtl_compute_command_encoder_memory_barrier_with_scope(e, random_below(9)); break;
    case 11:
        mtl_compute_command_encoder_use_resource(e, (MTLResource *)(void *)buffer, random_below(4));
        break;
    case 12:
        if (buffer)
            mtl_compute_command_encoder_dispatch_threadgroups_indirect(
                e, buffer, random_size(), mtl_size_make(random_below(70), 1, 1));
        break;
    case 13:
        mtl_compute_command_encoder_dispatch_threadgroups(e, mtl_size_make(random_below(50), 1, 1),
                                                          random_grid());
        break;
    default:
        mtl_compute_command_encoder_dispatch_threads(
            e, mtl_size_make(random_below(500), 1, random_below(3)), random_grid());
    }
}

static void step_commands(uint32_t i) {
    MTLCommandQueue *queue = queues[random_below(2)];
    if (!commands[i]) {
        commands[i] = random_below(6)
                          ? mtl_command_queue_command_buffer(queue)
                          : mtl_command_queue_command_buffer_with_unretained_references(queue);
        return;
    }
    switch (random_below(12)) {
    case 0:
        mtl_command_buffer_commit(commands[i]);
        committed[i] = true;
        break;
    case 1:
        if (committed[i] ||
            random_below(5) == 0) { // waiting for what was never committed returns too
            bool behind =
                false; // but not if another one was enqueued before it and never committed
            for (uint32_t k = 0; k < SLOTS; k++)
                behind = behind ||
                         (commands[k] && !committed[k] &&
                          mtl_command_buffer_status(commands[k]) == MTLCommandBufferStatusEnqueued);
            if (!behind) mtl_command_buffer_wait_until_completed(commands[i]);
        }
        break;
    case 2:
        // One with unretained references stays in sight until its buffers are no longer used.
        if (mtl_command_buffer_retained_references(commands[i]) &&
            (committed[i] || random_below(4) == 0))
            drop_commands(i);
        break;
    case 3: mtl_command_buffer_enqueue(commands[i]); break;
    case 4:
        if (!committed[i]) expected_handled++;
        mtl_command_buffer_add_completed_handler(commands[i], on_completed, NULL);
        break;
    case 5: mtl_command_buffer_pop_debug_group(commands[i]); break;
    default: {
        MTLComputeCommandEncoder *e = mtl_command_buffer_compute_command_encoder_with_dispatch_type(
            commands[i], (MTLDispatchType)random_below(2));
        if (e) encoders[i] = e;
    }
    }
}

static void step_buffer(uint32_t i) {
    bool used_unretained = false; // the program's own duty: keep those alive
    for (uint32_t k = 0; k < SLOTS; k++)
        used_unretained = used_unretained ||
                          (commands[k] && !mtl_command_buffer_retained_references(commands[k]));
    if (buffers[i] && !used_unretained) {
        mtl_release(buffers[i]);
        buffers[i] = NULL;
    } else if (!buffers[i]) {
        // Never ends at the end of a page: the kernels touch 4 bytes wherever the offset lies.
        buffers[i] = mtl_device_new_buffer(
            device, random_below(10) ? 1 + random_below(4000) : random_size() & ~(size_t)4095,
            random_below(12) ? 0 : (MTLResourceOptions)random_size());
        if (buffers[i] && random_below(3) == 0 && mtl_buffer_contents(buffers[i])) {
            uint32_t groups[3] = {random_below(9), random_below(3), 1};
            size_t n = mtl_buffer_length(buffers[i]);
            memcpy(mtl_buffer_contents(buffers[i]), groups, n < sizeof groups ? n : sizeof groups);
        }
    }
}

static void run_seed(uint64_t start, int steps) {
    seed = start;
    for (int i = 0; i < 2; i++) queues[i] = mtl_device_new_command_queue(device);
    uint64_t before = mtl_device_current_allocated_size(device);
    for (int i = 0; i < steps; i++) {
        uint32_t slot = random_below(SLOTS);
        switch (random_below(8)) {
        case 0: step_buffer(slot); break;
        case 1:
        case 2: step_commands(slot); break;
        default:
            if (encoders[slot]) step_encoder(encoders[slot]);
        }
    }
    // Those never committed go first: they may hold places in front of the others.
    for (uint32_t i = 0; i < SLOTS; i++)
        if (commands[i] && !committed[i]) drop_commands(i);
    for (uint32_t i = 0; i < SLOTS; i++) {
        if (!commands[i]) continue;
        mtl_command_buffer_wait_until_completed(commands[i]);
        assert_true(mtl_command_buffer_status(commands[i]) >= MTLCommandBufferStatusCompleted);
        assert_int_equal(mtl_command_buffer_status(commands[i]) == MTLCommandBufferStatusError,
                         mtl_command_buffer_error(commands[i]) != NULL);
        drop_commands(i);
    }
    for (int i = 0; i < 2; i++) { // and those that were dropped after commit
        MTLCommandBuffer *last = mtl_command_queue_command_buffer(queues[i]);
        run_to_end(last);
        mtl_release(queues[i]);
    }
    for (uint32_t i = 0; i < SLOTS; i++) {
        mtl_release(buffers[i]);
        buffers[i] = NULL;
    }
    for (int k = 0; k < 20000 && mtl_device_current_allocated_size(device) > before; k++)
        usleep(500); // the worker lets go of the last ones
    assert_true(mtl_device_current_allocated_size(device) <= before);
    assert_true(atomic_load(&handled) <= expected_handled);
}

static void random_programs(void **state) {
    (void)state;
    const char *one = getenv("INGOT_SEED");
    if (one) {
        run_seed(strtoull(one, NULL, 10), STEPS * 10);
        return;
    }
    for (uint64_t i = 1; i <= 30; i++) {
        run_seed(i, STEPS);
    }
    assert_true(n_messages > 1000); // they were wrong indeed
    assert_true(atomic_load(&handled) > 10);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(random_programs)};
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
