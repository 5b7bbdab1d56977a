// SPDX-License-Identifier: Apache-2.0
// reference.c: matrix multiplication and convolution for every type and every stride, element by
// element. The fallback for what the vector code does not support, and its test reference.
#include "devices/cpu/tensor/element.h"
#include "devices/cpu/tensor/ops.h"

// The rule for sums, in one place: float as soon as one of the three is, else int32 that wraps.
typedef struct Sum {
    bool is_float;
    float f;
    uint32_t i;
} Sum;

static void add_product(Sum *sum, const void *a, uint32_t a_type, int64_t ai, const void *b,
                        uint32_t b_type, int64_t bi) {
    if (sum->is_float)
        sum->f += cpu_element_float(a, a_type, ai) * cpu_element_float(b, b_type, bi);
    else
        sum->i +=
            (uint32_t)cpu_element_int(a, a_type, ai) * (uint32_t)cpu_element_int(b, b_type, bi);
}

static void begin_sum(Sum *sum, const void *c, uint32_t type, int64_t i, bool accumulate) {
    sum->f = accumulate ? cpu_element_float(c, type, i) : 0;
    sum->i = accumulate ? (uint32_t)cpu_element_int(c, type, i) : 0;
}

static void end_sum(const Sum *sum, void *c, uint32_t type, int64_t i) {
    if (sum->is_float)
        cpu_element_set_float(c, type, i, sum->f);
    else
        cpu_element_set_int(c, type, i, (int32_t)sum->i);
}

static int32_t at_most(int32_t a, int32_t b) { return a < b ? a : b; }

void cpu_matmul_general(const CpuMatmul *op) {
    const CpuMatrix *a = &op->a, *b = &op->b, *c = &op->c;
    Sum sum = {.is_float = cpu_element_is_float(a->type) || cpu_element_is_float(b->type) ||
                           cpu_element_is_float(c->type)};
    int32_t k = at_most(op->k, at_most(a->cols, b->rows)); // beyond, one of the two is 0
    for (int32_t r = op->first_row; r < at_most(op->first_row + op->n_rows, c->rows); r++)
        for (int32_t j = 0; j < at_most(op->n, c->cols); j++) {
            int64_t at = (r - op->first_row) * c->row_stride + j * c->col_stride;
            bool any = k > 0 && r < a->rows && j < b->cols;
            if (!any && (op->flags & CPU_MATMUL_ACCUMULATE)) continue; // not even rounded
            begin_sum(&sum, c->data, c->type, at, op->flags & CPU_MATMUL_ACCUMULATE);
            if (any)
                for (int32_t i = 0; i < k; i++)
                    add_product(&sum, a->data, a->type, r * a->row_stride + i * a->col_stride,
                                b->data, b->type, i * b->row_stride + j * b->col_stride);
            end_sum(&sum, c->data, c->type, at);
        }
}

static void add_position(Sum *sum, const CpuConvolution *op, int64_t x, int64_t y, int64_t image,
                         int64_t out) {
    const AbiTensor *s = &op->source, *w = &op->weights;
    for (int64_t ky = 0; ky < w->extents[3]; ky++)
        for (int64_t kx = 0; kx < w->extents[2]; kx++) {
            int64_t sx = x * op->strides[0] + kx * op->dilations[0] + op->offset[0],
                    sy = y * op->strides[1] + ky * op->dilations[1] + op->offset[1];
            if (sx < 0 || sx >= s->extents[1] || sy < 0 || sy >= s->extents[2]) continue;
            int64_t from = sx * s->strides[1] + sy * s->strides[2] + image * s->strides[3],
                    weight = out * w->strides[0] + kx * w->strides[2] + ky * w->strides[3];
            int64_t n = s->extents[0] < w->extents[1] ? s->extents[0] : w->extents[1];
            for (int64_t i = 0; i < n; i++)
                add_product(sum, s->data, s->type, from + i * s->strides[0], w->data, w->type,
                            weight + i * w->strides[1]);
        }
}

void cpu_convolution_general(const CpuConvolution *op) {
    const AbiTensor *d = &op->destination;
    Sum sum = {.is_float = cpu_element_is_float(op->source.type) ||
                           cpu_element_is_float(op->weights.type) || cpu_element_is_float(d->type)};
    for (int32_t p = op->first; p < op->first + op->count; p++) {
        int64_t x = p % op->size[1], y = p / op->size[1] % op->size[2],
                image = p / op->size[1] / op->size[2];
        if (x >= d->extents[1] || y >= d->extents[2] || image >= d->extents[3]) continue;
        for (int32_t out = 0; out < op->size[0] && out < d->extents[0]; out++) {
            int64_t at =
                out * d->strides[0] + x * d->strides[1] + y * d->strides[2] + image * d->strides[3];
            begin_sum(&sum, d->data, d->type, at, op->flags & CPU_MATMUL_ACCUMULATE);
            if (out < op->weights.extents[0] && image < op->source.extents[3])
                add_position(&sum, op, x, y, image, out);
            end_sum(&sum, d->data, d->type, at);
        }
    }
}
