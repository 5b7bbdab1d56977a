// SPDX-License-Identifier: Apache-2.0
// test_capture.c: the capture manager and its scopes: what is recorded, where, and what is refused.
// Files are only looked at for names and their end here; tests/tools reads them as JSON.
#include "archive.h"

static MTLCaptureManager *manager;
static MTLCommandQueue *queue, *other;
static MTLComputePipelineState *scale;

static int set_up(void **state) {
    if (make_folder(state)) return -1;
    manager = mtl_capture_manager_shared_capture_manager();
    queue = mtl_device_new_command_queue(device);
    other = mtl_device_new_command_queue(device);
    mtl_command_queue_set_label(queue, "main \"queue\"");
    scale = pipeline_from(archive_source, "scale");
    return 0;
}

static int tear_down(void **state) {
    mtl_release(scale), mtl_release(queue), mtl_release(other);
    return remove_folder(state);
}

static void work(MTLCommandQueue *on, const char *label, bool wait) {
    MTLBuffer *x = mtl_device_new_buffer(device, 4000, 0);
    MTLCommandBuffer *commands = mtl_command_queue_command_buffer(on);
    mtl_command_buffer_set_label(commands, label);
    mtl_command_buffer_push_debug_group(commands, "outer group");
    MTLComputeCommandEncoder *e = mtl_command_buffer_compute_command_encoder_with_dispatch_type(
        commands, MTLDispatchTypeConcurrent);
    mtl_compute_command_encoder_set_label(e, "the encoder");
    mtl_compute_command_encoder_push_debug_group(e, "inner group");
    mtl_compute_command_encoder_set_compute_pipeline_state(e, scale);
    mtl_compute_command_encoder_set_buffer(e, x, 0, 0);
    for (int i = 0; i < 3; i++)
        mtl_compute_command_encoder_dispatch_threads(e, mtl_size_make(1000, 1, 1),
                                                     mtl_size_make(100, 1, 1));
    mtl_compute_command_encoder_insert_debug_signpost(e, "a signpost");
    mtl_compute_command_encoder_end_encoding(e); // the inner group stays open: closed with it
    mtl_command_buffer_pop_debug_group(commands);
    MTLBlitCommandEncoder *b = mtl_command_buffer_blit_command_encoder(commands);
    mtl_blit_command_encoder_fill_buffer(b, x, mtl_range_make(0, 100), 7);
    mtl_blit_command_encoder_end_encoding(b);
    mtl_command_buffer_commit(commands);
    if (wait) {
        mtl_command_buffer_wait_until_completed(commands);
        assert_completed(commands);
    }
    mtl_release(commands), mtl_release(x);
}

static void start(void *object, const char *path) {
    MTLError *error = NULL;
    MTLCaptureDescriptor d = {object, MTLCaptureDestinationGPUTraceDocument, path};
    if (!mtl_capture_manager_start_capture(manager, &d, &error))
        fail_msg("%s", mtl_error_localized_description(error));
    assert_true(mtl_capture_manager_is_capturing(manager));
}

static char *contents(const char *path) {
    size_t n;
    char *text = (char *)read_file(path, &n);
    text[n] = 0;
    return text;
}

static size_t times(const char *text, const char *word) {
    size_t n = 0;
    for (; (text = strstr(text, word)); text += strlen(word)) n++;
    return n;
}

static bool ended(const char *text) { return !strcmp(text + strlen(text) - 3, "\n]\n"); }

