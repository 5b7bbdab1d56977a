// SPDX-License-Identifier: Apache-2.0
// test_blit.c: the blit encoder: copies of buffers and textures in every form, fills, order with
// kernels, and every rule: a broken one ends the command buffer in error and nothing is copied.
#include "blit_test.h"

static MTLTexture *make(MTLTextureType type, MTLPixelFormat format, size_t w, size_t h,
                        size_t depth, size_t length, size_t levels) {
    MTLTextureDescriptor d = texture_shape(type, format, w, h, depth, length, levels);
    if (type == MTLTextureType2DMultisample) d.sample_count = 4;
    MTLTexture *t = mtl_device_new_texture(device, &d);
    assert_non_null(t);
    mtl_texture_set_label(t, "a texture");
    return t;
}

static MTLBuffer *buffer_of(size_t n, uint32_t seed) {
    MTLBuffer *b = mtl_device_new_buffer(device, n, 0);
    uint8_t *bytes = mtl_buffer_contents(b);
    for (size_t i = 0; i < n; i++) bytes[i] = (uint8_t)noise(&seed);
    mtl_buffer_set_label(b, "a buffer");
    return b;
}

static void fill_texture(MTLTexture *t, size_t slices, size_t texel, uint32_t seed) {
    for (size_t level = 0; level < mtl_texture_mipmap_level_count(t); level++)
        for (size_t slice = 0; slice < slices; slice++) {
            size_t w = mtl_texture_width(t) >> level, h = mtl_texture_height(t) >> level;
            size_t z = mtl_texture_depth(t) >> level;
            w = w ? w : 1, h = h ? h : 1, z = z ? z : 1;
            uint8_t *bytes = malloc(w * h * z * texel);
            for (size_t i = 0; i < w * h * z * texel; i++) bytes[i] = (uint8_t)noise(&seed);
            mtl_texture_replace_region_slice(t, mtl_region_make_3d(0, 0, 0, w, h, z), level, slice,
                                             bytes, w * texel, w * h * texel);
            free(bytes);
        }
}

// One texel as a number.
static uint64_t texel_at(MTLTexture *t, size_t level, size_t slice, size_t x, size_t y, size_t z,
                         size_t texel) {
    uint64_t value = 0;
    mtl_texture_get_bytes_slice(t, &value, texel, texel, mtl_region_make_3d(x, y, z, 1, 1, 1),
                                level, slice);
    return value;
}

// ---- Buffers ----

TEST(test_encoder) {
    begin();
    assert_string_equal(mtl_class_name(blit), "MTLBlitCommandEncoder");
    assert_ptr_equal(mtl_blit_command_encoder_device(blit), device);
    assert_ptr_equal(mtl_blit_command_encoder_command_buffer(blit), commands);
    mtl_blit_command_encoder_set_label(blit, "copies");
    assert_string_equal(mtl_blit_command_encoder_label(blit), "copies");
    mtl_blit_command_encoder_push_debug_group(blit, "a");
    mtl_blit_command_encoder_insert_debug_signpost(blit, "b");
    mtl_blit_command_encoder_pop_debug_group(blit);
    run(); // nothing in it is fine
    commands = mtl_command_queue_command_buffer(queue);
    blit = mtl_command_buffer_blit_command_encoder_with_descriptor(commands, NULL);
    assert_non_null(blit);
    clear_messages();
    assert_null(mtl_command_buffer_blit_command_encoder(commands));
    broke("command_buffer_open_encoder");
    begin();
    mtl_blit_command_encoder_end_encoding(blit);
    MTLBuffer *b = buffer_of(64, 1);
    mtl_blit_command_encoder_fill_buffer(blit, b, mtl_range_make(0, 64), 1);
    assert_string_equal(last_rule, "encoder_ended");
    mtl_release(commands);
    clear_messages();
    mtl_blit_command_encoder_fill_buffer(NULL, b, mtl_range_make(0, 64), 1);
    assert_string_equal(last_rule, "null_object");
    assert_null(mtl_command_buffer_blit_command_encoder(NULL));
    assert_null(mtl_blit_command_encoder_device(NULL));
    mtl_release(b);
}

