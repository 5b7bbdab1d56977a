// SPDX-License-Identifier: Apache-2.0
// test_pvrtc.c: textures of PVRTC take whole levels in Z order, or in rows where a blit says so, of
// two blocks by two at least; kernels see the texels. What the blocks mean is held to a second
// decoder in tests/texture/test_blocks.py.
#include "blit_test.h"

static size_t columns_of(MTLPixelFormat format, size_t size) {
    bool two_bits = !((format - MTLPixelFormatPVRTC_RGB_2BPP) & 2);
    size_t n = size / (two_bits ? 8 : 4);
    return n < 2 ? 2 : n;
}

static size_t rows_of(size_t size) { return size < 8 ? 2 : size / 4; }

// Blocks in Z order to rows: a square is its left half, upper quarter first, then its right half; a
// column that is higher than wide is its squares from top to bottom.
static const uint8_t *to_rows(const uint8_t *z, uint8_t *rows, size_t stride, size_t w, size_t h) {
    if (h > w) {
        for (size_t y = 0; y < h; y += w) z = to_rows(z, rows + y * stride, stride, w, w);
        return z;
    }
    if (w == 1) {
        memcpy(rows, z, 8);
        return z + 8;
    }
    for (size_t i = 0; i < 4; i++)
        z = to_rows(z, rows + i % 2 * (w / 2) * stride + i / 2 * (w / 2) * 8, stride, w / 2, w / 2);
    return z;
}

static MTLTexture *make(MTLPixelFormat format, size_t size, size_t length, size_t levels) {
    MTLTextureDescriptor d =
        texture_shape(MTLTextureType2DArray, format, size, size, 1, length, levels);
    MTLTexture *t = mtl_device_new_texture(device, &d);
    if (!t) fail_msg("%s", last_text);
    return t;
}

static void copy_out(MTLTexture *t, size_t slice, size_t level, size_t size, MTLBuffer *to,
                     size_t stride, MTLBlitOption options) {
    mtl_blit_command_encoder_copy_from_texture_to_buffer(
        blit, t, slice, level, mtl_origin_make(0, 0, 0), mtl_size_make(size, size, 1), to, 0,
        stride, 0, options);
}

static void copy_in(MTLTexture *t, size_t slice, size_t level, size_t size, MTLBuffer *from,
                    size_t stride, MTLBlitOption options) {
    mtl_blit_command_encoder_copy_from_buffer_to_texture(blit, from, 0, stride, 0,
                                                         mtl_size_make(size, size, 1), t, slice,
                                                         level, mtl_origin_make(0, 0, 0), options);
}

// One level: in through memory, out through every way, and back in by rows.
static void every_way(MTLTexture *t, MTLTexture *other, size_t slice, size_t level, size_t size) {
    MTLPixelFormat format = mtl_texture_pixel_format(t);
    size_t w = columns_of(format, size), h = rows_of(size), n = w * h * 8, stride = w * 8 + 16;
    Guarded in = guarded(n, true), out = guarded(n, true);
    uint8_t *rows = calloc(h, stride);
    MTLBuffer *z = mtl_device_new_buffer(device, n, 0);
    MTLBuffer *linear = mtl_device_new_buffer(device, h * stride, 0);
    assert_true(rows && z && linear);
    MTLRegion all = mtl_region_make_2d(0, 0, size, size);
    uint32_t seed = (uint32_t)(size * 100 + level * 10 + slice + 1);
    for (size_t i = 0; i < n; i++) in.bytes[i] = (uint8_t)noise(&seed);
    assert_ptr_equal(to_rows(in.bytes, rows, stride, w, h), in.bytes + n);
    begin();
    mtl_texture_replace_region_slice(t, all, level, slice, in.bytes, 0, 0);
    mtl_texture_get_bytes_slice(t, out.bytes, 0, 0, all, level, slice);
    assert_memory_equal(out.bytes, in.bytes, n);
    copy_out(t, slice, level, size, z, 0, MTLBlitOptionNone);
    copy_out(t, slice, level, size, linear, stride, MTLBlitOptionRowLinearPVRTC);
    copy_in(other, slice, level, size, linear, stride, MTLBlitOptionRowLinearPVRTC);
    run();
    assert_memory_equal(mtl_buffer_contents(z), in.bytes, n);
    assert_memory_equal(mtl_buffer_contents(linear), rows, h * stride); // gaps are not written
    memset(out.bytes, 0, n);
    mtl_texture_get_bytes_slice(other, out.bytes, w * 8, 0, all, level, slice);
    assert_memory_equal(out.bytes, in.bytes, n);
    assert_int_equal(n_messages, 0);
    mtl_release(z), mtl_release(linear);
    free(rows);
    unguard(&in), unguard(&out);
}

TEST(levels_go_in_and_out) {
    for (int f = MTLPixelFormatPVRTC_RGB_2BPP; f <= MTLPixelFormatPVRTC_RGBA_4BPP_sRGB; f++) {
        MTLTexture *t = make((MTLPixelFormat)f, 64, 3, 7), *a = make((MTLPixelFormat)f, 64, 3, 7);
        for (size_t level = 0; level < 7; level++)
            for (size_t slice = 0; slice < 3; slice++) every_way(t, a, slice, level, 64 >> level);
        mtl_release(t), mtl_release(a);
    }
}

