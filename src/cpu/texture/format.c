// SPDX-License-Identifier: Apache-2.0
// format.c: the table of pixel formats in memory, and which formats may be views of each other.
#include "cpu/texture/format.h"

#define CPU_CAPS_SAMPLED (CPU_FORMAT_READ | CPU_FORMAT_FILTER)
#define CPU_CAPS_PACKED16                                                                          \
    (CPU_CAPS_SAMPLED | CPU_FORMAT_COLOR | CPU_FORMAT_BLEND | CPU_FORMAT_MSAA | CPU_FORMAT_RESOLVE)
#define CPU_CAPS_ALL (CPU_CAPS_PACKED16 | CPU_FORMAT_WRITE | CPU_FORMAT_BUFFER)
#define CPU_CAPS_ALL_RW (CPU_CAPS_ALL | CPU_FORMAT_READ_WRITE)
#define CPU_CAPS_INT                                                                               \
    (CPU_FORMAT_READ | CPU_FORMAT_WRITE | CPU_FORMAT_COLOR | CPU_FORMAT_MSAA | CPU_FORMAT_BUFFER)
#define CPU_CAPS_INT_RW (CPU_CAPS_INT | CPU_FORMAT_READ_WRITE)
#define CPU_CAPS_INT_ATOMIC (CPU_CAPS_INT_RW | CPU_FORMAT_ATOMIC)
#define CPU_CAPS_INT_ATOMIC64 (CPU_CAPS_INT | CPU_FORMAT_ATOMIC64)
#define CPU_CAPS_DEPTH (CPU_CAPS_SAMPLED | CPU_FORMAT_MSAA | CPU_FORMAT_RESOLVE | CPU_FORMAT_DEPTH)
#define CPU_CAPS_STENCIL (CPU_FORMAT_READ | CPU_FORMAT_MSAA | CPU_FORMAT_STENCIL)
#define CPU_CAPS_DEPTH_STENCIL (CPU_CAPS_DEPTH | CPU_FORMAT_STENCIL)
#define CPU_CAPS_REFUSED 0

// {shift, width} of r, g, b, a
#define CPU_BITS_NONE                                                                              \
    {                                                                                              \
        { 0, 0 }                                                                                   \
    }
#define CPU_BITS_A8                                                                                \
    {                                                                                              \
        [3] = { 0, 8 }                                                                             \
    }
#define CPU_BITS_R8                                                                                \
    {                                                                                              \
        { 0, 8 }                                                                                   \
    }
#define CPU_BITS_R16                                                                               \
    {                                                                                              \
        { 0, 16 }                                                                                  \
    }
#define CPU_BITS_R32                                                                               \
    {                                                                                              \
        { 0, 32 }                                                                                  \
    }
#define CPU_BITS_RG8                                                                               \
    {                                                                                              \
        {0, 8}, { 8, 8 }                                                                           \
    }
#define CPU_BITS_RG16                                                                              \
    {                                                                                              \
        {0, 16}, { 16, 16 }                                                                        \
    }
#define CPU_BITS_RG32                                                                              \
    {                                                                                              \
        {0, 32}, { 32, 32 }                                                                        \
    }
#define CPU_BITS_RGBA8                                                                             \
    {                                                                                              \
        {0, 8}, {8, 8}, {16, 8}, { 24, 8 }                                                         \
    }
#define CPU_BITS_BGRA8                                                                             \
    {                                                                                              \
        {16, 8}, {8, 8}, {0, 8}, { 24, 8 }                                                         \
    }
#define CPU_BITS_RGBA16                                                                            \
    {                                                                                              \
        {0, 16}, {16, 16}, {32, 16}, { 48, 16 }                                                    \
    }
#define CPU_BITS_RGBA32                                                                            \
    {                                                                                              \
        {0, 32}, {32, 32}, {64, 32}, { 96, 32 }                                                    \
    }
#define CPU_BITS_B5G6R5                                                                            \
    {                                                                                              \
        {11, 5}, {5, 6}, { 0, 5 }                                                                  \
    }
