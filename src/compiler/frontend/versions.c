// SPDX-License-Identifier: Apache-2.0
// versions.c: features of the language by the version that brought them. One table, versions.def.
// A source for an older version does not see later names at all: in our headers the token pass
// spells them another way, so that a program may have such a name itself, as on a Mac.
#include "compiler/frontend/tokens_int.h"

typedef struct Fact {
    const char *name;
    unsigned version;
} Fact;

#define N(name, version) {#name, version},
#define A(name, version)
static const Fact names[] = {
#include "compiler/frontend/versions.def"
};
#undef N
#undef A
#define N(name, version)
#define A(name, version) {#name, version},
static const Fact attributes[] = {
#include "compiler/frontend/versions.def"
};
#undef N
#undef A

static unsigned find_fact(const Fact *facts, size_t n_facts, const char *name, size_t n) {
    for (size_t i = 0; i < n_facts; i++)
        if (facts[i].name[0] == name[0] && strncmp(facts[i].name, name, n) == 0 &&
            !facts[i].name[n])
            return facts[i].version;
    return 0;
}

unsigned version_of_name(const char *name, size_t n) {
    return find_fact(names, sizeof names / sizeof *names, name, n);
}

unsigned version_of_attribute(const char *name) {
    return find_fact(attributes, sizeof attributes / sizeof *attributes, name, strlen(name));
}

unsigned version_asked(const MslSource *source) {
    uint32_t v = source->language_version;
    return v ? (v >> 16) * 10 + (v & 0xffff) : VERSION_NEWEST;
}

void tp_hide_later(TokenPass *p, MslToken *tokens) {
    if (p->version >= VERSION_NEWEST) return;
    for (size_t i = 0; i < p->n; i++) {
        MslToken *t = &tokens[i];
        if (t->kind != T_identifier || version_of_name(t->text, t->n_text) <= p->version ||
            !bridge_in_system(p->job, t->location))
            continue;
        char *hidden = arena_format(p->arena, "__msl_later_%s", t->text);
        p->failed |= !hidden;
        if (hidden) *t = (MslToken){T_identifier, 0, t->location, (uint32_t)strlen(hidden), hidden};
    }
}

char *version_reason(const char *message, unsigned version) {
    static const char *const about[] = {"use of undeclared identifier '", "unknown type name '",
                                        "no template named '", "no member named '",
                                        "no type named '"};
    for (size_t i = 0; i < sizeof about / sizeof *about; i++) {
        const char *at = strstr(message, about[i]);
        if (!at) continue;
        at += strlen(about[i]);
        unsigned from = version_of_name(at, strcspn(at, "'"));
        if (from > version)
            return text_format("'%.*s' needs Metal %u.%u: the source is compiled as Metal %u.%u",
                               (int)strcspn(at, "'"), at, from / 10, from % 10, version / 10,
                               version % 10);
    }
    return NULL;
}
