// SPDX-License-Identifier: Apache-2.0
// factor.h: factors of one matrix in double precision, on the host. Matrices are row by row, in
// memory of the caller's. False: there is no memory, or it is as each function says.
#ifndef INGOT_TENSOR_FACTOR_H
#define INGOT_TENSOR_FACTOR_H
#include <stdbool.h>
#include <stdint.h>

// L below the diagonal (its own is 1) and U in place of a (n, n), with exchanged rows: row i was
// exchanged with pivots[i]. *sign: of the exchanges. A pivot of 0 is left: nobody divides by it.
void factor_lu(int64_t n, double *a, int64_t *pivots, double *sign);
bool factor_lu_singular(int64_t n, const double *lu);
// The solution in place of b (n, k).
void factor_lu_solve(int64_t n, const double *lu, const int64_t *pivots, int64_t k, double *b);
// L in place of a, zeros above. False: a is not positive definite.
bool factor_cholesky(int64_t n, double *a);
// a (m, n) becomes R in its upper part; q (m, columns), columns from min(m, n) to m.
bool factor_qr(int64_t m, int64_t n, double *a, int64_t columns, double *q);
// Eigenvalues in rising order, eigenvectors as the columns of v (n, n), of the symmetric matrix
// whose lower part a has. False: it did not converge, which numbers that are finite never show.
bool factor_eigh(int64_t n, double *a, double *values, double *v);
// Singular values in falling order, k = min(m, n); u (m, full ? m : k), vh (full ? n : k, n).
bool factor_svd(int64_t m, int64_t n, const double *a, bool full, double *u, double *s, double *vh);
#endif
