// SPDX-License-Identifier: Apache-2.0
// test_render_shaders.c: functions that use what shaders seldom use, drawn; every pixel is compared
// with what C works out for it.
#include "shader_test.h"

static MTLTexture *one_color(float value) {
    MTLTextureDescriptor d = mtl_texture_descriptor_2d(MTLPixelFormatRGBA32Float, 2, 2, false);
    float texels[4][4];
    for (int i = 0; i < 16; i++) texels[i / 4][i % 4] = value;
    MTLTexture *t = mtl_device_new_texture(device, &d);
    mtl_texture_replace_region(t, mtl_region_make_2d(0, 0, 2, 2), 0, texels, 32);
    return t;
}

static void arrays_of_textures(void **state) {
    (void)state;
    open_shader(HEAD V "fragment float4 f(V in [[stage_in]], array<texture2d<float>, 4> t "
                       "[[texture(2)]]) {\n"
                       "  constexpr sampler linear(filter::linear);\n"
                       "  return t[uint(in.p.x) % 4].sample(linear, in.at / 16) + in.at.y; }\n");
    use("v", "f");
    MTLTexture *t[4];
    for (int i = 0; i < 4; i++) {
        t[i] = one_color(10.0f * (float)i);
        mtl_render_command_encoder_set_fragment_texture(s.e, t[i], 2 + (size_t)i);
    }
    draw();
    run();
    EACH_PIXEL(float v = 10.0f * (float)(x % 4) + (float)y + 0.5f; expect(x, y, v, v, v, v))
    for (int i = 0; i < 4; i++) mtl_release(t[i]);
    close_shader();
}

static void argument_buffers(void **state) {
    (void)state;
    open_shader(HEAD V
                "struct Light { float4 color; float scale; };\n"
                "struct Scene { constant Light *lights; texture2d<float> t; sampler s;\n"
                "  array<texture2d<float>, 2> more; uint n; };\n"
                "fragment float4 f(V in [[stage_in]], constant Scene &scene [[buffer(5)]]) {\n"
                "  float4 sum = scene.t.sample(scene.s, in.at / 16);\n"
                "  for (uint i = 0; i < scene.n; i++)\n"
                "    sum += scene.lights[i].color * scene.lights[i].scale;\n"
                "  return sum + scene.more[uint(in.p.y) & 1].read(uint2(1)); }\n");
    use("v", "f");
    const float lights[2][8] = {{1, 2, 3, 4, 0.5f}, {4, 3, 2, 1, 2}};
    MTLBuffer *list = mtl_device_new_buffer_with_bytes(device, lights, sizeof lights, 0);
    MTLTexture *t[3] = {one_color(100), one_color(1000), one_color(2000)};
    MTLSamplerState *sampler = mtl_device_new_sampler_state(
        device, &(MTLSamplerDescriptor){.support_argument_buffers = true});
    uint64_t scene[6] = {mtl_buffer_gpu_address(list),
                         mtl_texture_gpu_resource_id(t[0]).impl,
                         mtl_sampler_state_gpu_resource_id(sampler).impl,
                         mtl_texture_gpu_resource_id(t[1]).impl,
                         mtl_texture_gpu_resource_id(t[2]).impl,
                         2};
    MTLBuffer *b = mtl_device_new_buffer_with_bytes(device, scene, sizeof scene, 0);
    mtl_render_command_encoder_set_fragment_buffer(s.e, b, 0, 5);
    mtl_render_command_encoder_use_resource(s.e, (MTLResource *)list, MTLResourceUsageRead,
                                            MTLRenderStageFragment);
    for (int i = 0; i < 3; i++)
        mtl_render_command_encoder_use_resource(s.e, (MTLResource *)t[i], MTLResourceUsageRead,
                                                MTLRenderStageFragment);
    draw();
    run();
    EACH_PIXEL(float m = y & 1 ? 2100 : 1100; expect(x, y, m + 8.5f, m + 7, m + 5.5f, m + 4))
    mtl_release(list), mtl_release(b), mtl_release(sampler);
    for (int i = 0; i < 3; i++) mtl_release(t[i]);
    close_shader();
}

