// SPDX-License-Identifier: Apache-2.0
// test_indirect_stress.c: argument buffers and indirect commands together and under pressure:
// tables and textures behind indirect commands, many threads, two queues, commands of random
// content, and an allocation that fails, whichever it is.
#include "failing_memory.h"

static MTLCommandQueue *queue;
static MTLLibrary *library;
static MTLComputePipelineState *add;

static const char source[] =
    HEAD "kernel void add(device uint *x [[buffer(0)]], constant uint &amount [[buffer(1)]],\n"
         "                threadgroup uint *t [[threadgroup(0)]],\n"
         "                uint i [[thread_position_in_grid]],\n"
         "                uint k [[thread_index_in_threadgroup]]) {\n"
         "  t[k % 4] = amount; simdgroup_barrier(mem_flags::mem_threadgroup); x[i] += t[k % 4]; }\n"
         "[[visible]] uint twice(uint x) { return 2 * x; }\n"
         "[[visible]] uint next(uint x) { return x + 1; }\n"
         "struct Shared { visible_function_table<uint(uint)> table [[id(0)]];\n"
         "  texture2d<uint, access::read_write> image [[id(1)]]; uint base [[id(2)]]; };\n"
         "kernel void through(constant Shared &s [[buffer(0)]], constant uint &row [[buffer(1)]],\n"
         "                    uint i [[thread_position_in_grid]]) {\n"
         "  uint v = s.table[i % 2](s.base + i);\n"
         "  s.image.write(uint4(v + 100 * row), uint2(i, row)); }\n"
         "struct Fill { command_buffer icb; compute_pipeline_state add; device uint *x;\n"
         "  constant uint *amount; };\n"
         "kernel void fill(constant Fill &f [[buffer(0)]], constant uint &n [[buffer(1)]],\n"
         "                 uint i [[thread_position_in_grid]]) {\n"
         "  compute_command c(f.icb, i); c.reset();\n"
         "  c.set_compute_pipeline_state(f.add);\n"
         "  c.set_kernel_buffer(f.x + n * i, 0); c.set_kernel_buffer(f.amount, 1);\n"
         "  c.set_threadgroup_memory_length(16, 0);\n"
         "  c.concurrent_dispatch_threads(uint3(n, 1, 1), uint3(n, 1, 1)); }\n";

static MTLComputePipelineState *indirect_pipeline(const char *name,
                                                  const MTLLinkedFunctions *linked,
                                                  MTLError **error) {
    MTLFunction *function = mtl_library_new_function(library, name);
    if (!function) return NULL;
    MTLComputePipelineState *p = mtl_device_new_compute_pipeline_state_with_descriptor(
        device,
        &(MTLComputePipelineDescriptor){.compute_function = function,
                                        .linked_functions = linked,
                                        .support_indirect_command_buffers = true},
        0, NULL, error);
    mtl_release(function);
    return p;
}

static int open_all(void **state) {
    setenv("INGOT_SYNC_SPECIALISE", "1",
           1); // no compiling in the background while blocks are counted
    mtl_set_allocator(&counting);
    if (open_device(state) != 0) return -1;
    queue = mtl_device_new_command_queue(device);
    library = compile(source);
    add = indirect_pipeline("add", NULL, NULL);
    return add ? 0 : -1;
}

static int close_all(void **state) {
    mtl_release(add), mtl_release(library), mtl_release(queue);
    return close_device(state);
}

static MTLIndirectCommandBuffer *new_icb(size_t n) {
    return mtl_device_new_indirect_command_buffer(
        device,
        &(MTLIndirectCommandBufferDescriptor){.command_types =
                                                  MTLIndirectCommandTypeConcurrentDispatch |
                                                  MTLIndirectCommandTypeConcurrentDispatchThreads,
                                              .max_kernel_buffer_bind_count = 2,
                                              .max_kernel_threadgroup_memory_bind_count = 1},
        n, 0);
}

