// SPDX-License-Identifier: Apache-2.0
// linalg_int.h: what linear algebra's files share: its gradients.
#ifndef INGOT_TENSOR_LINALG_INT_H
#define INGOT_TENSOR_LINALG_INT_H
#include "ingot/tensor_linalg.h"
#include "tensor/tensor_int.h"

typedef enum IgLinalg {
    IG_SOLVE,
    IG_INV,
    IG_DET,
    IG_SIGN, // of slogdet: has no gradient
    IG_LOGDET,
    IG_CHOLESKY,
    IG_QR_Q,
    IG_QR_R,
    IG_SVD_U,
    IG_SVD_S,
    IG_SVD_VH,
    IG_EIGH_VALUES,
    IG_EIGH_VECTORS,
} IgLinalg;
// The result as part of the graph, if one is made; takes it over. whole: svd is (M, M) and (N, N).
IgTensor *ig_record_linalg(IgLinalg what, bool whole, IgTensor *result, int n,
                           IgTensor *const *inputs, MTLError **error);
#endif