TEST(test_buffers) {
    MTLBuffer *a = buffer_of(1000, 1), *b = buffer_of(2000, 2);
    uint8_t want[2000];
    memcpy(want, mtl_buffer_contents(b), 2000);
    memcpy(want + 37, (uint8_t *)mtl_buffer_contents(a) + 11, 500);
    memset(want + 900, 0x42, 100);
    memcpy(want + 1900, want + 30, 100); // inside one buffer, apart
    begin();
    mtl_blit_command_encoder_copy_from_buffer(blit, a, 11, b, 37, 500);
    mtl_blit_command_encoder_fill_buffer(blit, b, mtl_range_make(900, 100), 0x42);
    mtl_blit_command_encoder_copy_from_buffer(blit, b, 30, b, 1900, 100);
    mtl_blit_command_encoder_copy_from_buffer(blit, a, 1000, b, 2000, 0); // nothing, at the end
    mtl_release(a); // the command buffer keeps it
    run();
    assert_memory_equal(mtl_buffer_contents(b), want, 2000);
    assert_int_equal(n_messages, 0);
    mtl_release(b);
}

TEST(test_buffer_rules) {
    MTLBuffer *a = buffer_of(100, 1), *b = buffer_of(200, 2);
    uint8_t before[200];
    memcpy(before, mtl_buffer_contents(b), 200);
    MTLTexture *t = make(MTLTextureType2D, MTLPixelFormatR8Unorm, 4, 4, 1, 1, 1);
#define BAD(rule, call)                                                                            \
    do {                                                                                           \
        begin();                                                                                   \
        mtl_blit_command_encoder_fill_buffer(blit, b, mtl_range_make(0, 200), 0);                  \
        call;                                                                                      \
        broke(rule);                                                                               \
        assert_memory_equal(mtl_buffer_contents(b), before, 200);                                  \
    } while (0)
    BAD("null_argument", mtl_blit_command_encoder_copy_from_buffer(blit, NULL, 0, b, 0, 1));
    BAD("null_argument", mtl_blit_command_encoder_copy_from_buffer(blit, a, 0, NULL, 0, 1));
    BAD("wrong_class",
        mtl_blit_command_encoder_copy_from_buffer(blit, (MTLBuffer *)(void *)t, 0, b, 0, 1));
    BAD("texture_unsupported", mtl_blit_command_encoder_reset_texture_access_counters(
                                   blit, t, mtl_region_make_2d(0, 0, 4, 4), 0, 0));
    BAD("texture_unsupported", mtl_blit_command_encoder_get_texture_access_counters(
                                   blit, t, mtl_region_make_2d(0, 0, 4, 4), 0, 0, false, b, 0));
#undef BAD
    assert_non_null(strstr(last_text, "sparse"));
    mtl_release(t);
    mtl_release(a);
    mtl_release(b);
}

// Memory the program maps itself, with forbidden pages on both sides: nothing beside is touched.
TEST(test_guarded) {
    size_t page = (size_t)sysconf(_SC_PAGESIZE);
    Guarded g = guarded(4 * page, true);
    MTLBuffer *b = mtl_device_new_buffer_with_bytes_no_copy(device, g.bytes, g.n, 0, NULL, NULL);
    MTLTexture *t = make(MTLTextureType2D, MTLPixelFormatRGBA8Unorm, 50, 31, 1, 1, 1);
    fill_texture(t, 1, 4, 5);
    size_t n = 30 * 204 + 200, at = g.n - n; // the last row ends at the page
    begin();
    mtl_blit_command_encoder_copy_from_texture_to_buffer(
        blit, t, 0, 0, mtl_origin_make(0, 0, 0), mtl_size_make(50, 31, 1), b, at, 204, 0, 0);
    mtl_blit_command_encoder_fill_buffer(blit, b, mtl_range_make(0, 16), 9);
    run();
    for (size_t y = 0; y < 31; y++)
        for (size_t x = 0; x < 50; x++) {
            uint32_t value;
            memcpy(&value, g.bytes + at + y * 204 + x * 4, 4);
            assert_int_equal(value, texel_at(t, 0, 0, x, y, 0, 4));
        }
    assert_int_equal(g.bytes[at + 200], 0xa5); // between rows
    begin();
    mtl_blit_command_encoder_copy_from_buffer_to_texture(
        blit, b, at, 204, 0, mtl_size_make(50, 31, 1), t, 0, 0, mtl_origin_make(0, 0, 0), 0);
    run();
    mtl_release(b);
    mtl_release(t);
    unguard(&g);
}

// ---- Buffers and textures ----

