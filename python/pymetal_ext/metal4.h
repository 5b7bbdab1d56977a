// SPDX-License-Identifier: Apache-2.0
// metal4.h: what the files of Metal 4 share: descriptors as C has them, and the encoders' common
// part.
//
// Command buffers of Metal 4 keep nothing alive. Here they keep what their encoders were given, as
// Python's objects, until the commands are done; what kernels reach by an address is for residency
// sets to hold. An encoder's object stands for nothing once it was ended, or its command buffer:
// its memory is the allocator's.
#ifndef PYMETAL_METAL4_H
#define PYMETAL_METAL4_H
#include "object.h"

// ---- Descriptors as C has them ----

// Memory that they point to, and the Python values behind it.
typedef struct Pool {
    struct PoolBlock *blocks;
    PyObject *kept; // a list
} Pool;
void *pool_alloc(Pool *pool, size_t n, size_t bytes); // zeros; NULL: an exception
bool pool_keep(Pool *pool, PyObject *value);          // False: an exception
bool pool_keep_fields(Pool *pool, const Object *o);   // all values of its fields
void pool_free(Pool *pool);

// NULL: an exception, unless `o` is NULL or None, whose descriptor is NULL.
const MTL4FunctionDescriptor *function_descriptor(Pool *pool, const Object *o);
const MTL4StaticLinkingDescriptor *static_linking(Pool *pool, const Object *o);
bool stage_linking(Pool *pool, const Object *o, MTL4PipelineStageDynamicLinkingDescriptor *d);
// Natives of a field that is a list of objects of a class, in the pool.
bool pool_natives(Pool *pool, const Object *o, const char *field, ClassId id, void ***array,
                  size_t *count);
// Of MTL4CompilerTaskOptions; NULL object: none. False: an exception.
bool task_options(Pool *pool, const Object *o, MTL4CompilerTaskOptions *options);

// ---- Work in the background ----

typedef struct Task { // what a handler of Python's waits for
    PyObject *handler, *module;
    State *state;
    ClassId id;
} Task;
Task *task_new(State *state, ClassId id, PyObject *handler); // NULL: an exception
void task_free(Task *task);                                  // of one that was not started
// Calls handler(object, error) and frees the task. On any thread.
void task_done(Task *task, void *object, MTLError *error);
// The task's object; NULL (nothing was started) is a CompileError.
PyObject *task_started(State *state, MTL4CompilerTask *task, Task *context);

MTL4RenderPassDescriptor mtl4_render_pass_of(const Object *o); // borrows what its fields hold

// ---- Encoders ----

// The encoder that is open in a command buffer, as its object.
PyObject *encoder_open(State *state, Object *buffer, ClassId id, void *native);
#endif
