// SPDX-License-Identifier: Apache-2.0
// fuse.c: kernel fusion: from an expression to one kernel. Walks from the requested data towards
// its inputs and includes every element-wise operation of the same shape; other operations are
// computed first and read. Intermediate values are not stored: if one is requested later it is
// recomputed, and stored then, so that nothing is computed more than twice.
#include "tensor/fuse.h"
#include <string.h>
#include "tensor/matmul.h"
#include "ig_texts.h"

// ---- Which operations go together ----

typedef enum Join { FAILED, JOINED, FULL } Join;

// FULL if fewer than `room` places for others would be left.
static Join add_leaf(IgFused *f, const IgView *view, int room, int *id) {
    for (int i = 0; i < f->n_leaves; i++) {
        const IgView *old = &f->leaves[i].view;
        if (old->data == view->data && old->offset == view->offset &&
            !memcmp(old->strides, view->strides, (size_t)f->shape.rank * sizeof *old->strides)) {
            *id = -1 - i;
            return JOINED;
        }
    }
    if (f->n_leaves + room >= IG_FUSE_LEAVES) return FULL;
    f->leaves[f->n_leaves].view = *view;
    *id = -1 - f->n_leaves++;
    return JOINED;
}

static int find_node(const IgFused *f, const IgData *data) {
    for (int i = 0; i < f->n_nodes; i++)
        if (f->nodes[i].data == data) return i;
    return -1;
}

static bool joins(const IgView *view) {
    const IgExpr *expr = view->data->expr;
    return !view->data->memory && expr->op >= 0 && ig_whole(view) &&
           ig_shape_equal(&view->shape, &expr->shape);
}

// The value of one product of matrices may come straight from where it is computed. It is stored
// there too if it is marked as wanted, else the second time somebody wants it.
static bool takes_product(const IgFused *f, const IgView *view) {
    const IgData *data = view->data;
    return f->may_take_product && (!f->product || f->product == data) && !data->memory &&
           ig_is_product(data->expr) && (!data->inlined || f->product == data) && ig_whole(view) &&
           ig_shape_equal(&view->shape, &data->expr->shape) && view->shape.rank <= 3;
}

static Join visit(IgFused *f, const IgView *view, int room, int *id, MTLError **error);

// Inputs that are read first, they are sure to need a place, then those that are computed on the
// way: of these each that does not fit becomes a tensor that is read.
static Join add_node(IgFused *f, IgData *data, int room, int *id, MTLError **error) {
    IgExpr *expr = data->expr;
    IgNode node = {.op = (IgOp)expr->op,
                   .compute = expr->compute,
                   .type = data->type,
                   .values = expr->values,
                   .data = data,
                   .output = -1};
    int left = 0;
    bool on_the_way[IG_MAX_INPUTS]; // asked once: what is made for one input may be another
    for (int i = 0; i < expr->n_inputs; i++) left += on_the_way[i] = joins(&expr->inputs[i]);
    for (int pass = 0; pass < 2; pass++)
        for (int i = 0; i < expr->n_inputs; i++) {
            if (on_the_way[i] != (pass == 1)) continue;
            left -= pass;
            Join join = visit(f, &expr->inputs[i], room + left, &node.in[i], error);
            if (join != JOINED) return join;
        }
    if (f->n_nodes == IG_FUSE_OPS) return FULL;
    f->nodes[f->n_nodes] = node;
    *id = f->n_nodes++;
    return JOINED;
}

static Join visit(IgFused *f, const IgView *view, int room, int *id, MTLError **error) {
    IgData *data = view->data;
    *id = find_node(f, data);
    if (*id >= 0 && joins(view)) return JOINED;
    if (joins(view)) {
        int n_leaves = f->n_leaves, n_nodes = f->n_nodes, n_outputs = f->n_outputs;
        IgData *product = f->product;
        Join join = add_node(f, data, room, id, error);
        if (join == FAILED) return FAILED;
        if (join == JOINED) {
            if ((data->inlined || data->wanted) && f->n_outputs < IG_FUSE_OUTPUTS - 1)
                f->nodes[*id].output = f->n_outputs++;
            data->inlined = true;
            return JOINED;
        }
        f->n_leaves = n_leaves, f->n_nodes = n_nodes, f->n_outputs = n_outputs;
        f->product = product;
    }
    if (takes_product(f, view)) {
        Join join = add_leaf(f, view, room, id);
        if (join != JOINED) return join;
        f->product = data;
        f->product_leaf = -1 - *id;
        data->inlined = true;
        return JOINED;
    }
    if (data == f->product) { // it is also read in another way
        f->product = NULL;
    }
    if (!ig_data_make(data, error)) return FAILED;
    return add_leaf(f, view, room, id);
}

