// SPDX-License-Identifier: Apache-2.0
// texture_layout.c: sizes and addresses of textures and views (texture_layout.h).
#include "abi/texture_layout.h"
#include <string.h>

#define MAX_SIZE 16384u // Apple's limits: 1D and 2D
#define MAX_SIZE_3D 2048u
#define MAX_LAYERS (2048u * 6u)
#define MAX_BUFFER_WIDTH (1u << 28)
#define ROW_ALIGNMENT 16u
#define LEVEL_ALIGNMENT 64u
#define CACHE_LINE 64u
#define ALIGNMENT 256u

static uint64_t round_up(uint64_t n, uint64_t to) { return (n + to - 1) / to * to; }

// Rows a multiple of a kibibyte long would put the texels of a column into a few sets of the cache,
// where they drive each other out: a footprint that is not along x, and a tile of a target, touch
// dozens of rows. One more line per row spreads them.
static uint64_t row_size(uint64_t texels, uint64_t n_rows) {
    uint64_t row = round_up(texels, ROW_ALIGNMENT);
    return row && row % 1024 == 0 && n_rows > 8 ? row + CACHE_LINE : row;
}

static uint32_t at_level(uint32_t size, uint32_t level) {
    return size >> level ? size >> level : 1;
}

static bool is_array(uint32_t type) {
    return type == ABI_TEXTURE_1D_ARRAY || type == ABI_TEXTURE_2D_ARRAY ||
           type == ABI_TEXTURE_CUBE_ARRAY || type == ABI_TEXTURE_2D_MS_ARRAY;
}

static bool is_cube(uint32_t type) {
    return type == ABI_TEXTURE_CUBE || type == ABI_TEXTURE_CUBE_ARRAY;
}

static bool is_multisample(uint32_t type) {
    return type == ABI_TEXTURE_2D_MS || type == ABI_TEXTURE_2D_MS_ARRAY;
}

static bool is_1d(uint32_t type) {
    return type == ABI_TEXTURE_1D || type == ABI_TEXTURE_1D_ARRAY || type == ABI_TEXTURE_BUFFER;
}

uint32_t abi_texture_n_slices(const AbiTexture *texture) {
    return texture->array_length * (is_cube(texture->type) ? 6u : 1u);
}

static bool shape_is_possible(const AbiTextureShape *s, const AbiPixelFormat *f) {
    if (s->type >= ABI_TEXTURE_N_TYPES || !f) return false;
    if (!s->width || !s->height || !s->depth || !s->array_length || !s->n_levels || !s->n_samples)
        return false;
    uint32_t max = s->type == ABI_TEXTURE_BUFFER ? MAX_BUFFER_WIDTH
                   : s->type == ABI_TEXTURE_3D   ? MAX_SIZE_3D
                                                 : MAX_SIZE;
    if (s->width > max || s->height > max || s->depth > max || s->array_length > MAX_LAYERS)
        return false;
    if (is_1d(s->type) && s->height != 1) return false;
    if (abi_format_is_pvrtc(f) &&
        (s->width != s->height || s->width & (s->width - 1) || s->type == ABI_TEXTURE_3D))
        return false;
    if (s->type != ABI_TEXTURE_3D && s->depth != 1) return false;
    if (is_cube(s->type) && s->width != s->height) return false;
    if (!is_array(s->type) && s->array_length != 1) return false;
    if (s->n_samples != 1 && !is_multisample(s->type)) return false;
    if (s->n_samples > 8 || (s->n_samples & (s->n_samples - 1))) return false;
    if (s->n_levels > 1 &&
        (is_multisample(s->type) || s->type == ABI_TEXTURE_BUFFER || s->row_bytes))
        return false;
    uint32_t largest = s->width > s->height ? s->width : s->height;
    if (s->depth > largest) largest = s->depth;
    return s->n_levels <= ABI_MAX_LEVELS && largest >> (s->n_levels - 1) != 0;
}