static void function_constants(void **state) {
    (void)state;
    open_shader(HEAD V "constant bool tinted [[function_constant(0)]];\n"
                       "constant int n [[function_constant(1)]];\n"
                       "constant float3 base [[function_constant(2)]];\n"
                       "constant bool more = tinted && n > 2;\n"
                       "fragment float4 f(V in [[stage_in]],\n"
                       "  constant float4 &tint [[buffer(0), function_constant(tinted)]],\n"
                       "  texture2d<float> t [[texture(0), function_constant(more)]]) {\n"
                       "  float4 c = float4(base, n);\n"
                       "  if (tinted) c *= tint;\n"
                       "  if (more) c += t.read(uint2(0));\n"
                       "  return c; }\n");
    MTLFunctionConstantValues *values = mtl_function_constant_values_new();
    bool yes = true;
    int n = 2;
    float base[4] = {1, 2, 3, 0};
    mtl_function_constant_values_set_constant_value(values, &yes, MTLDataTypeBool, 0);
    mtl_function_constant_values_set_constant_value(values, &n, MTLDataTypeInt, 1);
    mtl_function_constant_values_set_constant_value(values, base, MTLDataTypeFloat3, 2);
    s.d.fragment_function = function("f", values);
    use("v", "f");
    mtl_render_command_encoder_set_fragment_bytes(s.e, (float[]){2, 3, 4, 5}, 16, 0);
    draw();
    run();
    EACH_PIXEL(expect(x, y, 2, 6, 12, 10))
    mtl_release(values);
    close_shader();
}

static void reads_the_target(void **state) {
    (void)state;
    open_shader(HEAD V "fragment float4 f(V in [[stage_in]], float4 c [[color(0)]]) {\n"
                       "  return c * 2 + float4(in.at, 0, 1); }\n");
    use("v", "f");
    draw(), draw();
    run();
    EACH_PIXEL(float u = (float)x + 0.5f; float w = (float)y + 0.5f;
               expect(x, y, 1 + 3 * u, 1 + 3 * w, 1, 4))
    close_shader();
}

static void writes_depth_and_stencil(void **state) {
    (void)state;
    open_shader(HEAD V
                "struct Out { float4 c [[color(0)]]; float d [[depth(greater)]];\n"
                "  uint s [[stencil]]; };\n"
                "fragment Out f(V in [[stage_in]]) {\n"
                "  return {float4(1), in.p.z + in.at.x / 32, uint(in.at.y)}; }\n"
                "fragment float4 g(V in [[stage_in]]) { return float4(2, in.p.z, 0, 1); }\n");
    s.depth = target(MTLPixelFormatDepth32Float, SIZE, SIZE, 1);
    s.stencil = target(MTLPixelFormatStencil8, SIZE, SIZE, 1);
    s.pass.depth_attachment.texture = s.depth, s.pass.stencil_attachment.texture = s.stencil;
    s.d.depth_attachment_pixel_format = MTLPixelFormatDepth32Float;
    s.d.stencil_attachment_pixel_format = MTLPixelFormatStencil8;
    MTLStencilDescriptor replace = mtl_stencil_descriptor_make();
    replace.depth_stencil_pass_operation = MTLStencilOperationReplace;
    MTLStencilDescriptor less = mtl_stencil_descriptor_make();
    less.stencil_compare_function = MTLCompareFunctionGreater; // 9 > stencil
    MTLDepthStencilDescriptor d = {.depth_compare_function = MTLCompareFunctionLess,
                                   .depth_write_enabled = true,
                                   .front_face_stencil = &replace,
                                   .back_face_stencil = &replace};
    MTLDepthStencilState *first = mtl_device_new_depth_stencil_state(device, &d);
    d = (MTLDepthStencilDescriptor){.depth_compare_function = MTLCompareFunctionGreater,
                                    .front_face_stencil = &less,
                                    .back_face_stencil = &less};
    MTLDepthStencilState *second = mtl_device_new_depth_stencil_state(device, &d);
    use("v", "f");
    mtl_render_command_encoder_set_depth_stencil_state(s.e, first);
    draw();
    use("v", "g");
    mtl_render_command_encoder_set_depth_stencil_state(s.e, second);
    mtl_render_command_encoder_set_stencil_reference_value(s.e, 9);
    // At depth 0.75: in front of (not behind) the right half.
    mtl_render_command_encoder_set_viewport(s.e, (MTLViewport){0, 0, SIZE, SIZE, 0.5, 1});
    draw();
    run();
    EACH_PIXEL(float z = 0.5f + ((float)x + 0.5f) / 32;
               if (y < 9 && 0.75f > z) expect(x, y, 2, 0.75f, 0, 1); else expect(x, y, 1, 1, 1, 1))
    mtl_release(first), mtl_release(second);
    close_shader();
}

