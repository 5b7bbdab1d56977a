// SPDX-License-Identifier: Apache-2.0
// Which samples a primitive covers, exactly: random triangles against the reference, meshes whose
// triangles share edges (every pixel exactly once), several samples, instruction sets, huge, thin
// and broken triangles, lines and points.
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include "../unit.h"
#include "reference.h"
#include "devices/cpu/isa/isa.h"

#define SIZE 256
enum { RGBA8 = 70, R32F = 55, RGBA32F = 125 };

typedef struct Scene {
    Target target;
    DevPass pass;
    Stages stages;
    DevState state;
    DevDraw draw;
    Vertex *vertices;
    uint32_t n;
} Scene;

// Every fragment adds 1 to a float target, per sample.
static Scene *scene_new(uint32_t n_vertices, uint32_t n_samples, uint8_t primitive) {
    Scene *s = calloc(1, sizeof *s);
    assert_non_null(s);
    s->n = n_vertices;
    s->vertices = calloc(n_vertices, sizeof *s->vertices);
    for (uint32_t i = 0; i < n_vertices; i++) s->vertices[i].value[0] = 1;
    s->target = target_new(R32F, SIZE, SIZE, n_samples, 1);
    s->pass = (DevPass){.width = SIZE, .height = SIZE, .n_samples = n_samples};
    s->pass.colors[0] = (DevColor){
        .view = {.texture = &s->target.texture}, .load = DEV_LOAD_CLEAR, .store = DEV_STORE_STORE};
    stages_init(&s->stages, s->vertices, n_vertices, (Behaviour){.colors = 1, .flat = true}, 0, 0);
    s->state = state_default(primitive);
    s->state.blend[0] = blend_of(DEV_BLEND_ONE, DEV_BLEND_ONE, DEV_BLEND_ONE, DEV_BLEND_ONE);
    s->draw = draw_of(&s->stages, &s->state, n_vertices);
    return s;
}

static void scene_free(Scene *s) {
    target_free(&s->target);
    free(s->vertices);
    free(s);
}

static float count(const Scene *s, uint32_t x, uint32_t y, uint32_t sample) {
    float v;
    memcpy(&v, abi_texture_at(&s->target.texture, 0, x, y, 0, sample), 4);
    return v;
}

static void put(Scene *s, uint32_t i, int64_t x, int64_t y) { // 1/256 pixel
    place(&s->vertices[i], (double)x / 256, (double)y / 256, 0.5, 1, SIZE, SIZE);
}

// All triangles of the scene's list against the reference.
static void check(Scene *s, int64_t (*corner)[2], uint32_t n_triangles, const char *what) {
    uint32_t n_samples = s->pass.n_samples ? s->pass.n_samples : 1;
    const uint8_t *positions = cpu_raster_default_positions(n_samples);
    for (uint32_t y = 0; y < SIZE; y++)
        for (uint32_t x = 0; x < SIZE; x++)
            for (uint32_t k = 0; k < n_samples; k++) {
                float expected = 0;
                for (uint32_t t = 0; t < n_triangles; t++)
                    expected += reference_inside((const int64_t (*)[2])corner + 3 * t,
                                                 x * 256 + positions[2 * k] * 16,
                                                 y * 256 + positions[2 * k + 1] * 16);
                if (count(s, x, y, k) != expected)
                    fail_msg("%s: pixel %u, %u sample %u: %g, expected %g", what, x, y, k,
                             (double)count(s, x, y, k), (double)expected);
            }
}

static void random_triangles(uint32_t n_samples, int64_t spread, int64_t grain, const char *what) {
    enum { N = 24 };
    Scene *s = scene_new(3 * N, n_samples, DEV_TRIANGLE);
    int64_t corner[3 * N][2];
    for (uint32_t i = 0; i < N; i++) {
        int64_t x = random_bits() % (SIZE * 256), y = random_bits() % (SIZE * 256);
        for (uint32_t k = 0; k < 3; k++) {
            // Inside the view: corners that the codes throw away would be no test.
            int64_t px = x + (int64_t)(random_bits() % (2 * spread)) - spread;
            int64_t py = y + (int64_t)(random_bits() % (2 * spread)) - spread;
            corner[3 * i + k][0] = px / grain * grain;
            corner[3 * i + k][1] = py / grain * grain;
            put(s, 3 * i + k, corner[3 * i + k][0], corner[3 * i + k][1]);
        }
    }
    render(&s->pass, &s->draw, 1);
    check(s, corner, N, what);
    scene_free(s);
}