TEST(test_buffer_to_texture) {
    const struct {
        MTLTextureType type;
        MTLPixelFormat format;
        size_t w, h, d, length, levels, slice, level, texel;
    } cases[] = {
        {MTLTextureType2D, MTLPixelFormatRGBA8Unorm, 32, 24, 1, 1, 1, 0, 0, 4},
        {MTLTextureType2DArray, MTLPixelFormatR16Float, 33, 20, 1, 5, 3, 3, 2, 2},
        {MTLTextureTypeCube, MTLPixelFormatRG32Uint, 16, 16, 1, 1, 2, 5, 1, 8},
        {MTLTextureType3D, MTLPixelFormatR8Unorm, 20, 16, 12, 1, 2, 0, 1, 1},
        {MTLTextureType1D, MTLPixelFormatRGBA32Float, 40, 1, 1, 1, 1, 0, 0, 16},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        MTLTexture *t = make(cases[i].type, cases[i].format, cases[i].w, cases[i].h, cases[i].d,
                             cases[i].length, cases[i].levels);
        size_t w = cases[i].w >> cases[i].level, h = cases[i].h >> cases[i].level;
        size_t d = cases[i].d >> cases[i].level;
        h = h ? h : 1, d = d ? d : 1;
        // The region leaves a border of one where it can.
        MTLOrigin o = {1, h > 1, d > 1};
        MTLSize s = {w - 2, h > 1 ? h - 2 : 1, d > 1 ? d - 2 : 1};
        size_t texel = cases[i].texel, row = (s.width + 3) * texel, image = row * (s.height + 1);
        MTLBuffer *from = buffer_of(texel * 2 + image * s.depth, (uint32_t)i + 1);
        MTLBuffer *to = buffer_of(texel * 3 + image * s.depth, 77);
        begin();
        mtl_blit_command_encoder_copy_from_buffer_to_texture(
            blit, from, texel * 2, row, image, s, t, cases[i].slice, cases[i].level, o, 0);
        mtl_blit_command_encoder_copy_from_texture_to_buffer(
            blit, t, cases[i].slice, cases[i].level, o, s, to, texel * 3, row, image, 0);
        run();
        const uint8_t *a = mtl_buffer_contents(from), *b = mtl_buffer_contents(to);
        for (size_t z = 0; z < s.depth; z++)
            for (size_t y = 0; y < s.height; y++) {
                size_t at = z * image + y * row;
                assert_memory_equal(a + 2 * texel + at, b + 3 * texel + at, s.width * texel);
                uint64_t first = 0;
                memcpy(&first, a + 2 * texel + at, texel < 8 ? texel : 8);
                if (texel <= 8)
                    assert_int_equal(first, texel_at(t, cases[i].level, cases[i].slice, o.x,
                                                     o.y + y, o.z + z, texel));
            }
        if (texel <= 8) // the border is untouched
            assert_int_equal(texel_at(t, cases[i].level, cases[i].slice, 0, 0, 0, texel), 0);
        mtl_release(from);
        mtl_release(to);
        mtl_release(t);
    }
}

TEST(test_compressed) {
    MTLTexture *t = make(MTLTextureType2D, MTLPixelFormatBC3_RGBA, 22, 18, 1, 1, 2);
    MTLBuffer *from = buffer_of(6 * 16 * 5, 3), *to = buffer_of(6 * 16 * 5, 4);
    begin();
    mtl_blit_command_encoder_copy_from_buffer_to_texture(
        blit, from, 0, 96, 0, mtl_size_make(22, 18, 1), t, 0, 0, mtl_origin_make(0, 0, 0), 0);
    mtl_blit_command_encoder_copy_from_texture_to_buffer(blit, t, 0, 0, mtl_origin_make(4, 8, 0),
                                                         mtl_size_make(8, 10, 1), to, 32, 48, 0, 0);
    run();
    const uint8_t *a = mtl_buffer_contents(from), *b = mtl_buffer_contents(to);
    for (size_t y = 0; y < 3; y++) assert_memory_equal(b + 32 + 48 * y, a + 96 * (2 + y) + 16, 32);
    begin();
    mtl_blit_command_encoder_copy_from_buffer_to_texture(
        blit, from, 0, 96, 0, mtl_size_make(6, 4, 1), t, 0, 0, mtl_origin_make(0, 0, 0), 0);
    broke("texture_block");
    begin();
    mtl_blit_command_encoder_copy_from_buffer_to_texture(
        blit, from, 8, 96, 0, mtl_size_make(8, 4, 1), t, 0, 0, mtl_origin_make(0, 0, 0), 0);
    broke("blit_offset_alignment");
    mtl_release(from);
    mtl_release(to);
    mtl_release(t);
}

