// SPDX-License-Identifier: Apache-2.0
// tokens.c: the token pass. Input: the translation unit after macro expansion, as MSL writes it.
// Output: the same tokens in the dialect Clang parses (OpenCL C++ with our names). Tokens keep
// their locations, so diagnostics point at the user's text. A pure function of the array; one
// linear walk that knows scopes (namespace, class, function) and nothing else about C++.
#include "compiler/frontend/tokens_int.h"
#include "base/array.h"
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

void tp_copy(TokenPass *p, size_t from, size_t to) {
    for (size_t i = from; i < to && i < p->n; i++) token_list_push(p->out, p->in[i]);
}

void tp_word(TokenPass *p, const char *word, uint32_t location) {
    if (!word) {
        p->failed = true;
        return;
    }
    token_list_push(p->out, (MslToken){T_identifier, 0, location, (uint32_t)strlen(word), word});
}

void tp_punct(TokenPass *p, unsigned kind, uint32_t location) {
    token_list_push(p->out, (MslToken){(uint16_t)kind, 0, location, 0, NULL});
}

void tp_string(TokenPass *p, const char *text, uint32_t location) {
    if (!text) {
        p->failed = true;
        return;
    }
    token_list_push(p->out,
                    (MslToken){T_string_literal, 0, location, (uint32_t)strlen(text), text});
}

void tp_number(TokenPass *p, int number, uint32_t location) {
    char *text = arena_format(p->arena, "%d", number);
    p->failed |= !text;
    if (text)
        token_list_push(p->out,
                        (MslToken){T_numeric_constant, 0, location, (uint32_t)strlen(text), text});
}

void tp_report(TokenPass *p, size_t i, const char *format, ...) {
    va_list args;
    va_start(args, format);
    reflect_report_list(p->job, tp_at(p, i)->location, format, args);
    va_end(args);
}

void tp_warn(TokenPass *p, size_t i, const char *text) {
    bridge_report(p->job, 2, tp_at(p, i)->location, text);
}

size_t tp_declaration_start(const TokenPass *p) {
    size_t k = p->out->n;
    while (k > 0) {
        unsigned kind = p->out->at[k - 1].kind;
        if (kind == T_semi || kind == T_l_brace || kind == T_r_brace || kind >= T_annot_cxxscope)
            break;
        k--;
    }
    return k;
}

bool tp_is_stage(const MslToken *t) {
    return t->kind == T_identifier &&
           (strcmp(t->text, "kernel") == 0 || strcmp(t->text, "vertex") == 0 ||
            strcmp(t->text, "fragment") == 0 || strcmp(t->text, "mesh") == 0 ||
            strcmp(t->text, "object") == 0);
}

// As Clang's own limit, but before its error recovery, which recurses on brackets without one.
enum { MAX_NESTING = 256 };

// Partners of all brackets in one pass. A closing bracket closes the nearest opening one of its
// kind and abandons what was left open inside, as Clang's recovery does.
static bool match_brackets(TokenPass *p) {
    size_t n_open = 0;
    free(p->match);
    p->match = malloc(p->n * sizeof *p->match);
    uint32_t open[MAX_NESTING];
    if (!p->match) return false;
    for (size_t i = 0; i < p->n; i++) {
        unsigned k = p->in[i].kind;
        p->match[i] = (uint32_t)p->n;
        if (k == T_l_paren || k == T_l_square || k == T_l_brace) {
            if (n_open == MAX_NESTING && !p->too_deep) {
                tp_report(p, i, "bracket nesting level exceeded maximum of %d", MAX_NESTING);
                p->too_deep = true;
            }
            open[n_open < MAX_NESTING ? n_open++ : MAX_NESTING - 1] = (uint32_t)i;
        }
        unsigned want = k == T_r_paren    ? T_l_paren
                        : k == T_r_square ? T_l_square
                        : k == T_r_brace  ? T_l_brace
                                          : T_unknown;
        if (want == T_unknown) continue;
        size_t d = n_open;
        while (d > 0 && p->in[open[d - 1]].kind != want &&
               (want == T_l_brace || p->in[open[d - 1]].kind != T_l_brace))
            d--;
        if (d > 0 && p->in[open[d - 1]].kind == want) {
            n_open = d - 1;
            p->match[i] = open[n_open];
            p->match[open[n_open]] = (uint32_t)i;
        }
    }
    return true;
}