static void points(void **state) {
    (void)state;
    open_shader(HEAD "struct P { float4 p [[position]]; float size [[point_size]];\n"
                     "  half4 tint; ushort2 id [[flat]]; };\n"
                     "vertex P v(uint i [[vertex_id]]) {\n"
                     "  return {float4(i ? 0.5 : -0.5, 0, 0, 1), i ? 2.0 : 4.0, half4(i + 0.5h),\n"
                     "          ushort2(i, 60000 + i)}; }\n"
                     "fragment float4 f(P in [[stage_in]], float2 c [[point_coord]]) {\n"
                     "  return float4(c, float(in.tint.w), float(in.id.y)); }\n");
    s.d.input_primitive_topology = MTLPrimitiveTopologyClassPoint;
    use("v", "f");
    mtl_render_command_encoder_draw_primitives(s.e, MTLPrimitiveTypePoint, 0, 2);
    run();
    EACH_PIXEL(bool a = x >= 2 && x < 6 && y >= 6 && y < 10;
               bool b = x >= 11 && x < 13 && y >= 7 && y < 9;
               if (a) expect(x, y, ((float)x - 1.5f) / 4, ((float)y - 5.5f) / 4, 0.5f, 60000);
               else if (b) expect(x, y, ((float)x - 10.5f) / 2, ((float)y - 6.5f) / 2, 1.5f, 60001);
               else expect(x, y, 0.25f, 0.25f, 0.25f, 0.25f))
    close_shader();
}

static void clips(void **state) {
    (void)state;
    open_shader(HEAD
                "struct P { float4 p [[position]]; float d [[clip_distance]] [2];\n"
                "  float3x3 unused() { return float3x3(1); } float3 c0, c1, c2; };\n"
                "vertex P v(uint i [[vertex_id]]) { float2 a = float2((i << 1) & 2, i & 2);\n"
                "  P o; o.p = float4(a.x * 2 - 1, 1 - a.y * 2, 0.5, 1);\n"
                "  o.d[0] = a.x * 16 - 4; o.d[1] = 12 - a.y * 16;\n"
                "  float3x3 m = float3x3(float3(a, 1), float3(a.yx, 2), float3(3));\n"
                "  o.c0 = m[0]; o.c1 = m[1]; o.c2 = m[2]; return o; }\n"
                "struct Q { float3 c0, c1, c2; };\n"
                "fragment float4 f(Q in [[stage_in]]) {\n"
                "  float3x3 m(in.c0, in.c1, in.c2); return float4(m * float3(1, 2, 1), 1); }\n");
    use("v", "f");
    draw();
    run();
    EACH_PIXEL(float u = ((float)x + 0.5f) / 16; float w = ((float)y + 0.5f) / 16;
               if (x >= 4 && y < 12) expect(x, y, u + 2 * w + 3, w + 2 * u + 3, 8, 1);
               else expect(x, y, 0.25f, 0.25f, 0.25f, 0.25f))
    close_shader();
}

static void derivatives_after_discard(void **state) {
    (void)state;
    open_shader(HEAD V "fragment float4 f(V in [[stage_in]]) {\n"
                       "  if ((uint(in.p.x) + uint(in.p.y)) & 1) discard_fragment();\n"
                       "  float2 q = in.at * in.at;\n"
                       "  return float4(dfdx(q.x), dfdy(q.y), fwidth(in.at.x * in.at.y), 1); }\n");
    use("v", "f");
    draw();
    run();
    EACH_PIXEL(float u = (float)(x & ~1) + 0.5f; float w = (float)(y & ~1) + 0.5f;
               float px = (float)x + 0.5f; float py = (float)y + 0.5f;
               if (!((x + y) & 1)) expect(x, y, 2 * u + 1, 2 * w + 1, px + py, 1);
               else expect(x, y, 0.25f, 0.25f, 0.25f, 0.25f))
    close_shader();
}

