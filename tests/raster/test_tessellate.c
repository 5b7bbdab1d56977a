// SPDX-License-Identifier: Apache-2.0
// The tessellator: where points lie on an edge, how many triangles there are, that every pixel of a
// patch and of patches side by side is drawn exactly once, for all partitions and random factors;
// winding, indices, instances, patches that are not drawn.
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include "../unit.h"
#include "devices/cpu/raster/raster_int.h"
#include "harness.h"
#include "devices/cpu/isa/isa.h"

enum { SIZE = 128, RGBA32F = 125 };

// What the vertex function saw.
typedef struct Seen {
    uint32_t patch, point0;
    float at[3];
} Seen;
static Seen seen[1 << 16];
static _Atomic uint32_t n_seen;
// Corners of patches in pixels: [patch][control point]
static float corners[64][4][2];
static bool is_quad;

static void to_clip(float *out, float x, float y) {
    out[0] = x / (SIZE / 2) - 1;
    out[1] = 1 - y / (SIZE / 2);
}

static void run_vertex(const CpuLaunch *launch, const CpuVertexStep *step) {
    (void)launch;
    for (uint32_t l = 0; l < step->n; l++) {
        float u = step->domain[l], v = step->domain[32 + l], w = step->domain[64 + l], p[2];
        uint32_t patch = step->vertices[l];
        double x = 0, y = 0;
        // The points of a patch by their control points' indices, so that those are tested too.
        for (uint32_t k = 0; k < step->n_control_points; k++) {
            uint32_t at = step->control_points[k * 32 + l];
            const float *c = corners[at / 4 % 64][at % 4];
            double weight = is_quad ? (k == 1 || k == 2 ? u : 1 - u) * (k >= 2 ? v : 1 - v)
                                    : (k == 0   ? u
                                       : k == 1 ? v
                                                : w);
            x += weight * c[0];
            y += weight * c[1];
        }
        to_clip(p, (float)x, (float)y);
        float out[4] = {p[0], p[1], 0.5f, 1};
        for (uint32_t k = 0; k < 4; k++) memcpy(&step->out[k * 32 + l], &out[k], 4);
        uint32_t i = n_seen++;
        if (i < sizeof seen / sizeof *seen)
            seen[i] = (Seen){patch, step->control_points[l], {u, v, w}};
    }
}

typedef struct Scene {
    Target color;
    _Atomic uint32_t hits[SIZE * SIZE];
    Stages stages;
    DevState state;
    DevPatches patches;
    DevDraw draw;
    DevPass pass;
    uint16_t factors[64][6];
} Scene;

static uint16_t half(float f) {
    uint32_t bits;
    memcpy(&bits, &f, 4);
    if (f == 0) return 0;
    if (f != f) return 0x7e00;
    return (uint16_t)((bits >> 16 & 0x8000) | (((bits >> 23 & 255) - 112) << 10) |
                      (bits >> 13 & 1023));
}

static void scene_init(Scene *s, uint8_t type, uint8_t partition) {
    memset(s, 0, sizeof *s);
    s->color = target_new(RGBA32F, SIZE, SIZE, 1, 1);
    stages_init(&s->stages, NULL, 0, (Behaviour){.colors = 1, .info_flags = ABI_STAGE_EFFECTS}, 0,
                0);
    s->stages.hits = s->hits;
    s->stages.hits_width = SIZE;
    static const CpuCode code = {.vertex = run_vertex};
    s->stages.vertex.code = &code.head;
    is_quad = type == DEV_PATCH_QUAD;
    s->state = state_default(DEV_TRIANGLE);
    s->patches = (DevPatches){.type = type,
                              .partition = partition,
                              .step = DEV_FACTORS_PER_PATCH,
                              .n_control_points = type == DEV_PATCH_QUAD ? 4 : 3,
                              .max_factor = 64,
                              .scale = 1,
                              .factors = s->factors,
                              .factors_bytes = sizeof s->factors};
    s->draw = (DevDraw){.vertex = &s->stages.vertex,
                        .fragment = &s->stages.fragment,
                        .state = &s->state,
                        .patches = &s->patches,
                        .n_vertices = 1,
                        .n_instances = 1};
    s->pass = (DevPass){.width = SIZE, .height = SIZE, .n_samples = 1};
    s->pass.colors[0] = (DevColor){
        .view = {.texture = &s->color.texture}, .load = DEV_LOAD_CLEAR, .store = DEV_STORE_STORE};
    n_seen = 0;
}

