// SPDX-License-Identifier: Apache-2.0
// Functions compiled from MSL, run by the rasteriser: the two halves of the stage ABI against each
// other. Attributes, inputs by name, perspective, derivatives, discard, depth, samples, textures,
// barycentrics, several colours, instances, clip distances, layers, points.
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include "../stage/stage_test.h"
#include "harness.h"

#define HEAD "#include <metal_stdlib>\nusing namespace metal;\n"
enum { SIZE = 64, RGBA32F = 125, D32F = 252, FLOAT4 = 31, PER_VERTEX = 1 };

typedef struct Scene {
    Stage *v, *f;
    uint16_t rows[ABI_MAX_VARYINGS];
    DevVertexStage vertex;
    DevFragmentStage fragment;
    DevState state;
    DevDraw draw;
    DevPass pass;
    Target color, depth;
} Scene;

static float vertices[6][8]; // position, a value; two triangles over the target

static Scene *scene_new(const char *source, bool attributes, uint32_t n_samples, uint32_t layers) {
    static const float corner[6][2] = {{-1, 1}, {1, 1}, {-1, -1}, {1, 1}, {1, -1}, {-1, -1}};
    Scene *s = calloc(1, sizeof *s);
    assert_non_null(s);
    for (int i = 0; i < 6; i++) {
        float w = corner[i][0] > 0 ? 4 : 1; // farther on the right
        float p[8] = {corner[i][0] * w,
                      corner[i][1] * w,
                      0.25f * w,
                      w,
                      (corner[i][0] + 1) * SIZE / 2,
                      (1 - corner[i][1]) * SIZE / 2,
                      (float)i,
                      1};
        memcpy(vertices[i], p, sizeof p);
    }
    MslVertexDescriptor d = {.attributes = {{FLOAT4, 0, 0}, {FLOAT4, 16, 0}},
                             .layouts = {{32, PER_VERTEX, 1}}};
    s->v = stage_open(source, "v", attributes ? &d : NULL);
    s->f = stage_open(source, "f", NULL);
    for (uint32_t i = 0; i < ABI_MAX_VARYINGS; i++) s->rows[i] = UINT16_MAX;
    for (uint32_t i = 0; i < s->f->fn->n_inputs; i++)
        for (uint32_t o = 0; o < s->v->fn->n_outputs; o++) {
            const RfValue *in = &s->f->fn->inputs[i], *out = &s->v->fn->outputs[o];
            if (in->role != RF_VALUE || out->role != RF_VALUE || strcmp(in->name, out->name))
                continue;
            for (uint32_t k = 0; k < in->n; k++)
                s->rows[in->row + k] = (uint16_t)(ABI_VERTEX_FIRST + out->row + k);
        }
    if (attributes) {
        s->v->args[s->v->fn->n_slots] = vertices;
        s->v->lengths[s->v->fn->n_slots] = sizeof vertices;
    }
    s->vertex = (DevVertexStage){.code = s->v->code,
                                 .info = s->v->info,
                                 .arguments = {.args = s->v->args, .lengths = s->v->lengths}};
    s->fragment = (DevFragmentStage){.code = s->f->code,
                                     .info = s->f->info,
                                     .arguments = {.args = s->f->args, .lengths = s->f->lengths},
                                     .rows = s->rows};
    s->state = state_default(DEV_TRIANGLE);
    s->draw = (DevDraw){.vertex = &s->vertex,
                        .fragment = &s->fragment,
                        .state = &s->state,
                        .n_vertices = 6,
                        .n_instances = 1};
    s->color = target_new(RGBA32F, SIZE, SIZE, n_samples, layers);
    s->depth = target_new(D32F, SIZE, SIZE, n_samples, layers);
    s->pass = (DevPass){.width = SIZE, .height = SIZE, .n_samples = n_samples, .n_layers = layers};
    pass_clears(&s->pass, &s->color, &s->depth);
    s->state.depth_write = true;
    return s;
}

static void scene_free(Scene *s) {
    stage_close(s->v);
    stage_close(s->f);
    target_free(&s->color);
    target_free(&s->depth);
    free(s);
}

static void expect(const Scene *s, uint32_t x, uint32_t y, uint32_t sample, double a, double b,
                   double c, double d, double limit) {
    double v[4], e[4] = {a, b, c, d};
    target_read(&s->color, x, y, 0, sample, v);
    for (int i = 0; i < 4; i++)
        if (!(fabs(v[i] - e[i]) <= limit))
            fail_msg("pixel %u, %u sample %u component %d: %g, expected %g", x, y, sample, i, v[i],
                     e[i]);
}

#define IN "struct In { float4 p [[attribute(0)]]; float4 a [[attribute(1)]]; };\n"

