// SPDX-License-Identifier: Apache-2.0
// fake.c: a libcuda.so.1 without a GPU; see fake.h. One lock for all: nothing here is fast.
#include "fake.h"
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>
#include "abi/cuda_kernel.h"
#include "abi/pixel_format.h"
#include "devices/cuda/driver.h"

#define EXPORT __attribute__((visibility("default")))
#define LARGE ((size_t)1 << 24)

// The functions of the driver, as the device declares them.
#define DECLARE(name, arguments) EXPORT CUresult name arguments;
CUDA_FUNCTIONS(DECLARE)
CUDA_OPTIONAL_FUNCTIONS(DECLARE)

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static uint64_t n_calls[FAKE_N_CALLS], n_bytes_of[FAKE_N_CALLS], n_live;
static struct {
    unsigned after;
    int result;
} failing[FAKE_N_CALLS];
static char broken[64], hanging[64];
static int broken_result, n_devices = 2;
static int process_error; // no context is made any more

struct CUctx_st {
    int device, error; // error: all that comes fails with it
    bool primary;
    unsigned refs;
};
static struct CUctx_st primary[4];
static _Thread_local struct CUctx_st *stack[16];
static _Thread_local unsigned depth;

typedef struct Block { // memory of the device, or of the host that it was told of
    struct Block *next;
    char *address, *bytes;
    size_t n_bytes;
} Block;
static Block *blocks, *registered;

typedef struct Node {
    struct Node *next;
    CUfunction function; // NULL: a copy or a fill
    unsigned grid[3], block[3];
    char parameters[4096];
    size_t n_parameters;
    CUdeviceptr to, from;
    size_t n_bytes;
    int value;             // of a fill; -1: a copy
    CUstream wait;         // not NULL: nothing of the above, but what is in another stream first
    const struct Node *of; // of a graph that was instantiated: the node it was
} Node;
typedef struct Edge {
    struct Edge *next;
    const Node *from, *to;
} Edge;
// Streams are as late as they may be: what is in one is done when somebody waits for it.
struct CUevent_st {
    CUstream stream; // NULL: not recorded
};
struct CUgraph_st {
    Node *first, **last;
    Edge *edges;
};
static size_t n_edges; // of the graph that was instantiated last
struct CUstream_st {
    struct CUctx_st *context;
    CUgraph capture;
    bool hangs;
    Node *first, **last; // not done yet
};
struct CUgraphExec_st {
    Node *first;
};
struct CUmod_st {
    char name[64];
};
struct CUfunc_st {
    struct CUmod_st *module;
};

EXPORT uint64_t fake_calls(FakeCall call) { return n_calls[call]; }
EXPORT uint64_t fake_bytes(FakeCall call) { return n_bytes_of[call]; }
EXPORT uint64_t fake_live(void) { return n_live; }
EXPORT void fake_set_devices(int n) { n_devices = n; }
static atomic_bool held;
EXPORT void fake_hold(bool on) { atomic_store(&held, on); }
EXPORT void fake_hang(const char *kernel) { snprintf(hanging, sizeof hanging, "%s", kernel); }
EXPORT void fake_fail(FakeCall call, unsigned after, int result) {
    failing[call].after = after;
    failing[call].result = result;
}
EXPORT void fake_break(const char *kernel, int result) {
    snprintf(broken, sizeof broken, "%s", kernel);
    broken_result = result;
}

// Counts a call. Not 0: it is to fail so.
static int called(FakeCall call, size_t n_bytes) {
    struct CUctx_st *context = depth ? stack[depth - 1] : NULL;
    n_calls[call]++;
    n_bytes_of[call] += n_bytes;
    if (context && context->error) return context->error;
    if (!failing[call].result) return 0;
    if (failing[call].after--) return 0;
    int result = failing[call].result;
    failing[call].result = 0;
    return result;
}

static Block *block_at(Block *list, CUdeviceptr address) {
    for (Block *b = list; b; b = b->next)
        if (address >= (uintptr_t)b->address && address - (uintptr_t)b->address < b->n_bytes)
            return b;
    return NULL;
}

