// SPDX-License-Identifier: Apache-2.0
// json.h: strings in JSON.
#ifndef INGOT_BASE_JSON_H
#define INGOT_BASE_JSON_H
#include <stddef.h>
#include "base/text.h"

// The string with quotes, escaped. Bytes that are no UTF-8 become U+FFFD.
void json_string(Text *t, const char *s);
// The escaped characters without quotes, cut between characters to fit n_bytes with a zero; returns
// the length. For buffers of fixed size.
size_t json_escape(char *to, size_t n_bytes, const char *s);
#endif
