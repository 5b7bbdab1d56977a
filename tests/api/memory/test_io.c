// SPDX-License-Identifier: Apache-2.0
// test_io.c: files into memory, buffers and textures: raw and compressed, whole and in parts, in
// order by barriers and events, cancelled, beyond their end, damaged, and what is refused.
#include <unistd.h>
#include "api_test.h"

#define N_BYTES 100000u
static char folder[] = "/tmp/ingot-io-XXXXXX";
static unsigned char bytes[N_BYTES];

static const char *path(const char *name) {
    static char text[4][128];
    static unsigned next;
    char *to = text[next++ % 4];
    snprintf(to, sizeof *text, "%s/%s", folder, name);
    return to;
}

static void write_file(const char *name, const void *data, size_t n) {
    FILE *f = fopen(path(name), "wb");
    assert_non_null(f);
    assert_int_equal(fwrite(data, 1, n, f), n);
    fclose(f);
}

static int begin(void **state) {
    if (!mkdtemp(folder) || open_device(state)) return -1;
    // Runs that compress, and noise that does not.
    for (size_t i = 0; i < N_BYTES; i++)
        bytes[i] = (unsigned char)(i < N_BYTES / 2 ? i / 97 : i * 2654435761u >> 13);
    write_file("raw", bytes, N_BYTES);
    return 0;
}

static int finish(void **state) {
    static const char *const names[] = {"raw", "packed", "damaged", "short", "empty"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) unlink(path(names[i]));
    rmdir(folder);
    return close_device(state);
}

static MTLIOCommandQueue *new_queue(MTLIOCommandQueueType type) {
    MTLIOCommandQueue *queue =
        mtl_device_new_io_command_queue(device, &(MTLIOCommandQueueDescriptor){.type = type}, NULL);
    assert_non_null(queue);
    return queue;
}

static MTLIOFileHandle *open_raw(const char *name) {
    MTLError *error = NULL;
    MTLIOFileHandle *file = mtl_device_new_io_file_handle(device, path(name), &error);
    if (!file) fail_msg("%s", mtl_error_localized_description(error));
    return file;
}

static void run(MTLIOCommandBuffer *commands, MTLIOStatus expected) {
    mtl_io_command_buffer_commit(commands);
    mtl_io_command_buffer_wait_until_completed(commands);
    if (mtl_io_command_buffer_status(commands) != expected)
        fail_msg("status %d: %s", (int)mtl_io_command_buffer_status(commands),
                 mtl_error_localized_description(mtl_io_command_buffer_error(commands)));
    assert_int_equal(mtl_io_command_buffer_error(commands) != NULL, expected == MTLIOStatusError);
}

