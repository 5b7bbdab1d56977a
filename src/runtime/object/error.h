// SPDX-License-Identifier: Apache-2.0
// error.h: making MTLErrors. All return NULL without memory; callers then report through
// rt_error_set, which falls back to one static "out of memory" error that always exists.
#ifndef INGOT_RUNTIME_ERROR_H
#define INGOT_RUNTIME_ERROR_H
#include <stdarg.h>
#include "runtime/object/object.h"

struct MTLError {
    RtObject object;
    const char *domain; // literal
    long code;
    const char *rule; // literal
    char *message;
    MTLDiagnostic *diagnostics;
    size_t n_diagnostics;
    char *strings; // of the diagnostics, in one block
};

MTLError *rt_error_new(const char *domain, long code, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
MTLError *rt_error_newv(const char *domain, long code, const char *format, va_list args)
    __attribute__((format(printf, 3, 0)));
// Copies the compiler's diagnostics into the error.
struct MslDiagnostic;
bool rt_error_add_diagnostics(MTLError *error, const struct MslDiagnostic *diagnostics, size_t n);
// The error that needs no memory. A reference for the caller.
MTLError *rt_error_no_memory(void);
// Gives `error` (its reference too) to the caller's out-parameter, or drops it. NULL stands for no
// memory.
void rt_error_set(MTLError **out, MTLError *error);
#endif
