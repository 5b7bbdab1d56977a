// SPDX-License-Identifier: Apache-2.0
// test_texture_kernels.c: textures bound to kernels: every format read and written, what lies
// outside, views, pools and resource ids, order with other queues, and the rules of a dispatch.
#include "library_test.h"
#include "guard.h"

#define COPY(name, T)                                                                              \
    "kernel void " name "(texture2d<" T ", access::read> a [[texture(0)]],"                        \
    " texture2d<" T ", access::write> b [[texture(1)]], uint2 i [[thread_position_in_grid]]) {"    \
    " b.write(a.read(i), i); }\n"
#define SOURCE                                                                                     \
    HEAD COPY("copy_float", "float") COPY("copy_int", "int") COPY(                                 \
        "copy_uint",                                                                               \
        "uint") "kernel void fetch(texture2d<float, access::read> a [[texture(0)]],"               \
                " device float4 *out [[buffer(0)]], constant uint &level [[buffer(1)]],"           \
                " uint2 i [[thread_position_in_grid]], uint2 n [[threads_per_grid]]) {"            \
                " out[i.y * n.x + i.x] = a.read(i, level); }\n"                                    \
                "kernel void store(texture2d<float, access::write> a [[texture(0)]],"              \
                " uint2 i [[thread_position_in_grid]]) { a.write(float4(1), i); }\n"               \
                "kernel void twice(texture2d<float, access::read_write> a [[texture(3)]],"         \
                " uint2 i [[thread_position_in_grid]]) { a.write(a.read(i) * 2, i); }\n"           \
                "kernel void depth(depth2d<float> a [[texture(0)]], sampler s [[sampler(1)]],"     \
                " device float *out [[buffer(0)]], uint i [[thread_position_in_grid]]) {"          \
                " out[i] = a.sample(s, float2(0.5f)); }\n"                                         \
                "kernel void sample2(texture2d<float> a [[texture(0)]], sampler s [[sampler(1)]]," \
                " device float4 *out [[buffer(0)]], constant float &lod [[buffer(1)]],"            \
                " uint i [[thread_position_in_grid]]) {"                                           \
                " out[i] = a.sample(s, float2(0.5f), level(lod)); }\n"                             \
                "kernel void several(array<texture2d<float>, 4> t [[texture(2)]],"                 \
                " device float4 *out [[buffer(0)]], uint i [[thread_position_in_grid]]) {"         \
                " out[i] = t[i].read(uint2(0)); }\n"                                               \
                "struct Args { texture2d<float> t; texture2d<float> u; sampler s; };\n"            \
                "kernel void by_id(constant Args &args [[buffer(0)]], device float4 *out "         \
                "[[buffer(1)]],"                                                                   \
                " uint i [[thread_position_in_grid]]) {"                                           \
                " out[2 * i] = args.t.read(uint2(i, 0));"                                          \
                " out[2 * i + 1] = args.u.sample(args.s, float2(0.5f), level(0)); }\n"             \
                "struct Images { texture2d<float> a; depth2d<float> b [[texture(2)]]; };\n"        \
                "struct All { Images in; sampler s; device float *out [[buffer(3)]]; };\n"         \
                "struct Out { texture2d<float, access::write> t; };\n"                             \
                "kernel void in_struct(All all, constant float &k, Out to,"                        \
                " uint i [[thread_position_in_grid]]) {"                                           \
                " all.out[i] = all.in.a.sample(all.s, float2(i + 0.5f, 0.5f)).x * k"               \
                " + all.in.b.read(uint2(i, 0)); to.t.write(float4(all.out[i]), uint2(i, 0)); }\n"

static MTLCommandBuffer *commands;
static MTLComputeCommandEncoder *encoder;

static int set_up(void **state) { return open_library(state, SOURCE); }

static void begin(const char *kernel) {
    MTLComputePipelineState *p = pipeline_of(library, kernel);
    clear_messages();
    commands = mtl_command_queue_command_buffer(queue);
    encoder = mtl_command_buffer_compute_command_encoder(commands);
    mtl_compute_command_encoder_set_compute_pipeline_state(encoder, p);
    mtl_release(p);
}

static void dispatch(size_t w, size_t h) {
    mtl_compute_command_encoder_dispatch_threads(encoder, mtl_size_make(w, h, 1),
                                                 mtl_size_make(w < 8 ? w : 8, h < 8 ? h : 8, 1));
}

static void run(size_t w, size_t h) {
    dispatch(w, h);
    mtl_compute_command_encoder_end_encoding(encoder);
    run_to_end(commands);
}

static void broke(const char *rule) {
    assert_broke(rule);
    mtl_compute_command_encoder_end_encoding(encoder);
    assert_fails_with(commands, rule);
}

