// SPDX-License-Identifier: Apache-2.0
// pixel_format.h: what pixel formats are and what they can do; the table is pixel_formats.def.
#ifndef INGOT_ABI_PIXEL_FORMAT_H
#define INGOT_ABI_PIXEL_FORMAT_H
#include <stdbool.h>
#include <stdint.h>

typedef enum AbiFormatCoding {
    ABI_CODING_BITS, // each component is a bit field of the texel
    ABI_CODING_GBGR422,
    ABI_CODING_BGRG422,
    ABI_CODING_BC1,
    ABI_CODING_BC2,
    ABI_CODING_BC3,
    ABI_CODING_BC4,
    ABI_CODING_BC5,
    ABI_CODING_BC6H_SIGNED,
    ABI_CODING_BC6H_UNSIGNED,
    ABI_CODING_BC7,
    ABI_CODING_EAC_R11,
    ABI_CODING_EAC_RG11,
    ABI_CODING_ETC2_RGB8,
    ABI_CODING_ETC2_RGBA8,
    ABI_CODING_ETC2_RGB8A1,
    ABI_CODING_ASTC,
    ABI_CODING_ASTC_HDR,
    ABI_CODING_PVRTC_RGB,
    ABI_CODING_PVRTC_RGBA,
} AbiFormatCoding;

typedef enum AbiFormatKind {
    ABI_KIND_UNORM,
    ABI_KIND_SNORM,
    ABI_KIND_UINT,
    ABI_KIND_SINT,
    ABI_KIND_FLOAT,
    ABI_KIND_SRGB,
    ABI_KIND_SHARED,
    ABI_KIND_XR,
    ABI_KIND_XR_SRGB,
} AbiFormatKind;

enum {                         // AbiPixelFormat.caps
    ABI_FORMAT_READ = 1,       // shaders may read and sample it
    ABI_FORMAT_FILTER = 2,     // with linear filters
    ABI_FORMAT_WRITE = 4,      // shaders may write it
    ABI_FORMAT_READ_WRITE = 8, // access::read_write (tier 2)
    ABI_FORMAT_ATOMIC = 16,    // 32-bit texture atomics
    ABI_FORMAT_ATOMIC64 = 32,  // 64-bit texture atomics
    ABI_FORMAT_COLOR = 64,     // attachments of render passes
    ABI_FORMAT_BLEND = 128,
    ABI_FORMAT_MSAA = 256,
    ABI_FORMAT_RESOLVE = 512,
    ABI_FORMAT_DEPTH = 1024,   // has a depth aspect
    ABI_FORMAT_STENCIL = 2048, // has a stencil aspect
    ABI_FORMAT_BUFFER = 4096,  // texture buffers of it exist
};

typedef struct AbiFormatBits {
    uint8_t shift, n_bits; // n_bits 0: the component does not exist
} AbiFormatBits;

typedef struct AbiPixelFormat {
    const char *name; // "RGBA8Unorm"
    uint16_t value;   // MTLPixelFormat
    uint16_t view_class;
    uint16_t caps; // ABI_FORMAT_
    uint8_t coding, kind;
    uint8_t block_width, block_height, block_bytes;
    AbiFormatBits bits[4]; // r, g, b, a (ABI_CODING_BITS)
} AbiPixelFormat;

// NULL: there is no such format.
const AbiPixelFormat *abi_pixel_format(uint32_t pixel_format);

static inline bool abi_format_is_integer(const AbiPixelFormat *f) {
    return f->kind == ABI_KIND_UINT || f->kind == ABI_KIND_SINT;
}

// More than one texel in a block: BC, ASTC, EAC, ETC2, PVRTC, 422.
static inline bool abi_format_is_blocked(const AbiPixelFormat *f) {
    return f->coding != ABI_CODING_BITS;
}

// Compressed in Metal's sense: 422 formats are not.
static inline bool abi_format_is_compressed(const AbiPixelFormat *f) {
    return f->coding >= ABI_CODING_BC1;
}

// Its blocks are decoded through their neighbours, and programs keep them in an order of their own.
static inline bool abi_format_is_pvrtc(const AbiPixelFormat *f) {
    return f->coding == ABI_CODING_PVRTC_RGB || f->coding == ABI_CODING_PVRTC_RGBA;
}

// Blocks in a row, and rows of blocks, of so many texels. Of PVRTC there are two at least: the
// smallest levels take as many bytes as that.
static inline uint32_t abi_format_columns(const AbiPixelFormat *f, uint32_t width) {
    uint32_t n = (width + f->block_width - 1u) / f->block_width;
    return n < 2 && abi_format_is_pvrtc(f) ? 2 : n;
}

static inline uint32_t abi_format_rows(const AbiPixelFormat *f, uint32_t height) {
    uint32_t n = (height + f->block_height - 1u) / f->block_height;
    return n < 2 && abi_format_is_pvrtc(f) ? 2 : n;
}

bool abi_format_has_alpha(const AbiPixelFormat *f);

// May a texture of one format be seen through the other?
bool abi_format_view_compatible(const AbiPixelFormat *a, const AbiPixelFormat *b);
#endif
