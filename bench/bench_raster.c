// SPDX-License-Identifier: Apache-2.0
// bench_raster.c: scenes for the rasteriser with vertex and fragment functions in C, so that it can be
// measured without the compiler. The scenes are those of the peers' figures (see the text of each);
// prints the median ms of a frame,
// and the processor time it took. Usage: bench_raster [scene] [seconds] [picture.ppm]
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include "cpu/raster/raster.h"
#include "cpu/texture/layout.h"

#define N_TRIANGLES 100000
#define N_QUADS 200
// The functions are loops over lanes that the compiler makes vectors of, one copy per machine.
#define WIDE __attribute__((target_clones("avx512f", "avx2", "default")))

enum { RGBA8 = 70, D32F = 252 };

typedef struct Uniforms {
    float matrix[16], light[3];
} Uniforms;

// ---- Functions ----

// Three components position, three normal; 24 bytes.
WIDE static void lit_vertex(const CpuLaunch *launch, const CpuVertexStep *step) {
    const float *in = launch->args[0];
    const Uniforms *u = launch->args[1];
    float *out = (float *)(void *)step->out;
    float p[6][32];
    for (int l = 0; l < 32; l++)
        for (int c = 0; c < 6; c++) p[c][l] = in[(size_t)step->vertices[l] * 6 + (size_t)c];
    for (int r = 0; r < 4; r++)
        for (int l = 0; l < 32; l++)
            out[32 * r + l] = u->matrix[r] * p[0][l] + u->matrix[4 + r] * p[1][l] +
                              u->matrix[8 + r] * p[2][l] + u->matrix[12 + r];
    for (int r = 0; r < 3; r++)
        for (int l = 0; l < 32; l++) out[32 * (CPU_VERTEX_FIRST + r) + l] = p[3 + r][l];
}

typedef struct Lanes {
    float x[32], y[32];
} Lanes;
static Lanes lanes;

WIDE static void lit_fragment(const CpuLaunch *launch, CpuFragmentStep *step) {
    const Uniforms u = *(const Uniforms *)launch->args[0];
    const CpuPlane p0 = step->planes[0], p1 = step->planes[1], p2 = step->planes[2], pw = step->w;
    float *restrict out = (float *)(void *)step->colors, fx = step->from[0], fy = step->from[1];
    for (int l = 0; l < 32; l++) {
        float x = lanes.x[l] + fx, y = lanes.y[l] + fy;
        float w = 1.0f / (pw.at + pw.dx * x + pw.dy * y);
        float nx = (p0.at + p0.dx * x + p0.dy * y) * w;
        float ny = (p1.at + p1.dx * x + p1.dy * y) * w;
        float nz = (p2.at + p2.dx * x + p2.dy * y) * w;
        float scale = 1.0f / sqrtf(nx * nx + ny * ny + nz * nz);
        float d = (nx * u.light[0] + ny * u.light[1] + nz * u.light[2]) * scale;
        d = d > 0 ? d : 0;
        float lit = 0.1f + 0.9f * d;
        out[l] = 0.9f * lit;
        out[32 + l] = 0.7f * lit;
        out[64 + l] = 0.4f * lit;
        out[96 + l] = 1;
    }
}

// Position only, two components and two of texture coordinates.
WIDE static void quad_vertex(const CpuLaunch *launch, const CpuVertexStep *step) {
    const float *in = launch->args[0];
    float *out = (float *)(void *)step->out;
    for (int l = 0; l < 32; l++) {
        const float *v = in + (size_t)step->vertices[l] * 4;
        out[l] = v[0];
        out[32 + l] = v[1];
        out[64 + l] = 0.5f;
        out[96 + l] = 1;
        out[32 * CPU_VERTEX_FIRST + l] = v[2];
        out[32 * (CPU_VERTEX_FIRST + 1) + l] = v[3];
    }
}

