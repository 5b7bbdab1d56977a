// SPDX-License-Identifier: Apache-2.0
// test_formats.c: the table of pixel formats, and every conversion against a second one written
// from the rules in double precision: all bit patterns of components up to 16 bits, edge values and
// random ones beyond. What is encoded must be the nearest of all values the format has.
#include "texture_test.h"
#include "base/numbers.h"

static const uint16_t values[] = {
#define ABI_PIXEL_FORMAT(name, value, ...) value,
#include "abi/pixel_formats.def"
};
#define N_VALUES (sizeof values / sizeof *values)

TEST(table_is_consistent) {
    assert_int_equal(N_VALUES, 138);
    for (size_t i = 0; i < N_VALUES; i++) {
        const AbiPixelFormat *f = abi_pixel_format(values[i]);
        assert_non_null(f);
        assert_int_equal(f->value, values[i]);
        unsigned bits = 0;
        for (int c = 0; c < 4; c++) {
            bits += f->bits[c].n_bits;
            if (f->bits[c].n_bits)
                assert_true(f->bits[c].shift / 32 ==
                            (f->bits[c].shift + f->bits[c].n_bits - 1) / 32);
        }
        assert_true(bits <= f->block_bytes * 8u);
        assert_int_equal(bits != 0, f->coding == ABI_CODING_BITS);
        if (f->view_class <= 128 && f->view_class != 1)
            assert_int_equal(f->block_bytes * 8, f->view_class);
        const AbiPixelFormat *first = f->view_class > 128 ? abi_pixel_format(f->view_class) : f;
        assert_non_null(first);
        assert_int_equal(first->view_class, f->view_class);
        assert_int_equal(first->block_bytes, f->block_bytes);
        assert_int_equal(first->block_width, f->block_width);
    }
    assert_null(abi_pixel_format(0));
    assert_null(abi_pixel_format(2));
    assert_null(abi_pixel_format(191));
    assert_null(abi_pixel_format(556));
    assert_null(abi_pixel_format(UINT32_MAX));
    assert_string_equal(abi_pixel_format(70)->name, "RGBA8Unorm");
    assert_true(abi_format_view_compatible(abi_pixel_format(70), abi_pixel_format(71)));
    assert_true(abi_format_view_compatible(abi_pixel_format(70), abi_pixel_format(53)));
    assert_false(abi_format_view_compatible(abi_pixel_format(70), abi_pixel_format(10)));
    assert_false(abi_format_view_compatible(abi_pixel_format(55), abi_pixel_format(252)));
}

// Every value below is exact in double, or rounded far below a float.
static double minifloat(uint32_t bits, unsigned mantissa_bits) {
    uint32_t e = bits >> mantissa_bits, m = bits & ((1u << mantissa_bits) - 1);
    if (e == 31) return m ? NAN : INFINITY;
    double scale = pow(2, (int)(e ? e : 1) - 15);
    return ((e ? 1.0 : 0.0) + m / (double)(1u << mantissa_bits)) * scale;
}

static double srgb_decoded(double e) {
    double a = fabs(e), l = a <= 0.04045 ? a / 12.92 : pow((a + 0.055) / 1.055, 2.4);
    return e < 0 ? -l : l;
}

static double expected(const AbiPixelFormat *f, int c, uint32_t v) {
    unsigned n = f->bits[c].n_bits;
    double top = pow(2, n) - 1, half = pow(2, n - 1);
    switch ((AbiFormatKind)f->kind) {
    case ABI_KIND_UNORM: return v / top;
    case ABI_KIND_SRGB: return c == 3 ? v / top : srgb_decoded(v / top);
    case ABI_KIND_SNORM: return fmax((v >= half ? v - 2 * half : v) / (half - 1), -1);
    case ABI_KIND_XR: return c == 3 ? fmin(fmax((v - 384.0) / 510, 0), 1) : (v - 384.0) / 510;
    case ABI_KIND_XR_SRGB:
        return c == 3 ? fmin(fmax((v - 384.0) / 510, 0), 1) : srgb_decoded((v - 384.0) / 510);
    case ABI_KIND_FLOAT:
        if (n == 16) return (v & 0x8000 ? -1 : 1) * minifloat(v & 0x7fff, 10);
        if (n < 16) return minifloat(v, n - 5);
        float x;
        memcpy(&x, &v, 4);
        return x;
    default: fail(); return 0;
    }
}

