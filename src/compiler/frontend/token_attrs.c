// SPDX-License-Identifier: Apache-2.0
// token_attrs.c: MSL attributes become annotations that reflection reads from the AST.
// GNU form, because that one belongs to the declaration wherever it stands: before a declarator,
// after a name, after array bounds. attributes.def says what is known and how its arguments travel.
#include "compiler/frontend/tokens_int.h"
#include <stdlib.h>

typedef enum Treatment { ANNOTATE, TEXT, CLANG, DROP, UNKNOWN } Treatment;

static Treatment treatment(const MslToken *t) {
    static const struct {
        const char *name;
        Treatment how;
    } table[] = {
#define A(name, how) {#name, how},
#include "compiler/frontend/attributes.def"
#undef A
    };
    if (!t->text || t->kind == T_string_literal || t->kind == T_numeric_constant) return UNKNOWN;
    for (size_t i = 0; i < sizeof table / sizeof *table; i++)
        if (strcmp(table[i].name, t->text) == 0) return table[i].how;
    return UNKNOWN;
}

// The source text of in[from, to), one space between tokens.
static const char *spell(TokenPass *p, size_t from, size_t to) {
    size_t n = 0;
    for (size_t i = from; i < to; i++) n += p->in[i].n_text + 3;
    char *s = base_arena_alloc(p->arena, n + 1, 1), *e = s;
    if (!s) return NULL;
    for (size_t i = from; i < to; i++) {
        const MslToken *t = &p->in[i];
        const char *punct = t->kind == T_coloncolon ? "::"
                            : t->kind == T_comma    ? ","
                            : t->kind == T_less     ? "<"
                            : t->kind == T_greater  ? ">"
                            : t->kind == T_minus    ? "-"
                                                    : "";
        const char *text = t->text ? t->text : punct;
        size_t k = t->text ? t->n_text : strlen(punct);
        memcpy(e, text, k);
        e += k;
    }
    *e = 0;
    return s;
}

static void open_annotation(TokenPass *p, uint32_t at) {
    tp_word(p, "__attribute__", at);
    tp_punct(p, T_l_paren, at), tp_punct(p, T_l_paren, at);
    tp_word(p, "annotate", at);
    tp_punct(p, T_l_paren, at);
}

static void close_annotation(TokenPass *p, uint32_t at) {
    for (int i = 0; i < 3; i++) tp_punct(p, T_r_paren, at);
    p->attr_end = p->out->n;
}

static const char *prefixed(TokenPass *p, const char *name) {
    return arena_format(p->arena, "msl.%s", name);
}

void tp_annotate(TokenPass *p, const char *name, uint32_t at) {
    open_annotation(p, at);
    tp_string(p, prefixed(p, name), at);
    close_annotation(p, at);
}

// A further argument, of which only the type is looked at: `(T *)0`.
static void type_argument(TokenPass *p, size_t from, size_t to) {
    uint32_t at = p->in[from].location;
    tp_punct(p, T_comma, at), tp_punct(p, T_l_paren, at);
    tp_word(p, "__private", at);
    tp_copy(p, from, to);
    tp_punct(p, T_star, at), tp_punct(p, T_r_paren, at);
    tp_number(p, 0, at);
}

// Whether the attribute at in[from] says a place, and in[k, end) is not just a number: a function
// constant may give it. Clang wants a constant there, and gets -1 then.
static bool may_be_placed(const TokenPass *p, size_t from, size_t k, size_t end) {
    static const char *const names[] = {"buffer", "texture", "sampler", "threadgroup", "color"};
    bool named = false, word = false;
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        named |= tp_is_word(p, from, names[i]);
    for (; k < end; k++) word |= tp_is(p, k, T_identifier);
    return named && word;
}

