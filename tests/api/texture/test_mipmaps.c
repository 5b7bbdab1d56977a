// SPDX-License-Identifier: Apache-2.0
// test_mipmaps.c: generate_mipmaps against a reference that integrates over the area of each texel,
// in doubles and by another way than the library: overlaps of intervals instead of weights by
// formula.
#include <math.h>
#include "queue_test.h"

// ---- The reference ----

typedef struct Image {
    size_t w, h, d;
    double *rgba;
} Image;

static Image image(size_t w, size_t h, size_t d) {
    Image m = {w, h, d, calloc(w * h * d * 4, sizeof(double))};
    assert_non_null(m.rgba);
    return m;
}

static double *at(const Image *m, size_t x, size_t y, size_t z) {
    return m->rgba + 4 * ((z * m->h + y) * m->w + x);
}

// How much of [a, a + 1) lies in [lo, hi).
static double common(double a, double lo, double hi) {
    double x = fmin(a + 1, hi) - fmax(a, lo);
    return x > 0 ? x : 0;
}

static Image half(const Image *m) {
    Image s = image(m->w > 1 ? m->w / 2 : 1, m->h > 1 ? m->h / 2 : 1, m->d > 1 ? m->d / 2 : 1);
    double fx = (double)m->w / (double)s.w, fy = (double)m->h / (double)s.h;
    double fz = (double)m->d / (double)s.d;
    for (size_t z = 0; z < s.d; z++)
        for (size_t y = 0; y < s.h; y++)
            for (size_t x = 0; x < s.w; x++)
                for (size_t k = (size_t)(z * fz); k < m->d && (double)k < (z + 1) * fz; k++)
                    for (size_t j = (size_t)(y * fy); j < m->h && (double)j < (y + 1) * fy; j++)
                        for (size_t i = (size_t)(x * fx); i < m->w && (double)i < (x + 1) * fx;
                             i++) {
                            double share = common((double)i, x * fx, (x + 1) * fx) *
                                           common((double)j, y * fy, (y + 1) * fy) *
                                           common((double)k, z * fz, (z + 1) * fz) / (fx * fy * fz);
                            for (int c = 0; c < 4; c++)
                                at(&s, x, y, z)[c] += share * at(m, i, j, k)[c];
                        }
    return s;
}

static double to_linear(double s) {
    return s <= 0.04045 ? s / 12.92 : pow((s + 0.055) / 1.055, 2.4);
}

// ---- Formats of the test: bytes to numbers and how far off a stored number may be ----

typedef enum Kind { UNORM8, SRGB8, FLOAT32, HALF, UNORM16 } Kind;

static double half_value(uint16_t h) {
    int e = h >> 10 & 31, m = h & 1023;
    double v = e ? ldexp(1024 + m, e - 25) : ldexp(m, -24);
    return h & 0x8000 ? -v : v;
}

static size_t kind_bytes(Kind kind) {
    return kind == FLOAT32 ? 4 : kind == HALF || kind == UNORM16 ? 2 : 1;
}

static double decode(Kind kind, const uint8_t *p, size_t i, int c) {
    switch (kind) {
    case UNORM8: return p[i] / 255.0;
    case SRGB8: return c < 3 ? to_linear(p[i] / 255.0) : p[i] / 255.0;
    case UNORM16: return ((const uint16_t *)(const void *)p)[i] / 65535.0;
    case HALF: return half_value(((const uint16_t *)(const void *)p)[i]);
    default: return (double)((const float *)(const void *)p)[i];
    }
}

// Half a step of the format at v, and a little for the arithmetic in floats.
static double slack(Kind kind, double v, int c) {
    switch (kind) {
    case UNORM8: return 0.5 / 255 + 1e-6;
    case SRGB8: {
        if (c == 3) return 0.5 / 255 + 1e-6;
        double s = v <= 0.0031308 ? v * 12.92 : 1.055 * pow(v, 1 / 2.4) - 0.055;
        return to_linear(fmin(s + 0.5001 / 255, 1)) - v + 1e-6;
    }
    case UNORM16: return 0.5 / 65535 + 1e-6;
    case HALF: return fabs(v) / 1024 + 1e-6;
    default: return fabs(v) * 1e-5 + 1e-6;
    }
}