// Factors of patch i, edges first.
static void set_factors(Scene *s, uint32_t i, const float *f) {
    bool quad = s->patches.type == DEV_PATCH_QUAD;
    uint16_t *at = (uint16_t *)s->factors + i * (quad ? 6u : 4u);
    for (uint32_t k = 0; k < (quad ? 6u : 4u); k++) at[k] = half(f[k]);
}

static void draw(Scene *s) {
    for (size_t i = 0; i < SIZE * SIZE; i++) s->hits[i] = 0;
    n_seen = 0;
    render(&s->pass, &s->draw, 1);
}

static void scene_free(Scene *s) { target_free(&s->color); }

static int compare(const void *a, const void *b) {
    float x = *(const float *)a, y = *(const float *)b;
    return x < y ? -1 : x > y;
}

// The different values of a coordinate where another is 0, sorted.
static uint32_t points_on_edge(uint32_t along, uint32_t zero, float *out) {
    uint32_t n = 0, m = 0;
    for (uint32_t i = 0; i < n_seen; i++)
        if (seen[i].at[zero] == 0) out[n++] = seen[i].at[along];
    qsort(out, n, sizeof *out, compare);
    for (uint32_t i = 0; i < n; i++)
        if (i == 0 || out[i] != out[m - 1]) out[m++] = out[i];
    return m;
}

static void place_patches(bool quad) {
    // 4 x 4 patches over the target, corners moved around; triangles: each quad's two halves.
    float grid[5][5][2];
    for (int j = 0; j < 5; j++)
        for (int i = 0; i < 5; i++) {
            bool inner = i > 0 && i < 4 && j > 0 && j < 4;
            grid[j][i][0] = (float)(i * SIZE / 4 + (inner ? (random_unit() - 0.5) * 20 : 0));
            grid[j][i][1] = (float)(j * SIZE / 4 + (inner ? (random_unit() - 0.5) * 20 : 0));
        }
    for (int p = 0; p < 16; p++) {
        int x = p % 4, y = p / 4;
        const float *c[4] = {grid[y][x], grid[y][x + 1], grid[y + 1][x + 1], grid[y + 1][x]};
        static const int halves[2][3] = {{0, 1, 2}, {2, 3, 0}};
        for (int k = 0; quad && k < 4; k++) memcpy(corners[p][k], c[k], sizeof corners[p][k]);
        for (int h = 0; !quad && h < 2; h++)
            for (int k = 0; k < 3; k++)
                memcpy(corners[2 * p + h][k], c[halves[h][k]], sizeof corners[p][k]);
    }
}

// Not near a whole number: points that grow out of each other would make slivers narrower than a
// subpixel, which no snapped mesh draws exactly once.
static float random_factor(void) {
    return (float)(1 + random_bits() % (random_bits() % 4 ? 8 : 40)) + 0.3f +
           0.4f * (float)random_unit();
}

// Factors of a quad grid: one number for each edge of the grid, inside ones at random.
static void factors_of_grid(Scene *s, bool quad) {
    float across[5][4], down[4][5], diagonal[16];
    for (int i = 0; i < 20; i++) {
        across[i / 4][i % 4] = random_factor();
        down[i / 5][i % 5] = random_factor();
        diagonal[i % 16] = random_factor();
    }
    for (int p = 0; p < 16; p++) {
        int x = p % 4, y = p / 4;
        // c0 (u 0, v 0), c1 (1, 0), c2 (1, 1), c3 (0, 1)
        float q[6] = {down[y][x],       across[y][x],    down[y][x + 1],
                      across[y + 1][x], random_factor(), random_factor()};
        // corners 0, 1, 2 are u, v, w: the edge u = 0 joins corners 1 and 2
        float a[4] = {down[y][x + 1], diagonal[p], across[y][x], random_factor()};
        float b[4] = {down[y][x], diagonal[p], across[y + 1][x], random_factor()};
        if (quad) {
            set_factors(s, (uint32_t)p, q);
        } else {
            set_factors(s, (uint32_t)(2 * p), a);
            set_factors(s, (uint32_t)(2 * p + 1), b);
        }
    }
}

