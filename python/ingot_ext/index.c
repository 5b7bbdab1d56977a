// SPDX-License-Identifier: Apache-2.0
// index.c: x[...] and x[...] = ..., as in NumPy. Integers, slices, None and ... make views (a
// negative step copies). Arrays of integers and masks are read to the host, checked, joined to one
// list of places along the flattened axes they index, and gathered. Assignment to a view writes
// there; else it makes a new value: the places of the chosen elements are found by indexing a
// tensor of places with the same key.
#include <stdlib.h>
#include "object.h"

enum { MAX_ITEMS = 24 };

typedef struct Array { // of places along one axis, on the host
    int axis, rank;
    int64_t shape[IG_MAX_RANK];
    int64_t *values;
} Array;

typedef struct Selection {
    State *state;
    IgTensor *view; // what is shown so far; one reference
    int axis;       // the next one of it
    Array arrays[IG_MAX_RANK + 1];
    int n_arrays;
    int n_blocks; // groups of neighbouring array items in the key
    bool copied;  // it is no view of the tensor
} Selection;

// error: by address, since it is set while the arguments are computed.
static bool show(Selection *s, IgTensor *next, MTLError **error) {
    ig_release(s->view);
    s->view = next;
    if (!next) raise_error(s->state, *error);
    return next != NULL;
}

static bool out_of_bounds(Selection *s, int64_t i, int axis, int64_t n) {
    PyErr_Format(s->state->errors[IgErrorIndex],
                 "index %lld is out of range for axis %d of length %lld", (long long)i, axis,
                 (long long)n);
    return false;
}

static bool too_many(Selection *s) {
    PyErr_Format(s->state->errors[IgErrorIndex], "too many indices for a tensor of %d axes",
                 ig_rank(s->view));
    return false;
}

// ---- Views ----

static bool apply_slice(Selection *s, PyObject *slice) {
    Py_ssize_t start, stop, step;
    MTLError *error = NULL;
    if (s->axis >= ig_rank(s->view)) return too_many(s);
    Py_ssize_t n = (Py_ssize_t)ig_shape(s->view)[s->axis];
    if (PySlice_Unpack(slice, &start, &stop, &step) < 0) return false;
    Py_ssize_t count = PySlice_AdjustIndices(n, &start, &stop, step);
    int axis = s->axis++;
    if (step == 1 && count == n) return true;
    if (count == 0) return show(s, ig_slice(s->view, axis, 0, 0, 1, &error), &error);
    if (step > 0) return show(s, ig_slice(s->view, axis, start, stop, step, &error), &error);
    Py_ssize_t first = start + (count - 1) * step;
    s->copied = true;
    return show(s, ig_slice(s->view, axis, first, start + 1, count > 1 ? -step : 1, &error),
                &error) &&
           show(s, ig_flip(s->view, axis, &error), &error);
}

static bool apply_int(Selection *s, PyObject *item) {
    MTLError *error = NULL;
    Py_ssize_t i = PyNumber_AsSsize_t(item, PyExc_IndexError);
    if (i == -1 && PyErr_Occurred()) return false;
    if (s->axis >= ig_rank(s->view)) return too_many(s);
    int64_t n = ig_shape(s->view)[s->axis];
    if (i < -n || i >= n) return out_of_bounds(s, i, s->axis, n);
    return show(s, ig_select(s->view, s->axis, i < 0 ? i + n : i, &error), &error);
}

// ---- Arrays ----

static bool add_array(Selection *s, Array array) {
    if (s->n_arrays > IG_MAX_RANK || s->axis >= ig_rank(s->view)) {
        free(array.values);
        return too_many(s);
    }
    array.axis = s->axis;
    int64_t n = ig_shape(s->view)[s->axis], count = 1;
    for (int i = 0; i < array.rank; i++) count *= array.shape[i];
    for (int64_t i = 0; i < count; i++) {
        int64_t v = array.values[i];
        if (v < -n || v >= n) {
            free(array.values);
            return out_of_bounds(s, v, s->axis, n);
        }
        if (v < 0) array.values[i] = v + n;
    }
    s->arrays[s->n_arrays++] = array;
    s->axis++;
    return true;
}

