// SPDX-License-Identifier: Apache-2.0
// index.c: rows by number: selecting, embeddings, gather and scatter-add. Everything is brought to
// two operations on rows (N, inner):
//   take   out[k] = x[index[k]]
//   add    out[n] = sum of x[k] over all k with index[k] == n, in the order of k
// each of which is the gradient of the other. Indices are checked on the host when the operation is
// recorded, and sorted there for `add`: sums have one order, results do not depend on the machine.
// (A GPU adds as it comes: sums of floats differ in their last bits from run to run.)
// Gather and scatter-add with an index as long as x beside the axis sort nothing (index_axis.c).
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "tensor/index_axis.h"
#include "tensor/work.h"
#include "ig_texts.h"

enum { LONG_ROW = 32, ROWS_OF_GROUP = 16 };

typedef struct Rows {
    bool add;
    int64_t n_rows, inner; // of the result
} Rows;

// The rows of a float tensor are added where the list says, by all threads at once.
static bool run_atomic(IgDevice *device, IgData *data, MTLError **error) {
    IgView *in = data->expr->inputs;
    const Rows *r = data->expr->extra;
    for (int i = 0; i < 2; i++)
        if (!ig_data_make(in[i].data, error)) return false;
    if (!ig_data_allocate(data, error)) return false;
    if (data->n == 0) return true;
    size_t rows = (size_t)in[1].shape.n[0], inner = (size_t)r->inner;
    IgKernel *kernel = ig_kernel_of(
        device, &(IgKernelFile){ig_text_index_metal, "add_atomic", "float", NULL}, error);
    if (!kernel || !ig_work_clear(device, data, error)) return false;
    if (!rows) return true;
    int32_t words[1] = {(int32_t)r->inner};
    IgBinding bindings[3] = {{in[0].data->memory, (size_t)in[0].offset * sizeof(float)},
                             {in[1].data->memory, (size_t)in[1].offset * sizeof(int32_t)},
                             {data->memory, 0}};
    size_t width = inner < 256 ? inner : 256;
    return ig_encode(device, kernel, words, sizeof words, bindings, 3,
                     mtl_size_make(inner, rows, 1), mtl_size_make(width, 256 / width, 1), false,
                     error);
}

static bool run_index(IgDevice *device, IgData *data, MTLError **error) {
    IgExpr *expr = data->expr;
    const Rows *r = expr->extra;
    IgView *in = expr->inputs;
    if (r->add && device->gpu) return run_atomic(device, data, error);
    bool long_rows = r->inner >= LONG_ROW;
    static const char *const names[2][2] = {{"take", "take_rows"}, {"add", "add_rows"}};
    for (int i = 0; i < 2; i++)
        if (!ig_data_make(in[i].data, error)) return false;
    if (!ig_data_allocate(data, error)) return false;
    if (data->n == 0) return true;
    IgKernelFile file = {ig_text_index_metal, names[r->add][long_rows],
                         r->add ? ig_type_metal(data->type) : ig_type_bits(data->type), NULL};
    IgKernel *kernel = ig_kernel_of(device, &file, error);
    if (!kernel) return false;
    size_t n = (size_t)data->n, inner = (size_t)r->inner;
    size_t width = inner < 256 ? (inner + 31) / 32 * 32 : 256;
    size_t rows = device->gpu ? 1 : ROWS_OF_GROUP;
    int32_t words[4] = {(int32_t)r->inner, (int32_t)r->n_rows, (int32_t)width, (int32_t)rows};
    IgBinding bindings[3] = {
        {in[0].data->memory, (size_t)in[0].offset * ig_type_size(in[0].data->type)},
        {in[1].data->memory, 0},
        {data->memory, 0}};
    MTLSize grid = mtl_size_make(n, 1, 1), group = mtl_size_make(n < 256 ? n : 256, 1, 1);
    if (long_rows) {
        grid = mtl_size_make((inner + width - 1) / width, ((size_t)r->n_rows + rows - 1) / rows, 1);
        group = mtl_size_make(width, 1, 1);
    }
    return ig_encode(device, kernel, words, sizeof words, bindings, 3, grid, group, long_rows,
                     error);
}

