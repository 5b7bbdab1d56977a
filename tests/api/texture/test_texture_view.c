// SPDX-License-Identifier: Apache-2.0
// test_texture_view.c: views share memory with their parent and show what they were asked to show;
// pools of views keep what they show alive; every rule.
#include "api_test.h"

static MTLTexture *make(MTLTextureType type, MTLPixelFormat format, size_t w, size_t h,
                        size_t depth, size_t length, size_t levels, MTLTextureUsage usage) {
    MTLTextureDescriptor d = texture_shape(type, format, w, h, depth, length, levels);
    d.usage = usage;
    MTLTexture *t = mtl_device_new_texture(device, &d);
    assert_non_null(t);
    mtl_texture_set_label(t, "parent");
    return t;
}

static void test_format(void **state) {
    (void)state;
    clear_messages();
    MTLTexture *t = make(MTLTextureType2D, MTLPixelFormatRGBA8Unorm, 8, 8, 1, 1, 4,
                         MTLTextureUsageShaderRead | MTLTextureUsagePixelFormatView);
    MTLTexture *v = mtl_texture_new_texture_view(t, MTLPixelFormatR32Uint);
    assert_non_null(v);
    assert_int_equal(mtl_texture_pixel_format(v), MTLPixelFormatR32Uint);
    assert_int_equal(mtl_texture_mipmap_level_count(v), 4);
    assert_ptr_equal(mtl_texture_parent_texture(v), t);
    assert_ptr_equal(mtl_texture_root_resource(v), t);
    assert_int_equal(mtl_texture_usage(v), mtl_texture_usage(t));
    assert_int_equal(mtl_texture_allocated_size(v), 0);
    assert_int_not_equal(mtl_texture_gpu_resource_id(v).impl, mtl_texture_gpu_resource_id(t).impl);
    uint32_t texel = 0x04030201, got = 0;
    mtl_texture_replace_region(v, mtl_region_make_2d(3, 4, 1, 1), 0, &texel, 4);
    mtl_texture_get_bytes(t, &got, 4, mtl_region_make_2d(3, 4, 1, 1), 0);
    assert_int_equal(got, texel);
    mtl_release(t); // the view keeps it
    got = 0;
    mtl_texture_get_bytes(v, &got, 4, mtl_region_make_2d(3, 4, 1, 1), 0);
    assert_int_equal(got, texel);
    mtl_release(v);
    // sRGB needs no leave, anything else does.
    t = make(MTLTextureType2D, MTLPixelFormatRGBA8Unorm, 8, 8, 1, 1, 1, MTLTextureUsageShaderRead);
    v = mtl_texture_new_texture_view(t, MTLPixelFormatRGBA8Unorm_sRGB);
    assert_non_null(v);
    mtl_release(v);
    assert_int_equal(n_messages, 0);
    assert_null(mtl_texture_new_texture_view(t, MTLPixelFormatR32Uint));
    assert_string_equal(last_rule, "texture_view_usage");
    assert_non_null(strstr(last_text, "parent"));
    assert_null(mtl_texture_new_texture_view(t, MTLPixelFormatBGRA8Unorm_sRGB));
    assert_string_equal(last_rule, "texture_view_usage");
    assert_null(mtl_texture_new_texture_view(t, MTLPixelFormatR16Float));
    assert_string_equal(last_rule, "texture_view_format");
    assert_null(mtl_texture_new_texture_view(t, (MTLPixelFormat)9999));
    assert_string_equal(last_rule, "texture_view_format");
    assert_null(mtl_texture_new_texture_view(t, MTLPixelFormatDepth32Float));
    assert_string_equal(last_rule, "texture_view_format");
    mtl_release(t);
    // The stencil of a depth and stencil texture.
    clear_messages();
    t = make(MTLTextureType2D, MTLPixelFormatDepth32Float_Stencil8, 4, 4, 1, 1, 1,
             MTLTextureUsageShaderRead);
    v = mtl_texture_new_texture_view(t, MTLPixelFormatX32_Stencil8);
    assert_non_null(v);
    mtl_release(v);
    mtl_release(t);
    assert_int_equal(n_messages, 0);
}

