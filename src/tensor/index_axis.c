// SPDX-License-Identifier: Apache-2.0
// index_axis.c: y[o][j][i] = x[o][index[o][j][i]][i] (take), and x with
// x[o][index[o][j][i]][i] += source[o][j][i] (sum), each in the gradient of the other. Sums of one
// (o, i) are made by one thread in the order of j, so that results do not depend on the machine and
// nothing is sorted.
#include "tensor/index_axis.h"
#include "tensor/work.h"
#include "ig_texts.h"

enum { ENOUGH = 8, FAR = 1 << 16 };

typedef struct Axes {
    int64_t outer, n, k, inner;
} Axes;

static Axes axes_of(const IgTensor *x, int axis, const IgTensor *index) {
    Axes a = {1, ig_shape(x)[axis], ig_shape(index)[axis], 1};
    for (int i = 0; i < axis; i++) a.outer *= ig_shape(x)[i];
    for (int i = axis + 1; i < ig_rank(x); i++) a.inner *= ig_shape(x)[i];
    return a;
}

bool ig_index_fits(const IgTensor *x, int axis, const IgTensor *index) {
    if (ig_rank(x) != ig_rank(index) || ig_numel(x) == 0 || ig_numel(index) == 0) return false;
    for (int i = 0; i < ig_rank(x); i++)
        if (i != axis && ig_shape(x)[i] != ig_shape(index)[i]) return false;
    Axes a = axes_of(x, axis, index);
    return a.outer * a.inner >= ENOUGH;
}

// As int32 or int64, contiguous.
static IgTensor *plain(IgTensor *index, MTLError **error) {
    IgType type = ig_type(index);
    IgTensor *whole = type == IgInt32 || type == IgInt64 ? index : ig_cast(index, IgInt32, error);
    return whole ? ig_contiguous(whole, error) : NULL;
}

static const char *index_macro(const IgTensor *index) {
    return ig_type(index) == IgInt64 ? "INDEX=long" : "INDEX=int";
}

// op: the axis
static bool rule_take(IgGradNode *node, IgTensor *g, IgTensor **out, MTLError **error) {
    const IgShape *shape = &node->inputs[0]->shape;
    IgTensor *nothing = ig_zeros(ig_device(g), ig_type(g), shape->rank, shape->n, error);
    if (nothing) out[0] = ig_index_sum(node->name, nothing, node->op, ig_saved(node, 1), g, error);
    return out[0] != NULL;
}

static bool rule_sum(IgGradNode *node, IgTensor *g, IgTensor **out, MTLError **error) {
    if (node->inputs[0]) out[0] = ig_cast(g, ig_type(g), error);
    if (node->inputs[1]) out[1] = ig_index_take(node->name, g, node->op, ig_saved(node, 2), error);
    return (!node->inputs[0] || out[0]) && (!node->inputs[1] || out[1]);
}

// What both gradients need is the index, saved behind the inputs.
static IgTensor *record(const char *call, IgGradRule *rule, int n, IgTensor **in, int axis,
                        IgTensor *index, IgTensor *result, MTLError **error) {
    if (!result || !ig_is_float(ig_type(in[0])) || !ig_grad_enabled_for(n, in)) return result;
    IgGradNode *node = ig_node_new(call, rule, n, in, error);
    if (node && !ig_node_save(node, n, index, error)) {
        ig_node_release(node);
        node = NULL;
    }
    if (node) node->op = axis;
    return ig_node_attach(result, node, false, error);
}

// Rows that lie apart, as many as are worth to be brought together: see index_axis.metal. To take
// from them pays where they are pages apart (1024 x 1024 floats: 1.4 times; 1000 x 1000: 0.8).
enum { PAGE = 4096 };
static bool are_far(const IgTensor *x, const Axes *a) {
    return !ig_device((IgTensor *)x)->gpu && a->n * a->inner >= FAR && a->inner >= 32;
}

