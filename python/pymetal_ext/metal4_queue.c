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

void encoder_close(Object *encoder) { let_open_go(encoder->aux); }

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
}

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

#define COMMIT_FEEDBACK_PROPS(RO, RW)                                                              \
    RO(MTL4CommitFeedback, error, "MetalError | None",                                             \
       "The first error of the commit's command buffers.",                                         \
       error_object(state, mtl4_commit_feedback_error(self->native)))                              \
    RO(MTL4CommitFeedback, gpu_start_time, "float", "When the first began, in seconds.",           \
       from_double(mtl4_commit_feedback_gpu_start_time(self->native)))                             \
    RO(MTL4CommitFeedback, gpu_end_time, "float", "When the last was done, in seconds.",           \
       from_double(mtl4_commit_feedback_gpu_end_time(self->native)))
PROPS(MTL4CommitFeedback, COMMIT_FEEDBACK_PROPS);
DEFINE_CLASS(MTL4CommitFeedback, "How a commit went.", .props = MTL4CommitFeedback_props);

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

static const Field MTL4CommandQueueDescriptor_fields[] = {
    {STR_OR("label"), "A name for messages and traces.", false},
    {U32_OR("timeout_ms", 0), "Time limit of a command buffer, 0: the device's.", false},
    NO_FIELD,
};
DEFINE_CLASS(MTL4CommandQueueDescriptor, "How a command queue is made.",
             .fields = MTL4CommandQueueDescriptor_fields, .constructible = true);

#define COMMAND_QUEUE_PROPS(RO, RW)                                                                \
    DEVICE_OF(RO, MTL4CommandQueue, mtl4_command_queue)                                            \
    FIXED_LABEL_OF(RO, MTL4CommandQueue, mtl4_command_queue)
PROPS(MTL4CommandQueue, COMMAND_QUEUE_PROPS);

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

METHOD(MTL4CommandQueue, signal_event, "None",
       "Raises an event to a value when everything committed before is done.", EVENT("event"),
       SIZE("value")) {
    mtl4_command_queue_signal_event(self->native, a[0].p, a[1].u);
    return none(state);
}

METHOD(MTL4CommandQueue, wait_for_event, "None",
       "What is committed from here on runs once the event has the value.", EVENT("event"),
       SIZE("value")) {
    mtl4_command_queue_wait_for_event(self->native, a[0].p, a[1].u);
    return none(state);
}

METHOD(MTL4CommandQueue, signal_drawable, "None",
       "Presenting the drawable waits for the work committed before.",
       OBJECT("drawable", MetalDrawable)) {
    mtl4_command_queue_signal_drawable(self->native, a[0].p);
    return none(state);
}

METHOD(MTL4CommandQueue, wait_for_drawable, "None",
       "Work committed from here on may draw into the drawable.",
       OBJECT("drawable", MetalDrawable)) {
    mtl4_command_queue_wait_for_drawable(self->native, a[0].p);
    return none(state);
}

// One residency set or a list of them.
#define RESIDENCY(cls, fn, doc, prefix)                                                            \
    METHOD(cls, fn, "None", doc, OBJECT("residency_set", ResidencySet)) {                          \
        prefix##_##fn(self->native, a[0].p);                                                       \
        return none(state);                                                                        \
    }                                                                                              \
    METHOD(cls, fn##s, "None", "The same for several.", LIST("residency_sets", ResidencySet)) {    \
        void **sets;                                                                               \
        size_t n;                                                                                  \
        if (!list_natives(state, a[0].py, C_ResidencySet, "residency_sets", &sets, &n))            \
            return NULL;                                                                           \
        prefix##_##fn##s(self->native, (MTLResidencySet *const *)sets, n);                         \
        free(sets);                                                                                \
        return none(state);                                                                        \
    }
RESIDENCY(MTL4CommandQueue, add_residency_set,
          "The set's allocations are resident for what is committed from now on.",
          mtl4_command_queue)
RESIDENCY(MTL4CommandQueue, remove_residency_set, "Takes a residency set away.", mtl4_command_queue)

static const Method *const MTL4CommandQueue_methods[] = {
    &MTL4CommandQueue_commit,
    &MTL4CommandQueue_signal_event,
    &MTL4CommandQueue_wait_for_event,
    &MTL4CommandQueue_signal_drawable,
    &MTL4CommandQueue_wait_for_drawable,
    &MTL4CommandQueue_add_residency_set,
    &MTL4CommandQueue_add_residency_sets,
    &MTL4CommandQueue_remove_residency_set,
    &MTL4CommandQueue_remove_residency_sets,
    NULL,
};
DEFINE_CLASS(MTL4CommandQueue, "Runs command buffers of Metal 4.",
             .methods = MTL4CommandQueue_methods, .props = MTL4CommandQueue_props);