static void test_ranges(void **state) {
    (void)state;
    clear_messages();
    MTLTexture *t = make(MTLTextureType2DArray, MTLPixelFormatR16Uint, 16, 16, 1, 12, 5,
                         MTLTextureUsageShaderRead);
    for (size_t level = 0; level < 5; level++)
        for (size_t slice = 0; slice < 12; slice++) {
            uint16_t mark = (uint16_t)(100 * level + slice);
            mtl_texture_replace_region_slice(t, mtl_region_make_2d(0, 0, 1, 1), level, slice, &mark,
                                             2, 0);
        }
    const struct {
        MTLTextureType type;
        MTLRange levels, slices;
        size_t width, array_length;
    } cases[] = {
        {MTLTextureType2D, {1, 1}, {7, 1}, 8, 1},
        {MTLTextureType2DArray, {2, 3}, {3, 4}, 4, 4},
        {MTLTextureTypeCube, {0, 5}, {6, 6}, 16, 1},
        {MTLTextureTypeCubeArray, {1, 2}, {0, 12}, 8, 2},
    };
    for (size_t i = 0; i < 4; i++) {
        MTLTexture *v = mtl_texture_new_texture_view_with_ranges(
            t, MTLPixelFormatR16Uint, cases[i].type, cases[i].levels, cases[i].slices);
        assert_non_null(v);
        assert_int_equal(mtl_texture_texture_type(v), cases[i].type);
        assert_int_equal(mtl_texture_width(v), cases[i].width);
        assert_int_equal(mtl_texture_array_length(v), cases[i].array_length);
        assert_int_equal(mtl_texture_mipmap_level_count(v), cases[i].levels.length);
        assert_int_equal(mtl_texture_parent_relative_level(v), cases[i].levels.location);
        assert_int_equal(mtl_texture_parent_relative_slice(v), cases[i].slices.location);
        for (size_t l = 0; l < cases[i].levels.length; l++)
            for (size_t s = 0; s < cases[i].slices.length; s++) {
                uint16_t mark = 0;
                mtl_texture_get_bytes_slice(v, &mark, 2, 0, mtl_region_make_2d(0, 0, 1, 1), l, s);
                assert_int_equal(mark, 100 * (cases[i].levels.location + l) +
                                           cases[i].slices.location + s);
            }
        // A view of the view counts from the view.
        MTLTexture *w =
            mtl_texture_new_texture_view_with_ranges(v, MTLPixelFormatR16Uint, MTLTextureType2D,
                                                     mtl_range_make(cases[i].levels.length - 1, 1),
                                                     mtl_range_make(cases[i].slices.length - 1, 1));
        uint16_t mark = 0;
        mtl_texture_get_bytes(w, &mark, 2, mtl_region_make_2d(0, 0, 1, 1), 0);
        assert_int_equal(mark, 100 * (cases[i].levels.location + cases[i].levels.length - 1) +
                                   cases[i].slices.location + cases[i].slices.length - 1);
        assert_ptr_equal(mtl_texture_parent_texture(w), v);
        assert_ptr_equal(mtl_texture_root_resource(w), t);
        mtl_release(w);
        mtl_release(v);
    }
    assert_int_equal(n_messages, 0);
#define BAD(rule, type, l0, ln, s0, sn)                                                            \
    do {                                                                                           \
        clear_messages();                                                                          \
        assert_null(mtl_texture_new_texture_view_with_ranges(                                      \
            t, MTLPixelFormatR16Uint, type, mtl_range_make(l0, ln), mtl_range_make(s0, sn)));      \
        assert_string_equal(last_rule, rule);                                                      \
        assert_int_equal(n_messages, 1);                                                           \
    } while (0)
    BAD("texture_view_range", MTLTextureType2DArray, 0, 6, 0, 12);
    BAD("texture_view_range", MTLTextureType2DArray, 5, 1, 0, 12);
    BAD("texture_view_range", MTLTextureType2DArray, 0, 0, 0, 12);
    BAD("texture_view_range", MTLTextureType2DArray, 0, 1, 0, 0);
    BAD("texture_view_range", MTLTextureType2DArray, 0, 1, 12, 1);
    BAD("texture_view_range", MTLTextureType2DArray, 0, 1, 1, SIZE_MAX);
    BAD("texture_view_range", MTLTextureType2DArray, SIZE_MAX, 2, 0, 1);
    BAD("texture_view_type", MTLTextureType2D, 0, 1, 0, 2);
    BAD("texture_view_type", MTLTextureTypeCube, 0, 1, 0, 5);
    BAD("texture_view_type", MTLTextureType3D, 0, 1, 0, 1);
    BAD("texture_view_type", MTLTextureType1D, 0, 1, 0, 1);
    BAD("texture_view_type", MTLTextureType2DMultisample, 0, 1, 0, 1);
    BAD("texture_view_type", (MTLTextureType)12, 0, 1, 0, 1);
#undef BAD
    mtl_release(t);
}

