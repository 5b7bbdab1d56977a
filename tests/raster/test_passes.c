// SPDX-License-Identifier: Apache-2.0
// Passes as a whole: load and store actions, layers, viewports, instances, visibility, memoryless
// attachments over several batches, faults and time limits, targets of odd and of great size, and
// the same picture whatever the number of threads.
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>
#include "../unit.h"
#include "scene.h"

enum { RGBA8 = 70, RGBA32F = 125, R32F = 55, R8 = 10, D32F = 252 };

static const double corner[6][2] = {{0, 0}, {1, 0}, {0, 1}, {1, 0}, {1, 1}, {0, 1}};

// Two triangles over the whole target; w, h: powers of two or the target's.
static Scene *scene_new(uint32_t format, uint32_t w, uint32_t h, uint32_t samples, uint32_t layers,
                        Behaviour b, uint32_t vertex_flags) {
    Scene *s = calloc(1, sizeof *s);
    assert_non_null(s);
    s->color = target_new(format, w, h, samples, layers);
    s->pass = (DevPass){.width = w, .height = h, .n_samples = samples, .n_layers = layers};
    s->pass.colors[0] = (DevColor){.view = {.texture = &s->color.texture},
                                   .load = DEV_LOAD_CLEAR,
                                   .store = DEV_STORE_STORE,
                                   .clear = {0.5, 0.5, 0.5, 0.5}};
    for (int i = 0; i < 6; i++) {
        place(&s->vertices[i], corner[i][0] * w, corner[i][1] * h, 0.5, 1, w, h);
        for (int c = 0; c < N_VALUES; c++) s->vertices[i].value[c] = 1;
    }
    b.colors = 1;
    stages_init(&s->stages, s->vertices, 6, b, vertex_flags, 0);
    s->state = state_default(DEV_TRIANGLE);
    s->draw = draw_of(&s->stages, &s->state, 6);
    return s;
}

static double at(const Scene *s, uint32_t x, uint32_t y, uint32_t layer) {
    double v[4];
    target_read(&s->color, x, y, layer, 0, v);
    return v[0];
}

TEST(test_load_store) {
    static const uint32_t sizes[][2] = {{1, 1}, {7, 3}, {64, 64}, {65, 63}, {200, 130}};
    static const uint32_t formats[] = {R8, RGBA8, RGBA32F, 25, 115};
    for (int f = 0; f < 5; f++)
        for (int i = 0; i < 5; i++) {
            Scene *s =
                scene_new(formats[f], sizes[i][0], sizes[i][1], 1, 1, (Behaviour){.flat = true}, 0);
            render(&s->pass, NULL, 0); // clear only
            for (uint32_t y = 0; y < s->pass.height; y++)
                for (uint32_t x = 0; x < s->pass.width; x++)
                    assert_true(fabs(at(s, x, y, 0) - 0.5) < 0.003);
            s->pass.colors[0].load = DEV_LOAD_LOAD; // half of it drawn, the rest kept
            s->draw.n_vertices = 3;
            render(&s->pass, &s->draw, 1);
            double first = at(s, 0, 0, 0);
            if (s->pass.width > 1) assert_true(first == 1);
            if (s->pass.width > 1)
                assert_true(fabs(at(s, s->pass.width - 1, s->pass.height - 1, 0) - 0.5) < 0.003);
            s->pass.colors[0].store = DEV_STORE_DONT_CARE;
            s->draw.n_vertices = 6;
            render(&s->pass, &s->draw, 1);
            if (s->pass.width > 1)
                assert_true(fabs(at(s, s->pass.width - 1, s->pass.height - 1, 0) - 0.5) < 0.003);
            scene_free(s);
        }
}

// Nothing outside of a view's texels is written: rows have gaps when the width is odd.
TEST(test_bounds) {
    Scene *s = scene_new(RGBA8, 37, 21, 1, 1, (Behaviour){.flat = true}, 0);
    AbiTextureLevel *l = &s->color.texture.levels[0];
    uint32_t rows = 21, pitch = 37 * 4 + 12;
    unsigned char *memory = malloc((rows + 2) * pitch);
    memset(memory, 0x77, (rows + 2) * pitch);
    void *old = l->data;
    l->data = memory + pitch;
    l->row_bytes = pitch;
    render(&s->pass, &s->draw, 1);
    for (uint32_t y = 0; y < rows + 2; y++)
        for (uint32_t x = 0; x < pitch; x++) {
            bool inside = y >= 1 && y <= rows && x < 37 * 4;
            assert_int_equal(memory[y * pitch + x], inside ? 255 : 0x77);
        }
    l->data = old;
    free(memory);
    scene_free(s);
}

