// SPDX-License-Identifier: Apache-2.0
// buffer.h: making buffers (for device.c) and textures over them.
#ifndef PYMETAL_BUFFER_H
#define PYMETAL_BUFFER_H
#include "object.h"

// Arguments: data, length or None, options.
PyObject *buffer_with_data(State *state, Object *device, const Arg *a);
PyObject *buffer_no_copy(State *state, Object *device, const Arg *a);

MTLTextureDescriptor texture_descriptor(const Object *descriptor); // texture.c
#endif