static void loads(void **state) {
    (void)state;
    static unsigned char copy[500];
    MTLIOCommandQueue *queue = new_queue(MTLIOCommandQueueTypeConcurrent);
    mtl_io_command_queue_set_label(queue, "loader");
    assert_string_equal(mtl_io_command_queue_label(queue), "loader");
    MTLIOFileHandle *file = open_raw("raw");
    MTLBuffer *shared = mtl_device_new_buffer(device, 4096, 0);
    MTLBuffer *private = mtl_device_new_buffer(device, 4096, MTLResourceStorageModePrivate);
    MTLTextureDescriptor d = mtl_texture_descriptor_2d(MTLPixelFormatR8Unorm, 64, 32, true);
    MTLTexture *texture = mtl_device_new_texture(device, &d);
    MTLIOCommandBuffer *commands = mtl_io_command_queue_command_buffer(queue);
    assert_int_equal(mtl_io_command_buffer_status(commands), MTLIOStatusPending);
    mtl_io_command_buffer_load_bytes(commands, copy, sizeof copy, file, 60000);
    mtl_io_command_buffer_load_buffer(commands, shared, 96, 4000, file, 1);
    mtl_io_command_buffer_add_barrier(commands);
    mtl_io_command_buffer_load_buffer(commands, private, 0, 4096, file, 50000);
    // Sixteen rows of 20 texels, 32 bytes apart in the file.
    mtl_io_command_buffer_load_texture(commands, texture, 0, 0, (MTLSize){20, 16, 1}, 32, 0,
                                       (MTLOrigin){8, 4, 0}, file, 1000);
    mtl_io_command_buffer_copy_status_to_buffer(commands, shared, 8);
    mtl_release(file), mtl_release(queue);
    run(commands, MTLIOStatusComplete);
    assert_memory_equal(copy, bytes + 60000, sizeof copy);
    assert_memory_equal((char *)mtl_buffer_contents(shared) + 96, bytes + 1, 4000);
    assert_int_equal(((int64_t *)mtl_buffer_contents(shared))[1], MTLIOStatusComplete);
    unsigned char texels[16][20];
    mtl_texture_get_bytes(texture, texels, 20, mtl_region_make_2d(8, 4, 20, 16), 0);
    for (int y = 0; y < 16; y++) assert_memory_equal(texels[y], bytes + 1000 + 32 * y, 20);
    mtl_texture_get_bytes(texture, texels, 20, mtl_region_make_2d(28, 4, 20, 16), 0);
    assert_int_equal(texels[0][0], 0); // beside the region
    MTLCommandQueue *gpu = mtl_device_new_command_queue(device);
    MTLCommandBuffer *blit = mtl_command_queue_command_buffer(gpu);
    MTLBlitCommandEncoder *encoder = mtl_command_buffer_blit_command_encoder(blit);
    mtl_blit_command_encoder_copy_from_buffer(encoder, private, 0, shared, 0, 4096);
    mtl_blit_command_encoder_end_encoding(encoder);
    mtl_command_buffer_commit(blit);
    mtl_command_buffer_wait_until_completed(blit);
    assert_memory_equal(mtl_buffer_contents(shared), bytes + 50000, 4096);
    mtl_release(blit), mtl_release(gpu), mtl_release(commands);
    mtl_release(shared), mtl_release(private), mtl_release(texture);
}

static void write_packed(MTLIOCompressionMethod method, size_t chunk) {
    unlink(path("packed"));
    MTLIOCompressionContext context =
        mtl_io_create_compression_context(path("packed"), method, chunk);
    if (!context) fail_msg("%s", mtl_io_compression_context_failure());
    for (size_t at = 0; at < N_BYTES; at += 7777) // pieces that are no chunks
        mtl_io_compression_context_append_data(context, bytes + at,
                                               N_BYTES - at < 7777 ? N_BYTES - at : 7777);
    assert_int_not_equal(access(path("packed"), F_OK), 0); // not before it is whole
    assert_int_equal(mtl_io_flush_and_destroy_compression_context(context),
                     MTLIOCompressionStatusComplete);
}

static MTLBuffer *scratch_take(size_t minimum, void **owner, void *context) {
    assert_ptr_equal(context, bytes);
    *owner = folder;
    return mtl_device_new_buffer(device, minimum, 0);
}

static atomic_int n_given;
static void scratch_give(MTLBuffer *buffer, void *owner, void *context) {
    assert_ptr_equal(owner, folder);
    assert_ptr_equal(context, bytes);
    mtl_release(buffer);
    n_given++;
}

