// SPDX-License-Identifier: Apache-2.0
// test_matmul.c: matrix multiplication of every instruction set against sums in double (integers:
// modulo 2^32), for random shapes, strides, types and clipping, between guard pages: no element
// outside the matrices is read, none outside the share of the call is written. Prints what ran.
// usage: test_tensor_ops_matmul [general | base | avx2 | avx512 | avx512_vnni | avx512_bf16 | amx]
#include "tensor_ops_test.h"

typedef struct Case {
    CpuMatmul op; // c.data as for the call
    Run run;
} Case;

enum { ROWS, ROWS_PADDED, COLUMNS, COLUMNS_PADDED, GAPS, BACKWARDS, N_LAYOUTS };

// A matrix with room for rows x cols, of which m->rows and m->cols exist.
static void place_matrix(CpuMatrix *m, Case *t, int i, int rows, int cols, int layout,
                         uint64_t *state) {
    bool by_columns = layout == COLUMNS || layout == COLUMNS_PADDED;
    int64_t inner = layout == GAPS ? random_in(state, 2, 3) : 1;
    int64_t outer = inner * (by_columns ? rows : cols);
    if (layout == ROWS_PADDED || layout == COLUMNS_PADDED || layout == GAPS)
        outer += random_in(state, 1, 37);
    m->row_stride = by_columns ? inner : outer;
    m->col_stride = by_columns ? outer : inner;
    int64_t elements = (rows - 1) * m->row_stride + (cols - 1) * m->col_stride + 1;
    size_t bits = (size_t)type_bits(m->type);
    size_t n_bytes = ((size_t)elements * bits + 7) / 8, align = bits < 8 ? 1 : bits / 8;
    t->run.places[i] = arena_place(t->run.arenas[i], n_bytes, align, random_bits(state) & 1);
    t->run.n_bytes[i] = n_bytes;
    fill_random(t->run.places[i], m->type, n_bytes * 8 / bits, state);
    m->data = t->run.places[i];
    if (layout == BACKWARDS && bits >= 8) {
        m->data = t->run.places[i] + (rows - 1) * m->row_stride * (int64_t)bits / 8;
        m->row_stride = -m->row_stride;
    }
}

static void report(const Case *t, const char *what, int r, int j, double got, double want,
                   double bound) {
    const CpuMatmul *o = &t->op;
    print_error("%s: isa %d seed %llu, %d rows from %d of %d, n %d, k %d\n"
                "  a type %u %d x %d strides %lld %lld; b type %u %d x %d strides %lld %lld\n"
                "  c type %u %d x %d strides %lld %lld flags %u\n"
                "  c[%d][%d] is %.9g, expected %.9g +- %.3g\n",
                what, (int)t->run.isa, (unsigned long long)t->run.seed, o->n_rows, o->first_row,
                o->c.rows, o->n, o->k, o->a.type, o->a.rows, o->a.cols, (long long)o->a.row_stride,
                (long long)o->a.col_stride, o->b.type, o->b.rows, o->b.cols,
                (long long)o->b.row_stride, (long long)o->b.col_stride, o->c.type, o->c.rows,
                o->c.cols, (long long)o->c.row_stride, (long long)o->c.col_stride, o->flags, r, j,
                got, want, bound);
    fail();
}

static double number(const CpuMatrix *m, int64_t at) {
    return element_number(m->data, m->type, at);
}

