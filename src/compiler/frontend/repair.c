// SPDX-License-Identifier: Apache-2.0
// repair.c: rare patterns of correct MSL that Clang rejects in this dialect. They cannot be seen
// in tokens alone, so the error itself says where they are; the tokens there are rewritten and the
// source is parsed again (locations are the same in every round).
//   c ? a : b with a and b in different address spaces   -> c ? __msl_rv(a) : __msl_rv(b)
//   v.xy * 2, -v.xy, v.xy[0] inside a template (Clang looks for built-in operators only)
//                                                        -> __msl_rv(v.xy) * __msl_rv(2)
//   v.xy += e on a swizzle inside a template             -> v.xy = v.xy + (e)
//   half <-> bfloat casts                                -> through float, __msl_f(x)
//   make()[i], make().f(): the object of overloads for several address spaces, which Clang does not
//   place anywhere                                       -> __msl_lv(make())[i]
#include "compiler/frontend/frontend_int.h"
#include "base/array.h"
#include "compiler/frontend/token_kinds.h"
#include <stdlib.h>
#include <string.h>

static bool add_repair(Repairs *r, RepairKind kind, uint32_t begin, uint32_t end, uint32_t op) {
    if (!begin || !end) return false;
    for (size_t i = 0; i < r->n; i++)
        if (r->at[i].kind == kind && r->at[i].range.begin == begin && r->at[i].range.end == end)
            return false;
    if (!array_reserve(&r->at, &r->capacity, r->n + 1)) return false;
    r->at[r->n++] = (Repair){kind, {begin, end}, op};
    return true;
}

bool repairs_add(Repairs *r, const Repair *x) {
    return add_repair(r, x->kind, x->range.begin, x->range.end, x->op);
}

// Whether both vectors of the message, (vector of 8 'half' values), have as many elements.
static bool has_equal_counts(const char *message) {
    static const char before[] = "(vector of ";
    const char *first = strstr(message, before);
    const char *second = first ? strstr(first + 1, before) : NULL;
    return second && atoi(first + strlen(before)) == atoi(second + strlen(before));
}

bool repairs_learn(Repairs *r, const BridgeDiagnostic *d) {
    bool learnt = false;
    if (d->in_system || r->n > 4096) return false;
    if (d->kind == BRIDGE_DIAG_COND_OPERANDS && d->n_ranges >= 2) {
        learnt |= add_repair(r, REPAIR_BY_VALUE, d->ranges[0].begin, d->ranges[0].end, 0);
        learnt |= add_repair(r, REPAIR_BY_VALUE, d->ranges[1].begin, d->ranges[1].end, 0);
    } else if (d->kind == BRIDGE_DIAG_BAD_CAST && d->n_ranges >= 1) {
        const BridgeRange *last = &d->ranges[d->n_ranges - 1];
        if (strstr(d->message, "__bf16") && strstr(d->message, "half"))
            learnt |= add_repair(r, REPAIR_THROUGH_FLOAT, last->begin, last->end, 0);
    } else if (d->kind == BRIDGE_DIAG_VECTOR_CAST && d->n_ranges >= 1) {
        const BridgeRange *last = &d->ranges[d->n_ranges - 1];
        if (has_equal_counts(d->message))
            learnt |= add_repair(r, REPAIR_CONVERT, last->begin, last->end, 0);
    } else if (d->kind == BRIDGE_DIAG_BAD_OPERANDS && d->n_ranges >= 2 &&
               strstr(d->message, "pseudo-object")) {
        learnt |= add_repair(r, REPAIR_COMPOUND, d->ranges[0].begin, d->ranges[1].end, d->location);
    } else if (d->kind == BRIDGE_DIAG_BAD_OPERANDS && d->n_ranges >= 2) {
        learnt |= add_repair(r, REPAIR_BY_VALUE, d->ranges[0].begin, d->ranges[0].end, 0);
        learnt |= add_repair(r, REPAIR_BY_VALUE, d->ranges[1].begin, d->ranges[1].end, 0);
    } else if (d->kind == BRIDGE_DIAG_BAD_OPERAND && d->n_ranges >= 1) {
        // -v.xy: the range is the whole expression, the operand starts behind the operator
        bool prefix = d->ranges[0].begin == d->location;
        learnt |= add_repair(r, prefix ? REPAIR_OPERAND : REPAIR_BY_VALUE, d->ranges[0].begin,
                             d->ranges[0].end, 0);
    } else if (d->kind == BRIDGE_DIAG_AMBIGUOUS_OPERATOR && d->n_ranges >= 1 &&
               (strstr(d->message, "'[]'") || strstr(d->message, "'()'"))) {
        learnt |= add_repair(r, REPAIR_OBJECT, d->ranges[0].begin, d->ranges[0].end, 0);
    } else if (d->kind == BRIDGE_DIAG_AMBIGUOUS_MEMBER && d->n_ranges >= 1) {
        learnt |= add_repair(r, REPAIR_OBJECT, d->ranges[0].begin, d->location, d->location);
    }
    return learnt;
}

