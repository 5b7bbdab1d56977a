// SPDX-License-Identifier: Apache-2.0
// test_shared_event_process.c: shared events between two real processes. The test starts itself
// again (test_shared_event_process ROLE NAME-OR-DESCRIPTOR ...) as the other one.
#include <signal.h>
#include <spawn.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>
#include "api_test.h"

extern char **environ;
static const char *self;

// ---- The other process ----

static MTLSharedEvent *opened(const char *what) {
    MTLError *error = NULL;
    MTLSharedEventHandle *handle =
        strchr(what, ':') ? mtl_shared_event_handle_new_with_name(what, &error)
                          : mtl_shared_event_handle_new_with_file_descriptor(atoi(what), &error);
    if (!handle) {
        fprintf(stderr, "%s\n", mtl_error_localized_description(error));
        exit(3);
    }
    MTLSharedEvent *event = mtl_device_new_shared_event_with_handle(device, handle);
    mtl_release(handle);
    if (!event) exit(4);
    return event;
}

// Exit status 0: all went as it should.
static int play(const char *role, const char *what) {
    device = mtl_create_system_default_device();
    MTLSharedEvent *event = opened(what);
    int status = 0;
    if (strcmp(role, "signal") == 0) {
        mtl_shared_event_set_signaled_value(event, 5);
    } else if (strcmp(role, "gpu") == 0) { // waits on the GPU, answers from the GPU
        MTLCommandQueue *queue = mtl_device_new_command_queue(device);
        MTLCommandBuffer *commands = mtl_command_queue_command_buffer(queue);
        mtl_command_buffer_encode_wait_for_event(commands, (MTLEvent *)event, 1);
        mtl_command_buffer_encode_signal_event(commands, (MTLEvent *)event, 2);
        commit_and_wait(commands);
        status = mtl_command_buffer_status(commands) == MTLCommandBufferStatusCompleted ? 0 : 5;
        mtl_release(commands), mtl_release(queue);
    } else if (strcmp(role, "wait") == 0) { // for something that may never come
        status = mtl_shared_event_wait_until_signaled_value(event, 9, 300) ? 6 : 0;
    } else if (strcmp(role, "ping") == 0) {
        for (uint64_t i = 0; i < 400; i += 2) {
            mtl_shared_event_set_signaled_value(event, i + 1);
            if (!mtl_shared_event_wait_until_signaled_value(event, i + 2, 60000)) status = 7;
        }
    } else if (strcmp(role, "die") == 0) {
        mtl_shared_event_set_signaled_value(event, 1);
        raise(SIGKILL);
    } else if (strcmp(role, "make") == 0) { // makes one of its own, tells its name and waits
        MTLSharedEvent *own = mtl_device_new_shared_event(device);
        mtl_shared_event_set_signaled_value(own, 77);
        MTLSharedEventHandle *handle = mtl_shared_event_new_shared_event_handle(own);
        printf("%s\n", mtl_shared_event_handle_name(handle));
        fflush(stdout);
        mtl_shared_event_wait_until_signaled_value(own, 78, 60000);
        status = mtl_shared_event_signaled_value(own) == 78 ? 0 : 8;
        mtl_release(handle), mtl_release(own);
    }
    mtl_release(event), mtl_release(device);
    return status;
}

// ---- This process ----

static pid_t start(const char *role, const char *what, int output) {
    pid_t pid;
    posix_spawn_file_actions_t actions;
    posix_spawn_file_actions_init(&actions);
    if (output >= 0) posix_spawn_file_actions_adddup2(&actions, output, STDOUT_FILENO);
    char *arguments[] = {(char *)self, (char *)role, (char *)what, NULL};
    assert_int_equal(posix_spawn(&pid, self, &actions, NULL, arguments, environ), 0);
    posix_spawn_file_actions_destroy(&actions);
    return pid;
}

static int result(pid_t pid) {
    int status = 0;
    assert_int_equal(waitpid(pid, &status, 0), pid);
    return WIFSIGNALED(status) ? -WTERMSIG(status) : WEXITSTATUS(status);
}

static MTLSharedEvent *event;
static MTLSharedEventHandle *handle;

static int make_event(void **state) {
    (void)state;
    event = mtl_device_new_shared_event(device);
    handle = mtl_shared_event_new_shared_event_handle(event);
    return handle ? 0 : -1;
}