// Depth and stencil of one texture are copied one at a time and leave the other alone.
TEST(test_depth_stencil) {
    const MTLPixelFormat formats[] = {MTLPixelFormatDepth32Float_Stencil8,
                                      MTLPixelFormatDepth24Unorm_Stencil8};
    for (int k = 0; k < 2; k++) {
        MTLTexture *t = make(MTLTextureType2D, formats[k], 5, 3, 1, 1, 1);
        MTLBuffer *depth = buffer_of(60, 5), *stencil = buffer_of(15, 6);
        MTLBuffer *depth2 = buffer_of(60, 7), *stencil2 = buffer_of(15, 8);
        begin();
        mtl_blit_command_encoder_copy_from_buffer_to_texture(
            blit, depth, 0, 20, 0, mtl_size_make(5, 3, 1), t, 0, 0, mtl_origin_make(0, 0, 0),
            MTLBlitOptionDepthFromDepthStencil);
        mtl_blit_command_encoder_copy_from_buffer_to_texture(
            blit, stencil, 0, 5, 0, mtl_size_make(5, 3, 1), t, 0, 0, mtl_origin_make(0, 0, 0),
            MTLBlitOptionStencilFromDepthStencil);
        mtl_blit_command_encoder_copy_from_texture_to_buffer(
            blit, t, 0, 0, mtl_origin_make(0, 0, 0), mtl_size_make(5, 3, 1), depth2, 0, 20, 0,
            MTLBlitOptionDepthFromDepthStencil);
        mtl_blit_command_encoder_copy_from_texture_to_buffer(
            blit, t, 0, 0, mtl_origin_make(0, 0, 0), mtl_size_make(5, 3, 1), stencil2, 0, 5, 0,
            MTLBlitOptionStencilFromDepthStencil);
        run();
        assert_memory_equal(mtl_buffer_contents(stencil), mtl_buffer_contents(stencil2), 15);
        const uint32_t *a = mtl_buffer_contents(depth), *b = mtl_buffer_contents(depth2);
        for (int i = 0; i < 15; i++) assert_int_equal(k ? a[i] & 0xffffff : a[i], b[i]);
        begin();
        mtl_blit_command_encoder_copy_from_buffer_to_texture(
            blit, depth, 0, 20, 0, mtl_size_make(5, 3, 1), t, 0, 0, mtl_origin_make(0, 0, 0), 0);
        broke("blit_options");
        mtl_release(depth), mtl_release(stencil), mtl_release(depth2), mtl_release(stencil2);
        mtl_release(t);
    }
    MTLTexture *t = make(MTLTextureType2D, MTLPixelFormatRGBA8Unorm, 5, 3, 1, 1, 1);
    MTLBuffer *b = buffer_of(60, 5);
    const MTLBlitOption options[] = {MTLBlitOptionDepthFromDepthStencil,
                                     MTLBlitOptionStencilFromDepthStencil,
                                     MTLBlitOptionRowLinearPVRTC, 3, 8};
    for (int i = 0; i < 5; i++) {
        begin();
        mtl_blit_command_encoder_copy_from_buffer_to_texture(blit, b, 0, 20, 0,
                                                             mtl_size_make(5, 3, 1), t, 0, 0,
                                                             mtl_origin_make(0, 0, 0), options[i]);
        broke("blit_options");
    }
    mtl_release(b);
    mtl_release(t);
}

