// SPDX-License-Identifier: Apache-2.0
// library.h: making libraries and pipelines, for device.c and archive.c.
#ifndef PYMETAL_LIBRARY_H
#define PYMETAL_LIBRARY_H
#include "object.h"

// Arguments: source, CompileOptions or None.
PyObject *library_with_source(State *state, Object *device, const Arg *a);

// A MTLComputePipelineDescriptor that points into the Python object and `parts`.
typedef struct PipelineParts {
    MTLLinkedFunctions linked;
    void **functions, **archives;
    PyObject *kept; // what the descriptor points to, if another thread changes the object
} PipelineParts;
bool pipeline_descriptor(State *state, const Object *o, MTLComputePipelineDescriptor *d,
                         PipelineParts *parts);
void pipeline_parts_free(PipelineParts *parts);
PyObject *pipeline_with_descriptor(State *state, Object *device, const Object *descriptor,
                                   MTLPipelineOption options);
#endif
