// SPDX-License-Identifier: Apache-2.0
// fft.c: Fourier transforms of any length, made of products. A complex number is a pair in a last
// axis of 2, so that a transform of length n <= DIRECT is a product with a matrix (2n, 2n). A
// longer one is split by a divisor (Cooley and Tukey 1965): transforms of one length, a factor for
// each element, transforms of the other. Where there is no divisor it becomes a convolution of a
// length that has some (Bluestein 1970). All factors come from double precision; gradients of any
// order come with the products.
#include <math.h>
#include <stdlib.h>
#include "tensor/tensor_int.h"

enum { DIRECT = 64 };

typedef struct Plan {
    IgDevice *device;
    int sign; // of the exponent: -1 forwards
    MTLError **error;
} Plan;

static IgTensor *transform(const Plan *p, IgTensor *z, int64_t rows, int64_t n);

// ---- Constants ----

// e to the power of sign 2 pi i numerator / n
static void factor(const Plan *p, int64_t numerator, int64_t n, double *re, double *im) {
    double angle = 2 * 3.14159265358979323846 * (double)(numerator % n) / (double)n;
    *re = cos(angle);
    *im = p->sign * sin(angle);
}

static IgTensor *constant(const Plan *p, int rank, const int64_t *shape, float *values) {
    if (!values) {
        ig_fail_no_memory(p->error);
        return NULL;
    }
    IgTensor *t = ig_from_data(p->device, IgFloat32, rank, shape, values, p->error);
    free(values);
    return t;
}

// The transform as a matrix for pairs.
static IgTensor *matrix(const Plan *p, int64_t n) {
    float *m = malloc((size_t)(4 * n * n) * sizeof *m);
    for (int64_t j = 0; m && j < n; j++)
        for (int64_t k = 0; k < n; k++) {
            double re, im;
            factor(p, j * k, n, &re, &im);
            m[4 * j * n + 2 * k] = m[4 * j * n + 2 * n + 2 * k + 1] = (float)re;
            m[4 * j * n + 2 * k + 1] = (float)im;
            m[4 * j * n + 2 * n + 2 * k] = (float)-im;
        }
    return constant(p, 2, (int64_t[]){2 * n, 2 * n}, m);
}

// Complex factors as two tensors: (re, re) and (-im, im), to be used by `times`.
typedef struct Factors {
    IgTensor *same, *turned;
} Factors;

static Factors factors_of(const Plan *p, int rank, const int64_t *shape, int64_t n,
                          const double *re, const double *im) {
    Factors f = {NULL, NULL};
    float *same = malloc((size_t)(2 * n) * sizeof *same + 1);
    float *turned = malloc((size_t)(2 * n) * sizeof *turned + 1);
    for (int64_t i = 0; same && turned && i < n; i++) {
        same[2 * i] = same[2 * i + 1] = (float)re[i];
        turned[2 * i] = (float)-im[i];
        turned[2 * i + 1] = (float)im[i];
    }
    f.same = constant(p, rank, shape, same);
    f.turned = constant(p, rank, shape, turned);
    return f;
}

static IgTensor *times(const Plan *p, IgTensor *z, Factors f) {
    return ig_add(ig_mul(z, f.same, p->error), ig_mul(ig_flip(z, -1, p->error), f.turned, p->error),
                  p->error);
}

// ---- By a divisor ----

// e to the power of sign 2 pi i j k / (a b), for j < b and k < a: (b, a, 2)
static Factors twiddles(const Plan *p, int64_t a, int64_t b) {
    double *re = malloc((size_t)(2 * a * b) * sizeof *re), *im = re ? re + a * b : NULL;
    for (int64_t j = 0; re && j < b; j++)
        for (int64_t k = 0; k < a; k++) factor(p, j * k, a * b, &re[j * a + k], &im[j * a + k]);
    Factors f = {NULL, NULL};
    if (re)
        f = factors_of(p, 3, (int64_t[]){b, a, 2}, a * b, re, im);
    else
        ig_fail_no_memory(p->error);
    free(re);
    return f;
}

// Position j a b + .. : x (R, a, b), results at k1 + a k2.
static IgTensor *by_divisor(const Plan *p, IgTensor *z, int64_t rows, int64_t a, int64_t b) {
    MTLError **e = p->error;
    IgTensor *x = ig_reshape(z, 4, (int64_t[]){rows, a, b, 2}, e);
    x = ig_contiguous(ig_transpose(x, 1, 2, e), e);
    x = ig_matmul(ig_reshape(x, 2, (int64_t[]){rows * b, 2 * a}, e), matrix(p, a), e);
    x = times(p, ig_reshape(x, 4, (int64_t[]){rows, b, a, 2}, e), twiddles(p, a, b));
    x = ig_contiguous(ig_transpose(x, 1, 2, e), e);
    x = transform(p, ig_reshape(x, 3, (int64_t[]){rows * a, b, 2}, e), rows * a, b);
    x = ig_transpose(ig_reshape(x, 4, (int64_t[]){rows, a, b, 2}, e), 1, 2, e);
    return ig_reshape(ig_contiguous(x, e), 3, (int64_t[]){rows, a * b, 2}, e);
}

// ---- Without one ----

