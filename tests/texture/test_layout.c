// SPDX-License-Identifier: Apache-2.0
// test_layout.c: sizes, addresses and views of textures: no two texels share a byte, none lies
// outside, impossible shapes and views are refused.
#include <stdlib.h>
#include "texture_test.h"

static void each_block(const AbiTexture *t, unsigned char *base, uint64_t n_bytes, bool mark) {
    const AbiPixelFormat *f = t->format;
    for (uint32_t l = 0; l < t->n_levels; l++) {
        const AbiTextureLevel *level = &t->levels[l];
        uint32_t layers = t->type == ABI_TEXTURE_3D ? level->depth : abi_texture_n_slices(t);
        for (uint32_t s = 0; s < t->n_samples; s++)
            for (uint32_t z = 0; z < layers; z++)
                for (uint32_t y = 0; y < level->height; y += f->block_height)
                    for (uint32_t x = 0; x < level->width; x += f->block_width) {
                        unsigned char *p = abi_texture_at(t, l, x, y, z, s);
                        assert_true(p >= base && p + f->block_bytes <= base + n_bytes);
                        for (unsigned k = 0; k < f->block_bytes; k++) {
                            assert_int_equal(p[k], 0);
                            p[k] = mark;
                        }
                    }
    }
}

TEST(texels_do_not_overlap) {
    static const uint32_t formats[] = {10, 70, 125, 130, 152, 204, 218, 240};
    for (uint32_t type = 0; type < ABI_TEXTURE_N_TYPES; type++)
        for (size_t i = 0; i < sizeof formats / sizeof *formats; i++) {
            bool flat = texel_type_dimensions(type) == 1, cube = texel_type_is_cube(type);
            AbiTextureShape s =
                test_shape(type, formats[i], 21,
                           flat   ? 1
                           : cube ? 21
                                  : 13,
                           type == ABI_TEXTURE_3D ? 6 : 1, texel_type_is_array(type) ? 3 : 1,
                           texel_type_is_multisample(type) || type == ABI_TEXTURE_BUFFER ? 1 : 5);
            if (texel_type_is_multisample(type)) s.n_samples = 4;
            AbiTextureSize size, again;
            AbiTexture t;
            assert_true(abi_texture_layout(&s, NULL, NULL, &size));
            unsigned char *memory = calloc(1, size.n_bytes);
            assert_non_null(memory);
            assert_true(abi_texture_layout(&s, memory, &t, &again));
            assert_true(size.n_bytes == again.n_bytes && size.alignment == again.alignment);
            assert_int_equal(t.levels[0].width, 21);
            if (s.n_levels == 5) {
                assert_int_equal(t.levels[4].width, 1);
                assert_int_equal(t.levels[2].height, flat ? 1 : cube ? 5 : 3);
                assert_int_equal(t.levels[1].depth, type == ABI_TEXTURE_3D ? 3 : 1);
            }
            each_block(&t, memory, size.n_bytes, true);
            free(memory);
        }
}

TEST(impossible_shapes) {
    AbiTextureShape good = test_shape(ABI_TEXTURE_2D, 70, 16, 16, 1, 1, 5), s;
    AbiTextureSize size = {7, 7};
    assert_true(abi_texture_layout(&good, NULL, NULL, &size));
    size.n_bytes = 7;
#define REFUSED(change)                                                                            \
    s = good;                                                                                      \
    change;                                                                                        \
    assert_false(abi_texture_layout(&s, NULL, NULL, &size));                                       \
    assert_int_equal(size.n_bytes, 7)
    REFUSED(s.width = 0);
    REFUSED(s.height = 0);
    REFUSED(s.depth = 0);
    REFUSED(s.depth = 2);
    REFUSED(s.array_length = 0);
    REFUSED(s.array_length = 2);
    REFUSED(s.n_levels = 0);
    REFUSED(s.n_levels = 6);
    REFUSED(s.n_samples = 0);
    REFUSED(s.n_samples = 4);
    REFUSED(s.width = 16385);
    REFUSED(s.width = UINT32_MAX);
    REFUSED(s.type = 10);
    REFUSED(s.type = ABI_TEXTURE_1D);
    REFUSED((s.type = ABI_TEXTURE_CUBE, s.height = 8));
    REFUSED((s.type = ABI_TEXTURE_2D_MS, s.n_levels = 1, s.n_samples = 3));
    REFUSED((s.type = ABI_TEXTURE_2D_MS, s.n_samples = 4));
    REFUSED((s.type = ABI_TEXTURE_3D, s.width = 2049));
    REFUSED(s.pixel_format = 0);
    REFUSED(s.pixel_format = 9999);
    REFUSED((s.pixel_format = 160, s.height = 8)); // PVRTC: squares of a power of two
    REFUSED((s.pixel_format = 160, s.width = s.height = 24));
    REFUSED((s.pixel_format = 160, s.type = ABI_TEXTURE_3D));
    REFUSED((s.row_bytes = 63, s.n_levels = 1));
    REFUSED(s.row_bytes = 64); // with levels
    REFUSED((s.row_bytes = UINT64_MAX / 2, s.n_levels = 1));
    s = good;
    s.row_bytes = 64, s.n_levels = 1;
    assert_true(abi_texture_layout(&s, NULL, NULL, &size));
    assert_int_equal(size.n_bytes, 1024);
}