static void put_bits(unsigned char *texel, AbiFormatBits b, uint32_t v) {
    for (unsigned i = 0; i < b.n_bits; i++) {
        unsigned at = b.shift + i;
        texel[at / 8] = (unsigned char)((texel[at / 8] & ~(1u << at % 8)) | (v >> i & 1) << at % 8);
    }
}

static uint32_t get_bits(const unsigned char *texel, AbiFormatBits b) {
    uint32_t v = 0;
    for (unsigned i = 0; i < b.n_bits; i++)
        v |= (uint32_t)(texel[(b.shift + i) / 8] >> (b.shift + i) % 8 & 1) << i;
    return v;
}

// A code and its value again: not those that share their value with another.
static bool comes_back(const AbiPixelFormat *f, int c, uint32_t v) {
    unsigned n = f->bits[c].n_bits;
    if (f->kind == ABI_KIND_SNORM) return v != 1u << (n - 1);
    bool xr = f->kind == ABI_KIND_XR || f->kind == ABI_KIND_XR_SRGB;
    return !xr || c < 3 || (v >= 384 && v <= 894);
}

static void check_code(const AbiPixelFormat *f, int c, uint32_t v) {
    unsigned char texel[16] = {0}, again[16];
    float rgba[4];
    put_bits(texel, f->bits[c], v);
    texel_decode_float(f, texel, 1, rgba);
    double want = expected(f, c, v);
    if (want != want) {
        assert_true(rgba[c] != rgba[c]);
    } else if (rgba[c] != (float)want) {
        // The libm behind `expected` may be off by an ulp of double; a float must still agree.
        print_message("%s component %d code %u: %.9g, not %.9g\n", f->name, c, v, rgba[c], want);
        fail();
    }
    for (int k = 0; k < 4; k++)
        if (!f->bits[k].n_bits) assert_true(rgba[k] == (k == 3 ? 1.0f : 0.0f));
    memset(again, 0, sizeof again);
    texel_encode_float(f, rgba, 1, again);
    uint32_t back = get_bits(again, f->bits[c]);
    if (want != want) {
        texel_decode_float(f, again, 1, rgba);
        assert_true(rgba[c] != rgba[c]);
    } else if (comes_back(f, c, v) && back != v) {
        print_message("%s component %d: code %u comes back as %u\n", f->name, c, v, back);
        fail();
    }
}

TEST(every_code_decodes_and_returns) {
    for (size_t i = 0; i < N_VALUES; i++) {
        const AbiPixelFormat *f = abi_pixel_format(values[i]);
        if (f->coding != ABI_CODING_BITS || abi_format_is_integer(f)) continue;
        if (f->kind == ABI_KIND_SHARED) continue;
        for (int c = 0; c < 4; c++) {
            unsigned n = f->bits[c].n_bits;
            uint64_t seed = values[i];
            if (n == 0) continue;
            if (n <= 16)
                for (uint32_t v = 0; v < 1u << n; v++) check_code(f, c, v);
            else
                for (uint32_t k = 0; k < 20000; k++)
                    check_code(f, c, test_random(&seed) & (uint32_t)((UINT64_C(1) << n) - 1));
        }
    }
}

// The nearest code to x by looking at all of them; two at the same distance: the even one.
static uint32_t nearest_code(const AbiPixelFormat *f, int c, double x, const double *table) {
    unsigned n = f->bits[c].n_bits;
    uint32_t best = 0;
    double distance = INFINITY;
    (void)f;
    for (uint32_t v = 0; v < 1u << n; v++) {
        double d = fabs(table[v] - x);
        if (d < distance || (d == distance && v % 2 == 0 && table[v] != table[best])) {
            distance = d;
            best = v;
        }
    }
    return best;
}

static void check_encode(const AbiPixelFormat *f, int c, float x, const double *table, double low,
                         double high) {
    float rgba[4] = {0};
    unsigned char texel[16] = {0};
    rgba[c] = x;
    texel_encode_float(f, rgba, 1, texel);
    uint32_t got = get_bits(texel, f->bits[c]);
    double clamped = x != x ? 0 : fmin(fmax(x, low), high);
    uint32_t want = nearest_code(f, c, clamped, table);
    if (table[got] != table[want]) {
        print_message("%s component %d: %.9g becomes %u, not %u\n", f->name, c, x, got, want);
        fail();
    }
}

