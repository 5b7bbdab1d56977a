// SPDX-License-Identifier: Apache-2.0
// factor_spectrum.c: eigenvalues of symmetric matrices and singular values. A symmetric matrix is
// brought to three diagonals by reflections, then to one by the implicit QL method (Dubrulle,
// Martin, Wilkinson 1968). Singular values come from rotating pairs of columns until all are at
// right angles (Hestenes 1958), beginning with the eigenvectors of the products of columns, which
// are nearly so. Vectors are kept as rows meanwhile, so that rotations run along memory.
// All this is for machines without LAPACK.
#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include "tensor/factor.h"
#include "tensor/lapack.h"

enum { MAX_QL = 60, MAX_SWEEPS = 60, LANES = 8 };

static double dot(int64_t n, const double *x, const double *y) {
    double part[LANES] = {0}, rest = 0, sum = 0;
    int64_t i = 0;
    for (; i + LANES <= n; i += LANES)
        for (int k = 0; k < LANES; k++) part[k] += x[i + k] * y[i + k];
    for (; i < n; i++) rest += x[i] * y[i];
    for (int k = 0; k < LANES; k++) sum += part[k];
    return sum + rest;
}

static void add_scaled(int64_t n, double *restrict y, double f,
                       const double *restrict x) { // y += f x
    for (int64_t i = 0; i < n; i++) y[i] += f * x[i];
}

// Two rows turned by an angle: x becomes c x - s y, y s x + c y.
static void rotate(int64_t n, double *restrict x, double *restrict y, double c, double s) {
    for (int64_t i = 0; i < n; i++) {
        double t = x[i];
        x[i] = c * t - s * y[i];
        y[i] = s * t + c * y[i];
    }
}

static bool all_finite(int64_t n, const double *x) {
    double zeros = 0;
    for (int64_t i = 0; i < n; i++) zeros += 0 * x[i];
    return zeros == 0;
}

// ---- Three diagonals ----

// Rows and columns below k of the symmetric a become H a H, H = 1 - beta v v'. p: memory.
static void reflect_both(int64_t n, double *a, int64_t k, const double *v, double beta, double *p) {
    for (int64_t i = k; i < n; i++) p[i] = beta * dot(n - k, a + i * n + k, v + k);
    double half = beta / 2 * dot(n - k, v + k, p + k);
    for (int64_t i = k; i < n; i++) p[i] -= half * v[i];
    for (int64_t i = k; i < n; i++)
        for (int64_t j = k; j < n; j++) a[i * n + j] -= v[i] * p[j] + p[i] * v[j];
}

// Diagonal d and what is beside it e (n - 1); rows of z: the reflections' product, transposed.
static bool three_diagonals(int64_t n, double *a, double *d, double *e, double *z) {
    double *v = calloc((size_t)(n * n + 2 * n + 1), sizeof *v);
    if (!v) return false;
    double *betas = v + n * n, *p = betas + n;
    for (int64_t k = 0; k + 1 < n; k++) {
        double *x = v + k * n, largest = 0, square = 0;
        for (int64_t i = k + 1; i < n; i++) largest = fmax(largest, fabs(a[i * n + k]));
        for (int64_t i = k + 1; i < n; i++) x[i] = largest > 0 ? a[i * n + k] / largest : 0;
        for (int64_t i = k + 2; i < n; i++) square += x[i] * x[i];
        e[k] = a[(k + 1) * n + k];
        if (square == 0) continue; // betas[k] is 0
        double length = -copysign(sqrt(square + x[k + 1] * x[k + 1]), x[k + 1]);
        x[k + 1] -= length;
        betas[k] = 2 / (square + x[k + 1] * x[k + 1]);
        e[k] = length * largest;
        reflect_both(n, a, k + 1, x, betas[k], p);
    }
    for (int64_t i = 0; i < n; i++) d[i] = a[i * n + i];
    memset(z, 0, (size_t)(n * n) * sizeof *z);
    for (int64_t i = 0; i < n; i++) z[i * n + i] = 1;
    // The product of all, H0 H1 .., of which z holds the transposed: rows of z times H from behind.
    for (int64_t k = n - 2; k >= 0; k--)
        for (int64_t i = k + 1; betas[k] != 0 && i < n; i++) {
            double f = betas[k] * dot(n - k - 1, z + i * n + k + 1, v + k * n + k + 1);
            for (int64_t j = k + 1; j < n; j++) z[i * n + j] -= f * v[k * n + j];
        }
    free(v);
    return true;
}

