// SPDX-License-Identifier: Apache-2.0
// test_tensor_memory.c: tensors when any allocation fails, and from several threads at once: an
// error, and nothing stays behind.
#include "failing_memory.h"

static int set_up(void **state) {
    mtl_set_allocator(&counting);
    return open_device(state);
}

// A tensor with memory of its own, one over a buffer, and an error. True if all is right.
static bool everything(void) {
    MTLError *error = NULL, *wrong = NULL;
    MTLTensorDescriptor d = mtl_tensor_descriptor_make_default();
    d.dimensions = (MTLTensorExtents){2, {16, 4}};
    MTLTensor *own = mtl_device_new_tensor(device, &d, &error);
    if (!own) assert_non_null(error);
    MTLBuffer *buffer = mtl_device_new_buffer(device, 1024, 0);
    d.strides = (MTLTensorExtents){2, {1, 16}};
    MTLTensor *lent = buffer ? mtl_buffer_new_tensor(buffer, &d, 64, NULL) : NULL;
    d.dimensions.extents[0] = 0;
    assert_null(mtl_buffer_new_tensor(buffer, buffer ? &d : NULL, 0, &wrong));
    bool right = own && lent && wrong && mtl_error_code(wrong) == MTLTensorErrorInvalidDescriptor;
    if (own && lent) {
        float row[16], back[16] = {0};
        for (int i = 0; i < 16; i++) row[i] = (float)i;
        mtl_tensor_set_label(own, "label");
        const MTLTensorExtents at = {2, {0, 3}}, size = {2, {16, 1}}, packed = {2, {1, 16}};
        mtl_tensor_replace_slice(lent, &at, &size, row, &packed);
        mtl_tensor_get_bytes(lent, back, &packed, &at, &size);
        right = right && memcmp(row, back, sizeof row) == 0;
    }
    mtl_release(own), mtl_release(lent), mtl_release(buffer), mtl_release(error);
    mtl_release(wrong);
    return right;
}

static void any_allocation_may_fail(void **state) {
    (void)state;
    mtl_device_set_log_callback(device, NULL, NULL);
    assert_true(everything());
    long before = atomic_load(&alive);
    size_t bytes = mtl_device_current_allocated_size(device);
    for (long n = 0;; n++) {
        atomic_store(&failed, false);
        atomic_store(&countdown, n);
        bool right = everything();
        atomic_store(&countdown, -1);
        assert_int_equal(left_behind(&before), 0);
        assert_true(mtl_device_current_allocated_size(device) == bytes);
        if (!atomic_load(&failed)) {
            assert_true(right && n > 3);
            break;
        }
    }
}

static void *work(void *result) {
    bool right = true;
    for (int i = 0; i < 200; i++) right = everything() && right;
    *(bool *)result = right;
    return NULL;
}

static void from_several_threads(void **state) {
    (void)state;
    enum { N = 6 };
    pthread_t threads[N];
    bool right[N] = {0};
    long before = atomic_load(&alive);
    for (int i = 0; i < N; i++) pthread_create(&threads[i], NULL, work, &right[i]);
    for (int i = 0; i < N; i++) pthread_join(threads[i], NULL);
    for (int i = 0; i < N; i++) assert_true(right[i]);
    assert_int_equal(left_behind(&before), 0);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(any_allocation_may_fail),
        cmocka_unit_test(from_several_threads),
    };
    return cmocka_run_group_tests(tests, set_up, close_device);
}
