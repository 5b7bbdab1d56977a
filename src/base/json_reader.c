// SPDX-License-Identifier: Apache-2.0
// json_reader.c: see json_reader.h. Nothing here recurses: nesting is counted, and at
// JSON_MAX_DEPTH the file is refused. Numbers: up to 19 digits and small powers of ten are
// converted here (one exactly rounded operation, as Clinger showed); the rest goes to strtod.
#include "base/json_reader.h"
#include <float.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void json_begin(JsonReader *r, const char *text, size_t n, const char *name, char *message) {
    *r = (JsonReader){.at = text, .end = text + n, .name = name, .message = message};
    if (n >= 3 && !memcmp(text, "\xef\xbb\xbf", 3)) r->at += 3; // a byte order mark
}

bool json_ok(const JsonReader *r) { return !r->failed; }

static void write_path(const JsonReader *r, char *path, size_t n_bytes) {
    size_t at = 0;
    path[0] = 0;
    for (int i = 0; i < r->depth && at < n_bytes; i++) {
        const JsonLevel *l = r->levels + i;
        if (!l->any) break;
        int n = l->is_array ? snprintf(path + at, n_bytes - at, "[%zu]", l->index)
                            : snprintf(path + at, n_bytes - at, "%s%s", at ? "." : "", l->key);
        at += n > 0 ? (size_t)n : 0;
    }
}

// Bytes that would break the line become '?': paths and keys come from anywhere.
__attribute__((format(printf, 2, 3))) static bool say(JsonReader *r, const char *format, ...) {
    if (!r->message) return false;
    va_list list;
    va_start(list, format);
    vsnprintf(r->message, JSON_MESSAGE_BYTES, format, list);
    va_end(list);
    for (char *p = r->message; *p; p++)
        if ((unsigned char)*p < 32 || *p == 127) *p = '?';
    return false;
}

bool json_message(char *message, const char *format, ...) {
    va_list list;
    va_start(list, format);
    vsnprintf(message, JSON_MESSAGE_BYTES, format, list);
    va_end(list);
    return false;
}

bool json_fail(JsonReader *r, const char *format, ...) {
    if (r->failed) return false;
    r->failed = true;
    char path[200], text[200];
    write_path(r, path, sizeof path);
    va_list list;
    va_start(list, format);
    vsnprintf(text, sizeof text, format, list);
    va_end(list);
    return say(r, "%s: %s%s%s", r->name, path, *path ? ": " : "", text);
}

bool json_fail_key(JsonReader *r, const char *key, const char *what) {
    if (r->failed) return false;
    r->failed = true;
    char path[200];
    write_path(r, path, sizeof path);
    return say(r, "%s: %s%s%s: %s", r->name, path, *path ? "." : "", key, what);
}

static char here(JsonReader *r) {
    while (r->at < r->end && (*r->at == ' ' || *r->at == '\n' || *r->at == '\r' || *r->at == '\t'))
        r->at++;
    return r->at < r->end ? *r->at : 0;
}

char json_peek(JsonReader *r) { return r->failed ? 0 : here(r); }

static const char *kind(JsonReader *r) {
    char c = here(r);
    if (r->at >= r->end) return "the file ends";
    if (c == '{') return "there is an object";
    if (c == '[') return "there is an array";
    if (c == '"') return "there is a string";
    if (c == '-' || (c >= '0' && c <= '9')) return "there is a number";
    if (c == 't' || c == 'f') return "there is a boolean";
    size_t left = (size_t)(r->end - r->at);
    if (c == 'n' && left >= 4 && !memcmp(r->at, "null", 4)) return "there is null";
    if (c == 'N' || c == 'I') return "there is NaN or Infinity, which JSON does not have";
    return "this is not JSON";
}

bool json_finish(JsonReader *r) {
    if (r->failed) return false;
    if (here(r) || r->at < r->end) return json_fail(r, "there is more after the end of the value");
    return true;
}