static MTLTexture *make(MTLPixelFormat format, size_t w, size_t h, size_t levels,
                        MTLTextureUsage usage) {
    MTLTextureDescriptor d = mtl_texture_descriptor_2d(format, w, h, false);
    d.mipmap_level_count = levels;
    d.usage = usage;
    MTLTexture *t = mtl_device_new_texture(device, &d);
    if (!t) fail_msg("%s", last_text);
    return t;
}

// The texels of a level as floats, by a kernel that reads them.
static void fetch(MTLTexture *t, uint32_t level, MTLBuffer *out, size_t w, size_t h) {
    begin("fetch");
    mtl_compute_command_encoder_set_texture(encoder, t, 0);
    mtl_compute_command_encoder_set_buffer(encoder, out, 0, 0);
    mtl_compute_command_encoder_set_bytes(encoder, &level, 4, 1);
    run(w, h);
}

// ---- Every format ----

typedef struct Format {
    const char *name, *kind, *caps;
    int value;
    size_t bytes;
    bool plain;
} Format;
static const Format formats[] = {
#define ABI_PIXEL_FORMAT(name, value, coding, kind, w, h, n, components, view_class, caps)         \
    {#name, #kind, #caps, value, n, (w) * (h) == 1},
#include "abi/pixel_formats.def"
};

// Texels that no conversion rounds: no NaN, no -2^(n-1) of a signed normalised number, unused bits
// 0.
static void fill(const Format *f, uint8_t *bytes, size_t n, uint32_t seed) {
    for (size_t i = 0; i < n; i++) {
        bytes[i] = (uint8_t)noise(&seed);
        if (strcmp(f->kind, "SNORM") == 0 && bytes[i] == 0x80) bytes[i] = 0x7f;
        if (strcmp(f->kind, "FLOAT") == 0) bytes[i] &= 0x3f; // positive, exponent below the largest
    }
    for (size_t i = 0; i + f->bytes <= n; i += f->bytes) {
        uint32_t word;
        uint64_t wide;
        if (f->value == MTLPixelFormatRGB9E5Float) { // one component has its top bit
            memcpy(&word, bytes + i, 4);
            word |= 0x100;
            memcpy(bytes + i, &word, 4);
        } else if (f->value == MTLPixelFormatRG11B10Float) { // the top bit of each exponent
            memcpy(&word, bytes + i, 4);
            word &= ~0x80200400u;
            memcpy(bytes + i, &word, 4);
        } else if (f->value == MTLPixelFormatBGR10_XR || f->value == MTLPixelFormatBGR10_XR_sRGB) {
            memcpy(&word, bytes + i, 4);
            word &= 0x3fffffff;
            memcpy(bytes + i, &word, 4);
        } else if (f->value == MTLPixelFormatBGRA10_XR ||
                   f->value == MTLPixelFormatBGRA10_XR_sRGB) {
            memcpy(&wide, bytes + i, 8);
            wide &= 0xffc0ffc0ffc0u; // alpha is 0 .. 1 in spite of its range: 384 .. 894
            wide |= (uint64_t)(384 + bytes[i + 7] * 2) << 54;
            memcpy(bytes + i, &wide, 8);
        }
    }
}

static void copy_through_kernel(const Format *f) {
    enum { W = 21, H = 13 };
    const MTLTextureUsage usage = MTLTextureUsageShaderRead | MTLTextureUsageShaderWrite;
    MTLTexture *a = make((MTLPixelFormat)f->value, W, H, 1, usage);
    MTLTexture *b = make((MTLPixelFormat)f->value, W, H, 1, usage);
    uint8_t in[W * H * 16], out[W * H * 16];
    fill(f, in, W * H * f->bytes, (uint32_t)f->value + 3);
    mtl_texture_replace_region(a, mtl_region_make_2d(0, 0, W, H), 0, in, W * f->bytes);
    begin(strcmp(f->kind, "UINT") == 0   ? "copy_uint"
          : strcmp(f->kind, "SINT") == 0 ? "copy_int"
                                         : "copy_float");
    mtl_compute_command_encoder_set_texture(encoder, a, 0);
    mtl_compute_command_encoder_set_texture(encoder, b, 1);
    run(W, H);
    mtl_texture_get_bytes(b, out, W * f->bytes, mtl_region_make_2d(0, 0, W, H), 0);
    for (size_t i = 0; i < W * H * f->bytes; i++)
        if (in[i] != out[i])
            fail_msg("%s: byte %zu of texel %zu was %02x and is %02x", f->name, i % f->bytes,
                     i / f->bytes, in[i], out[i]);
    mtl_release(a);
    mtl_release(b);
}

TEST(test_every_format) {
    int n = 0;
    for (size_t i = 0; i < sizeof formats / sizeof *formats; i++) {
        if (!formats[i].plain || strstr(formats[i].caps, "DEPTH") ||
            strstr(formats[i].caps, "STENCIL"))
            continue;
        MTLTextureDescriptor d =
            mtl_texture_descriptor_2d((MTLPixelFormat)formats[i].value, 1, 1, 0);
        d.usage = MTLTextureUsageShaderWrite;
        clear_messages();
        MTLTexture *t = mtl_device_new_texture(device, &d);
        mtl_release(t);
        if (!t) { // not writable, by Apple's tables
            assert_string_equal(last_rule, "texture_usage");
            continue;
        }
        copy_through_kernel(&formats[i]);
        n++;
    }
    assert_true(n >= 45);
}

// What a texel means, by hand.
TEST(test_values) {
    const struct {
        MTLPixelFormat format;
        uint8_t bytes[16];
        size_t n;
        float rgba[4];
    } cases[] = {
        {MTLPixelFormatA8Unorm, {51}, 1, {0, 0, 0, 0.2f}},
        {MTLPixelFormatR8Unorm, {255}, 1, {1, 0, 0, 1}},
        {MTLPixelFormatR8Snorm, {0x81}, 1, {-1, 0, 0, 1}},
        {MTLPixelFormatR8Snorm, {0x80}, 1, {-1, 0, 0, 1}},
        {MTLPixelFormatRG8Unorm, {0, 102}, 2, {0, 0.4f, 0, 1}},
        {MTLPixelFormatB5G6R5Unorm, {0x1f, 0}, 2, {0, 0, 1, 1}},
        {MTLPixelFormatB5G6R5Unorm, {0, 0xf8}, 2, {1, 0, 0, 1}},
        {MTLPixelFormatBGR5A1Unorm, {0, 0x80}, 2, {0, 0, 0, 1}},
        {MTLPixelFormatABGR4Unorm, {0x0f, 0xf0}, 2, {1, 0, 0, 1}},
        {MTLPixelFormatRGBA8Unorm, {51, 102, 153, 204}, 4, {0.2f, 0.4f, 0.6f, 0.8f}},
        {MTLPixelFormatBGRA8Unorm, {51, 102, 153, 204}, 4, {0.6f, 0.4f, 0.2f, 0.8f}},
        {MTLPixelFormatRGBA8Unorm_sRGB, {188, 0, 255, 51}, 4, {0.50288653f, 0, 1, 0.2f}},
        {MTLPixelFormatR16Float, {0, 0xc4}, 2, {-4, 0, 0, 1}},
        {MTLPixelFormatRGB10A2Unorm, {0xff, 3, 0, 0xc0}, 4, {1, 0, 0, 1}},
        {MTLPixelFormatBGR10A2Unorm, {0xff, 3, 0, 0x40}, 4, {0, 0, 1, 1 / 3.0f}},
        {MTLPixelFormatRG11B10Float, {0xc0, 3, 0, 0}, 4, {1, 0, 0, 1}},
        {MTLPixelFormatRGB9E5Float, {0, 1, 0, 0x80}, 4, {1, 0, 0, 1}},
        {MTLPixelFormatRGBA16Unorm, {0xff, 0xff, 0, 0, 0, 0, 0, 0}, 8, {1, 0, 0, 0}},
        {MTLPixelFormatBGR10_XR,
         {0x7e, 1, 0, 0},
         4,
         {-384 / 510.0f, -384 / 510.0f, -2 / 510.0f, 1}},
    };
    MTLBuffer *out = mtl_device_new_buffer(device, 16, 0);
    uint32_t level = 0;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        MTLTexture *t = make(cases[i].format, 1, 1, 1, MTLTextureUsageShaderRead);
        mtl_texture_replace_region(t, mtl_region_make_2d(0, 0, 1, 1), 0, cases[i].bytes,
                                   cases[i].n);
        fetch(t, level, out, 1, 1);
        const float *rgba = mtl_buffer_contents(out);
        for (int c = 0; c < 4; c++)
            if (!(rgba[c] >= cases[i].rgba[c] - 1e-6f && rgba[c] <= cases[i].rgba[c] + 1e-6f))
                fail_msg("case %zu, component %d: %g, not %g", i, c, (double)rgba[c],
                         (double)cases[i].rgba[c]);
        mtl_release(t);
    }
    mtl_release(out);
}

