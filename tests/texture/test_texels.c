// SPDX-License-Identifier: Apache-2.0
// test_texels.c: read, write and atomics: every format with the general and the vector code,
// everything outside the texture, and garbage in every input, with pages that must not be touched
// on both sides of the texture.
#include <pthread.h>
#include "texture_test.h"
#include "devices/cpu/isa/isa.h"

static const uint16_t values[] = {
#define ABI_PIXEL_FORMAT(name, value, ...) value,
#include "abi/pixel_formats.def"
};
#define N_VALUES (sizeof values / sizeof *values)

static void call_read(const AbiTexture *t, uint32_t op, TestCall *c) {
    cpu_texture_ops()->read((uintptr_t)t, op | t->type, c->n_lanes, c->mask, c->rows.u, c->out.u);
}

static void call_write(const AbiTexture *t, uint32_t op, TestCall *c) {
    cpu_texture_ops()->write((uintptr_t)t, op | t->type, c->n_lanes, c->mask, c->rows.u, c->out.u);
}

static uint32_t data_of(const AbiPixelFormat *f) {
    return f->kind == ABI_KIND_SINT ? CPU_TEX_INT : f->kind == ABI_KIND_UINT ? CPU_TEX_UINT : 0;
}

// at: the texel, or the block that holds it.
static void decode(const AbiTexture *t, uint32_t level, const unsigned char *at, uint32_t x,
                   uint32_t y, uint32_t rgba[4]) {
    const AbiPixelFormat *f = t->format;
    if (abi_format_is_blocked(f)) {
        float block[144 * 4];
        assert_true(texel_decode_block_in(t, level, x, y, at, block));
        memcpy(rgba, &block[(y % f->block_height * f->block_width + x % f->block_width) * 4], 16);
    } else if (abi_format_is_integer(f)) {
        texel_decode_int(f, at, 1, rgba);
    } else {
        texel_decode_float(f, at, 1, (float *)rgba);
    }
}

static AbiTextureShape shape_of(uint32_t type, uint32_t format, uint32_t n_levels) {
    bool flat = texel_type_dimensions(type) == 1, cube = texel_type_is_cube(type);
    AbiTextureShape s =
        test_shape(type, format, 37,
                   flat   ? 1
                   : cube ? 37
                          : 11,
                   type == ABI_TEXTURE_3D ? 5 : 1, texel_type_is_array(type) ? 3 : 1, n_levels);
    if (texel_type_is_multisample(type)) s.n_samples = 4;
    if (abi_format_is_pvrtc(abi_pixel_format(format))) s.width = s.height = 32; // squares
    return s;
}

typedef struct Where {
    uint32_t x, y, z, level, sample;
} Where;

// A place that is outside in one of its parts now and then. true: inside.
static bool random_place(const AbiTexture *t, uint64_t *seed, Where *w) {
    *w = (Where){.level = test_random(seed) % t->n_levels,
                 .sample = test_random(seed) % t->n_samples};
    uint32_t layers =
        t->type == ABI_TEXTURE_3D ? t->levels[w->level].depth : abi_texture_n_slices(t);
    w->x = test_random(seed) % t->levels[w->level].width;
    w->y = test_random(seed) % t->levels[w->level].height;
    w->z = test_random(seed) % layers;
    uint32_t far = test_random(seed) & 1 ? UINT32_MAX - test_random(seed) % 5 : 0;
    switch (test_random(seed) % 12) {
    case 0: w->x = far ? far : t->levels[w->level].width; return false;
    case 1:
        if (texel_type_dimensions(t->type) < 2) return true;
        w->y = far ? far : t->levels[w->level].height;
        return false;
    case 2:
        if (t->type != ABI_TEXTURE_3D && !texel_type_is_array(t->type) &&
            !texel_type_is_cube(t->type))
            return true;
        w->z = far ? far : layers;
        return false;
    case 3:
        if (texel_type_is_multisample(t->type))
            w->sample = far ? far : t->n_samples;
        else if (t->type != ABI_TEXTURE_BUFFER)
            w->level = far ? far : t->n_levels;
        else
            return true;
        return false;
    default: return true;
    }
}

