// SPDX-License-Identifier: Apache-2.0
// test_misuse.c: what goes wrong gives an error that says what, and the library works afterwards:
// values that are not finite, tensors that are gone, no memory, gradients that are not there.
#include "tensor_test.h"

static void values_that_are_not_finite(void **state) {
    (void)state;
    IgTensor *x = tensor(SHAPE(2, 3), FLOATS(1, 2, 3, 4, -1, 6));
    CHECK(ig_check_finite(x, &error));
    IgTensor *bad = ig_log(x, &error);
    FAILS(ig_check_finite(bad, &error), IgErrorNotFinite,
          "element (1, 1) of a tensor of shape (2, 3)");
    bad = ig_div(x, ig_zeros(device, IgFloat32, SHAPE(1), &error), &error);
    FAILS(ig_check_finite(bad, &error), IgErrorNotFinite, "element (0, 0)");
    FAILS(ig_check_finite(bad, &error), IgErrorNotFinite, "inf");
    // Float16 overflows above 65504; a view is judged by what it shows.
    IgTensor *large = ig_cast(ig_mul_scalar(x, 60000, &error), IgFloat16, &error);
    FAILS(ig_check_finite(large, &error), IgErrorNotFinite, "(0, 1)");
    IgTensor *row = ig_slice(large, 0, 0, 1, 1, &error);
    FAILS(ig_check_finite(row, &error), IgErrorNotFinite, "(0, 1)");
    CHECK(ig_check_finite(ig_slice(row, 1, 0, 1, 1, &error), &error));
    CHECK(ig_check_finite(ig_arange(device, IgInt32, 0, 1, 4, &error), &error));
    assert_false(ig_check_finite(NULL, &error));
    assert_null(error);
}

static void tensors_that_are_gone(void **state) {
    (void)state;
    float out[2];
    double value;
    void *data;
    IgTensor *t = ig_keep(tensor(SHAPE(2), FLOATS(1, 2))), *other = tensor(SHAPE(2), FLOATS(3, 4));
    CHECK(ig_read(t, out, sizeof out, &error));
    ig_release(t);
    FAILS(ig_read(t, out, sizeof out, &error), IgErrorArgument, "the tensor has been released");
    FAILS(ig_item(t, &value, &error), IgErrorArgument, "released");
    FAILS(ig_map(t, &data, &error), IgErrorArgument, "released");
    FAILS(ig_write(t, out, sizeof out, &error), IgErrorArgument, "released");
    FAILS(ig_eval(t, &error), IgErrorArgument, "released");
    FAILS(ig_check_finite(t, &error), IgErrorArgument, "released");
    FAILS(ig_relu(t, &error), IgErrorArgument, "released");
    FAILS(ig_add(other, t, &error), IgErrorArgument, "released");
    FAILS(ig_reshape(t, 2, (int64_t[]){1, 2}, &error), IgErrorArgument, "released");
    FAILS(ig_matmul(other, t, &error), IgErrorArgument, "released");
    FAILS(ig_sum(t, IG_ALL, false, &error), IgErrorArgument, "released");
    FAILS(ig_cast(t, IgFloat16, &error), IgErrorArgument, "released");
    assert_null(ig_device(t));
    ig_release(t); // once too often
    // Of a scope that ended.
    IgScope *inner = ig_scope_begin();
    IgTensor *made = ig_add(other, other, &error);
    CHECK(made);
    ig_scope_end(inner);
    FAILS(ig_read(made, out, sizeof out, &error), IgErrorArgument, "released");
    // Long ago: its memory may serve again, but nothing breaks.
    for (int i = 0; i < 5000; i++) {
        IgTensor *next = ig_keep(tensor(SHAPE(2), FLOATS(5, 6)));
        ig_release(next);
    }
    if (!ig_read(t, out, sizeof out, &error)) mtl_release(error), error = NULL;
    CLOSE(other, 0, 3, 4);
}

// ---- Memory ----

static size_t limit = SIZE_MAX;
static void *allocate(void *context, size_t length, size_t alignment) {
    (void)context;
    if (length > limit) return NULL;
    return alignment <= 16 ? malloc(length)
                           : aligned_alloc(alignment, (length + alignment - 1) & ~(alignment - 1));
}
static void deallocate(void *context, void *pointer) {
    (void)context;
    free(pointer);
}
static const MTLAllocator limited = {allocate, deallocate, NULL};

static int set_up_limited(void **state) {
    mtl_set_allocator(&limited); // before the first object
    return set_up(state);
}

