// SPDX-License-Identifier: Apache-2.0
// test_single.c: mtl_command_queue_dispatch_and_wait: what it does, when it leaves the work to a
// command buffer, what it says of a kernel that fails, and its place among command buffers.
#include "api_test.h"

static MTLCommandQueue *queue;
static MTLComputePipelineState *scale, *count;
static MTLBuffer *x, *y;
enum { N = 1000 };

static const char source[] = HEAD
    "struct Words { float by; float3 wide; };\n"
    "kernel void scale(constant float *p [[buffer(0)]], device const float *x [[buffer(1)]],"
    " device float *y [[buffer(2)]], uint i [[thread_position_in_grid]]) { y[i] = x[i] * p[0]; }\n"
    "kernel void count(constant uint *p [[buffer(0)]], device uint *x [[buffer(1)]]) { x[0] += "
    "p[0]; }\n"
    "kernel void shared(constant uint *p [[buffer(0)]], device uint *x [[buffer(1)]],"
    " threadgroup uint *t [[threadgroup(0)]]) { t[0] = p[0]; x[0] = t[0]; }\n"
    "kernel void wide(constant Words &p [[buffer(0)]], device float *x [[buffer(1)]]) { x[0] = "
    "p.wide.z; }\n"
    "kernel void astray(constant uint *p [[buffer(0)]], device uint *x [[buffer(1)]]) {"
    " x[(1ul << 40) + p[0]] = 1; }\n"
    "kernel void endless(constant uint *p [[buffer(0)]], device volatile uint *x [[buffer(1)]]) {"
    " while (x[0] != p[0]) { } }\n";

static MTLBuffer *untracked(size_t n_bytes) {
    return mtl_device_new_buffer(device, n_bytes, MTLResourceHazardTrackingModeUntracked);
}

static int set_up(void **state) {
    if (open_device(state) != 0) return -1;
    queue = mtl_device_new_command_queue(device);
    scale = pipeline_from(source, "scale");
    count = pipeline_from(source, "count");
    x = untracked(N * sizeof(float));
    y = untracked(N * sizeof(float));
    return queue && x && y ? 0 : -1;
}

static int tear_down(void **state) {
    mtl_release(x);
    mtl_release(y);
    mtl_release(scale);
    mtl_release(count);
    mtl_release(queue);
    return close_device(state);
}

static MTLBuffer *both[2];
static const size_t none[2];
static const float by = 3;

// y = x * by
static MTLSingleDispatch dispatch_of_scale(void) {
    both[0] = x, both[1] = y;
    return (MTLSingleDispatch){.pipeline = scale,
                               .bytes = &by,
                               .bytes_length = sizeof by,
                               .buffers = both,
                               .offsets = none,
                               .buffer_count = 2,
                               .grid = mtl_size_make(N, 1, 1),
                               .threads_per_threadgroup = mtl_size_make(64, 1, 1)};
}

static void fill(void) {
    float *from = mtl_buffer_contents(x), *to = mtl_buffer_contents(y);
    for (int i = 0; i < N; i++) from[i] = (float)i, to[i] = -1;
}

static void assert_scaled(int first, int end) {
    const float *to = mtl_buffer_contents(y);
    for (int i = 0; i < N; i++) {
        float expected = i < first || i >= end ? -1 : 3 * (float)i;
        if (to[i] != expected) fail_msg("y[%d] is %g, not %g", i, (double)to[i], (double)expected);
    }
}

static bool run(const MTLSingleDispatch *d) {
    MTLError *error = NULL;
    bool done = mtl_command_queue_dispatch_and_wait(queue, d, &error);
    if (error) fail_msg("%s", mtl_error_localized_description(error));
    return done;
}

static void assert_left_alone(const MTLSingleDispatch *d) {
    fill();
    assert_false(run(d));
    assert_scaled(0, 0);
}

static void does_threads_and_threadgroups(void **state) {
    (void)state;
    MTLSingleDispatch d = dispatch_of_scale();
    if (!mtl_device_has_unified_memory(device)) assert_left_alone(&d);
    NEEDS_HOST_MEMORY();
    fill();
    assert_true(run(&d)); // 1000 is no multiple of 64
    assert_scaled(0, N);
    fill();
    d.grid = mtl_size_make(3, 1, 1);
    d.threadgroups = true;
    assert_true(run(&d));
    assert_scaled(0, 192);
    const size_t offsets[2] = {400, 400};
    fill();
    d.offsets = offsets;
    d.grid = mtl_size_make(50, 1, 1);
    d.threadgroups = false;
    assert_true(run(&d));
    assert_scaled(100, 150);
}

