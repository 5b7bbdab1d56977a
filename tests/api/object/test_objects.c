// SPDX-License-Identifier: Apache-2.0
// test_objects.c: devices and buffers, references, labels.
#include "api_test.h"
#include "ingot/classes.h"
#include <sys/mman.h>

static void device_is_one_and_has_apples_limits(void **state) {
    (void)state;
    NEEDS_RESULTS();
    MTLDevice *again = mtl_create_system_default_device();
    assert_ptr_equal(again, device);
    mtl_release(again);
    bool is_cpu = mtl_device_has_unified_memory(device); // GPUs stand behind it
    MTLDevice *all[16] = {0};
    size_t n = mtl_copy_all_devices(all, 16), listed = 0;
    for (size_t i = 0; i < n; i++) listed += all[i] == device;
    assert_int_equal(listed, 1);
    if (is_cpu) assert_ptr_equal(all[0], device);
    for (size_t i = 0; i < n; i++) mtl_release(all[i]);
    assert_int_equal(mtl_copy_all_devices(NULL, 0), n);
    assert_true(strlen(mtl_device_name(device)) > 0);
    assert_true(mtl_device_registry_id(device) != 0);
    MTLSize most = mtl_device_max_threads_per_threadgroup(device);
    assert_int_equal(most.width, 1024);
    assert_int_equal(most.height, 1024);
    assert_int_equal(most.depth, 1024);
    if (is_cpu)
        assert_int_equal(mtl_device_max_threadgroup_memory_length(device), 32768);
    else
        assert_true(mtl_device_max_threadgroup_memory_length(device) >= 32768);
    assert_true(mtl_device_max_buffer_length(device) >= (size_t)1 << 30);
    assert_true(mtl_device_max_buffer_length(device) >=
                mtl_device_recommended_max_working_set_size(device));
    assert_int_equal(mtl_device_supports_family(device, MTLGPUFamilyApple7), is_cpu);
    assert_int_equal(mtl_device_supports_family(device, MTLGPUFamilyMetal3), is_cpu); // it draws
    assert_false(mtl_device_supports_family(device, (MTLGPUFamily)12345));
    assert_true(mtl_device_recommended_max_working_set_size(device) > 0);
    assert_true(mtl_device_worker_count(device) >= 1);
    uint64_t cpu = 0, gpu = 0;
    mtl_device_sample_timestamps(device, &cpu, &gpu);
    assert_true(cpu > 0 && gpu > 0);
}

static void null_is_an_answer(void **state) {
    (void)state;
    assert_null(mtl_retain(NULL));
    mtl_release(NULL);
    assert_int_equal(mtl_retain_count(NULL), 0);
    assert_string_equal(mtl_class_name(NULL), "");
    assert_int_equal(mtl_buffer_length(NULL), 0);
    assert_null(mtl_buffer_contents(NULL));
    assert_string_equal(mtl_buffer_label(NULL), "");
    assert_string_equal(mtl_error_localized_description(NULL), "");
    assert_int_equal(mtl_error_code(NULL), 0);
    clear_messages();
    assert_null(mtl_device_new_buffer(NULL, 16, 0));
    assert_string_equal(last_rule, "null_object");
    assert_null(mtl_device_new_command_queue(NULL));
    assert_null(mtl_command_queue_command_buffer(NULL));
    assert_null(mtl_command_buffer_compute_command_encoder(NULL));
    mtl_command_buffer_commit(NULL);
    mtl_command_buffer_wait_until_completed(NULL);
    mtl_compute_command_encoder_end_encoding(NULL);
    mtl_compute_command_encoder_set_buffer(NULL, NULL, 0, 0);
    assert_int_equal(n_messages, 8);
}

static void *dead;
static void died(void *object) { dead = object; }

static void class_records_are_found_and_ends_are_reported(void **state) {
    (void)state;
    bool buffer = false, layer = false;
    size_t n = 0;
    for (MTLClass *c = mtl_class_next(NULL); c; c = mtl_class_next(c), n++) {
        assert_true(strlen(c->name) > 3);
        buffer |= strcmp(c->name, "MTLBuffer") == 0;
        layer |= strcmp(c->name, "CAMetalLayer") == 0;
    }
    assert_true(buffer && layer && n > 70);
    MTLBuffer *first = mtl_device_new_buffer(device, 16, 0),
              *second = mtl_device_new_buffer(device, 16, 0);
    assert_string_equal((*(MTLClass **)first)->name, "MTLBuffer");
    assert_ptr_equal(*(void **)first, *(void **)second);
    mtl_set_death_watch(died);
    assert_ptr_equal(mtl_retain_if_alive(first), first);
    mtl_release(first);
    assert_null(dead);
    mtl_release(first);
    assert_ptr_equal(dead, first);
    assert_null(mtl_retain_if_alive(NULL));
    mtl_set_death_watch(NULL);
    mtl_release(second);
    assert_ptr_equal(dead, first); // nobody is told
}