static void assert_once(const Scene *s) {
    for (uint32_t i = 0; i < SIZE * SIZE; i++) {
        if (s->hits[i] == 1) continue;
        fail_msg("pixel %u, %u is drawn %u times (type %u, partition %u)", i % SIZE, i / SIZE,
                 (unsigned)s->hits[i], s->patches.type, s->patches.partition);
    }
}

// ---- Tests ----

TEST(every_pixel_once) {
    Scene *s = malloc(sizeof *s);
    random_seed(7);
    for (uint8_t type = DEV_PATCH_TRIANGLE; type <= DEV_PATCH_QUAD; type++)
        for (uint8_t partition = 0; partition <= DEV_PARTITION_EVEN; partition++)
            for (int round = 0; round < 6; round++) {
                bool quad = type == DEV_PATCH_QUAD;
                scene_init(s, type, partition);
                place_patches(quad);
                factors_of_grid(s, quad);
                s->draw.n_vertices = quad ? 16 : 32;
                // Corners of triangles lie four to a patch: through indices.
                uint16_t indices[96];
                for (uint32_t i = 0; i < 96; i++) indices[i] = (uint16_t)(i / 3 * 4 + i % 3);
                if (!quad) {
                    s->patches.control_indices = indices;
                    s->patches.control_indices_bytes = sizeof indices;
                    s->patches.control_index_bytes = 2;
                }
                draw(s);
                assert_once(s);
                scene_free(s);
            }
    free(s);
}

TEST(isas_agree) {
    Scene *s = malloc(sizeof *s);
    for (int isa = CPU_ISA_BASE; isa <= CPU_ISA_AVX512; isa++) {
        if (!cpu_isa_use((CpuIsa)isa)) continue;
        random_seed(11);
        scene_init(s, DEV_PATCH_QUAD, DEV_PARTITION_ODD);
        place_patches(true);
        factors_of_grid(s, true);
        s->draw.n_vertices = 16;
        draw(s);
        assert_once(s);
        scene_free(s);
    }
    free(s);
}

TEST(points_of_an_edge) {
    static const struct {
        uint8_t partition;
        float factor;
        uint32_t n;
        float at[9];
    } cases[] = {
        {DEV_PARTITION_INTEGER, 1, 2, {0, 1}},
        {DEV_PARTITION_INTEGER, 4, 5, {0, .25f, .5f, .75f, 1}},
        {DEV_PARTITION_INTEGER, 3.25f, 5, {0, .25f, .5f, .75f, 1}},
        {DEV_PARTITION_POW2, 5, 9, {0, .125f, .25f, .375f, .5f, .625f, .75f, .875f, 1}},
        {DEV_PARTITION_POW2, 8, 9, {0, .125f, .25f, .375f, .5f, .625f, .75f, .875f, 1}},
        {DEV_PARTITION_EVEN, 1, 3, {0, .5f, 1}},
        {DEV_PARTITION_EVEN, 3, 5, {0, .375f, .5f, .625f, 1}}, // halfway from 2 to 4
        {DEV_PARTITION_ODD, 1, 2, {0, 1}},
        {DEV_PARTITION_ODD, 2, 4, {0, 1.f / 6, 5.f / 6, 1}}, // halfway from 1 to 3
        {DEV_PARTITION_ODD, 3, 4, {0, 1.f / 3, 2.f / 3, 1}},
    };
    Scene *s = malloc(sizeof *s);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        for (uint8_t type = DEV_PATCH_TRIANGLE; type <= DEV_PATCH_QUAD; type++) {
            scene_init(s, type, cases[i].partition);
            random_seed(3);
            place_patches(type == DEV_PATCH_QUAD);
            float f[6] = {7, cases[i].factor, 2, 3, 5, 4}, at[4096]; // edge 1: v = 0
            set_factors(s, 0, f);
            draw(s);
            uint32_t n = points_on_edge(0, 1, at);
            assert_int_equal(n, cases[i].n);
            for (uint32_t k = 0; k < n; k++) {
                assert_float_equal(at[k], cases[i].at[k], 1.0f / 65536);
                assert_true(at[k] == 1 - at[n - 1 - k]); // the same from both ends
            }
            scene_free(s);
        }
    free(s);
}