// Two lines of complex numbers, element by element.
static IgTensor *complex_product(const Plan *p, IgTensor *x, IgTensor *y) {
    IgTensor *re = ig_slice(y, -1, 0, 1, 1, p->error), *im = ig_slice(y, -1, 1, 2, 1, p->error);
    IgTensor *signs =
        ig_from_data(p->device, IgFloat32, 1, (int64_t[]){2}, (float[]){-1, 1}, p->error);
    return times(p, x, (Factors){re, ig_mul(im, signs, p->error)});
}

// The chirp c[j] = e to the power of sign pi i j j / n, and as a line of length m its conjugate,
// with the values before 0 at the end.
static bool chirps(const Plan *p, int64_t n, int64_t m, Factors *chirp, IgTensor **line) {
    double *re = calloc((size_t)(2 * n), sizeof *re), *im = re ? re + n : NULL;
    float *pairs = calloc((size_t)(2 * m), sizeof *pairs);
    if (!re || !pairs) {
        free(re);
        free(pairs);
        return ig_fail_no_memory(p->error);
    }
    for (int64_t j = 0; j < n; j++) {
        factor(p, j * j, 2 * n, &re[j], &im[j]); // a tensor has fewer than 2^31 elements
        for (int64_t at = j, k = 0; k < (j ? 2 : 1); k++, at = m - j) {
            pairs[2 * at] = (float)re[j];
            pairs[2 * at + 1] = (float)-im[j];
        }
    }
    *chirp = factors_of(p, 2, (int64_t[]){n, 2}, n, re, im);
    *line = constant(p, 3, (int64_t[]){1, m, 2}, pairs);
    free(re);
    return *line != NULL;
}

static IgTensor *by_chirp(const Plan *p, IgTensor *z, int64_t rows, int64_t n) {
    MTLError **e = p->error;
    int64_t m = 1;
    while (m < 2 * n - 1) m *= 2;
    Factors chirp;
    IgTensor *line = NULL;
    if (!chirps(p, n, m, &chirp, &line)) return NULL;
    Plan forwards = {p->device, -1, e}, back = {p->device, 1, e};
    IgTensor *x = ig_pad(times(p, z, chirp), 1, 0, m - n, 0, e);
    x = complex_product(p, transform(&forwards, x, rows, m), transform(&forwards, line, 1, m));
    x = ig_mul_scalar(transform(&back, x, rows, m), 1.0 / (double)m, e);
    return times(p, ig_slice(x, 1, 0, n, 1, e), chirp);
}

// ---- Any length ----

static int64_t divisor(int64_t n) { // the largest up to DIRECT
    for (int64_t d = DIRECT; d > 1; d--)
        if (n % d == 0) return d;
    return 1;
}

// z (rows, n, 2), without a scale.
static IgTensor *transform(const Plan *p, IgTensor *z, int64_t rows, int64_t n) {
    if (!z || n == 1) return z;
    if (n <= DIRECT) {
        IgTensor *flat =
            ig_reshape(ig_contiguous(z, p->error), 2, (int64_t[]){rows, 2 * n}, p->error);
        return ig_reshape(ig_matmul(flat, matrix(p, n), p->error), 3, (int64_t[]){rows, n, 2},
                          p->error);
    }
    int64_t a = divisor(n);
    return a > 1 ? by_divisor(p, ig_contiguous(z, p->error), rows, a, n / a)
                 : by_chirp(p, z, rows, n);
}

IgTensor *ig_fft(IgTensor *x, int axis, bool inverse, MTLError **error) {
    if (!x || !ig_alive("ig_fft", x, error)) return NULL;
    int rank = ig_rank(x);
    if (rank < 2 || ig_dim(x, -1) != 2 || !ig_is_float(ig_type(x))) {
        ig_fail(error, rank < 2 || ig_dim(x, -1) != 2 ? IgErrorShape : IgErrorType,
                "ig_fft: %s of shape %s: pairs of floating numbers in the last of two or more axes "
                "are wanted",
                ig_type_name(ig_type(x)), ig_shape_text(rank, ig_shape(x)));
        return NULL;
    }
    if (!ig_axis("ig_fft", rank - 1, axis, 0, &axis, error)) return NULL;
    int64_t n = ig_dim(x, axis), rows = n ? ig_numel(x) / n / 2 : 0;
    if (n == 0) {
        ig_fail(error, IgErrorShape, "ig_fft: axis %d of shape %s has length 0", axis,
                ig_shape_text(rank, ig_shape(x)));
        return NULL;
    }
    IgScope *scope = ig_scope_begin();
    Plan p = {ig_device(x), inverse ? 1 : -1, error};
    IgTensor *moved = ig_transpose(ig_cast(x, IgFloat32, error), axis, rank - 2, error);
    IgShape shape = moved ? moved->view.shape : (IgShape){0};
    IgTensor *z = rows ? ig_reshape(moved, 3, (int64_t[]){rows, n, 2}, error) : NULL;
    z = rows ? transform(&p, z, rows, n) : moved;
    if (inverse) z = ig_mul_scalar(z, 1.0 / (double)n, error);
    z = ig_transpose(ig_reshape(z, shape.rank, shape.n, error), axis, rank - 2, error);
    return ig_scope_return(scope, z ? ig_cast(z, ig_type(x), error) : NULL);
}