static void leaves_what_is_not_plain(void **state) {
    (void)state;
    NEEDS_HOST_MEMORY();
    const MTLSingleDispatch good = dispatch_of_scale();
    MTLSingleDispatch d;
#define LEAVES(...)                                                                                \
    d = good;                                                                                      \
    __VA_ARGS__;                                                                                   \
    assert_left_alone(&d)
    clear_messages();
    LEAVES(d.pipeline = NULL);
    LEAVES(d.grid.width = 0);
    LEAVES(d.grid.width = (size_t)1 << 40);
    LEAVES(d.grid = mtl_size_make(1 << 20, 1 << 20, 1 << 20));
    LEAVES(d.threads_per_threadgroup.height = 0);
    LEAVES(d.threads_per_threadgroup.width = 2000);
    LEAVES(d.threads_per_threadgroup = mtl_size_make(64, 64, 1));
    LEAVES(d.bytes_length = 0);
    LEAVES(d.bytes_length = 2); // less than the kernel may read
    LEAVES(d.bytes_length = 4096);
    LEAVES(d.buffer_count = 1);
    const size_t behind[2] = {0, N * sizeof(float)};
    LEAVES(d.offsets = behind);
    MTLBuffer *tracked = mtl_device_new_buffer(device, N * sizeof(float), 0);
    LEAVES(both[0] = tracked);
    both[0] = (MTLBuffer *)queue; // no buffer
    assert_left_alone(&good);
    both[0] = x;
    assert_int_equal(n_messages, 0); // the command buffer will say it
    assert_false(mtl_command_queue_dispatch_and_wait(NULL, &good, NULL));
    assert_false(mtl_command_queue_dispatch_and_wait(queue, NULL, NULL));
    assert_true(run(&good));
    mtl_release(tracked);
}

static void leaves_other_arguments(void **state) {
    (void)state;
    NEEDS_HOST_MEMORY();
    MTLComputePipelineState *shared = pipeline_from(source, "shared"),
                            *wide = pipeline_from(source, "wide");
    const uint32_t words[8] = {5};
    MTLSingleDispatch d = dispatch_of_scale();
    both[0] = y;
    d.bytes = words;
    d.bytes_length = 4;
    d.pipeline = shared;
    assert_left_alone(&d); // threadgroup memory that nobody gave a length
    d.pipeline = wide;
    assert_left_alone(&d); // a struct of 32 bytes: it gets a copy with zeros behind
    d.bytes_length = 32;
    d.grid = mtl_size_make(1, 1, 1);
    assert_true(run(&d));
    mtl_release(shared);
    mtl_release(wide);
}

static void leaves_a_queue_that_is_busy(void **state) {
    (void)state;
    NEEDS_HOST_MEMORY();
    MTLSingleDispatch d = dispatch_of_scale();
    MTLCommandBuffer *commands = mtl_command_queue_command_buffer(queue);
    fill();
    assert_true(run(&d)); // it has no place yet
    mtl_command_buffer_enqueue(commands);
    assert_left_alone(&d);
    run_to_end(commands);
    assert_true(run(&d));
    assert_scaled(0, N);
}

static void ends_with_the_queue_s_time(void **state) {
    (void)state;
    NEEDS_HOST_MEMORY();
    MTLCommandQueue *limited = mtl_device_new_command_queue_with_descriptor(
        device, &(MTLCommandQueueDescriptor){.timeout_ms = 300});
    MTLComputePipelineState *endless = pipeline_from(source, "endless");
    const uint32_t word = 7;
    MTLSingleDispatch d = dispatch_of_scale();
    MTLError *error = NULL;
    fill();
    assert_true(mtl_command_queue_dispatch_and_wait(limited, &d, &error));
    assert_null(error);
    assert_scaled(0, N);
    d.pipeline = endless;
    d.bytes = &word;
    assert_true(mtl_command_queue_dispatch_and_wait(limited, &d, &error));
    assert_non_null(error);
    assert_int_equal(mtl_error_code(error), MTLCommandBufferErrorTimeout);
    assert_non_null(strstr(mtl_error_localized_description(error), "300 ms"));
    mtl_release(error);
    mtl_release(endless);
    mtl_release(limited);
}

