// SPDX-License-Identifier: Apache-2.0
// token_spaces.c: what templates and classes write for more kinds than the dialect tells apart.
//   template <typename T, uint N> T f(vec<T, N>)    sizes of vectors and matrices are int here, and
//                                                   a size of another type would not be deduced
//   T &operator[](size_t) object_data;              object_data and threadgroup_imageblock are
//                                                   device memory, ray_data is thread memory:
//                                                   beside a member of that space they would be the
//                                                   same
#include "compiler/frontend/tokens_int.h"
#include <stdlib.h>

static bool is_integer_name(const MslToken *t) {
    static const char *const names[] = {"uint",     "ushort",  "ulong",    "uchar",
                                        "size_t",   "uint8_t", "uint16_t", "uint32_t",
                                        "uint64_t", "int8_t",  "int16_t",  "int64_t"};
    if (t->kind == T_kw_unsigned || t->kind == T_kw_short || t->kind == T_kw_long) return true;
    for (size_t i = 0; t->kind == T_identifier && i < sizeof names / sizeof *names; i++)
        if (strcmp(t->text, names[i]) == 0) return true;
    return false;
}

// The index of the `>` that closes the list opened at in[open]; n if there is none.
static size_t close_angle(const TokenPass *p, size_t open) {
    int depth = 0, paren = 0;
    for (size_t k = open; k < p->n; k++) {
        unsigned kind = p->in[k].kind;
        if (kind == T_semi || kind == T_l_brace) return p->n;
        paren += (kind == T_l_paren) - (kind == T_r_paren);
        if (paren) continue;
        depth += (kind == T_less) - (kind == T_greater) - 2 * (kind == T_greatergreater);
        if (depth <= 0) return k;
    }
    return p->n;
}

// Whether `name` stands as a size of a vector or matrix between in[from] and the body.
static bool is_size(const TokenPass *p, size_t from, const char *name) {
    for (size_t k = from; k < p->n && !tp_is(p, k, T_l_brace) && !tp_is(p, k, T_semi); k++) {
        bool sized =
            tp_is_word(p, k, "vec") || tp_is_word(p, k, "matrix") || tp_is_word(p, k, "packed_vec");
        if (!sized || !tp_is(p, k + 1, T_less)) continue;
        size_t end = close_angle(p, k + 1);
        for (size_t q = k + 2; q < end; q++)
            if (tp_is_word(p, q, name) && tp_is(p, q - 1, T_comma)) return true;
    }
    return false;
}

void tp_vector_sizes(TokenPass *p, MslToken *tokens) {
    for (size_t i = 0; i + 1 < p->n; i++) {
        if (!tp_is(p, i, T_kw_template) || !tp_is(p, i + 1, T_less)) continue;
        size_t end = close_angle(p, i + 1);
        for (size_t k = i + 2; k + 1 < end; k++) {
            bool first = tp_is(p, k - 1, T_less) || tp_is(p, k - 1, T_comma);
            unsigned after = tp_at(p, k + 2)->kind;
            if (!first || !is_integer_name(&p->in[k]) || !tp_is(p, k + 1, T_identifier) ||
                (after != T_comma && after != T_greater && after != T_equal))
                continue;
            if (is_size(p, end, p->in[k + 1].text))
                tokens[k] = (MslToken){T_identifier, 0, tokens[k].location, 3, "int"};
        }
    }
}

// The space that a word stands for when it has none of its own in the dialect; NULL: it has.
static const char *stands_for(const MslToken *t) {
    if (t->kind != T_identifier) return NULL;
    if (strcmp(t->text, "object_data") == 0 || strcmp(t->text, "threadgroup_imageblock") == 0)
        return "device";
    return strcmp(t->text, "ray_data") == 0 ? "thread" : NULL;
}

