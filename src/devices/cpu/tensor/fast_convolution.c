// SPDX-License-Identifier: Apache-2.0
// fast_convolution.c: convolution as implicit GEMM: matrix products without the im2col matrix. For
// one tap of the kernel, the positions of a row of the image that the tap finds inside the source
// make a matrix (positions x input channels) where it lies, and so do the weights (input x output
// channels): their product is added to sums in scratch. Where the channels of neighbouring pixels
// follow each other, all taps of a row of the kernel are one product, for those positions whose
// patch does not leave the source.
#include "devices/cpu/tensor/element.h"
#include "devices/cpu/tensor/fast_pack.h"
#include "devices/cpu/tensor/fast_store.h"
#include "devices/cpu/isa/simd.h"

#define SUM_ROWS 32   // positions
#define SUM_LANES 256 // output channels

// Positions side by side in one row of the destination, and a range of output channels.
typedef struct Run {
    const CpuConvolution *op;
    void (*matmul)(const CpuMatmul *op);
    uint32_t *sums;
    uint32_t sum_type;
    int64_t x, y, image; // the first position
    int n_rows;
    int64_t lane;
    int n_lanes;
    int width;
    int64_t n_channels; // of the source that have weights
} Run;

static int64_t least(int64_t a, int64_t b) { return a < b ? a : b; }
static int64_t most(int64_t a, int64_t b) { return a > b ? a : b; }

static unsigned char *element_at(const AbiTensor *t, int64_t i0, int64_t i1, int64_t i2,
                                 int64_t i3) {
    return t->data +
           (i0 * t->strides[0] + i1 * t->strides[1] + i2 * t->strides[2] + i3 * t->strides[3]) *
               cpu_element_bytes(t->type);
}

// Positions first .. end - 1 of the run times taps kx .. kx + n_taps - 1 of row ky. All inside.
static void add_taps(const Run *r, int64_t first, int64_t end, int64_t kx, int64_t n_taps,
                     int64_t ky, int64_t sy) {
    const CpuConvolution *op = r->op;
    const AbiTensor *s = &op->source, *w = &op->weights;
    int64_t sx = (r->x + first) * op->strides[0] + kx * op->dilations[0] + op->offset[0];
    CpuMatmul product = {
        .a = {.data = element_at(s, 0, sx, sy, r->image),
              .row_stride = s->strides[1] * op->strides[0],
              .col_stride = s->strides[0],
              .rows = (int32_t)(end - first),
              .cols = (int32_t)(r->n_channels * n_taps),
              .type = s->type},
        .b = {.data = element_at(w, r->lane, 0, kx, ky),
              .row_stride = w->strides[1],
              .col_stride = w->strides[0],
              .rows = (int32_t)(r->n_channels * n_taps),
              .cols = (int32_t)least(r->n_lanes, w->extents[0] - r->lane),
              .type = w->type},
        .c = {.data = r->sums + first * r->width,
              .row_stride = r->width,
              .col_stride = 1,
              .rows = (int32_t)(end - first),
              .cols = r->n_lanes,
              .type = r->sum_type},
        .n_rows = (int32_t)(end - first),
        .n = r->n_lanes,
        .k = (int32_t)(r->n_channels * n_taps),
        .flags = CPU_MATMUL_ACCUMULATE | (op->flags & CPU_MATMUL_RELAXED),
    };
    r->matmul(&product);
}

// The positions [*first, *end) of the run that tap kx finds inside the source.
static void inside(const Run *r, int64_t kx, int64_t *first, int64_t *end) {
    const CpuConvolution *op = r->op;
    int64_t at = r->x * op->strides[0] + kx * op->dilations[0] + op->offset[0],
            step = op->strides[0], width = op->source.extents[1];
    *first = at < 0 ? (-at + step - 1) / step : 0;
    *end = at < width ? least(r->n_rows, (width - at + step - 1) / step) : 0;
}

