// SPDX-License-Identifier: Apache-2.0
// fast_vector.c: GEMV: a matrix times a vector, or a few, both contiguous along k: dot products.
// Tiles would have to transpose the whole matrix first, of which each element is used only once.
//
// Each row has a vector of partial sums; squares of those, transposed, give the sums side by side.
#include "devices/cpu/tensor/fast_load.h"
#include "devices/cpu/tensor/fast_work.h"

#define STEPS 1024 // elements along k that are converted at once
#define MAX_LANES 4
#define MAX_ROWS 256
#define GROUP 16 // rows whose sums are formed together

// Eight rows at a time: as many as one addressing mode reaches from three pointers, and no more
// than a cache has ways, where rows lie a page apart.
#define ROWS8(X)                                                                                   \
    X(0, p)                                                                                        \
    X(1, p + row)                                                                                  \
    X(2, p + 2 * row)                                                                              \
    X(3, third) X(4, third + row) X(5, third + 2 * row) X(6, sixth) X(7, sixth + row)
#define ROW_ZERO(r, at) vw s##r = w_zero();
#define ROW_OUT(r, at) out[r] = s##r;
#define DOT(type, n_bytes)                                                                         \
    do {                                                                                           \
        for (int k = 0; k < n_k; k += V_WIDTH) {                                                   \
            vw y = w_load(vector + k);                                                             \
            ROWS8(ROW_##type)                                                                      \
            p += V_WIDTH * (n_bytes);                                                              \
            third += V_WIDTH * (n_bytes);                                                          \
            sixth += V_WIDTH * (n_bytes);                                                          \
        }                                                                                          \
        if (rest) {                                                                                \
            vw y = w_load(vector + n_k);                                                           \
            ROWS8(REST_##type)                                                                     \
        }                                                                                          \
    } while (0)
#define ROW_OF(r, at, type, n) s##r = w_fma(s##r, load_floats(at, type, n), y);
#define ROW_float(r, at) ROW_OF(r, at, ABI_TENSOR_FLOAT32, V_WIDTH)
#define ROW_half(r, at) ROW_OF(r, at, ABI_TENSOR_FLOAT16, V_WIDTH)
#define ROW_bfloat(r, at) ROW_OF(r, at, ABI_TENSOR_BFLOAT16, V_WIDTH)
#define REST_float(r, at) ROW_OF(r, at, ABI_TENSOR_FLOAT32, rest)
#define REST_half(r, at) ROW_OF(r, at, ABI_TENSOR_FLOAT16, rest)
#define REST_bfloat(r, at) ROW_OF(r, at, ABI_TENSOR_BFLOAT16, rest)

// `vector` has zeros up to a whole vector.
static void dot_rows(const unsigned char *p, int64_t row, uint32_t type, int all_k,
                     const float *vector, vw out[8]) {
    const unsigned char *third = p + 3 * row, *sixth = third + 3 * row;
    int rest = all_k % V_WIDTH, n_k = all_k - rest;
    ROWS8(ROW_ZERO)
    switch (type) {
    case ABI_TENSOR_FLOAT32: DOT(float, 4); break;
    case ABI_TENSOR_FLOAT16: DOT(half, 2); break;
    default: DOT(bfloat, 2); break;
    }
    ROWS8(ROW_OUT)
}

// Adds the sums of up to GROUP rows to those in `out`.
static void dot_group(const unsigned char *p, int64_t row, uint32_t type, int n, int n_k,
                      const float *vector, float *out) {
    vw sums[GROUP];
    int i = 0;
    for (; i + 8 <= n; i += 8) dot_rows(p + i * row, row, type, n_k, vector, sums + i);
    for (; i < n; i++) { // the same row eight times
        vw one[8];
        dot_rows(p + i * row, 0, type, n_k, vector, one);
        sums[i] = one[0];
    }
    for (; i < GROUP; i++) sums[i] = w_zero();
    for (i = 0; i < GROUP; i += V_WIDTH) {
        vw *square = sums + i;
        w_transpose(square);
        for (int half = V_WIDTH / 2; half > 0; half /= 2)
            for (int r = 0; r < half; r++) square[r] = w_add_float(square[r], square[r + half]);
        w_store(out + i, w_add_float(w_load(out + i), square[0]));
    }
}

static void convert(const CpuOperand *wide, int64_t lane, int64_t k, int n, float *out) {
    int n_bytes = cpu_element_bytes(wide->type);
    const unsigned char *p = wide->data + (lane * wide->lane + k) * n_bytes;
    for (int i = 0; i < n; i += V_WIDTH)
        w_store(out + i, load_floats(p + i * n_bytes, wide->type, n - i));
}

static void run_rows(const CpuWork *w, int64_t row, int n_rows) {
    float vectors[MAX_LANES][STEPS];
    float sums[MAX_LANES][MAX_ROWS + GROUP];
    int n_lanes = (int)w->n_lanes, thin_bytes = cpu_element_bytes(w->thin.type);
    for (int l = 0; l < n_lanes; l++) memset(sums[l], 0, ((size_t)n_rows + GROUP) * 4);
    for (int64_t k = 0; k < w->n_k; k += STEPS) {
        int n_k = (int)cpu_least(STEPS, w->n_k - k);
        for (int l = 0; l < n_lanes; l++) convert(&w->wide, l, k, n_k, vectors[l]);
        for (int r = 0; r < n_rows; r += GROUP) {
            const unsigned char *thin = w->thin.data + ((row + r) * w->thin.lane + k) * thin_bytes;
            int n = (int)cpu_least(GROUP, n_rows - r);
            for (int l = 0; l < n_lanes; l++)
                dot_group(thin, w->thin.lane * thin_bytes, w->thin.type, n, n_k, vectors[l],
                          &sums[l][r]);
        }
    }
    // Here rows lie side by side.
    CpuResult to = w->result;
    to.row = w->result.lane;
    to.lane = w->result.row;
    ISA(cpu_store)(&to, 0, n_lanes, row, n_rows, (uint32_t *)(void *)sums, MAX_ROWS + GROUP);
}

static bool is_float_type(uint32_t type) {
    return type == ABI_TENSOR_FLOAT32 || type == ABI_TENSOR_FLOAT16 || type == ABI_TENSOR_BFLOAT16;
}

bool ISA(cpu_vector_run)(const CpuWork *w) {
    if (w->n_lanes > MAX_LANES || w->n_k < 2 * V_WIDTH || w->thin.k != 1 || w->wide.k != 1 ||
        !is_float_type(w->thin.type) || !is_float_type(w->wide.type) ||
        !cpu_element_bytes(w->result.type))
        return false;
    for (int64_t row = 0; row < w->n_rows; row += MAX_ROWS)
        run_rows(w, row, (int)cpu_least(MAX_ROWS, w->n_rows - row));
    return true;
}
