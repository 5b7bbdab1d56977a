// SPDX-License-Identifier: Apache-2.0
// metal4_render.c: Metal 4's render passes and MTL4RenderCommandEncoder.
#include "metal4.h"
#include "render.h"

// ---- The pass ----

METHOD(MTL4RenderPassDescriptor, color_attachment, "RenderPassColorAttachmentDescriptor",
       "The colour attachment of an index.", U32("index")) {
    return descriptor_element(state, "MTL4RenderPassDescriptor.color_attachment", &self->owner,
                              C_RenderPassColorAttachmentDescriptor, a[0].u, N_COLORS);
}

MTL4RenderPassDescriptor mtl4_render_pass_of(const Object *o) {
    MTL4RenderPassDescriptor d = mtl4_render_pass_descriptor_make();
    const MTLRenderPassDescriptor attachments = render_pass_of(o);
    memcpy(d.color_attachments, attachments.color_attachments, sizeof d.color_attachments);
    d.depth_attachment = attachments.depth_attachment;
    d.stencil_attachment = attachments.stencil_attachment;
    fill_MTL4RenderPassDescriptor(o, &d);
    return d;
}

// ---- The encoder: PyMetal gives structs as numbers ----

METHOD(MTL4RenderCommandEncoder, set_viewport, "None", "Where the image lies in the attachment.",
       DOUBLE("x"), DOUBLE("y"), DOUBLE("width"), DOUBLE("height"), DOUBLE_OR("near", 0.0),
       DOUBLE_OR("far", 1.0)) {
    mtl4_render_command_encoder_set_viewport(
        self->native, (MTLViewport){a[0].f, a[1].f, a[2].f, a[3].f, a[4].f, a[5].f});
    return none(state);
}

METHOD(MTL4RenderCommandEncoder, set_scissor_rect, "None", "Nothing is drawn outside.", SIZE("x"),
       SIZE("y"), SIZE("width"), SIZE("height")) {
    mtl4_render_command_encoder_set_scissor_rect(self->native,
                                                 (MTLScissorRect){a[0].u, a[1].u, a[2].u, a[3].u});
    return none(state);
}