// ---- Outside ----

TEST(test_outside) {
    MTLTexture *t = make(MTLPixelFormatRGBA8Unorm, 10, 7, 3,
                         MTLTextureUsageShaderRead | MTLTextureUsageShaderWrite);
    uint8_t ones[4 * 70];
    memset(ones, 0xff, sizeof ones);
    mtl_texture_replace_region(t, mtl_region_make_2d(0, 0, 10, 7), 0, ones, 40);
    mtl_texture_replace_region(t, mtl_region_make_2d(0, 0, 5, 3), 1, ones, 20);
    MTLBuffer *out = mtl_device_new_buffer(device, 16 * 32 * 32, 0);
    for (uint32_t level = 0; level < 5; level++) {
        fetch(t, level, out, 32, 32);
        const float *rgba = mtl_buffer_contents(out);
        for (size_t y = 0; y < 32; y++)
            for (size_t x = 0; x < 32; x++) {
                bool in = level == 0 ? x < 10 && y < 7 : level == 1 && x < 5 && y < 3;
                assert_true(rgba[4 * (32 * y + x)] == (in ? 1.0f : 0.0f));
            }
    }
    // Writes beyond the edges reach neither the next row nor the next level.
    uint8_t zeros[4 * 70] = {0}, back[4 * 70];
    mtl_texture_replace_region(t, mtl_region_make_2d(0, 0, 10, 7), 0, zeros, 40);
    mtl_texture_replace_region(t, mtl_region_make_2d(0, 0, 5, 3), 1, zeros, 20);
    begin("store");
    mtl_compute_command_encoder_set_texture(encoder, t, 0);
    run(64, 64);
    mtl_texture_get_bytes(t, back, 40, mtl_region_make_2d(0, 0, 10, 7), 0);
    assert_memory_equal(back, ones, 280);
    mtl_texture_get_bytes(t, back, 20, mtl_region_make_2d(0, 0, 5, 3), 1);
    assert_memory_equal(back, zeros, 60);
    mtl_release(out);
    mtl_release(t);
}

