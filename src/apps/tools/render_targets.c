// SPDX-License-Identifier: Apache-2.0
// render_targets.c: the attachments of `ingot render`: formats that suit the file and what the
// fragment function writes, blending, and the files themselves.
#include "image/image.h"
#include "apps/tools/render_int.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const struct {
    const char *name;
    MTLBlendFactor source, destination;
} blends[] = {
    {"none", MTLBlendFactorOne, MTLBlendFactorZero},
    {"alpha", MTLBlendFactorSourceAlpha, MTLBlendFactorOneMinusSourceAlpha},
    {"premultiplied", MTLBlendFactorOne, MTLBlendFactorOneMinusSourceAlpha},
    {"add", MTLBlendFactorOne, MTLBlendFactorOne},
    {"multiply", MTLBlendFactorDestinationColor, MTLBlendFactorZero},
    {"screen", MTLBlendFactorOne, MTLBlendFactorOneMinusSourceColor},
};

int render_blend_named(const char *name) {
    for (int i = 0; i < (int)(sizeof blends / sizeof *blends); i++)
        if (!strcmp(name, blends[i].name)) return i;
    return -1;
}

void render_blend(const RenderOptions *o, MTLRenderPipelineColorAttachmentDescriptor *c) {
    c->blending_enabled = o->blend != 0;
    c->source_rgb_blend_factor = c->source_alpha_blend_factor = blends[o->blend].source;
    c->destination_rgb_blend_factor = c->destination_alpha_blend_factor =
        blends[o->blend].destination;
    // Alpha itself is covered, not squared.
    if (c->source_rgb_blend_factor == MTLBlendFactorSourceAlpha)
        c->source_alpha_blend_factor = MTLBlendFactorOne;
}

static bool is_png(const RenderOutput *out) {
    return !strcmp(out->path + strlen(out->path) - 4, ".png");
}

static MTLTexture *create_target(const Render *r, MTLPixelFormat format, size_t samples,
                                 MTLStorageMode storage) {
    MTLTextureDescriptor d = mtl_texture_descriptor_2d(format, r->o->width, r->o->height, false);
    d.usage = MTLTextureUsageRenderTarget;
    d.storage_mode = storage;
    d.sample_count = samples;
    if (samples > 1) d.texture_type = MTLTextureType2DMultisample;
    MTLTexture *t = mtl_device_new_texture(r->device, &d);
    if (!t)
        complain(EXIT_INPUT, "render", "cannot create a render target of %zu x %zu", r->o->width,
                 r->o->height);
    return t;
}

// What the fragment function writes into a colour decides real or whole numbers.
static int color_format(const Render *r, RenderOutput *out) {
    const RfFunction *f = r->reflection[FRAGMENT];
    const RfValue *v = NULL;
    for (uint32_t i = 0; i < f->n_outputs; i++)
        if (f->outputs[i].role == RF_COLOR && f->outputs[i].index == out->color) v = &f->outputs[i];
    if (!v)
        return complain(EXIT_INPUT, "render", "-o %s: '%s' writes no [[color(%zu)]]", out->path,
                        f->name, out->color);
    uint32_t n = 0;
    const NumberType *t = number_of_data_type(v->data_type, &n);
    bool whole = t && (t->kind == NUMBER_INT || t->kind == NUMBER_UINT);
    if (whole && is_png(out))
        return complain(EXIT_INPUT, "render",
                        "-o %s: '%s' writes whole numbers; only a .npy file takes them", out->path,
                        f->name);
    out->format = whole && t->kind == NUMBER_INT ? MTLPixelFormatRGBA32Sint
                  : whole                        ? MTLPixelFormatRGBA32Uint
                  : !is_png(out)                 ? MTLPixelFormatRGBA32Float
                  : r->o->srgb                   ? MTLPixelFormatRGBA8Unorm_sRGB
                                                 : MTLPixelFormatRGBA8Unorm;
    return EXIT_FINE;
}