// A single bool: a new axis of length 1, of which it chooses the position or none.
static bool apply_bool(Selection *s, bool chosen) {
    MTLError *error = NULL;
    if (!show(s, ig_unsqueeze(s->view, s->axis, &error), &error)) return false;
    int64_t *values = calloc(1, sizeof *values);
    if (!values) return PyErr_NoMemory(), false;
    return add_array(s, (Array){.rank = 1, .shape = {chosen}, .values = values});
}

// The places of a mask's true elements, one array for each of its axes.
static bool apply_mask(Selection *s, IgTensor *mask) {
    int rank = ig_rank(mask);
    const int64_t *shape = ig_shape(mask);
    int64_t n = ig_numel(mask), count = 0;
    MTLError *error = NULL;
    if (s->axis + rank > ig_rank(s->view)) return too_many(s);
    for (int i = 0; i < rank; i++)
        if (shape[i] != ig_shape(s->view)[s->axis + i]) {
            PyErr_Format(s->state->errors[IgErrorIndex],
                         "a mask has length %lld along an axis of length %lld", (long long)shape[i],
                         (long long)ig_shape(s->view)[s->axis + i]);
            return false;
        }
    uint8_t *bits = malloc((size_t)n + 1);
    if (!bits) return PyErr_NoMemory(), false;
    if (!ig_read(mask, bits, (size_t)n, &error)) {
        free(bits);
        return raise_error(s->state, error), false;
    }
    for (int64_t i = 0; i < n; i++) count += bits[i] != 0;
    bool ok = true;
    int64_t inner = n;
    for (int axis = 0; ok && axis < rank; axis++) {
        int64_t *values = malloc(((size_t)count + 1) * sizeof *values), at = 0;
        if (!values) {
            PyErr_NoMemory();
            ok = false;
            break;
        }
        inner = shape[axis] ? inner / shape[axis] : 0;
        for (int64_t i = 0; i < n; i++)
            if (bits[i]) values[at++] = i / inner % shape[axis];
        ok = add_array(s, (Array){.rank = 1, .shape = {count}, .values = values});
    }
    free(bits);
    return ok;
}

static bool apply_array(Selection *s, PyObject *item) {
    MTLError *error = NULL;
    IgTensor *t = to_tensor(s->state, item, -1, ig_device(s->view)), *wide = NULL;
    bool ok = false;
    if (!t) return false;
    if (ig_numel(t) == 0 && !as_tensor(item) && ig_type(t) == IgFloat32) { // []
        IgTensor *cast = ig_cast(t, IgInt64, &error);
        ig_release(t);
        if (!(t = cast)) return raise_error(s->state, error), false;
    }
    IgType type = ig_type(t);
    if (type == IgFloat16 || type == IgFloat32 || type == IgBFloat16) {
        PyErr_Format(s->state->errors[IgErrorIndex], "indices are integers or bool, not %s",
                     ig_type_name(type));
        goto end;
    }
    if (!wait_for(s->state, t)) goto end;
    if (type == IgBool) {
        ok = apply_mask(s, t);
        goto end;
    }
    Array array = {.rank = ig_rank(t)};
    size_t n = (size_t)ig_numel(t);
    memcpy(array.shape, ig_shape(t), (size_t)array.rank * sizeof(int64_t));
    array.values = malloc((n + 1) * sizeof(int64_t));
    wide = ig_cast(t, IgInt64, &error);
    if (!array.values) {
        PyErr_NoMemory();
    } else if (!wide || !wait_for(s->state, wide) ||
               !ig_read(wide, array.values, n * sizeof(int64_t), &error)) {
        if (!PyErr_Occurred()) raise_error(s->state, error);
        free(array.values);
    } else {
        ok = add_array(s, array);
    }
end:
    ig_release(wide);
    ig_release(t);
    return ok;
}