// x (rows, inner) contiguous; index as the kernel wants it.
static IgTensor *rows_of(IgTensor *x, IgTensor *index, bool add, int64_t n_rows, MTLError **error) {
    if (!x || !index) return NULL;
    IgShape shape = {2, {n_rows, ig_dim(x, 1)}};
    if (!ig_shape_check("ig_index_select", 2, shape.n, &shape, error)) return NULL;
    const Rows r = {add, n_rows, shape.n[1]};
    const IgView views[] = {x->view, index->view};
    IgExpr *expr = ig_expr_with(run_index, &r, sizeof r, 2, views, &shape, error);
    return expr ? ig_tensor_of_expr(ig_device(x), ig_type(x), expr, error) : NULL;
}

// ---- Indices ----

// Both for every type of indices; sizes are below 2^31.
#define TYPES(X)                                                                                   \
    X(IgInt64, int64_t)                                                                            \
    X(IgInt32, int32_t) X(IgInt16, int16_t) X(IgInt8, int8_t) X(IgUInt8, uint8_t)

// Without a branch per element: a sign bit shows in `seen` when one is below 0 or above n - 1.
static bool all_below(IgType type, const void *data, int64_t count, int64_t n) {
    uint64_t seen = 0;
    switch (type) {
#define CASE(NAME, T)                                                                              \
    case NAME:                                                                                     \
        for (int64_t i = 0; i < count; i++) {                                                      \
            uint64_t v = (uint64_t)((const T *)data)[i];                                           \
            seen |= v | ((uint64_t)n - 1 - v);                                                     \
        }                                                                                          \
        break;
        TYPES(CASE)
#undef CASE
    default: return false;
    }
    return !(seen >> 63);
}

static void copy_numbers(IgType type, const void *data, int64_t count, int32_t *out) {
    switch (type) {
#define CASE(NAME, T)                                                                              \
    case NAME:                                                                                     \
        for (int64_t i = 0; i < count; i++) out[i] = (int32_t)((const T *)data)[i];                \
        break;
        TYPES(CASE)
#undef CASE
    default: break;
    }
}

// Many indices are looked at by all threads: on a machine with many one alone takes longer for
// that than they for the rest. *inside: none is outside; else the host says which.
enum { MANY = 1 << 17, LOOKING = 128 };
static bool check_indices(const char *call, IgTensor *index, int64_t n, bool *inside,
                          MTLError **error) {
    int64_t count = ig_numel(index), each = (count / LOOKING + 32) / 32 * 32;
    IgWork w = {.kernel = {ig_text_index_axis_metal, "outside", "uint",
                           ig_type(index) == IgInt64 ? "INDEX=long" : "INDEX=int"},
                .words = {(int32_t)count, (int32_t)each, (int32_t)n},
                .grid = mtl_size_make(LOOKING, 1, 1),
                .group = mtl_size_make(32, 1, 1),
                .groups = true,
                .products = count};
    IgTensor *seen = ig_work(call, &w, 1, &index, &(IgShape){1, {LOOKING * 32}}, IgInt32, error);
    void *data = NULL;
    bool ok = seen && ig_map(seen, &data, error);
    int32_t any = 0;
    for (int i = 0; ok && i < LOOKING * 32; i++) any |= ((const int32_t *)data)[i];
    *inside = ok && !any;
    ig_drop(seen);
    return ok;
}

// The indices on the host, in order, all from 0 to n - 1; the caller drops *packed.
static const void *checked(const char *call, IgTensor *index, int64_t n, IgTensor **packed,
                           MTLError **error) {
    *packed = NULL;
    if (ig_is_float(ig_type(index)) || ig_type(index) == IgBool) {
        ig_fail(error, IgErrorType, "%s: %s is no type for indices", call,
                ig_type_name(ig_type(index)));
        return NULL;
    }
    void *data;
    int64_t count = ig_numel(index);
    bool many = count >= MANY && !ig_device(index)->gpu &&
                (ig_type(index) == IgInt64 || ig_type(index) == IgInt32),
         inside = false;
    *packed = ig_contiguous(index, error);
    if (!*packed || (many && !check_indices(call, *packed, n, &inside, error)) ||
        !ig_map(*packed, &data, error))
        return NULL;
    if (inside || all_below(ig_type(index), data, count, n)) return data;
    for (int64_t i = 0; i < count; i++) {
        double v = ig_element_get(ig_type(index), data, i);
        if (v >= 0 && v < (double)n) continue;
        ig_fail(error, IgErrorIndex, "%s: index %.0f at position %lld, there are %lld", call, v,
                (long long)i, (long long)n);
        break;
    }
    return NULL;
}