// Attributes, perspective and its absence, flat, position and depth of the fragment.
TEST(inputs) {
    Scene *s = scene_new(
        HEAD IN
        "struct V { float k [[flat]]; float4 p [[position]]; float2 persp;\n"
        "  float2 plain [[center_no_perspective]]; };\n"
        "struct F { float4 p [[position]]; float2 plain [[center_no_perspective]]; float2 persp;\n"
        "  float k [[flat]]; };\n"
        "vertex V v(In in [[stage_in]]) { return {in.a.z, in.p, in.a.xy, in.a.xy}; }\n"
        "fragment float4 f(F in [[stage_in]]) {\n"
        "  return float4(in.persp.x, in.plain.x - in.p.x, in.plain.y - in.p.y, in.k + in.p.z); }\n",
        true, 1, 1);
    render(&s->pass, &s->draw, 1);
    for (uint32_t x = 0; x < SIZE; x += 7) {
        // 1 / w runs from 1 to 1/4 across the window, value / w from 0 to SIZE / 4.
        double t = (x + 0.5) / SIZE, persp = t * SIZE / 4 / (1 - 0.75 * t);
        expect(s, x, 3, 0, persp, 0, 0, (x + 3.5 < SIZE ? 0 : 3) + 0.25, 1e-3);
    }
    scene_free(s);
}

TEST(derivatives) {
    Scene *s = scene_new(
        HEAD IN "struct V { float4 p [[position]]; float2 uv [[center_no_perspective]]; };\n"
                "vertex V v(In in [[stage_in]]) { return {in.p, in.a.xy}; }\n"
                "fragment float4 f(V in [[stage_in]]) {\n"
                "  float q = in.uv.x * 3 + in.uv.y * 5;\n"
                "  return float4(dfdx(q), dfdy(q), fwidth(q), in.p.x); }\n",
        true, 1, 1);
    render(&s->pass, &s->draw, 1);
    for (uint32_t i = 0; i < SIZE; i++) expect(s, i, i, 0, 3, 5, 8, i + 0.5, 1e-3);
    scene_free(s);
}

TEST(discard_and_depth) {
    Scene *s = scene_new(
        HEAD "struct V { float4 p [[position]]; };\n"
             "struct O { float4 c [[color(0)]]; float z [[depth(any)]]; };\n"
             "vertex V v(uint i [[vertex_id]], uint k [[instance_id]]) {\n"
             "  return {float4(float((i << 1) & 2) * 2 - 1, float(i & 2) * 2 - 1, 0.5, 1)}; }\n"
             "fragment O f(V in [[stage_in]], bool front [[front_facing]]) {\n"
             "  if (int(in.p.x) % 3 == 0) discard_fragment();\n"
             "  return {float4(front ? 1 : 2, 0, 0, 1), in.p.x / 64}; }\n",
        false, 1, 1);
    s->draw.n_vertices = 3;
    s->state.depth_compare = ABI_COMPARE_LESS;
    render(&s->pass, &s->draw, 1);
    for (uint32_t x = 0; x < SIZE; x++) {
        double v[4];
        target_read(&s->depth, x, 9, 0, 0, v);
        assert_true(fabs(v[0] - (x % 3 ? (x + 0.5) / 64 : 1)) < 1e-6);
        if (x % 3)
            expect(s, x, 9, 0, 2, 0, 0, 1, 0);
        else
            expect(s, x, 9, 0, -1, -1, -1, -1, 0);
    }
    scene_free(s);
}

TEST(samples) {
    Scene *s = scene_new(
        HEAD
        "struct V { float4 p [[position]]; float x [[sample_no_perspective]]; };\n"
        "vertex V v(uint i [[vertex_id]]) { float x = float((i << 1) & 2);\n"
        "  return {float4(x * 2 - 1, float(i & 2) * 2 - 1, 0.5, 1), x * 64}; }\n"
        "fragment float4 f(V in [[stage_in]], uint s [[sample_id]], uint m [[sample_mask]]) {\n"
        "  return float4(in.x, s, m, 1); }\n",
        false, 4, 1);
    s->draw.n_vertices = 3;
    render(&s->pass, &s->draw, 1);
    const uint8_t *at = cpu_raster_default_positions(4);
    for (uint32_t k = 0; k < 4; k++)
        expect(s, 20, 30, k, 20 + at[2 * k] / 16.0, k, 1u << k, 1, 1e-3);
    scene_free(s);
}

// The program's own places of the samples, as the function sees them and as coverage does.
TEST(sample_positions) {
    Scene *s = scene_new(
        HEAD "struct V { float4 p [[position]]; };\n"
             "vertex V v(uint i [[vertex_id]]) {\n"
             "  return {float4(float((i << 1) & 2) * 2 - 1, float(i & 2) * 2 - 1, 0.5, 1)}; }\n"
             "fragment float4 f(V in [[stage_in]]) {\n"
             "  return float4(get_sample_position(1), get_num_samples(), 1); }\n",
        false, 4, 1);
    const float own[4][2] = {{0.25f, 0.5f}, {0.875f, 0.0625f}, {0, 0}, {0.9375f, 0.9375f}};
    s->pass.n_sample_positions = 4;
    memcpy(s->pass.sample_positions, own, sizeof own);
    s->draw.n_vertices = 3;
    s->state.n_scissors = 1;
    s->state.scissors[0] = (DevScissor){8, 8, 8, 8};
    render(&s->pass, &s->draw, 1);
    expect(s, 9, 9, 3, 0.875, 0.0625, 4, 1, 0);
    expect(s, 7, 9, 3, -1, -1, -1, -1, 0);
    scene_free(s);
}

