// SPDX-License-Identifier: Apache-2.0
// bench_graphics.c: the scenes of graphics_scenes.h through the public Metal API: a frame is a
// command buffer, encoded, committed and waited for.
//
//     bench_graphics graphics.metal SCENE [SECONDS] [PICTURE.png]
//     bench_graphics graphics.metal SCENE first     ms from nothing to the first picture
#include <ingot/metal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "../examples/png.h"
#include "../examples/util.h"
#include "graphics_scenes.h"

typedef struct Bench {
    const Scene *scene;
    SceneData data;
    MTLDevice *device;
    MTLCommandQueue *queue;
    MTLRenderPipelineState *pipeline;
    MTLDepthStencilState *nearer;
    MTLBuffer *vertices, *indices;
    MTLTexture *color, *depth, *resolved, *texture;
    MTLSamplerState *sampler;
    float uniforms[20];
} Bench;

static char *read_text(const char *path) {
    FILE *f = fopen(path, "rb");
    require(f, NULL, path);
    fseek(f, 0, SEEK_END);
    long n = ftell(f);
    char *text = calloc((size_t)n + 1, 1);
    rewind(f);
    if (fread(text, 1, (size_t)n, f) != (size_t)n) require(NULL, NULL, path);
    fclose(f);
    return text;
}

static MTLTexture *target(const Bench *b, MTLPixelFormat format, size_t samples) {
    MTLTextureDescriptor d =
        mtl_texture_descriptor_2d(format, b->scene->width, b->scene->height, false);
    d.usage = MTLTextureUsageRenderTarget;
    d.sample_count = samples;
    if (samples > 1) d.texture_type = MTLTextureType2DMultisample;
    if (samples > 1 || format == MTLPixelFormatDepth32Float) d.storage_mode = MTLStorageModePrivate;
    MTLTexture *t = mtl_device_new_texture(b->device, &d);
    require(t, NULL, "target");
    return t;
}

static void make_pipeline(Bench *b, const char *source) {
    const Scene *s = b->scene;
    bool lit = s->kind == SCENE_SOUP || s->kind == SCENE_GRID;
    MTLError *error = NULL;
    MTLLibrary *library = mtl_device_new_library_with_source(b->device, source, NULL, &error);
    require(library, error, "library");
    MTLVertexFormat format = lit ? MTLVertexFormatFloat3 : MTLVertexFormatFloat2;
    MTLVertexDescriptor vertices = {.attributes[0] = {.format = format},
                                    .attributes[1] = {.format = format, .offset = lit ? 12 : 8},
                                    .layouts[0].stride = lit ? 24 : 16};
    MTLRenderPipelineDescriptor d = {
        .vertex_function = mtl_library_new_function(library, s->vertex),
        .fragment_function = mtl_library_new_function(library, s->fragment),
        .vertex_descriptor = s->kind == SCENE_NO_VERTICES ? NULL : &vertices,
        .raster_sample_count = s->samples,
        .depth_attachment_pixel_format =
            s->depth ? MTLPixelFormatDepth32Float : MTLPixelFormatInvalid};
    d.color_attachments[0] = (MTLRenderPipelineColorAttachmentDescriptor){
        .pixel_format = MTLPixelFormatRGBA8Unorm,
        .blending_enabled = s->blend,
        .source_rgb_blend_factor = MTLBlendFactorSourceAlpha,
        .destination_rgb_blend_factor = MTLBlendFactorOneMinusSourceAlpha,
        .source_alpha_blend_factor = MTLBlendFactorOne,
        .destination_alpha_blend_factor = MTLBlendFactorOneMinusSourceAlpha};
    b->pipeline = mtl_device_new_render_pipeline_state(b->device, &d, &error);
    require(b->pipeline, error, "pipeline");
    mtl_release(d.vertex_function), mtl_release(d.fragment_function), mtl_release(library);
}

static void make_resources(Bench *b) {
    const Scene *s = b->scene;
    const SceneData *d = &b->data;
    scene_uniforms(s, 1, b->uniforms);
    b->resolved = target(b, MTLPixelFormatRGBA8Unorm, 1);
    b->color = s->samples > 1 ? target(b, MTLPixelFormatRGBA8Unorm, s->samples) : b->resolved;
    if (s->depth) {
        b->depth = target(b, MTLPixelFormatDepth32Float, s->samples);
        b->nearer = mtl_device_new_depth_stencil_state(
            b->device,
            &(MTLDepthStencilDescriptor){.depth_compare_function = MTLCompareFunctionLess,
                                         .depth_write_enabled = true});
    }
    if (d->vertices)
        b->vertices = mtl_device_new_buffer_with_bytes(
            b->device, d->vertices, d->n_vertices * d->vertex_bytes, MTLResourceStorageModeShared);
    if (d->indices)
        b->indices = mtl_device_new_buffer_with_bytes(b->device, d->indices, d->n_indices * 4,
                                                      MTLResourceStorageModeShared);
    if (!d->texels) return;
    MTLTextureDescriptor t =
        mtl_texture_descriptor_2d(MTLPixelFormatRGBA8Unorm, SCENE_TEXTURE, SCENE_TEXTURE, true);
    b->texture = mtl_device_new_texture(b->device, &t);
    const unsigned char *texels = d->texels;
    for (size_t level = 0, n = SCENE_TEXTURE; n; level++, n /= 2) {
        mtl_texture_replace_region(b->texture, mtl_region_make_2d(0, 0, n, n), level, texels,
                                   4 * n);
        texels += 4 * n * n;
    }
    MTLSamplerDescriptor sampler = {.s_address_mode = MTLSamplerAddressModeRepeat,
                                    .t_address_mode = MTLSamplerAddressModeRepeat};
    if (!s->nearest) {
        sampler.min_filter = sampler.mag_filter = MTLSamplerMinMagFilterLinear;
        sampler.mip_filter = MTLSamplerMipFilterLinear;
    }
    b->sampler = mtl_device_new_sampler_state(b->device, &sampler);
}

