// SPDX-License-Identifier: Apache-2.0
// test_shared_event.c: MTLSharedEvent within one process: the CPU raises, reads and awaits it, with
// and without time limit; listeners; handles that are opened again in the same process.
#include <fcntl.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>
#include "api_test.h"

static void values(void **state) {
    (void)state;
    MTLSharedEvent *event = mtl_device_new_shared_event(device);
    assert_string_equal(mtl_class_name(event), "MTLSharedEvent");
    assert_ptr_equal(mtl_shared_event_device(event), device);
    assert_ptr_equal(mtl_event_device((MTLEvent *)event), device);
    mtl_shared_event_set_label(event, "both");
    assert_string_equal(mtl_event_label((MTLEvent *)event), "both");
    assert_int_equal(mtl_shared_event_signaled_value(event), 0);
    mtl_shared_event_set_signaled_value(event, 42);
    assert_int_equal(mtl_shared_event_signaled_value(event), 42);
    mtl_shared_event_set_signaled_value(event, 7); // only larger values change it
    assert_int_equal(mtl_shared_event_signaled_value(event), 42);
    mtl_shared_event_set_signaled_value(event, UINT64_MAX);
    assert_true(mtl_shared_event_signaled_value(event) == UINT64_MAX);
    mtl_release(event);
}

static uint64_t now_ms(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (uint64_t)t.tv_sec * 1000 + (uint64_t)t.tv_nsec / 1000000;
}

static void waiting_on_the_cpu(void **state) {
    (void)state;
    MTLSharedEvent *event = mtl_device_new_shared_event(device);
    assert_true(mtl_shared_event_wait_until_signaled_value(event, 0, 0));
    assert_false(mtl_shared_event_wait_until_signaled_value(event, 1, 0));
    uint64_t start = now_ms();
    assert_false(mtl_shared_event_wait_until_signaled_value(event, 1, 30));
    assert_true(now_ms() - start >= 29);
    MTLCommandQueue *queue = mtl_device_new_command_queue(device);
    for (uint64_t i = 1; i <= 200; i++) {
        MTLCommandBuffer *commands = mtl_command_queue_command_buffer(queue);
        mtl_command_buffer_encode_signal_event(commands, (MTLEvent *)event, i);
        mtl_command_buffer_commit(commands);
        assert_true(mtl_shared_event_wait_until_signaled_value(event, i, UINT64_MAX));
        mtl_command_buffer_wait_until_completed(commands);
        mtl_release(commands);
    }
    mtl_release(queue), mtl_release(event);
}

// Several threads count together: each raises the value when it is its turn.
enum { THREADS = 4, TURNS = 200 };
static MTLSharedEvent *baton;

static void *take_turns(void *argument) {
    uint64_t me = (uint64_t)(uintptr_t)argument;
    for (uint64_t i = 0; i < TURNS; i++) {
        uint64_t turn = i * THREADS + me;
        if (!mtl_shared_event_wait_until_signaled_value(baton, turn, 60000)) return argument;
        if (mtl_shared_event_signaled_value(baton) != turn) return argument;
        mtl_shared_event_set_signaled_value(baton, turn + 1);
    }
    return NULL;
}

static void threads_take_turns(void **state) {
    (void)state;
    for (int shared = 0; shared < 2; shared++) {
        baton = mtl_device_new_shared_event(device);
        pthread_t threads[THREADS];
        for (uintptr_t i = 1; i < THREADS; i++)
            pthread_create(&threads[i], NULL, take_turns, (void *)i);
        // The number moves to a shared page while threads sleep on it.
        if (shared) mtl_release(mtl_shared_event_new_shared_event_handle(baton));
        assert_null(take_turns(NULL));
        for (int i = 1; i < THREADS; i++) {
            void *result;
            pthread_join(threads[i], &result);
            assert_null(result);
        }
        assert_int_equal(mtl_shared_event_signaled_value(baton), THREADS * TURNS);
        mtl_release(baton);
    }
}

// ---- Listeners ----