static bool add_number(Selection *s, PyObject *item) { // beside arrays an integer is one
    Py_ssize_t i = PyNumber_AsSsize_t(item, PyExc_IndexError);
    if (i == -1 && PyErr_Occurred()) return false;
    int64_t *values = malloc(sizeof *values);
    if (!values) return PyErr_NoMemory(), false;
    *values = i;
    return add_array(s, (Array){.rank = 0, .values = values});
}

// ---- Gathering ----

// The shape all arrays broadcast to.
static bool common_shape(Selection *s, int *rank, int64_t shape[IG_MAX_RANK]) {
    *rank = 0;
    for (int i = 0; i < s->n_arrays; i++)
        if (s->arrays[i].rank > *rank) *rank = s->arrays[i].rank;
    for (int k = 0; k < *rank; k++) {
        shape[*rank - 1 - k] = 1;
        for (int i = 0; i < s->n_arrays; i++) {
            const Array *a = &s->arrays[i];
            int64_t n = k < a->rank ? a->shape[a->rank - 1 - k] : 1;
            int64_t *common = &shape[*rank - 1 - k];
            if (n == 1 || n == *common) continue;
            if (*common != 1) {
                PyErr_SetString(s->state->errors[IgErrorIndex],
                                "the shapes of the indices do not broadcast to one");
                return false;
            }
            *common = n;
        }
    }
    return true;
}

// One place for each element of the common shape, along the indexed axes as if they were one.
static int64_t *places(const Selection *s, int rank, const int64_t *shape, int64_t n) {
    int64_t *out = calloc((size_t)n + 1, sizeof *out), index[IG_MAX_RANK];
    if (!out) return (int64_t *)(void *)PyErr_NoMemory();
    for (int i = 0; i < s->n_arrays; i++) {
        const Array *a = &s->arrays[i];
        int64_t length = ig_shape(s->view)[a->axis];
        memset(index, 0, sizeof index);
        for (int64_t k = 0; k < n; k++) {
            int64_t at = 0;
            for (int d = 0; d < a->rank; d++)
                at = at * a->shape[d] + (a->shape[d] == 1 ? 0 : index[rank - a->rank + d]);
            out[k] = out[k] * length + a->values[at];
            for (int d = rank - 1; d >= 0 && ++index[d] == shape[d]; d--) index[d] = 0;
        }
    }
    return out;
}

// The indexed axes at the front and as one.
static bool to_front(Selection *s) {
    MTLError *error = NULL;
    int rank = ig_rank(s->view), axes[IG_MAX_RANK], n = 0;
    int64_t shape[IG_MAX_RANK + 1] = {1}, m = 1;
    for (int i = 0; i < s->n_arrays; i++) axes[n++] = s->arrays[i].axis;
    for (int i = 0; i < rank; i++) {
        bool indexed = false;
        for (int k = 0; k < s->n_arrays; k++) indexed |= s->arrays[k].axis == i;
        if (!indexed) axes[n++] = i;
    }
    for (int i = 0; i < s->n_arrays; i++) shape[0] *= ig_shape(s->view)[axes[i]];
    for (int i = s->n_arrays; i < rank; i++) shape[m++] = ig_shape(s->view)[axes[i]];
    return show(s, ig_permute(s->view, axes, &error), &error) &&
           show(s, ig_reshape(s->view, (int)m, shape, &error), &error);
}

