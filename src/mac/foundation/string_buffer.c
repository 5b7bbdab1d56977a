// SPDX-License-Identifier: Apache-2.0
// string_buffer.c: growing, joining and converting characters.
#include "mac/foundation/string_buffer.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void *must(void *p) {
    if (p) return p;
    fputs("Foundation: no memory\n", stderr);
    abort();
}

static size_t unit(const StringBuffer *b) { return b->flags & STRING_WIDE ? 2 : 1; }

void buffer_reserve(StringBuffer *b, size_t room) {
    if (!b->flags) b->flags = STRING_ASCII;
    if (b->data && room <= b->room) return;
    size_t bigger = b->room * 2 > room ? b->room * 2 : room;
    if (bigger < 15) bigger = 15;
    b->data = must(realloc(b->data, (bigger + 1) * unit(b)));
    b->room = bigger;
}

static void end(StringBuffer *b) {
    if (b->flags & STRING_WIDE)
        ((uint16_t *)b->data)[b->length] = 0;
    else
        ((uint8_t *)b->data)[b->length] = 0;
}

static void widen(StringBuffer *b) {
    if (b->flags & STRING_WIDE) return;
    uint16_t *wide = must(malloc((b->room + 16) * 2));
    for (size_t i = 0; i < b->length; i++) wide[i] = ((const uint8_t *)b->data)[i];
    free(b->data);
    b->data = wide, b->flags = STRING_WIDE;
    if (b->room < 15) b->room = 15;
    end(b);
}

void buffer_append_ascii(StringBuffer *b, const char *text, size_t n) {
    buffer_reserve(b, b->length + n);
    if (b->flags & STRING_WIDE)
        for (size_t i = 0; i < n; i++) ((uint16_t *)b->data)[b->length + i] = (uint8_t)text[i];
    else if (n)
        memcpy((char *)b->data + b->length, text, n);
    b->length += n;
    end(b);
}

void buffer_append_wide(StringBuffer *b, const uint16_t *units, size_t n) {
    bool ascii = true;
    for (size_t i = 0; i < n; i++) ascii &= units[i] < 0x80;
    buffer_reserve(b, b->length + n);
    if (!ascii) widen(b);
    if (b->flags & STRING_WIDE)
        memcpy((uint16_t *)b->data + b->length, units, n * 2);
    else
        for (size_t i = 0; i < n; i++) ((uint8_t *)b->data)[b->length + i] = (uint8_t)units[i];
    b->length += n;
    end(b);
}

void buffer_append_code(StringBuffer *b, uint32_t code) {
    uint16_t units[2] = {(uint16_t)code, 0};
    size_t n = 1;
    if (code >= 0x10000) {
        units[0] = (uint16_t)(0xd800 + ((code - 0x10000) >> 10));
        units[1] = (uint16_t)(0xdc00 + ((code - 0x10000) & 0x3ff));
        n = 2;
    }
    buffer_append_wide(b, units, n);
}

// One code point; 0 bytes: not UTF-8 (too long, too short, a surrogate, beyond the last one).
static size_t decode(const uint8_t *s, size_t n, uint32_t *code) {
    static const uint32_t smallest[5] = {0, 0, 0x80, 0x800, 0x10000};
    size_t bytes = *s < 0x80             ? 1
                   : (*s & 0xe0) == 0xc0 ? 2
                   : (*s & 0xf0) == 0xe0 ? 3
                   : (*s & 0xf8) == 0xf0 ? 4
                                         : 0;
    if (!bytes || bytes > n) return 0;
    *code = bytes == 1 ? *s : *s & (0x7fu >> bytes);
    for (size_t i = 1; i < bytes; i++) {
        if ((s[i] & 0xc0) != 0x80) return 0;
        *code = *code << 6 | (s[i] & 0x3f);
    }
    if (*code < smallest[bytes] || *code > 0x10ffff || (*code >= 0xd800 && *code < 0xe000))
        return 0;
    return bytes;
}

bool buffer_append_utf8(StringBuffer *b, const char *text, size_t n) {
    const uint8_t *s = (const uint8_t *)text;
    size_t ascii = 0, before = b->length;
    while (ascii < n && s[ascii] < 0x80) ascii++;
    buffer_append_ascii(b, text, ascii);
    for (size_t i = ascii; i < n;) {
        uint32_t code;
        size_t bytes = decode(s + i, n - i, &code);
        if (!bytes) {
            b->length = before, end(b);
            return false;
        }
        buffer_append_code(b, code);
        i += bytes;
    }
    return true;
}

void buffer_append_latin1(StringBuffer *b, const uint8_t *text, size_t n) {
    for (size_t i = 0; i < n; i++) buffer_append_code(b, text[i]);
    if (!n) buffer_append_ascii(b, "", 0);
}

void buffer_append(StringBuffer *b, const StringBuffer *from, size_t at, size_t n) {
    if (from->flags & STRING_WIDE)
        buffer_append_wide(b, (const uint16_t *)from->data + at, n);
    else
        buffer_append_ascii(b, (const char *)from->data + at, n);
}

void buffer_replace(StringBuffer *b, size_t at, size_t n, const StringBuffer *with) {
    StringBuffer result = {0};
    buffer_reserve(&result, b->length - n + with->length);
    buffer_append(&result, b, 0, at);
    buffer_append(&result, with, 0, with->length);
    buffer_append(&result, b, at + n, b->length - at - n);
    buffer_free(b);
    *b = result;
}

void buffer_free(StringBuffer *b) {
    free(b->data);
    *b = (StringBuffer){0};
}

static size_t encode(uint32_t c, char *to) {
    uint8_t bytes[4];
    size_t n;
    if (c < 0x80)
        n = 1, bytes[0] = (uint8_t)c;
    else if (c < 0x800)
        n = 2, bytes[0] = (uint8_t)(0xc0 | c >> 6), bytes[1] = (uint8_t)(0x80 | (c & 0x3f));
    else if (c < 0x10000)
        n = 3, bytes[0] = (uint8_t)(0xe0 | c >> 12), bytes[1] = (uint8_t)(0x80 | (c >> 6 & 0x3f)),
        bytes[2] = (uint8_t)(0x80 | (c & 0x3f));
    else
        n = 4, bytes[0] = (uint8_t)(0xf0 | c >> 18), bytes[1] = (uint8_t)(0x80 | (c >> 12 & 0x3f)),
        bytes[2] = (uint8_t)(0x80 | (c >> 6 & 0x3f)), bytes[3] = (uint8_t)(0x80 | (c & 0x3f));
    if (to) memcpy(to, bytes, n);
    return n;
}

size_t buffer_utf8(const StringBuffer *b, char *to) {
    size_t n = 0;
    for (size_t i = 0; i < b->length; i++) {
        uint32_t c = buffer_at(b, i);
        if (c >= 0xd800 && c < 0xdc00 && i + 1 < b->length) {
            uint32_t low = buffer_at(b, i + 1);
            if (low >= 0xdc00 && low < 0xe000)
                c = 0x10000 + ((c - 0xd800) << 10) + (low - 0xdc00), i++;
        }
        if (c >= 0xd800 && c < 0xe000) c = 0xfffd; // half of a pair
        n += encode(c, to ? to + n : NULL);
    }
    if (to) to[n] = 0;
    return n;
}
