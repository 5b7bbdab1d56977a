// SPDX-License-Identifier: Apache-2.0
// linalg.c: linear algebra of stacks of matrices: read to the host as double, one after the other
// through factor.h, and made tensors again. Gradients are in linalg_grad.c.
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include "tensor/factor.h"
#include "tensor/lapack.h"
#include "tensor/linalg_int.h"

enum { MAX_PARTS = 3 };

// One matrix: m, n, k as the operation has them, inputs that may be overwritten, results.
typedef bool EachFn(const int64_t *sizes, double *const *in, double *const *out);

typedef struct Part { // a result: its axes behind those of the stack
    int rank;
    int64_t n[2];
} Part;

typedef struct Operation {
    const char *call, *failure; // what a matrix is when `each` says no
    EachFn *each;
    int64_t sizes[3];
    int n_in, n_out;
    IgTensor *in[2]; // float32, contiguous, with the same stack
    Part parts[MAX_PARTS];
} Operation;

static int64_t part_numel(const Part *p) {
    return (p->rank > 0 ? p->n[0] : 1) * (p->rank > 1 ? p->n[1] : 1);
}

static void widen(int64_t n, const float *from, double *to) {
    for (int64_t i = 0; i < n; i++) to[i] = (double)from[i];
}
static void narrow(int64_t n, const double *from, float *to) {
    for (int64_t i = 0; i < n; i++) to[i] = (float)from[i];
}

// All matrices of the stack; values: the results' memory, float.
static bool each_matrix(const Operation *o, int64_t stack, float *const *values, double *memory,
                        MTLError **error) {
    double *in[2] = {memory, NULL}, *out[MAX_PARTS];
    int64_t lengths[2] = {0, 0};
    const float *from[2] = {NULL, NULL};
    double *at = memory;
    for (int i = 0; i < o->n_in; i++) {
        void *data;
        if (!ig_map(o->in[i], &data, error)) return false;
        from[i] = data;
        lengths[i] = stack ? ig_numel(o->in[i]) / stack : 0;
        in[i] = at;
        at += lengths[i];
    }
    for (int i = 0; i < o->n_out; i++) {
        out[i] = at;
        at += part_numel(&o->parts[i]);
    }
    for (int64_t b = 0; b < stack; b++) {
        for (int i = 0; i < o->n_in; i++) widen(lengths[i], from[i] + b * lengths[i], in[i]);
        if (!o->each(o->sizes, in, out))
            return ig_fail(error, IgErrorArgument, "%s: matrix %lld of the stack of shape %s %s",
                           o->call, (long long)b,
                           ig_shape_text(ig_rank(o->in[0]), ig_shape(o->in[0])), o->failure);
        for (int i = 0; i < o->n_out; i++) {
            int64_t n = part_numel(&o->parts[i]);
            narrow(n, out[i], values[i] + b * n);
        }
    }
    return true;
}

// Runs it and makes tensors of the results, in the type of the matrix. Inside a scope.
static bool run_on_host(const Operation *o, IgType type, IgTensor **out, MTLError **error) {
    if (lapack_complaint())
        return ig_fail(error, IgErrorArgument, "INGOT_LAPACK: %s", lapack_complaint());
    IgTensor *a = o->in[0];
    int lead = ig_rank(a) - 2;
    int64_t stack = 1, doubles = 1, floats[MAX_PARTS];
    for (int i = 0; i < lead; i++) stack *= ig_shape(a)[i];
    for (int i = 0; i < o->n_in; i++) doubles += stack ? ig_numel(o->in[i]) / stack : 0;
    float *values[MAX_PARTS] = {NULL};
    bool ok = true;
    for (int i = 0; i < o->n_out; i++) {
        floats[i] = part_numel(&o->parts[i]);
        doubles += floats[i];
        values[i] = malloc((size_t)(stack * floats[i] + 1) * sizeof(float));
        ok = ok && values[i];
    }
    double *memory = malloc((size_t)doubles * sizeof *memory);
    ok = (ok && memory) || ig_fail_no_memory(error);
    ok = ok && each_matrix(o, stack, values, memory, error);
    for (int i = 0; ok && i < o->n_out; i++) {
        int64_t shape[IG_MAX_RANK];
        memcpy(shape, ig_shape(a), (size_t)lead * sizeof *shape);
        memcpy(shape + lead, o->parts[i].n, (size_t)o->parts[i].rank * sizeof *shape);
        out[i] =
            ig_from_data(ig_device(a), IgFloat32, lead + o->parts[i].rank, shape, values[i], error);
        if (out[i] && type != IgFloat32) out[i] = ig_cast(out[i], type, error);
        ok = out[i] != NULL;
    }
    for (int i = 0; i < o->n_out; i++) free(values[i]);
    free(memory);
    return ok;
}

