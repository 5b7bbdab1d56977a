// SPDX-License-Identifier: Apache-2.0
// render.c: MTL4RenderCommandEncoder.
#include "runtime/command/render.h"

const RtClass rt_mtl4_render_encoder_class = {.name = "MTL4RenderCommandEncoder",
                                              .owner = rt_encoder_owner};