static bool enter(JsonReader *r, char open, const char *what) {
    if (r->failed) return false;
    if (here(r) != open) return json_fail(r, "expected %s, but %s", what, kind(r));
    if (r->depth == JSON_MAX_DEPTH)
        return json_fail(r, "nested more than %d levels deep", JSON_MAX_DEPTH);
    r->at++;
    r->levels[r->depth++] = (JsonLevel){.is_array = open == '['};
    return true;
}

bool json_enter_object(JsonReader *r) { return enter(r, '{', "an object"); }
bool json_enter_array(JsonReader *r) { return enter(r, '[', "an array"); }

// After a member: a comma and the next one, or the end of the container (then its level is left).
static bool next_member(JsonReader *r, char close) {
    if (r->failed) return false;
    JsonLevel *l = r->levels + r->depth - 1;
    char c = here(r);
    if (c == close) {
        r->at++;
        r->depth--;
        return false;
    }
    if (!l->any) return true;
    if (c != ',') {
        if (r->at >= r->end) return json_fail(r, "the file ends here");
        return json_fail(r, "expected ',' or '%c' after this", close);
    }
    r->at++;
    if (here(r) == close) return json_fail(r, "a ',' stands before '%c'", close);
    return true;
}

bool json_next_item(JsonReader *r) {
    if (!next_member(r, ']')) return false;
    JsonLevel *l = r->levels + r->depth - 1;
    if (l->any) l->index++;
    l->any = true;
    return true;
}

static int hex_digit(char c) {
    if (c >= '0' && c <= '9') return c - '0';
    if (c >= 'a' && c <= 'f') return c - 'a' + 10;
    if (c >= 'A' && c <= 'F') return c - 'A' + 10;
    return -1;
}

// The four digits of a \u escape; r->at is behind them then.
static bool read_code(JsonReader *r, unsigned *code) {
    if (r->end - r->at < 5) return false;
    *code = 0;
    for (int i = 1; i <= 4; i++) {
        int d = hex_digit(r->at[i]);
        if (d < 0) return false;
        *code = *code << 4 | (unsigned)d;
    }
    r->at += 5;
    return true;
}

static size_t utf8(unsigned code, char to[4]) {
    if (code < 0x80) {
        to[0] = code ? (char)code : '?'; // texts end with a zero: there is none inside
        return 1;
    }
    size_t n = code < 0x800 ? 2 : code < 0x10000 ? 3 : 4;
    for (size_t i = n - 1; i > 0; i--, code >>= 6) to[i] = (char)(0x80 | (code & 0x3f));
    to[0] = (char)(n == 2 ? 0xc0 | code : n == 3 ? 0xe0 | code : 0xf0 | code);
    return n;
}

// One escape after the backslash, as UTF-8; 0: failed. Half of a surrogate pair is '?'.
static size_t read_escape(JsonReader *r, char to[4]) {
    static const char names[] = "\"\\/bfnrt", values[] = "\"\\/\b\f\n\r\t";
    if (r->at >= r->end) return json_fail(r, "a string does not end");
    const char *found = *r->at && *r->at != 'u' ? strchr(names, *r->at) : NULL;
    if (found) {
        to[0] = values[found - names];
        r->at++;
        return 1;
    }
    unsigned code, low;
    if (*r->at != 'u' || !read_code(r, &code)) return json_fail(r, "a string has a bad escape");
    if (code >= 0xd800 && code < 0xdc00 && r->end - r->at >= 6 && r->at[0] == '\\' &&
        r->at[1] == 'u') {
        const char *back = r->at++;
        if (!read_code(r, &low)) return json_fail(r, "a string has a bad escape");
        if (low >= 0xdc00 && low < 0xe000)
            return utf8(0x10000 + ((code - 0xd800) << 10) + (low - 0xdc00), to);
        r->at = back;
    }
    return utf8(code >= 0xd800 && code < 0xe000 ? '?' : code, to);
}

