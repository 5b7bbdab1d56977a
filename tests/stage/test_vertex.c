// SPDX-License-Identifier: Apache-2.0
// test_vertex.c: vertex functions: built-in values, every kind of output, resources, partial steps,
// values that function constants switch off.
#include "stage_test.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define HEAD "#include <metal_stdlib>\nusing namespace metal;\n"

static _Alignas(64) uint32_t out[140 * LANES];

static void run(Stage *s, CpuVertexStep *step, uint32_t n, const uint32_t *ids) {
    step->n = n, step->vertices = ids, step->out = out;
    cpu_code_vertex(s->code)(&s->launch, step);
}

static float at(unsigned row, int lane) { return as_float(out[row * LANES + (unsigned)lane]); }

TEST(ids_and_outputs) {
    static const char source[] = HEAD
        "struct Out { float4 p [[position, invariant]]; float size [[point_size]];\n"
        "  float clip [[clip_distance]][3]; uint layer [[render_target_array_index]];\n"
        "  ushort port [[viewport_array_index]]; half3 h; short2 s [[flat]]; uint u "
        "[[user(number)]];\n"
        "  float4 last; };\n"
        "vertex Out f(uint v [[vertex_id]], ushort i [[instance_id]], uint bv [[base_vertex]],\n"
        "  uint bi [[base_instance]], uint a [[amplification_id]], uint n "
        "[[amplification_count]],\n"
        "  constant float4x4 &m [[buffer(3)]], device const float *data [[buffer(0)]]) {\n"
        "  Out o; o.p = m * float4(v, i, bv, 1); o.size = float(bi); o.clip[0] = data[v % 8];\n"
        "  o.clip[1] = 2; o.clip[2] = -float(v); o.layer = a; o.port = ushort(n);\n"
        "  o.h = half3(v, 0.5, -2); o.s = short2(-1, short(v)); o.u = ~v; o.last = float4(v, 2, 3, "
        "4);\n"
        "  return o; }\n";
    Stage *s = stage_open(source, "f", NULL);
    assert_int_equal(s->info->flags, ABI_STAGE_POSITION | ABI_STAGE_POINT_SIZE | ABI_STAGE_LAYER |
                                         ABI_STAGE_VIEWPORT);
    assert_int_equal(s->info->n_clip, 3);
    assert_int_equal(s->info->n_outputs, 10);
    float matrix[16] = {1, 0, 0, 0, 0, 2, 0, 0, 0, 0, 3, 0, 1, 1, 1, 5}, data[8];
    uint32_t ids[LANES];
    for (uint32_t i = 0; i < 8; i++) data[i] = (float)i * 0.5f;
    for (uint32_t i = 0; i < LANES; i++) ids[i] = i * i + 3;
    for (uint32_t i = 0; i < s->fn->n_args; i++)
        s->args[s->fn->args[i].slot] = s->fn->args[i].index ? (void *)matrix : data;
    CpuVertexStep step = {.instance = 7,
                          .base_instance = 5,
                          .base_vertex = 3,
                          .amplification_id = 1,
                          .amplification_count = 2};
    for (uint32_t n = 1; n <= LANES; n += 10) {
        memset(out, 0xab, sizeof out);
        run(s, &step, n, ids);
        for (uint32_t l = 0; l < n; l++) {
            int lane = (int)l;
            float v = (float)ids[l];
            assert_float_equal(at(0, lane), v + 1, 0);
            assert_float_equal(at(1, lane), 15, 0);
            assert_float_equal(at(2, lane), 10, 0);
            assert_float_equal(at(3, lane), 5, 0);
            assert_float_equal(at(ABI_VERTEX_POINT_SIZE, lane), 5, 0);
            assert_int_equal(out[ABI_VERTEX_LAYER * LANES + l], 1);
            assert_int_equal(out[ABI_VERTEX_VIEWPORT * LANES + l], 2);
            assert_float_equal(at(ABI_VERTEX_CLIP, lane), data[ids[l] % 8], 0);
            assert_float_equal(at(ABI_VERTEX_CLIP + 1, lane), 2, 0);
            assert_float_equal(at(ABI_VERTEX_CLIP + 2, lane), -v, 0);
            unsigned h = ABI_VERTEX_FIRST + stage_output(s, "h")->row;
            assert_float_equal(at(h, lane), v, 0);
            assert_float_equal(at(h + 2, lane), -2, 0);
            unsigned sh = ABI_VERTEX_FIRST + stage_output(s, "s")->row;
            assert_int_equal((int32_t)out[sh * LANES + l], -1);
            assert_int_equal(out[(sh + 1) * LANES + l], ids[l]);
            unsigned u = ABI_VERTEX_FIRST + stage_output(s, "number")->row;
            assert_int_equal(out[u * LANES + l], ~ids[l]);
            unsigned last = ABI_VERTEX_FIRST + stage_output(s, "last")->row;
            assert_float_equal(at(last + 3, lane), 4, 0);
        }
    }
    stage_close(s);
}

