// SPDX-License-Identifier: Apache-2.0
// metal4_render.c: Metal 4's render passes and MTL4RenderCommandEncoder.
#include "metal4.h"
#include "render.h"

// ---- The pass ----

static const Field MTL4RenderPassDescriptor_fields[] = {
    {OWN("depth_attachment", RenderPassDepthAttachmentDescriptor), "Depth.", true},
    {OWN("stencil_attachment", RenderPassStencilAttachmentDescriptor), "Stencil.", true},
    {OPTIONAL("visibility_result_buffer", Buffer), "Where visible samples are counted.", false},
    {ENUM_OR("visibility_result_type", VisibilityResultType, Reset, 0), "Or added up.", false},
    {SIZE_OR("render_target_array_length", 0), "Layers; 0: the attachments'.", false},
    {SIZE_OR("render_target_width", 0), "0: the attachments'.", false},
    {SIZE_OR("render_target_height", 0), "0: the attachments'.", false},
    {SIZE_OR("default_raster_sample_count", 0), "Without attachments.", false},
    {BOOL_OR("support_color_attachment_mapping", false), "Attachments may be mapped.", false},
    {SIZE_OR("tile_width", 0), "Of tile functions; 0: chosen.", false},
    {SIZE_OR("tile_height", 0), "Of tile functions; 0: chosen.", false},
    {SIZE_OR("imageblock_sample_length", 0), "Bytes of a sample in tile memory.", false},
    {SIZE_OR("threadgroup_memory_length", 0), "Bytes of tile functions.", false},
    NO_FIELD,
};

METHOD(MTL4RenderPassDescriptor, color_attachment, "RenderPassColorAttachmentDescriptor",
       "The colour attachment of an index.", U32("index")) {
    return descriptor_element(state, "MTL4RenderPassDescriptor.color_attachment", &self->owner,
                              C_RenderPassColorAttachmentDescriptor, a[0].u, N_COLORS);
}

static const Method *const MTL4RenderPassDescriptor_methods[] = {
    &MTL4RenderPassDescriptor_color_attachment, NULL};
DEFINE_CLASS(MTL4RenderPassDescriptor, "What a render pass of Metal 4 draws into.",
             .methods = MTL4RenderPassDescriptor_methods, .fields = MTL4RenderPassDescriptor_fields,
             .factory = "render_pass_descriptor");

MTL4RenderPassDescriptor mtl4_render_pass_of(const Object *o) {
    MTL4RenderPassDescriptor d = mtl4_render_pass_descriptor_make();
    const MTLRenderPassDescriptor attachments = render_pass_of(o);
    memcpy(d.color_attachments, attachments.color_attachments, sizeof d.color_attachments);
    d.depth_attachment = attachments.depth_attachment;
    d.stencil_attachment = attachments.stencil_attachment;
    d.visibility_result_buffer = field_p(o, "visibility_result_buffer");
    d.visibility_result_type = (MTLVisibilityResultType)field_u(o, "visibility_result_type");
    d.render_target_array_length = field_u(o, "render_target_array_length");
    d.render_target_width = field_u(o, "render_target_width");
    d.render_target_height = field_u(o, "render_target_height");
    d.default_raster_sample_count = field_u(o, "default_raster_sample_count");
    d.support_color_attachment_mapping = field_b(o, "support_color_attachment_mapping");
    d.tile_width = field_u(o, "tile_width");
    d.tile_height = field_u(o, "tile_height");
    d.imageblock_sample_length = field_u(o, "imageblock_sample_length");
    d.threadgroup_memory_length = field_u(o, "threadgroup_memory_length");
    return d;
}

// ---- The encoder: state ----

#define ENCODER(fn, doc, ...) METHOD(MTL4RenderCommandEncoder, fn, "None", doc, __VA_ARGS__)
#define CALL(fn, ...)                                                                              \
    mtl4_render_command_encoder_##fn(self->native, __VA_ARGS__);                                   \
    return none(state)

