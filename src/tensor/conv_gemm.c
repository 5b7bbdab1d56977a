// SPDX-License-Identifier: Apache-2.0
// conv_gemm.c: 1 x 1 convolutions without padding and stride: a GEMM, with all that ig_matmul does.
// The matrix is w as (o, c) or, for the backward pass, (c, o).
#include "tensor/conv.h"

static bool gemm_fits(const IgConv *v, IgConvPass pass, IgTensor *a) {
    (void)a;
    bool plain =
        pass != IG_CONV_WEIGHTS && v->groups == 1 && v->c > IG_CONV_THIN && v->o > IG_CONV_THIN;
    for (int i = 0; i < 2; i++)
        plain &= v->kernel[i] == 1 && v->stride[i] == 1 && v->padding[i] == 0;
    return plain;
}

static IgTensor *gemm_run(const IgConv *v, IgConvPass pass, IgTensor *source, IgTensor *w,
                          IgTensor *bias, MTLError **error) {
    bool back = pass == IG_CONV_BACK;
    int64_t m = back ? v->c : v->o, k = back ? v->o : v->c, positions = v->out[0] * v->out[1];
    IgTensor *matrix = ig_reshape(w, 2, (int64_t[]){v->o, v->c}, error);
    if (back && matrix) matrix = ig_transpose(matrix, 0, 1, error);
    IgTensor *lines = ig_reshape(source, 3, (int64_t[]){v->n, k, positions}, error);
    IgTensor *y = matrix && lines ? ig_matmul(matrix, lines, error) : NULL;
    if (y && bias) y = ig_add(y, ig_reshape(bias, 2, (int64_t[]){m, 1}, error), error);
    return y ? ig_reshape(y, 4, (int64_t[]){v->n, m, v->in[0], v->in[1]}, error) : NULL;
}

const IgConvAlgorithm ig_conv_gemm = {"GEMM", gemm_fits, gemm_run};