static bool gather(Selection *s) {
    int rank, first = s->arrays[0].axis, n_arrays = s->n_arrays, m = 0;
    int64_t shape[IG_MAX_RANK], whole[2 * IG_MAX_RANK], n = 1;
    MTLError *error = NULL;
    if (!common_shape(s, &rank, shape)) return false;
    if (rank + ig_rank(s->view) - n_arrays > IG_MAX_RANK) {
        PyErr_Format(s->state->errors[IgErrorIndex], "the result would have more than %d axes",
                     IG_MAX_RANK);
        return false;
    }
    for (int i = 0; i < rank; i++) n *= shape[i];
    int64_t *values = places(s, rank, shape, n);
    if (!values) return false;
    int at = n_arrays == 1 ? first : 0; // a single one needs no move
    IgTensor *index = NULL;
    bool ok = n_arrays == 1 || to_front(s);
    if (ok) {
        index = ig_from_data(ig_device(s->view), IgInt64, 1, &n, values, &error);
        ok = show(s, ig_index_select(s->view, at, index, &error), &error);
    }
    ig_release(index);
    free(values);
    if (!ok) return false;
    for (int i = 0; i < at; i++) whole[m++] = ig_shape(s->view)[i];
    for (int i = 0; i < rank; i++) whole[m++] = shape[i];
    for (int i = at + 1; i < ig_rank(s->view); i++) whole[m++] = ig_shape(s->view)[i];
    if (!show(s, ig_reshape(s->view, m, whole, &error), &error)) return false;
    // Neighbours stay where they were; apart, they come first. Alone, `at` is its place already.
    if (n_arrays == 1 || s->n_blocks > 1 || first == 0) return true;
    int axes[IG_MAX_RANK], k = 0;
    for (int i = 0; i < first; i++) axes[k++] = rank + i;
    for (int i = 0; i < rank; i++) axes[k++] = i;
    for (int i = rank + first; i < m; i++) axes[k++] = i;
    return show(s, ig_permute(s->view, axes, &error), &error);
}

// ---- The key ----

// Python's, NumPy's, or a tensor without axes. -1: none; -2: an exception.
static int single_bool(PyObject *o) {
    if (PyBool_Check(o)) return o == Py_True;
    if (PyLong_Check(o) || PySlice_Check(o) || PyList_Check(o) || PyTuple_Check(o)) return -1;
    Tensor *t = as_tensor(o);
    bool is_one = t ? ig_type(t->t) == IgBool && !ig_rank(t->t)
                    : !strcmp(short_type(o), "bool_") || !strcmp(short_type(o), "bool");
    int truth = is_one ? PyObject_IsTrue(o) : -1;
    return is_one && truth < 0 ? -2 : truth;
}

static bool is_array(PyObject *o) {
    return !PySlice_Check(o) && o != Py_None && o != Py_Ellipsis && !is_number(o) &&
           (as_tensor(o) || PyList_Check(o) || PyTuple_Check(o) || PyObject_CheckBuffer(o));
}

// Axes that an item uses up; -1: an exception.
static int axes_of(State *state, PyObject *item) {
    if (item == Py_None || item == Py_Ellipsis || single_bool(item) >= 0) return 0;
    if (!is_array(item)) return 1;
    Tensor *t = as_tensor(item);
    if (t) return ig_type(t->t) == IgBool ? ig_rank(t->t) : 1;
    IgTensor *array = to_tensor(state, item, -1, NULL);
    if (!array) return -1;
    int n = ig_type(array) == IgBool ? ig_rank(array) : 1;
    ig_release(array);
    return n;
}

