// SPDX-License-Identifier: Apache-2.0
// ops_shape.c: views, putting together and taking apart, by index, types, and matrices.
#include <stdlib.h>
#include "object.h"

// ---- Views ----

TENSOR_OP(reshape,
          "The same elements in another shape; one length may be -1. A view where it can "
          "be.",
          X, SHAPE("shape")) {
    return ig_reshape(a[0].t, a[1].n, a[1].shape, error);
}
TENSOR_OP(flatten, "Some neighbouring axes, or all, as one.", X,
          {.name = "start", .other = "start_dim", .kind = A_INT, .text = "0"},
          {.name = "end", .other = "end_dim", .kind = A_INT, .text = "-1", .value = -1}) {
    if (ig_rank(a[0].t) == 0) return ig_reshape(a[0].t, 1, (int64_t[]){1}, error);
    return ig_flatten(a[0].t, (int)a[1].i, (int)a[2].i, error);
}
TENSOR_OP(permute, "A view with the axes in another order.", X,
          {.name = "axes", .other = "dims", .kind = A_AXES, .rest = true}) {
    if (a[1].n == ig_rank(a[0].t)) return ig_permute(a[0].t, a[1].axes, error);
    PyErr_Format(PyExc_ValueError, "permute(): %d axes are given for a tensor of %d", a[1].n,
                 ig_rank(a[0].t));
    return NULL;
}
TENSOR_OP(transpose,
          "A view with two axes exchanged, as in PyTorch; without any, all in the "
          "opposite order; with three or more, in that order, as in NumPy.",
          X, {.name = "axes", .kind = A_AXES, .text = "None", .or_none = true, .rest = true}) {
    int rank = ig_rank(a[0].t), axes[IG_MAX_RANK] = {0};
    for (int i = 0; i < rank; i++) axes[i] = rank - 1 - i;
    if (a[1].n < 0) return ig_permute(a[0].t, axes, error);
    if (a[1].n == 2) return ig_transpose(a[0].t, a[1].axes[0], a[1].axes[1], error);
    if (a[1].n == rank) return ig_permute(a[0].t, a[1].axes, error);
    PyErr_Format(PyExc_ValueError, "transpose(): two axes, or %d", rank);
    return NULL;
}
TENSOR_OP(swapaxes, "A view with two axes exchanged.", X, INT("axis0"), INT("axis1")) {
    return ig_transpose(a[0].t, (int)a[1].i, (int)a[2].i, error);
}
TENSOR_OP(expand, "A view that repeats axes of length 1, and new ones in front; -1 keeps a length.",
          X, SHAPE("shape")) {
    int64_t shape[IG_MAX_RANK];
    int added = a[1].n - ig_rank(a[0].t);
    for (int i = 0; i < a[1].n; i++)
        shape[i] = a[1].shape[i] == -1 && i >= added && added >= 0 ? ig_shape(a[0].t)[i - added]
                                                                   : a[1].shape[i];
    return ig_expand(a[0].t, a[1].n, shape, error);
}
TENSOR_OP(broadcast_to, "A view that repeats axes of length 1, and new ones in front.", X,
          SHAPE("shape")) {
    return ig_expand(a[0].t, a[1].n, a[1].shape, error);
}
TENSOR_OP(squeeze, "A view without an axis of length 1, or without any.", X, AXIS_NONE) {
    return ig_squeeze(a[0].t, a[1].axis, error);
}
TENSOR_OP(unsqueeze, "A view with a new axis of length 1.", X, AXIS) {
    return ig_unsqueeze(a[0].t, a[1].axis, error);
}
TENSOR_OP(expand_dims, "A view with a new axis of length 1.", X, AXIS) {
    return ig_unsqueeze(a[0].t, a[1].axis, error);
}
TENSOR_OP(diagonal, "The elements of a diagonal of two axes, as a last axis.", X,
          INT_OR("offset", 0), INT_OR("axis0", 0), INT_OR("axis1", 1)) {
    return ig_diagonal(a[0].t, a[1].i, (int)a[2].i, (int)a[3].i, error);
}
TENSOR_OP(contiguous, "Itself, or a copy whose elements lie in order.", X) {
    return ig_contiguous(a[0].t, error);
}
TENSOR_OP(tril, "x on and below a diagonal of its last two axes, else 0.", X,
          INT_OR("diagonal", 0)) {
    return ig_tril(a[0].t, a[1].i, error);
}
TENSOR_OP(triu, "x on and above a diagonal of its last two axes, else 0.", X,
          INT_OR("diagonal", 0)) {
    return ig_triu(a[0].t, a[1].i, error);
}

// ---- Together ----