TEST(test_image_rules) {
    MTLTexture *t = make(MTLTextureType2DArray, MTLPixelFormatRGBA8Unorm, 16, 16, 1, 3, 2);
    MTLTexture *ms = make(MTLTextureType2DMultisample, MTLPixelFormatRGBA8Unorm, 16, 16, 1, 1, 1);
    MTLBuffer *b = buffer_of(1024, 1);
    uint8_t before[1024];
    memcpy(before, mtl_buffer_contents(b), 1024);
#define BAD(rule, buffer, offset, row, image, size, texture, slice, level, origin)                 \
    do {                                                                                           \
        begin();                                                                                   \
        mtl_blit_command_encoder_copy_from_buffer_to_texture(                                      \
            blit, buffer, offset, row, image, size, texture, slice, level, origin, 0);             \
        broke(rule);                                                                               \
        begin();                                                                                   \
        mtl_blit_command_encoder_copy_from_texture_to_buffer(blit, texture, slice, level, origin,  \
                                                             size, buffer, offset, row, image, 0); \
        broke(rule);                                                                               \
        assert_memory_equal(mtl_buffer_contents(b), before, 1024);                                 \
    } while (0)
    const MTLSize all = {16, 16, 1};
    const MTLOrigin zero = {0, 0, 0}, one = {1, 0, 0};
    BAD("blit_buffer_range", b, 4, 64, 0, all, t, 0, 0, zero);
    BAD("blit_buffer_range", b, 0, 68, 0, all, t, 0, 0, zero);
    BAD("blit_buffer_range", b, SIZE_MAX - 3, 64, 0, all, t, 0, 0, zero);
    BAD("blit_offset_alignment", b, 2, 64, 0, mtl_size_make(16, 15, 1), t, 0, 0, zero);
    BAD("texture_bytes_per_row", b, 0, 60, 0, all, t, 0, 0, zero);
    BAD("texture_bytes_per_row", b, 0, 65, 0, all, t, 0, 0, zero);
    BAD("texture_bytes_per_row", b, 0, 0, 0, all, t, 0, 0, zero);
    BAD("texture_region", b, 0, 64, 0, all, t, 0, 0, one);
    BAD("texture_region", b, 0, 64, 0, all, t, 0, 1, zero);
    BAD("texture_region", b, 0, 64, 0, mtl_size_make(0, 1, 1), t, 0, 0, zero);
    BAD("texture_level", b, 0, 64, 0, all, t, 0, 2, zero);
    BAD("texture_slice", b, 0, 64, 0, all, t, 3, 0, zero);
    BAD("blit_samples", b, 0, 64, 0, all, ms, 0, 0, zero);
    BAD("null_argument", NULL, 0, 64, 0, all, t, 0, 0, zero);
    BAD("null_argument", b, 0, 64, 0, all, NULL, 0, 0, zero);
    BAD("wrong_class", b, 0, 64, 0, all, (MTLTexture *)(void *)b, 0, 0, zero);
#undef BAD
    MTLTextureDescriptor d = mtl_texture_descriptor_2d(MTLPixelFormatRGBA8Unorm, 16, 16, false);
    d.storage_mode = MTLStorageModeMemoryless;
    d.usage = MTLTextureUsageRenderTarget;
    MTLTexture *none = mtl_device_new_texture(device, &d);
    begin();
    mtl_blit_command_encoder_copy_from_texture_to_texture(blit, none, t);
    broke("blit_memoryless");
    mtl_release(none);
    mtl_release(b);
    mtl_release(ms);
    mtl_release(t);
}

// ---- Textures ----

TEST(test_texture_to_texture) {
    MTLTexture *a = make(MTLTextureType2DArray, MTLPixelFormatR32Uint, 16, 12, 1, 4, 3);
    MTLTexture *v = make(MTLTextureType3D, MTLPixelFormatR32Uint, 20, 20, 6, 1, 1);
    fill_texture(a, 4, 4, 9);
    begin();
    mtl_blit_command_encoder_copy_from_texture(blit, a, 2, 1, mtl_origin_make(1, 2, 0),
                                               mtl_size_make(5, 3, 1), v, 0, 0,
                                               mtl_origin_make(7, 8, 4));
    // Inside one texture: another slice, and apart in the same one.
    mtl_blit_command_encoder_copy_from_texture(blit, a, 0, 0, mtl_origin_make(0, 0, 0),
                                               mtl_size_make(16, 12, 1), a, 1, 0,
                                               mtl_origin_make(0, 0, 0));
    mtl_blit_command_encoder_copy_from_texture(blit, a, 3, 0, mtl_origin_make(0, 0, 0),
                                               mtl_size_make(4, 4, 1), a, 3, 0,
                                               mtl_origin_make(4, 0, 0));
    run();
    for (size_t y = 0; y < 3; y++)
        for (size_t x = 0; x < 5; x++)
            assert_int_equal(texel_at(v, 0, 0, 7 + x, 8 + y, 4, 4),
                             texel_at(a, 1, 2, 1 + x, 2 + y, 0, 4));
    assert_int_equal(texel_at(v, 0, 0, 6, 8, 4, 4), 0);
    assert_int_equal(texel_at(v, 0, 0, 12, 8, 4, 4), 0);
    assert_int_equal(texel_at(v, 0, 0, 7, 8, 3, 4), 0);
    assert_int_equal(texel_at(v, 0, 0, 7, 8, 5, 4), 0);
    for (size_t i = 0; i < 12; i++)
        assert_int_equal(texel_at(a, 0, 1, i, i, 0, 4), texel_at(a, 0, 0, i, i, 0, 4));
    assert_int_equal(texel_at(a, 0, 3, 7, 3, 0, 4), texel_at(a, 0, 3, 3, 3, 0, 4));
    mtl_release(v);
    mtl_release(a);
}