static void set_place(TestCall *c, const AbiTexture *t, uint32_t l, const Where *w) {
    uint32_t n = c->n_lanes;
    c->rows.u[CPU_TEX_X * n + l] = w->x;
    c->rows.u[CPU_TEX_Y * n + l] = w->y;
    c->rows.u[(t->type == ABI_TEXTURE_3D ? CPU_TEX_Z : CPU_TEX_SLICE) * n + l] = w->z;
    c->rows.u[CPU_TEX_LEVEL * n + l] = w->level;
    c->rows.u[CPU_TEX_SAMPLE * n + l] = w->sample;
    if (texel_type_is_multisample(t->type))
        c->rows.u[CPU_TEX_LEVEL * n + l] = 12345; // not looked at
}

// Runs of texels along x, as most kernels access them: in one row, or in rows of 8 (threadgroups of
// 8 x 8); outside at the right and lower edges.
static bool run_place(const AbiTexture *t, uint32_t l, int turn, Where *w) {
    uint32_t start = (uint32_t)turn % 3 * 9, y = (uint32_t)turn % 2 * 3;
    bool rows = turn >= 6 && texel_type_dimensions(t->type) > 1;
    *w = (Where){.x = rows ? start + l % 8 : start + l, .y = rows ? y + l / 8 : y};
    if (texel_type_dimensions(t->type) == 1) w->y = 0;
    return w->x < t->width && w->y < t->height;
}

static bool same_bits_or_nan(const AbiPixelFormat *f, uint32_t a, uint32_t b) {
    float x, y;
    memcpy(&x, &a, 4);
    memcpy(&y, &b, 4);
    return a == b || (!abi_format_is_integer(f) && x != x && y != y);
}

static void read_type(uint32_t type, uint32_t format) {
    bool levels = !texel_type_is_multisample(type) && type != ABI_TEXTURE_BUFFER;
    AbiTextureShape shape = shape_of(type, format, levels ? 3 : 1);
    TestTexture x;
    test_texture(&shape, true, &x);
    uint64_t seed = format * 16 + type;
    unsigned char *p = x.t.levels[0].data;
    for (uint64_t i = 0; i < x.size.n_bytes; i++) p[i] = (unsigned char)test_random(&seed);
    for (int turn = 0; turn < 10; turn++) {
        static const uint32_t lanes[] = {32, 64, 4, 1, 32, 64, 64, 32, 64, 32};
        TestCall c;
        Where w[MAX_LANES];
        bool in[MAX_LANES];
        test_all_lanes(&c, lanes[turn]);
        for (uint32_t l = 0; l < c.n_lanes; l++) {
            in[l] = turn < 4 ? random_place(&x.t, &seed, &w[l]) : run_place(&x.t, l, turn, &w[l]);
            set_place(&c, &x.t, l, &w[l]);
        }
        c.mask[0] &= turn == 2 || turn == 3 ? UINT32_MAX : UINT32_MAX ^ (turn & 1 ? 0x20u : 0);
        memset(c.out.u, 0x5a, sizeof c.out.u);
        call_read(&x.t, data_of(x.t.format), &c);
        for (uint32_t l = 0; l < c.n_lanes; l++) {
            if (!texel_lane_active(c.mask, l)) continue;
            uint32_t want[4] = {0};
            if (type == ABI_TEXTURE_BUFFER && !abi_format_has_alpha(x.t.format))
                want[3] = abi_format_is_integer(x.t.format) ? 1 : 0x3f800000;
            if (in[l])
                decode(&x.t, w[l].level,
                       abi_texture_at(&x.t, w[l].level, w[l].x, w[l].y, w[l].z, w[l].sample),
                       w[l].x, w[l].y, want);
            for (unsigned k = 0; k < 4; k++)
                if (!same_bits_or_nan(x.t.format, c.out.u[k * c.n_lanes + l], want[k])) {
                    print_message("%s type %u lane %u component %u: %08x, not %08x\n",
                                  x.t.format->name, type, l, k, c.out.u[k * c.n_lanes + l],
                                  want[k]);
                    fail();
                }
        }
    }
    test_texture_free(&x);
}