// ---- What is given ----

static IgType result_type(const IgTensor *a) {
    return ig_is_float(ig_type(a)) ? ig_type(a) : IgFloat32;
}

static bool matrices(const char *call, const IgTensor *a, bool square, MTLError **error) {
    if (ig_rank(a) < 2 || (square && ig_dim(a, -1) != ig_dim(a, -2)))
        return ig_fail(error, IgErrorShape, "%s: shape %s is no stack of %smatrices", call,
                       ig_shape_text(ig_rank(a), ig_shape(a)), square ? "square " : "");
    return true;
}

static IgTensor *plain(IgTensor *a, MTLError **error) {
    IgTensor *own = ig_detach(a, error), *single = ig_cast(own, IgFloat32, error);
    return ig_contiguous(single, error);
}

static int64_t least(int64_t a, int64_t b) { return a < b ? a : b; }

// An operation of one matrix: results in out, each recorded as what + its number.
static bool of_matrix(Operation *o, IgTensor *a, bool square, IgLinalg what, bool whole,
                      IgTensor **out, MTLError **error) {
    for (int i = 0; i < o->n_out; i++) out[i] = NULL;
    if (!a || !ig_alive(o->call, a, error) || !matrices(o->call, a, square, error)) return false;
    IgScope *scope = ig_scope_begin();
    o->n_in = 1;
    o->in[0] = plain(a, error);
    bool ok = o->in[0] && run_on_host(o, result_type(a), out, error);
    if (!ig_scope_return_many(scope, ok, o->n_out, out, error)) return false;
    for (int i = 0; i < o->n_out; i++) {
        out[i] = ig_record_linalg((IgLinalg)((int)what + i), whole, out[i], 1, &a, error);
        ok = ok && out[i];
    }
    for (int i = 0; !ok && i < o->n_out; i++) ig_drop(out[i]);
    return ok;
}

// ---- Equations ----

static bool solve_each(const int64_t *sizes, double *const *in, double *const *out) {
    int64_t n = sizes[0], k = sizes[1];
    int32_t *pivots = malloc((size_t)(n + 1) * sizeof *pivots);
    double sign;
    if (!pivots) return false;
    factor_lu(n, in[0], pivots, &sign);
    bool good = !factor_lu_singular(n, in[0]);
    memcpy(out[0], in[1], (size_t)(n * k) * sizeof(double));
    good = good && factor_lu_solve(n, in[0], pivots, k, out[0]);
    free(pivots);
    return good;
}

// b as matrices, both with one stack.
static bool same_stack(IgTensor **a, IgTensor **b, MTLError **error) {
    IgShape x = (*a)->view.shape, y = (*b)->view.shape, stack;
    x.rank -= 2;
    y.rank -= 2;
    if (!ig_broadcast("ig_solve", &x, &y, &stack, error)) return false;
    IgShape wide[2] = {stack, stack};
    IgTensor **each[2] = {a, b};
    for (int i = 0; i < 2; i++) {
        if (stack.rank + 2 > IG_MAX_RANK)
            return ig_fail(error, IgErrorShape, "ig_solve: more than %d axes", IG_MAX_RANK);
        wide[i].n[wide[i].rank++] = ig_dim(*each[i], -2);
        wide[i].n[wide[i].rank++] = ig_dim(*each[i], -1);
        *each[i] = ig_expand(*each[i], wide[i].rank, wide[i].n, error);
        if (!*each[i]) return false;
    }
    return true;
}

