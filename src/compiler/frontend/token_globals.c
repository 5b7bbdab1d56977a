// SPDX-License-Identifier: Apache-2.0
// token_globals.c: built-ins at program scope, `uint2 gid [[thread_position_in_grid]];` (Metal
// 3.1). No variable could hold them, since each thread has its own. The declaration becomes a
// function that asks for the position, and every use of the name a call of it.
#include "compiler/frontend/tokens_int.h"
#include <stdlib.h>

enum { VERSION_GLOBALS = 31 };

static bool is_qualifier(const MslToken *t) {
    return t->kind == T_kw_const || t->kind == T_kw_static || t->kind == T_kw_extern ||
           (t->kind == T_identifier &&
            (!strcmp(t->text, "__constant") || !strcmp(t->text, "constant")));
}

static void push_number(TokenPass *p, int number, uint32_t at) {
    char *text = arena_format(p->arena, "%d", number);
    p->failed |= !text;
    if (text)
        token_list_push(p->out,
                        (MslToken){T_numeric_constant, 0, at, (uint32_t)strlen(text), text});
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
    TokenGlobal *globals = realloc(p->globals, (p->n_globals + 1) * sizeof *globals);
    p->failed |= type.failed || !globals;
    if (globals) p->globals = globals;
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
        tp_punct(p, T_comma, name.location), push_number(p, builtin, name.location);
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
