// SPDX-License-Identifier: Apache-2.0
// test_backend_guide.c: the code of the "Metal Backend" guide (MetalBackend, MetalOps), line by
// line, in C. A comment before a statement is the line of the guide it stands for. Then what its
// text promises: exact sizes, memory that the host can use, cached pipelines, errors.
#include <pthread.h>
#include "ingot/backend.h"
#include "tensor_test.h"

static IgMetalBackend *backend;
static IgMetalOps *ops;

// ---- "Basic Setup" ----
static int setup(void **state) {
    (void)state;
    // if !MetalBackend::is_available() { return Err("Metal not available"); }
    if (!ig_metal_backend_is_available()) return -1;
    // let backend = Arc::new(MetalBackend::initialize()?);
    backend = ig_metal_backend_initialize(&error);
    // let ops = MetalOps::new(backend.clone())?;
    ops = ig_metal_ops_new(ig_metal_backend_retain(backend), &error);
    ig_metal_backend_release(backend); // the clone: ops has a reference of its own
    return backend && ops ? 0 : -1;
}

static int teardown(void **state) {
    (void)state;
    ig_metal_ops_release(ops);
    ig_metal_backend_release(backend);
    return 0;
}

// ---- "Memory Model" ----
static void memory_model(void **state) {
    (void)state;
    const size_t n = 1000, size_bytes = n * sizeof(float);
    // let ptr = backend.allocate(size_bytes)?;
    float *a_ptr = ig_metal_backend_allocate(backend, size_bytes, &error);
    float *b_ptr = ig_metal_backend_allocate(backend, size_bytes, &error);
    float *result_ptr = ig_metal_backend_allocate(backend, size_bytes, &error);
    CHECK(a_ptr && b_ptr && result_ptr);
    for (size_t i = 0; i < n; i++) a_ptr[i] = (float)i, b_ptr[i] = 0.5f; // zero-copy access
    // ops.add_ptr(a_ptr, b_ptr, result_ptr, n)?;
    CHECK(ig_metal_ops_add_ptr(ops, a_ptr, b_ptr, result_ptr, n, &error));
    for (size_t i = 0; i < n; i++) assert_true(result_ptr[i] == (float)i + 0.5f);
    // backend.deallocate(ptr, size_bytes)?;
    ig_metal_backend_deallocate(backend, a_ptr, size_bytes);
    ig_metal_backend_deallocate(backend, b_ptr, size_bytes);
    ig_metal_backend_deallocate(backend, result_ptr, size_bytes);
}

// ---- "Element-wise Operation" ----
static void element_wise_operation(void **state) {
    (void)state;
    // let a_data = vec![1.0f32, 2.0, 3.0, 4.0]; let b_data = vec![5.0f32, 6.0, 7.0, 8.0];
    const float a_data[4] = {1, 2, 3, 4}, b_data[4] = {5, 6, 7, 8};
    // let a_buffer = backend.create_buffer_with_data(&a_data, StorageModeShared)?;
    MTLBuffer *a_buffer = ig_metal_backend_create_buffer_with_data(
        backend, a_data, sizeof a_data, MTLResourceStorageModeShared, &error);
    // let b_buffer = backend.create_buffer_with_data(&b_data, StorageModeShared)?;
    MTLBuffer *b_buffer = ig_metal_backend_create_buffer_with_data(
        backend, b_data, sizeof b_data, MTLResourceStorageModeShared, &error);
    // let c_buffer = backend.create_buffer(16, StorageModeShared)?;
    MTLBuffer *c_buffer =
        ig_metal_backend_create_buffer(backend, 16, MTLResourceStorageModeShared, &error);
    CHECK(a_buffer && b_buffer && c_buffer);
    // ops.add(&a_buffer, &b_buffer, &c_buffer, 4)?;
    CHECK(ig_metal_ops_add(ops, a_buffer, b_buffer, c_buffer, 4, &error));
    // let mut result = vec![0.0f32; 4];
    float result[4] = {0};
    // backend.copy_buffer_to_host(&c_buffer, &mut result)?;
    CHECK(ig_metal_backend_copy_buffer_to_host(backend, c_buffer, result, sizeof result, &error));
    assert_memory_equal(result, FLOATS(6, 8, 10, 12), 16);
    // "Multiplication (mul_kernel)"
    CHECK(ig_metal_ops_mul(ops, a_buffer, b_buffer, c_buffer, 4, &error));
    assert_memory_equal(mtl_buffer_contents(c_buffer), FLOATS(5, 12, 21, 32), 16);
    mtl_release(a_buffer);
    mtl_release(b_buffer);
    mtl_release(c_buffer);
}

