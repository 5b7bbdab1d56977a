// SPDX-License-Identifier: Apache-2.0
// enums.c: enum.Enum types from enums.def, which api/gen/python.py writes. A member called None is
// reachable as None_ too. A member or the plain number of one stands for a value;
// a number the library gives that no member has is a ValueError.
#include <string.h>
#include "object.h"

typedef struct Member {
    const char *name;
    long value;
} Member;

#define MEMBER(name, value) {#name, value},
#define ENUM(name, doc, exported, members)                                                         \
    static const Member name##_members[] = {members{NULL, 0}};
#include "enums.def"

static const struct {
    const char *name, *doc;
    bool exported;
    const Member *members;
} enums[N_ENUMS] = {
#define MEMBER(name, value)
#define ENUM(name, doc, exported, members) {#name, doc, exported, name##_members},
#include "enums.def"
};

const char *enum_name(EnumId id) { return enums[id].name; }

// [("Shared", 0), ...], with None_ after None.
static PyObject *member_list(const Member *members) {
    PyObject *list = PyList_New(0);
    for (const Member *m = members; list && m->name; m++) {
        bool is_none = !strcmp(m->name, "None");
        for (int alias = 0; alias <= is_none; alias++) {
            PyObject *pair = Py_BuildValue("(sl)", alias ? "None_" : m->name, m->value);
            if (!pair || PyList_Append(list, pair) < 0) Py_CLEAR(list);
            Py_XDECREF(pair);
            if (!list) return NULL;
        }
    }
    return list;
}

static int init_one(State *state, PyObject *base, EnumId id) {
    int rc = -1;
    PyObject *list = member_list(enums[id].members), *args = NULL, *kw = NULL, *type = NULL;
    if (list) args = Py_BuildValue("(sO)", enums[id].name, list);
    if (args) kw = Py_BuildValue("{s:s}", "module", "pymetal._pymetal");
    if (kw) type = PyObject_Call(base, args, kw);
    if (!type) goto end;
    state->enums[id] = type;
    PyObject *doc = PyUnicode_FromString(enums[id].doc);
    if (!doc || PyObject_SetAttrString(type, "__doc__", doc) < 0) {
        Py_XDECREF(doc);
        goto end;
    }
    Py_DECREF(doc);
    PyObject *by_value = state->enum_members[id] = PyDict_New();
    if (!by_value) goto end;
    for (const Member *m = enums[id].members; m->name; m++) {
        PyObject *member = PyObject_GetAttrString(type, m->name);
        PyObject *value = PyLong_FromLong(m->value);
        int bad = !member || !value || PyDict_SetItem(by_value, value, member) < 0;
        // PyMetal exports the values of its enumerations into the extension module.
        if (!bad && enums[id].exported)
            bad = PyModule_AddObjectRef(state->module, m->name, member) < 0;
        Py_XDECREF(member);
        Py_XDECREF(value);
        if (bad) goto end;
    }
    rc = PyModule_AddObjectRef(state->module, enums[id].name, type);
end:
    Py_XDECREF(list);
    Py_XDECREF(args);
    Py_XDECREF(kw);
    return rc;
}

int enums_init(State *state) {
    PyObject *module = PyImport_ImportModule("enum");
    PyObject *base = module ? PyObject_GetAttrString(module, "Enum") : NULL;
    int rc = base ? 0 : -1;
    for (int i = 0; !rc && i < N_ENUMS; i++) rc = init_one(state, base, (EnumId)i);
    Py_XDECREF(base);
    Py_XDECREF(module);
    return rc;
}

PyObject *from_enum(State *state, EnumId id, long value) {
    PyObject *number = PyLong_FromLong(value);
    if (!number) return NULL;
    PyObject *member = PyDict_GetItemWithError(state->enum_members[id], number);
    if (member)
        Py_INCREF(member);
    else if (!PyErr_Occurred())
        member = PyObject_CallFunctionObjArgs(state->enums[id], number, NULL); // raises ValueError
    Py_DECREF(number);
    return member;
}

bool enum_value(State *state, EnumId id, PyObject *o, uint64_t *value) {
    PyObject *number = NULL;
    if (Py_TYPE(o) == (PyTypeObject *)state->enums[id]) {
        number = PyObject_GetAttr(o, state->value_name);
    } else if (PyLong_Check(o)) {
        if (PyDict_GetItemWithError(state->enum_members[id], o)) number = Py_NewRef(o);
    }
    if (!number) return PyErr_Clear(), false;
    *value = (uint64_t)PyLong_AsLongLong(number);
    Py_DECREF(number);
    if (PyErr_Occurred()) return PyErr_Clear(), false;
    return true;
}
