// SPDX-License-Identifier: Apache-2.0
// texture_layout.h: where the texels of a texture lie. Level after level; inside a level array
// slice after array slice (cube faces: face + 6 * index; 3D: plane after plane), each a number of
// rows.
// Multisample textures are planes of one sample each, AbiTexture.sample_bytes apart.
#ifndef INGOT_ABI_TEXTURE_LAYOUT_H
#define INGOT_ABI_TEXTURE_LAYOUT_H
#include <stdbool.h>
#include "abi/pixel_format.h"
#include "abi/texture.h"

enum { // MTLTextureType
    ABI_TEXTURE_1D = 0,
    ABI_TEXTURE_1D_ARRAY,
    ABI_TEXTURE_2D,
    ABI_TEXTURE_2D_ARRAY,
    ABI_TEXTURE_2D_MS,
    ABI_TEXTURE_CUBE,
    ABI_TEXTURE_CUBE_ARRAY,
    ABI_TEXTURE_3D,
    ABI_TEXTURE_2D_MS_ARRAY,
    ABI_TEXTURE_BUFFER,
    ABI_TEXTURE_N_TYPES,
};
enum { // MTLTextureSwizzle
    ABI_SWIZZLE_ZERO = 0,
    ABI_SWIZZLE_ONE,
    ABI_SWIZZLE_RED,
    ABI_SWIZZLE_GREEN,
    ABI_SWIZZLE_BLUE,
    ABI_SWIZZLE_ALPHA,
};

typedef struct AbiTextureShape {
    uint32_t type, pixel_format;
    uint32_t width, height, depth; // 1 where the type has no such dimension
    uint32_t array_length;         // of a cube array: cubes; 1 unless an array
    uint32_t n_levels, n_samples;
    uint64_t row_bytes; // 0: chosen here; else what the program says (linear textures, one level)
} AbiTextureShape;

typedef struct AbiTextureSize {
    uint64_t n_bytes; // from the first byte of the first texel to the end of the last
    uint64_t alignment;
} AbiTextureSize;

// Cube faces, array slices: the layers of one level that are not planes of a 3D texture.
uint32_t abi_texture_n_slices(const AbiTexture *texture);

// Fills in the size and, where texture is not NULL, the texture with its first byte at base. false:
// a dimension is 0 or too large, there are more levels than the size has, row_bytes is too small,
// the type or format is unknown or not supported (nothing is written).
bool abi_texture_layout(const AbiTextureShape *shape, void *base, AbiTexture *texture,
                        AbiTextureSize *size);

// What a view shows of its parent. Slices count faces. The swizzle is applied after the parent's.
typedef struct AbiTextureView {
    uint32_t type, pixel_format;
    uint32_t first_level, n_levels;
    uint32_t first_slice, n_slices;
    bool swizzled;      // false: swizzle is not looked at
    uint8_t swizzle[4]; // ABI_SWIZZLE_ for r, g, b, a
} AbiTextureView;

// false: levels or slices outside the parent, a type that cannot show them, formats that are not
// compatible (nothing is written).
bool abi_texture_view(const AbiTexture *parent, const AbiTextureView *view, AbiTexture *texture);

// Address of the texel or block at x, y (texels, multiples of the block), slice or plane z. The
// caller has checked the range. sample: 0 unless multisample.
static inline unsigned char *abi_texture_at(const AbiTexture *t, uint32_t level, uint32_t x,
                                            uint32_t y, uint32_t z, uint32_t sample) {
    const AbiTextureLevel *l = &t->levels[level];
    const AbiPixelFormat *f = t->format;
    return l->data + z * l->layer_bytes + sample * t->sample_bytes +
           y / f->block_height * l->row_bytes + (uint64_t)(x / f->block_width) * f->block_bytes;
}
#endif