TEST(test_random) {
    for (int isa = CPU_ISA_BASE; isa <= CPU_ISA_AVX512; isa++) {
        if (!cpu_isa_use((CpuIsa)isa)) continue;
        random_seed(7);
        for (uint32_t samples = 1; samples <= 8; samples *= 2) {
            random_triangles(samples, 8 * 256, 1, "small");
            random_triangles(samples, 300 * 256, 1, "large");
            random_triangles(samples, 20 * 256, 128, "half pixels: many samples on edges");
            random_triangles(samples, 3 * 256, 16, "tiny");
            random_triangles(samples, 6000 * 256, 256, "huge, inside the guard band");
        }
    }
    cpu_isa_use(CPU_ISA_AVX512);
}

// A fan and a grid of triangles that share edges, corners on pixel centres among others.
TEST(test_shared_edges) {
    enum { GRID = 16, N = GRID * GRID * 2 };
    for (uint32_t samples = 1; samples <= 4; samples *= 2) {
        random_seed(11 + samples);
        Scene *s = scene_new(3 * N, samples, DEV_TRIANGLE);
        int64_t point[GRID + 1][GRID + 1][2];
        for (int y = 0; y <= GRID; y++)
            for (int x = 0; x <= GRID; x++) {
                bool edge = x == 0 || y == 0 || x == GRID || y == GRID;
                int64_t jitter = edge ? 0 : (int64_t)(random_bits() % 1500) - 750;
                if (random_bits() & 1) jitter = jitter / 128 * 128;
                point[y][x][0] = x * (SIZE / GRID) * 256 + (x % GRID ? jitter : 0);
                point[y][x][1] = y * (SIZE / GRID) * 256 + (y % GRID ? jitter / 2 : 0);
            }
        uint32_t n = 0;
        for (int y = 0; y < GRID; y++)
            for (int x = 0; x < GRID; x++) {
                int64_t *a = point[y][x], *b = point[y][x + 1], *c = point[y + 1][x],
                        *d = point[y + 1][x + 1];
                int64_t *corners[6] = {a, b, c, b, d, c};
                if (random_bits() & 1) { // the other diagonal, and another winding
                    int64_t *other[6] = {a, d, b, a, c, d};
                    memcpy(corners, other, sizeof corners);
                }
                for (int k = 0; k < 6; k++) put(s, n++, corners[k][0], corners[k][1]);
            }
        render(&s->pass, &s->draw, 1);
        for (uint32_t y = 0; y < SIZE; y++)
            for (uint32_t x = 0; x < SIZE; x++)
                for (uint32_t k = 0; k < samples; k++)
                    if (count(s, x, y, k) != 1)
                        fail_msg("pixel %u, %u sample %u: drawn %g times", x, y, k,
                                 (double)count(s, x, y, k));
        scene_free(s);
    }
}

// Perspective, and corners behind the eye: a mesh of a plane seen from above its middle covers what
// lies below the horizon exactly once, whatever is clipped.
TEST(test_clipped_mesh) {
    enum { GRID = 12, N = GRID * GRID * 2 };
    Scene *s = scene_new(3 * N, 1, DEV_TRIANGLE);
    uint32_t n = 0;
    for (int y = 0; y < GRID; y++)
        for (int x = 0; x < GRID; x++) {
            static const int corner[6][2] = {{0, 0}, {1, 0}, {0, 1}, {1, 0}, {1, 1}, {0, 1}};
            for (int k = 0; k < 6; k++, n++) {
                // x to the right, z ahead; the eye 1 above the plane, near plane at 0.1.
                double px = (x + corner[k][0] - GRID / 2.0) * 1e4;
                double pz = (y + corner[k][1] - GRID / 2.0) * 1e4 + 123;
                Vertex *v = &s->vertices[n];
                v->position[0] = (float)px;
                v->position[1] = -1;
                v->position[2] = (float)((pz - 0.1) * 1.0000001);
                v->position[3] = (float)pz;
            }
        }
    s->state.depth_clip = DEV_DEPTH_CLAMP;
    for (int mode = 0; mode < 2; mode++) {
        s->state.depth_clip = mode ? DEV_DEPTH_CLAMP : DEV_DEPTH_CLIP;
        if (!mode)
            for (uint32_t i = 0; i < s->n; i++)
                s->vertices[i].position[2] = s->vertices[i].position[3] - 0.1f;
        render(&s->pass, &s->draw, 1);
        uint32_t wrong = 0;
        for (uint32_t y = 0; y < SIZE; y++)
            for (uint32_t x = 0; x < SIZE; x++) {
                float expected = y >= SIZE / 2 ? 1 : 0;
                // The rows at the horizon depend on how far the plane goes.
                if (y + 1 >= SIZE / 2 && y <= SIZE / 2) continue;
                wrong += count(s, x, y, 0) != expected;
            }
        assert_int_equal(wrong, 0);
    }
    scene_free(s);
}