TEST(test_slices_and_levels) {
    MTLTexture *a = make(MTLTextureType2DArray, MTLPixelFormatR16Uint, 16, 16, 1, 8, 5);
    MTLTexture *b = make(MTLTextureType2DArray, MTLPixelFormatR16Uint, 8, 8, 1, 6, 4);
    fill_texture(a, 8, 2, 4);
    begin(); // levels 1 and 2 of slices 3, 4, 5 to levels 0 and 1 of slices 1, 2, 3
    mtl_blit_command_encoder_copy_from_texture_slices(blit, a, 3, 1, b, 1, 0, 3, 2);
    run();
    for (size_t level = 0; level < 4; level++)
        for (size_t slice = 0; slice < 6; slice++)
            for (size_t i = 0; i < (8u >> level); i++) {
                bool copied = level < 2 && slice >= 1 && slice <= 3;
                assert_int_equal(texel_at(b, level, slice, i, i, 0, 2),
                                 copied ? texel_at(a, level + 1, slice + 2, i, i, 0, 2) : 0);
            }
#define BAD(rule, sslice, slevel, dslice, dlevel, slices, levels)                                  \
    do {                                                                                           \
        begin();                                                                                   \
        mtl_blit_command_encoder_copy_from_texture_slices(blit, a, sslice, slevel, b, dslice,      \
                                                          dlevel, slices, levels);                 \
        broke(rule);                                                                               \
    } while (0)
    BAD("blit_sizes", 0, 0, 0, 0, 1, 1);
    BAD("texture_level", 0, 1, 0, 0, 1, 5);
    BAD("texture_level", 0, 5, 0, 0, 1, 1);
    BAD("texture_level", 0, 1, 0, 0, 1, 0);
    BAD("texture_slice", 0, 1, 0, 0, 7, 1);
    BAD("texture_slice", 8, 1, 0, 0, 1, 1);
    BAD("texture_slice", 0, 1, 0, 0, 0, 1);
    BAD("texture_slice", 0, 1, 0, 0, SIZE_MAX, 1);
#undef BAD
    begin();
    mtl_blit_command_encoder_copy_from_texture_slices(blit, a, 0, 0, a, 1, 0, 3, 1);
    broke("blit_overlap");
    mtl_release(a);
    mtl_release(b);
}