// One step of QL with a shift on d and e from l to m; rotates the rows of z.
static void ql_step(int64_t n, double *d, double *e, double *z, int64_t l, int64_t m) {
    double g = (d[l + 1] - d[l]) / (2 * e[l]), s = 1, c = 1, p = 0;
    g = d[m] - d[l] + e[l] / (g + copysign(hypot(g, 1), g));
    for (int64_t i = m - 1; i >= l; i--) {
        double f = s * e[i], b = c * e[i], r = hypot(f, g);
        e[i + 1] = r;
        if (r == 0) { // it falls apart here
            d[i + 1] -= p;
            e[m] = 0;
            return;
        }
        s = f / r;
        c = g / r;
        g = d[i + 1] - p;
        r = (d[i] - g) * s + 2 * c * b;
        p = s * r;
        d[i + 1] = g + p;
        g = c * r - b;
        rotate(n, z + i * n, z + (i + 1) * n, c, s);
    }
    d[l] -= p;
    e[l] = g;
    e[m] = 0;
}

// What is beside the diagonal counts as 0 at the size of the whole matrix's rounding errors: those
// among small values alone would not settle.
static bool ql(int64_t n, double *d, double *e, double *z) {
    double largest = 0;
    for (int64_t i = 0; i < n; i++) largest = fmax(largest, fabs(d[i]) + fabs(e[i]));
    for (int64_t l = 0; l < n; l++)
        for (int steps = 0;; steps++) {
            int64_t m = l;
            while (m + 1 < n && fabs(e[m]) > DBL_EPSILON * largest) m++;
            if (m == l) break;
            if (steps == MAX_QL) return false;
            ql_step(n, d, e, z, l, m);
        }
    return true;
}

typedef struct Place {
    double value;
    int64_t at;
} Place;

static int rising(const void *x, const void *y) {
    const Place *a = x, *b = y;
    if (a->value != b->value) return a->value < b->value ? -1 : 1;
    return a->at < b->at ? -1 : a->at > b->at;
}

// Of the whole symmetric matrix a, in any order: values d, vectors as the rows of z (n, n).
static bool spectrum(int64_t n, double *a, double *d, double *z) {
    double *e = calloc((size_t)(n + 1), sizeof *e);
    bool ok = e && three_diagonals(n, a, d, e, z) && ql(n, d, e, z);
    free(e);
    return ok;
}

bool factor_eigh(int64_t n, double *a, double *values, double *v) {
    for (int64_t i = 0; i < n; i++)
        for (int64_t j = 0; j < i; j++) a[j * n + i] = a[i * n + j];
    if (!all_finite(n * n, a)) return false;
    if (lapack_takes(n, n)) return lapack_eigh(n, a, values, v);
    double *z = malloc((size_t)(n * n + n + 1) * sizeof *z), *d = z + n * n;
    Place *order = malloc((size_t)(n + 1) * sizeof *order);
    bool ok = z && order && spectrum(n, a, d, z);
    for (int64_t i = 0; ok && i < n; i++) order[i] = (Place){d[i], i};
    if (ok) qsort(order, (size_t)n, sizeof *order, rising);
    for (int64_t i = 0; ok && i < n; i++) {
        values[i] = order[i].value;
        for (int64_t j = 0; j < n; j++) v[j * n + i] = z[order[i].at * n + j];
    }
    free(z);
    free(order);
    return ok;
}

// ---- Singular values ----

// Turns the rows of w (n, m) until they are at right angles, those of v (n, n) with them. Rows
// shorter than `least` are rounding errors, whose angles mean nothing.
static bool right_angles(int64_t n, int64_t m, double *w, double *v, double least) {
    double tolerance = 16 * DBL_EPSILON * sqrt((double)m);       // of a sum of m products
    double *squares = malloc((size_t)(n + 1) * sizeof *squares); // of the rows' lengths
    bool turned = true;
    for (int sweep = 0; squares && turned && sweep < MAX_SWEEPS; sweep++) {
        turned = false;
        for (int64_t i = 0; i < n; i++) squares[i] = dot(m, w + i * m, w + i * m);
        for (int64_t i = 0; i + 1 < n; i++)
            for (int64_t j = i + 1; j < n; j++) {
                double *x = w + i * m, *y = w + j * m;
                double a = squares[i], b = squares[j];
                if (fmin(a, b) <= least * least) continue;
                double p = dot(m, x, y);
                if (!(fabs(p) > tolerance * sqrt(a) * sqrt(b))) continue;
                double t = (b - a) / (2 * p);
                t = copysign(1 / (fabs(t) + hypot(t, 1)), t);
                double c = 1 / hypot(t, 1);
                rotate(m, x, y, c, c * t);
                rotate(n, v + i * n, v + j * n, c, c * t);
                squares[i] = a - t * p;
                squares[j] = b + t * p;
                turned = true;
            }
    }
    bool done = squares && !turned;
    free(squares);
    return done;
}