int render_targets(Render *r) {
    RenderOptions *o = r->o;
    bool samples = o->samples > 1;
    for (size_t i = 0; i < o->n_outputs; i++) {
        RenderOutput *out = &o->outputs[i];
        if (out->depth) {
            out->format = MTLPixelFormatDepth32Float;
        } else {
            int status = color_format(r, out);
            if (status) return status;
        }
        out->target = create_target(r, out->format, 1, MTLStorageModeShared);
        if (!out->target) return EXIT_INPUT;
        if (samples &&
            !(out->samples = create_target(r, out->format, o->samples, MTLStorageModePrivate)))
            return EXIT_INPUT;
        if (out->depth) r->depth = mtl_retain(samples ? out->samples : out->target);
    }
    if (!o->depth) return EXIT_FINE;
    if (!r->depth)
        r->depth =
            create_target(r, MTLPixelFormatDepth32Float, o->samples, MTLStorageModeMemoryless);
    r->depth_state = mtl_device_new_depth_stencil_state(
        r->device, &(MTLDepthStencilDescriptor){.depth_compare_function = o->depth_compare,
                                                .depth_write_enabled = true});
    return r->depth && r->depth_state ? EXIT_FINE : EXIT_INPUT;
}

// Depth 0 to 1 as grey; what is outside (or not a number) is cut off.
static void to_grey(unsigned char *rgba, const float *depth, size_t n) {
    for (size_t i = 0; i < n; i++) {
        float v = depth[i] > 0 ? depth[i] : 0;
        v = v < 1 ? v : 1;
        memset(rgba + 4 * i, (int)(v * 255 + 0.5f), 3);
        rgba[4 * i + 3] = 255;
    }
}

static int write_png(const Render *r, const RenderOutput *out, unsigned char *pixels) {
    const RenderOptions *o = r->o;
    size_t n = o->width * o->height;
    ImageRgba image = {(uint32_t)o->width, (uint32_t)o->height, pixels};
    if (out->depth) {
        image.rgba = must_alloc(n, 4);
        to_grey(image.rgba, (const float *)(void *)pixels, n);
    }
    char message[MESSAGE_BYTES];
    bool ok = image_rgba_save(&image, out->path, o->alpha && !out->depth, message);
    if (out->depth) free(image.rgba);
    return ok ? EXIT_FINE : complain(EXIT_INPUT, "render", "%s", message);
}

static int write_npy(const Render *r, const RenderOutput *out, unsigned char *pixels) {
    const RenderOptions *o = r->o;
    NpyArray a = {.type = number_type(out->format == MTLPixelFormatRGBA32Sint   ? "i32"
                                      : out->format == MTLPixelFormatRGBA32Uint ? "u32"
                                                                                : "f32"),
                  .n_dims = out->depth ? 2 : 3,
                  .shape = {o->height, o->width, 4},
                  .n_elements = o->width * o->height * (out->depth ? 1 : 4),
                  .data = pixels};
    char *why = npy_write(out->path, &a, true);
    if (!why) return EXIT_FINE;
    complain(EXIT_INPUT, "render", "-o: %s", why);
    free(why);
    return EXIT_INPUT;
}

int render_write(Render *r) {
    const RenderOptions *o = r->o;
    for (size_t i = 0; i < o->n_outputs; i++) {
        const RenderOutput *out = &o->outputs[i];
        size_t texel = !out->depth && !is_png(out) ? 16 : 4;
        unsigned char *pixels = must_alloc(o->width * o->height, texel);
        mtl_texture_get_bytes(out->target, pixels, o->width * texel,
                              mtl_region_make_2d(0, 0, o->width, o->height), 0);
        int status = is_png(out) ? write_png(r, out, pixels) : write_npy(r, out, pixels);
        free(pixels);
        if (status) return status;
    }
    return EXIT_FINE;
}
