// SPDX-License-Identifier: Apache-2.0
// queue.c: CommandQueue and CommandBuffer.
//
// Ctrl-C while the main thread waits: the library's own wait cannot be left, so commit adds a
// completed handler that posts a semaphore, and the main thread waits for that in short pieces with
// a look at Python's signals in between; before that it lends a hand in short work. Other threads,
// which get no signals, wait in the library, where they lend a hand in any. The limit of a queue's
// unfinished command buffers is a semaphore of this file for the same reason.
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>
#include "queue.h"
#include "render.h"

#define SPIN_NS 20000

struct Limit { // how many more command buffers the queue may have; shared by it and them
    atomic_int n_owners;
    sem_t left;
};

static void limit_release(Limit *limit) {
    if (!limit || atomic_fetch_sub(&limit->n_owners, 1) != 1) return;
    sem_destroy(&limit->left);
    free(limit);
}

// One command buffer less.
static void limit_give_back(Limit *limit) {
    if (limit) sem_post(&limit->left);
    limit_release(limit);
}

// ---- What a command buffer holds ----

// The last owner frees it: the Python object or the library's completed handler. The lists are gone
// by the time the handler is the last.
static void commands_release(Commands *c) {
    if (atomic_fetch_sub(&c->n_owners, 1) != 1) return;
    limit_give_back(c->limit);
    sem_destroy(&c->done);
    free(c);
}

static void drop_handlers(Commands *c) {
    Py_CLEAR(c->on_scheduled);
    Py_CLEAR(c->on_completed);
    Py_CLEAR(c->module);
}

// The Python object goes. Without a commit the library drops its handlers unheard.
void free_commands(void *aux) {
    Commands *c = aux;
    if (!c->committed) drop_handlers(c);
    if (c->registered && !c->committed) atomic_fetch_sub(&c->n_owners, 1);
    commands_release(c);
}

// Calls handler(command_buffer) for each of a list, in order.
static void call_handlers(Commands *c, MTLCommandBuffer *buffer, PyObject *list) {
    PyObject *object = list ? wrap(c->state, C_CommandBuffer, buffer) : NULL;
    PyObject *args = object ? PyTuple_Pack(1, object) : NULL;
    for (Py_ssize_t i = 0; args && i < PyList_Size(list); i++)
        call_from_library(PyList_GetItem(list, i), args);
    Py_XDECREF(args);
    Py_XDECREF(object);
}

static void scheduled(MTLCommandBuffer *buffer, void *context) {
    Commands *c = context;
    if (!Py_IsInitialized()) return; // the interpreter is gone: nobody listens
    PyGILState_STATE gil = PyGILState_Ensure();
    call_handlers(c, buffer, c->on_scheduled);
    PyGILState_Release(gil);
}

static void completed(MTLCommandBuffer *buffer, void *context) {
    Commands *c = context;
    limit_give_back(c->limit);
    c->limit = NULL;
    if (c->module && Py_IsInitialized()) {
        PyGILState_STATE gil = PyGILState_Ensure();
        call_handlers(c, buffer, c->on_completed);
        drop_handlers(c);
        PyGILState_Release(gil);
    }
    sem_post(&c->done);
    commands_release(c);
}

Commands *commands_of(const Object *buffer) { return buffer->aux; }

// ---- CommandQueue ----

static bool gets_signals(void) { return getpid() == gettid(); }

// Short work is over before a sleep would have begun.
static bool spin(sem_t *semaphore) {
    struct timespec now, begin;
    bool done = false;
    clock_gettime(CLOCK_MONOTONIC, &begin);
    do {
        for (int i = 0; i < 64 && !done; i++) done = sem_trywait(semaphore) == 0;
        clock_gettime(CLOCK_MONOTONIC, &now);
    } while (!done &&
             (now.tv_sec - begin.tv_sec) * 1000000000 + now.tv_nsec - begin.tv_nsec < SPIN_NS);
    return done;
}