// Where the bytes are; the host's own addresses stand for themselves. NULL: behind the end.
static char *bytes_at(CUdeviceptr address, size_t n_bytes) {
    const Block *b = block_at(blocks, address);
    if (!b) return (char *)(uintptr_t)address;
    size_t offset = address - (uintptr_t)b->address;
    return n_bytes <= b->n_bytes - offset ? b->bytes + offset : NULL;
}

// ---- Devices and contexts ----

// A driver in another process is told by the environment: the name of a kernel that breaks, of one
// that hangs.
EXPORT CUresult cuInit(unsigned flags) {
    const char *breaks = getenv("FAKE_CUDA_BREAK"), *hangs = getenv("FAKE_CUDA_HANG");
    if (breaks) fake_break(breaks, CUDA_ERROR_ILLEGAL_ADDRESS);
    if (hangs) fake_hang(hangs);
    return flags ? 1 : 0;
}
EXPORT CUresult cuDriverGetVersion(int *version) { return *version = 12080, 0; }
EXPORT CUresult cuGetErrorName(CUresult error, const char **name) {
    *name = error == CUDA_ERROR_ILLEGAL_ADDRESS ? "CUDA_ERROR_ILLEGAL_ADDRESS"
            : error == CUDA_ERROR_OUT_OF_MEMORY ? "CUDA_ERROR_OUT_OF_MEMORY"
                                                : "CUDA_ERROR_OF_THE_FAKE";
    return 0;
}
EXPORT CUresult cuDeviceGetCount(int *count) {
    const char *n = getenv("FAKE_CUDA_DEVICES");
    return *count = n ? atoi(n) : n_devices, 0;
}
EXPORT CUresult cuDeviceGet(CUdevice *device, int ordinal) { return *device = ordinal, 0; }
EXPORT CUresult cuDeviceGetName(char *name, int n_bytes, CUdevice device) {
    snprintf(name, (size_t)n_bytes, "Fake GPU %d", device);
    return 0;
}
EXPORT CUresult cuDeviceTotalMem_v2(size_t *n_bytes, CUdevice device) {
    (void)device;
    return *n_bytes = (size_t)200 << 30, 0;
}
EXPORT CUresult cuDeviceGetAttribute(int *value, int attribute, CUdevice device) {
    static const int table[][2] = {{CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_BLOCK, 1024},
                                   {CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT, 132},
                                   {CU_DEVICE_ATTRIBUTE_UNIFIED_ADDRESSING, 1},
                                   {CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR, 9},
                                   {CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN, 232448},
                                   {CU_DEVICE_ATTRIBUTE_MEMORY_POOLS_SUPPORTED, 1}};
    (void)device;
    *value = 0;
    for (size_t i = 0; i < sizeof table / sizeof *table; i++)
        if (table[i][0] == attribute) *value = table[i][1];
    return 0;
}

EXPORT CUresult cuCtxPushCurrent_v2(CUcontext context) {
    if (!context || depth == 16) return CUDA_ERROR_INVALID_VALUE;
    stack[depth++] = context;
    return 0;
}
EXPORT CUresult cuCtxPopCurrent_v2(CUcontext *context) {
    if (!depth) return 201; // CUDA_ERROR_INVALID_CONTEXT
    *context = stack[--depth];
    return 0;
}
EXPORT CUresult cuDevicePrimaryCtxRetain(CUcontext *context, CUdevice device) {
    int result = process_error ? process_error : called(FAKE_CONTEXT, 0);
    if (result) return result;
    primary[device].device = device;
    primary[device].primary = true;
    primary[device].refs++;
    *context = &primary[device];
    return 0;
}
EXPORT CUresult cuDevicePrimaryCtxRelease_v2(CUdevice device) {
    primary[device].refs--;
    return 0;
}
EXPORT CUresult cuDevicePrimaryCtxReset_v2(CUdevice device) {
    primary[device].error = 0;
    return 0;
}
EXPORT CUresult cuCtxCreate_v2(CUcontext *context, unsigned flags, CUdevice device) {
    (void)flags;
    int result = process_error ? process_error : called(FAKE_CONTEXT, 0);
    if (result) return result;
    *context = calloc(1, sizeof **context);
    (*context)->device = device;
    return cuCtxPushCurrent_v2(*context);
}
EXPORT CUresult cuCtxDestroy_v2(CUcontext context) {
    free(context);
    return 0;
}