// Over memory that ends at a forbidden page, the last texel last.
TEST(test_guarded) {
    size_t page = (size_t)sysconf(_SC_PAGESIZE);
    const MTLPixelFormat kinds[] = {MTLPixelFormatR8Unorm, MTLPixelFormatRG8Unorm,
                                    MTLPixelFormatRGBA8Unorm, MTLPixelFormatRGBA16Float,
                                    MTLPixelFormatRGBA32Float};
    const size_t texels[] = {1, 2, 4, 8, 16};
    MTLBuffer *out = mtl_device_new_buffer(device, 16 * 64 * 64, 0);
    MTLSamplerState *linear = mtl_device_new_sampler_state(
        device, &(MTLSamplerDescriptor){.min_filter = MTLSamplerMinMagFilterLinear,
                                        .mag_filter = MTLSamplerMinMagFilterLinear,
                                        .s_address_mode = MTLSamplerAddressModeRepeat});
    for (int k = 0; k < 5; k++) {
        size_t row = 16 * texels[k], rows = page / row;
        Guarded g = guarded(page, true);
        MTLBuffer *b =
            mtl_device_new_buffer_with_bytes_no_copy(device, g.bytes, page, 0, NULL, NULL);
        MTLTextureDescriptor d = mtl_texture_descriptor_2d(kinds[k], 16, rows, false);
        d.usage |= MTLTextureUsageShaderWrite;
        MTLTexture *t = mtl_buffer_new_texture(b, &d, 0, row);
        assert_non_null(t);
        uint32_t level = 0;
        begin("store");
        mtl_compute_command_encoder_set_texture(encoder, t, 0);
        run(20, rows + 5);
        fetch(t, level, out, 20, 40);
        begin("sample2");
        mtl_compute_command_encoder_set_texture(encoder, t, 0);
        mtl_compute_command_encoder_set_sampler_state(encoder, linear, 1);
        mtl_compute_command_encoder_set_buffer(encoder, out, 0, 0);
        mtl_compute_command_encoder_set_bytes(encoder, &level, 4, 1);
        run(16, 1);
        mtl_release(t);
        mtl_release(b);
        unguard(&g);
    }
    mtl_release(linear);
    mtl_release(out);
}

// ---- Views, arrays, ids ----

TEST(test_views) {
    MTLTexture *t = make(MTLPixelFormatRGBA8Unorm, 4, 4, 2,
                         MTLTextureUsageShaderRead | MTLTextureUsagePixelFormatView);
    const uint8_t texel[4] = {51, 102, 153, 204};
    mtl_texture_replace_region(t, mtl_region_make_2d(1, 0, 1, 1), 1, texel, 4);
    MTLTexture *v = mtl_texture_new_texture_view_with_swizzle(
        t, MTLPixelFormatBGRA8Unorm, MTLTextureType2D, mtl_range_make(1, 1), mtl_range_make(0, 1),
        mtl_texture_swizzle_channels_make(MTLTextureSwizzleAlpha, MTLTextureSwizzleOne,
                                          MTLTextureSwizzleRed, MTLTextureSwizzleZero));
    MTLBuffer *out = mtl_device_new_buffer(device, 64, 0);
    uint32_t level = 0;
    begin("fetch");
    mtl_compute_command_encoder_set_texture(encoder, v, 0);
    mtl_compute_command_encoder_set_buffer(encoder, out, 0, 0);
    mtl_compute_command_encoder_set_bytes(encoder, &level, 4, 1);
    mtl_release(t);
    mtl_release(v); // the command buffer keeps both
    run(2, 1);
    const float *rgba = mtl_buffer_contents(out);
    const float want[4] = {0.8f, 1, 0.6f, 0};
    for (int c = 0; c < 4; c++) assert_float_equal(rgba[4 + c], want[c], 1e-6f);
    mtl_release(out);
}

