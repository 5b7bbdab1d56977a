// SPDX-License-Identifier: Apache-2.0
// rust_source.c: see rust_source.h. A lexer that knows as much of Rust as it takes not to mistake a
// comment, a string or a lifetime for code (The Rust Reference, "Tokens"); over its tokens one
// pattern, NAME = "VALUE".
#include "mac/cargo/rust_source.h"
#include <string.h>

typedef enum TokenKind { END, NAME, STRING, PUNCTUATION } TokenKind; // STRING: "..." without prefix
typedef struct Token {
    TokenKind kind;
    char *text;
    size_t n;
} Token;

typedef struct Lexer {
    char *at, *end;
} Lexer;

static bool is_letter(char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' || (c & 0x80);
}
static bool is_in_name(char c) { return is_letter(c) || (c >= '0' && c <= '9'); }
static char peek(const Lexer *l, size_t i) {
    return (size_t)(l->end - l->at) > i ? l->at[i] : '\0';
}

// Block comments nest.
static void skip_block_comment(Lexer *l) {
    int depth = 0;
    do {
        if (peek(l, 0) == '/' && peek(l, 1) == '*')
            depth++, l->at += 2;
        else if (peek(l, 0) == '*' && peek(l, 1) == '/')
            depth--, l->at += 2;
        else
            l->at++;
    } while (depth && l->at < l->end);
}

static bool skip_space(Lexer *l) {
    char c = peek(l, 0);
    if (l->at == l->end) return false;
    if (c == ' ' || c == '\t' || c == '\n' || c == '\r') {
        l->at++;
    } else if (c == '/' && peek(l, 1) == '/') {
        char *line = memchr(l->at, '\n', (size_t)(l->end - l->at));
        l->at = line ? line : l->end;
    } else if (c == '/' && peek(l, 1) == '*') {
        skip_block_comment(l);
    } else {
        return false;
    }
    return true;
}

// Behind the `quote` that ends what l->at stands in.
static void skip_quoted(Lexer *l, char quote) {
    while (l->at < l->end && *l->at != quote) l->at += *l->at == '\\' && l->at + 1 < l->end ? 2 : 1;
    if (l->at < l->end) l->at++;
}

// r"...", br#"..."#: whether one stands here, behind which l->at is then.
static bool skip_raw_string(Lexer *l) {
    size_t i = 0, hashes = 0;
    if (peek(l, i) == 'b' || peek(l, i) == 'c') i++;
    if (peek(l, i++) != 'r') return false;
    while (peek(l, i) == '#') i++, hashes++;
    if (peek(l, i) != '"') return false;
    for (l->at += i + 1; l->at < l->end; l->at++) {
        size_t n = 0;
        if (*l->at != '"') continue;
        while (n < hashes && peek(l, n + 1) == '#') n++;
        if (n == hashes) {
            l->at += n + 1;
            break;
        }
    }
    return true;
}

// 'x', '\n', '\u{1F600}': a character. 'name: a lifetime, which ends where it begins to us.
static void skip_apostrophe(Lexer *l) {
    l->at++;
    if (peek(l, 0) == '\\') {
        skip_quoted(l, '\'');
        return;
    }
    size_t n = 1; // of a character in UTF-8
    while ((peek(l, n) & 0xc0) == 0x80) n++;
    if (peek(l, n) == '\'') l->at += n + 1;
}

static Token next_token(Lexer *l) {
    for (;;) {
        while (skip_space(l)) continue;
        char *start = l->at, c = peek(l, 0);
        if (l->at == l->end) return (Token){END, start, 0};
        if (skip_raw_string(l)) continue;
        if ((c == 'b' || c == 'c') && (peek(l, 1) == '"' || peek(l, 1) == '\'')) {
            l->at++;
            if (*l->at++ == '"')
                skip_quoted(l, '"');
            else
                skip_quoted(l, '\'');
        } else if (c == '\'') {
            skip_apostrophe(l);
        } else if (c == '"') {
            l->at++;
            skip_quoted(l, '"');
            return (Token){STRING, start, (size_t)(l->at - start)};
        } else if (is_in_name(c)) {
            while (is_in_name(peek(l, 0))) l->at++;
            return (Token){NAME, start, (size_t)(l->at - start)};
        } else {
            l->at++;
            return (Token){PUNCTUATION, start, 1};
        }
    }
}

static bool is_text(const Token *t, TokenKind kind, const char *text) {
    return t->kind == kind && t->n == strlen(text) && !memcmp(t->text, text, t->n);
}
static bool is(const Token *t, const char *text) { return is_text(t, PUNCTUATION, text); }

// ---- What is replaced ----

typedef struct Walk {
    const RustSource *how;
    int depth, link; // parentheses open; at how many those of `link(` are, 0: not inside
    Token library;   // its name = "..."
    bool is_framework;
    size_t n_replaced;
} Walk;

static void replace(Walk *w, const Token *t, const char *with) {
    memset(t->text, ' ', t->n);
    memcpy(t->text, with, strlen(with));
    w->n_replaced++;
}

static void in_link(Walk *w, const Token *name, const Token *value) {
    if (is_text(name, NAME, "name")) w->library = *value;
    if (!is_text(name, NAME, "kind") || !is_text(value, STRING, "\"framework\"")) return;
    w->is_framework = true;
    replace(w, value, "\"dylib\"");
}

static void in_condition(Walk *w, const Token *name, const Token *value) {
    bool is_os = is_text(name, NAME, "target_os");
    if (is_os && is_text(value, STRING, "\"macos\"")) {
        replace(w, value, "\"linux\"");
    } else if (is_os && is_text(value, STRING, "\"linux\"")) {
        replace(w, value, "\"macos\"");
    } else if (is_text(name, NAME, "target_vendor") && is_text(value, STRING, "\"apple\"")) {
        replace(w, name, "target_os");
        replace(w, value, "\"linux\"");
    }
}

static void track_parentheses(Walk *w, const Token *before, const Token *t) {
    if (is(t, "(")) {
        w->depth++;
        if (!w->link && is_text(before, NAME, "link")) {
            w->link = w->depth;
            w->library = (Token){0};
            w->is_framework = false;
        }
    } else if (is(t, ")")) {
        if (w->link == w->depth) {
            w->link = 0;
            if (w->is_framework && w->library.n > 2 && w->how->framework)
                w->how->framework(w->how->context, w->library.text + 1, w->library.n - 2);
        }
        w->depth -= w->depth > 0;
    }
}

size_t rust_source_rewrite(const RustSource *how, char *text, size_t n_bytes) {
    Lexer lexer = {text, text + n_bytes};
    Walk walk = {.how = how};
    Token a = {0}, b = {0}, c = {0}; // the three before t
    for (Token t = next_token(&lexer);; a = b, b = c, c = t, t = next_token(&lexer)) {
        // NAME = "VALUE" before t. With a `;` behind it is a statement of the program's own.
        if (a.kind == NAME && is(&b, "=") && c.kind == STRING && !is(&t, ";")) {
            if (walk.link)
                in_link(&walk, &a, &c);
            else if (how->is_mac)
                in_condition(&walk, &a, &c);
        }
        if (t.kind == END) return walk.n_replaced;
        track_parentheses(&walk, &c, &t);
    }
}
