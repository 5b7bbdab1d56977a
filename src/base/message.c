// SPDX-License-Identifier: Apache-2.0
// message.c: see message.h.
#include "base/message.h"
#include <stdarg.h>
#include <stdio.h>

bool message_fail(char *message, const char *format, ...) {
    if (!message) return false;
    va_list list;
    va_start(list, format);
    vsnprintf(message, MESSAGE_BYTES, format, list);
    va_end(list);
    for (char *p = message; *p; p++) // paths and keys come from anywhere
        if ((unsigned char)*p < 32 || *p == 127) *p = '?';
    return false;
}
