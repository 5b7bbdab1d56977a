// SPDX-License-Identifier: Apache-2.0
// test_texture.c: making textures: what a descriptor gives, what the texture says about itself,
// texture over buffers, size and alignment, and every rule of a descriptor that can be broken.
#include "api_test.h"

static MTLTextureDescriptor of(MTLTextureType type, MTLPixelFormat format, size_t w, size_t h,
                               size_t d) {
    return texture_shape(type, format, w, h, d, 1, 1);
}

static void test_descriptors(void **state) {
    (void)state;
    MTLTextureDescriptor d = mtl_texture_descriptor_make_default();
    assert_int_equal(d.texture_type, MTLTextureType2D);
    assert_int_equal(d.pixel_format, MTLPixelFormatRGBA8Unorm);
    assert_int_equal(d.usage, MTLTextureUsageShaderRead);
    assert_int_equal(d.width * d.height * d.depth * d.array_length * d.sample_count, 1);
    assert_int_equal(d.mipmap_level_count, 1);
    assert_true(d.allow_gpu_optimized_contents);
    assert_int_equal(d.swizzle.red, MTLTextureSwizzleRed);
    assert_int_equal(d.swizzle.alpha, MTLTextureSwizzleAlpha);

    d = mtl_texture_descriptor_2d(MTLPixelFormatR32Float, 300, 20, true);
    assert_int_equal(d.mipmap_level_count, 9);
    d = mtl_texture_descriptor_2d(MTLPixelFormatR32Float, 256, 20, true);
    assert_int_equal(d.mipmap_level_count, 9);
    d = mtl_texture_descriptor_2d(MTLPixelFormatR32Float, 255, 20, true);
    assert_int_equal(d.mipmap_level_count, 8);
    d = mtl_texture_descriptor_cube(MTLPixelFormatRGBA8Unorm, 64, true);
    assert_int_equal(d.texture_type, MTLTextureTypeCube);
    assert_int_equal(d.height, 64);
    assert_int_equal(d.mipmap_level_count, 7);
    d = mtl_texture_descriptor_texture_buffer(
        MTLPixelFormatR32Uint, 100, MTLResourceStorageModePrivate, MTLTextureUsageShaderWrite);
    assert_int_equal(d.texture_type, MTLTextureTypeTextureBuffer);
    assert_int_equal(d.usage, MTLTextureUsageShaderWrite);
    assert_int_equal(d.resource_options, MTLResourceStorageModePrivate);
}