TEST(encoding_takes_the_nearest) {
    static double table[1 << 11];
    static const uint16_t formats[] = {1, 10, 12, 40, 41, 42, 90, 94, 554, 552};
    for (size_t i = 0; i < sizeof formats / sizeof *formats; i++) {
        const AbiPixelFormat *f = abi_pixel_format(formats[i]);
        for (int c = 0; c < 4; c++) {
            unsigned n = f->bits[c].n_bits;
            if (n == 0) continue;
            double low = INFINITY, high = -INFINITY;
            for (uint32_t v = 0; v < 1u << n; v++) {
                table[v] = expected(f, c, v);
                low = fmin(low, table[v]);
                high = fmax(high, table[v]);
            }
            static const float edges[] = {0,        -0.0f,     1,    -1,    2,   -2,
                                          INFINITY, -INFINITY, 0.5f, -0.5f, NAN, 1e-30f};
            for (size_t k = 0; k < sizeof edges / sizeof *edges; k++)
                check_encode(f, c, edges[k], table, low, high);
            uint64_t seed = formats[i];
            for (int k = 0; k < 1500; k++)
                check_encode(f, c, test_uniform(&seed, -1.2f, 1.3f), table, low, high);
            // Half way between two codes, and the floats next to it.
            for (uint32_t v = 0; v + 1 < 1u << n; v++) {
                float middle = (float)((table[v] + table[v + 1]) / 2);
                check_encode(f, c, nextafterf(middle, -9), table, low, high);
                check_encode(f, c, nextafterf(middle, 9), table, low, high);
            }
        }
    }
}

TEST(srgb_is_correctly_rounded) {
    // Where the rounded code changes, found in long double.
    for (int code = 0; code < 255; code++) {
        long double e = (code + 0.5L) / 255;
        long double step = e <= 0.04045L ? e / 12.92L : powl((e + 0.055L) / 1.055L, 2.4L);
        float at = (float)step;
        if ((long double)at < step) at = nextafterf(at, 2);
        assert_int_equal(texel_linear_to_srgb8(at), code + 1);
        assert_int_equal(texel_linear_to_srgb8(nextafterf(at, 0)), code);
    }
    for (int code = 0; code < 256; code++)
        assert_int_equal(texel_linear_to_srgb8(texel_srgb8_to_linear((uint8_t)code)), code);
    assert_int_equal(texel_linear_to_srgb8(NAN), 0);
    assert_int_equal(texel_linear_to_srgb8(-1), 0);
    assert_int_equal(texel_linear_to_srgb8(INFINITY), 255);
    assert_int_equal(texel_linear_to_srgb8(1e-40f), 0);
}

// Small floats: between two neighbours the nearer one, ties to the even code.
TEST(small_floats_round_to_nearest) {
    for (uint32_t v = 0; v < 0x7bff; v++) {
        double a = minifloat(v, 10), b = minifloat(v + 1, 10);
        float middle = (float)((a + b) / 2); // exact
        assert_int_equal(half_from_float(middle), v % 2 ? v + 1 : v);
        assert_int_equal(half_from_float(nextafterf(middle, 0)), v);
        assert_int_equal(half_from_float(-nextafterf(middle, 1e9f)), (v + 1) | 0x8000);
    }
    assert_int_equal(half_from_float(65519.99f), 0x7bff);
    assert_int_equal(half_from_float(65520), 0x7c00);
    assert_int_equal(half_from_float(1e30f), 0x7c00);
    assert_int_equal(half_from_float(-INFINITY), 0xfc00);
    assert_int_equal(half_from_float(1e-30f), 0);
    for (unsigned n = 10; n <= 11; n++) {
        for (uint32_t v = 0; v + 1 < 31u << (n - 5); v++) {
            float middle = (float)((minifloat(v, n - 5) + minifloat(v + 1, n - 5)) / 2);
            assert_int_equal(texel_float_to_small(middle, n), v % 2 ? v + 1 : v);
            assert_int_equal(texel_float_to_small(nextafterf(middle, 1e9f), n), v + 1);
        }
        assert_int_equal(texel_float_to_small(-1, n), 0);
        assert_int_equal(texel_float_to_small(-INFINITY, n), 0);
        assert_int_equal(texel_float_to_small(1e30f, n), (31u << (n - 5)) - 1);
        assert_int_equal(texel_float_to_small(INFINITY, n), 31u << (n - 5));
    }
}