static bool apply(Selection *s, PyObject **items, int n) {
    int used = 0, dots = -1;
    bool arrays = false, in_block = false;
    for (int i = 0; i < n; i++) {
        int axes = axes_of(s->state, items[i]);
        if (axes < 0) return false;
        used += axes;
        arrays |= is_array(items[i]) || single_bool(items[i]) >= 0;
        if (items[i] == Py_Ellipsis && dots >= 0) {
            PyErr_SetString(s->state->errors[IgErrorIndex], "an index has one ... at most");
            return false;
        }
        if (items[i] == Py_Ellipsis) dots = i;
    }
    if (used > ig_rank(s->view)) return too_many(s);
    int fill = ig_rank(s->view) - used;
    for (int i = 0; i < n; i++) {
        PyObject *item = items[i];
        MTLError *error = NULL;
        bool ok = true, part = false;
        int truth = single_bool(item);
        if (truth == -2) return false;
        if (item == Py_Ellipsis) {
            s->axis += fill;
        } else if (item == Py_None) {
            ok = show(s, ig_unsqueeze(s->view, s->axis, &error), &error);
            s->axis++;
        } else if (PySlice_Check(item)) {
            ok = apply_slice(s, item);
        } else if (truth >= 0) {
            part = true;
            ok = apply_bool(s, truth);
        } else if (is_array(item)) {
            part = true;
            ok = apply_array(s, item);
        } else if (PyIndex_Check(item)) {
            part = arrays;
            ok = arrays ? add_number(s, item) : apply_int(s, item);
        } else {
            PyErr_Format(s->state->errors[IgErrorIndex],
                         "indices are integers, slices, None, ..., arrays of integers or bool; "
                         "not %s",
                         short_type(item));
            ok = false;
        }
        if (!ok) return false;
        if (part && !in_block) s->n_blocks++;
        in_block = part;
    }
    if (s->n_arrays == 0) return true;
    s->copied = true;
    return gather(s);
}

static IgTensor *get(State *state, IgTensor *x, PyObject *key, bool *copied) {
    PyObject *items[MAX_ITEMS];
    int n = 1;
    Selection s = {.state = state, .view = ig_retain(x)};
    if (PyTuple_Check(key)) {
        if (PyTuple_Size(key) > MAX_ITEMS) return too_many(&s), ig_release(s.view), NULL;
        n = (int)PyTuple_Size(key);
        for (int i = 0; i < n; i++) items[i] = PyTuple_GetItem(key, i);
    } else {
        items[0] = key;
    }
    bool ok = apply(&s, items, n);
    for (int i = 0; i < s.n_arrays; i++) free(s.arrays[i].values);
    if (copied) *copied = s.copied;
    if (ok) return s.view;
    ig_release(s.view);
    return NULL;
}

PyObject *tensor_subscript(PyObject *o, PyObject *key) {
    Tensor *self = (Tensor *)o;
    drain_shared();
    IgTensor *result = get(self->state, self->t, key, NULL);
    if (result == self->t) { // x[:]: a tensor of its own, with the same history
        MTLError *error = NULL;
        IgTensor *view = ig_reshape(self->t, ig_rank(self->t), ig_shape(self->t), &error);
        ig_release(result);
        return wrap(self->state, view, error);
    }
    return result ? wrap(self->state, result, NULL) : NULL;
}

// ---- Assignment ----

// A mask of the tensor's own shape and one number: no place needs to be known.
static IgTensor *fill_masked(State *state, IgTensor *x, PyObject *key, PyObject *value,
                             bool *done) {
    Tensor *mask = as_tensor(key);
    MTLError *error = NULL;
    *done = mask && ig_type(mask->t) == IgBool && ig_rank(mask->t) == ig_rank(x) && ig_rank(x) &&
            !memcmp(ig_shape(mask->t), ig_shape(x), (size_t)ig_rank(x) * sizeof(int64_t)) &&
            is_number(value);
    if (!*done) return NULL;
    IgTensor *number = to_tensor(state, value, (int)ig_type(x), ig_device(x));
    IgTensor *result = ig_where(mask->t, number, x, &error);
    if (!result && !PyErr_Occurred()) raise_error(state, error);
    ig_release(number);
    return result;
}