// ---- MTL4CommandAllocator ----

static const Field MTL4CommandAllocatorDescriptor_fields[] = {
    {STR_OR("label"), "A name for messages and traces.", false},
    NO_FIELD,
};
DEFINE_CLASS(MTL4CommandAllocatorDescriptor, "How a command allocator is made.",
             .fields = MTL4CommandAllocatorDescriptor_fields, .constructible = true);

#define COMMAND_ALLOCATOR_PROPS(RO, RW)                                                            \
    NUMBER_OF(RO, MTL4CommandAllocator, mtl4_command_allocator, allocated_size,                    \
              "Bytes it has for commands.")                                                        \
    DEVICE_OF(RO, MTL4CommandAllocator, mtl4_command_allocator)                                    \
    FIXED_LABEL_OF(RO, MTL4CommandAllocator, mtl4_command_allocator)
PROPS(MTL4CommandAllocator, COMMAND_ALLOCATOR_PROPS);

METHOD0(MTL4CommandAllocator, reset, "None",
        "Gives the memory of all its commands free; none of them may be in use.") {
    (void)a;
    mtl4_command_allocator_reset(self->native);
    return none(state);
}

static const Method *const MTL4CommandAllocator_methods[] = {&MTL4CommandAllocator_reset, NULL};
DEFINE_CLASS(MTL4CommandAllocator, "Memory for the commands of one command buffer at a time.",
             .methods = MTL4CommandAllocator_methods, .props = MTL4CommandAllocator_props);

// ---- MTL4CommandBuffer ----

static void free_recording(void *aux) {
    Recording *r = aux;
    let_open_go(r); // it keeps this alive: there is none
    Py_XDECREF(r->used);
    free(r);
}

#define COMMAND_BUFFER_PROPS(RO, RW)                                                               \
    DEVICE_OF(RO, MTL4CommandBuffer, mtl4_command_buffer)                                          \
    LABEL_OF(RW, MTL4CommandBuffer, mtl4_command_buffer)
PROPS(MTL4CommandBuffer, COMMAND_BUFFER_PROPS);

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

RESIDENCY(MTL4CommandBuffer, use_residency_set,
          "The set's allocations are resident while the commands run.", mtl4_command_buffer)
DEBUG_GROUPS_OF(MTL4CommandBuffer, mtl4_command_buffer)