static MTLBuffer *four_floats(const float *data) {
    MTLBuffer *buffer = ig_metal_backend_create_buffer_with_data(
        backend, data, 16, MTLResourceStorageModeShared, &error);
    CHECK(buffer);
    return buffer;
}

// ---- "Matrix Operations" ----
static void matrix_operations(void **state) {
    (void)state;
    // let a = vec![1.0f32, 2.0, 3.0, 4.0]; let b = vec![5.0f32, 6.0, 7.0, 8.0];
    MTLBuffer *a_buffer = four_floats(FLOATS(1, 2, 3, 4));
    MTLBuffer *b_buffer = four_floats(FLOATS(5, 6, 7, 8));
    MTLBuffer *c_buffer = four_floats(FLOATS(0, 0, 0, 0));
    // ops.matmul(&a_buffer, &b_buffer, &c_buffer, 2, 2, 2)?;
    CHECK(ig_metal_ops_matmul(ops, a_buffer, b_buffer, c_buffer, 2, 2, 2, &error));
    assert_memory_equal(mtl_buffer_contents(c_buffer), FLOATS(19, 22, 43, 50), 16);
    mtl_release(a_buffer);
    mtl_release(b_buffer);
    mtl_release(c_buffer);
    // Not square, and more than one group: C (m, n) = A (m, k) B (k, n).
    enum { M = 19, N = 33, K = 21 };
    float *x = ig_metal_backend_allocate(backend, M * K * 4, &error);
    float *y = ig_metal_backend_allocate(backend, K * N * 4, &error);
    float *z = ig_metal_backend_allocate(backend, M * N * 4, &error);
    CHECK(x && y && z);
    for (int i = 0; i < M * K; i++) x[i] = (float)(i % 7 - 3);
    for (int i = 0; i < K * N; i++) y[i] = (float)(i % 5 - 2);
    CHECK(ig_metal_ops_matmul_ptr(ops, x, y, z, M, N, K, &error));
    for (int r = 0; r < M; r++)
        for (int c = 0; c < N; c++) {
            float sum = 0;
            for (int i = 0; i < K; i++) sum += x[r * K + i] * y[i * N + c];
            assert_true(z[r * N + c] == sum);
        }
    ig_metal_backend_deallocate(backend, x, M * K * 4);
    ig_metal_backend_deallocate(backend, y, K * N * 4);
    ig_metal_backend_deallocate(backend, z, M * N * 4);
}

// ---- "Activation Functions" ----
static void activation_functions(void **state) {
    (void)state;
    float *in = ig_metal_backend_allocate(backend, 12, &error);
    float *out = ig_metal_backend_allocate(backend, 12, &error);
    CHECK(in && out);
    in[0] = 0, in[1] = 1, in[2] = -1;
    CHECK(ig_metal_ops_relu_ptr(ops, in, out, 3, &error));
    assert_memory_equal(out, FLOATS(0, 1, 0), 12);
    CHECK(ig_metal_ops_sigmoid_ptr(ops, in, out, 3, &error));
    const float expected[3] = {0.5f, 0.7310586f, 0.26894143f};
    for (int i = 0; i < 3; i++) assert_true(fabsf(out[i] - expected[i]) < 1e-6f);
    CHECK(ig_metal_ops_mul_ptr(ops, in, in, out, 3, &error));
    assert_memory_equal(out, FLOATS(0, 1, 1), 12);
    ig_metal_backend_deallocate(backend, in, 12);
    ig_metal_backend_deallocate(backend, out, 12);
}

// ---- "Thread Group Optimization" ----
static void thread_group_optimization(void **state) {
    (void)state;
    MTLComputePipelineState *pipeline =
        ig_metal_backend_get_compute_pipeline(backend, "add_kernel");
    assert_non_null(pipeline);
    // let thread_group_size = backend.optimal_thread_group_size(&pipeline);
    MTLSize thread_group_size = ig_metal_backend_optimal_thread_group_size(backend, pipeline);
    // let thread_group_size_2d = backend.optimal_thread_group_size_2d(&pipeline);
    MTLSize thread_group_size_2d = ig_metal_backend_optimal_thread_group_size_2d(backend, pipeline);
    assert_int_equal(thread_group_size.width,
                     mtl_compute_pipeline_state_thread_execution_width(pipeline));
    assert_int_equal(thread_group_size.height * thread_group_size.depth, 1);
    assert_int_equal(thread_group_size_2d.width, 16);
    assert_int_equal(thread_group_size_2d.height, 16);
    assert_true(thread_group_size_2d.width * thread_group_size_2d.height <=
                mtl_compute_pipeline_state_max_total_threads_per_threadgroup(pipeline));
}

