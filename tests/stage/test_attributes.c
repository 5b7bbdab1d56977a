// SPDX-License-Identifier: Apache-2.0
// test_attributes.c: vertex attributes: every format, into every type that may take it, against a
// reference in double precision; step functions, bounds, dynamic strides, what must be refused.
#include "stage_test.h"
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef enum Kind { UINT, SINT, UNORM, SNORM, FLOAT, PACKED } Kind;
static const struct Format {
    const char *name;
    uint32_t value;
    int n, bits;
    Kind kind;
} formats[] = {
#define V(name, value, n, bits, kind) {#name, value, n, bits, kind},
#include "abi/vertex_formats.def"
#undef V
};
enum { N_FORMATS = sizeof formats / sizeof *formats, VERTICES = 64, STRIDE = 28, OFFSET = 4 };

static const char *const types[] = {"float", "half", "int", "uint", "short", "ushort"};

static double half_value(uint32_t bits) {
    int e = bits >> 10 & 31, m = bits & 1023;
    double v = e == 31 ? (m ? NAN : INFINITY) : e ? ldexp(1024 + m, e - 25) : ldexp(m, -24);
    return bits >> 15 & 1 ? -v : v;
}

static uint64_t raw_bits(const unsigned char *p, int first, int n) {
    uint64_t v = 0;
    for (int i = 0; i < n; i++) v |= (uint64_t)(p[(first + i) / 8] >> ((first + i) % 8) & 1) << i;
    return v;
}

static double extend(uint64_t v, int bits, bool is_signed) {
    return is_signed && v >> (bits - 1) & 1 ? (double)v - ldexp(1, bits) : (double)v;
}

// Component k as the specification has it.
static double expected(const struct Format *f, const unsigned char *p, int k) {
    if (k >= f->n) return k == 3;
    if (f->value == 54) { // RG11B10
        uint64_t v = raw_bits(p, 11 * k, k < 2 ? 11 : 10);
        return half_value((uint32_t)(k < 2 ? v << 4 : v << 5));
    }
    if (f->value == 55) // RGB9E5
        return ldexp((double)raw_bits(p, 9 * k, 9), (int)raw_bits(p, 27, 5) - 24);
    bool is_signed = f->kind == SINT || f->kind == SNORM || f->value == 40;
    int bits = f->kind == PACKED && k == 3 ? 2 : f->bits;
    if (f->value == 42 && k < 3) k = 2 - k; // BGRA
    uint64_t raw = raw_bits(p, k * f->bits, bits);
    double v = extend(raw, bits, is_signed);
    if (f->kind == UINT || f->kind == SINT) return v;
    if (f->kind == FLOAT)
        return f->bits == 16 ? half_value((uint32_t)raw) : as_float((uint32_t)raw);
    v /= is_signed ? ldexp(1, bits - 1) - 1 : ldexp(1, bits) - 1;
    return v < -1 ? -1 : v;
}

static bool may_take(const struct Format *f, int type) {
    if (type < 2) return true;
    bool is_signed = type % 2 == 0;
    int bits = type < 4 ? 32 : 16;
    return (f->kind == SINT && is_signed && f->bits <= bits) ||
           (f->kind == UINT && !is_signed && f->bits <= bits);
}

static char *source_of(const char *type, int n) {
    static char text[1024];
    char suffix[2] = {n > 1 ? (char)('0' + n) : 0, 0};
    snprintf(text, sizeof text,
             "#include <metal_stdlib>\nusing namespace metal;\n"
             "struct In { %s%s a [[attribute(3)]]; };\n"
             "struct Out { float4 p [[position]]; %s%s v; };\n"
             "vertex Out f(In in [[stage_in]]) { Out o; o.p = float4(1); o.v = in.a; return o; }\n",
             type, suffix, type, suffix);
    return text;
}

static MslVertexDescriptor descriptor_of(uint32_t format, uint32_t step, uint32_t rate) {
    MslVertexDescriptor d = {0};
    d.attributes[3] = (MslVertexAttribute){format, OFFSET, 7};
    d.layouts[7] = (MslVertexLayout){STRIDE, step, rate};
    return d;
}

static void fill(unsigned char *data, size_t n, uint32_t seed) {
    for (size_t i = 0; i < n; i++) data[i] = (unsigned char)next_random(&seed);
}

static void run(Stage *s, CpuVertexStep *step, uint32_t n, const uint32_t *ids, uint32_t *out) {
    step->n = n;
    step->vertices = ids;
    step->out = out;
    cpu_code_vertex(s->code)(&s->launch, step);
}

static bool same(double want, uint32_t got, int type) {
    if (type >= 2) return (type % 2 ? (double)got : (double)(int32_t)got) == want;
    float f = as_float(got);
    if (isnan(want)) return isnan(f);
    if (type == 0) return f == (float)want || fabs(f - want) <= fabs(want) * 1e-7;
    if (isinf(f) || fabs(want) >= 65504) return fabs(want) >= 65504; // beyond half
    return fabs(f - want) <= fmax(fabs(want) * 0x1p-11 * 1.01, 0x1p-25 * 1.01);
}