// Element (r, j) of c by definition. `r` counts from first_row.
static void check_element(const Case *t, int r, int j, const CpuMatrix *before) {
    const CpuMatmul *o = &t->op;
    bool is_float = cpu_element_is_float(o->a.type) || cpu_element_is_float(o->b.type) ||
                    cpu_element_is_float(o->c.type);
    int64_t at = r * o->c.row_stride + j * o->c.col_stride, row = r + o->first_row;
    bool add = o->flags & CPU_MATMUL_ACCUMULATE;
    double sum = add ? number(before, at) : 0, magnitudes = fabs(sum);
    uint32_t whole = add ? (uint32_t)cpu_element_int(before->data, o->c.type, at) : 0;
    for (int i = 0; i < o->k; i++) {
        if (row >= o->a.rows || i >= o->a.cols || i >= o->b.rows || j >= o->b.cols) continue;
        int64_t a = row * o->a.row_stride + i * o->a.col_stride,
                b = i * o->b.row_stride + j * o->b.col_stride;
        if (is_float) {
            double product = number(&o->a, a) * number(&o->b, b);
            sum += product;
            magnitudes += fabs(product);
        } else {
            whole += (uint32_t)cpu_element_int(o->a.data, o->a.type, a) *
                     (uint32_t)cpu_element_int(o->b.data, o->b.type, b);
        }
    }
    bool any = row < o->a.rows && j < o->b.cols && o->a.cols > 0 && o->b.rows > 0;
    if (add && !any) {
        double got = number(&o->c, at), want = number(before, at);
        if (got != want) report(t, "nothing to add", r, j, got, want, 0);
        return;
    }
    if (!is_float) {
        int64_t want = 0;
        cpu_element_set_int(&want, o->c.type, 0, (int32_t)whole);
        want = cpu_element_int(&want, o->c.type, 0);
        int64_t got = cpu_element_int(o->c.data, o->c.type, at);
        if (got != want) report(t, "integers", r, j, (double)got, (double)want, 0);
        return;
    }
    double got = number(&o->c, at), bound = sum_bound(o->k + 2, magnitudes);
    // Sums of large integers in float leave the range of small results.
    if (!cpu_element_is_float(o->c.type) &&
        fabs(sum) + bound + 1 >= ldexp(1, (int)type_bits(o->c.type) - 1))
        return;
    if (o->c.type == ABI_TENSOR_FLOAT16 && fabs(sum) + bound > 65000) return;
    if (!cpu_element_is_float(o->c.type) && sum < bound + 1 && o->c.type != ABI_TENSOR_INT8 &&
        o->c.type != ABI_TENSOR_INT16 && o->c.type != ABI_TENSOR_INT32 &&
        o->c.type != ABI_TENSOR_INT64 && o->c.type != ABI_TENSOR_INT4)
        return; // negative to unsigned
    bound += round_bound(o->c.type, fabs(sum) + bound);
    if (!(fabs(got - sum) <= bound)) report(t, "floats", r, j, got, sum, bound);
}

static void set_zero(void *data, uint32_t type, int64_t at) {
    if (cpu_element_is_float(type))
        cpu_element_set_float(data, type, at, 0);
    else
        cpu_element_set_int(data, type, at, 0);
}

// What belongs to no element of the share is as it was.
static void check_rest(const Case *t, unsigned char *now, unsigned char *before) {
    const CpuMatmul *o = &t->op;
    int64_t base = ((unsigned char *)o->c.data - t->run.places[2]) * 8 / type_bits(o->c.type);
    for (int r = 0; r < o->n_rows && r + o->first_row < o->c.rows; r++)
        for (int j = 0; j < o->n && j < o->c.cols; j++) {
            int64_t at = base + r * o->c.row_stride + j * o->c.col_stride;
            set_zero(now, o->c.type, at);
            set_zero(before, o->c.type, at);
        }
    for (size_t i = 0; i < t->run.n_bytes[2]; i++)
        if (now[i] != before[i]) report(t, "a byte beside", 0, (int)i, now[i], before[i], 0);
}

static void run_case(Case *t) {
    static unsigned char before[ARENA_BYTES], now[ARENA_BYTES];
    memcpy(before, t->run.places[2], t->run.n_bytes[2]);
    cpu_tensor_ops()->matmul(&t->op);
    CpuMatrix old = t->op.c;
    old.data = before + ((unsigned char *)t->op.c.data - t->run.places[2]);
    for (int r = 0; r < t->op.n_rows && r + t->op.first_row < t->op.c.rows; r++)
        for (int j = 0; j < t->op.n && j < t->op.c.cols; j++) check_element(t, r, j, &old);
    memcpy(now, t->run.places[2], t->run.n_bytes[2]);
    check_rest(t, now, before);
}

static const uint32_t types[] = {ABI_TENSOR_FLOAT32, ABI_TENSOR_FLOAT16, ABI_TENSOR_BFLOAT16,
                                 ABI_TENSOR_INT8,    ABI_TENSOR_UINT8,   ABI_TENSOR_INT16,
                                 ABI_TENSOR_UINT16,  ABI_TENSOR_INT32,   ABI_TENSOR_UINT32,
                                 ABI_TENSOR_INT64,   ABI_TENSOR_UINT64,  ABI_TENSOR_INT4,
                                 ABI_TENSOR_UINT4};