static void each_isa(void (*body)(void)) {
    for (int isa = CPU_ISA_NONE; isa <= CPU_ISA_AVX512; isa++)
        if (cpu_isa_use((CpuIsa)isa)) body();
}

static void read_everything(void) {
    for (size_t i = 0; i < N_VALUES; i++) {
        const AbiPixelFormat *f = abi_pixel_format(values[i]);
        for (uint32_t type = 0; type < ABI_TEXTURE_N_TYPES; type++) {
            if (abi_format_is_blocked(f) && texel_type_dimensions(type) == 1) continue;
            if (!abi_format_is_pvrtc(f) || type != ABI_TEXTURE_3D) read_type(type, values[i]);
        }
    }
}

TEST(every_format_and_type_reads) { each_isa(read_everything); }

// Writes against the conversion of rows, with everything around the written texels unchanged.
static void write_type(uint32_t type, uint32_t format) {
    bool levels = !texel_type_is_multisample(type) && type != ABI_TEXTURE_BUFFER;
    AbiTextureShape shape = shape_of(type, format, levels ? 2 : 1);
    TestTexture x, y;
    test_texture(&shape, true, &x);
    test_texture(&shape, true, &y);
    uint64_t seed = format * 16 + type;
    memset(x.t.levels[0].data, 0xa5, x.size.n_bytes);
    memset(y.t.levels[0].data, 0xa5, y.size.n_bytes);
    bool integer = abi_format_is_integer(x.t.format);
    for (int turn = 0; turn < 10; turn++) {
        TestCall c;
        test_all_lanes(&c, turn & 1 ? 64 : 32);
        if (turn % 3 == 2) c.mask[0] &= 0xff7ffffe;
        for (uint32_t l = 0; l < c.n_lanes; l++) {
            Where w;
            bool in = turn < 4 ? random_place(&x.t, &seed, &w) : run_place(&x.t, l, turn, &w);
            set_place(&c, &x.t, l, &w);
            union {
                float f[4];
                uint32_t u[4];
            } v;
            for (unsigned k = 0; k < 4; k++) {
                v.f[k] = test_uniform(&seed, -0.3f, 1.3f);
                if (test_random(&seed) % 16 == 0) v.f[k] = NAN;
                if (integer) v.u[k] = test_random(&seed) >> test_random(&seed) % 32;
                // A vector register's worth of sample rows is not touched: level and sample stay.
                c.rows.u[(CPU_TEX_VALUE + k) * c.n_lanes + l] = v.u[k];
            }
            if (!in || !texel_lane_active(c.mask, l)) continue;
            void *at = abi_texture_at(&y.t, w.level, w.x, w.y, w.z, w.sample);
            if (integer)
                texel_encode_int(y.t.format, v.u, format == 54, 1, at);
            else
                texel_encode_float(y.t.format, v.f, 1, at);
        }
        call_write(&x.t, integer ? (format == 54 ? CPU_TEX_INT : CPU_TEX_UINT) : 0, &c);
        // Lanes may name the same texel twice: later lanes win in both.
        if (memcmp(x.t.levels[0].data, y.t.levels[0].data, x.size.n_bytes)) {
            print_message("%s type %u turn %d\n", x.t.format->name, type, turn);
            fail();
        }
    }
    test_texture_free(&x);
    test_texture_free(&y);
}

static void write_everything(void) {
    for (size_t i = 0; i < N_VALUES; i++) {
        const AbiPixelFormat *f = abi_pixel_format(values[i]);
        if (!(f->caps & ABI_FORMAT_WRITE)) continue;
        for (uint32_t type = 0; type < ABI_TEXTURE_N_TYPES; type++) write_type(type, values[i]);
    }
}

TEST(every_format_and_type_writes) { each_isa(write_everything); }