// The number of triangles is that of the spans, and they cover the patch.
TEST(counts) {
    Scene *s = malloc(sizeof *s);
    random_seed(5);
    static const struct {
        uint8_t type;
        float f[6];
        uint32_t n;
    } cases[] = {
        {DEV_PATCH_TRIANGLE, {1, 1, 1, 1}, 1},
        {DEV_PATCH_TRIANGLE, {2, 2, 2, 1}, 6},
        {DEV_PATCH_TRIANGLE, {3, 3, 3, 3}, 13},
        {DEV_PATCH_TRIANGLE, {64, 64, 64, 64}, 6144},
        {DEV_PATCH_QUAD, {1, 1, 1, 1, 1, 1}, 2},
        {DEV_PATCH_QUAD, {2, 2, 2, 2, 2, 2}, 8},
        {DEV_PATCH_QUAD, {1, 1, 1, 1, 2, 1}, 4},
        {DEV_PATCH_QUAD, {3, 3, 3, 3, 3, 3}, 18},
        {DEV_PATCH_QUAD, {64, 64, 64, 64, 64, 64}, 8192},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        scene_init(s, cases[i].type, DEV_PARTITION_INTEGER);
        set_factors(s, 0, cases[i].f);
        TessPatch p;
        assert_true(raster_patch_factors(&s->draw, 0, 0, &p));
        assert_int_equal(raster_patch_triangles(&p), cases[i].n);
        Cursor c = {0};
        uint32_t n = 0, taken;
        while ((taken = raster_patch_span(&s->draw, &c, 500))) n += taken;
        assert_int_equal(n, cases[i].n);
        scene_free(s);
    }
    free(s);
}

TEST(not_drawn) {
    static const float bad[] = {0, -1, NAN};
    Scene *s = malloc(sizeof *s);
    for (uint8_t type = DEV_PATCH_TRIANGLE; type <= DEV_PATCH_QUAD; type++)
        for (int i = 0; i < 3; i++)
            for (int k = 0; k < (type == DEV_PATCH_QUAD ? 4 : 3); k++) {
                scene_init(s, type, DEV_PARTITION_INTEGER);
                float f[6] = {4, 4, 4, 4, 4, 4};
                f[k] = bad[i];
                set_factors(s, 0, f);
                draw(s);
                assert_int_equal(n_seen, 0);
                scene_free(s);
            }
    // Factors beyond the end of the buffer, many patches of them.
    scene_init(s, DEV_PATCH_QUAD, DEV_PARTITION_INTEGER);
    s->patches.factors_bytes = 0;
    s->draw.n_vertices = UINT32_MAX;
    draw(s);
    assert_int_equal(n_seen, 0);
    scene_free(s);
    free(s);
}

TEST(infinite_and_huge) {
    Scene *s = malloc(sizeof *s);
    scene_init(s, DEV_PATCH_QUAD, DEV_PARTITION_EVEN);
    random_seed(2);
    place_patches(true);
    for (int k = 0; k < 6; k++) ((uint16_t *)s->factors)[k] = 0x7c00; // infinity
    draw(s);
    float at[1 << 13];
    assert_int_equal(points_on_edge(0, 1, at), 65);
    s->patches.max_factor = 6;
    draw(s);
    assert_int_equal(points_on_edge(0, 1, at), 7);
    s->patches.scale = 0.0f; // zero times infinity
    draw(s);
    assert_int_equal(n_seen, 0);
    scene_free(s);
    free(s);
}

