// SPDX-License-Identifier: Apache-2.0
// amx.c: products of bfloats and bytes with the tiles of AMX: 16 rows of 16 words times 16 steps of
// 16 words in one instruction. The words are those of the vector code: packed operands are tiles
// already, filled up with zeros to whole ones.
//
// Tiles are configured and released in each call: a kernel may be left by a signal at any time, and
// state that is in use makes every later change of threads more expensive. As with vdpbf16ps,
// denormals are flushed and sums of two products are added in float.
#include "devices/cpu/tensor/fast_work.h"
#include <stdatomic.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>
#include "devices/cpu/isa/simd.h"

#define TILE 16
#define PANEL_LANES 64
#define STEPS 128 // along k, of words

#ifdef CPU_AMX_EMULATED // tests: tiles in software, for machines without
#include CPU_AMX_EMULATED
#else

// Permission is the process's, for good, and makes signal frames larger: asked for only when there
// is a product to compute.
bool cpu_amx_granted(void) {
    enum { UNKNOWN, NO, YES };
    static _Atomic int state;
    int now = atomic_load_explicit(&state, memory_order_relaxed);
    if (now == UNKNOWN) {
        enum { ARCH_REQ_XCOMP_PERM = 0x1023, XFEATURE_XTILEDATA = 18 };
        now = syscall(SYS_arch_prctl, ARCH_REQ_XCOMP_PERM, XFEATURE_XTILEDATA) == 0 ? YES : NO;
        atomic_store_explicit(&state, now, memory_order_relaxed);
    }
    return now == YES;
}

#endif

typedef struct Scratch {
    uint32_t thin[CPU_CHUNK_ROWS * STEPS]; // [row][step]
    uint32_t wide[STEPS * PANEL_LANES];    // [step][lane]
    uint32_t sums[CPU_CHUNK_ROWS * CPU_CHUNK_LANES];
} Scratch;

static int whole_tiles(int n) { return (n + TILE - 1) / TILE * TILE; }

// GCC's intrinsics do not tell it all the memory they read: what was written before has to be
// there.
static inline void written(const void *p) { __asm__ volatile("" : : "r"(p) : "memory"); }

// All eight tiles are 16 rows of 64 bytes.
static void configure(void) {
    struct {
        uint8_t palette, start_row, reserved[14];
        uint16_t row_bytes[16];
        uint8_t rows[16];
    } config = {.palette = 1};
    for (int i = 0; i < 8; i++) config.row_bytes[i] = 64, config.rows[i] = TILE;
    written(&config);
    _tile_loadconfig(&config);
}

// Which instruction: bfloats, or bytes by the signs of thin and wide.
typedef enum Dot { DOT_BFLOAT, DOT_SS, DOT_SU, DOT_US, DOT_UU } Dot;

// Tiles 0..3 are sums, 4 and 5 thin, 6 and 7 wide.
#define DOTS(dot)                                                                                  \
    do {                                                                                           \
        for (int k = 0; k < n_steps; k += TILE) {                                                  \
            _tile_loadd(4, thin + k, thin_row);                                                    \
            _tile_loadd(6, wide + k * width, (size_t)width * 4);                                   \
            dot(0, 4, 6);                                                                          \
            if (two_lanes) {                                                                       \
                _tile_loadd(7, wide + k * width + TILE, (size_t)width * 4);                        \
                dot(1, 4, 7);                                                                      \
            }                                                                                      \
            if (two_rows) {                                                                        \
                _tile_loadd(5, thin + k + TILE * thin_row / 4, thin_row);                          \
                dot(2, 5, 6);                                                                      \
                if (two_lanes) dot(3, 5, 7);                                                       \
            }                                                                                      \
        }                                                                                          \
    } while (0)

// Up to 32 x 32 sums.
static void run_tiles(Dot dot, const uint32_t *thin, size_t thin_row, const uint32_t *wide,
                      int width, int n_steps, unsigned char *out, size_t out_row, bool two_rows,
                      bool two_lanes, bool add) {
    unsigned char *below = out + TILE * out_row;
    written(thin);
    written(wide);
    written(out);
    _tile_zero(0);
    _tile_zero(1);
    _tile_zero(2);
    _tile_zero(3);
    if (add) {
        _tile_loadd(0, out, out_row);
        if (two_lanes) _tile_loadd(1, out + TILE * 4, out_row);
        if (two_rows) _tile_loadd(2, below, out_row);
        if (two_rows && two_lanes) _tile_loadd(3, below + TILE * 4, out_row);
    }
    switch (dot) {
    case DOT_BFLOAT: DOTS(_tile_dpbf16ps); break;
    case DOT_SS: DOTS(_tile_dpbssd); break;
    case DOT_SU: DOTS(_tile_dpbsud); break;
    case DOT_US: DOTS(_tile_dpbusd); break;
    case DOT_UU: DOTS(_tile_dpbuud); break;
    }
    _tile_stored(0, out, out_row);
    if (two_lanes) _tile_stored(1, out + TILE * 4, out_row);
    if (two_rows) _tile_stored(2, below, out_row);
    if (two_rows && two_lanes) _tile_stored(3, below + TILE * 4, out_row);
}