static void ordered(void **state) {
    (void)state;
    open_shader(HEAD V "fragment void f(V in [[stage_in]], constant float &k [[buffer(0)]],\n"
                       "  texture2d<float, access::read_write> t "
                       "[[texture(0), raster_order_group(0)]],\n"
                       "  device float *sums [[buffer(1), raster_order_group(0)]]) {\n"
                       "  uint2 at = uint2(in.p.xy); float4 old = t.read(at);\n"
                       "  t.write(old * 2 + k, at);\n"
                       "  sums[at.y * 16 + at.x] = sums[at.y * 16 + at.x] * 3 + k; }\n");
    MTLTextureDescriptor td =
        mtl_texture_descriptor_2d(MTLPixelFormatRGBA32Float, SIZE, SIZE, false);
    td.usage = MTLTextureUsageShaderRead | MTLTextureUsageShaderWrite;
    MTLTexture *t = mtl_device_new_texture(device, &td);
    MTLBuffer *sums = mtl_device_new_buffer(device, SIZE * SIZE * 4, 0);
    memset(mtl_buffer_contents(sums), 0, SIZE * SIZE * 4);
    memset(s.pixels, 0, sizeof s.pixels);
    mtl_texture_replace_region(t, mtl_region_make_2d(0, 0, SIZE, SIZE), 0, s.pixels, SIZE * 16);
    use("v", "f");
    mtl_render_command_encoder_set_fragment_texture(s.e, t, 0);
    mtl_render_command_encoder_set_fragment_buffer(s.e, sums, 0, 1);
    for (int i = 1; i <= 3; i++) {
        float k = (float)i;
        mtl_render_command_encoder_set_fragment_bytes(s.e, &k, 4, 0);
        draw();
    }
    run();
    mtl_texture_get_bytes(t, s.pixels, SIZE * 16, mtl_region_make_2d(0, 0, SIZE, SIZE), 0);
    EACH_PIXEL(expect(x, y, 11, 11, 11, 11);
               assert_true(((float *)mtl_buffer_contents(sums))[y * SIZE + x] == 18))
    mtl_release(t), mtl_release(sums);
    close_shader();
}

static void quads(void **state) {
    (void)state;
    open_shader(HEAD V "fragment float4 f(V in [[stage_in]], uint id [[primitive_id]]) {\n"
                       "  float a = in.p.x + 100 * in.p.y;\n"
                       "  return float4(quad_shuffle_xor(a, 1), quad_shuffle_xor(a, 2),\n"
                       "                quad_broadcast(a, 3), float(simd_any(a > 0)) + id); }\n");
    use("v", "f");
    draw();
    run();
    EACH_PIXEL(float u = (float)(x ^ 1) + 0.5f; float w = (float)(y ^ 1) + 0.5f;
               float px = (float)x + 0.5f; float py = (float)y + 0.5f;
               expect(x, y, u + 100 * py, px + 100 * w,
                      (float)(x | 1) + 0.5f + 100 * ((float)(y | 1) + 0.5f), 1))
    close_shader();
}

static void two_sources(void **state) {
    (void)state;
    open_shader(HEAD V
                "struct O { float4 a [[color(0), index(0)]]; float4 b [[color(0), index(1)]]; "
                "};\n"
                "fragment O f(V in [[stage_in]]) { return {float4(in.at, 1, 1), float4(in.at.yx "
                "/ 16, 0.5, 0.5)}; }\n");
    s.d.color_attachments[0].pixel_format = MTLPixelFormatRGBA16Float;
    s.d.color_attachments[0].blending_enabled = true;
    s.d.color_attachments[0].source_rgb_blend_factor = MTLBlendFactorOne;
    s.d.color_attachments[0].destination_rgb_blend_factor = MTLBlendFactorSource1Color;
    s.d.color_attachments[0].source_alpha_blend_factor = MTLBlendFactorSource1Alpha;
    s.d.color_attachments[0].destination_alpha_blend_factor = MTLBlendFactorOneMinusSource1Alpha;
    MTLTexture *half = target(MTLPixelFormatRGBA16Float, SIZE, SIZE, 1);
    s.pass.color_attachments[0].texture = half;
    s.pass.color_attachments[0].clear_color = mtl_clear_color_make(8, 16, 4, 2);
    use("v", "f");
    draw();
    run();
    uint16_t h[SIZE][SIZE][4];
    mtl_texture_get_bytes(half, h, SIZE * 8, mtl_region_make_2d(0, 0, SIZE, SIZE), 0);
    EACH_PIXEL(for (int k = 0; k < 4; k++) s.pixels[y][x][k] = float_of_half(h[y][x][k]);
               float u = (float)x + 0.5f; float w = (float)y + 0.5f;
               expect(x, y, u + 8 * w / 16, w + 16 * u / 16, 1 + 2, 1.5f))
    mtl_release(half);
    close_shader();
}

