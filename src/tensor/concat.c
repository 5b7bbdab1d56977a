// SPDX-License-Identifier: Apache-2.0
// concat.c: concatenation and splitting. Every tensor is treated as (outer, axis, inner); the
// kernels copy bits and depend only on the element size.
#include "tensor/concat.h"
#include "ig_texts.h"
#include <stdlib.h>
#include <string.h>

enum { LONG_LINE = 32, LINES_OF_GROUP = 16 };

static IgKernel *kernel_for(IgDevice *device, const char *function, IgType type, MTLError **error) {
    return ig_kernel_of(
        device, &(IgKernelFile){ig_text_concat_metal, function, ig_type_bits(type), NULL}, error);
}

static void outer_inner(const IgShape *shape, int axis, int64_t *outer, int64_t *inner) {
    *outer = *inner = 1;
    for (int i = 0; i < axis; i++) *outer *= shape->n[i];
    for (int i = axis + 1; i < shape->rank; i++) *inner *= shape->n[i];
}

static bool encode(IgDevice *device, IgKernel *kernel, const int32_t *words, size_t n_words,
                   const IgView *x, IgData *y, int64_t n, MTLError **error) {
    if (n == 0) return true;
    IgBinding bindings[2] = {{x->data->memory, (size_t)x->offset * ig_type_size(x->data->type)},
                             {y->memory, 0}};
    size_t width = n < 256 ? (size_t)n : 256;
    return ig_encode(device, kernel, words, n_words * 4, bindings, 2,
                     mtl_size_make((size_t)n, 1, 1), mtl_size_make(width, 1, 1), false, error);
}

// Lines of y from lines of x; all numbers are elements.
typedef struct Lines {
    int64_t n, length, offset, stride; // of y
    int64_t x_length, x_offset;        // of x, and where in the line of y it begins
    const int32_t *value;
} Lines;

static bool encode_lines(IgDevice *device, const Lines *l, const IgView *x, IgData *y,
                         MTLError **error) {
    IgKernel *kernel = kernel_for(device, "lines", y->type, error);
    if (!kernel) return false;
    size_t length = (size_t)l->length, width = length < 256 ? (length + 31) / 32 * 32 : 256;
    int32_t words[11] = {(int32_t)l->n,
                         (int32_t)l->length,
                         (int32_t)l->offset,
                         (int32_t)l->stride,
                         (int32_t)l->x_length,
                         (int32_t)l->x_offset,
                         (int32_t)l->x_length,
                         l->value ? l->value[0] : 0,
                         l->value ? l->value[1] : 0,
                         (int32_t)width,
                         LINES_OF_GROUP};
    IgBinding bindings[2] = {{x->data->memory, (size_t)x->offset * ig_type_size(x->data->type)},
                             {y->memory, 0}};
    MTLSize grid = mtl_size_make((length + width - 1) / width,
                                 ((size_t)l->n + LINES_OF_GROUP - 1) / LINES_OF_GROUP, 1);
    return ig_encode(device, kernel, words, sizeof words, bindings, 2, grid,
                     mtl_size_make(width, 1, 1), true, error);
}

// ---- Spread ----

typedef struct Spread {
    int axis;
    int64_t start, step;
    int32_t value[2]; // bits of an element
} Spread;

static bool run_spread(IgDevice *device, IgData *data, MTLError **error) {
    const IgExpr *expr = data->expr;
    const Spread *s = expr->extra;
    const IgView *x = &expr->inputs[0];
    int64_t outer, inner;
    outer_inner(&expr->shape, s->axis, &outer, &inner);
    IgKernel *kernel = kernel_for(device, "spread", data->type, error);
    if (!kernel || !ig_data_make(x->data, error) || !ig_data_allocate(data, error)) return false;
    int64_t n = expr->shape.n[s->axis];
    if (s->step == 1 && n * inner >= LONG_LINE && outer > 0)
        return encode_lines(device,
                            &(Lines){.n = outer,
                                     .length = n * inner,
                                     .stride = n * inner,
                                     .x_length = x->shape.n[s->axis] * inner,
                                     .x_offset = s->start * inner,
                                     .value = s->value},
                            x, data, error);
    int32_t words[8] = {(int32_t)data->n,  (int32_t)inner,   (int32_t)expr->shape.n[s->axis],
                        (int32_t)s->start, (int32_t)s->step, (int32_t)x->shape.n[s->axis],
                        s->value[0],       s->value[1]};
    return encode(device, kernel, words, 8, x, data, data->n, error);
}

