// SPDX-License-Identifier: Apache-2.0
// fast_work.h: one product, after clipping: what fast_matmul.c decides and amx.c may take over.
#ifndef INGOT_CPU_TENSOR_FAST_WORK_H
#define INGOT_CPU_TENSOR_FAST_WORK_H
#include "devices/cpu/tensor/fast_pack.h"
#include "devices/cpu/tensor/fast_store.h"

typedef struct CpuWork {
    CpuKind kind;
    const CpuTiles *tiles;
    CpuOperand thin, wide;
    CpuResult result;
    int64_t n_rows, n_lanes, n_k;
    bool thin_in_place, wide_in_place, result_in_place;
} CpuWork;

// Part of a product: rows row .. + n_rows - 1, lanes lane .. + n_lanes - 1, elements k .. + n_k
// - 1.
typedef struct CpuBlock {
    int64_t row, lane, k;
    int n_rows, n_lanes, n_k;
} CpuBlock;

#define CPU_CHUNK_ROWS CPU_PACK_LANES // of the thin operand, packed at once
#define CPU_CHUNK_LANES 256           // of sums in scratch

static inline int64_t cpu_least(int64_t a, int64_t b) { return a < b ? a : b; }

static inline CpuBlock cpu_chunk(const CpuWork *w, int64_t row, int64_t lane) {
    return (CpuBlock){.row = row,
                      .lane = lane,
                      .n_rows = (int)cpu_least(CPU_CHUNK_ROWS, w->n_rows - row),
                      .n_lanes = (int)cpu_least(CPU_CHUNK_LANES, w->n_lanes - lane)};
}
#define CPU_EACH_CHUNK(w, row, lane)                                                               \
    for (int64_t row = 0; row < (w)->n_rows; row += CPU_CHUNK_ROWS)                                \
        for (int64_t lane = 0; lane < (w)->n_lanes; lane += CPU_CHUNK_LANES)

// fast_vector.c: a few lanes, all along k. False: not for this one.
bool ISA(cpu_vector_run)(const CpuWork *work);

// amx.c, on x86-64. Whether the system lets this process use tiles. The first call asks; any
// thread, any time.
bool cpu_amx_granted(void);
// Products of bfloats, of bytes of any sign. False: not for this one.
bool cpu_amx_run(const CpuWork *work);
#endif