// Row i of u (.., m) is made a unit vector at right angles to those before it.
static void complete_row(int64_t m, double *u, int64_t i) {
    double *row = u + i * m;
    for (int64_t axis = 0; axis < m; axis++) {
        memset(row, 0, (size_t)m * sizeof *row);
        row[axis] = 1;
        for (int twice = 0; twice < 2; twice++)
            for (int64_t k = 0; k < i; k++) {
                double f = dot(m, row, u + k * m);
                for (int64_t j = 0; j < m; j++) row[j] -= f * u[k * m + j];
            }
        double length = sqrt(dot(m, row, row));
        if (length < 0.5 / sqrt((double)m)) continue; // one axis is always farther away
        for (int64_t j = 0; j < m; j++) row[j] /= length;
        return;
    }
}

// Turns the rows of w (n, m) by the eigenvectors of w w', which come as turns (n, n): but for
// rounding errors they are at right angles then, and a sweep or two is left of the ten there were.
static bool nearly_right_angles(int64_t n, int64_t m, double *w, double *turns) {
    double *products = calloc((size_t)(n * n + n + n * m + 1), sizeof *products);
    if (!products) return false;
    double *values = products + n * n, *turned = values + n;
    for (int64_t i = 0; i < n; i++)
        for (int64_t j = 0; j <= i; j++)
            products[i * n + j] = products[j * n + i] = dot(m, w + i * m, w + j * m);
    bool ok = spectrum(n, products, values, turns);
    for (int64_t i = 0; ok && i < n; i++)
        for (int64_t k = 0; k < n; k++) add_scaled(m, turned + i * m, turns[i * n + k], w + k * m);
    if (ok) memcpy(w, turned, (size_t)(n * m) * sizeof *w);
    free(products);
    return ok;
}

// Of a tall matrix, whose columns are the rows of w (n, m), m >= n: rows of u (n_u, m) and v.
static bool tall(int64_t m, int64_t n, double *w, int64_t n_u, double *u, double *s, double *v) {
    double *turns = malloc((size_t)(n * n + 1) * sizeof *turns);
    Place *order = malloc((size_t)(n + 1) * sizeof *order);
    double least = 8 * DBL_EPSILON * sqrt(dot(n * m, w, w));
    bool ok = turns && order && nearly_right_angles(n, m, w, turns);
    ok = ok && right_angles(n, m, w, turns, least);
    for (int64_t i = 0; ok && i < n; i++)
        order[i] = (Place){-sqrt(dot(m, w + i * m, w + i * m)), i};
    if (ok) qsort(order, (size_t)n, sizeof *order, rising);
    for (int64_t i = 0; ok && i < n; i++) {
        const double *row = w + order[i].at * m;
        s[i] = -order[i].value;
        memcpy(v + i * n, turns + order[i].at * n, (size_t)n * sizeof *v);
        if (s[i] > least)
            for (int64_t j = 0; j < m; j++) u[i * m + j] = row[j] / s[i];
        else
            complete_row(m, u, i);
    }
    for (int64_t i = n; ok && i < n_u; i++) complete_row(m, u, i);
    free(turns);
    free(order);
    return ok;
}

static void transpose(int64_t m, int64_t n, const double *a, double *out) {
    for (int64_t i = 0; i < m; i++)
        for (int64_t j = 0; j < n; j++) out[j * m + i] = a[i * n + j];
}

bool factor_svd(int64_t m, int64_t n, double *a, bool full, double *u, double *s, double *vh) {
    if (!all_finite(m * n, a)) return false;
    if (lapack_takes(m, n)) return lapack_svd(m, n, a, full, u, s, vh);
    int64_t k = m < n ? m : n, longer = m < n ? n : m, n_u = full ? longer : k;
    double *w = malloc((size_t)(k * longer + n_u * longer + k * k + 1) * sizeof *w);
    if (!w) return false;
    double *left = w + k * longer, *right = left + n_u * longer;
    if (m >= n)
        transpose(m, n, a, w);
    else
        memcpy(w, a, (size_t)(m * n) * sizeof *w);
    double largest = 0; // squares must neither overflow nor vanish
    for (int64_t i = 0; i < k * longer; i++) largest = fmax(largest, fabs(w[i]));
    for (int64_t i = 0; largest > 0 && i < k * longer; i++) w[i] /= largest;
    bool ok = tall(longer, k, w, n_u, left, s, right);
    for (int64_t i = 0; largest > 0 && i < k; i++) s[i] *= largest;
    if (ok && m >= n) {
        transpose(n_u, m, left, u);
        memcpy(vh, right, (size_t)(k * k) * sizeof *vh);
    } else if (ok) {
        transpose(k, k, right, u);
        memcpy(vh, left, (size_t)(n_u * n) * sizeof *vh);
    }
    free(w);
    return ok;
}
