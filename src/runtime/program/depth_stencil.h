// SPDX-License-Identifier: Apache-2.0
// depth_stencil.h: MTLDepthStencilState.
#ifndef INGOT_RUNTIME_DEPTH_STENCIL_H
#define INGOT_RUNTIME_DEPTH_STENCIL_H
#include "devices/table/pass.h"
#include "runtime/object/object.h"

struct MTLDepthStencilState {
    RtObject object;
    MTLDevice *device; // retained
    RtLabel label;
    uint8_t depth_compare; // ABI_COMPARE_
    bool depth_write;
    bool stencil; // front and back mean something
    DevStencil front, back;
    _Atomic uint64_t handle; // pipeline_handle.c; 0: nobody asked yet
};
extern RtClass rt_depth_stencil_class;
#endif
