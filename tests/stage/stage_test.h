// SPDX-License-Identifier: Apache-2.0
// stage_test.h: vertex and fragment functions from source to code, run step by step as the
// rasteriser would, without one.
#ifndef INGOT_STAGE_TEST_H
#define INGOT_STAGE_TEST_H
#include "../unit.h"
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include "abi/texture_layout.h"
#include "compiler/compiler.h"
#include "devices/cpu/cpu.h"

enum { LANES = 32, MAX_SLOTS = 40 };

// One function of a library, compiled and loaded. launch is ready for its slots.
typedef struct Stage {
    MslLibrary lib;
    const RfFunction *fn;
    DevCode *code;
    const AbiStageInfo *info;
    void *args[MAX_SLOTS];
    uint64_t lengths[MAX_SLOTS];
    CpuLaunch launch;
} Stage;

// INGOT_WIDTH=1: the code under test runs one lane after the other.
bool is_reference(void);
void stage_folders(int argc, char **argv); // STDLIB PCH_DIR
Stage *stage_open(const char *source, const char *function, const MslVertexDescriptor *descriptor);
void stage_close(Stage *s);
// Compiles, and expects the back end to say `why`.
void stage_expect_error(const char *source, const char *function,
                        const MslVertexDescriptor *descriptor, const char *why);
const RfValue *stage_output(const Stage *s, const char *name);
const RfValue *stage_input(const Stage *s, const char *name);

// A fragment step with memory for all rows and planes.
typedef struct FragmentRun {
    CpuFragmentStep step;
    CpuPlane planes[ABI_MAX_VARYINGS];
    _Alignas(64) uint32_t colors[(4 * ABI_MAX_COLORS + 4) * LANES];
    _Alignas(64) uint32_t color_in[4 * ABI_MAX_COLORS * LANES];
    _Alignas(64) uint32_t depth[LANES], stencil[LANES], mask[LANES], coverage[LANES];
    _Alignas(64) float centroid[2 * LANES], point_coord[2 * LANES];
} FragmentRun;
void fragment_begin(FragmentRun *r, int x, int y, uint32_t covered); // w = 1 everywhere
static inline int lane_x(int lane) { return lane % 2 + lane / 4 % 4 * 2; }
static inline int lane_y(int lane) { return lane / 2 % 2 + lane / 16 * 2; }
// A square 2D texture of zeros; its memory is the caller's to free.
static inline void *square_texture(AbiTexture *t, uint32_t format, uint32_t side,
                                   uint32_t n_levels) {
    AbiTextureShape shape = {.type = ABI_TEXTURE_2D, .pixel_format = format, .n_levels = n_levels};
    shape.width = shape.height = side;
    shape.depth = shape.array_length = shape.n_samples = 1;
    AbiTextureSize size;
    assert_true(abi_texture_layout(&shape, NULL, NULL, &size));
    void *memory = aligned_alloc(128, (size.n_bytes + 127) / 128 * 128);
    assert_non_null(memory);
    memset(memory, 0, size.n_bytes);
    assert_true(abi_texture_layout(&shape, memory, t, &size));
    return memory;
}

static inline float as_float(uint32_t bits) {
    float f;
    memcpy(&f, &bits, 4);
    return f;
}

static inline uint32_t as_bits(float f) {
    uint32_t bits;
    memcpy(&bits, &f, 4);
    return bits;
}
static inline float color_of(const FragmentRun *r, int attachment, int component, int lane) {
    return as_float(r->colors[(4 * attachment + component) * LANES + lane]);
}
// A deterministic sequence.
static inline uint32_t next_random(uint32_t *state) {
    *state = *state * 1664525u + 1013904223u;
    return *state >> 8 ^ *state << 13;
}
#endif
