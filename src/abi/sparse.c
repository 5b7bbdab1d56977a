// SPDX-License-Identifier: Apache-2.0
// sparse.c: tiles of sparse textures as texels (sparse.h).
#include "abi/sparse.h"
#include <string.h>
#include "abi/texture_layout.h"

static uint32_t least(uint32_t a, uint32_t b) { return a < b ? a : b; }

AbiSparseBox abi_sparse_box(const AbiTexture *t, uint32_t level, uint32_t x, uint32_t y,
                            uint32_t z) {
    const AbiSparse *s = t->sparse;
    const AbiTextureLevel *l = &t->levels[level];
    if (level + t->sparse_level >= s->tail_level)
        return (AbiSparseBox){0, 0, 0, l->width, l->height, l->depth};
    AbiSparseBox box = {x * s->tile[0], y * s->tile[1], z * s->tile[2], 0, 0, 0};
    if (box.x >= l->width || box.y >= l->height || box.z >= l->depth) return (AbiSparseBox){0};
    box.width = least(s->tile[0], l->width - box.x);
    box.height = least(s->tile[1], l->height - box.y);
    box.depth = least(s->tile[2], l->depth - box.z);
    return box;
}

static bool is_clear(const unsigned char *bytes, size_t n) {
    return n == 0 || (bytes[0] == 0 && memcmp(bytes, bytes + 1, n - 1) == 0);
}

unsigned char *abi_sparse_copy(const AbiTexture *t, uint32_t level, uint32_t slice,
                               AbiSparseBox box, unsigned char *packed, bool to_texture) {
    const AbiPixelFormat *f = t->format;
    size_t row = (size_t)(box.width + f->block_width - 1) / f->block_width * f->block_bytes;
    for (uint32_t z = 0; z < box.depth; z++)
        for (uint32_t y = 0; y < box.height; y += f->block_height) {
            unsigned char *at = abi_texture_at(t, level, box.x, box.y + y, slice + box.z + z, 0);
            if (!packed && !is_clear(at, row)) // pages nobody wrote to stay the system's
                memset(at, 0, row);
            else if (packed)
                memcpy(to_texture ? at : packed, to_texture ? packed : at, row);
            if (packed) packed += row;
        }
    return packed;
}

void abi_sparse_scrub(const AbiTexture *t, uint32_t level, uint32_t slice, uint32_t n_slices) {
    const AbiSparse *s = t->sparse;
    const AbiTextureLevel *l = &t->levels[level];
    bool tail = level + t->sparse_level >= s->tail_level, deep = t->type == ABI_TEXTURE_3D;
    uint32_t columns = tail ? 1 : (l->width + s->tile[0] - 1) / s->tile[0];
    uint32_t rows = tail ? 1 : (l->height + s->tile[1] - 1) / s->tile[1];
    for (uint32_t i = 0; i < n_slices; i++)
        for (uint32_t y = 0; y < rows; y++)
            for (uint32_t x = 0; x < columns; x++) {
                uint32_t z = deep ? slice + i : 0, of = deep ? 0 : slice + i;
                if (abi_sparse_texel(t, level, of, x * s->tile[0], y * s->tile[1], z)) continue;
                AbiSparseBox box = abi_sparse_box(t, level, x, y, tail ? 0 : z / s->tile[2]);
                box.z = z, box.depth = 1;
                abi_sparse_copy(t, level, of, box, NULL, true);
            }
}
