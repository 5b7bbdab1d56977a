// SPDX-License-Identifier: Apache-2.0
// replay_save.c: what a resource of a replay holds, as a file: NumPy's, a picture, or its bytes.
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "abi/pixel_format.h"
#include "abi/texture_layout.h"
#include "base/files.h"
#include "base/npy.h"
#include "image/image.h"
#include "texel/format.h"
#include "apps/tools/replay_int.h"

static bool say(char why[CAP_WHY], const char *text, const char *what) {
    snprintf(why, CAP_WHY, text, what);
    return false;
}

void object_describe(const CapObject *o, size_t number, char *text, size_t n_bytes) {
    static const char *const kinds[] = {"",         "buffer",
                                        "texture",  "tensor",
                                        "heap",     "indirect command buffer",
                                        "resource", "acceleration structure"};
    const char *label = o->resource.label;
    int n = snprintf(text, n_bytes, "%s %zu%s%s%s", kinds[o->resource.kind], number,
                     *label ? " '" : "", label, *label ? "'" : "");
    if (n < 0 || (size_t)n >= n_bytes) return;
    const AbiTexture *t = o->texture;
    const AbiPixelFormat *f = t ? abi_pixel_format(t->pixel_format) : NULL;
    if (t)
        snprintf(text + n, n_bytes - (size_t)n, ": %u x %u x %u, %u levels, %u slices, %s",
                 t->width, t->height, t->depth, t->n_levels, abi_texture_n_slices(t),
                 f ? f->name : "?");
    else if (o->resource.kind != CAP_ACCELERATION_STRUCTURE) // its memory is the device's own
        snprintf(text + n, n_bytes - (size_t)n, ": %llu bytes",
                 (unsigned long long)o->resource.n_bytes);
}

// ---- Texels ----

typedef struct Picture {
    const AbiTextureLevel *level;
    const AbiPixelFormat *format;
    uint32_t slice;       // or plane
    float *rgba;          // (height, width, 4); integers as numbers
    unsigned char *bytes; // rows without gaps
    size_t row;           // bytes of one
    size_t n_rows;        // of texels or blocks
} Picture;

static void free_picture(Picture *p) {
    free(p->rgba);
    free(p->bytes);
}

static bool read_rows(CapReplay *r, Picture *p) {
    const AbiTextureLevel *l = p->level;
    const AbiPixelFormat *f = p->format;
    p->row = (size_t)((l->width + f->block_width - 1) / f->block_width) * f->block_bytes;
    p->n_rows = (l->height + f->block_height - 1) / f->block_height;
    // Before there is room for it: what a file says may be larger than any memory.
    uint64_t at = (uintptr_t)l->data + p->slice * l->layer_bytes, span;
    if (!p->n_rows || (p->n_rows > 1 && l->row_bytes < p->row) ||
        __builtin_mul_overflow(p->n_rows - 1, l->row_bytes, &span) ||
        !cap_replay_has(r, at, span + p->row))
        return false;
    p->bytes = must_alloc(p->row * p->n_rows + 1, 1);
    for (size_t y = 0; y < p->n_rows; y++)
        if (!cap_replay_read(r, at + y * l->row_bytes, p->bytes + y * p->row, p->row)) return false;
    return true;
}

static void decode_blocks(Picture *p) {
    const AbiTextureLevel *l = p->level;
    const AbiPixelFormat *f = p->format;
    float block[12 * 12 * 4];
    for (uint32_t y = 0; y < l->height; y += f->block_height)
        for (uint32_t x = 0; x < l->width; x += f->block_width) {
            const unsigned char *from = p->bytes + y / f->block_height * p->row +
                                        (size_t)(x / f->block_width) * f->block_bytes;
            if (!texel_decode_block(f, from, block)) return;
            for (uint32_t k = 0; k < (uint32_t)f->block_height * f->block_width; k++) {
                uint32_t u = x + k % f->block_width, v = y + k / f->block_width;
                if (u < l->width && v < l->height)
                    memcpy(p->rgba + ((size_t)v * l->width + u) * 4, block + 4 * k, 16);
            }
        }
}