static MTLIndirectComputeCommand *at(MTLIndirectCommandBuffer *icb, size_t i) {
    return mtl_indirect_command_buffer_indirect_compute_command_at_index(icb, i);
}

static void encode_add(MTLIndirectCommandBuffer *icb, size_t i, MTLBuffer *x, size_t first,
                       size_t n, MTLBuffer *amount) {
    MTLIndirectComputeCommand *c = at(icb, i);
    mtl_indirect_compute_command_set_compute_pipeline_state(c, add);
    mtl_indirect_compute_command_set_kernel_buffer(c, x, 4 * first, 0);
    mtl_indirect_compute_command_set_kernel_buffer(c, amount, 0, 1);
    mtl_indirect_compute_command_set_threadgroup_memory_length(c, 16, 0);
    mtl_indirect_compute_command_concurrent_dispatch_threads(c, mtl_size_make(n, 1, 1),
                                                             mtl_size_make(n, 1, 1));
}

// Commits an execution of the whole buffer; the caller waits and releases. NULL: no memory.
static MTLCommandBuffer *execute(MTLCommandQueue *on, MTLIndirectCommandBuffer *icb, MTLBuffer *x) {
    MTLCommandBuffer *commands = mtl_command_queue_command_buffer(on);
    MTLComputeCommandEncoder *e = mtl_command_buffer_compute_command_encoder(commands);
    mtl_compute_command_encoder_use_resource(e, (MTLResource *)x, MTLResourceUsageWrite);
    mtl_compute_command_encoder_execute_commands_in_buffer(
        e, icb, mtl_range_make(0, mtl_indirect_command_buffer_size(icb)));
    mtl_compute_command_encoder_end_encoding(e);
    mtl_command_buffer_commit(commands);
    return commands;
}

// ---- Tables and textures in an argument buffer, kernels started by indirect commands ----

static void test_table_and_texture(void **state) {
    (void)state;
    enum { width = 8, rows = 40 };
    clear_messages();
    MTLFunction *functions[2] = {mtl_library_new_function(library, "twice"),
                                 mtl_library_new_function(library, "next")};
    MTLError *error = NULL;
    MTLComputePipelineState *p = indirect_pipeline(
        "through", &(MTLLinkedFunctions){.functions = functions, .function_count = 2}, &error);
    if (!p) fail_msg("%s", mtl_error_localized_description(error));
    MTLVisibleFunctionTable *table = mtl_compute_pipeline_state_new_visible_function_table(
        p, &(MTLVisibleFunctionTableDescriptor){.function_count = 2});
    for (size_t i = 0; i < 2; i++)
        mtl_visible_function_table_set_function(
            table, mtl_compute_pipeline_state_function_handle(p, functions[i]), i);
    MTLTextureDescriptor d = mtl_texture_descriptor_2d(MTLPixelFormatR32Uint, width, rows, false);
    d.usage = MTLTextureUsageShaderRead | MTLTextureUsageShaderWrite;
    MTLTexture *image = mtl_device_new_texture(device, &d);
    assert_non_null(image);

    MTLFunction *function = mtl_library_new_function(library, "through");
    MTLArgumentEncoder *encoder = mtl_function_new_argument_encoder(function, 0);
    MTLBuffer *shared =
        mtl_device_new_buffer(device, mtl_argument_encoder_encoded_length(encoder), 0);
    mtl_argument_encoder_set_argument_buffer(encoder, shared, 0);
    mtl_argument_encoder_set_visible_function_tables(encoder, &table, mtl_range_make(0, 1));
    mtl_argument_encoder_set_texture(encoder, image, 1);
    *(uint32_t *)mtl_argument_encoder_constant_data(encoder, 2) = 10;
    uint32_t numbers[rows];
    for (uint32_t i = 0; i < rows; i++) numbers[i] = i;
    MTLBuffer *row = mtl_device_new_buffer_with_bytes(device, numbers, sizeof numbers, 0);
    MTLIndirectCommandBuffer *icb = new_icb(rows);
    for (size_t i = 0; i < rows; i++) {
        MTLIndirectComputeCommand *c = at(icb, i);
        mtl_indirect_compute_command_set_compute_pipeline_state(c, p);
        mtl_indirect_compute_command_set_kernel_buffer(c, shared, 0, 0);
        mtl_indirect_compute_command_set_kernel_buffer(c, row, 4 * i, 1);
        mtl_indirect_compute_command_concurrent_dispatch_threadgroups(
            c, mtl_size_make(2, 1, 1), mtl_size_make(width / 2, 1, 1));
    }
    assert_int_equal(n_messages, 0);
    MTLCommandBuffer *commands = execute(queue, icb, shared);
    mtl_command_buffer_wait_until_completed(commands);
    assert_completed(commands);
    uint32_t texels[rows][width];
    mtl_texture_get_bytes(image, texels, sizeof texels[0], mtl_region_make_2d(0, 0, width, rows),
                          0);
    for (uint32_t y = 0; y < rows; y++)
        for (uint32_t x = 0; x < width; x++)
            assert_int_equal(texels[y][x], (x % 2 ? 10 + x + 1 : 2 * (10 + x)) + 100 * y);
    mtl_release(commands), mtl_release(icb), mtl_release(row), mtl_release(shared);
    mtl_release(encoder), mtl_release(function), mtl_release(image), mtl_release(table);
    mtl_release(p), mtl_release(functions[0]), mtl_release(functions[1]);
}

