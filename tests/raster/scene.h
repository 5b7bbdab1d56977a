// SPDX-License-Identifier: Apache-2.0
// scene.h: one draw into a colour and a depth target, for tests that differ in what they draw.
#ifndef TEST_RASTER_SCENE_H
#define TEST_RASTER_SCENE_H
#include "harness.h"
#include <stdlib.h>

typedef struct Scene {
    Target color, depth;
    DevPass pass;
    DevState state;
    Stages stages;
    DevDraw draw;
    Vertex vertices[8];
} Scene;

static inline void scene_free(Scene *s) {
    target_free(&s->color);
    target_free(&s->depth);
    free(s);
}
#endif