static void placed_argument(TokenPass *p, size_t from, size_t to) {
    uint32_t at = p->in[from].location;
    tp_word(p, "__builtin_constant_p", at);
    for (int i = 0; i < 2; i++) {
        if (i) { // a number, also of a scoped enumeration
            tp_punct(p, T_question, at);
            tp_punct(p, T_l_paren, at), tp_word(p, "int", at), tp_punct(p, T_r_paren, at);
        }
        tp_punct(p, T_l_paren, at);
        tp_copy(p, from, to);
        tp_punct(p, T_r_paren, at);
    }
    tp_punct(p, T_colon, at), tp_punct(p, T_minus, at), tp_number(p, 1, at);
}

// One attribute, in[from, to) without its comma.
static void annotate(TokenPass *p, size_t from, size_t to, bool as_text) {
    const MslToken *t = &p->in[from];
    uint32_t at = t->location;
    open_annotation(p, at);
    tp_string(p, prefixed(p, t->text), at);
    size_t close = from + 1 < to && tp_is(p, from + 1, T_l_paren) ? tp_match(p, from + 1) : 0;
    for (size_t k = from + 2; close && close < to && k < close;) {
        size_t end = k;
        while (end < close && !tp_is(p, end, T_comma)) {
            bool opens =
                tp_is(p, end, T_l_paren) || tp_is(p, end, T_l_brace) || tp_is(p, end, T_l_square);
            end = opens && tp_match(p, end) < close ? tp_match(p, end) + 1 : end + 1;
        }
        tp_punct(p, T_comma, at);
        if (as_text)
            tp_string(p, spell(p, k, end), at);
        else if (may_be_placed(p, from, k, end))
            placed_argument(p, k, end);
        else
            tp_copy(p, k, end);
        if (tp_is_word(p, from, "imageblock_data")) type_argument(p, k, end);
        k = end + 1;
    }
    close_annotation(p, at);
}

// Whether the parameter whose attributes start at in[i] has a type but no name.
static bool unnamed_parameter(const TokenPass *p, size_t i) {
    unsigned next = tp_at(p, tp_match(p, i) + 1)->kind;
    if (!p->paren || (next != T_comma && next != T_r_paren)) return false;
    size_t k = i;
    int depth = 0;
    while (k > 0) { // back to the start of the parameter
        unsigned kind = p->in[k - 1].kind;
        depth += kind == T_greater || kind == T_r_paren || kind == T_r_square;
        depth += 2 * (kind == T_greatergreater);
        depth -= kind == T_less || kind == T_l_paren || kind == T_l_square;
        if (depth < 0 || (depth == 0 && kind == T_comma)) break;
        k--;
    }
    bool typed = false;
    for (; k < i; k++) {
        const MslToken *t = &p->in[k];
        if (t->kind == T_less) {
            for (int d = 0; k < i; k++) {
                d += tp_is(p, k, T_less) - tp_is(p, k, T_greater) -
                     2 * tp_is(p, k, T_greatergreater);
                if (d <= 0) break;
            }
        } else if (t->kind == T_identifier) {
            bool space = tp_is_word(p, k, "device") || tp_is_word(p, k, "constant") ||
                         tp_is_word(p, k, "threadgroup") || tp_is_word(p, k, "thread");
            bool qualified = tp_is(p, k + 1, T_coloncolon);
            if (typed && !space && !qualified && !tp_is(p, k - 1, T_coloncolon))
                return false; // the name
            typed |= !space && !qualified;
        } else if (t->kind >= T_kw_auto && t->kind != T_kw_const && t->kind != T_kw_volatile &&
                   t->kind != T_kw_struct) {
            typed = true;
        }
    }
    return typed;
}

// Moves out[from, n) to `start`.
static void move_to_front(TokenPass *p, size_t start, size_t from) {
    size_t n = p->out->n - from, moved = 0;
    MslToken *copy = n ? malloc(n * sizeof *copy) : NULL;
    if (!copy) {
        p->failed |= n != 0;
        return;
    }
    memcpy(copy, p->out->at + from, n * sizeof *copy);
    memmove(p->out->at + start + n, p->out->at + start, (from - start) * sizeof *copy);
    for (; moved < n; moved++) p->out->at[start + moved] = copy[moved];
    free(copy);
}