// ---- Memory ----

EXPORT CUresult cuMemGetInfo_v2(size_t *n_free, size_t *total) {
    return *n_free = *total = (size_t)200 << 30, 0;
}

EXPORT CUresult cuMemAlloc_v2(CUdeviceptr *address, size_t n_bytes) {
    int flags = MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE;
    pthread_mutex_lock(&lock);
    int result = called(FAKE_ALLOC, n_bytes);
    size_t room = (n_bytes + 4095) & ~(size_t)4095;
    Block *b = calloc(1, sizeof *b);
    b->n_bytes = n_bytes;
    b->address = result ? NULL : mmap(NULL, room, PROT_NONE, flags, -1, 0);
    b->bytes = result ? NULL : mmap(NULL, room, PROT_READ | PROT_WRITE, flags, -1, 0);
    if (!result && n_bytes < LARGE) memset(b->bytes, 0xdb, n_bytes); // nobody zeroed it
    b->next = blocks;
    if (!result) blocks = b, n_live += n_bytes;
    *address = (uintptr_t)b->address;
    if (result) free(b);
    pthread_mutex_unlock(&lock);
    return result;
}

EXPORT CUresult cuMemFree_v2(CUdeviceptr address) {
    pthread_mutex_lock(&lock);
    called(FAKE_FREE, 0);
    Block **at = &blocks;
    while (*at && (uintptr_t)(*at)->address != address) at = &(*at)->next;
    Block *b = *at;
    if (!b) abort(); // memory that is none
    *at = b->next;
    n_live -= b->n_bytes;
    size_t room = (b->n_bytes + 4095) & ~(size_t)4095;
    munmap(b->address, room);
    munmap(b->bytes, room);
    free(b);
    pthread_mutex_unlock(&lock);
    return 0;
}

EXPORT CUresult cuMemPoolCreate(CUmemoryPool *pool, const CUmemPoolProps *properties) {
    _Static_assert(sizeof(CUmemPoolProps) == 88, "as the driver has it");
    *pool = (CUmemoryPool)(uintptr_t)(1 + properties->device);
    return properties->allocation == 1 && properties->location == 1 ? 0 : 1;
}
EXPORT CUresult cuMemPoolDestroy(CUmemoryPool pool) { return pool ? 0 : 1; }
EXPORT CUresult cuMemPoolSetAttribute(CUmemoryPool pool, int attribute, void *value) {
    return pool && attribute == CU_MEMPOOL_ATTR_RELEASE_THRESHOLD && value ? 0 : 1;
}
EXPORT CUresult cuMemPoolTrimTo(CUmemoryPool pool, size_t n_bytes) {
    return (void)n_bytes, pool ? 0 : 1;
}
EXPORT CUresult cuMemAllocFromPoolAsync(CUdeviceptr *address, size_t n_bytes, CUmemoryPool pool,
                                        CUstream stream) {
    return pool && stream ? cuMemAlloc_v2(address, n_bytes) : 1;
}
EXPORT CUresult cuMemFreeAsync(CUdeviceptr address, CUstream stream) {
    cuStreamSynchronize(stream); // what is before it
    return cuMemFree_v2(address);
}

EXPORT CUresult cuMemHostAlloc(void **address, size_t n_bytes, unsigned flags) {
    (void)flags;
    *address = calloc(1, n_bytes);
    return 0;
}
EXPORT CUresult cuMemFreeHost(void *address) {
    free(address);
    return 0;
}
EXPORT CUresult cuMemHostRegister_v2(void *address, size_t n_bytes, unsigned flags) {
    (void)flags;
    pthread_mutex_lock(&lock);
    int result = called(FAKE_REGISTER, n_bytes);
    if (!result && block_at(registered, (uintptr_t)address)) result = 712; // already registered
    if (!result) {
        Block *b = calloc(1, sizeof *b);
        *b = (Block){registered, address, address, n_bytes};
        registered = b;
    }
    pthread_mutex_unlock(&lock);
    return result;
}
EXPORT CUresult cuMemHostUnregister(void *address) {
    pthread_mutex_lock(&lock);
    Block **at = &registered;
    while (*at && (*at)->address != address) at = &(*at)->next;
    Block *b = *at;
    if (b) *at = b->next;
    free(b);
    pthread_mutex_unlock(&lock);
    return b ? 0 : 713;
}
EXPORT CUresult cuMemHostGetDevicePointer_v2(CUdeviceptr *address, void *host, unsigned flags) {
    (void)flags;
    return *address = (uintptr_t)host, block_at(registered, (uintptr_t)host) ? 0 : 1;
}