WIDE static void blend_fragment(const CpuLaunch *launch, CpuFragmentStep *step) {
    (void)launch;
    const CpuPlane p0 = step->planes[0], p1 = step->planes[1];
    float *restrict out = (float *)(void *)step->colors, fx = step->from[0], fy = step->from[1];
    for (int l = 0; l < 32; l++) {
        float x = lanes.x[l] + fx, y = lanes.y[l] + fy;
        out[l] = p0.at + p0.dx * x + p0.dy * y;
        out[32 + l] = p1.at + p1.dx * x + p1.dy * y;
        out[64 + l] = 0.25f;
        out[96 + l] = 0.4f;
    }
}

static void triangle_vertex(const CpuLaunch *launch, const CpuVertexStep *step) {
    static const float at[3][2] = {{0, 0.8f}, {0.8f, -0.8f}, {-0.8f, -0.8f}};
    (void)launch;
    float *out = (float *)(void *)step->out;
    for (uint32_t l = 0; l < step->n; l++) {
        uint32_t v = step->vertices[l] % 3;
        out[l] = at[v][0];
        out[32 + l] = at[v][1];
        out[64 + l] = 0.5f;
        out[96 + l] = 1;
        for (uint32_t c = 0; c < 3; c++) out[32 * (CPU_VERTEX_FIRST + c) + l] = v == c;
    }
}

WIDE static void triangle_fragment(const CpuLaunch *launch, CpuFragmentStep *step) {
    (void)launch;
    const CpuPlane *p = step->planes;
    float *out = (float *)(void *)step->colors, fx = step->from[0], fy = step->from[1];
    for (int c = 0; c < 3; c++)
        for (int l = 0; l < 32; l++)
            out[32 * c + l] = p[c].at + p[c].dx * (lanes.x[l] + fx) + p[c].dy * (lanes.y[l] + fy);
    for (int l = 0; l < 32; l++) out[96 + l] = 1;
}

// ---- Scenes ----

typedef struct Scene {
    const char *name, *what;
    uint32_t width, height, n_samples;
    bool depth, blend, mesh;
    enum { CLEAR, TRIANGLE, LIT, QUADS } kind;
} Scene;
static const Scene scenes[] = {
    {"S0", "clear of colour and depth", 1920, 1080, 1, true, false, false, CLEAR},
    {"S1", "clear and one triangle", 512, 512, 1, false, false, false, TRIANGLE},
    {"S2", "100k random 8-pixel lit triangles", 1920, 1080, 1, true, false, false, LIT},
    {"S2m", "the same as an indexed grid", 1920, 1080, 1, true, false, true, LIT},
    {"S4b", "200 large quads, blended, no texture", 1920, 1080, 1, false, true, false, QUADS},
    {"S5", "S2 at 1024^2 with 4 samples", 1024, 1024, 4, true, false, false, LIT},
    {"S5x1", "the same with one", 1024, 1024, 1, true, false, false, LIT},
};

static uint32_t seed = 0x12345678u;
static float unit(void) {
    seed ^= seed << 13;
    seed ^= seed >> 17;
    seed ^= seed << 5;
    return (float)(seed >> 8) * (1.0f / 16777216.0f);
}