// Whether in[a .. a_end) and in[b .. b_end) are the same tokens.
static bool same_tokens(const TokenPass *p, size_t a, size_t a_end, size_t b, size_t b_end) {
    if (a_end - a != b_end - b) return false;
    for (; a < a_end; a++, b++) {
        const MslToken *x = &p->in[a], *y = &p->in[b];
        if (x->kind != y->kind || x->n_text != y->n_text ||
            (x->text && memcmp(x->text, y->text, x->n_text)))
            return false;
    }
    return true;
}

// A member function in a class, by its parameter list at in[open]: where its name starts, whether
// const stands behind the list, and the space there (0: none).
typedef struct Member {
    size_t name, open, close, space;
    bool is_const;
} Member;

static bool member_at(const TokenPass *p, size_t open, Member *m) {
    size_t close = tp_match(p, open);
    if (!tp_is(p, open, T_l_paren) || close >= p->n || open == 0) return false;
    *m = (Member){.name = open - 1, .open = open, .close = close};
    for (size_t back = 1; back <= 3 && back <= open; back++) // operator[], operator()
        if (tp_is(p, open - back, T_kw_operator)) m->name = open - back;
    for (size_t k = close + 1; k < p->n; k++) {
        if (tp_is(p, k, T_kw_const)) {
            m->is_const = true;
        } else if (tp_is(p, k, T_identifier) && !m->space) {
            m->space = k;
        } else {
            return m->space && (tp_is(p, k, T_l_brace) || tp_is(p, k, T_semi));
        }
    }
    return false;
}

// Whether the class whose body is in[from, to) has the member once more in the space it stands for,
// or, of two that stand for the same, before it.
static bool has_twin(const TokenPass *p, size_t from, size_t to, const Member *m) {
    const char *space = stands_for(&p->in[m->space]);
    for (size_t k = from; k < to; k++) {
        Member other;
        bool found = k != m->open && member_at(p, k, &other);
        if (found && other.is_const == m->is_const &&
            same_tokens(p, m->name, m->close, other.name, other.close)) {
            const char *stands = stands_for(&p->in[other.space]);
            if (tp_is_word(p, other.space, space)) return true;
            if (stands && strcmp(stands, space) == 0 && k < m->open) return true;
        }
        if (tp_is(p, k, T_l_brace) && tp_match(p, k) < to) k = tp_match(p, k);
    }
    return false;
}

bool tp_drop_twins(TokenPass *p, MslToken *tokens) {
    bool dropped = false;
    for (size_t i = 0; i < p->n; i++) {
        if (!stands_for(&p->in[i])) continue;
        size_t close = i;
        while (close > 0 && tp_is(p, close - 1, T_kw_const)) close--;
        Member m;
        if (!close || !tp_is(p, close - 1, T_r_paren) ||
            !member_at(p, tp_match(p, close - 1), &m) || m.space != i)
            continue;
        size_t from = m.name, to = m.close, end = i + 1; // the class, by its braces
        for (int depth = 0; from > 0; from--) {
            depth += tp_is(p, from - 1, T_r_brace) - tp_is(p, from - 1, T_l_brace);
            if (depth < 0) break;
        }
        to = from ? tp_match(p, from - 1) : p->n;
        if (!from || to >= p->n || !has_twin(p, from, to, &m)) continue;
        size_t start = m.name;
        while (start > from && !tp_is(p, start - 1, T_semi) && !tp_is(p, start - 1, T_r_brace) &&
               !tp_is(p, start - 1, T_l_brace) && !tp_is(p, start - 1, T_colon))
            start--;
        while (end < to && !tp_is(p, end, T_semi) && !tp_is(p, end, T_l_brace)) end++;
        if (tp_is(p, end, T_l_brace)) end = tp_match(p, end);
        for (size_t k = start; k <= end && k < to; k++) {
            tokens[k].kind = T_semi, tokens[k].origin = 0, tokens[k].text = NULL;
            tokens[k].n_text = 0;
        }
        dropped = true;
    }
    return dropped;
}