static unsigned plain_operator(unsigned kind) {
    static const struct {
        unsigned compound, plain;
    } table[] = {
        {T_plusequal, T_plus},         {T_minusequal, T_minus},
        {T_starequal, T_star},         {T_slashequal, T_slash},
        {T_percentequal, T_percent},   {T_ampequal, T_amp},
        {T_pipeequal, T_pipe},         {T_caretequal, T_caret},
        {T_lesslessequal, T_lessless}, {T_greatergreaterequal, T_greatergreater},
    };
    for (size_t i = 0; i < sizeof table / sizeof *table; i++)
        if (table[i].compound == kind) return table[i].plain;
    return T_unknown;
}

static void punct(TokenList *l, unsigned kind, uint32_t at) {
    token_list_push(l, (MslToken){(uint16_t)kind, 0, at, 0, NULL});
}

// Applies one repair. Only the first token at a location counts: copies we made come later.
static bool apply(const Repair *r, TokenList *in) {
    size_t b = 0, e, op = 0;
    while (b < in->n && in->at[b].location != r->range.begin) b++;
    for (e = b; e < in->n && in->at[e].location != r->range.end; e++)
        if (in->at[e].location == r->op) op = e;
    if (e >= in->n) return true;
    if (r->kind == REPAIR_OBJECT && r->op && e >= b + 2) e -= 2; // before `.name`
    while (e + 1 < in->n && in->at[e + 1].location == r->range.end &&
           in->at[e + 1].kind == T_r_paren && in->at[e + 1].origin == 0)
        e++;   // parentheses of an earlier repair that ends here
    for (;;) { // step inside wrappers that start here but end later
        int depth = 0;
        for (size_t i = b; i <= e; i++)
            depth += (in->at[i].kind == T_l_paren) - (in->at[i].kind == T_r_paren);
        if (depth <= 0 || in->at[b].origin || b + 2 > e) break;
        b += 2;
    }
    TokenList out = {0};
    for (size_t i = 0; i < b; i++) token_list_push(&out, in->at[i]);
    uint32_t at = r->range.begin, end_at = r->range.end;
    if (r->kind == REPAIR_OPERAND && b < e) {
        token_list_push(&out, in->at[b]); // the operator
        at = in->at[++b].location;
    }
    if (r->kind == REPAIR_COMPOUND) {
        unsigned plain = op ? plain_operator(in->at[op].kind) : T_unknown;
        if (plain == T_unknown) {
            token_list_free(&out);
            return true;
        }
        for (int twice = 0; twice < 2; twice++) {
            for (size_t i = b; i < op; i++) token_list_push(&out, in->at[i]);
            punct(&out, twice ? plain : T_equal, r->op);
        }
        punct(&out, T_l_paren, r->op);
        b = op + 1;
    } else {
        const char *wrap = r->kind == REPAIR_THROUGH_FLOAT ? "__msl_f"
                           : r->kind == REPAIR_CONVERT     ? "__msl_convert"
                           : r->kind == REPAIR_OBJECT      ? "__msl_lv"
                                                           : "__msl_rv";
        token_list_push(&out, (MslToken){T_identifier, 0, at, (uint32_t)strlen(wrap), wrap});
        punct(&out, T_l_paren, at);
    }
    for (size_t i = b; i <= e; i++) token_list_push(&out, in->at[i]);
    punct(&out, T_r_paren, end_at);
    for (size_t i = e + 1; i < in->n; i++) token_list_push(&out, in->at[i]);
    bool ok = !out.failed;
    if (ok) {
        token_list_free(in);
        *in = out;
    } else {
        token_list_free(&out);
    }
    return ok;
}