static bool is_class_key(unsigned kind) {
    return kind == T_kw_struct || kind == T_kw_class || kind == T_kw_union;
}

// What the brace at in[i] opens, from the tokens of the declaration before it.
static Scope classify(const TokenPass *p, size_t i) {
    Scope s = {SCOPE_FUNCTION, "", p->paren};
    bool inside = tp_in_function(p), parens = false;
    for (size_t k = i; k-- > 0;) {
        unsigned kind = p->in[k].kind;
        if (kind == T_semi || kind == T_l_brace || kind == T_r_brace) break;
        if (kind == T_r_paren) {
            if (inside) return s;
            parens = true;
        }
        bool parameter =
            k > 0 && (tp_is(p, k - 1, T_less) || tp_is(p, k - 1, T_comma)); // template <class T>
        if (kind == T_kw_namespace) {
            s.kind = SCOPE_NAMESPACE;
            return s;
        }
        if ((is_class_key(kind) || kind == T_kw_enum) && !parameter) {
            s.kind = SCOPE_CLASS;
            for (size_t q = k + 1; q < i && is_class_key(kind);
                 q++) { // skip attributes and alignas(...)
                if ((tp_is(p, q, T_l_paren) || tp_is(p, q, T_l_square)) && tp_match(p, q) < i)
                    q = tp_match(p, q);
                else if (tp_is(p, q, T_identifier)) {
                    s.class_name = p->in[q].text;
                    break;
                }
            }
            return s;
        }
    }
    if (!inside && !parens && i > 0 && tp_is(p, i - 1, T_string_literal))
        s.kind = SCOPE_NAMESPACE; // extern "C" {
    return s;
}

static void track_scope(TokenPass *p, size_t i) {
    unsigned kind = p->in[i].kind;
    if (kind == T_l_paren) {
        p->paren++;
    } else if (kind == T_r_paren) {
        p->paren--;
    } else if (kind == T_l_brace) {
        if (!array_reserve(&p->scopes, &p->capacity_scopes, p->n_scopes + 1)) {
            p->failed = true;
            return;
        }
        Scope s = classify(p, i);
        p->scopes[p->n_scopes++] = s;
        p->paren = 0;
    } else if (kind == T_r_brace && p->n_scopes) {
        p->paren = p->scopes[--p->n_scopes].paren;
    }
}

// Whether the qualifier at in[i] follows the parameter list of a constructor of the class we are
// in.
static bool after_constructor(const TokenPass *p, size_t i) {
    if (i < 2 || !tp_is(p, i - 1, T_r_paren) || !*tp_class_name(p)) return false;
    size_t open = tp_match(p, i - 1);
    return open > 0 && open < i && tp_is_word(p, open - 1, tp_class_name(p));
}

// `constexpr constant T S<U>::name[];` outside a class only repeats the declaration of an inline
// member; Clang trips over the unsized array. Gives the index of its `;`, or 0.
static size_t redeclares_member(const TokenPass *p, size_t i) {
    if (tp_in_function(p) || p->paren || *tp_class_name(p)) return 0;
    bool is_constexpr = false, is_member = false;
    for (size_t k = tp_declaration_start(p); k < p->out->n; k++)
        is_constexpr |= p->out->at[k].kind == T_kw_constexpr;
    for (size_t q = i; q < p->n; q++) {
        if (tp_is(p, q, T_semi)) return is_constexpr && is_member ? q : 0;
        if (tp_is(p, q, T_equal) || tp_is(p, q, T_l_paren) || tp_is(p, q, T_l_brace)) return 0;
        is_constexpr |= tp_is(p, q, T_kw_constexpr);
        is_member |= tp_is(p, q, T_coloncolon) && tp_is(p, q + 1, T_identifier) &&
                     (tp_is(p, q + 2, T_l_square) || tp_is(p, q + 2, T_semi));
    }
    return 0;
}