// ---- Threads ----

enum { N_THREADS = 8, PER_THREAD = 50 };
static MTLIndirectCommandBuffer *shared_icb;
static MTLBuffer *shared_x, *one;

static void *encode_some(void *argument) {
    size_t t = (size_t)(uintptr_t)argument;
    for (size_t i = 0; i < PER_THREAD; i++) {
        size_t k = t * PER_THREAD + i;
        encode_add(shared_icb, k, shared_x, 4 * k, 4, one);
    }
    // And its own buffer, executed at once.
    MTLIndirectCommandBuffer *mine = new_icb(3);
    MTLBuffer *x = mtl_device_new_buffer(device, 64, 0);
    for (size_t i = 0; i < 3; i++) encode_add(mine, i, x, 4 * i, 4, one);
    for (int round = 0; round < 10; round++) {
        MTLCommandBuffer *commands = execute(queue, mine, x);
        mtl_command_buffer_wait_until_completed(commands);
        mtl_release(commands);
    }
    bool right = true;
    for (int i = 0; i < 12; i++) right = right && ((uint32_t *)mtl_buffer_contents(x))[i] == 10;
    mtl_release(mine), mtl_release(x);
    return right ? NULL : argument;
}

static void test_threads(void **state) {
    (void)state;
    enum { n = N_THREADS * PER_THREAD };
    uint32_t amount = 1;
    shared_icb = new_icb(n);
    shared_x = mtl_device_new_buffer(device, 16 * n, 0);
    one = mtl_device_new_buffer_with_bytes(device, &amount, 4, 0);
    pthread_t threads[N_THREADS];
    for (size_t t = 0; t < N_THREADS; t++)
        pthread_create(&threads[t], NULL, encode_some, (void *)(uintptr_t)t);
    for (size_t t = 0; t < N_THREADS; t++) {
        void *wrong;
        pthread_join(threads[t], &wrong);
        assert_null(wrong);
    }
    MTLCommandBuffer *commands = execute(queue, shared_icb, shared_x);
    mtl_command_buffer_wait_until_completed(commands);
    assert_completed(commands);
    for (int i = 0; i < 4 * n; i++)
        assert_int_equal(((uint32_t *)mtl_buffer_contents(shared_x))[i], 1);
    mtl_release(commands), mtl_release(shared_icb), mtl_release(shared_x), mtl_release(one);
}