static void buffers_are_zeroed_counted_and_named(void **state) {
    (void)state;
    NEEDS_RESULTS();
    uint64_t before = mtl_device_current_allocated_size(device);
    MTLBuffer *buffer = mtl_device_new_buffer(device, 12345, MTLResourceStorageModeShared);
    assert_non_null(buffer);
    assert_string_equal(mtl_class_name(buffer), "MTLBuffer");
    assert_int_equal(mtl_buffer_length(buffer), 12345);
    assert_true(mtl_buffer_allocated_size(buffer) >= 12345);
    assert_int_equal(mtl_device_current_allocated_size(device),
                     before + mtl_buffer_allocated_size(buffer));
    const unsigned char *bytes = mtl_buffer_contents(buffer);
    assert_int_equal((uintptr_t)bytes % 4096, 0);
    for (size_t i = 0; i < 12345; i++) assert_int_equal(bytes[i], 0);
    if (mtl_device_has_unified_memory(device))
        assert_int_equal(mtl_buffer_gpu_address(buffer), (uint64_t)(uintptr_t)bytes);
    else
        assert_true(mtl_buffer_gpu_address(buffer) != 0);
    assert_ptr_equal(mtl_buffer_device(buffer), device);

    assert_string_equal(mtl_buffer_label(buffer), "");
    char label[1001];
    memset(label, 'x', 1000);
    label[1000] = '\0';
    mtl_buffer_set_label(buffer, label);
    assert_string_equal(mtl_buffer_label(buffer), label);
    mtl_buffer_set_label(buffer, "Wärme \xe2\x99\xa8");
    assert_string_equal(mtl_buffer_label(buffer), "Wärme \xe2\x99\xa8");
    mtl_buffer_set_label(buffer, NULL);
    assert_string_equal(mtl_buffer_label(buffer), "");

    assert_int_equal(mtl_retain_count(buffer), 1);
    assert_ptr_equal(mtl_retain(buffer), buffer);
    assert_int_equal(mtl_retain_count(buffer), 2);
    mtl_release(buffer);
    mtl_release(buffer);
    assert_int_equal(mtl_device_current_allocated_size(device), before);
}

static void storage_modes(void **state) {
    (void)state;
    MTLBuffer *private = mtl_device_new_buffer(device, 64, MTLResourceStorageModePrivate);
    clear_messages();
    assert_null(mtl_buffer_contents(private)); // without the debug layer: test_as_a_mac.c
    assert_string_equal(last_rule, "buffer_contents_private");
    assert_true(mtl_buffer_gpu_address(private) != 0);
    assert_int_equal(mtl_buffer_storage_mode(private), MTLStorageModePrivate);
    mtl_release(private);

    MTLBuffer *managed =
        mtl_device_new_buffer(device, 64,
                              MTLResourceStorageModeManaged | MTLResourceCPUCacheModeWriteCombined |
                                  MTLResourceHazardTrackingModeUntracked);
    assert_non_null(mtl_buffer_contents(managed));
    assert_int_equal(mtl_buffer_storage_mode(managed), MTLStorageModeManaged);
    assert_int_equal(mtl_buffer_cpu_cache_mode(managed), MTLCPUCacheModeWriteCombined);
    assert_int_equal(mtl_buffer_hazard_tracking_mode(managed), MTLHazardTrackingModeUntracked);
    assert_int_equal(mtl_buffer_resource_options(managed), 16 | 1 | 256);
    clear_messages();
    mtl_buffer_did_modify_range(managed, mtl_range_make(0, 64));
    assert_int_equal(n_messages, 0);
    mtl_buffer_did_modify_range(managed, mtl_range_make(60, 5));
    assert_string_equal(last_rule, "buffer_modified_range");
    assert_int_equal(mtl_buffer_set_purgeable_state(managed, MTLPurgeableStateVolatile),
                     MTLPurgeableStateNonVolatile);
    assert_int_equal(mtl_buffer_set_purgeable_state(managed, MTLPurgeableStateKeepCurrent),
                     MTLPurgeableStateVolatile);
    mtl_release(managed);

    MTLBuffer *shared = mtl_device_new_buffer(device, 64, 0);
    mtl_buffer_did_modify_range(shared, mtl_range_make(0, 1));
    assert_string_equal(last_rule, "buffer_modified_storage");
    assert_int_equal(mtl_buffer_hazard_tracking_mode(shared), MTLHazardTrackingModeTracked);
    mtl_release(shared);
}