// Whether a stage keyword at in[i] can be one here (these words are ordinary names elsewhere).
static bool starts_entry(const TokenPass *p, size_t i) {
    if (tp_in_function(p) || p->paren) return false;
    unsigned next = tp_at(p, i + 1)->kind;
    if (next == T_l_square) return tp_is(p, i + 2, T_l_square);
    return next == T_identifier || next == T_kw_void || next == T_coloncolon ||
           next == T_kw_inline || next == T_kw_static ||
           (next >= T_kw_auto && next != T_kw_operator);
}

// An address space in front of a function's result that is no pointer or reference says nothing:
// `thread bool operator==(float2x2, float2x2)`.
static bool before_value_result(const TokenPass *p, size_t i) {
    if (tp_in_function(p) || p->paren) return false;
    int angle = 0;
    for (size_t k = i + 1; k < p->n; k++) {
        unsigned kind = p->in[k].kind;
        if (kind == T_kw_operator) return true;
        if (kind == T_l_paren) return k > i + 2 && angle == 0;
        angle += (kind == T_less) - (kind == T_greater) - 2 * (kind == T_greatergreater);
        bool name = kind == T_identifier || kind == T_coloncolon || kind == T_less ||
                    kind == T_greater || kind == T_greatergreater || kind == T_comma ||
                    kind == T_numeric_constant || kind >= T_kw_auto;
        if (!name || (kind == T_comma && angle == 0)) return false;
    }
    return false;
}

const char *tp_space(const MslToken *t) {
    static const struct {
        const char *word, *space;
    } spaces[] = {{"device", "__global"},
                  {"constant", "__constant"},
                  {"threadgroup", "__local"},
                  {"thread", "__private"},
                  {"threadgroup_imageblock", "__global"}, // see imageblock.h
                  {"object_data", "__global"},            // see mesh.h
                  {"ray_data", "__private"}};
    for (size_t k = 0; t->kind == T_identifier && k < sizeof spaces / sizeof *spaces; k++)
        if (strcmp(t->text, spaces[k].word) == 0) return spaces[k].space;
    return NULL;
}

// Part of the specifiers of a declaration: what stands in front of its `*`, `&` or name.
static bool specifies(unsigned kind) {
    return kind == T_identifier || kind == T_coloncolon || kind == T_kw_const ||
           (kind >= T_kw_auto && kind < T_annot_cxxscope);
}

// `thread` beside another space is the variable's, and says nothing that is not so anyway:
// `thread const device T *p`, `const constant thread L &l`, `thread int device *p`.
static bool beside_another_space(const TokenPass *p, size_t i) {
    for (size_t k = i + 1; specifies(tp_at(p, k)->kind); k++)
        if (tp_space(tp_at(p, k)) && !tp_is_word(p, k, "thread")) return true;
    for (size_t k = i; k-- > 0 && specifies(p->in[k].kind);)
        if (tp_space(&p->in[k]) && !tp_is_word(p, k, "thread")) return true;
    return false;
}

// `thread float x;` in a class, `thread C(int);` of class C: it is where the object is.
static bool of_a_member(const TokenPass *p, size_t i) {
    if (p->paren || !p->n_scopes || p->scopes[p->n_scopes - 1].kind != SCOPE_CLASS) return false;
    size_t k = i + 1;
    while (specifies(tp_at(p, k)->kind)) k++;
    if (tp_is(p, k, T_l_paren)) return k == i + 2 && tp_is_word(p, i + 1, tp_class_name(p));
    return tp_is(p, k, T_semi) || tp_is(p, k, T_comma) || tp_is(p, k, T_equal) ||
           tp_is(p, k, T_l_square);
}

