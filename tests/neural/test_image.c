// SPDX-License-Identifier: Apache-2.0
// Pictures: every kind of PNG that the format has, JPEG with its orientations, damage of every
// byte, sizes that must not be believed, and files that are no pictures.
#include "../base/folder_test.h"
#include "base/files.h"
#include "image/image.h"
#include "apps/neural/picture.h"
#include "base/outputs.h"
#include <errno.h>
#include <math.h>
#include <png.h>
#include <signal.h>
#include <sys/resource.h>
// after stdio
#include <jpeglib.h>

static char message[MESSAGE_BYTES];

typedef struct Bytes {
    unsigned char data[1 << 16];
    size_t n;
} Bytes;

static void put_bytes(png_structp png, png_bytep from, size_t n) {
    Bytes *b = png_get_io_ptr(png);
    assert_true(b->n + n <= sizeof b->data);
    memcpy(b->data + b->n, from, n);
    b->n += n;
}
static void put_nothing(png_structp png) { (void)png; }

enum { W = 13, H = 9 }; // no multiple of 8: packed rows end inside a byte

// Sample (x, y, channel) as the encoder gets it, of `depth` bits.
static unsigned sample(unsigned x, unsigned y, unsigned c, int depth) {
    unsigned v = x * 2377 + y * 4231 + c * 9973;
    return v & ((1u << depth) - 1);
}

// A PNG of one kind, by libpng: what is under test only shares the library.
static void make_png(Bytes *b, int type, int depth, bool interlaced, bool transparent) {
    static const int channels[] = {1, 0, 3, 1, 2, 0, 4};
    const int n = channels[type];
    b->n = 0;
    png_structp png = png_create_write_struct(PNG_LIBPNG_VER_STRING, NULL, NULL, NULL);
    png_infop info = png_create_info_struct(png);
    png_set_write_fn(png, b, put_bytes, put_nothing);
    png_set_IHDR(png, info, W, H, depth, type, interlaced ? PNG_INTERLACE_ADAM7 : 0, 0, 0);
    png_color palette[256];
    for (unsigned i = 0; i < 256; i++)
        palette[i] = (png_color){(png_byte)(i * 3), (png_byte)(255 - i), (png_byte)(i * 7)};
    png_byte alpha[256];
    for (unsigned i = 0; i < 256; i++) alpha[i] = (png_byte)(i * 31);
    if (type == PNG_COLOR_TYPE_PALETTE) {
        png_set_PLTE(png, info, palette, 1 << depth);
        if (transparent) png_set_tRNS(png, info, alpha, 1 << depth, NULL);
    } else if (transparent) {
        png_color_16 key = {.red = (png_uint_16)sample(2, 1, 0, depth),
                            .green = (png_uint_16)sample(2, 1, 1, depth),
                            .blue = (png_uint_16)sample(2, 1, 2, depth),
                            .gray = (png_uint_16)sample(2, 1, 0, depth)};
        png_set_tRNS(png, info, NULL, 0, &key);
    }
    png_write_info(png, info);
    png_byte rows[H][W * 8];
    png_bytep pointers[H];
    memset(rows, 0, sizeof rows);
    for (unsigned y = 0; y < H; y++) {
        pointers[y] = rows[y];
        for (unsigned x = 0; x < W; x++)
            for (unsigned c = 0; c < (unsigned)n; c++) {
                unsigned v = sample(x, y, c, depth), i = x * (unsigned)n + c;
                if (depth == 16)
                    rows[y][i * 2] = (png_byte)(v >> 8), rows[y][i * 2 + 1] = (png_byte)v;
                else if (depth == 8)
                    rows[y][i] = (png_byte)v;
                else
                    rows[y][i * (unsigned)depth / 8] |=
                        (png_byte)(v << (8 - (unsigned)depth - i * (unsigned)depth % 8));
            }
    }
    png_write_image(png, pointers);
    png_write_end(png, info);
    png_destroy_write_struct(&png, &info);
}

static double to255(unsigned v, int depth) { return v * 255.0 / ((1u << depth) - 1); }

