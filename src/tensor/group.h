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

extern const GroupTransport group_mpi;
bool group_mpi_is_around(void); // this process was started together with others
#endif
