// SPDX-License-Identifier: Apache-2.0
// argument.c: argument descriptors and encoders.
#include <stdlib.h>
#include <string.h>
#include "object.h"

static const Field ArgumentDescriptor_fields[] = {
    {ENUM_OR("data_type", DataType, None, 0), "The member's type.", false},
    {SIZE_OR("index", 0), "Its id.", false},
    {SIZE_OR("array_length", 0), "Elements of an array; 0: none.", false},
    {ENUM_OR("access", BindingAccess, ReadOnly, 0), "How it is used.", false},
    {ENUM_OR("texture_type", TextureType, Type1D, 0), "Of textures.", false},
    {SIZE_OR("constant_block_alignment", 0), "0: the type's own.", false},
    NO_FIELD,
};
DEFINE_CLASS(ArgumentDescriptor, "A member of an argument buffer.",
             .fields = ArgumentDescriptor_fields, .factory = "argument_descriptor");

#define ARGUMENT_ENCODER_PROPS(RO, RW)                                                             \
    NUMBER(RO, ArgumentEncoder, argument_encoder, encoded_length, "Bytes of an argument buffer.")  \
    NUMBER(RO, ArgumentEncoder, argument_encoder, alignment, "What its offset is a multiple of.")  \
    DEVICE(RO, ArgumentEncoder, argument_encoder)                                                  \
    LABEL(RW, ArgumentEncoder, argument_encoder)
PROPS(ArgumentEncoder, ARGUMENT_ENCODER_PROPS);

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

METHOD(ArgumentEncoder, set_buffer, "None", "Stores a pointer.", OBJECT("buffer", Buffer),
       SIZE("offset"), U32("index")) {
    mtl_argument_encoder_set_buffer(self->native, a[0].p, a[1].u, a[2].u);
    return none(state);
}

METHOD(ArgumentEncoder, set_texture, "None", "Stores a texture.", OBJECT("texture", Texture),
       U32("index")) {
    mtl_argument_encoder_set_texture(self->native, a[0].p, a[1].u);
    return none(state);
}

METHOD(ArgumentEncoder, set_sampler_state, "None", "Stores a sampler.",
       OBJECT("sampler", SamplerState), U32("index")) {
    mtl_argument_encoder_set_sampler_state(self->native, a[0].p, a[1].u);
    return none(state);
}

METHOD(ArgumentEncoder, set_compute_pipeline_state, "None", "Stores a pipeline.",
       OBJECT("state", ComputePipelineState), U32("index")) {
    mtl_argument_encoder_set_compute_pipeline_state(self->native, a[0].p, a[1].u);
    return none(state);
}

METHOD(ArgumentEncoder, set_indirect_command_buffer, "None", "Stores an indirect command buffer.",
       OBJECT("buffer", IndirectCommandBuffer), U32("index")) {
    mtl_argument_encoder_set_indirect_command_buffer(self->native, a[0].p, a[1].u);
    return none(state);
}

METHOD(ArgumentEncoder, set_visible_function_table, "None", "Stores a function table.",
       OBJECT("table", VisibleFunctionTable), U32("index")) {
    mtl_argument_encoder_set_visible_function_table(self->native, a[0].p, a[1].u);
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

METHOD(ArgumentEncoder, new_argument_encoder_for_buffer_at_index, "ArgumentEncoder | None",
       "An encoder for the struct that the pointer with this id points to.", U32("index")) {
    return wrap_new(
        state, C_ArgumentEncoder,
        mtl_argument_encoder_new_argument_encoder_for_buffer_at_index(self->native, a[0].u));
}

static const Method *const ArgumentEncoder_methods[] = {
    &ArgumentEncoder_set_argument_buffer,
    &ArgumentEncoder_set_buffer,
    &ArgumentEncoder_set_texture,
    &ArgumentEncoder_set_sampler_state,
    &ArgumentEncoder_set_compute_pipeline_state,
    &ArgumentEncoder_set_indirect_command_buffer,
    &ArgumentEncoder_set_visible_function_table,
    &ArgumentEncoder_set_constant_data,
    &ArgumentEncoder_new_argument_encoder_for_buffer_at_index,
    NULL,
};
DEFINE_CLASS(ArgumentEncoder, "Fills argument buffers.", .methods = ArgumentEncoder_methods,
             .props = ArgumentEncoder_props);
