// SPDX-License-Identifier: Apache-2.0
// tensor_linalg.h: linear algebra with tensors (tensor.h): equations, determinants, factors.
//
//     IgTensor *x = ig_solve(a, b, &error);          // a x = b
//     IgTensor *u, *s, *vh;
//     ig_svd(a, false, &u, &s, &vh, &error);         // a = u diag(s) vh
//
// Matrices are the last two axes, (.., M, N); axes before them are a stack, each by itself.
// Values are computed on the host in double precision and right away: factors are chains of steps
// that a kernel would do no faster. Results have the type of the matrix, float32 for integers.
// Gradients of any order go through all of them where they exist: those of eigenvectors and
// singular vectors need values that differ. A matrix that is not what it should be (singular, not
// positive definite) is an IgErrorArgument that names its place in the stack.
#ifndef INGOT_TENSOR_LINALG_H
#define INGOT_TENSOR_LINALG_H
#include "ingot/tensor.h"

#ifdef __cplusplus
extern "C" {
#endif

// x with a x = b: a (.., N, N), b (.., N, K) or (N,). Stacks broadcast.
MTL_API IgTensor *ig_solve(IgTensor *a, IgTensor *b, MTLError **error);
MTL_API IgTensor *ig_inv(IgTensor *a, MTLError **error);
MTL_API IgTensor *ig_det(IgTensor *a, MTLError **error); // 0 of a singular matrix, no error
// The sign of the determinant and the logarithm of its magnitude; of a singular one 0, -infinity.
MTL_API bool ig_slogdet(IgTensor *a, IgTensor **sign, IgTensor **log, MTLError **error);
// Lower triangular with l l' = a; of a its lower part is read.
MTL_API IgTensor *ig_cholesky(IgTensor *a, MTLError **error);
// q (.., M, K) with columns at right angles, r (.., K, N) upper triangular, K = min(M, N).
MTL_API bool ig_qr(IgTensor *a, IgTensor **q, IgTensor **r, MTLError **error);
// u (.., M, K), s (.., K) falling, vh (.., K, N), K = min(M, N). full: u (.., M, M), vh (.., N, N);
// then gradients go through s alone unless M = N.
MTL_API bool ig_svd(IgTensor *a, bool full, IgTensor **u, IgTensor **s, IgTensor **vh,
                    MTLError **error);
// Of symmetric matrices, of which the lower part is read: values (.., N) rising, vectors (.., N, N)
// as columns.
MTL_API bool ig_eigh(IgTensor *a, IgTensor **values, IgTensor **vectors, MTLError **error);

#ifdef __cplusplus
}
#endif
#endif
