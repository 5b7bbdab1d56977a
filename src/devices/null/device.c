// SPDX-License-Identifier: Apache-2.0
// device.c: the null device's table (null.h says what it is for).
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include "devices/table/device.h"
#include "devices/null/null.h"

static _Atomic uint64_t n_calls[INGOT_NULL_N_CALLS], n_live;
static atomic_bool fails[INGOT_NULL_N_CALLS];
static atomic_uint lacks;

uint64_t ingot_null_calls(IngotNullCall call) { return atomic_load(&n_calls[call]); }
uint64_t ingot_null_live(void) { return atomic_load(&n_live); }
void ingot_null_fail(IngotNullCall call, bool it_fails) { atomic_store(&fails[call], it_fails); }
void ingot_null_lack(uint32_t features) { atomic_store(&lacks, features); }

static bool counted(IngotNullCall call) { // false: it is to fail
    atomic_fetch_add(&n_calls[call], 1);
    return !atomic_load(&fails[call]);
}

// ---- Life ----

enum {
    ALL = DEV_TEXTURES | DEV_RENDER | DEV_TENSORS | DEV_INDIRECT_COMMANDS | DEV_FUNCTION_POINTERS |
          DEV_VALIDATION | DEV_VIEW_POOLS | DEV_INDIRECT_SIZES
};

static void *null_open(unsigned index, DevFacts *facts, char *why, size_t why_bytes) {
    static char context;
    (void)index;
    if (!counted(INGOT_NULL_OPEN)) {
        snprintf(why, why_bytes, "it was told to fail");
        return NULL;
    }
    *facts = (DevFacts){.name = "Ingot null device",
                        .architecture = "none",
                        .features = ALL & ~atomic_load(&lacks),
                        .memory_bytes = (uint64_t)8 << 30,
                        .max_buffer_bytes = 0xffff0000u,
                        .max_threads = 1024,
                        .max_threadgroup_bytes = 32768,
                        .families = {.apple = 8, .mac = 2, .common = 3, .metal = 4}};
    return &context;
}

// ---- Memory: addresses of the device are only reserved; what is there lies elsewhere ----

typedef struct Memory {
    struct Memory *next;
    char *address, *bytes;
    size_t n_bytes;
    bool wrapped; // the bytes are the program's
} Memory;

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER; // of the one null device
static Memory *first;                                    // under lock