TEST(test_whole) {
    // The larger one's first levels are skipped, in either direction.
    MTLTexture *large = make(MTLTextureTypeCube, MTLPixelFormatR32Uint, 16, 16, 1, 1, 5);
    MTLTexture *small = make(MTLTextureTypeCube, MTLPixelFormatR32Uint, 8, 8, 1, 1, 3);
    fill_texture(large, 6, 4, 3);
    begin();
    mtl_blit_command_encoder_copy_from_texture_to_texture(blit, large, small);
    run();
    for (size_t level = 0; level < 3; level++)
        for (size_t face = 0; face < 6; face++)
            for (size_t i = 0; i < (8u >> level); i++)
                assert_int_equal(texel_at(small, level, face, i, 0, 0, 4),
                                 texel_at(large, level + 1, face, i, 0, 0, 4));
    fill_texture(small, 6, 4, 99);
    begin();
    mtl_blit_command_encoder_copy_from_texture_to_texture(blit, small, large);
    run();
    assert_int_equal(texel_at(large, 3, 5, 1, 1, 0, 4), texel_at(small, 2, 5, 1, 1, 0, 4));
    mtl_release(small);
    // Samples travel too: through a copy and back.
    MTLTexture *ms = make(MTLTextureType2DMultisample, MTLPixelFormatR32Uint, 9, 7, 1, 1, 1);
    MTLTexture *ms2 = make(MTLTextureType2DMultisample, MTLPixelFormatR32Uint, 9, 7, 1, 1, 1);
    begin();
    mtl_blit_command_encoder_copy_from_texture_to_texture(blit, ms, ms2);
    mtl_blit_command_encoder_copy_from_texture(blit, ms, 0, 0, mtl_origin_make(1, 1, 0),
                                               mtl_size_make(2, 2, 1), ms2, 0, 0,
                                               mtl_origin_make(5, 5, 0));
    run();
    MTLTexture *other = make(MTLTextureTypeCube, MTLPixelFormatR32Sint, 16, 16, 1, 1, 5);
    MTLTexture *flat = make(MTLTextureType2D, MTLPixelFormatR32Uint, 16, 16, 1, 1, 5);
    MTLTexture *odd = make(MTLTextureTypeCube, MTLPixelFormatR32Uint, 10, 10, 1, 1, 1);
    begin();
    mtl_blit_command_encoder_copy_from_texture_to_texture(blit, large, other);
    broke("blit_formats");
    begin(); // one slice of the six is what both have
    mtl_blit_command_encoder_copy_from_texture_to_texture(blit, large, flat);
    run();
    assert_int_equal(texel_at(flat, 2, 0, 3, 2, 0, 4), texel_at(large, 2, 0, 3, 2, 0, 4));
    MTLTexture *tall = make(MTLTextureType2D, MTLPixelFormatR32Uint, 1, 16, 1, 1, 5);
    MTLTexture *short_one = make(MTLTextureType2D, MTLPixelFormatR32Uint, 1, 4, 1, 1, 3);
    fill_texture(tall, 1, 4, 8);
    begin();
    mtl_blit_command_encoder_copy_from_texture_to_texture(blit, tall, short_one);
    run();
    assert_int_equal(texel_at(short_one, 0, 0, 0, 3, 0, 4), texel_at(tall, 2, 0, 0, 3, 0, 4));
    mtl_release(tall);
    mtl_release(short_one);
    begin();
    mtl_blit_command_encoder_copy_from_texture_to_texture(blit, large, odd);
    broke("blit_sizes");
    begin();
    mtl_blit_command_encoder_copy_from_texture_to_texture(blit, flat, ms);
    broke("blit_samples");
    begin();
    mtl_blit_command_encoder_copy_from_texture_to_texture(blit, flat, flat);
    broke("blit_overlap");
    begin();
    mtl_blit_command_encoder_copy_from_texture(blit, flat, 0, 0, mtl_origin_make(0, 0, 0),
                                               mtl_size_make(4, 4, 1), flat, 0, 0,
                                               mtl_origin_make(3, 3, 0));
    broke("blit_overlap");
    begin();
    mtl_blit_command_encoder_copy_from_texture(blit, flat, 0, 0, mtl_origin_make(0, 0, 0),
                                               mtl_size_make(4, 4, 1), large, 6, 0,
                                               mtl_origin_make(0, 0, 0));
    broke("texture_slice");
    begin();
    mtl_blit_command_encoder_copy_from_texture(blit, NULL, 0, 0, mtl_origin_make(0, 0, 0),
                                               mtl_size_make(4, 4, 1), large, 6, 0,
                                               mtl_origin_make(0, 0, 0));
    broke("null_argument");
    MTLTexture *all[] = {large, ms, ms2, other, flat, odd};
    for (int i = 0; i < 6; i++) mtl_release(all[i]);
}

// ---- Order ----

// Kernel, copy, kernel: each sees what the one before it did.
TEST(test_order) {
    NEEDS_RESULTS();
    MTLComputePipelineState *p = pipeline_from(ADD_ONE, "add_one");
    MTLBuffer *a = mtl_device_new_buffer(device, 4096, 0),
              *b = mtl_device_new_buffer(device, 4096, 0);
    clear_messages();
    commands = mtl_command_queue_command_buffer(queue);
    for (int i = 0; i < 10; i++) {
        MTLBuffer *from = i % 2 ? b : a, *to = i % 2 ? a : b;
        MTLComputeCommandEncoder *e = mtl_command_buffer_compute_command_encoder(commands);
        mtl_compute_command_encoder_set_compute_pipeline_state(e, p);
        mtl_compute_command_encoder_set_buffer(e, from, 0, 0);
        mtl_compute_command_encoder_dispatch_threads(e, mtl_size_make(1024, 1, 1),
                                                     mtl_size_make(64, 1, 1));
        mtl_compute_command_encoder_end_encoding(e);
        blit = mtl_command_buffer_blit_command_encoder(commands);
        mtl_blit_command_encoder_copy_from_buffer(blit, from, 0, to, 0, 4096);
        mtl_blit_command_encoder_end_encoding(blit);
    }
    run_to_end(commands);
    const uint32_t *values = mtl_buffer_contents(a);
    for (int i = 0; i < 1024; i++) assert_int_equal(values[i], 10);
    mtl_release(a);
    mtl_release(b);
    mtl_release(p);
}

