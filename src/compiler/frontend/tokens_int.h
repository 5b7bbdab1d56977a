// SPDX-License-Identifier: Apache-2.0
// tokens_int.h: the state of the token pass, shared by tokens.c (scopes, keywords), token_attrs.c
// (attributes), token_allow.c (what is refused), token_globals.c (built-ins and resources at
// program scope) and token_vars.c (threadgroup variables, template parameters).
#ifndef INGOT_FRONTEND_TOKENS_INT_H
#define INGOT_FRONTEND_TOKENS_INT_H
#include "compiler/frontend/frontend_int.h"
#include "compiler/frontend/token_kinds.h"
#include <string.h>

typedef enum ScopeKind { SCOPE_NAMESPACE = 0, SCOPE_CLASS, SCOPE_FUNCTION } ScopeKind;
typedef struct Scope {
    ScopeKind kind;
    const char *class_name; // "" unless a class with a name
    int paren;              // parentheses open around the brace
} Scope;

typedef struct TokenMethod {
    const char *class_name, *name;
} TokenMethod;

typedef struct TokenGlobal { // token_globals.c
    const char *name;
    size_t hidden_until; // by another thing of that name
} TokenGlobal;

typedef struct TokenPass {
    BridgeJob *job;
    BaseArena *arena;
    const MslToken *in;
    size_t n;        // the last token is eof, so in[i + 1] is valid for any i that is not it
    uint32_t *match; // partner of a bracket, n if it has none
    TokenList *out;
    Scope *scopes;
    size_t n_scopes, capacity_scopes;
    int paren;       // parentheses open in this scope
    size_t attr_end; // out->n after the last annotation in front of a declaration
    TokenMethod
        *methods; // member functions given the thread space, for definitions outside the class
    size_t n_methods, capacity_methods;
    TokenGlobal *globals;
    size_t n_globals;
    unsigned next_id; // for names we invent
    unsigned version; // of the language (versions.c)
    bool too_deep;    // brackets nest beyond the limit: reported, not parsed
    bool refused;     // something is not Metal's: reported, not parsed
    bool failed;      // out of memory
} TokenPass;

// Reading. Indices past the end read eof.
static inline const MslToken *tp_at(const TokenPass *p, size_t i) {
    return &p->in[i < p->n ? i : p->n - 1];
}
static inline bool tp_is(const TokenPass *p, size_t i, unsigned kind) {
    return tp_at(p, i)->kind == kind;
}
static inline bool tp_is_word(const TokenPass *p, size_t i, const char *word) {
    const MslToken *t = tp_at(p, i);
    return t->kind == T_identifier && strcmp(t->text, word) == 0;
}
static inline size_t tp_match(const TokenPass *p, size_t i) {
    return i < p->n ? p->match[i] : p->n;
}
static inline bool tp_in_function(const TokenPass *p) {
    return p->n_scopes && p->scopes[p->n_scopes - 1].kind == SCOPE_FUNCTION;
}
static inline const char *tp_class_name(const TokenPass *p) {
    return p->n_scopes ? p->scopes[p->n_scopes - 1].class_name : "";
}
bool tp_is_stage(const MslToken *t);
// The dialect's word for an address space; NULL: it is none.
const char *tp_space(const MslToken *t);

// Writing.
void tp_copy(TokenPass *p, size_t from, size_t to); // in[from, to)
void tp_word(TokenPass *p, const char *word,
             uint32_t location); // identifier or keyword; word must live on
void tp_punct(TokenPass *p, unsigned kind, uint32_t location);
void tp_string(TokenPass *p, const char *text, uint32_t location);
void tp_number(TokenPass *p, int number, uint32_t location);
size_t tp_declaration_start(const TokenPass *p); // in out

// `[[...]]` at in[i]; the index of its last token, or 0 if it is no attribute list.
size_t tp_attributes(TokenPass *p, size_t i);
void tp_annotate(TokenPass *p, const char *name,
                 uint32_t location); // [[name]], before a declaration
// `[[...]]` at in[i] that makes a built-in of a variable at program scope; the index of the `;`,
// or 0.
size_t tp_global_builtin(TokenPass *p, size_t i);
// Attributes in[from, to) of a variable at program scope, which ends before in[end]: if one binds
// it to a resource, its declaration in `out` is made ready for that.
bool tp_binding(TokenPass *p, size_t from, size_t to, size_t end);
// The declaration in `out` is of a variable that the host fills in.
void tp_declare_extern(TokenPass *p, uint32_t at);
// The word at in[i], as a call if it names such a variable.
bool tp_global_use(TokenPass *p, size_t i);
// `threadgroup` at in[i] that starts a variable in a function; the index of the `;`, or 0.
size_t tp_threadgroup_variable(TokenPass *p, size_t i);
// `T threadgroup name` there.
size_t tp_threadgroup_behind_type(TokenPass *p, size_t i);
// After the `)` at in[close] went out: adds the thread space if it ends a member function's
// parameters.
void tp_method_space(TokenPass *p, size_t close);
// Template parameters that are sizes of vectors become int. `tokens` is p->in.
void tp_vector_sizes(TokenPass *p, MslToken *tokens);
// versions.c: in our headers, names of later versions are spelt another way. `tokens` is p->in.
void tp_hide_later(TokenPass *p, MslToken *tokens);
// Empties member functions that differ from another only by a space the dialect does not tell
// apart. Brackets must be matched before, and again if it returns true.
bool tp_drop_twins(TokenPass *p, MslToken *tokens);
// Takes out constructors that would keep a structure from being an aggregate (token_aggregate.c).
// Brackets as for tp_drop_twins.
bool tp_aggregates(TokenPass *p, MslToken *tokens);
// Spells function-pointer template parameters as functions; replaces p->in and gives it. NULL
// without memory.
MslToken *tp_function_parameters(TokenPass *p);
// Operands of conditionals beside a vector just made are passed by value (token_conditional.c).
// True: there were some, and brackets must be matched again, as they must be before.
bool tp_conditionals(TokenPass *p);
// token_allow.c: complains about what is not Metal's. Before anything is edited.
void tp_check_allowed(TokenPass *p);
void tp_report(TokenPass *p, size_t i, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
void tp_warn(TokenPass *p, size_t i, const char *text);

#endif
