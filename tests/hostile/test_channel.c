// SPDX-License-Identifier: Apache-2.0
// test_channel.c: kernels of an isolated device that found out where its channels lie and write
// there what the child process alone should: each field, forged. Here they are told the address,
// which they would have to find. The program goes on, and believes nothing that cannot be; what can
// be is said of the device's own commands.
#include "../api/api_test.h"
#include "devices/isolate/protocol.h"
#include <dirent.h>
#include <signal.h>
#include <time.h>
#include <unistd.h>

static const char source[] =
    HEAD "kernel void forge(device ulong *x [[buffer(0)]]) {\n" // addresses and words, in order
         "    for (ulong k = 0; k < x[0]; k++)\n"
         "        *(device volatile uint *)x[2 * k + 1] = uint(x[2 * k + 2]); }\n"
         "kernel void add(device uint *x [[buffer(0)]]) { x[0] += 1; }\n"
         "kernel void await(device atomic_uint *x [[buffer(0)]]) {\n"
         "    while (atomic_load_explicit(x, memory_order_relaxed) == 0) { } }\n";

enum { MAX_WORDS = 2000 };
typedef struct Rig {
    MTLDevice *device;
    MTLCommandQueue *queue;
    MTLComputePipelineState *forge, *add, *await;
    MTLBuffer *words, *x;
    uintptr_t head;       // in the child
    const IsoHead *shown; // here
} Rig;

// ---- Where the channels are ----

static pid_t newest_child(void) {
    pid_t found = 0;
    DIR *proc = opendir("/proc");
    for (struct dirent *e; proc && (e = readdir(proc));) {
        char path[300], text[512] = "", name[64] = "", state = 0;
        int pid = 0, parent = 0;
        snprintf(path, sizeof path, "/proc/%s/stat", e->d_name);
        FILE *f = fopen(path, "r");
        if (f && fgets(text, sizeof text, f) &&
            sscanf(text, "%d (%63[^)]) %c %d", &pid, name, &state, &parent) == 4 &&
            parent == getpid() && !strcmp(name, "ingot-device") && state != 'Z' && pid > found)
            found = pid;
        if (f) fclose(f);
    }
    if (proc) closedir(proc);
    return found;
}

typedef struct Places {
    uintptr_t range, range_end, head;
} Places;

// The largest and the smallest mapping of a device's files in a process that has one device.
static Places find_places(pid_t pid) {
    char path[64], line[512];
    Places p = {0};
    uintptr_t least = UINTPTR_MAX;
    snprintf(path, sizeof path, "/proc/%d/maps", pid);
    FILE *maps = fopen(path, "r");
    assert_non_null(maps);
    while (fgets(line, sizeof line, maps)) {
        unsigned long from, to;
        if (!strstr(line, "memfd:ingot-device") || sscanf(line, "%lx-%lx", &from, &to) != 2)
            continue;
        if (to - from > p.range_end - p.range) p.range = from, p.range_end = to;
        if (to - from < least) p.head = from, least = to - from;
    }
    fclose(maps);
    assert_true(least >= sizeof(IsoHead) && least < sizeof(IsoHead) + (2 << 20));
    return p;
}

// ---- Rigs ----

static char logged[4096];
static atomic_int n_logged;
static void note_log(const char *subsystem, const char *category, MTLLogLevel level,
                     const char *text, void *context) {
    (void)context;
    assert_true(level <= MTLLogLevelFault);
    snprintf(logged, sizeof logged, "%s%s%s", subsystem, category, text);
    n_logged++;
}

static void note_report(const MTLDeviceMessage *message, void *context) {
    (void)context;
    snprintf(last_text, sizeof last_text, "%s", message->text);
    n_messages++;
}

