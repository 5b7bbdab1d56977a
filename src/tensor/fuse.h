// SPDX-License-Identifier: Apache-2.0
// fuse.h: element-wise expressions become kernels.
#ifndef INGOT_TENSOR_FUSE_H
#define INGOT_TENSOR_FUSE_H
#include "base/text.h"
#include "tensor/elementwise.h"

enum {
    IG_FUSE_OPS = 32,    // operations in one kernel
    IG_FUSE_LEAVES = 12, // tensors it reads
    IG_FUSE_OUTPUTS = 4, // tensors it writes
    IG_FUSE_KEY = 8 + IG_FUSE_LEAVES * (1 + IG_MAX_RANK) + IG_FUSE_OPS * 8,
};

typedef struct IgLeaf {
    IgView view; // broadcast to the kernel's shape; strides are those of the folded axes later
} IgLeaf;
typedef struct IgNode {
    IgOp op;
    IgType compute, type;
    int in[3]; // >= 0: a node; < 0: leaf -1 - in
    const double *values;
    IgData *data; // whose value it is
    int output;   // -1: not stored
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
    int pack; // elements of a thread, neighbours along axis 0, read and written at once; 0: one
    // A product of matrices whose value one leaf is: it is not read, matmul.c computes it in place.
    IgData *product; // NULL: there is none
    int product_leaf;
    bool may_take_product;
} IgFused;

// With device->lock held: makes data, whose expression is element-wise.
bool ig_fuse(IgData *data, MTLError **error);
// Called for a new expression: counts what it would take along, and makes inputs that would be too
// much. With device->lock held.
bool ig_fuse_record(IgExpr *expr, MTLError **error);

// The pieces, for kernels that do something else with an element-wise value (reduce.c). Lock held.
// Fills leaves and nodes for the value of a view; *root is the node, or < 0: leaf -1 - root.
bool ig_fuse_collect(IgFused *f, const IgView *view, int *root, MTLError **error);
// Folds the axes whose bit is in `which`, and appends them to f->axes.
void ig_fuse_fold(IgFused *f, unsigned which);
size_t ig_fuse_key(const IgFused *f, unsigned char *key);
// The words a kernel finds at buffer 0: sizes of the axes, offset and strides of each leaf,
// numbers.
size_t ig_fuse_words(const IgFused *f, int32_t *words);
enum { IG_FUSE_WORDS = IG_MAX_RANK + IG_FUSE_LEAVES * (1 + IG_MAX_RANK) + IG_FUSE_OPS * 4 };

// fuse_source.c
char *ig_fuse_source(void *fused); // the text of the kernel "fused", malloc'd
void ig_fuse_write_prelude(Text *out);
void ig_fuse_write_leaves(Text *out, const IgFused *f); // as parameters, from buffer 1 on
// Statements that compute the value at position i0, i1, ... of the folded axes; `root` is then in
// the variable n<root> or l<leaf>.
void ig_fuse_write_value(Text *out, const IgFused *f);
// For f->pack elements from i0 on: the leaves whose neighbours they are, as k<leaf>; then inside of
// a loop whose e counts them, ig_fuse_write_value finds them there.
void ig_fuse_write_packs(Text *out, const IgFused *f);
// How many elements a thread of a GPU is to have, 16 bytes of the largest; 0: one. They begin at
// multiples of it. `whole`: there may be no fewer at the end, else what is behind the end is there.
int ig_fuse_pack(const IgFused *f, bool whole);
#endif
