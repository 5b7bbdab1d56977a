// SPDX-License-Identifier: Apache-2.0
// test_convolution.c: 2D convolution of every instruction set against the definition in double
// (integers: modulo 2^32): random sizes, strides, dilations, offsets (padding), layouts, types and
// shares of a tile, between guard pages. Prints which instruction sets the machine does not have.
#include "tensor_ops_test.h"

typedef struct Case {
    CpuConvolution op;
    Run run;
} Case;

static void place_tensor(AbiTensor *t, Case *c, int i, uint64_t *state) {
    // Packed, with gaps between pixels, or with the first two dimensions swapped.
    int layout = random_in(state, 0, 3);
    int64_t stride = 1;
    for (int n = 0; n < 4; n++) {
        int d = layout == 2 && n < 2 ? 1 - n : n;
        if (layout == 3) stride += random_in(state, 0, 3);
        t->strides[d] = stride;
        stride *= t->extents[d];
    }
    t->rank = 4;
    int64_t last = 0;
    for (int d = 0; d < 4; d++) last += (t->extents[d] - 1) * t->strides[d];
    size_t bits = (size_t)type_bits(t->type), n_bytes = ((size_t)(last + 1) * bits + 7) / 8;
    c->run.n_bytes[i] = n_bytes;
    t->data = c->run.places[i] =
        arena_place(c->run.arenas[i], n_bytes, bits < 8 ? 1 : bits / 8, random_bits(state) & 1);
    fill_random(t->data, t->type, n_bytes * 8 / bits, state);
}

static int64_t at(const AbiTensor *t, int64_t i0, int64_t i1, int64_t i2, int64_t i3) {
    return i0 * t->strides[0] + i1 * t->strides[1] + i2 * t->strides[2] + i3 * t->strides[3];
}
static double number(const AbiTensor *t, int64_t i) { return element_number(t->data, t->type, i); }

static void report(const Case *c, int64_t out, int64_t x, int64_t y, double got, double want) {
    const CpuConvolution *o = &c->op;
    print_error("isa %d seed %llu: source %lld %lld %lld type %u, weights %lld %lld %lld %lld type "
                "%u, stride %d %d dilation %d %d offset %d %d, destination type %u flags %u\n"
                "  [%lld, %lld, %lld] is %.9g, expected %.9g\n",
                (int)c->run.isa, (unsigned long long)c->run.seed, (long long)o->source.extents[0],
                (long long)o->source.extents[1], (long long)o->source.extents[2], o->source.type,
                (long long)o->weights.extents[0], (long long)o->weights.extents[1],
                (long long)o->weights.extents[2], (long long)o->weights.extents[3], o->weights.type,
                o->strides[0], o->strides[1], o->dilations[0], o->dilations[1], o->offset[0],
                o->offset[1], o->destination.type, o->flags, (long long)out, (long long)x,
                (long long)y, got, want);
    fail();
}

static void check_element(const Case *c, const AbiTensor *before, int64_t out, int64_t x, int64_t y,
                          int64_t image) {
    const CpuConvolution *o = &c->op;
    const AbiTensor *s = &o->source, *w = &o->weights, *d = &o->destination;
    bool is_float = cpu_element_is_float(s->type) || cpu_element_is_float(w->type) ||
                    cpu_element_is_float(d->type);
    bool add = o->flags & CPU_MATMUL_ACCUMULATE;
    int64_t to = at(d, out, x, y, image), n = 0;
    double sum = add ? number(before, to) : 0, magnitudes = fabs(sum);
    uint32_t whole = add ? (uint32_t)cpu_element_int(before->data, d->type, to) : 0;
    for (int64_t ky = 0; ky < w->extents[3]; ky++)
        for (int64_t kx = 0; kx < w->extents[2]; kx++)
            for (int64_t i = 0; i < w->extents[1] && i < s->extents[0]; i++) {
                int64_t sx = x * o->strides[0] + kx * o->dilations[0] + o->offset[0],
                        sy = y * o->strides[1] + ky * o->dilations[1] + o->offset[1];
                if (sx < 0 || sy < 0 || sx >= s->extents[1] || sy >= s->extents[2] ||
                    out >= w->extents[0] || image >= s->extents[3])
                    continue;
                int64_t a = at(s, i, sx, sy, image), b = at(w, out, i, kx, ky);
                n++;
                if (is_float) {
                    sum += number(s, a) * number(w, b);
                    magnitudes += fabs(number(s, a) * number(w, b));
                } else {
                    whole += (uint32_t)cpu_element_int(s->data, s->type, a) *
                             (uint32_t)cpu_element_int(w->data, w->type, b);
                }
            }
    double got = number(d, to), bound = 0;
    if (is_float) {
        bound = sum_bound(n + 2, magnitudes);
        bound += round_bound(d->type, fabs(sum) + bound);
    } else {
        int64_t want = 0;
        cpu_element_set_int(&want, d->type, 0, (int32_t)whole);
        sum = (double)cpu_element_int(&want, d->type, 0);
    }
    if (!(fabs(got - sum) <= bound)) report(c, out, x, y, got, sum);
}

