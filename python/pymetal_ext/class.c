// SPDX-License-Identifier: Apache-2.0
// class.c: heap types from the tables of object.h, and the way every call and property takes.
//
// Docstrings: a method's begins with its full signature, "new_buffer(length: int, options: int) ->
// Buffer", a property's with its type, "int, read-only: Bytes."; the stubs are made from these. The
// arrays that CPython wants (PyMethodDef, PyGetSetDef) are made here too and live as long as the
// process, as the static arrays of other modules do.
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include "object.h"
#include <structmember.h>

#define MAX_METHODS 96

static const Class *const classes[N_CLASSES] = {
#define CLASS(name) &class_##name,
#include "own.def"
#include "classes.def"
};

const Class *class_of(ClassId id) { return classes[id]; }

static ClassId id_of(const Class *cls) {
    for (int i = 0; i < N_CLASSES; i++)
        if (classes[i] == cls) return (ClassId)i;
    return N_CLASSES;
}

// ---- Calls ----

PyObject *call_method(PyObject *self, const Method *method, PyObject *const *args, Py_ssize_t n,
                      PyObject *names) {
    Arg a[MAX_ARGS];
    Object *object = method->of_class ? NULL : (Object *)self;
    State *state = object ? object->state : PyType_GetModuleState((PyTypeObject *)self);
    if (!state) return NULL;
    if (!parse_args(state, method->name, method->args, method->n_args, args, n, names, a))
        return NULL;
    misuse_begin();
    PyObject *result = method->body(object, state, a);
    if (result && object && object->cls->called) object->cls->called(object, method, a);
    drop_args(method->args, method->n_args, a);
    return misuse_end(state, method->name, result);
}

static PyObject *get_prop(PyObject *self, void *closure) {
    const Prop *prop = closure;
    return prop->get((Object *)self, object_state(self));
}

static int refuse_value(const Object *o, const ArgSpec *spec, PyObject *value) {
    char type[80];
    if (PyErr_Occurred()) return -1;
    describe_type(spec, type, sizeof type);
    PyObject *wrong = shown(value ? value : Py_None);
    if (wrong)
        PyErr_Format(PyExc_TypeError,
                     "incompatible function arguments: %s.%s must be %s, not %U (%s)", o->cls->name,
                     spec->name, type, wrong, value ? "assigned" : "it cannot be deleted");
    Py_XDECREF(wrong);
    return -1;
}

static int set_prop(PyObject *self, PyObject *value, void *closure) {
    const Prop *prop = closure;
    Object *o = (Object *)self;
    Arg v = {0};
    char name[128];
    if (!value || !convert_arg(o->state, &prop->value, value, &v))
        return refuse_value(o, &prop->value, value);
    misuse_begin();
    prop->set(o, o->state, &v);
    drop_args(&prop->value, 1, &v);
    snprintf(name, sizeof name, "%s.%s", o->cls->name, prop->name);
    PyObject *result = misuse_end(o->state, name, PyErr_Occurred() ? NULL : Py_NewRef(Py_None));
    Py_XDECREF(result);
    return result ? 0 : -1;
}

// Origin, Size, Range and ClearColor are values in Metal: a field gives and takes copies.
static bool is_struct(const ArgSpec *spec) {
    return spec->kind == K_OBJECT && spec->id <= C_ClearColor;
}

static PyObject *copy_struct(PyObject *value) {
    Object *from = (Object *)value, *to = object_new(from->state, id_of(from->cls), NULL);
    for (int i = 0; to && from->cls->fields[i].arg.name; i++) {
        Py_DECREF(to->values[i]);
        to->values[i] = Py_NewRef(from->values[i]);
    }
    return (PyObject *)to;
}

static PyObject *get_field(PyObject *self, void *closure) {
    Object *o = (Object *)self;
    PyObject *value = o->values[(intptr_t)closure];
    if (is_struct(&o->cls->fields[(intptr_t)closure].arg) && value != Py_None)
        return copy_struct(value);
    return Py_NewRef(value);
}

// What a field keeps: members for numbers, a tuple for a list, text for a path.
static PyObject *keep(State *state, const ArgSpec *spec, PyObject *value, const Arg *v) {
    if (spec->or_none && value == Py_None) return Py_NewRef(value);
    switch (spec->kind) {
    case K_ENUM: return from_enum(state, (EnumId)spec->id, (long)v->u);
    case K_DOUBLE: return PyFloat_FromDouble(v->f);
    case K_U8:
    case K_U32:
    case K_U64: return PyLong_FromUnsignedLongLong(v->u);
    case K_PATH: return PyUnicode_DecodeFSDefault(v->s);
    case K_LIST: {
        void **natives;
        size_t n;
        if (!list_natives(state, value, (ClassId)spec->id, spec->name, &natives, &n)) return NULL;
        free(natives);
        return PySequence_Tuple(value);
    }
    case K_OBJECT: return is_struct(spec) ? copy_struct(value) : Py_NewRef(value);
    case K_MACROS: return PyDict_Copy(value);
    case K_STRINGS: return PySequence_Tuple(value);
    case K_EXTENTS: return PyIndex_Check(value) ? PyTuple_Pack(1, value) : PySequence_Tuple(value);
    default: return Py_NewRef(value);
    }
}