static void test_properties(void **state) {
    (void)state;
    clear_messages();
    MTLTextureDescriptor d = mtl_texture_descriptor_2d(MTLPixelFormatRGBA16Float, 100, 60, true);
    d.usage = MTLTextureUsageShaderRead | MTLTextureUsageShaderWrite;
    d.texture_type = MTLTextureType2DArray;
    d.array_length = 5;
    size_t before = mtl_device_current_allocated_size(device);
    MTLTexture *t = mtl_device_new_texture(device, &d);
    assert_non_null(t);
    assert_string_equal(mtl_class_name(t), "MTLTexture");
    assert_ptr_equal(mtl_texture_device(t), device);
    assert_int_equal(mtl_texture_texture_type(t), MTLTextureType2DArray);
    assert_int_equal(mtl_texture_pixel_format(t), MTLPixelFormatRGBA16Float);
    assert_int_equal(mtl_texture_width(t), 100);
    assert_int_equal(mtl_texture_height(t), 60);
    assert_int_equal(mtl_texture_depth(t), 1);
    assert_int_equal(mtl_texture_mipmap_level_count(t), 7);
    assert_int_equal(mtl_texture_sample_count(t), 1);
    assert_int_equal(mtl_texture_array_length(t), 5);
    assert_int_equal(mtl_texture_usage(t), d.usage);
    assert_int_equal(mtl_texture_swizzle(t).green, MTLTextureSwizzleGreen);
    assert_int_equal(mtl_texture_compression_type(t), MTLTextureCompressionTypeLossless);
    assert_true(mtl_texture_allow_gpu_optimized_contents(t));
    assert_false(mtl_texture_is_framebuffer_only(t));
    assert_false(mtl_texture_is_shareable(t));
    assert_false(mtl_texture_is_sparse(t));
    assert_int_equal(mtl_texture_storage_mode(t), MTLStorageModeShared);
    assert_int_equal(mtl_texture_hazard_tracking_mode(t), MTLHazardTrackingModeTracked);
    assert_int_equal(mtl_texture_resource_options(t), 0);
    assert_true(mtl_texture_allocated_size(t) >= 8 * 100 * 60 * 5);
    assert_int_equal(mtl_device_current_allocated_size(device) - before,
                     mtl_texture_allocated_size(t));
    assert_null(mtl_texture_parent_texture(t));
    assert_null(mtl_texture_buffer(t));
    assert_null(mtl_texture_heap(t));
    assert_ptr_equal(mtl_texture_root_resource(t), t);
    assert_int_not_equal(mtl_texture_gpu_resource_id(t).impl, 0);
    assert_string_equal(mtl_texture_label(t), "");
    mtl_texture_set_label(t, "nom d'été");
    assert_string_equal(mtl_texture_label(t), "nom d'été");
    assert_string_equal(mtl_resource_label((MTLResource *)t), "nom d'été");
    assert_int_equal(mtl_texture_set_purgeable_state(t, MTLPurgeableStateKeepCurrent),
                     MTLPurgeableStateNonVolatile);
    mtl_release(mtl_retain(t));
    mtl_release(t);
    assert_int_equal(mtl_device_current_allocated_size(device), before);
    assert_int_equal(n_messages, 0);
}

// NULL is an answer, not a crash.
static void test_null(void **state) {
    (void)state;
    assert_null(mtl_texture_device(NULL));
    assert_int_equal(mtl_texture_width(NULL) + mtl_texture_height(NULL) + mtl_texture_depth(NULL),
                     0);
    assert_int_equal(mtl_texture_pixel_format(NULL), MTLPixelFormatInvalid);
    assert_int_equal(mtl_texture_gpu_resource_id(NULL).impl, 0);
    assert_null(mtl_texture_root_resource(NULL));
    assert_string_equal(mtl_texture_label(NULL), "");
    mtl_texture_set_label(NULL, "x");
    assert_false(mtl_device_supports_texture_sample_count(NULL, 1));
    clear_messages();
    MTLTextureDescriptor d = mtl_texture_descriptor_make_default();
    assert_null(mtl_device_new_texture(NULL, &d));
    assert_string_equal(last_rule, "null_object");
    assert_null(mtl_device_new_texture(device, NULL));
    assert_string_equal(last_rule, "null_argument");
    assert_null(mtl_buffer_new_texture(NULL, &d, 0, 64));
    assert_string_equal(last_rule, "null_object");
    assert_int_equal(mtl_device_heap_texture_size_and_align(device, NULL).size, 0);
    assert_string_equal(last_rule, "null_argument");
    char byte = 0;
    mtl_texture_replace_region(NULL, mtl_region_make_2d(0, 0, 1, 1), 0, &byte, 1);
    assert_string_equal(last_rule, "null_object");
    mtl_texture_get_bytes(NULL, &byte, 1, mtl_region_make_2d(0, 0, 1, 1), 0);
    assert_string_equal(last_rule, "null_object");
    assert_null(mtl_texture_new_texture_view(NULL, MTLPixelFormatRGBA8Unorm));
    assert_string_equal(last_rule, "null_object");
}

