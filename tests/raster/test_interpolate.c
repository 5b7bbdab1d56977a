// SPDX-License-Identifier: Apache-2.0
// Inputs of fragments against double precision: perspective, without it, flat, barycentrics, depth,
// centroids, point coordinates; the same after clipping at the near plane and by the shader's
// planes.
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include "../unit.h"
#include "scene.h"

enum { SIZE = 256, RGBA32F = 125, D32F = 252 };

static Scene *scene_new(Behaviour b, uint8_t primitive, uint32_t n, uint32_t n_samples) {
    Scene *s = calloc(1, sizeof *s);
    assert_non_null(s);
    s->color = target_new(RGBA32F, SIZE, SIZE, n_samples, 1);
    s->depth = target_new(D32F, SIZE, SIZE, n_samples, 1);
    s->pass = (DevPass){.width = SIZE, .height = SIZE, .n_samples = n_samples};
    pass_clears(&s->pass, &s->color, &s->depth);
    b.colors = 1;
    stages_init(&s->stages, s->vertices, n, b, 0, 0);
    s->state = state_default(primitive);
    s->state.depth_write = true;
    s->draw = draw_of(&s->stages, &s->state, n);
    return s;
}

// Barycentric weights of a window position, perspective (clip space) and linear, by homogeneous
// coordinates: no clipping is needed for that.
static bool weights_at(const Vertex *v, double x, double y, double *persp, double *linear,
                       double *depth) {
    double px = x / (SIZE / 2.0) - 1, py = 1 - y / (SIZE / 2.0), sum = 0;
    // det of the corners with the point's line: e_i = cross of the other two, dotted with (px, py,
    // 1)
    for (int i = 0; i < 3; i++) {
        const float *a = v[(i + 1) % 3].position, *b = v[(i + 2) % 3].position;
        double cx = (double)a[1] * b[3] - (double)a[3] * b[1];
        double cy = (double)a[3] * b[0] - (double)a[0] * b[3];
        double cz = (double)a[0] * b[1] - (double)a[1] * b[0];
        persp[i] = cx * px + cy * py + cz;
        sum += persp[i];
    }
    double w = 0, z = 0;
    for (int i = 0; i < 3; i++) {
        persp[i] /= sum;
        w += persp[i] * v[i].position[3];
        z += persp[i] * v[i].position[2];
    }
    for (int i = 0; i < 3; i++) linear[i] = persp[i] * v[i].position[3] / w;
    *depth = z / w;
    return persp[0] > 1e-3 && persp[1] > 1e-3 && persp[2] > 1e-3 && w > 0;
}

static void random_corners(Scene *s, bool behind) {
    for (int i = 0; i < 3; i++) {
        double w = behind && i == 0 ? -1 - random_unit() * 2 : 0.5 + random_unit() * 8;
        double x = random_unit() * SIZE, y = random_unit() * SIZE, z = random_unit();
        place(&s->vertices[i], x, y, z, w, SIZE, SIZE);
        if (behind && i == 0) s->vertices[i].position[2] = -0.5f;
        for (int c = 0; c < N_VALUES; c++) s->vertices[i].value[c] = (float)(random_unit() * 4 - 2);
    }
}

// Every pixel inside by a margin has been drawn, and with the right values.
static uint32_t check(const Scene *s, bool linear, bool clipped) {
    uint32_t n = 0;
    for (uint32_t y = 0; y < SIZE; y++)
        for (uint32_t x = 0; x < SIZE; x++) {
            double persp[3], plain[3], z, v[4], d[4];
            if (!weights_at(s->vertices, x + 0.5, y + 0.5, persp, plain, &z)) continue;
            if (clipped && (z < 0.002 || z > 0.998)) continue;
            target_read(&s->color, x, y, 0, 0, v);
            target_read(&s->depth, x, y, 0, 0, d);
            for (int c = 0; c < 4; c++) {
                double expected = 0;
                for (int i = 0; i < 3; i++)
                    expected += (linear ? plain : persp)[i] * s->vertices[i].value[c];
                // Positions are rounded to 1/256 pixel: a little more on steep slopes.
                if (!(fabs(v[c] - expected) < 0.02))
                    fail_msg("pixel %u, %u component %d: %g, expected %g", x, y, c, v[c], expected);
            }
            if (!(fabs(d[0] - z) < 0.01))
                fail_msg("pixel %u, %u: depth %g, expected %g", x, y, d[0], z);
            n++;
        }
    return n;
}

