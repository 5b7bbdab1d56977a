// SPDX-License-Identifier: Apache-2.0
// metal4_queue.c: queues, allocators and command buffers of Metal 4, commits and what comes back
// from them, counter heaps.
#include <stdatomic.h>
#include <stdlib.h>
#include "metal4.h"

// ---- Encoders ----

typedef struct Recording { // aux of a command buffer, and of its open encoder
    Object *open;          // borrowed; NULL: none
    PyObject *used;        // a list: what encoders were given since begin
} Recording;

static void let_open_go(Recording *r) {
    if (!r || !r->open) return;
    Object *encoder = r->open;
    r->open = NULL;
    encoder->aux = NULL;
    object_let_go(encoder);
}

PyObject *encoder_open(State *state, Object *buffer, ClassId id, void *native) {
    PyObject *o = wrap_owned_by(state, id, native, buffer);
    if (!o || o == Py_None) return o;
    Recording *r = buffer->aux;
    let_open_go(r);
    r->open = (Object *)o;
    r->open->aux = r;
    return o;
}

// The object goes before it was ended.
void encoder_free(void *aux) { ((Recording *)aux)->open = NULL; }

void encoder_called(Object *self, const Method *method, const Arg *a) {
    Recording *r = self->owner ? ((Object *)self->owner)->aux : NULL;
    if (!r) return;
    for (int i = 0; i < method->n_args; i++) {
        if (method->args[i].kind != K_OBJECT || !a[i].py || a[i].py == Py_None) continue;
        if (!r->used) r->used = PyList_New(0);
        if (!r->used || PyList_Append(r->used, a[i].py) < 0) PyErr_Clear(); // as in C, then
    }
    if (!method->n_args && !strcmp(strchr(method->name, '.'), ".end_encoding"))
        let_open_go(self->aux);
}

#define ENCODER_PROPS(RO, RW)                                                                      \
    RO(encoder, command_buffer, "MTL4CommandBuffer", "The command buffer it records into.",        \
       Py_NewRef(self->owner))
PROPS(encoder, ENCODER_PROPS);

// ---- Commits ----

// What a commit keeps until its commands are done. The library's thread puts it on a list, and a
// thread that has the GIL anyway drops it: waiting for the GIL would hold a worker up.
typedef struct Commit {
    struct Commit *next;
    PyObject *used;              // list of lists
    PyObject *handlers, *module; // or NULL
    State *state;
} Commit;
static Commit *_Atomic done; // in every interpreter of the process: there is one

static void commit_free(Commit *c) {
    Py_XDECREF(c->used);
    Py_XDECREF(c->handlers);
    Py_XDECREF(c->module);
    free(c);
}

static void drop_done(void) {
    for (Commit *c = atomic_exchange(&done, NULL), *next; c; c = next) {
        next = c->next;
        commit_free(c);
    }
}

static void finished(MTL4CommitFeedback *feedback, void *context) {
    Commit *c = context;
    if (c->handlers && Py_IsInitialized()) {
        PyGILState_STATE gil = PyGILState_Ensure();
        PyObject *object = wrap(c->state, C_MTL4CommitFeedback, feedback);
        PyObject *args = object ? PyTuple_Pack(1, object) : NULL;
        for (Py_ssize_t i = 0; i < PyList_Size(c->handlers); i++)
            call_from_library(PyList_GetItem(c->handlers, i), args);
        Py_XDECREF(args);
        Py_XDECREF(object);
        commit_free(c);
        PyGILState_Release(gil);
        return;
    }
    c->next = atomic_load(&done);
    while (!atomic_compare_exchange_weak(&done, &c->next, c)) {
    }
}

static const Field MTL4CommitOptions_fields[] = {
    {ANY_OR("feedback_handlers"), "A list of functions; add_feedback_handler fills it.", true},
    NO_FIELD,
};

METHOD(MTL4CommitOptions, add_feedback_handler, "None",
       "Calls handler(feedback) on another thread when all command buffers of a commit with these "
       "options are done.",
       CALLABLE("handler")) {
    if (self->values[0] == Py_None) {
        PyObject *list = PyList_New(0);
        if (!list) return NULL;
        Py_DECREF(self->values[0]);
        self->values[0] = list;
    }
    return PyList_Append(self->values[0], a[0].py) < 0 ? NULL : none(state);
}