static void compressed(void **state) {
    (void)state;
    static unsigned char copy[N_BYTES];
    static const MTLIOCompressionMethod methods[] = {
        MTLIOCompressionMethodZlib, MTLIOCompressionMethodLZ4, MTLIOCompressionMethodLZMA};
    MTLIOCommandQueueDescriptor how = {.type = MTLIOCommandQueueTypeSerial,
                                       .scratch_allocator = scratch_take,
                                       .scratch_deallocator = scratch_give,
                                       .scratch_context = bytes};
    assert_true(mtl_io_compression_context_default_chunk_size() > 0);
    for (size_t i = 0; i < 3; i++) {
        for (size_t chunk = 0; chunk <= 10000; chunk += 10000) {
            write_packed(methods[i], chunk);
            MTLIOCommandQueue *queue = mtl_device_new_io_command_queue(device, &how, NULL);
            MTLError *error = NULL;
            MTLIOFileHandle *file = mtl_device_new_io_file_handle_with_compression_method(
                device, path("packed"), methods[i], &error);
            if (!file) fail_msg("%s", mtl_error_localized_description(error));
            memset(copy, 0, sizeof copy);
            MTLIOCommandBuffer *commands = mtl_io_command_queue_command_buffer(queue);
            n_given = 0;
            mtl_io_command_buffer_load_bytes(commands, copy, N_BYTES, file, 0);
            run(commands, MTLIOStatusComplete);
            assert_memory_equal(copy, bytes, N_BYTES);
            assert_int_equal(n_given, 1);
            mtl_release(commands);
            // A part that begins and ends inside chunks, the last byte, and one byte too many.
            commands = mtl_io_command_queue_command_buffer(queue);
            mtl_io_command_buffer_load_bytes(commands, copy, 45000, file, 33333);
            mtl_io_command_buffer_load_bytes(commands, copy + 45000, 1, file, N_BYTES - 1);
            run(commands, MTLIOStatusComplete);
            assert_memory_equal(copy, bytes + 33333, 45000);
            assert_int_equal(copy[45000], bytes[N_BYTES - 1]);
            mtl_release(commands);
            commands = mtl_io_command_queue_command_buffer(queue);
            mtl_io_command_buffer_load_bytes(commands, copy, 2, file, N_BYTES - 1);
            run(commands, MTLIOStatusError);
            mtl_release(commands), mtl_release(file), mtl_release(queue);
        }
        FILE *f = fopen(path("packed"), "rb");
        fseek(f, 0, SEEK_END);
        assert_true(ftell(f) < (long)(N_BYTES * 3 / 4)); // half of it has runs
        fclose(f);
        unlink(path("packed"));
    }
}

// Every byte of a small file, changed: loads fail or give the bytes, nothing else happens.
static void damaged(void **state) {
    (void)state;
    unsigned char file_bytes[512], copy[300];
    MTLIOCompressionContext context =
        mtl_io_create_compression_context(path("packed"), MTLIOCompressionMethodZlib, 100);
    mtl_io_compression_context_append_data(context, bytes, sizeof copy);
    assert_int_equal(mtl_io_flush_and_destroy_compression_context(context), 0);
    FILE *f = fopen(path("packed"), "rb");
    size_t n = fread(file_bytes, 1, sizeof file_bytes, f);
    fclose(f);
    MTLIOCommandQueue *queue = new_queue(MTLIOCommandQueueTypeSerial);
    size_t n_refused = 0, n_failed = 0;
    for (size_t i = 0; i < n; i++) {
        file_bytes[i] ^= 0x55;
        write_file("damaged", file_bytes, n);
        file_bytes[i] ^= 0x55;
        MTLError *error = NULL;
        MTLIOFileHandle *file = mtl_device_new_io_file_handle_with_compression_method(
            device, path("damaged"), MTLIOCompressionMethodZlib, &error);
        assert_int_equal(file == NULL, error != NULL);
        n_refused += !file;
        mtl_release(error);
        if (!file) continue;
        MTLIOCommandBuffer *commands = mtl_io_command_queue_command_buffer(queue);
        mtl_io_command_buffer_load_bytes(commands, copy, sizeof copy, file, 0);
        mtl_io_command_buffer_commit(commands);
        mtl_io_command_buffer_wait_until_completed(commands);
        n_failed += mtl_io_command_buffer_status(commands) == MTLIOStatusError;
        mtl_release(commands), mtl_release(file);
    }
    assert_true(n_refused > 40 && n_failed > 10);
    for (size_t cut = 0; cut < n; cut += 9) { // and cut off
        write_file("damaged", file_bytes, cut);
        assert_null(mtl_device_new_io_file_handle_with_compression_method(
            device, path("damaged"), MTLIOCompressionMethodZlib, NULL));
    }
    mtl_release(queue);
}