static void add_kernel_row(const Run *r, int64_t ky) {
    const CpuConvolution *op = r->op;
    const AbiTensor *s = &op->source, *w = &op->weights;
    int64_t sy = r->y * op->strides[1] + ky * op->dilations[1] + op->offset[1];
    if (sy < 0 || sy >= s->extents[2]) return;
    int64_t n_taps = w->extents[2], first, end, last_first, last_end;
    int64_t whole_first = 0, whole_end = 0; // positions all of whose taps are inside
    if (n_taps > 1 && op->dilations[0] == 1 && s->strides[1] == r->n_channels * s->strides[0] &&
        w->strides[2] == r->n_channels * w->strides[1]) {
        inside(r, 0, &first, &end);
        inside(r, n_taps - 1, &last_first, &last_end);
        whole_first = most(first, last_first);
        whole_end = most(whole_first, least(end, last_end));
        if (whole_first < whole_end) add_taps(r, whole_first, whole_end, 0, n_taps, ky, sy);
    }
    for (int64_t kx = 0; kx < n_taps; kx++) {
        inside(r, kx, &first, &end);
        if (whole_first == whole_end) {
            if (first < end) add_taps(r, first, end, kx, 1, ky, sy);
            continue;
        }
        if (first < least(end, whole_first))
            add_taps(r, first, least(end, whole_first), kx, 1, ky, sy);
        if (most(first, whole_end) < end) add_taps(r, most(first, whole_end), end, kx, 1, ky, sy);
    }
}

static void run_positions(Run *r, const CpuResult *result) {
    const CpuConvolution *op = r->op;
    const AbiTensor *d = &op->destination;
    int64_t n_lanes = least(op->size[0], d->extents[0]);
    for (r->lane = 0; r->lane < n_lanes; r->lane += SUM_LANES) {
        r->n_lanes = (int)least(SUM_LANES, n_lanes - r->lane);
        r->width = (r->n_lanes + V_WIDTH - 1) / V_WIDTH * V_WIDTH;
        memset(r->sums, 0, (size_t)r->n_rows * (size_t)r->width * 4);
        if (r->n_channels > 0 && r->lane < op->weights.extents[0] &&
            r->image < op->source.extents[3])
            for (int64_t ky = 0; ky < op->weights.extents[3]; ky++) add_kernel_row(r, ky);
        CpuResult to = *result;
        to.data = element_at(d, 0, r->x, r->y, r->image);
        ISA(cpu_store)(&to, 0, r->n_rows, r->lane, r->n_lanes, r->sums, r->width);
    }
}

void ISA(cpu_convolution)(const CpuConvolution *op, void (*matmul)(const CpuMatmul *op)) {
    const AbiTensor *s = &op->source, *w = &op->weights, *d = &op->destination;
    if (!cpu_element_bytes(s->type) || !cpu_element_bytes(w->type) || !cpu_element_bytes(d->type) ||
        op->strides[0] < 1 || op->size[1] < 1 || op->size[2] < 1) {
        cpu_convolution_general(op);
        return;
    }
    bool is_float = cpu_element_is_float(s->type) || cpu_element_is_float(w->type) ||
                    cpu_element_is_float(d->type);
    uint32_t sums[SUM_ROWS * SUM_LANES];
    Run r = {.op = op,
             .matmul = matmul,
             .sums = sums,
             .sum_type = is_float ? ABI_TENSOR_FLOAT32 : ABI_TENSOR_INT32,
             .n_channels = least(s->extents[0], w->extents[1])};
    CpuResult result = {.type = d->type,
                        .row = d->strides[1],
                        .lane = d->strides[0],
                        .is_float = is_float,
                        .add = op->flags & CPU_MATMUL_ACCUMULATE};
    int64_t end = (int64_t)op->first + op->count;
    for (int64_t p = op->first; p < end;) {
        r.x = p % op->size[1];
        r.y = p / op->size[1] % op->size[2];
        r.image = p / op->size[1] / op->size[2];
        int64_t n = least(end - p, op->size[1] - r.x); // to the end of the row of the tile
        int64_t exist = least(n, d->extents[1] - r.x);
        p += n;
        if (r.y >= d->extents[2] || r.image >= d->extents[3]) continue;
        for (; exist > 0; exist -= r.n_rows, r.x += r.n_rows) {
            r.n_rows = (int)least(SUM_ROWS, exist);
            run_positions(&r, &result);
        }
    }
}
