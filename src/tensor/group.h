// SPDX-License-Identifier: Apache-2.0
// group.h: what carries the messages of a group (group.c): functions that its thread calls, one at
// a time, on memory of the host.
#ifndef INGOT_TENSOR_GROUP_TRANSPORT_H
#define INGOT_TENSOR_GROUP_TRANSPORT_H
#include "ingot/tensor_group.h"

enum { GROUP_WHY_BYTES = 512 };

// Each returns false with a sentence in `why` (GROUP_WHY_BYTES).
typedef struct GroupTransport {
    const char *name;
    bool (*open)(int *rank, int *size, char *why);
    bool (*reduce)(void *data, int64_t n, IgType type, IgGroupOp op, char *why); // no mean, no half
    bool (*broadcast)(void *data, size_t n_bytes, int root, char *why);
    bool (*gather)(void *data, const size_t *begins, char *why);
    // data: n elements for each process; the sums of this one's n come to its beginning.
    bool (*scatter)(void *data, int64_t n, IgType type, IgGroupOp op, char *why);
    bool (*barrier)(char *why);
    void (*close)(bool failed); // failed: the others are ended too
} GroupTransport;

typedef enum GroupKind {
    GROUP_REDUCE,
    GROUP_BROADCAST,
    GROUP_GATHER,
    GROUP_SCATTER,
    GROUP_BARRIER,
    GROUP_CLOSE,
} GroupKind;

// NCCL, for tensors in memory of GPUs; called by the group's thread as well. `load`: whether there
// is one. `open`, before each `run`: `address` is of the GPU that this process works with. `run`: n
// elements of this process, and what comes of them.
bool group_nccl_load(void);
bool group_nccl_has(IgType type);
bool group_nccl_open(const GroupTransport *others, int rank, int size, uint64_t address, char *why);
bool group_nccl_run(GroupKind kind, uint64_t from, uint64_t to, size_t n, IgType type, IgGroupOp op,
                    int root, char *why);

extern const GroupTransport group_mpi;
bool group_mpi_is_around(void); // this process was started together with others
#endif