bool abi_texture_layout(const AbiTextureShape *s, void *base, AbiTexture *texture,
                        AbiTextureSize *size) {
    const AbiPixelFormat *f = abi_pixel_format(s->pixel_format);
    if (!shape_is_possible(s, f)) return false;
    AbiTexture t = {
        .width = s->width,
        .height = s->height,
        .depth = s->depth,
        .array_length = s->array_length,
        .n_levels = s->n_levels,
        .n_samples = s->n_samples,
        .pixel_format = (uint16_t)s->pixel_format,
        .type = (uint8_t)s->type,
        .swizzle = {ABI_SWIZZLE_RED, ABI_SWIZZLE_GREEN, ABI_SWIZZLE_BLUE, ABI_SWIZZLE_ALPHA},
        .format = f};
    uint64_t at = 0, end = 0, n_slices = abi_texture_n_slices(&t);
    for (uint32_t i = 0; i < s->n_levels; i++) {
        AbiTextureLevel *l = &t.levels[i];
        l->width = at_level(s->width, i);
        l->height = at_level(s->height, i);
        l->depth = at_level(s->depth, i);
        uint64_t row = (uint64_t)abi_format_columns(f, l->width) * f->block_bytes;
        uint64_t n_rows = abi_format_rows(f, l->height);
        if (s->row_bytes && s->row_bytes < row) return false;
        l->row_bytes = s->row_bytes ? s->row_bytes : row_size(row, n_rows);
        if (n_rows > UINT64_MAX / 65536 / l->row_bytes) return false;
        l->layer_bytes = l->row_bytes * n_rows;
        l->data = base ? (unsigned char *)base + at : NULL;
        uint64_t n_layers = (s->type == ABI_TEXTURE_3D ? l->depth : n_slices) * s->n_samples;
        if (is_multisample(s->type)) t.sample_bytes = n_slices * l->layer_bytes;
        // The last row of a linear texture ends with its last texel: the buffer may end there.
        end = at + n_layers * l->layer_bytes - (s->row_bytes ? s->row_bytes - row : 0);
        at = round_up(end, LEVEL_ALIGNMENT);
    }
    *size = (AbiTextureSize){.n_bytes = end, .alignment = s->row_bytes ? ROW_ALIGNMENT : ALIGNMENT};
    if (texture) *texture = t;
    return true;
}

static bool view_shape(const AbiTexture *p, const AbiTextureView *v, AbiTexture *t) {
    t->type = (uint8_t)v->type;
    t->array_length = v->n_slices;
    if ((p->type == ABI_TEXTURE_3D || v->type == ABI_TEXTURE_3D) && p->type != v->type)
        return false;
    if ((p->type == ABI_TEXTURE_BUFFER || v->type == ABI_TEXTURE_BUFFER) && p->type != v->type)
        return false;
    if (is_multisample(p->type) != is_multisample(v->type) || is_1d(p->type) != is_1d(v->type))
        return false;
    if (is_cube(v->type)) {
        if (v->n_slices % 6 || p->width != p->height) return false;
        t->array_length /= 6;
    }
    return is_array(v->type) || t->array_length == 1;
}

bool abi_texture_view(const AbiTexture *parent, const AbiTextureView *v, AbiTexture *texture) {
    const AbiPixelFormat *f = abi_pixel_format(v->pixel_format);
    uint32_t n_slices = abi_texture_n_slices(parent);
    if (!f || !abi_format_view_compatible(parent->format, f)) return false;
    if (v->type >= ABI_TEXTURE_N_TYPES || v->n_levels == 0 || v->n_slices == 0) return false;
    if (v->first_level >= parent->n_levels || v->n_levels > parent->n_levels - v->first_level)
        return false;
    if (v->first_slice >= n_slices || v->n_slices > n_slices - v->first_slice) return false;
    AbiTexture t = *parent;
    if (!view_shape(parent, v, &t)) return false;
    t.format = f;
    t.pixel_format = f->value;
    t.n_levels = v->n_levels;
    memset(t.levels, 0, sizeof t.levels);
    for (uint32_t i = 0; i < v->n_levels; i++) {
        t.levels[i] = parent->levels[v->first_level + i];
        if (t.levels[i].data) t.levels[i].data += v->first_slice * t.levels[i].layer_bytes;
    }
    t.width = t.levels[0].width;
    t.height = t.levels[0].height;
    t.depth = t.levels[0].depth;
    t.sparse_level += v->first_level;
    t.sparse_slice += v->first_slice;
    for (int i = 0; i < 4 && v->swizzled; i++) {
        uint8_t s = v->swizzle[i];
        if (s > ABI_SWIZZLE_ALPHA) return false;
        t.swizzle[i] = s >= ABI_SWIZZLE_RED ? parent->swizzle[s - ABI_SWIZZLE_RED] : s;
    }
    t.swizzled = 0;
    for (int i = 0; i < 4; i++) t.swizzled |= t.swizzle[i] != ABI_SWIZZLE_RED + i;
    *texture = t;
    return true;
}