METHOD(MTL4CommandBuffer, write_timestamp_into_heap, "None",
       "Between encoders: writes the time into an entry of a counter heap.",
       OBJECT("heap", MTL4CounterHeap), SIZE("index")) {
    mtl4_command_buffer_write_timestamp_into_heap(self->native, a[0].p, a[1].u);
    return none(state);
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
static void buffer_called(Object *self, const Method *method, const Arg *a) {
    Object inner = *self;
    if (method == &MTL4CommandBuffer_begin_command_buffer) return;
    inner.owner = (PyObject *)self;
    encoder_called(&inner, method, a);
}

static const Method *const MTL4CommandBuffer_methods[] = {
    &MTL4CommandBuffer_begin_command_buffer,
    &MTL4CommandBuffer_end_command_buffer,
    &MTL4CommandBuffer_compute_command_encoder,
    &MTL4CommandBuffer_render_command_encoder,
    &MTL4CommandBuffer_machine_learning_command_encoder,
    &MTL4CommandBuffer_use_residency_set,
    &MTL4CommandBuffer_use_residency_sets,
    &MTL4CommandBuffer_push_debug_group,
    &MTL4CommandBuffer_pop_debug_group,
    &MTL4CommandBuffer_write_timestamp_into_heap,
    &MTL4CommandBuffer_resolve_counter_heap,
    NULL,
};
DEFINE_CLASS(MTL4CommandBuffer, "Commands, recorded again and again.",
             .methods = MTL4CommandBuffer_methods, .props = MTL4CommandBuffer_props,
             .called = buffer_called, .free_aux = free_recording);

// ---- MTL4CounterHeap ----

static const Field MTL4CounterHeapDescriptor_fields[] = {
    {ENUM_OR("type", MTL4CounterHeapType, Timestamp, 1), "What is counted.", false},
    {SIZE_OR("count", 1), "Entries.", false},
    NO_FIELD,
};
DEFINE_CLASS(MTL4CounterHeapDescriptor, "How a counter heap is made.",
             .fields = MTL4CounterHeapDescriptor_fields, .constructible = true);

#define COUNTER_HEAP_PROPS(RO, RW)                                                                 \
    NUMBER_OF(RO, MTL4CounterHeap, mtl4_counter_heap, count, "Entries.")                           \
    RO(MTL4CounterHeap, type, "MTL4CounterHeapType", "What is counted.",                           \
       from_enum(state, E_MTL4CounterHeapType, mtl4_counter_heap_type(self->native)))              \
    LABEL_OF(RW, MTL4CounterHeap, mtl4_counter_heap)
PROPS(MTL4CounterHeap, COUNTER_HEAP_PROPS);

METHOD(MTL4CounterHeap, resolve_counter_range, "list[int]",
       "Entries as they are now, in nanoseconds; 0: not written.", OBJECT("range", Range)) {
    MTLRange range = to_range(a[0].o);
    size_t most = mtl4_counter_heap_count(self->native);
    MTL4TimestampHeapEntry *entries =
        calloc(range.length <= most ? range.length + 1 : 1, sizeof *entries);
    if (!entries) return PyErr_NoMemory();
    PyObject *list = PyList_New(0);
    if (mtl4_counter_heap_resolve_counter_range(self->native, range, entries))
        for (size_t i = 0; list && i < range.length; i++) {
            PyObject *value = from_u64(entries[i].timestamp);
            if (!value || PyList_Append(list, value) < 0) Py_CLEAR(list);
            Py_XDECREF(value);
        }
    free(entries);
    (void)state;
    return list;
}

METHOD(MTL4CounterHeap, invalidate_counter_range, "None", "Entries are as if never written.",
       OBJECT("range", Range)) {
    mtl4_counter_heap_invalidate_counter_range(self->native, to_range(a[0].o));
    return none(state);
}

static const Method *const MTL4CounterHeap_methods[] = {
    &MTL4CounterHeap_resolve_counter_range, &MTL4CounterHeap_invalidate_counter_range, NULL};
DEFINE_CLASS(MTL4CounterHeap, "Numbers that commands write, such as times.",
             .methods = MTL4CounterHeap_methods, .props = MTL4CounterHeap_props);

// ---- MTL4ArgumentTable ----

static const Field MTL4ArgumentTableDescriptor_fields[] = {
    {SIZE_OR("max_buffer_bind_count", 0), "Buffers, tensors and tables: up to 31.", false},
    {SIZE_OR("max_texture_bind_count", 0), "Textures: up to 128.", false},
    {SIZE_OR("max_sampler_state_bind_count", 0), "Samplers: up to 16.", false},
    {BOOL_OR("initialize_bindings", false), "They always begin as none here.", false},
    {BOOL_OR("support_attribute_strides", false), "Strides of vertices may be given.", false},
    {STR_OR("label"), "A name for messages and traces.", false},
    NO_FIELD,
};
DEFINE_CLASS(MTL4ArgumentTableDescriptor, "How an argument table is made.",
             .fields = MTL4ArgumentTableDescriptor_fields, .constructible = true);

#define ARGUMENT_TABLE_PROPS(RO, RW)                                                               \
    DEVICE_OF(RO, MTL4ArgumentTable, mtl4_argument_table)                                          \
    FIXED_LABEL_OF(RO, MTL4ArgumentTable, mtl4_argument_table)
PROPS(MTL4ArgumentTable, ARGUMENT_TABLE_PROPS);

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

#define SET_ID(fn, doc)                                                                            \
    METHOD(MTL4ArgumentTable, fn, "None", doc, SIZE("resource_id"), SIZE("index")) {               \
        mtl4_argument_table_##fn(self->native, (MTLResourceID){a[0].u}, a[1].u);                   \
        return none(state);                                                                        \
    }
SET_ID(set_resource, "A tensor or function table, by its gpu_resource_id, at a buffer index.")
SET_ID(set_texture, "A texture, by its gpu_resource_id.")
SET_ID(set_sampler_state, "A sampler, by its gpu_resource_id, made with support_argument_buffers.")

static const Method *const MTL4ArgumentTable_methods[] = {
    &MTL4ArgumentTable_set_address, &MTL4ArgumentTable_set_resource, &MTL4ArgumentTable_set_texture,
    &MTL4ArgumentTable_set_sampler_state, NULL};
DEFINE_CLASS(MTL4ArgumentTable, "What kernels and shaders find at their indices.",
             .methods = MTL4ArgumentTable_methods, .props = MTL4ArgumentTable_props);

// ---- Made by the device ----

METHOD(Device, new_mtl4_command_queue, "MTL4CommandQueue", "A queue of Metal 4.",
       OPTIONAL("descriptor", MTL4CommandQueueDescriptor)) {
    MTL4CommandQueueDescriptor d = {0};
    MTLError *error = NULL;
    if (a[0].o)
        d = (MTL4CommandQueueDescriptor){.label = field_s(a[0].o, "label"),
                                         .timeout_ms = (uint32_t)field_u(a[0].o, "timeout_ms")};
    MTL4CommandQueue *queue =
        mtl_device_new_mtl4_command_queue_with_descriptor(self->native, &d, &error);
    if (!queue) return raise_error(state, ERROR_RESOURCE, "Failed to create queue: ", error);
    return wrap_new(state, C_MTL4CommandQueue, queue);
}

METHOD(Device, new_command_allocator, "MTL4CommandAllocator",
       "Memory for commands, of one command buffer at a time.",
       OPTIONAL("descriptor", MTL4CommandAllocatorDescriptor)) {
    MTLError *error = NULL;
    MTL4CommandAllocator *allocator = mtl_device_new_command_allocator_with_descriptor(
        self->native,
        &(MTL4CommandAllocatorDescriptor){.label = a[0].o ? field_s(a[0].o, "label") : NULL},
        &error);
    if (!allocator)
        return raise_error(state, ERROR_RESOURCE, "Failed to create allocator: ", error);
    return wrap_new(state, C_MTL4CommandAllocator, allocator);
}

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

METHOD(Device, new_argument_table, "MTL4ArgumentTable",
       "A table of bindings. ResourceError if it would be too large.",
       OBJECT("descriptor", MTL4ArgumentTableDescriptor)) {
    const Object *d = a[0].o;
    MTLError *error = NULL;
    MTL4ArgumentTable *table = mtl_device_new_argument_table(
        self->native,
        &(MTL4ArgumentTableDescriptor){
            .label = field_s(d, "label"),
            .max_buffer_bind_count = field_u(d, "max_buffer_bind_count"),
            .max_texture_bind_count = field_u(d, "max_texture_bind_count"),
            .max_sampler_state_bind_count = field_u(d, "max_sampler_state_bind_count"),
            .initialize_bindings = field_b(d, "initialize_bindings"),
            .support_attribute_strides = field_b(d, "support_attribute_strides")},
        &error);
    if (!table) return raise_error(state, ERROR_RESOURCE, "Failed to create table: ", error);
    return wrap_new(state, C_MTL4ArgumentTable, table);
}

METHOD(Device, new_counter_heap, "MTL4CounterHeap", "Entries that commands write times into.",
       OBJECT("descriptor", MTL4CounterHeapDescriptor)) {
    MTLError *error = NULL;
    MTL4CounterHeap *heap = mtl_device_new_counter_heap(
        self->native,
        &(MTL4CounterHeapDescriptor){.type = (MTL4CounterHeapType)field_u(a[0].o, "type"),
                                     .count = field_u(a[0].o, "count")},
        &error);
    if (!heap) return raise_error(state, ERROR_RESOURCE, "Failed to create counter heap: ", error);
    return wrap_new(state, C_MTL4CounterHeap, heap);
}

METHOD(Device, size_of_counter_heap_entry, "int", "Bytes of an entry of a counter heap.",
       ENUMERATION("type", MTL4CounterHeapType)) {
    (void)state;
    return from_u64(
        mtl_device_size_of_counter_heap_entry(self->native, (MTL4CounterHeapType)a[0].u));
}

METHOD0(Device, query_timestamp_frequency, "int", "Ticks a second of the times in counter heaps.") {
    (void)state, (void)a;
    return from_u64(mtl_device_query_timestamp_frequency(self->native));
}

const Method *const device_metal4_methods[] = {
    &Device_new_mtl4_command_queue,    &Device_new_command_allocator,
    &Device_new_command_buffer,        &Device_new_argument_table,
    &Device_new_counter_heap,          &Device_size_of_counter_heap_entry,
    &Device_query_timestamp_frequency, NULL};