// ---- Kernels: what their names say ----

static uint64_t slot(const Node *n, unsigned i) {
    uint64_t value;
    memcpy(&value, n->parameters + 8 * i, sizeof value);
    return value;
}

// As merge.c has it.
static void run_merge(const Node *n) {
    size_t n_bytes = slot(n, 3) * 4;
    const char *now = bytes_at(slot(n, 0), n_bytes);
    char *twin = bytes_at(slot(n, 1), n_bytes), *host = (char *)(uintptr_t)slot(n, 2);
    if (!block_at(registered, slot(n, 2))) abort(); // the GPU does not see it
    for (size_t i = 0; i < n_bytes; i++)
        if (now[i] != twin[i]) host[i] = twin[i] = now[i];
}

// x[i] += 1 for `count` ints; the count is the second slot.
static void run_add_one(const Node *n) {
    int32_t *x = (int32_t *)(void *)bytes_at(slot(n, 0), slot(n, 1) * 4);
    for (uint64_t i = 0; i < slot(n, 1); i++) x[i]++;
}

// Adds the int at the first slot to that at the second.
static void run_add_from(const Node *n) {
    const int32_t *from = (const int32_t *)(const void *)bytes_at(slot(n, 0), 4);
    int32_t *to = (int32_t *)(void *)bytes_at(slot(n, 1), 4);
    *to += *from;
}

// x[0] += the constant at the second slot, which is a parameter if it was given as one.
static void run_add_constant(const Node *n) {
    CudaGrid grid;
    int32_t word, *x = (int32_t *)(void *)bytes_at(slot(n, 0), 4);
    memcpy(&grid, n->parameters + 16, sizeof grid);
    if (grid.given & 2)
        memcpy(&word, n->parameters + 16 + sizeof grid, sizeof word);
    else
        memcpy(&word, bytes_at(slot(n, 1), 4), sizeof word);
    *x += word;
}

// What the view of the second slot's number shows: width and format, or zeros.
static void run_show_view(const Node *n) {
    CudaGrid grid;
    CUdeviceptr table, record = 0;
    uint32_t *out = (uint32_t *)(void *)bytes_at(slot(n, 0), 8);
    memcpy(&grid, n->parameters + 16, sizeof grid);
    memcpy(&table, grid.views, sizeof table);
    if (table) memcpy(&record, bytes_at(table + 8 * slot(n, 1), 8), sizeof record);
    out[0] = out[1] = 0;
    if (!record) return;
    const AbiTexture *t = (const AbiTexture *)(const void *)bytes_at(record, sizeof(AbiTexture));
    const AbiPixelFormat *format = (const AbiPixelFormat *)(const void *)bytes_at(
        (uintptr_t)t->format, sizeof(AbiPixelFormat));
    out[0] = t->width;
    out[1] = format->value;
}

static int run_kernel(const Node *n, CUstream stream) {
    const char *name = n->function->module->name;
    struct CUctx_st *context = stack[depth - 1];
    if (*broken && !strcmp(name, broken)) return context->error = process_error = broken_result;
    if (*hanging && !strcmp(name, hanging)) stream->hangs = true;
    if (!strcmp(name, "ingot_merge")) run_merge(n);
    if (!strcmp(name, "add_one")) run_add_one(n);
    if (!strcmp(name, "add_from")) run_add_from(n);
    if (!strcmp(name, "add_constant")) run_add_constant(n);
    if (!strcmp(name, "show_view")) run_show_view(n);
    return 0;
}

static void run_copy(const Node *n) {
    char *to = bytes_at(n->to, n->n_bytes), *from = bytes_at(n->from, n->n_bytes);
    if (!to || !from) abort(); // across the end of an allocation
    memmove(to, from, n->n_bytes);
}

