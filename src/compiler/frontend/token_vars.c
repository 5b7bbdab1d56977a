// SPDX-License-Identifier: Apache-2.0
// token_vars.c: declarations the dialect spells differently. Threadgroup variables inside functions
// become references to an allocation named by a local tag struct, so that every instantiation of a
// template has its own; function-pointer template parameters become function types, because a
// pointer would get an address space.
#include "compiler/frontend/tokens_int.h"
#include <stdlib.h>

// Past the body of a type that is defined in the declaration, `struct {...} name`; else j itself.
static size_t after_definition(const TokenPass *p, size_t j) {
    size_t k = j;
    while (tp_is(p, k, T_kw_const) || tp_is(p, k, T_kw_volatile)) k++;
    if (!tp_is(p, k, T_kw_struct) && !tp_is(p, k, T_kw_union) && !tp_is(p, k, T_kw_class)) return j;
    k += tp_is(p, k + 1, T_identifier) ? 2 : 1;
    return tp_is(p, k, T_l_brace) && tp_match(p, k) < p->n ? tp_match(p, k) + 1 : j;
}

// The index of the first declarator's name in `threadgroup TYPE name ...` at in[i], 0 if the
// declaration is not a plain variable (pointer, reference, function).
static size_t declarator_name(const TokenPass *p, size_t i) {
    int angle = 0;
    for (size_t j = after_definition(p, i + 1); j < p->n; j++) {
        unsigned kind = p->in[j].kind, next = tp_at(p, j + 1)->kind;
        if (kind == T_less)
            angle++;
        else if (kind == T_greater)
            angle--;
        else if (kind == T_greatergreater)
            angle -= 2;
        else if (angle > 0)
            continue;
        else if (kind == T_star || kind == T_amp || kind == T_ampamp || kind == T_l_brace ||
                 kind == T_semi || kind == T_eof)
            return 0;
        else if (kind == T_l_paren) {
            if (next == T_star || next == T_amp) return 0; // threadgroup T (*p)[4]
            j = tp_match(p, j);
        } else if (kind == T_identifier && j > i + 1 &&
                   (next == T_l_square || next == T_semi || next == T_comma || next == T_equal ||
                    next == T_l_brace))
            return j;
    }
    return 0;
}

static bool begins_statement(const TokenPass *p) {
    if (!p->out->n) return true;
    unsigned kind = p->out->at[p->out->n - 1].kind;
    return kind == T_semi || kind == T_l_brace || kind == T_r_brace || kind == T_colon ||
           kind == T_r_paren || kind == T_r_square || kind == T_kw_const || kind == T_kw_volatile ||
           kind == T_kw_static || kind >= T_annot_cxxscope;
}

// Takes the specifiers in front of `threadgroup` (cv, static, alignas) out of the output; gives the
// alignas(...) tokens in [*from, *to) of `taken`.
static bool take_specifiers(TokenPass *p, TokenList *taken) {
    for (;;) {
        unsigned kind = p->out->n ? p->out->at[p->out->n - 1].kind : T_eof;
        if (kind == T_kw_const || kind == T_kw_volatile || kind == T_kw_static) {
            p->out->n--;
            continue;
        }
        if (kind != T_r_paren) return false;
        size_t k = p->out->n;
        int depth = 0;
        while (k-- > 0) {
            depth += (p->out->at[k].kind == T_r_paren) - (p->out->at[k].kind == T_l_paren);
            if (depth == 0) break;
        }
        if (k == 0 || k == SIZE_MAX || p->out->at[k - 1].kind != T_kw_alignas) return false;
        for (size_t q = k - 1; q < p->out->n; q++) token_list_push(taken, p->out->at[q]);
        p->out->n = k - 1;
    }
}

// struct tag {}; typedef TYPE t[dims]; threadgroup t &name = __msl_tg<t, tag>();
static void emit_variable(TokenPass *p, size_t type_from, size_t type_to, size_t name,
                          size_t dims_to, const TokenList *align) {
    uint32_t at = p->in[name].location;
    unsigned id = p->next_id++;
    const char *tag = arena_format(p->arena, "__tg_%s_%u", p->in[name].text, id);
    const char *type = arena_format(p->arena, "__tg_t_%s_%u", p->in[name].text, id);
    tp_word(p, "struct", at);
    for (size_t k = 0; k < align->n; k++) token_list_push(p->out, align->at[k]);
    tp_word(p, tag, at);
    tp_punct(p, T_l_brace, at), tp_punct(p, T_r_brace, at), tp_punct(p, T_semi, at);
    tp_word(p, "typedef", at);
    for (size_t k = type_from; k < type_to; k++) {
        const char *space = tp_space(&p->in[k]); // of what a pointer in the type points to
        if (space)
            tp_word(p, space, p->in[k].location);
        else if (!tp_is(p, k, T_kw_const) && !tp_is(p, k, T_kw_static))
            tp_copy(p, k, k + 1);
    }
    tp_word(p, type, at);
    tp_copy(p, name + 1, dims_to);
    tp_punct(p, T_semi, at);
    tp_word(p, "__local", at), tp_word(p, type, at);
    tp_punct(p, T_amp, at);
    tp_copy(p, name, name + 1);
    tp_punct(p, T_equal, at);
    tp_word(p, "__msl_tg", at);
    tp_punct(p, T_less, at), tp_word(p, type, at), tp_punct(p, T_comma, at), tp_word(p, tag, at),
        tp_punct(p, T_greater, at);
    tp_punct(p, T_l_paren, at), tp_punct(p, T_r_paren, at), tp_punct(p, T_semi, at);
}

