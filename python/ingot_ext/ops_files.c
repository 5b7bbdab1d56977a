// SPDX-License-Identifier: Apache-2.0
// ops_files.c: safetensors and .npy.
#include "ingot/tensor_files.h"
#include "object.h"

OBJECT_OP(AS_FUNCTION, _save_npy, "None", "Writes a .npy file.", PATH("path"), X) {
    MTLError *error = NULL;
    bool ok;
    WITHOUT_GIL(ok = ig_save_npy(a[0].s, a[1].t, &error));
    return ok ? Py_NewRef(Py_None) : raise_error(state, error);
}
TENSOR_OP_AS(AS_FUNCTION | WAITS, _load_npy, "Reads a .npy file.", PATH("path"), DEVICE) {
    return ig_load_npy(a[1].device, a[0].s, error);
}

static const char *text_of(PyObject *o, const char *what) {
    if (PyUnicode_Check(o)) return PyUnicode_AsUTF8AndSize(o, NULL);
    PyErr_Format(PyExc_TypeError, "%s are str, not %s", what, short_type(o));
    return NULL;
}

static bool fill(State *state, IgDict *dict, PyObject *names, const Arg *tensors, PyObject *meta) {
    MTLError *error = NULL;
    Py_ssize_t at = 0;
    if (!PyList_Check(names) || PyList_Size(names) != tensors->n || !PyDict_Check(meta)) {
        PyErr_SetString(PyExc_TypeError, "as many names as tensors, and a dict of metadata");
        return false;
    }
    for (int i = 0; i < tensors->n; i++) {
        const char *name = text_of(PyList_GetItem(names, i), "names of tensors");
        if (!name) return false;
        if (!ig_dict_set(dict, name, tensors->ts[i], &error))
            return raise_error(state, error), false;
    }
    for (PyObject *k, *v; PyDict_Next(meta, &at, &k, &v);) {
        const char *key = text_of(k, "keys of metadata"),
                   *value = key ? text_of(v, "metadata") : NULL;
        if (!value) return false;
        if (!ig_dict_set_metadata(dict, key, value, &error))
            return raise_error(state, error), false;
    }
    return true;
}

OBJECT_OP(AS_FUNCTION, _save_safetensors, "None", "Writes a safetensors file.", PATH("path"),
          ANY("names"), TENSORS("tensors"), ANY("metadata")) {
    MTLError *error = NULL;
    IgDict *dict = ig_dict_new();
    bool ok = false;
    if (!dict) return PyErr_NoMemory();
    if (fill(state, dict, a[1].py, &a[2], a[3].py)) {
        WITHOUT_GIL(ok = ig_save_safetensors(a[0].s, dict, &error));
        if (!ok) raise_error(state, error);
    }
    ig_dict_release(dict);
    return ok ? Py_NewRef(Py_None) : NULL;
}

static PyObject *to_dict(State *state, IgDict *dict) {
    PyObject *result = PyDict_New();
    for (int i = 0; result && i < ig_dict_count(dict); i++) {
        PyObject *t = wrap(state, ig_retain(ig_dict_tensor(dict, i)), NULL);
        if (!t || PyDict_SetItemString(result, ig_dict_name(dict, i), t) < 0) Py_CLEAR(result);
        Py_XDECREF(t);
    }
    return result;
}

OBJECT_OP(AS_FUNCTION, _load_safetensors, "tuple[dict[str, Tensor], dict[str, str]]",
          "Reads a safetensors file.", PATH("path"), DEVICE) {
    MTLError *error = NULL;
    IgDict *dict;
    WITHOUT_GIL(dict = ig_load_safetensors(a[1].device, a[0].s, &error));
    if (!dict) return raise_error(state, error);
    PyObject *tensors = to_dict(state, dict), *meta = PyDict_New();
    for (int i = 0; meta && i < ig_dict_metadata_count(dict); i++) {
        const char *key = ig_dict_metadata_key(dict, i), *value = ig_dict_metadata(dict, key);
        PyObject *text = PyUnicode_FromString(value ? value : "");
        if (!text || PyDict_SetItemString(meta, key, text) < 0) Py_CLEAR(meta);
        Py_XDECREF(text);
    }
    ig_dict_release(dict);
    PyObject *both = tensors && meta ? PyTuple_Pack(2, tensors, meta) : NULL;
    Py_XDECREF(tensors);
    Py_XDECREF(meta);
    return both;
}

const Op *const ops_files[] = {&op__save_npy, &op__load_npy, &op__save_safetensors,
                               &op__load_safetensors, NULL};