TEST(shared_exponents) {
    float rgb[3], back[3];
    uint64_t seed = 9;
    for (int k = 0; k < 200000; k++) {
        uint32_t bits = test_random(&seed);
        texel_rgb9e5_to_float(bits, rgb);
        for (int c = 0; c < 3; c++)
            assert_true((double)rgb[c] ==
                        (bits >> 9 * c & 511) * pow(2, (double)(bits >> 27) - 15 - 9));
        texel_rgb9e5_to_float(texel_float_to_rgb9e5(rgb), back);
        assert_memory_equal(rgb, back, sizeof rgb);
    }
    for (int k = 0; k < 200000; k++) {
        for (int c = 0; c < 3; c++)
            rgb[c] = test_uniform(&seed, 0, 1) * powf(2, test_uniform(&seed, -20, 15.9f));
        uint32_t bits = texel_float_to_rgb9e5(rgb), top = 0;
        texel_rgb9e5_to_float(bits, back);
        for (int c = 0; c < 3; c++) {
            assert_true(fabs((double)rgb[c] - back[c]) <= pow(2, (double)(bits >> 27) - 25));
            top |= bits >> 9 * c & 511;
        }
        assert_true(top >= 256 || bits >> 27 == 0); // no bit of precision is given away
    }
    texel_rgb9e5_to_float(texel_float_to_rgb9e5((float[3]){NAN, -1, INFINITY}), back);
    assert_true(back[0] == 0 && back[1] == 0 && back[2] == 65408);
}

TEST(integers_are_extended_and_clamped) {
    static const uint32_t inputs[] = {
        0,          1,          127,        128,        255,        256,        32767,
        32768,      65535,      65536,      1023,       1024,       3,          4,
        0x7fffffff, 0x80000000, 0xffffffff, 0xffffff80, 0xffffff7f, 0xffff8000, 0xffff7fff};
    for (size_t i = 0; i < N_VALUES; i++) {
        const AbiPixelFormat *f = abi_pixel_format(values[i]);
        if (!abi_format_is_integer(f)) continue;
        bool to_signed = f->kind == ABI_KIND_SINT;
        for (size_t k = 0; k < sizeof inputs / sizeof *inputs; k++) {
            for (int from_signed = 0; from_signed < 2; from_signed++) {
                uint32_t in[4] = {inputs[k], inputs[k], inputs[k], inputs[k]}, out[4];
                unsigned char texel[16];
                memset(texel, 0xa5, sizeof texel);
                texel_encode_int(f, in, from_signed, 1, texel);
                texel_decode_int(f, texel, 1, out);
                for (int c = 0; c < 4; c++) {
                    unsigned n = f->bits[c].n_bits;
                    double x = from_signed ? (double)(int32_t)in[c] : (double)in[c];
                    double high = to_signed ? pow(2, n - 1) - 1 : pow(2, n) - 1;
                    double low = to_signed ? -pow(2, n - 1) : 0;
                    double want = n ? fmin(fmax(x, low), high) : c == 3;
                    double got = to_signed ? (double)(int32_t)out[c] : (double)out[c];
                    assert_true(got == want);
                }
            }
        }
    }
}

TEST(depth_and_stencil_keep_each_other) {
    unsigned char texel[8] = {0};
    const AbiPixelFormat *d = abi_pixel_format(260), *s = abi_pixel_format(261);
    texel_encode_int(s, (uint32_t[4]){0xab}, false, 1, texel);
    texel_encode_float(d, (float[4]){0.25f}, 1, texel);
    uint32_t stencil[4];
    float depth[4];
    texel_decode_int(s, texel, 1, stencil);
    texel_decode_float(d, texel, 1, depth);
    assert_int_equal(stencil[0], 0xab);
    assert_true(depth[0] == 0.25f);
    const AbiPixelFormat *d24 = abi_pixel_format(255), *s24 = abi_pixel_format(262);
    texel_encode_float(d24, (float[4]){1}, 1, texel);
    texel_encode_int(s24, (uint32_t[4]){0x7f}, false, 1, texel);
    texel_decode_float(d24, texel, 1, depth);
    assert_true(depth[0] == 1);
    assert_int_equal(texel[3], 0x7f);
}

TEST(blocks_of_two_texels) {
    float rgba[8];
    const unsigned char bytes[4] = {10, 20, 30, 40};
    assert_true(texel_decode_block(abi_pixel_format(240), bytes, rgba)); // G0 B G1 R
    const float gbgr[8] = {40, 10, 20, 255, 40, 30, 20, 255};
    for (int i = 0; i < 8; i++) assert_true(rgba[i] == gbgr[i] / 255);
    assert_true(texel_decode_block(abi_pixel_format(241), bytes, rgba)); // B G0 R G1
    const float bgrg[8] = {30, 20, 10, 255, 30, 40, 10, 255};
    for (int i = 0; i < 8; i++) assert_true(rgba[i] == bgrg[i] / 255);
}

int main(void) { return unit_run(NULL, NULL); }
