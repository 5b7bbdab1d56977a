// SPDX-License-Identifier: Apache-2.0
// fast_matmul.c: GEMM: one call of matmul becomes register tiles (fast_tiles.h), with cache
// blocking as in BLIS. Decides which matrix is the thin operand and which the wide one, what is
// read where it lies and what is packed, and in which blocks.
//
// A call is the share of one SIMD-group: 8 to 64 rows, often of a small product (16 x 64 x 64 takes
// 4096 vector operations with AVX-512), so the way to the first tile is short and takes no scratch
// where the operands lie well. For long sums at large strides, where lines of a column of B all
// fall into a few sets of the caches, operands are packed in blocks of CPU_PACK_STEPS.
//
// Sums of floats: the products of one result are added in the order of k by fused operations (with
// SSE2: rounded twice), by pairs with the dot products of bfloats, which flush denormals, or in
// V_WIDTH interleaved sums where there are few rows or columns (fast_vector.c). The way is chosen
// by types, strides and sizes, never by values: equal calls give equal bits, and what is clipped
// beside a result changes no more than its rounding.
#include "devices/cpu/tensor/element.h"
#include "devices/cpu/tensor/fast_tiles.h"
#include "devices/cpu/tensor/fast_work.h"

// Of a panel that stay near from one tile of rows to the next: in the second cache where vectors
// are long, from where they come fast enough (64 KB; 6 rows x 64 x 512 steps run at the peak).
#define NEAR_STEPS (V_WIDTH == 16 ? 256 : 128)
_Static_assert(CPU_PANEL_LANES == TILE_MAX_VECTORS * V_WIDTH, "a panel is what a tile is wide");
#define CROWDED 512   // bytes: lines that far apart share an eighth of the sets of a cache
#define SAME_SET 4096 // bytes: lines that far apart have one set of the first cache to them all
#define WAYS 7        // lines that it holds, beside one of the panel

#define THIN_WORDS (CPU_CHUNK_ROWS * CPU_PACK_STEPS)
#define SUM_WORDS (CPU_CHUNK_ROWS * CPU_CHUNK_LANES)
#define TALL_ROWS ((THIN_WORDS + SUM_WORDS) / CPU_PACK_STEPS)

typedef struct Scratch {
    uint32_t wide[CPU_PACK_STEPS * CPU_PACK_LANES];
    uint32_t thin[THIN_WORDS + SUM_WORDS]; // with the sums behind it, if they are kept here
    int32_t wide_sums[CPU_CHUNK_LANES];
} Scratch;

static const uint8_t max_rows[CPU_TILE_VECTORS + 1] = TILE_MAX_ROWS;

// How many of n the next part takes when no part may have more than at_most: nearly the same each.
static int64_t next_part(int64_t n, int64_t at_most) {
    int64_t n_parts = (n + at_most - 1) / at_most;
    return (n + n_parts - 1) / n_parts;
}

// All rows of one panel: blocks of nearly the same height. More rows than the first cache holds of
// one set would drive each other out at each step (16 x 64 x 1024 with B^T: 75 to 80 % of the
// peak).
static void run_rows(const CpuTiles *tiles, CpuTile *tile, int n_vectors, int64_t n_rows) {
    int64_t at_most = max_rows[n_vectors];
    if (tile->thin_row % SAME_SET == 0) at_most = cpu_least(at_most, WAYS);
    while (n_rows > 0) {
        int64_t rows = next_part(n_rows, at_most);
        tiles->run[n_vectors - 1][rows - 1](tile);
        tile->thin += rows * tile->thin_row;
        tile->out += rows * tile->out_row;
        n_rows -= rows;
    }
}

static uint32_t last_mask(int64_t n_lanes) {
    return V_HAS_MASKS && n_lanes % V_WIDTH ? (1u << n_lanes % V_WIDTH) - 1 : UINT32_MAX;
}