TENSOR_OP_AS(AS_FUNCTION | HAS_OUT, concat,
             "Tensors of equal shapes but for one axis, put together along it.", TENSORS("tensors"),
             AXIS_OR(0)) {
    return ig_concat(a[0].n, a[0].ts, a[1].axis, error);
}
TENSOR_OP_AS(AS_FUNCTION | HAS_OUT, cat, "The same as concat().", TENSORS("tensors"), AXIS_OR(0)) {
    return ig_cat(a[0].n, a[0].ts, a[1].axis, error);
}
TENSOR_OP_AS(AS_FUNCTION | HAS_OUT, stack, "Tensors of equal shapes put together along a new axis.",
             TENSORS("tensors"), AXIS_OR(0)) {
    return ig_stack(a[0].n, a[0].ts, a[1].axis, error);
}
TENSOR_OP(pad, "A value before and behind an axis.", X, AXIS, INT("before"), INT("after"),
          NUMBER_OR("value", 0.0)) {
    return ig_pad(a[0].t, a[1].axis, a[2].i, a[3].i, a[4].f, error);
}
TENSOR_OP(flip, "The other way round along an axis.", X, AXIS) {
    return ig_flip(a[0].t, a[1].axis, error);
}
TENSOR_OP(roll, "Moved on by n places along an axis; what falls off comes in at the other end.", X,
          {.name = "n", .other = "shifts", .kind = A_INT}, AXIS_OR(0)) {
    return ig_roll(a[0].t, a[1].i, a[2].axis, error);
}
TENSOR_OP(tile, "The whole again and again along each axis.", X,
          {.name = "times", .other = "reps", .kind = A_SHAPE, .rest = true}) {
    return ig_tile(a[0].t, a[1].n, a[1].shape, error);
}
TENSOR_OP(repeat_interleave, "Each element n times along an axis.", X, INT("n"), AXIS_OR(0)) {
    return ig_repeat_interleave(a[0].t, a[1].i, a[2].axis, error);
}

// ---- Apart ----

typedef int Cutter(IgTensor *x, int64_t size, int axis, int max, IgTensor **pieces,
                   MTLError **error);
static int cut_single(IgTensor *x, int64_t size, int axis, int max, IgTensor **pieces,
                      MTLError **error) {
    (void)size;
    return ig_unstack(x, axis, max, pieces, error);
}

static PyObject *cut(State *state, IgTensor *x, int64_t size, int axis, Cutter *cutter) {
    MTLError *error = NULL;
    // There are no more pieces than the axis is long, and one is possible of an empty axis.
    int64_t max = ig_dim(x, axis) + 1;
    if (max > 1 << 20) max = 1 << 20;
    IgTensor **pieces = calloc((size_t)max, sizeof *pieces);
    if (!pieces) return PyErr_NoMemory();
    int n = cutter(x, size, axis, (int)max, pieces, &error);
    PyObject *list = n || !error ? PyList_New(n) : raise_error(state, error);
    for (int i = 0; i < n; i++) {
        PyObject *piece = wrap(state, pieces[i], NULL);
        if (!piece || !list || PyList_SetItem(list, i, piece) < 0) Py_CLEAR(list);
    }
    free(pieces);
    return list;
}
#define LIST_OP(fn, doc, ...)                                                                      \
    OBJECT_OP(AS_FUNCTION | AS_METHOD, fn, "list[Tensor]", doc, X, __VA_ARGS__)

// split(x, [2, 3]): pieces of given lengths.
static PyObject *split_lengths(State *state, IgTensor *x, int axis, PyObject *lengths) {
    Py_ssize_t n = PySequence_Size(lengths);
    int64_t at = 0, all = ig_dim(x, axis), sum = 0;
    PyObject *list = PyList_New(0);
    for (Py_ssize_t i = 0; list && i < n; i++) {
        MTLError *error = NULL;
        PyObject *item = PySequence_GetItem(lengths, i);
        Py_ssize_t length = item ? PyNumber_AsSsize_t(item, PyExc_OverflowError) : -1;
        Py_XDECREF(item);
        if (PyErr_Occurred() || length < 0 || length > all - sum) {
            if (!PyErr_Occurred())
                PyErr_SetString(state->errors[IgErrorShape],
                                "split(): the lengths do not add up to that of the axis");
            Py_CLEAR(list);
            break;
        }
        sum += length;
        IgTensor *t = ig_slice(x, axis, at, at + length, 1, &error);
        PyObject *piece = wrap(state, t, error);
        if (!piece || PyList_Append(list, piece) < 0) Py_CLEAR(list);
        Py_XDECREF(piece);
        at += length;
    }
    if (list && sum != all) {
        PyErr_SetString(state->errors[IgErrorShape],
                        "split(): the lengths do not add up to that of the axis");
        Py_CLEAR(list);
    }
    return list;
}

