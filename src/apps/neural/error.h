// SPDX-License-Identifier: Apache-2.0
// error.h: how the neural half reports what went wrong: one line of text that names the file (and
// the key in it). Library code fills it in and returns false; tools print it.
#ifndef INGOT_NEURAL_ERROR_H
#define INGOT_NEURAL_ERROR_H
#include <stdbool.h>
#include "apps/neural/network.h" // NEURAL_ERROR_BYTES

// Sets the message (NEURAL_ERROR_BYTES long; bytes that would break the line become '?') and
// returns false. A message of NULL is a no-op.
bool neural_fail(char *message, const char *format, ...) __attribute__((format(printf, 2, 3)));
#endif
