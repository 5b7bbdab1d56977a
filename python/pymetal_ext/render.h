// SPDX-License-Identifier: Apache-2.0
// render.h: making the states of the render half, for device.c, and passes, for queue.c.
#ifndef PYMETAL_RENDER_H
#define PYMETAL_RENDER_H
#include "object.h"

PyObject *render_pipeline_new(State *state, Object *device, const Object *descriptor);
PyObject *depth_stencil_new(State *state, Object *device, const Object *descriptor);
void vertex_descriptor_of(const Object *o, MTLVertexDescriptor *d);
// Elements of a list of descriptors, which the owner keeps as a dictionary by 2 * index: the object
// of an index, made on first use, the same each time; and the one that there is, or NULL.
#define N_COLORS 8
PyObject *descriptor_element(State *state, const char *name, PyObject **list, ClassId id,
                             uint64_t index, unsigned n);
const Object *descriptor_existing(const Object *owner, unsigned key);
// Borrows what the descriptor's fields hold.
MTLRenderPassDescriptor render_pass_of(const Object *descriptor);
#endif
