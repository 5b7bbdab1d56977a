// SPDX-License-Identifier: Apache-2.0
// fake_nccl.c: what group_nccl.c calls of NCCL and of the driver, for processes of one machine
// whose tensors lie in memory of the host's: each puts its part into a file that all of them map,
// waits for the others, and takes what it needs.
#include "base/numbers.h"
#include <fcntl.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

enum { MAX_BYTES = 1 << 24, MAX_SIZE = 8, FAILED = 3 };

typedef struct Id {
    char name[128];
} Id;
typedef struct Shared {
    pthread_barrier_t barrier;
    _Alignas(64) char part[MAX_SIZE][MAX_BYTES];
} Shared;
typedef struct Comm {
    Shared *all;
    int rank, size;
} Comm;

const char *ncclGetErrorString(int code) { return code ? "the fake failed" : "fine"; }

int ncclGetUniqueId(Id *id) {
    memset(id, 0, sizeof *id);
    snprintf(id->name, sizeof id->name, "/fake-nccl-%d", (int)getpid());
    return 0;
}

int ncclCommInitRank(void **out, int size, Id id, int rank) {
    // The first makes it whole, then gives it its name.
    char made[sizeof id.name + 8];
    snprintf(made, sizeof made, "%s.new", id.name);
    int fd = -1;
    for (int tries = 0; rank && fd < 0 && tries < 10000; tries++, usleep(1000))
        fd = shm_open(id.name, O_RDWR, 0600);
    if (!rank) fd = shm_open(made, O_RDWR | O_CREAT | O_EXCL, 0600);
    if (fd < 0 || size > MAX_SIZE || (!rank && ftruncate(fd, sizeof(Shared)))) return FAILED;
    Shared *all = mmap(NULL, sizeof *all, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    close(fd);
    Comm *c = calloc(1, sizeof *c);
    if (all == MAP_FAILED || !c) return FAILED;
    if (!rank) {
        char from[160], to[160];
        pthread_barrierattr_t shared;
        pthread_barrierattr_init(&shared);
        pthread_barrierattr_setpshared(&shared, PTHREAD_PROCESS_SHARED);
        pthread_barrier_init(&all->barrier, &shared, (unsigned)size);
        snprintf(from, sizeof from, "/dev/shm%s", made);
        snprintf(to, sizeof to, "/dev/shm%s", id.name);
        if (rename(from, to)) return FAILED;
    }
    pthread_barrier_wait(&all->barrier);
    if (!rank) shm_unlink(id.name);
    *c = (Comm){all, rank, size};
    *out = c;
    if (!rank) fprintf(stderr, "fake NCCL of %d\n", size);
    return 0;
}

// ---- numbers, by NCCL's names of types: int8, uint8, int32, int64, half, float, bfloat ----

static size_t size_of(int type) {
    static const size_t sizes[] = {1, 1, 4, 4, 8, 8, 2, 4, 8, 2};
    return sizes[type];
}

static double get(const void *p, int type, size_t i) {
    switch (type) {
    case 0: return ((const int8_t *)p)[i];
    case 1: return ((const uint8_t *)p)[i];
    case 2: return ((const int32_t *)p)[i];
    case 4: return (double)((const int64_t *)p)[i];
    case 6: return (double)float_from_half(((const uint16_t *)p)[i]);
    default: return (double)((const float *)p)[i];
    }
}

static void put(void *p, int type, size_t i, double v) {
    switch (type) {
    case 0: ((int8_t *)p)[i] = (int8_t)v; break;
    case 1: ((uint8_t *)p)[i] = (uint8_t)v; break;
    case 2: ((int32_t *)p)[i] = (int32_t)v; break;
    case 4: ((int64_t *)p)[i] = (int64_t)v; break;
    case 6: ((uint16_t *)p)[i] = half_from_float((float)v); break;
    default: ((float *)p)[i] = (float)v; break;
    }
}

enum { SUM = 0, MAX = 2, MIN = 3, MEAN = 4 };

static void reduce(const Comm *c, void *to, size_t begin, size_t n, int type, int op) {
    for (size_t i = 0; i < n; i++) {
        double v = get(c->all->part[0], type, begin + i);
        for (int k = 1; k < c->size; k++) {
            double w = get(c->all->part[k], type, begin + i);
            v = op == MAX ? (w > v ? w : v) : op == MIN ? (w < v ? w : v) : v + w;
        }
        put(to, type, i, op == MEAN ? v / c->size : v);
    }
}

// Everybody's part is there when it returns; `end` when nobody needs them any more.
static int begin(const Comm *c, const void *from, size_t n_bytes) {
    if (n_bytes > MAX_BYTES) return FAILED;
    memcpy(c->all->part[c->rank], from, n_bytes);
    pthread_barrier_wait(&c->all->barrier);
    return 0;
}

static int end(const Comm *c) {
    pthread_barrier_wait(&c->all->barrier);
    return 0;
}

int ncclAllReduce(const void *from, void *to, size_t n, int type, int op, void *comm, void *s) {
    (void)s;
    if (begin(comm, from, n * size_of(type))) return FAILED;
    reduce(comm, to, 0, n, type, op);
    return end(comm);
}

int ncclBroadcast(const void *from, void *to, size_t n, int type, int root, void *comm, void *s) {
    (void)s;
    const Comm *c = comm;
    if (begin(c, from, n * size_of(type))) return FAILED;
    memcpy(to, c->all->part[root], n * size_of(type));
    return end(c);
}

int ncclAllGather(const void *from, void *to, size_t n, int type, void *comm, void *s) {
    (void)s;
    const Comm *c = comm;
    const size_t bytes = n * size_of(type);
    if (begin(c, from, bytes)) return FAILED;
    for (int k = 0; k < c->size; k++)
        memcpy((char *)to + (size_t)k * bytes, c->all->part[k], bytes);
    return end(c);
}

int ncclReduceScatter(const void *from, void *to, size_t n, int type, int op, void *comm, void *s) {
    (void)s;
    const Comm *c = comm;
    if (begin(c, from, n * size_of(type) * (size_t)c->size)) return FAILED;
    reduce(c, to, n * (size_t)c->rank, n, type, op);
    return end(c);
}

// ---- the driver ----

int cuPointerGetAttribute(int *to, int attribute, uint64_t address) {
    (void)attribute, (void)address;
    *to = 0;
    return 0;
}
int cuDeviceGet(int *device, int ordinal) {
    *device = ordinal;
    return 0;
}
int cuDevicePrimaryCtxRetain(void **context, int device) {
    static int there;
    *context = &there + device;
    return 0;
}
int cuCtxSetCurrent(void *context) { return context ? 0 : FAILED; }
int cuStreamCreate(void **stream, unsigned flags) {
    static int there;
    (void)flags;
    *stream = &there;
    return 0;
}
int cuStreamSynchronize(void *stream) { return stream ? 0 : FAILED; }
