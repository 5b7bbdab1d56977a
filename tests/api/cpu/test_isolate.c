// SPDX-License-Identifier: Apache-2.0
// test_isolate.c: isolated devices: kernels that break everything they can reach, without shader
// validation, break their own process. The program goes on, reads what its buffers hold, and a new
// device works.
#include "api_test.h"
#include <dirent.h>
#include <signal.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static const char source[] =
    HEAD "kernel void add(device uint *x [[buffer(0)]], constant uint &by [[buffer(1)]],\n"
         "    uint i [[thread_position_in_grid]]) { x[i] += by; }\n"
         // Every word of the device's memory from an address on, as far as the numbers say.
         "kernel void scribble(device ulong *x [[buffer(0)]], constant long2 &to [[buffer(1)]],\n"
         "    uint i [[thread_position_in_grid]]) {\n"
         "    device ulong *p = (device ulong *)x[0];\n"
         "    if (i == 0) for (long k = to.x; k < to.y; k++) p[k] = 0x4141414141414141; }\n"
         "kernel void forever(device atomic_uint *x [[buffer(0)]]) {\n"
         "    while (atomic_load_explicit(x, memory_order_relaxed) == 0) { } }\n"
         "kernel void deep(device uint *x [[buffer(0)]], uint i [[thread_position_in_grid]]) {\n"
         "    uint a[64]; for (uint k = 0; k < x[0]; k++) a[k] = 0xdeadbeef; x[1] = a[i & 63]; }\n";

enum { ADD, SCRIBBLE, FOREVER, DEEP, N_KERNELS };
static const char *const names[] = {"add", "scribble", "forever", "deep"};

typedef struct Rig {
    MTLDevice *device;
    MTLCommandQueue *queue;
    MTLComputePipelineState *kernels[N_KERNELS];
} Rig;

static Rig rig_new(void) {
    MTLError *error = NULL;
    Rig r = {.device = mtl_create_isolated_device(&error)};
    if (!r.device) fail_msg("%s", mtl_error_localized_description(error));
    r.queue = mtl_device_new_command_queue(r.device);
    device = r.device; // of the helpers
    MTLLibrary *library = compile(source);
    for (int i = 0; i < N_KERNELS; i++) r.kernels[i] = pipeline_of(library, names[i]);
    mtl_release(library);
    return r;
}

static void rig_free(Rig *r) {
    for (int i = 0; i < N_KERNELS; i++) mtl_release(r->kernels[i]);
    mtl_release(r->queue), mtl_release(r->device);
}

static MTLCommandBuffer *launch(const Rig *r, int kernel, MTLBuffer *x, const void *bytes,
                                size_t n_bytes, size_t n) {
    MTLCommandBuffer *commands = mtl_command_queue_command_buffer(r->queue);
    MTLComputeCommandEncoder *e = mtl_command_buffer_compute_command_encoder(commands);
    mtl_compute_command_encoder_set_compute_pipeline_state(e, r->kernels[kernel]);
    mtl_compute_command_encoder_set_buffer(e, x, 0, 0);
    if (bytes) mtl_compute_command_encoder_set_bytes(e, bytes, n_bytes, 1);
    mtl_compute_command_encoder_dispatch_threads(e, mtl_size_make(n, 1, 1),
                                                 mtl_size_make(n < 64 ? n : 64, 1, 1));
    mtl_compute_command_encoder_end_encoding(e);
    mtl_command_buffer_commit(commands);
    return commands;
}

static long add(const Rig *r, MTLBuffer *x, uint32_t by) {
    return outcome(launch(r, ADD, x, &by, sizeof by, 256));
}

static MTLBuffer *counted(const Rig *r) {
    MTLBuffer *x = mtl_device_new_buffer(r->device, 256 * sizeof(uint32_t), 0);
    uint32_t *words = mtl_buffer_contents(x);
    for (uint32_t i = 0; i < 256; i++) words[i] = i;
    return x;
}

static void assert_counted(const MTLBuffer *x, uint32_t from) {
    const uint32_t *words = mtl_buffer_contents((MTLBuffer *)(uintptr_t)x);
    for (uint32_t i = 0; i < 256; i++) assert_int_equal(words[i], from + i);
}

// The process behind the newest device of ours.
static pid_t child(void) {
    pid_t found = 0;
    DIR *proc = opendir("/proc");
    for (struct dirent *e; proc && (e = readdir(proc));) {
        char path[300], text[512] = "";
        snprintf(path, sizeof path, "/proc/%s/stat", e->d_name);
        FILE *f = fopen(path, "r");
        int pid = 0, parent = 0;
        char name[64] = "", state = 0;
        if (f && fgets(text, sizeof text, f) &&
            sscanf(text, "%d (%63[^)]) %c %d", &pid, name, &state, &parent) == 4 &&
            parent == getpid() && !strcmp(name, "ingot-device") && state != 'Z' && pid > found)
            found = pid;
        if (f) fclose(f);
    }
    if (proc) closedir(proc);
    return found;
}

