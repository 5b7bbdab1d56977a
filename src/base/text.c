// SPDX-License-Identifier: Apache-2.0
// text.c: growing strings (see text.h).
#include "base/text.h"
#include "base/array.h"
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static bool reserve(Text *t, size_t n) {
    if (t->failed) return false;
    if (t->capacity - t->n_bytes > n) return true; // one byte more than n: the zero
    size_t all;
    t->failed = __builtin_add_overflow(t->n_bytes + 1, n, &all) ||
                !array_reserve(&t->data, &t->capacity, all);
    return !t->failed;
}

void text_add_bytes(Text *t, const char *s, size_t n) {
    if (!reserve(t, n)) return;
    if (n) memcpy(t->data + t->n_bytes, s, n);
    t->n_bytes += n;
    t->data[t->n_bytes] = 0;
}

void text_add_visible(Text *t, const char *s, size_t n, bool lines) {
    for (size_t i = 0; i < n; i++) {
        unsigned char c = (unsigned char)s[i], next = i + 1 < n ? (unsigned char)s[i + 1] : 0;
        bool c1 = c == 0xc2 && next >= 0x80 && next < 0xa0; // U+0080 to U+009F, in UTF-8
        if (c1)
            text_printf(t, "\\x%02x", next), i++;
        else if ((c < ' ' || c == 127) && c != '\t' && !(lines && c == '\n'))
            text_printf(t, "\\x%02x", c);
        else
            text_add_bytes(t, s + i, 1);
    }
}

void text_add(Text *t, const char *s) { text_add_bytes(t, s, strlen(s)); }

static void add_formatted(Text *t, const char *format, va_list list) {
    va_list again;
    va_copy(again, list);
    int n = vsnprintf(NULL, 0, format, list);
    if (n < 0)
        t->failed = true;
    else if (reserve(t, (size_t)n)) {
        vsnprintf(t->data + t->n_bytes, (size_t)n + 1, format, again);
        t->n_bytes += (size_t)n;
    }
    va_end(again);
}

void text_printf(Text *t, const char *format, ...) {
    va_list list;
    va_start(list, format);
    add_formatted(t, format, list);
    va_end(list);
}

char *text_take(Text *t) {
    if (!t->failed) text_add_bytes(t, "", 0);
    char *s = t->failed ? NULL : t->data;
    if (t->failed) free(t->data);
    *t = (Text){0};
    return s;
}

void text_free(Text *t) {
    free(t->data);
    *t = (Text){0};
}

char *text_format(const char *format, ...) {
    Text t = {0};
    va_list list;
    va_start(list, format);
    add_formatted(&t, format, list);
    va_end(list);
    return text_take(&t);
}