static void check_format(const struct Format *f, int type, int n) {
    static _Alignas(64) uint32_t out[64 * LANES];
    static unsigned char data[VERTICES * STRIDE];
    uint32_t ids[LANES], seed = 99;
    MslVertexDescriptor d = descriptor_of(f->value, 1, 1);
    Stage *s = stage_open(source_of(types[type], n), "f", &d);
    assert_int_equal(s->info->n_vertex_buffers, 1);
    assert_int_equal(s->info->vertex_buffers[0], 7);
    fill(data, sizeof data, f->value * 17 + (uint32_t)type);
    s->args[s->fn->n_slots] = data;
    s->lengths[s->fn->n_slots] = sizeof data;
    for (int i = 0; i < LANES; i++) ids[i] = next_random(&seed) % (VERTICES - 1);
    CpuVertexStep step = {0};
    run(s, &step, LANES, ids, out);
    unsigned row = ABI_VERTEX_FIRST + stage_output(s, "v")->row;
    for (int l = 0; l < LANES; l++)
        for (int k = 0; k < n; k++) {
            double want = expected(f, data + OFFSET + ids[l] * STRIDE, k);
            uint32_t got = out[(row + (unsigned)k) * LANES + (unsigned)l];
            if (!same(want, got, type))
                fail_msg("%s as %s%d, component %d: %08x (%g), expected %g", f->name, types[type],
                         n, k, got, as_float(got), want);
        }
    stage_close(s);
}

// Many attributes in one function, each in a buffer of its own.
TEST(every_format_as_float4) {
    enum { BATCH = 27 };
    static _Alignas(64) uint32_t out[140 * LANES];
    static unsigned char data[BATCH][VERTICES * STRIDE];
    for (int first = 0; first < N_FORMATS; first += BATCH) {
        int n = N_FORMATS - first < BATCH ? N_FORMATS - first : BATCH;
        char text[8192];
        int at = snprintf(text, sizeof text,
                          "#include <metal_stdlib>\nusing namespace metal;\nstruct In {");
        for (int i = 0; i < n; i++)
            at += snprintf(text + at, sizeof text - (size_t)at, " float4 a%d [[attribute(%d)]];", i,
                           i);
        at += snprintf(text + at, sizeof text - (size_t)at,
                       " };\nstruct Out { float4 p [[position]];");
        for (int i = 0; i < n; i++)
            at += snprintf(text + at, sizeof text - (size_t)at, " float4 v%d;", i);
        at += snprintf(text + at, sizeof text - (size_t)at,
                       " };\nvertex Out f(In in [[stage_in]]) { Out o; o.p = 1;");
        for (int i = 0; i < n; i++)
            at += snprintf(text + at, sizeof text - (size_t)at, " o.v%d = in.a%d;", i, i);
        snprintf(text + at, sizeof text - (size_t)at, " return o; }\n");
        MslVertexDescriptor d = {0};
        for (int i = 0; i < n; i++) {
            d.attributes[i] =
                (MslVertexAttribute){formats[first + i].value, OFFSET, (uint32_t)(30 - i)};
            d.layouts[30 - i] = (MslVertexLayout){STRIDE, 1, 1};
        }
        Stage *s = stage_open(text, "f", &d);
        uint32_t ids[LANES], seed = 99;
        assert_int_equal(s->info->n_vertex_buffers, n);
        for (int i = 0; i < n; i++) {
            fill(data[i], sizeof data[i], (uint32_t)(first + i) * 17);
            assert_int_equal(s->info->vertex_buffers[i], 30 - i);
            s->args[s->fn->n_slots + (uint32_t)i] = data[i];
            s->lengths[s->fn->n_slots + (uint32_t)i] = sizeof data[i];
        }
        for (int i = 0; i < LANES; i++) ids[i] = next_random(&seed) % (VERTICES - 1);
        CpuVertexStep step = {0};
        run(s, &step, LANES, ids, out);
        for (int c = 0; c < n * 4 * LANES; c++) {
            int i = c / (4 * LANES), k = c / LANES % 4, l = c % LANES;
            double want = expected(&formats[first + i], data[i] + OFFSET + ids[l] * STRIDE, k);
            uint32_t got = out[(ABI_VERTEX_FIRST + i * 4 + k) * LANES + l];
            if (!same(want, got, 0))
                fail_msg("%s, component %d: %08x (%g), expected %g", formats[first + i].name, k,
                         got, as_float(got), want);
        }
        stage_close(s);
    }
}

// One format of each kind and width in the other types, with fewer components than it has and more.
TEST(formats_in_other_types) {
    static const uint32_t some[] = {2, 6, 9, 15, 17, 24, 26, 33, 38, 40, 46, 49};
    for (size_t i = 0; i < sizeof some / sizeof *some; i++)
        for (int k = 0; k < N_FORMATS; k++)
            for (int type = 1; formats[k].value == some[i] && type < 6; type++)
                if (may_take(&formats[k], type))
                    check_format(&formats[k], type, 1 + (int)(i + (size_t)type) % 4);
}