TEST(test_broken) {
    const float bad[] = {NAN, INFINITY, -INFINITY, 3e38f, -3e38f, 1e-42f, 0, -1, 1, 0.5f, 1e10f};
    enum { N = 2000, KINDS = sizeof bad / sizeof *bad };
    random_seed(3);
    for (uint8_t primitive = DEV_POINT; primitive <= DEV_TRIANGLE_STRIP; primitive++)
        for (uint32_t samples = 1; samples <= 4; samples *= 4)
            for (int fill = 0; fill < 2; fill++) {
                Scene *s = scene_new(N, samples, primitive);
                s->state.fill = (uint8_t)fill;
                s->stages.vertex_info.flags |= ABI_STAGE_POINT_SIZE;
                for (uint32_t i = 0; i < N; i++) {
                    for (int k = 0; k < 4; k++)
                        s->vertices[i].position[k] = bad[random_bits() % KINDS];
                    s->vertices[i].point_size = bad[random_bits() % KINDS];
                }
                s->state.depth_clip = random_bits() & 1;
                render(&s->pass, &s->draw, 1);
                scene_free(s);
            }
}

// Degenerate ones cover nothing; full ones everything once.
TEST(test_simple) {
    Scene *s = scene_new(6, 1, DEV_TRIANGLE);
    put(s, 0, 0, 0), put(s, 1, 100 * 256, 100 * 256), put(s, 2, 50 * 256, 50 * 256);
    put(s, 3, 128, 128), put(s, 4, 128, 128), put(s, 5, 128, 128);
    render(&s->pass, &s->draw, 1);
    for (uint32_t y = 0; y < SIZE; y++)
        for (uint32_t x = 0; x < SIZE; x++) assert_true(count(s, x, y, 0) == 0);
    // One triangle over the whole target and far beyond.
    put(s, 0, -1000, -1000), put(s, 1, 600 * 256, -1000), put(s, 2, -1000, 600 * 256);
    render(&s->pass, &s->draw, 1);
    for (uint32_t y = 0; y < SIZE; y++)
        for (uint32_t x = 0; x < SIZE; x++) assert_true(count(s, x, y, 0) == 1);
    scene_free(s);
}

TEST(test_strips) {
    // A strip of quads; as a list, a strip, an indexed strip with restarts, 16 and 32 bits.
    enum { N = 20 };
    for (int kind = 0; kind < 4; kind++) {
        Scene *s = scene_new(N, 1, DEV_TRIANGLE_STRIP);
        for (uint32_t i = 0; i < N; i++) put(s, i, (int64_t)(i / 2) * 2560, (i & 1) ? 25600 : 2560);
        uint16_t small[N + 3];
        uint32_t large[N + 3];
        uint32_t n = 0;
        for (uint32_t i = 0; i < N; i++) {
            if (kind > 1 && i == 8) { // ends one strip, and one that is too short follows
                small[n] = UINT16_MAX, large[n++] = UINT32_MAX;
                small[n] = 3, large[n++] = 3;
                small[n] = UINT16_MAX, large[n++] = UINT32_MAX;
            }
            small[n] = (uint16_t)i, large[n++] = i;
        }
        if (kind) {
            s->draw.indices = kind == 2 ? (const void *)small : large;
            s->draw.index_bytes = kind == 2 ? 2 : 4;
            s->draw.indices_bytes = n * s->draw.index_bytes;
            s->draw.n_vertices = n;
        }
        s->state.cull = DEV_CULL_FRONT; // all wind the same way: the first is counter-clockwise
        s->state.winding = DEV_CLOCKWISE;
        render(&s->pass, &s->draw, 1);
        for (uint32_t y = 0; y < SIZE; y++)
            for (uint32_t x = 0; x < SIZE; x++) {
                bool gap = kind > 1 && x >= 30 && x < 40;
                float expected = y >= 10 && y < 100 && x < 90 && !gap;
                if (count(s, x, y, 0) != expected)
                    fail_msg("kind %d pixel %u, %u: %g", kind, x, y, (double)count(s, x, y, 0));
            }
        scene_free(s);
    }
}