// Address spaces and stages. Gives the last index consumed; `i` itself included; SIZE_MAX: not
// ours.
static size_t edit_word(TokenPass *p, size_t i) {
    const MslToken *t = &p->in[i];
    uint32_t at = t->location;
    const char *w = t->text;
    switch (w[0]) {
    case 'c':
        if (strcmp(w, "constant") == 0) {
            size_t end = redeclares_member(p, i);
            if (end) {
                p->out->n = tp_declaration_start(p);
                return end;
            }
            if (!after_constructor(p, i)) tp_word(p, "const", at);
            tp_word(p, "__constant", at);
            return i;
        }
        if (strcmp(w, "coherent") == 0 && tp_is(p, i + 1, T_l_paren) && tp_match(p, i + 1) < p->n)
            return tp_match(p, i + 1);
        if (strcmp(w, "coherent") == 0 &&
            (tp_is_word(p, i + 1, "device") || (i && tp_is_word(p, i - 1, "device"))))
            return i;
        break;
    case 'd':
        if (strcmp(w, "device") == 0) {
            if (!before_value_result(p, i)) tp_word(p, "__global", at);
            return i;
        }
        break;
    case 't':
        if (strcmp(w, "thread") == 0) {
            if (!after_constructor(p, i) && !before_value_result(p, i) &&
                !beside_another_space(p, i) && !of_a_member(p, i))
                tp_word(p, "__private", at);
            return i;
        }
        if (strcmp(w, "threadgroup") == 0) {
            size_t end = tp_threadgroup_variable(p, i);
            if (!end) end = tp_threadgroup_behind_type(p, i);
            if (end) return end;
            if (!before_value_result(p, i)) tp_word(p, "__local", at);
            return i;
        }
        if (strcmp(w, "threadgroup_imageblock") == 0)
            return tp_word(p, "__global", at), i; // see imageblock.h
        break;
    case 'o':
    case 'r':
        if (strcmp(w, "object_data") == 0) return tp_word(p, "__global", at), i; // see mesh.h
        if (strcmp(w, "ray_data") == 0) return tp_word(p, "__private", at), i;
        break;
    }
    if (tp_is_stage(t) && starts_entry(p, i)) return tp_annotate(p, w, at), i;
    return SIZE_MAX;
}

// The index after `array<sampler, N>` if it begins at in[k], else k.
static size_t after_sampler_array(const TokenPass *p, size_t k) {
    if (!tp_is_word(p, k, "array") || !tp_is(p, k + 1, T_less)) return k;
    size_t at = k + 2;
    while (tp_is_word(p, at, "metal") || tp_is(p, at, T_coloncolon)) at++;
    if (!tp_is_word(p, at, "sampler")) return k;
    while (at < p->n && !tp_is(p, at, T_greater) && !tp_is(p, at, T_semi)) at++;
    return tp_is(p, at, T_greater) ? at + 1 : k;
}

// `constexpr sampler s(...);` outside functions, or static in one, lies in the constant space
// though nothing says so; so do arrays of samplers. Gives the index of the name if the `constexpr`
// at in[i] is part of such a declaration, else 0.
static size_t declares_sampler(const TokenPass *p, size_t i) {
    if (p->paren) return 0;
    bool is_static = false;
    for (size_t k = tp_declaration_start(p); k < p->out->n; k++) {
        if (p->out->at[k].text && strcmp(p->out->at[k].text, "__constant") == 0) return 0;
        is_static |= p->out->at[k].kind == T_kw_static;
    }
    size_t k = i + 1;
    for (;; k++) {
        is_static |= tp_is(p, k, T_kw_static);
        if (!tp_is(p, k, T_kw_static) && !tp_is(p, k, T_kw_const) && !tp_is(p, k, T_kw_inline) &&
            !tp_is(p, k, T_coloncolon) && !tp_is_word(p, k, "metal"))
            break;
    }
    size_t name = tp_is_word(p, k, "sampler") ? k + 1 : after_sampler_array(p, k);
    bool found = name > k && tp_is(p, name, T_identifier) && (is_static || !tp_in_function(p));
    return found ? name : 0;
}

