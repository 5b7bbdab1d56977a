// SPDX-License-Identifier: Apache-2.0
// test_pool.c: the buffer pool: statistics, capacity, clearing and shrinking, and under threads: a
// buffer serves again only after the work that used it has completed.
#include <pthread.h>
#include <stdatomic.h>
#include "tensor_test.h"

static MTLDevice *metal;
static int begin(void **state) {
    if (set_up(state)) return -1;
    metal = ig_device_metal(device);
    return 0;
}

static void capacity_keeps_so_many(void **state) {
    (void)state;
    IgPool *pool = ig_pool_with_capacity(metal, 2, &error);
    CHECK(pool);
    assert_int_equal(ig_pool_capacity(pool), 2);
    MTLBuffer *b[3];
    for (int i = 0; i < 3; i++) CHECK((b[i] = ig_pool_allocate(pool, 2048, &error)));
    assert_true(ig_pool_recycle(pool, b[0], NULL) && ig_pool_recycle(pool, b[1], NULL));
    assert_false(ig_pool_recycle(pool, b[2], NULL)); // the class is full
    assert_false(ig_pool_recycle(pool, b[2], NULL)); // and it is not out any more
    IgPoolStatistics s = ig_pool_statistics(pool);
    assert_int_equal(s.total_pooled, 2);
    assert_int_equal(s.size_classes, 1);
    assert_true(s.total_memory >= 2 * 2048 && s.total_memory < 2 * 2048 * 5 / 4 + 1);
    assert_int_equal(s.allocation_count, 3);
    assert_int_equal(s.reuse_count, 0);
    assert_int_equal(s.eviction_count, 1);
    assert_int_equal(s.live_memory, 0);
    ig_pool_release(pool);
}

static void reuse_after_recycling(void **state) {
    (void)state;
    IgPool *pool = ig_pool_new(metal, &error);
    CHECK(pool);
    assert_int_equal(ig_pool_capacity(pool), IG_POOL_CAPACITY);
    MTLBuffer *a = ig_pool_allocate_zeros(pool, 1024, &error);
    CHECK(a);
    unsigned char *bytes = mtl_buffer_contents(a);
    for (int i = 0; i < 1024; i++) assert_int_equal(bytes[i], 0);
    memset(bytes, 7, 1024);
    assert_true(ig_pool_recycle(pool, a, NULL));
    assert_ptr_equal(ig_pool_allocate(pool, 1000, &error), a); // about the same size
    IgPoolStatistics s = ig_pool_statistics(pool);
    assert_int_equal(s.allocation_count, 2);
    assert_int_equal(s.reuse_count, 1); // a rate of 50 %
    assert_true(ig_pool_recycle(pool, a, NULL));
    assert_ptr_equal(ig_pool_allocate_zeros(pool, 1024, &error), a);
    for (int i = 0; i < 1024; i++) assert_int_equal(bytes[i], 0);
    // 320 bytes and 2 MiB: other classes.
    MTLBuffer *small = ig_pool_allocate(pool, 1, &error);
    MTLBuffer *large = ig_pool_allocate(pool, 2 << 20, &error);
    CHECK(small && large);
    assert_true(mtl_buffer_length(large) >= 2 << 20);
    assert_true(ig_pool_recycle(pool, small, NULL) && ig_pool_recycle(pool, large, NULL));
    assert_int_equal(ig_pool_statistics(pool).size_classes, 2);
    ig_pool_clear_size(pool, 2 << 20);
    assert_int_equal(ig_pool_statistics(pool).size_classes, 1);
    assert_int_equal(ig_pool_statistics(pool).total_pooled, 1);
    ig_pool_clear(pool);
    s = ig_pool_statistics(pool);
    assert_int_equal(s.total_pooled + s.size_classes + s.total_memory, 0);
    assert_int_equal(s.eviction_count, 2);
    ig_pool_release(pool); // `a` is still out: it goes with the pool
}

