// SPDX-License-Identifier: Apache-2.0
// isolate.c: a child process that lies, against the host's side of isolated devices
// (src/devices/isolate). The child has its turns when the host waits for it: it does no command,
// and before it says that one is done it writes what the bytes tell it, anywhere a child could:
// answers, notes, faults, counters, questions, facts. What the host then believes is looked at here
// as the runtime would: every pointer is followed, every text read, all memory written.
#include "devices/cpu/texture/view_pool.h"
#include "devices/isolate/isolate_int.h"
#include "fuzz.h"
#include <time.h>

// In place of os/futex.h, for channel.c.
#define INGOT_OS_FUTEX_H
static void child_turn(bool host_sleeps);
static void os_relax(void) { child_turn(false); }
static void os_futex_wake_shared(atomic_uint *word) { (void)word; }
static void os_futex_wait_shared(atomic_uint *word, unsigned seen, const struct timespec *limit) {
    (void)word, (void)seen, (void)limit;
    child_turn(true);
}
#include "devices/isolate/channel.c"

extern const DevTable hosted_cuda_device;
const DevTable cuda_device = {.name = "cuda"}; // that hosted.c speaks of; it runs nowhere

static struct {
    const uint8_t *data;
    size_t n;
} script;
static uint64_t own[2048];           // memory of the program's
#define DEVICES ((uintptr_t)1 << 46) // addresses of the device's memory, a TiB of them
#define DEVICE_BYTES ((uintptr_t)1 << 40)

static uint64_t take(size_t n_bytes) {
    uint64_t value = 0;
    size_t n = n_bytes < script.n ? n_bytes : script.n;
    if (n) memcpy(&value, script.data, n);
    script.data += n, script.n -= n;
    return value;
}

// ---- The child ----

// A number as the script spells it: as it is, or an address that somebody has.
static uint64_t value_of(const IsoDevice *d, unsigned how) {
    uint64_t n = take(how & 1 ? 8 : 2);
    switch (how >> 1 & 3) {
    case 1: return DEVICES + n;
    case 2: return (uint64_t)(uintptr_t)d->store.base + n;
    case 3: return (uint64_t)(uintptr_t)own + n;
    default: return n;
    }
}

// One write: which part, where in it, how many bytes, what.
static void scribble(IsoDevice *d, IsoChannel *c, const IsoCommand *command) {
    const unsigned part = (unsigned)take(1), how = (unsigned)take(1);
    const size_t at = (size_t)take(2), n = 1u << (how >> 4 & 3);
    struct {
        void *base;
        size_t n_bytes;
    } const parts[] = {
        {command->what, command->what ? 256 : 0},
        {&c->notes[atomic_load(&c->notes_written) % ISO_NOTES], sizeof *c->notes},
        {&c->fault, offsetof(IsoChannel, question) - offsetof(IsoChannel, fault)},
        {&c->question, sizeof c->question},
        {c, offsetof(IsoChannel, commands)},
        {d->head, offsetof(IsoHead, channels)},
        {d->store.base, 4096},
        {c->spent_ns, sizeof c->spent_ns},
    };
    const size_t k = part % (sizeof parts / sizeof *parts);
    uint64_t value = value_of(d, how);
    if (parts[k].n_bytes >= n)
        memcpy((char *)parts[k].base + at % (parts[k].n_bytes - n + 1), &value, n);
    if (part & 64) atomic_fetch_add(&c->notes_written, 1);
    if (part & 128) memset(&c->notes[0].report.name, 'A', sizeof c->notes[0].report.name);
}

static IsoDevice *served;
static struct {
    unsigned done;
    bool lied; // about the next one
} channels[ISO_CHANNELS + 1];

