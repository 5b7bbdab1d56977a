// SPDX-License-Identifier: Apache-2.0
// test_border.c: libIngotFace as Swift calls it, from C: messages, strings, arrays, errors, blocks,
// and the table of Swift's objects.
#include "../unit.h"
#include "calls.h"
#include <pthread.h>
#include <stdatomic.h>
#include <string.h>
#include <unistd.h>

static bool text_is(void *string, const char *wanted) { // takes the reference
    size_t n = 0;
    const char *text = ingot_text(string, &n);
    bool same = n == strlen(wanted) && !memcmp(text, wanted, n);
    ingot_release(string);
    return same;
}

static const char source[] =
    "kernel void twice(device float *a [[buffer(0)]], uint i [[thread_position_in_grid]]) {\n"
    "    a[i] *= 2;\n}\n";

TEST(compute) {
    void *device = ingot_create_device(), *error = NULL;
    assert_non_null(device);
    void *library =
        ingot_MTLDevice_newLibraryWithSource_options_error_(device, source, NULL, &error);
    assert_non_null(library);
    assert_null(error);
    void *function = ingot_MTLLibrary_newFunctionWithName_(library, "twice");
    void *pipeline =
        ingot_MTLDevice_newComputePipelineStateWithFunction_error_(device, function, &error);
    float values[4] = {1, 2, 3, 4};
    void *buffer =
        ingot_MTLDevice_newBufferWithBytes_length_options_(device, values, sizeof values, 0);
    void *queue = ingot_MTLDevice_newCommandQueue(device);
    void *commands = ingot_MTLCommandQueue_commandBuffer(queue);
    void *encoder = ingot_MTLCommandBuffer_computeCommandEncoder(commands);
    ingot_MTLComputeCommandEncoder_setComputePipelineState_(encoder, pipeline);
    ingot_MTLComputeCommandEncoder_setBuffer_offset_atIndex_(encoder, buffer, 0, 0);
    ingot_MTLComputeCommandEncoder_dispatchThreads_threadsPerThreadgroup_(
        encoder, (C_MTLSize){4, 1, 1}, (C_MTLSize){4, 1, 1});
    ingot_MTLCommandEncoder_endEncoding(encoder);
    ingot_MTLCommandBuffer_commit(commands);
    ingot_MTLCommandBuffer_waitUntilCompleted(commands);
    const float *result = ingot_MTLBuffer_contents(buffer);
    assert_true(result[0] == 2 && result[3] == 8);
    C_MTLSize most = ingot_MTLDevice_maxThreadsPerThreadgroup(device); // comes back in memory
    assert_true(most.width >= 1024 && most.depth >= 1);
    ingot_MTLResource_setLabel_(buffer, "värden");
    assert_true(text_is(ingot_MTLResource_label(buffer), "värden"));
    void *all[] = {device, library, function, pipeline, buffer, queue, commands, encoder};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) ingot_release(all[i]);
}

TEST(errors) {
    void *device = ingot_create_device(), *error = NULL;
    assert_null(ingot_MTLDevice_newLibraryWithSource_options_error_(device, "kernel void broken(",
                                                                    NULL, &error));
    assert_non_null(error);
    assert_true(text_is(ingot_error_domain(error), "MTLLibraryErrorDomain"));
    assert_int_equal(ingot_error_code(error), 3);
    ingot_release(error);
    ingot_release(device);
}

static atomic_int called, dropped;
static void call(void *box, uintptr_t a, uintptr_t b, uintptr_t c, uintptr_t d) {
    (void)a, (void)b, (void)c, (void)d;
    atomic_fetch_add(&called, *(int *)box);
}
static void drop(void *box) {
    (void)box;
    atomic_fetch_add(&dropped, 1);
}