static void test_types(void **state) {
    (void)state;
    clear_messages();
    struct {
        MTLTextureDescriptor d;
        size_t slices_or_samples;
    } cases[] = {
        {of(MTLTextureType1D, MTLPixelFormatR8Unorm, 16384, 1, 1), 1},
        {of(MTLTextureType1DArray, MTLPixelFormatR8Unorm, 17, 1, 1), 3},
        {of(MTLTextureType2D, MTLPixelFormatRGBA32Float, 33, 7, 1), 1},
        {of(MTLTextureType2DArray, MTLPixelFormatRGBA8Unorm, 8, 8, 1), 2048},
        {of(MTLTextureTypeCube, MTLPixelFormatRGBA8Unorm, 8, 8, 1), 1},
        {of(MTLTextureTypeCubeArray, MTLPixelFormatRGBA8Unorm, 8, 8, 1), 4},
        {of(MTLTextureType3D, MTLPixelFormatR8Unorm, 5, 6, 2048), 1},
        {of(MTLTextureTypeTextureBuffer, MTLPixelFormatR32Float, 100000, 1, 1), 1},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        cases[i].d.array_length = cases[i].slices_or_samples;
        MTLTexture *t = mtl_device_new_texture(device, &cases[i].d);
        assert_non_null(t);
        assert_int_equal(mtl_texture_texture_type(t), cases[i].d.texture_type);
        assert_int_equal(mtl_texture_width(t), cases[i].d.width);
        assert_int_equal(mtl_texture_height(t), cases[i].d.height);
        assert_int_equal(mtl_texture_depth(t), cases[i].d.depth);
        assert_int_equal(mtl_texture_array_length(t), cases[i].slices_or_samples);
        mtl_release(t);
    }
    for (size_t samples = 2; samples <= 8; samples *= 2) {
        assert_true(mtl_device_supports_texture_sample_count(device, samples));
        MTLTextureDescriptor d = of(MTLTextureType2DMultisample, MTLPixelFormatRGBA8Unorm, 9, 9, 1);
        d.sample_count = samples;
        MTLTexture *t = mtl_device_new_texture(device, &d);
        assert_non_null(t);
        assert_int_equal(mtl_texture_sample_count(t), samples);
        assert_true(mtl_texture_allocated_size(t) >= 4 * 81 * samples);
        mtl_release(t);
    }
    assert_int_equal(mtl_device_read_write_texture_support(device), MTLReadWriteTextureTier2);
    assert_true(mtl_device_supports_bc_texture_compression(device));
    assert_true(mtl_device_supports_query_texture_lod(device));
    assert_true(mtl_device_supports_32_bit_msaa(device));
    assert_true(mtl_device_supports_32_bit_float_filtering(device));
    assert_true(mtl_device_is_depth24_stencil8_pixel_format_supported(device));
    assert_false(mtl_device_supports_texture_sample_count(device, 0));
    assert_false(mtl_device_supports_texture_sample_count(device, 3));
    assert_false(mtl_device_supports_texture_sample_count(device, 16));
    // {0} counts are ones; the type 0 is 1D and the usage 0 unknown.
    MTLTexture *t = mtl_device_new_texture(
        device, &(MTLTextureDescriptor){.pixel_format = MTLPixelFormatR8Unorm, .width = 4});
    assert_non_null(t);
    assert_int_equal(mtl_texture_texture_type(t), MTLTextureType1D);
    assert_int_equal(mtl_texture_height(t) * mtl_texture_depth(t) * mtl_texture_array_length(t), 1);
    assert_int_equal(mtl_texture_usage(t), MTLTextureUsageUnknown);
    assert_int_equal(mtl_texture_swizzle(t).red, MTLTextureSwizzleRed);
    mtl_release(t);
    assert_int_equal(n_messages, 0);
}

static void refused(const MTLTextureDescriptor *d, const char *rule) {
    clear_messages();
    MTLTexture *t = mtl_device_new_texture(device, d);
    if (t || strcmp(last_rule, rule) != 0 || n_messages != 1)
        fail_msg("expected %s, got '%s' (%d messages, texture %p): %s", rule, last_rule,
                 (int)n_messages, (void *)t, last_text);
    assert_string_equal(last_call, "mtl_device_new_texture");
    clear_messages();
    assert_int_equal(mtl_device_heap_texture_size_and_align(device, d).size, 0);
    assert_string_equal(last_rule, rule);
}

