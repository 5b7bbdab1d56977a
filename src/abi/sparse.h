// SPDX-License-Identifier: Apache-2.0
// sparse.h: which tiles of a sparse texture have memory. Texels lie where those of other textures
// do (texture_layout.h); a tile that is not mapped holds zeros, always: reads need not look, and
// what is written there is dropped before (kernels) or cleared after (copies, render passes).
#ifndef INGOT_ABI_SPARSE_H
#define INGOT_ABI_SPARSE_H
#include <stdbool.h>
#include "abi/texture.h"

// Tiles have numbers: level by level, in it slice by slice (of 3D textures: plane by plane of
// tiles), row by row. Levels from tail_level on are one tile for each slice, behind all others.
typedef struct AbiSparseLevel {
    uint32_t first, columns, rows, planes; // planes: of a slice
} AbiSparseLevel;
typedef struct AbiSparse {
    uint32_t tile[3]; // texels
    uint32_t tail_level, tail_first;
    uint32_t n_tiles;
    uint32_t *bits; // set: mapped; changed while kernels run
    AbiSparseLevel levels[ABI_MAX_LEVELS];
} AbiSparse;

// The number of a tile, by its place in tiles; level and slice are those of the whole texture.
static inline uint32_t abi_sparse_tile(const AbiSparse *s, uint32_t level, uint32_t slice,
                                       uint32_t x, uint32_t y, uint32_t z) {
    if (level >= s->tail_level) return s->tail_first + slice;
    const AbiSparseLevel *l = &s->levels[level];
    return l->first + ((slice * l->planes + z) * l->rows + y) * l->columns + x;
}

static inline bool abi_sparse_mapped(const AbiSparse *s, uint32_t tile) {
    return __atomic_load_n(&s->bits[tile / 32], __ATOMIC_RELAXED) >> tile % 32 & 1;
}

static inline void abi_sparse_set(const AbiSparse *s, uint32_t tile, bool mapped) {
    if (mapped)
        __atomic_fetch_or(&s->bits[tile / 32], 1u << tile % 32, __ATOMIC_RELEASE);
    else
        __atomic_fetch_and(&s->bits[tile / 32], ~(1u << tile % 32), __ATOMIC_RELEASE);
}

// Is the texel's tile mapped? Places outside the texture: anything.
static inline bool abi_sparse_texel(const AbiTexture *t, uint32_t level, uint32_t slice, uint32_t x,
                                    uint32_t y, uint32_t z) {
    const AbiSparse *s = t->sparse;
    uint32_t tile = abi_sparse_tile(s, t->sparse_level + level, t->sparse_slice + slice,
                                    x / s->tile[0], y / s->tile[1], z / s->tile[2]);
    return tile < s->n_tiles && abi_sparse_mapped(s, tile);
}

// A tile as a box of texels in a level of the whole texture; of the tail: all of the level.
typedef struct AbiSparseBox {
    uint32_t x, y, z, width, height, depth;
} AbiSparseBox;
AbiSparseBox abi_sparse_box(const AbiTexture *texture, uint32_t level, uint32_t x, uint32_t y,
                            uint32_t z);
// Copies the texels of a box from or to packed memory, which moves on; NULL: clears them.
unsigned char *abi_sparse_copy(const AbiTexture *texture, uint32_t level, uint32_t slice,
                               AbiSparseBox box, unsigned char *packed, bool to_texture);
// Something was written to these slices (planes of a 3D texture) of a level: clears what has no
// memory.
void abi_sparse_scrub(const AbiTexture *texture, uint32_t level, uint32_t slice, uint32_t n_slices);
#endif