static MTLComputePipelineState *kernel_of(MTLLibrary *library, const char *name, bool checked) {
    MTLFunction *f = mtl_library_new_function(library, name);
    MTLError *error = NULL;
    MTLComputePipelineState *p = mtl_device_new_compute_pipeline_state_with_descriptor(
        device,
        &(MTLComputePipelineDescriptor){.compute_function = f,
                                        .shader_validation = checked ? MTLShaderValidationEnabled
                                                                     : MTLShaderValidationDisabled},
        0, NULL, &error);
    if (!p) fail_msg("%s", mtl_error_localized_description(error));
    mtl_release(f);
    return p;
}

static Rig rig_new(void) {
    MTLError *error = NULL;
    Rig r = {.device = mtl_create_isolated_device(&error)};
    if (!r.device) fail_msg("%s", mtl_error_localized_description(error));
    device = r.device;
    MTLLogState *state = mtl_device_new_log_state(device, NULL, NULL);
    mtl_log_state_add_log_handler(state, note_log, NULL);
    r.queue = mtl_device_new_command_queue_with_descriptor(
        device, &(MTLCommandQueueDescriptor){.log_state = state});
    mtl_release(state);
    mtl_device_set_log_callback(device, note_report, NULL);
    MTLLibrary *library = compile(source);
    r.forge = kernel_of(library, "forge", false);
    r.add = kernel_of(library, "add", true);
    r.await = kernel_of(library, "await", false);
    mtl_release(library);
    r.words = mtl_device_new_buffer(device, (2 * MAX_WORDS + 1) * sizeof(uint64_t), 0);
    r.x = mtl_device_new_buffer(device, 16, 0);
    r.head = find_places(newest_child()).head;
    r.shown = (const IsoHead *)find_places(getpid()).head;
    n_messages = n_logged = 0;
    *last_text = '\0';
    return r;
}

static void rig_free(Rig *r) {
    mtl_release(r->words), mtl_release(r->x);
    mtl_release(r->forge), mtl_release(r->add), mtl_release(r->await);
    mtl_release(r->queue), mtl_release(r->device);
}

// A write more of the kernel's list.
static void put(Rig *r, size_t at, const void *bytes, size_t n_bytes) {
    uint64_t *words = mtl_buffer_contents(r->words);
    for (size_t i = 0; i < n_bytes; i += 4) {
        uint32_t word = 0;
        memcpy(&word, (const char *)bytes + i, 4);
        assert_true(words[0] < MAX_WORDS);
        words[2 * words[0] + 1] = r->head + at + i;
        words[2 * words[0] + 2] = word;
        words[0]++;
    }
}
static void put_word(Rig *r, size_t at, uint32_t word) { put(r, at, &word, 4); }

#define IN_CHANNEL(i, field) (offsetof(IsoHead, channels[i]) + offsetof(IsoChannel, field))

static void encode(MTLComputeCommandEncoder *e, MTLComputePipelineState *p, MTLBuffer *x) {
    mtl_compute_command_encoder_set_compute_pipeline_state(e, p);
    mtl_compute_command_encoder_set_buffer(e, x, 0, 0);
    mtl_compute_command_encoder_dispatch_threads(e, mtl_size_make(1, 1, 1), mtl_size_make(1, 1, 1));
}

static MTLCommandBuffer *launch(const Rig *r, MTLComputePipelineState *p, MTLBuffer *x,
                                MTLComputePipelineState *then) {
    MTLCommandBuffer *commands = mtl_command_queue_command_buffer(r->queue);
    MTLComputeCommandEncoder *e = mtl_command_buffer_compute_command_encoder(commands);
    encode(e, p, x);
    if (then) encode(e, then, r->x);
    mtl_compute_command_encoder_end_encoding(e);
    mtl_command_buffer_commit(commands);
    return commands;
}

// The forgeries so far, by a kernel that runs; a checked one runs behind it, in the same run.
static long forge(const Rig *r) { return outcome(launch(r, r->forge, r->words, r->add)); }

// Number of the forging command, which is the second of the next run.
static uint32_t number(const Rig *r) {
    return atomic_load((atomic_uint *)(uintptr_t)&r->shown->channels[0].submitted) + 1;
}

static void put_note(Rig *r, const IsoNote *note) {
    put(r, IN_CHANNEL(0, notes), note, sizeof *note);
    put_word(r, IN_CHANNEL(0, notes_written), 1);
}