// A question of the child's is answered before the host sleeps.
static void child_turn(bool host_sleeps) {
    for (size_t i = 0; i <= ISO_CHANNELS; i++) {
        IsoChannel *c = served->channels[i].shared;
        // By the host's own count: that in the channel may be written over.
        while (channels[i].done != served->channels[i].submitted) {
            const IsoCommand command = c->commands[channels[i].done % ISO_COMMANDS];
            for (unsigned n = channels[i].lied ? 0 : (unsigned)take(1) % 8; n > 0; n--)
                scribble(served, c, &command);
            channels[i].lied = true;
            if (atomic_load(&c->question.state) != ISO_NO_QUESTION && !host_sleeps) break;
            channels[i].lied = false;
            atomic_store(&c->done, ++channels[i].done);
            if (take(1) == 0xff) atomic_store(&c->done, (unsigned)take(4));
        }
    }
}

// ---- In place of process.c and claim.c ----

IsoDevice *iso_start(const char *device, unsigned index, bool own_memory, char *why,
                     size_t why_bytes) {
    (void)device, (void)index, (void)why, (void)why_bytes;
    IsoDevice *d = calloc(1, sizeof *d);
    if (!d || !iso_range_open(&d->range, (size_t)1 << 32) ||
        !iso_range_open(&d->control, sizeof *d->head + (1 << 20)) ||
        (own_memory && !iso_range_open(&d->store, (size_t)1 << 32)))
        abort();
    d->head = iso_range_take(&d->control, sizeof *d->head);
    if (own_memory) iso_range_take(&d->store, 1 << 16);
    pthread_mutex_init(&d->lock, NULL);
    pthread_mutex_init(&d->code_lock, NULL);
    pthread_cond_init(&d->freed, NULL);
    for (size_t i = 0; i <= ISO_CHANNELS; i++) {
        d->channels[i].shared = &d->head->channels[i];
        d->channels[i].room = iso_range_take(&d->range, ISO_ROOM);
    }
    for (size_t i = 0; i < sizeof d->head->facts; i++)
        ((uint8_t *)&d->head->facts)[i] = (uint8_t)(i < 8 ? take(1) : 0x41);
    memset(channels, 0, sizeof channels);
    return served = d;
}

void iso_lose(IsoDevice *d) { atomic_store(&d->is_lost, true); }
bool iso_is_alive(IsoDevice *d) { return !atomic_load(&d->is_lost); }

void iso_stop(IsoDevice *d) {
    for (size_t i = 0; i <= ISO_CHANNELS; i++) free(d->channels[i].contexts);
    iso_range_close(&d->range);
    iso_range_close(&d->control);
    if (d->store.base) iso_range_close(&d->store);
    free(d);
}

bool iso_is_claimed(uintptr_t address) { return address - DEVICES < DEVICE_BYTES; }
bool iso_claim(uintptr_t address, size_t n_bytes) {
    return iso_is_claimed(address) && n_bytes <= DEVICE_BYTES - (address - DEVICES);
}

// resource.c asks the CPU device for views, which nobody makes here.
uint64_t cpu_view_pool_take(size_t n) { return (void)n, 0; }
void cpu_view_pool_give(uint64_t first, size_t n) { (void)first, (void)n; }
AbiTexture *cpu_view_pool_slot(uint64_t id) { return (void)id, NULL; }
const AbiTexture *cpu_texture_of(uint64_t handle) { return (void)handle, NULL; }

// ---- The host: what the runtime does, and what it then believes ----

static const uint64_t untouched = 0x5a5a5a5a5a5a5a5a;

static void log_text(void *context, uint32_t type, const char *subsystem, const char *format,
                     const uint64_t *args, uint32_t n_args) {
    (void)context, (void)type;
    fuzz_text(format);
    fuzz_text(subsystem);
    if (subsystem) fuzz_text(subsystem + strlen(subsystem) + 1);
    for (uint32_t i = 0; i < n_args; i++)
        if ((args[2 * i] & 255) == ISO_TAG_STRING)
            fuzz_text((const char *)(uintptr_t)args[2 * i + 1]);
}

static void report(void *context, void *dispatch, const AbiReport *r) {
    (void)context;
    if (dispatch != own || r->access >= ABI_N_BAD || r->space > ABI_SPACE_HANDLE) abort();
    if (!memchr(r->name, 0, sizeof r->name)) abort();
}