// ---- "Memory Strategies": shared, private, managed ----
static void memory_strategies(void **state) {
    (void)state;
    static const MTLResourceOptions modes[3] = {
        MTLResourceStorageModeShared, MTLResourceStorageModePrivate, MTLResourceStorageModeManaged};
    for (int i = 0; i < 3; i++) {
        const float data[4] = {1, -2, 3, -4};
        float back[4] = {0};
        MTLBuffer *in =
            ig_metal_backend_create_buffer_with_data(backend, data, sizeof data, modes[i], &error);
        MTLBuffer *out = ig_metal_backend_create_buffer(backend, 16, modes[i], &error);
        CHECK(in && out);
        CHECK(ig_metal_ops_relu(ops, in, out, 4, &error));
        CHECK(ig_metal_backend_copy_buffer_to_host(backend, out, back, sizeof back, &error));
        assert_memory_equal(back, FLOATS(1, 0, 3, 0), 16);
        CHECK(ig_metal_backend_copy_host_to_buffer(backend, out, data, sizeof data, &error));
        CHECK(ig_metal_backend_copy_buffer_to_host(backend, out, back, sizeof back, &error));
        assert_memory_equal(back, data, 16);
        mtl_release(in);
        mtl_release(out);
    }
}

// ---- "Debug Information" ----
static void debug_information(void **state) {
    (void)state;
    // let metal_device = backend.metal_device();
    MTLDevice *metal_device = ig_metal_backend_metal_device(backend);
    // println!("Device: {}", metal_device.name());
    print_message("Device: %s\n", mtl_device_name(metal_device));
    // println!("Max threads per threadgroup: {}",
    // metal_device.max_threads_per_threadgroup().width);
    print_message("Max threads per threadgroup: %zu\n",
                  mtl_device_max_threads_per_threadgroup(metal_device).width);
    // if let Some(pipeline) = backend.get_compute_pipeline("add_kernel") {
    MTLComputePipelineState *pipeline =
        ig_metal_backend_get_compute_pipeline(backend, "add_kernel");
    assert_non_null(pipeline);
    // println!("Thread execution width: {}", pipeline.thread_execution_width());
    print_message("Thread execution width: %zu\n",
                  mtl_compute_pipeline_state_thread_execution_width(pipeline));
    // println!("Max total threads: {}", pipeline.max_total_threads_per_threadgroup());
    print_message("Max total threads: %zu\n",
                  mtl_compute_pipeline_state_max_total_threads_per_threadgroup(pipeline));
    char *text = ig_metal_backend_debug_information(backend);
    assert_non_null(strstr(text, mtl_device_name(metal_device)));
    assert_non_null(strstr(text, "Pipeline sigmoid_kernel: thread execution width 32"));
    free(text);
}

