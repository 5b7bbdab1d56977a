// SPDX-License-Identifier: Apache-2.0
// token_conditional.c: c ? a[i] : half2(0) with a in device memory. To Clang the operands are
// objects in different address spaces, which it does not bring together. Where one of them is a
// vector just made, the result is a value whatever the other is, and that one is passed by value:
// c ? __msl_rv(a[i]) : half2(0). The conditionals that are not seen here are repaired after Clang's
// error (repair.c), at the price of another run.
#include "compiler/frontend/tokens_int.h"
#include <stdlib.h>

// Whether a word is the name of a vector type: float4.
static bool names_vector(const MslToken *t) {
    static const char *const elements[] = {"bool", "char", "uchar", "short", "ushort", "int",
                                           "uint", "long", "ulong", "half",  "bfloat", "float"};
    if (t->kind != T_identifier || t->n_text < 4) return false;
    char last = t->text[t->n_text - 1];
    for (size_t i = 0; i < sizeof elements / sizeof *elements && last >= '2' && last <= '4'; i++)
        if (strlen(elements[i]) == t->n_text - 1 && !memcmp(t->text, elements[i], t->n_text - 1))
            return true;
    return false;
}

// The end of half2(...) at in[i]; i if it is something else.
static size_t made_vector(const TokenPass *p, size_t i) {
    bool open = tp_is(p, i + 1, T_l_paren) || tp_is(p, i + 1, T_l_brace);
    return names_vector(tp_at(p, i)) && open && tp_match(p, i + 1) < p->n ? tp_match(p, i + 1) + 1
                                                                          : i;
}

// The end of a name with subscripts and members at in[i]: a[i].b; i if it is something else.
static size_t place(const TokenPass *p, size_t i) {
    if (!tp_is(p, i, T_identifier)) return i;
    for (i++;;) {
        if ((tp_is(p, i, T_period) || tp_is(p, i, T_arrow)) && tp_is(p, i + 1, T_identifier))
            i += 2;
        else if (tp_is(p, i, T_l_square) && tp_match(p, i) < p->n)
            i = tp_match(p, i) + 1;
        else
            return i;
    }
}

static bool ends_operand(const TokenPass *p, size_t i) {
    unsigned kind = tp_at(p, i)->kind;
    return kind == T_semi || kind == T_comma || kind == T_r_paren || kind == T_r_square ||
           kind == T_r_brace || kind == T_colon;
}

// For the `?` at in[i]: the operand to be passed by value. False: none.
static bool find_operand(const TokenPass *p, size_t i, size_t *from, size_t *to) {
    size_t a = place(p, i + 1), made = made_vector(p, i + 1);
    bool first = a > i + 1 && tp_is(p, a, T_colon),
         second = made > i + 1 && tp_is(p, made, T_colon);
    size_t other = (first ? a : made) + 1;
    size_t end = first ? made_vector(p, other) : place(p, other);
    if ((!first && !second) || end == other || !ends_operand(p, end)) return false;
    *from = first ? i + 1 : other;
    *to = first ? a : end;
    return true;
}

bool tp_conditionals(TokenPass *p) {
    unsigned char *opens = NULL, *closes = NULL;
    size_t n = 0, from, to;
    for (size_t i = 0; i < p->n; i++) {
        if (!tp_is(p, i, T_question) || !find_operand(p, i, &from, &to)) continue;
        if (!opens) opens = calloc(p->n, 2);
        if (!opens) {
            p->failed = true;
            return false;
        }
        closes = opens + p->n;
        opens[from]++, closes[to]++, n++;
    }
    if (!n) return false;
    TokenList out = {0};
    for (size_t i = 0; i < p->n; i++) {
        const uint32_t at = p->in[i].location;
        for (int k = 0; k < closes[i]; k++)
            token_list_push(&out, (MslToken){T_r_paren, 0, at, 0, NULL});
        for (int k = 0; k < opens[i]; k++) {
            token_list_push(&out, (MslToken){T_identifier, 0, at, 8, "__msl_rv"});
            token_list_push(&out, (MslToken){T_l_paren, 0, at, 0, NULL});
        }
        token_list_push(&out, p->in[i]);
    }
    free(opens);
    MslToken *edited = out.failed ? NULL : base_arena_alloc(p->arena, out.n, sizeof *edited);
    if (edited) {
        memcpy(edited, out.at, out.n * sizeof *edited);
        p->in = edited, p->n = out.n;
    }
    p->failed |= !edited;
    token_list_free(&out);
    return true;
}