static void test_bad_descriptors(void **state) {
    (void)state;
    const MTLTextureDescriptor good = of(MTLTextureType2D, MTLPixelFormatRGBA8Unorm, 16, 16, 1);
    MTLTextureDescriptor d;
#define BAD(rule, ...)                                                                             \
    do {                                                                                           \
        d = good;                                                                                  \
        __VA_ARGS__;                                                                               \
        refused(&d, rule);                                                                         \
    } while (0)
    BAD("texture_type", d.texture_type = (MTLTextureType)10);
    BAD("texture_type", d.texture_type = (MTLTextureType)-1);
    BAD("texture_format", d.pixel_format = MTLPixelFormatInvalid);
    BAD("texture_format", d.pixel_format = (MTLPixelFormat)2);
    BAD("texture_format", d.pixel_format = (MTLPixelFormat)70000);
    BAD("texture_format", d.pixel_format = MTLPixelFormatUnspecialized);
    BAD("texture_format", d.pixel_format = MTLPixelFormatPVRTC_RGB_2BPP, d.width = d.height = 16,
        d.texture_type = MTLTextureType3D);
    BAD("texture_size", d.pixel_format = MTLPixelFormatPVRTC_RGB_2BPP, d.width = 16, d.height = 8);
    BAD("texture_size", d.pixel_format = MTLPixelFormatPVRTC_RGBA_4BPP, d.width = d.height = 24);
    BAD("texture_format", d.pixel_format = MTLPixelFormatX32_Stencil8);
    BAD("texture_format", d.pixel_format = MTLPixelFormatBC1_RGBA,
        d.texture_type = MTLTextureType1D, d.height = 1);
    BAD("texture_format", d.pixel_format = MTLPixelFormatDepth32Float,
        d.texture_type = MTLTextureType3D);
    BAD("texture_format", d.pixel_format = MTLPixelFormatBC1_RGBA,
        d.texture_type = MTLTextureType2DMultisample, d.sample_count = 4);
    BAD("texture_format", d.pixel_format = MTLPixelFormatBC7_RGBAUnorm,
        d.texture_type = MTLTextureTypeTextureBuffer, d.height = 1);
    BAD("texture_size", d.width = 0);
    BAD("texture_size", d.height = 0);
    BAD("texture_size", d.texture_type = MTLTextureType1D, d.width = 0, d.height = 1);
    BAD("texture_size", d.texture_type = MTLTextureType3D, d.depth = 0);
    BAD("texture_size", d.width = 16385);
    BAD("texture_size", d.height = 16385);
    BAD("texture_size", d.width = SIZE_MAX);
    BAD("texture_size", d.depth = 2);
    BAD("texture_size", d.texture_type = MTLTextureType1D);
    BAD("texture_size", d.texture_type = MTLTextureType3D, d.depth = 2049);
    BAD("texture_size", d.texture_type = MTLTextureTypeCube, d.width = 8);
    BAD("texture_size", d.texture_type = MTLTextureTypeTextureBuffer, d.width = (1u << 28) + 1,
        d.height = 1);
    BAD("texture_levels", d.mipmap_level_count = 6);
    BAD("texture_levels", d.mipmap_level_count = 16);
    BAD("texture_levels", d.mipmap_level_count = 100);
    BAD("texture_levels", d.mipmap_level_count = SIZE_MAX);
    BAD("texture_levels", d.texture_type = MTLTextureType1D, d.height = 1,
        d.mipmap_level_count = 2);
    BAD("texture_samples", d.sample_count = 4);
    BAD("texture_samples", d.texture_type = MTLTextureType2DMultisample);
    BAD("texture_samples", d.texture_type = MTLTextureType2DMultisample, d.sample_count = 3);
    BAD("texture_samples", d.texture_type = MTLTextureType2DMultisample, d.sample_count = 16);
    BAD("texture_levels", d.texture_type = MTLTextureType2DMultisample, d.sample_count = 4,
        d.mipmap_level_count = 2);
    BAD("texture_array_length", d.array_length = 2);
    BAD("texture_array_length", d.texture_type = MTLTextureType2DArray, d.array_length = 2049);
    BAD("texture_array_length", d.texture_type = MTLTextureTypeCubeArray, d.array_length = 342);
    BAD("texture_usage", d.usage = 0x40);
    BAD("texture_usage", d.usage = MTLTextureUsageShaderWrite,
        d.pixel_format = MTLPixelFormatBC1_RGBA);
    BAD("texture_usage", d.usage = MTLTextureUsageRenderTarget,
        d.pixel_format = MTLPixelFormatASTC_8x8_LDR);
    BAD("texture_usage", d.usage = MTLTextureUsageShaderAtomic);
    BAD("texture_swizzle", d.swizzle.red = 6);
    BAD("texture_swizzle", d.swizzle.red = MTLTextureSwizzleBlue,
        d.usage = MTLTextureUsageShaderWrite);
    BAD("texture_options", d.storage_mode = (MTLStorageMode)4);
    BAD("texture_options", d.resource_options = 1u << 10);
    BAD("texture_options", d.resource_options = MTLResourceStorageModeManaged,
        d.storage_mode = MTLStorageModePrivate);
    BAD("texture_memoryless", d.storage_mode = MTLStorageModeMemoryless);
    BAD("texture_memoryless", d.resource_options = MTLResourceStorageModeMemoryless,
        d.usage = MTLTextureUsageRenderTarget | MTLTextureUsageShaderRead);
    BAD("texture_compression", d.compression_type = MTLTextureCompressionTypeLossy);
    BAD("texture_compression", d.compression_type = (MTLTextureCompressionType)2);
#undef BAD
    clear_messages();
    d = good;
    d.storage_mode = MTLStorageModeMemoryless;
    d.usage = MTLTextureUsageRenderTarget;
    MTLTexture *t = mtl_device_new_texture(device, &d);
    assert_non_null(t);
    assert_int_equal(mtl_texture_storage_mode(t), MTLStorageModeMemoryless);
    mtl_release(t);
    assert_int_equal(n_messages, 0);
}