TEST(test_array) {
    MTLTexture *t[3];
    for (int i = 0; i < 3; i++) {
        t[i] = make(MTLPixelFormatR32Float, 1, 1, 1, MTLTextureUsageShaderRead);
        float value = 1.5f + (float)i;
        mtl_texture_replace_region(t[i], mtl_region_make_2d(0, 0, 1, 1), 0, &value, 4);
    }
    MTLTexture *bound[4] = {t[0], t[1], NULL, t[2]}; // a gap reads as zero
    MTLBuffer *out = mtl_device_new_buffer(device, 64, 0);
    begin("several");
    mtl_compute_command_encoder_set_textures(encoder, bound, mtl_range_make(2, 4));
    mtl_compute_command_encoder_set_buffer(encoder, out, 0, 0);
    run(4, 1);
    const float *rgba = mtl_buffer_contents(out);
    const float want[4] = {1.5f, 2.5f, 0, 3.5f};
    for (int i = 0; i < 4; i++) assert_float_equal(rgba[4 * i], want[i], 0);
    for (int i = 0; i < 3; i++) mtl_release(t[i]);
    mtl_release(out);
}

TEST(test_ids) {
    MTLTexture *t = make(MTLPixelFormatR32Float, 2, 1, 1, MTLTextureUsageShaderRead);
    const float values[2] = {3, 5};
    mtl_texture_replace_region(t, mtl_region_make_2d(0, 0, 2, 1), 0, values, 8);
    MTLTextureViewPool *pool = mtl_device_new_texture_view_pool(
        device, &(MTLResourceViewPoolDescriptor){.resource_view_count = 3}, NULL);
    MTLSamplerState *s = mtl_device_new_sampler_state(
        device, &(MTLSamplerDescriptor){.support_argument_buffers = true,
                                        .min_filter = MTLSamplerMinMagFilterLinear,
                                        .mag_filter = MTLSamplerMinMagFilterLinear});
    struct {
        MTLResourceID t, u, s;
    } args = {
        mtl_texture_gpu_resource_id(t),
        mtl_texture_view_pool_set_texture_view_with_descriptor(
            pool, t,
            &(MTLTextureViewDescriptor){.swizzle = {MTLTextureSwizzleZero, MTLTextureSwizzleRed,
                                                    MTLTextureSwizzleOne, MTLTextureSwizzleAlpha}},
            2),
        mtl_sampler_state_gpu_resource_id(s)};
    MTLBuffer *out = mtl_device_new_buffer(device, 64, 0);
    begin("by_id");
    mtl_compute_command_encoder_set_bytes(encoder, &args, sizeof args, 0);
    mtl_compute_command_encoder_set_buffer(encoder, out, 0, 1);
    mtl_compute_command_encoder_use_resource(encoder, (MTLResource *)t, MTLResourceUsageRead);
    run(2, 1);
    const float *rgba = mtl_buffer_contents(out);
    assert_float_equal(rgba[0], 3, 0);
    assert_float_equal(rgba[8], 5, 0);
    assert_float_equal(rgba[4], 0, 0);
    assert_float_equal(rgba[5], 4, 1e-6f);
    assert_float_equal(rgba[6], 1, 0);
    // A slot that was never set holds no texture: zero.
    args.t = mtl_texture_view_pool_resource_id(pool, 0);
    args.u = args.t;
    begin("by_id");
    mtl_compute_command_encoder_set_bytes(encoder, &args, sizeof args, 0);
    mtl_compute_command_encoder_set_buffer(encoder, out, 0, 1);
    run(2, 1);
    for (int i = 0; i < 3; i++) assert_float_equal(rgba[i], 0, 0);
    mtl_release(out);
    mtl_release(s);
    mtl_release(pool);
    mtl_release(t);
}

// ---- Order ----