static void refused(void **state) {
    (void)state;
    MTLError *error = NULL;
    assert_null(mtl_device_new_io_file_handle(device, path("nothing"), &error));
    assert_string_equal(mtl_error_domain(error), MTLIOErrorDomain);
    assert_int_equal(mtl_error_code(error), MTLIOErrorURLInvalid);
    mtl_release(error), error = NULL;
    assert_null(mtl_device_new_io_file_handle(device, folder, &error));
    mtl_release(error), error = NULL;
    static const struct {
        MTLIOCompressionMethod method;
        const char *name;
    } none[] = {{MTLIOCompressionMethodLZFSE, "LZFSE"},
                {MTLIOCompressionMethodLZBitmap, "LZBitmap"},
                {(MTLIOCompressionMethod)9, "9"}};
    for (size_t i = 0; i < 3; i++) {
        assert_null(mtl_device_new_io_file_handle_with_compression_method(device, path("raw"),
                                                                          none[i].method, &error));
        assert_non_null(strstr(mtl_error_localized_description(error), none[i].name));
        mtl_release(error), error = NULL;
        assert_null(mtl_io_create_compression_context(path("packed"), none[i].method, 0));
        assert_non_null(strstr(mtl_io_compression_context_failure(), none[i].name));
    }
    assert_null(mtl_device_new_io_file_handle_with_compression_method(
        device, path("raw"), MTLIOCompressionMethodLZ4, &error)); // not one of ours
    mtl_release(error), error = NULL;
    write_packed(MTLIOCompressionMethodZlib, 0);
    assert_null(mtl_device_new_io_file_handle_with_compression_method(
        device, path("packed"), MTLIOCompressionMethodLZ4, &error));
    assert_non_null(strstr(mtl_error_localized_description(error), "zlib"));
    mtl_release(error), error = NULL;
    assert_null(
        mtl_io_create_compression_context("/no/such/folder/file", MTLIOCompressionMethodZlib, 0));
    assert_non_null(strstr(mtl_io_compression_context_failure(), "/no/such/folder"));
    assert_null(
        mtl_device_new_io_command_queue(device, &(MTLIOCommandQueueDescriptor){.type = 7}, &error));
    assert_string_equal(last_rule, "io_queue_descriptor");
    mtl_release(error);
}

static void misuse(void **state) {
    (void)state;
    MTLIOCommandQueue *queue = new_queue(MTLIOCommandQueueTypeSerial);
    MTLIOFileHandle *file = open_raw("raw");
    MTLBuffer *buffer = mtl_device_new_buffer(device, 64, 0);
    MTLSharedEvent *event = mtl_device_new_shared_event(device);
    MTLIOCommandBuffer *commands = mtl_io_command_queue_command_buffer(queue);
    clear_messages();
    mtl_io_command_buffer_load_buffer(commands, buffer, 60, 5, file, 0);
    assert_string_equal(last_rule, "io_load_range");
    mtl_io_command_buffer_pop_debug_group(commands);
    assert_string_equal(last_rule, "debug_group_underflow");
    mtl_io_command_buffer_push_debug_group(commands, "loads");
    mtl_io_command_buffer_pop_debug_group(commands);
    mtl_io_command_buffer_wait_until_completed(commands);
    assert_string_equal(last_rule, "command_buffer_not_committed");
    mtl_io_command_buffer_signal_event(commands, event, 5);
    run(commands, MTLIOStatusError); // nobody waits for ever
    assert_int_equal(mtl_shared_event_signaled_value(event), 5);
    mtl_io_command_buffer_load_buffer(commands, buffer, 0, 5, file, 0);
    assert_string_equal(last_rule, "command_buffer_committed");
    mtl_release(commands);
    commands = mtl_io_command_queue_command_buffer(queue);
    mtl_io_command_buffer_load_buffer(commands, (MTLBuffer *)(void *)file, 0, 5, file, 0);
    assert_string_equal(last_rule, "wrong_class");
    mtl_io_command_buffer_enqueue(commands);
    mtl_io_command_buffer_enqueue(commands);
    assert_string_equal(last_rule, "command_buffer_already_enqueued");
    mtl_release(commands); // never committed: its place is free again
    commands = mtl_io_command_queue_command_buffer(queue);
    mtl_io_command_buffer_load_buffer(commands, buffer, 0, 64, file, N_BYTES - 63);
    run(commands, MTLIOStatusError); // the file ends
    mtl_release(commands), mtl_release(buffer), mtl_release(event);
    mtl_release(file), mtl_release(queue);
}