// The combinations that matter most, half of the time.
static const uint32_t usual[][3] = {
    {ABI_TENSOR_FLOAT32, ABI_TENSOR_FLOAT32, ABI_TENSOR_FLOAT32},
    {ABI_TENSOR_FLOAT16, ABI_TENSOR_FLOAT16, ABI_TENSOR_FLOAT32},
    {ABI_TENSOR_FLOAT16, ABI_TENSOR_FLOAT16, ABI_TENSOR_FLOAT16},
    {ABI_TENSOR_BFLOAT16, ABI_TENSOR_BFLOAT16, ABI_TENSOR_FLOAT32},
    {ABI_TENSOR_BFLOAT16, ABI_TENSOR_BFLOAT16, ABI_TENSOR_BFLOAT16},
    {ABI_TENSOR_FLOAT32, ABI_TENSOR_BFLOAT16, ABI_TENSOR_FLOAT32},
    {ABI_TENSOR_FLOAT16, ABI_TENSOR_FLOAT32, ABI_TENSOR_FLOAT32},
    {ABI_TENSOR_INT8, ABI_TENSOR_FLOAT16, ABI_TENSOR_FLOAT32},
    {ABI_TENSOR_INT8, ABI_TENSOR_INT8, ABI_TENSOR_INT32},
    {ABI_TENSOR_UINT8, ABI_TENSOR_INT8, ABI_TENSOR_INT32},
    {ABI_TENSOR_INT8, ABI_TENSOR_UINT8, ABI_TENSOR_INT32},
    {ABI_TENSOR_UINT8, ABI_TENSOR_UINT8, ABI_TENSOR_UINT32},
    {ABI_TENSOR_INT16, ABI_TENSOR_INT16, ABI_TENSOR_INT32},
};
#define COUNT(a) ((int)(sizeof(a) / sizeof *(a)))

// One random case: the share of one SIMD-group of a tile of m rows; `whole`: all of it, nothing
// clipped, of usual types.
static void random_case(Case *t, uint64_t seed, int m, int n, int k, bool whole) {
    uint64_t state = seed * 0x9e3779b97f4a7c15u + 1;
    random_bits(&state);
    t->run.seed = seed;
    CpuMatmul *o = &t->op;
    *o = (CpuMatmul){.n = n, .k = k, .flags = random_bits(&state) & 3};
    if ((random_bits(&state) & 1) || whole) {
        const uint32_t *u = usual[random_in(&state, 0, COUNT(usual) - 1)];
        o->a.type = u[0], o->b.type = u[1], o->c.type = u[2];
    } else {
        o->a.type = types[random_in(&state, 0, COUNT(types) - 1)];
        o->b.type = types[random_in(&state, 0, COUNT(types) - 1)];
        o->c.type = types[random_in(&state, 0, COUNT(types) - 1)];
    }
    o->n_rows = m;
    if (!whole) {
        o->first_row = random_bits(&state) & 1 ? 0 : random_in(&state, 0, m - 1);
        o->n_rows -= o->first_row;
        if (random_bits(&state) & 1) o->n_rows = random_in(&state, 1, o->n_rows);
    }
    // The whole matrices may be smaller than the tile or larger; extents may even be negative.
    int sizes[6] = {m, k, k, n, m, n};
    if (!whole && random_bits(&state) % 4 == 0)
        for (int i = 0; i < 6; i++)
            if (random_bits(&state) & 1) sizes[i] = random_in(&state, 1, sizes[i] + 5);
    int exist[6];
    for (int i = 0; i < 6; i++)
        exist[i] = !whole && random_bits(&state) % 64 == 0 ? random_in(&state, -3, 0) : sizes[i];
    place_matrix(&o->a, t, 0, sizes[0], sizes[1], random_in(&state, 0, N_LAYOUTS - 1), &state);
    place_matrix(&o->b, t, 1, sizes[2], sizes[3], random_in(&state, 0, N_LAYOUTS - 1), &state);
    place_matrix(&o->c, t, 2, sizes[4], sizes[5], random_in(&state, 0, N_LAYOUTS - 1), &state);
    o->a.rows = exist[0], o->a.cols = exist[1], o->b.rows = exist[2], o->b.cols = exist[3];
    o->c.rows = exist[4], o->c.cols = exist[5];
    int64_t bits = type_bits(o->c.type);
    if (bits < 8 && o->first_row * o->c.row_stride % 2) o->n_rows += o->first_row, o->first_row = 0;
    o->c.data = (unsigned char *)o->c.data + o->first_row * o->c.row_stride * bits / 8;
}