TEST(barycentrics) {
    Scene *s =
        scene_new(HEAD IN "struct V { float4 p [[position]]; };\n"
                          "vertex V v(In in [[stage_in]]) { return {in.p}; }\n"
                          "fragment float4 f(V in [[stage_in]], float3 b [[barycentric_coord]],\n"
                          "                  uint id [[primitive_id]]) { return float4(b, id); }\n",
                  true, 1, 1);
    render(&s->pass, &s->draw, 1);
    for (uint32_t y = 1; y < SIZE; y += 13)
        for (uint32_t x = 0; x + y < SIZE - 1; x += 5) {
            double tx = (x + 0.5) / SIZE, ty = (y + 0.5) / SIZE, w = 1 - 0.75 * tx;
            double linear[3] = {1 - tx - ty, tx / 4, ty}; // over w of the corners
            expect(s, x, y, 0, linear[0] / w, linear[1] / w, linear[2] / w, 0, 1e-4);
        }
    expect(s, 63, 63, 0, 0.0039, 0.98, 0.0156, 1, 0.02);
    scene_free(s);
}

// Implicit level of detail, out of the quads of the rasteriser.
TEST(textures) {
    Scene *s = scene_new(
        HEAD IN "struct V { float4 p [[position]]; float2 uv [[center_no_perspective]]; };\n"
                "vertex V v(In in [[stage_in]], constant float &scale [[buffer(1)]]) {\n"
                "  return {in.p, in.a.xy / 64 * scale}; }\n"
                "fragment float4 f(V in [[stage_in]], texture2d<float> t [[texture(0)]]) {\n"
                "  constexpr sampler s(filter::nearest, mip_filter::nearest, address::repeat);\n"
                "  return t.sample(s, in.uv); }\n",
        true, 1, 1);
    AbiTexture t;
    void *data = square_texture(&t, RGBA32F, SIZE, 7);
    for (uint32_t k = 0; k < 7; k++)
        for (uint32_t y = 0; y < (uint32_t)SIZE >> k; y++)
            for (uint32_t x = 0; x < (uint32_t)SIZE >> k; x++) {
                float texel[4] = {(float)k, (float)x, (float)y, 1};
                memcpy(abi_texture_at(&t, k, x, y, 0, 0), texel, sizeof texel);
            }
    s->f->args[0] = &t;
    for (int level = 0; level < 4; level++) {
        float scale = (float)(1 << level);
        s->v->args[0] = &scale;
        s->v->lengths[0] = 4;
        render(&s->pass, &s->draw, 1);
        for (uint32_t i = 0; i < SIZE; i += 5)
            expect(s, i, 2, 0, level, i % (SIZE >> level), 2, 1, 0);
    }
    free(data);
    scene_free(s);
}

TEST(layers_and_clip) {
    Scene *s = scene_new(
        HEAD "struct V { float4 p [[position]]; float d [[clip_distance]] [1];\n"
             "  uint layer [[render_target_array_index]]; };\n"
             "struct F { float4 p [[position]]; uint layer [[render_target_array_index]]; };\n"
             "vertex V v(uint i [[vertex_id]], uint k [[instance_id]]) { V o;\n"
             "  o.p = float4(float((i << 1) & 2) * 2 - 1, float(i & 2) * 2 - 1, 0.5, 1);\n"
             "  o.d[0] = o.p.x; o.layer = k; return o; }\n"
             "fragment float4 f(F in [[stage_in]]) { return float4(in.layer); }\n",
        false, 1, 3);
    s->draw.n_vertices = 3;
    s->draw.n_instances = 2;
    s->draw.base_instance = 1;
    render(&s->pass, &s->draw, 1);
    for (uint32_t layer = 0; layer < 3; layer++) {
        double v[4];
        target_read(&s->color, 40, 20, layer, 0, v);
        assert_true(v[0] == (layer ? layer : -1.0));
        target_read(&s->color, 20, 20, layer, 0, v);
        assert_true(v[0] == -1);
    }
    scene_free(s);
}

TEST(points) {
    Scene *s =
        scene_new(HEAD "struct V { float4 p [[position]]; float size [[point_size]]; };\n"
                       "struct F { float4 p [[position]]; };\n"
                       "vertex V v(uint i [[vertex_id]]) { return {float4(0, 0, 0.5, 1), 16}; }\n"
                       "fragment float4 f(F in [[stage_in]], float2 c [[point_coord]]) {\n"
                       "  return float4(c, in.p.xy); }\n",
                  false, 1, 1);
    s->draw.n_vertices = 1;
    s->state.primitive = DEV_POINT;
    render(&s->pass, &s->draw, 1);
    expect(s, 24, 39, 0, 0.5 / 16, 15.5 / 16, 24.5, 39.5, 1e-4);
    expect(s, 23, 39, 0, -1, -1, -1, -1, 0);
    scene_free(s);
}

int main(int argc, char **argv) {
    stage_folders(argc, argv);
    return unit_run(NULL, NULL);
}