static void a_fault_is_an_error(void **state) {
    (void)state;
    NEEDS_HOST_MEMORY();
    MTLComputePipelineState *astray = pipeline_from(source, "astray");
    const uint32_t word = 7;
    MTLSingleDispatch d = dispatch_of_scale();
    d.pipeline = astray;
    d.bytes = &word;
    d.grid = mtl_size_make(1, 1, 1);
    MTLError *error = NULL;
    assert_true(mtl_command_queue_dispatch_and_wait(queue, &d, &error));
    assert_non_null(error);
    assert_string_equal(mtl_error_domain(error), MTLCommandBufferErrorDomain);
    assert_int_equal(mtl_error_code(error), MTLCommandBufferErrorPageFault);
    assert_non_null(strstr(mtl_error_localized_description(error), "'astray'"));
    mtl_release(error);
    assert_true(mtl_command_queue_dispatch_and_wait(queue, &d, NULL)); // nobody asks why
    mtl_release(astray);
    d = dispatch_of_scale();
    fill();
    assert_true(run(&d));
    assert_scaled(0, N);
}

// ---- Among command buffers ----

enum { ROUNDS = 3000 };
static atomic_int n_single;

// Each adds 1 without atomics: two at a time would lose some.
static void *count_many(void *context) {
    MTLBuffer *sum = context;
    const uint32_t one = 1;
    const MTLSingleDispatch d = {.pipeline = count,
                                 .bytes = &one,
                                 .bytes_length = sizeof one,
                                 .buffers = &sum,
                                 .offsets = none,
                                 .buffer_count = 1,
                                 .grid = mtl_size_make(1, 1, 1),
                                 .threads_per_threadgroup = mtl_size_make(1, 1, 1)};
    for (int i = 0; i < ROUNDS; i++) {
        MTLError *error = NULL;
        if (i % 3 && mtl_command_queue_dispatch_and_wait(queue, &d, &error)) {
            if (error) return "a fault";
            atomic_fetch_add(&n_single, 1);
            continue;
        }
        MTLCommandBuffer *commands = mtl_command_queue_command_buffer(queue);
        MTLComputeCommandEncoder *e = mtl_command_buffer_compute_command_encoder(commands);
        mtl_compute_command_encoder_set_compute_pipeline_state(e, count);
        mtl_compute_command_encoder_set_bytes(e, &one, sizeof one, 0);
        mtl_compute_command_encoder_set_buffer(e, sum, 0, 1);
        mtl_compute_command_encoder_dispatch_threads(e, d.grid, d.threads_per_threadgroup);
        mtl_compute_command_encoder_end_encoding(e);
        mtl_command_buffer_commit(commands);
        if (i % 2) mtl_command_buffer_wait_until_completed(commands);
        mtl_release(commands);
    }
    return NULL;
}

static void takes_its_turn(void **state) {
    (void)state;
    NEEDS_HOST_MEMORY();
    MTLBuffer *sum = untracked(4);
    pthread_t other;
    assert_int_equal(pthread_create(&other, NULL, count_many, sum), 0);
    const char *wrong = count_many(sum);
    void *also = NULL;
    pthread_join(other, &also);
    if (wrong || also) fail_msg("%s", wrong ? wrong : (const char *)also);
    run_to_end(mtl_command_queue_command_buffer(queue));
    assert_int_equal(*(uint32_t *)mtl_buffer_contents(sum), 2 * ROUNDS);
    assert_true(n_single > 0);
    mtl_release(sum);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(does_threads_and_threadgroups),
        cmocka_unit_test(leaves_what_is_not_plain),
        cmocka_unit_test(leaves_other_arguments),
        cmocka_unit_test(leaves_a_queue_that_is_busy),
        cmocka_unit_test(ends_with_the_queue_s_time),
        cmocka_unit_test(a_fault_is_an_error),
        cmocka_unit_test(takes_its_turn),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
