// SPDX-License-Identifier: Apache-2.0
// error.c: see error.h.
#include "apps/neural/error.h"
#include <stdarg.h>
#include <stdio.h>

bool neural_fail(char *message, const char *format, ...) {
    if (!message) return false;
    va_list list;
    va_start(list, format);
    vsnprintf(message, NEURAL_ERROR_BYTES, format, list);
    va_end(list);
    for (char *p = message; *p; p++) // paths and keys come from anywhere
        if ((unsigned char)*p < 32 || *p == 127) *p = '?';
    return false;
}