// The declarators of a declaration, from the name at in[k] on; the index of its `;`.
static size_t emit_declarators(TokenPass *p, size_t type_from, size_t type_to, size_t k,
                               const TokenList *align) {
    for (;;) {
        size_t dims = k + 1;
        while (tp_is(p, dims, T_l_square) && !tp_is(p, dims + 1, T_l_square) &&
               tp_match(p, dims) < p->n)
            dims = tp_match(p, dims) + 1;
        if (!tp_is(p, k, T_identifier)) break;
        emit_variable(p, type_from, type_to, k, dims, align);
        k = dims;
        if (tp_is(p, k, T_equal) || tp_is(p, k, T_l_brace))
            tp_warn(p, k, "initializer of a variable in the threadgroup address space is ignored");
        while (!tp_is(p, k, T_comma) && !tp_is(p, k, T_semi) && !tp_is(p, k, T_eof)) {
            bool opens =
                tp_is(p, k, T_l_paren) || tp_is(p, k, T_l_brace) || tp_is(p, k, T_l_square);
            k = opens && tp_match(p, k) < p->n ? tp_match(p, k) + 1 : k + 1;
        }
        if (!tp_is(p, k, T_comma)) break;
        k++;
    }
    return k < p->n - 1 ? k : p->n - 2;
}

size_t tp_threadgroup_variable(TokenPass *p, size_t i) {
    size_t name =
        tp_in_function(p) && p->paren == 0 && begins_statement(p) ? declarator_name(p, i) : 0;
    if (!name) return 0;
    TokenList align = {0};
    take_specifiers(p, &align);
    size_t end = emit_declarators(p, i + 1, name, name, &align);
    p->failed |= align.failed;
    token_list_free(&align);
    return end;
}

size_t tp_threadgroup_behind_type(TokenPass *p, size_t i) {
    unsigned after = tp_at(p, i + 2)->kind;
    size_t start = i;
    if (!tp_in_function(p) || p->paren || !tp_is(p, i + 1, T_identifier) ||
        (after != T_l_square && after != T_semi))
        return 0;
    while (start > 0) { // the type: a name, perhaps with arguments, pointers
        unsigned kind = p->in[start - 1].kind;
        if (kind == T_semi || kind == T_l_brace || kind == T_r_brace || kind >= T_annot_cxxscope)
            break;
        if (kind == T_l_paren || kind == T_r_paren || kind == T_equal) return 0;
        start--;
    }
    if (start == i) return 0;
    p->out->n = tp_declaration_start(p);
    return emit_declarators(p, start, i, i + 1, &(TokenList){0});
}

MslToken *tp_function_parameters(TokenPass *p) {
    MslToken *o = base_arena_alloc(p->arena, p->n, sizeof *o);
    size_t n = 0, end = 0;
    if (!o) return NULL;
    for (size_t i = 0; i < p->n; i++) {
        if (i >= end && tp_is(p, i, T_kw_template) &&
            tp_is(p, i + 1, T_less)) { // its parameter list
            int angle = 0, paren = 0;
            for (end = i + 1; end < p->n; end++) {
                unsigned kind = p->in[end].kind;
                paren += (kind == T_l_paren) - (kind == T_r_paren);
                if (kind == T_semi || kind == T_l_brace) break;
                if (paren > 0) continue;
                angle += (kind == T_less) - (kind == T_greater) - 2 * (kind == T_greatergreater);
                if (angle <= 0) break;
            }
        }
        bool pointer = tp_is(p, i, T_l_paren) && tp_is(p, i + 1, T_star);
        if (pointer && i < end && tp_is(p, i + 2, T_identifier) && tp_is(p, i + 3, T_r_paren) &&
            tp_is(p, i + 4, T_l_paren)) {
            o[n++] = p->in[i + 2]; // R (*f)(A) -> R f(A)
            i += 3;
            continue;
        }
        o[n++] = p->in[i];
    }
    p->in = o, p->n = n;
    // using F = R (*)(A): a reference has no address space to disagree about.
    for (size_t i = 0; i + 3 < n; i++)
        if (o[i].kind == T_kw_using && o[i + 1].kind == T_identifier && o[i + 2].kind == T_equal)
            for (i += 3; i + 3 < n && o[i].kind != T_semi; i++)
                if (o[i].kind == T_l_paren && o[i + 1].kind == T_star &&
                    o[i + 2].kind == T_r_paren && o[i + 3].kind == T_l_paren)
                    o[i + 1] = (MslToken){T_amp, 0, o[i + 1].location, 0, NULL};
    return o;
}