// Indices beyond their buffer read as 0; vertices beyond theirs are whatever the function makes.
TEST(test_wild_indices) {
    Scene *s = scene_new(3, 1, DEV_TRIANGLE);
    put(s, 0, 0, 0), put(s, 1, 25600, 0), put(s, 2, 0, 25600);
    uint32_t indices[9] = {0, 1, 2, 7000000, UINT32_MAX, 4, 1, 2, 0};
    s->draw.indices = indices;
    s->draw.index_bytes = 4;
    s->draw.indices_bytes = 9 * 4;
    s->draw.n_vertices = 3000;
    render(&s->pass, &s->draw, 1);
    assert_true(count(s, 10, 10, 0) == 2); // the last triangle is the first again
    scene_free(s);
}

TEST(test_points) {
    Scene *s = scene_new(3, 1, DEV_POINT);
    s->stages.vertex_info.flags |= ABI_STAGE_POINT_SIZE;
    put(s, 0, 10 * 256 + 128, 20 * 256 + 128), s->vertices[0].point_size = 1;
    put(s, 1, 100 * 256, 100 * 256), s->vertices[1].point_size = 8;
    put(s, 2, 254 * 256, 254 * 256), s->vertices[2].point_size = 16;
    render(&s->pass, &s->draw, 1);
    for (uint32_t y = 0; y < SIZE; y++)
        for (uint32_t x = 0; x < SIZE; x++) {
            float expected = (x == 10 && y == 20) || (x >= 96 && x < 104 && y >= 96 && y < 104) ||
                             (x >= 246 && y >= 246);
            if (count(s, x, y, 0) != expected)
                fail_msg("pixel %u, %u: %g", x, y, (double)count(s, x, y, 0));
        }
    scene_free(s);
}

// Along its longer axis a line has one pixel per column (row) whose centre lies in it, its end left
// out, whichever way it runs; across, the pixel whose centre is nearest.
TEST(test_lines) {
    random_seed(5);
    for (int round = 0; round < 200; round++) {
        Scene *s = scene_new(2, 1, DEV_LINE);
        int64_t p[2][2];
        for (int i = 0; i < 2; i++)
            for (int k = 0; k < 2; k++) {
                p[i][k] = random_bits() % ((SIZE - 2) * 256) + 256;
                if (round & 1) p[i][k] = p[i][k] / 128 * 128;
            }
        put(s, 0, p[0][0], p[0][1]), put(s, 1, p[1][0], p[1][1]);
        render(&s->pass, &s->draw, 1);
        int64_t dx = p[1][0] - p[0][0], dy = p[1][1] - p[0][1];
        int axis = llabs(dx) >= llabs(dy) ? 0 : 1;
        for (uint32_t y = 0; y < SIZE; y++)
            for (uint32_t x = 0; x < SIZE; x++) {
                int64_t center[2] = {x * 256 + 128, y * 256 + 128};
                int64_t along = center[axis] - p[0][axis], length = axis ? dy : dx;
                bool in = length > 0 ? along >= 0 && along < length : along <= 0 && along > length;
                int64_t shift = length < 0; // the line the other way stands one subpixel off
                double at = length ? (double)p[0][!axis] + (double)(along - shift) *
                                                               (double)(axis ? dx : dy) /
                                                               (double)length
                                   : 0;
                double off = (double)center[!axis] - at;
                float expected = in && length && off >= -128 && off < 128;
                if (in && (fabs(off - 128) < 1e-6 || fabs(off + 128) < 1e-6)) continue;
                if (count(s, x, y, 0) != expected)
                    fail_msg("line %d pixel %u, %u: %g, expected %g", round, x, y,
                             (double)count(s, x, y, 0), (double)expected);
            }
        scene_free(s);
    }
}

// The outline of a polygon as a line strip: no pixel twice where one line ends and the next begins.
TEST(test_line_strip) {
    Scene *s = scene_new(5, 1, DEV_LINE_STRIP);
    put(s, 0, 10 * 256 + 128, 10 * 256 + 128), put(s, 1, 50 * 256 + 128, 10 * 256 + 128);
    put(s, 2, 50 * 256 + 128, 40 * 256 + 128), put(s, 3, 10 * 256 + 128, 40 * 256 + 128);
    put(s, 4, 10 * 256 + 128, 10 * 256 + 128);
    render(&s->pass, &s->draw, 1);
    for (uint32_t y = 0; y < SIZE; y++)
        for (uint32_t x = 0; x < SIZE; x++) {
            bool inside = x >= 10 && x <= 50 && y >= 10 && y <= 40;
            float expected = inside && (x == 10 || x == 50 || y == 10 || y == 40);
            if (count(s, x, y, 0) != expected)
                fail_msg("pixel %u, %u: %g", x, y, (double)count(s, x, y, 0));
        }
    scene_free(s);
}

int main(void) { return unit_run(NULL, NULL); }