static void decode(Picture *p) {
    const AbiTextureLevel *l = p->level;
    size_t n = (size_t)l->width * l->height;
    p->rgba = must_alloc(n * 4 + 1, sizeof(float));
    if (p->format->block_width > 1 || p->format->block_height > 1) {
        decode_blocks(p);
        return;
    }
    if (!abi_format_is_integer(p->format)) {
        texel_decode_float(p->format, p->bytes, n, p->rgba);
        return;
    }
    uint32_t *whole = must_alloc(n * 4 + 1, sizeof *whole);
    texel_decode_int(p->format, p->bytes, n, whole);
    for (size_t i = 0; i < n * 4; i++) p->rgba[i] = (float)whole[i];
    free(whole);
}

static bool read_picture(CapReplay *r, const CapObject *o, const char *part, Picture *p,
                         char why[CAP_WHY]) {
    unsigned level = 0, slice = 0;
    if (*part && sscanf(part, "%u,%u", &level, &slice) < 1)
        return say(why, "'%s' is not LEVEL,SLICE", part);
    const AbiTexture *t = o->texture;
    if (level >= t->n_levels) return say(why, "the texture has no level '%s'", part);
    const AbiTextureLevel *l = &t->levels[level];
    uint32_t n = t->type == ABI_TEXTURE_3D ? l->depth : abi_texture_n_slices(t);
    if (slice >= n) return say(why, "the texture has no slice '%s'", part);
    *p = (Picture){.level = l, .format = abi_pixel_format(t->pixel_format), .slice = slice};
    if (!l->data) return say(why, "'%s' is memoryless: it holds nothing", o->resource.label);
    if (read_rows(r, p)) return true;
    free_picture(p);
    *p = (Picture){0};
    return say(why, "'%s' has no memory at this command", o->resource.label);
}

bool read_texels(CapReplay *r, const CapObject *o, unsigned level, unsigned slice, uint32_t *width,
                 uint32_t *height, float **rgba, char why[CAP_WHY]) {
    char part[32];
    Picture p = {0};
    snprintf(part, sizeof part, "%u,%u", level, slice);
    bool ok = read_picture(r, o, part, &p, why);
    if (ok) {
        decode(&p);
        *width = p.level->width, *height = p.level->height, *rgba = p.rgba;
        p.rgba = NULL;
    }
    free_picture(&p);
    return ok;
}

static unsigned char to_byte(float value) { // NaN: 0
    return (unsigned char)(value > 0 ? value < 1 ? lrintf(value * 255) : 255 : 0);
}

static bool save_png(CapReplay *r, const CapObject *o, const char *part, const char *path,
                     char why[CAP_WHY]) {
    Picture p = {0};
    char message[512] = "";
    bool ok = o->texture ? read_picture(r, o, part, &p, why)
                         : say(why, "%s is for textures: a buffer is no picture", path);
    if (!ok) return false;
    decode(&p);
    uint32_t w = p.level->width, h = p.level->height;
    ImageRgba image = {w, h, must_alloc((size_t)w * h * 4 + 1, 1)};
    for (size_t i = 0; i < (size_t)w * h; i++)
        for (int c = 0; c < 4; c++) {
            float v = p.rgba[4 * i + (size_t)c];
            if (abi_format_is_integer(p.format)) v /= 255;
            bool depth = p.format->caps & (ABI_FORMAT_DEPTH | ABI_FORMAT_STENCIL);
            if (depth && c) v = c < 3 ? p.rgba[4 * i] : 1; // grey
            bool encoded = p.format->kind == ABI_KIND_SRGB && c < 3;
            image.rgba[4 * i + (size_t)c] = to_byte(encoded ? (float)texel_linear_to_srgb(v) : v);
        }
    ok = image_rgba_save(&image, path, true, message) || say(why, "%s", message);
    image_rgba_free(&image);
    free_picture(&p);
    return ok;
}

// ---- Numbers ----

