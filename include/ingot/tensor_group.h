// SPDX-License-Identifier: Apache-2.0
// tensor_group.h: several processes that work on one thing: tensors are added, handed out and
// collected among them, and gradients are averaged, so that each process trains on its own part of
// every batch.
//
//     IgGroup *group = ig_group_world(&error);
//     ig_group_broadcast_parameters(group, n, parameters, 0, &error); // all begin alike
//     for (...) {
//         IgTensor *loss = network(part_of_batch(ig_group_rank(group), ig_group_size(group)));
//         ig_backward(loss, NULL, NULL, &error);
//         ig_group_average_gradients(group, n, parameters, 0, &error);
//         ig_optimizer_step(adam, &error);
//     }
//     ig_group_close(group, false);
//
// A program that mpirun started is in a group with the others that it started; one that runs by
// itself is a group of one, and nothing here costs anything. Messages go through Open MPI, which is
// opened at run time (INGOT_MPI names another file); tensors of NVIDIA GPUs go through NCCL.
//
// Every function but rank, size and set_poll is called by all processes of the group, in the same
// order. False or NULL and an error of IgErrorGroup: a message did not come through. The group is
// then of no use any more, and neither is the memory that the call was to fill.
#ifndef INGOT_TENSOR_GROUP_H
#define INGOT_TENSOR_GROUP_H
#include "ingot/tensor.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct IgGroup IgGroup;
typedef enum IgGroupOp {
    IgGroupSum = 0,
    IgGroupMean = 1, // of integers: rounded down
    IgGroupMin = 2,
    IgGroupMax = 3,
} IgGroupOp;

// The group of this process, the same object each time; not released. NULL: mpirun started it, or
// RANK and WORLD_SIZE name others, and there is no way to reach them.
MTL_API IgGroup *ig_group_world(MTLError **error);
// Leaves it: messages under way are completed. A program that ends without this leaves with its
// exit status; failed, or a status that is not 0, ends all other processes of the group too.
MTL_API void ig_group_close(IgGroup *group, bool failed);
MTL_API int ig_group_rank(const IgGroup *group); // from 0
MTL_API int ig_group_size(const IgGroup *group);
MTL_API int ig_group_local_rank(const IgGroup *group);        // among those of this machine
MTL_API const char *ig_group_transport(const IgGroup *group); // "alone", "mpi"

// Asked every 50 ms by a thread that waits for others: false ends its call with an error. For
// programs that hear a signal and want to save their work.
typedef bool IgGroupPoll(void *context);
MTL_API void ig_group_set_poll(IgGroup *group, IgGroupPoll *poll, void *context);

// ---- Tensors: of one type and shape in all processes; never recorded for gradients ----

MTL_API IgTensor *ig_all_reduce(IgGroup *group, IgTensor *x, IgGroupOp op, MTLError **error);
MTL_API IgTensor *ig_group_broadcast(IgGroup *group, IgTensor *x, int root, MTLError **error);
// The tensors of all processes behind each other along the first axis.
MTL_API IgTensor *ig_all_gather(IgGroup *group, IgTensor *x, MTLError **error);
// The sum of all, of which process i gets part i of `size` along the first axis.
MTL_API IgTensor *ig_reduce_scatter(IgGroup *group, IgTensor *x, IgGroupOp op, MTLError **error);
// Returns when all processes have come here.
MTL_API bool ig_group_barrier(IgGroup *group, MTLError **error);

// ---- Memory of the host ----

MTL_API bool ig_group_reduce_data(IgGroup *group, IgType type, int64_t n, void *data, IgGroupOp op,
                                  MTLError **error);
// Part i of `data`, the bytes from begins[i] to begins[i + 1], is process i's; afterwards all
// processes have all parts.
MTL_API bool ig_group_gather_data(IgGroup *group, void *data, const size_t *begins,
                                  MTLError **error);

// ---- Training ----

// The parameters get the values they have in process `root`.
MTL_API bool ig_group_broadcast_parameters(IgGroup *group, int n, IgTensor *const *parameters,
                                           int root, MTLError **error);
// Each gradient becomes the mean over all processes. Gradients travel in buckets of about so many
// bytes (0: 4 MiB), those of the last parameters first: while one is on its way the kernels of the
// next run. A parameter without a gradient is an error.
MTL_API bool ig_group_average_gradients(IgGroup *group, int n, IgTensor *const *parameters,
                                        size_t bucket_bytes, MTLError **error);

#ifdef __cplusplus
}
#endif
#endif