TEST(what_does_not_fit_is_refused) {
    static const struct {
        uint32_t format;
        const char *type;
    } bad[] = {{32, "uint"}, {36, "int"}, {32, "short"}, {9, "uint"},
               {31, "int"},  {40, "int"}, {53, "ushort"}};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        MslVertexDescriptor d = descriptor_of(bad[i].format, 1, 1);
        stage_expect_error(source_of(bad[i].type, 4), "f", &d, "cannot be read as");
    }
    MslVertexDescriptor none = {0}, odd = descriptor_of(43, 1, 1), patch = descriptor_of(31, 3, 1);
    stage_expect_error(source_of("float", 4), "f", NULL, "needs a vertex descriptor");
    stage_expect_error(source_of("float", 4), "f", &none, "has no attribute 3");
    stage_expect_error(source_of("float", 4), "f", &odd, "unknown format 43");
    stage_expect_error(source_of("float", 4), "f", &patch, "is for patches");
}

// Which element a lane reads, by step function.
TEST(step_functions) {
    static const struct {
        uint32_t step, rate, instance, base, element;
    } cases[] = {
        {0, 0, 9, 4, 0}, {2, 1, 9, 4, 9}, {2, 3, 10, 4, 6}, {2, 0, 9, 4, 4}, {2, 5, 4, 4, 4}};
    static _Alignas(64) uint32_t out[64 * LANES];
    float data[VERTICES * STRIDE / 4];
    uint32_t ids[LANES];
    for (int i = 0; i < VERTICES * STRIDE / 4; i++) data[i] = (float)i;
    for (int i = 0; i < LANES; i++) ids[i] = (uint32_t)i;
    for (size_t c = 0; c < sizeof cases / sizeof *cases; c++) {
        MslVertexDescriptor d = descriptor_of(28, cases[c].step, cases[c].rate);
        Stage *s = stage_open(source_of("float", 1), "f", &d);
        s->args[0] = data, s->lengths[0] = sizeof data;
        CpuVertexStep step = {.instance = cases[c].instance, .base_instance = cases[c].base};
        run(s, &step, LANES, ids, out);
        for (int l = 0; l < LANES; l++)
            assert_float_equal(as_float(out[ABI_VERTEX_FIRST * LANES + l]),
                               data[(cases[c].element * STRIDE + OFFSET) / 4], 0);
        stage_close(s);
    }
}

// The last whole element is read, what reaches over the end is 0, whatever the index.
TEST(bounds) {
    static _Alignas(64) uint32_t out[64 * LANES];
    enum { N = 5 };
    float data[(N * STRIDE) / 4];
    uint32_t ids[LANES];
    for (size_t i = 0; i < sizeof data / 4; i++) data[i] = (float)i + 1;
    for (uint32_t i = 0; i < LANES; i++) ids[i] = i < 10 ? i : 0xffffffffu / i;
    MslVertexDescriptor d = descriptor_of(30, 1, 1); // float3
    Stage *s = stage_open(source_of("float", 4), "f", &d);
    s->args[0] = data;
    static const uint64_t lengths[] = {0, 15, 16, 16 + STRIDE - 1, 16 + STRIDE, sizeof data};
    for (size_t c = 0; c < sizeof lengths / sizeof *lengths; c++) {
        s->lengths[0] = lengths[c];
        if (!lengths[c]) s->args[0] = NULL;
        CpuVertexStep step = {0};
        run(s, &step, LANES, ids, out);
        s->args[0] = data;
        for (int l = 0; l < LANES; l++)
            for (uint32_t k = 0; k < 4; k++) {
                bool in = OFFSET + (uint64_t)ids[l] * STRIDE + 12 <= lengths[c];
                float want = k == 3 ? 1 : in ? data[(OFFSET + ids[l] * STRIDE) / 4 + k] : 0;
                assert_float_equal(as_float(out[(ABI_VERTEX_FIRST + k) * LANES + (uint32_t)l]),
                                   want, 0);
            }
    }
    stage_close(s);
}

TEST(dynamic_stride) {
    static _Alignas(64) uint32_t out[64 * LANES];
    float data[512];
    uint32_t ids[LANES];
    for (int i = 0; i < 512; i++) data[i] = (float)i;
    for (int i = 0; i < LANES; i++) ids[i] = (uint32_t)(LANES - i);
    MslVertexDescriptor d = descriptor_of(28, 1, 1);
    d.layouts[7].stride = MSL_STRIDE_DYNAMIC;
    Stage *s = stage_open(source_of("float", 1), "f", &d);
    s->args[0] = data, s->lengths[0] = sizeof data;
    for (uint64_t stride = 4; stride <= 60; stride += 28) {
        CpuVertexStep step = {.strides = &stride};
        run(s, &step, LANES, ids, out);
        for (int l = 0; l < LANES; l++)
            assert_float_equal(as_float(out[ABI_VERTEX_FIRST * LANES + l]),
                               data[(ids[l] * stride + OFFSET) / 4], 0);
    }
    stage_close(s);
}

int main(int argc, char **argv) {
    stage_folders(argc, argv);
    return unit_run(NULL, NULL);
}