// Nothing to pack, nothing to convert.
static void run_in_place(const CpuWork *w) {
    int thin_bytes = cpu_element_bytes(w->thin.type), wide_bytes = cpu_element_bytes(w->wide.type),
        each = cpu_kind_elements(w->kind);
    int64_t n_vectors = (w->n_lanes + V_WIDTH - 1) / V_WIDTH, n_steps = w->n_k / each,
            block = w->n_rows > max_rows[TILE_MAX_VECTORS] ? NEAR_STEPS : n_steps;
    for (int64_t j = 0; j < w->n_lanes;) {
        int vectors = (int)next_part(n_vectors, TILE_MAX_VECTORS);
        n_vectors -= vectors;
        uint32_t mask = n_vectors ? UINT32_MAX : last_mask(w->n_lanes);
        for (int64_t i = 0; i < n_steps; i += block) {
            CpuTile tile = {.thin = w->thin.data + i * w->thin.k * thin_bytes * each,
                            .thin_row = w->thin.lane * thin_bytes,
                            .thin_step = w->thin.k * thin_bytes * each,
                            .wide = w->wide.data + (i * w->wide.k + j) * wide_bytes,
                            .wide_step = w->wide.k * wide_bytes,
                            .out = w->result.data + j * 4,
                            .out_row = w->result.row * 4,
                            .n_steps = cpu_least(block, n_steps - i),
                            .mask = mask,
                            .add = w->result.add || i > 0};
            run_rows(w->tiles, &tile, vectors, w->n_rows);
        }
        j += vectors * V_WIDTH;
    }
}

// What thin bytes moved up by 128 add: 128 times the sum of the wide ones.
static void add_wide_sums(const uint32_t *wide, int n_steps, int width, int32_t *sums) {
#if V_WIDTH == 16
    for (int j = 0; j < width; j += V_WIDTH) {
        vw sum = w_load(sums + j);
        for (int i = 0; i < n_steps; i++) {
            vw pairs = _mm512_maddubs_epi16(_mm512_set1_epi8(1), w_load(wide + i * width + j));
            sum = w_add_int(sum, _mm512_madd_epi16(pairs, _mm512_set1_epi16(1)));
        }
        w_store(sums + j, sum);
    }
#else // no such kind
    (void)wide, (void)n_steps, (void)width, (void)sums;
#endif
}

static void take_back(const CpuBlock *b, unsigned char *out, int64_t out_row, const int32_t *sums) {
#if V_WIDTH == 16
    for (int j = 0; j < b->n_lanes; j += V_WIDTH) {
        vw more = w_shift_left(w_load(sums + j), 7);
        uint32_t mask = b->n_lanes - j < V_WIDTH ? last_mask(b->n_lanes) : UINT32_MAX;
        unsigned char *p = out + j * 4;
        for (int r = 0; r < b->n_rows; r++, p += out_row)
            w_store_some(p, mask, _mm512_sub_epi32(w_load_some(p, mask), more));
    }
#else
    (void)b, (void)out, (void)out_row, (void)sums;
#endif
}

static bool thin_is_flipped(const CpuWork *w) {
    return w->kind == CPU_KIND_BYTE &&
           (w->thin.type == ABI_TENSOR_INT8 || w->thin.type == ABI_TENSOR_INT4);
}

// A strip of at most CPU_PACK_LANES lanes of a block whose thin operand is ready in `tile`. Panels
// are packed one behind the other: side by side their lines would share a quarter of the sets of a
// cache (AVX2, halfs of 1024: 9 % faster).
static void run_strip(const CpuWork *w, Scratch *s, const CpuBlock *b, CpuTile tile) {
    int each = cpu_kind_elements(w->kind), wide_bytes = cpu_element_bytes(w->wide.type);
    bool partial = w->wide_in_place || w->result_in_place;
    tile.n_steps = (b->n_k + each - 1) / each;
    if (!w->wide_in_place)
        ISA(cpu_pack_panels)(w->kind, &w->wide, b->lane, b->n_lanes, b->k, b->n_k, s->wide);
    for (int lane = 0; lane < b->n_lanes; lane += CPU_PANEL_LANES) {
        int n_lanes = (int)cpu_least(CPU_PANEL_LANES, b->n_lanes - lane),
            vectors = (n_lanes + V_WIDTH - 1) / V_WIDTH;
        CpuTile panel = tile;
        if (w->wide_in_place) {
            panel.wide = w->wide.data + (b->k * w->wide.k + b->lane + lane) * wide_bytes;
            panel.wide_step = w->wide.k * wide_bytes;
        } else {
            panel.wide = (unsigned char *)(s->wide + lane * CPU_PACK_STEPS);
            panel.wide_step = vectors * V_WIDTH * 4;
        }
        panel.out += lane * 4;
        panel.mask = partial ? last_mask(n_lanes) : UINT32_MAX;
        run_rows(w->tiles, &panel, vectors, b->n_rows);
    }
}

