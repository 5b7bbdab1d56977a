// SPDX-License-Identifier: Apache-2.0
// test_event_random.c: random programs over several queues whose order events give. The operations
// are numbered; each queue raises its own event to the number of each operation it has done, and an
// operation waits for those of other queues that it depends on. Command buffers are committed in
// random order, so that with tracked buffers the order of commits speaks against that of the
// events. Whatever happens, the result is that of doing the operations one after the other.
#include "api_test.h"

enum { QUEUES = 4, BUFFERS = 5, OPS = 160, PROGRAMS = 60 };

typedef struct Op {
    unsigned queue, to, from;
} Op;

static MTLComputePipelineState *mix;
static unsigned seed;

static unsigned random_below(unsigned n) {
    seed = seed * 1664525u + 1013904223u;
    return (seed >> 8) % n;
}

static int setup(void **state) {
    if (open_device(state) != 0) return -1;
    mix = pipeline_from(
        HEAD "kernel void mix(device uint *to [[buffer(0)]],"
             " device const uint *from [[buffer(1)]],"
             " uint i [[thread_position_in_grid]]) { to[i] = to[i] * 5 + from[i] + 1; }\n",
        "mix");
    return 0;
}

static int teardown(void **state) {
    mtl_release(mix);
    return close_device(state);
}

static void encode(MTLCommandBuffer *commands, const Op *ops, size_t at, MTLEvent *const *events,
                   MTLBuffer *const *buffers) {
    const Op *op = &ops[at];
    uint64_t last[QUEUES] = {0};
    for (size_t k = 0; k < at; k++) {
        const Op *o = &ops[k];
        if (o->to == op->to || o->to == op->from || o->from == op->to) last[o->queue] = k + 1;
    }
    for (unsigned q = 0; q < QUEUES; q++)
        if (q != op->queue && last[q])
            mtl_command_buffer_encode_wait_for_event(commands, events[q], last[q]);
    MTLComputeCommandEncoder *e = mtl_command_buffer_compute_command_encoder(commands);
    mtl_compute_command_encoder_set_compute_pipeline_state(e, mix);
    mtl_compute_command_encoder_set_buffer(e, buffers[op->to], 0, 0);
    mtl_compute_command_encoder_set_buffer(e, buffers[op->from], 0, 1);
    mtl_compute_command_encoder_dispatch_threads(e, mtl_size_make(64, 1, 1),
                                                 mtl_size_make(32, 1, 1));
    mtl_compute_command_encoder_end_encoding(e);
    mtl_command_buffer_encode_signal_event(commands, events[op->queue], at + 1);
}

static void run_program(bool tracked) {
    MTLCommandQueue *queues[QUEUES];
    MTLEvent *events[QUEUES];
    MTLBuffer *buffers[BUFFERS];
    uint32_t expected[BUFFERS] = {0};
    Op ops[OPS];
    for (int q = 0; q < QUEUES; q++) {
        queues[q] = mtl_device_new_command_queue_with_max_command_buffer_count(device, OPS + 1);
        events[q] = mtl_device_new_event(device);
    }
    for (int b = 0; b < BUFFERS; b++)
        buffers[b] = mtl_device_new_buffer(device, 256,
                                           tracked ? 0 : MTLResourceHazardTrackingModeUntracked);
    MTLCommandBuffer *made[QUEUES][OPS], *last[QUEUES] = {NULL};
    unsigned n_made[QUEUES] = {0}, n_committed[QUEUES] = {0}, left[QUEUES] = {0}, n_left = 0;
    for (size_t i = 0; i < OPS; i++) {
        ops[i] = (Op){random_below(QUEUES), random_below(BUFFERS), random_below(BUFFERS)};
        Op *op = &ops[i];
        expected[op->to] = expected[op->to] * 5 + expected[op->from] + 1;
        if (left[op->queue]-- == 0) { // a new command buffer of one to three operations
            left[op->queue] = random_below(3);
            made[op->queue][n_made[op->queue]++] =
                mtl_command_queue_command_buffer(queues[op->queue]);
            n_left++;
        }
        encode(made[op->queue][n_made[op->queue] - 1], ops, i, events, buffers);
    }
    while (n_left > 0) {
        unsigned q = random_below(QUEUES);
        if (n_committed[q] == n_made[q]) continue;
        mtl_release(last[q]);
        last[q] = made[q][n_committed[q]++];
        mtl_command_buffer_commit(last[q]);
        n_left--;
    }
    for (int q = 0; q < QUEUES; q++) {
        if (last[q]) {
            mtl_command_buffer_wait_until_completed(last[q]);
            assert_completed(last[q]);
        }
        mtl_release(last[q]), mtl_release(queues[q]), mtl_release(events[q]);
    }
    for (int b = 0; b < BUFFERS; b++) {
        const uint32_t *x = mtl_buffer_contents(buffers[b]);
        for (int k = 0; k < 64; k++) assert_int_equal(x[k], expected[b]);
        mtl_release(buffers[b]);
    }
}

static void untracked(void **state) {
    (void)state;
    for (seed = 1; seed <= PROGRAMS; seed++) {
        unsigned number = seed;
        run_program(false);
        seed = number;
    }
}

static void tracked(void **state) {
    (void)state;
    for (seed = 1; seed <= PROGRAMS; seed++) {
        unsigned number = seed;
        run_program(true);
        seed = number;
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(untracked),
        cmocka_unit_test(tracked),
    };
    return cmocka_run_group_tests(tests, setup, teardown);
}