// ---- Order ----

static atomic_int n_completed;
static int order[8];
static void completed(MTLIOCommandBuffer *buffer, void *context) {
    assert_int_equal(mtl_io_command_buffer_status(buffer), MTLIOStatusComplete);
    order[n_completed++] = (int)(intptr_t)context;
}

static void serial(void **state) {
    (void)state;
    MTLIOCommandQueue *queue = new_queue(MTLIOCommandQueueTypeSerial);
    MTLIOFileHandle *file = open_raw("raw");
    MTLSharedEvent *event = mtl_device_new_shared_event(device);
    MTLIOCommandBuffer *all[4];
    unsigned char copy[4][16];
    n_completed = 0;
    for (int i = 0; i < 4; i++) {
        all[i] = mtl_io_command_queue_command_buffer(queue);
        if (i == 0) mtl_io_command_buffer_wait_for_event(all[i], event, 3);
        mtl_io_command_buffer_load_bytes(all[i], copy[i], 16, file, 16 * (size_t)i);
        mtl_io_command_buffer_add_completed_handler(all[i], completed, (void *)(intptr_t)i);
    }
    mtl_io_command_buffer_enqueue(all[0]);
    for (int i = 3; i > 0; i--) mtl_io_command_buffer_commit(all[i]); // 3, 2, 1 behind 0
    usleep(20000);
    assert_int_equal(n_completed, 0);
    mtl_io_command_buffer_commit(all[0]);
    usleep(20000);
    assert_int_equal(n_completed, 0); // at its event
    mtl_shared_event_set_signaled_value(event, 3);
    for (int i = 0; i < 4; i++) mtl_io_command_buffer_wait_until_completed(all[i]);
    const int expected[] = {0, 3, 2, 1};
    assert_memory_equal(order, expected, sizeof expected);
    assert_memory_equal(copy, bytes, 64);
    for (int i = 0; i < 4; i++) mtl_release(all[i]);
    mtl_release(event), mtl_release(file), mtl_release(queue);
}

static void concurrent(void **state) {
    (void)state;
    MTLIOCommandQueue *queue = new_queue(MTLIOCommandQueueTypeConcurrent);
    MTLSharedEvent *event = mtl_device_new_shared_event(device);
    MTLIOCommandBuffer *waits[8], *signals = mtl_io_command_queue_command_buffer(queue);
    for (int i = 0; i < 8; i++) { // more than there are threads: none is kept by a wait
        waits[i] = mtl_io_command_queue_command_buffer(queue);
        mtl_io_command_buffer_wait_for_event(waits[i], event, 1);
        mtl_io_command_buffer_commit(waits[i]);
    }
    mtl_io_command_buffer_signal_event(signals, event, 1);
    run(signals, MTLIOStatusComplete);
    for (int i = 0; i < 8; i++) {
        mtl_io_command_buffer_wait_until_completed(waits[i]);
        mtl_release(waits[i]);
    }
    mtl_release(signals);
    // Behind a barrier nothing starts before everything else is done.
    MTLIOCommandBuffer *first = mtl_io_command_queue_command_buffer(queue);
    MTLIOCommandBuffer *second = mtl_io_command_queue_command_buffer(queue);
    mtl_io_command_buffer_wait_for_event(first, event, 2);
    mtl_io_command_buffer_commit(first);
    mtl_io_command_queue_enqueue_barrier(queue);
    mtl_io_command_buffer_commit(second);
    usleep(20000);
    assert_int_equal(mtl_io_command_buffer_status(second), MTLIOStatusPending);
    mtl_shared_event_set_signaled_value(event, 2);
    mtl_io_command_buffer_wait_until_completed(second);
    assert_int_equal(mtl_io_command_buffer_status(first), MTLIOStatusComplete);
    mtl_release(first), mtl_release(second), mtl_release(event), mtl_release(queue);
}