static void do_node(const Node *n, CUstream stream);

static void do_all(CUstream stream) {
    while (stream->first && !stream->hangs) { // nor what is behind a kernel that never ends
        Node *n = stream->first;
        stream->first = n->next;
        if (!stream->first) stream->last = &stream->first;
        if (!stream->context->error) do_node(n, stream); // what is behind a fault is never done
        free(n);
    }
}

static void do_node(const Node *n, CUstream stream) {
    if (n->wait)
        do_all(n->wait);
    else if (n->function)
        run_kernel(n, stream); // its error shows later
    else if (n->value < 0)
        run_copy(n);
    else if (!n->value && n->n_bytes >= LARGE) // without taking the memory
        madvise(bytes_at(n->to, n->n_bytes), n->n_bytes, MADV_DONTNEED);
    else
        memset(bytes_at(n->to, n->n_bytes), n->value, n->n_bytes);
}

// Into the stream, or into the graph that is recorded. What touches memory of the host's that the
// driver was not told of is done at once.
static CUresult enqueue(CUstream stream, const Node *n) {
    bool at_once = !n->wait && !n->function && n->value < 0 &&
                   ((!block_at(blocks, n->to) && !block_at(registered, n->to)) ||
                    (!block_at(blocks, n->from) && !block_at(registered, n->from)));
    Node *copy = malloc(sizeof *copy);
    *copy = *n;
    copy->next = NULL;
    Node ***last = stream->capture ? &stream->capture->last : &stream->last;
    **last = copy;
    *last = &copy->next;
    if (at_once && !stream->capture) do_all(stream);
    return 0;
}

EXPORT CUresult cuMemcpyAsync(CUdeviceptr to, CUdeviceptr from, size_t n_bytes, CUstream stream) {
    pthread_mutex_lock(&lock);
    bool a = block_at(blocks, to), b = block_at(blocks, from);
    int result = called(a && b ? FAKE_COPY_ON : a ? FAKE_COPY_UP : FAKE_COPY_DOWN, n_bytes);
    static Node n;
    n = (Node){.to = to, .from = from, .n_bytes = n_bytes, .value = -1};
    if (!result) result = enqueue(stream, &n);
    pthread_mutex_unlock(&lock);
    return result;
}
EXPORT CUresult cuMemcpy2DAsync_v2(const CUmemcpy2D *c, CUstream stream) {
    _Static_assert(sizeof(CUmemcpy2D) == 128, "as the driver has it");
    CUresult result = c->from_kind == CU_MEMORYTYPE_UNIFIED && c->to_kind == c->from_kind &&
                              c->width <= c->from_pitch && c->width <= c->to_pitch
                          ? 0
                          : CUDA_ERROR_INVALID_VALUE;
    for (size_t y = 0; y < c->height && !result; y++)
        result = cuMemcpyAsync(c->to_device + y * c->to_pitch, c->from_device + y * c->from_pitch,
                               c->width, stream);
    return result;
}
static CUresult fill(CUdeviceptr to, int value, size_t n_bytes, CUstream stream) {
    pthread_mutex_lock(&lock);
    int result = called(FAKE_FILL, n_bytes);
    if (!block_at(blocks, to)) abort(); // not the device's
    static Node n;
    n = (Node){.to = to, .n_bytes = n_bytes, .value = value};
    if (!result) result = enqueue(stream, &n);
    pthread_mutex_unlock(&lock);
    return result;
}
EXPORT CUresult cuMemsetD8Async(CUdeviceptr to, unsigned char value, size_t n, CUstream stream) {
    return fill(to, value, n, stream);
}
EXPORT CUresult cuMemsetD32Async(CUdeviceptr to, unsigned value, size_t n, CUstream stream) {
    return fill(to, (int)(value & 0xff), n * 4, stream);
}