// ---- "Buffer tracking with unique IDs", "Compute pipeline management and caching" ----
static void buffers_are_tracked(void **state) {
    (void)state;
    size_t before = ig_metal_backend_buffer_count(backend), n_bytes;
    uint64_t first_id, second_id;
    MTLBuffer *buffer;
    char *a = ig_metal_backend_allocate(backend, 100, &error);
    char *b = ig_metal_backend_allocate(backend, 200, &error);
    assert_int_equal(ig_metal_backend_buffer_count(backend), before + 2);
    assert_true(ig_metal_backend_get_buffer_info(backend, a, &buffer, &first_id, &n_bytes));
    assert_int_equal(n_bytes, 100);
    assert_ptr_equal(mtl_buffer_contents(buffer), a);
    assert_true(ig_metal_backend_get_buffer_info(backend, b, NULL, &second_id, NULL));
    assert_true(first_id != second_id);
    assert_false(ig_metal_backend_get_buffer_info(backend, a + 1, NULL, NULL, NULL));
    ig_metal_backend_deallocate(backend, a, 100);
    assert_int_equal(ig_metal_backend_buffer_count(backend), before + 1);
    assert_false(ig_metal_backend_get_buffer_info(backend, a, NULL, NULL, NULL));
    char *again = ig_metal_backend_allocate(backend, 100, &error);
    assert_ptr_equal(again, a); // memory of that size was waiting
    ig_metal_backend_deallocate(backend, again, 100);
    ig_metal_backend_deallocate(backend, again, 100); // unknown now: nothing happens
    ig_metal_backend_deallocate(backend, NULL, 5);
    ig_metal_backend_deallocate(backend, b, 200);
    assert_int_equal(ig_metal_backend_buffer_count(backend), before);
    for (int i = 0; i < 100; i++) { // many of one size: those beyond what is kept go
        void *p[40];
        for (int k = 0; k < 40; k++) p[k] = ig_metal_backend_allocate(backend, 64, &error);
        for (int k = 0; k < 40; k++) ig_metal_backend_deallocate(backend, p[k], 64);
    }
    assert_null(ig_metal_backend_allocate(backend, 0, &error));
    assert_null(error);

    MTLComputePipelineState *p =
        ig_metal_backend_create_compute_pipeline(backend, "add_kernel", &error);
    assert_ptr_equal(p, ig_metal_backend_get_compute_pipeline(backend, "add_kernel"));
    assert_null(ig_metal_backend_get_compute_pipeline(backend, "my_kernel"));
    CHECK(ig_metal_backend_load_library_from_source(
        backend, "kernel void my_kernel(device float *x [[buffer(0)]]) { x[0] = 7; }", &error));
    assert_null(ig_metal_backend_get_compute_pipeline(backend, "my_kernel"));
    CHECK(ig_metal_backend_create_compute_pipeline(backend, "my_kernel", &error));
    assert_non_null(ig_metal_backend_get_compute_pipeline(backend, "my_kernel"));
    IgMetalOps *more = ig_metal_ops_new(backend, &error); // compiles nothing again
    CHECK(more);
    ig_metal_ops_release(more);
}

typedef struct Mine {
    MTLComputePipelineState *pipeline;
    MTLBuffer *buffer;
} Mine;
static void encode_mine(void *context, MTLComputeCommandEncoder *e) {
    const Mine *m = context;
    mtl_compute_command_encoder_set_compute_pipeline_state(e, m->pipeline);
    mtl_compute_command_encoder_set_buffer(e, m->buffer, 0, 0);
    mtl_compute_command_encoder_dispatch_threads(e, mtl_size_make(1, 1, 1), mtl_size_make(1, 1, 1));
}

static void a_command_of_ones_own(void **state) {
    (void)state;
    float *x = ig_metal_backend_allocate(backend, 4, &error);
    Mine mine = {ig_metal_backend_create_compute_pipeline(backend, "my_kernel", &error), NULL};
    CHECK(mine.pipeline && ig_metal_backend_get_buffer_info(backend, x, &mine.buffer, NULL, NULL));
    CHECK(ig_metal_backend_execute_compute_command(backend, encode_mine, &mine, &error));
    assert_true(*x == 7);
    const float five = 5;
    float back = 0;
    CHECK(ig_metal_backend_copy_from_host(backend, x, &five, 4, &error));
    CHECK(ig_metal_backend_copy_to_host(backend, &back, x, 4, &error));
    assert_true(*x == 5 && back == 5);
    ig_metal_backend_deallocate(backend, x, 4);
}

