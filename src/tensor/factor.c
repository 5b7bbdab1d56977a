// SPDX-License-Identifier: Apache-2.0
// factor.c: LU with row exchanges, Cholesky, and QR by reflections, where there is no LAPACK. Inner
// loops run along rows.
#include "tensor/factor.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include "tensor/lapack.h"

static void subtract(int64_t n, double *y, double f, const double *x) { // y -= f x
    for (int64_t i = 0; i < n; i++) y[i] -= f * x[i];
}

static void exchange(int64_t n, double *x, double *y) {
    for (int64_t i = 0; i < n; i++) {
        double t = x[i];
        x[i] = y[i];
        y[i] = t;
    }
}

// ---- LU ----

void factor_lu(int64_t n, double *a, int32_t *pivots, double *sign) {
    if (lapack_takes(n, n)) {
        lapack_lu(n, a, pivots, sign);
        return;
    }
    *sign = 1;
    for (int64_t k = 0; k < n; k++) {
        int64_t best = k;
        for (int64_t i = k + 1; i < n; i++)
            if (fabs(a[i * n + k]) > fabs(a[best * n + k])) best = i;
        pivots[k] = (int32_t)best;
        if (best != k) {
            exchange(n, a + k * n, a + best * n);
            *sign = -*sign;
        }
        double pivot = a[k * n + k];
        if (pivot == 0) continue;
        for (int64_t i = k + 1; i < n; i++) {
            double f = a[i * n + k] /= pivot;
            if (f != 0) subtract(n - k - 1, a + i * n + k + 1, f, a + k * n + k + 1);
        }
    }
}

bool factor_lu_singular(int64_t n, const double *lu) {
    for (int64_t i = 0; i < n; i++)
        if (lu[i * n + i] == 0) return true;
    return false;
}

bool factor_lu_solve(int64_t n, const double *lu, const int32_t *pivots, int64_t k, double *b) {
    if (lapack_takes(n, n)) return lapack_lu_solve(n, lu, pivots, k, b);
    for (int64_t i = 0; i < n; i++)
        if (pivots[i] != i) exchange(k, b + i * k, b + pivots[i] * k);
    for (int64_t i = 0; i < n; i++)
        for (int64_t j = 0; j < i; j++) subtract(k, b + i * k, lu[i * n + j], b + j * k);
    for (int64_t i = n - 1; i >= 0; i--) {
        for (int64_t j = i + 1; j < n; j++) subtract(k, b + i * k, lu[i * n + j], b + j * k);
        for (int64_t j = 0; j < k; j++) b[i * k + j] /= lu[i * n + i];
    }
    return true;
}

// ---- Cholesky ----

bool factor_cholesky(int64_t n, double *a) {
    if (lapack_takes(n, n)) return lapack_cholesky(n, a);
    double *column = malloc((size_t)(n + 1) * sizeof *column);
    bool good = column != NULL;
    for (int64_t k = 0; good && k < n; k++) {
        double d = a[k * n + k];
        good = d > 0 && isfinite(d);
        d = sqrt(d);
        for (int64_t i = k; i < n; i++) column[i] = a[i * n + k] /= d;
        for (int64_t i = k + 1; i < n; i++)
            subtract(i - k, a + i * n + k + 1, column[i], column + k + 1);
        memset(a + k * n + k + 1, 0, (size_t)(n - k - 1) * sizeof *a);
    }
    free(column);
    return good;
}

// ---- QR ----

// Rows from `top` and columns from `left` on of a (.., n) become (1 - beta v v') times them.
static void reflect(int64_t m, int64_t n, double *a, int64_t top, int64_t left, const double *v,
                    double beta, double *sums) {
    memset(sums, 0, (size_t)n * sizeof *sums);
    for (int64_t i = top; i < m; i++) subtract(n - left, sums + left, -v[i], a + i * n + left);
    for (int64_t i = top; i < m; i++)
        subtract(n - left, a + i * n + left, beta * v[i], sums + left);
}

// v and beta that send column k, from row k on, to a multiple of its first place: returns that.
static double reflector(int64_t m, int64_t n, const double *a, int64_t k, double *v, double *beta) {
    double largest = 0, square = 0;
    for (int64_t i = k; i < m; i++) largest = fmax(largest, fabs(a[i * n + k]));
    *beta = 0;
    for (int64_t i = k; i < m; i++) v[i] = largest > 0 ? a[i * n + k] / largest : 0;
    for (int64_t i = k + 1; i < m; i++) square += v[i] * v[i];
    if (square == 0) return a[k * n + k];
    double length = -copysign(sqrt(square + v[k] * v[k]), v[k]);
    v[k] -= length;
    *beta = 2 / (square + v[k] * v[k]);
    return length * largest;
}

bool factor_qr(int64_t m, int64_t n, double *a, int64_t columns, double *q) {
    if (lapack_takes(m, n)) return lapack_qr(m, n, a, columns, q);
    int64_t k = m < n ? m : n, wide = n > columns ? n : columns;
    double *v = calloc((size_t)(k * m + k + wide + 1), sizeof *v);
    if (!v) return false;
    double *betas = v + k * m, *sums = betas + k;
    for (int64_t j = 0; j < k; j++) {
        double r = reflector(m, n, a, j, v + j * m, &betas[j]);
        if (betas[j] != 0) reflect(m, n, a, j, j + 1, v + j * m, betas[j], sums);
        a[j * n + j] = r;
        for (int64_t i = j + 1; i < m; i++) a[i * n + j] = 0;
    }
    memset(q, 0, (size_t)(m * columns) * sizeof *q);
    for (int64_t j = 0; j < columns; j++) q[j * columns + j] = 1;
    for (int64_t j = k - 1; j >= 0; j--)
        if (betas[j] != 0) reflect(m, columns, q, j, j, v + j * m, betas[j], sums);
    free(v);
    return true;
}