static CpuTexture texture(uint32_t format, uint32_t w, uint32_t h, uint32_t samples) {
    CpuTexture t;
    CpuTextureShape shape = {.type = samples > 1 ? CPU_TEXTURE_2D_MS : CPU_TEXTURE_2D,
                             .pixel_format = format, .width = w, .height = h, .depth = 1,
                             .array_length = 1, .n_levels = 1, .n_samples = samples};
    CpuTextureSize size;
    cpu_texture_layout(&shape, NULL, NULL, &size);
    void *data = aligned_alloc(4096, (size.n_bytes + 4095) / 4096 * 4096);
    memset(data, 0, size.n_bytes);
    cpu_texture_layout(&shape, data, &t, &size);
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
        float cx = (float)s->width * (0.2f + 0.6f * unit()), hw = 300 + 250 * unit();
        float cy = (float)s->height * (0.2f + 0.6f * unit()), hh = 300 + 250 * unit();
        float a = unit() * 6.2831853f;
        static const int order[6] = {0, 1, 2, 0, 2, 3};
        static const float sx[4] = {-1, 1, 1, -1}, sy[4] = {-1, -1, 1, 1};
        for (int k = 0; k < 6; k++, v += 4) {
            int c = order[k];
            float x = cx + sx[c] * hw * cosf(a) - sy[c] * hh * sinf(a);
            float y = cy + sx[c] * hw * sinf(a) + sy[c] * hh * cosf(a);
            v[0] = x * 2 / (float)s->width - 1, v[1] = y * 2 / (float)s->height - 1;
            v[2] = sx[c] * 0.5f + 0.5f, v[3] = sy[c] * 0.5f + 0.5f;
        }
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
    CpuTexture color = texture(RGBA8, s->width, s->height, s->n_samples);
    CpuTexture depth = texture(D32F, s->width, s->height, s->n_samples);
    CpuTexture resolved = texture(RGBA8, s->width, s->height, 1);
    bool samples = s->n_samples > 1;
    CpuRasterPass pass = {.width = s->width, .height = s->height, .n_samples = s->n_samples};
    pass.colors[0] = (CpuRasterColor){.view = {.texture = &color},
                                      .load = CPU_LOAD_CLEAR,
                                      .store = samples ? CPU_STORE_RESOLVE : CPU_STORE_STORE,
                                      .clear = {0.1, 0.1, 0.2, 1}};
    if (samples) pass.colors[0].resolve.texture = &resolved;
    if (s->depth)
        pass.depth = (CpuRasterDepth){.view = {.texture = &depth},
                                      .load = CPU_LOAD_CLEAR,
                                      .store = CPU_STORE_DONT_CARE,
                                      .clear = 1};
    seed = 0x12345678u;
    float *vertices = malloc((size_t)N_TRIANGLES * 3 * 6 * 4);
    uint32_t *indices = malloc((size_t)N_TRIANGLES * 2 * 3 * 4), n_indices = 0;
    Uniforms u = {.matrix = {2.0f / (float)s->width, 0, 0, 0, 0, 2.0f / (float)s->height, 0, 0, 0, 0,
                             1, 0, -1, -1, 0, 1},
                  .light = {0.4082483f, 0.4082483f, 0.8164966f}};
    if (s->kind == LIT && !s->mesh) soup(s, vertices);
    if (s->mesh) n_indices = grid(vertices, indices);
    if (s->kind == QUADS) quads(s, vertices);
    void *vertex_args[] = {vertices, &u}, *fragment_args[] = {&u};
    uint64_t lengths[] = {(uint64_t)N_TRIANGLES * 72, sizeof u};
    uint32_t n_inputs = s->kind == QUADS ? 2 : 3;
    CpuStageInfo vi = {.n_outputs = n_inputs, .flags = CPU_STAGE_POSITION};
    CpuStageInfo fi = {.n_inputs = n_inputs, .colors = 1};
    const uint16_t rows[3] = {CPU_VERTEX_FIRST, CPU_VERTEX_FIRST + 1, CPU_VERTEX_FIRST + 2};
    CpuVertexStage vertex = {.run = s->kind == LIT     ? lit_vertex
                                    : s->kind == QUADS ? quad_vertex
                                                       : triangle_vertex,
                             .info = &vi,
                             .arguments = {.args = vertex_args, .lengths = lengths}};
    CpuFragmentStage fragment = {.run = s->kind == LIT     ? lit_fragment
                                        : s->kind == QUADS ? blend_fragment
                                                           : triangle_fragment,
                                 .info = &fi,
                                 .arguments = {.args = fragment_args},
                                 .rows = rows};
    CpuRasterState state = {.primitive = CPU_TRIANGLE, .depth_compare = CPU_COMPARE_ALWAYS};
    state.blend[0].write_mask = 15;
    if (s->depth) state.depth_compare = CPU_COMPARE_LESS, state.depth_write = true;
    if (s->blend)
        state.blend[0] = (CpuBlendState){.enabled = true, .src_rgb = CPU_BLEND_SRC_ALPHA,
                                         .dst_rgb = CPU_BLEND_ONE_MINUS_SRC_ALPHA,
                                         .src_alpha = CPU_BLEND_ONE,
                                         .dst_alpha = CPU_BLEND_ONE_MINUS_SRC_ALPHA,
                                         .write_mask = 15};
    CpuDraw draws[N_QUADS];
    size_t n_draws = s->kind == CLEAR ? 0 : s->kind == QUADS ? N_QUADS : 1;
    for (size_t i = 0; i < n_draws; i++)
        draws[i] = (CpuDraw){.vertex = &vertex, .fragment = &fragment, .state = &state,
                             .n_vertices = s->kind == LIT ? N_TRIANGLES * 3
                                           : s->kind == QUADS ? 6 : 3,
                             .first_vertex = s->kind == QUADS ? (uint32_t)i * 6 : 0,
                             .n_instances = 1};
    if (n_indices) {
        draws[0].indices = indices;
        draws[0].index_bytes = 4;
        draws[0].indices_bytes = (uint64_t)n_indices * 4;
        draws[0].n_vertices = n_indices;
    }
    static double times[20000];
    size_t n = 0;
    double cpu = now_ms(CLOCK_PROCESS_CPUTIME_ID);
    double end = now_ms(CLOCK_MONOTONIC) + seconds * 1e3;
    while (n < 20000 && (n < 7 || now_ms(CLOCK_MONOTONIC) < end)) {
        CpuRun run = {.fault = 0};
        double t = now_ms(CLOCK_MONOTONIC);
        if (!cpu_run_begin(&run, 0) || !cpu_raster(&run, &pass, draws, n_draws)) exit(1);
        cpu_run_end(&run);
        times[n++] = now_ms(CLOCK_MONOTONIC) - t;
    }
    qsort(times, n, sizeof *times, order);
    cpu = (now_ms(CLOCK_PROCESS_CPUTIME_ID) - cpu) / (double)n; // of all threads
    printf("%-5s %8.3f ms  (least %.3f, cpu %.3f, %zu frames)  %s\n", s->name, times[n / 2],
           times[0], cpu, n, s->what);
    fflush(stdout);
    FILE *f = picture ? fopen(picture, "wb") : NULL;
    if (f) {
        const CpuTexture *shown = samples ? &resolved : &color;
        fprintf(f, "P6 %u %u 255\n", s->width, s->height);
        for (uint32_t y = 0; y < s->height; y++)
            for (uint32_t x = 0; x < s->width; x++)
                fwrite(cpu_texture_at(shown, 0, x, y, 0, 0), 1, 3, f);
        fclose(f);
    }
    free(color.levels[0].data);
    free(depth.levels[0].data);
    free(resolved.levels[0].data);
    free(vertices);
    free(indices);
}

int main(int argc, char **argv) {
    for (int l = 0; l < 32; l++) {
        lanes.x[l] = (float)(l / 4 % 4 * 2 + l % 2) + 0.5f;
        lanes.y[l] = (float)(l / 16 * 2 + l / 2 % 2) + 0.5f;
    }
    double seconds = argc > 2 ? atof(argv[2]) : 1;
    for (size_t i = 0; i < sizeof scenes / sizeof *scenes; i++)
        if (argc < 2 || !strcmp(argv[1], "all") || !strcmp(argv[1], scenes[i].name))
            run_scene(&scenes[i], seconds, argc > 3 ? argv[3] : NULL);
    return 0;
}