#define RENDER_PROPS(RO, RW)                                                                       \
    NUMBER_OF(RO, MTL4RenderCommandEncoder, mtl4_render_command_encoder, tile_width,               \
              "Pixels of a tile.")                                                                 \
    NUMBER_OF(RO, MTL4RenderCommandEncoder, mtl4_render_command_encoder, tile_height,              \
              "Pixels of a tile.")                                                                 \
    COMMON_PROPS(RO, RW, MTL4RenderCommandEncoder, mtl4_render_command_encoder)
PROPS(MTL4RenderCommandEncoder, RENDER_PROPS);

ENCODER(set_render_pipeline_state, "The pipeline to draw with.",
        OBJECT("state", RenderPipelineState)) {
    CALL(set_render_pipeline_state, a[0].p);
}

ENCODER(set_argument_table, "Where functions of these RenderStage bits find their arguments.",
        NULLABLE("table", MTL4ArgumentTable), U32("stages")) {
    CALL(set_argument_table, a[0].p, (MTLRenderStages)a[1].u);
}

ENCODER(set_depth_stencil_state, "The tests of depth and stencil.",
        OBJECT("state", DepthStencilState)) {
    CALL(set_depth_stencil_state, a[0].p);
}

ENCODER(set_stencil_reference_value, "What stencil values are compared with.", U32("value")) {
    CALL(set_stencil_reference_value, (uint32_t)a[0].u);
}

ENCODER(set_stencil_front_back_reference_values, "The same for each side.", U32("front"),
        U32("back")) {
    CALL(set_stencil_front_back_reference_values, (uint32_t)a[0].u, (uint32_t)a[1].u);
}

ENCODER(set_viewport, "Where the image lies in the attachment.", DOUBLE("x"), DOUBLE("y"),
        DOUBLE("width"), DOUBLE("height"), DOUBLE_OR("near", 0.0), DOUBLE_OR("far", 1.0)) {
    CALL(set_viewport, ((MTLViewport){a[0].f, a[1].f, a[2].f, a[3].f, a[4].f, a[5].f}));
}

ENCODER(set_scissor_rect, "Nothing is drawn outside.", SIZE("x"), SIZE("y"), SIZE("width"),
        SIZE("height")) {
    CALL(set_scissor_rect, ((MTLScissorRect){a[0].u, a[1].u, a[2].u, a[3].u}));
}

ENCODER(set_front_facing_winding, "Which triangles face the front.",
        ENUMERATION("winding", Winding)) {
    CALL(set_front_facing_winding, (MTLWinding)a[0].u);
}

ENCODER(set_cull_mode, "Which triangles are dropped.", ENUMERATION("mode", CullMode)) {
    CALL(set_cull_mode, (MTLCullMode)a[0].u);
}

ENCODER(set_depth_clip_mode, "What becomes of depths outside.",
        ENUMERATION("mode", DepthClipMode)) {
    CALL(set_depth_clip_mode, (MTLDepthClipMode)a[0].u);
}

ENCODER(set_depth_test_min_bound, "Only where the stored depth lies between these.",
        DOUBLE("min_bound"), DOUBLE("max_bound")) {
    CALL(set_depth_test_min_bound, (float)a[0].f, (float)a[1].f);
}

ENCODER(set_depth_bias, "What is added to depths.", DOUBLE("depth_bias"), DOUBLE("slope_scale"),
        DOUBLE("clamp")) {
    CALL(set_depth_bias, (float)a[0].f, (float)a[1].f, (float)a[2].f);
}

ENCODER(set_triangle_fill_mode, "Filled triangles or their edges.",
        ENUMERATION("mode", TriangleFillMode)) {
    CALL(set_triangle_fill_mode, (MTLTriangleFillMode)a[0].u);
}

ENCODER(set_blend_color, "The constant colour of blending.", DOUBLE("red"), DOUBLE("green"),
        DOUBLE("blue"), DOUBLE("alpha")) {
    CALL(set_blend_color, (float)a[0].f, (float)a[1].f, (float)a[2].f, (float)a[3].f);
}