static int set_field(PyObject *self, PyObject *value, void *closure) {
    Object *o = (Object *)self;
    intptr_t i = (intptr_t)closure;
    const ArgSpec *spec = &o->cls->fields[i].arg;
    Arg v = {0};
    if (!value || !convert_arg(o->state, spec, value, &v)) return refuse_value(o, spec, value);
    PyObject *kept = keep(o->state, spec, value, &v), *old = o->values[i];
    drop_args(spec, 1, &v);
    if (!kept) return -1;
    o->values[i] = kept;
    Py_DECREF(old);
    return 0;
}

// ---- Construction ----

static const Class *class_of_type(State *state, PyTypeObject *type) {
    for (int i = 0; i < N_CLASSES; i++)
        if (state->types[i] == type) return classes[i];
    return NULL;
}

static PyObject *refuse_new(PyTypeObject *type, PyObject *args, PyObject *kw) {
    (void)args, (void)kw;
    PyObject *name = PyObject_GetAttrString((PyObject *)type, "__name__");
    if (name) PyErr_Format(PyExc_TypeError, "%U: no constructor defined", name);
    Py_XDECREF(name);
    return NULL;
}

// Class(field, ..., field=...): every field may be given, those without a default must be.
static PyObject *construct(PyTypeObject *type, PyObject *args, PyObject *kw) {
    State *state = PyType_GetModuleState(type);
    if (!state) return NULL;
    const Class *cls = class_of_type(state, type);
    ArgSpec specs[MAX_ARGS];
    Arg values[MAX_ARGS];
    PyObject *given[2 * MAX_ARGS], *names = NULL, *result = NULL;
    int n_fields = 0;
    for (; cls->fields && cls->fields[n_fields].arg.name && n_fields < MAX_ARGS; n_fields++)
        specs[n_fields] = cls->fields[n_fields].arg;
    Py_ssize_t n = PyTuple_Size(args), n_names = kw ? PyDict_Size(kw) : 0, pos = 0, k = 0;
    if (n > MAX_ARGS || n_names > MAX_ARGS) {
        PyErr_Format(PyExc_TypeError, "%s(): incompatible function arguments: too many", cls->name);
        return NULL;
    }
    for (Py_ssize_t i = 0; i < n; i++) given[i] = PyTuple_GetItem(args, i);
    names = PyTuple_New(n_names);
    if (!names) return NULL;
    for (PyObject *key, *value; n_names && PyDict_Next(kw, &pos, &key, &value); k++) {
        given[n + k] = value;
        PyTuple_SetItem(names, k, Py_NewRef(key));
    }
    if (!parse_args(state, cls->name, specs, n_fields, given, n, names, values)) goto end;
    Object *o = object_new(state, id_of(cls), NULL);
    for (int i = 0; o && i < n_fields; i++) {
        if (!values[i].py) continue;
        PyObject *kept = keep(state, &specs[i], values[i].py, &values[i]);
        if (!kept) {
            Py_CLEAR(o);
            break;
        }
        Py_DECREF(o->values[i]);
        o->values[i] = kept;
    }
    drop_args(specs, n_fields, values);
    result = (PyObject *)o;
end:
    Py_DECREF(names);
    return result;
}

// Class.factory(): an object with defaults.
static PyObject *factory(PyObject *type, PyObject *ignored) {
    (void)ignored;
    State *state = PyType_GetModuleState((PyTypeObject *)type);
    const Class *cls = state ? class_of_type(state, (PyTypeObject *)type) : NULL;
    return cls ? (PyObject *)object_new(state, id_of(cls), NULL) : NULL;
}

// ---- Types ----

static char *text_of(const char *format, ...) __attribute__((format(printf, 1, 2)));
static char *text_of(const char *format, ...) {
    char *text = NULL;
    va_list args;
    va_start(args, format);
    if (vasprintf(&text, format, args) < 0) text = NULL;
    va_end(args);
    return text;
}

static PyMethodDef *method_defs(const Class *cls) {
    const Method *all[MAX_METHODS];
    size_t n = 0;
    for (size_t i = 0; cls->methods && cls->methods[i] && n < MAX_METHODS; i++)
        all[n++] = cls->methods[i];
    PyMethodDef *defs = calloc(n + 2, sizeof *defs);
    if (!defs) return NULL;
    for (size_t i = 0; i < n; i++) {
        const Method *m = all[i];
        char plain[512], typed[768];
        const char *name = strchr(m->name, '.') + 1;
        describe_args(m->args, m->n_args, false, plain, sizeof plain);
        describe_args(m->args, m->n_args, true, typed, sizeof typed);
        defs[i].ml_name = name;
        defs[i].ml_meth = m->entry;
        defs[i].ml_flags = METH_FASTCALL | METH_KEYWORDS | (m->of_class ? METH_CLASS : 0);
        defs[i].ml_doc =
            text_of("%s($%s, /%s%s)\n--\n\n%s(%s) -> %s\n\n%s", name, m->of_class ? "type" : "self",
                    *plain ? ", " : "", plain, name, typed, m->returns, m->doc);
    }
    if (cls->factory) {
        defs[n].ml_name = cls->factory;
        defs[n].ml_meth = factory;
        defs[n].ml_flags = METH_NOARGS | METH_CLASS;
        defs[n].ml_doc = text_of("%s($type, /)\n--\n\n%s() -> %s\n\nOne with Metal's defaults.",
                                 cls->factory, cls->factory, cls->name);
    }
    return defs;
}

