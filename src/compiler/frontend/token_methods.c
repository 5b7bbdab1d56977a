// SPDX-License-Identifier: Apache-2.0
// token_methods.c: a member function without an address space belongs to objects in thread space,
// in Metal. Clang's dialect would give it a generic `this`, which calls through device objects that
// Metal rejects and stops deduction of `thread T &` from members. So the user's member functions
// get the qualifier spelled out; our own headers mean generic and are left alone. Works on tokens:
// a parameter list in a class that is not a constructor's, followed by a body, `;`,
// `= default` or a trailing return type.
#include "compiler/frontend/tokens_int.h"
#include "base/array.h"
#include <stdlib.h>

// Where the declaration that contains in[i] starts, inside its class or namespace.
static size_t start_of(const TokenPass *p, size_t i) {
    while (i > 0) {
        unsigned kind = p->in[i - 1].kind;
        if (kind == T_semi || kind == T_l_brace || kind == T_r_brace || kind >= T_annot_cxxscope)
            break;
        bool access = kind == T_colon && i > 1 &&
                      (tp_is(p, i - 2, T_kw_public) || tp_is(p, i - 2, T_kw_private) ||
                       tp_is(p, i - 2, T_kw_protected));
        if (access) break;
        if ((kind == T_r_paren || kind == T_r_square) && tp_match(p, i - 1) < i)
            i = tp_match(p, i - 1);
        else
            i--;
    }
    return i;
}

// The end of the qualifiers after the `)` at in[close]: the token that decides. `spaced` tells if
// an address space is among them.
static size_t after_qualifiers(const TokenPass *p, size_t close, bool *spaced) {
    size_t k = close + 1;
    *spaced = false;
    for (;; k++) {
        unsigned kind = tp_at(p, k)->kind;
        if (kind == T_identifier) {
            bool space = tp_space(tp_at(p, k)) != NULL;
            *spaced |= space;
            if (!space && !tp_is_word(p, k, "override") && !tp_is_word(p, k, "final")) return k;
        } else if (kind == T_l_square && tp_is(p, k + 1, T_l_square) && tp_match(p, k) < p->n) {
            k = tp_match(p, k);
        } else if (kind == T_kw_noexcept || kind == T_kw___attribute) {
            if (tp_is(p, k + 1, T_l_paren) && tp_match(p, k + 1) < p->n) k = tp_match(p, k + 1);
        } else if (kind == T_kw___private || kind == T_kw___global || kind == T_kw___local ||
                   kind == T_kw___constant || kind == T_kw___generic) {
            *spaced = true;
        } else if (kind != T_kw_const && kind != T_kw_volatile && kind != T_amp &&
                   kind != T_ampamp) {
            return k;
        }
    }
}

// The index of the token before the template arguments that end with the `>` at in[close].
static size_t before_arguments(const TokenPass *p, size_t close) {
    int depth = 0;
    for (size_t k = close; k > 0; k--) {
        depth += tp_is(p, k, T_greater) + 2 * tp_is(p, k, T_greatergreater) - tp_is(p, k, T_less);
        if (depth == 0) return k - 1;
    }
    return 0;
}

// The name's index for a parameter list at in[open], or of `operator`; SIZE_MAX if it is not a
// function's. in[from] is where the declaration starts.
static size_t function_name(const TokenPass *p, size_t open, size_t from) {
    if (tp_is(p, from, T_comma)) return SIZE_MAX; // the rest of a constructor's initialisers
    for (size_t k = from; k < open; k++) {
        unsigned kind = p->in[k].kind;
        if (kind == T_kw_template && tp_is(p, k + 1, T_less)) { // its parameters
            int angle = 0;
            for (k++; k < open; k++) {
                if (tp_is(p, k, T_l_paren) && tp_match(p, k) < open) k = tp_match(p, k);
                angle += tp_is(p, k, T_less) - tp_is(p, k, T_greater) -
                         2 * tp_is(p, k, T_greatergreater);
                if (angle <= 0) break;
            }
            continue;
        }
        if ((kind == T_l_paren || kind == T_l_square) && tp_match(p, k) < open) k = tp_match(p, k);
        if (kind == T_kw_operator) return k;
        if (kind == T_colon) return SIZE_MAX; // initialisers
        if (kind == T_kw_static || kind == T_kw_friend || kind == T_kw_typedef ||
            kind == T_kw_using || kind == T_equal || kind == T_kw_static_assert ||
            kind == T_kw_concept || kind == T_tilde || kind == T_kw_enum)
            return SIZE_MAX;
    }
    if (open <= from) return SIZE_MAX;
    size_t name = tp_is(p, open - 1, T_greater) ? before_arguments(p, open - 1) : open - 1;
    return name >= from && tp_is(p, name, T_identifier) ? name : SIZE_MAX;
}

static bool ends_declarator(const TokenPass *p, size_t k) {
    unsigned kind = tp_at(p, k)->kind, next = tp_at(p, k + 1)->kind;
    if (kind == T_equal) return next == T_kw_default || next == T_kw_delete;
    return kind == T_l_brace || kind == T_semi || kind == T_arrow || kind == T_kw_requires;
}

static void remember(TokenPass *p, const char *class_name, const char *name) {
    if (!array_reserve(&p->methods, &p->capacity_methods, p->n_methods + 1)) {
        p->failed = true;
        return;
    }
    p->methods[p->n_methods++] = (TokenMethod){class_name, name};
}

static bool remembered(const TokenPass *p, const char *class_name, const char *name) {
    for (size_t i = 0; i < p->n_methods; i++)
        if (strcmp(p->methods[i].class_name, class_name) == 0 &&
            strcmp(p->methods[i].name, name) == 0)
            return true;
    return false;
}

// `Class<...>::name(` : the class before the name at in[name]; NULL if the name is not qualified.
static const char *qualifying_class(const TokenPass *p, size_t name) {
    if (name < 2 || !tp_is(p, name - 1, T_coloncolon)) return NULL;
    size_t k = tp_is(p, name - 2, T_greater) ? before_arguments(p, name - 2) : name - 2;
    return tp_is(p, k, T_identifier) ? p->in[k].text : NULL;
}

void tp_method_space(TokenPass *p, size_t close) {
    size_t open = tp_match(p, close);
    bool in_class = p->n_scopes && p->scopes[p->n_scopes - 1].kind == SCOPE_CLASS;
    bool spaced;
    if (open >= close || p->paren || tp_in_function(p)) return;
    size_t end = after_qualifiers(p, close, &spaced);
    if (spaced || !ends_declarator(p, end)) return;
    size_t from = start_of(p, open), name = function_name(p, open, from);
    if (name == SIZE_MAX || bridge_in_system(p->job, p->in[close].location)) return;
    const char *text = tp_is(p, name, T_kw_operator) ? "operator" : p->in[name].text;
    if (in_class) {
        // operator()(...): the first pair of parentheses is the name.
        if (tp_is(p, name, T_kw_operator) && open == name + 1) return;
        if (strcmp(text, tp_class_name(p)) == 0 ||
            name == from) // constructor, or a macro's leftovers
            if (!tp_is(p, name, T_kw_operator)) return;
        remember(p, tp_class_name(p), text);
    } else {
        const char *class_name = qualifying_class(p, name);
        if (!class_name || !remembered(p, class_name, text) ||
            (tp_is(p, name, T_kw_operator) && open == name + 1))
            return;
    }
    tp_word(p, "__private", p->in[close].location);
}