// Matrices and right sides of one stack, in the type both meet in.
static IgTensor *solve_matrices(IgTensor *a, IgTensor *b, MTLError **error) {
    int64_t n = ig_dim(a, -1), k = ig_dim(b, -1);
    Operation o = {.call = "ig_solve",
                   .failure = "is singular",
                   .each = solve_each,
                   .sizes = {n, k},
                   .n_in = 2,
                   .n_out = 1,
                   .in = {plain(a, error), plain(b, error)},
                   .parts = {{2, {n, k}}}};
    IgTensor *x = NULL;
    if (!o.in[0] || !o.in[1] || !run_on_host(&o, ig_type(a), &x, error)) return NULL;
    return ig_record_linalg(IG_SOLVE, false, x, 2, (IgTensor *[]){a, b}, error);
}

IgTensor *ig_solve(IgTensor *a, IgTensor *b, MTLError **error) {
    if (!a || !b || !ig_alive("ig_solve", a, error) || !ig_alive("ig_solve", b, error) ||
        !ig_same_device("ig_solve", a, b, error) || !matrices("ig_solve", a, true, error))
        return NULL;
    bool vector = ig_rank(b) == 1;
    if (ig_rank(b) == 0 || ig_dim(b, vector ? 0 : -2) != ig_dim(a, -1)) {
        ig_fail(error, IgErrorShape, "ig_solve: right sides of shape %s for matrices of shape %s",
                ig_shape_text(ig_rank(b), ig_shape(b)), ig_shape_text(ig_rank(a), ig_shape(a)));
        return NULL;
    }
    IgScope *scope = ig_scope_begin();
    IgType type = ig_promote(result_type(a), result_type(b));
    IgTensor *m = ig_cast(a, type, error), *x = NULL;
    IgTensor *right = vector ? ig_unsqueeze(b, 1, error) : b;
    right = ig_cast(right, type, error);
    if (m && right && same_stack(&m, &right, error)) x = solve_matrices(m, right, error);
    if (vector) x = ig_squeeze(x, -1, error);
    return ig_scope_return(scope, x);
}

static bool inv_each(const int64_t *sizes, double *const *in, double *const *out) {
    int64_t n = sizes[0];
    int32_t *pivots = malloc((size_t)(n + 1) * sizeof *pivots);
    double sign;
    if (!pivots) return false;
    factor_lu(n, in[0], pivots, &sign);
    bool good = !factor_lu_singular(n, in[0]);
    memset(out[0], 0, (size_t)(n * n) * sizeof(double));
    for (int64_t i = 0; i < n; i++) out[0][i * n + i] = 1;
    good = good && factor_lu_solve(n, in[0], pivots, n, out[0]);
    free(pivots);
    return good;
}

static int64_t side(IgTensor *a, int axis) { return a && ig_rank(a) > 1 ? ig_dim(a, axis) : 0; }

// A square matrix for each square matrix of a: `head` says how, and what is said where it has none.
static IgTensor *of_square(Operation head, IgTensor *a, IgLinalg what, MTLError **error) {
    int64_t n = side(a, -1);
    IgTensor *out = NULL;
    head.sizes[0] = n;
    head.n_out = 1;
    head.parts[0] = (Part){2, {n, n}};
    return of_matrix(&head, a, true, what, false, &out, error) ? out : NULL;
}

IgTensor *ig_inv(IgTensor *a, MTLError **error) {
    return of_square((Operation){.call = "ig_inv", .failure = "is singular", .each = inv_each}, a,
                     IG_INV, error);
}

// ---- Determinants ----

// sign, logarithm of the magnitude
static bool logdet_each(const int64_t *sizes, double *const *in, double *const *out) {
    int64_t n = sizes[0];
    int32_t *pivots = malloc((size_t)(n + 1) * sizeof *pivots);
    double sign, log_sum = 0;
    if (!pivots) return false;
    factor_lu(n, in[0], pivots, &sign);
    for (int64_t i = 0; i < n; i++) {
        double d = in[0][i * n + i];
        sign = d == 0 ? 0 : d < 0 ? -sign : sign;
        log_sum += log(fabs(d));
    }
    free(pivots);
    *out[0] = sign;
    *out[1] = log_sum;
    return true;
}

static bool det_each(const int64_t *sizes, double *const *in, double *const *out) {
    int64_t n = sizes[0];
    int32_t *pivots = malloc((size_t)(n + 1) * sizeof *pivots);
    if (!pivots) return false;
    factor_lu(n, in[0], pivots, out[0]);
    for (int64_t i = 0; i < n; i++) *out[0] *= in[0][i * n + i];
    free(pivots);
    return true;
}

