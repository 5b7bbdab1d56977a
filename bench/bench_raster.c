// SPDX-License-Identifier: Apache-2.0
// bench_raster.c: scenes for the rasteriser, with functions in C (bench_raster) or compiled from
// MSL (bench_raster_msl). The scenes are those of the peers' figures (see the text of each); prints
// the median ms of a frame, and the least processor time one took: what counts on a busy machine.
// Usage: bench_raster [scene] [seconds] [picture.ppm]
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include "abi/texture_layout.h"
#include "raster_functions.h"
#include "scene_quad.h"

#define N_TRIANGLES 100000
#define N_QUADS 200
#define N_DRAWS 10000

enum { RGBA8 = 70, D32F = 252 };

// ---- Scenes ----

typedef struct Scene {
    const char *name, *what;
    uint32_t width, height, n_samples;
    bool depth, blend, mesh;
    enum { CLEAR, TRIANGLE, LIT, QUADS, DRAWS, INSTANCES } kind;
    const char *functions;
} Scene;
static const Scene scenes[] = {
    {"S0", "clear of colour and depth", 1920, 1080, 1, true, false, false, CLEAR, "triangle"},
    {"S1", "clear and one triangle", 512, 512, 1, false, false, false, TRIANGLE, "triangle"},
    {"S2", "100k random 8-pixel lit triangles", 1920, 1080, 1, true, false, false, LIT, "lit"},
    {"S2m", "the same as an indexed grid", 1920, 1080, 1, true, false, true, LIT, "lit"},
    {"S4b", "200 large quads, blended, no texture", 1920, 1080, 1, false, true, false, QUADS,
     "quad"},
    {"S3f", "full screen, 64 steps a pixel", 1920, 1080, 1, false, false, false, TRIANGLE, "fixed"},
    {"S4", "200 large quads, trilinear, blended", 1920, 1080, 1, false, true, false, QUADS,
     "trilinear"},
    {"S4n", "the same, nearest", 1920, 1080, 1, false, true, false, QUADS, "nearest"},
    {"S5", "S2 at 1024^2 with 4 samples", 1024, 1024, 4, true, false, false, LIT, "lit"},
    {"S6", "10k draws of one lit triangle", 1920, 1080, 1, true, false, false, DRAWS, "lit"},
    {"S6s", "the same, each with its own state", 1920, 1080, 1, true, false, false, DRAWS, "lit"},
    {"S7", "20k instances of a small quad", 1920, 1080, 1, false, true, false, INSTANCES, "sprite"},
    {"S5x1", "the same with one", 1024, 1024, 1, true, false, false, LIT, "lit"},
};

static uint32_t seed = 0x12345678u;
static float unit(void) {
    seed ^= seed << 13;
    seed ^= seed >> 17;
    seed ^= seed << 5;
    return (float)(seed >> 8) * (1.0f / 16777216.0f);
}

static AbiTexture texture(uint32_t format, uint32_t w, uint32_t h, uint32_t samples) {
    AbiTexture t;
    AbiTextureShape shape = {.type = samples > 1 ? ABI_TEXTURE_2D_MS : ABI_TEXTURE_2D,
                             .pixel_format = format,
                             .width = w,
                             .height = h,
                             .depth = 1,
                             .array_length = 1,
                             .n_levels = 1,
                             .n_samples = samples};
    AbiTextureSize size;
    abi_texture_layout(&shape, NULL, NULL, &size);
    void *data = aligned_alloc(4096, (size.n_bytes + 4095) / 4096 * 4096);
    memset(data, 0, size.n_bytes);
    abi_texture_layout(&shape, data, &t, &size);
    return t;
}

// 1024 x 1024 with all levels.
static AbiTexture mipmapped(void) {
    AbiTexture t;
    AbiTextureShape shape = {.type = ABI_TEXTURE_2D,
                             .pixel_format = RGBA8,
                             .width = 1024,
                             .height = 1024,
                             .depth = 1,
                             .array_length = 1,
                             .n_levels = 11,
                             .n_samples = 1};
    AbiTextureSize size;
    abi_texture_layout(&shape, NULL, NULL, &size);
    abi_texture_layout(&shape, aligned_alloc(4096, (size.n_bytes + 4095) / 4096 * 4096), &t, &size);
    for (uint32_t level = 0; level < 11; level++)
        for (uint32_t y = 0; y < 1024u >> level; y++)
            for (uint32_t x = 0; x < 1024u >> level; x++) {
                unsigned char *at = abi_texture_at(&t, level, x, y, 0, 0);
                for (uint32_t c = 0; level && c < 4; c++) {
                    uint32_t sum = 2;
                    for (uint32_t k = 0; k < 4; k++)
                        sum += abi_texture_at(&t, level - 1, 2 * x + k % 2, 2 * y + k / 2, 0, 0)[c];
                    at[c] = (unsigned char)(sum / 4);
                }
                if (level) continue;
                at[0] = ((x >> 5) ^ (y >> 5)) & 1 ? 220 : 40;
                at[1] = (unsigned char)(x >> 2);
                at[2] = (unsigned char)(y >> 2);
                at[3] = (unsigned char)(40 + (int)(120 * unit()));
            }
    return t;
}