// Any bits as factors: whatever comes out, it stays inside its memory and is the same twice.
TEST(random_factors) {
    Scene *s = malloc(sizeof *s);
    random_seed(21);
    for (int round = 0; round < 40; round++) {
        scene_init(s, (uint8_t)(1 + round % 2), (uint8_t)(round / 2 % 4));
        place_patches(is_quad);
        for (size_t i = 0; i < sizeof s->factors / 2; i++)
            ((uint16_t *)s->factors)[i] = (uint16_t)random_bits();
        s->patches.max_factor = 1 + random_bits() % 64;
        s->patches.scale = random_bits() % 2 ? 1 : 1e-3f;
        s->draw.n_vertices = 64;
        draw(s);
        uint32_t first = n_seen, total = 0;
        for (uint32_t i = 0; i < SIZE * SIZE; i++) total += s->hits[i];
        draw(s);
        assert_int_equal(n_seen, first);
        for (uint32_t i = 0; i < SIZE * SIZE; i++) total -= s->hits[i];
        assert_int_equal(total, 0);
        scene_free(s);
    }
    free(s);
}

TEST(winding) {
    Scene *s = malloc(sizeof *s);
    for (uint8_t type = DEV_PATCH_TRIANGLE; type <= DEV_PATCH_QUAD; type++)
        for (uint8_t w = DEV_CLOCKWISE; w <= DEV_COUNTER_CLOCKWISE; w++)
            for (uint8_t cull = DEV_CULL_FRONT; cull <= DEV_CULL_BACK; cull++) {
                scene_init(s, type, DEV_PARTITION_INTEGER);
                // u to the right, v up: clockwise patches face the viewer, clockwise being the
                // front.
                static const float quad[4][2] = {{0, SIZE}, {SIZE, SIZE}, {SIZE, 0}, {0, 0}};
                static const float triangle[3][2] = {{SIZE, SIZE}, {0, 0}, {0, SIZE}};
                memcpy(corners[0], type == DEV_PATCH_QUAD ? quad : triangle,
                       type == DEV_PATCH_QUAD ? sizeof quad : sizeof triangle);
                set_factors(s, 0, (float[]){3, 5, 2, 4, 3, 3});
                s->patches.winding = w;
                s->state.cull = cull;
                draw(s);
                uint32_t drawn = 0;
                for (uint32_t i = 0; i < SIZE * SIZE; i++) drawn += s->hits[i];
                bool front = w == DEV_CLOCKWISE, visible = front == (cull == DEV_CULL_BACK);
                uint32_t area = type == DEV_PATCH_QUAD ? SIZE * SIZE : SIZE * SIZE / 2;
                if (visible)
                    assert_in_range(drawn, area - SIZE, area + SIZE);
                else
                    assert_int_equal(drawn, 0);
                scene_free(s);
            }
    free(s);
}

// Factors by patch and instance; patch ids and control points through indices.
TEST(steps_and_indices) {
    Scene *s = malloc(sizeof *s);
    scene_init(s, DEV_PATCH_QUAD, DEV_PARTITION_INTEGER);
    random_seed(9);
    place_patches(true);
    for (uint32_t i = 0; i < 64; i++) set_factors(s, i, (float[]){1, (float)(i + 1), 1, 1, 1, 1});
    uint32_t patch_indices[4] = {7, 9, 11, 13};
    s->patches.patch_indices = patch_indices;
    s->patches.patch_indices_bytes = sizeof patch_indices;
    s->draw.first_vertex = 2;
    s->draw.n_vertices = 1;
    draw(s);
    float at[4096];
    assert_int_equal(points_on_edge(0, 1, at), 4); // factors of drawn patch 2
    for (uint32_t i = 0; i < n_seen; i++) {
        assert_int_equal(seen[i].patch, 11);
        assert_int_equal(seen[i].point0, 44);
    }
    s->draw.n_vertices = 9; // indices beyond the end are 0
    draw(s);
    assert_true(n_seen > 0);
    s->patches.step = DEV_FACTORS_PER_INSTANCE;
    s->patches.instance_stride = 12 * 5;
    s->draw.n_vertices = 1;
    s->draw.n_instances = 2;
    draw(s);
    assert_int_equal(points_on_edge(0, 1, at), 7); // 0 and 1 of instance 0; sixths of instance 1
    s->patches.step = DEV_FACTORS_CONSTANT;
    draw(s);
    assert_int_equal(points_on_edge(0, 1, at), 2);
    scene_free(s);
    free(s);
}

int main(void) { return unit_run(NULL, NULL); }