static void test_size_and_align(void **state) {
    (void)state;
    MTLTextureDescriptor d = mtl_texture_descriptor_2d(MTLPixelFormatRGBA8Unorm, 100, 100, true);
    MTLSizeAndAlign one = mtl_device_heap_texture_size_and_align(device, &d);
    assert_true(one.size >= 4 * (10000 + 2500 + 625));
    assert_true(one.size < 2 * 4 * 13333);
    assert_int_equal(one.align & (one.align - 1), 0);
    d.texture_type = MTLTextureType2DArray;
    d.array_length = 10;
    assert_true(mtl_device_heap_texture_size_and_align(device, &d).size >= 10 * 4 * 13125);
}

// ---- Over buffers ----

static void test_linear(void **state) {
    (void)state;
    clear_messages();
    size_t align = mtl_device_minimum_linear_texture_alignment_for_pixel_format(
        device, MTLPixelFormatRGBA8Unorm);
    assert_true(align >= 4 && (align & (align - 1)) == 0);
    size_t row = 64 * 4 + align, length = align + 31 * row + 64 * 4;
    MTLBuffer *buffer = mtl_device_new_buffer(device, length, 0);
    mtl_buffer_set_label(buffer, "pixels");
    uint8_t *bytes = mtl_buffer_contents(buffer);
    for (size_t i = 0; i < length; i++) bytes[i] = (uint8_t)(i * 7);
    MTLTextureDescriptor d = of(MTLTextureType2D, MTLPixelFormatRGBA8Unorm, 64, 32, 1);
    MTLTexture *t = mtl_buffer_new_texture(buffer, &d, align, row); // the last row ends the buffer
    assert_non_null(t);
    assert_ptr_equal(mtl_texture_buffer(t), buffer);
    assert_int_equal(mtl_texture_buffer_offset(t), align);
    assert_int_equal(mtl_texture_buffer_bytes_per_row(t), row);
    assert_ptr_equal(mtl_texture_root_resource(t), buffer);
    assert_int_equal(mtl_texture_allocated_size(t), 0);
    uint8_t got[16];
    mtl_texture_get_bytes(t, got, 16, mtl_region_make_2d(60, 31, 4, 1), 0);
    assert_memory_equal(got, bytes + align + 31 * row + 240, 16);
    memset(got, 0xee, sizeof got);
    mtl_texture_replace_region(t, mtl_region_make_2d(0, 5, 4, 1), 0, got, 16);
    assert_memory_equal(bytes + align + 5 * row, got, 16);
    mtl_release(buffer); // the texture keeps it
    mtl_texture_get_bytes(t, got, 16, mtl_region_make_2d(60, 31, 4, 1), 0);
    mtl_release(t);
    assert_int_equal(n_messages, 0);
}

