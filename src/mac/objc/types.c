// SPDX-License-Identifier: Apache-2.0
// types.c: types as the compiler writes them in signatures: "{CGSize=dd}24@0:8f16".
#include "mac/objc/types.h"
#include <stdlib.h>
#include <string.h>

const char *objc_type_unqualified(const char *t) {
    while (*t && strchr("rnNoORVA!", *t)) t++;
    return t;
}

// Behind one type, without the offset that may follow.
static const char *skip_type(const char *t) {
    t = objc_type_unqualified(t);
    if (*t == '"') { // the name of a field
        const char *end = strchr(t + 1, '"');
        return skip_type(end ? end + 1 : t + strlen(t));
    }
    int depth = 0;
    switch (*t) {
    case '\0': return t;
    case '^':
    case 'j': return skip_type(t + 1);
    case 'b':
        for (t++; *t >= '0' && *t <= '9';) t++;
        return t;
    case '@':
        t++;
        if (*t == '?') {
            t++;
            if (*t != '<') return t;
            do depth += (*t == '<') - (*t == '>');
            while (*t && (t++, depth));
            return t;
        }
        if (*t != '"') return t;
        t = strchr(t + 1, '"');
        return t ? t + 1 : "";
    case '{':
    case '(':
    case '[':
        do depth += (*t == '{' || *t == '(' || *t == '[') - (*t == '}' || *t == ')' || *t == ']');
        while (*t && (t++, depth));
        return t;
    default: return t + 1;
    }
}

const char *objc_type_skip(const char *t) {
    t = skip_type(t);
    if (*t == '+' || *t == '-') t++;
    while (*t >= '0' && *t <= '9') t++;
    return t;
}

size_t objc_type_count(const char *types) {
    size_t n = 0;
    if (!types || !*types) return 0;
    for (types = objc_type_skip(types); *types; types = objc_type_skip(types)) n++;
    return n;
}

static size_t scalar_size(char c) {
    switch (c) {
    case 'c':
    case 'C':
    case 'B': return 1;
    case 's':
    case 'S': return 2;
    case 'i':
    case 'I':
    case 'l':
    case 'L':
    case 'f': return 4;
    case 'v': return 0;
    case 'D':
    case 't':
    case 'T': return 16;
    default: return 8;
    }
}

typedef struct Walk {
    TypePart *parts;
    size_t n, room;
    bool simple; // no bit-field, not too many parts
} Walk;

static size_t walk(const char *type, size_t at, Walk *w, size_t *alignment);

static const char *behind_name(const char *t) { // of a struct or union: its first field, or the end
    char close = *t == '{' ? '}' : ')';
    while (*t && *t != '=' && *t != close) t++;
    return *t == '=' ? t + 1 : t;
}

static size_t walk_fields(const char *t, size_t at, Walk *w, size_t *alignment) {
    bool is_union = *t == '(';
    char close = is_union ? ')' : '}';
    size_t size = 0;
    *alignment = 1;
    for (t = behind_name(t); *t && *t != close; t = skip_type(t)) {
        size_t field_alignment, before = w->n;
        bool was_simple = w->simple;
        size_t n = walk(t, 0, w, &field_alignment); // for its alignment
        w->n = before, w->simple = was_simple;
        size_t offset =
            is_union ? 0 : (size + field_alignment - 1) / field_alignment * field_alignment;
        walk(t, at + offset, w, &field_alignment);
        if (offset + n > size) size = offset + n;
        if (field_alignment > *alignment) *alignment = field_alignment;
    }
    return (size + *alignment - 1) / *alignment * *alignment;
}

static size_t walk(const char *type, size_t at, Walk *w, size_t *alignment) {
    const char *t = objc_type_unqualified(type);
    if (*t == '"') {
        const char *end = strchr(t + 1, '"');
        t = objc_type_unqualified(end ? end + 1 : "");
    }
    if (*t == '{' || *t == '(') return walk_fields(t, at, w, alignment);
    if (*t == '[') {
        char *element;
        size_t count = strtoul(t + 1, &element, 10), size = 0;
        *alignment = 1;
        for (size_t i = 0; i < count; i++) size = walk(element, at + i * size, w, alignment);
        return size * count;
    }
    bool complex = *t == 'j';
    if (complex) t++;
    size_t size = scalar_size(*t);
    *alignment = size ? size : 1;
    if (*t == 'b' || *t == '?') w->simple = *t == '?';
    for (int i = 0; i < (complex ? 2 : 1) && size; i++) {
        if (w->n < w->room) w->parts[w->n] = (TypePart){*t, at + (size_t)i * size, size};
        w->n++;
    }
    return complex ? 2 * size : size;
}

size_t objc_type_size(const char *type, size_t *alignment) {
    Walk w = {.simple = true};
    size_t align;
    size_t size = walk(type, 0, &w, &align);
    if (alignment) *alignment = align;
    return size;
}

bool type_parts(const char *type, TypePart *parts, size_t room, size_t *n, size_t *size) {
    Walk w = {.parts = parts, .room = room, .simple = true};
    size_t alignment;
    *size = walk(type, 0, &w, &alignment);
    *n = w.n;
    return w.simple;
}