static void cancelled(void **state) {
    (void)state;
    MTLIOCommandQueue *queue = new_queue(MTLIOCommandQueueTypeSerial);
    MTLIOFileHandle *file = open_raw("raw");
    MTLSharedEvent *never = mtl_device_new_shared_event(device);
    MTLBuffer *buffer = mtl_device_new_buffer(device, 16, 0);
    MTLIOCommandBuffer *commands = mtl_io_command_queue_command_buffer(queue);
    mtl_io_command_buffer_wait_for_event(commands, never, 1);
    mtl_io_command_buffer_load_buffer(commands, buffer, 8, 8, file, 500);
    mtl_io_command_buffer_copy_status_to_buffer(commands, buffer, 0);
    mtl_io_command_buffer_commit(commands);
    usleep(5000);
    mtl_io_command_buffer_try_cancel(commands);
    mtl_io_command_buffer_wait_until_completed(commands);
    assert_int_equal(mtl_io_command_buffer_status(commands), MTLIOStatusCancelled);
    assert_int_equal(((int64_t *)mtl_buffer_contents(buffer))[0], MTLIOStatusCancelled);
    assert_int_equal(((int64_t *)mtl_buffer_contents(buffer))[1], 0); // not loaded
    mtl_io_command_buffer_try_cancel(commands);                       // too late: nothing
    mtl_release(commands), mtl_release(never), mtl_release(buffer);
    mtl_release(file), mtl_release(queue);
}

static void *many_loads(void *context) {
    MTLIOFileHandle *file = open_raw("raw");
    unsigned char copy[64];
    for (size_t i = 0; i < 200; i++) {
        MTLIOCommandBuffer *commands = mtl_io_command_queue_command_buffer(context);
        mtl_io_command_buffer_load_bytes(commands, copy, sizeof copy, file, i * 100);
        mtl_io_command_buffer_commit(commands);
        if (i % 3 == 0) mtl_io_command_buffer_try_cancel(commands);
        mtl_io_command_buffer_wait_until_completed(commands);
        if (mtl_io_command_buffer_status(commands) == MTLIOStatusComplete)
            assert_memory_equal(copy, bytes + i * 100, sizeof copy);
        mtl_release(commands);
    }
    mtl_release(file);
    return NULL;
}

static void threads(void **state) {
    (void)state;
    for (int type = 0; type < 2; type++) {
        MTLIOCommandQueue *queue = mtl_device_new_io_command_queue(
            device,
            &(MTLIOCommandQueueDescriptor){.type = (MTLIOCommandQueueType)type,
                                           .max_command_buffer_count = 3,
                                           .max_commands_in_flight = 2},
            NULL);
        pthread_t ids[4];
        for (int i = 0; i < 4; i++) pthread_create(&ids[i], NULL, many_loads, queue);
        for (int i = 0; i < 4; i++) pthread_join(ids[i], NULL);
        mtl_release(queue);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(loads),      cmocka_unit_test(compressed), cmocka_unit_test(damaged),
        cmocka_unit_test(refused),    cmocka_unit_test(misuse),     cmocka_unit_test(serial),
        cmocka_unit_test(concurrent), cmocka_unit_test(cancelled),  cmocka_unit_test(threads),
    };
    return cmocka_run_group_tests(tests, begin, finish);
}
