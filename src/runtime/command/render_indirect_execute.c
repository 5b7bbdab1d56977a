// SPDX-License-Identifier: Apache-2.0
// render_indirect_execute.c: draws of indirect command buffers.
#include "runtime/command/render.h"

bool rt_draw_list_add_commands(RtDrawList *list, const RtDraw *draw) {
    (void)draw;
    list->x->error = rt_error_new(MTLCommandBufferErrorDomain, MTLCommandBufferErrorInvalidResource,
                                  "Indirect command buffers of draws are not supported.");
    return false;
}
