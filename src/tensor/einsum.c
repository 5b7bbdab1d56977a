// SPDX-License-Identifier: Apache-2.0
// einsum.c: Einstein summation as views, matrix products and sums, so gradients and second
// derivatives follow. Operands are contracted from left to right: of the axes of two operands,
// shared ones that are needed later are batch axes, shared ones that are not are contracted by the
// GEMM, and unshared ones that are not needed are summed before.
#include <ctype.h>
#include <string.h>
#include "tensor/tensor_int.h"

enum {
    LETTERS = 52,
    LABELS = LETTERS + IG_MAX_RANK
}; // behind the letters, axes of "...", last first

typedef struct Term {
    int n;
    unsigned char labels[IG_MAX_RANK];
    IgTensor *tensor;
} Term;

typedef struct Einsum {
    const char *equation;
    Term output;
    uint64_t everywhere; // labels that occur
    int64_t size[LABELS];
    MTLError **error;
} Einsum;

static uint64_t bit(int label) { return 1ull << label; }

static uint64_t labels_of(const Term *t) {
    uint64_t all = 0;
    for (int i = 0; i < t->n; i++) all |= bit(t->labels[i]);
    return all;
}

static int place_of(const Term *t, int label) {
    for (int i = 0; i < t->n; i++)
        if (t->labels[i] == label) return i;
    return -1;
}

static int label_of(char c) { return c >= 'a' ? c - 'a' + 26 : c - 'A'; } // in the order of ASCII

static bool bad(const Einsum *e, const char *why) {
    return ig_fail(e->error, IgErrorArgument, "ig_einsum: \"%s\": %s", e->equation, why);
}

// ---- The equation ----

// Letters up to a comma, an arrow or the end; *dots: where "..." stands, or -1.
static bool parse_term(Einsum *e, const char **at, unsigned char *letters, int *n, int *dots) {
    *n = 0;
    *dots = -1;
    for (const char *s = *at;; s++) {
        if (*s == ' ') continue;
        if (*s == 0 || *s == ',' || (*s == '-' && s[1] == '>')) {
            *at = s;
            return true;
        }
        if (*s == '.') {
            if (strncmp(s, "...", 3) != 0) return bad(e, "a point that is not part of \"...\"");
            if (*dots >= 0) return bad(e, "\"...\" twice in one operand");
            *dots = *n;
            s += 2;
            continue;
        }
        if (!isascii(*s) || !isalpha((unsigned char)*s))
            return bad(e, "a character that is no letter");
        if (*n == 2 * IG_MAX_RANK) return bad(e, "an operand with too many axes");
        letters[(*n)++] = (unsigned char)label_of(*s);
    }
}

// The labels of an operand's axes: those of "..." count from its end.
static bool take_operand(Einsum *e, int i, const char **at, IgTensor *x, Term *t) {
    unsigned char letters[2 * IG_MAX_RANK];
    int n, dots;
    if (!parse_term(e, at, letters, &n, &dots)) return false;
    int more = ig_rank(x) - n;
    if (more < 0 || (more > 0 && dots < 0))
        return ig_fail(e->error, IgErrorShape,
                       "ig_einsum: \"%s\": operand %d has %d axes by name and shape %s",
                       e->equation, i, n, ig_shape_text(ig_rank(x), ig_shape(x)));
    *t = (Term){.n = ig_rank(x), .tensor = x};
    for (int k = 0, letter = 0; k < t->n; k++) {
        bool dotted = dots >= 0 && k >= dots && k < dots + more;
        int label = dotted ? LETTERS + (dots + more - 1 - k) : letters[letter++];
        int64_t length = ig_shape(x)[k], *size = &e->size[label];
        t->labels[k] = (unsigned char)label;
        if (!(e->everywhere & bit(label)) || *size == 1) *size = length;
        if (length != *size && length != 1)
            return ig_fail(e->error, IgErrorShape,
                           "ig_einsum: \"%s\": an axis of operand %d, shape %s, should have length "
                           "%lld",
                           e->equation, i, ig_shape_text(ig_rank(x), ig_shape(x)),
                           (long long)*size);
        e->everywhere |= bit(label);
    }
    return true;
}

static bool add_output(Einsum *e, int label) {
    if (e->output.n == IG_MAX_RANK) return bad(e, "a result with too many axes");
    e->output.labels[e->output.n++] = (unsigned char)label;
    return true;
}