EXPORT CUresult cuLaunchKernel(CUfunction function, unsigned grid_x, unsigned grid_y,
                               unsigned grid_z, unsigned block_x, unsigned block_y,
                               unsigned block_z, unsigned shared_bytes, CUstream stream,
                               void **parameters, void **extra) {
    static Node n;
    (void)shared_bytes;
    pthread_mutex_lock(&lock);
    int result = called(FAKE_LAUNCH, 0);
    if (parameters || grid_y > 65535 || grid_z > 65535 || block_x * block_y * block_z > 1024)
        result = CUDA_ERROR_INVALID_VALUE;
    n = (Node){.function = function,
               .grid = {grid_x, grid_y, grid_z},
               .block = {block_x, block_y, block_z},
               .n_parameters = *(size_t *)extra[3]};
    memcpy(n.parameters, extra[1], n.n_parameters);
    if (!result) result = enqueue(stream, &n);
    pthread_mutex_unlock(&lock);
    return result;
}

// ---- Code: a cubin is "CUBIN ", the name, and the parts it was linked with ----

struct CUlinkState_st {
    char text[128];
    char *log;
};

static bool name_of(const char *text, char name[64]) {
    const char *at = strstr(text, "// fake: ");
    if (!strncmp(text, "CUBIN ", 6)) return sscanf(text + 6, "%63s", name) == 1;
    if (strstr(text, "ingot_merge")) return strcpy(name, "ingot_merge") != NULL;
    if (!at && strstr(text, ".entry")) return strcpy(name, "some_kernel") != NULL;
    return at && sscanf(at + 9, "%63s", name) == 1;
}

EXPORT CUresult cuLinkCreate_v2(unsigned n, int *options, void **values, CUlinkState *state) {
    *state = calloc(1, sizeof **state);
    for (unsigned i = 0; i < n; i++)
        if (options[i] == CU_JIT_ERROR_LOG_BUFFER) (*state)->log = values[i];
    return 0;
}
// The compiler comes with the first text and takes itself apart when the process ends: nobody may
// be inside then. Texts that say "// slow" take their time.
static atomic_int compiling;
static void compiler_goes(void) {
    if (atomic_load(&compiling)) abort();
}
static void compiler_comes(void) { atexit(compiler_goes); }
static void compile_slowly(const char *text) {
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, compiler_comes);
    if (!strstr(text, "// slow")) return;
    atomic_fetch_add(&compiling, 1);
    called(FAKE_SLOW, 0);
    usleep(200000);
    atomic_fetch_sub(&compiling, 1);
}

EXPORT CUresult cuLinkAddData_v2(CUlinkState state, int type, void *data, size_t n_bytes,
                                 const char *name, unsigned n, int *options, void **values) {
    (void)type, (void)n_bytes, (void)name, (void)n, (void)options, (void)values;
    char kernel[64];
    int result = called(FAKE_LINK, 0);
    compile_slowly(data);
    if (!result && name_of(data, kernel)) {
        snprintf(state->text, sizeof state->text, "CUBIN %s", kernel);
        return 0;
    }
    if (!result && *state->text && (strstr(data, "// part: ") || strstr(data, ".func"))) {
        if (sscanf(data, "// part: %63s", kernel) != 1) strcpy(kernel, "functions");
        size_t at = strlen(state->text);
        snprintf(state->text + at, sizeof state->text - at, " %s", kernel);
        return 0;
    }
    strcpy(state->log, "line 1: this is\nnot PTX\n");
    return result ? result : 218; // CUDA_ERROR_INVALID_PTX
}
EXPORT CUresult cuLinkComplete(CUlinkState state, void **cubin, size_t *n_bytes) {
    *cubin = state->text;
    *n_bytes = strlen(state->text) + 1;
    return 0;
}
EXPORT CUresult cuLinkDestroy(CUlinkState state) {
    free(state);
    return 0;
}
EXPORT CUresult cuModuleLoadData(CUmodule *module, const void *image) {
    int result = called(FAKE_LOAD, 0);
    *module = calloc(1, sizeof **module);
    if (!result && !name_of(image, (*module)->name)) result = 200; // CUDA_ERROR_INVALID_IMAGE
    if (result) free(*module);
    return result;
}
EXPORT CUresult cuModuleUnload(CUmodule module) {
    free(module);
    return 0;
}
EXPORT CUresult cuModuleGetFunction(CUfunction *function, CUmodule module, const char *name) {
    (void)name;
    *function = calloc(1, sizeof **function); // they stay
    (*function)->module = module;
    return 0;
}
EXPORT CUresult cuFuncGetAttribute(int *value, int attribute, CUfunction function) {
    (void)attribute, (void)function;
    return *value = 1024, 0;
}
EXPORT CUresult cuFuncSetAttribute(CUfunction function, int attribute, int value) {
    (void)function, (void)attribute, (void)value;
    return 0;
}