// It fails within a few command buffers, if not at once; every one after says so too.
static void assert_gone(const Rig *r, MTLBuffer *x) {
    long code = 0;
    for (int i = 0; i < 100 && !code; i++) {
        code = add(r, x, 0);
        nanosleep(&(struct timespec){0, 10000000}, NULL);
    }
    assert_int_equal(code, MTLCommandBufferErrorDeviceRemoved);
    assert_int_equal(add(r, x, 0), MTLCommandBufferErrorDeviceRemoved);
}

static void assert_works(void) {
    Rig r = rig_new();
    MTLBuffer *x = counted(&r);
    assert_int_equal(add(&r, x, 5), 0);
    assert_counted(x, 5);
    mtl_release(x);
    rig_free(&r);
}

// ---- Tests ----

static void it_computes(void **state) {
    (void)state;
    Rig r = rig_new();
    assert_true(mtl_device_is_isolated(r.device));
    assert_true(mtl_device_is_removable(r.device));
    assert_false(mtl_device_supports_raytracing(r.device));
    MTLBuffer *x = counted(&r);
    for (uint32_t i = 1; i <= 300; i++) assert_int_equal(add(&r, x, i), 0);
    assert_counted(x, 300 * 301 / 2);
    mtl_release(x);
    rig_free(&r);
}

static void two_at_a_time(void **state) {
    (void)state;
    Rig a = rig_new(), b = rig_new();
    MTLBuffer *x = counted(&a), *y = counted(&b);
    pid_t second = child();
    assert_int_equal(add(&a, x, 1), 0);
    assert_int_equal(add(&b, y, 2), 0);
    assert_int_equal(kill(second, SIGKILL), 0);
    assert_gone(&b, y);
    assert_int_equal(add(&a, x, 1), 0); // others do not notice
    assert_counted(x, 2);
    assert_counted(y, 2);
    mtl_release(x), mtl_release(y);
    rig_free(&a), rig_free(&b);
}

static void killed_while_it_runs(void **state) {
    (void)state;
    Rig r = rig_new();
    MTLBuffer *x = counted(&r), *y = counted(&r);
    ((uint32_t *)mtl_buffer_contents(x))[0] = 0;
    MTLCommandBuffer *commands = launch(&r, FOREVER, x, NULL, 0, 1);
    nanosleep(&(struct timespec){0, 50000000}, NULL);
    assert_int_equal(kill(child(), SIGKILL), 0);
    assert_int_equal(outcome(commands), MTLCommandBufferErrorDeviceRemoved);
    assert_gone(&r, y);
    assert_counted(y, 0); // what was there can be read
    assert_works();
    mtl_release(x), mtl_release(y);
    rig_free(&r);
}

// All of the shared memory below a buffer: records, and what commands under way need.
static void over_everything_below(void **state) {
    (void)state;
    Rig r = rig_new();
    MTLBuffer *x = counted(&r), *after = counted(&r);
    uint64_t address = mtl_buffer_gpu_address(x);
    memcpy(mtl_buffer_contents(x), &address, sizeof address);
    int64_t to[2] = {-(8 << 20) / 8, -1};
    outcome(launch(&r, SCRIBBLE, x, to, sizeof to, 1));
    assert_counted(after, 0);
    long code = 0;
    for (int i = 0; i < 5; i++) code = add(&r, after, 0); // any outcome, and no end of ours
    (void)code;
    assert_works();
    mtl_release(x), mtl_release(after);
    rig_free(&r);
}

// Addresses of the program's own memory mean nothing there.
static void at_memory_of_the_program(void **state) {
    (void)state;
    static uint64_t secret[8] = {1, 2, 3, 4, 5, 6, 7, 8};
    uint64_t *heap = malloc(sizeof secret), here[8] = {9};
    memcpy(heap, secret, sizeof secret);
    const uint64_t targets[] = {(uintptr_t)secret, (uintptr_t)heap, (uintptr_t)here,
                                (uintptr_t)&mtl_create_isolated_device & ~(uintptr_t)7};
    for (size_t i = 0; i < sizeof targets / sizeof *targets; i++) {
        Rig r = rig_new();
        MTLBuffer *x = counted(&r);
        memcpy(mtl_buffer_contents(x), &targets[i], sizeof targets[i]);
        int64_t to[2] = {0, 8};
        assert_int_not_equal(outcome(launch(&r, SCRIBBLE, x, to, sizeof to, 1)), 0);
        mtl_release(x);
        rig_free(&r);
    }
    for (uint64_t i = 0; i < 8; i++) assert_int_equal(secret[i], i + 1);
    assert_memory_equal(heap, secret, sizeof secret);
    assert_int_equal(here[0], 9);
    free(heap);
}