static bool add_dots(Einsum *e) {
    for (int label = LABELS - 1; label >= LETTERS; label--)
        if (e->everywhere & bit(label) && !add_output(e, label)) return false;
    return true;
}

static bool take_output(Einsum *e, const char *at, const int counts[LETTERS]) {
    if (*at == 0) { // not said: what comes once
        if (!add_dots(e)) return false;
        for (int label = 0; label < LETTERS; label++)
            if (counts[label] == 1 && !add_output(e, label)) return false;
        return true;
    }
    unsigned char letters[2 * IG_MAX_RANK];
    int n, dots;
    at += 2;
    if (!parse_term(e, &at, letters, &n, &dots)) return false;
    if (*at) return bad(e, "something behind the result");
    for (int i = 0; i <= n; i++) {
        if (i == dots && !add_dots(e)) return false;
        if (i == n) break;
        if (!(e->everywhere & bit(letters[i])))
            return bad(e, "the result has a letter that no operand has");
        if (place_of(&e->output, letters[i]) >= 0) return bad(e, "the result has a letter twice");
        if (!add_output(e, letters[i])) return false;
    }
    return true;
}

// ---- One operand ----

// Letters that come twice are taken along the diagonal; axes of length 1 that broadcast go away.
static bool simplify(const Einsum *e, Term *t) {
    for (int i = 0; i < t->n && t->tensor; i++) {
        for (int k = i + 1; k < t->n && t->tensor; k++) {
            if (t->labels[i] != t->labels[k]) continue;
            int label = t->labels[i];
            if (ig_shape(t->tensor)[i] != ig_shape(t->tensor)[k])
                return ig_fail(e->error, IgErrorShape,
                               "ig_einsum: \"%s\": no diagonal of axes %d and %d of shape %s",
                               e->equation, i, k,
                               ig_shape_text(ig_rank(t->tensor), ig_shape(t->tensor)));
            t->tensor = ig_diagonal(t->tensor, 0, i, k, e->error);
            memmove(t->labels + k, t->labels + k + 1, (size_t)(t->n - k - 1));
            memmove(t->labels + i, t->labels + i + 1, (size_t)(t->n - i - 2));
            t->labels[t->n - 2] = (unsigned char)label;
            t->n--;
            i = k = -1; // from the start again
            break;
        }
    }
    for (int i = t->n - 1; i >= 0 && t->tensor; i--) {
        if (ig_shape(t->tensor)[i] != 1 || e->size[t->labels[i]] == 1) continue;
        t->tensor = ig_squeeze(t->tensor, i, e->error);
        memmove(t->labels + i, t->labels + i + 1, (size_t)(t->n - i - 1));
        t->n--;
    }
    return t->tensor != NULL;
}

// Sums over what nobody needs.
static bool sum_out(const Einsum *e, Term *t, uint64_t needed) {
    int axes[IG_MAX_RANK], n = 0, kept = 0;
    for (int i = 0; i < t->n; i++) {
        if (needed & bit(t->labels[i]))
            t->labels[kept++] = t->labels[i];
        else
            axes[n++] = i;
    }
    t->n = kept;
    if (n) t->tensor = ig_sum_axes(t->tensor, n, axes, false, e->error);
    return t->tensor != NULL;
}

// The axes in another order, given by runs of labels.
static IgTensor *arrange(const Einsum *e, const Term *t, const unsigned char *labels) {
    int axes[IG_MAX_RANK];
    for (int i = 0; i < t->n; i++) axes[i] = place_of(t, labels[i]);
    return t->n ? ig_permute(t->tensor, axes, e->error) : t->tensor;
}

// ---- Two operands ----

typedef struct Run {
    int n;
    unsigned char labels[IG_MAX_RANK];
    int64_t size; // product
} Run;

static Run run_of(const Einsum *e, const Term *t, uint64_t which) {
    Run r = {.size = 1};
    for (int i = 0; i < t->n; i++) {
        if (!(which & bit(t->labels[i]))) continue;
        r.labels[r.n++] = t->labels[i];
        r.size *= e->size[t->labels[i]];
    }
    return r;
}

static IgTensor *as_three(const Einsum *e, const Term *t, const Run *a, const Run *b,
                          const Run *c) {
    unsigned char labels[3 * IG_MAX_RANK];
    const Run *runs[3] = {a, b, c};
    int n = 0;
    for (int i = 0; i < 3; i++)
        for (int k = 0; k < runs[i]->n; k++) labels[n++] = runs[i]->labels[k];
    return ig_reshape(arrange(e, t, labels), 3, (int64_t[]){a->size, b->size, c->size}, e->error);
}

