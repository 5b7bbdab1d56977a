// SPDX-License-Identifier: Apache-2.0
// log.c: MTLLogState. A kernel's message arrives as format and tagged values; it is put together
// here and given to the handlers, or printed on stderr when there are none. Without a log state it
// goes where the environment says, or nowhere, as on a Mac.
#include "runtime/object/log.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "runtime/object/error.h"
#include "runtime/object/validation.h"

#define MAX_MESSAGE 2048u

typedef struct Handler {
    MTLLogHandler call;
    void *context;
} Handler;

struct MTLLogState {
    RtObject object;
    MTLLogLevel level;
    pthread_mutex_t lock; // of the handlers, and around their calls
    Handler *handlers;
    size_t n, capacity;
};

// ---- Formatting ----

typedef struct Out {
    char *text;
    size_t n_bytes, at; // at may pass n_bytes: then only counting
} Out;

static void append(Out *out, const char *s, size_t n) {
    for (size_t i = 0; i < n; i++, out->at++)
        if (out->at + 1 < out->n_bytes) out->text[out->at] = s[i];
}

typedef struct Spec { // one conversion
    char flags[8];
    int width, precision; // -1: none
    unsigned components;  // %v4f: 4; else 1
    char conversion;
} Spec;

static int number(const char **at) {
    int n = 0;
    for (; **at >= '0' && **at <= '9'; (*at)++) n = n < 1000 ? n * 10 + (**at - '0') : n;
    return n;
}

// Reads the conversion after '%'; returns where it ends.
static const char *read_spec(const char *at, Spec *spec) {
    size_t n_flags = 0;
    *spec = (Spec){.width = -1, .precision = -1, .components = 1};
    for (; *at && strchr("-+ #0", *at); at++)
        if (n_flags + 1 < sizeof spec->flags) spec->flags[n_flags++] = *at;
    if (*at >= '0' && *at <= '9') spec->width = number(&at);
    if (*at == '.') {
        at++;
        spec->precision = number(&at);
    }
    if (*at == 'v') {
        at++;
        int n = number(&at);
        spec->components = n >= 1 && n <= 16 ? (unsigned)n : 1;
    }
    while (*at && strchr("hlLqjzt", *at)) // sizes are in the tags
        at++;
    spec->conversion = *at;
    return *at ? at + 1 : at;
}

static void put_number(Out *out, const Spec *spec, const char *length, char conversion, bool real,
                       uint64_t value, double number_value) {
    char format[40], text[128];
    char width[16] = "", precision[16] = "";
    if (spec->width >= 0) snprintf(width, sizeof width, "%d", spec->width > 64 ? 64 : spec->width);
    if (spec->precision >= 0)
        snprintf(precision, sizeof precision, ".%d", spec->precision > 40 ? 40 : spec->precision);
    snprintf(format, sizeof format, "%%%s%s%s%s%c", spec->flags, width, precision, length,
             conversion);
    int n;
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wformat-nonliteral"
    if (real)
        n = snprintf(text, sizeof text, format, number_value);
    else
        n = snprintf(text, sizeof text, format, (unsigned long long)value);
#pragma GCC diagnostic pop
    if (n > 0) append(out, text, (size_t)n < sizeof text ? (size_t)n : sizeof text - 1);
}

static void put_text(Out *out, const Spec *spec, const char *text) {
    size_t n = strlen(text);
    if (spec->precision >= 0 && (size_t)spec->precision < n) n = (size_t)spec->precision;
    size_t blanks = spec->width > 0 && (size_t)spec->width > n ? (size_t)spec->width - n : 0;
    bool left = strchr(spec->flags, '-') != NULL;
    for (size_t i = 0; !left && i < blanks; i++) append(out, " ", 1);
    append(out, text, n);
    for (size_t i = 0; left && i < blanks; i++) append(out, " ", 1);
}

static double as_double(uint64_t value) {
    uint32_t bits = (uint32_t)value;
    float f;
    memcpy(&f, &bits, sizeof f);
    return (double)f;
}

// One value. The tag decides what it is; the conversion how it is shown, where it fits.
static void put_value(Out *out, const Spec *spec, uint64_t tag, uint64_t value) {
    RtLogKind kind = (RtLogKind)(tag & 255);
    unsigned n_bytes = tag >> 8 & 255;
    char c = spec->conversion;
    if (kind == RT_LOG_STRING && c != 'p') {
        put_text(out, spec, value ? (const char *)(uintptr_t)value : "(null)");
    } else if (kind == RT_LOG_FLOAT) {
        put_number(out, spec, "", c && strchr("fFeEgGaA", c) ? c : 'g', true, 0, as_double(value));
    } else if (kind == RT_LOG_POINTER || kind == RT_LOG_STRING) {
        Spec pointer = {.width = spec->width, .precision = -1, .flags = "#"};
        put_number(out, &pointer, "ll", 'x', false, value, 0);
    } else if (c == 'c') {
        char one[2] = {(char)value, '\0'};
        put_text(out, spec, one);
    } else if (c && strchr("uxXob", c)) {
        uint64_t mask =
            n_bytes >= 8 || n_bytes == 0 ? UINT64_MAX : ((uint64_t)1 << n_bytes * 8) - 1;
        put_number(out, spec, "ll", c == 'b' ? 'x' : c, false, value & mask, 0);
    } else if (c && strchr("fFeEgGaA", c)) {
        put_number(out, spec, "", c, true, 0,
                   kind == RT_LOG_SIGNED ? (double)(int64_t)value : (double)value);
    } else {
        put_number(out, spec, "ll", kind == RT_LOG_SIGNED ? 'd' : 'u', false, value, 0);
    }
}