static void wrong_buffers_are_refused(void **state) {
    (void)state;
    static const struct {
        size_t length;
        MTLResourceOptions options;
        const char *rule;
    } cases[] = {
        {0, 0, "buffer_length"},        {(size_t)1 << 40, 0, "buffer_length"},
        {SIZE_MAX, 0, "buffer_length"}, {64, MTLResourceStorageModeMemoryless, "buffer_memoryless"},
        {64, 2, "buffer_options"},      {64, 3 << 8, "buffer_options"},
        {64, 1 << 12, "buffer_options"}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        clear_messages();
        assert_null(mtl_device_new_buffer(device, cases[i].length, cases[i].options));
        assert_string_equal(last_rule, cases[i].rule);
        assert_string_equal(last_call, "mtl_device_new_buffer");
        assert_non_null(strstr(last_text, last_call));
        assert_non_null(strstr(last_text, last_rule));
    }
    clear_messages();
    assert_null(mtl_device_new_buffer_with_bytes(device, NULL, 16, 0));
    assert_string_equal(last_rule, "null_argument");
}

static void buffer_with_bytes_copies(void **state) {
    (void)state;
    char text[] = "abcdef";
    MTLBuffer *buffer = mtl_device_new_buffer_with_bytes(device, text, sizeof text, 0);
    text[0] = 'z';
    assert_string_equal(mtl_buffer_contents(buffer), "abcdef");
    mtl_release(buffer);
}

typedef struct Freed {
    int times;
    void *pointer;
    size_t length;
} Freed;

static void note_freed(void *pointer, size_t length, void *context) {
    Freed *freed = context;
    freed->times++;
    freed->pointer = pointer;
    freed->length = length;
}

static void no_copy_buffers_use_the_callers_memory(void **state) {
    (void)state;
    char *memory = mmap(NULL, 8192, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    Freed freed = {0};
    MTLBuffer *buffer =
        mtl_device_new_buffer_with_bytes_no_copy(device, memory, 8192, 0, note_freed, &freed);
    assert_ptr_equal(mtl_buffer_contents(buffer), memory);
    mtl_release(buffer);
    assert_int_equal(freed.times, 1);
    assert_ptr_equal(freed.pointer, memory);
    assert_int_equal(freed.length, 8192);

    clear_messages();
    assert_null(mtl_device_new_buffer_with_bytes_no_copy(
        device, memory, 4096, MTLResourceStorageModePrivate, NULL, NULL));
    assert_string_equal(last_rule, "buffer_no_copy_private");
    assert_null(mtl_device_new_buffer_with_bytes_no_copy(device, NULL, 4096, 0, NULL, NULL));
    assert_string_equal(last_rule, "null_argument");
    assert_int_equal(freed.times, 1);
    munmap(memory, 8192);
}

static void queues_have_names_and_devices(void **state) {
    (void)state;
    MTLCommandQueue *queue = mtl_device_new_command_queue(device);
    assert_ptr_equal(mtl_command_queue_device(queue), device);
    mtl_command_queue_set_label(queue, "main");
    assert_string_equal(mtl_command_queue_label(queue), "main");
    MTLCommandBuffer *commands = mtl_command_queue_command_buffer(queue);
    assert_ptr_equal(mtl_command_buffer_command_queue(commands), queue);
    assert_ptr_equal(mtl_command_buffer_device(commands), device);
    assert_true(mtl_command_buffer_retained_references(commands));
    mtl_command_buffer_set_label(commands, "frame 1");
    assert_string_equal(mtl_command_buffer_label(commands), "frame 1");
    mtl_release(queue); // the command buffer keeps it
    assert_string_equal(mtl_command_queue_label(mtl_command_buffer_command_queue(commands)),
                        "main");
    MTLComputeCommandEncoder *encoder = mtl_command_buffer_compute_command_encoder(commands);
    mtl_compute_command_encoder_set_label(encoder, "blur");
    assert_string_equal(mtl_compute_command_encoder_label(encoder), "blur");
    assert_ptr_equal(mtl_compute_command_encoder_command_buffer(encoder), commands);
    mtl_retain(encoder); // keeps the command buffer
    mtl_release(commands);
    mtl_compute_command_encoder_end_encoding(encoder);
    mtl_release(encoder);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(device_is_one_and_has_apples_limits),
        cmocka_unit_test(null_is_an_answer),
        cmocka_unit_test(class_records_are_found_and_ends_are_reported),
        cmocka_unit_test(buffers_are_zeroed_counted_and_named),
        cmocka_unit_test(storage_modes),
        cmocka_unit_test(wrong_buffers_are_refused),
        cmocka_unit_test(buffer_with_bytes_copies),
        cmocka_unit_test(no_copy_buffers_use_the_callers_memory),
        cmocka_unit_test(queues_have_names_and_devices),
    };
    return cmocka_run_group_tests(tests, open_device, close_device);
}
