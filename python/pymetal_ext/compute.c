// SPDX-License-Identifier: Apache-2.0
// compute.c: descriptors of compute pipelines, and dispatches in PyMetal's form.
#include <stdlib.h>
#include <string.h>
#include "library.h"
#include "metal4.h"

// ---- ComputePipelineDescriptor ----

void pipeline_parts_free(PipelineParts *parts) {
    free(parts->functions);
    free(parts->archives);
    Py_CLEAR(parts->kept);
}

bool pipeline_descriptor(State *state, const Object *o, MTLComputePipelineDescriptor *d,
                         PipelineParts *parts) {
    size_t n_functions, n_archives;
    *parts = (PipelineParts){0};
    parts->kept = field_values(o);
    if (!parts->kept) return false;
    if (!list_natives(state, field_py(o, "linked_functions"), C_Function, "linked_functions",
                      &parts->functions, &n_functions) ||
        !list_natives(state, field_py(o, "binary_archives"), C_BinaryArchive, "binary_archives",
                      &parts->archives, &n_archives)) {
        pipeline_parts_free(parts);
        return false;
    }
    parts->linked.functions = (MTLFunction *const *)parts->functions;
    parts->linked.function_count = n_functions;
    *d = (MTLComputePipelineDescriptor){
        .linked_functions = n_functions ? &parts->linked : NULL,
        .binary_archives = (MTLBinaryArchive *const *)parts->archives,
        .binary_archive_count = n_archives,
    };
    fill_ComputePipelineDescriptor(o, d);
    return true;
}

PyObject *pipeline_with_descriptor(State *state, Object *device, const Object *descriptor,
                                   MTLPipelineOption options) {
    MTLComputePipelineDescriptor d;
    PipelineParts parts;
    MTLError *error = NULL;
    MTLComputePipelineState *pipeline;
    if (!pipeline_descriptor(state, descriptor, &d, &parts)) return NULL;
    WITHOUT_GIL(pipeline = mtl_device_new_compute_pipeline_state_with_descriptor(
                    device->native, &d, options, NULL, &error));
    pipeline_parts_free(&parts);
    if (!pipeline)
        return raise_error(state, ERROR_PIPELINE, "Failed to create compute pipeline: ", error);
    return wrap_new(state, C_ComputePipelineState, pipeline);
}

// ---- ComputeCommandEncoder ----

// PyMetal accepts index 31, one more than Metal has; it binds nothing.
#define BUFFER_INDICES 31

METHOD(ComputeCommandEncoder, set_bytes, "None", "Copies bytes now and binds the copy.",
       BYTES("data"), U32("index")) {
    if (!check_index(state, "ComputeCommandEncoder.set_bytes", "buffer", a[1].u, 31)) return NULL;
    if (a[1].u >= BUFFER_INDICES) return none(state);
    if (a[0].n <= 4096) {
        mtl_compute_command_encoder_set_bytes(self->native, a[0].s, (size_t)a[0].n, a[1].u);
        return none(state);
    }
    // More than Metal's limit, which PyMetal does not enforce: a buffer of its own.
    MTLBuffer *copy = mtl_device_new_buffer_with_bytes(
        mtl_compute_command_encoder_device(self->native), a[0].s, (size_t)a[0].n, 0);
    if (copy) mtl_compute_command_encoder_set_buffer(self->native, copy, 0, a[1].u);
    mtl_release(copy);
    return none(state);
}

METHOD(ComputeCommandEncoder, memory_barrier_with_resources, "None",
       "The same for a list of resources.", ANY("resources")) {
    PyObject *tuple = PySequence_Tuple(a[0].py);
    if (!tuple) return NULL;
    size_t n = (size_t)PyTuple_Size(tuple);
    MTLResource **list = calloc(n + 1, sizeof *list);
    bool good = list != NULL;
    for (size_t i = 0; good && i < n; i++) {
        list[i] = to_resource(state, PyTuple_GetItem(tuple, (Py_ssize_t)i),
                              "memory_barrier_with_resources");
        good = list[i] != NULL;
    }
    if (good) mtl_compute_command_encoder_memory_barrier_with_resources(self->native, list, n);
    if (!list) PyErr_NoMemory();
    free(list);
    Py_DECREF(tuple);
    return good ? none(state) : NULL;
}

// ---- Dispatches ----

static bool all_positive(const Arg *a) { return a[0].u && a[1].u && a[2].u; }

#define SIX(a)                                                                                     \
    (MTLSize){a[0].u, a[1].u, a[2].u}, (MTLSize) { a[3].u, a[4].u, a[5].u }

METHOD(ComputeCommandEncoder, dispatch_threadgroups, "None", "Runs a grid of whole threadgroups.",
       U32("threadgroups_x"), U32("threadgroups_y"), U32("threadgroups_z"), U32("threads_x"),
       U32("threads_y"), U32("threads_z")) {
    const char *name = "ComputeCommandEncoder.dispatch_threadgroups";
    if (!all_positive(a))
        return raise_text(state, ERROR_VALIDATION,
                          "%s: Threadgroup grid dimensions must be greater than 0", name);
    if (!all_positive(a + 3))
        return raise_text(state, ERROR_VALIDATION,
                          "%s: Threads per threadgroup dimensions must be greater than 0", name);
    mtl_compute_command_encoder_dispatch_threadgroups(self->native, SIX(a));
    return none(state);
}

METHOD(ComputeCommandEncoder, dispatch_threads, "None",
       "Runs a grid of threads; threadgroups at its far edges are cut to fit.", U32("threads_x"),
       U32("threads_y"), U32("threads_z"), U32("threads_per_group_x"), U32("threads_per_group_y"),
       U32("threads_per_group_z")) {
    const char *name = "ComputeCommandEncoder.dispatch_threads";
    if (!all_positive(a))
        return raise_text(state, ERROR_VALIDATION,
                          "%s: Thread grid dimensions must be greater than 0", name);
    if (!all_positive(a + 3))
        return raise_text(state, ERROR_VALIDATION,
                          "%s: Threads per threadgroup dimensions must be greater than 0", name);
    mtl_compute_command_encoder_dispatch_threads(self->native, SIX(a));
    return none(state);
}

METHOD(ComputeCommandEncoder, dispatch_threadgroups_indirect, "None",
       "A grid whose three uint32 sizes are read from a buffer when the commands run.",
       OBJECT("indirect_buffer", Buffer), SIZE("indirect_buffer_offset"), U32("threads_x"),
       U32("threads_y"), U32("threads_z")) {
    mtl_compute_command_encoder_dispatch_threadgroups_indirect(self->native, a[0].p, a[1].u,
                                                               (MTLSize){a[2].u, a[3].u, a[4].u});
    return none(state);
}