typedef struct Case {
    const char *name;
    MTLTextureType type;
    MTLPixelFormat format;
    Kind kind;
    int n_components;
    size_t w, h, d, length, slices;
} Case;

static Image read_level(MTLTexture *t, const Case *k, size_t level, size_t slice) {
    size_t w = k->w >> level ? k->w >> level : 1, h = k->h >> level ? k->h >> level : 1;
    size_t d = k->d >> level ? k->d >> level : 1;
    size_t texel = kind_bytes(k->kind) * (size_t)k->n_components;
    uint8_t *bytes = malloc(w * h * d * texel);
    mtl_texture_get_bytes_slice(t, bytes, w * texel, w * h * texel,
                                mtl_region_make_3d(0, 0, 0, w, h, d), level, slice);
    Image m = image(w, h, d);
    for (size_t i = 0; i < w * h * d; i++)
        for (int c = 0; c < k->n_components; c++)
            m.rgba[4 * i + (size_t)c] =
                decode(k->kind, bytes, i * (size_t)k->n_components + (size_t)c, c);
    free(bytes);
    return m;
}

static void fill(MTLTexture *t, const Case *k, size_t slice) {
    size_t n = k->w * k->h * k->d * (size_t)k->n_components;
    uint8_t *bytes = malloc(n * kind_bytes(k->kind));
    uint32_t seed = (uint32_t)slice * 31 + 7;
    for (size_t i = 0; i < n; i++) {
        seed = seed * 1664525 + 1013904223;
        uint32_t r = seed >> 16;
        if (k->kind == FLOAT32)
            ((float *)(void *)bytes)[i] = (float)r / 7000 - 3;
        else if (k->kind == HALF)
            ((uint16_t *)(void *)bytes)[i] = (uint16_t)(0x3000 + r % 0x1800); // 0.125 .. 8
        else if (k->kind == UNORM16)
            ((uint16_t *)(void *)bytes)[i] = (uint16_t)r;
        else
            bytes[i] = (uint8_t)r;
    }
    size_t row = k->w * (size_t)k->n_components * kind_bytes(k->kind);
    mtl_texture_replace_region_slice(t, mtl_region_make_3d(0, 0, 0, k->w, k->h, k->d), 0, slice,
                                     bytes, row, row * k->h);
    free(bytes);
}

static void generate(MTLTexture *t) {
    MTLCommandBuffer *commands = mtl_command_queue_command_buffer(queue);
    MTLBlitCommandEncoder *blit = mtl_command_buffer_blit_command_encoder(commands);
    mtl_blit_command_encoder_generate_mipmaps(blit, t);
    mtl_blit_command_encoder_end_encoding(blit);
    run_to_end(commands);
}

static void check(const Case *k) {
    size_t largest = k->w > k->h ? k->w : k->h, levels = 1;
    largest = largest > k->d ? largest : k->d;
    while (largest >> levels) levels++;
    MTLTextureDescriptor d = texture_shape(k->type, k->format, k->w, k->h, k->d, k->length, levels);
    clear_messages();
    MTLTexture *t = mtl_device_new_texture(device, &d);
    assert_non_null(t);
    for (size_t s = 0; s < k->slices; s++) fill(t, k, s);
    generate(t);
    for (size_t s = 0; s < k->slices; s++)
        for (size_t level = 1; level < levels; level++) {
            // Each level from what is stored one above: rounding does not add up.
            Image above = read_level(t, k, level - 1, s), got = read_level(t, k, level, s);
            Image want = half(&above);
            for (size_t i = 0; i < want.w * want.h * want.d; i++)
                for (int c = 0; c < k->n_components; c++) {
                    double a = want.rgba[4 * i + (size_t)c], b = got.rgba[4 * i + (size_t)c];
                    if (!(fabs(a - b) <= slack(k->kind, a, c)))
                        fail_msg(
                            "%s: level %zu, slice %zu, texel %zu, component %d: %.9g, not %.9g",
                            k->name, level, s, i, c, b, a);
                }
            free(above.rgba), free(got.rgba), free(want.rgba);
        }
    mtl_release(t);
}