TEST(test_scissor_viewport) {
    Scene *s = scene_new(RGBA8, 128, 128, 1, 1, (Behaviour){.flat = true}, ABI_STAGE_VIEWPORT);
    s->state.n_viewports = 2;
    s->state.viewports[0] = (DevViewport){0, 0, 128, 128, 0, 1};
    s->state.viewports[1] = (DevViewport){32, 16, 64, 32, 0, 1};
    for (int i = 0; i < 6; i++) s->vertices[i].viewport = 1;
    render(&s->pass, &s->draw, 1);
    for (uint32_t y = 0; y < 128; y++)
        for (uint32_t x = 0; x < 128; x++) {
            bool in = x >= 32 && x < 96 && y >= 16 && y < 48;
            assert_true(fabs(at(s, x, y, 0) - (in ? 1 : 0.5)) < 0.003);
        }
    // A triangle far larger than the viewport is cut at its sides.
    for (int i = 0; i < 6; i++) s->vertices[i].position[0] *= 8, s->vertices[i].position[1] *= 8;
    render(&s->pass, &s->draw, 1);
    assert_true(fabs(at(s, 31, 20, 0) - 0.5) < 0.003 && at(s, 32, 20, 0) == 1);
    assert_true(at(s, 95, 47, 0) == 1 && fabs(at(s, 96, 20, 0) - 0.5) < 0.003);
    // Scissors: empty, outside, huge.
    static const DevScissor scissors[] = {
        {10, 10, 0, 5}, {500, 500, 10, 10}, {0, 0, UINT32_MAX, UINT32_MAX}};
    for (int i = 0; i < 3; i++) {
        s->state.n_scissors = 2;
        s->state.scissors[0] = s->state.scissors[1] = scissors[i];
        render(&s->pass, &s->draw, 1);
        assert_true(fabs(at(s, 40, 20, 0) - (i == 2 ? 1 : 0.5)) < 0.003);
    }
    // Viewports that make no sense.
    static const DevViewport odd[] = {{NAN, 0, 10, 10, 0, 1},
                                      {0, 0, 0, 0, 0, 1},
                                      {0, 0, INFINITY, 1e30, 0, 1},
                                      {-1e9, 1e9, 1e9, 1e9, 1, 0},
                                      {0, 0, -64, -64, 0, 1}};
    for (int i = 0; i < 5; i++) {
        s->state.viewports[1] = odd[i];
        render(&s->pass, &s->draw, 1);
    }
    scene_free(s);
}

TEST(test_layers) {
    Scene *s = scene_new(RGBA8, 64, 64, 1, 5, (Behaviour){.flat = true}, ABI_STAGE_LAYER);
    for (int i = 0; i < 6; i++) s->vertices[i].layer = i < 3 ? 1 : 3;
    render(&s->pass, &s->draw, 1);
    for (uint32_t layer = 0; layer < 5; layer++) {
        double low = at(s, 5, 5, layer), high = at(s, 60, 60, layer);
        assert_true(fabs(low - (layer == 1 ? 1 : 0.5)) < 0.003);
        assert_true(fabs(high - (layer == 3 ? 1 : 0.5)) < 0.003);
    }
    for (int i = 0; i < 6; i++) s->vertices[i].layer = 70000; // there is none
    render(&s->pass, &s->draw, 1);
    scene_free(s);
}

TEST(test_instances) {
    Scene *s = scene_new(RGBA8, 64, 64, 1, 1, (Behaviour){.flat = true}, 0);
    // Each instance stands 8 pixels to the right of the one before.
    for (int i = 0; i < 6; i++)
        place(&s->vertices[i], 2 + corner[i][0] * 4, 2 + corner[i][1] * 60, 0.5, 1, 64, 64);
    s->draw.n_instances = 7;
    s->draw.base_instance = 100;
    _Atomic uint64_t visible = 0;
    s->draw.visibility = &visible;
    render(&s->pass, &s->draw, 1);
    for (uint32_t x = 0; x < 64; x++) {
        bool in = x % 8 >= 2 && x % 8 < 6 && x < 56;
        assert_true(fabs(at(s, x, 30, 0) - (in ? 1 : 0.5)) < 0.003);
    }
    assert_int_equal(visible, 7 * 4 * 60);
    visible = 0;
    s->draw.counts_any = true;
    render(&s->pass, &s->draw, 1);
    assert_int_equal(visible, 1);
    s->state.discard_all = true;
    render(&s->pass, &s->draw, 1);
    assert_true(fabs(at(s, 3, 30, 0) - 0.5) < 0.003);
    scene_free(s);
}