// The library posts the semaphore before it says that a command buffer is completed.
static bool help(sem_t *semaphore, MTLCommandBuffer *buffer) {
    return mtl_command_buffer_wait_briefly(buffer) && sem_trywait(semaphore) == 0;
}

// Waits for a semaphore without the GIL, in pieces; false if a signal raised. It is posted when the
// command buffer (if not NULL) is completed. After a second, a warning (if not NULL) says what the
// program waits for.
static bool wait_for(sem_t *semaphore, MTLCommandBuffer *buffer, const char *warning) {
    bool done = sem_trywait(semaphore) == 0;
    if (!done) WITHOUT_GIL(done = buffer ? help(semaphore, buffer) : spin(semaphore));
    for (int pieces = 1; !done; pieces++) {
        struct timespec until;
        clock_gettime(CLOCK_REALTIME, &until);
        until.tv_nsec += 100000000;
        if (until.tv_nsec >= 1000000000) until.tv_sec++, until.tv_nsec -= 1000000000;
        WITHOUT_GIL(done = sem_timedwait(semaphore, &until) == 0);
        if (!done && PyErr_CheckSignals() < 0) return false;
        if (!done && pieces == 10 && warning && PyErr_WarnEx(PyExc_RuntimeWarning, warning, 1) < 0)
            return false;
    }
    return true;
}

// A Python queue keeps the limit itself: the library's wait for it could not be interrupted.
PyObject *queue_new(State *state, Object *device, size_t max_count, uint32_t timeout_ms) {
    Limit *limit = calloc(1, sizeof *limit);
    if (!limit) return PyErr_NoMemory();
    if (max_count > INT32_MAX) max_count = INT32_MAX;
    sem_init(&limit->left, 0, (unsigned)max_count);
    atomic_init(&limit->n_owners, 1);
    PyObject *queue = wrap_new(
        state, C_CommandQueue,
        mtl_device_new_command_queue_with_descriptor(
            device->native, &(MTLCommandQueueDescriptor){.max_command_buffer_count = SIZE_MAX / 2,
                                                         .timeout_ms = timeout_ms}));
    if (queue && queue != Py_None)
        ((Object *)queue)->aux = limit;
    else
        limit_release(limit);
    return queue;
}

void free_queue(void *aux) { limit_release(aux); }

static PyObject *new_commands(State *state, Object *queue, bool unretained) {
    Limit *limit = queue->aux;
    if (limit && !wait_for(&limit->left, NULL,
                           "CommandQueue.command_buffer: waits until one of the queue's command "
                           "buffers completes or is dropped"))
        return NULL;
    Commands *c = calloc(1, sizeof *c);
    MTLCommandBuffer *buffer =
        unretained ? mtl_command_queue_command_buffer_with_unretained_references(queue->native)
                   : mtl_command_queue_command_buffer(queue->native);
    PyObject *object = c ? wrap_new(state, C_CommandBuffer, buffer) : PyErr_NoMemory();
    if (!object || object == Py_None) {
        if (!c) mtl_release(buffer);
        if (limit) sem_post(&limit->left);
        free(c);
        return object;
    }
    if (limit) atomic_fetch_add(&limit->n_owners, 1);
    sem_init(&c->done, 0, 0);
    atomic_init(&c->n_owners, 1);
    c->limit = limit;
    c->state = state;
    ((Object *)object)->aux = c;
    return object;
}

METHOD0(CommandQueue, command_buffer, "CommandBuffer",
        "A new command buffer. Waits while the queue's limit of unfinished ones is reached.") {
    (void)a;
    return new_commands(state, self, false);
}

METHOD0(CommandQueue, command_buffer_with_unretained_references, "CommandBuffer",
        "A command buffer that does not keep what it uses alive.") {
    (void)a;
    return new_commands(state, self, true);
}

// ---- CommandBuffer ----

static PyObject *buffer_logs(Object *self) {
    PyObject *list = PyList_New(0);
    for (size_t i = 0; list && i < mtl_command_buffer_log_count(self->native); i++)
        list = list_with(
            list, from_str(mtl_function_log_description(mtl_command_buffer_log(self->native, i))));
    return list;
}