// Corners on the subpixel grid, so that only arithmetic is left: relative 2e-5 of the range.
TEST(test_precision) {
    random_seed(21);
    uint32_t n = 0;
    for (int round = 0; round < 20; round++) {
        Scene *s = scene_new((Behaviour){0}, DEV_TRIANGLE, 3, 1);
        for (int i = 0; i < 3; i++) {
            double w = 1 << (random_bits() % 4); // exact products
            place(&s->vertices[i], random_bits() % SIZE, random_bits() % SIZE,
                  (random_bits() % 64) / 64.0, w, SIZE, SIZE);
            for (int c = 0; c < N_VALUES; c++)
                s->vertices[i].value[c] = (float)(random_bits() % 1000) / 500 - 1;
        }
        render(&s->pass, &s->draw, 1);
        double area = 0;
        for (int i = 0; i < 3; i++) {
            const float *a = s->vertices[i].position, *b = s->vertices[(i + 1) % 3].position;
            area += (double)a[0] / a[3] * b[1] / b[3] - (double)a[1] / a[3] * b[0] / b[3];
        }
        if (fabs(area) < 0.05) { // slivers: see the file comment of setup.c
            scene_free(s);
            continue;
        }
        for (uint32_t y = 0; y < SIZE; y++)
            for (uint32_t x = 0; x < SIZE; x++) {
                double persp[3], plain[3], z, v[4], d[4], expected = 0;
                if (!weights_at(s->vertices, x + 0.5, y + 0.5, persp, plain, &z)) continue;
                target_read(&s->color, x, y, 0, 0, v);
                target_read(&s->depth, x, y, 0, 0, d);
                for (int i = 0; i < 3; i++) expected += persp[i] * s->vertices[i].value[0];
                if (!(fabs(v[0] - expected) < 2e-5) || !(fabs(d[0] - z) < 5e-6))
                    fail_msg("round %d pixel %u, %u: %.8g, expected %.8g; depth %.8g, %.8g", round,
                             x, y, v[0], expected, d[0], z);
                n++;
            }
        scene_free(s);
    }
    assert_true(n > 10000);
}

TEST(test_perspective) {
    random_seed(22);
    uint32_t n = 0;
    for (int round = 0; round < 30; round++) {
        Scene *s = scene_new((Behaviour){.linear = round & 1}, DEV_TRIANGLE, 3, 1);
        random_corners(s, false);
        render(&s->pass, &s->draw, 1);
        double ax = s->vertices[0].position[0] / s->vertices[0].position[3];
        double bx = s->vertices[1].position[0] / s->vertices[1].position[3];
        if (fabs(ax - bx) > 0.2) n += check(s, round & 1, false);
        scene_free(s);
    }
    assert_true(n > 20000);
}

TEST(test_near_plane) {
    random_seed(23);
    uint32_t n = 0;
    for (int round = 0; round < 30; round++) {
        Scene *s = scene_new((Behaviour){.linear = false}, DEV_TRIANGLE, 3, 1);
        random_corners(s, true);
        render(&s->pass, &s->draw, 1);
        n += check(s, false, true);
        scene_free(s);
    }
    assert_true(n > 20000);
}

TEST(test_clip_distance) {
    Scene *s = scene_new((Behaviour){.linear = true}, DEV_TRIANGLE, 3, 1);
    s->stages.vertex_info.n_clip = 2;
    place(&s->vertices[0], 0, 0, 0.5, 1, SIZE, SIZE);
    place(&s->vertices[1], 512, 0, 0.5, 1, SIZE, SIZE);
    place(&s->vertices[2], 0, 512, 0.5, 1, SIZE, SIZE);
    for (int i = 0; i < 3; i++) { // x >= 100 and y < 50
        double x = (s->vertices[i].position[0] + 1) * SIZE / 2;
        double y = (1 - s->vertices[i].position[1]) * SIZE / 2;
        s->vertices[i].clip[0] = (float)(x - 100);
        s->vertices[i].clip[1] = (float)(50 - y);
        s->vertices[i].value[0] = (float)x;
    }
    render(&s->pass, &s->draw, 1);
    for (uint32_t y = 0; y < SIZE; y++)
        for (uint32_t x = 0; x < SIZE; x++) {
            double v[4];
            target_read(&s->color, x, y, 0, 0, v);
            double expected = x >= 100 && y < 50 ? x + 0.5 : -1;
            if (!(fabs(v[0] - expected) < 1e-3))
                fail_msg("pixel %u, %u: %g, expected %g", x, y, v[0], expected);
        }
    scene_free(s);
}

TEST(test_barycentric) {
    random_seed(24);
    uint32_t n = 0;
    for (int behind = 0; behind < 2; behind++)
        for (int round = 0; round < 10; round++) {
            Scene *s = scene_new((Behaviour){.info_flags = ABI_STAGE_READS_BARYCENTRIC},
                                 DEV_TRIANGLE, 3, 1);
            random_corners(s, behind);
            render(&s->pass, &s->draw, 1);
            for (uint32_t y = 0; y < SIZE; y++)
                for (uint32_t x = 0; x < SIZE; x++) {
                    double persp[3], plain[3], z, v[4];
                    if (!weights_at(s->vertices, x + 0.5, y + 0.5, persp, plain, &z)) continue;
                    if (behind && (z < 0.002 || z > 0.998)) continue;
                    target_read(&s->color, x, y, 0, 0, v);
                    if (!(fabs(v[0] - persp[0]) < 0.02) || !(fabs(v[1] - persp[1]) < 0.02))
                        fail_msg("pixel %u, %u: %g %g, expected %g %g", x, y, v[0], v[1], persp[0],
                                 persp[1]);
                    if (!behind && !(fabs(v[2] - plain[0]) < 0.02))
                        fail_msg("pixel %u, %u: linear %g, expected %g", x, y, v[2], plain[0]);
                    n++;
                }
            scene_free(s);
        }
    assert_true(n > 10000);
}