// One draw, or many small ones, that share their state or not, indexed or not: the same picture.
TEST(test_many_draws) {
    enum { N = 2400, SIZE = 128 }; // vertices
    random_seed(7);
    Vertex *v = calloc(N, sizeof *v);
    uint16_t indices[N];
    for (uint32_t i = 0; i < N; i += 3) {
        double x = random_unit() * SIZE, y = random_unit() * SIZE;
        for (uint32_t k = 0; k < 3; k++) { // some behind the eye, some outside
            place(&v[i + k], x + random_unit() * 20, y + random_unit() * 20, random_unit(),
                  random_unit() * 4 - 0.1, SIZE, SIZE);
            for (int c = 0; c < N_VALUES; c++) v[i + k].value[c] = (float)random_unit();
            indices[i + k] = (uint16_t)(i + k);
        }
    }
    unsigned char *want = NULL;
    for (int kind = 0; kind < 5; kind++) {
        Scene *s = scene_new(RGBA8, SIZE, SIZE, 1, 1, (Behaviour){0}, 0);
        stages_init(&s->stages, v, N, (Behaviour){.colors = 1}, 0, 0);
        s->state.blend[0] = blend_of(DEV_BLEND_SRC_ALPHA, DEV_BLEND_ONE_MINUS_SRC_ALPHA,
                                     DEV_BLEND_ONE, DEV_BLEND_ONE_MINUS_SRC_ALPHA);
        DevState *states = calloc(N, sizeof *states);
        DevDraw *draws = calloc(N, sizeof *draws);
        size_t n = 0;
        for (uint32_t first = 0; first < N; n++) {
            uint32_t length = kind == 0 ? N : 3 * (1 + random_bits() % 40);
            if (length > N - first) length = N - first;
            draws[n] = s->draw;
            draws[n].first_vertex = first;
            draws[n].n_vertices = length;
            states[n] = s->state;
            if (kind == 2) draws[n].state = &states[n];
            if (kind >= 3) { // kind 4: a base vertex too
                draws[n].indices = indices + (kind == 3 ? first : 0);
                draws[n].indices_bytes = sizeof indices - (kind == 3 ? first : 0) * 2;
                draws[n].index_bytes = 2;
                draws[n].first_vertex = kind == 3 ? 0 : first;
            }
            first += length;
        }
        render(&s->pass, draws, n);
        if (!want) {
            want = malloc(s->color.n_bytes);
            memcpy(want, s->color.data, s->color.n_bytes);
        }
        assert_memory_equal(want, s->color.data, s->color.n_bytes);
        free(states);
        free(draws);
        scene_free(s);
    }
    free(want);
    free(v);
}

TEST(test_no_attachments) {
    Scene *s = scene_new(RGBA8, 64, 64, 1, 1, (Behaviour){.flat = true}, 0);
    s->pass.colors[0].view.texture = NULL;
    _Atomic uint64_t visible = 0;
    s->draw.visibility = &visible;
    s->pass.width = 33;
    s->pass.height = 65;
    s->state.n_viewports = 1;
    s->state.viewports[0] = (DevViewport){0, 0, 64, 128, 0, 1};
    render(&s->pass, &s->draw, 1);
    assert_int_equal(visible, 33 * 65);
    scene_free(s);
}

