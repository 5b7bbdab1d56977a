// SPDX-License-Identifier: Apache-2.0
// reflection.c: what a kernel's arguments are, beyond what the table says.
#include "object.h"

static PyObject *dimensions_of(const Object *self) {
    MTLTensorExtents extents = mtl_binding_dimensions(self->native);
    return from_extents(&extents);
}

#define BINDING_PROPS(RO, RW)                                                                      \
    RO(Binding, dimensions, "tuple[int, ...]",                                                     \
       "Of a tensor, the innermost first; -1: only the tensor knows.", dimensions_of(self))
PROPS(Binding, BINDING_PROPS);