static void shrinking_takes_the_largest_first(void **state) {
    (void)state;
    IgPool *pool = ig_pool_new(metal, &error);
    MTLBuffer *b[5];
    for (int i = 0; i < 5; i++) CHECK((b[i] = ig_pool_allocate(pool, 4096, &error)));
    MTLBuffer *large = ig_pool_allocate(pool, 1 << 20, &error);
    for (int i = 0; i < 5; i++) assert_true(ig_pool_recycle(pool, b[i], NULL));
    assert_true(ig_pool_recycle(pool, large, NULL));
    size_t each = mtl_buffer_length(b[0]);
    ig_pool_shrink_to_fit(pool, 2 * each);
    IgPoolStatistics s = ig_pool_statistics(pool);
    assert_int_equal(s.total_pooled, 2);
    assert_int_equal(s.total_memory, 2 * each);
    assert_int_equal(s.size_classes, 1);
    // Beyond the limit what waits goes first, then it is an error.
    ig_pool_set_memory_limit(pool, 1 << 20);
    MTLBuffer *half = ig_pool_allocate(pool, 1 << 19, &error);
    CHECK(half);
    FAILS(ig_pool_allocate(pool, 1 << 19 | 1, &error), IgErrorMemory,
          "the pool's limit of 1048576");
    assert_true(ig_pool_recycle(pool, half, NULL));
    CHECK(ig_pool_allocate(pool, 700000, &error));
    assert_int_equal(ig_pool_statistics(pool).total_pooled, 0);
    ig_pool_release(pool);
}

static void bad_arguments(void **state) {
    (void)state;
    FAILS(ig_pool_new(NULL, &error), IgErrorDevice, "no Metal device");
    IgPool *pool = ig_pool_with_capacity(metal, 0, &error);
    FAILS(ig_pool_allocate(pool, 0, &error), IgErrorArgument, "0 bytes");
    FAILS(ig_pool_allocate(NULL, 4, &error), IgErrorArgument, "no pool");
    FAILS(ig_pool_allocate(ig_device_pool(device), 4, &error), IgErrorArgument, "its tensors");
    MTLBuffer *b = ig_pool_allocate(pool, 4, &error), *other = mtl_device_new_buffer(metal, 16, 0);
    assert_false(ig_pool_recycle(pool, b, NULL)); // none are kept
    assert_false(ig_pool_recycle(pool, other, NULL));
    assert_false(ig_pool_recycle(NULL, other, NULL));
    assert_int_equal(ig_pool_statistics(pool).total_pooled, 0);
    mtl_release(other);
    ig_pool_release(pool);
    ig_pool_release(NULL);
    ig_pool_release(ig_device_pool(device)); // the device's: stays
    ig_pool_clear(NULL);
    ig_pool_clear_size(NULL, 4);
    ig_pool_shrink_to_fit(NULL, 4);
    assert_int_equal(ig_pool_statistics(NULL).allocation_count, 0);
}

// ---- Under threads ----

enum { THREADS = 4, ROUNDS = 120, HELD = 6 };

static const char slow[] =
    "#include <metal_stdlib>\n"
    "using namespace metal;\n"
    // Reads again and again: whoever writes meanwhile shows.
    "kernel void watch(device const int *in [[buffer(0)]], device int *out [[buffer(1)]],\n"
    "                  uint i [[thread_position_in_grid]]) {\n"
    "    int first = in[i], same = 1;\n"
    "    for (int k = 0; k < 200; k++) same &= int(in[(i * 7 + uint(k)) % 512] == first);\n"
    "    out[i] = same ? first : -1;\n"
    "}\n";

typedef struct Shared {
    IgPool *pool;
    MTLComputePipelineState *watch;
    int n;
} Shared;

static MTLCommandBuffer *encode_watch(const Shared *s, MTLCommandQueue *queue, MTLBuffer *in,
                                      MTLBuffer *out) {
    MTLCommandBuffer *commands = mtl_command_queue_command_buffer(queue);
    MTLComputeCommandEncoder *e = mtl_command_buffer_compute_command_encoder(commands);
    mtl_compute_command_encoder_set_compute_pipeline_state(e, s->watch);
    mtl_compute_command_encoder_set_buffer(e, in, 0, 0);
    mtl_compute_command_encoder_set_buffer(e, out, 0, 1);
    mtl_compute_command_encoder_dispatch_threads(e, mtl_size_make(512, 1, 1),
                                                 mtl_size_make(256, 1, 1));
    mtl_compute_command_encoder_end_encoding(e);
    return commands;
}

