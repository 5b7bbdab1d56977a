// SPDX-License-Identifier: Apache-2.0
// factor.h: factors of one matrix in double precision, on the host: by LAPACK where the machine has
// it (lapack.h), else by code of our own. Matrices are row by row, in memory of the caller's.
// False: there is no memory, or it is as each function says.
#ifndef INGOT_TENSOR_FACTOR_H
#define INGOT_TENSOR_FACTOR_H
#include <stdbool.h>
#include <stdint.h>

// Factors L and U of a (n, n) with exchanged rows or columns, in its place, and which those are,
// for factor_lu_solve. The diagonal is U's. *sign: of the exchanges. A pivot of 0 is left there.
void factor_lu(int64_t n, double *a, int32_t *pivots, double *sign);
bool factor_lu_singular(int64_t n, const double *lu);
// The solution in place of b (n, k).
bool factor_lu_solve(int64_t n, const double *lu, const int32_t *pivots, int64_t k, double *b);
// L in place of a, zeros above. False: a is not positive definite.
bool factor_cholesky(int64_t n, double *a);
// a (m, n) becomes R in its upper part; q (m, columns), columns from min(m, n) to m.
bool factor_qr(int64_t m, int64_t n, double *a, int64_t columns, double *q);
// Eigenvalues in rising order, eigenvectors as the columns of v (n, n), of the symmetric matrix
// whose lower part a has. False: not all numbers are finite.
bool factor_eigh(int64_t n, double *a, double *values, double *v);
// Singular values in falling order, k = min(m, n); u (m, full ? m : k), vh (full ? n : k, n). a is
// overwritten. False: not all numbers are finite.
bool factor_svd(int64_t m, int64_t n, double *a, bool full, double *u, double *s, double *vh);
#endif
