// SPDX-License-Identifier: Apache-2.0
// object.h: what every class of the extension is made of.
//
// A class is a table (Class): methods, properties that ask the library, and fields that live in the
// Python object (descriptors are nothing but fields). Most of them are written by api/gen from the
// table of Apple's API; here is by hand what is Python's own (buffers, overloads, callbacks, waits
// that hear Ctrl-C), and the table's `python` row of a class names those methods. At module
// initialisation class.c turns the tables into heap types with docstrings and signatures; calls go
// through call_method, which parses arguments by the method's own table, runs the body and turns a
// misuse message of the library into an exception. A body is therefore a few lines:
//
//     METHOD(Buffer, did_modify_range, "None", "Says that the CPU wrote a range.", SIZE("offset"),
//            SIZE("length")) {
//         mtl_buffer_did_modify_range(self->native, (MTLRange){a[0].u, a[1].u});
//         return none(state);
//     }
//
// Objects around library objects own one reference and are unique: the module state maps the
// library's pointer to the Python object while that lives.
#ifndef PYMETAL_OBJECT_H
#define PYMETAL_OBJECT_H
#define PY_SSIZE_T_CLEAN
#include <Python.h>
#include <stdio.h>
#include <string.h>
#include "ingot/metal.h"
#include "../gil.h"

// ---- Ids ----

typedef enum ClassId {
#define CLASS(name) C_##name,
#include "own.def"
#include "classes.def"
    N_CLASSES
} ClassId;

typedef enum EnumId {
#define MEMBER(name, value)
#define ENUM(name, doc, exported, members) E_##name,
#include "enums.def"
    N_ENUMS
} EnumId;

typedef enum ErrorId {
    ERROR_METAL,
    ERROR_COMPILE,
    ERROR_PIPELINE,
    ERROR_RESOURCE,
    ERROR_VALIDATION,
    N_ERRORS
} ErrorId;

// ---- Tables ----

#define MAX_ARGS 32 // of a method, and fields of a class with a constructor

typedef struct State State;
typedef struct Object Object;
typedef struct Class Class;

typedef enum Kind {
    K_U8,       // Arg.u, int
    K_U32,      // Arg.u
    K_U64,      // Arg.u
    K_BOOL,     // Arg.b, True or False only
    K_DOUBLE,   // Arg.f, any real number
    K_STR,      // Arg.s and Arg.n, no NUL in it
    K_TEXT,     // the same, with any character
    K_BYTES,    // Arg.s and Arg.n, bytes only
    K_DATA,     // Arg.py has the buffer protocol
    K_PATH,     // Arg.s: str or os.PathLike; Arg.py is a new reference, which call_method drops
    K_ENUM,     // Arg.u, a member or its number
    K_OBJECT,   // Arg.o, and its library object in Arg.p
    K_LIST,     // Arg.py: list or tuple of objects of a class
    K_CALLABLE, // Arg.py
    K_MACROS,   // Arg.py: dict of str to str, int, float, bool or None
    K_STRINGS,  // Arg.py: list or tuple of str
    K_CAPTURED, // Arg.o: Device, CommandQueue, MTL4CommandQueue or CaptureScope
    K_EVENT,    // Arg.o: Event or SharedEvent, and its library object in Arg.p
    K_GRID,     // Arg.py: Size, a number, or one to three of them; to_grid
    K_EXTENTS,  // Arg.py: one number for each dimension of a tensor; to_extents
    K_ANY,      // Arg.py
} Kind;

typedef struct ArgSpec {
    const char *name;
    Kind kind;
    int id;           // class or enumeration
    const char *text; // the default as Python writes it, NULL: required
    double value;     // the default
    bool or_none;     // None is allowed: Arg.p NULL
} ArgSpec;

typedef struct Arg {
    PyObject *py; // borrowed; NULL: not given
    union {
        uint64_t u;
        bool b;
        double f;
        const char *s;
        void *p;
    };
    union {
        Py_ssize_t n;
        Object *o;
    };
} Arg;

typedef PyObject *(*Body)(Object *self, State *state, const Arg *a);

typedef struct Method {
    const char *name; // "Buffer.contents"
    PyCFunction entry;
    Body body;
    const ArgSpec *args;
    int n_args;
    bool of_class; // Class.method(): self is NULL in the body
    const char *returns, *doc;
} Method;

