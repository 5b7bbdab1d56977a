// SPDX-License-Identifier: Apache-2.0
// error.c: errors of the tensor library.
#include <stdarg.h>
#include <stdio.h>
#include "tensor/tensor_int.h"

const char *const IgErrorDomain = "IgErrorDomain";

bool ig_fail(MTLError **error, IgErrorCode code, const char *format, ...) {
    if (!error) return false;
    char text[1024];
    va_list args;
    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    mtl_release(*error);
    *error = mtl_error_new(IgErrorDomain, code, text);
    return false;
}

bool ig_fail_no_memory(MTLError **error) { return ig_fail(error, IgErrorMemory, "out of memory"); }

const char *ig_shape_text(int rank, const int64_t *shape) {
    enum { TEXTS = 4, BYTES = IG_MAX_RANK * 22 + 8 };
    static _Thread_local char texts[TEXTS][BYTES];
    static _Thread_local unsigned turn;
    char *text = texts[turn++ % TEXTS];
    int at = snprintf(text, BYTES, "(");
    for (int i = 0; i < rank && i < IG_MAX_RANK; i++)
        at += snprintf(text + at, (size_t)(BYTES - at), i ? ", %lld" : "%lld", (long long)shape[i]);
    snprintf(text + at, (size_t)(BYTES - at), rank == 1 ? ",)" : ")");
    return text;
}