// ---- all of them ----

// A declaration of the program. Repairs stay within one, and only those with any are copied: of
// 30,000 wrong kernels each repair would move all that follows.
typedef struct Piece {
    size_t begin, n;  // in the tokens as they were
    TokenList edited; // if `is_edited`
    bool is_edited;
} Piece;

typedef struct Start { // the first token of a location
    uint32_t location;
    size_t token, piece;
} Start;

typedef struct Pieces {
    Piece *at;
    Start *starts; // by location
    size_t n, n_starts;
} Pieces;

static int by_location(const void *a, const void *b) {
    const Start *x = a, *y = b;
    if (x->location != y->location) return x->location < y->location ? -1 : 1;
    return x->token < y->token ? -1 : x->token > y->token;
}

static bool may_begin(unsigned kind) { return kind == T_identifier || kind >= T_kw_auto; }

// Behind `;`, or behind the body of a function; braces of an expression are followed by other
// things than a word.
static bool ends_piece(const TokenList *l, size_t i, int depth, bool body) {
    if (depth > 0) return false;
    if (l->at[i].kind == T_semi) return true;
    return body && l->at[i].kind == T_r_brace && i + 1 < l->n && may_begin(l->at[i + 1].kind);
}

static bool cut(Pieces *p, const TokenList *l) {
    p->at = malloc((l->n + 1) * sizeof *p->at);
    p->starts = malloc((l->n + 1) * sizeof *p->starts);
    if (!p->at || !p->starts) return false;
    int depth = 0;
    bool body = false; // the last brace of no depth came behind a parenthesis
    p->at[p->n++] = (Piece){0};
    for (size_t i = 0; i < l->n; i++) {
        unsigned kind = l->at[i].kind;
        if (kind == T_l_brace && depth == 0) body = i && l->at[i - 1].kind == T_r_paren;
        depth += (kind == T_l_brace || kind == T_l_paren || kind == T_l_square) -
                 (kind == T_r_brace || kind == T_r_paren || kind == T_r_square);
        if (depth < 0) depth = 0;
        p->starts[p->n_starts++] = (Start){l->at[i].location, i, p->n - 1};
        p->at[p->n - 1].n++;
        if (ends_piece(l, i, depth, body)) p->at[p->n++] = (Piece){.begin = i + 1};
    }
    qsort(p->starts, p->n_starts, sizeof *p->starts, by_location);
    return true;
}

static Piece *piece_at(const Pieces *p, uint32_t location) {
    size_t low = 0, high = p->n_starts;
    while (low < high) { // the first that is not before it
        size_t middle = low + (high - low) / 2;
        if (p->starts[middle].location < location)
            low = middle + 1;
        else
            high = middle;
    }
    return low < p->n_starts && p->starts[low].location == location ? &p->at[p->starts[low].piece]
                                                                    : NULL;
}

static bool repair_piece(Piece *piece, const TokenList *tokens, const Repair *r) {
    for (size_t i = 0; !piece->is_edited && i < piece->n; i++)
        token_list_push(&piece->edited, tokens->at[piece->begin + i]);
    piece->is_edited = true;
    return !piece->edited.failed && apply(r, &piece->edited);
}

bool repairs_apply(const Repairs *r, TokenList *tokens) {
    if (!r->n) return true;
    Pieces p = {0};
    TokenList out = {0};
    bool ok = cut(&p, tokens);
    for (size_t i = 0; ok && i < r->n; i++) {
        Piece *piece = piece_at(&p, r->at[i].range.begin);
        ok = !piece || repair_piece(piece, tokens, &r->at[i]);
    }
    for (size_t k = 0; k < p.n; k++) {
        const Piece *piece = &p.at[k];
        const MslToken *from = piece->is_edited ? piece->edited.at : tokens->at + piece->begin;
        size_t n = piece->is_edited ? piece->edited.n : piece->n;
        for (size_t i = 0; ok && i < n; i++) token_list_push(&out, from[i]);
        token_list_free(&p.at[k].edited);
    }
    free(p.at);
    free(p.starts);
    ok &= !out.failed;
    if (ok) {
        token_list_free(tokens);
        *tokens = out;
    } else {
        token_list_free(&out);
    }
    return ok;
}