static void test_bad_linear(void **state) {
    (void)state;
    MTLBuffer *buffer = mtl_device_new_buffer(device, 4096, 0);
    MTLBuffer *private = mtl_device_new_buffer(device, 4096, MTLResourceStorageModePrivate);
    const MTLTextureDescriptor good = of(MTLTextureType2D, MTLPixelFormatRGBA8Unorm, 16, 64, 1);
    MTLTextureDescriptor d;
#define BAD(rule, on, offset, row, ...)                                                            \
    do {                                                                                           \
        d = good;                                                                                  \
        __VA_ARGS__;                                                                               \
        clear_messages();                                                                          \
        assert_null(mtl_buffer_new_texture(on, &d, offset, row));                                  \
        assert_string_equal(last_rule, rule);                                                      \
        assert_int_equal(n_messages, 1);                                                           \
    } while (0)
    BAD("texture_linear_range", buffer, 16, 64, (void)0);
    BAD("texture_linear_range", buffer, 0, 80, (void)0);
    BAD("texture_linear_range", buffer, 0, 48, (void)0);
    BAD("texture_linear_range", buffer, 0, 0, (void)0);
    BAD("texture_linear_range", buffer, SIZE_MAX & ~(size_t)15, 64, (void)0);
    BAD("texture_linear_range", buffer, 0, (size_t)1 << 40, (void)0);
    BAD("texture_linear_range", buffer, 0, SIZE_MAX & ~(size_t)15, (void)0);
    BAD("texture_linear_alignment", buffer, 4, 64, (void)0);
    BAD("texture_linear_alignment", buffer, 0, 68, d.height = 2);
    BAD("texture_linear_format", buffer, 0, 64, d.pixel_format = MTLPixelFormatBC1_RGBA);
    BAD("texture_linear_format", buffer, 0, 64, d.pixel_format = MTLPixelFormatDepth32Float);
    BAD("texture_type", buffer, 0, 64, d.texture_type = MTLTextureType3D);
    BAD("texture_type", buffer, 0, 64, d.texture_type = MTLTextureType1D, d.height = 1);
    BAD("texture_levels", buffer, 0, 64, d.mipmap_level_count = 2);
    BAD("texture_linear_storage", private, 0, 64, (void)0);
#undef BAD
    clear_messages();
    d = good;
    d.storage_mode = MTLStorageModePrivate;
    MTLTexture *t = mtl_buffer_new_texture(private, &d, 0, 64);
    assert_non_null(t);
    mtl_release(t);
    d = mtl_texture_descriptor_texture_buffer(MTLPixelFormatR32Float, 1024, 0,
                                              MTLTextureUsageShaderRead);
    t = mtl_buffer_new_texture(buffer, &d, 0, 4096);
    assert_non_null(t);
    assert_int_equal(mtl_texture_texture_type(t), MTLTextureTypeTextureBuffer);
    mtl_release(t);
    assert_int_equal(n_messages, 0);
    assert_int_equal(mtl_device_minimum_linear_texture_alignment_for_pixel_format(
                         device, MTLPixelFormatBC1_RGBA),
                     0);
    assert_string_equal(last_rule, "texture_linear_format");
    assert_true(mtl_device_minimum_texture_buffer_alignment_for_pixel_format(
                    device, MTLPixelFormatR32Float) > 0);
    mtl_release(private);
    mtl_release(buffer);
}

