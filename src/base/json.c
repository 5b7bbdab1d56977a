// SPDX-License-Identifier: Apache-2.0
// json.c: escaping (see json.h). Labels and paths come from anywhere: what is not UTF-8 (RFC 3629:
// overlong forms and surrogates count as not) is replaced, so that every reader takes the file.
#include "base/json.h"
#include <stdio.h>
#include <string.h>

// Bytes of the well-formed character at s; 0 if there is none.
static size_t utf8_length(const unsigned char *s) {
    static const struct {
        unsigned char first, last, low, high; // range of byte 1 and of byte 2
        unsigned char n;
    } forms[] = {
        {0x00, 0x7f, 0, 0, 1},       {0xc2, 0xdf, 0x80, 0xbf, 2}, {0xe0, 0xe0, 0xa0, 0xbf, 3},
        {0xe1, 0xec, 0x80, 0xbf, 3}, {0xed, 0xed, 0x80, 0x9f, 3}, {0xee, 0xef, 0x80, 0xbf, 3},
        {0xf0, 0xf0, 0x90, 0xbf, 4}, {0xf1, 0xf3, 0x80, 0xbf, 4}, {0xf4, 0xf4, 0x80, 0x8f, 4}};
    for (size_t i = 0; i < sizeof forms / sizeof *forms; i++) {
        if (*s < forms[i].first || *s > forms[i].last) continue;
        if (forms[i].n > 1 && (s[1] < forms[i].low || s[1] > forms[i].high)) return 0;
        for (unsigned k = 2; k < forms[i].n; k++)
            if (s[k] < 0x80 || s[k] > 0xbf) return 0;
        return forms[i].n;
    }
    return 0;
}

// One character of s, escaped; *n bytes of s were taken. At most 6 characters and a zero.
static void escape_one(char out[8], const char *s, size_t *n) {
    unsigned char c = (unsigned char)*s;
    *n = utf8_length((const unsigned char *)s);
    if (*n == 0) {
        *n = 1;
        strcpy(out, "\\ufffd");
    } else if (c == '"' || c == '\\') {
        out[0] = '\\', out[1] = (char)c, out[2] = 0;
    } else if (c < 32 || c == 127) {
        snprintf(out, 8, "\\u%04x", c);
    } else {
        memcpy(out, s, *n);
        out[*n] = 0;
    }
}

void json_string(Text *t, const char *s) {
    text_add(t, "\"");
    for (size_t n; *s; s += n) {
        char one[8];
        escape_one(one, s, &n);
        text_add(t, one);
    }
    text_add(t, "\"");
}

size_t json_escape(char *to, size_t n_bytes, const char *s) {
    size_t at = 0;
    for (size_t n; n_bytes && *s; s += n) {
        char one[8];
        escape_one(one, s, &n);
        size_t length = strlen(one);
        if (at + length >= n_bytes) break;
        memcpy(to + at, one, length);
        at += length;
    }
    if (n_bytes) to[at] = 0;
    return at;
}