LIST_OP(split,
        "Views of consecutive pieces along an axis: of this size, the last may be shorter, or of "
        "the sizes in a list. split(0): every position of the first axis, with length 1.",
        {.name = "size", .other = "split_size_or_sections", .kind = A_ANY}, AXIS_OR(0)) {
    PyObject *size = a[1].py;
    if (PyList_Check(size) || PyTuple_Check(size))
        return split_lengths(state, a[0].t, a[2].axis, size);
    long long n = PyIndex_Check(size) ? PyLong_AsLongLong(size) : -1;
    if (PyErr_Occurred()) return NULL;
    if (!PyIndex_Check(size)) {
        PyErr_Format(PyExc_TypeError, "split(): 'size' must be int or a list of them, not %s",
                     short_type(size));
        return NULL;
    }
    return cut(state, a[0].t, n || a[2].py ? n : 1, a[2].axis, ig_split);
}
LIST_OP(chunk, "Views of at most n pieces of equal size along an axis; the last may be shorter.",
        {.name = "n", .other = "chunks", .kind = A_INT}, AXIS_OR(0)) {
    return cut(state, a[0].t, a[1].i, a[2].axis, ig_chunk);
}
LIST_OP(unstack, "Views of every position of an axis by itself, without the axis.", AXIS_OR(0)) {
    return cut(state, a[0].t, 0, a[1].axis, cut_single);
}

// ---- By index: read and checked right away ----

#define INDEX_OP(fn, doc, ...)                                                                     \
    TENSOR_OP_AS(AS_FUNCTION | AS_METHOD | WAITS, fn, doc, X, AXIS, __VA_ARGS__)
INDEX_OP(index_select, "Positions of an axis, by a list of them.", TENSOR("index")) {
    return ig_index_select(a[0].t, a[1].axis, a[2].t, error);
}
INDEX_OP(gather, "out[i][j] = x[index[i][j]][j] for axis 0 of two, and so on.", TENSOR("index")) {
    return ig_gather(a[0].t, a[1].axis, a[2].t, error);
}
INDEX_OP(scatter, "x with x[index[i][j]][j] = source[i][j] for axis 0 of two, and so on.",
         TENSOR("index"), {.name = "source", .other = "src", .kind = A_TENSOR}) {
    return ig_scatter(a[0].t, a[1].axis, a[2].t, a[3].t, error);
}
INDEX_OP(scatter_add, "x with x[index[i][j]][j] += source[i][j] for axis 0 of two, and so on.",
         TENSOR("index"), {.name = "source", .other = "src", .kind = A_TENSOR}) {
    return ig_scatter_add(a[0].t, a[1].axis, a[2].t, a[3].t, error);
}
INDEX_OP(index_copy, "x with the positions of an axis that the index names replaced.",
         TENSOR("index"), TENSOR("source")) {
    return ig_index_copy(a[0].t, a[1].axis, a[2].t, a[3].t, error);
}
INDEX_OP(index_add, "x with the source added at the positions of an axis that the index names.",
         TENSOR("index"), TENSOR("source")) {
    return ig_index_add(a[0].t, a[1].axis, a[2].t, a[3].t, error);
}
TENSOR_OP_AS(AS_FUNCTION | WAITS, embedding, "Rows of a table (V, E) by their ids (..): (.., E).",
             {.name = "table", .other = "weight", .kind = A_TENSOR}, TENSOR("ids")) {
    return ig_embedding(a[0].t, a[1].t, error);
}

// ---- Types and values ----