// What was found once stays so where nobody but kernels can write: to look at a million indices
// takes the host longer than a GPU needs for the rest.
bool ig_index_check(const char *call, IgTensor *index, int64_t n, MTLError **error) {
    IgTensor *packed;
    IgData *data = index->view.data;
    ig_lock(data->device);
    bool known = data->below && data->below <= n;
    ig_unlock(data->device);
    if (known) return true;
    bool ok = checked(call, index, n, &packed, error) != NULL;
    ig_drop(packed);
    ig_lock(data->device);
    if (ok && !data->device->unified && !data->memory->foreign && ig_whole(&index->view))
        data->below = n;
    ig_unlock(data->device);
    return ok;
}

// As int32 on the host, malloc'd, each below n.
static int32_t *read_index(const char *call, IgTensor *index, int64_t n, MTLError **error) {
    int64_t count = ig_numel(index);
    IgTensor *packed;
    const void *data = checked(call, index, n, &packed, error);
    int32_t *out = data ? malloc((size_t)(count + 1) * sizeof *out) : NULL;
    if (out) copy_numbers(ig_type(index), data, count, out);
    if (data && !out) ig_fail_no_memory(error);
    ig_drop(packed);
    return out;
}

// The list for `add`: counting sort, places in order within each row.
static IgTensor *sorted(IgDevice *device, const int32_t *index, int64_t count, int64_t n,
                        MTLError **error) {
    int32_t *list = calloc((size_t)(n + 1 + count + 1), sizeof *list);
    if (!list) {
        ig_fail_no_memory(error);
        return NULL;
    }
    int32_t *places = list + n + 1;
    for (int64_t k = 0; k < count; k++) list[index[k] + 1]++;
    for (int64_t i = 0; i < n; i++) list[i + 1] += list[i];
    for (int64_t k = 0; k < count; k++) places[list[index[k]]++] = (int32_t)k;
    memmove(list + 1, list, (size_t)n * sizeof *list); // each has moved on to the next one's start
    list[0] = 0;
    int64_t total = n + 1 + count;
    IgTensor *t = ig_from_data(device, IgInt32, 1, &total, list, error);
    free(list);
    return t;
}

static IgTensor *plain(IgDevice *device, const int32_t *index, int64_t count, MTLError **error) {
    return ig_from_data(device, IgInt32, 1, &count, index, error);
}

// ---- The two operations on rows, with gradients; saved: both forms of the index ----

static IgTensor *record(IgTensor *x, IgTensor *take, IgTensor *add, bool adds, int64_t n_rows,
                        MTLError **error);

static bool rule(IgGradNode *node, IgTensor *g, IgTensor **out, MTLError **error) {
    out[0] = record(g, ig_saved(node, 1), ig_saved(node, 2), !node->op, node->inputs[0]->shape.n[0],
                    error);
    return out[0] != NULL;
}

static IgTensor *record(IgTensor *x, IgTensor *take, IgTensor *add, bool adds, int64_t n_rows,
                        MTLError **error) {
    bool atomic = adds && ig_device(x)->gpu && ig_type(x) != IgFloat32; // in float, then rounded
    IgTensor *wide = atomic ? ig_cast(x, IgFloat32, error) : ig_retain(x);
    IgTensor *packed = wide ? ig_contiguous(wide, error) : NULL;
    IgTensor *result = rows_of(packed, adds ? add : take, adds, n_rows, error);
    if (atomic) {
        IgTensor *sums = result;
        result = sums ? ig_cast(sums, ig_type(x), error) : NULL;
        ig_drop(sums);
    }
    ig_drop(packed);
    if (atomic)
        ig_drop(wide);
    else
        ig_release(wide);
    if (!result || !ig_is_float(ig_type(x)) || !ig_grad_enabled_for(1, &x)) return result;
    IgGradNode *node = ig_node_new(adds ? "ig_scatter_add" : "ig_index_select", rule, 1, &x, error);
    if (node && (!ig_node_save(node, 1, take, error) || !ig_node_save(node, 2, add, error))) {
        ig_node_release(node);
        node = NULL;
    }
    if (node) node->op = adds;
    return ig_node_attach(result, node, false, error);
}

