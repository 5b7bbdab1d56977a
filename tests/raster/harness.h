// SPDX-License-Identifier: Apache-2.0
// harness.h: what tests of the rasteriser share: targets, vertices, functions in C that keep to
// abi/cpu_stage.h, and a scene (pass, draws) that the rasteriser and the reference both draw.
#ifndef TEST_RASTER_HARNESS_H
#define TEST_RASTER_HARNESS_H
#include "abi/texture_layout.h"
#include "devices/cpu/raster/raster.h"
#include "texel/format.h"

#define N_VALUES 8 // components between the functions

typedef struct Vertex {
    float position[4];
    float value[N_VALUES];
    float point_size;
    uint32_t layer, viewport;
    float clip[2];
} Vertex;

// What the fragment function does, beside colour a = its inputs 0 .. 3 (plus a / 16).
typedef struct Behaviour {
    uint32_t info_flags; // ABI_STAGE_: DISCARD drops odd pixels (x + y), DEPTH writes input 4,
                         // STENCIL 77, SAMPLE_MASK 5; READS_: adds what it reads to colour 0
    uint32_t colors;     // attachments it writes
    bool dual;           // second source: inputs 4 .. 7
    bool integers;       // colour a = 10 * a + 1, 2, 3, 4
    bool flat, linear;   // all inputs
    uint32_t colors_in;  // colour 0 += colour 0 that is there
    int fault;           // 1: a store to nowhere, 2: never returns
} Behaviour;

typedef struct Target {
    AbiTexture texture;
    void *data;
    size_t n_bytes;
} Target;
Target target_new(uint32_t pixel_format, uint32_t width, uint32_t height, uint32_t n_samples,
                  uint32_t layers);
void target_free(Target *t);
// Texel as numbers: colours as floats or integers (as floats), depth in [0], stencil in [0].
void target_read(const Target *t, uint32_t x, uint32_t y, uint32_t layer, uint32_t sample,
                 double rgba[4]);
uint8_t target_stencil(const Target *t, uint32_t x, uint32_t y, uint32_t layer, uint32_t sample);

// Stages for a draw; keep them alive while it is used.
typedef struct Stages {
    AbiStageInfo vertex_info, fragment_info;
    DevVertexStage vertex;
    DevFragmentStage fragment;
    uint16_t rows[N_VALUES];
    void *vertex_args[2], *fragment_args[2];
    uint64_t lengths[2];
    Behaviour behaviour;
    _Atomic uint32_t *hits; // NULL, or per pixel how often the function ran for it
    uint32_t hits_width;
} Stages;
void stages_init(Stages *s, const Vertex *vertices, uint32_t n, Behaviour behaviour,
                 uint32_t vertex_flags, uint32_t n_clip);

DevState state_default(uint8_t primitive);
// All channels are written, with these factors (DEV_BLEND_) for colour and alpha.
static inline DevBlend blend_of(uint8_t src_rgb, uint8_t dst_rgb, uint8_t src_alpha,
                                uint8_t dst_alpha) {
    return (DevBlend){.enabled = true,
                      .src_rgb = src_rgb,
                      .dst_rgb = dst_rgb,
                      .src_alpha = src_alpha,
                      .dst_alpha = dst_alpha,
                      .write_mask = 15};
}
// A position whose window coordinates are x, y (pixels) exactly, in a target of w x h (powers of
// two).
void place(Vertex *v, double x, double y, double z, double w_clip, double width, double height);
DevDraw draw_of(const Stages *stages, const DevState *state, uint32_t n_vertices); // one instance
// Both are cleared, to -1 and 1, and stored.
void pass_clears(DevPass *pass, Target *color, Target *depth);
// Draws, and fails the test on a fault.
void render(const DevPass *pass, const DevDraw *draws, size_t n);
// xorshift
uint32_t random_bits(void);
double random_unit(void);
void random_seed(uint32_t seed);
#endif