// All 256 codes of each byte and many floats through the vector code, against the scalar
// conversions.
static void vectors_convert_exactly(void) {
    static const uint32_t formats[] = {10, 30, 70, 71, 80, 81};
    for (size_t i = 0; i < sizeof formats / sizeof *formats; i++) {
        TestTexture x;
        AbiTextureShape shape = test_shape(ABI_TEXTURE_2D, formats[i], 256, 1, 1, 1, 1);
        test_texture(&shape, true, &x);
        unsigned char *p = x.t.levels[0].data;
        unsigned b = x.t.format->block_bytes;
        for (unsigned k = 0; k < 256 * b; k++) p[k] = (unsigned char)(k / b + k % b * 51);
        TestCall c;
        for (uint32_t first = 0; first < 256; first += 32) {
            test_all_lanes(&c, 32);
            for (uint32_t l = 0; l < 32; l++) c.rows.u[l] = first + l;
            call_read(&x.t, 0, &c);
            for (uint32_t l = 0; l < 32; l++) {
                uint32_t want[4];
                decode(&x.t, 0, p + (first + l) * b, first + l, 0, want);
                for (unsigned k = 0; k < 4; k++) assert_int_equal(c.out.u[k * 32 + l], want[k]);
            }
        }
        uint64_t seed = 3;
        for (int turn = 0; turn < 3000; turn++) {
            test_all_lanes(&c, 32);
            for (uint32_t l = 0; l < 128; l++) {
                uint32_t bits = test_random(&seed);
                float v = test_uniform(&seed, 0, 1);
                if (turn % 4 == 0) memcpy(&v, &bits, 4);
                if (turn % 4 == 1) { // ties and their neighbours
                    v = ((float)(bits % 255) + 0.5f) / 255;
                    v = bits >> 30 == 0 ? nextafterf(v, 0) : bits >> 30 == 1 ? nextafterf(v, 1) : v;
                }
                if (turn % 4 == 2 && bits % 3 == 0)
                    v = nextafterf((float)texel_srgb_to_linear((bits / 3 % 255 + 0.5) / 255),
                                   bits >> 31 ? 0 : 1);
                c.rows.f[CPU_TEX_VALUE * 32 + l] = v;
            }
            for (uint32_t l = 0; l < 32; l++) c.rows.u[l] = l;
            call_write(&x.t, 0, &c);
            for (uint32_t l = 0; l < 32; l++) {
                unsigned char want[16] = {0};
                float rgba[4];
                for (unsigned k = 0; k < 4; k++) rgba[k] = c.rows.f[(CPU_TEX_VALUE + k) * 32 + l];
                texel_encode_float(x.t.format, rgba, 1, want);
                assert_memory_equal(p + l * b, want, b);
            }
        }
        test_texture_free(&x);
    }
}

TEST(vector_conversions_are_exact) { each_isa(vectors_convert_exactly); }

// Garbage: coordinates, levels, slices, offsets, gradients of any bits, with every op. Whatever
// comes out, nothing outside the texture is touched, and the sums stay finite if the texels are.
static void garbage_everywhere(void) {
    static const uint32_t formats[] = {70,  81, 10, 115, 125, 55,  73,
                                       240, 30, 25, 90,  130, 152, 218};
    uint64_t seed = 77;
    static const uint32_t odd[] = {0,          0x80000000, 0x7f800000, 0xff800000, 0x7fc00000,
                                   0xffffffff, 0x7fffffff, 0x4effffff, 0x4f000000, 0xcf000001,
                                   0x3f7fffff, 0x3f800000, 1,          0x00800000};
    for (size_t i = 0; i < sizeof formats / sizeof *formats; i++) {
        for (uint32_t type = 0; type < ABI_TEXTURE_N_TYPES; type++) {
            bool levels = !texel_type_is_multisample(type) && type != ABI_TEXTURE_BUFFER;
            AbiTextureShape shape = shape_of(type, formats[i], levels ? 3 : 1);
            TestTexture x;
            test_texture(&shape, (type + i) % 2, &x);
            test_fill(&x, 1);
            for (int turn = 0; turn < 60; turn++) {
                TestCall c;
                test_all_lanes(&c, turn % 3 ? 32 : 4);
                for (uint32_t k = 0; k < CPU_TEX_ROWS * c.n_lanes; k++) {
                    c.rows.u[k] = test_random(&seed);
                    if (test_random(&seed) % 4 == 0)
                        c.rows.u[k] = odd[test_random(&seed) % (sizeof odd / sizeof *odd)];
                    if (turn % 4 == 3) c.rows.f[k] = test_uniform(&seed, -3, 3);
                }
                c.mask[0] &= test_random(&seed) | test_random(&seed);
                // any sampler, any op; the type asked for is sometimes another
                uint64_t sampler = (uint64_t)test_random(&seed) << 32 | test_random(&seed) | 1;
                uint32_t op = test_random(&seed) & 0x1ff70;
                uint32_t asked = turn % 5 ? type : test_random(&seed) & 15;
                op = (op & ~15u) | asked;
                cpu_texture_ops()->sample((uintptr_t)&x.t, sampler, op, c.n_lanes, c.mask, c.rows.u,
                                          c.out.u);
                cpu_texture_ops()->read((uintptr_t)&x.t, op, c.n_lanes, c.mask, c.rows.u, c.out.u);
                cpu_texture_ops()->write((uintptr_t)&x.t, op, c.n_lanes, c.mask, c.rows.u, c.out.u);
                cpu_texture_ops()->atomic((uintptr_t)&x.t, op | (test_random(&seed) & 15) << 20,
                                          c.n_lanes, c.mask, c.rows.u, c.out.u);
            }
            test_texture_free(&x);
        }
    }
}