typedef struct Prop { // a property that asks the library
    const char *name, *type, *doc;
    PyObject *(*get)(Object *self, State *state);
    void (*set)(Object *self, State *state, const Arg *v); // NULL: read-only
    ArgSpec value;
} Prop;

typedef struct Field { // a property that is a Python value of the object
    ArgSpec arg;       // K_OBJECT with text "new": begins as an object of its own
    const char *doc;
    bool read_only;
} Field;

struct Class {
    const char *name, *doc;
    const Method *const *methods; // to NULL
    const Prop *props;            // to a NULL name
    const Prop *own_props;        // more of them, by hand
    const Field *fields;          // to a NULL name
    const char *factory;          // name of the class method that makes one with its defaults
    bool constructible;           // Class(field, ...) works
    bool subclassed;              // others derive from it
    // Told of the arguments of a method that did not raise; NULL: nobody.
    void (*called)(Object *self, const Method *method, const Arg *a);
    int base;                 // ClassId + 1, 0: object
    const PyType_Slot *slots; // more slots, to {0}
    void (*free_aux)(void *aux);
};

#define CLASS(name) extern const Class class_##name;
#include "own.def"
#include "classes.def"

// ---- Objects and the module's state ----

struct Object {
    PyObject_HEAD State *state;
    const Class *cls;
    void *native;    // the library's object, one reference is ours; NULL: fields only
    PyObject *owner; // lives as long as this
    PyObject *weakrefs;
    void *aux;          // what else the class needs, freed by free_aux
    PyObject *values[]; // of the fields
};

typedef struct Slot {
    void *native;
    Object *object;
} Slot;

struct State {
    PyObject *module; // borrowed
    PyTypeObject *types[N_CLASSES];
    PyObject *enums[N_ENUMS];        // the type
    PyObject *enum_members[N_ENUMS]; // dict: number to member
    PyObject *errors[N_ERRORS];
    PyObject *value_name;         // "_value_"
    PyObject *frombuffer, *uint8; // NumPy's, once needed
    Slot *slots;                  // hash map from library object to Python object
    size_t n_slots, n_used;
};

static inline State *object_state(PyObject *self) { return ((Object *)self)->state; }

// ---- class.c ----

PyTypeObject *class_make(State *state, ClassId id);
const Class *class_of(ClassId id);
const char *enum_name(EnumId id);
PyObject *call_method(PyObject *self, const Method *method, PyObject *const *args, Py_ssize_t n,
                      PyObject *names);

// ---- object.c ----

// A new object with default fields. `native` is taken over (also on failure). With NULL: None, if
// the class is one of library objects.
Object *object_new(State *state, ClassId id, void *native);
// The Python object of a library object: the one there is, or a new one. NULL gives None.
PyObject *wrap_new(State *state, ClassId id, void *native); // takes over a reference
PyObject *wrap(State *state, ClassId id, void *native);     // adds its own
PyObject *wrap_owned_by(State *state, ClassId id, void *native, Object *owner);
// It stands for no library object any more: whatever is asked of it is an error.
void object_let_go(Object *o);
void object_dealloc(PyObject *self);
PyObject *object_repr(PyObject *self);
bool object_is(State *state, PyObject *o, ClassId id);
void map_clear(State *state);
// The library object of a Buffer, Texture or another resource. NULL: TypeError (memory.c).
MTLResource *to_resource(State *state, PyObject *o, const char *name);
MTLAllocation *to_allocation(State *state, PyObject *o); // the same, or a heap's
// The list with one more item, which is taken over. NULL: an exception, and the list is gone.
PyObject *list_with(PyObject *list, PyObject *item);
// Natives of a list or tuple of objects of a class, to be freed with free(); *array is NULL if the
// list is empty. False: an exception is set.
bool list_natives(State *state, PyObject *list, ClassId id, const char *what, void ***array,
                  size_t *count);
// Fields by name: the values as C has them.
// All fields' values: while the tuple lives, so do the C values taken from them.
PyObject *field_values(const Object *o);
uint64_t field_u(const Object *o, const char *name);
double field_f(const Object *o, const char *name);
bool field_b(const Object *o, const char *name);
// A path: out->s (NULL: none), in out->py, which the caller drops. False: an exception.
bool field_path(const Object *o, const char *name, Arg *out);
const char *field_s(const Object *o, const char *name); // NULL if it is empty or None
void *field_p(const Object *o, const char *name);       // library object or NULL
Object *field_o(const Object *o, const char *name);     // or NULL
PyObject *field_py(const Object *o, const char *name);  // borrowed