IgTensor *ig_det(IgTensor *a, MTLError **error) {
    IgTensor *out = NULL;
    Operation o = {.call = "ig_det", .each = det_each, .sizes = {side(a, -1)}, .n_out = 1};
    return of_matrix(&o, a, true, IG_DET, false, &out, error) ? out : NULL;
}

bool ig_slogdet(IgTensor *a, IgTensor **sign, IgTensor **log_det, MTLError **error) {
    IgTensor *out[2] = {NULL, NULL};
    Operation o = {.call = "ig_slogdet", .each = logdet_each, .sizes = {side(a, -1)}, .n_out = 2};
    bool ok = of_matrix(&o, a, true, IG_SIGN, false, out, error);
    *sign = ok ? out[0] : NULL;
    *log_det = ok ? out[1] : NULL;
    return ok;
}

// ---- Factors ----

static bool cholesky_each(const int64_t *sizes, double *const *in, double *const *out) {
    memcpy(out[0], in[0], (size_t)(sizes[0] * sizes[0]) * sizeof(double));
    return factor_cholesky(sizes[0], out[0]);
}

IgTensor *ig_cholesky(IgTensor *a, MTLError **error) {
    Operation head = {
        .call = "ig_cholesky", .failure = "is not positive definite", .each = cholesky_each};
    return of_square(head, a, IG_CHOLESKY, error);
}

static bool qr_each(const int64_t *sizes, double *const *in, double *const *out) {
    int64_t m = sizes[0], n = sizes[1], k = least(m, n);
    if (!factor_qr(m, n, in[0], k, out[0])) return false;
    memcpy(out[1], in[0], (size_t)(k * n) * sizeof(double));
    return true;
}

bool ig_qr(IgTensor *a, IgTensor **q, IgTensor **r, MTLError **error) {
    int64_t m = side(a, -2), n = side(a, -1), k = least(m, n);
    IgTensor *out[2] = {NULL, NULL};
    Operation o = {.call = "ig_qr",
                   .failure = "is too large",
                   .each = qr_each,
                   .sizes = {m, n},
                   .n_out = 2,
                   .parts = {{2, {m, k}}, {2, {k, n}}}};
    bool ok = of_matrix(&o, a, false, IG_QR_Q, false, out, error);
    *q = ok ? out[0] : NULL;
    *r = ok ? out[1] : NULL;
    return ok;
}

static bool svd_each(const int64_t *sizes, double *const *in, double *const *out) {
    return factor_svd(sizes[0], sizes[1], in[0], sizes[2] != 0, out[0], out[1], out[2]);
}

bool ig_svd(IgTensor *a, bool full, IgTensor **u, IgTensor **s, IgTensor **vh, MTLError **error) {
    int64_t m = side(a, -2), n = side(a, -1), k = least(m, n);
    IgTensor *out[3] = {NULL, NULL, NULL};
    Operation o = {.call = "ig_svd",
                   .failure = "has no singular values: are all numbers finite?",
                   .each = svd_each,
                   .sizes = {m, n, full},
                   .n_out = 3,
                   .parts = {{2, {m, full ? m : k}}, {1, {k}}, {2, {full ? n : k, n}}}};
    bool ok = of_matrix(&o, a, false, IG_SVD_U, full && m != n, out, error);
    *u = ok ? out[0] : NULL;
    *s = ok ? out[1] : NULL;
    *vh = ok ? out[2] : NULL;
    return ok;
}

static bool eigh_each(const int64_t *sizes, double *const *in, double *const *out) {
    return factor_eigh(sizes[0], in[0], out[0], out[1]);
}

bool ig_eigh(IgTensor *a, IgTensor **values, IgTensor **vectors, MTLError **error) {
    int64_t n = side(a, -1);
    IgTensor *out[2] = {NULL, NULL};
    Operation o = {.call = "ig_eigh",
                   .failure = "has no eigenvalues: are all numbers finite?",
                   .each = eigh_each,
                   .sizes = {n},
                   .n_out = 2,
                   .parts = {{1, {n}}, {2, {n, n}}}};
    bool ok = of_matrix(&o, a, true, IG_EIGH_VALUES, false, out, error);
    *values = ok ? out[0] : NULL;
    *vectors = ok ? out[1] : NULL;
    return ok;
}