static void past_a_thread_array(void **state) {
    (void)state;
    for (uint32_t n = 100; n <= 100000000; n *= 100) {
        Rig r = rig_new();
        MTLBuffer *x = counted(&r);
        ((uint32_t *)mtl_buffer_contents(x))[0] = n;
        mtl_device_set_timeout(r.device, 2000);
        outcome(launch(&r, DEEP, x, NULL, 0, 1));
        mtl_release(x);
        rig_free(&r);
    }
    assert_works();
}

static void without_an_end(void **state) {
    (void)state;
    Rig r = rig_new();
    MTLBuffer *x = counted(&r);
    ((uint32_t *)mtl_buffer_contents(x))[0] = 0;
    mtl_device_set_timeout(r.device, 200);
    assert_int_equal(outcome(launch(&r, FOREVER, x, NULL, 0, 1)), MTLCommandBufferErrorTimeout);
    mtl_device_set_timeout(r.device, 0);
    assert_int_equal(add(&r, x, 0), 0); // its process is as it was
    mtl_release(x);
    rig_free(&r);
}

// All its threads stand still when this returns, and not only have been told to.
static void stop(pid_t process) {
    siginfo_t info;
    assert_int_equal(kill(process, SIGSTOP), 0);
    assert_int_equal(waitid(P_PID, (id_t)process, &info, WSTOPPED | WNOWAIT), 0);
}

// The child stands still: nobody there looks at the time.
static void a_child_that_sleeps(void **state) {
    (void)state;
    Rig r = rig_new();
    MTLBuffer *x = counted(&r);
    mtl_device_set_timeout(r.device, 100);
    assert_int_equal(add(&r, x, 1), 0);
    stop(child());
    uint32_t one = 1;
    assert_int_equal(outcome(launch(&r, ADD, x, &one, sizeof one, 256)),
                     MTLCommandBufferErrorTimeout);
    assert_gone(&r, x);
    mtl_release(x);
    rig_free(&r);
}

static void memory_of_the_program(void **state) {
    (void)state;
    Rig r = rig_new();
    size_t n = 16384;
    uint32_t *own = aligned_alloc(n, n);
    for (uint32_t i = 0; i < 256; i++) own[i] = i;
    MTLBuffer *x = mtl_device_new_buffer_with_bytes_no_copy(r.device, own, n, 0, NULL, NULL);
    assert_non_null(x);
    assert_ptr_equal(mtl_buffer_contents(x), own);
    assert_int_equal(add(&r, x, 7), 0);
    assert_counted(x, 7);
    for (uint32_t i = 0; i < 256; i++) own[i] = i + 1;
    assert_int_equal(add(&r, x, 7), 0);
    assert_counted(x, 8);
    mtl_release(x);
    free(own);
    rig_free(&r);
}

// Large buffers are the child's too: no copies, and what is given back is zero when it comes again.
static void large_buffers(void **state) {
    (void)state;
    Rig r = rig_new();
    for (int round = 0; round < 3; round++) {
        size_t n = (size_t)64 << 20;
        MTLBuffer *x = mtl_device_new_buffer(r.device, n, MTLResourceStorageModeShared);
        const unsigned char *bytes = mtl_buffer_contents(x);
        for (size_t i = 0; i < n; i += 4096) assert_int_equal(bytes[i], 0);
        uint32_t one = 1;
        assert_int_equal(outcome(launch(&r, ADD, x, &one, sizeof one, n / 4)), 0);
        for (size_t i = 0; i < n; i += 4096) assert_int_equal(bytes[i], 1);
        mtl_release(x);
    }
    rig_free(&r);
}

static void the_default_device(void **state) {
    (void)state;
    assert_int_equal(setenv("INGOT_ISOLATE", "1", 1), 0);
    MTLDevice *first = mtl_create_system_default_device(), *second;
    assert_true(mtl_device_is_isolated(first));
    second = mtl_create_system_default_device();
    assert_ptr_equal(first, second);
    mtl_release(second);
    assert_int_equal(kill(child(), SIGKILL), 0);
    for (int i = 0; i < 100 && second == first; i++) {
        nanosleep(&(struct timespec){0, 10000000}, NULL);
        second = mtl_create_system_default_device();
        mtl_release(second); // the list has it
    }
    assert_ptr_not_equal(first, second);
    assert_int_not_equal(mtl_device_registry_id(first), mtl_device_registry_id(second));
    mtl_release(first);
    unsetenv("INGOT_ISOLATE");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_default_device), // before any other opens the list
        cmocka_unit_test(it_computes),
        cmocka_unit_test(two_at_a_time),
        cmocka_unit_test(killed_while_it_runs),
        cmocka_unit_test(over_everything_below),
        cmocka_unit_test(at_memory_of_the_program),
        cmocka_unit_test(past_a_thread_array),
        cmocka_unit_test(without_an_end),
        cmocka_unit_test(a_child_that_sleeps),
        cmocka_unit_test(memory_of_the_program),
        cmocka_unit_test(large_buffers),
    };
    return cmocka_run_group_tests_name("isolate", tests, NULL, NULL);
}