// ---- Streams, events, graphs ----

EXPORT CUresult cuStreamCreate(CUstream *stream, unsigned flags) {
    if (!depth || stack[depth - 1]->error) return depth ? stack[depth - 1]->error : 201;
    *stream = calloc(1, sizeof **stream);
    (*stream)->context = stack[depth - 1];
    (*stream)->last = &(*stream)->first;
    return flags == CU_STREAM_NON_BLOCKING ? 0 : 1;
}
EXPORT CUresult cuStreamDestroy_v2(CUstream stream) {
    free(stream);
    return 0;
}
EXPORT CUresult cuStreamQuery(CUstream stream) {
    pthread_mutex_lock(&lock);
    if (!stream->context->error) do_all(stream);
    int result = called(FAKE_QUERY, 0);
    pthread_mutex_unlock(&lock);
    return result ? result : stream->hangs || atomic_load(&held) ? CUDA_ERROR_NOT_READY : 0;
}
EXPORT CUresult cuStreamSynchronize(CUstream stream) {
    pthread_mutex_lock(&lock);
    if (!stream->context->error) do_all(stream);
    pthread_mutex_unlock(&lock);
    return stream->context->error;
}
EXPORT CUresult cuStreamWaitEvent(CUstream stream, CUevent event, unsigned flags) {
    if (flags || !event || !event->stream) return CUDA_ERROR_INVALID_VALUE;
    pthread_mutex_lock(&lock);
    static Node n;
    n = (Node){.wait = event->stream};
    CUresult result = stream->context->error ? stream->context->error : enqueue(stream, &n);
    pthread_mutex_unlock(&lock);
    return result;
}
EXPORT CUresult cuEventCreate(CUevent *event, unsigned flags) {
    (void)flags;
    *event = calloc(1, sizeof **event);
    return 0;
}
EXPORT CUresult cuEventRecord(CUevent event, CUstream stream) {
    if (stream == CU_STREAM_LEGACY) return called(FAKE_OTHERS, 0);
    if (event) event->stream = stream;
    return event ? stream->context->error : 1;
}
EXPORT CUresult cuEventQuery(CUevent event) { return event ? 0 : 1; }
EXPORT CUresult cuEventDestroy_v2(CUevent event) {
    free(event);
    return 0;
}

