// SPDX-License-Identifier: Apache-2.0
// text.h: a string that grows. {0} is empty; text_take hands the characters over.
#ifndef INGOT_BASE_TEXT_H
#define INGOT_BASE_TEXT_H
#include <stdbool.h>
#include <stddef.h>

typedef struct Text {
    char *data; // zero-terminated once anything was added; owned
    size_t n_bytes, capacity;
    bool failed; // out of memory: later additions do nothing
} Text;

void text_add(Text *t, const char *s);
void text_add_bytes(Text *t, const char *s, size_t n);
void text_printf(Text *t, const char *format, ...) __attribute__((format(printf, 2, 3)));
// Text of a file or of a stranger, to be shown: control characters, which terminals obey, as \xNN;
// tabs stay, and where there may be several lines, their ends.
void text_add_visible(Text *t, const char *s, size_t n, bool lines);
// The characters ("" if nothing was added), owned by the caller; NULL without memory. t is empty
// then.
char *text_take(Text *t);
void text_free(Text *t);
// malloc'd printf; NULL without memory.
char *text_format(const char *format, ...) __attribute__((format(printf, 1, 2)));
#endif