// ---- Views pools are in test_texture_view.c; samplers ----

static void test_samplers(void **state) {
    (void)state;
    clear_messages();
    MTLSamplerState *s = mtl_device_new_sampler_state(
        device, &(MTLSamplerDescriptor){.label = "all defaults", .support_argument_buffers = true});
    assert_non_null(s);
    assert_string_equal(mtl_class_name(s), "MTLSamplerState");
    assert_string_equal(mtl_sampler_state_label(s), "all defaults");
    assert_ptr_equal(mtl_sampler_state_device(s), device);
    uint64_t id = mtl_sampler_state_gpu_resource_id(s).impl;
    assert_true(id != 0 && id % 2 == 0); // bit 0 would make it a packed sampler
    mtl_release(s);
    assert_int_equal(n_messages, 0);
    s = mtl_device_new_sampler_state(device, &(MTLSamplerDescriptor){0});
    assert_int_equal(mtl_sampler_state_gpu_resource_id(s).impl, 0);
    assert_string_equal(last_rule, "sampler_argument_buffers");
    mtl_release(s);
    assert_null(mtl_sampler_state_device(NULL));
    assert_int_equal(mtl_sampler_state_gpu_resource_id(NULL).impl, 0);
    assert_null(mtl_device_new_sampler_state(device, NULL));
    assert_string_equal(last_rule, "null_argument");
#define BAD(rule, ...)                                                                             \
    do {                                                                                           \
        clear_messages();                                                                          \
        assert_null(mtl_device_new_sampler_state(                                                  \
            device, &(MTLSamplerDescriptor){.label = "wrong one", __VA_ARGS__}));                  \
        assert_string_equal(last_rule, rule);                                                      \
        assert_non_null(strstr(last_text, "wrong one"));                                           \
    } while (0)
    BAD("sampler_value", .min_filter = (MTLSamplerMinMagFilter)2);
    BAD("sampler_value", .mag_filter = (MTLSamplerMinMagFilter)-1);
    BAD("sampler_value", .mip_filter = (MTLSamplerMipFilter)3);
    BAD("sampler_value", .s_address_mode = (MTLSamplerAddressMode)6);
    BAD("sampler_value", .t_address_mode = (MTLSamplerAddressMode)6);
    BAD("sampler_value", .r_address_mode = (MTLSamplerAddressMode)6);
    BAD("sampler_value", .border_color = (MTLSamplerBorderColor)3);
    BAD("sampler_value", .reduction_mode = (MTLSamplerReductionMode)3);
    BAD("sampler_value", .compare_function = (MTLCompareFunction)8);
    BAD("sampler_value", .max_anisotropy = 17);
    BAD("sampler_value", .max_anisotropy = SIZE_MAX);
    BAD("sampler_value", .lod_min_clamp = -1);
    BAD("sampler_value", .lod_max_clamp = -0.5f);
    BAD("sampler_value", .lod_bias = 1.0f / 0.0f);
    BAD("sampler_value", .lod_min_clamp = 0.0f / 0.0f);
    BAD("sampler_unnormalized", .unnormalized_coordinates = true,
        .s_address_mode = MTLSamplerAddressModeRepeat);
    BAD("sampler_unnormalized", .unnormalized_coordinates = true,
        .mip_filter = MTLSamplerMipFilterNearest);
    BAD("sampler_unnormalized", .unnormalized_coordinates = true, .max_anisotropy = 4);
    BAD("sampler_unnormalized", .unnormalized_coordinates = true,
        .min_filter = MTLSamplerMinMagFilterLinear);
#undef BAD
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_descriptors),
        cmocka_unit_test(test_properties),
        cmocka_unit_test(test_null),
        cmocka_unit_test(test_types),
        cmocka_unit_test(test_bad_descriptors),
        cmocka_unit_test(test_size_and_align),
        cmocka_unit_test(test_linear),
        cmocka_unit_test(test_bad_linear),
        cmocka_unit_test(test_samplers),
    };
    return cmocka_run_group_tests(tests, open_device, close_device);
}