static const Method *const MTL4CommitOptions_methods[] = {&MTL4CommitOptions_add_feedback_handler,
                                                          NULL};
DEFINE_CLASS(MTL4CommitOptions, "What a commit is to say when it is done.",
             .methods = MTL4CommitOptions_methods, .fields = MTL4CommitOptions_fields,
             .factory = "commit_options", .constructible = true);

// ---- MTL4CommandQueue ----

static Commit *commit_new(State *state, PyObject *buffers, const Object *options) {
    Commit *c = calloc(1, sizeof *c);
    if (!c) return (void *)PyErr_NoMemory();
    c->state = state;
    PyObject *handlers = options ? field_py(options, "feedback_handlers") : Py_None;
    if (handlers != Py_None) {
        c->handlers = PySequence_List(handlers);
        c->module = Py_NewRef(state->module);
    }
    c->used = PyList_New(0);
    if (!c->used || PyErr_Occurred() || PyList_Append(c->used, buffers) < 0) {
        commit_free(c);
        return NULL;
    }
    for (Py_ssize_t i = 0; i < PyTuple_Size(buffers); i++) {
        const Recording *r = ((Object *)PyTuple_GetItem(buffers, i))->aux;
        if (r && r->used && PyList_Append(c->used, r->used) < 0) {
            commit_free(c);
            return NULL;
        }
    }
    return c;
}

METHOD(MTL4CommandQueue, commit, "None",
       "Hands over the commands of ended command buffers, in this order. Each may be begun again "
       "at once.",
       LIST("command_buffers", MTL4CommandBuffer), OPTIONAL("options", MTL4CommitOptions)) {
    void **natives;
    size_t n;
    drop_done();
    PyObject *tuple = PySequence_Tuple(a[0].py);
    if (!tuple) return NULL;
    if (!list_natives(state, tuple, C_MTL4CommandBuffer, "command_buffers", &natives, &n)) {
        Py_DECREF(tuple);
        return NULL;
    }
    Commit *c = commit_new(state, tuple, a[1].py && a[1].py != Py_None ? a[1].o : NULL);
    MTL4CommitOptions *options = c ? mtl4_commit_options_new() : NULL;
    if (options) {
        mtl4_commit_options_add_feedback_handler(options, finished, c);
        WITHOUT_GIL(mtl4_command_queue_commit_with_options(
            self->native, (MTL4CommandBuffer *const *)natives, n, options));
        mtl_release(options);
        // Refused: nobody will hear of it. (A race with a reset may have let it pass.)
        if (misuse_is("metal4_commit_") && !misuse_is("metal4_commit_reset")) commit_free(c);
    } else if (c) {
        commit_free(c);
        PyErr_NoMemory();
    }
    for (size_t i = 0; options && !misuse_is("metal4_commit_") && i < n; i++) {
        Recording *r = ((Object *)PyTuple_GetItem(tuple, (Py_ssize_t)i))->aux;
        if (r) Py_CLEAR(r->used);
    }
    free(natives);
    Py_DECREF(tuple);
    return options ? none(state) : NULL;
}

// ---- MTL4CommandBuffer ----

void free_recording(void *aux) {
    Recording *r = aux;
    let_open_go(r); // it keeps this alive: there is none
    Py_XDECREF(r->used);
    free(r);
}

METHOD(MTL4CommandBuffer, begin_command_buffer, "None",
       "Starts a new sequence of commands in an allocator's memory.",
       OBJECT("allocator", MTL4CommandAllocator)) {
    Recording *r = self->aux;
    drop_done();
    mtl4_command_buffer_begin_command_buffer(self->native, a[0].p);
    if (!r->open) Py_CLEAR(r->used);
    return none(state);
}

METHOD0(MTL4CommandBuffer, end_command_buffer, "None",
        "Ends it, with no encoder open. Then it may be committed, once.") {
    (void)a;
    mtl4_command_buffer_end_command_buffer(self->native);
    let_open_go(self->aux);
    return none(state);
}