// The ids of a pool count up by one: a program adds the index itself. Slots that were not set are
// no textures.
TEST(test_pool_ids) {
    enum { N = 6, SET = 4 };
    MTLLibrary *own = compile(
        HEAD "struct A { texture2d<float> t[6]; };\n"
             "kernel void pooled(constant A &a [[buffer(0)]], device float4 *out [[buffer(1)]],"
             " uint i [[thread_position_in_grid]]) {"
             " out[i] = float4(a.t[i].read(uint2(0)).x, a.t[i].get_width(), a.t[i].get_height(),"
             " a.t[2].get_width()); }\n");
    MTLTextureViewPool *pool = mtl_device_new_texture_view_pool(
        device, &(MTLResourceViewPoolDescriptor){.resource_view_count = N}, NULL);
    uint64_t base = mtl_texture_view_pool_base_resource_id(pool).impl, ids[N];
    for (size_t i = 0; i < N; i++) ids[i] = base + i;
    for (size_t i = 0; i < SET; i++) {
        const MTLTextureDescriptor d =
            mtl_texture_descriptor_2d(MTLPixelFormatR32Float, i + 1, 2 * i + 1, false);
        MTLTexture *t = mtl_device_new_texture(device, &d);
        mtl_texture_replace_region(t, mtl_region_make_2d(0, 0, 1, 1), 0, &(float){(float)i + 0.5f},
                                   0);
        assert_int_equal(mtl_texture_view_pool_set_texture_view(pool, t, i).impl, ids[i]);
        mtl_release(t); // the pool holds it
    }
    MTLBuffer *args = mtl_device_new_buffer_with_bytes(device, ids, sizeof ids, 0);
    MTLBuffer *out = mtl_device_new_buffer(device, N * 16, 0);
    MTLComputePipelineState *p = pipeline_of(own, "pooled");
    begin("several");
    mtl_compute_command_encoder_set_compute_pipeline_state(encoder, p);
    mtl_compute_command_encoder_set_buffer(encoder, args, 0, 0);
    mtl_compute_command_encoder_set_buffer(encoder, out, 0, 1);
    run(N, 1);
    const float *got = mtl_buffer_contents(out);
    for (size_t i = 0; i < N; i++) {
        assert_float_equal(got[4 * i], i < SET ? (float)i + 0.5f : 0, 0);
        assert_float_equal(got[4 * i + 1], i < SET ? (float)i + 1 : 0, 0);
        assert_float_equal(got[4 * i + 2], i < SET ? 2 * (float)i + 1 : 0, 0);
        assert_float_equal(got[4 * i + 3], 3, 0);
    }
    mtl_release(p);
    mtl_release(out);
    mtl_release(args);
    mtl_release(pool);
    mtl_release(own);
}

TEST(test_queues) {
    MTLCommandQueue *other = mtl_device_new_command_queue(device);
    MTLTexture *t = make(MTLPixelFormatR32Float, 64, 64, 1,
                         MTLTextureUsageShaderRead | MTLTextureUsageShaderWrite);
    MTLTexture *view = mtl_texture_new_texture_view(t, MTLPixelFormatR32Float);
    MTLBuffer *out = mtl_device_new_buffer(device, 4 * 64 * 64, 0);
    const float one = 1;
    for (int round = 0; round < 20; round++) {
        for (size_t i = 0; i < 64; i++)
            mtl_texture_replace_region(t, mtl_region_make_2d(i, i, 1, 1), 0, &one, 4);
        MTLCommandBuffer *last = NULL;
        for (int k = 0; k < 6; k++) { // doubled on two queues in turn, through texture and view
            MTLComputePipelineState *p = pipeline_of(library, "twice");
            commands = mtl_command_queue_command_buffer(k % 2 ? other : queue);
            encoder = mtl_command_buffer_compute_command_encoder(commands);
            mtl_compute_command_encoder_set_compute_pipeline_state(encoder, p);
            mtl_compute_command_encoder_set_texture(encoder, k % 3 ? t : view, 3);
            dispatch(64, 64);
            mtl_compute_command_encoder_end_encoding(encoder);
            mtl_command_buffer_commit(commands);
            mtl_release(commands);
            mtl_release(p);
        }
        last = mtl_command_queue_command_buffer(queue);
        encode_copy(last, view, 64, out);
        run_to_end(last);
        const float *values = mtl_buffer_contents(out);
        for (size_t i = 0; i < 64; i++) assert_float_equal(values[65 * i], 64, 0);
    }
    mtl_release(out);
    mtl_release(view);
    mtl_release(t);
    mtl_release(other);
}

// ---- Rules ----

