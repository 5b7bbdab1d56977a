// SPDX-License-Identifier: Apache-2.0
// frame.c: a program with one command of each kind, for captures: dispatches (direct, indirect, of
// an indirect command buffer), a render pass with an indexed, an indirect and a textured draw, and
// copies of buffers and texels. version1.ingottrace is what it did when captures had version 1.
#include "../../../examples/scene.h"

enum { SIDE = 16, N = SIDE * SIDE };

static const char source[] =
    "#include <metal_stdlib>\n"
    "using namespace metal;\n"
    "kernel void paint(device uint *texels [[buffer(0)]], device uint *sizes [[buffer(1)]],\n"
    "                  constant uint &key [[buffer(2)]], uint i [[thread_position_in_grid]]) {\n"
    "    texels[i] = (i * 2654435761u) ^ key;\n"
    "    if (i < 3) sizes[i] = i == 0 ? 4 : 1; }\n"
    "kernel void total(device const uint *in [[buffer(0)]], device atomic_uint *out "
    "[[buffer(1)]],\n"
    "                  threadgroup uint *part [[threadgroup(0)]],\n"
    "                  uint i [[thread_position_in_grid]], uint t "
    "[[thread_position_in_threadgroup]]) {\n"
    "    part[t] = in[i]; threadgroup_barrier(mem_flags::mem_threadgroup);\n"
    "    atomic_fetch_add_explicit(out, part[63 - t], memory_order_relaxed); }\n"
    "struct In { float2 at [[attribute(0)]]; float2 where [[attribute(1)]]; };\n"
    "struct Out { float4 at [[position]]; float2 where; };\n"
    "vertex Out corner(In in [[stage_in]], constant float2 &turn [[buffer(1)]]) {\n"
    "    return {float4(in.at.x * turn.x - in.at.y * turn.y, in.at.x * turn.y + in.at.y * turn.x,\n"
    "                   0.5, 1), in.where}; }\n"
    "fragment float4 lit(Out in [[stage_in]], texture2d<float> picture [[texture(0)]],\n"
    "                    sampler near [[sampler(0)]]) { return picture.sample(near, in.where); }\n";

static const float corners[] = {-1, -1, 0, 0, 1, -1, 2, 0, 1, 1, 2, 2, -1, 1, 0, 2};
static const uint16_t indices[] = {0, 1, 2, 0, 2, 3};
static const uint32_t how_many[] = {6, 1, 0, 0, 0}; // of an indexed draw

static MTLBuffer *of(MTLDevice *device, const char *label, const void *bytes, size_t n_bytes) {
    MTLBuffer *b = mtl_device_new_buffer(device, n_bytes, 0);
    if (bytes) memcpy(mtl_buffer_contents(b), bytes, n_bytes);
    mtl_buffer_set_label(b, label);
    return b;
}

static MTLComputePipelineState *kernel(MTLDevice *device, MTLLibrary *library, const char *name) {
    MTLError *error = NULL;
    MTLFunction *f = mtl_library_new_function(library, name);
    MTLComputePipelineState *p = mtl_device_new_compute_pipeline_state_with_descriptor(
        device,
        &(MTLComputePipelineDescriptor){.compute_function = f,
                                        .support_indirect_command_buffers = true},
        0, NULL, &error);
    require(p, error, name);
    mtl_release(f);
    return p;
}

static void compute(MTLDevice *device, MTLLibrary *library, MTLCommandBuffer *commands,
                    MTLBuffer *texels, MTLBuffer *sums) {
    MTLComputePipelineState *paint = kernel(device, library, "paint"),
                            *total = kernel(device, library, "total");
    MTLBuffer *sizes = of(device, "sizes", NULL, 12);
    MTLIndirectCommandBuffer *list = mtl_device_new_indirect_command_buffer(
        device,
        &(MTLIndirectCommandBufferDescriptor){.command_types =
                                                  MTLIndirectCommandTypeConcurrentDispatch,
                                              .max_kernel_buffer_bind_count = 2},
        1, MTLResourceStorageModeShared);
    require(list, NULL, "indirect command buffer");
    MTLIndirectComputeCommand *c =
        mtl_indirect_command_buffer_indirect_compute_command_at_index(list, 0);
    mtl_indirect_compute_command_set_compute_pipeline_state(c, total);
    mtl_indirect_compute_command_set_kernel_buffer(c, texels, 0, 0);
    mtl_indirect_compute_command_set_kernel_buffer(c, sums, 0, 1);
    mtl_indirect_compute_command_set_threadgroup_memory_length(c, 256, 0);
    mtl_indirect_compute_command_concurrent_dispatch_threadgroups(c, mtl_size_make(2, 1, 1),
                                                                  mtl_size_make(64, 1, 1));
    MTLComputeCommandEncoder *e = mtl_command_buffer_compute_command_encoder(commands);
    mtl_compute_command_encoder_set_compute_pipeline_state(e, paint);
    mtl_compute_command_encoder_set_buffer(e, texels, 0, 0);
    mtl_compute_command_encoder_set_buffer(e, sizes, 0, 1);
    mtl_compute_command_encoder_set_bytes(e, &(uint32_t){0x5a5a5a5a}, 4, 2);
    mtl_compute_command_encoder_dispatch_threads(e, mtl_size_make(N, 1, 1),
                                                 mtl_size_make(64, 1, 1));
    mtl_compute_command_encoder_set_compute_pipeline_state(e, total);
    mtl_compute_command_encoder_set_buffer(e, sums, 0, 1);
    mtl_compute_command_encoder_set_threadgroup_memory_length(e, 256, 0);
    mtl_compute_command_encoder_dispatch_threadgroups_indirect(e, sizes, 0,
                                                               mtl_size_make(64, 1, 1));
    mtl_compute_command_encoder_use_resource(e, (MTLResource *)texels, MTLResourceUsageRead);
    mtl_compute_command_encoder_use_resource(e, (MTLResource *)sums, MTLResourceUsageWrite);
    mtl_compute_command_encoder_execute_commands_in_buffer(e, list, mtl_range_make(0, 1));
    mtl_compute_command_encoder_end_encoding(e);
}

