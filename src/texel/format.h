// SPDX-License-Identifier: Apache-2.0
// format.h: texels to and from numbers, exactly as Metal's conversion rules say:
//   unorm    value / (2^n - 1); written: clamped to 0 .. 1 (NaN: 0), rounded to nearest, ties to
//   even
//   snorm    max(value / (2^(n-1) - 1), -1); written: clamped to -1 .. 1, rounded likewise
//   sRGB     r, g, b through the transfer function of IEC 61966-2-1, correctly rounded; a is unorm
//   float    IEEE; 11 and 10 bits unsigned (negative: 0). Denormals, infinities and NaN are kept
//   shared   RGB9E5 with the encoding of the OpenGL and Direct3D specifications
//   XR       (value - 384) / 510; XR_sRGB: the same, then the sRGB function with its sign kept
//   integers are clamped to the format's range when written
// Components a format does not have read as 0, alpha as 1; writing them does nothing.
#ifndef INGOT_TEXEL_FORMAT_H
#define INGOT_TEXEL_FORMAT_H
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "abi/texture_layout.h"

typedef enum TexelFormat { // AbiPixelFormat.value
#define ABI_PIXEL_FORMAT(name, value, ...) TEXEL_##name = value,
#include "abi/pixel_formats.def"
} TexelFormat;

// A row of n texels to and from r, g, b, a. ABI_CODING_BITS only: assert. Float functions are for
// formats that are not integers, the others for integers: 32-bit two's complement of uint or sint.
void texel_decode_float(const AbiPixelFormat *f, const void *texels, size_t n, float *rgba);
void texel_encode_float(const AbiPixelFormat *f, const float *rgba, size_t n, void *texels);
void texel_decode_int(const AbiPixelFormat *f, const void *texels, size_t n, uint32_t *rgba);
// The values are uint where from_signed is false, else int; clamped to what the format holds.
void texel_encode_int(const AbiPixelFormat *f, const uint32_t *rgba, bool from_signed, size_t n,
                      void *texels);

// A block (block_width x block_height texels, x fastest) of a blocked format to r, g, b, a. false:
// the format has no blocks, or none that can be decoded alone (PVRTC).
bool texel_decode_block(const AbiPixelFormat *f, const void *block, float *rgba);
// The same for any blocked format: the block that holds texel x, y of a level of a texture.
bool texel_decode_block_in(const AbiTexture *texture, uint32_t level, uint32_t x, uint32_t y,
                           const void *block, float *rgba);

// Single numbers.
float texel_small_to_float(uint32_t bits, unsigned n_bits); // unsigned, 11 or 10 bits
uint32_t texel_float_to_small(float value, unsigned n_bits);
uint32_t texel_float_to_rgb9e5(const float rgb[3]);
void texel_rgb9e5_to_float(uint32_t bits, float rgb[3]);
double texel_srgb_to_linear(double encoded); // odd: -f(-x) below 0
double texel_linear_to_srgb(double linear);
float texel_srgb8_to_linear(uint8_t encoded);
uint8_t texel_linear_to_srgb8(float linear); // correctly rounded
#endif