TEST(textures_are_copied) {
    MTLTexture *t = make(MTLPixelFormatPVRTC_RGBA_2BPP, 32, 2, 6);
    MTLTexture *a = make(MTLPixelFormatPVRTC_RGBA_2BPP, 32, 2, 6);
    uint8_t in[256], out[256];
    for (uint32_t i = 0, seed = 9; i < 256; i++) in[i] = (uint8_t)noise(&seed);
    mtl_texture_replace_region_slice(t, mtl_region_make_2d(0, 0, 32, 32), 0, 1, in, 0, 0);
    mtl_texture_replace_region_slice(t, mtl_region_make_2d(0, 0, 1, 1), 5, 1, in + 7, 0, 0);
    begin();
    mtl_blit_command_encoder_copy_from_texture_to_texture(blit, t, a);
    mtl_blit_command_encoder_copy_from_texture(blit, t, 1, 5, mtl_origin_make(0, 0, 0),
                                               mtl_size_make(1, 1, 1), a, 0, 5,
                                               mtl_origin_make(0, 0, 0));
    run();
    mtl_texture_get_bytes_slice(a, out, 0, 0, mtl_region_make_2d(0, 0, 32, 32), 0, 1);
    assert_memory_equal(out, in, 256);
    for (size_t slice = 0; slice < 2; slice++) {
        mtl_texture_get_bytes_slice(a, out, 0, 0, mtl_region_make_2d(0, 0, 1, 1), 5, slice);
        assert_memory_equal(out, in + 7, 32);
    }
    assert_int_equal(n_messages, 0);
    mtl_release(t), mtl_release(a);
}

TEST(rules) {
    MTLTexture *t = make(MTLPixelFormatPVRTC_RGBA_4BPP, 16, 1, 1);
    MTLBuffer *b = mtl_device_new_buffer(device, 1024, 0);
    uint8_t bytes[256] = {0};
    clear_messages();
    mtl_texture_replace_region(t, mtl_region_make_2d(0, 0, 8, 16), 0, bytes, 0);
    assert_broke("texture_block");
    clear_messages();
    mtl_texture_replace_region(t, mtl_region_make_2d(0, 0, 16, 16), 0, bytes, 40);
    assert_broke("texture_bytes_per_row");
    begin();
    copy_in(t, 0, 0, 16, b, 64, MTLBlitOptionNone);
    broke("texture_bytes_per_row");
    begin();
    copy_in(t, 0, 0, 16, b, 0, MTLBlitOptionRowLinearPVRTC); // rows need a distance
    broke("texture_bytes_per_row");
    begin();
    copy_out(t, 0, 0, 8, b, 16, MTLBlitOptionRowLinearPVRTC);
    broke("texture_block");
    begin();
    copy_out(t, 0, 0, 16, b, 0, MTLBlitOptionDepthFromDepthStencil);
    broke("blit_options");
    MTLTexture *narrow = make(MTLPixelFormatPVRTC_RGBA_4BPP, 1, 1, 1); // 32 bytes for its texel
    MTLBuffer *few = mtl_device_new_buffer(device, 31, 0);
    begin();
    copy_in(narrow, 0, 0, 1, few, 0, MTLBlitOptionNone);
    broke("blit_buffer_range");
    mtl_release(t), mtl_release(b), mtl_release(narrow), mtl_release(few);
}

// A is opaque red, B opaque blue. Block 1 in Z order, which is below the first, is all B.
TEST(kernels_see_texels) {
    NEEDS_RESULTS();
    static const char source[] = HEAD
        "kernel void see(texture2d_array<float> t [[texture(0)]], device float4 *x [[buffer(0)]],"
        " uint i [[thread_position_in_grid]]) {"
        " constexpr sampler s(filter::linear);"
        " x[i] = i < 64 ? t.read(uint2(i % 8, i / 8), 0) : t.sample(s, float2(0.25, 0.5), 0); }\n";
    const uint32_t red_blue = 0x801ffc00;
    const uint32_t blocks[8] = {0, red_blue, UINT32_MAX, red_blue, 0, red_blue, 0, red_blue};
    MTLTexture *t = make(MTLPixelFormatPVRTC_RGBA_4BPP, 8, 1, 1);
    mtl_texture_replace_region(t, mtl_region_make_2d(0, 0, 8, 8), 0, blocks, 0);
    MTLComputePipelineState *p = pipeline_from(source, "see");
    MTLBuffer *x = mtl_device_new_buffer(device, sizeof(float[4]) * 65, 0);
    MTLCommandBuffer *c = mtl_command_queue_command_buffer(queue);
    MTLComputeCommandEncoder *e = mtl_command_buffer_compute_command_encoder(c);
    mtl_compute_command_encoder_set_compute_pipeline_state(e, p);
    mtl_compute_command_encoder_set_buffer(e, x, 0, 0);
    mtl_compute_command_encoder_set_texture(e, t, 0);
    mtl_compute_command_encoder_dispatch_threads(e, mtl_size_make(65, 1, 1),
                                                 mtl_size_make(32, 1, 1));
    mtl_compute_command_encoder_end_encoding(e);
    run_to_end(c);
    const float (*got)[4] = mtl_buffer_contents(x);
    for (int i = 0; i < 64; i++) {
        bool blue = i / 8 >= 4 && i % 8 < 4;
        const float want[4] = {!blue, 0, blue, 1};
        for (int k = 0; k < 4; k++) assert_true(got[i][k] == want[k]);
    }
    // Between rows 3 and 4, in the middle of the left half.
    assert_true(got[64][0] == 0.5f && got[64][2] == 0.5f && got[64][3] == 1);
    mtl_release(t), mtl_release(x), mtl_release(p);
}

int main(void) { return unit_run(set_up, tear_down); }