TEST(test_flat) {
    // The first vertex provokes, also in strips and when clipped; integers keep their bits.
    Scene *s = scene_new((Behaviour){.flat = true}, DEV_TRIANGLE_STRIP, 4, 1);
    for (uint32_t i = 0; i < 4; i++) {
        place(&s->vertices[i], (i & 1) * 256.0, (i / 2) * 256.0, i == 3 ? -0.5 : 0.5, 1, SIZE,
              SIZE);
        uint32_t bits = 0xff800000u + i + 1; // a NaN
        s->vertices[i].value[0] = (float)i;
        memcpy(&s->vertices[i].value[1], &bits, 4);
    }
    render(&s->pass, &s->draw, 1);
    double v[4];
    target_read(&s->color, 10, 10, 0, 0, v);
    assert_true(v[0] == 0);
    target_read(&s->color, 200, 80, 0, 0, v);
    assert_true(v[0] == 1);
    uint32_t bits;
    memcpy(&bits, abi_texture_at(&s->color.texture, 0, 200, 80, 0, 0) + 4, 4);
    assert_int_equal(bits & 0xf, 2);
    scene_free(s);
}

TEST(test_primitive_id) {
    Scene *s = scene_new((Behaviour){.flat = true, .info_flags = ABI_STAGE_READS_PRIMITIVE_ID},
                         DEV_TRIANGLE_STRIP, 4, 1);
    for (uint32_t i = 0; i < 4; i++)
        place(&s->vertices[i], (i & 1) * 256.0, (i / 2) * 256.0, 0.5, 1, SIZE, SIZE);
    uint16_t indices[] = {0, 1, 2, UINT16_MAX, 2, 1, 3};
    s->draw.indices = indices;
    s->draw.index_bytes = 2;
    s->draw.indices_bytes = sizeof indices;
    s->draw.n_vertices = 7;
    render(&s->pass, &s->draw, 1);
    double v[4];
    target_read(&s->color, 10, 10, 0, 0, v);
    assert_true(v[0] == 0);
    target_read(&s->color, 200, 200, 0, 0, v);
    assert_true(v[0] == 1);
    scene_free(s);
}

TEST(test_points) {
    Scene *s = scene_new((Behaviour){.flat = true, .info_flags = ABI_STAGE_READS_POINT_COORD},
                         DEV_POINT, 1, 1);
    s->stages.vertex_info.flags |= ABI_STAGE_POINT_SIZE;
    place(&s->vertices[0], 100, 60, 0.5, 1, SIZE, SIZE);
    s->vertices[0].point_size = 16;
    render(&s->pass, &s->draw, 1);
    double v[4];
    for (uint32_t y = 52; y < 68; y++)
        for (uint32_t x = 92; x < 108; x++) {
            target_read(&s->color, x, y, 0, 0, v);
            assert_true(fabs(v[0] - (x - 92 + 0.5) / 16) < 1e-5);
            assert_true(fabs(v[1] - (y - 52 + 0.5) / 16) < 1e-5);
        }
    scene_free(s);
}

// A centroid lies on a covered sample where the pixel is cut: inputs stay inside their range.
TEST(test_centroid) {
    Scene *s = scene_new((Behaviour){.linear = true, .info_flags = ABI_STAGE_READS_CENTROID},
                         DEV_TRIANGLE, 3, 4);
    place(&s->vertices[0], 10, 10, 0.5, 1, SIZE, SIZE);
    place(&s->vertices[1], 200, 31, 0.5, 1, SIZE, SIZE);
    place(&s->vertices[2], 37, 222, 0.5, 1, SIZE, SIZE);
    s->vertices[0].value[0] = 1;
    s->vertices[1].value[1] = 1;
    s->vertices[2].value[2] = 1;
    render(&s->pass, &s->draw, 1);
    uint32_t n = 0;
    for (uint32_t y = 0; y < SIZE; y++)
        for (uint32_t x = 0; x < SIZE; x++)
            for (uint32_t k = 0; k < 4; k++) {
                double v[4];
                target_read(&s->color, x, y, 0, k, v);
                if (v[0] == -1) continue;
                n++;
                for (int c = 0; c < 3; c++) assert_true(v[c] >= -1e-5 && v[c] <= 1 + 1e-5);
            }
    assert_true(n > 1000);
    scene_free(s);
}

int main(void) { return unit_run(NULL, NULL); }