// Inside a scope. x (N, inner) and `count` numbers give (K, inner), or x (K, inner) gives (n,
// inner). The other form of the list is made only if a gradient will want it. Frees the numbers.
static IgTensor *on_numbers(IgTensor *x, int32_t *numbers, int64_t count, bool adds, int64_t n,
                            MTLError **error) {
    IgTensor *take = NULL, *add = NULL;
    bool both = x && ig_is_float(ig_type(x)) && ig_grad_enabled_for(1, &x);
    if (x && numbers && ig_device(x)->gpu) {
        take = add = plain(ig_device(x), numbers, count, error);
    } else if (x && numbers) {
        if (!adds || both) take = plain(ig_device(x), numbers, count, error);
        if (adds || both) add = sorted(ig_device(x), numbers, count, n, error);
    }
    free(numbers);
    if ((!take && (!adds || both)) || (!add && (adds || both))) return NULL;
    return record(x, take, add, adds, adds ? n : count, error);
}

static IgTensor *on_rows(const char *call, IgTensor *x, IgTensor *index, bool adds, int64_t n,
                         MTLError **error) {
    if (!x) return NULL;
    if (ig_device(x)->gpu) { // no list goes to the host and back
        int64_t count = ig_numel(index);
        if (!ig_index_check(call, index, n, error)) return NULL;
        IgTensor *list = ig_reshape(ig_cast(index, IgInt32, error), 1, &count, error);
        list = list ? ig_contiguous(list, error) : NULL;
        return list ? record(x, list, list, adds, adds ? n : count, error) : NULL;
    }
    int32_t *numbers = read_index(call, index, n, error);
    return numbers ? on_numbers(x, numbers, ig_numel(index), adds, n, error) : NULL;
}

// ---- Public ----

IgTensor *ig_index_select(IgTensor *x, int axis, IgTensor *index, MTLError **error) {
    if (!x || !index || !ig_same_device("ig_index_select", x, index, error)) return NULL;
    if (!ig_axis("ig_index_select", ig_rank(x), axis, 0, &axis, error)) return NULL;
    if (ig_rank(index) != 1) {
        ig_fail(error, IgErrorShape, "ig_index_select: indices of shape %s for shape %s: one axis",
                ig_shape_text(ig_rank(index), ig_shape(index)),
                ig_shape_text(ig_rank(x), ig_shape(x)));
        return NULL;
    }
    IgScope *scope = ig_scope_begin();
    IgTensor *front = ig_transpose(x, 0, axis, error);
    IgShape shape = front ? front->view.shape : (IgShape){0};
    int64_t n = shape.n[0], inner = n ? ig_numel(x) / n : 1;
    IgTensor *rows = front ? ig_reshape(front, 2, (int64_t[]){n, inner}, error) : NULL;
    IgTensor *taken = on_rows("ig_index_select", rows, index, false, n, error);
    shape.n[0] = ig_numel(index);
    IgTensor *result = ig_reshape(taken, shape.rank, shape.n, error);
    return ig_scope_return(scope, ig_transpose(result, 0, axis, error));
}

IgTensor *ig_embedding(IgTensor *table, IgTensor *ids, MTLError **error) {
    if (!table || !ids || !ig_same_device("ig_embedding", table, ids, error)) return NULL;
    if (ig_rank(table) != 2 || ig_rank(ids) >= IG_MAX_RANK) {
        ig_fail(error, IgErrorShape, "ig_embedding: a table of shape %s, ids of shape %s",
                ig_shape_text(ig_rank(table), ig_shape(table)),
                ig_shape_text(ig_rank(ids), ig_shape(ids)));
        return NULL;
    }
    IgScope *scope = ig_scope_begin();
    IgShape shape = ids->view.shape;
    shape.n[shape.rank++] = ig_dim(table, 1);
    IgTensor *rows = on_rows("ig_embedding", table, ids, false, ig_dim(table, 0), error);
    return ig_scope_return(scope, ig_reshape(rows, shape.rank, shape.n, error));
}

// Where the elements that an index along an axis names lie in the flattened tensor of `shape`, on
// the host, malloc'd: the index may be shorter in the other axes.
static int32_t *flat_places(const char *call, const IgShape *shape, int axis, IgTensor *index,
                            MTLError **error) {
    int64_t strides[IG_MAX_RANK], at[IG_MAX_RANK] = {0};
    bool ok = ig_rank(index) == shape->rank;
    for (int i = 0; ok && i < shape->rank; i++) ok = i == axis || ig_shape(index)[i] <= shape->n[i];
    if (!ok) {
        ig_fail(error, IgErrorShape, "%s: indices of shape %s for shape %s", call,
                ig_shape_text(ig_rank(index), ig_shape(index)),
                ig_shape_text(shape->rank, shape->n));
        return NULL;
    }
    int32_t *numbers = read_index(call, index, shape->n[axis], error);
    int64_t count = ig_numel(index), beside = 0; // the part of all other axes
    ig_packed_strides(shape, strides);
    for (int64_t k = 0; numbers && k < count; k++) {
        numbers[k] = (int32_t)(numbers[k] * strides[axis] + beside);
        for (int i = shape->rank - 1; i >= 0; i--) {
            int64_t step = i == axis ? 0 : strides[i];
            beside += step;
            if (++at[i] < ig_shape(index)[i]) break;
            beside -= step * at[i];
            at[i] = 0;
        }
    }
    return numbers;
}