ENCODER(set_visibility_result_mode, "Whether samples are counted, and where.",
        ENUMERATION("mode", VisibilityResultMode), SIZE("offset")) {
    CALL(set_visibility_result_mode, (MTLVisibilityResultMode)a[0].u, a[1].u);
}

ENCODER(set_color_store_action, "Of an attachment whose action was Unknown.",
        ENUMERATION("action", StoreAction), SIZE("index")) {
    CALL(set_color_store_action, (MTLStoreAction)a[0].u, a[1].u);
}

ENCODER(set_depth_store_action, "The same for depth.", ENUMERATION("action", StoreAction)) {
    CALL(set_depth_store_action, (MTLStoreAction)a[0].u);
}

ENCODER(set_stencil_store_action, "The same for stencil.", ENUMERATION("action", StoreAction)) {
    CALL(set_stencil_store_action, (MTLStoreAction)a[0].u);
}

ENCODER(set_threadgroup_memory_length, "Bytes for a parameter of tile functions.", SIZE("length"),
        SIZE("offset"), SIZE("index")) {
    CALL(set_threadgroup_memory_length, a[0].u, a[1].u, a[2].u);
}

ENCODER(set_object_threadgroup_memory_length, "Bytes for a parameter of object functions.",
        SIZE("length"), SIZE("index")) {
    CALL(set_object_threadgroup_memory_length, a[0].u, a[1].u);
}

ENCODER(set_vertex_amplification_count, "How many views each vertex is drawn to.", SIZE("count")) {
    CALL(set_vertex_amplification_count, a[0].u, NULL);
}

// ---- Draws ----

ENCODER(draw_primitives, "Draws vertices, and instances of them.",
        ENUMERATION("type", PrimitiveType), SIZE("vertex_start"), SIZE("vertex_count"),
        SIZE_OR("instance_count", 1), SIZE_OR("base_instance", 0)) {
    CALL(draw_primitives_instanced, (MTLPrimitiveType)a[0].u, a[1].u, a[2].u, a[3].u, a[4].u);
}

ENCODER(draw_indexed_primitives,
        "Draws vertices by indices at an address; those beyond the length are 0.",
        ENUMERATION("type", PrimitiveType), SIZE("index_count"),
        ENUMERATION("index_type", IndexType), SIZE("index_buffer"), SIZE("index_buffer_length"),
        SIZE_OR("instance_count", 1), SIZE_OR("base_vertex", 0), SIZE_OR("base_instance", 0)) {
    CALL(draw_indexed_primitives_instanced, (MTLPrimitiveType)a[0].u, a[1].u, (MTLIndexType)a[2].u,
         a[3].u, a[4].u, a[5].u, (int64_t)a[6].u, a[7].u);
}

ENCODER(draw_primitives_indirect, "A draw whose four uint32 are at an address when it runs.",
        ENUMERATION("type", PrimitiveType), SIZE("indirect_buffer")) {
    CALL(draw_primitives_indirect, (MTLPrimitiveType)a[0].u, a[1].u);
}

ENCODER(draw_indexed_primitives_indirect, "The same by indices, with five uint32.",
        ENUMERATION("type", PrimitiveType), ENUMERATION("index_type", IndexType),
        SIZE("index_buffer"), SIZE("index_buffer_length"), SIZE("indirect_buffer")) {
    CALL(draw_indexed_primitives_indirect, (MTLPrimitiveType)a[0].u, (MTLIndexType)a[1].u, a[2].u,
         a[3].u, a[4].u);
}

ENCODER(draw_mesh_threadgroups, "Runs a grid of threadgroups of object or mesh functions.",
        GRID("threadgroups_per_grid"), GRID("threads_per_object_threadgroup"),
        GRID("threads_per_mesh_threadgroup")) {
    CALL(draw_mesh_threadgroups, to_grid(a[0].py), to_grid(a[1].py), to_grid(a[2].py));
}