// How long the character is whose first byte is at p, as UTF-8 has it (no overlong forms, no halves
// of surrogate pairs, nothing above U+10FFFF); 0: it is none.
static size_t character(const unsigned char *p, const unsigned char *end) {
    if (p[0] < 0x80) return 1;
    const size_t n = p[0] < 0xc2 ? 0 : p[0] < 0xe0 ? 2 : p[0] < 0xf0 ? 3 : p[0] < 0xf5 ? 4 : 0;
    if (!n || (size_t)(end - p) < n) return 0;
    for (size_t i = 1; i < n; i++)
        if ((p[i] & 0xc0) != 0x80) return 0;
    const unsigned two = (unsigned)p[0] << 8 | p[1];
    const bool overlong = (two >= 0xe080 && two < 0xe0a0) || (two >= 0xf080 && two < 0xf090);
    const bool surrogate = two >= 0xeda0 && two < 0xee00;
    return overlong || surrogate || two >= 0xf490 ? 0 : n;
}

bool json_string_value(JsonReader *r, char *to, size_t n_bytes) {
    if (r->failed) return false;
    if (here(r) != '"') return json_fail(r, "expected a string, but %s", kind(r));
    r->at++;
    size_t n = 0;
    for (;;) {
        if (r->at >= r->end) return json_fail(r, "a string does not end");
        char c = *r->at, more[4] = {c};
        size_t length = character((const unsigned char *)r->at, (const unsigned char *)r->end);
        if (!length) return json_fail(r, "a string is not UTF-8");
        if ((unsigned char)c < 32) return json_fail(r, "a string has a control character");
        memcpy(more, r->at, length);
        r->at += length;
        if (c == '"') break;
        if (c == '\\' && !(length = read_escape(r, more))) return false;
        if (n + length < n_bytes) {
            memcpy(to + n, more, length);
            n += length;
        }
    }
    if (n_bytes) to[n] = 0;
    return true;
}

bool json_next_key_text(JsonReader *r, char *to, size_t n_bytes) {
    if (!next_member(r, '}')) return false;
    JsonLevel *l = r->levels + r->depth - 1;
    if (here(r) != '"') return json_fail(r, "expected a key in quotes, but %s", kind(r));
    if (!json_string_value(r, to, n_bytes)) return false;
    size_t n = strlen(to);
    if (n >= sizeof l->key) n = sizeof l->key - 1;
    memcpy(l->key, to, n);
    l->key[n] = 0;
    l->any = true;
    if (here(r) != ':') return json_fail(r, "expected ':' after the key");
    r->at++;
    return true;
}

bool json_next_key(JsonReader *r, const char **key) {
    char next[JSON_KEY_BYTES];
    JsonLevel *l = r->levels + (r->depth ? r->depth - 1 : 0);
    if (!json_next_key_text(r, next, sizeof next)) return false;
    *key = l->key;
    return true;
}

bool json_null(JsonReader *r) {
    if (json_peek(r) != 'n' || r->end - r->at < 4 || memcmp(r->at, "null", 4)) return false;
    r->at += 4;
    return true;
}

