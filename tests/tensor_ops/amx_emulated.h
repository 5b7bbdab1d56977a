// SPDX-License-Identifier: Apache-2.0
// amx_emulated.h: the tiles of AMX in software, by the definitions of the instructions, for testing
// amx.c on machines without. Refuses what the processor would: rows and bytes come from the
// configuration, and there is no state before it or after release.
#ifndef INGOT_TESTS_AMX_EMULATED_H
#define INGOT_TESTS_AMX_EMULATED_H
#include <stdlib.h>
#include "base/numbers.h"

static unsigned char emulated_tiles[8][16][64];
static bool emulated_configured;

bool cpu_amx_granted(void) { return true; }

static void emulated_check(bool right) {
    if (!right) abort();
}

static void emulated_config(const unsigned char *config) {
    emulated_check(config[0] == 1);
    for (int i = 0; i < 8; i++)
        emulated_check(config[16 + 2 * i] == 64 && config[17 + 2 * i] == 0 && config[48 + i] == 16);
    emulated_configured = true;
    memset(emulated_tiles, 0, sizeof emulated_tiles);
}

static void emulated_load(int tile, const void *from, size_t stride) {
    emulated_check(emulated_configured);
    for (size_t r = 0; r < 16; r++)
        memcpy(emulated_tiles[tile][r], (const unsigned char *)from + r * stride, 64);
}

static void emulated_store(int tile, void *to, size_t stride) {
    emulated_check(emulated_configured);
    for (size_t r = 0; r < 16; r++)
        memcpy((unsigned char *)to + r * stride, emulated_tiles[tile][r], 64);
}

static void emulated_dot_bfloat(int sums, int a, int b) {
    for (int m = 0; m < 16; m++)
        for (int k = 0; k < 16; k++)
            for (int n = 0; n < 16; n++) {
                uint16_t x[2], y[2];
                float sum;
                memcpy(x, &emulated_tiles[a][m][4 * k], 4);
                memcpy(y, &emulated_tiles[b][k][4 * n], 4);
                memcpy(&sum, &emulated_tiles[sums][m][4 * n], 4);
                sum += float_from_bfloat(x[0]) * float_from_bfloat(y[0]);
                sum += float_from_bfloat(x[1]) * float_from_bfloat(y[1]);
                memcpy(&emulated_tiles[sums][m][4 * n], &sum, 4);
            }
}

static void emulated_dot_bytes(int sums, int a, int b, bool a_signed, bool b_signed) {
    for (int m = 0; m < 16; m++)
        for (int k = 0; k < 16; k++)
            for (int n = 0; n < 16; n++) {
                uint32_t sum;
                memcpy(&sum, &emulated_tiles[sums][m][4 * n], 4);
                for (int i = 0; i < 4; i++) {
                    int x = emulated_tiles[a][m][4 * k + i], y = emulated_tiles[b][k][4 * n + i];
                    if (a_signed) x = (int8_t)x;
                    if (b_signed) y = (int8_t)y;
                    sum += (uint32_t)(x * y);
                }
                memcpy(&emulated_tiles[sums][m][4 * n], &sum, 4);
            }
}

#undef _tile_loadd
#undef _tile_stored
#undef _tile_zero
#undef _tile_dpbf16ps
#undef _tile_dpbssd
#undef _tile_dpbsud
#undef _tile_dpbusd
#undef _tile_dpbuud
#define _tile_loadconfig(config) emulated_config((const unsigned char *)(config))
#define _tile_release() (emulated_configured = false)
#define _tile_zero(tile) memset(emulated_tiles[tile], 0, sizeof emulated_tiles[tile])
#define _tile_loadd(tile, from, stride) emulated_load(tile, from, stride)
#define _tile_stored(tile, to, stride) emulated_store(tile, to, stride)
#define _tile_dpbf16ps(c, a, b) emulated_dot_bfloat(c, a, b)
#define _tile_dpbssd(c, a, b) emulated_dot_bytes(c, a, b, true, true)
#define _tile_dpbsud(c, a, b) emulated_dot_bytes(c, a, b, true, false)
#define _tile_dpbusd(c, a, b) emulated_dot_bytes(c, a, b, false, true)
#define _tile_dpbuud(c, a, b) emulated_dot_bytes(c, a, b, false, false)
#endif