static void test_swizzle(void **state) {
    (void)state;
    clear_messages();
    MTLTexture *t =
        make(MTLTextureType2D, MTLPixelFormatRGBA8Unorm, 4, 4, 1, 1, 1, MTLTextureUsageShaderRead);
    MTLTexture *v = mtl_texture_new_texture_view_with_swizzle(
        t, MTLPixelFormatRGBA8Unorm, MTLTextureType2D, mtl_range_make(0, 1), mtl_range_make(0, 1),
        mtl_texture_swizzle_channels_make(MTLTextureSwizzleBlue, MTLTextureSwizzleOne,
                                          MTLTextureSwizzleRed, MTLTextureSwizzleZero));
    assert_non_null(v);
    MTLTextureSwizzleChannels s = mtl_texture_swizzle(v);
    assert_int_equal(s.red, MTLTextureSwizzleBlue);
    assert_int_equal(s.green, MTLTextureSwizzleOne);
    assert_int_equal(s.blue, MTLTextureSwizzleRed);
    assert_int_equal(s.alpha, MTLTextureSwizzleZero);
    // Of a view of it: red of blue is red of the parent.
    MTLTexture *w = mtl_texture_new_texture_view_with_descriptor(
        v, &(MTLTextureViewDescriptor){.swizzle = {MTLTextureSwizzleBlue, MTLTextureSwizzleGreen,
                                                   MTLTextureSwizzleRed, MTLTextureSwizzleAlpha}});
    s = mtl_texture_swizzle(w);
    assert_int_equal(s.red, MTLTextureSwizzleRed);
    assert_int_equal(s.green, MTLTextureSwizzleOne);
    assert_int_equal(s.blue, MTLTextureSwizzleBlue);
    mtl_release(w);
    mtl_release(v);
    assert_int_equal(n_messages, 0);
    assert_null(mtl_texture_new_texture_view_with_descriptor(
        t, &(MTLTextureViewDescriptor){.swizzle = {9, 3, 4, 5}}));
    assert_string_equal(last_rule, "texture_swizzle");
    assert_null(mtl_texture_new_texture_view_with_descriptor(t, NULL));
    assert_string_equal(last_rule, "null_argument");
    mtl_release(t);
}

