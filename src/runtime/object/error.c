// SPDX-License-Identifier: Apache-2.0
// error.c: MTLError, what went wrong for the caller who asked.
#include "runtime/object/error.h"
#include <stdio.h>
#include <string.h>
#include "abi/requests.h"

static void error_destroy(void *self) {
    MTLError *error = self;
    rt_free(error->message);
    rt_free(error->diagnostics);
    rt_free(error->strings);
    rt_free(error);
}

static void never_destroyed(void *self) { atomic_store(&((RtObject *)self)->refs, 1); }

static RT_CLASS error_class = {.name = "MTLError", .destroy = error_destroy};
static RT_CLASS static_error_class = {.name = "MTLError", .destroy = never_destroyed};

static char no_memory_text[] = "Out of memory.";
static MTLError no_memory = {.object = {&static_error_class, 1},
                             .domain = MTLDeviceErrorDomain,
                             .code = MTLDeviceErrorOutOfMemory,
                             .rule = "",
                             .message = no_memory_text};

MTLError *rt_error_no_memory(void) { return mtl_retain(&no_memory); }

MTLError *rt_error_newv(const char *domain, long code, const char *format, va_list args) {
    va_list again;
    va_copy(again, args);
    int n = vsnprintf(NULL, 0, format, again);
    va_end(again);
    MTLError *error = rt_new(&error_class, sizeof *error);
    if (!error) return NULL;
    error->domain = domain;
    error->code = code;
    error->rule = "";
    error->message = rt_alloc((size_t)(n < 0 ? 0 : n) + 1);
    if (!error->message) {
        mtl_release(error);
        return NULL;
    }
    vsnprintf(error->message, (size_t)(n < 0 ? 0 : n) + 1, format, args);
    return error;
}

MTLError *rt_error_new(const char *domain, long code, const char *format, ...) {
    va_list args;
    va_start(args, format);
    MTLError *error = rt_error_newv(domain, code, format, args);
    va_end(args);
    return error;
}

MTLError *mtl_error_new(const char *domain, long code, const char *description) {
    MTLError *error =
        rt_error_new(domain ? domain : "", code, "%s", description ? description : "");
    return error ? error : rt_error_no_memory();
}

static char *append(char **at, const char *text) {
    char *start = *at;
    size_t n = strlen(text) + 1;
    memcpy(start, text, n);
    *at += n;
    return start;
}

bool rt_error_add_diagnostics(MTLError *error, const MslDiagnostic *diagnostics, size_t n) {
    size_t n_bytes = 0;
    for (size_t i = 0; i < n; i++)
        n_bytes += (diagnostics[i].file ? strlen(diagnostics[i].file) : 0) + 1 +
                   (diagnostics[i].message ? strlen(diagnostics[i].message) : 0) + 1;
    if (n == 0) return true;
    error->diagnostics = rt_alloc(n * sizeof *error->diagnostics);
    error->strings = rt_alloc(n_bytes);
    if (!error->diagnostics || !error->strings)
        return false; // freed with the error, which says it has none
    char *at = error->strings;
    for (size_t i = 0; i < n; i++) {
        const MslDiagnostic *d = &diagnostics[i];
        error->diagnostics[i] =
            (MTLDiagnostic){.severity = d->severity,
                            .file = append(&at, d->file ? d->file : ""),
                            .line = d->line,
                            .column = d->column,
                            .message = append(&at, d->message ? d->message : "")};
    }
    error->n_diagnostics = n;
    return true;
}

void rt_error_set(MTLError **out, MTLError *error) {
    if (!error) error = rt_error_no_memory();
    if (out)
        *out = error;
    else
        mtl_release(error);
}

// ---- Public ----

const char *mtl_error_domain(const MTLError *error) { return error ? error->domain : ""; }

long mtl_error_code(const MTLError *error) { return error ? error->code : 0; }

const char *mtl_error_localized_description(const MTLError *error) {
    return error ? error->message : "";
}

const char *mtl_error_rule(const MTLError *error) { return error ? error->rule : ""; }

size_t mtl_error_diagnostic_count(const MTLError *error) {
    return error ? error->n_diagnostics : 0;
}

const MTLDiagnostic *mtl_error_diagnostic(const MTLError *error, size_t i) {
    return error && i < error->n_diagnostics ? &error->diagnostics[i] : NULL;
}
