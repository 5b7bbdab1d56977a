// SPDX-License-Identifier: Apache-2.0
// graphics_scenes.c: see graphics_scenes.h.
#include "graphics_scenes.h"
#include "scene_quad.h"
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

const Scene scenes[] = {
    {"clear", "colour and depth, 1080p", NULL, NULL, 1920, 1080, 1, true, false, SCENE_NO_VERTICES,
     false},
    {"S1", "512^2, one triangle", "triangle_v", "triangle_f", 512, 512, 1, false, false,
     SCENE_NO_VERTICES, false},
    {"S2", "1080p, 100k random 8-pixel lit triangles", "lit_v", "lit_f", 1920, 1080, 1, true, false,
     SCENE_SOUP, false},
    {"S2m", "the same as an indexed grid", "lit_v", "lit_f", 1920, 1080, 1, true, false, SCENE_GRID,
     false},
    {"S3f", "1080p, 64 steps a pixel", "steps_v", "steps_f", 1920, 1080, 1, false, false,
     SCENE_NO_VERTICES, false},
    {"S4", "1080p, 200 quads, trilinear, blended", "quad_v", "quad_f", 1920, 1080, 1, false, true,
     SCENE_TEXTURED, false},
    {"S4n", "the same, nearest, no mipmaps", "quad_v", "quad_f", 1920, 1080, 1, false, true,
     SCENE_TEXTURED, true},
    {"S5", "1024^2, 100k triangles, 4 samples", "lit_v", "lit_f", 1024, 1024, 4, true, false,
     SCENE_SOUP, false},
};
const size_t n_scenes = sizeof scenes / sizeof *scenes;

static float unit(uint32_t *seed) { // xorshift: [0, 1)
    *seed ^= *seed << 13;
    *seed ^= *seed >> 17;
    *seed ^= *seed << 5;
    return (float)(*seed >> 8) * (1.0f / 16777216.0f);
}

static void *take(size_t n_bytes) {
    void *p = malloc(n_bytes);
    if (p) return p;
    fputs("out of memory\n", stderr);
    exit(1);
}

// Equilateral triangles of 8 pixels anywhere, at any angle and depth.
static void soup(const Scene *s, SceneData *d, uint32_t *seed) {
    const float radius = 2.4823f, turn = 6.2831853f;
    d->n_vertices = SCENE_TRIANGLES * 3;
    d->vertex_bytes = 24;
    float *v = d->vertices = take(d->n_vertices * d->vertex_bytes);
    for (int i = 0; i < SCENE_TRIANGLES; i++) {
        float x = unit(seed) * (float)s->width, y = unit(seed) * (float)s->height;
        float z = 0.05f + 0.9f * unit(seed), a = unit(seed) * turn, tilt = unit(seed) * turn;
        float nz = 0.2f + 0.8f * unit(seed), nr = sqrtf(1 - nz * nz);
        float slope = 0.02f * (unit(seed) - 0.5f);
        for (int k = 0; k < 3; k++, v += 6) {
            float corner = a + (float)k * turn / 3, n = tilt + 0.3f * (float)k;
            v[0] = x + radius * cosf(corner), v[1] = y + radius * sinf(corner);
            v[2] = z + slope * (float)k;
            v[3] = nr * cosf(n), v[4] = nr * sinf(n), v[5] = nz;
        }
    }
}

// 298 x 168 squares of 4 pixels: neighbours share vertices, nothing is drawn twice.
static void grid(SceneData *d) {
    enum { W = 298, H = 168 };
    d->n_vertices = (W + 1) * (H + 1);
    d->vertex_bytes = 24;
    float *v = d->vertices = take(d->n_vertices * d->vertex_bytes);
    for (int j = 0; j <= H; j++)
        for (int i = 0; i <= W; i++, v += 6) {
            float x = (float)i * 0.11f, y = (float)j * 0.13f;
            float fx = 0.15f * cosf(x), fy = 0.15f * sinf(y), l = 1 / sqrtf(fx * fx + fy * fy + 1);
            v[0] = 300.37f + (float)i * 4, v[1] = 200.21f + (float)j * 4;
            v[2] = 0.5f + 0.2f * sinf(x) * cosf(y);
            v[3] = -fx * l, v[4] = -fy * l, v[5] = l;
        }
    d->n_indices = (size_t)W * H * 6;
    uint32_t *at = d->indices = take(d->n_indices * sizeof *at);
    for (uint32_t j = 0; j < H; j++)
        for (uint32_t i = 0; i < W; i++, at += 6) {
            uint32_t o = j * (W + 1) + i, below = o + W + 1;
            memcpy(at, (uint32_t[6]){o, o + 1, below, o + 1, below + 1, below}, 24);
        }
}

