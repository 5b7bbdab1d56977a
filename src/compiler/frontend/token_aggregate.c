// SPDX-License-Identifier: Apache-2.0
// token_aggregate.c: in C++14 and C++17, on which Metal is based, a structure that declares its
// constructors `= default` and no others is an aggregate: A{1, 2.0f}. Clang parses our dialect as
// C++20 (the headers need it), where any declared constructor ends that. What is defaulted where it
// is declared is there without the declaration too, so these are taken out of a program's
// structures. One with another constructor, or an explicit one, is left as it is.
#include "compiler/frontend/tokens_int.h"

// The `{` of the class that the `struct` or `class` at in[i] defines, and the index of its name;
// p->n if it defines none.
static size_t class_body(const TokenPass *p, size_t i, size_t *name) {
    size_t k = i + 1;
    while (
        (tp_is(p, k, T_l_square) && tp_match(p, k) < p->n) ||
        ((tp_is(p, k, T_kw_alignas) || tp_is(p, k, T_kw___attribute)) && tp_match(p, k + 1) < p->n))
        k = tp_match(p, tp_is(p, k, T_l_square) ? k : k + 1) + 1;
    if (!tp_is(p, k, T_identifier)) return p->n;
    *name = k;
    for (int angle = 0; k < p->n; k++) { // A<T *> final : Base<T> {
        angle += tp_is(p, k, T_less) - tp_is(p, k, T_greater) - 2 * tp_is(p, k, T_greatergreater);
        if (angle < 0) break; // a template's parameter
        if (tp_is(p, k, T_l_brace)) return k;
        if (tp_is(p, k, T_semi) || tp_is(p, k, T_l_paren) || tp_is(p, k, T_equal)) break;
    }
    return p->n;
}

// The `(` behind the class's name at in[k], if a constructor of it is declared there; 0: none is.
static size_t constructor_parameters(const TokenPass *p, size_t k, const char *class_name) {
    if (!tp_is_word(p, k, class_name) || tp_is(p, k - 1, T_tilde)) return 0;
    size_t open = k + 1;
    if (tp_is(p, open, T_less)) // A<T>()
        while (open < p->n && !tp_is(p, open++, T_greater))
            if (tp_is(p, open, T_semi) || tp_is(p, open, T_l_brace)) return 0;
    unsigned before = p->in[k - 1].kind;
    bool starts = before == T_l_brace || before == T_semi || before == T_r_brace ||
                  before == T_colon || before == T_kw_constexpr || before == T_kw_inline ||
                  before == T_kw_explicit || before == T_greater || before == T_r_paren;
    return starts && tp_is(p, open, T_l_paren) && tp_match(p, open) < p->n ? open : 0;
}

// The `;` of a constructor that is defaulted here, by the `(` of its parameters; 0: it is not.
// Copies from other spaces than thread's are the program's own.
static size_t end_of_defaulted(const TokenPass *p, size_t open) {
    size_t k = tp_match(p, open);
    for (size_t i = open; i < k; i++)
        if (tp_is_word(p, i, "device") || tp_is_word(p, i, "constant") ||
            tp_is_word(p, i, "threadgroup"))
            return 0;
    while (++k < p->n && !tp_is(p, k, T_equal))
        if (tp_is(p, k, T_semi) || tp_is(p, k, T_l_brace) || tp_is(p, k, T_colon)) return 0;
    return tp_is(p, k + 1, T_kw_default) && tp_is(p, k + 2, T_semi) ? k + 2 : 0;
}

// Where the declaration of the constructor named at in[k] begins; 0: its words are not only those
// that say nothing.
static size_t start_of_defaulted(const TokenPass *p, size_t k) {
    while (tp_is(p, k - 1, T_kw_constexpr) || tp_is(p, k - 1, T_kw_inline)) k--;
    unsigned before = p->in[k - 1].kind;
    return before == T_l_brace || before == T_semi || before == T_r_brace || before == T_colon ? k
                                                                                               : 0;
}

// Goes through the constructors of a class; with `drop` takes them out. Their number, 0 if one of
// them has to stay.
static size_t go_through(const TokenPass *p, size_t body, const char *name, MslToken *drop) {
    size_t n = 0;
    for (size_t k = body + 1; k < p->match[body]; k++) {
        if (tp_is(p, k, T_l_brace)) {
            k = tp_match(p, k);
            continue;
        }
        size_t open = constructor_parameters(p, k, name);
        if (!open) continue;
        size_t start = start_of_defaulted(p, k), end = end_of_defaulted(p, open);
        if (!start || !end) return 0;
        for (size_t i = start; drop && i <= end; i++)
            drop[i] = (MslToken){T_semi, 0, drop[i].location, 0, NULL};
        k = end;
        n++;
    }
    return n;
}

bool tp_aggregates(TokenPass *p, MslToken *tokens) {
    bool dropped = false;
    for (size_t i = 0; i < p->n; i++) {
        size_t name = 0;
        if (!tp_is(p, i, T_kw_struct) && !tp_is(p, i, T_kw_class)) continue;
        size_t body = class_body(p, i, &name);
        if (body >= p->n || tp_match(p, body) >= p->n ||
            bridge_in_system(p->job, p->in[i].location) ||
            !go_through(p, body, p->in[name].text, NULL))
            continue;
        go_through(p, body, p->in[name].text, tokens);
        dropped = true;
    }
    return dropped;
}
