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
MTL4PipelineOptions pipeline_options(const Object *o);
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

// Methods of classes of other files.
extern const Method *const device_metal4_methods[], *const device_compiler_methods[],
                                                        *const compute_pipeline_metal4_methods[],
                                                            *const compiler_render_methods[],
                                                                *const compiler_ml_methods[],
                                                                    *const archive_render_methods[];

MTL4RenderPassDescriptor mtl4_render_pass_of(const Object *o); // borrows what its fields hold

// ---- Encoders ----

// The encoder that is open in a command buffer, as its object.
PyObject *encoder_open(State *state, Object *buffer, ClassId id, void *native);
void encoder_close(Object *encoder);
void encoder_free(void *aux);
void encoder_called(Object *self, const Method *method, const Arg *a);

// Methods that all three have, and the entries of their tables.
#define COMMON_METHODS(cls, prefix)                                                                \
    METHOD(cls, barrier_after_encoder_stages, "None",                                              \
           "Orders commands of this encoder: Stage bits before and after.",                        \
           SIZE("after_encoder_stages"), SIZE("before_encoder_stages"),                            \
           U32_OR("visibility_options", 1)) {                                                      \
        prefix##_barrier_after_encoder_stages(self->native, a[0].u, a[1].u,                        \
                                              (MTL4VisibilityOptions)a[2].u);                      \
        return none(state);                                                                        \
    }                                                                                              \
    METHOD(cls, barrier_after_queue_stages, "None",                                                \
           "What is encoded from here on, after all earlier work of the queue.",                   \
           SIZE("after_queue_stages"), SIZE("before_stages"), U32_OR("visibility_options", 1)) {   \
        prefix##_barrier_after_queue_stages(self->native, a[0].u, a[1].u,                          \
                                            (MTL4VisibilityOptions)a[2].u);                        \
        return none(state);                                                                        \
    }                                                                                              \
    METHOD(cls, barrier_after_stages, "None",                                                      \
           "All later work of the queue, after what was encoded so far.", SIZE("after_stages"),    \
           SIZE("before_queue_stages"), U32_OR("visibility_options", 1)) {                         \
        prefix##_barrier_after_stages(self->native, a[0].u, a[1].u,                                \
                                      (MTL4VisibilityOptions)a[2].u);                              \
        return none(state);                                                                        \
    }                                                                                              \
    METHOD(cls, update_fence, "None", "The fence stands behind what was encoded so far.",          \
           OBJECT("fence", Fence), SIZE("after_encoder_stages")) {                                 \
        prefix##_update_fence(self->native, a[0].p, a[1].u);                                       \
        return none(state);                                                                        \
    }                                                                                              \
    METHOD(cls, wait_for_fence, "None",                                                            \
           "What is encoded from here on runs after the fence's last update.",                     \
           OBJECT("fence", Fence), SIZE("before_encoder_stages")) {                                \
        prefix##_wait_for_fence(self->native, a[0].p, a[1].u);                                     \
        return none(state);                                                                        \
    }                                                                                              \
    METHOD0(cls, end_encoding, "None",                                                             \
            "Closes the encoder, before the next one. The object is of no use after it.") {        \
        (void)a;                                                                                   \
        prefix##_end_encoding(self->native);                                                       \
        encoder_close(self);                                                                       \
        return none(state);                                                                        \
    }                                                                                              \
    DEBUG_SIGNPOST_OF(cls, prefix)                                                                 \
    DEBUG_GROUPS_OF(cls, prefix)
#define COMMON_ENTRIES(cls)                                                                        \
    &cls##_barrier_after_encoder_stages, &cls##_barrier_after_queue_stages,                        \
        &cls##_barrier_after_stages, &cls##_update_fence, &cls##_wait_for_fence,                   \
        &cls##_insert_debug_signpost, &cls##_push_debug_group, &cls##_pop_debug_group,             \
        &cls##_end_encoding
#define COMMON_PROPS(RO, RW, cls, prefix)                                                          \
    RO(cls, command_buffer, "MTL4CommandBuffer", "The command buffer it records into.",            \
       Py_NewRef(self->owner))                                                                     \
    LABEL_OF(RW, cls, prefix)
#define DEFINE_ENCODER(cls, text)                                                                  \
    DEFINE_CLASS(cls, text, .methods = cls##_methods, .props = cls##_props,                        \
                 .free_aux = encoder_free, .called = encoder_called)
#endif