static void quads(const Scene *s, SceneData *d, uint32_t *seed) {
    d->n_vertices = SCENE_QUADS * 6;
    d->vertex_bytes = 16;
    float *v = d->vertices = take(d->n_vertices * d->vertex_bytes);
    for (int i = 0; i < SCENE_QUADS; i++) {
        float r[6];
        for (int k = 0; k < 6; k++) r[k] = unit(seed);
        v = scene_quad(v, (float)s->width, (float)s->height, r);
    }
}

// A chequered picture with a random alpha, and its levels by the mean of four.
static void texture(SceneData *d, uint32_t *seed) {
    for (uint32_t n = SCENE_TEXTURE; n; n /= 2) d->n_texel_bytes += (size_t)n * n * 4;
    unsigned char *p = d->texels = take(d->n_texel_bytes);
    for (uint32_t i = 0; i < SCENE_TEXTURE * SCENE_TEXTURE; i++) {
        uint32_t x = i % SCENE_TEXTURE, y = i / SCENE_TEXTURE;
        p[4 * i] = ((x >> 5) ^ (y >> 5)) & 1 ? 220 : 40;
        p[4 * i + 1] = (unsigned char)(x >> 2), p[4 * i + 2] = (unsigned char)(y >> 2);
        p[4 * i + 3] = (unsigned char)(40 + (int)(120 * unit(seed)));
    }
    for (size_t n = SCENE_TEXTURE; n > 1; n /= 2) {
        unsigned char *next = p + n * n * 4;
        for (size_t i = 0; i < n * n; i++) { // 4 channels of (n/2)^2 texels
            size_t c = i % 4, x = i / 4 % (n / 2), y = i / 4 / (n / 2),
                   at = (2 * y * n + 2 * x) * 4;
            next[i] = (unsigned char)((p[at + c] + p[at + 4 + c] + p[at + 4 * n + c] +
                                       p[at + 4 * n + 4 + c] + 2) /
                                      4);
        }
        p = next;
    }
}

SceneData scene_data(const Scene *s) {
    SceneData d = {0};
    uint32_t seed = 0x12345678u;
    if (s->kind == SCENE_SOUP) soup(s, &d, &seed);
    if (s->kind == SCENE_GRID) grid(&d);
    if (s->kind == SCENE_TEXTURED) quads(s, &d, &seed), texture(&d, &seed);
    return d;
}

void scene_data_free(SceneData *d) {
    free(d->vertices);
    free(d->indices);
    free(d->texels);
    *d = (SceneData){0};
}

void scene_uniforms(const Scene *s, float up, float *u) {
    float x = 2 / (float)s->width, y = -2 * up / (float)s->height;
    memcpy(u, (float[20]){x, 0, 0,  0,  0, y, 0,          0,          0,          0,
                          1, 0, -1, up, 0, 1, 0.4082483f, 0.4082483f, 0.8164966f, 0},
           80);
}

static double clock_ms(clockid_t clock) {
    struct timespec t;
    clock_gettime(clock, &t);
    return (double)t.tv_sec * 1e3 + (double)t.tv_nsec * 1e-6;
}
double scene_clock(void) { return clock_ms(CLOCK_MONOTONIC); }

static int order(const void *a, const void *b) {
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

void scene_measure(const Scene *s, double seconds, void (*frame)(void *), void *context) {
    enum { MOST = 100000 };
    double *times = take(MOST * sizeof *times);
    size_t n = 0;
    frame(context); // memory is touched, threads run
    double cpu = clock_ms(CLOCK_PROCESS_CPUTIME_ID), end = scene_clock() + seconds * 1e3;
    while (n < MOST && (n < 3 || scene_clock() < end)) {
        double t = scene_clock();
        frame(context);
        times[n++] = scene_clock() - t;
    }
    cpu = (clock_ms(CLOCK_PROCESS_CPUTIME_ID) - cpu) / (double)n; // of all threads
    qsort(times, n, sizeof *times, order);
    printf("%s\t%.4f\t%.4f\t%zu\n", s->name, times[n / 2], cpu, n);
    fflush(stdout);
    free(times);
}

const Scene *scene_find(int argc, char **argv) {
    for (size_t i = 0; argc > 1 && i < n_scenes; i++)
        if (!strcmp(argv[1], scenes[i].name)) return &scenes[i];
    fprintf(stderr, "usage: %s SCENE [SECONDS] [PICTURE.png]; scenes:\n", argv[0]);
    for (size_t i = 0; i < n_scenes; i++)
        fprintf(stderr, "  %-6s %s\n", scenes[i].name, scenes[i].what);
    return NULL;
}
