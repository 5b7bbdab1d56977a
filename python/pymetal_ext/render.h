// SPDX-License-Identifier: Apache-2.0
// render.h: making the states of the render half, for device.c, and passes, for queue.c.
#ifndef PYMETAL_RENDER_H
#define PYMETAL_RENDER_H
#include "object.h"

PyObject *render_pipeline_new(State *state, Object *device, const Object *descriptor);
PyObject *depth_stencil_new(State *state, Object *device, const Object *descriptor);
// Borrows what the descriptor's fields hold.
MTLRenderPassDescriptor render_pass_of(const Object *descriptor);
#endif