// Each round fills a buffer with a number, starts work that watches it, gives it back for when the
// work is done, and goes on at once.
static void *lend(void *context) {
    const Shared *s = context;
    MTLCommandQueue *queue = mtl_device_new_command_queue(metal);
    MTLCommandBuffer *commands[HELD] = {NULL};
    MTLBuffer *out[HELD] = {NULL};
    int number[HELD];
    void *wrong = queue ? NULL : "no queue";
    for (int i = 0; !wrong && i < ROUNDS + HELD; i++) {
        int at = i % HELD;
        if (commands[at]) {
            mtl_command_buffer_wait_until_completed(commands[at]);
            const int *found = mtl_buffer_contents(out[at]);
            for (int k = 0; k < 512; k++)
                if (found[k] != number[at]) wrong = "memory was given away while work used it";
            mtl_release(commands[at]);
            ig_pool_recycle(s->pool, out[at], NULL);
            commands[at] = NULL;
        }
        if (i >= ROUNDS) continue;
        MTLBuffer *in = ig_pool_allocate(s->pool, 2048, NULL);
        out[at] = ig_pool_allocate(s->pool, 2048, NULL);
        if (!in || !out[at]) return "no buffer";
        number[at] = (int)(uintptr_t)queue % 1000003 + i;
        if (number[at] < 0) number[at] = -number[at];
        int *values = mtl_buffer_contents(in);
        for (int k = 0; k < 512; k++) values[k] = number[at];
        commands[at] = encode_watch(s, queue, in, out[at]);
        if (!ig_pool_recycle(s->pool, in, commands[at])) wrong = "not from here";
        mtl_command_buffer_commit(commands[at]);
    }
    mtl_release(queue);
    return wrong;
}

static void run_threads(void *(*body)(void *), void *context) {
    pthread_t threads[THREADS];
    for (int i = 0; i < THREADS; i++)
        assert_int_equal(pthread_create(&threads[i], NULL, body, context), 0);
    for (int i = 0; i < THREADS; i++) {
        void *wrong;
        pthread_join(threads[i], &wrong);
        if (wrong) fail_msg("%s", (const char *)wrong);
    }
}

static void lent_buffers_come_back_when_work_is_done(void **state) {
    (void)state;
    MTLLibrary *library = mtl_device_new_library_with_source(metal, slow, NULL, &error);
    MTLFunction *f = mtl_library_new_function(library, "watch");
    Shared s = {ig_pool_with_capacity(metal, 4, &error),
                mtl_device_new_compute_pipeline_state(metal, f, &error), 0};
    CHECK(s.pool && s.watch);
    run_threads(lend, &s);
    IgPoolStatistics stats = ig_pool_statistics(s.pool);
    assert_int_equal(stats.allocation_count, 2 * THREADS * ROUNDS);
    assert_true(stats.reuse_count > stats.allocation_count / 4); // else nothing was tested
    assert_int_equal(stats.live_memory, 0);
    ig_pool_release(s.pool);
    mtl_release(s.watch);
    mtl_release(f);
    mtl_release(library);
}

// Tensors: made from the host's memory, used by work that runs later, released right away.
static void *compute(void *context) {
    (void)context;
    static atomic_int next;
    int me = atomic_fetch_add(&next, 1);
    IgTensor *result[HELD] = {NULL};
    float expected[HELD] = {0};
    static const int64_t sizes[3] = {300, 301, 5000};
    for (int i = 0; i < ROUNDS + HELD; i++) {
        int at = i % HELD;
        int64_t n = sizes[at % 3];
        if (result[at]) {
            float got[5000];
            if (!ig_read(result[at], got, (size_t)n * 4, NULL)) return "not read";
            for (int64_t k = 0; k < n; k++)
                if (got[k] != expected[at]) return "a value of somebody else";
            ig_release(result[at]);
            result[at] = NULL;
        }
        if (i >= ROUNDS) continue;
        float values[5000];
        for (int64_t k = 0; k < n; k++) values[k] = (float)(me * 1000 + i);
        IgTensor *x = ig_from_data(device, IgFloat32, 1, &n, values, NULL);
        IgTensor *y = ig_mul_scalar(x, 2, NULL), *z = ig_add(y, x, NULL);
        if (!z || !ig_eval(z, NULL)) return "not made";
        expected[at] = 3 * (float)(me * 1000 + i);
        result[at] = z;
        ig_release(x);
        ig_release(y);
    }
    return NULL;
}

