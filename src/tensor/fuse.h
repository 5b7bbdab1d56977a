// SPDX-License-Identifier: Apache-2.0
// fuse.h: element-wise expressions become kernels.
#ifndef INGOT_TENSOR_FUSE_H
#define INGOT_TENSOR_FUSE_H
#include "tensor/elementwise.h"

enum {
    IG_FUSE_OPS = 32,     // operations in one kernel
    IG_FUSE_LEAVES = 12,  // tensors it reads
    IG_FUSE_OUTPUTS = 4,  // tensors it writes
    IG_FUSE_KEY = 8 + IG_FUSE_LEAVES * (1 + IG_MAX_RANK) + IG_FUSE_OPS * 8,
};

typedef struct IgLeaf {
    IgView view;  // broadcast to the kernel's shape; strides are those of the folded axes later
} IgLeaf;
typedef struct IgNode {
    IgOp op;
    IgType compute, type;
    int in[3];         // >= 0: a node; < 0: leaf -1 - in
    const double *values;
    IgData *data;      // whose value it is
    int output;        // -1: not stored
} IgNode;

// One kernel: leaves, operations in order, results. Axes are folded: innermost first, neighbours
// that lie in line for every leaf joined into one.
typedef struct IgFused {
    int n_leaves, n_nodes, n_outputs;
    IgLeaf leaves[IG_FUSE_LEAVES];
    IgNode nodes[IG_FUSE_OPS];
    IgShape shape;
    int n_axes;
    int64_t axes[IG_MAX_RANK];
    int64_t strides[IG_FUSE_LEAVES][IG_MAX_RANK]; // of the folded axes
} IgFused;

// With device->lock held: makes data, whose expression is element-wise.
bool ig_fuse(IgData *data, MTLError **error);
// Called for a new expression: counts what it would take along, and makes inputs that would be too
// much. Takes device->lock.
bool ig_fuse_record(IgDevice *device, IgExpr *expr, MTLError **error);
// fuse_source.c: the text of the kernel "fused", malloc'd.
char *ig_fuse_source(void *fused);
#endif
