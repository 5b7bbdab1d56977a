// SPDX-License-Identifier: Apache-2.0
// message.h: what went wrong as one line of text that names the file (and the key in it). Library
// code fills it in and returns false; tools print it.
#ifndef INGOT_BASE_MESSAGE_H
#define INGOT_BASE_MESSAGE_H
#include <stdbool.h>

enum { MESSAGE_BYTES = 512 };

// Sets the message (MESSAGE_BYTES long; bytes that would break the line become '?') and
// returns false. A message of NULL is a no-op.
bool message_fail(char *message, const char *format, ...) __attribute__((format(printf, 2, 3)));
#endif