bool ig_fuse_record(IgExpr *expr, MTLError **error) {
    bool ok = true;
    expr->n_ops = 1;
    for (int i = 0; i < expr->n_inputs; i++) {
        const IgData *data = expr->inputs[i].data;
        if (!data->memory && data->expr->op >= 0) expr->n_ops += data->expr->n_ops;
    }
    for (int i = 0; ok && expr->n_ops >= IG_FUSE_OPS && i < expr->n_inputs; i++) {
        IgData *data = expr->inputs[i].data;
        if (data->memory || data->expr->op < 0) continue;
        expr->n_ops -= data->expr->n_ops;
        ok = ig_data_make(data, error);
    }
    return ok;
}

bool ig_fuse_collect(IgFused *f, const IgView *view, int *root, MTLError **error) {
    f->n_leaves = f->n_nodes = f->n_outputs = f->n_axes = f->pack = 0;
    f->product = NULL;
    f->may_take_product = false;
    f->shape = view->shape;
    if (visit(f, view, 0, root, error) != JOINED) return false;
    for (int i = 0; i < f->n_nodes; i++) f->nodes[i].output = -1; // nowhere to store them
    return true;
}

// ---- Folding axes ----

static bool in_line(const IgFused *f, int inner, int outer) {
    for (int l = 0; l < f->n_leaves; l++)
        if (f->leaves[l].view.strides[outer] != f->strides[l][inner] * f->axes[inner]) return false;
    return true;
}

void ig_fuse_fold(IgFused *f, unsigned which) {
    int first = f->n_axes;
    for (int i = f->shape.rank - 1; i >= 0; i--) {
        int64_t n = f->shape.n[i];
        if (n == 1 || !(which >> i & 1)) continue;
        int at = f->n_axes - 1;
        if (at >= first && in_line(f, at, i)) {
            f->axes[at] *= n;
            continue;
        }
        at = f->n_axes++;
        f->axes[at] = n;
        for (int l = 0; l < f->n_leaves; l++) f->strides[l][at] = f->leaves[l].view.strides[i];
    }
}

// ---- Several elements a thread ----

enum { MIN_PACKED = 1 << 14 }; // fewer elements in all leave a GPU idle already
enum { MIN_TURNED = 8 };       // rows and columns: less of a square of 32 is worth no turning

// Whether a leaf gives `pack` neighbours at once wherever a thread begins; n: elements along axis
// 0.
static bool gives(const IgFused *f, int l, int pack, int64_t n) {
    const IgView *view = &f->leaves[l].view;
    int64_t size = (int64_t)ig_type_size(view->data->type), stride = f->strides[l][0];
    bool aligned = stride != 1 || view->offset % pack == 0;
    for (int a = 1; a < f->n_axes; a++) aligned &= stride != 1 || f->strides[l][a] % pack == 0;
    int64_t last = view->offset + (n + pack - 1) / pack * pack * stride;
    return aligned && (n % pack == 0 || last * size <= (int64_t)view->data->memory->capacity);
}

int ig_fuse_pack(const IgFused *f, bool whole) {
    size_t largest = 2;
    for (int l = 0; l < f->n_leaves; l++) {
        size_t size = ig_type_size(f->leaves[l].view.data->type);
        if (f->n_axes && f->strides[l][0] == 1 && size > largest) largest = size;
    }
    for (int i = 0; i < f->n_nodes; i++) {
        size_t size = ig_type_size(f->nodes[i].type);
        if (f->nodes[i].output >= 0 && size > largest) largest = size;
    }
    int64_t n = f->n_axes ? f->axes[0] : 0;
    for (int pack = 16 / (int)largest; n && pack > 1; pack /= 2) {
        bool all = n % pack == 0 || (!whole && f->n_axes == 1);
        for (int l = 0; l < f->n_leaves; l++) all = all && gives(f, l, pack, n);
        if (all) return pack;
    }
    return 0;
}

// ---- The kernel ----

size_t ig_fuse_key(const IgFused *f, unsigned char *key) {
    size_t n = 0;
    key[n++] = (unsigned char)f->n_leaves;
    key[n++] = (unsigned char)f->n_nodes;
    key[n++] = (unsigned char)f->n_axes;
    key[n++] = (unsigned char)f->pack;
    for (int l = 0; l < f->n_leaves; l++) {
        key[n++] = (unsigned char)f->leaves[l].view.data->type;
        for (int a = 0; a < f->n_axes; a++)
            key[n++] = f->strides[l][a] == 0 ? 0 : f->strides[l][a] == 1 ? 1 : 2;
    }
    for (int i = 0; i < f->n_nodes; i++) {
        const IgNode *node = &f->nodes[i];
        key[n++] = (unsigned char)node->op;
        key[n++] = (unsigned char)(node->compute * 16 + node->type);
        key[n++] = (unsigned char)(node->output + 1);
        for (int k = 0; k < ig_ops[node->op].arity; k++) key[n++] = (unsigned char)node->in[k];
    }
    return n;
}

