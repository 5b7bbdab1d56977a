// SPDX-License-Identifier: Apache-2.0
// token_globals.c: variables at program scope that the host or the thread fills in.
// Built-ins, `uint2 gid [[thread_position_in_grid]];` (Metal 3.1): no variable could hold them,
// since each thread has its own. The declaration becomes a function that asks for the position, and
// every use of the name a call of it.
// Resources, `texture2d<float> t [[texture(0)]];` (Metal 3.2): the declaration becomes that of an
// external variable in the constant space, which bindings.c finds.
#include "compiler/frontend/tokens_int.h"
#include "base/array.h"
#include <stdlib.h>

enum { VERSION_GLOBALS = 31, VERSION_BINDINGS = 32 };

static bool is_qualifier(const MslToken *t) {
    return t->kind == T_kw_const || t->kind == T_kw_static || t->kind == T_kw_extern ||
           (t->kind == T_identifier &&
            (!strcmp(t->text, "__constant") || !strcmp(t->text, "constant")));
}

size_t tp_global_builtin(TokenPass *p, size_t i) {
    bool one = tp_is(p, i + 2, T_identifier) && tp_is(p, i + 3, T_r_square) &&
               tp_is(p, i + 4, T_r_square) && tp_is(p, i + 5, T_semi);
    bool outside =
        !p->paren && (!p->n_scopes || p->scopes[p->n_scopes - 1].kind == SCOPE_NAMESPACE);
    int builtin = one && outside ? rf_builtin_from_name(p->in[i + 2].text) : -1;
    size_t start = builtin >= 0 ? tp_declaration_start(p) : 0, n = p->out->n;
    if (builtin < 0 || start + 1 >= n || p->out->at[n - 1].kind != T_identifier) return 0;
    MslToken name = p->out->at[n - 1];
    if (p->version < VERSION_GLOBALS)
        tp_report(p, i + 2, "'%s' at program scope needs Metal %d.%d", p->in[i + 2].text,
                  VERSION_GLOBALS / 10, VERSION_GLOBALS % 10);
    TokenList type = {0};
    for (size_t k = start; k + 1 < n; k++)
        if (!is_qualifier(&p->out->at[k])) token_list_push(&type, p->out->at[k]);
    p->failed |= type.failed || !array_more(&p->globals, p->n_globals);
    if (!p->failed) {
        p->globals[p->n_globals++] = (TokenGlobal){.name = name.text};
        p->out->n = start;
        tp_word(p, "static", name.location), tp_word(p, "inline", name.location);
        for (size_t k = 0; k < type.n; k++) token_list_push(p->out, type.at[k]);
        token_list_push(p->out, name);
        tp_punct(p, T_l_paren, name.location), tp_punct(p, T_r_paren, name.location);
        tp_punct(p, T_l_brace, name.location);
        tp_word(p, "return", name.location), tp_word(p, "metal", name.location);
        tp_punct(p, T_coloncolon, name.location), tp_word(p, "__builtin_at", name.location);
        tp_punct(p, T_less, name.location);
        for (size_t k = 0; k < type.n; k++) token_list_push(p->out, type.at[k]);
        tp_punct(p, T_comma, name.location), tp_number(p, builtin, name.location);
        tp_punct(p, T_greater, name.location);
        tp_punct(p, T_l_paren, name.location), tp_punct(p, T_r_paren, name.location);
        tp_punct(p, T_semi, name.location), tp_punct(p, T_r_brace, name.location);
    }
    token_list_free(&type);
    return i + 5;
}

// The index where the scope of a name declared at in[i] ends: its block, or the function whose
// parameter it is.
static size_t scope_end(const TokenPass *p, size_t i) {
    for (size_t k = i + 1; k < p->n; k++) {
        unsigned kind = p->in[k].kind;
        if ((kind == T_l_paren || kind == T_l_brace || kind == T_l_square) && tp_match(p, k) < p->n)
            k = tp_match(p, k);
        else if (kind == T_r_brace)
            return k;
        else if (kind == T_r_paren)
            for (k++; k < p->n; k++) { // behind the parameters
                if (tp_is(p, k, T_l_brace)) return tp_match(p, k);
                if (tp_is(p, k, T_semi) || tp_is(p, k, T_r_brace)) return k;
                if (tp_is(p, k, T_l_square) && tp_match(p, k) < p->n) k = tp_match(p, k);
            }
    }
    return p->n;
}