#define CPU_BITS_A1BGR5                                                                            \
    {                                                                                              \
        {11, 5}, {6, 5}, {1, 5}, { 0, 1 }                                                          \
    }
#define CPU_BITS_ABGR4                                                                             \
    {                                                                                              \
        {12, 4}, {8, 4}, {4, 4}, { 0, 4 }                                                          \
    }
#define CPU_BITS_BGR5A1                                                                            \
    {                                                                                              \
        {10, 5}, {5, 5}, {0, 5}, { 15, 1 }                                                         \
    }
#define CPU_BITS_RGB10A2                                                                           \
    {                                                                                              \
        {0, 10}, {10, 10}, {20, 10}, { 30, 2 }                                                     \
    }
#define CPU_BITS_BGR10A2                                                                           \
    {                                                                                              \
        {20, 10}, {10, 10}, {0, 10}, { 30, 2 }                                                     \
    }
#define CPU_BITS_RG11B10                                                                           \
    {                                                                                              \
        {0, 11}, {11, 11}, { 22, 10 }                                                              \
    }
#define CPU_BITS_RGB9                                                                              \
    {                                                                                              \
        {0, 9}, {9, 9}, { 18, 9 }                                                                  \
    }
#define CPU_BITS_BGR10                                                                             \
    {                                                                                              \
        {20, 10}, {10, 10}, { 0, 10 }                                                              \
    }
#define CPU_BITS_BGRA10_XR                                                                         \
    {                                                                                              \
        {38, 10}, {22, 10}, {6, 10}, { 54, 10 }                                                    \
    }
#define CPU_BITS_D24S8                                                                             \
    {                                                                                              \
        { 0, 24 }                                                                                  \
    }
#define CPU_BITS_X32S8                                                                             \
    {                                                                                              \
        { 32, 8 }                                                                                  \
    }
#define CPU_BITS_X24S8                                                                             \
    {                                                                                              \
        { 24, 8 }                                                                                  \
    }

enum {
#define CPU_PIXEL_FORMAT(name, ...) INDEX_##name,
#include "abi/pixel_formats.def"
    N_FORMATS
};

static const CpuPixelFormat formats[N_FORMATS] = {
#define CPU_PIXEL_FORMAT(name_, value_, coding_, kind_, width_, height_, bytes_, bits_, class_,    \
                         caps_)                                                                    \
    {.name = #name_,                                                                               \
     .value = value_,                                                                              \
     .view_class = class_,                                                                         \
     .caps = CPU_CAPS_##caps_,                                                                     \
     .coding = CPU_CODING_##coding_,                                                               \
     .kind = CPU_KIND_##kind_,                                                                     \
     .block_width = width_,                                                                        \
     .block_height = height_,                                                                      \
     .block_bytes = bytes_,                                                                        \
     .bits = CPU_BITS_##bits_},
#include "abi/pixel_formats.def"
};

#define N_VALUES 556u
static const uint8_t index_of[N_VALUES] = {
// index + 1
#define CPU_PIXEL_FORMAT(name, value, ...) [value] = INDEX_##name + 1,
#include "abi/pixel_formats.def"
};
_Static_assert(N_FORMATS < 255, "index_of holds bytes");

const CpuPixelFormat *cpu_pixel_format(uint32_t pixel_format) {
    if (pixel_format >= N_VALUES || index_of[pixel_format] == 0) return NULL;
    return &formats[index_of[pixel_format] - 1];
}

bool cpu_format_has_alpha(const CpuPixelFormat *f) {
    switch (f->coding) {
    case CPU_CODING_BITS: return f->bits[3].n_bits != 0;
    case CPU_CODING_BC1:
    case CPU_CODING_BC2:
    case CPU_CODING_BC3:
    case CPU_CODING_BC7:
    case CPU_CODING_ETC2_RGBA8:
    case CPU_CODING_ETC2_RGB8A1:
    case CPU_CODING_ASTC:
    case CPU_CODING_ASTC_HDR: return true;
    default: return false;
    }
}

bool cpu_format_view_compatible(const CpuPixelFormat *a, const CpuPixelFormat *b) {
    return a->view_class == b->view_class;
}
