// SPDX-License-Identifier: Apache-2.0
// pixel_format.c: the table of pixel formats in memory, and which formats may be views of each
// other.
#include "abi/pixel_format.h"
#include <stddef.h>

#define ABI_CAPS_SAMPLED (ABI_FORMAT_READ | ABI_FORMAT_FILTER)
#define ABI_CAPS_PACKED16                                                                          \
    (ABI_CAPS_SAMPLED | ABI_FORMAT_COLOR | ABI_FORMAT_BLEND | ABI_FORMAT_MSAA | ABI_FORMAT_RESOLVE)
#define ABI_CAPS_ALL (ABI_CAPS_PACKED16 | ABI_FORMAT_WRITE | ABI_FORMAT_BUFFER)
#define ABI_CAPS_ALL_RW (ABI_CAPS_ALL | ABI_FORMAT_READ_WRITE)
#define ABI_CAPS_INT                                                                               \
    (ABI_FORMAT_READ | ABI_FORMAT_WRITE | ABI_FORMAT_COLOR | ABI_FORMAT_MSAA | ABI_FORMAT_BUFFER)
#define ABI_CAPS_INT_RW (ABI_CAPS_INT | ABI_FORMAT_READ_WRITE)
#define ABI_CAPS_INT_ATOMIC (ABI_CAPS_INT_RW | ABI_FORMAT_ATOMIC)
#define ABI_CAPS_INT_ATOMIC64 (ABI_CAPS_INT | ABI_FORMAT_ATOMIC64)
#define ABI_CAPS_DEPTH (ABI_CAPS_SAMPLED | ABI_FORMAT_MSAA | ABI_FORMAT_RESOLVE | ABI_FORMAT_DEPTH)
#define ABI_CAPS_STENCIL (ABI_FORMAT_READ | ABI_FORMAT_MSAA | ABI_FORMAT_STENCIL)
#define ABI_CAPS_DEPTH_STENCIL (ABI_CAPS_DEPTH | ABI_FORMAT_STENCIL)

// {shift, width} of r, g, b, a
#define ABI_BITS_NONE {{0, 0}}
#define ABI_BITS_A8 {[3] = {0, 8}}
#define ABI_BITS_R8 {{0, 8}}
#define ABI_BITS_R16 {{0, 16}}
#define ABI_BITS_R32 {{0, 32}}
#define ABI_BITS_RG8 {{0, 8}, {8, 8}}
#define ABI_BITS_RG16 {{0, 16}, {16, 16}}
#define ABI_BITS_RG32 {{0, 32}, {32, 32}}
#define ABI_BITS_RGBA8 {{0, 8}, {8, 8}, {16, 8}, {24, 8}}
#define ABI_BITS_BGRA8 {{16, 8}, {8, 8}, {0, 8}, {24, 8}}
#define ABI_BITS_RGBA16 {{0, 16}, {16, 16}, {32, 16}, {48, 16}}
#define ABI_BITS_RGBA32 {{0, 32}, {32, 32}, {64, 32}, {96, 32}}
#define ABI_BITS_B5G6R5 {{11, 5}, {5, 6}, {0, 5}}
#define ABI_BITS_A1BGR5 {{11, 5}, {6, 5}, {1, 5}, {0, 1}}
#define ABI_BITS_ABGR4 {{12, 4}, {8, 4}, {4, 4}, {0, 4}}
#define ABI_BITS_BGR5A1 {{10, 5}, {5, 5}, {0, 5}, {15, 1}}
#define ABI_BITS_RGB10A2 {{0, 10}, {10, 10}, {20, 10}, {30, 2}}
#define ABI_BITS_BGR10A2 {{20, 10}, {10, 10}, {0, 10}, {30, 2}}
#define ABI_BITS_RG11B10 {{0, 11}, {11, 11}, {22, 10}}
#define ABI_BITS_RGB9 {{0, 9}, {9, 9}, {18, 9}}
#define ABI_BITS_BGR10 {{20, 10}, {10, 10}, {0, 10}}
#define ABI_BITS_BGRA10_XR {{38, 10}, {22, 10}, {6, 10}, {54, 10}}
#define ABI_BITS_D24S8 {{0, 24}}
#define ABI_BITS_X32S8 {{32, 8}}
#define ABI_BITS_X24S8 {{24, 8}}

enum {
#define ABI_PIXEL_FORMAT(name, ...) INDEX_##name,
#include "abi/pixel_formats.def"
    N_FORMATS
};

static const AbiPixelFormat formats[N_FORMATS] = {
#define ABI_PIXEL_FORMAT(name_, value_, coding_, kind_, width_, height_, bytes_, bits_, class_,    \
                         caps_)                                                                    \
    {.name = #name_,                                                                               \
     .value = value_,                                                                              \
     .view_class = class_,                                                                         \
     .caps = ABI_CAPS_##caps_,                                                                     \
     .coding = ABI_CODING_##coding_,                                                               \
     .kind = ABI_KIND_##kind_,                                                                     \
     .block_width = width_,                                                                        \
     .block_height = height_,                                                                      \
     .block_bytes = bytes_,                                                                        \
     .bits = ABI_BITS_##bits_},
#include "abi/pixel_formats.def"
};

#define N_VALUES 556u
static const uint8_t index_of[N_VALUES] = {
// index + 1
#define ABI_PIXEL_FORMAT(name, value, ...) [value] = INDEX_##name + 1,
#include "abi/pixel_formats.def"
};
_Static_assert(N_FORMATS < 255, "index_of holds bytes");

const AbiPixelFormat *abi_pixel_format(uint32_t pixel_format) {
    if (pixel_format >= N_VALUES || index_of[pixel_format] == 0) return NULL;
    return &formats[index_of[pixel_format] - 1];
}

bool abi_format_has_alpha(const AbiPixelFormat *f) {
    switch (f->coding) {
    case ABI_CODING_BITS: return f->bits[3].n_bits != 0;
    case ABI_CODING_BC1:
    case ABI_CODING_BC2:
    case ABI_CODING_BC3:
    case ABI_CODING_BC7:
    case ABI_CODING_ETC2_RGBA8:
    case ABI_CODING_ETC2_RGB8A1:
    case ABI_CODING_ASTC:
    case ABI_CODING_ASTC_HDR:
    case ABI_CODING_PVRTC_RGBA: return true;
    default: return false;
    }
}

bool abi_format_view_compatible(const AbiPixelFormat *a, const AbiPixelFormat *b) {
    return a->view_class == b->view_class;
}