// ---- Notes ----

static void reports(void **state) {
    (void)state;
    const struct {
        AbiReport report;
        uint64_t context;
        int command; // added to the right number
        const char *said;
    } cases[] = {
        // The first is one that can be: it is believed, or the others would prove nothing.
        {{.slot = 0, .n_bytes = 4, .offset = 64, .length = 16}, 1, 0, "buffer index 0"},
        {{.slot = 0x41414141, .n_bytes = 4}, 1, 0, "outside a buffer of stage inputs"},
        {{.slot = 1, .n_bytes = 4}, 1, 0, "outside a buffer of stage inputs"},
        {{.slot = UINT32_MAX - 1}, 1, 0, "outside a buffer of stage inputs"},
        {{.access = ABI_NOT_UNIFORM, .name = "AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA"}, 1, 0, "AAAA with"},
        {{.access = ABI_N_BAD}, 1, 0, NULL},
        {{.access = UINT32_MAX}, 1, 0, NULL},
        {{.space = 77}, 1, 0, NULL},
        {{.slot = 0}, 0, 0, NULL},
        {{.slot = 0}, 2, 0, NULL},
        {{.slot = 0}, UINT64_MAX, 0, NULL},
        {{.slot = 0}, 1, -5, NULL}, // a command that is done
        {{.slot = 0}, 1, 100, NULL},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        Rig r = rig_new();
        IsoNote note = {.is_report = 1,
                        .command = number(&r) + (uint32_t)cases[i].command,
                        .context = cases[i].context,
                        .report = cases[i].report};
        if (*note.report.name) memset(note.report.name, 'A', sizeof note.report.name);
        note.report.count = UINT64_MAX;
        memset(note.text, 'B', sizeof note.text); // no end
        put_note(&r, &note);
        assert_int_equal(forge(&r), 0);
        if (!cases[i].said && n_messages) fail_msg("%zu: %s", i, last_text);
        if (cases[i].said && !strstr(last_text, cases[i].said)) fail_msg("%zu: %s", i, last_text);
        rig_free(&r);
    }
}

// A text is believed with as many arguments as there can be, and not with more.
static void text_of(uint32_t n_args, int n_said) {
    Rig r = rig_new();
    IsoNote note = {.command = number(&r), .type = UINT32_MAX, .n_args = n_args};
    for (size_t i = 0; i < ISO_NOTE_ARGS; i++) {
        note.args[2 * i] = ISO_TAG_STRING | UINT64_MAX << 16;
        note.args[2 * i + 1] = i % 2 ? UINT64_MAX >> i : i;
    }
    for (size_t i = 0; i < sizeof note.text; i++) note.text[i] = "%s%v4s%9999s%n"[i % 14];
    put_note(&r, &note);
    assert_int_equal(forge(&r), 0);
    assert_int_equal(n_logged, n_said);
    assert_true(!n_said || strlen(logged) > 0);
    rig_free(&r);
}

static void texts(void **state) {
    (void)state;
    text_of(ISO_NOTE_ARGS, 1);
    text_of(ISO_NOTE_ARGS + 1, 0);
    text_of(UINT32_MAX, 0);
}

static void more_notes_than_fit(void **state) {
    (void)state;
    Rig r = rig_new();
    put_word(&r, IN_CHANNEL(0, notes_written), 0x40000000);
    assert_int_equal(forge(&r), MTLCommandBufferErrorDeviceRemoved);
    assert_int_equal(n_messages + n_logged, 0);
    rig_free(&r);
}

// ---- Faults, counters ----