// Depth that is never in memory, and samples that are only resolved; barriers make several batches.
TEST(test_memoryless) {
    for (uint32_t samples = 1; samples <= 4; samples *= 4) {
        Scene *s = scene_new(RGBA8, 128, 96, samples, 1, (Behaviour){.flat = true}, 0);
        Target resolved = target_new(RGBA8, 128, 96, 1, 1);
        s->depth = target_new(D32F, 128, 96, samples, 1);
        AbiTexture no_memory = s->depth.texture, no_color = s->color.texture;
        no_memory.levels[0].data = NULL;
        no_color.levels[0].data = NULL;
        s->pass.depth =
            (DevDepth){.view = {.texture = &no_memory}, .load = DEV_LOAD_CLEAR, .clear = 1};
        if (samples > 1) {
            s->pass.colors[0].view.texture = &no_color;
            s->pass.colors[0].resolve.texture = &resolved.texture;
            s->pass.colors[0].store = DEV_STORE_RESOLVE;
        }
        s->state.depth_compare = ABI_COMPARE_LESS;
        s->state.depth_write = true;
        Stages near, far;
        Vertex front[6], back[6];
        for (int i = 0; i < 6; i++) {
            front[i] = back[i] = s->vertices[i];
            front[i].position[2] = 0.25f, back[i].position[2] = 0.75f;
            front[i].value[0] = 0.25f, back[i].value[0] = 0.75f;
            if (front[i].position[0] > 0) front[i].position[0] = 0; // the left half
        }
        stages_init(&near, front, 6, (Behaviour){.colors = 1, .flat = true}, 0, 0);
        stages_init(&far, back, 6, (Behaviour){.colors = 1, .flat = true}, 0, 0);
        for (int barriers = 0; barriers < 2; barriers++) {
            DevDraw draws[3] = {s->draw, s->draw, s->draw};
            draws[0].vertex = &near.vertex, draws[0].fragment = &near.fragment;
            draws[1].vertex = &far.vertex, draws[1].fragment = &far.fragment;
            draws[2].vertex = &far.vertex, draws[2].fragment = &far.fragment;
            draws[1].barrier = draws[2].barrier = barriers;
            render(&s->pass, draws, 3);
            double v[4];
            const Target *t = samples > 1 ? &resolved : &s->color;
            target_read(t, 20, 20, 0, 0, v);
            assert_true(fabs(v[0] - 0.25) < 0.003);
            target_read(t, 100, 90, 0, 0, v);
            assert_true(fabs(v[0] - 0.75) < 0.003);
        }
        target_free(&resolved);
        scene_free(s);
    }
}

// More triangles than a batch may hold: order is kept from one to the next.
TEST(test_many) {
    Scene *s = scene_new(R32F, 64, 64, 1, 1, (Behaviour){.flat = true}, 0);
    s->state.blend[0] = (DevBlend){.enabled = true,
                                   .src_rgb = DEV_BLEND_ONE,
                                   .dst_rgb = DEV_BLEND_ONE,
                                   .src_alpha = DEV_BLEND_ONE,
                                   .dst_alpha = DEV_BLEND_ONE,
                                   .write_mask = 15};
    s->pass.colors[0].clear[0] = 0;
    for (int i = 0; i < 6; i++) // one pixel, below the instances' shift
        place(&s->vertices[i], 1 + corner[i][0], 1 + corner[i][1], 0.5, 1, 64, 64);
    enum { N = 300000 };
    uint32_t *indices = malloc(6 * N * sizeof *indices);
    for (uint32_t i = 0; i < 6 * N; i++) indices[i] = i % 6;
    s->draw.indices = indices;
    s->draw.index_bytes = 4;
    s->draw.indices_bytes = 6 * N * 4;
    s->draw.n_vertices = 6 * N;
    render(&s->pass, &s->draw, 1);
    assert_true(at(s, 1, 1, 0) == N);
    assert_true(at(s, 2, 1, 0) == 0);
    free(indices);
    scene_free(s);
}

TEST(test_large_target) {
    Scene *s = scene_new(R8, 16384, 16384, 1, 1, (Behaviour){.flat = true}, 0);
    s->pass.colors[0].load = DEV_LOAD_DONT_CARE;
    s->state.n_scissors = 1;
    s->state.scissors[0] = (DevScissor){16380, 16380, 4, 4};
    for (int i = 0; i < 6; i++)
        s->vertices[i].position[0] *= 3, s->vertices[i].position[1] *= 3; // beyond the guard band
    render(&s->pass, &s->draw, 1);
    assert_true(at(s, 16383, 16383, 0) == 1 && at(s, 16380, 16380, 0) == 1);
    s->state.scissors[0] = (DevScissor){0, 0, 70, 1};
    render(&s->pass, &s->draw, 1);
    assert_true(at(s, 69, 0, 0) == 1);
    scene_free(s);
}