// The smallest levels have two blocks by two, of 4 bits or of 2.
TEST(pvrtc_has_four_blocks_at_least) {
    for (uint32_t format = 160; format < 168; format++) {
        AbiTextureShape s = test_shape(ABI_TEXTURE_2D_ARRAY, format, 32, 32, 1, 2, 6);
        TestTexture x;
        test_texture(&s, true, &x);
        static const unsigned columns[2][6] = {{4, 2, 2, 2, 2, 2}, {8, 4, 2, 2, 2, 2}};
        static const unsigned rows[6] = {8, 4, 2, 2, 2, 2};
        for (uint32_t l = 0; l < 6; l++) {
            const AbiTextureLevel *level = &x.t.levels[l];
            unsigned n = columns[x.t.format->block_width == 4][l];
            assert_int_equal(level->width, 32 >> l);
            assert_true(level->row_bytes >= n * 8);
            assert_int_equal(level->layer_bytes, level->row_bytes * rows[l]);
            // The last block of the last slice is inside: the guard page says so.
            unsigned char *last = level->data + 2 * level->layer_bytes - level->row_bytes;
            memset(last, 1, n * 8);
            if (l < 5) assert_true(level->data + 2 * level->layer_bytes <= level[1].data);
        }
        test_texture_free(&x);
    }
}

TEST(views_show_their_part) {
    AbiTextureShape s = test_shape(ABI_TEXTURE_2D_ARRAY, 70, 16, 16, 1, 12, 5);
    TestTexture x;
    test_texture(&s, false, &x);
    AbiTextureView v = {.type = ABI_TEXTURE_CUBE,
                        .pixel_format = 81,
                        .first_level = 1,
                        .n_levels = 2,
                        .first_slice = 3,
                        .n_slices = 6};
    AbiTexture t, u;
    // BGRA8_sRGB and RGBA8 have 32 bits each
    assert_true(abi_texture_view(&x.t, &v, &t));
    assert_int_equal(t.width, 8);
    assert_int_equal(t.n_levels, 2);
    assert_int_equal(t.array_length, 1);
    assert_int_equal(abi_texture_n_slices(&t), 6);
    assert_ptr_equal(abi_texture_at(&t, 1, 2, 3, 4, 0), abi_texture_at(&x.t, 2, 2, 3, 7, 0));
    // A view of the view, swizzles one after the other.
    AbiTextureView w = {.type = ABI_TEXTURE_2D,
                        .pixel_format = 53,
                        .first_level = 1,
                        .n_levels = 1,
                        .first_slice = 2,
                        .n_slices = 1,
                        .swizzled = true,
                        .swizzle = {5, 2, 1, 0}};
    assert_true(abi_texture_view(&t, &w, &u));
    assert_int_equal(u.width, 4);
    assert_int_equal(u.swizzled, 1);
    AbiTextureView again = {.type = ABI_TEXTURE_2D,
                            .pixel_format = 70,
                            .n_levels = 1,
                            .n_slices = 1,
                            .swizzled = true,
                            .swizzle = {3, 4, 2, 0}};
    AbiTexture last;
    assert_true(abi_texture_view(&u, &again, &last));
    const uint8_t both[4] = {2, 1, 5, 0};
    assert_memory_equal(last.swizzle, both, 4);
    assert_ptr_equal(last.levels[0].data, abi_texture_at(&x.t, 2, 0, 0, 5, 0));
    test_texture_free(&x);
}

TEST(impossible_views) {
    AbiTextureShape s = test_shape(ABI_TEXTURE_2D_ARRAY, 70, 16, 16, 1, 12, 5);
    TestTexture x;
    test_texture(&s, false, &x);
    AbiTextureView good = {
        .type = ABI_TEXTURE_2D_ARRAY, .pixel_format = 70, .n_levels = 5, .n_slices = 12};
    AbiTextureView v;
    AbiTexture t;
    assert_true(abi_texture_view(&x.t, &good, &t));
#define NO_VIEW(change)                                                                            \
    v = good;                                                                                      \
    change;                                                                                        \
    assert_false(abi_texture_view(&x.t, &v, &t))
    NO_VIEW(v.n_levels = 0);
    NO_VIEW(v.n_levels = 6);
    NO_VIEW(v.first_level = 1);
    NO_VIEW((v.first_level = UINT32_MAX, v.n_levels = 2));
    NO_VIEW(v.n_slices = 0);
    NO_VIEW(v.n_slices = 13);
    NO_VIEW(v.first_slice = 12);
    NO_VIEW((v.first_slice = UINT32_MAX, v.n_slices = 2));
    NO_VIEW(v.pixel_format = 10);
    NO_VIEW(v.pixel_format = 0);
    NO_VIEW(v.pixel_format = 252);
    NO_VIEW(v.type = ABI_TEXTURE_2D); // 12 slices
    NO_VIEW(v.type = ABI_TEXTURE_3D);
    NO_VIEW(v.type = ABI_TEXTURE_1D_ARRAY);
    NO_VIEW(v.type = ABI_TEXTURE_2D_MS_ARRAY);
    NO_VIEW(v.type = ABI_TEXTURE_BUFFER);
    NO_VIEW(v.type = 99);
    NO_VIEW((v.type = ABI_TEXTURE_CUBE_ARRAY, v.n_slices = 7));
    NO_VIEW((v.swizzled = true, v.swizzle[2] = 6));
    test_texture_free(&x);
}

int main(void) { return unit_run(NULL, NULL); }
