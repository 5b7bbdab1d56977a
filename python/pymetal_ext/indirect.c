// SPDX-License-Identifier: Apache-2.0
// indirect.c: compute commands of indirect command buffers.
//
// The library's commands do not keep what they use alive. Here they do: a command's object list
// hangs on the IndirectCommandBuffer object, by index.
#include "object.h"

// Keeps an object alive as long as the indirect command buffer: in a dict on its owner field.
static bool keep(Object *self, const char *what, uint64_t index, PyObject *o) {
    Object *buffer = (Object *)self->owner;
    if (!buffer) return true;
    if (!buffer->owner && !(buffer->owner = PyDict_New())) return false;
    PyObject *key =
        PyUnicode_FromFormat("%p %s %llu", self->native, what, (unsigned long long)index);
    int rc = key ? PyDict_SetItem(buffer->owner, key, o) : -1;
    Py_XDECREF(key);
    return rc == 0;
}

METHOD(IndirectComputeCommand, set_compute_pipeline_state, "None",
       "The kernel; made with support_indirect_command_buffers.",
       OBJECT("state", ComputePipelineState)) {
    if (!keep(self, "pipeline", 0, a[0].py)) return NULL;
    mtl_indirect_compute_command_set_compute_pipeline_state(self->native, a[0].p);
    return none(state);
}

METHOD(IndirectComputeCommand, set_kernel_buffer, "None", "Binds a buffer.",
       OBJECT("buffer", Buffer), SIZE("offset"), U32("index")) {
    if (!keep(self, "buffer", a[2].u, a[0].py)) return NULL;
    mtl_indirect_compute_command_set_kernel_buffer(self->native, a[0].p, a[1].u, a[2].u);
    return none(state);
}

#define GRID_ARGS(name)                                                                            \
    U32(name "_x"), U32(name "_y"), U32(name "_z"), U32("threads_per_group_x"),                    \
        U32("threads_per_group_y"), U32("threads_per_group_z")
#define SIX(a)                                                                                     \
    (MTLSize){a[0].u, a[1].u, a[2].u}, (MTLSize) { a[3].u, a[4].u, a[5].u }

METHOD(IndirectComputeCommand, concurrent_dispatch_threadgroups, "None",
       "A grid of whole threadgroups.", GRID_ARGS("threadgroups")) {
    mtl_indirect_compute_command_concurrent_dispatch_threadgroups(self->native, SIX(a));
    return none(state);
}

METHOD(IndirectComputeCommand, concurrent_dispatch_threads, "None", "A grid of threads.",
       GRID_ARGS("threads")) {
    mtl_indirect_compute_command_concurrent_dispatch_threads(self->native, SIX(a));
    return none(state);
}