static void test_against_reference(void **state) {
    (void)state;
    const Case cases[] = {
        {"2D, powers of two", MTLTextureType2D, MTLPixelFormatRGBA32Float, FLOAT32, 4, 64, 32, 1, 1,
         1},
        {"2D, odd", MTLTextureType2D, MTLPixelFormatRGBA32Float, FLOAT32, 4, 37, 53, 1, 1, 1},
        {"2D, a row", MTLTextureType2D, MTLPixelFormatR32Float, FLOAT32, 1, 23, 1, 1, 1, 1},
        {"2D, a column", MTLTextureType2D, MTLPixelFormatRG32Float, FLOAT32, 2, 1, 21, 1, 1, 1},
        {"2D, 8 bits", MTLTextureType2D, MTLPixelFormatRGBA8Unorm, UNORM8, 4, 45, 45, 1, 1, 1},
        {"2D, sRGB", MTLTextureType2D, MTLPixelFormatRGBA8Unorm_sRGB, SRGB8, 4, 40, 27, 1, 1, 1},
        {"2D, halves", MTLTextureType2D, MTLPixelFormatRGBA16Float, HALF, 4, 20, 30, 1, 1, 1},
        {"2D, 16 bits", MTLTextureType2D, MTLPixelFormatRG16Unorm, UNORM16, 2, 19, 17, 1, 1, 1},
        {"2D array", MTLTextureType2DArray, MTLPixelFormatR8Unorm, UNORM8, 1, 12, 9, 1, 4, 4},
        {"cube", MTLTextureTypeCube, MTLPixelFormatRGBA8Unorm, UNORM8, 4, 15, 15, 1, 1, 6},
        {"cube array", MTLTextureTypeCubeArray, MTLPixelFormatRG8Unorm, UNORM8, 2, 8, 8, 1, 2, 12},
        {"3D", MTLTextureType3D, MTLPixelFormatRGBA32Float, FLOAT32, 4, 9, 14, 7, 1, 1},
        {"2D, large", MTLTextureType2D, MTLPixelFormatRGBA8Unorm_sRGB, SRGB8, 4, 401, 300, 1, 1, 1},
        {"2D, large and even", MTLTextureType2D, MTLPixelFormatRG8Unorm, UNORM8, 2, 512, 256, 1, 1,
         1},
        {"2D array, large", MTLTextureType2DArray, MTLPixelFormatR32Float, FLOAT32, 1, 150, 99, 1,
         7, 7},
        {"3D, large", MTLTextureType3D, MTLPixelFormatR8Unorm, UNORM8, 1, 50, 49, 48, 1, 1},
        {"3D, a stack", MTLTextureType3D, MTLPixelFormatR8Unorm, UNORM8, 1, 1, 1, 33, 1, 1},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) check(&cases[i]);
}

// A checkerboard of black and white in sRGB is 188, not 128.
static void test_linear_light(void **state) {
    (void)state;
    MTLTextureDescriptor d = mtl_texture_descriptor_2d(MTLPixelFormatBGRA8Unorm_sRGB, 2, 2, true);
    MTLTexture *t = mtl_device_new_texture(device, &d);
    const uint32_t board[4] = {0xffffffff, 0, 0, 0xffffffff};
    mtl_texture_replace_region(t, mtl_region_make_2d(0, 0, 2, 2), 0, board, 8);
    generate(t);
    uint8_t texel[4];
    mtl_texture_get_bytes(t, texel, 4, mtl_region_make_2d(0, 0, 1, 1), 1);
    assert_int_equal(texel[0], 188);
    assert_int_equal(texel[1], 188);
    assert_int_equal(texel[2], 188);
    assert_int_equal(texel[3], 128);
    mtl_release(t);
}