TEST(garbage_stays_inside) { each_isa(garbage_everywhere); }

TEST(linear_textures_end_with_their_buffer) {
    // 5 texels a row of 6 texels' bytes; the buffer ends behind the last texel.
    AbiTextureShape shape = test_shape(ABI_TEXTURE_2D, 70, 5, 3, 1, 1, 1);
    shape.row_bytes = 24;
    TestTexture x;
    test_texture(&shape, true, &x);
    assert_int_equal(x.size.n_bytes, 2 * 24 + 20);
    memset(x.t.levels[0].data, 0x40, x.size.n_bytes);
    for (int isa = 0; isa <= CPU_ISA_AVX512; isa++) {
        if (!cpu_isa_use((CpuIsa)isa)) continue;
        for (unsigned linear = 0; linear < 2; linear++)
            for (unsigned mode = 0; mode < 6; mode++) {
                TestCall c;
                test_all_lanes(&c, 32);
                for (uint32_t l = 0; l < 64; l++) c.rows.f[l] = (float)(l % 32) / 31;
                test_sample(&x.t, test_sampler(linear, linear, 0, mode, mode, 0), 0, &c);
                if (mode < 4)
                    for (uint32_t k = 0; k < 128; k++)
                        assert_true(fabsf(c.out.f[k] - 64.0f / 255) < 1e-6f);
            }
    }
    test_texture_free(&x);
}

// Atomics.

static void call_atomic(const AbiTexture *t, unsigned what, TestCall *c) {
    cpu_texture_ops()->atomic((uintptr_t)t, what << CPU_TEX_ATOMIC | t->type, c->n_lanes, c->mask,
                              c->rows.u, c->out.u);
}

static uint64_t model(unsigned what, uint64_t old, uint64_t v, uint64_t expected, unsigned bits,
                      bool is_signed) {
    uint64_t all = bits == 64 ? UINT64_MAX : UINT32_MAX;
    bool less = is_signed ? (int32_t)old < (int32_t)v : old < v;
    switch (what) {
    case CPU_TEX_STORE:
    case CPU_TEX_EXCHANGE: return v;
    case CPU_TEX_COMPARE_EXCHANGE: return old == expected ? v : old;
    case CPU_TEX_ADD: return (old + v) & all;
    case CPU_TEX_SUB: return (old - v) & all;
    case CPU_TEX_AND: return old & v;
    case CPU_TEX_OR: return old | v;
    case CPU_TEX_XOR: return old ^ v;
    case CPU_TEX_MIN: return less ? old : v;
    case CPU_TEX_MAX: return less ? v : old;
    default: return old;
    }
}