// ---- args.c ----

bool parse_args(State *state, const char *name, const ArgSpec *specs, int n_specs,
                PyObject *const *args, Py_ssize_t n, PyObject *names, Arg *out);
bool convert_arg(State *state, const ArgSpec *spec, PyObject *o, Arg *out); // no exception set
void drop_args(const ArgSpec *specs, int n_specs, Arg *args);
PyObject *shown(PyObject *value); // new reference, text for messages
void describe_type(const ArgSpec *spec, char *text, size_t n_bytes);
void describe_args(const ArgSpec *specs, int n_specs, bool types, char *text, size_t n_bytes);

// ---- error.c ----

// Between these two, misuse messages of the library on this thread are kept; end raises the first
// as ValidationError and drops the result, unless an exception is set already.
void misuse_begin(void);
PyObject *misuse_end(State *state, const char *name, PyObject *result);
void misuse_forget(void);
bool misuse_is(const char *prefix); // was there one, of a rule whose name begins so?
void misuse_listen(MTLDevice *device);
// "prefix" and the description of the error, which is released. Returns NULL.
PyObject *raise_error(State *state, ErrorId id, const char *prefix, MTLError *error);
PyObject *raise_text(State *state, ErrorId id, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
PyObject *error_object(State *state, MTLError *error); // a MetalError, or None without one
bool check_index(State *state, const char *name, const char *what, uint64_t index, unsigned most);
// Calls a Python function from any thread; what it raises goes to sys.unraisablehook.
void call_from_library(PyObject *function, PyObject *args);

// ---- enums.c ----

int enums_init(State *state);
PyObject *from_enum(State *state, EnumId id, long value);
bool enum_value(State *state, EnumId id, PyObject *o, uint64_t *value);

// ---- structs.c ----

// An object of a class whose first fields are these numbers.
PyObject *from_three(State *state, ClassId id, const size_t values[3]);
PyObject *from_size3(State *state, MTLSize size);
PyObject *from_size_and_align(MTLSizeAndAlign s); // a tuple
MTLSize to_size(const Object *o);
MTLOrigin to_origin(const Object *o);
MTLRange to_range(const Object *o);
MTLClearColor to_clear_color(const Object *o);
// Of arguments that were accepted as such.
MTLSize to_grid(PyObject *o);
bool to_extents(PyObject *o, MTLTensorExtents *extents); // False: it is none; no exception
PyObject *from_extents(const MTLTensorExtents *extents); // a tuple

// ---- Conversions ----

static inline PyObject *none(State *state) {
    (void)state;
    return Py_NewRef(Py_None);
}
static inline PyObject *from_u64(uint64_t u) { return PyLong_FromUnsignedLongLong(u); }
static inline PyObject *from_bool(bool b) { return PyBool_FromLong(b); }
static inline PyObject *from_double(double f) { return PyFloat_FromDouble(f); }
static inline PyObject *from_str(const char *s) {
    return PyUnicode_DecodeUTF8(s ? s : "", s ? (Py_ssize_t)strlen(s) : 0, "replace");
}

// ---- Writing the tables ----

#define U32(name) {name, K_U32, 0, NULL, 0, false}
#define SIZE(name) {name, K_U64, 0, NULL, 0, false}
#define BOOL(name) {name, K_BOOL, 0, NULL, 0, false}
#define DOUBLE(name) {name, K_DOUBLE, 0, NULL, 0, false}
#define STR(name) {name, K_STR, 0, NULL, 0, false}
#define TEXT(name) {name, K_TEXT, 0, NULL, 0, false}
#define BYTES(name) {name, K_BYTES, 0, NULL, 0, false}
#define DATA(name) {name, K_DATA, 0, NULL, 0, false}
#define PATH(name) {name, K_PATH, 0, NULL, 0, false}
#define ENUMERATION(name, type) {name, K_ENUM, E_##type, NULL, 0, false}
#define OBJECT(name, type) {name, K_OBJECT, C_##type, NULL, 0, false}
#define OPTIONAL(name, type) {name, K_OBJECT, C_##type, "None", 0, true}
#define LIST(name, type) {name, K_LIST, C_##type, NULL, 0, false}
#define CALLABLE(name) {name, K_CALLABLE, 0, NULL, 0, false}
#define ANY(name) {name, K_ANY, 0, NULL, 0, false}
// With a default.
#define SIZE_OR(name, value) {name, K_U64, 0, #value, value, false}
#define U32_OR(name, value) {name, K_U32, 0, #value, value, false}
#define BOOL_OR(name, value) {name, K_BOOL, 0, value ? "True" : "False", value, false}
#define DOUBLE_OR(name, value) {name, K_DOUBLE, 0, #value, value, false}
#define STR_OR(name) {name, K_STR, 0, "\"\"", 0, false}
#define ENUM_OR(name, type, member, value) {name, K_ENUM, E_##type, #type "." #member, value, false}
#define LIST_OR(name, type) {name, K_LIST, C_##type, "()", 0, true}
#define ANY_OR(name) {name, K_ANY, 0, "None", 0, true}

#define METHOD_(cls, fn, returns, doc, of_class, specs, n_specs)                                   \
    static PyObject *cls##_##fn##_body(Object *self, State *state, const Arg *a);                  \
    static PyObject *cls##_##fn##_entry(PyObject *self, PyObject *const *args, Py_ssize_t n,       \
                                        PyObject *names);                                          \
    extern const Method cls##_##fn;                                                                \
    const Method cls##_##fn = {#cls "." #fn,      (PyCFunction)(void (*)(void))cls##_##fn##_entry, \
                               cls##_##fn##_body, specs,                                           \
                               n_specs,           of_class,                                        \
                               returns,           doc};                                            \
    static PyObject *cls##_##fn##_entry(PyObject *self, PyObject *const *args, Py_ssize_t n,       \
                                        PyObject *names) {                                         \
        return call_method(self, &cls##_##fn, args, n, names);                                     \
    }                                                                                              \
    static PyObject *cls##_##fn##_body(Object *self, State *state, const Arg *a)

#define METHOD(cls, fn, returns, doc, ...)                                                         \
    static const ArgSpec cls##_##fn##_args[] = {__VA_ARGS__};                                      \
    METHOD_(cls, fn, returns, doc, false, cls##_##fn##_args,                                       \
            (int)(sizeof cls##_##fn##_args / sizeof(ArgSpec)))
#define METHOD0(cls, fn, returns, doc) METHOD_(cls, fn, returns, doc, false, NULL, 0)
#define CLASS_METHOD(cls, fn, returns, doc, ...)                                                   \
    static const ArgSpec cls##_##fn##_args[] = {__VA_ARGS__};                                      \
    METHOD_(cls, fn, returns, doc, true, cls##_##fn##_args,                                        \
            (int)(sizeof cls##_##fn##_args / sizeof(ArgSpec)))
#define CLASS_METHOD0(cls, fn, returns, doc) METHOD_(cls, fn, returns, doc, true, NULL, 0)

// A list of properties is a macro X(RO, RW): RO(class, name, type, doc, getter expression),
// RW(class, name, type, doc, getter expression, value spec, setter statement with `v`).
#define PROP_RO_DEFINE(cls, prop, type, doc, expression)                                           \
    static PyObject *cls##_get_##prop(Object *self, State *state) {                                \
        (void)state;                                                                               \
        return expression;                                                                         \
    }
#define PROP_RW_DEFINE(cls, prop, type, doc, expression, spec, statement)                          \
    PROP_RO_DEFINE(cls, prop, type, doc, expression)                                               \
    static void cls##_set_##prop(Object *self, State *state, const Arg *v) {                       \
        (void)state;                                                                               \
        statement;                                                                                 \
    }
#define PROP_RO_ENTRY(cls, prop, type, doc, expression)                                            \
    {#prop, type, doc, cls##_get_##prop, NULL, ANY(#prop)},
#define PROP_RW_ENTRY(cls, prop, type, doc, expression, spec, statement)                           \
    {#prop, type, doc, cls##_get_##prop, cls##_set_##prop, spec},
#define NO_PROP {NULL, NULL, NULL, NULL, NULL, ANY(NULL)}
#define PROPS(cls, list)                                                                           \
    list(PROP_RO_DEFINE, PROP_RW_DEFINE) extern const Prop cls##_props[];                          \
    const Prop cls##_props[] = {list(PROP_RO_ENTRY, PROP_RW_ENTRY) NO_PROP}

#define NO_FIELD {ANY(NULL), NULL, false}

// The record of a class: its name, its text, then its parts (.methods = ..., .props = ...).
#define DEFINE_CLASS(id, text, ...) const Class class_##id = {.name = #id, .doc = text, __VA_ARGS__}

#include "table.h" // what the table's classes and the code by hand have of each other
#endif