TEST(test_faults) {
    static const DevLimits limits[] = {{0}, {.run_ms = 50}, {.step_ms = 50}};
    for (int i = 0; i < 3; i++) {
        int how = i ? 2 : 1; // an address where nothing is; no end
        Scene *s = scene_new(RGBA8, 256, 256, 1, 1, (Behaviour){.flat = true, .fault = how}, 0);
        s->draw.label = "the pipeline";
        DevRun run = {.fault = 0};
        assert_true(cpu_run_begin(&run, limits[i]));
        assert_false(cpu_raster(&run, &s->pass, &s->draw, 1));
        cpu_run_end(&run);
        assert_int_equal(atomic_load(&run.fault), how == 2 ? DEV_FAULT_TIMEOUT : DEV_FAULT_MEMORY);
        if (how == 1) assert_string_equal(run.faulting, "the pipeline");
        s->stages.behaviour.fault = 0; // and the next pass is none the worse
        render(&s->pass, &s->draw, 1);
        assert_true(at(s, 100, 100, 0) == 1);
        scene_free(s);
    }
}

// ---- Threads ----

static void draw_everything(unsigned char *result, size_t n_bytes) {
    random_seed(99);
    enum { N = 9000, SIZE = 256 };
    Scene *s = scene_new(RGBA8, SIZE, SIZE, 4, 1, (Behaviour){0}, 0);
    Vertex *v = calloc(N, sizeof *v);
    for (uint32_t i = 0; i < N; i += 3) {
        double x = random_unit() * SIZE, y = random_unit() * SIZE, size = 5 + random_unit() * 60;
        for (uint32_t k = 0; k < 3; k++) {
            double w = random_unit() * 4 - 0.2;
            place(&v[i + k], x + random_unit() * size, y + random_unit() * size, random_unit(), w,
                  SIZE, SIZE);
            for (int c = 0; c < N_VALUES; c++) v[i + k].value[c] = (float)random_unit();
        }
    }
    stages_init(&s->stages, v, N, (Behaviour){.colors = 1}, 0, 0);
    s->depth = target_new(D32F, SIZE, SIZE, 4, 1);
    s->pass.depth =
        (DevDepth){.view = {.texture = &s->depth.texture}, .load = DEV_LOAD_CLEAR, .clear = 1};
    DevState blended = s->state, opaque = s->state;
    opaque.depth_compare = ABI_COMPARE_LESS;
    opaque.depth_write = true;
    blended.blend[0] = (DevBlend){.enabled = true,
                                  .src_rgb = DEV_BLEND_SRC_ALPHA,
                                  .dst_rgb = DEV_BLEND_ONE_MINUS_SRC_ALPHA,
                                  .src_alpha = DEV_BLEND_ONE,
                                  .dst_alpha = DEV_BLEND_ONE_MINUS_SRC_ALPHA,
                                  .write_mask = 15};
    DevDraw draws[2] = {s->draw, s->draw};
    draws[0].n_vertices = draws[1].n_vertices = N;
    draws[0].state = &opaque;
    draws[1].state = &blended;
    render(&s->pass, draws, 2);
    assert_true(n_bytes >= s->color.n_bytes);
    memcpy(result, s->color.data, s->color.n_bytes);
    free(v);
    scene_free(s);
}

TEST(test_threads) {
    enum { BYTES = 256 * (256 * 4 + 64) * 4 };
    static const char *const threads[3] = {"1", "2", "8"};
    unsigned char *shared =
        mmap(NULL, 3 * BYTES, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    assert_true(shared != MAP_FAILED);
    for (int i = 0; i < 3; i++) { // the child starts a pool of its own
        pid_t child = fork();
        assert_true(child >= 0);
        if (child == 0) {
            setenv("INGOT_THREADS", threads[i], 1);
            draw_everything(shared + i * BYTES, BYTES);
            _exit(0);
        }
        int status = 0;
        waitpid(child, &status, 0);
        assert_true(WIFEXITED(status) && WEXITSTATUS(status) == 0);
    }
    assert_memory_equal(shared, shared + BYTES, BYTES);
    assert_memory_equal(shared, shared + 2 * BYTES, BYTES);
    uint32_t different = 0;
    for (size_t i = 4; i < BYTES; i++) different += shared[i] != shared[i - 4];
    assert_true(different > BYTES / 4); // a picture, not an empty one
    munmap(shared, 3 * BYTES);
}

int main(void) { return unit_run(NULL, NULL); }
