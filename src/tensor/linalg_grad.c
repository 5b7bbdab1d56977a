// SPDX-License-Identifier: Apache-2.0
// linalg_grad.c: the gradients of linear algebra, made of public operations, so that they have
// gradients themselves. Factors are made again from the matrix in the rule: the same factors, as
// part of the graph when one is being made. A function of several results has a rule for each, and
// the gradients of the matrix add up.
//
// Formulas: Giles 2008 (inverse, determinant, symmetric eigenvalues), Murray 2016 (Cholesky),
// Seeger et al. 2017 (QR), Townsend 2016 (singular values).
#include "tensor/linalg_int.h"

static IgTensor *flip(IgTensor *a, MTLError **e) { return ig_transpose(a, -2, -1, e); }
static IgTensor *product(IgTensor *a, IgTensor *b, MTLError **e) { return ig_matmul(a, b, e); }
static IgTensor *product3(IgTensor *a, IgTensor *b, IgTensor *c, MTLError **e) {
    return ig_matmul(ig_matmul(a, b, e), c, e);
}
// Columns times s (.., K); rows times s.
static IgTensor *columns(IgTensor *a, IgTensor *s, MTLError **e) {
    return ig_mul(a, ig_unsqueeze(s, -2, e), e);
}
static IgTensor *rows(IgTensor *s, IgTensor *a, MTLError **e) {
    return ig_mul(ig_unsqueeze(s, -1, e), a, e);
}
// A number (..) for each matrix.
static IgTensor *scaled(IgTensor *a, IgTensor *number, MTLError **e) {
    return ig_mul(a, ig_unsqueeze(ig_unsqueeze(number, -1, e), -1, e), e);
}
static IgTensor *even(IgTensor *a, MTLError **e) { // (a + a') / 2
    return ig_mul_scalar(ig_add(a, flip(a, e), e), 0.5, e);
}
static IgTensor *unit(IgTensor *like, int64_t n, MTLError **e) {
    return like ? ig_eye(ig_device(like), ig_type(like), n, n, 0, e) : NULL;
}
// 1 / (x[j] - x[i]), and 0 on the diagonal.
static IgTensor *differences(IgTensor *x, MTLError **e) {
    IgTensor *one = x ? unit(x, ig_dim(x, -1), e) : NULL;
    IgTensor *d = ig_sub(ig_unsqueeze(x, -2, e), ig_unsqueeze(x, -1, e), e);
    return ig_sub(ig_reciprocal(ig_add(d, one, e), e), one, e);
}

// ---- Equations and determinants ----

static bool rule_solve(IgGradNode *node, IgTensor *g, IgTensor **out, MTLError **e) {
    IgTensor *gb = ig_solve(flip(ig_saved(node, 0), e), g, e);
    if (!gb) return false;
    out[1] = node->inputs[1] ? gb : NULL;
    if (!node->inputs[0]) return true;
    out[0] = ig_neg(product(gb, flip(ig_saved_result(node, e), e), e), e);
    return out[0] != NULL;
}

// The transposed adjugate by singular values: it is there for singular matrices, too.
static IgTensor *cofactors(IgTensor *a, MTLError **e) {
    IgTensor *u, *s, *vh;
    if (!ig_svd(a, false, &u, &s, &vh, e)) return NULL;
    int64_t n = ig_dim(a, -1);
    // Row i of this has all values and 1 at place i: its product is that of the others.
    IgTensor *others = ig_unsqueeze(s, -2, e), *one = unit(s, n, e);
    others = ig_add(ig_mul(others, ig_add_scalar(ig_neg(one, e), 1, e), e), one, e);
    IgTensor *sign = ig_mul(ig_det(u, e), ig_det(vh, e), e);
    return scaled(product(columns(u, ig_prod(others, -1, false, e), e), vh, e), sign, e);
}

static bool none_is_zero(IgTensor *x, MTLError **e) {
    void *data;
    IgTensor *all = ig_all(x, IG_ALL, false, e);
    return all && ig_map(all, &data, e) && *(const unsigned char *)data;
}

static IgTensor *rule_det(IgGradNode *node, IgTensor *g, MTLError **e) {
    IgTensor *a = ig_saved(node, 0), *det = ig_saved_result(node, e);
    if (!none_is_zero(det, e)) return scaled(cofactors(a, e), g, e);
    return scaled(flip(ig_inv(a, e), e), ig_mul(g, det, e), e);
}

// ---- Factors ----

static IgTensor *rule_cholesky(IgGradNode *node, IgTensor *g, MTLError **e) {
    IgTensor *l = ig_saved_result(node, e), *lt = flip(l, e), *m = product(lt, g, e);
    IgTensor *half = ig_mul_scalar(ig_add(ig_tril(m, 0, e), ig_tril(m, -1, e), e), 0.5, e);
    IgTensor *left = ig_solve(lt, half, e);
    return even(ig_solve(lt, flip(left, e), e), e);
}

