// SPDX-License-Identifier: Apache-2.0
// buffer.h: making buffers (for device.c), and DLPack.
#ifndef PYMETAL_BUFFER_H
#define PYMETAL_BUFFER_H
#include "object.h"

// Arguments: data, length or None, options.
PyObject *buffer_with_data(State *state, Object *device, const Arg *a);
PyObject *buffer_no_copy(State *state, Object *device, const Arg *a);

// The memory, as PyMetal has it: NULL for a private buffer on every device.
void *cpu_contents(MTLBuffer *buffer);

// Memory as a DLPack capsule, which keeps `owner`; strides, in elements, NULL: without gaps.
PyObject *to_dlpack(PyObject *owner, void *data, uint8_t code, uint8_t bytes, int n,
                    const Py_ssize_t *shape, const Py_ssize_t *strides);
// The arguments of __dlpack__, and whether they ask for what there is; False: an exception.
#define DLPACK_ARGS ANY_OR("stream"), ANY_OR("max_version"), ANY_OR("dl_device"), ANY_OR("copy")
bool dlpack_options(State *state, const Arg *a);
#endif