// The end of the attribute at in[k], before in[last]: its comma, or the next name after a whole
// attribute, for Metal lets a space separate two as well.
static size_t attribute_end(const TokenPass *p, size_t k, size_t last) {
    size_t stop = k;
    while (stop < last && !tp_is(p, stop, T_comma)) {
        bool opens =
            tp_is(p, stop, T_l_paren) || tp_is(p, stop, T_l_square) || tp_is(p, stop, T_l_brace);
        bool whole = stop > k && !tp_is(p, stop - 1, T_coloncolon);
        if (whole && tp_is(p, stop, T_identifier)) break;
        stop = opens && tp_match(p, stop) < last ? tp_match(p, stop) + 1 : stop + 1;
    }
    return stop;
}

size_t tp_attributes(TokenPass *p, size_t i) {
    size_t end = tp_match(p, i), last = tp_match(p, i + 1);
    if (end >= p->n || last != end - 1) return 0;
    const MslToken *before = p->out->n ? &p->out->at[p->out->n - 1] : NULL;
    bool templated = before && before->kind == T_kw_template;
    bool scoped = tp_is(p, i + 2, T_kw_using) ||
                  (tp_is(p, i + 2, T_identifier) && tp_is(p, i + 3, T_coloncolon));
    if (scoped && !templated) {
        tp_copy(p, i, end + 1); // [[clang::...]], [[using clang: ...]]
        return end;
    }
    if (unnamed_parameter(p, i))
        tp_word(p, arena_format(p->arena, "__unnamed_%u", p->next_id++), p->in[i].location);
    // `name [[id(0)]][8]`: the bounds come first.
    size_t after = end;
    while (tp_is(p, after + 1, T_l_square) && !tp_is(p, after + 2, T_l_square) &&
           tp_match(p, after + 1) < p->n) {
        size_t bound = tp_match(p, after + 1);
        tp_copy(p, after + 1, bound + 1);
        after = bound;
    }
    // After the parameter list of a function: Clang wants them in front of the declaration.
    size_t start = before && before->kind == T_r_paren && p->attr_end != p->out->n && !p->paren &&
                           !tp_in_function(p)
                       ? tp_declaration_start(p)
                       : SIZE_MAX;
    bool outside = !p->paren && !tp_in_function(p) &&
                   (!p->n_scopes || p->scopes[p->n_scopes - 1].kind == SCOPE_NAMESPACE);
    bool binding = outside && start == SIZE_MAX && tp_binding(p, i + 2, last, after + 1);
    size_t from = p->out->n;
    for (size_t k = i + 2; k < last;) {
        size_t stop = attribute_end(p, k, last);
        Treatment how = treatment(&p->in[k]);
        uint32_t at = p->in[k].location;
        unsigned since = how == UNKNOWN ? 0 : version_of_attribute(p->in[k].text);
        if (since > p->version)
            tp_report(p, k,
                      "'%s' attribute needs Metal %u.%u: the source is compiled as Metal %u.%u",
                      p->in[k].text, since / 10, since % 10, p->version / 10, p->version % 10);
        bool constant = how == TEXT && strcmp(p->in[k].text, "function_constant") == 0;
        bool global = constant && outside && !binding;
        if (global) tp_declare_extern(p, at);
        if (global && tp_is(p, after + 1, T_equal))
            tp_report(p, k,
                      "a function constant gets its value when a function is made: it cannot be "
                      "initialised");
        if (how == ANNOTATE || how == TEXT) {
            annotate(p, k, stop, how == TEXT && !global);
        } else if (how != DROP && k < stop && !templated && p->attr_end != p->out->n) {
            tp_punct(p, T_l_square, at), tp_punct(p, T_l_square, at);
            tp_copy(p, k, stop);
            tp_punct(p, T_r_square, at), tp_punct(p, T_r_square, at);
        }
        k = tp_is(p, stop, T_comma) ? stop + 1 : stop;
    }
    if (start != SIZE_MAX) move_to_front(p, start, from);
    return after;
}