static void the_device(void **state) {
    (void)state;
    char path[160];
    snprintf(path, sizeof path, "%s", in_folder("device.json"));
    work(queue, "before", true);
    start(device, path);
    work(queue, "first", true);
    work(other, "second", false); // stop waits for it
    mtl_capture_manager_stop_capture(manager);
    assert_false(mtl_capture_manager_is_capturing(manager));
    work(queue, "after", true);
    char *text = contents(path);
    assert_true(ended(text));
    assert_int_equal(times(text, "\"name\":\"first\""), 1);
    assert_int_equal(times(text, "\"name\":\"second\""), 1);
    assert_int_equal(times(text, "before") + times(text, "after"), 0);
    assert_int_equal(times(text, "\"name\":\"scale\""), 6);
    assert_int_equal(times(text, "\"grid\":[1000,1,1],\"threadgroup\":[100,1,1],\"bytes\":4000"),
                     6);
    assert_int_equal(times(text, "\"name\":\"the encoder\""), 2);
    assert_int_equal(times(text, "\"name\":\"outer group\""), 2);
    assert_int_equal(times(text, "\"name\":\"inner group\""), 2);
    assert_int_equal(times(text, "\"name\":\"a signpost\""), 2);
    assert_int_equal(times(text, "\"name\":\"fill buffer\""), 2);
    assert_true(times(text, "main \\\"queue\\\"") >= 1);
    assert_int_equal(times(text, "\"ph\":\"B\""), times(text, "\"ph\":\"E\""));
    free(text);
}

static void one_queue(void **state) {
    (void)state;
    char path[160];
    snprintf(path, sizeof path, "%s", in_folder("queue.json"));
    start(queue, path);
    work(queue, "mine", true);
    work(other, "theirs", true);
    mtl_capture_manager_stop_capture(manager);
    char *text = contents(path);
    assert_int_equal(times(text, "\"name\":\"mine\""), 1);
    assert_int_equal(times(text, "theirs"), 0);
    free(text);
}

static void a_scope(void **state) {
    (void)state;
    char path[160];
    snprintf(path, sizeof path, "%s", in_folder("scope.json"));
    MTLCaptureScope *scope = mtl_capture_manager_new_capture_scope_with_device(manager, device);
    mtl_capture_scope_set_label(scope, "the scope");
    assert_string_equal(mtl_capture_scope_label(scope), "the scope");
    assert_ptr_equal(mtl_capture_scope_device(scope), device);
    assert_null(mtl_capture_scope_command_queue(scope));
    mtl_capture_scope_begin_scope(scope); // nobody captures
    mtl_capture_scope_end_scope(scope);
    start(scope, path);
    work(queue, "early", true);
    mtl_capture_scope_begin_scope(scope);
    work(queue, "inside", false);
    mtl_capture_scope_end_scope(scope); // ends the capture, and the file is whole
    assert_false(mtl_capture_manager_is_capturing(manager));
    char *text = contents(path);
    assert_true(ended(text));
    assert_int_equal(times(text, "\"name\":\"inside\""), 1);
    assert_int_equal(times(text, "early"), 0);
    assert_int_equal(times(text, "\"name\":\"the scope\""), 2);
    free(text);
    work(queue, "late", true);
    mtl_release(scope);
}

static void default_scope(void **state) {
    (void)state;
    assert_null(mtl_capture_manager_default_capture_scope(manager));
    MTLCaptureScope *scope =
        mtl_capture_manager_new_capture_scope_with_command_queue(manager, queue);
    assert_ptr_equal(mtl_capture_scope_command_queue(scope), queue);
    assert_ptr_equal(mtl_capture_scope_device(scope), device);
    mtl_capture_manager_set_default_capture_scope(manager, scope);
    mtl_release(scope); // the manager has it
    assert_ptr_equal(mtl_capture_manager_default_capture_scope(manager), scope);
    mtl_capture_manager_set_default_capture_scope(manager, NULL);
    assert_null(mtl_capture_manager_default_capture_scope(manager));
}