static void run_case(Case *c) {
    static unsigned char copy[ARENA_BYTES];
    memcpy(copy, c->run.places[2], c->run.n_bytes[2]);
    cpu_tensor_ops()->convolution(&c->op);
    const CpuConvolution *o = &c->op;
    const AbiTensor *d = &o->destination;
    AbiTensor before = *d;
    before.data = copy;
    for (int64_t image = 0; image < d->extents[3]; image++)
        for (int64_t y = 0; y < d->extents[2]; y++)
            for (int64_t x = 0; x < d->extents[1]; x++)
                for (int64_t out = 0; out < d->extents[0]; out++) {
                    int64_t p = (image * o->size[2] + y) * o->size[1] + x;
                    int64_t i = at(d, out, x, y, image);
                    if (x < o->size[1] && y < o->size[2] && out < o->size[0] && p >= o->first &&
                        p < o->first + o->count)
                        check_element(c, &before, out, x, y, image);
                    else if (number(d, i) != number(&before, i))
                        report(c, out, x, y, number(d, i), number(&before, i));
                }
}

static const uint32_t types[][3] = {
    {ABI_TENSOR_FLOAT32, ABI_TENSOR_FLOAT32, ABI_TENSOR_FLOAT32},
    {ABI_TENSOR_FLOAT16, ABI_TENSOR_FLOAT16, ABI_TENSOR_FLOAT32},
    {ABI_TENSOR_FLOAT16, ABI_TENSOR_FLOAT16, ABI_TENSOR_FLOAT16},
    {ABI_TENSOR_BFLOAT16, ABI_TENSOR_BFLOAT16, ABI_TENSOR_FLOAT32},
    {ABI_TENSOR_FLOAT32, ABI_TENSOR_FLOAT16, ABI_TENSOR_BFLOAT16},
    {ABI_TENSOR_INT8, ABI_TENSOR_INT8, ABI_TENSOR_INT32},
    {ABI_TENSOR_UINT8, ABI_TENSOR_INT8, ABI_TENSOR_INT32},
    {ABI_TENSOR_INT4, ABI_TENSOR_INT8, ABI_TENSOR_INT32},
};

static void random_case(Case *c, uint64_t seed) {
    uint64_t state = seed * 0x9e3779b97f4a7c15u + 5;
    random_bits(&state);
    CpuConvolution *o = &c->op;
    *o = (CpuConvolution){.flags = random_bits(&state) & 1};
    c->run.seed = seed;
    const uint32_t *t = types[random_in(&state, 0, (int)(sizeof types / sizeof *types) - 1)];
    o->source.type = t[0], o->weights.type = t[1], o->destination.type = t[2];
    int64_t channels = random_in(&state, 1, 20), outs = random_in(&state, 1, 40);
    AbiTensor *s = &o->source, *w = &o->weights, *d = &o->destination;
    int64_t images = random_in(&state, 1, 2);
    int64_t source[4] = {channels, random_in(&state, 1, 40), random_in(&state, 1, 9), images};
    int64_t weights[4] = {outs, channels, random_in(&state, 1, 4), random_in(&state, 1, 4)};
    int64_t destination[4] = {outs, random_in(&state, 1, 40), random_in(&state, 1, 6), images};
    if (random_bits(&state) % 4 == 0) { // that do not agree: clipped
        weights[random_in(&state, 0, 1)] = random_in(&state, 1, 20);
        destination[3] = 2;
    }
    memcpy(s->extents, source, sizeof source);
    memcpy(w->extents, weights, sizeof weights);
    memcpy(d->extents, destination, sizeof destination);
    place_tensor(s, c, 0, &state);
    place_tensor(w, c, 1, &state);
    place_tensor(d, c, 2, &state);
    o->strides[0] = random_in(&state, 1, 3), o->strides[1] = random_in(&state, 1, 2);
    o->dilations[0] = random_bits(&state) & 1 ? 1 : random_in(&state, 1, 3);
    o->dilations[1] = random_in(&state, 1, 2);
    o->offset[0] = random_in(&state, -4, 2), o->offset[1] = random_in(&state, -4, 2);
    o->size[0] = (int32_t)outs + random_in(&state, -1, 3);
    if (o->size[0] < 1) o->size[0] = 1;
    o->size[1] = random_in(&state, 1, 44), o->size[2] = random_in(&state, 1, 7);
    o->size[3] = (int32_t)d->extents[3];
    int32_t all = o->size[1] * o->size[2] * o->size[3];
    o->first = random_bits(&state) & 1 ? 0 : random_in(&state, 0, all - 1);
    o->count = random_bits(&state) & 1 ? all - o->first : random_in(&state, 1, all - o->first);
}

static void test_random(void **unused) {
    (void)unused;
    Case c = {0};
    for (int i = 0; i < 3; i++) c.run.arenas[i] = arena_make();
    for (size_t i = 0; i < N_ISAS; i++) {
        c.run.isa = all_isas[i].isa;
        if (!cpu_isa_use(c.run.isa)) {
            print_message("  %s: this machine does not have it\n", all_isas[i].name);
            continue;
        }
        for (uint64_t seed = 1; seed <= 300; seed++) {
            random_case(&c, seed);
            run_case(&c);
        }
    }
    for (int i = 0; i < 3; i++) arena_free(c.run.arenas[i]);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_random)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