// ---- Errors ----
static void errors(void **state) {
    (void)state;
    float host[8] = {0};
    MTLBuffer *buffer =
        ig_metal_backend_create_buffer(backend, 16, MTLResourceStorageModeShared, &error);
    float *p = ig_metal_backend_allocate(backend, 16, &error);
    FAILS(ig_metal_backend_copy_buffer_to_host(backend, buffer, host, 12, &error), IgErrorMemory,
          "Buffer size mismatch: the buffer has 16 bytes, the host memory 12");
    FAILS(ig_metal_backend_copy_host_to_buffer(backend, buffer, host, 32, &error), IgErrorMemory,
          "Buffer size mismatch");
    FAILS(ig_metal_backend_copy_from_host(backend, p, host, 32, &error), IgErrorMemory, "has 16");
    FAILS(ig_metal_backend_copy_from_host(backend, NULL, host, 4, &error), IgErrorMemory, "NULL");
    FAILS(ig_metal_backend_copy_to_host(backend, NULL, p, 4, &error), IgErrorMemory, "NULL");
    FAILS(ig_metal_backend_copy_to_host(backend, host, host, 4, &error), IgErrorMemory,
          "no allocation of this back-end");
    CHECK(ig_metal_backend_copy_from_host(backend, NULL, NULL, 0, &error));
    FAILS(ig_metal_backend_create_buffer(backend, 0, 0, &error), IgErrorArgument, "0 bytes");
    FAILS(ig_metal_backend_create_buffer(backend, SIZE_MAX / 2, 0, &error), IgErrorMemory, "bytes");
    FAILS(ig_metal_backend_create_buffer_with_data(backend, NULL, 4, 0, &error), IgErrorArgument,
          "no data");
    FAILS(ig_metal_ops_add(ops, buffer, buffer, NULL, 4, &error), IgErrorMemory, "third");
    FAILS(ig_metal_ops_add(ops, buffer, buffer, buffer, 5, &error), IgErrorMemory,
          "has 16 bytes, 20 are needed");
    FAILS(ig_metal_ops_matmul(ops, buffer, buffer, buffer, 2, 2, 3, &error), IgErrorMemory,
          "24 are needed");
    FAILS(ig_metal_ops_matmul(ops, buffer, buffer, buffer, SIZE_MAX, 2, 2, &error), IgErrorArgument,
          "too large");
    FAILS(ig_metal_ops_relu_ptr(ops, host, p, 4, &error), IgErrorMemory, "first pointer");
    FAILS(ig_metal_ops_relu_ptr(ops, p, NULL, 4, &error), IgErrorMemory, "second pointer is NULL");
    FAILS(ig_metal_ops_relu_ptr(ops, p + 1, p, 1, &error), IgErrorMemory, "no allocation");
    FAILS(ig_metal_ops_add(NULL, buffer, buffer, buffer, 4, &error), IgErrorArgument, "no oper");
    CHECK(ig_metal_ops_add(ops, buffer, buffer, buffer, 0, &error));
    FAILS(ig_metal_backend_load_library_from_source(backend, "kernel void", &error),
          IgErrorCompilation, "error");
    FAILS(ig_metal_backend_create_compute_pipeline(backend, "nothing", &error), IgErrorCompilation,
          "function not found");
    IgMetalBackend *fresh = ig_metal_backend_initialize(&error);
    FAILS(ig_metal_backend_create_compute_pipeline(fresh, "add_kernel", &error), IgErrorCompilation,
          "no library is loaded");
    ig_metal_backend_release(fresh);
    FAILS(ig_metal_ops_new(NULL, &error), IgErrorArgument, "no back-end");
    FAILS(ig_metal_backend_allocate(NULL, 4, &error), IgErrorArgument, "no back-end");
    ig_metal_backend_release(NULL);
    ig_metal_ops_release(NULL);
    mtl_release(buffer);
    ig_metal_backend_deallocate(backend, p, 16);
}

// ---- Threads ----
static void *work(void *context) {
    uintptr_t me = (uintptr_t)context;
    for (int i = 0; i < 50; i++) {
        MTLError *e = NULL;
        size_t n = 16 + me * 3;
        float *a = ig_metal_backend_allocate(backend, n * 4, &e);
        float *b = ig_metal_backend_allocate(backend, n * 4, &e);
        if (!a || !b) return "no memory";
        for (size_t k = 0; k < n; k++) a[k] = (float)(me + k);
        if (!ig_metal_ops_add_ptr(ops, a, a, b, n, &e)) return "no sum";
        for (size_t k = 0; k < n; k++)
            if (b[k] != 2 * a[k]) return "a wrong sum";
        ig_metal_backend_deallocate(backend, a, n * 4);
        ig_metal_backend_deallocate(backend, b, n * 4);
    }
    return NULL;
}

static void from_many_threads(void **state) {
    (void)state;
    pthread_t threads[4];
    for (uintptr_t i = 0; i < 4; i++)
        assert_int_equal(pthread_create(&threads[i], NULL, work, (void *)(i + 1)), 0);
    for (int i = 0; i < 4; i++) {
        void *wrong;
        pthread_join(threads[i], &wrong);
        if (wrong) fail_msg("%s", (const char *)wrong);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(memory_model),
        cmocka_unit_test(element_wise_operation),
        cmocka_unit_test(matrix_operations),
        cmocka_unit_test(activation_functions),
        cmocka_unit_test(thread_group_optimization),
        cmocka_unit_test(memory_strategies),
        cmocka_unit_test(debug_information),
        cmocka_unit_test(buffers_are_tracked),
        cmocka_unit_test(a_command_of_ones_own),
        cmocka_unit_test(errors),
        cmocka_unit_test(from_many_threads),
    };
    return cmocka_run_group_tests(tests, setup, teardown);
}