static void without_a_file(void **state) {
    (void)state;
    MTLCaptureScope *scope = mtl_capture_manager_new_capture_scope_with_device(manager, device);
    mtl_capture_manager_start_capture_with_scope(manager, scope);
    assert_true(mtl_capture_manager_is_capturing(manager));
    mtl_capture_scope_begin_scope(scope);
    mtl_capture_scope_end_scope(scope);
    assert_true(mtl_capture_manager_is_capturing(manager));
    mtl_capture_manager_stop_capture(manager);
    assert_false(mtl_capture_manager_is_capturing(manager));
    mtl_capture_manager_start_capture_with_device(manager, device);
    assert_true(mtl_capture_manager_is_capturing(manager));
    mtl_capture_manager_stop_capture(manager);
    mtl_capture_manager_start_capture_with_command_queue(manager, queue);
    mtl_capture_manager_stop_capture(manager);
    mtl_capture_manager_stop_capture(manager); // nothing to stop
    mtl_release(scope);
}

static void refused(MTLCaptureDescriptor d, long code, const char *words) {
    MTLError *error = NULL;
    assert_false(mtl_capture_manager_start_capture(manager, &d, &error));
    assert_string_equal(mtl_error_domain(error), MTLCaptureErrorDomain);
    assert_int_equal(mtl_error_code(error), code);
    if (!strstr(mtl_error_localized_description(error), words))
        fail_msg("'%s' does not say '%s'", mtl_error_localized_description(error), words);
    mtl_release(error);
}

static void what_is_refused(void **state) {
    (void)state;
    const MTLCaptureDestination file = MTLCaptureDestinationGPUTraceDocument;
    char path[160];
    snprintf(path, sizeof path, "%s", in_folder("refused.json"));
    assert_true(mtl_capture_manager_supports_destination(manager, file));
    assert_false(
        mtl_capture_manager_supports_destination(manager, MTLCaptureDestinationDeveloperTools));
    refused((MTLCaptureDescriptor){device, 0, path}, MTLCaptureErrorNotSupported, "destination");
    refused((MTLCaptureDescriptor){NULL, file, path}, MTLCaptureErrorInvalidDescriptor,
            "capture_object");
    refused((MTLCaptureDescriptor){scale, file, path}, MTLCaptureErrorInvalidDescriptor,
            "capture_object");
    refused((MTLCaptureDescriptor){device, file, NULL}, MTLCaptureErrorInvalidDescriptor,
            "output_url");
    refused((MTLCaptureDescriptor){device, file, "/nowhere/at/all.json"},
            MTLCaptureErrorInvalidDescriptor, "/nowhere/at/all.json");
    write_file(path, "precious", 8);
    refused((MTLCaptureDescriptor){device, file, path}, MTLCaptureErrorInvalidDescriptor, "exists");
    unlink(path);
    start(device, path);
    refused((MTLCaptureDescriptor){device, file, in_folder("twice.json")},
            MTLCaptureErrorAlreadyCapturing, "already");
    mtl_capture_manager_stop_capture(manager);
    unsetenv("MTL_CAPTURE_ENABLED");
    assert_false(mtl_capture_manager_supports_destination(manager, file));
    refused((MTLCaptureDescriptor){device, file, in_folder("no.json")}, MTLCaptureErrorNotSupported,
            "MTL_CAPTURE_ENABLED");
    setenv("MTL_CAPTURE_ENABLED", "1", 1);
    clear_messages();
    assert_false(mtl_capture_manager_start_capture(manager, NULL, NULL));
    assert_string_equal(last_rule, "null_argument");
    assert_false(mtl_capture_manager_start_capture(NULL, NULL, NULL));
    assert_string_equal(last_rule, "null_object");
    mtl_capture_scope_begin_scope(NULL);
    assert_string_equal(last_call, "mtl_capture_scope_begin_scope");
    assert_null(mtl_capture_manager_new_capture_scope_with_device(manager, NULL));
    assert_string_equal(last_rule, "null_argument");
    mtl_capture_manager_start_capture_with_device(manager, (MTLDevice *)(void *)queue);
    assert_string_equal(last_rule, "wrong_class");
    assert_false(mtl_capture_manager_is_capturing(manager));
}

// ---- Stop while work goes on, from handlers and other threads ----

static void stop_in_handler(MTLCommandBuffer *commands, void *context) {
    (void)commands, (void)context;
    mtl_capture_manager_stop_capture(manager);
}