// What the pixel must be: by the PNG specification, alpha over black.
static void expected(int type, int depth, bool transparent, unsigned x, unsigned y, double rgb[3]) {
    double a = 1;
    unsigned v = sample(x, y, 0, depth);
    if (type == PNG_COLOR_TYPE_PALETTE) {
        rgb[0] = (unsigned char)(v * 3), rgb[1] = 255 - v, rgb[2] = (unsigned char)(v * 7);
        if (transparent) a = (unsigned char)(v * 31) / 255.0;
    } else {
        bool key = true;
        for (unsigned c = 0; c < 3; c++) {
            unsigned from = type & PNG_COLOR_MASK_COLOR ? c : 0;
            rgb[c] = to255(sample(x, y, from, depth), depth);
            key = key && sample(x, y, from, depth) == sample(2, 1, from, depth);
        }
        if (type & PNG_COLOR_MASK_ALPHA)
            a = to255(sample(x, y, type & PNG_COLOR_MASK_COLOR ? 3 : 1, depth), depth) / 255;
        else if (transparent && key)
            a = 0;
    }
    for (int c = 0; c < 3; c++) rgb[c] *= a;
}

TEST(png_of_every_kind) {
    static const struct {
        int type;
        int depths[6];
    } kinds[] = {{PNG_COLOR_TYPE_GRAY, {1, 2, 4, 8, 16}},
                 {PNG_COLOR_TYPE_RGB, {8, 16}},
                 {PNG_COLOR_TYPE_PALETTE, {1, 2, 4, 8}},
                 {PNG_COLOR_TYPE_GRAY_ALPHA, {8, 16}},
                 {PNG_COLOR_TYPE_RGB_ALPHA, {8, 16}}};
    static Bytes b;
    for (size_t k = 0; k < sizeof kinds / sizeof *kinds; k++)
        for (const int *depth = kinds[k].depths; *depth; depth++)
            for (int how = 0; how < 4; how++) {
                bool transparent = how & 1, interlaced = how & 2;
                if (transparent && kinds[k].type & PNG_COLOR_MASK_ALPHA) continue;
                make_png(&b, kinds[k].type, *depth, interlaced, transparent);
                Image image;
                if (!image_decode(&image, b.data, b.n, "x.png", message))
                    fail_msg("type %d depth %d: %s", kinds[k].type, *depth, message);
                assert_int_equal(image.width, W);
                assert_int_equal(image.height, H);
                for (unsigned y = 0; y < H; y++)
                    for (unsigned x = 0; x < W; x++) {
                        double want[3];
                        expected(kinds[k].type, *depth, transparent, x, y, want);
                        for (unsigned c = 0; c < 3; c++) {
                            double got = image.rgb[(y * W + x) * 3 + c];
                            if (fabs(got - want[c]) > 1.51) // three roundings to 8 bits
                                fail_msg("type %d depth %d %s%s (%u, %u) channel %u: %g, not %g",
                                         kinds[k].type, *depth, interlaced ? "interlaced " : "",
                                         transparent ? "transparent" : "", x, y, c, got, want[c]);
                        }
                    }
                image_free(&image);
            }
}

// A cut or changed picture is refused or read, never more: run under the sanitizers.
TEST(damaged_png) {
    static Bytes b, copy;
    make_png(&b, PNG_COLOR_TYPE_PALETTE, 4, true, true);
    Image image;
    for (size_t n = 0; n < b.n; n++) {
        assert_false(image_decode(&image, b.data, n, "cut.png", message));
        assert_non_null(strstr(message, "cut.png"));
        assert_null(image.rgb);
    }
    for (size_t i = 0; i < b.n; i++)
        for (int bit = 0; bit < 8; bit += 3) {
            copy = b;
            copy.data[i] ^= (unsigned char)(1 << bit);
            image_decode(&image, copy.data, copy.n, "damaged.png", message);
            image_free(&image);
        }
}

// The header with another size and its checksum put right.
static void resize(Bytes *b, uint32_t width, uint32_t height) {
    unsigned char *ihdr = b->data + 12; // type and data are what the checksum covers
    for (int i = 0; i < 4; i++) {
        ihdr[4 + i] = (unsigned char)(width >> (24 - 8 * i));
        ihdr[8 + i] = (unsigned char)(height >> (24 - 8 * i));
    }
    uint32_t crc = ~0u;
    for (int i = 0; i < 17; i++) {
        crc ^= ihdr[i];
        for (int k = 0; k < 8; k++) crc = crc >> 1 ^ (crc & 1 ? 0xedb88320u : 0);
    }
    crc = ~crc;
    for (int i = 0; i < 4; i++) ihdr[17 + i] = (unsigned char)(crc >> (24 - 8 * i));
}

