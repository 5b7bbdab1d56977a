// SPDX-License-Identifier: Apache-2.0
// bench_texture.c: what one call of the texture functions costs per lane, without a kernel around
// it: ns per texel for each instruction set. Coordinates are those of 1920 x 1080 pixels over
// 1024^2 texels, 32 lanes a call.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include "devices/cpu/texture/ops.h"
#include "devices/cpu/texture/fast_ops.h"
#include "devices/cpu/isa/isa.h"

// Coordinates are prepared outside the clock, which counts the thread's processor time.
#define SIZE 1024u
#define WIDTH 1920u
#define HEIGHT 1080u
#define LANES 32u

typedef struct Case {
    const char *name;
    uint32_t pixel_format;
    uint64_t sampler; // packed; 0: read or write
    uint32_t n_levels;
    uint32_t type, op; // 0: 2D, implicit level
} Case;

static uint64_t packed(unsigned linear, unsigned mip, unsigned address) {
    return 1 | (uint64_t)linear << ABI_SAMPLER_MIN | (uint64_t)linear << ABI_SAMPLER_MAG |
           (uint64_t)mip << ABI_SAMPLER_MIP | (uint64_t)address << ABI_SAMPLER_S |
           (uint64_t)address << ABI_SAMPLER_T | UINT64_C(0x7c00) << ABI_SAMPLER_LOD_MAX;
}

static double now(void) {
    struct timespec t;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    return (double)t.tv_sec * 1e9 + (double)t.tv_nsec;
}

static uint32_t rows[WIDTH / LANES][CPU_TEX_ROWS * LANES] __attribute__((aligned(64)));
static uint32_t out[4 * LANES] __attribute__((aligned(64)));

static double run(const CpuTextureOps *ops, const AbiTexture *t, const Case *k, bool write) {
    uint32_t mask = UINT32_MAX, op = t->type | k->op;
    uint64_t sampler = k->sampler;
    uint32_t width = sampler ? WIDTH : SIZE, height = sampler ? HEIGHT : SIZE;
    for (uint32_t x = 0; x < width; x++) {
        float u = ((float)x + 0.5f) / WIDTH;
        if (sampler)
            memcpy(&rows[x / LANES][x % LANES], &u, 4);
        else
            rows[x / LANES][x % LANES] = x;
        rows[x / LANES][CPU_TEX_Z * LANES + x % LANES] = 0x3f800000; // 1
        rows[x / LANES][CPU_TEX_REFERENCE * LANES + x % LANES] = 0x3f000000;
    }
    double begin = now();
    size_t n = 0;
    for (uint32_t y = 0; y < height; y++) {
        float v = ((float)y + 0.5f) / HEIGHT;
        uint32_t bits;
        memcpy(&bits, &v, 4);
        for (uint32_t x = 0; x < width; x += LANES, n += LANES) {
            uint32_t *block = rows[x / LANES];
            for (uint32_t l = 0; l < LANES; l++) block[LANES + l] = sampler ? bits : y;
            if (sampler)
                ops->sample((uintptr_t)t, sampler, op, LANES, &mask, block, out);
            else
                (write ? ops->write : ops->read)((uintptr_t)t, op, LANES, &mask, block, out);
        }
    }
    return (now() - begin) / (double)n;
}