static void arenas_make(Case *t) {
    for (int i = 0; i < 3; i++) t->run.arenas[i] = arena_make();
}
static void arenas_free(Case *t) {
    for (int i = 0; i < 3; i++) arena_free(t->run.arenas[i]);
}

#if defined(__x86_64__)
bool cpu_amx_granted(void); // amx.c
#else
static bool cpu_amx_granted(void) { return false; }
#endif
static const char *only; // the name of an instruction set

static void each_isa(void (*run)(Case *t)) {
    Case t = {0};
    arenas_make(&t);
    for (size_t i = 0; i < N_ISAS; i++) {
        t.run.isa = all_isas[i].isa;
        if (only && strcmp(only, all_isas[i].name) != 0) continue;
        bool has = cpu_isa_use(t.run.isa);
        print_message("  %s: %s\n", all_isas[i].name,
                      !has                                             ? "not on this machine"
                      : t.run.isa == CPU_ISA_AMX && !cpu_amx_granted() ? "not granted; without it"
                                                                       : "runs");
        if (has) run(&t);
    }
    arenas_free(&t);
}

static void run_small(Case *t) {
    uint64_t state = 7;
    for (uint64_t seed = 1; seed <= 1500; seed++) {
        int m = random_in(&state, 1, 70), n = random_in(&state, 1, 70),
            k = random_in(&state, 1, 70);
        random_case(t, seed, m, n, k, false);
        run_case(t);
    }
}
static void test_small(void **unused) {
    (void)unused;
    each_isa(run_small);
}

static void run_awkward(Case *t) {
    static const int sizes[][3] = {{113, 255, 24}, {255, 113, 29}, {17, 29, 1024}, {64, 128, 300},
                                   {16, 64, 1030}, {1, 255, 513},  {255, 1, 513},  {1, 1, 2049},
                                   {65, 257, 129}, {130, 16, 260}, {270, 3, 1100}, {4, 30, 1030},
                                   {2, 2, 63}};
    for (uint64_t seed = 1; seed <= 4; seed++)
        for (int i = 0; i < COUNT(sizes); i++) {
            random_case(t, seed * 1000 + (uint64_t)i, sizes[i][0], sizes[i][1], sizes[i][2],
                        seed & 1);
            run_case(t);
        }
}
static void test_awkward(void **unused) {
    (void)unused;
    each_isa(run_awkward);
}

// Whole vectors and tiles, where nothing is padded: results are written directly.
static void run_even(Case *t) {
    static const int sizes[][3] = {
        {16, 64, 64}, {48, 16, 32}, {16, 16, 16}, {8, 128, 64}, {32, 96, 160}};
    for (uint64_t seed = 1; seed <= 80; seed++)
        for (int i = 0; i < COUNT(sizes); i++) {
            random_case(t, seed * 1000 + 500 + (uint64_t)i, sizes[i][0], sizes[i][1], sizes[i][2],
                        true);
            run_case(t);
        }
}
static void test_even(void **unused) {
    (void)unused;
    each_isa(run_even);
}

// More rows than are packed at once, sums in several blocks, panels side by side.
static void run_tall(Case *t) {
    static const int sizes[][3] = {
        {200, 40, 140}, {70, 300, 130}, {385, 32, 40}, {130, 70, 270}, {40, 320, 530}};
    for (uint64_t seed = 1; seed <= 12; seed++)
        for (int i = 0; i < COUNT(sizes); i++) {
            random_case(t, seed * 1000 + 700 + (uint64_t)i, sizes[i][0], sizes[i][1], sizes[i][2],
                        seed % 2);
            run_case(t);
        }
}
static void test_tall(void **unused) {
    (void)unused;
    each_isa(run_tall);
}

