// SPDX-License-Identifier: Apache-2.0
// token_allow.c: what of Clang a program may use. Metal is a part of what Clang compiles; the rest
// (sections, constructors, aliases, other calling conventions, jumps out of a frame, thread-local
// variables) would let a program run code of its own when a library is loaded. Attributes,
// built-ins and pragmas come from a list, allowed.def; what is not on it is an error where it
// stands, and Clang gets nothing of the program to parse. After macro expansion, so that no
// spelling hides a name. Our own headers are left alone.
#include "compiler/frontend/tokens_int.h"

#define COUNT(table) (sizeof(table) / sizeof *(table))

static const char *const attributes[] = {
#define G(name) name,
#include "compiler/frontend/allowed.def"
};

typedef struct Builtin {
    const char *name;
    size_t more; // letters that may follow
} Builtin;
static const Builtin builtins[] = {
#define B(name) {name, 0},
#define F(name) {name, 4},
#define W(prefix) {prefix, SIZE_MAX},
#include "compiler/frontend/allowed.def"
};

static bool attribute_allowed(const char *name) {
    size_t n = strlen(name);
    if (n > 4 && !memcmp(name, "__", 2) && !memcmp(name + n - 2, "__", 2)) name += 2, n -= 4;
    for (size_t i = 0; i < COUNT(attributes); i++)
        if (strlen(attributes[i]) == n && !memcmp(attributes[i], name, n)) return true;
    return false;
}

static bool builtin_allowed(const char *name) {
    for (size_t i = 0; i < COUNT(builtins); i++) {
        size_t n = strlen(builtins[i].name);
        if (!strncmp(name, builtins[i].name, n) && strlen(name + n) <= builtins[i].more)
            return true;
    }
    return false;
}

BridgePragma allow_pragma(const char *first, const char *next) {
    static const struct {
        const char *first, *next;
    } taken[] = {
#define P(one, two) {one, two},
#include "compiler/frontend/allowed.def"
    };
    static const char *const known[] = {
#define R(name) name,
#include "compiler/frontend/allowed.def"
    };
    for (size_t i = 0; i < COUNT(taken); i++)
        if (!strcmp(taken[i].first, first) && (!taken[i].next || !strcmp(taken[i].next, next)))
            return BRIDGE_PRAGMA_TAKE;
    for (size_t i = 0; i < COUNT(known); i++)
        if (!strcmp(known[i], first)) return BRIDGE_PRAGMA_REFUSE;
    return BRIDGE_PRAGMA_IGNORE;
}

static void refuse(TokenPass *p, size_t i, const char *what) {
    if (bridge_is_ours(p->job, p->in[i].location)) return;
    tp_report(p, i, "%s'%s' is not supported in Metal", what, p->in[i].text);
    p->refused = true;
}

// Brackets nest so deep in no program that is parsed, and lists that never end cost no more.
enum { TOO_DEEP = 300 };

// Names in an attribute list whose two brackets are open at in[i]. Arguments stand deeper.
// Of a list in double brackets only names with a scope are looked at: Metal's have none, and those
// of C++ are harmless.
static void check_list(TokenPass *p, size_t i, bool scoped) {
    bool all = !scoped || tp_is(p, i, T_kw_using); // [[using gnu: a, b]]
    for (int depth = 2; depth > 0 && depth < TOO_DEEP && i + 1 < p->n; i++) {
        unsigned kind = p->in[i].kind;
        depth += (kind == T_l_paren || kind == T_l_square || kind == T_l_brace) -
                 (kind == T_r_paren || kind == T_r_square || kind == T_r_brace);
        if (depth != 2 || !p->in[i].text || kind == T_kw_using) continue;
        bool is_scope = tp_is(p, i + 1, T_coloncolon) || tp_is(p, i + 1, T_colon),
             in_scope = all || tp_is(p, i - 1, T_coloncolon);
        if (in_scope && !is_scope && !attribute_allowed(p->in[i].text)) refuse(p, i, "attribute ");
    }
}

static void check_name(TokenPass *p, size_t i) {
    static const char prefix[] = "__builtin_";
    const char *name = p->in[i].text;
    bool prefixed = !strncmp(name, prefix, sizeof prefix - 1);
    // What our headers say to the compiler: calls that it believes, and lists as long as somebody
    // asks for.
    bool internal = !strncmp(name, "__ingot", 7) || !strcmp(name, "__make_integer_seq") ||
                    !strcmp(name, "__type_pack_element");
    if (internal || (prefixed ? !builtin_allowed(name + sizeof prefix - 1)
                              : p->in[i].kind == T_identifier && bridge_is_builtin(p->job, name)))
        refuse(p, i, "");
}

void tp_check_allowed(TokenPass *p) {
    for (size_t i = 0; i + 1 < p->n; i++) {
        const MslToken *t = &p->in[i];
        switch (t->kind) {
        case T_kw___attribute:
            if (tp_is(p, i + 1, T_l_paren) && tp_is(p, i + 2, T_l_paren))
                check_list(p, i + 3, false);
            break;
        case T_l_square:
            if (tp_is(p, i + 1, T_l_square)) check_list(p, i + 2, true);
            break;
        case T_kw___declspec:
        case T_kw___thread:
        case T_kw__Thread_local:
        case T_kw___private_extern__:
        case T_kw___module_private__:
        case T_kw___label__:
        case T_kw___cdecl:
        case T_kw___stdcall:
        case T_kw___fastcall:
        case T_kw___thiscall:
        case T_kw___regcall:
        case T_kw___vectorcall:
        case T_kw___pascal:
        case T_kw___ptrauth:
        case T_kw___funcref: refuse(p, i, ""); break;
        default:
            // Literals have text too, which does not end in a NUL.
            if ((t->kind == T_identifier || t->kind >= T_kw_auto) && t->n_text > 2 && t->text &&
                t->text[0] == '_' && t->text[1] == '_')
                check_name(p, i);
        }
    }
}