static void run_chunk(const CpuWork *w, Scratch *s, const CpuBlock *chunk) {
    int each = cpu_kind_elements(w->kind), thin_bytes = cpu_element_bytes(w->thin.type);
    uint32_t *sums = s->thin + THIN_WORDS;
    unsigned char *out = (unsigned char *)sums;
    int width = (chunk->n_lanes + V_WIDTH - 1) / V_WIDTH * V_WIDTH;
    int64_t out_row = width * 4;
    if (w->result_in_place) {
        out = w->result.data + (chunk->row * w->result.row + chunk->lane) * 4;
        out_row = w->result.row * 4;
    }
    bool flipped = thin_is_flipped(w);
    if (flipped) memset(s->wide_sums, 0, sizeof s->wide_sums);
    for (int64_t k = 0; k < w->n_k; k += CPU_PACK_STEPS * each) {
        CpuBlock b = *chunk;
        b.k = k;
        b.n_k = (int)cpu_least(CPU_PACK_STEPS * each, w->n_k - k);
        CpuTile tile = {.thin = (unsigned char *)s->thin,
                        .out_row = out_row,
                        .add = k > 0 || (w->result_in_place && w->result.add)};
        if (w->thin_in_place) {
            tile.thin = w->thin.data + (b.row * w->thin.lane + k * w->thin.k) * thin_bytes;
            tile.thin_row = w->thin.lane * thin_bytes;
            tile.thin_step = w->thin.k * thin_bytes * each;
        } else {
            ISA(cpu_pack_thin)(w->kind, &w->thin, b.row, b.n_rows, k, b.n_k, s->thin,
                               &tile.thin_row, &tile.thin_step);
        }
        for (int j = 0; j < width;) {
            int lanes = (int)next_part((width - j) / V_WIDTH, CPU_PACK_LANES / V_WIDTH) * V_WIDTH;
            b.lane = chunk->lane + j;
            b.n_lanes = (int)cpu_least(lanes, chunk->n_lanes - j);
            tile.out = out + j * 4;
            run_strip(w, s, &b, tile);
            if (flipped) add_wide_sums(s->wide, (b.n_k + 3) / 4, lanes, s->wide_sums + j);
            j += lanes;
        }
    }
    if (flipped) take_back(chunk, out, out_row, s->wide_sums);
    if (!w->result_in_place)
        ISA(cpu_store)(&w->result, chunk->row, chunk->n_rows, chunk->lane, chunk->n_lanes, sums,
                       width);
}

// Of its own, for its stack frame.
static __attribute__((noinline)) void run_packed(const CpuWork *w) {
    Scratch s;
    // The wide operand is packed for each chunk: the more rows a chunk has, the better.
    // fast_pack.c weaves words of several elements for few lanes only.
    bool tall = w->result_in_place && cpu_kind_elements(w->kind) == 1;
    int64_t n_rows = w->result_in_place && w->thin_in_place ? w->n_rows
                     : tall                                 ? next_part(w->n_rows, TALL_ROWS)
                                                            : CPU_CHUNK_ROWS;
    for (int64_t row = 0; row < w->n_rows; row += n_rows)
        for (int64_t lane = 0; lane < w->n_lanes; lane += CPU_CHUNK_LANES) {
            CpuBlock chunk = cpu_chunk(w, row, lane);
            chunk.n_rows = (int)cpu_least(n_rows, w->n_rows - row);
            run_chunk(w, &s, &chunk);
        }
}