static bool join(const Einsum *e, Term *left, Term *right, uint64_t later) {
    if (!sum_out(e, left, later | labels_of(right)) || !sum_out(e, right, later | labels_of(left)))
        return false;
    uint64_t l = labels_of(left), r = labels_of(right);
    Run stack = run_of(e, left, l & r & later), inner = run_of(e, left, l & r & ~later);
    Run rows = run_of(e, left, l & ~r), columns = run_of(e, right, r & ~l);
    if (stack.n + rows.n + columns.n > IG_MAX_RANK) return bad(e, "a product with too many axes");
    IgTensor *product;
    if (inner.n == 0) {
        IgTensor *a = as_three(e, left, &stack, &rows, &inner);
        IgTensor *b = as_three(e, right, &stack, &inner, &columns);
        product = ig_mul(a, b, e->error);
    } else if (rows.size == 1 && columns.size == 1) {
        IgTensor *a = as_three(e, left, &stack, &rows, &inner);
        IgTensor *b = as_three(e, right, &stack, &columns, &inner);
        product = ig_sum(ig_mul(a, b, e->error), 2, false, e->error);
    } else {
        IgTensor *a = as_three(e, left, &stack, &rows, &inner);
        IgTensor *b = as_three(e, right, &stack, &inner, &columns);
        product = ig_matmul(a, b, e->error);
    }
    const Run *runs[3] = {&stack, &rows, &columns};
    IgShape shape = {0};
    left->n = 0;
    for (int i = 0; i < 3; i++)
        for (int k = 0; k < runs[i]->n; k++) {
            left->labels[left->n++] = runs[i]->labels[k];
            shape.n[shape.rank++] = e->size[runs[i]->labels[k]];
        }
    left->tensor = ig_reshape(product, shape.rank, shape.n, e->error);
    return left->tensor != NULL;
}

// ---- All of them ----

enum { MAX_OPERANDS = 32 };

static bool take_operands(Einsum *e, int n, IgTensor *const *operands, Term *terms, IgType *type) {
    const char *at = e->equation;
    int counts[LETTERS] = {0};
    *type = ig_type(operands[0]);
    for (int i = 0; i < n; i++) {
        if (!ig_same_device("ig_einsum", operands[0], operands[i], e->error) ||
            !take_operand(e, i, &at, operands[i], &terms[i]))
            return false;
        *type = ig_promote(*type, ig_type(operands[i]));
        for (int k = 0; k < terms[i].n; k++)
            if (terms[i].labels[k] < LETTERS) counts[terms[i].labels[k]]++;
        if ((*at == ',') != (i < n - 1))
            return ig_fail(e->error, IgErrorArgument,
                           "ig_einsum: \"%s\": %s operands than the %d that are given", e->equation,
                           *at == ',' ? "more" : "fewer", n);
        if (*at == ',') at++;
    }
    return take_output(e, at, counts);
}

IgTensor *ig_einsum(const char *equation, int n, IgTensor *const *operands, MTLError **error) {
    Einsum e = {.equation = equation ? equation : "", .error = error};
    if (!equation || n < 1 || n > MAX_OPERANDS || !operands) {
        ig_fail(error, IgErrorArgument, "ig_einsum: \"%s\" with %d operands", e.equation, n);
        return NULL;
    }
    for (int i = 0; i < n; i++)
        if (!operands[i]) return NULL;
    IgScope *scope = ig_scope_begin();
    Term terms[MAX_OPERANDS];
    IgType type;
    bool ok = scope && take_operands(&e, n, operands, terms, &type);
    for (int i = 0; ok && i < n; i++) {
        terms[i].tensor = ig_cast(terms[i].tensor, type, error);
        ok = simplify(&e, &terms[i]);
    }
    uint64_t wanted = labels_of(&e.output);
    for (int i = 1; ok && i < n; i++) {
        uint64_t later = wanted;
        for (int k = i + 1; k < n; k++) later |= labels_of(&terms[k]);
        ok = join(&e, &terms[0], &terms[i], later);
    }
    ok = ok && sum_out(&e, &terms[0], wanted);
    // What is only in axes of length 1 that went away has come back from another operand.
    IgTensor *result = ok ? arrange(&e, &terms[0], e.output.labels) : NULL;
    return ig_scope_return(scope, result ? ig_cast(result, type, error) : NULL);
}
