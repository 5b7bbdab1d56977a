// SPDX-License-Identifier: Apache-2.0
// test_views.c: pools of texture views on the fake driver, in the program and in a process of its
// own. A kernel there says what it finds behind a number.
#include "rig.h"
#include "abi/pixel_format.h"

extern const DevTable hosted_cuda_device;

static const AbiPixelFormat r8 = {.name = "R8", .value = 10},
                            rgba8 = {.name = "RGBA8", .value = 70};

typedef struct Bench {
    const DevTable *table;
    void *device;
    DevCode *code;
    DevMemory out;
} Bench;

static Bench open_bench(const DevTable *table) {
    static RfArg args[2] = {{.kind = RF_ARG_BUFFER, .count = 1, .slot = 0}};
    static RfFunction function = {.n_slots = 2, .args = args, .n_args = 1};
    static const char text[] = "// fake: show_view\n";
    char why[256] = "", bytes[sizeof(CudaKernelInfo) + sizeof text];
    DevFacts facts;
    Bench b = {.table = table, .device = table->open(0, &facts, why, sizeof why)};
    if (!b.device) fail_msg("no device: %s", why);
    assert_true(facts.features & DEV_VIEW_POOLS);
    CudaKernelInfo info = {.magic = CUDA_KERNEL_MAGIC, .abi = ABI_VERSION, .n_slots = 2};
    memcpy(bytes, &info, sizeof info);
    memcpy(bytes + sizeof info, text, sizeof text);
    DevCodeSource source = {.bytes = bytes, .n_bytes = sizeof bytes, .function = &function};
    b.code = table->code_load(b.device, &source, why, sizeof why);
    if (!b.code) fail_msg("no code: %s", why);
    assert_true(table->memory_make(b.device, 4096, DEV_PRIVATE, &b.out));
    return b;
}

static void close_bench(Bench *b) {
    b->table->memory_free(b->device, &b->out);
    b->table->code_free(b->code);
    b->table->close(b->device);
}

// What a kernel finds behind an id.
static void assert_shows(Bench *b, uint64_t id, uint32_t width, uint32_t format) {
    void *args[2] = {b->out.address, (void *)(uintptr_t)(id & (ABI_VIEW_POOL_SLOTS - 1))};
    DevDispatch d = {.code = b->code,
                     .args = args,
                     .threads_per_grid = {1, 1, 1},
                     .groups_per_grid = {1, 1, 1},
                     .group_size = {1, 1, 1}};
    DevRun run = {.context = b->device};
    uint32_t found[2] = {77, 77};
    assert_true(b->table->run_begin(&run, (DevLimits){0}));
    atomic_store(&run.kernel, "show_view");
    b->table->dispatch(&run, &d, 1);
    b->table->run_end(&run);
    assert_int_equal(atomic_load(&run.fault), DEV_FAULT_NONE);
    assert_true(b->table->copy(DEV_OUTSIDE(b->device), found, b->out.address, sizeof found));
    assert_int_equal(found[0], width);
    assert_int_equal(found[1], format);
}

static AbiTexture view_of(uint32_t width, const AbiPixelFormat *format) {
    return (AbiTexture){.width = width, .height = 1, .n_levels = 1, .format = format};
}

static void views_are_found(const DevTable *table) {
    Bench b = open_bench(table);
    assert_shows(&b, 0, 0, 0); // there is no pool
    uint64_t first = table->views_take(b.device, 100), second = table->views_take(b.device, 3);
    assert_int_equal(first & ~(ABI_VIEW_POOL_SLOTS - 1), ABI_TEXTURE_POOLED);
    assert_int_equal(second, first + 100);
    assert_shows(&b, first + 7, 0, 0);
    assert_null(table->view_at(b.device, first + 7));
    AbiTexture view = view_of(32, &rgba8);
    assert_true(table->view_set(b.device, first + 7, &view));
    view = view_of(64, &r8);
    assert_true(table->view_set(b.device, second + 2, &view));
    assert_shows(&b, first + 7, 32, 70);
    assert_shows(&b, second + 2, 64, 10);
    assert_shows(&b, first + 8, 0, 0);
    assert_int_equal(table->view_at(b.device, second + 2)->width, 64);
    assert_null(table->view_at(b.device, 7)); // that is no id
    // Another view in its place, and none.
    view = view_of(16, &r8);
    assert_true(table->view_set(b.device, first + 7, &view));
    assert_shows(&b, first + 7, 16, 10);
    view = (AbiTexture){0};
    assert_true(table->view_set(b.device, first + 7, &view));
    assert_shows(&b, first + 7, 0, 0);
    assert_null(table->view_at(b.device, first + 7));
    view = view_of(8, &r8);
    assert_true(table->view_set(b.device, first + 7, &view));
    assert_shows(&b, first + 7, 8, 10);
    // A pool that is gone leaves nothing behind, and its numbers come again.
    table->views_give(b.device, first, 100);
    assert_shows(&b, first + 7, 0, 0);
    assert_null(table->view_at(b.device, first + 7));
    assert_shows(&b, second + 2, 64, 10);
    assert_int_equal(table->views_take(b.device, 50), first);
    assert_shows(&b, first + 7, 0, 0);
    // All there are, and one more.
    assert_int_equal(table->views_take(b.device, ABI_VIEW_POOL_SLOTS), 0);
    assert_int_equal(table->views_take(b.device, ABI_VIEW_POOL_SLOTS - 103), second + 3);
    assert_int_equal(table->views_take(b.device, 51), 0);
    close_bench(&b);
}

static void in_the_program(void **state) {
    (void)state;
    views_are_found(&cuda_device);
}

static void in_another_process(void **state) {
    (void)state;
    views_are_found(&hosted_cuda_device);
}

// Without memory there is no pool, or no view: what was there stays.
static void no_memory(void **state) {
    (void)state;
    Bench b = open_bench(&cuda_device);
    fake_fail(FAKE_ALLOC, 0, CUDA_ERROR_OUT_OF_MEMORY);
    assert_int_equal(cuda_device.views_take(b.device, 4), 0);
    uint64_t first = cuda_device.views_take(b.device, 4);
    assert_int_not_equal(first, 0);
    AbiTexture view = view_of(32, &rgba8);
    fake_fail(FAKE_ALLOC, 0, CUDA_ERROR_OUT_OF_MEMORY); // the first records
    assert_false(cuda_device.view_set(b.device, first, &view));
    assert_shows(&b, first, 0, 0);
    assert_true(cuda_device.view_set(b.device, first, &view));
    assert_shows(&b, first, 32, 70);
    close_bench(&b);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(in_the_program),
        cmocka_unit_test(in_another_process),
        cmocka_unit_test(no_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