IgTensor *ig_gather(IgTensor *x, int axis, IgTensor *index, MTLError **error) {
    if (!x || !index || !ig_same_device("ig_gather", x, index, error) ||
        !ig_axis("ig_gather", ig_rank(x), axis, 0, &axis, error))
        return NULL;
    if (ig_index_fits(x, axis, index))
        return ig_index_check("ig_gather", index, ig_shape(x)[axis], error)
                   ? ig_index_take("ig_gather", x, axis, index, error)
                   : NULL;
    IgScope *scope = ig_scope_begin();
    int32_t *place = flat_places("ig_gather", &x->view.shape, axis, index, error);
    IgTensor *flat = ig_reshape(x, 2, (int64_t[]){ig_numel(x), 1}, error);
    IgTensor *taken =
        place ? on_numbers(flat, place, ig_numel(index), false, ig_numel(x), error) : NULL;
    return ig_scope_return(scope, ig_reshape(taken, ig_rank(index), ig_shape(index), error));
}

// x, indices and elements of the same shape that go to it, on one device.
static bool check_source(const char *call, const IgTensor *x, const IgTensor *index,
                         const IgTensor *source, int *axis, MTLError **error) {
    return ig_same_device(call, x, index, error) && ig_same_device(call, x, source, error) &&
           ig_axis(call, ig_rank(x), *axis, 0, axis, error) &&
           (ig_type(source) == ig_type(x) ||
            ig_fail(error, IgErrorType, "%s: %s to %s: one type is needed", call,
                    ig_type_name(ig_type(source)), ig_type_name(ig_type(x))));
}

static bool check_equal(const char *call, const IgTensor *index, const IgTensor *source,
                        MTLError **error) {
    return ig_shape_equal(&index->view.shape, &source->view.shape) ||
           ig_fail(error, IgErrorShape, "%s: indices of shape %s, elements of shape %s", call,
                   ig_shape_text(ig_rank(index), ig_shape(index)),
                   ig_shape_text(ig_rank(source), ig_shape(source)));
}

IgTensor *ig_scatter_add(IgTensor *x, int axis, IgTensor *index, IgTensor *source,
                         MTLError **error) {
    static const char call[] = "ig_scatter_add";
    if (!x || !index || !source || !check_source(call, x, index, source, &axis, error) ||
        !check_equal(call, index, source, error))
        return NULL;
    if (!ig_is_float(ig_type(x))) {
        ig_fail(error, IgErrorType, "%s: %s to %s: one floating type is needed", call,
                ig_type_name(ig_type(source)), ig_type_name(ig_type(x)));
        return NULL;
    }
    if (ig_index_fits(x, axis, index))
        return ig_index_check(call, index, ig_shape(x)[axis], error)
                   ? ig_index_sum(call, x, axis, index, source, error)
                   : NULL;
    IgScope *scope = ig_scope_begin();
    int32_t *place = flat_places(call, &x->view.shape, axis, index, error);
    IgTensor *flat = ig_reshape(source, 2, (int64_t[]){ig_numel(source), 1}, error);
    IgTensor *sums =
        place ? on_numbers(flat, place, ig_numel(index), true, ig_numel(x), error) : NULL;
    IgTensor *shaped = ig_reshape(sums, ig_rank(x), ig_shape(x), error);
    return ig_scope_return(scope, ig_add(x, shaped, error));
}

// ---- Replacing: for each row of the result the one of the source that comes last, or none ----