static int drop_event(void **state) {
    (void)state;
    mtl_release(handle), mtl_release(event);
    return 0;
}

static void the_other_signals(void **state) {
    (void)state;
    pid_t pid = start("signal", mtl_shared_event_handle_name(handle), -1);
    assert_true(mtl_shared_event_wait_until_signaled_value(event, 5, 60000));
    assert_int_equal(result(pid), 0);
}

static void by_an_inherited_descriptor(void **state) {
    (void)state;
    char text[16];
    int descriptor = mtl_shared_event_handle_new_file_descriptor(handle);
    snprintf(text, sizeof text, "%d", descriptor);
    pid_t pid = start("signal", text, -1);
    close(descriptor);
    assert_true(mtl_shared_event_wait_until_signaled_value(event, 5, 60000));
    assert_int_equal(result(pid), 0);
}

static atomic_int called;
static void note(MTLSharedEvent *e, uint64_t value, void *context) {
    (void)e, (void)context;
    atomic_store(&called, (int)value);
}

// GPU work of both processes: this one signals, the other's queue waits and answers, and a queue
// and a listener here wait for that.
static void queues_of_two_processes(void **state) {
    (void)state;
    pid_t pid = start("gpu", mtl_shared_event_handle_name(handle), -1);
    MTLCommandQueue *queue = mtl_device_new_command_queue(device);
    MTLSharedEventListener *listener = mtl_shared_event_listener_new();
    atomic_store(&called, 0);
    mtl_shared_event_notify_listener(event, listener, 2, note, NULL);
    MTLCommandBuffer *commands = mtl_command_queue_command_buffer(queue);
    mtl_command_buffer_encode_signal_event(commands, (MTLEvent *)event, 1);
    mtl_command_buffer_encode_wait_for_event(commands, (MTLEvent *)event, 2);
    commit_and_wait(commands);
    assert_completed(commands);
    assert_int_equal(result(pid), 0);
    for (int i = 0; i < 60000 && !atomic_load(&called); i++) usleep(1000);
    assert_int_equal(atomic_load(&called), 2);
    mtl_release(commands), mtl_release(queue), mtl_release(listener);
}

static void to_and_fro(void **state) {
    (void)state;
    pid_t pid = start("ping", mtl_shared_event_handle_name(handle), -1);
    for (uint64_t i = 1; i < 400; i += 2) {
        assert_true(mtl_shared_event_wait_until_signaled_value(event, i, 60000));
        mtl_shared_event_set_signaled_value(event, i + 1);
    }
    assert_int_equal(result(pid), 0);
}

static void the_other_dies(void **state) {
    (void)state;
    pid_t pid = start("die", mtl_shared_event_handle_name(handle), -1);
    assert_true(mtl_shared_event_wait_until_signaled_value(event, 1, 60000));
    assert_int_equal(result(pid), -SIGKILL);
    // What it promised will not come: false, or an error, after the time limit.
    assert_false(mtl_shared_event_wait_until_signaled_value(event, 2, 50));
    MTLCommandQueue *queue = mtl_device_new_command_queue_with_descriptor(
        device, &(MTLCommandQueueDescriptor){.timeout_ms = 50});
    MTLCommandBuffer *commands = mtl_command_queue_command_buffer(queue);
    mtl_command_buffer_encode_wait_for_event(commands, (MTLEvent *)event, 2);
    commit_and_wait(commands);
    assert_int_equal(mtl_command_buffer_status(commands), MTLCommandBufferStatusError);
    assert_int_equal(mtl_error_code(mtl_command_buffer_error(commands)),
                     MTLCommandBufferErrorTimeout);
    mtl_release(commands), mtl_release(queue);
    // The event itself goes on.
    mtl_shared_event_set_signaled_value(event, 2);
    assert_true(mtl_shared_event_wait_until_signaled_value(event, 2, 0));
}

// This process lets go of the event: the other one's wait ends after its time, and it lives.
static void the_owner_is_gone(void **state) {
    (void)state;
    int descriptor = mtl_shared_event_handle_new_file_descriptor(handle);
    char text[16];
    snprintf(text, sizeof text, "%d", descriptor);
    pid_t pid = start("wait", text, -1);
    close(descriptor);
    mtl_release(handle), mtl_release(event);
    handle = NULL, event = NULL;
    assert_int_equal(result(pid), 0);
}

