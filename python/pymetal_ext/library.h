// SPDX-License-Identifier: Apache-2.0
// library.h: making libraries and pipelines, for device.c and archive.c.
#ifndef PYMETAL_LIBRARY_H
#define PYMETAL_LIBRARY_H
#include "object.h"

// Arguments: source, CompileOptions or None.
PyObject *library_with_source(State *state, Object *device, const Arg *a);

typedef struct Strings { // texts that compile options point to
    PyObject *kept, *values;
    MTLPreprocessorMacro *macros;
    const char **paths;
    size_t n_macros, n_paths;
} Strings;
// Of a CompileOptions object. {0} is a valid start of strings. False: an exception.
bool compile_options(const Object *o, Strings *strings, MTLCompileOptions *options);
void strings_free(Strings *strings);

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
