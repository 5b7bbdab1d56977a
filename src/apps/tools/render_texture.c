// SPDX-License-Identifier: Apache-2.0
// render_texture.c: --texture and --sampler of `ingot render`: files become textures with mipmaps.
#include "image/image.h"
#include "apps/tools/render_int.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// One slice of a texture in memory.
typedef struct Slice {
    size_t width, height, texel_bytes;
    MTLPixelFormat format;
    unsigned char *texels;
} Slice;

static bool ends_with(const char *text, const char *end) {
    size_t n = strlen(text), m = strlen(end);
    return n >= m && !strcmp(text + n - m, end);
}

static int from_npy(const Given *g, const char *path, bool depth, Slice *s) {
    static const struct {
        NumberKind kind;
        uint32_t n_bytes;
        MTLPixelFormat formats[4]; // of 1, 2, 4 components
    } known[] = {
        {NUMBER_UINT, 1, {MTLPixelFormatR8Unorm, MTLPixelFormatRG8Unorm, MTLPixelFormatRGBA8Unorm}},
        {NUMBER_UINT,
         2,
         {MTLPixelFormatR16Unorm, MTLPixelFormatRG16Unorm, MTLPixelFormatRGBA16Unorm}},
        {NUMBER_UINT, 4, {MTLPixelFormatR32Uint, MTLPixelFormatRG32Uint, MTLPixelFormatRGBA32Uint}},
        {NUMBER_INT, 4, {MTLPixelFormatR32Sint, MTLPixelFormatRG32Sint, MTLPixelFormatRGBA32Sint}},
        {NUMBER_HALF,
         2,
         {MTLPixelFormatR16Float, MTLPixelFormatRG16Float, MTLPixelFormatRGBA16Float}},
        {NUMBER_FLOAT,
         4,
         {MTLPixelFormatR32Float, MTLPixelFormatRG32Float, MTLPixelFormatRGBA32Float}},
    };
    NpyArray a;
    char *why = npy_read(path, &a);
    if (why) {
        complain(EXIT_INPUT, "render", "%s %s: %s", g->option, g->key, why);
        free(why);
        return EXIT_INPUT;
    }
    size_t n = a.n_dims == 3 ? a.shape[2] : 1;
    size_t which = n == 1 ? 0 : n == 2 ? 1 : 2;
    if (a.n_dims < 2 || a.n_dims > 3 || !a.n_elements || (n != 1 && n != 2 && n != 4) ||
        a.shape[0] > RENDER_MAX_SIZE || a.shape[1] > RENDER_MAX_SIZE) {
        npy_free(&a);
        return complain(EXIT_INPUT, "render",
                        "%s %s: '%s' is not of shape (height, width) or (height, width, 1, 2 or 4)",
                        g->option, g->key, path);
    }
    *s = (Slice){a.shape[1], a.shape[0], n * a.type->n_bytes, MTLPixelFormatInvalid, a.data};
    for (size_t i = 0; i < sizeof known / sizeof *known; i++)
        if (known[i].kind == a.type->kind && known[i].n_bytes == a.type->n_bytes)
            s->format = known[i].formats[which];
    if (depth) s->format = s->format == MTLPixelFormatR32Float ? MTLPixelFormatDepth32Float : 0;
    if (s->format) return EXIT_FINE;
    npy_free(&a);
    return complain(EXIT_INPUT, "render", "%s %s: '%s' cannot be used as a %s", g->option, g->key,
                    path, depth ? "depth texture (it takes f32)" : "texture");
}

static int from_file(const RenderOptions *o, const Given *g, const char *path, bool depth,
                     Slice *s) {
    if (ends_with(path, ".npy")) return from_npy(g, path, depth, s);
    if (depth)
        return complain(EXIT_INPUT, "render",
                        "%s %s: a depth texture takes a .npy of f32 (height, width), not '%s'",
                        g->option, g->key, path);
    char message[MESSAGE_BYTES];
    ImageRgba image;
    if (!image_rgba_load(&image, path, message))
        return complain(EXIT_INPUT, "render", "%s %s: %s", g->option, g->key, message);
    if (image.width > RENDER_MAX_SIZE || image.height > RENDER_MAX_SIZE) {
        image_rgba_free(&image);
        return complain(EXIT_INPUT, "render", "%s %s: '%s' is larger than %d pixels", g->option,
                        g->key, path, RENDER_MAX_SIZE);
    }
    *s = (Slice){image.width, image.height, 4,
                 o->srgb ? MTLPixelFormatRGBA8Unorm_sRGB : MTLPixelFormatRGBA8Unorm, image.rgba};
    return EXIT_FINE;
}

// Textures that can be filtered get all their levels.
static bool wants_mipmaps(MTLPixelFormat f) {
    return f != MTLPixelFormatDepth32Float && f != MTLPixelFormatR32Uint &&
           f != MTLPixelFormatRG32Uint && f != MTLPixelFormatRGBA32Uint &&
           f != MTLPixelFormatR32Sint && f != MTLPixelFormatRG32Sint &&
           f != MTLPixelFormatRGBA32Sint;
}