static void draw(const Bench *b, MTLRenderCommandEncoder *e) {
    const Scene *s = b->scene;
    mtl_render_command_encoder_set_render_pipeline_state(e, b->pipeline);
    if (b->nearer) mtl_render_command_encoder_set_depth_stencil_state(e, b->nearer);
    if (b->vertices) mtl_render_command_encoder_set_vertex_buffer(e, b->vertices, 0, 0);
    if (s->kind == SCENE_SOUP || s->kind == SCENE_GRID) {
        mtl_render_command_encoder_set_vertex_bytes(e, b->uniforms, sizeof b->uniforms, 1);
        mtl_render_command_encoder_set_fragment_bytes(e, b->uniforms, sizeof b->uniforms, 1);
    }
    if (s->kind == SCENE_TEXTURED) {
        mtl_render_command_encoder_set_fragment_texture(e, b->texture, 0);
        mtl_render_command_encoder_set_fragment_sampler_state(e, b->sampler, 0);
        for (size_t i = 0; i < SCENE_QUADS; i++) // a draw for each
            mtl_render_command_encoder_draw_primitives(e, MTLPrimitiveTypeTriangle, 6 * i, 6);
    } else if (b->indices) {
        mtl_render_command_encoder_draw_indexed_primitives(
            e, MTLPrimitiveTypeTriangle, b->data.n_indices, MTLIndexTypeUInt32, b->indices, 0);
    } else {
        mtl_render_command_encoder_draw_primitives(e, MTLPrimitiveTypeTriangle, 0,
                                                   b->vertices ? b->data.n_vertices : 3);
    }
}

static void frame(void *context) {
    const Bench *b = context;
    MTLRenderPassDescriptor pass = mtl_render_pass_descriptor_make();
    MTLRenderPassColorAttachmentDescriptor *color = &pass.color_attachments[0];
    color->texture = b->color;
    color->load_action = MTLLoadActionClear;
    color->clear_color = mtl_clear_color_make(0.1, 0.1, 0.2, 1);
    if (b->color != b->resolved) {
        color->resolve_texture = b->resolved;
        color->store_action = MTLStoreActionMultisampleResolve;
    }
    if (b->depth) {
        pass.depth_attachment.texture = b->depth;
        if (!b->scene->vertex) pass.depth_attachment.store_action = MTLStoreActionStore;
    }
    MTLCommandBuffer *commands = mtl_command_queue_command_buffer(b->queue);
    MTLRenderCommandEncoder *e = mtl_command_buffer_render_command_encoder(commands, &pass);
    require(e, NULL, "encoder");
    if (b->pipeline) draw(b, e);
    mtl_render_command_encoder_end_encoding(e);
    mtl_command_buffer_commit(commands);
    mtl_command_buffer_wait_until_completed(commands);
    require_completed(commands);
    mtl_release(commands);
}

int main(int argc, char **argv) {
    Bench b = {.scene = scene_find(argc - 1, argv + 1)};
    if (!b.scene) return 2;
    bool first = argc > 3 && !strcmp(argv[3], "first");
    if (!first) setenv("INGOT_SYNC_SPECIALISE", "1", 0); // measure the fast code, from the start
    char *source = read_text(argv[1]);
    b.data = scene_data(b.scene);
    double begin = scene_clock();
    b.device = mtl_create_system_default_device();
    require(b.device, NULL, "device");
    b.queue = mtl_device_new_command_queue(b.device);
    double opened = scene_clock();
    if (b.scene->vertex) make_pipeline(&b, source);
    double compiled = scene_clock();
    make_resources(&b);
    if (first) {
        frame(&b);
        printf("%s\t%.3f\t%.3f\t%.3f\n", b.scene->name, scene_clock() - begin, opened - begin,
               compiled - opened);
    } else {
        scene_measure(b.scene, argc > 3 ? atof(argv[3]) : 1, frame, &b);
    }
    if (argc > 4) {
        uint32_t w = b.scene->width, h = b.scene->height;
        unsigned char *pixels = malloc(4 * (size_t)w * h);
        require(pixels, NULL, "memory");
        mtl_texture_get_bytes(b.resolved, pixels, 4 * w, mtl_region_make_2d(0, 0, w, h), 0);
        write_png(argv[4], pixels, w, h);
        free(pixels);
    }
    if (b.color != b.resolved) mtl_release(b.color);
    mtl_release(b.resolved), mtl_release(b.depth), mtl_release(b.texture), mtl_release(b.sampler);
    mtl_release(b.vertices), mtl_release(b.indices), mtl_release(b.nearer);
    mtl_release(b.pipeline), mtl_release(b.queue), mtl_release(b.device);
    scene_data_free(&b.data);
    free(source);
    return 0;
}