size_t ig_fuse_words(const IgFused *f, int32_t *words) {
    size_t n = 0;
    for (int a = 0; a < f->n_axes; a++) words[n++] = (int32_t)f->axes[a];
    for (int l = 0; l < f->n_leaves; l++) {
        words[n++] = (int32_t)f->leaves[l].view.offset;
        for (int a = 0; a < f->n_axes; a++) words[n++] = (int32_t)f->strides[l][a];
    }
    for (int i = 0; i < f->n_nodes; i++)
        for (int k = 0; k < ig_op_values(f->nodes[i].op); k++) {
            double v = f->nodes[i].values[k];
            float single = (float)v;
            if (ig_is_float(f->nodes[i].compute)) {
                memcpy(&words[n++], &single, 4);
            } else {
                int64_t whole = v >= 0x1p63 ? INT64_MAX : (int64_t)v; // 2^63: no limit above
                memcpy(&words[n], &whole, 8);
                n += 2;
            }
        }
    if (n == 0) words[n++] = 0; // buffer 0 is always bound
    return n;
}

// Whether something is read across: neighbours along the first axis lie far apart, those along the
// second side by side.
static bool reads_across(const IgFused *f) {
    for (int l = 0; l < f->n_leaves && f->n_axes > 1; l++)
        if (f->strides[l][0] > 1 && f->strides[l][1] == 1) return true;
    return false;
}

// Threads along the innermost axes; three dimensions of the grid, the third takes the rest. Of what
// is read across, a threadgroup takes a few lines as long as they are in a cache, and no more than
// a set of it holds where they lie a page apart (a transposed copy of 2048 x 2048: 4 times as
// fast).
static void make_grid(const IgFused *f, bool gpu, MTLSize *grid, MTLSize *group) {
    size_t n[3] = {1, 1, 1};
    for (int a = 0; a < f->n_axes; a++) n[a < 3 ? a : 2] *= (size_t)f->axes[a];
    if (f->pack) n[0] = (n[0] + (size_t)f->pack - 1) / (size_t)f->pack;
    *grid = mtl_size_make(n[0], n[1], n[2]);
    size_t most = !gpu && reads_across(f) ? 8 : 256;
    size_t x = n[0] < most ? n[0] : most, y = n[1] < 256 / x ? n[1] : 256 / x;
    *group = mtl_size_make(x, y, 1);
}

// ---- Matrices turned over ----

// Nothing but a copy of a matrix, or of several in a row, that lies across.
static bool only_turns(const IgDevice *device, const IgFused *f) {
    const IgNode *node = &f->nodes[0];
    return !device->gpu && f->n_nodes == 1 && f->n_leaves == 1 && node->op == IG_OP_cast &&
           f->leaves[0].view.data->type == node->type && ig_type_size(node->type) == 4 &&
           (f->n_axes == 2 || f->n_axes == 3) && reads_across(f) && f->axes[0] >= MIN_TURNED &&
           f->axes[1] >= MIN_TURNED && f->axes[0] * f->axes[1] >= 32 * MIN_TURNED;
}

static bool turn(IgDevice *device, const IgFused *f, MTLError **error) {
    const int64_t *n = f->axes, *stride = f->strides[0];
    int64_t stack = f->n_axes == 3 ? n[2] : 1;
    const int32_t words[] = {(int32_t)n[0], (int32_t)n[1], (int32_t)stride[0],
                             f->n_axes == 3 ? (int32_t)stride[2] : 0,
                             (int32_t)f->leaves[0].view.offset};
    IgKernel *kernel = ig_kernel_of(
        device, &(IgKernelFile){ig_text_transpose_metal, "transpose", "uint", NULL}, error);
    if (!kernel || !ig_data_allocate(f->nodes[0].data, error)) return false;
    const IgBinding bindings[] = {{f->leaves[0].view.data->memory, 0},
                                  {f->nodes[0].data->memory, 0}};
    return ig_encode(
        device, kernel, words, sizeof words, bindings, 2,
        mtl_size_make((size_t)(n[1] + 31) / 32, (size_t)(n[0] + 31) / 32, (size_t)stack),
        mtl_size_make(32, 1, 1), true, error);
}