static size_t n_props(const Prop *props) {
    size_t n = 0;
    while (props && props[n].name) n++;
    return n;
}

static PyGetSetDef *getset_defs(const Class *cls) {
    size_t n_table = n_props(cls->props), n_own = n_props(cls->own_props), n_fields = 0;
    while (cls->fields && cls->fields[n_fields].arg.name) n_fields++;
    PyGetSetDef *defs = calloc(n_table + n_own + n_fields + 1, sizeof *defs), *d = defs;
    if (!defs) return NULL;
    for (size_t i = 0; i < n_table + n_own; i++, d++) {
        const Prop *p = i < n_table ? &cls->props[i] : &cls->own_props[i - n_table];
        d->name = p->name;
        d->get = get_prop;
        d->set = p->set ? set_prop : NULL;
        d->doc = text_of("%s%s: %s", p->type, p->set ? "" : ", read-only", p->doc);
        d->closure = (void *)(uintptr_t)p;
    }
    for (size_t i = 0; i < n_fields; i++, d++) {
        const Field *f = &cls->fields[i];
        char type[80];
        describe_type(&f->arg, type, sizeof type);
        d->name = f->arg.name;
        d->get = get_field;
        d->set = f->read_only ? NULL : set_field;
        d->doc = text_of("%s%s: %s", type, f->read_only ? ", read-only" : "", f->doc);
        d->closure = (void *)(intptr_t)i;
    }
    return defs;
}

PyTypeObject *class_make(State *state, ClassId id) {
    const Class *cls = classes[id];
    PyMemberDef members[] = {
        {"__weaklistoffset__", T_PYSSIZET, offsetof(Object, weakrefs), READONLY, NULL},
        {NULL, 0, 0, 0, NULL},
    };
    PyType_Slot slots[24] = {{0, NULL}};
    int n = 0, n_fields = 0;
    PyMethodDef *methods = method_defs(cls);
    PyGetSetDef *getset = getset_defs(cls);
    if (!methods || !getset) return (PyTypeObject *)PyErr_NoMemory();
    char *doc = (char *)(uintptr_t)cls->doc;
    if (cls->constructible) {
        ArgSpec specs[MAX_ARGS];
        char plain[2048];
        int n_specs = 0;
        for (; cls->fields && cls->fields[n_specs].arg.name && n_specs < MAX_ARGS; n_specs++)
            specs[n_specs] = cls->fields[n_specs].arg;
        describe_args(specs, n_specs, false, plain, sizeof plain);
        doc = text_of("%s(%s)\n--\n\n%s", cls->name, plain, cls->doc);
        if (!doc) return (PyTypeObject *)PyErr_NoMemory();
    }
    while (cls->fields && cls->fields[n_fields].arg.name) n_fields++;
    slots[n++] = (PyType_Slot){Py_tp_dealloc, (void *)(uintptr_t)object_dealloc};
    slots[n++] = (PyType_Slot){Py_tp_repr, (void *)(uintptr_t)object_repr};
    slots[n++] = (PyType_Slot){Py_tp_methods, methods};
    slots[n++] = (PyType_Slot){Py_tp_getset, getset};
    slots[n++] = (PyType_Slot){Py_tp_members, members};
    slots[n++] = (PyType_Slot){Py_tp_doc, doc};
    slots[n++] = (PyType_Slot){
        Py_tp_new, (void *)(cls->constructible ? (uintptr_t)construct : (uintptr_t)refuse_new)};
    for (const PyType_Slot *s = cls->slots; s && s->slot && n < 23; s++) slots[n++] = *s;
    PyType_Spec spec = {
        .name = text_of("pymetal._pymetal.%s", cls->name),
        .basicsize = (int)(sizeof(Object) + (size_t)n_fields * sizeof(PyObject *)),
        .flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_IMMUTABLETYPE |
                 (cls->subclassed ? Py_TPFLAGS_BASETYPE : 0),
        .slots = slots,
    };
    if (!spec.name) return (PyTypeObject *)PyErr_NoMemory();
    PyObject *base = cls->base ? (PyObject *)state->types[cls->base - 1] : NULL;
    return (PyTypeObject *)PyType_FromModuleAndSpec(state->module, &spec, base);
}
