// SPDX-License-Identifier: Apache-2.0
// memory.c: places in heaps, and what counts as a resource.
#include "object.h"

METHOD(Heap, new_buffer, "Buffer | None",
       "A buffer in the heap; None if there is no room. In a placement heap: at offset.",
       SIZE("length"), U32("options"), {"offset", K_U64, 0, "None", 0, true}) {
    MTLResourceOptions options = (MTLResourceOptions)a[1].u;
    if (a[2].py && a[2].py != Py_None)
        return wrap_new(state, C_Buffer,
                        mtl_heap_new_buffer_with_offset(self->native, a[0].u, options, a[2].u));
    return wrap_new(state, C_Buffer, mtl_heap_new_buffer(self->native, a[0].u, options));
}

METHOD(Heap, new_texture, "Texture | None",
       "A texture in the heap; None if there is no room. In a placement heap: at offset.",
       OBJECT("descriptor", TextureDescriptor), {"offset", K_U64, 0, "None", 0, true}) {
    MTLTextureDescriptor d = mtl_texture_descriptor_make_default();
    fill_TextureDescriptor(a[0].o, &d);
    if (a[1].py && a[1].py != Py_None)
        return wrap_new(state, C_Texture,
                        mtl_heap_new_texture_with_offset(self->native, &d, a[1].u));
    return wrap_new(state, C_Texture, mtl_heap_new_texture(self->native, &d));
}

MTLResource *to_resource(State *state, PyObject *o, const char *name) {
    static const ClassId kinds[] = {C_Buffer,
                                    C_Texture,
                                    C_Tensor,
                                    C_IndirectCommandBuffer,
                                    C_VisibleFunctionTable,
                                    C_AccelerationStructure,
                                    C_IntersectionFunctionTable};
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
        if (object_is(state, o, kinds[i])) return ((Object *)o)->native;
    PyErr_Format(PyExc_TypeError,
                 "%s(): incompatible function arguments: %R is not a resource (Buffer, Texture, "
                 "Tensor, IndirectCommandBuffer, VisibleFunctionTable, AccelerationStructure, "
                 "IntersectionFunctionTable)",
                 name, o);
    return NULL;
}

MTLAllocation *to_allocation(State *state, PyObject *o) {
    if (object_is(state, o, C_Heap)) return ((Object *)o)->native;
    return (MTLAllocation *)to_resource(state, o, "ResidencySet");
}