static void soup(const Scene *s, float *v) {
    const float r = 2.4823f; // of an equilateral triangle of 8 pixels
    for (int i = 0; i < N_TRIANGLES; i++) {
        float cx = unit() * (float)s->width, cy = unit() * (float)s->height;
        float z = 0.05f + 0.9f * unit(), a = unit() * 6.2831853f, ph = unit() * 6.2831853f;
        float nz = 0.2f + 0.8f * unit(), nr = sqrtf(1 - nz * nz), dz = 0.02f * (unit() - 0.5f);
        for (int k = 0; k < 3; k++, v += 6) {
            float angle = a + (float)k * 2.0943951f;
            v[0] = cx + r * cosf(angle), v[1] = cy + r * sinf(angle), v[2] = z + dz * (float)k;
            v[3] = nr * cosf(ph + 0.3f * (float)k), v[4] = nr * sinf(ph + 0.3f * (float)k);
            v[5] = nz;
        }
    }
}

static uint32_t grid(float *v, uint32_t *index) {
    const int w = 298, h = 168;
    for (int j = 0; j <= h; j++)
        for (int i = 0; i <= w; i++, v += 6) {
            float fx = 0.15f * cosf((float)i * 0.11f), fy = 0.15f * sinf((float)j * 0.13f);
            float l = 1 / sqrtf(fx * fx + fy * fy + 1);
            v[0] = 300 + (float)i * 4 + 0.37f, v[1] = 200 + (float)j * 4 + 0.21f;
            v[2] = 0.5f + 0.2f * sinf((float)i * 0.11f) * cosf((float)j * 0.13f);
            v[3] = -fx * l, v[4] = -fy * l, v[5] = l;
        }
    uint32_t *at = index;
    for (int j = 0; j < h; j++)
        for (int i = 0; i < w; i++) {
            uint32_t o = (uint32_t)(j * (w + 1) + i), x = (uint32_t)w + 1;
            uint32_t t[6] = {o, o + 1, o + x, o + 1, o + x + 1, o + x};
            memcpy(at, t, sizeof t);
            at += 6;
        }
    return (uint32_t)(at - index);
}

static void quads(const Scene *s, float *v) {
    for (int i = 0; i < N_QUADS; i++) {
        float r[6];
        for (int k = 0; k < 6; k++) r[k] = unit();
        v = scene_quad(v, (float)s->width, (float)s->height, r);
    }
}

static double now_ms(clockid_t clock) {
    struct timespec t;
    clock_gettime(clock, &t);
    return (double)t.tv_sec * 1e3 + (double)t.tv_nsec * 1e-6;
}