// What is evaluated may not have run when its inputs go, and the pool with them.
static void cleared_under_recorded_work(void **state) {
    (void)state;
    IgPool *pool = ig_device_pool(device);
    for (int k = 1; k < 4; k++) {
        const int64_t n = 100000;
        IgTensor *x = ig_full(device, IgFloat32, 1, &n, 2, &error), *y, *z = NULL;
        CHECK(x && ig_eval(x, &error) && ig_device_synchronize(device, &error));
        y = ig_mul_scalar(x, 3, &error);
        CHECK(y && ig_eval(y, &error));
        if (k > 1) CHECK((z = ig_add(x, x, &error)) && ig_eval(z, &error));
        ig_release(x);
        if (k > 2) ig_release(y), y = NULL;
        ig_pool_clear(pool); // its pages are gone
        for (int i = 0; i < 2; i++) {
            IgTensor *t = i ? z : y;
            float *values;
            if (!t) continue;
            CHECK(ig_map(t, (void **)&values, &error));
            for (int64_t j = 0; j < n; j++)
                if (values[j] != (i ? 4 : 6)) fail_msg("element %d is %g", (int)j, values[j]);
            ig_release(t);
        }
    }
}

// Without others being let in: what is there, with kernels that are there.
static void quickly_or_not_at_all(void **state) {
    (void)state;
    const int64_t n = 50;
    double value;
    for (int round = 0; round < 2; round++) {
        IgTensor *x = ig_full(device, IgFloat32, 1, &n, 2, &error);
        CHECK(x && ig_eval(x, &error) && ig_device_synchronize(device, &error));
        IgTensor *y = ig_pow_scalar(x, 3, &error), *z = ig_atan2(y, x, &error),
                 *sum = ig_sum(y, IG_ALL, false, &error);
        CHECK(y && z && sum);
        assert_false(ig_eval_quickly(z));            // of y, which is not there
        assert_int_equal(ig_eval_quickly(y), round); // no kernel of this kind was made before
        CHECK(ig_eval(y, &error));
        assert_true(ig_device_synchronize_quickly(device));
        assert_int_equal(ig_eval_quickly(sum), round);
        CHECK(ig_eval(sum, &error));
        assert_true(ig_eval_quickly(sum) && ig_device_synchronize_quickly(device));
        assert_true(ig_device_synchronize_quickly(device)); // nothing to do
        CHECK(ig_item(sum, &value, &error));
        assert_true(value == 400);
        CHECK(ig_eval(z, &error) && ig_eval(sum, &error));
        ig_release(x), ig_release(y), ig_release(z), ig_release(sum);
    }
    assert_false(ig_eval_quickly(NULL) || ig_device_synchronize_quickly(NULL));
}

static void tensors_of_many_threads(void **state) {
    (void)state;
    IgPool *pool = ig_device_pool(device);
    uint64_t live = ig_pool_statistics(pool).live_memory;
    IgPoolStatistics before = ig_pool_statistics(pool);
    run_threads(compute, NULL);
    IgPoolStatistics after = ig_pool_statistics(pool);
    assert_int_equal(after.live_memory, live);
    assert_true(after.reuse_count - before.reuse_count >
                (after.allocation_count - before.allocation_count) / 2);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(capacity_keeps_so_many),
        cmocka_unit_test(reuse_after_recycling),
        cmocka_unit_test(shrinking_takes_the_largest_first),
        cmocka_unit_test(bad_arguments),
        cmocka_unit_test(lent_buffers_come_back_when_work_is_done),
        cmocka_unit_test(cleared_under_recorded_work),
        cmocka_unit_test(quickly_or_not_at_all),
        cmocka_unit_test(tensors_of_many_threads),
    };
    return cmocka_run_group_tests(tests, begin, NULL);
}
