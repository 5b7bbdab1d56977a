// SPDX-License-Identifier: Apache-2.0
// argument.c: argument encoders: the memory that they write.
#include <stdlib.h>
#include <string.h>
#include "object.h"

METHOD(ArgumentEncoder, set_argument_buffer, "None", "Where the next calls write.",
       OBJECT("buffer", Buffer), SIZE("offset"), {"array_element", K_U64, 0, "None", 0, true}) {
    if (a[2].py && a[2].py != Py_None)
        mtl_argument_encoder_set_argument_buffer_array_element(self->native, a[0].p, a[1].u,
                                                               a[2].u);
    else
        mtl_argument_encoder_set_argument_buffer(self->native, a[0].p, a[1].u);
    PyObject *old = self->owner; // the encoder writes into the buffer: it lives as long
    self->owner = Py_NewRef(a[0].py);
    Py_XDECREF(old);
    return none(state);
}

METHOD(ArgumentEncoder, set_constant_data, "None",
       "Stores bytes at a data member and those behind it (Metal's constantDataAtIndex).",
       DATA("data"), U32("index")) {
    Py_buffer data;
    char *to = mtl_argument_encoder_constant_data(self->native, a[1].u);
    if (!to || !self->owner) return none(state); // the message is raised
    MTLBuffer *buffer = ((Object *)self->owner)->native;
    const char *end = (const char *)mtl_buffer_contents(buffer) + mtl_buffer_length(buffer);
    if (PyObject_GetBuffer(a[0].py, &data, PyBUF_SIMPLE) < 0) return NULL;
    bool fits = data.len <= end - to;
    if (fits) memcpy(to, data.buf, (size_t)data.len);
    PyBuffer_Release(&data);
    if (!fits)
        return raise_text(state, ERROR_VALIDATION,
                          "ArgumentEncoder.set_constant_data: the data ends past the buffer");
    return none(state);
}
