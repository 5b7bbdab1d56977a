// SPDX-License-Identifier: Apache-2.0
// Random states and triangles against the reference: depth, stencil and the number of samples that
// passed exactly, colours within what single precision and eight bits leave open.
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include "../unit.h"
#include "reference.h"
#include "devices/cpu/isa/isa.h"

enum { SIZE = 128, MAX_DRAWS = 8, TRIANGLES = 12, N_SCENES = 60 };
enum { RGBA8 = 70, BGRA8 = 80, RGBA16F = 115, RGBA32F = 125, D32F = 252, STENCIL8 = 253 };

typedef struct Scene {
    uint32_t n_samples, format;
    Target color, depth, stencil;
    DevPass pass;
    DevState states[MAX_DRAWS];
    Stages stages[MAX_DRAWS];
    DevDraw draws[MAX_DRAWS];
    uint32_t n_draws;
    Vertex vertices[MAX_DRAWS][3 * TRIANGLES];
    RefTriangle triangles[MAX_DRAWS][TRIANGLES];
    bool drops[MAX_DRAWS];
    _Atomic uint64_t visible;
} Scene;

static DevStencil random_stencil(void) {
    return (DevStencil){.compare = random_bits() % 8,
                        .fail = random_bits() % 8,
                        .depth_fail = random_bits() % 8,
                        .pass = random_bits() % 8,
                        .read_mask = random_bits() & 1 ? 255 : (uint8_t)random_bits(),
                        .write_mask = random_bits() & 1 ? 255 : (uint8_t)random_bits(),
                        .reference = (uint8_t)random_bits()};
}

static DevState random_state(void) {
    DevState s = state_default(DEV_TRIANGLE);
    s.cull = random_bits() % 4 % 3;
    s.winding = random_bits() % 2;
    s.depth_compare = random_bits() % 8;
    s.depth_write = random_bits() % 2;
    s.stencil = random_bits() % 2;
    s.front = random_stencil();
    s.back = random_stencil();
    if (random_bits() % 2) {
        s.n_scissors = 1;
        s.scissors[0] = (DevScissor){random_bits() % SIZE, random_bits() % SIZE,
                                     random_bits() % SIZE, random_bits() % SIZE};
    }
    s.blend[0] = (DevBlend){.enabled = random_bits() % 2,
                            .rgb_op = random_bits() % 5,
                            .alpha_op = random_bits() % 5,
                            .src_rgb = random_bits() % 15,
                            .dst_rgb = random_bits() % 15,
                            .src_alpha = random_bits() % 15,
                            .dst_alpha = random_bits() % 15,
                            .write_mask = random_bits() % 3 ? 15 : random_bits() % 16};
    if (random_bits() % 3 == 0) { // source over has code of its own
        s.blend[0].rgb_op = s.blend[0].alpha_op = DEV_BLEND_ADD;
        s.blend[0].src_rgb = random_bits() % 2 ? DEV_BLEND_ONE : DEV_BLEND_SRC_ALPHA;
        s.blend[0].src_alpha = random_bits() % 2 ? DEV_BLEND_ONE : DEV_BLEND_SRC_ALPHA;
        s.blend[0].dst_rgb = s.blend[0].dst_alpha = DEV_BLEND_ONE_MINUS_SRC_ALPHA;
    }
    for (int c = 0; c < 4; c++) s.blend_color[c] = (float)random_unit();
    return s;
}

static void random_triangle(RefTriangle *t, Vertex *v) {
    static const int64_t sizes[] = {10, 40, 128};
    int64_t size = sizes[random_bits() % 3] * 256, room = SIZE * 256 - size;
    int64_t x = room ? random_bits() % (uint32_t)room : 0,
            y = room ? random_bits() % (uint32_t)room : 0;
    double z = (random_bits() % 17) / 16.0;
    for (int k = 0; k < 3; k++) {
        t->corner[k][0] = x + random_bits() % (uint32_t)size;
        t->corner[k][1] = y + random_bits() % (uint32_t)size;
        t->z[k] = z;
        place(&v[k], (double)t->corner[k][0] / 256, (double)t->corner[k][1] / 256, z, 1, SIZE,
              SIZE);
        for (int c = 0; c < 4; c++) {
            t->color[k][c] = (random_bits() % 256) / 255.0;
            v[k].value[c] = (float)t->color[k][c];
        }
    }
}