static bool is_bits8(uint32_t type) {
    return type == ABI_TENSOR_INT8 || type == ABI_TENSOR_UINT8 || type == ABI_TENSOR_INT4 ||
           type == ABI_TENSOR_UINT4;
}

static CpuKind kind_of(const CpuWork *w, bool has_bfloat, bool has_byte) {
    uint32_t thin = w->thin.type, wide = w->wide.type;
    if (w->result.is_float)
        return has_bfloat && thin == ABI_TENSOR_BFLOAT16 && wide == ABI_TENSOR_BFLOAT16
                   ? CPU_KIND_BFLOAT
                   : CPU_KIND_FLOAT;
    if (has_byte && is_bits8(thin) && (wide == ABI_TENSOR_INT8 || wide == ABI_TENSOR_INT4))
        return CPU_KIND_BYTE;
    bool shorts = (is_bits8(thin) || thin == ABI_TENSOR_INT16) &&
                  (is_bits8(wide) || wide == ABI_TENSOR_INT16);
    return shorts ? CPU_KIND_SHORT : CPU_KIND_INT;
}

// Whether an operand that could be read where it lies is better packed, when it is read several
// times. Lines that lie far apart drive each other out of the cache where a panel is one line of
// memory wide (AVX2, 64 x 64 x 1024 of matrices of 1024 columns: 44 to 75 % of the peak). The four
// lines of AVX-512 come from the second cache fast enough (128 x 64 x 512: 93 packed, 98 % where it
// lies; at 16 KB from line to line 81 and 86). Without instructions for it, halfs are converted
// only once.
static bool packed_all_the_same(const CpuWork *w, const CpuOperand *from, int64_t n_times) {
    if (n_times <= 2 || V_WIDTH == 16) return false;
    int64_t stride = from->lane == 1 ? from->k : from->lane;
    int64_t far = stride * cpu_element_bytes(from->type);
    // A few sets, or many pages.
    bool crowded = far % CROWDED == 0 || w->n_k > NEAR_STEPS || V_WIDTH == 8;
    return (w->n_k > 32 && (far >= 1024 || far <= -1024) && crowded) ||
           (V_WIDTH == 4 && from->type == ABI_TENSOR_FLOAT16);
}

static void decide_places(CpuWork *w) {
    const CpuOperand *thin = &w->thin, *wide = &w->wide;
    int64_t tail = w->n_lanes % V_WIDTH;
    bool whole = V_HAS_MASKS || tail == 0, direct = whole && wide->lane == 1;
    direct &= !packed_all_the_same(w, wide, w->n_rows / max_rows[TILE_MAX_VECTORS] + 1);
    w->result_in_place = whole && w->result.lane == 1 &&
                         (w->result.is_float ? w->result.type == ABI_TENSOR_FLOAT32
                                             : w->result.type == ABI_TENSOR_INT32 ||
                                                   w->result.type == ABI_TENSOR_UINT32);
    switch (w->kind) {
    case CPU_KIND_FLOAT:
        w->thin_in_place = thin->type == ABI_TENSOR_FLOAT32;
        w->wide_in_place = direct;
        if (wide->type == ABI_TENSOR_FLOAT16)
            w->kind = w->wide_in_place ? CPU_KIND_FLOAT_HALF : CPU_KIND_FLOAT;
        else if (wide->type == ABI_TENSOR_BFLOAT16)
            w->kind = w->wide_in_place ? CPU_KIND_FLOAT_BFLOAT : CPU_KIND_FLOAT;
        else
            w->wide_in_place &= wide->type == ABI_TENSOR_FLOAT32;
        break;
    case CPU_KIND_INT:
        w->thin_in_place = thin->type == ABI_TENSOR_INT32 || thin->type == ABI_TENSOR_UINT32;
        w->wide_in_place =
            direct && (wide->type == ABI_TENSOR_INT32 || wide->type == ABI_TENSOR_UINT32);
        break;
    case CPU_KIND_SHORT:
        w->thin_in_place = thin->type == ABI_TENSOR_INT16 && thin->k == 1 && w->n_k % 2 == 0;
        break;
    case CPU_KIND_BFLOAT: w->thin_in_place = thin->k == 1 && w->n_k % 2 == 0; break;
    default:
        w->thin_in_place = thin->type == ABI_TENSOR_UINT8 && thin->k == 1 && w->n_k % 4 == 0;
        break;
    }
    // Reading it far apart costs AVX-512 less than packing it; AVX2 too, where it lies along k (128
    // x 512 x 512: 82 to 87 % of the peak).
    if (V_WIDTH < 8 || (V_WIDTH == 8 && thin->k != 1))
        w->thin_in_place &= !packed_all_the_same(w, thin, w->n_lanes / CPU_PANEL_LANES);
}