static void *map(size_t n_bytes, int protection) {
    void *p = mmap(NULL, n_bytes, protection, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    return p == MAP_FAILED ? NULL : p;
}

// bytes NULL: of its own.
static bool add_memory(char *bytes, size_t n_bytes, bool same_address, DevMemory *memory) {
    Memory *m = malloc(sizeof *m);
    bool wrapped = bytes != NULL;
    if (!wrapped) bytes = map(n_bytes, PROT_READ | PROT_WRITE);
    char *address = same_address ? bytes : map(n_bytes, PROT_NONE);
    if (!m || !bytes || !address) {
        free(m);
        if (address && address != bytes) munmap(address, n_bytes);
        if (bytes && !wrapped) munmap(bytes, n_bytes);
        return false;
    }
    *m = (Memory){.address = address, .bytes = bytes, .n_bytes = n_bytes, .wrapped = wrapped};
    pthread_mutex_lock(&lock);
    m->next = first;
    first = m;
    pthread_mutex_unlock(&lock);
    *memory = (DevMemory){.address = address, .host = bytes, .n_bytes = n_bytes, .part = m};
    atomic_fetch_add(&n_live, 1);
    return true;
}

static bool null_memory_make(void *context, size_t n_bytes, DevStorage storage, DevMemory *memory) {
    (void)context;
    if (!counted(INGOT_NULL_MEMORY) || !add_memory(NULL, n_bytes, storage == DEV_ARGUMENTS, memory))
        return false;
    if (storage == DEV_PRIVATE) memory->host = NULL;
    return true;
}

static bool null_memory_wrap(void *context, DevMemory *memory) {
    (void)context;
    return counted(INGOT_NULL_WRAP) && add_memory(memory->host, memory->n_bytes, false, memory);
}

static void null_memory_free(void *context, DevMemory *memory) {
    (void)context;
    Memory *m = memory->part;
    pthread_mutex_lock(&lock);
    Memory **at = &first;
    while (*at != m) at = &(*at)->next;
    *at = m->next;
    pthread_mutex_unlock(&lock);
    if (!m->wrapped) munmap(m->bytes, m->n_bytes);
    if (m->address != m->bytes) munmap(m->address, m->n_bytes);
    free(m);
    atomic_fetch_sub(&n_live, 1);
}

// Where the bytes behind an address are; the host's own addresses stand for themselves.
static char *bytes_at(const void *address) {
    char *at = (char *)(uintptr_t)address;
    pthread_mutex_lock(&lock);
    for (const Memory *m = first; m; m = m->next)
        if (at >= m->address && (size_t)(at - m->address) < m->n_bytes) {
            at = m->bytes + (at - m->address);
            break;
        }
    pthread_mutex_unlock(&lock);
    return at;
}

// ---- Resources: handles count up ----

static bool make_handle(IngotNullCall call, DevHandle *handle) {
    static _Atomic uint64_t last = 0x1000;
    if (!counted(call)) return false;
    *handle = (DevHandle){.value = atomic_fetch_add(&last, 16)};
    atomic_fetch_add(&n_live, 1);
    return true;
}

static bool null_texture_make(void *context, const AbiTexture *record, DevHandle *handle) {
    (void)context, (void)record;
    return make_handle(INGOT_NULL_TEXTURE, handle);
}

static bool null_sampler_make(void *context, const AbiSampler *record, DevHandle *handle) {
    (void)context, (void)record;
    return make_handle(INGOT_NULL_SAMPLER, handle);
}

static bool null_tensor_make(void *context, const AbiTensor *record, DevHandle *handle) {
    (void)context, (void)record;
    return make_handle(INGOT_NULL_TENSOR, handle);
}

static void null_handle_free(void *context, DevHandle *handle) {
    (void)context, (void)handle;
    atomic_fetch_sub(&n_live, 1);
}

// Pools: what a slot shows is remembered, ids are not used again.
enum { MAX_VIEWS = 4096 };
static const uint64_t FIRST_VIEW = ABI_TEXTURE_POOLED;
static AbiTexture *views[MAX_VIEWS]; // under lock
static size_t n_views;               // likewise

static uint64_t null_views_take(void *context, size_t n) {
    (void)context;
    if (!counted(INGOT_NULL_VIEWS)) return 0;
    pthread_mutex_lock(&lock);
    bool fits = n <= MAX_VIEWS - n_views;
    uint64_t id = fits ? FIRST_VIEW + n_views : 0;
    n_views += fits ? n : 0;
    pthread_mutex_unlock(&lock);
    return id;
}

static void set_view(uint64_t id, AbiTexture *view) {
    if (id - FIRST_VIEW >= MAX_VIEWS) return;
    pthread_mutex_lock(&lock);
    AbiTexture *before = views[id - FIRST_VIEW];
    views[id - FIRST_VIEW] = view;
    pthread_mutex_unlock(&lock);
    free(before);
}

static void null_views_give(void *context, uint64_t id, size_t n) {
    (void)context;
    for (size_t i = 0; id && i < n; i++) set_view(id + i, NULL);
}

static bool null_view_set(void *context, uint64_t id, const AbiTexture *record) {
    (void)context;
    AbiTexture *view = malloc(sizeof *view);
    if (!view) return false;
    *view = *record;
    set_view(id, view);
    return true;
}

static const AbiTexture *null_view_at(void *context, uint64_t id) {
    (void)context;
    pthread_mutex_lock(&lock);
    const AbiTexture *view = id - FIRST_VIEW < MAX_VIEWS ? views[id - FIRST_VIEW] : NULL;
    pthread_mutex_unlock(&lock);
    return view;
}

// ---- Code: what reflection says of the function ----

typedef struct Code {
    DevCode head; // first
    AbiStageInfo stage;
} Code;

static DevCode *null_code_load(void *context, const DevCodeSource *source, char *why,
                               size_t why_bytes) {
    (void)context;
    const RfFunction *f = source->function;
    Code *code = counted(INGOT_NULL_CODE) ? calloc(1, sizeof *code) : NULL;
    if (!code) {
        snprintf(why, why_bytes, "it was told to fail, or there is no memory");
        return NULL;
    }
    code->head.n_slots = f->n_slots;
    code->stage =
        (AbiStageInfo){.stage = f->stage, .n_inputs = f->input_rows, .n_outputs = f->output_rows};
    if (f->stage == RF_VERTEX || f->stage == RF_FRAGMENT) code->head.stage = &code->stage;
    atomic_fetch_add(&n_live, 1);
    return &code->head;
}

static void null_code_free(DevCode *code) {
    free(code);
    atomic_fetch_sub(&n_live, 1);
}

// ---- Runs ----

static bool did(DevRun *run, IngotNullCall call) {
    bool ok = counted(call);
    if (!ok && run) dev_run_fail(run, DEV_FAULT_LOST, 0);
    return ok && (!run || atomic_load(&run->fault) == DEV_FAULT_NONE);
}

static bool null_run_begin(DevRun *run, DevLimits limits) {
    (void)run, (void)limits;
    return counted(INGOT_NULL_RUN);
}

static void null_run_end(DevRun *run) { (void)run; }

static bool null_finish(DevRun *run) { return did(run, INGOT_NULL_FINISH); }

static void null_use(DevRun *run, const DevMemory *memory, bool writes) {
    (void)run, (void)memory, (void)writes;
    counted(INGOT_NULL_USE);
}

static bool null_dispatch(DevRun *run, const DevDispatch *dispatches, size_t n) {
    for (size_t i = 0; i < n; i++)
        if (dispatches[i].indirect && !counted(INGOT_NULL_INDIRECT))
            dev_run_fail(run, DEV_FAULT_SIZE, 0);
    return did(run, INGOT_NULL_DISPATCH);
}

static bool null_render(DevRun *run, const DevPass *pass, const DevDraw *draws, size_t n_draws) {
    (void)pass, (void)draws, (void)n_draws;
    return did(run, INGOT_NULL_RENDER);
}

static bool null_copy(DevRun *run, void *to, const void *from, size_t n_bytes) {
    if (!did(run, INGOT_NULL_COPY)) return false;
    memmove(bytes_at(to), bytes_at(from), n_bytes);
    return true;
}

static bool null_fill(DevRun *run, void *to, uint8_t value, size_t n_bytes) {
    if (!did(run, INGOT_NULL_FILL)) return false;
    memset(bytes_at(to), value, n_bytes);
    return true;
}

static bool null_move(DevRun *run, const DevMove *move) {
    if (!did(run, INGOT_NULL_MOVE)) return false;
    DevMove m = *move;
    m.from.at = bytes_at(m.from.at);
    m.to.at = bytes_at(m.to.at);
    dev_host_move(&m);
    return true;
}

static bool null_mipmaps(DevRun *run, const AbiTexture *record) {
    (void)record;
    return did(run, INGOT_NULL_MIPMAPS);
}

const DevTable null_device = {
    .name = "null",
    .open = null_open,
    .memory_make = null_memory_make,
    .memory_free = null_memory_free,
    .memory_wrap = null_memory_wrap,
    .texture_make = null_texture_make,
    .sampler_make = null_sampler_make,
    .tensor_make = null_tensor_make,
    .handle_free = null_handle_free,
    .views_take = null_views_take,
    .views_give = null_views_give,
    .view_set = null_view_set,
    .view_at = null_view_at,
    .code_load = null_code_load,
    .code_free = null_code_free,
    .run_begin = null_run_begin,
    .run_end = null_run_end,
    .finish = null_finish,
    .use = null_use,
    .dispatch = null_dispatch,
    .render = null_render,
    .copy = null_copy,
    .fill = null_fill,
    .move = null_move,
    .mipmaps = null_mipmaps,
};
