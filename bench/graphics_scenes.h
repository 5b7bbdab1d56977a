// SPDX-License-Identifier: Apache-2.0
// graphics_scenes.h: the scenes that bench_graphics (Metal) and peer_vulkan (Vulkan) draw: sizes,
// vertices, texels. Both programs make the same data from the same seed, so that the pictures can
// be compared; what differs is the y axis of clip space, which each takes care of.
#ifndef BENCH_GRAPHICS_SCENES_H
#define BENCH_GRAPHICS_SCENES_H
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { SCENE_TRIANGLES = 100000, SCENE_QUADS = 200, SCENE_TEXTURE = 1024, SCENE_LEVELS = 11 };

typedef struct Scene {
    const char *name, *what, *vertex, *fragment; // functions; vertex NULL: the pass only clears
    uint32_t width, height, samples;
    bool depth, blend;
    enum { SCENE_NO_VERTICES, SCENE_SOUP, SCENE_GRID, SCENE_TEXTURED } kind;
    bool nearest;
} Scene;
extern const Scene scenes[];
extern const size_t n_scenes;

typedef struct SceneData {
    float *vertices; // 6 floats (place, normal) or 4 (place, uv) each
    size_t n_vertices, vertex_bytes;
    uint32_t *indices; // NULL: the draw is not indexed
    size_t n_indices;
    unsigned char *texels; // all levels, one after the other
    size_t n_texel_bytes;
} SceneData;
SceneData scene_data(const Scene *scene); // out of memory ends the program
void scene_data_free(SceneData *data);
// 16 floats of a matrix, by columns, from pixels to clip space, then the light. up: +1 where y of
// clip space points up.
void scene_uniforms(const Scene *scene, float up, float *uniforms);

// Frames until `seconds` have passed, 3 at least: the median of their times and the processor time
// of one in ms; prints "name<tab>wall<tab>cpu<tab>frames".
void scene_measure(const Scene *scene, double seconds, void (*frame)(void *), void *context);
double scene_clock(void); // ms
// The command line: PROGRAM SCENE [seconds] [picture.png]. NULL: said why.
const Scene *scene_find(int argc, char **argv);
#endif