static MTLRenderPipelineState *drawing(MTLDevice *device, MTLLibrary *library) {
    MTLVertexDescriptor v = {0};
    v.attributes[0].format = v.attributes[1].format = MTLVertexFormatFloat2;
    v.attributes[1].offset = 8;
    v.layouts[0].stride = 16;
    return make_pipeline(
        device, library, "corner", "lit",
        (MTLRenderPipelineDescriptor){
            .vertex_descriptor = &v,
            .depth_attachment_pixel_format = MTLPixelFormatDepth32Float,
            .color_attachments[0] = {.pixel_format = MTLPixelFormatRGBA8Unorm,
                                     .blending_enabled = true,
                                     .source_rgb_blend_factor = MTLBlendFactorSourceAlpha,
                                     .destination_rgb_blend_factor =
                                         MTLBlendFactorOneMinusSourceAlpha}});
}

static void render(MTLDevice *device, MTLLibrary *library, MTLCommandBuffer *commands,
                   MTLTexture *picture, MTLTexture *target) {
    MTLTexture *depth =
        make_target(device, MTLPixelFormatDepth32Float, SIDE, SIDE, 1, MTLStorageModeMemoryless);
    MTLRenderPassDescriptor *pass = &(MTLRenderPassDescriptor){
        .color_attachments[0] = {.texture = target,
                                 .load_action = MTLLoadActionClear,
                                 .store_action = MTLStoreActionStore,
                                 .clear_color = {0.25, 0.5, 0.75, 1}},
        .depth_attachment = {
            .texture = depth, .load_action = MTLLoadActionClear, .clear_depth = 1}};
    MTLRenderCommandEncoder *e = mtl_command_buffer_render_command_encoder(commands, pass);
    MTLBuffer *vertices = of(device, "vertices", corners, sizeof corners);
    MTLBuffer *order = of(device, "order", indices, sizeof indices);
    mtl_render_command_encoder_set_label(e, "picture");
    mtl_render_command_encoder_set_render_pipeline_state(e, drawing(device, library));
    mtl_render_command_encoder_set_vertex_buffer(e, vertices, 0, 0);
    mtl_render_command_encoder_set_fragment_texture(e, picture, 0);
    mtl_render_command_encoder_set_fragment_sampler_state(
        e,
        mtl_device_new_sampler_state(
            device, &(MTLSamplerDescriptor){.min_filter = MTLSamplerMinMagFilterLinear,
                                            .s_address_mode = MTLSamplerAddressModeRepeat}),
        0);
    mtl_render_command_encoder_set_vertex_bytes(e, (float[2]){1, 0}, 8, 1);
    mtl_render_command_encoder_draw_indexed_primitives(e, MTLPrimitiveTypeTriangle, 6,
                                                       MTLIndexTypeUInt16, order, 0);
    mtl_render_command_encoder_set_vertex_bytes(e, (float[2]){0.75f, 0.5f}, 8, 1);
    mtl_render_command_encoder_set_scissor_rect(e, (MTLScissorRect){2, 2, 9, 9});
    mtl_render_command_encoder_draw_indexed_primitives_indirect(
        e, MTLPrimitiveTypeTriangle, MTLIndexTypeUInt16, order, 0,
        of(device, "how many", how_many, sizeof how_many), 0);
    mtl_render_command_encoder_draw_primitives(e, MTLPrimitiveTypePoint, 0, 4);
    mtl_render_command_encoder_end_encoding(e);
}

int main(void) {
    MTLDevice *device = default_device();
    MTLCommandQueue *queue = mtl_device_new_command_queue(device);
    MTLLibrary *library = library_of(device, source);
    MTLBuffer *texels = of(device, "texels", NULL, 4 * N), *sums = of(device, "sums", NULL, 4),
              *result = of(device, "result", NULL, 8 * N);
    MTLTexture *picture =
        make_target(device, MTLPixelFormatRGBA8Unorm, SIDE, SIDE, 1, MTLStorageModePrivate);
    MTLTexture *target =
        make_target(device, MTLPixelFormatRGBA8Unorm, SIDE, SIDE, 1, MTLStorageModeShared);
    const MTLSize all = mtl_size_make(SIDE, SIDE, 1);
    MTLCommandBuffer *commands = mtl_command_queue_command_buffer(queue);
    compute(device, library, commands, texels, sums);
    MTLBlitCommandEncoder *b = mtl_command_buffer_blit_command_encoder(commands);
    mtl_blit_command_encoder_copy_from_buffer_to_texture(b, texels, 0, 4 * SIDE, 4 * N, all,
                                                         picture, 0, 0, (MTLOrigin){0}, 0);
    mtl_blit_command_encoder_fill_buffer(b, result, mtl_range_make(0, 4 * N), 7);
    mtl_blit_command_encoder_copy_from_buffer(b, texels, 64, result, 128, 256);
    mtl_blit_command_encoder_end_encoding(b);
    render(device, library, commands, picture, target);
    b = mtl_command_buffer_blit_command_encoder(commands);
    mtl_blit_command_encoder_copy_from_texture_to_buffer(b, target, 0, 0, (MTLOrigin){0}, all,
                                                         result, 4 * N, 4 * SIDE, 4 * N, 0);
    mtl_blit_command_encoder_end_encoding(b);
    finish(commands);
    fwrite(mtl_buffer_contents(result), 1, 8 * N, stdout);
    return 0;
}