// `uint gid`, `auto gid`: another thing of that name.
static bool is_declared(const TokenPass *p, size_t i) {
    static const unsigned types[] = {T_kw_auto,  T_kw_bool, T_kw_char,     T_kw_int, T_kw_short,
                                     T_kw_float, T_kw_half, T_kw_unsigned, T_kw_long};
    if (!i) return false;
    unsigned before = p->in[i - 1].kind;
    if (before == T_identifier) return true;
    for (size_t k = 0; k < sizeof types / sizeof *types; k++)
        if (before == types[k]) return true;
    return (before == T_greater || before == T_amp || before == T_star) &&
           tp_is(p, i + 1, T_l_square) && tp_is(p, i + 2, T_l_square);
}

bool tp_global_use(TokenPass *p, size_t i) {
    for (size_t k = 0; k < p->n_globals; k++) {
        if (strcmp(p->in[i].text, p->globals[k].name) != 0) continue;
        if (i < p->globals[k].hidden_until) return false;
        if (is_declared(p, i)) {
            p->globals[k].hidden_until = scope_end(p, i);
            return false;
        }
        tp_copy(p, i, i + 1);
        tp_punct(p, T_l_paren, p->in[i].location), tp_punct(p, T_r_paren, p->in[i].location);
        return true;
    }
    return false;
}

// ---- resources ----

void tp_declare_extern(TokenPass *p, uint32_t at) {
    size_t k = tp_declaration_start(p);
    for (size_t j = k; j < p->out->n;) {
        unsigned kind = p->out->at[j].kind;
        if (kind == T_kw_static || kind == T_kw_inline || kind == T_kw_constexpr) {
            memmove(p->out->at + j, p->out->at + j + 1, (p->out->n - j - 1) * sizeof *p->out->at);
            p->out->n--;
        } else {
            j++;
        }
    }
    if (k < p->out->n && p->out->at[k].kind != T_kw_extern)
        token_list_insert(p->out, k, (MslToken){T_identifier, 0, at, 6, "extern"});
}

// Where the qualifiers of the variable itself begin: behind the last `*` of its declarator, else at
// the start of the declaration. SIZE_MAX: it is a reference, which has none.
static size_t own_qualifiers(const TokenPass *p, size_t start) {
    size_t at = start;
    int angle = 0;
    for (size_t k = start; k < p->out->n; k++) {
        unsigned kind = p->out->at[k].kind;
        angle += (kind == T_less) - (kind == T_greater) - 2 * (kind == T_greatergreater);
        if (angle) continue;
        if (kind == T_comma) at = start; // the next declarator
        if (kind == T_star) at = k + 1;
        if (kind == T_amp) at = SIZE_MAX;
    }
    return at;
}

// The variable lies in the constant space, also where the source does not say so.
static void place_in_constant(TokenPass *p, uint32_t at) {
    size_t start = tp_declaration_start(p), own = own_qualifiers(p, start);
    bool behind_star = own != start;
    if (own == SIZE_MAX) return;
    for (size_t k = own; k < p->out->n; k++) {
        const MslToken *t = &p->out->at[k];
        if (t->kind == T_identifier && t->text && strcmp(t->text, "__constant") == 0) return;
    }
    const MslToken *first = own < p->out->n ? &p->out->at[own] : NULL; // NULL: nothing is declared
    if (!behind_star && first && first->text && strcmp(first->text, "extern") == 0) own++;
    token_list_insert(p->out, own, (MslToken){T_identifier, 0, at, 10, "__constant"});
    token_list_insert(p->out, own, (MslToken){T_identifier, 0, at, 5, "const"});
}

bool tp_binding(TokenPass *p, size_t from, size_t to, size_t end) {
    size_t k = from;
    while (k < to && !tp_is_word(p, k, "buffer") && !tp_is_word(p, k, "texture") &&
           !tp_is_word(p, k, "sampler") && !tp_is_word(p, k, "threadgroup"))
        k = tp_is(p, k, T_l_paren) && tp_match(p, k) < to ? tp_match(p, k) + 1 : k + 1;
    if (k >= to) return false;
    if (p->version < VERSION_BINDINGS)
        tp_report(p, k, "'%s' at program scope needs Metal %d.%d", p->in[k].text,
                  VERSION_BINDINGS / 10, VERSION_BINDINGS % 10);
    if (tp_is(p, end, T_equal) || tp_is(p, end, T_l_brace))
        tp_report(p, k, "a variable that is bound to a resource cannot be initialised");
    tp_declare_extern(p, p->in[k].location);
    place_in_constant(p, p->in[k].location);
    return true;
}