// Parts of C++ that Metal leaves out, where Clang's own dialect does not already say so.
static void check_keyword(TokenPass *p, size_t i) {
    const char *what = NULL;
    switch (p->in[i].kind) {
    case T_kw_goto: what = "'goto'"; break;
    case T_kw_try:
    case T_kw_throw:
    case T_kw_catch: what = "exception handling"; break;
    case T_kw_dynamic_cast: what = "'dynamic_cast'"; break;
    case T_kw_typeid: what = "'typeid'"; break;
    case T_kw_virtual: what = "'virtual'"; break;
    case T_kw_thread_local: what = "'thread_local'"; break;
    case T_kw_asm: what = "inline assembly"; break;
    case T_kw_double: what = "'double'"; break;
    case T_kw_new: what = "'new'"; break;
    case T_kw_long: what = tp_is(p, i + 1, T_kw_long) ? "'long long'" : NULL; break;
    case T_kw_delete: what = i && tp_is(p, i - 1, T_equal) ? NULL : "'delete'"; break;
    case T_kw_co_await:
    case T_kw_co_return:
    case T_kw_co_yield: what = "a coroutine"; break;
    default: break;
    }
    if (what && !bridge_is_ours(p->job, p->in[i].location))
        tp_report(p, i, "%s is not supported in Metal", what);
}

// 2LL, 0ULL: Metal's long has 64 bits, and no function takes a `long long`. False if in[i] is
// another literal.
static bool long_literal(TokenPass *p, size_t i) {
    const MslToken *t = &p->in[i];
    if (t->kind != T_numeric_constant || t->n_text < 3) return false;
    const char *end = t->text + t->n_text, *u = end;
    if (u[-1] == 'u' || u[-1] == 'U') u--;
    if (u[-1] != u[-2] || (u[-1] != 'l' && u[-1] != 'L')) return false;
    char *number =
        arena_format(p->arena, "%.*s%s", (int)(u - 1 - t->text), t->text, end > u ? "u" : "");
    p->failed |= !number;
    if (number)
        token_list_push(p->out,
                        (MslToken){T_numeric_constant, 0, t->location, t->n_text - 1, number});
    return true;
}

// 1.5bf, which Clang does not know, becomes __msl_bf(1.5f). False if in[i] is another literal; 0xbf
// is.
static bool bfloat_literal(TokenPass *p, size_t i) {
    const MslToken *t = &p->in[i];
    if (t->kind != T_numeric_constant || t->n_text < 4) return false;
    const char *suffix = t->text + t->n_text - 2;
    if (memcmp(suffix, "bf", 2) && memcmp(suffix, "BF", 2)) return false;
    bool hex = t->text[0] == '0' && (t->text[1] == 'x' || t->text[1] == 'X'), floating = false;
    for (const char *c = t->text; c < suffix; c++)
        floating = floating || (hex ? *c == 'p' || *c == 'P' : *c == '.' || *c == 'e' || *c == 'E');
    if (!floating) return false;
    if (p->version < VERSION_BFLOAT)
        tp_report(p, i, "a literal of type bfloat needs Metal %d.%d", VERSION_BFLOAT / 10,
                  VERSION_BFLOAT % 10);
    char *number = arena_format(p->arena, "%.*sf", (int)(t->n_text - 2), t->text);
    if (!number) {
        p->failed = true;
        return true;
    }
    tp_word(p, "__msl_bf", t->location), tp_punct(p, T_l_paren, t->location);
    token_list_push(p->out, (MslToken){T_numeric_constant, 0, t->location, t->n_text - 1, number});
    tp_punct(p, T_r_paren, t->location);
    return true;
}

