// SPDX-License-Identifier: Apache-2.0
// format.h: pixel formats as the CPU device knows them (the table is pixel_formats.def), and texels
// to and from numbers, exactly as Metal's conversion rules say:
//   unorm   value / (2^n - 1); written: clamped to 0 .. 1 (NaN: 0), rounded to nearest, ties to
//   even snorm   max(value / (2^(n-1) - 1), -1); written: clamped to -1 .. 1, rounded likewise sRGB
//   r, g, b through the transfer function of IEC 61966-2-1, correctly rounded; a is unorm float
//   IEEE; 11 and 10 bits unsigned (negative: 0). Denormals, infinities and NaN are kept shared
//   RGB9E5 with the encoding of the OpenGL and Direct3D specifications XR      (value - 384) / 510;
//   XR_sRGB: the same, then the sRGB function with its sign kept integers are clamped to the
//   format's range when written
// Components a format does not have read as 0, alpha as 1; writing them does nothing.
#ifndef INGOT_CPU_FORMAT_H
#define INGOT_CPU_FORMAT_H
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef enum CpuFormatCoding {
    CPU_CODING_BITS, // each component is a bit field of the texel
    CPU_CODING_GBGR422,
    CPU_CODING_BGRG422,
    CPU_CODING_BC1,
    CPU_CODING_BC2,
    CPU_CODING_BC3,
    CPU_CODING_BC4,
    CPU_CODING_BC5,
    CPU_CODING_BC6H_SIGNED,
    CPU_CODING_BC6H_UNSIGNED,
    CPU_CODING_BC7,
    CPU_CODING_EAC_R11,
    CPU_CODING_EAC_RG11,
    CPU_CODING_ETC2_RGB8,
    CPU_CODING_ETC2_RGBA8,
    CPU_CODING_ETC2_RGB8A1,
    CPU_CODING_ASTC,
    CPU_CODING_ASTC_HDR,
    CPU_CODING_PVRTC,
} CpuFormatCoding;

typedef enum CpuFormatKind {
    CPU_KIND_UNORM,
    CPU_KIND_SNORM,
    CPU_KIND_UINT,
    CPU_KIND_SINT,
    CPU_KIND_FLOAT,
    CPU_KIND_SRGB,
    CPU_KIND_SHARED,
    CPU_KIND_XR,
    CPU_KIND_XR_SRGB,
} CpuFormatKind;

enum {                         // CpuPixelFormat.caps
    CPU_FORMAT_READ = 1,       // shaders may read and sample it
    CPU_FORMAT_FILTER = 2,     // with linear filters
    CPU_FORMAT_WRITE = 4,      // shaders may write it
    CPU_FORMAT_READ_WRITE = 8, // access::read_write (tier 2)
    CPU_FORMAT_ATOMIC = 16,    // 32-bit texture atomics
    CPU_FORMAT_ATOMIC64 = 32,  // 64-bit texture atomics
    CPU_FORMAT_COLOR = 64,     // attachments of render passes
    CPU_FORMAT_BLEND = 128,
    CPU_FORMAT_MSAA = 256,
    CPU_FORMAT_RESOLVE = 512,
    CPU_FORMAT_DEPTH = 1024,   // has a depth aspect
    CPU_FORMAT_STENCIL = 2048, // has a stencil aspect
    CPU_FORMAT_BUFFER = 4096,  // texture buffers of it exist
};

typedef struct CpuFormatBits {
    uint8_t shift, n_bits; // n_bits 0: the component does not exist
} CpuFormatBits;

typedef struct CpuPixelFormat {
    const char *name; // "RGBA8Unorm"
    uint16_t value;   // MTLPixelFormat
    uint16_t view_class;
    uint16_t caps; // 0: no texture of this format can be made here (PVRTC, ASTC HDR)
    uint8_t coding, kind;
    uint8_t block_width, block_height, block_bytes;
    CpuFormatBits bits[4]; // r, g, b, a (CPU_CODING_BITS)
} CpuPixelFormat;

// NULL: there is no such format.
const CpuPixelFormat *cpu_pixel_format(uint32_t pixel_format);

static inline bool cpu_format_is_integer(const CpuPixelFormat *f) {
    return f->kind == CPU_KIND_UINT || f->kind == CPU_KIND_SINT;
}

// More than one texel in a block: BC, ASTC, EAC, ETC2, PVRTC, 422.
static inline bool cpu_format_is_blocked(const CpuPixelFormat *f) {
    return f->coding != CPU_CODING_BITS;
}

// Compressed in Metal's sense: 422 formats are not.
static inline bool cpu_format_is_compressed(const CpuPixelFormat *f) {
    return f->coding >= CPU_CODING_BC1;
}

bool cpu_format_has_alpha(const CpuPixelFormat *f);

// May a texture of one format be seen through the other?
bool cpu_format_view_compatible(const CpuPixelFormat *a, const CpuPixelFormat *b);

// A row of n texels to and from r, g, b, a. CPU_CODING_BITS only: assert. Float functions are for
// formats that are not integers, the others for integers: 32-bit two's complement of uint or sint.
void cpu_format_decode_float(const CpuPixelFormat *f, const void *texels, size_t n, float *rgba);
void cpu_format_encode_float(const CpuPixelFormat *f, const float *rgba, size_t n, void *texels);
void cpu_format_decode_int(const CpuPixelFormat *f, const void *texels, size_t n, uint32_t *rgba);
// The values are uint where from_signed is false, else int; clamped to what the format holds.
void cpu_format_encode_int(const CpuPixelFormat *f, const uint32_t *rgba, bool from_signed,
                           size_t n, void *texels);

// A block (block_width x block_height texels, x fastest) of a blocked format to r, g, b, a. false:
// there is no decoder for the format.
bool cpu_format_decode_block(const CpuPixelFormat *f, const void *block, float *rgba);

// Single numbers.
float cpu_half_to_float(uint16_t half);
uint16_t cpu_float_to_half(float value);                  // to nearest, ties to even; NaN stays NaN
float cpu_small_to_float(uint32_t bits, unsigned n_bits); // unsigned, 11 or 10 bits
uint32_t cpu_float_to_small(float value, unsigned n_bits);
uint32_t cpu_float_to_rgb9e5(const float rgb[3]);
void cpu_rgb9e5_to_float(uint32_t bits, float rgb[3]);
double cpu_srgb_to_linear(double encoded); // odd: -f(-x) below 0
double cpu_linear_to_srgb(double linear);
float cpu_srgb8_to_linear(uint8_t encoded);
uint8_t cpu_linear_to_srgb8(float linear); // correctly rounded
#endif