static atomic_int n_calls;
static _Atomic uint64_t seen_value;
static uint64_t order[16];
static pthread_t handler_thread;
static MTLSharedEvent *done; // raised by handlers

static void note_call(MTLSharedEvent *event, uint64_t value, void *context) {
    (void)event;
    int n = atomic_fetch_add(&n_calls, 1);
    if (n < 16) order[n] = (uint64_t)(uintptr_t)context;
    atomic_store(&seen_value, value);
    handler_thread = pthread_self();
    mtl_shared_event_set_signaled_value(done, (uint64_t)n + 1);
}

static void wait_for_calls(uint64_t n) {
    assert_true(mtl_shared_event_wait_until_signaled_value(done, n, 60000));
}

static void wait_for_count(const void *object, size_t n) {
    for (int i = 0; i < 60000 && mtl_retain_count(object) != n; i++) usleep(1000);
    assert_int_equal(mtl_retain_count(object), n);
}

static void listeners(void **state) {
    (void)state;
    done = mtl_device_new_shared_event(device);
    n_calls = 0;
    MTLSharedEvent *event = mtl_device_new_shared_event(device);
    MTLSharedEventListener *listener = mtl_shared_event_listener_new();
    mtl_shared_event_notify_listener(event, listener, 5, note_call, (void *)5);
    mtl_shared_event_notify_listener(event, listener, 3, note_call, (void *)3);
    mtl_shared_event_notify_listener(event, listener, 100, note_call, (void *)100);
    mtl_shared_event_set_signaled_value(event, 2);
    assert_false(mtl_shared_event_wait_until_signaled_value(done, 1, 20));
    mtl_shared_event_set_signaled_value(event, 4);
    wait_for_calls(1);
    assert_int_equal(order[0], 3);
    assert_int_equal(seen_value, 4);
    assert_false(pthread_equal(handler_thread, pthread_self()));
    mtl_shared_event_set_signaled_value(event, 9);
    wait_for_calls(2);
    assert_int_equal(order[1], 5);
    mtl_shared_event_notify_listener(event, listener, 1, note_call, (void *)1); // reached long ago
    wait_for_calls(3);
    assert_int_equal(order[2], 1);
    // From the GPU.
    MTLCommandQueue *queue = mtl_device_new_command_queue(device);
    MTLCommandBuffer *commands = mtl_command_queue_command_buffer(queue);
    mtl_command_buffer_encode_signal_event(commands, (MTLEvent *)event, 100);
    mtl_command_buffer_commit(commands);
    wait_for_calls(4);
    assert_int_equal(order[3], 100);
    mtl_command_buffer_wait_until_completed(commands);
    // Never reached: dropped with the event. Its listener is free then.
    mtl_shared_event_notify_listener(event, listener, 1000, note_call, NULL);
    wait_for_count(listener, 2); // a handler that has raised `done` may not have returned yet
    mtl_release(event);
    assert_int_equal(mtl_retain_count(listener), 1);
    assert_int_equal(n_calls, 4);
    mtl_release(commands), mtl_release(queue), mtl_release(listener), mtl_release(done);
}

static pthread_t dispatched_on;
static void run_at_once(void (*work)(void *item), void *item, void *context) {
    atomic_fetch_add((atomic_int *)context, 1);
    dispatched_on = pthread_self();
    work(item);
}

static void listeners_of_the_program(void **state) {
    (void)state;
    done = mtl_device_new_shared_event(device);
    n_calls = 0;
    atomic_int dispatched = 0;
    MTLSharedEvent *event = mtl_device_new_shared_event(device);
    MTLSharedEventListener *listener =
        mtl_shared_event_listener_new_with_dispatch(run_at_once, &dispatched);
    mtl_shared_event_notify_listener(event, listener, 1, note_call, NULL);
    mtl_release(listener); // the notification holds it
    mtl_shared_event_set_signaled_value(event, 1);
    wait_for_calls(1);
    assert_int_equal(dispatched, 1);
    assert_true(pthread_equal(handler_thread, dispatched_on));
    MTLSharedEventListener *common = mtl_shared_event_listener_shared_listener();
    assert_ptr_equal(common, mtl_shared_event_listener_shared_listener());
    mtl_shared_event_notify_listener(event, common, 2, note_call, NULL);
    mtl_shared_event_set_signaled_value(event, 2);
    wait_for_calls(2);
    mtl_release(event), mtl_release(done);
}