// Encoded by a kernel on one queue, executed on another: the tracked resource orders them.
static void test_two_queues(void **state) {
    (void)state;
    enum { n = 64, each = 4 };
    MTLCommandQueue *other = mtl_device_new_command_queue(device);
    MTLFunction *function = mtl_library_new_function(library, "fill");
    MTLComputePipelineState *fill = mtl_device_new_compute_pipeline_state(device, function, NULL);
    uint32_t amount = 3, count = each;
    MTLBuffer *x = mtl_device_new_buffer(device, 4 * n * each, 0);
    MTLBuffer *amounts = mtl_device_new_buffer_with_bytes(device, &amount, 4, 0);
    for (uint32_t round = 1; round <= 20; round++) {
        MTLIndirectCommandBuffer *icb = new_icb(n);
        struct {
            MTLResourceID icb, add;
            uint64_t x, amount;
        } f = {mtl_indirect_command_buffer_gpu_resource_id(icb),
               mtl_compute_pipeline_state_gpu_resource_id(add), mtl_buffer_gpu_address(x),
               mtl_buffer_gpu_address(amounts)};
        MTLCommandBuffer *first = mtl_command_queue_command_buffer(queue);
        MTLComputeCommandEncoder *e = mtl_command_buffer_compute_command_encoder(first);
        mtl_compute_command_encoder_set_compute_pipeline_state(e, fill);
        mtl_compute_command_encoder_set_bytes(e, &f, sizeof f, 0);
        mtl_compute_command_encoder_set_bytes(e, &count, sizeof count, 1);
        mtl_compute_command_encoder_use_resource(e, (MTLResource *)icb, MTLResourceUsageWrite);
        mtl_compute_command_encoder_dispatch_threads(e, mtl_size_make(n, 1, 1),
                                                     mtl_size_make(32, 1, 1));
        mtl_compute_command_encoder_end_encoding(e);
        mtl_command_buffer_commit(first);
        MTLCommandBuffer *second = execute(other, icb, x);
        mtl_release(icb); // the command buffers hold it
        mtl_command_buffer_wait_until_completed(second);
        assert_completed(first);
        assert_completed(second);
        mtl_release(first), mtl_release(second);
        for (int i = 0; i < n * each; i++)
            assert_int_equal(((uint32_t *)mtl_buffer_contents(x))[i], 3 * round);
    }
    mtl_release(x), mtl_release(amounts), mtl_release(fill), mtl_release(function);
    mtl_release(other);
}

// ---- Random content ----

static void test_random_commands(void **state) {
    (void)state;
    enum { n = 6, rounds = 400 };
    static const uint32_t odd[] = {0,  1,    2,    3,     15,         16,         17,        31,
                                   32, 1023, 1024, 65536, 0x7fffffff, 0x80000000, 0xffffffff};
    MTLIndirectCommandBuffer *icb = new_icb(n);
    MTLBuffer *x = mtl_device_new_buffer(device, 1 << 20, 0);
    uint32_t amount = 1, seed = 7, n_good = 0, n_bad = 0;
    MTLBuffer *amounts = mtl_device_new_buffer_with_bytes(device, &amount, 4, 0);
    NEEDS_HOST_MEMORY();
    char *head = (char *)(uintptr_t)mtl_indirect_command_buffer_gpu_resource_id(icb).impl;
    uint32_t stride = ((uint32_t *)(void *)head)[1];
    for (int round = 0; round < rounds; round++) {
        for (size_t i = 0; i < n; i++) encode_add(icb, i, x, 64 * i, 8, amounts);
        for (int k = 0; k < 2; k++) {
            seed = seed * 1664525u + 1013904223u;
            uint32_t command = seed >> 8 & 7, word = seed >> 12 & 15;
            uint32_t value = odd[(seed >> 20) % (sizeof odd / sizeof *odd)];
            // Not the addresses (a kernel may write wherever they point) nor grids that take for
            // ever.
            bool grid = word >= 4 && word < 7, address = word >= 10 && word < 14;
            if (command >= n || address || word > 14) continue;
            uint32_t *record = (uint32_t *)(void *)(head + 64 + command * (size_t)stride);
            record[word] = grid ? value % 5 : value;
        }
        MTLCommandBuffer *commands = execute(queue, icb, x);
        mtl_command_buffer_wait_until_completed(commands);
        if (mtl_command_buffer_status(commands) == MTLCommandBufferStatusCompleted) {
            n_good++;
        } else {
            n_bad++;
            const char *text = mtl_error_localized_description(mtl_command_buffer_error(commands));
            if (strncmp(text, "Command ", 8) != 0) fail_msg("%s", text);
        }
        mtl_release(commands);
    }
    assert_true(n_good > 20 && n_bad > 20); // both ways were taken
    mtl_release(icb), mtl_release(x), mtl_release(amounts);
}