// The maker is killed: its event lives on here, its name does not.
static void handle_of_a_dead_process(void **state) {
    (void)state;
    int ends[2];
    assert_int_equal(pipe(ends), 0);
    pid_t pid = start("make", mtl_shared_event_handle_name(handle), ends[1]);
    close(ends[1]);
    FILE *stream = fdopen(ends[0], "r");
    char name[128];
    assert_non_null(fgets(name, sizeof name, stream));
    fclose(stream);
    name[strcspn(name, "\n")] = '\0';
    MTLError *error = NULL;
    MTLSharedEventHandle *theirs = mtl_shared_event_handle_new_with_name(name, &error);
    assert_non_null(theirs);
    MTLSharedEvent *their_event = mtl_device_new_shared_event_with_handle(device, theirs);
    assert_int_equal(mtl_shared_event_signaled_value(their_event), 77);
    assert_int_equal(kill(pid, SIGKILL), 0);
    assert_int_equal(result(pid), -SIGKILL);
    assert_null(mtl_shared_event_handle_new_with_name(name, &error));
    assert_int_equal(mtl_error_code(error), MTLDeviceErrorInvalidInput);
    mtl_release(error);
    mtl_shared_event_set_signaled_value(their_event, 78);
    assert_int_equal(mtl_shared_event_signaled_value(their_event), 78);
    mtl_release(theirs), mtl_release(their_event);
}

static void over_a_socket(void **state) {
    (void)state;
    int pair[2];
    assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM, 0, pair), 0);
    int descriptor = mtl_shared_event_handle_new_file_descriptor(handle);
    char byte = 0;
    union {
        char bytes[CMSG_SPACE(sizeof(int))];
        struct cmsghdr align;
    } control;
    memset(&control, 0, sizeof control);
    struct iovec part = {&byte, 1};
    struct msghdr message = {.msg_iov = &part,
                             .msg_iovlen = 1,
                             .msg_control = control.bytes,
                             .msg_controllen = sizeof control.bytes};
    struct cmsghdr *head = CMSG_FIRSTHDR(&message);
    head->cmsg_level = SOL_SOCKET, head->cmsg_type = SCM_RIGHTS;
    head->cmsg_len = CMSG_LEN(sizeof descriptor);
    memcpy(CMSG_DATA(head), &descriptor, sizeof descriptor);
    assert_int_equal(sendmsg(pair[0], &message, 0), 1);
    close(descriptor);
    pid_t pid = fork(); // a plain child that knows nothing of the parent's objects
    if (pid == 0) {
        close(pair[0]);
        int received = -1;
        if (recvmsg(pair[1], &message, 0) == 1)
            memcpy(&received, CMSG_DATA(CMSG_FIRSTHDR(&message)), sizeof received);
        char text[16];
        snprintf(text, sizeof text, "%d", received);
        execl(self, self, "signal", text, (char *)NULL);
        _exit(9);
    }
    close(pair[0]), close(pair[1]);
    assert_true(mtl_shared_event_wait_until_signaled_value(event, 5, 60000));
    assert_int_equal(result(pid), 0);
}

// A child of fork has the parent's event, without any handle, once it was shared.
static void a_forked_child(void **state) {
    (void)state;
    pid_t pid = fork();
    if (pid == 0) {
        bool ok = mtl_shared_event_wait_until_signaled_value(event, 1, 60000);
        mtl_shared_event_set_signaled_value(event, 2);
        _exit(ok ? 0 : 1);
    }
    mtl_shared_event_set_signaled_value(event, 1);
    assert_true(mtl_shared_event_wait_until_signaled_value(event, 2, 60000));
    assert_int_equal(result(pid), 0);
}

int main(int argc, char **argv) {
    self = argv[0];
    if (argc == 3) return play(argv[1], argv[2]);
#define WITH_EVENT(name) cmocka_unit_test_setup_teardown(name, make_event, drop_event)
    const struct CMUnitTest tests[] = {
        WITH_EVENT(the_other_signals), WITH_EVENT(by_an_inherited_descriptor),
        WITH_EVENT(over_a_socket),     WITH_EVENT(queues_of_two_processes),
        WITH_EVENT(to_and_fro),        WITH_EVENT(the_other_dies),
        WITH_EVENT(the_owner_is_gone), WITH_EVENT(handle_of_a_dead_process),
        WITH_EVENT(a_forked_child),
    };
    return cmocka_run_group_tests(tests, open_device, close_device);
}