static void *find(const unsigned char key[32], size_t *n_bytes) {
    fuzz_keep(fuzz_touch(key, 32));
    *n_bytes = 100;
    return calloc(1, 100);
}
static void store(const unsigned char key[32], const void *bytes, size_t n_bytes) {
    fuzz_keep(fuzz_touch(key, 32) + fuzz_touch(bytes, n_bytes));
}

static DevCode *load(IsoDevice *d) {
    static const DevCache cache = {.find = find, .store = store};
    const RfFunction f = {.n_slots = 3};
    char why[64] = "";
    DevCode *code = iso_load_code(
        d, &(DevCodeSource){.bytes = "code", .n_bytes = 4, .function = &f, .cache = &cache}, NULL,
        why, sizeof why);
    fuzz_text(why);
    return code;
}

// A run with a dispatch and copies in and out.
static void run(const DevTable *t, IsoDevice *d, DevCode *code, const DevMemory *memory) {
    void *args[3] = {0};
    const DevDispatch dispatch = {.code = code, .args = args, .n_args = 3, .context = own};
    DevRun r = {.context = d, .log = log_text, .report = report};
    if (!iso_run_begin(&r, (DevLimits){0})) return;
    if (memory->part) t->use(&r, memory, true);
    if (code && code->n_slots == 3) iso_dispatch(&r, &dispatch, 1);
    if (memory->part) t->copy(&r, memory->address, own, 64);
    if (memory->part) t->copy(&r, own + 8, memory->address, 64);
    if (memory->part) t->fill(&r, memory->address, 3, 64);
    t->finish(&r);
    fuzz_text(r.faulting);
    t->run_end(&r);
}

static void use(const DevTable *t, IsoDevice *d, DevMemory *memory, size_t n_bytes) {
    if (memory->host) memset(memory->host, 7, n_bytes);
    if (!iso_is_claimed((uintptr_t)memory->address) && memory->address != memory->host) abort();
    t->memory_show(d, memory);
    t->copy(DEV_OUTSIDE(d), own + 8, memory->address, 64);
    t->fill(DEV_OUTSIDE(d), memory->address, 1, 64);
}

static void wrap(const DevTable *t, IsoDevice *d) {
    DevMemory m = {.host = (char *)(own + 64), .n_bytes = 4096};
    if (!t->memory_wrap(d, &m)) return;
    // Beyond its end nothing is the program's.
    t->fill(DEV_OUTSIDE(d), m.address + 4096, 1, 64);
    t->fill(DEV_OUTSIDE(d), m.address + 64, 1, 64);
    t->memory_free(d, &m);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n) {
    const DevTable *t = &hosted_cuda_device;
    script.data = data, script.n = n;
    for (size_t i = 0; i < sizeof own / sizeof *own; i++) own[i] = untouched;
    DevFacts facts;
    char why[64] = "";
    IsoDevice *d = t->open(0, &facts, why, sizeof why);
    if (!d) return 0;
    fuzz_text(facts.name), fuzz_text(facts.architecture), fuzz_text(facts.target);
    DevCode *code = load(d);
    static const DevStorage storages[] = {DEV_SHARED, DEV_PRIVATE, DEV_ARGUMENTS, DEV_MANAGED};
    for (size_t i = 0; i < sizeof storages / sizeof *storages; i++) {
        DevMemory m = {0};
        if (!t->memory_make(d, 5000, storages[i], &m)) continue;
        use(t, d, &m, 5000);
        run(t, d, code, &m);
        t->memory_free(d, &m);
    }
    wrap(t, d);
    DevHandle handle = {0};
    if (t->sampler_make(d, &(AbiSampler){0}, &handle)) t->handle_free(d, &handle);
    uint64_t views = n && data[0] == 1 ? t->views_take(d, 4) : 0; // a large table: now and then
    if (views) t->views_give(d, views, 4);
    if (code) iso_free_code(code);
    t->close(d);
    // Of the program's memory only what was named is different.
    for (size_t i = 0; i < sizeof own / sizeof *own; i++)
        if (own[i] != untouched && !(i >= 8 && i < 16) && !(i >= 64 && i < 64 + 512)) abort();
    return 0;
}
