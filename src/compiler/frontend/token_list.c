// SPDX-License-Identifier: Apache-2.0
// token_list.c: a growing array of tokens, and text for new ones. A failed allocation sets
// `failed`; callers check once at the end of their work.
#include "compiler/frontend/frontend_int.h"
#include "base/array.h"
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

char *arena_format(BaseArena *a, const char *format, ...) {
    char text[512];
    va_list args, again;
    va_start(args, format);
    va_copy(again, args);
    int n = vsnprintf(text, sizeof text, format, args);
    char *s = n < 0 ? NULL : base_arena_alloc(a, (size_t)n + 1, 1);
    if (s && n < (int)sizeof text)
        memcpy(s, text, (size_t)n + 1);
    else if (s)
        vsnprintf(s, (size_t)n + 1, format, again);
    va_end(again);
    va_end(args);
    return s;
}

void token_list_push(TokenList *l, MslToken t) {
    if (l->failed || !array_reserve(&l->at, &l->capacity, l->n + 1)) {
        l->failed = true;
        return;
    }
    l->at[l->n++] = t;
}

void token_list_insert(TokenList *l, size_t at, MslToken t) {
    token_list_push(l, t);
    if (l->failed) return;
    memmove(l->at + at + 1, l->at + at, (l->n - 1 - at) * sizeof *l->at);
    l->at[at] = t;
}

void token_list_free(TokenList *l) {
    free(l->at);
    *l = (TokenList){0};
}