// ---- Handles in one process ----

static void handles(void **state) {
    (void)state;
    done = mtl_device_new_shared_event(device);
    n_calls = 0;
    MTLSharedEvent *event = mtl_device_new_shared_event(device);
    mtl_shared_event_set_label(event, "here and there");
    mtl_shared_event_set_signaled_value(event, 3);
    MTLSharedEventHandle *handle = mtl_shared_event_new_shared_event_handle(event);
    assert_non_null(handle);
    assert_string_equal(mtl_shared_event_handle_label(handle), "here and there");
    MTLSharedEvent *other = mtl_device_new_shared_event_with_handle(device, handle);
    assert_int_equal(mtl_shared_event_signaled_value(other), 3);
    assert_string_equal(mtl_shared_event_label(other), "here and there");

    MTLError *error = NULL;
    MTLSharedEventHandle *by_name =
        mtl_shared_event_handle_new_with_name(mtl_shared_event_handle_name(handle), &error);
    assert_non_null(by_name);
    assert_null(error);
    int descriptor = mtl_shared_event_handle_new_file_descriptor(handle);
    assert_true(descriptor >= 0);
    assert_int_equal(fcntl(descriptor, F_GETFD) & FD_CLOEXEC, 0);
    MTLSharedEventHandle *by_descriptor =
        mtl_shared_event_handle_new_with_file_descriptor(descriptor, &error);
    assert_non_null(by_descriptor);
    close(descriptor);
    MTLSharedEvent *third = mtl_device_new_shared_event_with_handle(device, by_descriptor);
    MTLSharedEvent *fourth = mtl_device_new_shared_event_with_handle(device, by_name);
    mtl_release(handle), mtl_release(by_name), mtl_release(by_descriptor);

    // Listener and GPU wait on one object, signals on others.
    MTLSharedEventListener *listener = mtl_shared_event_listener_new();
    mtl_shared_event_notify_listener(other, listener, 10, note_call, NULL);
    MTLCommandQueue *queue = mtl_device_new_command_queue(device);
    MTLCommandBuffer *commands = mtl_command_queue_command_buffer(queue);
    mtl_command_buffer_encode_wait_for_event(commands, (MTLEvent *)third, 10);
    mtl_command_buffer_encode_signal_event(commands, (MTLEvent *)fourth, 11);
    mtl_command_buffer_commit(commands);
    assert_false(mtl_shared_event_wait_until_signaled_value(event, 11, 20));
    mtl_shared_event_set_signaled_value(event, 10);
    assert_true(mtl_shared_event_wait_until_signaled_value(event, 11, 60000));
    mtl_command_buffer_wait_until_completed(commands);
    assert_completed(commands);
    wait_for_calls(1);
    assert_int_equal(mtl_shared_event_signaled_value(third), 11);
    mtl_release(commands), mtl_release(queue), mtl_release(listener), mtl_release(done);
    mtl_release(event), mtl_release(other), mtl_release(third), mtl_release(fourth);
}

static void refuse(MTLSharedEventHandle *handle, MTLError **at) {
    assert_null(handle);
    MTLError *error = *at;
    assert_non_null(error);
    assert_string_equal(mtl_error_domain(error), MTLDeviceErrorDomain);
    assert_int_equal(mtl_error_code(error), MTLDeviceErrorInvalidInput);
    mtl_release(error);
}