TEST(huge_sizes_are_refused_before_memory) {
    static const uint32_t sizes[][2] = {{0x7fffffff, 0x7fffffff},
                                        {1u << 20, 1u << 20},
                                        {0x7fffffff, 1},
                                        {1, 0x7fffffff},
                                        {16385, 8193}};
    static Bytes b;
    Image image;
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        make_png(&b, PNG_COLOR_TYPE_RGB, 8, false, false);
        resize(&b, sizes[i][0], sizes[i][1]);
        struct rusage before, after;
        getrusage(RUSAGE_SELF, &before);
        assert_false(image_decode(&image, b.data, b.n, "huge.png", message));
        getrusage(RUSAGE_SELF, &after);
        assert_true(after.ru_maxrss - before.ru_maxrss < 100000); // KiB
        assert_non_null(strstr(message, "Failed to decode image at huge.png"));
    }
    make_png(&b, PNG_COLOR_TYPE_RGB, 8, false, false);
    resize(&b, W, H);
    assert_true(image_decode(&image, b.data, b.n, "same.png", message)); // resize is right
    image_free(&image);
    assert_false(image_create(&image, 0, 5, message));
    assert_false(image_create(&image, 1u << 20, 1u << 20, message));
    // A chunk of a text after the header that says it has 1.8 GB.
    enum { HEADER_END = 33 };
    memcpy(b.data + HEADER_END, "\x6c\0\0\x14zTXta\0\0", 11);
    struct rusage before, after;
    getrusage(RUSAGE_SELF, &before);
    assert_false(image_decode(&image, b.data, b.n, "text.png", message));
    getrusage(RUSAGE_SELF, &after);
    assert_non_null(strstr(message, "cut off"));
    assert_true(after.ru_maxrss - before.ru_maxrss < 100000);
}

TEST(gamma_is_applied) {
    static Bytes b;
    b.n = 0;
    png_structp png = png_create_write_struct(PNG_LIBPNG_VER_STRING, NULL, NULL, NULL);
    png_infop info = png_create_info_struct(png);
    png_set_write_fn(png, &b, put_bytes, put_nothing);
    png_set_IHDR(png, info, 1, 1, 8, PNG_COLOR_TYPE_RGB, 0, 0, 0);
    png_set_gAMA_fixed(png, info, 100000); // linear light
    png_write_info(png, info);
    png_byte row[3] = {55, 128, 255};
    png_write_row(png, row);
    png_write_end(png, info);
    png_destroy_write_struct(&png, &info);
    Image image;
    assert_true(image_decode(&image, b.data, b.n, "linear.png", message));
    for (int c = 0; c < 3; c++)
        assert_true(fabs(image.rgb[c] - 255 * pow(row[c] / 255.0, 1 / 2.2)) < 2);
    image_free(&image);
}

TEST(writes_what_it_reads) {
    Image a, b;
    assert_true(neural_picture_make(&a, 61, 47, 1, message));
    for (int alpha = 0; alpha < 2; alpha++) {
        assert_true(image_save(&a, at("a.png"), alpha, message));
        assert_true(image_load(&b, at("a.png"), message));
        assert_int_equal(b.width, 61);
        assert_int_equal(b.height, 47);
        assert_memory_equal(a.rgb, b.rgb, 61 * 47 * 3);
        assert_true(image_mse(&a, &b) == 0 && image_psnr(0) == 1000);
        image_free(&b);
        size_t n;
        unsigned char *file = file_read(at("a.png"), &n);
        assert_int_equal(file[25], alpha ? PNG_COLOR_TYPE_RGBA : PNG_COLOR_TYPE_RGB);
        free(file);
    }
    assert_int_equal(testing_count(folder, "."), 1); // no temporary file stays
    image_free(&a);
}

TEST(jpeg) {
    Image a, b;
    size_t n;
    assert_true(neural_picture_make(&a, 96, 64, 0.3, message));
    double worse = 0;
    for (int quality = 95; quality > 20; quality -= 30) {
        unsigned char *data = image_encode_jpeg(&a, quality, &n, message);
        assert_non_null(data);
        assert_true(image_decode(&b, data, n, "a.jpg", message));
        assert_int_equal(b.width, 96);
        double mse = image_mse(&a, &b);
        assert_true(mse > worse && image_psnr(mse) > 24);
        worse = mse;
        image_free(&b);
        for (size_t cut = 0; cut < n - 2; cut += 7) { // the end marker itself may be missing
            assert_false(image_decode(&b, data, cut, "cut.jpg", message));
            assert_null(b.rgb);
        }
        for (size_t i = 0; i < n; i += 3) {
            data[i] ^= 0x55;
            image_decode(&b, data, n, "damaged.jpg", message);
            image_free(&b);
            data[i] ^= 0x55;
        }
        free(data);
    }
    image_free(&a);
}