size_t rt_log_format(char *text, size_t n_bytes, const char *format, const uint64_t *args,
                     uint32_t n_args) {
    Out out = {text, n_bytes, 0};
    uint32_t next = 0;
    for (const char *at = format; *at;) {
        size_t plain = strcspn(at, "%");
        append(&out, at, plain);
        at += plain;
        if (!*at) break;
        if (at[1] == '%') {
            append(&out, "%", 1);
            at += 2;
            continue;
        }
        Spec spec;
        at = read_spec(at + 1, &spec);
        // A vector argument takes its components together, whether the format said %v or not.
        unsigned components = next < n_args ? (unsigned)(args[2 * next] >> 16 & 255) : 1;
        components = components ? components : 1;
        for (unsigned i = 0; i < components; i++, next++) {
            if (i > 0) append(&out, ",", 1);
            if (next < n_args)
                put_value(&out, &spec, args[2 * next], args[2 * next + 1]);
            else
                append(&out, "(?)", 3);
        }
    }
    if (n_bytes > 0) text[out.at < n_bytes ? out.at : n_bytes - 1] = '\0';
    return out.at;
}

// ---- Delivery ----

// Of what is logged without a log state; above all levels: nothing.
static MTLLogLevel level_of_environment(void) {
    static const char *const names[] = {"Undefined", "Debug", "Info", "Notice", "Error", "Fault"};
    const char *name = getenv("MTL_LOG_LEVEL"), *all = getenv("MTL_LOG_TO_STDERR");
    static const char prefix[] = "MTLLogLevel";
    if (name && strncmp(name, prefix, sizeof prefix - 1) == 0) name += sizeof prefix - 1;
    for (size_t i = 0; name && i < sizeof names / sizeof *names; i++)
        if (strcmp(name, names[i]) == 0) return (MTLLogLevel)i;
    return all && strcmp(all, "1") == 0 ? MTLLogLevelUndefined
                                        : (MTLLogLevel)(MTLLogLevelFault + 1);
}

void rt_log_from_kernel(void *context, uint32_t type, const char *subsystem_category,
                        const char *format, const uint64_t *args, uint32_t n_args) {
    MTLLogState *state = context;
    if (type > MTLLogLevelFault) type = MTLLogLevelFault; // it may be anybody's word
    if ((MTLLogLevel)type < (state ? state->level : level_of_environment())) return;
    char text[MAX_MESSAGE];
    rt_log_format(text, sizeof text, format ? format : "", args, n_args);
    const char *subsystem = subsystem_category ? subsystem_category : "";
    const char *category = subsystem_category ? subsystem + strlen(subsystem) + 1 : "";
    if (!state) {
        flockfile(stderr);
        fprintf(stderr, "%s%s%s%s%s\n", subsystem, *category ? ":" : "", category,
                *subsystem || *category ? ": " : "", text);
        funlockfile(stderr);
        return;
    }
    pthread_mutex_lock(&state->lock);
    for (size_t i = 0; i < state->n; i++)
        state->handlers[i].call(subsystem, category, (MTLLogLevel)type, text,
                                state->handlers[i].context);
    if (state->n == 0) fprintf(stderr, "%s\n", text);
    pthread_mutex_unlock(&state->lock);
}

// ---- Public ----

static void log_state_destroy(void *self) {
    MTLLogState *state = self;
    pthread_mutex_destroy(&state->lock);
    rt_free(state->handlers);
    rt_free(state);
}

static RT_CLASS log_state_class = {.name = "MTLLogState", .destroy = log_state_destroy};

MTLLogState *mtl_device_new_log_state(MTLDevice *device, const MTLLogStateDescriptor *descriptor,
                                      MTLError **error) {
    if (error) *error = NULL;
    if (!device) rt_misuse(NULL, RT_RULE_null_object, __func__, NULL);
    MTLLogState *state = device ? rt_new(&log_state_class, sizeof *state) : NULL;
    if (!state) {
        rt_error_set(error, device ? NULL
                                   : rt_error_new(MTLDeviceErrorDomain, MTLDeviceErrorInvalidInput,
                                                  "The device is NULL."));
        return NULL;
    }
    state->level = descriptor ? descriptor->level : MTLLogLevelUndefined;
    pthread_mutex_init(&state->lock, NULL);
    return state;
}

void mtl_log_state_add_log_handler(MTLLogState *state, MTLLogHandler handler, void *context) {
    if (!state || !handler) {
        rt_misuse(NULL, state ? RT_RULE_null_argument : RT_RULE_null_object, __func__, NULL);
        return;
    }
    pthread_mutex_lock(&state->lock);
    if (rt_grow(&state->handlers, &state->capacity, state->n + 1, sizeof *state->handlers))
        state->handlers[state->n++] = (Handler){handler, context};
    pthread_mutex_unlock(&state->lock);
}