static bool write_npy(const char *path, NpyArray *a, char why[CAP_WHY]) {
    char *wrong = npy_write(path, a, false);
    if (wrong) say(why, "%s", wrong);
    free(wrong);
    return wrong == NULL;
}

// Linear values of all components; (height, width, 4).
static bool save_texture_npy(CapReplay *r, const CapObject *o, const char *part, const char *path,
                             char why[CAP_WHY]) {
    Picture p = {0};
    if (!read_picture(r, o, part, &p, why)) return false;
    decode(&p);
    NpyArray a = {.type = number_type("f32"),
                  .n_dims = 3,
                  .shape = {p.level->height, p.level->width, 4},
                  .n_elements = (size_t)p.level->width * p.level->height * 4,
                  .data = (unsigned char *)p.rgba};
    bool ok = write_npy(path, &a, why);
    free_picture(&p);
    return ok;
}

static unsigned char *read_bytes(CapReplay *r, const CapObject *o, uint64_t *n, char why[CAP_WHY]) {
    uint64_t start, length;
    *n = o->resource.n_bytes;
    // A tensor is as long as its memory.
    if (!*n && cap_replay_memory_at(r, o->resource.address, &start, &length))
        *n = start + length - o->resource.address;
    if (*n && cap_replay_has(r, o->resource.address, *n)) {
        unsigned char *bytes = must_alloc(*n + 1, 1);
        if (cap_replay_read(r, o->resource.address, bytes, *n)) return bytes;
        free(bytes);
    }
    say(why, "'%s' has no memory at this command", o->resource.label);
    return NULL;
}

static bool save_npy(CapReplay *r, const CapObject *o, const char *part, const char *path,
                     char why[CAP_WHY]) {
    if (o->texture) return save_texture_npy(r, o, part, path, why);
    const NumberType *type = number_type(*part ? part : "u8");
    if (!type) return say(why, "'%s' is no type of numbers (f32, f16, u8, i32, ...)", part);
    uint64_t n;
    unsigned char *bytes = read_bytes(r, o, &n, why);
    if (!bytes) return false;
    NpyArray a = {.type = type,
                  .n_dims = 1,
                  .shape = {n / type->n_bytes},
                  .n_elements = n / type->n_bytes,
                  .data = bytes};
    bool ok = write_npy(path, &a, why);
    free(bytes);
    return ok;
}

static bool save_raw(CapReplay *r, const CapObject *o, const char *part, const char *path,
                     char why[CAP_WHY]) {
    Picture p = {0};
    uint64_t n = 0;
    unsigned char *bytes = NULL;
    if (o->texture) {
        if (!read_picture(r, o, part, &p, why)) return false;
        bytes = p.bytes;
        n = p.row * p.n_rows;
    } else if (!(bytes = read_bytes(r, o, &n, why))) {
        return false;
    }
    bool ok = file_write_atomic(path, bytes, n, false);
    if (!ok) say(why, "cannot write '%s'", path);
    free(bytes);
    return ok;
}

static bool ends_with(const char *text, const char *end) {
    size_t n = strlen(text), m = strlen(end);
    return n >= m && !strcmp(text + n - m, end);
}

bool save_object(CapReplay *replay, const char *wish, char why[CAP_WHY]) {
    const char *equals = strrchr(wish, '=');
    if (!equals || !equals[1]) return say(why, "--save %s: it is RES=FILE", wish);
    char name[256];
    snprintf(name, sizeof name, "%.*s", (int)(equals - wish), wish);
    const char *path = equals + 1;
    const CapObject *o = cap_replay_find(replay, name);
    char *at = o ? NULL : strrchr(name, '@');
    if (at) *at = 0;
    if (at) o = cap_replay_find(replay, name);
    if (!o)
        return say(why,
                   "no resource '%s' at this command, or several: `--until N` alone "
                   "lists them",
                   name);
    const char *part = at ? at + 1 : "";
    if (ends_with(path, ".npy")) return save_npy(replay, o, part, path, why);
    if (ends_with(path, ".png")) return save_png(replay, o, part, path, why);
    return save_raw(replay, o, part, path, why);
}