METHOD0(MTL4CommandBuffer, compute_command_encoder, "MTL4ComputeCommandEncoder | None",
        "Opens an encoder for dispatches and copies.") {
    (void)a;
    return encoder_open(state, self, C_MTL4ComputeCommandEncoder,
                        mtl4_command_buffer_compute_command_encoder(self->native));
}

METHOD0(MTL4CommandBuffer, machine_learning_command_encoder,
        "MTL4MachineLearningCommandEncoder | None", "Opens an encoder for networks.") {
    (void)a;
    return encoder_open(state, self, C_MTL4MachineLearningCommandEncoder,
                        mtl4_command_buffer_machine_learning_command_encoder(self->native));
}

METHOD(MTL4CommandBuffer, render_command_encoder, "MTL4RenderCommandEncoder | None",
       "Opens an encoder for the draws of a pass. Options are RenderEncoderOption bits.",
       OBJECT("descriptor", MTL4RenderPassDescriptor), U32_OR("options", 0)) {
    MTL4RenderPassDescriptor d = mtl4_render_pass_of(a[0].o);
    return encoder_open(state, self, C_MTL4RenderCommandEncoder,
                        mtl4_command_buffer_render_command_encoder_with_options(
                            self->native, &d, (MTL4RenderEncoderOptions)a[1].u));
}

METHOD(MTL4CommandBuffer, resolve_counter_heap, "None",
       "Between encoders: copies entries to memory, eight bytes each. length None: to the end of "
       "the buffer.",
       OBJECT("heap", MTL4CounterHeap), OBJECT("range", Range), SIZE("buffer_address"),
       {"length", K_U64, 0, "None", 0, true}, OPTIONAL("fence_to_wait", Fence),
       OPTIONAL("fence_to_update", Fence)) {
    bool whole = !a[3].py || a[3].py == Py_None;
    mtl4_command_buffer_resolve_counter_heap(
        self->native, a[0].p, to_range(a[1].o),
        mtl4_buffer_range_make(a[2].u, whole ? UINT64_MAX : a[3].u), a[4].p, a[5].p);
    return none(state);
}

// What is given to the command buffer itself lives as long as what its encoders get.
void buffer_called(Object *self, const Method *method, const Arg *a) {
    Object inner = *self;
    if (method == &MTL4CommandBuffer_begin_command_buffer) return;
    inner.owner = (PyObject *)self;
    encoder_called(&inner, method, a);
}

// ---- MTL4CounterHeap ----

METHOD(MTL4CounterHeap, resolve_counter_range, "list[int]",
       "Entries as they are now, in nanoseconds; 0: not written.", OBJECT("range", Range)) {
    MTLRange range = to_range(a[0].o);
    size_t most = mtl4_counter_heap_count(self->native);
    MTL4TimestampHeapEntry *entries =
        calloc(range.length <= most ? range.length + 1 : 1, sizeof *entries);
    if (!entries) return PyErr_NoMemory();
    PyObject *list = PyList_New(0);
    if (mtl4_counter_heap_resolve_counter_range(self->native, range, entries))
        for (size_t i = 0; list && i < range.length; i++)
            list = list_with(list, from_u64(entries[i].timestamp));
    free(entries);
    (void)state;
    return list;
}

// ---- MTL4ArgumentTable ----

METHOD(MTL4ArgumentTable, set_address, "None",
       "An address (a buffer's gpu_address, plus an offset) at a buffer index; 0 unbinds. With a "
       "stride: the distance of vertices.",
       SIZE("gpu_address"), SIZE("index"), {"stride", K_U64, 0, "None", 0, true}) {
    if (a[2].py && a[2].py != Py_None)
        mtl4_argument_table_set_address_with_attribute_stride(self->native, a[0].u, a[2].u, a[1].u);
    else
        mtl4_argument_table_set_address(self->native, a[0].u, a[1].u);
    return none(state);
}

// ---- Made by the device ----

METHOD0(Device, new_command_buffer, "MTL4CommandBuffer", "A command buffer of Metal 4.") {
    (void)a;
    Recording *r = calloc(1, sizeof *r);
    PyObject *o =
        r ? wrap_new(state, C_MTL4CommandBuffer, mtl_device_new_command_buffer(self->native))
          : PyErr_NoMemory();
    if (o && o != Py_None)
        ((Object *)o)->aux = r;
    else
        free(r);
    return o;
}
