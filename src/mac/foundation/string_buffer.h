// SPDX-License-Identifier: Apache-2.0
// string_buffer.h: characters of a string: ASCII in bytes, anything else in UTF-16. The two forms
// are those of the compiler's constant strings, so that a constant is read like any other.
#ifndef INGOT_FOUNDATION_STRING_BUFFER_H
#define INGOT_FOUNDATION_STRING_BUFFER_H
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { STRING_ASCII = 0x08, STRING_WIDE = 0x10 }; // bits of the compiler's 0x7c8 and 0x7d0

typedef struct StringBuffer {
    int flags;            // STRING_*
    void *data;           // ends with a zero that is not counted
    unsigned long length; // characters (units of UTF-16)
    unsigned long room;   // characters that data has room for, without the zero; 0: not ours
} StringBuffer;

static inline uint16_t buffer_at(const StringBuffer *b, size_t i) {
    return b->flags & STRING_WIDE ? ((const uint16_t *)b->data)[i] : ((const uint8_t *)b->data)[i];
}
void buffer_append_ascii(StringBuffer *b, const char *text, size_t n);
void buffer_append_wide(StringBuffer *b, const uint16_t *units, size_t n);
bool buffer_append_utf8(StringBuffer *b, const char *text,
                        size_t n); // false: not UTF-8, b as before
void buffer_append_latin1(StringBuffer *b, const uint8_t *text, size_t n);
void buffer_append_code(StringBuffer *b, uint32_t code); // a code point
void buffer_append(StringBuffer *b, const StringBuffer *from, size_t at, size_t n);
void buffer_replace(StringBuffer *b, size_t at, size_t n, const StringBuffer *with);
void buffer_reserve(StringBuffer *b, size_t room);
void buffer_free(StringBuffer *b);
// The UTF-8 form: bytes without the zero; written to `to` if that is not NULL (room for all and a
// zero).
size_t buffer_utf8(const StringBuffer *b, char *to);
#endif
