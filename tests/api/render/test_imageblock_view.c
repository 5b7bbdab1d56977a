// SPDX-License-Identifier: Apache-2.0
// test_imageblock_view.c: fragment functions that see some members of an imageblock,
// [[imageblock_data(T)]]: by name and by [[user(name)]], members of structures in structures,
// pieces that are no whole words, what a view leaves as it was, one draw after the other, samples.
#include "shader_test.h"

static const char source[] = HEAD V
    "struct Pair { half lo [[user(lo)]]; half hi [[user(hi)]]; };\n"
    "struct Master {\n"
    "  half a [[raster_order_group(0)]]; half b [[raster_order_group(0)]];\n"
    "  uchar c [[raster_order_group(0)]]; uchar d [[raster_order_group(0)]];\n"
    "  int n [[user(count), raster_order_group(0)]];\n"
    "  rgba8unorm<half4> tint [[raster_order_group(0)]];\n"
    "  Pair pair [[user(both), raster_order_group(1)]];\n"
    "  float list [[raster_order_group(0)]] [3]; };\n"
    "struct All { Master m [[imageblock_data]]; };\n"
    "fragment All fill(V in [[stage_in]]) {\n"
    "  All o; o.m.a = 1; o.m.b = 2; o.m.c = 3; o.m.d = 4; o.m.n = 5; o.m.tint = half4(0.2h);\n"
    "  o.m.pair = {6, 7}; for (int i = 0; i < 3; i++) o.m.list[i] = 8 + i; return o; }\n"
    // The names of the members, in another order; a byte and a half.
    "struct Plain { uchar d; half b; float list[3]; };\n"
    "struct PlainOut { Plain v [[imageblock_data(Master)]]; };\n"
    "fragment PlainOut plain(V in [[stage_in]], Plain v [[imageblock_data(Master)]]) {\n"
    "  PlainOut o; o.v.d = uchar(v.d * 10); o.v.b = v.b + 0.5h;\n"
    "  o.v.list[0] = v.list[2]; o.v.list[1] = floor(in.p.x); o.v.list[2] = v.list[0]; return o; }\n"
    // Names of their own for members, one of them in a structure of the imageblock.
    "struct In { int often [[user(count)]]; half high [[user(hi)]]; };\n"
    "struct Out { half other [[user(hi)]]; int times [[user(count)]]; };\n"
    "struct Named { float4 color [[color(0)]]; Out v [[imageblock_data(Master)]]; };\n"
    "fragment Named named(In v [[imageblock_data(Master)]]) {\n"
    "  Named o; o.color = 1; o.v.times = v.often + 1; o.v.other = v.high * 2; return o; }\n"
    // Written only; a structure as a whole.
    "struct Whole { Pair p [[user(both)]]; };\n"
    "struct WholeOut { Whole v [[imageblock_data(Master)]]; };\n"
    "fragment WholeOut blind(V in [[stage_in]]) {\n"
    "  if (in.p.x < 8) discard_fragment();\n"
    "  WholeOut o; o.v.p = {100, 200}; return o; }\n"
    "fragment float4 show_a(Master m [[imageblock_data]]) {\n"
    "  return float4(m.a, m.b, m.c * 1000 + m.d, m.n); }\n"
    "fragment float4 show_b(Master m [[imageblock_data]]) {\n"
    "  return float4(half4(m.tint).x * 255, m.pair.lo, m.pair.hi, m.list[0] * 10000 +\n"
    "                m.list[1] * 100 + m.list[2]); }\n";

static void begin(void) {
    open_shader(source);
    s.pass.imageblock_sample_length = 32;
    s.pass.tile_width = s.pass.tile_height = 16;
}

static void step(const char *fragment) {
    use("v", fragment);
    draw();
}

static void end(void) {
    run();
    assert_int_equal(mtl_command_buffer_status(s.commands), MTLCommandBufferStatusCompleted);
}

static void by_name(void **state) {
    (void)state;
    NEEDS_RESULTS();
    for (int shown = 0; shown < 2; shown++) {
        begin();
        step("fill"), step("plain"), step(shown ? "show_b" : "show_a");
        end();
        for (int y = 0; y < SIZE; y++)
            for (int x = 0; x < SIZE; x++)
                if (shown)
                    expect(x, y, 51, 6, 7, (float)(100000 + 100 * x + 8));
                else
                    expect(x, y, 1, 2.5f, 3040, 5);
        close_shader();
    }
}

static void by_user_name(void **state) {
    (void)state;
    NEEDS_RESULTS();
    for (int shown = 0; shown < 2; shown++) {
        begin();
        step("fill"), step("named"), step("named"), step(shown ? "show_b" : "show_a");
        end();
        for (int y = 0; y < SIZE; y++)
            for (int x = 0; x < SIZE; x++)
                if (shown)
                    expect(x, y, 51, 6, 28, 80000 + 900 + 10);
                else
                    expect(x, y, 1, 2, 3004, 7);
        close_shader();
    }
}

static void written_only(void **state) {
    (void)state;
    NEEDS_RESULTS();
    begin();
    step("fill"), step("blind"), step("plain"), step("show_b");
    end();
    for (int y = 0; y < SIZE; y++)
        for (int x = 0; x < SIZE; x++)
            expect(x, y, 51, x < 8 ? 6 : 100, x < 8 ? 7 : 200, (float)(100000 + 100 * x + 8));
    close_shader();
}

// One draw of many instances: each sees what the one before left.
static void in_order(void **state) {
    (void)state;
    NEEDS_RESULTS();
    begin();
    step("fill");
    use("v", "named");
    mtl_render_command_encoder_draw_primitives_instanced(s.e, MTLPrimitiveTypeTriangle, 0, 3, 9, 0);
    step("show_a");
    end();
    for (int y = 0; y < SIZE; y++)
        for (int x = 0; x < SIZE; x++) expect(x, y, 1, 2, 3004, 14);
    close_shader();
}

static void samples(void **state) {
    (void)state;
    NEEDS_RESULTS();
    begin();
    MTLTexture *many = target(MTLPixelFormatRGBA32Float, SIZE, SIZE, 4);
    s.d.raster_sample_count = 4;
    s.pass.color_attachments[0].texture = many;
    s.pass.color_attachments[0].resolve_texture = s.color;
    s.pass.color_attachments[0].store_action = MTLStoreActionMultisampleResolve;
    step("fill"), step("named"), step("plain"), step("show_a");
    end();
    for (int y = 0; y < SIZE; y++)
        for (int x = 0; x < SIZE; x++) expect(x, y, 1, 2.5f, 3040, 6);
    mtl_release(many);
    close_shader();
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(by_name),  cmocka_unit_test(by_user_name), cmocka_unit_test(written_only),
        cmocka_unit_test(in_order), cmocka_unit_test(samples),
    };
    return cmocka_run_group_tests(tests, open_render, close_render);
}