// A literal without a suffix is a float in Metal. Clang's own option for that casts it, and forgets
// the cast when it instantiates a template: 1.5 becomes 1.5f here.
static bool float_literal(TokenPass *p, size_t i) {
    const MslToken *t = &p->in[i];
    if (t->kind != T_numeric_constant || !t->n_text) return false;
    bool hex = t->n_text > 2 && (t->text[1] == 'x' || t->text[1] == 'X'), floating = false;
    for (uint32_t k = 0; k < t->n_text; k++) {
        char c = t->text[k];
        floating |= hex ? c == 'p' || c == 'P' : c == '.' || c == 'e' || c == 'E';
    }
    char last = t->text[t->n_text - 1];
    if (!floating || (last != '.' && (last < '0' || last > '9'))) return false;
    char *number = arena_format(p->arena, "%.*sf", (int)t->n_text, t->text);
    p->failed |= !number;
    if (number)
        token_list_push(p->out,
                        (MslToken){T_numeric_constant, 0, t->location, t->n_text + 1, number});
    return true;
}

static void walk(TokenPass *p) {
    for (size_t i = 0; i < p->n && !p->failed && !p->out->failed; i++) {
        const MslToken *t = &p->in[i];
        track_scope(p, i);
        if (t->kind == T_l_square && tp_is(p, i + 1, T_l_square)) {
            size_t end = tp_global_builtin(p, i);
            if (!end) end = tp_attributes(p, i);
            if (end) {
                i = end;
                continue;
            }
        }
        if (t->kind == T_identifier) {
            bool of_object = i && (tp_is(p, i - 1, T_period) || tp_is(p, i - 1, T_arrow)),
                 member = of_object || (i && tp_is(p, i - 1, T_coloncolon));
            if (!of_object && p->n_globals && tp_global_use(p, i)) continue;
            size_t end = member ? SIZE_MAX : edit_word(p, i);
            if (end != SIZE_MAX) {
                i = end;
                continue;
            }
        } else if (t->kind == T_kw_decltype && tp_is(p, i + 1, T_l_paren) &&
                   tp_is(p, i + 2, T_identifier) && tp_is(p, i + 3, T_r_paren) &&
                   !tp_is(p, i + 4, T_coloncolon)) {
            // decltype(name) would carry the variable's address space.
            tp_word(p, "__msl_unplaced_t", t->location), tp_punct(p, T_less, t->location);
            tp_copy(p, i, i + 4);
            tp_punct(p, T_greater, t->location);
            i += 3;
            continue;
        } else if (t->kind == T_kw_constexpr && declares_sampler(p, i)) {
            size_t name = declares_sampler(p, i);
            tp_word(p, "const", t->location), tp_word(p, "__constant", t->location);
            tp_copy(p, i, name + 1);
            if (tp_is(p, name + 1, T_semi)) // all defaults
                tp_punct(p, T_l_brace, t->location), tp_punct(p, T_r_brace, t->location);
            i = name;
            continue;
        } else if (t->kind >= T_kw_auto) {
            check_keyword(p, i);
        } else if (bfloat_literal(p, i) || float_literal(p, i) || long_literal(p, i)) {
            continue;
        }
        token_list_push(p->out, *t);
        if (t->kind == T_r_paren) tp_method_space(p, i);
    }
}

bool tokens_edit(BridgeJob *job, BaseArena *arena, unsigned version, const MslToken *in, size_t n,
                 TokenList *out) {
    TokenPass p = {.job = job, .arena = arena, .in = in, .n = n, .out = out, .version = version};
    if (n > 0) tp_check_allowed(&p);
    MslToken *tokens = n > 0 && n < UINT32_MAX ? tp_function_parameters(&p) : NULL;
    if (!tokens) goto done;
    tp_hide_later(&p, tokens);
    tp_vector_sizes(&p, tokens);
    if (!match_brackets(&p) || (tp_aggregates(&p, tokens) && !match_brackets(&p)) ||
        (tp_drop_twins(&p, tokens) && !match_brackets(&p)) ||
        (tp_conditionals(&p) && !match_brackets(&p)))
        goto done;
    if (p.too_deep || p.refused)
        token_list_push(out, p.in[p.n - 1]); // nothing to parse but the end
    else
        walk(&p);
done:;
    bool ok = p.match && !p.failed && !out->failed;
    free(p.match);
    free(p.scopes);
    free(p.methods);
    free(p.globals);
    return ok;
}