static bool encode(IgDevice *device, IgFused *f, MTLError **error) {
    if (f->product && !f->product->memory) {
        device->statistics.fused += (uint64_t)f->n_nodes;
        return ig_matmul_encode(device, f, error);
    }
    f->product = NULL; // somebody wanted it on the way: it is read like the rest
    unsigned char key[IG_FUSE_KEY];
    int32_t words[IG_FUSE_WORDS];
    f->n_axes = 0;
    ig_fuse_fold(f, ~0u);
    if (only_turns(device, f)) return turn(device, f, error);
    if (device->gpu && ig_shape_numel(&f->shape) >= MIN_PACKED) f->pack = ig_fuse_pack(f, false);
    IgKernel *kernel =
        ig_kernel(device, key, ig_fuse_key(f, key), "fused", ig_fuse_source, f, error);
    if (!kernel) return false;
    IgBinding bindings[IG_FUSE_LEAVES + IG_FUSE_OUTPUTS];
    size_t n = 0;
    for (int l = 0; l < f->n_leaves; l++)
        bindings[n++] = (IgBinding){f->leaves[l].view.data->memory, 0};
    for (int o = 0; o < f->n_outputs; o++)
        for (int i = 0; i < f->n_nodes; i++)
            if (f->nodes[i].output == o) {
                if (!ig_data_allocate(f->nodes[i].data, error)) return false;
                bindings[n++] = (IgBinding){f->nodes[i].data->memory, 0};
            }
    MTLSize grid, group;
    make_grid(f, device->gpu, &grid, &group);
    device->statistics.fused += (uint64_t)(f->n_nodes - 1);
    return ig_encode(device, kernel, words, ig_fuse_words(f, words) * 4, bindings, n, grid, group,
                     false, error);
}

// Whether what a node replaces is read element by element, here and nowhere else: then the kernel
// may write it in place. Who else knows the data has a reference.
static bool may_take_over(const IgFused *f, const IgData *data) {
    const IgData *old = data->replaces;
    unsigned known = data->holders;
    if (!old || !old->memory || old->memory->foreign || old->memory->n_shares ||
        old->type != data->type || old->n != data->n)
        return false;
    for (int i = 0; i < f->n_nodes; i++) {
        const IgExpr *expr = f->nodes[i].data->expr;
        for (int k = 0; expr && k < expr->n_inputs; k++) {
            if (expr->inputs[k].data != old) continue;
            if (!ig_whole(&expr->inputs[k])) return false;
            known++;
        }
    }
    return atomic_load_explicit(&old->refs, memory_order_acquire) == known;
}

void ig_data_settle(IgData *made, bool ok) {
    if (!made->memory || !made->expr) return;
    if (ok) {
        ig_defer(made->device, made->expr);
        made->expr = NULL;
    } else if (made->replaces) {
        made->replaces->memory = made->memory;
        made->memory = NULL;
    } else {
        ig_pool_give(made->device, made->memory);
        made->memory = NULL;
    }
}

bool ig_fuse(IgData *data, MTLError **error) {
    IgFused f;
    int root;
    f.n_leaves = f.n_nodes = f.n_outputs = f.pack = 0;
    f.product = NULL;
    f.may_take_product = true;
    f.shape = data->expr->shape;
    if (add_node(&f, data, 0, &root, error) != JOINED) return false;
    // What the product reads comes first: it may store values that are also part of this kernel.
    IgExpr *product = f.product && !f.product->memory ? f.product->expr : NULL;
    for (int i = 0; product && i < product->n_inputs; i++)
        if (!ig_data_make(product->inputs[i].data, error)) return false;
    // A value that was also wanted as a view of another order has been made on the way.
    f.n_outputs = 0;
    for (int i = 0; i < f.n_nodes; i++)
        f.nodes[i].output =
            (f.nodes[i].output >= 0 || i == root) && !f.nodes[i].data->memory ? f.n_outputs++ : -1;
    for (int i = 0; i < f.n_nodes; i++)
        if (f.nodes[i].output < 0 || !may_take_over(&f, f.nodes[i].data))
            f.nodes[i].data->replaces = NULL;
    IgData *also = product && f.product->wanted ? f.product : NULL;
    bool ok = data->n == 0 ? ig_data_allocate(data, error) : encode(data->device, &f, error);
    for (int i = 0; i < f.n_nodes; i++)
        if (f.nodes[i].output >= 0) ig_data_settle(f.nodes[i].data, ok);
    if (also) ig_data_settle(also, ok);
    return ok;
}
