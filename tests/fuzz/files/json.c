// SPDX-License-Identifier: Apache-2.0
// fuzz_json.c: the JSON reader on any bytes, for libFuzzer (`make fuzz-json`). It may refuse them,
// but not read outside, not hang, and what json_skip takes must be readable value by value too,
// with the same end.
#include "base/json_reader.h"
#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n);

static bool read_value(JsonReader *r) { // no deeper than JSON_MAX_DEPTH
    char text[16];
    const char *key;
    double number;
    switch (json_peek(r)) {
    case '{':
        if (!json_enter_object(r)) return false;
        while (json_next_key(r, &key))
            if (!read_value(r)) return false;
        return json_ok(r);
    case '[':
        if (!json_enter_array(r)) return false;
        while (json_next_item(r))
            if (!read_value(r)) return false;
        return json_ok(r);
    case '"': return json_string_value(r, text, sizeof text);
    case 'n': return json_null(r) || json_skip(r);
    case 't':
    case 'f': return json_skip(r);
    default: return json_double(r, &number);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n) {
    char message[2][JSON_MESSAGE_BYTES];
    JsonReader skipped, read;
    json_begin(&skipped, (const char *)data, n, "file", message[0]);
    bool taken = json_skip(&skipped) && json_finish(&skipped);
    json_begin(&read, (const char *)data, n, "file", message[1]);
    if (taken != (read_value(&read) && json_finish(&read))) abort();
    return 0;
}