static bool rule_spread(IgGradNode *node, IgTensor *g, IgTensor **out, MTLError **error) {
    int axis = (int)node->numbers[0];
    int64_t start = node->numbers[1], step = node->numbers[2];
    int64_t n = node->inputs[0]->shape.n[axis];
    out[0] = ig_slice(g, axis, start, start + (n - 1) * step + 1, step, error);
    return out[0] != NULL;
}

IgTensor *ig_spread(IgTensor *x, int axis, int64_t start, int64_t step, int64_t n, double value,
                    MTLError **error) {
    if (!x) return NULL;
    IgTensor *packed = ig_contiguous(x, error);
    if (!packed) return NULL;
    IgShape shape = packed->view.shape;
    shape.n[axis] = n;
    Spread s = {.axis = axis, .start = start, .step = step};
    ig_element_set(ig_type(x), s.value, 0, value);
    IgExpr *expr = NULL;
    if (ig_shape_check("ig_pad", shape.rank, shape.n, &shape, error))
        expr = ig_expr_with(run_spread, &s, sizeof s, 1, &packed->view, &shape, error);
    IgTensor *result = expr ? ig_tensor_of_expr(ig_device(x), ig_type(x), expr, error) : NULL;
    ig_drop(packed);
    if (!result || !ig_grad_enabled_for(1, &x)) return result;
    IgGradNode *node = ig_node_new("ig_pad", rule_spread, 1, &x, error);
    if (node) {
        node->numbers[0] = axis;
        node->numbers[1] = start;
        node->numbers[2] = step;
    }
    return ig_node_attach(result, node, false, error);
}

IgTensor *ig_pad(IgTensor *x, int axis, int64_t before, int64_t after, double value,
                 MTLError **error) {
    if (!x || !ig_axis("ig_pad", ig_rank(x), axis, 0, &axis, error)) return NULL;
    if (before < 0 || after < 0 || before > INT32_MAX || after > INT32_MAX) {
        ig_fail(error, IgErrorArgument, "ig_pad: %lld before and %lld behind are no lengths",
                (long long)before, (long long)after);
        return NULL;
    }
    return ig_spread(x, axis, before, 1, before + ig_dim(x, axis) + after, value, error);
}

// ---- Concatenation ----

typedef struct Pieces {
    int axis, n;
    IgView views[]; // retained
} Pieces;

static void drop_pieces(IgExpr *expr) {
    Pieces *p = expr->extra;
    for (int i = 0; i < p->n; i++) ig_data_release(p->views[i].data);
    free(p);
}

enum { JOINED = 4, COLUMNS_OF_GROUP = 4096 };

// How many of the pieces from `first` on go into one kernel: those with lines that are worth it.
static int n_joined(const Pieces *p, int first, int64_t inner) {
    int n = 0;
    while (n < JOINED && first + n < p->n &&
           p->views[first + n].shape.n[p->axis] * inner >= LONG_LINE)
        n++;
    return n;
}

// Pieces first .. first + n - 1, from `start` of the axis on.
static bool encode_join(IgDevice *device, const Pieces *p, int first, int n, int64_t start,
                        IgData *data, MTLError **error) {
    int64_t outer, inner, longest = 0;
    const IgShape *shape = &data->expr->shape;
    outer_inner(shape, p->axis, &outer, &inner);
    if (outer == 0) return true;
    IgBinding bindings[JOINED + 1];
    int32_t words[5 + JOINED] = {(int32_t)outer, (int32_t)(start * inner),
                                 (int32_t)(shape->n[p->axis] * inner), COLUMNS_OF_GROUP,
                                 LINES_OF_GROUP};
    for (int i = 0; i < JOINED; i++) {
        const IgView *x = &p->views[first + (i < n ? i : 0)];
        int64_t length = i < n ? x->shape.n[p->axis] * inner : 0;
        words[5 + i] = (int32_t)length;
        longest = length > longest ? length : longest;
        bindings[i] = (IgBinding){x->data->memory, (size_t)x->offset * ig_type_size(x->data->type)};
    }
    bindings[JOINED] = (IgBinding){data->memory, 0};
    IgKernel *kernel = kernel_for(device, "join", data->type, error);
    if (!kernel) return false;
    return ig_encode(device, kernel, words, sizeof words, bindings, JOINED + 1,
                     mtl_size_make((size_t)(longest + COLUMNS_OF_GROUP - 1) / COLUMNS_OF_GROUP,
                                   (size_t)(outer + LINES_OF_GROUP - 1) / LINES_OF_GROUP, 1),
                     mtl_size_make(32, 1, 1), true, error);
}