TENSOR_OP(astype, "The values in another element type.", X, {.name = "dtype", .kind = A_DTYPE}) {
    return ig_cast(a[0].t, a[1].type, error);
}
OBJECT_OP(
    AS_METHOD, to, "Tensor",
    "In another element type or on another device, in either order, or as another tensor is. "
    "\"cpu\": where it is, since its memory is the host's. non_blocking changes nothing: all work "
    "is started so.",
    X, {.name = "what", .other = "device", .kind = A_ANY, .text = "None", .or_none = true},
    {.name = "and_what", .other = "dtype", .kind = A_ANY, .text = "None", .or_none = true},
    BOOL_OR("non_blocking", false), BOOL_OR("copy", false)) {
    int type = -1;
    IgDevice *device = NULL;
    for (int i = 1; i <= 2; i++) {
        PyObject *o = a[i].py;
        IgType kind;
        if (!o || o == Py_None) continue;
        Tensor *like = as_tensor(o);
        if (like) {
            type = (int)ig_type(like->t);
            device = ig_device(like->t);
            continue;
        }
        bool is_device = PyObject_TypeCheck(o, state->device);
        if (PyUnicode_Check(o)) {
            const char *text = PyUnicode_AsUTF8AndSize(o, NULL);
            if (text && !strcmp(text, "cpu")) continue;
            is_device = text && (!strncmp(text, "metal", 5) || !strcmp(text, "gpu") ||
                                 !strncmp(text, "cuda", 4) || !strncmp(text, "mps", 3));
        }
        if (is_device) {
            if (!(device = to_device(state, o))) return NULL;
        } else {
            if (!to_dtype(state, o, &kind)) return NULL;
            type = (int)kind;
        }
    }
    IgTensor *t = to_tensor(state, a[0].py, type, device);
    if (t == unwrap(a[0].py) && a[4].b) {
        MTLError *error = NULL;
        IgTensor *copy = ig_clone(t, &error);
        ig_release(t);
        return wrap(state, copy, error);
    }
    if (t == unwrap(a[0].py)) {
        ig_release(t);
        return Py_NewRef(a[0].py);
    }
    return t ? wrap(state, t, NULL) : NULL;
}
#define CAST_OP(fn, type)                                                                          \
    TENSOR_OP_AS(AS_METHOD, fn, "The values as " #fn " numbers.", X) {                             \
        return ig_cast(a[0].t, type, error);                                                       \
    }
CAST_OP(float, IgFloat32)
CAST_OP(half, IgFloat16)
CAST_OP(bfloat16, IgBFloat16)
CAST_OP(long, IgInt64)
CAST_OP(int, IgInt32)

TENSOR_OP_AS(AS_METHOD, detach, "The same memory without history.", X) {
    return ig_detach(a[0].t, error);
}
TENSOR_OP(clone, "A tensor with memory of its own, the same values and history.", X) {
    return ig_clone(a[0].t, error);
}
OBJECT_OP(AS_METHOD, item, "float | int | bool", "The single element as a Python number.", X) {
    return to_number(state, a[0].t);
}
OBJECT_OP(AS_METHOD, tolist, "Any", "The elements as nested lists; of a scalar, a number.", X) {
    return to_list(state, a[0].t);
}
OBJECT_OP(AS_METHOD, numel, "int", "The number of elements.", X) {
    return PyLong_FromLongLong(ig_numel(a[0].t));
}
OBJECT_OP(AS_METHOD, dim, "int", "The number of axes.", X) {
    return PyLong_FromLong(ig_rank(a[0].t));
}
OBJECT_OP(AS_METHOD, is_contiguous, "bool", "Whether the elements lie in order.", X) {
    return PyBool_FromLong(ig_is_contiguous(a[0].t));
}
OBJECT_OP(AS_FUNCTION | AS_METHOD, eval, "Tensor",
          "Starts to compute the values, and returns the tensor. Reading does it by itself.", X) {
    MTLError *error = NULL;
    bool ok = ig_eval_quickly(a[0].t);
    if (!ok) WITHOUT_GIL(ok = ig_eval(a[0].t, &error));
    if (!ok) return raise_error(state, error);
    return as_tensor(a[0].py) ? Py_NewRef(a[0].py) : wrap(state, ig_retain(a[0].t), NULL);
}
OBJECT_OP(AS_METHOD, wait, "Tensor", "Waits until the values are there, and returns the tensor.",
          X) {
    return wait_for(state, a[0].t) ? Py_NewRef(a[0].py) : NULL;
}
PLAIN_OP(synchronize, "None", "Waits for all work on the default device.") {
    MTLError *error = NULL;
    IgDevice *device = default_device(state);
    bool ok = ig_device_synchronize_quickly(device);
    if (!device) return NULL;
    if (!ok) WITHOUT_GIL(ok = ig_device_synchronize(device, &error));
    return ok ? Py_NewRef(Py_None) : raise_error(state, error);
}
OBJECT_OP(AS_METHOD, copy_, "Tensor",
          "Gives the tensor the values of another one, which broadcasts to its shape.", X,
          TENSOR("source")) {
    MTLError *error = NULL;
    IgTensor *wide = ig_expand(a[1].t, ig_rank(a[0].t), ig_shape(a[0].t), &error);
    IgTensor *cast = ig_cast(wide, ig_type(a[0].t), &error), *copy = ig_clone(cast, &error);
    int failed = -1;
    if (copy)
        failed = give_value(state, (Tensor *)a[0].py, copy, "copy_");
    else
        raise_error(state, error);
    ig_release(wide);
    ig_release(cast);
    ig_release(copy);
    return failed ? NULL : Py_NewRef(a[0].py);
}
OBJECT_OP(AS_METHOD, fill_, "Tensor", "Gives all elements one value.", X, NUMBER("value")) {
    MTLError *error = NULL;
    IgTensor *t = filled(state, a[0].t, ig_type(a[0].t), &a[1], &error);
    int failed = -1;
    if (t)
        failed = give_value(state, (Tensor *)a[0].py, t, "fill_");
    else if (!PyErr_Occurred())
        raise_error(state, error);
    ig_release(t);
    return failed ? NULL : Py_NewRef(a[0].py);
}
OBJECT_OP(AS_METHOD, _in_place, "Tensor",
          "Gives the tensor the result of function(tensor, *arguments, **named).", X,
          ANY("function"), ANY("arguments"), ANY("named")) {
    PyObject *rest = PySequence_Tuple(a[2].py), *first = rest ? PyTuple_Pack(1, a[0].py) : NULL;
    PyObject *all = first ? PySequence_Concat(first, rest) : NULL, *result = NULL;
    ig_in_place_begin(a[0].t);
    if (all) result = PyObject_Call(a[1].py, all, a[3].py);
    ig_in_place_end();
    Py_XDECREF(rest), Py_XDECREF(first), Py_XDECREF(all);
    Tensor *value = result ? as_tensor(result) : NULL;
    if (result && !value)
        PyErr_Format(PyExc_TypeError, "%s for a change in place", short_type(result));
    int failed = value ? give_value(state, (Tensor *)a[0].py, value->t, "in place") : -1;
    Py_XDECREF(result);
    return failed ? NULL : Py_NewRef(a[0].py);
}
OBJECT_OP(AS_METHOD, _shares, "bool", "Whether both show the same memory.", X, TENSOR("other")) {
    return PyBool_FromLong(ig_shares_memory(a[0].t, a[1].t));
}
OBJECT_OP(AS_FUNCTION | AS_METHOD, check_finite, "Tensor",
          "The tensor; NotFiniteError, which names the first place, if an element is infinite or "
          "not a number.",
          X) {
    MTLError *error = NULL;
    bool ok;
    if (!wait_for(state, a[0].t)) return NULL;
    WITHOUT_GIL(ok = ig_check_finite(a[0].t, &error));
    if (!ok) return raise_error(state, error);
    return as_tensor(a[0].py) ? Py_NewRef(a[0].py) : wrap(state, ig_retain(a[0].t), NULL);
}