static void stopped_by_a_handler(void **state) {
    (void)state;
    char path[160];
    snprintf(path, sizeof path, "%s", in_folder("handler.json"));
    start(device, path);
    MTLCommandBuffer *commands = mtl_command_queue_command_buffer(queue);
    mtl_command_buffer_set_label(commands, "handled");
    mtl_command_buffer_add_completed_handler(commands, stop_in_handler, NULL);
    mtl_command_buffer_commit(commands);
    mtl_command_buffer_wait_until_completed(commands);
    mtl_release(commands);
    assert_false(mtl_capture_manager_is_capturing(manager));
    char *text = contents(path);
    assert_true(ended(text));
    assert_int_equal(times(text, "\"name\":\"handled\""), 1);
    free(text);
}

// A command buffer that waits for the CPU outlives its capture: stop gives up waiting, the file is
// whole, and the next capture has nothing of it.
static void outlived_by_a_command_buffer(void **state) {
    (void)state;
    char path[2][160];
    snprintf(path[0], sizeof path[0], "%s", in_folder("outlived.json"));
    snprintf(path[1], sizeof path[1], "%s", in_folder("next.json"));
    MTLSharedEvent *event = mtl_device_new_shared_event(device);
    start(device, path[0]);
    MTLCommandBuffer *commands = mtl_command_queue_command_buffer(queue);
    mtl_command_buffer_set_label(commands, "patient");
    mtl_command_buffer_encode_wait_for_event(commands, (MTLEvent *)event, 1);
    mtl_command_buffer_commit(commands);
    mtl_capture_manager_stop_capture(manager);
    start(device, path[1]);
    mtl_shared_event_set_signaled_value(event, 1);
    mtl_command_buffer_wait_until_completed(commands);
    assert_completed(commands);
    work(other, "next", true);
    mtl_capture_manager_stop_capture(manager);
    for (int i = 0; i < 2; i++) {
        char *text = contents(path[i]);
        assert_true(ended(text));
        assert_int_equal(times(text, "patient"), i == 0 ? 1 : 0);
        if (i == 1) assert_int_equal(times(text, "\"ph\":\"B\""), times(text, "\"ph\":\"E\""));
        free(text);
    }
    mtl_release(commands), mtl_release(event);
}

static atomic_bool stop_working;

static void *work_on(void *context) {
    MTLCommandQueue *mine = mtl_device_new_command_queue(device);
    while (!atomic_load(&stop_working)) work(mine, context, true);
    mtl_release(mine);
    return NULL;
}

static void starts_and_stops_under_load(void **state) {
    (void)state;
    pthread_t threads[3];
    stop_working = false;
    for (int i = 0; i < 3; i++) pthread_create(&threads[i], NULL, work_on, "load");
    for (int i = 0; i < 20; i++) {
        char name[32], path[160];
        snprintf(name, sizeof name, "load%d.json", i);
        snprintf(path, sizeof path, "%s", in_folder(name));
        start(device, path);
        usleep(2000);
        mtl_capture_manager_stop_capture(manager);
        char *text = contents(path);
        assert_true(ended(text));
        assert_int_equal(times(text, "\"ph\":\"B\""), times(text, "\"ph\":\"E\""));
        free(text);
    }
    atomic_store(&stop_working, true);
    for (int i = 0; i < 3; i++) pthread_join(threads[i], NULL);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_device),
        cmocka_unit_test(one_queue),
        cmocka_unit_test(a_scope),
        cmocka_unit_test(default_scope),
        cmocka_unit_test(without_a_file),
        cmocka_unit_test(what_is_refused),
        cmocka_unit_test(stopped_by_a_handler),
        cmocka_unit_test(outlived_by_a_command_buffer),
        cmocka_unit_test(starts_and_stops_under_load),
    };
    return cmocka_run_group_tests_name("capture", tests, set_up, tear_down);
}