// A kernel that waits, and, of another run at the same time, one that says of it that it is done
// and had a fault.
static long fault_of_another(uint32_t fault, int command, uint64_t address) {
    Rig r = rig_new();
    MTLBuffer *flag = mtl_device_new_buffer(r.device, 16, 0);
    mtl_device_set_timeout(r.device, 5000);
    MTLCommandBuffer *waiting = launch(&r, r.await, flag, NULL);
    const IsoChannel *c = &r.shown->channels[0];
    atomic_uint *submitted = (atomic_uint *)(uintptr_t)&c->submitted;
    for (int i = 0; i < 2000 && atomic_load(submitted) < 2; i++)
        nanosleep(&(struct timespec){0, 1000000}, NULL);
    nanosleep(&(struct timespec){0, 20000000}, NULL); // all of it is submitted
    uint32_t n = atomic_load(submitted);
    put(&r, IN_CHANNEL(0, address), &address, sizeof address);
    put_word(&r, IN_CHANNEL(0, faulting), n - 1 + (uint32_t)command);
    memset(logged, 'K', sizeof logged);
    put(&r, IN_CHANNEL(0, kernel), logged, sizeof c->kernel);
    put_word(&r, IN_CHANNEL(0, fault), fault);
    put_word(&r, IN_CHANNEL(0, done), n);
    MTLCommandQueue *first = r.queue;
    r.queue = mtl_device_new_command_queue(r.device);
    outcome(launch(&r, r.forge, r.words, NULL));
    long code = outcome(waiting);
    ((uint32_t *)mtl_buffer_contents(flag))[0] = 1;
    mtl_release(flag), mtl_release(first);
    rig_free(&r);
    return code;
}

static void faults(void **state) {
    (void)state;
    // One that its own command could have had is the device's word.
    assert_int_equal(fault_of_another(DEV_FAULT_MEMORY, 0, UINT64_MAX),
                     MTLCommandBufferErrorPageFault);
    assert_int_equal(fault_of_another(DEV_FAULT_MEMORY, 1, 0), MTLCommandBufferErrorDeviceRemoved);
    assert_int_equal(fault_of_another(DEV_FAULT_MEMORY, -50, 0),
                     MTLCommandBufferErrorDeviceRemoved);
    assert_int_equal(fault_of_another(77, 0, 0), MTLCommandBufferErrorDeviceRemoved);
    assert_int_equal(fault_of_another(UINT32_MAX, 0, 0), MTLCommandBufferErrorDeviceRemoved);
}

static void scrawl(size_t from, size_t end) {
    Rig r = rig_new();
    mtl_device_set_timeout(r.device, 300);
    for (size_t at = from; at < end; at += 4) put_word(&r, at, 0x41414141u + (uint32_t)at);
    forge(&r);
    rig_free(&r);
}

// The head and the first channel, 64 bytes at a time and all at once; any outcome, and no end of
// ours.
static void every_word(void **state) {
    (void)state;
    const size_t lists = IN_CHANNEL(0, commands), end = IN_CHANNEL(0, notes);
    for (size_t from = 0; from < end; from += from < lists ? 64 : 1024) scrawl(from, from + 64);
    scrawl(0, end);
}

// Twice: the channels are in no memory of kernels, and where they are does not follow from that.
static void they_lie_apart(void **state) {
    (void)state;
    intptr_t between[2];
    for (int i = 0; i < 2; i++) {
        Rig r = rig_new();
        Places p = find_places(newest_child());
        assert_true(p.head < p.range || p.head >= p.range_end);
        assert_int_not_equal(p.head, (uintptr_t)r.shown);
        between[i] = (intptr_t)(p.head - p.range);
        rig_free(&r);
    }
    assert_int_not_equal(between[0], between[1]);
}

static void it_works_after_that(void **state) {
    (void)state;
    Rig r = rig_new();
    assert_int_equal(outcome(launch(&r, r.add, r.x, NULL)), 0);
    assert_int_equal(((uint32_t *)mtl_buffer_contents(r.x))[0], 1);
    rig_free(&r);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(reports),
        cmocka_unit_test(texts),
        cmocka_unit_test(more_notes_than_fit),
        cmocka_unit_test(faults),
        cmocka_unit_test(every_word),
        cmocka_unit_test(they_lie_apart),
        cmocka_unit_test(it_works_after_that),
    };
    return cmocka_run_group_tests_name("channel", tests, NULL, NULL);
}
