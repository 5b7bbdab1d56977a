// SPDX-License-Identifier: Apache-2.0
// ops_linalg.c: linear algebra and Fourier transforms, under names that ingot.linalg and ingot.fft
// give to users.
#include "ingot/tensor_linalg.h"
#include "object.h"

#define FACTOR_OP(fn, doc, ...) TENSOR_OP_AS(AS_FUNCTION | WAITS, fn, doc, __VA_ARGS__)
FACTOR_OP(_solve, "ingot.linalg.solve()", TENSOR("a"), TENSOR("b")) {
    return ig_solve(a[0].t, a[1].t, error);
}
FACTOR_OP(_inv, "ingot.linalg.inv()", TENSOR("a")) { return ig_inv(a[0].t, error); }
FACTOR_OP(_det, "ingot.linalg.det()", TENSOR("a")) { return ig_det(a[0].t, error); }
FACTOR_OP(_cholesky, "ingot.linalg.cholesky()", TENSOR("a")) { return ig_cholesky(a[0].t, error); }

#define PAIR_OP(fn, call)                                                                          \
    OBJECT_OP(AS_FUNCTION, _##fn, "tuple[Tensor, Tensor]", "ingot.linalg." #fn "()",               \
              TENSOR("a")) {                                                                       \
        MTLError *error = NULL;                                                                    \
        IgTensor *t[2];                                                                            \
        bool ok;                                                                                   \
        WITHOUT_GIL(ok = call(a[0].t, &t[0], &t[1], &error));                                      \
        return several(state, ok, 2, t, error);                                                    \
    }
PAIR_OP(slogdet, ig_slogdet)
PAIR_OP(qr, ig_qr)
PAIR_OP(eigh, ig_eigh)
OBJECT_OP(AS_FUNCTION, _svd, "tuple[Tensor, Tensor, Tensor]", "ingot.linalg.svd()", TENSOR("a"),
          BOOL_OR("full", false)) {
    MTLError *error = NULL;
    IgTensor *t[3];
    bool ok;
    WITHOUT_GIL(ok = ig_svd(a[0].t, a[1].b, &t[0], &t[1], &t[2], &error));
    return several(state, ok, 3, t, error);
}

TENSOR_OP_AS(AS_FUNCTION, _fft, "ingot.fft, on pairs in a last axis of 2.", X, AXIS,
             BOOL_OR("inverse", false)) {
    return ig_fft(a[0].t, a[1].axis, a[2].b, error);
}

const Op *const ops_linalg[] = {&op__solve, &op__inv,  &op__det, &op__cholesky, &op__slogdet,
                                &op__qr,    &op__eigh, &op__svd, &op__fft,      NULL};