TEST(test_tensors) {
    MTLBuffer *from = mtl_device_new_buffer(device, 256, 0),
              *to = mtl_device_new_buffer(device, 256, 0);
    for (int i = 0; i < 64; i++) ((float *)mtl_buffer_contents(from))[i] = (float)i;
    MTLTensorDescriptor d = mtl_tensor_descriptor_make_default();
    d.dimensions = mtl_tensor_extents_make(2, (ptrdiff_t[]){8, 8});
    d.strides = mtl_tensor_extents_make(2, (ptrdiff_t[]){1, 8});
    MTLTensor *a = mtl_buffer_new_tensor(from, &d, 0, NULL),
              *b = mtl_buffer_new_tensor(to, &d, 0, NULL);
    assert_non_null(a);
    assert_non_null(b);
    const MTLTensorExtents at = {2, {1, 2}}, there = {2, {4, 5}}, size = {2, {3, 2}},
                           other = {2, {2, 2}};
    begin();
    mtl_blit_command_encoder_barrier_after_queue_stages(blit, MTLStageDispatch, MTLStageBlit);
    mtl_blit_command_encoder_copy_from_tensor(blit, a, &at, &size, b, &there, &size);
    run();
    for (int y = 0; y < 8; y++)
        for (int x = 0; x < 8; x++) {
            bool inside = x >= 4 && x < 7 && y >= 5 && y < 7;
            float want = inside ? (float)((y - 3) * 8 + x - 3) : 0;
            assert_true(((float *)mtl_buffer_contents(to))[y * 8 + x] == want);
        }
    begin();
    mtl_blit_command_encoder_copy_from_tensor(blit, a, &at, &size, b, &there, &other);
    broke("metal4_tensor_copy");
    begin();
    mtl_blit_command_encoder_copy_from_tensor(blit, a, &at, &size, NULL, &there, &size);
    broke("null_argument");
    begin();
    clear_messages();
    mtl_blit_command_encoder_barrier_after_queue_stages(blit, 0, MTLStageBlit);
    assert_string_equal(last_rule, "barrier_stages");
    run();
    mtl_release(a), mtl_release(b), mtl_release(from), mtl_release(to);
}

TEST(test_hints) {
    MTLTextureDescriptor d =
        texture_shape(MTLTextureType2DArray, MTLPixelFormatBC1_RGBA, 16, 16, 1, 3, 5);
    d.resource_options = MTLResourceStorageModeManaged;
    MTLTexture *t = mtl_device_new_texture(device, &d);
    MTLBuffer *b = mtl_device_new_buffer(device, 64, MTLResourceStorageModeManaged);
    begin();
    mtl_blit_command_encoder_synchronize_resource(blit, (MTLResource *)b);
    mtl_blit_command_encoder_synchronize_resource(blit, (MTLResource *)t);
    mtl_blit_command_encoder_synchronize_texture(blit, t, 2, 4);
    mtl_blit_command_encoder_optimize_contents_for_gpu_access(blit, t);
    mtl_blit_command_encoder_optimize_contents_for_gpu_access_slice(blit, t, 1, 3);
    mtl_blit_command_encoder_optimize_contents_for_cpu_access(blit, t);
    mtl_blit_command_encoder_optimize_contents_for_cpu_access_slice(blit, t, 1, 4);
    run();
    assert_int_equal(n_messages, 0);
    begin();
    mtl_blit_command_encoder_synchronize_texture(blit, t, 3, 0);
    broke("texture_slice");
    begin();
    mtl_blit_command_encoder_optimize_contents_for_cpu_access_slice(blit, t, 0, 5);
    broke("texture_level");
    begin();
    mtl_blit_command_encoder_synchronize_resource(blit, NULL);
    broke("null_argument");
    begin();
    mtl_blit_command_encoder_synchronize_resource(blit, (MTLResource *)queue);
    broke("wrong_class");
    begin();
    mtl_blit_command_encoder_optimize_contents_for_gpu_access(blit, NULL);
    broke("null_argument");
    mtl_release(t);
    mtl_release(b);
}

int main(void) { return unit_run(set_up, tear_down); }