ENCODER(draw_mesh_threads, "Runs a grid of threads of object or mesh functions.",
        GRID("threads_per_grid"), GRID("threads_per_object_threadgroup"),
        GRID("threads_per_mesh_threadgroup")) {
    CALL(draw_mesh_threads, to_grid(a[0].py), to_grid(a[1].py), to_grid(a[2].py));
}

ENCODER(draw_mesh_threadgroups_indirect, "A grid whose three uint32 are at an address.",
        SIZE("indirect_buffer"), GRID("threads_per_object_threadgroup"),
        GRID("threads_per_mesh_threadgroup")) {
    CALL(draw_mesh_threadgroups_indirect, a[0].u, to_grid(a[1].py), to_grid(a[2].py));
}

ENCODER(dispatch_threads_per_tile, "Runs the pipeline's tile function.", GRID("threads_per_tile")) {
    CALL(dispatch_threads_per_tile, to_grid(a[0].py));
}

ENCODER(write_timestamp, "The time when the pass is done.",
        ENUMERATION("granularity", MTL4TimestampGranularity), U32("after_stage"),
        OBJECT("heap", MTL4CounterHeap), SIZE("index")) {
    CALL(write_timestamp, (MTL4TimestampGranularity)a[0].u, (MTLRenderStages)a[1].u, a[2].p,
         a[3].u);
}

COMMON_METHODS(MTL4RenderCommandEncoder, mtl4_render_command_encoder)

static const Method *const MTL4RenderCommandEncoder_methods[] = {
    &MTL4RenderCommandEncoder_set_render_pipeline_state,
    &MTL4RenderCommandEncoder_set_argument_table,
    &MTL4RenderCommandEncoder_set_depth_stencil_state,
    &MTL4RenderCommandEncoder_set_stencil_reference_value,
    &MTL4RenderCommandEncoder_set_stencil_front_back_reference_values,
    &MTL4RenderCommandEncoder_set_viewport,
    &MTL4RenderCommandEncoder_set_scissor_rect,
    &MTL4RenderCommandEncoder_set_front_facing_winding,
    &MTL4RenderCommandEncoder_set_cull_mode,
    &MTL4RenderCommandEncoder_set_depth_clip_mode,
    &MTL4RenderCommandEncoder_set_depth_test_min_bound,
    &MTL4RenderCommandEncoder_set_depth_bias,
    &MTL4RenderCommandEncoder_set_triangle_fill_mode,
    &MTL4RenderCommandEncoder_set_blend_color,
    &MTL4RenderCommandEncoder_set_visibility_result_mode,
    &MTL4RenderCommandEncoder_set_color_store_action,
    &MTL4RenderCommandEncoder_set_depth_store_action,
    &MTL4RenderCommandEncoder_set_stencil_store_action,
    &MTL4RenderCommandEncoder_set_threadgroup_memory_length,
    &MTL4RenderCommandEncoder_set_object_threadgroup_memory_length,
    &MTL4RenderCommandEncoder_set_vertex_amplification_count,
    &MTL4RenderCommandEncoder_draw_primitives,
    &MTL4RenderCommandEncoder_draw_indexed_primitives,
    &MTL4RenderCommandEncoder_draw_primitives_indirect,
    &MTL4RenderCommandEncoder_draw_indexed_primitives_indirect,
    &MTL4RenderCommandEncoder_draw_mesh_threadgroups,
    &MTL4RenderCommandEncoder_draw_mesh_threads,
    &MTL4RenderCommandEncoder_draw_mesh_threadgroups_indirect,
    &MTL4RenderCommandEncoder_dispatch_threads_per_tile,
    &MTL4RenderCommandEncoder_write_timestamp,
    COMMON_ENTRIES(MTL4RenderCommandEncoder),
    NULL,
};
DEFINE_ENCODER(MTL4RenderCommandEncoder, "Records the draws of a render pass.");
