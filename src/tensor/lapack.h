// SPDX-License-Identifier: Apache-2.0
// lapack.h: the factors of factor.h by the machine's LAPACK. Contracts are those there.
#ifndef INGOT_TENSOR_LAPACK_H
#define INGOT_TENSOR_LAPACK_H
#include <stdbool.h>
#include <stdint.h>

// Whether there is one that takes matrices (m, n). It is looked for at the first call; the
// functions below are for matrices it takes.
bool lapack_takes(int64_t m, int64_t n);
// What is wrong with INGOT_LAPACK; NULL: nothing.
const char *lapack_complaint(void);

void lapack_lu(int64_t n, double *a, int32_t *pivots, double *sign);
bool lapack_lu_solve(int64_t n, const double *lu, const int32_t *pivots, int64_t k, double *b);
bool lapack_cholesky(int64_t n, double *a);
bool lapack_qr(int64_t m, int64_t n, double *a, int64_t columns, double *q);
bool lapack_eigh(int64_t n, double *a, double *values, double *v); // a whole
bool lapack_svd(int64_t m, int64_t n, double *a, bool full, double *u, double *s, double *vh);
#endif