static void no_memory_for_a_buffer(void **state) {
    (void)state;
    IgTensor *x = random_tensor(IgFloat32, SHAPE(300, 300), 1);
    IgTensor *small = random_tensor(IgFloat32, SHAPE(4), 1);
    CHECK(ig_eval(x, &error));
    ig_pool_clear(ig_device_pool(device));
    limit = 100000;
    IgTensor *y = ig_add_scalar(x, 1, &error), *z = ig_matmul(x, x, &error);
    FAILS(ig_eval(y, &error), IgErrorMemory, "out of memory");
    FAILS(ig_eval(z, &error), IgErrorMemory, "out of memory");
    CLOSE(ig_sum(ig_zeros(device, IgFloat32, SHAPE(3), &error), IG_ALL, false, &error), 0, 0);
    CHECK(ig_eval(ig_mul_scalar(small, 2, &error), &error));
    limit = SIZE_MAX; // and later there is some: what was recorded is still there
    CHECK(ig_eval(y, &error) && ig_eval(z, &error));
    SAME(ig_sub(y, x, &error), ig_ones(device, IgFloat32, SHAPE(300, 300), &error), 1e-6);
}

static void the_limit_of_the_pool(void **state) {
    (void)state;
    IgPool *pool = ig_device_pool(device);
    ig_pool_clear(pool);
    uint64_t live = ig_pool_statistics(pool).live_memory;
    ig_pool_set_memory_limit(pool, live + 500000); // two of them, with what their class wastes
    IgTensor *x = random_tensor(IgFloat32, SHAPE(50000), 1);
    IgTensor *y = ig_add_scalar(x, 1, &error), *z = ig_add_scalar(x, 2, &error);
    FAILS(ig_eval(y, &error) && ig_eval(z, &error), IgErrorMemory, "the pool's limit");
    FAILS(ig_eval(z, &error), IgErrorMemory, "the pool's limit");
    ig_pool_set_memory_limit(pool, 0);
    CHECK(ig_eval(z, &error));
}

// ---- Gradients ----

static void gradients_that_are_not_there(void **state) {
    (void)state;
    IgTensor *x = tensor(SHAPE(2), FLOATS(1, 2)), *plain = tensor(SHAPE(2), FLOATS(1, 2));
    FAILS(ig_grad(plain, &error), IgErrorGradient, "does not require one");
    FAILS(ig_backward(plain, NULL, NULL, &error), IgErrorGradient, "does not require a gradient");
    leaf(x);
    FAILS(ig_grad(x, &error), IgErrorGradient, "ig_backward has not reached it");
    IgTensor *y = ig_square(x, &error);
    FAILS(ig_backward(y, NULL, NULL, &error), IgErrorGradient, "shape (2,) is not a scalar");
    FAILS(ig_backward(y, tensor(SHAPE(3), FLOATS(1, 1, 1)), NULL, &error), IgErrorShape,
          "shape (3,) for a tensor of shape (2,)");
    CHECK(ig_backward(y, plain, NULL, &error)); // with a seed
    CLOSE(ig_grad(x, &error), 0, 2, 8);
    FAILS(ig_backward(y, plain, NULL, &error), IgErrorGradient, "retain_graph");
    IgTensor *loss = ig_sum(ig_square(x, &error), IG_ALL, false, &error);
    CHECK(ig_backward(loss, NULL, &(IgBackwardOptions){.retain_graph = true}, &error));
    CHECK(ig_backward(loss, NULL, NULL, &error)); // twice, because it was kept
    FAILS(ig_backward(loss, NULL, NULL, &error), IgErrorGradient, "the graph is gone");
    CLOSE(ig_grad(x, &error), 0, 6, 16);
    FAILS(ig_set_requires_grad(y, true, &error), IgErrorGradient, "is a result");
    IgTensor *whole = ig_arange(device, IgInt32, 0, 1, 2, &error);
    FAILS(ig_set_requires_grad(whole, true, &error), IgErrorType, "int32 has no gradients");
}

int main(void) {
#define TEST(NAME) cmocka_unit_test_setup_teardown(NAME, begin_scope, end_scope)
    const struct CMUnitTest tests[] = {
        TEST(values_that_are_not_finite),   TEST(tensors_that_are_gone),
        TEST(no_memory_for_a_buffer),       TEST(the_limit_of_the_pool),
        TEST(gradients_that_are_not_there),
    };
    return cmocka_run_group_tests(tests, set_up_limited, NULL);
}