static void swap_operands(CpuWork *w) {
    CpuOperand thin = w->thin;
    w->thin = w->wide;
    w->wide = thin;
    int64_t n = w->n_rows;
    w->n_rows = w->n_lanes;
    w->n_lanes = n;
    n = w->result.row;
    w->result.row = w->result.lane;
    w->result.lane = n;
}

// Vector operations this takes about; moving an element to another order is 3/8 of one.
static int64_t cost(const CpuOperand *wide, int64_t result_lane, int64_t n_rows, int64_t n_lanes,
                    int64_t n_k) {
    int64_t n = n_rows * n_k * ((n_lanes + V_WIDTH - 1) / V_WIDTH);
    if (wide->lane != 1) n += n_lanes * n_k * 3 / 8;
    if (result_lane != 1) n += n_lanes * n_rows * 3 / 8;
    return n;
}

// Rows and columns of c that a or b does not have are sums of nothing: all bits 0 in every type.
static __attribute__((noinline)) void clear(const CpuMatrix *c, int64_t row, int64_t n_rows,
                                            int64_t col, int64_t n_cols) {
    int64_t n_bytes = cpu_element_bytes(c->type);
    if (n_rows <= 0 || n_cols <= 0) return;
    for (int64_t r = row; r < row + n_rows; r++) {
        unsigned char *p =
            (unsigned char *)c->data + (r * c->row_stride + col * c->col_stride) * n_bytes;
        if (n_bytes && c->col_stride == 1) {
            memset(p, 0, (size_t)(n_cols * n_bytes));
            continue;
        }
        for (int64_t j = 0; j < n_cols; j++) {
            if (n_bytes)
                memset(p + j * c->col_stride * n_bytes, 0, (size_t)n_bytes);
            else
                cpu_element_set_int(c->data, c->type, r * c->row_stride + (col + j) * c->col_stride,
                                    0);
        }
    }
}

static const CpuTiles *const tiles_here[CPU_N_KINDS] = {
    [CPU_KIND_FLOAT] = &ISA(cpu_tiles_float),
    [CPU_KIND_FLOAT_HALF] = &ISA(cpu_tiles_float_half),
    [CPU_KIND_FLOAT_BFLOAT] = &ISA(cpu_tiles_float_bfloat),
    [CPU_KIND_INT] = &ISA(cpu_tiles_int),
    [CPU_KIND_SHORT] = &ISA(cpu_tiles_short),
#if V_WIDTH == 16
    [CPU_KIND_BFLOAT] = &cpu_tiles_bfloat,
    [CPU_KIND_BYTE] = &cpu_tiles_byte,
#endif
};