// EXIF with one tag, in both byte orders, put after the start of a JPEG. Returns the new length.
static size_t add_exif(unsigned char *to, const unsigned char *jpeg_data, size_t n, int orientation,
                       bool big) {
    unsigned char app1[] = {0xff,
                            0xe1,
                            0,
                            34,
                            'E',
                            'x',
                            'i',
                            'f',
                            0,
                            0, // marker, length, name
                            'I',
                            'I',
                            42,
                            0,
                            8,
                            0,
                            0,
                            0, // TIFF, first table at 8
                            1,
                            0,
                            0x12,
                            1,
                            3,
                            0,
                            1,
                            0,
                            0,
                            0, // one entry: orientation,
                            (unsigned char)orientation,
                            0,
                            0,
                            0,
                            0,
                            0,
                            0,
                            0}; // short, 1 of them
    if (big) {
        static const unsigned char m[] = {'M', 'M', 0,    42, 0, 0, 0, 8, 0,
                                          1,   1,   0x12, 0,  3, 0, 0, 0, 1};
        memcpy(app1 + 10, m, sizeof m);
        app1[28] = 0, app1[29] = (unsigned char)orientation;
    }
    memcpy(to, jpeg_data, 2);
    memcpy(to + 2, app1, sizeof app1);
    memcpy(to + 2 + sizeof app1, jpeg_data + 2, n - 2);
    return n + sizeof app1;
}

TEST(orientations_of_exif) {
    // Left half red, right half blue; the top is darker: corners tell how it was turned.
    Image a, b;
    assert_true(image_create(&a, 64, 32, message));
    for (unsigned y = 0; y < 32; y++)
        for (unsigned x = 0; x < 64; x++)
            a.rgb[(y * 64 + x) * 3 + (x < 32 ? 0 : 2)] = y < 16 ? 100 : 250;
    size_t n;
    unsigned char *data = image_encode_jpeg(&a, 95, &n, message);
    unsigned char *turned = malloc(n + 64);
    // The corner (top left of the shown picture): is it red, is it dark; and is it 32 wide.
    static const struct {
        bool red, dark, tall;
    } want[9] = {{1, 1, 0}, {1, 1, 0}, {0, 1, 0}, {0, 0, 0}, {1, 0, 0},
                 {1, 1, 1}, {1, 0, 1}, {0, 0, 1}, {0, 1, 1}};
    for (int o = 0; o <= 9; o++)
        for (int big = 0; big < 2; big++) {
            size_t m = add_exif(turned, data, n, o, big);
            assert_true(image_decode(&b, turned, m, "turned.jpg", message));
            int i = o <= 8 ? o : 1; // a value that does not exist is none
            assert_int_equal(b.width, want[i].tall ? 32 : 64);
            const unsigned char *corner = b.rgb + (3 * b.width + 3) * 3;
            assert_int_equal(corner[0] > corner[2], want[i].red);
            assert_int_equal((want[i].red ? corner[0] : corner[2]) < 170, want[i].dark);
            // the neighbour along x tells 5 from 1's mirror images
            const unsigned char *other = b.rgb + (3 * b.width + b.width - 4) * 3;
            assert_int_equal((other[0] > other[2]) == want[i].red, want[i].tall);
            image_free(&b);
        }
    for (size_t i = 0; i < 36; i++) { // damage in the EXIF block
        size_t m = add_exif(turned, data, n, 6, false);
        turned[2 + i] ^= 0xff;
        image_decode(&b, turned, m, "damaged.jpg", message);
        image_free(&b);
    }
    free(turned);
    free(data);
    image_free(&a);
}