// Rows of words for tiles, zeros up to a whole tile of steps. `room`: for STEPS * PANEL_LANES
// words.
static int pack_thin(const CpuWork *w, const CpuBlock *b, uint32_t *out, uint32_t *room) {
    int each = cpu_kind_elements(w->kind), n_steps = (b->n_k + each - 1) / each,
        padded = whole_tiles(n_steps);
    CpuOperand thin = w->thin; // bytes keep their sign here
    if (w->kind == CPU_KIND_BYTE) thin.type = ABI_TENSOR_UINT8;
    if (thin.lane == 1 && thin.k != 1) {
        int lanes = whole_tiles(b->n_rows);
        ISA(cpu_pack_wide)(w->kind, &thin, b->row, b->n_rows, b->k, b->n_k, lanes, room);
        memset(room + n_steps * lanes, 0, (size_t)(padded - n_steps) * (size_t)lanes * 4);
        for (int r = 0; r < lanes; r += TILE)
            for (int k = 0; k < padded; k += TILE) {
                vw v[16];
                for (int i = 0; i < TILE; i++) v[i] = w_load(room + (k + i) * lanes + r);
                w_transpose(v);
                for (int i = 0; i < TILE; i++) w_store(out + (r + i) * padded + k, v[i]);
            }
        return padded;
    }
    int64_t lane_bytes, step_bytes;
    ISA(cpu_pack_thin)(w->kind, &thin, b->row, b->n_rows, b->k, b->n_k, out, &lane_bytes,
                       &step_bytes);
    for (int r = 0; r < b->n_rows; r++)
        for (int k = n_steps; k < padded; k++) out[r * padded + k] = 0;
    return padded;
}

static void run_chunk(const CpuWork *w, Scratch *s, const CpuBlock *chunk, Dot dot) {
    int each = cpu_kind_elements(w->kind), all_lanes = whole_tiles(chunk->n_lanes);
    unsigned char *out = (unsigned char *)s->sums;
    int64_t out_row = all_lanes * 4;
    bool in_place = w->result_in_place && w->n_rows % TILE == 0 && w->n_lanes % TILE == 0;
    if (in_place) {
        out = w->result.data + (chunk->row * w->result.row + chunk->lane) * 4;
        out_row = w->result.row * 4;
    }
    for (int64_t k = 0; k < w->n_k; k += STEPS * each) {
        CpuBlock b = *chunk;
        b.k = k;
        b.n_k = (int)cpu_least(STEPS * each, w->n_k - k);
        int n_steps = pack_thin(w, &b, s->thin, s->wide);
        bool add = k > 0 || (in_place && w->result.add);
        for (int j = 0; j < chunk->n_lanes; j += PANEL_LANES) {
            b.lane = chunk->lane + j;
            b.n_lanes = (int)cpu_least(PANEL_LANES, chunk->n_lanes - j);
            int width = whole_tiles(b.n_lanes), full = (b.n_k + each - 1) / each;
            ISA(cpu_pack_wide)(w->kind, &w->wide, b.lane, b.n_lanes, k, b.n_k, width, s->wide);
            memset(s->wide + full * width, 0, (size_t)(n_steps - full) * (size_t)width * 4);
            for (int r = 0; r < b.n_rows; r += 2 * TILE)
                for (int l = 0; l < width; l += 2 * TILE)
                    run_tiles(dot, s->thin + r * n_steps, (size_t)n_steps * 4, s->wide + l, width,
                              n_steps, out + r * out_row + (j + l) * 4, (size_t)out_row,
                              r + TILE < b.n_rows, l + TILE < width, add);
        }
    }
    if (!in_place)
        ISA(cpu_store)(&w->result, chunk->row, chunk->n_rows, chunk->lane, chunk->n_lanes, s->sums,
                       all_lanes);
}

// Of its own, for its stack frame.
static __attribute__((noinline)) void run_all(const CpuWork *w, Dot dot) {
    Scratch s;
    configure();
    CPU_EACH_CHUNK(w, row, lane) {
        const CpuBlock chunk = cpu_chunk(w, row, lane);
        run_chunk(w, &s, &chunk, dot);
    }
    _tile_release();
}

static bool is_byte(uint32_t type) { return type == ABI_TENSOR_INT8 || type == ABI_TENSOR_UINT8; }

bool cpu_amx_run(const CpuWork *w) {
    // Of half a tile, vectors are as fast.
    if (w->n_rows < TILE / 2 || w->n_lanes < TILE / 2 || w->n_k < TILE) return false;
    Dot dot = DOT_BFLOAT;
    CpuWork work = *w;
    if (is_byte(w->thin.type) && is_byte(w->wide.type) && !w->result.is_float) {
        work.kind = CPU_KIND_BYTE;
        bool thin_signed = w->thin.type == ABI_TENSOR_INT8,
             wide_signed = w->wide.type == ABI_TENSOR_INT8;
        dot = thin_signed ? (wide_signed ? DOT_SS : DOT_SU) : wide_signed ? DOT_US : DOT_UU;
    } else if (w->kind != CPU_KIND_BFLOAT) {
        return false;
    }
    if (!cpu_amx_granted()) return false;
    run_all(&work, dot);
    return true;
}