static int order(const void *a, const void *b) {
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static void run_scene(const Scene *s, double seconds, const char *picture) {
    AbiTexture color = texture(RGBA8, s->width, s->height, s->n_samples);
    AbiTexture depth = texture(D32F, s->width, s->height, s->n_samples);
    AbiTexture resolved = texture(RGBA8, s->width, s->height, 1);
    bool samples = s->n_samples > 1;
    DevPass pass = {.width = s->width, .height = s->height, .n_samples = s->n_samples};
    pass.colors[0] = (DevColor){.view = {.texture = &color},
                                .load = DEV_LOAD_CLEAR,
                                .store = samples ? DEV_STORE_RESOLVE : DEV_STORE_STORE,
                                .clear = {0.1, 0.1, 0.2, 1}};
    if (samples) pass.colors[0].resolve.texture = &resolved;
    if (s->depth)
        pass.depth = (DevDepth){.view = {.texture = &depth},
                                .load = DEV_LOAD_CLEAR,
                                .store = s->kind == CLEAR ? DEV_STORE_STORE : DEV_STORE_DONT_CARE,
                                .clear = 1};
    seed = 0x12345678u;
    float *vertices = malloc((size_t)N_TRIANGLES * 3 * 6 * 4);
    uint32_t *indices = malloc((size_t)N_TRIANGLES * 2 * 3 * 4), n_indices = 0;
    Uniforms u = {.matrix = {2.0f / (float)s->width, 0, 0, 0, 0, 2.0f / (float)s->height, 0, 0, 0,
                             0, 1, 0, -1, -1, 0, 1},
                  .light = {0.4082483f, 0.4082483f, 0.8164966f}};
    if ((s->kind == LIT && !s->mesh) || s->kind == DRAWS) soup(s, vertices);
    if (s->mesh) n_indices = grid(vertices, indices);
    if (s->kind == QUADS) quads(s, vertices);
    AbiTexture checks = mipmapped();
    FunctionInputs in = {.kind = s->functions,
                         .vertices = vertices,
                         .vertices_bytes = (uint64_t)N_TRIANGLES * 72,
                         .uniforms = &u,
                         .texture = &checks};
    static Functions functions;
    if (!functions_get(&in, &functions)) goto done;
    DevState state = {.primitive = DEV_TRIANGLE, .depth_compare = ABI_COMPARE_ALWAYS};
    state.blend[0].write_mask = 15;
    if (s->depth) state.depth_compare = ABI_COMPARE_LESS, state.depth_write = true;
    if (s->blend)
        state.blend[0] = (DevBlend){.enabled = true,
                                    .src_rgb = DEV_BLEND_SRC_ALPHA,
                                    .dst_rgb = DEV_BLEND_ONE_MINUS_SRC_ALPHA,
                                    .src_alpha = DEV_BLEND_ONE,
                                    .dst_alpha = DEV_BLEND_ONE_MINUS_SRC_ALPHA,
                                    .write_mask = 15};
    static DevDraw draws[N_DRAWS];
    size_t n_draws = s->kind == CLEAR   ? 0
                     : s->kind == QUADS ? N_QUADS
                     : s->kind == DRAWS ? N_DRAWS
                                        : 1;
    for (size_t i = 0; i < n_draws; i++)
        draws[i] = (DevDraw){.vertex = &functions.vertex,
                             .fragment = &functions.fragment,
                             .state = &state,
                             .n_vertices = s->kind == LIT ? N_TRIANGLES * 3
                                           : s->kind == QUADS || s->kind == INSTANCES ? 6
                                                                                      : 3,
                             .first_vertex = s->kind == QUADS   ? (uint32_t)i * 6
                                             : s->kind == DRAWS ? (uint32_t)i * 3
                                                                : 0,
                             .n_instances = s->kind == INSTANCES ? 20000 : 1};
    static DevState states[N_DRAWS];
    for (size_t i = 0; i < n_draws && !strcmp(s->name, "S6s"); i++) {
        states[i] = state;
        draws[i].state = &states[i];
    }
    if (n_indices) {
        draws[0].indices = indices;
        draws[0].index_bytes = 4;
        draws[0].indices_bytes = (uint64_t)n_indices * 4;
        draws[0].n_vertices = n_indices;
    }
    static double times[20000];
    size_t n = 0;
    double cpu = INFINITY; // of all threads
    double end = now_ms(CLOCK_MONOTONIC) + seconds * 1e3;
    while (n < 20000 && (n < 7 || now_ms(CLOCK_MONOTONIC) < end)) {
        DevRun run = {.fault = 0};
        double t = now_ms(CLOCK_MONOTONIC), t_cpu = now_ms(CLOCK_PROCESS_CPUTIME_ID);
        if (!cpu_run_begin(&run, (DevLimits){0}) || !cpu_raster(&run, &pass, draws, n_draws))
            exit(1);
        cpu_run_end(&run);
        times[n++] = now_ms(CLOCK_MONOTONIC) - t;
        t_cpu = now_ms(CLOCK_PROCESS_CPUTIME_ID) - t_cpu;
        cpu = t_cpu < cpu ? t_cpu : cpu;
    }
    qsort(times, n, sizeof *times, order);
    printf("%-5s %8.3f ms  (least %.3f, cpu %.3f, %zu frames)  %s\n", s->name, times[n / 2],
           times[0], cpu, n, s->what);
    fflush(stdout);
    FILE *f = picture ? fopen(picture, "wb") : NULL;
    if (f) {
        const AbiTexture *shown = samples ? &resolved : &color;
        fprintf(f, "P6 %u %u 255\n", s->width, s->height);
        for (uint32_t y = 0; y < s->height; y++)
            for (uint32_t x = 0; x < s->width; x++)
                fwrite(abi_texture_at(shown, 0, x, y, 0, 0), 1, 3, f);
        fclose(f);
    }
    functions_free(&functions);
done:
    free(checks.levels[0].data);
    free(color.levels[0].data);
    free(depth.levels[0].data);
    free(resolved.levels[0].data);
    free(vertices);
    free(indices);
}

int main(int argc, char **argv) {
    double seconds = argc > 2 ? atof(argv[2]) : 1;
    for (size_t i = 0; i < sizeof scenes / sizeof *scenes; i++)
        if (argc < 2 || !strcmp(argv[1], "all") || !strcmp(argv[1], scenes[i].name))
            run_scene(&scenes[i], seconds, argc > 3 ? argv[3] : NULL);
    return 0;
}