static Scene *scene_new(void) {
    static const uint32_t samples[] = {1, 1, 2, 4, 8}, formats[] = {RGBA8, BGRA8, RGBA32F};
    Scene *s = calloc(1, sizeof *s);
    assert_non_null(s);
    s->n_samples = samples[random_bits() % 5];
    s->format = formats[random_bits() % 3];
    s->color = target_new(s->format, SIZE, SIZE, s->n_samples, 1);
    s->depth = target_new(D32F, SIZE, SIZE, s->n_samples, 1);
    s->stencil = target_new(STENCIL8, SIZE, SIZE, s->n_samples, 1);
    s->pass = (DevPass){.width = SIZE, .height = SIZE, .n_samples = s->n_samples};
    s->pass.colors[0] = (DevColor){.view = {.texture = &s->color.texture},
                                   .load = DEV_LOAD_CLEAR,
                                   .store = DEV_STORE_STORE,
                                   .clear = {0.2, 0.4, 0.6, 0.8}};
    s->pass.depth = (DevDepth){.view = {.texture = &s->depth.texture},
                               .load = DEV_LOAD_CLEAR,
                               .store = DEV_STORE_STORE,
                               .clear = 0.5};
    s->pass.stencil = (DevDepth){.view = {.texture = &s->stencil.texture},
                                 .load = DEV_LOAD_CLEAR,
                                 .store = DEV_STORE_STORE,
                                 .clear = 100};
    s->n_draws = 1 + random_bits() % MAX_DRAWS;
    for (uint32_t d = 0; d < s->n_draws; d++) {
        s->states[d] = random_state();
        s->drops[d] = random_bits() % 3 == 0;
        for (uint32_t t = 0; t < TRIANGLES; t++)
            random_triangle(&s->triangles[d][t], &s->vertices[d][3 * t]);
        Behaviour b = {.colors = 1,
                       .linear = random_bits() & 1,
                       .info_flags = s->drops[d] ? ABI_STAGE_DISCARD : 0};
        if (random_bits() % 4 == 0) b.info_flags |= ABI_STAGE_EFFECTS; // tests after the function
        stages_init(&s->stages[d], s->vertices[d], 3 * TRIANGLES, b, 0, 0);
        s->draws[d] = (DevDraw){.vertex = &s->stages[d].vertex,
                                .fragment = &s->stages[d].fragment,
                                .state = &s->states[d],
                                .n_vertices = 3 * TRIANGLES,
                                .n_instances = 1,
                                .visibility = &s->visible,
                                .barrier = random_bits() % 4 == 0};
    }
    return s;
}

static void compare(const Scene *s, const RefImage *ref, uint32_t number) {
    bool unorm = s->format != RGBA32F;
    double limit = unorm ? 1.6 * s->n_draws / 255 : 2e-4;
    for (uint32_t y = 0; y < SIZE; y++)
        for (uint32_t x = 0; x < SIZE; x++)
            for (uint32_t k = 0; k < s->n_samples; k++) {
                size_t i = ((size_t)y * SIZE + x) * s->n_samples + k;
                double v[4];
                target_read(&s->depth, x, y, 0, k, v);
                if (v[0] != ref->depth[i])
                    fail_msg("scene %u pixel %u, %u sample %u: depth %g, expected %g", number, x, y,
                             k, v[0], ref->depth[i]);
                int stencil = target_stencil(&s->stencil, x, y, 0, k);
                if (stencil != ref->stencil[i])
                    fail_msg("scene %u pixel %u, %u sample %u: stencil %d, expected %d", number, x,
                             y, k, stencil, ref->stencil[i]);
                target_read(&s->color, x, y, 0, k, v);
                for (int c = 0; c < 4; c++)
                    if (!(fabs(v[c] - ref->color[i][c]) <= limit * fmax(1, fabs(ref->color[i][c]))))
                        fail_msg("scene %u pixel %u, %u sample %u: component %d %g, expected %g",
                                 number, x, y, k, c, v[c], ref->color[i][c]);
            }
    assert_int_equal(atomic_load(&s->visible), ref->visible);
}

TEST(test_random) {
    for (uint32_t number = 0; number < N_SCENES; number++) {
        if (!cpu_isa_use((CpuIsa)(CPU_ISA_BASE + number % 3))) cpu_isa_use(CPU_ISA_BASE);
        random_seed(1000 + number);
        Scene *s = scene_new();
        double clear[4] = {0.2, 0.4, 0.6, 0.8};
        RefImage ref = ref_new(SIZE, SIZE, s->n_samples, clear, 0.5, 100);
        for (uint32_t d = 0; d < s->n_draws; d++)
            for (uint32_t t = 0; t < TRIANGLES; t++)
                ref_draw(&ref, &s->states[d], &s->triangles[d][t], s->drops[d],
                         s->format != RGBA32F);
        render(&s->pass, s->draws, s->n_draws);
        compare(s, &ref, number);
        ref_free(&ref);
        target_free(&s->color);
        target_free(&s->depth);
        target_free(&s->stencil);
        free(s);
    }
}

int main(void) { return unit_run(NULL, NULL); }
