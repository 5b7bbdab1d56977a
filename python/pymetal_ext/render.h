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

// What the attachments of both Metals' pipelines have, of the fields of descriptor c.
#define COLOR_FIELDS(c)                                                                            \
    .pixel_format = (MTLPixelFormat)field_u(c, "pixel_format"),                                    \
    .source_rgb_blend_factor = (MTLBlendFactor)field_u(c, "source_rgb_blend_factor"),              \
    .destination_rgb_blend_factor = (MTLBlendFactor)field_u(c, "destination_rgb_blend_factor"),    \
    .source_alpha_blend_factor = (MTLBlendFactor)field_u(c, "source_alpha_blend_factor"),          \
    .destination_alpha_blend_factor =                                                              \
        (MTLBlendFactor)field_u(c, "destination_alpha_blend_factor"),                              \
    .rgb_blend_operation = (MTLBlendOperation)field_u(c, "rgb_blend_operation"),                   \
    .alpha_blend_operation = (MTLBlendOperation)field_u(c, "alpha_blend_operation"),               \
    .write_mask = (MTLColorWriteMask)field_u(c, "write_mask"),                                     \
    .write_nothing = field_u(c, "write_mask") == 0
PyObject *descriptor_element(State *state, const char *name, PyObject **list, ClassId id,
                             uint64_t index, unsigned n);
const Object *descriptor_existing(const Object *owner, unsigned key);
// Borrows what the descriptor's fields hold.
MTLRenderPassDescriptor render_pass_of(const Object *descriptor);
#endif