// x (n, inner) and source (K, inner), of which the numbers name rows of x. Inside a scope; frees
// the numbers.
static IgTensor *replace_rows(IgTensor *x, int32_t *numbers, IgTensor *source, MTLError **error) {
    if (!x || !numbers || !source) {
        free(numbers);
        return NULL;
    }
    int64_t n = ig_dim(x, 0), count = ig_dim(source, 0);
    int32_t *from = calloc((size_t)n + 1, sizeof *from);
    uint8_t *has = from ? calloc((size_t)n + 1, 1) : NULL;
    IgTensor *result = count ? NULL : x;
    if (!has) ig_fail_no_memory(error);
    if (!has || count == 0) goto fail;
    for (int64_t k = 0; k < count; k++) {
        from[numbers[k]] = (int32_t)k;
        has[numbers[k]] = 1;
    }
    IgDevice *device = ig_device(x);
    IgTensor *mask = ig_from_data(device, IgBool, 2, (int64_t[]){n, 1}, has, error);
    result = ig_where(mask, on_numbers(source, from, n, false, count, error), x, error);
    from = NULL;
fail:
    free(has);
    free(from);
    free(numbers);
    return result;
}

IgTensor *ig_scatter(IgTensor *x, int axis, IgTensor *index, IgTensor *source, MTLError **error) {
    static const char call[] = "ig_scatter";
    if (!x || !index || !source || !check_source(call, x, index, source, &axis, error) ||
        !check_equal(call, index, source, error))
        return NULL;
    IgScope *scope = ig_scope_begin();
    int32_t *place = flat_places(call, &x->view.shape, axis, index, error);
    IgTensor *flat = ig_reshape(source, 2, (int64_t[]){ig_numel(source), 1}, error);
    IgTensor *old = ig_reshape(x, 2, (int64_t[]){ig_numel(x), 1}, error);
    IgTensor *rows = replace_rows(old, place, flat, error);
    return ig_scope_return(scope, ig_reshape(rows, ig_rank(x), ig_shape(x), error));
}

// Slices along an axis as rows: x (n, inner), source (K, inner). Inside a scope.
static bool slices_as_rows(const char *call, IgTensor *x, int axis, IgTensor *index,
                           IgTensor *source, IgTensor **x_rows, IgTensor **source_rows,
                           IgShape *shape, MTLError **error) {
    IgShape want = x->view.shape;
    want.n[axis] = ig_rank(index) == 1 ? ig_dim(index, 0) : -1;
    if (!ig_shape_equal(&want, &source->view.shape))
        return ig_fail(error, IgErrorShape,
                       "%s: %s indices, slices of shape %s, for axis %d of shape %s", call,
                       ig_shape_text(ig_rank(index), ig_shape(index)),
                       ig_shape_text(ig_rank(source), ig_shape(source)), axis,
                       ig_shape_text(ig_rank(x), ig_shape(x)));
    IgTensor *a = ig_transpose(x, 0, axis, error), *b = ig_transpose(source, 0, axis, error);
    if (!a || !b) return false;
    *shape = a->view.shape;
    int64_t n = shape->n[0], inner = 1;
    for (int i = 1; i < shape->rank; i++) inner *= shape->n[i];
    *x_rows = ig_reshape(a, 2, (int64_t[]){n, inner}, error);
    *source_rows = ig_reshape(b, 2, (int64_t[]){ig_dim(b, 0), inner}, error);
    return *x_rows && *source_rows;
}

static IgTensor *index_slices(const char *call, bool add, IgTensor *x, int axis, IgTensor *index,
                              IgTensor *source, MTLError **error) {
    if (!x || !index || !source || !check_source(call, x, index, source, &axis, error)) return NULL;
    if (add && !ig_is_float(ig_type(x))) {
        ig_fail(error, IgErrorType, "%s: a floating type is needed, not %s", call,
                ig_type_name(ig_type(x)));
        return NULL;
    }
    IgScope *scope = ig_scope_begin();
    IgTensor *old = NULL, *new = NULL, *rows = NULL;
    IgShape shape;
    if (slices_as_rows(call, x, axis, index, source, &old, &new, &shape, error)) {
        if (add)
            rows = ig_add(old, on_rows(call, new, index, true, ig_dim(old, 0), error), error);
        else
            rows = replace_rows(old, read_index(call, index, ig_dim(old, 0), error), new, error);
    }
    IgTensor *result = rows ? ig_reshape(rows, shape.rank, shape.n, error) : NULL;
    return ig_scope_return(scope, ig_transpose(result, 0, axis, error));
}

IgTensor *ig_index_copy(IgTensor *x, int axis, IgTensor *index, IgTensor *source,
                        MTLError **error) {
    return index_slices("ig_index_copy", false, x, axis, index, source, error);
}

IgTensor *ig_index_add(IgTensor *x, int axis, IgTensor *index, IgTensor *source, MTLError **error) {
    return index_slices("ig_index_add", true, x, axis, index, source, error);
}