static void bring_together(IgWork *w, const char *function, const Axes *a, IgType type) {
    size_t blocks = ((size_t)a->inner + 31) / 32;
    w->kernel.function = function;
    w->words[0] = (int32_t)a->n, w->words[1] = (int32_t)a->k, w->words[2] = (int32_t)a->inner;
    w->grid = mtl_size_make(blocks, (size_t)a->outer, 1);
    w->group = mtl_size_make(32, 1, 1);
    w->groups = true;
    w->scratch = blocks * (size_t)a->outer * (size_t)a->n * 32 * ig_type_size(type);
    w->products = a->outer * a->inner * (a->n + a->k);
}

IgTensor *ig_index_take(const char *call, IgTensor *x, int axis, IgTensor *index,
                        MTLError **error) {
    Axes a = axes_of(x, axis, index);
    IgScope *scope = ig_scope_begin();
    ig_no_grad_begin();
    IgTensor *places = plain(index, error), *packed = ig_contiguous(x, error), *y = NULL;
    ig_no_grad_end();
    if (places && packed) {
        bool lines = a.inner > 1; // of the other axes
        int64_t length = lines ? a.inner : a.k, each = lines ? a.k : 1;
        IgWork w = {
            .kernel = {ig_text_index_axis_metal, "take_axis", ig_type_bits(ig_type(x)),
                       index_macro(places)},
            .words = {(int32_t)length, (int32_t)each, (int32_t)(a.n * a.inner), (int32_t)a.inner}};
        ig_work_threads(&w, length, a.outer * each);
        bool pages_apart = a.inner * (int64_t)ig_type_size(ig_type(x)) % PAGE == 0;
        if (are_far(x, &a) && pages_apart && 2 * a.k >= a.n)
            bring_together(&w, "take_axis_near", &a, ig_type(x));
        y = ig_work(call, &w, 2, (IgTensor *[]){packed, places}, &index->view.shape, ig_type(x),
                    error);
        y = record(call, rule_take, 1, &x, axis, index, y, error);
    }
    return ig_scope_return(scope, y);
}

IgTensor *ig_index_sum(const char *call, IgTensor *x, int axis, IgTensor *index, IgTensor *source,
                       MTLError **error) {
    Axes a = axes_of(x, axis, index);
    IgScope *scope = ig_scope_begin();
    ig_no_grad_begin();
    IgTensor *places = plain(index, error), *y = NULL;
    IgTensor *all = ig_cast(x, IgFloat32, error), *from = ig_cast(source, IgFloat32, error);
    all = all ? ig_contiguous(all, error) : NULL;
    from = from ? ig_contiguous(from, error) : NULL;
    if (places && all && from && ig_device(x)->gpu) { // all at once, in any order
        bool lines = a.inner > 1;
        int64_t length = lines ? a.inner : a.k, each = lines ? a.k : 1;
        IgWork w = {
            .kernel = {ig_text_index_axis_metal, "spread_axis", "float", index_macro(places)},
            .words = {(int32_t)length, (int32_t)each, (int32_t)(a.n * a.inner), (int32_t)a.inner},
            .clear = true};
        ig_work_threads(&w, length, a.outer * each);
        y = ig_work(call, &w, 2, (IgTensor *[]){places, from}, &x->view.shape, IgFloat32, error);
        y = y ? ig_cast(ig_add(all, y, error), ig_type(x), error) : NULL;
    } else if (places && all && from) {
        IgWork w = {.kernel = {ig_text_index_axis_metal, "add_axis", "float", index_macro(places)},
                    .words = {(int32_t)a.n, (int32_t)a.k, (int32_t)a.inner}};
        ig_work_threads(&w, a.inner, a.outer);
        if (are_far(x, &a)) bring_together(&w, "add_axis_near", &a, IgFloat32);
        y = ig_work(call, &w, 3, (IgTensor *[]){all, places, from}, &x->view.shape, IgFloat32,
                    error);
        y = y ? ig_cast(y, ig_type(x), error) : NULL;
    }
    ig_no_grad_end();
    y = record(call, rule_sum, 2, (IgTensor *[]){x, source}, axis, index, y, error);
    return ig_scope_return(scope, y);
}
