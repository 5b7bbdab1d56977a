// SPDX-License-Identifier: Apache-2.0
// group_nccl.c: messages between NVIDIA's GPUs through NCCL, opened at first use as the driver is:
// tensors stay in the memory of their GPUs. Who takes part is agreed on through the group's own
// messages (group.c), which also carry what NCCL does not.
#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "tensor/group.h"

typedef struct NcclId {
    char bytes[128];
} NcclId;
enum { POINTER_DEVICE = 9, STREAM_NON_BLOCKING = 1 };

static struct Functions {
    int (*get_id)(NcclId *id);
    int (*init)(void **comm, int size, NcclId id, int rank);
    const char *(*error_string)(int code);
    int (*all_reduce)(const void *from, void *to, size_t n, int type, int op, void *comm, void *);
    int (*broadcast)(const void *from, void *to, size_t n, int type, int root, void *comm, void *);
    int (*all_gather)(const void *from, void *to, size_t n, int type, void *comm, void *stream);
    int (*reduce_scatter)(const void *from, void *to, size_t n, int type, int op, void *comm,
                          void *stream);
    // The driver's.
    int (*pointer_attribute)(void *to, int attribute, uint64_t address);
    int (*device_get)(int *device, int ordinal);
    int (*primary_retain)(void **context, int device);
    int (*context_set)(void *context);
    int (*stream_create)(void **stream, unsigned flags);
    int (*stream_synchronize)(void *stream);
} nccl;
static const char *const names[] = {"ncclGetUniqueId",    "ncclCommInitRank",
                                    "ncclGetErrorString", "ncclAllReduce",
                                    "ncclBroadcast",      "ncclAllGather",
                                    "ncclReduceScatter",  "cuPointerGetAttribute",
                                    "cuDeviceGet",        "cuDevicePrimaryCtxRetain",
                                    "cuCtxSetCurrent",    "cuStreamCreate",
                                    "cuStreamSynchronize"};
#define N_NAMES (sizeof names / sizeof *names)
_Static_assert(sizeof nccl == N_NAMES * sizeof(void *), "a name for each function");

static void *comm, *stream, *context;

// In NCCL's numbers, by IgType; -1: it has none.
static const int types[] = {[IgFloat16] = 6, [IgFloat32] = 7, [IgBFloat16] = 9,
                            [IgInt8] = 0,    [IgInt32] = 2,   [IgInt64] = 4,
                            [IgBool] = 1,    [IgUInt8] = 1,   [IgInt16] = -1};
static const int ops[] = {[IgGroupSum] = 0, [IgGroupMean] = 4, [IgGroupMin] = 3, [IgGroupMax] = 2};

static bool loaded;

static void load(void) {
    const char *wanted = getenv("INGOT_NCCL"), *cuda = getenv("INGOT_CUDA_LIBRARY");
    void *library = dlopen(wanted && *wanted ? wanted : "libnccl.so.2", RTLD_NOW | RTLD_LOCAL);
    void *driver = library ? dlopen(cuda ? cuda : "libcuda.so.1", RTLD_NOW | RTLD_LOCAL) : NULL;
    if (!driver) return;
    for (size_t i = 0; i < N_NAMES; i++) {
        void *function = dlsym(names[i][0] == 'n' ? library : driver, names[i]);
        memcpy((char *)&nccl + i * sizeof function, &function, sizeof function);
        if (!function) return;
    }
    loaded = true;
}

static bool check(int code, const char *call, char *why) {
    if (!code) return true;
    const char *text = call[0] == 'n' ? nccl.error_string(code) : "the driver refused it";
    snprintf(why, GROUP_WHY_BYTES, "%s: %s (%d)", call, text, code);
    return false;
}

bool group_nccl_load(void) {
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, load);
    return loaded;
}

bool group_nccl_open(const GroupTransport *others, int rank, int size, uint64_t address,
                     char *why) {
    if (comm) return check(nccl.context_set(context), "cuCtxSetCurrent", why);
    NcclId id = {{0}};
    int ordinal = 0, device = 0; // memory of a pool has no context, but a device
    if (!check(nccl.pointer_attribute(&ordinal, POINTER_DEVICE, address), "cuPointerGetAttribute",
               why) ||
        !check(nccl.device_get(&device, ordinal), "cuDeviceGet", why) ||
        !check(nccl.primary_retain(&context, device), "cuDevicePrimaryCtxRetain", why) ||
        !check(nccl.context_set(context), "cuCtxSetCurrent", why) ||
        !check(nccl.stream_create(&stream, STREAM_NON_BLOCKING), "cuStreamCreate", why) ||
        (rank == 0 && !check(nccl.get_id(&id), "ncclGetUniqueId", why)) ||
        (others && !others->broadcast(&id, sizeof id, 0, why)))
        return false;
    return check(nccl.init(&comm, size, id, rank), "ncclCommInitRank", why);
}

bool group_nccl_has(IgType type) { return types[type] >= 0; }

bool group_nccl_run(GroupKind kind, uint64_t from, uint64_t to, size_t n, IgType type, IgGroupOp op,
                    int root, char *why) {
    const void *a = (const void *)(uintptr_t)from;
    void *b = (void *)(uintptr_t)to;
    int code = 0;
    switch (kind) {
    case GROUP_REDUCE: code = nccl.all_reduce(a, b, n, types[type], ops[op], comm, stream); break;
    case GROUP_BROADCAST: code = nccl.broadcast(a, b, n, types[type], root, comm, stream); break;
    case GROUP_GATHER: code = nccl.all_gather(a, b, n, types[type], comm, stream); break;
    case GROUP_SCATTER:
        code = nccl.reduce_scatter(a, b, n, types[type], ops[op], comm, stream);
        break;
    case GROUP_BARRIER:
    case GROUP_CLOSE: return true;
    }
    return check(code, "nccl", why) &&
           check(nccl.stream_synchronize(stream), "cuStreamSynchronize", why);
}