static bool run_concat(IgDevice *device, IgData *data, MTLError **error) {
    const IgExpr *expr = data->expr;
    Pieces *p = expr->extra;
    int64_t outer, inner, start = 0;
    outer_inner(&expr->shape, p->axis, &outer, &inner);
    for (int i = 0; i < p->n; i++)
        if (!ig_data_make(p->views[i].data, error)) return false;
    if (!ig_data_allocate(data, error)) return false;
    for (int i = 0; i < p->n; i++) {
        int64_t length = p->views[i].shape.n[p->axis], n = outer * length * inner;
        int many = n_joined(p, i, inner);
        if (many > 0) {
            if (!encode_join(device, p, i, many, start, data, error)) return false;
            for (int k = 0; k < many; k++) start += p->views[i + k].shape.n[p->axis];
            i += many - 1;
            continue;
        }
        IgKernel *kernel = kernel_for(device, "place", data->type, error);
        if (!kernel) return false;
        int32_t words[5] = {(int32_t)n, (int32_t)inner, (int32_t)expr->shape.n[p->axis],
                            (int32_t)start, (int32_t)length};
        if (!encode(device, kernel, words, 5, &p->views[i], data, n, error)) return false;
        start += length;
    }
    return true;
}

static bool rule_concat(IgGradNode *node, IgTensor *g, IgTensor **out, MTLError **error) {
    int axis = (int)node->numbers[0];
    const int64_t *lengths = node->extra; // also of pieces that want no gradient
    int64_t start = 0;
    for (int i = 0; i < node->n_inputs; start += lengths[i++])
        if (node->inputs[i] && !(out[i] = ig_slice(g, axis, start, start + lengths[i], 1, error)))
            return false;
    return true;
}

static IgTensor *record_concat(IgTensor *result, int n, IgTensor *const *pieces, int axis,
                               MTLError **error) {
    if (!result || !ig_is_float(ig_type(result)) || !ig_grad_enabled_for(n, pieces)) return result;
    IgGradNode *node = ig_node_new("ig_concat", rule_concat, n, pieces, error);
    int64_t *lengths = node ? malloc((size_t)n * sizeof *lengths) : NULL;
    if (node && !lengths) {
        ig_fail_no_memory(error);
        ig_node_release(node);
        node = NULL;
    }
    if (node) {
        node->numbers[0] = axis;
        node->extra = lengths;
        for (int i = 0; i < n; i++) lengths[i] = ig_shape(pieces[i])[axis];
    }
    return ig_node_attach(result, node, false, error);
}

static bool check_pieces(int n, IgTensor *const *pieces, int *axis, IgShape *shape, IgType *type,
                         MTLError **error) {
    if (n < 1 || !pieces) return ig_fail(error, IgErrorArgument, "ig_concat: no tensors");
    for (int i = 0; i < n; i++)
        if (!pieces[i]) return false;
    const IgTensor *first = pieces[0];
    if (!ig_axis("ig_concat", ig_rank(first), *axis, 0, axis, error)) return false;
    *shape = first->view.shape;
    *type = ig_type(first);
    for (int i = 1; i < n; i++) {
        IgShape other = pieces[i]->view.shape;
        if (!ig_same_device("ig_concat", first, pieces[i], error)) return false;
        int64_t length = other.rank == shape->rank ? other.n[*axis] : 0;
        other.n[*axis] = first->view.shape.n[*axis];
        if (!ig_shape_equal(&other, &first->view.shape))
            return ig_fail(error, IgErrorShape, "ig_concat: shapes %s and %s differ beside axis %d",
                           ig_shape_text(ig_rank(first), ig_shape(first)),
                           ig_shape_text(ig_rank(pieces[i]), ig_shape(pieces[i])), *axis);
        shape->n[*axis] += length;
        *type = ig_promote(*type, ig_type(pieces[i]));
    }
    return ig_shape_check("ig_concat", shape->rank, shape->n, shape, error);
}

// The piece as contiguous memory of the type, in or on its way.
static bool add_piece(Pieces *p, IgTensor *piece, IgType type, MTLError **error) {
    IgTensor *cast = ig_cast(piece, type, error), *packed = ig_contiguous(cast, error);
    bool ok = packed != NULL;
    if (ok) {
        IgDevice *device = ig_device(packed);
        p->views[p->n] = packed->view;
        ig_data_retain(p->views[p->n++].data);
        ig_lock(device);
        ok = ig_data_make(packed->view.data, error);
        ig_unlock(device);
    }
    ig_drop(packed);
    ig_drop(cast);
    return ok;
}