TEST(test_rules) {
    const MTLTextureUsage rw = MTLTextureUsageShaderRead | MTLTextureUsageShaderWrite;
    MTLTexture *good = make(MTLPixelFormatRGBA8Unorm, 8, 8, 2, rw);
    MTLTexture *read_only = make(MTLPixelFormatRGBA8Unorm, 8, 8, 1, MTLTextureUsageShaderRead);
    MTLTexture *write_only = make(MTLPixelFormatRGBA8Unorm, 8, 8, 1, MTLTextureUsageShaderWrite);
    MTLTexture *any = make(MTLPixelFormatRGBA8Unorm, 8, 8, 1, MTLTextureUsageUnknown);
    MTLTexture *uints = make(MTLPixelFormatRGBA8Uint, 8, 8, 1, rw);
    MTLTexture *srgb = make(MTLPixelFormatRGBA8Unorm_sRGB, 8, 8, 1, rw);
    MTLTextureDescriptor d = mtl_texture_descriptor_2d(MTLPixelFormatRGBA8Unorm, 8, 8, false);
    d.texture_type = MTLTextureType2DArray;
    MTLTexture *array = mtl_device_new_texture(device, &d);
    mtl_texture_set_label(array, "array");
    MTLSamplerState *s = mtl_device_new_sampler_state(device, &(MTLSamplerDescriptor){0});
    MTLBuffer *out = mtl_device_new_buffer(device, 4096, 0);
#define BAD(rule, kernel, a, b)                                                                    \
    do {                                                                                           \
        begin(kernel);                                                                             \
        mtl_compute_command_encoder_set_texture(encoder, a, 0);                                    \
        mtl_compute_command_encoder_set_texture(encoder, b, 1);                                    \
        dispatch(8, 8);                                                                            \
        broke(rule);                                                                               \
        assert_non_null(strstr(last_text, kernel));                                                \
    } while (0)
    BAD("dispatch_missing_texture", "copy_float", NULL, good);
    BAD("dispatch_missing_texture", "copy_float", good, NULL);
    BAD("dispatch_texture_type", "copy_float", array, good);
    assert_non_null(strstr(last_text, "'array'"));
    BAD("dispatch_texture_component", "copy_float", uints, good);
    BAD("dispatch_texture_component", "copy_uint", good, uints);
    BAD("dispatch_texture_component", "copy_int", uints, uints);
    BAD("dispatch_texture_usage", "copy_float", good, read_only);
    BAD("dispatch_texture_usage", "copy_float", write_only, good);
#undef BAD
    MTLTexture *swizzled = mtl_texture_new_texture_view_with_descriptor(
        good, &(MTLTextureViewDescriptor){.swizzle = {4, 3, 2, 5}});
    begin("store");
    mtl_compute_command_encoder_set_texture(encoder, swizzled, 0);
    dispatch(8, 8);
    broke("dispatch_texture_usage");
    begin("twice"); // sRGB formats can be written, not read and written
    mtl_compute_command_encoder_set_texture(encoder, srgb, 3);
    dispatch(8, 8);
    broke("dispatch_texture_access");
    begin("depth");
    mtl_compute_command_encoder_set_texture(encoder, good, 0);
    mtl_compute_command_encoder_set_sampler_state(encoder, s, 1);
    mtl_compute_command_encoder_set_buffer(encoder, out, 0, 0);
    dispatch(8, 1);
    broke("dispatch_texture_component");
    begin("sample2");
    mtl_compute_command_encoder_set_texture(encoder, good, 0);
    mtl_compute_command_encoder_set_buffer(encoder, out, 0, 0);
    mtl_compute_command_encoder_set_bytes(encoder, &(float){0}, 4, 1);
    dispatch(8, 1);
    broke("dispatch_missing_sampler");
    // Calls that are wrong by themselves.
    begin("copy_float");
    mtl_compute_command_encoder_set_texture(encoder, good, 128);
    broke("texture_index");
    begin("copy_float");
    mtl_compute_command_encoder_set_textures(encoder, &good, mtl_range_make(127, 2));
    broke("texture_index");
    begin("copy_float");
    mtl_compute_command_encoder_set_textures(encoder, NULL, mtl_range_make(0, 1));
    broke("null_argument");
    begin("copy_float");
    mtl_compute_command_encoder_set_texture(encoder, (MTLTexture *)(void *)out, 0);
    broke("wrong_class");
    begin("copy_float");
    mtl_compute_command_encoder_set_sampler_state(encoder, s, 16);
    broke("sampler_index");
    begin("copy_float");
    mtl_compute_command_encoder_set_sampler_states(encoder, &s, mtl_range_make(0, SIZE_MAX));
    broke("sampler_index");
    begin("copy_float");
    mtl_compute_command_encoder_set_sampler_state(encoder, (MTLSamplerState *)(void *)out, 0);
    broke("wrong_class");
    begin("copy_float");
    mtl_compute_command_encoder_set_sampler_state_with_lod_clamps(encoder, s, 2, 1, 0);
    broke("sampler_value");
    // Unknown usage allows everything; a texture array of gaps is fine; index 127 exists.
    begin("copy_float");
    mtl_compute_command_encoder_set_texture(encoder, any, 0);
    mtl_compute_command_encoder_set_texture(encoder, any, 127);
    mtl_compute_command_encoder_set_texture(encoder, good, 1);
    run(8, 8);
    assert_int_equal(n_messages, 0);
    mtl_compute_command_encoder_set_texture(NULL, good, 0);
    assert_string_equal(last_rule, "null_object");
    void *all[] = {swizzled, good, read_only, write_only, any, uints, srgb, array, s, out};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) mtl_release(all[i]);
}