TEST(bare_position_and_void) {
    static const char source[] =
        HEAD "vertex float4 f(uint v [[vertex_id]]) { return float4(v, 1, 2, 3); }\n"
             "vertex void g(uint v [[vertex_id]], device uint *d [[buffer(0)]],\n"
             "  device atomic_uint *n [[buffer(1)]]) { d[v] = v + 1;\n"
             "  atomic_fetch_add_explicit(n, 1, memory_order_relaxed); }\n";
    uint32_t ids[LANES], data[LANES] = {0}, n = 0;
    for (uint32_t i = 0; i < LANES; i++) ids[i] = LANES - 1 - i;
    CpuVertexStep step = {0};
    Stage *s = stage_open(source, "f", NULL);
    run(s, &step, LANES, ids);
    for (int l = 0; l < LANES; l++) assert_float_equal(at(0, l), LANES - 1 - l, 0);
    stage_close(s);
    s = stage_open(source, "g", NULL);
    assert_int_equal(s->info->flags, ABI_STAGE_EFFECTS);
    s->args[0] = data, s->args[1] = &n;
    run(s, &step, 9, ids);
    for (uint32_t i = 0; i < LANES; i++) assert_int_equal(data[i], i >= LANES - 9 ? i + 1 : 0);
    assert_int_equal(n, 9);
    stage_close(s);
}

// Members and parameters under function constants: absent ones are 0 and need no attribute.
TEST(function_constants) {
    static const char source[] = HEAD
        "constant bool a [[function_constant(0)]]; constant bool b = "
        "is_function_constant_defined(a);\n"
        "struct In { float4 p [[attribute(0)]]; float4 q [[attribute(1), function_constant(a)]]; "
        "};\n"
        "struct Out { float4 p [[position]]; float4 q; };\n"
        "vertex Out f(In in [[stage_in]], device float *d [[buffer(0), function_constant(a)]]) {\n"
        "  Out o; o.p = in.p; o.q = b ? in.q : float4(7); return o; }\n";
    MslVertexDescriptor d = {0};
    d.attributes[0] = (MslVertexAttribute){31, 0, 1};
    d.layouts[1] = (MslVertexLayout){16, 1, 1};
    float data[] = {1, 2, 3, 4};
    uint32_t ids[LANES] = {0};
    Stage *s = stage_open(source, "f", &d);
    s->args[s->fn->n_slots] = data, s->lengths[s->fn->n_slots] = sizeof data;
    CpuVertexStep step = {0};
    run(s, &step, 1, ids);
    assert_float_equal(at(2, 0), 3, 0);
    assert_float_equal(at(ABI_VERTEX_FIRST, 0), 7, 0);
    stage_close(s);
}

int main(int argc, char **argv) {
    stage_folders(argc, argv);
    return unit_run(NULL, NULL);
}