TEST(block) {
    int five = 5;
    void *device = ingot_create_device(), *queue = ingot_MTLDevice_newCommandQueue(device);
    void *commands = ingot_MTLCommandQueue_commandBuffer(queue);
    void *block = ingot_block(&five, call, drop);
    ingot_MTLCommandBuffer_addCompletedHandler_(commands, block);
    ingot_release(block);
    assert_int_equal(atomic_load(&dropped), 0); // the command buffer has it
    ingot_MTLCommandBuffer_commit(commands);
    ingot_MTLCommandBuffer_waitUntilCompleted(commands);
    ingot_release(commands);
    for (int i = 0; i < 1000 && !atomic_load(&dropped); i++) usleep(1000);
    assert_int_equal(atomic_load(&called), 5);
    assert_int_equal(atomic_load(&dropped), 1);
    ingot_release(queue);
    ingot_release(device);
}

TEST(values) {
    const char *words[] = {"a", "b"};
    void *array = ingot_strings(words, 2);
    assert_int_equal(ingot_count(array), 2);
    assert_true(text_is(ingot_item(array, 1), "b"));
    void *key = ingot_text_object("key"), *value = ingot_number(2.5, false);
    void *dictionary = ingot_dictionary(&key, &value, 1), *got = ingot_value(dictionary, key);
    assert_true(ingot_is_number(got) && ingot_number_value(got) == 2.5);
    long sizes[] = {3, 4};
    void *extents = ingot_extents(sizes, 2);
    assert_int_equal(ingot_extent(extents, 1), 4);
    void *options = ingot_new("MTLCompileOptions");
    ingot_set_macros(options, dictionary);
    void *macros = ingot_macros(options);
    assert_int_equal(ingot_count(macros), 1);
    void *all[] = {array, key, value, dictionary, got, extents, options, macros};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) ingot_release(all[i]);
}

// ---- Swift's objects: here an integer that says how many references it has ----

static void *try_retain(void *swift) {
    atomic_int *count = swift;
    int n = atomic_load(count);
    while (n > 0)
        if (atomic_compare_exchange_weak(count, &n, n + 1)) return swift;
    return NULL;
}

TEST(known) {
    enum { N = 5000 };
    static char objects[N][16];
    static atomic_int counts[N];
    ingot_begin(try_retain);
    for (int i = 0; i < N; i++) {
        atomic_store(&counts[i], 1);
        assert_null(ingot_known(objects[i]));
        assert_ptr_equal(ingot_know(objects[i], &counts[i]), &counts[i]);
    }
    atomic_int other = 1;
    assert_ptr_equal(ingot_know(objects[7], &other), &counts[7]); // the first one stays
    assert_int_equal(atomic_load(&counts[7]), 2);
    for (int i = 0; i < N; i += 2) ingot_forget(objects[i], &counts[i]);
    for (int i = 0; i < N; i++)
        assert_ptr_equal(ingot_known(objects[i]), i % 2 ? &counts[i] : NULL);
    atomic_store(&counts[9], 0); // about to go: not given any more, and replaced
    assert_null(ingot_known(objects[9]));
    assert_ptr_equal(ingot_know(objects[9], &other), &other);
    ingot_forget(objects[9], &counts[9]); // too late: another stands there
    assert_ptr_equal(ingot_known(objects[9]), &other);
}

static void *hammer(void *arg) {
    static char objects[64][16];
    atomic_int *mine = arg;
    for (int i = 0; i < 200000; i++) {
        void *object = objects[i * 7 % 64], *known = ingot_know(object, mine);
        if (known == mine)
            ingot_forget(object, mine);
        else
            atomic_fetch_sub((atomic_int *)known, 1);
    }
    return NULL;
}

TEST(known_threads) {
    pthread_t threads[8];
    static atomic_int counts[8];
    for (int i = 0; i < 8; i++) {
        atomic_store(&counts[i], 1);
        pthread_create(&threads[i], NULL, hammer, &counts[i]);
    }
    for (int i = 0; i < 8; i++) pthread_join(threads[i], NULL);
    for (int i = 0; i < 8; i++) assert_int_equal(atomic_load(&counts[i]), 1);
}

int main(void) { return unit_run(NULL, NULL); }
