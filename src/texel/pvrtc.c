// SPDX-License-Identifier: Apache-2.0
// pvrtc.c: PVRTC 1, bit for bit as the Khronos Data Format Specification describes it. A block has
// a colour of each of two small pictures, A and B, and says how the texels of its place mix them.
// The pictures are enlarged bilinearly, a block's colour standing at its middle, so that a texel
// needs four blocks' colours, and in two of the modes of 2 bits the mixtures of texels next to it:
// with its eight neighbours a block is complete. The level repeats at its edges.
#include "texel/blocks.h"
#include "texel/format.h"

typedef struct Block {
    uint32_t mixtures, colors;
} Block;

// The block in the middle [1][1] and those around it, [row][column].
typedef struct Patch {
    Block block[3][3];
    unsigned width; // texels of a block in x: 8 of 2 bits, or 4 of 4; in y there are always 4
} Patch;

static uint32_t little_32(const uint8_t *p) {
    return (uint32_t)p[0] | (uint32_t)p[1] << 8 | (uint32_t)p[2] << 16 | (uint32_t)p[3] << 24;
}

static void load_patch(const TexelBlocks *level, uint32_t column, uint32_t row, Patch *patch) {
    for (unsigned y = 0; y < 3; y++)
        for (unsigned x = 0; x < 3; x++) {
            uint32_t bx = (column + level->n_columns + x - 1) % level->n_columns;
            uint32_t by = (row + level->n_rows + y - 1) % level->n_rows;
            const uint8_t *at = level->at + by * level->row_bytes + (uint64_t)bx * 8;
            patch->block[y][x] = (Block){little_32(at), little_32(at + 4)};
        }
}

// ---- Colours ----

// Picture 0 is A, 1 is B: r, g, b of 5 bits and a of 4. A has one bit less of blue: the lowest bit
// of the word is the mode.
static void color_of(Block block, unsigned picture, int c[4]) {
    uint32_t v = picture ? block.colors >> 16 : block.colors & 0xfffe;
    if (v & 0x8000) { // opaque
        c[0] = (int)(v >> 10 & 31);
        c[1] = (int)(v >> 5 & 31);
        c[2] = (int)(picture ? v & 31 : (v & 30) | (v >> 4 & 1));
        c[3] = 15;
        return;
    }
    uint32_t r = v >> 8 & 15, g = v >> 4 & 15, b = v & 15;
    c[0] = (int)(r << 1 | r >> 3);
    c[1] = (int)(g << 1 | g >> 3);
    c[2] = (int)(picture ? b << 1 | b >> 3 : b << 1 | b >> 2);
    c[3] = (int)(v >> 12 & 7) << 1;
}

// The picture's colour at a texel of the middle block, 8 bits each. Sums of 16 or 32 colours become
// 8 bits by repeating their highest bits.
static void enlarged(const Patch *p, unsigned picture, unsigned x, unsigned y, int c[4]) {
    unsigned width = p->width, left = x >= width / 2, up = y >= 2;
    int u = (int)((x + width / 2) % width), v = (int)((y + 2) % 4), w = (int)width, corner[4][4];
    for (unsigned i = 0; i < 4; i++)
        color_of(p->block[up + i / 2][left + i % 2], picture, corner[i]);
    unsigned wide = width == 8;
    for (int i = 0; i < 4; i++) {
        int above = corner[0][i] * (w - u) + corner[1][i] * u;
        int below = corner[2][i] * (w - u) + corner[3][i] * u;
        int sum = above * (4 - v) + below * v;
        c[i] =
            i < 3 ? (sum >> (6 + wide)) + (sum >> (1 + wide)) : (sum >> (4 + wide)) + (sum >> wide);
    }
}

// ---- Mixtures: eighths of B ----

static const uint8_t eighths[4] = {0, 3, 5, 8};

// What is stored for a texel of a block of 2 bits. With the mode bit every other texel has a
// mixture, of two bits; the lowest bit of the first says that not both directions are averaged, and
// then that of texel 4, 2 which one is: their texels have the higher bit alone.
static int stored_2(Block b, unsigned x, unsigned y) {
    if (!(b.colors & 1)) return b.mixtures >> (y * 8 + x) & 1 ? 8 : 0;
    unsigned at = (y * 4 + x / 2) * 2, two = b.mixtures >> at & 3;
    bool single = at == 0 || (at == 20 && b.mixtures & 1);
    return single ? (two & 2 ? 8 : 0) : eighths[two];
}

// At a texel of the middle block or one next to it.
static int stored_at(const Patch *p, int x, int y) {
    unsigned column = (unsigned)(x + 8) / 8, row = (unsigned)(y + 4) / 4;
    return stored_2(p->block[row][column], (unsigned)(x + 8) % 8, (unsigned)(y + 4) % 4);
}

static int mixture_2(const Patch *p, int x, int y) {
    Block b = p->block[1][1];
    if (!(b.colors & 1) || !((x ^ y) & 1)) return stored_at(p, x, y);
    int across = stored_at(p, x - 1, y) + stored_at(p, x + 1, y);
    int down = stored_at(p, x, y - 1) + stored_at(p, x, y + 1);
    if (!(b.mixtures & 1)) return (across + down + 2) / 4;
    return (b.mixtures >> 20 & 1 ? down + 1 : across + 1) / 2;
}

static int mixture_4(Block b, unsigned x, unsigned y, bool *hole) {
    unsigned two = b.mixtures >> (y * 4 + x) * 2 & 3;
    if (!(b.colors & 1)) return eighths[two];
    *hole = two == 2;
    return two == 0 ? 0 : two == 3 ? 8 : 4;
}

void texel_decode_pvrtc(const TexelBlocks *level, uint32_t column, uint32_t row, unsigned width,
                        bool alpha, bool srgb, float *rgba) {
    Patch p = {.width = width};
    load_patch(level, column, row, &p);
    for (unsigned y = 0; y < 4; y++)
        for (unsigned x = 0; x < width; x++, rgba += 4) {
            int a[4], b[4];
            bool hole = false;
            enlarged(&p, 0, x, y, a);
            enlarged(&p, 1, x, y, b);
            int m =
                width == 8 ? mixture_2(&p, (int)x, (int)y) : mixture_4(p.block[1][1], x, y, &hole);
            for (int i = 0; i < 4; i++) {
                int v = (a[i] * (8 - m) + b[i] * m) / 8;
                if (i == 3) v = !alpha ? 255 : hole ? 0 : v;
                rgba[i] = srgb && i < 3 ? texel_srgb8_to_linear((uint8_t)v) : (float)v / 255;
            }
        }
}