// A number as the grammar has it, from r->at; false if there is none.
static bool scan_number(JsonReader *r, double *value) {
    static const double powers[] = {1e0,  1e1,  1e2,  1e3,  1e4,  1e5,  1e6,  1e7,
                                    1e8,  1e9,  1e10, 1e11, 1e12, 1e13, 1e14, 1e15,
                                    1e16, 1e17, 1e18, 1e19, 1e20, 1e21, 1e22};
    const char *start = r->at, *p = start, *end = r->end;
    bool negative = p < end && *p == '-';
    p += negative;
    if (p >= end || *p < '0' || *p > '9') return false;
    uint64_t digits = 0;
    int n_digits = 0, exponent = 0;
    if (*p == '0' && p + 1 < end && p[1] >= '0' && p[1] <= '9') return false;
    for (; p < end && *p >= '0' && *p <= '9'; p++) {
        if (n_digits < 19) digits = digits * 10 + (uint64_t)(*p - '0');
        n_digits += digits != 0;
    }
    if (p < end && *p == '.') {
        const char *fraction = ++p;
        for (; p < end && *p >= '0' && *p <= '9'; p++) {
            if (n_digits < 19) digits = digits * 10 + (uint64_t)(*p - '0'), --exponent;
            n_digits += digits != 0;
        }
        if (p == fraction) return false;
    }
    if (p < end && (*p == 'e' || *p == 'E')) {
        p++;
        bool down = p < end && *p == '-';
        if (p < end && (*p == '-' || *p == '+')) p++;
        if (p >= end || *p < '0' || *p > '9') return false;
        int e = 0;
        for (; p < end && *p >= '0' && *p <= '9'; p++)
            if (e < 100000) e = e * 10 + (*p - '0');
        exponent += down ? -e : e;
    }
    r->at = p;
    if (n_digits <= 19 && digits <= (uint64_t)1 << 53 && exponent >= -22 && exponent <= 22) {
        double v = (double)digits;
        v = exponent < 0 ? v / powers[-exponent] : v * powers[exponent];
        *value = negative ? -v : v;
        return true;
    }
    char copy[512]; // strtod wants an end; digits beyond this do not change the value we can hold
    size_t n = (size_t)(p - start);
    if (n >= sizeof copy) return false;
    memcpy(copy, start, n);
    copy[n] = 0;
    *value = strtod(copy, NULL);
    return true;
}

bool json_double(JsonReader *r, double *value) {
    if (r->failed) return false;
    char c = here(r);
    if (c != '-' && (c < '0' || c > '9')) return json_fail(r, "expected a number, but %s", kind(r));
    if (!scan_number(r, value)) return json_fail(r, "this is not a number of JSON");
    if (!isfinite(*value)) return json_fail(r, "the number is too large");
    return true;
}

bool json_float(JsonReader *r, float *value) {
    double d;
    if (!json_double(r, &d)) return false;
    if (fabs(d) > FLT_MAX) return json_fail(r, "the number is too large for float");
    *value = (float)d;
    return true;
}

bool json_uint(JsonReader *r, uint64_t *value, uint64_t low, uint64_t high) {
    double d;
    if (!json_double(r, &d)) return false;
    if (d != floor(d) || d < (double)low || d > (double)high || d >= 0x1p64)
        return json_fail(r, "expected a whole number from %llu to %llu", (unsigned long long)low,
                         (unsigned long long)high);
    *value = (uint64_t)d;
    return true;
}

static bool skip_word(JsonReader *r, const char *word) {
    size_t n = strlen(word);
    if ((size_t)(r->end - r->at) < n || memcmp(r->at, word, n))
        return json_fail(r, "this is not JSON");
    r->at += n;
    return true;
}

static bool skip_scalar(JsonReader *r) {
    double ignored;
    switch (here(r)) {
    case '"': return json_string_value(r, NULL, 0);
    case 't': return skip_word(r, "true");
    case 'f': return skip_word(r, "false");
    case 'n': return skip_word(r, "null");
    default: return json_double(r, &ignored);
    }
}

bool json_skip(JsonReader *r) {
    if (r->failed) return false;
    const int base = r->depth;
    const char *key;
    do {
        char c = json_peek(r);
        if (c == '{')
            json_enter_object(r);
        else if (c == '[')
            json_enter_array(r);
        else if (!skip_scalar(r))
            return false;
        // Leave what ends here; stop at the next value, or when the one we came for is over.
        while (r->depth > base) {
            int depth = r->depth;
            bool more = r->levels[depth - 1].is_array ? json_next_item(r) : json_next_key(r, &key);
            if (r->failed) return false;
            if (more) break;
        }
    } while (r->depth > base && !r->failed);
    return !r->failed;
}
