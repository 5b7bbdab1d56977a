// SPDX-License-Identifier: Apache-2.0
// json_reader.h: reads JSON (RFC 8259) value by value, without building a tree: files of hundreds
// of megabytes of numbers are read at the speed of parsing them. The reader knows the path it is
// at, so that every message names the key.
//
//   if (json_enter_object(r)) while (json_next_key(r, &key)) { if (!strcmp(key, "a")) ... else
//   json_skip(r); } if (json_enter_array(r)) while (json_next_item(r)) ...
//
// After a failure every call returns false; json_ok tells. Ours because files of numbers are read
// without a tree and messages name the key; Debian 12 has no yyjson. Tests: tests/base/test_json.c,
// tests/fuzz/files/json.c (`make fuzz T=json`).
#ifndef INGOT_BASE_JSON_READER_H
#define INGOT_BASE_JSON_READER_H
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { JSON_MAX_DEPTH = 64, JSON_KEY_BYTES = 64, JSON_MESSAGE_BYTES = 512 };

typedef struct JsonLevel {
    char key[JSON_KEY_BYTES]; // in an object: the key at hand, cut to fit
    size_t index;             // in an array: of the item at hand
    bool is_array, any;       // any: a member was read
} JsonLevel;

typedef struct JsonReader {
    const char *at, *end;
    const char *name; // of the file
    char *message;    // JSON_MESSAGE_BYTES; may be NULL
    bool failed;
    int depth;
    JsonLevel levels[JSON_MAX_DEPTH];
} JsonReader;

void json_begin(JsonReader *r, const char *text, size_t n, const char *name, char *message);
bool json_ok(const JsonReader *r);
// Nothing but white space may be left; then json_ok.
bool json_finish(JsonReader *r);
// "name: path: text". Only the first failure counts. False.
bool json_fail(JsonReader *r, const char *format, ...) __attribute__((format(printf, 2, 3)));
// The same where there is no reader: a message of JSON_MESSAGE_BYTES, and false.
bool json_message(char *message, const char *format, ...) __attribute__((format(printf, 2, 3)));
// The same for a key under the place at hand.
bool json_fail_key(JsonReader *r, const char *key, const char *what);

bool json_enter_object(JsonReader *r);
bool json_next_key(JsonReader *r, const char **key); // valid until the next call at this level
// The same with the whole key, cut to fit.
bool json_next_key_text(JsonReader *r, char *to, size_t n_bytes);
bool json_enter_array(JsonReader *r);
bool json_next_item(JsonReader *r);
char json_peek(JsonReader *r); // first character of the next value; 0 at the end
bool json_null(JsonReader *r); // takes a null if there is one

bool json_float(JsonReader *r, float *value); // finite, in the range of float
bool json_double(JsonReader *r, double *value);
bool json_uint(JsonReader *r, uint64_t *value, uint64_t low, uint64_t high);
bool json_string_value(JsonReader *r, char *to, size_t n_bytes); // cut to fit
bool json_skip(JsonReader *r);                                   // any value, checked
#endif