int main(void) {
    const Case cases[] = {
        {"RGBA8 bilinear clamp", 70, packed(1, 0, 0), 1, 0, 0},
        {"RGBA8 bilinear repeat", 70, packed(1, 0, 2), 1, 0, 0},
        {"RGBA8 bilinear mirror", 70, packed(1, 0, 3), 1, 0, 0},
        {"RGBA8 bilinear border", 70, packed(1, 0, 5), 1, 0, 0},
        {"RGBA8 nearest clamp", 70, packed(0, 0, 0), 1, 0, 0},
        {"RGBA8 trilinear repeat", 70, packed(1, 2, 2), 11, 0, 0},
        {"BGRA8_sRGB bilinear clamp", 81, packed(1, 0, 0), 1, 0, 0},
        {"R8 bilinear clamp", 10, packed(1, 0, 0), 1, 0, 0},
        {"RGBA16Float bilinear clamp", 115, packed(1, 0, 0), 1, 0, 0},
        {"R32Float bilinear clamp", 55, packed(1, 0, 0), 1, 0, 0},
        {"RGBA32Float bilinear clamp", 125, packed(1, 0, 0), 1, 0, 0},
        {"RGBA8Snorm bilinear", 72, packed(1, 0, 0), 1, 0, 0},
        {"BC7 bilinear", 152, packed(1, 0, 0), 1, 0, 0},
        {"ASTC 8x8 bilinear", 212, packed(1, 0, 0), 1, 0, 0},
        {"RGBA8 3D trilinear", 70, packed(1, 0, 0), 1, ABI_TEXTURE_3D, 0},
        {"RGBA8 cube bilinear", 70, packed(1, 0, 0), 1, ABI_TEXTURE_CUBE, 0},
        {"RGBA8 gather", 70, packed(1, 0, 0), 1, 0, CPU_TEX_GATHER},
        {"Depth32Float compare linear", 252, packed(1, 0, 0) | 1u << ABI_SAMPLER_COMPARE, 1, 0,
         CPU_TEX_COMPARE},
        {"RGBA8 read/write", 70, 0, 1, 0, 0},
        {"RGBA8_sRGB read/write", 71, 0, 1, 0, 0},
        {"R8 read/write", 10, 0, 1, 0, 0},
        {"RGBA16Float read/write", 115, 0, 1, 0, 0},
        {"R32Float read/write", 55, 0, 1, 0, 0},
        {"RGBA32Float read/write", 125, 0, 1, 0, 0},
    };
    const char *names[] = {"general", "base", "avx2", "avx512"};
    const CpuTextureOps *ops = cpu_texture_ops();
    printf("%-32s", "ns per texel, one core");
    for (int isa = 0; isa < 4; isa++) printf("%16s", names[isa]);
    printf("\n");
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        bool volume = cases[i].type == ABI_TEXTURE_3D;
        AbiTextureShape shape = {.type = cases[i].type ? cases[i].type : ABI_TEXTURE_2D,
                                 .pixel_format = cases[i].pixel_format,
                                 .width = volume ? 64 : SIZE,
                                 .height = volume ? 64 : SIZE,
                                 .depth = volume ? 64 : 1,
                                 .array_length = 1,
                                 .n_levels = cases[i].n_levels,
                                 .n_samples = 1};
        AbiTexture t;
        AbiTextureSize size;
        if (!abi_texture_layout(&shape, NULL, NULL, &size)) return 1;
        unsigned char *memory = aligned_alloc(256, (size_t)(size.n_bytes + 255) / 256 * 256);
        if (!memory || !abi_texture_layout(&shape, memory, &t, &size)) return 1;
        for (size_t k = 0; k < size.n_bytes; k++) memory[k] = (unsigned char)(k * 7 + k / 4096);
        printf("%-32s", cases[i].name);
        for (int isa = 0; isa < 4; isa++) {
            if (!cpu_isa_use((CpuIsa)isa)) continue;
            ops = cpu_texture_ops(); // of that instruction set
            double best[2] = {1e9, 1e9};
            for (int k = 0; k < (isa ? 5 : 1); k++)
                for (int write = 0; write < (cases[i].sampler ? 1 : 2); write++) {
                    double ns = run(ops, &t, &cases[i], write);
                    if (ns < best[write]) best[write] = ns;
                }
            if (cases[i].sampler)
                printf("%16.2f", best[0]);
            else
                printf("%9.2f/%6.2f", best[0], best[1]);
        }
        printf("\n");
        free(memory);
    }
    return 0;
}
