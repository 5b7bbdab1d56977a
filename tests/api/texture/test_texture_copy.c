// SPDX-License-Identifier: Apache-2.0
// test_texture_copy.c: replace_region and get_bytes: every pixel format, any level, slice and
// region of every type, memory that ends where the last row ends, and every rule.
#include "api_test.h"
#include "guard.h"

typedef struct Format {
    const char *name;
    MTLPixelFormat format;
    size_t block_width, block_height, block_bytes;
    bool pvrtc, blocked;
} Format;
static const Format formats[] = {
#define ABI_PIXEL_FORMAT(name, value, coding, kind, w, h, n, components, view_class, caps)         \
    {#name, (MTLPixelFormat)value, w, h, n, #name[0] == 'P', w * h > 1},
#include "abi/pixel_formats.def"
};
enum { N_FORMATS = sizeof formats / sizeof *formats };

static size_t up(size_t n, size_t by) { return (n + by - 1) / by; }

// A pattern goes in through one region per row of blocks and comes out whole.
static void round_trip(const Format *f) {
    size_t w = 3 * f->block_width + 1, h = 2 * f->block_height + 1; // the last blocks are cut
    if (!f->blocked) w = 37, h = 11;
    size_t row = up(w, f->block_width) * f->block_bytes, rows = up(h, f->block_height);
    MTLTextureDescriptor d = mtl_texture_descriptor_2d(f->format, w, h, false);
    MTLTexture *t = mtl_device_new_texture(device, &d);
    if (!t) fail_msg("%s: %s", f->name, last_text);
    Guarded in = guarded(row * rows, true), out = guarded(row * rows, true);
    uint32_t seed = (uint32_t)f->format * 77 + 1;
    for (size_t i = 0; i < in.n; i++) in.bytes[i] = (uint8_t)noise(&seed);
    for (size_t y = 0; y < rows; y++) {
        size_t at = y * f->block_height;
        size_t n = at + f->block_height > h ? h - at : f->block_height;
        mtl_texture_replace_region(t, mtl_region_make_2d(0, at, w, n), 0, in.bytes + y * row, row);
    }
    mtl_texture_get_bytes(t, out.bytes, row, mtl_region_make_2d(0, 0, w, h), 0);
    if (memcmp(in.bytes, out.bytes, in.n) != 0) fail_msg("%s differs", f->name);
    // A block in the middle alone, and rows further apart than they need be.
    memset(out.bytes, 0, out.n);
    mtl_texture_get_bytes(t, out.bytes, f->block_bytes,
                          mtl_region_make_2d(f->block_width, f->block_height, f->block_width,
                                             f->block_height > h - f->block_height
                                                 ? h - f->block_height
                                                 : f->block_height),
                          0);
    assert_memory_equal(out.bytes, in.bytes + row + f->block_bytes, f->block_bytes);
    Guarded wide = guarded((row + f->block_bytes) * (rows - 1) + row, false);
    mtl_texture_get_bytes(t, wide.bytes, row + f->block_bytes, mtl_region_make_2d(0, 0, w, h), 0);
    for (size_t y = 0; y < rows; y++) {
        assert_memory_equal(wide.bytes + y * (row + f->block_bytes), in.bytes + y * row, row);
        if (y + 1 < rows) assert_int_equal(wide.bytes[y * (row + f->block_bytes) + row], 0xa5);
    }
    assert_int_equal(n_messages, 0);
    unguard(&wide);
    unguard(&in);
    unguard(&out);
    mtl_release(t);
}

static void test_every_format(void **state) {
    (void)state;
    int n = 0;
    for (size_t i = 0; i < N_FORMATS; i++) {
        clear_messages();
        bool view_only = formats[i].format == MTLPixelFormatX32_Stencil8 ||
                         formats[i].format == MTLPixelFormatX24_Stencil8;
        if (formats[i].pvrtc) continue; // whole levels only: test_pvrtc.c
        if (!view_only) {
            round_trip(&formats[i]);
            n++;
            continue;
        }
        MTLTextureDescriptor d = mtl_texture_descriptor_2d(formats[i].format, 16, 16, false);
        assert_null(mtl_device_new_texture(device, &d));
        assert_string_equal(last_rule, "texture_format");
    }
    assert_true(n >= 100);
}

// Every level and slice gets its own pattern; all of them are still there in the end.
static void levels_and_slices(MTLTextureType type, size_t w, size_t h, size_t depth, size_t length,
                              size_t slices, size_t levels, MTLPixelFormat format, size_t texel) {
    MTLTextureDescriptor d = texture_shape(type, format, w, h, depth, length, levels);
    clear_messages();
    MTLTexture *t = mtl_device_new_texture(device, &d);
    assert_non_null(t);
    for (int pass = 0; pass < 2; pass++)
        for (size_t level = 0; level < levels; level++)
            for (size_t slice = 0; slice < slices; slice++) {
                size_t lw = w >> level ? w >> level : 1, lh = h >> level ? h >> level : 1;
                size_t lz = depth >> level ? depth >> level : 1;
                size_t n = lw * lh * lz * texel;
                Guarded g = guarded(n, (level + slice) % 2);
                Guarded want = guarded(n, true);
                uint32_t seed = (uint32_t)(level * 1000 + slice + 1);
                for (size_t i = 0; i < n; i++) want.bytes[i] = (uint8_t)noise(&seed);
                MTLRegion all = mtl_region_make_3d(0, 0, 0, lw, lh, lz);
                if (pass == 0) {
                    mtl_texture_replace_region_slice(t, all, level, slice, want.bytes, lw * texel,
                                                     lw * lh * texel);
                } else {
                    mtl_texture_get_bytes_slice(t, g.bytes, lw * texel, lw * lh * texel, all, level,
                                                slice);
                    if (memcmp(g.bytes, want.bytes, n) != 0)
                        fail_msg("type %d, level %zu, slice %zu", (int)type, level, slice);
                    // The last texel alone.
                    mtl_texture_get_bytes_slice(t, g.bytes, texel, texel,
                                                mtl_region_make_3d(lw - 1, lh - 1, lz - 1, 1, 1, 1),
                                                level, slice);
                    assert_memory_equal(g.bytes, want.bytes + n - texel, texel);
                }
                unguard(&g);
                unguard(&want);
            }
    assert_int_equal(n_messages, 0);
    mtl_release(t);
}

static void test_levels_and_slices(void **state) {
    (void)state;
    levels_and_slices(MTLTextureType1D, 33, 1, 1, 1, 1, 1, MTLPixelFormatRGBA8Unorm, 4);
    levels_and_slices(MTLTextureType1DArray, 33, 1, 1, 5, 5, 1, MTLPixelFormatR16Uint, 2);
    levels_and_slices(MTLTextureType2D, 19, 33, 1, 1, 1, 6, MTLPixelFormatRGBA32Float, 16);
    levels_and_slices(MTLTextureType2DArray, 16, 9, 1, 4, 4, 5, MTLPixelFormatR8Unorm, 1);
    levels_and_slices(MTLTextureTypeCube, 13, 13, 1, 1, 6, 4, MTLPixelFormatRGBA16Float, 8);
    levels_and_slices(MTLTextureTypeCubeArray, 8, 8, 1, 3, 18, 4, MTLPixelFormatRG8Unorm, 2);
    levels_and_slices(MTLTextureType3D, 9, 6, 17, 1, 1, 5, MTLPixelFormatRGBA8Unorm, 4);
    levels_and_slices(MTLTextureTypeTextureBuffer, 1000, 1, 1, 1, 1, 1, MTLPixelFormatR32Float, 4);
    levels_and_slices(MTLTextureType2D, 8, 8, 1, 1, 1, 4, MTLPixelFormatDepth32Float_Stencil8, 8);
}

static void test_planes(void **state) {
    (void)state;
    clear_messages();
    MTLTextureDescriptor d = mtl_texture_descriptor_make_default();
    d.texture_type = MTLTextureType3D;
    d.pixel_format = MTLPixelFormatR8Uint;
    d.width = 4, d.height = 3, d.depth = 5;
    MTLTexture *t = mtl_device_new_texture(device, &d);
    uint8_t bytes[64];
    for (int i = 0; i < 60; i++) bytes[i] = (uint8_t)i;
    mtl_texture_replace_region_slice(t, mtl_region_make_3d(0, 0, 0, 4, 3, 5), 0, 0, bytes, 4, 12);
    // A box inside, planes 8 apart: 2 x 2 x 2 from (1, 1, 2).
    uint8_t box[12];
    memset(box, 0xee, sizeof box);
    mtl_texture_get_bytes_slice(t, box, 2, 8, mtl_region_make_3d(1, 1, 2, 2, 2, 2), 0, 0);
    const uint8_t want[12] = {29, 30, 33, 34, 0xee, 0xee, 0xee, 0xee, 41, 42, 45, 46};
    assert_memory_equal(box, want, 12);
    assert_int_equal(n_messages, 0);
    mtl_release(t);
}

static void test_fresh_is_zero(void **state) {
    (void)state;
    MTLTextureDescriptor d = mtl_texture_descriptor_2d(MTLPixelFormatRGBA8Unorm, 64, 64, true);
    for (int round = 0; round < 3; round++) {
        MTLTexture *t = mtl_device_new_texture(device, &d);
        uint8_t bytes[4 * 64 * 64];
        mtl_texture_get_bytes(t, bytes, 256, mtl_region_make_2d(0, 0, 64, 64), 0);
        for (size_t i = 0; i < sizeof bytes; i++) assert_int_equal(bytes[i], 0);
        memset(bytes, 0xff, sizeof bytes);
        mtl_texture_replace_region(t, mtl_region_make_2d(0, 0, 64, 64), 0, bytes, 256);
        mtl_release(t);
    }
}

// ---- Rules: nothing is read, nothing is written ----

static void test_rules(void **state) {
    (void)state;
    MTLTextureDescriptor d = mtl_texture_descriptor_2d(MTLPixelFormatRGBA8Unorm, 16, 8, true);
    d.texture_type = MTLTextureType2DArray;
    d.array_length = 3;
    MTLTexture *t = mtl_device_new_texture(device, &d);
    mtl_texture_set_label(t, "the culprit");
    d = mtl_texture_descriptor_2d(MTLPixelFormatBC1_RGBA, 10, 10, false);
    MTLTexture *bc = mtl_device_new_texture(device, &d);
    mtl_texture_set_label(bc, "the culprit");
    d = mtl_texture_descriptor_2d(MTLPixelFormatRGBA8Unorm, 16, 8, false);
    d.storage_mode = MTLStorageModePrivate;
    MTLTexture *private = mtl_device_new_texture(device, &d);
    mtl_texture_set_label(private, "the culprit");
    d.storage_mode = MTLStorageModeShared;
    d.texture_type = MTLTextureType2DMultisample;
    d.sample_count = 4;
    MTLTexture *samples = mtl_device_new_texture(device, &d);
    mtl_texture_set_label(samples, "the culprit");
    d = mtl_texture_descriptor_make_default();
    d.texture_type = MTLTextureType3D;
    d.width = d.height = d.depth = 4;
    MTLTexture *cube = mtl_device_new_texture(device, &d);
    mtl_texture_set_label(cube, "the culprit");
    static uint8_t bytes[4096], before[4096];
    memset(bytes, 0x5a, sizeof bytes);
    memcpy(before, bytes, sizeof bytes);
#define BAD(rule, texture, region, level, slice, row, image)                                       \
    do {                                                                                           \
        clear_messages();                                                                          \
        mtl_texture_get_bytes_slice(texture, bytes, row, image, region, level, slice);             \
        assert_string_equal(last_rule, rule);                                                      \
        assert_string_equal(last_call, "mtl_texture_get_bytes_slice");                             \
        assert_non_null(strstr(last_text, "the culprit"));                                         \
        assert_int_equal(n_messages, 1);                                                           \
        assert_memory_equal(bytes, before, sizeof bytes);                                          \
        clear_messages();                                                                          \
        mtl_texture_replace_region_slice(texture, region, level, slice, bytes, row, image);        \
        assert_string_equal(last_rule, rule);                                                      \
        assert_int_equal(n_messages, 1);                                                           \
    } while (0)
    const MTLRegion all = mtl_region_make_2d(0, 0, 16, 8);
    BAD("texture_level", t, all, 5, 0, 64, 0);
    BAD("texture_level", t, all, SIZE_MAX, 0, 64, 0);
    BAD("texture_slice", t, all, 0, 3, 64, 0);
    BAD("texture_slice", t, all, 0, SIZE_MAX, 64, 0);
    BAD("texture_region", t, mtl_region_make_2d(0, 0, 17, 8), 0, 0, 68, 0);
    BAD("texture_region", t, mtl_region_make_2d(1, 0, 16, 8), 0, 0, 64, 0);
    BAD("texture_region", t, mtl_region_make_2d(0, 1, 16, 8), 0, 0, 64, 0);
    BAD("texture_region", t, mtl_region_make_2d(0, 0, 0, 8), 0, 0, 64, 0);
    BAD("texture_region", t, mtl_region_make_2d(0, 0, 16, 0), 0, 0, 64, 0);
    BAD("texture_region", t, mtl_region_make_2d(SIZE_MAX, 0, 2, 1), 0, 0, 64, 0);
    BAD("texture_region", t, mtl_region_make_2d(8, 0, SIZE_MAX - 7, 1), 0, 0, 64, 0);
    BAD("texture_region", t, mtl_region_make_3d(0, 0, 0, 16, 8, 2), 0, 0, 64, 512);
    BAD("texture_region", t, mtl_region_make_3d(0, 0, 1, 16, 8, 1), 0, 0, 64, 512);
    BAD("texture_region", t, all, 1, 0, 64, 0); // the level is 8 x 4
    BAD("texture_bytes_per_row", t, all, 0, 0, 63, 0);
    BAD("texture_bytes_per_row", t, all, 0, 0, 60, 0);
    BAD("texture_bytes_per_row", t, all, 0, 0, 66, 0);
    BAD("texture_bytes_per_row", t, all, 0, 0, 0, 0);
    BAD("texture_bytes_per_row", t, all, 0, 0, SIZE_MAX & ~(size_t)3, 0);
    BAD("texture_bytes_per_image", cube, mtl_region_make_3d(0, 0, 0, 4, 4, 4), 0, 0, 16, 60);
    BAD("texture_bytes_per_image", cube, mtl_region_make_3d(0, 0, 0, 4, 4, 4), 0, 0, 16, 0);
    BAD("texture_bytes_per_image", cube, mtl_region_make_3d(0, 0, 0, 4, 4, 4), 0, 0, 16, 66);
    BAD("texture_bytes_per_image", cube, mtl_region_make_3d(0, 0, 0, 4, 4, 4), 0, 0, 16,
        SIZE_MAX & ~(size_t)15);
    BAD("texture_block", bc, mtl_region_make_2d(2, 0, 8, 8), 0, 0, 24, 0);
    BAD("texture_block", bc, mtl_region_make_2d(0, 0, 6, 8), 0, 0, 24, 0);
    BAD("texture_block", bc, mtl_region_make_2d(0, 0, 8, 9), 0, 0, 24, 0);
    BAD("texture_bytes_per_row", bc, mtl_region_make_2d(0, 0, 10, 10), 0, 0, 20, 0);
    BAD("texture_cpu_access", private, all, 0, 0, 64, 0);
    BAD("texture_cpu_access", samples, all, 0, 0, 64, 0);
#undef BAD
    clear_messages();
    mtl_texture_replace_region(t, all, 0, NULL, 64);
    assert_string_equal(last_rule, "null_argument");
    mtl_texture_get_bytes(t, NULL, 64, all, 0);
    assert_string_equal(last_rule, "null_argument");
    MTLBuffer *buffer = mtl_device_new_buffer(device, 64, 0);
    mtl_texture_replace_region((MTLTexture *)(void *)buffer, all, 0, bytes, 64);
    assert_string_equal(last_rule, "wrong_class");
    mtl_release(buffer);
    // Nothing of all that reached the textures.
    clear_messages();
    for (size_t slice = 0; slice < 3; slice++) {
        mtl_texture_get_bytes_slice(t, bytes, 64, 0, all, 0, slice);
        for (size_t i = 0; i < 512; i++) assert_int_equal(bytes[i], 0);
    }
    // One row and one plane need no distances.
    mtl_texture_replace_region(t, mtl_region_make_2d(0, 0, 16, 1), 0, before, 0);
    mtl_texture_replace_region_slice(cube, mtl_region_make_3d(0, 0, 2, 4, 4, 1), 0, 0, before, 16,
                                     0);
    assert_int_equal(n_messages, 0);
    MTLTexture *texts[] = {t, bc, private, samples, cube};
    for (int i = 0; i < 5; i++) mtl_release(texts[i]);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_every_format), cmocka_unit_test(test_levels_and_slices),
        cmocka_unit_test(test_planes),       cmocka_unit_test(test_fresh_is_zero),
        cmocka_unit_test(test_rules),
    };
    return cmocka_run_group_tests(tests, open_device, close_device);
}