// Perspective against what the rays say: a plane seen at an angle.
static void interpolation(void **state) {
    (void)state;
    open_shader(HEAD
                "struct I { float2 uv; };\n"
                "struct P { float4 p [[position]]; float a [[center_no_perspective]]; float b;\n"
                "  half2 h; uint2 flat_id [[flat]]; };\n"
                "vertex P v(uint i [[vertex_id]]) { float2 a = float2((i << 1) & 2, i & 2);\n"
                "  float w = 1 + a.x; return {float4((a.x * 2 - 1) * w, (1 - a.y * 2) * w, 0, w),\n"
                "    a.x, a.x, half2(a), uint2(i, 0xfffffff0u + i)}; }\n"
                "fragment float4 f(P in [[stage_in]]) {\n"
                "  return float4(in.a, in.b, in.p.w, in.flat_id.y == 0xfffffff0u); }\n");
    use("v", "f");
    draw();
    run();
    // In the window 1/w and b/w are linear: 1/w = 1 - u/3 (w = 3 at u = 2), b/w = u/3.
    EACH_PIXEL(float u = ((float)x + 0.5f) / 16; float q = 1 - u / 3;
               expect(x, y, u, (u / 3) / q, q, 1))
    close_shader();
}

static void pulled_vertices(void **state) {
    (void)state;
    open_shader(
        HEAD "struct R { packed_float3 p; uchar4 c; packed_half2 uv; };\n"
             "struct P { float4 p [[position]]; float4 c; float2 uv; };\n"
             "vertex P v(uint i [[vertex_id]], device const R *r [[buffer(3)]],\n"
             "  constant ushort *order [[buffer(4)]]) { R one = r[order[i]];\n"
             "  return {float4(float3(one.p), 1), float4(one.c) / 255, float2(half2(one.uv))}; }\n"
             "fragment float4 f(P in [[stage_in]]) { return float4(in.c.xy, in.uv); }\n");
    struct {
        float p[3];
        uint8_t c[4];
        uint16_t uv[2];
    } r[4] = {{{-1, 1, 0}, {0, 0, 0, 0}, {0, 0}},
              {{9, 9, 9}, {9, 9, 9, 9}, {9, 9}},
              {{3, 1, 0}, {255, 0, 0, 0}, {half_of(4), 0}},
              {{-1, -3, 0}, {0, 255, 0, 0}, {0, half_of(8)}}};
    assert_int_equal(sizeof r[0], 20);
    use("v", "f");
    mtl_render_command_encoder_set_vertex_bytes(s.e, r, sizeof r, 3);
    mtl_render_command_encoder_set_vertex_bytes(s.e, (uint16_t[]){0, 2, 3}, 6, 4);
    draw();
    run();
    EACH_PIXEL(float u = ((float)x + 0.5f) / 32; float w = ((float)y + 0.5f) / 32;
               expect(x, y, u, w, 4 * u, 8 * w))
    close_shader();
}