TEST(jpeg_of_other_colours) {
    static const struct {
        J_COLOR_SPACE space;
        int n;
        unsigned char in[4], out[3];
    } cases[] = {{JCS_GRAYSCALE, 1, {77}, {77, 77, 77}},
                 {JCS_CMYK, 4, {255, 128, 0, 255}, {255, 128, 0}}}; // Adobe's: light, not ink
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct jpeg_compress_struct c;
        struct jpeg_error_mgr e;
        unsigned char *data = NULL, row[16 * 4];
        unsigned long n = 0;
        c.err = jpeg_std_error(&e);
        jpeg_create_compress(&c);
        jpeg_mem_dest(&c, &data, &n);
        c.image_width = c.image_height = 16;
        c.input_components = cases[i].n;
        c.in_color_space = cases[i].space;
        jpeg_set_defaults(&c);
        jpeg_set_quality(&c, 100, TRUE);
        if (cases[i].space == JCS_CMYK) c.write_Adobe_marker = TRUE;
        jpeg_start_compress(&c, TRUE);
        for (int k = 0; k < 16; k++) memcpy(row + k * cases[i].n, cases[i].in, (size_t)cases[i].n);
        JSAMPROW rows = row;
        for (int k = 0; k < 16; k++) jpeg_write_scanlines(&c, &rows, 1);
        jpeg_finish_compress(&c);
        jpeg_destroy_compress(&c);
        Image image;
        assert_true(image_decode(&image, data, n, "x.jpg", message));
        for (int k = 0; k < 3; k++) assert_true(abs(image.rgb[k] - cases[i].out[k]) <= 2);
        image_free(&image);
        free(data);
    }
}

TEST(what_is_no_picture) {
    Image image;
    assert_false(image_load(&image, at("nothing.png"), message));
    assert_non_null(strstr(message, "Failed to open image at "));
    assert_non_null(strstr(message, "nothing.png"));
    assert_false(image_load(&image, folder, message));
    assert_non_null(strstr(message, "Failed to open image at "));
    assert_true(file_write_atomic(at("empty.png"), "", 0, false));
    assert_false(image_load(&image, at("empty.png"), message));
    assert_non_null(strstr(message, "Failed to decode image at "));
    assert_non_null(strstr(message, "empty"));
    assert_true(file_write_atomic(at("text.png"), "hello, I am text\n", 17, false));
    assert_false(image_load(&image, at("text.png"), message));
    assert_non_null(strstr(message, "neither PNG nor JPEG"));
    assert_false(image_load(&image, "/dev/zero", message));
    assert_false(image_load(&image, "a\nb.png", message));
    assert_null(strchr(message, '\n'));
}

TEST(one_pixel) {
    Image a, b;
    assert_true(image_create(&a, 1, 1, message));
    a.rgb[0] = 3, a.rgb[1] = 140, a.rgb[2] = 255;
    assert_true(image_save(&a, at("one.png"), true, message));
    assert_true(image_load(&b, at("one.png"), message));
    assert_memory_equal(a.rgb, b.rgb, 3);
    image_free(&a);
    image_free(&b);
}

TEST(outputs_are_tried_first) {
    assert_true(output_check(at("new.png"), message));
    assert_int_equal(testing_count(folder, "."), 0); // and nothing is left behind
    assert_false(output_check(at("no/such/folder/x.png"), message));
    assert_non_null(strstr(message, "no/such/folder/x.png"));
    assert_false(output_check(folder, message));
    assert_false(output_check("", message));
    assert_true(output_check("/dev/null", message));
    assert_true(file_write_atomic(at("old"), "old", 3, false));
    assert_true(output_check(at("old"), message));
    // A write that fails leaves what was there.
    Image a;
    assert_true(image_create(&a, 8, 8, message));
    struct rlimit limit, small = {16, RLIM_INFINITY};
    getrlimit(RLIMIT_FSIZE, &limit);
    small.rlim_max = limit.rlim_max;
    signal(SIGXFSZ, SIG_IGN);
    setrlimit(RLIMIT_FSIZE, &small);
    bool ok = image_save(&a, at("old"), true, message);
    setrlimit(RLIMIT_FSIZE, &limit);
    assert_false(ok);
    assert_non_null(strstr(message, "cannot write"));
    size_t n;
    unsigned char *data = file_read(at("old"), &n);
    assert_string_equal((char *)data, "old");
    assert_int_equal(testing_count(folder, "."), 1);
    free(data);
    image_free(&a);
}

int main(void) {
    unit_each(open_folder, close_folder);
    return unit_run(NULL, NULL);
}