TEST(atomics_do_what_they_say) {
    static const uint32_t formats[] = {53, 54, 103};
    for (int i = 0; i < 3; i++)
        for (unsigned what = 0; what <= CPU_TEX_MAX; what++) {
            TestTexture x;
            AbiTextureShape shape = test_shape(ABI_TEXTURE_2D_ARRAY, formats[i], 4, 4, 1, 2, 1);
            test_texture(&shape, false, &x);
            unsigned bits = i == 2 ? 64 : 32;
            uint64_t seed = what;
            for (int turn = 0; turn < 200; turn++) {
                TestCall c;
                test_all_lanes(&c, 4);
                uint64_t content[4], v[4], expected[4];
                for (uint32_t l = 0; l < 4; l++) {
                    c.rows.u[l] = l;
                    c.rows.u[4 + l] = 2;
                    c.rows.u[CPU_TEX_SLICE * 4 + l] = l == 3 ? 2 : 1; // lane 3 is outside
                    uint64_t all = bits == 64 ? UINT64_MAX : UINT32_MAX;
                    content[l] = ((uint64_t)test_random(&seed) << 32 | test_random(&seed)) & all;
                    v[l] = ((uint64_t)test_random(&seed) << 32 | test_random(&seed)) & all;
                    expected[l] = test_random(&seed) & 1 ? content[l] : v[l];
                    memcpy(abi_texture_at(&x.t, 0, l, 2, 1, 0), &content[l], bits / 8);
                    for (unsigned k = 0; k < 2; k++) {
                        c.rows.u[(CPU_TEX_VALUE + k) * 4 + l] = (uint32_t)(v[l] >> 32 * k);
                        c.rows.u[(CPU_TEX_VALUE + 2 + k) * 4 + l] =
                            (uint32_t)(expected[l] >> 32 * k);
                    }
                }
                call_atomic(&x.t, what, &c);
                for (uint32_t l = 0; l < 4; l++) {
                    uint64_t now = 0, old = c.out.u[l] | (uint64_t)c.out.u[4 + l] << 32;
                    memcpy(&now, abi_texture_at(&x.t, 0, l, 2, 1, 0), bits / 8);
                    if (l == 3) {
                        assert_int_equal(old, 0);
                        assert_true(now == content[l]);
                    } else {
                        assert_true(old == content[l]);
                        assert_true(now ==
                                    model(what, content[l], v[l], expected[l], bits, i == 1));
                    }
                }
            }
            test_texture_free(&x);
        }
}

static void *add_many(void *arg) {
    TestCall c;
    test_all_lanes(&c, 32);
    for (uint32_t l = 0; l < 32; l++) c.rows.u[CPU_TEX_VALUE * 32 + l] = 1;
    for (int i = 0; i < 2000; i++) call_atomic(arg, CPU_TEX_ADD, &c);
    return NULL;
}

TEST(atomics_from_several_threads) {
    TestTexture x;
    AbiTextureShape shape = test_shape(ABI_TEXTURE_2D, 53, 4, 4, 1, 1, 1);
    test_texture(&shape, false, &x);
    cpu_texture_ops();
    pthread_t threads[4];
    for (int i = 0; i < 4; i++)
        assert_int_equal(pthread_create(&threads[i], NULL, add_many, &x.t), 0);
    for (int i = 0; i < 4; i++) pthread_join(threads[i], NULL);
    uint32_t sum;
    memcpy(&sum, x.t.levels[0].data, 4);
    assert_int_equal(sum, 4 * 2000 * 32);
    test_texture_free(&x);
}

TEST(no_texture) {
    TestCall c;
    test_all_lanes(&c, 32);
    memset(c.out.u, 1, sizeof c.out.u);
    cpu_texture_ops()->read(0, ABI_TEXTURE_2D, 32, c.mask, c.rows.u, c.out.u);
    for (int i = 0; i < 128; i++) assert_int_equal(c.out.u[i], 0);
    cpu_texture_ops()->write(0, ABI_TEXTURE_2D, 32, c.mask, c.rows.u, c.out.u);
    memset(c.out.u, 1, sizeof c.out.u);
    cpu_texture_ops()->atomic(0, ABI_TEXTURE_2D, 32, c.mask, c.rows.u, c.out.u);
    for (int i = 0; i < 128; i++) assert_int_equal(c.out.u[i], 0);
}

int main(void) { return unit_run(NULL, NULL); }
