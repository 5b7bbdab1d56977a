// SPDX-License-Identifier: Apache-2.0
// fast_vector.c: a matrix times a vector, or a few, where both lie along k: dot products. Tiles
// would have to transpose the whole matrix first, of which each element is used only once.
//
// V_WIDTH rows at a time have a vector of partial sums each; the squares of those, transposed, give
// the sums side by side.
#include "cpu/tensor/fast_load.h"
#include "cpu/tensor/fast_work.h"

#define STEPS 1024 // elements along k that are converted at once
#define MAX_LANES 4
#define MAX_ROWS 256

// Sums of V_WIDTH rows; those beyond n repeat the last one.
#define DOT(type, n_bytes)                                                                    \
    do {                                                                                      \
        for (int k = 0; k < n_k; k += V_WIDTH) {                                              \
            V y = v_load(vector + k);                                                         \
            _Pragma("GCC unroll 16") for (int r = 0; r < V_WIDTH; r++)                        \
                sums[r] = v_fma(sums[r], load_floats(rows[r] + k * (n_bytes), type, V_WIDTH), y); \
        }                                                                                     \
        if (rest)                                                                             \
            for (int r = 0; r < V_WIDTH; r++)                                                 \
                sums[r] = v_fma(sums[r], load_floats(rows[r] + n_k * (n_bytes), type, rest),  \
                                v_load(vector + n_k));                                        \
    } while (0)

// `vector` has zeros up to a whole vector.
static V dot_rows(const unsigned char *thin, int64_t row, uint32_t type, int n, int all_k,
                  const float *vector) {
    const unsigned char *rows[V_WIDTH];
    V sums[V_WIDTH];
    int rest = all_k % V_WIDTH, n_k = all_k - rest;
    for (int r = 0; r < V_WIDTH; r++) {
        rows[r] = thin + (r < n ? r : n - 1) * row;
        sums[r] = v_zero();
    }
    switch (type) {
    case CPU_TENSOR_FLOAT32: DOT(CPU_TENSOR_FLOAT32, 4); break;
    case CPU_TENSOR_FLOAT16: DOT(CPU_TENSOR_FLOAT16, 2); break;
    default: DOT(CPU_TENSOR_BFLOAT16, 2); break;
    }
    v_transpose(sums);
    for (int half = V_WIDTH / 2; half > 0; half /= 2)
        for (int r = 0; r < half; r++) sums[r] = v_add_float(sums[r], sums[r + half]);
    return sums[0];
}

static void convert(const CpuOperand *wide, int64_t lane, int64_t k, int n, float *out) {
    const unsigned char *p =
        wide->data + (lane * wide->lane + k) * cpu_element_bytes(wide->type);
    int n_bytes = cpu_element_bytes(wide->type);
    for (int i = 0; i < n; i += V_WIDTH)
        v_store(out + i, load_floats(p + i * n_bytes, wide->type, n - i));
}

static void run_rows(const CpuWork *w, int64_t row, int n_rows) {
    float vectors[MAX_LANES][STEPS];
    float sums[MAX_LANES][MAX_ROWS + V_WIDTH];
    int n_lanes = (int)w->n_lanes, thin_bytes = cpu_element_bytes(w->thin.type);
    for (int l = 0; l < n_lanes; l++) memset(sums[l], 0, ((size_t)n_rows + V_WIDTH) * 4);
    for (int64_t k = 0; k < w->n_k; k += STEPS) {
        int n_k = (int)cpu_least(STEPS, w->n_k - k);
        for (int l = 0; l < n_lanes; l++) convert(&w->wide, l, k, n_k, vectors[l]);
        for (int r = 0; r < n_rows; r += V_WIDTH) {
            const unsigned char *thin =
                w->thin.data + ((row + r) * w->thin.lane + k) * thin_bytes;
            for (int l = 0; l < n_lanes; l++)
                v_store(&sums[l][r],
                        v_add_float(v_load(&sums[l][r]),
                                    dot_rows(thin, w->thin.lane * thin_bytes, w->thin.type,
                                             n_rows - r, n_k, vectors[l])));
        }
    }
    // Here rows lie side by side.
    CpuResult to = w->result;
    to.row = w->result.lane;
    to.lane = w->result.row;
    CPU_FAST(cpu_store)(&to, 0, n_lanes, row, n_rows, (uint32_t *)(void *)sums,
                        MAX_ROWS + V_WIDTH);
}

static bool is_float_type(uint32_t type) {
    return type == CPU_TENSOR_FLOAT32 || type == CPU_TENSOR_FLOAT16 || type == CPU_TENSOR_BFLOAT16;
}

bool CPU_FAST(cpu_vector_run)(const CpuWork *w) {
    if (w->n_lanes > MAX_LANES || w->n_k < 2 * V_WIDTH || w->thin.k != 1 || w->wide.k != 1 ||
        !is_float_type(w->thin.type) || !is_float_type(w->wide.type) ||
        !cpu_element_bytes(w->result.type))
        return false;
    for (int64_t row = 0; row < w->n_rows; row += MAX_ROWS)
        run_rows(w, row, (int)cpu_least(MAX_ROWS, w->n_rows - row));
    return true;
}