static IgTensor *rule_qr(IgGradNode *node, IgTensor *g, MTLError **e) {
    IgTensor *a = ig_saved(node, 0), *q, *r;
    if (ig_dim(a, -2) < ig_dim(a, -1)) {
        ig_fail(e, IgErrorGradient, "ig_qr: no gradient of matrices wider than tall, shape %s",
                ig_shape_text(ig_rank(a), ig_shape(a)));
        return NULL;
    }
    if (!ig_qr(a, &q, &r, e)) return NULL;
    bool of_q = node->op == IG_QR_Q;
    IgTensor *m = of_q ? ig_neg(product(flip(g, e), q, e), e) : product(r, flip(g, e), e);
    IgTensor *low = ig_tril(m, -1, e);
    IgTensor *x = product(q, ig_add(ig_tril(m, 0, e), flip(low, e), e), e);
    if (of_q) x = ig_add(g, x, e);
    return flip(ig_solve(r, flip(x, e), e), e);
}

static IgTensor *rule_eigh(IgGradNode *node, IgTensor *g, MTLError **e) {
    IgTensor *values, *v;
    if (!ig_eigh(ig_saved(node, 0), &values, &v, e)) return NULL;
    if (node->op == IG_EIGH_VALUES) return product(columns(v, g, e), flip(v, e), e);
    IgTensor *inner = ig_mul(differences(values, e), product(flip(v, e), g, e), e);
    return even(product3(v, inner, flip(v, e), e), e);
}

// (1 - q q') g / s: what of g stands at right angles to q.
static IgTensor *beside(IgTensor *q, IgTensor *g, IgTensor *s, MTLError **e) {
    IgTensor *rest = ig_sub(g, product3(q, flip(q, e), g, e), e);
    return columns(rest, ig_reciprocal(s, e), e);
}

// F o (q'g - g'q)
static IgTensor *turning(IgTensor *q, IgTensor *g, IgTensor *s, MTLError **e) {
    IgTensor *m = product(flip(q, e), g, e);
    return ig_mul(differences(ig_square(s, e), e), ig_sub(m, flip(m, e), e), e);
}

static IgTensor *rule_svd(IgGradNode *node, IgTensor *g, MTLError **e) {
    IgTensor *a = ig_saved(node, 0), *u, *s, *vh;
    if (node->numbers[0] && node->op != IG_SVD_S) {
        ig_fail(e, IgErrorGradient,
                "ig_svd: no gradient of the full vectors of matrices that are not square");
        return NULL;
    }
    if (!ig_svd(a, false, &u, &s, &vh, e)) return NULL;
    if (node->op == IG_SVD_S) return product(columns(u, g, e), vh, e);
    bool of_u = node->op == IG_SVD_U;
    IgTensor *gv = of_u ? NULL : flip(g, e), *v = flip(vh, e);
    IgTensor *k = of_u ? turning(u, g, s, e) : turning(v, gv, s, e);
    IgTensor *inner = of_u ? columns(k, s, e) : rows(s, k, e);
    IgTensor *result = product3(u, inner, vh, e);
    if (of_u && ig_dim(a, -2) > ig_dim(a, -1))
        result = ig_add(result, product(beside(u, g, s, e), vh, e), e);
    if (!of_u && ig_dim(a, -1) > ig_dim(a, -2))
        result = ig_add(result, product(u, flip(beside(v, gv, s, e), e), e), e);
    return result;
}

// ---- All of them ----

static bool rule(IgGradNode *node, IgTensor *g, IgTensor **out, MTLError **e) {
    IgTensor *y;
    switch ((IgLinalg)node->op) {
    case IG_SOLVE: return rule_solve(node, g, out, e);
    case IG_INV:
        y = flip(ig_saved_result(node, e), e);
        out[0] = ig_neg(product3(y, g, y, e), e);
        break;
    case IG_DET: out[0] = rule_det(node, g, e); break;
    case IG_LOGDET: out[0] = scaled(flip(ig_inv(ig_saved(node, 0), e), e), g, e); break;
    case IG_CHOLESKY: out[0] = rule_cholesky(node, g, e); break;
    case IG_QR_Q:
    case IG_QR_R: out[0] = rule_qr(node, g, e); break;
    case IG_SVD_U:
    case IG_SVD_S:
    case IG_SVD_VH: out[0] = rule_svd(node, g, e); break;
    case IG_EIGH_VALUES:
    case IG_EIGH_VECTORS: out[0] = rule_eigh(node, g, e); break;
    case IG_SIGN: break; // is not recorded
    }
    return out[0] != NULL;
}

IgTensor *ig_record_linalg(IgLinalg what, bool whole, IgTensor *result, int n,
                           IgTensor *const *inputs, MTLError **error) {
    static const char *const names[] = {
        [IG_SOLVE] = "solve",    [IG_INV] = "inv",           [IG_DET] = "det",
        [IG_LOGDET] = "slogdet", [IG_CHOLESKY] = "cholesky", [IG_QR_Q] = "qr",
        [IG_QR_R] = "qr",        [IG_SVD_U] = "svd",         [IG_SVD_S] = "svd",
        [IG_SVD_VH] = "svd",     [IG_EIGH_VALUES] = "eigh",  [IG_EIGH_VECTORS] = "eigh"};
    if (!result || what == IG_SIGN || !ig_grad_enabled_for(n, inputs)) return result;
    IgGradNode *node = ig_node_new(names[what], rule, n, inputs, error);
    if (!node) return ig_node_attach(result, NULL, false, error);
    node->op = (int)what;
    node->numbers[0] = whole;
    if (!ig_node_save(node, 0, inputs[0], error)) {
        ig_node_release(node);
        return ig_node_attach(result, NULL, false, error);
    }
    return ig_node_attach(result, node, true, error);
}