static void bad_handles(void **state) {
    (void)state;
    MTLError *error;
    static const char *const names[] = {
        NULL,
        "",
        "x",
        "ingot-shared-event-1:",
        "ingot-shared-event-1:1:2:3",
        "ingot-shared-event-1:-1:3:00000000000000000000000000000000",
        "ingot-shared-event-1:1:-3:00000000000000000000000000000000",
        "ingot-shared-event-1:999999999:3:00000000000000000000000000000000",
        "ingot-shared-event-1:99999999999999999999:3:00000000000000000000000000000000",
        "ingot-shared-event-1:1:3:00000000000000000000000000000000 and more"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        error = NULL;
        refuse(mtl_shared_event_handle_new_with_name(names[i], &error), &error);
        assert_null(mtl_shared_event_handle_new_with_name(names[i], NULL));
    }
    const int bad[] = {-1,
                       100000,
                       STDOUT_FILENO,
                       open("/dev/zero", O_RDWR),
                       memfd_create("plain", MFD_ALLOW_SEALING),
                       memfd_create("sealed", MFD_ALLOW_SEALING)};
    assert_int_equal(ftruncate(bad[4], 4096), 0);
    assert_int_equal(ftruncate(bad[5], 4096), 0);
    assert_int_equal(fcntl(bad[5], F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW), 0);
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        error = NULL;
        refuse(mtl_shared_event_handle_new_with_file_descriptor(bad[i], &error), &error);
    }
    for (size_t i = 3; i < sizeof bad / sizeof *bad; i++) close(bad[i]);

    // A name dies with its handle.
    MTLSharedEvent *event = mtl_device_new_shared_event(device);
    MTLSharedEventHandle *handle = mtl_shared_event_new_shared_event_handle(event);
    char name[128];
    snprintf(name, sizeof name, "%s", mtl_shared_event_handle_name(handle));
    mtl_release(handle);
    error = NULL;
    refuse(mtl_shared_event_handle_new_with_name(name, &error), &error);
    mtl_release(event);
}

static void misuse(void **state) {
    (void)state;
    MTLEvent *plain = mtl_device_new_event(device);
    MTLSharedEvent *event = mtl_device_new_shared_event(device);
    MTLSharedEventListener *listener = mtl_shared_event_listener_new();
    clear_messages();
    assert_int_equal(mtl_shared_event_signaled_value(NULL), 0);
    assert_string_equal(last_rule, "null_object");
    mtl_shared_event_set_signaled_value((MTLSharedEvent *)plain, 1);
    assert_string_equal(last_rule, "wrong_class");
    assert_false(mtl_shared_event_wait_until_signaled_value((MTLSharedEvent *)plain, 0, 0));
    mtl_shared_event_notify_listener(event, NULL, 1, note_call, NULL);
    assert_string_equal(last_rule, "null_argument");
    mtl_shared_event_notify_listener(event, listener, 1, NULL, NULL);
    assert_string_equal(last_rule, "null_argument");
    mtl_shared_event_notify_listener(event, (MTLSharedEventListener *)plain, 1, note_call, NULL);
    assert_string_equal(last_rule, "wrong_class");
    clear_messages();
    mtl_shared_event_notify_listener((MTLSharedEvent *)plain, listener, 1, note_call, NULL);
    assert_string_equal(last_rule, "wrong_class");
    clear_messages();
    assert_null(mtl_shared_event_new_shared_event_handle((MTLSharedEvent *)plain));
    assert_string_equal(last_rule, "wrong_class");
    assert_null(mtl_shared_event_new_shared_event_handle(NULL));
    assert_null(mtl_device_new_shared_event_with_handle(device, NULL));
    assert_string_equal(last_rule, "null_argument");
    assert_null(mtl_device_new_shared_event_with_handle(device, (MTLSharedEventHandle *)plain));
    assert_string_equal(last_rule, "wrong_class");
    assert_int_equal(mtl_shared_event_handle_new_file_descriptor(NULL), -1);
    assert_string_equal(mtl_shared_event_handle_name(NULL), "");
    mtl_release(plain), mtl_release(event), mtl_release(listener);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(values),
        cmocka_unit_test(waiting_on_the_cpu),
        cmocka_unit_test(threads_take_turns),
        cmocka_unit_test(listeners),
        cmocka_unit_test(listeners_of_the_program),
        cmocka_unit_test(handles),
        cmocka_unit_test(bad_handles),
        cmocka_unit_test(misuse),
    };
    return cmocka_run_group_tests(tests, open_device, close_device);
}