IgTensor *ig_concat(int n, IgTensor *const *pieces, int axis, MTLError **error) {
    IgShape shape = {0};
    IgType type = IgFloat16;
    if (!check_pieces(n, pieces, &axis, &shape, &type, error)) return NULL;
    Pieces *p = calloc(1, sizeof *p + (size_t)n * sizeof *p->views);
    IgExpr *expr = p ? ig_expr_new(0, NULL, &shape, error) : NULL;
    if (!expr) {
        if (!p) ig_fail_no_memory(error);
        free(p);
        return NULL;
    }
    p->axis = axis;
    expr->run = run_concat;
    expr->dispatches = true;
    expr->extra = p;
    expr->drop = drop_pieces;
    bool ok = true;
    for (int i = 0; ok && i < n; i++) ok = add_piece(p, pieces[i], type, error);
    if (!ok) {
        ig_expr_free(expr);
        return NULL;
    }
    return record_concat(ig_tensor_of_expr(ig_device(pieces[0]), type, expr, error), n, pieces,
                         axis, error);
}

IgTensor *ig_cat(int n, IgTensor *const *pieces, int axis, MTLError **error) {
    return ig_concat(n, pieces, axis, error);
}

IgTensor *ig_stack(int n, IgTensor *const *pieces, int axis, MTLError **error) {
    if (n < 1 || !pieces) {
        ig_fail(error, IgErrorArgument, "ig_stack: no tensors");
        return NULL;
    }
    if (!pieces[0] || !ig_axis("ig_stack", ig_rank(pieces[0]), axis, 1, &axis, error)) return NULL;
    IgTensor **rows = calloc((size_t)n, sizeof *rows);
    if (!rows) {
        ig_fail_no_memory(error);
        return NULL;
    }
    bool ok = true;
    for (int i = 0; ok && i < n; i++) {
        if (pieces[i] && !ig_shape_equal(&pieces[i]->view.shape, &pieces[0]->view.shape))
            ok = ig_fail(error, IgErrorShape, "ig_stack: shapes %s and %s differ",
                         ig_shape_text(ig_rank(pieces[0]), ig_shape(pieces[0])),
                         ig_shape_text(ig_rank(pieces[i]), ig_shape(pieces[i])));
        else
            ok = (rows[i] = ig_unsqueeze(pieces[i], axis, error)) != NULL;
    }
    IgTensor *result = ok ? ig_concat(n, rows, axis, error) : NULL;
    for (int i = 0; i < n; i++) ig_drop(rows[i]);
    free(rows);
    return result;
}

// ---- Taking apart: views ----

static int cut(const char *call, IgTensor *x, int64_t size, int axis, bool unstack, int max,
               IgTensor **pieces, MTLError **error) {
    int64_t all = ig_dim(x, axis), n = all == 0 ? 1 : (all - 1) / size + 1;
    if (unstack) n = all;
    if (n > max || !pieces) {
        ig_fail(error, IgErrorArgument, "%s: %lld pieces of shape %s, room for %d", call,
                (long long)n, ig_shape_text(ig_rank(x), ig_shape(x)), max);
        return 0;
    }
    for (int i = 0; i < n; i++) {
        pieces[i] = unstack ? ig_select(x, axis, i, error)
                            : ig_slice(x, axis, i * size, (i + 1) * size, 1, error);
        if (pieces[i]) continue;
        while (i-- > 0) ig_drop(pieces[i]);
        return 0;
    }
    return (int)n;
}

int ig_split(IgTensor *x, int64_t size, int axis, int max, IgTensor **pieces, MTLError **error) {
    if (!x || !ig_axis("ig_split", ig_rank(x), axis, 0, &axis, error)) return 0;
    if (size >= 1 && size <= INT32_MAX)
        return cut("ig_split", x, size, axis, false, max, pieces, error);
    ig_fail(error, IgErrorArgument, "ig_split: pieces of %lld", (long long)size);
    return 0;
}

int ig_chunk(IgTensor *x, int64_t n, int axis, int max, IgTensor **pieces, MTLError **error) {
    if (!x || !ig_axis("ig_chunk", ig_rank(x), axis, 0, &axis, error)) return 0;
    if (n < 1) {
        ig_fail(error, IgErrorArgument, "ig_chunk: %lld chunks", (long long)n);
        return 0;
    }
    int64_t size = (ig_dim(x, axis) + n - 1) / n;
    return cut("ig_chunk", x, size ? size : 1, axis, false, max, pieces, error);
}

int ig_unstack(IgTensor *x, int axis, int max, IgTensor **pieces, MTLError **error) {
    if (!x || !ig_axis("ig_unstack", ig_rank(x), axis, 0, &axis, error)) return 0;
    return cut("ig_unstack", x, 1, axis, true, max, pieces, error);
}
