// SPDX-License-Identifier: Apache-2.0
// validation.c: the texts of the rules and the way of a message to the program.
#include "runtime/object/validation.h"
#include <stdarg.h>
#include <stdio.h>
#include "runtime/object/device.h"
#include "runtime/object/error.h"

static const char *const names[] = {
#define RULE(id, text) #id,
#include "runtime/object/validation.def"
#undef RULE
};
static const char *const texts[] = {
#define RULE(id, text) text,
#include "runtime/object/validation.def"
#undef RULE
};
// What a broken rule comes to while the debug layer is off.
typedef enum Kind { REFUSED, TOLERATED, SKIPPED } Kind;
static const uint8_t kinds[] = {
#define RULE(id, text) REFUSED,
#define LAYER(id, text) TOLERATED,
#define SKIP(id, text) SKIPPED,
#include "runtime/object/validation.def"
#undef RULE
};
_Static_assert(sizeof names / sizeof *names == RT_N_RULES, "one name per rule");

static bool is(Kind kind, const MTLDevice *device, RtRule rule) {
    return kinds[rule] == kind && !(device && device->debug_layer);
}

bool rt_tolerates(const MTLDevice *device, RtRule rule) { return is(TOLERATED, device, rule); }

// "call: what the rule says (detail) in encoder 'x' [rule]"
static void compose(char *text, size_t n_bytes, RtRule rule, const char *call, const char *where,
                    const char *detail, va_list args) __attribute__((format(printf, 6, 0)));
static void compose(char *text, size_t n_bytes, RtRule rule, const char *call, const char *where,
                    const char *detail, va_list args) {
    char values[256] = "";
    if (detail) vsnprintf(values, sizeof values, detail, args);
    snprintf(text, n_bytes, "%s: %s%s%s%s%s [%s]", call, texts[rule], *values ? " (" : "", values,
             *values ? ")" : "", where, names[rule]);
}

static void deliver(MTLDevice *device, RtRule rule, const char *call, const char *text) {
    if (!device) device = rt_device_if_any();
    if (!device) return;
    pthread_mutex_lock(&device->lock);
    MTLDeviceLogCallback callback = device->log_callback;
    void *context = device->log_context;
    pthread_mutex_unlock(&device->lock);
    MTLDeviceMessage message = {
        .level = MTLLogLevelError, .rule = names[rule], .call = call, .text = text};
    bool by_kernel = rule == RT_RULE_shader_validation;
    if (callback) callback(&message, context);
    if (callback ? by_kernel && device->report_to_stderr : device->debug_layer || by_kernel)
        fprintf(stderr, "Ingot: %s\n", text);
}

bool rt_misuse(MTLDevice *device, RtRule rule, const char *call, const char *detail, ...) {
    char text[512];
    if (rt_tolerates(device, rule)) return true;
    va_list args;
    va_start(args, detail);
    compose(text, sizeof text, rule, call, "", detail, args);
    va_end(args);
    deliver(device, rule, call, text);
    return false;
}

bool rt_given(MTLDevice *device, const void *argument, const char *name, const char *call) {
    if (device && argument) return true;
    if (device)
        rt_misuse(device, RT_RULE_null_argument, call, "%s", name);
    else
        rt_misuse(NULL, RT_RULE_null_object, call, NULL);
    return false;
}

bool rt_given_or_error(MTLDevice *device, const void *argument, const char *name, const char *call,
                       const char *domain, long code, MTLError **error) {
    if (error) *error = NULL;
    if (rt_given(device, argument, name, call)) return true;
    rt_error_set(error, rt_error_new(domain, code, "The %s is NULL.", device ? name : "device"));
    return false;
}

enum { MESSAGE = 768 };
static void report_in(MTLCommandBuffer *buffer, RtRule rule, const char *call, char text[MESSAGE],
                      const char *detail, va_list args) {
    char place[256];
    rt_recording_hooks.describe(buffer, place, sizeof place);
    compose(text, MESSAGE, rule, call, place, detail, args);
    deliver(rt_recording_hooks.device(buffer), rule, call, text);
}

void rt_misuse_in(MTLCommandBuffer *buffer, RtRule rule, const char *call, const char *detail,
                  ...) {
    if (rt_tolerates(rt_recording_hooks.device(buffer), rule)) return;
    va_list args;
    va_start(args, detail);
    char text[MESSAGE];
    report_in(buffer, rule, call, text, detail, args);
    va_end(args);
}

void rt_misuse_by_kernel(MTLDevice *device, const char *kernel, const char *detail, ...) {
    char text[1400];
    va_list args;
    va_start(args, detail);
    vsnprintf(text, sizeof text, detail, args);
    va_end(args);
    deliver(device, RT_RULE_shader_validation, kernel, text);
}

bool rt_misuse_encoding(MTLCommandBuffer *buffer, RtRule rule, const char *call, const char *detail,
                        ...) {
    const MTLDevice *device = rt_recording_hooks.device(buffer);
    va_list args;
    if (rt_tolerates(device, rule)) return true;
    va_start(args, detail);
    char text[MESSAGE];
    report_in(buffer, rule, call, text, detail, args);
    va_end(args);
    if (!is(SKIPPED, device, rule)) rt_recording_hooks.fail(buffer, names[rule], text);
    return false;
}