// ---- Memory ----

// Everything once; false if something could not be made. What is said to be done is done.
static bool everything(MTLBuffer *x, MTLBuffer *amount, MTLFunction *function) {
    bool ok = false;
    uint32_t *values = mtl_buffer_contents(x);
    memset(values, 0, 4 * 4 * 70);
    MTLBinding *binding = NULL;
    MTLCommandBuffer *commands = NULL;
    MTLIndirectCommandBuffer *icb = new_icb(70);
    MTLArgumentEncoder *encoder =
        mtl_function_new_argument_encoder_with_reflection(function, 0, &binding);
    MTLArgumentEncoder *described = mtl_device_new_argument_encoder(
        device, &(MTLArgumentDescriptor){.data_type = MTLDataTypePointer}, 1);
    if (!icb || !encoder || !described || !at(icb, 0)) goto end;
    for (size_t i = 0; i < 70; i++) encode_add(icb, i, x, 4 * i, 4, amount);
    commands = mtl_command_queue_command_buffer(queue);
    MTLComputeCommandEncoder *e =
        commands ? mtl_command_buffer_compute_command_encoder(commands) : NULL;
    if (!e) goto end;
    mtl_compute_command_encoder_execute_commands_in_buffer(e, icb, mtl_range_make(0, 70));
    mtl_compute_command_encoder_end_encoding(e);
    commit_and_wait(commands);
    ok = mtl_command_buffer_status(commands) == MTLCommandBufferStatusCompleted;
    for (size_t i = 0; ok && computes() && i < 4 * 70; i++) assert_int_equal(values[i], 1);
    if (!ok)
        assert_non_null(
            strstr(mtl_error_localized_description(mtl_command_buffer_error(commands)), "memory"));
end:
    mtl_release(commands), mtl_release(described), mtl_release(encoder), mtl_release(binding);
    mtl_release(icb);
    return ok;
}

static void test_no_memory(void **state) {
    (void)state;
    uint32_t value = 1;
    MTLBuffer *x = mtl_device_new_buffer(device, 4 * 4 * 70, 0);
    MTLBuffer *amount = mtl_device_new_buffer_with_bytes(device, &value, 4, 0);
    MTLFunction *function = mtl_library_new_function(library, "through");
    assert_true(everything(x, amount, function)); // what is made once is there now
    long before = atomic_load(&alive), k = 0;
    fails_on = true;
    for (;; k++) {
        atomic_store(&failed, false);
        atomic_store(&countdown, k);
        bool ok = everything(x, amount, function);
        bool hit = atomic_load(&failed);
        atomic_store(&countdown, -1);
        // A device that only queues commands may wait for them instead of remembering them.
        bool may = mtl_device_has_unified_memory(device) ? !hit : true;
        if (ok ? !may : !hit) fail_msg("allocation %ld", k);
        if (left_behind(&before)) fail_msg("allocation %ld left something", k);
        if (!hit) break;
    }
    assert_true(k > 10);
    mtl_release(x), mtl_release(amount), mtl_release(function);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_table_and_texture), cmocka_unit_test(test_threads),
        cmocka_unit_test(test_two_queues),        cmocka_unit_test(test_random_commands),
        cmocka_unit_test(test_no_memory),
    };
    return cmocka_run_group_tests(tests, open_all, close_all);
}