#define COMMAND_BUFFER_PROPS(RO, RW)                                                               \
    RO(CommandBuffer, logs, "list[str]", "What shader validation found.", buffer_logs(self))
PROPS(CommandBuffer, COMMAND_BUFFER_PROPS);

METHOD(CommandBuffer, render_command_encoder, "RenderCommandEncoder",
       "Opens an encoder for the draws of a render pass. One encoder at a time.",
       OBJECT("descriptor", RenderPassDescriptor)) {
    const MTLRenderPassDescriptor pass = render_pass_of(a[0].o);
    return wrap_owned_by(state, C_RenderCommandEncoder,
                         mtl_command_buffer_render_command_encoder(self->native, &pass), self);
}

METHOD0(CommandBuffer, commit, "None", "Hands the commands to the queue. Once.") {
    (void)a;
    Commands *c = commands_of(self);
    if (c && !c->registered) {
        c->registered = true;
        atomic_fetch_add(&c->n_owners, 1);
        mtl_command_buffer_add_completed_handler(self->native, completed, c);
        if (c->on_scheduled) mtl_command_buffer_add_scheduled_handler(self->native, scheduled, c);
    }
    WITHOUT_GIL(mtl_command_buffer_commit(self->native));
    if (c)
        c->committed = mtl_command_buffer_status(self->native) >= MTLCommandBufferStatusCommitted;
    return none(state);
}

METHOD0(CommandBuffer, wait_until_completed, "None",
        "Waits until the commands are done and the completed handlers have returned.") {
    (void)a;
    Commands *c = commands_of(self);
    if (c && c->committed && gets_signals()) {
        if (!wait_for(&c->done, self->native, NULL)) return NULL;
        sem_post(&c->done); // for the next who waits
    }
    WITHOUT_GIL(mtl_command_buffer_wait_until_completed(self->native));
    return none(state);
}

METHOD0(CommandBuffer, wait_until_scheduled, "None",
        "Waits until the commands are about to run and the scheduled handlers have returned.") {
    (void)a;
    MTLCommandBuffer *buffer = self->native;
    for (long pause = 1000; gets_signals(); pause = pause < 1000000 ? 2 * pause : pause) {
        MTLCommandBufferStatus status = mtl_command_buffer_status(buffer);
        if (status != MTLCommandBufferStatusCommitted) break;
        WITHOUT_GIL(nanosleep(&(struct timespec){0, pause}, NULL));
        if (PyErr_CheckSignals() < 0) return NULL;
    }
    WITHOUT_GIL(mtl_command_buffer_wait_until_scheduled(buffer));
    return none(state);
}

static PyObject *add_handler(State *state, Object *self, PyObject *handler, bool of_completion,
                             const char *name) {
    Commands *c = commands_of(self);
    // After a commit that failed the library has what was there before; more would not be heard.
    if (!c || c->committed || (c->registered && !of_completion))
        return raise_text(state, ERROR_VALIDATION, "%s: the command buffer was committed", name);
    PyObject **list = of_completion ? &c->on_completed : &c->on_scheduled;
    if (!*list && !(*list = PyList_New(0))) return NULL;
    if (!c->module) c->module = Py_NewRef(state->module);
    return PyList_Append(*list, handler) < 0 ? NULL : none(state);
}

METHOD(CommandBuffer, add_completed_handler, "None",
       "Calls handler(command_buffer) when the commands are done, on another thread. Before "
       "commit.",
       CALLABLE("handler")) {
    return add_handler(state, self, a[0].py, true, "CommandBuffer.add_completed_handler");
}

METHOD(CommandBuffer, add_scheduled_handler, "None",
       "Calls handler(command_buffer) when the commands are about to run. Before commit.",
       CALLABLE("handler")) {
    return add_handler(state, self, a[0].py, false, "CommandBuffer.add_scheduled_handler");
}