// ---- Matrices ----

OUT_OP(matmul,
       "(.., M, K) times (.., K, N): stacks broadcast, a vector is a row on the left and a "
       "column on the right.",
       X, {.name = "y", .other = "other", .kind = A_TENSOR}) {
    return ig_matmul(a[0].t, a[1].t, error);
}
OBJECT_OP(AS_FUNCTION, _einsum, "Tensor", "einsum() with the operands in a list.", STR("equation"),
          TENSORS("operands")) {
    MTLError *error = NULL;
    IgTensor *t = ig_einsum(a[0].s, a[1].n, a[1].ts, &error);
    return wrap(state, t, error);
}

const Op *const ops_shape[] = {&op_reshape,
                               &op_flatten,
                               &op_permute,
                               &op_transpose,
                               &op_swapaxes,
                               &op_expand,
                               &op_broadcast_to,
                               &op_squeeze,
                               &op_unsqueeze,
                               &op_expand_dims,
                               &op_diagonal,
                               &op_contiguous,
                               &op_tril,
                               &op_triu,
                               &op_concat,
                               &op_cat,
                               &op_stack,
                               &op_pad,
                               &op_flip,
                               &op_roll,
                               &op_tile,
                               &op_repeat_interleave,
                               &op_split,
                               &op_chunk,
                               &op_unstack,
                               &op_index_select,
                               &op_gather,
                               &op_scatter,
                               &op_scatter_add,
                               &op_index_copy,
                               &op_index_add,
                               &op_embedding,
                               &op_astype,
                               &op_to,
                               &op_float,
                               &op_half,
                               &op_bfloat16,
                               &op_long,
                               &op_int,
                               &op_detach,
                               &op_clone,
                               &op_item,
                               &op_tolist,
                               &op_numel,
                               &op_dim,
                               &op_is_contiguous,
                               &op_eval,
                               &op_wait,
                               &op_synchronize,
                               &op_copy_,
                               &op_fill_,
                               &op__in_place,
                               &op__shares,
                               &op_check_finite,
                               &op_matmul,
                               &op__einsum,
                               NULL};