TEST(test_lod_clamps) {
    MTLTexture *t = make(MTLPixelFormatR32Float, 8, 8, 4, MTLTextureUsageShaderRead);
    for (size_t level = 0; level < 4; level++) {
        float values[64];
        for (int i = 0; i < 64; i++) values[i] = (float)level;
        mtl_texture_replace_region(t, mtl_region_make_2d(0, 0, 8u >> level, 8u >> level), level,
                                   values, 4 * (8u >> level));
    }
    MTLSamplerState *s = mtl_device_new_sampler_state(
        device, &(MTLSamplerDescriptor){.mip_filter = MTLSamplerMipFilterLinear,
                                        .lod_min_clamp = 0.5f,
                                        .lod_max_clamp = 2.5f});
    MTLSamplerState *top = mtl_device_new_sampler_state(
        device, &(MTLSamplerDescriptor){.mip_filter = MTLSamplerMipFilterNearest,
                                        .lod_max_clamp_is_set = true});
    MTLBuffer *out = mtl_device_new_buffer(device, 16, 0);
    const struct {
        float lod, low, high, want;
        bool own;
    } cases[] = {{0, 0, 0, 0.5f, true},  {1.25f, 0, 0, 1.25f, true},
                 {9, 0, 0, 2.5f, true},  {0, 1.5f, 3, 1.5f, false},
                 {9, 1.5f, 3, 3, false}, {2, 0, 0.25f, 0.25f, false}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        begin("sample2");
        mtl_compute_command_encoder_set_texture(encoder, t, 0);
        if (cases[i].own)
            mtl_compute_command_encoder_set_sampler_state(encoder, s, 1);
        else
            mtl_compute_command_encoder_set_sampler_states_with_lod_clamps(
                encoder, &s, &cases[i].low, &cases[i].high, mtl_range_make(1, 1));
        mtl_compute_command_encoder_set_buffer(encoder, out, 0, 0);
        mtl_compute_command_encoder_set_bytes(encoder, &cases[i].lod, 4, 1);
        run(1, 1);
        assert_float_equal(*(float *)mtl_buffer_contents(out), cases[i].want, 1e-5f);
    }
    begin("sample2");
    mtl_compute_command_encoder_set_texture(encoder, t, 0);
    mtl_compute_command_encoder_set_sampler_state(encoder, top, 1);
    mtl_compute_command_encoder_set_buffer(encoder, out, 0, 0);
    mtl_compute_command_encoder_set_bytes(encoder, &(float){3}, 4, 1);
    run(1, 1);
    assert_float_equal(*(float *)mtl_buffer_contents(out), 0, 0);
    mtl_release(out);
    mtl_release(top);
    mtl_release(s);
    mtl_release(t);
}

// Members of structures passed by value are arguments like others: explicit indices and free ones.
TEST(test_struct) {
    const float values[4] = {1, 2, 3, 4}, depths[4] = {0.5f, 0.25f, 0.125f, 1}, k = 10;
    MTLTextureDescriptor d = mtl_texture_descriptor_2d(MTLPixelFormatR32Float, 4, 1, false);
    MTLTexture *a = mtl_device_new_texture(device, &d);
    d.usage = MTLTextureUsageShaderWrite;
    MTLTexture *to = mtl_device_new_texture(device, &d);
    d = mtl_texture_descriptor_2d(MTLPixelFormatDepth32Float, 4, 1, false);
    MTLTexture *b = mtl_device_new_texture(device, &d);
    mtl_texture_replace_region(a, mtl_region_make_2d(0, 0, 4, 1), 0, values, 16);
    mtl_texture_replace_region(b, mtl_region_make_2d(0, 0, 4, 1), 0, depths, 16);
    MTLSamplerState *s = mtl_device_new_sampler_state(
        device, &(MTLSamplerDescriptor){.unnormalized_coordinates = true});
    MTLBuffer *out = mtl_device_new_buffer(device, 16, 0);
    begin("in_struct");
    mtl_compute_command_encoder_set_texture(encoder, a, 0);
    mtl_compute_command_encoder_set_texture(encoder, to, 1);
    mtl_compute_command_encoder_set_texture(encoder, b, 2);
    mtl_compute_command_encoder_set_sampler_state(encoder, s, 0);
    mtl_compute_command_encoder_set_buffer(encoder, out, 0, 3);
    mtl_compute_command_encoder_set_bytes(encoder, &k, 4, 0);
    run(4, 1);
    float written[4];
    mtl_texture_get_bytes(to, written, 16, mtl_region_make_2d(0, 0, 4, 1), 0);
    const float *got = mtl_buffer_contents(out);
    for (int i = 0; i < 4; i++) {
        assert_float_equal(got[i], values[i] * k + depths[i], 1e-6f);
        assert_float_equal(written[i], got[i], 0);
    }
    assert_int_equal(n_messages, 0);
    mtl_release(out);
    mtl_release(s);
    mtl_release(b);
    mtl_release(to);
    mtl_release(a);
}

int main(void) { return unit_run(set_up, close_library); }