static IgTensor *replaced(State *state, IgTensor *x, PyObject *key, PyObject *value) {
    MTLError *error = NULL;
    IgTensor *numbers = NULL, *shaped = NULL, *chosen = NULL, *index = NULL, *v = NULL,
             *wide = NULL, *flat_v = NULL, *flat = NULL, *out = NULL, *result = NULL;
    int64_t all = -1, n = ig_numel(x);
    v = to_tensor(state, value, (int)ig_type(x), ig_device(x));
    if (!v) return NULL;
    numbers = ig_arange(ig_device(x), IgInt64, 0, 1, n, &error);
    shaped = ig_reshape(numbers, ig_rank(x), ig_shape(x), &error);
    chosen = shaped ? get(state, shaped, key, NULL) : NULL;
    if (!chosen) goto end;
    if (ig_numel(chosen) == 0) {
        wide = ig_expand(v, ig_rank(chosen), ig_shape(chosen), &error); // only to see that it could
        if (wide) result = ig_retain(x);
        goto end;
    }
    wide = ig_expand(v, ig_rank(chosen), ig_shape(chosen), &error);
    if (ig_rank(chosen) == ig_rank(x) && ig_numel(chosen) == n && chosen == shaped) {
        result = ig_retain(wide);
        goto end;
    }
    all = ig_numel(chosen);
    index = ig_reshape(chosen, 1, &all, &error);
    flat_v = ig_reshape(wide, 1, &all, &error);
    flat = ig_reshape(x, 1, &n, &error);
    WITHOUT_GIL(out = ig_index_copy(flat, 0, index, flat_v, &error));
    result = ig_reshape(out, ig_rank(x), ig_shape(x), &error);
end:
    if (!result && !PyErr_Occurred()) raise_error(state, error);
    ig_release(numbers), ig_release(shaped), ig_release(chosen), ig_release(index), ig_release(v);
    ig_release(wide), ig_release(flat_v), ig_release(flat), ig_release(out);
    return result;
}

// Whether a key is of slices, integers, None and ... alone: what it shows is a view.
static bool is_plain(PyObject *key) {
    Py_ssize_t n = PyTuple_Check(key) ? PyTuple_Size(key) : 1;
    for (Py_ssize_t i = 0; i < n; i++) {
        PyObject *item = PyTuple_Check(key) ? PyTuple_GetItem(key, i) : key;
        if (!PySlice_Check(item) && item != Py_None && item != Py_Ellipsis &&
            !(PyLong_Check(item) && !PyBool_Check(item)))
            return false;
    }
    return true;
}

// The values, in the shape and type of what they are for. Axes of length 1 in front are allowed.
static IgTensor *for_shape(State *state, IgTensor *like, PyObject *value, MTLError **error) {
    IgTensor *v = to_tensor(state, value, (int)ig_type(like), ig_device(like));
    while (v && ig_rank(v) > ig_rank(like) && ig_shape(v)[0] == 1) {
        IgTensor *less = ig_squeeze(v, 0, error);
        ig_release(v);
        v = less;
    }
    IgTensor *wide = ig_expand(v, ig_rank(like), ig_shape(like), error);
    IgTensor *copy = ig_clone(wide, error);
    ig_release(v);
    ig_release(wide);
    return copy;
}

// 0 or -1; *done: the key shows a view, and its elements are others now.
static int write_view(State *state, IgTensor *x, PyObject *key, PyObject *value, bool *done) {
    MTLError *error = NULL;
    bool copied = false;
    if (!(*done = is_plain(key))) return 0;
    IgTensor *view = get(state, x, key, &copied);
    if (!view) return -1;
    IgTensor *v = NULL;
    bool ok = true;
    *done = !copied;
    if (*done) ok = (v = for_shape(state, view, value, &error)) && ig_in_place(view, v, &error);
    if (!ok && !PyErr_Occurred()) raise_error(state, error);
    ig_release(v);
    ig_release(view);
    return ok ? 0 : -1;
}

int tensor_ass_subscript(PyObject *o, PyObject *key, PyObject *value) {
    Tensor *self = (Tensor *)o;
    bool done;
    if (!value) {
        PyErr_SetString(PyExc_TypeError, "elements of a tensor cannot be deleted");
        return -1;
    }
    drain_shared();
    int outcome = write_view(self->state, self->t, key, value, &done);
    if (done) return outcome;
    IgTensor *x = ig_retain(self->t), *result = fill_masked(self->state, x, key, value, &done);
    if (!done) result = replaced(self->state, x, key, value);
    int failed = result ? give_value(self->state, self, result, "assignment") : -1;
    ig_release(result);
    ig_release(x);
    return failed;
}