static int fill(Render *r, Given *g, const Slice *slices, size_t n, MTLTextureType type) {
    bool mipmaps = wants_mipmaps(slices->format) && (slices->width > 1 || slices->height > 1);
    MTLTextureDescriptor d =
        mtl_texture_descriptor_2d(slices->format, slices->width, slices->height, mipmaps);
    d.texture_type = type;
    if (type == MTLTextureType2DArray) d.array_length = n;
    g->texture = mtl_device_new_texture(r->device, &d);
    if (!g->texture)
        return complain(EXIT_INPUT, "render", "%s %s: cannot create a texture of %zu x %zu",
                        g->option, g->key, slices->width, slices->height);
    for (size_t i = 0; i < n; i++)
        mtl_texture_replace_region_slice(
            g->texture, mtl_region_make_2d(0, 0, slices->width, slices->height), 0, i,
            slices[i].texels, slices->width * slices->texel_bytes, 0);
    if (!mipmaps) return EXIT_FINE;
    MTLCommandBuffer *commands = mtl_command_queue_command_buffer(r->queue);
    MTLBlitCommandEncoder *blit = mtl_command_buffer_blit_command_encoder(commands);
    mtl_blit_command_encoder_generate_mipmaps(blit, g->texture);
    mtl_blit_command_encoder_end_encoding(blit);
    mtl_command_buffer_commit(commands);
    mtl_release(commands);
    return EXIT_FINE;
}

int render_texture(Render *r, Given *g, const RfType *type) {
    enum { MOST = 64 };
    Slice slices[MOST];
    size_t n = 0;
    int status = EXIT_FINE;
    MTLTextureType shape = (MTLTextureType)type->texture_type;
    char *list = strdup(g->text), *rest = list;
    if (!list) return complain(EXIT_INPUT, "render", "out of memory");
    if (shape != MTLTextureType2D && shape != MTLTextureType2DArray && shape != MTLTextureTypeCube)
        status = complain(EXIT_INPUT, "render", "%s %s: `ingot render` does not support a %s",
                          g->option, g->key, type->name);
    for (char *path; !status && (path = strsep(&rest, ","));) {
        if (n == MOST) {
            status = complain(EXIT_INPUT, "render", "%s %s: more than %d files", g->option, g->key,
                              (int)MOST);
            break;
        }
        status = from_file(r->o, g, path, type->depth, &slices[n]);
        if (status) break;
        const Slice *s = &slices[n++];
        if (s->width != slices->width || s->height != slices->height || s->format != slices->format)
            status = complain(EXIT_INPUT, "render",
                              "%s %s: '%s' is of another size or kind than the first file",
                              g->option, g->key, path);
    }
    bool cube = shape == MTLTextureTypeCube;
    if (!status && cube && (n != 6 || slices->width != slices->height))
        status =
            complain(EXIT_INPUT, "render", "%s %s: a cube takes six square files, comma-separated",
                     g->option, g->key);
    if (!status && shape == MTLTextureType2D && n != 1)
        status = complain(EXIT_INPUT, "render", "%s %s: a %s takes one file, not %zu", g->option,
                          g->key, type->name, n);
    if (!status) status = fill(r, g, slices, n, shape);
    for (size_t i = 0; i < n; i++) free(slices[i].texels);
    free(list);
    return status;
}

static bool sampler_word(MTLSamplerDescriptor *d, const char *word) {
    static const char *const modes[] = {"clamp", "mirror-clamp", "repeat", "mirror", "zero", NULL};
    static const char *const compares[] = {"never",         "less",    "equal",
                                           "less-equal",    "greater", "not-equal",
                                           "greater-equal", "always",  NULL};
    for (int i = 0; modes[i]; i++)
        if (!strcmp(word, modes[i])) {
            d->s_address_mode = d->t_address_mode = d->r_address_mode = (MTLSamplerAddressMode)i;
            return true;
        }
    for (int i = 0; compares[i]; i++)
        if (!strcmp(word, compares[i])) {
            d->compare_function = (MTLCompareFunction)i;
            return true;
        }
    if (!strcmp(word, "nearest")) {
        d->min_filter = d->mag_filter = MTLSamplerMinMagFilterNearest;
        d->mip_filter = d->mip_filter ? MTLSamplerMipFilterNearest : d->mip_filter;
    } else if (!strcmp(word, "no-mips")) {
        d->mip_filter = MTLSamplerMipFilterNotMipmapped;
    } else {
        return !strcmp(word, "linear");
    }
    return true;
}

int render_sampler(Render *r, Given *g) {
    MTLSamplerDescriptor d = {.min_filter = MTLSamplerMinMagFilterLinear,
                              .mag_filter = MTLSamplerMinMagFilterLinear,
                              .mip_filter = MTLSamplerMipFilterLinear,
                              .s_address_mode = MTLSamplerAddressModeRepeat,
                              .t_address_mode = MTLSamplerAddressModeRepeat,
                              .r_address_mode = MTLSamplerAddressModeRepeat};
    char *list = g ? strdup(g->text) : NULL, *rest = list;
    int status = EXIT_FINE;
    for (char *one; !status && rest && (one = strsep(&rest, ","));)
        if (!sampler_word(&d, one))
            status = complain(EXIT_USAGE, "render", "%s %s: unknown word '%s' (see --help)",
                              g->option, g->key, one);
    free(list);
    if (status) return status;
    MTLSamplerState **to = g ? &g->sampler : &r->sampler;
    *to = mtl_device_new_sampler_state(r->device, &d);
    return *to ? EXIT_FINE : complain(EXIT_INPUT, "render", "cannot create a sampler");
}