// What of the call a, b and c have; clears what only c has. False: nothing is left to do.
static bool clip(const CpuMatmul *op, CpuWork *w) {
    const CpuMatrix *a = &op->a, *b = &op->b, *c = &op->c;
    int64_t rows = cpu_least(op->n_rows, (int64_t)c->rows - op->first_row),
            cols = cpu_least(op->n, c->cols);
    w->n_rows = cpu_least(rows, (int64_t)a->rows - op->first_row);
    w->n_lanes = cpu_least(cols, b->cols);
    w->n_k = cpu_least(op->k, cpu_least(a->cols, b->rows));
    if (rows <= 0 || cols <= 0) return false;
    if (w->n_rows <= 0 || w->n_lanes <= 0 || w->n_k <= 0) w->n_rows = w->n_lanes = 0;
    if (!(op->flags & CPU_MATMUL_ACCUMULATE) && (w->n_rows < rows || w->n_lanes < cols)) {
        clear(c, w->n_rows, rows - w->n_rows, 0, cols);
        clear(c, 0, w->n_rows, w->n_lanes, cols - w->n_lanes);
    }
    return w->n_rows > 0;
}

// a is the thin operand, b the wide one. What there is only one of counts as side by side. False:
// elements of four bits from the middle of a byte on.
static bool describe(const CpuMatmul *op, CpuWork *w) {
    const CpuMatrix *a = &op->a, *b = &op->b, *c = &op->c;
    bool one_row = w->n_rows == 1, one_col = w->n_lanes == 1, one_k = w->n_k == 1;
    int64_t first = op->first_row * a->row_stride, n_bytes = cpu_element_bytes(a->type);
    w->thin =
        (CpuOperand){.data = (unsigned char *)a->data + (n_bytes ? first * n_bytes : first / 2),
                     .type = a->type,
                     .lane = one_row ? 1 : a->row_stride,
                     .k = one_k ? 1 : a->col_stride};
    w->wide = (CpuOperand){.data = b->data,
                           .type = b->type,
                           .lane = one_col ? 1 : b->col_stride,
                           .k = one_k ? 1 : b->row_stride};
    w->result =
        (CpuResult){.data = c->data,
                    .type = c->type,
                    .row = one_row ? 1 : c->row_stride,
                    .lane = one_col ? 1 : c->col_stride,
                    .is_float = cpu_element_is_float(a->type) || cpu_element_is_float(b->type) ||
                                cpu_element_is_float(c->type),
                    .add = op->flags & CPU_MATMUL_ACCUMULATE};
    return n_bytes || first % 2 == 0;
}

// A few rows or columns, which become the lanes. False: not that way.
static bool run_as_vectors(CpuWork *w) {
    bool few_rows = w->n_rows < w->n_lanes;
    if (few_rows) swap_operands(w);
    if (ISA(cpu_vector_run)(w)) return true;
    if (few_rows) swap_operands(w);
    return false;
}

static void matmul(const CpuMatmul *op, bool has_bfloat, bool has_byte, bool has_amx) {
    CpuWork w = {0};
    if (!clip(op, &w)) return;
    if (!describe(op, &w)) {
        cpu_matmul_general(op);
        return;
    }
    if ((w.n_rows <= 4 || w.n_lanes <= 4) && w.thin.k == 1 && w.wide.k == 1 && w.result.is_float &&
        run_as_vectors(&w))
        return;
    if ((w.wide.lane != 1 || w.result.lane != 1 || w.n_lanes % V_WIDTH) &&
        cost(&w.thin, w.result.row, w.n_lanes, w.n_rows, w.n_k) <
            cost(&w.wide, w.result.lane, w.n_rows, w.n_lanes, w.n_k))
        swap_operands(&w);
    w.kind = kind_of(&w, has_bfloat, has_byte);
    decide_places(&w);
#if V_WIDTH == 16
    if (has_amx && cpu_amx_run(&w)) return;
#else
    (void)has_amx;
#endif
    w.tiles = tiles_here[w.kind];
    if (w.thin_in_place && w.wide_in_place && w.result_in_place)
        run_in_place(&w);
    else
        run_packed(&w);
}

void ISA(cpu_matmul)(const CpuMatmul *op) { matmul(op, false, false, false); }
#if V_WIDTH == 16
void cpu_matmul_vnni(const CpuMatmul *op) { matmul(op, false, true, false); }
void cpu_matmul_bf16(const CpuMatmul *op) { matmul(op, true, true, false); }
void cpu_matmul_amx(const CpuMatmul *op) { matmul(op, true, true, true); }
#endif