// Every format either gets mipmaps of a constant colour that are that colour, or is refused.
static void test_every_format(void **state) {
    (void)state;
    const struct {
        const char *name;
        int value;
        size_t bytes, block;
    } formats[] = {
#define ABI_PIXEL_FORMAT(name, value, coding, kind, w, h, n, components, view_class, caps)         \
    {#name, value, n, w * h},
#include "abi/pixel_formats.def"
    };
    int n_made = 0, n_refused = 0;
    for (size_t i = 0; i < sizeof formats / sizeof *formats; i++) {
        if (formats[i].value == 261 || formats[i].value == 262) continue;
        bool square = strstr(formats[i].name, "PVRTC") != NULL;
        MTLTextureDescriptor d =
            mtl_texture_descriptor_2d((MTLPixelFormat)formats[i].value, 16, square ? 16 : 8, true);
        MTLTexture *t = mtl_device_new_texture(device, &d);
        assert_non_null(t);
        bool plain = formats[i].block == 1;
        uint8_t texels[128 * 16] = {0};
        for (size_t k = 0; plain && k < 128; k++) {
            // One texel of every format: 0.5 or so in each component, no NaN.
            static const uint8_t pattern[16] = {0x35, 0x34, 0x33, 0x3a, 0x31, 0x38, 0x36, 0x3c,
                                                0x32, 0x37, 0x39, 0x3b, 0x30, 0x36, 0x35, 0x3d};
            memcpy(texels + k * formats[i].bytes, pattern, formats[i].bytes);
        }
        if (plain)
            mtl_texture_replace_region(t, mtl_region_make_2d(0, 0, 16, 8), 0, texels,
                                       16 * formats[i].bytes);
        clear_messages();
        MTLCommandBuffer *commands = mtl_command_queue_command_buffer(queue);
        MTLBlitCommandEncoder *blit = mtl_command_buffer_blit_command_encoder(commands);
        mtl_blit_command_encoder_generate_mipmaps(blit, t);
        mtl_blit_command_encoder_end_encoding(blit);
        commit_and_wait(commands);
        bool colour = plain && (formats[i].value < 250 || formats[i].value > 500);
        bool integer = strstr(formats[i].name, "int") != NULL;
        if (colour && !integer) {
            assert_completed(commands);
            uint8_t got[16];
            mtl_texture_get_bytes(t, got, formats[i].bytes, mtl_region_make_2d(0, 0, 1, 1), 3);
            bool padded = formats[i].value == 552 || formats[i].value == 553 ||
                          formats[i].value == 554 || formats[i].value == 555; // unused bits
            bool shared = formats[i].value == 93; // several spellings of one number
            if (!padded && !shared && memcmp(got, texels, formats[i].bytes) != 0)
                fail_msg("%s: the mean of equal texels differs", formats[i].name);
            n_made++;
        } else {
            assert_int_equal(mtl_command_buffer_status(commands), MTLCommandBufferStatusError);
            if (strcmp(last_rule, "blit_mipmap_format") != 0)
                fail_msg("%s: %s", formats[i].name, last_text);
            n_refused++;
        }
        mtl_release(commands);
        mtl_release(t);
    }
    assert_true(n_made >= 30 && n_refused >= 50);
}

static void test_rules(void **state) {
    (void)state;
    MTLTextureDescriptor d = mtl_texture_descriptor_2d(MTLPixelFormatRGBA8Unorm, 8, 8, false);
    MTLTexture *t = mtl_device_new_texture(device, &d);
    mtl_texture_set_label(t, "flat");
    MTLCommandBuffer *commands = mtl_command_queue_command_buffer(queue);
    MTLBlitCommandEncoder *blit = mtl_command_buffer_blit_command_encoder(commands);
    clear_messages();
    mtl_blit_command_encoder_generate_mipmaps(blit, NULL);
    assert_string_equal(last_rule, "null_argument");
    mtl_blit_command_encoder_end_encoding(blit);
    commit_and_wait(commands);
    assert_int_equal(mtl_command_buffer_status(commands), MTLCommandBufferStatusError);
    mtl_release(commands);
    mtl_release(t);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_against_reference),
        cmocka_unit_test(test_linear_light),
        cmocka_unit_test(test_every_format),
        cmocka_unit_test(test_rules),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