// What is not a number, or infinite, reaches the results of its row or column and no other.
static void run_special(Case *t) {
    for (uint64_t seed = 1; seed <= 60; seed++) {
        uint64_t state = seed;
        int m = random_in(&state, 1, 40), n = random_in(&state, 1, 70),
            k = random_in(&state, 1, 40);
        do random_case(t, seed * 77 + random_bits(&state), m, n, k, true);
        while (!cpu_element_is_float(t->op.c.type) || !cpu_element_is_float(t->op.a.type) ||
               !cpu_element_is_float(t->op.b.type));
        CpuMatmul *o = &t->op;
        int row = random_in(&state, 0, m - 1), col = random_in(&state, 0, n - 1);
        cpu_element_set_float(o->a.data, o->a.type,
                              row * o->a.row_stride + random_in(&state, 0, k - 1) * o->a.col_stride,
                              NAN);
        cpu_element_set_float(o->b.data, o->b.type,
                              random_in(&state, 0, k - 1) * o->b.row_stride + col * o->b.col_stride,
                              INFINITY);
        o->flags &= ~(uint32_t)CPU_MATMUL_ACCUMULATE;
        cpu_tensor_ops()->matmul(o);
        for (int r = 0; r < m; r++)
            for (int j = 0; j < n; j++) {
                float got = cpu_element_float(o->c.data, o->c.type,
                                              r * o->c.row_stride + j * o->c.col_stride);
                bool right = r == row ? isnan(got) : j == col ? !isfinite(got) : isfinite(got);
                if (!right) report(t, "not a number", r, j, (double)got, 0, 0);
            }
    }
}
static void test_special(void **unused) {
    (void)unused;
    each_isa(run_special);
}

// The same call twice gives the same bits. A share of it gives the same results up to rounding: how
// many rows are computed at once may decide how sums are formed.
static void run_shares(Case *t) {
    static unsigned char first[ARENA_BYTES];
    for (uint64_t seed = 1; seed <= 60; seed++) {
        uint64_t state = seed + 3;
        int m = random_in(&state, 2, 40), n = random_in(&state, 1, 70),
            k = random_in(&state, 1, 90);
        random_case(t, seed * 31, m, n, k, true);
        CpuMatmul *o = &t->op;
        o->flags &= ~(uint32_t)CPU_MATMUL_ACCUMULATE;
        cpu_tensor_ops()->matmul(o);
        memcpy(first, t->run.places[2], t->run.n_bytes[2]);
        cpu_tensor_ops()->matmul(o);
        assert_memory_equal(first, t->run.places[2], t->run.n_bytes[2]);
        int half = random_in(&state, 1, m - 1);
        CpuMatmul low = *o, high = *o;
        low.n_rows = half;
        high.first_row = half;
        high.n_rows = m - half;
        high.c.data =
            (unsigned char *)o->c.data + half * o->c.row_stride * type_bits(o->c.type) / 8;
        cpu_tensor_ops()->matmul(&high);
        cpu_tensor_ops()->matmul(&low);
        for (int r = 0; r < m; r++)
            for (int j = 0; j < n; j++) {
                int64_t at = r * o->c.row_stride + j * o->c.col_stride;
                CpuMatrix was = o->c;
                was.data = first + ((unsigned char *)o->c.data - t->run.places[2]);
                double v = number(&was, at), bound = 0;
                if (cpu_element_is_float(o->c.type)) // at most 90 products up to 4
                    bound = sum_bound(2 * k, 4 * k) + 2 * round_bound(o->c.type, v);
                if (fabs(number(&o->c, at) - number(&was, at)) > bound)
                    report(t, "shares", r, j, number(&o->c, at), number(&was, at), bound);
            }
    }
}
static void test_shares(void **unused) {
    (void)unused;
    each_isa(run_shares);
}

// The first question of the process, so that nobody has said yet what to use.
static void test_named(void **unused) {
    (void)unused;
    assert_int_equal(setenv("INGOT_CPU", "x86-64-v2", 1), 0);
    assert_int_equal(cpu_isa(), CPU_ISA_BASE);
    unsetenv("INGOT_CPU");
    assert_int_equal(cpu_isa(), CPU_ISA_BASE);
}

int main(int argc, char **argv) {
    if (argc > 1) only = argv[1];
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_named),  cmocka_unit_test(test_small), cmocka_unit_test(test_awkward),
        cmocka_unit_test(test_even),   cmocka_unit_test(test_tall),  cmocka_unit_test(test_special),
        cmocka_unit_test(test_shares),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
