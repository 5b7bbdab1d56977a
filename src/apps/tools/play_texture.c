// SPDX-License-Identifier: Apache-2.0
// play_texture.c: textures for the playground's shaders: pictures that are computed, so that a
// share file needs no other, and empty ones to write to.
#include "apps/tools/play_int.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { SIDE = 256 }; // of the computed pictures

static float noise_at(unsigned x, unsigned y) {
    uint32_t h = x * 0x8da6b343u ^ y * 0xd8163841u;
    h = (h ^ h >> 15) * 0x2c1b3c6du;
    h = (h ^ h >> 12) * 0x297a2d39u;
    return (float)((h ^ h >> 15) >> 8) * 0x1p-24f;
}

static void checker(float x, float y, float *c) {
    float on = ((int)(x * 8) + (int)(y * 8)) & 1 ? 0.9f : 0.15f;
    c[0] = c[1] = c[2] = on;
}

static void gradient(float x, float y, float *c) { c[0] = x, c[1] = y, c[2] = 0.5f; }

// Values on a lattice with smooth steps between them, three octaves; it repeats at its borders.
static void noise(float x, float y, float *c) {
    float sum = 0, weight = 0.5f;
    for (unsigned n = 8; n <= 32; n *= 2, weight /= 2) {
        float fx = x * (float)n, fy = y * (float)n;
        unsigned ix = (unsigned)fx, iy = (unsigned)fy;
        float u = fx - (float)ix, v = fy - (float)iy;
        u = u * u * (3 - 2 * u), v = v * v * (3 - 2 * v);
        float a = noise_at(ix % n, iy % n), b = noise_at((ix + 1) % n, iy % n);
        float d = noise_at(ix % n, (iy + 1) % n), e = noise_at((ix + 1) % n, (iy + 1) % n);
        sum += weight * ((a + (b - a) * u) * (1 - v) + (d + (e - d) * u) * v);
    }
    c[0] = c[1] = c[2] = sum / 0.875f;
}

// A landscape of sorts: sky, sun, hills. For filters, which need edges and flat parts.
static void hills(float x, float y, float *c) {
    float far = 0.55f + 0.08f * sinf(x * 9), near = 0.7f + 0.06f * sinf(x * 13 + 2);
    float dx = x - 0.7f, dy = y - 0.25f;
    bool sun = dx * dx + dy * dy < 0.008f;
    static const float colors[4][3] = {
        {0.98f, 0.85f, 0.4f}, {0.2f, 0.42f, 0.26f}, {0.35f, 0.55f, 0.5f}, {0, 0, 0}};
    if (y > near)
        memcpy(c, colors[1], sizeof *colors);
    else if (y > far)
        memcpy(c, colors[2], sizeof *colors);
    else if (sun)
        memcpy(c, colors[0], sizeof *colors);
    else
        c[0] = 0.35f + 0.5f * y, c[1] = 0.6f + 0.3f * y, c[2] = 0.95f;
}

static const struct {
    const char *name;
    void (*at)(float x, float y, float *c);
} pictures[] = {{"hills", hills}, {"checker", checker}, {"noise", noise}, {"gradient", gradient}};

static MTLTexture *computed(PlaySession *s, const char *what, char **why) {
    for (size_t i = 0; i < sizeof pictures / sizeof *pictures; i++) {
        if (strcmp(what, pictures[i].name)) continue;
        MTLTextureDescriptor d =
            mtl_texture_descriptor_2d(MTLPixelFormatRGBA8Unorm, SIDE, SIDE, false);
        MTLTexture *texture = mtl_device_new_texture(s->device, &d);
        unsigned char *rgba = malloc((size_t)SIDE * SIDE * 4);
        for (size_t k = 0; texture && rgba && k < (size_t)SIDE * SIDE; k++) {
            float c[3];
            pictures[i].at(((float)(k % SIDE) + 0.5f) / SIDE, ((float)(k / SIDE) + 0.5f) / SIDE, c);
            for (int j = 0; j < 3; j++) rgba[4 * k + j] = (unsigned char)(c[j] * 255 + 0.5f);
            rgba[4 * k + 3] = 255;
        }
        if (texture && rgba)
            mtl_texture_replace_region(texture, mtl_region_make_2d(0, 0, SIDE, SIDE), 0, rgba,
                                       (size_t)SIDE * 4);
        else
            *why = text_format("out of memory");
        free(rgba);
        return texture;
    }
    *why = text_format("unknown image '%s': use hills, checker, noise or gradient", what);
    return NULL;
}

MTLTexture *play_texture(PlaySession *s, const RfLibrary *rf, const RfType *type, const char *what,
                         size_t width, size_t height, char **why) {
    uint32_t component = type->element < rf->n_types ? rf->types[type->element].data_type : 0;
    if (type->texture_type != MTLTextureType2D || type->depth ||
        (component != MTLDataTypeFloat && component != MTLDataTypeHalf)) {
        *why = text_format("the playground has no %s: its textures are texture2d of float or half",
                           type->name);
        return NULL;
    }
    if (type->access == RF_READ_ONLY) return computed(s, what ? what : "hills", why);
    MTLTextureDescriptor d =
        mtl_texture_descriptor_2d(MTLPixelFormatRGBA8Unorm, width, height, false);
    d.usage = MTLTextureUsageShaderRead | MTLTextureUsageShaderWrite;
    MTLTexture *texture = mtl_device_new_texture(s->device, &d);
    if (!texture) *why = text_format("cannot create a texture of %zu x %zu", width, height);
    return texture;
}