EXPORT CUresult cuStreamBeginCapture_v2(CUstream stream, int mode) {
    (void)mode;
    CUgraph g = calloc(1, sizeof *g);
    g->last = &g->first;
    stream->capture = g;
    return 0;
}
static Edge **find_edge(CUgraph graph, const void *from, const void *to) {
    Edge **at = &graph->edges;
    while (*at && ((*at)->from != from || (*at)->to != to)) at = &(*at)->next;
    return at;
}
static void add_edge(CUgraph graph, const void *from, const void *to) {
    Edge *e = malloc(sizeof *e);
    *e = (Edge){graph->edges, from, to};
    graph->edges = e;
}
// A chain is what a stream records.
EXPORT CUresult cuStreamEndCapture(CUstream stream, CUgraph *graph) {
    *graph = stream->capture;
    for (const Node *n = (*graph)->first; n && n->next; n = n->next) add_edge(*graph, n, n->next);
    stream->capture = NULL;
    return 0;
}
EXPORT CUresult cuGraphAddDependencies(CUgraph graph, const CUgraphNode *from,
                                       const CUgraphNode *to, size_t n) {
    for (size_t i = 0; i < n; i++) {
        if (*find_edge(graph, from[i], to[i]) || from[i] == to[i]) return CUDA_ERROR_INVALID_VALUE;
        add_edge(graph, from[i], to[i]);
    }
    return 0;
}
EXPORT CUresult cuGraphRemoveDependencies(CUgraph graph, const CUgraphNode *from,
                                          const CUgraphNode *to, size_t n) {
    for (size_t i = 0; i < n; i++) {
        Edge **at = find_edge(graph, from[i], to[i]), *e = *at;
        if (!e) return CUDA_ERROR_INVALID_VALUE;
        *at = e->next;
        free(e);
    }
    return 0;
}
// Of those that wait for nobody the last one goes first: who relies on an order that was not asked
// for is found out.
static const Node *next_of(CUgraph graph, CUgraphExec exec) {
    const Node *best = NULL;
    for (const Node *n = graph->first; n; n = n->next) {
        bool ready = true;
        for (const Node *done = exec->first; done; done = done->next) ready &= done->of != n;
        for (const Edge *e = graph->edges; e && ready; e = e->next) {
            bool before = e->to != n;
            for (const Node *done = exec->first; done; done = done->next)
                before |= done->of == e->from;
            ready = before;
        }
        if (ready) best = n;
    }
    return best;
}
EXPORT CUresult cuGraphInstantiateWithFlags(CUgraphExec *exec, CUgraph graph,
                                            unsigned long long flags) {
    (void)flags;
    int result = called(FAKE_INSTANTIATE, 0);
    if (result) return result;
    *exec = calloc(1, sizeof **exec);
    Node **last = &(*exec)->first;
    size_t n = 0, done = 0;
    for (const Node *of = graph->first; of; of = of->next) n++;
    for (const Node *of; (of = next_of(graph, *exec)); done++) {
        *last = malloc(sizeof **last);
        **last = *of;
        (*last)->next = NULL;
        (*last)->of = of;
        last = &(*last)->next;
    }
    if (done != n) abort(); // a circle
    n_edges = 0;
    for (const Edge *e = graph->edges; e; e = e->next) n_edges++;
    return 0;
}
EXPORT size_t fake_edges(void) { return n_edges; }
EXPORT CUresult cuGraphGetRootNodes(CUgraph graph, CUgraphNode *nodes, size_t *n) {
    *n = graph->first ? 1 : 0;
    if (nodes && *n) nodes[0] = (CUgraphNode)(void *)graph->first;
    return 0;
}
EXPORT CUresult cuGraphNodeGetDependentNodes(CUgraphNode node, CUgraphNode *nodes, size_t *n) {
    Node *next = ((Node *)(void *)node)->next; // asked of chains alone
    *n = next ? 1 : 0;
    if (nodes && next) nodes[0] = (CUgraphNode)(void *)next;
    return 0;
}
EXPORT CUresult cuGraphExecKernelNodeSetParams(CUgraphExec exec, CUgraphNode node,
                                               const CUkernelNode *kernel) {
    Node *n = exec->first;
    while (n && (const void *)n->of != (const void *)node) n = n->next;
    pthread_mutex_lock(&lock);
    int result = called(FAKE_SET_PARAMETERS, 0);
    if (!n || !n->function || !kernel->function) result = CUDA_ERROR_INVALID_VALUE;
    if (!result) {
        n->function = kernel->function;
        memcpy(n->grid, kernel->grid, sizeof n->grid);
        memcpy(n->block, kernel->block, sizeof n->block);
        n->n_parameters = *(const size_t *)kernel->extra[3];
        memcpy(n->parameters, kernel->extra[1], n->n_parameters);
    }
    pthread_mutex_unlock(&lock);
    return result;
}
static void free_nodes(Node *first) {
    for (Node *n = first, *next; n; n = next) {
        next = n->next;
        free(n);
    }
}
EXPORT CUresult cuGraphDestroy(CUgraph graph) {
    free_nodes(graph->first);
    for (Edge *e = graph->edges, *next; e; e = next) {
        next = e->next;
        free(e);
    }
    free(graph);
    return 0;
}
EXPORT CUresult cuGraphExecDestroy(CUgraphExec exec) {
    free_nodes(exec->first);
    free(exec);
    return 0;
}
EXPORT CUresult cuGraphLaunch(CUgraphExec exec, CUstream stream) {
    pthread_mutex_lock(&lock);
    int result = called(FAKE_GRAPH_LAUNCH, 0);
    for (const Node *n = exec->first; n && !result; n = n->next) result = enqueue(stream, n);
    pthread_mutex_unlock(&lock);
    return result;
}