// Four samples: a function that runs for each, one that reads its coverage, and samples read back.
static void samples(void **state) {
    (void)state;
    open_shader(HEAD V
                "fragment float4 f(V in [[stage_in]], uint i [[sample_id]]) {\n"
                "  return float4(i, in.p.xy - floor(in.p.xy), 1); }\n"
                "fragment float4 g(V in [[stage_in]], texture2d_ms<float> t [[texture(0)]]) {\n"
                "  uint2 at = uint2(in.p.xy); float4 sum = 0;\n"
                "  for (uint i = 0; i < t.get_num_samples(); i++) {\n"
                "    float4 c = t.read(at, i); sum.x += c.x == i;\n"
                "    sum.yz += float2(c.yz == get_sample_position(i)); }\n"
                "  return sum; }\n");
    MTLTexture *many = target(MTLPixelFormatRGBA32Float, SIZE, SIZE, 4);
    s.pass.color_attachments[0].texture = many;
    s.d.raster_sample_count = 4;
    use("v", "f");
    draw();
    mtl_render_command_encoder_end_encoding(s.e);
    s.e = NULL;
    s.pass.color_attachments[0].texture = s.color;
    s.d.raster_sample_count = 1;
    use("v", "g");
    mtl_render_command_encoder_set_fragment_texture(s.e, many, 0);
    draw();
    run();
    EACH_PIXEL(expect(x, y, 4, 4, 4, 0))
    mtl_release(many);
    close_shader();
}

static void counts_early(void **state) {
    (void)state;
    open_shader(HEAD V
                "[[early_fragment_tests]] fragment float4 f(V in [[stage_in]],\n"
                "  device atomic_uint *n [[buffer(0)]]) {\n"
                "  atomic_fetch_add_explicit(n, 1u, memory_order_relaxed);\n"
                "  atomic_fetch_max_explicit(n + 1, uint(in.p.x), memory_order_relaxed);\n"
                "  return float4(1); }\n"
                "fragment float4 g(V in [[stage_in]], device atomic_uint *n [[buffer(0)]]) {\n"
                "  if (in.p.x > 8) discard_fragment();\n"
                "  atomic_fetch_add_explicit(n, 1u, memory_order_relaxed);\n"
                "  return float4(1); }\n");
    s.depth = target(MTLPixelFormatDepth32Float, SIZE, SIZE, 1);
    s.pass.depth_attachment.texture = s.depth;
    s.pass.depth_attachment.clear_depth = 0.5;
    s.d.depth_attachment_pixel_format = MTLPixelFormatDepth32Float;
    MTLDepthStencilDescriptor d = {.depth_compare_function = MTLCompareFunctionLess,
                                   .depth_write_enabled = true};
    MTLDepthStencilState *less = mtl_device_new_depth_stencil_state(device, &d);
    MTLBuffer *n = mtl_device_new_buffer(device, 32, 0);
    uint32_t *counted = mtl_buffer_contents(n);
    memset(counted, 0, 32);
    use("v", "f");
    mtl_render_command_encoder_set_depth_stencil_state(s.e, less);
    mtl_render_command_encoder_set_fragment_buffer(s.e, n, 0, 0);
    draw(); // 0.5 is not less
    mtl_render_command_encoder_set_viewport(s.e, (MTLViewport){0, 0, SIZE, SIZE, 0, 0.5});
    mtl_render_command_encoder_set_scissor_rect(s.e, (MTLScissorRect){0, 0, 5, 7});
    draw();
    use("v", "g");
    mtl_render_command_encoder_set_scissor_rect(s.e, (MTLScissorRect){0, 0, SIZE, SIZE});
    mtl_render_command_encoder_set_fragment_buffer(s.e, n, 16, 0);
    draw(); // late: counts whatever the test says
    run();
    assert_int_equal(counted[0], 35);
    assert_int_equal(counted[1], 4);
    assert_int_equal(counted[4], 8 * SIZE);
    mtl_release(less), mtl_release(n);
    close_shader();
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(arrays_of_textures),
                                       cmocka_unit_test(argument_buffers),
                                       cmocka_unit_test(function_constants),
                                       cmocka_unit_test(reads_the_target),
                                       cmocka_unit_test(writes_depth_and_stencil),
                                       cmocka_unit_test(points),
                                       cmocka_unit_test(clips),
                                       cmocka_unit_test(derivatives_after_discard),
                                       cmocka_unit_test(ordered),
                                       cmocka_unit_test(quads),
                                       cmocka_unit_test(two_sources),
                                       cmocka_unit_test(interpolation),
                                       cmocka_unit_test(pulled_vertices),
                                       cmocka_unit_test(samples),
                                       cmocka_unit_test(counts_early)};
    return cmocka_run_group_tests(tests, open_render, close_render);
}
