// SPDX-License-Identifier: Apache-2.0
// depth_stencil.c: MTLDepthStencilState: the two tests as the rasteriser takes them.
#include "runtime/program/depth_stencil.h"
#include "runtime/object/validation.h"
#include "runtime/program/indirect.h"

static void destroy(void *self) {
    MTLDepthStencilState *state = self;
    rt_pipeline_forget_handle(state->device, atomic_load(&state->handle));
    rt_label_free(&state->label);
    mtl_release(state->device);
    rt_free(state);
}

RT_CLASS rt_depth_stencil_class = {.name = "MTLDepthStencilState",
                                   .destroy = destroy,
                                   .label_at = offsetof(MTLDepthStencilState, label)};

MTLStencilDescriptor mtl_stencil_descriptor_make(void) {
    return (MTLStencilDescriptor){.stencil_compare_function = MTLCompareFunctionAlways,
                                  .read_mask = UINT32_MAX,
                                  .write_mask = UINT32_MAX};
}

MTLDepthStencilDescriptor mtl_depth_stencil_descriptor_make(void) {
    return (MTLDepthStencilDescriptor){.depth_compare_function = MTLCompareFunctionAlways};
}

static bool is_valid(const MTLStencilDescriptor *d) {
    return (unsigned)d->stencil_compare_function <= MTLCompareFunctionAlways &&
           (unsigned)d->stencil_failure_operation <= MTLStencilOperationDecrementWrap &&
           (unsigned)d->depth_failure_operation <= MTLStencilOperationDecrementWrap &&
           (unsigned)d->depth_stencil_pass_operation <= MTLStencilOperationDecrementWrap;
}

// The defaults neither test nor write: they need no attachment.
static bool does_something(const MTLStencilDescriptor *d) {
    return d->stencil_compare_function != MTLCompareFunctionAlways ||
           d->stencil_failure_operation || d->depth_failure_operation ||
           d->depth_stencil_pass_operation;
}

static DevStencil translate(const MTLStencilDescriptor *d) {
    return (DevStencil){.compare = (uint8_t)d->stencil_compare_function,
                        .fail = (uint8_t)d->stencil_failure_operation,
                        .depth_fail = (uint8_t)d->depth_failure_operation,
                        .pass = (uint8_t)d->depth_stencil_pass_operation,
                        .read_mask = (uint8_t)d->read_mask,
                        .write_mask = (uint8_t)d->write_mask};
}

MTLDepthStencilState *mtl_device_new_depth_stencil_state(MTLDevice *device,
                                                         const MTLDepthStencilDescriptor *d) {
    if (!rt_given(device, d, "descriptor", __func__)) return NULL;
    const MTLStencilDescriptor plain = mtl_stencil_descriptor_make();
    const MTLStencilDescriptor *front = d->front_face_stencil ? d->front_face_stencil : &plain;
    const MTLStencilDescriptor *back = d->back_face_stencil ? d->back_face_stencil : &plain;
    if ((unsigned)d->depth_compare_function > MTLCompareFunctionAlways || !is_valid(front) ||
        !is_valid(back)) {
        rt_misuse(device, RT_RULE_encoder_option, __func__,
                  "a compare function or stencil operation of '%s'", d->label ? d->label : "");
        return NULL;
    }
    MTLDepthStencilState *state = rt_new(&rt_depth_stencil_class, sizeof *state);
    if (!state) return NULL;
    state->device = mtl_retain(device);
    rt_label_set(&state->label, d->label);
    state->depth_compare = (uint8_t)d->depth_compare_function;
    state->depth_write = d->depth_write_enabled;
    state->stencil = does_something(front) || does_something(back);
    state->front = translate(front);
    state->back = translate(back);
    return state;
}

#include "accessors/program/depth_stencil.inc" // plain accessors, from the table