static void test_pool(void **state) {
    (void)state;
    clear_messages();
    MTLError *error = NULL;
    assert_null(
        mtl_device_new_texture_view_pool(device, &(MTLResourceViewPoolDescriptor){0}, &error));
    assert_non_null(error);
    mtl_release(error);
    MTLTextureViewPool *pool = mtl_device_new_texture_view_pool(
        device, &(MTLResourceViewPoolDescriptor){.resource_view_count = 8, .label = "pool"},
        &error);
    if (!pool) leave_out_if_lacking(error);
    assert_non_null(pool);
    assert_null(error);
    assert_int_equal(mtl_texture_view_pool_resource_view_count(pool), 8);
    assert_string_equal(mtl_texture_view_pool_label(pool), "pool");
    assert_ptr_equal(mtl_texture_view_pool_device(pool), device);
    uint64_t base = mtl_texture_view_pool_base_resource_id(pool).impl;
    assert_int_not_equal(base, 0);
    MTLTexture *t = make(MTLTextureType2D, MTLPixelFormatRGBA8Unorm, 4, 4, 1, 1, 3,
                         MTLTextureUsageShaderRead | MTLTextureUsagePixelFormatView);
    assert_int_equal(mtl_texture_view_pool_set_texture_view(pool, t, 0).impl, base);
    MTLResourceID id = mtl_texture_view_pool_set_texture_view_with_descriptor(
        pool, t,
        &(MTLTextureViewDescriptor){.pixel_format = MTLPixelFormatR32Uint, .level_range = {1, 2}},
        5);
    assert_int_equal(id.impl, mtl_texture_view_pool_resource_id(pool, 5).impl);
    assert_int_equal(id.impl, base + 5);
    MTLBuffer *buffer = mtl_device_new_buffer(device, 1024, 0);
    MTLTextureDescriptor d = mtl_texture_descriptor_2d(MTLPixelFormatR32Float, 16, 16, false);
    id = mtl_texture_view_pool_set_texture_view_from_buffer(pool, buffer, &d, 0, 64, 7);
    assert_int_equal(id.impl, mtl_texture_view_pool_resource_id(pool, 7).impl);
    size_t held = mtl_retain_count(t);
    id = mtl_texture_view_pool_copy_resource_views(pool, pool, mtl_range_make(0, 2), 1);
    assert_int_equal(id.impl, mtl_texture_view_pool_resource_id(pool, 1).impl);
    assert_int_equal(mtl_retain_count(t), held + 1);
    mtl_texture_view_pool_set_texture_view_from_buffer(pool, buffer, &d, 0, 64, 5);
    assert_int_equal(mtl_retain_count(t), held);
    assert_int_equal(n_messages, 0);

    assert_int_equal(mtl_texture_view_pool_set_texture_view(pool, t, 8).impl, 0);
    assert_string_equal(last_rule, "texture_pool_index");
    assert_non_null(strstr(last_text, "pool"));
    assert_int_equal(mtl_texture_view_pool_set_texture_view(pool, NULL, 0).impl, 0);
    assert_string_equal(last_rule, "null_argument");
    assert_int_equal(mtl_texture_view_pool_set_texture_view(NULL, t, 0).impl, 0);
    assert_string_equal(last_rule, "null_object");
    assert_int_equal(mtl_texture_view_pool_set_texture_view_with_descriptor(
                         pool, t, &(MTLTextureViewDescriptor){.level_range = {3, 1}}, 0)
                         .impl,
                     0);
    assert_string_equal(last_rule, "texture_view_range");
    assert_int_equal(
        mtl_texture_view_pool_set_texture_view_from_buffer(pool, buffer, &d, 16, 64, 7).impl, 0);
    assert_string_equal(last_rule, "texture_linear_range");
    assert_int_equal(
        mtl_texture_view_pool_copy_resource_views(pool, pool, mtl_range_make(7, 2), 0).impl, 0);
    assert_string_equal(last_rule, "texture_pool_index");
    assert_int_equal(
        mtl_texture_view_pool_copy_resource_views(pool, pool, mtl_range_make(0, SIZE_MAX), 1).impl,
        0);
    assert_string_equal(last_rule, "texture_pool_index");
    mtl_release(pool);
    assert_int_equal(mtl_retain_count(t), 1);
    assert_int_equal(mtl_retain_count(buffer), 1);
    mtl_release(t);
    mtl_release(buffer);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_format),
        cmocka_unit_test(test_ranges),
        cmocka_unit_test(test_swizzle),
        cmocka_unit_test(test_pool),
    };
    return cmocka_run_group_tests(tests, open_device, close_device);
}
